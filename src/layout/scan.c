/* The scanner's core: blanks, comments, names, paths, operators and their keyboard aliases.
 * Relies on scan_literal.c for numbers and strings, on tokens.def for the words. One byte of lookahead decides most.
 * Promise: linear time; nothing is allocated but names and paths that contain an alias, and the list of comments. */
#include "layout/scan.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "layout/unicode.h"

#define MIDDLE_DOT "\xC2\xB7" /* · */

static const char *const kind_texts[] = {
#define TOKEN(name, text) text,
#define KEYWORD(name, text) text,
#define INFIX(name, text, op) text,
#include "layout/tokens.def"
#undef TOKEN
#undef KEYWORD
#undef INFIX
};

const char *scan_kind_text(enum token_kind kind) {
    return kind_texts[kind];
}

bool scan_kind_is_keyword(enum token_kind kind) {
    return kind >= TOKEN_RWFUNC && kind <= TOKEN_NULL;
}

enum ast_op scan_kind_op(enum token_kind kind) {
    static const uint8_t ops[] = {
#define TOKEN(name, text) AST_OP_COUNT,
#define KEYWORD(name, text) AST_OP_COUNT,
#define INFIX(name, text, op) AST_OP_##op,
#include "layout/tokens.def"
#undef TOKEN
#undef KEYWORD
#undef INFIX
    };
    return (enum ast_op)ops[kind];
}

/* What a byte can begin; names are decided by one look into this table. */
enum { OTHER = 0, LETTER = 1, DIGIT = 2, HIGH = 4 };

static int class_of(char byte) {
    unsigned char c = (unsigned char)byte;
    if (c >= 0x80) return HIGH;
    if ((unsigned)(c | 0x20) - 'a' < 26u || c == '_') return LETTER;
    return c - (unsigned)'0' < 10u ? DIGIT : OTHER;
}

void scan_start(struct scan *scan, struct ast_arena *arena, struct diag_list *diags, struct ast_text source) {
    memset(scan, 0, sizeof *scan);
    scan->arena = arena;
    scan->diags = diags;
    scan->source = source.at;
    scan->length = source.length;
    scan->line = 1;
    scan->last_kind = TOKEN_SEMICOLON;
}

struct ast_pos scan_here(const struct scan *scan) {
    return (struct ast_pos){scan->at, scan->line, scan->at - scan->line_start - scan->continued + 1};
}

void scan_step(struct scan *scan) {
    char c = scan->source[scan->at++];
    if (c == '\n') {
        scan->line++;
        scan->line_start = scan->at;
        scan->continued = 0;
        return;
    }
    while (scan->at < scan->length && ((unsigned char)scan->source[scan->at] & 0xC0) == 0x80) {
        scan->at++;
        scan->continued++;
    }
}

void scan_report(struct scan *scan, struct ast_pos at, const char *format, ...) {
    if (scan->quiet) return;
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    diag_error(scan->diags, DIAG_SYNTAX, at, "%s", message);
}

static char byte_at(const struct scan *scan, uint32_t at) {
    return at < scan->length ? scan->source[at] : '\0';
}

static uint32_t code_point_at(const struct scan *scan, uint32_t at) {
    uint32_t code_point = 0;
    if (at < scan->length) unicode_decode(scan->source + at, scan->length - at, &code_point);
    return code_point;
}

bool scan_name_at(const struct scan *scan, uint32_t at, bool first) {
    if (at >= scan->length) return false;
    int class = class_of(scan->source[at]);
    if (class == HIGH) {
        uint32_t code_point = code_point_at(scan, at);
        return first ? unicode_is_letter(code_point) : unicode_is_name(code_point);
    }
    return class == LETTER || (!first && class == DIGIT);
}

static void skip_name(struct scan *scan) {
    while (scan->at < scan->length) {
        int class = class_of(scan->source[scan->at]);
        if (class == LETTER || class == DIGIT) scan->at++;
        else if (class == HIGH && unicode_is_name(code_point_at(scan, scan->at))) scan_step(scan);
        else return;
    }
}

static void add_comment(struct scan *scan, struct ast_comment comment) {
    if (scan->comment_count == scan->comment_room) {
        uint32_t room = scan->comment_room ? scan->comment_room * 2 : 16;
        struct ast_comment *more = ast_alloc(scan->arena, room * sizeof *more);
        if (!more) {
            scan->out_of_memory = true;
            return;
        }
        if (scan->comment_count) memcpy(more, scan->comments, scan->comment_count * sizeof *more);
        scan->comments = more;
        scan->comment_room = room;
    }
    scan->comments[scan->comment_count++] = comment;
}

