/* Workers of several processes serve one space with hundreds of vthreads; some are killed all the time, and new ones come. In the end every
 * vthread is done, every count is exact and nobody ran anything twice.
 *
 *     torture_serve [--workers N] [--vthreads N] [--kills N] [--seed S]
 *
 * Relies on kvlang.h and fork. Exit status 0 when all was as it must be. */
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

#include "torture.h"

enum { WORKERS_MAX = 64, COUNTS = 40, GIVE_UP_S = 240 };

static const char program_text[] =
    "rwfunc child(n:int64) -> (r:int64) {\n"
    "\tkv·incr(\"/children\") -> _\n"
    "\tn * 2 -> r\n"
    "}\n"
    "rwfunc work(n:int64) -> (sum:int64) {\n"
    "\t0 -> sum\n"
    "\txs:[]int64 = []\n"
    "\tvthread·spawn(\"child\", n) -> c\n"
    "\tfor (i in range(0, 40)) {\n"
    "\t\tkv·incr(\"/hits\") -> _\n"
    "\t\tarray·append(xs, i) -> xs\n"
    "\t\tsum + i * n -> sum\n"
    "\t}\n"
    "\tif (n % 7 == 0) { vthread·sleep(3) }\n"
    "\tvthread·wait(c) -> status\n"
    "\tvthread·call(\"child\", n) -> called\n"
    "\tif (status != \"done\") { kv·incr(\"/wrong\") -> _ }\n"
    "\tif (called != \"done\") { kv·incr(\"/wrong\") -> _ }\n"
    "\tsum + array·sum(xs) -> sum\n"
    "\tkv·set(\"/out/w\" + string·formatint(n), sum)\n"
    "}\n"
    "rwfunc main(count:int64) -> () {\n"
    "\tvids:[]int64 = []\n"
    "\tfor (n in range(0, count)) {\n"
    "\t\tvthread·spawn(\"work\", n) -> v\n"
    "\t\tarray·append(vids, v) -> vids\n"
    "\t}\n"
    "\tfor (v in vids) {\n"
    "\t\tvthread·wait(v) -> status\n"
    "\t\tif (status != \"done\") { kv·incr(\"/wrong\") -> _ }\n"
    "\t}\n"
    "\tkv·incr(\"/finished\") -> _\n"
    "}\n";

static char directory[200], dsn[240];
static uint64_t random_state;

static uint64_t random_next(void) { return torture_random(&random_state); }

static kvlang *open_runtime(void) {
    kvlang *lang;
    char problem[256] = "";
    struct kvlang_options options = { .dsn = dsn, .problem = problem };
    if (kvlang_open(&options, &lang)) {
        fprintf(stderr, "cannot open %s: %s\n", dsn, problem);
        _exit(3);
    }
    return lang;
}

static pid_t start_worker(void) {
    pid_t child = fork();
    if (child < 0) give_up("fork: %s", strerror(errno));
    if (child) return child;
    kvlang *lang = open_runtime();
    int rc = kvlang_serve(lang, NULL, 0);
    fprintf(stderr, "a worker ended: %d %s\n", rc, kvlang_message(lang));
    _exit(3);
}

static int to_stderr(void *context, const char *bytes, size_t count) {
    (void)context;
    fwrite(bytes, 1, count, stderr);
    return 0;
}

static int64_t number_at(kvspace *space, const char *key) {
    int64_t number = 0;
    return kvspace_get_i64(space, key, &number) ? 0 : number;
}

static bool check_number(kvspace *space, const char *key, int64_t expected) {
    int64_t number = number_at(space, key);
    if (number != expected) fprintf(stderr, "%s is %lld, not %lld\n", key, (long long)number, (long long)expected);
    return number == expected;
}

/* Every vthread has ended well. */
static bool check_vthreads(kvlang *lang, uint64_t last) {
    for (uint64_t vid = 1; vid <= last; vid++) {
        enum kvlang_status status;
        if (kvlang_status_of(lang, vid, &status) == 0 && status == KVLANG_DONE) continue;
        fprintf(stderr, "vthread %llu has not ended well\n", (unsigned long long)vid);
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    uint64_t workers = 2, vthreads = 200, kills = 40, seed = (uint64_t)time(NULL);
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t number = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--workers") == 0) workers = number;
        else if (strcmp(argv[i], "--vthreads") == 0) vthreads = number;
        else if (strcmp(argv[i], "--kills") == 0) kills = number;
        else if (strcmp(argv[i], "--seed") == 0) seed = number;
        else give_up("usage: torture_serve [--workers N] [--vthreads N] [--kills N] [--seed S]");
    }
    if (workers < 1 || workers > WORKERS_MAX) give_up("1 to %d workers", WORKERS_MAX);
    random_state = seed;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    const char *top = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/torture-serve-XXXXXX", top ? top : "/tmp");
    if (!mkdtemp(directory)) give_up("%s: %s", directory, strerror(errno));
    snprintf(dsn, sizeof dsn, "shm:%s/space", directory);
    kvlang *lang = open_runtime();
    kvspace *space = kvlang_space(lang);
    struct kvspace_value count = kvspace_value_i64((int64_t)vthreads);
    uint64_t vid;
    if (kvlang_lay_out(lang, "serve.kv", program_text, 0, to_stderr, NULL) || kvlang_start(lang, "main", &count, 1, &vid) ||
        kvspace_set_text(space, "/vthread/1/‥status", "wait")) {
        give_up("%s", kvlang_message(lang));
    }
    pid_t pids[WORKERS_MAX];
    for (uint64_t i = 0; i < workers; i++) pids[i] = start_worker();
    uint64_t killed = 0;
    time_t begin = time(NULL);
    while (!number_at(space, "/finished") && time(NULL) - begin < GIVE_UP_S) {
        torture_sleep_ns(1000 * (1000 + (int64_t)(random_next() % 30000)));
        if (killed == kills) continue;
        uint64_t victim = random_next() % workers;
        kill(pids[victim], SIGKILL);
        waitpid(pids[victim], NULL, 0);
        killed++;
        pids[victim] = start_worker();
    }
    torture_sleep_ns(100000000); /* main has counted; its worker writes its status */
    for (uint64_t i = 0; i < workers; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    kvlang_serve(lang, NULL, 1);
    int64_t total = (int64_t)vthreads;
    bool good = check_number(space, "/finished", 1);
    good = check_number(space, "/wrong", 0) && good;
    good = check_number(space, "/hits", total * COUNTS) && good;
    good = check_number(space, "/children", total * 2) && good;
    good = check_number(space, "/vthread/‥last", 1 + 3 * total) && good;
    good = check_vthreads(lang, (uint64_t)(1 + 3 * total)) && good;
    for (int64_t n = 0; good && n < total; n++) {
        char key[32];
        snprintf(key, sizeof key, "/out/w%lld", (long long)n);
        good = check_number(space, key, COUNTS * (COUNTS - 1) / 2 * (n + 1));
    }
    printf("%llu vthreads, %llu workers, %llu kills: %s\n", (unsigned long long)(1 + 3 * vthreads), (unsigned long long)workers,
           (unsigned long long)killed, good ? "nothing lost, nothing twice" : "FAILED");
    kvlang_close(lang);
    if (good) {
        unlink(dsn + 4);
        rmdir(directory);
    } else {
        printf("the space is kept at %s\n", dsn);
    }
    return !good;
}
