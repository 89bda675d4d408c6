/* Jumps back to branches and loops (undo.h), by the shapes that the compiler gives them: a test at the end of a loop that is entered there, `next`,
 * conditions as chains of `br`. A jump that fits none of them ends the attempt. */
#include <string.h>
#include "layout/undo.h"

#define TEXT(text) (int)(text).length, (text).at

/* Where a region goes on behind its end, and what break and continue mean in it; 0: nothing. */
struct region {
    uint32_t follow, on_break, on_continue;
};

/* A condition made of rows up to before `behind`. */
struct condition {
    struct undo_expr expr;
    uint32_t yes, no, behind;
};

enum { DEPTH_MOST = 500 };

/* enter: the rows begin with a loop whose test this row is, and the jump to it is missing: whoever comes here jumps there at once. 0: they do not. */
static void rows_in(struct undo *undo, uint32_t from, uint32_t to, struct region region, uint32_t enter);

uint32_t undo_target(const struct undo *undo, const struct layout_slot *slot) {
    bool good = slot->kind == SLOT_SCALAR && slot->value_kind == KIND_INT64 && slot->as.bits >= 1 && slot->as.bits <= undo->item->row_count;
    return good ? (uint32_t)slot->as.bits : 0;
}

static bool control(const struct layout_row *row) {
    return undo_is(row, "br") || undo_is(row, "goto") || undo_is(row, "next") || undo_is(row, "return") || undo_is(row, "tailcall");
}

/* Where a jump to the row ends up; behind the last row is the end of the function. */
static uint32_t final(const struct undo *undo, uint32_t row) {
    for (unsigned hops = 0; row && row <= undo->item->row_count && hops < 64; hops++) {
        const struct layout_row *there = undo_row_at(undo, row);
        if (!undo_is(there, "goto")) break;
        row = undo_target(undo, &there->slots[0]);
    }
    return row;
}

static bool same_place(const struct undo *undo, uint32_t a, uint32_t b) {
    if (!a || !b) return false;
    a = final(undo, a);
    b = final(undo, b);
    if (a == b) return true;
    bool a_returns = a > undo->item->row_count || undo_is(undo_row_at(undo, a), "return");
    bool b_returns = b > undo->item->row_count || undo_is(undo_row_at(undo, b), "return");
    return a_returns && b_returns;
}

/* ---- conditions ---- */

static bool writes_temp(const struct layout_row *row) {
    return row->writes == 1 && undo_is_temp(&row->slots[row->reads]) && !control(row);
}

/* The `br` at or behind `row` with only temporaries in between, below `to`; 0: there is none. */
static uint32_t test_behind(const struct undo *undo, uint32_t row, uint32_t to) {
    while (row < to && writes_temp(undo_row_at(undo, row))) row++;
    return row < to && undo_is(undo_row_at(undo, row), "br") ? row : 0;
}

static struct condition simple(struct undo *undo, uint32_t from, uint32_t test) {
    const struct layout_row *br = undo_row_at(undo, test);
    struct condition condition = {.behind = test + 1};
    for (uint32_t row = from; row < test; row++) undo_row(undo, undo_row_at(undo, row));
    if (br->reads != 3) undo->failed = true;
    if (undo->failed) return condition;
    condition.expr = undo_operand(undo, &br->slots[0]);
    condition.yes = undo_target(undo, &br->slots[1]);
    condition.no = undo_target(undo, &br->slots[2]);
    undo->failed |= !condition.yes || !condition.no;
    return condition;
}

static void combine(struct undo *undo, struct condition *left, const struct condition *right) {
    uint32_t next = left->behind;
    bool yes_goes_on = left->yes == next, and = yes_goes_on ? left->no == right->no : left->yes == right->no;
    struct undo_expr expr = left->expr;
    if (yes_goes_on != and) expr = undo_not(undo, expr);
    left->expr = undo_join(undo, expr, and ? "&&" : "||", and ? 20 : 10, right->expr);
    left->yes = right->yes;
    left->no = right->no;
    left->behind = right->behind;
}

static bool combines(const struct undo *undo, const struct condition *left, const struct condition *right) {
    uint32_t next = left->behind, jumps = (left->yes == next ? 1u : 0u) + (left->no == next ? 1u : 0u), other = left->yes == next ? left->no : left->yes;
    return jumps == 1 && undo->jumped[next] == 1 && (other == right->yes || other == right->no);
}

