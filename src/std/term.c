/* print println cerr printf input, as a capability table of the standard runtime.
 * Relies on value.h for printing, native.h for printf's format. Promises: each call is one write, made before the
 * step is committed, so output is at least once: a crash in between shows a line twice, never not at all. */
#include "std/family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/native.h"
#include "kvspace/textout.h"

static int write_all(struct core_call *call, int descriptor, const char *bytes, size_t count) {
    while (count) {
        ssize_t done = write(descriptor, bytes, count);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno == EPIPE ? 0 : fault(call->heap, ERROR_RUNTIME, "the output cannot be written: %s", strerror(errno));
        bytes += done;
        count -= (size_t)done;
    }
    return 0;
}

static int show(struct core_call *call, int descriptor, const char *separator, const char *end) {
    struct text_buffer buffer = { 0 };
    struct text_out out = text_buffer_out(&buffer);
    int rc = 0;
    for (uint32_t i = 0; i < call->arg_count && !rc; i++) {
        if (i) text_puts(&out, separator);
        rc = value_print(call->heap, call->args[i], false, &out);
    }
    text_puts(&out, end);
    if (!rc && out.error) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "no memory to print");
    if (!rc && buffer.length) rc = write_all(call, descriptor, buffer.bytes, buffer.length);
    text_buffer_free(&buffer);
    return rc;
}

static int term_print(struct core_call *call) { return show(call, STDOUT_FILENO, "", ""); }
static int term_println(struct core_call *call) { return show(call, STDOUT_FILENO, " ", "\n"); }
static int term_cerr(struct core_call *call) { return show(call, STDERR_FILENO, " ", "\n"); }

static int term_printf(struct core_call *call) {
    struct text_buffer buffer = { 0 };
    struct text_out out = text_buffer_out(&buffer);
    int rc = format_cells(call, &out);
    if (!rc && buffer.length) rc = write_all(call, STDOUT_FILENO, buffer.bytes, buffer.length);
    text_buffer_free(&buffer);
    return rc;
}

/* A line without its end; None at the end of input. Unbuffered, so that nothing is read ahead of a crash. */
static int term_input(struct core_call *call) {
    if (call->arg_count && show(call, STDERR_FILENO, "", "")) return call->heap->fault.kind;
    struct text_buffer line = { 0 };
    struct text_out out = text_buffer_out(&line);
    bool any = false;
    for (;;) {
        char byte;
        ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        any = true;
        if (byte == '\n') break;
        text_put(&out, &byte, 1);
    }
    int rc = 0;
    if (any) {
        if (line.length && line.bytes[line.length - 1] == '\r') line.length--;
        rc = text_from_utf8(call->heap, line.bytes ? line.bytes : "", line.length, &call->results[0]);
    }
    text_buffer_free(&line);
    return rc;
}

const struct native_row term_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/term.def"
#undef NATIVE
};
const uint32_t term_count = sizeof term_rows / sizeof *term_rows;
