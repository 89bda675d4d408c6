/* The parser's ground: entry point, the token of lookahead, memory, error reports and recovery.
 * Relies on scan.h; parse_expr.c, parse_type.c, parse_stmt.c and parse_decl.c stand on it.
 * Promise: after an error nothing is reported until the next statement; recovery always moves forward. */
#include "layout/parse.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "layout/unicode.h"

/* ---- tokens ---- */

void parse_stop(struct parse *parse) {
    parse->token.kind = TOKEN_END;
    parse->token.line_before = true;
    parse->scan.at = parse->scan.length;
    parse->panic = true;
}

void parse_advance(struct parse *parse) {
    parse->last_end = parse->token.end;
    scan_next(&parse->scan, &parse->token);
    if (parse->token.line_before) parse->margin = parse->token.at.column;
    if (parse->scan.out_of_memory) parse->out_of_memory = true;
    if (parse->out_of_memory || !diag_has_room(parse->diags)) parse_stop(parse);
}

bool parse_ended(const struct parse *parse) {
    enum token_kind kind = parse->token.kind;
    if (kind == TOKEN_END) return true;
    if (parse->brackets > 0) return false;
    return parse->token.line_before || kind == TOKEN_SEMICOLON || kind == TOKEN_CLOSE_BRACE;
}

bool parse_accept(struct parse *parse, enum token_kind kind) {
    if (parse->token.kind != kind || parse->panic) return false;
    parse_advance(parse);
    return true;
}

static void report(struct parse *parse, struct ast_pos at, const char *format, va_list arguments) {
    char message[320];
    int length = vsnprintf(message, sizeof message, format, arguments);
    if (length < 0) return;
    size_t cut = sizeof message - 1; /* never in the middle of a character */
    if ((size_t)length > cut) {
        while (cut > 0 && ((unsigned char)message[cut] & 0xC0) == 0x80) cut--;
        message[unicode_first_bad(message, cut)] = '\0';
    }
    diag_error(parse->diags, DIAG_SYNTAX, at, "%s", message);
}

void parse_report(struct parse *parse, struct ast_pos at, const char *format, ...) {
    if (parse->panic || parse->out_of_memory) return;
    va_list arguments;
    va_start(arguments, format);
    report(parse, at, format, arguments);
    va_end(arguments);
}

void parse_error(struct parse *parse, struct ast_pos at, const char *format, ...) {
    if (parse->panic || parse->out_of_memory) return;
    parse->panic = true;
    parse->panic_brackets = parse->open_brackets;
    parse->panic_braces = parse->open_braces;
    if (parse->token.kind == TOKEN_BAD) return; /* the scanner has said it */
    if (parse->token.kind == TOKEN_END && parse->scan.cut_short) return;
    va_list arguments;
    va_start(arguments, format);
    report(parse, at, format, arguments);
    va_end(arguments);
}

struct ast_pos parse_found_at(const struct parse *parse) {
    bool line_ended = parse->token.kind == TOKEN_END || (parse->token.line_before && parse->brackets == 0);
    return line_ended && parse->last_end.line ? parse->last_end : parse->token.at;
}

void parse_expected(struct parse *parse, const char *what) {
    const struct scan_token *token = &parse->token;
    struct ast_pos at = parse_found_at(parse);
    if (token->line_before && parse->brackets == 0) {
        parse_error(parse, at, "expected %s, found the end of the line", what);
    } else if (token->kind == TOKEN_END) {
        parse_error(parse, at, "expected %s, found the end of the file", what);
    } else if (token->kind == TOKEN_PATH) {
        parse_error(parse, at, "expected %s, found the path %.*s: a division needs white space on both sides of /", what,
                    (int)(token->raw.length > 40 ? 40 : token->raw.length), token->raw.at);
    } else {
        uint32_t shown = token->raw.length;
        const char *newline = memchr(token->raw.at, '\n', shown);
        if (newline) shown = (uint32_t)(newline - token->raw.at);
        bool cut = shown > 40 || newline;
        if (shown > 40) shown = 40;
        while (shown > 0 && shown < token->raw.length && ((unsigned char)token->raw.at[shown] & 0xC0) == 0x80) shown--;
        parse_error(parse, at, "expected %s, found %s%.*s%s", what, scan_kind_is_keyword(token->kind) ? "the keyword " : "", (int)shown,
                    token->raw.at, cut ? "…" : "");
    }
}

