/* UTF-8 by bit arithmetic: no state machine, eight ASCII bytes at a time where text is plain.
 * Relies on utf8.h. Promise: reads only inside the given length, whatever the bytes are. */
#include "kvspace/utf8.h"

#include <string.h>

static const uint64_t HIGH_BITS = UINT64_C(0x8080808080808080);

static uint64_t load8(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

static bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

size_t utf8_decode_long(const char *text, size_t length, uint32_t *point) {
    const unsigned char *byte = (const unsigned char *)text;
    if (length == 0) return 0;
    uint32_t first = byte[0];
    if (first < 0x80) {
        *point = first;
        return 1;
    }
    /* 0x80 to 0xc1 never start a valid sequence: continuations and overlong forms of two bytes. */
    size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (bytes == 0 || bytes > length) return 0;
    uint32_t value = first & (0xffU >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if (!is_continuation(byte[i])) return 0;
        value = value << 6 | (byte[i] & 0x3fU);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[bytes] || !utf8_point_is_valid(value)) return 0;
    *point = value;
    return bytes;
}

size_t utf8_encode(uint32_t point, char *out) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (!utf8_point_is_valid(point)) return 0;
    size_t bytes = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = bytes - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    out[0] = (char)((0xf00U >> bytes & 0xffU) | point);
    return bytes;
}

/* Bytes of plain ASCII at the start, in steps of eight and then one by one. */
static size_t ascii_prefix(const char *text, size_t length) {
    size_t at = 0;
    while (length - at >= 8 && !(load8(text + at) & HIGH_BITS)) at += 8;
    while (at < length && (unsigned char)text[at] < 0x80) at++;
    return at;
}

bool utf8_is_ascii(const char *text, size_t length) { return ascii_prefix(text, length) == length; }

size_t utf8_valid_prefix(const char *text, size_t length) {
    size_t at = ascii_prefix(text, length);
    while (at < length) {
        uint32_t point;
        size_t bytes = utf8_decode_long(text + at, length - at, &point);
        if (bytes == 0) return at;
        at += bytes;
        at += ascii_prefix(text + at, length - at);
    }
    return at;
}

size_t utf8_count(const char *text, size_t length) {
    size_t count = 0;
    size_t at = 0;
    for (; length - at >= 8; at += 8) {
        uint64_t word = load8(text + at);
        /* A continuation byte has bit 7 set and bit 6 clear; the multiplication adds the eight flags. */
        uint64_t continuation = word >> 7 & ~word >> 6 & UINT64_C(0x0101010101010101);
        count += 8 - (size_t)(continuation * UINT64_C(0x0101010101010101) >> 56);
    }
    for (; at < length; at++) count += !is_continuation((unsigned char)text[at]);
    return count;
}

size_t utf8_position(const char *text, size_t length, size_t index) {
    size_t at = 0;
    while (at < length) {
        if (!is_continuation((unsigned char)text[at])) {
            if (index == 0) return at;
            index--;
        }
        at++;
    }
    return length;
}

size_t utf8_to_utf32(const char *text, size_t length, uint32_t *out, size_t capacity, size_t *written) {
    size_t at = 0;
    size_t count = 0;
    while (at < length && count < capacity) {
        size_t bytes = utf8_decode(text + at, length - at, &out[count]);
        if (bytes == 0) break;
        at += bytes;
        count++;
    }
    *written = count;
    return at;
}

size_t utf32_to_utf8(const uint32_t *points, size_t length, char *out, size_t capacity, size_t *written) {
    size_t at = 0;
    size_t used = 0;
    for (; at < length; at++) {
        char bytes[UTF8_BYTES_MAX];
        size_t count = utf8_encode(points[at], bytes);
        if (count == 0 || count > capacity - used) break;
        memcpy(out + used, bytes, count);
        used += count;
    }
    *written = used;
    return at;
}

size_t utf32_to_ascii(const uint32_t *points, size_t length, char *out, size_t capacity, size_t *written) {
    size_t at = 0;
    for (; at < length && at < capacity && points[at] < 0x80; at++) out[at] = (char)points[at];
    *written = at;
    return at;
}

size_t ascii_to_utf32(const char *text, size_t length, uint32_t *out, size_t capacity, size_t *written) {
    size_t at = 0;
    for (; at < length && at < capacity && (unsigned char)text[at] < 0x80; at++) out[at] = (unsigned char)text[at];
    *written = at;
    return at;
}

size_t utf32_utf8_bytes(const uint32_t *points, size_t length) {
    size_t bytes = 0;
    for (size_t i = 0; i < length; i++) {
        if (!utf8_point_is_valid(points[i])) return SIZE_MAX;
        bytes += points[i] < 0x80 ? 1 : points[i] < 0x800 ? 2 : points[i] < 0x10000 ? 3 : 4;
    }
    return bytes;
}

/* Blocks beyond ASCII that hold no letters, ascending; both ends belong to them. */
static const struct {
    uint32_t first, last;
} not_letters[] = {
    {0x0080, 0x00a9}, /* C1 controls, no-break space, signs */
    {0x00ab, 0x00b4}, {0x00b6, 0x00b9}, /* the middle dot · among them */
    {0x00bb, 0x00bf}, {0x00d7, 0x00d7}, /* × */
    {0x00f7, 0x00f7},                   /* ÷ */
    {0x02c2, 0x02c5}, {0x02d2, 0x02df}, {0x037e, 0x037e}, {0x0387, 0x0387}, {0x055a, 0x055f}, {0x0589, 0x058a},
    {0x05be, 0x05be}, {0x060c, 0x060d}, {0x061b, 0x061f}, {0x066a, 0x066d}, {0x06d4, 0x06d4}, {0x0964, 0x0965},
    {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x2070}, /* spaces, dashes, quotes, the two dots ‥ */
    {0x2074, 0x207e}, {0x2080, 0x208e}, {0x20a0, 0x20cf}, /* currency */
    {0x2190, 0x2bff}, /* arrows, mathematics (√ ≠ ≤ ≥), technical, boxes, dingbats */
    {0x2e00, 0x2e7f}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030}, {0x303d, 0x303d}, {0x30fb, 0x30fb},
    {0xd800, 0xf8ff}, /* surrogates, private use */
    {0xfd3e, 0xfd3f}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe6f}, {0xfeff, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65},
    {0xffe0, 0xffff}, {0x1f000, 0x1faff}, /* pictures */
    {0xe0000, UINT32_MAX},
};

bool utf8_is_letter(uint32_t point) {
    if (point < 0x80) return (point | 0x20) - 'a' < 26 || point == '_';
    size_t low = 0;
    size_t high = sizeof not_letters / sizeof not_letters[0];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (point > not_letters[middle].last) low = middle + 1;
        else high = middle;
    }
    return point < not_letters[low].first; /* the last block has no end, so low is a row */
}

bool utf8_is_identifier(const char *text, size_t length) {
    size_t at = 0;
    while (at < length) {
        uint32_t point;
        size_t bytes = utf8_decode(text + at, length - at, &point);
        if (bytes == 0 || !(at ? utf8_is_name_part(point) : utf8_is_letter(point))) return false;
        at += bytes;
    }
    return length > 0;
}
