/* What the natives share: typed access to their arguments with messages in the user's names, and results.
 * Relies on call.h and types.h. Promises: a mismatch names the native, its parameter, the expected and the actual type. */
#ifndef CORE_NATIVE_H
#define CORE_NATIVE_H

#include "core/call.h"
#include "core/text.h"
#include "core/value.h"

/* Every native's function, from the one table. */
#define NATIVE(name, function, least, most, results, reuse, signature, doc, example, prints) int function(struct core_call *call);
#include "core/natives.def"
#undef NATIVE

/* The TypeError of argument i; `expected` NULL: as the signature says. */
int native_mismatch(struct core_call *call, uint32_t i, const char *expected);

/* Arguments of one type. Literals convert where they fit. */
int native_int64(struct core_call *call, uint32_t i, int64_t *out);
int native_text(struct core_call *call, uint32_t i, const struct cell **out);
int native_array(struct core_call *call, uint32_t i, const struct cell **out);
int native_map(struct core_call *call, uint32_t i, const struct cell **out); /* a map or a struct */
int native_scalar(struct core_call *call, uint32_t i, unsigned kind, uint64_t *bits);
/* A text as UTF-8 in a buffer of the caller; ERROR_VALUE when it is too long. */
int native_utf8(struct core_call *call, uint32_t i, char *out, size_t capacity);
static inline bool native_literal(const struct core_call *call, uint32_t i) { return call->literals >> (i < 63 ? i : 63) & 1; }

/* One result. */
static inline int native_give(struct core_call *call, struct cell cell) {
    call->results[0] = cell;
    return 0;
}
/* A text made in a buffer; frees the buffer. */
struct text_buffer;
int native_give_text(struct core_call *call, struct text_buffer *buffer);

/* printf's directives %d %i %u %x %X %o %b %c %s %v %f %e %g %% with flags, width and precision over cells; widths count
 * code points. The format is args[0]. Also for the terminal's printf. */
int format_cells(struct core_call *call, struct text_out *out);

#endif
