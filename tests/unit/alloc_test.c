/* The memory of a space below the tree: class boundaries, big runs and their return, a space that is full and not for ever, growth, fresh
 * and stale blocks, retired ones behind a reader, counted blocks and pins, two processes at once, and death at every mark of all of
 * these. Relies on alloc.h, party.h, cmocka. Promises: after each test the memory is checked and nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kvspace/alloc.h"
#include "kvspace/fault.h"
#include "kvspace/pages.h"
#include "kvspace/party.h"
#include "space_fixture.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LIMIT = 16 << 20, KEPT_MAX = 4096, MARKS_MAX = 2000 };

static struct arena arena;
static ref_t kept[KEPT_MAX]; /* blocks in use */
static unsigned kept_count;

static int open_arena(struct arena *out) {
    struct arena_options options = {.limit_bytes = LIMIT, .label = "alloc_test"};
    return arena_open(out, fixture_dsn + 4, &options);
}

static int begin(void **state) {
    (void)state;
    kept_count = 0;
    return fixture_make_directory() || open_arena(&arena);
}

static void report(void *context, const char *text) { print_error("%s: %s\n", (const char *)context, text); }

/* Every block is used, free, or retired; leaks: what deaths may have left. */
static void check_memory(const char *when, uint64_t leaks_most) {
    struct alloc_check check = {.arena = &arena, .report = report, .context = (void *)(uintptr_t)when};
    assert_int_equal(0, alloc_check_begin(&check));
    for (unsigned i = 0; i < kept_count; i++)
        if (alloc_check_claim(&check, kept[i], 1, false)) fail_msg("%s: block %u of %u is no block in use", when, i, kept_count);
    alloc_check_end(&check);
    if (check.errors || check.leaked_blocks > leaks_most)
        fail_msg("%s: %llu faults, %llu blocks leaked", when, (unsigned long long)check.errors, (unsigned long long)check.leaked_blocks);
}

static int end(void **state) {
    (void)state;
    check_memory("at the end", 0);
    arena_close(&arena);
    unlink(fixture_dsn + 4);
    return rmdir(fixture_directory);
}

static ref_t take(uint64_t bytes) {
    ref_t ref = 0;
    int rc = alloc_take(&arena, bytes, &ref);
    if (rc) fail_msg("%llu bytes: %s: %s", (unsigned long long)bytes, kvspace_error_name(rc), arena.message);
    return ref;
}

static ref_t take_and_keep(uint64_t bytes) {
    ref_t ref = take(bytes);
    alloc_keep(&arena, ref);
    assert_true(kept_count < KEPT_MAX);
    kept[kept_count++] = ref;
    return ref;
}

static void retire(unsigned at) {
    alloc_retire(&arena, kept[at]);
    kept[at] = kept[--kept_count];
}

static unsigned char *bytes_of(ref_t ref, uint64_t bytes) {
    unsigned char *at = arena_at(&arena, ref, bytes);
    assert_non_null(at);
    return at;
}

static void test_classes(void **state) {
    (void)state;
    for (uint64_t bytes = 1; bytes <= 40000; bytes += bytes < 600 ? 1 : 61) {
        ref_t ref = take(bytes);
        uint64_t usable = alloc_bytes(&arena, ref);
        if (usable < bytes || (bytes > 64 && usable > bytes + bytes / 2 + 64)) fail_msg("%llu bytes get %llu", (unsigned long long)bytes, (unsigned long long)usable);
        uint64_t align = bytes > 32768 ? FORMAT_PAGE : bytes >= 64 ? 64 : 16;
        if ((uint64_t)ref * FORMAT_UNIT % align) fail_msg("%llu bytes are not aligned to %llu", (unsigned long long)bytes, (unsigned long long)align);
        memset(bytes_of(ref, usable), 0x5a, usable);
        alloc_give(&arena, ref);
        if (bytes <= 32768) continue;
        assert_int_equal(0, alloc_bytes(&arena, ref));
    }
    assert_int_equal(0, alloc_bytes(&arena, 0));
    assert_int_equal(0, alloc_bytes(&arena, 1));
    assert_int_equal(0, alloc_bytes(&arena, UINT32_MAX));
}

