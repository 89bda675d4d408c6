/* Formatting and the outline of a document. Relies on lsp.h and layout/format.h.
 * Promise: formatting changes only the lines that differ, and nothing where the document has syntax errors. */
#include <stdlib.h>
#include <string.h>

#include "cli/lsp.h"
#include "layout/layout.h"

/* Bytes at the start that are equal, down to the start of a line. */
static size_t same_start(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t most = a_length < b_length ? a_length : b_length, same = 0, line = 0;
    while (same < most && a[same] == b[same])
        if (a[same++] == '\n') line = same;
    return line;
}

/* Bytes at the end that are equal, from the start of a line on; at most `most`. */
static size_t same_end(const char *a, size_t a_length, const char *b, size_t b_length, size_t most) {
    size_t same = 0, line = 0;
    while (same < most && a[a_length - same - 1] == b[b_length - same - 1])
        if (a[a_length - ++same] == '\n') line = same - 1;
    return line;
}

static void put_edit(struct json_writer *json, const struct lsp_text *text, const char *formatted, size_t length) {
    size_t start = same_start(text->bytes, text->length, formatted, length);
    size_t shorter = text->length < length ? text->length : length;
    size_t end = same_end(text->bytes, text->length, formatted, length, shorter - start);
    json_array_begin(json);
    if (text->length != length || start != length) {
        json_object_begin(json);
        json_key_text(json, "range");
        lsp_put_range(json, text, (uint32_t)start, (uint32_t)(text->length - end));
        json_key_text(json, "newText");
        json_put_string(json, formatted + start, length - start - end);
        json_object_end(json);
    }
    json_array_end(json);
}

enum lsp_error lsp_formatting(struct lsp_server *server, struct lsp_value params, struct json_writer *json) {
    struct lsp_document *document = lsp_document_of(server, params);
    if (!document) {
        server->message = "the document is not open";
        return LSP_INVALID_PARAMS;
    }
    struct layout_source source = {"", document->text.bytes, document->text.length};
    char *formatted = NULL;
    size_t length = 0;
    if (layout_format(&source, &formatted, &length, NULL, NULL)) json_put_null(json);
    else put_edit(json, &document->text, formatted, length);
    free(formatted);
    return LSP_OK;
}

/* ---- the outline ---- */

enum { OUTLINE_DEPTH_MAX = JSON_DEPTH_MAX / 2 }; /* libs may be nested deeper than JSON may */
/* Numbers of the protocol. */
enum symbol_kind { SYMBOL_MODULE = 2, SYMBOL_FIELD = 8, SYMBOL_FUNCTION = 12, SYMBOL_STRUCT = 23 };

static void put_symbols(const struct lsp_document *document, const struct ast_nodes *items, struct json_writer *json);

static void begin_symbol(const struct lsp_document *document, struct json_writer *json, struct ast_text name, enum symbol_kind kind,
                         uint32_t from, uint32_t to, uint32_t name_from) {
    uint32_t shift = document->index.shift, name_to = name_from + name.length;
    json_object_begin(json);
    json_key_text(json, "name");
    lsp_put_text(json, name);
    json_key_text(json, "kind");
    json_put_int64(json, kind);
    json_key_text(json, "range");
    lsp_put_range(json, &document->text, from + shift, (to > name_to ? to : name_to) + shift);
    json_key_text(json, "selectionRange");
    lsp_put_range(json, &document->text, name_from + shift, name_to + shift);
}

static void put_structure(const struct lsp_document *document, const struct ast_node *node, struct json_writer *json) {
    begin_symbol(document, json, node->as.structure.name, SYMBOL_STRUCT, node->at.offset, node->end, node->as.structure.name_at.offset);
    json_key_text(json, "children");
    json_array_begin(json);
    for (uint32_t i = 0; i < node->as.structure.count; i++) {
        const struct ast_field *field = &node->as.structure.fields[i];
        if (!field->name.length) continue;
        begin_symbol(document, json, field->name, SYMBOL_FIELD, field->at.offset, field->at.offset + field->name.length, field->at.offset);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void put_symbol(const struct lsp_document *document, const struct ast_node *node, struct json_writer *json) {
    switch (node->kind) {
    case AST_FUNCTION:
    case AST_RWIR:
        if (!node->as.function.name.length) return;
        begin_symbol(document, json, node->as.function.name, SYMBOL_FUNCTION, node->at.offset, node->end, node->as.function.name_at.offset);
        json_object_end(json);
        return;
    case AST_STRUCT:
        if (node->as.structure.name.length) put_structure(document, node, json);
        return;
    case AST_LIB:
        if (!node->as.lib.name.length) return;
        begin_symbol(document, json, node->as.lib.name, SYMBOL_MODULE, node->at.offset, node->end, node->as.lib.name_at.offset);
        json_key_text(json, "children");
        put_symbols(document, &node->as.lib.block.body, json);
        json_object_end(json);
        return;
    default: return;
    }
}

static void put_symbols(const struct lsp_document *document, const struct ast_nodes *items, struct json_writer *json) {
    bool shallow = json->depth < OUTLINE_DEPTH_MAX;
    json_array_begin(json);
    for (uint32_t i = 0; shallow && i < items->count; i++)
        if (items->at[i]) put_symbol(document, items->at[i], json);
    json_array_end(json);
}

enum lsp_error lsp_symbols(struct lsp_server *server, struct lsp_value params, struct json_writer *json) {
    enum lsp_error error;
    struct lsp_document *document = lsp_document_at(server, params, NULL, &error);
    if (!document) return error;
    put_symbols(document, &document->index.file.items, json);
    return LSP_OK;
}
