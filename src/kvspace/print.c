/* Values as text: the printing functions of the public interface, over its own get and list.
 * Relies on literal_print, json and the public interface alone, so stored and provided keys print alike.
 * Promises: containers no deeper than 64 (deeper ones are `…`, in JSON an error); one read section a print, so that what
 * is printed was there; memory on the stack alone, but for the map types that are parsed. */
#include "kvspace/json.h"
#include "kvspace/literal.h"
#include "kvspace/path.h"
#include "kvspace/print.h"
#include "kvspace/timetext.h"
#include "kvspace/typexpr.h"
#include "kvspace/utf8.h"

#include <stdlib.h>

/* The value of one key; `key` is the printer's one buffer, of which this place uses the first `key_bytes`. */
struct place {
    struct kvspace_value value;
    char *key;
    size_t key_bytes;
    bool alone; /* a value without a space: its members cannot be walked */
};

struct printer {
    kvspace *space;
    int rc; /* of the space, when a reader stops */
};

bool print_keys_are_text(const char *type, size_t type_bytes) {
    uint64_t small[64];
    size_t capacity = typexpr_bound(type_bytes);
    void *buffer = capacity <= sizeof small ? small : malloc(capacity);
    bool text = true;
    if (buffer && !typexpr_parse(type, type_bytes, buffer, capacity, NULL)) {
        const struct typexpr_atom *atom = typexpr_first(buffer);
        if (atom->class == TYPE_MAP) text = atom->key_count == 0;
    }
    if (buffer != small) free(buffer);
    return text;
}

static bool is_map_type(const struct kvspace_value *value) {
    for (uint32_t i = 0; i + 1 < value->type_bytes; i++)
        if ((unsigned char)value->type[i] == 0xc2 && (unsigned char)value->type[i + 1] == 0xb7) {
            uint64_t small[64];
            size_t capacity = typexpr_bound(value->type_bytes);
            void *buffer = capacity <= sizeof small ? small : malloc(capacity);
            bool map = buffer && !typexpr_parse(value->type, value->type_bytes, buffer, capacity, NULL) &&
                       typexpr_first(buffer)->class == TYPE_MAP;
            if (buffer != small) free(buffer);
            return map;
        }
    return false;
}

static bool is_container(const struct kvspace_value *value) {
    return value->ref == KVSPACE_INLINE && (value->store == KVSPACE_INDEX || value->store == KVSPACE_EXTINDEX);
}

/* ---- words of the tree and other atoms: TYPE(text) ---- */

static bool is_word(const struct kvspace_value *value) {
    return value->ref == KVSPACE_EXTERNAL || (value->ref == KVSPACE_INLINE && value->store == KVSPACE_ATOM && !value->kind);
}

static bool shows_as_text(const struct kvspace_value *value) {
    const char *bytes = value->body;
    if (!utf8_is_valid(bytes, (size_t)value->body_bytes)) return false;
    for (uint64_t i = 0; i < value->body_bytes; i++)
        if ((unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7f) return false;
    return !(value->body_bytes >= 2 && bytes[0] == 'x' && bytes[1] == '"');
}

static bool type_is(const struct kvspace_value *value, const char *type) {
    return value->type_bytes == strlen(type) && memcmp(value->type, type, value->type_bytes) == 0;
}

static void put_numbers(const struct kvspace_value *value, struct text_out *out) {
    char text[24];
    for (uint64_t at = 0; at + 4 <= value->body_bytes; at += 4) {
        uint32_t number;
        memcpy(&number, (const char *)value->body + at, 4);
        if (at) text_puts(out, ",");
        size_t bytes = 0;
        do text[sizeof text - ++bytes] = (char)('0' + number % 10);
        while (number /= 10);
        text_put(out, text + sizeof text - bytes, bytes);
    }
}

bool print_word_is_numbers(const char *type, size_t bytes) {
    static const char *const words[] = {"rwfunc", "def rwir", "def struct"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == bytes && memcmp(words[i], type, bytes) == 0) return true;
    return false;
}

static void put_hex(const struct kvspace_value *value, struct text_out *out) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = value->body;
    text_puts(out, "x\"");
    for (uint64_t i = 0; i < value->body_bytes; i++) {
        char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        text_put(out, pair, 2);
    }
    text_puts(out, "\"");
}

