/* Array, fill, map and struct literals, defaults of fields, and the fitting of literals to declared types.
 * Relies on lower.h and fold.h. An array of constants is one constant, whatever its size.
 * Promise: a literal that does not fit is reported at layout; values that are not known are left to the core's checks. */
#include <stdio.h>
#include <string.h>
#include "kvspace/numtext.h"
#include "layout/fold.h"
#include "layout/lower.h"

/* ---- fitting ---- */

static void show_number(const struct layout_slot *slot, char *out, size_t room) {
    char digits[NUMTEXT_FLOAT_MAX];
    size_t length;
    if (kind_is_float(slot->value_kind)) length = numtext_print_float64(rows_slot_float(slot), digits);
    else if (kind_row(slot->value_kind)->is_signed) length = numtext_print_int64(rows_slot_int(slot), digits);
    else length = numtext_print_uint64(slot->as.bits, digits);
    snprintf(out, room, "%.*s", (int)length, digits);
}

static void report_fit(struct lower *lower, struct ast_pos at, const struct layout_slot *slot, const struct type *expected) {
    char number[64];
    show_number(slot, number, sizeof number);
    lower_error(lower, at, DIAG_TYPE, "%s does not fit in %.*s (%s)", number, (int)expected->text.length, expected->text.at, lower->blame);
}

static void fit_number(struct lower *lower, struct ast_pos at, struct value *value, const struct type *expected) {
    bool numbers = false;
    for (const struct typexpr_atom *atom = typexpr_first(expected->form); atom; atom = typexpr_next(expected->form, atom)) {
        if (atom->class != TYPE_KIND || atom->prefix || (atom->axis_count && !typexpr_takes_scalar(expected->form, atom->kind))) continue;
        if (!kind_row(atom->kind)->has_arithmetic) continue;
        numbers = true;
        struct layout_slot fitted;
        if (fold_fit((enum kv_kind)atom->kind, &value->slot, &fitted)) {
            value->slot = fitted;
            value->type = types_scalar(&lower->scope->types, (enum kv_kind)atom->kind);
            return;
        }
    }
    if (numbers) {
        report_fit(lower, at, &value->slot, expected);
        value->type = NULL;
    }
}

static void fit_text(struct lower *lower, struct ast_pos at, struct value *value, const struct type *expected) {
    struct ast_text text = value->slot.as.text;
    uint32_t plain = 0;
    while (plain < text.length && !(text.at[plain] & 0x80)) plain++;
    bool ascii_wanted = false;
    for (const struct typexpr_atom *atom = typexpr_first(expected->form); atom; atom = typexpr_next(expected->form, atom)) {
        if (atom->class != TYPE_KIND || atom->prefix || atom->axis_count != 1 || !kind_is_char(atom->kind) || typexpr_axes(atom)[0] != AXIS_ANY) continue;
        if (atom->kind == KIND_CHAR_ASCII && plain < text.length) {
            ascii_wanted = true;
            continue;
        }
        value->slot.value_kind = atom->kind;
        value->type = types_string(&lower->scope->types, (enum kv_kind)atom->kind);
        return;
    }
    if (ascii_wanted) {
        lower_error(lower, at, DIAG_VALUE, "the text does not fit in %.*s: not all of its characters are ASCII (%s)", (int)expected->text.length,
            expected->text.at, lower->blame);
        value->type = NULL;
    }
}

static struct layout_slot element_of(const struct layout_slot *array, uint64_t index) {
    size_t size = kind_size(array->value_kind);
    struct layout_slot element = {.kind = SLOT_SCALAR, .value_kind = array->value_kind};
    memcpy(&element.as.bits, (const char *)array->as.array->body + index * size, size);
    return element;
}

