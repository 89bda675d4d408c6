/* The table of kinds and the searches over its names. Relies on kinds.def for every fact.
 * kind_from_name is one hash, one table load and one comparison: the hash column of kinds.def is perfect (no two
 * kinds share a place), which typexpr_test proves by looking up every name.
 * Promise: no allocation, no state, any input. */
#include "kvspace/kinds.h"

#include <string.h>

const struct kv_kind_row kind_rows[KIND_COUNT] = {
    [KIND_NONE] = {"", 0, KIND_CLASS_NONE, 0, false, false, false},
#define KIND(name, text, class, bytes, is_signed, arithmetic, storage_only, hash) \
    [KIND_##name] = {text, sizeof text - 1, KIND_CLASS_##class, bytes, is_signed, arithmetic, storage_only},
#include "kvspace/kinds.def"
#undef KIND
};

enum { HASH_PLACES = 32 };

static const uint8_t kind_at_hash[HASH_PLACES] = {
#define KIND(name, text, class, bytes, is_signed, arithmetic, storage_only, hash) [hash] = KIND_##name,
#include "kvspace/kinds.def"
#undef KIND
};

_Static_assert(KIND_COUNT <= 32, "masks of kinds are 32 bits wide");

enum kv_kind kind_from_name(const char *text, size_t length) {
    if (length < 4 || length > KIND_NAME_MAX) return KIND_NONE;
    unsigned first = (unsigned char)text[0];
    unsigned last = (unsigned char)text[length - 1];
    unsigned before = (unsigned char)text[length - 2];
    unsigned kind = kind_at_hash[(5 * (unsigned)length + 7 * last + 16 * before + first) % HASH_PLACES];
    const struct kv_kind_row *row = &kind_rows[kind];
    bool same = row->name_bytes == length && memcmp(row->name, text, length) == 0;
    return same ? (enum kv_kind)kind : KIND_NONE;
}

bool kind_holds_int64(unsigned kind, int64_t value) {
    const struct kv_kind_row *row = kind_row(kind);
    unsigned bits = row->bytes * 8U;
    if (row->kind_class == KIND_CLASS_INT) {
        int64_t high = (int64_t)(UINT64_MAX >> (65 - bits));
        return value <= high && value >= -high - 1;
    }
    return value >= 0 && kind_holds_uint64(kind, (uint64_t)value);
}

bool kind_holds_uint64(unsigned kind, uint64_t value) {
    const struct kv_kind_row *row = kind_row(kind);
    unsigned bits = row->bytes * 8U;
    if (row->kind_class == KIND_CLASS_INT) return value <= UINT64_MAX >> (65 - bits);
    return row->kind_class == KIND_CLASS_UINT && value <= UINT64_MAX >> (64 - bits);
}

const char *kind_family_suggestion(const char *text, size_t length) {
    static const struct {
        const char *family, *suggestion;
    } rows[] = {
        {"int", "int64"},     {"uint", "uint64"},         {"float", "float64"},
        {"char", "char/utf32"}, {"string", "[]char/utf32"}, {"num", "int64|float64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].family) == length && memcmp(rows[i].family, text, length) == 0) return rows[i].suggestion;
    return NULL;
}

/* Optimal string alignment: insertion, deletion, substitution and the swap of two neighbours count one each. */
static unsigned edit_distance(const char *left, size_t left_length, const char *right, size_t right_length) {
    unsigned cost[KIND_NAME_MAX + 3][KIND_NAME_MAX + 1];
    for (size_t j = 0; j <= right_length; j++) cost[0][j] = (unsigned)j;
    for (size_t i = 1; i <= left_length; i++) {
        cost[i][0] = (unsigned)i;
        for (size_t j = 1; j <= right_length; j++) {
            unsigned best = cost[i - 1][j - 1] + (left[i - 1] != right[j - 1]);
            if (cost[i - 1][j] + 1 < best) best = cost[i - 1][j] + 1;
            if (cost[i][j - 1] + 1 < best) best = cost[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if (swapped && cost[i - 2][j - 2] + 1 < best) best = cost[i - 2][j - 2] + 1;
            cost[i][j] = best;
        }
    }
    return cost[left_length][right_length];
}

enum kv_kind kind_nearest(const char *text, size_t length) {
    if (length < 3 || length > KIND_NAME_MAX + 2) return KIND_NONE;
    unsigned best = 3;
    enum kv_kind nearest = KIND_NONE;
    for (unsigned kind = KIND_NONE + 1; kind < KIND_COUNT; kind++) {
        unsigned distance = edit_distance(text, length, kind_rows[kind].name, kind_rows[kind].name_bytes);
        if (distance < best && distance * 2 < kind_rows[kind].name_bytes) {
            best = distance;
            nearest = (enum kv_kind)kind;
        }
    }
    return nearest;
}
