/* Reading and writing members and elements, one step or a chain of them: a·b[i,j]·c = v.
 * Relies on array.h, map.h, text.h. Promises: a chained write changes in place what only its base holds, copies what is
 * shared, and recurses no deeper than its number of steps; a write that fails has changed nothing that can be seen. */
#include "core/array.h"
#include "core/map.h"
#include "core/text.h"
#include "core/types.h"
#include "core/value.h"

static int no_member(struct heap *heap, const struct cell *base, const struct value_step *step) {
    char type[160], key[96];
    type_show(heap, base, type, sizeof type);
    if (step->mark == '[') return fault(heap, ERROR_TYPE, "%s has no elements to index", type);
    value_picture(heap, step->operands[0], key, sizeof key);
    return fault(heap, ERROR_TYPE, "%s has no members: %s cannot be reached", type, key);
}

static bool is_dict(const struct cell *cell) { return cell_tag(cell) == TAG_MAP || cell_tag(cell) == TAG_STRUCT; }

/* A tuple key as maps take it: int64 parts, whatever mixture of integers and bools they are written as. */
static int tuple_key_new(struct heap *heap, const struct cell *const *parts, uint32_t count, struct cell *out) {
    uint64_t length = count;
    for (uint32_t i = 0; i < count; i++)
        if (!cell_is_scalar(parts[i]) || !(kind_is_integer(cell_kind(parts[i])) || cell_kind(parts[i]) == KIND_BOOL)) return array_list(heap, parts, count, out);
    int rc = array_new(heap, KIND_INT64, 1, &length, out);
    if (rc) return rc;
    uint64_t *body = block_body(cell_block(heap, out));
    for (uint32_t i = 0; i < count; i++) body[i] = parts[i]->payload;
    return 0;
}

/* The key of a step into a map: one operand. a[i,j] of a map is a tuple key. */
static int step_key(struct heap *heap, const struct value_step *step, struct cell *made, const struct cell **key) {
    *made = cell_none();
    if (step->count == 1) {
        *key = step->operands[0];
        return 0;
    }
    *key = made;
    return tuple_key_new(heap, step->operands, step->count, made);
}

/* A range is spelt out before anybody reaches into it. */
static int range_step_get(struct heap *heap, const struct cell *range, const struct value_step *step, struct cell *out) {
    struct cell spelt;
    int rc = range_expand(heap, range, &spelt);
    if (rc) return rc;
    rc = value_step_get(heap, &spelt, step, out);
    cell_drop(heap, spelt);
    return rc;
}

int value_step_get(struct heap *heap, const struct cell *base, const struct value_step *step, struct cell *out) {
    if (cell_tag(base) == TAG_RANGE) return range_step_get(heap, base, step, out);
    if (is_dict(base)) {
        struct cell made;
        const struct cell *key, *found;
        int rc = step_key(heap, step, &made, &key);
        if (rc) return rc;
        rc = map_find(heap, base, key, &found);
        if (!rc && !found) rc = map_missing(heap, base, key);
        if (!rc && found) *out = cell_copy(heap, found);
        cell_drop(heap, made);
        return rc;
    }
    if (step->mark == '[' && cell_is_text(base)) {
        const struct cell *index = step->operands[0];
        if (step->count != 1) return fault(heap, ERROR_INDEX, "%u indices for a string", step->count);
        if (!cell_is_scalar(index) || !kind_is_integer(cell_kind(index))) {
            char type[96];
            type_show(heap, index, type, sizeof type);
            return fault(heap, ERROR_TYPE, "an index is an integer, not %s", type);
        }
        if (cell_kind(index) == KIND_UINT64 && index->payload >> 63) return fault(heap, ERROR_INDEX, "index %llu is out of range for a string of length %llu", (unsigned long long)index->payload, (unsigned long long)text_length(heap, base));
        return text_at(heap, base, cell_as_int64(index), out);
    }
    if (step->mark == '[' && cell_is_array(base)) return array_get(heap, base, step->operands, step->count, out);
    return no_member(heap, base, step);
}

static int cannot_write(struct heap *heap, const struct cell *base, const struct value_step *step) {
    if (cell_is_text(base) && step->mark == '[')
        return fault(heap, ERROR_TYPE, "a string's characters are not written one by one: string·set(s, i, c) makes a new string");
    if (cell_is_none(base) && step->mark == '[')
        return fault(heap, ERROR_TYPE, "nothing was written there yet: an array needs its type and shape first, a:[8]int64 = []");
    return no_member(heap, base, step);
}

static int put_last(struct heap *heap, const struct cell *base, const struct value_step *step, const struct cell *value,
                    bool literal, struct cell *out) {
    if (!is_dict(base)) {
        if (step->mark != '[' || !cell_is_array(base) || cell_is_text(base)) return cannot_write(heap, base, step);
        return array_set(heap, base, step->operands, step->count, value, literal, out);
    }
    struct cell made;
    const struct cell *key;
    int rc = step_key(heap, step, &made, &key);
    if (!rc) rc = map_set(heap, base, key, value, (unsigned)literal | (unsigned)(step->literals & 1) << 1, out);
    cell_drop(heap, made);
    return rc;
}

