/* The leaves of literals: numbers, times, durations, constants, and the five forms of strings.
 * Relies on numtext.h, timetext.h and utf8.h. Promise: a string that is read is valid UTF-8, a number is exact or refused. */
#include "kvspace/literal_parser.h"

#include "kvspace/numtext.h"
#include "kvspace/timetext.h"
#include "kvspace/utf8.h"

#include <string.h>

bool literal_skip(struct literal_parser *parser) {
    bool newline = false;
    for (; parser->at < parser->length; parser->at++) {
        char character = parser->text[parser->at];
        if (character == '\n') newline = true;
        else if (character != ' ' && character != '\t' && character != '\r') break;
    }
    return newline;
}

int literal_peek(struct literal_parser *parser) {
    (void)literal_skip(parser);
    return parser->at < parser->length ? (unsigned char)parser->text[parser->at] : -1;
}

bool literal_accept(struct literal_parser *parser, char wanted) {
    if (literal_peek(parser) != (unsigned char)wanted) return false;
    parser->at++;
    return true;
}

int literal_fail_expected(struct literal_parser *parser, const char *wanted) {
    int next = literal_peek(parser);
    if (next < 0) return LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "expected %s, but the text ends here", wanted);
    uint32_t point;
    size_t bytes = utf8_decode(parser->text + parser->at, parser->length - parser->at, &point);
    if (bytes == 0 || point < 0x20 || point == 0x7f)
        return LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "expected %s, found the byte 0x%02x", wanted, (unsigned)next);
    return LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "expected %s, found \"%.*s\"", wanted, (int)bytes,
                        parser->text + parser->at);
}

/* ---- numbers ---- */

static bool is_digit(char character) { return character >= '0' && character <= '9'; }

static bool is_letter(char character) { return (unsigned char)((character | 0x20) - 'a') < 26; }

/* Where the token that starts at `start` with a sign or digit ends: letters, digits, `_`, the micro sign, a point that is no
 * `...`, the sign of an exponent; and in a time (dddd-) also `-`, `:` and `+`. */
static size_t number_end(const struct literal_parser *parser, size_t start) {
    const char *text = parser->text;
    size_t at = start + (text[start] == '-' || text[start] == '+');
    size_t digits = 0;
    while (at + digits < parser->length && digits < 5 && is_digit(text[at + digits])) digits++;
    bool time = at == start && digits == 4 && at + 4 < parser->length && text[at + 4] == '-';
    bool hex = at + 1 < parser->length && text[at] == '0' && (text[at + 1] | 0x20) == 'x';
    for (; at < parser->length; at++) {
        char character = text[at];
        bool high = (unsigned char)character >= 0x80; /* µ and strays, which the parsers below refuse */
        if (character == '.' && parser->length - at >= 3 && memcmp(text + at, "...", 3) == 0) break;
        if (is_digit(character) || is_letter(character) || character == '_' || character == '.' || high) continue;
        bool exponent = !hex && (character == '+' || character == '-') && at > start && (text[at - 1] | 0x20) == 'e';
        bool part_of_time = time && (character == '-' || character == ':' || character == '+');
        if (!exponent && !part_of_time) break;
    }
    return at;
}

static int read_integer(struct literal_parser *parser, const char *text, size_t bytes, struct literal_element *element) {
    int64_t value;
    int rc = numtext_parse_int64(text, bytes, &value);
    element->kind = KIND_INT64;
    element->bits = (uint64_t)value;
    if (rc == NUMTEXT_ERANGE && text[0] != '-') {
        element->kind = KIND_UINT64;
        rc = numtext_parse_uint64(text, bytes, &element->bits);
    }
    if (rc == NUMTEXT_ERANGE)
        return LITERAL_FAIL(parser, LITERAL_EVALUE, parser->at, text[0] == '-'
                            ? "this integer is less than -9223372036854775808, the least of int64"
                            : "this integer is greater than 18446744073709551615, the greatest of uint64");
    return rc ? LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "\"%.*s\" is not a number", (int)(bytes > 40 ? 40 : bytes), text)
              : LITERAL_OK;
}

enum token_form { FORM_INTEGER, FORM_FLOAT, FORM_DURATION, FORM_TIME };

static enum token_form token_form(const char *text, size_t bytes) {
    size_t at = bytes > 0 && (text[0] == '-' || text[0] == '+');
    if (bytes - at > 4 && text[at + 4] == '-' && memchr(text, ':', bytes)) return FORM_TIME;
    if (bytes - at > 1 && text[at] == '0' && ((text[at + 1] | 0x20) == 'x' || (text[at + 1] | 0x20) == 'b')) return FORM_INTEGER;
    bool integer = true;
    for (size_t i = at; i < bytes; i++) {
        if (is_digit(text[i]) || text[i] == '_') continue;
        integer = false;
        bool part_of_float = text[i] == '.' || (text[i] | 0x20) == 'e' || text[i] == '+' || text[i] == '-';
        if (!part_of_float) return FORM_DURATION;
    }
    return integer ? FORM_INTEGER : FORM_FLOAT;
}

