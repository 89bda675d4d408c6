/* Code points: decoding, classes and widths by binary search in generated range tables, with ASCII decided directly.
 * Relies on unicode_ranges.def. Promise: see unicode.h; every function is pure. */
#include "layout/unicode.h"

struct range {
    uint32_t first;
    uint32_t last;
};

#define KEEP(first, last) {first, last},
#define DROP(first, last)

static const struct range letters[] = {
#define LETTER KEEP
#define DIGIT DROP
#define ZERO DROP
#define WIDE DROP
#include "layout/unicode_ranges.def"
#undef LETTER
#undef DIGIT
#undef ZERO
#undef WIDE
};

static const struct range digits[] = {
#define LETTER DROP
#define DIGIT KEEP
#define ZERO DROP
#define WIDE DROP
#include "layout/unicode_ranges.def"
#undef LETTER
#undef DIGIT
#undef ZERO
#undef WIDE
};

static const struct range zero_width[] = {
#define LETTER DROP
#define DIGIT DROP
#define ZERO KEEP
#define WIDE DROP
#include "layout/unicode_ranges.def"
#undef LETTER
#undef DIGIT
#undef ZERO
#undef WIDE
};

static const struct range wide[] = {
#define LETTER DROP
#define DIGIT DROP
#define ZERO DROP
#define WIDE KEEP
#include "layout/unicode_ranges.def"
#undef LETTER
#undef DIGIT
#undef ZERO
#undef WIDE
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t code_point) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code_point > ranges[middle].last) low = middle + 1;
        else high = middle;
    }
    return low < count && code_point >= ranges[low].first;
}

#define IN(ranges, code_point) in_ranges(ranges, sizeof(ranges) / sizeof((ranges)[0]), code_point)

static bool continues(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

unsigned unicode_decode(const char *at, size_t length, uint32_t *code_point) {
    unsigned char lead = (unsigned char)at[0];
    if (lead < 0x80) {
        *code_point = lead;
        return 1;
    }
    unsigned bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || bytes > length) return 0;
    uint32_t value = lead & (0x7Fu >> bytes);
    for (unsigned i = 1; i < bytes; i++) {
        if (!continues(at[i])) return 0;
        value = value << 6 | ((unsigned char)at[i] & 0x3Fu);
    }
    if (bytes == 3 && (value < 0x800 || (value >= 0xD800 && value <= 0xDFFF))) return 0;
    if (bytes == 4 && (value < 0x10000 || value > 0x10FFFF)) return 0;
    *code_point = value;
    return bytes;
}

unsigned unicode_encode(uint32_t code_point, char *at) {
    if (code_point < 0x80) {
        at[0] = (char)code_point;
        return 1;
    }
    unsigned bytes = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (unsigned i = bytes - 1; i > 0; i--) {
        at[i] = (char)(0x80 | (code_point & 0x3F));
        code_point >>= 6;
    }
    at[0] = (char)(lead[bytes] | code_point);
    return bytes;
}

size_t unicode_first_bad(const char *text, size_t length) {
    size_t at = 0;
    while (at < length) {
        uint32_t code_point;
        if ((unsigned char)text[at] < 0x80) {
            at++;
            continue;
        }
        unsigned bytes = unicode_decode(text + at, length - at, &code_point);
        if (!bytes) return at;
        at += bytes;
    }
    return length;
}

bool unicode_is_letter(uint32_t code_point) {
    if (code_point < 0x80) return (code_point | 0x20) - 'a' < 26u || code_point == '_';
    return IN(letters, code_point);
}

bool unicode_is_digit(uint32_t code_point) {
    if (code_point < 0x80) return code_point - '0' < 10u;
    return IN(digits, code_point);
}

bool unicode_is_name(uint32_t code_point) {
    return unicode_is_letter(code_point) || unicode_is_digit(code_point);
}

int unicode_width(uint32_t code_point) {
    if (code_point < 0x300) return 1;
    if (IN(zero_width, code_point)) return 0;
    return IN(wide, code_point) ? 2 : 1;
}
