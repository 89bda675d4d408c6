/* The check of the tree: each node's cell, tables and children, from the root on, without recursion (check.h).
 * A node is looked at under its lock, so what others have in motion is either not begun or over. Relies on table.h, cell.h. */
#include "kvspace/alloc_parts.h"
#include "kvspace/cell.h"
#include "kvspace/check.h"
#include "kvspace/step.h"
#include "kvspace/table.h"
#include "kvspace/tree_parts.h"

#include <stdlib.h>

enum { NODES_PER_EPOCH = 64 };

static void todo_add(struct check *check, uint32_t ref, const struct node *node) {
    if (check->todo_used == check->todo_capacity) {
        size_t capacity = check->todo_capacity ? 2 * check->todo_capacity : 256;
        struct check_todo *more = realloc(check->todo, capacity * sizeof *more);
        if (!more) {
            check->no_memory = true;
            return;
        }
        check->todo = more;
        check->todo_capacity = capacity;
    }
    check->todo[check->todo_used++] = (struct check_todo){ref, node_birth(node_ver(node))};
}

/* ---- cells ---- */

static const char *block_fault(struct check *check, struct cell_value cell) {
    const struct arena *arena = &check->space->arena;
    uint32_t ref = (uint32_t)cell.payload;
    struct kvspace_value value;
    if (cell_look(check->space, cell, &value)) return "has a head that makes no sense";
    const struct value_block *block = arena_at(arena, ref, sizeof *block);
    uint64_t bytes = (uint64_t)block->body_at * 16 + block->body_bytes;
    if (alloc_bytes(arena, ref) < bytes || alloc_class_of(arena, ref) == CLASS_NODE) return "is no block of its size";
    if (block->type && check_step_record(check, block->type, STEP_IS_TYPE)) return "has a type that is damaged";
    if (!atomic_load_explicit(&block->refs, memory_order_relaxed)) return "is not counted";
    if (!check->exact) return NULL;
    struct check_count *type = block->type ? check_count_find(check, block->type) : NULL;
    if (block->type && (!type || type->kind != CHECK_STEP)) return "has a type that the table of names does not have";
    struct check_count *count = check_count_find(check, ref);
    if (count && count->kind != CHECK_BLOCK) return "is a name as well";
    if (!count && alloc_check_claim(&check->memory, ref, bytes, false)) return "is in use as something else";
    count = check_count_of(check, ref, CHECK_BLOCK);
    if (count) count->seen++;
    return NULL;
}

static void check_cell(struct check *check, uint32_t ref, struct node *node) {
    struct cell_value cell;
    const char *why = NULL;
    node_get(node, &cell);
    unsigned tag = cell_value_tag(cell);
    if (cell_value_is_block(cell)) why = block_fault(check, cell);
    else if (tag >= KVSPACE_KIND_COUNT && tag != NODE_TAG_HIDDEN) why = "is of no kind";
    if (!why) return;
    check_fault(check, ref, "its value %s%s", why, check->repair ? ": dropped" : "");
    if (check->repair) node_put(node, (struct cell_value){0, 0});
}

/* ---- tables ---- */

/* Exact: the name is counted; with repair one that the intern table does not have is exchanged or remembered. */
static const char *name_fault(struct check *check, struct node *child, unsigned kind) {
    uint32_t ref = atomic_load_explicit(&child->step, memory_order_relaxed);
    const char *why = check_step_record(check, ref, kind);
    if (why) return why;
    if (!check->exact) return NULL;
    struct check_count *count = check_count_find(check, ref);
    if (!count || count->kind == CHECK_BLOCK) {
        uint32_t twin = check->repair ? check_step_twin(check, ref) : 0;
        const struct step *step = step_at(&check->space->arena, ref);
        check_fault(check, 0, "names: the table does not have record %u (%.100s)", ref, step->text);
        if (count) return "is a value as well";
        if (twin) {
            atomic_store_explicit(&child->step, twin, memory_order_release);
            count = check_count_find(check, twin);
        } else if (alloc_check_claim(&check->memory, ref, 16, false)) return "is in use as something else";
        if (!count) count = check_count_of(check, twin ? twin : ref, twin ? CHECK_STEP : CHECK_LOST_STEP);
    }
    if (count) count->seen++;
    return NULL;
}

static const char *child_fault(struct check *check, uint32_t parent, uint32_t ref, uint32_t tag, bool member) {
    const struct arena *arena = &check->space->arena;
    struct node *child = node_at(arena, ref);
    if (!child || alloc_class_of(arena, ref) != CLASS_NODE) return "is no node";
    if (!node_is_live(child)) return "is deleted";
    if (atomic_load_explicit(&child->parent, memory_order_relaxed) != parent) return "belongs to another key";
    if (check->exact && alloc_check_claimed(&check->memory, ref)) return "is at another key as well";
    const char *why = name_fault(check, child, member ? STEP_OF_MEMBER : STEP_OF_CHILD);
    if (why) return "has a name that is damaged";
    if (step_at(arena, atomic_load_explicit(&child->step, memory_order_relaxed))->hash != tag) return "has another name than its entry";
    if (check->exact && alloc_check_claim(&check->memory, ref, sizeof(struct node), true)) return "is in use as something else";
    return NULL;
}

