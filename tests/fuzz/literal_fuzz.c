/* Fuzz target for literals: whatever parses prints, and what is printed in quotes parses to something that prints the
 * same. Types are checked to be types. Bodies are limited to 64 KiB, so that `[1000000]int8([])` is refused. */
#include "kvspace/literal.h"
#include "kvspace/typexpr.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct literal_options options = {.body_bytes_max = 1 << 16};

static void must(bool holds) {
    if (!holds) abort();
}

static void same_values(const struct literal *left, const struct literal *right) {
    must(left->class == right->class && strcmp(left->type, right->type) == 0);
    must(left->body_bytes == right->body_bytes && left->entry_count == right->entry_count);
    must(left->body_bytes == 0 || memcmp(left->body, right->body, left->body_bytes) == 0);
    const struct literal_entry *b = right->entries;
    for (const struct literal_entry *a = left->entries; a; a = a->next, b = b->next) same_values(a->value, b->value);
}

/* Typed text gives the same types and bodies back. Its parentheses nest one deeper for each type, so what is nearly too
 * deep may be refused, and `…` stands for millions of empty rows. */
static void check_typed(const struct literal *value) {
    const struct literal_print_options how = {.style = LITERAL_STYLE_TYPED};
    struct text_buffer buffer = {.limit = 1 << 20};
    struct text_out out = text_buffer_out(&buffer);
    int rc = literal_print(&literal_tree_reader, value, &how, &out);
    must(rc == 0 || rc == TEXT_ELIMIT);
    struct literal_document again;
    struct literal_error error;
    if (rc == 0 && buffer.bytes) {
        rc = literal_parse(buffer.bytes, buffer.length, &options, &again, &error);
        must(rc == 0 || rc == LITERAL_ELIMIT);
        if (rc == 0) same_values(value, again.root);
        literal_document_free(&again);
    }
    text_buffer_free(&buffer);
}

/* Prints; false when the text would be longer than is worth the time. */
static bool print(const struct literal *value, enum literal_top top, struct text_buffer *buffer) {
    const struct literal_print_options how = {.top = top};
    *buffer = (struct text_buffer){.limit = 1 << 20};
    struct text_out out = text_buffer_out(buffer);
    int rc = literal_print(&literal_tree_reader, value, &how, &out);
    must(rc == 0 || rc == TEXT_ELIMIT);
    return rc == 0 && buffer->bytes;
}

static void check_types(const struct literal *value) {
    uint64_t form[4096];
    if (value->type[0] && strlen(value->type) < 1000)
        must(typexpr_parse(value->type, strlen(value->type), form, sizeof form, NULL) == TYPEXPR_OK);
    for (const struct literal_entry *entry = value->entries; entry; entry = entry->next) check_types(entry->value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct literal_document first;
    struct literal_error error;
    int rc = literal_parse((const char *)data, size, &options, &first, &error);
    must(rc == error.code && error.position <= size && (rc == 0) == (error.message[0] == 0));
    if (rc) {
        must(first.root == NULL && first.blocks == NULL);
        return 0;
    }
    check_types(first.root);
    check_typed(first.root);
    struct text_buffer text;
    struct text_buffer again;
    if (print(first.root, LITERAL_TOP_BARE, &text)) text_buffer_free(&text);
    if (print(first.root, LITERAL_TOP_QUOTED, &text)) {
        struct literal_document second;
        /* Only an empty array needs its type to be read back. */
        rc = literal_parse(text.bytes, text.length, NULL, &second, &error);
        must(rc == 0 || strstr(text.bytes, "[]"));
        if (rc == 0 && print(second.root, LITERAL_TOP_QUOTED, &again)) {
            must(again.length == text.length && memcmp(again.bytes, text.bytes, text.length) == 0);
            text_buffer_free(&again);
        }
        literal_document_free(&second);
    }
    text_buffer_free(&text);
    literal_document_free(&first);
    return 0;
}
