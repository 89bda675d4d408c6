/* serve: workers that run whatever is ready in a space, one thread and one runtime each. Relies on kvlang.h, and on POSIX threads and
 * signals. Promises: a signal puts the vthreads under way back for others, at their next step. */
#include "cli/kvlang_program.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WORKERS_MAX = 256 };

struct worker {
    struct program program; /* of its own: the sinks are shared by nobody */
    pthread_t thread;
    enum program_status status;
    bool once;
};

/* What the handler may touch. A worker's runtime stands here while it serves. */
static volatile sig_atomic_t interrupted;
static kvlang *_Atomic serving[WORKERS_MAX];

static void note_interrupt(int number) {
    (void)number;
    interrupted = 1;
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        kvlang *lang = atomic_load(&serving[i]);
        if (lang) kvlang_interrupt(lang);
    }
}

static void served_failed(void *context, kvlang *lang, uint64_t vid) {
    (void)lang;
    program_show_failure(context, vid);
}

static void serve(struct worker *worker, unsigned number) {
    struct program *program = &worker->program;
    sink_open(&program->out, stdout, SINK_COLOURS_AUTO);
    sink_open(&program->err, stderr, SINK_COLOURS_AUTO);
    worker->status = program_open_runtime(program, program->dsn, KVSPACE_CREATE_IF_MISSING);
    if (worker->status) return;
    kvlang_on_failure(program->lang, served_failed, program);
    atomic_store(&serving[number], program->lang);
    int rc = kvlang_serve(program->lang, &interrupted, worker->once);
    atomic_store(&serving[number], NULL);
    if (rc) worker->status = program_error(program, rc);
    program_close_runtime(program, false);
}

struct start {
    struct worker *worker;
    unsigned number;
};

static void *serve_thread(void *context) {
    struct start start = *(struct start *)context;
    free(context);
    serve(start.worker, start.number);
    return NULL;
}

static bool start_thread(struct worker *worker, unsigned number) {
    struct start *start = malloc(sizeof *start);
    if (!start) return false;
    *start = (struct start){worker, number};
    if (pthread_create(&worker->thread, NULL, serve_thread, start) == 0) return true;
    free(start);
    return false;
}

enum program_status command_serve(struct program *program) {
    uint64_t jobs;
    if (options_uint(&program->options, program_options, OPTION_JOBS, WORKERS_MAX, 1, &jobs))
        return program_fail(program, PROGRAM_USAGE, "serve: %s", program->options.message);
    if (jobs < 1) jobs = 1;
    if (!program->dsn) return program_fail(program, PROGRAM_USAGE, "serve: which space? Give it by -s or $KVSPACE");
    struct worker *workers = calloc(jobs, sizeof *workers);
    if (!workers) return program_fail(program, PROGRAM_FAILED, "no memory");
    struct sigaction action = {.sa_handler = note_interrupt}; /* no SA_RESTART: sleeping calls end */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    unsigned started = 1;
    for (unsigned i = 0; i < jobs; i++) {
        workers[i].program = *program;
        workers[i].once = program_given(program, OPTION_ONCE);
    }
    while (started < jobs && start_thread(&workers[started], started)) started++;
    if (started < jobs) (void)program_fail(program, PROGRAM_FAILED, "only %u of %llu workers could be started", started, (unsigned long long)jobs);
    serve(&workers[0], 0);
    enum program_status status = workers[0].status;
    for (unsigned i = 1; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].status) status = workers[i].status;
    }
    free(workers);
    return status;
}
