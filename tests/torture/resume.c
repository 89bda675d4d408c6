/* Kills workers in the middle of programs, lets fresh processes go on, and compares the tree that is left with that of an uninterrupted
 * run, byte for byte as kvspace_export shows it (times and the measure of progress aside).
 *
 *     torture_resume [--kills N] [--marks N] [--seed S] [--show] FILE…
 *
 * FILE: programs in the language. --kills: SIGKILLs at random instants over all of them; a resumer may be killed in turn. --marks: kills at
 * the marks of the core and the engine (before and behind every commit, between the stores of a change), that many spread over each
 * program, 0: at every one; in builds that have marks, which release builds have not.
 * Relies on kvlang.h and any system with fork. Exit status 0 when every tree was the same. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kvlang/kvlang.h>

#include "kvspace/fault.h"
#include "kvspace/textout.h"
#include "torture.h"

static char directory[256];
static uint64_t random_state;

static uint64_t random_next(void) { return torture_random(&random_state); }

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- one program ---- */

struct program {
    const char *name;
    char *text;
    char template[300], space[300]; /* files: laid out with vthread 1 made; and the copy that is run */
    char *expected;
    size_t expected_bytes;
    int64_t run_ns;
};

static int to_stderr(void *context, const char *bytes, size_t count) {
    (void)context;
    fwrite(bytes, 1, count, stderr);
    return 0;
}

static kvlang *open_runtime(const char *file) {
    kvlang *lang;
    char dsn[310], problem[256] = "";
    snprintf(dsn, sizeof dsn, "shm:%s", file);
    struct kvspace_open_options space_options = { .limit_bytes = UINT64_C(1) << 30 };
    struct kvlang_options options = { .dsn = dsn, .space_options = &space_options, .problem = problem };
    if (kvlang_open(&options, &lang)) {
        fprintf(stderr, "cannot open %s: %s\n", file, problem);
        _exit(3);
    }
    return lang;
}

static void make_template(struct program *program) {
    kvlang *lang = open_runtime(program->template);
    const char *entry;
    uint64_t vid;
    if (kvlang_lay_out(lang, program->name, program->text, 0, to_stderr, NULL)) give_up("%s does not compile: %s", program->name, kvlang_message(lang));
    if (kvlang_entry(lang, NULL, &entry)) give_up("%s: %s", program->name, kvlang_message(lang));
    if (kvlang_start(lang, entry, NULL, 0, &vid) || vid != 1) give_up("%s: %s", program->name, kvlang_message(lang));
    kvlang_close(lang);
}

static void copy_template(const struct program *program) {
    static char buffer[1 << 16];
    FILE *from = fopen(program->template, "rb"), *to = fopen(program->space, "wb");
    size_t count;
    if (!from || !to) give_up("%s: %s", program->space, strerror(errno));
    fchmod(fileno(to), 0600);
    while ((count = fread(buffer, 1, sizeof buffer, from)) > 0) fwrite(buffer, 1, count, to);
    fclose(from);
    if (fclose(to)) give_up("%s: %s", program->space, strerror(errno));
}

/* Runs the program to its end, from wherever it stands. In a process of its own. */
static void run(const char *file) {
    kvlang *lang = open_runtime(file);
    enum kvlang_status status = KVLANG_INIT;
    int rc = kvlang_run(lang, 1, 0, &status);
    if (!rc) rc = kvlang_serve(lang, NULL, 1);
    if (rc) fprintf(stderr, "%s\n", kvlang_message(lang));
    kvlang_close(lang);
    _exit(rc ? 3 : 0);
}

static pid_t start(const struct program *program) {
    pid_t child = fork();
    if (child < 0) give_up("fork: %s", strerror(errno));
    if (child == 0) run(program->space);
    return child;
}

/* ---- the tree as text ---- */

/* Lines about what is not the same from run to run: times, and how many rows went by way of calls. */
static bool is_about_time(const char *line) {
    return strstr(line, "/‥ctime\"") || strstr(line, "/‥steps\"");
}

static void strip(struct text_buffer *text) {
    char *to = text->bytes;
    for (char *line = text->bytes; line && *line;) {
        char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) + 1 : strlen(line);
        char after = line[length];
        line[length] = 0;
        bool drop = is_about_time(line);
        line[length] = after;
        if (!drop) {
            memmove(to, line, length);
            to += length;
        }
        line += length;
    }
    if (to) *to = 0;
    text->length = text->bytes ? (size_t)(to - text->bytes) : 0;
}

