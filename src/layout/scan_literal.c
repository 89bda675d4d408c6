/* Literals of the scanner: numbers (bases, `_`, ranges) and the five forms of strings with their escapes.
 * Relies on scan.h for place keeping. Promise: a literal in error is reported at the character at fault and becomes a BAD
 * token; a decoded string is never longer than its source, and \r before \n inside a string is dropped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "layout/scan.h"
#include "layout/unicode.h"

/* A float literal longer than this is refused: no number needs more digits. */
#define FLOAT_MAX_BYTES 1100

static char byte_at(const struct scan *scan, uint32_t at) {
    return at < scan->length ? scan->source[at] : '\0';
}

static void bad(struct scan *scan, struct scan_token *token, struct ast_pos at, const char *message) {
    token->kind = TOKEN_BAD;
    scan_report(scan, at, "%s", message);
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/* Over digits of `base` with single `_` between them. Returns how many digits, or -1 with the place of a stray `_`. */
static int64_t skip_digits(struct scan *scan, int base, struct ast_pos *stray) {
    int64_t count = 0;
    for (;; scan->at++) {
        char c = byte_at(scan, scan->at);
        if (c == '_') {
            bool between = count > 0 && digit_value(byte_at(scan, scan->at - 1)) < base && digit_value(byte_at(scan, scan->at + 1)) < base;
            if (!between && count >= 0) {
                *stray = scan_here(scan);
                count = -1;
            }
        } else if (digit_value(c) < base) {
            if (count >= 0) count++;
        } else {
            return count;
        }
    }
}

/* What is left of a number that runs into letters is skipped, so that it is one error. */
static void skip_rest(struct scan *scan) {
    while (scan_name_at(scan, scan->at, false)) scan_step(scan);
}

static void integer_value(struct scan *scan, struct scan_token *token, uint32_t from, unsigned base) {
    uint64_t value = 0;
    token->kind = TOKEN_INT;
    for (uint32_t i = from; i < scan->at; i++) {
        if (scan->source[i] == '_') continue;
        unsigned digit = (unsigned)digit_value(scan->source[i]);
        if (value > (UINT64_MAX - digit) / base) {
            bad(scan, token, token->at, "this integer is larger than 18446744073709551615, the largest of uint64");
            return;
        }
        value = value * base + digit;
    }
    token->bits = value;
    token->is_unsigned = value > INT64_MAX;
}

static void float_value(struct scan *scan, struct scan_token *token) {
    char digits[FLOAT_MAX_BYTES + 1];
    size_t used = 0;
    token->kind = TOKEN_FLOAT;
    for (uint32_t i = token->at.offset; i < scan->at; i++) {
        if (scan->source[i] == '_') continue;
        if (used == FLOAT_MAX_BYTES) {
            bad(scan, token, token->at, "this number has too many digits");
            return;
        }
        digits[used++] = scan->source[i];
    }
    digits[used] = '\0';
    token->real = strtod(digits, NULL);
    if (isinf(token->real)) bad(scan, token, token->at, "this number is larger than the largest float64, 1.7976931348623157e+308");
}

static void based_integer(struct scan *scan, struct scan_token *token, int base) {
    struct ast_pos stray;
    scan->at += 2;
    uint32_t from = scan->at;
    int64_t count = skip_digits(scan, base, &stray);
    if (scan_name_at(scan, scan->at, false)) {
        struct ast_pos here = scan_here(scan);
        skip_rest(scan);
        bad(scan, token, here, base == 2 ? "a binary number has the digits 0 and 1" : "a hexadecimal number has the digits 0-9 and a-f");
    } else if (count < 0) {
        bad(scan, token, stray, "_ may only stand between two digits");
    } else if (count == 0) {
        bad(scan, token, token->at, "digits are missing in this number");
    } else {
        integer_value(scan, token, from, (unsigned)base);
    }
}

/* The fraction and exponent, if any. Returns false after a report. */
static bool float_tail(struct scan *scan, struct scan_token *token, bool *is_float) {
    struct ast_pos stray;
    if (byte_at(scan, scan->at) == '.' && !(byte_at(scan, scan->at + 1) == '.' && byte_at(scan, scan->at + 2) == '.')) {
        struct ast_pos point = scan_here(scan);
        *is_float = true;
        scan->at++;
        int64_t count = skip_digits(scan, 10, &stray);
        if (count <= 0) {
            skip_rest(scan);
            bad(scan, token, count < 0 ? stray : point, count < 0 ? "_ may only stand between two digits" : "digits are missing behind the point");
            return false;
        }
    }
    if ((byte_at(scan, scan->at) | 0x20) == 'e') {
        struct ast_pos exponent = scan_here(scan);
        *is_float = true;
        scan->at++;
        if (byte_at(scan, scan->at) == '+' || byte_at(scan, scan->at) == '-') scan->at++;
        if (skip_digits(scan, 10, &stray) <= 0) {
            skip_rest(scan);
            bad(scan, token, exponent, "digits are missing in this exponent");
            return false;
        }
    }
    return true;
}

void scan_number(struct scan *scan, struct scan_token *token) {
    char second = (char)(byte_at(scan, scan->at + 1) | 0x20);
    if (byte_at(scan, scan->at) == '0' && (second == 'x' || second == 'b')) {
        based_integer(scan, token, second == 'x' ? 16 : 2);
        return;
    }
    struct ast_pos stray;
    bool is_float = false;
    int64_t count = skip_digits(scan, 10, &stray);
    if (!float_tail(scan, token, &is_float)) return;
    if (scan_name_at(scan, scan->at, false)) {
        struct ast_pos here = scan_here(scan);
        bool octal = second == 'o' && here.offset == token->at.offset + 1;
        skip_rest(scan);
        bad(scan, token, octal ? token->at : here,
            octal ? "there are no octal numbers: write it in hexadecimal, 0x…" : "a number cannot run into a name: a blank or an operator is missing");
    } else if (count < 0) {
        bad(scan, token, stray, "_ may only stand between two digits");
    } else if (count > 1 && byte_at(scan, token->at.offset) == '0') {
        bad(scan, token, token->at, "a number cannot begin with 0: decimal numbers have no leading zeros");
    } else if (is_float) {
        float_value(scan, token);
    } else {
        integer_value(scan, token, token->at.offset, 10);
    }
}

/* Where decoded text goes: nowhere as long as the value equals the source, then a buffer as long as the source. */
struct decoded {
    char *at;
    uint32_t used;
};

static struct ast_pos place_back(struct ast_pos at, uint32_t bytes) {
    return (struct ast_pos){at.offset - bytes, at.line, at.column - bytes};
}

static bool hex_escape(struct scan *scan, uint32_t *code_point) {
    int high = digit_value(byte_at(scan, scan->at)), low = high < 16 ? digit_value(byte_at(scan, scan->at + 1)) : 99;
    if (high > 15 || low > 15) {
        scan_report(scan, place_back(scan_here(scan), 2), "\\x needs two hexadecimal digits");
        return false;
    }
    *code_point = (uint32_t)(high * 16 + low);
    scan->at += 2;
    return true;
}

static bool braced_escape(struct scan *scan, uint32_t *code_point) {
    struct ast_pos at = place_back(scan_here(scan), 2);
    uint32_t value = 0, digits = 0;
    if (byte_at(scan, scan->at) == '{') {
        for (scan->at++; digit_value(byte_at(scan, scan->at)) < 16; scan->at++, digits++)
            if (value <= 0x10FFFF) value = value * 16 + (uint32_t)digit_value(byte_at(scan, scan->at));
    }
    if (digits == 0 || byte_at(scan, scan->at) != '}') {
        scan_report(scan, at, "\\u needs hexadecimal digits in braces, as in \\u{e9}");
        return false;
    }
    scan->at++;
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
        scan_report(scan, at, "\\u{%X} is no code point", (unsigned)value);
        return false;
    }
    *code_point = value;
    return true;
}

