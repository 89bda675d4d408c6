/* Stack segments and frames: where the next one goes, how one ends, how it is named.
 * Relies on vthread.h. Promises: a frame never moves; memory above the running frame belongs to nobody. */
#include <stdio.h>

#include "core/exec.h"

enum { SEGMENT_UNITS = 512, SEGMENT_UNITS_MAX = 1 << 21 }; /* 8 KiB, 32 MiB */

static struct segment *segment_at(const struct heap *heap, uint32_t ref) {
    return (struct segment *)(void *)(heap->base + ((uint64_t)ref << 4));
}

uint32_t segment_end(const struct heap *heap, uint32_t segment) { return segment + segment_at(heap, segment)->units; }

static int segment_new(struct heap *heap, uint32_t previous, uint32_t next, uint32_t units, uint32_t *out) {
    uint64_t usable;
    int rc = heap->allocate(heap, (uint64_t)units * 16, out, &usable);
    if (rc) return rc;
    *segment_at(heap, *out) = (struct segment){ .previous = previous, .next = next, .units = units };
    if (next) segment_at(heap, next)->previous = *out;
    store_order();
    if (previous) segment_at(heap, previous)->next = *out;
    return 0;
}

int frame_place(struct core *core, struct vthread_record *record, uint32_t segment, uint32_t wanted, uint32_t units, uint32_t *ref, uint32_t *in_segment) {
    struct heap *heap = &core->heap;
    if (segment && (uint64_t)wanted + units <= segment_end(heap, segment)) {
        *ref = wanted;
        *in_segment = segment;
        return 0;
    }
    uint32_t next = segment ? segment_at(heap, segment)->next : record->segment;
    if (!next || segment_at(heap, next)->units < units + 1) {
        uint64_t size = segment ? (uint64_t)segment_at(heap, segment)->units * 2 : SEGMENT_UNITS;
        if (size > SEGMENT_UNITS_MAX) size = SEGMENT_UNITS_MAX;
        if (size < (uint64_t)units + 1) size = (uint64_t)units + 1;
        int rc = segment_new(heap, segment, next, (uint32_t)size, &next);
        if (rc) return rc;
        if (!segment) record->segment = next;
    }
    *ref = next + 1;
    *in_segment = next;
    return 0;
}

void frame_drop(struct core *core, struct frame *frame) {
    struct cell *cells = frame_cells(frame);
    for (uint32_t i = 0; i < frame->cells; i++) {
        if (cells[i].head & CELL_BLOCK) cell_drop(&core->heap, cells[i]);
        cells[i] = cell_none();
    }
    frame->generation = 0;
}

void frames_give_back(struct core *core, struct vthread_record *record) {
    struct heap *heap = &core->heap;
    if (!record->segment) return;
    uint32_t next = segment_at(heap, record->segment)->next;
    segment_at(heap, record->segment)->next = 0; /* killed behind this: they are lost until the space is repaired */
    store_order();
    while (next) {
        uint32_t segment = next;
        next = segment_at(heap, segment)->next;
        heap->release(heap, segment);
    }
}

struct frame *frame_alive(struct core *core, uint32_t ref, uint64_t generation) {
    struct heap *heap = &core->heap;
    uint32_t top = pc_frame(pc_seen(core->record));
    struct frame *running = frame_at(heap, top);
    /* Segments are visited from the running one downwards: their number grows with the logarithm of the depth. */
    for (uint32_t segment = running->segment, end = top; segment; segment = segment_at(heap, segment)->previous) {
        if (ref > segment && ref <= end) {
            struct frame *frame = frame_at(heap, ref);
            return frame->generation == generation && frame->segment == segment ? frame : NULL;
        }
        end = segment_at(heap, segment)->previous ? segment_end(heap, segment_at(heap, segment)->previous) : 0;
    }
    return NULL;
}

size_t frame_path(struct core *core, struct frame *frame, char *out, size_t capacity) {
    struct heap *heap = &core->heap;
    uint32_t rows[256] = { 0 }, count = 0;
    for (; frame->caller && count < 256; frame = frame_at(heap, frame->caller)) rows[count++] = frame->caller_row;
    size_t at = (size_t)snprintf(out, capacity, "/vthread/%llu%s", (unsigned long long)core->record->id, frame->caller ? "/…" : "");
    while (count-- > 0 && at < capacity) at += (size_t)snprintf(out + at, capacity - at, "/[%u,0]", rows[count]);
    return at;
}

int activation_enter(struct activation *at, uint32_t ref) {
    struct core *core = at->core;
    struct frame *frame = frame_at(&core->heap, ref);
    struct link *link;
    if (frame->link && frame->link <= core->link_count && at->record->owner == core->incarnation && link_is_fresh(core, core->links[frame->link - 1])) {
        link = core->links[frame->link - 1];
    } else {
        int rc = link_of_record(core, frame->function, &link);
        if (rc) return rc;
        if (link->cells != frame->cells) {
            return fault(&core->heap, ERROR_RUNTIME, "%s has other names now than when this frame was made", link->name);
        }
        frame->link = link->number + 1;
    }
    at->ref = ref;
    at->frame = frame;
    at->cells = frame_cells(frame);
    at->link = link;
    return 0;
}
