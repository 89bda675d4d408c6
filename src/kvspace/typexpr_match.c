/* What can be done with a parsed type: match, compare, print. The meaning of matching is told in typexpr.h.
 * Relies on the form that typexpr.c makes. Promises: no allocation, no change of its arguments; recursion only into map
 * values, so at most TYPEXPR_DEPTH_MAX deep; a union holds at most one map, so time stays near the product of the sizes. */
#include "kvspace/typexpr.h"

#include "kvspace/utf8.h"

#include <string.h>

/* ---- matching ---- */

static bool axis_takes(uint64_t pattern, uint64_t actual) { return pattern == AXIS_ANY || pattern == actual; }

static bool axes_take(const uint64_t *pattern, const uint64_t *actual, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!axis_takes(pattern[i], actual[i])) return false;
    return true;
}

/* `actual` has `ndim` axes, each a length or AXIS_ANY for an unknown one. */
static bool dims_take(const struct typexpr_atom *pattern, size_t ndim, const uint64_t *actual) {
    const uint64_t *axes = typexpr_axes(pattern);
    size_t count = pattern->axis_count;
    if (!pattern->quantifier) return ndim == count && axes_take(axes, actual, count);
    size_t before = pattern->quantifier - 1U;
    size_t after = count - pattern->quantifier;
    uint64_t quantifier = axes[before];
    if (ndim < before + after) return false;
    size_t free = ndim - before - after; /* axes that fall to the quantifier */
    if (quantifier == AXIS_OPTIONAL && free > 1) return false;
    if (quantifier == AXIS_PLUS && free == 0) return false;
    return axes_take(axes, actual, before) && axes_take(axes + before + 1, actual + ndim - after, after);
}

static const char lib_prefix[] = "/lib/";

bool typexpr_same_name(const char *left, size_t left_bytes, const char *right, size_t right_bytes) {
    size_t prefix = sizeof lib_prefix - 1;
    if (left_bytes > prefix && memcmp(left, lib_prefix, prefix) == 0) {
        left += prefix;
        left_bytes -= prefix;
    }
    if (right_bytes > prefix && memcmp(right, lib_prefix, prefix) == 0) {
        right += prefix;
        right_bytes -= prefix;
    }
    return left_bytes == right_bytes && memcmp(left, right, left_bytes) == 0;
}

static bool map_takes(const struct typexpr_atom *pattern, const struct typexpr_atom *actual) {
    return pattern->key_count == actual->key_count && pattern->kind == actual->kind &&
           memcmp(pattern->key, actual->key, sizeof pattern->key) == 0 &&
           typexpr_match(typexpr_map_value(pattern), typexpr_map_value(actual));
}

static bool word_takes(const struct typexpr_atom *pattern, const struct typexpr_actual *actual) {
    const char *name = actual->class == TYPE_NONE ? "none" : actual->name;
    size_t bytes = actual->class == TYPE_NONE ? 4 : actual->name_bytes;
    return pattern->name_bytes == bytes && memcmp(typexpr_name(pattern), name, bytes) == 0;
}

/* `kind` of an actual of class TYPE_ANY that has no axes because `[*]any` or `[?]any` allows that: it is one element of
 * unknown kind, while plain `any` (kind 0) may also be a map, a pointer or None. */
enum { ANY_ELEMENT = 1 };

/* One member of the pattern against a type without ? * +. */
bool typexpr_atom_takes(const struct typexpr_atom *pattern, const struct typexpr_actual *actual) {
    bool whole_any = pattern->class == TYPE_ANY && pattern->axis_count == 0;
    if (whole_any && !pattern->prefix) return true;
    if (pattern->prefix != actual->prefix) return false;
    if (whole_any) return true;
    switch (pattern->class) {
    case TYPE_KIND:
        return actual->class == TYPE_KIND && pattern->kind == actual->kind &&
               dims_take(pattern, actual->ndim, actual->dims);
    case TYPE_NAME:
        return actual->class == TYPE_NAME && dims_take(pattern, actual->ndim, actual->dims) &&
               typexpr_same_name(typexpr_name(pattern), pattern->name_bytes, actual->name, actual->name_bytes);
    case TYPE_ANY: { /* with dims */
        bool elements = actual->class == TYPE_KIND || actual->class == TYPE_NAME ||
                        (actual->class == TYPE_ANY && (actual->ndim > 0 || actual->kind == ANY_ELEMENT));
        return elements && dims_take(pattern, actual->ndim, actual->dims);
    }
    case TYPE_MAP: return actual->class == TYPE_MAP && map_takes(pattern, actual->map);
    default: return (actual->class == TYPE_WORD || actual->class == TYPE_NONE) && word_takes(pattern, actual);
    }
}

