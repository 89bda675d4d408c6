/* Walking, inserting and setting (tree.h). Deletion and recovery are in tree_reap.c, moving and copying in tree_move.c.
 * Relies on table.h, step.h, cell.h. Promises: as tree.h; the remarks `killed here` say what a successor finds. */
#include "kvspace/tree.h"

#include "kvspace/cell.h"
#include "kvspace/fault.h"
#include "kvspace/step.h"
#include "kvspace/table.h"
#include "kvspace/tree_parts.h"

#include <string.h>

struct node *tree_node(const kvspace *space, uint32_t node) { return node_at(&space->arena, node); }

uint64_t tree_version(uint32_t node, uint64_t ver) {
    uint64_t mixed = (ver + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)node << 20;
    mixed ^= mixed >> 31;
    return mixed ? mixed : 1;
}

/* ---- walking ---- */

static int walk_rest(const kvspace *space, const char *key, const char *at) {
    struct path_step step;
    const char *why = NULL;
    while (at && *at) at = path_next(at, &step, &why);
    if (at && at - key <= KVSPACE_KEY_MAX) return 0;
    return space_error(space, KVSPACE_EKEY, key, "%s", at ? "a key is longer than 4096 bytes" : why);
}

/* What a node's value says about what is below it. */
static void note_special(const struct node *node, const char *next, struct tree_walk *walk) {
    struct cell_value cell;
    node_get(node, &cell);
    unsigned tag = cell_value_tag(cell);
    if (tag == NODE_TAG_PROVIDER || tag == NODE_TAG_OVERLAY) {
        walk->special = walk->node;
        walk->special_tag = (uint8_t)tag;
        walk->special_at = next;
        walk->hides_base = 0;
    }
    if (tag == NODE_TAG_HIDDEN || cell.head & NODE_FLAG_OPAQUE) walk->hides_base = 1;
}

/* Either cell may say so; which one is current is asked only then. */
static inline bool may_be_special(const struct node *node) {
    uint64_t one = atomic_load_explicit(&node->cell[0].head, memory_order_relaxed);
    uint64_t two = atomic_load_explicit(&node->cell[1].head, memory_order_relaxed);
    return (one & 0xff) > NODE_TAG_BLOCK || (two & 0xff) > NODE_TAG_BLOCK || ((one | two) & NODE_FLAG_OPAQUE);
}

/* The live child that a walk comes to; 0: there is none. A child that is found dying or moved is looked for once more, since a move
 * puts the new one in the old one's place first. */
static uint32_t live_child(const kvspace *space, const struct node *node, const struct tree_walk *walk, const struct path_step *step,
                           bool *damaged) {
    const _Atomic uint32_t *place = step->kind == KVSPACE_STEP_MEMBER ? &node->members : &node->kids;
    for (uint32_t before = 0;;) {
        /* Acquire: pairs with the publication of a rebuilt table. */
        uint32_t child = table_find(space, atomic_load_explicit(place, memory_order_acquire), step, NULL, damaged);
        if (!child || child == before) return 0;
        const struct node *below = node_at(&space->arena, child);
        /* The parent's reference is compared because the memory of a child whose insertion was undone is free at once. */
        if (below && node_is_live(below) && atomic_load_explicit(&below->parent, memory_order_relaxed) == walk->node) return child;
        before = child;
    }
}

int tree_walk(kvspace *space, const char *key, struct tree_walk *walk) {
    struct path_step step;
    const char *why = NULL, *const begin = key ? path_begin(key) : NULL, *at = begin;
    bool damaged = false;
    *walk = (struct tree_walk){.node = space->root, .at = at};
    if (!at) return space_error(space, KVSPACE_EKEY, key ? key : "", "a key begins with /");
    while (*at) {
        const char *next = path_next(at, &step, &why);
        if (!next) return space_error(space, KVSPACE_EKEY, key, "%s", why);
        struct node *node = node_at(&space->arena, walk->node);
        if (!node) return space_error(space, KVSPACE_EDAMAGED, key, "a node lies outside of the space");
        uint32_t child = live_child(space, node, walk, &step, &damaged);
        if (damaged) return space_error(space, KVSPACE_EDAMAGED, key, "a table of children is damaged");
        if (!child && walk->node != space->root && !node_is_live(node)) { /* what a dying node had below is gone, but another may have taken its place */
            *walk = (struct tree_walk){.node = space->root, .at = begin};
            at = begin;
            continue;
        }
        if (!child) return walk_rest(space, key, at);
        const struct node *below = node_at(&space->arena, child);
        walk->parent = walk->node;
        walk->node = child;
        walk->at = at = next;
        if (may_be_special(below)) note_special(below, next, walk);
    }
    if (at - key > KVSPACE_KEY_MAX) return space_error(space, KVSPACE_EKEY, key, "a key is longer than 4096 bytes");
    return 0;
}

