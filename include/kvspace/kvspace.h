/* kvspace: one tree of keys and typed values, in memory that processes share.
 *
 *     kvspace *space;
 *     int rc = kvspace_open("shm:/run/user/1000/demo", &space);      (NULL: an anonymous space, removed at the end)
 *     if (!rc) rc = kvspace_set_i64(space, "/bank/ann", 100);
 *     int64_t sum;
 *     if (!rc) rc = kvspace_get_i64(space, "/bank/ann", &sum);
 *     if (rc) fprintf(stderr, "%s\n", kvspace_message(space));
 *     kvspace_close(space);
 *
 * Keys are UTF-8 text ended by a zero byte: `/name` steps into structure, `·name` (U+00B7) into a member, `/‥name` (U+2025) to a
 * system variable. A step has at most 255 bytes, a key at most 4096. `/` is the root. A key may hold a value, children
 * and members, any mix of them. Values are written and read whole.
 *
 * Functions give 0 or a code of error.def, out-parameters are set only on 0 unless said otherwise. The message of the last error of
 * a handle is in kvspace_message. Every function that takes a key may give EKEY (not well-formed); every function that reads the
 * space EDAMAGED; every function that writes EFULL (limit), ENOSPC (disk), EREADONLY (handle or value), and then nothing has
 * happened. These are not repeated below. No function prints, aborts or keeps global state.
 *
 * A handle is used by one thread at a time; open one for each thread (kvspace_open_again). After fork() the child must not
 * use the parent's handles, nor close them. Structs of options mean the default where they are zero; a NULL pointer to one too. */
#ifndef KVSPACE_KVSPACE_H
#define KVSPACE_KVSPACE_H

#include <stddef.h>
#include <stdint.h>

#ifndef KVSPACE_API
#if defined(__GNUC__)
#define KVSPACE_API __attribute__((visibility("default")))
#else
#define KVSPACE_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define KVSPACE_KEY_MAX 4096  /* bytes of a key, without the zero byte */
#define KVSPACE_STEP_MAX 255  /* bytes of a step's name */
#define KVSPACE_NDIM_MAX 8
#define KVSPACE_TYPE_MAX 4096 /* bytes of a type expression */

enum kvspace_error {
#define KVSPACE_ERROR(name, number, text) KVSPACE_##name = number,
#include <kvspace/error.def>
    KVSPACE_ERROR_LAST
};

/* The text of a code ("there is nothing at this key") and its name ("ENOENT"). Static; any number is allowed. */
KVSPACE_API const char *kvspace_strerror(int code);
KVSPACE_API const char *kvspace_error_name(int code);

typedef struct kvspace kvspace;

/* Takes bytes of a text or stream; gives 0, or anything else to stop (the call then gives ESTOPPED). */
typedef int kvspace_write_function(void *context, const char *bytes, size_t count);

/* Where a text went wrong. `position` is a byte in it; `message` is one sentence ended by a zero byte. */
struct kvspace_problem {
    size_t position;
    char message[248];
};

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

enum kvspace_create { KVSPACE_CREATE_IF_MISSING = 0, KVSPACE_CREATE_NEVER, KVSPACE_CREATE_NEW };
enum kvspace_access { KVSPACE_READ_WRITE = 0, KVSPACE_READ_ONLY };
enum kvspace_trust { KVSPACE_TRUST_OWN = 0, KVSPACE_TRUST_OTHERS };
enum kvspace_keep { KVSPACE_KEEP_DEFAULT = 0, KVSPACE_KEEP_ALWAYS, KVSPACE_KEEP_NEVER };

struct kvspace_open_options {
    uint64_t limit_bytes;        /* of a new space: the most it may grow to; 0: 64 GiB. ELIMIT names the least, some 6 MiB */
    enum kvspace_create create;  /* NEVER: ENOENT when missing. NEW: EEXIST when there */
    enum kvspace_access access;
    enum kvspace_trust trust;    /* OTHERS: spaces of other users may be opened */
    enum kvspace_keep keep;      /* at kvspace_close: see kvspace_keep */
    uint32_t owner;              /* stamped on values whose owner is 0: a vthread id */
    const char *label;           /* who this is, for /sys/participant: at most 31 bytes are kept. NULL: the program's name */
    struct kvspace_problem *problem; /* where the message of a failed open goes, since there is no handle then; may be NULL */
};

/* Opens the space that the data source name tells: `shm:PATH` or a bare path; `anon:NAME` a kept anonymous one; NULL or ""
 * a new anonymous one in the user's runtime directory. *space belongs to the caller until kvspace_close.
 * EDSN, ENOENT, EEXIST, EPERM, EUNTRUSTED, EFOREIGN, EVERSION, ETRUNCATED, EDAMAGED, EPARTIES, ELIMIT (the limit is too
 * small), ENOSPC, ENOMEM, EIO. Takes well under a millisecond, whatever the size. */
