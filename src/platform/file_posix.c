/* Files, byte-range locks and mappings, as POSIX has them. What differs between systems is behind the few functions of
 * system.h. Relies on platform.h. Promises: no call fails because of a signal; every failure leaves its reason in
 * platform_errno_text. */
#include "platform/platform.h"
#include "platform/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Thread_local int last_error;

enum platform_code platform_code_of(int error) {
    switch (error) {
    case 0: return PLATFORM_OK;
    case ENOENT: case ENOTDIR: return PLATFORM_NO_ENTRY;
    case EEXIST: return PLATFORM_EXISTS;
    case EACCES: case EPERM: case EROFS: return PLATFORM_DENIED;
    case ENOSPC: case EDQUOT: case EFBIG: return PLATFORM_NO_SPACE;
    case ENOMEM: return PLATFORM_NO_MEMORY;
    case ENOTSUP: case ENOSYS: return PLATFORM_UNSUPPORTED;
    case ETIMEDOUT: return PLATFORM_TIMED_OUT;
    default: return PLATFORM_FAILED;
    }
}

enum platform_code system_failed(int error) {
    last_error = error;
    return platform_code_of(error);
}

const char *platform_errno_text(void) { return strerror(last_error); }

enum platform_code platform_file_open(const char *path, enum platform_open how, int *fd) {
    int flags = O_RDWR | O_CLOEXEC | (how == PLATFORM_OPEN_NEW ? O_CREAT | O_EXCL : 0);
    int got;
    do got = open(path, flags, 0600);
    while (got < 0 && errno == EINTR);
    if (got < 0) return system_failed(errno);
    *fd = got;
    return PLATFORM_OK;
}

void platform_file_close(int fd) {
    if (fd >= 0) (void)close(fd);
}

enum platform_code platform_file_facts(int fd, struct platform_file *out) {
    struct stat facts;
    if (fstat(fd, &facts)) return system_failed(errno);
    *out = (struct platform_file){.bytes = (uint64_t)facts.st_size,
                                  .blocks_bytes = (uint64_t)facts.st_blocks * 512,
                                  .device = (uint64_t)facts.st_dev,
                                  .inode = (uint64_t)facts.st_ino,
                                  .owner = facts.st_uid,
                                  .links = (uint32_t)facts.st_nlink,
                                  .regular = S_ISREG(facts.st_mode)};
    return PLATFORM_OK;
}

enum platform_code system_write_zeros(int fd, uint64_t at, uint64_t bytes) {
    static const char zeros[65536];
    struct stat facts;
    if (fstat(fd, &facts)) return system_failed(errno);
    uint64_t end = at + bytes, from = (uint64_t)facts.st_size > at ? (uint64_t)facts.st_size : at;
    while (from < end) { /* what the file has already may hold data */
        size_t part = end - from < sizeof zeros ? (size_t)(end - from) : sizeof zeros;
        ssize_t done = pwrite(fd, zeros, part, (off_t)from);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return system_failed(errno);
        from += (uint64_t)done;
    }
    return PLATFORM_OK;
}

enum platform_code platform_file_sync(int fd) { return fsync(fd) ? system_failed(errno) : PLATFORM_OK; }

enum platform_code platform_file_link(const char *from, const char *to) {
    return link(from, to) ? system_failed(errno) : PLATFORM_OK;
}

enum platform_code platform_file_unlink(const char *path) { return unlink(path) ? system_failed(errno) : PLATFORM_OK; }

uint32_t platform_user(void) { return (uint32_t)geteuid(); }
uint32_t platform_pid(void) { return (uint32_t)getpid(); }

/* ---- locks ---- */

static int lock_call(int fd, int command, short type, uint64_t at, struct flock *out) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    int rc;
    do rc = fcntl(fd, command, &lock);
    while (rc && errno == EINTR);
    if (out) *out = lock;
    return rc;
}

enum platform_code platform_lock_try(int fd, uint64_t at) {
    if (!lock_call(fd, SYSTEM_OFD_SETLK, F_WRLCK, at, NULL)) return PLATFORM_OK;
    if (errno == EAGAIN || errno == EACCES) return PLATFORM_BUSY;
    return system_failed(errno);
}

enum platform_code platform_lock_wait(int fd, uint64_t at) {
    return lock_call(fd, SYSTEM_OFD_SETLKW, F_WRLCK, at, NULL) ? system_failed(errno) : PLATFORM_OK;
}

void platform_lock_drop(int fd, uint64_t at) { (void)lock_call(fd, SYSTEM_OFD_SETLK, F_UNLCK, at, NULL); }

bool platform_lock_held(int fd, uint64_t at) {
    struct flock found;
    if (lock_call(fd, SYSTEM_OFD_GETLK, F_WRLCK, at, &found)) return true; /* cannot tell: never rob the living */
    return found.l_type != F_UNLCK;
}

/* ---- mapping ---- */

enum platform_code platform_map(int fd, uint64_t bytes, void **out) {
    if (bytes > SIZE_MAX) return PLATFORM_NO_MEMORY;
    void *base = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | SYSTEM_MAP_LAZY, fd, 0);
    if (base == MAP_FAILED) return system_failed(errno == EINVAL ? ENOMEM : errno);
    *out = base;
    return PLATFORM_OK;
}

void platform_unmap(void *base, uint64_t bytes) {
    if (base) (void)munmap(base, (size_t)bytes);
}
