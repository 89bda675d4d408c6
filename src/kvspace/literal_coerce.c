/* Values that fit types: conversion of numbers, encoding of strings, arrays and maps of a declared type.
 * Relies on typexpr.h for what a type takes and numtext.h for rounding. Two rules (language.md §3): a conversion by a kind's
 * name wraps integers and truncates floats; a declared type takes literals whose value fits, and everything else as it is. */
#include "kvspace/literal_parser.h"

#include "kvspace/numtext.h"
#include "kvspace/utf8.h"

#include <string.h>

/* ---- elements ---- */

static double element_double(struct literal_element element) {
    double value;
    memcpy(&value, &element.bits, sizeof value);
    return value;
}

static void set_double(struct literal_element *element, double value) { memcpy(&element->bits, &value, sizeof value); }

/* The integer cut to the width of the kind, as two's complement does. */
static uint64_t wrap_integer(enum kv_kind kind, uint64_t bits) {
    unsigned shift = (unsigned)(64 - 8 * kind_size(kind));
    return kind_class(kind) == KIND_CLASS_INT ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits << shift >> shift;
}

/* The integer that the float truncates to, if the kind can hold it. */
static bool truncate_float(enum kv_kind kind, double value, uint64_t *bits) {
    if (!(value > -9223372036854777856.0 && value < 18446744073709551616.0)) return false; /* also NaN */
    if (value < 0) {
        if (value < -9223372036854775808.0) return false;
        int64_t whole = (int64_t)value;
        *bits = (uint64_t)whole;
        return kind_holds_int64(kind, whole);
    }
    *bits = (uint64_t)value;
    return kind_holds_uint64(kind, *bits);
}

/* The nearest value of a float kind. Integers go through their digits, so that they are rounded once. */
static void round_to_kind(enum kv_kind kind, struct literal_element *element) {
    uint64_t bits = 0;
    if (kind_is_integer(element->kind)) {
        char digits[NUMTEXT_INTEGER_MAX];
        size_t length = kind_class(element->kind) == KIND_CLASS_INT ? numtext_print_int64((int64_t)element->bits, digits)
                                                                     : numtext_print_uint64(element->bits, digits);
        (void)numtext_parse_float(kind, digits, length, &bits);
    } else {
        double value = element_double(*element);
        float single = (float)value;
        uint16_t small = numtext_small_from_float64(kind, value);
        if (kind == KIND_FLOAT64) memcpy(&bits, &value, sizeof value);
        else if (kind == KIND_FLOAT32) memcpy(&bits, &single, sizeof single);
        else memcpy(&bits, &small, sizeof small);
    }
    float single;
    uint16_t small;
    memcpy(&single, &bits, sizeof single);
    memcpy(&small, &bits, sizeof small);
    if (kind == KIND_FLOAT64) element->bits = bits;
    else set_double(element, kind == KIND_FLOAT32 ? (double)single : (double)numtext_small_to_float32(kind, small));
}

static int fail_fit(struct literal_parser *parser, size_t position, enum kv_kind kind, struct literal_element element) {
    char text[NUMTEXT_FLOAT_MAX];
    if (kind_is_float(element.kind)) (void)numtext_print_float64(element_double(element), text);
    else if (kind_class(element.kind) == KIND_CLASS_INT) (void)numtext_print_int64((int64_t)element.bits, text);
    else (void)numtext_print_uint64(element.bits, text);
    return LITERAL_FAIL(parser, LITERAL_EVALUE, position, "%s does not fit %s", text, kind_name(kind));
}

static int fail_kind(struct literal_parser *parser, size_t position, enum kv_kind kind, enum kv_kind found) {
    return LITERAL_FAIL(parser, LITERAL_ETYPE, position, "expected %s, found %s", kind_name(kind), kind_name(found));
}

