/* The kvspace side of bench/tree: nothing but the public interface, one call a key.
 * Relies on <kvspace/kvspace.h>. */
#include "side.h"

#include <kvspace/kvspace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct store {
    kvspace *space;
    uint64_t seen;
    int watching;
};

static int fail(const char *what, const struct store *store, int rc)
{
    fprintf(stderr, "kvspace: %s: %s\n", what, store && store->space ? kvspace_message(store->space) : kvspace_strerror(rc));
    return -1;
}

static int kvspace_side_open(const char *place, void **out)
{
    char path[512];
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return -1;
    snprintf(path, sizeof path, "shm:%s/kvspace.space", place);
    int rc = kvspace_open(path, &store->space);
    if (rc) {
        fail(path, NULL, rc);
        free(store);
        return -1;
    }
    *out = store;
    return 0;
}

static void kvspace_side_close(void *handle)
{
    struct store *store = handle;
    kvspace_close(store->space);
    free(store);
}

static int kvspace_side_get(void *handle, const struct batch *batch, int64_t *sum)
{
    struct store *store = handle;
    int64_t total = 0;
    for (size_t i = 0; i < batch->count; i++) {
        int64_t number;
        int rc = kvspace_get_i64(store->space, batch->keys + (size_t)batch->order[i] * KEY_ROOM, &number);
        if (rc)
            return fail("get", store, rc);
        total += number;
    }
    *sum = total;
    return 0;
}

static int kvspace_side_set(void *handle, const struct batch *batch, int64_t stamp, enum commit commit)
{
    (void)commit;
    struct store *store = handle;
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t k = batch->order[i];
        int rc = kvspace_set_i64(store->space, batch->keys + (size_t)k * KEY_ROOM, (int64_t)k + stamp * ((int64_t)1 << 32));
        if (rc)
            return fail("set", store, rc);
    }
    return 0;
}

static int kvspace_side_blob(void *handle, const char *key, const void *bytes, size_t count)
{
    struct store *store = handle;
    uint64_t dims[1] = {count};
    struct kvspace_value value = kvspace_value_array(KVSPACE_UINT8, 1, dims, bytes);
    int rc = kvspace_set(store->space, key, &value);
    return rc ? fail("set of an array", store, rc) : 0;
}

static int kvspace_side_bytes(void *handle, const char *place, uint64_t *bytes)
{
    (void)place;
    struct store *store = handle;
    struct stat status;
    if (stat(kvspace_file(store->space), &status))
        return fail("stat", store, 0);
    *bytes = (uint64_t)status.st_blocks * 512;
    return 0;
}

static int kvspace_side_wake(void *handle, int64_t number)
{
    struct store *store = handle;
    int rc = kvspace_set_i64(store->space, "/wake/up/now", number);
    return rc ? fail("set to wake", store, rc) : 0;
}

static int kvspace_side_wait(void *handle, int64_t *number)
{
    struct store *store = handle;
    struct kvspace_value value;
    if (!store->watching) {
        int rc = kvspace_get(store->space, "/wake/up/now", &value);
        if (rc)
            return fail("get before watch", store, rc);
        store->seen = value.version;
        store->watching = 1;
    }
    struct kvspace_watch_options options = {.event = KVSPACE_WATCH_CHANGE, .seen = &store->seen, .timeout_ms = 5000};
    int rc = kvspace_watch(store->space, "/wake/up/now", &options, &value);
    if (rc)
        return fail("watch", store, rc);
    store->seen = value.version;
    *number = value.scalar.i64;
    return 0;
}

const struct side side_kvspace = {"kvspace", kvspace_side_open, kvspace_side_close, kvspace_side_get, kvspace_side_set, kvspace_side_blob,
    kvspace_side_bytes, kvspace_side_wake, kvspace_side_wait};
