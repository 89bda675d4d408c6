/* One row at a time, by the general path: any opcode, operands of any kind, results staged where a row writes what it reads.
 * The loop comes here for what it has no form for, single steps always, and exec_resume for what a death cut off.
 * Relies on place.c, the natives, array.h, map.h. Promises: a row either has happened and the counter stands behind it, or it
 * may be run again; what a row replaces is dropped after its commit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/exec.h"
#include "core/map.h"
#include "core/text.h"
#include "core/tree_value.h"
#include "core/value.h"

enum { ROW_INLINE = 16 };

/* The operands of a row that runs. */
struct gathered {
    const struct cell **args;
    struct cell *scratch; /* made for this row: values read from the tree */
    uint32_t count;
    const struct cell *inline_args[ROW_INLINE];
    struct cell inline_scratch[ROW_INLINE];
};

int operand_value(struct activation *at, const struct operand *operand, struct cell *scratch, const struct cell **cell) {
    *scratch = cell_none();
    switch (operand->kind) {
    case OPERAND_CELL: *cell = &at->cells[operand->cell]; return 0;
    case OPERAND_PATH: *cell = scratch; return tree_get(&at->core->heap, at->core->space, operand->path, scratch);
    default: *cell = &operand->constant; return 0;
    }
}

static void gathered_drop(struct activation *at, struct gathered *got) {
    for (uint32_t i = 0; i < got->count; i++) cell_drop(&at->core->heap, got->scratch[i]);
    if (got->args != got->inline_args) {
        free(got->args);
        free(got->scratch);
    }
}

/* Evaluates read slots `from`… of the row. */
static int gather(struct activation *at, const struct row *row, uint32_t from, struct gathered *got) {
    static const struct cell none;
    uint32_t count = row->read_count > from ? row->read_count - from : 0;
    got->args = got->inline_args;
    got->scratch = got->inline_scratch;
    got->count = 0;
    for (unsigned i = 0; i < 4; i++) got->inline_args[i] = &none; /* the most that a structural opcode looks at without counting */
    if (count > ROW_INLINE) {
        got->args = malloc(count * sizeof *got->args);
        got->scratch = malloc(count * sizeof *got->scratch);
        if (!got->args || !got->scratch) {
            free(got->args);
            free(got->scratch);
            got->args = got->inline_args;
            return fault(&at->core->heap, ERROR_OUT_OF_MEMORY, "no memory for %u operands", count);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        got->count = i + 1;
        int rc = operand_value(at, &row->reads[from + i], &got->scratch[i], &got->args[i]);
        if (!rc && cell_tag(got->args[i]) == TAG_RANGE && row->structural != STRUCTURAL_NEXT) { /* spelt out for all others */
            rc = range_expand(&at->core->heap, got->args[i], &got->scratch[i]);
            got->args[i] = &got->scratch[i];
        }
        if (rc) {
            got->scratch[i] = cell_none();
            gathered_drop(at, got);
            return rc;
        }
    }
    return 0;
}

/* ---- writing results ---- */

static void drop_all(struct activation *at, struct cell *cells, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) cell_drop(&at->core->heap, cells[i]);
}

/* One slot; `value` is owned and taken. *old: to be dropped after the commit. */
static int slot_write(struct activation *at, const struct operand *slot, struct cell value, struct cell *old) {
    *old = cell_none();
    if (slot->kind == OPERAND_CELL) {
        *old = cell_put(&at->cells[slot->cell], value);
        return 0;
    }
    int rc = slot->kind == OPERAND_PATH ? tree_set(&at->core->heap, at->core->space, slot->path, &value) : 0;
    *old = value;
    return rc;
}

/* Takes the staged bit back before the stage changes its meaning: the row may run again from its beginning. */
static void unstage(struct activation *at, uint32_t number) {
    if (pc_seen(at->record) & PC_STAGED) pc_commit(at->record, pc_make(at->ref, number));
}

/* Puts the results (owned; taken) into the row's slots and commits row `next`. Where the row is staged already, its results do not come
 * from its operands any more, and it may simply be finished again. */
