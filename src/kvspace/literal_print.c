/* Printing values: arrays nested by rank, maps and structs with their entries, strings bare or quoted.
 * Relies on literal.h's reader for the values and on numtext.h, timetext.h and textout.h for the leaves.
 * Promises: recursion no deeper than LITERAL_DEPTH_MAX containers; no byte beyond a body's length is read, whatever its
 * dims claim; nothing is allocated. */
#include "kvspace/literal.h"

#include "kvspace/numtext.h"
#include "kvspace/timetext.h"
#include "kvspace/typexpr.h"
#include "kvspace/utf8.h"

#include <string.h>

struct literal_visit {
    const struct literal_reader *reader;
    struct text_out *out;
    uint64_t items_max;
    uint64_t items; /* entries of the container that is being walked */
    uint32_t depth, depth_max;
    bool is_struct; /* its fields are names, even `inf` */
    bool typed;
};

static void put_char(struct text_out *out, char character) { text_put(out, &character, 1); }

/* ---- leaves ---- */

static uint64_t load_unsigned(const void *element, size_t bytes) {
    uint8_t bits8;
    uint16_t bits16;
    uint32_t bits32;
    uint64_t bits64;
    switch (bytes) {
    case 1: memcpy(&bits8, element, 1); return bits8;
    case 2: memcpy(&bits16, element, 2); return bits16;
    case 4: memcpy(&bits32, element, 4); return bits32;
    default: memcpy(&bits64, element, 8); return bits64;
    }
}

static int64_t load_signed(const void *element, size_t bytes) {
    unsigned shift = (unsigned)(64 - 8 * bytes);
    return (int64_t)(load_unsigned(element, bytes) << shift) >> shift;
}

int literal_print_scalar(enum kv_kind kind, const void *element, struct text_out *out) {
    char text[TIMETEXT_MAX];
    size_t length = 0;
    size_t bytes = kind_size(kind);
    switch (kind_class(kind)) {
    case KIND_CLASS_BOOL:
        text_puts(out, load_unsigned(element, bytes) ? "true" : "false");
        return out->error;
    case KIND_CLASS_INT: length = numtext_print_int64(load_signed(element, bytes), text); break;
    case KIND_CLASS_UINT: length = numtext_print_uint64(load_unsigned(element, bytes), text); break;
    case KIND_CLASS_FLOAT: length = numtext_print_float(kind, element, text); break;
    case KIND_CLASS_TIME: length = timetext_print_time(load_signed(element, bytes), text); break;
    case KIND_CLASS_DURATION: length = timetext_print_duration(load_signed(element, bytes), text); break;
    case KIND_CLASS_CHAR:
        put_char(out, '"');
        text_put_escaped(out, (uint32_t)load_unsigned(element, bytes));
        put_char(out, '"');
        return out->error;
    default: text_puts(out, "None"); return out->error;
    }
    text_put(out, text, length);
    return out->error;
}

/* A string in UTF-8 or ASCII goes out in one piece, one in UTF-32 point by point through a small buffer. */
static void put_string(struct text_out *out, const struct literal_view *view, bool quoted) {
    const char *bytes = view->body;
    if (view->kind != KIND_CHAR_UTF32) {
        if (quoted) text_put_quoted(out, bytes, view->body_bytes);
        else text_put(out, bytes, view->body_bytes);
        return;
    }
    char buffer[256] = {0};
    size_t used = 0;
    if (quoted) put_char(out, '"');
    for (uint64_t at = 0; at + 4 <= view->body_bytes && !out->error; at += 4) {
        uint32_t point = (uint32_t)load_unsigned(bytes + at, 4);
        if (used > sizeof buffer - UTF8_BYTES_MAX) {
            text_put(out, buffer, used);
            used = 0;
        }
        bool plain = point >= 0x20 && point < 0x7f && point != '"' && point != '\\';
        if (plain || !quoted) {
            used += utf8_encode(utf8_point_is_valid(point) ? point : 0xfffd, buffer + used);
        } else {
            text_put(out, buffer, used);
            used = 0;
            text_put_escaped(out, point);
        }
    }
    text_put(out, buffer, used);
    if (quoted) put_char(out, '"');
}

