/* Errors of the program: what is kept in the record, and the chain of calls as text.
 * Relies on vthread.h and link.h. Promises: the chain is whole up to CHAIN_ENDS frames at each end; a full space loses the
 * texts of the error, never its status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exec.h"
#include "core/text.h"
#include "kvspace/textout.h"

enum { CHAIN_ENDS = 40 };

const char *const vthread_status_names[STATUS_COUNT] = { "init", "running", "wait", "paused", "done", "error" };

static struct link *link_at(struct core *core, struct vthread_record *record, struct frame *frame) {
    struct activation at = { .core = core, .record = record };
    uint32_t ref = (uint32_t)((uint64_t)((unsigned char *)frame - core->heap.base) >> 4);
    return activation_enter(&at, ref) ? NULL : at.link;
}

static void place_of(struct link *link, uint32_t row, int32_t *line, int32_t *column) {
    *line = *column = 0;
    if (!link || !link->map) return;
    if (row > link->rows) row = link->rows;
    /* A row that stands for no place in the source is shown at the one before it. */
    for (;; row--) {
        *line = link->map[2 * row];
        *column = link->map[2 * row + 1];
        if (*line > 0 || row == 0) return;
    }
}

/* `at f (file:line)` for each frame, innermost last. */
static void chain_render(struct core *core, struct vthread_record *record, uint32_t row, struct text_out *out) {
    uint64_t pc = pc_seen(record);
    struct frame *top = frame_at(&core->heap, pc_frame(pc));
    uint32_t depth = top->depth + 1;
    struct frame **frames = malloc(sizeof *frames * 2 * CHAIN_ENDS);
    uint32_t *rows = malloc(sizeof *rows * 2 * CHAIN_ENDS), kept = 0, index = 0;
    if (!frames || !rows) {
        free(frames);
        free(rows);
        return;
    }
    struct frame *frame = top;
    for (;; index++) {
        if (index < CHAIN_ENDS || index + CHAIN_ENDS >= depth) {
            if (kept < 2 * CHAIN_ENDS) {
                frames[kept] = frame;
                rows[kept++] = row;
            }
        }
        if (!frame->caller) break;
        row = frame->caller_row;
        frame = frame_at(&core->heap, frame->caller);
    }
    uint32_t count = index + 1;
    for (uint32_t i = kept; i-- > 0;) {
        struct link *link = link_at(core, record, frames[i]);
        int32_t line, column;
        char text[64];
        if (count > kept && i == CHAIN_ENDS - 1) {
            snprintf(text, sizeof text, "  … %u more calls\n", count - kept);
            text_puts(out, text);
        }
        /* What the runtime itself has put before the program is none of its user's. */
        if (link && strncmp(link->name, "‥", strlen("‥")) == 0) continue;
        place_of(link, rows[i], &line, &column);
        text_puts(out, "  at ");
        text_puts(out, link ? link->name : "?");
        text_puts(out, " (");
        text_puts(out, link ? link->file : "?");
        snprintf(text, sizeof text, ":%d)\n", line);
        text_puts(out, text);
    }
    free(frames);
    free(rows);
}

static void keep_text(struct core *core, struct cell *place, const char *text) {
    struct cell made, old = *place;
    if (text_from_utf8(&core->heap, text, strlen(text), &made)) made = cell_none();
    cell_put(place, made);
    cell_drop(&core->heap, old);
}

void error_record(struct core *core, struct vthread_record *record, struct link *link, uint32_t row) {
    struct fault what = core->heap.fault;
    int32_t line, column;
    char place[1200];
    if (what.kind <= 0 || what.kind >= ERROR_KIND_COUNT) what.kind = ERROR_RUNTIME;
    place_of(link, row, &line, &column);
    snprintf(place, sizeof place, "%s:%d:%d", link ? link->file : "?", line, column);
    record->error_row = row;
    struct text_buffer buffer = { 0 };
    struct text_out out = text_buffer_out(&buffer);
    chain_render(core, record, row, &out);
    free(core->chain);
    core->chain = buffer.bytes;
    keep_text(core, &record->error_kind, error_kind_name(what.kind));
    keep_text(core, &record->error_message, what.message);
    keep_text(core, &record->error_place, place);
    keep_text(core, &record->error_chain, core->chain ? core->chain : "");
    atomic_store_explicit(&record->status, STATUS_ERROR, memory_order_release);
    core->heap.fault = what;
}
