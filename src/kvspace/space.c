/* Opening and closing a space, messages, and what is lent to the caller (space.h).
 * Relies on arena.h for the file, backend.h for names, tree.h for what a new space holds.
 * Promises: a failed open leaves nothing behind; close gives everything back, whatever was open. */
#include "kvspace/space.h"

#include "kvspace/backend.h"
#include "kvspace/cell.h"
#include "kvspace/path.h"
#include "kvspace/provider.h"
#include "kvspace/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int code;
    const char *name, *text;
} error_rows[] = {
#define KVSPACE_ERROR(name, number, text) {number, #name, text},
#include <kvspace/error.def>
};

const char *kvspace_strerror(int code) {
    for (size_t i = 0; i < sizeof error_rows / sizeof error_rows[0]; i++)
        if (error_rows[i].code == code) return error_rows[i].text;
    return "an unknown error";
}

const char *kvspace_error_name(int code) {
    for (size_t i = 0; i < sizeof error_rows / sizeof error_rows[0]; i++)
        if (error_rows[i].code == code) return error_rows[i].name;
    return "UNKNOWN";
}

/* The message is the one thing of a handle that a reading call may change through a const pointer. */
int space_error(const kvspace *space, int code, const char *key, const char *format, ...) {
    kvspace *handle = (kvspace *)(uintptr_t)space;
    char detail[sizeof handle->message / 2];
    va_list arguments;
    if (!code) return 0;
    if (!format) snprintf(detail, sizeof detail, "%s", kvspace_strerror(code));
    else {
        va_start(arguments, format);
        vsnprintf(detail, sizeof detail, format, arguments);
        va_end(arguments);
    }
    bool sized = code == KVSPACE_EFULL || code == KVSPACE_ENOSPC || code == KVSPACE_ENOMEM || code == KVSPACE_ETRUNCATED;
    const char *sizes = sized && !format ? handle->arena.message : "";
    snprintf(handle->message, sizeof handle->message, "%.200s%s%s", key ? key : "", key && *key ? ": " : "",
             *sizes ? sizes : detail);
    return code;
}

const char *kvspace_message(const kvspace *space) { return space->message; }
const char *kvspace_dsn(const kvspace *space) { return space->dsn; }
const char *kvspace_file(const kvspace *space) { return space->file; }
const char *kvspace_backend(const kvspace *space) {
    (void)space;
    return "shm";
}
uint32_t kvspace_owner(const kvspace *space) { return space->owner; }
void kvspace_set_owner(kvspace *space, uint32_t owner) { space->owner = owner; }
void kvspace_keep(kvspace *space, enum kvspace_keep keep) { space->keep = (uint8_t)keep; }

const char *kvspace_version_text(void) { return KVLANG_VERSION; }
uint32_t kvspace_format_version(void) { return FORMAT_VERSION; }

/* ---- lending ---- */

