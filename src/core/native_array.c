/* Natives on compact arrays: array·, ndarray·, and xv· (any value as its type and bytes).
 * Relies on array.h, map.h, types.h. Promises: the argument stays as it is; sorting is stable in result and O(n log n). */
#include <math.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/map.h"
#include "core/native.h"
#include "core/types.h"

static const struct block *array_block(struct core_call *call, uint32_t i) { return cell_block(call->heap, call->args[i]); }

static int one_axis(struct core_call *call, uint32_t i) {
    const struct cell *array;
    int rc = native_array(call, i, &array);
    if (!rc && array_block(call, i)->ndim != 1) return native_mismatch(call, i, "an array of one axis");
    return rc;
}

/* A scalar as an element of the array that argument 0 is. */
static int element(struct core_call *call, uint32_t i, struct cell *out) {
    unsigned kind = cell_kind(call->args[0]);
    uint64_t bits;
    int rc = native_scalar(call, i, kind, &bits);
    if (!rc) *out = cell_scalar(kind, bits);
    return rc;
}

static struct cell element_at(unsigned kind, const void *body, uint64_t i) {
    return cell_scalar(kind, scalar_load(kind, (const unsigned char *)body + i * kind_size(kind)));
}

int native_array_fill(struct core_call *call) {
    const struct cell *array;
    struct cell value, made;
    int rc = native_array(call, 0, &array);
    if (!rc) rc = element(call, 1, &value);
    if (!rc) rc = array_new(call->heap, cell_kind(array), array_block(call, 0)->ndim, array_block(call, 0)->dims, &made);
    if (rc) return rc;
    struct block *block = cell_block(call->heap, &made);
    uint64_t count = array_count(block);
    unsigned kind = cell_kind(array);
    unsigned char *to = block_body(block);
    for (uint64_t i = 0; i < count; i++) scalar_store(kind, to + i * kind_size(kind), value.payload);
    return native_give(call, made);
}

int native_array_append(struct core_call *call) {
    const struct cell *array;
    int rc = native_array(call, 0, &array);
    return rc ? rc : array_append(call->heap, array, call->args[1], native_literal(call, 1), call->reuse, &call->results[0]);
}

int native_array_concat(struct core_call *call) {
    const struct cell *array;
    int rc = native_array(call, 0, &array);
    if (!rc) rc = native_array(call, 1, &array);
    return rc ? rc : array_concat(call->heap, call->args[0], call->args[1], call->reuse, &call->results[0]);
}

static uint64_t bound(int64_t at, uint64_t count) {
    if (at < 0) return (uint64_t)-(at + 1) >= count ? 0 : count - (0 - (uint64_t)at);
    return (uint64_t)at > count ? count : (uint64_t)at;
}

/* Along the first axis: rows of a matrix. */
int native_array_slice(struct core_call *call) {
    const struct cell *array;
    int64_t from, to = INT64_MAX;
    int rc = native_array(call, 0, &array);
    if (!rc) rc = native_int64(call, 1, &from);
    if (!rc && call->arg_count > 2) rc = native_int64(call, 2, &to);
    if (rc) return rc;
    const struct block *block = array_block(call, 0);
    uint64_t first = bound(from, block->dims[0]), end = bound(to, block->dims[0]), dims[BLOCK_NDIM_MAX];
    if (end < first) end = first;
    memcpy(dims, block->dims, 8u * block->ndim);
    dims[0] = end - first;
    uint64_t row = block->dims[0] ? block->body_bytes / block->dims[0] : 0;
    return array_from(call->heap, cell_kind(array), block->ndim, dims, (const char *)block_body(block) + first * row, &call->results[0]);
}

/* Ascending, a NaN behind all numbers. One comparison function a kind class, because qsort takes no context in C17. */
static int order_signed(const void *a, const void *b) {
    int64_t x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return x < y ? -1 : x > y;
}
static int order_unsigned(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return x < y ? -1 : x > y;
}
static int order_float(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
    return x < y ? -1 : x > y;
}

