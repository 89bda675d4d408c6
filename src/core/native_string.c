/* Natives on strings. Searching and cutting count code points; results are char/utf32 unless the argument's encoding is kept.
 * Relies on text.h, utf8.h. Promises: linear time (searching: at worst length × length of the part), nothing is normalised. */
#include "core/array.h"
#include "core/map.h"
#include "core/native.h"
#include "core/types.h"
#include "kvspace/utf8.h"

/* A text argument as points; `hold` is dropped by the caller. */
struct points {
    const uint32_t *at;
    uint64_t count;
    struct cell hold;
};

static int points_of(struct core_call *call, uint32_t i, struct points *out) {
    const struct cell *cell;
    out->hold = cell_none();
    int rc = native_text(call, i, &cell);
    return rc ? rc : text_points(call->heap, cell, &out->hold, &out->at, &out->count);
}

static int two_points(struct core_call *call, struct points *a, struct points *b) {
    int rc = points_of(call, 0, a);
    if (!rc) rc = points_of(call, 1, b);
    if (rc) cell_drop(call->heap, a->hold);
    return rc;
}

static void points_drop(struct core_call *call, struct points *points) { cell_drop(call->heap, points->hold); }

static int give_points(struct core_call *call, const uint32_t *at, uint64_t count) {
    return text_new(call->heap, KIND_CHAR_UTF32, at, count, &call->results[0]);
}

#define NOT_FOUND UINT64_MAX

static uint64_t find_from(const struct points *text, const struct points *part, uint64_t from) {
    if (part->count == 0) return from <= text->count ? from : NOT_FOUND;
    for (uint64_t i = from; i + part->count <= text->count; i++)
        if (text->at[i] == part->at[0] && memcmp(text->at + i, part->at, part->count * 4) == 0) return i;
    return NOT_FOUND;
}

int native_string_len(struct core_call *call) {
    const struct cell *text;
    int rc = native_text(call, 0, &text);
    return rc ? rc : native_give(call, cell_int64((int64_t)text_length(call->heap, text)));
}

int native_string_char(struct core_call *call) {
    const struct cell *text;
    int64_t index;
    int rc = native_text(call, 0, &text);
    if (!rc) rc = native_int64(call, 1, &index);
    return rc ? rc : text_at(call->heap, text, index, &call->results[0]);
}

int native_string_ord(struct core_call *call) {
    struct points text;
    int rc = points_of(call, 0, &text);
    if (rc) return rc;
    if (text.count != 1) rc = fault(call->heap, ERROR_VALUE, "string·ord wants one character, not %llu", (unsigned long long)text.count);
    else call->results[0] = cell_int64(text.at[0]);
    points_drop(call, &text);
    return rc;
}

int native_string_chr(struct core_call *call) {
    int64_t number;
    int rc = native_int64(call, 0, &number);
    if (rc) return rc;
    if (number < 0 || number > UTF8_POINT_MAX || !utf8_point_is_valid((uint32_t)number))
        return fault(call->heap, ERROR_VALUE, "%lld is no code point", (long long)number);
    return native_give(call, text_of_point((uint32_t)number));
}

int native_string_cmp(struct core_call *call) {
    const struct cell *a, *b;
    int rc = native_text(call, 0, &a);
    if (!rc) rc = native_text(call, 1, &b);
    return rc ? rc : native_give(call, cell_int64(text_order(call->heap, a, b)));
}

int native_string_find(struct core_call *call) {
    struct points text, part;
    int64_t from = 0;
    int rc = two_points(call, &text, &part);
    if (rc) return rc;
    if (call->arg_count > 2) rc = native_int64(call, 2, &from);
    if (!rc) {
        if (from < 0) from = (uint64_t)-(from + 1) >= text.count ? 0 : (int64_t)text.count + from;
        uint64_t at = find_from(&text, &part, (uint64_t)from);
        call->results[0] = cell_int64(at == NOT_FOUND ? -1 : (int64_t)at);
    }
    points_drop(call, &text);
    points_drop(call, &part);
    return rc;
}

int native_string_rfind(struct core_call *call) {
    struct points text, part;
    int rc = two_points(call, &text, &part);
    if (rc) return rc;
    int64_t found = -1;
    if (part.count <= text.count)
        for (uint64_t i = text.count - part.count + 1; i-- > 0 && found < 0;)
            if (memcmp(text.at + i, part.at, part.count * 4) == 0) found = (int64_t)i;
    points_drop(call, &text);
    points_drop(call, &part);
    return native_give(call, cell_int64(found));
}

