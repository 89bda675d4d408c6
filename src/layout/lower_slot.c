/* Places: reading through members, keys and indices, taking addresses, and writing to every kind of slot.
 * Relies on lower.h. A write through one step is setmember, setkey or setindex, through more of them one `put`.
 * Promise: a read-only parameter is never written; a declared type is checked at layout or by a `check` row. */
#include <stdio.h>
#include <string.h>
#include "layout/lower.h"

/* ---- which place ---- */

struct ast_text lower_constant_path(struct lower *lower, struct ast_text name) {
    for (uint32_t i = 0; i + 1 < name.length; i++)
        if (name.at[i] == '/') return (struct ast_text){"", 0};
    for (int own = lower->package.length ? 1 : 0; own >= 0; own--) {
        struct ast_text path = scope_path(lower->scope, own ? lower->package : (struct ast_text){"", 0}, name);
        struct symbol *symbol = scope_find(lower->scope, path);
        if (symbol && symbol->kind == FOUND_VALUE) return path;
    }
    return (struct ast_text){"", 0};
}

static bool is_qualified(struct ast_text name) {
    return memchr(name.at, '/', name.length) != NULL;
}

static bool is_local(struct lower *lower, struct ast_text name) {
    struct local *local = lower_known(lower, name);
    return local && (local->written || local->read_param || local->write_param);
}

/* `pkg·Name` where pkg is no name of the function but a lib: the path of its constant. */
static struct ast_text constant_of_lib(struct lower *lower, const struct ast_node *node) {
    const struct ast_node *base = node->as.access.base;
    const struct ast_step *step = &node->as.access.steps[0];
    if (base->kind != AST_NAME || step->kind != AST_STEP_MEMBER || is_local(lower, base->as.name.text)) return (struct ast_text){"", 0};
    struct ast_text path = scope_path(lower->scope, base->as.name.text, step->name);
    if (is_qualified(base->as.name.text) || scope_find(lower->scope, path) || scope_find(lower->scope, scope_path(lower->scope, (struct ast_text){"", 0}, base->as.name.text)))
        return path;
    return (struct ast_text){"", 0};
}

/* The base of a path literal, and its member steps behind it (paths below /lib are keys as a whole). */
static uint32_t path_base(const struct ast_node *node) {
    struct ast_text text = node->as.path.text;
    bool whole = text.length >= 5 && memcmp(text.at, "/lib/", 5) == 0;
    return whole ? text.length : node->as.path.base_length;
}

struct step {
    enum ast_step_kind kind;
    struct ast_pos at;
    struct ast_text name;
    struct ast_nodes args;
};

enum { STEPS_MAX = 64 };

/* All steps from a base: those inside a path literal, then those of the access. */
struct place {
    const struct ast_node *base; /* NAME, PATH, PREFIX DEREF or any expression */
    uint32_t base_bytes;         /* PATH */
    struct ast_text lib_path;    /* a lib's constant in place of base */
    const struct ast_node *access; /* NULL: no steps behind the base */
    uint32_t first;              /* step of access where it goes on */
};

static void place_of(struct lower *lower, const struct ast_node *node, struct place *place) {
    *place = (struct place){.base = node};
    if (node->kind == AST_ACCESS) {
        place->base = node->as.access.base;
        place->access = node;
        place->lib_path = constant_of_lib(lower, node);
        if (place->lib_path.length) place->first = 1;
    }
    if (place->base->kind == AST_PATH) place->base_bytes = path_base(place->base);
}

/* Calls visit for each step of the place, path members first. */
static uint32_t step_count(const struct place *place) {
    uint32_t count = place->access ? place->access->as.access.count - place->first : 0;
    if (place->base->kind != AST_PATH) return count;
    struct ast_text text = place->base->as.path.text;
    for (uint32_t i = place->base_bytes; i + 1 < text.length; i++) count += memcmp(text.at + i, "\xc2\xb7", 2) == 0;
    return count;
}

struct step_walk {
    const struct place *place;
    uint32_t at;    /* byte in the path literal */
    uint32_t index; /* of the access */
};

static struct step_walk walk_steps(const struct place *place) {
    return (struct step_walk){place, place->base->kind == AST_PATH ? place->base_bytes : 0, place->first};
}

