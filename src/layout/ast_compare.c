/* Whether two trees mean the same: what format and dump must keep. Relies on ast.h.
 * Places, comments, raw spellings and redundant parentheses count for nothing; kinds, texts, values, grouping, order,
 * the side of a write and annotations do. Promise: recursion no deeper than the tree. */
#include <string.h>
#include "layout/ast.h"

static bool same(const struct ast_node *a, const struct ast_node *b);

static bool same_list(struct ast_nodes a, struct ast_nodes b) {
    if (a.count != b.count) return false;
    for (uint32_t i = 0; i < a.count; i++)
        if (!same(a.at[i], b.at[i])) return false;
    return true;
}

static bool same_block(const struct ast_block *a, const struct ast_block *b) {
    return same_list(a->body, b->body);
}

static bool same_steps(const struct ast_node *a, const struct ast_node *b) {
    if (a->as.access.count != b->as.access.count || !same(a->as.access.base, b->as.access.base)) return false;
    for (uint32_t i = 0; i < a->as.access.count; i++) {
        const struct ast_step *x = &a->as.access.steps[i], *y = &b->as.access.steps[i];
        if (x->kind != y->kind || !ast_text_equal(x->name, y->name) || !same_list(x->args, y->args)) return false;
    }
    return true;
}

static bool same_chain(const struct ast_node *a, const struct ast_node *b) {
    uint32_t count = a->as.chain.count;
    if (count != b->as.chain.count || memcmp(a->as.chain.ops, b->as.chain.ops, count - 1) != 0) return false;
    struct ast_nodes x = {a->as.chain.operands, count}, y = {b->as.chain.operands, count};
    return same_list(x, y);
}

static bool same_entries(const struct ast_entry *a, uint32_t a_count, const struct ast_entry *b, uint32_t b_count) {
    if (a_count != b_count) return false;
    for (uint32_t i = 0; i < a_count; i++)
        if (!same(a[i].key, b[i].key) || !same(a[i].value, b[i].value)) return false;
    return true;
}

static bool same_write(const struct ast_node *a, const struct ast_node *b) {
    if (a->as.write.right != b->as.write.right || !same(a->as.write.value, b->as.write.value)) return false;
    if (!same_list(a->as.write.slots, b->as.write.slots)) return false;
    for (uint32_t i = 0; i < a->as.write.slots.count; i++)
        if (!ast_text_equal(a->as.write.types[i].text, b->as.write.types[i].text)) return false;
    return true;
}

static bool same_if(const struct ast_node *a, const struct ast_node *b) {
    if (a->as.if_else.count != b->as.if_else.count) return false;
    for (uint32_t i = 0; i < a->as.if_else.count; i++) {
        const struct ast_arm *x = &a->as.if_else.arms[i], *y = &b->as.if_else.arms[i];
        if (!same(x->condition, y->condition) || !same_block(&x->block, &y->block)) return false;
    }
    return true;
}

static bool same_params(struct ast_params a, struct ast_params b) {
    if (a.count != b.count) return false;
    for (uint32_t i = 0; i < a.count; i++) {
        const struct ast_param *x = &a.at[i], *y = &b.at[i];
        if (!ast_text_equal(x->name, y->name) || !ast_text_equal(x->type.text, y->type.text) || x->variadic != y->variadic) return false;
    }
    return true;
}

static bool same_function(const struct ast_node *a, const struct ast_node *b) {
    return ast_text_equal(a->as.function.name, b->as.function.name) && same_params(a->as.function.reads, b->as.function.reads) &&
           same_params(a->as.function.writes, b->as.function.writes) && same_block(&a->as.function.block, &b->as.function.block);
}

static bool same_struct(const struct ast_node *a, const struct ast_node *b) {
    if (a->as.structure.count != b->as.structure.count || !ast_text_equal(a->as.structure.name, b->as.structure.name)) return false;
    for (uint32_t i = 0; i < a->as.structure.count; i++) {
        const struct ast_field *x = &a->as.structure.fields[i], *y = &b->as.structure.fields[i];
        if (!ast_text_equal(x->name, y->name) || !ast_text_equal(x->type.text, y->type.text) || !same(x->value, y->value)) return false;
    }
    return true;
}

static bool same_for(const struct ast_node *a, const struct ast_node *b) {
    return ast_text_equal(a->as.for_loop.key, b->as.for_loop.key) && ast_text_equal(a->as.for_loop.value, b->as.for_loop.value) &&
           same(a->as.for_loop.walked, b->as.for_loop.walked) && same_block(&a->as.for_loop.block, &b->as.for_loop.block);
}

static bool same_inside(const struct ast_node *a, const struct ast_node *b) {
    switch ((enum ast_kind)a->kind) {
    case AST_BOOL:
        return a->as.boolean.value == b->as.boolean.value;
    case AST_INT:
        return a->as.integer.bits == b->as.integer.bits && a->as.integer.is_unsigned == b->as.integer.is_unsigned;
    case AST_FLOAT: /* by bits: -0.0 is not 0.0 */
        return memcmp(&a->as.real.value, &b->as.real.value, sizeof a->as.real.value) == 0;
    case AST_STRING:
        return ast_text_equal(a->as.string.value, b->as.string.value);
    case AST_NAME:
    case AST_DISCARD:
        return ast_text_equal(a->as.name.text, b->as.name.text);
    case AST_PATH:
        return ast_text_equal(a->as.path.text, b->as.path.text);
    case AST_ACCESS:
        return same_steps(a, b);
    case AST_CALL:
        return ast_text_equal(a->as.call.callee, b->as.call.callee) && same_list(a->as.call.args, b->as.call.args);
    case AST_PREFIX:
        return a->as.prefix.op == b->as.prefix.op && same(a->as.prefix.operand, b->as.prefix.operand);
    case AST_CHAIN:
        return same_chain(a, b);
    case AST_ARRAY:
        return same_list(a->as.array.elements, b->as.array.elements);
    case AST_FILL:
        return same(a->as.fill.value, b->as.fill.value);
    case AST_MAP:
        return same_entries(a->as.map.entries, a->as.map.count, b->as.map.entries, b->as.map.count);
    case AST_STRUCT_LITERAL:
        return ast_text_equal(a->as.struct_literal.name, b->as.struct_literal.name) &&
               same_entries(a->as.struct_literal.entries, a->as.struct_literal.count, b->as.struct_literal.entries, b->as.struct_literal.count);
    case AST_WRITE:
        return same_write(a, b);
    case AST_RUN:
        return same(a->as.run.value, b->as.run.value);
    case AST_IF:
        return same_if(a, b);
    case AST_WHILE:
        return same(a->as.while_loop.condition, b->as.while_loop.condition) && same_block(&a->as.while_loop.block, &b->as.while_loop.block);
    case AST_FOR:
        return same_for(a, b);
    case AST_FUNCTION:
    case AST_RWIR:
        return same_function(a, b);
    case AST_STRUCT:
        return same_struct(a, b);
    case AST_LIB:
        return ast_text_equal(a->as.lib.name, b->as.lib.name) && same_block(&a->as.lib.block, &b->as.lib.block);
    default: /* None, break, continue, return, and errors hold nothing */
        return true;
    }
}

static bool same(const struct ast_node *a, const struct ast_node *b) {
    if (!a || !b) return a == b;
    return a->kind == b->kind && same_inside(a, b);
}

bool ast_equal(const struct ast_file *a, const struct ast_file *b) {
    return same_list(a->items, b->items);
}
