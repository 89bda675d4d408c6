/* Declarations as text: what hover and completion show of functions, opcodes, structs and names. Relies on lsp.h.
 * Promise: canonical source, one line but for structs; what a tree says is shown as it stands there. */
#include <string.h>

#include "cli/lsp.h"

#define NO_TEXT ((struct ast_text){"", 0})

static void put(struct text_out *out, struct ast_text text) { text_put(out, text.at, text.length); }

static void put_params(struct text_out *out, const struct ast_params *params) {
    text_puts(out, "(");
    for (uint32_t i = 0; i < params->count; i++) {
        if (i) text_puts(out, ", ");
        put(out, params->at[i].name);
        text_puts(out, ":");
        put(out, params->at[i].type.text);
        if (params->at[i].variadic) text_puts(out, "...");
    }
    text_puts(out, ")");
}

static void describe_function(const struct symbol *symbol, struct text_out *out) {
    const struct ast_node *node = symbol->node;
    text_puts(out, node->kind == AST_RWIR ? "rwir " : "rwfunc ");
    put(out, scope_shown(symbol));
    put_params(out, &node->as.function.reads);
    if (!node->as.function.writes.count) return;
    text_puts(out, " -> ");
    put_params(out, &node->as.function.writes);
}

static void describe_structure(const struct symbol *symbol, struct lsp_index *index, struct text_out *out) {
    const struct ast_node *node = symbol->node;
    text_puts(out, "struct ");
    put(out, scope_shown(symbol));
    text_puts(out, " {");
    for (uint32_t i = 0; i < node->as.structure.count; i++) {
        const struct ast_field *field = &node->as.structure.fields[i];
        text_puts(out, "\n\t");
        put(out, field->name);
        text_puts(out, ":");
        put(out, field->type.text);
        if (field->value && field->value->end <= index->file.source.length) {
            text_puts(out, " = ");
            text_put(out, index->file.source.at + field->value->at.offset, field->value->end - field->value->at.offset);
        }
    }
    text_puts(out, node->as.structure.count ? "\n}" : "}");
}

/* What the tree holds: parameters as texts. */
static void describe_found(const struct symbol *symbol, struct text_out *out) {
    bool structure = symbol->kind == FOUND_STRUCT;
    text_puts(out, structure ? "struct " : symbol->kind == FOUND_FUNCTION ? "rwfunc " : "rwir ");
    put(out, scope_shown(symbol));
    text_puts(out, structure ? " {" : "(");
    for (uint32_t i = 0; i < symbol->reads + symbol->writes; i++) {
        if (i == symbol->reads && !structure) text_puts(out, ") -> (");
        else if (i) text_puts(out, structure ? "; " : ", ");
        else if (structure) text_puts(out, " ");
        put(out, symbol->texts[i]);
    }
    text_puts(out, structure ? " }" : ")");
}

void lsp_describe(struct lsp_server *server, struct lsp_index *index, struct symbol *symbol, struct text_out *out) {
    if (symbol->node) {
        if (symbol->kind == FOUND_STRUCT) describe_structure(symbol, index, out);
        else describe_function(symbol, out);
        return;
    }
    const struct native_row *row = symbol->kind == FOUND_OPCODE ? opcode_tree_row(&server->opcodes, scope_shown(symbol)) : NULL;
    if (!row) {
        describe_found(symbol, out);
        return;
    }
    text_puts(out, "rwir ");
    text_puts(out, row->name);
    text_puts(out, row->signature);
}

struct ast_text lsp_doc(struct lsp_server *server, struct lsp_index *index, struct symbol *symbol) {
    if (symbol->node) return symbol->kind == FOUND_STRUCT ? symbol->node->as.structure.doc : symbol->node->as.function.doc;
    struct layout_found found = {0};
    const struct layout_tree *tree = &server->opcodes.tree;
    if (tree->find(tree->context, &index->arena, symbol->path, &found)) return NO_TEXT;
    return found.doc.at ? found.doc : NO_TEXT;
}

void lsp_describe_local(const struct lsp_local *local, struct text_out *out) {
    put(out, local->name);
    if (!local->type.length) return;
    text_puts(out, ":");
    put(out, local->type);
    if (local->variadic) text_puts(out, "...");
}

struct symbol *lsp_symbol_of(struct lsp_index *index, const struct lsp_mark *mark) {
    struct symbol *symbol = NULL;
    if (mark->kind == LSP_MARK_CALL) symbol = scope_callee(&index->scope, mark->package, mark->name, mark->member_at);
    else if (mark->kind == LSP_MARK_STRUCT) symbol = lsp_index_struct(index, mark->package, mark->name);
    else if (mark->kind == LSP_MARK_HEAD && mark->node->kind != AST_LIB) {
        bool structure = mark->node->kind == AST_STRUCT, qualified = false;
        for (uint32_t i = 0; i + 1 < mark->name.length; i++) qualified |= memcmp(mark->name.at + i, "\xc2\xb7", 2) == 0;
        symbol = scope_find(&index->scope, scope_path(&index->scope, qualified && !structure ? NO_TEXT : mark->package, mark->name));
    }
    if (symbol) scope_type_params(&index->scope, symbol);
    return symbol;
}
