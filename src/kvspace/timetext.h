/* Times and durations as text. A time is nanoseconds since 1970-01-01T00:00:00Z, a duration is nanoseconds, both int64:
 * years 1677 to 2262. Relies on the C standard library. Promises: no locale, no time zone data, no state; what is printed
 * parses to the same number. Leap seconds do not exist here, as in POSIX. */
#ifndef KVSPACE_TIMETEXT_H
#define KVSPACE_TIMETEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TIMETEXT_MAX = 36 }; /* bytes for either text, zero byte included */

enum timetext_status {
    TIMETEXT_OK = 0,
    TIMETEXT_ESYNTAX, /* not a time, not a duration */
    TIMETEXT_ERANGE   /* well written, but not in 64 bits of nanoseconds, or no such day */
};

/* A moment in the calendar, UTC. */
struct timetext_civil {
    int32_t year;
    uint8_t month, day; /* from 1 */
    uint8_t hour, minute, second;
    uint32_t nanos;
};

/* RFC 3339 in UTC: 2026-12-01T05:38:04Z, with as many digits of a fraction as are needed. Gives the length. */
size_t timetext_print_time(int64_t nanos, char *out);

/* RFC 3339 with any offset (`Z`, `+02:00`); T and Z also small. Digits beyond nanoseconds are dropped. */
int timetext_parse_time(const char *text, size_t length, int64_t *nanos);

/* In the largest unit that needs no leading zero: 0s, 15ns, 1.5µs, 250ms, 1.5s, 1m30s, 1h0m0.25s; with `-` in front of
 * negative ones. */
size_t timetext_print_duration(int64_t nanos, char *out);

/* [+|-] then one or more decimal numbers (`1`, `1.5`, `.5`) each with a unit: h, m, s, ms, us or µs, ns. Parts of a
 * nanosecond are dropped. */
int timetext_parse_duration(const char *text, size_t length, int64_t *nanos);

void timetext_civil_from_nanos(int64_t nanos, struct timetext_civil *civil);
/* TIMETEXT_ERANGE for a month, day or hour that does not exist, and for years that do not fit. */
int timetext_nanos_from_civil(const struct timetext_civil *civil, int64_t *nanos);

#endif
