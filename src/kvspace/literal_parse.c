/* Containers, pointers, conversions and the memory of a document: the recursive part of the literal parser.
 * Relies on literal_token.c for leaves and literal_coerce.c for types. Promises: recursion is bounded by LITERAL_DEPTH_MAX
 * (lists in an array by its 8 axes), all memory belongs to the document or is freed before an error goes up. */
#include "kvspace/literal_parser.h"

#include "kvspace/path.h"
#include "kvspace/timetext.h"
#include "kvspace/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory and errors ---- */

struct literal_block {
    struct literal_block *next;
    size_t used, capacity;
    uint64_t words[];
};

enum { BLOCK_BYTES = 4096 };

void *literal_alloc(struct literal_parser *parser, uint64_t bytes) {
    struct literal_block *block = parser->blocks;
    if (bytes > SIZE_MAX / 2) bytes = SIZE_MAX / 2; /* malloc refuses it below */
    size_t rounded = ((size_t)bytes + 7) & ~(size_t)7;
    if (!block || rounded > block->capacity - block->used) {
        size_t capacity = rounded > BLOCK_BYTES / 4 ? rounded : BLOCK_BYTES;
        block = calloc(1, sizeof *block + capacity); /* calloc leaves the pages of large zeroed arrays untouched */
        if (!block) {
            (void)LITERAL_FAIL(parser, LITERAL_ENOMEM, parser->at, "out of memory");
            return NULL;
        }
        block->capacity = capacity;
        /* A block made for one large body is full: the block that has room stays first. */
        bool full = capacity == rounded && parser->blocks;
        block->next = full ? parser->blocks->next : parser->blocks;
        if (full) parser->blocks->next = block;
        else parser->blocks = block;
    }
    void *place = (char *)block->words + block->used;
    block->used += rounded;
    return place;
}

void literal_report(struct literal_parser *parser, int code, size_t position, const char *format, ...) {
    parser->error->code = code;
    parser->error->position = position;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(parser->error->message, sizeof parser->error->message, format, arguments);
    va_end(arguments);
}

struct literal *literal_new(struct literal_parser *parser, enum literal_class class, size_t position) {
    struct literal *value = literal_alloc(parser, sizeof *value);
    if (!value) return NULL;
    value->class = (uint8_t)class;
    value->position = (uint32_t)position;
    value->type = "";
    value->text = "";
    return value;
}

const char *literal_copy(struct literal_parser *parser, const char *bytes, size_t count) {
    char *copy = literal_alloc(parser, count + 1);
    if (copy) memcpy(copy, bytes, count);
    return copy;
}

static int parse_value(struct literal_parser *parser, struct literal **out);

/* `[]` and `[1...]` are values only where a type is declared. */
static int settle(struct literal_parser *parser, const struct literal *value) {
    if (!literal_is_untyped(value)) return LITERAL_OK;
    return LITERAL_FAIL(parser, LITERAL_ETYPE, value->position, "an empty or filled array needs a type: [4]int64([])");
}

/* ---- arrays ---- */

struct array_builder {
    struct literal_element *items;
    size_t count, capacity;
    unsigned ndim; /* 0: not known yet */
    uint64_t dims[LITERAL_AXES_MAX];
    bool known[LITERAL_AXES_MAX];
    bool fill; /* [v...] */
};

static int push_element(struct literal_parser *parser, struct array_builder *builder, struct literal_element element) {
    if (builder->count == builder->capacity) {
        size_t capacity = builder->capacity * 2 + 16;
        struct literal_element *larger = realloc(builder->items, capacity * sizeof *larger);
        if (!larger) return LITERAL_FAIL(parser, LITERAL_ENOMEM, parser->at, "out of memory");
        builder->items = larger;
        builder->capacity = capacity;
    }
    builder->items[builder->count++] = element;
    return LITERAL_OK;
}

static int read_leaf(struct literal_parser *parser, struct literal_element *element) {
    int next = literal_peek(parser);
    size_t start = parser->at;
    if (literal_read_constant(parser, element)) return LITERAL_OK;
    if ((next >= '0' && next <= '9') || next == '-' || next == '+') return literal_read_number(parser, element);
    if (literal_at_string(parser))
        return LITERAL_FAIL(parser, LITERAL_ETYPE, start, "strings cannot stand in […]; write {\"a\", \"b\"}");
    struct literal *value = NULL;
    int rc = parse_value(parser, &value);
    if (rc) return rc;
    if (value->class != LITERAL_SCALAR)
        return LITERAL_FAIL(parser, LITERAL_ETYPE, start, "an array holds numbers, bools, times or durations; write {…}");
    *element = literal_load(value);
    return LITERAL_OK;
}

