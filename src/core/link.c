/* Reading a function's rows out of the tree and binding them: names to cells, constants, natives, structs, versions.
 * Relies on kvspace.h and link.h; link_code.c turns the rows into instructions. Promises: whatever stands in the tree, a
 * function links or gives an error that names the row; nothing of a function that failed is kept. */
#include "core/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/link_build.h"
#include "core/tree_value.h"

/* ---- memory of one function: chunks that go together ---- */

struct pool_chunk {
    struct pool_chunk *next;
    size_t used, room;
};

void *pool_take(struct pool *pool, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    struct pool_chunk *chunk = pool->first;
    if (!chunk || chunk->room - chunk->used < bytes) {
        size_t room = bytes > 8000 ? bytes : 8000;
        chunk = calloc(1, sizeof *chunk + 16 + room);
        if (!chunk) return NULL;
        chunk->room = room;
        chunk->next = pool->first;
        pool->first = chunk;
    }
    unsigned char *at = (unsigned char *)(chunk + 1) + chunk->used;
    at += (16 - (uintptr_t)at % 16) % 16;
    chunk->used = (size_t)(at - (unsigned char *)(chunk + 1)) + bytes;
    return at;
}

const char *pool_text(struct pool *pool, const char *text, size_t bytes) {
    char *copy = pool_take(pool, bytes + 1);
    if (copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = 0;
    }
    return copy;
}

static void pool_free(struct pool *pool) {
    while (pool->first) {
        struct pool_chunk *next = pool->first->next;
        free(pool->first);
        pool->first = next;
    }
}

/* ---- slots as they stand in the tree ---- */

/* `[3,-1]`; false when the name is something else. */
static bool slot_place(const char *name, int64_t *row, int64_t *column) {
    char *end;
    if (name[0] != '[') return false;
    *row = strtoll(name + 1, &end, 10);
    if (*end != ',') return false;
    *column = strtoll(end + 1, &end, 10);
    return end[0] == ']' && end[1] == 0;
}

static int slot_add(struct link_build *build, int64_t row, int64_t column, const char *key) {
    if (row < 0 || row > 0x3fffffff || column < -65535 || column > 65535) return 0; /* not a slot of ours */
    if (build->slot_count == build->slot_room) {
        uint32_t room = build->slot_room ? build->slot_room * 2 : 64;
        struct link_slot *more = realloc(build->slots, room * sizeof *more);
        if (!more) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", build->link->path);
        build->slots = more;
        build->slot_room = room;
    }
    struct link_slot *slot = &build->slots[build->slot_count];
    *slot = (struct link_slot){ .row = (uint32_t)row, .column = (int32_t)column };
    struct kvspace_value value;
    int rc = kvspace_get(build->core->space, key, &value);
    if (rc == KVSPACE_ENOENT) return 0;
    if (rc) return tree_fault(build->heap, build->core->space, rc, "link", key);
    /* A sum, so that the order of the keys does not count. */
    build->fingerprint += (value.version ^ (uint64_t)row << 40 ^ (uint64_t)(column + 65536) << 20) * UINT64_C(0x9e3779b97f4a7c15);
    const char *body = value.body;
    size_t bytes = (size_t)value.body_bytes;
    if (value.ref == KVSPACE_POINTER) {
        slot->kind = SLOT_PATH;
    } else if (value.kind == KVSPACE_KIND_NONE && value.store == KVSPACE_ATOM) {
        slot->kind = strcmp(value.type, "opcode") == 0  ? SLOT_OPCODE
                     : strcmp(value.type, "name") == 0  ? SLOT_NAME
                     : strcmp(value.type, "param") == 0 ? SLOT_PARAM
                                                        : SLOT_NONE;
    } else {
        slot->kind = SLOT_LITERAL;
        if (value.store == KVSPACE_ATOM && value.kind) {
            slot->constant = cell_scalar(value.kind, scalar_load(value.kind, value.body));
        } else {
            rc = tree_get(build->heap, build->core->space, key, &slot->constant);
            if (rc) return rc;
            constant_share(build->core, &slot->constant);
        }
        build->slot_count++;
        return 0;
    }
    slot->text = pool_text(&build->pool, body ? body : "", bytes);
    slot->text_bytes = (uint32_t)bytes;
    if (!slot->text) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", build->link->path);
    build->slot_count++;
    return 0;
}

