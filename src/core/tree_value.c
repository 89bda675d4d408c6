/* Values on their way between cells and the tree (tree_value.h). Members of containers are keys below their container.
 * Relies on kvspace.h for the tree, on map.h and types.h for containers. Promises: depth of containers is bounded on both ways; a
 * member that cannot be a key of the tree (empty, with `/` or `·`) is a ValueError before anything is written below it. */
#include "core/tree_value.h"

#include <kvspace/kvspace.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/map.h"
#include "core/text.h"
#include "core/types.h"
#include "core/value.h"
#include "kvspace/numtext.h"

int tree_fault(struct heap *heap, struct kvspace *space, int code, const char *what, const char *path) {
    int kind = ERROR_RUNTIME;
    switch (code) {
    case KVSPACE_EREADONLY: kind = ERROR_READ_ONLY; break;
    case KVSPACE_EFULL:
    case KVSPACE_ENOSPC:
    case KVSPACE_ENOMEM: kind = ERROR_OUT_OF_MEMORY; break;
    case KVSPACE_ETYPE: kind = ERROR_TYPE; break;
    case KVSPACE_EKEY:
    case KVSPACE_EVALUE:
    case KVSPACE_EUSAGE:
    case KVSPACE_ELIMIT: kind = ERROR_VALUE; break;
    case KVSPACE_EGONE: kind = ERROR_REFERENCE; break;
    case KVSPACE_ENOENT: kind = ERROR_KEY; break;
    default: break;
    }
    const char *message = space ? kvspace_message(space) : "";
    return fault(heap, kind, "%s %s: %s", what, path, message && *message ? message : kvspace_strerror(code));
}

/* ---- one value ---- */

int tree_borrow(struct heap *heap, const struct cell *cell, struct kvspace_value *value) {
    memset(value, 0, sizeof *value);
    if (cell_is_scalar(cell)) {
        value->kind = (uint8_t)cell_kind(cell);
        value->store = KVSPACE_ATOM;
        value->scalar.u64 = cell->payload;
        value->body = &cell->payload; /* little-endian: its first bytes are the element */
        value->body_bytes = kind_size(cell_kind(cell));
        return 0;
    }
    if (cell_is_text(cell)) {
        uint64_t count;
        value->kind = (uint8_t)cell_kind(cell);
        value->store = KVSPACE_NDARRAY;
        value->ndim = 1;
        value->body = text_units(heap, cell, &count);
        value->body_bytes = count * kind_size(cell_kind(cell));
        return 0;
    }
    if (cell_is_array(cell)) {
        const struct block *block = cell_block(heap, cell);
        value->kind = (uint8_t)cell_kind(cell);
        value->store = KVSPACE_NDARRAY;
        value->ndim = block->ndim;
        value->dims = block->dims;
        value->body = block_body(block);
        value->body_bytes = block->body_bytes;
        return 0;
    }
    char type[160];
    type_show(heap, cell, type, sizeof type);
    return fault(heap, ERROR_TYPE, "%s is no single value of the tree", type);
}

/* A pointer to a path: see place.c for the form. */
static int pointer_cell(struct heap *heap, const char *path, size_t bytes, struct cell *out) {
    struct cell map, key = cell_int64(0), text;
    int rc = text_from_utf8(heap, path, bytes, &text);
    if (rc) return rc;
    struct cell next;
    rc = map_new(heap, NULL, 1, &map);
    if (!rc) {
        rc = map_set(heap, &map, &key, &text, 0, &next);
        if (rc || next.payload != map.payload) cell_drop(heap, map);
    }
    cell_drop(heap, text);
    if (!rc) *out = (struct cell){ TAG_POINTER | CELL_BLOCK, next.payload };
    return rc;
}

static int other_cell(struct heap *heap, const struct kvspace_value *value, struct cell *out) {
    const struct type_info *info;
    struct block *block;
    int rc = type_of_text(heap, value->type, value->type_bytes, &info);
    if (!rc) rc = block_new(heap, 0, value->body_bytes, 0, &block);
    if (rc) return rc;
    block->type = info->id;
    if (value->body_bytes) memcpy(block_body(block), value->body, value->body_bytes);
    *out = cell_of_block(heap, value->ref == KVSPACE_EXTERNAL ? TAG_EXTERNAL : TAG_OTHER, block);
    return 0;
}