static void skip_line_comment(struct scan *scan) {
    const char *from = scan->source + scan->at;
    const char *newline = memchr(from, '\n', scan->length - scan->at);
    uint32_t end = newline ? (uint32_t)(newline - scan->source) : scan->length;
    for (; scan->at < end; scan->at++)
        if (((unsigned char)scan->source[scan->at] & 0xC0) == 0x80) scan->continued++;
}

static void skip_block_comment(struct scan *scan, struct ast_pos open) {
    scan->at += 2;
    while (scan->at < scan->length) {
        if (scan->source[scan->at] == '*' && byte_at(scan, scan->at + 1) == '/') {
            scan->at += 2;
            return;
        }
        scan_step(scan);
    }
    scan->cut_short = true;
    scan_report(scan, open, "this comment is never closed: */ is missing");
}

static void scan_comment(struct scan *scan, bool block) {
    struct ast_comment comment = {.at = scan_here(scan), .block = block};
    comment.own_line = scan->last_end <= scan->line_start;
    if (scan->comment_count) {
        const struct ast_comment *before = &scan->comments[scan->comment_count - 1];
        if (before->end > scan->line_start) comment.own_line = false;
    }
    if (block) skip_block_comment(scan, comment.at);
    else skip_line_comment(scan);
    comment.end = scan->at;
    while (!block && scan->source[comment.end - 1] == '\r') comment.end--; /* other blanks at the end stay: they may be meant */
    comment.end_line = scan->line;
    add_comment(scan, comment);
}

/* Over blanks, line breaks and comments, up to the next token. A block comment counts as a blank, even over lines. */
static void skip_blanks(struct scan *scan, struct scan_token *token) {
    for (;;) {
        switch (byte_at(scan, scan->at)) {
        case ' ':
        case '\t':
        case '\r':
        case '\f':
        case '\v':
            scan->at++;
            break;
        case '\n':
            scan_step(scan);
            token->line_before = true;
            break;
        case '#':
            scan_comment(scan, false);
            break;
        case '/':
            if (byte_at(scan, scan->at + 1) == '/') scan_comment(scan, false);
            else if (byte_at(scan, scan->at + 1) == '*') scan_comment(scan, true);
            else return;
            break;
        default:
            return;
        }
    }
}

struct keyword {
    const char *text;
    enum token_kind kind;
};

static enum token_kind keyword_of(struct ast_text name) {
    static const struct keyword keywords[] = {
#define TOKEN(name, text)
#define KEYWORD(name, text) {text, TOKEN_##name},
#define INFIX(name, text, op)
#include "layout/tokens.def"
#undef TOKEN
#undef KEYWORD
#undef INFIX
    };
    if (name.length < 2 || name.length > 8) return TOKEN_IDENTIFIER;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        const char *text = keywords[i].text;
        if (text[0] == name.at[0] && text[1] == name.at[1] && ast_text_is(name, text)) return keywords[i].kind;
    }
    return TOKEN_IDENTIFIER;
}

static void scan_identifier(struct scan *scan, struct scan_token *token) {
    uint32_t start = scan->at;
    skip_name(scan);
    bool qualified = false;
    while (byte_at(scan, scan->at) == '/' && scan_name_at(scan, scan->at + 1, true)) {
        scan->at++;
        skip_name(scan);
        qualified = true;
    }
    token->text = (struct ast_text){scan->source + start, scan->at - start};
    token->kind = qualified ? TOKEN_IDENTIFIER : keyword_of(token->text);
}

/* Rewrites `.` to `·` in a path; each grows by one byte. */
static struct ast_text path_canonical(struct scan *scan, struct ast_text raw, uint32_t dots) {
    if (dots == 0) return raw;
    char *at = ast_alloc(scan->arena, raw.length + dots);
    if (!at) {
        scan->out_of_memory = true;
        return raw;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < raw.length; i++) {
        if (raw.at[i] == '.') {
            memcpy(at + used, MIDDLE_DOT, 2);
            used += 2;
        } else {
            at[used++] = raw.at[i];
        }
    }
    return (struct ast_text){at, used};
}