bool typexpr_match_actual_slow(const struct typexpr *pattern, const struct typexpr_actual *actual) {
    if (actual->class == TYPE_KIND && !actual->prefix && actual->ndim == 0)
        return typexpr_takes_scalar(pattern, actual->kind);
    if (typexpr_is_any(pattern)) return true;
    for (const struct typexpr_atom *atom = typexpr_first(pattern); atom; atom = typexpr_next(pattern, atom))
        if (typexpr_atom_takes(atom, actual)) return true;
    return false;
}

/* The atom with its quantifier replaced by `free` axes of unknown length. */
static void describe(const struct typexpr_atom *atom, size_t free, struct typexpr_actual *actual) {
    *actual = (struct typexpr_actual){.class = atom->class, .kind = atom->kind, .prefix = atom->prefix};
    if (atom->class == TYPE_MAP) actual->map = atom;
    actual->name = typexpr_name(atom);
    actual->name_bytes = atom->name_bytes;
    size_t ndim = 0;
    for (size_t i = 0; i < atom->axis_count; i++) {
        size_t times = i + 1U == atom->quantifier ? free : 1;
        for (; times > 0; times--) actual->dims[ndim++] = i + 1U == atom->quantifier ? AXIS_ANY : typexpr_axes(atom)[i];
    }
    actual->ndim = (uint8_t)ndim;
    if (atom->class == TYPE_ANY && atom->quantifier) actual->kind = ANY_ELEMENT;
}

/* Every number of axes that the atom allows has to be taken, each by some member of the pattern. */
static bool union_takes_atom(const struct typexpr *pattern, const struct typexpr_atom *atom) {
    size_t least = 0;
    size_t most = 0;
    if (atom->quantifier) {
        uint64_t quantifier = typexpr_axes(atom)[atom->quantifier - 1];
        size_t fixed = atom->axis_count - 1U;
        least = quantifier == AXIS_PLUS;
        most = quantifier == AXIS_OPTIONAL ? 1 : TYPEXPR_AXES_MAX - fixed;
    }
    for (size_t free = least; free <= most; free++) {
        struct typexpr_actual actual;
        describe(atom, free, &actual);
        if (!typexpr_match_actual(pattern, &actual)) return false;
    }
    return true;
}

bool typexpr_match(const struct typexpr *pattern, const struct typexpr *actual) {
    if (typexpr_is_any(pattern)) return true;
    for (const struct typexpr_atom *atom = typexpr_first(actual); atom; atom = typexpr_next(actual, atom))
        if (!union_takes_atom(pattern, atom)) return false;
    return true;
}

bool typexpr_equal(const struct typexpr *left, const struct typexpr *right) {
    if (left->bytes == right->bytes && memcmp(left, right, left->bytes) == 0) return true;
    return typexpr_match(left, right) && typexpr_match(right, left);
}

enum kv_kind typexpr_only_kind(const struct typexpr *type) {
    const struct typexpr_atom *atom = typexpr_first(type);
    bool scalar = type->atom_count == 1 && atom->class == TYPE_KIND && !atom->prefix && atom->axis_count == 0;
    return scalar ? (enum kv_kind)atom->kind : KIND_NONE;
}

