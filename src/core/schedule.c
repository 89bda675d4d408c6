/* Whose turn it is: the vthread· natives, running one vthread while others wait, and serving a space.
 * Relies on vthread.c for one stretch of one vthread, lease.c for who may run it. A native that has to wait gives NATIVE_WAITS and is run
 * again when it can go on; nothing recurses and nothing polls. Promises: arguments are copied, vthreads share nothing but the tree;
 * a vthread is made once, also when its maker is killed (the row's stage holds its number). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/exec.h"
#include "core/lease.h"
#include "core/native.h"
#include "core/tree_value.h"
#include "kvspace/space.h"
#include "platform/platform.h"

enum { WAIT_SLICE_MS = 50, SERVE_SLICE_MS = 1000, SERVE_ALERT_MS = 100, CHAIN_MAX = 10000 };

struct ready {
    uint64_t vid;
    uint32_t ref;
};

static struct core *core_of(struct core_call *call) { return call->services->context; }

static int64_t wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum vthread_status status_of(const struct vthread_record *record) {
    uint32_t status = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&record->status, memory_order_acquire);
    return status < STATUS_COUNT ? (enum vthread_status)status : STATUS_ERROR;
}

static bool has_ended(const struct vthread_record *record) {
    enum vthread_status status = status_of(record);
    return status == STATUS_DONE || status == STATUS_ERROR;
}

/* ---- the vthreads that this runtime has spawned, or that wait here ---- */

static int ready_add(struct core *core, uint64_t vid) {
    uint32_t ref;
    if (!vthread_find(core, vid, &ref)) return 0;
    if (core->ready_count == core->ready_room) {
        uint32_t room = core->ready_room ? core->ready_room * 2 : 16;
        struct ready *more = realloc(core->ready, room * sizeof *more);
        if (!more) return fault(&core->heap, ERROR_OUT_OF_MEMORY, "no memory for a vthread");
        core->ready = more;
        core->ready_room = room;
    }
    core->ready[core->ready_count++] = (struct ready){ vid, ref };
    return 0;
}

static void ready_remove(struct core *core, uint32_t at) {
    memmove(&core->ready[at], &core->ready[at + 1], (core->ready_count - at - 1) * sizeof *core->ready);
    core->ready_count--;
    if (core->ready_next > at) core->ready_next--;
}

static struct vthread_record *record_at(const struct core *core, uint32_t ref) {
    return (struct vthread_record *)(void *)(core->heap.base + ((uint64_t)ref << 4));
}

/* Whether what it waits for has come. */
static bool can_go_on(struct core *core, const struct vthread_record *record, int64_t now) {
    uint32_t ref;
    if (atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&record->attention, memory_order_acquire)) return true;
    if (record->wake_ns > now) return false;
    if (!record->waits_for) return true;
    const struct vthread_record *target = vthread_find(core, record->waits_for, &ref);
    return !target || has_ended(target);
}

/* ---- natives ---- */

/* "work", "pkg·work" or a path, as the path of the function. */
static int function_path(struct core_call *call, char *out, size_t capacity) {
    char name[KVSPACE_KEY_MAX + 1];
    int rc = native_utf8(call, 0, name, sizeof name);
    if (!rc) snprintf(out, capacity, "%s%s", name[0] == '/' ? "" : "/lib/", name);
    return rc;
}

/* The number of the vthread that this row makes: drawn once, kept in the stage. */
static int draw_number(struct core *core, struct vthread_record *record, uint64_t *vid) {
    if (!record->stage.payload) {
        if (!atomic_load_explicit(&record->once.done, memory_order_acquire)) {
            core->space->once = &record->once;
            int rc = kvspace_incr(core->space, "/vthread/‥last", 1, (int64_t *)(void *)&record->once.result);
            core->space->once = NULL;
            if (rc) return tree_fault(&core->heap, core->space, rc, "make a vthread", "/vthread/‥last");
        }
        record->stage.payload = record->once.result;
        store_order();
    }
    *vid = record->stage.payload;
    return 0;
}

