/* Looking things up in the text of a message. Relies on lsp_json.h and the pull parser behind it.
 * Promise: reads each byte of the object once a look-up; no allocation but for lsp_string's result. */
#include "cli/lsp_json.h"

#include <stdlib.h>
#include <string.h>

static const struct lsp_value absent = {"", 0};

static struct json_reader reader_of(struct lsp_value value) {
    return (struct json_reader){.text = value.text, .length = value.length};
}

static bool first_token(struct lsp_value value, struct json_token *token) {
    struct json_reader reader = reader_of(value);
    return value.length && !json_next(&reader, token);
}

static bool is_blank(char character) {
    return character == ' ' || character == '\n' || character == '\r' || character == '\t' || character == ',';
}

/* The value that begins at the reader, blanks before it skipped. */
static bool take_value(struct json_reader *reader, struct lsp_value *value, enum json_event *event) {
    size_t from = reader->at;
    struct json_token token;
    if (json_next(reader, &token) || json_skip(reader, &token)) return false;
    while (from < reader->at && is_blank(reader->text[from])) from++;
    *event = token.event;
    *value = (struct lsp_value){reader->text + from, reader->at - from};
    return true;
}

bool lsp_parse(const char *text, size_t length, struct lsp_value *value) {
    struct json_reader reader = {.text = text, .length = length};
    struct json_token end;
    enum json_event event;
    *value = absent;
    struct lsp_value found;
    if (!take_value(&reader, &found, &event) || json_next(&reader, &end)) return false;
    *value = found;
    return true;
}

struct lsp_value lsp_member(struct lsp_value object, const char *name) {
    struct json_reader reader = reader_of(object);
    struct json_token token;
    if (!object.length || json_next(&reader, &token) || token.event != JSON_OBJECT_BEGIN) return absent;
    while (!json_next(&reader, &token) && token.event == JSON_KEY) {
        bool wanted = json_is(&token, name);
        struct lsp_value value;
        enum json_event event;
        if (!take_value(&reader, &value, &event)) return absent;
        if (wanted) return value;
    }
    return absent;
}

struct lsp_value lsp_at(struct lsp_value object, const char *path) {
    char name[64];
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length >= sizeof name) return absent;
        memcpy(name, path, length);
        name[length] = '\0';
        object = lsp_member(object, name);
        path += length + (path[length] == '/');
    }
    return object;
}

bool lsp_item(struct lsp_items *items, struct lsp_value *item) {
    if (!items->at && (!items->array.length || items->array.text[0] != '[')) return false;
    if (!items->at) items->at = 1;
    /* What follows the last item is read on its own: the array's text is well-formed. */
    while (items->at < items->array.length && is_blank(items->array.text[items->at])) items->at++;
    struct json_reader reader = {.text = items->array.text + items->at, .length = items->array.length - items->at};
    struct json_token token;
    if (items->at >= items->array.length || items->array.text[items->at] == ']') return false;
    if (json_next(&reader, &token) || json_skip(&reader, &token)) return false;
    *item = (struct lsp_value){reader.text, reader.at};
    items->at += reader.at;
    return true;
}

enum json_event lsp_sort(struct lsp_value value) {
    struct json_token token;
    return first_token(value, &token) ? token.event : JSON_END;
}

bool lsp_is(struct lsp_value value, const char *text) {
    struct json_token token;
    return first_token(value, &token) && token.event == JSON_STRING && json_is(&token, text);
}

bool lsp_int64(struct lsp_value value, int64_t *out) {
    struct json_token token;
    return first_token(value, &token) && json_int64(&token, out) == 0;
}

bool lsp_uint32(struct lsp_value value, uint32_t *out) {
    struct json_token token;
    uint64_t wide;
    if (!first_token(value, &token) || token.event != JSON_NUMBER || !token.integral || token.text[0] == '-') return false;
    *out = json_uint64(&token, &wide) || wide > UINT32_MAX ? UINT32_MAX : (uint32_t)wide;
    return true;
}

char *lsp_string(struct lsp_value value, size_t *length) {
    struct json_token token;
    if (!first_token(value, &token) || token.event != JSON_STRING) return NULL;
    char *text = malloc(token.length + 1);
    if (!text) return NULL;
    *length = json_decode(&token, text);
    text[*length] = '\0';
    return text;
}
