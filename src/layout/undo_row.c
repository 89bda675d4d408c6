/* One row at a time to text (undo.h): operators, calls, members, literals, writes. Relies on ast.h for the operators. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kvspace/utf8.h"
#include "layout/undo.h"

enum { RECORD_DEPTH_MOST = 64 };

#define NO_EXPR ((struct undo_expr){.text = {"", 0}, .level = UNDO_PRIMARY})
#define TEXT(text) (int)(text).length, (text).at

bool undo_is(const struct layout_row *row, const char *opcode) {
    return ast_text_is(row->opcode, opcode);
}

bool undo_is_temp(const struct layout_slot *slot) {
    static const char shadow[] = "‥";
    return slot->kind == SLOT_NAME && slot->as.text.length >= sizeof shadow && !memcmp(slot->as.text.at, shadow, sizeof shadow - 1);
}

static struct undo_expr give_up(struct undo *undo) {
    undo->failed = true;
    return NO_EXPR;
}

struct undo_expr undo_format(struct undo *undo, int level, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int bytes = vsnprintf(NULL, 0, format, arguments);
    char *text = bytes < 0 ? NULL : ast_alloc(undo->arena, (size_t)bytes + 1);
    if (text) vsnprintf(text, (size_t)bytes + 1, format, again);
    va_end(again);
    va_end(arguments);
    if (!text) {
        undo->out_of_memory = true;
        return give_up(undo);
    }
    return (struct undo_expr){.text = {text, (uint32_t)bytes}, .level = level};
}

/* ---- temporaries ---- */

void undo_keep(struct undo *undo, struct ast_text temp, struct undo_expr expr) {
    for (uint32_t i = 0; i < undo->temp_count; i++)
        if (ast_text_equal(undo->temps[i].name, temp)) {
            undo->failed |= undo->temps[i].expr.text.length != 0; /* never read, or on another way */
            undo->temps[i].expr = expr;
            return;
        }
    if (undo->temp_count == undo->temp_room) {
        uint32_t room = undo->temp_room ? undo->temp_room * 2 : 16;
        struct undo_temp *temps = realloc(undo->temps, room * sizeof *temps);
        if (!temps) {
            undo->out_of_memory = undo->failed = true;
            return;
        }
        undo->temps = temps;
        undo->temp_room = room;
    }
    undo->temps[undo->temp_count++] = (struct undo_temp){temp, expr};
}

static struct undo_expr take(struct undo *undo, struct ast_text temp) {
    for (uint32_t i = 0; i < undo->temp_count; i++)
        if (ast_text_equal(undo->temps[i].name, temp) && undo->temps[i].expr.text.length) {
            struct undo_expr expr = undo->temps[i].expr;
            undo->temps[i].expr = NO_EXPR;
            return expr;
        }
    return give_up(undo);
}

/* ---- operands ---- */

static struct undo_expr literal(struct undo *undo, const struct layout_slot *slot) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    rows_list_slot(slot, &out);
    bool minus = slot->kind == SLOT_SCALAR && buffer.length && buffer.bytes[0] == '-';
    struct undo_expr expr = out.error ? give_up(undo) : undo_format(undo, minus ? UNDO_PREFIX : UNDO_PRIMARY, "%s", buffer.length ? buffer.bytes : "None");
    undo->out_of_memory |= out.error != 0;
    text_buffer_free(&buffer);
    return expr;
}

static struct undo_expr named(struct undo *undo, const struct layout_slot *slot);
static bool is_name(struct ast_text text);

/* The default of a field: a struct or a map. */
static struct undo_expr record(struct undo *undo, const struct layout_record *record) {
    bool structure = record->type.length && record->type.at[0] == '/', positional = !structure && record->count > 0;
    struct layout_slot path = rows_path(record->type);
    struct undo_expr all = NO_EXPR, name = structure ? named(undo, &path) : NO_EXPR;
    if (++undo->depth > RECORD_DEPTH_MOST) return give_up(undo);
    for (uint32_t i = 0; i < record->count; i++)
        positional = positional && record->keys[i].kind == SLOT_SCALAR && record->keys[i].value_kind == KIND_INT64 && record->keys[i].as.bits == i;
    for (uint32_t i = 0; i < record->count; i++) {
        const struct layout_slot *key = &record->keys[i];
        bool bare = key->kind == SLOT_TEXT && is_name(key->as.text);
        struct undo_expr entry = bare ? (struct undo_expr){key->as.text, UNDO_PRIMARY} : undo_operand(undo, key), value = undo_operand(undo, &record->values[i]);
        if (!positional) value = undo_format(undo, 0, "%.*s = %.*s", TEXT(entry.text), TEXT(value.text));
        all = i ? undo_format(undo, 0, "%.*s; %.*s", TEXT(all.text), TEXT(value.text)) : value;
    }
    undo->depth--;
    return undo_format(undo, UNDO_PRIMARY, "%.*s{%.*s}", TEXT(name.text), TEXT(all.text));
}

