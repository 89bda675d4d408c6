/* Places: members, elements and pointers, in frames and in the tree.
 * Relies on step.c for values and kvspace.h for keys. A pointer is a small map: 0 its base (a path as text, or frame << 32 | cell),
 * 1 the generation of the frame, 2 the steps as text, 3… their operands. A text that begins with `/` is a base as a pointer is.
 * Promises: a pointer to a frame that is gone is a ReferenceError; at most HOPS_MAX pointers are followed in a row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/exec.h"
#include "core/map.h"
#include "core/text.h"
#include "core/tree_value.h"
#include "core/value.h"

enum { HOPS_MAX = 32, STEPS_MAX = 32 };

/* Where a pointer points. Operands are borrowed from the pointer. */
struct location {
    struct cell *cell; /* in a frame; NULL: the path counts */
    char path[KVSPACE_KEY_MAX + 1];
    struct value_step steps[STEPS_MAX];
    unsigned count;
    const struct cell *operands[STEPS_MAX * 2];
    unsigned operand_count;
};

/* ---- steps as text: `·[2]*` ---- */

static int steps_parse(struct heap *heap, const char *text, const struct cell *const *operands, unsigned operand_count, uint64_t literals,
                       struct value_step *steps, unsigned *count) {
    unsigned used = 0;
    for (; *text; (*count)++) {
        if (*count == STEPS_MAX) return fault(heap, ERROR_RUNTIME, "more than %d steps in one place", STEPS_MAX);
        struct value_step *step = &steps[*count];
        step->count = 1;
        if (strncmp(text, "·", strlen("·")) == 0) {
            step->mark = '.';
            text += strlen("·");
        } else if (*text == '*') {
            step->mark = '*';
            text++;
        } else if (*text == '[') {
            step->mark = '[';
            step->count = (uint32_t)strtoul(text + 1, NULL, 10);
            text = strchr(text, ']');
            if (!text) return fault(heap, ERROR_RUNTIME, "steps of a place are damaged");
            text++;
        } else {
            return fault(heap, ERROR_RUNTIME, "steps of a place are damaged");
        }
        if (step->count == 0 || step->count > operand_count - used) return fault(heap, ERROR_RUNTIME, "steps of a place want more operands");
        step->operands = operands + used;
        step->literals = used < 64 ? literals >> used : 0;
        used += step->count;
    }
    return 0;
}

/* ---- pointers ---- */

static const struct cell *pointer_part(struct heap *heap, const struct cell *pointer, int64_t at) {
    struct cell key = cell_int64(at), map = { TAG_MAP | CELL_BLOCK, pointer->payload };
    const struct cell *found;
    return map_find(heap, &map, &key, &found) == 0 ? found : NULL;
}

static int location_of_pointer(struct activation *at, const struct cell *pointer, struct location *location) {
    struct heap *heap = &at->core->heap;
    location->cell = NULL;
    location->count = location->operand_count = 0;
    const struct cell *base = pointer_part(heap, pointer, 0), *generation = pointer_part(heap, pointer, 1);
    if (!base) return fault(heap, ERROR_REFERENCE, "a pointer to nothing");
    if (cell_is_text(base)) {
        size_t bytes;
        if (!text_to_utf8(heap, base, location->path, sizeof location->path, &bytes)) return fault(heap, ERROR_REFERENCE, "a pointer to a path that is too long");
    } else {
        struct frame *frame = generation ? frame_alive(at->core, (uint32_t)(base->payload >> 32), generation->payload) : NULL;
        uint32_t cell = (uint32_t)base->payload;
        if (!frame || cell >= frame->cells) return fault(heap, ERROR_REFERENCE, "a pointer to a variable of a call that has ended");
        location->cell = &frame_cells(frame)[cell];
    }
    const struct cell *steps = pointer_part(heap, pointer, 2);
    if (!steps) return 0;
    char text[512];
    size_t bytes;
    if (!text_to_utf8(heap, steps, text, sizeof text, &bytes)) return fault(heap, ERROR_REFERENCE, "a pointer with too many steps");
    for (int64_t i = 3;; i++) {
        const struct cell *operand = pointer_part(heap, pointer, i);
        if (!operand || location->operand_count == STEPS_MAX * 2) break;
        location->operands[location->operand_count++] = operand;
    }
    return steps_parse(heap, text, location->operands, location->operand_count, UINT64_MAX, location->steps, &location->count);
}

