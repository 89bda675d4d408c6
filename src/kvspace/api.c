/* The public functions that read and write values by key. Each is: check, walk, one operation of the tree, message.
 * Relies on tree.h, cell.h, provider.h. Promises: as kvspace.h says; a call enters the epoch once and leaves it on every way out. */
#include "kvspace/api.h"

#include "kvspace/cell.h"
#include "kvspace/kinds.h"
#include "kvspace/path.h"
#include "kvspace/provider.h"
#include "kvspace/utf8.h"

#include <stdlib.h>
#include <string.h>

/* A call that gives `rc`, its message set unless it was set further down. */
static int ends(kvspace *space, int rc, const char *key) {
    space_end(space);
    int usable = arena_usable(&space->arena); /* it may have turned out while the call was at work */
    if (usable) rc = usable;
    if (rc == 0) return 0;
    if (rc == KVSPACE_EKEY || rc == KVSPACE_EPROVIDER) return rc;
    return space_error(space, rc, key, NULL);
}

static int begin_write(kvspace *space, const char *key) {
    if (space->is_read_only) return space_error(space, KVSPACE_EREADONLY, key, "this handle is read-only");
    int rc = space_begin(space);
    return rc ? space_error(space, rc, key, NULL) : 0;
}

/* ---- reading ---- */

static int get_at(kvspace *space, const char *key, struct kvspace_value *out, unsigned overlays);

/* The value is not stored: perhaps a provider or a base has it. */
static int get_special(kvspace *space, const char *key, const struct tree_walk *walk, struct kvspace_value *out, unsigned overlays) {
    char base[KVSPACE_KEY_MAX + 1];
    if (walk->special_tag == NODE_TAG_PROVIDER) return provider_get(space, key, walk, out);
    if (!*walk->special_at) return KVSPACE_ENOENT;
    int rc = overlays < OVERLAY_DEPTH_MAX ? overlay_base_key(space, walk, base) : KVSPACE_ELIMIT;
    return rc ? rc : get_at(space, base, out, overlays + 1);
}

static int get_at(kvspace *space, const char *key, struct kvspace_value *out, unsigned overlays) {
    struct tree_walk walk;
    uint64_t ver;
    int rc = tree_walk(space, key, &walk);
    if (rc) return rc;
    if (!*walk.at) {
        struct node *node = tree_node(space, walk.node);
        if (!node) return KVSPACE_EDAMAGED;
        bool provided = walk.special == walk.node && walk.special_tag == NODE_TAG_PROVIDER;
        rc = cell_lend_node(space, node, out, &ver);
        out->version = tree_version(walk.node, ver);
        if (!rc && provided) {
            struct kvspace_value computed;
            int computed_rc = provider_get(space, key, &walk, &computed);
            if (computed_rc == 0) *out = computed;
            if (computed_rc == 0 && computed.body == computed.scalar.bytes) out->body = out->scalar.bytes;
        }
        if (rc != KVSPACE_ENOENT || !walk.special) return rc;
        uint64_t version = out->version;
        rc = get_special(space, key, &walk, out, overlays);
        if (rc) out->version = version;
        return rc;
    }
    if (walk.special) return get_special(space, key, &walk, out, overlays);
    return KVSPACE_ENOENT;
}

int api_get(kvspace *space, const char *key, struct kvspace_value *out) {
    int rc = get_at(space, key, out, 0);
    if (rc && rc != KVSPACE_ENOENT) *out = (struct kvspace_value){0};
    return rc;
}

int kvspace_get(kvspace *space, const char *key, struct kvspace_value *out) {
    *out = (struct kvspace_value){0};
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, key, NULL);
    rc = api_get(space, key, out);
    return ends(space, rc, key);
}

int kvspace_get_copy(kvspace *space, const char *key, struct kvspace_value **copy) {
    struct kvspace_value value;
    int rc = kvspace_get(space, key, &value);
    if (!rc && (rc = kvspace_value_clone(&value, copy))) space_error(space, rc, key, NULL);
    return rc;
}

