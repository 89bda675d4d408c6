/* Opening and closing a runtime, its capability tables, struct definitions.
 * Relies on memory.c, link.c, natives.c. Promises: nothing global; what core_open made, core_close frees. */
#include "core/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/exec.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/observe.h"
#include "core/present.h"
#include "core/text.h"
#include "core/tree_value.h"
#include "kvspace/space.h"

int core_open(kvspace *space, struct core **out) {
    struct core *core = calloc(1, sizeof *core);
    if (!core) return ERROR_OUT_OF_MEMORY;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    core->space = space;
    core->incarnation = ((uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec << 8 ^ (uint64_t)(uint32_t)getpid() << 40 ^ (uintptr_t)core) | 1;
    core->depth_limit = 1000000;
    core->code_word = &space->arena.header->code_changes;
    core->heap.pointer_text = pointer_text;
    core->heap.struct_find = link_struct;
    core->services.space = space;
    core->services.context = core;
    int rc = memory_open(core);
    if (!rc) rc = present_register(core);
    if (!rc) rc = core_add_caps(core, schedule_rows, schedule_count, core);
    if (rc) {
        core_close(core);
        return rc;
    }
    *out = core;
    return 0;
}

struct core *core_observe(kvspace *space) {
    struct core *core;
    return core_open(space, &core) ? NULL : core;
}

static void structs_close(struct core *core) {
    for (uint32_t i = 0; i < core->struct_count; i++) {
        struct struct_def *definition = core->structs[i];
        for (uint32_t f = 0; f < definition->count; f++) {
            cell_drop(&core->heap, definition->fields[f].key);
            cell_drop(&core->heap, definition->fields[f].initial);
            free((void *)(uintptr_t)definition->fields[f].name);
        }
        free(definition->fields);
        free((void *)(uintptr_t)definition->name);
        free(definition);
    }
    free(core->structs);
}

void core_close(struct core *core) {
    if (!core) return;
    links_close(core);
    structs_close(core);
    types_close(&core->heap);
    memory_close(core);
    while (core->caps) {
        struct core_caps *next = core->caps->next;
        free(core->caps);
        core->caps = next;
    }
    breaks_close(core);
    free(core->chain);
    free(core->ready);
    free(core);
}

void core_unobserve(struct core *core) { core_close(core); }

int core_add_caps(struct core *core, const struct native_row *rows, uint32_t count, void *host) {
    struct core_caps *caps = calloc(1, sizeof *caps);
    if (!caps) return fault(&core->heap, ERROR_OUT_OF_MEMORY, "no memory for a capability table");
    *caps = (struct core_caps){ rows, count, host, core->caps };
    core->caps = caps;
    return 0;
}

const struct native_row *core_find_cap(const struct core *core, const char *name, size_t bytes, void **host) {
    *host = NULL;
    for (const struct core_caps *caps = core->caps; caps; caps = caps->next) {
        for (uint32_t i = 0; i < caps->count; i++) {
            if (strlen(caps->rows[i].name) == bytes && memcmp(caps->rows[i].name, name, bytes) == 0) {
                *host = caps->host;
                return &caps->rows[i];
            }
        }
    }
    return native_find(name, bytes);
}

/* ---- structs ---- */

static char *text_copy(const char *text, size_t bytes) {
    char *copy = malloc(bytes + 1);
    if (copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = 0;
    }
    return copy;
}

/* A default like Lamp{on=true} names only the fields that it overrides: the others come from the struct's own defaults. */
static int default_complete(struct core *core, struct cell *value) {
    struct heap *heap = &core->heap;
    if (cell_tag(value) != TAG_STRUCT) return 0;
    const struct struct_def *definition = link_struct(heap, cell_block(heap, value)->type);
    struct cell whole, next;
    if (!definition) return 0;
    int rc = struct_new(heap, definition, &whole);
    for (uint32_t i = 0; !rc && i < definition->count; i++) {
        const struct cell *given;
        rc = map_find(heap, value, &definition->fields[i].key, &given);
        if (rc || !given || cell_is_none(given)) continue;
        rc = map_set(heap, &whole, &definition->fields[i].key, given, 0, &next);
        if (!rc && next.payload != whole.payload) {
            cell_drop(heap, whole);
            whole = next;
        }
        if (rc) cell_drop(heap, whole);
    }
    if (rc) return rc;
    cell_drop(heap, *value);
    *value = whole;
    return 0;
}

static int field_read(struct core *core, const char *path, uint32_t number, struct struct_field *field) {
    struct heap *heap = &core->heap;
    char key[KVSPACE_KEY_MAX + 64];
    struct kvspace_value value;
    snprintf(key, sizeof key, "%s/[0,%u]", path, number);
    int rc = kvspace_get(core->space, key, &value);
    if (rc) return tree_fault(heap, core->space, rc, "read the struct", key);
    const char *text = value.body, *colon = memchr(text, ':', (size_t)value.body_bytes);
    size_t name_bytes = colon ? (size_t)(colon - text) : (size_t)value.body_bytes;
    const char *type_text = colon ? colon + 1 : "any";
    size_t type_bytes = colon ? (size_t)value.body_bytes - name_bytes - 1 : 3;
    while (type_bytes && *type_text == ' ') type_text++, type_bytes--;
    char *type_copy = text_copy(type_text, type_bytes);
    field->name = text_copy(text, name_bytes);
    field->name_bytes = (uint32_t)name_bytes;
    if (!type_copy || !field->name) {
        free(type_copy);
        return fault(heap, ERROR_OUT_OF_MEMORY, "no memory to read the struct %s", path);
    }
    const struct type_info *type;
    rc = type_of_text(heap, type_copy, type_bytes, &type);
    free(type_copy);
    if (!rc) rc = text_from_utf8(heap, field->name, name_bytes, &field->key);
    if (rc) return rc;
    field->type = type->form;
    field->type_id = type->id;
    snprintf(key, sizeof key, "%s/[1,%u]", path, number);
    rc = tree_get(heap, core->space, key, &field->initial);
    return rc ? rc : default_complete(core, &field->initial);
}

const struct struct_def *link_struct(struct heap *heap, uint32_t type) {
    struct core *core = heap->host;
    const struct type_info *info;
    for (uint32_t i = 0; i < core->struct_count; i++) {
        if (core->structs[i]->type == type) return core->structs[i];
    }
    heap->fault.kind = 0;
    if (type_of_id(heap, type, &info)) return NULL;
    char path[KVSPACE_KEY_MAX + 1];
    snprintf(path, sizeof path, "%s%s", info->text[0] == '/' ? "" : "/lib/", info->text);
    struct kvspace_value value;
    uint32_t count = 0;
    if (kvspace_get(core->space, path, &value) || !value.type || strcmp(value.type, "def struct") != 0 || value.body_bytes < 4) return NULL;
    memcpy(&count, value.body, 4);
    struct struct_def *definition = calloc(1, sizeof *definition);
    struct struct_def **more = realloc(core->structs, (core->struct_count + 1) * sizeof *more);
    if (more) core->structs = more;
    if (definition) definition->fields = calloc(count + 1, sizeof *definition->fields);
    if (definition) definition->name = text_copy(path, strlen(path));
    if (!more || !definition || !definition->fields || !definition->name) {
        fault_set(heap, ERROR_OUT_OF_MEMORY, "no memory to read the struct %s", path);
    } else {
        definition->type = type;
        int rc = 0;
        /* In the list before its fields are read: a field of the struct's own type finds it there. */
        core->structs[core->struct_count++] = definition;
        for (; definition->count < count && !rc; definition->count++) rc = field_read(core, path, definition->count + 1, &definition->fields[definition->count]);
        return rc ? NULL : definition;
    }
    if (definition) {
        free(definition->fields);
        free((void *)(uintptr_t)definition->name);
    }
    free(definition);
    return NULL;
}
