/* The provider of /vthread/<vid>: system variables, frames as nested `[row,0]` children, variables as children of their frame,
 * members of maps below them. Relies on present.h, link.h for names, lease.h. Promises: a vthread stands still while its frames are looked
 * at, and is changed only by who holds its lease; the compiler's temporaries (`‥1`) are not shown. */
#include "core/present.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/exec.h"
#include "core/lease.h"
#include "core/map.h"
#include "core/text.h"
#include "core/tree_value.h"
#include "core/types.h"
#include "core/value.h"

struct view {
    struct core *core;
    kvspace *space;
    bool looks; /* the vthread stands still for us */
    bool holds; /* we have its lease */
    struct vthread_record *record;
    struct vthread_body body;
};

static int view_open(const struct kvspace_provider_call *call, struct view *view) {
    *view = (struct view){ .core = call->context, .space = call->space };
    if (call->record_bytes < sizeof view->body) return KVSPACE_EDAMAGED;
    memcpy(&view->body, call->record, sizeof view->body);
    view->record = (struct vthread_record *)(void *)(view->core->heap.base + ((uint64_t)view->body.record << 4));
    return view->record->magic == VTHREAD_MAGIC ? 0 : KVSPACE_EDAMAGED;
}

/* Stops the vthread for as long as the call lasts. EBUSY: it is inside a long native. */
static int view_look(struct view *view) {
    if (!view->looks) view->looks = look_begin(view->core, view->record);
    return view->looks ? 0 : KVSPACE_EBUSY;
}

/* Takes the lease, to change what only a runner may change. EBUSY: it runs. */
static int view_hold(struct view *view) {
    bool own = atomic_load_explicit(&view->record->lease, memory_order_acquire) == lease_own(view->core);
    if (own && atomic_load_explicit(&view->record->status, memory_order_acquire) == STATUS_RUNNING) return KVSPACE_EBUSY;
    if (!own && lease_is_live(view->core, view->record)) return KVSPACE_EBUSY;
    if (!lease_take(view->core, view->record)) return KVSPACE_EBUSY;
    view->holds = !own;
    if (!own) exec_adopt(view->core, view->record);
    return 0;
}

static int view_close(struct view *view, int rc) {
    if (view->looks) look_end(view->core, view->record);
    if (view->holds) lease_drop(view->core, view->record);
    return rc;
}

/* As others see it: a vthread whose runner has died waits for another. */
static uint32_t status_shown(const struct view *view) {
    uint32_t status = atomic_load_explicit(&view->record->status, memory_order_acquire);
    return status == STATUS_RUNNING && !lease_is_live(view->core, view->record) ? (uint32_t)STATUS_WAIT : status;
}

/* ---- cells as values of the tree ---- */

static int lend_text(struct view *view, const char *text, struct kvspace_value *out) {
    size_t bytes = strlen(text);
    uint64_t *memory = kvspace_provider_memory(view->space, sizeof *memory + bytes + 1);
    if (!memory) return KVSPACE_ENOMEM;
    *memory = bytes;
    memcpy(memory + 1, text, bytes + 1);
    *out = kvspace_value_array(KVSPACE_CHAR_UTF8, 1, memory, memory + 1);
    return 0;
}

static int lend_array(struct view *view, const struct cell *cell, struct kvspace_value *out) {
    struct heap *heap = &view->core->heap;
    uint64_t dims[BLOCK_NDIM_MAX], count = 0;
    const void *body;
    unsigned ndim = 1, kind = cell_kind(cell);
    if (cell_is_text(cell)) {
        body = text_units(heap, cell, &count);
        dims[0] = count;
    } else {
        const struct block *block = cell_block(heap, cell);
        ndim = block->ndim;
        if (ndim > BLOCK_NDIM_MAX) return KVSPACE_EDAMAGED;
        count = 1;
        for (unsigned i = 0; i < ndim; i++) count *= dims[i] = block->dims[i];
        body = block_body(block);
    }
    size_t bytes = (size_t)count * kind_size(kind);
    unsigned char *copy = kvspace_provider_memory(view->space, bytes + sizeof dims + 8);
    if (!copy) return KVSPACE_ENOMEM;
    memcpy(copy, body, bytes);
    uint64_t *dims_copy = (uint64_t *)(void *)(copy + ((bytes + 7) & ~(size_t)7));
    memcpy(dims_copy, dims, ndim * sizeof *dims);
    *out = kvspace_value_array((enum kvspace_kind)kind, ndim, dims_copy, copy);
    return 0;
}

