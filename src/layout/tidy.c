/* The last look at a function's rows: jumps to jumps are shortened, calls before a return become tail calls where that is
 * allowed, rows that nothing reaches go, and labels become row numbers.
 * Relies on lower.h. Promise: linear; what a program does is unchanged, errors and their places included. */
#include <stdlib.h>
#include <string.h>
#include "layout/lower.h"

static bool is(const struct layout_row *row, const char *opcode) {
    return ast_text_is(row->opcode, opcode);
}

/* The row a jump to index ends at, following gotos; loops of gotos end where they began. */
static uint32_t final_target(const struct layout_row *rows, uint32_t count, uint32_t index) {
    for (uint32_t hops = 0; index < count && hops < 64 && is(&rows[index], "goto"); hops++) {
        uint32_t next = (uint32_t)rows[index].slots[0].as.bits;
        if (next == index) break;
        index = next;
    }
    return index;
}

static void resolve(struct lower *lower) {
    for (uint32_t i = 0; i < lower->row_count; i++)
        for (uint32_t j = 0; j < lower->rows[i].reads; j++) {
            struct layout_slot *slot = &lower->rows[i].slots[j];
            if (slot->kind != SLOT_LABEL) continue;
            uint32_t label = (uint32_t)slot->as.bits;
            slot->as.bits = label < lower->label_count && lower->labels[label] <= lower->row_count ? lower->labels[label] : 0;
        }
}

static void shorten(struct lower *lower) {
    struct layout_row *rows = lower->rows;
    for (uint32_t i = 0; i < lower->row_count; i++) {
        for (uint32_t j = 0; j < rows[i].reads; j++)
            if (rows[i].slots[j].kind == SLOT_LABEL) rows[i].slots[j].as.bits = final_target(rows, lower->row_count, (uint32_t)rows[i].slots[j].as.bits);
        if (!is(&rows[i], "goto")) continue;
        const struct layout_row *target = &rows[rows[i].slots[0].as.bits];
        if (is(target, "return")) {
            rows[i].opcode = target->opcode;
            rows[i].reads = 0;
        }
    }
}

/* ---- tail calls ---- */

static bool results_are_ours(const struct lower *lower, const struct layout_row *row, struct symbol *callee) {
    if (callee->writes != lower->writes || row->writes != lower->writes) return false;
    for (uint32_t i = 0; i < row->writes; i++) {
        const struct layout_slot *slot = &row->slots[row->reads + i];
        const struct type *ours = lower->write_types[i], *theirs = callee->params[callee->reads + i].type;
        if (slot->kind != SLOT_NAME || !ast_text_equal(slot->as.text, lower->params[lower->reads + i]->name)) return false;
        if (ours && !ours->any && !types_within(ours, theirs)) return false;
    }
    return true;
}

/* An argument may hold an address in the frame only where the function takes addresses, and then only in what is no plain scalar. */
static bool may_point_here(struct lower *lower, const struct layout_slot *slot) {
    if (!lower->takes_addresses || slot->kind != SLOT_NAME) return false;
    struct local *local = lower_known(lower, slot->as.text);
    const struct type *type = local ? local->declared : NULL;
    return !type || (!type->scalar && !type->string);
}

static void mark_tail_calls(struct lower *lower) {
    struct layout_row *rows = lower->rows;
    for (uint32_t i = 0; i + 1 < lower->row_count; i++) {
        if (!is(&rows[i], "call") || !is(&rows[i + 1], "return")) continue;
        struct symbol *callee = scope_find(lower->scope, rows[i].slots[0].as.text);
        if (!callee || callee->kind != FOUND_FUNCTION) continue;
        scope_type_params(lower->scope, callee);
        if (!results_are_ours(lower, &rows[i], callee)) continue;
        bool allowed = true;
        for (uint32_t j = 1; j < rows[i].reads; j++) allowed = allowed && !may_point_here(lower, &rows[i].slots[j]);
        if (!allowed) continue;
        rows[i].opcode = ast_text_of("tailcall");
        rows[i].writes = 0;
    }
}

/* ---- dead rows ---- */

static bool falls_through(const struct layout_row *row) {
    return !is(row, "goto") && !is(row, "br") && !is(row, "return") && !is(row, "tailcall") && !is(row, "next");
}

static void mark_alive(const struct lower *lower, uint8_t *alive, uint32_t *todo) {
    uint32_t waiting = 0;
    todo[waiting++] = 0;
    while (waiting) {
        uint32_t row = todo[--waiting];
        while (row < lower->row_count && !alive[row]) {
            alive[row] = 1;
            for (uint32_t j = 0; j < lower->rows[row].reads; j++) {
                const struct layout_slot *slot = &lower->rows[row].slots[j];
                if (slot->kind == SLOT_LABEL && slot->as.bits < lower->row_count && !alive[slot->as.bits]) todo[waiting++] = (uint32_t)slot->as.bits;
            }
            if (!falls_through(&lower->rows[row])) break;
            row++;
        }
    }
}

/* A goto to the next living row says nothing. */
static void drop_idle_gotos(const struct lower *lower, uint8_t *alive) {
    for (uint32_t i = lower->row_count; i-- > 0;) {
        if (!alive[i] || !is(&lower->rows[i], "goto")) continue;
        uint32_t next = i + 1;
        while (next < lower->row_count && !alive[next]) next++;
        uint32_t target = (uint32_t)lower->rows[i].slots[0].as.bits;
        while (target < lower->row_count && !alive[target]) target++;
        if (next == target && i != target) alive[i] = 0;
    }
}

static void renumber(struct lower *lower, const uint8_t *alive, uint32_t *numbers, struct layout_item *item) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < lower->row_count; i++) count += alive[i];
    for (uint32_t i = lower->row_count, number = count + 1; i-- > 0;) numbers[i] = alive[i] ? --number : number;
    item->rows = ast_alloc(lower->arena, (count + 1) * sizeof *item->rows);
    if (!item->rows) {
        lower->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < lower->row_count; i++) {
        if (!alive[i]) continue;
        struct layout_row *row = &item->rows[item->row_count++];
        *row = lower->rows[i];
        for (uint32_t j = 0; j < row->reads; j++)
            if (row->slots[j].kind == SLOT_LABEL) row->slots[j] = rows_int(numbers[row->slots[j].as.bits]);
    }
}

void lower_tidy(struct lower *lower, struct layout_item *item) {
    uint32_t count = lower->row_count;
    if (lower->out_of_memory || !count) return;
    resolve(lower);
    shorten(lower);
    mark_tail_calls(lower);
    uint8_t *alive = calloc(count + 1, 1);
    uint32_t *numbers = malloc((3 * (size_t)count + 8) * sizeof *numbers);
    if (alive && numbers) {
        mark_alive(lower, alive, numbers);
        drop_idle_gotos(lower, alive);
        renumber(lower, alive, numbers, item);
    } else lower->out_of_memory = true;
    free(alive);
    free(numbers);
}