/* Behind a backslash: decodes one escape. Returns false after a report. */
static bool escape(struct scan *scan, uint32_t *code_point) {
    static const char letters[] = "ntr0\\\"'", values[] = "\n\t\r\0\\\"'";
    char c = byte_at(scan, scan->at);
    const char *found = c ? memchr(letters, c, sizeof letters - 1) : NULL;
    if (found) {
        *code_point = (unsigned char)values[found - letters];
        scan->at++;
        return true;
    }
    if (c == 'x' || c == 'u') {
        scan->at++;
        return c == 'x' ? hex_escape(scan, code_point) : braced_escape(scan, code_point);
    }
    struct ast_pos at = place_back(scan_here(scan), 1);
    if (scan->at >= scan->length || c == '\n' || c == '\r') {
        scan_report(scan, at, "a string ends with its line: a backslash does not continue it");
        return false;
    }
    uint32_t from = scan->at;
    scan_step(scan);
    scan_report(scan, at, "unknown escape \\%.*s: there are \\n \\t \\r \\0 \\\\ \\\" \\' \\xHH \\u{H…}", (int)(scan->at - from),
                (unsigned char)c < 0x20 ? "?" : scan->source + from);
    return false;
}

static void append(struct decoded *decoded, const char *bytes, uint32_t length) {
    memcpy(decoded->at + decoded->used, bytes, length);
    decoded->used += length;
}

