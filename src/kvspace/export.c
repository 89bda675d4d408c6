/* kvspace_export: a subtree as JSON or as a compact stream, see export.h. Relies on the public interface for reading, so that
 * provided keys are exported like stored ones. Promises: no recursion, memory in proportion to the depth; each value is
 * whole, and the tree may change meanwhile. */
#include "kvspace/export.h"

#include "kvspace/json.h"
#include "kvspace/path.h"
#include "kvspace/space.h"

#include <stdlib.h>
#include <string.h>

/* One level of the walk: the listing that is under way, and how long the key is that it lists. */
struct level {
    kvspace_cursor *cursor;
    size_t key_bytes;
};

struct exporter {
    kvspace *space;
    const struct kvspace_export_options *options;
    struct text_out out;
    uint64_t keys;
    struct level *levels;
    size_t depth, capacity;
    char key[KVSPACE_KEY_MAX + 1];
    unsigned char head[EXPORT_HEAD_MAX];
    char type[KVSPACE_TYPE_MAX + 256];
};

/* ---- JSON ---- */

/* Whether JSON shows the value exactly: numbers keep all digits there, a NaN's bits would not matter. */
static bool json_is_exact(const struct kvspace_value *value) {
    if (value->ref != KVSPACE_INLINE) return false;
    if (value->kind == KVSPACE_CHAR_UTF32) return value->ndim == 1;
    bool plain = (value->kind >= KVSPACE_BOOL && value->kind <= KVSPACE_UINT64) || value->kind == KVSPACE_FLOAT32 ||
                 value->kind == KVSPACE_FLOAT64;
    return plain && (!value->ndim || value->body_bytes);
}

static void put_hex(struct json_writer *json, const unsigned char *bytes, uint64_t count) {
    static const char digits[] = "0123456789abcdef";
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    for (uint64_t i = 0; i < count; i++) {
        char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        text_put(&out, pair, 2);
    }
    if (out.error && !json->out->error) json->out->error = TEXT_ENOMEM;
    json_put_string(json, buffer.bytes ? buffer.bytes : "", buffer.length);
    text_buffer_free(&buffer);
}

static int write_buffer(void *context, const char *bytes, size_t count) {
    struct text_out *out = context;
    text_put(out, bytes, count);
    return out->error;
}

/* The printed value; a code, KVSPACE_EUNSUPPORTED where it has no text in that style. */
static int print_body(struct exporter *exporter, const struct kvspace_value *value, enum kvspace_print_style style,
                      struct text_buffer *buffer) {
    struct text_out out = text_buffer_out(buffer);
    struct kvspace_print_options options = {.style = style};
    int rc = kvspace_print_value(value, &options, write_buffer, &out);
    (void)exporter;
    if (out.error) return KVSPACE_ENOMEM;
    return rc;
}

/* Whether a literal can be read back: what is no value of the language has one only if it is a word of text. */
static bool literal_is_exact(const struct kvspace_value *value) {
    return value->kind != KVSPACE_KIND_NONE && !(value->ndim == 0 && value->kind >= KVSPACE_CHAR_UTF32 && value->kind <= KVSPACE_CHAR_ASCII) &&
           !(value->ndim > 1 && value->kind >= KVSPACE_CHAR_UTF32 && value->kind <= KVSPACE_CHAR_ASCII) &&
           !(value->ndim && !value->body_bytes);
}

static int json_body(struct exporter *exporter, struct json_writer *json, const struct kvspace_value *value) {
    struct text_buffer buffer = {0};
    int rc = 0;
    bool exact = json_is_exact(value);
    if (exact || literal_is_exact(value)) {
        rc = print_body(exporter, value, exact ? KVSPACE_PRINT_JSON : KVSPACE_PRINT_LITERAL, &buffer);
        json_key_text(json, exact ? "value" : "literal");
        if (exact && !rc) json_put_raw(json, buffer.bytes, buffer.length);
        else json_put_string(json, buffer.bytes ? buffer.bytes : "", buffer.length);
    } else {
        if (value->store == KVSPACE_ATOM && !value->kind) {
            json_key_text(json, "store");
            json_put_text(json, "atom");
        }
        json_key_text(json, "body");
        put_hex(json, value->body, value->body_bytes);
    }
    text_buffer_free(&buffer);
    return rc;
}

