/* Torture of the tree: workers do random operations of the whole API, a killer sends SIGKILL at random instants and starts
 * successors. Each worker has keys of its own with a model in memory that outlives it: what it had been told is done must be there,
 * what was under way has happened as a whole or not at all. Other keys are everybody's: their values carry a checksum, their
 * counter counts. The space is checked while workers work, when all are dead, and after a repair.
 *
 *     torture_tree_kill [KILLS] [--workers N] [--seed N] [--check-each N] [--verbose]
 *
 * Relies on kvspace.h alone. Promises: exit status 0 only if not one acknowledged write was lost; a hang is a failure. */
#include <kvspace/kvspace.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

#define DOT "\xc2\xb7"

enum { WORKERS_MAX = 16, DIRS = 4, KEYS = 12, SHARED_DIRS = 4, SHARED_KEYS = 8, TEXT_MAX = 100000, HANG_S = 60 };
enum kind { ABSENT, NUMBER, TEXT, BYTES, CONTAINER, KINDS };

struct item {
    uint32_t kind, size;
    uint64_t seed;
};
struct model {
    struct item item[DIRS][KEYS];
};

/* What outlives a worker. */
struct record {
    struct model model[2];
    _Atomic uint32_t state; /* bit 0: the model that counts; bit 1: the other one is being made true */
    _Atomic uint64_t operations, counted;
    _Atomic uint32_t counting, doing;
    _Atomic uint32_t failed;
    char message[1000];
};
struct board {
    struct record record[WORKERS_MAX];
};

static struct board *board;
static struct record *record; /* the own one */
static kvspace *space;
static char dsn[300];
static uint64_t random_state;
static unsigned char buffer[TEXT_MAX + 64];

static uint64_t random_next(void) { return torture_random(&random_state); }
static uint32_t below(uint32_t count) { return (uint32_t)(random_next() % count); }

__attribute__((format(printf, 1, 2), noreturn)) static void failed(const char *form, ...) {
    va_list arguments;
    va_start(arguments, form);
    vsnprintf(record->message, sizeof record->message, form, arguments);
    va_end(arguments);
    atomic_store(&record->failed, 1);
    abort();
}

#define MUST(call) must((call), #call)
static void must(int rc, const char *what) {
    if (rc) failed("%s gives %s: %s", what, kvspace_error_name(rc), kvspace_message(space));
}

/* ---- values ---- */

static void fill(uint64_t seed, uint32_t size, bool text) {
    uint64_t state = seed * 2 + 1;
    for (uint32_t i = 0; i < size; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        buffer[i] = text ? (unsigned char)('a' + (state >> 40) % 26) : (unsigned char)(state >> 40);
    }
    buffer[size] = 0;
}

static int put(const char *key, const struct item *item) {
    char literal[80];
    uint64_t dims[1] = {item->size};
    struct kvspace_value value;
    switch (item->kind) {
    case NUMBER: return kvspace_set_i64(space, key, (int64_t)item->seed);
    case TEXT:
        fill(item->seed, item->size, true);
        value = kvspace_value_utf8((const char *)buffer, item->size);
        return kvspace_set(space, key, &value);
    case BYTES:
        fill(item->seed, item->size, false);
        value = kvspace_value_array(KVSPACE_UINT8, 1, dims, buffer);
        return kvspace_set(space, key, &value);
    case CONTAINER:
        snprintf(literal, sizeof literal, "{a=%u,b=%u}", (unsigned)(item->seed & 0xffff), (unsigned)(item->seed >> 16 & 0xffff));
        return kvspace_set_literal(space, key, literal, strlen(literal), NULL);
    default: return kvspace_set(space, key, NULL);
    }
}

static bool member_is(const char *key, const char *name, int64_t wanted) {
    char member[200];
    int64_t number = 0;
    snprintf(member, sizeof member, "%s" DOT "%s", key, name);
    return kvspace_get_i64(space, member, &number) == 0 && number == wanted;
}

