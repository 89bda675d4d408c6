/* Calls: what a name means, how many arguments and results there are, and of which types.
 * Relies on lower.h. A function of the tree becomes `call` with its full path, everything else the opcode's own row.
 * Promise: an argument that cannot fit is a TypeError that names function, parameter, expected and actual type. */
#include <stdio.h>
#include <string.h>
#include "layout/fold.h"
#include "layout/lower.h"

struct symbol *lower_callee(struct lower *lower, const struct ast_node *node) {
    struct ast_text callee = node->as.call.callee;
    struct symbol *symbol = scope_callee(lower->scope, lower->package, callee, node->as.call.member_at);
    if (symbol) {
        scope_type_params(lower->scope, symbol);
        return symbol;
    }
    char near[256];
    const char *family = kind_family_suggestion(callee.at, callee.length);
    if (family) {
        if (strncmp(family, "[]", 2) == 0) family += 2; /* a conversion is called by the kind */
        lower_error(lower, node->at, DIAG_NAME, "there is no conversion `%.*s`; did you mean `%s`?", (int)callee.length, callee.at, family);
        return NULL;
    }
    if (scope_struct(lower->scope, lower->package, callee, node->as.call.member_at)) {
        lower_error(lower, node->at, DIAG_NAME, "`%.*s` is a struct, not a function: its values are written %.*s{…}", (int)callee.length, callee.at,
            (int)callee.length, callee.at);
        return NULL;
    }
    scope_nearest(lower->scope, lower->package, callee, false, near, sizeof near);
    lower_error(lower, node->at, DIAG_NAME, "nothing provides `%.*s`%s%s%s", (int)callee.length, callee.at, near[0] ? "; did you mean " : "", near,
        near[0] ? "?" : "");
    return NULL;
}

static const char *plural(uint32_t count) {
    return count == 1 ? "" : "s";
}

static void check_arity(struct lower *lower, const struct ast_node *node, const struct symbol *symbol, uint32_t given) {
    struct ast_text shown = scope_shown(symbol);
    uint32_t least = symbol->variadic ? symbol->reads - 1 : symbol->reads;
    if (given >= least && (symbol->variadic || given <= symbol->reads)) return;
    /* The tables of natives cannot tell optional parameters: what a native takes beyond its signature is left to the core. */
    if (symbol->kind == FOUND_OPCODE && symbol->from_tree && symbol->variadic) return;
    lower_error(lower, node->at, DIAG_TYPE, "`%.*s` takes %s%u argument%s, not %u", (int)shown.length, shown.at, symbol->variadic ? "at least " : "",
        (unsigned)least, plural(least), (unsigned)given);
}

/* An argument for `p:*T`: the place of what stands there, unless that holds a pointer already. */
static bool pass_place(struct lower *lower, const struct ast_node *arg, const struct type *type) {
    if (arg->kind == AST_ACCESS || arg->kind == AST_PATH) return true;
    if (arg->kind != AST_NAME) return false;
    struct local *local = lower_known(lower, arg->as.name.text);
    if (!local || (!local->written && !local->read_param && !local->write_param)) return false;
    const struct type *known = local->declared ? local->declared : local->flow;
    (void)type;
    return known && !known->any && !known->pointer && known->only;
}

static bool numbers_both(const struct type *a, const struct type *b) {
    return a && b && a->scalar && b->scalar && kind_row(a->scalar)->has_arithmetic && kind_row(b->scalar)->has_arithmetic;
}

/* Whether the key is one of a package: `/lib/string·len`. */
static bool is_member(struct ast_text path) {
    for (uint32_t i = 0; i + 1 < path.length; i++)
        if (memcmp(path.at + i, "\xc2\xb7", 2) == 0) return true;
    return false;
}