static int slot_order(const void *left, const void *right) {
    const struct link_slot *a = left, *b = right;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

static int slots_read(struct link_build *build, const char *path) {
    kvspace_cursor *cursor;
    kvspace *space = build->core->space;
    int rc = kvspace_list_open(space, path, NULL, &cursor);
    if (rc) return tree_fault(build->heap, space, rc, "link", path);
    char key[KVSPACE_KEY_MAX + 1];
    struct kvspace_entry entry;
    int failed = 0;
    while (!failed && (rc = kvspace_list_next(cursor, &entry)) == 0) {
        int64_t row, column;
        if (!slot_place(entry.name, &row, &column)) continue;
        int length = snprintf(key, sizeof key, "%s/%s", path, entry.name);
        if (length > 0 && (size_t)length < sizeof key) failed = slot_add(build, row, column, key);
    }
    kvspace_list_close(cursor);
    if (failed) return failed;
    if (rc != KVSPACE_EEND) return tree_fault(build->heap, space, rc, "link", path);
    if (build->slot_count) qsort(build->slots, build->slot_count, sizeof *build->slots, slot_order);
    return 0;
}

/* ---- names ---- */

static uint32_t name_hash(const char *text, size_t bytes) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static int names_grow(struct link_build *build) {
    struct link *link = build->link;
    uint32_t room = build->name_room ? build->name_room * 2 : 64;
    uint32_t *index = calloc((size_t)room * 2, sizeof *index);
    const char **names = realloc(build->names, room * sizeof *names);
    if (names) build->names = names;
    if (!index || !names) {
        free(index);
        return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", link->path);
    }
    for (uint32_t i = 0; i < link->cells; i++) {
        uint32_t at = name_hash(names[i], strlen(names[i])) & (room * 2 - 1);
        while (index[at]) at = (at + 1) & (room * 2 - 1);
        index[at] = i + 1;
    }
    free(build->index);
    build->index = index;
    build->name_room = room;
    return 0;
}

int link_name(struct link_build *build, const char *text, size_t bytes, uint32_t *cell) {
    if (build->link->cells >= build->name_room) {
        int rc = names_grow(build);
        if (rc) return rc;
    }
    uint32_t mask = build->name_room * 2 - 1, at = name_hash(text, bytes) & mask;
    for (; build->index[at]; at = (at + 1) & mask) {
        const char *name = build->names[build->index[at] - 1];
        if (strncmp(name, text, bytes) == 0 && name[bytes] == 0) {
            *cell = build->index[at] - 1;
            return 0;
        }
    }
    const char *copy = pool_text(&build->pool, text, bytes);
    if (!copy) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", build->link->path);
    *cell = build->link->cells;
    build->names[*cell] = copy;
    build->index[at] = ++build->link->cells;
    return 0;
}

/* ---- the head: parameters, map, file, version ---- */

static int parameter_read(struct link_build *build, const struct link_slot *slot, struct link_parameter *parameter) {
    const char *colon = memchr(slot->text, ':', slot->text_bytes);
    size_t name_bytes = colon ? (size_t)(colon - slot->text) : slot->text_bytes;
    uint32_t cell;
    int rc = link_name(build, slot->text, name_bytes, &cell);
    if (rc) return rc;
    parameter->name = build->names[cell];
    const char *type = colon ? colon + 1 : "any";
    size_t bytes = colon ? slot->text_bytes - name_bytes - 1 : 3;
    while (bytes && *type == ' ') type++, bytes--;
    if (bytes > 3 && memcmp(type + bytes - 3, "...", 3) == 0) {
        bytes -= 3;
        build->link->variadic = true;
    }
    rc = type_of_text(build->heap, type, bytes, &parameter->type);
    if (rc) return rc;
    parameter->any = typexpr_is_any(parameter->type->form);
    parameter->tag = (uint8_t)typexpr_only_kind(parameter->type->form);
    parameter->vector = 255; /* no cell has that tag */
    parameter->container = (parameter->type->is_map || parameter->type->is_struct) && parameter->type->form->atom_count == 1 ? parameter->type->id : 0;
    const struct typexpr_atom *first = typexpr_first(parameter->type->form);
    parameter->pointer = first && first->prefix == '*';
    if (!parameter->tag) parameter->tag = 255;
    if (parameter->tag == 255 && parameter->type->form->atom_count == 1 && first && first->class == TYPE_KIND && !first->prefix &&
        first->axis_count == 1 && typexpr_axes(first)[0] == AXIS_ANY) {
        parameter->vector = (uint8_t)(TAG_ARRAY + first->kind);
    }
    return 0;
}

static int head_read(struct link_build *build, uint32_t *used) {
    struct link *link = build->link;
    uint32_t count = 0;
    while (count < build->slot_count && build->slots[count].row == 0) count++;
    *used = count;
    for (uint32_t i = 0; i < count; i++) {
        if (build->slots[i].column < 0) link->reads++;
        else link->writes++;
    }
    link->parameters = pool_take(&build->pool, (size_t)(count + 1) * sizeof *link->parameters);
    if (!link->parameters) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", link->path);
    /* Sorted by column: -2, -1, 1, 2. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = i < link->reads ? link->reads - 1 - i : i;
        int32_t column = i < link->reads ? -(int32_t)i - 1 : (int32_t)(i - link->reads) + 1;
        const struct link_slot *slot = &build->slots[from];
        if (slot->kind != SLOT_PARAM || slot->column != column) {
            return fault(build->heap, ERROR_RUNTIME, "%s: the signature in row 0 is damaged", link->path);
        }
        int rc = parameter_read(build, slot, &link->parameters[i]);
        if (rc) return rc;
    }
    if (link->cells != count) return fault(build->heap, ERROR_RUNTIME, "%s: a parameter is named twice", link->path);
    return 0;
}

static void map_read(struct link_build *build, const char *path) {
    struct link *link = build->link;
    char key[KVSPACE_KEY_MAX + 1];
    struct kvspace_value value;
    if (snprintf(key, sizeof key, "%s/‥map", path) < (int)sizeof key && kvspace_get(build->core->space, key, &value) == 0 &&
        value.kind == KVSPACE_INT32) {
        uint64_t lines = value.body_bytes / 8;
        link->map = pool_take(&build->pool, (size_t)(link->rows + 2) * 8);
        if (link->map) {
            uint64_t wanted = (uint64_t)link->rows + 1;
            memcpy(link->map, value.body, (size_t)((lines < wanted ? lines : wanted) * 8));
        }
    }
    char file[1024];
    size_t bytes;
    link->file = "?";
    if (snprintf(key, sizeof key, "%s/‥file", path) < (int)sizeof key &&
        kvspace_get_text(build->core->space, key, file, sizeof file, &bytes) == 0) {
        const char *copy = pool_text(&build->pool, file, strlen(file));
        if (copy) link->file = copy;
    }
}

/* ---- rows ---- */

static int operand_bind(struct link_build *build, const struct link_slot *slot, struct operand *operand, bool write) {
    int rc;
    switch (slot->kind) {
    case SLOT_NAME:
        if (write && slot->text_bytes == 1 && slot->text[0] == '_') {
            operand->kind = OPERAND_DISCARD;
            return 0;
        }
        operand->kind = OPERAND_CELL;
        rc = link_name(build, slot->text, slot->text_bytes, &operand->cell);
        if (rc) return rc;
        return 0;
    case SLOT_PATH:
        operand->kind = OPERAND_PATH;
        operand->path = slot->text;
        return 0;
    case SLOT_LITERAL:
    case SLOT_NONE:
        if (write) break;
        operand->kind = OPERAND_CONSTANT;
        operand->literal = true;
        operand->constant = slot->constant;
        return 0;
    default: break;
    }
    return fault(build->heap, ERROR_RUNTIME, "%s: slot [%u,%d] cannot be used there", build->link->path, slot->row, slot->column);
}

static const char *const structural_names[] = { "",
#define STRUCTURAL(name, text) text,
#include "core/opcodes.def"
};

static int opcode_bind(struct link_build *build, struct row *row, const struct link_slot *slot) {
    row->name = slot->text;
    static const char *const control[] = { "goto", "call", "tailcall", "return" };
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(slot->text, control[i]) == 0) return 0;
    }
    for (unsigned i = 1; i < STRUCTURAL_COUNT; i++) {
        if (strcmp(slot->text, structural_names[i]) == 0) {
            row->structural = (uint16_t)i;
            return 0;
        }
    }
    row->native = core_find_cap(build->core, slot->text, slot->text_bytes, &row->host);
    return 0; /* an opcode that nobody here provides fails when it is executed, not before */
}