static int make(struct core_call *call, enum vthread_status status, uint64_t *vid) {
    struct core *core = core_of(call);
    struct vthread_record *record = core->record;
    char path[KVSPACE_KEY_MAX + 8];
    uint32_t ref;
    *vid = record->stage.payload;
    /* Made before the row was cut off: its operands may have been overwritten since. */
    if (*vid && vthread_find(core, *vid, &ref)) return 0;
    struct link *link;
    int rc = function_path(call, path, sizeof path);
    if (!rc) rc = link_function(core, path, &link);
    if (!rc) rc = draw_number(core, record, vid);
    return rc ? rc : vthread_make(core, *vid, path, call->args + 1, call->arg_count - 1, status);
}

static int vthread_create_native(struct core_call *call) {
    uint64_t vid;
    int rc = make(call, STATUS_INIT, &vid);
    return rc ? rc : native_give(call, cell_int64((int64_t)vid));
}

static int vthread_spawn_native(struct core_call *call) {
    uint64_t vid;
    struct core *core = core_of(call);
    int rc = make(call, STATUS_WAIT, &vid);
    if (!rc) rc = ready_add(core, vid);
    return rc ? rc : native_give(call, cell_int64((int64_t)vid));
}

static int record_of(struct core_call *call, uint32_t index, struct vthread_record **record, uint64_t *vid) {
    int64_t number;
    uint32_t ref;
    int rc = native_int64(call, index, &number);
    if (rc) return rc;
    *vid = (uint64_t)number;
    *record = vthread_find(core_of(call), *vid, &ref);
    return *record ? 0 : fault(call->heap, ERROR_NAME, "there is no vthread %lld", (long long)number);
}

static int give_status(struct core_call *call, const struct vthread_record *record) {
    const char *text = vthread_status_names[status_of(record)];
    struct cell made;
    int rc = text_from_utf8(call->heap, text, strlen(text), &made);
    return rc ? rc : native_give(call, made);
}

/* A vthread that waits for one that waits for it would wait for ever. */
static int check_ring(struct core *core, uint64_t vid) {
    uint64_t own = core->record->id;
    uint32_t ref;
    for (unsigned i = 0; i < CHAIN_MAX && vid; i++) {
        if (vid == own) return fault(&core->heap, ERROR_RUNTIME, "vthread %llu would wait for itself", (unsigned long long)own);
        const struct vthread_record *record = vthread_find(core, vid, &ref);
        if (!record || has_ended(record)) return 0;
        vid = record->waits_for;
    }
    return 0;
}

static int wait_for(struct core_call *call, uint64_t vid, const struct vthread_record *target) {
    struct core *core = core_of(call);
    if (has_ended(target)) {
        core->record->waits_for = 0;
        return give_status(call, target);
    }
    int rc = check_ring(core, vid);
    if (rc) return rc;
    core->record->waits_for = vid;
    return NATIVE_WAITS;
}

static int vthread_wait_native(struct core_call *call) {
    struct vthread_record *record;
    uint64_t vid;
    int rc = record_of(call, 0, &record, &vid);
    return rc ? rc : wait_for(call, vid, record);
}

/* One that has been made only becomes ready; a paused one goes on. */
static int vthread_run_native(struct core_call *call) {
    struct vthread_record *record;
    struct core *core = core_of(call);
    uint64_t vid;
    int rc = record_of(call, 0, &record, &vid);
    if (rc) return rc;
    if (core->record->waits_for != vid && (status_of(record) == STATUS_INIT || status_of(record) == STATUS_PAUSED)) {
        vthread_status_set(core, record, STATUS_WAIT);
    }
    return wait_for(call, vid, record);
}

static int vthread_call_native(struct core_call *call) {
    uint64_t vid;
    uint32_t ref;
    int rc = make(call, STATUS_WAIT, &vid);
    struct vthread_record *record = rc ? NULL : vthread_find(core_of(call), vid, &ref);
    return rc ? rc : record ? wait_for(call, vid, record) : fault(call->heap, ERROR_NAME, "there is no vthread %llu", (unsigned long long)vid);
}

