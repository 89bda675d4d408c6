/* Where printed text goes: a function that takes bytes, or a growing buffer. Relies on the C standard library.
 * Promises: after the first error nothing more is written, so that printers check once, at their end. */
#ifndef KVSPACE_TEXTOUT_H
#define KVSPACE_TEXTOUT_H

#include <stddef.h>
#include <stdint.h>

/* `write` takes all of the bytes and gives 0, or an error of its owner's choice (not 0), which is kept in `error`. */
struct text_out {
    int (*write)(void *context, const char *bytes, size_t count);
    void *context;
    int error;
};

void text_put(struct text_out *out, const char *bytes, size_t count);
void text_puts(struct text_out *out, const char *text); /* ended by a zero byte */

/* One character of a string as it stands between double quotes in source: \n \t \r \0 \\ \" as such, other control
 * characters as \xHH, invisible ones that would turn or split a line as \u{H…}, all else as it is. */
void text_put_escaped(struct text_out *out, uint32_t point);

/* A text in double quotes, escaped as above. Bytes that are not valid UTF-8 come out as \u{fffd}. */
void text_put_quoted(struct text_out *out, const char *text, size_t length);

enum { TEXT_ENOMEM = 1, TEXT_ELIMIT = 2 }; /* errors of the buffer */

/* Zero is an empty buffer without limit. `bytes` is malloc'd, always ended by a zero byte after the first write, and
 * belongs to the caller, who frees it with text_buffer_free. */
struct text_buffer {
    char *bytes;
    size_t length, capacity;
    size_t limit; /* most bytes that it may hold, 0: no limit */
};

struct text_out text_buffer_out(struct text_buffer *buffer);
void text_buffer_free(struct text_buffer *buffer);

#endif