int tree_cell(struct heap *heap, const struct kvspace_value *value, struct cell *out) {
    if (value->store == KVSPACE_NONE && value->ref == KVSPACE_INLINE) {
        *out = cell_none();
        return 0;
    }
    if (value->ref == KVSPACE_POINTER) return pointer_cell(heap, value->body, value->body_bytes, out);
    if (value->ref == KVSPACE_INLINE && value->kind && value->kind < KIND_COUNT) {
        if (value->ndim == 0) {
            uint64_t bits = 0;
            memcpy(&bits, value->body, value->body_bytes < 8 ? value->body_bytes : 8);
            *out = cell_scalar(value->kind, scalar_load(value->kind, &bits));
            return 0;
        }
        if (kind_is_char(value->kind) && value->ndim == 1) return text_new(heap, value->kind, value->body, value->body_bytes / kind_size(value->kind), out);
        return array_from(heap, value->kind, value->ndim, value->dims, value->body, out);
    }
    return other_cell(heap, value, out);
}

/* ---- keys of members ---- */

/* A member's step from its key: text as it is, scalars and tuples as they print. */
static int member_name(struct heap *heap, const struct cell *map, const struct cell *key, char *out, size_t capacity) {
    size_t bytes;
    if (cell_is_text(key)) {
        if (text_to_utf8(heap, key, out, capacity, &bytes)) return 0;
        return fault(heap, ERROR_VALUE, "a key of more than %zu bytes cannot stand in the tree", capacity - 1);
    }
    if (cell_is_scalar(key)) {
        value_picture(heap, key, out, capacity);
        return 0;
    }
    const struct type_info *info = NULL;
    if (cell_block(heap, map)->type) (void)type_of_id(heap, cell_block(heap, map)->type, &info);
    const struct block *block = cell_block(heap, key);
    const uint64_t *parts = block_body(block);
    size_t at = 0;
    for (uint64_t i = 0; i < block->dims[0]; i++) {
        char part[64];
        struct cell one = cell_scalar(info && info->key_count > i ? info->key_kinds[i] : KIND_INT64, parts[i]);
        value_picture(heap, &one, part, sizeof part);
        at += (size_t)snprintf(out + at, capacity - at, "%c%s", i ? ',' : '[', part);
        if (at + 2 >= capacity) return fault(heap, ERROR_VALUE, "a key is too long for the tree");
    }
    out[at++] = ']';
    out[at] = 0;
    return 0;
}

static bool parse_scalar(unsigned kind, const char *text, size_t bytes, uint64_t *bits) {
    int64_t number;
    if (kind == KIND_BOOL) {
        *bits = bytes == 4 && memcmp(text, "true", 4) == 0;
        return *bits || (bytes == 5 && memcmp(text, "false", 5) == 0);
    }
    if (kind == KIND_UINT64) return numtext_parse_uint64(text, bytes, bits) == NUMTEXT_OK;
    if (kind_is_float(kind)) {
        unsigned char element[8] = { 0 };
        if (numtext_parse_float((enum kv_kind)kind, text, bytes, element)) return false;
        *bits = scalar_load(kind, element);
        return true;
    }
    if (numtext_parse_int64(text, bytes, &number)) return false;
    *bits = (uint64_t)number;
    return true;
}

/* The key of a member's step, by the type of the map. */
static int member_key(struct heap *heap, const struct type_info *info, const char *name, size_t bytes, struct cell *out) {
    uint64_t bits, parts[TYPEXPR_AXES_MAX], count = 0;
    if (!info || info->key_class == KEY_TEXT || !info->is_map) return text_from_utf8(heap, name, bytes, out);
    if (info->key_class == KEY_SCALAR) {
        if (!parse_scalar(info->key_kind, name, bytes, &bits)) return fault(heap, ERROR_RUNTIME, "%s is no key of %s", name, info->text);
        *out = cell_scalar(info->key_kind, bits);
        return 0;
    }
    const char *at = name + 1, *end = name + bytes;
    while (count < info->key_count && at < end) {
        const char *stop = at;
        while (stop < end && *stop != ',' && *stop != ']') stop++;
        if (!parse_scalar(info->key_kinds[count], at, (size_t)(stop - at), &parts[count])) break;
        count++;
        at = stop + 1;
    }
    if (count != info->key_count) return fault(heap, ERROR_RUNTIME, "%s is no key of %s", name, info->text);
    return array_from(heap, KIND_INT64, 1, &count, parts, out);
}

/* ---- reading ---- */

static int get_at(struct heap *heap, struct kvspace *space, char *path, size_t length, unsigned depth, struct cell *out);