/* `/a/b·c.d`: steps of letters, digits and `_`; the members behind `·` or `.` belong to the path. */
static void scan_path(struct scan *scan, struct scan_token *token) {
    uint32_t start = scan->at, dots = 0;
    token->kind = TOKEN_PATH;
    for (;;) {
        char c = byte_at(scan, scan->at);
        bool middle = c == MIDDLE_DOT[0] && byte_at(scan, scan->at + 1) == MIDDLE_DOT[1];
        uint32_t behind = scan->at + (middle ? 2 : 1);
        if (c == '/' ? !scan_name_at(scan, behind, false) : !((c == '.' || middle) && scan_name_at(scan, behind, c == '.'))) break;
        if (c != '/' && !token->base_length) token->base_length = scan->at - start;
        if (middle) scan->continued++;
        dots += c == '.';
        scan->at = behind;
        skip_name(scan);
    }
    struct ast_text raw = {scan->source + start, scan->at - start};
    token->text = path_canonical(scan, raw, dots);
    if (!token->base_length) token->base_length = token->text.length;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

static void scan_slash(struct scan *scan, struct scan_token *token) {
    if (scan_name_at(scan, scan->at + 1, false)) {
        scan_path(scan, token);
        return;
    }
    token->kind = TOKEN_DIVIDE;
    bool behind = is_blank(byte_at(scan, scan->at + 1)) || scan->at + 1 == scan->length;
    if (!token->blank_before || !behind) scan_report(scan, token->at, "a division needs white space on both sides of /, or ÷");
    scan->at++;
}

static bool ends_operand(enum token_kind kind) {
    return kind == TOKEN_IDENTIFIER || kind == TOKEN_PATH || kind == TOKEN_CLOSE_PAREN || kind == TOKEN_CLOSE_BRACKET ||
           kind == TOKEN_CLOSE_BRACE || kind == TOKEN_STRING;
}

static void scan_dot(struct scan *scan, struct scan_token *token) {
    if (byte_at(scan, scan->at + 1) == '.' && byte_at(scan, scan->at + 2) == '.') {
        token->kind = TOKEN_ELLIPSIS;
        scan->at += 3;
        return;
    }
    char next = byte_at(scan, scan->at + 1);
    bool glued = !token->blank_before && ends_operand(scan->last_kind);
    bool member = glued && (next == '*' || next == '[' || scan_name_at(scan, scan->at + 1, true));
    token->kind = member ? TOKEN_MEMBER : TOKEN_DOT;
    scan->at++;
}

/* Operators of ASCII characters: up to two bytes, longest first within one first byte. */
struct sign {
    char text[3];
    uint8_t kind;
};

static const struct sign signs[] = {
    {"->", TOKEN_ARROW},        {"-", TOKEN_MINUS},         {"==", TOKEN_EQ},          {"=", TOKEN_ASSIGN},
    {"!=", TOKEN_NEQ},          {"!", TOKEN_NOT},           {"<-", TOKEN_ASSIGN},      {"<=", TOKEN_LE},
    {"<<", TOKEN_SHL},          {"<", TOKEN_LT},            {">=", TOKEN_GE},          {">>", TOKEN_SHR},
    {">", TOKEN_GT},            {"&&", TOKEN_AND},          {"&", TOKEN_AMPERSAND},    {"||", TOKEN_OR},
    {"|", TOKEN_BAR},           {"+", TOKEN_PLUS},          {"*", TOKEN_STAR},         {"%", TOKEN_PERCENT},
    {"^", TOKEN_CARET},         {"(", TOKEN_OPEN_PAREN},    {")", TOKEN_CLOSE_PAREN},  {"[", TOKEN_OPEN_BRACKET},
    {"]", TOKEN_CLOSE_BRACKET}, {"{", TOKEN_OPEN_BRACE},    {"}", TOKEN_CLOSE_BRACE},  {",", TOKEN_COMMA},
    {";", TOKEN_SEMICOLON},     {":", TOKEN_COLON},         {"@", TOKEN_AT},           {"?", TOKEN_QUESTION},
};

static bool scan_sign(struct scan *scan, struct scan_token *token) {
    char c = byte_at(scan, scan->at), next = byte_at(scan, scan->at + 1);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (signs[i].text[0] != c || (signs[i].text[1] && signs[i].text[1] != next)) continue;
        token->kind = (enum token_kind)signs[i].kind;
        scan->at += signs[i].text[1] ? 2 : 1;
        return true;
    }
    return false;
}

