/* A unit of laid-out functions into the tree. Relies on rows.h and kvspace.h; the keys are those of docs/rows.md.
 * Promises: each function, opcode and struct appears in one step, whole; one that is there as it would be written is left
 * alone, version included (only its places in the source are brought up to date); killed in between, what has been written stands. */
#ifndef LAYOUT_EMIT_H
#define LAYOUT_EMIT_H
#include <kvspace/kvspace.h>
#include "layout/rows.h"

/* Writes all items and `/lib/‥inits`. Gives 0 or a KVSPACE_E code with its message on the space. */
int emit_unit(kvspace *space, const struct layout_unit *unit);
/* *same: what stands at the item's key is the item, as far as it does not matter where it came from. Gives 0 or a KVSPACE_E code. */
int emit_same(kvspace *space, const struct layout_item *item, bool *same);

#endif