static void put_word(const struct kvspace_value *value, bool bare, struct text_out *out) {
    bool numbers = print_word_is_numbers(value->type, value->type_bytes) && value->body_bytes % 4 == 0;
    bool text = !numbers && shows_as_text(value);
    if (bare && text && !type_is(value, "none")) {
        text_put(out, value->body, (size_t)value->body_bytes);
        return;
    }
    if (value->ref == KVSPACE_EXTERNAL) text_puts(out, "@");
    text_put(out, value->type, value->type_bytes);
    text_puts(out, "(");
    if (numbers) put_numbers(value, out);
    else if (text) text_put(out, value->body, (size_t)value->body_bytes);
    else put_hex(value, out);
    text_puts(out, ")");
}

/* ---- the reader behind literal_print ---- */

static int look(void *context, const void *opaque, struct literal_view *view) {
    const struct place *place = opaque;
    const struct kvspace_value *value = &place->value;
    (void)context;
    *view = (struct literal_view){.kind = value->kind, .body = value->body, .body_bytes = value->body_bytes};
    view->type = value->type;
    view->type_bytes = value->type_bytes;
    if (value->ref == KVSPACE_POINTER) {
        view->class = LITERAL_POINTER;
        view->text = value->body;
        view->text_bytes = (size_t)value->body_bytes;
        view->type = NULL; /* set below, where it is known what it points to */
        view->type_bytes = 0;
    } else if (is_container(value)) {
        view->class = is_map_type(value) ? LITERAL_MAP : LITERAL_STRUCT;
        view->text = value->type;
        view->text_bytes = value->type_bytes;
    } else if (value->kind && value->ndim == 1 && kind_is_char(value->kind)) {
        view->class = LITERAL_TEXT;
    } else if (value->kind && value->ndim) {
        view->class = LITERAL_ARRAY;
        view->ndim = value->ndim;
        memcpy(view->dims, value->dims, value->ndim * sizeof *value->dims);
    } else if (value->kind) {
        view->class = LITERAL_SCALAR;
    } else if (value->type && is_word(value)) { /* inside a container a word shows its text */
        view->class = LITERAL_TEXT;
        view->kind = KIND_CHAR_UTF8;
    }
    return 0;
}

/* One entry: its key, and its value out of the space. */
static int show_entry(struct printer *printer, const struct place *place, const struct kvspace_entry *entry, bool text_keys,
                      literal_entry_function *show, struct literal_visit *visit) {
    struct place below = {.key = place->key, .key_bytes = place->key_bytes + entry->text_bytes};
    if (below.key_bytes > KVSPACE_KEY_MAX) return KVSPACE_ELIMIT;
    memcpy(place->key + place->key_bytes, entry->text, entry->text_bytes + 1);
    int rc = kvspace_get(printer->space, place->key, &below.value);
    if (rc == KVSPACE_ENOENT) rc = 0;
    if (rc) return rc;
    struct literal_key_view key = {.text = entry->name, .text_bytes = entry->name_bytes, .printed = !text_keys};
    rc = show(visit, &key, &below);
    place->key[place->key_bytes] = 0;
    return rc;
}

static int walk(void *context, const void *opaque, literal_entry_function *show, struct literal_visit *visit) {
    struct printer *printer = context;
    const struct place *place = opaque;
    struct kvspace_list_options options = {.what = KVSPACE_LIST_MEMBERS};
    kvspace_cursor *cursor;
    struct kvspace_entry entry;
    if (place->alone) return show(visit, &(struct literal_key_view){.text = "…", .text_bytes = 3, .printed = 1}, opaque);
    bool text_keys = print_keys_are_text(place->value.type, place->value.type_bytes);
    int rc = kvspace_list_open(printer->space, place->key, &options, &cursor);
    if (rc) return printer->rc = rc;
    while (!rc && !(rc = kvspace_list_next(cursor, &entry)))
        if (entry.has_value) rc = show_entry(printer, place, &entry, text_keys, show, visit);
    kvspace_list_close(cursor);
    place->key[place->key_bytes] = 0;
    return rc == KVSPACE_EEND ? 0 : rc;
}

/* ---- JSON ---- */

static int json_value(struct printer *printer, const struct place *place, struct json_writer *writer, unsigned depth);

