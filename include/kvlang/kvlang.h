/* kvlang: run programs of the language on a space, from C or C++.
 *
 *     kvlang *lang;
 *     int rc = kvlang_open(NULL, &lang);                                    (a new anonymous space)
 *     if (!rc) rc = kvlang_lay_out(lang, "sum.kv", "rwfunc sum(a:int64, b:int64) -> (c:int64) { a + b -> c }", 0, NULL, NULL);
 *     struct kvspace_value arguments[2] = {kvspace_value_i64(40), kvspace_value_i64(2)};
 *     uint64_t vid;
 *     if (!rc) rc = kvlang_start(lang, "sum", arguments, 2, &vid);
 *     enum kvlang_status status;
 *     if (!rc) rc = kvlang_run(lang, vid, 0, &status);
 *     int64_t sum;
 *     if (!rc && status == KVLANG_DONE) rc = kvlang_result_i64(lang, vid, "c", &sum);
 *     if (rc) fprintf(stderr, "%s\n", kvlang_message(lang));
 *     kvlang_close(lang);
 *
 * A program is laid out into the tree and runs there: its functions at /lib, its frames and variables at /vthread/<vid>. Everything
 * that kvspace.h can do with keys works on them. A vthread whose process dies goes on in another one: kvlang_run on
 * its number is all that it takes.
 *
 * Functions give 0 or a code of enum kvlang_error; out-parameters are set only on 0. The message of the last error of a handle
 * is in kvlang_message. Any function may give KVLANG_ENOMEM and KVLANG_ESPACE (the tree could not be used). No function prints, aborts
 * or keeps global state: what programs print is printed by the opcodes of the standard runtime, which `bare` leaves out.
 *
 * A handle is used by one thread at a time, but for kvlang_interrupt; open one for each thread, on the same space. After
 * fork() the child must not use the parent's handles. Structs of options mean the default where they are zero. */
#ifndef KVLANG_KVLANG_H
#define KVLANG_KVLANG_H

#include <kvlang/ext.h>
#include <kvspace/kvspace.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kvlang_error {
    KVLANG_OK = 0,
    KVLANG_ESPACE,    /* the space cannot be opened or used */
    KVLANG_ENOMEM,
    KVLANG_ESOURCE,   /* the source has errors: the sink got them */
    KVLANG_ENAME,     /* there is no such function, vthread, result or opcode */
    KVLANG_ETYPE,     /* an argument does not fit its parameter, or there are too many or too few */
    KVLANG_ECONFLICT, /* another runtime has registered the opcode with another signature */
    KVLANG_EBUSY,     /* a live runtime is running the vthread */
    KVLANG_EUSAGE,    /* the call makes no sense as it stands: see its comment */
    KVLANG_ERROR_LAST
};

/* The text of a code ("the source has errors"). Static; any number is allowed. */
KVLANG_API const char *kvlang_strerror(int code);

typedef struct kvlang kvlang;

struct kvlang_options {
    const char *dsn;      /* as kvspace_open_with; NULL: a new anonymous space */
    const struct kvspace_open_options *space_options; /* for opening dsn; may be NULL */
    kvspace *space;       /* an open handle to use instead of dsn; it stays the caller's and must outlive the runtime. NULL: none */
    const char *name;     /* of this runtime, for `kvlang caps` and messages; NULL: "kvlang" */
    uint32_t depth_limit; /* frames of a vthread before RecursionError; 0: 1,000,000 */
    uint8_t bare;         /* 1: without the standard runtime's opcodes (print, input, …); the core's natives are always there */
    const char *deny;     /* families of the standard runtime to switch off, with commas: "fs,proc,http"; their opcodes then raise a
                           * RuntimeError that says so. NULL: none. EUSAGE: there is no such family */
    char *problem;        /* room for 256 bytes: the message when opening fails, since there is no handle then. NULL: none */
};

/* Opens a runtime. *lang belongs to the caller until kvlang_close. ESPACE: problem says why. ECONFLICT. */
KVLANG_API int kvlang_open(const struct kvlang_options *options, kvlang **lang);

/* Ends the runtime; vthreads that are not done stay in the tree as they are. The space is closed if kvlang_open opened it.
 * NULL is allowed. */
KVLANG_API void kvlang_close(kvlang *lang);

/* The handle of the space, for reading and writing the tree between calls. The runtime's own. */
KVLANG_API kvspace *kvlang_space(kvlang *lang);

/* One sentence about the last call on this handle that failed. Valid until the next call. */
KVLANG_API const char *kvlang_message(const kvlang *lang);

/* ---- extending -------------------------------------------------------------------------------------------------- */

/* Adds a table of opcodes (ext.h) that this runtime executes itself, and registers their signatures at /lib/<opcode>.
 * `owner` names the table, ASCII without blanks. Table, texts and host must outlive the runtime; `host` comes back from
 * kvlang_call_host. Before laying out programs that use them. ECONFLICT names both signatures. ETYPE: a signature does not parse. */
KVLANG_API int kvlang_add_caps(kvlang *lang, const char *owner, const struct kvlang_cap *caps, size_t count, void *host);

/* Visits every opcode that this runtime executes: natives, the standard runtime's and added ones, in the order of their names within
 * each table. The texts are borrowed. EUSAGE: `visit` gave something else than 0. */
struct kvlang_opcode {
    const char *name, *signature, *doc, *example, *prints; /* example and prints may be NULL */
    const char *owner;                                     /* "core", "std", or as given to kvlang_add_caps */
};
KVLANG_API int kvlang_opcodes(kvlang *lang, int (*visit)(void *context, const struct kvlang_opcode *opcode), void *context);

/* ---- laying out ------------------------------------------------------------------------------------------------- */

