/* Maps and structs: ordered dictionaries in one block (map.h tells the layout and the order of stores).
 * Relies on map.h, types.h, text.h, value.h. Promises: at most 2^31 entries; a text key is stored as utf32 with its hash, an
 * integer of the declared kind as it is, a tuple as an array of int64. */
#include "core/map.h"

#include <stdio.h>

#include "core/array.h"
#include "core/text.h"
#include "core/value.h"

enum { CAPACITY_LEAST = 2, LINEAR_MAX = 8, ENTRIES_MAX = 1 << 30 }; /* entries without an index; entries at all */

#define KEY_HASH_SHIFT 32

static inline uint64_t *dict_index(const struct dict *dict) {
    return (uint64_t *)(void *)(dict_entries(dict) + dict->capacity);
}

static inline uint32_t scalar_hash(uint64_t bits) {
    uint64_t hash = bits * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    return (uint32_t)(hash * UINT64_C(0xbf58476d1ce4e5b9) >> 32);
}

static inline uint32_t key_hash(const struct cell *key) { return (uint32_t)(key->head >> KEY_HASH_SHIFT); }

/* Index slots for a capacity: at most 2/3 full. 0 for a small one. */
static unsigned index_log2(uint32_t capacity) {
    if (capacity <= LINEAR_MAX) return 0;
    unsigned log2 = 4;
    while ((UINT64_C(1) << log2) * 2 < (uint64_t)capacity * 3) log2++;
    return log2;
}

static int dict_block(struct heap *heap, uint32_t capacity, struct block **out) {
    if (capacity > ENTRIES_MAX) return fault(heap, ERROR_OUT_OF_MEMORY, "a map has at most %d entries", ENTRIES_MAX);
    unsigned log2 = index_log2(capacity);
    uint64_t index = log2 ? UINT64_C(8) << log2 : 0;
    uint64_t bytes = sizeof(struct dict) + (uint64_t)capacity * sizeof(struct dict_entry) + index;
    int rc = block_new(heap, 0, bytes, bytes, out);
    if (rc) return rc;
    struct dict *dict = block_body(*out);
    memset(dict, 0, sizeof *dict);
    dict->capacity = capacity;
    dict->log2_index = (uint8_t)log2;
    if (index) memset(dict_index(dict), 0, index);
    (*out)->flags = BLOCK_DICT;
    return 0;
}

static void dict_take_type(struct block *block, const struct type_info *type) {
    struct dict *dict = block_body(block);
    block->type = type->id;
    dict->key_class = type->key_class;
    dict->key_kind = type->key_kind;
    dict->key_count = type->key_count;
}

int map_new(struct heap *heap, const struct type_info *type, uint32_t room, struct cell *out) {
    struct block *block;
    int rc = dict_block(heap, room < CAPACITY_LEAST ? CAPACITY_LEAST : room, &block);
    if (rc) return rc;
    if (type) dict_take_type(block, type);
    *out = cell_of_block(heap, TAG_MAP, block);
    return 0;
}

/* ---- keys ---- */

/* A key as it is stored: its value bits, the hash in the upper half of the head. `hold` keeps what was made for it. */
struct stored_key {
    struct cell cell;
    bool made; /* the cell has a reference of its own */
};

static int key_mismatch(struct heap *heap, const struct cell *map, const struct cell *key) {
    char type[96], own[160];
    type_show(heap, key, type, sizeof type);
    type_show(heap, map, own, sizeof own);
    return fault(heap, ERROR_TYPE, "%s is no key of %s", type, own);
}

static int tuple_key(struct heap *heap, const struct cell *map, const struct dict *dict, const struct cell *key, struct stored_key *out) {
    const struct block *block = cell_is_array(key) && !cell_is_text(key) ? cell_block(heap, key) : NULL;
    if (!block || block->ndim != 1 || (dict->key_count && block->dims[0] != dict->key_count) || block->dims[0] == 0 ||
        !(kind_is_integer(cell_kind(key)) || cell_kind(key) == KIND_BOOL))
        return key_mismatch(heap, map, key);
    out->cell = (struct cell){ key->head & CELL_VALUE_BITS, key->payload };
    out->made = false;
    if (cell_kind(key) != KIND_INT64) {
        int rc = array_new(heap, KIND_INT64, 1, block->dims, &out->cell);
        if (rc) return rc;
        out->made = true;
        uint64_t *to = block_body(cell_block(heap, &out->cell));
        const unsigned char *from = block_body(block);
        size_t size = kind_size(cell_kind(key));
        for (uint64_t i = 0; i < block->dims[0]; i++) to[i] = scalar_load(cell_kind(key), from + i * size);
    }
    const uint64_t *parts = block_body(cell_block(heap, &out->cell));
    uint64_t hash = block->dims[0];
    for (uint64_t i = 0; i < block->dims[0]; i++) hash = (hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 31);
    out->cell.head |= (uint64_t)scalar_hash(hash) << KEY_HASH_SHIFT;
    return 0;
}

