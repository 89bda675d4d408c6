/* Functions drawn as a table of their instructions: the slots `[i,j]` of a key, a row of the table for each i.
 * Relies on docs/rows.md for what the slots mean: column 0 is the opcode, reads are negative, writes positive, row 0 is
 * the signature. Promises: shows any set of slots, also a damaged or hand-written one; missing reads are None. */
#include "cli/kvspace_tool.h"
#include "cli/table.h"

#include "kvspace/numtext.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    int64_t row, column;
    const struct tool_entry *entry;
};

bool slot_name(const char *name, int64_t *row, int64_t *column) {
    size_t length = strlen(name);
    const char *comma = strchr(name, ',');
    if (length < 5 || name[0] != '[' || name[length - 1] != ']' || !comma) return false;
    return numtext_parse_int64(name + 1, (size_t)(comma - name - 1), row) == NUMTEXT_OK &&
           numtext_parse_int64(comma + 1, length - (size_t)(comma - name) - 2, column) == NUMTEXT_OK && *row >= 0;
}

/* By row; within it the opcode, the reads -1, -2 …, the writes 1, 2 …. */
static int compare_slots(const void *left, const void *right) {
    const struct slot *a = left, *b = right;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    if (a->column == b->column) return 0;
    if (!a->column || !b->column) return a->column ? 1 : -1;
    if ((a->column < 0) != (b->column < 0)) return a->column < 0 ? -1 : 1;
    return (a->column < 0) == (a->column > b->column) ? -1 : 1;
}

static bool is_type(const struct kvspace_value *value, const char *type) {
    return value->type && value->type_bytes == strlen(type) && memcmp(value->type, type, value->type_bytes) == 0;
}

/* What stands in a slot, as it would in source: names and opcodes bare, paths as they are, literals quoted. */
static int slot_text(struct tool *tool, const char *key, struct text_out *out) {
    struct kvspace_value value;
    int rc = kvspace_get(tool->space, key, &value);
    if (rc == KVSPACE_ENOENT) text_puts(out, "?");
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    if (is_type(&value, "none")) {
        text_puts(out, "None");
        return 0;
    }
    if (is_type(&value, "name") || is_type(&value, "opcode") || is_type(&value, "param") ||
        value.ref == KVSPACE_POINTER) {
        char shown[KVSPACE_KEY_MAX + 1];
        text_puts(out, tool_key_text(tool, value.body, (size_t)value.body_bytes, shown));
        return 0;
    }
    struct kvspace_print_options options = {.style = KVSPACE_PRINT_LITERAL, .items_max = 8, .depth_max = 3};
    return kvspace_print(tool->space, key, &options, tool_write, out);
}

static int append_slot(struct tool *tool, char *key, const struct slot *slot, struct text_out *out) {
    int length = tool_key_append(key, slot->entry->text);
    if (length < 0) return 0;
    int rc = slot_text(tool, key, out);
    tool_key_cut(key, length);
    return rc;
}

/* `a, b -> c` of the slots [first, end) of one row; those in column 0 are skipped. */
static int operands(struct tool *tool, char *key, const struct slot *slots, size_t first, size_t end, struct text_out *out) {
    int rc = 0;
    int64_t expected = -1;
    bool any = false, writes = false;
    for (size_t i = first; i < end && !rc; i++) {
        int64_t column = slots[i].column;
        if (!column) continue;
        if (column > 0 && !writes) {
            text_puts(out, any ? " -> " : "-> ");
            writes = true;
            expected = 1;
            any = false;
        }
        /* Missing slots are None; a hand-written `[1,-4000000000]` must not print four billion of them. */
        for (int64_t gap = 0; expected != column && gap < 64; gap++) {
            text_puts(out, any ? ", None" : "None");
            any = true;
            expected += writes ? 1 : -1;
        }
        if (any) text_puts(out, ", ");
        rc = append_slot(tool, key, &slots[i], out);
        any = true;
        expected = column + (writes ? 1 : -1);
    }
    return rc;
}

/* `(A:int64, B:int64) -> (C:int64)`, or the fields of a struct. */
static int signature(struct tool *tool, char *key, const struct slot *slots, size_t end, const char *margin) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    size_t writes = 0;
    while (writes < end && slots[writes].column < 0) writes++;
    text_puts(&out, "(");
    int rc = operands(tool, key, slots, 0, writes, &out);
    text_puts(&out, ")");
    if (writes < end && !rc) {
        struct text_buffer results = {0};
        struct text_out results_out = text_buffer_out(&results);
        rc = operands(tool, key, slots, writes, end, &results_out);
        text_puts(&out, " -> (");
        if (results.length > 3) text_put(&out, results.bytes + 3, results.length - 3); /* behind its "-> " */
        text_puts(&out, ")");
        text_buffer_free(&results);
    }
    sink_text(&tool->out, margin);
    sink_one_line(&tool->out, STYLE_TYPE, buffer.bytes, buffer.length);
    sink_text(&tool->out, "\n");
    text_buffer_free(&buffer);
    return rc;
}

