/* Literals of kvlang for the tools: text to a small tree of values, and any tree of values to text.
 * Relies on typexpr.h, numtext.h, timetext.h, textout.h; knows nothing of the engine. Promises: bounded depth on every
 * path, memory in proportion to the text (and to `body_bytes_max`), an error that names its byte, and what
 * literal_print writes in a container or with `quoted` reads back to an equal value.
 *
 *     None true 42 -7 0xff 18446744073709551615 1.5 1e3 inf -inf nan          int64, uint64 beyond it, float64
 *     1.5s 250ms 1h30m     2026-12-01T05:38:04Z                              duration, time
 *     "text" 'text' """text""" `raw` r#"raw"#                                 []char/utf32
 *     /n1·next   &/n1   &"/a path with blanks"                                a pointer
 *     [1, 2.5]   [[1,2],[3,4]]                                                an array of the common kind
 *     {a=1; b=[1,2]}   {0="x", 1="y"}   {[1,2]=7}   {1, 2}   {}               a map, in this order of its keys
 *     Point{x=1.0}   pkg·P{…}   /lib/pkg·P{…}                                 a struct
 *     int8(3)   bool(0)   char/utf8("x")   time("…")   duration("1.5s")       a conversion by a kind: integers wrap
 *     [2]float32([1,2])   []char/utf8·int64({a=1})   [256]int8([])   [4]int8([7...])       a value of a declared type:
 *                              literals convert if they fit; [] is filled with zeros and [v...] with v
 *
 * `;`, `,` and newlines separate entries; trailing separators are accepted. */
#ifndef KVSPACE_LITERAL_H
#define KVSPACE_LITERAL_H

#include "kvspace/kinds.h"
#include "kvspace/textout.h"

enum {
    LITERAL_DEPTH_MAX = 64, /* containers in containers, when parsing and when printing */
    LITERAL_AXES_MAX = 8
};

enum literal_status {
    LITERAL_OK = 0,
    LITERAL_ESYNTAX, /* not a literal */
    LITERAL_ETYPE,   /* a value that its declared type does not take, mixed elements, an unknown kind */
    LITERAL_EVALUE,  /* a number, time, duration or character that does not fit */
    LITERAL_ELIMIT,  /* depth, axes, or size of a body */
    LITERAL_ENOMEM
};

struct literal_error {
    int code;
    size_t position;   /* byte in the text */
    char message[200]; /* one sentence, ended by a zero byte */
};

enum literal_class {
    LITERAL_NONE = 0,
    LITERAL_SCALAR,  /* kind, body */
    LITERAL_TEXT,    /* a string: kind is a char kind, body in that encoding, and text in UTF-8 */
    LITERAL_ARRAY,   /* kind, ndim, dims, body; row-major */
    LITERAL_MAP,     /* entries with keys of class SCALAR, TEXT or TUPLE */
    LITERAL_STRUCT,  /* entries with keys of class TEXT; text is the path of the struct, /lib/Point */
    LITERAL_POINTER, /* text is the key pointed to */
    LITERAL_TUPLE    /* only as a key: entries without keys, values of class SCALAR */
};

/* A value. Everything belongs to its document. */
struct literal {
    uint8_t class; /* enum literal_class */
    uint8_t kind;
    uint8_t ndim;
    uint8_t plain;    /* an unadorned number, or an array of such: converts to a declared kind if it fits */
    uint32_t position; /* byte in the text where it begins, for the caller's messages */
    const char *type; /* its type expression, canonical; "" for None and tuples. Ended by a zero byte */
    const void *body; /* SCALAR, TEXT, ARRAY: the bytes of the value, in the order of the machine, aligned to 8 */
    uint64_t body_bytes;
    const char *text; /* TEXT, STRUCT, POINTER; ended by a zero byte that does not count */
    size_t text_bytes;
    uint64_t dims[LITERAL_AXES_MAX];      /* ARRAY */
    const struct literal_entry *entries; /* MAP, STRUCT, TUPLE: the first, NULL if empty */
    uint64_t entry_count;
};

