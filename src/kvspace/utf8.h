/* UTF-8: validation, single code points, counting, and conversion between the three encodings of kvlang's strings
 * (char/utf8, char/utf32, char/ascii). Relies on the C standard library only. Promises: no allocation, no state, no
 * locale; "valid" is the Unicode standard's sense (no overlong form, no surrogate, nothing above U+10FFFF). Text is
 * bytes and a length, never ended by a zero byte. UTF-32 is in the byte order of the machine. */
#ifndef KVSPACE_UTF8_H
#define KVSPACE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_POINT_MAX = 0x10ffff, UTF8_BYTES_MAX = 4 };

/* Decodes the code point at the start of `text`; gives the bytes it takes, 0 if they are not valid (or length is 0).
 * `point` is set only when the result is not 0. */
size_t utf8_decode_long(const char *text, size_t length, uint32_t *point);
static inline size_t utf8_decode(const char *text, size_t length, uint32_t *point) {
    if (length && (unsigned char)text[0] < 0x80) {
        *point = (unsigned char)text[0];
        return 1;
    }
    return utf8_decode_long(text, length, point);
}

/* Writes the code point to `out` (room for 4 bytes); gives the bytes written, 0 if it is no Unicode scalar value. */
size_t utf8_encode(uint32_t point, char *out);

/* Whether a number is a code point that a string may hold. */
static inline bool utf8_point_is_valid(uint32_t point) {
    return point < 0xd800 || (point > 0xdfff && point <= UTF8_POINT_MAX);
}

/* Length in bytes of the longest valid beginning: `length` when all of it is valid, else where the bad byte starts. */
size_t utf8_valid_prefix(const char *text, size_t length);
static inline bool utf8_is_valid(const char *text, size_t length) { return utf8_valid_prefix(text, length) == length; }
bool utf8_is_ascii(const char *text, size_t length);

/* Code points in valid text. In invalid text every byte that does not continue another counts as one. */
size_t utf8_count(const char *text, size_t length);

/* Byte position of code point number `index` of valid text; `length` when there are not that many. */
size_t utf8_position(const char *text, size_t length, size_t index);

/* Converts. `out` has room for `capacity` units; `*written` is how many units were stored. Gives the units of the input
 * that were consumed: less than `length` means that the unit there is invalid, does not fit the target encoding, or
 * that `out` is full (compare *written). No output is ever cut inside a code point. */
size_t utf8_to_utf32(const char *text, size_t length, uint32_t *out, size_t capacity, size_t *written);
size_t utf32_to_utf8(const uint32_t *points, size_t length, char *out, size_t capacity, size_t *written);
size_t utf32_to_ascii(const uint32_t *points, size_t length, char *out, size_t capacity, size_t *written);
size_t ascii_to_utf32(const char *text, size_t length, uint32_t *out, size_t capacity, size_t *written);

/* Bytes that the points take in UTF-8; SIZE_MAX if one of them is no Unicode scalar value. */
size_t utf32_utf8_bytes(const uint32_t *points, size_t length);

/* Whether a code point can start an identifier (letter or _), or stand in one (also digits). Beyond ASCII every code
 * point counts as a letter but for the blocks of controls, spaces, punctuation, symbols, private use and emoji. */
bool utf8_is_letter(uint32_t point);
static inline bool utf8_is_name_part(uint32_t point) { return (point >= '0' && point <= '9') || utf8_is_letter(point); }

/* Whether the text is an identifier of kvlang (§1): not empty, a letter or _, then letters, digits, _. */
bool utf8_is_identifier(const char *text, size_t length);

#endif
