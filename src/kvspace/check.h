/* What the files of the check share (check.c, check_steps.c, check_tree.c). Relies on alloc.h, space.h.
 * A check is exact when nobody else has the space open: every block is claimed once and every count compared. While
 * others work it looks at one node, table or pool at a time, under its lock. */
#ifndef KVSPACE_CHECK_H
#define KVSPACE_CHECK_H

#include "kvspace/alloc.h"
#include "kvspace/space.h"

enum check_kind { CHECK_STEP = 1, CHECK_LOST_STEP, CHECK_BLOCK };

/* A block with a count: how often it was met. A lost step is one that nodes use and the intern table does not have. */
struct check_count {
    uint32_t ref, seen, kind;
};

/* A node that is still to be looked at. */
struct check_todo {
    uint32_t ref;
    uint64_t birth;
};

struct check {
    kvspace *space;
    const struct kvspace_check_options *options;
    struct alloc_check memory;
    bool exact, repair, no_memory;
    uint64_t faults, faults_max;
    struct check_count *counts; /* open addressing */
    size_t count_used, count_capacity;
    struct check_todo *todo;
    size_t todo_used, todo_capacity;
};

/* Counts a fault and reports it, with the key of the node (0: none). */
__attribute__((format(printf, 3, 4))) void check_fault(struct check *check, uint32_t node, const char *form, ...);
/* Enough: too many faults, or no memory. */
static inline bool check_is_over(const struct check *check) {
    return check->no_memory || (!check->repair && check->faults >= check->faults_max);
}
/* The count of a block, made if it is missing; NULL: no memory. */
struct check_count *check_count_of(struct check *check, uint32_t ref, enum check_kind kind);
/* The same if it is there, else NULL. */
struct check_count *check_count_find(const struct check *check, uint32_t ref);

/* NULL, or what is wrong with a record: its own parts, not its place in the intern table. */
const char *check_step_record(const struct check *check, uint32_t ref, unsigned kind);
/* All shards of the intern table. */
void check_steps(struct check *check);
/* The record of another reference with the same text that the intern table has; 0: none. */
uint32_t check_step_twin(struct check *check, uint32_t ref);
/* Nothing uses the record any more: out of the intern table with it. */
void check_step_forget(struct check *check, uint32_t ref);

/* The tree, from the root on. */
void check_tree(struct check *check);

#endif
