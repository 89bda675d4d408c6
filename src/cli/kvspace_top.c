/* top: a live view of the vthreads, what their system variables say, and of the space's memory.
 * Relies on the keys that docs/runtime.md gives: /vthread/<vid>/‥status, ‥fn, ‥pc, ‥steps. Promises: reads only; redraws in
 * one write, so that nothing flickers; ends well on Ctrl-C. */
#include "cli/kvspace_tool.h"
#include "cli/table.h"

#include "kvspace/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SYSTEM "/\xe2\x80\xa5" /* /‥ */

/* What is shown of a vthread: the heading, and the variable. */
static const struct top_column {
    const char *heading, *variable;
} top_columns[] = {
    {"STATUS", SYSTEM "status"},
    {"STEPS", SYSTEM "steps"},
    {"FUNCTION", SYSTEM "fn"},
    {"AT", SYSTEM "pc"},
    {"ERROR", SYSTEM "error"},
};
enum { TOP_COLUMNS = sizeof top_columns / sizeof *top_columns, TOP_MOST_DEFAULT = 1000 };

struct top {
    struct tool *tool;
    char key[KVSPACE_KEY_MAX + 1];
    uint64_t most;
    uint64_t steps, steps_before; /* of all, for the rate */
    int64_t at_ms, before_ms;
};

/* The printed value below `key`, "" where there is none. malloc'd by the buffer. */
static void read_variable(struct tool *tool, char *key, const char *variable, struct text_buffer *buffer) {
    struct text_out out = text_buffer_out(buffer);
    struct kvspace_print_options options = {.items_max = 8, .depth_max = 3};
    int length = tool_key_append(key, variable);
    if (length < 0) return;
    unsigned tries = 0;
    int rc;
    do {
        buffer->length = 0;
        rc = kvspace_print(tool->space, key, &options, tool_write, &out);
    } while (tool_again(rc, &tries));
    if (rc) buffer->length = 0;
    tool_key_cut(key, length);
}

static enum sink_style status_style(const char *status) {
    if (strcmp(status, "running") == 0 || strcmp(status, "done") == 0) return STYLE_GOOD;
    return strcmp(status, "error") == 0 ? STYLE_BAD : STYLE_NUMBER;
}

static void top_row(struct top *top, struct table *table, const struct tool_entry *entry) {
    int length = tool_key_append(top->key, entry->text);
    if (length < 0) return;
    table_cell(table, STYLE_KEY, entry->name, entry->name_bytes);
    for (unsigned i = 0; i < TOP_COLUMNS; i++) {
        struct text_buffer buffer = {0};
        read_variable(top->tool, top->key, top_columns[i].variable, &buffer);
        const char *text = buffer.length ? buffer.bytes : "";
        enum sink_style style = i == 0 ? status_style(text) : i + 1 == TOP_COLUMNS ? STYLE_BAD : STYLE_PLAIN;
        if (strcmp(top_columns[i].heading, "STEPS") == 0) top->steps += strtoull(text, NULL, 10);
        const char *below = text;
        /* A position without the key of its own vthread: the column says whose it is. */
        if (strncmp(text, top->key, strlen(top->key)) == 0 && text[strlen(top->key)] == '/') below += strlen(top->key) + 1;
        table_text(table, style, below);
        text_buffer_free(&buffer);
    }
    tool_key_cut(top->key, length);
}

static void top_heading(struct top *top, const struct kvspace_stats *stats, uint64_t count) {
    struct sink *out = &top->tool->out;
    char used[SIZE_TEXT_MAX], taken[SIZE_TEXT_MAX], limit[SIZE_TEXT_MAX], clock[16] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local)) strftime(clock, sizeof clock, "%H:%M:%S", &local);
    sink_styled(out, STYLE_HEADING, clock, strlen(clock));
    sink_format(out, "  %s  %llu vthread%s  %llu participant%s  %llu nodes  memory %s of %s, at most %s",
                kvspace_dsn(top->tool->space), (unsigned long long)count, count == 1 ? "" : "s",
                (unsigned long long)stats->participants, stats->participants == 1 ? "" : "s", (unsigned long long)stats->nodes,
                size_text(stats->used_bytes, used), size_text(stats->used_bytes + stats->free_bytes, taken),
                size_text(stats->limit_bytes, limit));
    if (top->before_ms && top->at_ms > top->before_ms && top->steps >= top->steps_before)
        sink_format(out, "  %.0f steps/s", (double)(top->steps - top->steps_before) * 1000 / (double)(top->at_ms - top->before_ms));
    sink_text(out, "\n\n");
}

