/* proc·exec: a program with arguments, input, environment and a time limit. Relies on pieces.h and POSIX.
 * Promises: no shell unless asked; input and both outputs flow at once, so that nobody waits for nobody; on a time limit, or too much
 * output, the child's whole process group is killed and waited for; no descriptor and no child is left behind. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/proc.def"
#undef NATIVE

extern char **environ; /* NOLINT(readability-redundant-declaration): not every unistd.h has it */

enum { STREAMS = 2, LIMIT_DEFAULT = 256 << 20 };

struct stream {
    int descriptor;
    char *bytes;
    size_t length, room;
};

struct job {
    struct core_call *call;
    char **arguments, **environment;
    char *directory;
    struct piece input;
    int64_t timeout; /* milliseconds, 0: none */
    int64_t limit;
    bool shell, bytes, timed_out;
    pid_t child;
    int input_end;
    size_t input_done;
    struct stream streams[STREAMS];
};

/* ---- what is asked for ---- */

static void texts_free(char **texts) {
    for (size_t i = 0; texts && texts[i]; i++) free(texts[i]);
    free(texts);
}

static int no_memory(struct core_call *call) {
    fault_set(call->heap, ERROR_OUT_OF_MEMORY, "%s: no memory", call->row->name);
    return ERROR_OUT_OF_MEMORY;
}

/* The values of a map as texts, or `key=value` of each. */
static int texts_of(struct core_call *call, const struct cell *map, bool pairs, char ***out) {
    const struct cell *key, *value;
    uint64_t position = 0;
    size_t count = 0;
    char **texts = calloc((size_t)map_length(call->heap, map) + 1, sizeof *texts);
    int rc = texts ? 0 : no_memory(call);
    while (!rc && map_next(call->heap, map, &position, &key, &value)) {
        struct piece left = {0}, right = {0};
        rc = piece_of_cell(call, value, pairs ? "the value of a variable" : "an argument", true, &right);
        if (!rc && pairs) rc = piece_of_cell(call, key, "the name of a variable", true, &left);
        if (!rc && pairs && (!left.length || strchr(left.bytes, '='))) rc = fault(call->heap, ERROR_VALUE, "%s: \"%s\" is no name of a variable", call->row->name, left.bytes);
        size_t room = left.length + right.length + 2;
        if (!rc) texts[count] = malloc(room);
        if (!rc && !texts[count]) rc = no_memory(call);
        if (!rc) snprintf(texts[count++], room, "%s%s%s", pairs ? left.bytes : "", pairs ? "=" : "", right.bytes);
        piece_free(&left);
        piece_free(&right);
    }
    if (rc) texts_free(texts);
    else *out = texts;
    return rc;
}

static int shell_command(struct core_call *call, char ***out) {
    struct piece text;
    int rc = piece_of_cell(call, call->args[0], "the command", true, &text);
    if (rc) return rc;
    char **arguments = calloc(4, sizeof *arguments);
    if (arguments) {
        arguments[0] = strdup("/bin/sh");
        arguments[1] = arguments[0] ? strdup("-c") : NULL;
        arguments[2] = arguments[1] ? strdup(text.bytes) : NULL;
    }
    piece_free(&text);
    if (!arguments || !arguments[2]) {
        texts_free(arguments);
        return no_memory(call);
    }
    *out = arguments;
    return 0;
}

static int command_of(struct job *job) {
    struct core_call *call = job->call;
    const struct cell *command = call->args[0];
    if (job->shell) return shell_command(call, &job->arguments);
    if (cell_is_text(command)) return fault(call->heap, ERROR_TYPE, "proc·exec: the command is a map of a program and its arguments, {\"ls\", \"-l\"}; a text needs {shell=true}");
    if (cell_tag(command) != TAG_MAP) return native_mismatch(call, 0, "a map of texts");
    int rc = texts_of(call, command, false, &job->arguments);
    if (!rc && (!job->arguments || !job->arguments[0] || !job->arguments[0][0])) rc = fault(call->heap, ERROR_VALUE, "proc·exec: the command is empty");
    return rc;
}

static int stdin_of(struct job *job, const struct cell *cell) {
    struct core_call *call = job->call;
    if (!cell) return 0;
    if (cell_tag(cell) != TAG_ARRAY + KIND_UINT8) return piece_of_cell(call, cell, "the option stdin", false, &job->input);
    const struct block *block = cell_block(call->heap, cell);
    job->input = (struct piece){block_body(block), (size_t)block->body_bytes, NULL};
    return 0;
}

