/* The arena (arena.h): founding, opening, growing and closing of a space's file.
 * Relies on platform.h for the file and on party.h for the participant's life. Promises: a space appears under its name
 * complete or not at all; a file that is not a whole space of this format is refused before a byte of it is changed. */
#include "kvspace/arena.h"
#include "kvspace/fault.h"
#include "kvspace/party.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { OPEN_TRIES = 16, LENGTHEN_STEP = 1 << 20, BYTE_ORDER_MARK = 0x01020304 };

int arena_fail(struct arena *arena, int code, const char *form, ...) {
    va_list arguments;
    va_start(arguments, form);
    (void)vsnprintf(arena->message, sizeof arena->message, form, arguments);
    va_end(arguments);
    return code;
}

int arena_usable_slowly(struct arena *arena) {
    if (atomic_load_explicit(&arena->lease.lost, memory_order_relaxed))
        return arena_fail(arena, KVSPACE_EUSAGE, "this process was forked off the one that opened the space: open it anew");
    return arena_fail(arena, KVSPACE_ETRUNCATED, "the file of the space has become shorter while it was open");
}

static int fail_platform(struct arena *arena, enum platform_code code, const char *what, const char *path) {
    static const int codes[] = {[PLATFORM_NO_ENTRY] = KVSPACE_ENOENT,  [PLATFORM_EXISTS] = KVSPACE_EEXIST,
                                [PLATFORM_DENIED] = KVSPACE_EPERM,     [PLATFORM_NO_SPACE] = KVSPACE_ENOSPC,
                                [PLATFORM_NO_MEMORY] = KVSPACE_ENOMEM, [PLATFORM_BUSY] = KVSPACE_EBUSY,
                                [PLATFORM_TIMED_OUT] = KVSPACE_ETIMEOUT, [PLATFORM_UNSUPPORTED] = KVSPACE_EUNSUPPORTED,
                                [PLATFORM_FAILED] = KVSPACE_EIO};
    return arena_fail(arena, codes[code], "%s %s: %s", what, path, platform_errno_text());
}

static uint64_t header_seal(const struct space_header *header) {
    uint64_t seal = UINT64_C(0xcbf29ce484222325);
    const unsigned char *at = (const unsigned char *)header;
    for (size_t i = 0; i < offsetof(struct space_header, seal); i++) seal = (seal ^ at[i]) * UINT64_C(0x100000001b3);
    return seal;
}

/* ---- mapping ---- */

/* Maps `want` bytes, or, where the address space is short, half of it and so on, but at least `need`. */
static int map_file(struct arena *arena, uint64_t want, uint64_t need, const char *path) {
    enum platform_code code;
    void *base = NULL;
    uint64_t bytes = want;
    while ((code = platform_map(arena->fd, bytes, &base)) != PLATFORM_OK) {
        if (code != PLATFORM_NO_MEMORY || bytes <= need) return fail_platform(arena, code, "mapping", path);
        bytes = bytes / 2 > need ? bytes / 2 : need;
        bytes = (bytes + FORMAT_PAGE - 1) / FORMAT_PAGE * FORMAT_PAGE;
    }
    arena->base = base;
    arena->mapped_bytes = bytes;
    arena->header = base;
    return 0;
}

/* What may be followed ends where the pages in use end, where the file ends, and where the mapping ends. */
static uint64_t span_now(const struct arena *arena) {
    struct platform_file facts;
    uint64_t high = atomic_load_explicit(&arena->header->high_pages, memory_order_acquire);
    uint64_t end = high < FORMAT_LIMIT_MAX / FORMAT_PAGE ? arena->first + high * FORMAT_PAGE : FORMAT_LIMIT_MAX;
    if (platform_file_facts(arena->fd, &facts)) return 0;
    if (facts.bytes < end) end = facts.bytes;
    if (arena->mapped_bytes < end) end = arena->mapped_bytes;
    return end > arena->first ? end - arena->first : 0;
}