KVSPACE_API int kvspace_open(const char *dsn, kvspace **space);
KVSPACE_API int kvspace_open_with(const char *dsn, const struct kvspace_open_options *options, kvspace **space);

/* Another handle of the same space with the same options (but for keep: DEFAULT), for another thread. Errors as kvspace_open. */
KVSPACE_API int kvspace_open_again(const kvspace *space, kvspace **another);

/* Ends everything that the handle has open (read section, slots, watchers, cursors must not be used afterwards) and frees it.
 * NULL is allowed. The last handle on an anonymous space removes its file, unless it is kept. */
KVSPACE_API void kvspace_close(kvspace *space);

/* What kvspace_close does with an anonymous space. DEFAULT: the handle that made it gives it up, and the last handle that is closed,
 * anybody's, removes its file; other handles leave it as it is. NEVER gives it up and ALWAYS keeps it, whose ever the handle is.
 * A space whose maker was killed stays. Other spaces are always kept. */
KVSPACE_API void kvspace_keep(kvspace *space, enum kvspace_keep keep);

/* The message of the last call on this handle that failed: one sentence with the key and the sizes. Valid until the next call. */
KVSPACE_API const char *kvspace_message(const kvspace *space);

/* The DSN by which any process opens this space. Valid until kvspace_close. */
KVSPACE_API const char *kvspace_dsn(const kvspace *space);
KVSPACE_API const char *kvspace_file(const kvspace *space); /* its file; "" for a backend without one */
KVSPACE_API const char *kvspace_backend(const kvspace *space); /* "shm" */
KVSPACE_API uint32_t kvspace_owner(const kvspace *space);
KVSPACE_API void kvspace_set_owner(kvspace *space, uint32_t owner);

/* Removes a space's file. EBUSY: somebody has it open. ENOENT, EPERM, EUNTRUSTED, EFOREIGN, EDSN. */
KVSPACE_API int kvspace_remove(const char *dsn);

enum kvspace_anonymous_state { KVSPACE_ANONYMOUS_LIVE = 1, KVSPACE_ANONYMOUS_KEPT, KVSPACE_ANONYMOUS_CRASHED };

struct kvspace_anonymous {
    const char *dsn;  /* "anon:NAME" */
    const char *name;
    const char *path;
    enum kvspace_anonymous_state state; /* LIVE: somebody has it open. CRASHED: who made it was killed */
    uint64_t file_bytes;
    int64_t changed_s; /* seconds since 1970 */
};

/* Calls `visit` for each anonymous space of this user, newest last; one that was given up and is still there is removed instead. Its
 * strings are borrowed for the call.
 * ESTOPPED: `visit` gave something else than 0. EIO: the directory cannot be read. None is no error. */
KVSPACE_API int kvspace_anonymous_list(int (*visit)(void *context, const struct kvspace_anonymous *found), void *context);

/* ---- values ----------------------------------------------------------------------------------------------------- */

enum kvspace_ref {
    KVSPACE_INLINE = 0,
    KVSPACE_POINTER,  /* the body is the target key */
    KVSPACE_EXTERNAL  /* the body is a locator outside of the tree */
};

enum kvspace_store {
    KVSPACE_NONE = 0, /* no value */
    KVSPACE_ATOM,     /* one thing of body_bytes bytes: a scalar, a word of the tree with its record */
    KVSPACE_NDARRAY,  /* elements of one kind, row-major; strings too (one axis of units) */
    KVSPACE_INDEX,    /* a container: its members are the keys below with `·` */
    KVSPACE_EXTINDEX  /* an overlay: a container whose missing members are read from the base, whose key is the body */
};

/* In the order of the tables of the language; the numbers are part of the format. */
enum kvspace_kind {
    KVSPACE_KIND_NONE = 0,
    KVSPACE_BOOL, KVSPACE_INT8, KVSPACE_INT16, KVSPACE_INT32, KVSPACE_INT64,
    KVSPACE_UINT8, KVSPACE_UINT16, KVSPACE_UINT32, KVSPACE_UINT64,
    KVSPACE_FLOAT16, KVSPACE_BFLOAT16, KVSPACE_FLOAT8_E4M3, KVSPACE_FLOAT8_E5M2, KVSPACE_FLOAT32, KVSPACE_FLOAT64,
    KVSPACE_CHAR_UTF32, KVSPACE_CHAR_UTF8, KVSPACE_CHAR_ASCII, KVSPACE_TIME, KVSPACE_DURATION,
    KVSPACE_KIND_COUNT
};

