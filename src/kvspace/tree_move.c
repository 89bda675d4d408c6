/* Moving subtrees by one store, exchanging values with their members, copying, and the stage where new subtrees are built
 * before they are swapped in (tree.h). Movers exclude each other by one lock; all their allocations are made before the intent,
 * so that from the intent on a move only goes forward, whoever finishes it. Relies on table.h, step.h, cell.h. */
#include "kvspace/cell.h"
#include "kvspace/fault.h"
#include "kvspace/step.h"
#include "kvspace/table.h"
#include "kvspace/tree_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- exchange of value and members ---- */

static void own_members(kvspace *space, uint32_t table_ref, uint32_t parent) {
    struct table *table = table_ref ? table_at(&space->arena, table_ref) : NULL;
    uint32_t used = table ? atomic_load_explicit(&table->used, memory_order_relaxed) : 0;
    for (uint32_t at = 0; table && at < used && at < table->cap; at++) {
        uint32_t ref = atomic_load_explicit(&table->entry[at].node, memory_order_relaxed);
        struct node *node = ref ? node_at(&space->arena, ref) : NULL;
        if (node) atomic_store_explicit(&node->parent, parent, memory_order_relaxed);
    }
}

void tree_adopt_forward(kvspace *space, const struct party_slot *slot) {
    struct node *into = node_at(&space->arena, tree_word(slot, 0)), *from = node_at(&space->arena, tree_word(slot, 1));
    struct cell_value cell = {tree_word64(slot, 2), tree_word64(slot, 3)}, left;
    if (!into || !from) return;
    own_members(space, tree_word(slot, 5), tree_word(slot, 0));
    FAULT_STEP();
    node_get(from, &left);
    if (cell_value_tag(left) != NODE_TAG_NONE) node_put(from, (struct cell_value){0, 0});
    FAULT_STEP();
    atomic_store_explicit(&from->members, tree_word(slot, 6), memory_order_release);
    atomic_store_explicit(&into->members, tree_word(slot, 5), memory_order_release);
    FAULT_STEP();
    if (node_ver(into) != tree_word64(slot, 4)) node_put(into, cell);
    own_members(space, tree_word(slot, 6), tree_word(slot, 1));
}

int tree_adopt(kvspace *space, uint32_t into_ref, uint32_t from_ref, bool opaque) {
    struct arena *arena = &space->arena;
    struct node *into = node_at(arena, into_ref), *from = node_at(arena, from_ref);
    struct cell_value cell, old;
    if (!into || !from) return KVSPACE_EDAMAGED;
    mem_lock(space, &into->lock);
    mem_lock(space, &from->lock);
    int rc = node_is_live(into) && node_is_live(from) ? tree_may_write(space, into) : KVSPACE_EAGAIN;
    if (!rc) {
        node_get(from, &cell);
        uint64_t ver = node_get(into, &old);
        if (opaque || cell_value_tag(old) == NODE_TAG_HIDDEN || old.head & NODE_FLAG_OPAQUE) cell.head |= NODE_FLAG_OPAQUE;
        intent_word(arena, 0, into_ref);
        intent_word(arena, 1, from_ref);
        intent_word(arena, 2, cell.head);
        intent_word(arena, 3, cell.payload);
        intent_word(arena, 4, node_ver_after(ver, 1));
        intent_word(arena, 5, atomic_load_explicit(&from->members, memory_order_relaxed));
        intent_word(arena, 6, atomic_load_explicit(&into->members, memory_order_relaxed));
        if (cell_value_is_block(old)) block_drop_later(arena, (uint32_t)old.payload);
        FAULT_STEP(); /* killed: no intent, nothing has happened */
        intent_begin(arena, TREE_INTENT_ADOPT);
        FAULT_STEP(); /* killed from here on: recovery does it again from the words */
        tree_adopt_forward(space, arena->self);
        block_drop_named(arena);
        intent_end(arena);
    }
    mem_unlock(space, &from->lock);
    mem_unlock(space, &into->lock);
    if (!rc) tree_wake(space, into_ref);
    return rc;
}

/* ---- moving ----
 * words: 0 the moved node, 1 its parent, 2 the new parent, 3 what stood at the target or 0, 4 where that goes or 0 (it dies),
 * 5 new names (moved | old), 6 new orders (moved | old), 7 members? (bit 0 from, 1 to, 2 old), 8 hashes (to | old), 9 hash of from. */

