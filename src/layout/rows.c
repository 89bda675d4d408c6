/* Slots and rows as values and as text. Relies on literal.h for the text of scalars.
 * Promise: two slots are listed alike only if they are equal (kinds other than the literals' own are shown). */
#include "layout/rows.h"
#include <string.h>
#include "kvspace/literal.h"
#include "kvspace/numtext.h"

struct layout_slot rows_name(struct ast_text name) {
    return (struct layout_slot){.kind = SLOT_NAME, .as.text = name};
}

struct layout_slot rows_path(struct ast_text path) {
    return (struct layout_slot){.kind = SLOT_PATH, .as.text = path};
}

struct layout_slot rows_int(int64_t value) {
    return (struct layout_slot){.kind = SLOT_SCALAR, .value_kind = KIND_INT64, .as.bits = (uint64_t)value};
}

struct layout_slot rows_bool(bool value) {
    return (struct layout_slot){.kind = SLOT_SCALAR, .value_kind = KIND_BOOL, .as.bits = value};
}

struct layout_slot rows_float(double value) {
    struct layout_slot slot = {.kind = SLOT_SCALAR, .value_kind = KIND_FLOAT64};
    memcpy(&slot.as.bits, &value, sizeof value);
    return slot;
}

struct layout_slot rows_text(struct ast_text utf8) {
    return (struct layout_slot){.kind = SLOT_TEXT, .value_kind = KIND_CHAR_UTF32, .as.text = utf8};
}

int64_t rows_slot_int(const struct layout_slot *slot) {
    uint64_t bits = slot->as.bits;
    switch (slot->value_kind) {
    case KIND_INT8: return (int8_t)bits;
    case KIND_INT16: return (int16_t)bits;
    case KIND_INT32: return (int32_t)bits;
    default: return (int64_t)bits;
    }
}

double rows_slot_float(const struct layout_slot *slot) {
    if (slot->value_kind == KIND_FLOAT32) {
        uint32_t low = (uint32_t)slot->as.bits;
        float value;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &slot->as.bits, sizeof value);
    return value;
}

static bool record_equal(const struct layout_record *a, const struct layout_record *b) {
    if (a->count != b->count || !ast_text_equal(a->type, b->type)) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!rows_slot_equal(&a->keys[i], &b->keys[i]) || !rows_slot_equal(&a->values[i], &b->values[i])) return false;
    return true;
}

bool rows_slot_equal(const struct layout_slot *a, const struct layout_slot *b) {
    if (a->kind != b->kind || a->value_kind != b->value_kind) return false;
    switch (a->kind) {
    case SLOT_NONE: return true;
    case SLOT_SCALAR:
    case SLOT_LABEL: return a->as.bits == b->as.bits;
    case SLOT_ARRAY:
        return a->as.array->ndim == b->as.array->ndim && a->as.array->bytes == b->as.array->bytes &&
               memcmp(a->as.array->dims, b->as.array->dims, a->as.array->ndim * sizeof a->as.array->dims[0]) == 0 &&
               memcmp(a->as.array->body, b->as.array->body, a->as.array->bytes) == 0;
    case SLOT_RECORD: return record_equal(a->as.record, b->as.record);
    default: return ast_text_equal(a->as.text, b->as.text);
    }
}

static void put_text(struct text_out *out, struct ast_text text) {
    text_put(out, text.at, text.length);
}

static void put_number(struct text_out *out, uint64_t value) {
    char digits[NUMTEXT_INTEGER_MAX];
    text_put(out, digits, numtext_print_uint64(value, digits));
}

/* A scalar or array whose kind a bare literal would not have is wrapped: `int8(3)`, `float32[0.5]`. */
static bool kind_is_natural(const struct layout_slot *slot) {
    switch (slot->value_kind) {
    case KIND_UINT64: return slot->as.bits > INT64_MAX;
    case KIND_BOOL:
    case KIND_INT64:
    case KIND_FLOAT64:
    case KIND_CHAR_UTF32: return true;
    default: return false;
    }
}

