/* Opcodes of extensions: see ext.h and kvlang/ext.h. A row of an extension is a native whose function is extension_run, which
 * finds the extension's own function beside the row. Texts that a call asked for are freed after it.
 * Relies on native.h, types.h, array.h. Promises of kvlang/ext.h. */
#include "core/ext.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/exec.h"
#include "core/native.h"
#include "core/types.h"
#include "kvspace/textout.h"

struct ext_parameter {
    const struct type_info *type;
    unsigned kind; /* of a plain scalar type, else 0 */
    bool text;     /* a string of any encoding will do */
    bool any;
};

struct ext_text { /* a text that was lent to the function */
    struct ext_text *next;
    char bytes[];
};

struct ext_row {
    const kvlang_cap *cap;
    char *signature;
    struct ext_parameter *parameters; /* reads, then writes */
    uint32_t reads, writes;
    bool variadic;
    struct ext_text *lent;
};

static struct ext_row *details_of(const struct core_call *call) {
    const struct ext_table *table = call->host;
    return &table->details[call->row - table->rows];
}

static const struct ext_parameter *read_parameter(const struct ext_row *row, size_t index) {
    if (index >= row->reads && row->variadic) index = row->reads - 1;
    return index < row->reads ? &row->parameters[index] : NULL;
}

static bool takes(struct core_call *call, const struct ext_parameter *parameter, uint32_t i) {
    const struct cell *cell = call->args[i];
    struct cell fitted;
    if (parameter->kind && cell_tag(cell) == parameter->kind) return true;
    if (parameter->any) return true;
    if (parameter->text) return cell_is_text(cell);
    if (parameter->kind && native_literal(call, i) && literal_fits(cell, parameter->kind, &fitted)) return true;
    return type_takes(call->heap, parameter->type->form, cell);
}

static int extension_run(struct core_call *call) {
    struct ext_row *row = details_of(call);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct ext_parameter *parameter = read_parameter(row, i);
        if (parameter && !takes(call, parameter, i)) return native_mismatch(call, i, NULL);
    }
    struct ext_text *outer = row->lent;
    row->lent = NULL;
    int rc = row->cap->run(call);
    while (row->lent) {
        struct ext_text *next = row->lent->next;
        free(row->lent);
        row->lent = next;
    }
    row->lent = outer;
    if (rc && (rc < 0 || rc >= ERROR_KIND_COUNT)) rc = fault(call->heap, ERROR_RUNTIME, "%s failed (%d)", call->row->name, rc);
    return rc;
}

/* ---- tables ---- */

/* One parameter, `name:type` or `name:type...`, of `bytes` bytes. */
static int parameter_parse(struct heap *heap, const char *opcode, const char *text, size_t bytes, struct ext_parameter *parameter, bool *variadic) {
    const char *colon = memchr(text, ':', bytes);
    if (!colon) return fault(heap, ERROR_TYPE, "%s: the parameter %.*s has no type", opcode, (int)bytes, text);
    const char *type = colon + 1;
    size_t type_bytes = bytes - (size_t)(type - text);
    while (type_bytes && *type == ' ') type++, type_bytes--;
    *variadic = type_bytes > 3 && memcmp(type + type_bytes - 3, "...", 3) == 0;
    if (*variadic) type_bytes -= 3;
    int rc = type_of_text(heap, type, type_bytes, &parameter->type);
    if (rc) return rc;
    const struct type_info *info = parameter->type;
    parameter->any = strcmp(info->text, "any") == 0;
    parameter->text = strncmp(info->text, "[]char/", 7) == 0 && !strchr(info->text, '|');
    for (unsigned kind = 1; kind < KIND_COUNT; kind++)
        if (strcmp(info->text, kind_name(kind)) == 0) parameter->kind = kind;
    return 0;
}

/* The parameters of a list; commas inside brackets belong to types. */
static int parameters_parse(struct heap *heap, const char *opcode, const char *text, struct ext_parameter *parameters, uint32_t *count, bool *variadic) {
    int depth = 0;
    const char *from = text;
    *count = 0;
    *variadic = false;
    for (const char *c = text;; c++) {
        if (*c == '[') depth++;
        if (*c == ']') depth--;
        if (*c && (*c != ',' || depth > 0)) continue;
        while (*from == ' ') from++;
        const char *end = c;
        while (end > from && end[-1] == ' ') end--;
        if (end > from) {
            if (*variadic) return fault(heap, ERROR_TYPE, "%s: only the last parameter may be variadic", opcode);
            int rc = parameter_parse(heap, opcode, from, (size_t)(end - from), &parameters[(*count)++], variadic);
            if (rc) return rc;
        }
        if (!*c) return 0;
        from = c + 1;
    }
}

static size_t commas(const char *text) {
    size_t count = 0;
    for (; text && *text; text++) count += *text == ',';
    return count;
}

