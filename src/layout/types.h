/* Types as the compiler knows them: interned, so that equal texts are one pointer, with what is asked often worked out.
 * Relies on kvspace/typexpr.h for parsing and matching. NULL stands for "not known at layout".
 * Promise: a claim that a value cannot have a type (types_disjoint) is only made where no value has both. */
#ifndef LAYOUT_TYPES_H
#define LAYOUT_TYPES_H
#include "kvspace/typexpr.h"
#include "layout/ast.h"

struct type {
    struct ast_text text;  /* canonical */
    const struct typexpr *form;
    const struct typexpr_atom *only; /* its one member; NULL for unions */
    struct type *next;     /* in the table */
    uint8_t scalar;        /* enum kv_kind of a plain scalar, else KIND_NONE */
    uint8_t string;        /* char kind of a plain string, else KIND_NONE */
    bool any;              /* takes everything */
    bool pointer;          /* every member is `*…` */
};

struct types {
    struct ast_arena *arena;
    struct type **table; /* chained by hash, 1024 chains */
    const struct type *scalars[KIND_COUNT];
    void *scratch;
    size_t scratch_bytes;
};

/* False when memory ends. */
bool types_start(struct types *types, struct ast_arena *arena);
void types_end(struct types *types);
/* NULL where the text is no type (error says why, may be NULL) or memory ends. */
const struct type *types_of(struct types *types, struct ast_text text, struct typexpr_error *error);
const struct type *types_of_word(struct types *types, const char *text);
const struct type *types_scalar(struct types *types, enum kv_kind kind);
const struct type *types_string(struct types *types, enum kv_kind kind);
/* `[d0,d1]kind`. */
const struct type *types_array(struct types *types, enum kv_kind kind, uint32_t ndim, const uint64_t *dims);

/* Whether every value of actual is one of pattern; false where either is NULL. */
bool types_within(const struct type *pattern, const struct type *actual);
/* Whether no value of actual can be one of pattern, conversions of encodings by a signature granted. NULL: false. */
bool types_disjoint(const struct type *pattern, const struct type *actual);
/* The element kind if it is an array type (one member, with dims), else KIND_NONE. */
enum kv_kind types_element(const struct type *type);
/* The value type of a map type; NULL if it is none. */
const struct type *types_map_value(struct types *types, const struct type *type);
/* The struct's name (`pkg·P`, or a path) if it is a plain struct; length 0 if not. */
struct ast_text types_struct(const struct type *type);
/* The type `*…` points to; NULL where type is no pointer to a known type. */
const struct type *types_target(struct types *types, const struct type *type);

#endif
