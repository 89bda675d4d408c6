/* Expressions: precedence climbing over ast_ops.def, prefixes, member and index steps, calls, literals of every form.
 * Relies on parse.c. A chain of operators of one level is one node, so is a chain of steps: no recursion along them.
 * Promise: consumes at least one token or reports; recursion is bounded by parse_enter. */
#include <string.h>
#include "layout/parse.h"

static struct ast_node *error_node(struct parse *parse) {
    return parse_node(parse, AST_ERROR, parse->token.at);
}

/* ---- infix operators ---- */

/* The level of the infix operator at the token, 0 where there is none (or it belongs to the next line). */
static int infix_level(const struct parse *parse) {
    if (parse->panic || parse_ended(parse)) return 0;
    enum ast_op op = scan_kind_op(parse->token.kind);
    return op == AST_OP_COUNT ? 0 : ast_op_row(op)->level;
}

static void push_op(struct parse *parse) {
    struct parse_op *ops = parse_grow(parse, parse->ops, parse->ops_used, 1, &parse->ops_room, sizeof *ops);
    if (ops) {
        parse->ops = ops;
        ops[parse->ops_used++] = (struct parse_op){scan_kind_op(parse->token.kind), parse->token.at};
    }
    parse_advance(parse);
}

/* Builds the CHAIN of the operands and operators pushed since the marks. */
static struct ast_node *chain_of(struct parse *parse, uint32_t mark, uint32_t op_mark) {
    struct ast_nodes operands = parse_pop(parse, mark);
    uint32_t count = operands.count, op_count = parse->ops_used - op_mark;
    parse->ops_used = op_mark;
    if (parse->out_of_memory || count < 2 || op_count != count - 1) return error_node(parse);
    struct ast_node *chain = parse_node(parse, AST_CHAIN, operands.at[0]->at);
    uint8_t *ops = parse_alloc(parse, op_count);
    struct ast_pos *op_at = parse_alloc(parse, op_count * sizeof *op_at);
    if (parse->out_of_memory) return error_node(parse);
    for (uint32_t i = 0; i < op_count; i++) {
        ops[i] = (uint8_t)parse->ops[op_mark + i].op;
        op_at[i] = parse->ops[op_mark + i].at;
    }
    chain->as.chain.operands = operands.at;
    chain->as.chain.ops = ops;
    chain->as.chain.op_at = op_at;
    chain->as.chain.count = count;
    return parse_end(parse, chain);
}

/* Goes on behind `left` with operators of at least `least`. Recurses only to a tighter level, and counts that as nesting,
 * which it is in the tree. */
static struct ast_node *climb(struct parse *parse, struct ast_node *left, int least) {
    for (;;) {
        int level = infix_level(parse);
        if (level == 0 || level < least) return left;
        if (left->kind == AST_DISCARD) parse_error(parse, left->at, "_ discards a result: it cannot be read");
        uint32_t mark = parse->stack_used, op_mark = parse->ops_used;
        parse_push(parse, left);
        do {
            push_op(parse);
            struct ast_node *right = parse_prefixed(parse);
            if (infix_level(parse) > level) {
                if (parse_enter(parse, parse->token.at)) right = climb(parse, right, level + 1);
                parse_leave(parse);
            }
            parse_push(parse, right);
        } while (infix_level(parse) == level);
        left = chain_of(parse, mark, op_mark);
    }
}

struct ast_node *parse_expression(struct parse *parse) {
    if (!parse_enter(parse, parse->token.at)) {
        parse_leave(parse);
        return error_node(parse);
    }
    struct ast_node *node = climb(parse, parse_prefixed(parse), 1);
    parse_leave(parse);
    return node;
}

/* ---- lists in brackets ---- */

/* Expressions up to `close`, separated by commas, one more allowed at the end. The opening bracket has been read. */
static struct ast_nodes parse_list(struct parse *parse, enum token_kind close, struct ast_pos open) {
    uint32_t mark = parse->stack_used;
    while (!parse->panic && parse->token.kind != close) {
        parse_push(parse, parse_expression(parse));
        if (!parse_accept(parse, TOKEN_COMMA)) break;
    }
    parse_close(parse, close, open);
    return parse_pop(parse, mark);
}

static struct ast_pos open_bracket(struct parse *parse) {
    struct ast_pos open = parse->token.at;
    parse->brackets++;
    parse->open_brackets++;
    parse_advance(parse);
    return open;
}