static int results_write(struct activation *at, const struct row *row, struct cell *results, uint32_t count, uint32_t next) {
    struct heap *heap = &at->core->heap;
    struct cell inline_old[ROW_INLINE], *old = inline_old;
    uint32_t writes = row->write_count;
    if (writes > ROW_INLINE) old = malloc(writes * sizeof *old);
    if (!old) {
        drop_all(at, results, count);
        return fault(heap, ERROR_OUT_OF_MEMORY, "no memory for %u results", writes);
    }
    bool fan = count == 1, self = row->self && !(pc_seen(at->record) & PC_STAGED);
    int rc = 0;
    uint32_t done = 0;
    /* Slots that are not read first: they may be written again. */
    for (uint32_t i = 0; i < writes && !rc && (!self || !fan); i++) {
        old[i] = cell_none();
        if (self && i == row->self_write) continue;
        struct cell value = fan ? cell_copy(heap, &results[0]) : i < count ? results[i] : cell_none();
        if (!fan && i < count) results[i] = cell_none();
        rc = slot_write(at, &row->writes[i], value, &old[i]);
        done = i + 1;
    }
    if (self && !rc) {
        uint32_t which = fan ? 0 : row->self_write;
        struct cell value = which < count ? results[which] : cell_none();
        at->record->stage = value;
        pc_commit(at->record, pc_make(at->ref, row->number) | PC_STAGED);
        for (uint32_t i = 0; i < writes && !rc; i++) {
            if (!fan && i != row->self_write) continue;
            rc = slot_write(at, &row->writes[i], cell_copy(heap, &value), &old[i]);
            done = i + 1 > done ? i + 1 : done;
        }
    }
    if (!rc) pc_commit(at->record, pc_make(at->ref, next));
    else pc_commit(at->record, pc_make(at->ref, row->number));
    at->record->stage = cell_none();
    drop_all(at, old, done);
    drop_all(at, results, count);
    if (old != inline_old) free(old);
    return rc;
}

/* A changed container for the row's write slot: in place already, or a new one. Commits. */
static void changed_write(struct activation *at, const struct row *row, struct cell changed, uint32_t next) {
    struct cell *place = &at->cells[row->writes[0].cell], old = cell_none();
    bool same = (changed.head & CELL_BLOCK) && changed.payload == place->payload && (place->head & CELL_BLOCK);
    if (!same) {
        if (row->self) {
            unstage(at, row->number);
            at->record->stage = changed;
            pc_commit(at->record, pc_make(at->ref, row->number) | PC_STAGED);
            store_order();
        }
        old = cell_put(place, changed);
    }
    pc_commit(at->record, pc_make(at->ref, next));
    at->record->stage = cell_none();
    cell_drop(&at->core->heap, old);
}

static int row_native(struct activation *at, const struct row *row, uint32_t *next);

int row_finish_staged(struct activation *at) {
    struct vthread_record *record = at->record;
    uint64_t pc = pc_seen(record);
    uint32_t number = pc_row(pc);
    if (number < 1 || number > at->link->rows) return fault(&at->core->heap, ERROR_RUNTIME, "the counter stands outside of %s", at->link->name);
    const struct row *row = at->link->row[number];
    struct cell stage = record->stage;
    uint32_t next = number + 1;
    if (cell_tag(&stage) == STAGE_ONCE || cell_tag(&stage) == STAGE_MADE) return row_native(at, row, &next);
    if (cell_tag(&stage) == STAGE_LENGTH) { /* lengthened by half: cut back, and once more */
        struct cell *place = &at->cells[row->writes[0].cell];
        if (row->reuse && (place->head & CELL_BLOCK)) array_truncate(&at->core->heap, place, stage.payload);
        pc_commit(record, pc_make(at->ref, number));
        record->stage = cell_none();
        return 0;
    }
    if (row->native && row->native->reuse == EFFECT_RANDOM) record->random[0] = record->random[1];
    if (row->structural == STRUCTURAL_NEXT) next = at->link->code[number].to.yes;
    bool fan = row->structural == STRUCTURAL_NONE || row->structural == STRUCTURAL_SET;
    for (uint32_t i = 0; i < row->write_count; i++) {
        if (fan ? row->write_count > 1 && row->native && row->native->results > 1 && i != row->self_write : i != row->self_write) continue;
        struct cell old;
        int rc = slot_write(at, &row->writes[i], cell_copy(&at->core->heap, &stage), &old); /* one reference may be too many: a leak, at death only */
        if (rc) return rc;
    }
    pc_commit(record, pc_make(at->ref, next));
    record->stage = cell_none();
    record->token_pc = 0;
    return 0;
}

/* ---- natives ---- */

static uint64_t length_of(struct heap *heap, const struct cell *cell) { return cell_block(heap, cell)->dims[0]; }

/* The result and the stream's next state are one step: staged together. */
static int random_write(struct activation *at, const struct row *row, struct cell *results, uint32_t next) {
    struct cell old[ROW_INLINE];
    uint32_t writes = row->write_count < ROW_INLINE ? row->write_count : ROW_INLINE, done = 0;
    int rc = 0;
    at->record->stage = results[0];
    pc_commit(at->record, pc_make(at->ref, row->number) | PC_STAGED);
    at->record->random[0] = at->record->random[1];
    for (; done < writes && !rc; done++) rc = slot_write(at, &row->writes[done], cell_copy(&at->core->heap, &results[0]), &old[done]);
    pc_commit(at->record, pc_make(at->ref, next));
    at->record->stage = cell_none();
    drop_all(at, old, done);
    drop_all(at, results, ROW_INLINE);
    return rc;
}