static double float_at(unsigned kind, const void *body, uint64_t i) {
    struct cell cell = element_at(kind, body, i);
    return number_as_float64(&cell);
}

int native_array_sort(struct core_call *call) {
    int rc = one_axis(call, 0);
    if (rc) return rc;
    const struct block *from = array_block(call, 0);
    unsigned kind = cell_kind(call->args[0]);
    uint64_t count = from->dims[0];
    const void *body = block_body(from);
    /* Widened to 8 bytes, sorted, narrowed again: exact for every kind. */
    uint64_t *wide = malloc(count ? count * 8 : 8);
    if (!wide) return fault(call->heap, ERROR_OUT_OF_MEMORY, "no room to sort %llu elements", (unsigned long long)count);
    bool is_float = kind_is_float(kind);
    for (uint64_t i = 0; i < count; i++) {
        wide[i] = element_at(kind, body, i).payload;
        if (is_float && kind != KIND_FLOAT64) {
            double value = float_at(kind, body, i);
            memcpy(&wide[i], &value, 8);
        }
    }
    qsort(wide, count, 8, is_float ? order_float : kind_row(kind)->is_signed ? order_signed : order_unsigned);
    struct cell made;
    rc = array_new(call->heap, kind, 1, from->dims, &made);
    if (!rc) {
        unsigned char *to = block_body(cell_block(call->heap, &made));
        for (uint64_t i = 0; i < count; i++) {
            struct cell value = cell_scalar(kind, wide[i]);
            if (is_float && kind != KIND_FLOAT64) {
                struct cell full = cell_scalar(KIND_FLOAT64, wide[i]);
                value_convert(call->heap, kind, &full, &value);
            }
            scalar_store(kind, to + i * kind_size(kind), value.payload);
        }
        call->results[0] = made;
    }
    free(wide);
    return rc;
}

int native_array_reverse(struct core_call *call) {
    const struct cell *array;
    int rc = native_array(call, 0, &array);
    if (rc) return rc;
    const struct block *from = array_block(call, 0);
    rc = array_new(call->heap, cell_kind(array), from->ndim, from->dims, &call->results[0]);
    if (rc) return rc;
    uint64_t rows = from->dims[0], row = rows ? from->body_bytes / rows : 0;
    const char *source = block_body(from);
    char *target = block_body(cell_block(call->heap, &call->results[0]));
    for (uint64_t i = 0; i < rows; i++) memcpy(target + i * row, source + (rows - 1 - i) * row, row);
    return 0;
}

/* The flat index of the first equal element; numbers compare by value. */
static int search(struct core_call *call, int64_t *found) {
    const struct cell *array, *wanted = call->args[1];
    int rc = native_array(call, 0, &array);
    if (rc) return rc;
    unsigned kind = cell_kind(array);
    bool comparable = cell_is_scalar(wanted) && (kind_is_number(kind) ? kind_is_number(cell_kind(wanted)) : cell_kind(wanted) == kind);
    if (!comparable) return native_mismatch(call, 1, kind_name(kind));
    uint64_t count = array_count(array_block(call, 0));
    const void *body = block_body(array_block(call, 0));
    *found = -1;
    for (uint64_t i = 0; i < count; i++) {
        struct cell item = element_at(kind, body, i);
        if (kind_is_number(kind) ? number_order(&item, wanted) != 0 : item.payload != wanted->payload) continue;
        *found = (int64_t)i;
        break;
    }
    return 0;
}

int native_array_find(struct core_call *call) {
    int64_t found = -1;
    int rc = search(call, &found);
    return rc ? rc : native_give(call, cell_int64(found));
}

int native_array_contains(struct core_call *call) {
    int64_t found = -1;
    int rc = search(call, &found);
    return rc ? rc : native_give(call, cell_bool(found >= 0));
}

