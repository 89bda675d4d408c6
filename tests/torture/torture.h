/* What the torture programs share: a generator with a seed, pauses, and giving up. Relies on the C library and POSIX.
 * Promises: the same seed gives the same numbers; nothing here allocates. */
#ifndef TORTURE_H
#define TORTURE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* splitmix64: the next number of the stream in *state. */
static inline uint64_t torture_random(uint64_t *state) {
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static inline void torture_sleep_ns(int64_t ns) {
    struct timespec pause = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    nanosleep(&pause, NULL);
}

/* Says why on standard error, and ends with status 2: the run proves nothing. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void give_up(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

#endif
