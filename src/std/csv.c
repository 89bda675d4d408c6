/* csv·: rows of fields as RFC 4180 has them. Relies on pieces.h and value.h.
 * Promise: what csv·write gives, csv·read reads back as the same texts (a row of one empty field is written with quotes). */
#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/csv.def"
#undef NATIVE

static int separator_of(struct core_call *call, char *separator) {
    struct piece text;
    *separator = ',';
    if (call->arg_count < 2) return 0;
    int rc = piece_text(call, 1, &text);
    if (rc) return rc;
    bool good = text.length == 1 && (unsigned char)text.bytes[0] < 0x80 && text.bytes[0] && !strchr("\"\r\n", text.bytes[0]);
    if (good) *separator = text.bytes[0];
    piece_free(&text);
    return good ? 0 : fault(call->heap, ERROR_VALUE, "%s: the separator must be one ASCII character, and no quote or line end", call->row->name);
}

/* ---- reading ---- */

struct csv_reader {
    struct core_call *call;
    const char *at, *end;
    size_t line;
    char separator;
    char *field; /* room for the longest */
};

/* One field without its quotes into reader->field. */
static int read_field(struct csv_reader *reader, size_t *length) {
    size_t used = 0, first_line = reader->line;
    const char *at = reader->at, *end = reader->end;
    if (at < end && *at == '"') {
        for (at++;; at++) {
            if (at == end) return fault(reader->call->heap, ERROR_VALUE, "csv·read: the quote that opens in line %zu is not closed", first_line);
            if (*at == '"' && (at + 1 == end || at[1] != '"')) break;
            if (*at == '"') at++;
            if (*at == '\n') reader->line++;
            reader->field[used++] = *at;
        }
        at++;
        bool line_ends = at < end && (*at == '\n' || (*at == '\r' && (at + 1 == end || at[1] == '\n')));
        if (at < end && *at != reader->separator && !line_ends) return fault(reader->call->heap, ERROR_VALUE, "csv·read: something stands behind a closing quote in line %zu", reader->line);
    } else {
        for (; at < end && *at != reader->separator && *at != '\n'; at++) {
            if (*at == '"') return fault(reader->call->heap, ERROR_VALUE, "csv·read: a quote inside a field without quotes in line %zu", reader->line);
            if (*at == '\r' && (at + 1 == end || at[1] == '\n')) break;
            reader->field[used++] = *at;
        }
    }
    reader->at = at;
    *length = used;
    return 0;
}

static int read_row(struct csv_reader *reader, struct cell *row) {
    struct heap *heap = reader->call->heap;
    int rc = members_begin(heap, "[int64]·[]char/utf32", row);
    for (int64_t i = 0; !rc; i++) {
        size_t length = 0;
        struct cell text = cell_none();
        rc = read_field(reader, &length);
        if (!rc) rc = text_of_bytes(heap, reader->field, length, &text);
        rc = item_put(heap, rc, row, i, text);
        if (rc || reader->at == reader->end || *reader->at != reader->separator) break;
        reader->at++;
    }
    if (!rc && reader->at < reader->end && *reader->at == '\r') reader->at++;
    if (!rc && reader->at < reader->end && *reader->at == '\n') reader->at++;
    reader->line++;
    return rc;
}

static int csv_read(struct core_call *call) {
    struct piece text;
    struct cell rows = cell_none();
    char separator;
    int rc = separator_of(call, &separator);
    if (!rc) rc = piece_text(call, 0, &text);
    if (rc) return rc;
    struct csv_reader reader = {call, text.bytes, text.bytes + text.length, 1, separator, malloc(text.length + 1)};
    if (text.length >= 3 && memcmp(text.bytes, "\xef\xbb\xbf", 3) == 0) reader.at += 3;
    if (!reader.field) {
        piece_free(&text);
        return fault(call->heap, ERROR_OUT_OF_MEMORY, "csv·read: no memory for the text");
    }
    rc = members_begin(call->heap, "[int64]·any", &rows);
    for (int64_t i = 0; !rc && reader.at < reader.end; i++) {
        struct cell row;
        rc = read_row(&reader, &row);
        rc = item_put(call->heap, rc, &rows, i, row);
    }
    free(reader.field);
    piece_free(&text);
    if (!rc) call->results[0] = rows;
    return rc;
}

