/* The server itself: cuts the stream into messages, finds their method, answers, and keeps the order of a session.
 * Relies on lsp.h; the table is lsp_methods.def. Promise: see lsp.h. */
#include <string.h>

#include "cli/lsp.h"
#include "layout/tree_names.h"

struct method {
    const char *name;
    lsp_method *run;
    enum lsp_state when;
    bool notice;
};

static const struct method methods[] = {
#define METHOD(name, function, when) {name, function, when, false},
#define NOTICE(name, function, when) {name, function, when, true},
#include "cli/lsp_methods.def"
#undef METHOD
#undef NOTICE
};

static const struct method *method_of(struct lsp_value name) {
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (lsp_is(name, methods[i].name)) return &methods[i];
    return NULL;
}

/* ---- the session ---- */

static bool wants_plain_text(struct lsp_value params) {
    struct lsp_items items = {.array = lsp_at(params, "capabilities/textDocument/hover/contentFormat")};
    struct lsp_value item;
    bool any = false, markdown = false;
    while (lsp_item(&items, &item)) {
        any = true;
        markdown |= lsp_is(item, "markdown");
    }
    return any && !markdown;
}

static void put_flag(struct json_writer *json, const char *name) {
    json_key_text(json, name);
    json_put_bool(json, true);
}

enum lsp_error lsp_initialize(struct lsp_server *server, struct lsp_value params, struct json_writer *json) {
    if (server->state != LSP_ANY) {
        server->message = "initialize comes once";
        return LSP_INVALID_REQUEST;
    }
    server->state = LSP_READY;
    server->plain = wants_plain_text(params);
    json_object_begin(json);
    json_key_text(json, "capabilities");
    json_object_begin(json);
    json_key_text(json, "positionEncoding");
    json_put_text(json, "utf-16");
    json_key_text(json, "textDocumentSync");
    json_object_begin(json);
    put_flag(json, "openClose");
    json_key_text(json, "change");
    json_put_int64(json, 2);
    json_object_end(json);
    put_flag(json, "hoverProvider");
    put_flag(json, "definitionProvider");
    put_flag(json, "documentFormattingProvider");
    put_flag(json, "documentSymbolProvider");
    json_key_text(json, "completionProvider");
    json_object_begin(json);
    json_key_text(json, "triggerCharacters");
    json_array_begin(json);
    json_put_text(json, "\xc2\xb7");
    json_put_text(json, ".");
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
    json_key_text(json, "serverInfo");
    json_object_begin(json);
    json_key_text(json, "name");
    json_put_text(json, "kvlang");
    json_key_text(json, "version");
    json_put_text(json, KVLANG_VERSION);
    json_object_end(json);
    json_object_end(json);
    return LSP_OK;
}

enum lsp_error lsp_initialized(struct lsp_server *server, struct lsp_value params, struct json_writer *result) {
    (void)server;
    (void)params;
    (void)result;
    return LSP_OK;
}

enum lsp_error lsp_shutdown(struct lsp_server *server, struct lsp_value params, struct json_writer *result) {
    (void)params;
    server->state = LSP_SHUT;
    json_put_null(result);
    return LSP_OK;
}

enum lsp_error lsp_exit(struct lsp_server *server, struct lsp_value params, struct json_writer *result) {
    (void)params;
    (void)result;
    server->status = server->state == LSP_SHUT ? 0 : 1;
    server->ended = true;
    return LSP_OK;
}

/* ---- messages ---- */

static void answer(struct lsp_server *server, const struct method *method, struct lsp_value id, struct lsp_value params) {
    struct text_buffer result = {0};
    struct text_out out = text_buffer_out(&result);
    struct json_writer json = {.out = &out};
    server->message = "the parameters make no sense";
    enum lsp_error code = method->run(server, params, &json);
    if (!method->notice && code) lsp_send_error(server, id, code, server->message);
    else if (!method->notice && json_finish(&json)) lsp_send_error(server, id, LSP_INTERNAL_ERROR, "no memory for the result");
    else if (!method->notice) lsp_send_result(server, id, &result);
    text_buffer_free(&result);
}

static void take(struct lsp_server *server, struct lsp_value message) {
    struct lsp_value id = lsp_member(message, "id"), name = lsp_member(message, "method");
    enum json_event sort = lsp_sort(id);
    bool request = sort == JSON_NUMBER || sort == JSON_STRING;
    const struct method *method = method_of(name);
    if (lsp_sort(message) != JSON_OBJECT_BEGIN || (sort != JSON_END && !request && sort != JSON_NULL)) {
        lsp_send_error(server, (struct lsp_value){"", 0}, LSP_INVALID_REQUEST, "a message is an object whose id is a number or a text");
    } else if (lsp_sort(name) != JSON_STRING) { /* an answer to something: nothing was asked */
        if (request && !lsp_member(message, "result").length && !lsp_member(message, "error").length)
            lsp_send_error(server, id, LSP_INVALID_REQUEST, "there is no method");
    } else if (!method) {
        if (request) lsp_send_error(server, id, LSP_METHOD_NOT_FOUND, "there is no such method");
    } else if (method->notice == request) {
        if (request) lsp_send_error(server, id, LSP_INVALID_REQUEST, "this is a notification");
    } else if (method->when != LSP_ANY && server->state != LSP_READY) {
        if (request)
            lsp_send_error(server, id, server->state == LSP_SHUT ? LSP_INVALID_REQUEST : LSP_NOT_INITIALIZED,
                           server->state == LSP_SHUT ? "the server is shut down" : "initialize comes first");
    } else answer(server, method, id, lsp_member(message, "params"));
}

bool lsp_feed(struct lsp_server *server, const char *bytes, size_t count) {
    const struct lsp_value nobody = {"", 0};
    if (server->ended) return false;
    if (!lsp_frames_put(&server->frames, bytes, count)) {
        lsp_frames_free(&server->frames);
        lsp_send_error(server, nobody, LSP_INTERNAL_ERROR, "no memory for the message");
    }
    const char *body;
    size_t length;
    for (enum lsp_frame_event event; !server->ended && (event = lsp_frames_next(&server->frames, &body, &length)) != LSP_FRAME_NONE;) {
        struct lsp_value message;
        if (event == LSP_FRAME_BAD) lsp_send_error(server, nobody, LSP_INVALID_REQUEST, "headers without a usable Content-Length");
        else if (!lsp_parse(body, length, &message)) lsp_send_error(server, nobody, LSP_PARSE_ERROR, "the message is not JSON");
        else take(server, message);
    }
    return !server->ended;
}

void lsp_settle(struct lsp_server *server) {
    for (struct lsp_document *document = server->documents; document; document = document->next) {
        if (!document->changed) continue;
        document->changed = false;
        lsp_send_diagnostics(server, document, false);
    }
}

void lsp_start(struct lsp_server *server, struct text_out *out, kvspace *space) {
    memset(server, 0, sizeof *server);
    server->out = out;
    server->status = 1; /* of a stream that ends without `exit` */
    server->space = space;
    if (space) tree_names(space, &server->names);
    opcode_tree_start(&server->opcodes, space ? &server->names : NULL);
}

void lsp_end(struct lsp_server *server) {
    lsp_documents_free(server);
    lsp_frames_free(&server->frames);
}
