/* tree: draws a part of the tree with lines, or gives it as JSON. Functions become tables (kvspace_function.c).
 * Relies on kvspace_list.c for the entries of a key. Promises: bounded by --depth and --max, and never deeper than
 * TREE_DEPTH_MAX; what is left out is said; a key that vanishes in between is skipped. */
#include "cli/kvspace_tool.h"

#include "kvspace/json.h"

#include <stdlib.h>
#include <string.h>

enum {
    TREE_DEPTH_DEFAULT = 32,
    TREE_MOST_DEFAULT = 200,
    TREE_DEPTH_MAX = 200,        /* two levels of JSON each, of 512 */
    TREE_ENTRIES_MAX = 1 << 20,  /* of one key that are looked at: for a function with slots beyond --max */
    MARGIN_MAX = TREE_DEPTH_MAX * 8
};

struct drawing {
    struct tool *tool;
    char key[KVSPACE_KEY_MAX + 1];
    char margin[MARGIN_MAX + 32]; /* what stands before each line */
    uint64_t depth, most;
    bool all;
};

/* A function or a struct: there are values in slots. */
static bool has_slots(const struct tool_entries *entries) {
    int64_t row, column;
    for (size_t i = 0; i < entries->count; i++) {
        const struct tool_entry *entry = &entries->items[i];
        if (entry->step == KVSPACE_STEP_CHILD && entry->has_value && slot_name(entry->name, &row, &column)) return true;
    }
    return false;
}

static bool in_table(const struct tool_entry *entry) {
    int64_t row, column;
    return entry->step == KVSPACE_STEP_CHILD && entry->has_value && !entry->has_children && !entry->has_members &&
           slot_name(entry->name, &row, &column);
}

/* The entries of the key: enough to show --max of them, or all where they are the slots of a function. */
static int read_entries(struct drawing *drawing, struct tool_entries *entries, bool *function) {
    uint64_t most = drawing->most ? drawing->most : TREE_ENTRIES_MAX;
    int rc = tool_entries_read(drawing->tool, drawing->key, drawing->all, most, entries);
    *function = !rc && has_slots(entries);
    if (!*function || !entries->more) return rc;
    tool_entries_free(entries);
    return tool_entries_read(drawing->tool, drawing->key, drawing->all, TREE_ENTRIES_MAX, entries);
}

/* ` = value`, ` -> target`, or the type of a container, behind the name. */
static int draw_value(struct drawing *drawing, bool members_follow) {
    struct tool *tool = drawing->tool;
    struct kvspace_value value;
    char type[KVSPACE_TYPE_MAX];
    int rc = tool_get(tool, drawing->key, &value);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    if (value.store == KVSPACE_INDEX && members_follow) {
        tool_type(&value, type);
        sink_text(&tool->out, "  ");
        tool_show_key(tool, &tool->out, STYLE_TYPE, type, strlen(type));
        return 0;
    }
    bool refers = value.ref != KVSPACE_INLINE || value.store == KVSPACE_EXTINDEX;
    bool word = value.store == KVSPACE_ATOM && value.kind == KVSPACE_KIND_NONE;
    enum sink_style style = word ? STYLE_TYPE : tool_value_style(&value);
    struct text_buffer preview = {0};
    rc = tool_preview(tool, drawing->key, &value, KVSPACE_PRINT_LITERAL, &preview);
    sink_text(&tool->out, refers || word ? "  " : " = ");
    if (!rc) sink_one_line(&tool->out, style, preview.bytes ? preview.bytes : "", preview.length);
    else sink_one_line(&tool->out, STYLE_BAD, kvspace_strerror(rc), strlen(kvspace_strerror(rc)));
    text_buffer_free(&preview);
    return rc == KVSPACE_ENOENT || rc == KVSPACE_EPROVIDER || rc == KVSPACE_EBUSY ? 0 : rc;
}

static void draw_name(struct drawing *drawing, const struct tool_entry *entry) {
    bool member = entry->step == KVSPACE_STEP_MEMBER;
    enum sink_style style = member                               ? STYLE_MEMBER
                            : entry->step == KVSPACE_STEP_SYSTEM ? STYLE_SYSTEM
                            : entry->has_children                ? STYLE_KEY
                                                                 : STYLE_PLAIN;
    tool_show_key(drawing->tool, &drawing->tool->out, style, member ? entry->text : entry->name,
                  member ? entry->text_bytes : entry->name_bytes);
}

static int draw_below(struct drawing *drawing, uint64_t level);

/* One line for the entry, then what is below it. `last` chooses the corner. */
static int draw_entry(struct drawing *drawing, const struct tool_entry *entry, bool last, uint64_t level) {
    struct tool *tool = drawing->tool;
    size_t margin = strlen(drawing->margin);
    int length = tool_key_append(drawing->key, entry->text);
    if (length < 0) return 0;
    bool deeper = entry->has_children || entry->has_members || drawing->all;
    bool shown = deeper && level < drawing->depth;
    sink_text(&tool->out, drawing->margin);
    sink_text(&tool->out, tool->ascii ? (last ? "`- " : "|- ") : last ? "└─ " : "├─ ");
    draw_name(drawing, entry);
    int rc = entry->has_value ? draw_value(drawing, shown && entry->has_members) : 0;
    if (!shown && (entry->has_children || entry->has_members)) sink_text(&tool->out, tool->ascii ? "  ..." : "  …");
    sink_text(&tool->out, "\n");
    if (!rc && shown) {
        const char *line = last ? "   " : tool->ascii ? "|  " : "│  ";
        memcpy(drawing->margin + margin, line, strlen(line) + 1);
        rc = draw_below(drawing, level + 1);
        drawing->margin[margin] = '\0';
    }
    tool_key_cut(drawing->key, length);
    return rc;
}

