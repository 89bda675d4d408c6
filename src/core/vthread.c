/* The life of a vthread: made, run, stopped, ended.
 * Relies on present.c for its node, exec.c for its rows. Promises: the record is complete before its node shows it; status says what is
 * true for other processes: `running` only while a live runtime holds the lease. */
#include "core/vthread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/exec.h"
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

int vthread_create(struct core *core, const char *path, const struct cell *const *args, uint32_t arg_count, uint64_t *vid) {
    struct link *link;
    int64_t last;
    uint32_t ref;
    int rc = link_function(core, path, &link);
    if (rc) return rc;
    rc = kvspace_incr(core->space, "/vthread/‥last", 1, &last);
    if (rc) return tree_fault(&core->heap, core->space, rc, "make a vthread", "/vthread/‥last");
    rc = record_new(core, (uint64_t)last, &ref);
    if (rc) return rc;
    struct vthread_record *record = (struct vthread_record *)(void *)(core->heap.base + ((uint64_t)ref << 4));
    rc = entry_frame(core, record, link, args, arg_count);
    if (rc) {
        core->heap.release(&core->heap, ref);
        return rc;
    }
    struct vthread_body body = { ref, 0, (uint64_t)last };
    char key[64];
    snprintf(key, sizeof key, "/vthread/%lld", (long long)last);
    rc = kvspace_set_word(core->space, key, "provider/vthread", &body, sizeof body);
    if (rc) return tree_fault(&core->heap, core->space, rc, "make a vthread", key);
    *vid = (uint64_t)last;
    return 0;
}

struct vthread_record *vthread_find(struct core *core, uint64_t vid, uint32_t *ref) {
    if (present_find(core, vid, ref)) return NULL;
    struct vthread_record *record = (struct vthread_record *)(void *)(core->heap.base + ((uint64_t)*ref << 4));
    return record->magic == VTHREAD_MAGIC && record->id == vid ? record : NULL;
}

static void status_set(struct core *core, struct vthread_record *record, enum vthread_status status) {
    char key[64];
    atomic_store_explicit(&record->status, status, memory_order_release);
    snprintf(key, sizeof key, "/vthread/%llu", (unsigned long long)record->id);
    kvspace_notify(core->space, key);
}

int vthread_run(struct core *core, uint64_t vid, uint64_t steps) {
    uint32_t ref;
    struct vthread_record *record = vthread_find(core, vid, &ref);
    if (!record) return -fault(&core->heap, ERROR_NAME, "there is no vthread %llu", (unsigned long long)vid);
    uint32_t status = atomic_load_explicit(&record->status, memory_order_acquire);
    if (status == STATUS_DONE) return RUN_DONE;
    if (status == STATUS_ERROR) return RUN_ERROR;
    struct vthread_record *outer = core->record;
    uint64_t budget = core->step_budget;
    core->record = record;
    core->step_budget = steps;
    if (steps) atomic_fetch_or_explicit(&record->attention, ATTENTION_STEP, memory_order_relaxed);
    else atomic_fetch_and_explicit(&record->attention, ~(uint32_t)ATTENTION_STEP, memory_order_relaxed);
    status_set(core, record, STATUS_RUNNING);
    int rc = exec_resume(core, record);
    if (rc) {
        error_record(core, record, NULL, 0);
        rc = RUN_ERROR;
    } else {
        rc = exec_run(core, record, ref);
    }
    switch (rc) {
    case RUN_DONE: status_set(core, record, STATUS_DONE); break;
    case RUN_ERROR: status_set(core, record, STATUS_ERROR); break;
    case RUN_PAUSED: status_set(core, record, STATUS_PAUSED); break;
    case RUN_WAIT: status_set(core, record, STATUS_WAIT); break;
    default: status_set(core, record, STATUS_PAUSED); break;
    }
    core->record = outer;
    core->step_budget = budget;
    return rc;
}
