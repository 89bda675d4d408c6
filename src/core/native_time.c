/* Natives on times and durations: both are int64 nanoseconds, so sums wrap as integers do.
 * Relies on timetext.h. Promises: UTC only, no time zone data; a text that is no time is a ValueError. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "core/native.h"
#include "kvspace/timetext.h"

static int time_argument(struct core_call *call, uint32_t i, unsigned kind, int64_t *nanos) {
    if (cell_tag(call->args[i]) != kind) return native_mismatch(call, i, kind_name(kind));
    *nanos = cell_as_int64(call->args[i]);
    return 0;
}

static int64_t add_wrapping(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t sub_wrapping(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

int native_time_now(struct core_call *call) {
    int64_t nanos;
    if (call->services && call->services->now) {
        nanos = call->services->now(call->services->context);
    } else {
        struct timespec now = { 0 };
        timespec_get(&now, TIME_UTC);
        nanos = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
    return native_give(call, cell_scalar(KIND_TIME, (uint64_t)nanos));
}

int native_time_add(struct core_call *call) {
    int64_t at = 0, by = 0;
    int rc = time_argument(call, 0, KIND_TIME, &at);
    if (!rc) rc = time_argument(call, 1, KIND_DURATION, &by);
    return rc ? rc : native_give(call, cell_scalar(KIND_TIME, (uint64_t)add_wrapping(at, by)));
}

/* time - time is a duration, time - duration is a time. */
int native_time_sub(struct core_call *call) {
    int64_t at = 0, other = 0;
    int rc = time_argument(call, 0, KIND_TIME, &at);
    if (rc) return rc;
    unsigned kind = cell_tag(call->args[1]) == KIND_DURATION ? KIND_DURATION : KIND_TIME;
    rc = time_argument(call, 1, kind, &other);
    return rc ? rc : native_give(call, cell_scalar(kind == KIND_TIME ? KIND_DURATION : KIND_TIME, (uint64_t)sub_wrapping(at, other)));
}

static int ordered(struct core_call *call, unsigned kind, int wanted) {
    int64_t a = 0, b = 0;
    int rc = time_argument(call, 0, kind, &a);
    if (!rc) rc = time_argument(call, 1, kind, &b);
    return rc ? rc : native_give(call, cell_bool(wanted < 0 ? a < b : a > b));
}

int native_time_before(struct core_call *call) { return ordered(call, KIND_TIME, -1); }
int native_time_after(struct core_call *call) { return ordered(call, KIND_TIME, 1); }
int native_duration_before(struct core_call *call) { return ordered(call, KIND_DURATION, -1); }
int native_duration_after(struct core_call *call) { return ordered(call, KIND_DURATION, 1); }

/* %Y %m %d %H %M %S, %f (nine digits of the second) and %% of a layout. */
static int format_layout(struct core_call *call, int64_t nanos, struct text_buffer *buffer) {
    char layout[512], part[16];
    int rc = native_utf8(call, 1, layout, sizeof layout);
    if (rc) return rc;
    struct timetext_civil civil;
    timetext_civil_from_nanos(nanos, &civil);
    struct text_out out = text_buffer_out(buffer);
    for (const char *at = layout; *at; at++) {
        if (*at != '%') {
            text_put(&out, at, 1);
            continue;
        }
        switch (*++at) {
        case 'Y': snprintf(part, sizeof part, "%04d", (int)civil.year); break;
        case 'm': snprintf(part, sizeof part, "%02d", civil.month); break;
        case 'd': snprintf(part, sizeof part, "%02d", civil.day); break;
        case 'H': snprintf(part, sizeof part, "%02d", civil.hour); break;
        case 'M': snprintf(part, sizeof part, "%02d", civil.minute); break;
        case 'S': snprintf(part, sizeof part, "%02d", civil.second); break;
        case 'f': snprintf(part, sizeof part, "%09u", (unsigned)civil.nanos); break;
        case '%': strcpy(part, "%"); break;
        default: return fault(call->heap, ERROR_VALUE, "time·format knows %%Y %%m %%d %%H %%M %%S %%f %%%%, not %%%c", *at ? *at : ' ');
        }
        text_puts(&out, part);
    }
    return out.error ? fault(call->heap, ERROR_OUT_OF_MEMORY, "no room for a text") : 0;
}

