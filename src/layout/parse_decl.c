/* Declarations: rwfunc, rwir, struct, lib, with their doc comments and source text.
 * Relies on parse_stmt.c for bodies and parse_type.c for types. A broken head does not keep the body from being read.
 * Promise: parameters come out with names and types as written; whether names are unique is the checker's affair. */
#include <string.h>
#include "layout/parse.h"

bool parse_at_declaration(const struct parse *parse) {
    enum token_kind kind = parse->token.kind;
    return kind == TOKEN_RWFUNC || kind == TOKEN_RWIR || kind == TOKEN_STRUCT || kind == TOKEN_LIB;
}

/* ---- doc comments ---- */

/* The comments directly above the token, on lines of their own without a gap: index of the first, or comment_count. */
static uint32_t first_doc(const struct parse *parse) {
    const struct scan *scan = &parse->scan;
    uint32_t line = parse->token.at.line, first = scan->comment_count;
    for (uint32_t i = scan->comment_count; i > 0; i--) {
        const struct ast_comment *comment = &scan->comments[i - 1];
        if (!comment->own_line || comment->end_line + 1 != line) break;
        line = comment->at.line;
        first = i - 1;
    }
    return first;
}

static struct ast_text inside(const struct scan *scan, const struct ast_comment *comment) {
    const char *at = scan->source + comment->at.offset;
    uint32_t length = comment->end - comment->at.offset, markers = at[0] == '#' ? 1 : 2;
    at += markers;
    length -= markers;
    if (comment->block && length >= 2) length -= 2;
    while (length && (*at == ' ' || *at == '\t')) {
        at++;
        length--;
    }
    while (length && strchr(" \t\r\n", at[length - 1]) && at[length - 1]) length--;
    return (struct ast_text){at, length};
}

static struct ast_text doc_text(struct parse *parse, uint32_t first) {
    const struct scan *scan = &parse->scan;
    uint32_t length = 0, used = 0;
    for (uint32_t i = first; i < scan->comment_count; i++) length += inside(scan, &scan->comments[i]).length + 1;
    char *at = length ? parse_alloc(parse, length) : NULL;
    if (!at) return (struct ast_text){"", 0};
    for (uint32_t i = first; i < scan->comment_count; i++) {
        struct ast_text text = inside(scan, &scan->comments[i]);
        if (i > first) at[used++] = '\n';
        memcpy(at + used, text.at, text.length);
        used += text.length;
    }
    return (struct ast_text){at, used};
}

struct head {
    struct ast_pos at;
    uint32_t source_from;
    struct ast_text doc;
};

/* At the keyword: takes the doc comment and goes behind the keyword. */
static struct head take_head(struct parse *parse) {
    struct head head = {.at = parse->token.at, .source_from = parse->token.at.offset, .doc = {"", 0}};
    uint32_t first = first_doc(parse);
    if (first < parse->scan.comment_count) {
        head.source_from = parse->scan.comments[first].at.offset;
        head.doc = doc_text(parse, first);
    }
    parse_advance(parse);
    return head;
}

static struct ast_text source_of(const struct parse *parse, const struct head *head) {
    return (struct ast_text){parse->scan.source + head->source_from, parse->last_end.offset - head->source_from};
}

/* ---- names ---- */

static bool has_slash(struct ast_text name) {
    return memchr(name.at, '/', name.length) != NULL;
}

/* A plain name for a declaration, parameter or field. */
static struct ast_text parse_plain_name(struct parse *parse, const char *what, struct ast_pos *at) {
    *at = parse->token.at;
    struct ast_text name = parse->token.text;
    if (parse->token.kind != TOKEN_IDENTIFIER || parse_ended(parse)) {
        char expected[64] = "the name of ";
        strncat(expected, what, sizeof expected - strlen(expected) - 1);
        parse_expected(parse, expected);
        return (struct ast_text){"", 0};
    }
    if (has_slash(name)) parse_error(parse, *at, "the name of %s cannot contain /", what);
    else if (ast_text_is(name, "_")) parse_error(parse, *at, "_ cannot be the name of %s", what);
    else parse_advance(parse);
    return name;
}