struct undo_expr undo_operand(struct undo *undo, const struct layout_slot *slot) {
    switch (slot->kind) {
    case SLOT_RECORD: return record(undo, slot->as.record);
    case SLOT_NAME:
        if (undo_is_temp(slot)) return take(undo, slot->as.text);
        return (struct undo_expr){slot->as.text, UNDO_PRIMARY};
    case SLOT_PATH: return (struct undo_expr){slot->as.text, UNDO_PRIMARY};
    case SLOT_ARRAY: /* the kind of the elements is told where it is written */
    case SLOT_TEXT:
    case SLOT_SCALAR:
    case SLOT_NONE: return literal(undo, slot);
    default: return give_up(undo);
    }
}

static struct undo_expr tight(struct undo *undo, struct undo_expr expr, int level) {
    return expr.level >= level ? expr : undo_format(undo, UNDO_PRIMARY, "(%.*s)", TEXT(expr.text));
}

struct undo_expr undo_join(struct undo *undo, struct undo_expr left, const char *sign, int level, struct undo_expr right) {
    left = tight(undo, left, level);
    right = tight(undo, right, level + 1);
    return undo_format(undo, level, "%.*s %s %.*s", TEXT(left.text), sign, TEXT(right.text));
}

struct undo_expr undo_not(struct undo *undo, struct undo_expr expr) {
    expr = tight(undo, expr, UNDO_PREFIX);
    return undo_format(undo, UNDO_PREFIX, "!%.*s", TEXT(expr.text));
}

/* `a, b, c` of reads. */
static struct undo_expr list(struct undo *undo, const struct layout_slot *slots, uint32_t count) {
    struct undo_expr all = NO_EXPR;
    for (uint32_t i = 0; i < count; i++) {
        struct undo_expr one = undo_operand(undo, &slots[i]);
        all = i ? undo_format(undo, 0, "%.*s, %.*s", TEXT(all.text), TEXT(one.text)) : one;
    }
    return all;
}

/* ---- names of functions and structs ---- */

static struct undo_expr named(struct undo *undo, const struct layout_slot *slot) {
    static const char lib[] = "/lib/", dot[] = "·";
    if (slot->kind != SLOT_PATH || slot->as.text.length < sizeof lib || memcmp(slot->as.text.at, lib, sizeof lib - 1) != 0) return give_up(undo);
    struct ast_text rest = {slot->as.text.at + sizeof lib - 1, slot->as.text.length - (uint32_t)(sizeof lib - 1)};
    uint32_t end = 0;
    for (uint32_t i = 0; i + 1 < rest.length; i++)
        if (!memcmp(rest.at + i, dot, 2)) end = i;
    struct ast_text package = {rest.at, end};
    if (ast_text_equal(package, undo->package)) return undo_format(undo, UNDO_PRIMARY, "%.*s", (int)(rest.length - (end ? end + 2 : 0)), rest.at + (end ? end + 2 : 0));
    if (!end) return (struct undo_expr){slot->as.text, UNDO_PRIMARY};
    return (struct undo_expr){rest, UNDO_PRIMARY};
}

static struct undo_expr call_of(struct undo *undo, struct undo_expr name, const struct layout_slot *args, uint32_t count) {
    struct undo_expr all = list(undo, args, count);
    return undo_format(undo, UNDO_PRIMARY, "%.*s(%.*s)", TEXT(name.text), TEXT(all.text));
}

/* ---- places ---- */

static bool is_name(struct ast_text text) {
    return utf8_is_identifier(text.at, text.length);
}

static struct undo_expr member(struct undo *undo, struct undo_expr base, const struct layout_slot *name) {
    if (name->kind != SLOT_TEXT || !is_name(name->as.text)) return give_up(undo);
    return undo_format(undo, UNDO_PRIMARY, "%.*s·%.*s", TEXT(tight(undo, base, UNDO_PRIMARY).text), TEXT(name->as.text));
}