/* ---- watching ---- */

void tree_wake(kvspace *space, uint32_t node) {
    _Atomic uint32_t *word = &mem_header(space)->watch[node / 4 % WATCH_WORDS];
    /* The change is visible before the word is read; a waiter sets bit 0 before it reads the value. Bit 0 goes with every
     * wake, so what a waiter that died left costs one wake and no more. */
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t seen = atomic_load_explicit(word, memory_order_relaxed);
    while (seen & 1)
        if (atomic_compare_exchange_weak_explicit(word, &seen, seen + 1, memory_order_seq_cst, memory_order_relaxed)) {
            platform_wake(word, INT32_MAX);
            return;
        }
}

/* ---- inserting ---- */

_Atomic uint32_t *tree_table_of(struct node *node, bool member) { return member ? &node->members : &node->kids; }

int tree_make_room(kvspace *space, struct node *parent, bool member) {
    _Atomic uint32_t *place = tree_table_of(parent, member);
    uint32_t old = atomic_load_explicit(place, memory_order_relaxed), made;
    struct table *table = old ? table_at(&space->arena, old) : NULL;
    if (old && !table) return KVSPACE_EDAMAGED;
    if (table && table_has_room(table)) return 0;
    int rc = table_rebuild(space, old, 1, &made);
    if (rc) return rc;
    intent_word(&space->arena, 0, arena_ref(&space->arena, parent));
    intent_word(&space->arena, 1, member);
    intent_word(&space->arena, 2, made);
    if (old) alloc_stale(&space->arena, old);
    FAULT_STEP(); /* killed: no intent, recovery gives the new table back */
    intent_begin(&space->arena, TREE_INTENT_REBUILD);
    FAULT_STEP(); /* killed: the old table stands, recovery gives the new one back */
    atomic_store_explicit(place, made, memory_order_release);
    FAULT_STEP(); /* killed: the new table stands, recovery retires the old one */
    mem_keep(space, made);
    alloc_retire_stale(&space->arena);
    intent_end(&space->arena);
    return 0;
}

/* A node in fresh memory. Its lock and its generation are those of the memory: a slot of a node that stood here before may be looking. */
static void node_init(struct node *node, uint32_t parent, uint32_t step, uint32_t order, struct cell_value cell) {
    uint64_t ver = atomic_load_explicit(&node->ver, memory_order_relaxed) & ~NODE_LIVE;
    atomic_store_explicit(&node->cell[ver & 1].head, cell.head, memory_order_relaxed);
    atomic_store_explicit(&node->cell[ver & 1].payload, cell.payload, memory_order_relaxed);
    atomic_store_explicit(&node->step, step, memory_order_relaxed);
    atomic_store_explicit(&node->parent, parent, memory_order_relaxed);
    atomic_store_explicit(&node->kids, 0, memory_order_relaxed);
    atomic_store_explicit(&node->members, 0, memory_order_relaxed);
    atomic_store_explicit(&node->order, order, memory_order_relaxed);
    atomic_store_explicit(&node->ver, ver, memory_order_release);
}

