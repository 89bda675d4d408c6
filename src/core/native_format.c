/* Text from values and values from text: printf's directives over cells, numbers in any base.
 * Relies on numtext.h for floats, value.h for %v. Promises: no locale; a wrong or missing argument is a TypeError that names the
 * directive; widths count code points; the length of a result is bounded by the width and precision limits here. */
#include <stdio.h>

#include "core/native.h"
#include "core/types.h"
#include "kvspace/numtext.h"
#include "kvspace/utf8.h"

enum { WIDTH_MAX = 100000, PRECISION_MAX = 1000 };

struct directive {
    bool left, zero, plus, blank, alternate;
    uint32_t width;
    int32_t precision; /* -1: not given */
    char letter;
};

static void pad(struct text_out *out, char with, uint64_t count) {
    while (count--) text_put(out, &with, 1);
}

/* A body after its sign or prefix, in the width. */
static void put_padded(struct text_out *out, const struct directive *directive, const char *sign, const char *body, size_t bytes, bool number) {
    uint64_t length = utf8_count(body, bytes) + strlen(sign);
    uint64_t gap = directive->width > length ? directive->width - length : 0;
    bool zeros = number && directive->zero && !directive->left;
    if (!directive->left && !zeros) pad(out, ' ', gap);
    text_puts(out, sign);
    if (zeros) pad(out, '0', gap);
    text_put(out, body, bytes);
    if (directive->left) pad(out, ' ', gap);
}

static int wrong_argument(struct core_call *call, const struct directive *directive, const struct cell *cell, const char *wants) {
    char type[160];
    type_show(call->heap, cell, type, sizeof type);
    return fault(call->heap, ERROR_TYPE, "%%%c wants %s, not %s", directive->letter, wants, type);
}

static size_t digits_of(uint64_t value, unsigned base, bool capital, char *out) {
    char reversed[64];
    size_t count = 0;
    do {
        unsigned digit = (unsigned)(value % base);
        reversed[count++] = (char)(digit < 10 ? '0' + digit : (capital ? 'A' : 'a') + digit - 10);
        value /= base;
    } while (value);
    for (size_t i = 0; i < count; i++) out[i] = reversed[count - 1 - i];
    return count;
}

static int put_integer(struct core_call *call, struct text_out *out, const struct directive *directive, const struct cell *cell) {
    bool integer = cell_is_scalar(cell) && kind_is_integer(cell_kind(cell));
    if (!integer) return wrong_argument(call, directive, cell, "an integer");
    bool negative = kind_row(cell_kind(cell))->is_signed && cell_as_int64(cell) < 0;
    unsigned base = directive->letter == 'x' || directive->letter == 'X' ? 16 : directive->letter == 'o' ? 8 : directive->letter == 'b' ? 2 : 10;
    char sign[4], body[PRECISION_MAX + 80];
    const char *mark = negative ? "-" : directive->plus && base == 10 ? "+" : directive->blank && base == 10 ? " " : "";
    const char *prefix = !directive->alternate ? "" : base == 2 ? "0b" : base == 16 ? (directive->letter == 'x' ? "0x" : "0X") : "";
    snprintf(sign, sizeof sign, "%s%s", mark, prefix);
    size_t lead = 0, count = digits_of(negative ? 0 - cell->payload : cell->payload, base, directive->letter == 'X', body);
    if (directive->precision > (int32_t)count) {
        lead = (size_t)directive->precision - count;
        memmove(body + lead, body, count);
        memset(body, '0', lead);
    }
    put_padded(out, directive, sign, body, lead + count, directive->precision < 0);
    return 0;
}

/* As C's %g: the shorter of %e and %f with `precision` significant digits, trailing zeros dropped. */
static size_t print_general(double value, unsigned precision, char *out, size_t capacity) {
    if (precision == 0) precision = 1;
    char text[64 + PRECISION_MAX];
    size_t bytes = numtext_print_scientific(value, precision - 1, text, sizeof text);
    const char *mark = memchr(text, 'e', bytes);
    if (!mark) { /* inf, nan */
        memcpy(out, text, bytes + 1);
        return bytes;
    }
    int exponent = 0;
    sscanf(mark + 1, "%d", &exponent);
    bool fixed = exponent >= -4 && exponent < (int)precision;
    if (fixed) bytes = numtext_print_fixed(value, (unsigned)((int)precision - 1 - exponent), text, sizeof text);
    const char *end = fixed ? text + bytes : mark;
    const char *keep = end;
    if (memchr(text, '.', (size_t)(end - text))) {
        while (keep[-1] == '0') keep--;
        if (keep[-1] == '.') keep--;
    }
    size_t head = (size_t)(keep - text), tail = (size_t)(text + bytes - end);
    if (head + tail >= capacity) tail = 0;
    memcpy(out, text, head);
    memcpy(out + head, end, tail);
    out[head + tail] = 0;
    return head + tail;
}