/* Blocks in use do not overlap, whatever comes and goes around them. */
static void test_no_overlap(void **state) {
    uint64_t random = 1;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        if (kept_count < 300 && random >> 60 < 9) {
            uint64_t bytes = 1 + (random >> 20) % ((random >> 50 & 31) == 0 ? 60000 : 900);
            ref_t ref = take_and_keep(bytes);
            memset(bytes_of(ref, bytes), (int)(ref & 0xff), bytes);
            continue;
        }
        if (!kept_count) continue;
        unsigned at = (unsigned)((random >> 33) % kept_count);
        const unsigned char *first = bytes_of(kept[at], 1);
        if (*first != (kept[at] & 0xff)) fail_msg("block %u has been written over", kept[at]);
        retire(at);
    }
    check_memory("after many rounds", 0);
    while (kept_count) retire(0);
}

static uint64_t occupied(void) {
    struct stat facts;
    assert_int_equal(0, stat(fixture_dsn + 4, &facts));
    return (uint64_t)facts.st_blocks * 512;
}

static void test_big_runs_go_back(void **state) {
    (void)state;
    uint64_t before = occupied();
    for (unsigned round = 0; round < 50; round++) {
        ref_t ref = take_and_keep(4 << 20);
        memset(bytes_of(ref, 4 << 20), 1, 4 << 20);
        retire(0);
        (void)(party_advance(&arena) && party_advance(&arena));
        alloc_drain(&arena, UINT32_MAX);
    }
    struct alloc_figures figures;
    alloc_figures(&arena, &figures);
    assert_int_equal(0, figures.big_bytes);
    if (occupied() > before + (2 << 20)) fail_msg("%llu bytes are occupied, %llu were", (unsigned long long)occupied(), (unsigned long long)before);
}

static void test_full_and_not_for_ever(void **state) {
    ref_t ref;
    int rc = 0;
    (void)state;
    assert_int_equal(KVSPACE_EFULL, alloc_take(&arena, LIMIT, &ref));
    assert_int_equal(KVSPACE_EFULL, alloc_take(&arena, UINT64_MAX / 2, &ref));
    while (!(rc = alloc_take(&arena, 30000, &ref))) {
        alloc_keep(&arena, ref);
        kept[kept_count++] = ref;
    }
    assert_int_equal(KVSPACE_EFULL, rc);
    assert_non_null(strpbrk(arena.message, "0123456789"));
    check_memory("full", 0);
    unsigned had = kept_count;
    assert_true(had > 250);
    while (kept_count) retire(kept_count - 1);
    for (unsigned i = 0; i < had; i++) (void)take_and_keep(30000);
    while (kept_count) retire(kept_count - 1);
    (void)take_and_keep(6 << 20); /* other sizes get what small ones had */
    check_memory("a big one after small ones", 0);
    while (kept_count) retire(0);
}

static void test_fresh(void **state) {
    ref_t ref[PARTY_FRESH_MAX], more;
    (void)state;
    for (unsigned i = 0; i < PARTY_FRESH_MAX; i++) ref[i] = take(100 + i * 1000);
    assert_int_equal(KVSPACE_ELIMIT, alloc_take(&arena, 100, &more));
    alloc_give(&arena, ref[3]);
    more = take(40000);
    alloc_give_all(&arena);
    check_memory("all given back", 0);
    for (unsigned i = 0; i < PARTY_FRESH_MAX; i++) kept[kept_count++] = take(64);
    alloc_keep_all(&arena);
    check_memory("all kept", 0);
    for (unsigned i = 0; i < 3; i++) alloc_stale(&arena, kept[i]);
    alloc_stale_forget(&arena);
    check_memory("stale and forgotten", 0);
    while (kept_count) retire(0);
}

