/* Rows back to statements (undo.h). */
#include "layout/undo.h"

int undo_item(struct ast_arena *arena, const struct layout_item *item, struct ast_text *text) {
    (void)arena;
    (void)item;
    *text = (struct ast_text){"", 0};
    return 0;
}