static int stored_key_of(struct heap *heap, const struct cell *map, const struct cell *key, bool literal, struct stored_key *out) {
    const struct dict *dict = cell_dict(heap, map);
    unsigned class = dict->key_class;
    if (class == KEY_UNDECIDED)
        class = cell_is_text(key) ? KEY_TEXT : cell_is_scalar(key) ? KEY_SCALAR : KEY_TUPLE;
    if (class == KEY_TEXT) {
        if (!cell_is_text(key)) return key_mismatch(heap, map, key);
        out->made = cell_kind(key) != KIND_CHAR_UTF32;
        out->cell = (struct cell){ key->head & CELL_VALUE_BITS, key->payload };
        if (out->made) {
            int rc = text_convert(heap, key, KIND_CHAR_UTF32, &out->cell);
            if (rc) return rc;
        }
        out->cell.head |= (uint64_t)text_hash(heap, &out->cell) << KEY_HASH_SHIFT;
        return 0;
    }
    if (class == KEY_TUPLE) return tuple_key(heap, map, dict, key, out);
    struct cell scalar = { key->head & CELL_VALUE_BITS, key->payload };
    if (!cell_is_scalar(key)) return key_mismatch(heap, map, key);
    if (dict->key_kind && cell_kind(key) != dict->key_kind && !(literal && literal_fits(key, dict->key_kind, &scalar)))
        return key_mismatch(heap, map, key);
    out->made = false;
    out->cell = scalar;
    out->cell.head |= (uint64_t)scalar_hash(scalar.payload) << KEY_HASH_SHIFT;
    return 0;
}

/* The common cases of stored_key_of here: a text in its stored encoding, a scalar of the map's own kind. */
static inline int stored_key(struct heap *heap, const struct cell *map, const struct cell *key, bool literal, struct stored_key *out) {
    const struct dict *dict = cell_dict(heap, map);
    uint32_t hash;
    if (dict->key_class == KEY_TEXT && cell_tag(key) == TAG_TEXT) {
        hash = key->head & CELL_BLOCK ? block_extra(cell_block(heap, key))->hash : 0;
        if (!hash) hash = text_hash(heap, key);
    } else if (dict->key_class == KEY_SCALAR && cell_tag(key) == dict->key_kind) {
        hash = scalar_hash(key->payload);
    } else {
        return stored_key_of(heap, map, key, literal, out);
    }
    out->cell = (struct cell){ (key->head & CELL_VALUE_BITS) | (uint64_t)hash << KEY_HASH_SHIFT, key->payload };
    out->made = false;
    return 0;
}

static void key_done(struct heap *heap, const struct stored_key *key) {
    if (key->made) cell_drop(heap, key->cell);
}

/* Both are as stored, their hashes equal. */
static inline bool same_key(struct heap *heap, const struct cell *left, const struct cell *right) {
    if (left->head == right->head && left->payload == right->payload) return true;
    if (!(left->head & right->head & CELL_BLOCK) || (left->head & 0xff) != (right->head & 0xff)) return false;
    const struct block *a = cell_block(heap, left), *b = cell_block(heap, right);
    return a->body_bytes == b->body_bytes && memcmp(block_body(a), block_body(b), a->body_bytes) == 0;
}

/* ---- search and change ---- */

static inline struct dict_entry *dict_find(struct heap *heap, const struct dict *dict, const struct cell *key) {
    struct dict_entry *entries = dict_entries(dict);
    uint32_t hash = key_hash(key);
    if (!dict->log2_index) {
        for (uint32_t i = 0; i < dict->used; i++)
            if (key_hash(&entries[i].key) == hash && !cell_is_none(&entries[i].key) && same_key(heap, &entries[i].key, key))
                return &entries[i];
        return NULL;
    }
    const uint64_t *index = dict_index(dict);
    uint32_t mask = (UINT32_C(1) << dict->log2_index) - 1;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        uint64_t slot = index[at];
        if (!slot) return NULL;
        uint32_t position = (uint32_t)slot - 1;
        if ((uint32_t)(slot >> 32) != hash || position >= dict->used) continue;
        if (!cell_is_none(&entries[position].key) && same_key(heap, &entries[position].key, key)) return &entries[position];
    }
}

