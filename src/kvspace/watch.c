/* Watching a key (kvspace.h): by waiting, and by a descriptor.
 *
 * A waiter sets bit 0 of the watch word of the node's bucket, then reads the key once more, then sleeps on the word as it was. A
 * writer changes the key first and looks at the word afterwards (tree_wake), so either the waiter reads the change or the
 * word changes and it does not sleep. A key that does not exist is watched at the deepest node on its way.
 * Relies on tree.h, provider.h. Promises: a wait ends at most a second after a change whose writer died before it could wake. */
#include "kvspace/api.h"
#include "kvspace/cell.h"
#include "kvspace/provider.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLICE_NS INT64_C(1000000000)
#define PROVIDED_SLICE_NS INT64_C(20000000) /* a provider may change without telling */

/* What a key looks like at one time. */
struct sight {
    uint64_t version;
    uint32_t node;  /* whose bucket tells of changes */
    bool has_value, provided;
};

static int look(kvspace *space, const char *key, struct sight *sight) {
    struct tree_walk walk;
    struct cell_value cell;
    int rc = tree_walk(space, key, &walk);
    if (rc) return rc;
    struct node *node = tree_node(space, walk.node);
    if (!node) return KVSPACE_EDAMAGED;
    *sight = (struct sight){.node = walk.node};
    if (!*walk.at) {
        sight->version = tree_version(walk.node, node_get(node, &cell));
        sight->has_value = cell_value_tag(cell) != NODE_TAG_NONE && cell_value_tag(cell) != NODE_TAG_HIDDEN;
    }
    if (walk.special_tag == NODE_TAG_PROVIDER && (*walk.at || walk.node == walk.special)) {
        uint64_t version = 0;
        rc = provider_version(space, key, &walk, &version);
        if (rc == KVSPACE_EPROVIDER && !*walk.at) rc = 0; /* its own node's changes will do */
        sight->provided = true;
        sight->node = walk.special;
        sight->version ^= version;
        sight->has_value |= version != 0;
    } else if (walk.special_tag == NODE_TAG_OVERLAY && !sight->has_value) {
        struct kvspace_value value;
        space->read_depth++;
        if (!api_get(space, key, &value)) {
            sight->has_value = true;
            sight->provided = true; /* the base tells its own watchers, not ours */
            sight->version ^= value.version;
        }
        space->read_depth--;
    }
    return rc;
}

static bool equals(kvspace *space, const char *key, const struct kvspace_value *wanted) {
    struct kvspace_value value;
    space->read_depth++;
    int rc = api_get(space, key, &value);
    bool same = rc ? !wanted : wanted && kvspace_value_equal(&value, wanted);
    space->read_depth--;
    return same && (!rc || rc == KVSPACE_ENOENT);
}

/* What the waiter waits for, and where it began. */
struct waiting {
    enum kvspace_watch_for event;
    const struct kvspace_value *equal;
    uint64_t seen;
};

static bool has_happened(kvspace *space, const char *key, const struct waiting *wait, const struct sight *sight) {
    switch (wait->event) {
    case KVSPACE_WATCH_DELETE: return !sight->has_value;
    case KVSPACE_WATCH_EQUAL: return equals(space, key, wait->equal);
    default: return sight->version != wait->seen;
    }
}

static _Atomic uint32_t *word_of(kvspace *space, uint32_t node) { return &mem_header(space)->watch[node / 4 % WATCH_WORDS]; }

/* One round: registers, looks, and sleeps if it has not happened. *happened says so. */
static int wait_once(kvspace *space, const char *key, const struct waiting *wait, int64_t most_ns, bool *happened) {
    struct sight sight;
    int rc = space_begin(space);
    if (rc) return rc;
    rc = look(space, key, &sight);
    if (!rc) *happened = has_happened(space, key, wait, &sight);
    if (rc || *happened || most_ns <= 0) {
        space_end(space);
        return rc;
    }
    _Atomic uint32_t *word = word_of(space, sight.node);
    uint32_t node = sight.node;
    /* Sequentially consistent, as the fence in tree_wake: the bit is seen by every writer whose change the next look misses. */
    uint32_t seen = atomic_fetch_or_explicit(word, 1, memory_order_seq_cst) | 1;
    rc = look(space, key, &sight);
    if (!rc) *happened = has_happened(space, key, wait, &sight) || sight.node != node;
    space_end(space); /* nobody sleeps inside an epoch */
    if (rc || *happened) {
        if (!rc && sight.node != node) *happened = false;
        return rc;
    }
    int64_t slice = sight.provided ? PROVIDED_SLICE_NS : SLICE_NS;
    platform_wait(word, seen, most_ns < slice ? most_ns : slice);
    return 0;
}

static int begin_wait(kvspace *space, const char *key, const struct kvspace_watch_options *options, struct waiting *wait) {
    struct sight sight;
    *wait = (struct waiting){.event = options ? options->event : KVSPACE_WATCH_CHANGE, .equal = options ? options->equal : NULL};
    if (options && options->seen) wait->seen = *options->seen;
    int rc = space_begin(space);
    if (rc) return rc;
    rc = look(space, key, &sight);
    if (!rc && !(options && options->seen)) wait->seen = sight.version;
    space_end(space);
    return rc;
}

