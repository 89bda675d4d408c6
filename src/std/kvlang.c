/* The embedding API of kvlang.h: a core, the compiler and the standard runtime's opcodes on one space.
 * Relies on core/runtime.h, layout.h and term.h. Promises of kvlang.h; what programs leave in the tree is the core's affair. */
#include "std/kvlang_handle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/caps.h"
#include "core/exec.h"
#include "core/ext.h"
#include "core/lease.h"
#include "core/native.h"
#include "core/text.h"
#include "core/tree_value.h"
#include "core/types.h"

static const char *const error_texts[KVLANG_ERROR_LAST] = {
    [KVLANG_OK] = "no error",
    [KVLANG_ESPACE] = "the space cannot be used",
    [KVLANG_ENOMEM] = "out of memory",
    [KVLANG_ESOURCE] = "the source has errors",
    [KVLANG_ENAME] = "there is nothing of that name",
    [KVLANG_ETYPE] = "the arguments do not fit",
    [KVLANG_ECONFLICT] = "the opcode is registered with another signature",
    [KVLANG_EBUSY] = "the vthread is being run elsewhere",
    [KVLANG_EUSAGE] = "the call makes no sense here",
};

const char *kvlang_strerror(int code) {
    return code >= 0 && code < KVLANG_ERROR_LAST ? error_texts[code] : "unknown error";
}

int handle_fail(kvlang *lang, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(lang->message, sizeof lang->message, format, arguments);
    va_end(arguments);
    return code;
}

int handle_space_error(kvlang *lang, int rc) {
    return handle_fail(lang, rc == KVSPACE_ENOMEM ? KVLANG_ENOMEM : KVLANG_ESPACE, "%s", kvspace_message(lang->space));
}

/* An error_kind of the core, with its message in the fault. */
int handle_fault(kvlang *lang, int kind) {
    int code = KVLANG_ESPACE;
    if (kind == ERROR_NAME) code = KVLANG_ENAME;
    else if (kind == ERROR_OUT_OF_MEMORY) code = KVLANG_ENOMEM;
    else if (kind == ERROR_TYPE || kind == ERROR_VALUE) code = KVLANG_ETYPE;
    else if (kind == ERROR_ROUTE) code = KVLANG_ECONFLICT;
    return handle_fail(lang, code, "%s", lang->core->heap.fault.message);
}

const char *kvlang_message(const kvlang *lang) {
    return lang->message;
}

kvspace *kvlang_space(kvlang *lang) {
    return lang->space;
}

/* ---- opening ---- */

static int open_space(kvlang *lang, const struct kvlang_options *options) {
    struct kvspace_open_options space_options = {0};
    struct kvspace_problem problem = {0};
    if (options->space) {
        lang->space = options->space;
        return KVLANG_OK;
    }
    if (options->space_options) space_options = *options->space_options;
    if (!space_options.problem) space_options.problem = &problem;
    if (!space_options.label) space_options.label = options->name ? options->name : "kvlang";
    int rc = kvspace_open_with(options->dsn, &space_options, &lang->space);
    if (!rc) {
        lang->owns_space = true;
        return KVLANG_OK;
    }
    const char *message = space_options.problem->message;
    return handle_fail(lang, rc == KVSPACE_ENOMEM ? KVLANG_ENOMEM : KVLANG_ESPACE, "%s", *message ? message : kvspace_strerror(rc));
}

static void spawned_failed(void *context, struct core *core, uint64_t vid) {
    kvlang *lang = context;
    (void)core;
    if (lang->failed) lang->failed(lang->failed_context, lang, vid);
}

/* The natives and the standard runtime's tables: bound to the core, and registered in the tree for the compiler and others. */
static int add_tables(kvlang *lang, const struct kvlang_options *options) {
    struct core *core = lang->core;
    uint32_t count;
    const struct native_row *natives = native_table(&count);
    int rc = caps_register(core, "core", true, natives, count);
    if (!rc) rc = caps_register(core, "vthread", true, schedule_rows, schedule_count);
    if (rc) return handle_fault(lang, rc);
    return options->bare ? KVLANG_OK : families_add(lang, options->deny);
}

