/* Compact arrays: making, reading, writing and lengthening them.
 * Relies on array.h, value.h, types.h. Promises: see array.h; sizes are checked for overflow before memory is asked for. */
#include "core/array.h"

#include "core/map.h"
#include "core/types.h"
#include "core/value.h"

uint64_t array_count(const struct block *block) {
    uint64_t count = 1;
    for (unsigned i = 0; i < block->ndim; i++) count *= block->dims[i];
    return count;
}

static int shape_bytes(struct heap *heap, unsigned kind, unsigned ndim, const uint64_t *dims, uint64_t *bytes) {
    uint64_t total = kind_size(kind);
    if (ndim > BLOCK_NDIM_MAX) return fault(heap, ERROR_VALUE, "an array has at most %d axes, not %u", BLOCK_NDIM_MAX, ndim);
    bool empty = false;
    for (unsigned i = 0; i < ndim; i++) empty = empty || dims[i] == 0;
    for (unsigned i = 0; i < ndim && !empty; i++) {
        if (dims[i] > INT64_MAX / total) return fault(heap, ERROR_VALUE, "an array of that shape has too many elements");
        total *= dims[i];
    }
    *bytes = empty ? 0 : total;
    return 0;
}

static int array_raw(struct heap *heap, unsigned kind, unsigned ndim, const uint64_t *dims, uint64_t capacity, struct cell *out) {
    uint64_t bytes = 0;
    struct block *block;
    int rc = shape_bytes(heap, kind, ndim, dims, &bytes);
    if (!rc) rc = block_new(heap, ndim, bytes, capacity, &block);
    if (rc) return rc;
    memcpy(block->dims, dims, 8u * ndim);
    *out = cell_of_block(heap, TAG_ARRAY + kind, block);
    return 0;
}

int array_new(struct heap *heap, unsigned kind, unsigned ndim, const uint64_t *dims, struct cell *out) {
    int rc = array_raw(heap, kind, ndim, dims, 0, out);
    if (!rc) memset(block_body(cell_block(heap, out)), 0, cell_block(heap, out)->body_bytes);
    return rc;
}

int array_from(struct heap *heap, unsigned kind, unsigned ndim, const uint64_t *dims, const void *body, struct cell *out) {
    int rc = array_raw(heap, kind, ndim, dims, 0, out);
    if (!rc && cell_block(heap, out)->body_bytes) memcpy(block_body(cell_block(heap, out)), body, cell_block(heap, out)->body_bytes);
    return rc;
}

/* ---- indexing ---- */

static int index_of(struct heap *heap, const struct cell *index, uint64_t length, unsigned axis, unsigned axes, uint64_t *at) {
    unsigned kind = cell_is_scalar(index) ? cell_kind(index) : 0;
    if (!kind_is_integer(kind)) {
        char type[96];
        type_show(heap, index, type, sizeof type);
        return fault(heap, ERROR_TYPE, "an index is an integer, not %s", type);
    }
    int64_t value = cell_as_int64(index);
    bool huge = kind == KIND_UINT64 && value < 0;
    uint64_t place = !huge && value < 0 ? length + (uint64_t)value : (uint64_t)value;
    if (place < length) {
        *at = place;
        return 0;
    }
    char text[24];
    value_picture(heap, index, text, sizeof text);
    if (axes == 1)
        return fault(heap, ERROR_INDEX, "index %s is out of range for an array of length %llu", text, (unsigned long long)length);
    return fault(heap, ERROR_INDEX, "index %s is out of range for axis %u of length %llu", text, axis, (unsigned long long)length);
}

/* Position (in elements) and number of elements that the indices select. */
static int locate(struct heap *heap, const struct cell *array, const struct cell *const *indices, unsigned count,
                  uint64_t *position, uint64_t *elements) {
    const struct block *block = cell_block(heap, array);
    if (count > block->ndim || count == 0)
        return fault(heap, ERROR_INDEX, "%u indices for an array of %u %s", count, block->ndim, block->ndim == 1 ? "axis" : "axes");
    uint64_t at = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t place = 0;
        int rc = index_of(heap, indices[i], block->dims[i], i, block->ndim, &place);
        if (rc) return rc;
        at = at * block->dims[i] + place;
    }
    uint64_t inner = 1;
    for (unsigned i = count; i < block->ndim; i++) inner *= block->dims[i];
    *position = at * inner;
    *elements = inner;
    return 0;
}

int array_get(struct heap *heap, const struct cell *array, const struct cell *const *indices, unsigned count,
              struct cell *out) {
    uint64_t position, elements;
    int rc = locate(heap, array, indices, count, &position, &elements);
    if (rc) return rc;
    const struct block *block = cell_block(heap, array);
    unsigned kind = cell_kind(array);
    const unsigned char *from = (const unsigned char *)block_body(block) + position * kind_size(kind);
    if (count == block->ndim) {
        *out = cell_scalar(kind, scalar_load(kind, from));
        return 0;
    }
    return array_from(heap, kind, block->ndim - count, block->dims + count, from, out);
}