/* Integers add up in 64 bits, wrapping; floats in float64, given as the array's kind. */
int native_array_sum(struct core_call *call) {
    const struct cell *array;
    int rc = native_array(call, 0, &array);
    if (rc) return rc;
    unsigned kind = cell_kind(array);
    uint64_t count = array_count(array_block(call, 0));
    const void *body = block_body(array_block(call, 0));
    if (kind_is_float(kind)) {
        double sum = 0;
        for (uint64_t i = 0; i < count; i++) sum += float_at(kind, body, i);
        struct cell total = cell_float64(sum);
        return value_convert(call->heap, kind, &total, &call->results[0]);
    }
    if (!kind_is_integer(kind) && kind != KIND_DURATION) return native_mismatch(call, 0, "an array of numbers");
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += element_at(kind, body, i).payload;
    if (kind == KIND_DURATION) return native_give(call, cell_scalar(KIND_DURATION, sum));
    return native_give(call, kind_row(kind)->is_signed ? cell_int64((int64_t)sum) : cell_uint64(sum));
}

/* b = a with b[indices[i]] = values[i]. */
int native_array_scatter(struct core_call *call) {
    int rc = one_axis(call, 0);
    if (!rc) rc = one_axis(call, 1);
    if (!rc) rc = one_axis(call, 2);
    if (rc) return rc;
    unsigned kind = cell_kind(call->args[0]), index_kind = cell_kind(call->args[1]);
    if (!kind_is_integer(index_kind)) return native_mismatch(call, 1, "an array of integers");
    struct cell values;
    const struct type_info *info;
    rc = type_of_text(call->heap, kind_name(kind), strlen(kind_name(kind)), &info);
    if (rc) return rc;
    if (cell_kind(call->args[2]) != kind) {
        if (!native_literal(call, 2)) return native_mismatch(call, 2, NULL);
        rc = value_convert(call->heap, kind, call->args[2], &values);
        if (rc) return rc;
    } else {
        values = cell_copy(call->heap, call->args[2]);
    }
    uint64_t count = array_block(call, 1)->dims[0], length = array_block(call, 0)->dims[0];
    if (cell_block(call->heap, &values)->dims[0] != count) rc = fault(call->heap, ERROR_VALUE, "array·scatter: %llu indices for %llu values", (unsigned long long)count, (unsigned long long)cell_block(call->heap, &values)->dims[0]);
    struct cell made = cell_none();
    if (!rc) rc = array_from(call->heap, kind, 1, array_block(call, 0)->dims, block_body(array_block(call, 0)), &made);
    for (uint64_t i = 0; i < count && !rc; i++) {
        struct cell index = element_at(index_kind, block_body(array_block(call, 1)), i);
        uint64_t at = index.payload;
        if (kind_row(index_kind)->is_signed && cell_as_int64(&index) < 0) at += length;
        if (at >= length) {
            rc = fault(call->heap, ERROR_INDEX, "index %lld is out of range for an array of length %llu", (long long)cell_as_int64(&index), (unsigned long long)length);
            break;
        }
        struct cell value = element_at(kind, block_body(cell_block(call->heap, &values)), i);
        scalar_store(kind, (unsigned char *)block_body(cell_block(call->heap, &made)) + at * kind_size(kind), value.payload);
    }
    cell_drop(call->heap, values);
    if (rc) cell_drop(call->heap, made);
    return rc ? rc : native_give(call, made);
}

/* The values of a map as one compact array, when they have a common kind. */
int native_array_compact(struct core_call *call) {
    const struct cell *map, *key, *value;
    int rc = native_map(call, 0, &map);
    if (rc) return rc;
    uint32_t count = map_length(call->heap, map), at = 0;
    const struct cell **values = malloc((count ? count : 1) * sizeof *values);
    if (!values) return fault(call->heap, ERROR_OUT_OF_MEMORY, "no room for %u values", count);
    uint64_t position = 0;
    while (map_next(call->heap, map, &position, &key, &value)) values[at++] = value;
    if (count) {
        rc = array_list(call->heap, values, count, &call->results[0]);
    } else {
        const struct type_info *info = NULL;
        uint64_t none = 0;
        if (cell_block(call->heap, map)->type) rc = type_of_id(call->heap, cell_block(call->heap, map)->type, &info);
        if (!rc) rc = array_new(call->heap, info && info->value_kind ? info->value_kind : KIND_INT64, 1, &none, &call->results[0]);
    }
    free(values);
    return rc;
}