int kvspace_get_followed(kvspace *space, const char *key, struct kvspace_value *out, char *key_out) {
    enum { HOPS_MAX = 32 };
    char here[KVSPACE_KEY_MAX + 1];
    *out = (struct kvspace_value){0};
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, key, NULL);
    if (key && strlen(key) <= KVSPACE_KEY_MAX) memcpy(here, key, strlen(key) + 1);
    else rc = space_error(space, KVSPACE_EKEY, key, "a key is longer than 4096 bytes");
    for (unsigned hop = 0; !rc; hop++) {
        rc = api_get(space, here, out);
        if (rc || out->ref != KVSPACE_POINTER) break;
        if (hop == HOPS_MAX || out->body_bytes > KVSPACE_KEY_MAX) rc = KVSPACE_ELIMIT;
        else {
            memcpy(here, out->body, (size_t)out->body_bytes);
            here[out->body_bytes] = 0;
        }
    }
    if (!rc && key_out) memcpy(key_out, here, strlen(here) + 1);
    return ends(space, rc, key);
}

static bool visible(const kvspace *space, const struct node *node) {
    struct cell_value cell;
    node_get(node, &cell);
    unsigned tag = cell_value_tag(cell);
    if (tag != NODE_TAG_NONE && tag != NODE_TAG_HIDDEN) return true;
    return table_live(space, atomic_load_explicit(&node->kids, memory_order_acquire)) ||
           table_live(space, atomic_load_explicit(&node->members, memory_order_acquire));
}

int api_exists(kvspace *space, const char *key, unsigned overlays) {
    struct kvspace_value value;
    struct tree_walk walk;
    char base[KVSPACE_KEY_MAX + 1];
    int rc = tree_walk(space, key, &walk);
    if (rc) return rc;
    struct node *node = tree_node(space, walk.node);
    if (!*walk.at && node && visible(space, node)) return 0;
    if (!walk.special) return KVSPACE_ENOENT;
    if (walk.special_tag == NODE_TAG_PROVIDER) {
        struct kvspace_provider_listing listing = {0};
        rc = provider_get(space, key, &walk, &value);
        if (rc != KVSPACE_ENOENT) return rc;
        rc = provider_list(space, key, &walk, &listing);
        if (!rc && !listing.used) rc = KVSPACE_ENOENT;
        free(listing.bytes);
        return rc;
    }
    if (!*walk.special_at || overlays >= OVERLAY_DEPTH_MAX) return KVSPACE_ENOENT;
    rc = overlay_base_key(space, &walk, base);
    return rc ? rc : api_exists(space, base, overlays + 1);
}

int kvspace_exists(kvspace *space, const char *key) {
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, key, NULL);
    rc = path_begin(key ? key : "") && !strcmp(key, "/") ? 0 : api_exists(space, key, 0);
    return ends(space, rc, key);
}

/* ---- scalars by value ---- */

static int scalar_at(kvspace *space, const char *key, struct kvspace_value *value) {
    int rc = kvspace_get(space, key, value);
    if (rc) return rc;
    bool scalar = value->kind && !value->ndim && !value->ref;
    return scalar ? 0 : space_error(space, KVSPACE_ETYPE, key, "not a scalar");
}

/* Any integer as int64 or uint64; which of both it fits. */
static void load_integer(const struct kvspace_value *value, int64_t *number, bool *fits_i64, bool *fits_u64) {
    uint64_t bits = value->scalar.u64;
    unsigned shift = 64 - 8 * (unsigned)kind_size(value->kind);
    if (kind_row(value->kind)->is_signed) *number = (int64_t)(bits << shift) >> shift;
    else *number = (int64_t)(bits << shift >> shift);
    *fits_i64 = kind_row(value->kind)->is_signed || *number >= 0;
    *fits_u64 = !kind_row(value->kind)->is_signed || *number >= 0;
}