/* `op`, `pkg·op`, `a/b·op`: what an rwir may be called. */
static struct ast_text parse_opcode_name(struct parse *parse, struct ast_pos *at) {
    *at = parse->token.at;
    struct ast_text name = parse->token.text;
    if (parse->token.kind != TOKEN_IDENTIFIER || parse_ended(parse)) {
        parse_expected(parse, "the name of an opcode");
        return (struct ast_text){"", 0};
    }
    parse_advance(parse);
    if (parse->token.kind != TOKEN_MEMBER || parse_ended(parse)) {
        if (has_slash(name)) parse_error(parse, *at, "%.*s names a package: an opcode of it is %.*s·name", (int)name.length, name.at, (int)name.length, name.at);
        return name;
    }
    parse_advance(parse);
    struct ast_pos part_at;
    struct ast_text part = parse_plain_name(parse, "an opcode", &part_at);
    char *joined = parse_alloc(parse, name.length + 2 + part.length);
    if (!joined) return name;
    memcpy(joined, name.at, name.length);
    memcpy(joined + name.length, "·", 2);
    memcpy(joined + name.length + 2, part.at, part.length);
    return (struct ast_text){joined, name.length + 2 + part.length};
}

/* ---- parameters ---- */

static struct ast_param parse_parameter(struct parse *parse, bool write) {
    struct ast_param param = {.type = {.text = {"", 0}}};
    param.name = parse_plain_name(parse, "a parameter", &param.at);
    if (parse->panic) return param;
    if (parse->token.kind == TOKEN_BAD) {
        parse_expected(parse, ":");
        return param;
    }
    if (parse->token.kind != TOKEN_COLON) {
        parse_report(parse, param.at, "the parameter %.*s has no type: write %.*s:int64 or another type", (int)param.name.length, param.name.at,
                     (int)param.name.length, param.name.at);
        return param;
    }
    parse_advance(parse);
    param.type = parse_type(parse);
    struct ast_pos at = parse->token.at;
    if (parse_accept(parse, TOKEN_ELLIPSIS)) {
        param.variadic = true;
        if (write) parse_report(parse, at, "a write parameter cannot be variadic");
        else if (parse->token.kind == TOKEN_COMMA) parse_report(parse, at, "only the last read parameter can be variadic");
    }
    return param;
}

/* `( … )`; a missing ( ends in panic. */
static struct ast_params parse_parameters(struct parse *parse, bool write) {
    struct ast_params params = {.count = 0};
    if (parse->panic) return params;
    if (parse->token.kind != TOKEN_OPEN_PAREN || parse_ended(parse)) {
        parse_expected(parse, write ? "( and the write parameters" : "( and the read parameters");
        return params;
    }
    params.open = parse->token.at;
    uint32_t mark = parse->stack_used;
    parse->brackets++;
    parse->open_brackets++;
    parse_advance(parse);
    while (!parse->panic && parse->token.kind != TOKEN_CLOSE_PAREN) {
        struct ast_param *param = parse_alloc(parse, sizeof *param);
        if (!param) break;
        *param = parse_parameter(parse, write);
        parse_push(parse, param);
        if (!parse_accept(parse, TOKEN_COMMA)) break;
    }
    params.close = parse->token.at;
    parse_close(parse, TOKEN_CLOSE_PAREN, params.open);
    struct ast_nodes parts = parse_pop(parse, mark);
    params.at = parts.count ? parse_alloc(parse, parts.count * sizeof *params.at) : NULL;
    params.count = params.at ? parts.count : 0;
    for (uint32_t i = 0; i < params.count; i++) memcpy(&params.at[i], (void *)parts.at[i], sizeof *params.at);
    return params;
}