/* Bytes of an element of a kind (0 for KIND_NONE and unknown ones), and its name ("float32"; "" for those). */
KVSPACE_API size_t kvspace_kind_bytes(unsigned kind);
KVSPACE_API const char *kvspace_kind_name(unsigned kind);

/* A value: a head, and a body of plain bytes in little-endian order.
 *
 * When it comes out of the library: `type`, `dims` and `body` are borrowed, for as long as the function says. The body of a scalar is
 * in `scalar` of this very struct (so a copy of the struct has its `body` in the original: use kvspace_value_clone). Bodies
 * of ndarrays of 64 bytes and more are aligned to 64.
 *
 * When it goes in: zero everything that does not apply. The type is told in one of two ways:
 *   - `kind` alone: a scalar (ndim 0) or an ndarray of that kind with `ndim` and `dims`. `store` may stay 0 then, and
 *     so may `body_bytes` (they follow from it). ndim 1 with dims NULL: one axis, its length is body_bytes / element size;
 *   - `type`, text of `type_bytes` bytes (0: it ends with a zero byte) with `kind` 0: a type expression (`float32`, `[2,3]float32`, `[]char/utf8`,
 *     `[]char/utf8·int64`, `/lib/Point`) or a word of the tree (`rwfunc`, `opcode`, `def rwir`). Scalar kinds and arrays of
 *     them are stored as in the first way; maps and structs are containers (store INDEX, body empty); words are atoms.
 * A pointer (ref POINTER) has the target's key as body and the type of what it points to, or none. */
struct kvspace_value {
    uint8_t ref;    /* enum kvspace_ref */
    uint8_t store;  /* enum kvspace_store */
    uint8_t kind;   /* enum kvspace_kind of the scalar or of the elements; KIND_NONE for all else */
    uint8_t ndim;   /* axes of an ndarray */
    uint8_t ro;     /* 1: kvspace_set and its kin refuse to change it (kvspace_del removes it) */
    uint8_t reserved[3];
    uint32_t owner; /* vthread id */
    uint32_t type_bytes;
    const char *type;     /* out: without the dims of an ndarray (`float32`), ended by a zero byte; kvspace_type_of has all of it */
    const uint64_t *dims; /* ndim lengths; NULL for ndim 0 */
    const void *body;
    uint64_t body_bytes;
    union {
        int64_t i64;
        uint64_t u64;
        double f64;
        float f32;
        uint8_t bytes[8];
    } scalar;          /* out: the body of a scalar, the bytes after it are zero */
    uint64_t version;  /* out: changes with each change of the key; for kvspace_watch. Ignored on the way in */
};

/* Ready-made heads for the way in. The text and body are borrowed, not copied. */
KVSPACE_API struct kvspace_value kvspace_value_i64(int64_t number);
KVSPACE_API struct kvspace_value kvspace_value_f64(double number);
KVSPACE_API struct kvspace_value kvspace_value_bool(int truth);
KVSPACE_API struct kvspace_value kvspace_value_scalar(enum kvspace_kind kind, const void *element);
KVSPACE_API struct kvspace_value kvspace_value_utf8(const char *text, size_t text_bytes);           /* []char/utf8 */
KVSPACE_API struct kvspace_value kvspace_value_array(enum kvspace_kind kind, unsigned ndim, const uint64_t *dims, const void *body);
KVSPACE_API struct kvspace_value kvspace_value_word(const char *type, const void *body, size_t body_bytes); /* any `type`, as atom */
KVSPACE_API struct kvspace_value kvspace_value_pointer(const char *target_key);

/* A copy that owns everything, made by one malloc; free it with kvspace_value_free. ENOMEM. */
KVSPACE_API int kvspace_value_clone(const struct kvspace_value *value, struct kvspace_value **copy);
KVSPACE_API void kvspace_value_free(struct kvspace_value *copy);

/* Whether two values have the same head (ref, store, type, dims) and body. Owner, ro and version do not count. */
KVSPACE_API int kvspace_value_equal(const struct kvspace_value *left, const struct kvspace_value *right);

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* Between these, everything that kvspace_get and kvspace_slot_get lend stays valid and unchanged, whatever writers do. Sections may
 * nest; the outermost end counts. A section holds back nothing but the memory that was borrowed in it. EUSAGE: an end
 * without a beginning. Outside of a section, what was lent is valid until the next call on the handle. */
KVSPACE_API int kvspace_read_begin(kvspace *space);
KVSPACE_API int kvspace_read_end(kvspace *space);

/* The value at `key`, without a copy (lifetime: see above). A pointer is given as it is, not followed.
 * ENOENT: no value there (children or members there may be); `out` is then zeroed, and out->version is good for kvspace_watch. */
KVSPACE_API int kvspace_get(kvspace *space, const char *key, struct kvspace_value *out);

