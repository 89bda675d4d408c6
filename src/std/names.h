/* The variables of one program handed to the next: how a prompt keeps its names. Relies on kvlang_handle.h. Promises: values are
 * shared with the vthread that they came from (copy on write) and live until names_free, which must come before kvlang_close. */
#ifndef STD_NAMES_H
#define STD_NAMES_H

#include <kvlang/kvlang.h>

struct names;

/* Empty; NULL: no memory. */
struct names *names_new(void);
void names_free(kvlang *lang, struct names *names);

/* Takes up the variables of the vthread's first frame; those that are known get the new value. Codes of kvlang.h. */
int names_take(kvlang *lang, uint64_t vid, struct names *names);
/* Gives the first frame of a vthread that has not begun the values of the names that its function has. */
int names_give(kvlang *lang, uint64_t vid, const struct names *names);

/* The name of that number, in the order in which they came; NULL behind the last. */
const char *names_at(const struct names *names, uint32_t number);

#endif
