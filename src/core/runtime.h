/* One runtime on one space, for one thread: what execution, linking and presentation share. include/kvlang/kvlang.h is its
 * public face. Relies on kvspace.h and block.h. Promises: no global state. */
#ifndef CORE_RUNTIME_H
#define CORE_RUNTIME_H

#include <kvspace/kvspace.h>

#include "core/call.h"
#include "core/vthread.h"

struct link;
struct core_memory;

/* Body of the value at /vthread/<vid>, type provider/vthread. */
struct vthread_body {
    uint32_t record; /* struct vthread_record */
    uint32_t reserved;
    uint64_t vid;
};

struct core_caps { /* one table of an extension */
    const struct native_row *rows;
    uint32_t count;
    void *host;
    struct core_caps *next;
};

struct core {
    struct heap heap; /* first: heap->owner and the core are found from each other */
    kvspace *space;
    struct core_memory *memory;
    uint64_t incarnation;
    struct link **links;          /* by number */
    uint32_t link_count, link_room;
    struct link *buckets[256];    /* by hash of the path, newest first */
    uint64_t epoch;               /* counts up when bound calls must be looked up again */
    uint32_t functions;           /* list of function records in the space */
    struct core_caps *caps;
    struct core_services services;
    struct struct_def **structs;  /* known struct definitions */
    uint32_t struct_count;
    struct kvspace_provider provider;
    struct vthread_body probe;    /* what the provider saw last: how present_find reads a node */
    /* the vthread under way */
    uint32_t vthread;
    struct vthread_record *record;
    struct core_call call;
    uint64_t vid;
    uint32_t depth_limit;
    uint64_t step_budget;         /* with ATTENTION_STEP: rows left */
    uint64_t *ready;              /* spawned, not begun */
    uint32_t ready_count, ready_room;
    /* Told when a vthread that was not the caller's own has failed; may be NULL. */
    void (*failed)(void *context, struct core *core, uint64_t vid);
    void *failed_context;
    char *chain;                  /* call chain of the last error, rendered */
    const void *const *labels;    /* of the dispatch loop */
};

/* `space` stays the caller's. ERROR_OUT_OF_MEMORY or a KVSPACE code as negative number. */
int core_open(kvspace *space, struct core **out);
void core_close(struct core *core);
int core_add_caps(struct core *core, const struct native_row *rows, uint32_t count, void *host);
const struct native_row *core_find_cap(const struct core *core, const char *name, size_t bytes, void **host);

/* ---- vthreads ---- */
enum { RUN_DONE = 0, RUN_ERROR = 1, RUN_PAUSED = 2, RUN_STEPS = 3, RUN_WAIT = 4 };

/* A new vthread for the function at `path` with arguments; *vid gets its number. ERROR_ kinds. */
int vthread_create(struct core *core, const char *path, const struct cell *const *args, uint32_t arg_count, uint64_t *vid);
/* Runs it until it ends, stops, or `steps` rows are done (0: no limit). Gives RUN_; *status. ERROR_ as negative: it could not be run. */
int vthread_run(struct core *core, uint64_t vid, uint64_t steps);
struct vthread_record *vthread_find(struct core *core, uint64_t vid, uint32_t *ref);

/* schedule.c: vthreads that were spawned here and have not begun. core_ready_run runs them all. */
extern const struct native_row schedule_rows[];
extern const uint32_t schedule_count;
int core_ready_add(struct core *core, uint64_t vid);
bool core_ready_remove(struct core *core, uint64_t vid);
void core_ready_run(struct core *core);

/* exec.c */
int exec_run(struct core *core, struct vthread_record *record, uint32_t ref);
/* exec.c: fixes what a killed process left in the middle of a row, and links the frames anew. */
int exec_resume(struct core *core, struct vthread_record *record);
/* error.c: status, ‥error and the chain from the fault and the counter */
void error_record(struct core *core, struct vthread_record *record, struct link *link, uint32_t row);

#endif