/* The same as a copy of the caller's own (kvspace_value_free). ENOENT, ENOMEM. */
KVSPACE_API int kvspace_get_copy(kvspace *space, const char *key, struct kvspace_value **copy);

/* Follows pointers, and values of type `name`-less text never; at most 32 hops. `key_out` (may be NULL) has room for KVSPACE_KEY_MAX + 1
 * bytes and gets the key of the last one. ENOENT; ELIMIT: a longer chain, or a ring. */
KVSPACE_API int kvspace_get_followed(kvspace *space, const char *key, struct kvspace_value *out, char *key_out);

/* 0 if the key has a value, children or members (or a provider shows it); ENOENT if not. */
KVSPACE_API int kvspace_exists(kvspace *space, const char *key);

/* How many children, members and system variables are directly below. Zero is no error; ENOENT: the key does not exist. */
struct kvspace_counts {
    uint64_t children, members, system;
    uint8_t has_value;
};
KVSPACE_API int kvspace_count(kvspace *space, const char *key, struct kvspace_counts *counts);

/* Scalars by value. ETYPE: there is a value of another kind (get_i64 takes every integer kind that fits, get_f64 every number,
 * get_bool only bool). ENOENT. */
KVSPACE_API int kvspace_get_i64(kvspace *space, const char *key, int64_t *number);
KVSPACE_API int kvspace_get_u64(kvspace *space, const char *key, uint64_t *number);
KVSPACE_API int kvspace_get_f64(kvspace *space, const char *key, double *number);
KVSPACE_API int kvspace_get_bool(kvspace *space, const char *key, int *truth);

/* A string of any encoding, a word's body or a pointer's target as UTF-8. Writes at most `capacity` bytes with a zero byte at the end; *bytes (may be
 * NULL) gets the length without it, also when ELIMIT says that `capacity` is too small. ETYPE: not text. ENOENT. */