/* Whether the key holds it; any error but absence is a failure. */
static bool holds(const char *key, const struct item *item) {
    struct kvspace_value value;
    int rc = kvspace_get(space, key, &value);
    if (rc && rc != KVSPACE_ENOENT) failed("get %s: %s", key, kvspace_message(space));
    if (rc) return item->kind == ABSENT;
    switch (item->kind) {
    case NUMBER: return value.kind == KVSPACE_INT64 && !value.ndim && value.scalar.i64 == (int64_t)item->seed;
    case TEXT:
    case BYTES:
        fill(item->seed, item->size, item->kind == TEXT);
        return value.kind == (item->kind == TEXT ? KVSPACE_CHAR_UTF8 : KVSPACE_UINT8) && value.ndim == 1 && value.body_bytes == item->size &&
               memcmp(value.body, buffer, item->size) == 0;
    case CONTAINER:
        return value.store == KVSPACE_INDEX && member_is(key, "a", (int64_t)(item->seed & 0xffff)) &&
               member_is(key, "b", (int64_t)(item->seed >> 16 & 0xffff));
    default: return false;
    }
}

static struct item random_item(void) {
    struct item item = {.kind = 1 + below(KINDS - 1), .seed = random_next() >> 1};
    uint32_t scale = below(100);
    item.size = scale < 60 ? below(64) : scale < 85 ? below(2000) : scale < 97 ? below(20000) : below(TEXT_MAX);
    return item;
}

/* ---- own keys ---- */

static unsigned own;

static void dir_key(char *out, unsigned dir) { snprintf(out, 100, "/w%u/d%u", own, dir); }
static void item_key(char *out, unsigned dir, unsigned at) { snprintf(out, 100, "/w%u/d%u/k%u", own, dir, at); }

static bool model_holds(const struct model *model, char *where) {
    char key[100];
    for (unsigned dir = 0; dir < DIRS; dir++)
        for (unsigned at = 0; at < KEYS; at++) {
            item_key(key, dir, at);
            if (holds(key, &model->item[dir][at])) continue;
            snprintf(where, 150, "%s is not the item of kind %u, %u bytes, seed %llu", key, model->item[dir][at].kind,
                     model->item[dir][at].size, (unsigned long long)model->item[dir][at].seed);
            return false;
        }
    return true;
}

/* After a start: the model that counts, or the one that was under way. */
static void verify(void) {
    char first[150], second[150] = "(nothing was under way)";
    uint32_t state = atomic_load(&record->state);
    if (model_holds(&record->model[state & 1], first)) {
        atomic_store(&record->state, state & 1);
        return;
    }
    if (state & 2 && model_holds(&record->model[(state & 1) ^ 1], second)) {
        atomic_store(&record->state, (state & 1) ^ 1);
        return;
    }
    failed("worker %u, doing %u: neither before: %s, nor after: %s", own, atomic_load(&record->doing), first, second);
}

static bool dir_is_empty(const struct model *model, unsigned dir) {
    for (unsigned at = 0; at < KEYS; at++)
        if (model->item[dir][at].kind) return false;
    return true;
}

static void begin(struct model **next, unsigned doing) {
    uint32_t now = atomic_load(&record->state) & 1;
    record->model[now ^ 1] = record->model[now];
    *next = &record->model[now ^ 1];
    atomic_store(&record->doing, doing);
}
static void announce(void) { atomic_fetch_or(&record->state, 2); }
static void acknowledge(void) { atomic_store(&record->state, (atomic_load(&record->state) & 1) ^ 1); }

