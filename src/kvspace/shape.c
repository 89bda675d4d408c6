/* Shapes of values (shape.h), and the functions of the public interface that only look at a struct kvspace_value.
 * Relies on kinds.h and typexpr.h. Promises: a kind alone takes the short way; a type text is parsed, in at most
 * some 100 KiB of the heap for the longest ones. */
#include "kvspace/shape.h"

#include "kvspace/kinds.h"
#include "kvspace/path.h"
#include "kvspace/typexpr.h"
#include "kvspace/utf8.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* The public names are the rows of kinds.def: a row that is added there must be added in kvspace.h. */
#define KIND(name, text, class, bytes, is_signed, arithmetic, storage_only, hash) \
    static_assert((int)KVSPACE_##name == (int)KIND_##name, "kvspace.h and kinds.def differ");
#include "kvspace/kinds.def"
#undef KIND
static_assert((int)KVSPACE_KIND_COUNT == (int)KIND_COUNT, "kvspace.h and kinds.def differ");

size_t kvspace_kind_bytes(unsigned kind) { return kind_size(kind); }
const char *kvspace_kind_name(unsigned kind) { return kind_name(kind); }

bool shape_bytes(unsigned kind, unsigned ndim, const uint64_t *dims, uint64_t *bytes) {
    uint64_t product = kind_size(kind);
    bool zero = false;
    for (unsigned i = 0; i < ndim; i++) {
        if (dims[i] == 0) zero = true;
        else if (product > (uint64_t)INT64_MAX / dims[i]) return false;
        else product *= dims[i];
    }
    *bytes = zero ? 0 : product;
    return true;
}

/* One axis whose length is left to the body. */
static int infer_axis(const struct kvspace_value *in, struct shape *out, const char **why) {
    size_t element = kind_size(out->kind);
    if (in->body_bytes % element) {
        *why = "the body is not a whole number of elements";
        return KVSPACE_EVALUE;
    }
    out->ndim = 1;
    out->dims[0] = in->body_bytes / element;
    return 0;
}

static int shape_of_kind(const struct kvspace_value *in, bool filled, struct shape *out, const char **why) {
    uint64_t bytes;
    int rc = 0;
    if (in->ndim > KVSPACE_NDIM_MAX) {
        *why = "more than 8 axes";
        return KVSPACE_ELIMIT;
    }
    out->ndim = in->ndim;
    if (in->ndim == 1 && !in->dims) rc = infer_axis(in, out, why);
    else if (in->ndim && !in->dims) {
        *why = "axes without lengths";
        return KVSPACE_EVALUE;
    } else if (in->ndim) memcpy(out->dims, in->dims, in->ndim * sizeof *in->dims);
    if (rc) return rc;
    if (!shape_bytes(out->kind, out->ndim, out->dims, &bytes)) {
        *why = "the lengths of the axes multiply to more than 2^63 bytes";
        return KVSPACE_ELIMIT;
    }
    if (in->body_bytes && in->body_bytes != bytes) {
        *why = "the body has another size than the type and the axes say";
        return KVSPACE_EVALUE;
    }
    if (!in->body && !out->ndim) out->body = in->scalar.bytes; /* heads made by kvspace_value_i64 and its kin */
    else if (bytes && !in->body && !filled) {
        *why = "a body is missing";
        return KVSPACE_EVALUE;
    }
    out->store = out->ndim ? KVSPACE_NDARRAY : KVSPACE_ATOM;
    out->body_bytes = bytes;
    out->type = NULL;
    out->type_bytes = 0;
    return 0;
}

/* A type without dims and prefix that is one kind. */
static bool plain_kind(struct shape *out) {
    out->kind = (uint8_t)kind_from_name(out->type, out->type_bytes);
    return out->kind != KIND_NONE;
}

/* `[2,3]float32`: its numbers become the axes; `[]kind` leaves the one length to the body. */
static int array_of_type(const struct kvspace_value *in, const struct typexpr_atom *atom, bool filled, struct shape *out,
                         const char **why) {
    struct kvspace_value told = *in;
    const uint64_t *axes = typexpr_axes(atom);
    out->kind = atom->kind;
    for (unsigned i = 0; i < atom->axis_count; i++) {
        if (axes[i] < AXIS_LEAST || in->ndim) continue;
        if (atom->axis_count == 1 && axes[0] == AXIS_ANY) {
            told.ndim = 1;
            told.dims = NULL;
            return shape_of_kind(&told, filled, out, why);
        }
        *why = "a value's type has lengths, not patterns";
        return KVSPACE_ETYPE;
    }
    if (!in->ndim) {
        told.ndim = atom->axis_count;
        told.dims = axes;
    } else {
        bool agree = in->ndim == atom->axis_count && in->dims;
        for (unsigned i = 0; agree && i < in->ndim; i++) agree = axes[i] >= AXIS_LEAST || axes[i] == in->dims[i];
        if (!agree) {
            *why = "the axes are not those of the type";
            return KVSPACE_EVALUE;
        }
    }
    return shape_of_kind(&told, filled, out, why);
}

static bool is_key(const char *text, uint64_t bytes) {
    char key[KVSPACE_KEY_MAX + 1];
    if (bytes > KVSPACE_KEY_MAX || memchr(text, 0, (size_t)bytes)) return false;
    memcpy(key, text, (size_t)bytes);
    key[bytes] = 0;
    return path_check(key, NULL) == 0;
}

static int container(const struct kvspace_value *in, struct shape *out, const char **why) {
    if (in->ndim || (in->body_bytes && in->store != KVSPACE_EXTINDEX)) {
        *why = "a container has members, not a body";
        return KVSPACE_EVALUE;
    }
    if (in->store == KVSPACE_EXTINDEX && (!in->body || !is_key(in->body, in->body_bytes))) {
        *why = "an overlay needs the key of its base";
        return KVSPACE_EVALUE;
    }
    out->kind = KIND_NONE;
    out->store = in->store == KVSPACE_EXTINDEX ? KVSPACE_EXTINDEX : KVSPACE_INDEX;
    return 0;
}

static int atom_with_body(const struct kvspace_value *in, bool filled, struct shape *out, const char **why) {
    if (in->body_bytes && !in->body && !filled) {
        *why = "a body is missing";
        return KVSPACE_EVALUE;
    }
    if (in->ndim) {
        *why = "only arrays of a kind have axes";
        return KVSPACE_EVALUE;
    }
    out->kind = KIND_NONE;
    out->store = KVSPACE_ATOM;
    return 0;
}

static int shape_of_parsed(const struct kvspace_value *in, const struct typexpr *type, bool filled, struct shape *out,
                           const char **why) {
    const struct typexpr_atom *atom = typexpr_first(type);
    if (type->atom_count != 1) {
        *why = "a value has one type, not a union";
        return KVSPACE_ETYPE;
    }
    if (atom->prefix) {
        *why = "a type with * or @ is the type of a pointer or an external value";
        return KVSPACE_ETYPE;
    }
    switch (atom->class) {
    case TYPE_KIND: return array_of_type(in, atom, filled, out, why);
    case TYPE_MAP: return container(in, out, why);
    case TYPE_NAME:
        if (!atom->axis_count) return container(in, out, why);
        *why = "only arrays of a kind have axes";
        return KVSPACE_ETYPE;
    case TYPE_WORD: return atom_with_body(in, filled, out, why);
    default: *why = "no value is of this type"; return KVSPACE_ETYPE;
    }
}

static int shape_of_type(const struct kvspace_value *in, bool filled, struct shape *out, const char **why) {
    uint64_t small[64]; /* enough for every type text of some 20 bytes: the usual ones */
    size_t capacity = typexpr_bound(out->type_bytes);
    void *buffer = capacity <= sizeof small ? small : malloc(capacity);
    if (!buffer) {
        *why = "no memory to parse the type";
        return KVSPACE_ENOMEM;
    }
    int rc = KVSPACE_ETYPE;
    *why = "the type does not parse";
    if (!typexpr_parse(out->type, out->type_bytes, buffer, capacity, NULL))
        rc = shape_of_parsed(in, buffer, filled, out, why);
    if (buffer != small) free(buffer);
    return rc;
}

/* A pointer's key and an external's locator: any type text, also none. */
static int shape_of_reference(const struct kvspace_value *in, bool filled, struct shape *out, const char **why) {
    if (in->ref > KVSPACE_EXTERNAL) {
        *why = "ref is none of inline, pointer, external";
        return KVSPACE_EVALUE;
    }
    if (!in->body_bytes || (!in->body && !filled)) {
        *why = in->ref == KVSPACE_POINTER ? "a pointer needs the key of its target" : "an external value needs a locator";
        return KVSPACE_EVALUE;
    }
    if (in->ref == KVSPACE_POINTER && in->body && !is_key(in->body, in->body_bytes)) {
        *why = "a pointer's target is not a key";
        return KVSPACE_EVALUE;
    }
    out->store = KVSPACE_ATOM;
    out->ndim = in->ndim;
    if (in->ndim > KVSPACE_NDIM_MAX || (in->ndim && !in->dims)) {
        *why = "axes without lengths";
        return KVSPACE_EVALUE;
    }
    if (in->ndim) memcpy(out->dims, in->dims, in->ndim * sizeof *in->dims);
    return 0;
}

int shape_of(const struct kvspace_value *in, bool filled, struct shape *out, const char **why) {
    *out = (struct shape){.is_none = 1};
    if (!in || (!in->kind && !in->type && !in->ref)) return 0;
    out->is_none = 0;
    out->ref = in->ref;
    out->kind = in->kind;
    out->ro = in->ro != 0;
    out->owner = in->owner;
    out->body = in->body;
    out->body_bytes = in->body_bytes;
    if (in->kind >= KIND_COUNT) {
        *why = "an unknown kind";
        return KVSPACE_ETYPE;
    }
    if (!in->ref && in->kind) return shape_of_kind(in, filled, out, why);
    out->type = in->type ? in->type : "";
    size_t type_bytes = in->type_bytes ? in->type_bytes : strlen(out->type);
    if (type_bytes > KVSPACE_TYPE_MAX) {
        *why = "the type is longer than 4096 bytes";
        return KVSPACE_ELIMIT;
    }
    out->type_bytes = (uint32_t)type_bytes;
    if (in->ref) return shape_of_reference(in, filled, out, why);
    if (plain_kind(out)) return shape_of_kind(in, filled, out, why);
    if (type_bytes == 0 || !utf8_is_valid(out->type, type_bytes) || memchr(out->type, 0, type_bytes)) {
        *why = "not a type";
        return KVSPACE_ETYPE;
    }
    if (in->store == KVSPACE_ATOM) return atom_with_body(in, filled, out, why);
    if (in->store == KVSPACE_EXTINDEX) return container(in, out, why);
    return shape_of_type(in, filled, out, why);
}

/* ---- public: heads for the way in ---- */

struct kvspace_value kvspace_value_scalar(enum kvspace_kind kind, const void *element) {
    struct kvspace_value value = {.kind = (uint8_t)kind, .store = KVSPACE_ATOM, .body = element};
    value.body_bytes = kind_size((unsigned)kind);
    value.type = kind_name((unsigned)kind);
    value.type_bytes = kind_row((unsigned)kind)->name_bytes;
    return value;
}

/* The number travels in `scalar`; a NULL body of a scalar means that. */
struct kvspace_value kvspace_value_i64(int64_t number) {
    struct kvspace_value value = kvspace_value_scalar(KVSPACE_INT64, NULL);
    value.scalar.i64 = number;
    return value;
}

struct kvspace_value kvspace_value_f64(double number) {
    struct kvspace_value value = kvspace_value_scalar(KVSPACE_FLOAT64, NULL);
    value.scalar.f64 = number;
    return value;
}

struct kvspace_value kvspace_value_bool(int truth) {
    struct kvspace_value value = kvspace_value_scalar(KVSPACE_BOOL, NULL);
    value.scalar.u64 = truth != 0;
    return value;
}

struct kvspace_value kvspace_value_array(enum kvspace_kind kind, unsigned ndim, const uint64_t *dims, const void *body) {
    struct kvspace_value value = {.kind = (uint8_t)kind, .store = KVSPACE_NDARRAY, .body = body, .dims = dims};
    value.ndim = (uint8_t)(ndim < 255 ? ndim : 255);
    value.type = kind_name((unsigned)kind);
    value.type_bytes = kind_row((unsigned)kind)->name_bytes;
    if (ndim && ndim <= KVSPACE_NDIM_MAX && !shape_bytes((unsigned)kind, ndim, dims, &value.body_bytes)) value.body_bytes = 0;
    return value;
}

struct kvspace_value kvspace_value_utf8(const char *text, size_t text_bytes) {
    struct kvspace_value value = kvspace_value_array(KVSPACE_CHAR_UTF8, 0, NULL, text_bytes ? text : "");
    value.ndim = 1;
    value.body_bytes = text_bytes;
    return value;
}

struct kvspace_value kvspace_value_word(const char *type, const void *body, size_t body_bytes) {
    struct kvspace_value value = {.store = KVSPACE_ATOM, .type = type, .body = body, .body_bytes = body_bytes};
    value.type_bytes = (uint32_t)strlen(type);
    return value;
}

struct kvspace_value kvspace_value_pointer(const char *target_key) {
    struct kvspace_value value = {.ref = KVSPACE_POINTER, .store = KVSPACE_ATOM, .type = "", .body = target_key};
    value.body_bytes = strlen(target_key);
    return value;
}

/* ---- public: copies, comparison, types ---- */

int kvspace_value_clone(const struct kvspace_value *value, struct kvspace_value **copy) {
    size_t dims_bytes = value->dims ? value->ndim * sizeof *value->dims : 0;
    size_t type_bytes = value->type ? (value->type_bytes ? value->type_bytes : strlen(value->type)) + 1 : 0;
    size_t front = (sizeof *value + dims_bytes + type_bytes + 63) / 64 * 64;
    if (value->body_bytes > SIZE_MAX / 2) return KVSPACE_ENOMEM;
    unsigned char *memory = aligned_alloc(64, (front + (size_t)value->body_bytes + 63) / 64 * 64);
    if (!memory) return KVSPACE_ENOMEM;
    struct kvspace_value *made = (void *)memory;
    *made = *value;
    if (value->dims) {
        made->dims = (void *)(made + 1);
        memcpy(made + 1, value->dims, dims_bytes);
    }
    if (value->type) {
        char *type = (char *)(made + 1) + dims_bytes;
        memcpy(type, value->type, type_bytes - 1);
        type[type_bytes - 1] = 0;
        made->type = type;
        made->type_bytes = (uint32_t)(type_bytes - 1);
    }
    bool scalar = value->kind && !value->ndim && !value->ref;
    if (scalar) {
        if (value->body && value->body != value->scalar.bytes) memcpy(made->scalar.bytes, value->body, kind_size(value->kind));
        made->body = made->scalar.bytes;
    } else if (value->body) {
        memcpy(memory + front, value->body, (size_t)value->body_bytes);
        made->body = memory + front;
    }
    *copy = made;
    return 0;
}

void kvspace_value_free(struct kvspace_value *copy) { free(copy); }

int kvspace_value_equal(const struct kvspace_value *left, const struct kvspace_value *right) {
    struct shape one, two;
    const char *why;
    if (shape_of(left, left && !left->body, &one, &why) || shape_of(right, right && !right->body, &two, &why)) return 0;
    if (one.is_none || two.is_none || !left || !right) return one.is_none == two.is_none;
    if (one.ref != two.ref || one.store != two.store || one.kind != two.kind || one.ndim != two.ndim) return 0;
    if (one.body_bytes != two.body_bytes || one.type_bytes != two.type_bytes) return 0;
    if (memcmp(one.dims, two.dims, one.ndim * sizeof *one.dims) != 0) return 0;
    if (one.type_bytes && memcmp(one.type, two.type, one.type_bytes) != 0) return 0;
    const void *a = one.body ? one.body : left->scalar.bytes, *b = two.body ? two.body : right->scalar.bytes;
    return one.body_bytes == 0 || memcmp(a, b, (size_t)one.body_bytes) == 0;
}

static size_t put_text(const char *text, size_t bytes, char *out, size_t capacity, size_t at) {
    for (size_t i = 0; i < bytes; i++)
        if (at + i + 1 < capacity) out[at + i] = text[i];
    return at + bytes;
}

size_t kvspace_type_of(const struct kvspace_value *value, char *out, size_t capacity) {
    size_t at = 0;
    const char *type = value->type ? value->type : kind_name(value->kind);
    size_t type_bytes = value->type && value->type_bytes ? value->type_bytes : strlen(type);
    if (!value->kind && !value->type && !value->ref) at = put_text("None", 4, out, capacity, at);
    else if (value->ref == KVSPACE_INLINE && value->ndim && value->kind && value->ndim <= KVSPACE_NDIM_MAX && value->dims) {
        struct typexpr_actual actual = {.class = TYPE_KIND, .kind = value->kind, .ndim = value->ndim};
        char text[KVSPACE_NDIM_MAX * 21 + 32];
        memcpy(actual.dims, value->dims, value->ndim * sizeof *value->dims);
        if (value->ndim == 1 && kind_is_char(value->kind)) actual.dims[0] = AXIS_ANY;
        size_t bytes = typexpr_print_actual(&actual, text, sizeof text);
        if (value->ndim == 1 && kind_is_char(value->kind)) {
            at = put_text("[]", 2, out, capacity, at);
            at = put_text(kind_name(value->kind), strlen(kind_name(value->kind)), out, capacity, at);
        } else at = put_text(text, bytes, out, capacity, at);
    } else {
        if (value->ref == KVSPACE_POINTER) at = put_text("*", 1, out, capacity, at);
        if (value->ref == KVSPACE_EXTERNAL) at = put_text("@", 1, out, capacity, at);
        if (value->ref && type_bytes == 0) at = put_text("any", 3, out, capacity, at);
        at = put_text(type, type_bytes, out, capacity, at);
    }
    if (capacity) out[at < capacity ? at : capacity - 1] = 0;
    return at;
}
