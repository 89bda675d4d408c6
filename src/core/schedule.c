/* vthread· natives: making, running, waiting for other vthreads, sleeping.
 * Relies on vthread.c. A vthread that is waited for and that nobody runs is run here, inside the wait, on the same thread: so a wait
 * never needs a second worker. Promises: arguments are copied, vthreads share nothing but the tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/exec.h"
#include "core/native.h"

static struct core *core_of(struct core_call *call) { return call->services->context; }

/* "work", "pkg·work" or a path, as the path of the function. */
static int function_path(struct core_call *call, char *out, size_t capacity) {
    char name[KVSPACE_KEY_MAX + 1];
    int rc = native_utf8(call, 0, name, sizeof name);
    if (!rc) snprintf(out, capacity, "%s%s", name[0] == '/' ? "" : "/lib/", name);
    return rc;
}

/* A value that shares no block with this vthread. Containers inside are copied as deep as they go by value_duplicate. */
static int create(struct core_call *call, uint64_t *vid) {
    char path[KVSPACE_KEY_MAX + 8];
    int rc = function_path(call, path, sizeof path);
    return rc ? rc : vthread_create(core_of(call), path, call->args + 1, call->arg_count - 1, vid);
}

static int vthread_create_native(struct core_call *call) {
    uint64_t vid;
    int rc = create(call, &vid);
    return rc ? rc : native_give(call, cell_int64((int64_t)vid));
}

static int vthread_spawn_native(struct core_call *call) {
    uint64_t vid;
    struct core *core = core_of(call);
    int rc = create(call, &vid);
    if (rc) return rc;
    rc = core_ready_add(core, vid);
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
    uint32_t status = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&record->status, memory_order_acquire);
    const char *text = status < STATUS_COUNT ? vthread_status_names[status] : "error";
    struct cell made;
    int rc = text_from_utf8(call->heap, text, strlen(text), &made);
    return rc ? rc : native_give(call, made);
}

static bool has_ended(const struct vthread_record *record) {
    uint32_t status = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&record->status, memory_order_acquire);
    return status == STATUS_DONE || status == STATUS_ERROR;
}

static int run_here(struct core_call *call, uint64_t vid) {
    struct core *core = core_of(call);
    int rc = vthread_run(core, vid, 0);
    if (rc == RUN_ERROR && core->failed) core->failed(core->failed_context, core, vid);
    core->services.random = core->record ? core->record->random : NULL;
    return rc < 0 ? -rc : 0;
}

static int vthread_wait_native(struct core_call *call) {
    struct core *core = core_of(call);
    struct vthread_record *record;
    uint64_t vid;
    int rc = record_of(call, 0, &record, &vid);
    if (rc) return rc;
    core_ready_remove(core, vid);
    while (!has_ended(record)) {
        uint32_t status = atomic_load_explicit(&record->status, memory_order_acquire);
        if (status != STATUS_RUNNING && status != STATUS_PAUSED) {
            rc = run_here(call, vid);
            if (rc) return rc;
            continue;
        }
        if (core->record && atomic_load_explicit(&core->record->attention, memory_order_relaxed)) return fault(call->heap, ERROR_RUNTIME, "the wait was interrupted");
        char key[64];
        struct kvspace_watch_options options = { .timeout_ms = 50 };
        snprintf(key, sizeof key, "/vthread/%llu/‥status", (unsigned long long)vid);
        kvspace_watch(core->space, key, &options, NULL);
    }
    return give_status(call, record);
}

static int vthread_run_native(struct core_call *call) {
    struct vthread_record *record;
    uint64_t vid;
    int rc = record_of(call, 0, &record, &vid);
    if (!rc && !has_ended(record)) rc = run_here(call, vid);
    return rc ? rc : give_status(call, record);
}

static int vthread_call_native(struct core_call *call) {
    uint64_t vid;
    uint32_t ref;
    int rc = create(call, &vid);
    if (!rc) rc = run_here(call, vid);
    struct vthread_record *record = rc ? NULL : vthread_find(core_of(call), vid, &ref);
    return rc ? rc : record ? give_status(call, record) : fault(call->heap, ERROR_NAME, "there is no vthread %llu", (unsigned long long)vid);
}

