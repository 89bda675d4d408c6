/* Type expressions (language.md §3): parsed, printed in one canonical form, and matched against other types or values.
 *
 *     type  = atom { "|" atom }                                 int64|float64
 *     atom  = [ "*" | "@" ] ( shape | key "·" type )            *Point   [.,3]float32   []char/utf8·int64
 *     shape = [ dims ] ( "any" | kind | struct )                a struct is Point, pkg·P, a/b·P, /lib/Point, /lib/pkg·P
 *     dims  = "[]" | "[" axis { "," axis } "]"                  [] is [.]
 *     axis  = N | "." | "?" | "*" | "+"                         at most one of ? * + in one dims, at most 8 axes
 *     key   = scalar | "[]" char-kind | "[" scalar { "," scalar } "]"        int64·T is [int64]·T
 *
 * A key takes the whole union that follows it (`int64·a|b` is a map to a|b), so a map can only be the last member of a
 * union. Beyond the grammar of §3: `*` and `@` may stand before a map (the type of &m), and `.` is read as `·` where
 * a `·` is due. Blanks between tokens are skipped. Words that the tree uses for its own cells (rwfunc, opcode, name,
 * param, none, `def rwir`, `def struct`, …) are types too: class TYPE_WORD, equal only to themselves.
 *
 * What matching means (`typexpr_match(pattern, actual)`: is every value of `actual` one of `pattern`?):
 *  - `any` without dims takes everything, None, pointers and maps included; `[…]any` takes elements of any kind or struct;
 *  - a kind takes that kind only: nothing is converted here;
 *  - without dims a value has no axes. `.` takes one axis of any length, N one of exactly N; `?` takes no axis or one,
 *    `*` any number, also none, `+` one or more, each of any length. So `[?]int64` and `[*]int64` take the scalar int64,
 *    `[*,3]float32` every array whose last axis has 3. An array has at most 8 axes, and that is used: `[*]T` is
 *    the same type as `[?]T|[.,+]T`;
 *  - an axis of unknown length (`.` in `actual`) is not taken by N;
 *  - `*T` takes `*U` if T takes U; `@T` likewise; neither takes the other, nor a plain value;
 *  - maps: the keys are the same, and the value type of the pattern takes that of the actual;
 *  - structs: the same name, where a leading /lib/ does not count (`Point` is `/lib/Point`). A bare name inside a lib has
 *    to be resolved by whoever knows the lib, before;
 *  - a union as `actual` is taken if each of its members is; as `pattern` it takes what one of its members takes.
 *
 * The parsed form is one block without pointers that the caller provides; it can be copied with memcpy and compared with
 * typexpr_equal, and all functions that read it allocate nothing. It is for private memory: a form that another process
 * could change must not be read here. The exchange format is the text. */
#ifndef KVSPACE_TYPEXPR_H
#define KVSPACE_TYPEXPR_H

#include "kvspace/kinds.h"

enum {
    TYPEXPR_TEXT_MAX = 4096, /* bytes of a type expression */
    TYPEXPR_AXES_MAX = 8,    /* axes of a dims, kinds of a tuple key */
    TYPEXPR_DEPTH_MAX = 32,  /* maps in maps */
    TYPEXPR_UNION_MAX = 64   /* members of one union */
};

/* Errors of parsing. */
enum typexpr_status {
    TYPEXPR_OK = 0,
    TYPEXPR_ESYNTAX, /* not a type expression */
    TYPEXPR_EKIND,   /* a family name or a misspelt kind: the message has a suggestion */
    TYPEXPR_ELIMIT,  /* one of the limits above, or a shape of more than 2^63-1 bytes */
    TYPEXPR_ESPACE   /* the caller's buffer is too small: see typexpr_bound */
};

struct typexpr_error {
    int code;          /* enum typexpr_status */
    size_t position;   /* byte in the text where it went wrong */
    char message[160]; /* one sentence in English, ended by a zero byte, without position */
};

/* Lengths of axes that are no number. All real lengths are below AXIS_LEAST. */
#define AXIS_ANY UINT64_MAX              /* .  */
#define AXIS_OPTIONAL (UINT64_MAX - 1)   /* ?  */
#define AXIS_STAR (UINT64_MAX - 2)       /* *  */
#define AXIS_PLUS (UINT64_MAX - 3)       /* +  */
#define AXIS_LEAST AXIS_PLUS

enum typexpr_class {
    TYPE_NONE = 0, /* only in an actual: the value None; taken by `any` and by the word `none` */
    TYPE_KIND,     /* an element kind, with or without axes */
    TYPE_NAME,     /* a struct, with or without axes */
    TYPE_MAP,      /* key·value */
    TYPE_ANY,      /* any, with or without axes (in an actual: a value of unknown type) */
    TYPE_WORD      /* a word of the tree's own */
};

/* A parsed type: this head, then its atoms. Aligned like uint64_t. */
struct typexpr {
    uint32_t bytes;       /* of the whole form */
    uint32_t scalar_mask; /* bit k: takes a scalar of kind k; bit 0: takes None */
    uint32_t vector_mask; /* bit k: takes every array of kind k with one axis; bit 0: is `any` */
    uint16_t atom_count;  /* members of the union, at least 1 */
    uint16_t reserved;
};