/* What a reader may see is not used again before it has left. */
static void test_reader_holds_back(void **state) {
    struct arena reader;
    (void)state;
    assert_int_equal(0, open_arena(&reader));
    ref_t ref = take_and_keep(5000);
    memset(bytes_of(ref, 5000), 7, 5000);
    assert_int_equal(0, party_enter(&reader));
    retire(0);
    for (unsigned i = 0; i < 500; i++) {
        memset(bytes_of(take_and_keep(5000), 5000), 8, 5000);
        retire(0);
    }
    const unsigned char *seen = arena_at(&reader, ref, 5000);
    for (unsigned i = 8; i < 5000; i++) assert_int_equal(7, seen[i]);
    party_exit(&reader);
    arena_close(&reader);
}

static void test_counted(void **state) {
    int code;
    (void)state;
    ref_t ref = take_and_keep(2000);
    _Atomic uint32_t *count = (_Atomic uint32_t *)(void *)bytes_of(ref, 4);
    atomic_store(count, 1);
    for (unsigned i = 0; i < 300; i++) assert_true(block_pin(&arena, ref, &code));
    assert_int_equal(301, atomic_load(count));
    for (unsigned i = 0; i < 150; i++) block_unpin(&arena, ref);
    assert_int_equal(151, atomic_load(count));
    block_unpin_all(&arena);
    assert_int_equal(1, atomic_load(count));
    assert_true(block_ref(&arena, ref));
    block_unref(&arena, ref);
    block_drop_later(&arena, ref);
    block_drop_forget(&arena);
    assert_int_equal(1, atomic_load(count));
    block_drop_later(&arena, ref);
    block_drop_named(&arena);
    kept_count = 0;
    assert_false(block_ref(&arena, ref));
}

/* ---- processes ---- */

static void default_signals(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], SIG_DFL);
    alarm(60);
}

static void test_processes(void **state) {
    pid_t pids[3];
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] != 0) continue;
        default_signals();
        struct arena own;
        ref_t refs[50] = {0};
        uint64_t random = i + 5;
        if (open_arena(&own)) { fprintf(stderr, "open: %s\n", own.message); _exit(1); }
        for (unsigned round = 0; round < 20000; round++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            ref_t *ref = &refs[(random >> 40) % 50];
            uint32_t *word = *ref ? arena_at(&own, *ref, 16) : NULL;
            if (word && (word[0] != *ref || word[3] != i)) _exit(2);
            if (word) alloc_retire(&own, *ref);
            *ref = 0;
            if (alloc_take(&own, 16 + (random >> 20) % ((random >> 55 & 63) == 0 ? 50000 : 500), ref)) _exit(3);
            word = arena_at(&own, *ref, 16);
            word[0] = *ref;
            word[3] = i;
            alloc_keep(&own, *ref);
        }
        for (unsigned n = 0; n < 50; n++)
            if (refs[n]) alloc_retire(&own, refs[n]);
        arena_close(&own);
        _exit(0);
    }
    for (unsigned i = 0; i < 3; i++) {
        int status = 1;
        assert_int_equal(pids[i], waitpid(pids[i], &status, 0));
        assert_int_equal(0, status);
    }
}

/* What a child does before it is killed. Whatever it keeps is nobody's when it is dead: those are its leaks. */
static int live(struct arena *own) {
    ref_t ref[12];
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 12; i++) {
            int rc = alloc_take(own, i % 4 == 3 ? 70000 + i * 10000 : 100u << i % 6, &ref[i]);
            if (rc) return rc;
        }
        for (unsigned i = 0; i < 6; i++) alloc_give(own, ref[i]);
        for (unsigned i = 6; i < 12; i++) {
            atomic_store((_Atomic uint32_t *)arena_at(own, ref[i], 4), 1);
            alloc_keep(own, ref[i]);
        }
        for (unsigned i = 6; i < 10; i++) alloc_retire(own, ref[i]);
        for (unsigned i = 10; i < 12; i++) block_unref(own, ref[i]);
        (void)(party_advance(own) && party_advance(own));
        alloc_drain(own, UINT32_MAX);
    }
    return 0;
}

