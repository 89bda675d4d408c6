/* `kvlang fmt`: the canonical text of a tree, with its comments. Relies on ast.h alone; also prints trees that were
 * built without source (places of line 0, literals without raw text), as dump does.
 * Promise: parsing the result gives an equal tree (ast_equal), and formatting it again gives the same bytes.
 *
 * The form: tabs, one statement a line; blank lines between statements are kept, several as one; a block stays on its line
 * if it was on one and holds no comment; line breaks inside ( ), [ ] and literals in { } stay where they are, indented
 * by the line that opened the bracket; aliases become canonical (× ÷ · = != <= >= None). */
#ifndef LAYOUT_FORMAT_H
#define LAYOUT_FORMAT_H
#include "layout/ast.h"

/* The text of file in *out (malloc, zero-terminated behind *length bytes; the caller frees it). file must come from a parse
 * without errors, or from dump. Returns 0, or 2 (PARSE_NO_MEMORY) with *out NULL. */
int format_file(const struct ast_file *file, char **out, size_t *length);

/* ---- shared by format.c and format_expr.c alone ---- */

struct format {
    const struct ast_file *file;
    char *out;
    size_t used, room;
    bool out_of_memory;
    uint32_t next_comment;
    uint32_t next_paren;
    uint32_t last_line;   /* source line where the text written last ended */
    uint32_t indent;      /* of statements, in tabs */
    uint32_t line_indent; /* of the line being written */
    uint32_t brackets;    /* open ones: line breaks of the source are kept */
    uint32_t inner;       /* indentation of a line that is broken inside the innermost bracket */
    bool line_start;      /* nothing on the line yet */
    bool space;           /* a blank is due before the next text */
    bool must_break;      /* a line comment was written: the next text needs a new line */
};

void format_text(struct format *format, struct ast_text text);
void format_word(struct format *format, const char *word);
void format_newline(struct format *format, uint32_t indent);
/* Before text that stands at `at` in the source: writes the comments that come before it, and breaks the line inside
 * brackets where the source does (or where forced). */
void format_place(struct format *format, struct ast_pos at, bool force);
/* The line on which the source of what was written last ended. */
void format_ended(struct format *format, uint32_t line);
void format_type(struct format *format, const struct ast_type *type);
void format_expression(struct format *format, const struct ast_node *node);

struct format_bracket {
    uint32_t outer_inner;
    uint32_t opener_indent;
};
struct format_bracket format_open(struct format *format, const char *bracket);
/* close.line 0: the place is unknown, no line break before the bracket. */
void format_close(struct format *format, struct format_bracket opened, const char *bracket, struct ast_pos close);

#endif
