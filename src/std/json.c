/* json·from and json·to: between JSON texts and values. Relies on kvspace/json.h for the text, pieces.h for maps.
 * Promises: neither direction recurses deeper than VALUE_DEPTH_MAX; what json·from gives, json·to writes back with the same members,
 * order and digits (white space, repeated keys and null members aside). */
#include "kvspace/json.h"

#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/json.def"
#undef NATIVE

/* ---- reading ---- */

struct level {
    bool object;
    struct cell map, key; /* of an object */
    size_t first;         /* of an array: its items in `items` from here on */
};

struct reading {
    struct core_call *call;
    struct json_reader reader;
    struct cell *items; /* of all arrays that are open */
    size_t count, room;
    struct level levels[VALUE_DEPTH_MAX];
    uint32_t depth;
    struct cell result;
    bool done;
};

static int syntax_error(struct reading *reading) {
    size_t line = 1, column = 1;
    const struct json_reader *reader = &reading->reader;
    for (size_t i = 0; i < reader->at && i < reader->length; i++) {
        unsigned char byte = (unsigned char)reader->text[i];
        if (byte == '\n') line++, column = 1;
        else if ((byte & 0xc0) != 0x80) column++;
    }
    return fault(reading->call->heap, ERROR_VALUE, "json·from: %s at line %zu, column %zu", reader->message ? reader->message : "no JSON", line, column);
}

/* The kind in which the items are a compact array, or 0. */
static unsigned common_kind(const struct cell *items, size_t count) {
    bool negative = false, bits64 = false, fraction = false, big = false;
    size_t numbers = 0, bools = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned tag = cell_tag(&items[i]);
        numbers += tag == KIND_INT64 || tag == KIND_UINT64 || tag == KIND_FLOAT64;
        bools += tag == KIND_BOOL;
        if (tag == KIND_INT64) {
            int64_t number = cell_as_int64(&items[i]);
            negative = negative || number < 0;
            big = big || number > INT64_C(1) << 53 || number < -(INT64_C(1) << 53);
        }
        bits64 = bits64 || tag == KIND_UINT64;
        fraction = fraction || tag == KIND_FLOAT64;
    }
    if (bools == count) return KIND_BOOL;
    if (numbers != count) return 0;
    if (fraction) return big || bits64 ? 0 : KIND_FLOAT64;
    if (bits64) return negative ? 0 : KIND_UINT64;
    return KIND_INT64;
}

static int compact(struct heap *heap, unsigned kind, const struct cell *items, size_t count, struct cell *out) {
    uint64_t dims[1] = {count};
    int rc = array_new(heap, kind, 1, dims, out);
    if (rc) return rc;
    unsigned char *to = block_body(cell_block(heap, out));
    for (size_t i = 0; i < count; i++, to += kind_size(kind)) {
        struct cell item = items[i];
        if (kind == KIND_FLOAT64 && cell_tag(&item) == KIND_INT64) item = cell_float64((double)cell_as_int64(&item));
        scalar_store(kind, to, item.payload);
    }
    return 0;
}

/* Whether all are arrays of one kind and shape, with something in them. */
static bool rectangular(const struct heap *heap, const struct cell *items, size_t count) {
    const struct block *first = cell_is_array(&items[0]) && !cell_is_text(&items[0]) ? cell_block(heap, &items[0]) : NULL;
    if (!first || first->ndim >= BLOCK_NDIM_MAX || !first->body_bytes || count > UINT32_MAX) return false;
    for (size_t i = 1; i < count; i++) {
        if (cell_tag(&items[i]) != cell_tag(&items[0])) return false;
        const struct block *block = cell_block(heap, &items[i]);
        if (block->ndim != first->ndim || memcmp(block->dims, first->dims, first->ndim * sizeof *first->dims) != 0) return false;
    }
    return true;
}

static int stack(struct heap *heap, const struct cell *items, size_t count, struct cell *out) {
    const struct block *first = cell_block(heap, &items[0]);
    uint64_t dims[BLOCK_NDIM_MAX] = {count};
    uint64_t bytes = first->body_bytes;
    memcpy(dims + 1, first->dims, first->ndim * sizeof *dims);
    int rc = array_new(heap, cell_kind(&items[0]), first->ndim + 1u, dims, out);
    if (rc) return rc;
    unsigned char *to = block_body(cell_block(heap, out));
    for (size_t i = 0; i < count; i++) memcpy(to + i * bytes, block_body(cell_block(heap, &items[i])), (size_t)bytes);
    return 0;
}

