/* The terminal's opcodes: print println cerr printf input. Relies on core/call.h. Promises: each call is one write, made before the
 * step is committed, so output is at least once: a crash in between shows a line twice, never not at all. */
#ifndef STD_TERM_H
#define STD_TERM_H

#include "core/call.h"

extern const struct native_row term_rows[];
extern const uint32_t term_count;

#endif