/* `(reads) [-> (writes)]` */
static void parse_signature(struct parse *parse, struct ast_node *node) {
    struct ast_params reads = parse_parameters(parse, false), writes = {.count = 0};
    bool written = !parse->panic && !parse_ended(parse) && parse->token.kind == TOKEN_ARROW;
    if (written) {
        parse_advance(parse);
        writes = parse_parameters(parse, true);
    }
    if (node->kind == AST_ERROR) return;
    node->as.function.reads = reads;
    node->as.function.writes = writes;
    node->as.function.writes_written = written;
}

/* ---- declarations ---- */

static struct ast_node *parse_function(struct parse *parse) {
    uint32_t loops = parse->loops;
    struct head head = take_head(parse);
    struct ast_node *node = parse_node(parse, AST_FUNCTION, head.at);
    struct ast_pos name_at;
    struct ast_text name = parse_plain_name(parse, "a function", &name_at);
    if (!parse->panic && parse->token.kind == TOKEN_MEMBER)
        parse_error(parse, parse->token.at, "a function has a plain name: it stands inside of lib %.*s { … }", (int)name.length, name.at);
    parse_signature(parse, node);
    parse_skip_to_brace(parse);
    struct ast_block block = {.open = {0, 0, 0}};
    parse->loops = 0;
    parse_block(parse, &block, head.at.column, false);
    parse->loops = loops;
    if (node->kind == AST_ERROR) return node;
    node->as.function.name = name;
    node->as.function.name_at = name_at;
    node->as.function.block = block;
    node->as.function.doc = head.doc;
    node->as.function.source = source_of(parse, &head);
    return parse_end(parse, node);
}

static struct ast_node *parse_rwir(struct parse *parse) {
    struct head head = take_head(parse);
    struct ast_node *node = parse_node(parse, AST_RWIR, head.at);
    struct ast_pos name_at;
    struct ast_text name = parse_opcode_name(parse, &name_at);
    parse_signature(parse, node);
    if (!parse->panic && parse->token.kind == TOKEN_OPEN_BRACE) parse_error(parse, parse->token.at, "rwir declares a signature: it has no body");
    if (node->kind == AST_ERROR) return node;
    node->as.function.name = name;
    node->as.function.name_at = name_at;
    node->as.function.doc = head.doc;
    node->as.function.source = source_of(parse, &head);
    return parse_end(parse, node);
}

/* False where no field stands at the margin of the struct: its } is missing, and what follows is something else. */
static bool parse_field(struct parse *parse, const struct parse_brace *brace) {
    struct ast_field *field = parse_alloc(parse, sizeof *field);
    if (!field) {
        parse_recover(parse);
        return true;
    }
    bool margin = parse->token.line_before && parse->token.at.column <= brace->indent;
    if (margin && parse->token.kind != TOKEN_IDENTIFIER) return false;
    parse->stmt_at = parse->token.at;
    parse->token.line_before = false;
    field->name = parse_plain_name(parse, "a field", &field->at);
    if (!parse->panic && (parse->token.kind != TOKEN_COLON || parse_ended(parse))) {
        if (margin) return false;
        parse_error(parse, field->at, "the field %.*s has no type: write %.*s:int64 or another type", (int)field->name.length, field->name.at,
                    (int)field->name.length, field->name.at);
    } else if (!parse->panic) {
        parse_advance(parse);
        field->type = parse_type(parse);
    }
    if (!parse_ended(parse) && parse_accept(parse, TOKEN_ASSIGN)) field->value = parse_expression(parse);
    if (!parse->panic && !parse_ended(parse) && !parse_accept(parse, TOKEN_COMMA)) parse_expected(parse, "; or }");
    parse_push(parse, field);
    if (parse->panic) parse_recover(parse);
    return true;
}

