/* What a native opcode sees: its arguments, its results, its errors (struct core_call), and the values functions that the
 * executor and the natives share. Relies on cell.h and heap.h; implemented by value.c, map.c, text.c, arith.c, array.c (values)
 * and exec.c, error.c (calls).
 * Rules for a native `int f(struct core_call *call)`:
 *  - arguments are borrowed (never unref them); a missing argument is None; results[i] starts as None and takes an OWNED value;
 *  - returns 0, or what call_raise gave (an ERROR_ number); with an error the results are dropped by the caller;
 *  - if results[0] goes to the very place args[0] came from (call->in_place) and its block has refs == 1, it may change that
 *    block in place and give it back with `results[0] = *args[0]` plus call->reused = true (no reference is added).
 *    If doing so twice is not the same as doing it once (append), it first calls call_intend(call, mark): after a crash
 *    it runs again with call->resumed true and the same call->mark, and puts the block back into its state at that mark. */
#ifndef CORE_CALL_H
#define CORE_CALL_H

#include "core/cell.h"
#include "core/heap.h"
#include "kvspace/textout.h"

enum core_error {
    ERROR_NONE = 0,
#define ERROR(name, text) ERROR_##name,
#include "core/errors.def"
#undef ERROR
    ERROR_COUNT
};

struct core;    /* core.h: one runtime on one space, one thread */
struct vthread; /* vthread.h */
struct core_call;
typedef int core_native(struct core_call *call);

/* One opcode of a capability table; the same struct as kvlang_cap of include/kvlang/ext.h. */
struct core_cap {
    const char *name;    /* "string·slice" */
    const char *reads;   /* "s:[]char/utf32, a:int64, b:int64"; the last may be variadic: "xs:any..." ; "b:int64?" is optional */
    const char *writes;  /* "r:[]char/utf32" or "" */
    core_native *function;
    const char *doc;     /* one line */
    const char *example; /* a program of one line that runs */
};

struct core_call {
    struct core *core;
    struct heap *heap;
    struct vthread *vthread;
    const struct core_cap *cap;
    struct core_cell *const *args; /* nargs pointers, each to a cell that stays for the call */
    struct core_cell *results;     /* nresults cells; nresults 0: nobody wants a result, but results[0] may still be written */
    uint32_t nargs, nresults;
    bool in_place, reused, resumed;
    uint64_t mark;
    void *host; /* of the capability table that it stands in */
};

/* Raises an error of the program: printf format (%s takes UTF-8, NULL is shown as ?). Gives `kind`. Long texts are cut. */
int call_raise(struct core_call *call, enum core_error kind, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
int core_raise(struct core *core, enum core_error kind, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
void call_intend(struct core_call *call, uint64_t mark);

/* A TypeError of the usual form: "string·slice: argument 2 (a) must be int64, not char/utf32". */
int call_raise_argument(struct core_call *call, uint32_t index, const char *expected);

#endif
