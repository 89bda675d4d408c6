/* Backends (backend.h) and the anonymous spaces of a user: names, listing, removal.
 * An anonymous space is a file NAME.kvspace in the user's directory for run-time files. It is live while somebody holds one of
 * its participants' locks, crashed if nobody does and who made it told no end (enum anonymous_end). Relies on platform.h,
 * format.h. */
#include "kvspace/backend.h"

#include "kvspace/format.h"
#include "platform/platform.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANONYMOUS_SUFFIX ".kvspace"

static int refuse(struct kvspace_problem *problem, int code, const char *text, const char *detail) {
    if (problem) {
        problem->position = 0;
        snprintf(problem->message, sizeof problem->message, "%s%s%.180s", text, *detail ? ": " : "", detail);
    }
    return code;
}

static int resolve_path(const char *rest, struct backend_target *out, struct kvspace_problem *problem) {
    size_t bytes = strlen(rest);
    if (bytes == 0) return refuse(problem, KVSPACE_EDSN, "shm: needs the path of a file", "");
    if (bytes >= sizeof out->path) return refuse(problem, KVSPACE_ELIMIT, "the path is too long", "");
    memcpy(out->path, rest, bytes + 1);
    return 0;
}

static bool name_is_sound(const char *name) {
    size_t bytes = strlen(name);
    return bytes > 0 && bytes < 200 && name[0] != '.' && !strchr(name, '/');
}

int backend_anonymous_path(const char *name, char *out, size_t capacity) {
    char directory[BACKEND_PATH_MAX];
    if (!name_is_sound(name)) return KVSPACE_EDSN;
    if (platform_runtime_dir(directory, sizeof directory)) return KVSPACE_EIO;
    int bytes = snprintf(out, capacity, "%s/%s" ANONYMOUS_SUFFIX, directory, name);
    return bytes < 0 || (size_t)bytes >= capacity ? KVSPACE_ELIMIT : 0;
}

static int resolve_anonymous(const char *rest, struct backend_target *out, struct kvspace_problem *problem) {
    out->is_anonymous = true;
    int rc = backend_anonymous_path(rest, out->path, sizeof out->path);
    if (rc == KVSPACE_EDSN) return refuse(problem, rc, "not a name of an anonymous space", rest);
    if (rc == KVSPACE_EIO) return refuse(problem, rc, "there is no directory for anonymous spaces", platform_errno_text());
    return rc ? refuse(problem, rc, "the path is too long", "") : 0;
}

static int resolve_new(struct backend_target *out, struct kvspace_problem *problem) {
    char name[64];
    uint32_t random;
    platform_random(&random, sizeof random);
    snprintf(name, sizeof name, "%u-%08x", platform_pid(), random);
    out->is_new_anonymous = true;
    return resolve_anonymous(name, out, problem);
}

static const struct kvspace_backend backends[] = {
    {"shm", "shm", resolve_path},
    {"anon", "shm", resolve_anonymous},
    {"redis", "redis", NULL},
    {"redis+cluster", "redis", NULL},
    {"lmdb", "lmdb", NULL},
};

int backend_resolve(const char *dsn, struct backend_target *out, struct kvspace_problem *problem) {
    const char *colon = dsn ? strchr(dsn, ':') : NULL, *slash = dsn ? strchr(dsn, '/') : NULL;
    memset(out, 0, sizeof *out);
    out->backend = "shm";
    if (!dsn || !*dsn) return resolve_new(out, problem);
    if (!colon || (slash && slash < colon)) return resolve_path(dsn, out, problem);
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        const struct kvspace_backend *backend = &backends[i];
        if (strlen(backend->scheme) != (size_t)(colon - dsn) || memcmp(backend->scheme, dsn, (size_t)(colon - dsn)) != 0) continue;
        if (!backend->resolve) return refuse(problem, KVSPACE_EDSN, "this build has no backend of that kind", backend->scheme);
        out->backend = backend->name;
        return backend->resolve(colon + 1, out, problem);
    }
    return refuse(problem, KVSPACE_EDSN, "not a data source name (shm:PATH, a path, anon:NAME)", dsn);
}

/* ---- anonymous spaces ---- */

static bool somebody_has_it(int fd, const struct space_header *header) {
    uint32_t high = header_slots(header);
    for (uint32_t slot = 0; slot < high; slot++)
        if (platform_lock_held(fd, FORMAT_LOCK_BASE + slot)) return true;
    return platform_lock_held(fd, FORMAT_LOCK_OPEN);
}

struct glance {
    enum kvspace_anonymous_state state;
    uint64_t bytes;
    bool is_over; /* who made it has ended well */
};

/* Looks into an open file without joining the space. KVSPACE_EFOREIGN: it is none. */
static int look_at(int fd, struct glance *out) {
    struct platform_file facts;
    void *mapped;
    if (platform_file_facts(fd, &facts) || !facts.regular || facts.bytes < FORMAT_HEADER_BYTES ||
        platform_map(fd, FORMAT_HEADER_BYTES, &mapped))
        return KVSPACE_EFOREIGN;
    const struct space_header *header = mapped;
    int rc = header->magic == FORMAT_MAGIC ? 0 : KVSPACE_EFOREIGN;
    if (!rc) {
        uint32_t end = atomic_load_explicit(&header->tree_words[ANONYMOUS_END_WORD], memory_order_acquire);
        out->state = somebody_has_it(fd, header)  ? KVSPACE_ANONYMOUS_LIVE
                     : end == ANONYMOUS_END_NONE ? KVSPACE_ANONYMOUS_CRASHED
                                                 : KVSPACE_ANONYMOUS_KEPT;
        out->bytes = facts.blocks_bytes;
        out->is_over = end == ANONYMOUS_END_OVER;
    }
    platform_unmap(mapped, FORMAT_HEADER_BYTES);
    return rc;
}