static int options_of(struct job *job) {
    static const char *const names[] = {"stdin", "timeout", "env", "dir", "shell", "bytes", "limit", NULL};
    struct core_call *call = job->call;
    int rc = options_check(call, 1, names);
    if (!rc) rc = option_bool(call, 1, "shell", &job->shell);
    if (!rc) rc = option_bool(call, 1, "bytes", &job->bytes);
    if (!rc) rc = option_milliseconds(call, 1, "timeout", &job->timeout);
    if (!rc) rc = option_int64(call, 1, "limit", 0, INT64_MAX / 2, &job->limit);
    if (!rc) rc = stdin_of(job, option_find(call, 1, "stdin"));
    const struct cell *variables = option_find(call, 1, "env"), *directory = option_find(call, 1, "dir");
    if (!rc && variables && cell_tag(variables) != TAG_MAP) rc = fault(call->heap, ERROR_TYPE, "proc·exec: the option env must be a map");
    if (!rc && variables) rc = texts_of(call, variables, true, &job->environment);
    if (!rc && directory) {
        struct piece text;
        rc = piece_of_cell(call, directory, "the option dir", true, &text);
        if (!rc) job->directory = text.owned;
    }
    return rc;
}

/* ---- the child ---- */

struct child_pipes {
    int in[2], out[2], err[2], trouble[2]; /* [0] is read from, [1] written to */
};

/* Never returns. What goes wrong is told through the pipe `trouble`. */
static _Noreturn void become(const struct job *job, const struct child_pipes *pipes) {
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    bool good = dup2(pipes->in[0], STDIN_FILENO) >= 0 && dup2(pipes->out[1], STDOUT_FILENO) >= 0 && dup2(pipes->err[1], STDERR_FILENO) >= 0;
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    if (good && job->arguments[0] && (!job->directory || chdir(job->directory) == 0)) {
        if (job->environment) environ = job->environment;
        execvp(job->arguments[0], job->arguments);
    }
    int reason = errno;
    ssize_t told = write(pipes->trouble[1], &reason, sizeof reason);
    _exit(told > 0 ? 127 : 126);
}

static void close_pair(int pair[2]) {
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0) close(pair[i]);
}

/* A pipe whose ends are closed by exec and lie above the standard descriptors. */
static bool open_pair(int pair[2]) {
    if (pipe(pair)) return false;
    for (int i = 0; i < 2; i++) {
        int high = fcntl(pair[i], F_DUPFD_CLOEXEC, 3);
        if (high < 0) return false;
        close(pair[i]);
        pair[i] = high;
    }
    return true;
}

static int start(struct job *job) {
    struct heap *heap = job->call->heap;
    struct child_pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    int reason = 0;
    bool good = open_pair(pipes.in) && open_pair(pipes.out) && open_pair(pipes.err) && open_pair(pipes.trouble);
    job->child = good ? fork() : -1;
    if (job->child == 0) become(job, &pipes);
    if (job->child < 0) {
        reason = errno;
        close_pair(pipes.in), close_pair(pipes.out), close_pair(pipes.err), close_pair(pipes.trouble);
        return fault(heap, ERROR_RUNTIME, "proc·exec: %.200s: %s", job->arguments[0], strerror(reason));
    }
    setpgid(job->child, job->child);
    close(pipes.in[0]), close(pipes.out[1]), close(pipes.err[1]), close(pipes.trouble[1]);
    job->input_end = pipes.in[1];
    job->streams[0].descriptor = pipes.out[0];
    job->streams[1].descriptor = pipes.err[0];
    ssize_t got;
    do got = read(pipes.trouble[0], &reason, sizeof reason);
    while (got < 0 && errno == EINTR);
    close(pipes.trouble[0]);
    if (got <= 0) return 0;
    bool there = !job->directory || access(job->directory, X_OK) == 0;
    return fault(heap, ERROR_RUNTIME, "proc·exec: %.200s: %s", there ? job->arguments[0] : job->directory, strerror(reason));
}

/* ---- the flow ---- */

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_input(struct job *job) {
    if (job->input_end >= 0) close(job->input_end);
    job->input_end = -1;
}

static void feed(struct job *job) {
    ssize_t done = write(job->input_end, job->input.bytes + job->input_done, job->input.length - job->input_done);
    if (done > 0) job->input_done += (size_t)done;
    else if (done < 0 && (errno == EINTR || errno == EAGAIN)) return;
    else close_input(job); /* nobody reads: the child does not want more */
    if (job->input_done == job->input.length) close_input(job);
}

static int drain(struct job *job, struct stream *stream) {
    struct core_call *call = job->call;
    if (stream->room - stream->length < 65536) {
        size_t room = stream->room ? 2 * stream->room : 131072;
        char *more = realloc(stream->bytes, room);
        if (!more) return no_memory(call);
        stream->bytes = more;
        stream->room = room;
    }
    ssize_t got = read(stream->descriptor, stream->bytes + stream->length, stream->room - stream->length);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    if (got <= 0) {
        close(stream->descriptor);
        stream->descriptor = -1;
        return 0;
    }
    stream->length += (size_t)got;
    if ((int64_t)stream->length <= job->limit) return 0;
    return fault(call->heap, ERROR_RUNTIME, "proc·exec: %.200s printed more than the limit of %lld bytes", job->arguments[0], (long long)job->limit);
}

