/* Parser of type expressions: recursive descent over bytes, one pass, straight into the caller's buffer.
 * Relies on kinds.h for what a kind is and utf8.h for what a name is; the form is described in typexpr.h.
 * Promises: reads only inside the text, writes only inside the buffer, recursion is bounded by TYPEXPR_DEPTH_MAX, equal
 * types that are written alike give equal bytes (all padding is zero), and an error names the byte that caused it. */
#include "kvspace/typexpr.h"

#include "kvspace/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct parser {
    const char *text;
    size_t length, at;
    char *buffer;
    size_t capacity, used;
    unsigned depth;
    struct typexpr_error *error;
};

static int parse_union(struct parser *parser);

__attribute__((format(printf, 4, 5))) static int fail(struct parser *parser, int code, size_t position,
                                                      const char *format, ...) {
    if (parser->error) {
        parser->error->code = code;
        parser->error->position = position;
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(parser->error->message, sizeof parser->error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}

/* ---- tokens ---- */

static int peek(struct parser *parser) {
    while (parser->at < parser->length && (parser->text[parser->at] == ' ' || parser->text[parser->at] == '\t'))
        parser->at++;
    return parser->at < parser->length ? (unsigned char)parser->text[parser->at] : -1;
}

static bool accept(struct parser *parser, char wanted) {
    if (peek(parser) != (unsigned char)wanted) return false;
    parser->at++;
    return true;
}

static bool starts_with(const struct parser *parser, size_t at, const char *wanted, size_t bytes) {
    return parser->length - at >= bytes && memcmp(parser->text + at, wanted, bytes) == 0;
}

static const char separator[] = "·";

/* Bytes of the `·` (or its alias) that comes next, 0 if none does. */
static size_t separator_bytes(struct parser *parser) {
    if (peek(parser) == '.') return 1;
    return starts_with(parser, parser->at, separator, sizeof separator - 1) ? sizeof separator - 1 : 0;
}

/* Bytes of the identifier at `at`, 0 if there is none. */
static size_t identifier_bytes(const struct parser *parser, size_t at) {
    size_t end = at;
    while (end < parser->length) {
        uint32_t point;
        size_t bytes = utf8_decode(parser->text + end, parser->length - end, &point);
        if (bytes == 0 || !(end == at ? utf8_is_letter(point) : utf8_is_name_part(point))) break;
        end += bytes;
    }
    return end - at;
}

/* Bytes of `a/b/c` or `/a/b`: identifiers (after the first also digits, as in float8/e4m3) joined by single slashes. */
static size_t path_bytes(const struct parser *parser, size_t at) {
    size_t end = at;
    if (end < parser->length && parser->text[end] == '/') end++;
    size_t bytes = identifier_bytes(parser, end);
    if (bytes == 0) return 0;
    for (end += bytes; end < parser->length && parser->text[end] == '/'; end += 1 + bytes) {
        bytes = identifier_bytes(parser, end + 1);
        if (bytes == 0) break;
    }
    return end - at;
}

/* How much of a bad token a message shows: whole code points, at most 40 bytes. */
static int shown(const struct parser *parser, size_t at, size_t bytes) {
    if (bytes > 40) bytes = 40;
    return (int)utf8_valid_prefix(parser->text + at, bytes);
}

static int fail_unexpected(struct parser *parser, const char *wanted) {
    int next = peek(parser);
    if (next < 0) return fail(parser, TYPEXPR_ESYNTAX, parser->at, "expected %s, but the type ends here", wanted);
    size_t bytes = path_bytes(parser, parser->at);
    if (bytes == 0) {
        uint32_t point;
        bytes = utf8_decode(parser->text + parser->at, parser->length - parser->at, &point);
        if (bytes == 0 || point < 0x20 || point == 0x7f)
            return fail(parser, TYPEXPR_ESYNTAX, parser->at, "expected %s, found the byte 0x%02x", wanted,
                        (unsigned)next);
    }
    return fail(parser, TYPEXPR_ESYNTAX, parser->at, "expected %s, found \"%.*s\"", wanted,
                shown(parser, parser->at, bytes), parser->text + parser->at);
}

/* ---- the form ---- */

/* The next `bytes` of the buffer, rounded up to 8 and zeroed; NULL when there is no room. */
static void *emit(struct parser *parser, size_t bytes) {
    size_t rounded = (bytes + 7) & ~(size_t)7;
    if (rounded > parser->capacity - parser->used) {
        (void)fail(parser, TYPEXPR_ESPACE, parser->at, "the buffer for the parsed type is too small");
        return NULL;
    }
    void *place = memset(parser->buffer + parser->used, 0, rounded);
    parser->used += rounded;
    return place;
}

/* ---- dims and keys ---- */

static int parse_length(struct parser *parser, uint64_t *axis) {
    size_t start = parser->at;
    uint64_t value = 0;
    while (parser->at < parser->length) {
        unsigned digit = (unsigned)(unsigned char)parser->text[parser->at] - '0';
        if (digit > 9) break;
        if (value > ((uint64_t)INT64_MAX - digit) / 10)
            return fail(parser, TYPEXPR_ELIMIT, start, "an axis has at most 2^63-1 elements");
        value = value * 10 + digit;
        parser->at++;
    }
    if (parser->text[start] == '0' && parser->at - start > 1)
        return fail(parser, TYPEXPR_ESYNTAX, start, "a length has no leading zero");
    *axis = value;
    return TYPEXPR_OK;
}

static int parse_axis(struct parser *parser, struct typexpr_atom *atom, uint64_t *axis) {
    int next = peek(parser);
    if (next >= '0' && next <= '9') return parse_length(parser, axis);
    switch (next) {
    case '.': *axis = AXIS_ANY; break;
    case '?': *axis = AXIS_OPTIONAL; break;
    case '*': *axis = AXIS_STAR; break;
    case '+': *axis = AXIS_PLUS; break;
    default: return fail_unexpected(parser, "an axis (a length, or one of . ? * +)");
    }
    if (next != '.') {
        if (atom->quantifier)
            return fail(parser, TYPEXPR_ESYNTAX, parser->at, "at most one of ? * + may stand in one pair of brackets");
        atom->quantifier = (uint8_t)(atom->axis_count + 1);
    }
    parser->at++;
    return TYPEXPR_OK;
}

/* After the opening bracket. The axes go behind the atom. */
static int parse_axes(struct parser *parser, struct typexpr_atom *atom) {
    bool empty = accept(parser, ']');
    for (bool more = true; more;) {
        uint64_t axis = AXIS_ANY;
        if (atom->axis_count == TYPEXPR_AXES_MAX)
            return fail(parser, TYPEXPR_ELIMIT, parser->at, "an array has at most %d axes", TYPEXPR_AXES_MAX);
        int rc = empty ? TYPEXPR_OK : parse_axis(parser, atom, &axis);
        if (rc) return rc;
        uint64_t *place = emit(parser, sizeof axis);
        if (!place) return TYPEXPR_ESPACE;
        *place = axis;
        atom->axis_count++;
        more = !empty && accept(parser, ',');
    }
    return empty || accept(parser, ']') ? TYPEXPR_OK : fail_unexpected(parser, "\",\" or \"]\"");
}

/* A shape whose size in bytes overflows can belong to no value. Zero lengths do not hide an overflow of the others. */
static int check_volume(struct parser *parser, const struct typexpr_atom *atom, size_t position) {
    uint64_t most = (uint64_t)INT64_MAX / (kind_size(atom->kind) ? kind_size(atom->kind) : 1);
    const uint64_t *axes = typexpr_axes(atom);
    for (size_t i = 0; i < atom->axis_count; i++) {
        if (axes[i] >= AXIS_LEAST || axes[i] == 0) continue;
        if (axes[i] > most) return fail(parser, TYPEXPR_ELIMIT, position, "an array has at most 2^63-1 bytes");
        most /= axes[i];
    }
    return TYPEXPR_OK;
}

static int parse_kind_of_key(struct parser *parser, uint8_t *kind) {
    (void)peek(parser);
    size_t bytes = path_bytes(parser, parser->at);
    *kind = (uint8_t)kind_from_name(parser->text + parser->at, bytes);
    if (*kind == KIND_NONE || kind_row(*kind)->storage_only) return fail_unexpected(parser, "a scalar kind as map key");
    parser->at += bytes;
    return TYPEXPR_OK;
}

/* After the opening bracket: `int64, char/utf32]`. */
static int parse_tuple(struct parser *parser, struct typexpr_atom *atom) {
    do {
        if (atom->key_count == TYPEXPR_AXES_MAX)
            return fail(parser, TYPEXPR_ELIMIT, parser->at, "a tuple key has at most %d parts", TYPEXPR_AXES_MAX);
        int rc = parse_kind_of_key(parser, &atom->key[atom->key_count]);
        if (rc) return rc;
        atom->key_count++;
    } while (accept(parser, ','));
    return accept(parser, ']') ? TYPEXPR_OK : fail_unexpected(parser, "\",\" or \"]\"");
}

/* ---- elements ---- */

static const char *const tree_words[] = {"rwfunc", "rwir", "opcode", "name", "param", "none"};

/* Bytes of a word of the tree's own that stands at the start of `text`: a word of the list, or `def` and a second word. */
static size_t tree_word_bytes(const struct parser *parser, size_t bytes) {
    const char *text = parser->text + parser->at;
    for (size_t i = 0; i < sizeof tree_words / sizeof tree_words[0]; i++)
        if (strlen(tree_words[i]) == bytes && memcmp(tree_words[i], text, bytes) == 0) return bytes;
    if (bytes != 3 || memcmp(text, "def", 3) != 0 || !starts_with(parser, parser->at + 3, " ", 1)) return 0;
    size_t second = identifier_bytes(parser, parser->at + 4);
    return second ? 4 + second : 0;
}

static int store_name(struct parser *parser, struct typexpr_atom *atom, uint8_t class, const char *head,
                      size_t head_bytes, const char *tail, size_t tail_bytes) {
    size_t middle = tail_bytes ? sizeof separator - 1 : 0;
    char *name = emit(parser, head_bytes + middle + tail_bytes);
    if (!name) return TYPEXPR_ESPACE;
    memcpy(name, head, head_bytes);
    memcpy(name + head_bytes, separator, middle);
    memcpy(name + head_bytes + middle, tail, tail_bytes);
    atom->class = class;
    atom->name_bytes = (uint16_t)(head_bytes + middle + tail_bytes);
    return TYPEXPR_OK;
}

/* A word that cannot be a struct: a family name, or a/b that is no kind. */
static int fail_kind(struct parser *parser, size_t bytes) {
    const char *word = parser->text + parser->at;
    int show = shown(parser, parser->at, bytes);
    const char *suggestion = kind_family_suggestion(word, bytes);
    if (suggestion)
        return fail(parser, TYPEXPR_EKIND, parser->at, "%.*s is not a kind; did you mean %s?", show, word, suggestion);
    enum kv_kind nearest = kind_nearest(word, bytes);
    if (nearest)
        return fail(parser, TYPEXPR_EKIND, parser->at, "%.*s is not a kind; did you mean %s?", show, word,
                    kind_name(nearest));
    return fail(parser, TYPEXPR_EKIND, parser->at, "%.*s is neither a kind nor a struct (a struct of a lib is written lib·Name)",
                show, word);
}

/* `Point`, `pkg·P`, `a/b·P`, `/lib/Point`, `/lib/pkg·P`; `bytes` is the part before the separator. */
static int parse_struct(struct parser *parser, struct typexpr_atom *atom, size_t bytes) {
    const char *head = parser->text + parser->at;
    size_t start = parser->at;
    parser->at += bytes;
    size_t skip = separator_bytes(parser);
    if (skip) {
        parser->at += skip;
        (void)peek(parser);
        size_t tail_bytes = identifier_bytes(parser, parser->at);
        if (tail_bytes == 0) {
            parser->at = start;
            return fail(parser, TYPEXPR_ESYNTAX, start, "a map key is a scalar kind, []char/… or [kind, …], not \"%.*s\"",
                        shown(parser, start, bytes), head);
        }
        const char *tail = parser->text + parser->at;
        parser->at += tail_bytes;
        return store_name(parser, atom, TYPE_NAME, head, bytes, tail, tail_bytes);
    }
    bool absolute = head[0] == '/';
    if (!absolute && memchr(head, '/', bytes)) {
        parser->at = start;
        return fail_kind(parser, bytes);
    }
    return store_name(parser, atom, TYPE_NAME, head, bytes, "", 0);
}

static int parse_element(struct parser *parser, struct typexpr_atom *atom) {
    (void)peek(parser);
    size_t bytes = path_bytes(parser, parser->at);
    if (bytes == 0) return fail_unexpected(parser, "a type");
    const char *word = parser->text + parser->at;
    atom->kind = (uint8_t)kind_from_name(word, bytes);
    if (atom->kind) {
        atom->class = TYPE_KIND;
        parser->at += bytes;
        return TYPEXPR_OK;
    }
    if (bytes == 3 && memcmp(word, "any", 3) == 0) {
        atom->class = TYPE_ANY;
        parser->at += bytes;
        return TYPEXPR_OK;
    }
    size_t word_bytes = atom->prefix || atom->axis_count ? 0 : tree_word_bytes(parser, bytes);
    if (word_bytes) {
        parser->at += word_bytes;
        return store_name(parser, atom, TYPE_WORD, word, word_bytes, "", 0);
    }
    if (kind_family_suggestion(word, bytes)) return fail_kind(parser, bytes);
    return parse_struct(parser, atom, bytes);
}

/* ---- atoms and unions ---- */

/* The shape that was just parsed turns out to be a key: `int64·`, `[]char/utf8·`. */
static int key_from_shape(struct parser *parser, struct typexpr_atom *atom, size_t position) {
    bool text = atom->axis_count == 1 && typexpr_axes(atom)[0] == AXIS_ANY && kind_is_char(atom->kind);
    bool scalar = atom->axis_count == 0 && atom->kind && !kind_row(atom->kind)->storage_only;
    if (atom->class != TYPE_KIND || !(text || scalar))
        return fail(parser, TYPEXPR_ESYNTAX, position, "a map key is a scalar kind, []char/… or [kind, …]");
    parser->used -= atom->axis_count * sizeof(uint64_t);
    atom->axis_count = 0;
    if (scalar) {
        atom->key[0] = atom->kind;
        atom->key_count = 1;
        atom->kind = KIND_NONE;
    }
    return TYPEXPR_OK;
}

static int parse_map_value(struct parser *parser, struct typexpr_atom *atom) {
    atom->class = TYPE_MAP;
    parser->at += separator_bytes(parser);
    if (parser->depth == TYPEXPR_DEPTH_MAX)
        return fail(parser, TYPEXPR_ELIMIT, parser->at, "maps are nested more than %d deep", TYPEXPR_DEPTH_MAX);
    parser->depth++;
    int rc = parse_union(parser);
    parser->depth--;
    return rc;
}

static int parse_body(struct parser *parser, struct typexpr_atom *atom) {
    size_t start = parser->at;
    if (accept(parser, '[')) {
        (void)peek(parser);
        if (identifier_bytes(parser, parser->at)) {
            int rc = parse_tuple(parser, atom);
            if (rc) return rc;
            return separator_bytes(parser) ? parse_map_value(parser, atom) : fail_unexpected(parser, "\"·\" after a map key");
        }
        int rc = parse_axes(parser, atom);
        if (rc) return rc;
    }
    int rc = parse_element(parser, atom);
    if (rc) return rc;
    if (!separator_bytes(parser)) return check_volume(parser, atom, start);
    rc = key_from_shape(parser, atom, start);
    return rc ? rc : parse_map_value(parser, atom);
}

static int parse_atom(struct parser *parser, struct typexpr_atom **parsed) {
    size_t start = parser->used;
    struct typexpr_atom *atom = emit(parser, sizeof *atom);
    if (!atom) return TYPEXPR_ESPACE;
    if (accept(parser, '*')) atom->prefix = '*';
    else if (accept(parser, '@')) atom->prefix = '@';
    int next = peek(parser);
    if (atom->prefix && (next == '*' || next == '@'))
        return fail(parser, TYPEXPR_ESYNTAX, parser->at, "a pointer to a pointer has no type of its own; use *any");
    int rc = parse_body(parser, atom);
    atom->bytes = (uint32_t)(parser->used - start);
    *parsed = atom;
    return rc;
}

/* Which scalars and which arrays of one axis of any length the atom takes; see the fields of struct typexpr. */
static void add_masks(struct typexpr *type, const struct typexpr_atom *atom) {
    if (atom->prefix || (atom->class != TYPE_KIND && atom->class != TYPE_ANY)) return;
    bool any = atom->class == TYPE_ANY;
    uint32_t kinds = any ? UINT32_MAX & ~UINT32_C(1) : UINT32_C(1) << atom->kind;
    if (any && atom->axis_count == 0) {
        type->scalar_mask = type->vector_mask = UINT32_MAX;
        return;
    }
    uint64_t first = atom->axis_count == 1 ? typexpr_axes(atom)[0] : 0;
    if (atom->axis_count == 0 || first == AXIS_OPTIONAL || first == AXIS_STAR) type->scalar_mask |= kinds;
    if (first >= AXIS_LEAST) type->vector_mask |= kinds;
    if (atom->axis_count == 2 && atom->quantifier) {
        uint64_t quantifier = typexpr_axes(atom)[atom->quantifier - 1];
        uint64_t other = typexpr_axes(atom)[2 - atom->quantifier];
        if (other == AXIS_ANY && quantifier != AXIS_PLUS) type->vector_mask |= kinds;
    }
}

/* Whether the union has these very bytes already. */
static bool has_atom(const struct typexpr *type, const struct typexpr_atom *atom) {
    const struct typexpr_atom *other = typexpr_first(type);
    for (; other != atom; other = (const struct typexpr_atom *)(const void *)((const char *)other + other->bytes))
        if (other->bytes == atom->bytes && memcmp(other, atom, atom->bytes) == 0) return true;
    return false;
}

static int parse_union(struct parser *parser) {
    size_t start = parser->used;
    struct typexpr *type = emit(parser, sizeof *type);
    if (!type) return TYPEXPR_ESPACE;
    do {
        struct typexpr_atom *atom = NULL;
        if (type->atom_count == TYPEXPR_UNION_MAX)
            return fail(parser, TYPEXPR_ELIMIT, parser->at, "a union has at most %d members", TYPEXPR_UNION_MAX);
        int rc = parse_atom(parser, &atom);
        if (rc) return rc;
        assert(atom); /* no error, so there is an atom */
        if (has_atom(type, atom)) {
            parser->used -= atom->bytes;
            continue;
        }
        add_masks(type, atom);
        type->atom_count++;
    } while (accept(parser, '|'));
    type->bytes = (uint32_t)(parser->used - start);
    return TYPEXPR_OK;
}

int typexpr_parse(const char *text, size_t length, void *buffer, size_t capacity, struct typexpr_error *error) {
    assert((uintptr_t)buffer % _Alignof(uint64_t) == 0);
    struct parser parser = {.text = text, .length = length, .buffer = buffer, .capacity = capacity, .error = error};
    if (error) *error = (struct typexpr_error){0};
    if (length > TYPEXPR_TEXT_MAX)
        return fail(&parser, TYPEXPR_ELIMIT, TYPEXPR_TEXT_MAX, "a type has at most %d bytes", TYPEXPR_TEXT_MAX);
    int rc = parse_union(&parser);
    if (rc) return rc;
    if (peek(&parser) >= 0) {
        bool stray_key = separator_bytes(&parser) > 0;
        return fail_unexpected(&parser, stray_key ? "a map key before \"·\" (a scalar kind, []char/… or [kind, …])"
                                                  : "\"|\" or the end of the type");
    }
    return TYPEXPR_OK;
}
