/* Cells and value blocks of nodes: a shape becomes a cell (and a block), a cell becomes a lent kvspace_value.
 * Relies on shape.h, node.h, step.h, space.h. Promises: what is read from a block is checked against the block's own size
 * and the space; a lent body does not change while it is lent. */
#ifndef KVSPACE_CELL_H
#define KVSPACE_CELL_H

#include "kvspace/shape.h"
#include "kvspace/tree.h"

/* Makes the cell of a shape; a block is fresh memory with one reference and (unless the shape has no body yet) the body copied. */
int cell_make(kvspace *space, const struct shape *shape, struct tree_value *out);

/* The body of a block that was just made, to be filled. NULL for none. */
void *cell_body(const kvspace *space, uint32_t block);

/* Lends what a cell holds. Small bodies are copied, big ones pinned. EAGAIN: the block has been given up meanwhile, look at the
 * node again. EDAMAGED. None: `out` is all zero. Inside an epoch. */
int cell_lend(kvspace *space, struct cell_value cell, struct kvspace_value *out);

/* The same without lending: pointers into the space, good until the epoch is left. */
int cell_look(const kvspace *space, struct cell_value cell, struct kvspace_value *out);

/* Whether the value is a container (its members belong to it). */
bool cell_is_container(const kvspace *space, struct cell_value cell);

/* Gives back a value that was made but not stored. */
void cell_discard(kvspace *space, const struct tree_value *value);

/* A node's value, lent; ENOENT for None. *ver (may be NULL) gets the version it belongs to, also on ENOENT. */
int cell_lend_node(kvspace *space, const struct node *node, struct kvspace_value *out, uint64_t *ver);

#endif
