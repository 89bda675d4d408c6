/* Printing of the programs: see sink.h. A write that fails is kept in the sink and ends all printing, so that commands
 * check once, at their end. Relies on the terminal's own size (TIOCGWINSZ) or $COLUMNS. */
#include "cli/sink.h"

#include "kvspace/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *const escapes[STYLE_COUNT] = {
#define STYLE(name, escape) [STYLE_##name] = escape,
#include "cli/styles.def"
#undef STYLE
};

static int write_stream(void *context, const char *bytes, size_t count) {
    errno = 0;
    if (fwrite(bytes, 1, count, context) == count) return 0;
    return errno ? errno : EIO;
}

static unsigned terminal_width(int descriptor) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width > 0 && width < 10000 ? (unsigned)width : 80;
}

static bool colours_wanted(enum sink_colours colours, bool terminal) {
    if (colours != SINK_COLOURS_AUTO) return colours == SINK_COLOURS_ALWAYS;
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if ((no && *no) || (term && strcmp(term, "dumb") == 0)) return false;
    return terminal;
}

void sink_open(struct sink *sink, FILE *stream, enum sink_colours colours) {
    *sink = (struct sink){.stream = stream};
    sink->out = (struct text_out){.write = write_stream, .context = stream};
    sink->terminal = isatty(fileno(stream)) == 1;
    sink->colours = colours_wanted(colours, sink->terminal);
    sink->width = sink->terminal ? terminal_width(fileno(stream)) : 0;
}

void sink_bytes(struct sink *sink, const char *bytes, size_t count) {
    if (count) text_put(&sink->out, bytes, count);
}

void sink_text(struct sink *sink, const char *text) {
    text_puts(&sink->out, text);
}

void sink_format(struct sink *sink, const char *format, ...) {
    char fixed[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(fixed, sizeof fixed, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if ((size_t)length < sizeof fixed) {
        sink_bytes(sink, fixed, (size_t)length);
        return;
    }
    char *longer = malloc((size_t)length + 1);
    if (!longer) {
        sink->out.error = ENOMEM;
        return;
    }
    va_start(arguments, format);
    vsnprintf(longer, (size_t)length + 1, format, arguments);
    va_end(arguments);
    sink_bytes(sink, longer, (size_t)length);
    free(longer);
}

static bool styles(const struct sink *sink, enum sink_style style) {
    return sink->colours && escapes[style][0];
}

void sink_styled(struct sink *sink, enum sink_style style, const char *bytes, size_t count) {
    if (styles(sink, style)) sink_text(sink, escapes[style]);
    sink_bytes(sink, bytes, count);
    if (styles(sink, style)) sink_text(sink, "\033[0m");
}

void sink_blanks(struct sink *sink, size_t count) {
    static const char blanks[] = "                                ";
    while (count) {
        size_t now = count < sizeof blanks - 1 ? count : sizeof blanks - 1;
        sink_bytes(sink, blanks, now);
        count -= now;
    }
}

void sink_one_line(struct sink *sink, enum sink_style style, const char *bytes, size_t count) {
    if (styles(sink, style)) sink_text(sink, escapes[style]);
    while (count) {
        uint32_t point;
        size_t length = utf8_decode(bytes, count, &point);
        if (!length) {
            sink_text(sink, "\xef\xbf\xbd");
            length = 1;
        } else if (point == '"' || point == '\\') {
            sink_bytes(sink, bytes, length);
        } else {
            text_put_escaped(&sink->out, point);
        }
        bytes += length;
        count -= length;
    }
    if (styles(sink, style)) sink_text(sink, "\033[0m");
}

int sink_finish(struct sink *sink) {
    errno = 0;
    if (sink->stream && fflush(sink->stream) != 0 && !sink->out.error) sink->out.error = errno ? errno : EIO;
    return sink->out.error;
}

/* The blocks of wide and of combining characters that matter for columns; Unicode's East Asian Width in short. */
static size_t point_columns(uint32_t point) {
    if (point < 0x20 || point == 0x7f) return 0;
    if (point < 0x300) return 1;
    if (point < 0x370 || (point >= 0x200b && point <= 0x200f) || (point >= 0xfe00 && point <= 0xfe0f)) return 0;
    if ((point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) ||
        (point >= 0xac00 && point <= 0xd7a3) || (point >= 0xf900 && point <= 0xfaff) ||
        (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
        (point >= 0xffe0 && point <= 0xffe6) || (point >= 0x1f300 && point <= 0x1faff) ||
        (point >= 0x20000 && point <= 0x3fffd))
        return 2;
    return 1;
}

size_t text_fit(const char *text, size_t length, size_t columns) {
    size_t at = 0;
    while (at < length) {
        uint32_t point = 0xfffd;
        size_t bytes = utf8_decode(text + at, length - at, &point);
        size_t wide = point_columns(point);
        if (wide > columns) break;
        columns -= wide;
        at += bytes ? bytes : 1;
    }
    return at;
}

size_t text_columns(const char *text, size_t length) {
    size_t columns = 0;
    for (size_t at = 0; at < length;) {
        uint32_t point = 0xfffd;
        size_t bytes = utf8_decode(text + at, length - at, &point);
        columns += point_columns(point);
        at += bytes ? bytes : 1;
    }
    return columns;
}

const char *size_text(unsigned long long bytes, char *out) {
    static const char units[] = "BKMGTPE";
    if (bytes < 1024) {
        snprintf(out, SIZE_TEXT_MAX, "%llu", bytes);
        return out;
    }
    unsigned unit = 0;
    double number = (double)bytes;
    while (number >= 1023.5 && unit + 1 < sizeof units - 1) {
        number /= 1024;
        unit++;
    }
    snprintf(out, SIZE_TEXT_MAX, number < 9.95 ? "%.1f%c" : "%.0f%c", number, units[unit]);
    return out;
}
