/* The parser: a file's text to its tree, with every syntax error it holds (at most DIAG_MAX_ERRORS).
 * Relies on scan.h for tokens, ast.h for nodes, diag.h for reports. Recursive descent; operators by precedence climbing over
 * ast_ops.def. Nesting is counted (AST_MAX_NESTING), long chains and lists are loops, so the C stack is bounded.
 * Promise: always ends, in linear time; with diagnostics, or with a tree that holds no AST_ERROR.
 *
 * The parser reports what can be seen without knowing names and types: the form of everything, write slots, strings in [ ],
 * `=` in conditions, break outside a loop, several slots left of `=`, a variadic parameter that is not the last.
 * Left to the checker: names, types, arity, duplicate parameters, read-only parameters, defaults of fields. */
#ifndef LAYOUT_PARSE_H
#define LAYOUT_PARSE_H
#include "layout/ast.h"
#include "layout/diag.h"
#include "layout/scan.h"

enum parse_rc { PARSE_OK = 0, PARSE_REJECTED = 1, PARSE_NO_MEMORY = 2 };

/* Parses `source` (any bytes; copied) of the file called `name`. Returns PARSE_OK and the tree in *file; PARSE_REJECTED
 * with errors in diags (*file then holds what could be read: source, comments, items without meaning);
 * or PARSE_NO_MEMORY. Everything lives in arena. */
int parse_file(struct ast_arena *arena, struct diag_list *diags, struct ast_text name, const char *source, size_t length,
               struct ast_file *file);

/* ---- what follows is shared by parse.c, parse_expr.c, parse_type.c, parse_stmt.c and parse_decl.c alone ---- */

/* An open { } of statements or items: where it began, for reports of braces that are never closed. */
struct parse_brace {
    struct parse_brace *outer;
    struct ast_pos open;
    uint32_t indent; /* column of the first token of what the brace belongs to */
    bool is_lib;
    bool assumed; /* there is no {: its line is broken, but the lines behind it are indented as a body */
};

struct parse_op {
    enum ast_op op;
    struct ast_pos at;
};

struct parse {
    struct ast_arena *arena;
    struct diag_list *diags;
    struct scan scan;
    struct scan_token token;    /* the one token of lookahead */
    struct ast_pos last_end;    /* behind the token before */
    struct ast_pos stmt_at;     /* first token of the statement being read: recovery compares columns with it */
    uint32_t margin;            /* column of the first token on the token's line */
    bool panic;                 /* an error was reported in this statement: say nothing until recovery */
    bool allow_discard;         /* the next primary may be `_`: it is a write slot, or may become one */
    bool no_struct;             /* `name {` is no struct literal: a condition without its parentheses */
    uint32_t brackets;          /* open ( and [ around: line breaks do not count */
    uint32_t open_brackets;     /* all ( and [ of the statement, across literals in { } */
    uint32_t open_braces;       /* { of map and struct literals in the statement */
    uint32_t panic_brackets;    /* both as they were at the error */
    uint32_t panic_braces;
    uint32_t depth;             /* nesting of anything */
    uint32_t loops;             /* while and for around */
    uint32_t functions;         /* 1 inside a function */
    struct parse_brace *braces; /* innermost first */
    bool unwinding;             /* an unclosed brace was found: every body ends, up to the lib or file */
    struct ast_pos suspect;     /* a { whose } seems to be missing, by indentation; line 0: none */
    void **stack;               /* children of unfinished nodes; this and the next three are grown by parse_grow */
    uint32_t stack_used, stack_room;
    struct ast_step *steps;     /* steps of unfinished ACCESS nodes */
    uint32_t steps_used, steps_room;
    struct parse_op *ops;       /* operators of unfinished CHAIN nodes */
    uint32_t ops_used, ops_room;
    struct ast_paren *parens;   /* all so far; close.line 0: not one of its own */
    uint32_t parens_used, parens_room;
    char *letters;              /* text of the type being read */
    uint32_t letters_used, letters_room;
    bool out_of_memory;
    struct ast_node spare;      /* stands in for nodes when memory has ended */
};

/* tokens (parse.c) */
void parse_advance(struct parse *parse);
bool parse_ended(const struct parse *parse);       /* the token does not belong to this statement any more */
bool parse_accept(struct parse *parse, enum token_kind kind);
void parse_error(struct parse *parse, struct ast_pos at, const char *format, ...) DIAG_PRINTF(3, 4);  /* and panic */
void parse_report(struct parse *parse, struct ast_pos at, const char *format, ...) DIAG_PRINTF(3, 4); /* and go on */
void parse_expected(struct parse *parse, const char *what);     /* "expected …, found …" at the token */
struct ast_pos parse_found_at(const struct parse *parse);       /* the token, or the end of the line before it */
/* Expects the bracket that closes `open`; with line breaks ignored up to it. */
void parse_close(struct parse *parse, enum token_kind kind, struct ast_pos open);
void parse_recover(struct parse *parse);          /* skips to the next statement; always moves on */
void parse_stop(struct parse *parse);             /* the file ends here */
void parse_calm(struct parse *parse);             /* the error is dealt with: reports count again */
bool parse_enter(struct parse *parse, struct ast_pos at); /* one level deeper; false (and panic) at the limit. Pair with: */
void parse_leave(struct parse *parse);

/* memory (parse.c); parse_node never gives NULL; after a failure the parse ends */
struct ast_node *parse_node(struct parse *parse, enum ast_kind kind, struct ast_pos at);
void *parse_alloc(struct parse *parse, size_t bytes);
/* Makes room in a growing array for `more` items of `size` bytes behind `used`: gives its new place, to be stored in stead of
 * items; NULL when memory ends (items is still there then). */
void *parse_grow(struct parse *parse, void *items, uint32_t used, uint32_t more, uint32_t *room, size_t size);
struct ast_node *parse_end(struct parse *parse, struct ast_node *node); /* the node ends behind the last token */
void parse_push(struct parse *parse, void *item);
struct ast_nodes parse_pop(struct parse *parse, uint32_t mark);          /* the items since mark, in the arena */

/* parse_expr.c */
struct ast_node *parse_expression(struct parse *parse);
struct ast_node *parse_prefixed(struct parse *parse); /* an expression without infix operators */
/* Whether the node may be written to; reports where not. */
bool parse_check_slot(struct parse *parse, struct ast_node *node);
/* At `{`: the entries of a map or (named) struct literal; the node ends behind the `}`. */
void parse_entries(struct parse *parse, struct ast_node *node, struct ast_entry **entries, uint32_t *count, bool named);

/* parse_type.c: behind a `:`; text.length 0 after an error */
struct ast_type parse_type(struct parse *parse);

/* parse_stmt.c */
struct ast_node *parse_statement(struct parse *parse);
/* `{ … }` of statements; of items (declarations too) where is_lib. indent: column of what the block belongs to. */
void parse_block(struct parse *parse, struct ast_block *block, uint32_t indent, bool is_lib);
/* Items or statements up to the `}` of brace, or the end of the file where brace is NULL. */
struct ast_nodes parse_body(struct parse *parse, struct parse_brace *brace);
/* After an error in a header: skips to its `{` on the same line, so that the body is read all the same. */
void parse_skip_to_brace(struct parse *parse);

/* parse_decl.c */
bool parse_at_declaration(const struct parse *parse);
struct ast_node *parse_declaration(struct parse *parse);

#endif
