/* The operations of the tree on nodes: walking, inserting, deleting, swapping values, moving subtrees. Every structural
 * change is written down as an intent in the participant's slot before its first store, so that whoever recovers a dead participant
 * finishes or undoes it (tree_recover). Relies on table.h, step.h, cell.h, space.h.
 * Promises: locks are taken parent before child, at most four at a time; a call is all or nothing to every other process. */
#ifndef KVSPACE_TREE_H
#define KVSPACE_TREE_H

#include "kvspace/path.h"
#include "kvspace/space.h"

/* What an intent means, and its words. LIST and POP are the same in all kinds that free nodes. */
enum tree_intent {
    TREE_INTENT_NONE = 0,
    TREE_INTENT_REBUILD, /* owner, member, new table */
    TREE_INTENT_SET,     /* node, ver afterwards, members' table to detach or 0, byte of a once_mark or 0 */
    TREE_INTENT_INSERT,  /* parent, child, member */
    TREE_INTENT_DELETE,  /* parent, child, member, hash; LIST */
    TREE_INTENT_DETACH,  /* node, -, table; LIST */
    TREE_INTENT_REAP,    /* LIST, POP */
    TREE_INTENT_ADOPT,   /* into, from, head, payload, ver of into afterwards, table of from, table of into */
    TREE_INTENT_MOVE     /* see tree_move.c */
};
enum { TREE_WORD_LIST = 10, TREE_WORD_POP = 11 };

/* Where a walk ended. */
struct tree_walk {
    uint32_t node;   /* the deepest that exists */
    uint32_t parent; /* its parent, 0 for the root */
    const char *at;  /* the first step that does not exist; at the zero byte: the node is the key's own */
    /* The last node on the way that is more than stored: a provider or an overlay (0: none). */
    uint32_t special;
    uint8_t special_tag;    /* NODE_TAG_PROVIDER, NODE_TAG_OVERLAY */
    uint8_t hides_base;     /* below the overlay something was deleted: its base does not show through */
    const char *special_at; /* the key behind it */
};

/* Walks as far as there are nodes. EKEY (with the message), EDAMAGED. The rest is checked to be a key as well. Inside an epoch. */
int tree_walk(kvspace *space, const char *key, struct tree_walk *walk);

/* A value to be stored: a cell, and the block that it refers to (0: none), which is fresh memory of this operation or a
 * reference of its own. */
struct tree_value {
    struct cell_value cell;
    uint32_t block;
    bool is_container;
};

/* Adds a child or member with a first value to a live parent. *child gets it, also when another was faster: then *is_new is false
 * and the value has not been used. EAGAIN: the parent is not live any more. */
int tree_insert(kvspace *space, uint32_t parent, const struct path_step *step, const struct tree_value *value, uint32_t *child, bool *is_new);

/* Locks the node of a key, with create making it (without a value) if it is missing. ENOENT. */
int tree_lock_key(kvspace *space, const char *key, bool create, uint32_t *node);
struct node *tree_node(const kvspace *space, uint32_t node);

/* Replaces the value of a locked live node and unlocks it. Members of a container that is one no more go. The block of the
 * value is consumed on success. */
int tree_put(kvspace *space, uint32_t node, const struct tree_value *value);

/* Sets the value at a key: finds or makes the node. EREADONLY when the value there is. */
int tree_set(kvspace *space, const char *key, const struct tree_value *value);
/* The same from where a walk along that key has ended, in the same epoch. */
int tree_set_at(kvspace *space, const char *key, struct tree_walk *walk, const struct tree_value *value);

/* Deletes a node with all below, if it still is a child of that parent; then ancestors that hold nothing any more. EAGAIN: it is not.
 * *values (may be NULL) counts up. */
int tree_delete(kvspace *space, uint32_t parent, uint32_t child, uint64_t *values);

/* Removes the node, and its ancestors, as long as they are empty. */
void tree_prune(kvspace *space, uint32_t node);

/* Gives `into` the value and the members of `from`, which are both live, and `from` those of `into`; opaque: what the base of an
 * overlay has below `into` is hidden from then on. */
int tree_adopt(kvspace *space, uint32_t into, uint32_t from, bool opaque);

/* kvspace_replace on well-formed keys. */
int tree_move(kvspace *space, const char *from, const char *to, const char *old);

/* Copies value and everything below from one node to another that nobody else uses yet; only members with members_only. */
int tree_copy(kvspace *space, uint32_t from, uint32_t to, bool members_only);

/* A key of this participant's own for building something before it is swapped in: `out` has room for 64 bytes. What stood there
 * is deleted. */
int tree_stage(kvspace *space, char *out);

/* The two phases of recovery, as party_hooks wants them; the context is the kvspace whose arena it is. */
enum party_outcome tree_settle(struct arena *arena, struct party_slot *dead, void *context);
void tree_finish(struct arena *arena, struct party_slot *dead, void *context);

/* Wakes who watches the node. After a change, without locks. */
void tree_wake(kvspace *space, uint32_t node);

/* A number that changes with every change of the node; never 0. */
uint64_t tree_version(uint32_t node, uint64_t ver);

#endif
