/* Equality, order and conversion of values over all kinds. Printing is in value_print.c.
 * Relies on value.h, text.h, map.h, numtext.h. Promises: numbers are compared without rounding; no undefined conversion. */
#include "core/value.h"

#include <math.h>

#include "core/array.h"
#include "core/map.h"
#include "core/text.h"
#include "core/types.h"
#include "kvspace/numtext.h"
#include "kvspace/timetext.h"

/* ---- numbers ---- */

double number_as_float64(const struct cell *cell) {
    unsigned kind = cell_kind(cell);
    switch (kind) {
    case KIND_FLOAT64: return cell_as_float64(cell);
    case KIND_FLOAT32: return (double)cell_as_float32(cell);
    case KIND_UINT64: return (double)cell->payload;
    case KIND_FLOAT16:
    case KIND_BFLOAT16:
    case KIND_FLOAT8_E4M3:
    case KIND_FLOAT8_E5M2: return (double)numtext_small_to_float32((enum kv_kind)kind, (uint16_t)cell->payload);
    default: return (double)cell_as_int64(cell);
    }
}

/* An integer against a double: the integers around it are exact, so nothing is rounded. */
static int order_int_float(bool is_unsigned, uint64_t bits, double value) {
    if (isnan(value)) return 2;
    if (is_unsigned) {
        if (value < 0.0) return 1;
        if (value >= 18446744073709551616.0) return -1;
        uint64_t whole = (uint64_t)value;
        if (bits != whole) return bits < whole ? -1 : 1;
        return value > (double)whole ? -1 : 0;
    }
    int64_t number = (int64_t)bits;
    if (value >= 9223372036854775808.0) return -1;
    if (value < -9223372036854775808.0) return 1;
    int64_t whole = (int64_t)value;
    if (number != whole) return number < whole ? -1 : 1;
    double rest = value - (double)whole;
    return rest > 0.0 ? -1 : rest < 0.0 ? 1 : 0;
}

int number_order(const struct cell *left, const struct cell *right) {
    unsigned a = cell_kind(left), b = cell_kind(right);
    bool left_float = kind_is_float(a), right_float = kind_is_float(b);
    if (left_float && right_float) {
        double x = number_as_float64(left), y = number_as_float64(right);
        if (isnan(x) || isnan(y)) return 2;
        return x < y ? -1 : x > y;
    }
    if (left_float) {
        int order = order_int_float(b == KIND_UINT64, right->payload, number_as_float64(left));
        return order == 2 ? 2 : -order;
    }
    if (right_float) return order_int_float(a == KIND_UINT64, left->payload, number_as_float64(right));
    bool left_huge = a == KIND_UINT64 && left->payload >> 63, right_huge = b == KIND_UINT64 && right->payload >> 63;
    if (left_huge != right_huge) return left_huge ? 1 : -1;
    if (left_huge) return left->payload < right->payload ? -1 : left->payload > right->payload;
    int64_t x = cell_as_int64(left), y = cell_as_int64(right);
    return x < y ? -1 : x > y;
}

/* ---- categories ---- */

enum category { OF_NONE, OF_NUMBER, OF_BOOL, OF_TEXT, OF_TIME, OF_DURATION, OF_ARRAY, OF_MAP, OF_STRUCT, OF_POINTER, OF_OTHER };

static enum category category_of(const struct cell *cell) {
    if (cell_is_none(cell)) return OF_NONE;
    if (cell_is_text(cell)) return OF_TEXT;
    if (cell_is_array(cell)) return OF_ARRAY;
    if (cell_tag(cell) == TAG_MAP) return OF_MAP;
    if (cell_tag(cell) == TAG_STRUCT) return OF_STRUCT;
    if (cell_tag(cell) == TAG_POINTER) return OF_POINTER;
    if (!cell_is_scalar(cell)) return OF_OTHER;
    switch (kind_class(cell_kind(cell))) {
    case KIND_CLASS_BOOL: return OF_BOOL;
    case KIND_CLASS_TIME: return OF_TIME;
    case KIND_CLASS_DURATION: return OF_DURATION;
    case KIND_CLASS_INT:
    case KIND_CLASS_UINT:
    case KIND_CLASS_FLOAT: return OF_NUMBER;
    default: return OF_OTHER;
    }
}

