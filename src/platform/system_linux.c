/* Linux: fallocate, futexes, the boot id. Relies on platform.h. Promises: waits see words in shared mappings of any process. */
#include "platform/platform.h"
#include "platform/system.h"

#include <errno.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum platform_code platform_file_allocate(int fd, uint64_t at, uint64_t bytes) {
    int rc;
    do rc = fallocate(fd, 0, (off_t)at, (off_t)bytes);
    while (rc && errno == EINTR);
    if (!rc) return PLATFORM_OK;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return system_write_zeros(fd, at, bytes);
    return system_failed(errno);
}

enum platform_code platform_file_punch(int fd, uint64_t at, uint64_t bytes) {
    int rc;
    do rc = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
    while (rc && errno == EINTR);
    return rc ? system_failed(errno) : PLATFORM_OK;
}

enum platform_code platform_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns) {
    struct timespec limit = {.tv_sec = (time_t)(timeout_ns / 1000000000), .tv_nsec = (long)(timeout_ns % 1000000000)};
    long rc = syscall(SYS_futex, word, FUTEX_WAIT, expected, timeout_ns < 0 ? NULL : &limit, NULL, 0);
    return rc && errno == ETIMEDOUT ? PLATFORM_TIMED_OUT : PLATFORM_OK;
}

void platform_wake(_Atomic uint32_t *word, uint32_t how_many) {
    int count = how_many > INT_MAX ? INT_MAX : (int)how_many;
    (void)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

void platform_boot_id(char out[40]) {
    memset(out, 0, 40);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t got = read(fd, out, 36);
    if (got != 36) memset(out, 0, 40);
    (void)close(fd);
}

void platform_random(void *out, size_t bytes) {
    unsigned char *at = out;
    while (bytes) {
        ssize_t got = getrandom(at, bytes > 256 ? 256 : bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) { /* no such call: something that at least differs from process to process */
            int64_t seed = platform_now_ns() ^ ((int64_t)getpid() << 40);
            for (size_t i = 0; i < bytes; i++) at[i] = (unsigned char)(seed >> (8 * (i % 8)));
            return;
        }
        at += got;
        bytes -= (size_t)got;
    }
}
