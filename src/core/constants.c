/* One block for equal text constants of all decoded functions, so that a member's name is found by comparing references.
 * Relies on text.h for hashes and equality. Promises: the table holds a reference of each text until the core is closed. */
#include <stdlib.h>

#include "core/link_build.h"

enum { TABLE_FIRST = 64 };

static struct cell *place_of(struct core *core, const struct cell *constant) {
    uint32_t mask = core->text_room - 1;
    for (uint32_t at = text_hash(&core->heap, constant) & mask;; at = (at + 1) & mask) {
        struct cell *place = &core->texts[at];
        if (cell_is_none(place) || (cell_tag(place) == cell_tag(constant) && text_equal(&core->heap, place, constant))) return place;
    }
}

static bool grow(struct core *core) {
    struct cell *old = core->texts;
    uint32_t room = core->text_room;
    core->text_room = room ? room * 2 : TABLE_FIRST;
    core->texts = calloc(core->text_room, sizeof *core->texts);
    if (!core->texts) {
        core->texts = old;
        core->text_room = room;
        return false;
    }
    for (uint32_t i = 0; i < room; i++) {
        if (!cell_is_none(&old[i])) *place_of(core, &old[i]) = old[i];
    }
    free(old);
    return true;
}

void constant_share(struct core *core, struct cell *constant) {
    if (cell_tag(constant) != TAG_TEXT || !(constant->head & CELL_BLOCK)) return;
    if (core->text_count * 2 >= core->text_room && !grow(core)) return; /* without memory it stays a text of its own */
    struct cell *place = place_of(core, constant);
    if (cell_is_none(place)) {
        *place = cell_copy(&core->heap, constant);
        core->text_count++;
        return;
    }
    struct cell own = *constant;
    *constant = cell_copy(&core->heap, place);
    cell_drop(&core->heap, own);
}

void constants_close(struct core *core) {
    for (uint32_t i = 0; i < core->text_room; i++) cell_drop(&core->heap, core->texts[i]);
    free(core->texts);
    core->texts = NULL;
    core->text_room = core->text_count = 0;
}
