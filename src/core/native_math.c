/* Mathematical natives: integers stay integers where the result is one, float32 stays float32, all else is float64.
 * Relies on math.h and value.h. Promises: no undefined edge; what has no real result is a ValueError with the value in it. */
#include <math.h>

#include "core/arith.h"
#include "core/native.h"

static bool is_number(const struct cell *cell) { return cell_is_scalar(cell) && kind_row(cell_kind(cell))->has_arithmetic; }

static int outside(struct core_call *call, uint32_t i) {
    char text[64];
    value_picture(call->heap, call->args[i], text, sizeof text);
    return fault(call->heap, ERROR_VALUE, "%s of %s has no real value", call->row ? call->row->name : "this", text);
}

static int give_float(struct core_call *call, bool single, double value) {
    return native_give(call, single ? cell_float32((float)value) : cell_float64(value));
}

enum domain { EVERYWHERE, NOT_NEGATIVE, POSITIVE, UNIT };

/* One function of one number. float32 is computed in double and rounded once. */
static int unary(struct core_call *call, double (*function)(double), enum domain domain) {
    const struct cell *cell = call->args[0];
    if (!is_number(cell)) return native_mismatch(call, 0, "a number");
    double value = number_as_float64(cell);
    bool bad = (domain == NOT_NEGATIVE && value < 0.0) || (domain == POSITIVE && value <= 0.0) || (domain == UNIT && fabs(value) > 1.0);
    if (bad) return outside(call, 0);
    return give_float(call, cell_tag(cell) == KIND_FLOAT32, function(value));
}

int native_sqrt(struct core_call *call) { return unary(call, sqrt, NOT_NEGATIVE); }
int native_exp(struct core_call *call) { return unary(call, exp, EVERYWHERE); }
int native_log(struct core_call *call) { return unary(call, log, POSITIVE); }
int native_log2(struct core_call *call) { return unary(call, log2, POSITIVE); }
int native_log10(struct core_call *call) { return unary(call, log10, POSITIVE); }
int native_sin(struct core_call *call) { return unary(call, sin, EVERYWHERE); }
int native_cos(struct core_call *call) { return unary(call, cos, EVERYWHERE); }
int native_tan(struct core_call *call) { return unary(call, tan, EVERYWHERE); }
int native_asin(struct core_call *call) { return unary(call, asin, UNIT); }
int native_acos(struct core_call *call) { return unary(call, acos, UNIT); }
int native_atan(struct core_call *call) { return unary(call, atan, EVERYWHERE); }

int native_atan2(struct core_call *call) {
    const struct cell *y = call->args[0], *x = call->args[1];
    if (!is_number(y)) return native_mismatch(call, 0, "a number");
    if (!is_number(x)) return native_mismatch(call, 1, "a number");
    bool single = cell_tag(y) == KIND_FLOAT32 && cell_tag(x) == KIND_FLOAT32;
    return give_float(call, single, atan2(number_as_float64(y), number_as_float64(x)));
}

/* Keeps the kind; an integer is its own rounding. */
static int rounded(struct core_call *call, double (*function)(double)) {
    const struct cell *cell = call->args[0];
    if (!is_number(cell)) return native_mismatch(call, 0, "a number");
    if (kind_is_integer(cell_kind(cell))) return native_give(call, cell_scalar(cell_kind(cell), cell->payload));
    return give_float(call, cell_tag(cell) == KIND_FLOAT32, function(number_as_float64(cell)));
}

int native_floor(struct core_call *call) { return rounded(call, floor); }
int native_ceil(struct core_call *call) { return rounded(call, ceil); }
int native_round(struct core_call *call) { return rounded(call, round); }
int native_trunc(struct core_call *call) { return rounded(call, trunc); }

int native_abs(struct core_call *call) {
    const struct cell *cell = call->args[0];
    if (cell_tag(cell) != KIND_DURATION && !is_number(cell)) return native_mismatch(call, 0, "a number");
    unsigned kind = cell_kind(cell);
    if (kind_is_float(kind)) return give_float(call, kind == KIND_FLOAT32, fabs(number_as_float64(cell)));
    bool negative = kind_row(kind)->is_signed && cell_as_int64(cell) < 0;
    return native_give(call, cell_scalar(kind, negative ? arith_wrap(kind, 0 - cell->payload) : cell->payload));
}

