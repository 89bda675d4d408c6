/* What must be known of a function before its rows are made: the names it writes (and which loop writes them), annotations, and whose
 * address is taken. Relies on lower.h; visits statements in the order of the source, as lowering does afterwards.
 * Promise: linear in the size of the function. */
#include <stdlib.h>
#include "layout/lower.h"

static void survey_expression(struct lower *lower, const struct ast_node *node);

static void survey_all(struct lower *lower, const struct ast_nodes *nodes) {
    for (uint32_t i = 0; i < nodes->count; i++) survey_expression(lower, nodes->at[i]);
}

static void note_written(struct lower *lower, struct ast_text name) {
    if (ast_text_is(name, "_") || !name.length) return;
    struct local *local = lower_local(lower, name);
    local->written = true;
    void *grown = lower_grow(lower, lower->written, lower->written_count, &lower->written_room, sizeof *lower->written);
    if (!grown) return;
    lower->written = grown;
    lower->written[lower->written_count++] = local;
}

static void note_addressed(struct lower *lower, const struct ast_node *node) {
    if (node->kind == AST_ACCESS) node = node->as.access.base;
    if (node->kind != AST_NAME) return;
    struct local *local = lower_local(lower, node->as.name.text);
    local->addressed = true;
    lower->takes_addresses = true;
}

static void survey_steps(struct lower *lower, const struct ast_node *node) {
    survey_expression(lower, node->as.access.base);
    for (uint32_t i = 0; i < node->as.access.count; i++) survey_all(lower, &node->as.access.steps[i].args);
}

static void survey_call(struct lower *lower, const struct ast_node *node) {
    const struct ast_nodes *args = &node->as.call.args;
    survey_all(lower, args);
    bool maybe = false;
    for (uint32_t i = 0; i < args->count; i++) maybe |= args->at[i]->kind == AST_NAME || args->at[i]->kind == AST_ACCESS;
    if (!maybe) return;
    struct symbol *symbol = scope_callee(lower->scope, lower->package, node->as.call.callee, node->as.call.member_at);
    if (!symbol || symbol->kind != FOUND_FUNCTION) return;
    scope_type_params(lower->scope, symbol);
    for (uint32_t i = 0; i < args->count && i < symbol->reads; i++)
        if (symbol->params[i].type && symbol->params[i].type->pointer) note_addressed(lower, args->at[i]);
}

static void survey_entries(struct lower *lower, const struct ast_entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) survey_expression(lower, entries[i].value);
}

static void survey_expression(struct lower *lower, const struct ast_node *node) {
    switch (node->kind) {
    case AST_ACCESS: survey_steps(lower, node); break;
    case AST_CALL: survey_call(lower, node); break;
    case AST_PREFIX:
        if (node->as.prefix.op == AST_PREFIX_ADDRESS) note_addressed(lower, node->as.prefix.operand);
        survey_expression(lower, node->as.prefix.operand);
        break;
    case AST_CHAIN:
        for (uint32_t i = 0; i < node->as.chain.count; i++) survey_expression(lower, node->as.chain.operands[i]);
        break;
    case AST_ARRAY: survey_all(lower, &node->as.array.elements); break;
    case AST_FILL: survey_expression(lower, node->as.fill.value); break;
    case AST_MAP: survey_entries(lower, node->as.map.entries, node->as.map.count); break;
    case AST_STRUCT_LITERAL: survey_entries(lower, node->as.struct_literal.entries, node->as.struct_literal.count); break;
    default: break;
    }
}

static void annotate(struct lower *lower, const struct ast_node *slot, struct ast_type written) {
    struct local *local = lower_local(lower, slot->as.name.text);
    const struct type *type = scope_type(lower->scope, lower->package, written);
    if (!type) return;
    if (local->declared && local->declared != type && !local->read_param) {
        lower_error(lower, slot->at, DIAG_TYPE, "`%.*s` is annotated as %.*s here and as %.*s before", (int)local->name.length, local->name.at,
            (int)type->text.length, type->text.at, (int)local->declared->text.length, local->declared->text.at);
        return;
    }
    if (local->read_param) return;
    local->declared = type;
    local->declared_at = slot->at;
}

static void survey_write(struct lower *lower, const struct ast_node *node) {
    survey_expression(lower, node->as.write.value);
    for (uint32_t i = 0; i < node->as.write.slots.count; i++) {
        const struct ast_node *slot = node->as.write.slots.at[i];
        if (slot->kind == AST_NAME) {
            note_written(lower, slot->as.name.text);
            if (node->as.write.types && node->as.write.types[i].text.length) annotate(lower, slot, node->as.write.types[i]);
        } else if (slot->kind == AST_ACCESS) {
            if (slot->as.access.base->kind == AST_NAME) note_written(lower, slot->as.access.base->as.name.text);
            survey_steps(lower, slot);
        } else survey_expression(lower, slot);
    }
}

static uint32_t loop_begin(struct lower *lower) {
    void *grown = lower_grow(lower, lower->loops, lower->loop_count, &lower->loop_room, sizeof *lower->loops);
    if (!grown) return 0;
    lower->loops = grown;
    lower->loops[lower->loop_count].from = lower->written_count;
    return lower->loop_count++;
}

static void loop_end(struct lower *lower, uint32_t loop) {
    if (loop < lower->loop_count) lower->loops[loop].to = lower->written_count;
}

static void survey_statement(struct lower *lower, const struct ast_node *node) {
    uint32_t loop;
    switch (node->kind) {
    case AST_WRITE: survey_write(lower, node); break;
    case AST_RUN: survey_expression(lower, node->as.run.value); break;
    case AST_IF:
        for (uint32_t i = 0; i < node->as.if_else.count; i++) {
            if (node->as.if_else.arms[i].condition) survey_expression(lower, node->as.if_else.arms[i].condition);
            lower_survey(lower, &node->as.if_else.arms[i].block.body);
        }
        break;
    case AST_WHILE:
        loop = loop_begin(lower);
        survey_expression(lower, node->as.while_loop.condition);
        lower_survey(lower, &node->as.while_loop.block.body);
        loop_end(lower, loop);
        break;
    case AST_FOR:
        survey_expression(lower, node->as.for_loop.walked);
        loop = loop_begin(lower);
        note_written(lower, node->as.for_loop.key);
        note_written(lower, node->as.for_loop.value);
        lower_survey(lower, &node->as.for_loop.block.body);
        loop_end(lower, loop);
        break;
    default: break;
    }
}

void lower_survey(struct lower *lower, const struct ast_nodes *body) {
    for (uint32_t i = 0; i < body->count; i++) survey_statement(lower, body->at[i]);
}
