/* Arithmetic of constants. Relies on language.md §3 "Numbers": integers wrap at the result's width, the wider kind wins,
 * signed beats unsigned, comparisons are exact. Promise: see fold.h; no undefined behaviour at any edge. */
#include "layout/fold.h"
#include <math.h>
#include <string.h>

enum kv_kind fold_result_kind(enum kv_kind left, enum kv_kind right) {
    if (!kind_row(left)->has_arithmetic || !kind_row(right)->has_arithmetic) return KIND_NONE;
    if (kind_is_float(left) || kind_is_float(right)) return left == KIND_FLOAT32 && right == KIND_FLOAT32 ? KIND_FLOAT32 : KIND_FLOAT64;
    size_t width = kind_size(left) > kind_size(right) ? kind_size(left) : kind_size(right);
    bool is_signed = kind_row(left)->is_signed || kind_row(right)->is_signed;
    static const enum kv_kind kinds[2][9] = {
        {[1] = KIND_UINT8, [2] = KIND_UINT16, [4] = KIND_UINT32, [8] = KIND_UINT64},
        {[1] = KIND_INT8, [2] = KIND_INT16, [4] = KIND_INT32, [8] = KIND_INT64}};
    return kinds[is_signed][width];
}

static uint64_t wrap(enum kv_kind kind, uint64_t bits) {
    switch (kind) {
    case KIND_INT8:
    case KIND_UINT8: return bits & 0xff;
    case KIND_INT16:
    case KIND_UINT16: return bits & 0xffff;
    case KIND_INT32:
    case KIND_UINT32: return bits & 0xffffffff;
    default: return bits;
    }
}

/* The value of an integer slot in two's complement of 64 bits, and whether it is beyond INT64_MAX. */
static uint64_t widened(const struct layout_slot *slot) {
    return kind_row(slot->value_kind)->is_signed ? (uint64_t)rows_slot_int(slot) : slot->as.bits;
}

static void put_int(struct layout_slot *slot, enum kv_kind kind, uint64_t bits) {
    *slot = (struct layout_slot){.kind = SLOT_SCALAR, .value_kind = (uint8_t)kind, .as.bits = wrap(kind, bits)};
}

static void put_float(struct layout_slot *slot, enum kv_kind kind, double value) {
    *slot = (struct layout_slot){.kind = SLOT_SCALAR, .value_kind = (uint8_t)kind};
    if (kind == KIND_FLOAT32) {
        float single = (float)value;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        slot->as.bits = bits;
    } else memcpy(&slot->as.bits, &value, sizeof value);
}

static double as_float(const struct layout_slot *slot) {
    if (kind_is_float(slot->value_kind)) return rows_slot_float(slot);
    return kind_row(slot->value_kind)->is_signed ? (double)rows_slot_int(slot) : (double)slot->as.bits;
}

static bool fold_floats(enum ast_op op, enum kv_kind kind, double a, double b, struct layout_slot *result) {
    if (kind == KIND_FLOAT32) { /* every step is rounded to float32 */
        float left = (float)a, right = (float)b;
        switch (op) {
        case AST_OP_ADD: put_float(result, kind, (double)(left + right)); return true;
        case AST_OP_SUB: put_float(result, kind, (double)(left - right)); return true;
        case AST_OP_MUL: put_float(result, kind, (double)(left * right)); return true;
        default: return false;
        }
    }
    switch (op) {
    case AST_OP_ADD: put_float(result, kind, a + b); return true;
    case AST_OP_SUB: put_float(result, kind, a - b); return true;
    case AST_OP_MUL: put_float(result, kind, a * b); return true;
    case AST_OP_DIV: if (b == 0) return false; put_float(result, kind, a / b); return true;
    default: return false;
    }
}

/* Signed with unsigned `÷ %` works on the mathematical values: folded only where both fit int64, or both are unsigned. */
static bool fold_division(enum ast_op op, enum kv_kind kind, const struct layout_slot *left, const struct layout_slot *right, struct layout_slot *result) {
    uint64_t a = widened(left), b = widened(right);
    if (b == 0) return false;
    bool a_large = !kind_row(left->value_kind)->is_signed && a > INT64_MAX;
    bool b_large = !kind_row(right->value_kind)->is_signed && b > INT64_MAX;
    bool unsigned_both = !kind_row(left->value_kind)->is_signed && !kind_row(right->value_kind)->is_signed;
    if (unsigned_both) {
        put_int(result, kind, op == AST_OP_DIV ? a / b : a % b);
        return true;
    }
    if (a_large || b_large) return false;
    if (b == UINT64_MAX) put_int(result, kind, op == AST_OP_DIV ? 0 - a : 0); /* by -1: INT64_MIN wraps */
    else put_int(result, kind, (uint64_t)(op == AST_OP_DIV ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b));
    return true;
}

