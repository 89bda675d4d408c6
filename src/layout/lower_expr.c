/* Expressions: one row an operation, constants folded, operands in place where they stand already.
 * Relies on lower.h and fold.h. `&&` and `||` become branches. Promise: operands are read in the order of the source, as far as
 * anybody could notice. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "layout/fold.h"
#include "layout/lower.h"

void lower_blame(struct lower *lower, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(lower->blame, sizeof lower->blame, format, args);
    va_end(args);
}

struct ast_text lower_type_name(const struct type *type) {
    return type ? type->text : ast_text_of("any");
}

struct value lower_moved(struct lower *lower, struct value value, const struct layout_slot *into) {
    if (!into || (value.slot.kind == SLOT_NAME && rows_slot_equal(&value.slot, into))) return value;
    uint32_t mark = lower->stack_count;
    lower_push(lower, value);
    lower_row(lower, "set", mark, into, 1);
    return (struct value){.slot = *into, .type = value.type};
}

void lower_pin(struct lower *lower, struct value *value) {
    if (!value->folded) return;
    struct value temp = lower_temp(lower);
    temp.type = value->type;
    lower_moved(lower, *value, &temp.slot);
    *value = temp;
}

int lower_expect(struct lower *lower, struct ast_pos at, const struct value *value, const struct type *expected) {
    if (!expected || expected->any) return 0;
    if (value->slot.kind == SLOT_NONE) return 0;
    if (!value->type || value->type->any) return 1;
    if (types_within(expected, value->type)) return 0;
    if (!types_disjoint(expected, value->type)) return 1;
    struct ast_text actual = lower_type_name(value->type);
    lower_error(lower, at, DIAG_TYPE, "%s is %.*s, not %.*s", lower->blame, (int)expected->text.length, expected->text.at, (int)actual.length, actual.at);
    return 2;
}

/* ---- what an expression may do and read ---- */

bool lower_may_write(struct lower *lower, const struct ast_node *node) {
    switch (node->kind) {
    case AST_CALL: {
        for (uint32_t i = 0; i < node->as.call.args.count; i++)
            if (lower_may_write(lower, node->as.call.args.at[i])) return true;
        struct symbol *symbol = scope_callee(lower->scope, lower->package, node->as.call.callee, node->as.call.member_at);
        if (!symbol || symbol->kind == FOUND_FUNCTION) return true;
        struct ast_text name = scope_shown(symbol);
        return (name.length > 4 && memcmp(name.at, "kv\xc2\xb7", 4) == 0) || (name.length > 9 && memcmp(name.at, "vthread\xc2\xb7", 9) == 0);
    }
    case AST_PREFIX: return lower_may_write(lower, node->as.prefix.operand);
    case AST_CHAIN:
        for (uint32_t i = 0; i < node->as.chain.count; i++)
            if (lower_may_write(lower, node->as.chain.operands[i])) return true;
        return false;
    case AST_ACCESS:
        if (lower_may_write(lower, node->as.access.base)) return true;
        for (uint32_t i = 0; i < node->as.access.count; i++)
            for (uint32_t j = 0; j < node->as.access.steps[i].args.count; j++)
                if (lower_may_write(lower, node->as.access.steps[i].args.at[j])) return true;
        return false;
    case AST_ARRAY:
        for (uint32_t i = 0; i < node->as.array.elements.count; i++)
            if (lower_may_write(lower, node->as.array.elements.at[i])) return true;
        return false;
    case AST_FILL:
    case AST_MAP:
    case AST_STRUCT_LITERAL: return true; /* rare; a copy too many harms nobody */
    default: return false;
    }
}

