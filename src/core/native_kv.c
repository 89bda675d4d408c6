/* Natives on the tree: kv· and kvlang·. A place is a path (text or pointer), or a base and a key in it.
 * Relies on tree_value.h and kvspace.h. Promises: errors of the space come as errors of the program with the path in them. */
#include <kvspace/kvspace.h>
#include <stdio.h>

#include "core/map.h"
#include "core/native.h"
#include "core/tree_value.h"
#include "core/types.h"
#include "kvspace/space.h"

static int space_of(struct core_call *call, struct kvspace **space) {
    *space = call->services ? call->services->space : NULL;
    return *space ? 0 : fault(call->heap, ERROR_RUNTIME, "there is no space here");
}

/* An absolute path from argument i: text, or a pointer. */
static int path_of(struct core_call *call, uint32_t i, char *path) {
    const struct cell *cell = call->args[i];
    if (cell_tag(cell) == TAG_POINTER) {
        if (call->heap->pointer_text) return call->heap->pointer_text(call->heap, cell, path, KVSPACE_KEY_MAX + 1);
        return native_mismatch(call, i, "a path");
    }
    int rc = native_utf8(call, i, path, KVSPACE_KEY_MAX + 1);
    if (!rc && path[0] != '/') rc = fault(call->heap, ERROR_VALUE, "%s: \"%.100s\" is no path, it does not begin with /", call->row ? call->row->name : "kv", path);
    return rc;
}

/* base·key, from a base that is a path and a key. */
static int member_path(struct core_call *call, char *path) {
    char name[KVSPACE_STEP_MAX + 1], base[KVSPACE_KEY_MAX + 1];
    const struct cell *key = call->args[1];
    int rc = path_of(call, 0, base);
    if (rc) return rc;
    if (cell_is_text(key)) rc = native_utf8(call, 1, name, sizeof name);
    else value_picture(call->heap, key, name, sizeof name);
    if (rc) return rc;
    char *to = name; /* `[1, 2]` is the step `[1,2]` */
    for (const char *at = name; *at; at++)
        if (cell_is_text(key) || *at != ' ') *to++ = *at;
    *to = 0;
    rc = kvspace_key_join(base, KVSPACE_STEP_MEMBER, name, path);
    return rc ? tree_fault(call->heap, call->services ? call->services->space : NULL, rc, "the key", name) : 0;
}

static bool is_container(const struct cell *cell) { return cell_tag(cell) == TAG_MAP || cell_tag(cell) == TAG_STRUCT; }

/* The path that the call's first one or two arguments name. `tail`: arguments after them. */
static int place_of(struct core_call *call, uint32_t tail, char *path) {
    return call->arg_count - tail == 1 ? path_of(call, 0, path) : member_path(call, path);
}

static int failed(struct core_call *call, struct kvspace *space, int rc, const char *path) {
    return tree_fault(call->heap, space, rc, call->row ? call->row->name : "kv", path);
}

int native_kv_get(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    if (is_container(call->args[0])) {
        const struct cell *found;
        if (call->arg_count != 2) return fault(call->heap, ERROR_TYPE, "kv·get of a container wants a key");
        int rc = map_find(call->heap, call->args[0], call->args[1], &found);
        if (rc) return rc;
        return native_give(call, found ? cell_copy(call->heap, found) : cell_none());
    }
    int rc = space_of(call, &space);
    if (!rc) rc = place_of(call, 0, path);
    return rc ? rc : tree_get(call->heap, space, path, &call->results[0]);
}

int native_kv_set(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    if (is_container(call->args[0])) {
        return fault(call->heap, ERROR_READ_ONLY, "kv·set: the container is a value here; write m·key = v, or give its path");
    }
    int rc = space_of(call, &space);
    if (!rc) rc = place_of(call, 1, path);
    return rc ? rc : tree_set(call->heap, space, path, call->args[call->arg_count - 1]);
}

int native_kv_has(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    if (is_container(call->args[0])) {
        const struct cell *found;
        if (call->arg_count != 2) return fault(call->heap, ERROR_TYPE, "kv·has of a container wants a key");
        int rc = map_find(call->heap, call->args[0], call->args[1], &found);
        return rc ? rc : native_give(call, cell_bool(found != NULL));
    }
    int rc = space_of(call, &space);
    if (!rc) rc = place_of(call, 0, path);
    if (rc) return rc;
    rc = kvspace_exists(space, path);
    if (rc && rc != KVSPACE_ENOENT) return failed(call, space, rc, path);
    return native_give(call, cell_bool(rc == 0));
}

int native_kv_del(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    int rc = space_of(call, &space);
    if (!rc) rc = place_of(call, 0, path);
    if (rc) return rc;
    struct cell none = cell_none();
    return tree_set(call->heap, space, path, &none);
}

int native_kv_deltree(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    int rc = space_of(call, &space);
    if (!rc) rc = place_of(call, 0, path);
    if (rc) return rc;
    rc = kvspace_del_tree(space, path, NULL);
    return rc && rc != KVSPACE_ENOENT ? failed(call, space, rc, path) : 0;
}

