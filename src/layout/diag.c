/* Collects diagnostics and renders them with their source line and a caret.
 * Relies on unicode.h for widths. Promise: never prints by itself; a line of any length or content renders safely:
 * long lines are cut around the column, control characters show as `?`, tabs count as tabs on both lines. */
#include "layout/diag.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "layout/unicode.h"

/* A source line longer than this many code points is shown only around the column. */
#define SHOWN_BEFORE 120u
#define SHOWN_BEHIND 80u

static char *format_text(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

static bool known_place(const struct diag_list *list, struct ast_pos at) {
    if (at.line == 0) return false;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct diag_report *report = &list->reports[i];
        if (!report->warning && report->at.line == at.line && report->at.column == at.column) return true;
    }
    return false;
}

static void add(struct diag_list *list, struct diag_report report) {
    list->last_kept = false;
    if (!report.message) return; /* out of memory: counted, not kept */
    list->reports[list->count++] = report;
    list->last_kept = true;
    if (report.warning) list->warnings_kept++;
    else list->errors_kept++;
}

void diag_error(struct diag_list *list, enum diag_kind kind, struct ast_pos at, const char *format, ...) {
    list->last_kept = false;
    if (known_place(list, at)) return;
    list->errors++;
    if (!diag_has_room(list)) return;
    va_list arguments;
    va_start(arguments, format);
    add(list, (struct diag_report){.kind = kind, .at = at, .message = format_text(format, arguments)});
    va_end(arguments);
}

void diag_warning(struct diag_list *list, struct ast_pos at, const char *format, ...) {
    list->last_kept = false;
    list->warnings++;
    if (list->warnings_kept >= DIAG_MAX_WARNINGS) return;
    va_list arguments;
    va_start(arguments, format);
    add(list, (struct diag_report){.warning = true, .at = at, .message = format_text(format, arguments)});
    va_end(arguments);
}

void diag_note(struct diag_list *list, const char *format, ...) {
    if (!list->last_kept) return;
    struct diag_report *report = &list->reports[list->count - 1];
    va_list arguments;
    va_start(arguments, format);
    free(report->note);
    report->note = format_text(format, arguments);
    va_end(arguments);
}

bool diag_has_room(const struct diag_list *list) {
    return list->errors_kept < DIAG_MAX_ERRORS;
}

const char *diag_kind_text(enum diag_kind kind) {
    static const char *const texts[] = {
#define DIAG(name, text) text,
#include "layout/diag_kinds.def"
#undef DIAG
    };
    return texts[kind];
}

int diag_width(uint32_t code_point) {
    return unicode_width(code_point);
}

void diag_free(struct diag_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->reports[i].message);
        free(list->reports[i].note);
    }
    memset(list, 0, sizeof *list);
}

/* Pieces are gathered here so that the sink is called a few times a report, not once a character. */
struct output {
    diag_write write;
    void *context;
    int rc;
    size_t used;
    char bytes[1024];
};

static void flush(struct output *output) {
    if (!output->rc && output->used) output->rc = output->write(output->context, output->bytes, output->used);
    output->used = 0;
}

static void put(struct output *output, const char *bytes, size_t length) {
    while (length > 0) {
        if (output->used == sizeof output->bytes) flush(output);
        size_t part = sizeof output->bytes - output->used;
        if (part > length) part = length;
        memcpy(output->bytes + output->used, bytes, part);
        output->used += part;
        bytes += part;
        length -= part;
    }
}

static void put_text(struct output *output, const char *text) {
    put(output, text, strlen(text));
}

/* One code point of the source as it may be shown; malformed bytes and control characters become `?`. */
static unsigned next_shown(struct ast_text line, uint32_t at, uint32_t *code_point) {
    unsigned bytes = unicode_decode(line.at + at, line.length - at, code_point);
    if (bytes && (*code_point >= 0x20 || *code_point == '\t') && *code_point != 0x7F) return bytes;
    *code_point = '?';
    return bytes ? bytes : 1;
}