static bool reads_name(const struct ast_node *node, struct ast_text name) {
    switch (node->kind) {
    case AST_NAME: return ast_text_equal(node->as.name.text, name);
    case AST_PREFIX: return reads_name(node->as.prefix.operand, name);
    case AST_CHAIN:
        for (uint32_t i = 0; i < node->as.chain.count; i++)
            if (reads_name(node->as.chain.operands[i], name)) return true;
        return false;
    case AST_CALL:
        for (uint32_t i = 0; i < node->as.call.args.count; i++)
            if (reads_name(node->as.call.args.at[i], name)) return true;
        return false;
    case AST_ACCESS:
        if (reads_name(node->as.access.base, name)) return true;
        for (uint32_t i = 0; i < node->as.access.count; i++)
            for (uint32_t j = 0; j < node->as.access.steps[i].args.count; j++)
                if (reads_name(node->as.access.steps[i].args.at[j], name)) return true;
        return false;
    case AST_NONE:
    case AST_BOOL:
    case AST_INT:
    case AST_FLOAT:
    case AST_STRING:
    case AST_PATH: return false;
    default: return true;
    }
}

void lower_settle(struct lower *lower, struct value *value, const struct ast_nodes *later, uint32_t from) {
    bool at_risk = value->slot.kind == SLOT_PATH;
    if (value->slot.kind == SLOT_NAME && !value->temp) {
        struct local *local = lower_known(lower, value->slot.as.text);
        at_risk = local && local->addressed;
    }
    if (!at_risk) return;
    for (uint32_t i = from; i < later->count; i++) {
        if (!lower_may_write(lower, later->at[i])) continue;
        struct value temp = lower_temp(lower);
        temp.type = value->type;
        lower_moved(lower, *value, &temp.slot);
        *value = temp;
        return;
    }
}

/* ---- leaves ---- */

static struct value constant(struct lower *lower, const struct ast_node *node, struct layout_slot slot, const struct type *type,
                             const struct type *expected, const struct layout_slot *into) {
    struct value value = {.slot = slot, .type = type, .literal = true};
    if (expected) lower_convert(lower, node->at, &value, expected);
    return lower_moved(lower, value, into);
}

static struct value lower_none(struct lower *lower, const struct layout_slot *into) {
    struct value value = {.slot = {.kind = SLOT_NONE}, .literal = true};
    struct value moved = lower_moved(lower, value, into);
    moved.literal = true; /* None fits everywhere: nothing to check */
    return moved;
}

/* With the nearest name that is written, as long as the warning will be kept. */
static void warn_never_written(struct lower *lower, struct ast_pos at, struct ast_text name) {
    const struct local *best = NULL;
    unsigned limit = scope_near_limit(name), nearest = limit + 1;
    for (uint32_t i = 0; lower->diags->warnings < DIAG_MAX_WARNINGS && i < lower->table_room; i++)
        for (const struct local *local = lower->table[i]; local; local = local->next) {
            if (!local->written && !local->read_param && !local->write_param) continue;
            unsigned distance = scope_distance(local->name, name, limit);
            if (distance >= nearest) continue;
            nearest = distance;
            best = local;
        }
    diag_warning(lower->diags, at, "`%.*s` is read and never written: it is None%s%.*s%s", (int)name.length, name.at, best ? "; did you mean `" : "",
        best ? (int)best->name.length : 0, best ? best->name.at : "", best ? "`?" : "");
}

static struct value lower_name(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    struct ast_text name = node->as.name.text;
    struct local *local = lower_known(lower, name);
    bool exists = local && (local->written || local->read_param || local->write_param);
    if (!exists) {
        struct ast_text path = lower_constant_path(lower, name);
        if (path.length) return lower_moved(lower, (struct value){.slot = rows_path(path)}, into);
        if (!local || !local->addressed)
            warn_never_written(lower, node->at, name);
        local = lower_local(lower, name);
    }
    local->is_read = true;
    return lower_moved(lower, (struct value){.slot = rows_name(local->name), .type = lower_name_type(local)}, into);
}

/* ---- prefixes ---- */

static struct value lower_load(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    const struct ast_node *operand = node->as.prefix.operand;
    struct value pointer = lower_expression(lower, operand, NULL, NULL);
    const struct type *type = NULL;
    if (operand->kind == AST_NAME) {
        struct local *local = lower_known(lower, operand->as.name.text);
        if (local && local->declared) type = types_target(&lower->scope->types, local->declared);
    }
    if (pointer.type && pointer.type->scalar)
        lower_error(lower, node->at, DIAG_TYPE, "`*` follows a pointer, not %.*s", (int)pointer.type->text.length, pointer.type->text.at);
    struct value result = lower_result(lower, into);
    result.type = type;
    uint32_t mark = lower->stack_count;
    lower->at = node->at;
    lower_push(lower, pointer);
    lower_row(lower, "load", mark, &result.slot, 1);
    return result;
}