static struct value lower_argument(struct lower *lower, const struct ast_node *arg, const struct symbol *symbol, const struct signature_param *param) {
    struct ast_text shown = scope_shown(symbol);
    const struct type *type = param ? param->type : NULL;
    bool function = symbol->kind == FOUND_FUNCTION;
    if (type && type->pointer && function && pass_place(lower, arg, type)) return lower_address(lower, arg, NULL);
    if (param) lower_blame(lower, "parameter `%.*s` of `%.*s`", (int)param->name.length, param->name.at, (int)shown.length, shown.at);
    char blame[sizeof lower->blame];
    memcpy(blame, lower->blame, sizeof blame);
    bool wants = type && (function || types_element(type) || arg->kind == AST_ARRAY || arg->kind == AST_MAP || arg->kind == AST_FILL);
    struct value value = lower_expression(lower, arg, wants ? type : NULL, NULL);
    memcpy(lower->blame, blame, sizeof blame);
    bool none = value.slot.kind == SLOT_NONE && value.literal;
    if (none && function && type && !type->any) {
        lower_error(lower, arg->at, DIAG_TYPE, "%s is %.*s, not None", lower->blame, (int)type->text.length, type->text.at);
        return value;
    }
    bool pointer_to_follow = type && type->pointer && (arg->kind == AST_NAME || !function);
    int fits = 0;
    if (!pointer_to_follow && (function || (!numbers_both(type, value.type) && value.type && !value.type->pointer)))
        fits = lower_expect(lower, arg->at, &value, type);
    if (!function && type && is_member(symbol->path)) lower_pin(lower, &value);
    (void)fits;
    return value;
}

/* `vthread·spawn("worker", …)`: the function it names, if that is known at layout. The text becomes the full name in a lib. */
static struct symbol *named_function(struct lower *lower, const struct ast_node *node, const struct symbol *symbol, struct ast_text *name) {
    struct ast_text shown = scope_shown(symbol);
    bool names = ast_text_is(shown, "vthread\xc2\xb7spawn") || ast_text_is(shown, "vthread\xc2\xb7" "create") || ast_text_is(shown, "vthread\xc2\xb7" "call");
    if (!names || !node->as.call.args.count || node->as.call.args.at[0]->kind != AST_STRING) return NULL;
    *name = node->as.call.args.at[0]->as.string.value;
    uint32_t member_at = 0;
    for (uint32_t i = 0; i + 1 < name->length; i++)
        if (memcmp(name->at + i, "\xc2\xb7", 2) == 0) member_at = i + 2;
    if (!name->length) return NULL;
    struct symbol *target = scope_callee(lower->scope, lower->package, *name, member_at);
    if (!target || target->kind != FOUND_FUNCTION) return NULL;
    scope_type_params(lower->scope, target);
    if (!member_at && target->package.length) *name = scope_shown(target);
    return target;
}

static const struct signature_param *param_of(const struct symbol *symbol, uint32_t index) {
    if (index < symbol->reads) return &symbol->params[index];
    return symbol->variadic && symbol->reads ? &symbol->params[symbol->reads - 1] : NULL;
}

static struct ast_text opcode_name(const struct symbol *symbol) {
    return scope_shown(symbol);
}

const struct type *lower_call_row(struct lower *lower, const struct ast_node *node, struct symbol *symbol, const struct layout_slot *slots, uint32_t count) {
    const struct ast_nodes *args = &node->as.call.args;
    uint32_t mark = lower->stack_count, from = 0;
    const struct type *first = NULL;
    struct ast_text name;
    struct symbol *target = symbol->kind == FOUND_OPCODE ? named_function(lower, node, symbol, &name) : NULL;
    if (symbol->kind == FOUND_FUNCTION) lower_push(lower, (struct value){.slot = rows_path(symbol->path)});
    if (target) {
        check_arity(lower, node, target, args->count - 1);
        lower_push(lower, (struct value){.slot = rows_text(name), .literal = true});
        from = 1;
    } else check_arity(lower, node, symbol, args->count);
    for (uint32_t i = from; i < args->count; i++) {
        const struct symbol *taker = target ? target : symbol;
        struct value value = lower_argument(lower, args->at[i], taker, param_of(taker, i - from));
        if (i == 0) first = value.type;
        lower_settle(lower, &value, args, i + 1);
        lower_push(lower, value);
    }
    lower->at = node->at;
    if (symbol->kind == FOUND_FUNCTION) lower_row(lower, "call", mark, slots, count);
    else lower_row_of(lower, opcode_name(symbol), mark, slots, count);
    return first;
}