struct literal_entry {
    struct literal *key; /* NULL in a tuple */
    struct literal *value;
    const struct literal_entry *next;
};

/* A parsed text; literal_document_free gives all memory back. */
struct literal_document {
    struct literal *root;
    struct literal_block *blocks;
};

/* Zero is the default. */
struct literal_options {
    uint64_t body_bytes_max; /* of one value's body; 0: 1 GiB */
};

/* Parses all of `text`. On success *document owns the tree; on an error it is empty. `options` and `error` may be NULL.
 * A map may name a key twice: entries come in the order of the text, and whoever builds the value lets the last win. */
int literal_parse(const char *text, size_t length, const struct literal_options *options,
                  struct literal_document *document, struct literal_error *error);
void literal_document_free(struct literal_document *document);

/* ---- printing ---- */

/* One value as its owner shows it to the printer. The bytes are borrowed for the time of the call. */
struct literal_view {
    uint8_t class; /* enum literal_class; TUPLE only for a key */
    uint8_t kind;
    uint8_t ndim;
    const void *body; /* as in struct literal; need not be aligned */
    uint64_t body_bytes;
    const char *text; /* STRUCT, POINTER: see struct literal. A TEXT may be given by its body alone */
    size_t text_bytes;
    const char *type; /* MAP, POINTER: the type expression, for LITERAL_STYLE_TYPED; NULL if not known */
    size_t type_bytes;
    uint64_t dims[LITERAL_AXES_MAX];
};

/* A key: text in UTF-8 (count 0), or `count` scalars; or text to be printed as it is (`printed`, such as `[1,2]`). */
struct literal_key_view {
    const char *text;
    size_t text_bytes;
    uint8_t count;
    uint8_t printed;
    uint8_t kinds[LITERAL_AXES_MAX];
    uint8_t values[LITERAL_AXES_MAX][8]; /* each in its first kind_size bytes */
};

struct literal_visit; /* the printer's own */

/* Called by a reader for each entry of a container, in order; when it does not give 0, the reader stops and returns that. */
typedef int literal_entry_function(struct literal_visit *visit, const struct literal_key_view *key, const void *value);

/* How to read somebody's values. A value is an opaque pointer. Both functions give 0 or an error of their owner's choice
 * (not 0), which literal_print returns. */
struct literal_reader {
    int (*look)(void *context, const void *value, struct literal_view *view);
    int (*walk)(void *context, const void *value, literal_entry_function *entry, struct literal_visit *visit);
    void *context;
};

/* How a string (or a pointer) that is the whole value looks. */
enum literal_top { LITERAL_TOP_BARE = 0, LITERAL_TOP_QUOTED };

/* Plain is language.md "Printing", which leaves kinds out. Typed text reads back to the same types and bodies:
 * int8(3), [2]float32([1.0, 2.0]), char/utf8("x"), [int64]·bool({0=true}), *int64(/n1), /lib/pkg·P{x=1}. */
enum literal_style { LITERAL_STYLE_PLAIN = 0, LITERAL_STYLE_TYPED };

/* Zero is the default: plain, a string at the top bare, everything shown. */
struct literal_print_options {
    enum literal_style style; /* TYPED implies quotes at the top */
    enum literal_top top;
    uint64_t items_max; /* elements of an axis and entries of a container that are shown before `…`; 0: all */
    uint32_t depth_max; /* containers deeper than this are shown as `…`; 0: LITERAL_DEPTH_MAX, which is also the most */
};

/* Prints the value to `out`. Gives 0, the error of `out`, or that of the reader. `options` may be NULL. */
int literal_print(const struct literal_reader *reader, const void *value, const struct literal_print_options *options,
                  struct text_out *out);

/* One scalar of `kind` as it prints in a container; its bytes need not be aligned. Gives the error of `out`. */
int literal_print_scalar(enum kv_kind kind, const void *element, struct text_out *out);

/* A reader of struct literal: `value` is a const struct literal *, the context is not used. */
extern const struct literal_reader literal_tree_reader;

#endif
