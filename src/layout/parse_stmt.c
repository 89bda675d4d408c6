/* Statements: writes to the left and right, instructions, control flow, blocks and the bodies that hold them.
 * Relies on parse_expr.c and parse_type.c, and on parse.c for recovery. Indentation only guides error reports.
 * Promise: every broken statement costs one report; a brace that is never closed is reported where it opens. */
#include <string.h>
#include "layout/parse.h"

/* ---- writes and instructions ---- */

/* `:type` behind a slot, if it is there. */
static struct ast_type slot_type(struct parse *parse, const struct ast_node *slot) {
    struct ast_type none = {.text = {"", 0}};
    if (parse->panic || parse_ended(parse) || parse->token.kind != TOKEN_COLON) return none;
    if (slot->kind != AST_NAME || slot->parenthesised) {
        parse_error(parse, parse->token.at, "only a name can be annotated with a type");
        return none;
    }
    parse_advance(parse);
    return parse_type(parse);
}

static struct ast_node *write_node(struct parse *parse, struct ast_node *value, uint32_t mark, bool right) {
    struct ast_nodes parts = parse_pop(parse, mark); /* slot, type, slot, type … */
    struct ast_node *node = parse_node(parse, AST_WRITE, value->at);
    uint32_t count = parts.count / 2;
    struct ast_node **slots = parse_alloc(parse, count * sizeof *slots);
    struct ast_type *types = parse_alloc(parse, count * sizeof *types);
    if (parse->out_of_memory) return parse_node(parse, AST_ERROR, value->at);
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = parts.at[2 * i];
        memcpy(&types[i], (void *)parts.at[2 * i + 1], sizeof *types);
    }
    node->as.write.value = value;
    node->as.write.slots = (struct ast_nodes){slots, count};
    node->as.write.types = types;
    node->as.write.right = right;
    if (!right) node->at = slots[0]->at;
    return parse_end(parse, node);
}

static void push_slot(struct parse *parse, struct ast_node *slot, struct ast_type type) {
    struct ast_type *copy = parse_alloc(parse, sizeof *copy);
    if (!copy) return;
    *copy = type;
    parse_push(parse, slot);
    parse_push(parse, copy);
}

/* Behind `slot [: type] =`. */
static struct ast_node *parse_left_write(struct parse *parse, struct ast_node *slot, struct ast_type type) {
    uint32_t mark = parse->stack_used;
    parse_check_slot(parse, slot);
    if (!parse->panic) parse_advance(parse);
    struct ast_node *value = parse_expression(parse);
    if (!parse->panic && !parse_ended(parse)) {
        if (parse->token.kind == TOKEN_ARROW) parse_error(parse, parse->token.at, "an instruction writes to the left or to the right, not both");
        if (parse->token.kind == TOKEN_ASSIGN) parse_error(parse, parse->token.at, "= is not an expression: one value goes to several slots with -> a, b");
        if (parse->token.kind == TOKEN_COMMA) parse_error(parse, parse->token.at, "one value stands right of =: write an array [a, b] or a map {a, b}");
    }
    push_slot(parse, slot, type);
    return write_node(parse, value, mark, false);
}

/* At `->`. */
static struct ast_node *parse_right_write(struct parse *parse, struct ast_node *value) {
    uint32_t mark = parse->stack_used;
    do {
        parse_advance(parse);
        parse->allow_discard = true;
        struct ast_node *slot = parse_prefixed(parse);
        parse->allow_discard = false;
        parse_check_slot(parse, slot);
        struct ast_type type = slot_type(parse, slot);
        push_slot(parse, slot, type);
    } while (!parse->panic && !parse_ended(parse) && parse->token.kind == TOKEN_COMMA);
    if (!parse->panic && !parse_ended(parse)) {
        if (parse->token.kind == TOKEN_ARROW) parse_error(parse, parse->token.at, "one -> an instruction: a value goes to several slots with -> a, b");
        if (parse->token.kind == TOKEN_ASSIGN) parse_error(parse, parse->token.at, "an instruction writes to the left or to the right, not both");
    }
    return write_node(parse, value, mark, true);
}

static struct ast_node *parse_instruction(struct parse *parse) {
    parse->allow_discard = true;
    struct ast_node *first = parse_expression(parse);
    parse->allow_discard = false;
    struct ast_type type = slot_type(parse, first);
    bool ended = parse->panic || parse_ended(parse);
    if (!ended && parse->token.kind == TOKEN_ASSIGN) return parse_left_write(parse, first, type);
    if (!parse->panic && type.text.length) parse_expected(parse, "= and a value behind the type");
    if (first->kind == AST_DISCARD) parse_error(parse, first->at, "_ discards a result: it cannot be read");
    if (!ended && parse->token.kind == TOKEN_ARROW) return parse_right_write(parse, first);
    if (!ended && parse->token.kind == TOKEN_COMMA) parse_error(parse, parse->token.at, "several slots stand on the right: f(…) -> q, r");
    struct ast_node *node = parse_node(parse, AST_RUN, first->at);
    node->as.run.value = first;
    return parse_end(parse, node);
}

