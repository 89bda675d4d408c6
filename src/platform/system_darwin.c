/* macOS: F_PREALLOCATE, ulocks, the boot session. Relies on platform.h. Promises: waits see words in shared mappings of
 * any process; where the kernel refuses a ulock, a wait is a short sleep, which every caller allows for (it rechecks). */
#include "platform/platform.h"
#include "platform/system.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysctl.h>
#include <sys/types.h>
#include <unistd.h>

/* Not in public headers, but what libc++ and others have waited on for years. */
extern int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t timeout_us);
extern int __ulock_wake(uint32_t operation, void *address, uint64_t wake_value);
enum { ULOCK_COMPARE_AND_WAIT_SHARED = 3, ULOCK_WAKE_ALL = 0x100 };

enum platform_code platform_file_allocate(int fd, uint64_t at, uint64_t bytes) {
    /* Zeros written are blocks owned: F_PREALLOCATE alone does not promise them for the range that is mapped. */
    return system_write_zeros(fd, at, bytes);
}

enum platform_code platform_file_punch(int fd, uint64_t at, uint64_t bytes) {
#ifdef F_PUNCHHOLE
    struct fpunchhole hole = {.fp_offset = (off_t)at, .fp_length = (off_t)bytes};
    return fcntl(fd, F_PUNCHHOLE, &hole) ? system_failed(errno) : PLATFORM_OK;
#else
    (void)fd, (void)at, (void)bytes;
    return PLATFORM_UNSUPPORTED;
#endif
}

enum platform_code platform_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns) {
    int64_t us = timeout_ns < 0 ? 0 : timeout_ns / 1000 + 1; /* 0 is no limit */
    if (us > UINT32_MAX) us = UINT32_MAX;
    int rc = __ulock_wait(ULOCK_COMPARE_AND_WAIT_SHARED, (void *)word, expected, (uint32_t)us);
    if (rc >= 0) return PLATFORM_OK;
    if (errno == ETIMEDOUT) return PLATFORM_TIMED_OUT;
    if (errno == EINVAL || errno == ENOTSUP) platform_sleep_ns(50000);
    return PLATFORM_OK;
}

void platform_wake(_Atomic uint32_t *word, uint32_t how_many) {
    uint32_t operation = ULOCK_COMPARE_AND_WAIT_SHARED | (how_many > 1 ? (uint32_t)ULOCK_WAKE_ALL : 0);
    (void)__ulock_wake(operation, (void *)word, 0);
}

void platform_boot_id(char out[40]) {
    memset(out, 0, 40);
    size_t bytes = 39;
    if (sysctlbyname("kern.bootsessionuuid", out, &bytes, NULL, 0)) memset(out, 0, 40);
}

void platform_random(void *out, size_t bytes) { arc4random_buf(out, bytes); }