void *arena_at_again(const struct arena *arena, ref_t ref, uint64_t bytes) {
    if (!arena->base || !ref) return NULL;
    uint64_t at = (uint64_t)ref * FORMAT_UNIT - arena->first;
    uint64_t high = atomic_load_explicit(&arena->header->high_pages, memory_order_acquire) * FORMAT_PAGE;
    if (at >= high || bytes > high - at) return NULL; /* so damaged references cost no system call */
    /* The span is private to the handle's thread; const is for the callers, who only read. */
    ((struct arena *)(uintptr_t)arena)->safe_span = span_now(arena);
    if (at >= arena->safe_span || bytes > arena->safe_span - at) return NULL;
    return arena->base + (uint64_t)ref * FORMAT_UNIT;
}

int arena_grow(struct arena *arena, uint64_t pages) {
    struct space_header *header = arena->header;
    uint64_t limit = header->limit_bytes, need = arena->first + pages * FORMAT_PAGE;
    uint64_t now = atomic_load_explicit(&header->file_bytes, memory_order_relaxed);
    if (pages > FORMAT_LIMIT_MAX / FORMAT_PAGE || need > limit)
        return arena_fail(arena, KVSPACE_EFULL, "the space would need %llu bytes, its limit is %llu",
                          (unsigned long long)need, (unsigned long long)limit);
    if (need > arena->mapped_bytes)
        return arena_fail(arena, KVSPACE_ENOMEM, "address space for %llu bytes only", (unsigned long long)arena->mapped_bytes);
    if (need <= now) return 0;
    if (FAULT_HITS(FAULT_GROW)) return arena_fail(arena, KVSPACE_ENOSPC, "no room on the device (a fault on purpose)");
    uint64_t more = (now - arena->first) / 8; /* of what is in use: the tables before it are holes */
    if (more < LENGTHEN_STEP) more = LENGTHEN_STEP;
    uint64_t end = now + more > need ? now + more : need;
    if (end > limit) end = limit;
    enum platform_code code = PLATFORM_OK;
    for (;;) { /* the generous step first, then what is needed */
        /* The descriptors of the new pages first: their table is a hole until here. */
        uint64_t from = header->table_at + (now - arena->first) / FORMAT_PAGE * 8;
        uint64_t to = header->table_at + (end - arena->first) / FORMAT_PAGE * 8;
        code = platform_file_allocate(arena->fd, from, to - from);
        if (!code) code = platform_file_allocate(arena->fd, now, end - now);
        if (!code || end == need) break;
        end = need;
    }
    if (code == PLATFORM_NO_SPACE)
        return arena_fail(arena, KVSPACE_ENOSPC, "no room for %llu more bytes on the device (the space has %llu)",
                          (unsigned long long)(need - now), (unsigned long long)now);
    if (code) return fail_platform(arena, code, "lengthening", "the space");
    FAULT_STEP(); /* killed here: the file is longer than file_bytes says, which the next growth repeats, harmlessly */
    atomic_store_explicit(&header->file_bytes, end, memory_order_release);
    return 0;
}

/* ---- founding ---- */

/* Lays out an empty space in the new file. */
static int lay_out(struct arena *arena, uint64_t limit, const char *path) {
    if (!limit) limit = FORMAT_LIMIT_MAX;
    if (limit > FORMAT_LIMIT_MAX) limit = FORMAT_LIMIT_MAX;
    uint64_t fixed = FORMAT_HEADER_BYTES + (uint64_t)PARTY_MAX * PARTY_BYTES;
    uint64_t table = (limit / FORMAT_PAGE * 8 + FORMAT_PAGE - 1) / FORMAT_PAGE * FORMAT_PAGE;
    uint64_t first = fixed + table;
    limit = limit / FORMAT_PAGE * FORMAT_PAGE;
    unsigned long long least = fixed + LENGTHEN_STEP + LENGTHEN_STEP / 2;
    if (limit < first + LENGTHEN_STEP) return arena_fail(arena, KVSPACE_EFULL, "a space needs a limit of at least %llu bytes", least);
    enum platform_code code = platform_file_allocate(arena->fd, 0, FORMAT_HEADER_BYTES);
    if (!code) code = platform_file_allocate(arena->fd, fixed, FORMAT_PAGE);
    if (!code) code = platform_file_allocate(arena->fd, first, LENGTHEN_STEP);
    if (code) return fail_platform(arena, code, "making", path);
    int rc = map_file(arena, limit, first + LENGTHEN_STEP, path);
    if (rc) return rc;
    struct space_header *header = arena->header;
    header->magic = FORMAT_MAGIC;
    header->version = FORMAT_VERSION;
    header->byte_order = BYTE_ORDER_MARK;
    header->page_bytes = FORMAT_PAGE;
    header->header_bytes = sizeof(struct space_header);
    header->party_bytes = sizeof(struct party_slot);
    header->class_count = CLASS_COUNT;
    header->party_max = PARTY_MAX;
    header->node_bytes = 64;
    header->limit_bytes = limit;
    header->table_at = fixed;
    header->pages_at = first;
    header->seal = header_seal(header);
    platform_boot_id(header->boot_id);
    atomic_store_explicit(&header->created_ns, (uint64_t)platform_wall_ns(), memory_order_relaxed);
    atomic_store_explicit(&header->file_bytes, first + LENGTHEN_STEP, memory_order_relaxed);
    atomic_store_explicit(&header->epoch, 2, memory_order_release);
    atomic_store_explicit(&header->clean, 1, memory_order_release);
    return 0;
}