static int read_float(struct literal_parser *parser, const char *text, size_t bytes, struct literal_element *element) {
    double value;
    bool point_at_end = text[bytes - 1] == '.';
    int rc = point_at_end ? NUMTEXT_ESYNTAX : numtext_parse_float64(text, bytes, &value);
    if (rc == NUMTEXT_ESYNTAX)
        return LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "\"%.*s\" is not a number", (int)(bytes > 40 ? 40 : bytes), text);
    if (rc) return LITERAL_FAIL(parser, LITERAL_EVALUE, parser->at, "this number is beyond the range of float64");
    element->kind = KIND_FLOAT64;
    memcpy(&element->bits, &value, sizeof value);
    return LITERAL_OK;
}

static int read_span(struct literal_parser *parser, enum token_form form, const char *text, size_t bytes,
                     struct literal_element *element) {
    int64_t value = 0;
    bool time = form == FORM_TIME;
    int rc = time ? timetext_parse_time(text, bytes, &value) : timetext_parse_duration(text, bytes, &value);
    element->kind = time ? KIND_TIME : KIND_DURATION;
    element->bits = (uint64_t)value;
    element->plain = false;
    if (rc == TIMETEXT_ERANGE)
        return LITERAL_FAIL(parser, LITERAL_EVALUE, parser->at, "this %s does not exist or is out of range",
                            time ? "time" : "duration");
    if (!rc) return LITERAL_OK;
    int show = (int)utf8_valid_prefix(text, bytes > 40 ? 40 : bytes);
    return LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "\"%.*s\" is not a %s", show, text,
                        time ? "time (2026-12-01T05:38:04Z)" : "number");
}

int literal_read_number(struct literal_parser *parser, struct literal_element *element) {
    const char *text = parser->text + parser->at;
    size_t bytes = number_end(parser, parser->at) - parser->at;
    size_t sign = text[0] == '-' || text[0] == '+';
    enum token_form form = token_form(text, bytes);
    element->plain = true;
    int rc;
    bool leading_zero = bytes - sign > 1 && text[sign] == '0' && (is_digit(text[sign + 1]) || text[sign + 1] == '_');
    if (leading_zero && form <= FORM_FLOAT)
        return LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "a number has no leading zero");
    if (bytes == sign || (form == FORM_FLOAT && !is_digit(text[sign]))) return literal_fail_expected(parser, "a value");
    if (form == FORM_INTEGER) rc = read_integer(parser, text, bytes, element);
    else if (form == FORM_FLOAT) rc = read_float(parser, text, bytes, element);
    else rc = read_span(parser, form, text, bytes, element);
    if (!rc) parser->at += bytes;
    return rc;
}

bool literal_read_constant(struct literal_parser *parser, struct literal_element *element) {
    static const struct {
        const char *word;
        uint8_t kind;
        uint64_t bits;
    } rows[] = {
        {"true", KIND_BOOL, 1},
        {"false", KIND_BOOL, 0},
        {"inf", KIND_FLOAT64, UINT64_C(0x7ff0000000000000)},
        {"+inf", KIND_FLOAT64, UINT64_C(0x7ff0000000000000)},
        {"-inf", KIND_FLOAT64, UINT64_C(0xfff0000000000000)},
        {"nan", KIND_FLOAT64, UINT64_C(0x7ff8000000000000)},
    };
    const char *text = parser->text + parser->at;
    size_t left = parser->length - parser->at;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t bytes = strlen(rows[i].word);
        if (left < bytes || memcmp(text, rows[i].word, bytes) != 0) continue;
        uint32_t point;
        if (utf8_decode(text + bytes, left - bytes, &point) && utf8_is_name_part(point)) continue;
        *element = (struct literal_element){rows[i].bits, rows[i].kind, rows[i].kind == KIND_FLOAT64};
        parser->at += bytes;
        return true;
    }
    return false;
}

/* ---- strings ---- */

/* Bytes of the opening of r#"…"#, with its number of #; 0 if it is none. */
static size_t raw_opening(const struct literal_parser *parser, size_t *hashes) {
    const char *text = parser->text + parser->at;
    size_t left = parser->length - parser->at;
    *hashes = 0;
    if (left < 3 || text[0] != 'r' || text[1] != '#') return 0;
    while (1 + *hashes < left && text[1 + *hashes] == '#') ++*hashes;
    return 1 + *hashes < left && text[1 + *hashes] == '"' ? 2 + *hashes : 0;
}

bool literal_at_string(const struct literal_parser *parser) {
    if (parser->at >= parser->length) return false;
    char first = parser->text[parser->at];
    size_t hashes;
    return first == '"' || first == '\'' || first == '`' || (first == 'r' && raw_opening(parser, &hashes) > 0);
}