/* Also checks that the engine finds nothing wrong: a space is opened and read whole. */
static struct text_buffer export_of(const struct program *program) {
    struct text_buffer text = { 0 };
    struct text_out out = text_buffer_out(&text);
    kvlang *lang = open_runtime(program->space);
    int rc = kvspace_export(kvlang_space(lang), "/", NULL, out.write, out.context);
    if (rc) give_up("%s: export: %s", program->name, kvspace_message(kvlang_space(lang)));
    kvlang_close(lang);
    strip(&text);
    return text;
}

static void show_difference(const struct program *program, const struct text_buffer *got, const char *how) {
    char left[320], right[320], command[800];
    snprintf(left, sizeof left, "%s/expected", directory);
    snprintf(right, sizeof right, "%s/got", directory);
    FILE *file = fopen(left, "wb");
    if (file) {
        fwrite(program->expected, 1, program->expected_bytes, file);
        fclose(file);
    }
    file = fopen(right, "wb");
    if (file) {
        fwrite(got->bytes, 1, got->length, file);
        fclose(file);
    }
    fprintf(stderr, "%s: another tree after %s; the space is kept at %s\n", program->name, how, program->space);
    snprintf(command, sizeof command, "diff %s %s | cut -c1-300 | head -20 >&2", left, right);
    if (system(command) < 0) fprintf(stderr, "diff cannot be run\n");
}

static bool compare(const struct program *program, const char *how) {
    struct text_buffer got = export_of(program);
    bool same = got.length == program->expected_bytes && memcmp(got.bytes, program->expected, got.length) == 0;
    if (!same) show_difference(program, &got, how);
    free(got.bytes);
    return same;
}

static bool wait_for(const struct program *program, pid_t child, const char *how) {
    int status;
    if (waitpid(child, &status, 0) != child) give_up("waitpid: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    fprintf(stderr, "%s: %s: status %d; the space is kept at %s\n", program->name, how, status, program->space);
    return false;
}

static void prepare(struct program *program, unsigned number) {
    snprintf(program->template, sizeof program->template, "%s/%u.template", directory, number);
    snprintf(program->space, sizeof program->space, "%s/%u.space", directory, number);
    pid_t maker = fork();
    if (maker == 0) {
        make_template(program);
        _exit(0);
    }
    if (!wait_for(program, maker, "laying out")) exit(2);
    for (unsigned tries = 0; tries < 3; tries++) { /* the fastest of three: it sets the range of the kills */
        copy_template(program);
        int64_t begin = now_ns();
        if (!wait_for(program, start(program), "the uninterrupted run")) exit(2);
        int64_t took = now_ns() - begin;
        if (!tries || took < program->run_ns) program->run_ns = took;
    }
    struct text_buffer text = export_of(program);
    program->expected = text.bytes;
    program->expected_bytes = text.length;
    /* The comparison must be able to fail, and two runs must be the same. */
    copy_template(program);
    struct text_buffer before = export_of(program);
    if (before.length == text.length && memcmp(before.bytes, text.bytes, text.length) == 0) give_up("%s leaves nothing in the tree", program->name);
    free(before.bytes);
    copy_template(program);
    if (!wait_for(program, start(program), "the second run") || !compare(program, "a second run")) exit(2);
}

/* ---- random instants ---- */

/* Kills a worker, and its resumers, until one gets through. */
static bool kill_once(const struct program *program, uint64_t *kills) {
    copy_template(program);
    for (unsigned deaths = 0;; deaths++) {
        pid_t child = start(program);
        if (deaths && (deaths > 6 || random_next() % 3 == 0)) return wait_for(program, child, "a resumed run") && compare(program, "a kill");
        torture_sleep_ns((int64_t)(random_next() % (uint64_t)(program->run_ns + program->run_ns / 8)));
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) ++*kills;
        else if (WEXITSTATUS(status)) return fprintf(stderr, "%s: a worker gave %d\n", program->name, WEXITSTATUS(status)), false;
    }
}

/* ---- marks ---- */

