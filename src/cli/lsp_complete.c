/* Completion: what may stand where the cursor is. Decided by the text before it, so that it works in broken source too:
 * behind `base·` the members of a struct or of a lib, behind `:` types, else names, functions, opcodes, libs and keywords.
 * Relies on lsp.h. Promise: nothing inside comments and strings; each name once. */
#include <stdlib.h>
#include <string.h>

#include "cli/lsp.h"
#include "layout/scan.h"
#include "layout/unicode.h"

#define NO_TEXT ((struct ast_text){"", 0})
#define MEMBER "\xc2\xb7"

/* Numbers of the protocol. */
enum item_kind { ITEM_OF_FUNCTION = 3, ITEM_OF_FIELD = 5, ITEM_OF_NAME = 6, ITEM_OF_LIB = 9, ITEM_OF_KEYWORD = 14, ITEM_OF_STRUCT = 22, ITEM_OF_TYPE = 25 };

struct completing {
    struct lsp_server *server;
    struct lsp_document *document;
    struct json_writer *json;
    struct ast_text package; /* where the cursor is */
    struct ast_text base;    /* before the last `·`; length 0: there is none */
    struct ast_text part;    /* what is typed of the name */
    uint32_t from, to;       /* of part */
    bool types;              /* a type is wanted */
    struct ast_text *seen;   /* libs that were offered */
    uint32_t seen_count, seen_room;
};

/* ---- what stands before the cursor ---- */

/* Where the name that ends at `at` begins. */
static uint32_t name_start(const struct lsp_text *text, uint32_t at) {
    while (at) {
        uint32_t from = at - 1, point;
        while (from && ((unsigned char)text->bytes[from] & 0xc0) == 0x80) from--;
        unsigned bytes = unicode_decode(text->bytes + from, at - from, &point);
        if (!bytes || from + bytes != at || !unicode_is_name(point)) return at;
        at = from;
    }
    return at;
}

/* Bytes of the `·` or `.` that ends at `at`. */
static uint32_t member_before(const struct lsp_text *text, uint32_t at) {
    if (at >= 2 && memcmp(text->bytes + at - 2, MEMBER, 2) == 0) return 2;
    return at >= 1 && text->bytes[at - 1] == '.' ? 1 : 0;
}

/* Where the qualified name (`a/b`, `p·q`) that ends at `at` begins. */
static uint32_t base_start(const struct lsp_text *text, uint32_t at) {
    for (;;) {
        uint32_t from = name_start(text, at), joint = member_before(text, from);
        if (from == at) return at;
        if (joint && name_start(text, from - joint) < from - joint) at = from - joint;
        else if (from && text->bytes[from - 1] == '/' && name_start(text, from - 1) < from - 1) at = from - 1;
        else if (from && text->bytes[from - 1] == '/') return from - 1; /* a path */
        else return from;
    }
}

static bool type_wanted(const struct lsp_text *text, uint32_t at) {
    while (at && (text->bytes[at - 1] == ' ' || (text->bytes[at - 1] && strchr("*@[]|.,?+0123456789", text->bytes[at - 1])))) at--;
    if (at >= 2 && memcmp(text->bytes + at - 2, MEMBER, 2) == 0) return type_wanted(text, name_start(text, at - 2));
    return at && text->bytes[at - 1] == ':';
}

/* Whether the offset is inside a comment or a string: a look at the tokens up to there. */
static bool in_text(struct lsp_index *index, uint32_t offset) {
    struct diag_list lost = {0};
    struct scan scan;
    struct scan_token token;
    bool inside = false;
    uint32_t at = offset < index->shift ? 0 : offset - index->shift;
    struct ast_arena arena = {0};
    scan_start(&scan, &arena, &lost, index->file.source);
    scan.quiet = true;
    do {
        scan_next(&scan, &token);
        if (token.at.offset < at && at < token.end.offset) inside = token.kind == TOKEN_STRING;
    } while (token.kind != TOKEN_END && token.end.offset < at);
    for (uint32_t i = 0; i < scan.comment_count; i++)
        if (scan.comments[i].at.offset < at && (at < scan.comments[i].end || (at == scan.comments[i].end && !scan.comments[i].block))) inside = true;
    if (token.kind == TOKEN_BAD && token.at.offset < at && token.raw.length && strchr("\"'`", token.raw.at[0])) inside = true;
    diag_free(&lost);
    ast_arena_free(&arena);
    return inside;
}

/* ---- items ---- */

static char lower_case(char letter) { return letter >= 'A' && letter <= 'Z' ? (char)(letter | 0x20) : letter; }

/* Whether the name begins with what was typed, without regard to case. */
static bool begins(const struct completing *completing, struct ast_text name) {
    struct ast_text part = completing->part;
    if (name.length < part.length) return false;
    for (uint32_t i = 0; i < part.length; i++)
        if (lower_case(name.at[i]) != lower_case(part.at[i])) return false;
    return true;
}

