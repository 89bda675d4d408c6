/* Rows back to statements: what dump prints of a function whose text is lost or no longer true. Relies on rows.h.
 * Promise: linear but for nesting; gives up rather than guess, which is no error. */
#ifndef LAYOUT_UNDO_H
#define LAYOUT_UNDO_H
#include "layout/rows.h"

/* The declaration of an item as source in *text (in the arena); length 0: it has no form in source. Gives 0, or LAYOUT_NO_MEMORY. */
int undo_item(struct ast_arena *arena, const struct layout_item *item, struct ast_text *text);

#endif