/* What the items of an array become; they are taken over. */
static int array_value(struct heap *heap, struct cell *items, size_t count, struct cell *out) {
    unsigned kind = count ? common_kind(items, count) : KIND_INT64;
    bool texts = true;
    int rc = 0;
    *out = cell_none();
    if (kind) return compact(heap, kind, items, count, out);
    if (rectangular(heap, items, count)) {
        rc = stack(heap, items, count, out);
        for (size_t i = 0; i < count; i++) cell_drop(heap, items[i]);
        return rc;
    }
    for (size_t i = 0; i < count; i++) texts = texts && cell_is_text(&items[i]);
    rc = members_begin(heap, texts ? "[int64]·[]char/utf32" : "[int64]·any", out);
    for (size_t i = 0; i < count; i++) rc = item_put(heap, rc, out, (int64_t)i, items[i]);
    return rc;
}

/* A finished value goes where it belongs. It is taken over. */
static int deliver(struct reading *reading, struct cell value) {
    struct heap *heap = reading->call->heap;
    if (!reading->depth) {
        reading->result = value;
        reading->done = true;
        return 0;
    }
    struct level *level = &reading->levels[reading->depth - 1];
    if (level->object) {
        struct cell key = level->key;
        level->key = cell_none();
        return entry_put(heap, 0, &level->map, key, value);
    }
    if (reading->count == reading->room) {
        size_t room = reading->room ? 2 * reading->room : 64;
        struct cell *more = realloc(reading->items, room * sizeof *more);
        if (!more) {
            cell_drop(heap, value);
            return fault(heap, ERROR_OUT_OF_MEMORY, "json·from: no memory for %zu items", room);
        }
        reading->items = more;
        reading->room = room;
    }
    reading->items[reading->count++] = value;
    return 0;
}

static int open_level(struct reading *reading, bool object) {
    if (reading->depth == VALUE_DEPTH_MAX) return fault(reading->call->heap, ERROR_VALUE, "json·from: the text nests deeper than %d", VALUE_DEPTH_MAX);
    struct level *level = &reading->levels[reading->depth];
    *level = (struct level){.object = object, .first = reading->count};
    int rc = object ? members_begin(reading->call->heap, "[]char/utf8·any", &level->map) : 0;
    if (!rc) reading->depth++;
    return rc;
}

static int close_level(struct reading *reading) {
    struct level *level = &reading->levels[--reading->depth];
    if (level->object) return deliver(reading, level->map);
    struct cell made = cell_none();
    size_t count = reading->count - level->first;
    reading->count = level->first;
    int rc = array_value(reading->call->heap, reading->items + level->first, count, &made);
    return rc ? rc : deliver(reading, made);
}

static int number_value(struct reading *reading, const struct json_token *token) {
    int64_t number;
    uint64_t natural;
    double real;
    if (token->integral && json_int64(token, &number) == 0) return deliver(reading, cell_int64(number));
    if (token->integral && json_uint64(token, &natural) == 0) return deliver(reading, cell_uint64(natural));
    if (json_float64(token, &real) == 0 && real - real == 0) return deliver(reading, cell_float64(real));
    return fault(reading->call->heap, ERROR_VALUE, "json·from: the number %.*s does not fit", (int)(token->length < 60 ? token->length : 60), token->text);
}

static int string_cell(struct reading *reading, const struct json_token *token, struct cell *out) {
    struct heap *heap = reading->call->heap;
    if (!token->escaped) return text_of_bytes(heap, token->length ? token->text : "", token->length, out);
    char *decoded = malloc(token->length + 1);
    if (!decoded) return fault(heap, ERROR_OUT_OF_MEMORY, "json·from: no memory for a text of %zu bytes", token->length);
    size_t bytes = json_decode(token, decoded);
    int rc = text_of_bytes(heap, decoded, bytes, out);
    free(decoded);
    return rc;
}