void *space_lend(kvspace *space, size_t bytes) {
    struct lend_chunk *chunk = space->chunks;
    bytes = (bytes + 63) / 64 * 64;
    if (!bytes) bytes = 64;
    if (!chunk || chunk->capacity - chunk->used < bytes) {
        size_t capacity = bytes > 16384 - sizeof *chunk ? bytes : 16384 - sizeof *chunk;
        chunk = aligned_alloc(64, (sizeof *chunk + capacity + 63) / 64 * 64);
        if (!chunk) return NULL;
        chunk->next = space->chunks;
        chunk->used = 0;
        chunk->capacity = capacity;
        space->chunks = chunk;
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += bytes;
    space->lent = 1;
    return memory;
}

int space_pin(kvspace *space, uint32_t block) {
    int code = 0;
    if (space->pin_count == space->pin_capacity) {
        size_t capacity = space->pin_capacity ? 2 * space->pin_capacity : 16;
        uint32_t *pins = realloc(space->pins, capacity * sizeof *pins);
        if (!pins) return KVSPACE_ENOMEM;
        space->pins = pins;
        space->pin_capacity = capacity;
    }
    if (!block_pin(&space->arena, block, &code)) return code ? code : KVSPACE_EAGAIN;
    space->pins[space->pin_count++] = block;
    space->lent = 1;
    return 0;
}

void space_take_back(kvspace *space) {
    if (arena_usable(&space->arena)) space->pin_count = 0; /* what was pinned is no more */
    while (space->pin_count) block_unpin(&space->arena, space->pins[--space->pin_count]);
    while (space->chunks && space->chunks->next) {
        struct lend_chunk *chunk = space->chunks;
        space->chunks = chunk->next;
        free(chunk);
    }
    if (space->chunks) space->chunks->used = 0;
    space->lent = 0;
}

int kvspace_read_begin(kvspace *space) {
    if (space->read_depth == UINT32_MAX) return space_error(space, KVSPACE_ELIMIT, NULL, NULL);
    if (space->lent && !space->read_depth) space_take_back(space);
    space->read_depth++;
    return 0;
}

int kvspace_read_end(kvspace *space) {
    if (!space->read_depth) return space_error(space, KVSPACE_EUSAGE, NULL, "an end of a read section without a beginning");
    if (--space->read_depth == 0 && space->lent) space_take_back(space);
    return 0;
}

/* ---- opening ---- */

int space_bind(kvspace *space) {
    uint32_t tree = atomic_load_explicit(&mem_header(space)->steps, memory_order_acquire);
    space->root = atomic_load_explicit(&mem_header(space)->root, memory_order_acquire);
    space->tree = arena_at(&space->arena, tree, sizeof *space->tree);
    struct node *root = node_at(&space->arena, space->root);
    return space->tree && root && node_is_live(root) ? 0 : KVSPACE_EDAMAGED;
}

/* A new space: the tree's record, the root, /sys. Nobody else sees it yet, so death needs no thought. */
static int found(struct arena *arena, void *context) {
    kvspace *space = context;
    uint32_t tree, root;
    int rc = alloc_take(arena, sizeof(struct tree_root), &tree);
    if (!rc) rc = alloc_take_node(arena, &root);
    if (rc) return rc;
    struct node *node = node_at(arena, root);
    memset(arena_at(arena, tree, sizeof(struct tree_root)), 0, sizeof(struct tree_root));
    atomic_store_explicit(&node->ver, NODE_LIVE | NODE_GENERATION, memory_order_relaxed);
    atomic_store_explicit(&arena->header->steps, tree, memory_order_relaxed);
    atomic_store_explicit(&arena->header->root, root, memory_order_relaxed);
    alloc_keep(arena, tree);
    alloc_keep(arena, root);
    rc = space_bind(space);
    return rc ? rc : provider_sys_found(space);
}

/* The message of a failed open names the space: by itself, or in front. */
static void tell_problem(const struct kvspace_open_options *options, const char *name, int code, const char *text) {
    if (!options->problem) return;
    if (!*text) text = code == KVSPACE_ENOENT ? "there is no such space" : code == KVSPACE_EEXIST ? "is there already" : kvspace_strerror(code);
    bool named = strstr(text, name) != NULL;
    options->problem->position = 0;
    snprintf(options->problem->message, sizeof options->problem->message, "%.100s%s%s", named ? "" : name, named ? "" : ": ", text);
}

static char *copy_text(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    if (copy) memcpy(copy, text, strlen(text) + 1);
    return copy;
}

/* What of the options the arena wants. */
static int open_arena(kvspace *space, const struct backend_target *target, const struct kvspace_open_options *options) {
    struct arena_options arena = {
        .limit_bytes = options->limit_bytes,
        .trust = options->trust == KVSPACE_TRUST_OTHERS,
        .must_exist = options->create == KVSPACE_CREATE_NEVER || (target->is_anonymous && !target->is_new_anonymous),
        .must_create = options->create == KVSPACE_CREATE_NEW || target->is_new_anonymous,
        .label = options->label,
        .hooks = {.settle = tree_settle, .finish = tree_finish, .context = space},
        .found = found,
        .found_context = space,
    };
    return arena_open(&space->arena, target->path, &arena);
}

static int name_space(kvspace *space, const struct backend_target *target) {
    const char *slash = strrchr(target->path, '/');
    const char *file = slash ? slash + 1 : target->path;
    size_t bytes = strlen(target->path) + 8;
    space->file = copy_text(target->path);
    space->dsn = malloc(bytes);
    if (!space->file || !space->dsn) return KVSPACE_ENOMEM;
    if (target->is_anonymous) snprintf(space->dsn, bytes, "anon:%.*s", (int)(strlen(file) - strlen(".kvspace")), file);
    else snprintf(space->dsn, bytes, "shm:%s", target->path);
    return 0;
}

static void free_handle(kvspace *space) {
    while (space->chunks) {
        struct lend_chunk *chunk = space->chunks;
        space->chunks = chunk->next;
        free(chunk);
    }
    free(space->pins);
    free(space->file);
    free(space->dsn);
    free(space);
}

static int open_target(const struct backend_target *target, const struct kvspace_open_options *options, kvspace **out) {
    kvspace *space = aligned_alloc(64, (sizeof *space + 63) / 64 * 64);
    if (!space) return KVSPACE_ENOMEM;
    memset(space, 0, sizeof *space);
    space->options = *options;
    space->owner = options->owner;
    space->is_read_only = options->access == KVSPACE_READ_ONLY;
    space->is_anonymous = target->is_anonymous;
    space->is_new_anonymous = target->is_new_anonymous;
    space->keep = (uint8_t)options->keep;
    if (options->label) {
        snprintf(space->label, sizeof space->label, "%s", options->label);
        space->options.label = space->label;
    }
    int rc = name_space(space, target);
    bool opened = false;
    if (!rc) {
        rc = open_arena(space, target, options);
        opened = !rc;
    }
    if (!rc) rc = space_bind(space);
    if (!rc) rc = provider_sys_register(space);
    if (rc) {
        tell_problem(options, target->path, rc, opened ? "" : space->arena.message);
        if (opened) arena_close(&space->arena);
        free_handle(space);
        return rc;
    }
    space->options.problem = NULL; /* the caller's, for this call */
    *out = space;
    return 0;
}

int kvspace_open_with(const char *dsn, const struct kvspace_open_options *options, kvspace **space) {
    static const struct kvspace_open_options defaults;
    struct backend_target *target = malloc(sizeof *target);
    struct kvspace_problem problem = {.message = ""};
    if (!target) return KVSPACE_ENOMEM;
    if (!options) options = &defaults;
    int rc = backend_resolve(dsn, target, &problem);
    if (rc) tell_problem(options, "", rc, problem.message);
    else rc = open_target(target, options, space);
    free(target);
    return rc;
}

int kvspace_open(const char *dsn, kvspace **space) { return kvspace_open_with(dsn, NULL, space); }

int kvspace_open_again(const kvspace *space, kvspace **another) {
    struct kvspace_open_options options = space->options;
    options.create = KVSPACE_CREATE_NEVER;
    options.owner = space->owner;
    options.keep = KVSPACE_KEEP_DEFAULT; /* the end of a thread says nothing about the program's */
    return kvspace_open_with(space->dsn, &options, another);
}

/* ---- closing ---- */

static bool is_last(const kvspace *space) {
    uint32_t high = header_slots(mem_header(space));
    for (uint32_t slot = 0; slot < high; slot++)
        if (slot != space->arena.own_slot && atomic_load_explicit(&mem_header(space)->slot_state[slot], memory_order_acquire) != PARTY_FREE &&
            party_alive(&space->arena, slot))
            return false;
    return true;
}

/* Under the lock that openers take, so that nobody joins a file that is about to go. */
static void remove_anonymous(kvspace *space) {
    _Atomic uint32_t *end = &mem_header(space)->tree_words[ANONYMOUS_END_WORD];
    bool over = space->keep == KVSPACE_KEEP_NEVER || (space->keep == KVSPACE_KEEP_DEFAULT && space->is_new_anonymous);
    if (space->keep == KVSPACE_KEEP_ALWAYS) atomic_store_explicit(end, ANONYMOUS_END_KEPT, memory_order_release);
    else if (over) atomic_store_explicit(end, ANONYMOUS_END_OVER, memory_order_release);
    if (atomic_load_explicit(end, memory_order_acquire) != ANONYMOUS_END_OVER) return;
    if (platform_lock_wait(space->arena.fd, FORMAT_LOCK_OPEN)) return;
    if (is_last(space)) platform_file_unlink(space->file);
    platform_lock_drop(space->arena.fd, FORMAT_LOCK_OPEN);
}

void kvspace_close(kvspace *space) {
    if (!space) return;
    if (!arena_usable(&space->arena)) {
        space->read_depth = 0;
        space_take_back(space);
        if (space->is_anonymous) remove_anonymous(space);
    }
    arena_close(&space->arena);
    free_handle(space);
}

int kvspace_sync(kvspace *space) {
    return platform_file_sync(space->arena.fd) ? space_error(space, KVSPACE_EIO, NULL, "sync: %s", platform_errno_text()) : 0;
}
