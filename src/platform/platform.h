/* The operating system, as the rest of the project sees it. Every #ifdef for a system is in this folder.
 * Relies on POSIX; files *_linux.c and *_darwin.c hold what differs. Promises: errors are the codes below (errno stays
 * inside, platform_errno_text tells the reason of the last one of this thread); calls interrupted by signals are repeated. */
#ifndef PLATFORM_PLATFORM_H
#define PLATFORM_PLATFORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum platform_code {
    PLATFORM_OK = 0,
    PLATFORM_NO_ENTRY,   /* no such file */
    PLATFORM_EXISTS,
    PLATFORM_DENIED,
    PLATFORM_NO_SPACE,   /* disk, quota or tmpfs full */
    PLATFORM_NO_MEMORY,
    PLATFORM_BUSY,       /* a lock is held by another */
    PLATFORM_TIMED_OUT,
    PLATFORM_UNSUPPORTED,
    PLATFORM_FAILED      /* anything else */
};
/* The code for an errno value. */
enum platform_code platform_code_of(int error);
/* Text of the last failure in this thread; valid until the next. */
const char *platform_errno_text(void);

/* ---- files ---- */
enum platform_open { PLATFORM_OPEN_EXISTING, PLATFORM_OPEN_NEW /* EXISTS if it is there; mode 0600 */ };
struct platform_file {
    uint64_t bytes;
    uint64_t blocks_bytes; /* really occupied */
    uint64_t device, inode;
    uint32_t owner;        /* user id */
    uint32_t links;
    bool regular;
};
enum platform_code platform_file_open(const char *path, enum platform_open how, int *fd); /* read-write, close-on-exec */
void platform_file_close(int fd);
enum platform_code platform_file_facts(int fd, struct platform_file *out);
/* Real blocks for the range; the file gets longer if need be. Never shortens. */
enum platform_code platform_file_allocate(int fd, uint64_t at, uint64_t bytes);
/* Gives the blocks back; the range reads as zeros. UNSUPPORTED where the file system cannot. */
enum platform_code platform_file_punch(int fd, uint64_t at, uint64_t bytes);
enum platform_code platform_file_sync(int fd);
enum platform_code platform_file_link(const char *from, const char *to); /* EXISTS */
enum platform_code platform_file_unlink(const char *path);
uint32_t platform_user(void);
uint32_t platform_pid(void);

/* ---- byte-range locks that belong to the open file description and go with it ---- */
enum platform_code platform_lock_try(int fd, uint64_t at);  /* BUSY */
enum platform_code platform_lock_wait(int fd, uint64_t at);
void platform_lock_drop(int fd, uint64_t at);
/* Whether another open file description holds it. */
bool platform_lock_held(int fd, uint64_t at);

/* ---- mapping ---- */
/* Maps `bytes` of the file, shared, readable and writable; may reach beyond its end, where access is not allowed yet. */
enum platform_code platform_map(int fd, uint64_t bytes, void **out);
void platform_unmap(void *base, uint64_t bytes);

/* ---- waiting on a word in shared memory, across processes ---- */
/* Returns when woken, when *word != expected, when the time is over (TIMED_OUT), or for no reason. timeout_ns < 0: no limit. */
enum platform_code platform_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
void platform_wake(_Atomic uint32_t *word, uint32_t how_many);
static inline void platform_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- time, identity ---- */
int64_t platform_now_ns(void);  /* monotonic */
int64_t platform_wall_ns(void); /* since 1970 */
void platform_sleep_ns(int64_t ns);
void platform_boot_id(char out[40]);  /* changes with every start of the machine; "" if unknown */
void platform_random(void *out, size_t bytes);
/* The user's own directory for run-time files, made if need be, 0700; "" if there is none. Never ends in '/'. */
enum platform_code platform_runtime_dir(char *out, size_t cap);

/* ---- fork: a child must neither keep its parent's locks alive nor use its mapping; and files that get shorter ----
 * An access to a leased mapping behind the end of its file would be a SIGBUS: the page becomes zeros of the process's own and the
 * lease says so. A handler that was there before is called for all other addresses. */
struct platform_lease {
    int fd;
    _Atomic bool lost;          /* set in a forked child, after its copy of fd was closed */
    _Atomic bool shrunk;        /* set when a page of the mapping was found to be no more */
    void *base;
    uint64_t bytes;
    struct platform_lease *next, *previous;
};
/* The lease lies in the caller's memory until it is dropped; closes fd in children. */
void platform_lease_take(struct platform_lease *lease, int fd, void *base, uint64_t bytes);
void platform_lease_drop(struct platform_lease *lease);

#endif
