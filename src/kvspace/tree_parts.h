/* What the files of the tree's operations (tree*.c) share among themselves and with nobody else.
 * Relies on tree.h. Promises: all of these are called with the locks that they name. */
#ifndef KVSPACE_TREE_PARTS_H
#define KVSPACE_TREE_PARTS_H

#include "kvspace/tree.h"

_Atomic uint32_t *tree_table_of(struct node *node, bool member);

/* Room for one more entry in the table of a locked node. */
int tree_make_room(kvspace *space, struct node *parent, bool member);

/* EREADONLY or 0, of a locked node. */
int tree_may_write(const kvspace *space, const struct node *node);

/* Makes a locked live node dead: its slots say EGONE from here on. Idempotent. */
void tree_mark_dead(struct node *node);

/* Frees every node of the list in the own intent, with all below; then the intent is over. No locks held. Gives how many values went. */
uint64_t tree_reap(kvspace *space);

/* Puts the nodes of a detached members' table (word 2 of the own intent) into the list, frees the table, and reaps. No locks held. */
void tree_reap_detached(kvspace *space);

/* The intent's words as references. */
static inline uint32_t tree_word(const struct party_slot *slot, unsigned at) {
    return (uint32_t)atomic_load_explicit(&slot->intent.word[at], memory_order_relaxed);
}
static inline uint64_t tree_word64(const struct party_slot *slot, unsigned at) {
    return atomic_load_explicit(&slot->intent.word[at], memory_order_relaxed);
}

/* Roll a move or an exchange forward; plain stores only, any number of times. */
void tree_move_forward(kvspace *space, const struct party_slot *slot);
void tree_adopt_forward(kvspace *space, const struct party_slot *slot);

#endif
