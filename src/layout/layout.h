/* The compiler as a library: text in, diagnostics, canonical text or (see the other half) rows in the tree out.
 * Relies on parse.h and format.h behind it. No global state, never prints, never aborts: diagnostics go to a sink that
 * the caller supplies. Promise: whatever bytes come in, every function ends, with a value or with diagnostics. */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <kvspace/kvspace.h>
#include "kvspace/textout.h"

/* What the functions return; a value a sink returned other than 0 is passed on as it is (sinks return negative ones). */
enum layout_rc {
    LAYOUT_OK = 0,
    LAYOUT_REJECTED = 1, /* the source has errors; the sink has them */
    LAYOUT_NO_MEMORY = 2,
    LAYOUT_SPACE = 3 /* the tree could not be read or written: kvspace_message says why */
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

/* What a source lays out: keys of its functions in its order, and of its libs' inits in the order in which they run. */
struct layout_names {
    char **functions, **inits;
    uint32_t function_count, init_count;
    bool has_init; /* the file has bare instructions of its own: /lib/init */
};
void layout_names_free(struct layout_names *names);

/* Compiles a source against what the space has at /lib, and lays it out there if `write`: each function in one step, what has not
 * changed is left alone. Where there are errors nothing is written. *names (may be NULL): filled on LAYOUT_OK, else empty. */
int layout_into(kvspace *space, const struct layout_source *source, bool write, struct layout_names *names, layout_sink sink, void *context);

/* Which of a source's functions would replace another one that a vthread which has not ended may still call: in affected->functions, for
 * layout_names_free. Nothing is written; warnings are not told. */
int layout_affected(kvspace *space, const struct layout_source *source, struct layout_names *affected, layout_sink sink, void *context);

/* What layout_dump found: functions, opcodes and structs, and how many of them its text does not give back as they are (their rows were
 * written or changed by hand so that no source means them). */
struct layout_dumped {
    uint32_t count, inexact;
};

/* Source that lays out to what stands at `key` (a function, `/lib/pkg`, `/lib`) and below, or with `rows` a listing of the rows. Of all of /lib the
 * opcodes that runtimes registered are left out. Output goes to `out`, whose error the caller looks at. */
int layout_dump(kvspace *space, const char *key, bool rows, struct text_out *out, struct layout_dumped *result);

#endif