/* The entry whose key is the very block of `key`, where that is cheap to see: constants share their blocks. NULL: nothing is said. */
static inline struct dict_entry *dict_find_shared(const struct dict *dict, const struct cell *key) {
    if (dict->log2_index || dict->key_class != KEY_TEXT || !(key->head & CELL_BLOCK)) return NULL;
    struct dict_entry *entries = dict_entries(dict);
    for (uint32_t i = 0; i < dict->used; i++)
        if (entries[i].key.payload == key->payload && ((entries[i].key.head ^ key->head) & CELL_VALUE_BITS) == 0) return &entries[i];
    return NULL;
}

static void index_insert(struct dict *dict, uint32_t hash, uint32_t position) {
    uint64_t *index = dict_index(dict);
    uint32_t mask = (UINT32_C(1) << dict->log2_index) - 1, at = hash & mask;
    uint64_t slot = (uint64_t)hash << 32 | (position + 1);
    while (index[at] && index[at] != slot) at = (at + 1) & mask; /* a step that is repeated finds its own slot */
    index[at] = slot;
}

/* Appends to a dictionary with room. */
static void dict_append(struct dict *dict, struct cell key, struct cell value) {
    uint32_t position = dict->used;
    struct dict_entry *entry = &dict_entries(dict)[position];
    entry->key = key;
    entry->value = value;
    if (dict->log2_index) index_insert(dict, key_hash(&key), position);
    atomic_signal_fence(memory_order_seq_cst);
    MARK();
    dict->counts += (UINT64_C(1) << 32) + 1;
}

void map_repair(const struct heap *heap, struct cell *map) {
    struct dict *dict = cell_dict(heap, map);
    uint32_t live = 0;
    for (uint32_t i = 0; i < dict->used; i++) live += !cell_is_none(&dict_entries(dict)[i].key);
    dict->live = live;
}

int map_duplicate(struct heap *heap, const struct cell *map, uint32_t room, struct cell *out) {
    const struct block *old = cell_block(heap, map);
    const struct dict *from = block_body(old);
    uint32_t capacity = from->live > room ? from->live : room;
    struct block *block;
    int rc = dict_block(heap, capacity < CAPACITY_LEAST ? CAPACITY_LEAST : capacity, &block);
    if (rc) return rc;
    struct dict *to = block_body(block);
    block->type = old->type;
    to->key_class = from->key_class;
    to->key_kind = from->key_kind;
    to->key_count = from->key_count;
    const struct dict_entry *entries = dict_entries(from);
    for (uint32_t i = 0; i < from->used; i++) {
        if (cell_is_none(&entries[i].key)) continue;
        cell_hold(heap, &entries[i].key);
        cell_hold(heap, &entries[i].value);
        dict_append(to, entries[i].key, entries[i].value);
    }
    *out = cell_of_block(heap, cell_tag(map), block);
    return 0;
}

int map_find(struct heap *heap, const struct cell *map, const struct cell *key, const struct cell **out) {
    struct stored_key stored;
    const struct dict_entry *shared = dict_find_shared(cell_dict(heap, map), key);
    if (shared) {
        *out = &shared->value;
        return 0;
    }
    /* A key of another integer kind cannot be in the map, but asking for it with a literal is common: 0 in [uint8]·T. */
    int rc = stored_key(heap, map, key, true, &stored);
    if (rc) return rc;
    const struct dict_entry *entry = dict_find(heap, cell_dict(heap, map), &stored.cell);
    *out = entry ? &entry->value : NULL;
    key_done(heap, &stored);
    return 0;
}

struct cell *map_slot(struct heap *heap, const struct cell *map, const struct cell *key) {
    struct stored_key stored;
    if (stored_key(heap, map, key, true, &stored)) return NULL;
    struct dict_entry *entry = dict_find(heap, cell_dict(heap, map), &stored.cell);
    key_done(heap, &stored);
    return entry ? &entry->value : NULL;
}