static uint32_t high_of(uint64_t word) { return (uint32_t)(word >> 32); }

static struct table *table_of(kvspace *space, uint32_t parent, bool member) {
    struct node *node = node_at(&space->arena, parent);
    uint32_t ref = node ? atomic_load_explicit(tree_table_of(node, member), memory_order_relaxed) : 0;
    return ref ? table_at(&space->arena, ref) : NULL;
}

static void take_from_old_place(kvspace *space, const struct party_slot *slot, struct node *moved) {
    struct table *table = table_of(space, tree_word(slot, 1), tree_word(slot, 7) & 1);
    bool done = atomic_load_explicit(&moved->step, memory_order_relaxed) == (uint32_t)tree_word64(slot, 5) &&
                atomic_load_explicit(&moved->parent, memory_order_relaxed) == tree_word(slot, 2);
    if (done) return; /* what the table holds is the new place */
    uint32_t at = table ? table_position(table, tree_word(slot, 9), tree_word(slot, 0)) : TABLE_NOWHERE;
    if (at != TABLE_NOWHERE) table_remove(table, at);
    if (table) table_recount(table);
}

static void put_in_new_place(kvspace *space, const struct party_slot *slot) {
    struct table *table = table_of(space, tree_word(slot, 2), tree_word(slot, 7) & 2);
    uint32_t hash = (uint32_t)tree_word64(slot, 8), target = tree_word(slot, 3), moved = tree_word(slot, 0);
    if (!table) return;
    if (target && table_position(table, hash, moved) == TABLE_NOWHERE) {
        uint32_t at = table_position(table, hash, target);
        if (at != TABLE_NOWHERE) atomic_store_explicit(&table->entry[at].node, moved, memory_order_release);
    } else if (!target) {
        table_append_again(table, hash, moved);
    }
}

static void retire_target(kvspace *space, const struct party_slot *slot) {
    uint32_t target = tree_word(slot, 3), old_parent = tree_word(slot, 4);
    struct node *node = target ? node_at(&space->arena, target) : NULL;
    if (!node) return;
    if (!old_parent) {
        tree_mark_dead(node);
        atomic_store_explicit(&node->order, 0, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&node->parent, old_parent, memory_order_relaxed);
    atomic_store_explicit(&node->order, high_of(tree_word64(slot, 6)), memory_order_relaxed);
    atomic_store_explicit(&node->step, high_of(tree_word64(slot, 5)), memory_order_release);
    struct table *table = table_of(space, old_parent, tree_word(slot, 7) & 4);
    if (table) table_append_again(table, high_of(tree_word64(slot, 8)), target);
}

void tree_move_forward(kvspace *space, const struct party_slot *slot) {
    struct node *moved = node_at(&space->arena, tree_word(slot, 0));
    if (!moved) return;
    take_from_old_place(space, slot, moved);
    FAULT_STEP();
    atomic_store_explicit(&moved->parent, tree_word(slot, 2), memory_order_relaxed);
    atomic_store_explicit(&moved->order, (uint32_t)tree_word64(slot, 6), memory_order_relaxed);
    atomic_store_explicit(&moved->step, (uint32_t)tree_word64(slot, 5), memory_order_release);
    FAULT_STEP();
    put_in_new_place(space, slot); /* one store: readers see the new subtree, whole */
    FAULT_STEP();
    retire_target(space, slot);
}

/* One end of a move: the parent's key, the last step, and what was found there. */
struct move_end {
    char parent_key[KVSPACE_KEY_MAX + 1];
    struct path_step step;
    uint32_t depth, parent, node, name;
    bool member;
};

static int split_end(const char *key, struct move_end *end) {
    size_t bytes = kvspace_key_parent(key);
    if (!bytes) return KVSPACE_EUSAGE;
    memcpy(end->parent_key, key, bytes);
    end->parent_key[bytes] = 0;
    if (!path_next(bytes == 1 ? key : key + bytes, &end->step, NULL)) return KVSPACE_EKEY;
    end->member = end->step.kind == KVSPACE_STEP_MEMBER;
    end->depth = 0;
    for (const char *at = path_begin(end->parent_key); *at;) {
        struct path_step step;
        at = path_next(at, &step, NULL);
        end->depth++;
    }
    end->name = 0;
    return 0;
}

static int find_parent(kvspace *space, struct move_end *end, bool create) {
    if (create) {
        int rc = tree_lock_key(space, end->parent_key, true, &end->parent);
        if (!rc) mem_unlock(space, &node_at(&space->arena, end->parent)->lock);
        return rc;
    }
    struct tree_walk walk;
    int rc = tree_walk(space, end->parent_key, &walk);
    end->parent = walk.node;
    return rc ? rc : *walk.at ? KVSPACE_ENOENT : 0;
}

/* Parents are locked from the top down, each once. */
static void lock_parents(kvspace *space, struct move_end **end, unsigned count) {
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = i; j > 0 && end[j]->depth < end[j - 1]->depth; j--) {
            struct move_end *swap = end[j];
            end[j] = end[j - 1];
            end[j - 1] = swap;
        }
    for (unsigned i = 0; i < count; i++) {
        bool again = false;
        for (unsigned j = 0; j < i; j++) again |= end[j]->parent == end[i]->parent;
        if (!again) mem_lock(space, &node_at(&space->arena, end[i]->parent)->lock);
    }
}