/* Where the test at `row` goes, without its text; behind 0: it is damaged. */
static struct condition bare(const struct undo *undo, uint32_t row) {
    const struct layout_row *br = undo_row_at(undo, row);
    struct condition condition = {.behind = br->reads == 3 ? row + 1 : 0};
    if (!condition.behind) return condition;
    condition.yes = undo_target(undo, &br->slots[1]);
    condition.no = undo_target(undo, &br->slots[2]);
    return condition;
}

static bool goes_on(const struct undo *undo, const struct condition *condition, uint32_t to) {
    return condition->behind && condition->behind < to && (condition->yes == condition->behind || condition->no == condition->behind) &&
           undo->jumped[condition->behind] == 1;
}

/* The shape of all that belongs to the test at `row`. What comes later is taken in first where it must be: `a && b || c && d`. */
static struct condition shape_at(const struct undo *undo, uint32_t row, uint32_t to, unsigned depth) {
    enum { SHAPE_DEPTH_MOST = 60 };
    struct condition left = bare(undo, row);
    while (depth < SHAPE_DEPTH_MOST && goes_on(undo, &left, to)) {
        uint32_t next = test_behind(undo, left.behind, to);
        if (!next) break;
        struct condition right = bare(undo, next);
        if (!combines(undo, &left, &right)) right = shape_at(undo, next, to, depth + 1);
        if (!right.behind || !combines(undo, &left, &right)) break;
        left.yes = right.yes;
        left.no = right.no;
        left.behind = right.behind;
    }
    return left;
}

/* The same with its text; its rows begin at `begin`. */
static struct condition condition_at(struct undo *undo, uint32_t begin, uint32_t br, uint32_t to) {
    struct condition left = simple(undo, begin, br);
    if (++undo->depth > DEPTH_MOST) undo->failed = true;
    while (!undo->failed && goes_on(undo, &left, to)) {
        uint32_t next = test_behind(undo, left.behind, to);
        if (!next) break;
        struct condition right = bare(undo, next), more = combines(undo, &left, &right) ? right : shape_at(undo, next, to, 0);
        if (!more.behind || !combines(undo, &left, &more)) break;
        right = combines(undo, &left, &right) ? simple(undo, left.behind, next) : condition_at(undo, left.behind, next, to);
        if (!undo->failed) combine(undo, &left, &right);
    }
    undo->depth--;
    return left;
}

/* ---- `a && b` as a value ---- */

/* `set a -> x; br x, …` where the other way leads behind the last write of x: gives the row behind it, 0 where it is none. */
static uint32_t value_end(const struct undo *undo, uint32_t test, uint32_t to) {
    const struct layout_row *br = undo_row_at(undo, test), *before = test > 1 ? undo_row_at(undo, test - 1) : NULL;
    if (br->reads != 3 || !before || control(before) || before->writes != 1 || !rows_slot_equal(&before->slots[before->reads], &br->slots[0])) return 0;
    uint32_t yes = undo_target(undo, &br->slots[1]), no = undo_target(undo, &br->slots[2]), end = yes == test + 1 ? no : yes;
    if ((yes != test + 1 && no != test + 1) || end <= test + 1 || end > to) return 0;
    const struct layout_row *last = undo_row_at(undo, end - 1);
    return !control(last) && last->writes == 1 && rows_slot_equal(&last->slots[last->reads], &br->slots[0]) ? end : 0;
}

/* The value that the rows up to before `to` leave in `place`, which a row at `from` or behind writes first. */
static struct undo_expr value_of(struct undo *undo, uint32_t from, uint32_t to, const struct layout_slot *place);

/* The text of what the row writes, in place of its writing. */
static struct undo_expr written_value(struct undo *undo, const struct layout_row *row) {
    static const char *const again[] = {"and", "or"};
    struct layout_slot *slots = ast_alloc(undo->arena, ((size_t)row->reads + 1) * sizeof *slots);
    struct layout_slot place = rows_name(ast_text_of("‥value"));
    if (!slots) {
        undo->out_of_memory = undo->failed = true;
        return (struct undo_expr){.text = {"", 0}};
    }
    for (uint32_t i = 0; i < row->reads; i++) slots[i] = row->slots[i];
    slots[row->reads] = place;
    for (int i = 0; i < 2; i++) /* `and x, x` only checks x */
        if (undo_is(row, again[i]) && row->reads == 2 && rows_slot_equal(&slots[0], &slots[1])) return undo_operand(undo, &slots[0]);
    struct layout_row other = *row;
    other.slots = slots;
    undo_row(undo, &other);
    return undo->failed ? (struct undo_expr){.text = {"", 0}} : undo_operand(undo, &place);
}