/* ---- map and struct literals ---- */

/* Turns an expression before `=` into a key; reports what cannot be one. */
static struct ast_node *key_of(struct parse *parse, struct ast_node *node, bool named) {
    if (node->kind == AST_NAME && !node->parenthesised) {
        struct ast_text name = node->as.name.text;
        node->kind = AST_STRING;
        node->as.string.value = name;
        node->as.string.raw = (struct ast_text){"", 0};
        node->as.string.bare = true;
        return node;
    }
    if (named) {
        parse_error(parse, node->at, "a field is set by its name, as in {x=1.0}");
        return node;
    }
    bool literal = node->kind == AST_STRING || node->kind == AST_INT || node->kind == AST_BOOL;
    if (node->kind == AST_ARRAY) {
        literal = node->as.array.elements.count > 0;
        for (uint32_t i = 0; i < node->as.array.elements.count; i++) {
            uint8_t kind = node->as.array.elements.at[i]->kind;
            if (kind != AST_INT && kind != AST_BOOL && kind != AST_FLOAT) literal = false;
        }
    }
    if (!literal && node->kind != AST_ERROR) parse_error(parse, node->at, "a key in { } is a name or a literal: write other keys with m[k] = v");
    return node;
}

static void entry_separator(struct parse *parse) {
    enum token_kind kind = parse->token.kind;
    if (parse->panic || kind == TOKEN_CLOSE_BRACE || kind == TOKEN_END) return;
    if (kind == TOKEN_SEMICOLON || kind == TOKEN_COMMA) parse_advance(parse);
    else if (kind == TOKEN_COLON) parse_error(parse, parse->token.at, "a key and its value are joined by =, as in {k=1}");
    else if (!parse->token.line_before) parse_expected(parse, "; or }");
}

struct entries {
    struct ast_pos open;
    bool named;      /* a struct literal */
    bool positional; /* the first entry had no key */
    uint32_t count;
};

/* One entry, pushed as key and value. */
static void parse_entry(struct parse *parse, struct entries *entries) {
    bool margin = parse->token.line_before && parse->token.at.column <= parse->stmt_at.column;
    struct ast_pos at = parse->token.at;
    parse->token.line_before = false;
    if (margin && scan_kind_is_keyword(parse->token.kind) && (parse->token.kind < TOKEN_TRUE)) {
        parse_error(parse, entries->open, "this { is never closed");
        return;
    }
    struct ast_node *key = NULL, *value = parse_expression(parse);
    if (!parse->panic && !parse_ended(parse) && parse->token.kind == TOKEN_ASSIGN) {
        key = key_of(parse, value, entries->named);
        if (!parse->panic) parse_advance(parse);
        value = parse_expression(parse);
    }
    if (entries->count == 0) entries->positional = !key;
    bool fits = entries->named ? key != NULL : entries->positional == !key;
    if (!fits && margin) parse_error(parse, entries->open, "this { is never closed");
    else if (!fits && entries->named) parse_error(parse, at, "a field is set by its name, as in {x=1.0}");
    else if (!fits) parse_error(parse, at, "entries with a key and entries without cannot stand in one { }");
    entries->count++;
    parse_push(parse, key);
    parse_push(parse, value);
}

/* At the `{`. Reads `{ … }` into entries; line breaks count as `;` inside. */
void parse_entries(struct parse *parse, struct ast_node *node, struct ast_entry **out, uint32_t *count, bool named) {
    struct entries entries = {.open = parse->token.at, .named = named};
    uint32_t brackets = parse->brackets, mark = parse->stack_used;
    bool no_struct = parse->no_struct;
    parse->brackets = 0;
    parse->no_struct = false;
    parse->open_braces++;
    parse_advance(parse);
    while (!parse->panic && parse->token.kind != TOKEN_CLOSE_BRACE && parse->token.kind != TOKEN_END) {
        parse_entry(parse, &entries);
        entry_separator(parse);
    }
    if (!parse->panic && parse->token.kind == TOKEN_END) parse_error(parse, entries.open, "this { is never closed");
    parse_accept(parse, TOKEN_CLOSE_BRACE);
    parse->open_braces--;
    parse->brackets = brackets;
    parse->no_struct = no_struct;
    struct ast_nodes parts = parse_pop(parse, mark);
    struct ast_entry *list = parts.count ? parse_alloc(parse, parts.count / 2 * sizeof *list) : NULL;
    *out = list;
    *count = list ? parts.count / 2 : 0;
    for (uint32_t i = 0; i < *count; i++) list[i] = (struct ast_entry){parts.at[2 * i], parts.at[2 * i + 1]};
    parse_end(parse, node);
}