static int json_value(struct exporter *exporter, struct json_writer *json, const struct kvspace_value *value) {
    const char *type = exporter->type;
    if (value->ref != KVSPACE_INLINE) {
        json_key_text(json, "type");
        json_put_string(json, value->type ? value->type : "", value->type ? value->type_bytes : 0);
        json_key_text(json, value->ref == KVSPACE_POINTER ? "pointer" : "external");
        json_put_string(json, value->body, (size_t)value->body_bytes);
        return 0;
    }
    kvspace_type_of(value, exporter->type, sizeof exporter->type);
    json_key_text(json, "type");
    json_put_text(json, type);
    if (value->store == KVSPACE_INDEX) {
        json_key_text(json, "store");
        json_put_text(json, "index");
        return 0;
    }
    return json_body(exporter, json, value);
}

static int export_json(struct exporter *exporter, const struct kvspace_value *value) {
    struct json_writer json = {.out = &exporter->out, .indent = exporter->options->indent};
    text_puts(&exporter->out, exporter->keys ? ",\n" : "[\n");
    json_object_begin(&json);
    json_key_text(&json, "key");
    json_put_text(&json, exporter->key);
    int rc = json_value(exporter, &json, value);
    if (value->ro) {
        json_key_text(&json, "ro");
        json_put_bool(&json, true);
    }
    json_object_end(&json);
    return rc;
}

/* ---- stream ---- */

static void put_number(struct text_out *out, unsigned bytes, uint64_t number) {
    char text[8];
    for (unsigned i = 0; i < bytes; i++) text[i] = (char)(number >> (8 * i) & 0xff);
    text_put(out, text, bytes);
}

static int export_stream(struct exporter *exporter, const struct kvspace_value *value) {
    size_t head_bytes;
    struct kvspace_value told = *value;
    told.owner = 0; /* who wrote it means nothing elsewhere */
    int rc = kvspace_head_encode(&told, exporter->head, sizeof exporter->head, &head_bytes);
    if (rc) return rc;
    size_t key_bytes = strlen(exporter->key);
    put_number(&exporter->out, 4, key_bytes);
    put_number(&exporter->out, 4, head_bytes);
    text_put(&exporter->out, exporter->key, key_bytes);
    text_put(&exporter->out, (const char *)exporter->head, head_bytes);
    if (value->body_bytes) text_put(&exporter->out, value->body, (size_t)value->body_bytes);
    return 0;
}

/* ---- the walk ---- */

static int export_key(struct exporter *exporter) {
    struct kvspace_value value;
    int rc = kvspace_read_begin(exporter->space);
    if (rc) return rc;
    rc = kvspace_get(exporter->space, exporter->key, &value);
    bool provider = !rc && value.type && strncmp(value.type, "provider/", 9) == 0; /* a record of this machine's */
    if (!rc && value.ref == KVSPACE_INLINE && value.store == KVSPACE_EXTINDEX) value.store = KVSPACE_INDEX, value.body_bytes = 0;
    if (!rc && !provider) {
        rc = exporter->options->format == KVSPACE_FORMAT_JSON ? export_json(exporter, &value)
                                                              : export_stream(exporter, &value);
        exporter->keys++;
    }
    kvspace_read_end(exporter->space);
    return rc == KVSPACE_ENOENT ? 0 : rc;
}

