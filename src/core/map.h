/* Maps and structs: ordered dictionaries in one block. Entries {key, value} in order of insertion, then an open-
 * addressing index from eight entries on. Relies on block.h and types.h. Promises: O(1) get, set and delete; a text key
 * carries its hash in its cell. Setting and deleting in place are idempotent, so a step that was cut off may be repeated:
 * the entry is written, then its index slot, then `used` grows (that is the commit). */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include "core/block.h"
#include "core/types.h"

struct dict_entry {
    struct cell key; /* tag 0: deleted. The upper half of the head is the key's hash */
    struct cell value;
};

/* The body of a block with BLOCK_DICT; entries follow, then the index (uint64: hash << 32 | position + 1). */
struct dict {
    union {
        struct {
            uint32_t used; /* entries written, deleted ones included */
            uint32_t live;
        };
        uint64_t counts; /* both, for the one store that commits an insertion */
    };
    uint32_t capacity;  /* entries that there is room for */
    uint8_t log2_index; /* 0: no index, search the entries */
    uint8_t key_class, key_kind, key_count; /* as in struct type_info */
};

static inline struct dict *cell_dict(const struct heap *heap, const struct cell *map) {
    return (struct dict *)block_body(cell_block(heap, map));
}
static inline struct dict_entry *dict_entries(const struct dict *dict) {
    return (struct dict_entry *)(void *)((unsigned char *)(uintptr_t)dict + 16);
}

/* An empty map of a type; type may be NULL (`{}`: undecided). `room`: entries expected. */
int map_new(struct heap *heap, const struct type_info *type, uint32_t room, struct cell *out);

/* The value of a key; *out is NULL when it is missing. ERROR_TYPE when the key has not the map's key type.
 * The cell is borrowed from the map. Structs: the key is a text. */
int map_find(struct heap *heap, const struct cell *map, const struct cell *key, const struct cell **out);

/* m[k] = v, in place if the cell is the block's only holder and there is room, else in a copy (*out: see array_set). A None
 * value deletes (a struct's field becomes None). `literals`: bit 0 the value, bit 1 the key stand as literals and convert if
 * they fit. ERROR_TYPE names expected and actual types; a struct has no other fields than its own. */
int map_set(struct heap *heap, const struct cell *map, const struct cell *key, const struct cell *value, unsigned literals,
            struct cell *out);
int map_delete(struct heap *heap, const struct cell *map, const struct cell *key, struct cell *out);
/* A slot for a value that map_set is going to take, so that chained writes can change what it holds in place: the entry's
 * value cell, or NULL. Only for a map whose only holder the caller is. */
struct cell *map_slot(struct heap *heap, const struct cell *map, const struct cell *key);
/* Counts the entries anew: after a kill in the middle of a deletion the number may be one off. */
void map_repair(const struct heap *heap, struct cell *map);
/* Room for `room` entries: a copy with one holder. */
int map_duplicate(struct heap *heap, const struct cell *map, uint32_t room, struct cell *out);

/* Walking: *position starts at 0; false at the end. Keys and values are borrowed. */
bool map_next(const struct heap *heap, const struct cell *map, uint64_t *position, const struct cell **key,
              const struct cell **value);
static inline uint32_t map_length(const struct heap *heap, const struct cell *map) { return cell_dict(heap, map)->live; }

/* A key as it comes out of a walk (without the hash in its head), with a reference of its own. */
struct cell map_key_copy(struct heap *heap, const struct cell *key);

/* The KeyError of a missing key, or for a struct the TypeError of an unknown field. */
int map_missing(struct heap *heap, const struct cell *map, const struct cell *key);

/* ---- structs ---- */

struct struct_field {
    const char *name;
    uint32_t name_bytes;
    const struct typexpr *type;
    uint32_t type_id;
    struct cell key;     /* the name as a string; held by the definition */
    struct cell initial; /* the default; held by the definition; None if there is none */
};
struct struct_def {
    uint32_t type; /* id of `/lib/pkg·P` */
    uint32_t count;
    const char *name; /* /lib/pkg·P */
    struct struct_field *fields;
};
/* A new struct with its defaults. */
int struct_new(struct heap *heap, const struct struct_def *definition, struct cell *out);

#endif