static int end_row(struct literal_parser *parser, struct array_builder *builder, unsigned level, uint64_t count,
                   size_t start) {
    if (builder->ndim == 0) builder->ndim = level + 1; /* an empty row before any element */
    if (builder->known[level] && builder->dims[level] != count)
        return LITERAL_FAIL(parser, LITERAL_ETYPE, start, "this row has %llu elements, those before it %llu",
                            (unsigned long long)count, (unsigned long long)builder->dims[level]);
    builder->known[level] = true;
    builder->dims[level] = count;
    return LITERAL_OK;
}

/* One item of a row: a row of the next axis, or an element of the last. */
static int parse_rows(struct literal_parser *parser, struct array_builder *builder, unsigned level);

static int parse_item(struct literal_parser *parser, struct array_builder *builder, unsigned level) {
    bool row = literal_peek(parser) == '[';
    unsigned needed = row ? level + 2 : level + 1; /* axes that this item implies */
    if (builder->ndim && (row ? needed > builder->ndim : needed != builder->ndim))
        return LITERAL_FAIL(parser, LITERAL_ETYPE, parser->at, "rows and elements are mixed in this array");
    if (row) {
        if (needed > LITERAL_AXES_MAX)
            return LITERAL_FAIL(parser, LITERAL_ELIMIT, parser->at, "an array has at most %d axes", LITERAL_AXES_MAX);
        parser->at++;
        return parse_rows(parser, builder, level + 1);
    }
    builder->ndim = needed;
    struct literal_element element = {0};
    int rc = read_leaf(parser, &element);
    return rc ? rc : push_element(parser, builder, element);
}

static bool accept_dots(struct literal_parser *parser) {
    (void)literal_skip(parser);
    if (parser->length - parser->at < 3 || memcmp(parser->text + parser->at, "...", 3) != 0) return false;
    parser->at += 3;
    return true;
}

/* After the opening bracket. */
static int parse_rows(struct literal_parser *parser, struct array_builder *builder, unsigned level) {
    size_t start = parser->at - 1;
    uint64_t count = 0;
    while (!literal_accept(parser, ']')) {
        int rc = parse_item(parser, builder, level);
        if (rc) return rc;
        count++;
        if (level == 0 && count == 1 && builder->ndim == 1 && accept_dots(parser)) {
            builder->fill = true;
            return literal_accept(parser, ']') ? LITERAL_OK : literal_fail_expected(parser, "\"]\" after \"...\"");
        }
        if (literal_accept(parser, ',') || literal_peek(parser) == ']') continue;
        return literal_fail_expected(parser, "\",\" or \"]\"");
    }
    return end_row(parser, builder, level, count, start);
}

/* The kind that two kinds of numbers meet in; KIND_NONE if they do not. */
static enum kv_kind common_kind(enum kv_kind left, enum kv_kind right) {
    if (left == right) return left;
    if (!kind_is_number(left) || !kind_is_number(right)) return KIND_NONE;
    if (kind_is_float(left) || kind_is_float(right)) return KIND_FLOAT64;
    size_t left_bytes = kind_size(left);
    size_t right_bytes = kind_size(right);
    if (left_bytes == right_bytes) return kind_class(left) == KIND_CLASS_INT ? left : right;
    enum kv_kind wider = left_bytes > right_bytes ? left : right;
    enum kv_kind other = left_bytes > right_bytes ? right : left;
    if (kind_class(wider) == kind_class(other) || kind_class(wider) == KIND_CLASS_INT) return wider;
    return wider == KIND_UINT64 ? KIND_INT64 : wider == KIND_UINT32 ? KIND_INT32 : KIND_INT16;
}

