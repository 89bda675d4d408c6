/* Rows back to statements: what dump prints of a function whose text is lost or no longer true. Relies on rows.h.
 * Promise: bounded by the size of the rows; gives up rather than guess, which is no error. Whoever prints the text compiles it
 * first: only if it lays out to the very rows is it theirs. */
#ifndef LAYOUT_UNDO_H
#define LAYOUT_UNDO_H
#include "layout/rows.h"

/* The declaration of an item as source in *text (in the arena), or where it is_init the instructions alone, indented; length 0: it has no
 * form in source. Gives 0, or LAYOUT_NO_MEMORY. */
int undo_item(struct ast_arena *arena, const struct layout_item *item, struct ast_text *text);

/* ---- shared by undo.c, undo_flow.c and undo_row.c alone ---- */

enum { UNDO_PRIMARY = 1000, UNDO_PREFIX = 500 }; /* how tight the levels of ast_ops.def are beside them */

/* An expression as text; length 0: there is none. */
struct undo_expr {
    struct ast_text text;
    int level; /* of its loosest operator */
};

struct undo_temp {
    struct ast_text name;
    struct undo_expr expr;
};

struct undo {
    struct ast_arena *arena;
    const struct layout_item *item;
    struct ast_text package; /* of the item */
    struct text_out *out;
    uint32_t *jumped;        /* row -> how many jumps go there; rows from 1, one more at the end */
    struct undo_temp *temps;
    uint32_t temp_count, temp_room;
    uint32_t indent, depth;
    bool failed, out_of_memory;
};

static inline const struct layout_row *undo_row_at(const struct undo *undo, uint32_t row) { return &undo->item->rows[row - 1]; }
bool undo_is(const struct layout_row *row, const char *opcode);
bool undo_is_temp(const struct layout_slot *slot);
/* The only row that a jump slot means, 0 where it is none. */
uint32_t undo_target(const struct undo *undo, const struct layout_slot *slot);

/* undo_row.c. A read slot; a temporary's text is used up. */
struct undo_expr undo_operand(struct undo *undo, const struct layout_slot *slot);
struct undo_expr undo_join(struct undo *undo, struct undo_expr left, const char *sign, int level, struct undo_expr right);
struct undo_expr undo_not(struct undo *undo, struct undo_expr expr);
void undo_keep(struct undo *undo, struct ast_text temp, struct undo_expr expr);
struct undo_expr undo_format(struct undo *undo, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Everything but control flow: a temporary is kept, all else becomes a line. */
void undo_row(struct undo *undo, const struct layout_row *row);
void undo_line(struct undo *undo, struct undo_expr expr, const struct layout_slot *slots, uint32_t count, struct ast_text type);
void undo_indent(struct undo *undo);

/* undo_flow.c. Rows from `from` up to before `to`. */
void undo_rows(struct undo *undo, uint32_t from, uint32_t to);

#endif
