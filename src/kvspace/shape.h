/* The shape of a value: what kvspace_set was given, checked and brought into the one form that is stored.
 * Relies on kinds.h and typexpr.h. Promises: after shape_of every part agrees with every other (type, dims, bytes); nothing
 * is allocated; texts and body stay the caller's. The engine stores shapes, and lends them again as kvspace_value. */
#ifndef KVSPACE_SHAPE_H
#define KVSPACE_SHAPE_H

#include <kvspace/kvspace.h>

#include <stdbool.h>

struct shape {
    uint8_t ref, store, kind, ndim;
    uint8_t ro;
    uint8_t is_none;
    uint32_t owner;
    uint32_t type_bytes; /* 0 where the kind says it */
    const char *type;    /* not ended by a zero byte */
    const void *body;    /* NULL: to be filled later */
    uint64_t body_bytes;
    uint64_t dims[KVSPACE_NDIM_MAX];
};

/* Gives 0, or ETYPE, EVALUE or ELIMIT with a static sentence in *why. `in` NULL is None. `filled`: the body will be written
 * later, so in->body does not count. */
int shape_of(const struct kvspace_value *in, bool filled, struct shape *out, const char **why);

/* Bytes of a body with these dims; false if that is more than 2^63 - 1. */
bool shape_bytes(unsigned kind, unsigned ndim, const uint64_t *dims, uint64_t *bytes);

#endif