static int insert_locked(kvspace *space, uint32_t parent_ref, struct node *parent, const struct path_step *step,
                         const struct tree_value *value, uint32_t *child) {
    bool member = step->kind == KVSPACE_STEP_MEMBER;
    uint32_t name = 0, ref;
    int rc = tree_make_room(space, parent, member);
    if (!rc) rc = alloc_take_node(&space->arena, &ref);
    if (rc) return rc;
    struct node *node = node_at(&space->arena, ref);
    rc = node ? step_intern(space, step->name, step->bytes, step->hash, member ? STEP_OF_MEMBER : STEP_OF_CHILD, &name)
              : KVSPACE_EDAMAGED;
    if (rc) {
        mem_give(space, ref);
        return rc;
    }
    struct table *table = table_at(&space->arena, atomic_load_explicit(tree_table_of(parent, member), memory_order_relaxed));
    node_init(node, parent_ref, name, table->next++, value->cell);
    intent_word(&space->arena, 0, parent_ref);
    intent_word(&space->arena, 1, ref);
    intent_word(&space->arena, 2, member);
    FAULT_STEP(); /* killed: no intent, recovery gives node and block back; the name keeps a use too many */
    intent_begin(&space->arena, TREE_INTENT_INSERT);
    FAULT_STEP(); /* killed from here on: recovery removes the entry and gives node and block back */
    table_append(table, step->hash, ref);
    FAULT_STEP();
    /* the commit; killed behind it: recovery finds a live child and leaves it */
    atomic_store_explicit(&node->ver, atomic_load_explicit(&node->ver, memory_order_relaxed) | NODE_LIVE, memory_order_release);
    FAULT_STEP();
    mem_keep(space, ref);
    if (value->block) mem_keep(space, value->block);
    intent_end(&space->arena);
    node_touch(parent);
    *child = ref;
    return 0;
}

int tree_insert(kvspace *space, uint32_t parent_ref, const struct path_step *step, const struct tree_value *value,
                uint32_t *child, bool *is_new) {
    struct node *parent = node_at(&space->arena, parent_ref);
    bool damaged = false;
    if (!parent) return KVSPACE_EDAMAGED;
    int rc = 0;
    mem_lock(space, &parent->lock);
    *is_new = false;
    if (!node_is_live(parent)) {
        mem_unlock(space, &parent->lock);
        return KVSPACE_EAGAIN;
    }
    uint32_t table = atomic_load_explicit(tree_table_of(parent, step->kind == KVSPACE_STEP_MEMBER), memory_order_relaxed);
    *child = table_find(space, table, step, NULL, &damaged);
    if (damaged) rc = KVSPACE_EDAMAGED;
    else if (!*child) {
        rc = insert_locked(space, parent_ref, parent, step, value, child);
        *is_new = rc == 0;
    }
    mem_unlock(space, &parent->lock);
    if (*is_new) tree_wake(space, parent_ref);
    return rc;
}

/* Makes what is missing of the key, the last step with the value. *made says whether the last one is new (and has it). */
static int make_missing(kvspace *space, struct tree_walk *walk, const struct tree_value *value, bool *made) {
    static const struct tree_value none = {.block = 0};
    struct path_step step;
    *made = false;
    while (*walk->at) {
        const char *next = path_next(walk->at, &step, NULL);
        uint32_t child;
        bool last = !*next;
        int rc = tree_insert(space, walk->node, &step, last ? value : &none, &child, made);
        if (rc) return rc;
        walk->parent = walk->node;
        walk->node = child;
        walk->at = next;
        if (last) return 0;
    }
    return 0;
}

int tree_lock_key(kvspace *space, const char *key, bool create, uint32_t *node_ref) {
    static const struct tree_value none = {.block = 0};
    for (;;) {
        struct tree_walk walk;
        bool made;
        int rc = tree_walk(space, key, &walk);
        if (rc) return rc;
        assert(walk.at);
        if (*walk.at && !create) return KVSPACE_ENOENT;
        if (*walk.at) rc = make_missing(space, &walk, &none, &made);
        if (rc == KVSPACE_EAGAIN) continue;
        if (rc) return rc;
        struct node *node = node_at(&space->arena, walk.node);
        if (!node) return KVSPACE_EDAMAGED;
        mem_lock(space, &node->lock);
        *node_ref = walk.node;
        if (node_is_live(node)) return 0;
        mem_unlock(space, &node->lock);
    }
}

/* ---- setting ---- */

static bool holds_container(const kvspace *space, struct cell_value cell) {
    return cell_value_is_block(cell) && cell_is_container(space, cell);
}

/* The exchange of two scalars needs no intent: one store is all of it. */
static void put_scalar(kvspace *space, uint32_t ref, struct node *node, struct cell_value cell) {
    node_put(node, cell);
    mem_unlock(space, &node->lock);
    tree_wake(space, ref);
}