int native_string_slice(struct core_call *call) {
    const struct cell *text;
    int64_t from = 0, to = INT64_MAX;
    int rc = native_text(call, 0, &text);
    if (!rc) rc = native_int64(call, 1, &from);
    if (!rc && call->arg_count > 2) rc = native_int64(call, 2, &to);
    return rc ? rc : text_slice(call->heap, text, from, to, &call->results[0]);
}

int native_string_concat(struct core_call *call) {
    const struct cell *text;
    int rc = native_text(call, 0, &text);
    if (rc) return rc;
    if (call->arg_count == 2) {
        rc = native_text(call, 1, &text);
        return rc ? rc : text_concat(call->heap, call->args[0], call->args[1], call->reuse, &call->results[0]);
    }
    struct cell sum = cell_copy(call->heap, text), next;
    for (uint32_t i = 1; i < call->arg_count && !rc; i++) {
        rc = native_text(call, i, &text);
        /* What was made here is lengthened in place; the argument itself is not. */
        if (!rc) rc = text_concat(call->heap, &sum, text, i > 1 && cell_is_sole(call->heap, &sum), &next);
        if (rc) break;
        if (next.payload != sum.payload || !(next.head & CELL_BLOCK)) cell_drop(call->heap, sum);
        sum = next;
    }
    if (rc) cell_drop(call->heap, sum);
    return rc ? rc : native_give(call, sum);
}

int native_string_set(struct core_call *call) {
    struct points text, part = { 0 };
    int64_t index;
    int rc = points_of(call, 0, &text);
    if (!rc) rc = native_int64(call, 1, &index);
    if (!rc) rc = points_of(call, 2, &part);
    else part.hold = cell_none();
    if (!rc && part.count != 1) rc = fault(call->heap, ERROR_VALUE, "string·set wants one character, not %llu", (unsigned long long)part.count);
    if (!rc) {
        uint64_t at = index < 0 ? text.count + (uint64_t)index : (uint64_t)index;
        uint32_t point = part.at[0];
        if (at >= text.count)
            rc = fault(call->heap, ERROR_INDEX, "index %lld is out of range for a string of length %llu", (long long)index, (unsigned long long)text.count);
        if (!rc) rc = give_points(call, text.at, text.count);
        if (!rc) {
            uint64_t count;
            uint32_t *made = (uint32_t *)(uintptr_t)text_units(call->heap, &call->results[0], &count);
            made[at] = point;
        }
    }
    points_drop(call, &part);
    points_drop(call, &text);
    return rc;
}

/* An [int64]·[]char/utf32 map to which texts are added in order. */
static int list_new(struct core_call *call, struct cell *list) {
    static const char type[] = "[int64]·[]char/utf32";
    const struct type_info *info;
    int rc = type_of_text(call->heap, type, sizeof type - 1, &info);
    return rc ? rc : map_new(call->heap, info, 4, list);
}

static int list_add(struct core_call *call, struct cell *list, const uint32_t *at, uint64_t count) {
    struct cell key = cell_int64(map_length(call->heap, list)), text, next;
    int rc = text_new(call->heap, KIND_CHAR_UTF32, at, count, &text);
    if (rc) return rc;
    rc = map_set(call->heap, list, &key, &text, 0, &next);
    cell_drop(call->heap, text);
    if (rc) return rc;
    if (next.payload != list->payload) cell_drop(call->heap, *list);
    *list = next;
    return 0;
}

int native_string_split(struct core_call *call) {
    struct points text, separator;
    struct cell list;
    int rc = two_points(call, &text, &separator);
    if (rc) return rc;
    if (separator.count == 0) rc = fault(call->heap, ERROR_VALUE, "string·split: the separator is empty");
    if (!rc) rc = list_new(call, &list);
    if (!rc) {
        uint64_t from = 0;
        for (;;) {
            uint64_t at = find_from(&text, &separator, from);
            uint64_t end = at == NOT_FOUND ? text.count : at;
            rc = list_add(call, &list, text.at + from, end - from);
            if (rc || at == NOT_FOUND) break;
            from = at + separator.count;
        }
        if (rc) cell_drop(call->heap, list);
        else call->results[0] = list;
    }
    points_drop(call, &text);
    points_drop(call, &separator);
    return rc;
}