static int put_steps(struct heap *heap, const struct cell *base, const struct value_step *steps, unsigned count,
                     const struct cell *value, bool literal, struct cell *out);

/* A step on the way: the inner container is changed in place if this one and it have no other holder. */
static int put_inner(struct heap *heap, const struct cell *base, const struct value_step *steps, unsigned count,
                     const struct cell *value, bool literal, struct cell *out) {
    if (!is_dict(base)) return cannot_write(heap, base, steps);
    struct cell made, inner = cell_none(), changed;
    const struct cell *key, *found;
    int rc = step_key(heap, steps, &made, &key);
    if (!rc) rc = map_find(heap, base, key, &found);
    if (!rc && !found && cell_tag(base) == TAG_STRUCT) rc = map_missing(heap, base, key);
    if (rc) {
        cell_drop(heap, made);
        return rc;
    }
    bool sole = cell_is_sole(heap, base) && found && cell_is_sole(heap, found);
    if (found) inner = sole ? *found : cell_copy(heap, found); /* with a second reference it is not changed in place */
    rc = put_steps(heap, &inner, steps + 1, count - 1, value, literal, &changed);
    if (!rc && sole && changed.payload == inner.payload) {
        *out = (struct cell){ base->head & CELL_VALUE_BITS, base->payload };
    } else if (!rc) {
        rc = map_set(heap, base, key, &changed, (unsigned)(steps->literals & 1) << 1, out);
        cell_drop(heap, changed);
    }
    if (found && !sole) cell_drop(heap, inner);
    cell_drop(heap, made);
    return rc;
}

static int put_steps(struct heap *heap, const struct cell *base, const struct value_step *steps, unsigned count,
                     const struct cell *value, bool literal, struct cell *out) {
    struct cell fresh = cell_none();
    if (cell_is_none(base) && steps->mark != '[') {
        const struct type_info *type;
        int rc = type_text_any(heap, &type);
        if (!rc) rc = map_new(heap, steps->mark == '.' ? type : NULL, 0, &fresh);
        if (rc) return rc;
        base = &fresh;
    }
    if (cell_tag(base) == TAG_RANGE) {
        int rc = range_expand(heap, base, &fresh);
        if (rc) return rc;
        base = &fresh;
    }
    struct cell result = cell_none();
    int rc = count == 1 ? put_last(heap, base, steps, value, literal, &result) : put_inner(heap, base, steps, count, value, literal, &result);
    /* What was made here is either the result itself or, if that was copied or the write failed, garbage. */
    if (base == &fresh && (rc || result.payload != fresh.payload)) cell_drop(heap, fresh);
    if (!rc) *out = result;
    return rc;
}

int value_put(struct heap *heap, const struct cell *base, const struct value_step *steps, unsigned count,
              const struct cell *value, bool literal, struct cell *out) {
    return put_steps(heap, base, steps, count, value, literal, out);
}

int value_duplicate(struct heap *heap, const struct cell *cell, struct cell *out) {
    if (is_dict(cell)) return map_duplicate(heap, cell, 0, out);
    if (!(cell->head & CELL_BLOCK)) {
        *out = cell_copy(heap, cell);
        return 0;
    }
    const struct block *old = cell_block(heap, cell);
    struct block *copy;
    int rc = block_new(heap, old->ndim, old->body_bytes, 0, &copy);
    if (rc) return rc;
    copy->type = old->type;
    copy->flags = old->flags;
    memcpy(copy->dims, old->dims, 8u * old->ndim);
    memcpy(block_body(copy), block_body(old), old->body_bytes);
    *out = cell_of_block(heap, cell_tag(cell), copy);
    return 0;
}

static int duplicate(struct heap *heap, const struct cell *cell, unsigned depth, struct cell *out);

/* Replaces what an entry shares by a copy of its own. */
static int duplicate_part(struct heap *heap, struct cell *part, unsigned depth) {
    struct cell own;
    if (!(part->head & CELL_BLOCK)) return 0;
    int rc = duplicate(heap, part, depth, &own);
    if (rc) return rc;
    cell_drop(heap, *part);
    part->payload = own.payload; /* the same kind of value; the head may carry a hash */
    return 0;
}

static int duplicate(struct heap *heap, const struct cell *cell, unsigned depth, struct cell *out) {
    if (depth > VALUE_DEPTH_MAX) return fault(heap, ERROR_VALUE, "a value of more than %d levels", VALUE_DEPTH_MAX);
    if (!(cell->head & CELL_BLOCK) || !(cell_block(heap, cell)->flags & BLOCK_DICT)) return value_duplicate(heap, cell, out);
    int rc = map_duplicate(heap, cell, 0, out);
    if (rc) return rc;
    struct dict *dict = cell_dict(heap, out);
    struct dict_entry *entries = dict_entries(dict);
    for (uint32_t i = 0; i < dict->used && !rc; i++) {
        rc = duplicate_part(heap, &entries[i].key, depth + 1);
        if (!rc) rc = duplicate_part(heap, &entries[i].value, depth + 1);
    }
    if (rc) cell_drop(heap, *out);
    return rc;
}

int value_duplicate_deep(struct heap *heap, const struct cell *cell, struct cell *out) { return duplicate(heap, cell, 0, out); }
