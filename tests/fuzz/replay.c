/* The fuzz targets without libFuzzer: a main that feeds a target every seed of a folder, then mutations of them.
 * Relies on LLVMFuzzerTestOneInput of the target it is linked with. The generator is fixed (splitmix64, seed printed),
 * so a failure repeats: `fuzz_NAME --seed S --rounds N FOLDER`. A crash leaves the input in fuzz_crash.bin. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, SEEDS_MAX = 4096 };

struct seed {
    uint8_t *bytes;
    size_t size;
};

static struct seed seeds[SEEDS_MAX];
static size_t seed_count;
static uint64_t random_state;

/* The input under test, for the crash record. */
static uint8_t current[INPUT_MAX];
static size_t current_size;

/* splitmix64 (Steele, Lea, Flood 2014): any seed gives a full period. */
static uint64_t random_next(void) {
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t random_below(size_t limit) {
    return limit ? (size_t)(random_next() % limit) : 0;
}

static int by_name(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static int seed_load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return -1;
    uint8_t *bytes = malloc(INPUT_MAX);
    if (!bytes) {
        fclose(file);
        return -1;
    }
    size_t size = fread(bytes, 1, INPUT_MAX, file);
    fclose(file);
    seeds[seed_count].bytes = bytes;
    seeds[seed_count].size = size;
    seed_count++;
    return 0;
}

/* Loads every regular file of the folder, sorted by name so that runs are equal on every file system. */
static int seeds_load(const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir) return errno == ENOENT ? 0 : -1;
    static char *names[SEEDS_MAX];
    size_t count = 0;
    for (struct dirent *entry; count < SEEDS_MAX && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        names[count] = malloc(size);
        if (!names[count]) break;
        (void)snprintf(names[count++], size, "%s/%s", folder, entry->d_name);
    }
    closedir(dir);
    if (count) qsort(names, count, sizeof names[0], by_name);
    int rc = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        if (!rc && !stat(names[i], &status) && S_ISREG(status.st_mode)) rc = seed_load(names[i]);
        free(names[i]);
    }
    return rc;
}

/* Keeps the input and dies of the same signal. Only async-signal-safe calls in here. */
static void crash_record(int number) {
    static const char text[] = "replay: the target crashed; its input is in fuzz_crash.bin\n";
    int file = open("fuzz_crash.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool kept = file >= 0 && write(file, current, current_size) == (ssize_t)current_size;
    if (kept && write(STDERR_FILENO, text, sizeof text - 1) < 0) kept = false;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void run_current(void) {
    /* An exact-size heap copy, so that reading one byte too far is seen by the address sanitizer. */
    uint8_t *copy = malloc(current_size ? current_size : 1);
    if (!copy) return;
    memcpy(copy, current, current_size);
    (void)LLVMFuzzerTestOneInput(copy, current_size);
    free(copy);
}

static void take_seed(void) {
    current_size = 0;
    if (!seed_count) return;
    const struct seed *seed = &seeds[random_below(seed_count)];
    memcpy(current, seed->bytes, seed->size);
    current_size = seed->size;
}

static void insert_bytes(size_t at, const uint8_t *bytes, size_t count) {
    if (current_size + count > INPUT_MAX) count = INPUT_MAX - current_size;
    memmove(current + at + count, current + at, current_size - at);
    memcpy(current + at, bytes, count);
    current_size += count;
}

static void erase_bytes(size_t at, size_t count) {
    if (at + count > current_size) count = current_size - at;
    memmove(current + at, current + at + count, current_size - at - count);
    current_size -= count;
}

/* One random change. Numbers at the edges of their types and a splice from another seed find more than bit flips. */
static void mutate_once(void) {
    static const uint64_t edges[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
                                     UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000), UINT64_MAX};
    uint8_t bytes[8];
    size_t at = random_below(current_size);
    switch (random_next() % 7) {
    case 0: if (current_size) current[at] ^= (uint8_t)(1U << random_below(8)); break;
    case 1: if (current_size) current[at] = (uint8_t)random_next(); break;
    case 2: bytes[0] = (uint8_t)random_next(); insert_bytes(random_below(current_size + 1), bytes, 1); break;
    case 3: erase_bytes(at, 1 + random_below(8)); break;
    case 4: {
        memcpy(bytes, &edges[random_below(sizeof edges / sizeof edges[0])], sizeof bytes);
        size_t width = (size_t)1 << random_below(4);
        if (at + width <= current_size) memcpy(current + at, bytes, width);
        break;
    }
    case 5: {
        if (!seed_count) break;
        const struct seed *seed = &seeds[random_below(seed_count)];
        size_t from = random_below(seed->size);
        insert_bytes(random_below(current_size + 1), seed->bytes + from, random_below(seed->size - from + 1));
        break;
    }
    default: erase_bytes(at, current_size); break;
    }
}

int main(int argc, char **argv) {
    uint64_t rounds = 20000;
    double seconds = 5;
    uint64_t seed = 20260101;
    const char *folder = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--rounds") && i + 1 < argc) rounds = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seconds") && i + 1 < argc) seconds = strtod(argv[++i], NULL);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc) seed = strtoull(argv[++i], NULL, 10);
        else folder = argv[i];
    }
    if (folder && seeds_load(folder)) {
        fprintf(stderr, "replay: %s: %s\n", folder, strerror(errno));
        return 2;
    }
    printf("replay: %zu seeds, seed %" PRIu64 "\n", seed_count, seed);
    random_state = seed;
    static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) (void)signal(fatal[i], crash_record);
    for (size_t i = 0; i < seed_count; i++) {
        memcpy(current, seeds[i].bytes, seeds[i].size);
        current_size = seeds[i].size;
        run_current();
    }
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    uint64_t done = 0;
    for (; done < rounds && clock() < end; done++) {
        take_seed();
        for (size_t changes = 1 + random_below(6); changes; changes--) mutate_once();
        run_current();
    }
    printf("replay: %" PRIu64 " mutations\n", done);
    for (size_t i = 0; i < seed_count; i++) free(seeds[i].bytes);
    return 0;
}
