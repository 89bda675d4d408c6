/* Constants computed at layout, exactly as the language computes them at run time.
 * Relies on rows.h. Promise: what would be an error at run time (a division by zero, a shift out of range, categories that
 * do not mix) is not folded, so that it happens where and when it should. */
#ifndef LAYOUT_FOLD_H
#define LAYOUT_FOLD_H
#include "layout/rows.h"

/* literals: 1 the left one is a literal, 2 the right one. False where it cannot or must not be folded. */
bool fold_binary(struct ast_arena *arena, enum ast_op op, const struct layout_slot *left, const struct layout_slot *right, unsigned literals,
                 struct layout_slot *result);
bool fold_prefix(enum ast_prefix prefix, const struct layout_slot *value, struct layout_slot *result);
/* A conversion by a kind, `int8(300)`. */
bool fold_conversion(struct ast_arena *arena, enum kv_kind kind, const struct layout_slot *value, struct layout_slot *result);
/* A numeric literal as another kind, if it fits. */
bool fold_fit(enum kv_kind kind, const struct layout_slot *value, struct layout_slot *result);
/* The kind of a result of numbers of two kinds; KIND_NONE where not both are arithmetic. */
enum kv_kind fold_result_kind(enum kv_kind left, enum kv_kind right);

#endif
