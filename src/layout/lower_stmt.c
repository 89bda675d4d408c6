/* Statements: writes and calls, branches, loops. Relies on lower.h.
 * A `while` tests at its end and is entered by a jump to the test, so that a turn costs one branch; `for` steps with `next` in the
 * same way. Promise: after a branch or loop, what is known of names is what every way there agrees on. */
#include <string.h>
#include "layout/lower.h"

static void lower_run(struct lower *lower, const struct ast_node *node) {
    const struct ast_node *value = node->as.run.value;
    lower->at = node->at;
    if (value->kind == AST_CALL) {
        struct symbol *symbol = lower_callee(lower, value);
        if (symbol) lower_call_row(lower, value, symbol, NULL, 0);
        else {
            for (uint32_t i = 0; i < value->as.call.args.count; i++) {
                if (value->as.call.args.at[i]->kind == AST_ARRAY || value->as.call.args.at[i]->kind == AST_FILL) continue;
                struct value lost = lower_expression(lower, value->as.call.args.at[i], NULL, NULL);
                lower_release(lower, &lost);
            }
        }
        return;
    }
    diag_warning(lower->diags, node->at, "the value of this instruction is not used");
    struct layout_slot nowhere = rows_name(ast_text_of("_"));
    struct value lost = lower_expression(lower, value, NULL, &nowhere);
    lower_release(lower, &lost);
}

static void lower_if(struct lower *lower, const struct ast_node *node) {
    uint32_t end = lower_label(lower);
    bool before = lower->reachable, after = false, has_else = false;
    struct flow flow;
    lower_flow_begin(lower, &flow);
    for (uint32_t i = 0; i < node->as.if_else.count; i++) {
        const struct ast_arm *arm = &node->as.if_else.arms[i];
        uint32_t yes = lower_label(lower), next = lower_label(lower);
        bool last = i + 1 == node->as.if_else.count;
        has_else = !arm->condition;
        lower->reachable = before;
        if (arm->condition) lower_condition(lower, arm->condition, yes, last ? end : next, true);
        lower_place(lower, yes);
        lower_block(lower, &arm->block.body);
        after |= lower->reachable;
        lower->at = arm->block.close;
        if (lower->reachable && !last) lower_goto(lower, end);
        lower_flow_branch_done(lower, &flow);
        lower_place(lower, next);
    }
    if (!has_else) {
        lower->reachable = before;
        lower_flow_branch_done(lower, &flow);
        after |= before;
    }
    lower_flow_end(lower, &flow);
    lower->reachable = after;
    lower_place(lower, end);
}

static struct loop_writes next_loop(struct lower *lower) {
    if (lower->loop_next >= lower->loop_count) return (struct loop_writes){0, 0};
    return lower->loops[lower->loop_next++];
}

static bool always_true(const struct ast_node *condition) {
    return condition->kind == AST_BOOL && condition->as.boolean.value;
}

static void lower_while(struct lower *lower, const struct ast_node *node) {
    struct loop_writes writes = next_loop(lower);
    bool endless = always_true(node->as.while_loop.condition), before = lower->reachable;
    uint32_t body = lower_label(lower), test = lower_label(lower), end = lower_label(lower);
    struct lower_loop loop = {.outer = lower->loop, .on_break = end, .on_continue = endless ? body : test};
    lower->loop = &loop;
    lower_forget_writes(lower, &writes);
    lower->at = node->at;
    if (!endless) lower_goto(lower, test);
    lower_place(lower, body);
    lower_block(lower, &node->as.while_loop.block.body);
    lower_forget_writes(lower, &writes);
    lower_place(lower, test);
    lower->at = node->as.while_loop.condition->at;
    if (endless) lower_goto(lower, body);
    else lower_condition(lower, node->as.while_loop.condition, body, end, false);
    lower_place(lower, end);
    lower->loop = loop.outer;
    lower->reachable = before && (!endless || loop.broken);
}