static int look_into(const char *path, struct glance *out) {
    int fd;
    if (platform_file_open(path, PLATFORM_OPEN_EXISTING, &fd)) return KVSPACE_EIO;
    int rc = look_at(fd, out);
    platform_file_close(fd);
    return rc;
}

/* Removes a space that is over and that its last user could not remove: it was killed, or ended with handles open. Under the
 * lock that openers take, so that nobody joins a file that is about to go. */
static void sweep(const char *path) {
    struct glance now;
    int fd;
    if (platform_file_open(path, PLATFORM_OPEN_EXISTING, &fd)) return;
    if (!platform_lock_try(fd, FORMAT_LOCK_OPEN)) {
        if (!look_at(fd, &now) && now.is_over && now.state == KVSPACE_ANONYMOUS_KEPT) platform_file_unlink(path);
        platform_lock_drop(fd, FORMAT_LOCK_OPEN);
    }
    platform_file_close(fd);
}

/* A file of the directory that may be a space. */
struct candidate {
    char name[256]; /* without the suffix */
    int64_t changed_s;
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

static int keep_candidate(struct candidates *candidates, const char *directory, const char *file) {
    size_t bytes = strlen(file), suffix = sizeof ANONYMOUS_SUFFIX - 1;
    char path[BACKEND_PATH_MAX + 256];
    struct candidate found;
    struct stat facts;
    if (bytes <= suffix || bytes - suffix >= sizeof found.name || strcmp(file + bytes - suffix, ANONYMOUS_SUFFIX) != 0) return 0;
    memcpy(found.name, file, bytes - suffix);
    found.name[bytes - suffix] = 0;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    if (!name_is_sound(found.name) || stat(path, &facts)) return 0;
    found.changed_s = (int64_t)facts.st_mtime;
    if (candidates->count == candidates->capacity) {
        size_t capacity = candidates->capacity ? 2 * candidates->capacity : 16;
        struct candidate *items = realloc(candidates->items, capacity * sizeof *items);
        if (!items) return KVSPACE_ENOMEM;
        candidates->items = items;
        candidates->capacity = capacity;
    }
    candidates->items[candidates->count++] = found;
    return 0;
}

static int compare_age(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->changed_s != b->changed_s) return a->changed_s < b->changed_s ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int visit_candidate(const char *directory, const struct candidate *candidate,
                           int (*visit)(void *, const struct kvspace_anonymous *), void *context) {
    char dsn[272], path[BACKEND_PATH_MAX + 272];
    struct glance now;
    struct kvspace_anonymous found = {.dsn = dsn, .name = candidate->name, .path = path, .changed_s = candidate->changed_s};
    snprintf(dsn, sizeof dsn, "anon:%s", candidate->name);
    snprintf(path, sizeof path, "%s/%s" ANONYMOUS_SUFFIX, directory, candidate->name);
    if (look_into(path, &now)) return 0; /* gone, or no space */
    if (now.is_over && now.state == KVSPACE_ANONYMOUS_KEPT) {
        sweep(path);
        return 0;
    }
    found.state = now.state;
    found.file_bytes = now.bytes;
    return visit(context, &found) ? KVSPACE_ESTOPPED : 0;
}

int kvspace_anonymous_list(int (*visit)(void *context, const struct kvspace_anonymous *found), void *context) {
    char directory[BACKEND_PATH_MAX];
    struct candidates candidates = {0};
    int rc = 0;
    if (platform_runtime_dir(directory, sizeof directory)) return KVSPACE_EIO;
    DIR *listing = opendir(directory);
    if (!listing) return KVSPACE_EIO;
    for (struct dirent *entry; !rc && (entry = readdir(listing));) rc = keep_candidate(&candidates, directory, entry->d_name);
    closedir(listing);
    if (candidates.count) qsort(candidates.items, candidates.count, sizeof *candidates.items, compare_age);
    for (size_t i = 0; i < candidates.count && !rc; i++) rc = visit_candidate(directory, &candidates.items[i], visit, context);
    free(candidates.items);
    return rc;
}

int kvspace_remove(const char *dsn) {
    struct backend_target target;
    struct glance now;
    if (!dsn || !*dsn) return KVSPACE_EDSN;
    int rc = backend_resolve(dsn, &target, NULL);
    if (rc) return rc;
    if (access(target.path, F_OK)) return KVSPACE_ENOENT;
    rc = look_into(target.path, &now);
    if (rc == KVSPACE_EIO) return KVSPACE_EPERM;
    if (rc) return rc;
    if (now.state == KVSPACE_ANONYMOUS_LIVE) return KVSPACE_EBUSY;
    switch (platform_file_unlink(target.path)) {
    case PLATFORM_OK: return 0;
    case PLATFORM_NO_ENTRY: return KVSPACE_ENOENT;
    case PLATFORM_DENIED: return KVSPACE_EPERM;
    default: return KVSPACE_EIO;
    }
}