/* Whether a value leads on: a pointer, or a text with an absolute path. */
static bool leads_on(struct heap *heap, const struct cell *value, char mark) {
    if (cell_tag(value) == TAG_POINTER) return true;
    if (mark == '[' || !cell_is_text(value)) return false;
    uint64_t count;
    const void *units = text_units(heap, value, &count);
    if (!count) return false;
    return cell_kind(value) == KIND_CHAR_UTF32 ? *(const uint32_t *)units == '/' : *(const char *)units == '/';
}

static int location_of(struct activation *at, const struct cell *value, struct location *location) {
    if (cell_tag(value) == TAG_POINTER) return location_of_pointer(at, value, location);
    location->cell = NULL;
    location->count = location->operand_count = 0;
    size_t bytes;
    if (!cell_is_text(value) || !text_to_utf8(&at->core->heap, value, location->path, sizeof location->path, &bytes) || location->path[0] != '/') {
        char picture[80];
        value_picture(&at->core->heap, value, picture, sizeof picture);
        return fault(&at->core->heap, ERROR_TYPE, "%s is no pointer and no path", picture);
    }
    return 0;
}

static int pointer_set(struct heap *heap, struct cell *map, int64_t at, struct cell value) {
    struct cell key = cell_int64(at), out;
    int rc = map_set(heap, map, &key, &value, 0, &out);
    cell_drop(heap, value);
    if (rc) return rc;
    if (out.payload != map->payload) cell_drop(heap, *map);
    *map = out;
    return 0;
}

static int pointer_new(struct heap *heap, struct cell base, uint64_t generation, const char *steps, const struct cell *const *operands,
                       unsigned count, struct cell *out) {
    const struct type_info *type;
    struct cell map, text = cell_none();
    int rc = type_kind_any(heap, KIND_INT64, &type);
    if (!rc) rc = map_new(heap, type, 3 + count, &map);
    if (rc) {
        cell_drop(heap, base);
        return rc;
    }
    rc = pointer_set(heap, &map, 0, base);
    if (!rc && generation) rc = pointer_set(heap, &map, 1, cell_uint64(generation));
    if (!rc && count) rc = text_from_utf8(heap, steps, strlen(steps), &text);
    if (!rc && count) rc = pointer_set(heap, &map, 2, text);
    for (unsigned i = 0; i < count && !rc; i++) rc = pointer_set(heap, &map, 3 + (int64_t)i, cell_copy(heap, operands[i]));
    if (rc) {
        cell_drop(heap, map);
        return rc;
    }
    map.head = TAG_POINTER | CELL_BLOCK;
    *out = map;
    return 0;
}

/* ---- keys of members in the tree ---- */

static void put_key(struct heap *heap, const struct cell *key, struct text_out *out) {
    if (cell_is_text(key)) text_write(heap, key, out);
    else value_print(heap, key, false, out);
}