static bool fit_array(struct lower *lower, struct ast_pos at, struct value *value, enum kv_kind kind) {
    const struct layout_array *array = value->slot.as.array;
    size_t size = kind_size(kind);
    uint64_t count = array->bytes / kind_size(value->slot.value_kind);
    struct layout_array *fitted = ast_alloc(lower->arena, sizeof *fitted);
    char *body = ast_alloc(lower->arena, (size_t)count * size + 8);
    if (!fitted || !body) {
        lower->out_of_memory = true;
        return true;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct layout_slot element = element_of(&value->slot, i), converted;
        if (!fold_fit(kind, &element, &converted)) {
            report_fit(lower, at, &element, types_scalar(&lower->scope->types, kind));
            value->type = NULL;
            return true;
        }
        memcpy(body + i * size, &converted.as.bits, size);
    }
    *fitted = *array;
    fitted->bytes = (size_t)count * size;
    fitted->body = body;
    value->slot.as.array = fitted;
    value->slot.value_kind = (uint8_t)kind;
    value->type = types_array(&lower->scope->types, kind, array->ndim, array->dims);
    return true;
}

void lower_convert(struct lower *lower, struct ast_pos at, struct value *value, const struct type *expected) {
    if (!value->literal || !value->type || !expected || types_within(expected, value->type)) return;
    if (value->slot.kind == SLOT_SCALAR && kind_row(value->slot.value_kind)->has_arithmetic) fit_number(lower, at, value, expected);
    else if (value->slot.kind == SLOT_TEXT) fit_text(lower, at, value, expected);
    else if (value->slot.kind == SLOT_ARRAY && kind_row(value->slot.value_kind)->has_arithmetic) {
        for (const struct typexpr_atom *atom = typexpr_first(expected->form); atom; atom = typexpr_next(expected->form, atom))
            if (atom->class == TYPE_KIND && !atom->prefix && atom->axis_count && kind_row(atom->kind)->has_arithmetic &&
                fit_array(lower, at, value, (enum kv_kind)atom->kind))
                return;
    }
}

/* ---- arrays ---- */

/* The shape that the first elements of an array literal give. */
static uint32_t shape_of(const struct ast_node *node, uint64_t *dims) {
    uint32_t ndim = 0;
    while (node->kind == AST_ARRAY && ndim < TYPEXPR_AXES_MAX) {
        dims[ndim++] = node->as.array.elements.count;
        if (!node->as.array.elements.count) break;
        node = node->as.array.elements.at[0];
    }
    return ndim;
}

enum { KINDS_INT = 1, KINDS_FLOAT = 2, KINDS_BOOL = 4, KINDS_UNSIGNED = 8, KINDS_NEGATIVE = 16, KINDS_OTHER = 32, KINDS_RAGGED = 64 };

static unsigned survey_elements(const struct ast_node *node, const uint64_t *dims, uint32_t ndim) {
    if (node->kind != AST_ARRAY || node->as.array.elements.count != dims[0]) return node->kind == AST_ARRAY ? KINDS_RAGGED : KINDS_OTHER;
    unsigned seen = 0;
    for (uint32_t i = 0; i < node->as.array.elements.count; i++) {
        const struct ast_node *element = node->as.array.elements.at[i];
        if (ndim > 1) seen |= survey_elements(element, dims + 1, ndim - 1);
        else if (element->kind == AST_INT)
            seen |= KINDS_INT | (element->as.integer.is_unsigned ? KINDS_UNSIGNED : (int64_t)element->as.integer.bits < 0 ? KINDS_NEGATIVE : 0u);
        else if (element->kind == AST_FLOAT) seen |= KINDS_FLOAT;
        else if (element->kind == AST_BOOL) seen |= KINDS_BOOL;
        else seen |= element->kind == AST_ARRAY ? KINDS_RAGGED : KINDS_OTHER;
    }
    return seen;
}

static char *fill_elements(const struct ast_node *node, enum kv_kind kind, uint32_t ndim, char *at) {
    for (uint32_t i = 0; i < node->as.array.elements.count; i++) {
        const struct ast_node *element = node->as.array.elements.at[i];
        if (ndim > 1) {
            at = fill_elements(element, kind, ndim - 1, at);
            continue;
        }
        if (element->kind == AST_BOOL) {
            *at++ = element->as.boolean.value;
            continue;
        }
        struct layout_slot slot = element->kind == AST_FLOAT ? rows_float(element->as.real.value) : rows_int((int64_t)element->as.integer.bits), fitted;
        if (element->kind == AST_INT && element->as.integer.is_unsigned) slot.value_kind = KIND_UINT64;
        if (fold_fit(kind, &slot, &fitted)) memcpy(at, &fitted.as.bits, 8);
        at += 8;
    }
    return at;
}