/* ---- control flow ---- */

void parse_skip_to_brace(struct parse *parse) {
    if (!parse->panic) return;
    parse->scan.quiet = true;
    while (!parse->token.line_before && parse->token.kind != TOKEN_OPEN_BRACE && parse->token.kind != TOKEN_SEMICOLON &&
           parse->token.kind != TOKEN_CLOSE_BRACE && parse->token.kind != TOKEN_END)
        parse_advance(parse);
    parse->scan.quiet = false;
    if (parse->token.kind == TOKEN_OPEN_BRACE && !parse->token.line_before) parse_calm(parse);
}

/* `( … )` of if and while; a condition without its parentheses is reported and read all the same. */
static struct ast_node *parse_condition(struct parse *parse, const char *keyword) {
    struct ast_node *condition;
    if (parse->token.kind == TOKEN_OPEN_PAREN && !parse_ended(parse)) {
        struct ast_pos open = parse->token.at;
        parse->brackets++;
        parse->open_brackets++;
        parse_advance(parse);
        condition = parse_expression(parse);
        parse_close(parse, TOKEN_CLOSE_PAREN, open);
        if (!parse->panic && !parse_ended(parse) && scan_kind_op(parse->token.kind) != AST_OP_COUNT)
            parse_error(parse, parse->token.at, "the whole condition stands in parentheses: %s (… %s …) {", keyword, scan_kind_text(parse->token.kind));
    } else {
        if (!parse_ended(parse)) parse_report(parse, parse->token.at, "the condition stands in parentheses: %s (…) {", keyword);
        parse->no_struct = true;
        condition = parse_expression(parse);
        parse->no_struct = false;
        if (!parse->panic && parse->token.kind == TOKEN_ASSIGN) parse_error(parse, parse->token.at, "= writes and is no operator: == compares");
    }
    parse_skip_to_brace(parse);
    return condition;
}

static struct ast_node *parse_if(struct parse *parse) {
    struct ast_node *node = parse_node(parse, AST_IF, parse->token.at);
    uint32_t mark = parse->stack_used, indent = parse->token.at.column;
    bool more = true;
    while (more && !parse->panic) {
        struct ast_arm *arm = parse_alloc(parse, sizeof *arm);
        if (!arm) break;
        arm->at = parse->token.at;
        more = parse_accept(parse, TOKEN_IF);
        if (more) arm->condition = parse_condition(parse, "if");
        parse_block(parse, &arm->block, indent, false);
        parse_push(parse, arm);
        more = more && parse_accept(parse, TOKEN_ELSE);
    }
    struct ast_nodes arms = parse_pop(parse, mark);
    struct ast_arm *list = parse_alloc(parse, arms.count * sizeof *list);
    if (!list || node->kind == AST_ERROR) return node;
    for (uint32_t i = 0; i < arms.count; i++) memcpy(&list[i], (void *)arms.at[i], sizeof *list);
    node->as.if_else.arms = list;
    node->as.if_else.count = arms.count;
    return parse_end(parse, node);
}

static struct ast_node *parse_while(struct parse *parse) {
    struct ast_node *node = parse_node(parse, AST_WHILE, parse->token.at);
    uint32_t indent = parse->token.at.column;
    parse_advance(parse);
    struct ast_node *condition = parse_condition(parse, "while");
    struct ast_block block = {.open = {0, 0, 0}};
    parse->loops++;
    parse_block(parse, &block, indent, false);
    parse->loops--;
    if (node->kind == AST_ERROR) return node;
    node->as.while_loop.condition = condition;
    node->as.while_loop.block = block;
    return parse_end(parse, node);
}

static void parse_loop_name(struct parse *parse, struct ast_text *name, struct ast_pos *at) {
    *at = parse->token.at;
    *name = parse->token.text;
    if (parse->token.kind != TOKEN_IDENTIFIER || parse_ended(parse)) parse_expected(parse, "the name of a loop variable");
    else if (memchr(name->at, '/', name->length)) parse_error(parse, *at, "a loop variable is a plain name");
    else parse_advance(parse);
}