static const char *table_fault(struct check *check, uint32_t ref) {
    const struct arena *arena = &check->space->arena;
    const struct table *table = table_at(arena, ref);
    if (!table) return "lies outside of the space";
    uint64_t bytes = table_bytes(table->cap, table->index_log2);
    if (alloc_bytes(arena, ref) < bytes || alloc_class_of(arena, ref) == CLASS_NODE) return "is no block of its size";
    if (!table->cap || atomic_load_explicit(&table->used, memory_order_relaxed) > table->cap) return "holds more than it has room for";
    if (table->index_log2 && (UINT64_C(1) << table->index_log2) <= table->cap) return "has an index that is too small";
    if (check->exact && alloc_check_claim(&check->memory, ref, bytes, false)) return "is in use as something else";
    return NULL;
}

/* Whether the entry is what its name leads to. */
static bool is_found(const struct check *check, uint32_t ref, uint32_t at, uint32_t child_ref, bool member) {
    const struct node *child = node_at(&check->space->arena, child_ref);
    const struct step *name = step_at(&check->space->arena, atomic_load_explicit(&child->step, memory_order_relaxed));
    if (!name) return true; /* told already, as the child's fault */
    struct path_step step = {.name = name->text, .bytes = name->bytes, .hash = name->hash,
                             .kind = member ? KVSPACE_STEP_MEMBER : KVSPACE_STEP_CHILD};
    uint32_t position = TABLE_NOWHERE;
    bool damaged = false;
    return table_find(check->space, ref, &step, &position, &damaged) == child_ref && position == at;
}

/* The entries one by one; those that are whole go on the list of what is to be looked at. Gives how many. */
static uint32_t check_entries(struct check *check, uint32_t owner, struct table *table, bool member, bool *unordered) {
    uint32_t used = atomic_load_explicit(&table->used, memory_order_relaxed), live = 0, last = 0;
    for (uint32_t at = 0; at < used && !check_is_over(check); at++) {
        uint32_t ref = atomic_load_explicit(&table->entry[at].node, memory_order_relaxed);
        if (!ref) continue;
        const char *why = child_fault(check, owner, ref, table->entry[at].tag, member);
        if (why) {
            check_fault(check, owner, "the node at entry %u of its %s %s%s", at, member ? "members" : "children", why,
                        check->repair ? ": unlinked" : "");
            if (check->repair) atomic_store_explicit(&table->entry[at].node, 0, memory_order_release);
            continue;
        }
        const struct node *child = node_at(&check->space->arena, ref);
        uint32_t order = atomic_load_explicit(&child->order, memory_order_relaxed);
        *unordered |= live++ && (int32_t)(order - last) <= 0;
        last = order;
        todo_add(check, ref, child);
    }
    *unordered |= live && (int32_t)(table->next - last) <= 0;
    return live;
}

static void renumber(struct check *check, struct table *table) {
    uint32_t used = atomic_load_explicit(&table->used, memory_order_relaxed);
    for (uint32_t at = 0; at < used; at++) {
        uint32_t ref = atomic_load_explicit(&table->entry[at].node, memory_order_relaxed);
        if (ref) atomic_store_explicit(&node_at(&check->space->arena, ref)->order, table->next++, memory_order_relaxed);
    }
}

static void check_table(struct check *check, uint32_t owner, struct node *node, bool member) {
    _Atomic uint32_t *place = tree_table_of(node, member);
    uint32_t ref = atomic_load_explicit(place, memory_order_relaxed), lost = 0;
    bool unordered = false;
    if (!ref) return;
    const char *what = member ? "members" : "children", *why = table_fault(check, ref);
    if (why) {
        check_fault(check, owner, "the table of its %s %s%s", what, why, check->repair ? ": all of them are lost" : "");
        if (check->repair) atomic_store_explicit(place, 0, memory_order_release);
        return;
    }
    struct table *table = table_at(&check->space->arena, ref);
    uint32_t live = check_entries(check, owner, table, member, &unordered), used = atomic_load_explicit(&table->used, memory_order_relaxed);
    if (check_is_over(check)) return;
    if (live != atomic_load_explicit(&table->live, memory_order_relaxed)) {
        check_fault(check, owner, "the count of its %s is %u, not %u", what, live, atomic_load_explicit(&table->live, memory_order_relaxed));
        if (check->repair) table_recount(table);
    }
    if (unordered) {
        check_fault(check, owner, "the order of its %s is damaged", what);
        if (check->repair) renumber(check, table);
    }
    for (uint32_t at = 0; at < used; at++) {
        uint32_t child = atomic_load_explicit(&table->entry[at].node, memory_order_relaxed);
        lost += child && node_at(&check->space->arena, child) && !is_found(check, ref, at, child, member);
    }
    if (!lost || (!check->repair && live == 0)) return;
    check_fault(check, owner, "%u of its %s are not found by name", lost, what);
    if (check->repair) table_reindex(table);
}

/* ---- the walk ---- */

static void check_node(struct check *check, struct check_todo todo) {
    struct node *node = node_at(&check->space->arena, todo.ref);
    mem_lock(check->space, &node->lock);
    if (node_birth(node_ver(node)) == todo.birth) {
        check_cell(check, todo.ref, node);
        check_table(check, todo.ref, node, false);
        check_table(check, todo.ref, node, true);
    }
    mem_unlock(check->space, &node->lock);
}

void check_tree(struct check *check) {
    struct node *root = node_at(&check->space->arena, check->space->root);
    if (check->exact && (alloc_check_claim(&check->memory, check->space->root, sizeof(struct node), true)))
        check_fault(check, 0, "the root is no node");
    if (root) todo_add(check, check->space->root, root);
    for (uint64_t count = 1; check->todo_used && !check_is_over(check); count++) {
        check_node(check, check->todo[--check->todo_used]);
        if (count % NODES_PER_EPOCH == 0) party_refresh(&check->space->arena);
    }
}
