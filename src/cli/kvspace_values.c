/* The commands that read and change single keys: get, set, del, cp, mv; and how values are shown.
 * Relies on kvspace_print for all text of values. Promises: set writes a value whole or not at all. */
#include "cli/kvspace_tool.h"

#include "kvspace/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- showing ---- */

enum { PREVIEW_ITEMS = 8, PREVIEW_DEPTH = 3, PREVIEW_COLUMNS = 200 };

int tool_get(struct tool *tool, const char *key, struct kvspace_value *out) {
    unsigned tries = 0;
    int rc;
    do rc = kvspace_get(tool->space, key, out);
    while (tool_again(rc, &tries));
    return rc;
}

/* As kvspace_print, which has printed nothing where the value cannot be had. */
static int print_patiently(struct tool *tool, const char *key, const struct kvspace_print_options *options, struct text_out *out) {
    unsigned tries = 0;
    int rc;
    do rc = kvspace_print(tool->space, key, options, tool_write, out);
    while (tool_again(rc, &tries));
    return rc;
}

int tool_write(void *text_out, const char *bytes, size_t count) {
    struct text_out *out = text_out;
    text_put(out, bytes, count);
    return out->error;
}

const char *tool_type(const struct kvspace_value *value, char *out) {
    kvspace_type_of(value, out, KVSPACE_TYPE_MAX);
    return out;
}

enum sink_style tool_value_style(const struct kvspace_value *value) {
    if (value->ref == KVSPACE_POINTER) return STYLE_POINTER;
    if (value->kind >= KVSPACE_CHAR_UTF32 && value->kind <= KVSPACE_CHAR_ASCII) return STYLE_STRING;
    if (value->kind != KVSPACE_KIND_NONE) return STYLE_NUMBER;
    return STYLE_PLAIN;
}

/* What a value that only refers to something looks like. */
static bool preview_reference(struct tool *tool, const struct kvspace_value *value, struct text_out *out) {
    const char *mark = value->ref == KVSPACE_POINTER     ? "-> "
                       : value->ref == KVSPACE_EXTERNAL  ? "@ "
                       : value->store == KVSPACE_EXTINDEX ? "over "
                                                          : NULL;
    if (!mark) return false;
    char shown[KVSPACE_KEY_MAX + 1];
    text_puts(out, mark);
    text_puts(out, tool_key_text(tool, value->body, (size_t)value->body_bytes, shown));
    return true;
}

int tool_preview(struct tool *tool, const char *key, const struct kvspace_value *value, enum kvspace_print_style style,
                 struct text_buffer *buffer) {
    struct text_out out = text_buffer_out(buffer);
    if (preview_reference(tool, value, &out)) return out.error ? KVSPACE_ENOMEM : 0;
    struct kvspace_print_options options = {.style = style, .items_max = PREVIEW_ITEMS, .depth_max = PREVIEW_DEPTH};
    bool text = value->ndim == 1 && value->kind >= KVSPACE_CHAR_UTF32 && value->kind <= KVSPACE_CHAR_ASCII;
    if (text) options.style = KVSPACE_PRINT_QUOTED; /* whatever its encoding */
    int rc = print_patiently(tool, key, &options, &out);
    size_t fits = buffer->length ? text_fit(buffer->bytes, buffer->length, PREVIEW_COLUMNS) : 0;
    if (!rc && fits < buffer->length) { /* a long text; arrays and containers are cut by items */
        buffer->length = fits;
        text_puts(&out, tool->ascii ? "..." : "…");
    }
    return out.error ? KVSPACE_ENOMEM : rc;
}

void tool_json_value(struct tool *tool, struct json_writer *json, const char *key, const struct kvspace_value *value,
                     bool whole) {
    char shown[KVSPACE_KEY_MAX + 1];
    char type[KVSPACE_TYPE_MAX];
    json_key_text(json, "key");
    json_put_text(json, tool_key_text(tool, key, strlen(key), shown));
    if (value->store == KVSPACE_NONE) return;
    json_key_text(json, "type");
    json_put_text(json, tool_type(value, type));
    bool container = value->store == KVSPACE_INDEX || value->store == KVSPACE_EXTINDEX;
    if (container && !whole) return;
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    struct kvspace_print_options options = {.style = KVSPACE_PRINT_JSON};
    int rc = print_patiently(tool, key, &options, &out);
    json_key_text(json, "value");
    if (rc || out.error || !buffer.length) json_put_null(json); /* gone meanwhile */
    else json_put_raw(json, buffer.bytes, buffer.length);
    text_buffer_free(&buffer);
}