/* The time at which it ends is in the record: whoever goes on sleeps what is left. */
static int vthread_sleep_native(struct core_call *call) {
    const struct cell *argument = call->args[0];
    struct vthread_record *record = core_of(call)->record;
    if (cell_tag(argument) != KIND_DURATION && cell_tag(argument) != KIND_INT64) return native_mismatch(call, 0, "duration");
    int64_t left = cell_as_int64(argument), now = wall_ns();
    if (cell_tag(argument) == KIND_INT64 && __builtin_mul_overflow(left, 1000000, &left)) left = INT64_MAX;
    if (left <= 0) return 0;
    if (!record->wake_ns && __builtin_add_overflow(now, left, &record->wake_ns)) record->wake_ns = INT64_MAX;
    if (now < record->wake_ns) return NATIVE_WAITS;
    record->wake_ns = 0;
    return 0;
}

static int vthread_self_native(struct core_call *call) {
    struct core *core = core_of(call);
    return native_give(call, cell_int64(core->record ? (int64_t)core->record->id : 0));
}

static int vthread_status_native(struct core_call *call) {
    struct vthread_record *record;
    uint64_t vid;
    int rc = record_of(call, 0, &record, &vid);
    return rc ? rc : give_status(call, record);
}

static int vthread_setstatus_native(struct core_call *call) {
    uint64_t vid;
    struct vthread_record *record;
    char text[32], key[64];
    int rc = record_of(call, 0, &record, &vid);
    if (!rc) rc = native_utf8(call, 1, text, sizeof text);
    if (rc) return rc;
    snprintf(key, sizeof key, "/vthread/%llu/‥status", (unsigned long long)vid);
    if (kvspace_set_text(core_of(call)->space, key, text)) return fault(call->heap, ERROR_VALUE, "a vthread cannot be made %s", text);
    return 0;
}

const struct native_row schedule_rows[] = {
    { "vthread·call", "(f:[]char/utf32, args:any...) -> (status:[]char/utf32)", "Makes a vthread for a function and runs it to its end here.",
      "rwfunc f() -> () { }; println(vthread·call(\"f\"))", "done\n", vthread_call_native, 1, 255, 1, EFFECT_MAKES },
    { "vthread·create", "(f:[]char/utf32, args:any...) -> (vid:int64)", "Makes a vthread for a function without starting it.",
      "rwfunc f() -> () { }; println(vthread·status(vthread·create(\"f\")))", "init\n", vthread_create_native, 1, 255, 1, EFFECT_MAKES },
    { "vthread·run", "(vid:int64) -> (status:[]char/utf32)", "Runs a vthread to its end here.",
      "rwfunc f() -> () { }; println(vthread·run(vthread·create(\"f\")))", "done\n", vthread_run_native, 1, 1, 1, 0 },
    { "vthread·self", "() -> (vid:int64)", "The number of this vthread.", "println(vthread·self() > 0)", "true\n", vthread_self_native, 0, 0, 1, 0 },
    { "vthread·setstatus", "(vid:int64, status:[]char/utf32) -> ()", "Asks a vthread to become paused, or sets the status of one that stands still.",
      "rwfunc f() -> () { }; v = vthread·create(\"f\"); vthread·setstatus(v, \"paused\"); println(vthread·status(v))", "paused\n",
      vthread_setstatus_native, 2, 2, 0, 0 },
    { "vthread·sleep", "(d:duration|int64) -> ()", "Waits for a duration, or for a number of milliseconds.", "vthread·sleep(1); println(1)", "1\n", vthread_sleep_native, 1, 1, 0, 0 },
    { "vthread·spawn", "(f:[]char/utf32, args:any...) -> (vid:int64)", "Starts a vthread for a function, beside this one.",
      "rwfunc f() -> () { }; println(vthread·wait(vthread·spawn(\"f\")))", "done\n", vthread_spawn_native, 1, 255, 1, EFFECT_MAKES },
    { "vthread·status", "(vid:int64) -> (status:[]char/utf32)", "The status of a vthread: init, running, wait, paused, done or error.",
      "println(vthread·status(vthread·self()))", "running\n", vthread_status_native, 1, 1, 1, 0 },
    { "vthread·wait", "(vid:int64) -> (status:[]char/utf32)", "Waits until a vthread is done or has failed.",
      "rwfunc f() -> () { }; println(vthread·wait(vthread·spawn(\"f\")))", "done\n", vthread_wait_native, 1, 1, 1, 0 },
};
const uint32_t schedule_count = sizeof schedule_rows / sizeof *schedule_rows;