/* A scalar as an element of that kind; literals convert if they fit. */
static int element_of(struct heap *heap, const struct cell *value, unsigned kind, bool literal, struct cell *out) {
    if (cell_tag(value) == kind) {
        *out = (struct cell){ kind, value->payload };
        return 0;
    }
    if (literal && literal_fits(value, kind, out)) return 0;
    char type[96], text[64];
    type_show(heap, value, type, sizeof type);
    value_picture(heap, value, text, sizeof text);
    if (literal && cell_is_scalar(value) && kind_is_number(cell_kind(value)) && kind_is_number(kind))
        return fault(heap, ERROR_TYPE, "%s does not fit an element of kind %s", text, kind_name(kind));
    return fault(heap, ERROR_TYPE, "an element of this array is %s, not %s", kind_name(kind), type);
}

int array_set(struct heap *heap, const struct cell *array, const struct cell *const *indices, unsigned count,
              const struct cell *value, bool literal, struct cell *out) {
    uint64_t position, elements;
    int rc = locate(heap, array, indices, count, &position, &elements);
    if (rc) return rc;
    const struct block *shape = cell_block(heap, array);
    unsigned kind = cell_kind(array);
    struct cell element = cell_none();
    const struct block *row = NULL;
    if (count == shape->ndim) {
        rc = element_of(heap, value, kind, literal, &element);
        if (rc) return rc;
    } else {
        row = cell_is_array(value) && !(value->head & CELL_INLINE) ? cell_block(heap, value) : NULL;
        if (!row || cell_kind(value) != kind || row->ndim != shape->ndim - count ||
            memcmp(row->dims, shape->dims + count, 8u * row->ndim) != 0) {
            char type[96], own[96];
            type_show(heap, value, type, sizeof type);
            type_show(heap, array, own, sizeof own);
            return fault(heap, ERROR_TYPE, "%s is no part of %s", type, own);
        }
    }
    struct cell made = { array->head & CELL_VALUE_BITS, array->payload };
    if (!cell_is_sole(heap, array)) rc = value_duplicate(heap, array, &made);
    if (rc) return rc;
    unsigned char *to = (unsigned char *)block_body(cell_block(heap, &made)) + position * kind_size(kind);
    if (row) memcpy(to, block_body(row), elements * kind_size(kind));
    else scalar_store(kind, to, element.payload);
    *out = made;
    return 0;
}

/* ---- lengthening ---- */

static int one_axis(struct heap *heap, const struct cell *array, const char *what) {
    if (cell_is_array(array) && !cell_is_text(array) && cell_block(heap, array)->ndim == 1) return 0;
    char type[96];
    type_show(heap, array, type, sizeof type);
    return fault(heap, ERROR_TYPE, "%s wants an array of one axis, not %s", what, type);
}

static int extend(struct heap *heap, const struct cell *array, const void *bytes, uint64_t count, bool reuse, struct cell *out) {
    struct block *block = cell_block(heap, array);
    unsigned kind = cell_kind(array);
    uint64_t more = count * kind_size(kind), old = block->body_bytes;
    if (reuse && old + more <= block_extra(block)->capacity) {
        memcpy((unsigned char *)block_body(block) + old, bytes, more);
        block->body_bytes = old + more;
        block->dims[0] += count;
        *out = (struct cell){ array->head & CELL_VALUE_BITS, array->payload };
        return 0;
    }
    struct block *larger;
    int rc = block_new(heap, 1, old + more, reuse ? (old + more) * 2 : old + more, &larger);
    if (rc) return rc;
    memcpy(block_body(larger), block_body(block), old);
    if (more) memcpy((unsigned char *)block_body(larger) + old, bytes, more);
    larger->dims[0] = block->dims[0] + count;
    *out = cell_of_block(heap, TAG_ARRAY + kind, larger);
    return 0;
}

int array_append(struct heap *heap, const struct cell *array, const struct cell *value, bool literal, bool reuse,
                 struct cell *out) {
    int rc = one_axis(heap, array, "array·append");
    struct cell element;
    if (!rc) rc = element_of(heap, value, cell_kind(array), literal, &element);
    if (rc) return rc;
    unsigned char bytes[8];
    scalar_store(cell_kind(array), bytes, element.payload);
    return extend(heap, array, bytes, 1, reuse, out);
}

