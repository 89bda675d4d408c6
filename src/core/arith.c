/* The operators of the language over every mix of kinds, one function a group of operators.
 * Relies on arith.h, value.h, text.h. Promises: integer arithmetic is done in uint64 and cut to the result's width, so
 * nothing overflows in C; messages name the operator as the user writes it. */
#include "core/arith.h"

#include <math.h>

#include "core/text.h"
#include "core/types.h"
#include "core/value.h"

static const char *const signs[ARITH_COUNT] = {
    [ARITH_ADD] = "+",  [ARITH_SUB] = "-", [ARITH_MUL] = "×", [ARITH_DIV] = "÷", [ARITH_MOD] = "%",
    [ARITH_BITAND] = "&", [ARITH_BITOR] = "|", [ARITH_BITXOR] = "^", [ARITH_SHL] = "<<", [ARITH_SHR] = ">>",
    [ARITH_EQ] = "==", [ARITH_NEQ] = "!=", [ARITH_LT] = "<", [ARITH_GT] = ">", [ARITH_LE] = "<=", [ARITH_GE] = ">=",
    [ARITH_AND] = "&&", [ARITH_OR] = "||",
};

uint64_t arith_wrap(unsigned kind, uint64_t bits) {
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

unsigned arith_result_kind(unsigned left, unsigned right) {
    if (left == right) return left;
    if (kind_is_float(left) || kind_is_float(right)) return KIND_FLOAT64;
    size_t width = kind_size(left) > kind_size(right) ? kind_size(left) : kind_size(right);
    bool is_signed = kind_row(left)->is_signed || kind_row(right)->is_signed;
    return (unsigned)(is_signed ? KIND_INT8 : KIND_UINT8) + (width > 4 ? 3u : width > 2 ? 2u : width > 1 ? 1u : 0u);
}

static bool is_arithmetic(const struct cell *cell) { return cell_is_scalar(cell) && kind_row(cell_kind(cell))->has_arithmetic; }

/* The operand that is at fault decides the words. */
static int no_operator(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right) {
    char a[160], b[160];
    type_show(heap, left, a, sizeof a);
    type_show(heap, right, b, sizeof b);
    bool arrays = (cell_is_array(left) && !cell_is_text(left)) || (cell_is_array(right) && !cell_is_text(right));
    const char *hint = "";
    if (cell_is_none(left) || cell_is_none(right)) hint = ": nothing was written there";
    else if (arrays) hint = ": arithmetic on arrays is a tensor opcode, not native";
    else if ((cell_is_text(left) || cell_is_text(right)) && op == ARITH_ADD) hint = ": char/utf32 text joins text only";
    else if (cell_is_scalar(left) && cell_is_scalar(right) && (kind_row(cell_kind(left))->storage_only || kind_row(cell_kind(right))->storage_only))
        hint = ": this kind is for storage, convert it first";
    return fault(heap, ERROR_TYPE, "%s %s %s is not defined%s", a, signs[op], b, hint);
}

/* A non-negative integer literal beside an unsigned kind counts as uint64. */
static void literal_beside_unsigned(struct cell *literal, const struct cell *other) {
    if (cell_tag(literal) == KIND_INT64 && kind_class(cell_kind(other)) == KIND_CLASS_UINT && cell_is_scalar(other) &&
        cell_as_int64(literal) >= 0)
        *literal = cell_uint64(literal->payload);
}

static int zero_division(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right) {
    char a[64], b[64];
    value_picture(heap, left, a, sizeof a);
    value_picture(heap, right, b, sizeof b);
    return fault(heap, ERROR_ZERO_DIVISION, "%s %s %s: division by zero", a, signs[op], b);
}

/* ÷ and % of the mathematical values: sign and magnitude, so that uint64 with int64 is right too. */
struct magnitude {
    bool negative;
    uint64_t size;
};

static struct magnitude magnitude_of(const struct cell *cell) {
    bool negative = kind_row(cell_kind(cell))->is_signed && cell_as_int64(cell) < 0;
    return (struct magnitude){ negative, negative ? 0 - cell->payload : cell->payload };
}

static int divide_integers(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right, unsigned kind, struct cell *out) {
    if (right->payload == 0) return zero_division(heap, op, left, right);
    struct magnitude a = magnitude_of(left), b = magnitude_of(right);
    uint64_t bits;
    if (op == ARITH_DIV) {
        bits = a.size / b.size;
        if (a.negative != b.negative) bits = 0 - bits;
    } else {
        bits = a.size % b.size;
        if (a.negative) bits = 0 - bits;
    }
    *out = cell_scalar(kind, arith_wrap(kind, bits));
    return 0;
}

static int float_arithmetic(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right, struct cell *out) {
    double a = number_as_float64(left), b = number_as_float64(right), result = 0;
    if ((op == ARITH_DIV || op == ARITH_MOD) && b == 0.0) return zero_division(heap, op, left, right);
    if (cell_tag(left) == KIND_FLOAT32 && cell_tag(right) == KIND_FLOAT32) {
        float x = cell_as_float32(left), y = cell_as_float32(right), value = 0;
        switch (op) {
        case ARITH_ADD: value = x + y; break;
        case ARITH_SUB: value = x - y; break;
        case ARITH_MUL: value = x * y; break;
        case ARITH_DIV: value = x / y; break;
        default: value = fmodf(x, y); break;
        }
        *out = cell_float32(value);
        return 0;
    }
    switch (op) {
    case ARITH_ADD: result = a + b; break;
    case ARITH_SUB: result = a - b; break;
    case ARITH_MUL: result = a * b; break;
    case ARITH_DIV: result = a / b; break;
    default: result = fmod(a, b); break;
    }
    *out = cell_float64(result);
    return 0;
}

/* time and duration: what has one meaning. time - time is a duration; time ± duration is a time. */
static bool time_arithmetic(enum arith_op op, const struct cell *left, const struct cell *right, struct cell *out) {
    if (!cell_is_scalar(left) || !cell_is_scalar(right) || (op != ARITH_ADD && op != ARITH_SUB)) return false;
    unsigned a = cell_kind(left), b = cell_kind(right), kind = 0;
    if (a == KIND_DURATION && b == KIND_DURATION) kind = KIND_DURATION;
    else if (a == KIND_TIME && b == KIND_DURATION) kind = KIND_TIME;
    else if (a == KIND_DURATION && b == KIND_TIME && op == ARITH_ADD) kind = KIND_TIME;
    else if (a == KIND_TIME && b == KIND_TIME && op == ARITH_SUB) kind = KIND_DURATION;
    if (!kind) return false;
    *out = cell_scalar(kind, op == ARITH_ADD ? left->payload + right->payload : left->payload - right->payload);
    return true;
}

static int arithmetic(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right, struct cell *out) {
    if (!is_arithmetic(left) || !is_arithmetic(right)) {
        if (op == ARITH_ADD && cell_is_text(left) && cell_is_text(right)) return text_concat(heap, left, right, false, out);
        if (time_arithmetic(op, left, right, out)) return 0;
        return no_operator(heap, op, left, right);
    }
    if (kind_is_float(cell_kind(left)) || kind_is_float(cell_kind(right))) return float_arithmetic(heap, op, left, right, out);
    unsigned kind = arith_result_kind(cell_kind(left), cell_kind(right));
    uint64_t a = left->payload, b = right->payload, bits;
    switch (op) {
    case ARITH_ADD: bits = a + b; break;
    case ARITH_SUB: bits = a - b; break;
    case ARITH_MUL: bits = a * b; break;
    default: return divide_integers(heap, op, left, right, kind, out);
    }
    *out = cell_scalar(kind, arith_wrap(kind, bits));
    return 0;
}

static int bitwise(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right, struct cell *out) {
    bool bools = cell_tag(left) == KIND_BOOL && cell_tag(right) == KIND_BOOL;
    if (!bools && !(is_arithmetic(left) && is_arithmetic(right) && kind_is_integer(cell_kind(left)) && kind_is_integer(cell_kind(right))))
        return no_operator(heap, op, left, right);
    unsigned kind = arith_result_kind(cell_kind(left), cell_kind(right));
    uint64_t a = left->payload, b = right->payload;
    uint64_t bits = op == ARITH_BITAND ? a & b : op == ARITH_BITOR ? a | b : a ^ b;
    *out = cell_scalar(kind, bools ? bits : arith_wrap(kind, bits));
    return 0;
}

static int shift(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right, struct cell *out) {
    if (!is_arithmetic(left) || !is_arithmetic(right) || !kind_is_integer(cell_kind(left)) || !kind_is_integer(cell_kind(right)))
        return no_operator(heap, op, left, right);
    unsigned kind = cell_kind(left), width = (unsigned)kind_size(kind) * 8;
    if (right->payload >= width) { /* a negative count is a large one here */
        char text[32];
        value_picture(heap, right, text, sizeof text);
        return fault(heap, ERROR_VALUE, "a shift of %s by %s: the count is from 0 to %u", kind_name(kind), text, width - 1);
    }
    unsigned count = (unsigned)right->payload;
    uint64_t bits;
    if (op == ARITH_SHL) bits = left->payload << count;
    else if (!kind_row(kind)->is_signed) bits = left->payload >> count;
    else bits = cell_as_int64(left) < 0 ? ~(~left->payload >> count) : left->payload >> count;
    *out = cell_scalar(kind, arith_wrap(kind, bits));
    return 0;
}

static int compare(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right, struct cell *out) {
    if (op == ARITH_EQ || op == ARITH_NEQ) {
        bool equal;
        int rc = value_equal(heap, left, right, &equal);
        if (!rc) *out = cell_bool(equal == (op == ARITH_EQ));
        return rc;
    }
    int order;
    int rc = value_order(heap, left, right, signs[op], &order);
    if (rc) return rc;
    bool holds = false;
    if (order != 2) { /* nothing holds of a NaN */
        switch (op) {
        case ARITH_LT: holds = order < 0; break;
        case ARITH_GT: holds = order > 0; break;
        case ARITH_LE: holds = order <= 0; break;
        default: holds = order >= 0; break;
        }
    }
    *out = cell_bool(holds);
    return 0;
}

int arith_binary(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right,
                 unsigned literals, struct cell *out) {
    struct cell a, b;
    if (literals && (op <= ARITH_BITXOR)) {
        if (literals & ARITH_LEFT_LITERAL && cell_is_scalar(left)) {
            a = *left;
            literal_beside_unsigned(&a, right);
            left = &a;
        }
        if (literals & ARITH_RIGHT_LITERAL && cell_is_scalar(right)) {
            b = *right;
            literal_beside_unsigned(&b, left);
            right = &b;
        }
    }
    switch (op) {
    case ARITH_ADD:
    case ARITH_SUB:
    case ARITH_MUL:
    case ARITH_DIV:
    case ARITH_MOD: return arithmetic(heap, op, left, right, out);
    case ARITH_BITAND:
    case ARITH_BITOR:
    case ARITH_BITXOR: return bitwise(heap, op, left, right, out);
    case ARITH_SHL:
    case ARITH_SHR: return shift(heap, op, left, right, out);
    case ARITH_AND:
    case ARITH_OR:
        if (cell_tag(left) != KIND_BOOL || cell_tag(right) != KIND_BOOL) return no_operator(heap, op, left, right);
        *out = cell_bool(op == ARITH_AND ? left->payload & right->payload : left->payload | right->payload);
        return 0;
    default: return compare(heap, op, left, right, out);
    }
}

static int no_prefix(struct heap *heap, const char *sign, const struct cell *value) {
    char type[160];
    type_show(heap, value, type, sizeof type);
    return fault(heap, ERROR_TYPE, "%s%s is not defined", sign, type);
}

int arith_neg(struct heap *heap, const struct cell *value, struct cell *out) {
    if (cell_tag(value) == KIND_DURATION) {
        *out = cell_scalar(KIND_DURATION, 0 - value->payload);
        return 0;
    }
    if (!is_arithmetic(value)) return no_prefix(heap, "-", value);
    unsigned kind = cell_kind(value);
    if (kind == KIND_FLOAT64) *out = cell_float64(-cell_as_float64(value));
    else if (kind == KIND_FLOAT32) *out = cell_float32(-cell_as_float32(value));
    else *out = cell_scalar(kind, arith_wrap(kind, 0 - value->payload));
    return 0;
}

int arith_plus(struct heap *heap, const struct cell *value, struct cell *out) {
    if (!is_arithmetic(value) && cell_tag(value) != KIND_DURATION) return no_prefix(heap, "+", value);
    *out = cell_copy(heap, value);
    return 0;
}

int arith_not(struct heap *heap, const struct cell *value, struct cell *out) {
    if (cell_tag(value) != KIND_BOOL) return no_prefix(heap, "!", value);
    *out = cell_bool(!value->payload);
    return 0;
}