static int level_push(struct exporter *exporter) {
    if (exporter->depth == exporter->capacity) {
        size_t capacity = exporter->capacity ? 2 * exporter->capacity : 16;
        struct level *levels = realloc(exporter->levels, capacity * sizeof *levels);
        if (!levels) return KVSPACE_ENOMEM;
        exporter->levels = levels;
        exporter->capacity = capacity;
    }
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct level *level = &exporter->levels[exporter->depth];
    int rc = kvspace_list_open(exporter->space, exporter->key, &options, &level->cursor);
    if (rc) return rc;
    level->key_bytes = strlen(exporter->key);
    exporter->depth++;
    return 0;
}

/* What an export of everything leaves out: what is about this space, and the memory of runtimes, which means nothing elsewhere. */
static bool is_left_out(const char *key) {
    static const char heap[] = "/vthread/‥heap";
    return strcmp(key, "/sys") == 0 || strncmp(key, "/sys/", 5) == 0 || strncmp(key, heap, sizeof heap - 1) == 0;
}

/* One entry of the innermost listing. Gives KVSPACE_EEND where that is over. */
static int walk_entry(struct exporter *exporter) {
    struct level *level = &exporter->levels[exporter->depth - 1];
    struct kvspace_entry entry;
    exporter->key[level->key_bytes] = '\0';
    int rc = kvspace_list_next(level->cursor, &entry);
    if (rc) return rc;
    char joined[KVSPACE_KEY_MAX + 1];
    if (path_append(exporter->key, entry.text, entry.text_bytes, joined)) return 0; /* cannot be: it was a key */
    memcpy(exporter->key, joined, strlen(joined) + 1);
    if (is_left_out(exporter->key)) return 0;
    if (entry.has_value && (rc = export_key(exporter))) return rc;
    rc = level_push(exporter);
    return rc == KVSPACE_ENOENT || rc == KVSPACE_EPROVIDER ? 0 : rc; /* it went, or nobody shows it here */
}

static int walk(struct exporter *exporter) {
    int rc = export_key(exporter);
    if (!rc) rc = level_push(exporter);
    while (!rc && exporter->depth && !exporter->out.error) {
        rc = walk_entry(exporter);
        if (rc != KVSPACE_EEND) continue;
        kvspace_list_close(exporter->levels[--exporter->depth].cursor);
        rc = 0;
    }
    while (exporter->depth) kvspace_list_close(exporter->levels[--exporter->depth].cursor);
    return rc;
}

static void begin_and_end(struct exporter *exporter, bool end) {
    bool json = exporter->options->format == KVSPACE_FORMAT_JSON;
    if (!end && !json) text_put(&exporter->out, EXPORT_MAGIC, EXPORT_MAGIC_BYTES);
    if (!end) return;
    if (json) text_puts(&exporter->out, exporter->keys ? "\n]\n" : "[\n]\n");
    else {
        put_number(&exporter->out, 4, 0);
        put_number(&exporter->out, 8, exporter->keys);
    }
}

int kvspace_export(kvspace *space, const char *key, const struct kvspace_export_options *options, kvspace_write_function *write,
                   void *context) {
    static const struct kvspace_export_options defaults;
    int rc = kvspace_exists(space, key);
    if (rc && !(rc == KVSPACE_ENOENT && strcmp(key, "/") == 0)) return rc;
    struct exporter *exporter = calloc(1, sizeof *exporter);
    if (!exporter) return space_error(space, KVSPACE_ENOMEM, key, NULL);
    exporter->space = space;
    exporter->options = options ? options : &defaults;
    exporter->out = (struct text_out){.write = write, .context = context};
    memcpy(exporter->key, key, strlen(key) + 1);
    begin_and_end(exporter, false);
    rc = walk(exporter);
    if (!rc) begin_and_end(exporter, true);
    bool stopped = exporter->out.error != 0;
    free(exporter->levels);
    free(exporter);
    if (stopped) return space_error(space, KVSPACE_ESTOPPED, key, NULL);
    return rc;
}