static bool next_step(struct step_walk *walk, struct step *step) {
    const struct place *place = walk->place;
    if (place->base->kind == AST_PATH && walk->at < place->base->as.path.text.length) {
        struct ast_text text = place->base->as.path.text;
        uint32_t from = walk->at + 2, end = from;
        while (end < text.length && !(end + 1 < text.length && memcmp(text.at + end, "\xc2\xb7", 2) == 0)) end++;
        *step = (struct step){.kind = AST_STEP_MEMBER, .at = place->base->at, .name = {text.at + from, end - from}};
        walk->at = end;
        return true;
    }
    if (!place->access || walk->index >= place->access->as.access.count) return false;
    const struct ast_step *written = &place->access->as.access.steps[walk->index++];
    *step = (struct step){written->kind, written->at, written->name, written->args};
    return true;
}

/* ---- reading ---- */

static void push_args(struct lower *lower, const struct ast_nodes *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        struct value value = lower_expression(lower, args->at[i], NULL, NULL);
        lower_pin(lower, &value);
        lower_settle(lower, &value, args, i + 1);
        lower_push(lower, value);
    }
}

/* The operands of a tuple key: one constant array where all are integer literals, else as they are. */
static void push_tuple(struct lower *lower, const struct step *step) {
    const struct ast_nodes *args = &step->args;
    bool integers = args->count > 1;
    for (uint32_t i = 0; i < args->count; i++) integers = integers && args->at[i]->kind == AST_INT && !args->at[i]->as.integer.is_unsigned;
    if (!integers) {
        push_args(lower, args);
        return;
    }
    struct layout_array *array = ast_alloc(lower->arena, sizeof *array);
    int64_t *body = ast_alloc(lower->arena, args->count * sizeof *body);
    if (!array || !body) {
        lower->out_of_memory = true;
        return;
    }
    *array = (struct layout_array){.ndim = 1, .dims = {args->count}, .bytes = args->count * sizeof *body, .body = body};
    for (uint32_t i = 0; i < args->count; i++) body[i] = (int64_t)args->at[i]->as.integer.bits;
    lower_push(lower, (struct value){.slot = {.kind = SLOT_ARRAY, .value_kind = KIND_INT64, .as.array = array}, .literal = true});
}

static const struct type *field_type(struct lower *lower, const struct type *type, struct ast_text name, struct symbol **lacking) {
    struct ast_text shown = types_struct(type);
    if (!shown.length) return NULL;
    uint32_t member_at = 0;
    for (uint32_t i = 0; i + 1 < shown.length; i++)
        if (memcmp(shown.at + i, "\xc2\xb7", 2) == 0) member_at = i + 2;
    struct symbol *symbol = scope_struct(lower->scope, (struct ast_text){"", 0}, shown, member_at);
    if (!symbol) return NULL;
    scope_type_params(lower->scope, symbol);
    for (uint32_t i = 0; i < symbol->writes; i++)
        if (ast_text_equal(symbol->params[i].name, name)) return symbol->params[i].type;
    *lacking = symbol;
    return NULL;
}

static const struct type *step_type(struct lower *lower, const struct type *type, const struct step *step) {
    if (!type) return NULL;
    if (step->kind == AST_STEP_MEMBER) {
        struct symbol *lacking = NULL;
        const struct type *target = type->pointer ? types_target(&lower->scope->types, type) : type;
        const struct type *field = field_type(lower, target, step->name, &lacking);
        if (lacking) lower_no_field(lower, step->at, lacking, step->name);
        if (type->scalar) lower_error(lower, step->at, DIAG_TYPE, "%.*s has no members", (int)type->text.length, type->text.at);
        if (field && !field->any) return field; /* a field without default may be None: never relied on for more than errors */
    }
    const struct type *values = types_map_value(&lower->scope->types, type);
    if (values) return values->any ? NULL : values;
    if (step->kind != AST_STEP_INDEX || !type->only || type->only->prefix) return NULL;
    if (type->string == KIND_CHAR_UTF32 || type->string == KIND_CHAR_ASCII) return step->args.count == 1 ? type : NULL;
    if (type->scalar) lower_error(lower, step->at, DIAG_TYPE, "%.*s has no elements", (int)type->text.length, type->text.at);
    if (type->only->quantifier || type->only->axis_count != step->args.count || kind_is_char(type->only->kind)) return NULL;
    return types_scalar(&lower->scope->types, types_element(type));
}