static struct undo_expr value_of(struct undo *undo, uint32_t from, uint32_t to, const struct layout_slot *place) {
    struct undo_expr whole = {.text = {"", 0}};
    const char *sign = "";
    int level = 0;
    if (++undo->depth > DEPTH_MOST) undo->failed = true;
    for (uint32_t row = from; row < to && !undo->failed; row++) {
        const struct layout_row *here = undo_row_at(undo, row);
        bool ours = here->writes == 1 && rows_slot_equal(&here->slots[here->reads], place);
        uint32_t end = row + 1 < to && undo_is(undo_row_at(undo, row + 1), "br") ? value_end(undo, row + 1, to) : 0;
        if (end && end < to && !ours) { /* another value on the way */
            undo_keep(undo, here->slots[here->reads].as.text, value_of(undo, row, end, &here->slots[here->reads]));
            row = end - 1;
            continue;
        }
        if (control(here) || (!ours && !writes_temp(here))) undo->failed = true;
        else if (!ours) undo_row(undo, here);
        else {
            struct undo_expr one = written_value(undo, here);
            if (undo->failed) break;
            whole = whole.text.length ? undo_join(undo, whole, sign, level, one) : one;
            if (row + 1 == to) break;
            const struct layout_row *br = undo_row_at(undo, ++row);
            if (!undo_is(br, "br") || br->reads != 3 || !rows_slot_equal(&br->slots[0], place)) undo->failed = true;
            else {
                bool and = undo_target(undo, &br->slots[1]) == row + 1;
                undo->failed |= undo_target(undo, &br->slots[and ? 2 : 1]) != to;
                sign = and ? "&&" : "||";
                level = and ? 20 : 10;
            }
        }
    }
    undo->depth--;
    return whole;
}

/* ---- statements ---- */

static void say(struct undo *undo, const char *text) {
    undo_indent(undo);
    text_puts(undo->out, text);
    text_puts(undo->out, "\n");
}

static void block(struct undo *undo, const char *head, struct ast_text text, uint32_t from, uint32_t to, struct region region, uint32_t enter) {
    undo_indent(undo);
    text_puts(undo->out, head);
    text_put(undo->out, text.at, text.length);
    text_puts(undo->out, ") {\n");
    undo->indent++;
    if (undo->indent > DEPTH_MOST) undo->failed = true;
    if (!undo->failed) rows_in(undo, from, to, region, enter);
    undo->indent--;
}

/* Whether a jump to `target` enters a loop whose body begins at `body`. */
static bool enters(const struct undo *undo, uint32_t target, uint32_t body, uint32_t to) {
    uint32_t test = target > body && target < to ? test_behind(undo, target, to) : 0;
    if (!test) return false;
    struct condition shape = shape_at(undo, test, to, 0);
    return shape.behind && (shape.yes == body || shape.no == body);
}

/* A jump as a statement; nothing where it only goes to the end of the region. */
static void jump(struct undo *undo, uint32_t target, bool at_end, struct region region) {
    if (at_end && same_place(undo, target, region.follow)) return;
    if (region.on_continue && same_place(undo, target, region.on_continue)) say(undo, "continue");
    else if (region.on_break && same_place(undo, target, region.on_break)) say(undo, "break");
    else if (same_place(undo, target, undo->item->row_count + 1)) say(undo, "return");
    else undo->failed = true;
}

static bool leaves(const struct undo *undo, uint32_t target, struct region region) {
    return same_place(undo, target, region.on_continue) || same_place(undo, target, region.on_break) || same_place(undo, target, undo->item->row_count + 1);
}

/* Both ways are jumps. */
static void two_jumps(struct undo *undo, const struct condition *condition, uint32_t to, struct region region) {
    block(undo, "if (", condition->expr.text, 0, 0, region, 0);
    undo->indent++;
    jump(undo, condition->yes, false, region);
    undo->indent--;
    say(undo, "}");
    jump(undo, condition->no, condition->behind >= to, region);
}

/* `if (!c) { break }` and its kin. */
static void one_jump(struct undo *undo, struct undo_expr expr, uint32_t target, struct region region) {
    if (!leaves(undo, target, region)) undo->failed = true;
    block(undo, "if (", expr.text, 0, 0, region, 0);
    undo->indent++;
    jump(undo, target, false, region);
    undo->indent--;
    say(undo, "}");
}