static void unlock_parents(kvspace *space, struct move_end **end, unsigned count) {
    for (unsigned i = count; i-- > 0;) {
        bool again = false;
        for (unsigned j = 0; j < i; j++) again |= end[j]->parent == end[i]->parent;
        if (!again) mem_unlock(space, &node_at(&space->arena, end[i]->parent)->lock);
    }
}

/* With the parent locked: what stands at this end now, and (unless it is the origin) a name and room for it. */
static int look_at_end(kvspace *space, struct move_end *end, bool origin) {
    struct node *parent = node_at(&space->arena, end->parent);
    bool damaged = false;
    if (!node_is_live(parent)) return KVSPACE_EAGAIN;
    uint32_t table = atomic_load_explicit(tree_table_of(parent, end->member), memory_order_relaxed);
    end->node = table_find(space, table, &end->step, NULL, &damaged);
    if (damaged) return KVSPACE_EDAMAGED;
    if (origin) return end->node ? 0 : KVSPACE_ENOENT;
    int rc = tree_make_room(space, parent, end->member);
    if (rc) return rc;
    return step_intern(space, end->step.name, end->step.bytes, end->step.hash, end->member ? STEP_OF_MEMBER : STEP_OF_CHILD, &end->name);
}

static uint32_t next_order(kvspace *space, const struct move_end *end) { return table_of(space, end->parent, end->member)->next++; }

/* The words, the intent, and all the stores. Parents are locked; so is the target if it dies. */
static void move_locked(kvspace *space, const struct move_end *from, const struct move_end *to, const struct move_end *old) {
    struct arena *arena = &space->arena;
    struct node *target = to->node ? node_at(arena, to->node) : NULL;
    bool keep = target && old;
    uint32_t order = target ? atomic_load_explicit(&target->order, memory_order_relaxed) : next_order(space, to);
    intent_word(arena, 0, from->node);
    intent_word(arena, 1, from->parent);
    intent_word(arena, 2, to->parent);
    intent_word(arena, 3, to->node);
    intent_word(arena, 4, keep ? old->parent : 0);
    intent_word(arena, 5, (uint64_t)(keep ? old->name : 0) << 32 | to->name);
    intent_word(arena, 6, (uint64_t)(keep ? next_order(space, old) : 0) << 32 | order);
    intent_word(arena, 7, (from->member ? 1u : 0u) | (to->member ? 2u : 0u) | (keep && old->member ? 4u : 0u));
    intent_word(arena, 8, (uint64_t)(keep ? old->step.hash : 0) << 32 | to->step.hash);
    intent_word(arena, 9, from->step.hash);
    intent_word(arena, TREE_WORD_LIST, target && !keep ? to->node : 0);
    intent_word(arena, TREE_WORD_POP, 0);
    FAULT_STEP(); /* killed: no intent, nothing has happened but that two names have a use too many */
    intent_begin(arena, TREE_INTENT_MOVE);
    FAULT_STEP(); /* killed from here on: recovery does it all again from the words */
    tree_move_forward(space, arena->self);
    intent_begin(arena, TREE_INTENT_REAP);
}

