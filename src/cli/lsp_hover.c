/* Hover and go to definition: what the name under the cursor is, and where it is declared; of what a space has, by the file
 * and line that were laid out with it, where the file has an absolute name. Relies on lsp.h.
 * Promise: answers null where there is no name, or one that nothing is known of. */
#include <stdio.h>
#include <string.h>

#include "cli/lsp.h"

static void put_code(struct lsp_server *server, struct text_out *out, bool begins) {
    if (!server->plain) text_puts(out, begins ? "```kvlang\n" : "\n```");
}

static void put_doc(struct text_out *out, struct ast_text doc) {
    if (!doc.length) return;
    text_puts(out, "\n\n");
    text_put(out, doc.at, doc.length);
}

static void hover_symbol(struct lsp_server *server, struct lsp_index *index, struct symbol *symbol, struct text_out *out) {
    put_code(server, out, true);
    lsp_describe(server, index, symbol, out);
    put_code(server, out, false);
    put_doc(out, lsp_doc(server, index, symbol));
    const struct native_row *row = !symbol->node && symbol->kind == FOUND_OPCODE ? opcode_tree_row(&server->opcodes, scope_shown(symbol)) : NULL;
    if (!row || !row->example || !row->example[0]) return;
    text_puts(out, "\n\n");
    put_code(server, out, true);
    text_puts(out, row->example);
    put_code(server, out, false);
}

static void hover_local(struct lsp_server *server, const struct lsp_local *local, struct text_out *out) {
    static const char *const kinds[] = {"read parameter", "write parameter", "loop variable", "name"};
    put_code(server, out, true);
    lsp_describe_local(local, out);
    put_code(server, out, false);
    text_puts(out, "\n\n");
    text_puts(out, kinds[local->kind]);
    if (local->kind == LSP_NAME && !local->declared && local->type.length) text_puts(out, ", as first written");
}

static void hover_field(struct lsp_server *server, struct lsp_index *index, const struct lsp_mark *mark, struct text_out *out) {
    struct ast_text type = lsp_index_field(index, mark->owner, mark->name), owner = scope_shown(mark->owner);
    if (!type.length) return;
    put_code(server, out, true);
    text_put(out, mark->name.at, mark->name.length);
    text_puts(out, ":");
    text_put(out, type.at, type.length);
    put_code(server, out, false);
    text_puts(out, "\n\nfield of ");
    text_put(out, owner.at, owner.length);
}

static void hover_lib(struct lsp_server *server, const struct lsp_mark *mark, struct text_out *out) {
    put_code(server, out, true);
    text_puts(out, "lib ");
    text_put(out, mark->name.at, mark->name.length);
    put_code(server, out, false);
    put_doc(out, mark->node->as.lib.doc);
}

static void hover_mark(struct lsp_server *server, struct lsp_index *index, const struct lsp_mark *mark, struct text_out *out) {
    struct symbol *symbol = lsp_symbol_of(index, mark);
    struct lsp_local *local = mark->kind == LSP_MARK_NAME ? lsp_index_local(index, mark->body, mark->name) : NULL;
    if (symbol) hover_symbol(server, index, symbol, out);
    else if (local) hover_local(server, local, out);
    else if (mark->kind == LSP_MARK_FIELD) hover_field(server, index, mark, out);
    else if (mark->kind == LSP_MARK_HEAD && mark->node->kind == AST_LIB) hover_lib(server, mark, out);
}

enum lsp_error lsp_hover(struct lsp_server *server, struct lsp_value params, struct json_writer *json) {
    uint32_t offset;
    enum lsp_error error;
    struct lsp_document *document = lsp_document_at(server, params, &offset, &error);
    if (!document) return error;
    const struct lsp_mark *mark = lsp_index_mark(&document->index, offset);
    struct text_buffer text = {0};
    struct text_out out = text_buffer_out(&text);
    if (mark) hover_mark(server, &document->index, mark, &out);
    if (!mark || !text.length) json_put_null(json);
    else {
        json_object_begin(json);
        json_key_text(json, "contents");
        json_object_begin(json);
        json_key_text(json, "kind");
        json_put_text(json, server->plain ? "plaintext" : "markdown");
        json_key_text(json, "value");
        json_put_string(json, text.bytes, text.length);
        json_object_end(json);
        json_key_text(json, "range");
        lsp_put_range(json, &document->text, mark->from, mark->to);
        json_object_end(json);
    }
    text_buffer_free(&text);
    return LSP_OK;
}

/* ---- go to definition ---- */

struct place {
    const struct lsp_document *document;
    uint32_t from, to;
};

/* The name in a declaration. */
static bool declaration_of(const struct lsp_document *document, const struct ast_node *node, struct place *place) {
    struct ast_pos at = node->kind == AST_STRUCT ? node->as.structure.name_at : node->kind == AST_LIB ? node->as.lib.name_at : node->as.function.name_at;
    if (!at.line) return false;
    const struct lsp_mark *mark = lsp_index_mark(&document->index, at.offset + document->index.shift);
    *place = (struct place){document, at.offset + document->index.shift, at.offset + document->index.shift};
    if (mark && mark->kind == LSP_MARK_HEAD) place->to = mark->to;
    return true;
}

