/* The families of the standard runtime: each a table of opcodes in a file of its own, which can be switched off as a whole.
 * A family's rows stand in <family>.def, in the format of core/natives.def; the dispatch, help and docs/stdlib.md come from there.
 * Relies on core/call.h. Promises: families.c names every family once. */
#ifndef STD_FAMILY_H
#define STD_FAMILY_H

#include "core/call.h"

struct family {
    const char *name; /* as in --deny */
    const struct native_row *rows;
    const uint32_t *count;
    /* What a family keeps for one runtime, given to its functions as call->host. Both NULL: nothing. open gives NULL for want of memory. */
    void *(*open)(void);
    void (*close)(void *kept);
};

extern const struct family families[];
extern const uint32_t family_count;

/* Rows of a .def, and declarations of their functions. */
#define FAMILY_ROW(name, function, least, most, results, reuse, signature, doc, example, prints) \
    {name, signature, doc, example, prints, function, least, most, results, reuse},
#define FAMILY_FUNCTION(name, function, least, most, results, reuse, signature, doc, example, prints) \
    static int function(struct core_call *call);

#define FAMILY_DECLARE(family)                    \
    extern const struct native_row family##_rows[]; \
    extern const uint32_t family##_count;
FAMILY_DECLARE(term)
FAMILY_DECLARE(json)
FAMILY_DECLARE(fs)
FAMILY_DECLARE(proc)
FAMILY_DECLARE(env)
FAMILY_DECLARE(csv)
FAMILY_DECLARE(re)
FAMILY_DECLARE(hash)
FAMILY_DECLARE(base64)
FAMILY_DECLARE(http)
FAMILY_DECLARE(kvlanglayout)

void *re_open(void);
void re_close(void *kept);

#endif
