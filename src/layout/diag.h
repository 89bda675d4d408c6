/* Diagnostics of one source file: a collector that scan, parse and check report into, and the rendering for people.
 * Relies on ast.h for places. At most DIAG_MAX_ERRORS errors a file are kept (the rest is only counted).
 * Promise: reports come out in source order; a caret stands under the column meant whatever the width of the
 * characters before it; the collector never prints and never fails (a report lost for want of memory is counted).
 * Format:  file:line:col: error: Kind: message / source line / caret / optional `note: …`; warnings have no Kind. */
#ifndef LAYOUT_DIAG_H
#define LAYOUT_DIAG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "layout/ast.h"

#define DIAG_MAX_ERRORS 20
#define DIAG_MAX_WARNINGS 20

#if defined(__GNUC__)
#define DIAG_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define DIAG_PRINTF(format_at, first_at)
#endif

enum diag_kind {
#define DIAG(name, text) DIAG_##name,
#include "layout/diag_kinds.def"
#undef DIAG
    DIAG_KIND_COUNT
};

struct diag_report {
    enum diag_kind kind; /* of no meaning in a warning */
    bool warning;
    struct ast_pos at;   /* line 0: concerns the file as a whole */
    char *message;       /* owned by the list */
    char *note;          /* owned, or NULL */
};

/* Zero is a valid empty list. */
struct diag_list {
    struct diag_report reports[DIAG_MAX_ERRORS + DIAG_MAX_WARNINGS];
    uint32_t count;
    uint32_t errors;         /* all of them, kept or not */
    uint32_t warnings;
    uint32_t errors_kept;
    uint32_t warnings_kept;
    bool last_kept;          /* the report added last is the last of reports[]: diag_note may extend it */
};

/* Adds an error / a warning; the message is a printf format, one line, without a full stop.
 * A second error at the same line and column is dropped (no cascades). */
void diag_error(struct diag_list *list, enum diag_kind kind, struct ast_pos at, const char *format, ...) DIAG_PRINTF(4, 5);
void diag_warning(struct diag_list *list, struct ast_pos at, const char *format, ...) DIAG_PRINTF(3, 4);
/* Attaches a note to the report added last (none if that one was dropped). */
void diag_note(struct diag_list *list, const char *format, ...) DIAG_PRINTF(2, 3);
/* Whether another error would still be kept; the parser stops where not. */
bool diag_has_room(const struct diag_list *list);
const char *diag_kind_text(enum diag_kind kind);

/* Receives rendered text in pieces; a return other than 0 ends the rendering and is given back. */
typedef int (*diag_write)(void *context, const char *bytes, size_t length);

/* Writes every report in source order, errors and warnings mixed, then a line that says how many errors were left
 * out, if any. `file` is the name to show, `source` the text that the places refer to (ast_file.source). */
int diag_render(struct diag_list *list, struct ast_text file, struct ast_text source, diag_write write, void *context);

/* Writes one line of source with a caret under the column (from 1), as in a report: for errors at run time. */
int diag_render_line(struct ast_text line, uint32_t column, diag_write write, void *context);

/* The width in terminal columns of a code point: 0 (combining, format), 1, or 2 (East Asian wide and full-width). */
int diag_width(uint32_t code_point);

void diag_free(struct diag_list *list);

#endif