/* A write that is filled in place. */
static int write_in_place(const char *key, struct item *item) {
    struct kvspace_write write;
    uint64_t dims[1] = {item->size};
    struct kvspace_value head = kvspace_value_array(KVSPACE_UINT8, 1, dims, NULL);
    int rc = kvspace_write_begin(space, key, &head, &write);
    if (rc) return rc;
    fill(item->seed, item->size, false);
    memcpy(write.body, buffer, item->size);
    if (below(10) == 0) {
        kvspace_write_cancel(&write);
        return KVSPACE_ESTOPPED;
    }
    return kvspace_write_publish(&write);
}

static void list_own(const struct model *model, unsigned dir) {
    char key[100];
    unsigned count = 0, expected = 0;
    kvspace_cursor *cursor;
    struct kvspace_entry entry;
    dir_key(key, dir);
    for (unsigned at = 0; at < KEYS; at++) expected += model->item[dir][at].kind != ABSENT;
    int rc = kvspace_list_open(space, key, NULL, &cursor);
    if (rc == KVSPACE_ENOENT && !expected) return;
    must(rc, "list_open");
    while (!(rc = kvspace_list_next(cursor, &entry))) count += entry.has_value;
    kvspace_list_close(cursor);
    if (rc != KVSPACE_EEND) must(rc, "list_next");
    if (count != expected) failed("worker %u: %s lists %u values, not %u", own, key, count, expected);
}

static void by_slot(const char *key, struct item *item) {
    struct kvspace_slot slot;
    struct kvspace_value value;
    MUST(kvspace_slot_open(space, key, KVSPACE_SLOT_CREATE, &slot));
    if (below(2)) {
        *item = (struct item){.kind = NUMBER, .seed = item->seed};
        announce();
        MUST(kvspace_slot_set_i64(&slot, (int64_t)item->seed));
    } else {
        uint64_t dims[1] = {item->size};
        item->kind = BYTES;
        fill(item->seed, item->size, false);
        value = kvspace_value_array(KVSPACE_UINT8, 1, dims, buffer);
        announce();
        MUST(kvspace_slot_set(&slot, &value));
    }
    acknowledge();
    kvspace_slot_close(&slot);
}

static void change_number(const char *key, struct item *item) {
    int64_t delta = (int64_t)below(1000), sum = 0;
    if (item->kind != NUMBER) return;
    struct kvspace_value before = kvspace_value_i64((int64_t)item->seed), after;
    item->seed += (uint64_t)delta;
    after = kvspace_value_i64((int64_t)item->seed);
    announce();
    if (below(2)) MUST(kvspace_incr(space, key, delta, &sum));
    else MUST(kvspace_cas(space, key, &before, &after));
    if (sum && (uint64_t)sum != item->seed) failed("incr of %s gives another sum", key);
    acknowledge();
}

static void move_dir(struct model *next, unsigned from, unsigned to, unsigned old) {
    char from_key[100], to_key[100], old_key[100];
    if (from == to || dir_is_empty(next, from)) return;
    bool with_old = old != from && old != to && !dir_is_empty(next, to) && below(2);
    dir_key(from_key, from);
    dir_key(to_key, to);
    dir_key(old_key, old);
    if (with_old) { /* what stood at `old` goes before the one step of the move */
        memset(next->item[old], 0, sizeof next->item[old]);
        announce();
        MUST(kvspace_del_tree(space, old_key, NULL));
        acknowledge();
        begin(&next, 200);
    }
    if (with_old) memcpy(next->item[old], next->item[to], sizeof next->item[old]);
    memcpy(next->item[to], next->item[from], sizeof next->item[to]);
    memset(next->item[from], 0, sizeof next->item[from]);
    announce();
    MUST(kvspace_replace(space, from_key, to_key, with_old ? old_key : NULL));
    acknowledge();
}

static void copy_dir(struct model *next, unsigned from, unsigned to) {
    char from_key[100], to_key[100];
    if (from == to || dir_is_empty(next, from)) return;
    dir_key(from_key, from);
    dir_key(to_key, to);
    memcpy(next->item[to], next->item[from], sizeof next->item[to]);
    announce();
    MUST(kvspace_cp_tree(space, from_key, to_key));
    acknowledge();
}