/* Number of the last entry that is drawn as a line of its own, SIZE_MAX if none is. */
static size_t last_line(const struct tool_entries *entries, bool function) {
    for (size_t i = entries->count; i-- > 0;)
        if (!function || !in_table(&entries->items[i])) return i;
    return SIZE_MAX;
}

static int draw_below(struct drawing *drawing, uint64_t level) {
    struct tool *tool = drawing->tool;
    struct tool_entries entries;
    bool function;
    int rc = read_entries(drawing, &entries, &function);
    if (!rc && function) rc = function_draw(tool, drawing->key, &entries, drawing->margin, drawing->most);
    size_t last = last_line(&entries, function);
    uint64_t lines = 0, left_out = entries.more;
    for (size_t i = 0; i < entries.count && !rc && !tool->out.out.error; i++) {
        if (function && in_table(&entries.items[i])) continue;
        if (drawing->most && lines++ >= drawing->most) left_out++;
        else rc = draw_entry(drawing, &entries.items[i], i == last && !entries.more, level);
    }
    if (!rc && left_out)
        sink_format(&tool->out, "%s%s %llu more\n", drawing->margin, tool->ascii ? "`- ..." : "└─ …",
                    (unsigned long long)left_out);
    if (rc == KVSPACE_EBUSY) /* a vthread that is long inside one opcode */
        sink_format(&tool->out, "%s%s busy\n", drawing->margin, tool->ascii ? "`- ..." : "└─ …");
    tool_entries_free(&entries);
    return rc == KVSPACE_ENOENT || rc == KVSPACE_EBUSY ? 0 : rc; /* it went while it was drawn */
}

static enum tool_status draw(struct drawing *drawing) {
    struct tool *tool = drawing->tool;
    struct kvspace_counts counts = {0};
    int rc = kvspace_count(tool->space, drawing->key, &counts);
    if (rc) return tool_error(tool, rc);
    tool_show_key(tool, &tool->out, STYLE_KEY, drawing->key, strlen(drawing->key));
    if (counts.has_value) rc = draw_value(drawing, counts.members > 0);
    sink_text(&tool->out, "\n");
    if (!rc && drawing->depth) rc = draw_below(drawing, 1);
    return rc ? tool_error(tool, rc) : TOOL_OK;
}

/* ---- JSON ---- */

/* "children": [ … ] and what is left out, of the key; the members of a container among them. */
static int json_below(struct drawing *drawing, struct json_writer *json, uint64_t level) {
    struct tool *tool = drawing->tool;
    struct tool_entries entries;
    int rc = tool_entries_read(tool, drawing->key, drawing->all, drawing->most, &entries);
    if (!rc && entries.count) {
        json_key_text(json, "below");
        json_array_begin(json);
        for (size_t i = 0; i < entries.count && !rc && !tool->out.out.error; i++) {
            const struct tool_entry *entry = &entries.items[i];
            int length = tool_key_append(drawing->key, entry->text);
            if (length < 0) continue;
            struct kvspace_value value = {0};
            rc = tool_get(tool, drawing->key, &value);
            if (rc == KVSPACE_ENOENT) rc = 0;
            json_object_begin(json);
            tool_json_value(tool, json, drawing->key, &value, false);
            bool deeper = entry->has_children || entry->has_members || drawing->all;
            if (!rc && deeper && level < drawing->depth) rc = json_below(drawing, json, level + 1);
            else if (!rc && (entry->has_children || entry->has_members)) {
                json_key_text(json, "cut");
                json_put_bool(json, true);
            }
            json_object_end(json);
            tool_key_cut(drawing->key, length);
        }
        json_array_end(json);
    }
    if (!rc && entries.more) {
        json_key_text(json, "more");
        json_put_uint64(json, entries.more);
    }
    tool_entries_free(&entries);
    return rc == KVSPACE_ENOENT ? 0 : rc;
}

static enum tool_status print_json(struct drawing *drawing) {
    struct tool *tool = drawing->tool;
    struct kvspace_value value = {0};
    int rc = kvspace_exists(tool->space, drawing->key);
    if (!rc) {
        rc = tool_get(tool, drawing->key, &value);
        if (rc == KVSPACE_ENOENT) rc = 0;
    }
    if (rc) return tool_error(tool, rc);
    struct json_writer json = {.out = &tool->out.out};
    json_object_begin(&json);
    tool_json_value(tool, &json, drawing->key, &value, false);
    if (drawing->depth) rc = json_below(drawing, &json, 1);
    json_object_end(&json);
    tool_json_end(tool, &json);
    return rc ? tool_error(tool, rc) : TOOL_OK;
}

enum tool_status command_tree(struct tool *tool) {
    struct drawing drawing = {.tool = tool, .all = tool_given(tool, OPTION_ALL)};
    enum tool_status status = tool_key(tool, tool_operand(tool, 0, tool->base[0] ? tool->base : "/"), drawing.key);
    if (status) return status;
    if (options_uint(&tool->options, tool_options, OPTION_DEPTH, TREE_DEPTH_MAX, TREE_DEPTH_DEFAULT, &drawing.depth) ||
        options_uint(&tool->options, tool_options, OPTION_MAX, UINT32_MAX, TREE_MOST_DEFAULT, &drawing.most))
        return tool_fail(tool, TOOL_USAGE, "tree: %s", tool->options.message);
    int rc = kvspace_exists(tool->space, drawing.key);
    if (rc == KVSPACE_ENOENT && strcmp(drawing.key, "/") != 0)
        return tool_fail(tool, TOOL_NO, "tree: there is nothing at %s", drawing.key);
    return tool->json ? print_json(&drawing) : draw(&drawing);
}
