/* Writing an opcode for kvlang in C.
 *
 *     static int shout(kvlang_call *call) {
 *         const char *text;
 *         size_t bytes;
 *         int rc = kvlang_arg_text(call, 0, &text, &bytes);
 *         if (rc) return rc;
 *         char *loud = malloc(bytes + 1);
 *         if (!loud) return kvlang_raise(call, "OutOfMemoryError", "no room for %zu bytes", bytes);
 *         for (size_t i = 0; i < bytes; i++) loud[i] = (char)toupper((unsigned char)text[i]);
 *         loud[bytes] = '!';
 *         rc = kvlang_give_text(call, 0, loud, bytes + 1);
 *         free(loud);
 *         return rc;
 *     }
 *     static const kvlang_cap myrwircaps[] = {
 *         {"string·shout", "s:[]char/utf32", "r:[]char/utf32", shout, "Upper-case with an exclamation mark."},
 *     };
 *
 * A host adds the table to its runtime with kvlang_add_caps; programs then call `string·shout("hi")`. Before the function is
 * called, the arguments have been checked against the signature; results are checked when they are given.
 *
 * The function gives 0, or what kvlang_raise or one of the functions below gave (they have set the error already). Arguments are
 * borrowed for the call and must not be changed. After a crash a call that was not committed is made again: with outside
 * effects in mind, see kvlang_call_token. */
#ifndef KVLANG_EXT_H
#define KVLANG_EXT_H

#include <stddef.h>
#include <stdint.h>

#ifndef KVLANG_API
#if defined(__GNUC__)
#define KVLANG_API __attribute__((visibility("default")))
#else
#define KVLANG_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct core_call kvlang_call;
typedef int kvlang_opcode_function(kvlang_call *call);

typedef struct kvlang_cap {
    const char *name;            /* "string·shout" */
    const char *reads, *writes;  /* parameters as in a signature, without the parentheses: "a:[*]float64, n:int64"; may be "" */
    kvlang_opcode_function *run;
    const char *doc;             /* one line; may be NULL */
} kvlang_cap;

/* ---- arguments, by index from 0 ---- */

/* How many there are (more than the signature has, where the last one is variadic), and how many results the caller takes. */
KVLANG_API size_t kvlang_arg_count(const kvlang_call *call);
KVLANG_API size_t kvlang_result_count(const kvlang_call *call);

/* enum kvspace_kind of a scalar, or of the elements of an array or string; 0 for None, containers, pointers and what does not exist. */
KVLANG_API unsigned kvlang_arg_kind(const kvlang_call *call, size_t index);
KVLANG_API int kvlang_arg_is_none(const kvlang_call *call, size_t index);

/* A scalar of exactly that kind; a literal converts where it fits. TypeError naming the opcode and the parameter. */
KVLANG_API int kvlang_arg_i64(kvlang_call *call, size_t index, int64_t *number);
KVLANG_API int kvlang_arg_u64(kvlang_call *call, size_t index, uint64_t *number);
KVLANG_API int kvlang_arg_f64(kvlang_call *call, size_t index, double *number);
KVLANG_API int kvlang_arg_bool(kvlang_call *call, size_t index, int *truth);

/* A string of any encoding as UTF-8, ended by a zero byte (which *bytes does not count). Valid for the call. TypeError. */
KVLANG_API int kvlang_arg_text(kvlang_call *call, size_t index, const char **text, size_t *bytes);

/* An array without copying: kind, axes (at most 8; dims has `ndim` lengths), row-major body, aligned to 64 from 64 bytes on. TypeError. */
struct kvlang_array {
    unsigned kind; /* enum kvspace_kind */
    unsigned ndim;
    const uint64_t *dims;
    const void *body;
    uint64_t count; /* elements */
    uint64_t bytes;
};
KVLANG_API int kvlang_arg_array(kvlang_call *call, size_t index, struct kvlang_array *array);

/* ---- results, by index from 0; one that is not given is None ---- */

KVLANG_API int kvlang_give_i64(kvlang_call *call, size_t index, int64_t number);
KVLANG_API int kvlang_give_u64(kvlang_call *call, size_t index, uint64_t number);
KVLANG_API int kvlang_give_f64(kvlang_call *call, size_t index, double number);
KVLANG_API int kvlang_give_bool(kvlang_call *call, size_t index, int truth);
/* A scalar of any kind, from the bytes of one element. ValueError: no such kind. */
KVLANG_API int kvlang_give_scalar(kvlang_call *call, size_t index, unsigned kind, const void *element);
/* A []char/utf32 from UTF-8. ValueError: it is none. */
KVLANG_API int kvlang_give_text(kvlang_call *call, size_t index, const char *utf8, size_t bytes);
/* An array in place: *body is room for all elements, zeroed, which the function fills before it returns. ValueError: the shape
 * is too big or has more than 8 axes. OutOfMemoryError. */
KVLANG_API int kvlang_give_array(kvlang_call *call, size_t index, unsigned kind, unsigned ndim, const uint64_t *dims, void **body);

/* ---- errors, identity ---- */

/* Raises an error of the program: the name of a run-time kind ("ValueError"; anything else becomes RuntimeError), and a message. Gives
 * what the function must return. */
KVLANG_API int kvlang_raise(kvlang_call *call, const char *kind, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* What was given to kvlang_add_caps. */
KVLANG_API void *kvlang_call_host(const kvlang_call *call);

/* A number that is the same when this very step is executed again after a crash, and that no other step of the space has:
 * for opcodes with effects outside of the tree. */
KVLANG_API uint64_t kvlang_call_token(const kvlang_call *call);

#ifdef __cplusplus
}
#endif

#endif