/* Until all streams are at their end, or the time is up. */
static int flow(struct job *job, int64_t deadline) {
    int rc = 0;
    while (!rc && (job->streams[0].descriptor >= 0 || job->streams[1].descriptor >= 0)) {
        struct pollfd waits[3] = {{job->streams[0].descriptor, POLLIN, 0}, {job->streams[1].descriptor, POLLIN, 0}, {job->input_end, POLLOUT, 0}};
        int64_t left = job->timeout ? deadline - milliseconds_now() : 1000000;
        if (left <= 0) {
            job->timed_out = true;
            return 0;
        }
        int ready = poll(waits, 3, left > 1000000 ? 1000000 : (int)left);
        if (ready < 0 && errno != EINTR) return fault(job->call->heap, ERROR_RUNTIME, "proc·exec: %s", strerror(errno));
        if (ready <= 0) continue;
        for (int i = 0; i < STREAMS && !rc; i++)
            if (waits[i].revents) rc = drain(job, &job->streams[i]);
        if (waits[2].revents) feed(job);
    }
    return rc;
}

/* The child's end; it may go on without its outputs, so the time limit holds here too. */
static int await(struct job *job, int64_t deadline) {
    int status = 0;
    for (int64_t nap = 1;; nap = nap < 50 ? 2 * nap : nap) {
        bool limited = job->timeout && !job->timed_out;
        pid_t ended = waitpid(job->child, &status, limited ? WNOHANG : 0);
        if (ended == job->child) return status;
        if (ended < 0 && errno != EINTR) return 0;
        if (ended == 0 && milliseconds_now() >= deadline) {
            job->timed_out = true;
            kill(-job->child, SIGKILL);
        } else if (ended == 0) {
            nanosleep(&(struct timespec){0, (long)nap * 1000000}, NULL);
        }
    }
}

static int stream_cell(struct job *job, const struct stream *stream, struct cell *out) {
    struct heap *heap = job->call->heap;
    const char *bytes = stream->length ? stream->bytes : "";
    return job->bytes ? array_of_bytes(heap, bytes, stream->length, out) : text_of_bytes_lossy(heap, bytes, stream->length, out);
}

static int give_result(struct job *job, int status) {
    static const char *const names[STREAMS] = {"out", "err"};
    struct heap *heap = job->call->heap;
    struct cell map, text;
    int rc = members_begin(heap, "[]char/utf8·any", &map);
    rc = member_put(heap, rc, &map, "status", cell_int64(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)));
    for (int i = 0; i < STREAMS; i++) {
        text = cell_none();
        if (!rc) rc = stream_cell(job, &job->streams[i], &text);
        rc = member_put(heap, rc, &map, names[i], text);
    }
    rc = member_put(heap, rc, &map, "timedout", cell_bool(job->timed_out));
    if (!rc) job->call->results[0] = map;
    return rc;
}

/* Writing to a child that has gone must not raise SIGPIPE in the host, whose handlers are not ours to change: the signal is
 * blocked in this thread, and one that came meanwhile is taken. */
struct pipe_guard {
    sigset_t old;
    bool was_pending;
};

static void guard_begin(struct pipe_guard *guard) {
    sigset_t set, pending;
    sigpending(&pending);
    guard->was_pending = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &guard->old);
}

static void guard_end(struct pipe_guard *guard) {
    sigset_t set, pending;
    int taken;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigpending(&pending);
    if (!guard->was_pending && sigismember(&pending, SIGPIPE) == 1) sigwait(&set, &taken);
    pthread_sigmask(SIG_SETMASK, &guard->old, NULL);
}

static int run(struct job *job) {
    struct pipe_guard guard;
    int status = 0;
    guard_begin(&guard);
    int64_t deadline = milliseconds_now() + job->timeout;
    int rc = start(job);
    if (job->input_end >= 0) {
        fcntl(job->input_end, F_SETFL, O_NONBLOCK);
        if (!job->input.length) close_input(job);
    }
    if (!rc) rc = flow(job, deadline);
    close_input(job);
    for (int i = 0; i < STREAMS; i++)
        if (job->streams[i].descriptor >= 0) close(job->streams[i].descriptor);
    if (job->child > 0 && (rc || job->timed_out)) kill(-job->child, SIGKILL);
    if (job->child > 0) status = await(job, deadline);
    guard_end(&guard);
    return rc ? rc : give_result(job, status);
}

static int proc_exec(struct core_call *call) {
    struct job job = {.call = call, .limit = LIMIT_DEFAULT, .child = -1, .input_end = -1, .streams = {{.descriptor = -1}, {.descriptor = -1}}};
    int rc = options_of(&job);
    if (!rc) rc = command_of(&job);
    if (!rc) rc = run(&job);
    texts_free(job.arguments);
    texts_free(job.environment);
    free(job.directory);
    piece_free(&job.input);
    for (int i = 0; i < STREAMS; i++) free(job.streams[i].bytes);
    return rc;
}

const struct native_row proc_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/proc.def"
#undef NATIVE
};
const uint32_t proc_count = sizeof proc_rows / sizeof *proc_rows;
