/* The process's table of types, and what types cells have. A type id is a block that holds the canonical text; the space's
 * blocks are found again by their text through the table, and by their id after a resume in another process.
 * Relies on typexpr.h, map.h, text.h. Promises: ids stay valid while the heap lives (their blocks are never given back). */
#include "core/types.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/text.h"
#include "core/value.h"

/* Open addressing over ids and over texts; the infos themselves never move. */
struct type_table {
    struct type_info **by_id, **by_text;
    uint32_t capacity, count; /* a power of two; at most half full */
    const struct type_info *text_any, *kind_any[KIND_COUNT];
};

static uint32_t bytes_hash(const char *text, size_t bytes) {
    uint64_t hash = bytes;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static uint32_t id_hash(uint32_t id) { return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32); }

static bool same_text(const struct type_info *info, const char *text, size_t bytes) {
    return info->bytes == bytes && memcmp(info->text, text, bytes) == 0;
}

static void table_place(struct type_info **slots, uint32_t capacity, uint32_t hash, struct type_info *info) {
    uint32_t at = hash & (capacity - 1);
    while (slots[at]) at = (at + 1) & (capacity - 1);
    slots[at] = info;
}

static int table_grow(struct heap *heap) {
    struct type_table *table = heap->types;
    uint32_t capacity = table ? table->capacity * 2 : 64;
    if (!table) {
        table = calloc(1, sizeof *table);
        if (!table) return fault(heap, ERROR_OUT_OF_MEMORY, "no room for a table of types");
        heap->types = table;
    }
    struct type_info **ids = calloc(capacity, sizeof *ids), **texts = calloc(capacity, sizeof *texts);
    if (!ids || !texts) {
        free(ids);
        free(texts);
        return fault(heap, ERROR_OUT_OF_MEMORY, "no room for a table of types");
    }
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->by_id[i]) table_place(ids, capacity, id_hash(table->by_id[i]->id), table->by_id[i]);
        struct type_info *info = table->by_text[i];
        if (info) table_place(texts, capacity, bytes_hash(info->text, info->bytes), info);
    }
    free(table->by_id);
    free(table->by_text);
    table->by_id = ids;
    table->by_text = texts;
    table->capacity = capacity;
    return 0;
}

/* What the map code wants to know at each write. */
static int info_describe(struct heap *heap, struct type_info *info) {
    const struct typexpr_atom *atom = typexpr_first(info->form);
    if (info->form->atom_count != 1 || atom->prefix) return 0;
    info->is_struct = atom->class == TYPE_NAME && atom->axis_count == 0;
    if (atom->class != TYPE_MAP) return 0;
    info->is_map = true;
    info->value = typexpr_map_value(atom);
    info->value_any = typexpr_is_any(info->value);
    info->value_kind = (uint8_t)typexpr_only_kind(info->value);
    info->key_count = atom->key_count;
    if (atom->key_count == 0) {
        info->key_class = KEY_TEXT;
        info->key_kind = KIND_CHAR_UTF32;
    } else {
        info->key_class = atom->key_count == 1 ? KEY_SCALAR : KEY_TUPLE;
        info->key_kind = atom->key[0];
        memcpy(info->key_kinds, atom->key, sizeof info->key_kinds);
    }
    const struct typexpr_atom *value = typexpr_first(info->value);
    if (info->value->atom_count == 1 && !value->prefix && (value->class == TYPE_MAP || (value->class == TYPE_NAME && !value->axis_count))) {
        char text[TYPEXPR_TEXT_MAX];
        size_t bytes = typexpr_print(info->value, text, sizeof text);
        const struct type_info *inner;
        int rc = type_of_text(heap, text, bytes, &inner);
        if (rc) return rc;
        info->value_type = inner->id;
    }
    return 0;
}