static int row_new(struct heap *heap, const kvlang_cap *cap, struct native_row *native, struct ext_row *row) {
    const char *reads = cap->reads ? cap->reads : "", *writes = cap->writes ? cap->writes : "";
    bool ignored;
    size_t room = strlen(reads) + strlen(writes) + 16;
    row->cap = cap;
    row->signature = malloc(room);
    row->parameters = calloc(commas(reads) + commas(writes) + 2, sizeof *row->parameters);
    if (!row->signature || !row->parameters) return fault(heap, ERROR_OUT_OF_MEMORY, "no memory for the opcode %s", cap->name);
    snprintf(row->signature, room, "(%s) -> (%s)", reads, writes);
    int rc = parameters_parse(heap, cap->name, reads, row->parameters, &row->reads, &row->variadic);
    if (!rc) rc = parameters_parse(heap, cap->name, writes, row->parameters + row->reads, &row->writes, &ignored);
    if (rc) return rc;
    if (row->reads > 250 || row->writes > 250) return fault(heap, ERROR_TYPE, "%s has more than 250 parameters", cap->name);
    *native = (struct native_row){
        .name = cap->name,
        .signature = row->signature,
        .doc = cap->doc,
        .run = extension_run,
        .least = (uint8_t)(row->reads - row->variadic),
        .most = row->variadic ? 255 : (uint8_t)row->reads,
        .results = (uint8_t)row->writes,
    };
    return 0;
}

int ext_table_new(struct heap *heap, const kvlang_cap *caps, size_t count, void *host, struct ext_table **out) {
    struct ext_table *table = calloc(1, sizeof *table);
    if (!table) return fault(heap, ERROR_OUT_OF_MEMORY, "no memory for a table of opcodes");
    table->rows = calloc(count + 1, sizeof *table->rows);
    table->details = calloc(count + 1, sizeof *table->details);
    table->host = host;
    int rc = 0;
    if (!table->rows || !table->details) {
        ext_tables_free(table);
        return fault(heap, ERROR_OUT_OF_MEMORY, "no memory for a table of opcodes");
    }
    for (size_t i = 0; !rc && i < count; i++) {
        table->count = (uint32_t)i + 1;
        rc = row_new(heap, &caps[i], &table->rows[i], &table->details[i]);
    }
    if (rc) ext_tables_free(table);
    else *out = table;
    return rc;
}

void ext_tables_free(struct ext_table *table) {
    while (table) {
        struct ext_table *next = table->next;
        for (uint32_t i = 0; i < table->count && table->details; i++) {
            free(table->details[i].signature);
            free(table->details[i].parameters);
        }
        free(table->rows);
        free(table->details);
        free(table);
        table = next;
    }
}

/* ---- arguments ---- */

size_t kvlang_arg_count(const kvlang_call *call) { return call->arg_count; }
size_t kvlang_result_count(const kvlang_call *call) { return call->result_count; }

unsigned kvlang_arg_kind(const kvlang_call *call, size_t index) {
    if (index >= call->arg_count) return 0;
    const struct cell *cell = call->args[index];
    return cell_is_scalar(cell) || cell_is_array(cell) ? cell_kind(cell) : 0;
}

int kvlang_arg_is_none(const kvlang_call *call, size_t index) {
    return index >= call->arg_count || cell_is_none(call->args[index]);
}

static int absent(kvlang_call *call, size_t index) {
    return fault(call->heap, ERROR_TYPE, "%s: there is no argument %zu", call->row->name, index + 1);
}

static int argument_bits(kvlang_call *call, size_t index, unsigned kind, uint64_t *bits) {
    return index < call->arg_count ? native_scalar(call, (uint32_t)index, kind, bits) : absent(call, index);
}

int kvlang_arg_i64(kvlang_call *call, size_t index, int64_t *number) {
    uint64_t bits = 0;
    int rc = argument_bits(call, index, KIND_INT64, &bits);
    if (!rc) *number = (int64_t)bits;
    return rc;
}

int kvlang_arg_u64(kvlang_call *call, size_t index, uint64_t *number) {
    return argument_bits(call, index, KIND_UINT64, number);
}

int kvlang_arg_f64(kvlang_call *call, size_t index, double *number) {
    uint64_t bits = 0;
    int rc = argument_bits(call, index, KIND_FLOAT64, &bits);
    if (!rc) memcpy(number, &bits, sizeof *number);
    return rc;
}

int kvlang_arg_bool(kvlang_call *call, size_t index, int *truth) {
    uint64_t bits = 0;
    int rc = argument_bits(call, index, KIND_BOOL, &bits);
    if (!rc) *truth = bits != 0;
    return rc;
}

