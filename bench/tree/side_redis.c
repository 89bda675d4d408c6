/* The Redis side of bench/tree: hiredis over a Unix socket, one command a key and its reply awaited; writes of COMMIT_THOUSAND are
 * pipelined by the thousand. The server is started and stopped by bench/tree/run.
 * Relies on hiredis; without it the side is NULL. */
#include "side.h"

#ifdef BENCH_HAVE_HIREDIS
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct store {
    redisContext *context;
    int subscribed;
};

static int fail(const char *what, const redisContext *context)
{
    fprintf(stderr, "redis: %s: %s\n", what, context && context->err ? context->errstr : "unexpected reply");
    return -1;
}

static int redis_open(const char *place, void **store)
{
    redisContext *context = redisConnectUnix(place);
    if (!context || context->err) {
        fail(place, context);
        if (context)
            redisFree(context);
        return -1;
    }
    struct store *made = calloc(1, sizeof *made);
    if (!made) {
        redisFree(context);
        return -1;
    }
    made->context = context;
    *store = made;
    return 0;
}

static void redis_close(void *store)
{
    redisFree(((struct store *)store)->context);
    free(store);
}

static int redis_get(void *store, const struct batch *batch, int64_t *sum)
{
    redisContext *context = ((struct store *)store)->context;
    int64_t total = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const char *words[] = {"GET", batch->keys + (size_t)batch->order[i] * KEY_ROOM};
        size_t lengths[] = {3, batch->key_bytes};
        redisReply *reply = redisCommandArgv(context, 2, words, lengths);
        int64_t number;
        if (!reply || reply->type != REDIS_REPLY_STRING || (size_t)reply->len != sizeof number) {
            freeReplyObject(reply);
            return fail("get", context);
        }
        memcpy(&number, reply->str, sizeof number);
        freeReplyObject(reply);
        total += number;
    }
    *sum = total;
    return 0;
}

static int redis_set(void *store, const struct batch *batch, int64_t stamp, enum commit commit)
{
    redisContext *context = ((struct store *)store)->context;
    size_t together = commit == COMMIT_EACH ? 1 : 1000;
    for (size_t i = 0; i < batch->count;) {
        size_t sent = 0;
        for (; sent < together && i < batch->count; sent++, i++) {
            uint32_t k = batch->order[i];
            int64_t number = (int64_t)k + stamp * ((int64_t)1 << 32);
            const char *words[] = {"SET", batch->keys + (size_t)k * KEY_ROOM, (const char *)&number};
            size_t lengths[] = {3, batch->key_bytes, sizeof number};
            if (redisAppendCommandArgv(context, 3, words, lengths) != REDIS_OK)
                return fail("set", context);
        }
        for (; sent > 0; sent--) {
            void *reply = NULL;
            if (redisGetReply(context, &reply) != REDIS_OK)
                return fail("set", context);
            int wrong = ((redisReply *)reply)->type != REDIS_REPLY_STATUS;
            freeReplyObject(reply);
            if (wrong)
                return fail("set", context);
        }
    }
    return 0;
}

static int redis_bytes(void *store, const char *place, uint64_t *bytes)
{
    redisContext *context = ((struct store *)store)->context;
    (void)place;
    redisReply *reply = redisCommand(context, "INFO memory");
    const char *found = reply && reply->type == REDIS_REPLY_STRING ? strstr(reply->str, "used_memory:") : NULL;
    if (found)
        *bytes = strtoull(found + strlen("used_memory:"), NULL, 10);
    freeReplyObject(reply);
    return found ? 0 : fail("INFO", context);
}

static int redis_wake(void *store, int64_t number)
{
    redisContext *context = ((struct store *)store)->context;
    redisReply *reply = redisCommand(context, "PUBLISH wake %lld", (long long)number);
    int right = reply && reply->type == REDIS_REPLY_INTEGER;
    freeReplyObject(reply);
    return right ? 0 : fail("PUBLISH", context);
}

/* Subscribes the first time; the confirmation of SUBSCRIBE is passed over. */
static int redis_wait(void *store, int64_t *number)
{
    struct store *listener = store;
    redisContext *context = listener->context;
    if (!listener->subscribed) {
        redisReply *reply = redisCommand(context, "SUBSCRIBE wake");
        if (!reply)
            return fail("SUBSCRIBE", context);
        freeReplyObject(reply);
        listener->subscribed = 1;
    }
    void *reply = NULL;
    if (redisGetReply(context, &reply) != REDIS_OK)
        return fail("wait", context);
    redisReply *message = reply;
    int right = message->type == REDIS_REPLY_ARRAY && message->elements == 3;
    if (right)
        *number = strtoll(message->element[2]->str, NULL, 10);
    freeReplyObject(reply);
    return right ? 0 : fail("wait", context);
}

static const struct side side = {"Redis", redis_open, redis_close, redis_get, redis_set, NULL, redis_bytes, redis_wake, redis_wait};
const struct side *const side_redis = &side;
#else
const struct side *const side_redis = NULL;
#endif
