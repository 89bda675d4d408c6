/* Broken files: every byte of the header flipped, random places, truncated at every kind of place, foreign, of other
 * versions, not readable. Each is examined by a child, which must neither crash nor hang (damage.h).
 * Relies on cmocka, fork. KVSPACE_DAMAGE_ROUNDS=N: how many random places (the default is small enough for every build);
 * KVSPACE_DAMAGE_KEEP=FILE: where a copy of the file goes that made a test fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../damage.h"
#include "kvspace/format.h"
#include "platform/platform.h"
#include "space_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LIMIT = 8 << 20, PIECE = 4096, CHILD_S = 30 };

/* The image: what of the file is not zero, piece by piece. */
static struct piece {
    uint64_t at;
    unsigned char bytes[PIECE];
} *pieces;
static size_t piece_count;
static uint64_t image_bytes;
static int image_fd = -1;
static uint64_t random_state = 1;

static uint64_t random_next(void) {
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = (random_state ^ random_state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static const char *path(void) { return fixture_dsn + 4; }

static int take_image(void **state) {
    static const unsigned char zeros[PIECE];
    struct kvspace_open_options options = {.limit_bytes = LIMIT};
    struct stat facts;
    (void)state;
    if (fixture_make_directory()) return -1;
    if (kvspace_open_with(fixture_dsn, &options, &space) || damage_populate(space)) return -1;
    kvspace_close(space);
    space = NULL;
    image_fd = open(path(), O_RDWR | O_CLOEXEC);
    if (image_fd < 0 || fstat(image_fd, &facts)) return -1;
    image_bytes = (uint64_t)facts.st_size;
    pieces = calloc(image_bytes / PIECE + 1, sizeof *pieces);
    if (!pieces) return -1;
    for (uint64_t at = 0; at < image_bytes; at += PIECE) {
        struct piece *piece = &pieces[piece_count];
        piece->at = at;
        ssize_t got = pread(image_fd, piece->bytes, PIECE, (off_t)at);
        if (got > 0 && memcmp(piece->bytes, zeros, (size_t)got) != 0) piece_count++;
    }
    return 0;
}

static void restore(void) {
    if (ftruncate(image_fd, 0) || ftruncate(image_fd, (off_t)image_bytes)) fail_msg("the image cannot be made again");
    for (size_t i = 0; i < piece_count; i++)
        if (pwrite(image_fd, pieces[i].bytes, PIECE, (off_t)pieces[i].at) != PIECE) fail_msg("the image cannot be written");
}

static int drop_image(void **state) {
    (void)state;
    close(image_fd);
    free(pieces);
    unlink(path());
    return rmdir(fixture_directory);
}

/* For whoever wants to look at a failure: a copy of what failed, as the child has left it. */
static void keep(void) {
    const char *name = getenv("KVSPACE_DAMAGE_KEEP");
    static char bytes[1 << 16];
    int fd = name ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    ssize_t got;
    for (off_t at = 0; fd >= 0 && (got = pread(image_fd, bytes, sizeof bytes, at)) > 0; at += got)
        if (pwrite(fd, bytes, (size_t)got, at) != got) break;
    if (fd >= 0) close(fd);
}

/* A child looks; what it finds wrong, and how it ends if not by itself, is a failure. */
static void examine(const char *what, uint64_t at, unsigned was, unsigned is) {
    const char *why = "";
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}; /* cmocka's handlers would go on with the tests */
        for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], SIG_DFL);
        alarm(CHILD_S);
        int question = damage_examine(fixture_dsn, &why);
        if (question) fprintf(stderr, "%s at %llu (%u to %u): %s\n", what, (unsigned long long)at, was, is, why);
        _exit(question);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) fail_msg("fork");
    if (status) keep();
    if (status) fail_msg("%s at %llu (%u to %u): status %#x, question %d", what, (unsigned long long)at, was, is, (unsigned)status, WEXITSTATUS(status));
}

static unsigned char image_byte(uint64_t at) {
    for (size_t i = 0; i < piece_count; i++)
        if (at - pieces[i].at < PIECE) return pieces[i].bytes[at - pieces[i].at];
    return 0;
}

static void put_byte(uint64_t at, unsigned char byte) {
    if (pwrite(image_fd, &byte, 1, (off_t)at) != 1) fail_msg("write");
}