static int cannot_compare(struct heap *heap, const struct cell *left, const struct cell *right, const char *sign) {
    char a[160], b[160];
    type_show(heap, left, a, sizeof a);
    type_show(heap, right, b, sizeof b);
    return fault(heap, ERROR_TYPE, "cannot compare %s with %s by %s", a, b, sign);
}

int value_order(struct heap *heap, const struct cell *left, const struct cell *right, const char *sign, int *order) {
    enum category a = category_of(left), b = category_of(right);
    if (a != b) return cannot_compare(heap, left, right, sign);
    switch (a) {
    case OF_NUMBER: *order = number_order(left, right); return 0;
    case OF_TEXT: *order = text_order(heap, left, right); return 0;
    case OF_TIME:
    case OF_DURATION: {
        int64_t x = cell_as_int64(left), y = cell_as_int64(right);
        *order = x < y ? -1 : x > y;
        return 0;
    }
    default: return cannot_compare(heap, left, right, sign);
    }
}

/* ---- equality ---- */

static bool arrays_equal(const struct heap *heap, const struct cell *left, const struct cell *right) {
    const struct block *a = cell_block(heap, left), *b = cell_block(heap, right);
    unsigned kind = cell_kind(left);
    if (kind != cell_kind(right) || a->ndim != b->ndim || memcmp(a->dims, b->dims, 8u * a->ndim) != 0) return false;
    const unsigned char *x = block_body(a), *y = block_body(b);
    if (!kind_is_float(kind)) return a->body_bytes == b->body_bytes && memcmp(x, y, a->body_bytes) == 0;
    uint64_t count = array_count(a);
    size_t size = kind_size(kind);
    for (uint64_t i = 0; i < count; i++) { /* 0.0 == -0.0, nan != nan */
        struct cell p = cell_scalar(kind, scalar_load(kind, x + i * size)), q = cell_scalar(kind, scalar_load(kind, y + i * size));
        if (number_order(&p, &q) != 0) return false;
    }
    return true;
}

static int equal_at(struct heap *heap, const struct cell *left, const struct cell *right, unsigned depth, bool *equal);

/* By content: the same keys with equal values; the order of insertion does not count. */
static int maps_equal(struct heap *heap, const struct cell *left, const struct cell *right, unsigned depth, bool *equal) {
    *equal = false;
    if (cell_tag(left) == TAG_STRUCT && cell_block(heap, left)->type != cell_block(heap, right)->type) return 0;
    if (map_length(heap, left) != map_length(heap, right)) return 0;
    uint64_t position = 0;
    const struct cell *key, *mine;
    while (map_next(heap, left, &position, &key, &mine)) {
        struct cell *other = map_slot(heap, right, key);
        if (!other) return 0;
        bool same;
        int rc = equal_at(heap, mine, other, depth + 1, &same);
        if (rc) return rc;
        if (!same) return 0;
    }
    *equal = true;
    return 0;
}

