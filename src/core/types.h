/* Types of values at run time: interned type texts and their parsed forms, what a cell's type is, checks and messages.
 * Relies on typexpr.h and block.h. Promises: a type id is a block in the heap that holds the canonical text, so that it
 * means the same in every process; parsed forms are private to the process and kept until the heap is closed. */
#ifndef CORE_TYPES_H
#define CORE_TYPES_H

#include "core/block.h"
#include "kvspace/typexpr.h"

/* How a map's keys are stored. */
enum key_class {
    KEY_UNDECIDED = 0, /* `{}` without a type: the first write decides */
    KEY_TEXT,          /* []char/utf32 cells, whatever the encoding in the type */
    KEY_SCALAR,        /* of one kind */
    KEY_TUPLE          /* []int64 arrays of key_count elements */
};

/* One type, parsed. */
struct type_info {
    uint32_t id;
    uint32_t bytes;
    const char *text;            /* canonical, ended by a zero byte */
    const struct typexpr *form;
    /* a map: */
    uint8_t key_class, key_kind, key_count;
    uint8_t value_kind;          /* the kind when the value type is one scalar kind, else 0 */
    bool is_map, is_struct, value_any;
    uint8_t key_kinds[TYPEXPR_AXES_MAX];
    const struct typexpr *value; /* the value type of a map */
    uint32_t value_type;         /* its id when it is one map or one struct, else 0 */
};

/* Gives the type of that text; ERROR_TYPE with the parser's message when it is none. */
int type_of_text(struct heap *heap, const char *text, size_t bytes, const struct type_info **out);
/* The type of an id that a block carries; ERROR_RUNTIME when the id is damaged. */
int type_of_id(struct heap *heap, uint32_t id, const struct type_info **out);
void types_close(struct heap *heap);

/* Ready-made types that `{}` literals take. */
int type_text_any(struct heap *heap, const struct type_info **out); /* []char/utf8·any */
int type_kind_any(struct heap *heap, unsigned kind, const struct type_info **out); /* [kind]·any */

/* Describes the type of a cell; borrows from the heap. */
void type_describe(struct heap *heap, const struct cell *cell, struct typexpr_actual *actual);
/* The same as text (cut at capacity, ended by a zero byte). Gives the uncut length. */
size_t type_print(struct heap *heap, const struct cell *cell, char *out, size_t capacity);

/* The same as messages say it: a struct by the name that its user gave it, `pkg·Point`, without `/lib/`. */
void type_show(struct heap *heap, const struct cell *cell, char *out, size_t capacity);
void type_shorten(char *text); /* takes `/lib/` out of a type's text, in place */

/* Whether the type takes the cell as it is. */
bool type_takes(struct heap *heap, const struct typexpr *type, const struct cell *cell);

/* Fits a value into a declared type. `literal`: the value stands as a literal in the source, so numbers convert if
 * they fit. Strings convert between encodings either way. *out is a cell with a reference of its own. ERROR_TYPE when the type does
 * not take the value (the message is left to the caller: fault.message says expected and got), ERROR_VALUE when it would not fit. */
int type_fit(struct heap *heap, const struct typexpr *type, const struct cell *cell, bool literal, struct cell *out);

#endif