static bool fold_shift(enum ast_op op, const struct layout_slot *left, const struct layout_slot *right, struct layout_slot *result) {
    enum kv_kind kind = (enum kv_kind)left->value_kind;
    uint64_t width = kind_size(kind) * 8, count = widened(right), bits = widened(left);
    if (count >= width) return false;
    if (op == AST_OP_SHL) put_int(result, kind, bits << count);
    else if (kind_row(kind)->is_signed) {
        uint64_t sign = bits >> 63 ? ~(UINT64_MAX >> count) : 0;
        put_int(result, kind, bits >> count | sign);
    } else put_int(result, kind, bits >> count);
    return true;
}

static bool fold_integers(enum ast_op op, enum kv_kind kind, const struct layout_slot *left, const struct layout_slot *right, struct layout_slot *result) {
    uint64_t a = widened(left), b = widened(right);
    switch (op) {
    case AST_OP_ADD: put_int(result, kind, a + b); return true;
    case AST_OP_SUB: put_int(result, kind, a - b); return true;
    case AST_OP_MUL: put_int(result, kind, a * b); return true;
    case AST_OP_DIV:
    case AST_OP_MOD: return fold_division(op, kind, left, right, result);
    case AST_OP_BITAND: put_int(result, kind, a & b); return true;
    case AST_OP_BITOR: put_int(result, kind, a | b); return true;
    case AST_OP_BITXOR: put_int(result, kind, a ^ b); return true;
    default: return false;
    }
}

static bool is_comparison(enum ast_op op) {
    return op == AST_OP_EQ || op == AST_OP_NEQ || op == AST_OP_LT || op == AST_OP_GT || op == AST_OP_LE || op == AST_OP_GE;
}

static bool order_result(enum ast_op op, int order) {
    switch (op) {
    case AST_OP_EQ: return order == 0;
    case AST_OP_NEQ: return order != 0;
    case AST_OP_LT: return order < 0;
    case AST_OP_GT: return order > 0;
    case AST_OP_LE: return order <= 0;
    default: return order >= 0;
    }
}

/* Integers with integers, floats with floats; an integer with a float is left to the core's exact comparison. */
static bool fold_comparison(enum ast_op op, const struct layout_slot *left, const struct layout_slot *right, struct layout_slot *result) {
    bool floats = kind_is_float(left->value_kind);
    if (floats != kind_is_float(right->value_kind)) return false;
    if (floats) {
        double a = rows_slot_float(left), b = rows_slot_float(right);
        if (isnan(a) || isnan(b)) return false;
        *result = rows_bool(order_result(op, (a > b) - (a < b)));
        return true;
    }
    uint64_t a = widened(left), b = widened(right);
    bool a_negative = kind_row(left->value_kind)->is_signed && a >> 63, b_negative = kind_row(right->value_kind)->is_signed && b >> 63;
    int order = a_negative != b_negative ? (a_negative ? -1 : 1) : (a > b) - (a < b);
    *result = rows_bool(order_result(op, order));
    return true;
}

enum { JOINED_MAX = 4096 };

static bool fold_texts(struct ast_arena *arena, enum ast_op op, const struct layout_slot *left, const struct layout_slot *right, struct layout_slot *result) {
    struct ast_text a = left->as.text, b = right->as.text;
    if (op == AST_OP_EQ || op == AST_OP_NEQ) {
        *result = rows_bool(ast_text_equal(a, b) == (op == AST_OP_EQ));
        return true;
    }
    if (op != AST_OP_ADD || left->value_kind != KIND_CHAR_UTF32 || right->value_kind != KIND_CHAR_UTF32 || a.length + b.length > JOINED_MAX) return false;
    char *at = ast_alloc(arena, (size_t)a.length + b.length + 1);
    if (!at) return false;
    memcpy(at, a.at, a.length);
    memcpy(at + a.length, b.at, b.length);
    *result = rows_text((struct ast_text){at, a.length + b.length});
    return true;
}