static int row_native(struct activation *at, const struct row *row, uint32_t *next) {
    struct core *core = at->core;
    struct heap *heap = &core->heap;
    const struct native_row *native = row->native;
    if (!native) return fault(heap, ERROR_ROUTE, "no runtime here provides the opcode %s", row->name);
    struct gathered got;
    int rc = gather(at, row, 0, &got);
    if (rc) return rc;
    if (got.count < native->least || (native->most != 255 && got.count > native->most)) {
        gathered_drop(at, &got);
        return fault(heap, ERROR_TYPE, "%s takes %u to %u arguments, not %u", row->name, native->least, native->most, got.count);
    }
    struct cell results[ROW_INLINE];
    for (uint32_t i = 0; i < ROW_INLINE; i++) results[i] = cell_none();
    struct core_call call = { .heap = heap, .args = got.args, .results = results, .arg_count = got.count,
                              .result_count = native->results < ROW_INLINE ? native->results : ROW_INLINE, .literals = row->literals,
                              .services = &core->services, .row = native, .host = row->host };
    core->services.random = at->record->random;
    core->services.once = &at->record->once;
    bool staged = pc_seen(at->record) & PC_STAGED;
    if (!staged && (native->reuse == EFFECT_TREE || native->reuse == EFFECT_MAKES)) {
        atomic_store_explicit(&at->record->once.done, 0, memory_order_relaxed);
        at->record->stage = (struct cell){ native->reuse == EFFECT_TREE ? STAGE_ONCE : STAGE_MADE, 0 };
        pc_commit(at->record, pc_make(at->ref, row->number) | PC_STAGED);
    }
    struct cell *place = row->reuse ? &at->cells[row->writes[0].cell] : NULL;
    call.reuse = place && cell_is_sole(heap, place) && cell_tag(place) != TAG_RANGE;
    if (call.reuse && native->reuse == REUSE_EXTENDS && cell_is_array(place)) {
        at->record->stage = (struct cell){ STAGE_LENGTH, length_of(heap, place) };
        pc_commit(at->record, pc_make(at->ref, row->number) | PC_STAGED);
    }
    rc = native->run(&call);
    if (rc == NATIVE_WAITS) {
        rc = ROW_WAIT;
    } else if (rc) {
        if (call.reuse && native->reuse == REUSE_EXTENDS && cell_is_array(place)) array_truncate(heap, place, at->record->stage.payload);
        unstage(at, row->number);
        drop_all(at, results, ROW_INLINE);
    } else if (call.reuse) {
        changed_write(at, row, results[0], row->number + 1);
        *next = row->number + 1;
    } else {
        *next = row->number + 1;
        rc = native->reuse == EFFECT_RANDOM ? random_write(at, row, results, *next)
                                            : results_write(at, row, results, native->results ? native->results : 1, *next);
    }
    if (row->host && !rc) at->record->token_pc = 0; /* committed: the next call draws another token */
    gathered_drop(at, &got);
    return rc;
}

/* ---- structural opcodes ---- */

static int row_target(struct activation *at, const struct row *row, const struct cell *cell, uint32_t *next) {
    if (cell_tag(cell) != KIND_INT64 || cell->payload < 1 || cell->payload > (uint64_t)at->link->rows + 1) {
        return fault(&at->core->heap, ERROR_RUNTIME, "%s to a row that is not there", row->name);
    }
    *next = (uint32_t)cell->payload;
    return 0;
}

static int row_branch(struct activation *at, const struct row *row, struct gathered *got, uint32_t *next) {
    if (cell_tag(got->args[0]) != KIND_BOOL) {
        char type[160], picture[80];
        type_show(&at->core->heap, got->args[0], type, sizeof type);
        value_picture(&at->core->heap, got->args[0], picture, sizeof picture);
        return cell_is_none(got->args[0]) ? fault(&at->core->heap, ERROR_TYPE, "a condition must be a bool, not None")
                                          : fault(&at->core->heap, ERROR_TYPE, "a condition must be a bool, not %s (%s)", type, picture);
    }
    int rc = row_target(at, row, got->args[got->args[0]->payload ? 1 : 2], next);
    if (!rc) pc_commit(at->record, pc_make(at->ref, *next));
    return rc;
}

