/* The streaming writer of JSON; see json.h. The parser is in json_read.c.
 * Relies on text_out for where the text goes. Promise: what was written is a beginning of valid JSON at any time; a call
 * that would break that writes nothing and leaves JSON_EMISUSE. */
#include "kvspace/json.h"

#include "kvspace/numtext.h"
#include "kvspace/utf8.h"

#include <math.h>
#include <string.h>

static bool in_object(const struct json_writer *writer) {
    uint32_t level = writer->depth - 1;
    return writer->depth > 0 && writer->objects[level / 64] >> (level % 64) & 1;
}

static void fail(struct json_writer *writer, int code) {
    if (!writer->out->error) writer->out->error = code;
}

static void newline(struct json_writer *writer) {
    static const char blanks[] = "                                ";
    if (!writer->indent) return;
    text_put(writer->out, "\n", 1);
    for (uint64_t left = (uint64_t)writer->indent * writer->depth; left > 0;) {
        size_t count = left < sizeof blanks - 1 ? (size_t)left : sizeof blanks - 1;
        text_put(writer->out, blanks, count);
        left -= count;
    }
}

static void separate(struct json_writer *writer) {
    if (writer->has_items) text_put(writer->out, ",", 1);
    if (writer->depth) newline(writer);
    writer->has_items = true;
}

/* Before each value; false if there must be none here. */
static bool begin_value(struct json_writer *writer) {
    bool misplaced = writer->done || (in_object(writer) && !writer->after_key);
    if (misplaced) fail(writer, JSON_EMISUSE);
    if (writer->out->error) return false;
    if (!writer->after_key) separate(writer);
    writer->after_key = false;
    writer->done = writer->depth == 0;
    return true;
}

static void put_value(struct json_writer *writer, const char *text, size_t length) {
    if (begin_value(writer)) text_put(writer->out, text, length);
}

static void begin_container(struct json_writer *writer, bool object) {
    if (writer->depth == JSON_DEPTH_MAX) fail(writer, JSON_EDEPTH);
    if (!begin_value(writer)) return;
    writer->done = false;
    uint64_t bit = UINT64_C(1) << (writer->depth % 64);
    uint64_t *word = &writer->objects[writer->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    writer->depth++;
    writer->has_items = false;
    text_put(writer->out, object ? "{" : "[", 1);
}

static void end_container(struct json_writer *writer, bool object) {
    if (writer->depth == 0 || in_object(writer) != object || writer->after_key) fail(writer, JSON_EMISUSE);
    if (writer->out->error) return;
    writer->depth--;
    if (writer->has_items) newline(writer);
    text_put(writer->out, object ? "}" : "]", 1);
    writer->has_items = true;
    writer->done = writer->depth == 0;
}

void json_object_begin(struct json_writer *writer) { begin_container(writer, true); }
void json_object_end(struct json_writer *writer) { end_container(writer, true); }
void json_array_begin(struct json_writer *writer) { begin_container(writer, false); }
void json_array_end(struct json_writer *writer) { end_container(writer, false); }

static void put_code_unit(struct text_out *out, uint32_t unit) {
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};
    text_put(out, text, sizeof text);
}

static void put_escape(struct text_out *out, uint32_t point) {
    static const char letters[] = "btn\0fr"; /* 8 to 13; 11 has no letter */
    char text[2] = {'\\', (char)point};
    if (point >= 8 && point <= 13 && point != 11) text[1] = letters[point - 8];
    else if (point != '"' && point != '\\') {
        put_code_unit(out, point);
        return;
    }
    text_put(out, text, sizeof text);
}

/* The line separators U+2028 and U+2029 are escaped, too: old JavaScript ends a line at them. */
static void put_quoted(struct text_out *out, const char *text, size_t length) {
    text_put(out, "\"", 1);
    size_t start = 0; /* of what was not written yet */
    size_t at = 0;
    while (at < length) {
        uint32_t point = 0xfffd;
        size_t bytes = utf8_decode(text + at, length - at, &point);
        bool plain = bytes && point >= 0x20 && point != '"' && point != '\\' && point != 0x2028 && point != 0x2029;
        if (plain) {
            at += bytes;
            continue;
        }
        text_put(out, text + start, at - start);
        put_escape(out, point);
        at += bytes ? bytes : 1;
        start = at;
    }
    text_put(out, text + start, at - start);
    text_put(out, "\"", 1);
}

void json_key(struct json_writer *writer, const char *text, size_t length) {
    if (!in_object(writer) || writer->after_key) fail(writer, JSON_EMISUSE);
    if (writer->out->error) return;
    separate(writer);
    put_quoted(writer->out, text, length);
    text_put(writer->out, ": ", writer->indent ? 2 : 1);
    writer->after_key = true;
}

void json_key_text(struct json_writer *writer, const char *text) { json_key(writer, text, strlen(text)); }

void json_put_string(struct json_writer *writer, const char *text, size_t length) {
    if (begin_value(writer)) put_quoted(writer->out, text, length);
}

void json_put_text(struct json_writer *writer, const char *text) { json_put_string(writer, text, strlen(text)); }

void json_put_int64(struct json_writer *writer, int64_t value) {
    char text[NUMTEXT_INTEGER_MAX];
    put_value(writer, text, numtext_print_int64(value, text));
}

void json_put_uint64(struct json_writer *writer, uint64_t value) {
    char text[NUMTEXT_INTEGER_MAX];
    put_value(writer, text, numtext_print_uint64(value, text));
}

void json_put_float64(struct json_writer *writer, double value) {
    char text[NUMTEXT_FLOAT_MAX];
    size_t length = numtext_print_float64(value, text);
    if (isfinite(value)) put_value(writer, text, length);
    else json_put_string(writer, text, length);
}

void json_put_float32(struct json_writer *writer, float value) {
    char text[NUMTEXT_FLOAT_MAX];
    size_t length = numtext_print_float32(value, text);
    if (isfinite(value)) put_value(writer, text, length);
    else json_put_string(writer, text, length);
}

void json_put_bool(struct json_writer *writer, bool value) { put_value(writer, value ? "true" : "false", value ? 4 : 5); }

void json_put_null(struct json_writer *writer) { put_value(writer, "null", 4); }

void json_put_raw(struct json_writer *writer, const char *text, size_t length) { put_value(writer, text, length); }

int json_finish(struct json_writer *writer) {
    if (!writer->done) fail(writer, JSON_EMISUSE);
    return writer->out->error;
}