/* A path as it can be written bare; see path_bytes of literal_parse.c. */
static bool is_bare_path(const char *text, size_t length) {
    int brackets = 0;
    for (size_t i = 0; i < length; i++) {
        char character = text[i];
        if ((unsigned char)character <= ' ' || strchr("\";(){}=`'", character)) return false;
        if (character == ',' && brackets == 0) return false;
        brackets += (character == '[') - (character == ']');
        if (brackets < 0) return false;
    }
    return length > 1 && text[0] == '/' && brackets == 0 && utf8_is_valid(text, length);
}

static void put_pointer(struct text_out *out, const struct literal_view *view, bool bare) {
    if (bare || is_bare_path(view->text, view->text_bytes)) {
        text_put(out, view->text, view->text_bytes);
        return;
    }
    put_char(out, '&');
    text_put_quoted(out, view->text, view->text_bytes);
}

/* ---- arrays ---- */

struct array_walk {
    const struct literal_view *view;
    const char *next;
    uint64_t left; /* elements that the body still has */
    uint64_t items_max;
    unsigned empty_rows; /* seen with nothing left */
};

/* The shape [1000000,1000000,0] has a million times a million empty rows and no byte; a damaged head may claim as many. */
enum { EMPTY_ROWS_MAX = 4096 };

/* Elements of everything below axis `axis`; 0 on overflow, which only a damaged head can cause. */
static uint64_t elements_below(const struct literal_view *view, unsigned axis) {
    uint64_t count = 1;
    for (unsigned i = axis; i < view->ndim; i++)
        if (__builtin_mul_overflow(count, view->dims[i], &count)) return 0;
    return count;
}

static void put_axis(struct text_out *out, struct array_walk *walk, unsigned axis) {
    const struct literal_view *view = walk->view;
    uint64_t length = view->dims[axis];
    uint64_t shown = walk->items_max && walk->items_max < length ? walk->items_max : length;
    bool last = axis + 1U == view->ndim;
    uint64_t below = last ? 1 : elements_below(view, axis + 1);
    put_char(out, '[');
    for (uint64_t i = 0; i < shown && !out->error; i++) {
        if (walk->left == 0 && (last || walk->empty_rows++ >= EMPTY_ROWS_MAX)) break;
        if (i) text_put(out, ", ", 2);
        if (!last) {
            put_axis(out, walk, axis + 1);
            continue;
        }
        (void)literal_print_scalar((enum kv_kind)view->kind, walk->next, out);
        walk->next += kind_size(view->kind);
        walk->left--;
    }
    if (shown < length) {
        text_puts(out, shown ? ", …" : "…");
        uint64_t skipped = (length - shown) * below;
        if (skipped > walk->left) skipped = walk->left;
        walk->next += skipped * kind_size(view->kind);
        walk->left -= skipped;
    }
    put_char(out, ']');
}

static void put_array(struct text_out *out, const struct literal_view *view, uint64_t items_max) {
    size_t bytes = kind_size(view->kind);
    struct array_walk walk = {.view = view, .next = view->body, .items_max = items_max};
    walk.left = bytes ? view->body_bytes / bytes : 0;
    if (view->ndim == 0 || view->ndim > LITERAL_AXES_MAX) text_puts(out, "[]");
    else put_axis(out, &walk, 0);
}

/* ---- containers ---- */

static bool is_keyword(const char *text, size_t length) {
    static const char *const keywords[] = {"rwfunc", "rwir",  "lib",    "struct", "if",    "else", "while", "for", "in",
                                           "break",  "continue", "return", "true", "false", "None", "null",  "inf", "nan"};
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strlen(keywords[i]) == length && memcmp(keywords[i], text, length) == 0) return true;
    return false;
}