int native_string_join(struct core_call *call) {
    const struct cell *parts, *separator, *key, *part;
    int rc = native_map(call, 0, &parts);
    if (!rc) rc = native_text(call, 1, &separator);
    if (rc) return rc;
    /* Two passes: the length first, so that the text is made once. */
    uint64_t position = 0, total = 0, separator_length = text_length(call->heap, separator);
    bool first = true;
    while (map_next(call->heap, parts, &position, &key, &part)) {
        if (!cell_is_text(part)) return native_mismatch(call, 0, "a map of texts");
        total += text_length(call->heap, part) + (first ? 0 : separator_length);
        first = false;
    }
    struct cell made = cell_none();
    void *units;
    rc = text_reserve(call->heap, KIND_CHAR_UTF32, total, &made, &units);
    if (rc) return rc;
    uint32_t *to = units;
    first = true;
    for (position = 0; map_next(call->heap, parts, &position, &key, &part); first = false) {
        const struct cell *pieces[2] = { separator, part };
        for (unsigned i = first ? 1 : 0; i < 2; i++) {
            struct cell hold;
            const uint32_t *points;
            uint64_t count;
            rc = text_points(call->heap, pieces[i], &hold, &points, &count);
            if (rc) {
                cell_drop(call->heap, made);
                return rc;
            }
            if (count) memcpy(to, points, count * 4);
            to += count;
            cell_drop(call->heap, hold);
        }
    }
    return native_give(call, made);
}

int native_string_replace(struct core_call *call) {
    struct points text, old, fresh = { NULL, 0, { 0, 0 } };
    int rc = two_points(call, &text, &old);
    if (rc) return rc;
    rc = points_of(call, 2, &fresh);
    if (!rc && old.count == 0) rc = fault(call->heap, ERROR_VALUE, "string·replace: the text to look for is empty");
    uint64_t hits = 0;
    for (uint64_t at = 0; !rc && (at = find_from(&text, &old, at)) != NOT_FOUND; at += old.count) hits++;
    struct cell made = cell_none();
    void *units;
    if (!rc) rc = text_reserve(call->heap, KIND_CHAR_UTF32, text.count - hits * old.count + hits * fresh.count, &made, &units);
    if (!rc) {
        uint32_t *to = units;
        uint64_t from = 0;
        for (;;) {
            uint64_t at = find_from(&text, &old, from), end = at == NOT_FOUND ? text.count : at;
            if (end > from) memcpy(to, text.at + from, (end - from) * 4);
            to += end - from;
            if (at == NOT_FOUND) break;
            if (fresh.count) memcpy(to, fresh.at, fresh.count * 4);
            to += fresh.count;
            from = at + old.count;
        }
        call->results[0] = made;
    }
    points_drop(call, &text);
    points_drop(call, &old);
    points_drop(call, &fresh);
    return rc;
}

/* Blanks as Unicode has them. */
static bool is_blank(uint32_t point) {
    return point == ' ' || (point >= 9 && point <= 13) || point == 0x85 || point == 0xa0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000;
}

int native_string_trim(struct core_call *call) {
    struct points text;
    int rc = points_of(call, 0, &text);
    if (rc) return rc;
    uint64_t from = 0, end = text.count;
    while (from < end && is_blank(text.at[from])) from++;
    while (end > from && is_blank(text.at[end - 1])) end--;
    rc = give_points(call, text.at + from, end - from);
    points_drop(call, &text);
    return rc;
}

/* Case of Latin (with accents), Greek, Cyrillic and Armenian: one point to one point, so that lengths stay. */
static uint32_t to_upper(uint32_t point) {
    if (point < 0x80) return point >= 'a' && point <= 'z' ? point - 32 : point;
    if ((point >= 0xe0 && point <= 0xfe && point != 0xf7) || (point >= 0x3b1 && point <= 0x3cb && point != 0x3c2) || (point >= 0x430 && point <= 0x44f)) return point - 32;
    if (point == 0xff) return 0x178;
    if (point == 0x3c2) return 0x3a3;
    if (point == 0x131) return 'I';
    if (point == 0x17f) return 'S';
    if ((point >= 0x100 && point <= 0x137) || (point >= 0x14a && point <= 0x177) || (point >= 0x1e00 && point <= 0x1e95) || (point >= 0x1ea0 && point <= 0x1eff) ||
        (point >= 0x460 && point <= 0x481) || (point >= 0x48a && point <= 0x4bf) || (point >= 0x4d0 && point <= 0x52f) || (point >= 0x3d8 && point <= 0x3ef))
        return point & ~UINT32_C(1);
    if ((point >= 0x139 && point <= 0x148) || (point >= 0x179 && point <= 0x17e)) return point % 2 == 0 ? point - 1 : point;
    if (point == 0x3ac) return 0x386;
    if (point >= 0x3ad && point <= 0x3af) return point - 37;
    if (point == 0x3cc) return 0x38c;
    if (point == 0x3cd || point == 0x3ce) return point - 63;
    if (point >= 0x450 && point <= 0x45f) return point - 80;
    if (point >= 0x561 && point <= 0x586) return point - 48;
    return point;
}