/* The branch behind a condition, up to `to`; gives the row behind it. */
static uint32_t branch(struct undo *undo, struct condition *condition, uint32_t to, struct region region) {
    uint32_t then = condition->behind, enter = 0;
    if (condition->yes != then && condition->no != then) {
        if (enters(undo, condition->yes, then, to)) {
            enter = condition->yes;
            condition->yes = then;
        } else if (enters(undo, condition->no, then, to)) {
            enter = condition->no;
            condition->no = then;
        } else {
            two_jumps(undo, condition, to, region);
            return then;
        }
    }
    uint32_t other = condition->yes == then ? condition->no : condition->yes;
    struct undo_expr turned = undo_not(undo, condition->expr), expr = condition->yes == then ? condition->expr : turned;
    if (other > then && other <= to) {
        struct region inner = region;
        const struct layout_row *last = undo_row_at(undo, other - 1);
        uint32_t join = undo_is(last, "goto") ? undo_target(undo, &last->slots[0]) : 0;
        bool has_else = join && other < to && ((join > other && join <= to) || same_place(undo, join, region.follow)) && !undo_is(undo_row_at(undo, other), "goto");
        uint32_t end = !has_else ? other : join > other && join <= to ? join : to;
        inner.follow = end == to ? region.follow : end;
        block(undo, "if (", expr.text, then, has_else ? other - 1 : other, inner, enter);
        if (has_else) {
            say(undo, "} else {");
            undo->indent++;
            rows_in(undo, other, end, inner, 0);
            undo->indent--;
        }
        say(undo, "}");
        return end;
    }
    if (enter || same_place(undo, other, region.follow)) { /* all the rest is inside */
        if (!same_place(undo, other, region.follow)) undo->failed = true;
        block(undo, "if (", expr.text, then, to, region, enter);
        say(undo, "}");
        return to;
    }
    one_jump(undo, condition->yes == then ? turned : condition->expr, other, region);
    return then;
}

/* Behind a loop: what goes on elsewhere than at the next row is a jump. */
static uint32_t loop_left(struct undo *undo, uint32_t behind, uint32_t end, uint32_t to, struct region region) {
    if (end != behind && !undo->failed) jump(undo, end, behind >= to, region);
    return behind;
}

/* `set 0 -> ‥1; goto N; body; N: next c, ‥1, body, end -> ‥1, x, k`. Gives the row behind, 0 where it is none. */
static uint32_t walk(struct undo *undo, uint32_t row, uint32_t to, struct region region) {
    const struct layout_row *set = undo_row_at(undo, row), *begin = row + 1 < to ? undo_row_at(undo, row + 1) : NULL;
    if (!undo_is(set, "set") || set->writes != 1 || !undo_is_temp(&set->slots[set->reads]) || !begin || !undo_is(begin, "goto")) return 0;
    uint32_t test = undo_target(undo, &begin->slots[0]);
    const struct layout_row *next = test > row && test < to ? undo_row_at(undo, test) : NULL;
    if (!next || !undo_is(next, "next") || next->reads != 4 || next->writes < 2 || !rows_slot_equal(&next->slots[1], &set->slots[1])) return 0;
    uint32_t end = undo_target(undo, &next->slots[3]);
    struct undo_expr walked = undo_operand(undo, &next->slots[0]);
    struct ast_text value = next->slots[5].as.text;
    struct undo_expr head = next->writes > 2 ? undo_format(undo, 0, "%.*s, %.*s in %.*s", TEXT(next->slots[6].as.text), TEXT(value), TEXT(walked.text))
                                             : undo_format(undo, 0, "%.*s in %.*s", TEXT(value), TEXT(walked.text));
    uint32_t body = undo_target(undo, &next->slots[2]), enter = body != row + 2 && enters(undo, body, row + 2, test) ? body : 0;
    if (body != row + 2 && !enter) undo->failed = true;
    block(undo, "for (", head.text, row + 2, test, (struct region){.follow = test, .on_break = end, .on_continue = test}, enter);
    say(undo, "}");
    return loop_left(undo, test + 1, end, to, region);
}

/* The body from `body` on, then the condition from `test` on. Gives the row behind, 0 where it is no loop. */
static uint32_t loop_at(struct undo *undo, uint32_t body, uint32_t test, uint32_t to, struct region region) {
    uint32_t br = test >= body && test < to ? test_behind(undo, test, to) : 0, enter = 0;
    if (!br) return 0;
    struct condition condition = condition_at(undo, test, br, to);
    if (undo->failed) return 0;
    if (condition.no == body || (condition.yes != body && enters(undo, condition.no, body, test))) {
        uint32_t no = condition.no;
        condition.expr = undo_not(undo, condition.expr);
        condition.no = condition.yes;
        condition.yes = no;
    }
    if (condition.yes != body && enters(undo, condition.yes, body, test)) enter = condition.yes;
    else if (condition.yes != body) {
        undo->failed = true;
        return 0;
    }
    block(undo, "while (", condition.expr.text, body, test, (struct region){.follow = test, .on_break = condition.no, .on_continue = test}, enter);
    say(undo, "}");
    return loop_left(undo, condition.behind, condition.no, to, region);
}

