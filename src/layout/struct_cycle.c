/* Structs whose defaults never end: `struct S { s:S = S{} }`, also through other structs. Relies on scope.h and the tree of the
 * file; what the space holds already was checked when it was laid out. How: a default of a field leads to the defaults of
 * the fields that its struct literals leave out; a way back to where one is, is the error.
 * Promise: each field is looked at once and reported at most once; the way down is bounded by AST_MAX_NESTING. */
#include "layout/scope.h"

enum { NEW = 0, ON_THE_WAY, DONE };

static void visit_field(struct scope *scope, struct symbol *symbol, uint32_t field, unsigned depth);

static bool is_given(const struct ast_node *literal, struct ast_text name) {
    for (uint32_t i = 0; i < literal->as.struct_literal.count; i++)
        if (ast_text_equal(literal->as.struct_literal.entries[i].key->as.string.value, name)) return true;
    return false;
}

static void visit_value(struct scope *scope, struct ast_text package, const struct ast_node *node, unsigned depth) {
    bool structure = node->kind == AST_STRUCT_LITERAL;
    if (!structure && node->kind != AST_MAP) return;
    const struct ast_entry *entries = structure ? node->as.struct_literal.entries : node->as.map.entries;
    uint32_t count = structure ? node->as.struct_literal.count : node->as.map.count;
    for (uint32_t i = 0; i < count; i++) visit_value(scope, package, entries[i].value, depth);
    struct symbol *symbol = structure ? scope_struct(scope, package, node->as.struct_literal.name, node->as.struct_literal.member_at) : NULL;
    for (uint32_t i = 0; symbol && symbol->node && i < symbol->node->as.structure.count; i++)
        if (!is_given(node, symbol->node->as.structure.fields[i].name)) visit_field(scope, symbol, i, depth + 1);
}

static void visit_field(struct scope *scope, struct symbol *symbol, uint32_t field, unsigned depth) {
    const struct ast_field *written = &symbol->node->as.structure.fields[field];
    if (!written->value) return;
    if (!symbol->field_states) symbol->field_states = ast_alloc(scope->arena, symbol->node->as.structure.count);
    if (!symbol->field_states) {
        scope->failed = 2; /* LAYOUT_NO_MEMORY */
        return;
    }
    if (symbol->field_states[field] == DONE) return;
    if (symbol->field_states[field] == ON_THE_WAY || depth > AST_MAX_NESTING) {
        diag_error(scope->diags, DIAG_TYPE, written->at, "the default of field `%.*s` never ends: it holds itself", (int)written->name.length, written->name.at);
        return;
    }
    symbol->field_states[field] = ON_THE_WAY;
    visit_value(scope, symbol->package, written->value, depth);
    symbol->field_states[field] = DONE;
}

void scope_check_defaults(struct scope *scope, struct symbol *symbol) {
    for (uint32_t i = 0; symbol->node && i < symbol->node->as.structure.count; i++) visit_field(scope, symbol, i, 0);
}
