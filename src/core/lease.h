/* Who runs a vthread, and standing still while somebody looks at it. A lease names a participant of the space, whose life the kernel vouches
 * for (kvspace/party.h): it ends with the process, also by SIGKILL, whatever happens to pids.
 * Relies on party.h. Promises: one holder at a time; the lease of the dead is taken at once, after what they had begun in the tree
 * has been settled, so that the `once` of the record is final. */
#ifndef CORE_LEASE_H
#define CORE_LEASE_H

#include "core/runtime.h"

/* This runtime's own lease word. */
uint64_t lease_own(const struct core *core);
/* Takes the vthread, also from a dead holder. False: a living one has it. */
bool lease_take(struct core *core, struct vthread_record *record);
void lease_drop(struct core *core, struct vthread_record *record);
/* Whether somebody who lives holds it. */
bool lease_is_live(const struct core *core, const struct vthread_record *record);

/* Asks for attention: sets the bits and wakes a runner that sleeps. */
void attention_ask(struct vthread_record *record, uint32_t bits);

/* Makes the vthread stand still until look_end. False: it is inside a long native and does not listen, or somebody else looks. Its own
 * runner may look at any time. */
bool look_begin(struct core *core, struct vthread_record *record);
void look_end(struct core *core, struct vthread_record *record);
/* The runner's side: stands still until the one who looks has gone, or has died. */
void look_wait(struct core *core, struct vthread_record *record);

#endif
