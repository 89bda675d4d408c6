/* The pull parser of JSON; see json.h. One token a call; what may come next is one of the states below, what is open is
 * a bit per level. Relies on utf8.h for valid text and numtext.h for numbers.
 * Promise: accepts exactly RFC 8259 (no comments, no trailing commas, no lone surrogates), reads each byte once. */
#include "kvspace/json.h"

#include "kvspace/numtext.h"
#include "kvspace/utf8.h"

#include <string.h>

enum {
    WANT_VALUE = 0,    /* at the start, after a colon, after a comma of an array */
    WANT_VALUE_OR_END, /* after [ */
    WANT_KEY_OR_END,   /* after { */
    WANT_KEY,          /* after a comma of an object */
    WANT_COMMA_OR_END, /* after a value in a container */
    WANT_NOTHING       /* after the value at the top */
};

static int fail(struct json_reader *reader, int code, const char *message) {
    reader->error = code;
    reader->message = message;
    return code;
}

static int peek(struct json_reader *reader) {
    while (reader->at < reader->length) {
        char character = reader->text[reader->at];
        if (character != ' ' && character != '\n' && character != '\r' && character != '\t') return (unsigned char)character;
        reader->at++;
    }
    return -1;
}

static bool in_object(const struct json_reader *reader) {
    uint32_t level = reader->depth - 1;
    return reader->depth > 0 && reader->objects[level / 64] >> (level % 64) & 1;
}

static void after_value(struct json_reader *reader) { reader->state = reader->depth ? WANT_COMMA_OR_END : WANT_NOTHING; }

/* ---- leaves ---- */