/* The integer at a key; `times`: nanoseconds of a time or a duration too. */
static int integer_at(kvspace *space, const char *key, bool times, int64_t *number, bool *fits_i64, bool *fits_u64) {
    struct kvspace_value value;
    int rc = scalar_at(space, key, &value);
    if (rc) return rc;
    if (!kind_is_integer(value.kind) && !(times && (value.kind == KIND_TIME || value.kind == KIND_DURATION)))
        return space_error(space, KVSPACE_ETYPE, key, "a %s, not an integer", kind_name(value.kind));
    load_integer(&value, number, fits_i64, fits_u64);
    return 0;
}

int kvspace_get_i64(kvspace *space, const char *key, int64_t *number) {
    bool fits = false, unused = false;
    int64_t loaded = 0;
    int rc = integer_at(space, key, true, &loaded, &fits, &unused);
    if (rc) return rc;
    if (!fits) return space_error(space, KVSPACE_ETYPE, key, "the number does not fit int64");
    *number = loaded;
    return 0;
}

int kvspace_get_u64(kvspace *space, const char *key, uint64_t *number) {
    bool unused = false, fits = false;
    int64_t loaded = 0;
    int rc = integer_at(space, key, false, &loaded, &unused, &fits);
    if (rc) return rc;
    if (!fits) return space_error(space, KVSPACE_ETYPE, key, "the number is negative");
    *number = (uint64_t)loaded;
    return 0;
}

int kvspace_get_f64(kvspace *space, const char *key, double *number) {
    struct kvspace_value value;
    bool fits_i64, fits_u64;
    int64_t loaded;
    int rc = scalar_at(space, key, &value);
    if (rc) return rc;
    if (value.kind == KIND_FLOAT64) *number = value.scalar.f64;
    else if (value.kind == KIND_FLOAT32) *number = (double)value.scalar.f32;
    else if (kind_is_integer(value.kind)) {
        load_integer(&value, &loaded, &fits_i64, &fits_u64);
        *number = fits_i64 ? (double)loaded : (double)(uint64_t)loaded;
    } else return space_error(space, KVSPACE_ETYPE, key, "a %s, not a number", kind_name(value.kind));
    return 0;
}

int kvspace_get_bool(kvspace *space, const char *key, int *truth) {
    struct kvspace_value value;
    int rc = scalar_at(space, key, &value);
    if (rc) return rc;
    if (value.kind != KIND_BOOL) return space_error(space, KVSPACE_ETYPE, key, "a %s, not a bool", kind_name(value.kind));
    *truth = value.scalar.bytes[0] != 0;
    return 0;
}

int kvspace_get_text(kvspace *space, const char *key, char *out, size_t capacity, size_t *bytes) {
    struct kvspace_value value;
    size_t length, written = 0;
    int rc = kvspace_get(space, key, &value);
    if (rc) return rc;
    bool text = value.kind && value.ndim == 1 && kind_is_char(value.kind);
    if (value.kind && !value.ref && !text) return space_error(space, KVSPACE_ETYPE, key, "not a text");
    if (value.store == KVSPACE_INDEX || value.store == KVSPACE_EXTINDEX) return space_error(space, KVSPACE_ETYPE, key, "a container, not a text");
    bool wide = text && value.kind == KIND_CHAR_UTF32;
    length = wide ? utf32_utf8_bytes(value.body, (size_t)value.body_bytes / 4) : (size_t)value.body_bytes;
    if (length == SIZE_MAX) return space_error(space, KVSPACE_EVALUE, key, "the string holds what is no character");
    if (bytes) *bytes = length;
    if (length + 1 > capacity) return space_error(space, KVSPACE_ELIMIT, key, "the text has %zu bytes, room is for %zu", length, capacity);
    if (wide) utf32_to_utf8(value.body, (size_t)value.body_bytes / 4, out, capacity, &written);
    else if (length && value.body) memcpy(out, value.body, length);
    out[length] = 0;
    return 0;
}

/* ---- writing ---- */

/* Whether the key is a provider's affair: a provider on the way, and nothing stored at the key. */
static bool is_provided(const struct tree_walk *walk) { return walk->special_tag == NODE_TAG_PROVIDER && *walk->at; }