static void top_table(struct top *top, const struct tool_entries *entries, struct table *table) {
    *table = (struct table){.columns = TOP_COLUMNS + 1, .right = 1u << 2};
    table_text(table, STYLE_HEADING, "VTHREAD");
    for (unsigned i = 0; i < TOP_COLUMNS; i++) table_text(table, STYLE_HEADING, top_columns[i].heading);
    for (size_t i = 0; i < entries->count; i++) top_row(top, table, &entries->items[i]);
}

static void top_json(struct top *top, const struct kvspace_stats *stats, const struct tool_entries *entries) {
    struct tool *tool = top->tool;
    struct json_writer json = {.out = &tool->out.out};
    json_object_begin(&json);
    json_key_text(&json, "used_bytes");
    json_put_uint64(&json, stats->used_bytes);
    json_key_text(&json, "file_bytes");
    json_put_uint64(&json, stats->file_bytes);
    json_key_text(&json, "nodes");
    json_put_uint64(&json, stats->nodes);
    json_key_text(&json, "participants");
    json_put_uint64(&json, stats->participants);
    json_key_text(&json, "vthreads");
    json_array_begin(&json);
    for (size_t i = 0; i < entries->count; i++) {
        int length = tool_key_append(top->key, entries->items[i].text);
        if (length < 0) continue;
        json_object_begin(&json);
        json_key_text(&json, "vthread");
        json_put_text(&json, entries->items[i].name);
        for (unsigned c = 0; c < TOP_COLUMNS; c++) {
            struct text_buffer buffer = {0};
            read_variable(tool, top->key, top_columns[c].variable, &buffer);
            json_key_text(&json, top_columns[c].variable + sizeof SYSTEM - 1);
            if (buffer.length) json_put_string(&json, buffer.bytes, buffer.length);
            else json_put_null(&json);
            text_buffer_free(&buffer);
        }
        json_object_end(&json);
        tool_key_cut(top->key, length);
    }
    json_array_end(&json);
    json_object_end(&json);
    tool_json_end(tool, &json);
}

/* One round. Gives a code. */
static int top_round(struct top *top) {
    struct tool *tool = top->tool;
    struct kvspace_stats stats = {0};
    struct tool_entries entries;
    struct table table;
    int rc = kvspace_get_stats(tool->space, &stats);
    if (rc) return rc;
    rc = tool_entries_read(tool, top->key, false, top->most, &entries);
    if (rc == KVSPACE_ENOENT) rc = 0; /* no vthreads yet */
    if (!rc && tool->json) top_json(top, &stats, &entries);
    else if (!rc) {
        top->steps_before = top->steps;
        top->before_ms = top->at_ms;
        top->steps = 0;
        top->at_ms = tool_clock_ms();
        top_table(top, &entries, &table);
        if (tool->out.terminal) sink_text(&tool->out, "\033[H\033[2J");
        top_heading(top, &stats, entries.count + entries.more);
        table_draw(&table, &tool->out);
        if (entries.more) sink_format(&tool->out, "%llu more\n", (unsigned long long)entries.more);
    }
    tool_entries_free(&entries);
    sink_finish(&tool->out);
    return rc;
}

static void pause_ms(int64_t ms) {
    struct timespec pause = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)};
    nanosleep(&pause, NULL); /* Ctrl-C ends it early */
}

enum tool_status command_top(struct tool *tool) {
    struct top top = {.tool = tool};
    uint64_t rounds;
    int64_t interval;
    enum tool_status status = tool_key(tool, tool_operand(tool, 0, "/vthread"), top.key);
    if (status) return status;
    if (options_uint(&tool->options, tool_options, OPTION_COUNT, UINT64_MAX, tool->out.terminal ? 0 : 1, &rounds) ||
        options_uint(&tool->options, tool_options, OPTION_MAX, UINT32_MAX, TOP_MOST_DEFAULT, &top.most) ||
        tool_seconds(tool, OPTION_INTERVAL, 1000, &interval))
        return tool_fail(tool, TOOL_USAGE, "top: %s", tool->options.message);
    tool_catch_interrupt();
    int rc = 0;
    for (uint64_t round = 0; !rc && !tool_interrupted() && !tool->out.out.error;) {
        rc = top_round(&top);
        if (rounds && ++round >= rounds) break;
        if (!rc) pause_ms(interval < 10 ? 10 : interval);
    }
    return rc ? tool_error(tool, rc) : TOOL_OK;
}