static int convert_to_integer(struct literal_parser *parser, size_t position, enum kv_kind kind, bool wrap,
                              struct literal_element *element) {
    struct literal_element source = *element;
    if (kind_is_float(source.kind)) {
        double value = element_double(source);
        bool holds = truncate_float(kind, value, &element->bits);
        bool whole = holds && (value < 0 ? (double)(int64_t)element->bits : (double)element->bits) == value;
        return holds && (wrap || whole) ? LITERAL_OK : fail_fit(parser, position, kind, source);
    }
    if (wrap) {
        element->bits = wrap_integer(kind, source.bits);
        return LITERAL_OK;
    }
    bool holds = kind_class(source.kind) == KIND_CLASS_INT ? kind_holds_int64(kind, (int64_t)source.bits)
                                                           : kind_holds_uint64(kind, source.bits);
    return holds ? LITERAL_OK : fail_fit(parser, position, kind, source);
}

static int convert_to_float(struct literal_parser *parser, size_t position, enum kv_kind kind, bool wrap,
                            struct literal_element *element) {
    struct literal_element source = *element;
    if (source.kind == KIND_BOOL) source.kind = KIND_UINT64;
    *element = source;
    round_to_kind(kind, element);
    double before = kind_is_float(source.kind) ? element_double(source) : 0;
    bool was_finite = before - before == 0;
    double after = element_double(*element);
    bool is_finite = after - after == 0;
    return wrap || is_finite || !was_finite ? LITERAL_OK : fail_fit(parser, position, kind, source);
}

int literal_convert(struct literal_parser *parser, size_t position, enum kv_kind kind, bool wrap,
                    struct literal_element *element) {
    enum kv_kind from = (enum kv_kind)element->kind;
    if (from == kind) {
        element->plain = element->plain && !wrap;
        return LITERAL_OK;
    }
    bool number = kind_is_number(from);
    bool span = from == KIND_TIME || from == KIND_DURATION;
    int rc = LITERAL_OK;
    if (!wrap && (!element->plain || !number || !kind_is_number(kind))) return fail_kind(parser, position, kind, from);
    switch (kind_class(kind)) {
    case KIND_CLASS_BOOL:
        if (!number) return fail_kind(parser, position, kind, from);
        element->bits = kind_is_float(from) ? element_double(*element) != 0 : element->bits != 0;
        break;
    case KIND_CLASS_INT:
    case KIND_CLASS_UINT: rc = convert_to_integer(parser, position, kind, wrap, element); break;
    case KIND_CLASS_FLOAT:
        if (span) return fail_kind(parser, position, kind, from);
        rc = convert_to_float(parser, position, kind, wrap, element);
        break;
    case KIND_CLASS_TIME:
    case KIND_CLASS_DURATION:
        if (!kind_is_integer(from)) return fail_kind(parser, position, kind, from);
        rc = convert_to_integer(parser, position, KIND_INT64, false, element);
        break;
    default: return fail_kind(parser, position, kind, from);
    }
    element->kind = (uint8_t)kind;
    element->plain = false;
    return rc;
}

void literal_store(struct literal_element element, void *place) {
    double value = element_double(element);
    float single = (float)value;
    uint8_t bits8 = (uint8_t)element.bits;
    uint16_t bits16 = (uint16_t)element.bits;
    uint32_t bits32 = (uint32_t)element.bits;
    if (kind_is_float(element.kind) && element.kind != KIND_FLOAT64) {
        bits16 = numtext_small_from_float64((enum kv_kind)element.kind, value);
        bits8 = (uint8_t)bits16;
        memcpy(&bits32, &single, sizeof single);
    }
    switch (kind_size(element.kind)) {
    case 1: memcpy(place, &bits8, 1); break;
    case 2: memcpy(place, &bits16, 2); break;
    case 4: memcpy(place, &bits32, 4); break;
    default: memcpy(place, &element.bits, 8); break;
    }
}

static struct literal_element load_element(enum kv_kind kind, const void *place, bool plain) {
    struct literal_element element = {0, (uint8_t)kind, plain};
    uint8_t bits8;
    uint16_t bits16;
    uint32_t bits32;
    float single;
    switch (kind_size(kind)) {
    case 1: memcpy(&bits8, place, 1); bits16 = bits8; element.bits = bits8; break;
    case 2: memcpy(&bits16, place, 2); element.bits = bits16; break;
    case 4: memcpy(&bits32, place, 4); bits16 = 0; element.bits = bits32; break;
    default: memcpy(&element.bits, place, 8); bits16 = 0; break;
    }
    if (kind_class(kind) == KIND_CLASS_INT) element.bits = wrap_integer(kind, element.bits);
    if (kind == KIND_FLOAT32) {
        memcpy(&single, place, 4);
        set_double(&element, (double)single);
    } else if (kind_is_float(kind) && kind != KIND_FLOAT64) {
        set_double(&element, (double)numtext_small_to_float32(kind, bits16));
    }
    return element;
}

