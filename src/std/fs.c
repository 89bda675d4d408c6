/* fs·: files and folders. Relies on pieces.h and POSIX. Promises: errors name the path and the system's reason; write and copy replace a
 * file in one step (a new file beside it, then rename); names that are no UTF-8 come and go unchanged. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kvspace/utf8.h"
#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/fs.def"
#undef NATIVE

/* ---- names ---- */

/* A byte 0x80 to 0xff of a name that is no UTF-8 is this character plus the byte minus 0x80. A name that really holds one of
 * them is shown byte by byte in the same way, so that no two names look the same. */
enum { BYTE_POINT = 0x10ff80 };

static bool is_byte_point(uint32_t point) { return point >= BYTE_POINT && point < BYTE_POINT + 0x80; }

static void put_point(struct text_out *out, uint32_t point) {
    char bytes[4];
    text_put(out, bytes, utf8_encode(point, bytes));
}

static int name_cell(struct heap *heap, const char *name, struct cell *out) {
    struct text_buffer buffer = {0};
    struct text_out sink = text_buffer_out(&buffer);
    size_t length = strlen(name);
    while (length) {
        uint32_t point = 0;
        size_t taken = utf8_decode(name, length, &point);
        if (taken && !is_byte_point(point)) {
            text_put(&sink, name, taken);
        } else {
            taken = 1;
            put_point(&sink, BYTE_POINT + ((unsigned char)*name & 0x7fu));
        }
        name += taken;
        length -= taken;
    }
    int rc = sink.error ? fault(heap, ERROR_OUT_OF_MEMORY, "no memory for a name") : text_of_bytes(heap, buffer.length ? buffer.bytes : "", buffer.length, out);
    text_buffer_free(&buffer);
    return rc;
}

static int path_of(struct core_call *call, uint32_t i, struct piece *path) {
    int rc = piece_plain(call, i, path);
    if (rc) return rc;
    char *to = path->owned;
    const char *from = path->bytes, *end = from + path->length;
    while (from < end) {
        uint32_t point = 0;
        size_t taken = utf8_decode(from, (size_t)(end - from), &point);
        if (!taken) taken = 1;
        if (is_byte_point(point)) {
            *to++ = (char)(point - BYTE_POINT + 0x80);
        } else {
            memmove(to, from, taken);
            to += taken;
        }
        from += taken;
    }
    *to = '\0';
    path->length = (size_t)(to - path->owned);
    return 0;
}

static int failed(struct core_call *call, const char *path) {
    int reason = errno;
    int kind = reason == ENOMEM ? ERROR_OUT_OF_MEMORY : ERROR_RUNTIME;
    fault_set(call->heap, kind, "%s: %.300s: %s", call->row->name, path, strerror(reason));
    return kind;
}

/* ---- reading ---- */

static int open_file(struct core_call *call, const char *path, int *descriptor) {
    struct stat facts;
    do *descriptor = open(path, O_RDONLY | O_CLOEXEC);
    while (*descriptor < 0 && errno == EINTR);
    if (*descriptor < 0) return failed(call, path);
    if (fstat(*descriptor, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        close(*descriptor);
        errno = EISDIR;
        return failed(call, path);
    }
    return 0;
}

/* Up to `most` bytes; files that tell no size (pipes, /proc) too. *bytes is malloc'd. */
static int read_bytes(struct core_call *call, const char *path, int descriptor, uint64_t most, char **bytes, size_t *count) {
    struct stat facts;
    size_t room = 65536, used = 0;
    if (fstat(descriptor, &facts) == 0 && facts.st_size > 0) room = (size_t)facts.st_size + 1;
    if (room > most) room = (size_t)most + 1;
    char *buffer = malloc(room);
    while (buffer && used < most) {
        if (used == room) {
            char *more = realloc(buffer, 2 * room);
            if (!more) break;
            buffer = more;
            room *= 2;
        }
        size_t want = room - used < most - used ? room - used : (size_t)(most - used);
        ssize_t got = read(descriptor, buffer + used, want < (1u << 30) ? want : 1u << 30);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            int rc = failed(call, path);
            free(buffer);
            return rc;
        }
        if (got == 0) {
            *bytes = buffer;
            *count = used;
            return 0;
        }
        used += (size_t)got;
    }
    if (buffer && used == most) {
        *bytes = buffer;
        *count = used;
        return 0;
    }
    free(buffer);
    return fault(call->heap, ERROR_OUT_OF_MEMORY, "%s: %.300s: no memory for %zu bytes", call->row->name, path, room);
}

