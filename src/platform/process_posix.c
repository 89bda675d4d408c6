/* Time, the runtime directory, what a fork must not share, and files that get shorter. Relies on platform.h.
 * Promises: a forked child closes its copies of the leased files at once (an open file description that outlives its
 * process would keep a dead participant's lock held) and finds its leases lost. The list of leases and the handler of
 * SIGBUS are the only process-wide state of the library: pthread_atfork and files that shrink know no other way. */
#include "platform/platform.h"
#include "platform/system.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_read(clockid_t which) {
    struct timespec now;
    if (clock_gettime(which, &now)) return 0;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t platform_now_ns(void) { return clock_read(CLOCK_MONOTONIC); }
int64_t platform_wall_ns(void) { return clock_read(CLOCK_REALTIME); }

void platform_sleep_ns(int64_t ns) {
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (nanosleep(&left, &left) && errno == EINTR) {}
}

/* Ours, a directory, and closed to others; made if it is not there. */
static bool own_directory(const char *path) {
    struct stat facts;
    if (mkdir(path, 0700) && errno != EEXIST) return false;
    if (lstat(path, &facts)) return false;
    return S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() && !(facts.st_mode & 077);
}

enum platform_code platform_runtime_dir(char *out, size_t cap) {
    const char *given = getenv("XDG_RUNTIME_DIR");
    if (cap) out[0] = 0;
    int bytes = given && given[0] == '/' ? snprintf(out, cap, "%s/kvlang", given) : -1;
    if (bytes > 0 && (size_t)bytes < cap && own_directory(out)) return PLATFORM_OK;
    static const char *const bases[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        bytes = snprintf(out, cap, "%s/kvlang-%u", bases[i], (unsigned)geteuid());
        if (bytes > 0 && (size_t)bytes < cap && own_directory(out)) return PLATFORM_OK;
    }
    if (cap) out[0] = 0;
    return PLATFORM_DENIED;
}

/* ---- leases ---- */

static pthread_mutex_t lease_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t lease_once = PTHREAD_ONCE_INIT;
static struct platform_lease *leases;

static void fork_prepare(void) { (void)pthread_mutex_lock(&lease_lock); }
static void fork_parent(void) { (void)pthread_mutex_unlock(&lease_lock); }
static void fork_child(void) {
    for (struct platform_lease *lease = leases; lease; lease = lease->next) {
        (void)close(lease->fd);
        /* Zeros of its own in the place of the space: whatever the child still reads there says "nothing here". */
        (void)mmap(lease->base, (size_t)lease->bytes, PROT_READ | PROT_WRITE,
                   MAP_FIXED | MAP_PRIVATE | MAP_ANON | SYSTEM_MAP_LAZY, -1, 0);
        atomic_store_explicit(&lease->lost, true, memory_order_relaxed);
    }
    leases = NULL;
    (void)pthread_mutex_unlock(&lease_lock);
}

static struct sigaction bus_before; /* who handled SIGBUS before us */

/* The lease whose mapping has the address. The lock may be taken in the handler: nobody holds it while touching a mapping. */
static struct platform_lease *lease_of(const unsigned char *at) {
    struct platform_lease *found = NULL;
    (void)pthread_mutex_lock(&lease_lock);
    for (struct platform_lease *lease = leases; lease && !found; lease = lease->next)
        if (at >= (unsigned char *)lease->base && (uint64_t)(at - (unsigned char *)lease->base) < lease->bytes) found = lease;
    (void)pthread_mutex_unlock(&lease_lock);
    return found;
}

static void bus_error(int number, siginfo_t *info, void *context) {
    int error = errno;
    struct platform_lease *lease = info->si_code > 0 ? lease_of(info->si_addr) : NULL;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)info->si_addr & ~(page - 1);
    if (lease && mmap((void *)at, page, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANON, -1, 0) != MAP_FAILED)
        atomic_store_explicit(&lease->shrunk, true, memory_order_release);
    else if (bus_before.sa_flags & SA_SIGINFO) bus_before.sa_sigaction(number, info, context);
    else if (bus_before.sa_handler != SIG_DFL && bus_before.sa_handler != SIG_IGN) bus_before.sa_handler(number);
    else (void)sigaction(SIGBUS, &bus_before, NULL); /* the access is made again, and ends as it would have without us */
    errno = error;
}

static void watch_process(void) {
    struct sigaction action = {.sa_sigaction = bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)pthread_atfork(fork_prepare, fork_parent, fork_child);
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, &bus_before);
}

void platform_lease_take(struct platform_lease *lease, int fd, void *base, uint64_t bytes) {
    (void)pthread_once(&lease_once, watch_process);
    (void)pthread_mutex_lock(&lease_lock);
    lease->fd = fd;
    lease->base = base;
    lease->bytes = bytes;
    atomic_store_explicit(&lease->lost, false, memory_order_relaxed);
    atomic_store_explicit(&lease->shrunk, false, memory_order_relaxed);
    lease->previous = NULL;
    lease->next = leases;
    if (leases) leases->previous = lease;
    leases = lease;
    (void)pthread_mutex_unlock(&lease_lock);
}

void platform_lease_drop(struct platform_lease *lease) {
    (void)pthread_mutex_lock(&lease_lock);
    if (!atomic_load_explicit(&lease->lost, memory_order_relaxed) && (leases == lease || lease->previous)) {
        if (lease->previous) lease->previous->next = lease->next;
        else leases = lease->next;
        if (lease->next) lease->next->previous = lease->previous;
    }
    lease->next = lease->previous = NULL;
    (void)pthread_mutex_unlock(&lease_lock);
}
