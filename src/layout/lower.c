/* Rows, labels, temporaries, names and the flow of types: the ground that the other lower_*.c stand on.
 * Relies on lower.h. Temporaries are the lowest free number, so that few cells are used; a row's result is chosen before its operands are
 * released, so that no row writes a temporary that it reads. Promise: without memory nothing is lost but the result. */
#include "layout/lower.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *lower_grow(struct lower *lower, void *items, uint32_t used, uint32_t *room, size_t size) {
    if (used < *room) return items;
    uint32_t wider = *room ? *room * 2 : 64;
    void *more = realloc(items, wider * size);
    if (!more) {
        lower->out_of_memory = true;
        return NULL;
    }
    *room = wider;
    return more;
}

/* Grows lower->FIELD for one more; leaves the function with `out` where memory ends. */
#define GROW(field, count, room, out)                                                                                    \
    do {                                                                                                                  \
        void *grown = lower_grow(lower, lower->field, lower->count, &lower->room, sizeof *lower->field);                   \
        if (!grown) return out;                                                                                           \
        lower->field = grown;                                                                                             \
    } while (0)

void lower_error(struct lower *lower, struct ast_pos at, enum diag_kind kind, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(lower->diags, kind, at, "%s", text);
}

/* ---- labels and rows ---- */

uint32_t lower_label(struct lower *lower) {
    GROW(labels, label_count, label_room, 0);
    lower->labels[lower->label_count] = UINT32_MAX;
    return lower->label_count++;
}

void lower_place(struct lower *lower, uint32_t label) {
    if (label < lower->label_count) lower->labels[label] = lower->row_count;
}

struct layout_slot lower_label_slot(uint32_t label) {
    return (struct layout_slot){.kind = SLOT_LABEL, .as.bits = label};
}

void lower_push(struct lower *lower, struct value value) {
    GROW(stack, stack_count, stack_room, );
    lower->stack[lower->stack_count++] = value;
}

void lower_row_of(struct lower *lower, struct ast_text opcode, uint32_t mark, const struct layout_slot *writes, uint32_t write_count) {
    uint32_t reads = lower->stack_count > mark ? lower->stack_count - mark : 0;
    void *grown = lower_grow(lower, lower->rows, lower->row_count, &lower->row_room, sizeof *lower->rows);
    struct layout_slot *slots = ast_alloc(lower->arena, (reads + write_count + 1) * sizeof *slots);
    if (grown) lower->rows = grown;
    if (!slots) lower->out_of_memory = true;
    for (uint32_t i = 0; i < reads; i++) {
        if (slots) slots[i] = lower->stack[mark + i].slot;
        lower_release(lower, &lower->stack[mark + i]);
    }
    lower->stack_count = mark;
    if (!grown || !slots) return;
    for (uint32_t i = 0; i < write_count; i++) slots[reads + i] = writes[i];
    lower->rows[lower->row_count++] = (struct layout_row){.opcode = opcode, .slots = slots, .reads = reads, .writes = write_count,
        .line = lower->at.line, .column = lower->at.column};
}

void lower_row(struct lower *lower, const char *opcode, uint32_t mark, const struct layout_slot *writes, uint32_t write_count) {
    lower_row_of(lower, ast_text_of(opcode), mark, writes, write_count);
}

static struct value label_value(uint32_t label) {
    return (struct value){.slot = lower_label_slot(label)};
}

void lower_goto(struct lower *lower, uint32_t label) {
    uint32_t mark = lower->stack_count;
    lower_push(lower, label_value(label));
    lower_row(lower, "goto", mark, NULL, 0);
}

void lower_branch(struct lower *lower, struct value condition, uint32_t yes, uint32_t no) {
    uint32_t mark = lower->stack_count;
    lower_push(lower, condition);
    lower_push(lower, label_value(yes));
    lower_push(lower, label_value(no));
    lower_row(lower, "br", mark, NULL, 0);
}

/* ---- temporaries ---- */

static struct ast_text temp_name(struct lower *lower, uint32_t number) {
    char text[24];
    int length = snprintf(text, sizeof text, "\xe2\x80\xa5%u", (unsigned)number);
    return ast_copy(lower->arena, (struct ast_text){text, (uint32_t)length});
}

struct value lower_temp(struct lower *lower) {
    uint32_t number = 1;
    while (number <= lower->temp_high && lower->temps_busy[number]) number++;
    if (number > lower->temp_high) {
        uint32_t room = lower->temp_room;
        uint8_t *busy = lower_grow(lower, lower->temps_busy, number, &room, sizeof *busy);
        if (!busy) return (struct value){.slot = rows_name(ast_text_of("_"))};
        lower->temps_busy = busy;
        struct ast_text *names = realloc(lower->temp_names, room * sizeof *names);
        if (!names) {
            lower->out_of_memory = true;
            return (struct value){.slot = rows_name(ast_text_of("_"))};
        }
        lower->temp_names = names;
        lower->temp_room = room;
        lower->temp_high = number;
        lower->temp_names[number] = temp_name(lower, number);
    }
    lower->temps_busy[number] = 1;
    return (struct value){.slot = rows_name(lower->temp_names[number]), .temp = number};
}

