/* One call of a native: what it reads, where its results go, and what the executor lends it.
 * Relies on block.h. Promises: arguments are borrowed and never changed by a native, unless `reuse` says that the first one
 * is about to be overwritten by the first result and is held by nobody else. Results start as None and are cells with
 * references of their own. A native gives 0 or an error_kind, with the message in heap->fault. It makes no call of the
 * language, keeps nothing between calls, and has no effect outside its results but through `services`. */
#ifndef CORE_CALL_H
#define CORE_CALL_H

#include "core/block.h"

struct kvspace;
struct native_row;
struct once_mark;

/* What belongs to the vthread and the space, lent by the executor. Any of it may be absent in tests. */
struct core_services {
    struct kvspace *space;
    /* The vthread's random stream, in its record: [0] is its state (0: not seeded). A native of EFFECT_RANDOM reads it and
     * writes the state that follows to [1]; the executor copies that to [0] together with the staged result. */
    uint64_t *random;
    /* EFFECT_TREE: `result` is written before the change, `done` is set by it. NULL: the change may be made as it is. */
    struct once_mark *once;
    int64_t (*now)(void *context); /* nanoseconds since 1970; NULL: the system's clock */
    void *context;
};

struct core_call {
    struct heap *heap;
    const struct cell *const *args;
    struct cell *results;
    uint32_t arg_count;
    uint32_t result_count; /* results that the caller takes; a native may always write results[0] */
    uint64_t literals;     /* bit i: argument i stands as a literal in the source */
    bool reuse;            /* argument 0 is the place of result 0, and this its only reference: change it in place */
    const struct core_services *services;
    const struct native_row *row; /* for messages; may be NULL */
    void *host;                   /* of the table that the row is in */
};

typedef int core_native(struct core_call *call);

/* How a native may touch argument 0 when `reuse` is set. */
enum native_reuse {
    REUSE_NEVER = 0,
    REUSE_EXTENDS, /* lengthens it: to repeat the step, cut it back to its old length first (array_truncate) */
    REUSE_REPEATS, /* the step may simply be repeated */
    EFFECT_RANDOM, /* draws from services->random: stage the result */
    EFFECT_TREE,   /* changes the tree in a way that is not the same when it is done twice, by way of services->once: kv·incr, kv·cas */
    EFFECT_MAKES   /* makes a vthread, whose number the executor keeps beside the counter (schedule.c) */
};

/* What a native gives instead of 0 when it has to wait: it is run again later. */
enum { NATIVE_WAITS = -3 };

struct native_row {
    const char *name;      /* "string·slice" */
    const char *signature; /* "(s:[]char/utf32, a:int64, b:int64) -> (r:[]char/utf32)" */
    const char *doc;       /* one line */
    const char *example;   /* source that runs and prints */
    const char *prints;    /* what it prints */
    core_native *run;
    uint8_t least, most;   /* arguments; most 255: any number */
    uint8_t results;
    uint8_t reuse;         /* enum native_reuse */
};

/* The core's table, in the order of the documentation; `*count` rows. */
const struct native_row *native_table(uint32_t *count);
/* The row of a name, NULL if there is none. `kvspace·` is an alias of `kv·`. */
const struct native_row *native_find(const char *name, size_t bytes);

#endif