struct literal_element literal_load(const struct literal *scalar) {
    return load_element((enum kv_kind)scalar->kind, scalar->body, scalar->plain != 0);
}

int literal_from_element(struct literal_parser *parser, size_t position, struct literal_element element,
                         struct literal **out) {
    struct literal *value = literal_new(parser, LITERAL_SCALAR, position);
    void *body = value ? literal_alloc(parser, 8) : NULL;
    if (!body) return LITERAL_ENOMEM;
    literal_store(element, body);
    value->kind = element.kind;
    value->plain = element.plain;
    value->body = body;
    value->body_bytes = kind_size(element.kind);
    value->type = kind_name(element.kind);
    *out = value;
    return LITERAL_OK;
}

/* ---- strings ---- */

/* Encodes value->text as `kind`. */
static int encode(struct literal_parser *parser, struct literal *value, enum kv_kind kind) {
    size_t bytes = value->text_bytes;
    size_t units = kind == KIND_CHAR_UTF32 ? utf8_count(value->text, bytes) : bytes;
    if (kind == KIND_CHAR_ASCII && !utf8_is_ascii(value->text, bytes))
        return LITERAL_FAIL(parser, LITERAL_EVALUE, value->position, "this string has characters that are not ASCII");
    if (units > parser->body_bytes_max / kind_size(kind))
        return LITERAL_FAIL(parser, LITERAL_ELIMIT, value->position, "this string is too long");
    value->body = value->text;
    if (kind == KIND_CHAR_UTF32) {
        uint32_t *points = literal_alloc(parser, units * sizeof *points);
        if (!points) return LITERAL_ENOMEM;
        size_t written;
        (void)utf8_to_utf32(value->text, bytes, points, units, &written);
        value->body = points;
    }
    value->kind = (uint8_t)kind;
    value->body_bytes = units * kind_size(kind);
    value->ndim = 1;
    value->dims[0] = units;
    value->type = kind == KIND_CHAR_UTF32 ? "[]char/utf32" : kind == KIND_CHAR_UTF8 ? "[]char/utf8" : "[]char/ascii";
    return LITERAL_OK;
}

int literal_from_text(struct literal_parser *parser, size_t position, enum kv_kind kind, const char *text, size_t bytes,
                      struct literal **out) {
    struct literal *value = literal_new(parser, LITERAL_TEXT, position);
    if (!value) return LITERAL_ENOMEM;
    value->text = text;
    value->text_bytes = bytes;
    *out = value;
    return encode(parser, value, kind);
}

/* ---- arrays ---- */

static void describe(const struct literal *value, struct typexpr_actual *actual) {
    *actual = (struct typexpr_actual){.class = TYPE_KIND, .kind = value->kind, .ndim = value->ndim};
    memcpy(actual->dims, value->dims, sizeof actual->dims);
}

int literal_array_body(struct literal_parser *parser, struct literal *array) {
    uint64_t bytes = kind_size(array->kind);
    bool too_great = false;
    for (size_t i = 0; i < array->ndim; i++) too_great |= __builtin_mul_overflow(bytes, array->dims[i], &bytes);
    if (too_great || bytes > parser->body_bytes_max)
        return LITERAL_FAIL(parser, LITERAL_ELIMIT, array->position, "this array is too large");
    struct typexpr_actual actual;
    describe(array, &actual);
    char text[256];
    size_t length = typexpr_print_actual(&actual, text, sizeof text);
    array->body = literal_alloc(parser, bytes);
    array->type = literal_copy(parser, text, length);
    array->body_bytes = bytes;
    return array->body && array->type ? LITERAL_OK : LITERAL_ENOMEM;
}