bool fold_binary(struct ast_arena *arena, enum ast_op op, const struct layout_slot *left, const struct layout_slot *right, unsigned literals,
                 struct layout_slot *result) {
    if (left->kind == SLOT_TEXT && right->kind == SLOT_TEXT) return fold_texts(arena, op, left, right, result);
    if (left->kind != SLOT_SCALAR || right->kind != SLOT_SCALAR) return false;
    enum kv_kind a = (enum kv_kind)left->value_kind, b = (enum kv_kind)right->value_kind;
    if (a == KIND_BOOL && b == KIND_BOOL && (op == AST_OP_EQ || op == AST_OP_NEQ)) {
        *result = rows_bool((left->as.bits == right->as.bits) == (op == AST_OP_EQ));
        return true;
    }
    if (fold_result_kind(a, b) == KIND_NONE) return false;
    if (is_comparison(op)) return fold_comparison(op, left, right, result);
    bool integers = kind_is_integer(a) && kind_is_integer(b);
    if (op == AST_OP_SHL || op == AST_OP_SHR) return integers && fold_shift(op, left, right, result);
    struct layout_slot l = *left, r = *right;
    if (integers) { /* a non-negative literal beside an unsigned kind counts as uint64 */
        if ((literals & 1) && a == KIND_INT64 && (int64_t)l.as.bits >= 0 && !kind_row(b)->is_signed) l.value_kind = KIND_UINT64;
        if ((literals & 2) && b == KIND_INT64 && (int64_t)r.as.bits >= 0 && !kind_row(a)->is_signed) r.value_kind = KIND_UINT64;
    }
    enum kv_kind kind = fold_result_kind((enum kv_kind)l.value_kind, (enum kv_kind)r.value_kind);
    if (integers) return fold_integers(op, kind, &l, &r, result);
    return fold_floats(op, kind, as_float(&l), as_float(&r), result);
}

bool fold_prefix(enum ast_prefix prefix, const struct layout_slot *value, struct layout_slot *result) {
    if (value->kind != SLOT_SCALAR) return false;
    enum kv_kind kind = (enum kv_kind)value->value_kind;
    if (prefix == AST_PREFIX_NOT && kind == KIND_BOOL) {
        *result = rows_bool(!value->as.bits);
        return true;
    }
    if (!kind_row(kind)->has_arithmetic) return false;
    if (prefix == AST_PREFIX_PLUS) {
        *result = *value;
        return true;
    }
    if (prefix != AST_PREFIX_MINUS || (!kind_row(kind)->is_signed && !kind_is_float(kind))) return false;
    if (kind_is_float(kind)) put_float(result, kind, -rows_slot_float(value));
    else put_int(result, kind, 0 - widened(value));
    return true;
}

bool fold_fit(enum kv_kind kind, const struct layout_slot *value, struct layout_slot *result) {
    if (value->kind != SLOT_SCALAR || !kind_is_number(value->value_kind) || !kind_row(kind)->has_arithmetic) return false;
    enum kv_kind from = (enum kv_kind)value->value_kind;
    if (from == kind) {
        *result = *value;
        return true;
    }
    if (kind_is_float(kind)) {
        double wide = as_float(value);
        if (kind == KIND_FLOAT32 && isfinite(wide) && !isfinite((double)(float)wide)) return false;
        if (kind == KIND_FLOAT32 && !kind_is_float(from)) { /* rounded once, from the integer */
            float single = kind_row(from)->is_signed ? (float)rows_slot_int(value) : (float)value->as.bits;
            wide = (double)single;
        }
        put_float(result, kind, wide);
        return true;
    }
    if (kind_is_float(from)) {
        double wide = rows_slot_float(value);
        if (wide != floor(wide)) return false;
        if (wide >= -9223372036854775808.0 && wide < 9223372036854775808.0) {
            if (!kind_holds_int64(kind, (int64_t)wide)) return false;
            put_int(result, kind, (uint64_t)(int64_t)wide);
            return true;
        }
        if (!(wide >= 0 && wide < 18446744073709551616.0) || !kind_holds_uint64(kind, (uint64_t)wide)) return false;
        put_int(result, kind, (uint64_t)wide);
        return true;
    }
    bool holds = kind_row(from)->is_signed ? kind_holds_int64(kind, rows_slot_int(value)) : kind_holds_uint64(kind, value->as.bits);
    if (holds) put_int(result, kind, widened(value));
    return holds;
}

bool fold_conversion(struct ast_arena *arena, enum kv_kind kind, const struct layout_slot *value, struct layout_slot *result) {
    (void)arena;
    if (value->kind != SLOT_SCALAR || !kind_row(kind)->has_arithmetic || !kind_row(value->value_kind)->has_arithmetic) return false;
    if (kind_is_integer(kind) && kind_is_integer(value->value_kind)) {
        put_int(result, kind, widened(value));
        return true;
    }
    if (kind_is_integer(kind)) { /* a float, toward zero; out of range is an error of the run */
        double whole = trunc(rows_slot_float(value));
        struct layout_slot rounded = rows_float(whole);
        return isfinite(whole) && fold_fit(kind, &rounded, result);
    }
    return fold_fit(kind, value, result);
}
