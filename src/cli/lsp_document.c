/* The open documents: didOpen, didChange, didClose, and finding them. Relies on lsp.h.
 * Promise: a change that cannot be carried out (a range that makes no sense, no memory) leaves the document as it was. */
#include <stdlib.h>
#include <string.h>

#include "cli/lsp.h"

static struct lsp_document **place_of(struct lsp_server *server, struct lsp_value params) {
    size_t length = 0;
    char *uri = lsp_string(lsp_at(params, "textDocument/uri"), &length);
    struct lsp_document **place = &server->documents;
    while (*place && (!uri || (*place)->uri_length != length || memcmp((*place)->uri, uri, length) != 0)) place = &(*place)->next;
    free(uri);
    return place;
}

struct lsp_document *lsp_document_of(struct lsp_server *server, struct lsp_value params) { return *place_of(server, params); }

static void forget(struct lsp_document *document) {
    if (document->indexed) lsp_index_free(&document->index);
    document->indexed = false;
}

static void free_document(struct lsp_document *document) {
    forget(document);
    lsp_text_free(&document->text);
    free(document->uri);
    free(document);
}

void lsp_documents_free(struct lsp_server *server) {
    while (server->documents) {
        struct lsp_document *document = server->documents;
        server->documents = document->next;
        free_document(document);
    }
}

bool lsp_document_index(struct lsp_server *server, struct lsp_document *document) {
    if (!document->indexed) document->indexed = lsp_index_make(&document->index, document->text.bytes, document->text.length, &server->opcodes.tree);
    return document->indexed;
}

bool lsp_position_of(struct lsp_value value, struct lsp_position *position) {
    return lsp_uint32(lsp_member(value, "line"), &position->line) && lsp_uint32(lsp_member(value, "character"), &position->character);
}

struct lsp_document *lsp_document_at(struct lsp_server *server, struct lsp_value params, uint32_t *offset, enum lsp_error *error) {
    struct lsp_document *document = lsp_document_of(server, params);
    struct lsp_position position;
    *error = LSP_INVALID_PARAMS;
    if (!document) {
        server->message = "the document is not open";
        return NULL;
    }
    if (offset) {
        if (!lsp_position_of(lsp_member(params, "position"), &position)) {
            server->message = "a position has a line and a character";
            return NULL;
        }
        *offset = lsp_text_offset(&document->text, position);
    }
    if (lsp_document_index(server, document)) return document;
    server->message = "no memory";
    *error = LSP_INTERNAL_ERROR;
    return NULL;
}

static void take_version(struct lsp_document *document, struct lsp_value params) {
    document->has_version = lsp_int64(lsp_at(params, "textDocument/version"), &document->version);
}

enum lsp_error lsp_did_open(struct lsp_server *server, struct lsp_value params, struct json_writer *result) {
    (void)result;
    struct lsp_document *document = lsp_document_of(server, params);
    size_t length = 0;
    char *text = lsp_string(lsp_at(params, "textDocument/text"), &length);
    if (!text) return LSP_INVALID_PARAMS;
    if (!document) {
        document = calloc(1, sizeof *document);
        if (document) document->uri = lsp_string(lsp_at(params, "textDocument/uri"), &document->uri_length);
        if (!document || !document->uri || !lsp_text_take(&document->text, text, length)) {
            if (!document || !document->uri) free(text);
            if (document) free(document->uri);
            free(document);
            return LSP_INVALID_PARAMS;
        }
        document->next = server->documents;
        server->documents = document;
    } else if (!lsp_text_take(&document->text, text, length)) return LSP_INTERNAL_ERROR;
    forget(document);
    take_version(document, params);
    document->changed = true;
    return LSP_OK;
}

/* One change: the whole text, or what takes the place of a range. */
static void change(struct lsp_document *document, struct lsp_value item) {
    size_t length = 0;
    struct lsp_value range = lsp_member(item, "range");
    struct lsp_position from, to;
    char *text = lsp_string(lsp_member(item, "text"), &length);
    if (!text) return;
    if (lsp_sort(range) != JSON_OBJECT_BEGIN) {
        (void)lsp_text_take(&document->text, text, length);
        return;
    }
    if (lsp_position_of(lsp_member(range, "start"), &from) && lsp_position_of(lsp_member(range, "end"), &to))
        (void)lsp_text_replace(&document->text, lsp_text_offset(&document->text, from), lsp_text_offset(&document->text, to), text, length);
    free(text);
}

enum lsp_error lsp_did_change(struct lsp_server *server, struct lsp_value params, struct json_writer *result) {
    (void)result;
    struct lsp_document *document = lsp_document_of(server, params);
    struct lsp_items items = {.array = lsp_member(params, "contentChanges")};
    struct lsp_value item;
    if (!document) return LSP_INVALID_PARAMS;
    while (lsp_item(&items, &item)) change(document, item);
    forget(document);
    take_version(document, params);
    document->changed = true;
    return LSP_OK;
}

enum lsp_error lsp_did_close(struct lsp_server *server, struct lsp_value params, struct json_writer *result) {
    (void)result;
    struct lsp_document **place = place_of(server, params), *document = *place;
    if (!document) return LSP_INVALID_PARAMS;
    lsp_send_diagnostics(server, document, true);
    *place = document->next;
    free_document(document);
    return LSP_OK;
}