int native_time_format(struct core_call *call) {
    int64_t nanos = 0;
    int rc = time_argument(call, 0, KIND_TIME, &nanos);
    if (rc) return rc;
    if (call->arg_count == 1) {
        char text[TIMETEXT_MAX];
        size_t bytes = timetext_print_time(nanos, text);
        return text_from_utf8(call->heap, text, bytes, &call->results[0]);
    }
    struct text_buffer buffer = { 0 };
    rc = format_layout(call, nanos, &buffer);
    if (!rc) return native_give_text(call, &buffer);
    text_buffer_free(&buffer);
    return rc;
}

static int parsed(struct core_call *call, unsigned kind, int (*parse)(const char *, size_t, int64_t *)) {
    char text[256];
    int64_t nanos = 0;
    int rc = native_utf8(call, 0, text, sizeof text);
    if (rc) return rc;
    int status = parse(text, strlen(text), &nanos);
    if (status) return fault(call->heap, ERROR_VALUE, status == TIMETEXT_ERANGE ? "\"%s\" is out of range for a %s" : "\"%s\" is no %s", text, kind_name(kind));
    return native_give(call, cell_scalar(kind, (uint64_t)nanos));
}

int native_time_parse(struct core_call *call) { return parsed(call, KIND_TIME, timetext_parse_time); }
int native_duration_parse(struct core_call *call) { return parsed(call, KIND_DURATION, timetext_parse_duration); }

/* Whole seconds since 1970, rounded down so that times before it are right too. */
int native_time_unix(struct core_call *call) {
    int64_t nanos = 0;
    int rc = time_argument(call, 0, KIND_TIME, &nanos);
    if (rc) return rc;
    int64_t seconds = nanos / 1000000000;
    return native_give(call, cell_int64(nanos % 1000000000 < 0 ? seconds - 1 : seconds));
}

/* ---- durations ---- */

static int duration_of(struct core_call *call, int64_t unit) {
    int64_t count;
    if (cell_tag(call->args[0]) == KIND_FLOAT64) {
        double nanos = cell_as_float64(call->args[0]) * (double)unit;
        if (!(fabs(nanos) < 9223372036854775808.0)) return fault(call->heap, ERROR_VALUE, "that many are out of range for a duration");
        return native_give(call, cell_scalar(KIND_DURATION, (uint64_t)(int64_t)nanos));
    }
    int rc = native_int64(call, 0, &count);
    if (rc) return rc;
    if (count > INT64_MAX / unit || count < INT64_MIN / unit) return fault(call->heap, ERROR_VALUE, "%lld of them are out of range for a duration", (long long)count);
    return native_give(call, cell_scalar(KIND_DURATION, (uint64_t)(count * unit)));
}

static int duration_as(struct core_call *call, int64_t unit) {
    int64_t nanos = 0;
    int rc = time_argument(call, 0, KIND_DURATION, &nanos);
    return rc ? rc : native_give(call, cell_int64(nanos / unit));
}

#define SECOND INT64_C(1000000000)
int native_duration_nanos(struct core_call *call) { return duration_of(call, 1); }
int native_duration_millis(struct core_call *call) { return duration_of(call, 1000000); }
int native_duration_seconds(struct core_call *call) { return duration_of(call, SECOND); }
int native_duration_minutes(struct core_call *call) { return duration_of(call, 60 * SECOND); }
int native_duration_hours(struct core_call *call) { return duration_of(call, 3600 * SECOND); }
int native_duration_as_nanos(struct core_call *call) { return duration_as(call, 1); }
int native_duration_as_millis(struct core_call *call) { return duration_as(call, 1000000); }
int native_duration_as_seconds(struct core_call *call) { return duration_as(call, SECOND); }
int native_duration_as_minutes(struct core_call *call) { return duration_as(call, 60 * SECOND); }
int native_duration_as_hours(struct core_call *call) { return duration_as(call, 3600 * SECOND); }

static int duration_sum(struct core_call *call, int64_t (*function)(int64_t, int64_t)) {
    int64_t a = 0, b = 0;
    int rc = time_argument(call, 0, KIND_DURATION, &a);
    if (!rc) rc = time_argument(call, 1, KIND_DURATION, &b);
    return rc ? rc : native_give(call, cell_scalar(KIND_DURATION, (uint64_t)function(a, b)));
}

int native_duration_add(struct core_call *call) { return duration_sum(call, add_wrapping); }
int native_duration_sub(struct core_call *call) { return duration_sum(call, sub_wrapping); }