static int row_next(struct activation *at, const struct row *row, struct gathered *got, uint32_t *next) {
    struct heap *heap = &at->core->heap;
    const struct cell *container = got->args[0], *position = got->args[1];
    struct cell results[3] = { cell_none(), cell_none(), cell_none() }, pointed = cell_none();
    if (cell_tag(position) != KIND_INT64) return fault(heap, ERROR_RUNTIME, "next wants an int64 position");
    int rc = row_target(at, row, got->args[2], next);
    if (rc) return rc;
    if (cell_tag(container) == TAG_POINTER) {
        rc = place_load(at, container, &pointed);
        if (rc) return rc;
        container = &pointed;
    }
    uint64_t i = position->payload;
    bool more = false;
    if (cell_tag(container) == TAG_MAP || cell_tag(container) == TAG_STRUCT) {
        const struct cell *key, *value;
        more = map_next(heap, container, &i, &key, &value);
        if (more) {
            results[1] = cell_copy(heap, value);
            if (row->write_count > 2) results[2] = map_key_copy(heap, key);
        }
    } else if (cell_is_text(container)) {
        more = i < text_length(heap, container);
        if (more) {
            struct cell wide;
            rc = text_convert(heap, container, KIND_CHAR_UTF32, &wide);
            if (!rc) rc = text_at(heap, &wide, (int64_t)i, &results[1]);
            if (!rc) cell_drop(heap, wide);
        }
        results[2] = cell_int64((int64_t)i++);
    } else if (cell_tag(container) == TAG_RANGE) {
        more = i < range_count(heap, container);
        if (more) results[1] = cell_int64(range_at(heap, container, i));
        results[2] = cell_int64((int64_t)i++);
    } else if (cell_is_array(container)) {
        struct cell index = cell_int64((int64_t)i);
        const struct cell *indices[1] = { &index };
        more = i < cell_block(heap, container)->dims[0];
        if (more) rc = array_get(heap, container, indices, 1, &results[1]);
        results[2] = index;
        i++;
    } else {
        char type[160];
        type_show(heap, container, type, sizeof type);
        rc = fault(heap, ERROR_TYPE, "for cannot walk %s", type);
    }
    cell_drop(heap, pointed);
    if (rc) return rc;
    if (!more) {
        rc = row_target(at, row, got->args[3], next);
        if (!rc) pc_commit(at->record, pc_make(at->ref, *next));
        return rc;
    }
    results[0] = cell_int64((int64_t)i);
    return results_write(at, row, results, row->write_count > 2 ? 3 : 2, *next);
}

static int row_member(struct activation *at, const struct row *row, struct gathered *got, char mark, uint32_t *next) {
    struct cell result;
    int rc = place_get(at, got->args[0], got->args + 1, got->count - 1, mark, &result);
    return rc ? rc : results_write(at, row, &result, 1, *next);
}

/* base at a path: one member is read, not the whole container. */
static int row_member_path(struct activation *at, const struct row *row, char mark, uint32_t *next) {
    struct gathered got;
    struct cell result;
    int rc = gather(at, row, 1, &got);
    if (rc) return rc;
    rc = place_get_path(at, row->reads[0].path, got.args, got.count, mark, &result);
    gathered_drop(at, &got);
    return rc ? rc : results_write(at, row, &result, 1, *next);
}

static int row_put(struct activation *at, struct row *row, const char *steps, const struct cell *const *keys, unsigned count, uint64_t literals,
                   const struct cell *value, uint32_t *next) {
    struct cell changed;
    bool own;
    int rc = place_put(at, row, steps, keys, count, literals, value, row->literals & 1, &own, &changed);
    if (rc) return rc;
    if (own) changed_write(at, row, changed, *next);
    else pc_commit(at->record, pc_make(at->ref, *next));
    return 0;
}

static int steps_text(struct activation *at, const struct cell *cell, char *out, size_t capacity) {
    size_t bytes;
    if (cell_is_text(cell) && text_to_utf8(&at->core->heap, cell, out, capacity, &bytes)) return 0;
    return fault(&at->core->heap, ERROR_RUNTIME, "steps of a place are damaged");
}

static int row_new_map(struct activation *at, const struct row *row, struct gathered *got, struct cell *out) {
    struct heap *heap = &at->core->heap;
    int rc = map_new(heap, row->type, got->count / 2, out);
    for (uint32_t i = 1; i + 1 < got->count && !rc; i += 2) {
        struct cell next;
        if (cell_is_none(got->args[i + 1])) continue;
        unsigned literals = (unsigned)((row->literals >> (i + 1 < 63 ? i + 1 : 63) & 1) | (row->literals >> (i < 63 ? i : 63) & 1) << 1);
        rc = map_set(heap, out, got->args[i], got->args[i + 1], literals, &next);
        if (!rc && next.payload != out->payload) {
            cell_drop(heap, *out);
            *out = next;
        }
        if (rc) cell_drop(heap, *out);
    }
    return rc;
}