static void put_key(struct literal_visit *visit, const struct literal_key_view *key) {
    struct text_out *out = visit->out;
    if (key->count == 0) {
        bool identifier = utf8_is_identifier(key->text, key->text_bytes);
        bool bare = key->printed || (identifier && (visit->is_struct || !is_keyword(key->text, key->text_bytes)));
        if (bare) text_put(out, key->text, key->text_bytes);
        else text_put_quoted(out, key->text, key->text_bytes);
        return;
    }
    if (key->count > 1) put_char(out, '[');
    for (size_t i = 0; i < key->count && i < LITERAL_AXES_MAX; i++) {
        if (i) put_char(out, ',');
        (void)literal_print_scalar((enum kv_kind)key->kinds[i], key->values[i], out);
    }
    if (key->count > 1) put_char(out, ']');
}

static int put_value(struct literal_visit *visit, const void *value, bool quoted);

/* Stops the walk when enough was shown: any code that is not 0 does, and put_container knows this one. */
enum { WALK_ENOUGH = -0x7e57 };

static int put_entry(struct literal_visit *visit, const struct literal_key_view *key, const void *value) {
    if (visit->items) text_put(visit->out, ", ", 2);
    if (visit->items_max && visit->items == visit->items_max) {
        text_puts(visit->out, "…");
        return WALK_ENOUGH;
    }
    visit->items++;
    put_key(visit, key);
    put_char(visit->out, '=');
    return put_value(visit, value, true);
}

/* The last part of a struct's path: /lib/pkg·P prints as P. */
static void put_short_name(struct text_out *out, const char *path, size_t bytes) {
    static const char dot[] = "·";
    size_t start = bytes;
    for (; start > 0; start--) {
        bool after_dot = start >= sizeof dot - 1 && memcmp(path + start - (sizeof dot - 1), dot, sizeof dot - 1) == 0;
        if (path[start - 1] == '/' || after_dot) break;
    }
    text_put(out, path + start, bytes - start);
}

static int put_container(struct literal_visit *visit, const struct literal_view *view, const void *value) {
    if (visit->depth == visit->depth_max) {
        text_puts(visit->out, "{…}");
        return visit->out->error;
    }
    struct literal_visit inner = *visit;
    inner.items = 0;
    inner.depth++;
    inner.is_struct = view->class == LITERAL_STRUCT;
    if (view->class == LITERAL_STRUCT) {
        if (visit->typed) text_put(visit->out, view->text, view->text_bytes);
        else put_short_name(visit->out, view->text, view->text_bytes);
    }
    put_char(visit->out, '{');
    int rc = visit->reader->walk(visit->reader->context, value, put_entry, &inner);
    put_char(visit->out, '}');
    return rc == WALK_ENOUGH ? visit->out->error : rc;
}

/* Whether a literal of this kind reads back to this kind without saying so. */
static bool is_default_kind(const struct literal_view *view) {
    switch (view->kind) {
    case KIND_BOOL:
    case KIND_INT64:
    case KIND_FLOAT64:
    case KIND_TIME:
    case KIND_DURATION: return true;
    case KIND_CHAR_UTF32: return view->class == LITERAL_TEXT;
    default: return false;
    }
}

static bool same_text(const char *text, size_t bytes, const char *wanted) {
    return strlen(wanted) == bytes && memcmp(text, wanted, bytes) == 0;
}

/* `TYPE(` where the value alone would read back as another type; gives whether a `)` is due. */
static bool put_type(struct literal_visit *visit, const struct literal_view *view) {
    char text[256];
    struct typexpr_actual actual = {.class = TYPE_KIND, .kind = view->kind, .ndim = view->ndim};
    switch (view->class) {
    case LITERAL_ARRAY:
        if (view->ndim > LITERAL_AXES_MAX || (is_default_kind(view) && view->body_bytes)) return false;
        memcpy(actual.dims, view->dims, sizeof actual.dims);
        (void)typexpr_print_actual(&actual, text, sizeof text);
        text_puts(visit->out, text);
        break;
    case LITERAL_SCALAR:
    case LITERAL_TEXT:
        if (is_default_kind(view)) return false;
        text_puts(visit->out, kind_name(view->kind));
        break;
    case LITERAL_MAP:
    case LITERAL_POINTER:
        if (!view->type || same_text(view->type, view->type_bytes, view->class == LITERAL_MAP ? "[]char/utf8·any" : "*any"))
            return false;
        text_put(visit->out, view->type, view->type_bytes);
        break;
    default: return false;
    }
    put_char(visit->out, '(');
    return true;
}

