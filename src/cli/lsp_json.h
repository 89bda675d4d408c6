/* JSON messages as pieces of their text: members and items are looked up where they stand, nothing is copied.
 * Relies on kvspace/json.h. Promise: a value is well-formed text or absent (length 0), and every question about an absent
 * value, or one of another sort, has the answer "absent" or false; so a request's parameters need no checks on the way. */
#ifndef CLI_LSP_JSON_H
#define CLI_LSP_JSON_H

#include "kvspace/json.h"

/* Borrowed from the message. */
struct lsp_value {
    const char *text;
    size_t length; /* 0: there is no such value */
};

/* The value that is all of the text; false where it is not well-formed JSON. */
bool lsp_parse(const char *text, size_t length, struct lsp_value *value);
/* A member of an object; of several with the same name the first. */
struct lsp_value lsp_member(struct lsp_value object, const char *name);
/* A member's member: "textDocument/uri". */
struct lsp_value lsp_at(struct lsp_value object, const char *path);

/* Walks an array: zero with `array` set, then lsp_item until it says false. */
struct lsp_items {
    struct lsp_value array;
    size_t at; /* byte behind the last item; 0 at the start */
};
bool lsp_item(struct lsp_items *items, struct lsp_value *item);

enum json_event lsp_sort(struct lsp_value value); /* JSON_END where it is absent */
bool lsp_is(struct lsp_value value, const char *text);
bool lsp_int64(struct lsp_value value, int64_t *out);
/* 0 … 2^32-1; what is larger counts as the largest, as editors mean it by "the end". */
bool lsp_uint32(struct lsp_value value, uint32_t *out);
/* The text of a string without escapes, ended by a zero byte: malloc'd, the caller frees it. NULL: no string, or no memory. */
char *lsp_string(struct lsp_value value, size_t *length);

#endif