static int fs_read(struct core_call *call) {
    struct piece path;
    int descriptor, rc = path_of(call, 0, &path);
    if (rc) return rc;
    rc = open_file(call, path.bytes, &descriptor);
    if (!rc) {
        char *bytes = NULL;
        size_t count = 0;
        rc = read_bytes(call, path.bytes, descriptor, SIZE_MAX / 4, &bytes, &count);
        close(descriptor);
        if (!rc && !utf8_is_valid(bytes, count))
            rc = fault(call->heap, ERROR_VALUE, "fs·read: %.300s: byte %zu is no UTF-8 (fs·readbytes reads any file)", path.bytes, utf8_valid_prefix(bytes, count) + 1);
        if (!rc) rc = give_text(call, bytes, count);
        free(bytes);
    }
    piece_free(&path);
    return rc;
}

static int fs_readbytes(struct core_call *call) {
    struct piece path;
    int64_t from = 0, most = INT64_MAX / 4;
    int descriptor, rc = call->arg_count > 1 ? native_int64(call, 1, &from) : 0;
    if (!rc && call->arg_count > 2) rc = native_int64(call, 2, &most);
    if (!rc && (from < 0 || most < 0)) rc = fault(call->heap, ERROR_VALUE, "fs·readbytes: %lld bytes after the first %lld", (long long)most, (long long)from);
    if (!rc) rc = path_of(call, 0, &path);
    if (rc) return rc;
    rc = open_file(call, path.bytes, &descriptor);
    if (!rc) {
        char *bytes = NULL;
        size_t count = 0;
        if (from && lseek(descriptor, (off_t)from, SEEK_SET) < 0) rc = failed(call, path.bytes);
        if (!rc) rc = read_bytes(call, path.bytes, descriptor, (uint64_t)most, &bytes, &count);
        close(descriptor);
        if (!rc) rc = give_bytes(call, bytes, count);
        free(bytes);
    }
    piece_free(&path);
    return rc;
}

/* ---- writing ---- */

static int write_all(int descriptor, const char *bytes, size_t length) {
    while (length) {
        ssize_t done = write(descriptor, bytes, length < (1u << 30) ? length : 1u << 30);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return -1;
        bytes += done;
        length -= (size_t)done;
    }
    return 0;
}

/* A new file beside `path`, which is opened. *beside is malloc'd. */
static int open_beside(struct core_call *call, const char *path, char **beside, int *descriptor) {
    size_t room = strlen(path) + 32;
    char *name = malloc(room);
    if (!name) {
        errno = ENOMEM;
        return failed(call, path);
    }
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        snprintf(name, room, "%.*s.kv-%ld-%u~", folder, path, (long)getpid(), attempt);
        *descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*descriptor >= 0 || errno != EEXIST) break;
    }
    if (*descriptor < 0) {
        int rc = failed(call, path);
        free(name);
        return rc;
    }
    *beside = name;
    return 0;
}

/* The file that a write replaces: what a chain of links leads to. Into `out` of PATH_MAX bytes. */
static const char *real_target(const char *path, char *out) {
    struct stat facts;
    return lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode) && realpath(path, out) ? out : path;
}

/* Puts a finished file in its place, with `mode` or the mode that the old one had; else takes it away. */
static int put_in_place(struct core_call *call, int descriptor, const char *beside, const char *path, const mode_t *mode, bool good) {
    struct stat old;
    int rc = 0;
    if (good && mode) good = fchmod(descriptor, *mode & 07777) == 0;
    else if (good && stat(path, &old) == 0) good = fchmod(descriptor, old.st_mode & 07777) == 0;
    if (!good) rc = failed(call, path);
    if (close(descriptor) && !rc) rc = failed(call, path);
    if (!rc && rename(beside, path)) rc = failed(call, path);
    if (rc) unlink(beside);
    return rc;
}