static bool constant_array(struct lower *lower, const struct ast_node *node, struct value *value, unsigned *seen) {
    struct layout_array *array = ast_alloc(lower->arena, sizeof *array);
    if (!array) {
        lower->out_of_memory = true;
        return false;
    }
    array->ndim = shape_of(node, array->dims);
    *seen = survey_elements(node, array->dims, array->ndim);
    if (!*seen || (*seen & (KINDS_OTHER | KINDS_RAGGED)) || ((*seen & KINDS_UNSIGNED) && (*seen & KINDS_NEGATIVE) && !(*seen & KINDS_FLOAT))) return false;
    if ((*seen & KINDS_BOOL) && (*seen & (KINDS_INT | KINDS_FLOAT))) return false;
    enum kv_kind kind = *seen & KINDS_BOOL ? KIND_BOOL : *seen & KINDS_FLOAT ? KIND_FLOAT64 : *seen & KINDS_UNSIGNED ? KIND_UINT64 : KIND_INT64;
    uint64_t count = 1;
    for (uint32_t i = 0; i < array->ndim; i++) count *= array->dims[i]; /* each element stands in the source: no overflow */
    array->bytes = (size_t)count * kind_size(kind);
    array->body = ast_alloc(lower->arena, array->bytes + 8);
    if (!array->body) {
        lower->out_of_memory = true;
        return false;
    }
    fill_elements(node, kind, array->ndim, array->body);
    value->slot = (struct layout_slot){.kind = SLOT_ARRAY, .value_kind = (uint8_t)kind, .as.array = array};
    value->type = types_array(&lower->scope->types, kind, array->ndim, array->dims);
    value->literal = true;
    return true;
}

/* The only array type that `expected` takes; NULL if there is none or more than one. */
static const struct type *array_type(struct lower *lower, const struct type *expected) {
    const struct typexpr_atom *found = NULL;
    if (!expected) return NULL;
    for (const struct typexpr_atom *atom = typexpr_first(expected->form); atom; atom = typexpr_next(expected->form, atom))
        if (atom->class == TYPE_KIND && !atom->prefix && atom->axis_count) {
            if (found) return NULL;
            found = atom;
        }
    if (!found) return NULL;
    if (expected->only) return expected;
    char text[256];
    size_t used = 0;
    for (uint32_t i = 0; i < found->axis_count; i++) {
        uint64_t axis = typexpr_axes(found)[i];
        const char *before = i ? "," : "[";
        if (axis < AXIS_LEAST) used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", before, (unsigned long long)axis);
        else used += (size_t)snprintf(text + used, sizeof text - used, "%s%c", before, axis == AXIS_ANY ? '.' : axis == AXIS_OPTIONAL ? '?' : axis == AXIS_STAR ? '*' : '+');
    }
    snprintf(text + used, sizeof text - used, "]%s", kind_name(found->kind));
    return types_of_word(&lower->scope->types, text);
}

/* The type of a row of such an array, where that can be told. */
static const struct type *row_type(struct lower *lower, const struct type *type) {
    if (!type || !type->only || type->only->quantifier || type->only->axis_count < 2) return NULL;
    uint32_t comma = 1;
    while (comma < type->text.length && type->text.at[comma] != ',') comma++;
    if (comma >= type->text.length || type->text.at[0] != '[') return NULL;
    return types_of(&lower->scope->types, scope_join(lower->scope, ast_text_of("["), "", (struct ast_text){type->text.at + comma + 1, type->text.length - comma - 1}), NULL);
}

