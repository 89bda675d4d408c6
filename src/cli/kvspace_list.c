/* ls: what is directly below a key; and reading a key's entries into memory, for the other commands too.
 * Relies on kvspace_list_open. Promises: entries come in order of insertion, children before members. */
#include "cli/kvspace_tool.h"
#include "cli/table.h"

#include "kvspace/json.h"

#include <stdlib.h>
#include <string.h>

/* ---- entries in memory ---- */

static int keep_entry(struct tool_entries *entries, const struct kvspace_entry *entry) {
    if (entries->count == entries->capacity) {
        size_t capacity = entries->capacity ? 2 * entries->capacity : 32;
        struct tool_entry *items = realloc(entries->items, capacity * sizeof *items);
        if (!items) return KVSPACE_ENOMEM;
        entries->items = items;
        entries->capacity = capacity;
    }
    char *text = malloc((size_t)entry->text_bytes + 1);
    if (!text) return KVSPACE_ENOMEM;
    memcpy(text, entry->text, (size_t)entry->text_bytes + 1);
    entries->items[entries->count++] = (struct tool_entry){
        .text = text,
        .name = text + (entry->name - entry->text),
        .text_bytes = entry->text_bytes,
        .name_bytes = entry->name_bytes,
        .step = (uint8_t)entry->step,
        .has_value = entry->has_value,
        .has_children = entry->has_children,
        .has_members = entry->has_members,
    };
    return 0;
}