void typexpr_describe(const struct typexpr_atom *atom, struct typexpr_actual *actual) {
    *actual = (struct typexpr_actual){.class = atom->class, .kind = atom->kind, .prefix = atom->prefix,
                                      .ndim = atom->axis_count, .map = atom, .name = typexpr_name(atom),
                                      .name_bytes = atom->name_bytes};
    memcpy(actual->dims, typexpr_axes(atom), atom->axis_count * sizeof(uint64_t));
}

bool typexpr_actual_of(const struct typexpr *type, struct typexpr_actual *actual) {
    const struct typexpr_atom *atom = typexpr_first(type);
    if (type->atom_count != 1 || atom->quantifier) return false;
    describe(atom, 0, actual);
    return true;
}

/* ---- printing ---- */

struct printer {
    char *out;
    size_t capacity, length;
};

static void put(struct printer *printer, const char *text, size_t bytes) {
    if (printer->length < printer->capacity) {
        size_t room = printer->capacity - printer->length;
        memcpy(printer->out + printer->length, text, bytes < room ? bytes : room);
    }
    printer->length += bytes;
}

static void put_text(struct printer *printer, const char *text) { put(printer, text, strlen(text)); }

static void put_length(struct printer *printer, uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put(printer, digits + at, sizeof digits - at);
}

static void put_dims(struct printer *printer, size_t count, const uint64_t *axes) {
    if (count == 0) return;
    put_text(printer, "[");
    for (size_t i = 0; i < count && !(count == 1 && axes[0] == AXIS_ANY); i++) {
        if (i) put_text(printer, ",");
        if (axes[i] < AXIS_LEAST) put_length(printer, axes[i]);
        else put_text(printer, axes[i] == AXIS_ANY ? "." : axes[i] == AXIS_OPTIONAL ? "?" : axes[i] == AXIS_STAR ? "*" : "+");
    }
    put_text(printer, "]");
}

static void put_union(struct printer *printer, const struct typexpr *type);

static void put_map(struct printer *printer, const struct typexpr_atom *atom) {
    put_text(printer, "[");
    for (size_t i = 0; i < atom->key_count; i++) {
        if (i) put_text(printer, ",");
        put_text(printer, kind_name(atom->key[i]));
    }
    put_text(printer, "]");
    if (atom->key_count == 0) put_text(printer, kind_name(atom->kind));
    put_text(printer, "·");
    put_union(printer, typexpr_map_value(atom));
}

static void put_actual(struct printer *printer, const struct typexpr_actual *actual) {
    if (actual->prefix) put(printer, (const char *)&actual->prefix, 1);
    put_dims(printer, actual->ndim, actual->dims);
    switch (actual->class) {
    case TYPE_NONE: put_text(printer, "None"); break;
    case TYPE_KIND: put_text(printer, kind_name(actual->kind)); break;
    case TYPE_ANY: put_text(printer, "any"); break;
    case TYPE_MAP: put_map(printer, actual->map); break;
    default: put(printer, actual->name, actual->name_bytes); break;
    }
}

static void put_union(struct printer *printer, const struct typexpr *type) {
    for (const struct typexpr_atom *atom = typexpr_first(type); atom; atom = typexpr_next(type, atom)) {
        if (atom != typexpr_first(type)) put_text(printer, "|");
        struct typexpr_actual actual;
        typexpr_describe(atom, &actual);
        put_actual(printer, &actual);
    }
}

static size_t finish(struct printer *printer) {
    if (printer->capacity == 0) return printer->length;
    /* Cut text ends with a whole code point. */
    size_t end = printer->length < printer->capacity ? printer->length : printer->capacity - 1;
    if (end < printer->length) end = utf8_valid_prefix(printer->out, end);
    printer->out[end] = 0;
    return printer->length;
}

size_t typexpr_print(const struct typexpr *type, char *out, size_t capacity) {
    struct printer printer = {.out = out, .capacity = capacity};
    put_union(&printer, type);
    return finish(&printer);
}

size_t typexpr_print_actual(const struct typexpr_actual *actual, char *out, size_t capacity) {
    struct printer printer = {.out = out, .capacity = capacity};
    put_actual(&printer, actual);
    return finish(&printer);
}