/* Names of the children in order of insertion; of a container that is a value: its keys. */
int native_kv_list(struct core_call *call) {
    static const char type[] = "[int64]·[]char/utf32";
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    if (is_container(call->args[0])) return native_map_keys(call);
    const struct type_info *info;
    struct cell list;
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, path);
    if (!rc) rc = type_of_text(call->heap, type, sizeof type - 1, &info);
    if (!rc) rc = map_new(call->heap, info, 0, &list);
    if (rc) return rc;
    kvspace_cursor *cursor;
    struct kvspace_entry entry;
    rc = kvspace_list_open(space, path, NULL, &cursor);
    if (rc == KVSPACE_ENOENT) return native_give(call, list);
    if (rc) {
        cell_drop(call->heap, list);
        return failed(call, space, rc, path);
    }
    int error = 0;
    while (!error && (rc = kvspace_list_next(cursor, &entry)) == 0) {
        struct cell key = cell_int64(map_length(call->heap, &list)), name, next;
        error = text_from_utf8(call->heap, entry.name, entry.name_bytes, &name);
        if (error) break;
        error = map_set(call->heap, &list, &key, &name, 0, &next);
        cell_drop(call->heap, name);
        if (error) break;
        if (next.payload != list.payload) cell_drop(call->heap, list);
        list = next;
    }
    kvspace_list_close(cursor);
    if (!error && rc && rc != KVSPACE_EEND) error = failed(call, space, rc, path);
    if (!error) return native_give(call, list);
    cell_drop(call->heap, list);
    return error;
}

int native_kv_listlen(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    struct kvspace_counts counts = { 0 };
    if (is_container(call->args[0])) return native_map_len(call);
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, path);
    if (rc) return rc;
    rc = kvspace_count(space, path, &counts);
    if (rc && rc != KVSPACE_ENOENT) return failed(call, space, rc, path);
    return native_give(call, cell_int64((int64_t)counts.children));
}

static int copy(struct core_call *call, int (*function)(kvspace *, const char *, const char *)) {
    char from[KVSPACE_KEY_MAX + 1], to[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, from);
    if (!rc) rc = path_of(call, 1, to);
    if (rc) return rc;
    rc = function(space, from, to);
    return rc ? failed(call, space, rc, from) : 0;
}

int native_kv_cp(struct core_call *call) { return copy(call, kvspace_cp); }
int native_kv_cptree(struct core_call *call) { return copy(call, kvspace_cp_tree); }

int native_kv_mkindex(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1], type[KVSPACE_TYPE_MAX + 1] = "[]char/utf8·any";
    struct kvspace *space;
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, path);
    if (!rc && call->arg_count > 1) rc = native_utf8(call, 1, type, sizeof type);
    if (rc) return rc;
    rc = kvspace_mkindex(space, path, type);
    return rc ? failed(call, space, rc, path) : 0;
}

int native_kv_extindex(struct core_call *call) { return copy(call, kvspace_extindex); }

int native_kv_rmindexext(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, path);
    if (rc) return rc;
    struct once_mark *once = call->services->once;
    if (once && atomic_load_explicit(&once->done, memory_order_acquire)) return 0;
    space->once = once;
    rc = kvspace_rmindexext(space, path);
    space->once = NULL;
    return rc ? failed(call, space, rc, path) : 0;
}

/* The value after the next change; None when the time is over or the key was deleted. */
int native_kv_watch(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    struct kvspace_watch_options options = { 0 };
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, path);
    if (!rc && call->arg_count > 1) {
        if (cell_tag(call->args[1]) != KIND_DURATION) return native_mismatch(call, 1, "duration");
        options.timeout_ms = cell_as_int64(call->args[1]) / 1000000;
        if (options.timeout_ms == 0) options.timeout_ms = -1;
    }
    if (rc) return rc;
    rc = kvspace_watch(space, path, &options, NULL);
    if (rc == KVSPACE_ETIMEOUT) return native_give(call, cell_none());
    return rc ? failed(call, space, rc, path) : tree_get(call->heap, space, path, &call->results[0]);
}

int native_kv_notify(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, path);
    if (rc) return rc;
    rc = kvspace_notify(space, path);
    return rc && rc != KVSPACE_ENOENT ? failed(call, space, rc, path) : 0;
}

int native_kv_incr(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    int64_t by = 1, sum;
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, path);
    if (!rc && call->arg_count > 1) rc = native_int64(call, 1, &by);
    if (rc) return rc;
    struct once_mark *once = call->services->once;
    if (once && atomic_load_explicit(&once->done, memory_order_acquire)) return native_give(call, cell_int64((int64_t)once->result));
    space->once = once;
    rc = kvspace_incr(space, path, by, once ? (int64_t *)(void *)&once->result : &sum);
    space->once = NULL;
    if (!rc && once) sum = (int64_t)once->result;
    return rc ? failed(call, space, rc, path) : native_give(call, cell_int64(sum));
}

int native_kv_cas(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace *space;
    struct kvspace_value expected, wanted;
    int rc = space_of(call, &space);
    if (!rc) rc = path_of(call, 0, path);
    bool from_none = cell_is_none(call->args[1]), to_none = cell_is_none(call->args[2]);
    if (!rc && !from_none) rc = tree_borrow(call->heap, call->args[1], &expected);
    if (!rc && !to_none) rc = tree_borrow(call->heap, call->args[2], &wanted);
    if (rc) return rc;
    struct once_mark *once = call->services->once;
    if (once && atomic_load_explicit(&once->done, memory_order_acquire)) return native_give(call, cell_bool(true));
    space->once = once;
    rc = kvspace_cas(space, path, from_none ? NULL : &expected, to_none ? NULL : &wanted);
    space->once = NULL;
    if (rc && rc != KVSPACE_EMISMATCH) return failed(call, space, rc, path);
    return native_give(call, cell_bool(rc == 0));
}

/* ---- kvlang· ---- */

/* The absolute key of a place: a pointer's target, or a path in its canonical form. */
int native_kvlang_abs(struct core_call *call) {
    char path[KVSPACE_KEY_MAX + 1];
    int rc = path_of(call, 0, path);
    return rc ? rc : text_from_utf8(call->heap, path, strlen(path), &call->results[0]);
}

int native_kvlang_version(struct core_call *call) {
    const char *version = kvspace_version_text();
    return text_from_utf8(call->heap, version, strlen(version), &call->results[0]);
}