/* In an overlay, what the base has at the key must be hidden. */
int api_hide_base(kvspace *space, const char *key) {
    static const struct tree_value hidden = {.cell = {NODE_TAG_HIDDEN, 0}};
    struct tree_walk walk;
    char base[KVSPACE_KEY_MAX + 1];
    int rc = tree_walk(space, key, &walk);
    if (rc) return rc;
    if (walk.special_tag != NODE_TAG_OVERLAY || !*walk.special_at) return KVSPACE_ENOENT;
    rc = overlay_base_key(space, &walk, base);
    if (!rc) rc = api_exists(space, base, 1);
    return rc ? rc : tree_set(space, key, &hidden);
}

static int remove_value(kvspace *space, const char *key) {
    static const struct tree_value none = {.block = 0};
    uint32_t node;
    int rc = tree_lock_key(space, key, false, &node);
    if (!rc) {
        rc = tree_may_write(space, tree_node(space, node));
        if (rc) mem_unlock(space, &tree_node(space, node)->lock);
        else rc = tree_put(space, node, &none);
        if (!rc) tree_prune(space, node);
    }
    if (!rc || rc == KVSPACE_ENOENT) rc = api_hide_base(space, key);
    return rc == KVSPACE_ENOENT ? 0 : rc;
}

/* Members of the base go when what is set over their container is none. */
static int hide_members(kvspace *space, const struct tree_walk *walk, struct tree_value *value) {
    struct kvspace_value below;
    char base[KVSPACE_KEY_MAX + 1];
    if (walk->special_tag != NODE_TAG_OVERLAY || !*walk->special_at || value->is_container) return 0;
    int rc = overlay_base_key(space, walk, base);
    space->read_depth++;
    if (!rc) rc = get_at(space, base, &below, 1);
    space->read_depth--;
    if (!rc && !below.ref && (below.store == KVSPACE_INDEX || below.store == KVSPACE_EXTINDEX)) value->cell.head |= NODE_FLAG_OPAQUE;
    return rc == KVSPACE_ENOENT ? 0 : rc;
}

static int store_shape(kvspace *space, const char *key, struct tree_walk *walk, const struct shape *shape) {
    struct tree_value value;
    int rc = cell_make(space, shape, &value);
    if (rc) return rc;
    rc = hide_members(space, walk, &value);
    if (!rc) rc = tree_set_at(space, key, walk, &value);
    if (rc) cell_discard(space, &value);
    return rc;
}

int api_set_shape(kvspace *space, const char *key, const struct shape *shape) {
    struct tree_walk walk;
    if (shape->is_none) return remove_value(space, key);
    int rc = tree_walk(space, key, &walk);
    return rc ? rc : store_shape(space, key, &walk, shape);
}

int kvspace_set(kvspace *space, const char *key, const struct kvspace_value *value) {
    const char *why = NULL;
    struct tree_walk walk;
    struct shape shape;
    int rc = begin_write(space, key);
    if (rc) return rc;
    rc = shape_of(value, false, &shape, &why);
    if (rc) {
        space_end(space);
        return space_error(space, rc, key, "%s", why);
    }
    if (!shape.is_none && !shape.body_bytes && !shape.body) shape.body = "";
    rc = tree_walk(space, key, &walk);
    if (!rc && is_provided(&walk)) rc = provider_set(space, key, &walk, shape.is_none ? NULL : value);
    else if (!rc && shape.is_none) rc = remove_value(space, key);
    else if (!rc) rc = store_shape(space, key, &walk, &shape);
    if (!rc) space_wrote(space, key);
    return ends(space, rc, key);
}

int kvspace_set_i64(kvspace *space, const char *key, int64_t number) {
    struct kvspace_value value = kvspace_value_i64(number);
    return kvspace_set(space, key, &value);
}

int kvspace_set_u64(kvspace *space, const char *key, uint64_t number) {
    struct kvspace_value value = kvspace_value_scalar(KVSPACE_UINT64, &number);
    return kvspace_set(space, key, &value);
}

int kvspace_set_f64(kvspace *space, const char *key, double number) {
    struct kvspace_value value = kvspace_value_f64(number);
    return kvspace_set(space, key, &value);
}