/* Parses the text and enters it; `id` is its block, or 0 to make one. The text is canonical. */
static int info_new(struct heap *heap, const char *text, size_t bytes, uint32_t id, const struct type_info **out) {
    if (!heap->types || heap->types->count * 2 >= heap->types->capacity) {
        int rc = table_grow(heap);
        if (rc) return rc;
    }
    size_t bound = typexpr_bound(bytes);
    struct type_info *info = calloc(1, sizeof *info + bound + bytes + 1);
    if (!info) return fault(heap, ERROR_OUT_OF_MEMORY, "no room for a type");
    struct typexpr *form = (struct typexpr *)(void *)(info + 1);
    char *copy = (char *)form + bound;
    if (bytes) memcpy(copy, text, bytes);
    struct typexpr_error error;
    if (typexpr_parse(text, bytes, form, bound, &error)) {
        free(info);
        return fault(heap, ERROR_TYPE, "%s", error.message);
    }
    info->text = copy;
    info->bytes = (uint32_t)bytes;
    info->form = form;
    if (!id) {
        struct block *block;
        int rc = block_new(heap, 0, bytes, bytes, &block);
        if (rc) {
            free(info);
            return rc;
        }
        memcpy(block_body(block), text, bytes);
        id = block_ref_of(heap, block);
    }
    info->id = id;
    int rc = info_describe(heap, info);
    if (!rc && heap->types->count * 2 >= heap->types->capacity) rc = table_grow(heap); /* info_describe may have added */
    if (rc) {
        free(info);
        return rc;
    }
    struct type_table *table = heap->types;
    table_place(table->by_id, table->capacity, id_hash(id), info);
    table_place(table->by_text, table->capacity, bytes_hash(text, bytes), info);
    table->count++;
    *out = info;
    return 0;
}

static const struct type_info *find_text(const struct type_table *table, const char *text, size_t bytes) {
    if (!table) return NULL;
    uint32_t at = bytes_hash(text, bytes) & (table->capacity - 1);
    for (; table->by_text[at]; at = (at + 1) & (table->capacity - 1))
        if (same_text(table->by_text[at], text, bytes)) return table->by_text[at];
    return NULL;
}

int type_of_text(struct heap *heap, const char *text, size_t bytes, const struct type_info **out) {
    *out = find_text(heap->types, text, bytes);
    if (*out) return 0;
    if (bytes > TYPEXPR_TEXT_MAX) return fault(heap, ERROR_TYPE, "a type of %zu bytes is too long", bytes);
    size_t bound = typexpr_bound(bytes);
    struct typexpr *form = malloc(bound);
    char *canonical = malloc(TYPEXPR_TEXT_MAX);
    int rc = 0;
    struct typexpr_error error;
    if (!form || !canonical) {
        free(form);
        free(canonical);
        return fault(heap, ERROR_OUT_OF_MEMORY, "no room for a type");
    }
    if (typexpr_parse(text, bytes, form, bound, &error)) rc = fault(heap, ERROR_TYPE, "%s", error.message);
    if (!rc) {
        size_t length = typexpr_print(form, canonical, TYPEXPR_TEXT_MAX);
        if (length >= TYPEXPR_TEXT_MAX) rc = fault(heap, ERROR_TYPE, "a type of %zu bytes is too long", length);
        if (!rc) *out = find_text(heap->types, canonical, length);
        if (!rc && !*out) rc = info_new(heap, canonical, length, 0, out);
    }
    free(form);
    free(canonical);
    return rc;
}

int type_of_id(struct heap *heap, uint32_t id, const struct type_info **out) {
    struct type_table *table = heap->types;
    if (table) {
        uint32_t at = id_hash(id) & (table->capacity - 1);
        for (; table->by_id[at]; at = (at + 1) & (table->capacity - 1)) {
            if (table->by_id[at]->id != id) continue;
            *out = table->by_id[at];
            return 0;
        }
    }
    if (!id) return fault(heap, ERROR_RUNTIME, "a value without a type");
    const struct block *block = block_at(heap, id);
    if (block->ndim != 0 || block->body_bytes > TYPEXPR_TEXT_MAX)
        return fault(heap, ERROR_RUNTIME, "the type of a value is damaged");
    return info_new(heap, block_body(block), block->body_bytes, id, out);
}

void types_close(struct heap *heap) {
    struct type_table *table = heap->types;
    if (!table) return;
    for (uint32_t i = 0; i < table->capacity; i++) free(table->by_id[i]);
    free(table->by_id);
    free(table->by_text);
    free(table);
    heap->types = NULL;
}