enum category { CATEGORY_UNKNOWN, CATEGORY_NUMBER, CATEGORY_BOOL, CATEGORY_STRING, CATEGORY_CONTAINER, CATEGORY_SPAN };

static enum category category_of(const struct value *value) {
    const struct type *type = value->type;
    if (!type || !type->only || type->only->prefix || type->any) return CATEGORY_UNKNOWN;
    if (type->string) return CATEGORY_STRING;
    if (type->scalar == KIND_BOOL) return CATEGORY_BOOL;
    if (type->scalar == KIND_TIME || type->scalar == KIND_DURATION) return CATEGORY_SPAN;
    if (type->scalar && kind_row(type->scalar)->has_arithmetic) return CATEGORY_NUMBER;
    if (type->only->class == TYPE_MAP || (type->only->class == TYPE_NAME && !type->only->axis_count) ||
        (type->only->class == TYPE_KIND && type->only->axis_count && !type->only->quantifier && !kind_is_char(type->only->kind)))
        return CATEGORY_CONTAINER;
    return CATEGORY_UNKNOWN;
}

static struct value lower_prefix(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    static const char *const opcodes[] = {[AST_PREFIX_MINUS] = "neg", [AST_PREFIX_NOT] = "not", [AST_PREFIX_ROOT] = "sqrt"};
    enum ast_prefix prefix = (enum ast_prefix)node->as.prefix.op;
    if (prefix == AST_PREFIX_ADDRESS) return lower_address(lower, node, into);
    if (prefix == AST_PREFIX_DEREF) return lower_load(lower, node, into);
    struct value operand = lower_expression(lower, node->as.prefix.operand, NULL, NULL);
    struct layout_slot folded;
    if (fold_prefix(prefix, &operand.slot, &folded)) {
        struct value value = {.slot = folded, .type = types_scalar(&lower->scope->types, (enum kv_kind)folded.value_kind), .folded = true};
        return lower_moved(lower, value, into);
    }
    enum category category = category_of(&operand), wanted = prefix == AST_PREFIX_NOT ? CATEGORY_BOOL : CATEGORY_NUMBER;
    if (operand.slot.kind == SLOT_NONE || (category != CATEGORY_UNKNOWN && category != wanted && category != CATEGORY_SPAN)) {
        struct ast_text shown = operand.slot.kind == SLOT_NONE ? ast_text_of("None") : lower_type_name(operand.type);
        lower_error(lower, node->at, DIAG_TYPE, "`%s` takes a %s, not %.*s", ast_prefix_text(prefix), prefix == AST_PREFIX_NOT ? "bool" : "number",
            (int)shown.length, shown.at);
    }
    if (prefix == AST_PREFIX_PLUS && category == CATEGORY_NUMBER) return lower_moved(lower, operand, into);
    struct value result = lower_result(lower, into);
    if (prefix == AST_PREFIX_NOT) result.type = types_scalar(&lower->scope->types, KIND_BOOL);
    else if (prefix == AST_PREFIX_ROOT && category == CATEGORY_NUMBER)
        result.type = types_scalar(&lower->scope->types, operand.type->scalar == KIND_FLOAT32 ? KIND_FLOAT32 : KIND_FLOAT64);
    else if (category == CATEGORY_NUMBER && kind_row(operand.type->scalar)->is_signed) result.type = operand.type;
    lower_pin(lower, &operand);
    uint32_t mark = lower->stack_count;
    lower->at = node->at;
    lower_push(lower, operand);
    lower_row(lower, prefix == AST_PREFIX_PLUS ? "pos" : opcodes[prefix], mark, &result.slot, 1);
    return result;
}

/* ---- operators ---- */