/* A range shows the array that it stands for; one that is too long to spell out shows its bounds as text. */
static int lend_range(struct view *view, const struct cell *cell, struct kvspace_value *out) {
    struct heap *heap = &view->core->heap;
    uint64_t count = range_count(heap, cell);
    char text[96];
    if (count > 1 << 16) {
        snprintf(text, sizeof text, "range from %lld to %lld", (long long)range_at(heap, cell, 0), (long long)range_at(heap, cell, count - 1));
        return lend_text(view, text, out);
    }
    int64_t *body = kvspace_provider_memory(view->space, (size_t)count * 8 + 8);
    if (!body) return KVSPACE_ENOMEM;
    body[0] = (int64_t)count;
    for (uint64_t i = 0; i < count; i++) body[i + 1] = range_at(heap, cell, i);
    *out = kvspace_value_array(KVSPACE_INT64, 1, (const uint64_t *)body, body + 1);
    return 0;
}

static int lend_cell(struct view *view, const struct cell *cell, struct kvspace_value *out) {
    struct heap *heap = &view->core->heap;
    char text[KVSPACE_KEY_MAX + 1];
    if (cell_is_none(cell)) return KVSPACE_ENOENT;
    if (cell_is_scalar(cell)) {
        *out = kvspace_value_scalar((enum kvspace_kind)cell_kind(cell), NULL);
        scalar_store(cell_kind(cell), out->scalar.bytes, cell->payload);
        return 0;
    }
    if (cell_is_array(cell)) return lend_array(view, cell, out);
    if (cell_tag(cell) == TAG_RANGE) return lend_range(view, cell, out);
    if (cell_tag(cell) == TAG_POINTER) {
        struct vthread_record *outer = view->core->record;
        view->core->record = view->record;
        pointer_text(heap, cell, text, sizeof text);
        view->core->record = outer;
        size_t bytes = strlen(text);
        char *copy = kvspace_provider_memory(view->space, bytes + 1);
        if (!copy) return KVSPACE_ENOMEM;
        memcpy(copy, text, bytes + 1);
        *out = kvspace_value_pointer(copy);
        return 0;
    }
    type_print(heap, cell, text, sizeof text);
    size_t bytes = strlen(text);
    char *copy = kvspace_provider_memory(view->space, bytes + 1);
    if (!copy) return KVSPACE_ENOMEM;
    memcpy(copy, text, bytes + 1);
    *out = (struct kvspace_value){ .type = copy, .type_bytes = (uint32_t)bytes, .store = KVSPACE_INDEX };
    return 0;
}

/* ---- the way to what a key names ---- */

/* A frame of the vthread, and the one that it called, by walking down from the counter once. */
static struct frame *frame_called(struct view *view, struct frame *frame) {
    struct heap *heap = &view->core->heap;
    uint32_t ref = pc_frame(pc_seen(view->record));
    uint32_t wanted = (uint32_t)((uint64_t)((unsigned char *)frame - heap->base) >> 4);
    for (; ref && frame_at(heap, ref)->caller != wanted; ref = frame_at(heap, ref)->caller) {}
    return ref ? frame_at(heap, ref) : NULL;
}
static struct frame *frame_first(struct view *view) {
    struct heap *heap = &view->core->heap;
    uint32_t ref = pc_frame(pc_seen(view->record));
    while (ref && frame_at(heap, ref)->caller) ref = frame_at(heap, ref)->caller;
    return ref ? frame_at(heap, ref) : NULL;
}