static int take_token(struct reading *reading, const struct json_token *token) {
    struct cell text = cell_none();
    int rc;
    switch (token->event) {
    case JSON_NULL: return deliver(reading, cell_none());
    case JSON_TRUE: return deliver(reading, cell_bool(true));
    case JSON_FALSE: return deliver(reading, cell_bool(false));
    case JSON_NUMBER: return number_value(reading, token);
    case JSON_STRING: rc = string_cell(reading, token, &text); return rc ? rc : deliver(reading, text);
    case JSON_KEY: return string_cell(reading, token, &reading->levels[reading->depth - 1].key);
    case JSON_ARRAY_BEGIN: return open_level(reading, false);
    case JSON_OBJECT_BEGIN: return open_level(reading, true);
    case JSON_ARRAY_END:
    case JSON_OBJECT_END: return close_level(reading);
    case JSON_END: break;
    }
    return 0;
}

static void abandon(struct reading *reading) {
    struct heap *heap = reading->call->heap;
    for (size_t i = 0; i < reading->count; i++) cell_drop(heap, reading->items[i]);
    for (uint32_t i = 0; i < reading->depth; i++) {
        cell_drop(heap, reading->levels[i].map);
        cell_drop(heap, reading->levels[i].key);
    }
    cell_drop(heap, reading->result);
}

static int json_from(struct core_call *call) {
    struct piece text;
    int rc = piece_text(call, 0, &text);
    if (rc) return rc;
    struct reading reading = {.call = call, .reader = {.text = text.bytes, .length = text.length}, .result = cell_none()};
    struct json_token token = {.event = JSON_NULL};
    while (!rc && token.event != JSON_END) {
        if (json_next(&reading.reader, &token)) rc = syntax_error(&reading);
        else rc = take_token(&reading, &token);
    }
    if (rc) abandon(&reading);
    else call->results[0] = reading.result;
    free(reading.items);
    piece_free(&text);
    return rc;
}

/* ---- writing ---- */

struct writing {
    struct core_call *call;
    struct json_writer json;
};

static int write_cell(struct writing *writing, const struct cell *cell, unsigned depth);

static int write_float(struct writing *writing, const struct cell *cell) {
    double number = number_as_float64(cell);
    if (number - number != 0) return fault(writing->call->heap, ERROR_VALUE, "json·to: %s has no form in JSON", number > 0 ? "inf" : number < 0 ? "-inf" : "nan");
    if (cell_tag(cell) == KIND_FLOAT32) json_put_float32(&writing->json, cell_as_float32(cell));
    else json_put_float64(&writing->json, number);
    return 0;
}

/* A text that is made by printing. */
static int write_printed(struct writing *writing, const struct cell *cell, bool as_key) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    int rc = value_print(writing->call->heap, cell, false, &out);
    if (!rc && out.error) rc = fault(writing->call->heap, ERROR_OUT_OF_MEMORY, "json·to: no memory");
    if (!rc && as_key) json_key(&writing->json, buffer.length ? buffer.bytes : "", buffer.length);
    else if (!rc) json_put_string(&writing->json, buffer.length ? buffer.bytes : "", buffer.length);
    text_buffer_free(&buffer);
    return rc;
}

static int write_scalar(struct writing *writing, const struct cell *cell) {
    switch (kind_class(cell_kind(cell))) {
    case KIND_CLASS_BOOL: json_put_bool(&writing->json, cell->payload != 0); return 0;
    case KIND_CLASS_INT: json_put_int64(&writing->json, cell_as_int64(cell)); return 0;
    case KIND_CLASS_UINT: json_put_uint64(&writing->json, cell->payload); return 0;
    case KIND_CLASS_FLOAT: return write_float(writing, cell);
    default: return write_printed(writing, cell, false);
    }
}

/* The axes of an array from `axis` on; *body moves on. */
static int write_axes(struct writing *writing, const struct block *block, unsigned kind, unsigned axis, const unsigned char **body) {
    int rc = 0;
    json_array_begin(&writing->json);
    for (uint64_t i = 0; i < block->dims[axis] && !rc; i++) {
        if (axis + 1u < block->ndim) {
            rc = write_axes(writing, block, kind, axis + 1, body);
        } else {
            struct cell item = cell_scalar(kind, scalar_load(kind, *body));
            rc = write_scalar(writing, &item);
            *body += kind_size(kind);
        }
    }
    json_array_end(&writing->json);
    return rc;
}

