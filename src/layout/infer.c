/* What a name holds wherever it is written in a function: so that a loop need not forget it. Each write is looked at until nothing changes, beginning
 * with "nothing is known against it": `0 -> i` and `i + 1 -> i` agree on int64. Relies on lower.h and on lower_survey having run.
 * Promise: what it claims of a name holds after every write of it (None, which is no value, aside); a few walks of the function at most. */
#include "layout/fold.h"
#include "layout/lower.h"

enum { PASSES_MOST = 8 };

/* NULL: not known. `open`: so far nothing has been said about a name in it. */
struct guess {
    const struct type *type;
    bool open;
    bool literal; /* a number as it is written, and not negative: beside unsigned ones it is one of them */
};

static struct guess guess_of(struct lower *lower, const struct ast_node *node);

static struct guess known(const struct type *type) {
    return (struct guess){.type = type && type->any ? NULL : type};
}

static struct guess scalar(struct lower *lower, enum kv_kind kind) {
    return known(kind == KIND_NONE ? NULL : types_scalar(&lower->scope->types, kind));
}

static struct guess guess_name(struct lower *lower, struct ast_text name) {
    const struct local *local = lower_known(lower, name);
    if (!local) return known(NULL);
    if (local->declared) return known(local->declared);
    if (local->read_param && !local->addressed) return known(local->flow);
    if (local->addressed || local->write_param || !local->written) return known(NULL);
    return (struct guess){.type = local->all, .open = local->all_open};
}

static bool one_axis(const struct type *type) {
    return type && types_element(type) && type->only->axis_count == 1 && !type->only->quantifier && !kind_is_char(type->only->kind);
}

static const struct type *array_of(struct lower *lower, enum kv_kind kind) {
    return types_of(&lower->scope->types, scope_join(lower->scope, ast_text_of("[]"), "", ast_text_of(kind_name(kind))), NULL);
}

/* ---- expressions ---- */

static struct guess guess_operation(struct lower *lower, enum ast_op op, struct guess left, struct guess right) {
    int level = ast_op_row(op)->level;
    if (level <= 40) return scalar(lower, KIND_BOOL);
    if (left.open || right.open) return (struct guess){.open = true};
    if (!left.type || !right.type) return known(NULL);
    if (op == AST_OP_ADD && left.type->string) return known(left.type == right.type ? left.type : NULL);
    enum kv_kind a = (enum kv_kind)left.type->scalar, b = (enum kv_kind)right.type->scalar;
    if (level == 70) return known(kind_is_integer(a) ? left.type : NULL);
    if (left.literal && kind_class(b) == KIND_CLASS_UINT) a = KIND_UINT64;
    if (right.literal && kind_class(a) == KIND_CLASS_UINT) b = KIND_UINT64;
    return scalar(lower, fold_result_kind(a, b));
}

static struct guess guess_chain(struct lower *lower, const struct ast_node *node) {
    struct guess left = guess_of(lower, node->as.chain.operands[0]);
    for (uint32_t i = 1; i < node->as.chain.count; i++)
        left = guess_operation(lower, (enum ast_op)node->as.chain.ops[i - 1], left, guess_of(lower, node->as.chain.operands[i]));
    return left;
}

static struct guess guess_prefix(struct lower *lower, const struct ast_node *node) {
    if (node->as.prefix.op == AST_PREFIX_NOT) return scalar(lower, KIND_BOOL);
    if (node->as.prefix.op != AST_PREFIX_MINUS) return known(NULL);
    struct guess guess = guess_of(lower, node->as.prefix.operand);
    if (guess.open) return guess;
    enum kv_kind kind = guess.type ? (enum kv_kind)guess.type->scalar : KIND_NONE;
    bool keeps = kind_class(kind) == KIND_CLASS_INT || kind == KIND_FLOAT64 || kind == KIND_FLOAT32;
    return known(keeps ? guess.type : NULL);
}

static struct guess guess_access(struct lower *lower, const struct ast_node *node) {
    if (node->as.access.count != 1 || node->as.access.steps[0].kind != AST_STEP_INDEX || node->as.access.steps[0].args.count != 1) return known(NULL);
    struct guess base = guess_of(lower, node->as.access.base);
    if (base.open) return base;
    if (base.type && base.type->string == KIND_CHAR_UTF32) return base;
    return one_axis(base.type) ? scalar(lower, types_element(base.type)) : known(NULL);
}

static struct guess guess_call(struct lower *lower, const struct ast_node *node) {
    struct symbol *symbol = scope_callee(lower->scope, lower->package, node->as.call.callee, node->as.call.member_at);
    if (!symbol) return known(NULL);
    scope_type_params(lower->scope, symbol);
    struct guess first = node->as.call.args.count ? guess_of(lower, node->as.call.args.at[0]) : known(NULL);
    const struct type *type = lower_result_type(lower, symbol, first.open ? NULL : first.type);
    return type || !first.open ? known(type) : first;
}

static struct guess guess_array(struct lower *lower, const struct ast_node *node) {
    if (!node->as.array.elements.count) return known(NULL);
    struct guess first = guess_of(lower, node->as.array.elements.at[0]);
    enum kv_kind kind = first.type && !first.open ? (enum kv_kind)first.type->scalar : KIND_NONE;
    for (uint32_t i = 0; kind && i < node->as.array.elements.count; i++)
        if (guess_of(lower, node->as.array.elements.at[i]).type != first.type) kind = KIND_NONE;
    return kind ? known(array_of(lower, kind)) : known(NULL);
}

