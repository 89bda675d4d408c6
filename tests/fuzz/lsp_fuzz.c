/* Whatever an editor sends, the language server ends with well-formed answers. The input is taken twice: as the stream itself,
 * in pieces, and as the text of a document (with an edit in its middle) that is then asked about at places all over it.
 * Relies on lsp.h. Promise checked: what comes out is frames of valid JSON, one answer a request, positions inside the document. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lsp.h"
#include "promise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUESTIONS = 12, PIECE = 23 };

struct received {
    struct text_buffer bytes;
    struct text_out out;
};

static void receive_start(struct received *received) {
    *received = (struct received){0};
    received->out = text_buffer_out(&received->bytes);
}

/* Every message is framed and is JSON; gives the number of answers that are results, and of all answers. */
static void check_received(struct received *received, unsigned *results, unsigned *answers) {
    struct lsp_frames frames = {0};
    const char *body;
    size_t length;
    *results = *answers = 0;
    if (received->bytes.length && !lsp_frames_put(&frames, received->bytes.bytes, received->bytes.length)) broken("memory");
    for (enum lsp_frame_event event; (event = lsp_frames_next(&frames, &body, &length)) != LSP_FRAME_NONE;) {
        struct lsp_value message;
        if (event == LSP_FRAME_BAD) broken("what is sent is framed");
        if (!lsp_parse(body, length, &message)) broken("what is sent is JSON");
        if (!lsp_is(lsp_member(message, "jsonrpc"), "2.0")) broken("a message says its version");
        bool answer = lsp_member(message, "id").length != 0;
        bool result = answer && lsp_member(message, "result").length != 0;
        if (answer && !result && !lsp_member(message, "error").length) broken("a result or an error");
        *answers += answer;
        *results += result;
    }
    if (frames.used != frames.from || frames.in_body) broken("nothing is sent in part");
    lsp_frames_free(&frames);
}

static void as_stream(const uint8_t *data, size_t size) {
    static struct lsp_server server;
    struct received received;
    unsigned results, answers;
    receive_start(&received);
    lsp_start(&server, &received.out, NULL);
    for (size_t at = 0; at < size; at += PIECE) {
        if (!lsp_feed(&server, (const char *)data + at, size - at < PIECE ? size - at : PIECE)) break;
        lsp_settle(&server);
    }
    check_received(&received, &results, &answers);
    lsp_end(&server);
    text_buffer_free(&received.bytes);
}

static void say(struct lsp_server *server, const struct text_buffer *body) {
    char head[64];
    snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", body->length);
    (void)lsp_feed(server, head, strlen(head));
    (void)lsp_feed(server, body->bytes, body->length);
}

static void say_text(struct lsp_server *server, const char *body) {
    struct text_buffer buffer = {.bytes = (char *)(uintptr_t)body, .length = strlen(body)};
    say(server, &buffer);
}

static void put_place(struct json_writer *json, const char *key, uint32_t line, uint32_t character) {
    json_key_text(json, key);
    json_object_begin(json);
    json_key_text(json, "line");
    json_put_uint64(json, line);
    json_key_text(json, "character");
    json_put_uint64(json, character);
    json_object_end(json);
}

static void begin(struct json_writer *json, const char *method, unsigned id) {
    json_object_begin(json);
    if (id) {
        json_key_text(json, "id");
        json_put_uint64(json, id);
    }
    json_key_text(json, "method");
    json_put_text(json, method);
    json_key_text(json, "params");
    json_object_begin(json);
    json_key_text(json, "textDocument");
    json_object_begin(json);
    json_key_text(json, "uri");
    json_put_text(json, "file:///fuzz.kv");
}

static void end(struct lsp_server *server, struct json_writer *json, struct text_buffer *body) {
    json_object_end(json);
    json_object_end(json);
    if (json_finish(json)) broken("the question is JSON");
    say(server, body);
    text_buffer_free(body);
}

static void ask(struct lsp_server *server, const char *method, unsigned id, uint32_t line, uint32_t character) {
    struct text_buffer body = {0};
    struct text_out out = text_buffer_out(&body);
    struct json_writer json = {.out = &out};
    begin(&json, method, id);
    json_object_end(&json);
    put_place(&json, "position", line, character);
    end(server, &json, &body);
}

static void open_document(struct lsp_server *server, const uint8_t *data, size_t size) {
    struct text_buffer body = {0};
    struct text_out out = text_buffer_out(&body);
    struct json_writer json = {.out = &out};
    begin(&json, "textDocument/didOpen", 0);
    json_key_text(&json, "text");
    json_put_string(&json, (const char *)data, size);
    json_object_end(&json);
    end(server, &json, &body);
}

static void edit_document(struct lsp_server *server, uint32_t line, uint32_t character) {
    struct text_buffer body = {0};
    struct text_out out = text_buffer_out(&body);
    struct json_writer json = {.out = &out};
    begin(&json, "textDocument/didChange", 0);
    json_object_end(&json);
    json_key_text(&json, "contentChanges");
    json_array_begin(&json);
    json_object_begin(&json);
    json_key_text(&json, "range");
    json_object_begin(&json);
    put_place(&json, "start", line, character);
    put_place(&json, "end", line, character + 2);
    json_object_end(&json);
    json_key_text(&json, "text");
    json_put_text(&json, ".");
    json_object_end(&json);
    json_array_end(&json);
    end(server, &json, &body);
}

static void as_document(const uint8_t *data, size_t size) {
    static const char *const methods[] = {"textDocument/hover", "textDocument/definition", "textDocument/completion", "textDocument/formatting",
                                          "textDocument/documentSymbol"};
    static struct lsp_server server;
    struct received received;
    unsigned results, answers;
    uint32_t seed = (uint32_t)size * 2654435761u;
    receive_start(&received);
    lsp_start(&server, &received.out, NULL);
    say_text(&server, "{\"id\":1,\"method\":\"initialize\"}");
    open_document(&server, data, size);
    for (unsigned i = 0; i < QUESTIONS; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t lines = server.documents ? server.documents->text.lines : 1;
        if (i == QUESTIONS / 2) edit_document(&server, (seed >> 8) % lines, seed >> 16 & 15);
        ask(&server, methods[i % 5], i + 2, (seed >> 8) % lines, seed >> 16 & 31);
        lsp_settle(&server);
    }
    check_received(&received, &results, &answers);
    if (answers != QUESTIONS + 1 || results != QUESTIONS + 1) broken("each question about an open document has a result");
    lsp_end(&server);
    text_buffer_free(&received.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    as_stream(data, size);
    as_document(data, size);
    return 0;
}
