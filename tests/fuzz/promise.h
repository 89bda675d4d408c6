/* What the fuzz targets of the compiler and the language server share. Relies on the C library. A broken promise aborts, which the drivers record. */
#ifndef FUZZ_PROMISE_H
#define FUZZ_PROMISE_H

#include <stdio.h>
#include <stdlib.h>

static inline void broken(const char *promise) {
    fprintf(stderr, "broken promise: %s\n", promise);
    abort();
}

/* A sink for rendered text that counts its bytes in the size_t at `context`. */
static inline int count_bytes(void *context, const char *bytes, size_t length) {
    size_t *total = context;
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == '\0') broken("a rendered diagnostic holds no zero byte");
    *total += length;
    return 0;
}

#endif