static bool operand_same(const struct operand *left, const struct operand *right) {
    if (left->kind != right->kind) return false;
    if (left->kind == OPERAND_CELL) return left->cell == right->cell;
    return left->kind == OPERAND_PATH; /* two paths may meet: treated as the same place */
}

static void row_mark_self(struct row *row) {
    for (unsigned w = 0; w < row->write_count && !row->self; w++) {
        for (unsigned r = 0; r < row->read_count && !row->self; r++) {
            if (operand_same(&row->writes[w], &row->reads[r])) {
                row->self = true;
                row->self_write = (uint8_t)(w < 255 ? w : 255);
            }
        }
    }
    if (row->native && (row->native->reuse == REUSE_EXTENDS || row->native->reuse == REUSE_REPEATS) && row->write_count == 1 && row->read_count &&
        row->writes[0].kind == OPERAND_CELL && operand_same(&row->writes[0], &row->reads[0])) {
        row->reuse = true;
        for (unsigned r = 1; r < row->read_count; r++) {
            if (operand_same(&row->writes[0], &row->reads[r])) row->reuse = false;
        }
    }
}

static int row_type(struct link_build *build, struct row *row) {
    int at;
    switch (row->structural) {
    case STRUCTURAL_NEWARRAY: case STRUCTURAL_FILLARRAY: case STRUCTURAL_NEWMAP: at = 0; break;
    case STRUCTURAL_CHECK: at = 1; break;
    default: return 0;
    }
    char text[KVSPACE_TYPE_MAX + 1];
    size_t bytes;
    if (at >= row->read_count || row->reads[at].kind != OPERAND_CONSTANT || !cell_is_text(&row->reads[at].constant) ||
        !text_to_utf8(build->heap, &row->reads[at].constant, text, sizeof text, &bytes)) {
        return fault(build->heap, ERROR_RUNTIME, "%s: row %u: %s wants the text of a type", build->link->path, row->number, row->name);
    }
    return bytes ? type_of_text(build->heap, text, bytes, &row->type) : 0;
}