static struct value lower_step(struct lower *lower, struct value base, const struct step *step, const struct layout_slot *into) {
    static const char *const opcodes[] = {"member", "key", "key", "index"};
    uint32_t mark = lower->stack_count;
    const struct type *type = step_type(lower, base.type, step);
    lower_settle(lower, &base, &step->args, 0);
    lower_push(lower, base);
    if (step->kind == AST_STEP_MEMBER) lower_push(lower, (struct value){.slot = rows_text(step->name), .literal = true});
    else if (step->kind == AST_STEP_TUPLE) push_tuple(lower, step);
    else push_args(lower, &step->args);
    struct value result = lower_result(lower, into);
    result.type = type;
    lower->at = step->at;
    lower_row(lower, opcodes[step->kind], mark, &result.slot, 1);
    return result;
}

static struct value base_value(struct lower *lower, const struct place *place) {
    if (place->lib_path.length) return (struct value){.slot = rows_path(place->lib_path)};
    if (place->base->kind == AST_PATH) return (struct value){.slot = rows_path((struct ast_text){place->base->as.path.text.at, place->base_bytes})};
    return lower_expression(lower, place->base, NULL, NULL);
}

struct value lower_access(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    struct place place;
    place_of(lower, node, &place);
    uint32_t left = step_count(&place);
    struct value value = base_value(lower, &place);
    if (!left) return lower_moved(lower, value, into);
    struct step step;
    for (struct step_walk walk = walk_steps(&place); next_step(&walk, &step);) value = lower_step(lower, value, &step, --left ? NULL : into);
    return value;
}

/* ---- steps as one operand list, for put and addr ---- */

static struct ast_text marks_of(struct lower *lower, const struct place *place) {
    uint32_t count = step_count(place), used = 0;
    char *text = ast_alloc(lower->arena, (size_t)count * 16 + 1);
    if (!text) {
        lower->out_of_memory = true;
        return (struct ast_text){"", 0};
    }
    struct step step;
    for (struct step_walk walk = walk_steps(place); next_step(&walk, &step);) {
        if (step.kind == AST_STEP_MEMBER) used += (uint32_t)sprintf(text + used, "\xc2\xb7");
        else if (step.kind == AST_STEP_INDEX) used += (uint32_t)sprintf(text + used, "[%u]", (unsigned)step.args.count);
        else {
            bool integers = step.args.count > 1;
            for (uint32_t i = 0; i < step.args.count; i++) integers = integers && step.args.at[i]->kind == AST_INT && !step.args.at[i]->as.integer.is_unsigned;
            if (integers || step.args.count == 1) text[used++] = '*';
            else used += (uint32_t)sprintf(text + used, "*[%u]", (unsigned)step.args.count);
        }
    }
    return (struct ast_text){text, used};
}

static void push_steps(struct lower *lower, const struct place *place) {
    struct step step;
    for (struct step_walk walk = walk_steps(place); next_step(&walk, &step);) {
        if (step.kind == AST_STEP_MEMBER) lower_push(lower, (struct value){.slot = rows_text(step.name), .literal = true});
        else if (step.kind == AST_STEP_TUPLE) push_tuple(lower, &step);
        else push_args(lower, &step.args);
    }
}

/* The place that the base stands for. A base that is computed goes through a temporary, which the core follows if it points. */
static struct value base_place(struct lower *lower, const struct place *place) {
    const struct ast_node *base = place->base;
    if (place->lib_path.length || base->kind == AST_PATH) return base_value(lower, place);
    if (base->kind == AST_NAME) return (struct value){.slot = rows_name(lower_local(lower, base->as.name.text)->name)};
    if (base->kind == AST_PREFIX && base->as.prefix.op == AST_PREFIX_DEREF) base = base->as.prefix.operand; /* (*p)·x is p·x */
    struct value value = lower_expression(lower, base, NULL, NULL);
    if (value.slot.kind == SLOT_NAME || value.slot.kind == SLOT_PATH) return value;
    struct value temp = lower_temp(lower);
    lower_moved(lower, value, &temp.slot);
    return temp;
}

/* The type `*T` of an address. */
static const struct type *address_type(struct lower *lower, const struct ast_node *node) {
    const struct type *target = NULL;
    if (node->kind == AST_NAME) {
        struct local *local = lower_known(lower, node->as.name.text);
        if (local) target = local->declared ? local->declared : local->flow;
    }
    if (!target || !target->only || target->only->prefix || target->any) return types_of_word(&lower->scope->types, "*any");
    const struct type *type = types_of(&lower->scope->types, scope_join(lower->scope, ast_text_of("*"), "", target->text), NULL);
    return type ? type : types_of_word(&lower->scope->types, "*any");
}

