/* Fuzz target for JSON: what the parser takes is copied through the writer, and the copy gives the same tokens and,
 * copied again, the same bytes. */
#include "kvspace/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

static void copy_string(struct json_writer *writer, const struct json_token *token) {
    char *text = malloc(token->length + 1);
    must(text != NULL);
    size_t length = json_decode(token, text);
    must(length <= token->length);
    if (token->event == JSON_KEY) json_key(writer, text, length);
    else json_put_string(writer, text, length);
    text[length] = 0;
    if (!memchr(text, 0, length)) must(json_is(token, text));
    free(text);
}

static void copy_token(struct json_writer *writer, const struct json_token *token) {
    int64_t whole;
    uint64_t large;
    double real;
    switch (token->event) {
    case JSON_NULL: json_put_null(writer); break;
    case JSON_TRUE: json_put_bool(writer, true); break;
    case JSON_FALSE: json_put_bool(writer, false); break;
    case JSON_KEY:
    case JSON_STRING: copy_string(writer, token); break;
    case JSON_ARRAY_BEGIN: json_array_begin(writer); break;
    case JSON_ARRAY_END: json_array_end(writer); break;
    case JSON_OBJECT_BEGIN: json_object_begin(writer); break;
    case JSON_OBJECT_END: json_object_end(writer); break;
    default:
        if (json_int64(token, &whole) == 0) json_put_int64(writer, whole);
        else if (json_uint64(token, &large) == 0) json_put_uint64(writer, large);
        else if (json_float64(token, &real) == 0) json_put_float64(writer, real);
        else json_put_raw(writer, token->text, token->length);
    }
}

/* Gives the parser's error; on success `buffer` holds the copy. */
static int copy(const char *text, size_t length, uint32_t indent, struct text_buffer *buffer) {
    *buffer = (struct text_buffer){0};
    struct text_out out = text_buffer_out(buffer);
    struct json_writer writer = {.out = &out, .indent = indent};
    struct json_reader reader = {.text = text, .length = length};
    struct json_token token;
    int rc;
    while ((rc = json_next(&reader, &token)) == 0 && token.event != JSON_END) copy_token(&writer, &token);
    must(out.error == 0 && reader.at <= length && (rc == 0 || reader.message != NULL));
    if (rc == 0) must(json_finish(&writer) == 0);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text_buffer first;
    struct text_buffer second;
    struct text_buffer third;
    if (copy((const char *)data, size, 0, &first) == 0) {
        must(copy(first.bytes, first.length, 3, &second) == 0);
        must(copy(second.bytes, second.length, 0, &third) == 0);
        must(third.length == first.length && memcmp(third.bytes, first.bytes, first.length) == 0);
        text_buffer_free(&second);
        text_buffer_free(&third);
    }
    text_buffer_free(&first);
    return 0;
}
