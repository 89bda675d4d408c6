/* Slots: a key found once, then read and written by its node's address (kvspace.h). The memory of nodes is only ever used for
 * nodes and keeps its generation, so a slot may look at it without a read section and sees by the generation whether it is
 * still the one that was found. Relies on node.h, cell.h. Promises: the scalar reads are a load of ver, of the cell, of ver. */
#include "kvspace/api.h"
#include "kvspace/cell.h"
#include "kvspace/kinds.h"

#include <string.h>

int kvspace_slot_open(kvspace *space, const char *key, enum kvspace_slot_mode mode, struct kvspace_slot *slot) {
    struct tree_walk walk;
    uint32_t ref;
    *slot = (struct kvspace_slot){.space = space};
    if (mode == KVSPACE_SLOT_CREATE && space->is_read_only) return space_error(space, KVSPACE_EREADONLY, key, "this handle is read-only");
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, key, NULL);
    rc = tree_walk(space, key, &walk);
    if (!rc && *walk.at && walk.special_tag == NODE_TAG_PROVIDER) rc = KVSPACE_EUNSUPPORTED;
    bool brought_up = walk.special_tag == NODE_TAG_OVERLAY && *walk.special_at && mode == KVSPACE_SLOT_CREATE;
    if (!rc && brought_up) rc = api_lock_for_update(space, key, true, &ref);
    else if (!rc) rc = tree_lock_key(space, key, mode == KVSPACE_SLOT_CREATE, &ref);
    if (!rc) {
        struct node *node = tree_node(space, ref);
        slot->node = node;
        slot->birth = node_birth(node_ver(node));
        mem_unlock(space, &node->lock);
    }
    space_end(space);
    return rc && rc != KVSPACE_EKEY ? space_error(space, rc, key, NULL) : rc;
}

void kvspace_slot_close(struct kvspace_slot *slot) { *slot = (struct kvspace_slot){.space = NULL}; }

static inline int read_scalar(const struct kvspace_slot *slot, unsigned kind, uint64_t *payload) {
    const struct node *node = slot->node;
    struct cell_value cell;
    if (!node) return KVSPACE_EUSAGE;
    uint64_t ver = node_get(node, &cell);
    if (node_birth(ver) != slot->birth) return KVSPACE_EGONE;
    if (cell_value_tag(cell) != kind) {
        bool none = cell_value_tag(cell) == NODE_TAG_NONE || cell_value_tag(cell) == NODE_TAG_HIDDEN;
        return none ? KVSPACE_ENOENT : KVSPACE_ETYPE;
    }
    *payload = cell.payload;
    return 0;
}

int kvspace_slot_get_i64(const struct kvspace_slot *slot, int64_t *number) {
    uint64_t payload;
    int rc = read_scalar(slot, KIND_INT64, &payload);
    if (!rc) *number = (int64_t)payload;
    return rc;
}

int kvspace_slot_get_f64(const struct kvspace_slot *slot, double *number) {
    uint64_t payload;
    int rc = read_scalar(slot, KIND_FLOAT64, &payload);
    if (!rc) memcpy(number, &payload, 8);
    return rc;
}

int kvspace_slot_get(const struct kvspace_slot *slot, struct kvspace_value *out) {
    kvspace *space = slot->space;
    const struct node *node = slot->node;
    uint64_t ver;
    *out = (struct kvspace_value){0};
    if (!node) return KVSPACE_EUSAGE;
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, NULL, NULL);
    /* Alive inside the epoch, so what the cell refers to stays; of the dead not even the cell may be followed. */
    ver = node_ver(node);
    if (node_birth(ver) == slot->birth) rc = cell_lend_node(space, node, out, &ver);
    if (node_birth(ver) != slot->birth) {
        *out = (struct kvspace_value){0};
        rc = KVSPACE_EGONE;
    } else out->version = tree_version(arena_ref(&space->arena, node), ver);
    space_end(space);
    return rc ? space_error(space, rc, NULL, NULL) : 0;
}

/* Locks the slot's node; it is live then. */
static int lock(const struct kvspace_slot *slot, uint32_t *ref) {
    struct node *node = slot->node;
    kvspace *space = slot->space;
    if (!node) return KVSPACE_EUSAGE;
    if (space->is_read_only) return KVSPACE_EREADONLY;
    if (node_birth(node_ver(node)) != slot->birth) return KVSPACE_EGONE;
    mem_lock(space, &node->lock);
    *ref = arena_ref(&space->arena, node);
    int rc = node_birth(node_ver(node)) == slot->birth ? tree_may_write(space, node) : KVSPACE_EGONE;
    if (rc) mem_unlock(space, &node->lock);
    return rc;
}

static int set_scalar(const struct kvspace_slot *slot, unsigned kind, uint64_t payload) {
    kvspace *space = slot->space;
    struct tree_value value = {.cell = {(uint64_t)(space ? space->owner : 0) << 32 | kind, payload}};
    uint32_t ref;
    if (!space) return KVSPACE_EUSAGE;
    int rc = space_begin(space);
    if (rc) return rc;
    rc = lock(slot, &ref);
    if (!rc) rc = tree_put(space, ref, &value);
    space_end(space);
    return rc;
}

int kvspace_slot_set_i64(const struct kvspace_slot *slot, int64_t number) { return set_scalar(slot, KIND_INT64, (uint64_t)number); }

int kvspace_slot_set_f64(const struct kvspace_slot *slot, double number) {
    uint64_t payload;
    memcpy(&payload, &number, 8);
    return set_scalar(slot, KIND_FLOAT64, payload);
}

int kvspace_slot_set(const struct kvspace_slot *slot, const struct kvspace_value *in) {
    kvspace *space = slot->space;
    const char *why = NULL;
    struct shape shape;
    struct tree_value value;
    uint32_t ref;
    if (!space) return KVSPACE_EUSAGE;
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, NULL, NULL);
    rc = shape_of(in, false, &shape, &why);
    if (rc) {
        space_end(space);
        return space_error(space, rc, NULL, "%s", why);
    }
    if (!shape.is_none && !shape.body) shape.body = "";
    rc = cell_make(space, &shape, &value);
    if (!rc) {
        rc = lock(slot, &ref);
        if (!rc) rc = tree_put(space, ref, &value);
        else cell_discard(space, &value);
    }
    space_end(space);
    return rc ? space_error(space, rc, NULL, NULL) : 0;
}

int kvspace_slot_incr(const struct kvspace_slot *slot, int64_t delta, int64_t *sum) {
    uint32_t ref;
    if (!slot->space) return KVSPACE_EUSAGE;
    int rc = space_begin(slot->space);
    if (rc) return rc;
    rc = lock(slot, &ref);
    if (!rc) rc = api_incr_locked(slot->space, ref, delta, sum);
    space_end(slot->space);
    return rc ? space_error(slot->space, rc, NULL, NULL) : 0;
}