static struct ast_node *parse_map(struct parse *parse) {
    struct ast_node *node = parse_node(parse, AST_MAP, parse->token.at);
    if (node->kind == AST_MAP) parse_entries(parse, node, &node->as.map.entries, &node->as.map.count, false);
    return node;
}

/* ---- array and fill literals ---- */

static void check_elements(struct parse *parse, struct ast_nodes elements) {
    for (uint32_t i = 0; i < elements.count; i++) {
        if (elements.at[i]->kind != AST_STRING) continue;
        parse_report(parse, elements.at[i]->at, "strings cannot stand in [ ], which holds elements of one fixed width: write {\"a\", \"b\"}, a map");
        return;
    }
}

static struct ast_node *parse_array(struct parse *parse) {
    struct ast_pos at = open_bracket(parse);
    struct ast_node *node = parse_node(parse, AST_ARRAY, at);
    uint32_t mark = parse->stack_used;
    while (!parse->panic && parse->token.kind != TOKEN_CLOSE_BRACKET) {
        struct ast_node *element = parse_expression(parse);
        if (!parse->panic && parse->token.kind == TOKEN_ELLIPSIS && parse->stack_used == mark) {
            parse_advance(parse);
            node->kind = AST_FILL;
            node->as.fill.value = element;
            break;
        }
        parse_push(parse, element);
        if (!parse_accept(parse, TOKEN_COMMA)) break;
    }
    if (parse->token.kind == TOKEN_ELLIPSIS) parse_error(parse, parse->token.at, "a fill literal holds one value, as in [0...]");
    struct ast_nodes elements = parse_pop(parse, mark);
    if (node->kind == AST_ARRAY) {
        node->as.array.elements = elements;
        check_elements(parse, elements);
    } else if (node->kind == AST_FILL) {
        check_elements(parse, (struct ast_nodes){&node->as.fill.value, 1});
    }
    parse_close(parse, TOKEN_CLOSE_BRACKET, at);
    return parse_end(parse, node);
}

/* ---- primaries ---- */

static struct ast_node *parse_group(struct parse *parse) {
    bool no_struct = parse->no_struct;
    parse->no_struct = false;
    struct ast_pos open = open_bracket(parse);
    uint32_t mine = parse->parens_used;
    struct ast_paren *parens = parse_grow(parse, parse->parens, mine, 1, &parse->parens_room, sizeof *parens);
    if (parens) {
        parse->parens = parens;
        parens[parse->parens_used++] = (struct ast_paren){open, {0, 0, 0}};
    }
    struct ast_node *node = parse->token.kind == TOKEN_CLOSE_PAREN ? error_node(parse) : NULL;
    if (node) parse_error(parse, parse->token.at, "expected a value between ( and )");
    else node = parse_expression(parse);
    if (parens) parse->parens[mine].close = parse->token.at;
    if (parens && node->parenthesised && mine + 1 < parse->parens_used) parse->parens[mine + 1].close.line = 0; /* ((x)) is (x) */
    parse_close(parse, TOKEN_CLOSE_PAREN, open);
    parse->no_struct = no_struct;
    node->parenthesised = true;
    return node;
}

/* `_` is read nowhere; it may only be all of a write slot (allowed). */
static struct ast_node *parse_name(struct parse *parse, bool allowed) {
    struct ast_text text = parse->token.text;
    bool discard = text.length == 1 && text.at[0] == '_';
    struct ast_node *node = parse_node(parse, discard ? AST_DISCARD : AST_NAME, parse->token.at);
    if (discard && !allowed) parse_error(parse, parse->token.at, "_ discards a result: it cannot be read");
    node->as.name.text = text;
    if (!parse->panic) parse_advance(parse);
    return parse_end(parse, node);
}

