/* Measures kvspace beside LMDB and Redis: bench_tree --place FOLDER [--redis SOCKET] [--rounds N] [--keys N] [--seconds S].
 * bench/tree/run calls it, takes medians of its lines and prints the table. Lines: `R work side value` for a measurement of one
 * round, `S what side number` for a result that must be the same on all sides; tab between, errors on standard error, status 1.
 * Relies on side.h for the stores. Rounds of the sides are interleaved, so that a busy machine disturbs all of them alike. */
#include "tree_shared.h"

#include <kvspace/kvspace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct plan {
    const char *place, *socket;
    int rounds;
    uint32_t keys;
    double seconds;
    const struct side *sides[3];
    const char *places[3];
    void *stores[3];
    int count;
    struct batch in_order, shuffled;
};

#define BLOB_BYTES ((size_t)4 << 20)
#define GIB ((size_t)1 << 30)

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* 1000 × 100 × 10 keys of three steps, or as many as asked for. */
static int make_keys(struct plan *plan)
{
    char *keys = calloc(plan->keys, KEY_ROOM);
    uint32_t *order = malloc(plan->keys * sizeof *order), *shuffled = malloc(plan->keys * sizeof *shuffled);
    if (!keys || !order || !shuffled)
        return -1;
    for (uint32_t k = 0; k < plan->keys; k++) {
        snprintf(keys + (size_t)k * KEY_ROOM, KEY_ROOM, "/branch%03u/user%02u/item%01u", k / 1000 % 1000, k / 10 % 100, k % 10);
        order[k] = shuffled[k] = k;
    }
    uint64_t state = 88172645463325252u;
    for (uint32_t k = plan->keys - 1; k > 0; k--) {
        uint32_t other = (uint32_t)(next_random(&state) % (k + 1)), kept = shuffled[k];
        shuffled[k] = shuffled[other];
        shuffled[other] = kept;
    }
    plan->in_order = (struct batch){keys, strlen(keys), order, plan->keys};
    plan->shuffled = (struct batch){keys, strlen(keys), shuffled, plan->keys};
    return 0;
}

static int store_open(struct plan *plan, int i)
{
    return plan->stores[i] ? 0 : plan->sides[i]->open(plan->places[i], &plan->stores[i]);
}

static void store_close(struct plan *plan, int i)
{
    if (plan->stores[i])
        plan->sides[i]->close(plan->stores[i]);
    plan->stores[i] = NULL;
}

static void remove_files(const struct plan *plan)
{
    static const char *const names[] = {"kvspace.space", "lmdb.mdb", "lmdb.mdb-lock"};
    char path[600];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", plan->place, names[i]);
        unlink(path);
    }
}

/* What a round trip costs is the same for the first and the millionth key; Redis gets fewer of them. */
static struct batch share_of(const struct batch *batch, const struct side *side)
{
    struct batch part = *batch;
    if (side == side_redis && part.count > 20000)
        part.count = 20000;
    return part;
}

static void sum_line(const char *what, const char *side, int64_t sum)
{
    printf("S\t%s\t%s\t%lld\n", what, side, (long long)sum);
    fflush(stdout);
}

/* New stores, all keys inserted in order, one publication a key; the last round's stores stay open. */
static int measure_insert(struct plan *plan, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < plan->count; i++)
            if (plan->sides[i] != side_redis)
                store_close(plan, i);
        remove_files(plan);
        for (int i = 0; i < plan->count; i++) {
            const struct side *side = plan->sides[i];
            if (side == side_redis && round > 0)
                continue;
            uint64_t before, after;
            struct batch part = share_of(&plan->in_order, side), rest = plan->in_order;
            rest.order += part.count;
            rest.count -= part.count;
            if (store_open(plan, i) || side->bytes(plan->stores[i], plan->place, &before))
                return -1;
            int64_t began = now_ns();
            if (side->set(plan->stores[i], &part, 0, COMMIT_EACH))
                return -1;
            result("insert", side->name, (double)(now_ns() - began) / (double)part.count);
            if (rest.count && side->set(plan->stores[i], &rest, 0, COMMIT_THOUSAND))
                return -1;
            if (side->bytes(plan->stores[i], plan->place, &after))
                return -1;
            result("bytes", side->name, (double)(after - before) / plan->keys);
        }
    }
    return 0;
}

