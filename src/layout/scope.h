/* Names beyond a function: what a file declares, what the tree provides, and which of them a written name means.
 * Relies on types.h, on ast.h for the file, and on a struct layout_tree for everything that is laid out already.
 * Promise: one answer a key for the time of a compilation (asked of the tree once, then remembered). */
#ifndef LAYOUT_SCOPE_H
#define LAYOUT_SCOPE_H
#include "layout/diag.h"
#include "layout/rows.h"
#include "layout/types.h"

enum layout_found_kind { FOUND_NOTHING = 0, FOUND_FUNCTION, FOUND_OPCODE, FOUND_STRUCT, FOUND_VALUE };

/* What stands at a key of /lib. Texts live in the arena that was given. */
struct layout_found {
    uint8_t kind; /* enum layout_found_kind */
    bool variadic;
    uint32_t reads, writes; /* of a struct: 0, number of fields */
    struct ast_text *params; /* `name:type`, reads then writes */
    struct ast_text doc;
};

/* The tree that a source is compiled against. Functions give 0, or a negative number that ends the compilation. */
struct layout_tree {
    void *context;
    int (*find)(void *context, struct ast_arena *arena, struct ast_text key, struct layout_found *found);
    /* Everything that the tree has at /lib: calls visit with its key (only valid for the call); for suggestions and completion. */
    int (*each)(void *context, void (*visit)(void *visitor, struct ast_text key, uint8_t kind), void *visitor);
};

struct signature_param {
    struct ast_text name;
    const struct type *type; /* NULL: any, or not known */
};

struct symbol {
    struct ast_text path; /* /lib/pkg·f */
    struct symbol *next;
    const struct ast_node *node; /* its declaration in the file, or NULL */
    struct ast_text package;
    uint8_t kind; /* enum layout_found_kind */
    bool variadic;
    bool from_tree;
    bool tree_opcode; /* an opcode of the tree with the same key, which the file's function hides */
    bool typed;       /* params are there */
    uint32_t reads, writes;
    struct signature_param *params;
    struct ast_text *texts; /* params of the tree, as found */
    uint8_t *field_states;  /* of struct_cycle.c; NULL: not asked yet */
};

struct scope {
    struct ast_arena *arena;
    struct diag_list *diags;
    struct types types;
    const struct layout_tree *tree;
    struct symbol **table;
    uint32_t room, used; /* room is a power of two */
    int failed;          /* first error of the tree, or LAYOUT_NO_MEMORY */
};

bool scope_start(struct scope *scope, struct ast_arena *arena, struct diag_list *diags, const struct layout_tree *tree);
void scope_end(struct scope *scope);
/* Takes up the declarations of the file; reports what is declared twice. */
void scope_declare(struct scope *scope, const struct ast_file *file);

/* What stands at the key `/lib/…`, in the file or in the tree; NULL for nothing. */
struct symbol *scope_find(struct scope *scope, struct ast_text path);
/* `/lib/name`, `/lib/package·name`. */
struct ast_text scope_path(struct scope *scope, struct ast_text package, struct ast_text name);
/* What the callee means when called from package; NULL where nothing provides it. */
struct symbol *scope_callee(struct scope *scope, struct ast_text package, struct ast_text callee, uint32_t member_at);
/* The struct that the name means; NULL where there is none. */
struct symbol *scope_struct(struct scope *scope, struct ast_text package, struct ast_text name, uint32_t member_at);
/* Types of the parameters or fields are worked out at the first use. */
void scope_type_params(struct scope *scope, struct symbol *symbol);
/* The type written in package, names of structs made full; NULL and a report where it is none. */
const struct type *scope_type(struct scope *scope, struct ast_text package, struct ast_type written);
/* Reports defaults of a struct of the file that hold themselves. (struct_cycle.c) */
void scope_check_defaults(struct scope *scope, struct symbol *symbol);
/* Up to three names near to callee, as `a`, `b` or `c`, in out (zero-terminated; "" where nothing is near). */
void scope_nearest(struct scope *scope, struct ast_text package, struct ast_text callee, bool structs, char *out, size_t room);

/* How far from a name of this length another one may be to be suggested. */
unsigned scope_near_limit(struct ast_text name);
/* How far apart two words are, at most `limit` + 1 is told; by code points, a swap of neighbours counts once. */
unsigned scope_distance(struct ast_text a, struct ast_text b, unsigned limit);

/* The name of a symbol as its user writes it: the path without /lib/. */
struct ast_text scope_shown(const struct symbol *symbol);

/* Concatenation in the arena. */
struct ast_text scope_join(struct scope *scope, struct ast_text a, const char *between, struct ast_text b);

#endif