static bool compares(enum ast_op op) {
    return ast_op_row(op)->level == 30 || ast_op_row(op)->level == 40;
}

static bool shifts(enum ast_op op) {
    return op == AST_OP_SHL || op == AST_OP_SHR;
}

/* A non-negative literal beside an unsigned kind counts as uint64; a folded constant must not look like a literal there. */
static void settle_constant(struct lower *lower, struct value *constant_side, const struct value *other) {
    if (constant_side->slot.kind != SLOT_SCALAR || constant_side->slot.value_kind != KIND_INT64 || (int64_t)constant_side->slot.as.bits < 0) return;
    enum kv_kind kind = other->type ? (enum kv_kind)other->type->scalar : KIND_NONE;
    bool is_unsigned = kind_class(kind) == KIND_CLASS_UINT;
    if (constant_side->literal && is_unsigned) {
        constant_side->slot.value_kind = KIND_UINT64;
        constant_side->type = types_scalar(&lower->scope->types, KIND_UINT64);
    }
    if (constant_side->folded && (kind == KIND_NONE || is_unsigned) && other->slot.kind != SLOT_SCALAR) lower_pin(lower, constant_side);
}

static const struct type *result_type(struct lower *lower, enum ast_op op, const struct value *left, const struct value *right) {
    struct types *types = &lower->scope->types;
    if (compares(op)) return types_scalar(types, KIND_BOOL);
    if (!left->type || !right->type) return NULL;
    if (op == AST_OP_ADD && left->type->string && left->type->string == right->type->string) return left->type;
    enum kv_kind a = (enum kv_kind)left->type->scalar, b = (enum kv_kind)right->type->scalar;
    if (shifts(op)) return kind_is_integer(a) ? left->type : NULL;
    return types_scalar(types, fold_result_kind(a, b));
}

static bool mixes(enum ast_op op, enum category left, enum category right) {
    if (left == CATEGORY_UNKNOWN || right == CATEGORY_UNKNOWN || left == CATEGORY_SPAN || right == CATEGORY_SPAN) return true;
    if (compares(op)) {
        if (left != right) return false;
        return ast_op_row(op)->level == 30 || left == CATEGORY_NUMBER || left == CATEGORY_STRING;
    }
    if (op == AST_OP_ADD && left == CATEGORY_STRING) return right == CATEGORY_STRING;
    return left == CATEGORY_NUMBER && right == CATEGORY_NUMBER;
}

static void check_operands(struct lower *lower, enum ast_op op, struct ast_pos at, const struct value *left, const struct value *right) {
    const char *sign = ast_op_row(op)->text;
    bool none = left->slot.kind == SLOT_NONE || right->slot.kind == SLOT_NONE;
    if (none && ast_op_row(op)->level != 30) {
        lower_error(lower, at, DIAG_TYPE, "`%s` does not take None", sign);
        return;
    }
    enum category a = category_of(left), b = category_of(right);
    if (none || mixes(op, a, b)) {
        bool bits = ast_op_row(op)->level >= 70;
        bool left_float = left->type && kind_is_float(left->type->scalar), right_float = right->type && kind_is_float(right->type->scalar);
        struct ast_text wrong = lower_type_name(left_float ? left->type : right->type);
        if (none || !bits || (!left_float && !right_float)) return;
        if (left->type && right->type)
            lower_error(lower, at, DIAG_TYPE, "`%s` takes integers, not %.*s and %.*s", sign, (int)lower_type_name(left->type).length,
                lower_type_name(left->type).at, (int)lower_type_name(right->type).length, lower_type_name(right->type).at);
        else lower_error(lower, at, DIAG_TYPE, "`%s` takes integers, not %.*s", sign, (int)wrong.length, wrong.at);
        return;
    }
    lower_error(lower, at, DIAG_TYPE, "`%s` does not take %.*s and %.*s", sign, (int)left->type->text.length, left->type->text.at,
        (int)right->type->text.length, right->type->text.at);
    if (!compares(op) && (a == CATEGORY_CONTAINER || b == CATEGORY_CONTAINER))
        diag_note(lower->diags, "arithmetic on arrays is not native: it is an opcode of a tensor extension");
}