static int read_kind(struct tool *tool, const char *key, enum kvspace_list what, uint64_t most, struct tool_entries *entries) {
    kvspace_cursor *cursor;
    struct kvspace_list_options options = {.what = what};
    int rc = kvspace_list_open(tool->space, key, &options, &cursor);
    if (rc) return rc;
    struct kvspace_entry entry;
    while (!(rc = kvspace_list_next(cursor, &entry))) {
        if (most && entries->count >= most) entries->more++;
        else if ((rc = keep_entry(entries, &entry))) break;
        if (entries->more && tool_interrupted()) break;
    }
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

static int read_entries(struct tool *tool, const char *key, bool all, uint64_t most, struct tool_entries *entries) {
    if (all) return read_kind(tool, key, KVSPACE_LIST_ALL, most, entries);
    int rc = read_kind(tool, key, KVSPACE_LIST_CHILDREN, most, entries);
    return rc ? rc : read_kind(tool, key, KVSPACE_LIST_MEMBERS, most, entries);
}

int tool_entries_read(struct tool *tool, const char *key, bool all, uint64_t most, struct tool_entries *entries) {
    unsigned tries = 0;
    *entries = (struct tool_entries){0};
    int rc = read_entries(tool, key, all, most, entries);
    while (tool_again(rc, &tries)) {
        tool_entries_free(entries);
        rc = read_entries(tool, key, all, most, entries);
    }
    return rc;
}

void tool_entries_free(struct tool_entries *entries) {
    for (size_t i = 0; i < entries->count; i++) free(entries->items[i].text);
    free(entries->items);
    *entries = (struct tool_entries){0};
}

/* ---- ls ---- */

static enum sink_style entry_style(const struct tool_entry *entry) {
    if (entry->step == KVSPACE_STEP_SYSTEM) return STYLE_SYSTEM;
    if (entry->step == KVSPACE_STEP_MEMBER) return STYLE_MEMBER;
    return entry->has_children ? STYLE_KEY : STYLE_PLAIN;
}

/* `name/`, `·name`, `‥name`: without the slash in front. */
static void entry_label(const struct tool *tool, const struct tool_entry *entry, char *out, size_t capacity) {
    bool member = entry->step == KVSPACE_STEP_MEMBER;
    char shown[KVSPACE_KEY_MAX + 1];
    tool_key_text(tool, member ? entry->text : entry->name, member ? entry->text_bytes : entry->name_bytes, shown);
    const char *tail = entry->has_children ? "/" : entry->has_members ? (tool->ascii ? "." : "·") : "";
    if (snprintf(out, capacity, "%s%s", shown, tail) >= (int)capacity) memcpy(out + capacity - 4, "...", 4);
}

/* One row of the long form; a key that went meanwhile has an empty one. */
static int long_row(struct tool *tool, struct table *table, const char *key, const char *label, enum sink_style style) {
    struct kvspace_value value;
    char type[KVSPACE_TYPE_MAX], shown[KVSPACE_KEY_MAX + 1];
    char size[SIZE_TEXT_MAX + 8];
    int rc = tool_get(tool, key, &value);
    if (rc && rc != KVSPACE_ENOENT) return rc;
    if (rc) {
        table_text(table, STYLE_DIM, "-");
        table_text(table, STYLE_PLAIN, "");
        table_text(table, style, label);
        table_text(table, STYLE_PLAIN, "");
        return 0;
    }
    struct text_buffer preview = {0};
    tool_type(&value, type);
    table_text(table, STYLE_TYPE, tool_key_text(tool, type, strlen(type), shown));
    snprintf(size, sizeof size, "%llu", (unsigned long long)value.body_bytes);
    table_text(table, STYLE_PLAIN, size);
    table_text(table, style, label);
    enum sink_style value_style = tool_value_style(&value);
    rc = tool_preview(tool, key, &value, KVSPACE_PRINT_QUOTED, &preview); /* ends the life of `value` */
    if (!rc) table_cell(table, value_style, preview.bytes ? preview.bytes : "", preview.length);
    else table_text(table, STYLE_DIM, rc == KVSPACE_ENOENT ? "" : kvspace_strerror(rc));
    text_buffer_free(&preview);
    return 0;
}

static int print_long(struct tool *tool, char *key, const struct tool_entries *entries) {
    struct table table = {.columns = 4, .right = 1u << 1};
    int rc = 0;
    for (size_t i = 0; i < entries->count && !rc; i++) {
        char label[KVSPACE_STEP_MAX + 16];
        entry_label(tool, &entries->items[i], label, sizeof label);
        int length = tool_key_append(key, entries->items[i].text);
        if (length < 0) continue;
        rc = long_row(tool, &table, key, label, entry_style(&entries->items[i]));
        tool_key_cut(key, length);
    }
    table_draw(&table, &tool->out);
    return rc;
}

static void print_short(struct tool *tool, const struct tool_entries *entries) {
    for (size_t i = 0; i < entries->count; i++) {
        char label[KVSPACE_STEP_MAX + 16];
        entry_label(tool, &entries->items[i], label, sizeof label);
        sink_one_line(&tool->out, entry_style(&entries->items[i]), label, strlen(label));
        sink_text(&tool->out, "\n");
    }
}

static int print_entries_json(struct tool *tool, char *key, const struct tool_entries *entries) {
    struct json_writer json = {.out = &tool->out.out};
    int rc = 0;
    json_array_begin(&json);
    for (size_t i = 0; i < entries->count && !rc; i++) {
        const struct tool_entry *entry = &entries->items[i];
        char shown[KVSPACE_KEY_MAX + 1];
        struct kvspace_value value = {0};
        int length = tool_key_append(key, entry->text);
        if (length < 0) continue;
        rc = tool_get(tool, key, &value);
        if (rc == KVSPACE_ENOENT) rc = 0;
        json_object_begin(&json);
        json_key_text(&json, "name");
        json_put_text(&json, tool_key_text(tool, entry->name, entry->name_bytes, shown));
        json_key_text(&json, "step");
        json_put_text(&json, entry->step == KVSPACE_STEP_MEMBER   ? "member"
                             : entry->step == KVSPACE_STEP_SYSTEM ? "system"
                                                                  : "child");
        json_key_text(&json, "children");
        json_put_bool(&json, entry->has_children);
        json_key_text(&json, "members");
        json_put_bool(&json, entry->has_members);
        json_key_text(&json, "bytes");
        json_put_uint64(&json, value.body_bytes);
        tool_json_value(tool, &json, key, &value, tool_given(tool, OPTION_LONG));
        json_object_end(&json);
        tool_key_cut(key, length);
    }
    json_array_end(&json);
    tool_json_end(tool, &json);
    return rc;
}

static enum tool_status list_itself(struct tool *tool, const char *key) {
    int rc = kvspace_exists(tool->space, key);
    if (rc == KVSPACE_ENOENT) return tool_fail(tool, TOOL_NO, "ls: there is nothing at %s", key);
    if (!rc && tool->json) {
        struct kvspace_value value = {0};
        struct json_writer json = {.out = &tool->out.out};
        rc = tool_get(tool, key, &value);
        if (rc == KVSPACE_ENOENT) rc = 0;
        json_array_begin(&json);
        json_object_begin(&json);
        tool_json_value(tool, &json, key, &value, tool_given(tool, OPTION_LONG));
        json_object_end(&json);
        json_array_end(&json);
        tool_json_end(tool, &json);
    } else if (!rc && tool_given(tool, OPTION_LONG)) {
        char shown[KVSPACE_KEY_MAX + 1];
        struct table table = {.columns = 4, .right = 1u << 1};
        rc = long_row(tool, &table, key, tool_key_text(tool, key, strlen(key), shown), STYLE_KEY);
        table_draw(&table, &tool->out);
    } else if (!rc) {
        tool_show_key(tool, &tool->out, STYLE_KEY, key, strlen(key));
        sink_text(&tool->out, "\n");
    }
    return rc ? tool_error(tool, rc) : TOOL_OK;
}

enum tool_status command_ls(struct tool *tool) {
    char key[KVSPACE_KEY_MAX + 1];
    uint64_t most;
    enum tool_status status = tool_key(tool, tool_operand(tool, 0, tool->base[0] ? tool->base : "/"), key);
    if (status) return status;
    if (options_uint(&tool->options, tool_options, OPTION_MAX, UINT32_MAX, 0, &most))
        return tool_fail(tool, TOOL_USAGE, "ls: %s", tool->options.message);
    if (tool_given(tool, OPTION_DIRECTORY)) return list_itself(tool, key);
    struct tool_entries entries;
    int rc = tool_entries_read(tool, key, tool_given(tool, OPTION_ALL), most, &entries);
    if (rc == KVSPACE_ENOENT) {
        tool_entries_free(&entries);
        return tool_fail(tool, TOOL_NO, "ls: there is nothing at %s", key);
    }
    if (!rc) {
        if (tool->json) rc = print_entries_json(tool, key, &entries);
        else if (tool_given(tool, OPTION_LONG)) rc = print_long(tool, key, &entries);
        else print_short(tool, &entries);
    }
    if (!rc && entries.more && !tool->json)
        sink_format(&tool->out, "%s %llu more\n", tool->ascii ? "..." : "…", (unsigned long long)entries.more);
    tool_entries_free(&entries);
    return rc ? tool_error(tool, rc) : TOOL_OK;
}