static void item(struct completing *completing, struct ast_text label, enum item_kind kind, const struct text_buffer *detail, struct ast_text doc) {
    struct json_writer *json = completing->json;
    json_object_begin(json);
    json_key_text(json, "label");
    lsp_put_text(json, label);
    json_key_text(json, "kind");
    json_put_int64(json, kind);
    if (detail && detail->length) {
        json_key_text(json, "detail");
        json_put_string(json, detail->bytes, detail->length);
    }
    if (doc.length) {
        json_key_text(json, "documentation");
        lsp_put_text(json, doc);
    }
    json_key_text(json, "textEdit");
    json_object_begin(json);
    json_key_text(json, "range");
    lsp_put_range(json, &completing->document->text, completing->from, completing->to);
    json_key_text(json, "newText");
    lsp_put_text(json, label);
    json_object_end(json);
    json_object_end(json);
}

static void plain_item(struct completing *completing, struct ast_text label, enum item_kind kind) {
    if (begins(completing, label)) item(completing, label, kind, NULL, NO_TEXT);
}

static void lib_item(struct completing *completing, struct ast_text name) {
    if (!name.length || !begins(completing, name)) return;
    for (uint32_t i = 0; i < completing->seen_count; i++)
        if (ast_text_equal(completing->seen[i], name)) return;
    if (completing->seen_count == completing->seen_room) {
        uint32_t room = completing->seen_room ? completing->seen_room * 2 : 32;
        struct ast_text *seen = realloc(completing->seen, room * sizeof *seen);
        if (!seen) return;
        completing->seen = seen;
        completing->seen_room = room;
    }
    completing->seen[completing->seen_count++] = ast_copy(&completing->document->index.arena, name);
    item(completing, name, ITEM_OF_LIB, NULL, NO_TEXT);
}

static void symbol_item(struct completing *completing, struct ast_text path, struct ast_text label) {
    struct lsp_index *index = &completing->document->index;
    if (!begins(completing, label)) return;
    struct symbol *symbol = scope_find(&index->scope, path);
    if (!symbol || (completing->types && symbol->kind != FOUND_STRUCT)) return;
    scope_type_params(&index->scope, symbol);
    struct text_buffer detail = {0};
    struct text_out out = text_buffer_out(&detail);
    if (symbol->kind != FOUND_VALUE && symbol->kind != FOUND_STRUCT) lsp_describe(completing->server, index, symbol, &out);
    item(completing, label, symbol->kind == FOUND_STRUCT ? ITEM_OF_STRUCT : symbol->kind == FOUND_VALUE ? ITEM_OF_NAME : ITEM_OF_FUNCTION, &detail,
         symbol->kind == FOUND_VALUE ? NO_TEXT : lsp_doc(completing->server, index, symbol));
    text_buffer_free(&detail);
}

/* Bytes of the package in a key behind /lib/, the last `·` left out; 0 without one. */
static uint32_t package_bytes(struct ast_text shown, uint32_t *member_at) {
    *member_at = 0;
    for (uint32_t i = 0; i + 1 < shown.length; i++)
        if (memcmp(shown.at + i, MEMBER, 2) == 0) *member_at = i + 2;
    return *member_at ? *member_at - 2 : 0;
}

/* A key of /lib, of the tree or of the document. */
static void offer(void *context, struct ast_text key, uint8_t kind) {
    struct completing *completing = context;
    uint32_t member_at;
    (void)kind;
    if (key.length <= 5) return;
    struct ast_text shown = {key.at + 5, key.length - 5};
    uint32_t bytes = package_bytes(shown, &member_at);
    struct ast_text package = {shown.at, bytes}, name = {shown.at + member_at, shown.length - member_at};
    struct ast_text base = completing->base;
    if (ast_text_is(base, "kvspace")) base = ast_text_of("kv");
    struct ast_text path = ast_copy(&completing->document->index.arena, key);
    if (base.length) {
        if (ast_text_equal(package, base)) symbol_item(completing, path, name);
        return;
    }
    if (!package.length) symbol_item(completing, path, shown);
    else {
        if (!completing->types) lib_item(completing, package);
        if (ast_text_equal(package, completing->package)) symbol_item(completing, path, name);
        else symbol_item(completing, path, shown);
    }
}

static void offer_declared(struct completing *completing, const struct ast_nodes *items, struct ast_text package) {
    struct scope *scope = &completing->document->index.scope;
    for (uint32_t i = 0; i < items->count; i++) {
        const struct ast_node *node = items->at[i];
        if (!node) continue;
        if (node->kind == AST_LIB) offer_declared(completing, &node->as.lib.block.body, package.length ? scope_join(scope, package, "/", node->as.lib.name) : node->as.lib.name);
        bool structure = node->kind == AST_STRUCT;
        if (!structure && node->kind != AST_FUNCTION && node->kind != AST_RWIR) continue;
        struct ast_text name = structure ? node->as.structure.name : node->as.function.name;
        struct ast_text path = scope_path(scope, package, name);
        struct symbol *symbol = name.length ? scope_find(scope, path) : NULL;
        if (symbol && symbol->node == node) offer(completing, path, symbol->kind);
    }
}