/* ---- taking turns ---- */

/* One stretch of a vthread that is ready, if nobody else has it. Gives RUN_. */
static int turn(struct core *core, uint64_t vid, struct vthread_record *record) {
    if (!lease_take(core, record)) return RUN_BUSY;
    int rc = RUN_PAUSED;
    if (!has_ended(record)) rc = vthread_stretch(core, record, 0);
    else rc = RUN_DONE;
    lease_drop(core, record);
    if (rc == RUN_ERROR && core->failed) core->failed(core->failed_context, core, vid);
    return rc;
}

/* Whether a worker may take it: ready, or left behind by one that died. */
static bool is_ready(struct core *core, const struct vthread_record *record, int64_t now) {
    enum vthread_status status = status_of(record);
    if (status != STATUS_WAIT && status != STATUS_RUNNING) return false;
    return can_go_on(core, record, now) && !lease_is_live(core, record);
}

/* Gives one of those that wait here its turn; true if there was one. *wake_ns: the earliest time at which one of them can go on. */
static bool ready_turn(struct core *core, int64_t *wake_ns) {
    int64_t now = wall_ns();
    for (uint32_t looked = 0; looked < core->ready_count; looked++) {
        uint32_t at = core->ready_next < core->ready_count ? core->ready_next : 0;
        struct ready one = core->ready[at];
        struct vthread_record *record = record_at(core, one.ref);
        core->ready_next = at + 1;
        if (record->magic != VTHREAD_MAGIC || record->id != one.vid || has_ended(record)) {
            ready_remove(core, at);
            if (looked) looked--;
            continue;
        }
        if (is_ready(core, record, now)) {
            int rc = turn(core, one.vid, record);
            if (rc != RUN_WAIT && rc != RUN_BUSY) {
                for (at = 0; at < core->ready_count && core->ready[at].vid != one.vid; at++) {}
                if (at < core->ready_count) ready_remove(core, at);
            }
            if (rc != RUN_BUSY) return true;
        }
        if (record->wake_ns > now && record->wake_ns < *wake_ns) *wake_ns = record->wake_ns;
    }
    return false;
}

/* Sleeps until the vthread is asked for attention, its target's status changes, or the time comes. */
static void doze(struct core *core, struct vthread_record *record, int64_t wake_ns) {
    int64_t left = wake_ns == INT64_MAX ? INT64_C(1000000) * WAIT_SLICE_MS : wake_ns - wall_ns();
    if (left <= 0) return;
    if (!record->waits_for) {
        if (wake_ns == INT64_MAX) left = INT64_C(1000000) * SERVE_SLICE_MS;
        platform_wait(&record->attention, atomic_load_explicit(&record->attention, memory_order_relaxed) ? UINT32_MAX : 0, left);
        return;
    }
    /* Bounded: whoever runs the target may die, and then it is taken here. */
    char key[64];
    struct kvspace_watch_options options = { .timeout_ms = left / 1000000 < WAIT_SLICE_MS ? left / 1000000 + 1 : WAIT_SLICE_MS };
    snprintf(key, sizeof key, "/vthread/%llu/‥status", (unsigned long long)record->waits_for);
    kvspace_watch(core->space, key, &options, NULL);
}

/* Does other things until the vthread can go on. */
static void work_meanwhile(struct core *core, struct vthread_record *record) {
    for (;;) {
        int64_t now = wall_ns(), wake_ns = record->wake_ns > now ? record->wake_ns : INT64_MAX;
        if (can_go_on(core, record, now)) return;
        uint32_t ref;
        struct vthread_record *target = record->waits_for ? vthread_find(core, record->waits_for, &ref) : NULL;
        if (target && is_ready(core, target, now)) {
            int rc = turn(core, record->waits_for, target);
            if (rc == RUN_WAIT && ready_add(core, record->waits_for)) return;
            if (rc != RUN_BUSY) continue;
        }
        if (!ready_turn(core, &wake_ns)) doze(core, record, wake_ns);
    }
}