static void push_text(struct lower *lower, struct ast_text text) {
    lower_push(lower, (struct value){.slot = rows_text(text)});
}

static const struct type *common_type(struct lower *lower, uint32_t mark) {
    if (lower->stack_count <= mark) return NULL;
    const struct type *first = lower->stack[mark].type;
    uint64_t dims[1] = {lower->stack_count - mark};
    for (uint32_t i = mark; i < lower->stack_count; i++)
        if (lower->stack[i].type != first) return NULL;
    return first && first->scalar ? types_array(&lower->scope->types, (enum kv_kind)first->scalar, 1, dims) : NULL;
}

struct value lower_array(struct lower *lower, const struct ast_node *node, const struct type *expected, const struct layout_slot *into) {
    struct value value = {0};
    unsigned seen = 0;
    const struct type *wanted = array_type(lower, expected);
    if (constant_array(lower, node, &value, &seen)) {
        lower->at = node->at;
        if (expected) lower_convert(lower, node->at, &value, expected);
        return lower_moved(lower, value, into);
    }
    if (seen & KINDS_RAGGED) lower_error(lower, node->at, DIAG_TYPE, "the rows of an array literal have different lengths");
    if ((seen & KINDS_BOOL) && (seen & (KINDS_INT | KINDS_FLOAT))) lower_error(lower, node->at, DIAG_TYPE, "the elements of an array literal have no common kind: bools and numbers");
    const struct ast_nodes *elements = &node->as.array.elements;
    if (!elements->count && !wanted)
        lower_error(lower, node->at, DIAG_TYPE, "`[]` needs a type: annotate the name, as in a:[]int64 = []");
    uint32_t mark = lower->stack_count;
    const struct type *inner = row_type(lower, wanted);
    if (wanted) push_text(lower, wanted->text);
    for (uint32_t i = 0; i < elements->count; i++) {
        struct value element = lower_expression(lower, elements->at[i], elements->at[i]->kind == AST_ARRAY ? inner : NULL, NULL);
        if (element.type && element.type->string)
            lower_error(lower, elements->at[i]->at, DIAG_SYNTAX, "a string cannot be an element of an array: use { } for a map of strings");
        if (element.slot.kind == SLOT_NONE && element.literal) lower_error(lower, elements->at[i]->at, DIAG_TYPE, "None cannot be an element of an array");
        lower_pin(lower, &element);
        lower_settle(lower, &element, elements, i + 1);
        lower_push(lower, element);
    }
    struct value result = lower_result(lower, into);
    result.type = wanted ? wanted : common_type(lower, mark);
    lower->at = node->at;
    lower_row(lower, wanted ? "newarray" : "list", mark, &result.slot, 1);
    return result;
}

struct value lower_fill(struct lower *lower, const struct ast_node *node, const struct type *expected, const struct layout_slot *into) {
    const struct type *wanted = array_type(lower, expected);
    bool fixed = wanted && wanted->only && !wanted->only->quantifier;
    for (uint32_t i = 0; fixed && i < wanted->only->axis_count; i++) fixed = typexpr_axes(wanted->only)[i] < AXIS_LEAST;
    if (!fixed) lower_error(lower, node->at, DIAG_TYPE, "a fill literal needs a type with lengths: annotate the name, as in a:[16]float32 = [1...]");
    uint32_t mark = lower->stack_count;
    push_text(lower, wanted ? wanted->text : ast_text_of(""));
    const struct type *element = wanted ? types_scalar(&lower->scope->types, types_element(wanted)) : NULL;
    struct value value = lower_expression(lower, node->as.fill.value, element, NULL);
    if (fixed) lower_expect(lower, node->as.fill.value->at, &value, element);
    lower_push(lower, value);
    struct value result = lower_result(lower, into);
    result.type = wanted;
    lower->at = node->at;
    lower_row(lower, "fillarray", mark, &result.slot, 1);
    return result;
}

/* ---- maps ---- */

static struct value key_value(struct lower *lower, const struct ast_node *key, uint32_t index) {
    if (!key) return (struct value){.slot = rows_int(index), .literal = true};
    struct value value = lower_expression(lower, key, NULL, NULL);
    return value;
}