static int container_empty(struct heap *heap, const struct type_info *info, struct cell *out) {
    if (!info->is_struct) return map_new(heap, info, 0, out);
    const struct struct_def *definition = heap->struct_find ? heap->struct_find(heap, info->id) : NULL;
    if (definition) {
        int rc = struct_new(heap, definition, out);
        if (rc) return rc;
        struct dict *dict = cell_dict(heap, out); /* what is not in the tree is None, not the default */
        struct dict_entry *entries = dict_entries(dict);
        for (uint32_t i = 0; i < dict->used; i++) {
            struct cell old = entries[i].value;
            entries[i].value = cell_none();
            cell_drop(heap, old);
        }
        return 0;
    }
    return fault(heap, ERROR_RUNTIME, "there is no struct %s (any more)", info->text);
}

static int container_add(struct heap *heap, struct cell *container, const struct cell *key, const struct cell *value) {
    struct cell next;
    int rc = map_set(heap, container, key, value, 0, &next);
    if (rc) return rc;
    if (next.payload != container->payload) cell_drop(heap, *container);
    *container = next;
    return 0;
}

static int read_members(struct heap *heap, struct kvspace *space, char *path, size_t length, unsigned depth, const struct type_info *info,
                        struct cell *container) {
    struct kvspace_list_options options = { .what = KVSPACE_LIST_MEMBERS };
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    int rc = kvspace_list_open(space, path, &options, &cursor);
    if (rc == KVSPACE_ENOENT) return 0;
    if (rc) return tree_fault(heap, space, rc, "reading", path);
    int error = 0;
    while (!error && (rc = kvspace_list_next(cursor, &entry)) == 0) {
        struct cell key = cell_none(), value = cell_none();
        if (length + entry.text_bytes > KVSPACE_KEY_MAX) continue;
        error = member_key(heap, info, entry.name, entry.name_bytes, &key);
        if (error) break;
        memcpy(path + length, entry.text, (size_t)entry.text_bytes + 1);
        error = get_at(heap, space, path, length + entry.text_bytes, depth + 1, &value);
        path[length] = 0;
        if (!error) {
            if (!cell_is_none(&value)) error = container_add(heap, container, &key, &value);
            cell_drop(heap, value);
        }
        cell_drop(heap, key);
    }
    if (!error && rc != KVSPACE_EEND) error = tree_fault(heap, space, rc, "reading", path);
    kvspace_list_close(cursor);
    return error;
}

/* A value that is no container; for a container *info is its type and *out is not set. Inside a section: what the space lends must
 * outlive the allocation of the cell's block, which may call the space itself. */
static int get_plain(struct heap *heap, struct kvspace *space, const char *path, const struct type_info **info, struct cell *out) {
    struct kvspace_value value;
    *info = NULL;
    int rc = kvspace_read_begin(space);
    if (rc) return tree_fault(heap, space, rc, "reading", path);
    rc = kvspace_get(space, path, &value);
    if (rc == KVSPACE_ENOENT) {
        *out = cell_none();
        rc = 0;
    } else if (rc) {
        rc = tree_fault(heap, space, rc, "reading", path);
    } else if (value.ref != KVSPACE_INLINE || (value.store != KVSPACE_INDEX && value.store != KVSPACE_EXTINDEX)) {
        rc = tree_cell(heap, &value, out);
    } else {
        rc = type_of_text(heap, value.type, value.type_bytes, info);
    }
    kvspace_read_end(space);
    return rc;
}

/* `path` has room for a whole key; what is behind `length` is scratch. */
static int get_at(struct heap *heap, struct kvspace *space, char *path, size_t length, unsigned depth, struct cell *out) {
    const struct type_info *info;
    if (depth > VALUE_DEPTH_MAX) return fault(heap, ERROR_RECURSION, "containers nest deeper than %d at %s", VALUE_DEPTH_MAX, path);
    int rc = get_plain(heap, space, path, &info, out);
    if (rc || !info) return rc;
    rc = container_empty(heap, info, out);
    if (rc) return rc;
    rc = read_members(heap, space, path, length, depth, info, out);
    if (rc) cell_drop(heap, *out);
    return rc;
}

int value_from_tree(struct heap *heap, struct kvspace *space, const char *path, struct cell *out) {
    char buffer[KVSPACE_KEY_MAX + 1];
    const struct type_info *info;
    int rc = get_plain(heap, space, path, &info, out); /* most values are no containers */
    if (rc || !info) return rc;
    size_t length = strlen(path);
    if (length > KVSPACE_KEY_MAX) return fault(heap, ERROR_VALUE, "a path of %zu bytes", length);
    memcpy(buffer, path, length + 1);
    return get_at(heap, space, buffer, length, 0, out);
}

/* ---- writing ---- */

static int set_at(struct heap *heap, struct kvspace *space, char *path, size_t length, const struct cell *cell, unsigned depth);