/* path·key for one step; a[i,j] is the tuple key `[i,j]`. */
static int step_path(struct heap *heap, const char *path, const struct value_step *step, char *out) {
    struct text_buffer buffer = { .limit = KVSPACE_KEY_MAX };
    struct text_out text = text_buffer_out(&buffer);
    text_puts(&text, path);
    text_puts(&text, "·");
    bool tuple = step->count > 1;
    struct cell pair[1];
    uint64_t count = 0;
    if (!tuple && cell_is_array(step->operands[0]) && !cell_is_text(step->operands[0])) {
        const struct block *block = cell_block(heap, step->operands[0]);
        text_puts(&text, "[");
        for (count = 0; count < block->dims[0]; count++) {
            if (count) text_puts(&text, ",");
            unsigned kind = cell_kind(step->operands[0]);
            pair[0] = cell_scalar(kind, scalar_load(kind, (const unsigned char *)block_body(block) + count * kind_size(kind)));
            put_key(heap, pair, &text);
        }
        text_puts(&text, "]");
    } else {
        if (tuple) text_puts(&text, "[");
        for (uint32_t i = 0; i < step->count; i++) {
            if (i) text_puts(&text, ",");
            put_key(heap, step->operands[i], &text);
        }
        if (tuple) text_puts(&text, "]");
    }
    int rc = text.error || !buffer.bytes ? fault(heap, ERROR_VALUE, "a key below %.200s is too long", path) : 0;
    if (!rc) memcpy(out, buffer.bytes, buffer.length + 1);
    text_buffer_free(&buffer);
    return rc;
}

/* ---- reading ---- */

static int step_from_path(struct activation *at, const char *path, const struct value_step *step, struct cell *out, int hops);
static int location_load(struct activation *at, const struct location *location, struct cell *out, int hops);

static int too_many(struct heap *heap) { return fault(heap, ERROR_REFERENCE, "more than %d pointers in a row", HOPS_MAX); }

static int step_from_value(struct activation *at, const struct cell *value, const struct value_step *step, struct cell *out, int hops) {
    struct heap *heap = &at->core->heap;
    *out = cell_none();
    if (!leads_on(heap, value, step->mark)) return value_step_get(heap, value, step, out);
    if (hops > HOPS_MAX) return too_many(heap);
    struct location *location = malloc(sizeof *location);
    if (!location) return fault(heap, ERROR_OUT_OF_MEMORY, "no memory to follow a pointer");
    int rc = location_of(at, value, location);
    if (!rc && !location->cell && !location->count) {
        rc = step_from_path(at, location->path, step, out, hops + 1);
    } else if (!rc && location->cell && !location->count) {
        rc = step_from_value(at, location->cell, step, out, hops + 1);
    } else if (!rc) {
        struct cell target = cell_none();
        rc = location_load(at, location, &target, hops + 1);
        if (!rc) {
            rc = step_from_value(at, &target, step, out, hops + 1);
            cell_drop(heap, target);
        }
    }
    free(location);
    return rc;
}

static int step_from_path(struct activation *at, const char *path, const struct value_step *step, struct cell *out, int hops) {
    struct heap *heap = &at->core->heap;
    struct kvspace_value head;
    if (hops > HOPS_MAX) return too_many(heap);
    int rc = kvspace_get(at->core->space, path, &head);
    if (rc == KVSPACE_ENOENT) return fault(heap, ERROR_KEY, "there is nothing at %s", path);
    if (rc) return tree_fault(heap, at->core->space, rc, "read", path);
    if (head.store == KVSPACE_INDEX || head.store == KVSPACE_EXTINDEX) {
        char *key = malloc(KVSPACE_KEY_MAX + 1);
        if (!key) return fault(heap, ERROR_OUT_OF_MEMORY, "no memory to read %s", path);
        bool is_struct = head.type && head.type[0] == '/';
        rc = step_path(heap, path, step, key);
        if (!rc) rc = tree_get(heap, at->core->space, key, out);
        if (!rc && cell_is_none(out)) {
            if (!is_struct) rc = fault(heap, ERROR_KEY, "there is no member %s at %s", key + strlen(path) + strlen("·"), path);
        }
        free(key);
        return rc;
    }
    struct cell value = cell_none();
    rc = tree_get(heap, at->core->space, path, &value);
    if (rc) return rc;
    rc = step_from_value(at, &value, step, out, hops + 1);
    cell_drop(heap, value);
    return rc;
}