static int hex_value(char character) {
    if (character >= '0' && character <= '9') return character - '0';
    char letter = (char)(character | 0x20);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Four hexadecimal digits; -1 if they are not there. */
static int32_t code_unit(const char *text, size_t left) {
    int32_t unit = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = i < left ? hex_value(text[i]) : -1;
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* Decodes the escape at `text` (after the backslash); gives its bytes, 0 if it is none. */
static size_t escape_bytes(const char *text, size_t left, uint32_t *point) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    if (left == 0 || text[0] == 0) return 0;
    const char *letter = strchr(letters, text[0]);
    if (letter) {
        *point = (unsigned char)meanings[letter - letters];
        return 1;
    }
    int32_t unit = text[0] == 'u' ? code_unit(text + 1, left - 1) : -1;
    if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return 0;
    *point = (uint32_t)unit;
    if (unit < 0xd800 || unit > 0xdfff) return 5;
    int32_t low = left > 7 && text[5] == '\\' && text[6] == 'u' ? code_unit(text + 7, left - 7) : -1;
    if (low < 0xdc00 || low > 0xdfff) return 0;
    *point = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return 11;
}

/* At the opening quote. */
static int read_string(struct json_reader *reader, struct json_token *token) {
    size_t start = ++reader->at;
    while (reader->at < reader->length && reader->text[reader->at] != '"') {
        uint32_t point;
        const char *text = reader->text + reader->at;
        size_t left = reader->length - reader->at;
        if ((unsigned char)*text < 0x20) return fail(reader, JSON_ESYNTAX, "control characters in a string must be escaped");
        if (*text == '\\') {
            size_t bytes = escape_bytes(text + 1, left - 1, &point);
            if (bytes == 0) return fail(reader, JSON_ESYNTAX, "not an escape of JSON, or half of a surrogate pair");
            token->escaped = true;
            reader->at += 1 + bytes;
            continue;
        }
        size_t bytes = utf8_decode(text, left, &point);
        if (bytes == 0) return fail(reader, JSON_ESYNTAX, "this byte is not valid UTF-8");
        reader->at += bytes;
    }
    if (reader->at >= reader->length) return fail(reader, JSON_ESYNTAX, "the text ends inside a string");
    token->text = reader->text + start;
    token->length = reader->at - start;
    reader->at++;
    return JSON_OK;
}

static size_t skip_digits(struct json_reader *reader) {
    size_t start = reader->at;
    while (reader->at < reader->length && reader->text[reader->at] >= '0' && reader->text[reader->at] <= '9') reader->at++;
    return reader->at - start;
}

static bool take(struct json_reader *reader, const char *characters) {
    if (reader->at >= reader->length || reader->text[reader->at] == 0 || !strchr(characters, reader->text[reader->at])) return false;
    reader->at++;
    return true;
}

static int read_number(struct json_reader *reader, struct json_token *token) {
    size_t start = reader->at;
    (void)take(reader, "-");
    size_t first = reader->at;
    size_t digits = skip_digits(reader);
    if (digits == 0) return fail(reader, JSON_ESYNTAX, "a number needs a digit here");
    if (digits > 1 && reader->text[first] == '0') return fail(reader, JSON_ESYNTAX, "a number has no leading zero");
    token->integral = true;
    if (take(reader, ".")) {
        token->integral = false;
        if (skip_digits(reader) == 0) return fail(reader, JSON_ESYNTAX, "a number needs a digit after its point");
    }
    if (take(reader, "eE")) {
        token->integral = false;
        (void)take(reader, "+-");
        if (skip_digits(reader) == 0) return fail(reader, JSON_ESYNTAX, "a number needs a digit in its exponent");
    }
    token->event = JSON_NUMBER;
    token->text = reader->text + start;
    token->length = reader->at - start;
    return JSON_OK;
}

static int read_word(struct json_reader *reader, struct json_token *token) {
    static const struct {
        const char *text;
        enum json_event event;
    } words[] = {{"null", JSON_NULL}, {"true", JSON_TRUE}, {"false", JSON_FALSE}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t bytes = strlen(words[i].text);
        if (reader->length - reader->at < bytes || memcmp(reader->text + reader->at, words[i].text, bytes) != 0) continue;
        token->event = words[i].event;
        token->text = reader->text + reader->at;
        token->length = bytes;
        reader->at += bytes;
        return JSON_OK;
    }
    return fail(reader, JSON_ESYNTAX, "expected a value");
}

/* ---- structure ---- */

static int open_container(struct json_reader *reader, struct json_token *token, bool object) {
    if (reader->depth == JSON_DEPTH_MAX) return fail(reader, JSON_EDEPTH, "values are nested too deep");
    uint64_t bit = UINT64_C(1) << (reader->depth % 64);
    uint64_t *word = &reader->objects[reader->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    reader->depth++;
    reader->at++;
    reader->state = object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
    token->event = object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN;
    return JSON_OK;
}

static int close_container(struct json_reader *reader, struct json_token *token) {
    token->event = in_object(reader) ? JSON_OBJECT_END : JSON_ARRAY_END;
    reader->at++;
    reader->depth--;
    after_value(reader);
    return JSON_OK;
}

static int read_value(struct json_reader *reader, struct json_token *token) {
    int next = peek(reader);
    if (next < 0) return fail(reader, JSON_ESYNTAX, "the text ends where a value is due");
    if (next == '{' || next == '[') return open_container(reader, token, next == '{');
    int rc;
    if (next == '"') {
        token->event = JSON_STRING;
        rc = read_string(reader, token);
    } else if (next == '-' || (next >= '0' && next <= '9')) {
        rc = read_number(reader, token);
    } else {
        rc = read_word(reader, token);
    }
    if (!rc) after_value(reader);
    return rc;
}

static int read_key(struct json_reader *reader, struct json_token *token) {
    if (peek(reader) != '"') return fail(reader, JSON_ESYNTAX, "expected a key in quotes");
    token->event = JSON_KEY;
    int rc = read_string(reader, token);
    if (rc) return rc;
    if (peek(reader) != ':') return fail(reader, JSON_ESYNTAX, "expected \":\" after a key");
    reader->at++;
    reader->state = WANT_VALUE;
    return JSON_OK;
}

static int read_token(struct json_reader *reader, struct json_token *token) {
    int next = peek(reader);
    char end = in_object(reader) ? '}' : ']';
    switch (reader->state) {
    case WANT_VALUE: return read_value(reader, token);
    case WANT_VALUE_OR_END: return next == end ? close_container(reader, token) : read_value(reader, token);
    case WANT_KEY_OR_END: return next == end ? close_container(reader, token) : read_key(reader, token);
    case WANT_KEY: return read_key(reader, token);
    case WANT_COMMA_OR_END:
        if (next == end) return close_container(reader, token);
        if (next != ',') return fail(reader, JSON_ESYNTAX, in_object(reader) ? "expected \",\" or \"}\"" : "expected \",\" or \"]\"");
        reader->at++;
        reader->state = in_object(reader) ? WANT_KEY : WANT_VALUE;
        return read_token(reader, token); /* once: the states after a comma do not come here */
    default: return next < 0 ? JSON_OK : fail(reader, JSON_ESYNTAX, "something follows the value");
    }
}

int json_next(struct json_reader *reader, struct json_token *token) {
    *token = (struct json_token){.event = JSON_END, .text = ""};
    if (reader->error) return reader->error;
    int rc = read_token(reader, token);
    if (rc) token->event = JSON_END;
    return rc;
}

int json_skip(struct json_reader *reader, const struct json_token *token) {
    if (token->event != JSON_ARRAY_BEGIN && token->event != JSON_OBJECT_BEGIN) return JSON_OK;
    uint32_t outside = reader->depth - 1;
    while (reader->depth > outside) {
        struct json_token inner;
        int rc = json_next(reader, &inner);
        if (rc) return rc;
    }
    return JSON_OK;
}

/* ---- what tokens mean ---- */

size_t json_decode(const struct json_token *token, char *out) {
    if (!token->escaped) {
        memcpy(out, token->text, token->length);
        return token->length;
    }
    size_t used = 0;
    for (size_t at = 0; at < token->length;) {
        uint32_t point = 0;
        if (token->text[at] != '\\') {
            out[used++] = token->text[at++];
            continue;
        }
        at += 1 + escape_bytes(token->text + at + 1, token->length - at - 1, &point);
        used += utf8_encode(point, out + used);
    }
    return used;
}

bool json_is(const struct json_token *token, const char *text) {
    size_t length = strlen(text);
    if (token->event != JSON_STRING && token->event != JSON_KEY) return false;
    if (!token->escaped) return token->length == length && memcmp(token->text, text, length) == 0;
    size_t matched = 0;
    for (size_t at = 0; at < token->length;) {
        char bytes[UTF8_BYTES_MAX] = {token->text[at]};
        size_t count = 1;
        uint32_t point = 0;
        if (token->text[at] == '\\') {
            at += escape_bytes(token->text + at + 1, token->length - at - 1, &point);
            count = utf8_encode(point, bytes);
        }
        at++;
        if (count > length - matched || memcmp(text + matched, bytes, count) != 0) return false;
        matched += count;
    }
    return matched == length;
}

int json_int64(const struct json_token *token, int64_t *value) {
    if (token->event != JSON_NUMBER || !token->integral) return JSON_ERANGE;
    return numtext_parse_int64(token->text, token->length, value) ? JSON_ERANGE : JSON_OK;
}

int json_uint64(const struct json_token *token, uint64_t *value) {
    if (token->event != JSON_NUMBER || !token->integral) return JSON_ERANGE;
    return numtext_parse_uint64(token->text, token->length, value) ? JSON_ERANGE : JSON_OK;
}

int json_float64(const struct json_token *token, double *value) {
    bool special = json_is(token, "nan") || json_is(token, "inf") || json_is(token, "-inf");
    if (token->event != JSON_NUMBER && !special) return JSON_ERANGE;
    if (special && token->escaped) return JSON_ERANGE;
    return numtext_parse_float64(token->text, token->length, value) ? JSON_ERANGE : JSON_OK;
}
