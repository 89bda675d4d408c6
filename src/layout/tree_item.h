/* What is laid out at a key, read back into rows. Relies on rows.h and kvspace.h; the keys are those of docs/rows.md.
 * Promise: whatever somebody wrote there by hand, the reading ends with an item or says that it is none. */
#ifndef LAYOUT_TREE_ITEM_H
#define LAYOUT_TREE_ITEM_H
#include <kvspace/kvspace.h>
#include "layout/rows.h"

/* enum layout_item_kind of a value's type; -1: it is no item. */
int tree_item_kind(const struct kvspace_value *value);
/* The function, opcode or struct at `key`; everything lives in arena. Places in the source are not read; is_init is not known. Gives 0, KVSPACE_ENOENT: no item
 * stands there, KVSPACE_EVALUE: one that is damaged, or another code of kvspace. */
int tree_item(kvspace *space, struct ast_arena *arena, const char *key, struct layout_item *item);
/* Whether the item was laid out from a source (it has `‥file`); false also for what a runtime registered. */
bool tree_item_has_source(kvspace *space, const char *key);

#endif
