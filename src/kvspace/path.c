/* Keys as text, the implementation of path.h, and the functions of the public interface on keys.
 * Relies on utf8.h. Promises: one pass over a key; ASCII takes the short way, everything else is decoded and checked. */
#include "kvspace/path.h"

#include "kvspace/utf8.h"

#include <stdio.h>

/* What a byte of a step means: plain, the end of the step (zero byte, `/`), or to be looked at closer. */
enum { BYTE_PLAIN = 0, BYTE_END, BYTE_CLOSER };

static inline int byte_class(unsigned char byte) {
    if (byte == 0 || byte == '/') return BYTE_END;
    return byte < 0x20 || byte >= 0x7f ? BYTE_CLOSER : BYTE_PLAIN;
}

static inline uint64_t mix(uint64_t left, uint64_t right) {
    uint64_t product = (left ^ UINT64_C(0x9e3779b97f4a7c15)) * (right ^ UINT64_C(0xd6e8feb86659fd93));
    return product ^ (product >> 32);
}

static inline uint64_t load_short(const char *name, size_t bytes) {
    uint64_t word = 0;
    uint32_t low, high;
    if (bytes >= 4) {
        memcpy(&low, name, 4);
        memcpy(&high, name + bytes - 4, 4);
        return (uint64_t)high << 32 | low;
    }
    if (bytes) word = (uint64_t)(unsigned char)name[0] << 16 | (uint64_t)(unsigned char)name[bytes / 2] << 8 |
                      (unsigned char)name[bytes - 1];
    return word;
}

uint32_t path_hash(const char *name, size_t bytes, bool member) {
    uint64_t state = bytes + (member ? UINT64_C(0x51ed270b) : 0), word;
    while (bytes > 8) {
        memcpy(&word, name, 8);
        state = mix(state, word);
        name += 8;
        bytes -= 8;
    }
    state = mix(state, load_short(name, bytes));
    state = mix(state, UINT64_C(0xa0761d6478bd642f));
    return (uint32_t)(state ^ state >> 29);
}

static bool is_dot(const char *at) { return (unsigned char)at[0] == 0xc2 && (unsigned char)at[1] == 0xb7; }
static bool is_shadow(const char *at) {
    return (unsigned char)at[0] == 0xe2 && (unsigned char)at[1] == 0x80 && (unsigned char)at[2] == 0xa5;
}

/* A byte that is not plain ASCII: gives the bytes of its code point, 0 if it may not stand in a step. */
static size_t closer(const char *at) {
    size_t left = 1;
    uint32_t point;
    while (left < UTF8_BYTES_MAX && at[left]) left++;
    size_t bytes = utf8_decode(at, left, &point);
    if (!bytes || point < 0x20 || (point >= 0x7f && point < 0xa0)) return 0;
    return bytes;
}

static const char *refuse(const char **why, const char *text) {
    if (why) *why = text;
    return NULL;
}

const char *path_next(const char *at, struct path_step *step, const char **why) {
    bool member = at[0] != '/';
    if (member && !is_dot(at)) return refuse(why, "a key begins with /");
    const char *name = at + (member ? 2 : 1), *end = name;
    for (;;) {
        int class = byte_class((unsigned char)*end);
        if (class == BYTE_PLAIN) {
            end++;
            continue;
        }
        if (class == BYTE_END || is_dot(end)) break;
        size_t bytes = closer(end);
        if (!bytes) return refuse(why, "a step holds a control character or bytes that are not UTF-8");
        end += bytes;
    }
    size_t bytes = (size_t)(end - name);
    if (bytes == 0) return refuse(why, "a step is empty");
    if (bytes > KVSPACE_STEP_MAX) return refuse(why, "a step is longer than 255 bytes");
    step->kind = member ? KVSPACE_STEP_MEMBER : KVSPACE_STEP_CHILD;
    if (!member && is_shadow(name)) {
        if (bytes == 3) return refuse(why, "a system variable has no name");
        step->kind = KVSPACE_STEP_SYSTEM;
    }
    step->name = name;
    step->bytes = (uint32_t)bytes;
    step->hash = path_hash(name, bytes, member);
    return end;
}