static int write_members(struct heap *heap, struct kvspace *space, char *path, size_t length, const struct cell *map, unsigned depth) {
    static const char separator[] = "·";
    const size_t step = sizeof separator - 1;
    uint64_t position = 0;
    const struct cell *key, *value;
    while (map_next(heap, map, &position, &key, &value)) {
        char name[KVSPACE_STEP_MAX + 2];
        if (cell_is_none(value)) continue;
        int rc = member_name(heap, map, key, name, sizeof name);
        if (rc) return rc;
        size_t bytes = strlen(name);
        if (length + step + bytes > KVSPACE_KEY_MAX) return fault(heap, ERROR_VALUE, "a key of the tree is longer than %d bytes", KVSPACE_KEY_MAX);
        memcpy(path + length, separator, step);
        memcpy(path + length + step, name, bytes + 1);
        rc = set_at(heap, space, path, length + step + bytes, value, depth + 1);
        path[length] = 0;
        if (rc) return rc;
    }
    return 0;
}

static int set_container(struct heap *heap, struct kvspace *space, char *path, size_t length, const struct cell *cell, unsigned depth) {
    const struct type_info *info = NULL;
    uint32_t id = cell_block(heap, cell)->type;
    int rc = id ? type_of_id(heap, id, &info) : type_text_any(heap, &info);
    if (rc) return rc;
    rc = kvspace_mkindex(space, path, info->text);
    if (rc) return tree_fault(heap, space, rc, "writing", path);
    return write_members(heap, space, path, length, cell, depth);
}

static int set_pointer(struct heap *heap, struct kvspace *space, const char *path, const struct cell *cell) {
    char target[KVSPACE_KEY_MAX + 1];
    int rc = heap->pointer_text ? heap->pointer_text(heap, cell, target, sizeof target) : ERROR_RUNTIME;
    if (rc) return rc == ERROR_RUNTIME ? fault(heap, rc, "a pointer cannot be written here") : rc;
    rc = kvspace_set_pointer(space, path, target);
    return rc ? tree_fault(heap, space, rc, "writing", path) : 0;
}

static int set_other(struct heap *heap, struct kvspace *space, const char *path, const struct cell *cell) {
    const struct type_info *info;
    const struct block *block = cell_block(heap, cell);
    int rc = type_of_id(heap, block->type, &info);
    if (rc) return rc;
    struct kvspace_value value = { .ref = cell_tag(cell) == TAG_EXTERNAL ? KVSPACE_EXTERNAL : KVSPACE_INLINE, .store = KVSPACE_ATOM,
                                   .type = info->text, .type_bytes = info->bytes, .body = block_body(block), .body_bytes = block->body_bytes };
    rc = kvspace_set(space, path, &value);
    return rc ? tree_fault(heap, space, rc, "writing", path) : 0;
}

static int set_at(struct heap *heap, struct kvspace *space, char *path, size_t length, const struct cell *cell, unsigned depth) {
    if (depth > VALUE_DEPTH_MAX) return fault(heap, ERROR_RECURSION, "containers nest deeper than %d at %s", VALUE_DEPTH_MAX, path);
    switch (cell_tag(cell)) {
    case TAG_NONE: {
        int rc = kvspace_set(space, path, NULL);
        return rc && rc != KVSPACE_ENOENT ? tree_fault(heap, space, rc, "writing", path) : 0;
    }
    case TAG_MAP:
    case TAG_STRUCT: return set_container(heap, space, path, length, cell, depth);
    case TAG_POINTER: return set_pointer(heap, space, path, cell);
    case TAG_RANGE: {
        struct cell spelt;
        int rc = range_expand(heap, cell, &spelt);
        if (!rc) {
            rc = set_at(heap, space, path, length, &spelt, depth);
            cell_drop(heap, spelt);
        }
        return rc;
    }
    case TAG_EXTERNAL:
    case TAG_OTHER: return set_other(heap, space, path, cell);
    default: break;
    }
    struct kvspace_value value;
    int rc = tree_borrow(heap, cell, &value);
    if (rc) return rc;
    rc = kvspace_set(space, path, &value);
    return rc ? tree_fault(heap, space, rc, "writing", path) : 0;
}

int value_to_tree(struct heap *heap, struct kvspace *space, const char *path, const struct cell *value) {
    char buffer[KVSPACE_KEY_MAX + 1];
    size_t length = strlen(path);
    if (length > KVSPACE_KEY_MAX) return fault(heap, ERROR_VALUE, "a path of %zu bytes", length);
    memcpy(buffer, path, length + 1);
    return set_at(heap, space, buffer, length, value, 0);
}