static int put_view(struct literal_visit *visit, const struct literal_view *view, const void *value, bool quoted) {
    struct text_out *out = visit->out;
    switch (view->class) {
    case LITERAL_SCALAR:
        if (kind_is_char(view->kind) && !quoted) put_string(out, view, false);
        else if (view->body_bytes < kind_size(view->kind)) text_puts(out, "None");
        else (void)literal_print_scalar((enum kv_kind)view->kind, view->body, out);
        break;
    case LITERAL_TEXT: put_string(out, view, quoted); break;
    case LITERAL_ARRAY:
        if (visit->typed && view->body_bytes == 0) text_put(out, "[]", 2); /* the type has the shape */
        else put_array(out, view, visit->items_max);
        break;
    case LITERAL_POINTER: put_pointer(out, view, !quoted); break;
    case LITERAL_MAP:
    case LITERAL_STRUCT: return put_container(visit, view, value);
    default: text_puts(out, "None"); break;
    }
    return out->error;
}

static int put_value(struct literal_visit *visit, const void *value, bool quoted) {
    struct literal_view view = {0};
    int rc = visit->reader->look(visit->reader->context, value, &view);
    if (rc) return rc;
    bool open = visit->typed && put_type(visit, &view);
    rc = put_view(visit, &view, value, quoted);
    if (open) put_char(visit->out, ')');
    return rc ? rc : visit->out->error;
}

int literal_print(const struct literal_reader *reader, const void *value, const struct literal_print_options *options,
                  struct text_out *out) {
    static const struct literal_print_options defaults = {0};
    if (!options) options = &defaults;
    struct literal_visit visit = {.reader = reader, .out = out, .items_max = options->items_max};
    visit.depth_max = options->depth_max && options->depth_max < LITERAL_DEPTH_MAX ? options->depth_max : LITERAL_DEPTH_MAX;
    visit.typed = options->style == LITERAL_STYLE_TYPED;
    int rc = put_value(&visit, value, visit.typed || options->top == LITERAL_TOP_QUOTED);
    return rc ? rc : out->error;
}

/* ---- the reader of struct literal ---- */

static int tree_look(void *context, const void *value, struct literal_view *view) {
    (void)context;
    const struct literal *literal = value;
    view->class = literal->class;
    view->kind = literal->kind;
    view->ndim = literal->ndim;
    view->body = literal->body;
    view->body_bytes = literal->body_bytes;
    view->text = literal->text;
    view->text_bytes = literal->text_bytes;
    view->type = literal->type;
    view->type_bytes = literal->type ? strlen(literal->type) : 0;
    memcpy(view->dims, literal->dims, sizeof view->dims);
    return 0;
}

static void tree_key(const struct literal *key, struct literal_key_view *view) {
    if (key->class == LITERAL_TEXT) {
        view->text = key->text;
        view->text_bytes = key->text_bytes;
    } else if (key->class == LITERAL_SCALAR) {
        view->count = 1;
        view->kinds[0] = key->kind;
        memcpy(view->values[0], key->body, kind_size(key->kind));
    } else {
        for (const struct literal_entry *part = key->entries; part; part = part->next) {
            view->kinds[view->count] = part->value->kind;
            memcpy(view->values[view->count++], part->value->body, kind_size(part->value->kind));
        }
    }
}

static int tree_walk(void *context, const void *value, literal_entry_function *entry, struct literal_visit *visit) {
    (void)context;
    const struct literal *literal = value;
    for (const struct literal_entry *at = literal->entries; at; at = at->next) {
        struct literal_key_view key = {0};
        tree_key(at->key, &key);
        int rc = entry(visit, &key, at->value);
        if (rc) return rc;
    }
    return 0;
}

const struct literal_reader literal_tree_reader = {.look = tree_look, .walk = tree_walk};
