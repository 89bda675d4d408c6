/* base64·: bytes as texts of 64 characters (RFC 4648 §4 and §5). Relies on pieces.h.
 * Promise: decoding is strict: no other characters, no wrong length, no bits behind the end. */
#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/base64.def"
#undef NATIVE

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int base64_encode(struct core_call *call) {
    struct piece content;
    int rc = piece_content(call, 0, &content);
    if (rc) return rc;
    size_t length = (content.length + 2) / 3 * 4, used = 0;
    char *text = malloc(length + 1);
    if (!text) {
        piece_free(&content);
        return fault(call->heap, ERROR_OUT_OF_MEMORY, "base64·encode: no memory for %zu bytes", length);
    }
    const unsigned char *bytes = (const unsigned char *)content.bytes;
    for (size_t i = 0; i < content.length; i += 3) {
        size_t left = content.length - i;
        uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
        text[used++] = alphabet[word >> 18];
        text[used++] = alphabet[word >> 12 & 63];
        text[used++] = left > 1 ? alphabet[word >> 6 & 63] : '=';
        text[used++] = left > 2 ? alphabet[word & 63] : '=';
    }
    rc = give_text(call, text, used);
    free(text);
    piece_free(&content);
    return rc;
}

static int value_of(char c) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

/* Into malloc'd bytes. */
static int decode(struct core_call *call, unsigned char **bytes, size_t *count) {
    struct piece text;
    int rc = piece_text(call, 0, &text);
    if (rc) return rc;
    size_t length = text.length, used = 0;
    if (length && length % 4 == 0 && text.bytes[length - 1] == '=') length -= text.bytes[length - 2] == '=' ? 2 : 1;
    unsigned char *made = malloc(length / 4 * 3 + 3);
    uint32_t word = 0;
    if (!made) {
        piece_free(&text);
        return fault(call->heap, ERROR_OUT_OF_MEMORY, "%s: no memory for the bytes", call->row->name);
    }
    for (size_t i = 0; i < length && !rc; i++) {
        int six = value_of(text.bytes[i]);
        if (six < 0) {
            rc = fault(call->heap, ERROR_VALUE, "%s: byte %zu is no character of base 64", call->row->name, i + 1);
            break;
        }
        word = word << 6 | (uint32_t)six;
        if (i % 4 == 1) made[used++] = (unsigned char)(word >> 4);
        if (i % 4 == 2) made[used++] = (unsigned char)(word >> 2);
        if (i % 4 == 3) made[used++] = (unsigned char)word;
    }
    uint32_t rest = length % 4 == 2 ? word & 15 : length % 4 == 3 ? word & 3 : 0;
    if (!rc && (length % 4 == 1 || rest)) rc = fault(call->heap, ERROR_VALUE, "%s: the text is cut off", call->row->name);
    piece_free(&text);
    if (rc) {
        free(made);
        return rc;
    }
    *bytes = made;
    *count = used;
    return 0;
}

static int base64_decode(struct core_call *call) {
    unsigned char *bytes = NULL;
    size_t count = 0;
    int rc = decode(call, &bytes, &count);
    if (rc) return rc;
    rc = give_bytes(call, bytes, count);
    free(bytes);
    return rc;
}

static int base64_decodetext(struct core_call *call) {
    unsigned char *bytes = NULL;
    size_t count = 0;
    int rc = decode(call, &bytes, &count);
    if (rc) return rc;
    rc = give_text(call, (const char *)bytes, count);
    free(bytes);
    return rc;
}

const struct native_row base64_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/base64.def"
#undef NATIVE
};
const uint32_t base64_count = sizeof base64_rows / sizeof *base64_rows;