static int row_new_struct(struct activation *at, const struct row *row, struct gathered *got, struct cell *out) {
    struct heap *heap = &at->core->heap;
    const struct type_info *type;
    const char *path = row->reads[0].path;
    char text[KVSPACE_KEY_MAX + 1];
    size_t bytes;
    if (row->reads[0].kind != OPERAND_PATH) {
        if (!cell_is_text(got->args[0]) || !text_to_utf8(heap, got->args[0], text, sizeof text, &bytes)) {
            return fault(heap, ERROR_RUNTIME, "newstruct wants the path of a struct");
        }
        path = text;
    }
    int rc = type_of_text(heap, path, strlen(path), &type);
    if (rc) return rc;
    const struct struct_def *definition = link_struct(heap, type->id);
    if (!definition) return heap->fault.kind ? heap->fault.kind : fault(heap, ERROR_NAME, "there is no struct at %s", path);
    rc = struct_new(heap, definition, out);
    for (uint32_t i = 1; i + 1 < got->count && !rc; i += 2) {
        struct cell next;
        rc = map_set(heap, out, got->args[i], got->args[i + 1], row->literals >> (i + 1 < 63 ? i + 1 : 63) & 1, &next);
        if (!rc && next.payload != out->payload) {
            cell_drop(heap, *out);
            *out = next;
        }
        if (rc) cell_drop(heap, *out);
    }
    return rc;
}

static int row_check(struct activation *at, const struct row *row, struct gathered *got, uint32_t *next) {
    struct heap *heap = &at->core->heap;
    if (!row->type) return fault(heap, ERROR_RUNTIME, "check wants a type");
    if (cell_is_none(got->args[0]) || type_takes(heap, row->type->form, got->args[0])) {
        struct cell same = cell_copy(heap, got->args[0]);
        return results_write(at, row, &same, 1, *next);
    }
    struct cell fitted;
    if (type_fit(heap, row->type->form, got->args[0], false, &fitted) == 0) return results_write(at, row, &fitted, 1, *next);
    char type[160];
    type_show(heap, got->args[0], type, sizeof type);
    const char *name = row->write_count && row->writes[0].kind == OPERAND_CELL ? at->link->names[row->writes[0].cell] : "the value";
    char wanted[160];
    snprintf(wanted, sizeof wanted, "%s", row->type->text);
    type_shorten(wanted);
    return fault(heap, ERROR_TYPE, "%s is declared %s and cannot hold %s", name, wanted, type);
}

