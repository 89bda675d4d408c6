/* The parts of bench/tree that need several processes: readers beside a writer, and the wake-up of a waiter.
 * Relies on side.h and fork; each process opens its own handle after the fork. Prints result lines as tree_bench.c does. */
#ifndef BENCH_TREE_SHARED_H
#define BENCH_TREE_SHARED_H

#include "side.h"

/* Nanoseconds of the monotonic clock, the same in all processes. */
int64_t now_ns(void);

/* One line for bench/tree/run: R, work, side, value; tab between. */
void result(const char *work, const char *side, double value);

/* `rounds` times: one reader alone, then two at once, the second of which also writes after every eighth read; `seconds` each. Every
 * value that is read is checked. Result: reads per second of both together over those of the one alone. Gives 0 or -1. */
int measure_readers(const struct side *side, const char *place, const struct batch *batch, int rounds, double seconds);

/* Wakes a waiting process `times` times and reports the median of what it took, in microseconds. */
int measure_wake(const struct side *side, const char *place, int times);

#endif