struct wide_sign {
    uint32_t code_point;
    enum token_kind kind;
};

/* Code points that people paste or type by accident get a message of their own. */
struct stray {
    uint32_t code_point;
    const char *message;
};

static void scan_stray(struct scan *scan, struct scan_token *token, uint32_t code_point) {
    static const struct stray strays[] = {
        {0x2025, "names that begin with ‥ belong to the system and cannot be written"},
        {0x00A0, "this is a no-break space: write a plain space"},
        {0x3000, "this is an ideographic space: write a plain space"},
        {0xFEFF, "a byte order mark may only stand at the beginning of the file"},
        {0x201C, "this is a typographic quote: strings stand in \"…\" or '…'"},
        {0x201D, "this is a typographic quote: strings stand in \"…\" or '…'"},
        {0x2018, "this is a typographic quote: strings stand in \"…\" or '…'"},
        {0x2019, "this is a typographic quote: strings stand in \"…\" or '…'"},
        {0x2212, "this is a typographic minus: write -"},
        {'$', "unexpected character $"},
        {'~', "unexpected character ~: there is no complement operator, use x ^ -1"},
        {'\\', "a backslash has a meaning in strings only: a line goes on inside ( ) and [ ]"},
        {'?', "unexpected character ?"},
    };
    token->kind = TOKEN_BAD;
    scan_step(scan);
    for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++) {
        if (strays[i].code_point != code_point) continue;
        scan_report(scan, token->at, "%s", strays[i].message);
        return;
    }
    struct ast_text raw = {scan->source + token->at.offset, scan->at - token->at.offset};
    bool shown = code_point > ' ' && code_point != 0x7F && unicode_width(code_point) > 0;
    if (shown) scan_report(scan, token->at, "unexpected character %.*s (U+%04X)", (int)raw.length, raw.at, (unsigned)code_point);
    else scan_report(scan, token->at, "unexpected character U+%04X", (unsigned)code_point);
}

static void scan_wide(struct scan *scan, struct scan_token *token) {
    static const struct wide_sign wide_signs[] = {
        {0xB7, TOKEN_MEMBER}, {0xD7, TOKEN_TIMES}, {0xF7, TOKEN_DIVIDE}, {0x221A, TOKEN_ROOT},
        {0x2260, TOKEN_NEQ},  {0x2264, TOKEN_LE},  {0x2265, TOKEN_GE},
    };
    uint32_t code_point = code_point_at(scan, scan->at);
    for (size_t i = 0; i < sizeof wide_signs / sizeof wide_signs[0]; i++) {
        if (wide_signs[i].code_point != code_point) continue;
        token->kind = wide_signs[i].kind;
        scan_step(scan);
        return;
    }
    if (unicode_is_letter(code_point)) scan_identifier(scan, token);
    else scan_stray(scan, token, code_point);
}

static void scan_token_here(struct scan *scan, struct scan_token *token) {
    char c = scan->source[scan->at];
    int class = class_of(c);
    if (class == LETTER) {
        if (c == 'r' && scan_at_raw_string(scan)) scan_raw_string(scan, token);
        else scan_identifier(scan, token);
    } else if (class == DIGIT) {
        scan_number(scan, token);
    } else if (c == '"' || c == '\'' || c == '`') {
        scan_string(scan, token);
    } else if (c == '/') {
        scan_slash(scan, token);
    } else if (c == '.') {
        scan_dot(scan, token);
    } else if (class == HIGH) {
        scan_wide(scan, token);
    } else if (!scan_sign(scan, token)) {
        scan_stray(scan, token, (unsigned char)c);
    }
}

void scan_next(struct scan *scan, struct scan_token *token) {
    memset(token, 0, sizeof *token);
    token->line_before = scan->at == 0;
    skip_blanks(scan, token);
    token->at = scan_here(scan);
    token->blank_before = scan->at != scan->last_end || scan->at == 0;
    if (scan->at >= scan->length) token->kind = TOKEN_END;
    else scan_token_here(scan, token);
    token->end = scan_here(scan);
    token->raw = (struct ast_text){scan->source + token->at.offset, scan->at - token->at.offset};
    scan->last_end = scan->at;
    scan->last_kind = token->kind;
}