static int row_structural(struct activation *at, struct row *row, uint32_t *next) {
    struct heap *heap = &at->core->heap;
    struct gathered got;
    struct cell result = cell_none();
    char text[512];
    int rc;
    *next = row->number + 1;
    if (row->structural == STRUCTURAL_ADDR) { /* the first slot is a place and is not read */
        if (row->read_count < 1) return fault(heap, ERROR_RUNTIME, "addr wants a place");
        rc = gather(at, row, 1, &got);
        if (rc) return rc;
        text[0] = 0;
        if (got.count) rc = steps_text(at, got.args[0], text, sizeof text);
        if (!rc) rc = place_address(at, &row->reads[0], text, got.args + 1, got.count ? got.count - 1 : 0, &result);
        gathered_drop(at, &got);
        return rc ? rc : results_write(at, row, &result, 1, *next);
    }
    if (row->read_count >= 2 && row->reads[0].kind == OPERAND_PATH) {
        if (row->structural == STRUCTURAL_MEMBER) return row_member_path(at, row, '.', next);
        if (row->structural == STRUCTURAL_KEY) return row_member_path(at, row, '*', next);
        if (row->structural == STRUCTURAL_INDEX) return row_member_path(at, row, '[', next);
    }
    static const uint8_t wanted[STRUCTURAL_COUNT] = { [STRUCTURAL_SET] = 1, [STRUCTURAL_BR] = 3, [STRUCTURAL_NEXT] = 4, [STRUCTURAL_MEMBER] = 2,
        [STRUCTURAL_KEY] = 2, [STRUCTURAL_INDEX] = 2, [STRUCTURAL_SETMEMBER] = 2, [STRUCTURAL_SETKEY] = 2, [STRUCTURAL_SETINDEX] = 2,
        [STRUCTURAL_PUT] = 2, [STRUCTURAL_LOAD] = 1, [STRUCTURAL_STORE] = 2, [STRUCTURAL_NEWARRAY] = 1, [STRUCTURAL_FILLARRAY] = 2,
        [STRUCTURAL_NEWMAP] = 1, [STRUCTURAL_NEWSTRUCT] = 1, [STRUCTURAL_CHECK] = 2 };
    if (row->read_count < wanted[row->structural]) return fault(heap, ERROR_RUNTIME, "%s wants %u operands", row->name, wanted[row->structural]);
    if (row->structural == STRUCTURAL_NEWSTRUCT && row->reads[0].kind == OPERAND_PATH) { /* the path names the struct, it is not read */
        struct operand path = row->reads[0];
        row->reads[0] = (struct operand){ .kind = OPERAND_CONSTANT };
        rc = gather(at, row, 0, &got);
        row->reads[0] = path;
    } else {
        rc = gather(at, row, 0, &got);
    }
    if (rc) return rc;
    bool made = false;
    switch (row->structural) {
    case STRUCTURAL_SET: result = cell_copy(heap, got.args[0]); made = true; break;
    case STRUCTURAL_BR: rc = row_branch(at, row, &got, next); break;
    case STRUCTURAL_NEXT: rc = row_next(at, row, &got, next); break;
    case STRUCTURAL_MEMBER: rc = row_member(at, row, &got, '.', next); break;
    case STRUCTURAL_KEY: rc = row_member(at, row, &got, '*', next); break;
    case STRUCTURAL_INDEX: rc = row_member(at, row, &got, '[', next); break;
    case STRUCTURAL_SETMEMBER: rc = row_put(at, row, "·", got.args + 1, 1, 0, got.args[0], next); break;
    case STRUCTURAL_SETKEY:
        if (got.count == 2) {
            rc = row_put(at, row, "*", got.args + 1, 1, row->literals >> 1, got.args[0], next);
            break;
        }
        __attribute__((fallthrough)); /* a tuple key by its parts */
    case STRUCTURAL_SETINDEX:
        snprintf(text, sizeof text, "[%u]", got.count - 1);
        rc = row_put(at, row, text, got.args + 1, got.count - 1, row->literals >> 1, got.args[0], next);
        break;
    case STRUCTURAL_PUT:
        rc = steps_text(at, got.args[1], text, sizeof text);
        if (!rc) rc = row_put(at, row, text, got.args + 2, got.count - 2, row->literals >> 2, got.args[0], next);
        break;
    case STRUCTURAL_LOAD: rc = place_load(at, got.args[0], &result); made = true; break;
    case STRUCTURAL_STORE:
        rc = place_store(at, got.args[0], got.args[1], row->literals >> 1 & 1);
        if (!rc) pc_commit(at->record, pc_make(at->ref, *next));
        break;
    case STRUCTURAL_LIST: rc = array_list(heap, got.args, got.count, &result); made = true; break;
    case STRUCTURAL_NEWARRAY:
    case STRUCTURAL_FILLARRAY:
        if (!row->type) rc = fault(heap, ERROR_RUNTIME, "%s wants a type", row->name);
        else rc = array_typed(heap, row->type->text, row->type->bytes, got.args + 1, got.count - 1, row->literals >> 1,
                              row->structural == STRUCTURAL_FILLARRAY, &result);
        made = true;
        break;
    case STRUCTURAL_NEWMAP: rc = row_new_map(at, row, &got, &result); made = true; break;
    case STRUCTURAL_NEWSTRUCT: rc = row_new_struct(at, row, &got, &result); made = true; break;
    case STRUCTURAL_CHECK: rc = row_check(at, row, &got, next); break;
    default: rc = fault(heap, ERROR_RUNTIME, "%s cannot be executed", row->name); break;
    }
    if (!rc && made) rc = results_write(at, row, &result, 1, *next);
    gathered_drop(at, &got);
    return rc;
}

/* ---- calls ---- */

static int argument_fault(struct activation *at, const struct link *callee, uint32_t index, const struct cell *value, int kind) {
    struct heap *heap = &at->core->heap;
    char type[160], why[sizeof heap->fault.message];
    const struct link_parameter *parameter = &callee->parameters[index];
    if (kind != ERROR_TYPE) {
        snprintf(why, sizeof why, "%s", heap->fault.message);
        return fault(heap, kind, "%s: parameter %s: %s", callee->name, parameter->name, why);
    }
    type_show(heap, value, type, sizeof type);
    char wanted[160];
    snprintf(wanted, sizeof wanted, "%s", parameter->type->text);
    type_shorten(wanted);
    return fault(heap, ERROR_TYPE, "%s: parameter %s wants %s, not %s", callee->name, parameter->name, wanted, type);
}

/* Argument `index` as its parameter wants it; *out owned. */
static int argument_fit(struct activation *at, const struct link *callee, uint32_t index, const struct operand *operand, const struct cell *value, struct cell *out) {
    struct heap *heap = &at->core->heap;
    const struct link_parameter *parameter = &callee->parameters[index];
    if (parameter->pointer) {
        if (cell_tag(value) == TAG_POINTER || (cell_is_text(value) && !operand)) {
            *out = cell_copy(heap, value);
            return 0;
        }
        if (operand && operand->kind != OPERAND_CONSTANT) return place_address(at, operand, "", NULL, 0, out);
        return argument_fault(at, callee, index, value, ERROR_TYPE);
    }
    if (cell_is_none(value) && !parameter->any) return argument_fault(at, callee, index, value, ERROR_TYPE);
    int rc = type_fit(heap, parameter->type->form, value, operand && operand->literal, out);
    return rc ? argument_fault(at, callee, index, value, rc) : 0;
}

