/* Readers beside a writer, and the wake-up of a waiter, with a page of atomics between the processes.
 * Relies on side.h, fork and an anonymous shared mapping; promises to reap every child, also when one fails. */
#include "tree_shared.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct page {
    atomic_int ready, go, stop;
    _Atomic uint64_t reads[2];
    _Atomic int64_t acknowledged;
    int64_t took[4096];
};

int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void result(const char *work, const char *side, double value)
{
    printf("R\t%s\t%s\t%.9g\n", work, side, value);
    fflush(stdout);
}

static struct page *page_new(void)
{
    struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

static void nap(long microseconds)
{
    struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

/* Reads the batch round and round, 64 keys at a time; number 1 writes 8 of them after each 64. */
static int reader(const struct side *side, const char *place, const struct batch *batch, struct page *page, int number, int writes)
{
    void *store;
    if (side->open(place, &store))
        return 1;
    atomic_fetch_add(&page->ready, 1);
    while (!atomic_load(&page->go))
        nap(50);
    uint64_t reads = 0;
    int64_t stamp = 1;
    size_t at = (size_t)number * (batch->count / 2);
    while (!atomic_load_explicit(&page->stop, memory_order_relaxed)) {
        struct batch part = *batch;
        int64_t sum, keys = 0;
        at = at + 64 < batch->count ? at : 0;
        part.order += at;
        part.count = 64;
        for (size_t i = 0; i < 64; i++)
            keys += part.order[i];
        if (side->get(store, &part, &sum))
            return 1;
        if ((sum - keys) % ((int64_t)1 << 32) != 0) {
            fprintf(stderr, "%s: a reader saw a wrong value\n", side->name);
            return 1;
        }
        reads += 64;
        at += 64;
        if (writes) {
            part.count = 8;
            if (side->set(store, &part, stamp++ % 1000, COMMIT_EACH))
                return 1;
        }
    }
    atomic_store(&page->reads[number], reads);
    side->close(store);
    return 0;
}

static int reap(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int run_readers(const struct side *side, const char *place, const struct batch *batch, int count, double seconds, double *rate)
{
    struct page *page = page_new();
    pid_t children[2] = {0, 0};
    int rc = page ? 0 : -1, waited = 0;
    fflush(stdout);
    for (int i = 0; !rc && i < count; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(reader(side, place, batch, page, i, i == 1));
        if (children[i] < 0)
            rc = -1;
    }
    while (!rc && atomic_load(&page->ready) < count && waited++ < 50000)
        nap(100);
    if (!rc && atomic_load(&page->ready) < count)
        rc = -1;
    int64_t began = now_ns();
    if (page)
        atomic_store(&page->go, 1);
    if (!rc)
        usleep((useconds_t)(seconds * 1e6));
    double span = (double)(now_ns() - began) / 1e9;
    if (page)
        atomic_store(&page->stop, 1);
    for (int i = 0; i < 2; i++)
        if (children[i] > 0 && reap(children[i]))
            rc = -1;
    if (!rc)
        *rate = (double)(atomic_load(&page->reads[0]) + atomic_load(&page->reads[1])) / span;
    if (page)
        munmap(page, sizeof *page);
    return rc;
}

int measure_readers(const struct side *side, const char *place, const struct batch *batch, int rounds, double seconds)
{
    for (int i = 0; i < rounds; i++) {
        double one, two;
        if (run_readers(side, place, batch, 1, seconds, &one) || run_readers(side, place, batch, 2, seconds, &two))
            return -1;
        result("readers alone", side->name, one);
        result("readers", side->name, two / one);
    }
    return 0;
}

static int waiter(const struct side *side, const char *place, struct page *page, int times)
{
    void *store;
    int64_t sent = 0;
    if (side->open(place, &store))
        return 1;
    for (int i = 0; i < times + 1; i++) {
        atomic_store(&page->ready, i + 1);
        if (side->wait(store, &sent))
            return 1;
        int64_t took = now_ns() - sent;
        if (i > 0)
            page->took[i - 1] = took; /* the first one warms up */
        atomic_store(&page->acknowledged, sent);
    }
    side->close(store);
    return 0;
}

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int drive_waiter(const struct side *side, void *store, struct page *page, int times, pid_t child)
{
    for (int i = 0; i < times + 1; i++) {
        while (atomic_load(&page->ready) < i + 1) {
            if (waitpid(child, NULL, WNOHANG) != 0)
                return -1;
            nap(20);
        }
        nap(i == 0 ? 50000 : 300); /* until it sleeps */
        int64_t now = now_ns();
        if (side->wake(store, now))
            return -1;
        int64_t deadline = now + 5000000000;
        while (atomic_load(&page->acknowledged) != now) {
            if (now_ns() > deadline) {
                fprintf(stderr, "%s: a wake-up was lost\n", side->name);
                return -1;
            }
            nap(20);
        }
    }
    return 0;
}

int measure_wake(const struct side *side, const char *place, int times)
{
    void *store;
    struct page *page = page_new();
    if (!page || times > 4096)
        return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(waiter(side, place, page, times));
    if (child < 0)
        return -1;
    int rc = side->open(place, &store);
    if (!rc) {
        rc = drive_waiter(side, store, page, times, child);
        side->close(store);
    }
    if (rc)
        kill(child, SIGKILL);
    if (reap(child))
        rc = -1;
    if (!rc) {
        qsort(page->took, (size_t)times, sizeof page->took[0], by_size);
        result("wake", side->name, (double)page->took[times / 2] / 1000);
        result("wake p99", side->name, (double)page->took[times * 99 / 100] / 1000);
    }
    munmap(page, sizeof *page);
    return rc;
}