static struct undo_expr key(struct undo *undo, struct undo_expr base, const struct layout_slot *slots, uint32_t count) {
    base = tight(undo, base, UNDO_PRIMARY);
    if (count == 1 && slots->kind == SLOT_NAME && !undo_is_temp(slots)) return undo_format(undo, UNDO_PRIMARY, "%.*s·*%.*s", TEXT(base.text), TEXT(slots->as.text));
    struct undo_expr tuple = list(undo, slots, count);
    if (count == 1 && slots->kind == SLOT_ARRAY) return undo_format(undo, UNDO_PRIMARY, "%.*s·%.*s", TEXT(base.text), TEXT(tuple.text));
    return undo_format(undo, UNDO_PRIMARY, "%.*s·[%.*s]", TEXT(base.text), TEXT(tuple.text));
}

static struct undo_expr element(struct undo *undo, struct undo_expr base, const struct layout_slot *slots, uint32_t count) {
    struct undo_expr all = list(undo, slots, count);
    return undo_format(undo, UNDO_PRIMARY, "%.*s[%.*s]", TEXT(tight(undo, base, UNDO_PRIMARY).text), TEXT(all.text));
}

/* The steps of `put` and `addr`: `·`, `*`, `[n]`. */
static struct undo_expr steps(struct undo *undo, struct undo_expr base, const struct layout_slot *marks, const struct layout_slot *slots, uint32_t count) {
    uint32_t used = 0;
    if (marks->kind != SLOT_TEXT) return give_up(undo);
    const char *at = marks->as.text.at, *end = at + marks->as.text.length;
    while (at < end && !undo->failed) {
        uint32_t wants = 1;
        char mark = *at;
        if (mark == '*') at++;
        if (at < end && *at == '[') {
            char *behind;
            wants = (uint32_t)strtoul(at + 1, &behind, 10);
            at = behind + 1;
        } else if (mark != '*') at += 2;
        if (at > end || !wants || wants > count - used) return give_up(undo);
        if (mark == '[') base = element(undo, base, slots + used, wants);
        else base = mark == '*' ? key(undo, base, slots + used, wants) : member(undo, base, slots + used);
        used += wants;
    }
    return used == count ? base : give_up(undo);
}

static struct undo_expr written(struct undo *undo, const struct layout_slot *slot) {
    return undo_is_temp(slot) || (slot->kind != SLOT_NAME && slot->kind != SLOT_PATH) ? give_up(undo) : (struct undo_expr){slot->as.text, UNDO_PRIMARY};
}

/* ---- lines ---- */

void undo_indent(struct undo *undo) {
    for (uint32_t i = 0; i < undo->indent; i++) text_puts(undo->out, "\t");
}

static void put_line(struct undo *undo, struct undo_expr value, struct undo_expr place, struct ast_text type) {
    undo_indent(undo);
    text_put(undo->out, value.text.at, value.text.length);
    if (place.text.length) {
        text_puts(undo->out, " -> ");
        text_put(undo->out, place.text.at, place.text.length);
    }
    if (type.length) {
        text_puts(undo->out, ":");
        text_put(undo->out, type.at, type.length);
    }
    text_puts(undo->out, "\n");
}

void undo_line(struct undo *undo, struct undo_expr expr, const struct layout_slot *slots, uint32_t count, struct ast_text type) {
    struct undo_expr places = NO_EXPR;
    for (uint32_t i = 0; i < count; i++) {
        struct undo_expr one = written(undo, &slots[i]);
        places = i ? undo_format(undo, 0, "%.*s, %.*s", TEXT(places.text), TEXT(one.text)) : one;
    }
    put_line(undo, expr, places, type);
}

/* What a row without temporaries writes: kept, or a line. */
static void result(struct undo *undo, const struct layout_row *row, struct undo_expr expr, struct ast_text type) {
    const struct layout_slot *slots = row->slots + row->reads;
    if (row->writes == 1 && undo_is_temp(slots)) undo_keep(undo, slots->as.text, expr);
    else undo_line(undo, expr, slots, row->writes, type);
}

/* ---- rows ---- */

static struct ast_text element_type(struct undo *undo, const struct layout_slot *slot) {
    if (slot->kind != SLOT_ARRAY || slot->value_kind == KIND_INT64 || slot->value_kind == KIND_FLOAT64 || slot->value_kind == KIND_BOOL) return (struct ast_text){"", 0};
    return undo_format(undo, 0, "[]%s", kind_name(slot->value_kind)).text;
}