/* Runs the program in a process that dies at mark `at` of the core and the engine (0: not). Gives how many marks it has passed. */
static uint64_t run_to_mark(const struct program *program, uint64_t at) {
    copy_template(program);
    int ends[2], status;
    if (pipe(ends)) give_up("pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) give_up("fork: %s", strerror(errno));
    if (child == 0) {
        kvlang *lang = open_runtime(program->space);
        fault_arm(FAULT_KILL, at ? at : UINT64_MAX);
        int rc = kvlang_run(lang, 1, 0, NULL);
        if (!rc) rc = kvlang_serve(lang, NULL, 1);
        uint64_t count = fault_count(FAULT_KILL);
        fault_disarm(FAULT_KILL);
        if (write(ends[1], &count, sizeof count) != sizeof count) rc = 3;
        _exit(rc ? 3 : 0); /* without closing: a death behind the last row */
    }
    uint64_t count = 0;
    close(ends[1]);
    if (read(ends[0], &count, sizeof count) != sizeof count) count = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status)) give_up("%s: a worker gave %d", program->name, WEXITSTATUS(status));
    return count;
}

/* `points` 0: every mark there is, else that many, each somewhere in its part of the run. */
static bool die_at_marks(const struct program *program, uint64_t points, uint64_t *kills) {
    uint64_t all = run_to_mark(program, 0);
    if (!points || points > all) points = all;
    printf("%s: %llu marks, killed at %llu of them\n", program->name, (unsigned long long)all, (unsigned long long)points);
    for (uint64_t i = 0; i < points; i++) {
        uint64_t part = all / points, at = i * all / points + 1 + (part > 1 ? random_next() % part : 0);
        char how[80];
        run_to_mark(program, at);
        ++*kills;
        snprintf(how, sizeof how, "a kill at mark %llu of %llu", (unsigned long long)at, (unsigned long long)all);
        if (!wait_for(program, start(program), how) || !compare(program, how)) return false;
    }
    return true;
}

/* ---- the whole ---- */

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct text_buffer text = { 0 };
    struct text_out out = text_buffer_out(&text);
    char buffer[4096];
    size_t count;
    if (!file) give_up("%s: %s", path, strerror(errno));
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0) text_put(&out, buffer, count);
    fclose(file);
    return text.bytes;
}

static void remove_directory(void) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command)) fprintf(stderr, "%s stays\n", directory);
}

int main(int argc, char **argv) {
    enum { PROGRAMS_MAX = 64 };
    static struct program programs[PROGRAMS_MAX];
    unsigned program_count = 0;
    uint64_t kills_wanted = 300, points = 0, seed = (uint64_t)time(NULL), kills = 0, marked = 0;
    bool show = false, at_marks = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "--kills") == 0) kills_wanted = strtoull(value, NULL, 10), i++;
        else if (strcmp(argv[i], "--marks") == 0) points = strtoull(value, NULL, 10), at_marks = fault_built(), i++;
        else if (strcmp(argv[i], "--seed") == 0) seed = strtoull(value, NULL, 10), i++;
        else if (strcmp(argv[i], "--show") == 0) show = true;
        else if (argv[i][0] == '-') give_up("usage: torture_resume [--kills N] [--marks N] [--seed S] [--show] FILE…");
        else if (program_count < PROGRAMS_MAX) {
            const char *slash = strrchr(argv[i], '/');
            programs[program_count++] = (struct program){ .name = slash ? slash + 1 : argv[i], .text = read_file(argv[i]) };
        }
    }
    if (!program_count) give_up("which programs?");
    random_state = seed;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    const char *top = getenv("TMPDIR");
    struct stat shm;
    if (!top) top = stat("/dev/shm", &shm) == 0 ? "/dev/shm" : "/tmp";
    snprintf(directory, sizeof directory, "%s/torture-resume-XXXXXX", top);
    if (!mkdtemp(directory)) give_up("%s: %s", directory, strerror(errno));
    for (unsigned i = 0; i < program_count; i++) {
        prepare(&programs[i], i);
        if (show) printf("%s: %.1f ms\n%s\n", programs[i].name, (double)programs[i].run_ns / 1e6, programs[i].expected);
        fflush(stdout);
    }
    bool failed = false;
    for (unsigned i = 0; at_marks && !failed && i < program_count; i++) failed = !die_at_marks(&programs[i], points, &marked);
    for (unsigned i = 0; !failed && kills < kills_wanted; i++) failed = !kill_once(&programs[i % program_count], &kills);
    printf("%u programs, %llu kills at random instants, %llu at marks: %s\n", program_count, (unsigned long long)kills,
           (unsigned long long)marked, failed ? "FAILED" : "every tree the same");
    if (!failed) remove_directory();
    return failed;
}