/* `k, v in e` between the parentheses of for. */
static void parse_for_head(struct parse *parse, struct ast_node *node) {
    struct ast_text key = {"", 0}, value;
    struct ast_pos key_at = {0, 0, 0}, value_at;
    parse_loop_name(parse, &value, &value_at);
    if (parse_accept(parse, TOKEN_COMMA)) {
        key = value;
        key_at = value_at;
        parse_loop_name(parse, &value, &value_at);
    }
    if (!parse->panic && parse->token.kind == TOKEN_ASSIGN) parse_error(parse, parse->token.at, "a for loop walks: for (x in xs) or for (i in range(0, n))");
    else if (parse->token.kind == TOKEN_COMMA) parse_error(parse, parse->token.at, "a for loop has one name or two: for (x in xs), for (k, v in m)");
    else if (parse->token.kind != TOKEN_IN) parse_expected(parse, "in");
    parse_accept(parse, TOKEN_IN);
    struct ast_node *walked = parse_expression(parse);
    if (node->kind == AST_ERROR) return;
    node->as.for_loop.key = key;
    node->as.for_loop.value = value;
    node->as.for_loop.key_at = key_at;
    node->as.for_loop.value_at = value_at;
    node->as.for_loop.walked = walked;
}

static struct ast_node *parse_for(struct parse *parse) {
    struct ast_node *node = parse_node(parse, AST_FOR, parse->token.at);
    uint32_t indent = parse->token.at.column;
    parse_advance(parse);
    if (parse->token.kind == TOKEN_OPEN_PAREN && !parse_ended(parse)) {
        struct ast_pos open = parse->token.at;
        parse->brackets++;
        parse->open_brackets++;
        parse_advance(parse);
        parse_for_head(parse, node);
        parse_close(parse, TOKEN_CLOSE_PAREN, open);
    } else {
        if (!parse_ended(parse)) parse_report(parse, parse->token.at, "the head of a for loop stands in parentheses: for (x in xs) {");
        parse->no_struct = true;
        parse_for_head(parse, node);
        parse->no_struct = false;
    }
    parse_skip_to_brace(parse);
    struct ast_block block = {.open = {0, 0, 0}};
    parse->loops++;
    parse_block(parse, &block, indent, false);
    parse->loops--;
    if (node->kind == AST_FOR) node->as.for_loop.block = block;
    return parse_end(parse, node);
}

static struct ast_node *parse_jump(struct parse *parse, enum ast_kind kind) {
    struct ast_node *node = parse_node(parse, kind, parse->token.at);
    if (kind != AST_RETURN && parse->loops == 0) parse_report(parse, parse->token.at, "%s stands outside of a loop", ast_kind_text(kind));
    parse_advance(parse);
    if (kind == AST_RETURN && !parse_ended(parse)) parse_error(parse, parse->token.at, "return carries no value: write it to a write parameter first");
    return parse_end(parse, node);
}

struct ast_node *parse_statement(struct parse *parse) {
    switch (parse->token.kind) {
    case TOKEN_IF:
        return parse_if(parse);
    case TOKEN_WHILE:
        return parse_while(parse);
    case TOKEN_FOR:
        return parse_for(parse);
    case TOKEN_BREAK:
        return parse_jump(parse, AST_BREAK);
    case TOKEN_CONTINUE:
        return parse_jump(parse, AST_CONTINUE);
    case TOKEN_RETURN:
        return parse_jump(parse, AST_RETURN);
    case TOKEN_ELSE:
        parse_error(parse, parse->token.at, "this else has no if before it");
        return parse_node(parse, AST_ERROR, parse->token.at);
    default:
        return parse_instruction(parse);
    }
}

/* ---- blocks and bodies ---- */

static void report_unclosed(struct parse *parse, struct ast_pos open) {
    if (parse->scan.cut_short || parse->out_of_memory || !diag_has_room(parse->diags)) return;
    diag_error(parse->diags, DIAG_SYNTAX, open, "this { is never closed");
}

/* The brace to blame: for the outermost of a function the one whose `}` stood too far left, if there was one. */
static struct ast_pos blamed(const struct parse *parse, const struct parse_brace *brace) {
    bool outermost = !brace->outer || brace->outer->is_lib;
    return outermost && !brace->is_lib && parse->suspect.line ? parse->suspect : brace->open;
}

/* A declaration inside a function. At the function's margin or left of it, a brace was forgotten: all braces up to the
 * lib or file are given up. Deeper, it is meant as written, which is an error of its own. */
static bool leaves_function(struct parse *parse, const struct parse_brace *brace) {
    const struct parse_brace *outermost = brace;
    while (outermost->outer && !outermost->outer->is_lib) outermost = outermost->outer;
    if (!parse->token.line_before || parse->token.at.column > outermost->indent) return false;
    for (; brace && !brace->is_lib; brace = brace->outer) report_unclosed(parse, blamed(parse, brace));
    parse->unwinding = true;
    return true;
}

