/* The life of a vthread: made, run, stopped, ended.
 * Relies on present.c for its node, exec.c for its rows. Promises: the record is complete before its node shows it; status says what is
 * true for other processes: `running` only while a live runtime holds the lease. */
#include "core/vthread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/array.h"
#include "core/exec.h"
#include "core/lease.h"
#include "core/present.h"
#include "core/text.h"
#include "core/tree_value.h"

static int record_new(struct core *core, uint64_t vid, uint32_t *ref) {
    uint64_t usable;
    int rc = core->heap.allocate(&core->heap, sizeof(struct vthread_record), ref, &usable);
    if (rc) return rc;
    struct vthread_record *record = (struct vthread_record *)(void *)(core->heap.base + ((uint64_t)*ref << 4));
    memset(record, 0, sizeof *record);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    record->magic = VTHREAD_MAGIC;
    record->id = vid;
    record->created_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    record->depth_limit = core->depth_limit;
    record->owner = core->incarnation;
    record->code_seen = code_changes(core);
    /* Never all zero, different for each vthread, the same when the program runs again in a fresh space. */
    for (unsigned i = 0; i < 4; i++) record->random[i] = (vid + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;
    return 0;
}

static int entry_frame(struct core *core, struct vthread_record *record, struct link *link, const struct cell *const *args, uint32_t count) {
    struct activation at = { .core = core, .record = record };
    uint32_t ref, segment, units = FRAME_UNITS + link->cells;
    int rc = frame_place(core, record, 0, 0, units, &ref, &segment);
    if (rc) return rc;
    struct frame *frame = frame_at(&core->heap, ref);
    rc = arguments_bind(&at, link, NULL, args, count, frame_cells(frame));
    if (rc) return rc;
    *frame = (struct frame){ .function = link->function, .link = link->number + 1, .segment = segment, .units = units,
                             .cells = link->cells, .generation = ++record->generation };
    record->function = link->function;
    pc_commit(record, pc_make(ref, 1));
    return 0;
}

/* Values that the new vthread shares with nobody. */
static int arguments_own(struct heap *heap, const struct cell *const *args, uint32_t count, struct cell **out) {
    struct cell *own = calloc(count + 1, sizeof *own);
    int rc = own ? 0 : fault(heap, ERROR_OUT_OF_MEMORY, "no memory for %u arguments", count);
    for (uint32_t i = 0; !rc && i < count; i++) rc = value_duplicate_deep(heap, args[i], &own[i]);
    *out = own;
    return rc;
}

int vthread_make(struct core *core, uint64_t vid, const char *path, const struct cell *const *args, uint32_t arg_count, enum vthread_status status) {
    struct heap *heap = &core->heap;
    struct link *link;
    struct cell *own = NULL;
    uint32_t ref;
    int rc = link_function(core, path, &link);
    if (!rc) rc = arguments_own(heap, args, arg_count, &own);
    const struct cell **owned = rc ? NULL : calloc(arg_count + 1, sizeof *owned);
    if (!rc && !owned) rc = fault(heap, ERROR_OUT_OF_MEMORY, "no memory for %u arguments", arg_count);
    for (uint32_t i = 0; owned && i < arg_count; i++) owned[i] = &own[i];
    if (!rc) rc = record_new(core, vid, &ref);
    struct vthread_record *record = rc ? NULL : (struct vthread_record *)(void *)(heap->base + ((uint64_t)ref << 4));
    if (record) {
        atomic_store_explicit(&record->status, status, memory_order_relaxed);
        rc = entry_frame(core, record, link, owned, arg_count);
        if (rc) heap->release(heap, ref);
    }
    for (uint32_t i = 0; own && i < arg_count; i++) cell_drop(heap, own[i]);
    free(own);
    free(owned);
    if (rc) return rc;
    struct vthread_body body = { ref, 0, vid };
    char key[64];
    snprintf(key, sizeof key, "/vthread/%llu", (unsigned long long)vid);
    rc = kvspace_set_word(core->space, key, "provider/vthread", &body, sizeof body);
    return rc ? tree_fault(heap, core->space, rc, "make a vthread", key) : 0;
}

int vthread_create(struct core *core, const char *path, const struct cell *const *args, uint32_t arg_count, uint64_t *vid) {
    struct link *link;
    int64_t last;
    int rc = link_function(core, path, &link);
    if (rc) return rc;
    rc = kvspace_incr(core->space, "/vthread/‥last", 1, &last);
    if (rc) return tree_fault(&core->heap, core->space, rc, "make a vthread", "/vthread/‥last");
    *vid = (uint64_t)last;
    return vthread_make(core, *vid, path, args, arg_count, STATUS_INIT);
}

struct vthread_record *vthread_find(struct core *core, uint64_t vid, uint32_t *ref) {
    if (present_find(core, vid, ref)) return NULL;
    struct vthread_record *record = (struct vthread_record *)(void *)(core->heap.base + ((uint64_t)*ref << 4));
    return record->magic == VTHREAD_MAGIC && record->id == vid ? record : NULL;
}

void vthread_status_set(struct core *core, struct vthread_record *record, enum vthread_status status) {
    char key[64];
    /* Sequentially consistent: look_begin. */
    atomic_store_explicit(&record->status, status, memory_order_seq_cst);
    snprintf(key, sizeof key, "/vthread/%llu", (unsigned long long)record->id);
    kvspace_notify(core->space, key);
    /* Workers look out for what is ready, also by the end of what it waits for. */
    if (status != STATUS_RUNNING && status != STATUS_PAUSED) kvspace_notify(core->space, "/vthread");
}

/* The failure of a vthread outside of its rows. */
static void fail(struct core *core, struct vthread_record *record) {
    struct fault what = core->heap.fault;
    struct activation at = { .core = core, .record = record };
    uint64_t pc = pc_seen(record);
    struct link *link = activation_enter(&at, pc_frame(pc)) ? NULL : at.link;
    core->heap.fault = what;
    error_record(core, record, link, link ? pc_row(pc) : 0);
}

void vthread_kill(struct core *core, struct vthread_record *record) {
    struct vthread_record *outer = core->record;
    core->record = record;
    exec_adopt(core, record);
    fault_set(&core->heap, ERROR_RUNTIME, "killed");
    fail(core, record);
    atomic_fetch_and_explicit(&record->attention, ~(uint32_t)(ATTENTION_KILL | ATTENTION_PAUSE), memory_order_relaxed);
    core->record = outer;
    vthread_status_set(core, record, STATUS_ERROR);
}

/* Goes on with a vthread whose lease is held, until it ends, stops, waits, or has done its steps. */
static int stretch(struct core *core, struct vthread_record *record) {
    uint32_t asked = atomic_load_explicit(&record->attention, memory_order_seq_cst);
    if (asked & ATTENTION_HOLD) {
        look_wait(core, record);
        asked = atomic_load_explicit(&record->attention, memory_order_acquire);
    }
    if (asked & ATTENTION_KILL) {
        fault_set(&core->heap, ERROR_RUNTIME, "killed");
        fail(core, record);
        return RUN_ERROR;
    }
    if (asked & ATTENTION_PAUSE) return RUN_PAUSED;
    breaks_load(core, record);
    atomic_fetch_and_explicit(&record->attention, ~(uint32_t)ATTENTION_BREAK, memory_order_relaxed);
    int rc = exec_resume(core, record);
    if (rc == ROW_WAIT) return RUN_WAIT;
    if (rc == ROW_FINISHED) return RUN_DONE;
    if (rc > 0) {
        fail(core, record);
        return RUN_ERROR;
    }
    return exec_run(core, record);
}

int vthread_stretch(struct core *core, struct vthread_record *record, uint64_t steps) {
    static const enum vthread_status after[] = { [RUN_DONE] = STATUS_DONE, [RUN_ERROR] = STATUS_ERROR, [RUN_PAUSED] = STATUS_PAUSED,
                                                 [RUN_STEPS] = STATUS_PAUSED, [RUN_WAIT] = STATUS_WAIT };
    static const uint32_t obeyed[] = { [RUN_DONE] = ATTENTION_KILL | ATTENTION_PAUSE, [RUN_ERROR] = ATTENTION_KILL | ATTENTION_PAUSE,
                                       [RUN_PAUSED] = ATTENTION_PAUSE, [RUN_STEPS] = ATTENTION_STEP, [RUN_WAIT] = 0 };
    struct vthread_record *outer = core->record;
    uint64_t budget = core->step_budget;
    core->record = record;
    core->step_budget = steps;
    if (steps) atomic_fetch_or_explicit(&record->attention, ATTENTION_STEP, memory_order_relaxed);
    else atomic_fetch_and_explicit(&record->attention, ~(uint32_t)ATTENTION_STEP, memory_order_relaxed);
    vthread_status_set(core, record, STATUS_RUNNING);
    int rc = stretch(core, record);
    if (rc == RUN_DONE) frames_give_back(core, record);
    vthread_status_set(core, record, after[rc]);
    atomic_fetch_and_explicit(&record->attention, ~obeyed[rc], memory_order_relaxed);
    core->record = outer;
    core->services.random = outer ? outer->random : NULL;
    core->services.once = outer ? &outer->once : NULL;
    core->step_budget = budget;
    return rc;
}

/* Killed in the middle: what is not given back yet is lost until the space is repaired. */
static void record_free(struct core *core, struct vthread_record *record, uint32_t ref) {
    struct heap *heap = &core->heap;
    struct cell *own[] = { &record->error_kind, &record->error_message, &record->error_place, &record->error_chain, &record->breaks };
    record->magic = 0;
    for (uint32_t frame = pc_frame(pc_seen(record)); frame;) {
        struct frame *one = frame_at(heap, frame);
        frame = one->caller;
        frame_drop(core, one);
    }
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) cell_drop(heap, *own[i]);
    frames_give_back(core, record);
    if (record->segment) heap->release(heap, record->segment);
    heap->release(heap, ref);
}

int vthread_remove(struct core *core, uint64_t vid) {
    uint32_t ref;
    char key[64];
    struct vthread_record *record = vthread_find(core, vid, &ref);
    if (!record) return -fault(&core->heap, ERROR_NAME, "there is no vthread %llu", (unsigned long long)vid);
    if (!lease_take(core, record)) return RUN_BUSY;
    snprintf(key, sizeof key, "/vthread/%llu", (unsigned long long)vid);
    int rc = kvspace_del(core->space, key);
    if (rc) {
        lease_drop(core, record);
        return -tree_fault(&core->heap, core->space, rc, "delete", key);
    }
    record_free(core, record, ref);
    return 0;
}