/* Follows `/[3,0]/[1,0]…`; *rest is what comes behind the last frame. NULL: no such frame. */
static struct frame *frame_of_key(struct view *view, const char *key, const char **rest) {
    struct frame *frame = frame_first(view);
    while (frame && strncmp(key, "/[", 2) == 0) {
        char *end;
        unsigned long row = strtoul(key + 2, &end, 10);
        if (strncmp(end, ",0]", 3) != 0) break;
        frame = frame_called(view, frame);
        if (!frame || frame->caller_row != row) return NULL;
        key = end + 3;
    }
    *rest = key;
    return frame;
}

static struct link *link_of_frame(struct view *view, struct frame *frame) {
    struct link *link;
    return link_of_record(view->core, frame->function, &link) ? NULL : link;
}

static struct cell *cell_of_key(struct view *view, struct frame *frame, const char *name, size_t bytes) {
    struct link *link = link_of_frame(view, frame);
    for (uint32_t i = 0; link && i < link->cells && i < frame->cells; i++) {
        if (strncmp(link->names[i], name, bytes) == 0 && link->names[i][bytes] == 0) return &frame_cells(frame)[i];
    }
    return NULL;
}

static bool key_matches(struct heap *heap, const struct cell *key, const char *text, size_t bytes) {
    struct text_buffer buffer = { .limit = KVSPACE_STEP_MAX };
    struct text_out out = text_buffer_out(&buffer);
    value_print(heap, key, false, &out);
    bool same = !out.error && buffer.length == bytes && (!bytes || memcmp(buffer.bytes, text, bytes) == 0);
    text_buffer_free(&buffer);
    return same;
}

/* `name` or `name·k·k…` below a frame. */
static const struct cell *value_of_key(struct view *view, struct frame *frame, const char *rest) {
    struct heap *heap = &view->core->heap;
    if (*rest != '/') return NULL;
    const char *name = rest + 1, *dot = strstr(name, "·");
    size_t bytes = dot ? (size_t)(dot - name) : strlen(name);
    const struct cell *cell = cell_of_key(view, frame, name, bytes);
    while (cell && dot) {
        const char *step = dot + strlen("·");
        dot = strstr(step, "·");
        bytes = dot ? (size_t)(dot - step) : strlen(step);
        uint64_t position = 0;
        const struct cell *key, *value, *found = NULL;
        if (cell_tag(cell) != TAG_MAP && cell_tag(cell) != TAG_STRUCT) return NULL;
        while (!found && map_next(heap, cell, &position, &key, &value)) {
            struct cell plain = map_key_copy(heap, key);
            if (key_matches(heap, &plain, step, bytes)) found = value;
            cell_drop(heap, plain);
        }
        cell = found;
    }
    return cell;
}

/* ---- system variables ---- */

static const char *const system_names[] = { "‥pc", "‥break", "‥status", "‥error", "‥fn", "‥ctime", "‥steps", "‥version" };

static void pc_text(struct view *view, char *out, size_t capacity) {
    struct vthread_record *outer = view->core->record;
    uint64_t pc = pc_seen(view->record);
    view->core->record = view->record;
    size_t used = pc_frame(pc) ? frame_path(view->core, frame_at(&view->core->heap, pc_frame(pc)), out, capacity) : 0;
    view->core->record = outer;
    if (used < capacity) snprintf(out + used, capacity - used, "/[%u,0]", pc_row(pc));
}