/* In brackets, a token on a new line that stands no deeper than the statement does: a bracket was forgotten. */
static bool looks_like_next_statement(const struct parse *parse) {
    return parse->token.line_before && parse->token.at.column <= parse->stmt_at.column;
}

/* `=` where a value goes on: mostly a comparison meant. */
static void wrong_assignment(struct parse *parse) {
    bool arrow = parse->token.raw.length == 2;
    parse_error(parse, parse->token.at, arrow ? "<- writes and is no operator: a comparison with a negative number needs a blank, x < -1"
                                              : "= writes and is no operator: == compares");
}

/* A `}` in the middle of a line that did not open the block around: hardly the block's end, rather a slip. */
static bool stray_brace(const struct parse *parse) {
    if (parse->token.kind != TOKEN_CLOSE_BRACE || parse->token.line_before) return false;
    return !parse->braces || parse->braces->open.line != parse->token.at.line;
}

void parse_close(struct parse *parse, enum token_kind kind, struct ast_pos open) {
    if (parse->panic || parse->token.kind == kind) {
        parse->brackets--;
        parse->open_brackets--;
        if (!parse->panic) parse_advance(parse);
        return;
    }
    const char *opens = kind == TOKEN_CLOSE_PAREN ? "(" : "[";
    enum token_kind found = parse->token.kind;
    bool ends = found == TOKEN_END || found == TOKEN_CLOSE_BRACE || found == TOKEN_SEMICOLON || found == TOKEN_ARROW || found == TOKEN_OPEN_BRACE;
    if (stray_brace(parse)) ends = false;
    bool written = found == TOKEN_ASSIGN && parse->token.at.line > open.line && parse->margin <= parse->stmt_at.column;
    if (ends || written || looks_like_next_statement(parse)) parse_error(parse, open, "this %s is never closed", opens);
    else if (found == TOKEN_ASSIGN) wrong_assignment(parse);
    else parse_expected(parse, kind == TOKEN_CLOSE_PAREN ? ", or )" : ", or ]");
    parse->brackets--;
    parse->open_brackets--;
}

bool parse_enter(struct parse *parse, struct ast_pos at) {
    parse->depth++;
    if (parse->depth <= AST_MAX_NESTING) return true;
    parse_error(parse, at, "this nests deeper than %d levels", AST_MAX_NESTING);
    return false;
}

void parse_leave(struct parse *parse) {
    parse->depth--;
}

/* ---- recovery ---- */

static bool begins_statement(enum token_kind kind) {
    switch (kind) {
    case TOKEN_RWFUNC:
    case TOKEN_RWIR:
    case TOKEN_LIB:
    case TOKEN_STRUCT:
    case TOKEN_IF:
    case TOKEN_WHILE:
    case TOKEN_FOR:
    case TOKEN_BREAK:
    case TOKEN_CONTINUE:
    case TOKEN_RETURN:
        return true;
    default:
        return false;
    }
}

/* What is open while text is skipped. Soft: opened before the error, so perhaps never closed; hard: opened behind it. */
struct skipped {
    int64_t soft_brackets, soft_braces, hard_braces;
};

/* Whether the token on a new line goes on with the broken statement: deeper than it, or a closing bracket. */
static bool goes_on(const struct parse *parse, const struct skipped *open) {
    enum token_kind kind = parse->token.kind;
    if (open->hard_braces > 0) return true;
    if (open->soft_brackets + open->soft_braces <= 0 || begins_statement(kind)) return false;
    bool closes = kind == TOKEN_CLOSE_PAREN || kind == TOKEN_CLOSE_BRACKET || (kind == TOKEN_CLOSE_BRACE && open->soft_braces > 0);
    return parse->token.at.column > parse->stmt_at.column || closes;
}

