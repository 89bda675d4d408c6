/* Laid-out functions in memory: what lower produces, tidy shortens, emit writes into the tree and dump reads back.
 * Relies on ast.h for texts and the arena, kvspace/kinds.h for value kinds. The contract of rows is docs/rows.md.
 * Promise: a unit holds no pointer into anything but its arena (source texts included), and lists as text with rows_list,
 * which is what the golden tests of lowering compare. */
#ifndef LAYOUT_ROWS_H
#define LAYOUT_ROWS_H
#include "kvspace/kinds.h"
#include "kvspace/textout.h"
#include "layout/ast.h"

enum layout_slot_kind {
    SLOT_NONE = 0, /* None: an absent key */
    SLOT_NAME,     /* text: a cell of the frame; `_` discards */
    SLOT_PATH,     /* text: an absolute key */
    SLOT_SCALAR,   /* value_kind, bits: the value in its low bytes (floats as their own bits) */
    SLOT_TEXT,     /* value_kind: the char kind; text in UTF-8 */
    SLOT_ARRAY,    /* value_kind, array */
    SLOT_RECORD,   /* only as a default of a field: a struct or a map, record */
    SLOT_LABEL     /* only while lowering: bits is a label, a row number afterwards */
};

struct layout_array {
    uint32_t ndim;
    uint64_t dims[8];
    size_t bytes;
    void *body; /* row-major, in the byte order of the machine */
};

struct layout_record;

struct layout_slot {
    uint8_t kind;       /* enum layout_slot_kind */
    uint8_t value_kind; /* enum kv_kind */
    union {
        uint64_t bits;
        struct ast_text text;
        const struct layout_array *array;
        const struct layout_record *record;
    } as;
};

struct layout_record {
    struct ast_text type; /* `/lib/Point`, or a map type */
    uint32_t count;
    struct layout_slot *keys; /* SLOT_TEXT for a struct */
    struct layout_slot *values;
};

struct layout_row {
    struct ast_text opcode;
    struct layout_slot *slots; /* reads, then writes */
    uint32_t reads, writes;
    uint32_t line, column;
};

struct layout_param {
    struct ast_text name;
    struct ast_text type; /* names of structs resolved; without `...` */
};

enum layout_item_kind { ITEM_FUNCTION, ITEM_RWIR, ITEM_STRUCT };

/* One key of /lib and what stands below it. */
struct layout_item {
    uint8_t kind; /* enum layout_item_kind */
    bool variadic;
    bool is_init;         /* the implicit init of a lib or of the file */
    struct ast_text path; /* /lib/pkg·f */
    struct layout_param *params; /* reads, then writes; the fields of a struct */
    uint32_t reads, writes;      /* of a struct: 0 and the number of fields */
    struct layout_slot *defaults; /* of a struct: one a field, SLOT_NONE without */
    struct layout_row *rows;      /* row number r is rows[r - 1] */
    uint32_t row_count;
    struct ast_text source; /* `‥src` */
    struct ast_text doc;
    uint32_t line, column; /* of the head */
};

/* Everything a file lays out, in source order; inits last. */
struct layout_unit {
    struct ast_text file;
    struct layout_item *items;
    uint32_t count;
    struct ast_text *inits; /* paths of the libs' inits, in the order in which they run */
    uint32_t init_count;
    bool has_init; /* the file's own bare instructions, at /lib/init */
};

/* Lists an item as text: a head line `/lib/f(a:int64) -> (b:int64)` and a line a row, `1 add a, 1 -> b`. */
void rows_list(const struct layout_item *item, struct text_out *out);
void rows_list_unit(const struct layout_unit *unit, struct text_out *out);
/* One slot as it stands in such a line. */
void rows_list_slot(const struct layout_slot *slot, struct text_out *out);
bool rows_slot_equal(const struct layout_slot *a, const struct layout_slot *b);

struct layout_slot rows_name(struct ast_text name);
struct layout_slot rows_path(struct ast_text path);
struct layout_slot rows_int(int64_t value);
struct layout_slot rows_bool(bool value);
struct layout_slot rows_float(double value);
struct layout_slot rows_text(struct ast_text utf8);
/* The value of a scalar slot: an integer of any kind widened, a float of any arithmetic kind as float64. */
int64_t rows_slot_int(const struct layout_slot *slot);
double rows_slot_float(const struct layout_slot *slot);

#endif