static struct ast_node *parse_number(struct parse *parse, struct ast_pos at, bool negative) {
    const struct scan_token *token = &parse->token;
    struct ast_node *node = parse_node(parse, token->kind == TOKEN_INT ? AST_INT : AST_FLOAT, at);
    if (node->kind == AST_FLOAT) {
        node->as.real.value = negative ? -token->real : token->real;
        node->as.real.negative = negative;
        node->as.real.raw = token->raw;
    } else if (node->kind == AST_INT) {
        if (negative && token->bits > (uint64_t)INT64_MAX + 1)
            parse_report(parse, at, "this integer is smaller than -9223372036854775808, the smallest of int64");
        node->as.integer.bits = negative ? 0 - token->bits : token->bits;
        node->as.integer.is_unsigned = token->is_unsigned && !negative;
        node->as.integer.negative = negative;
        node->as.integer.raw = token->raw;
    }
    parse_advance(parse);
    return parse_end(parse, node);
}

static struct ast_node *parse_word(struct parse *parse, enum ast_kind kind) {
    struct ast_node *node = parse_node(parse, kind, parse->token.at);
    if (kind == AST_BOOL) node->as.boolean.value = parse->token.kind == TOKEN_TRUE;
    parse_advance(parse);
    return parse_end(parse, node);
}

static struct ast_node *parse_primary(struct parse *parse) {
    bool allow_discard = parse->allow_discard;
    parse->allow_discard = false;
    if (parse_ended(parse)) {
        parse_expected(parse, "a value");
        return error_node(parse);
    }
    struct ast_node *node;
    switch (parse->token.kind) {
    case TOKEN_IDENTIFIER:
        return parse_name(parse, allow_discard);
    case TOKEN_PATH:
        node = parse_node(parse, AST_PATH, parse->token.at);
        node->as.path.text = parse->token.text;
        node->as.path.base_length = parse->token.base_length;
        break;
    case TOKEN_STRING:
        node = parse_node(parse, AST_STRING, parse->token.at);
        node->as.string.value = parse->token.text;
        node->as.string.raw = parse->token.raw;
        break;
    case TOKEN_INT:
    case TOKEN_FLOAT:
        return parse_number(parse, parse->token.at, false);
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        return parse_word(parse, AST_BOOL);
    case TOKEN_NONE:
    case TOKEN_NULL:
        return parse_word(parse, AST_NONE);
    case TOKEN_OPEN_PAREN:
        return parse_group(parse);
    case TOKEN_OPEN_BRACKET:
        return parse_array(parse);
    case TOKEN_OPEN_BRACE:
        return parse_map(parse);
    case TOKEN_ASSIGN:
        if (parse->last_end.offset == parse->token.at.offset) {
            parse_error(parse, parse->token.at, "no operator computes and writes at once: write x + 1 -> x");
            return error_node(parse);
        }
        parse_expected(parse, "a value");
        return error_node(parse);
    default:
        parse_expected(parse, "a value");
        return error_node(parse);
    }
    parse_advance(parse);
    return parse_end(parse, node);
}

/* ---- steps and calls ---- */

/* What has been read of `base·a[i]…`: the steps wait in parse->steps, from mark on, until it is clear what they belong to. */
struct postfix {
    struct ast_node *base;
    uint32_t mark;
};

static uint32_t step_count(const struct parse *parse, const struct postfix *postfix) {
    return parse->steps_used - postfix->mark;
}

/* `name` with the plain members of steps [0, count) joined on: `/a·b·c`. Sets *member_at behind the last `·`. */
static struct ast_text join_members(struct parse *parse, struct ast_text name, const struct ast_step *steps, uint32_t count, uint32_t *member_at) {
    uint32_t length = name.length;
    for (uint32_t i = 0; i < count; i++) length += 2 + steps[i].name.length;
    char *at = parse_alloc(parse, length);
    if (!at) return name;
    memcpy(at, name.at, name.length);
    uint32_t used = name.length;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(at + used, "\xC2\xB7", 2);
        *member_at = used += 2;
        if (steps[i].name.length) memcpy(at + used, steps[i].name.at, steps[i].name.length);
        used += steps[i].name.length;
    }
    return (struct ast_text){at, length};
}

static uint32_t plain_members(const struct ast_step *steps, uint32_t count) {
    uint32_t plain = 0;
    while (plain < count && steps[plain].kind == AST_STEP_MEMBER) plain++;
    return plain;
}

