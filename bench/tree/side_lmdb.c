/* The LMDB side of bench/tree: one environment, MDB_NOSYNC, keys as text. Reads run in one transaction that is renewed every thousand
 * keys (the cheapest way that still sees others' writes); a write commits alone, or a thousand together where the batch asks for it.
 * Relies on liblmdb; without it the side is NULL. */
#include "side.h"

#ifdef BENCH_HAVE_LMDB
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct store {
    MDB_env *env;
    MDB_dbi keys;
    MDB_txn *reader;
};

static int fail(const char *what, int rc)
{
    fprintf(stderr, "lmdb: %s: %s\n", what, mdb_strerror(rc));
    return -1;
}

static int lmdb_open(const char *place, void **out)
{
    char path[512];
    MDB_txn *txn = NULL;
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return -1;
    snprintf(path, sizeof path, "%s/lmdb.mdb", place);
    int rc = mdb_env_create(&store->env);
    if (!rc)
        rc = mdb_env_set_mapsize(store->env, (size_t)16 << 30);
    if (!rc)
        rc = mdb_env_open(store->env, path, MDB_NOSYNC | MDB_NOSUBDIR, 0600);
    if (!rc)
        rc = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (!rc)
        rc = mdb_dbi_open(txn, NULL, 0, &store->keys);
    if (!rc)
        rc = mdb_txn_commit(txn);
    if (rc) {
        free(store);
        return fail("open", rc);
    }
    *out = store;
    return 0;
}

static void lmdb_close(void *handle)
{
    struct store *store = handle;
    if (store->reader)
        mdb_txn_abort(store->reader);
    mdb_env_close(store->env);
    free(store);
}

static int lmdb_get(void *handle, const struct batch *batch, int64_t *sum)
{
    struct store *store = handle;
    int64_t total = 0;
    int rc = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (i % 1000 == 0) {
            if (store->reader) {
                mdb_txn_reset(store->reader);
                rc = mdb_txn_renew(store->reader);
            } else {
                rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->reader);
            }
            if (rc)
                return fail("read transaction", rc);
        }
        MDB_val key = {batch->key_bytes, (void *)(uintptr_t)(batch->keys + (size_t)batch->order[i] * KEY_ROOM)}, value;
        rc = mdb_get(store->reader, store->keys, &key, &value);
        if (rc)
            return fail("get", rc);
        int64_t number;
        memcpy(&number, value.mv_data, sizeof number);
        total += number;
    }
    mdb_txn_reset(store->reader);
    *sum = total;
    return 0;
}

static int lmdb_set(void *handle, const struct batch *batch, int64_t stamp, enum commit commit)
{
    struct store *store = handle;
    size_t together = commit == COMMIT_EACH ? 1 : 1000;
    for (size_t i = 0; i < batch->count;) {
        MDB_txn *txn;
        int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
        for (size_t j = 0; !rc && j < together && i < batch->count; j++, i++) {
            uint32_t k = batch->order[i];
            int64_t number = (int64_t)k + stamp * ((int64_t)1 << 32);
            MDB_val key = {batch->key_bytes, (void *)(uintptr_t)(batch->keys + (size_t)k * KEY_ROOM)}, value = {sizeof number, &number};
            rc = mdb_put(txn, store->keys, &key, &value, 0);
        }
        if (!rc)
            rc = mdb_txn_commit(txn);
        if (rc)
            return fail("set", rc);
    }
    return 0;
}

static int lmdb_blob(void *handle, const char *text, const void *bytes, size_t count)
{
    struct store *store = handle;
    MDB_txn *txn;
    MDB_val key = {strlen(text), (void *)(uintptr_t)text}, value = {count, (void *)(uintptr_t)bytes};
    int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (!rc)
        rc = mdb_put(txn, store->keys, &key, &value, 0);
    if (!rc)
        rc = mdb_txn_commit(txn);
    return rc ? fail("set of an array", rc) : 0;
}

static int lmdb_bytes(void *handle, const char *place, uint64_t *bytes)
{
    (void)handle;
    char path[512];
    struct stat status;
    snprintf(path, sizeof path, "%s/lmdb.mdb", place);
    if (stat(path, &status))
        return fail("stat", 0);
    *bytes = (uint64_t)status.st_blocks * 512;
    return 0;
}

static const struct side side = {"LMDB", lmdb_open, lmdb_close, lmdb_get, lmdb_set, lmdb_blob, lmdb_bytes, NULL, NULL};
const struct side *const side_lmdb = &side;
#else
const struct side *const side_lmdb = NULL;
#endif