static void list_array(const struct layout_slot *slot, struct text_out *out) {
    const struct layout_array *array = slot->as.array;
    struct literal value = {.class = LITERAL_ARRAY, .kind = slot->value_kind, .ndim = (uint8_t)array->ndim,
        .type = "", .body = array->body, .body_bytes = array->bytes};
    memcpy(value.dims, array->dims, sizeof value.dims);
    if (slot->value_kind != KIND_INT64 && slot->value_kind != KIND_FLOAT64 && slot->value_kind != KIND_BOOL)
        text_puts(out, kind_name(slot->value_kind));
    literal_print(&literal_tree_reader, &value, NULL, out);
}

static void list_record(const struct layout_record *record, struct text_out *out) {
    put_text(out, record->type);
    text_puts(out, "{");
    for (uint32_t i = 0; i < record->count; i++) {
        if (i) text_puts(out, ", ");
        rows_list_slot(&record->keys[i], out);
        text_puts(out, "=");
        rows_list_slot(&record->values[i], out);
    }
    text_puts(out, "}");
}

void rows_list_slot(const struct layout_slot *slot, struct text_out *out) {
    switch (slot->kind) {
    case SLOT_NONE: text_puts(out, "None"); break;
    case SLOT_NAME:
    case SLOT_PATH: put_text(out, slot->as.text); break;
    case SLOT_LABEL: put_number(out, slot->as.bits); break;
    case SLOT_ARRAY: list_array(slot, out); break;
    case SLOT_RECORD: list_record(slot->as.record, out); break;
    case SLOT_TEXT:
        if (slot->value_kind != KIND_CHAR_UTF32) text_puts(out, kind_name(slot->value_kind));
        text_put_quoted(out, slot->as.text.at, slot->as.text.length);
        break;
    default:
        if (!kind_is_natural(slot)) {
            text_puts(out, kind_name(slot->value_kind));
            text_puts(out, "(");
        }
        literal_print_scalar((enum kv_kind)slot->value_kind, &slot->as.bits, out); /* little-endian: the low bytes come first */
        if (!kind_is_natural(slot)) text_puts(out, ")");
    }
}

static void list_params(const struct layout_param *params, uint32_t count, bool variadic, struct text_out *out) {
    text_puts(out, "(");
    for (uint32_t i = 0; i < count; i++) {
        if (i) text_puts(out, ", ");
        put_text(out, params[i].name);
        text_puts(out, ":");
        put_text(out, params[i].type);
        if (variadic && i + 1 == count) text_puts(out, "...");
    }
    text_puts(out, ")");
}

static void list_row(const struct layout_row *row, uint32_t number, struct text_out *out) {
    text_puts(out, "\t");
    put_number(out, number);
    text_puts(out, " ");
    put_text(out, row->opcode);
    for (uint32_t i = 0; i < row->reads; i++) {
        text_puts(out, i ? ", " : " ");
        rows_list_slot(&row->slots[i], out);
    }
    for (uint32_t i = 0; i < row->writes; i++) {
        text_puts(out, i ? ", " : " -> ");
        rows_list_slot(&row->slots[row->reads + i], out);
    }
    text_puts(out, "\n");
}

void rows_list(const struct layout_item *item, struct text_out *out) {
    static const char *const words[] = {"", "rwir ", "struct "};
    text_puts(out, words[item->kind]);
    put_text(out, item->path);
    list_params(item->params, item->reads, item->variadic, out);
    text_puts(out, " -> ");
    list_params(item->params + item->reads, item->writes, false, out);
    text_puts(out, "\n");
    for (uint32_t i = 0; item->kind == ITEM_STRUCT && i < item->writes; i++) {
        text_puts(out, "\t= ");
        rows_list_slot(&item->defaults[i], out);
        text_puts(out, "\n");
    }
    for (uint32_t i = 0; i < item->row_count; i++) list_row(&item->rows[i], i + 1, out);
}

void rows_list_unit(const struct layout_unit *unit, struct text_out *out) {
    for (uint32_t i = 0; i < unit->count; i++) rows_list(&unit->items[i], out);
    for (uint32_t i = 0; i < unit->init_count; i++) {
        text_puts(out, i ? ", " : "inits: ");
        put_text(out, unit->inits[i]);
    }
    if (unit->init_count) text_puts(out, "\n");
}
