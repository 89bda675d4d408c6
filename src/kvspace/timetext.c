/* Calendar arithmetic on days counted from 1 March of year 0, so that the leap day is the last of its year.
 * Relies on timetext.h. Promise: every int64 is a valid input of the printers, every byte string of the parsers. */
#include "kvspace/timetext.h"

#include <stdbool.h>
#include <string.h>

enum { DAYS_OF_ERA = 146097, DAYS_BEFORE_EPOCH = 719468, YEARS_OF_ERA = 400 }; /* Gregorian calendar */

static const int64_t NANOS_OF_SECOND = 1000000000;
static const int64_t SECONDS_OF_DAY = 86400;

static int64_t floor_divide(int64_t value, int64_t divisor) {
    return value / divisor - (value % divisor < 0);
}

/* ---- calendar ---- */

void timetext_civil_from_nanos(int64_t nanos, struct timetext_civil *civil) {
    int64_t seconds = floor_divide(nanos, NANOS_OF_SECOND);
    int64_t day = floor_divide(seconds, SECONDS_OF_DAY);
    int64_t rest = seconds - day * SECONDS_OF_DAY;
    int64_t part = nanos % NANOS_OF_SECOND;
    civil->nanos = (uint32_t)(part < 0 ? part + NANOS_OF_SECOND : part);
    civil->hour = (uint8_t)(rest / 3600);
    civil->minute = (uint8_t)(rest / 60 % 60);
    civil->second = (uint8_t)(rest % 60);
    day += DAYS_BEFORE_EPOCH;
    int64_t era = floor_divide(day, DAYS_OF_ERA);
    int64_t of_era = day - era * DAYS_OF_ERA;
    /* A year has 365 days, and one more every 4, one less every 100, one more every 400 years. */
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153; /* 0 is March; five months have 153 days */
    civil->day = (uint8_t)(of_year - (153 * month + 2) / 5 + 1);
    civil->month = (uint8_t)(month < 10 ? month + 3 : month - 9);
    civil->year = (int32_t)(year + era * YEARS_OF_ERA + (month >= 10));
}

static unsigned days_of_month(int32_t year, unsigned month) {
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && leap ? 1U : 0U);
}

int timetext_nanos_from_civil(const struct timetext_civil *civil, int64_t *nanos) {
    if (civil->month < 1 || civil->month > 12 || civil->day < 1 || civil->hour > 23 || civil->minute > 59 ||
        civil->second > 59 || civil->nanos >= NANOS_OF_SECOND || civil->year < 1 || civil->year > 9999 ||
        civil->day > days_of_month(civil->year, civil->month))
        return TIMETEXT_ERANGE;
    int64_t month = civil->month > 2 ? civil->month - 3 : civil->month + 9;
    int64_t year = civil->year - (civil->month <= 2);
    int64_t era = floor_divide(year, YEARS_OF_ERA);
    int64_t of_era = year - era * YEARS_OF_ERA;
    int64_t of_year = (153 * month + 2) / 5 + civil->day - 1;
    int64_t day = era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_BEFORE_EPOCH;
    int64_t seconds = day * SECONDS_OF_DAY + civil->hour * 3600 + civil->minute * 60 + civil->second;
    /* The first second that fits begins before the least number of nanoseconds, so it is counted from its end. */
    int64_t value = 0;
    bool before = seconds < 0;
    int64_t part = (int64_t)civil->nanos - (before ? NANOS_OF_SECOND : 0);
    if (__builtin_mul_overflow(seconds + before, NANOS_OF_SECOND, &value) || __builtin_add_overflow(value, part, &value))
        return TIMETEXT_ERANGE;
    *nanos = value;
    return TIMETEXT_OK;
}

/* ---- printing ---- */