static void parse_misplaced(struct parse *parse) {
    parse_report(parse, parse->token.at, "%s stands at the top level of a file or lib, not inside of a block", scan_kind_text(parse->token.kind));
    uint32_t loops = parse->loops;
    parse_declaration(parse);
    parse->loops = loops;
}

/* One item or statement, pushed. */
static void parse_one(struct parse *parse, bool items) {
    parse->stmt_at = parse->token.at;
    if (parse_at_declaration(parse)) {
        if (items) {
            parse->suspect.line = 0;
            parse_push(parse, parse_declaration(parse));
        } else {
            parse_misplaced(parse);
        }
    } else {
        parse->token.line_before = false;
        parse_push(parse, parse_statement(parse));
    }
}

static void end_statement(struct parse *parse) {
    if (!parse->panic && !parse->unwinding && !parse_ended(parse)) parse_expected(parse, "the end of the statement");
    if (parse->panic) parse_recover(parse);
}

/* A body without its { ends where the indentation does. */
static bool leaves_assumed(const struct parse *parse, const struct parse_brace *brace) {
    return brace && brace->assumed && parse->token.line_before && parse->token.at.column <= brace->indent;
}

struct ast_nodes parse_body(struct parse *parse, struct parse_brace *brace) {
    bool items = !brace || brace->is_lib;
    uint32_t mark = parse->stack_used;
    for (;;) {
        if (items && parse->unwinding) {
            parse->unwinding = false;
            parse_calm(parse);
        }
        while (!parse->panic && parse->token.kind == TOKEN_SEMICOLON) parse_advance(parse);
        if (parse->unwinding || parse->token.kind == TOKEN_END || leaves_assumed(parse, brace)) break;
        if (parse->token.kind == TOKEN_CLOSE_BRACE) {
            if (brace) break;
            parse->stmt_at = parse->token.at;
            parse_error(parse, parse->token.at, "this } closes nothing");
            parse_recover(parse);
            continue;
        }
        if (!items && parse_at_declaration(parse) && leaves_function(parse, brace)) break;
        struct ast_pos at = parse->token.at;
        parse_one(parse, items);
        parse->stmt_at = at; /* blocks inside have set their own */
        end_statement(parse);
    }
    return parse_pop(parse, mark);
}

static void close_block(struct parse *parse, struct ast_block *block, const struct parse_brace *brace) {
    block->close = parse->token.at;
    if (parse->unwinding) return;
    if (brace->assumed) {
        if (parse->token.kind == TOKEN_CLOSE_BRACE && parse->token.at.column == brace->indent) parse_advance(parse);
        return;
    }
    if (parse->token.kind != TOKEN_CLOSE_BRACE) {
        report_unclosed(parse, blamed(parse, brace));
        return;
    }
    bool too_far_left = parse->token.line_before && parse->token.at.column < brace->indent;
    if (too_far_left && brace->outer && !brace->is_lib && parse->suspect.line == 0) parse->suspect = brace->open;
    parse_advance(parse);
}

/* At the `{`, or behind a broken head at lines that are indented as its body. False: there is no body to read. */
static bool open_block(struct parse *parse, struct parse_brace *brace) {
    if (!parse->panic && parse->token.kind == TOKEN_OPEN_BRACE) {
        parse_advance(parse);
        return true;
    }
    if (!parse->panic) parse_expected(parse, "{");
    parse_skip_to_brace(parse);
    if (!parse->panic && parse->token.kind == TOKEN_OPEN_BRACE) {
        parse_advance(parse);
        return true;
    }
    if (!parse->token.line_before || parse->token.at.column <= brace->indent || parse->token.kind == TOKEN_END) return false;
    parse_calm(parse);
    brace->assumed = true;
    return !parse->panic;
}

void parse_block(struct parse *parse, struct ast_block *block, uint32_t indent, bool is_lib) {
    struct parse_brace brace = {.outer = parse->braces, .open = parse->token.at, .indent = indent, .is_lib = is_lib};
    struct ast_pos stmt_at = parse->stmt_at;
    block->open = brace.open;
    if (parse_enter(parse, brace.open) && open_block(parse, &brace)) {
        parse->braces = &brace;
        block->body = parse_body(parse, &brace);
        close_block(parse, block, &brace);
        parse->braces = brace.outer;
        parse->stmt_at = stmt_at;
    } else if (parse->depth > AST_MAX_NESTING) {
        parse->scan.cut_short = true; /* every brace around is open too: one report is enough */
        parse_stop(parse);
    }
    parse_leave(parse);
}