/* The kind of all elements. Literals beyond int64 make an array of non-negative numbers uint64. */
static enum kv_kind kind_of_elements(const struct array_builder *builder, size_t *odd_one) {
    enum kv_kind kind = (enum kv_kind)builder->items[0].kind;
    bool beyond = false;
    bool negative = false;
    for (size_t i = 0; i < builder->count; i++) {
        const struct literal_element *item = &builder->items[i];
        beyond |= item->plain && item->kind == KIND_UINT64;
        negative |= kind_class(item->kind) == KIND_CLASS_INT && (int64_t)item->bits < 0;
        enum kv_kind met = common_kind(kind, (enum kv_kind)item->kind);
        *odd_one = i;
        if (met == KIND_NONE) return KIND_NONE;
        kind = met;
    }
    if (beyond && kind_is_integer(kind)) return negative ? KIND_NONE : KIND_UINT64;
    return kind;
}

static int finish_array(struct literal_parser *parser, struct array_builder *builder, struct literal *array) {
    size_t odd_one = 0;
    enum kv_kind kind = kind_of_elements(builder, &odd_one);
    if (kind == KIND_NONE)
        return LITERAL_FAIL(parser, LITERAL_ETYPE, array->position, "element %zu has no common kind with those before it; write {…}",
                            odd_one);
    array->kind = (uint8_t)kind;
    array->plain = true;
    int rc = literal_array_body(parser, array);
    if (rc) return rc;
    char *place = (char *)(uintptr_t)array->body;
    for (size_t i = 0; i < builder->count; i++, place += kind_size(kind)) {
        struct literal_element element = builder->items[i];
        array->plain &= element.plain && kind_is_number(kind);
        rc = literal_convert(parser, array->position, kind, element.kind != kind, &element);
        if (rc) return rc;
        literal_store(element, place);
    }
    return LITERAL_OK;
}

static int parse_array(struct literal_parser *parser, struct literal **out) {
    struct literal *array = literal_new(parser, LITERAL_ARRAY, parser->at);
    if (!array) return LITERAL_ENOMEM;
    struct array_builder builder = {0};
    parser->at++;
    int rc = parse_rows(parser, &builder, 0);
    bool empty = builder.ndim == 1 && builder.count == 0;
    if (!rc && !empty && !builder.fill) {
        array->ndim = (uint8_t)builder.ndim;
        memcpy(array->dims, builder.dims, sizeof array->dims);
        if (builder.count) rc = finish_array(parser, &builder, array);
    }
    if (!rc && builder.fill) {
        struct literal_element *fill = literal_alloc(parser, sizeof *fill);
        if (fill) *fill = builder.items[0];
        array->body = fill;
        rc = fill ? LITERAL_OK : LITERAL_ENOMEM;
    }
    free(builder.items);
    *out = array;
    return rc;
}

/* ---- pointers ---- */

/* Bytes of a path that is written bare: up to a blank, a quote, or a separator outside of brackets. */
static size_t path_bytes(const struct literal_parser *parser) {
    size_t at = parser->at;
    int brackets = 0;
    for (; at < parser->length; at++) {
        char character = parser->text[at];
        if ((unsigned char)character <= ' ' || strchr("\";(){}=`'", character)) break;
        if (brackets == 0 && (character == ',' || character == ']')) break;
        brackets += (character == '[') - (character == ']');
    }
    return at - parser->at;
}

static int parse_pointer(struct literal_parser *parser, struct literal **out) {
    size_t start = parser->at;
    struct literal *pointer = literal_new(parser, LITERAL_POINTER, start);
    if (!pointer) return LITERAL_ENOMEM;
    parser->at += parser->text[parser->at] == '&';
    if (literal_at_string(parser)) {
        int rc = literal_read_string(parser, &pointer->text, &pointer->text_bytes);
        if (rc) return rc;
    } else {
        size_t bytes = path_bytes(parser);
        pointer->text = literal_copy(parser, parser->text + parser->at, bytes);
        pointer->text_bytes = bytes;
        if (!pointer->text) return LITERAL_ENOMEM;
        parser->at += bytes;
    }
    if (pointer->text_bytes < 2 || pointer->text[0] != '/')
        return LITERAL_FAIL(parser, LITERAL_ESYNTAX, start, "a pointer is an absolute path: &/n1");
    struct kvspace_problem problem;
    if (strlen(pointer->text) != pointer->text_bytes)
        return LITERAL_FAIL(parser, LITERAL_ESYNTAX, start, "a key has no zero byte");
    if (path_check(pointer->text, &problem)) return LITERAL_FAIL(parser, LITERAL_ESYNTAX, start, "not a key: %s", problem.message);
    pointer->type = "*any";
    *out = pointer;
    return LITERAL_OK;
}