/* One member of a union; after it stand its axes, then its name or (map) the struct typexpr of its values. */
struct typexpr_atom {
    uint32_t bytes;      /* to the next atom */
    uint8_t class;       /* enum typexpr_class */
    uint8_t prefix;      /* 0, '*' or '@' */
    uint8_t kind;        /* of the elements (TYPE_KIND), of the text key (TYPE_MAP with key_count 0) */
    uint8_t axis_count;  /* 0: no dims */
    uint16_t name_bytes; /* TYPE_NAME, TYPE_WORD */
    uint8_t key_count;   /* TYPE_MAP: kinds of the tuple key; 0 for a text key */
    uint8_t quantifier;  /* 1 + index of the axis that is ? * or +, 0 if there is none */
    uint8_t key[TYPEXPR_AXES_MAX];
    uint32_t reserved;
};

/* A value's type, as light as an interpreter can make it. A scalar int64 is { .class = TYPE_KIND, .kind = KIND_INT64 };
 * all zero is None. Everything is borrowed. */
struct typexpr_actual {
    uint8_t class;  /* enum typexpr_class */
    uint8_t kind;   /* TYPE_KIND */
    uint8_t prefix; /* 0, '*' or '@': a pointer to, a handle of, what the rest describes */
    uint8_t ndim;   /* 0 for a scalar, at most 8 */
    uint32_t name_bytes;
    const char *name;               /* TYPE_NAME, TYPE_WORD */
    const struct typexpr_atom *map; /* TYPE_MAP: an atom of that class */
    uint64_t dims[TYPEXPR_AXES_MAX];
};

/* A buffer of this many bytes is enough for every text of `length` bytes. */
static inline size_t typexpr_bound(size_t length) { return 64 + 24 * length; }

/* Parses `text` into `buffer` (`capacity` bytes, aligned like uint64_t). On success the form starts at `buffer` and has
 * `((struct typexpr *)buffer)->bytes` bytes. Gives enum typexpr_status; `error` may be NULL. */
int typexpr_parse(const char *text, size_t length, void *buffer, size_t capacity, struct typexpr_error *error);

/* Writes the canonical text, cut at `capacity` and ended by a zero byte if capacity > 0. Gives the length of the
 * uncut text. The text parses to an equal form. */
size_t typexpr_print(const struct typexpr *type, char *out, size_t capacity);

/* The same for a value's type: `[2,3]float32`, `*Point`. TYPE_NONE prints as `None`. */
size_t typexpr_print_actual(const struct typexpr_actual *actual, char *out, size_t capacity);

bool typexpr_match(const struct typexpr *pattern, const struct typexpr *actual);
bool typexpr_match_actual_slow(const struct typexpr *pattern, const struct typexpr_actual *actual);

/* Whether `pattern` takes a scalar of this kind: one bit test. */
static inline bool typexpr_takes_scalar(const struct typexpr *pattern, unsigned kind) {
    return pattern->scalar_mask >> (kind & 31) & 1;
}

/* Whether `pattern` takes the value. */
static inline bool typexpr_match_actual(const struct typexpr *pattern, const struct typexpr_actual *actual) {
    if (actual->class == TYPE_KIND && !actual->prefix) {
        if (actual->ndim == 0) return typexpr_takes_scalar(pattern, actual->kind);
        if (actual->ndim == 1 && pattern->vector_mask >> (actual->kind & 31) & 1) return true;
    }
    return typexpr_match_actual_slow(pattern, actual);
}

/* Whether one member of a union takes the value. */
bool typexpr_atom_takes(const struct typexpr_atom *pattern, const struct typexpr_actual *actual);

/* Whether both take the same values; the order of a union does not count. */
bool typexpr_equal(const struct typexpr *left, const struct typexpr *right);

/* Whether the type is `any`, alone or in a union. */
static inline bool typexpr_is_any(const struct typexpr *type) { return type->vector_mask & 1; }

/* The kind, if the type is one scalar kind and nothing else; KIND_NONE if not. */
enum kv_kind typexpr_only_kind(const struct typexpr *type);

/* Walking the members: `for (atom = typexpr_first(t); atom; atom = typexpr_next(t, atom))`. */
static inline const struct typexpr_atom *typexpr_first(const struct typexpr *type) {
    return (const struct typexpr_atom *)(const void *)(type + 1);
}
static inline const struct typexpr_atom *typexpr_next(const struct typexpr *type, const struct typexpr_atom *atom) {
    const char *next = (const char *)atom + atom->bytes;
    return next < (const char *)type + type->bytes ? (const struct typexpr_atom *)(const void *)next : NULL;
}

/* axis_count lengths or AXIS_ values. */
static inline const uint64_t *typexpr_axes(const struct typexpr_atom *atom) {
    return (const uint64_t *)(const void *)(atom + 1);
}
/* name_bytes bytes, not ended by a zero byte; canonical (`·`, no blanks). */
static inline const char *typexpr_name(const struct typexpr_atom *atom) {
    return (const char *)(typexpr_axes(atom) + atom->axis_count);
}
/* The value type of a map. */
static inline const struct typexpr *typexpr_map_value(const struct typexpr_atom *atom) {
    return (const struct typexpr *)(const void *)(atom + 1);
}

/* Describes a type of one member without ? * + as an actual that borrows from it (an axis `.` gets the length
 * AXIS_ANY); false for all others. */
bool typexpr_actual_of(const struct typexpr *type, struct typexpr_actual *actual);

/* Describes one member of a union in the same way; axes ? * + keep their AXIS_ values, so it is for printing only. */
void typexpr_describe(const struct typexpr_atom *atom, struct typexpr_actual *actual);

/* Whether two struct names are the same, a leading /lib/ not counted. */
bool typexpr_same_name(const char *left, size_t left_bytes, const char *right, size_t right_bytes);

#endif
