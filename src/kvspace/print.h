/* What printing (print.c) and reading of literals (literal_set.c) share: how words of the tree and keys of maps look.
 * Relies on textout.h and the public interface. Promises: nothing here writes to a space. */
#ifndef KVSPACE_PRINT_H
#define KVSPACE_PRINT_H

#include "kvspace/textout.h"

#include <kvspace/kvspace.h>

#include <stdbool.h>

/* As kvspace_print, to a text_out. */
int print_to(kvspace *space, const char *key, const struct kvspace_print_options *options, struct text_out *out);

/* Whether the keys of a container of that type are texts (a struct's names too); else they are printed scalars or tuples. */
bool print_keys_are_text(const char *type, size_t type_bytes);

/* Whether the body of a word is uint32 numbers: rwfunc(2,1,0,7). */
bool print_word_is_numbers(const char *type, size_t bytes);

#endif