struct value lower_address(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    const struct ast_node *operand = node->kind == AST_PREFIX && node->as.prefix.op == AST_PREFIX_ADDRESS ? node->as.prefix.operand : node;
    if (operand->kind == AST_PREFIX && operand->as.prefix.op == AST_PREFIX_DEREF) return lower_expression(lower, operand->as.prefix.operand, NULL, into);
    if (operand->kind != AST_NAME && operand->kind != AST_PATH && operand->kind != AST_ACCESS) {
        lower_error(lower, operand->at, DIAG_SYNTAX, "`&` takes a place: a name, a path, a member or an element");
        return lower_result(lower, into);
    }
    struct place place;
    place_of(lower, operand, &place);
    uint32_t mark = lower->stack_count;
    lower_push(lower, base_place(lower, &place));
    if (step_count(&place)) {
        lower_push(lower, (struct value){.slot = rows_text(marks_of(lower, &place))});
        push_steps(lower, &place);
    }
    struct value result = lower_result(lower, into);
    result.type = address_type(lower, operand);
    lower->at = node->at;
    lower_row(lower, "addr", mark, &result.slot, 1);
    return result;
}

/* ---- writing ---- */

bool lower_check_writable(struct lower *lower, struct ast_text name, struct ast_pos at, const char *how) {
    struct local *local = lower_known(lower, name);
    if (!local || !local->read_param) return true;
    lower_error(lower, at, DIAG_SYNTAX, "`%.*s` is a read-only parameter of `%.*s`: %s", (int)name.length, name.at, (int)lower->shown.length,
        lower->shown.at, how);
    return false;
}

/* A temporary that the row does not read. */
static struct value temp_unlike(struct lower *lower, const struct layout_row *row) {
    struct value temp = lower_temp(lower);
    for (uint32_t i = 0; i < row->reads; i++) {
        if (!rows_slot_equal(&row->slots[i], &temp.slot)) continue;
        struct value other = temp_unlike(lower, row);
        lower_release(lower, &temp);
        return other;
    }
    return temp;
}

/* The row that just wrote `name` checks the type on the way: a `set` becomes a `check`, any other gets one behind it. */
static void check_written(struct lower *lower, const struct layout_slot *name, const struct type *type) {
    struct value text = {.slot = rows_text(type->text)};
    struct layout_row *last = lower->row_count ? &lower->rows[lower->row_count - 1] : NULL;
    uint32_t mark = lower->stack_count;
    if (last && last->writes == 1 && rows_slot_equal(&last->slots[last->reads], name)) {
        struct value moved = {.slot = last->slots[0]};
        if (ast_text_is(last->opcode, "set")) lower->row_count--;
        else {
            moved = temp_unlike(lower, last);
            last->slots[last->reads] = moved.slot;
        }
        lower_push(lower, moved);
    } else lower_push(lower, (struct value){.slot = *name});
    lower_push(lower, text);
    lower_row(lower, "check", mark, name, 1);
}

/* After the name's cell was written: does the value fit what is declared? */
static void settle_name(struct lower *lower, struct local *local, struct ast_pos at, const struct value *value) {
    struct layout_slot name = rows_name(local->name);
    if (local->declared) {
        lower_blame(lower, "`%.*s`", (int)local->name.length, local->name.at);
        if (lower_expect(lower, at, value, local->declared) == 1 && !value->literal) check_written(lower, &name, local->declared);
    } else lower_set_type(lower, local, value->slot.kind == SLOT_NONE ? NULL : value->type && value->type->any ? NULL : value->type);
}

/* A string for a write parameter of another encoding is converted, as signatures promise. */
static struct value convert_text(struct lower *lower, struct local *local, struct value value, const struct layout_slot *into) {
    uint8_t wanted = local->declared ? local->declared->string : 0;
    if (!local->write_param || !wanted || !value.type || !value.type->string || value.type->string == wanted || value.literal) return lower_moved(lower, value, into);
    uint32_t mark = lower->stack_count;
    lower_push(lower, value);
    lower_row(lower, kind_name(wanted), mark, into, 1);
    return (struct value){.slot = *into, .type = local->declared};
}