int array_concat(struct heap *heap, const struct cell *left, const struct cell *right, bool reuse, struct cell *out) {
    int rc = one_axis(heap, left, "array·concat");
    if (!rc) rc = one_axis(heap, right, "array·concat");
    if (rc) return rc;
    if (cell_kind(left) != cell_kind(right))
        return fault(heap, ERROR_TYPE, "array·concat wants arrays of one kind, not %s and %s", kind_name(cell_kind(left)),
                     kind_name(cell_kind(right)));
    const struct block *more = cell_block(heap, right);
    return extend(heap, left, block_body(more), more->dims[0], reuse && left->payload != right->payload, out);
}

void array_truncate(const struct heap *heap, struct cell *array, uint64_t count) {
    if (!(array->head & CELL_BLOCK)) return;
    struct block *block = cell_block(heap, array);
    if (block->ndim != 1 || block->dims[0] <= count) return;
    block->dims[0] = count;
    block->body_bytes = count * kind_size(cell_kind(array));
    block_extra(block)->hash = 0;
}

/* ---- ranges ---- */

int range_new(struct heap *heap, int64_t first, int64_t step, uint64_t count, struct cell *out) {
    struct block *block;
    int rc = block_new(heap, 1, sizeof(struct range_body), 0, &block);
    if (rc) return rc;
    block->dims[0] = count;
    *(struct range_body *)block_body(block) = (struct range_body){ first, step };
    *out = cell_of_block(heap, TAG_RANGE, block);
    return 0;
}

int range_expand(struct heap *heap, const struct cell *range, struct cell *out) {
    uint64_t count = range_count(heap, range);
    int rc = array_new(heap, KIND_INT64, 1, &count, out);
    if (rc) return rc;
    int64_t *to = block_body(cell_block(heap, out));
    for (uint64_t i = 0; i < count; i++) to[i] = range_at(heap, range, i);
    return 0;
}

/* ---- literals ---- */

/* The kind that two kinds in one array literal share, 0 if there is none. */
static unsigned common_kind(unsigned left, unsigned right) {
    if (left == right) return left;
    if (!kind_row(left)->has_arithmetic || !kind_row(right)->has_arithmetic) return 0;
    if (kind_is_float(left) || kind_is_float(right))
        return left == KIND_FLOAT32 && right == KIND_FLOAT32 ? KIND_FLOAT32 : KIND_FLOAT64;
    size_t width = kind_size(left) > kind_size(right) ? kind_size(left) : kind_size(right);
    bool is_signed = kind_row(left)->is_signed || kind_row(right)->is_signed;
    unsigned first = is_signed ? KIND_INT8 : KIND_UINT8;
    return first + (width > 4 ? 3 : width > 2 ? 2 : width > 1 ? 1 : 0);
}

static int no_common(struct heap *heap, const struct cell *left, const struct cell *right) {
    char a[96], b[96];
    type_show(heap, left, a, sizeof a);
    type_show(heap, right, b, sizeof b);
    return fault(heap, ERROR_TYPE, "an array has elements of one kind, not %s and %s: a map {…} takes both", a, b);
}

static int list_kind(struct heap *heap, const struct cell *const *values, unsigned count, unsigned *kind) {
    *kind = cell_kind(values[0]);
    for (unsigned i = 0; i < count; i++) {
        bool plain = cell_is_scalar(values[i]) || (cell_is_array(values[i]) && !cell_is_text(values[i]));
        if (!plain || cell_is_array(values[i]) != cell_is_array(values[0])) {
            if (!plain && cell_is_text(values[i]))
                return fault(heap, ERROR_TYPE, "strings do not fit in a compact array: use a map {…}");
            return no_common(heap, values[0], values[i]);
        }
        *kind = common_kind(*kind, cell_kind(values[i]));
        if (!*kind) return no_common(heap, values[0], values[i]);
    }
    return 0;
}

/* Copies scalars or whole arrays into elements of `kind`. */
static int store_converted(struct heap *heap, const struct cell *value, unsigned kind, unsigned char *to, uint64_t *elements) {
    unsigned from = cell_kind(value);
    const unsigned char *source;
    unsigned char one[8];
    uint64_t count = 1;
    if (cell_is_array(value)) {
        const struct block *block = cell_block(heap, value);
        source = block_body(block);
        count = array_count(block);
    } else {
        scalar_store(from, one, value->payload);
        source = one;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct cell element = cell_scalar(from, scalar_load(from, source + i * kind_size(from)));
        struct cell converted = element;
        if (from != kind) {
            int rc = value_convert(heap, kind, &element, &converted);
            if (rc) return rc;
        }
        scalar_store(kind, to + i * kind_size(kind), converted.payload);
    }
    *elements = count;
    return 0;
}