/* ---- ndarray· ---- */

/* A scalar has no axes and one element; a string is an array of its units. */
int native_ndarray_numel(struct core_call *call) {
    const struct cell *cell = call->args[0];
    if (cell_is_text(cell)) return native_give(call, cell_int64((int64_t)text_length(call->heap, cell)));
    if (cell_is_scalar(cell)) return native_give(call, cell_int64(1));
    if (cell_tag(cell) == TAG_MAP || cell_tag(cell) == TAG_STRUCT) return native_give(call, cell_int64(map_length(call->heap, cell)));
    const struct cell *array;
    int rc = native_array(call, 0, &array);
    return rc ? rc : native_give(call, cell_int64((int64_t)array_count(array_block(call, 0))));
}

int native_ndarray_dim(struct core_call *call) {
    const struct cell *cell = call->args[0];
    if (cell_is_text(cell)) return native_give(call, cell_int64(1));
    if (cell_is_scalar(cell)) return native_give(call, cell_int64(0));
    const struct cell *array;
    int rc = native_array(call, 0, &array);
    return rc ? rc : native_give(call, cell_int64(array_block(call, 0)->ndim));
}

int native_ndarray_shape(struct core_call *call) {
    const struct cell *cell = call->args[0];
    uint64_t dims[BLOCK_NDIM_MAX] = { 0 }, ndim = 1;
    if (cell_is_text(cell)) {
        dims[0] = text_length(call->heap, cell);
    } else if (cell_is_scalar(cell)) {
        ndim = 0;
    } else {
        const struct cell *array;
        int rc = native_array(call, 0, &array);
        if (rc) return rc;
        ndim = array_block(call, 0)->ndim;
        memcpy(dims, array_block(call, 0)->dims, 8 * ndim);
    }
    return array_from(call->heap, KIND_INT64, 1, &ndim, dims, &call->results[0]);
}

/* ---- xv· ---- */

int native_xv_langtype(struct core_call *call) {
    char text[TYPEXPR_TEXT_MAX];
    size_t bytes = type_print(call->heap, call->args[0], text, sizeof text);
    return text_from_utf8(call->heap, text, bytes < sizeof text ? bytes : sizeof text - 1, &call->results[0]);
}

int native_xv_bodylen(struct core_call *call) {
    const struct cell *cell = call->args[0];
    uint64_t bytes = 0;
    if (cell_is_scalar(cell)) {
        bytes = kind_size(cell_kind(cell));
    } else if (cell_is_text(cell)) {
        (void)text_units(call->heap, cell, &bytes);
        bytes *= kind_size(cell_kind(cell));
    } else if (cell_is_array(cell)) {
        bytes = array_block(call, 0)->body_bytes;
    }
    return native_give(call, cell_int64((int64_t)bytes));
}

static int flat_index(struct core_call *call, uint64_t *at) {
    int64_t index;
    const struct cell *array;
    int rc = native_array(call, 0, &array);
    if (!rc) rc = native_int64(call, 1, &index);
    if (rc) return rc;
    uint64_t count = array_count(array_block(call, 0));
    *at = index < 0 ? count + (uint64_t)index : (uint64_t)index;
    if (*at >= count) return fault(call->heap, ERROR_INDEX, "index %lld is out of range for %llu elements", (long long)index, (unsigned long long)count);
    return 0;
}

int native_xv_at(struct core_call *call) {
    uint64_t at;
    int rc = flat_index(call, &at);
    return rc ? rc : native_give(call, element_at(cell_kind(call->args[0]), block_body(array_block(call, 0)), at));
}

