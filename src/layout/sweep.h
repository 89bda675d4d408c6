/* Old versions of functions, `/lib/‥old/…@version`. Relies on kvspace.h. Promise: one that a vthread may still stand in stays. */
#ifndef LAYOUT_SWEEP_H
#define LAYOUT_SWEEP_H
#include <kvspace/kvspace.h>

/* Marks an old version as replaced now. Gives 0 or a KVSPACE_E code. */
int sweep_stamp(kvspace *space, const char *old);
/* Removes the old versions that were replaced before the oldest vthread that has not ended began: nobody stands in them. Gives 0 or a KVSPACE_E code. */
int sweep_old(kvspace *space);

#endif
