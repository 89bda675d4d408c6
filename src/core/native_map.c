/* Natives on maps and structs, and the random stream of a vthread.
 * Relies on map.h, array.h, types.h. Promises: order of insertion everywhere; the stream is SplitMix64 (Steele, Lea, Flood 2014):
 * one word of state, so that a vthread that is resumed goes on with the same numbers. */
#include <time.h>

#include "core/array.h"
#include "core/map.h"
#include "core/native.h"
#include "core/types.h"

int native_map_len(struct core_call *call) {
    const struct cell *map;
    int rc = native_map(call, 0, &map);
    return rc ? rc : native_give(call, cell_int64(map_length(call->heap, map)));
}

int native_map_has(struct core_call *call) {
    const struct cell *map, *found;
    int rc = native_map(call, 0, &map);
    if (!rc) rc = map_find(call->heap, map, call->args[1], &found);
    return rc ? rc : native_give(call, cell_bool(found != NULL));
}

int native_map_del(struct core_call *call) {
    const struct cell *map;
    int rc = native_map(call, 0, &map);
    if (rc) return rc;
    if (cell_tag(map) == TAG_STRUCT) return fault(call->heap, ERROR_TYPE, "map·del: a struct keeps its fields");
    if (call->reuse) return map_delete(call->heap, map, call->args[1], &call->results[0]);
    struct cell held = cell_copy(call->heap, map), made; /* with a second holder it is not changed in place */
    rc = map_delete(call->heap, &held, call->args[1], &made);
    if (rc || made.payload != held.payload) cell_drop(call->heap, held);
    return rc ? rc : native_give(call, made);
}

/* Keys or values as a compact array of `kind`, or as an [int64] map of the type. */
static int listed(struct core_call *call, const struct cell *map, bool keys, unsigned kind, const char *type) {
    uint64_t position = 0, count = map_length(call->heap, map), at = 0;
    const struct cell *key, *value;
    struct cell made;
    if (kind || !type) {
        int rc = array_new(call->heap, kind, 1, &count, &made);
        if (rc) return rc;
        unsigned char *to = block_body(cell_block(call->heap, &made));
        while (map_next(call->heap, map, &position, &key, &value)) scalar_store(kind, to + kind_size(kind) * at++, (keys ? key : value)->payload);
        return native_give(call, made);
    }
    const struct type_info *info;
    int rc = type_of_text(call->heap, type, strlen(type), &info);
    if (!rc) rc = map_new(call->heap, info, (uint32_t)count, &made);
    if (rc) return rc;
    while (map_next(call->heap, map, &position, &key, &value)) {
        struct cell number = cell_int64((int64_t)at++), item = cell_copy(call->heap, keys ? key : value), next;
        rc = map_set(call->heap, &made, &number, &item, 0, &next);
        cell_drop(call->heap, item);
        if (!rc && next.payload != made.payload) cell_drop(call->heap, made);
        if (rc) {
            cell_drop(call->heap, made);
            return rc;
        }
        made = next;
    }
    return native_give(call, made);
}

int native_map_keys(struct core_call *call) {
    const struct cell *map;
    int rc = native_map(call, 0, &map);
    if (rc) return rc;
    const struct dict *dict = cell_dict(call->heap, map);
    if (dict->key_class == KEY_SCALAR) return listed(call, map, true, dict->key_kind, NULL);
    return listed(call, map, true, 0, dict->key_class == KEY_TUPLE ? "[int64]·[]int64" : "[int64]·[]char/utf32");
}

int native_map_values(struct core_call *call) {
    const struct cell *map;
    int rc = native_map(call, 0, &map);
    if (rc) return rc;
    const struct type_info *info = NULL;
    char type[TYPEXPR_TEXT_MAX + 16] = "[int64]·any";
    if (cell_tag(map) == TAG_MAP && cell_block(call->heap, map)->type) {
        rc = type_of_id(call->heap, cell_block(call->heap, map)->type, &info);
        if (rc) return rc;
        if (info->value_kind) return listed(call, map, false, info->value_kind, NULL);
        typexpr_print(info->value, type + strlen("[int64]·"), TYPEXPR_TEXT_MAX);
    }
    return listed(call, map, false, 0, type);
}

/* ---- random· ---- */

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The state to draw from. A stream that nobody seeded begins with the clock. */
static int stream(struct core_call *call, uint64_t *state) {
    if (!call->services || !call->services->random) return fault(call->heap, ERROR_RUNTIME, "there is no random stream here");
    *state = call->services->random[0];
    if (*state) return 0;
    struct timespec now = { 0 };
    timespec_get(&now, TIME_UTC);
    *state = (uint64_t)now.tv_sec * UINT64_C(1000000007) ^ (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)call->services->random << 20;
    (void)splitmix(state);
    return 0;
}

static void stream_leave(struct core_call *call, uint64_t state) { call->services->random[1] = state ? state : 1; }

int native_random_seed(struct core_call *call) {
    uint64_t state;
    const struct cell *cell = call->args[0];
    if (!cell_is_scalar(cell) || !kind_is_integer(cell_kind(cell))) return native_mismatch(call, 0, "an integer");
    int rc = stream(call, &state);
    if (rc) return rc;
    state = cell->payload;
    stream_leave(call, splitmix(&state));
    return 0;
}

int native_random_uint64(struct core_call *call) {
    uint64_t state;
    int rc = stream(call, &state);
    if (rc) return rc;
    call->results[0] = cell_uint64(splitmix(&state));
    stream_leave(call, state);
    return 0;
}

int native_random_int63(struct core_call *call) {
    uint64_t state;
    int rc = stream(call, &state);
    if (rc) return rc;
    call->results[0] = cell_int64((int64_t)(splitmix(&state) >> 1));
    stream_leave(call, state);
    return 0;
}

int native_random_float64(struct core_call *call) {
    uint64_t state;
    int rc = stream(call, &state);
    if (rc) return rc;
    call->results[0] = cell_float64((double)(splitmix(&state) >> 11) * 0x1p-53);
    stream_leave(call, state);
    return 0;
}

/* Every number below n is equally likely: draws above the last whole multiple of n are thrown away. */
int native_random_intn(struct core_call *call) {
    uint64_t state;
    int64_t n;
    int rc = native_int64(call, 0, &n);
    if (!rc && n <= 0) rc = fault(call->heap, ERROR_VALUE, "random·intn(%lld): n is at least 1", (long long)n);
    if (!rc) rc = stream(call, &state);
    if (rc) return rc;
    uint64_t limit = UINT64_MAX - UINT64_MAX % (uint64_t)n, drawn;
    do drawn = splitmix(&state);
    while (drawn >= limit);
    call->results[0] = cell_int64((int64_t)(drawn % (uint64_t)n));
    stream_leave(call, state);
    return 0;
}
