/* Tables of text: see table.h. Cells are kept until the widths of all columns are known. */
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct table_cell {
    char *text;
    size_t length, columns;
    enum sink_style style;
};

/* The text as sink_one_line prints it, so that its width is the width that is drawn. */
static int cleaned(const char *text, size_t length, struct text_buffer *buffer) {
    struct sink inner = {.out = text_buffer_out(buffer)};
    sink_one_line(&inner, STYLE_PLAIN, text, length);
    text_put(&inner.out, "", 1); /* an empty text has a buffer too */
    if (!inner.out.error) buffer->length--;
    return inner.out.error;
}

void table_cell(struct table *table, enum sink_style style, const char *text, size_t length) {
    if (table->error) return;
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        struct table_cell *cells = realloc(table->cells, capacity * sizeof *cells);
        if (!cells) {
            table->error = ENOMEM;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    struct text_buffer buffer = {0};
    if (cleaned(text, length, &buffer)) {
        text_buffer_free(&buffer);
        table->error = ENOMEM;
        return;
    }
    table->cells[table->count++] = (struct table_cell){
        .text = buffer.bytes,
        .length = buffer.length,
        .columns = text_columns(buffer.bytes, buffer.length),
        .style = style,
    };
}

void table_text(struct table *table, enum sink_style style, const char *text) {
    table_cell(table, style, text, strlen(text));
}

static void draw_cell(const struct table *table, struct sink *sink, const struct table_cell *cell, unsigned column,
                      size_t width, size_t *used) {
    bool last = column + 1 == table->columns;
    size_t padding = width - cell->columns;
    size_t length = cell->length;
    bool cut = false;
    if (sink->width && *used + cell->columns > sink->width) {
        size_t room = sink->width > *used + 1 ? sink->width - *used - 1 : 0;
        length = text_fit(cell->text, length, room);
        cut = true;
    }
    bool right = table->right >> column & 1;
    if (right) sink_blanks(sink, padding);
    sink_styled(sink, cell->style, cell->text, length);
    if (cut) sink_text(sink, "…");
    if (!right && !last) sink_blanks(sink, padding);
    if (!last) sink_blanks(sink, 2);
    *used += width + 2;
}

void table_draw(struct table *table, struct sink *sink) {
    static const struct table_cell empty = {.text = "", .length = 0};
    size_t widths[TABLE_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < table->count; i++) {
        size_t *width = &widths[i % table->columns];
        if (table->cells[i].columns > *width) *width = table->cells[i].columns;
    }
    for (size_t row = 0; row < table->count; row += table->columns) {
        size_t used = table->indent;
        sink_blanks(sink, table->indent);
        size_t last = table->columns; /* trailing empty cells are not drawn */
        while (last > 1 && (row + last > table->count || !table->cells[row + last - 1].columns)) last--;
        for (unsigned column = 0; column < last; column++) {
            const struct table_cell *cell =
                row + column < table->count ? &table->cells[row + column] : &empty;
            bool end = column + 1 == last;
            size_t width = end && !(table->right >> column & 1) ? cell->columns : widths[column];
            draw_cell(table, sink, cell, end ? table->columns - 1 : column, width, &used);
        }
        sink_text(sink, "\n");
    }
    if (table->error && !sink->out.error) sink->out.error = table->error;
    table_free(table);
}

void table_free(struct table *table) {
    for (size_t i = 0; i < table->count; i++) free(table->cells[i].text);
    free(table->cells);
    table->cells = NULL;
    table->count = table->capacity = 0;
}