static int move_once(kvspace *space, struct move_end *from, struct move_end *to, struct move_end *old) {
    struct move_end *order[3] = {from, to, old};
    unsigned count = old ? 3 : 2;
    int rc = find_parent(space, from, false);
    if (!rc) rc = find_parent(space, to, true);
    if (!rc && old) rc = find_parent(space, old, true);
    if (rc) return rc;
    lock_parents(space, order, count);
    rc = look_at_end(space, from, true);
    if (!rc) rc = look_at_end(space, to, false);
    if (!rc && old && to->node) rc = look_at_end(space, old, false);
    if (!rc && old && to->node && old->node) rc = KVSPACE_EAGAIN; /* somebody put one there: it is deleted again */
    struct node *moved = rc ? NULL : node_at(&space->arena, from->node);
    struct node *target = !rc && to->node ? node_at(&space->arena, to->node) : NULL;
    uint32_t from_name = 0, target_name = 0;
    if (!rc && (!moved || (to->node && !target))) rc = KVSPACE_EDAMAGED;
    if (!rc) {
        from_name = atomic_load_explicit(&moved->step, memory_order_relaxed);
        target_name = target && old ? atomic_load_explicit(&target->step, memory_order_relaxed) : 0;
        bool dies = target && !old;
        if (dies) mem_lock(space, &target->lock);
        move_locked(space, from, to, old);
        if (dies) mem_unlock(space, &target->lock);
        node_touch(node_at(&space->arena, from->parent));
        if (to->parent != from->parent) node_touch(node_at(&space->arena, to->parent));
        if (old && old->parent != to->parent && old->parent != from->parent) node_touch(node_at(&space->arena, old->parent));
    }
    unlock_parents(space, order, count);
    if (rc) {
        step_drop(space, to->name);
        if (old) step_drop(space, old->name);
        to->name = 0;
        if (old) old->name = 0;
        return rc;
    }
    tree_reap(space);
    step_drop(space, from_name);
    step_drop(space, target_name);
    if (to->node) tree_wake(space, to->node);
    for (unsigned i = 0; i < count; i++) tree_wake(space, order[i]->parent);
    tree_wake(space, from->node);
    tree_prune(space, from->parent);
    if (old) tree_prune(space, old->parent); /* made for nothing, if nothing stood at the target */
    return 0;
}

int tree_move(kvspace *space, const char *from_key, const char *to_key, const char *old_key) {
    struct move_end *ends = calloc(3, sizeof *ends);
    if (!ends) return KVSPACE_ENOMEM;
    int rc = split_end(from_key, &ends[0]);
    if (!rc) rc = split_end(to_key, &ends[1]);
    if (!rc && old_key) rc = split_end(old_key, &ends[2]);
    while (!rc) {
        if (old_key) {
            struct tree_walk walk;
            rc = tree_walk(space, old_key, &walk);
            if (!rc && !*walk.at) rc = tree_delete(space, walk.parent, walk.node, NULL);
            if (rc && rc != KVSPACE_EAGAIN) break;
        }
        mem_lock(space, &space->tree->move_lock);
        rc = move_once(space, &ends[0], &ends[1], old_key ? &ends[2] : NULL);
        mem_unlock(space, &space->tree->move_lock);
        if (rc != KVSPACE_EAGAIN) break;
        rc = 0;
    }
    free(ends);
    return rc;
}

/* ---- copying ---- */

struct copy_level {
    uint32_t from, to, kids_at, members_at;
    bool members_only;
};

/* The value of a node as one more holder of its block. */
static int share_value(kvspace *space, const struct node *node, struct tree_value *value) {
    for (;;) {
        node_get(node, &value->cell);
        value->block = 0;
        value->is_container = false;
        if (!cell_value_is_block(value->cell)) return 0;
        if (!arena_at(&space->arena, (uint32_t)value->cell.payload, sizeof(struct value_block))) return KVSPACE_EDAMAGED;
        if (block_ref(&space->arena, (uint32_t)value->cell.payload)) break;
        if (!node_is_live(node)) { /* deleted meanwhile, and its value is going */
            value->cell = (struct cell_value){0, 0};
            return 0;
        }
    }
    value->is_container = cell_is_container(space, value->cell);
    return 0;
}