/* `depth` 0 is the operator itself, where different categories are an error; inside containers they are just unequal. */
static int equal_at(struct heap *heap, const struct cell *left, const struct cell *right, unsigned depth, bool *equal) {
    enum category a = category_of(left), b = category_of(right);
    *equal = false;
    if (depth > VALUE_DEPTH_MAX) return fault(heap, ERROR_RECURSION, "containers nest deeper than %d", VALUE_DEPTH_MAX);
    if (a == OF_NONE || b == OF_NONE) {
        *equal = a == b;
        return 0;
    }
    bool containers = a >= OF_ARRAY && a <= OF_STRUCT && b >= OF_ARRAY && b <= OF_STRUCT;
    if (a != b) return depth || containers ? 0 : cannot_compare(heap, left, right, "==");
    if ((left->head & CELL_BLOCK) && left->payload == right->payload && a != OF_ARRAY && a < OF_MAP) {
        *equal = true;
        return 0;
    }
    switch (a) {
    case OF_NUMBER: *equal = number_order(left, right) == 0; return 0;
    case OF_TEXT: *equal = text_equal(heap, left, right); return 0;
    case OF_ARRAY: *equal = arrays_equal(heap, left, right); return 0;
    case OF_MAP:
    case OF_STRUCT: return maps_equal(heap, left, right, depth, equal);
    case OF_POINTER:
    case OF_OTHER: {
        if (!(left->head & right->head & CELL_BLOCK)) return 0;
        const struct block *x = cell_block(heap, left), *y = cell_block(heap, right);
        if (x->flags & y->flags & BLOCK_DICT) return maps_equal(heap, left, right, depth, equal);
        *equal = x->type == y->type && x->body_bytes == y->body_bytes && memcmp(block_body(x), block_body(y), x->body_bytes) == 0;
        return 0;
    }
    default: *equal = left->payload == right->payload; return 0;
    }
}

int value_equal(struct heap *heap, const struct cell *left, const struct cell *right, bool *equal) {
    return equal_at(heap, left, right, 0, equal);
}

/* ---- conversion ---- */

/* An integer cut to the width of its kind. */
static uint64_t cut(unsigned kind, uint64_t bits) {
    switch (kind) {
    case KIND_INT8: return (uint64_t)(int64_t)(int8_t)bits;
    case KIND_INT16: return (uint64_t)(int64_t)(int16_t)bits;
    case KIND_INT32: return (uint64_t)(int64_t)(int32_t)bits;
    case KIND_UINT8: return (uint8_t)bits;
    case KIND_UINT16: return (uint16_t)bits;
    case KIND_UINT32: return (uint32_t)bits;
    default: return bits;
    }
}

static struct cell float_of_kind(unsigned kind, double value) {
    if (kind == KIND_FLOAT64) return cell_float64(value);
    if (kind == KIND_FLOAT32) return cell_float32((float)value);
    return cell_scalar(kind, numtext_small_from_float64((enum kv_kind)kind, value));
}

/* Toward zero, then to the width; out of 64 bits is an error rather than a number nobody meant. */
static int float_to_integer(struct heap *heap, unsigned kind, const struct cell *cell, struct cell *out) {
    double value = number_as_float64(cell), whole = trunc(value);
    if (kind == KIND_UINT64 && whole >= 9223372036854775808.0 && whole < 18446744073709551616.0) {
        *out = cell_uint64((uint64_t)whole);
        return 0;
    }
    int64_t low = INT64_MIN, high = INT64_MAX;
    switch (kind) {
    case KIND_INT8: low = INT8_MIN; high = INT8_MAX; break;
    case KIND_INT16: low = INT16_MIN; high = INT16_MAX; break;
    case KIND_INT32: low = INT32_MIN; high = INT32_MAX; break;
    case KIND_UINT8: low = 0; high = UINT8_MAX; break;
    case KIND_UINT16: low = 0; high = UINT16_MAX; break;
    case KIND_UINT32: low = 0; high = UINT32_MAX; break;
    case KIND_UINT64: low = 0; break;
    default: break;
    }
    bool inside = whole >= -9223372036854775808.0 && whole < 9223372036854775808.0;
    if (!inside || (int64_t)whole < low || (int64_t)whole > high) {
        char text[NUMTEXT_FLOAT_MAX];
        numtext_print_float64(value, text);
        return fault(heap, ERROR_VALUE, "%s is out of range for %s", text, kind_name(kind));
    }
    *out = cell_scalar(kind, (uint64_t)(int64_t)whole);
    return 0;
}

static int no_conversion(struct heap *heap, unsigned kind, const struct cell *cell) {
    char type[160];
    type_show(heap, cell, type, sizeof type);
    const char *hint = cell_is_text(cell) && kind_is_integer(kind) ? ": string·parseint reads numbers from text"
                       : cell_is_text(cell) && kind_is_float(kind) ? ": string·parsefloat reads numbers from text" : "";
    return fault(heap, ERROR_TYPE, "%s does not convert to %s%s", type, kind_name(kind), hint);
}