/* Devices, pipes and the like are written to, not replaced; so are folders, for the system's error. */
static bool is_special(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

static int write_through(struct core_call *call, const char *path, int flags, const struct piece *content) {
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (descriptor < 0) return failed(call, path);
    int rc = write_all(descriptor, content->bytes, content->length) ? failed(call, path) : 0;
    if (close(descriptor) && !rc) rc = failed(call, path);
    return rc;
}

static int fs_write(struct core_call *call) {
    struct piece path, content;
    char target[PATH_MAX], *beside = NULL;
    int descriptor = -1, rc = path_of(call, 0, &path);
    if (rc) return rc;
    rc = piece_content(call, 1, &content);
    if (!rc) {
        const char *where = real_target(path.bytes, target);
        if (is_special(where)) {
            rc = write_through(call, where, 0, &content);
        } else {
            rc = open_beside(call, where, &beside, &descriptor);
            if (!rc) rc = put_in_place(call, descriptor, beside, where, NULL, write_all(descriptor, content.bytes, content.length) == 0);
            free(beside);
        }
        piece_free(&content);
    }
    piece_free(&path);
    return rc;
}

static int fs_append(struct core_call *call) {
    struct piece path, content;
    int rc = path_of(call, 0, &path);
    if (rc) return rc;
    rc = piece_content(call, 1, &content);
    if (!rc) {
        rc = write_through(call, path.bytes, O_APPEND | O_CREAT, &content);
        piece_free(&content);
    }
    piece_free(&path);
    return rc;
}

static bool copy_bytes(int from, int to) {
    enum { CHUNK = 1 << 18 };
    char *chunk = malloc(CHUNK);
    ssize_t got = -1;
    while (chunk) {
        got = read(from, chunk, CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (write_all(to, chunk, (size_t)got)) {
            got = -1;
            break;
        }
    }
    int reason = errno;
    free(chunk);
    errno = reason;
    return got == 0;
}

static int copy_file(struct core_call *call, const char *from, const char *to) {
    char target[PATH_MAX], *beside = NULL;
    struct stat facts;
    int source, descriptor = -1, rc = open_file(call, from, &source);
    if (rc) return rc;
    const char *where = real_target(to, target);
    rc = fstat(source, &facts) ? failed(call, from) : open_beside(call, where, &beside, &descriptor);
    if (!rc) rc = put_in_place(call, descriptor, beside, where, &facts.st_mode, copy_bytes(source, descriptor));
    free(beside);
    close(source);
    return rc;
}

/* Two paths, and what is done with them. */
static int with_two(struct core_call *call, int (*act)(struct core_call *call, const char *from, const char *to)) {
    struct piece from, to;
    int rc = path_of(call, 0, &from);
    if (rc) return rc;
    rc = path_of(call, 1, &to);
    if (!rc) {
        rc = act(call, from.bytes, to.bytes);
        piece_free(&to);
    }
    piece_free(&from);
    return rc;
}

static int move_file(struct core_call *call, const char *from, const char *to) {
    if (rename(from, to) == 0) return 0;
    if (errno != EXDEV) return failed(call, from);
    int rc = copy_file(call, from, to);
    if (!rc && unlink(from)) rc = failed(call, from);
    return rc;
}

static int fs_copy(struct core_call *call) { return with_two(call, copy_file); }
static int fs_move(struct core_call *call) { return with_two(call, move_file); }

/* ---- the rest ---- */

static int fs_del(struct core_call *call) {
    struct piece path;
    struct stat facts;
    int rc = path_of(call, 0, &path);
    if (rc) return rc;
    if (lstat(path.bytes, &facts) || (S_ISDIR(facts.st_mode) ? rmdir(path.bytes) : unlink(path.bytes))) rc = failed(call, path.bytes);
    piece_free(&path);
    return rc;
}

static int fs_exists(struct core_call *call) {
    struct piece path;
    struct stat facts;
    int rc = path_of(call, 0, &path);
    if (rc) return rc;
    call->results[0] = cell_bool(stat(path.bytes, &facts) == 0);
    piece_free(&path);
    return 0;
}

static int fs_mkdir(struct core_call *call) {
    struct piece path;
    struct stat facts;
    int rc = path_of(call, 0, &path);
    if (rc) return rc;
    for (char *at = path.owned; *at && !rc; at++) {
        if (*at != '/' || at == path.owned) continue;
        *at = '\0';
        if (mkdir(path.bytes, 0777) && errno != EEXIST && errno != EISDIR && stat(path.bytes, &facts)) rc = failed(call, path.bytes);
        *at = '/';
    }
    if (!rc && mkdir(path.bytes, 0777)) {
        int reason = errno;
        bool there = stat(path.bytes, &facts) == 0 && S_ISDIR(facts.st_mode);
        errno = reason;
        if (!there) rc = failed(call, path.bytes);
    }
    piece_free(&path);
    return rc;
}

static const char *kind_name_of(mode_t mode) {
    if (S_ISREG(mode)) return "file";
    if (S_ISDIR(mode)) return "directory";
    return S_ISLNK(mode) ? "link" : "other";
}

static int fs_stat(struct core_call *call) {
    struct piece path;
    struct stat facts;
    struct cell map;
    int rc = path_of(call, 0, &path);
    if (rc) return rc;
    if (lstat(path.bytes, &facts)) rc = failed(call, path.bytes);
    piece_free(&path);
    if (rc) return rc;
    int64_t nanoseconds = (int64_t)facts.st_mtime * 1000000000;
    const char *kind = kind_name_of(facts.st_mode);
    rc = members_begin(call->heap, "[]char/utf8·any", &map);
    rc = member_text(call->heap, rc, &map, "kind", kind, strlen(kind));
    rc = member_put(call->heap, rc, &map, "size", cell_int64((int64_t)facts.st_size));
    rc = member_put(call->heap, rc, &map, "mode", cell_int64((int64_t)(facts.st_mode & 07777)));
    rc = member_put(call->heap, rc, &map, "mtime", cell_scalar(KIND_TIME, (uint64_t)nanoseconds));
    if (!rc) call->results[0] = map;
    return rc;
}

static int by_bytes(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

/* The names of a folder, malloc'd one by one. */
static int read_names(struct core_call *call, const char *path, char ***names, size_t *count) {
    DIR *folder = opendir(path);
    size_t room = 0;
    int rc = folder ? 0 : failed(call, path);
    while (!rc) {
        errno = 0;
        const struct dirent *entry = readdir(folder); /* NOLINT(concurrency-mt-unsafe): a stream of this call's own */
        if (!entry && errno) rc = failed(call, path);
        if (!entry) break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (*count == room) {
            char **more = realloc(*names, (room + 64) * 2 * sizeof *more);
            if (more) {
                *names = more;
                room = (room + 64) * 2;
            }
        }
        char *copy = *count < room ? strdup(entry->d_name) : NULL;
        if (copy) (*names)[(*count)++] = copy;
        else rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "fs·list: %.300s: no memory for the names", path);
    }
    if (folder) closedir(folder);
    return rc;
}

static int fs_list(struct core_call *call) {
    struct piece path;
    char **names = NULL;
    size_t count = 0;
    struct cell list = cell_none();
    int rc = path_of(call, 0, &path);
    if (rc) return rc;
    rc = read_names(call, path.bytes, &names, &count);
    if (count) qsort(names, count, sizeof *names, by_bytes);
    if (!rc) rc = members_begin(call->heap, "[int64]·[]char/utf32", &list);
    for (size_t i = 0; i < count; i++) {
        struct cell name = cell_none();
        if (!rc) {
            rc = name_cell(call->heap, names[i], &name);
            rc = item_put(call->heap, rc, &list, (int64_t)i, name);
        }
        free(names[i]);
    }
    free(names);
    piece_free(&path);
    if (!rc) call->results[0] = list;
    return rc;
}

const struct native_row fs_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/fs.def"
#undef NATIVE
};
const uint32_t fs_count = sizeof fs_rows / sizeof *fs_rows;