static uint32_t to_lower(uint32_t point) {
    if (point < 0x80) return point >= 'A' && point <= 'Z' ? point + 32 : point;
    if ((point >= 0xc0 && point <= 0xde && point != 0xd7) || (point >= 0x391 && point <= 0x3ab && point != 0x3a2) || (point >= 0x410 && point <= 0x42f)) return point + 32;
    if (point == 0x178) return 0xff;
    if (point == 0x130) return 'i';
    if (point == 0x1e9e) return 0xdf;
    if ((point >= 0x100 && point <= 0x137) || (point >= 0x14a && point <= 0x177) || (point >= 0x1e00 && point <= 0x1e95) || (point >= 0x1ea0 && point <= 0x1eff) ||
        (point >= 0x460 && point <= 0x481) || (point >= 0x48a && point <= 0x4bf) || (point >= 0x4d0 && point <= 0x52f) || (point >= 0x3d8 && point <= 0x3ef))
        return point == 0x131 ? point : point | 1;
    if ((point >= 0x139 && point <= 0x148) || (point >= 0x179 && point <= 0x17e)) return point % 2 == 1 ? point + 1 : point;
    if (point == 0x386) return 0x3ac;
    if (point >= 0x388 && point <= 0x38a) return point + 37;
    if (point == 0x38c) return 0x3cc;
    if (point == 0x38e || point == 0x38f) return point + 63;
    if (point >= 0x400 && point <= 0x40f) return point + 80;
    if (point >= 0x531 && point <= 0x556) return point + 48;
    return point;
}

static int map_points(struct core_call *call, uint32_t (*function)(uint32_t)) {
    struct points text;
    int rc = points_of(call, 0, &text);
    if (rc) return rc;
    struct cell made = cell_none();
    void *units;
    rc = text_reserve(call->heap, KIND_CHAR_UTF32, text.count, &made, &units);
    if (!rc) {
        uint32_t *to = units;
        for (uint64_t i = 0; i < text.count; i++) to[i] = function(text.at[i]);
        call->results[0] = made;
    }
    points_drop(call, &text);
    return rc;
}

int native_string_upper(struct core_call *call) { return map_points(call, to_upper); }
int native_string_lower(struct core_call *call) { return map_points(call, to_lower); }

enum where { AT_START, AT_END, ANYWHERE };

static int holds(struct core_call *call, enum where where) {
    struct points text, part;
    int rc = two_points(call, &text, &part);
    if (rc) return rc;
    bool found = part.count <= text.count;
    if (found && where == AT_START) found = memcmp(text.at, part.at, part.count * 4) == 0;
    if (found && where == AT_END) found = memcmp(text.at + (text.count - part.count), part.at, part.count * 4) == 0;
    if (found && where == ANYWHERE) found = find_from(&text, &part, 0) != NOT_FOUND;
    points_drop(call, &text);
    points_drop(call, &part);
    return native_give(call, cell_bool(found));
}

int native_string_startswith(struct core_call *call) { return holds(call, AT_START); }
int native_string_endswith(struct core_call *call) { return holds(call, AT_END); }
int native_string_contains(struct core_call *call) { return holds(call, ANYWHERE); }

int native_string_repeat(struct core_call *call) {
    struct points text;
    int64_t times;
    int rc = points_of(call, 0, &text);
    if (rc) return rc;
    rc = native_int64(call, 1, &times);
    if (!rc && times < 0) rc = fault(call->heap, ERROR_VALUE, "string·repeat: %lld times", (long long)times);
    if (!rc && text.count && (uint64_t)times > (UINT64_C(1) << 40) / text.count) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "string·repeat: no room for %lld times %llu characters", (long long)times, (unsigned long long)text.count);
    struct cell made = cell_none();
    void *units;
    if (!rc) rc = text_reserve(call->heap, KIND_CHAR_UTF32, text.count * (uint64_t)times, &made, &units);
    if (!rc) {
        uint32_t *to = units;
        for (int64_t i = 0; text.count && i < times; i++, to += text.count) memcpy(to, text.at, text.count * 4);
        call->results[0] = made;
    }
    points_drop(call, &text);
    return rc;
}
