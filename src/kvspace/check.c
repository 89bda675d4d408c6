/* kvspace_check and kvspace_repair (kvspace.h): faults and their messages, the counts, and the order of things.
 * Exact and repairing checks hold the lock that openers take, so nobody comes while they look. A repair is followed by
 * checks until one finds nothing, since what is unlinked may be what something else hung on. Relies on check.h. */
#include "kvspace/check.h"

#include "kvspace/cell.h"
#include "kvspace/step_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULTS_MAX = 1000, REPAIRS_MAX = 4, KEY_SHOWN = 400 };

/* ---- faults ---- */

/* The key of a node into the end of `out`; one that is too long loses its beginning. */
static const char *key_of(const struct check *check, uint32_t ref, char *out, size_t room) {
    const struct arena *arena = &check->space->arena;
    char *at = out + room - 1;
    *at = 0;
    for (unsigned depth = 0; ref != check->space->root && depth < KVSPACE_KEY_MAX; depth++) {
        const struct node *node = node_at(arena, ref);
        const struct step *step = node ? step_at(arena, atomic_load_explicit(&node->step, memory_order_acquire)) : NULL;
        const char *mark = step && step->kind == STEP_OF_MEMBER ? "\xc2\xb7" : "/";
        const char *name = step ? step->text : "?";
        size_t bytes = step ? step->bytes : 1;
        if ((size_t)(at - out) < bytes + 5) {
            at -= 3;
            memcpy(at, "\xe2\x80\xa6", 3);
            return at;
        }
        at -= bytes;
        memcpy(at, name, bytes);
        at -= strlen(mark);
        memcpy(at, mark, strlen(mark));
        if (!node) return at;
        ref = atomic_load_explicit(&node->parent, memory_order_acquire);
    }
    if (!*at) *--at = '/';
    return at;
}

static void report(const struct check *check, const char *text) {
    if (check->options->report) check->options->report(check->options->context, text);
}

void check_fault(struct check *check, uint32_t node, const char *form, ...) {
    char text[KEY_SHOWN + 400], key[KEY_SHOWN], detail[300];
    va_list arguments;
    va_start(arguments, form);
    (void)vsnprintf(detail, sizeof detail, form, arguments);
    va_end(arguments);
    if (check->faults++ >= check->faults_max) return;
    (void)snprintf(text, sizeof text, "%s%s%s", node ? key_of(check, node, key, sizeof key) : "", node ? ": " : "", detail);
    report(check, text);
}

static void memory_fault(void *context, const char *text) { check_fault(context, 0, "%s", text); }

/* ---- counts ---- */