/* Each element by the rules of a scalar: [2]int64 to [2]float32. */
static int convert_array(struct heap *heap, unsigned kind, const struct cell *cell, struct cell *out) {
    const struct block *from = cell_block(heap, cell);
    unsigned old = cell_kind(cell);
    struct cell made;
    int rc = array_new(heap, kind, from->ndim, from->dims, &made);
    if (rc) return rc;
    uint64_t count = array_count(from);
    const unsigned char *source = block_body(from);
    unsigned char *target = block_body(cell_block(heap, &made));
    for (uint64_t i = 0; i < count && !rc; i++) {
        struct cell element = cell_scalar(old, scalar_load(old, source + i * kind_size(old))), converted;
        rc = value_convert(heap, kind, &element, &converted);
        if (!rc) scalar_store(kind, target + i * kind_size(kind), converted.payload);
    }
    if (rc) cell_drop(heap, made);
    else *out = made;
    return rc;
}

int value_convert(struct heap *heap, unsigned kind, const struct cell *cell, struct cell *out) {
    if (kind_is_char(kind)) {
        if (cell_is_text(cell)) return text_convert(heap, cell, kind, out);
        return no_conversion(heap, kind, cell);
    }
    if (cell_is_array(cell) && !cell_is_text(cell) && (kind_is_number(kind) || kind == KIND_BOOL)) return convert_array(heap, kind, cell, out);
    if (!cell_is_scalar(cell)) return no_conversion(heap, kind, cell);
    unsigned from = cell_kind(cell);
    enum category category = category_of(cell);
    if (from == kind) {
        *out = cell_scalar(kind, cell->payload);
        return 0;
    }
    if (category == OF_NUMBER && kind == KIND_BOOL) {
        bool zero = kind_is_float(from) ? number_as_float64(cell) == 0.0 : cell->payload == 0;
        *out = cell_bool(!zero);
        return 0;
    }
    if (category == OF_BOOL && kind_is_number(kind)) {
        *out = kind_is_float(kind) ? float_of_kind(kind, (double)cell->payload) : cell_scalar(kind, cell->payload);
        return 0;
    }
    if (category != OF_NUMBER || !kind_is_number(kind)) return no_conversion(heap, kind, cell);
    if (kind_is_float(kind)) {
        if (kind == KIND_FLOAT32 && kind_is_integer(from)) /* one rounding, not two */
            *out = cell_float32(from == KIND_UINT64 ? (float)cell->payload : (float)cell_as_int64(cell));
        else *out = float_of_kind(kind, number_as_float64(cell));
        return 0;
    }
    if (kind_is_float(from)) return float_to_integer(heap, kind, cell, out);
    *out = cell_scalar(kind, cut(kind, cell->payload));
    return 0;
}

bool literal_fits(const struct cell *cell, unsigned kind, struct cell *out) {
    if (!cell_is_scalar(cell)) return false;
    unsigned from = cell_kind(cell);
    if (from == kind) {
        *out = cell_scalar(kind, cell->payload);
        return true;
    }
    if (!kind_is_number(from) || !kind_is_number(kind)) return false;
    if (kind_is_integer(kind)) {
        if (!kind_is_integer(from)) return false; /* 1.0 is no integer literal */
        bool fits = from == KIND_UINT64 ? kind_holds_uint64(kind, cell->payload) : kind_holds_int64(kind, cell_as_int64(cell));
        *out = cell_scalar(kind, cell->payload);
        return fits;
    }
    if (from != KIND_INT64 && from != KIND_UINT64 && from != KIND_FLOAT64) return false;
    double value = number_as_float64(cell);
    *out = kind == KIND_FLOAT32 && kind_is_integer(from)
               ? cell_float32(from == KIND_UINT64 ? (float)cell->payload : (float)cell_as_int64(cell))
               : float_of_kind(kind, value);
    return isfinite(value) ? isfinite(number_as_float64(out)) : true;
}