int type_text_any(struct heap *heap, const struct type_info **out) {
    *out = heap->types ? heap->types->text_any : NULL;
    if (*out) return 0;
    static const char text[] = "[]char/utf8·any";
    int rc = type_of_text(heap, text, sizeof text - 1, out);
    if (!rc && heap->types) heap->types->text_any = *out;
    return rc;
}

int type_kind_any(struct heap *heap, unsigned kind, const struct type_info **out) {
    *out = heap->types ? heap->types->kind_any[kind] : NULL;
    if (*out) return 0;
    char text[KIND_NAME_MAX + 16];
    snprintf(text, sizeof text, "[%s]·any", kind_name(kind));
    int rc = type_of_text(heap, text, strlen(text), out);
    if (!rc && heap->types) heap->types->kind_any[kind] = *out;
    return rc;
}

/* A map that no write has decided yet. */
static void describe_undecided(struct heap *heap, struct typexpr_actual *actual) {
    const struct type_info *info;
    if (type_text_any(heap, &info)) return;
    actual->class = TYPE_MAP;
    actual->map = typexpr_first(info->form);
}

void type_describe(struct heap *heap, const struct cell *cell, struct typexpr_actual *actual) {
    memset(actual, 0, sizeof *actual);
    unsigned tag = cell_tag(cell);
    if (tag == TAG_NONE) return;
    if (cell_is_scalar(cell)) {
        actual->class = TYPE_KIND;
        actual->kind = (uint8_t)tag;
        return;
    }
    if (cell_is_array(cell)) {
        actual->class = TYPE_KIND;
        actual->kind = (uint8_t)cell_kind(cell);
        actual->ndim = 1;
        if (cell_is_text(cell)) {
            (void)text_units(heap, cell, &actual->dims[0]);
            return;
        }
        const struct block *block = cell_block(heap, cell);
        actual->ndim = block->ndim;
        for (unsigned i = 0; i < block->ndim; i++) actual->dims[i] = block->dims[i];
        return;
    }
    if (tag == TAG_RANGE) {
        actual->class = TYPE_KIND;
        actual->kind = KIND_INT64;
        actual->ndim = 1;
        actual->dims[0] = cell_block(heap, cell)->dims[0];
        return;
    }
    uint32_t id = cell->head & CELL_BLOCK ? cell_block(heap, cell)->type : 0;
    const struct type_info *info = NULL;
    if (tag == TAG_MAP && !id) {
        describe_undecided(heap, actual);
        return;
    }
    actual->class = TYPE_ANY;
    actual->prefix = tag == TAG_POINTER ? '*' : tag == TAG_EXTERNAL ? '@' : 0;
    if (!id || type_of_id(heap, id, &info) || !info) return;
    uint8_t prefix = actual->prefix;
    if (typexpr_actual_of(info->form, actual) && !actual->prefix) actual->prefix = prefix;
}

size_t type_print(struct heap *heap, const struct cell *cell, char *out, size_t capacity) {
    struct typexpr_actual actual;
    type_describe(heap, cell, &actual);
    if (cell_is_text(cell)) actual.dims[0] = AXIS_ANY;
    return typexpr_print_actual(&actual, out, capacity);
}

void type_shorten(char *text) {
    static const char prefix[] = "/lib/";
    char *to = text;
    for (const char *from = text; *from;) {
        if (strncmp(from, prefix, sizeof prefix - 1) == 0) from += sizeof prefix - 1;
        else *to++ = *from++;
    }
    *to = '\0';
}

void type_show(struct heap *heap, const struct cell *cell, char *out, size_t capacity) {
    type_print(heap, cell, out, capacity);
    type_shorten(out);
}

bool type_takes(struct heap *heap, const struct typexpr *type, const struct cell *cell) {
    if (cell_is_scalar(cell)) return typexpr_takes_scalar(type, cell_kind(cell));
    if (typexpr_is_any(type)) return true;
    struct typexpr_actual actual;
    type_describe(heap, cell, &actual);
    return typexpr_match_actual(type, &actual);
}

