/* kvspace_import: reads what kvspace_export wrote, see export.h, and sets it below a key. Relies on the public interface of the
 * tree and on json.h. Promises: the input is not trusted: no length of it is allocated before the bytes are there, every
 * record is checked before it is set, and a fault is told with its byte; nothing recurses. */
#include "kvspace/export.h"

#include "kvspace/json.h"
#include "kvspace/kinds.h"
#include "kvspace/path.h"
#include "kvspace/space.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMPORT_PIECE = 1 << 16 };

struct importer {
    kvspace *space;
    const char *under; /* "" for the root */
    kvspace_read_function *read;
    void *context;
    struct kvspace_problem *problem;
    struct text_buffer input; /* JSON: all of it. Stream: what was read ahead */
    size_t at;                /* stream: what of the input was used */
    uint64_t consumed;        /* bytes before `input` */
    bool ended;
    char key[KVSPACE_KEY_MAX + 1];
};

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void fault_set(struct importer *importer, uint64_t position, int code, const char *format, ...) {
    char text[sizeof importer->problem->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (importer->problem) {
        importer->problem->position = (size_t)position;
        memcpy(importer->problem->message, text, sizeof text);
    }
    (void)space_error(importer->space, code, NULL, "byte %llu of the import: %s", (unsigned long long)position, text);
}
/* Gives the code, at a place where analyzers see that it is an error. */
#define fault(importer, position, code, ...) (fault_set(importer, position, code, __VA_ARGS__), (code))

/* A fault of the space while a record was set; the message is the space's own, which names the key. */
static int refused(struct importer *importer, uint64_t position, int code) {
    if (importer->problem) {
        importer->problem->position = (size_t)position;
        snprintf(importer->problem->message, sizeof importer->problem->message, "%s", kvspace_message(importer->space));
    }
    return code;
}

/* Reads more into the buffer. Gives 0 (also at the end), ESTOPPED or ENOMEM. */
static int read_more(struct importer *importer) {
    char *piece = malloc(IMPORT_PIECE);
    size_t count = 0;
    if (!piece) return KVSPACE_ENOMEM;
    int rc = importer->read(importer->context, piece, IMPORT_PIECE, &count) ? KVSPACE_ESTOPPED : 0;
    if (!rc && count > IMPORT_PIECE) rc = KVSPACE_EUSAGE;
    if (!rc && count) {
        struct text_out out = text_buffer_out(&importer->input);
        text_put(&out, piece, count);
        if (out.error) rc = KVSPACE_ENOMEM;
    }
    importer->ended = !rc && !count;
    free(piece);
    return rc;
}

/* The full key of a record in importer->key. EKEY. */
static int place_key(struct importer *importer, uint64_t position, const char *key, size_t bytes) {
    size_t under = strlen(importer->under);
    if (bytes == 1 && key[0] == '/' && under) bytes = 0; /* the root's value is that of the key itself */
    if (memchr(key, '\0', bytes) || under + bytes > KVSPACE_KEY_MAX)
        return fault(importer, position, KVSPACE_EKEY, "a key is too long, or has a zero byte");
    memcpy(importer->key, importer->under, under);
    memcpy(importer->key + under, key, bytes);
    importer->key[under + bytes] = '\0';
    struct kvspace_problem why = {0};
    if (bytes && key[0] != '/') return fault(importer, position, KVSPACE_EKEY, "a key does not begin with `/`");
    if (path_check(importer->key, &why)) return fault(importer, position, KVSPACE_EKEY, "not a key: %s", why.message);
    return 0;
}

static int make_read_only(struct importer *importer) {
    struct kvspace_value *copy;
    int rc = kvspace_get_copy(importer->space, importer->key, &copy);
    if (rc) return rc;
    copy->ro = 1;
    if (copy->kind) copy->type = NULL, copy->type_bytes = 0;
    rc = kvspace_set(importer->space, importer->key, copy);
    kvspace_value_free(copy);
    return rc;
}

/* ---- JSON ---- */

/* The fields of a record, as they lie in the text. */
enum field { FIELD_KEY, FIELD_TYPE, FIELD_VALUE, FIELD_LITERAL, FIELD_BODY, FIELD_STORE, FIELD_POINTER,
             FIELD_EXTERNAL, FIELD_RO, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = {"key",   "type", "value",   "literal",  "body",
                                                     "store", "pointer", "external", "ro"};

struct record {
    struct json_token first[FIELD_COUNT]; /* event JSON_END: not there */
    size_t begin[FIELD_COUNT], end[FIELD_COUNT]; /* of the whole value */
    size_t position;
};

static int json_fault(struct importer *importer, const struct json_reader *reader) {
    return fault(importer, reader->at, KVSPACE_ESYNTAX, "not JSON: %s", reader->message ? reader->message : "it ends too early");
}

/* A string of the record, decoded, malloc'd and ended by a zero byte. */
static int field_text(struct importer *importer, const struct record *record, enum field field, char **text, size_t *bytes) {
    const struct json_token *token = &record->first[field];
    if (token->event != JSON_STRING)
        return fault(importer, record->position, KVSPACE_ESYNTAX, "\"%s\" is missing, or no string", field_names[field]);
    *text = malloc(token->length + 1);
    if (!*text) return KVSPACE_ENOMEM;
    *bytes = json_decode(token, *text);
    (*text)[*bytes] = '\0';
    return 0;
}

static bool has(const struct record *record, enum field field) { return record->first[field].event != JSON_END; }

/* `inf` and `nan` stand in quotes in JSON and bare in a literal. */
static void put_literal_of_json(struct text_out *out, const char *json, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (json[i] != '"') text_put(out, json + i, 1);
}

static int set_literal(struct importer *importer, const struct record *record, struct text_buffer *literal, int failed) {
    struct kvspace_problem why = {0};
    if (failed) return KVSPACE_ENOMEM;
    int rc = kvspace_set_literal(importer->space, importer->key, literal->bytes ? literal->bytes : "", literal->length, &why);
    if (rc && why.message[0]) return fault(importer, record->position, rc, "%.200s", why.message);
    return rc ? refused(importer, record->position, rc) : 0;
}

/* "value": a string is one of UTF-32; everything else is TYPE(value). */
static int set_value(struct importer *importer, const struct record *record, const char *json, const char *type) {
    char *text;
    size_t bytes;
    if (record->first[FIELD_VALUE].event == JSON_STRING && strstr(type, "char/utf32")) {
        int rc = field_text(importer, record, FIELD_VALUE, &text, &bytes);
        if (rc) return rc;
        rc = kvspace_set_string(importer->space, importer->key, text, bytes);
        free(text);
        return rc ? refused(importer, record->position, rc) : 0;
    }
    struct text_buffer literal = {0};
    struct text_out out = text_buffer_out(&literal);
    text_puts(&out, type);
    text_puts(&out, "(");
    put_literal_of_json(&out, json + record->begin[FIELD_VALUE], record->end[FIELD_VALUE] - record->begin[FIELD_VALUE]);
    text_puts(&out, ")");
    int rc = set_literal(importer, record, &literal, out.error);
    text_buffer_free(&literal);
    return rc;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int set_body(struct importer *importer, const struct record *record, const char *type) {
    char *text;
    size_t bytes;
    int rc = field_text(importer, record, FIELD_BODY, &text, &bytes);
    if (rc) return rc;
    for (size_t i = 0; i + 1 < bytes && !rc; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) rc = KVSPACE_ESYNTAX;
        else text[i / 2] = (char)(high << 4 | low);
    }
    if (rc || bytes % 2) rc = fault(importer, record->position, KVSPACE_ESYNTAX, "\"body\" is no hexadecimal text");
    else {
        struct kvspace_value value = {.type = type, .body = text, .body_bytes = bytes / 2};
        if (has(record, FIELD_STORE) && json_is(&record->first[FIELD_STORE], "atom")) value.store = KVSPACE_ATOM;
        rc = kvspace_set(importer->space, importer->key, &value);
        if (rc) rc = refused(importer, record->position, rc);
    }
    free(text);
    return rc;
}

static int set_reference(struct importer *importer, const struct record *record, const char *type) {
    bool pointer = has(record, FIELD_POINTER);
    char *text;
    size_t bytes;
    int rc = field_text(importer, record, pointer ? FIELD_POINTER : FIELD_EXTERNAL, &text, &bytes);
    if (rc) return rc;
    struct kvspace_value value = {.ref = pointer ? KVSPACE_POINTER : KVSPACE_EXTERNAL, .body = text, .body_bytes = bytes};
    if (type[0]) value.type = type;
    rc = kvspace_set(importer->space, importer->key, &value);
    free(text);
    return rc ? refused(importer, record->position, rc) : 0;
}

static int set_typed(struct importer *importer, const struct record *record, const char *json, const char *type) {
    if (has(record, FIELD_POINTER) || has(record, FIELD_EXTERNAL)) return set_reference(importer, record, type);
    if (has(record, FIELD_LITERAL)) {
        char *text;
        size_t bytes;
        int rc = field_text(importer, record, FIELD_LITERAL, &text, &bytes);
        if (rc) return rc;
        struct text_buffer literal = {.bytes = text, .length = bytes};
        rc = set_literal(importer, record, &literal, 0);
        free(text);
        return rc;
    }
    if (has(record, FIELD_VALUE)) return set_value(importer, record, json, type);
    if (has(record, FIELD_BODY)) return set_body(importer, record, type);
    if (!has(record, FIELD_STORE)) return fault(importer, record->position, KVSPACE_ESYNTAX, "a record without a value");
    if (!json_is(&record->first[FIELD_STORE], "index"))
        return fault(importer, record->position, KVSPACE_ESYNTAX, "\"store\" is not \"index\"");
    int rc = kvspace_mkindex(importer->space, importer->key, type);
    return rc ? refused(importer, record->position, rc) : 0;
}

static int set_record(struct importer *importer, const struct record *record, const char *json) {
    char *text;
    size_t bytes;
    int rc = field_text(importer, record, FIELD_KEY, &text, &bytes);
    if (rc) return rc;
    rc = place_key(importer, record->position, text, bytes);
    free(text);
    if (rc) return rc;
    rc = field_text(importer, record, FIELD_TYPE, &text, &bytes);
    if (rc) return rc;
    if (strlen(text) != bytes) rc = fault(importer, record->position, KVSPACE_ETYPE, "a type has a zero byte");
    else rc = set_typed(importer, record, json, text);
    free(text);
    if (!rc && record->first[FIELD_RO].event == JSON_TRUE && (rc = make_read_only(importer)))
        rc = refused(importer, record->position, rc);
    return rc;
}

/* One field of an object, whose name has been read. */
static int read_field(struct importer *importer, struct json_reader *reader, const struct json_token *name, struct record *record) {
    struct json_token token;
    size_t begin = reader->at;
    if (json_next(reader, &token)) return json_fault(importer, reader);
    if (json_skip(reader, &token)) return json_fault(importer, reader);
    while (begin < reader->at && strchr(" \t\r\n:", reader->text[begin])) begin++;
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (!json_is(name, field_names[i])) continue;
        record->first[i] = token;
        record->begin[i] = begin;
        record->end[i] = reader->at;
    }
    return 0; /* a field of a later version is skipped */
}

static int import_json(struct importer *importer) {
    int rc = 0;
    while (!rc && !importer->ended) rc = read_more(importer);
    if (rc) return rc;
    struct json_reader reader = {.text = importer->input.bytes ? importer->input.bytes : "", .length = importer->input.length};
    struct json_token token;
    if (json_next(&reader, &token)) return json_fault(importer, &reader);
    if (token.event != JSON_ARRAY_BEGIN)
        return fault(importer, 0, KVSPACE_ESYNTAX, "not an export: it begins neither with an array nor as a stream");
    while (!(rc = json_next(&reader, &token)) && token.event == JSON_OBJECT_BEGIN) {
        struct record record = {.position = reader.at};
        while (!(rc = json_next(&reader, &token)) && token.event == JSON_KEY)
            if ((rc = read_field(importer, &reader, &token, &record))) return rc;
        if (rc) return json_fault(importer, &reader);
        if ((rc = set_record(importer, &record, reader.text))) return rc;
    }
    if (rc) return json_fault(importer, &reader);
    if (token.event != JSON_ARRAY_END) return fault(importer, reader.at, KVSPACE_ESYNTAX, "a record is no object");
    if (json_next(&reader, &token)) return json_fault(importer, &reader);
    return 0;
}

/* ---- stream ---- */

static uint64_t position(const struct importer *importer) { return importer->consumed + importer->at; }

/* Makes `count` bytes available at input + at. ESYNTAX: the stream ends before. */
static int need(struct importer *importer, uint64_t count) {
    while (importer->input.length - importer->at < count) {
        if (importer->at > IMPORT_PIECE) {
            size_t left = importer->input.length - importer->at;
            memmove(importer->input.bytes, importer->input.bytes + importer->at, left);
            importer->consumed += importer->at;
            importer->input.length = left;
            importer->at = 0;
        }
        int rc = importer->ended ? 0 : read_more(importer);
        if (rc) return rc;
        if (importer->ended)
            return fault(importer, importer->consumed + importer->input.length, KVSPACE_ESYNTAX, "the stream is cut short");
    }
    return 0;
}

static uint64_t take_number(struct importer *importer, unsigned bytes) {
    uint64_t number = 0;
    for (unsigned i = bytes; i-- > 0;) number = number << 8 | (unsigned char)importer->input.bytes[importer->at + i];
    importer->at += bytes;
    return number;
}

static int set_decoded(struct importer *importer, uint64_t begin, struct kvspace_value *value) {
    int rc;
    if (value->ref == KVSPACE_INLINE && value->store == KVSPACE_EXTINDEX)
        return fault(importer, begin, KVSPACE_ESYNTAX, "an overlay, which no export has");
    if (value->ref == KVSPACE_INLINE && value->store == KVSPACE_INDEX && value->type) {
        rc = kvspace_mkindex(importer->space, importer->key, value->type);
        if (!rc && value->ro) rc = make_read_only(importer);
    } else {
        rc = kvspace_set(importer->space, importer->key, value);
    }
    return rc ? refused(importer, begin, rc) : 0;
}

/* A record whose key has `key_bytes`. */
static int stream_record(struct importer *importer, uint64_t begin, uint64_t key_bytes) {
    struct kvspace_decoded decoded;
    int rc = need(importer, 4);
    if (rc) return rc;
    uint64_t head_bytes = take_number(importer, 4);
    if (key_bytes > KVSPACE_KEY_MAX || head_bytes > EXPORT_HEAD_MAX)
        return fault(importer, begin, KVSPACE_ESYNTAX, "a record of impossible size");
    if ((rc = need(importer, key_bytes + head_bytes))) return rc;
    if ((rc = place_key(importer, begin, importer->input.bytes + importer->at, (size_t)key_bytes))) return rc;
    importer->at += key_bytes;
    rc = kvspace_head_decode(importer->input.bytes + importer->at, (size_t)head_bytes, &decoded);
    if (rc || decoded.head_bytes != head_bytes) return fault(importer, begin, KVSPACE_ESYNTAX, "the head of a value is damaged");
    /* Once more when all of it is there, since reading may move the buffer: what is decoded borrows from it. */
    if ((rc = need(importer, head_bytes + decoded.value.body_bytes))) return rc;
    rc = kvspace_head_decode(importer->input.bytes + importer->at, importer->input.length - importer->at, &decoded);
    if (rc || !decoded.value.body) return fault(importer, begin, KVSPACE_ESYNTAX, "the head of a value is damaged");
    importer->at += (size_t)(head_bytes + decoded.value.body_bytes);
    return set_decoded(importer, begin, &decoded.value);
}

static int import_stream(struct importer *importer) {
    importer->at = EXPORT_MAGIC_BYTES;
    for (uint64_t keys = 0;; keys++) {
        uint64_t begin = position(importer);
        int rc = need(importer, 4);
        if (rc) return rc;
        uint64_t key_bytes = take_number(importer, 4);
        if (!key_bytes) {
            if ((rc = need(importer, 8))) return rc;
            if (take_number(importer, 8) != keys) return fault(importer, begin, KVSPACE_ESYNTAX, "keys are missing from the stream");
            return 0;
        }
        if ((rc = stream_record(importer, begin, key_bytes))) return rc;
    }
}

int kvspace_import(kvspace *space, const char *key, kvspace_read_function *read, void *context, struct kvspace_problem *problem) {
    if (problem) *problem = (struct kvspace_problem){0};
    if (path_check(key, problem)) return space_error(space, KVSPACE_EKEY, key, NULL);
    struct importer *importer = calloc(1, sizeof *importer);
    if (!importer) return space_error(space, KVSPACE_ENOMEM, key, NULL);
    *importer = (struct importer){.space = space, .under = strcmp(key, "/") == 0 ? "" : key, .read = read, .context = context,
                                  .problem = problem};
    int rc = 0;
    while (!rc && !importer->ended && importer->input.length < EXPORT_MAGIC_BYTES) rc = read_more(importer);
    bool stream = importer->input.length >= EXPORT_MAGIC_BYTES &&
                  memcmp(importer->input.bytes, EXPORT_MAGIC, EXPORT_MAGIC_BYTES) == 0;
    if (!rc) rc = stream ? import_stream(importer) : import_json(importer);
    text_buffer_free(&importer->input);
    free(importer);
    if (rc == KVSPACE_ESTOPPED || rc == KVSPACE_ENOMEM || rc == KVSPACE_EUSAGE) space_error(space, rc, key, NULL);
    return rc;
}