/* ---- maps and structs ---- */

struct entry_list {
    struct literal *owner;
    struct literal_entry *last;
};

static int append_entry(struct literal_parser *parser, struct entry_list *list, struct literal *key, struct literal *value) {
    struct literal_entry *entry = literal_alloc(parser, sizeof *entry);
    if (!entry) return LITERAL_ENOMEM;
    entry->key = key;
    entry->value = value;
    if (list->last) list->last->next = entry;
    else list->owner->entries = entry;
    list->last = entry;
    list->owner->entry_count++;
    return LITERAL_OK;
}

/* Bytes of an identifier that is followed by `=`: a text key without quotes. */
static size_t bare_key_bytes(struct literal_parser *parser) {
    size_t start = parser->at;
    size_t end = start;
    while (end < parser->length) {
        uint32_t point;
        size_t bytes = utf8_decode(parser->text + end, parser->length - end, &point);
        if (bytes == 0 || !(end == start ? utf8_is_letter(point) : utf8_is_name_part(point))) break;
        end += bytes;
    }
    struct literal_parser ahead = *parser;
    ahead.at = end;
    return literal_peek(&ahead) == '=' ? end - start : 0;
}

/* `[1, true]` before `=`; the parser stands at the bracket. */
static int parse_tuple(struct literal_parser *parser, struct literal **out) {
    struct literal *tuple = literal_new(parser, LITERAL_TUPLE, parser->at);
    if (!tuple) return LITERAL_ENOMEM;
    struct entry_list list = {.owner = tuple};
    parser->at++;
    do {
        struct literal_element element = {0};
        struct literal *part = NULL;
        int rc = read_leaf(parser, &element);
        if (!rc) rc = literal_from_element(parser, parser->at, element, &part);
        if (!rc) rc = append_entry(parser, &list, NULL, part);
        if (rc) return rc;
        if (tuple->entry_count > LITERAL_AXES_MAX)
            return LITERAL_FAIL(parser, LITERAL_ELIMIT, tuple->position, "a tuple key has at most %d parts", LITERAL_AXES_MAX);
    } while (literal_accept(parser, ','));
    *out = tuple;
    return literal_accept(parser, ']') ? LITERAL_OK : literal_fail_expected(parser, "\",\" or \"]\"");
}

/* Whether the bracket that opens here is closed before a `=`: a tuple key and no array. */
static bool at_tuple(const struct literal_parser *parser) {
    if (parser->at >= parser->length || parser->text[parser->at] != '[') return false;
    struct literal_parser ahead = *parser;
    size_t most = parser->at + 1024 < parser->length ? parser->at + 1024 : parser->length;
    for (ahead.at++; ahead.at < most; ahead.at++) {
        char character = ahead.text[ahead.at];
        if (character == '[' || character == '{' || character == '"') return false;
        if (character != ']') continue;
        ahead.at++;
        return literal_peek(&ahead) == '=';
    }
    return false;
}

static int parse_key(struct literal_parser *parser, bool is_struct, struct literal **key) {
    (void)literal_skip(parser);
    size_t start = parser->at;
    struct literal_element element = {0};
    if (!is_struct && literal_read_constant(parser, &element)) return literal_from_element(parser, start, element, key);
    size_t bare = bare_key_bytes(parser);
    if (bare) {
        const char *text = literal_copy(parser, parser->text + start, bare);
        parser->at += bare;
        return text ? literal_from_text(parser, start, KIND_CHAR_UTF32, text, bare, key) : LITERAL_ENOMEM;
    }
    if (at_tuple(parser)) return parse_tuple(parser, key);
    return parse_value(parser, key);
}