/* The type that the first key gives an undecided map. */
static int decide_type(struct heap *heap, struct block *block, const struct cell *key) {
    const struct type_info *type;
    int rc;
    if (cell_is_text(key)) {
        rc = type_text_any(heap, &type);
    } else if (cell_is_scalar(key)) {
        rc = type_kind_any(heap, cell_kind(key), &type);
    } else {
        char text[8 * TYPEXPR_AXES_MAX + 16] = "[int64";
        size_t used = strlen(text);
        uint64_t count = cell_block(heap, key)->dims[0];
        if (count > TYPEXPR_AXES_MAX) return fault(heap, ERROR_TYPE, "a tuple key has at most %d parts", TYPEXPR_AXES_MAX);
        for (uint64_t i = 1; i < count; i++) used += (size_t)snprintf(text + used, sizeof text - used, ",int64");
        used += (size_t)snprintf(text + used, sizeof text - used, "]·any");
        rc = type_of_text(heap, text, used, &type);
    }
    if (!rc) dict_take_type(block, type);
    return rc;
}

static int value_mismatch(struct heap *heap, const struct cell *map, const struct cell *key, const char *expected, const struct cell *value) {
    char type[160], own[160], name[96];
    type_show(heap, value, type, sizeof type);
    if (cell_tag(map) == TAG_STRUCT) {
        type_show(heap, map, own, sizeof own);
        text_to_utf8(heap, key, name, sizeof name, NULL);
        return fault(heap, ERROR_TYPE, "field %s of %s is %s, not %s", name, own, expected, type);
    }
    type_show(heap, map, own, sizeof own);
    return fault(heap, ERROR_TYPE, "a value of %s is %s, not %s", own, expected, type);
}

/* The value as the map's type takes it, with a reference of its own. */
static int fitted_value(struct heap *heap, const struct cell *map, const struct cell *key, const struct cell *value,
                        bool literal, struct cell *out) {
    const struct typexpr *form;
    char expected[160];
    if (cell_tag(map) == TAG_STRUCT) {
        const struct struct_def *definition = heap->struct_find ? heap->struct_find(heap, cell_block(heap, map)->type) : NULL;
        const struct struct_field *field = NULL;
        for (uint32_t i = 0; definition && i < definition->count && !field; i++)
            if (text_equal(heap, &definition->fields[i].key, key)) field = &definition->fields[i];
        if (!field || cell_is_none(value)) {
            *out = cell_copy(heap, value);
            return 0;
        }
        form = field->type;
    } else {
        if (!cell_block(heap, map)->type) {
            *out = cell_copy(heap, value);
            return 0;
        }
        const struct type_info *info;
        int rc = type_of_id(heap, cell_block(heap, map)->type, &info);
        if (rc) return rc;
        if (info->value_any || (info->value_kind && info->value_kind == cell_tag(value))) {
            *out = cell_copy(heap, value);
            return 0;
        }
        form = info->value;
    }
    int rc = type_fit(heap, form, value, literal, out);
    if (rc != ERROR_TYPE || (literal && cell_is_scalar(value))) return rc;
    typexpr_print(form, expected, sizeof expected);
    type_shorten(expected);
    return value_mismatch(heap, map, key, expected, value);
}

static int unknown_field(struct heap *heap, const struct cell *map, const struct cell *key) {
    char own[160], name[96];
    type_show(heap, map, own, sizeof own);
    text_to_utf8(heap, key, name, sizeof name, NULL);
    return fault(heap, ERROR_TYPE, "%s has no field %s", own, name);
}

/* The same block when it has one holder and room for one more entry, else a copy that has both. */
static int writable(struct heap *heap, const struct cell *map, bool adds, struct cell *out) {
    const struct dict *dict = cell_dict(heap, map);
    bool full = adds && dict->used == dict->capacity;
    *out = (struct cell){ map->head & CELL_VALUE_BITS, map->payload };
    if (cell_is_sole(heap, map) && !full) return 0;
    /* Half of a full one may be deleted entries: then it need not grow. */
    uint32_t room = !full ? dict->live + 1 : dict->live * 2 > dict->capacity ? dict->capacity * 2 : dict->capacity;
    return map_duplicate(heap, map, room, out);
}