static void json_scalar(unsigned kind, const void *element, struct json_writer *writer) {
    struct text_buffer buffer = {.limit = 64};
    struct text_out out = text_buffer_out(&buffer);
    float f32;
    double f64;
    switch (kind_class(kind)) {
    case KIND_CLASS_FLOAT:
        if (kind == KIND_FLOAT64) {
            memcpy(&f64, element, 8);
            json_put_float64(writer, f64);
            return;
        }
        if (kind == KIND_FLOAT32) {
            memcpy(&f32, element, 4);
            json_put_float32(writer, f32);
            return;
        }
        break;
    case KIND_CLASS_TIME:
    case KIND_CLASS_DURATION:
        literal_print_scalar((enum kv_kind)kind, element, &out);
        json_put_string(writer, buffer.bytes ? buffer.bytes : "", buffer.length);
        text_buffer_free(&buffer);
        return;
    default: break;
    }
    literal_print_scalar((enum kv_kind)kind, element, &out);
    bool number = buffer.length && buffer.bytes[buffer.length - 1] != 'n' && buffer.bytes[buffer.length - 1] != 'f' &&
                  buffer.bytes[0] != '"';
    if (number || kind == KIND_BOOL) json_put_raw(writer, buffer.bytes, buffer.length);
    else if (buffer.length && buffer.bytes[0] == '"') {
        uint32_t point = 0;
        char utf8[4];
        memcpy(&point, element, kind_size(kind));
        json_put_string(writer, utf8, utf8_encode(point, utf8));
    } else json_put_string(writer, buffer.bytes ? buffer.bytes : "", buffer.length);
    text_buffer_free(&buffer);
}

static void json_text(const struct kvspace_value *value, struct json_writer *writer) {
    if (value->kind != KIND_CHAR_UTF32) {
        json_put_string(writer, value->body, (size_t)value->body_bytes);
        return;
    }
    size_t points = (size_t)(value->body_bytes / 4), written = 0;
    char *utf8 = malloc(points * 4 + 1);
    if (!utf8) {
        if (!writer->out->error) writer->out->error = KVSPACE_ENOMEM;
        return;
    }
    utf32_to_utf8(value->body, points, utf8, points * 4, &written);
    json_put_string(writer, utf8, written);
    free(utf8);
}

/* Row-major elements with a bracket for each axis that begins or ends; no recursion. */
static void json_array(const struct kvspace_value *value, struct json_writer *writer) {
    uint64_t at[KVSPACE_NDIM_MAX] = {0};
    const char *element = value->body;
    size_t size = kind_size(value->kind);
    unsigned axis = 0;
    json_array_begin(writer);
    for (;;) {
        if (at[axis] == value->dims[axis]) {
            json_array_end(writer);
            if (axis == 0) return;
            axis--;
            at[axis]++;
        } else if (axis + 1 < value->ndim) {
            json_array_begin(writer);
            at[++axis] = 0;
        } else {
            json_scalar(value->kind, element, writer);
            element += size;
            at[axis]++;
        }
    }
}

static int json_container(struct printer *printer, const struct place *place, struct json_writer *writer, unsigned depth) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_MEMBERS};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    if (depth >= LITERAL_DEPTH_MAX) return KVSPACE_ELIMIT;
    json_object_begin(writer);
    int rc = place->alone ? KVSPACE_EEND : kvspace_list_open(printer->space, place->key, &options, &cursor);
    bool open = !rc;
    while (!rc && !(rc = kvspace_list_next(cursor, &entry))) {
        struct place below = {.key = place->key, .key_bytes = place->key_bytes + entry.text_bytes};
        if (!entry.has_value) continue;
        if (below.key_bytes > KVSPACE_KEY_MAX) rc = KVSPACE_ELIMIT;
        if (rc) break;
        memcpy(place->key + place->key_bytes, entry.text, entry.text_bytes + 1);
        json_key(writer, entry.name, entry.name_bytes);
        rc = kvspace_get(printer->space, place->key, &below.value);
        if (rc == 0 || rc == KVSPACE_ENOENT) rc = json_value(printer, &below, writer, depth + 1);
        place->key[place->key_bytes] = 0;
    }
    if (open) kvspace_list_close(cursor);
    json_object_end(writer);
    return rc == KVSPACE_EEND ? 0 : rc;
}

static int json_value(struct printer *printer, const struct place *place, struct json_writer *writer, unsigned depth) {
    const struct kvspace_value *value = &place->value;
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    if (value->ref == KVSPACE_POINTER) json_put_string(writer, value->body, (size_t)value->body_bytes);
    else if (is_container(value)) return json_container(printer, place, writer, depth);
    else if (value->kind && value->ndim == 1 && kind_is_char(value->kind)) json_text(value, writer);
    else if (value->kind && value->ndim) json_array(value, writer);
    else if (value->kind) json_scalar(value->kind, value->body, writer);
    else if (value->type && is_word(value) && !type_is(value, "none")) {
        put_word(value, true, &out);
        json_put_string(writer, buffer.bytes ? buffer.bytes : "", buffer.length);
        text_buffer_free(&buffer);
    } else json_put_null(writer);
    return writer->out->error;
}

