/* Faults on purpose (fault.h). Counters are atomic so that tests with threads may use them. */
#include "kvspace/fault.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t left[FAULT_COUNT]; /* marks until it fires; 0: disarmed */
static _Atomic bool fired[FAULT_COUNT];
static _Atomic uint64_t armed[FAULT_COUNT];

bool fault_built(void) {
#ifdef NDEBUG
    return false;
#else
    return true;
#endif
}

void fault_arm(enum fault fault, uint64_t n) {
    atomic_store(&fired[fault], false);
    atomic_store(&armed[fault], n);
    atomic_store(&left[fault], n);
}

uint64_t fault_count(enum fault fault) { return atomic_load(&armed[fault]) - atomic_load(&left[fault]); }

void fault_step(void) { (void)fault_fires(FAULT_KILL); }

bool fault_disarm(enum fault fault) {
    atomic_store(&left[fault], 0);
    return atomic_exchange(&fired[fault], false);
}

bool fault_fires(enum fault fault) {
    uint64_t now = atomic_load_explicit(&left[fault], memory_order_relaxed);
    if (!now) return false;
    while (now && !atomic_compare_exchange_weak(&left[fault], &now, now - 1)) {}
    if (now != 1) return false;
    atomic_store(&fired[fault], true);
    if (fault == FAULT_KILL) (void)raise(SIGKILL);
    return true;
}
