/* What the parts of the executor share: the loop (exec.c), single rows (row.c), places and pointers (place.c), frames
 * (frame.c). Private to the core. Promises are those of vthread.h: order of stores, one commit a row. */
#ifndef CORE_EXEC_H
#define CORE_EXEC_H

#include "core/link.h"
#include "core/runtime.h"

/* The frame that runs. */
struct activation {
    struct core *core;
    struct vthread_record *record;
    struct frame *frame;
    struct cell *cells;
    struct link *link;
    uint32_t ref;
};

/* Keeps the compiler from moving stores over this line: a kill between two stores must find them in the order written. */
static inline void store_order(void) {
    atomic_signal_fence(memory_order_seq_cst);
    MARK();
}

/* Puts an owned value into a cell that others may look at; gives back what was there, to be dropped after the commit.
 * When the form changes, the cell is None in between: a kill there leaks the old value, and leaves no wrong pair. */
static inline struct cell cell_put(struct cell *place, struct cell value) {
    struct cell old = *place;
    if ((old.head & CELL_VALUE_BITS) == (value.head & CELL_VALUE_BITS)) {
        *(volatile uint64_t *)&place->payload = value.payload;
        return old;
    }
    *(volatile uint64_t *)&place->head = 0;
    MARK();
    *(volatile uint64_t *)&place->payload = value.payload;
    MARK();
    *(volatile uint64_t *)&place->head = value.head & CELL_VALUE_BITS;
    return old;
}

/* Points the activation at a frame; 0, or an error when its function cannot be linked. */
int activation_enter(struct activation *at, uint32_t ref);

/* ---- row.c: one row by the general path. All commit the counter themselves. ---- */
enum { ROW_NEXT = 0, ROW_ENTERED = -1, ROW_FINISHED = -2, ROW_WAIT = -3 };
/* Executes row `number` of the activation's function, whatever its opcode. ROW_NEXT: *next is the row that follows in the
 * same frame (committed). ROW_ENTERED: another frame runs now. ROW_FINISHED: the last frame has returned. An ERROR_ kind. */
int row_run(struct activation *at, uint32_t number, uint32_t *next);
int row_call(struct activation *at, struct call_site *site, uint32_t number, bool tail);
/* Fills a callee's cells from evaluated arguments; `row` (its read 0 is the function) tells literals and places, NULL: none. */
int arguments_bind(struct activation *at, const struct link *callee, const struct row *row, const struct cell *const *args, uint32_t count, struct cell *cells);
int row_return(struct activation *at);
/* After a crash: finishes the row whose staged bit is set. */
int row_finish_staged(struct activation *at);

/* ---- frame.c ---- */
/* Room for a frame of `cells` cells at `wanted` or in another segment; *segment is the one it lies in. */
int frame_place(struct core *core, struct vthread_record *record, uint32_t segment, uint32_t wanted, uint32_t units, uint32_t *ref, uint32_t *in_segment);
uint32_t segment_end(const struct heap *heap, uint32_t segment);
void frame_drop(struct core *core, struct frame *frame);
/* The stack segments of a vthread that has ended, but for the one with its first frame. */
void frames_give_back(struct core *core, struct vthread_record *record);
/* The frame of that generation on the stack at `ref`, NULL when it is gone. */
struct frame *frame_alive(struct core *core, uint32_t ref, uint64_t generation);
/* /vthread/7/[3,0]/[1,0] */
size_t frame_path(struct core *core, struct frame *frame, char *out, size_t capacity);

/* ---- breaks.c ---- */
/* Reads the vthread's breakpoints, if there are any or were any: all functions are then labelled anew. */
void breaks_load(struct core *core, const struct vthread_record *record);
/* Lets rows of the function that have a breakpoint go to `label`. */
void breaks_label(const struct core *core, struct link *link, const void *label);
void breaks_close(struct core *core);

/* ---- place.c ---- */
/* Values of operands and steps; `out` owned. */
int place_load(struct activation *at, const struct cell *pointer, struct cell *out);
int place_store(struct activation *at, const struct cell *pointer, const struct cell *value, bool literal);
int place_address(struct activation *at, const struct operand *place, const char *steps, const struct cell *const *args, unsigned count, struct cell *out);
/* base·name ('.'), base·*k ('*'), base[i…] ('['); pointers and path texts are followed. */
int place_get(struct activation *at, const struct cell *base, const struct cell *const *keys, unsigned count, char mark, struct cell *out);
int place_get_path(struct activation *at, const char *path, const struct cell *const *keys, unsigned count, char mark, struct cell *out);
/* base·k = v and its kin, `steps` as in docs/rows.md; the base is the row's write slot. *own: *changed is the base's new value,
 * which the caller puts and commits (same payload: changed in place); else everything has been written elsewhere. */
int place_put(struct activation *at, struct row *row, const char *steps, const struct cell *const *keys, unsigned key_count, uint64_t literals,
              const struct cell *value, bool literal, bool *own, struct cell *changed);
int pointer_text(struct heap *heap, const struct cell *pointer, char *out, size_t capacity);
/* A read slot as a value: *cell borrowed, or made in *scratch (owned) when it stands in the tree. */
int operand_value(struct activation *at, const struct operand *operand, struct cell *scratch, const struct cell **cell);

#endif