static int fit_mismatch(struct heap *heap, const struct typexpr *type, const struct cell *cell) {
    char expected[160], actual[160];
    typexpr_print(type, expected, sizeof expected);
    type_shorten(expected);
    type_show(heap, cell, actual, sizeof actual);
    return fault(heap, ERROR_TYPE, "expected %s, got %s", expected, actual);
}

/* A literal array whose elements all fit another kind. */
static bool fit_array(struct heap *heap, const struct cell *cell, unsigned kind, struct cell *out, int *rc) {
    const struct block *from = cell_block(heap, cell);
    unsigned old = cell_kind(cell);
    if (!kind_is_number(old) || !kind_is_number(kind)) return false;
    uint64_t count = from->body_bytes / kind_size(old);
    struct block *to;
    *rc = block_new(heap, from->ndim, count * kind_size(kind), 0, &to);
    if (*rc) return true;
    memcpy(to->dims, from->dims, 8u * from->ndim);
    const unsigned char *source = block_body(from);
    unsigned char *target = block_body(to);
    for (uint64_t i = 0; i < count; i++) {
        struct cell element = cell_scalar(old, scalar_load(old, source + i * kind_size(old))), fitted;
        if (!literal_fits(&element, kind, &fitted)) {
            struct cell half = cell_of_block(heap, TAG_ARRAY + kind, to);
            cell_drop(heap, half);
            char text[64];
            value_picture(heap, &element, text, sizeof text);
            *rc = fault(heap, ERROR_TYPE, "%s does not fit %s", text, kind_name(kind));
            return true;
        }
        scalar_store(kind, target + i * kind_size(kind), fitted.payload);
    }
    *out = cell_of_block(heap, TAG_ARRAY + kind, to);
    return true;
}

/* An empty array literal's kind is free: [] fits every one-axis type. An empty map without type takes any map type. */
static bool fit_atom(struct heap *heap, const struct typexpr_atom *atom, const struct cell *cell, bool literal,
                     struct cell *out, int *rc) {
    if (atom->prefix) return false;
    *rc = 0;
    if (atom->class == TYPE_MAP && cell_tag(cell) == TAG_MAP && !cell_block(heap, cell)->type && !map_length(heap, cell)) {
        char text[TYPEXPR_TEXT_MAX];
        struct typexpr_actual actual;
        typexpr_describe(atom, &actual);
        size_t bytes = typexpr_print_actual(&actual, text, sizeof text);
        const struct type_info *info;
        *rc = type_of_text(heap, text, bytes, &info);
        if (!*rc) *rc = map_new(heap, info, 0, out);
        return true;
    }
    if (atom->class != TYPE_KIND) return false;
    if (cell_is_text(cell) && kind_is_char(atom->kind)) {
        if (atom->axis_count > 1) return false;
        *rc = text_convert(heap, cell, atom->kind, out);
        return true;
    }
    if (!literal) return false;
    if (atom->axis_count == 0 && cell_is_scalar(cell) && kind_is_number(cell_kind(cell)) && kind_is_number(atom->kind)) {
        if (literal_fits(cell, atom->kind, out)) return true;
        char text[64];
        value_picture(heap, cell, text, sizeof text);
        *rc = fault(heap, ERROR_TYPE, "%s does not fit %s", text, kind_name(atom->kind));
        return true;
    }
    if (!cell_is_array(cell) || atom->axis_count == 0) return false;
    struct typexpr_actual actual;
    type_describe(heap, cell, &actual);
    actual.kind = atom->kind;
    return typexpr_atom_takes(atom, &actual) && fit_array(heap, cell, atom->kind, out, rc);
}

int type_fit(struct heap *heap, const struct typexpr *type, const struct cell *cell, bool literal, struct cell *out) {
    if (type_takes(heap, type, cell)) {
        *out = cell_copy(heap, cell);
        return 0;
    }
    int first = 0;
    for (const struct typexpr_atom *atom = typexpr_first(type); atom; atom = typexpr_next(type, atom)) {
        int rc;
        if (!fit_atom(heap, atom, cell, literal, out, &rc)) continue;
        if (!rc) return 0;
        first = rc;
    }
    return first ? first : fit_mismatch(heap, type, cell);
}
