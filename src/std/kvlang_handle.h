/* What the parts of the embedding API share: the handle behind kvlang.h. Relies on core/runtime.h. Private to src/std. */
#ifndef STD_KVLANG_HANDLE_H
#define STD_KVLANG_HANDLE_H

#include <kvlang/kvlang.h>

#include "core/runtime.h"
#include "layout/layout.h"

struct ext_table;
struct family_kept;

enum { FAILURE_TEXTS = 5 }; /* kind, message, place, file, chain */

struct kvlang {
    kvspace *space;
    struct core *core;
    bool owns_space;
    struct ext_table *tables;
    struct family_kept *families; /* as many as there are */
    void (*failed)(void *context, kvlang *lang, uint64_t vid);
    void *failed_context;
    /* The text laid out last: its functions and the inits of its libs, as paths. */
    struct layout_names names;
    char *source_name, *source; /* the text itself, for the lines of diagnostics */
    size_t source_bytes;
    char *start_path;
    char *failure_texts[FAILURE_TEXTS];
    char message[1024];
};

/* Each leaves a message and gives the code. */
int handle_fail(kvlang *lang, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
int handle_space_error(kvlang *lang, int rc);
int handle_fault(kvlang *lang, int kind);

/* families.c: the tables of the standard runtime, those named in `deny` (names with commas, may be NULL) as opcodes that refuse.
 * EUSAGE: there is no such family. */
int families_add(kvlang *lang, const char *deny);
void families_close(kvlang *lang);

/* source.c: frees what is known of the text laid out last. */
void unit_forget(kvlang *lang);

#endif
