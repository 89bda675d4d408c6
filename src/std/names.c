/* Names kept between programs: see names.h. */
#include "std/names.h"

#include <stdlib.h>
#include <string.h>

#include "core/exec.h"
#include "std/kvlang_handle.h"

struct kept {
    char *name;
    struct cell cell;
};

struct names {
    struct kept *items;
    uint32_t count, room;
};

struct names *names_new(void) {
    return calloc(1, sizeof(struct names));
}

void names_free(kvlang *lang, struct names *names) {
    if (!names) return;
    for (uint32_t i = 0; i < names->count; i++) {
        cell_drop(&lang->core->heap, names->items[i].cell);
        free(names->items[i].name);
    }
    free(names->items);
    free(names);
}

const char *names_at(const struct names *names, uint32_t number) {
    return number < names->count ? names->items[number].name : NULL;
}

static struct kept *find(const struct names *names, const char *name) {
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i].name, name) == 0) return &names->items[i];
    return NULL;
}

static struct kept *find_or_add(struct names *names, const char *name) {
    struct kept *kept = find(names, name);
    if (kept) return kept;
    if (names->count == names->room) {
        uint32_t room = names->room ? 2 * names->room : 16;
        struct kept *more = realloc(names->items, room * sizeof *more);
        if (!more) return NULL;
        names->items = more;
        names->room = room;
    }
    char *copy = strdup(name);
    if (!copy) return NULL;
    names->items[names->count] = (struct kept){.name = copy, .cell = cell_none()};
    return &names->items[names->count++];
}

/* The frame in which the vthread began, and the function that gives its cells their names. */
static int first_frame(kvlang *lang, uint64_t vid, struct frame **frame, struct link **link) {
    struct core *core = lang->core;
    uint32_t ref;
    struct vthread_record *record = vthread_find(core, vid, &ref);
    if (!record) return handle_fail(lang, KVLANG_ENAME, "there is no vthread %llu", (unsigned long long)vid);
    uint32_t at = pc_frame(pc_seen(record));
    while (at && frame_at(&core->heap, at)->caller) at = frame_at(&core->heap, at)->caller;
    if (!at) return handle_fail(lang, KVLANG_ENAME, "vthread %llu has no frame", (unsigned long long)vid);
    *frame = frame_at(&core->heap, at);
    int rc = link_of_record(core, (*frame)->function, link);
    return rc ? handle_fault(lang, rc) : KVLANG_OK;
}

int names_take(kvlang *lang, uint64_t vid, struct names *names) {
    struct heap *heap = &lang->core->heap;
    struct frame *frame = NULL;
    struct link *link = NULL;
    int rc = first_frame(lang, vid, &frame, &link);
    for (uint32_t i = 0; !rc && link && frame && i < link->cells && i < frame->cells; i++) {
        if (strncmp(link->names[i], "‥", strlen("‥")) == 0) continue; /* the compiler's own */
        struct kept *kept = find_or_add(names, link->names[i]);
        if (!kept) return handle_fail(lang, KVLANG_ENOMEM, "no memory for the name %s", link->names[i]);
        cell_drop(heap, kept->cell);
        kept->cell = cell_copy(heap, &frame_cells(frame)[i]);
    }
    return rc;
}

int names_give(kvlang *lang, uint64_t vid, const struct names *names) {
    struct heap *heap = &lang->core->heap;
    struct frame *frame = NULL;
    struct link *link = NULL;
    int rc = first_frame(lang, vid, &frame, &link);
    for (uint32_t i = 0; !rc && link && frame && i < link->cells && i < frame->cells; i++) {
        const struct kept *kept = find(names, link->names[i]);
        if (!kept) continue;
        cell_drop(heap, cell_put(&frame_cells(frame)[i], cell_copy(heap, &kept->cell)));
    }
    return rc;
}
