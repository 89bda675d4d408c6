/* Value kinds: what one element of a value is. Everything comes from kinds.def.
 * Relies on the C standard library only. Promises: all functions are pure, safe on any input (an unknown number is
 * treated like KIND_NONE) and fast enough for an interpreter's inner loop. A time is nanoseconds since
 * 1970-01-01T00:00:00Z and a duration is nanoseconds, both as int64; a char kind's unit is one code point (utf32),
 * one byte (utf8) or one character (ascii); a bool is a byte 0 or 1. */
#ifndef KVSPACE_KINDS_H
#define KVSPACE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kv_kind {
    KIND_NONE = 0, /* no kind: None, a container, a struct */
#define KIND(name, text, class, bytes, is_signed, arithmetic, storage_only, hash) KIND_##name,
#include "kvspace/kinds.def"
#undef KIND
    KIND_COUNT
};

enum kv_kind_class {
    KIND_CLASS_NONE = 0,
    KIND_CLASS_BOOL,
    KIND_CLASS_INT,
    KIND_CLASS_UINT,
    KIND_CLASS_FLOAT,
    KIND_CLASS_CHAR,
    KIND_CLASS_TIME,
    KIND_CLASS_DURATION
};

enum { KIND_NAME_MAX = 11 }; /* bytes of the longest kind name */

/* One row of kinds.def. */
struct kv_kind_row {
    const char *name;     /* "" for KIND_NONE */
    uint8_t name_bytes;
    uint8_t kind_class;   /* enum kv_kind_class */
    uint8_t bytes;        /* size of an element; 0 for KIND_NONE */
    bool is_signed;
    bool has_arithmetic;  /* scalar arithmetic in the core */
    bool storage_only;    /* tensors and storage; no scalar arithmetic, not a map key */
};

extern const struct kv_kind_row kind_rows[KIND_COUNT];

static inline const struct kv_kind_row *kind_row(unsigned kind) {
    return &kind_rows[kind < KIND_COUNT ? kind : KIND_NONE];
}

/* Bytes of one element, 0 for KIND_NONE. */
static inline size_t kind_size(unsigned kind) { return kind_row(kind)->bytes; }

/* The text of the kind, "" for KIND_NONE; static, never freed. */
static inline const char *kind_name(unsigned kind) { return kind_row(kind)->name; }

static inline enum kv_kind_class kind_class(unsigned kind) {
    return (enum kv_kind_class)kind_row(kind)->kind_class;
}

static inline bool kind_is_integer(unsigned kind) {
    enum kv_kind_class class = kind_class(kind);
    return class == KIND_CLASS_INT || class == KIND_CLASS_UINT;
}

static inline bool kind_is_float(unsigned kind) { return kind_class(kind) == KIND_CLASS_FLOAT; }

static inline bool kind_is_char(unsigned kind) { return kind_class(kind) == KIND_CLASS_CHAR; }

/* An integer or a float, the storage-only floats included. */
static inline bool kind_is_number(unsigned kind) { return kind_is_integer(kind) || kind_is_float(kind); }

/* Whether the integer fits an integer kind without change; false for kinds that are no integers. */
bool kind_holds_int64(unsigned kind, int64_t value);
bool kind_holds_uint64(unsigned kind, uint64_t value);

/* The kind of that exact name, KIND_NONE if there is none. `text` need not end in a zero byte. */
enum kv_kind kind_from_name(const char *text, size_t length);

/* The kind that the writer of a family name ("int", "uint", "float", "char", "string", "num") probably meant, as a
 * type text ("int64", "[]char/utf32"); NULL when the text is no family name. Family names are never types. */
const char *kind_family_suggestion(const char *text, size_t length);

/* The kind whose name is nearest to a misspelt one (edit distance at most 2, and less than half of its length);
 * KIND_NONE when nothing is near. For messages only. */
enum kv_kind kind_nearest(const char *text, size_t length);

#endif
