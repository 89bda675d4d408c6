/* Providers and overlays (provider.h): finding them, and calling them.
 * Relies on cell.h for the records. Promises: while a provider runs, nothing that was lent is taken back; its record stays,
 * because the call is inside an epoch. */
#include "kvspace/provider.h"

#include "kvspace/cell.h"
#include "kvspace/path.h"

#include <stdlib.h>
#include <string.h>

enum { PREFIX_BYTES = 9 }; /* provider/ */

int kvspace_provider_register(kvspace *space, const struct kvspace_provider *provider) {
    for (uint32_t i = 0; i < space->provider_count; i++)
        if (strcmp(space->provider[i]->name, provider->name) == 0)
            return space_error(space, KVSPACE_EEXIST, NULL, "a provider %s is registered already", provider->name);
    if (space->provider_count == SPACE_PROVIDERS_MAX) return space_error(space, KVSPACE_ELIMIT, NULL, "more than 16 providers");
    space->provider[space->provider_count++] = provider;
    return 0;
}

void *kvspace_provider_memory(kvspace *space, size_t bytes) { return space_lend(space, bytes); }

static const struct kvspace_provider *find(const kvspace *space, const char *type, uint32_t type_bytes) {
    for (uint32_t i = 0; i < space->provider_count; i++) {
        const char *name = space->provider[i]->name;
        if (strlen(name) == type_bytes - PREFIX_BYTES && memcmp(name, type + PREFIX_BYTES, type_bytes - PREFIX_BYTES) == 0)
            return space->provider[i];
    }
    return NULL;
}

int provider_target(kvspace *space, const char *key, const struct tree_walk *walk, struct provider_target *out) {
    struct node *node = tree_node(space, walk->special);
    struct kvspace_value record;
    struct cell_value cell;
    size_t bytes = (size_t)(walk->special_at - key);
    if (!node || walk->special_tag != NODE_TAG_PROVIDER) return KVSPACE_ENOENT;
    node_get(node, &cell);
    if (cell_value_tag(cell) != NODE_TAG_PROVIDER) return KVSPACE_ENOENT;
    int rc = cell_look(space, cell, &record);
    if (rc) return rc;
    out->provider = find(space, record.type, record.type_bytes);
    if (!out->provider) return space_error(space, KVSPACE_EPROVIDER, key, "no %.*s is registered on this handle", (int)record.type_bytes, record.type);
    memcpy(out->key, key, bytes);
    out->key[bytes] = 0;
    out->call = (struct kvspace_provider_call){.space = space, .context = out->provider->context, .key = out->key};
    out->call.record = record.body;
    out->call.record_bytes = record.body_bytes;
    out->call.rest = walk->special_at;
    return 0;
}

int provider_get(kvspace *space, const char *key, const struct tree_walk *walk, struct kvspace_value *out) {
    struct provider_target target;
    int rc = provider_target(space, key, walk, &target);
    if (rc) return rc;
    *out = (struct kvspace_value){0};
    if (!target.provider->get) return KVSPACE_ENOENT;
    space->read_depth++;
    rc = target.provider->get(&target.call, out);
    space->read_depth--;
    if (rc) *out = (struct kvspace_value){0};
    else if (out->kind && !out->ndim && !out->ref && !out->body) out->body = out->scalar.bytes;
    return rc;
}

int provider_set(kvspace *space, const char *key, const struct tree_walk *walk, const struct kvspace_value *value) {
    struct provider_target target;
    int rc = provider_target(space, key, walk, &target);
    if (rc) return rc;
    if (!target.provider->set) return KVSPACE_EREADONLY;
    space->read_depth++;
    rc = target.provider->set(&target.call, value);
    space->read_depth--;
    return rc;
}

int provider_del(kvspace *space, const char *key, const struct tree_walk *walk) {
    struct provider_target target;
    int rc = provider_target(space, key, walk, &target);
    if (rc) return rc;
    if (!target.provider->del) return KVSPACE_EREADONLY;
    space->read_depth++;
    rc = target.provider->del(&target.call);
    space->read_depth--;
    return rc;
}

int provider_list(kvspace *space, const char *key, const struct tree_walk *walk, struct kvspace_provider_listing *listing) {
    struct provider_target target;
    int rc = provider_target(space, key, walk, &target);
    if (rc) return rc;
    if (!target.provider->list) return KVSPACE_ENOENT;
    space->read_depth++;
    rc = target.provider->list(&target.call, listing);
    space->read_depth--;
    return rc ? rc : listing->rc;
}

static uint64_t hash_bytes(uint64_t state, const void *bytes, uint64_t count) {
    const unsigned char *at = bytes;
    for (uint64_t i = 0; i < count; i++) state = (state ^ at[i]) * UINT64_C(0x100000001b3);
    return state;
}

int provider_version(kvspace *space, const char *key, const struct tree_walk *walk, uint64_t *version) {
    struct provider_target target;
    struct kvspace_value value;
    int rc = provider_target(space, key, walk, &target);
    *version = 0;
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    if (target.provider->version) {
        space->read_depth++;
        rc = target.provider->version(&target.call, version);
        space->read_depth--;
        return rc == KVSPACE_ENOENT ? 0 : rc;
    }
    rc = provider_get(space, key, walk, &value);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    *version = hash_bytes(UINT64_C(0xcbf29ce484222325) ^ value.kind, value.body, value.body_bytes) | 1;
    return 0;
}

int kvspace_provider_entry(struct kvspace_provider_listing *listing, const char *text, uint8_t has_value, uint8_t has_children,
                           uint8_t has_members) {
    size_t bytes = strlen(text), need = bytes + 4;
    if (listing->rc) return listing->rc;
    if (bytes > KVSPACE_STEP_MAX + 4) return listing->rc = KVSPACE_EKEY;
    if (listing->capacity - listing->used < need) {
        size_t capacity = listing->capacity * 2 + 1024;
        char *more = realloc(listing->bytes, capacity);
        if (!more) return listing->rc = KVSPACE_ENOMEM;
        listing->bytes = more;
        listing->capacity = capacity;
    }
    char *at = listing->bytes + listing->used;
    uint16_t length = (uint16_t)bytes;
    at[0] = (char)((has_value ? 1 : 0) | (has_children ? 2 : 0) | (has_members ? 4 : 0));
    memcpy(at + 1, &length, 2);
    memcpy(at + 3, text, bytes + 1);
    listing->used += need;
    return 0;
}

/* ---- overlays ---- */

int overlay_base_key(kvspace *space, const struct tree_walk *walk, char *out) {
    struct node *node = tree_node(space, walk->special);
    struct kvspace_value base;
    struct cell_value cell;
    if (!node || walk->special_tag != NODE_TAG_OVERLAY || walk->hides_base || *walk->special_at == '/') return KVSPACE_ENOENT;
    node_get(node, &cell);
    if (cell_value_tag(cell) != NODE_TAG_OVERLAY) return KVSPACE_ENOENT;
    int rc = cell_look(space, cell, &base);
    if (rc) return rc;
    size_t rest = strlen(walk->special_at);
    if (base.body_bytes + rest > KVSPACE_KEY_MAX) return KVSPACE_ELIMIT;
    memcpy(out, base.body, (size_t)base.body_bytes);
    memcpy(out + base.body_bytes, walk->special_at, rest + 1);
    return 0;
}