static bool stops_here(const struct parse *parse, const struct skipped *open) {
    enum token_kind kind = parse->token.kind;
    if (parse->token.line_before && !goes_on(parse, open)) return true;
    /* A declaration at the left margin ends even a brace that was opened in the skipped text. */
    if (parse->token.line_before && parse_at_declaration(parse) && parse->token.at.column <= parse->stmt_at.column) return true;
    if (open->hard_braces > 0) return false;
    if (kind == TOKEN_CLOSE_BRACE) return open->soft_braces <= 0 && !stray_brace(parse);
    return kind == TOKEN_SEMICOLON && open->soft_braces + open->soft_brackets <= 0;
}

static void count(const struct parse *parse, struct skipped *open) {
    switch (parse->token.kind) {
    case TOKEN_OPEN_PAREN:
    case TOKEN_OPEN_BRACKET:
        open->soft_brackets++;
        break;
    case TOKEN_CLOSE_PAREN:
    case TOKEN_CLOSE_BRACKET:
        open->soft_brackets--;
        break;
    case TOKEN_OPEN_BRACE:
        open->hard_braces++;
        break;
    case TOKEN_CLOSE_BRACE:
        if (open->hard_braces > 0) open->hard_braces--;
        else open->soft_braces--;
        break;
    default:
        break;
    }
}

/* Skips to the end of the broken statement: a line break, `;` or `}` outside of what opens in it. */
void parse_recover(struct parse *parse) {
    struct skipped open = {parse->panic_brackets, parse->panic_braces, 0};
    bool moved = parse->token.at.offset != parse->stmt_at.offset;
    parse->scan.quiet = true;
    while (parse->token.kind != TOKEN_END && !(moved && stops_here(parse, &open))) {
        count(parse, &open);
        parse_advance(parse);
        moved = true;
    }
    parse->scan.quiet = false;
    parse_calm(parse);
}

void parse_calm(struct parse *parse) {
    parse->brackets = parse->open_brackets = parse->open_braces = 0;
    parse->panic_brackets = parse->panic_braces = 0;
    parse->no_struct = parse->allow_discard = false;
    parse->panic = parse->out_of_memory || !diag_has_room(parse->diags);
}

/* ---- memory ---- */

void *parse_alloc(struct parse *parse, size_t bytes) {
    void *at = ast_alloc(parse->arena, bytes);
    if (!at) parse->out_of_memory = parse->panic = true;
    return at;
}

struct ast_node *parse_node(struct parse *parse, enum ast_kind kind, struct ast_pos at) {
    struct ast_node *node = ast_node(parse->arena, kind);
    if (!node) {
        parse->out_of_memory = parse->panic = true;
        node = &parse->spare;
        memset(node, 0, sizeof *node);
        node->kind = AST_ERROR;
    }
    node->at = at;
    node->end = at.offset;
    node->end_line = at.line;
    return node;
}

struct ast_node *parse_end(struct parse *parse, struct ast_node *node) {
    node->end = parse->last_end.offset;
    node->end_line = parse->last_end.line;
    return node;
}

void *parse_grow(struct parse *parse, void *items, uint32_t used, uint32_t more, uint32_t *room, size_t size) {
    if (*room - used >= more) return items;
    uint32_t wanted = *room * 2 + more + 64;
    void *grown = realloc(items, wanted * size);
    if (grown) *room = wanted;
    else parse->out_of_memory = parse->panic = true;
    return grown;
}

void parse_push(struct parse *parse, void *item) {
    void **stack = parse_grow(parse, parse->stack, parse->stack_used, 1, &parse->stack_room, sizeof *stack);
    if (!stack) return;
    parse->stack = stack;
    stack[parse->stack_used++] = item;
}

