/* The language server of kvlang: bytes of the protocol in, bytes of the protocol out, no process, no terminal.
 * Relies on lsp_frame.h, lsp_json.h, lsp_text.h and lsp_index.h; the table of methods is lsp_methods.def.
 * Promise: whatever comes in, the server goes on and answers each request once, with a result or an error; what it knows of a
 * document is made anew when it has changed and is asked for, or when nothing else is waiting. */
#ifndef CLI_LSP_H
#define CLI_LSP_H

#include <kvspace/kvspace.h>

#include "cli/lsp_index.h"
#include "cli/lsp_json.h"
#include "cli/lsp_frame.h"
#include "cli/lsp_text.h"

/* Error codes of JSON-RPC and of the protocol. */
enum lsp_error {
    LSP_OK = 0,
    LSP_PARSE_ERROR = -32700,
    LSP_INVALID_REQUEST = -32600,
    LSP_METHOD_NOT_FOUND = -32601,
    LSP_INVALID_PARAMS = -32602,
    LSP_INTERNAL_ERROR = -32603,
    LSP_NOT_INITIALIZED = -32002
};

enum lsp_state { LSP_ANY, LSP_READY, LSP_SHUT };

struct lsp_document {
    struct lsp_document *next;
    char *uri;
    size_t uri_length;
    int64_t version;
    bool has_version;
    bool changed;  /* its diagnostics are not yet told */
    bool indexed;  /* index is of this text */
    struct lsp_text text;
    struct lsp_index index;
};

struct lsp_server {
    struct text_out *out;
    kvspace *space;            /* NULL: none */
    struct layout_tree names; /* of the space */
    struct opcode_tree opcodes;
    struct lsp_frames frames;
    struct lsp_document *documents;
    enum lsp_state state; /* LSP_ANY: not initialized yet */
    bool plain;           /* the editor shows no Markdown */
    bool ended;
    int status;           /* of the process, once ended */
    const char *message;  /* of the error that a method gives; static */
};

/* out takes what is sent; space: whose functions count too, or NULL. Both are borrowed. */
void lsp_start(struct lsp_server *server, struct text_out *out, kvspace *space);
/* Takes bytes of the editor and answers what they complete. Gives false once the server has ended. */
bool lsp_feed(struct lsp_server *server, const char *bytes, size_t count);
/* Nothing more is waiting: sends the diagnostics of the documents that have changed. */
void lsp_settle(struct lsp_server *server);
void lsp_end(struct lsp_server *server);

/* ---- methods: the result is one value; an error gives its code, with server->message ---- */

typedef enum lsp_error lsp_method(struct lsp_server *server, struct lsp_value params, struct json_writer *result);

#define METHOD(name, function, when) lsp_method function;
#define NOTICE(name, function, when) lsp_method function;
#include "cli/lsp_methods.def"
#undef METHOD
#undef NOTICE

/* ---- lsp_document.c ---- */

/* The document of `textDocument/uri` in the parameters; NULL where it is not open. */
struct lsp_document *lsp_document_of(struct lsp_server *server, struct lsp_value params);
/* The same, with an index of its text; *offset (may be NULL) is `position`. NULL and the error that it is otherwise. */
struct lsp_document *lsp_document_at(struct lsp_server *server, struct lsp_value params, uint32_t *offset, enum lsp_error *error);
bool lsp_document_index(struct lsp_server *server, struct lsp_document *document);
void lsp_documents_free(struct lsp_server *server);
bool lsp_position_of(struct lsp_value value, struct lsp_position *position);

/* ---- lsp_send.c ---- */

/* Sends a finished body; false where the buffer has failed. */
bool lsp_send(struct lsp_server *server, const struct text_buffer *body);
void lsp_send_result(struct lsp_server *server, struct lsp_value id, const struct text_buffer *result);
void lsp_send_error(struct lsp_server *server, struct lsp_value id, enum lsp_error code, const char *message);
/* The document's diagnostics; none where it is closing. */
void lsp_send_diagnostics(struct lsp_server *server, struct lsp_document *document, bool closing);
void lsp_put_text(struct json_writer *json, struct ast_text text);
/* The members `line` … of a range between two offsets. */
void lsp_put_place(struct json_writer *json, struct lsp_position place); /* an empty one */
void lsp_put_range(struct json_writer *json, const struct lsp_text *text, uint32_t from, uint32_t to);

/* ---- lsp_describe.c ---- */

/* `rwfunc f(a:int64) -> (b:int64)`, or a struct with its fields, as source. */
void lsp_describe(struct lsp_server *server, struct lsp_index *index, struct symbol *symbol, struct text_out *out);
/* Its documentation; length 0 where there is none. */
struct ast_text lsp_doc(struct lsp_server *server, struct lsp_index *index, struct symbol *symbol);
/* `a:int64`, or `a` where the type is not known. */
void lsp_describe_local(const struct lsp_local *local, struct text_out *out);
/* What a mark means, the symbol if it is one; NULL otherwise. */
struct symbol *lsp_symbol_of(struct lsp_index *index, const struct lsp_mark *mark);

#endif