/* ---- public ---- */

struct sink {
    kvspace_write_function *write;
    void *context;
};

static int sink_write(void *context, const char *bytes, size_t count) {
    struct sink *sink = context;
    return sink->write(sink->context, bytes, count) ? KVSPACE_ESTOPPED : 0;
}

static int print_place(struct printer *printer, struct place *place, const struct kvspace_print_options *options,
                       struct text_out *out) {
    enum kvspace_print_style style = options ? options->style : KVSPACE_PRINT_PLAIN;
    struct literal_print_options literal = {.items_max = options ? options->items_max : 0};
    const struct kvspace_value *value = &place->value;
    if (style == KVSPACE_PRINT_JSON) {
        struct json_writer writer = {.out = out};
        int rc = json_value(printer, place, &writer, 0);
        return rc ? rc : out->error;
    }
    if (value->type && is_word(value)) {
        put_word(value, style == KVSPACE_PRINT_PLAIN, out);
        return out->error;
    }
    literal.depth_max = options ? options->depth_max : 0;
    literal.style = style == KVSPACE_PRINT_LITERAL ? LITERAL_STYLE_TYPED : LITERAL_STYLE_PLAIN;
    literal.top = style == KVSPACE_PRINT_PLAIN ? LITERAL_TOP_BARE : LITERAL_TOP_QUOTED;
    struct literal_reader reader = {.look = look, .walk = walk, .context = printer};
    return literal_print(&reader, place, &literal, out);
}

int print_to(kvspace *space, const char *key, const struct kvspace_print_options *options, struct text_out *out) {
    char buffer[KVSPACE_KEY_MAX + 1];
    struct printer printer = {.space = space};
    struct place place = {.key = buffer};
    if (path_check(key, NULL)) return kvspace_get(space, key, &place.value); /* which leaves the message */
    place.key_bytes = strlen(key);
    memcpy(buffer, key, place.key_bytes + 1);
    int rc = kvspace_read_begin(space);
    if (rc) return rc;
    rc = kvspace_get(space, key, &place.value);
    if (!rc) rc = print_place(&printer, &place, options, out);
    kvspace_read_end(space);
    return rc;
}

int kvspace_print(kvspace *space, const char *key, const struct kvspace_print_options *options, kvspace_write_function *write,
                  void *context) {
    struct sink sink = {write, context};
    struct text_out out = {.write = sink_write, .context = &sink};
    return print_to(space, key, options, &out);
}

int kvspace_print_value(const struct kvspace_value *value, const struct kvspace_print_options *options,
                        kvspace_write_function *write, void *context) {
    struct sink sink = {write, context};
    struct text_out out = {.write = sink_write, .context = &sink};
    struct place place = {.value = *value, .alone = true};
    struct printer printer = {0};
    if (!value->type && value->kind) {
        place.value.type = kind_name(value->kind);
        place.value.type_bytes = kind_row(value->kind)->name_bytes;
    }
    if (place.value.type && !place.value.type_bytes) place.value.type_bytes = (uint32_t)strlen(place.value.type);
    if (value->kind && !value->ndim && !value->body) place.value.body = value->scalar.bytes;
    return print_place(&printer, &place, options, &out);
}

struct fixed {
    char *out;
    size_t capacity, bytes;
};

static int fixed_write(void *context, const char *bytes, size_t count) {
    struct fixed *fixed = context;
    if (fixed->bytes + 1 < fixed->capacity) {
        size_t room = fixed->capacity - 1 - fixed->bytes;
        memcpy(fixed->out + fixed->bytes, bytes, count < room ? count : room);
    }
    fixed->bytes += count;
    return 0;
}

int kvspace_print_text(kvspace *space, const char *key, const struct kvspace_print_options *options, char *out,
                       size_t capacity, size_t *bytes) {
    struct fixed fixed = {.out = out, .capacity = capacity};
    struct text_out sink = {.write = fixed_write, .context = &fixed};
    int rc = print_to(space, key, options, &sink);
    if (capacity) out[fixed.bytes < capacity ? fixed.bytes : capacity - 1] = 0;
    if (bytes) *bytes = fixed.bytes;
    return rc;
}
