/* The public functions that change more than one value: deleting, copying, moving, comparing and counting, containers.
 * Relies on tree.h, cell.h, provider.h. Promises: as kvspace.h says. What must appear in one step is built on a stage of this
 * participant's own and then swapped in. */
#include "kvspace/api.h"
#include "kvspace/cell.h"
#include "kvspace/kinds.h"
#include "kvspace/path.h"
#include "kvspace/provider.h"

#include <stdlib.h>
#include <string.h>

static int ends(kvspace *space, int rc, const char *key) {
    space_end(space);
    if (rc == 0) {
        space_wrote(space, key);
        return 0;
    }
    return rc == KVSPACE_EKEY || rc == KVSPACE_EPROVIDER ? rc : space_error(space, rc, key, NULL);
}

static int begin_write(kvspace *space, const char *key) {
    if (space->is_read_only) return space_error(space, KVSPACE_EREADONLY, key, "this handle is read-only");
    int rc = space_begin(space);
    return rc ? space_error(space, rc, key, NULL) : 0;
}

static bool is_root(const char *key) { return key && key[0] == '/' && !key[1]; }

/* ---- deleting ---- */

/* All children of the root but what the library itself keeps there. */
static int delete_all(kvspace *space, uint64_t *deleted) {
    struct node *root = tree_node(space, space->root);
    uint32_t at = 0, child;
    bool again = false;
    for (;;) {
        child = table_next(space, atomic_load_explicit(&root->kids, memory_order_acquire), &at);
        if (!child && !again) return 0;
        if (!child) { /* the table may have been rebuilt while we went along it */
            at = 0;
            again = false;
            continue;
        }
        const struct step *name = step_at(&space->arena, atomic_load_explicit(&tree_node(space, child)->step, memory_order_acquire));
        at++;
        if (!name || (name->bytes == 3 && memcmp(name->text, "sys", 3) == 0)) continue;
        again = true;
        int rc = tree_delete(space, space->root, child, deleted);
        if (rc && rc != KVSPACE_EAGAIN) return rc;
    }
}

static int delete_key(kvspace *space, const char *key, uint64_t *deleted) {
    for (;;) {
        struct tree_walk walk;
        int rc = tree_walk(space, key, &walk);
        if (rc) return rc;
        if (*walk.at && walk.special_tag == NODE_TAG_PROVIDER) return provider_del(space, key, &walk);
        if (*walk.at) {
            rc = api_hide_base(space, key);
            if (!rc) ++*deleted;
            return rc;
        }
        if (walk.node == space->root) return delete_all(space, deleted);
        if (walk.parent == space->root && strcmp(key, "/sys") == 0) return KVSPACE_EREADONLY;
        rc = tree_delete(space, walk.parent, walk.node, deleted);
        if (rc == KVSPACE_EAGAIN) continue;
        if (rc || walk.special_tag != NODE_TAG_OVERLAY || walk.special == walk.node) return rc;
        rc = api_hide_base(space, key);
        return rc == KVSPACE_ENOENT ? 0 : rc;
    }
}

int kvspace_del(kvspace *space, const char *key) {
    uint64_t deleted = 0;
    int rc = begin_write(space, key);
    if (rc) return rc;
    rc = api_exists(space, key, 0);
    if (rc == KVSPACE_EPROVIDER) rc = 0;
    if (!rc || is_root(key)) rc = delete_key(space, key, &deleted);
    return ends(space, rc, key);
}

int kvspace_del_tree(kvspace *space, const char *key, uint64_t *deleted) {
    uint64_t count = 0;
    int rc = begin_write(space, key);
    if (rc) return rc;
    rc = delete_key(space, key, &count);
    if (rc == KVSPACE_ENOENT) rc = 0;
    if (deleted) *deleted = count;
    return ends(space, rc, key);
}

/* ---- copying and moving ---- */

/* Stores what a key shows, stored or not, at another; None makes nothing. */
static int copy_shown_value(kvspace *space, const char *from, const char *to) {
    struct kvspace_value value;
    struct shape shape;
    const char *why;
    int rc = api_get(space, from, &value);
    if (rc == KVSPACE_ENOENT) return 0;
    if (rc) return rc;
    if (value.store == KVSPACE_EXTINDEX) value.store = KVSPACE_INDEX, value.body_bytes = 0;
    rc = shape_of(&value, false, &shape, &why);
    return rc ? rc : api_set_shape(space, to, &shape);
}