/* The types of the loop's names, where the container's is known. */
static void type_loop_names(struct lower *lower, const struct ast_node *node, const struct type *walked, bool range) {
    struct types *types = &lower->scope->types;
    const struct type *value = NULL, *key = NULL;
    if (range) value = walked;
    else if (walked && walked->only && !walked->only->prefix) {
        if (walked->string == KIND_CHAR_UTF32 || walked->string == KIND_CHAR_ASCII) value = walked;
        else if (types_element(walked) && walked->only->axis_count == 1 && !walked->only->quantifier) value = types_scalar(types, types_element(walked));
        else if (types_map_value(types, walked)) value = types_map_value(types, walked);
        if (types_element(walked)) key = types_scalar(types, KIND_INT64);
    }
    const struct ast_text names[2] = {node->as.for_loop.value, node->as.for_loop.key};
    const struct type *const found[2] = {value && value->any ? NULL : value, key};
    for (int i = 0; i < 2; i++) {
        if (!names[i].length || ast_text_is(names[i], "_")) continue;
        lower_set_type(lower, lower_local(lower, names[i]), found[i]);
    }
}

static bool written_in(const struct lower *lower, const struct loop_writes *writes, const struct local *local) {
    for (uint32_t i = writes->from; i < writes->to && i < lower->written_count; i++)
        if (lower->written[i] == local) return true;
    return false;
}

/* The container, in a place that the body does not write: a walk sees it as it was when it began. */
static struct value walked_value(struct lower *lower, const struct ast_node *node, const struct loop_writes *writes) {
    struct value walked = lower_expression(lower, node, NULL, NULL);
    bool safe = walked.temp || walked.slot.kind == SLOT_TEXT || walked.slot.kind == SLOT_ARRAY;
    if (walked.slot.kind == SLOT_NAME && !walked.temp) {
        struct local *local = lower_known(lower, walked.slot.as.text);
        safe = local && !local->addressed && !written_in(lower, writes, local);
    }
    if (walked.type && walked.type->scalar)
        lower_error(lower, node->at, DIAG_TYPE, "for does not walk over %.*s", (int)walked.type->text.length, walked.type->text.at);
    if (walked.slot.kind == SLOT_NONE && walked.literal) lower_error(lower, node->at, DIAG_TYPE, "for does not walk over None");
    if (safe) return walked;
    struct value temp = lower_temp(lower);
    temp.type = walked.type;
    const struct type *type = walked.type;
    lower_moved(lower, walked, &temp.slot);
    temp.type = type;
    return temp;
}

static bool is_range(struct lower *lower, const struct ast_node *node) {
    if (node->kind != AST_CALL || !ast_text_is(node->as.call.callee, "range")) return false;
    struct symbol *symbol = scope_callee(lower->scope, lower->package, node->as.call.callee, 0);
    return symbol && symbol->kind == FOUND_OPCODE;
}

/* What a range counts in: int64 where every bound is known to be one. */
static const struct type *range_type(struct lower *lower, const struct ast_node *node) {
    const struct type *type = types_scalar(&lower->scope->types, KIND_INT64);
    for (uint32_t i = 0; i < node->as.call.args.count; i++) {
        const struct ast_node *arg = node->as.call.args.at[i];
        if (arg->kind == AST_INT && !arg->as.integer.is_unsigned) continue;
        struct local *local = arg->kind == AST_NAME ? lower_known(lower, arg->as.name.text) : NULL;
        if (!local || lower_name_type(local) != type) return NULL;
    }
    return type;
}

static void check_loop_name(struct lower *lower, struct ast_text name, struct ast_pos at) {
    if (name.length && !ast_text_is(name, "_")) lower_check_writable(lower, name, at, "it cannot be a loop variable");
}

