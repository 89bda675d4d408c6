/* Values: copying, dropping, comparing, converting, printing cells of any form (value.c, arith.c, text.c, map.c, array.c).
 * Relies on cell.h, heap.h, typexpr.h. Promises: no recursion deeper than VALUE_DEPTH_MAX containers; errors are ERROR_ numbers
 * raised on the core with a message that names the values. `core` parameters are there for heap and errors. */
#ifndef CORE_VALUE_H
#define CORE_VALUE_H

#include "core/call.h"
#include "kvspace/typexpr.h"

enum { VALUE_DEPTH_MAX = 64 };

/* What value.c needs of struct core; exec.c has it. */
struct heap *core_heap(struct core *core);

/* ---- references ---- */
/* Drops the reference of a cell that is a block (recursively frees maps); the cell itself is left as it is. */
void value_free(struct heap *heap, uint32_t ref); /* the block reached 0 */
static inline void cell_drop(struct heap *heap, struct core_cell cell) {
    if (cell_is_block(&cell) && --heap_block(heap, cell_ref(&cell))->refs == 0) value_free(heap, cell_ref(&cell));
}
static inline struct core_cell cell_copy(const struct heap *heap, struct core_cell cell) {
    if (cell_is_block(&cell)) heap_ref(heap, cell_ref(&cell));
    return cell;
}

/* ---- making (0 or an error) ---- */
int value_text_utf8(struct core *core, const char *text, size_t bytes, struct core_cell *out);  /* a []char/utf32 of UTF-8 text */
int value_text_of_kind(struct core *core, unsigned kind, const void *units, uint64_t count, struct core_cell *out);
int value_array(struct core *core, unsigned kind, unsigned ndim, const uint64_t *dims, struct core_cell *out); /* zeroed */
/* The text as UTF-8, malloc'd and zero-terminated, the caller frees it; NULL: no memory or no text. */
char *value_text_to_utf8(struct core *core, const struct core_cell *text, size_t *bytes);

/* ---- types ---- */
/* Fills `actual` for typexpr_match_actual; `buffer` (TYPEXPR bound of the type text) keeps a parsed map type. */
void value_actual_type(struct core *core, const struct core_cell *cell, struct typexpr_actual *actual, void *buffer, size_t capacity);
/* Type as people see it: "int64", "[3]int64", "[]char/utf32", "[]char/utf8·any", "Point", "None". Gives the length. */
size_t value_type_text(struct core *core, const struct core_cell *cell, char *out, size_t capacity);
/* Whether the value may stand where `type` is declared. Converts literals that fit and string encodings: then *cell becomes
 * another (owned: the old is dropped, the new takes its place) value. Gives 0, ERROR_TYPE or ERROR_VALUE without raising:
 * `why` (capacity bytes) gets "expected int8, got []char/utf32" or "300 does not fit int8". */
int value_fit(struct core *core, struct core_cell *cell, const struct typexpr *type, char *why, size_t capacity);

/* ---- comparison ---- */
int value_equal(struct core *core, const struct core_cell *left, const struct core_cell *right, bool *equal); /* language ==, raises across categories */
int value_order(struct core *core, const struct core_cell *left, const struct core_cell *right, const char *operator_text, int *order); /* -1 0 1, 2 unordered (NaN) */
bool value_same(struct core *core, const struct core_cell *left, const struct core_cell *right); /* deep, never raises, for cas and tests */

/* ---- arithmetic, all kind mixes (arith.c); opcode names are add sub mul div mod … ---- */
#define VALUE_BINARY(name) int arith_##name(struct core *core, const struct core_cell *left, const struct core_cell *right, struct core_cell *out)
VALUE_BINARY(add);  VALUE_BINARY(sub);  VALUE_BINARY(mul);  VALUE_BINARY(div);  VALUE_BINARY(mod);
VALUE_BINARY(bitand);  VALUE_BINARY(bitor);  VALUE_BINARY(bitxor);  VALUE_BINARY(shl);  VALUE_BINARY(shr);
VALUE_BINARY(eq);  VALUE_BINARY(neq);  VALUE_BINARY(lt);  VALUE_BINARY(gt);  VALUE_BINARY(le);  VALUE_BINARY(ge);
VALUE_BINARY(and);  VALUE_BINARY(or);
#undef VALUE_BINARY
int arith_neg(struct core *core, const struct core_cell *value, struct core_cell *out);
int arith_not(struct core *core, const struct core_cell *value, struct core_cell *out);
/* Conversion by a kind name, int8(x), char/utf8(s). */
int arith_convert(struct core *core, unsigned kind, const struct core_cell *value, struct core_cell *out);

/* ---- containers: reading gives a COPY with its own reference (raises IndexError, KeyError, TypeError) ---- */
int value_index(struct core *core, const struct core_cell *base, struct core_cell *const *indices, uint32_t count, struct core_cell *out);
int value_member(struct core *core, const struct core_cell *base, const struct core_cell *key, struct core_cell *out); /* KeyError if missing */
/* Writing into the value that `*base` holds. *base is made private first (copied when its block is shared, grown when full);
 * the new reference is stored into *base by these functions only as their last step, so a kill leaves the old value or the new
 * one. In place where refs == 1. `value` is borrowed; None deletes the member. A None base becomes a []char/utf8·any map
 * (member by text key); an array written through None is a TypeError.
 * When *base got another block, the OLD reference is not dropped but given in *old (0: none): the caller drops it after its commit. */
int value_set_index(struct core *core, struct core_cell *base, struct core_cell *const *indices, uint32_t count, const struct core_cell *value, uint32_t *old);
int value_set_member(struct core *core, struct core_cell *base, const struct core_cell *key, const struct core_cell *value, uint32_t *old);
/* One step of for: the element, and key/index, at `position`; *more false at the end. For arrays, text, maps, structs, ranges.
 * `position` is moved on. key may be NULL. Outputs are owned. */
int value_next(struct core *core, const struct core_cell *container, int64_t *position, struct core_cell *value, struct core_cell *key, bool *more);

/* list / newarray / fillarray / newmap of docs/rows.md. `type` may be NULL (inferred). Values are borrowed. */
int value_list(struct core *core, struct core_cell *const *values, uint32_t count, struct core_cell *out);
int value_new_array(struct core *core, const struct typexpr *type, struct core_cell *const *values, uint32_t count, struct core_cell *out);
int value_fill_array(struct core *core, const struct typexpr *type, const struct core_cell *value, struct core_cell *out);
int value_new_map(struct core *core, const char *type_text, struct core_cell *const *pairs, uint32_t count, struct core_cell *out); /* count cells: k, v, k, v */
/* An empty struct value at path /lib/pkg·P; fields are then set in order with value_set_member by exec (which reads the prototype). */
int value_new_struct(struct core *core, const char *path, struct core_cell *out);

/* ---- maps, for everybody who walks them (map.c) ---- */
struct core_cell *map_find(struct core *core, uint32_t map, const struct core_cell *key); /* NULL: absent; borrowed */
/* Entry number `at` (0 …) in order; false at the end. Skips deleted ones by moving *at. Borrowed pointers. */
bool map_entry(struct core *core, uint32_t map, uint64_t *at, struct core_cell **key, struct core_cell **value);
uint64_t map_length(struct core *core, uint32_t map);

/* ---- printing: as println shows it; quoted as inside containers ---- */
int value_print(struct core *core, const struct core_cell *cell, bool quoted, struct text_out *out);

#endif