static int row_read(struct link_build *build, uint32_t number, uint32_t first, uint32_t end) {
    struct row *row = pool_take(&build->pool, sizeof *row);
    if (!row) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", build->link->path);
    build->link->row[number] = row;
    row->number = number;
    row->name = "?";
    int32_t lowest = end > first ? build->slots[first].column : 0, highest = end > first ? build->slots[end - 1].column : 0;
    row->read_count = (uint16_t)(lowest < 0 ? -lowest : 0);
    row->write_count = (uint16_t)(highest > 0 ? highest : 0);
    row->reads = pool_take(&build->pool, (size_t)(row->read_count + row->write_count + 1) * sizeof *row->reads);
    if (!row->reads) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", build->link->path);
    row->writes = row->reads + row->read_count;
    for (unsigned i = 0; i < row->read_count; i++) row->reads[i].kind = OPERAND_CONSTANT;
    for (unsigned i = 0; i < row->write_count; i++) row->writes[i].kind = OPERAND_DISCARD;
    bool known = false;
    for (uint32_t i = first; i < end; i++) {
        const struct link_slot *slot = &build->slots[i];
        int rc;
        if (slot->column == 0) {
            known = slot->kind == SLOT_OPCODE;
            rc = known ? opcode_bind(build, row, slot) : 0;
        } else if (slot->column < 0) {
            rc = operand_bind(build, slot, &row->reads[-slot->column - 1], false);
        } else {
            rc = operand_bind(build, slot, &row->writes[slot->column - 1], true);
        }
        if (rc) return rc;
    }
    if (!known) return fault(build->heap, ERROR_RUNTIME, "%s: row %u has no opcode", build->link->path, number);
    for (unsigned i = 0; i < row->read_count && i < 64; i++) {
        if (row->reads[i].literal) row->literals |= UINT64_C(1) << i;
    }
    row_mark_self(row);
    return row_type(build, row);
}

