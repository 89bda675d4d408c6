/* What came of a vthread: results, and errors as people see them. Relies on the provider of /vthread for results, on the
 * record for errors, on `‥src` and `‥map` of functions for the line of the source. Promises of kvlang.h. */
#include "std/kvlang_handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "kvspace/textout.h"
#include "layout/diag.h"

/* ---- results ---- */

static int result_key(kvlang *lang, uint64_t vid, const char *name, char *key, size_t capacity) {
    int bytes = snprintf(key, capacity, "/vthread/%llu/%s", (unsigned long long)vid, name);
    return (size_t)bytes < capacity ? KVLANG_OK : handle_fail(lang, KVLANG_ENAME, "a name of %zu bytes", strlen(name));
}

static int result_error(kvlang *lang, const char *key, int rc) {
    if (rc == KVSPACE_ENOENT) return handle_fail(lang, KVLANG_ENAME, "there is no value at %s", key);
    if (rc == KVSPACE_ETYPE) return handle_fail(lang, KVLANG_ETYPE, "%s", kvspace_message(lang->space));
    return handle_space_error(lang, rc);
}

int kvlang_result(kvlang *lang, uint64_t vid, const char *name, struct kvspace_value *value) {
    char key[KVSPACE_KEY_MAX + 1];
    int rc = result_key(lang, vid, name, key, sizeof key);
    if (rc) return rc;
    rc = kvspace_get(lang->space, key, value);
    return rc ? result_error(lang, key, rc) : KVLANG_OK;
}

int kvlang_result_i64(kvlang *lang, uint64_t vid, const char *name, int64_t *number) {
    char key[KVSPACE_KEY_MAX + 1];
    int rc = result_key(lang, vid, name, key, sizeof key);
    if (rc) return rc;
    rc = kvspace_get_i64(lang->space, key, number);
    return rc ? result_error(lang, key, rc) : KVLANG_OK;
}

int kvlang_result_f64(kvlang *lang, uint64_t vid, const char *name, double *number) {
    char key[KVSPACE_KEY_MAX + 1];
    int rc = result_key(lang, vid, name, key, sizeof key);
    if (rc) return rc;
    rc = kvspace_get_f64(lang->space, key, number);
    return rc ? result_error(lang, key, rc) : KVLANG_OK;
}

int kvlang_result_text(kvlang *lang, uint64_t vid, const char *name, char **text) {
    char key[KVSPACE_KEY_MAX + 1];
    size_t bytes = 0;
    char *copy = NULL;
    int rc = result_key(lang, vid, name, key, sizeof key);
    if (rc) return rc;
    rc = kvspace_get_text(lang->space, key, NULL, 0, &bytes);
    if (!rc || rc == KVSPACE_ELIMIT) {
        copy = malloc(bytes + 1);
        if (!copy) return handle_fail(lang, KVLANG_ENOMEM, "no memory for a text of %zu bytes", bytes);
        rc = kvspace_get_text(lang->space, key, copy, bytes + 1, &bytes);
    }
    if (!rc) {
        *text = copy;
        return KVLANG_OK;
    }
    free(copy);
    return result_error(lang, key, rc);
}

/* ---- errors ---- */

static char *text_of(kvlang *lang, const struct cell *cell) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    if (cell_is_text(cell)) text_write(&lang->core->heap, cell, &out);
    text_put(&out, "", 1);
    if (!out.error) return buffer.bytes;
    text_buffer_free(&buffer);
    return NULL;
}

static int failed_record(kvlang *lang, uint64_t vid, struct vthread_record **record) {
    uint32_t ref;
    *record = vthread_find(lang->core, vid, &ref);
    if (!*record) {
        handle_fail(lang, KVLANG_ENAME, "there is no vthread %llu", (unsigned long long)vid);
        return KVLANG_ENAME;
    }
    if (atomic_load_explicit(&(*record)->status, memory_order_acquire) == STATUS_ERROR) return KVLANG_OK;
    handle_fail(lang, KVLANG_EUSAGE, "vthread %llu has not failed", (unsigned long long)vid);
    return KVLANG_EUSAGE;
}

/* file:line:column, from its end: the file's name may have colons. */
static void split_place(char *place, struct kvlang_failure *failure) {
    unsigned long parts[2] = {0, 0};
    for (unsigned i = 0; i < 2; i++) {
        char *colon = strrchr(place, ':');
        if (!colon) return;
        parts[i] = strtoul(colon + 1, NULL, 10);
        *colon = '\0';
    }
    failure->column = (uint32_t)parts[0];
    failure->line = (uint32_t)parts[1];
}