int kvspace_set_bool(kvspace *space, const char *key, int truth) {
    struct kvspace_value value = kvspace_value_bool(truth);
    return kvspace_set(space, key, &value);
}

int kvspace_set_text(kvspace *space, const char *key, const char *text) {
    struct kvspace_value value = kvspace_value_utf8(text, strlen(text));
    return kvspace_set(space, key, &value);
}

int kvspace_set_string(kvspace *space, const char *key, const char *utf8, size_t bytes) {
    size_t written = 0;
    if (!utf8_is_valid(utf8, bytes)) return space_error(space, KVSPACE_EVALUE, key, "the text is not UTF-8");
    uint32_t *points = malloc(bytes * 4 + 4);
    if (!points) return space_error(space, KVSPACE_ENOMEM, key, "no memory for the text");
    utf8_to_utf32(utf8, bytes, points, bytes, &written);
    uint64_t dims[1] = {written};
    struct kvspace_value value = kvspace_value_array(KVSPACE_CHAR_UTF32, 1, dims, points);
    int rc = kvspace_set(space, key, &value);
    free(points);
    return rc;
}

int kvspace_set_word(kvspace *space, const char *key, const char *type, const void *body, size_t body_bytes) {
    struct kvspace_value value = kvspace_value_word(type, body, body_bytes);
    return kvspace_set(space, key, &value);
}

int kvspace_set_pointer(kvspace *space, const char *key, const char *target_key) {
    struct kvspace_value value = kvspace_value_pointer(target_key);
    int rc = path_check(target_key, NULL);
    return rc ? space_error(space, rc, target_key, "the target is not a key") : kvspace_set(space, key, &value);
}

/* The stored value with another body, if nobody changes it in between: else EAGAIN. */
static int exchange_body(kvspace *space, uint32_t ref, const void *body, uint64_t body_bytes) {
    struct node *node = tree_node(space, ref);
    struct kvspace_value value;
    struct tree_value made;
    struct cell_value cell;
    struct shape shape;
    const char *why;
    if (!node) return KVSPACE_EDAMAGED;
    uint64_t ver = node_get(node, &cell);
    int rc = cell_look(space, cell, &value);
    if (rc) return rc;
    if (cell_value_tag(cell) == NODE_TAG_NONE || cell_value_tag(cell) == NODE_TAG_HIDDEN) return KVSPACE_ENOENT;
    if (value.body_bytes != body_bytes || (!value.ref && value.store > KVSPACE_NDARRAY)) return KVSPACE_EVALUE;
    value.body = body;
    rc = shape_of(&value, false, &shape, &why);
    if (!rc) rc = cell_make(space, &shape, &made);
    if (rc) return rc;
    mem_lock(space, &node->lock);
    rc = node_ver(node) == ver ? tree_may_write(space, node) : KVSPACE_EAGAIN;
    if (!rc) return tree_put(space, ref, &made);
    mem_unlock(space, &node->lock);
    cell_discard(space, &made);
    return rc;
}

static int set_provided_body(kvspace *space, const char *key, const struct tree_walk *walk, const void *body, uint64_t body_bytes) {
    struct kvspace_value value;
    space->read_depth++;
    int rc = get_at(space, key, &value, 0);
    if (!rc && value.body_bytes != body_bytes) rc = KVSPACE_EVALUE;
    value.body = body;
    if (!rc) rc = provider_set(space, key, walk, &value);
    space->read_depth--;
    return rc;
}