struct value lower_result(struct lower *lower, const struct layout_slot *into) {
    if (!into) return lower_temp(lower);
    return (struct value){.slot = *into};
}

void lower_release(struct lower *lower, struct value *value) {
    if (value->temp) lower->temps_busy[value->temp] = 0;
    value->temp = 0;
}

/* ---- names ---- */

static uint32_t hash_of(struct ast_text text) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < text.length; i++) hash = (hash ^ (unsigned char)text.at[i]) * 16777619u;
    return hash ^ hash >> 15;
}

struct local *lower_known(struct lower *lower, struct ast_text name) {
    if (!lower->table_room) return NULL;
    struct local *local = lower->table[hash_of(name) & (lower->table_room - 1)];
    while (local && !ast_text_equal(local->name, name)) local = local->next;
    return local;
}

static void table_widen(struct lower *lower) {
    uint32_t room = lower->table_room ? lower->table_room * 4 : 64;
    struct local **table = calloc(room, sizeof(struct local *));
    if (!table) {
        lower->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < lower->table_room; i++)
        for (struct local *local = lower->table[i], *next; local; local = next) {
            next = local->next;
            struct local **place = &table[hash_of(local->name) & (room - 1)];
            local->next = *place;
            *place = local;
        }
    free(lower->table);
    lower->table = table;
    lower->table_room = room;
}

struct local *lower_local(struct lower *lower, struct ast_text name) {
    struct local *local = lower_known(lower, name);
    if (local) return local;
    if (lower->local_count >= lower->table_room) table_widen(lower);
    local = ast_alloc(lower->arena, sizeof *local);
    if (!local || !lower->table_room) {
        static struct local spare; /* never reached by a unit that is used: out_of_memory ends it */
        lower->out_of_memory = true;
        return local ? local : &spare;
    }
    local->name = name;
    struct local **place = &lower->table[hash_of(name) & (lower->table_room - 1)];
    local->next = *place;
    *place = local;
    lower->local_count++;
    return local;
}

/* ---- the flow of types ---- */

void lower_set_type(struct lower *lower, struct local *local, const struct type *type) {
    if (local->flow == type) return;
    void *grown = lower_grow(lower, lower->trail, lower->trail_count, &lower->trail_room, sizeof *lower->trail);
    if (!grown) return;
    lower->trail = grown;
    lower->trail[lower->trail_count++] = (struct trail_entry){local, local->flow};
    local->flow = type;
}

const struct type *lower_name_type(const struct local *local) {
    if (local->declared) return local->declared;
    return local->addressed ? NULL : local->flow;
}

void lower_forget_writes(struct lower *lower, const struct loop_writes *loop) {
    for (uint32_t i = loop->from; i < loop->to && i < lower->written_count; i++) {
        struct local *local = lower->written[i];
        lower_set_type(lower, local, types_within(local->all, local->flow) ? local->all : NULL);
    }
}

void lower_flow_begin(struct lower *lower, struct flow *flow) {
    *flow = (struct flow){.mark = lower->trail_count};
}

/* Keeps what the branch left in each name that it wrote, and takes the names back to before it. */
void lower_flow_branch_done(struct lower *lower, struct flow *flow) {
    bool counts = lower->reachable;
    if (counts) flow->branches++;
    uint32_t stamp = ++lower->stamp;
    while (lower->trail_count > flow->mark) {
        struct trail_entry entry = lower->trail[--lower->trail_count];
        if (counts && entry.local->stamp != stamp) { /* met first: the type at the end of the branch */
            entry.local->stamp = stamp;
            void *grown = lower_grow(lower, flow->ends, flow->end_count, &flow->end_room, sizeof *flow->ends);
            if (grown) {
                flow->ends = grown;
                flow->ends[flow->end_count++] = (struct trail_entry){entry.local, entry.local->flow};
            }
        }
        entry.local->flow = entry.before;
    }
}

/* A name keeps a type if every branch that reaches the end left the same one; a branch that did not write it left the old. */
void lower_flow_end(struct lower *lower, struct flow *flow) {
    uint32_t stamp = ++lower->stamp;
    for (uint32_t i = 0; i < flow->end_count; i++) {
        struct local *local = flow->ends[i].local;
        if (local->stamp != stamp) {
            local->stamp = stamp;
            local->merge_type = flow->ends[i].before;
            local->merged = 0;
        } else if (local->merge_type != flow->ends[i].before) local->merge_type = NULL;
        local->merged++;
    }
    for (uint32_t i = 0; i < flow->end_count; i++) {
        struct local *local = flow->ends[i].local;
        if (local->stamp != stamp) continue;
        bool all = local->merged == flow->branches || local->merge_type == local->flow;
        local->stamp = 0;
        lower_set_type(lower, local, all ? local->merge_type : NULL);
    }
    free(flow->ends);
    flow->ends = NULL;
}
