/* What the compiler needs of Unicode: decoding UTF-8, which code points form names, how wide they are on a terminal.
 * Relies on unicode_ranges.def (generated; its head says how). No locale, no allocation, no state.
 * Promise: unicode_decode accepts exactly well-formed UTF-8 (no surrogates, no overlong forms, up to U+10FFFF). */
#ifndef LAYOUT_UNICODE_H
#define LAYOUT_UNICODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the sequence at `at` (length >= 1 bytes are there). Returns its bytes, 1 to 4, or 0 if it is malformed. */
unsigned unicode_decode(const char *at, size_t length, uint32_t *code_point);
/* Writes the UTF-8 of a code point (not a surrogate, at most U+10FFFF) to `at`, up to 4 bytes; returns how many. */
unsigned unicode_encode(uint32_t code_point, char *at);
/* Offset of the first malformed byte, or `length` where all is well-formed. */
size_t unicode_first_bad(const char *text, size_t length);

bool unicode_is_letter(uint32_t code_point); /* categories L*, and `_` */
bool unicode_is_digit(uint32_t code_point);  /* category Nd */
bool unicode_is_name(uint32_t code_point);   /* may stand inside a name */
/* 0 for combining and format characters, 2 for East Asian wide and full-width ones, else 1. */
int unicode_width(uint32_t code_point);

#endif
