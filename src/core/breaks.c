/* Breakpoints of a vthread: rows whose label in the decoded function leads to the executor's stop instead of the row's own form.
 * Relies on vthread.h (the text in the record) and link.h. Promises: where there are none, nothing is looked at while rows run. */
#include <stdlib.h>
#include <string.h>

#include "core/exec.h"
#include "core/text.h"

struct breakpoint {
    char *path; /* of the function */
    uint32_t row;
};

void breaks_close(struct core *core) {
    for (uint32_t i = 0; i < core->break_count; i++) free(core->breaks[i].path);
    free(core->breaks);
    core->breaks = NULL;
    core->break_count = 0;
    core->break_vid = 0;
}

/* One key of a row, `/lib/pkg·f/[3,0]`; what is none is passed over. */
static void add(struct core *core, char *key) {
    char *step = strrchr(key, '/'), *end;
    if (!step || step == key || step[1] != '[') return;
    unsigned long row = strtoul(step + 2, &end, 10);
    struct breakpoint *more = realloc(core->breaks, (core->break_count + 1) * sizeof *more);
    if (!more) return;
    core->breaks = more;
    *step = 0;
    more[core->break_count] = (struct breakpoint){ strdup(key), (uint32_t)row };
    if (more[core->break_count].path) core->break_count++;
}

void breaks_load(struct core *core, const struct vthread_record *record) {
    char text[4096], *rest = text;
    size_t bytes;
    if (cell_is_none(&record->breaks) && !core->break_count) return;
    breaks_close(core);
    core->break_vid = record->id;
    if (cell_is_text(&record->breaks)) {
        text_to_utf8(&core->heap, &record->breaks, text, sizeof text, &bytes);
        for (char *key; (key = strtok_r(rest, " \n", &rest)) != NULL;) add(core, key);
    }
    for (uint32_t i = 0; i < core->link_count; i++) core->links[i]->labelled = false;
}

void breaks_label(const struct core *core, struct link *link, const void *label) {
    for (uint32_t i = 0; i < core->break_count; i++) {
        uint32_t row = core->breaks[i].row;
        if (row < 1 || row > link->rows || strcmp(core->breaks[i].path, link->path) != 0) continue;
        link->code[row].label = label;
        /* A comparison that does the branch of the next row as well. */
        if (row > 1 && link->code[row - 1].op >= OP_JEQ && link->code[row - 1].op <= OP_JGE_K) link->code[row - 1].label = label;
    }
}
