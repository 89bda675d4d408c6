/* Deleting subtrees, and bringing the operations of dead participants to an end (tree.h).
 *
 * A deleted node is marked dead and unlinked from its parent; then it is the head of a list (through `order`) that the intent
 * holds. Reaping takes the head, puts its children behind it, and frees it; whoever dies leaves a list with which the next goes
 * on. No recursion, no memory needed. Relies on table.h, step.h, alloc.h. */
#include "kvspace/cell.h"
#include "kvspace/fault.h"
#include "kvspace/step.h"
#include "kvspace/table.h"
#include "kvspace/tree_parts.h"

void tree_mark_dead(struct node *node) {
    uint64_t ver = atomic_load_explicit(&node->ver, memory_order_relaxed);
    if (ver & NODE_LIVE) atomic_store_explicit(&node->ver, (ver & ~NODE_LIVE) + NODE_GENERATION, memory_order_release);
}

static uint32_t next_of(const struct node *node) { return atomic_load_explicit(&node->order, memory_order_relaxed); }
static void set_next(struct node *node, uint32_t next) { atomic_store_explicit(&node->order, next, memory_order_relaxed); }

/* Marks a child dead, waiting for writers inside it to be done. */
static void bury(kvspace *space, uint32_t ref, struct node *node) {
    mem_lock(space, &node->lock);
    tree_mark_dead(node);
    mem_unlock(space, &node->lock);
    tree_wake(space, ref);
}

/* Puts what the table still holds behind the list's first node. Killed anywhere: done again; a child that is in the list
 * already is its second node, since its entry is emptied before the next one is put there. */
static void children_into_list(kvspace *space, struct node *head, uint32_t table_ref) {
    struct table *table = table_at(&space->arena, table_ref);
    if (!table) return; /* damage: what hangs below is left to check --repair */
    uint32_t used = atomic_load_explicit(&table->used, memory_order_relaxed);
    for (uint32_t at = 0; at < used && at < table->cap; at++) {
        uint32_t ref = atomic_load_explicit(&table->entry[at].node, memory_order_relaxed);
        struct node *child = ref ? node_at(&space->arena, ref) : NULL;
        if (!child) continue;
        if (next_of(head) != ref) {
            bury(space, ref, child);
            set_next(child, next_of(head));
            FAULT_STEP();
            set_next(head, ref);
        }
        FAULT_STEP();
        atomic_store_explicit(&table->entry[at].node, 0, memory_order_release);
    }
}

/* Frees the head of the list, whose children are in the list. */
static void pop(kvspace *space, uint32_t ref, struct node *node) {
    struct arena *arena = &space->arena;
    struct cell_value cell;
    uint32_t kids = atomic_load_explicit(&node->kids, memory_order_relaxed);
    uint32_t members = atomic_load_explicit(&node->members, memory_order_relaxed);
    uint32_t name = atomic_exchange_explicit(&node->step, 0, memory_order_relaxed);
    step_drop(space, name); /* killed in the middle: a use too many */
    node_get(node, &cell);
    intent_word(arena, TREE_WORD_POP, ref);
    alloc_stale(arena, ref);
    if (kids) alloc_stale(arena, kids);
    if (members) alloc_stale(arena, members);
    if (cell_value_is_block(cell)) block_drop_later(arena, (uint32_t)cell.payload);
    FAULT_STEP(); /* killed: POP is still the head, recovery forgets the names and takes the head again */
    intent_word(arena, TREE_WORD_LIST, next_of(node));
    FAULT_STEP(); /* killed from here on: recovery retires what was named */
    alloc_retire_stale(arena);
    block_drop_named(arena);
}

uint64_t tree_reap(kvspace *space) {
    uint64_t values = 0;
    uint32_t count = 0;
    for (;;) {
        uint32_t ref = tree_word(space->arena.self, TREE_WORD_LIST);
        struct node *node = ref ? node_at(&space->arena, ref) : NULL;
        struct cell_value cell;
        if (!node) break;
        node_get(node, &cell);
        values += cell_value_tag(cell) != NODE_TAG_NONE;
        uint32_t kids = atomic_load_explicit(&node->kids, memory_order_acquire);
        uint32_t members = atomic_load_explicit(&node->members, memory_order_acquire);
        if (kids) children_into_list(space, node, kids);
        if (members) children_into_list(space, node, members);
        pop(space, ref, node);
        if (++count % 256 == 0 && space->arena.section_depth == 1) party_refresh(&space->arena);
    }
    intent_end(&space->arena);
    return values;
}

void tree_reap_detached(kvspace *space) {
    struct party_slot *self = space->arena.self;
    uint32_t table_ref = tree_word(self, 2);
    struct table *table = table_ref ? table_at(&space->arena, table_ref) : NULL;
    uint32_t used = table ? atomic_load_explicit(&table->used, memory_order_relaxed) : 0;
    for (uint32_t at = 0; table && at < used && at < table->cap; at++) {
        uint32_t ref = atomic_load_explicit(&table->entry[at].node, memory_order_relaxed), head = tree_word(self, TREE_WORD_LIST);
        struct node *child = ref ? node_at(&space->arena, ref) : NULL;
        if (!child) continue;
        if (head != ref) {
            bury(space, ref, child);
            set_next(child, head);
            FAULT_STEP();
            intent_word(&space->arena, TREE_WORD_LIST, ref);
        }
        FAULT_STEP();
        atomic_store_explicit(&table->entry[at].node, 0, memory_order_release);
    }
    intent_word(&space->arena, 2, 0);
    /* killed here: the table is nobody's until check --repair */
    if (table_ref) mem_retire(space, table_ref);
    intent_begin(&space->arena, TREE_INTENT_REAP);
    tree_reap(space);
}

