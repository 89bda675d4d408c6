/* Where the programs print: a stream with colours that may be off, its width, and errors that stick.
 * Relies on textout.h and stdio. Promises: no escape sequence unless the stream is a terminal (or colours were asked
 * for), NO_COLOR and TERM=dumb are honoured; control characters of printed data never reach a terminal as such. */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "kvspace/textout.h"

#include <stdbool.h>
#include <stdio.h>

enum sink_style {
#define STYLE(name, escape) STYLE_##name,
#include "cli/styles.def"
#undef STYLE
    STYLE_COUNT
};

enum sink_colours { SINK_COLOURS_AUTO = 0, SINK_COLOURS_NEVER, SINK_COLOURS_ALWAYS };

struct sink {
    struct text_out out; /* bytes go to the stream, or to a buffer */
    FILE *stream;
    bool colours;
    bool terminal;
    unsigned width; /* columns of the terminal; 0 where the stream is none: then nothing is cut */
};

/* Fills `sink` for a stream. `sink` must stay where it is while it is used. */
void sink_open(struct sink *sink, FILE *stream, enum sink_colours colours);

void sink_bytes(struct sink *sink, const char *bytes, size_t count);
void sink_text(struct sink *sink, const char *text);
void sink_format(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text in a style, with the escape sequences only where colours are on. */
void sink_styled(struct sink *sink, enum sink_style style, const char *bytes, size_t count);
void sink_blanks(struct sink *sink, size_t count);
/* Data of unknown origin on one line: control characters are escaped (\n, \x1b), invalid UTF-8 becomes U+FFFD. */
void sink_one_line(struct sink *sink, enum sink_style style, const char *bytes, size_t count);

/* Flushes; gives 0, or the errno of the first failed write (EPIPE when the reader went away). */
int sink_finish(struct sink *sink);

/* Columns that a text takes on a terminal: code points, East Asian wide ones as two, combining ones as none. */
size_t text_columns(const char *text, size_t length);
/* Bytes of the longest beginning that fits `columns`. */
size_t text_fit(const char *text, size_t length, size_t columns);

/* 1.5K, 12M: at most five characters. `out` has SIZE_TEXT_MAX bytes. */
enum { SIZE_TEXT_MAX = 16 };
const char *size_text(unsigned long long bytes, char *out);

#endif