static void flip(const char *what, uint64_t at, unsigned char mask) {
    unsigned char was = image_byte(at), is = was ^ mask;
    restore();
    put_byte(at, is);
    examine(what, at, was, is);
}

static int open_code(char *message) {
    struct kvspace_problem problem = {.message = ""};
    struct kvspace_open_options options = {.create = KVSPACE_CREATE_NEVER, .problem = &problem};
    kvspace *opened = NULL;
    int rc = kvspace_open_with(fixture_dsn, &options, &opened);
    if (!rc) kvspace_close(opened);
    strcpy(message, problem.message);
    return rc;
}

/* ---- the tests ---- */

static void test_untouched(void **state) {
    (void)state;
    restore();
    examine("nothing", 0, 0, 0);
}

/* The sealed part: every bit is noticed at opening, with the code of what it is. */
static void test_header_sealed(void **state) {
    char message[300];
    (void)state;
    for (uint64_t at = 0; at < offsetof(struct space_header, boot_id); at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            restore();
            put_byte(at, image_byte(at) ^ (unsigned char)(1u << bit));
            int expected = at < offsetof(struct space_header, version) ? KVSPACE_EFOREIGN
                           : at < offsetof(struct space_header, page_bytes) ? KVSPACE_EVERSION : KVSPACE_EDAMAGED;
            int rc = open_code(message);
            if (rc != expected || !strstr(message, path())) fail_msg("byte %u bit %u: %s: %s", (unsigned)at, bit, kvspace_error_name(rc), message);
        }
}

static unsigned rounds(void) {
    const char *wanted = getenv("KVSPACE_DAMAGE_ROUNDS");
    return wanted ? (unsigned)strtoul(wanted, NULL, 10) : 120;
}

static void test_header_open(void **state) {
    (void)state;
    uint64_t first = offsetof(struct space_header, boot_id), count = sizeof(struct space_header) - first;
    uint64_t step = rounds() < count ? count / rounds() + 1 : 1;
    for (uint64_t at = first + random_next() % step; at < sizeof(struct space_header); at += step)
        flip("header", at, (unsigned char)(1u << random_next() % 8));
}

/* A place that is in use. */
static uint64_t random_place(void) {
    for (;;) {
        const struct piece *piece = &pieces[random_next() % piece_count];
        unsigned at = (unsigned)(random_next() % PIECE);
        if (piece->bytes[at] || random_next() % 8 == 0) return piece->at + at;
    }
}

static void test_random_places(void **state) {
    (void)state;
    for (unsigned i = 0; i < rounds(); i++) flip("random place", random_place(), (unsigned char)(1u << random_next() % 8));
}

/* Many at once: words, zeros, ones. */
static void test_random_words(void **state) {
    (void)state;
    for (unsigned i = 0; i < rounds() / 2; i++) {
        unsigned count = 1 + (unsigned)(random_next() % 20);
        restore();
        for (unsigned n = 0; n < count; n++) {
            uint64_t at = random_place() & ~UINT64_C(3);
            if (at < offsetof(struct space_header, boot_id)) continue;
            uint32_t word = random_next() % 3 == 0 ? 0 : random_next() % 3 == 0 ? UINT32_MAX : (uint32_t)random_next() >> random_next() % 32;
            if (pwrite(image_fd, &word, 4, (off_t)at) != 4) fail_msg("write");
        }
        examine("random words, round", i, count, 0);
    }
}

static void test_truncated(void **state) {
    char message[300];
    (void)state;
    for (uint64_t bytes = 0; bytes < image_bytes; bytes += bytes < 20000 ? 997 : 37 * PIECE + 5) {
        restore();
        if (ftruncate(image_fd, (off_t)bytes)) fail_msg("truncate");
        int rc = open_code(message);
        if (rc != (bytes < FORMAT_HEADER_BYTES ? KVSPACE_EFOREIGN : KVSPACE_ETRUNCATED) || !*message)
            fail_msg("%llu bytes: %s: %s", (unsigned long long)bytes, kvspace_error_name(rc), message);
    }
}