int tree_put(kvspace *space, uint32_t ref, const struct tree_value *value) {
    struct node *node = node_at(&space->arena, ref);
    struct cell_value old;
    uint64_t ver = node_get(node, &old);
    struct cell_value cell = value->cell;
    if (cell_value_tag(old) == NODE_TAG_HIDDEN) cell.head |= NODE_FLAG_OPAQUE; /* what the base has below stays deleted */
    cell.head |= old.head & NODE_FLAG_OPAQUE;
    if (!value->block && !cell_value_is_block(old) && !space->once && !(value->cell.head & NODE_FLAG_OPAQUE)) {
        put_scalar(space, ref, node, cell);
        return 0;
    }
    uint32_t members = atomic_load_explicit(&node->members, memory_order_relaxed);
    /* A value that is opaque by itself is set over a container that an overlay shows. */
    bool detach = members && !value->is_container && (holds_container(space, old) || value->cell.head & NODE_FLAG_OPAQUE);
    intent_word(&space->arena, 0, ref);
    intent_word(&space->arena, 1, node_ver_after(ver, 1));
    intent_word(&space->arena, 2, detach ? members : 0);
    intent_word(&space->arena, 3, space->once ? (uint64_t)((unsigned char *)space->once - space->arena.base) : 0);
    intent_word(&space->arena, TREE_WORD_LIST, 0);
    intent_word(&space->arena, TREE_WORD_POP, 0);
    if (cell_value_is_block(old)) block_drop_later(&space->arena, (uint32_t)old.payload);
    FAULT_STEP(); /* killed: no intent, recovery gives the new block back */
    intent_begin(&space->arena, TREE_INTENT_SET);
    FAULT_STEP(); /* killed: ver tells recovery that the old value stands */
    node_put(node, cell);
    FAULT_STEP();
    if (space->once) atomic_store_explicit(&space->once->done, 1, memory_order_release);
    space->once = NULL;
    FAULT_STEP(); /* killed from here on: recovery keeps the new block, drops the old one, detaches the members */
    if (detach) atomic_store_explicit(&node->members, 0, memory_order_release);
    if (value->block) mem_keep(space, value->block);
    block_drop_named(&space->arena);
    if (detach) intent_begin(&space->arena, TREE_INTENT_DETACH); /* killed behind it: recovery goes on reaping */
    else intent_end(&space->arena);
    mem_unlock(space, &node->lock);
    tree_wake(space, ref);
    if (detach) tree_reap_detached(space);
    return 0;
}

/* Whether a value may be written over; the lock is held. */
int tree_may_write(const kvspace *space, const struct node *node) {
    struct cell_value cell;
    (void)space;
    node_get(node, &cell);
    return cell.head & NODE_FLAG_RO ? KVSPACE_EREADONLY : 0;
}

/* One try from where a walk has ended. EAGAIN: the node has been deleted, walk again. */
static int set_once(kvspace *space, struct tree_walk *walk, const struct tree_value *value) {
    bool made = false;
    assert(walk->at);
    int rc = *walk->at ? make_missing(space, walk, value, &made) : 0;
    if (rc && rc != KVSPACE_EAGAIN) tree_prune(space, walk->node); /* parents that were made for nothing */
    if (rc || made) return rc;
    struct node *node = node_at(&space->arena, walk->node);
    if (!node) return KVSPACE_EDAMAGED;
    mem_lock(space, &node->lock);
    rc = node_is_live(node) ? tree_may_write(space, node) : KVSPACE_EAGAIN;
    if (!rc) return tree_put(space, walk->node, value);
    mem_unlock(space, &node->lock);
    return rc;
}

int tree_set_at(kvspace *space, const char *key, struct tree_walk *walk, const struct tree_value *value) {
    int rc;
    while ((rc = set_once(space, walk, value)) == KVSPACE_EAGAIN)
        if ((rc = tree_walk(space, key, walk))) return rc;
    return rc;
}

int tree_set(kvspace *space, const char *key, const struct tree_value *value) {
    struct tree_walk walk;
    int rc = tree_walk(space, key, &walk);
    return rc ? rc : tree_set_at(space, key, &walk, value);
}