int kvspace_watch(kvspace *space, const char *key, const struct kvspace_watch_options *options, struct kvspace_value *out) {
    int64_t timeout_ms = options ? options->timeout_ms : 0;
    int64_t end = timeout_ms > 0 ? platform_now_ns() + (timeout_ms < INT64_MAX / 2000000 ? timeout_ms * 1000000 : INT64_MAX / 2) : 0;
    struct waiting wait;
    bool happened = false;
    if (out) *out = (struct kvspace_value){0};
    int rc = begin_wait(space, key, options, &wait);
    while (!rc && !happened) {
        int64_t left = timeout_ms == 0 ? INT64_MAX : timeout_ms < 0 ? 0 : end - platform_now_ns();
        rc = wait_once(space, key, &wait, left, &happened);
        if (!rc && !happened && left <= 0) rc = KVSPACE_ETIMEOUT;
    }
    if (rc) return rc == KVSPACE_EKEY || rc == KVSPACE_EPROVIDER ? rc : space_error(space, rc, key, NULL);
    if (!out) return 0;
    rc = kvspace_get(space, key, out);
    return rc == KVSPACE_ENOENT ? 0 : rc;
}

/* ---- the descriptor ---- */

/* A thread with a handle of its own waits and writes a byte to a pipe; the owner takes it and lets the thread go on. */
struct kvspace_watcher {
    kvspace *space;   /* the owner's */
    kvspace *own;     /* the thread's */
    char *key;
    struct waiting wait;
    struct kvspace_value *equal;
    _Atomic uint64_t seen;   /* what the thread waits beyond */
    _Atomic uint32_t armed;  /* 1: the thread waits; 0: it has written and rests */
    _Atomic uint32_t stop;
    int reader, writer;
    pthread_t thread;
};

static void *watch_loop(void *opaque) {
    struct kvspace_watcher *watcher = opaque;
    while (!atomic_load(&watcher->stop)) {
        struct waiting wait = watcher->wait;
        bool happened = false;
        if (!atomic_load(&watcher->armed)) {
            platform_wait(&watcher->armed, 0, SLICE_NS);
            continue;
        }
        wait.seen = atomic_load(&watcher->seen);
        int rc = wait_once(watcher->own, watcher->key, &wait, SLICE_NS, &happened);
        if (rc || (happened && !atomic_load(&watcher->stop))) {
            atomic_store(&watcher->armed, 0);
            while (write(watcher->writer, "!", 1) < 0 && errno == EINTR) continue;
        }
    }
    return NULL;
}

static void free_watcher(struct kvspace_watcher *watcher) {
    if (watcher->reader >= 0) close(watcher->reader);
    if (watcher->writer >= 0) close(watcher->writer);
    kvspace_close(watcher->own);
    kvspace_value_free(watcher->equal);
    free(watcher->key);
    free(watcher);
}

static int make_pipe(struct kvspace_watcher *watcher) {
    int ends[2];
    if (pipe(ends)) return KVSPACE_EIO;
    watcher->reader = ends[0];
    watcher->writer = ends[1];
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

int kvspace_watcher_open(kvspace *space, const char *key, const struct kvspace_watch_options *options, kvspace_watcher **out) {
    struct kvspace_watcher *watcher = calloc(1, sizeof *watcher);
    if (!watcher) return space_error(space, KVSPACE_ENOMEM, key, NULL);
    watcher->space = space;
    watcher->reader = watcher->writer = -1;
    int rc = begin_wait(space, key, options, &watcher->wait);
    if (!rc) rc = kvspace_open_again(space, &watcher->own);
    for (uint32_t i = 1; !rc && i < space->provider_count; i++) rc = kvspace_provider_register(watcher->own, space->provider[i]);
    if (!rc && watcher->wait.equal) rc = kvspace_value_clone(watcher->wait.equal, &watcher->equal);
    watcher->wait.equal = watcher->equal;
    if (!rc && !(watcher->key = malloc(strlen(key) + 1))) rc = KVSPACE_ENOMEM;
    if (!rc) rc = make_pipe(watcher);
    if (!rc) {
        memcpy(watcher->key, key, strlen(key) + 1);
        atomic_store(&watcher->seen, watcher->wait.seen);
        atomic_store(&watcher->armed, 1);
        if (pthread_create(&watcher->thread, NULL, watch_loop, watcher)) rc = KVSPACE_ENOMEM;
    }
    if (rc) {
        free_watcher(watcher);
        return rc == KVSPACE_EKEY ? rc : space_error(space, rc, key, NULL);
    }
    *out = watcher;
    return 0;
}

int kvspace_watcher_descriptor(const kvspace_watcher *watcher) { return watcher->reader; }

int kvspace_watcher_take(kvspace_watcher *watcher, struct kvspace_value *out) {
    kvspace *space = watcher->space;
    struct sight sight;
    char byte;
    if (out) *out = (struct kvspace_value){0};
    if (read(watcher->reader, &byte, 1) != 1) return KVSPACE_ETIMEOUT;
    int rc = space_begin(space);
    if (!rc) rc = look(space, watcher->key, &sight);
    space_end(space);
    if (rc) return space_error(space, rc, watcher->key, NULL);
    atomic_store(&watcher->seen, sight.version);
    if (watcher->wait.event == KVSPACE_WATCH_CHANGE) {
        atomic_store(&watcher->armed, 1);
        platform_wake(&watcher->armed, 1);
    }
    rc = out ? kvspace_get(space, watcher->key, out) : 0; /* after the version: a change in between makes it readable again */
    return rc == KVSPACE_ENOENT ? 0 : rc;
}

void kvspace_watcher_close(kvspace_watcher *watcher) {
    struct sight sight = {.node = 0};
    if (!watcher) return;
    atomic_store(&watcher->stop, 1);
    platform_wake(&watcher->armed, 1);
    if (!space_begin(watcher->space)) {
        if (!look(watcher->space, watcher->key, &sight)) {
            _Atomic uint32_t *word = word_of(watcher->space, sight.node);
            atomic_fetch_add(word, 2); /* the thread that sleeps there looks, and sees `stop` */
            platform_wake(word, INT32_MAX);
        }
        space_end(watcher->space);
    }
    pthread_join(watcher->thread, NULL);
    free_watcher(watcher);
}