KVSPACE_API int kvspace_get_text(kvspace *space, const char *key, char *out, size_t capacity, size_t *bytes);

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Sets the value at `key`; parents come into being. Children stay; members stay if the new value is a container, and go if it is
 * not but the old one was. A NULL or None value removes the value (and a container's members) and leaves children.
 * ETYPE, EVALUE (body and type contradict each other), EREADONLY, ELIMIT. */
KVSPACE_API int kvspace_set(kvspace *space, const char *key, const struct kvspace_value *value);
KVSPACE_API int kvspace_set_i64(kvspace *space, const char *key, int64_t number);
KVSPACE_API int kvspace_set_u64(kvspace *space, const char *key, uint64_t number);
KVSPACE_API int kvspace_set_f64(kvspace *space, const char *key, double number);
KVSPACE_API int kvspace_set_bool(kvspace *space, const char *key, int truth);
KVSPACE_API int kvspace_set_text(kvspace *space, const char *key, const char *text);  /* []char/utf8, up to its zero byte */
KVSPACE_API int kvspace_set_string(kvspace *space, const char *key, const char *utf8, size_t bytes); /* []char/utf32, as the language's strings; EVALUE: not UTF-8 */
KVSPACE_API int kvspace_set_word(kvspace *space, const char *key, const char *type, const void *body, size_t body_bytes);
KVSPACE_API int kvspace_set_pointer(kvspace *space, const char *key, const char *target_key);

/* Another body for the value that is there; head, dims and owner stay. ENOENT; EVALUE: another size. */
KVSPACE_API int kvspace_set_body(kvspace *space, const char *key, const void *body, uint64_t body_bytes);

/* A zero-copy write: begin allocates a body for `head` (its `body` is ignored, its body_bytes or dims count), the caller fills
 * write->body, publish makes it the value of the key in one step. Until then nobody sees it. Several may be open, on
 * one handle at most 64 (ELIMIT). After publish (whatever it gives) or cancel the write is over. */
struct kvspace_write {
    void *body;
    uint64_t body_bytes;
    kvspace *space;      /* from here on the library's */
    uint64_t place[4];
    char *key;
};
KVSPACE_API int kvspace_write_begin(kvspace *space, const char *key, const struct kvspace_value *head, struct kvspace_write *write);
KVSPACE_API int kvspace_write_publish(struct kvspace_write *write);
KVSPACE_API void kvspace_write_cancel(struct kvspace_write *write);

/* Deletes the key with everything below: value, children, members, system variables. Needs no memory. ENOENT: nothing there. */
KVSPACE_API int kvspace_del(kvspace *space, const char *key);

/* The same, but absence is no error and *deleted (may be NULL) gets how many values went. `/` empties the space (but for /sys). */
KVSPACE_API int kvspace_del_tree(kvspace *space, const char *key, uint64_t *deleted);

/* Copies a value (with the members if it is a container) or the whole subtree; what is at `to` is replaced: its value
 * and members by cp, everything by cp_tree. The new one appears in one step. ENOENT: no value (cp), nothing (cp_tree) at `from`.
 * EUSAGE: one of the keys lies below the other. */
KVSPACE_API int kvspace_cp(kvspace *space, const char *from, const char *to);
KVSPACE_API int kvspace_cp_tree(kvspace *space, const char *from, const char *to);

/* Moves the subtree at `from` to `to` in one step: readers of `to` see the old one or the new one, whole. What was at `to` moves
 * to `old` (replacing what is there), or is deleted if `old` is NULL. ENOENT: nothing at `from`. EUSAGE: one of the keys lies below another,
 * or is the root. */
KVSPACE_API int kvspace_replace(kvspace *space, const char *from, const char *to, const char *old);

/* Sets `wanted` (NULL: None) if the value equals `expected` (NULL: None). EMISMATCH: it does not. Neither may be a container. */
KVSPACE_API int kvspace_cas(kvspace *space, const char *key, const struct kvspace_value *expected, const struct kvspace_value *wanted);

/* Adds to an integer, wrapping at its kind; an absent one counts as the int64 0. *sum (may be NULL) gets the new number.
 * ETYPE: not an integer. */
KVSPACE_API int kvspace_incr(kvspace *space, const char *key, int64_t delta, int64_t *sum);

/* ---- listing ---------------------------------------------------------------------------------------------------- */

enum kvspace_list { KVSPACE_LIST_CHILDREN = 0, KVSPACE_LIST_MEMBERS, KVSPACE_LIST_SYSTEM, KVSPACE_LIST_ALL };
enum kvspace_step { KVSPACE_STEP_CHILD = 1, KVSPACE_STEP_MEMBER, KVSPACE_STEP_SYSTEM };

struct kvspace_list_options {
    enum kvspace_list what; /* ALL: children and system variables as they were inserted, then members */
    const char *after;      /* begin behind the entry of this text (see kvspace_entry); NULL: at the first. ENOENT if it is not there */
};

/* Borrowed until the next call with this cursor. */
struct kvspace_entry {
    const char *text;  /* what to append to the listed key: "/add", "·x", "/‥pc"; ended by a zero byte */
    const char *name;  /* inside text, without `/` or `·` but with `‥` */
    uint32_t text_bytes, name_bytes;
    enum kvspace_step step;
    uint8_t has_value, has_children, has_members;
};

typedef struct kvspace_cursor kvspace_cursor;

/* Direct entries below a key in order of insertion. The cursor goes on correctly while others insert and delete: what is there all the
 * time is shown exactly once; what comes or goes in between may be shown or not. ENOENT: the key does not exist. ENOMEM.
 * kvspace_list_next gives EEND after the last one. The cursor is the caller's, until kvspace_list_close (NULL is allowed). */
KVSPACE_API int kvspace_list_open(kvspace *space, const char *key, const struct kvspace_list_options *options, kvspace_cursor **cursor);
KVSPACE_API int kvspace_list_next(kvspace_cursor *cursor, struct kvspace_entry *entry);
KVSPACE_API void kvspace_list_close(kvspace_cursor *cursor);

/* ---- containers ------------------------------------------------------------------------------------------------- */

/* An empty container of the type (`[]char/utf8·any`, `[int64]·T`, `/lib/Point`) in place of the value and members that are there. ETYPE. */
KVSPACE_API int kvspace_mkindex(kvspace *space, const char *key, const char *type);

/* An overlay: reads of missing members (and below them) of `key` fall through to `base`, writes stay above, deleting a member hides the
 * base's. Its type is the base's. ENOENT: no container at `base`. EUSAGE: `base` is or lies below `key`; ELIMIT: 8 overlays on each other. */
KVSPACE_API int kvspace_extindex(kvspace *space, const char *key, const char *base);

/* Ends an overlay: what was written above goes, the base stays; the key has no value afterwards. ENOENT, ETYPE (not an overlay). */
KVSPACE_API int kvspace_rmindexext(kvspace *space, const char *key);

/* ---- watching --------------------------------------------------------------------------------------------------- */

enum kvspace_watch_for { KVSPACE_WATCH_CHANGE = 0, KVSPACE_WATCH_DELETE, KVSPACE_WATCH_EQUAL };

struct kvspace_watch_options {
    enum kvspace_watch_for event;
    const struct kvspace_value *equal; /* EQUAL: what it waits for; NULL: until there is no value */
    const uint64_t *seen;              /* CHANGE: version of the value last read; a later change returns at once. NULL: as it is now */
    int64_t timeout_ms;                /* 0: for ever; below 0: do not wait (ETIMEOUT if nothing has happened) */
};

/* Waits. A change is one of the value, or of the list of direct children and members. `out` (may be NULL) gets the value as by kvspace_get,
 * None if there is none. Also for keys that do not exist yet, and keys that a provider shows. ETIMEOUT. */
KVSPACE_API int kvspace_watch(kvspace *space, const char *key, const struct kvspace_watch_options *options, struct kvspace_value *out);

/* Wakes the watchers of a key as if it had changed. ENOENT: the key does not exist. */
KVSPACE_API int kvspace_notify(kvspace *space, const char *key);

/* The same for event loops: `kvspace_watcher_descriptor` becomes readable when it has happened. Then kvspace_watcher_take gives the value and
 * watches on from there (CHANGE); timeout_ms of the options does not count. ETIMEOUT from take: nothing has happened.
 * The watcher belongs to the caller until kvspace_watcher_close, which must come before kvspace_close. ENOMEM, EIO. */
typedef struct kvspace_watcher kvspace_watcher;
KVSPACE_API int kvspace_watcher_open(kvspace *space, const char *key, const struct kvspace_watch_options *options, kvspace_watcher **watcher);
KVSPACE_API int kvspace_watcher_descriptor(const kvspace_watcher *watcher);
KVSPACE_API int kvspace_watcher_take(kvspace_watcher *watcher, struct kvspace_value *out);
KVSPACE_API void kvspace_watcher_close(kvspace_watcher *watcher);

/* ---- slots ------------------------------------------------------------------------------------------------------ */

/* A key that is found once and then read and written without walking. Plain data: copy and forget it as you like. Valid until the key is
 * deleted (EGONE from then on, also when another comes to the same key) or the handle is closed. */
struct kvspace_slot {
    kvspace *space;
    void *node;
    uint64_t birth;
};

enum kvspace_slot_mode { KVSPACE_SLOT_EXISTING = 0, KVSPACE_SLOT_CREATE };

/* CREATE: makes the key, without a value, if it is missing. ENOENT; EUNSUPPORTED: a provider shows this key. */
KVSPACE_API int kvspace_slot_open(kvspace *space, const char *key, enum kvspace_slot_mode mode, struct kvspace_slot *slot);
KVSPACE_API void kvspace_slot_close(struct kvspace_slot *slot);

/* As kvspace_get, set and incr. EGONE. */
KVSPACE_API int kvspace_slot_get(const struct kvspace_slot *slot, struct kvspace_value *out);
KVSPACE_API int kvspace_slot_set(const struct kvspace_slot *slot, const struct kvspace_value *value);
KVSPACE_API int kvspace_slot_incr(const struct kvspace_slot *slot, int64_t delta, int64_t *sum);

/* The short way for scalars of exactly this kind: some nanoseconds. ETYPE: it holds something else (a set replaces anything). ENOENT, EGONE. */
KVSPACE_API int kvspace_slot_get_i64(const struct kvspace_slot *slot, int64_t *number);
KVSPACE_API int kvspace_slot_get_f64(const struct kvspace_slot *slot, double *number);
KVSPACE_API int kvspace_slot_set_i64(const struct kvspace_slot *slot, int64_t number);
KVSPACE_API int kvspace_slot_set_f64(const struct kvspace_slot *slot, double number);

/* ---- literals, printing, JSON ----------------------------------------------------------------------------------- */

/* Sets the value that the text of a literal denotes, containers with all of their members: `42`, `int8(3)`, `[1,2,3]`, `"text"`, `{a=1}`,
 * `Point{x=1.0}`, `/n1·next` (a pointer), `None`; and a word of the tree written `name(text)`, `opcode(add)`, `param(x:int64)`, `rwfunc(2,1,0,7)`.
 * ESYNTAX, ETYPE, EVALUE, ELIMIT; `problem` (may be NULL) says where. */
KVSPACE_API int kvspace_set_literal(kvspace *space, const char *key, const char *text, size_t text_bytes, struct kvspace_problem *problem);

/* Parses a literal that is no container into a value of the caller's own (kvspace_value_free). Errors as above; EUNSUPPORTED: a container. */
KVSPACE_API int kvspace_parse_literal(const char *text, size_t text_bytes, struct kvspace_value **value, struct kvspace_problem *problem);

enum kvspace_print_style {
    KVSPACE_PRINT_PLAIN = 0, /* as the language prints: a string bare, 1.0, {a=1} */
    KVSPACE_PRINT_QUOTED,    /* the same with a string in quotes */
    KVSPACE_PRINT_LITERAL,   /* with kinds where needed, so that kvspace_set_literal reads back the same type and body */
    KVSPACE_PRINT_JSON       /* numbers, strings, arrays, objects; a time or duration as text, a pointer as its key */
};

struct kvspace_print_options {
    enum kvspace_print_style style;
    uint64_t items_max; /* elements of an axis or members that are shown before `…`; 0: all. JSON: not used */
    uint32_t depth_max; /* containers deeper than this are shown as `…`; 0: 64 */
};

/* Prints the value at a key, a container with its members. ENOENT, ESTOPPED (from `write`), ELIMIT. */
KVSPACE_API int kvspace_print(kvspace *space, const char *key, const struct kvspace_print_options *options, kvspace_write_function *write, void *context);

/* Prints a value; of a container only what its head says (`{…}`). */
KVSPACE_API int kvspace_print_value(const struct kvspace_value *value, const struct kvspace_print_options *options, kvspace_write_function *write, void *context);

/* The same into a buffer of `capacity` bytes, cut there and ended by a zero byte; *bytes (may be NULL) gets the length without the cut. */
KVSPACE_API int kvspace_print_text(kvspace *space, const char *key, const struct kvspace_print_options *options, char *out, size_t capacity, size_t *bytes);

/* ---- types and heads -------------------------------------------------------------------------------------------- */

/* The full type of a value as people see it, `[256,256]float32`, `[]char/utf8·int64`, `*int64`; a string is `[]char/utf32`; None is `None`. Gives the
 * length; writes at most `capacity` bytes with a zero byte at the end. */
KVSPACE_API size_t kvspace_type_of(const struct kvspace_value *value, char *out, size_t capacity);

/* Parses a type expression and writes its canonical text (out NULL and capacity 0: only checks). ETYPE with `problem` (may be NULL); ELIMIT: `capacity`. */
KVSPACE_API int kvspace_type_canonical(const char *text, size_t text_bytes, char *out, size_t capacity, struct kvspace_problem *problem);

/* Whether the pattern takes values of the actual type (also text): *matches is 0 or 1. ETYPE: one of them does not parse. ENOMEM. */
KVSPACE_API int kvspace_type_match(const char *pattern, const char *actual, int *matches);
KVSPACE_API int kvspace_value_match(const char *pattern, const struct kvspace_value *value, int *matches);

/* A value as bytes: the exchange form (little-endian; docs/tree.md), for streams and other stores. encode writes the head and gives its size in *bytes (ELIMIT: the
 * capacity is too small; *bytes is set then too); the body follows it directly in an exchange. decode checks everything and borrows from `bytes`;
 * value->body is set when the body follows completely, else NULL. EDAMAGED: not a head. EVALUE: its parts contradict each other. */
KVSPACE_API int kvspace_head_encode(const struct kvspace_value *value, void *out, size_t capacity, size_t *bytes);
struct kvspace_decoded {
    struct kvspace_value value;
    uint64_t dims[KVSPACE_NDIM_MAX];
    size_t head_bytes;
};
KVSPACE_API int kvspace_head_decode(const void *bytes, size_t count, struct kvspace_decoded *decoded);

/* ---- keys ------------------------------------------------------------------------------------------------------- */

/* Checks a key. EKEY with `problem` (may be NULL). */
KVSPACE_API int kvspace_key_check(const char *key, struct kvspace_problem *problem);

/* The length of the parent's key (1 for `/x`, 0 for the root itself): where the last step begins. */
KVSPACE_API size_t kvspace_key_parent(const char *key);

/* key + "·" + name, or key + "/" + name, into room for KVSPACE_KEY_MAX + 1 bytes. EKEY, ELIMIT. */
KVSPACE_API int kvspace_key_join(const char *key, enum kvspace_step step, const char *name, char *out);

/* The literal key of a text typed in ASCII: `..name` is `‥name`, and `.` in a step of a member is `·`. `out` as above. EKEY, ELIMIT. */
KVSPACE_API int kvspace_key_from_ascii(const char *text, char *out);

/* ---- providers -------------------------------------------------------------------------------------------------- */

/* A provider presents keys that are computed from a record instead of being stored: below each key whose value has the type
 * `provider/NAME` (made with kvspace_set_word, the body is the record) its functions are asked. Stored children come before computed ones.
 * It is registered on a handle; where it is not, such keys give EPROVIDER. `/sys` is one of the library's own.
 *
 * `record` is the body of that value, borrowed for the call. `rest` is the key behind the provider's own: "" for itself, "/a·b", ended by a zero byte.
 * Functions give codes as the calls they answer, ENOENT where there is nothing. A NULL function: EREADONLY for set and del, nothing for the others. They
 * must not write to the space through this handle except in `set` and `del`, where they may. */
struct kvspace_provider_call {
    kvspace *space;
    void *context;
    const char *key;  /* of the provider's node, ended by a zero byte */
    const void *record;
    uint64_t record_bytes;
    const char *rest;
};

/* Where `list` puts entries; text as in kvspace_entry. Gives 0, or what `list` must return at once. */
struct kvspace_provider_listing;
KVSPACE_API int kvspace_provider_entry(struct kvspace_provider_listing *listing, const char *text, uint8_t has_value, uint8_t has_children, uint8_t has_members);

/* Memory for what `get` gives: lives as long as the value that is lent. NULL: out of memory. */
KVSPACE_API void *kvspace_provider_memory(kvspace *space, size_t bytes);

struct kvspace_provider {
    const char *name;
    int (*get)(const struct kvspace_provider_call *call, struct kvspace_value *out);
    int (*set)(const struct kvspace_provider_call *call, const struct kvspace_value *value); /* value NULL or None: unset */
    int (*del)(const struct kvspace_provider_call *call);
    int (*list)(const struct kvspace_provider_call *call, struct kvspace_provider_listing *listing);
    /* A number that changes with the key, for kvspace_watch, which asks again each time the provider's own key is notified. NULL: hash of the value. */
    int (*version)(const struct kvspace_provider_call *call, uint64_t *version);
    void *context;
};

/* `provider` and its name must live until kvspace_close. EEXIST: the name is taken on this handle. ELIMIT: more than 16. */
KVSPACE_API int kvspace_provider_register(kvspace *space, const struct kvspace_provider *provider);

/* ---- looking after a space -------------------------------------------------------------------------------------- */

/* Figures, without a walk of the tree; exact when nobody else is at work. Nodes and blocks count what is retired and not yet free again. */
struct kvspace_stats {
    uint64_t format_version, generation, limit_bytes, file_bytes, used_bytes, free_bytes, page_bytes;
    uint64_t nodes;
    uint64_t blocks, block_bytes; /* values, names and tables up to 32 KiB */
    uint64_t big_bytes;           /* in larger ones */
    uint64_t retired;             /* blocks that somebody may still be reading */
    uint64_t participants, participants_dead, recoveries, epoch;
    uint8_t was_clean; /* the last user before this generation had closed it */
};
KVSPACE_API int kvspace_get_stats(kvspace *space, struct kvspace_stats *stats);

/* What kvspace_check found: one sentence a fault, ended by a zero byte, borrowed for the call. */
typedef void kvspace_report_function(void *context, const char *fault);

struct kvspace_check_options {
    kvspace_report_function *report; /* may be NULL */
    void *context;
    uint64_t faults_max; /* stop after so many; 0: 1000 */
};

/* Verifies every reference, table, count, free list and step. Others may go on working: it takes their locks where it must, and what is in motion is no fault.
 * EDAMAGED: there are faults. *faults (may be NULL) gets how many. */
KVSPACE_API int kvspace_check(kvspace *space, const struct kvspace_check_options *options);

/* The same, and mends: drops what nothing reaches, rebuilds free lists, unlinks what is damaged and says so. Wants the space for itself: EBUSY if another has it open.
 * 0: whole afterwards. */
KVSPACE_API int kvspace_repair(kvspace *space, const struct kvspace_check_options *options);

/* Writes everything to the file system's medium (msync); close does it too for spaces that are kept. EIO. */
KVSPACE_API int kvspace_sync(kvspace *space);

enum kvspace_format { KVSPACE_FORMAT_JSON = 0, KVSPACE_FORMAT_STREAM };

struct kvspace_export_options {
    enum kvspace_format format;
    uint32_t indent;    /* JSON: blanks a level; 0: one key a line */
};

/* Writes the subtree at `key` (stored and provided keys; not /sys). JSON is an array of objects, one a key, in order: {"key","type","value", …}, and reads back
 * to the same types and bodies. STREAM is compact binary. ENOENT, ESTOPPED. */
KVSPACE_API int kvspace_export(kvspace *space, const char *key, const struct kvspace_export_options *options, kvspace_write_function *write, void *context);

/* Reads up to `capacity` bytes into `out`, their number into *count (0: the end). Gives 0, or anything else to stop. */
typedef int kvspace_read_function(void *context, char *out, size_t capacity, size_t *count);

/* Puts an export (either format, found out from its first bytes) below `key`; keys that are there get the new values, others stay. ESYNTAX with
 * `problem` (may be NULL): what came before it has been imported. ESTOPPED: from `read`. ENOMEM. */
KVSPACE_API int kvspace_import(kvspace *space, const char *key, kvspace_read_function *read, void *context, struct kvspace_problem *problem);

/* The library's version, "0.1.0", and the version of the space's format that it writes. */
KVSPACE_API const char *kvspace_version_text(void);
KVSPACE_API uint32_t kvspace_format_version(void);

#ifdef __cplusplus
}
#endif

#endif
