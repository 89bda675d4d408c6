/* kvspace_stats: the figures of a space. Relies on alloc.h, party.h. Promises: no lock, no walk: the cost is that of looking at
 * each participant's slot once. */
#include "kvspace/space.h"

int kvspace_get_stats(kvspace *space, struct kvspace_stats *stats) {
    const struct space_header *header = mem_header(space);
    struct alloc_figures figures;
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, NULL, NULL);
    alloc_figures(&space->arena, &figures);
    *stats = (struct kvspace_stats){
        .format_version = FORMAT_VERSION,
        .generation = atomic_load_explicit(&header->generation, memory_order_relaxed),
        .limit_bytes = figures.limit_bytes,
        .file_bytes = figures.file_bytes,
        .free_bytes = figures.free_bytes + figures.spare_bytes,
        .page_bytes = FORMAT_PAGE,
        .nodes = figures.used_blocks[CLASS_NODE],
        .big_bytes = figures.big_bytes,
        .retired = figures.retired_blocks,
        .epoch = atomic_load_explicit(&header->epoch, memory_order_relaxed),
        .was_clean = !space->arena.was_unclean,
    };
    for (unsigned class = 0; class < CLASS_NODE; class++) {
        stats->blocks += figures.used_blocks[class];
        stats->block_bytes += figures.used_blocks[class] * figures.block_bytes[class];
    }
    stats->used_bytes = stats->nodes * figures.block_bytes[CLASS_NODE] + stats->block_bytes + stats->big_bytes;
    uint32_t high = header_slots(header);
    for (uint32_t slot = 0; slot < high; slot++) {
        stats->recoveries += atomic_load_explicit(&arena_slot(&space->arena, slot)->recovered, memory_order_relaxed);
        if (atomic_load_explicit(&header->slot_state[slot], memory_order_acquire) == PARTY_FREE) continue;
        stats->participants++;
        stats->participants_dead += !party_alive(&space->arena, slot);
    }
    space_end(space);
    return 0;
}
