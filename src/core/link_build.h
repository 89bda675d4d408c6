/* What link.c and link_code.c share while a function is being linked. Private to the two. */
#ifndef CORE_LINK_BUILD_H
#define CORE_LINK_BUILD_H

#include "core/link.h"
#include "core/text.h"

struct pool_chunk;
struct pool {
    struct pool_chunk *first;
};

enum slot_kind { SLOT_NONE, SLOT_OPCODE, SLOT_NAME, SLOT_PARAM, SLOT_PATH, SLOT_LITERAL };
struct link_slot {
    uint32_t row;
    int32_t column;
    uint8_t kind; /* enum slot_kind */
    uint32_t text_bytes;
    const char *text;
    struct cell constant;
};

struct link_build {
    struct core *core;
    struct heap *heap;
    struct link *link;
    struct pool pool;
    struct link_slot *slots;
    uint32_t slot_count, slot_room;
    uint64_t fingerprint;
    const char **names;
    uint32_t *index;
    uint32_t name_room;
};

void *pool_take(struct pool *pool, size_t bytes); /* zeroed; NULL: no memory */
const char *pool_text(struct pool *pool, const char *text, size_t bytes);
int link_name(struct link_build *build, const char *text, size_t bytes, uint32_t *cell);

/* The text's block becomes the one that equal constants share (constants.c). */
void constant_share(struct core *core, struct cell *constant);
void constants_close(struct core *core);

/* Chooses an instruction for every row. */
int link_code(struct link_build *build);

#endif