static void operate_own(void) {
    struct model *next;
    unsigned dir = below(DIRS), at = below(KEYS), other = below(DIRS), third = below(DIRS), what = below(100);
    char key[100], second[100];
    begin(&next, what);
    struct item *item = &next->item[dir][at];
    item_key(key, dir, at);
    item_key(second, other, third);
    if (what < 35) {
        *item = random_item();
        announce();
        MUST(put(key, item));
        acknowledge();
    } else if (what < 45) {
        bool was = item->kind != ABSENT;
        item->kind = ABSENT;
        announce();
        int rc = kvspace_del(space, key);
        if (rc != (was ? 0 : KVSPACE_ENOENT) && !(rc == 0 && !was)) must(rc, "del");
        acknowledge();
    } else if (what < 52) {
        change_number(key, item);
    } else if (what < 58 && (dir != other || at != third) && item->kind) {
        next->item[other][third] = *item;
        announce();
        MUST(kvspace_cp(space, key, second));
        acknowledge();
    } else if (what < 64) {
        move_dir(next, dir, other, third);
    } else if (what < 68) {
        copy_dir(next, dir, other);
    } else if (what < 74) {
        *item = random_item();
        by_slot(key, item);
    } else if (what < 80) {
        struct item made = random_item();
        made.kind = BYTES;
        announce();
        *item = made; /* whoever dies before the publication is found with the old one */
        int rc = write_in_place(key, &made);
        if (!rc) acknowledge();
        else if (rc == KVSPACE_ESTOPPED) atomic_fetch_and(&record->state, 1u);
        else must(rc, "write");
    } else if (what < 82) {
        memset(next->item[dir], 0, sizeof next->item[dir]);
        dir_key(key, dir);
        announce();
        MUST(kvspace_del_tree(space, key, NULL));
        acknowledge();
    } else if (what < 90) {
        list_own(next, dir);
    } else {
        MUST(kvspace_read_begin(space));
        if (!holds(key, item)) failed("worker %u: %s is not what it was told", own, key);
        MUST(kvspace_read_end(space));
    }
}

/* ---- everybody's keys: a value's first bytes are its checksum ---- */