/* xs:T... : a compact array where the arguments can form one, else an [int64] map. */
static int arguments_collect(struct activation *at, const struct link *callee, const struct row *row, const struct gathered *got, uint32_t from, struct cell *out) {
    struct heap *heap = &at->core->heap;
    uint32_t last = callee->reads - 1, count = got->count > from ? got->count - from : 0;
    const struct type_info *type = callee->parameters[last].type;
    enum kv_kind kind = typexpr_only_kind(type->form);
    if (!count && kind) {
        uint64_t none = 0;
        return array_new(heap, kind, 1, &none, out);
    }
    struct cell *fitted = calloc(count + 1, sizeof *fitted);
    const struct cell **list = calloc(count + 1, sizeof *list);
    int rc = 0;
    uint32_t done = 0;
    if (!fitted || !list) {
        free(fitted);
        free(list);
        return fault(heap, ERROR_OUT_OF_MEMORY, "no memory for %u arguments", count);
    }
    for (; done < count; done++) {
        list[done] = &fitted[done];
        rc = argument_fit(at, callee, last, row ? &row->reads[1 + from + done] : NULL, got->args[from + done], &fitted[done]);
        if (rc) break;
    }
    bool scalars = count > 0;
    for (uint32_t i = 0; !rc && i < count; i++) {
        if (!cell_is_scalar(&fitted[i]) || cell_kind(&fitted[i]) != cell_kind(&fitted[0])) scalars = false;
    }
    if (!rc && scalars) {
        rc = array_list(heap, list, count, out);
    } else if (!rc) {
        const struct type_info *map_type;
        char text[KVSPACE_TYPE_MAX];
        int length = snprintf(text, sizeof text, "[int64]·%s", type->text);
        rc = type_of_text(heap, text, (size_t)length, &map_type);
        if (!rc) rc = map_new(heap, map_type, count, out);
        for (uint32_t i = 0; !rc && i < count; i++) {
            struct cell key = cell_int64((int64_t)i), next;
            rc = map_set(heap, out, &key, &fitted[i], 0, &next);
            if (!rc && next.payload != out->payload) {
                cell_drop(heap, *out);
                *out = next;
            }
            if (rc) cell_drop(heap, *out);
        }
    }
    drop_all(at, fitted, done);
    free(fitted);
    free(list);
    return rc;
}

/* Fills the callee's cells from evaluated arguments. On an error nothing is held. `row` may be NULL: a vthread's entry. */
int arguments_bind(struct activation *at, const struct link *callee, const struct row *row, const struct cell *const *args, uint32_t count, struct cell *cells) {
    struct heap *heap = &at->core->heap;
    uint32_t fixed = callee->reads - (callee->variadic ? 1 : 0);
    if (count < fixed || (count > fixed && !callee->variadic)) {
        return fault(heap, ERROR_TYPE, "%s takes %u arguments, not %u", callee->name, callee->reads, count);
    }
    uint32_t i = 0;
    int rc = 0;
    for (; i < fixed; i++) {
        rc = argument_fit(at, callee, i, row ? &row->reads[1 + i] : NULL, args[i], &cells[i]);
        if (rc) break;
    }
    if (!rc && callee->variadic) {
        struct gathered rest = { .args = (const struct cell **)(uintptr_t)args, .count = count };
        rc = arguments_collect(at, callee, row, &rest, fixed, &cells[i]);
        if (!rc) i++;
    }
    if (rc) {
        while (i-- > 0) cell_drop(heap, cells[i]);
        return rc;
    }
    for (; i < callee->cells; i++) cells[i] = cell_none();
    return 0;
}

/* Where the frame of a tail call goes: to where this one began if there is room in front of it, else behind it. */
static uint32_t tail_place(struct activation *at, uint32_t units) {
    struct frame *frame = at->frame;
    uint32_t begin = frame->segment + 1;
    if (frame->caller) {
        const struct frame *caller = frame_at(&at->core->heap, frame->caller);
        if (caller->segment == frame->segment) begin = frame->caller + caller->units;
    }
    return at->ref - begin >= units ? begin : at->ref + frame->units;
}