static int system_get(struct view *view, const char *name, struct kvspace_value *out) {
    struct heap *heap = &view->core->heap;
    struct vthread_record *record = view->record;
    char text[KVSPACE_KEY_MAX + 1], part[1300];
    size_t bytes;
    struct function_record *function = (struct function_record *)(void *)(heap->base + ((uint64_t)record->function << 4));
    if (strcmp(name, "‥pc") == 0) {
        int rc = view_look(view);
        if (rc) return rc;
        pc_text(view, text, sizeof text);
        return lend_text(view, text, out);
    }
    if (strcmp(name, "‥break") == 0) {
        int rc = view_look(view);
        return rc ? rc : lend_cell(view, &record->breaks, out);
    }
    if (strcmp(name, "‥status") == 0) {
        uint32_t status = status_shown(view);
        return lend_text(view, status < STATUS_COUNT ? vthread_status_names[status] : "?", out);
    }
    if (strcmp(name, "‥error") == 0) {
        if (cell_is_none(&record->error_kind)) return KVSPACE_ENOENT;
        const struct cell *parts[] = { &record->error_place, &record->error_kind, &record->error_message };
        size_t used = 0;
        for (unsigned i = 0; i < 3; i++) {
            text_to_utf8(heap, parts[i], part, sizeof part, &bytes);
            used += (size_t)snprintf(text + used, sizeof text - used, i ? ": %s" : "%s", part); /* three parts fit */
        }
        return lend_text(view, text, out);
    }
    if (strcmp(name, "‥fn") == 0) return record->function ? lend_text(view, function->path, out) : KVSPACE_ENOENT;
    if (strcmp(name, "‥version") == 0) {
        if (!record->function) return KVSPACE_ENOENT;
        *out = kvspace_value_scalar(KVSPACE_UINT64, NULL);
        out->scalar.u64 = function->version;
        return 0;
    }
    if (strcmp(name, "‥ctime") == 0) {
        *out = kvspace_value_scalar(KVSPACE_TIME, NULL);
        out->scalar.i64 = record->created_ns;
        return 0;
    }
    if (strcmp(name, "‥steps") == 0) {
        *out = kvspace_value_scalar(KVSPACE_UINT64, NULL);
        out->scalar.u64 = record->steps;
        return 0;
    }
    return KVSPACE_ENOENT;
}

/* ---- the provider ---- */

static int present_get(const struct kvspace_provider_call *call, struct kvspace_value *out) {
    struct view view;
    const char *rest;
    int rc = view_open(call, &view);
    if (rc) return rc;
    if (!*call->rest) {
        view.core->probe = view.body;
        return KVSPACE_ENOENT;
    }
    if (strncmp(call->rest, "/‥", strlen("/‥")) == 0) return view_close(&view, system_get(&view, call->rest + 1, out));
    rc = view_look(&view);
    if (rc) return rc;
    struct frame *frame = frame_of_key(&view, call->rest, &rest);
    const struct cell *cell = frame && *rest ? value_of_key(&view, frame, rest) : NULL;
    return view_close(&view, cell ? lend_cell(&view, cell, out) : KVSPACE_ENOENT);
}

static int list_members(struct view *view, const struct cell *cell, struct kvspace_provider_listing *listing) {
    struct heap *heap = &view->core->heap;
    uint64_t position = 0;
    const struct cell *key, *value;
    if (!cell || (cell_tag(cell) != TAG_MAP && cell_tag(cell) != TAG_STRUCT)) return 0;
    while (map_next(heap, cell, &position, &key, &value)) {
        struct text_buffer buffer = { .limit = KVSPACE_STEP_MAX };
        struct text_out out = text_buffer_out(&buffer);
        struct cell plain = map_key_copy(heap, key);
        text_puts(&out, "·");
        value_print(heap, &plain, false, &out);
        cell_drop(heap, plain);
        bool container = cell_tag(value) == TAG_MAP || cell_tag(value) == TAG_STRUCT;
        int rc = buffer.bytes && !out.error ? kvspace_provider_entry(listing, buffer.bytes, !cell_is_none(value), 0, container) : 0;
        text_buffer_free(&buffer);
        if (rc) return rc;
    }
    return 0;
}