/* `goto N; body; N: condition`. Gives the row behind, 0 where it is none. */
static uint32_t while_loop(struct undo *undo, uint32_t row, uint32_t to, struct region region) {
    return loop_at(undo, row + 1, undo_target(undo, &undo_row_at(undo, row)->slots[0]), to, region);
}

/* The last row below `to` that goes back to `row`; 0: none does. */
static uint32_t goes_back(const struct undo *undo, uint32_t row, uint32_t to) {
    for (uint32_t last = to; last-- > row;) {
        const struct layout_row *here = undo_row_at(undo, last);
        uint32_t from = undo_is(here, "br") ? 1 : undo_is(here, "next") ? 2 : 0, count = undo_is(here, "goto") ? 1 : from ? 2 : 0;
        for (uint32_t i = from; i < from + count && i < here->reads; i++)
            if (undo_target(undo, &here->slots[i]) == row) return last;
    }
    return 0;
}

/* A loop without a test, from `row` on. */
static uint32_t endless(struct undo *undo, uint32_t row, uint32_t last) {
    uint32_t end = undo_is(undo_row_at(undo, last), "goto") ? last : last + 1, behind = last + 1;
    undo->jumped[row] = 0; /* seen */
    block(undo, "while (true", (struct ast_text){"", 0}, row, end, (struct region){.follow = row, .on_break = behind, .on_continue = row}, 0);
    say(undo, "}");
    return behind;
}

static void tail_call(struct undo *undo, const struct layout_row *row) {
    struct layout_row call = *row;
    uint32_t writes = undo->item->writes;
    struct layout_slot *slots = ast_alloc(undo->arena, ((size_t)row->reads + writes + 1) * sizeof *slots);
    if (!slots || row->writes) {
        undo->out_of_memory |= !slots;
        undo->failed = true;
        return;
    }
    memcpy(slots, row->slots, row->reads * sizeof *slots);
    for (uint32_t i = 0; i < writes; i++) slots[row->reads + i] = rows_name(undo->item->params[undo->item->reads + i].name);
    call.opcode = ast_text_of("call");
    call.slots = slots;
    call.writes = writes;
    undo_row(undo, &call);
}

static void rows_in(struct undo *undo, uint32_t from, uint32_t to, struct region region, uint32_t enter) {
    uint32_t last_row = undo->item->row_count;
    if (enter) {
        from = loop_at(undo, from, enter, to, region);
        if (!from) undo->failed = true;
    }
    for (uint32_t row = from, next; row && row < to && !undo->failed; row = next) {
        const struct layout_row *here = undo_row_at(undo, row);
        uint32_t back = undo->jumped[row] ? goes_back(undo, row, to) : 0;
        uint32_t test = control(here) || writes_temp(here) ? test_behind(undo, row, to) : 0;
        uint32_t value = row + 1 < to && !control(here) && undo_is(undo_row_at(undo, row + 1), "br") ? value_end(undo, row + 1, to) : 0;
        if (back) next = endless(undo, row, back);
        else if (value) {
            const struct layout_slot *place = &here->slots[here->reads];
            struct undo_expr expr = value_of(undo, row, value, place);
            if (undo_is_temp(place)) undo_keep(undo, place->as.text, expr);
            else undo_line(undo, expr, place, 1, (struct ast_text){"", 0});
            next = value;
        } else if ((next = walk(undo, row, to, region))) continue;
        else if (undo_is(here, "br") || (test && test != row && !undo->failed && value_end(undo, test, to) == 0 && undo_is(undo_row_at(undo, test), "br"))) {
            struct condition condition = condition_at(undo, row, test, to);
            next = undo->failed ? 0 : branch(undo, &condition, to, region);
        } else if (undo_is(here, "goto")) {
            next = while_loop(undo, row, to, region);
            if (next) continue;
            next = row + 1;
            jump(undo, undo_target(undo, &here->slots[0]), row + 1 == to, region);
        } else if (undo_is(here, "return")) {
            if (row != last_row) say(undo, "return");
            next = row + 1;
        } else if (undo_is(here, "tailcall")) {
            tail_call(undo, here);
            if (row != last_row) say(undo, "return");
            next = row + 1;
        } else {
            undo_row(undo, here);
            next = row + 1;
        }
    }
}

void undo_rows(struct undo *undo, uint32_t from, uint32_t to) {
    rows_in(undo, from, to, (struct region){.follow = undo->item->row_count + 1, .on_break = 0, .on_continue = 0}, 0);
}
