/* The syntax tree of one source file: what the parser produces, and what check, lower, emit, dump and format read.
 * Relies on nothing but the C standard headers. Every node and text lives in one arena (ast_arena) and dies with it.
 * Promise: a node knows where it stands (byte offset, line, column in code points, and its end); texts are UTF-8,
 * canonical (aliases are gone: `.` is `·`, `*` is `×`, `null` is None …) and NOT zero-terminated.
 * Long chains are flat on purpose: `a + b - c + …` is one CHAIN, `a·b[i]·c…` one ACCESS, `else if …` one IF, so
 * that a recursive walk is never deeper than AST_MAX_NESTING times a small constant. */
#ifndef LAYOUT_AST_H
#define LAYOUT_AST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Brackets of every kind, blocks, libs, prefix operators, and operators inside looser ones may nest so deep, all of them
 * counted together; beyond is a SyntaxError. A recursive walk at this depth should fit in a stack of 1 MiB. */
#define AST_MAX_NESTING 1000

/* A place in the source. line and column count from 1, column in code points (a tab is one); line 0: no place. */
struct ast_pos {
    uint32_t offset;
    uint32_t line;
    uint32_t column;
};

struct ast_text {
    const char *at;
    uint32_t length;
};

enum ast_kind {
#define KIND(name, text) AST_##name,
#include "layout/ast_kinds.def"
#undef KIND
    AST_KIND_COUNT
};

enum ast_op {
#define OP(name, text, alias, level, opcode) AST_OP_##name,
#include "layout/ast_ops.def"
#undef OP
    AST_OP_COUNT
};

struct ast_op_row {
    const char *text;   /* canonical spelling */
    const char *alias;  /* other spelling or "" */
    int level;          /* 10 … 100, tightest last */
    const char *opcode; /* name of the native */
};

/* The row of an infix operator; op must be < AST_OP_COUNT. */
const struct ast_op_row *ast_op_row(enum ast_op op);

enum ast_prefix { AST_PREFIX_PLUS, AST_PREFIX_MINUS, AST_PREFIX_NOT, AST_PREFIX_ROOT, AST_PREFIX_ADDRESS, AST_PREFIX_DEREF };
/* "+" "-" "!" "√" "&" "*" */
const char *ast_prefix_text(enum ast_prefix prefix);

struct ast_node;

struct ast_nodes {
    struct ast_node **at;
    uint32_t count;
};

/* A type as text in canonical form, without blanks: `[]char/utf8·int64`, `int64|float64`, `[?,.]float32`, `*Point`.
 * The parser has checked its form (language.md §3), not its names. text.length 0: no type was written. */
struct ast_type {
    struct ast_pos at;
    struct ast_text text;
};

struct ast_param {
    struct ast_pos at;
    struct ast_text name;
    struct ast_type type; /* without the `...` */
    bool variadic;        /* only the last read parameter; checked by the parser */
};

struct ast_params {
    struct ast_param *at;
    uint32_t count;
    struct ast_pos open;  /* the ( */
    struct ast_pos close; /* the ) */
};

/* `name:type = value` of a struct declaration; value NULL: no default (None until written). */
struct ast_field {
    struct ast_pos at;
    struct ast_text name;
    struct ast_type type;
    struct ast_node *value;
};

enum ast_step_kind {
    AST_STEP_MEMBER, /* ·name          name            */
    AST_STEP_KEY,    /* ·*k            args[0] (a NAME) */
    AST_STEP_TUPLE,  /* ·[1,2]         args, at least 1 */
    AST_STEP_INDEX   /* [i,j]          args, at least 1 */
};

struct ast_step {
    enum ast_step_kind kind;
    struct ast_pos at; /* of the name, the `*` or the `[` */
    uint32_t end;      /* byte offset behind the step */
    uint32_t end_line;
    struct ast_text name;
    struct ast_nodes args;
};