/* ---- deleting ---- */

static bool is_child_of(const struct node *child, uint32_t parent) {
    return node_is_live(child) && atomic_load_explicit(&child->parent, memory_order_relaxed) == parent;
}

static bool member_of(const kvspace *space, const struct node *node, uint32_t *hash) {
    const struct step *step = step_at(&space->arena, atomic_load_explicit(&node->step, memory_order_relaxed));
    *hash = step ? step->hash : 0;
    return step && step->kind == STEP_OF_MEMBER;
}

/* Takes the dead child out of its parent's table. Idempotent. */
static void unlink_child(kvspace *space, struct node *parent, uint32_t child, bool member, uint32_t hash) {
    struct table *table = table_at(&space->arena, atomic_load_explicit(tree_table_of(parent, member), memory_order_relaxed));
    uint32_t at = table ? table_position(table, hash, child) : TABLE_NOWHERE;
    if (at != TABLE_NOWHERE) table_remove(table, at);
}

/* Both nodes are locked, the child is live; gives the locks back, then frees the subtree. */
static uint64_t delete_locked(kvspace *space, uint32_t parent_ref, struct node *parent, uint32_t ref, struct node *node) {
    struct arena *arena = &space->arena;
    uint32_t hash;
    bool member = member_of(space, node, &hash);
    intent_word(arena, 0, parent_ref);
    intent_word(arena, 1, ref);
    intent_word(arena, 2, member);
    intent_word(arena, 3, hash);
    intent_word(arena, TREE_WORD_LIST, ref);
    intent_word(arena, TREE_WORD_POP, 0);
    intent_begin(arena, TREE_INTENT_DELETE);
    FAULT_STEP(); /* killed: the child is live, recovery forgets the intent */
    tree_mark_dead(node);
    FAULT_STEP(); /* killed from here on: recovery unlinks and reaps */
    set_next(node, 0);
    unlink_child(space, parent, ref, member, hash);
    FAULT_STEP();
    intent_begin(arena, TREE_INTENT_REAP);
    node_touch(parent);
    mem_unlock(space, &node->lock);
    mem_unlock(space, &parent->lock);
    tree_wake(space, ref);
    tree_wake(space, parent_ref);
    return tree_reap(space);
}

int tree_delete(kvspace *space, uint32_t parent_ref, uint32_t ref, uint64_t *values) {
    struct node *parent = node_at(&space->arena, parent_ref), *node = node_at(&space->arena, ref);
    if (!parent || !node) return KVSPACE_EDAMAGED;
    mem_lock(space, &parent->lock);
    mem_lock(space, &node->lock);
    if (!node_is_live(parent) || !is_child_of(node, parent_ref)) {
        mem_unlock(space, &node->lock);
        mem_unlock(space, &parent->lock);
        return KVSPACE_EAGAIN;
    }
    uint64_t gone = delete_locked(space, parent_ref, parent, ref, node);
    if (values) *values += gone;
    tree_prune(space, parent_ref);
    return 0;
}

static bool is_empty(const kvspace *space, const struct node *node) {
    struct cell_value cell;
    node_get(node, &cell);
    return cell_value_tag(cell) == NODE_TAG_NONE && !(cell.head & NODE_FLAG_OPAQUE) && !table_live(space, atomic_load_explicit(&node->kids, memory_order_acquire)) &&
           !table_live(space, atomic_load_explicit(&node->members, memory_order_acquire));
}

/* One node, if it is empty. Gives its parent, 0 when the ascent is over. */
static uint32_t prune_one(kvspace *space, uint32_t ref) {
    struct node *node = node_at(&space->arena, ref);
    if (ref == space->root || !node || !node_is_live(node) || !is_empty(space, node)) return 0;
    uint32_t parent_ref = atomic_load_explicit(&node->parent, memory_order_relaxed);
    struct node *parent = node_at(&space->arena, parent_ref);
    if (!parent) return 0;
    mem_lock(space, &parent->lock);
    mem_lock(space, &node->lock);
    if (node_is_live(parent) && is_child_of(node, parent_ref) && is_empty(space, node)) {
        delete_locked(space, parent_ref, parent, ref, node);
        return parent_ref;
    }
    mem_unlock(space, &node->lock);
    mem_unlock(space, &parent->lock);
    return 0;
}

void tree_prune(kvspace *space, uint32_t node) {
    while (node) node = prune_one(space, node);
}

/* ---- recovery ---- */