/* What a process sees whose file gets shorter: no crash; ETRUNCATED from some call on, and from then on for ever. 0: right. */
static int use_while_it_shrinks(int orders, int answers) {
    struct kvspace_value value;
    kvspace *opened = NULL;
    char byte = 0;
    unsigned left = DAMAGE_ENTRIES_MAX;
    if (kvspace_open(fixture_dsn, &opened)) return 2;
    if (kvspace_read_begin(opened) || kvspace_get(opened, "/big/one", &value)) return 3;
    if (write(answers, &byte, 1) != 1 || read(orders, &byte, 1) != 1) return 4;
    volatile unsigned char sum = 0;
    for (uint64_t i = 0; i < value.body_bytes; i++) sum = (unsigned char)(sum + ((const unsigned char *)value.body)[i]);
    (void)kvspace_read_end(opened);
    damage_read(opened, "/", 0, &left);
    (void)kvspace_check(opened, NULL);
    (void)kvspace_set(opened, "/new", &value);
    (void)kvspace_del_tree(opened, "/texts", NULL);
    int rc = kvspace_get(opened, "/many/child1", &value);
    int good = rc == KVSPACE_ETRUNCATED && strstr(kvspace_message(opened), "shorter") && kvspace_set_i64(opened, "/a", 1) == KVSPACE_ETRUNCATED;
    kvspace_close(opened);
    return good ? 0 : 5;
}

/* The library's own, taken before cmocka put its handlers above it. */
static struct sigaction library_handler;

static void test_shrinks_under_us(void **state) {
    const uint64_t sizes[] = {0, FORMAT_PAGE, FORMAT_HEADER_BYTES, FORMAT_HEADER_BYTES + PARTY_MAX * (uint64_t)PARTY_BYTES, image_bytes - 1100000};
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int orders[2], answers[2], status = 0;
        char byte = 0;
        restore();
        if (pipe(orders) || pipe(answers)) fail_msg("pipe");
        pid_t pid = fork();
        if (pid == 0) {
            alarm(CHILD_S);
            signal(SIGSEGV, SIG_DFL);
            signal(SIGABRT, SIG_DFL);
            sigaction(SIGBUS, &library_handler, NULL);
            _exit(use_while_it_shrinks(orders[0], answers[1]));
        }
        if (read(answers[0], &byte, 1) != 1 || ftruncate(image_fd, (off_t)sizes[i]) || write(orders[1], &byte, 1) != 1) fail_msg("child");
        waitpid(pid, &status, 0);
        close(orders[0]), close(orders[1]), close(answers[0]), close(answers[1]);
        if (status) fail_msg("shrunk to %llu: status %#x", (unsigned long long)sizes[i], (unsigned)status);
    }
}

static void test_foreign(void **state) {
    char message[300];
    (void)state;
    unsigned char *noise = malloc(100000);
    assert_non_null(noise);
    for (unsigned i = 0; i < 100000; i++) noise[i] = (unsigned char)random_next();
    if (ftruncate(image_fd, 0) || pwrite(image_fd, noise, 100000, 0) != 100000) fail_msg("write");
    free(noise);
    assert_int_equal(KVSPACE_EFOREIGN, open_code(message));
    assert_non_null(strstr(message, path()));
    if (ftruncate(image_fd, 0) || pwrite(image_fd, "text\n", 5, 0) != 5) fail_msg("write");
    assert_int_equal(KVSPACE_EFOREIGN, open_code(message));
    if (ftruncate(image_fd, 0)) fail_msg("truncate");
    assert_int_equal(KVSPACE_EFOREIGN, open_code(message));
}

static void test_other_version(void **state) {
    char message[300];
    uint32_t version = FORMAT_VERSION + 1;
    (void)state;
    restore();
    if (pwrite(image_fd, &version, 4, offsetof(struct space_header, version)) != 4) fail_msg("write");
    assert_int_equal(KVSPACE_EVERSION, open_code(message));
    assert_non_null(strstr(message, "version 2"));
    assert_non_null(strstr(message, "version 1"));
}

static void test_not_a_file(void **state) {
    struct kvspace_problem problem = {.message = ""};
    struct kvspace_open_options options = {.problem = &problem, .create = KVSPACE_CREATE_NEVER};
    char dsn[400];
    (void)state;
    kvspace *opened = NULL;
    snprintf(dsn, sizeof dsn, "shm:%s", fixture_directory);
    int rc = kvspace_open_with(dsn, &options, &opened);
    assert_true(rc == KVSPACE_EFOREIGN || rc == KVSPACE_EIO || rc == KVSPACE_EPERM);
    assert_true(*problem.message != 0);
    snprintf(dsn, sizeof dsn, "shm:%s/none", fixture_directory);
    assert_int_equal(KVSPACE_ENOENT, kvspace_open_with(dsn, &options, &opened));
    snprintf(dsn, sizeof dsn, "shm:%s/none/none", fixture_directory);
    options.create = KVSPACE_CREATE_IF_MISSING;
    assert_int_equal(KVSPACE_ENOENT, kvspace_open_with(dsn, &options, &opened));
}