enum key_sort { KEY_UNKNOWN, KEY_TEXT, KEY_INTEGER, KEY_BOOL, KEY_TUPLE };

static enum key_sort sort_of_key(const struct ast_node *key) {
    if (!key || key->kind == AST_INT) return KEY_INTEGER;
    return key->kind == AST_STRING ? KEY_TEXT : key->kind == AST_BOOL ? KEY_BOOL : key->kind == AST_ARRAY ? KEY_TUPLE : KEY_UNKNOWN;
}

/* The sort of keys that a map type has: `[]char/utf8·any`, `[int64]·T` and `int64·T`, `[int64,int64]·T`. */
static enum key_sort sort_of_type(const struct type *type) {
    struct ast_text text = type ? type->text : (struct ast_text){"", 0};
    if (text.length > 2 && memcmp(text.at, "[]", 2) == 0) return KEY_TEXT;
    uint32_t from = text.length && text.at[0] == '[', end = from;
    while (end < text.length && text.at[end] != ']' && text.at[end] != ',' && (unsigned char)text.at[end] < 0x80) end++;
    if (from && end < text.length && text.at[end] == ',') return KEY_TUPLE;
    enum kv_kind kind = kind_from_name(text.at + from, end - from);
    return kind == KIND_BOOL ? KEY_BOOL : kind_is_integer(kind) ? KEY_INTEGER : KEY_UNKNOWN;
}

/* All keys of a literal are of one sort: the declared one, else the first one's. */
static void check_keys(struct lower *lower, const struct ast_node *node, const struct type *wanted) {
    static const char *const names[] = {"", "a text", "an integer", "a bool", "a tuple"};
    enum key_sort sort = sort_of_type(wanted);
    if (sort == KEY_UNKNOWN && node->as.map.count) sort = sort_of_key(node->as.map.entries[0].key);
    for (uint32_t i = 0; i < node->as.map.count; i++) {
        const struct ast_entry *entry = &node->as.map.entries[i];
        enum key_sort here = sort_of_key(entry->key);
        if (here == sort || here == KEY_UNKNOWN || sort == KEY_UNKNOWN) continue;
        lower_error(lower, entry->key ? entry->key->at : entry->value->at, DIAG_TYPE, "a key of this map is %s, not %s", names[sort], names[here]);
        return;
    }
}

static const struct type *map_type(struct lower *lower, const struct type *expected) {
    if (!expected || !expected->only || expected->only->class != TYPE_MAP || expected->only->prefix) return NULL;
    (void)lower;
    return expected;
}

struct value lower_map(struct lower *lower, const struct ast_node *node, const struct type *expected, const struct layout_slot *into) {
    const struct type *wanted = map_type(lower, expected), *values = types_map_value(&lower->scope->types, wanted);
    uint32_t mark = lower->stack_count, count = node->as.map.count;
    check_keys(lower, node, wanted);
    push_text(lower, wanted ? wanted->text : ast_text_of(""));
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_entry *entry = &node->as.map.entries[i];
        lower_push(lower, key_value(lower, entry->key, i));
        if (values) lower_blame(lower, "a value of the map");
        struct value value = lower_expression(lower, entry->value, values, NULL);
        if (values) lower_expect(lower, entry->value->at, &value, values);
        lower_pin(lower, &value);
        lower_push(lower, value);
    }
    struct value result = lower_result(lower, into);
    const struct type *inferred = NULL;
    if (count) {
        const struct ast_node *key = node->as.map.entries[0].key;
        inferred = key && key->kind == AST_STRING ? types_of_word(&lower->scope->types, "[]char/utf8\xc2\xb7" "any")
                 : !key || key->kind == AST_INT ? types_of_word(&lower->scope->types, "[int64]\xc2\xb7" "any") : NULL;
    }
    result.type = wanted ? wanted : inferred;
    lower->at = node->at;
    lower_row(lower, "newmap", mark, &result.slot, 1);
    return result;
}