/* Natives that give a number of the kind that they take. */
static bool keeps_kind(struct ast_text name) {
    static const char *const names[] = {"abs", "floor", "ceil", "round", "trunc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ast_text_is(name, names[i])) return true;
    return false;
}

/* The natives of `array·` whose first parameter and result are arrays of any of one shape keep the element type of one axis: so a loop that
 * appends to a typed array needs no check at run time. */
const struct type *lower_result_type(struct lower *lower, const struct symbol *symbol, const struct type *first) {
    static const char family[] = "array\xc2\xb7";
    const struct type *type = symbol->writes ? symbol->params[symbol->reads].type : NULL;
    struct ast_text shown = scope_shown(symbol);
    if (symbol->from_tree && symbol->kind == FOUND_OPCODE && first && first->scalar && kind_row(first->scalar)->has_arithmetic && keeps_kind(shown)) return first;
    if (type && symbol->from_tree && symbol->kind == FOUND_OPCODE && !symbol->variadic && symbol->reads && type == symbol->params[0].type &&
        shown.length > sizeof family - 1 && memcmp(shown.at, family, sizeof family - 1) == 0 && first && first->only && types_element(first) &&
        first->only->axis_count == 1 && !first->only->quantifier) {
        char text[64];
        snprintf(text, sizeof text, "[]%s", kind_name(types_element(first)));
        return types_of_word(&lower->scope->types, text);
    }
    return type && type->any ? NULL : type;
}

static void lower_lost_arguments(struct lower *lower, const struct ast_node *node) {
    for (uint32_t i = 0; i < node->as.call.args.count; i++) {
        const struct ast_node *arg = node->as.call.args.at[i];
        if (arg->kind == AST_ARRAY || arg->kind == AST_FILL) continue; /* `[]` would want a type that nobody knows */
        struct value value = lower_expression(lower, arg, NULL, NULL);
        lower_release(lower, &value);
    }
}

struct value lower_call(struct lower *lower, const struct ast_node *node, const struct layout_slot *into) {
    struct symbol *symbol = lower_callee(lower, node);
    if (!symbol) {
        lower_lost_arguments(lower, node);
        return lower_result(lower, into); /* not None, which would be an error of its own */
    }
    struct ast_text shown = scope_shown(symbol);
    if (symbol->writes != 1)
        lower_error(lower, node->at, DIAG_TYPE, "`%.*s` has %s: in an expression a call needs exactly one", (int)shown.length, shown.at,
            symbol->writes ? "several results" : "no result");
    enum kv_kind kind = kind_from_name(shown.at, shown.length);
    const struct ast_nodes *args = &node->as.call.args;
    if (kind != KIND_NONE && symbol->kind == FOUND_OPCODE && args->count == 1 &&
        (args->at[0]->kind == AST_INT || args->at[0]->kind == AST_FLOAT)) {
        struct value value = lower_expression(lower, args->at[0], NULL, NULL);
        struct layout_slot folded;
        if (fold_conversion(lower->arena, kind, &value.slot, &folded))
            return lower_moved(lower, (struct value){.slot = folded, .type = types_scalar(&lower->scope->types, kind), .folded = true}, into);
    }
    bool reuses = !into && symbol->kind == FOUND_FUNCTION; /* a call may write what it reads: its result takes the place of an argument */
    struct value result = {.slot = rows_name(ast_text_of("_"))};
    if (!reuses) result = lower_result(lower, into);
    uint32_t before = lower->row_count;
    const struct type *first = lower_call_row(lower, node, symbol, &result.slot, 1);
    if (reuses) {
        result = lower_temp(lower);
        struct layout_row *last = lower->row_count > before ? &lower->rows[lower->row_count - 1] : NULL;
        if (last) last->slots[last->reads] = result.slot;
    }
    result.type = lower_result_type(lower, symbol, first);
    return result;
}
