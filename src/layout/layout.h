/* The compiler as a library: text in, diagnostics, canonical text or (see the other half) rows in the tree out.
 * Relies on parse.h and format.h behind it. No global state, never prints, never aborts: diagnostics go to a sink that
 * the caller supplies. Promise: whatever bytes come in, every function ends, with a value or with diagnostics. */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H
#include <stddef.h>

/* What the functions return; a value a sink returned other than 0 is passed on as it is (sinks return negative ones). */
enum layout_rc {
    LAYOUT_OK = 0,
    LAYOUT_REJECTED = 1, /* the source has errors; the sink has them */
    LAYOUT_NO_MEMORY = 2
};

/* Receives rendered diagnostics in pieces; a negative return ends the call. */
typedef int (*layout_sink)(void *context, const char *bytes, size_t length);

/* One source: `name` as diagnostics show it, `text` any bytes (not necessarily zero-terminated), borrowed for the call. */
struct layout_source {
    const char *name;
    const char *text;
    size_t length;
};

/* Formats a source. *out: malloc'd, zero-terminated behind *out_length bytes, the caller frees it; NULL unless LAYOUT_OK. */
int layout_format(const struct layout_source *source, char **out, size_t *out_length, layout_sink sink, void *context);

/* Checks a source as far as can be seen without a tree, errors and warnings to the sink.
 * LAYOUT_OK where there are no errors (there may be warnings). */
int layout_check_source(const struct layout_source *source, layout_sink sink, void *context);

#endif