static struct ast_node *access_of(struct parse *parse, const struct postfix *postfix) {
    uint32_t count = step_count(parse, postfix), member_at;
    struct ast_node *base = postfix->base;
    if (count == 0) return base;
    const struct ast_step *steps = &parse->steps[postfix->mark];
    parse->steps_used = postfix->mark;
    if (base->kind == AST_PATH && !base->parenthesised) { /* `/a ·b`, with a blank, is the path /a·b too */
        uint32_t plain = plain_members(steps, count);
        if (plain) base->as.path.text = join_members(parse, base->as.path.text, steps, plain, &member_at);
        if (plain) base->end = steps[plain - 1].end, base->end_line = steps[plain - 1].end_line;
        steps += plain;
        count -= plain;
    }
    if (count == 0) return base;
    struct ast_node *node = parse_node(parse, AST_ACCESS, base->at);
    struct ast_step *copy = parse_alloc(parse, count * sizeof *copy);
    if (!copy || node->kind == AST_ERROR) return node;
    memcpy(copy, steps, count * sizeof *copy);
    node->as.access.base = base;
    node->as.access.steps = copy;
    node->as.access.count = count;
    return parse_end(parse, node);
}

static void push_step(struct parse *parse, struct ast_step step) {
    step.end = parse->last_end.offset;
    step.end_line = parse->last_end.line;
    struct ast_step *steps = parse_grow(parse, parse->steps, parse->steps_used, 1, &parse->steps_room, sizeof *steps);
    if (!steps) return;
    parse->steps = steps;
    steps[parse->steps_used++] = step;
}

static void parse_key_step(struct parse *parse, struct ast_step *step) {
    step->kind = AST_STEP_KEY;
    parse_advance(parse);
    if (parse->token.kind != TOKEN_IDENTIFIER || memchr(parse->token.text.at, '/', parse->token.text.length)) {
        parse_expected(parse, "a name behind ·*, which holds the key");
        return;
    }
    uint32_t mark = parse->stack_used;
    parse_push(parse, parse_name(parse, false));
    step->args = parse_pop(parse, mark);
}

static void parse_bracket_step(struct parse *parse, struct ast_step *step, enum ast_step_kind kind) {
    bool no_struct = parse->no_struct;
    parse->no_struct = false;
    step->kind = kind;
    struct ast_pos open = open_bracket(parse);
    if (parse->token.kind == TOKEN_CLOSE_BRACKET) parse_error(parse, parse->token.at, "expected %s between [ and ]", kind == AST_STEP_INDEX ? "an index" : "a key");
    uint32_t mark = parse->stack_used;
    while (!parse->panic && parse->token.kind != TOKEN_CLOSE_BRACKET) {
        parse_push(parse, parse_expression(parse));
        if (!parse->panic && parse->token.kind == TOKEN_COLON)
            parse_error(parse, parse->token.at, "there are no slices in [ ]: use array·slice or string·slice");
        if (!parse_accept(parse, TOKEN_COMMA)) break;
    }
    parse_close(parse, TOKEN_CLOSE_BRACKET, open);
    step->args = parse_pop(parse, mark);
    parse->no_struct = no_struct;
}

static void parse_member_name(struct parse *parse, struct ast_step *step) {
    const struct scan_token *token = &parse->token;
    if (token->kind == TOKEN_IDENTIFIER) {
        const char *slash = memchr(token->text.at, '/', token->text.length);
        if (slash) parse_error(parse, token->at, "the name of a member cannot contain /: a division needs white space on both sides of it");
        step->kind = AST_STEP_MEMBER;
        step->name = token->text;
        if (!parse->panic) parse_advance(parse);
    } else if (scan_kind_is_keyword(token->kind)) {
        parse_error(parse, token->at, "%s is a keyword: write [\"%s\"] for a member of this name", scan_kind_text(token->kind), scan_kind_text(token->kind));
    } else if (token->kind == TOKEN_INT || token->kind == TOKEN_STRING) {
        parse_error(parse, token->at, "a member has a name: write [%.*s] for this key", (int)(token->raw.length > 30 ? 30 : token->raw.length), token->raw.at);
    } else {
        parse_expected(parse, "the name of a member, * or [");
    }
}

static void parse_member_step(struct parse *parse) {
    parse_advance(parse);
    struct ast_step step = {.at = parse->token.at};
    if (parse->token.line_before && parse->brackets == 0) parse_expected(parse, "the name of a member, * or [");
    else if (parse->token.kind == TOKEN_STAR) parse_key_step(parse, &step);
    else if (parse->token.kind == TOKEN_OPEN_BRACKET) parse_bracket_step(parse, &step, AST_STEP_TUPLE);
    else parse_member_name(parse, &step);
    push_step(parse, step);
}