/* Whether an [int64] map is to be an array: keys ascend from 0 or above, and no more than half of the items and a few are missing. */
static bool is_list(const struct heap *heap, const struct cell *map) {
    const struct dict *dict = cell_dict(heap, map);
    if (cell_tag(map) != TAG_MAP || dict->key_class != KEY_SCALAR || dict->key_kind != KIND_INT64) return false;
    const struct cell *key, *value;
    uint64_t position = 0;
    int64_t next = 0;
    while (map_next(heap, map, &position, &key, &value)) {
        if (cell_as_int64(key) < next) return false;
        next = cell_as_int64(key) == INT64_MAX ? INT64_MAX : cell_as_int64(key) + 1;
    }
    return (uint64_t)next <= 2 * (uint64_t)map_length(heap, map) + 8;
}

static int write_members(struct writing *writing, const struct cell *map, unsigned depth) {
    struct heap *heap = writing->call->heap;
    const struct cell *key, *value;
    uint64_t position = 0;
    int64_t next = 0;
    int rc = 0;
    bool list = is_list(heap, map);
    if (depth >= VALUE_DEPTH_MAX) return fault(heap, ERROR_VALUE, "json·to: the value nests deeper than %d", VALUE_DEPTH_MAX);
    if (list) json_array_begin(&writing->json);
    else json_object_begin(&writing->json);
    while (!rc && map_next(heap, map, &position, &key, &value)) {
        for (; list && next < cell_as_int64(key); next++) json_put_null(&writing->json);
        next++;
        if (!list) {
            struct cell plain = map_key_copy(heap, key);
            rc = write_printed(writing, &plain, true);
            cell_drop(heap, plain);
        }
        if (!rc) rc = write_cell(writing, value, depth + 1);
    }
    if (list) json_array_end(&writing->json);
    else json_object_end(&writing->json);
    return rc;
}

static int write_text(struct writing *writing, const struct cell *cell) {
    struct piece text;
    int rc = piece_of_cell(writing->call, cell, "the value", false, &text);
    if (rc) return rc;
    json_put_string(&writing->json, text.bytes, text.length);
    piece_free(&text);
    return 0;
}

static int write_range(struct writing *writing, const struct cell *cell) {
    struct heap *heap = writing->call->heap;
    json_array_begin(&writing->json);
    for (uint64_t i = 0; i < range_count(heap, cell); i++) json_put_int64(&writing->json, range_at(heap, cell, i));
    json_array_end(&writing->json);
    return 0;
}

static int write_cell(struct writing *writing, const struct cell *cell, unsigned depth) {
    struct heap *heap = writing->call->heap;
    if (cell_is_none(cell)) {
        json_put_null(&writing->json);
        return 0;
    }
    if (cell_is_scalar(cell)) return write_scalar(writing, cell);
    if (cell_is_text(cell)) return write_text(writing, cell);
    if (cell_tag(cell) == TAG_RANGE) return write_range(writing, cell);
    if (cell_tag(cell) == TAG_MAP || cell_tag(cell) == TAG_STRUCT) return write_members(writing, cell, depth);
    if (cell_is_array(cell)) {
        const struct block *block = cell_block(heap, cell);
        const unsigned char *body = block_body(block);
        return write_axes(writing, block, cell_kind(cell), 0, &body);
    }
    char type[160];
    type_print(heap, cell, type, sizeof type);
    return fault(heap, ERROR_TYPE, "json·to: %s has no form in JSON", type);
}

static int json_to(struct core_call *call) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    struct writing writing = {.call = call, .json = {.out = &out}};
    int64_t indent = 0;
    int rc = call->arg_count > 1 ? native_int64(call, 1, &indent) : 0;
    if (!rc && (indent < 0 || indent > 32)) rc = fault(call->heap, ERROR_VALUE, "json·to: an indent of %lld", (long long)indent);
    if (rc) return rc;
    writing.json.indent = (uint32_t)indent;
    rc = write_cell(&writing, call->args[0], 0);
    if (!rc && json_finish(&writing.json)) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "json·to: no memory for the text");
    if (!rc) rc = give_text(call, buffer.bytes, buffer.length);
    text_buffer_free(&buffer);
    return rc;
}

const struct native_row json_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/json.def"
#undef NATIVE
};
const uint32_t json_count = sizeof json_rows / sizeof *json_rows;
