/* Keys as text: splitting into steps, checking, joining, hashing. Relies on utf8.h.
 * Promises: no allocation; a key is read once, from its start; every function takes any bytes and never reads beyond the
 * zero byte at the end. `·` is the bytes C2 B7, `‥` is E2 80 A5. */
#ifndef KVSPACE_PATH_H
#define KVSPACE_PATH_H

#include <kvspace/kvspace.h>

#include <stdbool.h>
#include <string.h>

#define PATH_DOT "\xc2\xb7"
#define PATH_SHADOW "\xe2\x80\xa5"

/* One step. `name` is borrowed from the key; a system step's name begins with `‥`. */
struct path_step {
    const char *name;
    uint32_t bytes;
    uint32_t hash; /* of name and member-or-not: what tables and the intern table are keyed by */
    uint8_t kind;  /* enum kvspace_step */
};

/* Hash of a step's name; members hash apart from children. */
uint32_t path_hash(const char *name, size_t bytes, bool member);

/* Takes the step that begins at `at` (at its separator) and gives where the next begins (at the zero byte: it was the last).
 * NULL: not well-formed; *why (may be NULL) is then a static sentence. */
const char *path_next(const char *at, struct path_step *step, const char **why);

/* Where the steps of a key begin: behind a root's "/", else at its first separator. NULL: the key does not begin with `/`. */
static inline const char *path_begin(const char *key) {
    if (key[0] != '/') return NULL;
    return key[1] ? key : key + 1;
}

/* Whether a name may be a step of that kind (of `bytes` bytes, no zero byte at its end). */
bool path_name_is_valid(enum kvspace_step kind, const char *name, size_t bytes);

/* 0 or KVSPACE_EKEY with a sentence in `problem` (may be NULL). */
int path_check(const char *key, struct kvspace_problem *problem);

/* Whether `key` is `top` or lies below it. */
bool path_is_within(const char *key, const char *top);

/* key and the text of an entry ("/x", "·x"), joined into `out` of KVSPACE_KEY_MAX + 1 bytes. KVSPACE_ELIMIT. */
int path_append(const char *key, const char *text, size_t text_bytes, char *out);

#endif