/* One entry: `key = value`, or a value alone, which gets the next number as its key. */
static int parse_entry(struct literal_parser *parser, struct entry_list *list, bool *numbered) {
    struct literal *key = NULL;
    struct literal *value = NULL;
    bool is_struct = list->owner->class == LITERAL_STRUCT;
    bool first = list->owner->entry_count == 0;
    int rc = parse_key(parser, is_struct, &key);
    if (rc) return rc;
    assert(key);
    size_t position = key->position;
    bool keyed = literal_accept(parser, '=');
    if (first) *numbered = !keyed;
    if (is_struct && (!keyed || key->class != LITERAL_TEXT))
        return LITERAL_FAIL(parser, LITERAL_ESYNTAX, position, "a struct's fields are written name=value");
    if (*numbered == keyed)
        return LITERAL_FAIL(parser, LITERAL_ESYNTAX, position, "entries with and without a key are mixed in this map");
    if (keyed) {
        if (key->class != LITERAL_TEXT && key->class != LITERAL_SCALAR && key->class != LITERAL_TUPLE)
            return LITERAL_FAIL(parser, LITERAL_ETYPE, position, "a map key is a text, a scalar or a tuple [1,2]");
        rc = parse_value(parser, &value);
    } else {
        value = key;
        struct literal_element number = {list->owner->entry_count, KIND_INT64, true};
        rc = literal_from_element(parser, position, number, &key);
    }
    return rc ? rc : append_entry(parser, list, key, value);
}

/* After the opening brace. */
static int parse_entries(struct literal_parser *parser, struct literal *owner) {
    struct entry_list list = {.owner = owner};
    bool numbered = false;
    while (!literal_accept(parser, '}')) {
        int rc = parse_entry(parser, &list, &numbered);
        if (rc) return rc;
        bool newline = literal_skip(parser);
        if (literal_accept(parser, ';') || literal_accept(parser, ',') || newline || literal_peek(parser) == '}') continue;
        return literal_fail_expected(parser, "\",\", \";\" or \"}\"");
    }
    return LITERAL_OK;
}

static bool same_key_type(const struct literal *left, const struct literal *right) {
    if (left->class != right->class || left->entry_count != right->entry_count) return false;
    if (left->class == LITERAL_SCALAR) return left->kind == right->kind;
    const struct literal_entry *a = left->entries;
    const struct literal_entry *b = right->entries;
    for (; a && b; a = a->next, b = b->next)
        if (a->value->kind != b->value->kind) return false;
    return true;
}

/* The type of a map without a declared one, from its first key: []char/utf8·any, [int64]·any, [int64,bool]·any. */
static int infer_map_type(struct literal_parser *parser, struct literal *map) {
    const struct literal *key = map->entries ? map->entries->key : NULL;
    map->type = "[]char/utf8·any";
    for (const struct literal_entry *entry = map->entries; entry; entry = entry->next)
        if (!same_key_type(key, entry->key))
            return LITERAL_FAIL(parser, LITERAL_ETYPE, entry->key->position, "the keys of this map are of different types");
    if (!key || key->class == LITERAL_TEXT) return LITERAL_OK;
    char text[LITERAL_AXES_MAX * (KIND_NAME_MAX + 1) + 16];
    int length = snprintf(text, sizeof text, "[");
    const struct literal_entry *part = key->entries;
    for (bool more = true; more;) {
        const struct literal *scalar = part ? part->value : key;
        part = part ? part->next : NULL;
        more = part != NULL;
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s", kind_name(scalar->kind), more ? "," : "]·any");
    }
    map->type = literal_copy(parser, text, (size_t)length);
    return map->type ? LITERAL_OK : LITERAL_ENOMEM;
}

/* ---- what a type stands before ---- */

/* Looks for `TYPE(` or `STRUCT{`: gives the byte after the type's text ('(' or '{'), 0 if there is no such thing here. */
static char type_ahead(const struct literal_parser *parser, size_t *bytes) {
    size_t most = parser->length - parser->at < TYPEXPR_TEXT_MAX ? parser->length : parser->at + TYPEXPR_TEXT_MAX;
    bool brackets = false;
    for (size_t at = parser->at; at < most; at++) {
        char character = parser->text[at];
        *bytes = at - parser->at;
        if (!brackets && (character == '(' || character == '{')) return *bytes ? character : 0;
        if (character == '[' || character == ']') {
            if (brackets == (character == '[')) return 0;
            brackets = !brackets;
            continue;
        }
        bool letter = (unsigned char)character >= 0x80 || (unsigned char)((character | 0x20) - 'a') < 26 ||
                      (character >= '0' && character <= '9') || character == '_' || character == '/' || character == '.' ||
                      character == '|' || character == '*' || character == '@';
        bool in_brackets = brackets && (character == ',' || character == '?' || character == '+' || character == ' ');
        /* An array that is no type: nothing of a type follows its bracket. */
        if (!letter && !in_brackets) return 0;
    }
    return 0;
}