int native_sign(struct core_call *call) {
    const struct cell *cell = call->args[0];
    if (!is_number(cell)) return native_mismatch(call, 0, "a number");
    unsigned kind = cell_kind(cell);
    if (kind_is_float(kind)) {
        double value = number_as_float64(cell);
        return give_float(call, kind == KIND_FLOAT32, isnan(value) ? value : value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : value);
    }
    struct cell zero = cell_int64(0);
    return native_give(call, cell_scalar(kind, (uint64_t)(int64_t)number_order(cell, &zero)));
}

/* Integers: by squaring, wrapping at the width of the result. */
static int integer_pow(struct core_call *call, const struct cell *base, const struct cell *exponent) {
    bool is_signed = kind_row(cell_kind(exponent))->is_signed;
    if (is_signed && cell_as_int64(exponent) < 0) {
        char a[32], b[32];
        value_picture(call->heap, base, a, sizeof a);
        value_picture(call->heap, exponent, b, sizeof b);
        return fault(call->heap, ERROR_VALUE, "pow(%s, %s): an integer power has a non-negative exponent", a, b);
    }
    unsigned kind = arith_result_kind(cell_kind(base), cell_kind(exponent));
    uint64_t result = 1, square = base->payload;
    for (uint64_t rest = exponent->payload; rest; rest >>= 1) {
        if (rest & 1) result *= square;
        square *= square;
    }
    return native_give(call, cell_scalar(kind, arith_wrap(kind, result)));
}

int native_pow(struct core_call *call) {
    struct cell base = *call->args[0], exponent = *call->args[1];
    if (!is_number(&base)) return native_mismatch(call, 0, "a number");
    if (!is_number(&exponent)) return native_mismatch(call, 1, "a number");
    bool integers = kind_is_integer(cell_kind(&base)) && kind_is_integer(cell_kind(&exponent));
    if (integers) {
        if (native_literal(call, 1) && kind_class(cell_kind(&base)) == KIND_CLASS_UINT && cell_as_int64(&exponent) >= 0) exponent = cell_uint64(exponent.payload);
        return integer_pow(call, &base, &exponent);
    }
    bool single = cell_tag(&base) == KIND_FLOAT32 && cell_tag(&exponent) == KIND_FLOAT32;
    double a = number_as_float64(&base), b = number_as_float64(&exponent), value = pow(a, b);
    if (isnan(value) && !isnan(a) && !isnan(b)) return outside(call, 0);
    return give_float(call, single, value);
}

/* The largest or smallest; the result has the kind that + would give, unless all kinds are the same. A NaN wins. */
static int extreme(struct core_call *call, int wanted) {
    const struct cell *best = call->args[0];
    unsigned kind = 0;
    bool text = cell_is_text(best);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct cell *cell = call->args[i];
        unsigned tag = cell_tag(cell);
        bool ordered = is_number(cell) || tag == KIND_TIME || tag == KIND_DURATION || cell_is_text(cell);
        if (!ordered) return native_mismatch(call, i, "a number, text, time or duration");
        if (is_number(cell)) kind = kind ? arith_result_kind(kind, cell_kind(cell)) : cell_kind(cell);
        if (i == 0) continue;
        int order;
        int rc = value_order(call->heap, cell, best, wanted > 0 ? "max" : "min", &order);
        if (rc) return rc;
        if (order == wanted || (order == 2 && isnan(number_as_float64(cell)))) best = cell;
    }
    if (text || !kind || cell_kind(best) == kind) return native_give(call, cell_copy(call->heap, best));
    return value_convert(call->heap, kind, best, &call->results[0]);
}

int native_min(struct core_call *call) { return extreme(call, -1); }
int native_max(struct core_call *call) { return extreme(call, 1); }
