/* Registering opcodes: signatures and documentation of a capability table at /lib/<opcode>, for layout, help and other runtimes.
 * Relies on kvspace.h. Promises: idempotent, and skipped when the space carries the table's stamp already; two runtimes that
 * register one opcode with different signatures get an error that names it. */
#ifndef CORE_CAPS_H
#define CORE_CAPS_H

#include "core/runtime.h"

/* `owner` names the table in /lib/‥caps/‥<owner>, and at `/lib/<opcode>/‥owner` unless it is a standard one. ERROR_ROUTE: somebody else has registered one of them
 * with another signature; other ERROR_ kinds. */
int caps_register(struct core *core, const char *owner, bool standard, const struct native_row *rows, uint32_t count);

#endif
