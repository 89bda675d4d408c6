/* The table of natives and the access to their arguments.
 * Relies on natives.def. Promises: see native.h. */
#include "core/native.h"

#include "core/types.h"

static const struct native_row rows[] = {
#define NATIVE(name, function, least, most, results, reuse, signature, doc, example, prints) \
    { name, signature, doc, example, prints, function, least, most, results, reuse },
#include "core/natives.def"
#undef NATIVE
};

const struct native_row *native_table(uint32_t *count) {
    *count = (uint32_t)(sizeof rows / sizeof rows[0]);
    return rows;
}

const struct native_row *native_find(const char *name, size_t bytes) {
    static const char alias[] = "kvspace·";
    const size_t alias_bytes = sizeof alias - 1;
    char short_name[64];
    if (bytes > alias_bytes && bytes - alias_bytes + 4 < sizeof short_name && memcmp(name, alias, alias_bytes) == 0) {
        memcpy(short_name, "kv·", 4);
        memcpy(short_name + 4, name + alias_bytes, bytes - alias_bytes);
        bytes = bytes - alias_bytes + 4;
        name = short_name;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].name) == bytes && memcmp(rows[i].name, name, bytes) == 0) return &rows[i];
    return NULL;
}

/* The i-th `name:type` of a signature; the last one stands for all that follow. */
static void parameter_of(const char *signature, uint32_t index, char *name, char *type, size_t capacity) {
    const char *at = strchr(signature, '(');
    name[0] = type[0] = 0;
    if (!at) return;
    at++;
    unsigned depth = 0;
    for (uint32_t i = 0;; i++) {
        while (*at == ' ') at++;
        const char *end = at;
        for (depth = 0; *end && (depth || (*end != ',' && *end != ')')); end++) depth += *end == '[' ? 1u : *end == ']' ? -1u : 0u;
        const char *colon = memchr(at, ':', (size_t)(end - at));
        if ((i == index || *end != ',') && colon) {
            size_t name_bytes = (size_t)(colon - at), type_bytes = (size_t)(end - colon - 1);
            if (name_bytes >= capacity || type_bytes >= capacity) return;
            memcpy(name, at, name_bytes);
            name[name_bytes] = 0;
            memcpy(type, colon + 1, type_bytes);
            type[type_bytes] = 0;
            return;
        }
        if (*end != ',') return;
        at = end + 1;
    }
}

int native_mismatch(struct core_call *call, uint32_t i, const char *expected) {
    char actual[160], name[96] = "", type[96] = "";
    type_show(call->heap, call->args[i], actual, sizeof actual);
    if (call->row) parameter_of(call->row->signature, i, name, type, sizeof name);
    if (!name[0]) return fault(call->heap, ERROR_TYPE, "argument %u is %s, not %s", i + 1, expected ? expected : "right", actual);
    return fault(call->heap, ERROR_TYPE, "%s: %s is %s, not %s", call->row->name, name, expected ? expected : type, actual);
}

int native_scalar(struct core_call *call, uint32_t i, unsigned kind, uint64_t *bits) {
    const struct cell *cell = call->args[i];
    struct cell fitted;
    if (cell_tag(cell) == kind) {
        *bits = cell->payload;
        return 0;
    }
    if (native_literal(call, i) && literal_fits(cell, kind, &fitted)) {
        *bits = fitted.payload;
        return 0;
    }
    return native_mismatch(call, i, kind_name(kind));
}

int native_int64(struct core_call *call, uint32_t i, int64_t *out) {
    uint64_t bits = 0;
    int rc = native_scalar(call, i, KIND_INT64, &bits);
    if (!rc) *out = (int64_t)bits;
    return rc;
}


int native_text(struct core_call *call, uint32_t i, const struct cell **out) {
    *out = call->args[i];
    return cell_is_text(*out) ? 0 : native_mismatch(call, i, NULL);
}

int native_array(struct core_call *call, uint32_t i, const struct cell **out) {
    *out = call->args[i];
    return cell_is_array(*out) && !cell_is_text(*out) ? 0 : native_mismatch(call, i, "an array");
}

int native_map(struct core_call *call, uint32_t i, const struct cell **out) {
    *out = call->args[i];
    return cell_tag(*out) == TAG_MAP || cell_tag(*out) == TAG_STRUCT ? 0 : native_mismatch(call, i, "a map");
}

int native_utf8(struct core_call *call, uint32_t i, char *out, size_t capacity) {
    const struct cell *text;
    int rc = native_text(call, i, &text);
    if (rc) return rc;
    size_t bytes;
    if (!text_to_utf8(call->heap, text, out, capacity, &bytes))
        return fault(call->heap, ERROR_VALUE, "%s: a text of more than %zu bytes", call->row ? call->row->name : "native", capacity - 1);
    if (strlen(out) != bytes) return fault(call->heap, ERROR_VALUE, "%s: a text with a zero in it", call->row ? call->row->name : "native");
    return 0;
}

int native_give_text(struct core_call *call, struct text_buffer *buffer) {
    int rc = text_from_utf8(call->heap, buffer->bytes ? buffer->bytes : "", buffer->length, &call->results[0]);
    text_buffer_free(buffer);
    return rc;
}
