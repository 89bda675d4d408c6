/* One interface over the stores that bench/tree compares: kvspace, LMDB and Redis. A side runs a whole batch in one call, so that the
 * interface costs nothing in the measured loops. Keys are the same text on every side, values 8-byte integers.
 * Relies on nothing but libc. Functions give 0, or -1 after a line on standard error. */
#ifndef BENCH_TREE_SIDE_H
#define BENCH_TREE_SIDE_H

#include <stddef.h>
#include <stdint.h>

#define KEY_ROOM 32 /* bytes between keys in struct batch */

/* `order` picks keys from the pool: key k is at keys + k × KEY_ROOM, key_bytes long and ended by a zero byte. */
struct batch {
    const char *keys;
    size_t key_bytes;
    const uint32_t *order;
    size_t count;
};

enum commit { COMMIT_EACH, COMMIT_THOUSAND }; /* LMDB: writes a transaction. The others publish each write anyway */

struct side {
    const char *name;
    /* Opens the store in a folder (Redis: the server behind the socket `place`), making it if need be. */
    int (*open)(const char *place, void **store);
    void (*close)(void *store);
    int (*get)(void *store, const struct batch *batch, int64_t *sum);
    /* Value of key k: k + (stamp << 32). New keys come into being. */
    int (*set)(void *store, const struct batch *batch, int64_t stamp, enum commit commit);
    int (*set_blob)(void *store, const char *key, const void *bytes, size_t count); /* NULL: not measured */
    int (*bytes)(void *store, const char *place, uint64_t *bytes);                   /* all that it occupies now */
    /* Wakes a waiter: `wait` blocks until the number at the wake-up place has changed, and gives it. */
    int (*wake)(void *store, int64_t number); /* NULL: it has no such thing */
    int (*wait)(void *store, int64_t *number);
};

extern const struct side side_kvspace;
extern const struct side *const side_lmdb;  /* NULL: not built in */
extern const struct side *const side_redis;

#endif