/* Takes diagnostics in pieces, as text for people; gives 0, or a negative number to stop. */
typedef int kvlang_sink(void *context, const char *bytes, size_t count);

/* Compiles a text and lays it out at /lib: its functions, structs and declarations, each in one step. `name` is the file's name in
 * diagnostics. `bytes` 0: up to the zero byte. What has not changed is left alone. ESOURCE: nothing was laid out.
 * Warnings go to the sink (may be NULL) as well. */
KVLANG_API int kvlang_lay_out(kvlang *lang, const char *name, const char *text, size_t bytes, kvlang_sink *sink, void *context);

/* The path of the function by which the text laid out last begins: `wanted` (NULL: init if it has bare instructions, else main, else
 * test), after the inits of its libs. Valid until the next call. ENAME: there is none; the message lists the functions there are. */
KVLANG_API int kvlang_entry(kvlang *lang, const char *wanted, const char **path);

/* ---- running ---------------------------------------------------------------------------------------------------- */

enum kvlang_status { KVLANG_INIT = 0, KVLANG_RUNNING, KVLANG_WAIT, KVLANG_PAUSED, KVLANG_DONE, KVLANG_FAILED };

/* Makes a vthread for a function (`f`, `pkg·f` or a path), with its arguments, which are copied; it does not run yet. Texts are given as
 * []char/utf8 (kvspace_value_utf8), containers as pointers to keys that hold them. *vid is its number: it stands at
 * /vthread/<vid>. ENAME, ETYPE. */
KVLANG_API int kvlang_start(kvlang *lang, const char *function, const struct kvspace_value *arguments, size_t count, uint64_t *vid);

/* The same with arguments as texts, as from a command line: parameters that are no texts take literals (`42`, `[1,2]`). ENAME, ETYPE. */
KVLANG_API int kvlang_start_texts(kvlang *lang, const char *function, const char *const *arguments, size_t count, uint64_t *vid);

/* Runs a vthread: to its end, or until it pauses, or for a number of steps (0: no limit), here, on the calling thread. Also one that another
 * process has left in the middle. *status (may be NULL) tells how it stands then. That the program fails is no error of this call.
 * ENAME: there is no such vthread. EBUSY. */
KVLANG_API int kvlang_run(kvlang *lang, uint64_t vid, uint64_t steps, enum kvlang_status *status);

/* Runs the vthreads that were spawned on this handle and have not ended. */
KVLANG_API int kvlang_run_spawned(kvlang *lang);

/* Runs whatever is ready in the space, on the calling thread: what was spawned anywhere, and what a dead process has left. Beside other
 * servers of the same space. Ends when *stop (may be NULL: never) is not 0, at the latest a second later; `once`: when nothing is ready. */
KVLANG_API int kvlang_serve(kvlang *lang, const volatile int *stop, int once);

/* How a vthread stands. ENAME. */
KVLANG_API int kvlang_status_of(kvlang *lang, uint64_t vid, enum kvlang_status *status);

/* The status as the tree shows it ("done"). Static; any number is allowed. */
KVLANG_API const char *kvlang_status_name(enum kvlang_status status);

/* Asks a vthread to pause, or to end with an error, at its next step, wherever it runs. Neither waits for it. ENAME. */
KVLANG_API int kvlang_pause(kvlang *lang, uint64_t vid);
KVLANG_API int kvlang_cancel(kvlang *lang, uint64_t vid);

/* Pauses the vthread that this handle is running; kvlang_run then returns. The one function that any thread and any signal handler may
 * call while another runs. Nothing happens when none is running. */
KVLANG_API void kvlang_interrupt(kvlang *lang);

/* Called on the running thread when a vthread fails that the caller did not ask to run (a spawned one). */
KVLANG_API void kvlang_on_failure(kvlang *lang, void (*failed)(void *context, kvlang *lang, uint64_t vid), void *context);

/* ---- what came of it -------------------------------------------------------------------------------------------- */

/* The value of a write parameter or variable of the vthread's first frame, as kvspace_get gives it (valid until the next call). ENAME. */
KVLANG_API int kvlang_result(kvlang *lang, uint64_t vid, const char *name, struct kvspace_value *value);
KVLANG_API int kvlang_result_i64(kvlang *lang, uint64_t vid, const char *name, int64_t *number); /* ETYPE */
KVLANG_API int kvlang_result_f64(kvlang *lang, uint64_t vid, const char *name, double *number);  /* ETYPE */
/* As UTF-8 with a zero byte, malloc'd; the caller frees it. ETYPE. */
KVLANG_API int kvlang_result_text(kvlang *lang, uint64_t vid, const char *name, char **text);

/* The error that a vthread ended with. Texts are valid until the next call. ENAME. EUSAGE: it has not failed. */
struct kvlang_failure {
    const char *kind;    /* "IndexError" */
    const char *message;
    const char *place;   /* "file:line:column" */
    const char *file;
    const char *chain;   /* a line for each call, innermost last: "  at main (file:3)\n…" */
    uint32_t line, column; /* from 1; 0: not known */
};
KVLANG_API int kvlang_failure_of(kvlang *lang, uint64_t vid, struct kvlang_failure *failure);

/* The diagnostic of a failure as people see it, with the line of the source where the tree has it, and the chain of calls. malloc'd; the
 * caller frees it. ENAME, EUSAGE. */
KVLANG_API int kvlang_failure_text(kvlang *lang, uint64_t vid, char **text);

/* Removes a vthread that does not run, with its results. ENAME, EBUSY. */
KVLANG_API int kvlang_remove(kvlang *lang, uint64_t vid);

/* The library's version, "0.1.0". */
KVLANG_API const char *kvlang_version_text(void);

#ifdef __cplusplus
}
#endif

#endif