static size_t count_slot(const struct check *check, uint32_t ref) {
    size_t mask = check->count_capacity - 1, at = (ref * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
    while (check->counts[at].ref && check->counts[at].ref != ref) at = (at + 1) & mask;
    return at;
}

static bool counts_grow(struct check *check) {
    struct check_count *old = check->counts;
    size_t had = check->count_capacity, capacity = had ? 2 * had : 1024;
    struct check_count *made = calloc(capacity, sizeof *made);
    if (!made) return false;
    check->counts = made;
    check->count_capacity = capacity;
    for (size_t i = 0; i < had; i++)
        if (old[i].ref) made[count_slot(check, old[i].ref)] = old[i];
    free(old);
    return true;
}

struct check_count *check_count_find(const struct check *check, uint32_t ref) {
    if (!check->count_capacity) return NULL;
    struct check_count *count = &check->counts[count_slot(check, ref)];
    return count->ref ? count : NULL;
}

struct check_count *check_count_of(struct check *check, uint32_t ref, enum check_kind kind) {
    struct check_count *count = check_count_find(check, ref);
    if (count) return count;
    if (check->count_used * 2 >= check->count_capacity && !counts_grow(check)) {
        check->no_memory = true;
        return NULL;
    }
    count = &check->counts[count_slot(check, ref)];
    *count = (struct check_count){.ref = ref, .kind = kind};
    check->count_used++;
    return count;
}

/* ---- what the own handle has borrowed ---- */

static void count_pin(struct check *check, uint32_t ref) {
    struct value_block *block = ref ? arena_at(&check->space->arena, ref, sizeof *block) : NULL;
    if (!ref) return;
    if (!block || (!check_count_find(check, ref) &&
                   alloc_check_claim(&check->memory, ref, (uint64_t)block->body_at * 16 + block->body_bytes, false))) {
        check_fault(check, 0, "participant %u: it holds block %u, which is none", check->space->arena.own_slot, ref);
        return;
    }
    struct check_count *count = check_count_of(check, ref, CHECK_BLOCK);
    if (count) count->seen++;
}

static void count_pins(struct check *check) {
    struct party_slot *self = check->space->arena.self;
    for (unsigned i = 0; i < PARTY_PINS_MAX; i++) count_pin(check, atomic_load_explicit(&self->pins[i], memory_order_relaxed));
    uint32_t ref = atomic_load_explicit(&self->pin_pages, memory_order_relaxed);
    while (ref) {
        struct pin_page *page = arena_at(&check->space->arena, ref, sizeof *page);
        if (!page || alloc_check_claim(&check->memory, ref, sizeof *page, false)) {
            check_fault(check, 0, "participant %u: its list of what it holds is damaged", check->space->arena.own_slot);
            return;
        }
        for (unsigned i = 0; i < sizeof page->pins / sizeof page->pins[0]; i++)
            count_pin(check, atomic_load_explicit(&page->pins[i], memory_order_relaxed));
        ref = atomic_load_explicit(&page->next, memory_order_relaxed);
    }
}

/* ---- counts against what was met ----
 * A count that is too high is what a death leaves: no fault, and set right by repair. One that is too low frees what is used. */

static void compare(struct check *check, const struct check_count *count) {
    /* Both kinds of records begin with their count. */
    _Atomic uint32_t *word = arena_at(&check->space->arena, count->ref, 16);
    if (!word) return;
    if (count->kind != CHECK_BLOCK && step_at(&check->space->arena, count->ref)->kind == STEP_IS_TYPE) return;
    uint32_t has = atomic_load_explicit(word, memory_order_relaxed);
    if (has < count->seen)
        check_fault(check, 0, "%s: %u is counted %u times and used %u times", count->kind == CHECK_BLOCK ? "values" : "names", count->ref, has,
                    count->seen);
    if (!check->repair) return;
    if (count->seen) atomic_store_explicit(word, count->seen, memory_order_relaxed);
    else if (count->kind == CHECK_STEP) check_step_forget(check, count->ref);
}

static void adopt_lost_steps(struct check *check) {
    for (size_t i = 0; i < check->count_capacity; i++)
        if (check->counts[i].ref && check->counts[i].kind == CHECK_LOST_STEP && step_adopt(check->space, check->counts[i].ref))
            check_fault(check, 0, "names: no room to put record %u back", check->counts[i].ref);
}

/* ---- the whole ---- */

static bool is_alone(const kvspace *space) {
    uint32_t high = header_slots(mem_header(space));
    for (uint32_t slot = 0; slot < high; slot++)
        if (slot != space->arena.own_slot && party_alive(&space->arena, slot)) return false;
    return true;
}

static int check_exact(struct check *check) {
    kvspace *space = check->space;
    int rc = alloc_check_begin(&check->memory);
    if (rc) return rc;
    if (alloc_check_claim(&check->memory, arena_ref(&space->arena, space->tree), sizeof *space->tree, false))
        check_fault(check, 0, "the tree's own record is no block");
    check_steps(check);
    count_pins(check);
    check_tree(check);
    bool over = check_is_over(check);
    for (size_t i = 0; i < check->count_capacity && !over; i++)
        if (check->counts[i].ref) compare(check, &check->counts[i]);
    if (check->no_memory) check->memory.repair = false; /* what was not looked at must not be taken for free */
    alloc_check_end(&check->memory);
    if (check->no_memory) return KVSPACE_ENOMEM;
    if (check->repair) {
        adopt_lost_steps(check);
        if (check->memory.leaked_blocks) {
            char text[120];
            (void)snprintf(text, sizeof text, "memory: %llu blocks of %llu bytes were nobody's: freed",
                           (unsigned long long)check->memory.leaked_blocks, (unsigned long long)check->memory.leaked_bytes);
            report(check, text);
        }
    }
    return 0;
}

static int check_shared(struct check *check) {
    int rc = alloc_check_shared(&check->memory);
    if (rc) return rc;
    check_steps(check);
    check_tree(check);
    return check->no_memory ? KVSPACE_ENOMEM : 0;
}

/* One pass. *faults gets how many there were. */
static int run(kvspace *space, const struct kvspace_check_options *options, bool exact, bool repair, uint64_t *faults) {
    static const struct kvspace_check_options defaults;
    if (!options) options = &defaults;
    struct check check = {.space = space, .options = options, .exact = exact, .repair = repair};
    check.faults_max = options->faults_max ? options->faults_max : FAULTS_MAX;
    check.memory = (struct alloc_check){.arena = &space->arena, .report = memory_fault, .context = &check, .repair = repair};
    int rc = exact ? check_exact(&check) : check_shared(&check);
    free(check.counts);
    free(check.todo);
    *faults = check.faults;
    return rc;
}

static int over(kvspace *space, int rc, uint64_t faults) {
    if (!rc && faults) rc = KVSPACE_EDAMAGED;
    if (rc == KVSPACE_EDAMAGED) return space_error(space, rc, NULL, "the space has %llu faults", (unsigned long long)faults);
    return rc ? space_error(space, rc, NULL, NULL) : 0;
}

int kvspace_check(kvspace *space, const struct kvspace_check_options *options) {
    uint64_t faults = 0;
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, NULL, NULL);
    bool locked = !platform_lock_wait(space->arena.fd, FORMAT_LOCK_OPEN);
    party_recover_all(&space->arena);
    bool exact = locked && is_alone(space);
    if (locked && !exact) platform_lock_drop(space->arena.fd, FORMAT_LOCK_OPEN);
    rc = run(space, options, exact, false, &faults);
    if (exact) platform_lock_drop(space->arena.fd, FORMAT_LOCK_OPEN);
    space_end(space);
    return over(space, rc, faults);
}