/* ---- structs ---- */

static struct symbol *struct_of(struct lower *lower, const struct ast_node *node) {
    struct ast_text name = node->as.struct_literal.name;
    struct symbol *symbol = scope_struct(lower->scope, lower->package, name, node->as.struct_literal.member_at);
    if (symbol) {
        scope_type_params(lower->scope, symbol);
        return symbol;
    }
    char near[256];
    scope_nearest(lower->scope, lower->package, name, true, near, sizeof near);
    lower_error(lower, node->at, DIAG_NAME, "there is no struct `%.*s`%s%s%s", (int)name.length, name.at, near[0] ? "; did you mean " : "", near,
        near[0] ? "?" : "");
    return NULL;
}

static int field_of(const struct symbol *symbol, struct ast_text name) {
    for (uint32_t i = 0; i < symbol->writes; i++)
        if (ast_text_equal(symbol->params[i].name, name)) return (int)i;
    return -1;
}

void lower_no_field(struct lower *lower, struct ast_pos at, const struct symbol *symbol, struct ast_text name) {
    struct ast_text best = {"", 0}, shown = scope_shown(symbol);
    unsigned limit = scope_near_limit(name), nearest = limit + 1;
    for (uint32_t i = 0; i < symbol->writes; i++) {
        unsigned distance = scope_distance(symbol->params[i].name, name, limit);
        if (distance >= nearest) continue;
        nearest = distance;
        best = symbol->params[i].name;
    }
    lower_error(lower, at, DIAG_TYPE, "struct `%.*s` has no field `%.*s`%s%.*s%s", (int)shown.length, shown.at, (int)name.length, name.at,
        best.length ? "; did you mean `" : "", (int)best.length, best.at, best.length ? "`?" : "");
}

/* The field that an entry names; reports an unknown one and one that is given twice. */
static const struct signature_param *entry_field(struct lower *lower, const struct symbol *symbol, const struct ast_node *node, uint32_t index) {
    const struct ast_node *key = node->as.struct_literal.entries[index].key;
    struct ast_text name = key->as.string.value;
    int field = field_of(symbol, name);
    if (field < 0) {
        lower_no_field(lower, key->at, symbol, name);
        return NULL;
    }
    for (uint32_t i = 0; i < index; i++)
        if (ast_text_equal(node->as.struct_literal.entries[i].key->as.string.value, name)) {
            lower_error(lower, key->at, DIAG_TYPE, "field `%.*s` is given twice", (int)name.length, name.at);
            break;
        }
    return &symbol->params[field];
}

struct value lower_struct(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    struct symbol *symbol = struct_of(lower, node);
    uint32_t mark = lower->stack_count;
    if (symbol) lower_push(lower, (struct value){.slot = rows_path(symbol->path)});
    for (uint32_t i = 0; i < node->as.struct_literal.count; i++) {
        const struct ast_entry *entry = &node->as.struct_literal.entries[i];
        const struct signature_param *field = symbol ? entry_field(lower, symbol, node, i) : NULL;
        const struct type *type = field ? field->type : NULL;
        push_text(lower, entry->key->as.string.value);
        if (field) {
            struct ast_text shown = scope_shown(symbol);
            lower_blame(lower, "field `%.*s` of `%.*s`", (int)field->name.length, field->name.at, (int)shown.length, shown.at);
        }
        char blame[sizeof lower->blame];
        memcpy(blame, lower->blame, sizeof blame);
        struct value value = lower_expression(lower, entry->value, type, NULL);
        memcpy(lower->blame, blame, sizeof blame);
        if (field) lower_expect(lower, entry->value->at, &value, type);
        lower_pin(lower, &value);
        lower_push(lower, value);
    }
    struct value result = lower_result(lower, into);
    if (symbol) result.type = types_of(&lower->scope->types, scope_shown(symbol), NULL);
    lower->at = node->at;
    lower_row(lower, "newstruct", mark, &result.slot, 1);
    return result;
}

/* ---- defaults of fields ---- */