static struct value binary(struct lower *lower, enum ast_op op, struct ast_pos at, struct value left, struct value right, const struct layout_slot *into) {
    struct layout_slot folded;
    unsigned literals = (left.literal ? 1u : 0) | (right.literal ? 2u : 0);
    if (fold_binary(lower->arena, op, &left.slot, &right.slot, literals, &folded)) {
        const struct type *type = folded.kind == SLOT_TEXT ? left.type : types_scalar(&lower->scope->types, (enum kv_kind)folded.value_kind);
        return lower_moved(lower, (struct value){.slot = folded, .type = type, .folded = true}, into);
    }
    check_operands(lower, op, at, &left, &right);
    if (!compares(op) && !shifts(op)) {
        settle_constant(lower, &left, &right);
        settle_constant(lower, &right, &left);
    }
    struct value result = lower_result(lower, into);
    result.type = result_type(lower, op, &left, &right);
    uint32_t mark = lower->stack_count;
    lower->at = at;
    lower_push(lower, left);
    lower_push(lower, right);
    lower_row(lower, ast_op_row(op)->opcode, mark, &result.slot, 1);
    return result;
}

static void must_be_bool(struct lower *lower, const struct ast_node *node, const struct value *value, const char *what) {
    const struct type *boolean = types_scalar(&lower->scope->types, KIND_BOOL);
    if (value->slot.kind == SLOT_NONE) lower_error(lower, node->at, DIAG_TYPE, "%s must be a bool, not None", what);
    else if (value->type && types_disjoint(boolean, value->type))
        lower_error(lower, node->at, DIAG_TYPE, "%s must be a bool, not %.*s", what, (int)value->type->text.length, value->type->text.at);
}

/* Whether what comes out is a bool, whatever goes in. */
static bool gives_bool(const struct ast_node *node) {
    if (node->kind == AST_PREFIX) return node->as.prefix.op == AST_PREFIX_NOT;
    if (node->kind != AST_CHAIN) return node->kind == AST_BOOL;
    enum ast_op last = (enum ast_op)node->as.chain.ops[node->as.chain.count - 2];
    return compares(last) || ast_op_row(last)->level <= 20;
}

/* `a && b` as a value: the result lies in one place that every operand is written to in turn. */
static struct value short_circuit(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    bool is_and = node->as.chain.ops[0] == AST_OP_AND;
    uint32_t count = node->as.chain.count;
    bool direct = into && into->kind == SLOT_NAME && !ast_text_is(into->as.text, "_");
    struct local *local = direct ? lower_known(lower, into->as.text) : NULL;
    if (local && (local->addressed || local->declared)) direct = local->declared && local->declared->scalar == KIND_BOOL && !local->addressed;
    for (uint32_t i = 0; direct && i < count; i++) direct = i == 0 || !reads_name(node->as.chain.operands[i], into->as.text);
    struct value place = lower_result(lower, direct ? into : NULL);
    uint32_t end = lower_label(lower);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_node *operand = node->as.chain.operands[i];
        struct value value = lower_expression(lower, operand, NULL, i + 1 < count || gives_bool(operand) ? &place.slot : NULL);
        must_be_bool(lower, operand, &value, "an operand of `&&` and `||`");
        if (i + 1 < count) {
            uint32_t next = lower_label(lower);
            lower->at = operand->at;
            lower_branch(lower, (struct value){.slot = place.slot}, is_and ? next : end, is_and ? end : next);
            lower_place(lower, next);
        } else if (value.type && value.type->scalar == KIND_BOOL && !gives_bool(operand)) {
            struct value moved = lower_moved(lower, value, &place.slot);
            (void)moved;
        } else if (!gives_bool(operand)) { /* not known to be a bool: `and x, x` checks it */
            struct value copy = value;
            copy.temp = 0;
            uint32_t mark = lower->stack_count;
            lower_push(lower, copy);
            lower_push(lower, value);
            lower_row(lower, is_and ? "and" : "or", mark, &place.slot, 1);
        }
    }
    lower_place(lower, end);
    place.type = types_scalar(&lower->scope->types, KIND_BOOL);
    return direct ? place : lower_moved(lower, place, into);
}