/* Decodes the inside of a string, [from, to), which the caller has found the end of. */
static void decode(struct scan *scan, struct scan_token *token, uint32_t to, bool escapes) {
    uint32_t from = scan->at;
    const char *inside = scan->source + from;
    bool plain = !memchr(inside, '\r', to - from) && !(escapes && memchr(inside, '\\', to - from));
    struct decoded decoded = {NULL, 0};
    if (!plain) decoded.at = ast_alloc(scan->arena, to - from);
    if (!plain && !decoded.at) scan->out_of_memory = true;
    bool good = true;
    while (scan->at < to) {
        uint32_t at = scan->at;
        if (escapes && scan->source[at] == '\\') {
            uint32_t code_point = '?';
            char bytes[4] = {0};
            scan->at++;
            if (!escape(scan, &code_point)) good = false;
            else if (decoded.at) append(&decoded, bytes, unicode_encode(code_point, bytes));
            continue;
        }
        scan_step(scan);
        if (scan->source[at] == '\r') { /* carriage returns before a line break are part of it */
            while (scan->at < to && scan->source[scan->at] == '\r') scan_step(scan);
            if (scan->at < to && scan->source[scan->at] == '\n') continue;
        }
        if (decoded.at) append(&decoded, scan->source + at, scan->at - at);
    }
    token->text = plain ? (struct ast_text){inside, to - from} : decoded.at ? (struct ast_text){decoded.at, decoded.used} : (struct ast_text){"", 0};
    token->kind = good ? TOKEN_STRING : TOKEN_BAD;
}

static void never_closed(struct scan *scan, struct scan_token *token, bool to_end) {
    if (to_end) scan->cut_short = true;
    bad(scan, token, token->at, to_end ? "this string is never closed" : "this string is not closed on its line");
}

static void skip_to(struct scan *scan, uint32_t end) {
    while (scan->at < end) scan_step(scan);
}

/* One-line strings in either quote. */
static void quoted(struct scan *scan, struct scan_token *token, char quote) {
    uint32_t at = scan->at + 1;
    while (at < scan->length && scan->source[at] != quote && scan->source[at] != '\n') {
        if (scan->source[at] == '\\' && at + 1 < scan->length && scan->source[at + 1] != '\n') at++;
        at++;
    }
    if (at >= scan->length || scan->source[at] == '\n') {
        skip_to(scan, at < scan->length ? at : scan->length);
        never_closed(scan, token, false);
        return;
    }
    scan->at++;
    decode(scan, token, at, true);
    scan->at = at + 1;
}

static void triple_quoted(struct scan *scan, struct scan_token *token) {
    uint32_t at = scan->at + 3;
    while (at < scan->length && !(scan->source[at] == '"' && byte_at(scan, at + 1) == '"' && byte_at(scan, at + 2) == '"'))
        at += scan->source[at] == '\\' ? 2 : 1;
    if (at >= scan->length) {
        skip_to(scan, scan->length);
        never_closed(scan, token, true);
        return;
    }
    scan->at += 3;
    decode(scan, token, at, true);
    scan->at = at + 3;
}

static void backquoted(struct scan *scan, struct scan_token *token) {
    const char *from = scan->source + scan->at + 1;
    const char *close = memchr(from, '`', scan->length - scan->at - 1);
    if (!close) {
        skip_to(scan, scan->length);
        never_closed(scan, token, true);
        return;
    }
    uint32_t at = (uint32_t)(close - scan->source);
    scan->at++;
    decode(scan, token, at, false);
    scan->at = at + 1;
}

void scan_string(struct scan *scan, struct scan_token *token) {
    char quote = scan->source[scan->at];
    if (quote == '`') backquoted(scan, token);
    else if (quote == '"' && byte_at(scan, scan->at + 1) == '"' && byte_at(scan, scan->at + 2) == '"') triple_quoted(scan, token);
    else quoted(scan, token, quote);
}

bool scan_at_raw_string(const struct scan *scan) {
    uint32_t at = scan->at + 1;
    while (byte_at(scan, at) == '#') at++;
    return byte_at(scan, at) == '"';
}

void scan_raw_string(struct scan *scan, struct scan_token *token) {
    uint32_t hashes = 0;
    while (scan->source[scan->at + 1 + hashes] == '#') hashes++;
    uint32_t from = scan->at + hashes + 2, at = from, seen = 0;
    for (; at < scan->length; at++) {
        if (scan->source[at] != '"') continue;
        for (seen = 0; seen < hashes && byte_at(scan, at + 1 + seen) == '#';) seen++;
        if (seen == hashes) break;
    }
    if (at >= scan->length) {
        skip_to(scan, scan->length);
        never_closed(scan, token, true);
        return;
    }
    scan->at = from;
    decode(scan, token, at, false);
    scan->at = at + 1 + hashes;
}