static bool default_record(struct lower *lower, const struct ast_node *node, const struct type *type, struct layout_slot *slot) {
    bool structure = node->kind == AST_STRUCT_LITERAL;
    struct symbol *symbol = structure ? struct_of(lower, node) : NULL;
    if (structure && !symbol) return false;
    const struct ast_entry *entries = structure ? node->as.struct_literal.entries : node->as.map.entries;
    uint32_t count = structure ? node->as.struct_literal.count : node->as.map.count;
    struct layout_record *record = ast_alloc(lower->arena, sizeof *record);
    struct layout_slot *slots = ast_alloc(lower->arena, (2 * (size_t)count + 1) * sizeof *slots);
    if (!record || !slots) {
        lower->out_of_memory = true;
        return false;
    }
    const struct type *map = structure ? NULL : map_type(lower, type);
    record->type = structure ? symbol->path : map ? map->text : ast_text_of(count && !entries[0].key ? "[int64]\xc2\xb7" "any" : "[]char/utf8\xc2\xb7" "any");
    record->count = count;
    record->keys = slots;
    record->values = slots + count;
    const struct type *values = types_map_value(&lower->scope->types, map);
    for (uint32_t i = 0; i < count; i++) {
        if (structure) {
            const struct signature_param *field = entry_field(lower, symbol, node, i);
            if (!field) return false;
            values = field->type;
        }
        if (!entries[i].key) record->keys[i] = rows_int(i);
        else if (!lower_default(lower, entries[i].key, NULL, &record->keys[i])) return false;
        if (!lower_default(lower, entries[i].value, values, &record->values[i])) return false;
    }
    *slot = (struct layout_slot){.kind = SLOT_RECORD, .as.record = record};
    return true;
}

bool lower_default(struct lower *lower, const struct ast_node *node, const struct type *type, struct layout_slot *slot) {
    if (node->kind == AST_STRUCT_LITERAL || node->kind == AST_MAP) {
        if (!default_record(lower, node, type, slot)) return false;
        struct value made = {.slot = *slot, .type = types_of(&lower->scope->types, slot->as.record->type, NULL)};
        return lower_expect(lower, node->at, &made, type) < 2;
    }
    uint32_t before = lower->row_count;
    struct value value = lower_expression(lower, node, type, NULL);
    bool computed = lower->row_count != before || value.slot.kind == SLOT_NAME || value.slot.kind == SLOT_PATH;
    bool zeros = computed && node->kind == AST_ARRAY && !node->as.array.elements.count && type;
    lower->row_count = before;
    lower_release(lower, &value);
    if (zeros) { /* `[]` of a declared type: the core makes the zeros; the default is the type alone */
        struct layout_array *array = ast_alloc(lower->arena, sizeof *array);
        const struct type *wanted = array_type(lower, type);
        if (!array || !wanted) return false;
        array->ndim = wanted->only->axis_count;
        uint64_t bytes = kind_size(types_element(wanted));
        for (uint32_t i = 0; i < array->ndim; i++) {
            uint64_t axis = typexpr_axes(wanted->only)[i];
            array->dims[i] = axis < AXIS_LEAST ? axis : 0;
            if (array->dims[i] && bytes > ((uint64_t)1 << 28) / array->dims[i]) {
                lower_error(lower, node->at, DIAG_TYPE, "a default of more than 256 MiB");
                return false;
            }
            bytes *= array->dims[i];
        }
        array->bytes = (size_t)bytes;
        array->body = ast_alloc(lower->arena, array->bytes + 8);
        if (!array->body) {
            lower->out_of_memory = true;
            return false;
        }
        *slot = (struct layout_slot){.kind = SLOT_ARRAY, .value_kind = (uint8_t)types_element(wanted), .as.array = array};
        return true;
    }
    if (computed) {
        lower_error(lower, node->at, DIAG_TYPE, "a default must be a literal, a struct literal, or a conversion of a literal");
        return false;
    }
    *slot = value.slot;
    return lower_expect(lower, node->at, &value, type) < 2;
}
