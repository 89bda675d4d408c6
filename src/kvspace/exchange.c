/* A value's head as bytes, for streams and other stores. Relies on shape.h to check what was decoded.
 * Promises: little-endian on every machine; decode reads nothing beyond `count` and believes no length.
 *
 *     byte 0   1 (the form)          8  u32 owner
 *          1   ref                  12  u32 bytes of the type, its zero byte included; 0: the kind says it
 *          2   store                16  u64 bytes of the body
 *          3   kind                 24  u64 lengths of the axes
 *          4   axes                     then the type, then nothing: the body follows
 *          5   1: read-only, 2 none     (bytes 6 and 7 are zero) */
#include "kvspace/shape.h"

#include <string.h>

enum { HEAD_FORM = 1, HEAD_FIXED = 24, HEAD_RO = 1 };

static void put_number(unsigned char *out, unsigned bytes, uint64_t number) {
    for (unsigned i = 0; i < bytes; i++) out[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t get_number(const unsigned char *in, unsigned bytes) {
    uint64_t number = 0;
    for (unsigned i = bytes; i-- > 0;) number = number << 8 | in[i];
    return number;
}

int kvspace_head_encode(const struct kvspace_value *value, void *out, size_t capacity, size_t *bytes) {
    unsigned ndim = value->ndim <= KVSPACE_NDIM_MAX && value->dims ? value->ndim : 0;
    if (value->ndim > KVSPACE_NDIM_MAX) return KVSPACE_ELIMIT;
    size_t type_bytes = value->kind || !value->type ? 0 : value->type_bytes ? value->type_bytes : strlen(value->type);
    if (value->ndim && !value->dims) return KVSPACE_EVALUE;
    if (type_bytes > KVSPACE_TYPE_MAX) return KVSPACE_ELIMIT;
    size_t type_room = type_bytes ? type_bytes + 1 : 0;
    *bytes = HEAD_FIXED + 8 * ndim + type_room;
    if (*bytes > capacity) return KVSPACE_ELIMIT;
    unsigned char *head = out;
    memset(head, 0, HEAD_FIXED);
    head[0] = HEAD_FORM;
    head[1] = value->ref;
    head[2] = value->store;
    head[3] = value->kind;
    head[4] = (unsigned char)ndim;
    head[5] = value->ro ? HEAD_RO : 0;
    put_number(head + 8, 4, value->owner);
    put_number(head + 12, 4, type_room);
    put_number(head + 16, 8, value->body_bytes);
    for (unsigned i = 0; i < ndim; i++) put_number(head + HEAD_FIXED + 8 * i, 8, value->dims[i]);
    if (type_bytes) {
        memcpy(head + HEAD_FIXED + 8 * ndim, value->type, type_bytes);
        head[HEAD_FIXED + 8 * ndim + type_bytes] = '\0';
    }
    return 0;
}

/* The type text behind the axes. */
static int decode_type(const unsigned char *head, size_t count, struct kvspace_decoded *decoded) {
    uint64_t room = get_number(head + 12, 4);
    size_t at = HEAD_FIXED + 8 * (size_t)decoded->value.ndim;
    if (room > KVSPACE_TYPE_MAX + 1 || room > count - at || room == 1) return KVSPACE_EDAMAGED;
    decoded->head_bytes = at + (size_t)room;
    if (!room) return 0;
    const char *type = (const char *)head + at;
    if (memchr(type, '\0', (size_t)room) != type + room - 1) return KVSPACE_EDAMAGED;
    decoded->value.type = type;
    decoded->value.type_bytes = (uint32_t)(room - 1);
    return 0;
}

/* Whether the parts agree: as kvspace_set would say, but for a body that is not there yet. */
static int decode_check(struct kvspace_decoded *decoded) {
    struct kvspace_value *value = &decoded->value;
    struct kvspace_value asked = *value;
    struct shape shape;
    const char *why;
    if (value->ref > KVSPACE_EXTERNAL || value->store > KVSPACE_EXTINDEX || value->kind >= KVSPACE_KIND_COUNT)
        return KVSPACE_EDAMAGED;
    if (value->store == KVSPACE_NONE) return value->body_bytes || value->ndim || value->kind ? KVSPACE_EVALUE : 0;
    static const char nothing[8];
    if (!asked.body) asked.body = nothing; /* only its presence is looked at */
    if (value->ref != KVSPACE_INLINE || value->store == KVSPACE_EXTINDEX) return value->kind || value->ndim ? KVSPACE_EVALUE : 0;
    int rc = shape_of(&asked, true, &shape, &why);
    if (rc) return rc == KVSPACE_ENOMEM ? rc : KVSPACE_EVALUE;
    return shape.store == value->store && shape.body_bytes == value->body_bytes ? 0 : KVSPACE_EVALUE;
}

int kvspace_head_decode(const void *bytes, size_t count, struct kvspace_decoded *decoded) {
    const unsigned char *head = bytes;
    *decoded = (struct kvspace_decoded){0};
    if (count < HEAD_FIXED || head[0] != HEAD_FORM || head[4] > KVSPACE_NDIM_MAX || head[5] > HEAD_RO || head[6] || head[7])
        return KVSPACE_EDAMAGED;
    struct kvspace_value *value = &decoded->value;
    value->ref = head[1];
    value->store = head[2];
    value->kind = head[3];
    value->ndim = head[4];
    value->ro = head[5] & HEAD_RO;
    value->owner = (uint32_t)get_number(head + 8, 4);
    value->body_bytes = get_number(head + 16, 8);
    if (count < HEAD_FIXED + 8 * (size_t)value->ndim) return KVSPACE_EDAMAGED;
    for (unsigned i = 0; i < value->ndim; i++) decoded->dims[i] = get_number(head + HEAD_FIXED + 8 * i, 8);
    if (value->ndim) value->dims = decoded->dims;
    int rc = decode_type(head, count, decoded);
    if (!rc && value->kind && value->type) rc = KVSPACE_EVALUE; /* two tellers of one type */
    if (!rc && value->body_bytes <= count - decoded->head_bytes) value->body = head + decoded->head_bytes;
    if (!rc) rc = decode_check(decoded);
    return rc;
}