static int put_float(struct core_call *call, struct text_out *out, const struct directive *directive, const struct cell *cell) {
    if (!cell_is_scalar(cell) || !kind_is_number(cell_kind(cell))) return wrong_argument(call, directive, cell, "a number");
    double value = number_as_float64(cell);
    unsigned precision = directive->precision < 0 ? 6 : (unsigned)directive->precision;
    char text[PRECISION_MAX + 500];
    size_t bytes;
    switch (directive->letter) {
    case 'e': bytes = numtext_print_scientific(value, precision, text, sizeof text); break;
    case 'g': bytes = print_general(value, precision, text, sizeof text); break;
    default: bytes = numtext_print_fixed(value, precision, text, sizeof text); break;
    }
    bool negative = text[0] == '-', finite = value - value == 0.0;
    const char *sign = negative ? "-" : directive->plus ? "+" : directive->blank ? " " : "";
    put_padded(out, directive, sign, text + negative, bytes - negative, finite);
    return 0;
}

static int put_value(struct core_call *call, struct text_out *out, const struct directive *directive, const struct cell *cell) {
    struct text_buffer buffer = { 0 };
    struct text_out sink = text_buffer_out(&buffer);
    if (directive->letter == 's' && !cell_is_text(cell)) return wrong_argument(call, directive, cell, "text (%v takes every value)");
    int rc = value_print(call->heap, cell, false, &sink);
    if (!rc) {
        size_t bytes = buffer.length;
        if (directive->precision >= 0) bytes = utf8_position(buffer.bytes ? buffer.bytes : "", buffer.length, (size_t)directive->precision);
        put_padded(out, directive, "", buffer.bytes ? buffer.bytes : "", bytes, false);
    }
    text_buffer_free(&buffer);
    return rc;
}

static int put_character(struct core_call *call, struct text_out *out, const struct directive *directive, const struct cell *cell) {
    char text[UTF8_BYTES_MAX];
    if (cell_is_text(cell) && text_length(call->heap, cell) == 1) return put_value(call, out, directive, cell);
    size_t bytes = cell_is_scalar(cell) && kind_is_integer(cell_kind(cell)) && cell->payload <= UTF8_POINT_MAX ? utf8_encode((uint32_t)cell->payload, text) : 0;
    if (!bytes) return wrong_argument(call, directive, cell, "one character or its number");
    put_padded(out, directive, "", text, bytes, false);
    return 0;
}

/* What stands between % and its letter. Gives the length, 0 when it is no directive. */
static size_t parse_directive(const char *text, size_t length, struct directive *out) {
    size_t at = 0;
    *out = (struct directive){ .precision = -1 };
    for (; at < length; at++) {
        if (text[at] == '-') out->left = true;
        else if (text[at] == '0') out->zero = true;
        else if (text[at] == '+') out->plus = true;
        else if (text[at] == ' ') out->blank = true;
        else if (text[at] == '#') out->alternate = true;
        else break;
    }
    for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
        if (out->width <= WIDTH_MAX) out->width = out->width * 10 + (uint32_t)(text[at] - '0');
    if (at < length && text[at] == '.') {
        out->precision = 0;
        for (at++; at < length && text[at] >= '0' && text[at] <= '9'; at++)
            if (out->precision <= PRECISION_MAX) out->precision = out->precision * 10 + (text[at] - '0');
    }
    if (at >= length || out->width > WIDTH_MAX || out->precision > PRECISION_MAX) return 0;
    out->letter = text[at];
    return at + 1;
}