static int rows_read(struct link_build *build, uint32_t first) {
    struct link *link = build->link;
    link->rows = build->slot_count > first ? build->slots[build->slot_count - 1].row : 0;
    link->row = pool_take(&build->pool, (size_t)(link->rows + 2) * sizeof *link->row);
    if (!link->row) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", link->path);
    uint32_t at = first;
    for (uint32_t number = 1; number <= link->rows; number++) {
        uint32_t end = at;
        while (end < build->slot_count && build->slots[end].row == number) end++;
        int rc = row_read(build, number, at, end);
        if (rc) return rc;
        at = end;
    }
    return 0;
}

/* ---- functions ---- */

static int function_record_of(struct core *core, const char *path, uint64_t version, uint32_t *out) {
    struct heap *heap = &core->heap;
    for (uint32_t ref = core->functions; ref;) {
        struct function_record *record = (struct function_record *)(void *)(heap->base + ((uint64_t)ref << 4));
        if (record->version == version && strcmp(record->path, path) == 0) {
            *out = ref;
            return 0;
        }
        ref = record->next;
    }
    size_t bytes = strlen(path);
    uint64_t usable;
    int rc = heap->allocate(heap, sizeof(struct function_record) + bytes + 1, out, &usable);
    if (rc) return rc;
    struct function_record *record = (struct function_record *)(void *)(heap->base + ((uint64_t)*out << 4));
    *record = (struct function_record){ .version = version, .next = core->functions, .path_bytes = (uint32_t)bytes };
    memcpy(record->path, path, bytes + 1);
    core->functions = *out;
    return 0;
}

static uint64_t version_of(struct core *core, const char *path) {
    char key[KVSPACE_KEY_MAX + 1];
    uint64_t version = 0;
    if (snprintf(key, sizeof key, "%s/‥version", path) < (int)sizeof key) kvspace_get_u64(core->space, key, &version);
    return version;
}