static int list_frame(struct view *view, struct frame *frame, struct kvspace_provider_listing *listing) {
    struct link *link = link_of_frame(view, frame);
    char name[300];
    int rc = 0;
    for (uint32_t i = 0; !rc && link && i < link->cells && i < frame->cells; i++) {
        const struct cell *cell = &frame_cells(frame)[i];
        if (cell_is_none(cell) || strncmp(link->names[i], "‥", strlen("‥")) == 0) continue;
        snprintf(name, sizeof name, "/%s", link->names[i]);
        bool container = cell_tag(cell) == TAG_MAP || cell_tag(cell) == TAG_STRUCT;
        rc = kvspace_provider_entry(listing, name, 1, 0, container && map_length(&view->core->heap, cell) > 0);
    }
    struct frame *called = frame_called(view, frame);
    if (called && !rc) {
        snprintf(name, sizeof name, "/[%u,0]", called->caller_row);
        rc = kvspace_provider_entry(listing, name, 0, 1, 0);
    }
    return rc;
}

static int list_below(struct view *view, const char *key, struct kvspace_provider_listing *listing) {
    const char *rest;
    struct frame *frame = frame_of_key(view, key, &rest);
    if (!frame) return *key ? KVSPACE_ENOENT : 0;
    if (!*rest) return list_frame(view, frame, listing);
    const struct cell *cell = value_of_key(view, frame, rest);
    return cell ? list_members(view, cell, listing) : KVSPACE_ENOENT;
}

static int present_list(const struct kvspace_provider_call *call, struct kvspace_provider_listing *listing) {
    struct view view;
    int rc = view_open(call, &view);
    if (rc) return rc;
    char name[40];
    int busy = view_look(&view);
    for (size_t i = 0; !*call->rest && !rc && i < sizeof system_names / sizeof *system_names; i++) {
        struct kvspace_value value;
        bool shown = system_get(&view, system_names[i], &value) == 0;
        snprintf(name, sizeof name, "/%s", system_names[i]);
        if (shown) rc = kvspace_provider_entry(listing, name, 1, 0, 0);
    }
    if (!rc && strncmp(call->rest, "/‥", strlen("/‥")) != 0) rc = busy ? busy : list_below(&view, call->rest, listing);
    return view_close(&view, rc);
}

/* ---- writing ---- */

/* A vthread that somebody runs is asked; one that stands still is changed at once. */
static int status_write(struct view *view, const char *text) {
    struct vthread_record *record = view->record;
    bool pause = strcmp(text, "paused") == 0, kill = strcmp(text, "error") == 0 || strcmp(text, "killed") == 0;
    uint32_t status = atomic_load_explicit(&record->status, memory_order_acquire);
    bool ended = status == STATUS_DONE || status == STATUS_ERROR;
    if ((pause || kill) && ended) return 0;
    if (view_hold(view)) {
        if (!pause && !kill) return KVSPACE_EBUSY;
        attention_ask(record, pause ? ATTENTION_PAUSE : ATTENTION_KILL);
        return 0;
    }
    if (kill) {
        vthread_kill(view->core, record);
        return 0;
    }
    for (uint32_t i = 0; i < STATUS_COUNT; i++) {
        if (strcmp(text, vthread_status_names[i]) != 0) continue;
        /* Running is what a worker makes it. */
        vthread_status_set(view->core, record, i == STATUS_RUNNING ? STATUS_WAIT : (enum vthread_status)i);
        return 0;
    }
    return KVSPACE_EVALUE;
}

static int pc_write(struct view *view, const char *text) {
    char prefix[64];
    const char *rest;
    int length = snprintf(prefix, sizeof prefix, "/vthread/%llu", (unsigned long long)view->record->id);
    if (strncmp(text, prefix, (size_t)length) != 0) return KVSPACE_EVALUE;
    /* The last step is the row, those before it lead to the frame. */
    char *key = strdup(text + length), *last = key ? strrchr(key, '/') : NULL;
    unsigned long row = last && strncmp(last, "/[", 2) == 0 ? strtoul(last + 2, NULL, 10) : 0;
    if (last) *last = 0;
    struct frame *frame = last ? frame_of_key(view, key, &rest) : NULL;
    struct link *link = frame && !*rest ? link_of_frame(view, frame) : NULL;
    int rc = link && row >= 1 && row <= (unsigned long)link->rows + 1 ? 0 : KVSPACE_EVALUE;
    if (!rc) {
        uint32_t ref = (uint32_t)((uint64_t)((unsigned char *)frame - view->core->heap.base) >> 4);
        pc_commit(view->record, pc_make(ref, (uint32_t)row));
    }
    free(key);
    return rc;
}