int native_xv_set(struct core_call *call) {
    uint64_t at;
    struct cell value, made;
    int rc = flat_index(call, &at);
    if (!rc) rc = element(call, 2, &value);
    if (rc) return rc;
    const struct block *block = array_block(call, 0);
    unsigned kind = cell_kind(call->args[0]);
    if (call->reuse) made = (struct cell){ call->args[0]->head & CELL_VALUE_BITS, call->args[0]->payload };
    else rc = array_from(call->heap, kind, block->ndim, block->dims, block_body(block), &made);
    if (rc) return rc;
    scalar_store(kind, (unsigned char *)block_body(cell_block(call->heap, &made)) + at * kind_size(kind), value.payload);
    return native_give(call, made);
}

int native_xv_reshape(struct core_call *call) {
    const struct cell *array;
    uint64_t dims[BLOCK_NDIM_MAX], ndim = 0, count = 1;
    int rc = native_array(call, 0, &array);
    if (rc) return rc;
    bool listed = call->arg_count == 2 && cell_is_array(call->args[1]);
    if (listed) {
        rc = one_axis(call, 1);
        if (rc) return rc;
        if (cell_kind(call->args[1]) != KIND_INT64) return native_mismatch(call, 1, "[]int64");
        ndim = array_block(call, 1)->dims[0];
    } else {
        ndim = call->arg_count - 1;
    }
    if (ndim > BLOCK_NDIM_MAX || ndim == 0) return fault(call->heap, ERROR_VALUE, "xv·reshape: from 1 to %d axes, not %llu", BLOCK_NDIM_MAX, (unsigned long long)ndim);
    for (uint64_t i = 0; i < ndim; i++) {
        int64_t length = 0;
        if (listed) memcpy(&length, (const char *)block_body(array_block(call, 1)) + 8 * i, 8);
        else rc = native_int64(call, (uint32_t)i + 1, &length);
        if (rc) return rc;
        if (length < 0) return fault(call->heap, ERROR_VALUE, "xv·reshape: an axis of length %lld", (long long)length);
        dims[i] = (uint64_t)length;
        count = length && count > UINT64_MAX / (uint64_t)length ? UINT64_MAX : count * (uint64_t)length;
    }
    const struct block *block = array_block(call, 0);
    if (count != array_count(block)) return fault(call->heap, ERROR_VALUE, "xv·reshape: %llu elements do not fill a shape of %llu", (unsigned long long)array_count(block), (unsigned long long)count);
    return array_from(call->heap, cell_kind(array), (unsigned)ndim, dims, block_body(block), &call->results[0]);
}

/* The same bytes as elements of another kind, along the last axis. */
int native_xv_reinterpret(struct core_call *call) {
    char name[KIND_NAME_MAX + 8];
    const struct cell *cell = call->args[0];
    int rc = native_utf8(call, 1, name, sizeof name);
    if (rc) return rc;
    unsigned kind = kind_from_name(name, strlen(name));
    if (!kind || kind_is_char(kind) || kind == KIND_BOOL) return fault(call->heap, ERROR_VALUE, "xv·reinterpret: %s is no number kind", name);
    size_t size = kind_size(kind);
    if (cell_is_scalar(cell)) {
        if (kind_size(cell_kind(cell)) != size) return fault(call->heap, ERROR_VALUE, "xv·reinterpret: %s and %s have different sizes", kind_name(cell_kind(cell)), name);
        unsigned char bytes[8];
        scalar_store(cell_kind(cell), bytes, cell->payload);
        return native_give(call, cell_scalar(kind, scalar_load(kind, bytes)));
    }
    const struct cell *array;
    rc = native_array(call, 0, &array);
    if (rc) return rc;
    const struct block *block = array_block(call, 0);
    uint64_t dims[BLOCK_NDIM_MAX], *last = &dims[block->ndim - 1];
    memcpy(dims, block->dims, 8u * block->ndim);
    uint64_t row = *last * kind_size(cell_kind(array));
    if (row % size) return fault(call->heap, ERROR_VALUE, "xv·reinterpret: %llu bytes are no whole number of %s", (unsigned long long)row, name);
    *last = row / size;
    return array_from(call->heap, kind, block->ndim, dims, block_body(block), &call->results[0]);
}