static enum party_outcome settle_insert(kvspace *space, struct party_slot *dead) {
    struct node *parent = node_at(&space->arena, tree_word(dead, 0)), *child = node_at(&space->arena, tree_word(dead, 1));
    bool member = tree_word(dead, 2);
    if (!parent || !child) return OUTCOME_UNDONE;
    uint32_t table_ref = atomic_load_explicit(tree_table_of(parent, member), memory_order_relaxed);
    struct table *table = table_ref ? table_at(&space->arena, table_ref) : NULL;
    enum party_outcome outcome = node_is_live(child) ? OUTCOME_DONE : OUTCOME_UNDONE;
    if (!table) return outcome;
    uint32_t hash, at;
    member_of(space, child, &hash);
    if (outcome == OUTCOME_UNDONE && (at = table_position(table, hash, tree_word(dead, 1))) != TABLE_NOWHERE)
        table_remove(table, at);
    table_recount(table);
    return outcome;
}

static enum party_outcome settle_delete(kvspace *space, struct party_slot *dead) {
    struct node *parent = node_at(&space->arena, tree_word(dead, 0)), *child = node_at(&space->arena, tree_word(dead, 1));
    bool member = tree_word(dead, 2);
    if (!parent || !child || node_is_live(child)) return OUTCOME_UNDONE;
    set_next(child, 0);
    unlink_child(space, parent, tree_word(dead, 1), member, tree_word(dead, 3));
    uint32_t table_ref = atomic_load_explicit(tree_table_of(parent, member), memory_order_relaxed);
    struct table *table = table_ref ? table_at(&space->arena, table_ref) : NULL;
    if (table) table_recount(table);
    atomic_store_explicit(&dead->intent.kind, TREE_INTENT_REAP, memory_order_release);
    return OUTCOME_DONE;
}

static enum party_outcome settle_set(kvspace *space, struct party_slot *dead) {
    struct node *node = node_at(&space->arena, tree_word(dead, 0));
    uint32_t members = tree_word(dead, 2);
    uint64_t mark_at = tree_word64(dead, 3);
    if (!node || node_ver(node) != tree_word64(dead, 1)) return OUTCOME_UNDONE;
    struct once_mark *mark = mark_at % FORMAT_UNIT || mark_at / FORMAT_UNIT > UINT32_MAX
                                 ? NULL : arena_at(&space->arena, (uint32_t)(mark_at / FORMAT_UNIT), sizeof *mark);
    if (mark_at && mark) atomic_store_explicit(&mark->done, 1, memory_order_release);
    if (members && atomic_load_explicit(&node->members, memory_order_relaxed) == members)
        atomic_store_explicit(&node->members, 0, memory_order_release);
    return OUTCOME_DONE;
}

enum party_outcome tree_settle(struct arena *arena, struct party_slot *dead, void *context) {
    kvspace *space = context;
    struct node *node;
    (void)arena;
    if (!space->tree && space_bind(space)) return OUTCOME_UNDONE; /* recovery at open comes before the handle is complete */
    switch (atomic_load_explicit(&dead->intent.kind, memory_order_acquire)) {
    case TREE_INTENT_REBUILD:
        node = node_at(&space->arena, tree_word(dead, 0));
        return node && atomic_load_explicit(tree_table_of(node, tree_word(dead, 1)), memory_order_relaxed) == tree_word(dead, 2)
                   ? OUTCOME_DONE : OUTCOME_UNDONE;
    case TREE_INTENT_SET: return settle_set(space, dead);
    case TREE_INTENT_INSERT: return settle_insert(space, dead);
    case TREE_INTENT_DELETE: return settle_delete(space, dead);
    case TREE_INTENT_REAP:
        return tree_word(dead, TREE_WORD_POP) && tree_word(dead, TREE_WORD_POP) != tree_word(dead, TREE_WORD_LIST)
                   ? OUTCOME_DONE : OUTCOME_UNDONE;
    case TREE_INTENT_DETACH: return OUTCOME_DONE; /* what the change had named is kept, dropped; only the members remain */
    case TREE_INTENT_ADOPT: tree_adopt_forward(space, dead); return OUTCOME_DONE;
    case TREE_INTENT_MOVE: tree_move_forward(space, dead); return OUTCOME_DONE;
    default: return OUTCOME_UNDONE;
    }
}

void tree_finish(struct arena *arena, struct party_slot *dead, void *context) {
    kvspace *space = context;
    enum party_outcome outcome = (enum party_outcome)atomic_load_explicit(&dead->outcome, memory_order_relaxed);
    (void)arena;
    if (!space->tree && space_bind(space)) return;
    switch (atomic_load_explicit(&dead->intent.kind, memory_order_acquire)) {
    case TREE_INTENT_SET:
        if (outcome != OUTCOME_DONE || !tree_word(dead, 2)) break;
        intent_begin(&space->arena, TREE_INTENT_DETACH);
        tree_reap_detached(space);
        break;
    case TREE_INTENT_DETACH: tree_reap_detached(space); break;
    case TREE_INTENT_MOVE:
        intent_begin(&space->arena, TREE_INTENT_REAP);
        tree_reap(space);
        break;
    case TREE_INTENT_REAP: tree_reap(space); break;
    default: break;
    }
}