static int value_to_cell(struct view *view, const struct kvspace_value *value, struct cell *out) {
    struct heap *heap = &view->core->heap;
    const struct type_info *type;
    char path[KVSPACE_KEY_MAX + 1];
    *out = cell_none();
    if (!value) return 0;
    if (value->ref == KVSPACE_POINTER) {
        size_t bytes = value->body_bytes ? (size_t)value->body_bytes : strlen(value->body);
        if (bytes >= sizeof path) return KVSPACE_ELIMIT;
        memcpy(path, value->body, bytes);
        path[bytes] = 0;
        struct activation at = { .core = view->core, .record = view->record };
        struct operand place = { .kind = OPERAND_PATH, .path = path };
        return place_address(&at, &place, "", NULL, 0, out) ? KVSPACE_EVALUE : 0;
    }
    if (value->store == KVSPACE_INDEX) {
        int rc = type_of_text(heap, value->type, value->type_bytes ? value->type_bytes : strlen(value->type), &type);
        if (!rc && !type->is_map) return KVSPACE_EUNSUPPORTED;
        return rc || map_new(heap, type, 0, out) ? KVSPACE_EVALUE : 0;
    }
    if (!value->kind && !value->body && !value->type) return 0;
    struct kvspace_value whole = *value; /* a head on its way in leaves out what follows from the rest */
    uint64_t count = value->kind ? value->body_bytes / kvspace_kind_bytes(value->kind) : 0;
    if (value->kind && !value->ndim) {
        if (!whole.body) whole.body = whole.scalar.bytes;
        whole.body_bytes = kvspace_kind_bytes(value->kind);
        whole.store = KVSPACE_ATOM;
    } else if (value->kind) {
        whole.store = KVSPACE_NDARRAY;
        if (!whole.dims) whole.dims = &count;
    }
    return tree_cell(heap, &whole, out) ? KVSPACE_EVALUE : 0;
}

/* The key that a member's step names: text, or an integer where the map has such keys. */
static int key_cell(struct heap *heap, const struct cell *map, const char *text, size_t bytes, struct cell *out) {
    char copy[KVSPACE_STEP_MAX + 1], *end;
    if (bytes >= sizeof copy) return KVSPACE_EKEY;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    if (cell_tag(map) == TAG_MAP && cell_dict(heap, map)->key_class == KEY_SCALAR) {
        long long number = strtoll(copy, &end, 10);
        *out = cell_int64(number);
        return *copy && !*end ? 0 : KVSPACE_EKEY;
    }
    return text_from_utf8(heap, copy, bytes, out) ? KVSPACE_EKEY : 0;
}

/* name·k·k = v in a frame's cell. `made` is the caller's. */
static int member_write(struct view *view, struct cell *place, const char *rest, const struct cell *made) {
    enum { DEEP = 16 };
    struct heap *heap = &view->core->heap;
    struct cell keys[DEEP], changed = cell_none();
    const struct cell *operands[DEEP];
    struct value_step steps[DEEP];
    const struct cell *here = place;
    unsigned count = 0;
    int rc = 0;
    while (!rc && *rest && count < DEEP) {
        rest += strlen("·");
        const char *next = strstr(rest, "·");
        size_t bytes = next ? (size_t)(next - rest) : strlen(rest);
        if (!here || (cell_tag(here) != TAG_MAP && cell_tag(here) != TAG_STRUCT)) return KVSPACE_EUNSUPPORTED;
        rc = key_cell(heap, here, rest, bytes, &keys[count]);
        if (rc) break;
        operands[count] = &keys[count];
        steps[count] = (struct value_step){ .operands = &operands[count], .count = 1, .mark = '*', .literals = 1 };
        if (next && map_find(heap, here, &keys[count], &here)) here = NULL;
        count++;
        rest += bytes;
    }
    if (!rc && *rest) rc = KVSPACE_ELIMIT;
    if (!rc) rc = value_put(heap, place, steps, count, made, true, &changed) ? KVSPACE_EVALUE : 0;
    if (!rc && changed.payload != place->payload) cell_drop(heap, cell_put(place, changed));
    while (count-- > 0) cell_drop(heap, keys[count]);
    return rc;
}