static int open_core(kvlang *lang, const struct kvlang_options *options) {
    int rc = core_open(lang->space, &lang->core);
    if (rc) return handle_fail(lang, rc == ERROR_OUT_OF_MEMORY ? KVLANG_ENOMEM : KVLANG_ESPACE, "the runtime cannot begin: %s", kvspace_message(lang->space));
    if (options->depth_limit) lang->core->depth_limit = options->depth_limit;
    lang->core->failed = spawned_failed;
    lang->core->failed_context = lang;
    return add_tables(lang, options);
}

int kvlang_open(const struct kvlang_options *options, kvlang **out) {
    static const struct kvlang_options defaults;
    if (!options) options = &defaults;
    kvlang *lang = calloc(1, sizeof *lang);
    if (!lang) {
        if (options->problem) snprintf(options->problem, 256, "%s", kvlang_strerror(KVLANG_ENOMEM));
        return KVLANG_ENOMEM;
    }
    int rc = open_space(lang, options);
    if (!rc) rc = open_core(lang, options);
    if (!rc) {
        *out = lang;
        return KVLANG_OK;
    }
    if (options->problem) snprintf(options->problem, 256, "%.255s", lang->message);
    kvlang_close(lang);
    return rc;
}

void kvlang_close(kvlang *lang) {
    if (!lang) return;
    core_close(lang->core);
    ext_tables_free(lang->tables);
    families_close(lang);
    if (lang->owns_space) kvspace_close(lang->space);
    unit_forget(lang);
    free(lang->start_path);
    for (unsigned i = 0; i < FAILURE_TEXTS; i++) free(lang->failure_texts[i]);
    free(lang);
}

/* ---- extending ---- */

int kvlang_add_caps(kvlang *lang, const char *owner, const struct kvlang_cap *caps, size_t count, void *host) {
    struct ext_table *table;
    int rc = ext_table_new(&lang->core->heap, caps, count, host, &table);
    if (rc) return handle_fault(lang, rc);
    table->next = lang->tables;
    lang->tables = table;
    rc = caps_register(lang->core, owner, false, table->rows, table->count);
    if (!rc) rc = core_add_caps(lang->core, table->rows, table->count, table);
    return rc ? handle_fault(lang, rc) : KVLANG_OK;
}

static int visit_table(const struct native_row *rows, uint32_t count, const char *owner, int (*visit)(void *, const struct kvlang_opcode *), void *context) {
    for (uint32_t i = 0; i < count; i++) {
        struct kvlang_opcode opcode = {rows[i].name, rows[i].signature, rows[i].doc, rows[i].example, rows[i].prints, owner};
        if (visit(context, &opcode)) return KVLANG_EUSAGE;
    }
    return KVLANG_OK;
}

int kvlang_opcodes(kvlang *lang, int (*visit)(void *context, const struct kvlang_opcode *opcode), void *context) {
    uint32_t count;
    const struct native_row *natives = native_table(&count);
    int rc = visit_table(natives, count, "core", visit, context);
    for (const struct core_caps *caps = lang->core->caps; caps && !rc; caps = caps->next) {
        const char *owner = caps->rows == schedule_rows ? "core" : "std";
        for (const struct ext_table *table = lang->tables; table; table = table->next)
            if (table->rows == caps->rows) owner = "added";
        rc = visit_table(caps->rows, caps->count, owner, visit, context);
    }
    return rc;
}

/* ---- making vthreads ---- */

static void function_path(const char *function, char *out, size_t capacity) {
    snprintf(out, capacity, "%s%s", function[0] == '/' ? "" : "/lib/", function);
}

