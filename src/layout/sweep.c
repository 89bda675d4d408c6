/* Removing old versions (sweep.h). A vthread that begins after a replacement only ever calls the new one, so times decide: that of the
 * replacement stands at `‥replaced` of the old version. Where the vthreads cannot be looked at, everything stays. */
#include "layout/sweep.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char root[] = "/lib/‥old";

int sweep_stamp(kvspace *space, const char *old) {
    char key[KVSPACE_KEY_MAX + 1];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t nanoseconds = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    struct kvspace_value value = kvspace_value_scalar(KVSPACE_TIME, &nanoseconds);
    if (snprintf(key, sizeof key, "%s/‥replaced", old) >= (int)sizeof key) return KVSPACE_EKEY;
    return kvspace_set(space, key, &value);
}

static int time_at(kvspace *space, const char *key, int64_t *nanoseconds) {
    struct kvspace_value value;
    int rc = kvspace_get(space, key, &value);
    *nanoseconds = rc ? 0 : value.scalar.i64;
    return rc;
}

/* When the oldest vthread that has not ended began; INT64_MAX: there is none. */
static int oldest_vthread(kvspace *space, int64_t *oldest) {
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    *oldest = INT64_MAX;
    int rc = kvspace_list_open(space, "/vthread", NULL, &cursor);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    while ((rc = kvspace_list_next(cursor, &entry)) == 0) {
        char key[KVSPACE_KEY_MAX + 1], status[32];
        int64_t began;
        snprintf(key, sizeof key, "/vthread%.200s/‥status", entry.text);
        rc = kvspace_get_text(space, key, status, sizeof status, NULL);
        if (rc == KVSPACE_ENOENT) continue; /* not a vthread, or gone */
        if (rc) break;
        if (!strcmp(status, "done") || !strcmp(status, "error")) continue;
        snprintf(key, sizeof key, "/vthread%.200s/‥ctime", entry.text);
        rc = time_at(space, key, &began);
        if (rc) break;
        if (began < *oldest) *oldest = began;
    }
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

/* The old versions at and below the key; *left: something stays below it. */
static int sweep_below(kvspace *space, char *key, size_t length, int64_t oldest, unsigned depth, bool *left) {
    enum { LIBS_NEST_MOST = 64 };
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    int rc = kvspace_list_open(space, key, &options, &cursor);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    while ((rc = kvspace_list_next(cursor, &entry)) == 0) {
        int64_t replaced = INT64_MAX; /* without a stamp: its layout was killed, or it is only a step on the way to one */
        bool stays = false;
        size_t bytes = length + entry.text_bytes;
        if (bytes + sizeof "/‥replaced" > KVSPACE_KEY_MAX) continue;
        memcpy(key + length, entry.text, (size_t)entry.text_bytes + 1);
        if (entry.has_value) {
            snprintf(key + bytes, KVSPACE_KEY_MAX + 1 - bytes, "/‥replaced");
            if (time_at(space, key, &replaced)) replaced = INT64_MAX - 1;
            key[bytes] = '\0';
            stays = replaced >= oldest;
        } else if (depth < LIBS_NEST_MOST) rc = sweep_below(space, key, bytes, oldest, depth + 1, &stays);
        if (!rc && !stays) rc = kvspace_del_tree(space, key, NULL);
        *left |= stays;
        key[length] = '\0';
        if (rc) break;
    }
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

int sweep_old(kvspace *space) {
    char key[KVSPACE_KEY_MAX + 1];
    int64_t oldest;
    bool left = false;
    if (kvspace_exists(space, root)) return 0;
    int rc = oldest_vthread(space, &oldest);
    if (rc) return rc == KVSPACE_EPROVIDER ? 0 : rc;
    memcpy(key, root, sizeof root);
    rc = sweep_below(space, key, sizeof root - 1, oldest, 0, &left);
    if (!rc && !left) rc = kvspace_del_tree(space, root, NULL);
    return rc;
}