struct ast_nodes parse_pop(struct parse *parse, uint32_t mark) {
    struct ast_nodes nodes = {NULL, parse->stack_used - mark};
    parse->stack_used = mark;
    if (nodes.count == 0) return nodes;
    nodes.at = parse_alloc(parse, nodes.count * sizeof *nodes.at);
    if (!nodes.at) nodes.count = 0;
    else memcpy(nodes.at, parse->stack + mark, nodes.count * sizeof *nodes.at);
    return nodes;
}

/* ---- the entry ---- */

/* Line and column of a byte that is no UTF-8; everything before it is well-formed. */
static struct ast_pos place_of(struct ast_text source, uint32_t offset) {
    struct ast_pos at = {offset, 1, 1};
    for (uint32_t i = 0; i < offset; i++) {
        if (source.at[i] == '\n') {
            at.line++;
            at.column = 1;
        } else if (((unsigned char)source.at[i] & 0xC0) != 0x80) {
            at.column++;
        }
    }
    return at;
}

static bool check_encoding(struct diag_list *diags, struct ast_text source) {
    size_t bad = unicode_first_bad(source.at, source.length);
    if (bad == source.length) return true;
    diag_error(diags, DIAG_SYNTAX, place_of(source, (uint32_t)bad), "the byte 0x%02X is not UTF-8", (unsigned)(unsigned char)source.at[bad]);
    return false;
}

static int take_source(struct ast_arena *arena, struct diag_list *diags, struct ast_text name, const char *source, size_t length,
                       struct ast_file *file) {
    memset(file, 0, sizeof *file);
    if (length >= 3 && memcmp(source, "\xEF\xBB\xBF", 3) == 0) {
        source += 3;
        length -= 3;
    }
    if (length > SCAN_MAX_BYTES) {
        diag_error(diags, DIAG_SYNTAX, (struct ast_pos){0, 0, 0}, "the file has %zu bytes: the limit is %u", length, (unsigned)SCAN_MAX_BYTES);
        return PARSE_REJECTED;
    }
    file->name = ast_copy(arena, name);
    file->source = ast_copy(arena, (struct ast_text){source, (uint32_t)length});
    if (file->source.length != length || file->name.length != name.length) return PARSE_NO_MEMORY;
    return check_encoding(diags, file->source) ? PARSE_OK : PARSE_REJECTED;
}

static void keep_parens(struct parse *parse, struct ast_file *file) {
    if (parse->parens_used == 0) return;
    file->parens = parse_alloc(parse, parse->parens_used * sizeof *file->parens);
    for (uint32_t i = 0; file->parens && i < parse->parens_used; i++)
        if (parse->parens[i].close.line) file->parens[file->paren_count++] = parse->parens[i];
}

int parse_file(struct ast_arena *arena, struct diag_list *diags, struct ast_text name, const char *source, size_t length,
               struct ast_file *file) {
    int rc = take_source(arena, diags, name, source, length, file);
    if (rc) return rc;
    uint32_t errors = diags->errors;
    struct parse *parse = calloc(1, sizeof *parse);
    if (!parse) return PARSE_NO_MEMORY;
    parse->arena = arena;
    parse->diags = diags;
    scan_start(&parse->scan, arena, diags, file->source);
    parse_advance(parse);
    file->items = parse_body(parse, NULL);
    file->comments = parse->scan.comments;
    file->comment_count = parse->scan.comment_count;
    file->line_count = parse->scan.line;
    keep_parens(parse, file);
    bool out_of_memory = parse->out_of_memory;
    free(parse->stack);
    free(parse->letters);
    free(parse->parens);
    free(parse->steps);
    free(parse->ops);
    free(parse);
    return out_of_memory ? PARSE_NO_MEMORY : diags->errors > errors ? PARSE_REJECTED : PARSE_OK;
}