void lower_assign_name(struct lower *lower, struct local *local, struct ast_pos at, struct value *value) {
    struct layout_slot name = rows_name(local->name);
    if (local->declared) {
        lower_blame(lower, "`%.*s`", (int)local->name.length, local->name.at);
        lower_convert(lower, at, value, local->declared);
    }
    bool none = value->slot.kind == SLOT_NONE;
    struct value moved = convert_text(lower, local, *value, &name);
    value->temp = 0;
    moved.literal = value->literal || none;
    settle_name(lower, local, at, &moved);
}

static bool mentions_path(const struct ast_node *node) {
    switch (node->kind) {
    case AST_NONE:
    case AST_BOOL:
    case AST_INT:
    case AST_FLOAT:
    case AST_STRING:
    case AST_NAME: return false;
    case AST_PREFIX: return node->as.prefix.op == AST_PREFIX_DEREF || mentions_path(node->as.prefix.operand);
    case AST_CHAIN:
        for (uint32_t i = 0; i < node->as.chain.count; i++)
            if (mentions_path(node->as.chain.operands[i])) return true;
        return ast_op_row((enum ast_op)node->as.chain.ops[0])->level <= 20;
    default: return true;
    }
}

static struct value unlike_base(struct lower *lower, struct value value, const struct layout_slot *base) {
    if (value.slot.kind != base->kind || value.temp || (value.slot.kind != SLOT_NAME && value.slot.kind != SLOT_PATH) || !rows_slot_equal(&value.slot, base)) return value;
    struct value temp = lower_temp(lower);
    temp.type = value.type;
    lower_moved(lower, value, &temp.slot);
    return temp;
}

/* The type of the elements that a write through these steps wants, where the base's type is known. */
static const struct type *slot_type(struct lower *lower, const struct place *place) {
    if (place->base->kind != AST_NAME || place->lib_path.length) return NULL;
    struct local *local = lower_known(lower, place->base->as.name.text);
    const struct type *type = local ? lower_name_type(local) : NULL;
    struct step step;
    for (struct step_walk walk = walk_steps(place); type && next_step(&walk, &step);) type = step_type(lower, type, &step);
    return type;
}

static void write_steps(struct lower *lower, const struct ast_node *slot, struct value *value) {
    static const char *const opcodes[] = {"setmember", "setkey", "setkey", "setindex"};
    struct place place;
    place_of(lower, slot, &place);
    if (place.base->kind == AST_NAME && !place.lib_path.length) {
        struct ast_text name = place.base->as.name.text;
        struct local *local = lower_known(lower, name);
        bool pointer = local && local->declared && local->declared->pointer;
        if (!pointer && !lower_check_writable(lower, name, place.base->at, "its members and elements cannot be written")) return;
        const struct type *held = local ? lower_name_type(local) : NULL;
        if (held && held->string && place.access && place.access->as.access.steps[place.first].kind == AST_STEP_INDEX) {
            lower_error(lower, slot->at, DIAG_TYPE, "the characters of a string cannot be written: `string\xc2\xb7set` gives a changed copy");
            return;
        }
    }
    const struct type *wanted = slot_type(lower, &place);
    lower_blame(lower, "the element or member");
    lower_convert(lower, slot->at, value, wanted);
    if (value->slot.kind != SLOT_NONE && wanted && !wanted->pointer) lower_expect(lower, slot->at, value, wanted);
    lower_pin(lower, value);
    struct value base = base_place(lower, &place);
    uint32_t mark = lower->stack_count, count = step_count(&place);
    lower_push(lower, unlike_base(lower, *value, &base.slot));
    value->temp = 0;
    struct step step;
    struct step_walk walk = walk_steps(&place);
    if (count == 1 && next_step(&walk, &step)) {
        if (step.kind == AST_STEP_MEMBER) lower_push(lower, (struct value){.slot = rows_text(step.name), .literal = true});
        else if (step.kind == AST_STEP_TUPLE) push_tuple(lower, &step);
        else push_args(lower, &step.args);
        lower->at = slot->at;
        lower_row(lower, opcodes[step.kind], mark, &base.slot, 1);
    } else {
        lower_push(lower, (struct value){.slot = rows_text(marks_of(lower, &place))});
        push_steps(lower, &place);
        lower->at = slot->at;
        lower_row(lower, "put", mark, &base.slot, 1);
    }
    lower_release(lower, &base);
}

static bool is_plain_path(const struct ast_node *slot) {
    return slot->kind == AST_PATH && path_base(slot) == slot->as.path.text.length;
}

