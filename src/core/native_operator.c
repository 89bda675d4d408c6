/* Natives behind the operators, the conversions by kind names, and the few that stand alone: map array range assert error debugger.
 * Relies on arith.h, value.h, array.h, map.h. Promises: exactly what the executor's fast forms do, for every kind. */
#include "core/arith.h"
#include "core/array.h"
#include "core/map.h"
#include "core/native.h"

static int binary(struct core_call *call, enum arith_op op) {
    unsigned literals = (unsigned)(call->literals & 3);
    if (op == ARITH_ADD && cell_is_text(call->args[0]) && cell_is_text(call->args[1]))
        return text_concat(call->heap, call->args[0], call->args[1], call->reuse, &call->results[0]);
    return arith_binary(call->heap, op, call->args[0], call->args[1], literals, &call->results[0]);
}

int native_add(struct core_call *call) { return binary(call, ARITH_ADD); }
int native_sub(struct core_call *call) { return binary(call, ARITH_SUB); }
int native_mul(struct core_call *call) { return binary(call, ARITH_MUL); }
int native_div(struct core_call *call) { return binary(call, ARITH_DIV); }
int native_mod(struct core_call *call) { return binary(call, ARITH_MOD); }
int native_eq(struct core_call *call) { return binary(call, ARITH_EQ); }
int native_neq(struct core_call *call) { return binary(call, ARITH_NEQ); }
int native_lt(struct core_call *call) { return binary(call, ARITH_LT); }
int native_gt(struct core_call *call) { return binary(call, ARITH_GT); }
int native_le(struct core_call *call) { return binary(call, ARITH_LE); }
int native_ge(struct core_call *call) { return binary(call, ARITH_GE); }
int native_and(struct core_call *call) { return binary(call, ARITH_AND); }
int native_or(struct core_call *call) { return binary(call, ARITH_OR); }
int native_bitand(struct core_call *call) { return binary(call, ARITH_BITAND); }
int native_bitor(struct core_call *call) { return binary(call, ARITH_BITOR); }
int native_bitxor(struct core_call *call) { return binary(call, ARITH_BITXOR); }
int native_shl(struct core_call *call) { return binary(call, ARITH_SHL); }
int native_shr(struct core_call *call) { return binary(call, ARITH_SHR); }
int native_not(struct core_call *call) { return arith_not(call->heap, call->args[0], &call->results[0]); }
int native_neg(struct core_call *call) { return arith_neg(call->heap, call->args[0], &call->results[0]); }
int native_pos(struct core_call *call) { return arith_plus(call->heap, call->args[0], &call->results[0]); }

/* ---- conversions ---- */

static int convert(struct core_call *call, unsigned kind) {
    return value_convert(call->heap, kind, call->args[0], &call->results[0]);
}

int native_to_bool(struct core_call *call) { return convert(call, KIND_BOOL); }
int native_to_int8(struct core_call *call) { return convert(call, KIND_INT8); }
int native_to_int16(struct core_call *call) { return convert(call, KIND_INT16); }
int native_to_int32(struct core_call *call) { return convert(call, KIND_INT32); }
int native_to_int64(struct core_call *call) { return convert(call, KIND_INT64); }
int native_to_uint8(struct core_call *call) { return convert(call, KIND_UINT8); }
int native_to_uint16(struct core_call *call) { return convert(call, KIND_UINT16); }
int native_to_uint32(struct core_call *call) { return convert(call, KIND_UINT32); }
int native_to_uint64(struct core_call *call) { return convert(call, KIND_UINT64); }
int native_to_float16(struct core_call *call) { return convert(call, KIND_FLOAT16); }
int native_to_bfloat16(struct core_call *call) { return convert(call, KIND_BFLOAT16); }
int native_to_float8_e4m3(struct core_call *call) { return convert(call, KIND_FLOAT8_E4M3); }
int native_to_float8_e5m2(struct core_call *call) { return convert(call, KIND_FLOAT8_E5M2); }
int native_to_float32(struct core_call *call) { return convert(call, KIND_FLOAT32); }
int native_to_float64(struct core_call *call) { return convert(call, KIND_FLOAT64); }
int native_to_utf32(struct core_call *call) { return convert(call, KIND_CHAR_UTF32); }
int native_to_utf8(struct core_call *call) { return convert(call, KIND_CHAR_UTF8); }
int native_to_ascii(struct core_call *call) { return convert(call, KIND_CHAR_ASCII); }

/* ---- alone ---- */

int native_map_of(struct core_call *call) {
    if (call->arg_count % 2) return fault(call->heap, ERROR_TYPE, "map takes keys and values in turn: the last key has no value");
    struct cell map, next;
    int rc = map_new(call->heap, NULL, call->arg_count / 2, &map);
    for (uint32_t i = 0; i < call->arg_count && !rc; i += 2) {
        rc = map_set(call->heap, &map, call->args[i], call->args[i + 1], 0, &next);
        if (!rc && next.payload != map.payload) cell_drop(call->heap, map);
        if (!rc) map = next;
        else cell_drop(call->heap, map);
    }
    return rc ? rc : native_give(call, map);
}

int native_array_of(struct core_call *call) {
    return array_list(call->heap, call->args, call->arg_count, &call->results[0]);
}

/* range(n), range(a, b), range(a, b, step). */
int native_range(struct core_call *call) {
    int64_t first = 0, end = 0, step = 1;
    int rc = native_int64(call, 0, call->arg_count == 1 ? &end : &first);
    if (!rc && call->arg_count > 1) rc = native_int64(call, 1, &end);
    if (!rc && call->arg_count > 2) rc = native_int64(call, 2, &step);
    if (rc) return rc;
    if (step == 0) return fault(call->heap, ERROR_VALUE, "range: the step is 0");
    uint64_t distance = step > 0 ? (uint64_t)end - (uint64_t)first : (uint64_t)first - (uint64_t)end;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step, count = 0;
    if (step > 0 ? end > first : end < first) count = (distance - 1) / stride + 1;
    return range_new(call->heap, first, step, count, &call->results[0]);
}

static int raise_text(struct core_call *call, int kind, uint32_t i, const char *otherwise) {
    char message[400];
    if (i >= call->arg_count) return fault(call->heap, kind, "%s", otherwise);
    if (!cell_is_text(call->args[i])) return native_mismatch(call, i, "[]char/utf32");
    text_to_utf8(call->heap, call->args[i], message, sizeof message, NULL);
    return fault(call->heap, kind, "%s", message);
}

int native_assert(struct core_call *call) {
    if (cell_tag(call->args[0]) != KIND_BOOL) return native_mismatch(call, 0, "bool");
    return call->args[0]->payload ? 0 : raise_text(call, ERROR_ASSERTION, 1, "an assertion does not hold");
}

int native_error(struct core_call *call) { return raise_text(call, ERROR_RUNTIME, 0, "error"); }

/* The executor stops here when a debugger is attached. */
int native_debugger(struct core_call *call) {
    (void)call;
    return 0;
}