static int location_load(struct activation *at, const struct location *location, struct cell *out, int hops) {
    struct heap *heap = &at->core->heap;
    struct cell value = cell_none();
    unsigned from = 0;
    int rc = 0;
    if (location->cell) {
        value = cell_copy(heap, location->cell);
    } else if (location->count) {
        rc = step_from_path(at, location->path, &location->steps[0], &value, hops);
        from = 1;
    } else {
        rc = tree_get(heap, at->core->space, location->path, &value);
    }
    for (unsigned i = from; !rc && i < location->count; i++) {
        struct cell next = cell_none();
        rc = step_from_value(at, &value, &location->steps[i], &next, hops);
        cell_drop(heap, value);
        value = next;
    }
    if (!rc) *out = value;
    return rc;
}

int place_load(struct activation *at, const struct cell *pointer, struct cell *out) {
    struct location *location = malloc(sizeof *location);
    if (!location) return fault(&at->core->heap, ERROR_OUT_OF_MEMORY, "no memory to follow a pointer");
    int rc = location_of(at, pointer, location);
    if (!rc) rc = location_load(at, location, out, 0);
    free(location);
    return rc;
}

int place_get(struct activation *at, const struct cell *base, const struct cell *const *keys, unsigned count, char mark, struct cell *out) {
    struct value_step step = { .operands = keys, .count = count, .mark = mark };
    return step_from_value(at, base, &step, out, 0);
}

int place_get_path(struct activation *at, const char *path, const struct cell *const *keys, unsigned count, char mark, struct cell *out) {
    struct value_step step = { .operands = keys, .count = count, .mark = mark };
    return step_from_path(at, path, &step, out, 0);
}

/* ---- writing ---- */

/* Fits a value to the type that a container in the tree declares for its members. */
static int member_fit(struct activation *at, const char *type_text, const struct value_step *step, const struct cell *value, bool literal, struct cell *out) {
    struct heap *heap = &at->core->heap;
    const struct type_info *type;
    *out = cell_copy(heap, value);
    if (cell_is_none(value) || !type_text) return 0;
    int rc = type_of_text(heap, type_text, strlen(type_text), &type);
    if (rc) return rc;
    const struct typexpr *wanted = type->is_map ? type->value : NULL;
    if (type->is_struct) {
        const struct struct_def *definition = heap->struct_find ? heap->struct_find(heap, type->id) : NULL;
        for (uint32_t i = 0; definition && i < definition->count; i++) {
            if (cell_is_text(step->operands[0]) && text_equal(heap, &definition->fields[i].key, step->operands[0])) wanted = definition->fields[i].type;
        }
        if (definition && !wanted) {
            char picture[80], own[160];
            value_picture(heap, step->operands[0], picture, sizeof picture);
            snprintf(own, sizeof own, "%s", type->text);
            type_shorten(own);
            return fault(heap, ERROR_TYPE, "%s has no field %s", own, picture);
        }
    }
    if (!wanted) return 0;
    struct cell fitted;
    rc = type_fit(heap, wanted, value, literal, &fitted);
    if (rc) return rc;
    cell_drop(heap, *out);
    *out = fitted;
    return 0;
}

static int put_at_path(struct activation *at, const char *path, const struct value_step *steps, unsigned count, const struct cell *value, bool literal, int hops);

/* The value at the path is no container of the tree: changed in memory and written back whole. */
static int put_whole(struct activation *at, const char *path, const struct value_step *steps, unsigned count, const struct cell *value, bool literal) {
    struct heap *heap = &at->core->heap;
    struct cell old, changed;
    int rc = tree_get(heap, at->core->space, path, &old);
    if (rc) return rc;
    rc = value_put(heap, &old, steps, count, value, literal, &changed);
    if (rc) {
        cell_drop(heap, old);
        return rc;
    }
    rc = tree_set(heap, at->core->space, path, &changed);
    if (changed.payload != old.payload || !(old.head & CELL_BLOCK)) cell_drop(heap, changed);
    cell_drop(heap, old);
    return rc;
}