static int copy_value(kvspace *space, uint32_t from_ref, uint32_t to_ref) {
    struct node *from = node_at(&space->arena, from_ref), *to = node_at(&space->arena, to_ref);
    struct tree_value value;
    if (!from || !to) return KVSPACE_EDAMAGED;
    int rc = share_value(space, from, &value);
    if (rc || !cell_value_tag(value.cell)) return rc;
    uint32_t block = cell_value_is_block(value.cell) ? (uint32_t)value.cell.payload : 0;
    mem_lock(space, &to->lock);
    if (node_is_live(to)) return tree_put(space, to_ref, &value);
    mem_unlock(space, &to->lock);
    if (block) block_unref(&space->arena, block);
    return KVSPACE_EAGAIN;
}

/* The next entry below a level that is still to be copied: children first, then members. 0: none. */
static uint32_t next_to_copy(kvspace *space, struct copy_level *level, bool *member) {
    struct node *node = node_at(&space->arena, level->from);
    uint32_t found = 0;
    *member = false;
    if (!node) return 0;
    if (!level->members_only)
        found = table_next(space, atomic_load_explicit(&node->kids, memory_order_acquire), &level->kids_at);
    if (found) {
        level->kids_at++;
        return found;
    }
    *member = true;
    found = table_next(space, atomic_load_explicit(&node->members, memory_order_acquire), &level->members_at);
    level->members_at++;
    return found;
}

static int copy_child(kvspace *space, const struct copy_level *level, uint32_t child_ref, bool member, struct copy_level *below) {
    struct node *child = node_at(&space->arena, child_ref);
    const struct step *name = child ? step_at(&space->arena, atomic_load_explicit(&child->step, memory_order_acquire)) : NULL;
    struct tree_value value;
    bool is_new;
    *below = (struct copy_level){.from = child_ref};
    if (!child || !name) return KVSPACE_EDAMAGED;
    if (!node_is_live(child)) return 0;
    struct path_step step = {.name = name->text, .bytes = name->bytes, .hash = path_hash(name->text, name->bytes, member)};
    step.kind = member ? KVSPACE_STEP_MEMBER : KVSPACE_STEP_CHILD;
    int rc = share_value(space, child, &value);
    uint32_t block = rc ? 0 : cell_value_is_block(value.cell) ? (uint32_t)value.cell.payload : 0;
    if (!rc) rc = tree_insert(space, level->to, &step, &value, &below->to, &is_new);
    if (block && (rc || !is_new)) block_unref(&space->arena, block);
    return rc;
}

int tree_copy(kvspace *space, uint32_t from, uint32_t to, bool members_only) {
    size_t depth = 0, capacity = 64;
    struct copy_level *levels = malloc(capacity * sizeof *levels);
    if (!levels) return KVSPACE_ENOMEM;
    int rc = copy_value(space, from, to);
    if (rc) {
        free(levels);
        return rc;
    }
    levels[0] = (struct copy_level){.from = from, .to = to, .members_only = members_only};
    for (;;) {
        bool member;
        uint32_t child = next_to_copy(space, &levels[depth], &member);
        if (!child) {
            if (depth-- == 0) break;
            continue;
        }
        if (child == to) continue; /* the stage itself */
        if (depth + 1 == capacity) {
            struct copy_level *more = realloc(levels, 2 * capacity * sizeof *levels);
            if (!more) {
                rc = KVSPACE_ENOMEM;
                break;
            }
            levels = more;
            capacity *= 2;
        }
        rc = copy_child(space, &levels[depth], child, member, &levels[depth + 1]);
        if (rc) break;
        if (levels[depth + 1].to) depth++;
    }
    free(levels);
    return rc;
}

int tree_stage(kvspace *space, char *out) {
    struct tree_walk walk;
    snprintf(out, 64, "/" PATH_SHADOW "stage/%u.%llu", space->arena.own_slot, (unsigned long long)(space->stage_count++ & 1));
    int rc = tree_walk(space, out, &walk);
    if (!rc && !*walk.at) rc = tree_delete(space, walk.parent, walk.node, NULL);
    return rc == KVSPACE_EAGAIN ? 0 : rc;
}
