/* JSON text (RFC 8259): a streaming writer and a strict pull parser. Relies on textout.h, numtext.h and utf8.h.
 * Promises: the writer's output is always valid JSON and valid UTF-8; the parser reads nothing but valid JSON, allocates
 * nothing and never recurses; nesting is limited to JSON_DEPTH_MAX; integers of 64 bits keep all their digits, floats are
 * the shortest that read back. JSON has no NaN and no infinities: they are written as the strings "nan", "inf" and "-inf",
 * which json_float64 reads back. */
#ifndef KVSPACE_JSON_H
#define KVSPACE_JSON_H

#include "kvspace/textout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_DEPTH_MAX = 512 };

enum json_status {
    JSON_OK = 0,
    JSON_ESYNTAX = 0x4a53, /* not JSON; distinct from the errors of a text_out */
    JSON_EDEPTH,
    JSON_ERANGE, /* a number that does not fit, or a token of another sort */
    JSON_EMISUSE /* the writer's caller: an end without a beginning, a key in an array, a value without a key */
};

/* ---- writing ---- */

/* Zero with `out` set is ready. Errors of `out` and misuse stick in out->error; check it once, at the end. `indent` is
 * blanks a level, 0: all on one line. The fields below it are the writer's own. */
struct json_writer {
    struct text_out *out;
    uint32_t indent;
    uint32_t depth;
    bool after_key, has_items, done;
    uint64_t objects[JSON_DEPTH_MAX / 64]; /* bit per level: object or array */
};

void json_object_begin(struct json_writer *writer);
void json_object_end(struct json_writer *writer);
void json_array_begin(struct json_writer *writer);
void json_array_end(struct json_writer *writer);
void json_key(struct json_writer *writer, const char *text, size_t length);
void json_key_text(struct json_writer *writer, const char *text); /* ended by a zero byte */
/* Bytes that are not UTF-8 come out as U+FFFD. */
void json_put_string(struct json_writer *writer, const char *text, size_t length);
void json_put_text(struct json_writer *writer, const char *text); /* ended by a zero byte */
void json_put_int64(struct json_writer *writer, int64_t value);
void json_put_uint64(struct json_writer *writer, uint64_t value);
void json_put_float64(struct json_writer *writer, double value);
void json_put_float32(struct json_writer *writer, float value);
void json_put_bool(struct json_writer *writer, bool value);
void json_put_null(struct json_writer *writer);
/* Text that is one JSON value already; not checked. */
void json_put_raw(struct json_writer *writer, const char *text, size_t length);
/* Gives out->error, or JSON_EMISUSE when something is still open or nothing was written. */
int json_finish(struct json_writer *writer);

/* ---- reading ---- */

enum json_event {
    JSON_END = 0, /* the text is over; also every call after an error */
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_KEY, /* the key of an object; its value comes next */
    JSON_ARRAY_BEGIN,
    JSON_ARRAY_END,
    JSON_OBJECT_BEGIN,
    JSON_OBJECT_END
};

/* What was read. `text` is borrowed from the input: a number's characters, or a string's between its quotes. */
struct json_token {
    enum json_event event;
    const char *text;
    size_t length;
    bool escaped;  /* STRING, KEY: there are escapes, so json_decode is needed */
    bool integral; /* NUMBER: no point and no exponent */
};

/* Set text and length, the rest zero. The text must stay until the last token was used. */
struct json_reader {
    const char *text;
    size_t length;
    size_t at;
    int error;           /* enum json_status */
    const char *message; /* of the error, static; its byte is `at` */
    uint32_t depth;
    uint8_t state;
    uint64_t objects[JSON_DEPTH_MAX / 64];
};

/* The next token. Gives 0, or the error, which sticks. */
int json_next(struct json_reader *reader, struct json_token *token);

/* Skips to the end of the value that `token` began (nothing to do for leaves). */
int json_skip(struct json_reader *reader, const struct json_token *token);

/* Writes the string without escapes; `out` has room for token->length bytes, which is always enough. Gives the length. */
size_t json_decode(const struct json_token *token, char *out);

/* Whether the string or key is this text. */
bool json_is(const struct json_token *token, const char *text);

/* The number. JSON_ERANGE: it does not fit, is not integral, or is no number at all. */
int json_int64(const struct json_token *token, int64_t *value);
int json_uint64(const struct json_token *token, uint64_t *value);
/* Any number, rounded to the nearest, or one of the strings "nan", "inf", "-inf". */
int json_float64(const struct json_token *token, double *value);

#endif