static int variable_write(struct view *view, const char *key, const struct kvspace_value *value) {
    const char *rest;
    struct cell made;
    int rc = view_hold(view);
    if (rc) return rc;
    struct frame *frame = frame_of_key(view, key, &rest);
    if (!frame || *rest != '/') return KVSPACE_ENOENT;
    const char *name = rest + 1, *member = strstr(name, "·");
    struct cell *cell = cell_of_key(view, frame, name, member ? (size_t)(member - name) : strlen(name));
    if (!cell) return KVSPACE_ENOENT;
    rc = value_to_cell(view, value, &made);
    if (rc) return rc;
    if (!member) {
        cell_drop(&view->core->heap, cell_put(cell, made));
        return 0;
    }
    rc = member_write(view, cell, member, &made);
    cell_drop(&view->core->heap, made);
    return rc;
}

/* Taken over at the next call or backward branch; None: there are no breakpoints any more. */
static int breaks_write(struct view *view, struct cell made) {
    int rc = cell_is_none(&made) || cell_is_text(&made) ? view_look(view) : KVSPACE_ETYPE;
    if (rc) {
        cell_drop(&view->core->heap, made);
        return rc;
    }
    cell_drop(&view->core->heap, cell_put(&view->record->breaks, made));
    attention_ask(view->record, ATTENTION_BREAK);
    return 0;
}

static int present_set(const struct kvspace_provider_call *call, const struct kvspace_value *value) {
    struct view view;
    char text[KVSPACE_KEY_MAX + 1];
    size_t bytes;
    struct cell made;
    int rc = view_open(call, &view);
    if (rc) return rc;
    bool is_status = strcmp(call->rest, "/‥status") == 0, is_pc = strcmp(call->rest, "/‥pc") == 0;
    bool is_break = strcmp(call->rest, "/‥break") == 0;
    if (!is_status && !is_pc && !is_break) {
        if (strncmp(call->rest, "/‥", strlen("/‥")) == 0) return KVSPACE_EREADONLY;
        return view_close(&view, variable_write(&view, call->rest, value));
    }
    rc = value_to_cell(&view, value, &made);
    if (rc) return rc;
    if (is_break) return view_close(&view, breaks_write(&view, made));
    rc = cell_is_text(&made) && text_to_utf8(&view.core->heap, &made, text, sizeof text, &bytes) ? 0 : KVSPACE_ETYPE;
    cell_drop(&view.core->heap, made);
    if (!rc && is_pc) rc = view_hold(&view);
    if (!rc) rc = is_status ? status_write(&view, text) : pc_write(&view, text);
    return view_close(&view, rc);
}

static int present_del(const struct kvspace_provider_call *call) { return present_set(call, NULL); }

int present_register(struct core *core) {
    core->provider = (struct kvspace_provider){ .name = "vthread", .get = present_get, .set = present_set, .del = present_del, .list = present_list, .context = core };
    int rc = kvspace_provider_register(core->space, &core->provider);
    return rc ? -rc : 0;
}

int present_find(struct core *core, uint64_t vid, uint32_t *record) {
    char key[64];
    struct kvspace_value value;
    snprintf(key, sizeof key, "/vthread/%llu", (unsigned long long)vid);
    core->probe = (struct vthread_body){ 0, 0, 0 };
    kvspace_get(core->space, key, &value);
    if (!core->probe.record || core->probe.vid != vid) return ERROR_NAME;
    *record = core->probe.record;
    return 0;
}