static void place_pointers(struct arena *arena) {
    arena->first = arena->header->pages_at;
    arena->pages = (_Atomic uint64_t *)(void *)(arena->base + arena->header->table_at);
    arena->safe_span = span_now(arena);
}

/* Forgets the mapping and the file, keeps the message. */
static void let_go(struct arena *arena) {
    if (arena->base) {
        platform_lease_drop(&arena->lease);
        platform_unmap(arena->base, arena->mapped_bytes);
    }
    if (arena->fd >= 0 && !atomic_load_explicit(&arena->lease.lost, memory_order_relaxed)) platform_file_close(arena->fd);
    arena->base = NULL;
    arena->header = NULL;
    arena->self = NULL;
    arena->pages = NULL;
    arena->mapped_bytes = arena->safe_span = 0;
    arena->fd = -1;
}

/* The folder and the last name of a path. */
static const char *split_path(const char *path, char folder[4096]) {
    const char *slash = strrchr(path, '/');
    if (!slash) (void)snprintf(folder, 4096, ".");
    else if (slash == path) (void)snprintf(folder, 4096, "/");
    else (void)snprintf(folder, 4096, "%.*s", (int)(slash - path), path);
    return slash ? slash + 1 : path;
}

/* Removes the temporaries that creators of this space left when they died: those whose lock nobody holds. */
static void sweep_temporaries(const char *path) {
    char folder[4096], prefix[300], found[4400];
    const char *name = split_path(path, folder);
    int length = snprintf(prefix, sizeof prefix, ".%s.new-", name);
    if (length < 0 || (size_t)length >= sizeof prefix) return;
    DIR *list = opendir(folder);
    if (!list) return;
    for (struct dirent *entry; (entry = readdir(list));) {
        if (strncmp(entry->d_name, prefix, (size_t)length) != 0) continue;
        if (snprintf(found, sizeof found, "%s/%s", folder, entry->d_name) >= (int)sizeof found) continue;
        int fd;
        if (platform_file_open(found, PLATFORM_OPEN_EXISTING, &fd)) continue;
        if (!platform_lock_try(fd, FORMAT_LOCK_OPEN)) (void)platform_file_unlink(found);
        platform_file_close(fd);
    }
    (void)closedir(list);
}

/* Makes the space in a temporary and links it to its name. EEXIST: another was faster. The arena stays open on it. */
static int found_space(struct arena *arena, const char *path, const struct arena_options *options) {
    char folder[4096], temporary[4400];
    const char *name = split_path(path, folder);
    uint64_t random;
    sweep_temporaries(path);
    platform_random(&random, sizeof random);
    if (snprintf(temporary, sizeof temporary, "%s/.%s.new-%016llx", folder, name, (unsigned long long)random) >=
        (int)sizeof temporary)
        return arena_fail(arena, KVSPACE_ELIMIT, "path too long");
    enum platform_code code = platform_file_open(temporary, PLATFORM_OPEN_NEW, &arena->fd);
    if (code) return fail_platform(arena, code, "making", path);
    FAULT_STEP(); /* killed here: an empty temporary, swept by the next creator */
    code = platform_lock_try(arena->fd, FORMAT_LOCK_OPEN);
    int rc = code ? fail_platform(arena, code, "locking", temporary) : lay_out(arena, options->limit_bytes, path);
    if (!rc) {
        place_pointers(arena);
        platform_lease_take(&arena->lease, arena->fd, arena->base, arena->mapped_bytes);
        FAULT_STEP();
        rc = party_join(arena, options->label);
    }
    if (!rc) {
        atomic_store_explicit(&arena->header->generation, 1, memory_order_relaxed);
        atomic_store_explicit(&arena->header->clean, 0, memory_order_release);
        arena->first_open = true;
        rc = options->found ? options->found(arena, options->found_context) : 0;
    }
    if (!rc) {
        FAULT_STEP(); /* killed here: a complete temporary without its name, swept */
        code = platform_file_link(temporary, path);
        if (code) rc = fail_platform(arena, code, "making", path);
        FAULT_STEP(); /* killed here: the space is there; the temporary is a second name for it, swept by the next creator */
    }
    (void)platform_file_unlink(temporary);
    if (rc) let_go(arena);
    else platform_lock_drop(arena->fd, FORMAT_LOCK_OPEN);
    return rc;
}