/* Parses `bytes` of the text as a type into the document's memory. */
static int parse_type(struct literal_parser *parser, size_t bytes, const struct typexpr **out) {
    size_t capacity = typexpr_bound(bytes);
    struct typexpr *type = literal_alloc(parser, capacity);
    if (!type) return LITERAL_ENOMEM;
    struct typexpr_error error;
    if (typexpr_parse(parser->text + parser->at, bytes, type, capacity, &error))
        return LITERAL_FAIL(parser, LITERAL_ETYPE, parser->at + error.position, "%s", error.message);
    parser->at += bytes;
    *out = type;
    return LITERAL_OK;
}

/* `time("2026-…")`, `duration("1.5s")`, `char/utf8("…")`. */
static int convert_text(struct literal_parser *parser, enum kv_kind kind, const struct literal *text, struct literal **out) {
    int64_t nanos = 0;
    int rc;
    if (kind_is_char(kind)) return literal_from_text(parser, text->position, kind, text->text, text->text_bytes, out);
    if (kind == KIND_TIME) rc = timetext_parse_time(text->text, text->text_bytes, &nanos);
    else if (kind == KIND_DURATION) rc = timetext_parse_duration(text->text, text->text_bytes, &nanos);
    else return LITERAL_FAIL(parser, LITERAL_ETYPE, text->position, "a string does not convert to %s", kind_name(kind));
    if (rc) return LITERAL_FAIL(parser, LITERAL_EVALUE, text->position, "this string is no %s", kind_name(kind));
    struct literal_element element = {(uint64_t)nanos, (uint8_t)kind, false};
    return literal_from_element(parser, text->position, element, out);
}

/* `TYPE(value)`; the parser stands at the type. */
static int parse_conversion(struct literal_parser *parser, size_t type_bytes, struct literal **out) {
    const struct typexpr *type = NULL;
    size_t start = parser->at;
    int rc = parse_type(parser, type_bytes, &type);
    if (rc) return rc;
    parser->at++;
    rc = parse_value(parser, out);
    if (rc) return rc;
    if (!literal_accept(parser, ')')) return literal_fail_expected(parser, "\")\"");
    enum kv_kind kind = typexpr_only_kind(type);
    if (!kind) return literal_coerce(parser, *out, type);
    if ((*out)->class == LITERAL_TEXT) return convert_text(parser, kind, *out, out);
    if ((*out)->class != LITERAL_SCALAR) return literal_coerce(parser, *out, type);
    struct literal_element element = literal_load(*out);
    rc = literal_convert(parser, (*out)->position, kind, true, &element);
    return rc ? rc : literal_from_element(parser, start, element, out);
}

/* `Point{…}`; the parser stands at the name. */
static int parse_struct(struct literal_parser *parser, size_t name_bytes, struct literal **out) {
    struct literal *value = literal_new(parser, LITERAL_STRUCT, parser->at);
    const struct typexpr *type = NULL;
    if (!value) return LITERAL_ENOMEM;
    int rc = parse_type(parser, name_bytes, &type);
    if (rc) return rc;
    assert(type);
    const struct typexpr_atom *atom = typexpr_first(type);
    bool named = type->atom_count == 1 && !atom->prefix && atom->axis_count == 0;
    if (!named || (atom->class != TYPE_NAME && atom->class != TYPE_WORD))
        return LITERAL_FAIL(parser, LITERAL_ETYPE, value->position, "a struct's name stands before {…}; a typed map is TYPE({…})");
    static const char root[] = "/lib/";
    const char *name = typexpr_name(atom);
    size_t root_bytes = name[0] == '/' ? 0 : sizeof root - 1;
    char *path = literal_alloc(parser, root_bytes + atom->name_bytes + 1U);
    if (!path) return LITERAL_ENOMEM;
    memcpy(path, root, root_bytes);
    memcpy(path + root_bytes, name, atom->name_bytes);
    value->text = value->type = path;
    value->text_bytes = root_bytes + atom->name_bytes;
    parser->at++;
    *out = value;
    return parse_entries(parser, value);
}

/* ---- values ---- */

static int parse_map(struct literal_parser *parser, struct literal **out) {
    struct literal *map = literal_new(parser, LITERAL_MAP, parser->at);
    if (!map) return LITERAL_ENOMEM;
    parser->at++;
    *out = map;
    int rc = parse_entries(parser, map);
    return rc ? rc : infer_map_type(parser, map);
}