bool path_name_is_valid(enum kvspace_step kind, const char *name, size_t bytes) {
    char key[KVSPACE_STEP_MAX + 8];
    struct path_step step;
    if (bytes == 0 || bytes > KVSPACE_STEP_MAX || memchr(name, 0, bytes)) return false;
    size_t front = kind == KVSPACE_STEP_MEMBER ? 2 : 1;
    memcpy(key, kind == KVSPACE_STEP_MEMBER ? PATH_DOT : "/", front);
    memcpy(key + front, name, bytes);
    key[front + bytes] = 0;
    const char *end = path_next(key, &step, NULL);
    return end && !*end && step.bytes == bytes && step.kind == kind;
}

int path_check(const char *key, struct kvspace_problem *problem) {
    const char *why = "a key begins with /", *at = key ? path_begin(key) : NULL, *before = key;
    struct path_step step;
    while (at && *at) {
        before = at;
        at = path_next(at, &step, &why);
    }
    if (at && (size_t)(at - key) > KVSPACE_KEY_MAX) {
        at = NULL;
        why = "a key is longer than 4096 bytes";
    }
    if (at) return 0;
    if (problem) {
        problem->position = key ? (size_t)(before - key) : 0;
        snprintf(problem->message, sizeof problem->message, "%s", key ? why : "no key was given");
    }
    return KVSPACE_EKEY;
}

bool path_is_within(const char *key, const char *top) {
    size_t bytes = strlen(top);
    if (bytes == 1) return true;
    if (strncmp(key, top, bytes) != 0) return false;
    return key[bytes] == 0 || key[bytes] == '/' || is_dot(key + bytes);
}

int path_append(const char *key, const char *text, size_t text_bytes, char *out) {
    size_t bytes = strlen(key);
    if (bytes == 1) bytes = 0; /* the root's own slash is the separator */
    if (bytes + text_bytes > KVSPACE_KEY_MAX) return KVSPACE_ELIMIT;
    memmove(out, key, bytes);
    memcpy(out + bytes, text, text_bytes);
    out[bytes + text_bytes] = 0;
    return 0;
}

/* ---- public ---- */

int kvspace_key_check(const char *key, struct kvspace_problem *problem) { return path_check(key, problem); }

size_t kvspace_key_parent(const char *key) {
    const char *at = path_begin(key), *last = key;
    struct path_step step;
    if (!at || !*at) return 0;
    while (at && *at) {
        last = at;
        at = path_next(at, &step, NULL);
    }
    return last == key ? 1 : (size_t)(last - key);
}

int kvspace_key_join(const char *key, enum kvspace_step step, const char *name, char *out) {
    char text[KVSPACE_STEP_MAX + 8];
    size_t bytes = strlen(name), front = step == KVSPACE_STEP_MEMBER ? 2 : 1;
    if (step == KVSPACE_STEP_CHILD && is_shadow(name)) step = KVSPACE_STEP_SYSTEM;
    if (!path_name_is_valid(step, name, bytes)) return KVSPACE_EKEY;
    if (step == KVSPACE_STEP_MEMBER && key[0] == '/' && !key[1]) return KVSPACE_EKEY;
    memcpy(text, step == KVSPACE_STEP_MEMBER ? PATH_DOT : "/", front);
    memcpy(text + front, name, bytes);
    return path_append(key, text, front + bytes, out);
}

/* `.` becomes `·`, and `..` at the start of a step `‥`; a key that is literal already stays as it is. */
int kvspace_key_from_ascii(const char *text, char *out) {
    size_t bytes = 0;
    for (const char *at = text; *at;) {
        const char *put = at;
        size_t put_bytes = 1;
        if (at[0] == '/' && at[1] == '.' && at[2] == '.') {
            put = "/" PATH_SHADOW;
            put_bytes = 4;
            at += 3;
        } else if (at[0] == '.' && at != text && at[-1] != '/') {
            put = PATH_DOT;
            put_bytes = 2;
            at += 1;
        } else {
            at += 1;
        }
        if (bytes + put_bytes > KVSPACE_KEY_MAX) return KVSPACE_ELIMIT;
        memcpy(out + bytes, put, put_bytes);
        bytes += put_bytes;
    }
    out[bytes] = 0;
    return path_check(out, NULL);
}