/* What the caller may leave out of a value is filled in here: see struct kvspace_value. */
static int plain_cell(struct heap *heap, const struct kvspace_value *given, struct cell *out) {
    struct kvspace_value value = *given;
    uint64_t size = kvspace_kind_bytes(value.kind), elements = 1, length;
    if (!value.kind || value.ref) return tree_cell(heap, &value, out);
    if (!value.store) value.store = value.ndim ? KVSPACE_NDARRAY : KVSPACE_ATOM;
    if (!value.ndim && !value.body) value.body = value.scalar.bytes;
    if (value.ndim == 1 && !value.dims) {
        length = size ? value.body_bytes / size : 0;
        value.dims = &length;
    }
    if (value.ndim > KVSPACE_NDIM_MAX || (value.ndim && !value.dims)) return fault(heap, ERROR_TYPE, "an array of %u axes without lengths", value.ndim);
    for (unsigned i = 0; i < value.ndim; i++)
        if (__builtin_mul_overflow(elements, value.dims[i], &elements)) return fault(heap, ERROR_VALUE, "an array with more elements than there can be");
    if (__builtin_mul_overflow(elements, size, &elements)) return fault(heap, ERROR_VALUE, "an array with more bytes than there can be");
    if (value.body_bytes && value.body_bytes != elements) return fault(heap, ERROR_VALUE, "%llu bytes for a value of %llu", (unsigned long long)value.body_bytes, (unsigned long long)elements);
    value.body_bytes = elements;
    if (elements && !value.body) return fault(heap, ERROR_VALUE, "an array without its elements");
    return tree_cell(heap, &value, out);
}

static int argument_cell(kvlang *lang, const struct kvspace_value *value, struct cell *out) {
    struct heap *heap = &lang->core->heap;
    char key[KVSPACE_KEY_MAX + 1];
    if (value->ref != KVSPACE_POINTER) return plain_cell(heap, value, out);
    size_t bytes = value->body_bytes ? (size_t)value->body_bytes : strlen(value->body);
    if (bytes >= sizeof key) return fault(heap, ERROR_VALUE, "a key of %zu bytes", bytes);
    memcpy(key, value->body, bytes);
    key[bytes] = '\0';
    return tree_get(heap, lang->space, key, out);
}

/* Arguments from texts: a parameter that takes text gets it, any other gets the literal that it spells. */
static int text_cell(kvlang *lang, const struct link_parameter *parameter, const char *text, struct cell *out) {
    static const char place[] = "/vthread/‥argument";
    struct heap *heap = &lang->core->heap;
    struct kvspace_problem problem = {0};
    struct cell made;
    int rc = text_from_utf8(heap, text, strlen(text), &made);
    if (rc || !parameter || type_takes(heap, parameter->type->form, &made)) {
        *out = made;
        return rc;
    }
    rc = type_fit(heap, parameter->type->form, &made, false, out);
    cell_drop(heap, made);
    if (!rc) return 0;
    heap->fault.kind = 0;
    if (kvspace_set_literal(lang->space, place, text, strlen(text), &problem))
        return fault(heap, ERROR_TYPE, "%s is %s: \"%s\" is no literal of it (%s)", parameter->name, parameter->type->text, text, problem.message);
    rc = tree_get(heap, lang->space, place, &made);
    kvspace_del(lang->space, place);
    if (rc) return rc;
    rc = type_fit(heap, parameter->type->form, &made, true, out);
    cell_drop(heap, made);
    return rc ? fault(heap, rc, "%s is %s: \"%s\" does not fit", parameter->name, parameter->type->text, text) : 0;
}

struct argument_source {
    const struct kvspace_value *values;
    const char *const *texts;
    size_t count;
};

static int cells_make(kvlang *lang, const struct link *link, const struct argument_source *source, struct cell *cells) {
    for (size_t i = 0; i < source->count; i++) {
        const struct link_parameter *parameter = NULL;
        if (i < link->reads) parameter = &link->parameters[i];
        else if (link->variadic && link->reads) parameter = &link->parameters[link->reads - 1];
        int rc = source->values ? argument_cell(lang, &source->values[i], &cells[i]) : text_cell(lang, parameter, source->texts[i], &cells[i]);
        if (rc) return rc;
    }
    return 0;
}