/* `{x:float64 = 0.0; y:float64}`: the fields of a struct are in row 0, their defaults in row 1. */
static int fields(struct tool *tool, char *key, const struct slot *slots, size_t count, const char *margin) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    size_t end = 0;
    int rc = 0;
    while (end < count && slots[end].row == 0) end++;
    for (size_t i = 0; i < end && !rc; i++) {
        text_puts(&out, i ? "; " : "{");
        rc = append_slot(tool, key, &slots[i], &out);
        for (size_t at = end; at < count && slots[at].row == 1 && !rc; at++) {
            if (slots[at].column != slots[i].column) continue;
            text_puts(&out, " = ");
            rc = append_slot(tool, key, &slots[at], &out);
        }
    }
    text_puts(&out, end ? "}" : "{}");
    sink_text(&tool->out, margin);
    sink_one_line(&tool->out, STYLE_TYPE, buffer.bytes, buffer.length);
    sink_text(&tool->out, "\n");
    text_buffer_free(&buffer);
    return rc;
}

struct row_text {
    char label[32];
    struct text_buffer opcode, operands;
    size_t label_columns, opcode_columns;
};

static int row_read(struct tool *tool, char *key, const struct slot *slots, size_t first, size_t end, struct row_text *row) {
    struct text_out opcode = text_buffer_out(&row->opcode), rest = text_buffer_out(&row->operands);
    snprintf(row->label, sizeof row->label, "[%lld]", (long long)slots[first].row);
    row->label_columns = strlen(row->label);
    int rc = 0;
    if (!slots[first].column) rc = append_slot(tool, key, &slots[first], &opcode);
    else text_puts(&opcode, "?");
    if (!rc) rc = operands(tool, key, slots, first, end, &rest);
    row->opcode_columns = row->opcode.bytes ? text_columns(row->opcode.bytes, row->opcode.length) : 0;
    return rc ? rc : opcode.error || rest.error ? KVSPACE_ENOMEM : 0;
}

static void row_draw(struct tool *tool, const struct row_text *row, const char *margin, size_t label_width,
                     size_t opcode_width) {
    struct sink *out = &tool->out;
    sink_text(out, margin);
    sink_blanks(out, label_width - row->label_columns);
    sink_one_line(out, STYLE_DIM, row->label, strlen(row->label));
    sink_text(out, "  ");
    sink_one_line(out, STYLE_OPCODE, row->opcode.bytes ? row->opcode.bytes : "", row->opcode.length);
    if (row->operands.length) {
        sink_blanks(out, opcode_width - row->opcode_columns + 2);
        sink_one_line(out, STYLE_PLAIN, row->operands.bytes, row->operands.length);
    }
    sink_text(out, "\n");
}

static void rows_free(struct row_text *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        text_buffer_free(&rows[i].opcode);
        text_buffer_free(&rows[i].operands);
    }
    free(rows);
}

/* The rows from `slots` on, at most `most`. */
static int draw_rows(struct tool *tool, char *key, const struct slot *slots, size_t count, const char *margin, uint64_t most) {
    struct row_text *rows = calloc(count ? count : 1, sizeof *rows);
    if (!rows) return KVSPACE_ENOMEM;
    size_t used = 0, label_width = 0, opcode_width = 0;
    uint64_t left_out = 0;
    int rc = 0;
    for (size_t first = 0; first < count && !rc;) {
        size_t end = first + 1;
        while (end < count && slots[end].row == slots[first].row) end++;
        if (most && used >= most) left_out++;
        else {
            rc = row_read(tool, key, slots, first, end, &rows[used]);
            if (rows[used].label_columns > label_width) label_width = rows[used].label_columns;
            if (rows[used].opcode_columns > opcode_width) opcode_width = rows[used].opcode_columns;
            used++;
        }
        first = end;
    }
    for (size_t i = 0; i < used && !rc; i++) row_draw(tool, &rows[i], margin, label_width, opcode_width);
    if (left_out && !rc)
        sink_format(&tool->out, "%s%s %llu more rows\n", margin, tool->ascii ? "..." : "…", (unsigned long long)left_out);
    rows_free(rows, used);
    return rc;
}

int function_draw(struct tool *tool, char *key, const struct tool_entries *entries, const char *margin, uint64_t most) {
    struct slot *slots = malloc((entries->count ? entries->count : 1) * sizeof *slots);
    if (!slots) return KVSPACE_ENOMEM;
    size_t count = 0, head = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const struct tool_entry *entry = &entries->items[i];
        struct slot slot = {.entry = entry};
        if (entry->step == KVSPACE_STEP_CHILD && entry->has_value && slot_name(entry->name, &slot.row, &slot.column))
            slots[count++] = slot;
    }
    qsort(slots, count, sizeof *slots, compare_slots);
    while (head < count && slots[head].row == 0) head++;
    struct kvspace_value value;
    if (!kvspace_get(tool->space, key, &value) && is_type(&value, "def struct")) {
        int failed = fields(tool, key, slots, count, margin);
        free(slots);
        return failed;
    }
    int rc = head ? signature(tool, key, slots, head, margin) : 0;
    if (!rc) rc = draw_rows(tool, key, slots + head, count - head, margin, most);
    free(slots);
    return rc;
}