int kvlang_arg_text(kvlang_call *call, size_t index, const char **text, size_t *bytes) {
    const struct cell *cell;
    if (index >= call->arg_count) return absent(call, index);
    int rc = native_text(call, (uint32_t)index, &cell);
    if (rc) return rc;
    uint64_t units;
    text_units(call->heap, cell, &units);
    size_t room = (size_t)units * 4 + 1, used = 0;
    struct ext_text *lent = malloc(sizeof *lent + room);
    if (!lent) return fault(call->heap, ERROR_OUT_OF_MEMORY, "no room for a text of %zu bytes", room);
    text_to_utf8(call->heap, cell, lent->bytes, room, &used);
    struct ext_row *row = details_of(call);
    lent->next = row->lent;
    row->lent = lent;
    *text = lent->bytes;
    if (bytes) *bytes = used;
    return 0;
}

int kvlang_arg_array(kvlang_call *call, size_t index, struct kvlang_array *array) {
    const struct cell *cell;
    if (index >= call->arg_count) return absent(call, index);
    int rc = native_array(call, (uint32_t)index, &cell);
    if (rc) return rc;
    const struct block *block = cell_block(call->heap, cell);
    *array = (struct kvlang_array){
        .kind = cell_kind(cell),
        .ndim = block->ndim,
        .dims = block->dims,
        .body = block_body(block),
        .count = array_count(block),
        .bytes = block->body_bytes,
    };
    return 0;
}

/* ---- results ---- */

static int give(kvlang_call *call, size_t index, struct cell cell) {
    const struct ext_row *row = details_of(call);
    int rc = 0;
    if (index >= row->writes) {
        rc = fault(call->heap, ERROR_RUNTIME, "%s: there is no result %zu", call->row->name, index + 1);
    } else {
        const struct ext_parameter *parameter = &row->parameters[row->reads + index];
        if (cell_tag(&cell) != parameter->kind && !parameter->any && !(parameter->text && cell_is_text(&cell)) &&
            !type_takes(call->heap, parameter->type->form, &cell)) {
            char actual[96];
            type_show(call->heap, &cell, actual, sizeof actual);
            rc = fault(call->heap, ERROR_RUNTIME, "%s: its result %zu is %s, not %s", call->row->name, index + 1, actual, parameter->type->text);
        }
    }
    if (rc || (index && index >= call->result_count)) {
        cell_drop(call->heap, cell);
        return rc;
    }
    cell_drop(call->heap, call->results[index]);
    call->results[index] = cell;
    return 0;
}

int kvlang_give_i64(kvlang_call *call, size_t index, int64_t number) { return give(call, index, cell_int64(number)); }
int kvlang_give_u64(kvlang_call *call, size_t index, uint64_t number) { return give(call, index, cell_uint64(number)); }
int kvlang_give_f64(kvlang_call *call, size_t index, double number) { return give(call, index, cell_float64(number)); }
int kvlang_give_bool(kvlang_call *call, size_t index, int truth) { return give(call, index, cell_bool(truth != 0)); }

int kvlang_give_scalar(kvlang_call *call, size_t index, unsigned kind, const void *element) {
    if (!kind_size(kind)) return fault(call->heap, ERROR_VALUE, "%s: there is no kind %u", call->row->name, kind);
    return give(call, index, cell_scalar(kind, scalar_load(kind, element)));
}

int kvlang_give_text(kvlang_call *call, size_t index, const char *utf8, size_t bytes) {
    struct cell made;
    int rc = text_from_utf8(call->heap, utf8, bytes, &made);
    return rc ? rc : give(call, index, made);
}

int kvlang_give_array(kvlang_call *call, size_t index, unsigned kind, unsigned ndim, const uint64_t *dims, void **body) {
    struct cell made;
    if (!kind_size(kind) || ndim < 1 || ndim > BLOCK_NDIM_MAX) return fault(call->heap, ERROR_VALUE, "%s: an array of kind %u with %u axes", call->row->name, kind, ndim);
    int rc = array_new(call->heap, kind, ndim, dims, &made);
    if (rc) return rc;
    *body = block_body(cell_block(call->heap, &made));
    return give(call, index, made);
}

/* ---- errors, identity ---- */

int kvlang_raise(kvlang_call *call, const char *kind, const char *format, ...) {
    char message[sizeof call->heap->fault.message];
    int number = ERROR_RUNTIME;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    for (int i = 1; i < ERROR_KIND_COUNT; i++)
        if (strcmp(kind, error_kind_name(i)) == 0) number = i;
    return fault(call->heap, number, "%s", message);
}

void *kvlang_call_host(const kvlang_call *call) {
    const struct ext_table *table = call->host;
    return table->host;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t kvlang_call_token(const kvlang_call *call) {
    const struct core *core = call->services->context;
    struct vthread_record *record = core->record;
    if (!record) return 0;
    uint64_t pc = pc_seen(record) & ~PC_STAGED;
    if (record->token_pc != pc) { /* else it was drawn before a crash, or before in this very call */
        record->token++;
        store_order();
        record->token_pc = pc;
    }
    return mix(mix((uint64_t)record->created_ns, record->id), record->token);
}