/* ---- opening ---- */

/* A private copy of the fixed part is checked, so that it cannot change under the check. */
static int check_header(struct arena *arena, const char *path, uint64_t file_bytes, struct space_header *copy) {
    memcpy(copy, arena->base, offsetof(struct space_header, boot_id));
    if (copy->magic != FORMAT_MAGIC) return arena_fail(arena, KVSPACE_EFOREIGN, "%s is not a kvspace file", path);
    if (copy->byte_order != BYTE_ORDER_MARK)
        return arena_fail(arena, KVSPACE_EVERSION, "%s was made on a machine with another byte order", path);
    if (copy->version != FORMAT_VERSION)
        return arena_fail(arena, KVSPACE_EVERSION, "%s has format version %u, this build reads version %u", path,
                          copy->version, (unsigned)FORMAT_VERSION);
    if (copy->seal != header_seal(copy)) return arena_fail(arena, KVSPACE_EDAMAGED, "the header of %s is damaged", path);
    if (copy->page_bytes != FORMAT_PAGE || copy->header_bytes != sizeof(struct space_header) ||
        copy->party_bytes != sizeof(struct party_slot) || copy->class_count != CLASS_COUNT ||
        copy->party_max != PARTY_MAX || copy->node_bytes != 64)
        return arena_fail(arena, KVSPACE_EVERSION, "%s was made by a build with other structures of format version %u", path,
                          copy->version);
    uint64_t fixed = FORMAT_HEADER_BYTES + (uint64_t)PARTY_MAX * PARTY_BYTES;
    if (copy->table_at != fixed || copy->limit_bytes > FORMAT_LIMIT_MAX || copy->pages_at <= fixed ||
        copy->pages_at >= copy->limit_bytes || (copy->pages_at - fixed) / 8 < (copy->limit_bytes - copy->pages_at) / FORMAT_PAGE)
        return arena_fail(arena, KVSPACE_EDAMAGED, "the header of %s contradicts itself", path);
    /* Others may be growing it: the file grows first, then file_bytes, then high_pages, so they are read the other way round. */
    uint64_t high = atomic_load_explicit(&arena->header->high_pages, memory_order_acquire);
    uint64_t need = atomic_load_explicit(&arena->header->file_bytes, memory_order_acquire);
    struct platform_file facts;
    if (file_bytes < need && !platform_file_facts(arena->fd, &facts)) file_bytes = facts.bytes;
    if (file_bytes < need)
        return arena_fail(arena, KVSPACE_ETRUNCATED, "%s has %llu bytes, its header says %llu", path,
                          (unsigned long long)file_bytes, (unsigned long long)need);
    if (need < copy->pages_at || high > (need - copy->pages_at) / FORMAT_PAGE)
        return arena_fail(arena, KVSPACE_EDAMAGED, "%s says it uses more pages than it has", path);
    return 0;
}

