/* Tables of text: rows of cells, drawn with columns as wide as they need. Relies on sink.h.
 * Promises: alignment by columns of the terminal (wide characters count two); the last column is cut with `…` where the
 * terminal ends; data cannot break a row. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "cli/sink.h"

enum { TABLE_COLUMNS_MAX = 16 };

/* Zero is an empty table. Memory is the table's own until table_free. */
struct table {
    struct table_cell *cells;
    size_t count, capacity; /* cells, all rows one after another */
    unsigned columns;       /* set before the first cell */
    unsigned right;         /* bit per column: aligned to the right */
    unsigned indent;        /* blanks before each row */
    int error;              /* ENOMEM */
};

/* The next cell of the row under way; the text is copied, on one line (control characters escaped). */
void table_cell(struct table *table, enum sink_style style, const char *text, size_t length);
void table_text(struct table *table, enum sink_style style, const char *text);
/* Draws it all and empties the table. A row that is not full is filled with empty cells. */
void table_draw(struct table *table, struct sink *sink);
void table_free(struct table *table);

#endif