int array_list(struct heap *heap, const struct cell *const *values, unsigned count, struct cell *out) {
    if (count == 0) return fault(heap, ERROR_TYPE, "[] needs a type: write a:[]int64 = []");
    unsigned kind;
    int rc = list_kind(heap, values, count, &kind);
    if (rc) return rc;
    uint64_t dims[BLOCK_NDIM_MAX] = { count };
    unsigned ndim = 1;
    if (cell_is_array(values[0])) {
        const struct block *row = cell_block(heap, values[0]);
        ndim += row->ndim;
        if (ndim > BLOCK_NDIM_MAX) return fault(heap, ERROR_VALUE, "an array has at most %d axes", BLOCK_NDIM_MAX);
        memcpy(dims + 1, row->dims, 8u * row->ndim);
        for (unsigned i = 1; i < count; i++) {
            const struct block *other = cell_block(heap, values[i]);
            if (other->ndim != row->ndim || memcmp(other->dims, row->dims, 8u * row->ndim) != 0)
                return fault(heap, ERROR_TYPE, "the rows of an array have one shape: row %u differs from row 0", i);
        }
    }
    rc = array_new(heap, kind, ndim, dims, out);
    if (rc) return rc;
    unsigned char *to = block_body(cell_block(heap, out));
    for (unsigned i = 0; i < count && !rc; i++) {
        uint64_t elements = 0;
        rc = store_converted(heap, values[i], kind, to, &elements);
        to += elements * kind_size(kind);
    }
    if (rc) cell_drop(heap, *out);
    return rc;
}

/* The shape that a declared type asks for; axes of any length are taken from the values. */
static int declared_shape(struct heap *heap, const struct type_info *info, const struct cell *values, unsigned *kind,
                          unsigned *ndim, uint64_t *dims) {
    const struct typexpr_atom *atom = typexpr_first(info->form);
    if (info->form->atom_count != 1 || atom->class != TYPE_KIND || !atom->axis_count)
        return fault(heap, ERROR_TYPE, "%s is no array type", info->text);
    const uint64_t *axes = typexpr_axes(atom);
    const struct block *shape = values ? cell_block(heap, values) : NULL;
    *kind = atom->kind;
    *ndim = shape ? shape->ndim : 0;
    if (shape) {
        memcpy(dims, shape->dims, 8u * shape->ndim);
        return 0;
    }
    for (unsigned i = 0; i < atom->axis_count; i++) {
        if (axes[i] == AXIS_OPTIONAL || axes[i] == AXIS_STAR) continue;
        dims[(*ndim)++] = axes[i] < AXIS_LEAST ? axes[i] : 0;
    }
    if (*ndim == 0) dims[(*ndim)++] = 0;
    return 0;
}

static int array_filled(struct heap *heap, const struct type_info *info, const struct cell *value, bool literal, struct cell *out) {
    unsigned kind, ndim;
    uint64_t dims[BLOCK_NDIM_MAX];
    struct cell element;
    int rc = declared_shape(heap, info, NULL, &kind, &ndim, dims);
    if (!rc) rc = element_of(heap, value, kind, literal, &element);
    if (!rc) rc = array_new(heap, kind, ndim, dims, out);
    if (rc) return rc;
    unsigned char *to = block_body(cell_block(heap, out));
    uint64_t count = array_count(cell_block(heap, out));
    for (uint64_t i = 0; i < count; i++) scalar_store(kind, to + i * kind_size(kind), element.payload);
    return 0;
}

int array_typed(struct heap *heap, const char *type, size_t type_bytes, const struct cell *const *values, unsigned count,
                uint64_t literals, bool fill, struct cell *out) {
    const struct type_info *info;
    int rc = type_of_text(heap, type, type_bytes, &info);
    if (rc) return rc;
    if (fill) return array_filled(heap, info, values[0], literals & 1, out);
    if (count == 0) {
        unsigned kind, ndim;
        uint64_t dims[BLOCK_NDIM_MAX];
        rc = declared_shape(heap, info, NULL, &kind, &ndim, dims);
        return rc ? rc : array_new(heap, kind, ndim, dims, out);
    }
    /* One kind already: elements that are no literals must have it. Each literal converts by itself. */
    const struct typexpr_atom *atom = typexpr_first(info->form);
    struct cell list;
    if (info->form->atom_count == 1 && atom->class == TYPE_KIND && cell_is_scalar(values[0])) {
        uint64_t dims[1] = { count };
        rc = array_new(heap, atom->kind, 1, dims, &list);
        if (rc) return rc;
        unsigned char *to = block_body(cell_block(heap, &list));
        for (unsigned i = 0; i < count && !rc; i++) {
            struct cell element;
            rc = element_of(heap, values[i], atom->kind, literals >> (i < 63 ? i : 63) & 1, &element);
            if (!rc) scalar_store(atom->kind, to + i * kind_size(atom->kind), element.payload);
        }
        if (rc) {
            cell_drop(heap, list);
            return rc;
        }
    } else {
        rc = array_list(heap, values, count, &list);
        if (rc) return rc;
    }
    rc = type_fit(heap, info->form, &list, literals != 0, out);
    cell_drop(heap, list);
    return rc;
}