int kvlang_failure_of(kvlang *lang, uint64_t vid, struct kvlang_failure *failure) {
    struct vthread_record *record;
    int rc = failed_record(lang, vid, &record);
    if (rc) return rc;
    const struct cell *cells[FAILURE_TEXTS] = {&record->error_kind, &record->error_message, &record->error_place, &record->error_place, &record->error_chain};
    for (unsigned i = 0; i < FAILURE_TEXTS; i++) {
        free(lang->failure_texts[i]);
        lang->failure_texts[i] = text_of(lang, cells[i]);
    }
    for (unsigned i = 0; i < FAILURE_TEXTS; i++)
        if (!lang->failure_texts[i]) {
            handle_fail(lang, KVLANG_ENOMEM, "no memory to show an error");
            return KVLANG_ENOMEM;
        }
    *failure = (struct kvlang_failure){
        .kind = lang->failure_texts[0],
        .message = lang->failure_texts[1],
        .place = lang->failure_texts[2],
        .file = lang->failure_texts[3],
        .chain = lang->failure_texts[4],
    };
    split_place(lang->failure_texts[3], failure);
    return KVLANG_OK;
}

/* ---- the diagnostic ---- */

static int put(void *context, const char *bytes, size_t count) {
    text_put(context, bytes, count);
    return 0;
}

static struct ast_text line_of(const char *text, size_t bytes, uint32_t number) {
    const char *at = text, *end = text + bytes;
    for (uint32_t line = 1; line < number && at < end; line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return (struct ast_text){at, (uint32_t)((stop ? stop : end) - at)};
}

/* The text of the function that failed, and the line of the file at which it begins, from the tree. */
static int function_source(kvlang *lang, const struct vthread_record *record, char **text, size_t *bytes, uint32_t *first_line) {
    char key[KVSPACE_KEY_MAX + 1], path[KVSPACE_KEY_MAX + 1];
    struct kvspace_value value;
    struct heap *heap = &lang->core->heap;
    uint64_t pc = pc_seen(record);
    if (!pc_frame(pc)) return -1;
    const struct function_record *function = (const struct function_record *)(const void *)(heap->base + ((uint64_t)frame_at(heap, pc_frame(pc))->function << 4));
    snprintf(path, sizeof path, "%.*s", (int)function->path_bytes, function->path);
    if (snprintf(key, sizeof key, "%s/‥map", path) >= (int)sizeof key) return -1;
    if (kvspace_get(lang->space, key, &value) || value.kind != KVSPACE_INT32 || value.body_bytes < 8) return -1;
    int32_t line;
    memcpy(&line, value.body, sizeof line);
    if (snprintf(key, sizeof key, "%s/‥src", path) >= (int)sizeof key) return -1;
    if (kvspace_get(lang->space, key, &value) || value.kind != KVSPACE_CHAR_UTF8) return -1;
    *text = malloc((size_t)value.body_bytes + 1);
    if (!*text) return -1;
    memcpy(*text, value.body, (size_t)value.body_bytes);
    *bytes = (size_t)value.body_bytes;
    *first_line = line > 0 ? (uint32_t)line : 1;
    return 0;
}

static void show_line(kvlang *lang, const struct vthread_record *record, const struct kvlang_failure *failure, struct text_out *out) {
    char *text = NULL;
    size_t bytes = 0;
    uint32_t first_line = 1;
    struct ast_text line = {0};
    if (!failure->line) return;
    if (lang->source && strcmp(lang->source_name, failure->file) == 0) {
        line = line_of(lang->source, lang->source_bytes, failure->line);
    } else {
        if (function_source(lang, record, &text, &bytes, &first_line)) return;
        if (failure->line >= first_line) line = line_of(text, bytes, failure->line - first_line + 1);
    }
    if (line.length) diag_render_line(line, failure->column, put, out);
    free(text);
}

int kvlang_failure_text(kvlang *lang, uint64_t vid, char **text) {
    struct kvlang_failure failure;
    struct vthread_record *record;
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    int rc = kvlang_failure_of(lang, vid, &failure);
    if (!rc) rc = failed_record(lang, vid, &record);
    if (rc) return rc;
    text_puts(&out, failure.place);
    text_puts(&out, ": error: ");
    text_puts(&out, failure.kind);
    text_puts(&out, ": ");
    text_puts(&out, failure.message);
    text_puts(&out, "\n");
    show_line(lang, record, &failure, &out);
    text_puts(&out, failure.chain);
    text_put(&out, "", 1);
    if (out.error) {
        text_buffer_free(&buffer);
        return handle_fail(lang, KVLANG_ENOMEM, "no memory to show an error");
    }
    *text = buffer.bytes;
    return KVLANG_OK;
}

int kvlang_remove(kvlang *lang, uint64_t vid) {
    enum kvlang_status status;
    int rc = kvlang_status_of(lang, vid, &status);
    if (rc) return rc;
    rc = vthread_remove(lang->core, vid);
    if (rc == RUN_BUSY) return handle_fail(lang, KVLANG_EBUSY, "vthread %llu is running", (unsigned long long)vid);
    return rc ? handle_fault(lang, -rc) : KVLANG_OK;
}
