/* Values between cells and the tree: whole values of any type, containers with their members.
 * Relies on kvspace.h, map.h, array.h, text.h. Promises: what was written reads back equal, with the same type; a value is
 * copied on its way, so that blocks of cells belong to one vthread; errors of the space become errors of the program. */
#ifndef CORE_TREE_VALUE_H
#define CORE_TREE_VALUE_H

#include "core/block.h"

struct kvspace;

/* The value at `path`, a container with all its members; None when there is nothing. */
int value_from_tree(struct heap *heap, struct kvspace *space, const char *path, struct cell *out);
/* Writes the value whole; None deletes the value and its members. */
int value_to_tree(struct heap *heap, struct kvspace *space, const char *path, const struct cell *value);

/* Short names for the core; the engine has a tree_set of its own. */
#define tree_get value_from_tree
#define tree_set value_to_tree

/* A scalar, array or string as a value for the space, borrowed from the cell. ERROR_TYPE for anything else. */
struct kvspace_value;
int tree_borrow(struct heap *heap, const struct cell *cell, struct kvspace_value *value);
/* A value of the space (no container) as a cell. */
int tree_cell(struct heap *heap, const struct kvspace_value *value, struct cell *out);

/* An error of the space as an error of the program: gives an error_kind. */
int tree_fault(struct heap *heap, struct kvspace *space, int code, const char *what, const char *path);

#endif