static struct guess guess_of(struct lower *lower, const struct ast_node *node) {
    struct guess guess;
    switch (node->kind) {
    case AST_BOOL: return scalar(lower, KIND_BOOL);
    case AST_INT:
        guess = node->as.integer.is_unsigned ? known(NULL) : scalar(lower, KIND_INT64);
        guess.literal = !node->as.integer.negative;
        return guess;
    case AST_FLOAT: return scalar(lower, KIND_FLOAT64);
    case AST_STRING: return known(types_string(&lower->scope->types, KIND_CHAR_UTF32));
    case AST_NAME: return guess_name(lower, node->as.name.text);
    case AST_CHAIN: return guess_chain(lower, node);
    case AST_PREFIX: return guess_prefix(lower, node);
    case AST_ACCESS: return guess_access(lower, node);
    case AST_CALL: return guess_call(lower, node);
    case AST_ARRAY: return guess_array(lower, node);
    default: return known(NULL);
    }
}

/* ---- statements ---- */

/* Another write of the name. Gives true where it changes what is said of it. */
static bool meet(struct lower *lower, struct ast_text name, struct guess guess) {
    struct local *local = name.length ? lower_known(lower, name) : NULL;
    if (!local || local->declared || guess.open || (!local->all_open && !local->all)) return false;
    const struct type *type = guess.type;
    if (!local->all_open && type != local->all) {
        bool arrays = one_axis(type) && one_axis(local->all) && types_element(type) == types_element(local->all);
        type = arrays ? array_of(lower, types_element(type)) : NULL;
    }
    bool changes = local->all_open || type != local->all;
    local->all_open = false;
    local->all = type;
    return changes;
}

static bool infer_block(struct lower *lower, const struct ast_nodes *body);

static bool infer_write(struct lower *lower, const struct ast_node *node) {
    const struct ast_node *value = node->as.write.value;
    const struct ast_nodes *slots = &node->as.write.slots;
    struct symbol *symbol = value->kind == AST_CALL ? scope_callee(lower->scope, lower->package, value->as.call.callee, value->as.call.member_at) : NULL;
    bool several = symbol && symbol->writes > 1, changes = false;
    if (several) scope_type_params(lower->scope, symbol);
    struct guess guess = several ? known(NULL) : guess_of(lower, value);
    for (uint32_t i = 0; i < slots->count; i++) {
        if (slots->at[i]->kind != AST_NAME) continue;
        if (several) guess = known(i < symbol->writes ? symbol->params[symbol->reads + i].type : NULL);
        changes |= meet(lower, slots->at[i]->as.name.text, guess);
    }
    return changes;
}

static bool infer_for(struct lower *lower, const struct ast_node *node) {
    const struct ast_node *walked = node->as.for_loop.walked;
    struct guess value = known(NULL), key = known(NULL);
    if (walked->kind == AST_CALL && ast_text_is(walked->as.call.callee, "range")) {
        value = scalar(lower, KIND_INT64);
        for (uint32_t i = 0; i < walked->as.call.args.count; i++) {
            struct guess bound = guess_of(lower, walked->as.call.args.at[i]);
            if (!bound.open && (!bound.type || bound.type->scalar != KIND_INT64)) value = known(NULL);
        }
    } else {
        struct guess container = guess_of(lower, walked);
        if (container.open) value = container;
        else if (container.type && container.type->string == KIND_CHAR_UTF32) value = container;
        else if (one_axis(container.type)) value = scalar(lower, types_element(container.type));
        else if (container.type) value = known(types_map_value(&lower->scope->types, container.type));
        if (one_axis(container.type)) key = scalar(lower, KIND_INT64);
        if (container.open) key = container;
    }
    bool changes = meet(lower, node->as.for_loop.value, value);
    changes |= meet(lower, node->as.for_loop.key, key);
    return infer_block(lower, &node->as.for_loop.block.body) || changes;
}

static bool infer_block(struct lower *lower, const struct ast_nodes *body) {
    bool changes = false;
    for (uint32_t i = 0; i < body->count; i++) {
        const struct ast_node *node = body->at[i];
        if (node->kind == AST_WRITE) changes |= infer_write(lower, node);
        else if (node->kind == AST_FOR) changes |= infer_for(lower, node);
        else if (node->kind == AST_WHILE) changes |= infer_block(lower, &node->as.while_loop.block.body);
        else if (node->kind == AST_IF)
            for (uint32_t a = 0; a < node->as.if_else.count; a++) changes |= infer_block(lower, &node->as.if_else.arms[a].block.body);
    }
    return changes;
}

void lower_infer(struct lower *lower, const struct ast_nodes *body) {
    if (!lower->loop_count) return;
    for (uint32_t i = 0; i < lower->written_count; i++) lower->written[i]->all_open = true;
    bool changes = true;
    for (int pass = 0; changes && pass < PASSES_MOST; pass++) changes = infer_block(lower, body);
    for (uint32_t i = 0; i < lower->written_count; i++) {
        struct local *local = lower->written[i];
        if (changes || local->all_open) local->all = NULL;
        local->all_open = false;
    }
}