/* One key under way: how long both keys are, and the listing of what is below. */
struct shown_level {
    kvspace_cursor *cursor;
    size_t from_bytes, to_bytes;
};

struct shown_copy {
    struct shown_level *level;
    size_t depth, capacity;
    char from[KVSPACE_KEY_MAX + 1], to[KVSPACE_KEY_MAX + 1];
};

static int push_shown(kvspace *space, struct shown_copy *copy, enum kvspace_list what) {
    struct kvspace_list_options options = {.what = what};
    int rc = copy_shown_value(space, copy->from, copy->to);
    if (rc) return rc;
    if (copy->depth == copy->capacity) {
        size_t capacity = copy->capacity ? 2 * copy->capacity : 16;
        struct shown_level *more = realloc(copy->level, capacity * sizeof *more);
        if (!more) return KVSPACE_ENOMEM;
        copy->level = more;
        copy->capacity = capacity;
    }
    struct shown_level *level = &copy->level[copy->depth];
    rc = kvspace_list_open(space, copy->from, &options, &level->cursor);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    level->from_bytes = strlen(copy->from);
    level->to_bytes = strlen(copy->to);
    copy->depth++;
    return 0;
}

/* Copies what lies behind a provider or an overlay, key by key. */
static int copy_shown(kvspace *space, const char *from, const char *to, bool members_only) {
    struct shown_copy *copy = calloc(1, sizeof *copy);
    struct kvspace_entry entry;
    if (!copy) return KVSPACE_ENOMEM;
    memcpy(copy->from, from, strlen(from) + 1);
    memcpy(copy->to, to, strlen(to) + 1);
    space->read_depth++;
    int rc = push_shown(space, copy, members_only ? KVSPACE_LIST_MEMBERS : KVSPACE_LIST_ALL);
    while (!rc && copy->depth) {
        struct shown_level *level = &copy->level[copy->depth - 1];
        copy->from[level->from_bytes] = copy->to[level->to_bytes] = 0;
        rc = kvspace_list_next(level->cursor, &entry);
        if (rc == KVSPACE_EEND) {
            kvspace_list_close(level->cursor);
            copy->depth--;
            rc = 0;
            continue;
        }
        if (!rc) rc = path_append(copy->from, entry.text, entry.text_bytes, copy->from);
        if (!rc) rc = path_append(copy->to, entry.text, entry.text_bytes, copy->to);
        if (!rc) rc = push_shown(space, copy, KVSPACE_LIST_ALL);
    }
    space->read_depth--;
    while (copy->depth) kvspace_list_close(copy->level[--copy->depth].cursor);
    free(copy->level);
    free(copy);
    return rc;
}

/* Makes the stage a copy of what is at `from`. *staged gets its node. */
static int copy_to_stage(kvspace *space, const char *from, bool members_only, char *stage, uint32_t *staged) {
    struct tree_walk walk;
    int rc = tree_walk(space, from, &walk);
    if (!rc && *walk.at && !walk.special) rc = KVSPACE_ENOENT;
    if (!rc) rc = tree_stage(space, stage);
    if (!rc) rc = tree_lock_key(space, stage, true, staged);
    if (rc) return rc;
    mem_unlock(space, &tree_node(space, *staged)->lock);
    return walk.special && *walk.special_at ? copy_shown(space, from, stage, members_only)
                                            : tree_copy(space, walk.node, *staged, members_only);
}

static void drop_stage(kvspace *space, const char *stage) {
    struct tree_walk walk;
    if (!tree_walk(space, stage, &walk) && !*walk.at) (void)tree_delete(space, walk.parent, walk.node, NULL);
}

static int check_apart(kvspace *space, const char *one, const char *two) {
    int rc = path_check(one, NULL);
    if (!rc) rc = path_check(two, NULL);
    if (rc) return space_error(space, rc, path_check(one, NULL) ? one : two, NULL);
    if (path_is_within(one, two) || path_is_within(two, one))
        return space_error(space, KVSPACE_EUSAGE, two, "one of the keys lies below the other: %.200s", one);
    return 0;
}