void tool_json_end(struct tool *tool, struct json_writer *json) {
    int rc = json_finish(json);
    if (rc && !tool->out.out.error) tool->out.out.error = rc == JSON_EDEPTH ? ELOOP : EIO;
    sink_text(&tool->out, "\n");
}

/* ---- get ---- */

static int print_raw(struct tool *tool, const char *key) {
    kvspace_read_begin(tool->space);
    struct kvspace_value value;
    int rc = tool_get(tool, key, &value);
    bool container = !rc && value.store == KVSPACE_INDEX;
    if (!rc && !container) sink_bytes(&tool->out, value.body, (size_t)value.body_bytes);
    kvspace_read_end(tool->space);
    return container ? KVSPACE_ETYPE : rc;
}

static int print_json(struct tool *tool, const char *key) {
    struct kvspace_value value;
    int rc = tool_get(tool, key, &value);
    if (rc) return rc;
    struct json_writer json = {.out = &tool->out.out};
    kvspace_read_begin(tool->space);
    json_object_begin(&json);
    rc = tool_get(tool, key, &value);
    tool_json_value(tool, &json, key, &value, true);
    json_object_end(&json);
    kvspace_read_end(tool->space);
    tool_json_end(tool, &json);
    return rc;
}

/* One value as the options say. Gives a code. */
static int print_value(struct tool *tool, const char *key) {
    if (tool_given(tool, OPTION_RAW)) return print_raw(tool, key);
    if (tool->json) return print_json(tool, key);
    struct kvspace_print_options options = {.style = tool_given(tool, OPTION_TYPED) ? KVSPACE_PRINT_LITERAL
                                                                                    : KVSPACE_PRINT_PLAIN};
    int rc = print_patiently(tool, key, &options, &tool->out.out);
    if (!rc) sink_text(&tool->out, "\n");
    return rc;
}

/* Why there is no value, in words that help. */
static enum tool_status no_value(struct tool *tool, const char *key) {
    struct kvspace_counts counts;
    char shown[KVSPACE_KEY_MAX + 1];
    tool_key_text(tool, key, strlen(key), shown);
    if (kvspace_count(tool->space, key, &counts))
        return tool_fail(tool, TOOL_NO, "%s: there is nothing at %s", tool->command, shown);
    return tool_fail(tool, TOOL_NO, "%s: %s has no value of its own (children: %llu, members: %llu); see kvspace ls",
                     tool->command, shown, (unsigned long long)counts.children, (unsigned long long)counts.members);
}

enum tool_status command_get(struct tool *tool) {
    enum tool_status status = TOOL_OK;
    if (tool_given(tool, OPTION_RAW) + tool_given(tool, OPTION_JSON) + tool_given(tool, OPTION_TYPED) > 1)
        return tool_fail(tool, TOOL_USAGE, "get: --raw, --json and --typed exclude each other");
    for (int i = 0; i < tool->options.operand_count; i++) {
        char key[KVSPACE_KEY_MAX + 1];
        enum tool_status bad = tool_key(tool, tool->options.operands[i], key);
        if (bad) return bad;
        int rc = print_value(tool, key);
        if (rc == KVSPACE_ENOENT) status = no_value(tool, key);
        else if (rc == KVSPACE_ETYPE && tool_given(tool, OPTION_RAW))
            return tool_fail(tool, TOOL_NO, "get: %s is a container, which has no bytes of its own", key);
        else if (rc) return tool_error(tool, rc);
    }
    return status;
}

/* ---- set ---- */

/* All of standard input, malloc'd. */
static int read_input(struct text_buffer *buffer) {
    struct text_out out = text_buffer_out(buffer);
    char piece[65536];
    size_t count;
    while ((count = fread(piece, 1, sizeof piece, stdin)) > 0) text_put(&out, piece, count);
    text_put(&out, "", 1); /* there is a buffer even for nothing */
    if (out.error) return ENOMEM;
    buffer->length--;
    return ferror(stdin) ? EIO : 0;
}

static bool is_bare_text(const char *text, size_t length) {
    if (!length) return false;
    for (size_t i = 0; i < length; i++)
        if (strchr("\"'`{}[]()", text[i])) return false;
    return true;
}

static enum tool_status set_text(struct tool *tool, const char *key, const char *text, size_t length) {
    if (tool_given(tool, OPTION_TEXT)) {
        int rc = kvspace_set_string(tool->space, key, text, length);
        if (rc == KVSPACE_EVALUE) return tool_fail(tool, TOOL_USAGE, "set: the text is not UTF-8");
        return rc ? tool_error(tool, rc) : TOOL_OK;
    }
    struct kvspace_problem problem = {0};
    int rc = kvspace_set_literal(tool->space, key, text, length, &problem);
    if (!rc) return TOOL_OK;
    if (!problem.message[0]) return tool_error(tool, rc);
    enum tool_status status = tool_problem(tool, "set: not a literal", text, length, &problem);
    if (is_bare_text(text, length))
        tool_fail(tool, status, "text stands in quotes: '\"%.60s\"', or use --text", text);
    return status;
}