/* LMDB with a thousand inserts a transaction, in a store of its own. */
static int measure_insert_together(const struct plan *plan, const char *place)
{
    void *store;
    char path[700];
    if (!side_lmdb)
        return 0;
    if (side_lmdb->open(place, &store))
        return -1;
    int64_t began = now_ns();
    int rc = side_lmdb->set(store, &plan->in_order, 0, COMMIT_THOUSAND);
    result("insert", "LMDB, 1000 a commit", (double)(now_ns() - began) / plan->keys);
    side_lmdb->close(store);
    snprintf(path, sizeof path, "%s/lmdb.mdb", place);
    unlink(path);
    snprintf(path, sizeof path, "%s/lmdb.mdb-lock", place);
    unlink(path);
    return rc;
}

static int measure_get(struct plan *plan)
{
    for (int round = 0; round < plan->rounds; round++)
        for (int i = 0; i < plan->count; i++) {
            struct batch part = share_of(&plan->shuffled, plan->sides[i]);
            int64_t sum, small;
            int64_t began = now_ns();
            if (plan->sides[i]->get(plan->stores[i], &part, &sum))
                return -1;
            result("get", plan->sides[i]->name, (double)(now_ns() - began) / (double)part.count);
            part.count = part.count < 20000 ? part.count : 20000;
            if (round == 0) {
                if (plan->sides[i]->get(plan->stores[i], &part, &small))
                    return -1;
                sum_line("get", plan->sides[i]->name, small);
            }
        }
    return 0;
}

static int measure_set(struct plan *plan)
{
    for (int round = 0; round < plan->rounds; round++) {
        for (int i = 0; i < plan->count; i++) {
            const struct side *side = plan->sides[i];
            struct batch part = share_of(&plan->shuffled, side);
            part.count = part.count < 200000 ? part.count : 200000; /* anywhere in the tree, and short enough for LMDB */
            int64_t began = now_ns(), sum;
            if (side->set(plan->stores[i], &part, round + 1, COMMIT_EACH))
                return -1;
            result("set", side->name, (double)(now_ns() - began) / (double)part.count);
            if (side == side_lmdb) {
                began = now_ns();
                if (side->set(plan->stores[i], &part, round + 1, COMMIT_THOUSAND))
                    return -1;
                result("set", "LMDB, 1000 a commit", (double)(now_ns() - began) / (double)part.count);
            }
            part.count = part.count < 20000 ? part.count : 20000;
            if (side->get(plan->stores[i], &part, &sum))
                return -1;
            sum_line("set", side->name, sum);
        }
    }
    return 0;
}

/* Sixteen slots in turn, so that nothing is carried in a register. */
static int measure_slots(const struct plan *plan)
{
    enum { SLOTS = 16, TURNS = 1000000 };
    char path[600];
    kvspace *space;
    struct kvspace_slot slots[SLOTS];
    int64_t want = 0, number;
    snprintf(path, sizeof path, "shm:%s/kvspace.space", plan->place);
    int rc = kvspace_open(path, &space);
    if (rc)
        return -1;
    for (int i = 0; !rc && i < SLOTS; i++) {
        const char *key = plan->shuffled.keys + (size_t)plan->shuffled.order[i] * KEY_ROOM;
        rc = kvspace_slot_open(space, key, KVSPACE_SLOT_EXISTING, &slots[i]);
        if (!rc)
            rc = kvspace_get_i64(space, key, &number);
        want += rc ? 0 : number;
    }
    for (int round = 0; !rc && round < plan->rounds; round++) {
        int64_t sum = 0, began = now_ns();
        for (int turn = 0; !rc && turn < TURNS; turn++)
            for (int i = 0; i < SLOTS; i++) {
                rc |= kvspace_slot_get_i64(&slots[i], &number);
                sum += number;
            }
        result("slot get", "kvspace", (double)(now_ns() - began) / ((double)TURNS * SLOTS));
        if (!rc && sum != want * TURNS)
            rc = -1;
        began = now_ns();
        for (int turn = 0; !rc && turn < TURNS; turn++)
            for (int i = 0; i < SLOTS; i++)
                rc |= kvspace_slot_set_i64(&slots[i], (int64_t)plan->shuffled.order[i]); /* what readers expect there */
        result("slot set", "kvspace", (double)(now_ns() - began) / ((double)TURNS * SLOTS));
        want = 0;
        for (int i = 0; i < SLOTS; i++)
            want += (int64_t)plan->shuffled.order[i];
    }
    if (rc)
        fprintf(stderr, "kvspace: slots: %s\n", rc > 0 ? kvspace_strerror(rc) : "wrong sum");
    for (int i = 0; i < SLOTS; i++)
        kvspace_slot_close(&slots[i]);
    kvspace_close(space);
    return rc ? -1 : 0;
}