/* `[]` and `[v...]` in the shape of the atom: an open axis gets the length 0, which `[v...]` cannot fill. */
static int fill_array(struct literal_parser *parser, struct literal *array, const struct typexpr_atom *atom) {
    const struct literal_element *fill = array->body;
    bool exact = !atom->quantifier;
    for (size_t i = 0; i < atom->axis_count; i++) {
        exact &= typexpr_axes(atom)[i] < AXIS_LEAST;
        array->dims[i] = typexpr_axes(atom)[i] < AXIS_LEAST ? typexpr_axes(atom)[i] : 0;
    }
    if (fill && !exact) return LITERAL_FAIL(parser, LITERAL_ETYPE, array->position, "[v...] needs a type with lengths, [4]int64");
    struct literal_element element = fill ? *fill : (struct literal_element){0, atom->kind, false};
    int rc = literal_convert(parser, array->position, (enum kv_kind)atom->kind, false, &element);
    if (rc) return rc;
    array->kind = atom->kind;
    array->ndim = atom->axis_count;
    rc = literal_array_body(parser, array);
    if (rc || !fill) return rc;
    char *place = (char *)(uintptr_t)array->body;
    for (uint64_t at = 0; at < array->body_bytes; at += kind_size(atom->kind)) literal_store(element, place + at);
    return LITERAL_OK;
}

static int convert_array(struct literal_parser *parser, struct literal *array, enum kv_kind kind) {
    struct literal target = *array;
    target.kind = (uint8_t)kind;
    target.plain = false;
    int rc = literal_array_body(parser, &target);
    if (rc) return rc;
    const char *from = array->body;
    char *to = (char *)(uintptr_t)target.body;
    for (const char *end = from + array->body_bytes; from < end; from += kind_size(array->kind), to += kind_size(kind)) {
        struct literal_element element = load_element((enum kv_kind)array->kind, from, true);
        rc = literal_convert(parser, array->position, kind, false, &element);
        if (rc) return rc;
        literal_store(element, to);
    }
    *array = target;
    return LITERAL_OK;
}

/* ---- fitting a value to a type ---- */

static int fail_type(struct literal_parser *parser, const struct literal *value, const struct typexpr *type) {
    static const char *const names[] = {"None", "a scalar", "a string", "an array", "a map", "a struct", "a pointer", "a tuple"};
    char wanted[80];
    (void)typexpr_print(type, wanted, sizeof wanted);
    const char *found = value->type && value->type[0] ? value->type : names[value->class];
    return LITERAL_FAIL(parser, LITERAL_ETYPE, value->position, "expected %s, found %.60s", wanted, found);
}

static bool is_shape(const struct typexpr_atom *atom) { return atom->class == TYPE_KIND && !atom->prefix; }

/* Whether the atom takes the shape of the value, whatever its kind. */
static bool takes_shape(const struct typexpr_atom *atom, const struct literal *value) {
    struct typexpr_actual actual;
    describe(value, &actual);
    actual.kind = atom->kind;
    return typexpr_atom_takes(atom, &actual);
}

static int try_atom(struct literal_parser *parser, struct literal *value, const struct typexpr_atom *atom) {
    enum kv_kind kind = (enum kv_kind)atom->kind;
    if (value->class == LITERAL_TEXT) return encode(parser, value, kind);
    if (value->class == LITERAL_ARRAY) return convert_array(parser, value, kind);
    struct literal_element element = literal_load(value);
    int rc = literal_convert(parser, value->position, kind, false, &element);
    if (rc) return rc;
    struct literal *converted;
    rc = literal_from_element(parser, value->position, element, &converted);
    if (!rc) *value = *converted;
    return rc;
}

/* A scalar, string or array: as it is if the type takes it, else converted to the first member that takes its shape. */
static int coerce_shape(struct literal_parser *parser, struct literal *value, const struct typexpr *type) {
    struct typexpr_actual actual;
    describe(value, &actual);
    if (!literal_is_untyped(value) && typexpr_match_actual(type, &actual)) return LITERAL_OK;
    int rc = LITERAL_OK;
    unsigned tried = 0;
    for (const struct typexpr_atom *atom = typexpr_first(type); atom; atom = typexpr_next(type, atom)) {
        if (!is_shape(atom)) continue;
        bool text = value->class == LITERAL_TEXT;
        if (text != kind_is_char(atom->kind)) continue;
        if (literal_is_untyped(value) && value->ndim == 0) {
            if (atom->axis_count) return fill_array(parser, value, atom);
            continue;
        }
        if (!(text || value->plain || literal_is_untyped(value)) || !takes_shape(atom, value)) continue;
        if (literal_is_untyped(value)) {
            value->kind = atom->kind;
            return literal_array_body(parser, value);
        }
        rc = try_atom(parser, value, atom);
        if (rc == LITERAL_OK || rc == LITERAL_ENOMEM) return rc;
        tried++;
    }
    return tried == 1 ? rc : fail_type(parser, value, type);
}