/* ---- writing ---- */

struct csv_writer {
    struct core_call *call;
    struct text_out *out;
    char separator;
    size_t fields; /* of the row so far */
    bool alone_empty;
};

static int write_field(struct csv_writer *writer, const struct cell *cell) {
    struct text_buffer buffer = {0};
    struct text_out sink = text_buffer_out(&buffer);
    if (writer->fields++) text_put(writer->out, &writer->separator, 1);
    if (!cell_is_none(cell) && !cell_is_scalar(cell) && !cell_is_text(cell)) {
        char type[160];
        type_print(writer->call->heap, cell, type, sizeof type);
        return fault(writer->call->heap, ERROR_TYPE, "csv·write: a field is %s, which is no text, number, bool or time", type);
    }
    int rc = cell_is_none(cell) ? 0 : value_print(writer->call->heap, cell, false, &sink);
    if (!rc && sink.error) rc = fault(writer->call->heap, ERROR_OUT_OF_MEMORY, "csv·write: no memory");
    bool quote = false;
    for (size_t i = 0; i < buffer.length && !rc; i++) quote = quote || buffer.bytes[i] == writer->separator || strchr("\"\r\n", buffer.bytes[i]);
    if (!rc && quote) {
        text_puts(writer->out, "\"");
        for (size_t i = 0; i < buffer.length; i++) text_put(writer->out, buffer.bytes[i] == '"' ? "\"\"" : &buffer.bytes[i], buffer.bytes[i] == '"' ? 2 : 1);
        text_puts(writer->out, "\"");
    } else if (!rc && buffer.length) {
        text_put(writer->out, buffer.bytes, buffer.length);
    }
    writer->alone_empty = writer->fields == 1 && buffer.length == 0;
    text_buffer_free(&buffer);
    return rc;
}

/* Visits the members of a map in order, or the elements of a one-dimensional array. */
static int each_item(struct csv_writer *writer, const struct cell *container, int (*visit)(struct csv_writer *writer, const struct cell *item)) {
    struct heap *heap = writer->call->heap;
    const struct cell *key, *value;
    uint64_t position = 0;
    int rc = 0;
    if (cell_tag(container) == TAG_MAP || cell_tag(container) == TAG_STRUCT) {
        while (!rc && map_next(heap, container, &position, &key, &value)) rc = visit(writer, value);
        return rc;
    }
    if (!cell_is_array(container) || cell_is_text(container)) {
        char type[160];
        type_print(heap, container, type, sizeof type);
        return fault(heap, ERROR_TYPE, "csv·write: rows are maps or arrays of fields, not %s", type);
    }
    for (int64_t i = 0; i < (int64_t)cell_block(heap, container)->dims[0] && !rc; i++) {
        struct cell index = cell_int64(i), item;
        const struct cell *indices[1] = {&index};
        rc = array_get(heap, container, indices, 1, &item);
        if (rc) return rc;
        rc = visit(writer, &item);
        cell_drop(heap, item);
    }
    return rc;
}

static int write_row(struct csv_writer *writer, const struct cell *row) {
    writer->fields = 0;
    writer->alone_empty = false;
    int rc = each_item(writer, row, write_field);
    if (writer->alone_empty) text_puts(writer->out, "\"\"");
    text_puts(writer->out, "\r\n");
    return rc;
}

static int csv_write(struct core_call *call) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    struct csv_writer writer = {.call = call, .out = &out};
    int rc = separator_of(call, &writer.separator);
    if (!rc) rc = each_item(&writer, call->args[0], write_row);
    if (!rc && out.error) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "csv·write: no memory");
    if (!rc) rc = give_text(call, buffer.bytes, buffer.length);
    text_buffer_free(&buffer);
    return rc;
}

const struct native_row csv_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/csv.def"
#undef NATIVE
};
const uint32_t csv_count = sizeof csv_rows / sizeof *csv_rows;