/* Writes the value, which stands somewhere, to one slot; the value stays held if keep. */
static void write_slot(struct lower *lower, const struct ast_node *slot, struct value *value, bool keep) {
    struct value given = *value;
    if (keep) given.temp = 0;
    else value->temp = 0;
    if (slot->kind == AST_DISCARD) {
        lower_release(lower, &given);
    } else if (slot->kind == AST_NAME) {
        if (lower_check_writable(lower, slot->as.name.text, slot->at, "it cannot be written")) lower_assign_name(lower, lower_local(lower, slot->as.name.text), slot->at, &given);
        else lower_release(lower, &given);
    } else if (is_plain_path(slot)) {
        struct layout_slot path = rows_path(slot->as.path.text);
        lower_moved(lower, given, &path);
    } else if (slot->kind == AST_PREFIX) {
        const struct ast_node *pointer = slot->as.prefix.operand;
        struct local *local = pointer->kind == AST_NAME ? lower_known(lower, pointer->as.name.text) : NULL;
        const struct type *wanted = local && local->declared ? types_target(&lower->scope->types, local->declared) : NULL;
        lower_blame(lower, "what `*` writes");
        lower_convert(lower, slot->at, &given, wanted);
        if (given.slot.kind != SLOT_NONE && wanted) lower_expect(lower, slot->at, &given, wanted);
        lower_pin(lower, &given);
        uint32_t mark = lower->stack_count;
        lower_push(lower, lower_expression(lower, slot->as.prefix.operand, NULL, NULL));
        lower_push(lower, given);
        lower->at = slot->at;
        lower_row(lower, "store", mark, NULL, 0);
    } else write_steps(lower, slot, &given);
}

/* A slot that a row can write directly. */
static bool direct_slot(struct lower *lower, const struct ast_node *slot, struct layout_slot *out) {
    if (slot->kind == AST_DISCARD) {
        *out = rows_name(ast_text_of("_"));
        return true;
    }
    if (slot->kind == AST_NAME) {
        struct local *local = lower_local(lower, slot->as.name.text);
        *out = rows_name(local->name);
        return !local->read_param;
    }
    if (!is_plain_path(slot)) return false;
    *out = rows_path(slot->as.path.text);
    return true;
}

/* q, r of a call with several results. */
static void write_results(struct lower *lower, const struct ast_node *node, struct symbol *symbol) {
    const struct ast_nodes *slots = &node->as.write.slots;
    struct layout_slot *targets = ast_alloc(lower->arena, slots->count * sizeof *targets);
    struct value *held = ast_alloc(lower->arena, slots->count * sizeof *held);
    if (!targets || !held) {
        lower->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < slots->count; i++) {
        const struct type *type = symbol->params[symbol->reads + i].type;
        struct local *local = slots->at[i]->kind == AST_NAME ? lower_local(lower, slots->at[i]->as.name.text) : NULL;
        bool checks = local && local->declared && !types_within(local->declared, type);
        if (direct_slot(lower, slots->at[i], &targets[i]) && !checks) {
            held[i].slot.kind = SLOT_NONE;
            continue;
        }
        held[i] = lower_temp(lower);
        held[i].type = type && type->any ? NULL : type;
        targets[i] = held[i].slot;
    }
    lower_call_row(lower, node->as.write.value, symbol, targets, slots->count);
    for (uint32_t i = 0; i < slots->count; i++) {
        const struct type *type = symbol->params[symbol->reads + i].type;
        if (held[i].slot.kind != SLOT_NONE) write_slot(lower, slots->at[i], &held[i], false);
        else if (slots->at[i]->kind == AST_NAME) {
            struct value written = {.slot = targets[i], .type = type};
            settle_name(lower, lower_local(lower, slots->at[i]->as.name.text), slots->at[i]->at, &written);
        }
    }
}

static bool mapping_reported(struct lower *lower, const struct ast_node *node, const struct symbol *symbol) {
    uint32_t given = node->as.write.slots.count;
    if (symbol->writes == given || symbol->writes == 1) return false;
    struct ast_text shown = scope_shown(symbol);
    if (!symbol->writes) lower_error(lower, node->as.write.value->at, DIAG_TYPE, "`%.*s` has no results to write", (int)shown.length, shown.at);
    else
        lower_error(lower, node->as.write.value->at, DIAG_TYPE, "`%.*s` has %u results, and %u %s given: map all of them or none (`_` discards one)",
            (int)shown.length, shown.at, (unsigned)symbol->writes, (unsigned)given, given == 1 ? "slot is" : "slots are");
    return true;
}