int vthread_run(struct core *core, uint64_t vid, uint64_t steps) {
    uint32_t ref;
    struct vthread_record *record = vthread_find(core, vid, &ref);
    if (!record) return -fault(&core->heap, ERROR_NAME, "there is no vthread %llu", (unsigned long long)vid);
    if (!lease_take(core, record)) return RUN_BUSY;
    int rc = status_of(record) == STATUS_DONE ? RUN_DONE : RUN_ERROR;
    if (!has_ended(record)) {
        while ((rc = vthread_stretch(core, record, steps)) == RUN_WAIT && !core->serving) work_meanwhile(core, record);
    }
    lease_drop(core, record);
    return rc;
}

void core_ready_run(struct core *core) {
    while (core->ready_count) {
        int64_t wake_ns = INT64_MAX;
        if (ready_turn(core, &wake_ns) || !core->ready_count) continue;
        /* Those that are left sleep, wait for each other, or are in other hands or paused. */
        uint32_t still = 0;
        for (uint32_t i = 0; i < core->ready_count; i++) {
            const struct vthread_record *record = record_at(core, core->ready[i].ref);
            if (status_of(record) == STATUS_PAUSED || status_of(record) == STATUS_INIT || (record->wake_ns == 0 && !record->waits_for && lease_is_live(core, record))) still++;
        }
        if (still == core->ready_count) return;
        doze(core, record_at(core, core->ready[0].ref), wake_ns);
    }
}

/* ---- serving ---- */

/* One pass over the space. *ran: how many had a turn; *wake_ns: when the next one can go on; *others: somebody else runs one. */
static int serve_pass(struct core *core, const volatile int *stop, size_t *ran, int64_t *wake_ns, bool *others) {
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    int rc = kvspace_list_open(core->space, "/vthread", NULL, &cursor);
    while (!rc && !*stop && (rc = kvspace_list_next(cursor, &entry)) == 0) {
        char *end;
        uint64_t vid = strtoull(entry.name, &end, 10);
        uint32_t ref;
        struct vthread_record *record = *end || entry.name[0] < '0' || entry.name[0] > '9' ? NULL : vthread_find(core, vid, &ref);
        int64_t now = wall_ns();
        if (!record || has_ended(record)) continue;
        if (is_ready(core, record, now)) {
            int done = turn(core, vid, record);
            *ran += done != RUN_BUSY;
            if (done == RUN_PAUSED && *stop) vthread_status_set(core, record, STATUS_WAIT); /* it was us that were stopped */
        } else if (lease_is_live(core, record)) {
            *others = true;
        }
        if (record->wake_ns > now && record->wake_ns < *wake_ns) *wake_ns = record->wake_ns;
    }
    if (rc != KVSPACE_ENOENT) kvspace_list_close(cursor);
    return !rc || rc == KVSPACE_EEND || rc == KVSPACE_ENOENT ? 0 : tree_fault(&core->heap, core->space, rc, "list", "/vthread");
}

int core_serve(struct core *core, const volatile int *stop, bool once) {
    int rc = 0;
    core->serving = true;
    while (!rc && !*stop) {
        struct kvspace_value value;
        size_t ran = 0;
        int64_t wake_ns = INT64_MAX;
        bool others = false;
        /* The version is read before the pass, so that no change during it is slept over. */
        kvspace_get(core->space, "/vthread", &value);
        uint64_t seen = value.version;
        rc = serve_pass(core, stop, &ran, &wake_ns, &others);
        if (rc || ran) continue;
        if (once && wake_ns == INT64_MAX && !others) break;
        int64_t left = wake_ns == INT64_MAX ? INT64_MAX : (wake_ns - wall_ns()) / 1000000 + 1, most = others ? SERVE_ALERT_MS : SERVE_SLICE_MS;
        struct kvspace_watch_options options = { .seen = &seen, .timeout_ms = left < 1 ? -1 : left < most ? left : most };
        kvspace_watch(core->space, "/vthread", &options, NULL);
    }
    core->serving = false;
    return rc;
}