static void test_death(void **state) {
    (void)state;
    if (!fault_built()) skip();
    for (uint64_t mark = 1; mark < MARKS_MAX; mark += 2) {
        char when[60];
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            struct arena own;
            default_signals();
            if (open_arena(&own)) _exit(2);
            fault_arm(FAULT_KILL, mark);
            int rc = live(&own);
            fault_disarm(FAULT_KILL);
            if (!rc) arena_close(&own);
            _exit(rc ? 3 : 0);
        }
        assert_int_equal(pid, waitpid(pid, &status, 0));
        if (!WIFSIGNALED(status) && status) fail_msg("mark %llu: status %#x", (unsigned long long)mark, (unsigned)status);
        party_recover_all(&arena);
        snprintf(when, sizeof when, "killed at mark %llu", (unsigned long long)mark);
        check_memory(when, UINT64_MAX);
        struct alloc_check mend = {.arena = &arena, .repair = true};
        assert_int_equal(0, alloc_check_begin(&mend));
        alloc_check_end(&mend);
        assert_int_equal(0, mend.errors);
        assert_true(mend.leaked_blocks <= 6);
        check_memory("repaired", 0);
        if (!WIFSIGNALED(status)) return;
    }
    fail_msg("it does not end");
}

/* ---- participants ---- */

static void test_lock_of_the_dead(void **state) {
    int status = 0;
    (void)state;
    _Atomic uint32_t *word = (_Atomic uint32_t *)(void *)bytes_of(take_and_keep(64), 64);
    ref_t ref = kept[0];
    atomic_store(word, 0);
    for (unsigned i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            struct arena own;
            default_signals();
            if (open_arena(&own)) _exit(2);
            party_lock(&own, (_Atomic uint32_t *)arena_at(&own, ref, 64));
            raise(SIGKILL);
        }
        assert_int_equal(pid, waitpid(pid, &status, 0));
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_int_not_equal(0, atomic_load(word));
        int64_t begun = platform_now_ns();
        party_lock(&arena, word);
        assert_true(party_holds(&arena, word));
        party_unlock(&arena, word);
        assert_true(platform_now_ns() - begun < INT64_C(2000000000));
    }
    retire(0);
}

/* A lock word that no living or dead participant can have written does not stop anybody. */
static void test_lock_of_nobody(void **state) {
    (void)state;
    _Atomic uint32_t *word = (_Atomic uint32_t *)(void *)bytes_of(take_and_keep(64), 64);
    static const uint32_t words[] = {0x7fffffff, 0x80000000, 0xffffffff, 1025, 900, 0x80000384};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        atomic_store(word, words[i]);
        party_lock(&arena, word);
        party_unlock(&arena, word);
        assert_int_equal(0, atomic_load(word));
    }
    retire(0);
}

static void test_forked_child(void **state) {
    int status = 1;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) _exit(party_enter(&arena) == KVSPACE_EUSAGE && strstr(arena.message, "forked") ? 0 : 1);
    waitpid(pid, &status, 0);
    assert_int_equal(0, status);
    assert_int_equal(0, party_enter(&arena));
    party_exit(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(test_classes),     TEST(test_no_overlap),       TEST(test_big_runs_go_back), TEST(test_full_and_not_for_ever),
        TEST(test_fresh),       TEST(test_reader_holds_back), TEST(test_counted),          TEST(test_processes),
        TEST(test_death),       TEST(test_lock_of_the_dead), TEST(test_lock_of_nobody),   TEST(test_forked_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
