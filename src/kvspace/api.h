/* What the files of the public functions share. Relies on tree.h, shape.h. Promises: these run inside a call that has begun
 * (space_begin), and leave the message to it. */
#ifndef KVSPACE_API_H
#define KVSPACE_API_H

#include "kvspace/shape.h"
#include "kvspace/table.h"
#include "kvspace/tree_parts.h"

/* kvspace_get inside a call. */
int api_get(kvspace *space, const char *key, struct kvspace_value *out);
/* kvspace_exists inside a call; `overlays` counts the overlays on the way. */
int api_exists(kvspace *space, const char *key, unsigned overlays);
/* Adds to the integer of a locked node and gives the lock back. ETYPE, EREADONLY. */
int api_incr_locked(kvspace *space, uint32_t node, int64_t delta, int64_t *sum);
/* Value and members of the staged node become those of the key; the stage goes. */
int api_adopt(kvspace *space, const char *key, const char *stage, uint32_t staged);
/* In an overlay, hides what the base has at the key and below it. ENOENT: nothing to hide. */
int api_hide_base(kvspace *space, const char *key);
/* Locks the stored node of a key with what an overlay's base shows there; with `create` it is made if it is missing, else ENOENT.
 * EUNSUPPORTED: provided. */
int api_lock_for_update(kvspace *space, const char *key, bool create, uint32_t *node);
/* Stores a checked shape at a stored key. */
int api_set_shape(kvspace *space, const char *key, const struct shape *shape);

#endif
