/* From the tree of a file to rows, with every check that needs names and types on the way.
 * Relies on scope.h for names, fold.h for constants, rows.h for what comes out. One struct lower a function.
 * Promise: recursion is bounded by AST_MAX_NESTING; a unit is only to be used where no error was reported.
 *
 * How it works: survey.c walks a function once for what must be known before (which names are written, annotated, have their
 * address taken, what each loop writes); then one walk emits rows, tracking the type of each name along the flow. Branches go to
 * labels; tidy.c shortens jumps, finds tail calls, drops rows that nothing reaches, and numbers the rest. */
#ifndef LAYOUT_LOWER_H
#define LAYOUT_LOWER_H
#include "layout/scope.h"

/* A name of the function. */
struct local {
    struct ast_text name;
    struct local *next;
    const struct type *declared; /* by its parameter or annotation */
    const struct type *flow;     /* what it holds here; NULL: not known */
    const struct type *all;      /* what every write gives it (infer.c); NULL: not known */
    bool all_open;               /* while that is worked out: no write has been seen */
    struct ast_pos declared_at;
    bool read_param, write_param, variadic;
    bool written;   /* somewhere in the function */
    bool addressed; /* its address is taken somewhere: it may change without being written */
    bool is_read;
    uint32_t stamp;              /* of the branch or merge that saw it last */
    uint32_t merged;             /* branches that left merge_type, while a merge is on */
    const struct type *merge_type;
};

struct trail_entry {
    struct local *local;
    const struct type *before;
};

struct loop_writes {
    uint32_t from, to; /* in lower.written */
};

struct lower_loop {
    struct lower_loop *outer;
    uint32_t on_break, on_continue; /* labels */
    bool broken;                    /* a reachable break leaves it */
};

/* An operand: where it stands, what is known of it. */
struct value {
    struct layout_slot slot;
    const struct type *type;
    uint32_t temp; /* the temporary that it occupies, 0 for none */
    bool literal;  /* written as a literal in the source: it converts */
    bool folded;   /* computed at layout: a constant that does not convert */
};

struct lower {
    struct scope *scope;
    struct ast_arena *arena;
    struct diag_list *diags;
    struct ast_text package;
    struct ast_text shown; /* the function, for messages */
    struct layout_row *rows;
    uint32_t row_count, row_room;
    uint32_t *labels; /* label -> index of a row */
    uint32_t label_count, label_room;
    struct local **table;
    uint32_t table_room, local_count;
    struct local **written; /* each write of a name in source order, by survey */
    uint32_t written_count, written_room;
    struct loop_writes *loops; /* in the order of the source */
    uint32_t loop_count, loop_room, loop_next;
    struct trail_entry *trail;
    uint32_t trail_count, trail_room, stamp;
    struct value *stack; /* operands of rows that are being built */
    uint32_t stack_count, stack_room;
    uint8_t *temps_busy;
    uint32_t temp_room, temp_high;
    struct ast_text *temp_names;
    struct lower_loop *loop;
    struct ast_pos at; /* of the statement or operator whose rows are emitted */
    struct local **params;
    uint32_t reads, writes;
    const struct type **write_types;
    bool reachable;
    bool warned; /* unreachable code was reported in this function */
    bool takes_addresses;
    char blame[320]; /* what an expected type belongs to, for messages: "parameter `a` of `f`" */
    bool out_of_memory;
};

/* The whole file. *unit is valid while the arena lives. Returns 0, LAYOUT_NO_MEMORY, or what the tree gave. */
int lower_file(struct ast_arena *arena, struct diag_list *diags, const struct ast_file *file, const struct layout_tree *tree,
               struct layout_unit *unit);

/* lower.c: rows, labels, temporaries, names */
uint32_t lower_label(struct lower *lower);
void lower_place(struct lower *lower, uint32_t label);
struct layout_slot lower_label_slot(uint32_t label);
void lower_goto(struct lower *lower, uint32_t label);
void lower_branch(struct lower *lower, struct value condition, uint32_t yes, uint32_t no);
struct value lower_temp(struct lower *lower);
/* A place for a result: `into`, or a temporary where that is NULL. */
struct value lower_result(struct lower *lower, const struct layout_slot *into);
void lower_release(struct lower *lower, struct value *value);
void lower_push(struct lower *lower, struct value value);
/* A row whose reads are the operands since mark, which are popped and released; writes are given. */
void lower_row(struct lower *lower, const char *opcode, uint32_t mark, const struct layout_slot *writes, uint32_t write_count);
void lower_row_of(struct lower *lower, struct ast_text opcode, uint32_t mark, const struct layout_slot *writes, uint32_t write_count);
struct local *lower_local(struct lower *lower, struct ast_text name); /* made where it is new */
struct local *lower_known(struct lower *lower, struct ast_text name); /* NULL where the function does not have it */
void lower_set_type(struct lower *lower, struct local *local, const struct type *type);
const struct type *lower_name_type(const struct local *local); /* what can be relied on; NULL where nothing */
void lower_forget_writes(struct lower *lower, const struct loop_writes *loop);
void lower_error(struct lower *lower, struct ast_pos at, enum diag_kind kind, const char *format, ...) DIAG_PRINTF(4, 5);
void *lower_grow(struct lower *lower, void *items, uint32_t used, uint32_t *room, size_t size);

