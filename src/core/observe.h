/* A core that runs nothing: it presents the vthreads of a space on a handle, for tools that look. Relies on runtime.c. Promises: it takes
 * nothing from the space. */
#ifndef CORE_OBSERVE_H
#define CORE_OBSERVE_H

#include <kvspace/kvspace.h>

struct core;

/* From here on keys below /vthread/<vid> can be read and written on this handle. NULL: no memory; they stay unknown. */
struct core *core_observe(kvspace *space);
/* Before kvspace_close. NULL is allowed. */
void core_unobserve(struct core *core);

#endif