static int parse_word(struct literal_parser *parser, struct literal **out) {
    size_t bytes = 0;
    const char *text = parser->text + parser->at;
    while (parser->at + bytes < parser->length) {
        uint32_t point;
        size_t taken = utf8_decode(text + bytes, parser->length - parser->at - bytes, &point);
        if (taken == 0 || !utf8_is_name_part(point)) break;
        bytes += taken;
    }
    if (bytes == 4 && (memcmp(text, "None", 4) == 0 || memcmp(text, "null", 4) == 0)) {
        *out = literal_new(parser, LITERAL_NONE, parser->at);
        parser->at += 4;
        return *out ? LITERAL_OK : LITERAL_ENOMEM;
    }
    if (bytes == 0) return literal_fail_expected(parser, "a value");
    int show = (int)utf8_valid_prefix(text, bytes > 40 ? 40 : bytes);
    return LITERAL_FAIL(parser, LITERAL_ESYNTAX, parser->at, "%.*s is no value; a text is written \"%.*s\"", show, text, show, text);
}

static int parse_string(struct literal_parser *parser, struct literal **out) {
    size_t start = parser->at;
    const char *text;
    size_t bytes;
    int rc = literal_read_string(parser, &text, &bytes);
    return rc ? rc : literal_from_text(parser, start, KIND_CHAR_UTF32, text, bytes, out);
}

static int parse_any(struct literal_parser *parser, struct literal **out) {
    int next = literal_peek(parser);
    size_t start = parser->at;
    size_t type_bytes = 0;
    struct literal_element element = {0};
    if (literal_at_string(parser)) return parse_string(parser, out);
    if (next == '{') return parse_map(parser, out);
    if (next == '&') return parse_pointer(parser, out);
    if (literal_read_constant(parser, &element)) return literal_from_element(parser, start, element, out);
    if ((next >= '0' && next <= '9') || next == '-' || next == '+') {
        int rc = literal_read_number(parser, &element);
        return rc ? rc : literal_from_element(parser, start, element, out);
    }
    char after = next < 0 ? 0 : type_ahead(parser, &type_bytes);
    if (after == '(') return parse_conversion(parser, type_bytes, out);
    if (after == '{') return parse_struct(parser, type_bytes, out);
    if (next == '[') return parse_array(parser, out);
    if (next == '/') return parse_pointer(parser, out);
    return parse_word(parser, out);
}

/* A value; an array may still be without a type. */
static int parse_value(struct literal_parser *parser, struct literal **out) {
    if (parser->depth == LITERAL_DEPTH_MAX)
        return LITERAL_FAIL(parser, LITERAL_ELIMIT, parser->at, "values are nested more than %d deep", LITERAL_DEPTH_MAX);
    parser->depth++;
    int rc = parse_any(parser, out);
    assert(rc || *out);
    parser->depth--;
    return rc;
}

/* Untyped arrays anywhere below, which only a declared type could have settled. */
static int settle_all(struct literal_parser *parser, const struct literal *value) {
    int rc = settle(parser, value);
    for (const struct literal_entry *entry = value->entries; entry && !rc; entry = entry->next)
        rc = settle_all(parser, entry->value);
    return rc;
}

int literal_parse(const char *text, size_t length, const struct literal_options *options,
                  struct literal_document *document, struct literal_error *error) {
    struct literal_error ignored = {0};
    struct literal_parser parser = {.text = text, .length = length, .error = error ? error : &ignored};
    *parser.error = (struct literal_error){0};
    *document = (struct literal_document){0};
    parser.body_bytes_max = options && options->body_bytes_max ? options->body_bytes_max : UINT64_C(1) << 30;
    struct literal *root = NULL;
    int rc = length > UINT32_MAX ? LITERAL_FAIL(&parser, LITERAL_ELIMIT, UINT32_MAX, "a literal has at most 4 GiB of text")
                                 : parse_value(&parser, &root);
    if (!rc && literal_peek(&parser) >= 0) rc = literal_fail_expected(&parser, "the end of the value");
    if (!rc) rc = settle_all(&parser, root);
    document->blocks = parser.blocks;
    document->root = root;
    if (rc) literal_document_free(document);
    return rc;
}

void literal_document_free(struct literal_document *document) {
    for (struct literal_block *block = document->blocks; block;) {
        struct literal_block *next = block->next;
        free(block);
        block = next;
    }
    *document = (struct literal_document){0};
}