static struct undo_expr plain_array(struct undo *undo, const struct layout_slot *slot) {
    struct undo_expr expr = literal(undo, slot);
    const char *bracket = memchr(expr.text.at, '[', expr.text.length);
    return bracket ? undo_format(undo, UNDO_PRIMARY, "%.*s", (int)(expr.text.length - (uint32_t)(bracket - expr.text.at)), bracket) : expr;
}

static struct ast_text param_type(const struct undo *undo, const struct layout_slot *slot) {
    for (uint32_t i = 0; slot->kind == SLOT_NAME && i < undo->item->reads + undo->item->writes; i++)
        if (ast_text_equal(undo->item->params[i].name, slot->as.text)) return undo->item->params[i].type;
    return (struct ast_text){"", 0};
}

static struct ast_text type_text(struct undo *undo, const struct layout_row *row) {
    if (row->reads && row->slots[0].kind == SLOT_TEXT) return row->slots[0].as.text;
    undo->failed = true;
    return (struct ast_text){"", 0};
}

static struct undo_expr map_literal(struct undo *undo, const struct layout_row *row) {
    struct undo_expr all = NO_EXPR;
    bool positional = row->reads > 1;
    for (uint32_t i = 1; i + 1 < row->reads; i += 2)
        positional = positional && row->slots[i].kind == SLOT_SCALAR && row->slots[i].value_kind == KIND_INT64 && row->slots[i].as.bits == (i - 1) / 2;
    for (uint32_t i = 1; i + 1 < row->reads; i += 2) {
        const struct layout_slot *name = &row->slots[i];
        bool bare = name->kind == SLOT_TEXT && is_name(name->as.text);
        struct undo_expr entry = bare ? (struct undo_expr){name->as.text, UNDO_PRIMARY} : undo_operand(undo, name);
        struct undo_expr value = undo_operand(undo, &row->slots[i + 1]);
        if (!positional) value = undo_format(undo, 0, "%.*s = %.*s", TEXT(entry.text), TEXT(value.text));
        all = i > 1 ? undo_format(undo, 0, "%.*s, %.*s", TEXT(all.text), TEXT(value.text)) : value;
    }
    return undo_format(undo, UNDO_PRIMARY, "{%.*s}", TEXT(all.text));
}

static struct undo_expr struct_literal(struct undo *undo, const struct layout_row *row) {
    struct undo_expr all = NO_EXPR;
    for (uint32_t i = 1; i + 1 < row->reads; i += 2) {
        struct undo_expr value = undo_operand(undo, &row->slots[i + 1]);
        if (row->slots[i].kind != SLOT_TEXT) return give_up(undo);
        value = undo_format(undo, 0, "%.*s = %.*s", TEXT(row->slots[i].as.text), TEXT(value.text));
        all = i > 1 ? undo_format(undo, 0, "%.*s; %.*s", TEXT(all.text), TEXT(value.text)) : value;
    }
    struct undo_expr name = named(undo, &row->slots[0]);
    return undo_format(undo, UNDO_PRIMARY, "%.*s{%.*s}", TEXT(name.text), TEXT(all.text));
}

static const struct ast_op_row *operator_of(const struct layout_row *row, enum ast_op *op) {
    for (unsigned i = 0; i < AST_OP_COUNT; i++) {
        const struct ast_op_row *found = ast_op_row((enum ast_op)i);
        *op = (enum ast_op)i;
        if (found->level > 20 && row->reads == 2 && row->writes == 1 && undo_is(row, found->opcode)) return found;
    }
    return NULL;
}

