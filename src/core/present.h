/* Vthreads as people and other processes see them: the typed provider of /vthread/<vid>.
 * Relies on kvspace.h (providers) and vthread.h. Promises: reading never disturbs a running vthread (values are copied and looked at
 * again); writing takes effect for vthreads that do not run. */
#ifndef CORE_PRESENT_H
#define CORE_PRESENT_H

#include "core/runtime.h"

/* Registers the provider on the core's handle. */
int present_register(struct core *core);
/* The record of a vthread; ERROR_NAME when there is none. */
int present_find(struct core *core, uint64_t vid, uint32_t *record);

#endif