static int repair_alone(kvspace *space, const struct kvspace_check_options *options, uint64_t *faults) {
    struct kvspace_check_options silent = {.faults_max = options ? options->faults_max : 0};
    int rc = 0;
    for (unsigned tries = 0; tries < REPAIRS_MAX && !rc; tries++) {
        rc = run(space, options, true, true, faults);
        if (!rc) rc = run(space, &silent, true, false, faults);
        if (!rc && !*faults) return 0;
    }
    return rc;
}

int kvspace_repair(kvspace *space, const struct kvspace_check_options *options) {
    uint64_t faults = 0;
    if (space->is_read_only) return space_error(space, KVSPACE_EREADONLY, NULL, "this handle is read-only");
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, NULL, NULL);
    if (space->pin_count || space->writes_open) {
        space_end(space);
        return space_error(space, KVSPACE_EBUSY, NULL, "end read sections and open writes before a repair");
    }
    if (platform_lock_wait(space->arena.fd, FORMAT_LOCK_OPEN)) {
        space_end(space);
        return space_error(space, KVSPACE_EIO, NULL, "locking the space: %s", platform_errno_text());
    }
    party_recover_all(&space->arena);
    bool alone = is_alone(space);
    if (alone) rc = repair_alone(space, options, &faults);
    platform_lock_drop(space->arena.fd, FORMAT_LOCK_OPEN);
    space_end(space);
    if (!alone) return space_error(space, KVSPACE_EBUSY, NULL, "others have the space open; a repair wants it for itself");
    return over(space, rc, faults);
}