static int put_member(struct activation *at, const char *path, const char *type, const struct value_step *steps, unsigned count, const struct cell *value,
                      bool literal, int hops) {
    struct heap *heap = &at->core->heap;
    char *key = malloc(KVSPACE_KEY_MAX + 1);
    if (!key) return fault(heap, ERROR_OUT_OF_MEMORY, "no memory to write below %s", path);
    int rc = step_path(heap, path, steps, key);
    if (!rc && count > 1) {
        rc = put_at_path(at, key, steps + 1, count - 1, value, literal, hops + 1);
    } else if (!rc) {
        struct cell fitted;
        rc = member_fit(at, type, steps, value, literal, &fitted);
        if (!rc) {
            rc = tree_set(heap, at->core->space, key, &fitted);
            cell_drop(heap, fitted);
        }
    }
    free(key);
    return rc;
}

static int put_at_path(struct activation *at, const char *path, const struct value_step *steps, unsigned count, const struct cell *value, bool literal, int hops) {
    struct heap *heap = &at->core->heap;
    struct kvspace_value head;
    if (hops > HOPS_MAX) return too_many(heap);
    if (!count) return tree_set(heap, at->core->space, path, value);
    int rc = kvspace_get(at->core->space, path, &head);
    if (rc == KVSPACE_ENOENT) {
        if (steps->mark == '[' && steps->count == 1 && !cell_is_text(steps->operands[0])) {
            return fault(heap, ERROR_TYPE, "there is nothing at %s: an element cannot be written", path);
        }
        if (cell_is_none(value)) return 0;
        bool text = cell_is_text(steps->operands[0]);
        rc = kvspace_mkindex(at->core->space, path, text ? "[]char/utf8·any" : "[int64]·any");
        if (rc) return tree_fault(heap, at->core->space, rc, "write", path);
        return put_member(at, path, NULL, steps, count, value, literal, hops);
    }
    if (rc) return tree_fault(heap, at->core->space, rc, "read", path);
    if (head.store == KVSPACE_INDEX || head.store == KVSPACE_EXTINDEX) {
        char type[512];
        snprintf(type, sizeof type, "%s", head.type ? head.type : "");
        return put_member(at, path, type, steps, count, value, literal, hops);
    }
    struct cell there;
    rc = tree_get(heap, at->core->space, path, &there);
    if (rc) return rc;
    if (leads_on(heap, &there, steps->mark)) {
        struct location *location = malloc(sizeof *location);
        rc = location ? location_of(at, &there, location) : fault(heap, ERROR_OUT_OF_MEMORY, "no memory to follow a pointer");
        if (!rc && !location->cell && !location->count) rc = put_at_path(at, location->path, steps, count, value, literal, hops + 1);
        else if (!rc) rc = fault(heap, ERROR_REFERENCE, "%s holds a pointer into a frame", path);
        free(location);
        cell_drop(heap, there);
        return rc;
    }
    cell_drop(heap, there);
    return put_whole(at, path, steps, count, value, literal);
}

/* Follows pointers that stand in the way of a chained write inside a value: gives the number of steps behind which the first one
 * stands and its value (owned), or `count`. */
static int pointer_on_the_way(struct activation *at, const struct cell *base, const struct value_step *steps, unsigned count, unsigned *where, struct cell *found) {
    struct heap *heap = &at->core->heap;
    struct cell value = cell_copy(heap, base);
    *where = count;
    for (unsigned i = 0; i + 1 < count; i++) {
        struct cell next = cell_none();
        if (value_step_get(heap, &value, &steps[i], &next)) break; /* missing: the write makes it, or fails by itself */
        cell_drop(heap, value);
        value = next;
        if (leads_on(heap, &value, steps[i + 1].mark)) {
            *where = i + 1;
            *found = value;
            return 0;
        }
    }
    cell_drop(heap, value);
    heap->fault.kind = 0;
    return 0;
}

