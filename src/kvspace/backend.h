/* Backends: who serves a data source name. One table; nothing else looks at a DSN.
 * Relies on the public interface and platform.h. Promises: a name is either resolved to a file of the shared-memory backend
 * or refused with a sentence that says what is missing. */
#ifndef KVSPACE_BACKEND_H
#define KVSPACE_BACKEND_H

#include <kvspace/kvspace.h>

#include <stdbool.h>
#include <stddef.h>

enum { BACKEND_PATH_MAX = 4096 };

/* How an anonymous space ended, in its header's tree_words. Written at kvspace_close; who is killed writes nothing. */
enum { ANONYMOUS_END_WORD = 0 };
enum anonymous_end {
    ANONYMOUS_END_NONE = 0, /* who made it is at work, or was killed */
    ANONYMOUS_END_OVER,     /* it ended well: the last one out removes the file */
    ANONYMOUS_END_KEPT      /* it was asked to stay */
};

/* What a DSN means. */
struct backend_target {
    const char *backend;         /* "shm"; static */
    char path[BACKEND_PATH_MAX]; /* of the file */
    bool is_anonymous;           /* in the directory of anonymous spaces */
    bool is_new_anonymous;       /* no name was given: a new one */
};

struct kvspace_backend {
    const char *scheme; /* before the colon */
    const char *name;
    /* Resolves what stands behind the colon. NULL: not in this build. */
    int (*resolve)(const char *rest, struct backend_target *out, struct kvspace_problem *problem);
};

/* NULL or "" is a new anonymous space, a text without a scheme a path. EDSN, EIO (no directory for anonymous spaces), ELIMIT. */
int backend_resolve(const char *dsn, struct backend_target *out, struct kvspace_problem *problem);

/* The file of the anonymous space of that name. */
int backend_anonymous_path(const char *name, char *out, size_t capacity);

#endif