/* The name that `(` or `{` behind the postfix would apply to: `f`, `pkg·f`, `/lib/pkg·f`. False where it is none. */
static bool callee_of(struct parse *parse, const struct postfix *postfix, struct ast_text *name, uint32_t *member_at) {
    const struct ast_node *base = postfix->base;
    uint32_t count = step_count(parse, postfix);
    const struct ast_step *steps = count ? &parse->steps[postfix->mark] : NULL;
    *member_at = 0;
    if (base->parenthesised || plain_members(steps, count) < count) return false;
    if (base->kind == AST_NAME && count <= 1) {
        *name = base->as.name.text;
    } else if (base->kind == AST_PATH) {
        *name = base->as.path.text;
        for (uint32_t i = name->length; i > 1 && !*member_at; i--)
            if (name->at[i - 2] == '\xC2' && name->at[i - 1] == '\xB7') *member_at = i;
    } else {
        return false;
    }
    if (count) *name = join_members(parse, *name, steps, count, member_at);
    return true;
}

static void parse_call(struct parse *parse, struct postfix *postfix) {
    struct ast_text callee;
    uint32_t member_at;
    if (!callee_of(parse, postfix, &callee, &member_at)) {
        if (postfix->base->kind != AST_ERROR) parse_error(parse, parse->token.at, "only a function can be called, by its name: f(…), pkg·f(…) or /lib/pkg·f(…)");
        return;
    }
    bool no_struct = parse->no_struct;
    parse->no_struct = false;
    parse->steps_used = postfix->mark;
    struct ast_node *node = parse_node(parse, AST_CALL, postfix->base->at);
    struct ast_pos open = open_bracket(parse);
    struct ast_nodes args = parse_list(parse, TOKEN_CLOSE_PAREN, open);
    if (node->kind == AST_CALL) {
        node->as.call.callee = callee;
        node->as.call.member_at = member_at;
        node->as.call.args = args;
    }
    postfix->base = parse_end(parse, node);
    parse->no_struct = no_struct;
}

/* At `{` behind a name: whether a struct literal begins, that is `{}` or `{name=`. Looks ahead on a copy of the scanner. */
static bool at_struct_literal(const struct parse *parse, const struct postfix *postfix) {
    if (parse->no_struct || parse->token.line_before || postfix->base->parenthesised) return false;
    if (postfix->base->kind != AST_NAME && postfix->base->kind != AST_PATH) return false;
    struct scan ahead = parse->scan;
    struct ast_arena nothing = {.limit_bytes = 1};
    struct scan_token token;
    ahead.quiet = true;
    ahead.comment_count = 0;
    ahead.comment_room = 0;
    ahead.arena = &nothing;
    scan_next(&ahead, &token);
    if (token.kind == TOKEN_CLOSE_BRACE) return true;
    if (token.kind != TOKEN_IDENTIFIER) return false;
    scan_next(&ahead, &token);
    return token.kind == TOKEN_ASSIGN;
}

static void parse_struct_literal(struct parse *parse, struct postfix *postfix) {
    struct ast_text name;
    uint32_t member_at;
    struct ast_node *node = parse_node(parse, AST_STRUCT_LITERAL, postfix->base->at);
    if (!callee_of(parse, postfix, &name, &member_at)) {
        parse_error(parse, parse->token.at, "expected the name of a struct before {");
        return;
    }
    parse->steps_used = postfix->mark;
    if (node->kind == AST_STRUCT_LITERAL) {
        node->as.struct_literal.name = name;
        node->as.struct_literal.member_at = member_at;
        parse_entries(parse, node, &node->as.struct_literal.entries, &node->as.struct_literal.count, true);
    }
    postfix->base = node;
}

/* A package-qualified name means something only before `·` or `(`; `_` has neither members nor elements. */
static void check_base(struct parse *parse, const struct postfix *postfix) {
    const struct ast_node *base = postfix->base;
    bool stepped = step_count(parse, postfix) > 0;
    if (base->kind == AST_DISCARD && stepped) parse_error(parse, base->at, "_ discards a result: it has no members or elements");
    if (base->kind != AST_NAME || !memchr(base->as.name.text.at, '/', base->as.name.text.length)) return;
    if (stepped && parse->steps[postfix->mark].kind == AST_STEP_MEMBER) return;
    struct ast_text name = base->as.name.text;
    parse_error(parse, base->at, "%.*s names a package, not a value: a division needs white space on both sides of /",
                (int)(name.length > 60 ? 60 : name.length), name.at);
}

