/* One runtime on one space, for one thread: what execution, linking and presentation share. include/kvlang/kvlang.h is its
 * public face. Relies on kvspace.h and block.h. Promises: no global state. */
#ifndef CORE_RUNTIME_H
#define CORE_RUNTIME_H

#include <kvspace/kvspace.h>

#include "core/call.h"
#include "core/vthread.h"

struct link;
struct core_memory;
struct ready;

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
    struct cell *texts;           /* constants of decoded functions, each once (constants.c); open addressing */
    uint32_t text_count, text_room;
    _Atomic uint32_t *code_word;  /* of the space: see code_changes */
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
    struct ready *ready;          /* spawned or waiting here, in the order in which they take turns (schedule.c) */
    uint32_t ready_count, ready_room, ready_next;
    bool serving;                 /* a vthread that waits is left to whoever is free when it can go on */
    /* Told when a vthread that was not the caller's own has failed; may be NULL. */
    void (*failed)(void *context, struct core *core, uint64_t vid);
    void *failed_context;
    struct breakpoint *breaks;    /* those of vthread break_vid (breaks.c) */
    uint32_t break_count;
    uint64_t break_vid;
    char *chain;                  /* call chain of the last error, rendered */
    const void *const *labels;    /* of the dispatch loop */
};

/* `space` stays the caller's. ERROR_OUT_OF_MEMORY or a KVSPACE code as negative number. */
int core_open(kvspace *space, struct core **out);
void core_close(struct core *core);
int core_add_caps(struct core *core, const struct native_row *rows, uint32_t count, void *host);
const struct native_row *core_find_cap(const struct core *core, const char *name, size_t bytes, void **host);

/* ---- vthreads ---- */
enum { RUN_DONE = 0, RUN_ERROR = 1, RUN_PAUSED = 2, RUN_STEPS = 3, RUN_WAIT = 4, RUN_BUSY = 5 /* a living runtime has it */ };

/* A new vthread for the function at `path` with arguments; *vid gets its number. ERROR_ kinds. */
int vthread_create(struct core *core, const char *path, const struct cell *const *args, uint32_t arg_count, uint64_t *vid);
/* The same with a number that has been drawn, and the status that it begins with. Arguments are copied, as deep as they go. */
int vthread_make(struct core *core, uint64_t vid, const char *path, const struct cell *const *args, uint32_t arg_count, enum vthread_status status);
/* Goes on with one whose lease this runtime holds. Gives RUN_, but not BUSY; the status says the same. */
int vthread_stretch(struct core *core, struct vthread_record *record, uint64_t steps);
void vthread_status_set(struct core *core, struct vthread_record *record, enum vthread_status status);
/* Deletes a vthread that nobody runs, and gives its memory back. RUN_BUSY; an ERROR_ as negative number. */
int vthread_remove(struct core *core, uint64_t vid);
/* Ends one that stands still, whose lease this runtime holds, with an error. */
void vthread_kill(struct core *core, struct vthread_record *record);
struct vthread_record *vthread_find(struct core *core, uint64_t vid, uint32_t *ref);

/* ---- schedule.c ---- */
/* Runs a vthread until it ends, stops, or `steps` rows are done (0: no limit); while it waits, others that are ready. Gives RUN_, or an ERROR_
 * as negative number: it could not be run. */
int vthread_run(struct core *core, uint64_t vid, uint64_t steps);
/* Runs those that were spawned here and have not ended. */
void core_ready_run(struct core *core);
/* Runs whatever is ready in the space until *stop; `once`: until nothing is. */
int core_serve(struct core *core, const volatile int *stop, bool once);
extern const struct native_row schedule_rows[];
extern const uint32_t schedule_count;

/* exec.c */
int exec_run(struct core *core, struct vthread_record *record);
/* row.c: fixes what a killed process left in the middle of a row, and links the frames anew. 0, ROW_WAIT, ROW_FINISHED, or an ERROR_. */
int exec_resume(struct core *core, struct vthread_record *record);
/* The first half of it: makes the links in the frames this process's own. */
void exec_adopt(struct core *core, struct vthread_record *record);
/* error.c: status, ‥error and the chain from the fault and the counter */
void error_record(struct core *core, struct vthread_record *record, struct link *link, uint32_t row);

#endif
