/* Sinks for printed text; see textout.h. Relies on malloc for the buffer and on utf8.h for quoting. */
#include "kvspace/textout.h"

#include "kvspace/utf8.h"

#include <stdlib.h>
#include <string.h>

void text_put(struct text_out *out, const char *bytes, size_t count) {
    if (!out->error && count) out->error = out->write(out->context, bytes, count);
}

void text_puts(struct text_out *out, const char *text) { text_put(out, text, strlen(text)); }

static char hex_digit(uint32_t value) { return "0123456789abcdef"[value & 15]; }

/* Characters that a terminal or an editor acts upon instead of showing them: line and paragraph separators, marks of
 * direction, the byte order mark. */
static bool is_invisible(uint32_t point) {
    return (point >= 0x200e && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0xfeff;
}

static void put_braced(struct text_out *out, uint32_t point) {
    char text[12];
    size_t at = sizeof text;
    text[--at] = '}';
    do {
        text[--at] = hex_digit(point);
        point >>= 4;
    } while (point);
    text[--at] = '{';
    text[--at] = 'u';
    text[--at] = '\\';
    text_put(out, text + at, sizeof text - at);
}

void text_put_escaped(struct text_out *out, uint32_t point) {
    switch (point) {
    case '\n': text_put(out, "\\n", 2); return;
    case '\t': text_put(out, "\\t", 2); return;
    case '\r': text_put(out, "\\r", 2); return;
    case '\0': text_put(out, "\\0", 2); return;
    case '\\': text_put(out, "\\\\", 2); return;
    case '"': text_put(out, "\\\"", 2); return;
    default: break;
    }
    if (point < 0x20 || (point >= 0x7f && point < 0xa0)) {
        char text[4] = {'\\', 'x', hex_digit(point >> 4), hex_digit(point)};
        text_put(out, text, sizeof text);
        return;
    }
    char bytes[UTF8_BYTES_MAX];
    size_t count = is_invisible(point) ? 0 : utf8_encode(point, bytes);
    if (count) text_put(out, bytes, count);
    else put_braced(out, utf8_point_is_valid(point) ? point : 0xfffd);
}

void text_put_quoted(struct text_out *out, const char *text, size_t length) {
    text_put(out, "\"", 1);
    for (size_t at = 0; at < length;) {
        /* Runs of plain characters go out in one piece. */
        size_t end = at;
        while (end < length && (unsigned char)text[end] >= 0x20 && (unsigned char)text[end] < 0x7f && text[end] != '"' &&
               text[end] != '\\')
            end++;
        text_put(out, text + at, end - at);
        if (end == length) break;
        uint32_t point = UINT32_MAX;
        size_t bytes = utf8_decode(text + end, length - end, &point);
        text_put_escaped(out, point);
        at = end + (bytes ? bytes : 1);
    }
    text_put(out, "\"", 1);
}

static int buffer_write(void *context, const char *bytes, size_t count) {
    struct text_buffer *buffer = context;
    if (buffer->limit && count > buffer->limit - buffer->length) return TEXT_ELIMIT;
    if (count >= buffer->capacity - buffer->length || !buffer->bytes) {
        if (count > SIZE_MAX / 4 - buffer->length) return TEXT_ENOMEM;
        size_t capacity = (buffer->length + count) * 2 + 64;
        char *larger = realloc(buffer->bytes, capacity);
        if (!larger) return TEXT_ENOMEM;
        buffer->bytes = larger;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->length, bytes, count);
    buffer->length += count;
    buffer->bytes[buffer->length] = 0;
    return 0;
}

struct text_out text_buffer_out(struct text_buffer *buffer) {
    return (struct text_out){.write = buffer_write, .context = buffer};
}

void text_buffer_free(struct text_buffer *buffer) {
    free(buffer->bytes);
    *buffer = (struct text_buffer){0};
}