/* `base` changes, or what it leads to. *changed: the new value of base if *own, to be put by the caller. */
static int put_in_value(struct activation *at, struct cell *base, const struct value_step *steps, unsigned count, const struct cell *value, bool literal,
                        bool *own, struct cell *changed, int hops) {
    struct heap *heap = &at->core->heap;
    *own = false;
    if (hops > HOPS_MAX) return too_many(heap);
    struct cell lead = cell_none();
    unsigned where = count;
    if (leads_on(heap, base, steps->mark)) {
        lead = cell_copy(heap, base);
        where = 0;
    } else if (count > 1) {
        int rc = pointer_on_the_way(at, base, steps, count, &where, &lead);
        if (rc) return rc;
    }
    if (where == count) {
        *own = true;
        return value_put(heap, base, steps, count, value, literal, changed);
    }
    struct location *location = malloc(sizeof *location);
    int rc = location ? location_of(at, &lead, location) : fault(heap, ERROR_OUT_OF_MEMORY, "no memory to follow a pointer");
    if (!rc && location->count + count - where > STEPS_MAX) rc = fault(heap, ERROR_RUNTIME, "more than %d steps in one place", STEPS_MAX);
    if (!rc) {
        memcpy(&location->steps[location->count], steps + where, (count - where) * sizeof *steps);
        location->count += count - where;
        if (!location->cell) {
            rc = put_at_path(at, location->path, location->steps, location->count, value, literal, hops + 1);
        } else {
            bool inner;
            struct cell next = cell_none();
            rc = put_in_value(at, location->cell, location->steps, location->count, value, literal, &inner, &next, hops + 1);
            if (!rc && inner && (next.payload != location->cell->payload || next.head != (location->cell->head & CELL_VALUE_BITS))) {
                struct cell old = cell_put(location->cell, next); /* writing it twice is the same as once */
                cell_drop(heap, old);
            }
        }
    }
    free(location);
    cell_drop(heap, lead);
    return rc;
}

int place_put(struct activation *at, struct row *row, const char *steps_text, const struct cell *const *keys, unsigned key_count,
              const uint64_t literals, const struct cell *value, bool literal, bool *own, struct cell *changed) {
    struct heap *heap = &at->core->heap;
    struct value_step steps[STEPS_MAX];
    unsigned count = 0;
    *own = false;
    int rc = steps_parse(heap, steps_text, keys, key_count, literals, steps, &count);
    if (rc) return rc;
    if (row->write_count != 1 || !count) return fault(heap, ERROR_RUNTIME, "%s wants one place to write to", row->name);
    const struct operand *base = &row->writes[0];
    if (base->kind == OPERAND_PATH) return put_at_path(at, base->path, steps, count, value, literal, 0);
    if (base->kind != OPERAND_CELL) return fault(heap, ERROR_RUNTIME, "%s wants a place to write to", row->name);
    if (!row->self) return put_in_value(at, &at->cells[base->cell], steps, count, value, literal, own, changed, 0);
    /* The value or a key is the container itself: changed in a copy, so that the row may be repeated until it is staged. */
    struct cell shared = cell_copy(heap, &at->cells[base->cell]);
    rc = put_in_value(at, &at->cells[base->cell], steps, count, value, literal, own, changed, 0);
    cell_drop(heap, shared);
    return rc;
}

int place_store(struct activation *at, const struct cell *pointer, const struct cell *value, bool literal) {
    struct heap *heap = &at->core->heap;
    struct location *location = malloc(sizeof *location);
    if (!location) return fault(heap, ERROR_OUT_OF_MEMORY, "no memory to follow a pointer");
    int rc = location_of(at, pointer, location);
    if (!rc && !location->cell) {
        rc = put_at_path(at, location->path, location->steps, location->count, value, literal, 0);
    } else if (!rc) {
        struct cell next = cell_none();
        bool own = true;
        if (!location->count) next = cell_copy(heap, value);
        else rc = put_in_value(at, location->cell, location->steps, location->count, value, literal, &own, &next, 0);
        if (!rc && own && (!location->count || next.payload != location->cell->payload || next.head != (location->cell->head & CELL_VALUE_BITS))) {
            struct cell old = cell_put(location->cell, next);
            cell_drop(heap, old);
        }
    }
    free(location);
    return rc;
}