/* Branches of the flow: types as they were at the mark come back, the branch's own are merged in at the end. */
struct flow {
    uint32_t mark;
    struct trail_entry *ends; /* what the branches so far left behind; owned */
    uint32_t end_count, end_room;
    uint32_t branches; /* that reach the end */
};
void lower_flow_begin(struct lower *lower, struct flow *flow);
void lower_flow_branch_done(struct lower *lower, struct flow *flow);
void lower_flow_end(struct lower *lower, struct flow *flow);

/* survey.c */
void lower_survey(struct lower *lower, const struct ast_nodes *body);

/* infer.c */
void lower_infer(struct lower *lower, const struct ast_nodes *body);

/* lower_stmt.c */
void lower_block(struct lower *lower, const struct ast_nodes *body);

/* lower_expr.c. expected: the type that is wanted, for literals (NULL: none). into: where the result must go (NULL: anywhere). */
struct value lower_expression(struct lower *lower, const struct ast_node *node, const struct type *expected, const struct layout_slot *into);
/* Jumps to yes or no. */
void lower_condition(struct lower *lower, const struct ast_node *node, uint32_t yes, uint32_t no, bool yes_follows);
/* A value beside the type that is declared for it: reports where it cannot fit. `blame` of lower says whose type it is. 0: it fits;
 * 1: it must be checked at run time; 2: reported. */
int lower_expect(struct lower *lower, struct ast_pos at, const struct value *value, const struct type *expected);
void lower_blame(struct lower *lower, const char *format, ...) DIAG_PRINTF(2, 3);
/* A constant that is no literal into a temporary, where literals would convert. */
void lower_pin(struct lower *lower, struct value *value);
struct value lower_moved(struct lower *lower, struct value value, const struct layout_slot *into);
/* An operand that later ones might change is copied. later: expressions evaluated after it. */
void lower_settle(struct lower *lower, struct value *value, const struct ast_nodes *later, uint32_t from);
bool lower_may_write(struct lower *lower, const struct ast_node *node);
struct ast_text lower_type_name(const struct type *type); /* for messages */

/* lower_literal.c */
struct value lower_array(struct lower *lower, const struct ast_node *node, const struct type *expected, const struct layout_slot *into);
struct value lower_fill(struct lower *lower, const struct ast_node *node, const struct type *expected, const struct layout_slot *into);
struct value lower_map(struct lower *lower, const struct ast_node *node, const struct type *expected, const struct layout_slot *into);
struct value lower_struct(struct lower *lower, const struct ast_node *node, const struct layout_slot *into);
/* Reports that the struct has no such field, with the nearest one. */
void lower_no_field(struct lower *lower, struct ast_pos at, const struct symbol *symbol, struct ast_text name);
/* A literal as the expected type, where it can be one; reports a number or text that does not fit. */
void lower_convert(struct lower *lower, struct ast_pos at, struct value *value, const struct type *expected);
/* The constant that a default of a field stands for; false and a report where it is none. */
bool lower_default(struct lower *lower, const struct ast_node *node, const struct type *type, struct layout_slot *slot);

/* lower_call.c */
struct value lower_call(struct lower *lower, const struct ast_node *node, const struct layout_slot *into);
/* A call as an instruction: slots NULL and 0 for none. Gives the type of the first argument, NULL where it is not known. */
const struct type *lower_call_row(struct lower *lower, const struct ast_node *node, struct symbol *symbol, const struct layout_slot *slots, uint32_t count);
/* What a call with one result gives, where the first argument is of type first (may be NULL). */
const struct type *lower_result_type(struct lower *lower, const struct symbol *symbol, const struct type *first);
struct symbol *lower_callee(struct lower *lower, const struct ast_node *node); /* reports a NameError */

/* lower_slot.c */
void lower_write(struct lower *lower, const struct ast_node *node);
struct value lower_access(struct lower *lower, const struct ast_node *node, const struct layout_slot *into);
struct value lower_address(struct lower *lower, const struct ast_node *node, const struct layout_slot *into);
/* A value, or a NAME's cell, written: checks the declared type; v is released. */
void lower_assign_name(struct lower *lower, struct local *local, struct ast_pos at, struct value *value);
bool lower_check_writable(struct lower *lower, struct ast_text name, struct ast_pos at, const char *how);
/* The lib constant that a name which is no local means; length 0 for none. */
struct ast_text lower_constant_path(struct lower *lower, struct ast_text name);

/* tidy.c */
void lower_tidy(struct lower *lower, struct layout_item *item);

#endif
