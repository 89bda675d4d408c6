/* What the tables of opcodes provide, as a tree to compile against: checking and completing a source without a space.
 * Relies on layout/scope.h for what a tree answers and on core/call.h for the tables.
 * Promise: a signature reads as it does from /lib once the table is registered there (core/caps.c). */
#ifndef STD_OPCODE_TREE_H
#define STD_OPCODE_TREE_H

#include "core/call.h"
#include "layout/scope.h"

enum { OPCODE_TABLES_MAX = 16 };

struct opcode_table {
    const struct native_row *rows;
    uint32_t count;
};

/* Made by opcode_tree_start; must stay where it is while `tree` is used. */
struct opcode_tree {
    struct opcode_table tables[OPCODE_TABLES_MAX];
    uint32_t count;
    const struct layout_tree *space; /* asked first; NULL: there is none */
    struct layout_tree tree;
};

/* The tables of this runtime: the core's natives and its capabilities. space is borrowed, or NULL. */
void opcode_tree_start(struct opcode_tree *opcodes, const struct layout_tree *space);
/* The row of an opcode (`string·slice`); NULL where no table has it. */
const struct native_row *opcode_tree_row(const struct opcode_tree *opcodes, struct ast_text name);

#endif
