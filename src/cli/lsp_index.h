/* What a document says: its tree, its diagnostics, and a table of the names in it: where each stands and what it means.
 * Relies on layout's parse.h, lower.h and scope.h. Everything lives in one arena and dies with the index.
 * Promise: made of any text, broken ones too (then of what could be read); marks are in the order of the text and do not
 * overlap; recursion is bounded by AST_MAX_NESTING. Offsets are bytes of the document, a byte order mark included. */
#ifndef CLI_LSP_INDEX_H
#define CLI_LSP_INDEX_H

#include "layout/ast.h"
#include "layout/diag.h"
#include "layout/scope.h"
#include "std/opcode_tree.h"

/* A name that a function reads or writes. */
struct lsp_local {
    struct ast_text name;
    struct lsp_local *next;  /* of the body, in order of appearance */
    struct lsp_local *chain; /* in the table of all */
    const struct lsp_body *body;
    struct ast_text type;  /* declared or guessed; length 0: not known */
    uint32_t from, to;     /* where it is declared, or first written */
    enum lsp_local_kind { LSP_READ_PARAM, LSP_WRITE_PARAM, LSP_LOOP_NAME, LSP_NAME } kind;
    bool declared;         /* the type was written, not guessed */
    bool variadic;
};

/* A function, or the bare instructions of a lib or the file. */
struct lsp_body {
    struct lsp_body *next;
    const struct ast_node *node; /* the FUNCTION; NULL: bare instructions */
    struct ast_text package;
    uint32_t from, to;           /* of the function */
    struct lsp_local *locals, *last;
};

/* A lib's { }: what stands in it and in no function belongs to the bare instructions of its package. */
struct lsp_lib {
    struct lsp_lib *next;
    struct ast_text package;
    uint32_t from, to;
};

enum lsp_mark_kind {
    LSP_MARK_CALL,   /* name: the callee as written */
    LSP_MARK_NAME,   /* a local of body, or a constant of its lib */
    LSP_MARK_STRUCT, /* name: a struct as written */
    LSP_MARK_FIELD,  /* of the struct `owner` */
    LSP_MARK_HEAD    /* the name in a declaration: node */
};

struct lsp_mark {
    uint32_t from, to;
    enum lsp_mark_kind kind;
    struct ast_text name;
    uint32_t member_at;       /* CALL, STRUCT: as in the tree */
    struct lsp_body *body;    /* CALL, NAME, STRUCT */
    struct ast_text package;  /* where it is written */
    struct symbol *owner;     /* FIELD */
    const struct ast_node *node; /* HEAD */
};

struct lsp_index {
    struct ast_arena arena;
    struct ast_file file;
    struct diag_list diags;    /* what the document's author is to see */
    struct diag_list unwanted; /* what resolving names again reports */
    struct scope scope;
    struct lsp_mark *marks;
    uint32_t mark_count, mark_room;
    struct lsp_body *bodies;
    struct lsp_lib *libs;      /* inner ones before their parents */
    struct lsp_local **table;  /* by body and name; room is a power of two */
    uint32_t table_room, local_count;
    uint32_t shift;            /* bytes of the byte order mark, 0 or 3 */
    bool out_of_memory;
};

/* Reads a document. The tree stays borrowed until the index is freed. False: no memory. */
bool lsp_index_make(struct lsp_index *index, const char *text, size_t length, const struct layout_tree *tree);
void lsp_index_free(struct lsp_index *index);

/* The mark at an offset, or that ends there; NULL for none. */
const struct lsp_mark *lsp_index_mark(const struct lsp_index *index, uint32_t offset);
/* The package around an offset, and the body around it (NULL where nothing was written there yet). */
struct ast_text lsp_index_package(const struct lsp_index *index, uint32_t offset);
struct lsp_body *lsp_index_body(const struct lsp_index *index, uint32_t offset);
struct lsp_local *lsp_index_local(const struct lsp_index *index, const struct lsp_body *body, struct ast_text name);
/* The struct that a type (`Point`, `*a·Point`) names, written in a package; NULL where it names none. */
struct symbol *lsp_index_struct(struct lsp_index *index, struct ast_text package, struct ast_text type);
/* The type of a field as it is written; length 0 where there is none. */
struct ast_text lsp_index_field(struct lsp_index *index, struct symbol *structure, struct ast_text name);
/* What an expression is likely to be; length 0: not known. */
struct ast_text lsp_index_guess(struct lsp_index *index, const struct lsp_body *body, const struct ast_node *node);
/* The type of result `number` of a call that has `count` of them; length 0: not known. */
struct ast_text lsp_index_result(struct lsp_index *index, const struct lsp_body *body, const struct ast_node *node, uint32_t number, uint32_t count);

/* ---- between lsp_index.c and lsp_walk.c ---- */

void lsp_walk_file(struct lsp_index *index);
struct lsp_local *lsp_index_add_local(struct lsp_index *index, struct lsp_body *body, struct ast_text name, enum lsp_local_kind kind, uint32_t from, uint32_t to);
void lsp_index_add_mark(struct lsp_index *index, struct lsp_mark mark);

#endif