/* Rows with a form of their own. Gives false where the row is an opcode called by name. */
static bool undo_special(struct undo *undo, const struct layout_row *row) {
    const struct layout_slot *s = row->slots;
    const struct ast_text none = {"", 0};
    struct undo_expr value, place;
    uint32_t reads = row->reads;
    if (undo_is(row, "set") && reads == 1) {
        value = s->kind == SLOT_ARRAY ? plain_array(undo, s) : undo_operand(undo, s);
        result(undo, row, value, element_type(undo, s));
    } else if (undo_is(row, "check") && reads == 2 && row->writes == 1 && s[1].kind == SLOT_TEXT) {
        bool declared = ast_text_equal(param_type(undo, &s[2]), s[1].as.text);
        result(undo, row, undo_operand(undo, s), declared ? none : s[1].as.text);
    } else if (undo_is(row, "neg") && reads == 1) {
        value = tight(undo, undo_operand(undo, s), UNDO_PREFIX);
        result(undo, row, undo_format(undo, UNDO_PREFIX, "-%.*s", TEXT(value.text)), none);
    } else if (undo_is(row, "not") && reads == 1) result(undo, row, undo_not(undo, undo_operand(undo, s)), none);
    else if (undo_is(row, "load") && reads == 1) {
        value = tight(undo, undo_operand(undo, s), UNDO_PREFIX);
        result(undo, row, undo_format(undo, UNDO_PREFIX, "*%.*s", TEXT(value.text)), none);
    } else if (undo_is(row, "store") && reads == 2) {
        place = tight(undo, undo_operand(undo, s), UNDO_PREFIX);
        value = undo_operand(undo, &s[1]);
        put_line(undo, value, undo_format(undo, UNDO_PREFIX, "*%.*s", TEXT(place.text)), none);
    } else if (undo_is(row, "addr") && reads >= 1) {
        place = undo_operand(undo, s);
        if (reads > 1) place = steps(undo, place, &s[1], s + 2, reads - 2);
        result(undo, row, undo_format(undo, UNDO_PREFIX, "&%.*s", TEXT(place.text)), none);
    } else if (undo_is(row, "member") && reads == 2) result(undo, row, member(undo, undo_operand(undo, s), &s[1]), none);
    else if (undo_is(row, "key") && reads >= 2) {
        value = undo_operand(undo, s);
        result(undo, row, key(undo, value, s + 1, reads - 1), none);
    } else if (undo_is(row, "index") && reads >= 2) {
        value = undo_operand(undo, s);
        result(undo, row, element(undo, value, s + 1, reads - 1), none);
    } else if (((undo_is(row, "setmember") && reads == 2) || (undo_is(row, "setkey") && reads >= 2)) && row->writes == 1) {
        value = undo_operand(undo, s);
        place = undo_is_temp(&s[reads]) ? undo_operand(undo, &s[reads]) : written(undo, &s[reads]);
        put_line(undo, value, undo_is(row, "setkey") ? key(undo, place, s + 1, reads - 1) : member(undo, place, &s[1]), none);
    } else if (undo_is(row, "setindex") && reads >= 2 && row->writes == 1) {
        value = undo_operand(undo, s);
        place = undo_is_temp(&s[reads]) ? undo_operand(undo, &s[reads]) : written(undo, &s[reads]);
        put_line(undo, value, element(undo, place, s + 1, reads - 1), none);
    } else if (undo_is(row, "put") && reads >= 3 && row->writes == 1) {
        value = undo_operand(undo, s);
        place = undo_is_temp(&s[reads]) ? undo_operand(undo, &s[reads]) : written(undo, &s[reads]);
        put_line(undo, value, steps(undo, place, &s[1], s + 2, reads - 2), none);
    } else if (undo_is(row, "list")) {
        value = list(undo, s, reads);
        result(undo, row, undo_format(undo, UNDO_PRIMARY, "[%.*s]", TEXT(value.text)), none);
    } else if (undo_is(row, "newarray") || undo_is(row, "fillarray")) {
        struct ast_text type = type_text(undo, row);
        value = list(undo, s + 1, reads ? reads - 1 : 0);
        result(undo, row, undo_format(undo, UNDO_PRIMARY, undo_is(row, "fillarray") ? "[%.*s...]" : "[%.*s]", TEXT(value.text)), type);
    } else if (undo_is(row, "newmap")) result(undo, row, map_literal(undo, row), type_text(undo, row));
    else if (undo_is(row, "newstruct") && reads >= 1) result(undo, row, struct_literal(undo, row), none);
    else if (undo_is(row, "call") && reads >= 1) {
        place = named(undo, s);
        result(undo, row, call_of(undo, place, s + 1, reads - 1), none);
    } else return false;
    return true;
}

void undo_row(struct undo *undo, const struct layout_row *row) {
    enum ast_op op;
    const struct ast_op_row *infix = operator_of(row, &op);
    const struct ast_text none = {"", 0};
    if (infix) {
        struct undo_expr left = undo_operand(undo, &row->slots[0]), right = undo_operand(undo, &row->slots[1]);
        result(undo, row, undo_join(undo, left, infix->text, infix->level, right), none);
    } else if (!undo_special(undo, row)) {
        struct undo_expr name = {row->opcode, UNDO_PRIMARY};
        result(undo, row, call_of(undo, name, row->slots, row->reads), none);
    }
}