static int map_existing(struct arena *arena, const char *path, const struct arena_options *options) {
    struct platform_file facts;
    struct space_header copy;
    enum platform_code code = platform_file_facts(arena->fd, &facts);
    if (code) return fail_platform(arena, code, "opening", path);
    if (!facts.regular) return arena_fail(arena, KVSPACE_EFOREIGN, "%s is not a regular file", path);
    if (facts.owner != platform_user() && !options->trust)
        return arena_fail(arena, KVSPACE_EUNTRUSTED, "%s belongs to user %u", path, facts.owner);
    if (facts.bytes < FORMAT_HEADER_BYTES)
        return arena_fail(arena, KVSPACE_EFOREIGN, "%s is not a kvspace file: it has %llu bytes", path,
                          (unsigned long long)facts.bytes);
    int rc = map_file(arena, FORMAT_HEADER_BYTES, FORMAT_HEADER_BYTES, path);
    if (!rc) rc = check_header(arena, path, facts.bytes, &copy);
    if (arena->base) platform_unmap(arena->base, arena->mapped_bytes);
    arena->base = NULL;
    if (rc) return rc;
    rc = map_file(arena, copy.limit_bytes > facts.bytes ? copy.limit_bytes : facts.bytes, facts.bytes, path);
    if (rc) return rc;
    platform_lease_take(&arena->lease, arena->fd, arena->base, arena->mapped_bytes);
    place_pointers(arena);
    return 0;
}

/* Whether another participant lives. The open lock is held, so none can come or go. */
static bool anybody_else(const struct arena *arena) {
    uint32_t high = header_slots(arena->header);
    for (uint32_t slot = 0; slot < high; slot++) {
        if (arena->self && slot == arena->own_slot) continue;
        if (atomic_load_explicit(&arena->header->slot_state[slot], memory_order_acquire) == PARTY_ACTIVE &&
            platform_lock_held(arena->fd, FORMAT_LOCK_BASE + slot))
            return true;
    }
    return false;
}

static void note_first_open(struct arena *arena) {
    struct space_header *header = arena->header;
    char boot[40];
    arena->first_open = !anybody_else(arena);
    if (!arena->first_open) return;
    platform_boot_id(boot);
    arena->was_unclean = !atomic_load_explicit(&header->clean, memory_order_acquire);
    arena->other_boot = memcmp(boot, header->boot_id, sizeof boot) != 0;
    memcpy(header->boot_id, boot, sizeof boot);
    atomic_fetch_add_explicit(&header->generation, 1, memory_order_acq_rel);
    atomic_store_explicit(&header->clean, 0, memory_order_release);
}

static int open_existing(struct arena *arena, const char *path, const struct arena_options *options) {
    enum platform_code code = platform_file_open(path, PLATFORM_OPEN_EXISTING, &arena->fd);
    if (code) return fail_platform(arena, code, "opening", path);
    int rc = map_existing(arena, path, options);
    if (!rc) {
        code = platform_lock_wait(arena->fd, FORMAT_LOCK_OPEN);
        if (code) rc = fail_platform(arena, code, "locking", path);
    }
    if (!rc) {
        note_first_open(arena);
        rc = party_join(arena, options->label);
        platform_lock_drop(arena->fd, FORMAT_LOCK_OPEN);
    }
    if (rc) let_go(arena);
    return rc;
}

int arena_open(struct arena *arena, const char *path, const struct arena_options *options) {
    memset(arena, 0, sizeof *arena);
    arena->fd = -1;
    arena->hooks = options->hooks;
    if (strlen(path) > 4000) return arena_fail(arena, KVSPACE_ELIMIT, "path too long");
    for (int tries = 0;; tries++) {
        int rc = KVSPACE_ENOENT;
        if (!options->must_create) rc = open_existing(arena, path, options);
        if (rc == KVSPACE_ENOENT && !options->must_exist) {
            rc = found_space(arena, path, options);
            /* Another founder was faster, or the name went away in between: once more. */
            if (rc == KVSPACE_EEXIST && !options->must_create && tries < OPEN_TRIES) continue;
        }
        if (rc) return rc;
        party_recover_all(arena);
        return 0;
    }
}

void arena_close(struct arena *arena) {
    if (!arena->base) return;
    if (!arena_usable(arena)) {
        bool locked = !platform_lock_wait(arena->fd, FORMAT_LOCK_OPEN);
        bool last = locked && !anybody_else(arena);
        party_leave(arena);
        if (last) {
            /* Also of those who died without a successor: the structure is whole, recovery is all that is left. */
            (void)platform_file_sync(arena->fd);
            atomic_store_explicit(&arena->header->clean, 1, memory_order_release);
        }
        if (locked) platform_lock_drop(arena->fd, FORMAT_LOCK_OPEN);
    }
    let_go(arena);
}