static int put_directive(struct core_call *call, struct text_out *out, const struct directive *directive, const struct cell *cell) {
    switch (directive->letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'b': return put_integer(call, out, directive, cell);
    case 'f':
    case 'e':
    case 'g': return put_float(call, out, directive, cell);
    case 'c': return put_character(call, out, directive, cell);
    case 's':
    case 'v': return put_value(call, out, directive, cell);
    default: return fault(call->heap, ERROR_TYPE, "there is no directive %%%c", directive->letter);
    }
}

static int format_bytes(struct core_call *call, const char *text, size_t length, struct text_out *out) {
    uint32_t next = 1;
    size_t at = 0;
    while (at < length) {
        const char *percent = memchr(text + at, '%', length - at);
        size_t plain = percent ? (size_t)(percent - text) - at : length - at;
        text_put(out, text + at, plain);
        at += plain;
        if (!percent) break;
        at++;
        if (at < length && text[at] == '%') {
            text_put(out, "%", 1);
            at++;
            continue;
        }
        struct directive directive;
        size_t used = parse_directive(text + at, length - at, &directive);
        if (!used) return fault(call->heap, ERROR_VALUE, "a directive of the format is cut off or too wide");
        at += used;
        if (!strchr("diuxXobfegcsv", directive.letter)) return put_directive(call, out, &directive, call->args[0]);
        if (next >= call->arg_count) return fault(call->heap, ERROR_TYPE, "%%%c has no argument", directive.letter);
        int rc = put_directive(call, out, &directive, call->args[next++]);
        if (rc) return rc;
    }
    if (next < call->arg_count)
        return fault(call->heap, ERROR_TYPE, "the format takes %u %s, not %u", next - 1, next == 2 ? "value" : "values", call->arg_count - 1);
    return out->error ? fault(call->heap, ERROR_OUT_OF_MEMORY, "no room for a text") : 0;
}

int format_cells(struct core_call *call, struct text_out *out) {
    const struct cell *format;
    int rc = native_text(call, 0, &format);
    if (rc) return rc;
    struct text_buffer buffer = { 0 };
    struct text_out sink = text_buffer_out(&buffer);
    text_write(call->heap, format, &sink);
    if (sink.error) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "no room for a text");
    if (!rc) rc = format_bytes(call, buffer.bytes ? buffer.bytes : "", buffer.length, out);
    text_buffer_free(&buffer);
    return rc;
}

int native_string_format(struct core_call *call) {
    struct text_buffer buffer = { 0 };
    struct text_out out = text_buffer_out(&buffer);
    int rc = format_cells(call, &out);
    if (!rc) return native_give_text(call, &buffer);
    text_buffer_free(&buffer);
    return rc;
}

/* ---- numbers ---- */

static int base_of(struct core_call *call, uint32_t i, unsigned *base) {
    int64_t number = 10;
    if (i < call->arg_count) {
        int rc = native_int64(call, i, &number);
        if (rc) return rc;
    }
    if (number < 2 || number > 36) return fault(call->heap, ERROR_VALUE, "a base is from 2 to 36, not %lld", (long long)number);
    *base = (unsigned)number;
    return 0;
}

static int give_digits(struct core_call *call, bool negative, uint64_t size, unsigned base) {
    char text[72];
    text[0] = '-';
    size_t bytes = digits_of(size, base, false, text + negative) + negative;
    return text_from_utf8(call->heap, text, bytes, &call->results[0]);
}

int native_string_formatint(struct core_call *call) {
    const struct cell *cell = call->args[0];
    unsigned base;
    if (!cell_is_scalar(cell) || kind_class(cell_kind(cell)) != KIND_CLASS_INT) return native_mismatch(call, 0, "a signed integer");
    int rc = base_of(call, 1, &base);
    bool negative = cell_as_int64(cell) < 0;
    return rc ? rc : give_digits(call, negative, negative ? 0 - cell->payload : cell->payload, base);
}

int native_string_formatuint(struct core_call *call) {
    const struct cell *cell = call->args[0];
    unsigned base;
    bool takes = cell_is_scalar(cell) && (kind_class(cell_kind(cell)) == KIND_CLASS_UINT || (native_literal(call, 0) && cell_tag(cell) == KIND_INT64 && cell_as_int64(cell) >= 0));
    if (!takes) return native_mismatch(call, 0, "an unsigned integer");
    int rc = base_of(call, 1, &base);
    return rc ? rc : give_digits(call, false, cell->payload, base);
}

