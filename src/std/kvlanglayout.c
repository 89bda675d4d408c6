/* kvlanglayout·: the compiler, for programs that write programs. Relies on layout.h and on the space that the executor lends.
 * Promise: a source with errors changes nothing in the tree. */
#include "layout/layout.h"

#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/kvlanglayout.def"
#undef NATIVE

struct compiling {
    struct piece text, name;
    struct layout_source source;
    struct text_buffer said; /* diagnostics */
    struct text_out out;
};

static int hear(void *context, const char *bytes, size_t length) {
    text_put(context, bytes, length);
    return 0;
}

static void compiling_end(struct compiling *compiling) {
    piece_free(&compiling->text);
    piece_free(&compiling->name);
    text_buffer_free(&compiling->said);
}

static int compiling_begin(struct core_call *call, struct compiling *compiling) {
    *compiling = (struct compiling){.name = {.bytes = "source"}};
    compiling->out = text_buffer_out(&compiling->said);
    int rc = piece_text(call, 0, &compiling->text);
    if (!rc && call->arg_count > 1) rc = piece_plain(call, 1, &compiling->name);
    compiling->source = (struct layout_source){compiling->name.bytes, compiling->text.bytes, compiling->text.length};
    if (rc) compiling_end(compiling);
    return rc;
}

/* The error of the program for what the compiler gave; the first lines of its diagnostics are the message. */
static int failed(struct core_call *call, const struct compiling *compiling, int rc) {
    size_t length = compiling->said.length;
    if (rc == LAYOUT_NO_MEMORY) return fault(call->heap, ERROR_OUT_OF_MEMORY, "%s: no memory", call->row->name);
    if (rc == LAYOUT_SPACE) return fault(call->heap, ERROR_RUNTIME, "%s: %s", call->row->name, kvspace_message(call->services->space));
    while (length && compiling->said.bytes[length - 1] == '\n') length--;
    if (length > 400) length = 400;
    return fault(call->heap, ERROR_VALUE, "%s: %.*s", call->row->name, (int)length, length ? compiling->said.bytes : "");
}

static int space_of(struct core_call *call, struct kvspace **space) {
    *space = call->services ? call->services->space : NULL;
    return *space ? 0 : fault(call->heap, ERROR_RUNTIME, "%s: there is no space here", call->row->name);
}

static int kvlanglayout_format(struct core_call *call) {
    struct compiling compiling;
    char *text = NULL;
    size_t length = 0;
    int rc = compiling_begin(call, &compiling);
    if (rc) return rc;
    rc = layout_format(&compiling.source, &text, &length, hear, &compiling.out);
    rc = rc ? failed(call, &compiling, rc) : give_text(call, text, length);
    free(text);
    compiling_end(&compiling);
    return rc;
}

static int kvlanglayout_vet(struct core_call *call) {
    struct compiling compiling;
    struct kvspace *space;
    int rc = space_of(call, &space);
    if (!rc) rc = compiling_begin(call, &compiling);
    if (rc) return rc;
    rc = layout_into(space, &compiling.source, false, NULL, hear, &compiling.out);
    if (rc && rc != LAYOUT_REJECTED) rc = failed(call, &compiling, rc);
    else if (compiling.out.error) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "kvlanglayout·vet: no memory");
    else rc = give_text(call, compiling.said.bytes, compiling.said.length);
    compiling_end(&compiling);
    return rc;
}

static int kvlanglayout_layout(struct core_call *call) {
    struct compiling compiling;
    struct layout_names names = {0};
    struct kvspace *space;
    struct cell list;
    int rc = space_of(call, &space);
    if (!rc) rc = compiling_begin(call, &compiling);
    if (rc) return rc;
    rc = layout_into(space, &compiling.source, true, &names, hear, &compiling.out);
    if (rc) {
        rc = failed(call, &compiling, rc);
    } else {
        rc = members_begin(call->heap, "[int64]·[]char/utf32", &list);
        for (uint32_t i = 0; i < names.function_count && !rc; i++) rc = item_text(call->heap, rc, &list, i, names.functions[i], strlen(names.functions[i]));
        if (!rc) call->results[0] = list;
        layout_names_free(&names);
    }
    compiling_end(&compiling);
    return rc;
}

static int kvlanglayout_dump(struct core_call *call) {
    char what[KVSPACE_KEY_MAX + 1], key[KVSPACE_KEY_MAX + 8];
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    struct layout_dumped dumped = {0};
    struct kvspace *space;
    uint64_t rows = 0;
    int rc = space_of(call, &space);
    if (!rc) rc = native_utf8(call, 0, what, sizeof what);
    if (!rc && call->arg_count > 1) rc = native_scalar(call, 1, KIND_BOOL, &rows);
    if (rc) return rc;
    snprintf(key, sizeof key, "%s%s", what[0] == '/' ? "" : "/lib/", what);
    rc = layout_dump(space, key, rows != 0, &out, &dumped);
    if (rc == LAYOUT_SPACE) rc = fault(call->heap, ERROR_RUNTIME, "kvlanglayout·dump: %s", kvspace_message(space));
    else if (rc || out.error) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "kvlanglayout·dump: no memory");
    else if (!dumped.count) rc = fault(call->heap, ERROR_NAME, "kvlanglayout·dump: nothing is laid out at %s", key);
    if (!rc) rc = give_text(call, buffer.bytes, buffer.length);
    text_buffer_free(&buffer);
    return rc;
}

const struct native_row kvlanglayout_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/kvlanglayout.def"
#undef NATIVE
};
const uint32_t kvlanglayout_count = sizeof kvlanglayout_rows / sizeof *kvlanglayout_rows;