/* ---- which items ---- */

static void offer_fields(struct completing *completing, struct symbol *structure) {
    for (uint32_t i = 0; i < structure->writes; i++) {
        const struct signature_param *field = &structure->params[i];
        struct text_buffer detail = {0};
        struct text_out out = text_buffer_out(&detail);
        if (!begins(completing, field->name)) continue;
        if (field->type) text_put(&out, field->type->text.at, field->type->text.length);
        item(completing, field->name, ITEM_OF_FIELD, &detail, NO_TEXT);
        text_buffer_free(&detail);
    }
}

/* The struct that `p·q` is, read from its text. */
static struct symbol *struct_of_base(struct completing *completing, const struct lsp_body *body) {
    struct lsp_index *index = &completing->document->index;
    struct ast_text base = completing->base, type = NO_TEXT;
    for (uint32_t at = 0, first = 1; at < base.length; first = 0) {
        uint32_t end = at;
        while (end < base.length && base.at[end] != '.' && !(end + 1 < base.length && memcmp(base.at + end, MEMBER, 2) == 0)) end++;
        struct ast_text name = {base.at + at, end - at};
        struct lsp_local *local = first ? lsp_index_local(index, body, name) : NULL;
        struct symbol *owner = first ? NULL : lsp_index_struct(index, completing->package, type);
        if (first && !local) return NULL;
        type = local ? local->type : owner ? lsp_index_field(index, owner, name) : NO_TEXT;
        at = end < base.length && base.at[end] == '.' ? end + 1 : end + 2;
    }
    return lsp_index_struct(index, completing->package, type);
}

static void offer_locals(struct completing *completing, const struct lsp_body *body) {
    for (const struct lsp_local *local = body ? body->locals : NULL; local; local = local->next) {
        struct text_buffer detail = {0};
        struct text_out out = text_buffer_out(&detail);
        if (!begins(completing, local->name) || (local->from == completing->from && local->to == completing->to)) continue;
        lsp_describe_local(local, &out);
        item(completing, local->name, ITEM_OF_NAME, &detail, NO_TEXT);
        text_buffer_free(&detail);
    }
}

static void offer_words(struct completing *completing) {
    if (completing->types) {
        for (unsigned kind = KIND_NONE + 1; kind < KIND_COUNT; kind++) plain_item(completing, ast_text_of(kind_name(kind)), ITEM_OF_TYPE);
        plain_item(completing, ast_text_of("any"), ITEM_OF_TYPE);
        return;
    }
#define TOKEN(name, text)
#define KEYWORD(name, text) plain_item(completing, ast_text_of(text), ITEM_OF_KEYWORD);
#define INFIX(name, text, op)
#include "layout/tokens.def"
#undef TOKEN
#undef KEYWORD
#undef INFIX
}

static void offer_all(struct completing *completing, uint32_t offset) {
    struct lsp_index *index = &completing->document->index;
    const struct lsp_body *body = lsp_index_body(index, offset);
    const struct layout_tree *tree = &completing->server->opcodes.tree;
    struct symbol *structure = completing->base.length ? struct_of_base(completing, body) : NULL;
    if (structure) {
        offer_fields(completing, structure);
        return;
    }
    if (!completing->base.length) {
        if (!completing->types) offer_locals(completing, body);
        offer_words(completing);
    }
    offer_declared(completing, &index->file.items, NO_TEXT);
    if (!completing->types || completing->server->opcodes.space) (void)tree->each(tree->context, offer, completing);
}

enum lsp_error lsp_completion(struct lsp_server *server, struct lsp_value params, struct json_writer *json) {
    uint32_t offset;
    enum lsp_error error;
    struct lsp_document *document = lsp_document_at(server, params, &offset, &error);
    if (!document) return error;
    const struct lsp_text *text = &document->text;
    uint32_t from = name_start(text, offset), joint = member_before(text, from), start = base_start(text, joint ? from - joint : offset);
    struct completing completing = {.server = server, .document = document, .json = json, .from = from, .to = offset,
        .package = lsp_index_package(&document->index, offset), .base = NO_TEXT};
    if (joint) completing.base = (struct ast_text){text->bytes + start, from - joint - start};
    else completing.from = from = start; /* `time/dur` is one name */
    completing.part = (struct ast_text){text->bytes + from, offset - from};
    if (completing.base.length > 5 && memcmp(completing.base.at, "/lib/", 5) == 0) completing.base = (struct ast_text){completing.base.at + 5, completing.base.length - 5};
    completing.types = type_wanted(text, start);
    bool number = joint && (!completing.base.length || (completing.base.at[0] >= '0' && completing.base.at[0] <= '9'));
    json_array_begin(json);
    if (!number && !in_text(&document->index, offset)) offer_all(&completing, offset);
    json_array_end(json);
    free(completing.seen);
    return LSP_OK;
}