static int time_open(const struct plan *plan, int i, const char *work)
{
    for (int round = 0; round < 5 * plan->rounds; round++) {
        struct batch one = plan->shuffled;
        int64_t sum, began = now_ns();
        one.count = 1;
        if (plan->sides[i]->open(plan->places[i], (void **)&plan->stores[i]) || plan->sides[i]->get(plan->stores[i], &one, &sum))
            return -1;
        result(work, plan->sides[i]->name, (double)(now_ns() - began) / 1e6);
        plan->sides[i]->close(plan->stores[i]);
        if (round == 0)
            sum_line(work, plan->sides[i]->name, sum & 0xffffffff);
    }
    return 0;
}

/* Open and the first get, with what is there, and with 1 GiB of arrays more. */
static int measure_open(struct plan *plan)
{
    char *blob = malloc(BLOB_BYTES), key[KEY_ROOM];
    int rc = blob ? 0 : -1;
    if (blob)
        memset(blob, 'x', BLOB_BYTES);
    for (int i = 0; !rc && i < plan->count; i++) {
        const struct side *side = plan->sides[i];
        if (!side->set_blob)
            continue;
        store_close(plan, i);
        rc = time_open(plan, i, "open small");
        plan->stores[i] = NULL;
        if (!rc)
            rc = store_open(plan, i);
        for (size_t n = 0; !rc && n < GIB / BLOB_BYTES; n++) {
            snprintf(key, sizeof key, "/arrays/number%zu/body", n);
            rc = side->set_blob(plan->stores[i], key, blob, BLOB_BYTES);
        }
        uint64_t bytes = 0;
        if (!rc)
            rc = side->bytes(plan->stores[i], plan->place, &bytes);
        store_close(plan, i);
        if (!rc && bytes < GIB) {
            fprintf(stderr, "%s: less than 1 GiB in the store\n", side->name);
            rc = -1;
        }
        if (!rc)
            rc = time_open(plan, i, "open");
        plan->stores[i] = NULL;
    }
    free(blob);
    return rc;
}

static int measure_everything(struct plan *plan)
{
    char other[600];
    int insert_rounds = plan->rounds > 4 ? 3 : 1, rc = 0;
    snprintf(other, sizeof other, "%s/other", plan->place);
    if (measure_insert(plan, insert_rounds) || measure_get(plan) || measure_set(plan) || measure_slots(plan))
        return -1;
    for (int i = 0; i < plan->count; i++)
        store_close(plan, i);
    for (int i = 0; !rc && i < insert_rounds; i++)
        rc = measure_insert_together(plan, other);
    for (int i = 0; !rc && i < plan->count; i++) {
        const struct side *side = plan->sides[i];
        if (side != side_redis)
            rc = measure_readers(side, plan->places[i], &plan->shuffled, plan->rounds, plan->seconds);
        if (!rc && side == &side_kvspace) {
            void *store; /* the place of the wake-up */
            rc = side->open(plan->places[i], &store);
            if (!rc) {
                rc = side->wake(store, 0);
                side->close(store);
            }
        }
        if (!rc && side->wake)
            rc = measure_wake(side, plan->places[i], plan->rounds * 200 < 4096 ? plan->rounds * 200 : 4096);
    }
    return rc ? rc : measure_open(plan);
}

int main(int argc, char **argv)
{
    struct plan plan = {.rounds = 7, .keys = 1000000, .seconds = 0.5};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--place"))
            plan.place = argv[i + 1];
        else if (!strcmp(argv[i], "--redis"))
            plan.socket = argv[i + 1];
        else if (!strcmp(argv[i], "--rounds"))
            plan.rounds = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--keys"))
            plan.keys = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--seconds"))
            plan.seconds = strtod(argv[i + 1], NULL);
    }
    if (!plan.place || plan.rounds < 1 || plan.keys < 1000 || plan.keys > 1000000) {
        fprintf(stderr, "usage: bench_tree --place FOLDER [--redis SOCKET] [--rounds N] [--keys 1000…1000000] [--seconds S]\n");
        return 2;
    }
    plan.sides[plan.count] = &side_kvspace;
    plan.places[plan.count++] = plan.place;
    if (side_lmdb) {
        plan.sides[plan.count] = side_lmdb;
        plan.places[plan.count++] = plan.place;
    }
    if (side_redis && plan.socket) {
        plan.sides[plan.count] = side_redis;
        plan.places[plan.count++] = plan.socket;
    }
    return make_keys(&plan) || measure_everything(&plan) ? 1 : 0;
}