static struct value lower_chain(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    if (ast_op_row((enum ast_op)node->as.chain.ops[0])->level <= 20) return short_circuit(lower, node, into);
    struct ast_nodes operands = {node->as.chain.operands, node->as.chain.count};
    struct value left = lower_expression(lower, operands.at[0], NULL, NULL);
    for (uint32_t i = 1; i < operands.count; i++) {
        struct ast_nodes next = {operands.at + i, 1};
        lower_settle(lower, &left, &next, 0);
        struct value right = lower_expression(lower, operands.at[i], NULL, NULL);
        left = binary(lower, (enum ast_op)node->as.chain.ops[i - 1], node->as.chain.op_at[i - 1], left, right, i + 1 == operands.count ? into : NULL);
    }
    return left;
}

/* ---- conditions ---- */

void lower_condition(struct lower *lower, const struct ast_node *node, uint32_t yes, uint32_t no, bool yes_follows) {
    if (node->kind == AST_PREFIX && node->as.prefix.op == AST_PREFIX_NOT) {
        lower_condition(lower, node->as.prefix.operand, no, yes, !yes_follows);
        return;
    }
    if (node->kind == AST_CHAIN && ast_op_row((enum ast_op)node->as.chain.ops[0])->level <= 20) {
        bool is_and = node->as.chain.ops[0] == AST_OP_AND;
        for (uint32_t i = 0; i + 1 < node->as.chain.count; i++) {
            uint32_t next = lower_label(lower);
            lower_condition(lower, node->as.chain.operands[i], is_and ? next : yes, is_and ? no : next, is_and);
            lower_place(lower, next);
        }
        lower_condition(lower, node->as.chain.operands[node->as.chain.count - 1], yes, no, yes_follows);
        return;
    }
    struct value value = lower_expression(lower, node, NULL, NULL);
    must_be_bool(lower, node, &value, "a condition");
    lower->at = node->at;
    if (value.slot.kind == SLOT_SCALAR && value.slot.value_kind == KIND_BOOL) lower_goto(lower, value.slot.as.bits ? yes : no);
    else lower_branch(lower, value, yes, no);
}

/* ---- everything ---- */

struct value lower_expression(struct lower *lower, const struct ast_node *node, const struct type *expected, const struct layout_slot *into) {
    struct types *types = &lower->scope->types;
    struct layout_slot slot;
    if (into) lower->at = node->at;
    switch (node->kind) {
    case AST_NONE: return lower_none(lower, into);
    case AST_BOOL: return constant(lower, node, rows_bool(node->as.boolean.value), types_scalar(types, KIND_BOOL), NULL, into);
    case AST_INT:
        slot = rows_int((int64_t)node->as.integer.bits);
        if (node->as.integer.is_unsigned) slot.value_kind = KIND_UINT64;
        return constant(lower, node, slot, types_scalar(types, (enum kv_kind)slot.value_kind), expected, into);
    case AST_FLOAT: return constant(lower, node, rows_float(node->as.real.value), types_scalar(types, KIND_FLOAT64), expected, into);
    case AST_STRING: return constant(lower, node, rows_text(node->as.string.value), types_string(types, KIND_CHAR_UTF32), expected, into);
    case AST_NAME: return lower_name(lower, node, into);
    case AST_PATH:
    case AST_ACCESS: return lower_access(lower, node, into);
    case AST_CALL: return lower_call(lower, node, into);
    case AST_PREFIX: return lower_prefix(lower, node, into);
    case AST_CHAIN: return lower_chain(lower, node, into);
    case AST_ARRAY: return lower_array(lower, node, expected, into);
    case AST_FILL: return lower_fill(lower, node, expected, into);
    case AST_MAP: return lower_map(lower, node, expected, into);
    case AST_STRUCT_LITERAL: return lower_struct(lower, node, into);
    default: return (struct value){.slot = {.kind = SLOT_NONE}, .literal = true};
    }
}
