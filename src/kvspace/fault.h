/* Faults on purpose, for tests: let allocation number n fail, die at step number n.
 * Rooms mark their steps with FAULT_STEP and ask FAULT_HITS; in a release build (NDEBUG) both are nothing.
 * Relies on nothing. Promises: without fault_arm nothing happens. Counters are per process. */
#ifndef KVSPACE_FAULT_H
#define KVSPACE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fault { FAULT_ALLOC, FAULT_GROW, FAULT_KILL, FAULT_COUNT };

/* Whether this build has the marks. */
bool fault_built(void);
/* The n-th (from 1) mark of that sort fires, once: an allocation fails with ENOSPC, the process gets SIGKILL. */
void fault_arm(enum fault fault, uint64_t n);
/* Disarms; true if it had fired. */
bool fault_disarm(enum fault fault);
bool fault_fires(enum fault fault); /* counts one mark */
void fault_step(void);              /* one mark of FAULT_KILL, for rooms that have a `struct fault` of their own */
uint64_t fault_count(enum fault fault); /* marks passed since it was armed */

#ifdef NDEBUG
#define FAULT_STEP() ((void)0)
#define FAULT_HITS(which) false
#else
#define FAULT_STEP() ((void)fault_fires(FAULT_KILL))
#define FAULT_HITS(which) fault_fires(which)
#endif

#endif