int kvspace_set_body(kvspace *space, const char *key, const void *body, uint64_t body_bytes) {
    struct tree_walk walk;
    uint32_t ref;
    int rc = begin_write(space, key);
    if (rc) return rc;
    do {
        rc = tree_walk(space, key, &walk);
        if (!rc && is_provided(&walk)) {
            rc = set_provided_body(space, key, &walk, body, body_bytes);
            break;
        }
        if (!rc && walk.special_tag == NODE_TAG_OVERLAY && *walk.special_at && !(rc = api_exists(space, key, 0))) {
            rc = api_lock_for_update(space, key, true, &ref); /* which brings up what the base shows */
            if (!rc) mem_unlock(space, &tree_node(space, ref)->lock);
            if (!rc) rc = tree_walk(space, key, &walk);
        }
        if (!rc && *walk.at) rc = KVSPACE_ENOENT;
        if (!rc) rc = exchange_body(space, walk.node, body, body_bytes);
    } while (rc == KVSPACE_EAGAIN);
    if (!rc) space_wrote(space, key);
    if (rc != KVSPACE_EVALUE) return ends(space, rc, key);
    space_end(space);
    return space_error(space, rc, key, "the value there is not one of %llu bytes", (unsigned long long)body_bytes);
}

/* ---- write new and fill ---- */

int kvspace_write_begin(kvspace *space, const char *key, const struct kvspace_value *head, struct kvspace_write *write) {
    const char *why = NULL;
    struct shape shape;
    struct tree_value value;
    int code = 0;
    *write = (struct kvspace_write){.space = space};
    int rc = begin_write(space, key);
    if (rc) return rc;
    rc = path_check(key, NULL);
    if (!rc && space->writes_open == SPACE_WRITES_MAX) rc = KVSPACE_ELIMIT;
    if (!rc) rc = shape_of(head, true, &shape, &why);
    if (rc || shape.is_none) {
        space_end(space);
        return space_error(space, rc ? rc : KVSPACE_EVALUE, key, "%s", why ? why : rc ? kvspace_strerror(rc) : "there is no value to write");
    }
    if (!(shape.kind && !shape.ndim && !shape.ref)) shape.body = NULL;
    rc = cell_make(space, &shape, &value);
    if (!rc && !(write->key = malloc(strlen(key) + 1))) {
        cell_discard(space, &value);
        rc = KVSPACE_ENOMEM;
    }
    if (rc) return ends(space, rc, key);
    memcpy(write->key, key, strlen(key) + 1);
    write->place[0] = value.cell.head;
    write->place[1] = value.cell.payload;
    write->place[2] = value.block;
    write->place[3] = value.is_container;
    write->body_bytes = shape.body_bytes;
    write->body = &write->place[1];
    if (value.block) {
        /* The pin keeps the block over other calls and is released by our death; the maker's reference is the cell's. */
        mem_keep(space, value.block);
        if (!block_pin(&space->arena, value.block, &code)) rc = code ? code : KVSPACE_ENOMEM;
        block_unref(&space->arena, value.block);
        write->body = cell_body(space, value.block);
    }
    if (rc) {
        free(write->key);
        *write = (struct kvspace_write){0};
    } else space->writes_open++;
    return ends(space, rc, key);
}

static void write_over(struct kvspace_write *write) {
    if (write->place[2]) block_unpin(&write->space->arena, (uint32_t)write->place[2]);
    write->space->writes_open--;
    free(write->key);
    *write = (struct kvspace_write){0};
}

int kvspace_write_publish(struct kvspace_write *write) {
    kvspace *space = write->space;
    if (!write->key) return KVSPACE_EUSAGE;
    struct tree_value value = {{write->place[0], write->place[1]}, (uint32_t)write->place[2], write->place[3] != 0};
    struct tree_walk walk;
    int rc = begin_write(space, write->key);
    if (rc) {
        write_over(write);
        return rc;
    }
    rc = tree_walk(space, write->key, &walk);
    if (!rc && is_provided(&walk)) {
        struct kvspace_value made;
        rc = cell_look(space, value.cell, &made);
        if (!rc) rc = provider_set(space, write->key, &walk, &made);
    } else if (!rc) {
        if (value.block) block_ref(&space->arena, value.block);
        rc = hide_members(space, &walk, &value);
        if (!rc) rc = tree_set_at(space, write->key, &walk, &value);
        if (rc && value.block) block_unref(&space->arena, value.block);
    }
    if (!rc) space_wrote(space, write->key);
    rc = ends(space, rc, write->key);
    write_over(write);
    return rc;
}

void kvspace_write_cancel(struct kvspace_write *write) {
    if (write->key) write_over(write);
}