/* Whether a subtree can be put at the key: not below a provider, and not where the library has its own. */
static int check_place(kvspace *space, const char *key) {
    struct tree_walk walk;
    if (strcmp(key, "/sys") == 0) return KVSPACE_EREADONLY;
    int rc = tree_walk(space, key, &walk);
    return !rc && walk.special_tag == NODE_TAG_PROVIDER && *walk.special_at ? KVSPACE_EUNSUPPORTED : rc;
}

int kvspace_cp_tree(kvspace *space, const char *from, const char *to) {
    char stage[64] = "";
    uint32_t staged;
    int rc = check_apart(space, from, to);
    if (!rc) rc = begin_write(space, to);
    if (rc) return rc;
    rc = api_exists(space, from, 0);
    int place_rc = rc ? 0 : check_place(space, to);
    if (place_rc) return ends(space, place_rc, to);
    if (!rc) rc = copy_to_stage(space, from, false, stage, &staged);
    if (!rc) rc = tree_move(space, stage, to, NULL);
    if (rc && *stage) drop_stage(space, stage);
    return ends(space, rc, rc == KVSPACE_ENOENT ? from : to);
}

/* The value (and members) of `stage` become those of the key. */
int api_adopt(kvspace *space, const char *key, const char *stage, uint32_t staged) {
    struct tree_walk walk;
    int rc;
    do {
        uint32_t into;
        rc = tree_lock_key(space, key, true, &into);
        if (rc) break;
        mem_unlock(space, &tree_node(space, into)->lock);
        rc = tree_walk(space, key, &walk);
        if (!rc) rc = tree_adopt(space, into, staged, walk.special_tag == NODE_TAG_OVERLAY && *walk.special_at);
    } while (rc == KVSPACE_EAGAIN);
    drop_stage(space, stage);
    return rc;
}

int kvspace_cp(kvspace *space, const char *from, const char *to) {
    struct kvspace_value value;
    char stage[64] = "";
    uint32_t staged;
    int rc = check_apart(space, from, to);
    if (!rc) rc = kvspace_read_begin(space);
    if (rc) return rc;
    rc = kvspace_get(space, from, &value);
    bool container = !rc && !value.ref && (value.store == KVSPACE_INDEX || value.store == KVSPACE_EXTINDEX);
    if (!rc && !container) rc = kvspace_set(space, to, &value);
    kvspace_read_end(space);
    if (rc || !container) return rc;
    rc = begin_write(space, to);
    if (rc) return rc;
    rc = check_place(space, to);
    if (!rc) rc = copy_to_stage(space, from, true, stage, &staged);
    if (!rc) rc = api_adopt(space, to, stage, staged);
    else if (*stage) drop_stage(space, stage);
    return ends(space, rc, to);
}

int kvspace_replace(kvspace *space, const char *from, const char *to, const char *old) {
    int rc = check_apart(space, from, to);
    if (!rc && old) rc = check_apart(space, from, old);
    if (!rc && old) rc = check_apart(space, to, old);
    if (!rc) rc = begin_write(space, to);
    if (rc) return rc;
    rc = check_place(space, from);
    if (!rc) rc = api_exists(space, from, 0);
    if (rc) return ends(space, rc, from);
    rc = check_place(space, to);
    if (!rc && old) rc = check_place(space, old);
    if (!rc) rc = tree_move(space, from, to, old);
    return ends(space, rc, to);
}

/* ---- compare and set, count ---- */

/* The locked node's value against what is expected. */
static int compare(kvspace *space, const struct node *node, const struct kvspace_value *expected) {
    struct kvspace_value value;
    struct cell_value cell;
    node_get(node, &cell);
    int rc = cell_look(space, cell, &value);
    if (rc) return rc;
    bool none = cell_value_tag(cell) == NODE_TAG_NONE || cell_value_tag(cell) == NODE_TAG_HIDDEN;
    if (none || !expected) return none && !expected ? 0 : KVSPACE_EMISMATCH;
    return kvspace_value_equal(&value, expected) ? 0 : KVSPACE_EMISMATCH;
}

