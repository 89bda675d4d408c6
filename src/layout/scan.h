/* The scanner: from the bytes of a file to tokens, one at a time, with comments put aside for format and doc texts.
 * Relies on ast.h (arena, places), diag.h and unicode.h. The source must be well-formed UTF-8 without BOM.
 * Promise: always ends; each token knows its place, its end, and whether a line break or blank stood before it; aliases
 * are resolved (`.` between names is MEMBER, `a / b` is DIVIDE, `<-` is ASSIGN). An error is reported once, as BAD. */
#ifndef LAYOUT_SCAN_H
#define LAYOUT_SCAN_H
#include <stdbool.h>
#include <stdint.h>
#include "layout/ast.h"
#include "layout/diag.h"

enum token_kind {
#define TOKEN(name, text) TOKEN_##name,
#define KEYWORD(name, text) TOKEN_##name,
#define INFIX(name, text, op) TOKEN_##name,
#include "layout/tokens.def"
#undef TOKEN
#undef KEYWORD
#undef INFIX
    TOKEN_KIND_COUNT
};

/* Sources are limited so that offsets and twice an offset fit in 32 bits. */
#define SCAN_MAX_BYTES ((uint32_t)1 << 30)

struct scan_token {
    enum token_kind kind;
    struct ast_pos at;
    struct ast_pos end;    /* behind the last character */
    bool line_before;      /* a line break since the token before (also before the first token) */
    bool blank_before;
    bool is_unsigned;      /* INT from 2^63 up */
    uint32_t base_length;  /* PATH: bytes before the first `·` */
    struct ast_text raw;   /* as written */
    struct ast_text text;  /* canonical name or path, value of a string */
    uint64_t bits;         /* INT */
    double real;           /* FLOAT */
};

struct scan {
    struct ast_arena *arena;
    struct diag_list *diags;
    const char *source;
    uint32_t length;
    uint32_t at;
    uint32_t line;
    uint32_t line_start;   /* offset of the line's first byte */
    uint32_t continued;    /* UTF-8 continuation bytes since line_start: column = at - line_start - continued + 1 */
    uint32_t last_end;     /* offset behind the token before */
    enum token_kind last_kind;
    bool quiet;            /* no reports: the parser is skipping text */
    bool cut_short;        /* a string or comment ran to the end of the file, which was reported */
    bool out_of_memory;
    struct ast_comment *comments;
    uint32_t comment_count;
    uint32_t comment_room;
};

/* Starts at the beginning of source; everything the tokens refer to lives in source or arena. */
void scan_start(struct scan *scan, struct ast_arena *arena, struct diag_list *diags, struct ast_text source);
/* The next token; END for ever at the end. */
void scan_next(struct scan *scan, struct scan_token *token);

const char *scan_kind_text(enum token_kind kind);
bool scan_kind_is_keyword(enum token_kind kind);
/* The infix operator a token stands for, or AST_OP_COUNT. */
enum ast_op scan_kind_op(enum token_kind kind);

/* Between scan.c and scan_literal.c. */
struct ast_pos scan_here(const struct scan *scan);
void scan_step(struct scan *scan);               /* over one code point, line breaks included */
void scan_report(struct scan *scan, struct ast_pos at, const char *format, ...) DIAG_PRINTF(3, 4);
bool scan_name_at(const struct scan *scan, uint32_t at, bool first); /* a name goes on (or begins) at this offset */
void scan_number(struct scan *scan, struct scan_token *token);
void scan_string(struct scan *scan, struct scan_token *token);
/* Whether r"…" or r#"…"# begins here; then scan_raw_string reads it. */
bool scan_at_raw_string(const struct scan *scan);
void scan_raw_string(struct scan *scan, struct scan_token *token);

#endif