/* `key=value` or `value` of a map or struct literal. key NULL: positional ({v0, v1}: keys 0…n-1).
 * A bare-name key is an AST_STRING holding the name with raw.length 0 and `bare` set; other keys are an INT, BOOL,
 * STRING or an ARRAY of literals (tuple key). In a struct literal every key is bare. */
struct ast_entry {
    struct ast_node *key;
    struct ast_node *value;
};

struct ast_block {
    struct ast_nodes body;
    struct ast_pos open;  /* the { */
    struct ast_pos close; /* the } */
};

struct ast_arm {
    struct ast_pos at;           /* the `if` (of `else if` too) */
    struct ast_node *condition;  /* NULL in the last arm: else */
    struct ast_block block;
};

struct ast_node {
    uint8_t kind;         /* enum ast_kind */
    bool parenthesised;   /* stood in (…); only format cares */
    struct ast_pos at;    /* first character, of a CHAIN or ACCESS too (its leftmost operand) */
    uint32_t end;         /* byte offset behind the last character */
    uint32_t end_line;
    union {
        struct { bool value; } boolean;

        /* INT: bits of an int64, or of a uint64 where is_unsigned (written as 2^63 … 2^64-1). A minus directly before
         * a number belongs to the literal: -9223372036854775808 is an int64. raw: the digits as written, without the
         * minus; length 0 where the node was not parsed (dump): format then prints the value. */
        struct { uint64_t bits; bool is_unsigned; bool negative; struct ast_text raw; } integer;
        struct { double value; bool negative; struct ast_text raw; } real; /* value includes the sign */

        /* STRING: value is the text meant, UTF-8, may hold zero bytes. raw: as written with its quotes, or length 0. */
        struct { struct ast_text value; struct ast_text raw; bool bare; } string;

        /* NAME: an identifier, or a package-qualified `a/b` (only the base of an ACCESS; a checked error elsewhere). */
        struct { struct ast_text text; } name;

        /* PATH: canonical, `/lib/math·Pi`; base_length: bytes before the first `·` (or all of it). */
        struct { struct ast_text text; uint32_t base_length; } path;

        /* ACCESS: base followed by one or more steps. `pkg·name` without (…) is an ACCESS of the NAME pkg. */
        struct { struct ast_node *base; struct ast_step *steps; uint32_t count; } access;

        /* CALL: callee is `f`, `pkg·f`, `a/b·f`, `char/utf8`, or `/lib/pkg·f`; member_at: byte offset in callee behind its
         * last `·`, 0 without one. */
        struct { struct ast_text callee; uint32_t member_at; struct ast_nodes args; } call;

        struct { uint8_t op; /* enum ast_prefix */ struct ast_node *operand; } prefix;

        /* CHAIN: operands[0] ops[0] operands[1] ops[1] …, all of one level, evaluated from the left; count >= 2 operands. */
        struct { struct ast_node **operands; uint8_t *ops; /* enum ast_op */ struct ast_pos *op_at; uint32_t count; } chain;

        struct { struct ast_nodes elements; } array;   /* [a, b]; may be empty */
        struct { struct ast_node *value; } fill;        /* [v...] */
        struct { struct ast_entry *entries; uint32_t count; } map;   /* all with key or all without */
        struct { struct ast_text name; uint32_t member_at; struct ast_entry *entries; uint32_t count; } struct_literal;

        /* WRITE: value goes to slots, left to right. right: written with `->` (else one slot before `=`).
         * A slot is a NAME, PATH, ACCESS, PREFIX DEREF or DISCARD; types[i].text.length > 0 annotates slot i (a NAME).
         * A CALL value with several slots maps write parameters, or fans out where it has one. */
        struct { struct ast_node *value; struct ast_nodes slots; struct ast_type *types; bool right; } write;