int api_lock_for_update(kvspace *space, const char *key, bool create, uint32_t *node) {
    struct kvspace_value value;
    struct tree_walk walk;
    struct shape shape;
    const char *why;
    int rc = tree_walk(space, key, &walk);
    if (rc) return rc;
    if (*walk.at && walk.special_tag == NODE_TAG_PROVIDER) return KVSPACE_EUNSUPPORTED;
    if (walk.special_tag == NODE_TAG_OVERLAY && *walk.special_at) {
        struct cell_value cell = {0, 0};
        if (!*walk.at) node_get(tree_node(space, walk.node), &cell);
        space->read_depth++;
        rc = cell_value_tag(cell) ? KVSPACE_ENOENT : api_get(space, key, &value);
        space->read_depth--;
        if (!rc) rc = shape_of(&value, false, &shape, &why);
        if (!rc) rc = api_set_shape(space, key, &shape);
        if (rc && rc != KVSPACE_ENOENT) return rc;
    }
    return tree_lock_key(space, key, create, node);
}

int kvspace_cas(kvspace *space, const char *key, const struct kvspace_value *expected, const struct kvspace_value *wanted) {
    const char *why = NULL;
    struct shape shape;
    struct tree_value value;
    uint32_t ref;
    int rc = begin_write(space, key);
    if (rc) return rc;
    if (expected && !expected->kind && !expected->type && !expected->ref) expected = NULL;
    rc = expected ? shape_of(expected, false, &shape, &why) : 0;
    bool container = expected && !rc && (shape.store == KVSPACE_INDEX || shape.store == KVSPACE_EXTINDEX);
    if (!rc) rc = shape_of(wanted, false, &shape, &why);
    if (!rc && (container || shape.store == KVSPACE_INDEX || shape.store == KVSPACE_EXTINDEX)) {
        rc = KVSPACE_EVALUE;
        why = "a container cannot be compared and set";
    }
    if (rc) {
        space_end(space);
        return space_error(space, rc, key, "%s", why);
    }
    if (!shape.body) shape.body = "";
    rc = cell_make(space, &shape, &value);
    if (rc) return ends(space, rc, key);
    struct once_mark *once = space->once;
    space->once = NULL;
    rc = api_lock_for_update(space, key, !expected && !shape.is_none, &ref);
    space->once = once;
    if (!rc) {
        struct node *node = tree_node(space, ref);
        rc = tree_may_write(space, node);
        if (!rc) rc = compare(space, node, expected);
        if (rc) mem_unlock(space, &node->lock);
        else rc = tree_put(space, ref, &value);
        if (!rc && shape.is_none) {
            tree_prune(space, ref);
            if ((rc = api_hide_base(space, key)) == KVSPACE_ENOENT) rc = 0;
        }
    } else if (rc == KVSPACE_ENOENT) rc = expected ? KVSPACE_EMISMATCH : 0; /* it shall be absent, and is */
    if (rc) cell_discard(space, &value);
    return ends(space, rc, key);
}

/* Adds in the width of the kind. The lock is held, and given back. */
int api_incr_locked(kvspace *space, uint32_t ref, int64_t delta, int64_t *sum) {
    struct node *node = tree_node(space, ref);
    struct tree_value value = {.block = 0};
    struct cell_value cell;
    node_get(node, &cell);
    unsigned kind = cell_value_tag(cell);
    if (kind == NODE_TAG_NONE || kind == NODE_TAG_HIDDEN) {
        cell.head = (uint64_t)space->owner << 32 | (unsigned)KIND_INT64;
        cell.payload = 0;
        kind = KIND_INT64;
    }
    int rc = kind < KIND_COUNT && kind_is_integer(kind) ? tree_may_write(space, node) : KVSPACE_ETYPE;
    if (rc) {
        mem_unlock(space, &node->lock);
        return rc;
    }
    unsigned shift = 64 - 8 * (unsigned)kind_size(kind);
    uint64_t added = (cell.payload + (uint64_t)delta) << shift;
    value.cell.head = cell.head;
    value.cell.payload = added >> shift;
    if (sum) *sum = kind_row(kind)->is_signed ? (int64_t)added >> shift : (int64_t)(added >> shift);
    return tree_put(space, ref, &value);
}

int kvspace_incr(kvspace *space, const char *key, int64_t delta, int64_t *sum) {
    uint32_t ref;
    int rc = begin_write(space, key);
    if (rc) return rc;
    struct once_mark *once = space->once;
    space->once = NULL; /* of the sum, not of what an overlay brings up */
    rc = api_lock_for_update(space, key, true, &ref);
    space->once = once;
    if (!rc) rc = api_incr_locked(space, ref, delta, sum);
    return ends(space, rc, key);
}