/* As another user than root, who may do everything. */
static void test_no_permission(void **state) {
    char message[300];
    int status = 0;
    (void)state;
    if (geteuid() != 0) skip();
    restore();
    if (chmod(fixture_directory, 0755)) fail_msg("chmod");
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(65534) || setuid(65534)) _exit(9);
        int rc = open_code(message);
        if (rc != KVSPACE_EPERM || !*message) _exit(1);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(0, status);
    if (fchmod(image_fd, 0666)) fail_msg("chmod");
    pid = fork();
    if (pid == 0) {
        if (setgid(65534) || setuid(65534)) _exit(9);
        int rc = open_code(message);
        if (rc != KVSPACE_EUNTRUSTED || !strstr(message, path())) _exit(1);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(0, status);
    if (fchmod(image_fd, 0600) || chmod(fixture_directory, 0700)) fail_msg("chmod");
}

/* A small file system of its own, if we may mount one: full is a code with sizes, deleting makes room, nothing is lost. */
#ifdef __linux__
static bool small_disk(const char *folder) { return mount("tmpfs", folder, "tmpfs", 0, "size=4m") == 0; }
static void small_disk_end(const char *folder) { umount(folder); }
#else
static bool small_disk(const char *folder) { return folder[0] == '\0'; } /* none here: the test is skipped */
static void small_disk_end(const char *folder) { (void)folder; }
#endif

static void test_full_disk(void **state) {
    static char text[60001];
    char folder[300], dsn[340], key[100];
    kvspace *full = NULL;
    unsigned stored = 0;
    int rc = 0;
    (void)state;
    snprintf(folder, sizeof folder, "%s/disk", fixture_directory);
    if (mkdir(folder, 0700)) fail_msg("mkdir");
    if (!small_disk(folder)) {
        rmdir(folder);
        skip();
    }
    memset(text, 'x', sizeof text - 1);
    snprintf(dsn, sizeof dsn, "shm:%s/space", folder);
    assert_int_equal(0, kvspace_open(dsn, &full));
    for (; !rc && stored < 1000; stored++) {
        snprintf(key, sizeof key, "/t/k%u", stored);
        rc = kvspace_set_text(full, key, text);
    }
    assert_int_equal(KVSPACE_ENOSPC, rc);
    assert_non_null(strpbrk(kvspace_message(full), "0123456789"));
    assert_int_equal(0, kvspace_check(full, NULL));
    for (unsigned i = 0; i + 1 < stored; i++) {
        struct kvspace_value value;
        snprintf(key, sizeof key, "/t/k%u", i);
        assert_int_equal(0, kvspace_get(full, key, &value));
        assert_int_equal(60000, value.body_bytes);
    }
    assert_int_equal(0, kvspace_del(full, "/t"));
    for (unsigned i = 0; i + 2 < stored; i++) {
        snprintf(key, sizeof key, "/u/k%u", i);
        rc = kvspace_set_text(full, key, text);
        if (rc) fail_msg("after deleting %u texts number %u does not fit: %s", stored, i, kvspace_message(full));
    }
    assert_int_equal(0, kvspace_check(full, NULL));
    kvspace_close(full);
    small_disk_end(folder);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untouched),     cmocka_unit_test(test_header_sealed), cmocka_unit_test(test_header_open),
        cmocka_unit_test(test_random_places), cmocka_unit_test(test_random_words),  cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_foreign),       cmocka_unit_test(test_other_version), cmocka_unit_test(test_not_a_file),
        cmocka_unit_test(test_no_permission), cmocka_unit_test(test_full_disk),     cmocka_unit_test(test_shrinks_under_us),
    };
    struct platform_lease lease;
    platform_lease_take(&lease, -1, NULL, 0);
    sigaction(SIGBUS, NULL, &library_handler);
    platform_lease_drop(&lease);
    return cmocka_run_group_tests(tests, take_image, drop_image);
}