static int start(kvlang *lang, const char *function, const struct argument_source *source, uint64_t *vid) {
    struct core *core = lang->core;
    char path[KVSPACE_KEY_MAX + 8];
    struct link *link;
    function_path(function, path, sizeof path);
    core->heap.fault.kind = 0;
    int rc = link_function(core, path, &link);
    if (rc) return handle_fault(lang, rc);
    if (source->count > UINT16_MAX) return handle_fail(lang, KVLANG_ETYPE, "%zu arguments", source->count);
    struct cell *cells = calloc(source->count + 1, sizeof *cells);
    const struct cell **args = calloc(source->count + 1, sizeof *args);
    if (cells && args) {
        for (size_t i = 0; i < source->count; i++) args[i] = &cells[i];
        rc = cells_make(lang, link, source, cells);
        if (!rc) rc = vthread_create(core, path, args, (uint32_t)source->count, vid);
        for (size_t i = 0; i < source->count; i++) cell_drop(&core->heap, cells[i]);
    } else {
        rc = fault(&core->heap, ERROR_OUT_OF_MEMORY, "no memory for %zu arguments", source->count);
    }
    free(cells);
    free(args);
    return rc ? handle_fault(lang, rc) : KVLANG_OK;
}

int kvlang_start(kvlang *lang, const char *function, const struct kvspace_value *arguments, size_t count, uint64_t *vid) {
    static const struct kvspace_value none;
    return start(lang, function, &(struct argument_source){arguments ? arguments : &none, NULL, count}, vid);
}

int kvlang_start_texts(kvlang *lang, const char *function, const char *const *arguments, size_t count, uint64_t *vid) {
    return start(lang, function, &(struct argument_source){NULL, arguments, count}, vid);
}

/* ---- running ---- */

static enum kvlang_status status_now(const struct vthread_record *record) {
    uint32_t status = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&record->status, memory_order_acquire);
    return status < STATUS_COUNT ? (enum kvlang_status)status : KVLANG_FAILED;
}

static int find(kvlang *lang, uint64_t vid, struct vthread_record **record) {
    uint32_t ref;
    *record = vthread_find(lang->core, vid, &ref);
    return *record ? KVLANG_OK : handle_fail(lang, KVLANG_ENAME, "there is no vthread %llu", (unsigned long long)vid);
}

int kvlang_status_of(kvlang *lang, uint64_t vid, enum kvlang_status *status) {
    struct vthread_record *record;
    int rc = find(lang, vid, &record);
    if (!rc) *status = status_now(record);
    return rc;
}

const char *kvlang_status_name(enum kvlang_status status) {
    return (unsigned)status < STATUS_COUNT ? vthread_status_names[status] : "?";
}

int kvlang_run(kvlang *lang, uint64_t vid, uint64_t steps, enum kvlang_status *status) {
    struct vthread_record *record;
    int rc = find(lang, vid, &record);
    if (rc) return rc;
    int ended = vthread_run(lang->core, vid, steps);
    if (ended < 0) return handle_fault(lang, -ended);
    if (ended == RUN_BUSY) return handle_fail(lang, KVLANG_EBUSY, "another runtime is running vthread %llu", (unsigned long long)vid);
    if (status) *status = status_now(record);
    return KVLANG_OK;
}

int kvlang_run_spawned(kvlang *lang) {
    core_ready_run(lang->core);
    return KVLANG_OK;
}

int kvlang_serve(kvlang *lang, const volatile int *stop, int once) {
    static const volatile int never = 0;
    int rc = core_serve(lang->core, stop ? stop : &never, once != 0);
    return rc ? handle_fault(lang, rc) : KVLANG_OK;
}

static int ask(kvlang *lang, uint64_t vid, const char *wanted) {
    struct vthread_record *record;
    char key[64];
    int rc = find(lang, vid, &record);
    if (rc) return rc;
    snprintf(key, sizeof key, "/vthread/%llu/‥status", (unsigned long long)vid);
    rc = kvspace_set_text(lang->space, key, wanted);
    return rc ? handle_space_error(lang, rc) : KVLANG_OK;
}

int kvlang_pause(kvlang *lang, uint64_t vid) {
    return ask(lang, vid, "paused");
}

int kvlang_cancel(kvlang *lang, uint64_t vid) {
    return ask(lang, vid, "killed");
}

void kvlang_interrupt(kvlang *lang) {
    struct vthread_record *record = lang->core->record;
    if (record) attention_ask(record, ATTENTION_PAUSE);
}

void kvlang_on_failure(kvlang *lang, void (*failed)(void *context, kvlang *lang, uint64_t vid), void *context) {
    lang->failed = failed;
    lang->failed_context = context;
}

const char *kvlang_version_text(void) {
    return kvspace_version_text();
}