/* `H…}` after \u{ ; -1 if it is no code point. */
static int64_t read_braced(struct literal_parser *parser) {
    uint64_t value;
    size_t start = parser->at;
    const char *end = memchr(parser->text + start, '}', parser->length - start);
    size_t digits = end ? (size_t)(end - (parser->text + start)) : 0;
    if (digits == 0 || digits > 8 || numtext_parse_digits(parser->text + start, digits, 16, &value) ||
        memchr(parser->text + start, '_', digits) || value > UTF8_POINT_MAX || !utf8_point_is_valid((uint32_t)value))
        return -1;
    parser->at += digits + 1;
    return (int64_t)value;
}

/* The character after a backslash; the parser stands behind it afterwards. */
static int read_escape(struct literal_parser *parser, uint32_t *point) {
    size_t start = parser->at - 1;
    char letter = parser->at < parser->length ? parser->text[parser->at] : 0;
    parser->at++;
    uint64_t value;
    int64_t braced;
    switch (letter) {
    case 'n': *point = '\n'; return LITERAL_OK;
    case 't': *point = '\t'; return LITERAL_OK;
    case 'r': *point = '\r'; return LITERAL_OK;
    case '0': *point = '\0'; return LITERAL_OK;
    case '\\':
    case '"':
    case '\'': *point = (unsigned char)letter; return LITERAL_OK;
    case 'x':
        if (parser->length - parser->at < 2 || numtext_parse_digits(parser->text + parser->at, 2, 16, &value)) break;
        parser->at += 2;
        *point = (uint32_t)value;
        return LITERAL_OK;
    case 'u':
        if (parser->at >= parser->length || parser->text[parser->at] != '{') break;
        parser->at++;
        braced = read_braced(parser);
        if (braced < 0) return LITERAL_FAIL(parser, LITERAL_EVALUE, start, "\\u{…} needs the hexadecimal number of a character");
        *point = (uint32_t)braced;
        return LITERAL_OK;
    default: break;
    }
    return LITERAL_FAIL(parser, LITERAL_ESYNTAX, start, "an escape is one of \\n \\t \\r \\0 \\\\ \\\" \\' \\xHH \\u{H…}");
}

static bool closes(const struct literal_parser *parser, const char *closing, size_t bytes) {
    return parser->length - parser->at >= bytes && memcmp(parser->text + parser->at, closing, bytes) == 0;
}

/* Where the closing delimiter stands; the length of the text when the string is not closed. */
static size_t find_closing(const struct literal_parser *parser, const char *closing, size_t closing_bytes, bool escapes,
                           bool lines) {
    size_t at = parser->at;
    for (; at < parser->length && (lines || parser->text[at] != '\n'); at++) {
        if (parser->length - at >= closing_bytes && memcmp(parser->text + at, closing, closing_bytes) == 0) return at;
        if (escapes && parser->text[at] == '\\') at++;
    }
    return parser->length;
}

/* Up to the closing delimiter. The decoded text is never longer than its source. */
static int read_until(struct literal_parser *parser, size_t opening, const char *closing, size_t closing_bytes,
                      bool escapes, bool lines, const char **text, size_t *bytes) {
    size_t start = parser->at;
    parser->at += opening;
    size_t end = find_closing(parser, closing, closing_bytes, escapes, lines);
    if (end == parser->length) return LITERAL_FAIL(parser, LITERAL_ESYNTAX, start, "this string is not closed");
    char *out = literal_alloc(parser, end - start + 1);
    if (!out) return LITERAL_ENOMEM;
    size_t used = 0;
    while (parser->at < end) {
        uint32_t point;
        size_t taken = utf8_decode(parser->text + parser->at, end - parser->at, &point);
        if (taken == 0) return LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "this byte is not valid UTF-8");
        parser->at += taken;
        if (escapes && point == '\\') {
            int rc = read_escape(parser, &point);
            if (rc) return rc;
        }
        used += utf8_encode(point, out + used);
    }
    parser->at = end + closing_bytes;
    *text = out;
    *bytes = used;
    return LITERAL_OK;
}

int literal_read_string(struct literal_parser *parser, const char **text, size_t *bytes) {
    static const char triple[] = "\"\"\"";
    char closing[2 + 32] = "\"";
    char first = parser->text[parser->at];
    size_t hashes;
    size_t opening = raw_opening(parser, &hashes);
    if (opening) {
        if (hashes > 32) return LITERAL_FAIL(parser, LITERAL_ELIMIT, parser->at, "a raw string has at most 32 #");
        memset(closing + 1, '#', hashes);
        return read_until(parser, opening, closing, 1 + hashes, false, true, text, bytes);
    }
    if (closes(parser, triple, 3)) return read_until(parser, 3, triple, 3, true, true, text, bytes);
    closing[0] = first;
    return read_until(parser, 1, closing, 1, first != '`', first == '`', text, bytes);
}