/* ---- containers ---- */

/* Puts an empty container with that shape in place of value and members. */
static int set_container(kvspace *space, const char *key, const struct shape *shape) {
    char stage[64] = "";
    uint32_t staged;
    int rc = tree_stage(space, stage);
    if (!rc) rc = api_set_shape(space, stage, shape);
    if (!rc) rc = tree_lock_key(space, stage, false, &staged);
    if (rc) return rc;
    mem_unlock(space, &tree_node(space, staged)->lock);
    return api_adopt(space, key, stage, staged);
}

int kvspace_mkindex(kvspace *space, const char *key, const char *type) {
    struct kvspace_value value = {.store = KVSPACE_INDEX, .type = type};
    const char *why = "";
    struct shape shape;
    int rc = begin_write(space, key);
    if (rc) return rc;
    rc = shape_of(&value, false, &shape, &why);
    if (!rc && shape.store != KVSPACE_INDEX) {
        rc = KVSPACE_ETYPE;
        why = "not the type of a container";
    }
    if (rc) {
        space_end(space);
        return space_error(space, rc, key, "%s: %.100s", why, type);
    }
    rc = check_place(space, key);
    if (!rc) rc = set_container(space, key, &shape);
    return ends(space, rc, key);
}

/* Follows overlays from `base` down: ELIMIT if there are too many, EUSAGE if they lead to `overlay`. */
static int check_overlay_chain(kvspace *space, const char *overlay, const char *base) {
    struct kvspace_value value;
    char below[KVSPACE_KEY_MAX + 1];
    memcpy(below, base, strlen(base) + 1);
    for (unsigned depth = 1; depth < OVERLAY_DEPTH_MAX; depth++) {
        if (path_is_within(below, overlay) || path_is_within(overlay, below)) return KVSPACE_EUSAGE;
        space->read_depth++;
        int rc = api_get(space, below, &value);
        space->read_depth--;
        if (rc) return rc;
        if (value.store != KVSPACE_EXTINDEX) return value.store == KVSPACE_INDEX ? 0 : KVSPACE_ENOENT;
        if (value.body_bytes > KVSPACE_KEY_MAX) return KVSPACE_EDAMAGED;
        memcpy(below, value.body, (size_t)value.body_bytes);
        below[value.body_bytes] = 0;
    }
    return KVSPACE_ELIMIT;
}

int kvspace_extindex(kvspace *space, const char *key, const char *base) {
    struct kvspace_value value;
    const char *why = NULL;
    struct shape shape;
    int rc = check_apart(space, key, base);
    if (!rc) rc = begin_write(space, key);
    if (rc) return rc;
    rc = check_place(space, key);
    if (!rc) rc = check_overlay_chain(space, key, base);
    space->read_depth++;
    if (!rc) rc = api_get(space, base, &value);
    space->read_depth--;
    value.ro = 0;
    value.owner = 0;
    value.store = KVSPACE_EXTINDEX;
    value.body = base;
    value.body_bytes = strlen(base);
    if (!rc) rc = shape_of(&value, false, &shape, &why);
    if (!rc) rc = set_container(space, key, &shape);
    return ends(space, rc, key);
}

int kvspace_rmindexext(kvspace *space, const char *key) {
    struct kvspace_value value;
    static const struct shape none = {.is_none = 1};
    int rc = kvspace_get(space, key, &value);
    if (rc) return rc;
    if (value.store != KVSPACE_EXTINDEX) return space_error(space, KVSPACE_ETYPE, key, "not an overlay");
    rc = begin_write(space, key);
    if (rc) return rc;
    rc = api_set_shape(space, key, &none);
    return ends(space, rc, key);
}

int kvspace_notify(kvspace *space, const char *key) {
    uint32_t ref;
    int rc = begin_write(space, key);
    if (rc) return rc;
    rc = tree_lock_key(space, key, false, &ref);
    if (!rc) {
        node_touch(tree_node(space, ref));
        mem_unlock(space, &tree_node(space, ref)->lock);
        tree_wake(space, ref);
    }
    return ends(space, rc, key);
}