static int link_keep(struct core *core, struct link *link) {
    if (core->link_count == core->link_room) {
        uint32_t room = core->link_room ? core->link_room * 2 : 64;
        struct link **more = realloc(core->links, room * sizeof *more);
        if (!more) return fault(&core->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", link->path);
        core->links = more;
        core->link_room = room;
    }
    link->number = core->link_count;
    core->links[core->link_count++] = link;
    struct link **bucket = &core->buckets[name_hash(link->path, strlen(link->path)) & 255];
    link->same = *bucket;
    *bucket = link;
    return 0;
}

static void constants_drop(const struct link_build *build) {
    for (uint32_t i = 0; i < build->slot_count; i++) cell_drop(build->heap, build->slots[i].constant);
}

/* Links what stands at `place` as the function `path`. */
static int link_read(struct core *core, const char *place, const char *path, uint64_t version, struct link **out) {
    struct link_build build = { .core = core, .heap = &core->heap };
    struct link *link = pool_take(&build.pool, sizeof *link);
    if (!link) return fault(&core->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", path);
    build.link = link;
    link->path = (char *)(uintptr_t)pool_text(&build.pool, path, strlen(path));
    link->name = link->path ? strrchr(link->path, '/') : NULL;
    /* /lib/a/b·f is shown as a/b·f. */
    link->name = link->path && strncmp(link->path, "/lib/", 5) == 0 ? link->path + 5 : link->path;
    link->version = version;
    link->seen = code_changes(core); /* before it is read: a change meanwhile is noticed */
    uint32_t head = 0;
    int rc = link->path ? 0 : fault(&core->heap, ERROR_OUT_OF_MEMORY, "no memory to link");
    if (!rc) rc = slots_read(&build, place);
    if (!rc) rc = head_read(&build, &head);
    if (!rc) rc = rows_read(&build, head);
    if (!rc) map_read(&build, place);
    if (!rc) rc = link_code(&build);
    if (!rc) {
        link->names = pool_take(&build.pool, (size_t)(link->cells + 1) * sizeof *link->names);
        if (!link->names) rc = fault(&core->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", path);
        else if (link->cells) memcpy(link->names, build.names, link->cells * sizeof *link->names);
    }
    if (!rc) rc = function_record_of(core, path, version, &link->function);
    link->fingerprint = build.fingerprint;
    link->memory = build.pool.first;
    if (!rc) rc = link_keep(core, link);
    if (rc) constants_drop(&build);
    free(build.slots);
    free(build.names);
    free(build.index);
    if (rc) {
        pool_free(&build.pool);
        return rc;
    }
    *out = link;
    return 0;
}

/* Where a version of a function stands: at its path, or put aside. False: nowhere. */
static bool place_of_version(struct core *core, const char *path, uint64_t version, char *place, size_t capacity) {
    if (version_of(core, path) == version) {
        snprintf(place, capacity, "%s", path);
        return true;
    }
    snprintf(place, capacity, "/lib/‥old/%s@%llu", strncmp(path, "/lib/", 5) ? path : path + 5, (unsigned long long)version);
    return kvspace_exists(core->space, place) == 0;
}

bool link_is_fresh(struct core *core, struct link *link) {
    uint32_t now = code_changes(core);
    if (link->stale || link->seen == now) return !link->stale;
    char place[KVSPACE_KEY_MAX + 1];
    struct link_build build = { .core = core, .heap = &core->heap, .link = link };
    if (place_of_version(core, link->path, link->version, place, sizeof place)) {
        struct fault before = core->heap.fault;
        link->stale = slots_read(&build, place) != 0 || build.fingerprint != link->fingerprint;
        core->heap.fault = before;
        constants_drop(&build);
        pool_free(&build.pool);
        free(build.slots);
    }
    if (!link->stale) link->seen = now;
    return !link->stale;
}

int link_function(struct core *core, const char *path, struct link **out) {
    uint64_t version = version_of(core, path);
    for (struct link *link = core->buckets[name_hash(path, strlen(path)) & 255]; link; link = link->same) {
        if (link->version == version && !link->stale && strcmp(link->path, path) == 0 && link_is_fresh(core, link)) {
            *out = link;
            return 0;
        }
    }
    struct kvspace_value value;
    int rc = kvspace_get(core->space, path, &value);
    if (rc == KVSPACE_ENOENT || (!rc && (!value.type || strcmp(value.type, "rwfunc") != 0))) {
        return fault(&core->heap, ERROR_NAME, "there is no function at %s", path);
    }
    if (rc) return tree_fault(&core->heap, core->space, rc, "link", path);
    return link_read(core, path, path, version, out);
}

int link_of_record(struct core *core, uint32_t function, struct link **out) {
    struct function_record *record = (struct function_record *)(void *)(core->heap.base + ((uint64_t)function << 4));
    for (struct link *link = core->buckets[name_hash(record->path, record->path_bytes) & 255]; link; link = link->same) {
        if (link->version == record->version && !link->stale && strcmp(link->path, record->path) == 0 && link_is_fresh(core, link)) {
            *out = link;
            return 0;
        }
    }
    char place[KVSPACE_KEY_MAX + 1];
    if (place_of_version(core, record->path, record->version, place, sizeof place)) return link_read(core, place, record->path, record->version, out);
    return fault(&core->heap, ERROR_RUNTIME, "version %llu of %s is gone: the function was replaced while this vthread stood in it",
                 (unsigned long long)record->version, record->path);
}

void links_close(struct core *core) {
    for (uint32_t i = 0; i < core->link_count; i++) {
        struct link *link = core->links[i];
        for (uint32_t number = 1; number <= link->rows; number++) {
            for (unsigned r = 0; r < link->row[number]->read_count; r++) {
                if (link->row[number]->reads[r].kind == OPERAND_CONSTANT) cell_drop(&core->heap, link->row[number]->reads[r].constant);
            }
        }
        struct pool pool = { link->memory };
        pool_free(&pool);
    }
    constants_close(core);
    free(core->links);
    core->links = NULL;
    core->link_count = core->link_room = 0;
}