/* The declaration of a path in another open document. */
static bool declared_elsewhere(struct lsp_server *server, const struct lsp_document *here, struct ast_text path, struct place *place) {
    for (struct lsp_document *document = server->documents; document; document = document->next) {
        if (document == here || !lsp_document_index(server, document)) continue;
        struct symbol *symbol = scope_find(&document->index.scope, path);
        if (symbol && symbol->node && declaration_of(document, symbol->node, place)) return true;
    }
    return false;
}

static bool field_of(const struct lsp_document *document, const struct lsp_mark *mark, struct place *place) {
    const struct ast_node *node = mark->owner->node;
    for (uint32_t i = 0; node && node->kind == AST_STRUCT && i < node->as.structure.count; i++) {
        const struct ast_field *field = &node->as.structure.fields[i];
        if (!ast_text_equal(field->name, mark->name)) continue;
        uint32_t from = field->at.offset + document->index.shift;
        *place = (struct place){document, from, from + field->name.length};
        return true;
    }
    return false;
}

/* A callee that nothing here provides may be declared in another document: in its own package, else in the anonymous lib. */
static bool unknown_elsewhere(struct lsp_server *server, struct lsp_document *here, const struct lsp_mark *mark, struct place *place) {
    struct scope *scope = &here->index.scope;
    struct ast_text none = {"", 0}, name = mark->name;
    if (name.at[0] == '/') return declared_elsewhere(server, here, name, place);
    if (mark->member_at)
        return declared_elsewhere(server, here, scope_path(scope, ast_package_part(name, mark->member_at), ast_name_part(name, mark->member_at)), place);
    return (mark->package.length && declared_elsewhere(server, here, scope_path(scope, mark->package, name), place)) ||
           declared_elsewhere(server, here, scope_path(scope, none, name), place);
}

static bool definition_of(struct lsp_server *server, struct lsp_document *document, const struct lsp_mark *mark, struct place *place) {
    struct lsp_index *index = &document->index;
    struct symbol *symbol = lsp_symbol_of(index, mark);
    struct lsp_local *local = mark->kind == LSP_MARK_NAME ? lsp_index_local(index, mark->body, mark->name) : NULL;
    if (local) {
        *place = (struct place){document, local->from, local->to};
        return true;
    }
    if (symbol && symbol->node) return declaration_of(document, symbol->node, place);
    if (symbol) return declared_elsewhere(server, document, symbol->path, place);
    if (mark->kind == LSP_MARK_CALL || mark->kind == LSP_MARK_STRUCT) return unknown_elsewhere(server, document, mark, place);
    if (mark->kind == LSP_MARK_FIELD) return field_of(document, mark, place);
    return mark->kind == LSP_MARK_HEAD && declaration_of(document, mark->node, place);
}

/* The function of the space: `‥file` and the first row of `‥map`, which are line and column from 1. */
static bool put_laid_out(struct lsp_server *server, struct ast_text path, struct json_writer *json) {
    static const char plain[] = "/-._~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    char key[KVSPACE_KEY_MAX + 1], file[KVSPACE_KEY_MAX + 1];
    struct kvspace_value map;
    int32_t at[2];
    size_t bytes;
    if (!server->space || snprintf(key, sizeof key, "%.*s/‥file", (int)path.length, path.at) >= (int)sizeof key) return false;
    if (kvspace_get_text(server->space, key, file, sizeof file, &bytes) || file[0] != '/') return false;
    snprintf(key, sizeof key, "%.*s/‥map", (int)path.length, path.at);
    if (kvspace_get(server->space, key, &map) || map.body_bytes < sizeof at) return false;
    memcpy(at, map.body, sizeof at);
    if (at[0] < 1 || at[1] < 1) return false;
    struct text_buffer uri = {0};
    struct text_out out = text_buffer_out(&uri);
    text_puts(&out, "file://");
    for (size_t i = 0; file[i]; i++) {
        char escape[4];
        snprintf(escape, sizeof escape, "%%%02X", (unsigned)(unsigned char)file[i]);
        if (strchr(plain, file[i])) text_put(&out, file + i, 1);
        else text_puts(&out, escape);
    }
    json_object_begin(json);
    json_key_text(json, "uri");
    json_put_string(json, uri.bytes, uri.length);
    json_key_text(json, "range");
    lsp_put_place(json, (struct lsp_position){(uint32_t)at[0] - 1, (uint32_t)at[1] - 1});
    json_object_end(json);
    text_buffer_free(&uri);
    return true;
}

enum lsp_error lsp_definition(struct lsp_server *server, struct lsp_value params, struct json_writer *json) {
    uint32_t offset;
    enum lsp_error error;
    struct lsp_document *document = lsp_document_at(server, params, &offset, &error);
    if (!document) return error;
    const struct lsp_mark *mark = lsp_index_mark(&document->index, offset);
    struct place place;
    if (!mark || !definition_of(server, document, mark, &place)) {
        struct symbol *symbol = mark ? lsp_symbol_of(&document->index, mark) : NULL;
        if (!symbol || !put_laid_out(server, symbol->path, json)) json_put_null(json);
        return LSP_OK;
    }
    json_object_begin(json);
    json_key_text(json, "uri");
    json_put_string(json, place.document->uri, place.document->uri_length);
    json_key_text(json, "range");
    lsp_put_range(json, &place.document->text, place.from, place.to);
    json_object_end(json);
    return LSP_OK;
}
