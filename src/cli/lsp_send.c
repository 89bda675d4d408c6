/* What the server sends: framed bodies, results, errors, diagnostics. Relies on lsp.h and kvspace/json.h.
 * Promise: what goes out is well-formed whatever the documents hold; a message that could not be built is not sent in part. */
#include <stdio.h>
#include <string.h>

#include "cli/lsp.h"
#include "layout/unicode.h"

bool lsp_send(struct lsp_server *server, const struct text_buffer *body) {
    char head[64];
    snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", body->length);
    text_puts(server->out, head);
    text_put(server->out, body->bytes ? body->bytes : "", body->length);
    return !server->out->error;
}

static void begin(struct json_writer *json) {
    json_object_begin(json);
    json_key_text(json, "jsonrpc");
    json_put_text(json, "2.0");
}

static void put_id(struct json_writer *json, struct lsp_value id) {
    json_key_text(json, "id");
    if (id.length) json_put_raw(json, id.text, id.length);
    else json_put_null(json);
}

static void finish(struct lsp_server *server, struct json_writer *json, struct text_buffer *body) {
    json_object_end(json);
    if (!json_finish(json)) (void)lsp_send(server, body);
    text_buffer_free(body);
}

void lsp_send_result(struct lsp_server *server, struct lsp_value id, const struct text_buffer *result) {
    struct text_buffer body = {0};
    struct text_out out = text_buffer_out(&body);
    struct json_writer json = {.out = &out};
    begin(&json);
    put_id(&json, id);
    json_key_text(&json, "result");
    json_put_raw(&json, result->bytes, result->length);
    finish(server, &json, &body);
}

void lsp_send_error(struct lsp_server *server, struct lsp_value id, enum lsp_error code, const char *message) {
    struct text_buffer body = {0};
    struct text_out out = text_buffer_out(&body);
    struct json_writer json = {.out = &out};
    begin(&json);
    put_id(&json, id);
    json_key_text(&json, "error");
    json_object_begin(&json);
    json_key_text(&json, "code");
    json_put_int64(&json, code);
    json_key_text(&json, "message");
    json_put_text(&json, message);
    json_object_end(&json);
    finish(server, &json, &body);
}

void lsp_put_text(struct json_writer *json, struct ast_text text) { json_put_string(json, text.at, text.length); }

static void put_position(struct json_writer *json, const char *key, struct lsp_position position) {
    json_key_text(json, key);
    json_object_begin(json);
    json_key_text(json, "line");
    json_put_uint64(json, position.line);
    json_key_text(json, "character");
    json_put_uint64(json, position.character);
    json_object_end(json);
}

void lsp_put_place(struct json_writer *json, struct lsp_position place) {
    json_object_begin(json);
    put_position(json, "start", place);
    put_position(json, "end", place);
    json_object_end(json);
}

void lsp_put_range(struct json_writer *json, const struct lsp_text *text, uint32_t from, uint32_t to) {
    json_object_begin(json);
    put_position(json, "start", lsp_text_position(text, from));
    put_position(json, "end", lsp_text_position(text, to));
    json_object_end(json);
}

/* What to underline: the name or number that a report points at, or its one character; nothing behind the end of a line. */
static uint32_t report_end(const struct lsp_text *text, uint32_t from) {
    uint32_t at = from, point;
    while (at < text->length) {
        unsigned bytes = unicode_decode(text->bytes + at, text->length - at, &point);
        if (!bytes || !unicode_is_name(point)) {
            bool blank = !bytes || point == '\n' || point == '\r';
            return at > from || blank ? at : at + bytes;
        }
        at += bytes;
    }
    return at;
}

static void put_report(struct json_writer *json, const struct lsp_document *document, const struct diag_report *report) {
    uint32_t from = report->at.line ? report->at.offset + document->index.shift : 0;
    json_object_begin(json);
    json_key_text(json, "range");
    lsp_put_range(json, &document->text, from, report->at.line ? report_end(&document->text, from) : 0);
    json_key_text(json, "severity");
    json_put_int64(json, report->warning ? 2 : 1);
    if (!report->warning) {
        json_key_text(json, "code");
        json_put_text(json, diag_kind_text(report->kind));
    }
    json_key_text(json, "source");
    json_put_text(json, "kvlang");
    json_key_text(json, "message");
    struct text_buffer message = {0};
    struct text_out out = text_buffer_out(&message);
    text_puts(&out, report->message);
    if (report->note) {
        text_puts(&out, "\nnote: ");
        text_puts(&out, report->note);
    }
    json_put_string(json, message.bytes ? message.bytes : "", message.length);
    text_buffer_free(&message);
    json_object_end(json);
}

void lsp_send_diagnostics(struct lsp_server *server, struct lsp_document *document, bool closing) {
    struct text_buffer body = {0};
    struct text_out out = text_buffer_out(&body);
    struct json_writer json = {.out = &out};
    bool known = !closing && lsp_document_index(server, document);
    begin(&json);
    json_key_text(&json, "method");
    json_put_text(&json, "textDocument/publishDiagnostics");
    json_key_text(&json, "params");
    json_object_begin(&json);
    json_key_text(&json, "uri");
    json_put_string(&json, document->uri, document->uri_length);
    if (document->has_version && !closing) {
        json_key_text(&json, "version");
        json_put_int64(&json, document->version);
    }
    json_key_text(&json, "diagnostics");
    json_array_begin(&json);
    for (uint32_t i = 0; known && i < document->index.diags.count; i++) put_report(&json, document, &document->index.diags.reports[i]);
    json_array_end(&json);
    json_object_end(&json);
    finish(server, &json, &body);
}