int map_set(struct heap *heap, const struct cell *map, const struct cell *key, const struct cell *value, unsigned literals,
            struct cell *out) {
    if (cell_is_none(value) && cell_tag(map) != TAG_STRUCT) return map_delete(heap, map, key, out);
    struct stored_key stored;
    int rc = stored_key(heap, map, key, literals >> 1 & 1, &stored);
    if (rc) return rc;
    struct dict_entry *entry = dict_find(heap, cell_dict(heap, map), &stored.cell);
    struct cell fitted = cell_none(), made;
    if (!entry && cell_tag(map) == TAG_STRUCT) rc = unknown_field(heap, map, key);
    if (!rc) rc = fitted_value(heap, map, key, value, literals & 1, &fitted);
    if (rc) {
        key_done(heap, &stored);
        return rc;
    }
    rc = writable(heap, map, !entry, &made);
    if (!rc && cell_dict(heap, &made)->key_class == KEY_UNDECIDED) {
        rc = decide_type(heap, cell_block(heap, &made), key);
        if (rc && made.payload != map->payload) cell_drop(heap, made);
    }
    if (rc) {
        cell_drop(heap, fitted);
        key_done(heap, &stored);
        return rc;
    }
    struct dict *dict = cell_dict(heap, &made);
    if (entry) {
        struct dict_entry *own = made.payload == map->payload ? entry : dict_find(heap, dict, &stored.cell);
        struct cell old = own->value;
        cell_store(&own->value, fitted);
        cell_drop(heap, old);
    } else {
        if (!stored.made) cell_hold(heap, &stored.cell);
        stored.made = false;
        dict_append(dict, stored.cell, fitted);
    }
    key_done(heap, &stored);
    *out = made;
    return 0;
}

int map_delete(struct heap *heap, const struct cell *map, const struct cell *key, struct cell *out) {
    struct stored_key stored;
    int rc = stored_key(heap, map, key, true, &stored);
    if (rc) return rc;
    struct cell made = { map->head & CELL_VALUE_BITS, map->payload };
    const struct dict_entry *found = dict_find(heap, cell_dict(heap, map), &stored.cell);
    if (found && !cell_is_sole(heap, map)) rc = map_duplicate(heap, map, 0, &made);
    if (!rc && found) {
        struct dict *dict = cell_dict(heap, &made);
        struct dict_entry *entry = dict_find(heap, dict, &stored.cell);
        struct dict_entry old = *entry;
        entry->key.head = 0; /* the commit */
        dict->live--;
        cell_drop(heap, old.key);
        cell_drop(heap, old.value);
    }
    key_done(heap, &stored);
    if (!rc) *out = made;
    return rc;
}

bool map_next(const struct heap *heap, const struct cell *map, uint64_t *position, const struct cell **key,
              const struct cell **value) {
    const struct dict *dict = cell_dict(heap, map);
    const struct dict_entry *entries = dict_entries(dict);
    for (uint64_t i = *position; i < dict->used; i++) {
        if (cell_is_none(&entries[i].key)) continue;
        *position = i + 1;
        *key = &entries[i].key;
        *value = &entries[i].value;
        return true;
    }
    return false;
}

/* A tuple whose parts are not all int64 keeps them as numbers: its kinds stand in the map's type. */
struct cell map_key_copy(struct heap *heap, const struct cell *key) { return cell_copy(heap, key); }

int map_missing(struct heap *heap, const struct cell *map, const struct cell *key) {
    if (cell_tag(map) == TAG_STRUCT && cell_is_text(key)) return unknown_field(heap, map, key);
    char text[200];
    value_picture(heap, key, text, sizeof text);
    return fault(heap, ERROR_KEY, "no key %s in a map of %u", text, map_length(heap, map));
}

int struct_new(struct heap *heap, const struct struct_def *definition, struct cell *out) {
    struct block *block;
    int rc = dict_block(heap, definition->count ? definition->count : 1, &block);
    if (rc) return rc;
    struct dict *dict = block_body(block);
    block->type = definition->type;
    dict->key_class = KEY_TEXT;
    dict->key_kind = KIND_CHAR_UTF32;
    for (uint32_t i = 0; i < definition->count; i++) {
        const struct struct_field *field = &definition->fields[i];
        struct cell key = cell_copy(heap, &field->key);
        key.head |= (uint64_t)text_hash(heap, &key) << KEY_HASH_SHIFT;
        dict_append(dict, key, cell_copy(heap, &field->initial));
    }
    *out = cell_of_block(heap, TAG_STRUCT, block);
    return 0;
}