enum tool_status command_set(struct tool *tool) {
    char key[KVSPACE_KEY_MAX + 1];
    enum tool_status status = tool_key(tool, tool_operand(tool, 0, ""), key);
    if (status) return status;
    const char *text = tool_operand(tool, 1, "-");
    if (strcmp(text, "-") != 0) return set_text(tool, key, text, strlen(text));
    if (tool->prompt) return tool_fail(tool, TOOL_USAGE, "set: the prompt wants the value on its line");
    struct text_buffer buffer = {0};
    int failed = read_input(&buffer);
    if (failed) status = tool_fail(tool, TOOL_SPACE, "set: cannot read standard input: %s", strerror(failed));
    else status = set_text(tool, key, buffer.bytes, buffer.length);
    text_buffer_free(&buffer);
    return status;
}

/* ---- del ---- */

static int delete_value(struct tool *tool, const char *key) {
    struct kvspace_value value;
    int rc = tool_get(tool, key, &value);
    return rc ? rc : kvspace_set(tool->space, key, NULL);
}

static int delete_key(struct tool *tool, const char *key) {
    if (tool_given(tool, OPTION_VALUE)) return delete_value(tool, key);
    if (strcmp(key, "/") == 0) return kvspace_del_tree(tool->space, key, NULL);
    return kvspace_del(tool->space, key);
}

enum tool_status command_del(struct tool *tool) {
    enum tool_status status = TOOL_OK;
    bool force = tool_given(tool, OPTION_FORCE);
    for (int i = 0; i < tool->options.operand_count; i++) {
        char key[KVSPACE_KEY_MAX + 1];
        enum tool_status bad = tool_key(tool, tool->options.operands[i], key);
        if (bad) return bad;
        if (strcmp(key, "/") == 0 && !force && !tool_given(tool, OPTION_VALUE))
            return tool_fail(tool, TOOL_USAGE, "del: that is everything; say del --force / if you mean it");
        int rc = delete_key(tool, key);
        if (rc == KVSPACE_ENOENT && force) continue;
        if (rc == KVSPACE_ENOENT && tool_given(tool, OPTION_VALUE)) status = no_value(tool, key);
        else if (rc == KVSPACE_ENOENT) status = tool_fail(tool, TOOL_NO, "del: there is nothing at %s", key);
        else if (rc) return tool_error(tool, rc);
    }
    return status;
}

/* ---- cp and mv ---- */

/* Both keys, and that TO is free where it must be. */
static enum tool_status from_to(struct tool *tool, char *from, char *to) {
    enum tool_status status = tool_key(tool, tool_operand(tool, 0, ""), from);
    if (!status) status = tool_key(tool, tool_operand(tool, 1, ""), to);
    if (status || tool_given(tool, OPTION_FORCE)) return status;
    struct kvspace_value value;
    bool alone = tool_given(tool, OPTION_VALUE);
    int rc = alone ? kvspace_get(tool->space, to, &value) : kvspace_exists(tool->space, to);
    if (rc == KVSPACE_ENOENT) return TOOL_OK;
    if (rc) return tool_error(tool, rc);
    return tool_fail(tool, TOOL_NO, "%s: %s is there already (--force replaces it)", tool->command, to);
}

static enum tool_status transfer_result(struct tool *tool, int rc, const char *from) {
    if (rc == KVSPACE_ENOENT && tool_given(tool, OPTION_VALUE)) return no_value(tool, from);
    if (rc == KVSPACE_ENOENT) return tool_fail(tool, TOOL_NO, "%s: there is nothing at %s", tool->command, from);
    return rc ? tool_error(tool, rc) : TOOL_OK;
}

enum tool_status command_cp(struct tool *tool) {
    char from[KVSPACE_KEY_MAX + 1], to[KVSPACE_KEY_MAX + 1];
    enum tool_status status = from_to(tool, from, to);
    if (status) return status;
    int rc = tool_given(tool, OPTION_VALUE) ? kvspace_cp(tool->space, from, to) : kvspace_cp_tree(tool->space, from, to);
    return transfer_result(tool, rc, from);
}

enum tool_status command_mv(struct tool *tool) {
    char from[KVSPACE_KEY_MAX + 1], to[KVSPACE_KEY_MAX + 1];
    enum tool_status status = from_to(tool, from, to);
    if (status) return status;
    return transfer_result(tool, kvspace_replace(tool->space, from, to, NULL), from);
}