/* `{ … }` of a struct. */
static void parse_fields(struct parse *parse, struct ast_node *node) {
    struct ast_pos open = parse->token.at, stmt_at = parse->stmt_at;
    uint32_t mark = parse->stack_used;
    bool given_up = false;
    struct parse_brace brace = {.outer = parse->braces, .open = open, .indent = stmt_at.column};
    parse->braces = &brace;
    parse_advance(parse);
    while (parse->token.kind != TOKEN_CLOSE_BRACE && parse->token.kind != TOKEN_END && !given_up) {
        if (parse->token.kind == TOKEN_SEMICOLON) parse_advance(parse);
        else if (parse->token.line_before && parse_at_declaration(parse)) given_up = true;
        else given_up = !parse_field(parse, &brace);
    }
    parse->braces = brace.outer;
    struct ast_pos close = parse->token.at;
    parse->stmt_at = stmt_at;
    if (given_up || parse->token.kind == TOKEN_END) {
        parse_error(parse, open, "this { is never closed");
        if (given_up && !parse->token.line_before) parse_recover(parse);
        if (given_up) {
            parse_calm(parse);
            parse->unwinding = true; /* what follows is read on its own, without the end of this statement */
        }
    }
    parse_accept(parse, TOKEN_CLOSE_BRACE);
    struct ast_nodes parts = parse_pop(parse, mark);
    struct ast_field *fields = parts.count ? parse_alloc(parse, parts.count * sizeof *fields) : NULL;
    if (node->kind == AST_ERROR) return;
    node->as.structure.fields = fields;
    node->as.structure.count = fields ? parts.count : 0;
    for (uint32_t i = 0; fields && i < parts.count; i++) memcpy(&fields[i], (void *)parts.at[i], sizeof *fields);
    node->as.structure.open = open;
    node->as.structure.close = close;
}

static struct ast_node *parse_struct(struct parse *parse) {
    struct head head = take_head(parse);
    struct ast_node *node = parse_node(parse, AST_STRUCT, head.at);
    struct ast_pos name_at;
    struct ast_text name = parse_plain_name(parse, "a struct", &name_at);
    parse_skip_to_brace(parse);
    if (!parse->panic && parse->token.kind != TOKEN_OPEN_BRACE) parse_expected(parse, "{");
    if (!parse->panic) parse_fields(parse, node);
    if (node->kind == AST_ERROR) return node;
    node->as.structure.name = name;
    node->as.structure.name_at = name_at;
    node->as.structure.doc = head.doc;
    node->as.structure.source = source_of(parse, &head);
    return parse_end(parse, node);
}

static struct ast_node *parse_lib(struct parse *parse) {
    struct head head = take_head(parse);
    struct ast_node *node = parse_node(parse, AST_LIB, head.at);
    struct ast_pos name_at = parse->token.at;
    struct ast_text name = parse->token.text;
    if (parse->token.kind != TOKEN_IDENTIFIER || parse_ended(parse)) parse_expected(parse, "the name of a lib");
    else if (ast_text_is(name, "_")) parse_error(parse, name_at, "_ cannot be the name of a lib");
    else parse_advance(parse);
    if (!parse->panic && parse->token.kind == TOKEN_MEMBER) parse_error(parse, parse->token.at, "packages are joined by /: lib a/b { … }");
    parse_skip_to_brace(parse);
    struct ast_block block = {.open = {0, 0, 0}};
    parse_block(parse, &block, head.at.column, true);
    if (node->kind == AST_ERROR) return node;
    node->as.lib.name = name;
    node->as.lib.name_at = name_at;
    node->as.lib.block = block;
    node->as.lib.doc = head.doc;
    return parse_end(parse, node);
}

struct ast_node *parse_declaration(struct parse *parse) {
    switch (parse->token.kind) {
    case TOKEN_RWFUNC:
        return parse_function(parse);
    case TOKEN_RWIR:
        return parse_rwir(parse);
    case TOKEN_STRUCT:
        return parse_struct(parse);
    default:
        return parse_lib(parse);
    }
}