static int vthread_sleep_native(struct core_call *call) {
    const struct cell *argument = call->args[0];
    if (cell_tag(argument) != KIND_DURATION && cell_tag(argument) != KIND_INT64) return native_mismatch(call, 0, "duration");
    struct core *core = core_of(call);
    int64_t left = cell_as_int64(argument) * (cell_tag(argument) == KIND_INT64 ? 1000000 : 1);
    while (left > 0) {
        int64_t slice = left > 10000000 ? 10000000 : left;
        struct timespec pause = { slice / 1000000000, (long)(slice % 1000000000) };
        nanosleep(&pause, NULL);
        left -= slice;
        if (core->record && (atomic_load_explicit(&core->record->attention, memory_order_relaxed) & ATTENTION_KILL)) break;
    }
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
      "rwfunc f() -> () { }; println(vthread·call(\"f\"))", "done\n", vthread_call_native, 1, 255, 1, 0 },
    { "vthread·create", "(f:[]char/utf32, args:any...) -> (vid:int64)", "Makes a vthread for a function without starting it.",
      "rwfunc f() -> () { }; println(vthread·status(vthread·create(\"f\")))", "init\n", vthread_create_native, 1, 255, 1, 0 },
    { "vthread·run", "(vid:int64) -> (status:[]char/utf32)", "Runs a vthread to its end here.",
      "rwfunc f() -> () { }; println(vthread·run(vthread·create(\"f\")))", "done\n", vthread_run_native, 1, 1, 1, 0 },
    { "vthread·self", "() -> (vid:int64)", "The number of this vthread.", "println(vthread·self() > 0)", "true\n", vthread_self_native, 0, 0, 1, 0 },
    { "vthread·setstatus", "(vid:int64, status:[]char/utf32) -> ()", "Asks a vthread to become paused, or sets the status of one that stands still.",
      "rwfunc f() -> () { }; v = vthread·create(\"f\"); vthread·setstatus(v, \"paused\"); println(vthread·status(v))", "paused\n",
      vthread_setstatus_native, 2, 2, 0, 0 },
    { "vthread·sleep", "(d:duration|int64) -> ()", "Waits for a duration, or for a number of milliseconds.", "vthread·sleep(1); println(1)", "1\n", vthread_sleep_native, 1, 1, 0, 0 },
    { "vthread·spawn", "(f:[]char/utf32, args:any...) -> (vid:int64)", "Starts a vthread for a function, beside this one.",
      "rwfunc f() -> () { }; println(vthread·wait(vthread·spawn(\"f\")))", "done\n", vthread_spawn_native, 1, 255, 1, 0 },
    { "vthread·status", "(vid:int64) -> (status:[]char/utf32)", "The status of a vthread: init, running, wait, paused, done or error.",
      "println(vthread·status(vthread·self()))", "running\n", vthread_status_native, 1, 1, 1, 0 },
    { "vthread·wait", "(vid:int64) -> (status:[]char/utf32)", "Waits until a vthread is done or has failed.",
      "rwfunc f() -> () { }; println(vthread·wait(vthread·spawn(\"f\")))", "done\n", vthread_wait_native, 1, 1, 1, 0 },
};
const uint32_t schedule_count = sizeof schedule_rows / sizeof *schedule_rows;

/* ---- what was spawned and has not begun ---- */

int core_ready_add(struct core *core, uint64_t vid) {
    if (core->ready_count == core->ready_room) {
        uint32_t room = core->ready_room ? core->ready_room * 2 : 16;
        uint64_t *more = realloc(core->ready, room * sizeof *more);
        if (!more) return fault(&core->heap, ERROR_OUT_OF_MEMORY, "no memory for a vthread");
        core->ready = more;
        core->ready_room = room;
    }
    core->ready[core->ready_count++] = vid;
    return 0;
}

bool core_ready_remove(struct core *core, uint64_t vid) {
    for (uint32_t i = 0; i < core->ready_count; i++) {
        if (core->ready[i] != vid) continue;
        memmove(&core->ready[i], &core->ready[i + 1], (core->ready_count - i - 1) * sizeof *core->ready);
        core->ready_count--;
        return true;
    }
    return false;
}

void core_ready_run(struct core *core) {
    while (core->ready_count) {
        uint64_t vid = core->ready[0];
        core_ready_remove(core, vid);
        if (vthread_run(core, vid, 0) == RUN_ERROR && core->failed) core->failed(core->failed_context, core, vid);
    }
}