static size_t put_padded(uint64_t value, unsigned width, char *out) {
    for (unsigned i = width; i > 0; i--) {
        out[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
    return width;
}

static size_t put_number(uint64_t value, char *out) {
    unsigned width = 1;
    for (uint64_t rest = value / 10; rest; rest /= 10) width++;
    return put_padded(value, width, out);
}

/* `.` and the digits of part / 10^width without zeros at their end; nothing for 0. */
static size_t put_fraction(uint64_t part, unsigned width, char *out) {
    if (part == 0) return 0;
    out[0] = '.';
    size_t length = 1 + put_padded(part, width, out + 1);
    while (out[length - 1] == '0') length--;
    return length;
}

size_t timetext_print_time(int64_t nanos, char *out) {
    struct timetext_civil civil;
    timetext_civil_from_nanos(nanos, &civil);
    size_t length = put_padded((uint64_t)civil.year, 4, out);
    const struct {
        char before;
        uint8_t value;
    } parts[] = {{'-', civil.month}, {'-', civil.day}, {'T', civil.hour}, {':', civil.minute}, {':', civil.second}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        out[length++] = parts[i].before;
        length += put_padded(parts[i].value, 2, out + length);
    }
    length += put_fraction(civil.nanos, 9, out + length);
    out[length++] = 'Z';
    out[length] = 0;
    return length;
}

/* Below a second: one unit, with a fraction of at most `width` digits. */
static size_t put_small(uint64_t nanos, char *out) {
    static const struct {
        uint64_t nanos;
        unsigned width;
        const char *unit;
    } units[] = {{1000000, 6, "ms"}, {1000, 3, "µs"}, {1, 0, "ns"}};
    size_t i = 0;
    while (nanos < units[i].nanos) i++;
    size_t length = put_number(nanos / units[i].nanos, out);
    length += put_fraction(nanos % units[i].nanos, units[i].width, out + length);
    size_t bytes = strlen(units[i].unit);
    memcpy(out + length, units[i].unit, bytes);
    return length + bytes;
}

size_t timetext_print_duration(int64_t nanos, char *out) {
    size_t length = 0;
    uint64_t rest = nanos < 0 ? 0 - (uint64_t)nanos : (uint64_t)nanos;
    if (nanos < 0) out[length++] = '-';
    uint64_t second = (uint64_t)NANOS_OF_SECOND;
    if (rest > 0 && rest < second) {
        length += put_small(rest, out + length);
    } else {
        uint64_t seconds = rest / second;
        if (seconds >= 3600) {
            length += put_number(seconds / 3600, out + length);
            out[length++] = 'h';
        }
        if (seconds >= 60) {
            length += put_number(seconds / 60 % 60, out + length);
            out[length++] = 'm';
        }
        length += put_number(seconds % 60, out + length);
        length += put_fraction(rest % second, 9, out + length);
        out[length++] = 's';
    }
    out[length] = 0;
    return length;
}

/* ---- parsing ---- */

struct reader {
    const char *text;
    size_t length, at;
};

static bool next_is(struct reader *reader, char wanted) {
    if (reader->at >= reader->length || reader->text[reader->at] != wanted) return false;
    reader->at++;
    return true;
}

static bool read_digit(struct reader *reader, unsigned *digit) {
    if (reader->at >= reader->length) return false;
    *digit = (unsigned)(unsigned char)reader->text[reader->at] - '0';
    if (*digit > 9) return false;
    reader->at++;
    return true;
}

/* Exactly `width` digits. */
static bool read_padded(struct reader *reader, unsigned width, uint32_t *value) {
    *value = 0;
    for (; width > 0; width--) {
        unsigned digit;
        if (!read_digit(reader, &digit)) return false;
        *value = *value * 10 + digit;
    }
    return true;
}

/* Digits of a fraction as billionths; at least one. */
static bool read_fraction(struct reader *reader, uint32_t *billionths) {
    uint32_t unit = 100000000;
    unsigned digit;
    size_t start = reader->at;
    for (*billionths = 0; read_digit(reader, &digit); unit /= 10) *billionths += digit * unit;
    return reader->at > start;
}

/* `Z` or `+hh:mm`, in seconds. */
static int read_offset(struct reader *reader, int64_t *seconds) {
    *seconds = 0;
    if (next_is(reader, 'Z') || next_is(reader, 'z')) return TIMETEXT_OK;
    bool west = next_is(reader, '-');
    if (!west && !next_is(reader, '+')) return TIMETEXT_ESYNTAX;
    uint32_t hours;
    uint32_t minutes;
    if (!read_padded(reader, 2, &hours) || !next_is(reader, ':') || !read_padded(reader, 2, &minutes))
        return TIMETEXT_ESYNTAX;
    if (hours > 23 || minutes > 59) return TIMETEXT_ERANGE;
    *seconds = (int64_t)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return TIMETEXT_OK;
}

int timetext_parse_time(const char *text, size_t length, int64_t *nanos) {
    struct reader reader = {text, length, 0};
    uint32_t year, month, day, hour, minute, second, billionths = 0;
    if (!read_padded(&reader, 4, &year) || !next_is(&reader, '-') || !read_padded(&reader, 2, &month) ||
        !next_is(&reader, '-') || !read_padded(&reader, 2, &day))
        return TIMETEXT_ESYNTAX;
    if (!next_is(&reader, 'T') && !next_is(&reader, 't')) return TIMETEXT_ESYNTAX;
    if (!read_padded(&reader, 2, &hour) || !next_is(&reader, ':') || !read_padded(&reader, 2, &minute) ||
        !next_is(&reader, ':') || !read_padded(&reader, 2, &second))
        return TIMETEXT_ESYNTAX;
    if (next_is(&reader, '.') && !read_fraction(&reader, &billionths)) return TIMETEXT_ESYNTAX;
    int64_t offset;
    int rc = read_offset(&reader, &offset);
    if (rc) return rc;
    if (reader.at != length) return TIMETEXT_ESYNTAX;
    struct timetext_civil civil = {(int32_t)year, (uint8_t)month, (uint8_t)day, (uint8_t)hour, (uint8_t)minute,
                                   (uint8_t)second, billionths};
    int64_t value;
    rc = timetext_nanos_from_civil(&civil, &value);
    if (rc) return rc;
    return __builtin_sub_overflow(value, offset * NANOS_OF_SECOND, nanos) ? TIMETEXT_ERANGE : TIMETEXT_OK;
}

/* The unit at the reader's place in nanoseconds, 0 if there is none. */
static uint64_t read_unit(struct reader *reader) {
    static const struct {
        const char *text;
        uint64_t nanos;
    } units[] = {{"ns", 1}, {"us", 1000}, {"µs", 1000}, {"μs", 1000}, {"ms", 1000000}, {"s", 1000000000},
                 {"m", UINT64_C(60000000000)}, {"h", UINT64_C(3600000000000)}}; /* micro sign, and the Greek letter */
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t bytes = strlen(units[i].text);
        if (reader->length - reader->at < bytes || memcmp(reader->text + reader->at, units[i].text, bytes) != 0) continue;
        reader->at += bytes;
        return units[i].nanos;
    }
    return 0;
}

/* One number with its unit, added to the sum. */
static int read_part(struct reader *reader, uint64_t *sum) {
    uint64_t whole = 0;
    uint32_t billionths = 0;
    unsigned digit;
    bool too_great = false;
    size_t start = reader->at;
    while (read_digit(reader, &digit)) {
        too_great |= __builtin_mul_overflow(whole, 10, &whole);
        too_great |= __builtin_add_overflow(whole, digit, &whole);
    }
    bool any = reader->at > start;
    if (next_is(reader, '.')) any = read_fraction(reader, &billionths) || any;
    uint64_t unit = any ? read_unit(reader) : 0;
    if (unit == 0) return TIMETEXT_ESYNTAX;
    too_great |= __builtin_mul_overflow(whole, unit, &whole);
    /* unit / 10^9 * billionths without overflow: from a second up the unit is a multiple of 10^9. */
    uint64_t part = unit >= 1000000000 ? unit / 1000000000 * billionths : unit * billionths / 1000000000;
    too_great |= __builtin_add_overflow(whole, part, &whole);
    too_great |= __builtin_add_overflow(*sum, whole, sum);
    return too_great ? TIMETEXT_ERANGE : TIMETEXT_OK;
}

int timetext_parse_duration(const char *text, size_t length, int64_t *nanos) {
    struct reader reader = {text, length, 0};
    bool negative = next_is(&reader, '-');
    if (!negative) (void)next_is(&reader, '+');
    uint64_t sum = 0;
    int rc = TIMETEXT_OK;
    do {
        int part = read_part(&reader, &sum);
        if (part == TIMETEXT_ESYNTAX) return part;
        if (part) rc = part;
    } while (reader.at < length);
    if (rc || sum > (uint64_t)INT64_MAX + negative) return TIMETEXT_ERANGE;
    *nanos = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return TIMETEXT_OK;
}