int row_call(struct activation *at, struct call_site *site, uint32_t number, bool tail) {
    struct core *core = at->core;
    struct heap *heap = &core->heap;
    struct frame *caller = at->frame;
    struct link *callee;
    uint32_t limit = at->record->depth_limit, depth = caller->depth + (tail ? 0 : 1);
    uint32_t seen = code_changes(core);
    int rc = 0;
    if (site->callee && site->epoch == seen) callee = site->callee;
    else rc = link_function(core, site->path, &callee);
    if (rc) return rc;
    site->callee = callee;
    site->fast = site->simple && !callee->variadic && (uint32_t)site->row->read_count - 1 == callee->reads;
    site->epoch = seen;
    if (depth >= limit) return fault(heap, ERROR_RECURSION, "more than %u calls deep", limit);
    struct gathered got;
    rc = gather(at, site->row, 1, &got);
    if (rc) return rc;
    uint32_t units = FRAME_UNITS + callee->cells, ref, segment;
    rc = frame_place(core, at->record, caller->segment, tail ? tail_place(at, units) : at->ref + caller->units, units, &ref, &segment);
    if (!rc) rc = arguments_bind(at, callee, site->row, got.args, got.count, frame_cells(frame_at(heap, ref)));
    gathered_drop(at, &got);
    if (rc) return rc;
    struct frame *frame = frame_at(heap, ref);
    *frame = (struct frame){ .caller = tail ? caller->caller : at->ref, .caller_row = tail ? caller->caller_row : number,
                             .function = callee->function, .link = callee->number + 1, .segment = segment, .units = units,
                             .depth = depth, .cells = callee->cells, .generation = ++at->record->generation };
    pc_commit(at->record, pc_make(ref, 1));
    at->record->steps++;
    if (tail) frame_drop(core, caller);
    at->frame = frame;
    at->cells = frame_cells(frame);
    at->link = callee;
    at->ref = ref;
    return ROW_ENTERED;
}

int row_return(struct activation *at) {
    struct core *core = at->core;
    struct frame *frame = at->frame;
    if (!frame->caller) return ROW_FINISHED;
    struct activation back = { .core = core, .record = at->record };
    int rc = activation_enter(&back, frame->caller);
    if (rc) return rc;
    struct row *site = frame->caller_row <= back.link->rows ? back.link->row[frame->caller_row] : NULL;
    if (!site) return fault(&core->heap, ERROR_RUNTIME, "the row that called %s is gone", at->link->name);
    struct cell old[ROW_INLINE];
    if (site->write_count > ROW_INLINE) return fault(&core->heap, ERROR_RUNTIME, "more than %d results", ROW_INLINE);
    if (site->write_count && !at->link->writes) return fault(&core->heap, ERROR_TYPE, "%s has no results", at->link->name);
    uint32_t done = 0;
    for (; done < site->write_count && !rc; done++) {
        uint32_t which = at->link->writes == 1 ? 0 : done;
        struct cell value = which < at->link->writes ? cell_copy(&core->heap, &at->cells[at->link->reads + which]) : cell_none();
        rc = slot_write(&back, &site->writes[done], value, &old[done]);
    }
    if (!rc) pc_commit(at->record, pc_make(back.ref, frame->caller_row + 1));
    drop_all(at, old, done);
    if (rc) return rc;
    frame_drop(core, frame);
    *at = back;
    return ROW_ENTERED;
}

int row_run(struct activation *at, uint32_t number, uint32_t *next) {
    struct link *link = at->link;
    if (number < 1 || number > link->rows) return row_return(at);
    struct row *row = link->row[number];
    *next = number + 1;
    if (row->site) return row_call(at, row->site, number, link->code[number].op == OP_TAILCALL);
    switch (link->code[number].op) {
    case OP_RETURN: return row_return(at);
    case OP_GOTO:
        *next = link->code[number].a;
        pc_commit(at->record, pc_make(at->ref, *next));
        return 0;
    default: return row->structural ? row_structural(at, row, next) : row_native(at, row, next);
    }
}

void exec_adopt(struct core *core, struct vthread_record *record) {
    uint32_t now = code_changes(core);
    if (record->owner == core->incarnation && record->code_seen == now) return;
    /* The links that frames carry are another process's, or their rows may have been edited. */
    for (uint32_t ref = pc_frame(pc_seen(record)); ref; ref = frame_at(&core->heap, ref)->caller) frame_at(&core->heap, ref)->link = 0;
    store_order();
    record->owner = core->incarnation;
    record->code_seen = now;
}

int exec_resume(struct core *core, struct vthread_record *record) {
    struct activation at = { .core = core, .record = record };
    uint64_t pc = pc_seen(record);
    exec_adopt(core, record);
    if ((pc & ~PC_STAGED) != record->token_pc) record->token_pc = 0;
    if (!(pc & PC_STAGED)) return 0;
    int rc = activation_enter(&at, pc_frame(pc));
    return rc ? rc : row_finish_staged(&at);
}