static void check_declared(struct lower *lower, struct ast_text name, const struct type *type, struct ast_pos at) {
    if (!name.length || ast_text_is(name, "_")) return;
    struct local *local = lower_local(lower, name);
    if (!local->declared) return;
    struct value value = {.slot = rows_name(local->name), .type = type};
    lower_blame(lower, "`%.*s`", (int)name.length, name.at);
    if (lower_expect(lower, at, &value, local->declared) != 1) return;
    uint32_t mark = lower->stack_count;
    lower_push(lower, value);
    lower_push(lower, (struct value){.slot = rows_text(local->declared->text)});
    lower->at = at;
    struct layout_slot slot = value.slot;
    lower_row(lower, "check", mark, &slot, 1);
}

static void lower_for(struct lower *lower, const struct ast_node *node) {
    bool before = lower->reachable, range = is_range(lower, node->as.for_loop.walked);
    struct ast_text value = node->as.for_loop.value, key = node->as.for_loop.key;
    check_loop_name(lower, key, node->as.for_loop.key_at);
    check_loop_name(lower, value, node->as.for_loop.value_at);
    struct loop_writes writes = next_loop(lower);
    const struct type *counted = range ? range_type(lower, node->as.for_loop.walked) : NULL;
    struct value walked = walked_value(lower, node->as.for_loop.walked, &writes), position = lower_temp(lower);
    uint32_t body = lower_label(lower), test = lower_label(lower), end = lower_label(lower);
    struct lower_loop loop = {.outer = lower->loop, .on_break = end, .on_continue = test};
    lower->at = node->at;
    lower_moved(lower, (struct value){.slot = rows_int(0)}, &position.slot);
    lower_goto(lower, test);
    lower_forget_writes(lower, &writes);
    type_loop_names(lower, node, range ? counted : walked.type, range);
    const struct type *element = range ? counted : NULL;
    if (!range && value.length && !ast_text_is(value, "_")) element = lower_local(lower, value)->flow;
    lower_place(lower, body);
    check_declared(lower, value, element, node->as.for_loop.value_at);
    lower->loop = &loop;
    lower_block(lower, &node->as.for_loop.block.body);
    lower->loop = loop.outer;
    lower_forget_writes(lower, &writes);
    lower_place(lower, test);
    struct layout_slot targets[3] = {position.slot, rows_name(value), rows_name(key)};
    struct value container = walked, at = position;
    container.temp = at.temp = 0;
    uint32_t mark = lower->stack_count;
    lower_push(lower, container);
    lower_push(lower, at);
    lower_push(lower, (struct value){.slot = lower_label_slot(body)});
    lower_push(lower, (struct value){.slot = lower_label_slot(end)});
    lower->at = node->as.for_loop.walked->at;
    lower_row(lower, "next", mark, targets, key.length ? 3 : 2);
    lower_place(lower, end);
    lower_release(lower, &walked);
    lower_release(lower, &position);
    lower->reachable = before;
}

static void lower_statement(struct lower *lower, const struct ast_node *node) {
    uint32_t mark = lower->stack_count;
    switch (node->kind) {
    case AST_WRITE: lower_write(lower, node); break;
    case AST_RUN: lower_run(lower, node); break;
    case AST_IF: lower_if(lower, node); break;
    case AST_WHILE: lower_while(lower, node); break;
    case AST_FOR: lower_for(lower, node); break;
    case AST_BREAK:
    case AST_CONTINUE:
        if (!lower->loop) break;
        lower->at = node->at;
        if (node->kind == AST_BREAK && lower->reachable) lower->loop->broken = true;
        lower_goto(lower, node->kind == AST_BREAK ? lower->loop->on_break : lower->loop->on_continue);
        lower->reachable = false;
        break;
    case AST_RETURN:
        lower->at = node->at;
        lower_row(lower, "return", mark, NULL, 0);
        lower->reachable = false;
        break;
    default: break;
    }
}

void lower_block(struct lower *lower, const struct ast_nodes *body) {
    for (uint32_t i = 0; i < body->count; i++) {
        if (!lower->reachable && !lower->warned) {
            diag_warning(lower->diags, body->at[i]->at, "this is never reached");
            lower->warned = true;
        }
        lower_statement(lower, body->at[i]);
    }
}