static struct ast_text source_line(struct ast_text source, struct ast_pos at) {
    uint32_t first = at.offset > source.length ? source.length : at.offset;
    uint32_t last = first;
    while (first > 0 && source.at[first - 1] != '\n') first--;
    while (last < source.length && source.at[last] != '\n') last++;
    if (last > first && source.at[last - 1] == '\r') last--;
    return (struct ast_text){source.at + first, last - first};
}

/* Writes the part of the line that is shown, then the caret line below it: the same tabs, blanks as wide as the rest. */
static void put_line(struct output *output, struct ast_text line, uint32_t column) {
    uint32_t skipped = column > SHOWN_BEFORE + 1 ? column - SHOWN_BEFORE - 1 : 0;
    uint32_t start = 0, code_point, index = 0;
    for (; index < skipped && start < line.length; index++) start += next_shown(line, start, &code_point);
    put_text(output, skipped ? "    …" : "    ");
    uint32_t at = start, last = column + SHOWN_BEHIND;
    for (; at < line.length && index < last; index++) {
        unsigned bytes = next_shown(line, at, &code_point);
        if (code_point == '?') put(output, "?", 1);
        else put(output, line.at + at, bytes);
        at += bytes;
    }
    put_text(output, at < line.length ? "…\n    " : "\n    ");
    if (skipped) put(output, " ", 1);
    at = start;
    for (index = skipped; index + 1 < column; index++) {
        int width = 1;
        bool tab = false;
        if (at < line.length) {
            at += next_shown(line, at, &code_point);
            tab = code_point == '\t';
            width = unicode_width(code_point);
        }
        put(output, tab ? "\t" : "  ", (size_t)width);
    }
    put_text(output, "^\n");
}

static void put_report(struct output *output, const struct diag_report *report, struct ast_text file, struct ast_text source) {
    char place[64];
    put(output, file.at, file.length);
    if (report->at.line) {
        snprintf(place, sizeof place, ":%u:%u", (unsigned)report->at.line, (unsigned)report->at.column);
        put_text(output, place);
    }
    put_text(output, report->warning ? ": warning: " : ": error: ");
    if (!report->warning) {
        put_text(output, diag_kind_text(report->kind));
        put_text(output, ": ");
    }
    put_text(output, report->message);
    put_text(output, "\n");
    if (report->at.line) put_line(output, source_line(source, report->at), report->at.column);
    if (report->note) {
        put_text(output, "    note: ");
        put_text(output, report->note);
        put_text(output, "\n");
    }
}

/* Insertion sort by place; stable, and there are at most forty. */
static void sort_reports(struct diag_list *list) {
    for (uint32_t i = 1; i < list->count; i++) {
        struct diag_report report = list->reports[i];
        uint32_t j = i;
        for (; j > 0 && list->reports[j - 1].at.offset > report.at.offset; j--) list->reports[j] = list->reports[j - 1];
        list->reports[j] = report;
    }
    list->last_kept = false;
}

int diag_render(struct diag_list *list, struct ast_text file, struct ast_text source, diag_write write, void *context) {
    struct output output = {.write = write, .context = context};
    sort_reports(list);
    for (uint32_t i = 0; i < list->count && !output.rc; i++) put_report(&output, &list->reports[i], file, source);
    if (list->errors > list->errors_kept) {
        char left_out[64];
        snprintf(left_out, sizeof left_out, ": %u more errors\n", (unsigned)(list->errors - list->errors_kept));
        put(&output, file.at, file.length);
        put_text(&output, left_out);
    }
    flush(&output);
    return output.rc;
}

int diag_render_line(struct ast_text line, uint32_t column, diag_write write, void *context) {
    struct output output = {.write = write, .context = context};
    put_line(&output, line, column);
    flush(&output);
    return output.rc;
}
