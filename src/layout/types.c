/* Interning and questions. Relies on typexpr.h; texts and forms live in the arena of the compilation.
 * Promise: see types.h. */
#include "layout/types.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 1024 };

static uint32_t hash_of(struct ast_text text) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < text.length; i++) hash = (hash ^ (unsigned char)text.at[i]) * 16777619u;
    return hash % CHAINS;
}

bool types_start(struct types *types, struct ast_arena *arena) {
    memset(types, 0, sizeof *types);
    types->arena = arena;
    types->table = ast_alloc(arena, CHAINS * sizeof(struct type *));
    types->scratch_bytes = typexpr_bound(TYPEXPR_TEXT_MAX);
    types->scratch = malloc(types->scratch_bytes);
    return types->table && types->scratch;
}

void types_end(struct types *types) {
    free(types->scratch);
    types->scratch = NULL;
}

static void describe(struct type *type) {
    const struct typexpr_atom *first = typexpr_first(type->form);
    type->any = typexpr_is_any(type->form);
    type->only = type->form->atom_count == 1 ? first : NULL;
    type->scalar = (uint8_t)typexpr_only_kind(type->form);
    type->pointer = true;
    for (const struct typexpr_atom *atom = first; atom; atom = typexpr_next(type->form, atom))
        if (atom->prefix != '*') type->pointer = false;
    if (type->only && first->class == TYPE_KIND && !first->prefix && first->axis_count == 1 && kind_is_char(first->kind) &&
        typexpr_axes(first)[0] == AXIS_ANY)
        type->string = first->kind;
}

const struct type *types_of(struct types *types, struct ast_text text, struct typexpr_error *error) {
    uint32_t hash = hash_of(text);
    for (struct type *type = types->table[hash]; type; type = type->next)
        if (ast_text_equal(type->text, text)) return type;
    if (typexpr_parse(text.at, text.length, types->scratch, types->scratch_bytes, error)) return NULL;
    uint32_t bytes = ((struct typexpr *)types->scratch)->bytes;
    struct type *type = ast_alloc(types->arena, sizeof *type);
    void *form = ast_alloc(types->arena, bytes);
    if (!type || !form) return NULL;
    memcpy(form, types->scratch, bytes);
    type->form = form;
    type->text = ast_copy(types->arena, text);
    describe(type);
    type->next = types->table[hash];
    types->table[hash] = type;
    return type;
}

const struct type *types_of_word(struct types *types, const char *text) {
    return types_of(types, ast_text_of(text), NULL);
}

const struct type *types_scalar(struct types *types, enum kv_kind kind) {
    if (kind == KIND_NONE || kind >= KIND_COUNT) return NULL;
    if (!types->scalars[kind]) types->scalars[kind] = types_of_word(types, kind_name(kind));
    return types->scalars[kind];
}

const struct type *types_string(struct types *types, enum kv_kind kind) {
    char text[32];
    snprintf(text, sizeof text, "[]%s", kind_name(kind));
    return types_of_word(types, text);
}

const struct type *types_array(struct types *types, enum kv_kind kind, uint32_t ndim, const uint64_t *dims) {
    char text[256];
    size_t used = 0;
    for (uint32_t i = 0; i < ndim && i < TYPEXPR_AXES_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", i ? "," : "[", (unsigned long long)dims[i]);
    snprintf(text + used, sizeof text - used, "]%s", kind_name(kind));
    return types_of_word(types, text);
}

bool types_within(const struct type *pattern, const struct type *actual) {
    if (!pattern || !actual) return false;
    return pattern == actual || pattern->any || typexpr_match(pattern->form, actual->form);
}

static bool is_string(const struct typexpr_atom *atom) {
    return atom->class == TYPE_KIND && kind_is_char(atom->kind) && atom->axis_count == 1 && atom->prefix != '@';
}

/* Whether the numbers of axes exclude each other: both fixed and different, or a fixed length against another. */
static bool axes_exclude(const struct typexpr_atom *a, const struct typexpr_atom *b) {
    if (a->quantifier || b->quantifier) return false;
    if (a->axis_count != b->axis_count) return true;
    for (unsigned i = 0; i < a->axis_count; i++) {
        uint64_t left = typexpr_axes(a)[i], right = typexpr_axes(b)[i];
        if (left != right && left < AXIS_LEAST && right < AXIS_LEAST) return true;
    }
    return false;
}

static const char *bare_struct(const struct typexpr_atom *atom, size_t *length) {
    const char *name = (const char *)(typexpr_axes(atom) + atom->axis_count);
    *length = atom->name_bytes;
    if (*length > 5 && memcmp(name, "/lib/", 5) == 0) {
        name += 5;
        *length -= 5;
    }
    return name;
}

static bool atoms_disjoint(const struct typexpr_atom *a, const struct typexpr_atom *b) {
    if (a->class == TYPE_ANY && !a->axis_count) return a->prefix && a->prefix != b->prefix;
    if (b->class == TYPE_ANY && !b->axis_count) return b->prefix && a->prefix != b->prefix;
    if (a->prefix != b->prefix) return true;
    if (a->class == TYPE_WORD || b->class == TYPE_WORD) return false;
    if (is_string(a) && is_string(b)) return false;
    if (a->class == TYPE_MAP || b->class == TYPE_MAP) return a->class != b->class && a->class != TYPE_ANY && b->class != TYPE_ANY;
    if (axes_exclude(a, b)) return true;
    if (a->class == TYPE_ANY || b->class == TYPE_ANY) return false;
    if (a->class != b->class) return true;
    if (a->class == TYPE_KIND) return a->kind != b->kind;
    size_t left_length, right_length;
    const char *left = bare_struct(a, &left_length), *right = bare_struct(b, &right_length);
    return left_length != right_length || memcmp(left, right, left_length) != 0;
}

bool types_disjoint(const struct type *pattern, const struct type *actual) {
    if (!pattern || !actual || pattern == actual || pattern->any || actual->any) return false;
    for (const struct typexpr_atom *a = typexpr_first(pattern->form); a; a = typexpr_next(pattern->form, a))
        for (const struct typexpr_atom *b = typexpr_first(actual->form); b; b = typexpr_next(actual->form, b))
            if (!atoms_disjoint(a, b)) return false;
    return true;
}

enum kv_kind types_element(const struct type *type) {
    if (!type || !type->only || type->only->class != TYPE_KIND || type->only->prefix || !type->only->axis_count) return KIND_NONE;
    return (enum kv_kind)type->only->kind;
}

const struct type *types_map_value(struct types *types, const struct type *type) {
    if (!type || !type->only || type->only->class != TYPE_MAP || type->only->prefix) return NULL;
    uint32_t bracket = 0;
    for (uint32_t i = 0; i + 1 < type->text.length; i++) { /* the first `·` outside of brackets ends the key */
        if (type->text.at[i] == '[') bracket++;
        if (type->text.at[i] == ']') bracket--;
        if (!bracket && memcmp(type->text.at + i, "\xc2\xb7", 2) == 0)
            return types_of(types, (struct ast_text){type->text.at + i + 2, type->text.length - i - 2}, NULL);
    }
    return NULL;
}

struct ast_text types_struct(const struct type *type) {
    if (!type || !type->only || type->only->class != TYPE_NAME || type->only->prefix || type->only->axis_count)
        return (struct ast_text){"", 0};
    return type->text;
}

const struct type *types_target(struct types *types, const struct type *type) {
    if (!type || !type->only || type->only->prefix != '*' || type->text.at[0] != '*') return NULL;
    return types_of(types, (struct ast_text){type->text.at + 1, type->text.length - 1}, NULL);
}