/* ---- addresses ---- */

int place_address(struct activation *at, const struct operand *place, const char *steps, const struct cell *const *args, unsigned count, struct cell *out) {
    struct heap *heap = &at->core->heap;
    struct cell text;
    if (place->kind == OPERAND_CELL) {
        const struct cell *there = &at->cells[place->cell];
        if (count && cell_tag(there) == TAG_POINTER) { /* &p·x: the steps go on from where p points */
            struct location *location = malloc(sizeof *location);
            int rc = location ? location_of(at, there, location) : fault(heap, ERROR_OUT_OF_MEMORY, "no memory for a pointer");
            if (!rc && !location->count) {
                const struct cell *base = pointer_part(heap, there, 0), *generation = pointer_part(heap, there, 1);
                rc = pointer_new(heap, cell_copy(heap, base), generation ? generation->payload : 0, steps, args, count, out);
            } else if (!rc) {
                rc = fault(heap, ERROR_RUNTIME, "the address of a member of an address of a member is not supported");
            }
            free(location);
            return rc;
        }
        if (!count || !leads_on(heap, there, '.')) {
            uint64_t base = (uint64_t)at->ref << 32 | place->cell;
            return pointer_new(heap, cell_uint64(base), at->frame->generation, steps, args, count, out);
        }
        return pointer_new(heap, cell_copy(heap, there), 0, steps, args, count, out);
    }
    if (place->kind != OPERAND_PATH) return fault(heap, ERROR_RUNTIME, "the address of something that has no place");
    int rc = text_from_utf8(heap, place->path, strlen(place->path), &text);
    return rc ? rc : pointer_new(heap, text, 0, steps, args, count, out);
}

/* The path of what a pointer points to, for people. */
int pointer_text(struct heap *heap, const struct cell *pointer, char *out, size_t capacity) {
    struct core *core = heap->host;
    const struct cell *base = pointer_part(heap, pointer, 0), *generation = pointer_part(heap, pointer, 1);
    const struct cell *steps_cell = pointer_part(heap, pointer, 2);
    size_t used = 0;
    if (capacity) out[0] = 0;
    if (!base) return 0;
    if (cell_is_text(base)) {
        text_to_utf8(heap, base, out, capacity, &used);
        used = strlen(out);
    } else {
        struct frame *frame = generation && core->record ? frame_alive(core, (uint32_t)(base->payload >> 32), generation->payload) : NULL;
        struct link *link;
        if (!frame) return snprintf(out, capacity, "(gone)") < 0;
        used = frame_path(core, frame, out, capacity);
        uint32_t cell = (uint32_t)base->payload;
        if (used < capacity && link_of_record(core, frame->function, &link) == 0 && cell < link->cells) {
            used += (size_t)snprintf(out + used, capacity - used, "/%s", link->names[cell]);
        }
    }
    if (!steps_cell || used >= capacity) return 0;
    char text[512];
    size_t bytes;
    struct cell const *operands[STEPS_MAX * 2];
    unsigned operand_count = 0, count = 0;
    struct value_step steps[STEPS_MAX];
    for (int64_t i = 3; operand_count < STEPS_MAX * 2; i++) {
        const struct cell *operand = pointer_part(heap, pointer, i);
        if (!operand) break;
        operands[operand_count++] = operand;
    }
    if (!text_to_utf8(heap, steps_cell, text, sizeof text, &bytes) || steps_parse(heap, text, operands, operand_count, 0, steps, &count)) return 0;
    char key[KVSPACE_KEY_MAX + 1];
    for (unsigned i = 0; i < count && used < capacity; i++) {
        if (step_path(heap, "", &steps[i], key)) return 0;
        used += (size_t)snprintf(out + used, capacity - used, "%s", key);
    }
    return 0;
}