static uint64_t checksum(const unsigned char *bytes, uint64_t count) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (uint64_t i = 0; i < count; i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void shared_key(char *out) {
    if (below(8) == 0) snprintf(out, 100, "/shared/x%u", below(SHARED_DIRS));
    else snprintf(out, 100, "/shared/x%u/y%u", below(SHARED_DIRS), below(SHARED_KEYS));
}

static void set_shared(const char *key) {
    struct item item = random_item();
    uint64_t dims[1], sum;
    item.size += 8;
    if (item.size > TEXT_MAX) item.size = TEXT_MAX;
    fill(item.seed, item.size, false);
    sum = checksum(buffer + 8, item.size - 8);
    memcpy(buffer, &sum, 8);
    dims[0] = item.size;
    struct kvspace_value value = kvspace_value_array(KVSPACE_UINT8, 1, dims, buffer);
    MUST(kvspace_set(space, key, &value));
}

static void look_at(const char *key, const struct kvspace_value *value) {
    uint64_t sum;
    if (value->kind != KVSPACE_UINT8) return;
    if (value->body_bytes < 8) failed("%s has %llu bytes", key, (unsigned long long)value->body_bytes);
    memcpy(&sum, value->body, 8);
    if (sum != checksum((const unsigned char *)value->body + 8, value->body_bytes - 8)) failed("%s is torn", key);
}

/* Others come and go: these are answers, not failures. */
static void may(int rc, const char *what) {
    if (rc != KVSPACE_ENOENT && rc != KVSPACE_EGONE && rc != KVSPACE_EMISMATCH && rc != KVSPACE_ETIMEOUT && rc != KVSPACE_ETYPE &&
        rc != KVSPACE_EUSAGE && rc != KVSPACE_EVALUE && rc != KVSPACE_EEND)
        must(rc, what);
}

static void list_shared(const char *key) {
    kvspace_cursor *cursor;
    struct kvspace_entry entry;
    unsigned count = 0;
    int rc = kvspace_list_open(space, key, &(struct kvspace_list_options){.what = KVSPACE_LIST_ALL}, &cursor);
    if (rc) {
        may(rc, "list_open");
        return;
    }
    while (!(rc = kvspace_list_next(cursor, &entry)) && count < 10000) count++;
    kvspace_list_close(cursor);
    may(rc, "list_next");
    if (count >= 10000) failed("a list of %s does not end", key);
}

static void read_shared(const char *key) {
    struct kvspace_value values[4];
    char keys[4][100];
    unsigned count = 0;
    MUST(kvspace_read_begin(space));
    for (unsigned i = 0; i < 4; i++) {
        snprintf(keys[count], sizeof keys[count], "%s", key);
        if (i) shared_key(keys[count]);
        int rc = kvspace_get(space, keys[count], &values[count]);
        may(rc, "get");
        if (!rc) count++;
    }
    if (below(20) == 0) usleep(below(2000));
    for (unsigned i = 0; i < count; i++) look_at(keys[i], &values[i]);
    MUST(kvspace_read_end(space));
}

static void container_shared(const char *key) {
    char member[150];
    unsigned what = below(6);
    snprintf(member, sizeof member, "%s" DOT "m%u", key, below(5));
    if (what == 0) may(kvspace_mkindex(space, key, "[]char/utf8" DOT "any"), "mkindex");
    else if (what == 1) may(kvspace_set_literal(space, key, "{m1=1,m2={a=\"text\"},m3=[1,2,3]}", 31, NULL), "set_literal");
    else if (what == 2) may(kvspace_set_i64(space, member, 5), "set member");
    else if (what == 3) may(kvspace_del(space, member), "del member");
    else if (what == 4) may(kvspace_extindex(space, "/shared/over", key), "extindex");
    else may(kvspace_rmindexext(space, "/shared/over"), "rmindexext");
}

static void watch_shared(const char *key) {
    struct kvspace_value value;
    struct kvspace_watch_options options = {.timeout_ms = below(2) ? -1 : 1 + (int64_t)below(3)};
    int rc = kvspace_watch(space, key, &options, &value);
    may(rc, "watch");
    if (!rc && value.store) look_at(key, &value);
    may(kvspace_notify(space, key), "notify");
}

static void operate_shared(void) {
    unsigned what = below(100);
    char key[100], other[100];
    shared_key(key);
    shared_key(other);
    atomic_store(&record->doing, 1000 + what);
    if (what < 25) set_shared(key);
    else if (what < 50) read_shared(key);
    else if (what < 62) may(kvspace_del(space, key), "del");
    else if (what < 67) may(kvspace_replace(space, key, other, NULL), "replace");
    else if (what < 70) may(kvspace_replace(space, key, other, "/shared/old"), "replace with old");
    else if (what < 74) may(kvspace_cp_tree(space, key, other), "cp_tree");
    else if (what < 78) may(kvspace_cp(space, key, other), "cp");
    else if (what < 84) list_shared("/shared");
    else if (what < 88) container_shared(key);
    else if (what < 90) watch_shared(key);
    else {
        atomic_store(&record->counting, 1);
        MUST(kvspace_incr(space, "/count", 1, NULL));
        atomic_fetch_add(&record->counted, 1);
        atomic_store(&record->counting, 0);
    }
}

static void work(unsigned number, uint64_t seed) {
    own = number;
    record = &board->record[number];
    random_state = seed;
    if (kvspace_open(dsn, &space)) failed("worker %u: the space does not open", number);
    verify();
    for (;;) {
        if (below(3)) operate_own();
        else operate_shared();
        atomic_fetch_add(&record->operations, 1);
        if (below(2000) == 0) { /* leaving in peace is an end, too */
            kvspace_close(space);
            if (kvspace_open(dsn, &space)) failed("worker %u: the space does not open again", number);
        }
    }
}

/* ---- the killer ---- */

static pid_t pids[WORKERS_MAX];
static unsigned workers = 4;
static uint64_t slack; /* increments that may have happened without being counted */
static struct record killer_record;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void start(unsigned number) {
    uint64_t seed = random_next();
    fflush(NULL);
    pids[number] = fork();
    if (pids[number] == 0) {
        work(number, seed);
        _exit(0);
    }
    if (pids[number] < 0) {
        perror("fork");
        exit(2);
    }
}

static bool bury(unsigned number) {
    int status = 0;
    waitpid(pids[number], &status, 0);
    pids[number] = 0;
    if (atomic_exchange(&board->record[number].counting, 0)) slack++;
    if (atomic_load(&board->record[number].failed)) {
        fprintf(stderr, "worker %u: %s\n", number, board->record[number].message);
        return false;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
    fprintf(stderr, "worker %u ended by itself: status %#x, doing %u\n", number, (unsigned)status, atomic_load(&board->record[number].doing));
    return false;
}

static bool kill_all(void) {
    bool good = true;
    for (unsigned i = 0; i < workers; i++)
        if (pids[i]) kill(pids[i], SIGKILL);
    for (unsigned i = 0; i < workers; i++)
        if (pids[i]) good &= bury(i);
    return good;
}

static void print_fault(void *context, const char *text) {
    fprintf(stderr, "%s: %s\n", (const char *)context, text);
}

static bool check(const char *when, bool repair) {
    struct kvspace_check_options options = {.report = print_fault, .context = (void *)(uintptr_t)when, .faults_max = 20};
    struct kvspace_stats stats;
    if (kvspace_open(dsn, &space)) {
        fprintf(stderr, "%s: the space does not open\n", when);
        return false;
    }
    int rc = kvspace_check(space, &options);
    if (!rc && repair) {
        options.report = NULL;
        rc = kvspace_repair(space, &options);
        if (rc) fprintf(stderr, "%s: repair: %s\n", when, kvspace_message(space));
        options.report = print_fault;
        if (!rc) rc = kvspace_check(space, &options);
    }
    if (!rc && repair && !kvspace_get_stats(space, &stats))
        printf("%s: %llu nodes, %llu blocks, %llu KiB of file, %llu recoveries\n", when, (unsigned long long)stats.nodes,
               (unsigned long long)stats.blocks, (unsigned long long)stats.file_bytes / 1024, (unsigned long long)stats.recoveries);
    kvspace_close(space);
    if (rc) fprintf(stderr, "%s: check gives %s\n", when, kvspace_error_name(rc));
    return rc == 0;
}

/* All dead: every model, the counter. */
static bool check_models(void) {
    uint64_t counted = 0;
    int64_t count = 0;
    if (kvspace_open(dsn, &space)) return false;
    for (unsigned i = 0; i < workers; i++) {
        fflush(NULL);
        pid_t pid = fork();
        int status = 0;
        if (pid == 0) {
            own = i;
            record = &board->record[i];
            if (kvspace_open(dsn, &space)) failed("the space does not open for the last look");
            verify();
            kvspace_close(space);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        if (status) {
            fprintf(stderr, "the last look: %s\n", board->record[i].message);
            return false;
        }
        counted += atomic_load(&board->record[i].counted);
    }
    int rc = kvspace_get_i64(space, "/count", &count);
    kvspace_close(space);
    if ((rc && rc != KVSPACE_ENOENT) || (uint64_t)count < counted || (uint64_t)count > counted + slack) {
        fprintf(stderr, "the counter has %lld, %llu were counted, %llu more may have been\n", (long long)count, (unsigned long long)counted,
                (unsigned long long)slack);
        return false;
    }
    return true;
}

/* Nobody may stand still. */
static bool all_move(void) {
    static uint64_t seen[WORKERS_MAX];
    static double since[WORKERS_MAX];
    for (unsigned i = 0; i < workers; i++) {
        uint64_t now = atomic_load(&board->record[i].operations);
        if (now != seen[i] || since[i] == 0) {
            seen[i] = now;
            since[i] = seconds();
        } else if (seconds() - since[i] > HANG_S) {
            fprintf(stderr, "worker %u (process %d) hangs, doing %u\n", i, (int)pids[i], atomic_load(&board->record[i].doing));
            if (getenv("TORTURE_STOP")) pause();
            return false;
        }
    }
    return true;
}

static bool torture(uint64_t kills, uint64_t check_each, bool verbose) {
    uint64_t done = 0, next_check = check_each, checks = 0;
    double begun = seconds();
    for (unsigned i = 0; i < workers; i++) start(i);
    while (done < kills) {
        usleep(below(10) ? below(3000) : below(30000));
        unsigned victims = below(20) == 0 ? workers : 1 + (below(6) == 0);
        for (unsigned i = 0; i < victims; i++) {
            unsigned victim = victims == workers ? i : below(workers);
            if (!pids[victim]) continue;
            kill(pids[victim], SIGKILL);
            if (!bury(victim)) return false;
            done++;
        }
        if (!all_move()) return false;
        if (done >= next_check) {
            if (++checks % 4 == 0) {
                if (!kill_all() || !check("all dead", false) || !check_models()) return false;
            } else if (!check("at work", false)) return false;
            next_check += check_each;
            if (verbose) printf("%llu kills, %.0f s\n", (unsigned long long)done, seconds() - begun);
        }
        for (unsigned i = 0; i < workers; i++)
            if (!pids[i]) start(i);
    }
    uint64_t operations = 0;
    for (unsigned i = 0; i < workers; i++) operations += atomic_load(&board->record[i].operations);
    printf("%llu kills, %llu operations, %llu checks, %.1f s\n", (unsigned long long)done, (unsigned long long)operations,
           (unsigned long long)checks, seconds() - begun);
    return kill_all() && check("all dead", false) && check_models() && check("repaired", true) && check_models();
}

int main(int argc, char **argv) {
    uint64_t kills = 300, check_each = 50, seed = (uint64_t)time(NULL);
    bool verbose = false, good;
    char directory[256];
    const char *top = getenv("TMPDIR");
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--workers") == 0 && more) workers = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && more) seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--check-each") == 0 && more) check_each = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--verbose") == 0) verbose = true;
        else if (argv[i][0] >= '0' && argv[i][0] <= '9') kills = strtoull(argv[i], NULL, 10);
        else {
            printf("torture_tree_kill [KILLS] [--workers N] [--seed N] [--check-each N] [--verbose]\n");
            return 2;
        }
    }
    if (workers < 1 || workers > WORKERS_MAX || !check_each) return 2;
    random_state = seed;
    record = &killer_record;
    setvbuf(stdout, NULL, _IOLBF, 0);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(directory, sizeof directory, "%s/kvspace-torture-XXXXXX", top && *top ? top : "/tmp");
    if (board == MAP_FAILED || !mkdtemp(directory)) {
        perror("torture_tree_kill");
        return 2;
    }
    snprintf(dsn, sizeof dsn, "shm:%s/space", directory);
    printf("seed %llu\n", (unsigned long long)seed);
    good = torture(kills, check_each, verbose);
    (void)kill_all();
    if (!good) {
        fprintf(stderr, "failed; the space is %s\n", dsn + 4);
        return 1;
    }
    unlink(dsn + 4);
    rmdir(directory);
    return 0;
}