static struct ast_node *parse_postfix(struct parse *parse) {
    struct postfix postfix = {.mark = parse->steps_used};
    postfix.base = parse_primary(parse);
    while (!parse->panic && (parse->brackets > 0 || !parse->token.line_before)) {
        enum token_kind kind = parse->token.kind;
        if (kind == TOKEN_MEMBER) {
            parse_member_step(parse);
        } else if (kind == TOKEN_OPEN_BRACKET) {
            struct ast_step step = {.at = parse->token.at};
            parse_bracket_step(parse, &step, AST_STEP_INDEX);
            push_step(parse, step);
        } else if (kind == TOKEN_OPEN_PAREN) {
            parse_call(parse, &postfix);
        } else if (kind == TOKEN_OPEN_BRACE && at_struct_literal(parse, &postfix)) {
            parse_struct_literal(parse, &postfix);
        } else {
            break;
        }
    }
    if (!parse->panic) check_base(parse, &postfix);
    return access_of(parse, &postfix);
}

/* ---- prefix operators ---- */

static int prefix_of(enum token_kind kind) {
    switch (kind) {
    case TOKEN_PLUS:
        return AST_PREFIX_PLUS;
    case TOKEN_MINUS:
        return AST_PREFIX_MINUS;
    case TOKEN_NOT:
        return AST_PREFIX_NOT;
    case TOKEN_ROOT:
        return AST_PREFIX_ROOT;
    case TOKEN_AMPERSAND:
        return AST_PREFIX_ADDRESS;
    case TOKEN_STAR:
        return AST_PREFIX_DEREF;
    default:
        return -1;
    }
}

static bool is_place(const struct ast_node *node) {
    if (node->kind == AST_ACCESS) node = node->as.access.base;
    return node->kind == AST_NAME || node->kind == AST_PATH || (node->kind == AST_PREFIX && node->as.prefix.op == AST_PREFIX_DEREF);
}

struct ast_node *parse_prefixed(struct parse *parse) {
    int prefix = parse_ended(parse) ? -1 : prefix_of(parse->token.kind);
    if (prefix < 0) return parse_postfix(parse);
    struct ast_pos at = parse->token.at;
    parse_advance(parse);
    bool number = parse->token.kind == TOKEN_INT || parse->token.kind == TOKEN_FLOAT;
    if (prefix == AST_PREFIX_MINUS && number && !parse_ended(parse)) return parse_number(parse, at, true);
    struct ast_node *node = parse_node(parse, AST_PREFIX, at);
    parse->allow_discard = false;
    struct ast_node *operand = parse_enter(parse, at) ? parse_prefixed(parse) : error_node(parse);
    parse_leave(parse);
    if (node->kind != AST_PREFIX) return node;
    node->as.prefix.op = (uint8_t)prefix;
    node->as.prefix.operand = operand;
    if (prefix == AST_PREFIX_ADDRESS && !is_place(operand))
        parse_error(parse, operand->at, "& takes the address of a name, a path, a member or an element");
    return parse_end(parse, node);
}

/* ---- write slots ---- */

bool parse_check_slot(struct parse *parse, struct ast_node *node) {
    if (parse->panic || node->kind == AST_ERROR) return false;
    if (node->kind == AST_DISCARD) return true;
    if (node->parenthesised) {
        parse_error(parse, node->at, "a write slot stands without parentheses");
        return false;
    }
    if (is_place(node)) return true;
    switch (node->kind) {
    case AST_NONE:
    case AST_BOOL:
    case AST_INT:
    case AST_FLOAT:
    case AST_STRING:
    case AST_ARRAY:
    case AST_FILL:
    case AST_MAP:
    case AST_STRUCT_LITERAL:
        parse_error(parse, node->at, "a literal cannot be written to: a write slot is a name, a path, a member, an element or *p");
        break;
    case AST_CALL:
        parse_error(parse, node->at, "a call cannot be written to: a write slot is a name, a path, a member, an element or *p");
        break;
    default:
        parse_error(parse, node->at, "an expression cannot be written to: a write slot is a name, a path, a member, an element or *p");
    }
    return false;
}