int native_string_formatfloat(struct core_call *call) {
    const struct cell *cell = call->args[0];
    if (!cell_is_scalar(cell) || !kind_is_float(cell_kind(cell))) {
        struct cell fitted;
        if (!native_literal(call, 0) || !literal_fits(cell, KIND_FLOAT64, &fitted)) return native_mismatch(call, 0, "a float");
    }
    char text[PRECISION_MAX + 500];
    size_t bytes;
    if (call->arg_count > 1) {
        int64_t digits;
        int rc = native_int64(call, 1, &digits);
        if (rc) return rc;
        if (digits < 0 || digits > PRECISION_MAX) return fault(call->heap, ERROR_VALUE, "string·formatfloat: %lld digits; from 0 to %d", (long long)digits, PRECISION_MAX);
        bytes = numtext_print_fixed(number_as_float64(cell), (unsigned)digits, text, sizeof text);
    } else if (kind_is_float(cell_kind(cell))) {
        unsigned char element[8];
        scalar_store(cell_kind(cell), element, cell->payload);
        bytes = numtext_print_float((enum kv_kind)cell_kind(cell), element, text);
    } else {
        bytes = numtext_print_float64(number_as_float64(cell), text);
    }
    return text_from_utf8(call->heap, text, bytes, &call->results[0]);
}

/* The text of argument 0 without blanks around it. */
static int number_text(struct core_call *call, char *out, size_t capacity, const char **text, size_t *bytes) {
    int rc = native_utf8(call, 0, out, capacity);
    if (rc == ERROR_VALUE) return fault(call->heap, ERROR_VALUE, "%s: the text is no number", call->row ? call->row->name : "parse");
    if (rc) return rc;
    *text = out;
    while (**text == ' ' || **text == '\t' || **text == '\n' || **text == '\r') ++*text;
    *bytes = strlen(*text);
    while (*bytes && strchr(" \t\n\r", (*text)[*bytes - 1])) --*bytes;
    return 0;
}

static int bad_number(struct core_call *call, int status, const char *kind) {
    char shown[96];
    value_picture(call->heap, call->args[0], shown, sizeof shown);
    return fault(call->heap, ERROR_VALUE, status == NUMTEXT_ERANGE ? "%s is out of range for %s" : "%s is no %s", shown, kind);
}

int native_string_parseint(struct core_call *call) {
    char buffer[1024];
    const char *text;
    size_t bytes;
    unsigned base;
    int64_t number = 0;
    int rc = number_text(call, buffer, sizeof buffer, &text, &bytes);
    if (!rc) rc = base_of(call, 1, &base);
    if (rc) return rc;
    int status;
    if (call->arg_count == 1) {
        status = numtext_parse_int64(text, bytes, &number);
    } else {
        bool negative = bytes && *text == '-', sign = bytes && (*text == '-' || *text == '+');
        uint64_t size;
        status = numtext_parse_digits(text + sign, bytes - sign, base, &size);
        if (!status && size > (uint64_t)INT64_MAX + negative) status = NUMTEXT_ERANGE;
        number = (int64_t)(negative ? 0 - size : size);
    }
    if (status) return bad_number(call, status, "int64");
    return native_give(call, cell_int64(number));
}

int native_string_parseuint(struct core_call *call) {
    char buffer[1024];
    const char *text;
    size_t bytes;
    unsigned base;
    uint64_t number;
    int rc = number_text(call, buffer, sizeof buffer, &text, &bytes);
    if (!rc) rc = base_of(call, 1, &base);
    if (rc) return rc;
    int status = call->arg_count == 1 ? numtext_parse_uint64(text, bytes, &number) : numtext_parse_digits(text, bytes, base, &number);
    if (status) return bad_number(call, status, "uint64");
    return native_give(call, cell_uint64(number));
}

int native_string_parsefloat(struct core_call *call) {
    char buffer[4096];
    const char *text;
    size_t bytes;
    double number;
    int rc = number_text(call, buffer, sizeof buffer, &text, &bytes);
    if (rc) return rc;
    int status = numtext_parse_float64(text, bytes, &number);
    if (status) return bad_number(call, status, "float64");
    return native_give(call, cell_float64(number));
}