        struct { struct ast_node *value; } run; /* an expression as instruction, mostly a CALL */
        struct { struct ast_arm *arms; uint32_t count; } if_else;
        struct { struct ast_node *condition; struct ast_block block; } while_loop;

        /* FOR: `for (key, value in walked)`; key.length 0 in the one-name form. Either may be `_`. range(…) is a CALL. */
        struct {
            struct ast_text key, value;
            struct ast_pos key_at, value_at;
            struct ast_node *walked;
            struct ast_block block;
        } for_loop;

        /* FUNCTION and RWIR (block empty, name may be qualified: `a/b·op`). source: text from the doc comment to the end. */
        struct {
            struct ast_text name;
            struct ast_pos name_at;
            struct ast_params reads, writes;
            bool writes_written; /* `-> (…)` stands in the source, if only as `-> ()` */
            struct ast_block block;
            struct ast_text doc; /* comment above, markers removed, lines joined by \n; or length 0 */
            struct ast_text source;
        } function;

        struct {
            struct ast_text name;
            struct ast_pos name_at;
            struct ast_field *fields;
            uint32_t count;
            struct ast_pos open, close;
            struct ast_text doc;
            struct ast_text source;
        } structure;

        /* LIB: name as written, may be `a/b`; items in source order. */
        struct {
            struct ast_text name;
            struct ast_pos name_at;
            struct ast_block block;
            struct ast_text doc;
        } lib;
    } as;
};

struct ast_comment {
    struct ast_pos at;
    uint32_t end;
    uint32_t end_line;
    bool block;    /* a block comment, else # or // to the end of the line */
    bool own_line; /* nothing but blanks before it on its line */
};

/* A pair of parentheses around an expression, for format; where several surround the same one, the outermost. */
struct ast_paren {
    struct ast_pos open;
    struct ast_pos close;
};

/* Memory of one or more trees: blocks from malloc, freed together. Zero is a valid empty arena. */
struct ast_arena {
    struct ast_arena_block *blocks;
    size_t used_bytes;
    size_t limit_bytes; /* 0: none; else allocation fails beyond */
};

struct ast_file {
    struct ast_text name;   /* as given by the caller */
    struct ast_text source; /* the arena's own copy, without BOM; offsets count from here */
    struct ast_nodes items;
    struct ast_comment *comments; /* in source order */
    uint32_t comment_count;
    struct ast_paren *parens;     /* in source order, one for each node that is `parenthesised` */
    uint32_t paren_count;
    uint32_t line_count;
};

/* `bytes` bytes, zeroed, aligned for any object; NULL when memory or the arena's limit ends. */
void *ast_alloc(struct ast_arena *arena, size_t bytes);
/* A copy of text in the arena; length 0 and at "" when memory ends and text was not empty. */
struct ast_text ast_copy(struct ast_arena *arena, struct ast_text text);
/* A zeroed node of this kind; NULL when memory ends. Only the part of the union that the kind uses is there (a CHAIN takes
 * 56 bytes, a FUNCTION 160), so a node is never copied by value, and a NAME alone may be turned into a STRING in place. */
struct ast_node *ast_node(struct ast_arena *arena, enum ast_kind kind);
/* Frees everything; the arena is empty afterwards and may be used again. */
void ast_arena_free(struct ast_arena *arena);

const char *ast_kind_text(enum ast_kind kind);
struct ast_text ast_text_of(const char *zero_terminated);
bool ast_text_equal(struct ast_text a, struct ast_text b);
bool ast_text_is(struct ast_text a, const char *zero_terminated);

/* The text before / behind the last `·` of a callee or struct name: package (length 0 without one) and plain name. */
struct ast_text ast_package_part(struct ast_text name, uint32_t member_at);
struct ast_text ast_name_part(struct ast_text name, uint32_t member_at);

/* Whether two trees mean the same: kinds, texts and values, order and grouping; places and comments are ignored. */
bool ast_equal(const struct ast_file *a, const struct ast_file *b);

#endif
