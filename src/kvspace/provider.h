/* Keys that are more than stored: providers (computed below a record) and overlays (read through to a base).
 * Relies on tree.h, cell.h. Promises: a provider's functions run inside one call of the handle's owner; what they lend lives as
 * long as other lent values. */
#ifndef KVSPACE_PROVIDER_H
#define KVSPACE_PROVIDER_H

#include "kvspace/tree.h"

enum { OVERLAY_DEPTH_MAX = 8 };

/* A provider's node, its functions and one call's arguments. */
struct provider_target {
    const struct kvspace_provider *provider;
    struct kvspace_provider_call call;
    char key[KVSPACE_KEY_MAX + 1];
};

/* What a walk found of a provider; EPROVIDER: it is not registered on this handle. */
int provider_target(kvspace *space, const char *key, const struct tree_walk *walk, struct provider_target *out);

int provider_get(kvspace *space, const char *key, const struct tree_walk *walk, struct kvspace_value *out);
int provider_set(kvspace *space, const char *key, const struct tree_walk *walk, const struct kvspace_value *value);
int provider_del(kvspace *space, const char *key, const struct tree_walk *walk);
/* Calls list with the listing; ENOENT if the provider has none. */
int provider_list(kvspace *space, const char *key, const struct tree_walk *walk, struct kvspace_provider_listing *listing);
/* The version of a provided key, for watching. 0: nothing there. */
int provider_version(kvspace *space, const char *key, const struct tree_walk *walk, uint64_t *version);

/* Where a provider's list puts entries. Texts lie behind each other, each {flags, length, text}. */
struct kvspace_provider_listing {
    char *bytes;
    size_t used, capacity;
    int rc;
};

/* The key in the base that an overlay lets through; ENOENT: hidden, or not below an overlay. */
int overlay_base_key(kvspace *space, const struct tree_walk *walk, char *out);

/* The library's own provider of /sys. */
int provider_sys_register(kvspace *space);
int provider_sys_found(kvspace *space); /* makes its key in a new space */

#endif
