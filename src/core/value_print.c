/* Printing of values through the printer of kvspace, and short pictures of them for messages.
 * Relies on literal.h (the rules of language.md "Printing"), map.h, types.h. Promises: bounded depth and memory. */
#include "core/value.h"

#include "core/array.h"
#include "core/map.h"
#include "core/text.h"
#include "core/types.h"
#include "kvspace/literal.h"
#include "kvspace/numtext.h"
#include "kvspace/utf8.h"

enum { KEY_TEXT_MAX = 8192, POINTER_TEXT_MAX = 4400 };

struct print_context {
    struct heap *heap;
    char pointer[POINTER_TEXT_MAX];
};

/* The name of a struct as it prints: without its lib. */
static void struct_name(struct heap *heap, uint32_t type, struct literal_view *view) {
    const struct type_info *info;
    if (type_of_id(heap, type, &info)) return;
    view->text = info->text;
    view->text_bytes = info->bytes;
}

static int look(void *context, const void *value, struct literal_view *view) {
    struct print_context *print = context;
    struct heap *heap = print->heap;
    const struct cell *cell = value;
    memset(view, 0, sizeof *view);
    unsigned tag = cell_tag(cell);
    if (cell_is_none(cell)) {
        view->class = LITERAL_NONE;
    } else if (cell_is_scalar(cell)) {
        view->class = LITERAL_SCALAR;
        view->kind = (uint8_t)cell_kind(cell);
        view->body = &cell->payload;
        view->body_bytes = kind_size(view->kind);
    } else if (cell_is_text(cell)) {
        view->class = LITERAL_TEXT;
        view->kind = (uint8_t)cell_kind(cell);
        uint64_t count;
        view->body = text_units(heap, cell, &count);
        view->body_bytes = count * kind_size(view->kind);
        view->ndim = 1;
        view->dims[0] = count;
    } else if (cell_is_array(cell)) {
        const struct block *block = cell_block(heap, cell);
        view->class = LITERAL_ARRAY;
        view->kind = (uint8_t)cell_kind(cell);
        view->ndim = block->ndim;
        memcpy(view->dims, block->dims, 8u * block->ndim);
        view->body = block_body(block);
        view->body_bytes = block->body_bytes;
    } else if (tag == TAG_MAP) {
        view->class = LITERAL_MAP;
    } else if (tag == TAG_STRUCT) {
        view->class = LITERAL_STRUCT;
        struct_name(heap, cell_block(heap, cell)->type, view);
    } else {
        view->class = LITERAL_POINTER;
        print->pointer[0] = 0;
        if (tag == TAG_POINTER && heap->pointer_text) {
            int rc = heap->pointer_text(heap, cell, print->pointer, sizeof print->pointer);
            if (rc) strcpy(print->pointer, "/‥gone");
        }
        if (!print->pointer[0]) type_print(heap, cell, print->pointer, sizeof print->pointer);
        view->text = print->pointer;
        view->text_bytes = strlen(print->pointer);
    }
    return 0;
}

/* Keys: text, a scalar, or the parts of a tuple with the kinds that the map's type gives them. */
static int key_view(struct heap *heap, const struct cell *map, const struct cell *key, char *buffer, struct literal_key_view *view) {
    memset(view, 0, sizeof *view);
    if (cell_is_text(key)) {
        size_t bytes;
        text_to_utf8(heap, key, buffer, KEY_TEXT_MAX, &bytes);
        view->text = buffer;
        view->text_bytes = bytes;
        return 0;
    }
    if (cell_is_scalar(key)) {
        view->count = 1;
        view->kinds[0] = (uint8_t)cell_kind(key);
        scalar_store(cell_kind(key), view->values[0], key->payload);
        return 0;
    }
    const struct type_info *info = NULL;
    if (cell_block(heap, map)->type) (void)type_of_id(heap, cell_block(heap, map)->type, &info);
    const struct block *block = cell_block(heap, key);
    const uint64_t *parts = block_body(block);
    view->count = (uint8_t)(block->dims[0] < LITERAL_AXES_MAX ? block->dims[0] : LITERAL_AXES_MAX);
    for (unsigned i = 0; i < view->count; i++) {
        view->kinds[i] = info && info->key_count > i ? info->key_kinds[i] : KIND_INT64;
        scalar_store(view->kinds[i], view->values[i], parts[i]);
    }
    return 0;
}

static int walk(void *context, const void *value, literal_entry_function *entry, struct literal_visit *visit) {
    struct print_context *print = context;
    const struct cell *cell = value, *key, *member;
    uint64_t position = 0;
    while (map_next(print->heap, cell, &position, &key, &member)) {
        struct literal_key_view view;
        char buffer[KEY_TEXT_MAX];
        key_view(print->heap, cell, key, buffer, &view);
        int rc = entry(visit, &view, member);
        if (rc) return rc;
    }
    return 0;
}

static int print_with(struct heap *heap, const struct cell *cell, const struct literal_print_options *options, struct text_out *out) {
    struct print_context context;
    context.heap = heap;
    struct literal_reader reader = { look, walk, &context };
    int rc = literal_print(&reader, cell, options, out);
    return rc ? fault(heap, ERROR_OUT_OF_MEMORY, "no room to print a value") : 0;
}

int value_print(struct heap *heap, const struct cell *cell, bool quoted, struct text_out *out) {
    if (cell_is_text(cell) && !quoted) { /* the common one, without the printer */
        text_write(heap, cell, out);
        return out->error ? fault(heap, ERROR_OUT_OF_MEMORY, "no room to print a value") : 0;
    }
    if (cell_tag(cell) == KIND_INT64) {
        char text[NUMTEXT_INTEGER_MAX];
        text_put(out, text, numtext_print_int64(cell_as_int64(cell), text));
        return out->error ? fault(heap, ERROR_OUT_OF_MEMORY, "no room to print a value") : 0;
    }
    if (cell_tag(cell) == TAG_RANGE) {
        struct cell spelt;
        int rc = range_expand(heap, cell, &spelt);
        if (rc) return rc;
        rc = value_print(heap, &spelt, quoted, out);
        cell_drop(heap, spelt);
        return rc;
    }
    struct literal_print_options options = { .top = quoted ? LITERAL_TOP_QUOTED : LITERAL_TOP_BARE };
    return print_with(heap, cell, &options, out);
}

struct cut_buffer {
    char *bytes;
    size_t length, capacity;
};

static int cut_write(void *context, const char *bytes, size_t count) {
    struct cut_buffer *buffer = context;
    size_t room = buffer->capacity - buffer->length;
    size_t taken = count < room ? count : room;
    memcpy(buffer->bytes + buffer->length, bytes, taken);
    buffer->length += taken;
    return taken < count ? 1 : 0;
}

void value_picture(struct heap *heap, const struct cell *cell, char *out, size_t capacity) {
    static const char more[] = "…";
    struct cut_buffer buffer = { out, 0, capacity - sizeof more };
    struct text_out sink = { cut_write, &buffer, 0 };
    struct literal_print_options options = { .top = LITERAL_TOP_QUOTED, .items_max = 8, .depth_max = 4 };
    struct print_context context;
    context.heap = heap;
    struct literal_reader reader = { look, walk, &context };
    int rc = literal_print(&reader, cell, &options, &sink);
    size_t length = buffer.length;
    if (rc || sink.error) {
        length = utf8_valid_prefix(out, length);
        memcpy(out + length, more, sizeof more - 1);
        length += sizeof more - 1;
    }
    out[length] = 0;
}