/* One value to one or more slots. The first name among them is written directly. */
static void write_value(struct lower *lower, const struct ast_node *node) {
    const struct ast_nodes *slots = &node->as.write.slots;
    const struct ast_node *first = slots->at[0];
    struct layout_slot into;
    bool direct = direct_slot(lower, first, &into) && (first->kind != AST_PATH || !mentions_path(node->as.write.value));
    if (first->kind == AST_DISCARD && slots->count > 1) direct = false;
    struct local *local = first->kind == AST_NAME ? lower_local(lower, first->as.name.text) : NULL;
    if (local && local->read_param) direct = false;
    if (local && local->write_param && local->declared && local->declared->string) direct = false; /* may convert */
    struct place place;
    const struct type *expected = local ? local->declared : NULL;
    if (first->kind == AST_ACCESS || (first->kind == AST_PATH && !is_plain_path(first))) {
        place_of(lower, first, &place);
        bool literal = node->as.write.value->kind >= AST_ARRAY && node->as.write.value->kind <= AST_MAP;
        expected = literal ? slot_type(lower, &place) : NULL;
    }
    if (local) lower_blame(lower, "`%.*s`", (int)local->name.length, local->name.at);
    else lower_blame(lower, "the element or member");
    lower->at = node->at;
    bool fans = slots->count > 1 && node->as.write.value->kind <= AST_PATH; /* it stands somewhere already */
    if (slots->count > 1) expected = NULL;
    struct value value = lower_expression(lower, node->as.write.value, expected, direct && !fans ? &into : NULL);
    if (slots->count == 1) {
        if (!direct) {
            lower->at = node->at;
            write_slot(lower, first, &value, false);
        } else if (local) settle_name(lower, local, first->at, &value);
        return;
    }
    uint32_t from = 0;
    if (direct && !fans) {
        if (local) settle_name(lower, local, first->at, &value);
        from = 1;
    }
    bool plain = true; /* all the rest are names without a type: one `set` with several slots */
    struct layout_slot *targets = ast_alloc(lower->arena, slots->count * sizeof *targets);
    if (!targets) {
        lower->out_of_memory = true;
        return;
    }
    for (uint32_t i = from; i < slots->count; i++) {
        struct local *other = slots->at[i]->kind == AST_NAME ? lower_local(lower, slots->at[i]->as.name.text) : NULL;
        plain = plain && other && !other->read_param && !other->declared && direct_slot(lower, slots->at[i], &targets[i]);
    }
    if (!plain) {
        for (uint32_t i = from; i < slots->count; i++) write_slot(lower, slots->at[i], &value, true);
        lower_release(lower, &value);
        return;
    }
    struct value kept = value;
    uint32_t mark = lower->stack_count;
    lower_push(lower, value);
    lower->at = node->at;
    lower_row(lower, "set", mark, targets + from, slots->count - from);
    for (uint32_t i = from; i < slots->count; i++) settle_name(lower, lower_local(lower, slots->at[i]->as.name.text), slots->at[i]->at, &kept);
}

void lower_write(struct lower *lower, const struct ast_node *node) {
    const struct ast_node *value = node->as.write.value;
    if (value->kind == AST_CALL) {
        struct symbol *symbol = scope_callee(lower->scope, lower->package, value->as.call.callee, value->as.call.member_at);
        if (symbol) {
            scope_type_params(lower->scope, symbol);
            if (mapping_reported(lower, node, symbol)) return;
            for (uint32_t i = 0; symbol->writes > 1 && i < node->as.write.slots.count; i++) {
                const struct ast_node *slot = node->as.write.slots.at[i];
                if (slot->kind == AST_NAME && !lower_check_writable(lower, slot->as.name.text, slot->at, "it cannot be written")) return;
            }
            if (symbol->writes > 1) {
                lower->at = node->at;
                write_results(lower, node, symbol);
                return;
            }
        }
    }
    for (uint32_t i = 0; i < node->as.write.slots.count; i++) {
        const struct ast_node *slot = node->as.write.slots.at[i];
        if (slot->kind == AST_NAME && !lower_check_writable(lower, slot->as.name.text, slot->at, "it cannot be written")) return;
    }
    write_value(lower, node);
}