static int coerce_key(struct literal_parser *parser, struct literal *key, const struct typexpr *type,
                      const struct typexpr_atom *atom) {
    if (atom->key_count == 0) return key->class == LITERAL_TEXT ? LITERAL_OK : fail_type(parser, key, type);
    bool tuple = key->class == LITERAL_TUPLE;
    if (!tuple && key->class != LITERAL_SCALAR) return fail_type(parser, key, type);
    if (tuple ? key->entry_count != atom->key_count : atom->key_count != 1) return fail_type(parser, key, type);
    const struct literal_entry *entry = key->entries;
    for (size_t i = 0; i < atom->key_count; i++) {
        struct literal *part = tuple ? entry->value : key;
        struct literal_element element = literal_load(part);
        int rc = literal_convert(parser, part->position, (enum kv_kind)atom->key[i], false, &element);
        if (rc) return rc;
        struct literal *converted;
        rc = literal_from_element(parser, part->position, element, &converted);
        if (rc) return rc;
        *part = *converted;
        if (tuple) entry = entry->next;
    }
    return LITERAL_OK;
}

static int set_type(struct literal_parser *parser, struct literal *value, const struct typexpr_actual *actual) {
    size_t length = typexpr_print_actual(actual, NULL, 0);
    char *text = literal_alloc(parser, length + 1);
    if (!text) return LITERAL_ENOMEM;
    (void)typexpr_print_actual(actual, text, length + 1);
    value->type = text;
    return LITERAL_OK;
}

static int coerce_map(struct literal_parser *parser, struct literal *map, const struct typexpr *type) {
    const struct typexpr_atom *atom = typexpr_first(type);
    while (atom && (atom->class != TYPE_MAP || atom->prefix)) atom = typexpr_next(type, atom);
    if (!atom) return fail_type(parser, map, type);
    for (const struct literal_entry *entry = map->entries; entry; entry = entry->next) {
        int rc = coerce_key(parser, entry->key, type, atom);
        if (!rc) rc = literal_coerce(parser, entry->value, typexpr_map_value(atom));
        if (rc) return rc;
    }
    struct typexpr_actual actual = {.class = TYPE_MAP, .map = atom};
    return set_type(parser, map, &actual);
}

/* The first member that is a pointer; all that is known of its target is the path. */
static int coerce_pointer(struct literal_parser *parser, struct literal *pointer, const struct typexpr *type) {
    const struct typexpr_atom *atom = typexpr_first(type);
    while (atom && atom->prefix != '*') atom = typexpr_next(type, atom);
    if (!atom) return fail_type(parser, pointer, type);
    struct typexpr_actual actual;
    typexpr_describe(atom, &actual);
    return set_type(parser, pointer, &actual);
}

int literal_coerce(struct literal_parser *parser, struct literal *value, const struct typexpr *type) {
    struct typexpr_actual actual = {.class = TYPE_NAME, .name = value->text, .name_bytes = (uint32_t)value->text_bytes};
    if (literal_is_untyped(value)) return coerce_shape(parser, value, type);
    if (typexpr_is_any(type)) return LITERAL_OK;
    switch (value->class) {
    case LITERAL_NONE: return LITERAL_OK; /* the absence of a value has every type */
    case LITERAL_MAP: return coerce_map(parser, value, type);
    case LITERAL_POINTER: return coerce_pointer(parser, value, type);
    case LITERAL_STRUCT: return typexpr_match_actual(type, &actual) ? LITERAL_OK : fail_type(parser, value, type);
    default: return coerce_shape(parser, value, type);
    }
}
