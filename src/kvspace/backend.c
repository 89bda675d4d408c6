/* Backends (backend.h) and the anonymous spaces of a user: names, listing, removal.
 * An anonymous space is a file NAME.kvspace in the user's directory for run-time files. It is live while somebody holds one of
 * its participants' locks, crashed if nobody does and it was not marked clean. Relies on platform.h, format.h. */
#include "kvspace/backend.h"

#include "kvspace/format.h"
#include "platform/platform.h"

#include <dirent.h>
#include <stdio.h>
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
    uint32_t high = atomic_load_explicit(&header->party_high, memory_order_relaxed);
    for (uint32_t slot = 0; slot < high && slot < PARTY_MAX; slot++)
        if (platform_lock_held(fd, FORMAT_LOCK_BASE + slot)) return true;
    return platform_lock_held(fd, FORMAT_LOCK_OPEN);
}

/* Looks into a file without joining it. KVSPACE_EFOREIGN: no space. */
static int look_into(const char *path, enum kvspace_anonymous_state *state, uint64_t *bytes) {
    struct platform_file facts;
    void *mapped;
    int fd;
    if (platform_file_open(path, PLATFORM_OPEN_EXISTING, &fd)) return KVSPACE_EIO;
    int rc = KVSPACE_EFOREIGN;
    if (!platform_file_facts(fd, &facts) && facts.regular && facts.bytes >= FORMAT_HEADER_BYTES &&
        !platform_map(fd, FORMAT_HEADER_BYTES, &mapped)) {
        const struct space_header *header = mapped;
        if (header->magic == FORMAT_MAGIC) {
            bool clean = atomic_load_explicit(&header->clean, memory_order_relaxed) == 1;
            *state = somebody_has_it(fd, header) ? KVSPACE_ANONYMOUS_LIVE : clean ? KVSPACE_ANONYMOUS_KEPT : KVSPACE_ANONYMOUS_CRASHED;
            *bytes = facts.blocks_bytes;
            rc = 0;
        }
        platform_unmap(mapped, FORMAT_HEADER_BYTES);
    }
    platform_file_close(fd);
    return rc;
}

static int visit_file(const char *directory, const char *file, int (*visit)(void *, const struct kvspace_anonymous *),
                      void *context) {
    size_t bytes = strlen(file), suffix = sizeof ANONYMOUS_SUFFIX - 1;
    char name[256], dsn[272], path[BACKEND_PATH_MAX + 256];
    struct stat facts;
    struct kvspace_anonymous found = {.dsn = dsn, .name = name, .path = path};
    if (bytes <= suffix || bytes - suffix >= sizeof name || strcmp(file + bytes - suffix, ANONYMOUS_SUFFIX) != 0) return 0;
    memcpy(name, file, bytes - suffix);
    name[bytes - suffix] = 0;
    snprintf(dsn, sizeof dsn, "anon:%s", name);
    snprintf(path, sizeof path, "%s/%s", directory, file);
    if (!name_is_sound(name) || look_into(path, &found.state, &found.file_bytes)) return 0;
    if (stat(path, &facts) == 0) found.changed_s = (int64_t)facts.st_mtime;
    return visit(context, &found) ? KVSPACE_ESTOPPED : 0;
}

int kvspace_anonymous_list(int (*visit)(void *context, const struct kvspace_anonymous *found), void *context) {
    char directory[BACKEND_PATH_MAX];
    int rc = 0;
    if (platform_runtime_dir(directory, sizeof directory)) return KVSPACE_EIO;
    DIR *listing = opendir(directory);
    if (!listing) return KVSPACE_EIO;
    for (struct dirent *entry; !rc && (entry = readdir(listing));) rc = visit_file(directory, entry->d_name, visit, context);
    closedir(listing);
    return rc;
}

int kvspace_remove(const char *dsn) {
    struct backend_target target;
    enum kvspace_anonymous_state state;
    uint64_t bytes;
    if (!dsn || !*dsn) return KVSPACE_EDSN;
    int rc = backend_resolve(dsn, &target, NULL);
    if (rc) return rc;
    if (access(target.path, F_OK)) return KVSPACE_ENOENT;
    rc = look_into(target.path, &state, &bytes);
    if (rc == KVSPACE_EIO) return KVSPACE_EPERM;
    if (rc) return rc;
    if (state == KVSPACE_ANONYMOUS_LIVE) return KVSPACE_EBUSY;
    switch (platform_file_unlink(target.path)) {
    case PLATFORM_OK: return 0;
    case PLATFORM_NO_ENTRY: return KVSPACE_ENOENT;
    case PLATFORM_DENIED: return KVSPACE_EPERM;
    default: return KVSPACE_EIO;
    }
}
