/* watch: shows a key each time it changes. Relies on kvspace_watch, which sleeps until something happens.
 * Promises: no change that is still there is missed; ends well on Ctrl-C. */
#include "cli/kvspace_tool.h"

#include "kvspace/json.h"

#include <string.h>

enum { SLICE_MS = 1000 }; /* how long Ctrl-C may take; a change is seen at once */

struct watching {
    struct tool *tool;
    char key[KVSPACE_KEY_MAX + 1];
    int64_t deadline_ms; /* of tool_clock_ms; below 0: none */
    struct kvspace_value *until;
    uint64_t most;       /* changes; 0: no limit */
};

/* Equal, or numbers of other kinds that print alike: `--until 5` also takes an int8. */
static bool reached(const struct watching *watching, const struct kvspace_value *value) {
    const struct kvspace_value *until = watching->until;
    if (!until) return false;
    if (until->store == KVSPACE_NONE) return value->store == KVSPACE_NONE;
    if (value->store == KVSPACE_NONE) return false;
    if (kvspace_value_equal(until, value)) return true;
    bool numbers = until->store == KVSPACE_ATOM && value->store == KVSPACE_ATOM && until->kind && value->kind &&
                   (until->kind == KVSPACE_BOOL) == (value->kind == KVSPACE_BOOL);
    bool texts = until->ndim == 1 && value->ndim == 1 && until->kind >= KVSPACE_CHAR_UTF32 &&
                 until->kind <= KVSPACE_CHAR_ASCII && value->kind >= KVSPACE_CHAR_UTF32 && value->kind <= KVSPACE_CHAR_ASCII;
    if (!numbers && !texts) return false;
    struct text_buffer left = {0}, right = {0};
    struct text_out left_out = text_buffer_out(&left), right_out = text_buffer_out(&right);
    bool same = !kvspace_print_value(until, NULL, tool_write, &left_out) &&
                !kvspace_print_value(value, NULL, tool_write, &right_out) && left.length == right.length &&
                (!left.length || memcmp(left.bytes, right.bytes, left.length) == 0);
    text_buffer_free(&left);
    text_buffer_free(&right);
    return same;
}

/* Shows what is at the key. The value may be another by now; the version that the caller holds is older then, and the
 * next wait returns at once. */
static int show(struct watching *watching) {
    struct tool *tool = watching->tool;
    struct kvspace_value value = {0};
    int rc = tool_get(tool, watching->key, &value);
    if (rc && rc != KVSPACE_ENOENT) return rc;
    bool gone = rc == KVSPACE_ENOENT;
    if (tool->json) {
        struct json_writer json = {.out = &tool->out.out};
        json_object_begin(&json);
        tool_json_value(tool, &json, watching->key, &value, true);
        if (gone) {
            json_key_text(&json, "deleted");
            json_put_bool(&json, true);
        }
        json_object_end(&json);
        tool_json_end(tool, &json);
    } else if (gone) {
        sink_styled(&tool->out, STYLE_DIM, "deleted", 7);
        sink_text(&tool->out, "\n");
    } else {
        struct kvspace_print_options options = {
            .style = tool_given(tool, OPTION_TYPED) ? KVSPACE_PRINT_LITERAL : KVSPACE_PRINT_PLAIN};
        rc = kvspace_print(tool->space, watching->key, &options, tool_write, &tool->out.out);
        if (rc == KVSPACE_ENOENT) return 0; /* gone in between: the next wait says so */
        sink_text(&tool->out, "\n");
        if (rc) return rc;
    }
    sink_finish(&tool->out);
    return 0;
}

/* Waits for a change after `version`. Gives 0, KVSPACE_ETIMEOUT at the deadline, ESTOPPED on Ctrl-C, or an error. */
static int wait_change(struct watching *watching, uint64_t version) {
    for (;;) {
        int64_t slice = SLICE_MS;
        if (watching->deadline_ms >= 0) {
            int64_t left = watching->deadline_ms - tool_clock_ms();
            if (left < slice) slice = left > 0 ? left : -1;
        }
        struct kvspace_watch_options options = {.seen = &version, .timeout_ms = slice};
        int rc = kvspace_watch(watching->tool->space, watching->key, &options, NULL);
        if (tool_interrupted()) return KVSPACE_ESTOPPED;
        if (rc != KVSPACE_ETIMEOUT) return rc;
        if (slice < 0) return rc;
    }
}

static int watch(struct watching *watching) {
    struct tool *tool = watching->tool;
    struct kvspace_value value;
    int rc = tool_get(tool, watching->key, &value);
    if (rc && rc != KVSPACE_ENOENT) return rc;
    uint64_t changes = 0;
    bool done = reached(watching, &value);
    uint64_t version = value.version;
    if (done || tool_given(tool, OPTION_NOW)) rc = show(watching);
    else rc = 0;
    while (!rc && !done && !tool->out.out.error && (!watching->most || changes < watching->most)) {
        rc = wait_change(watching, version);
        if (rc) break;
        rc = tool_get(tool, watching->key, &value);
        if (rc && rc != KVSPACE_ENOENT) break;
        version = value.version;
        done = reached(watching, &value);
        rc = show(watching);
        changes++;
    }
    return rc;
}

enum tool_status command_watch(struct tool *tool) {
    struct watching watching = {.tool = tool, .deadline_ms = -1};
    int64_t timeout;
    enum tool_status status = tool_key(tool, tool_operand(tool, 0, ""), watching.key);
    if (status) return status;
    if (options_uint(&tool->options, tool_options, OPTION_COUNT, UINT64_MAX, 0, &watching.most) ||
        tool_seconds(tool, OPTION_TIMEOUT, -1, &timeout))
        return tool_fail(tool, TOOL_USAGE, "watch: %s", tool->options.message);
    if (timeout >= 0) watching.deadline_ms = tool_clock_ms() + timeout;
    const char *until = tool->options.values[OPTION_UNTIL];
    if (until) {
        struct kvspace_problem problem = {0};
        int rc = kvspace_parse_literal(until, strlen(until), &watching.until, &problem);
        if (rc == KVSPACE_EUNSUPPORTED) return tool_fail(tool, TOOL_USAGE, "watch: --until takes no container");
        if (rc && problem.message[0]) return tool_problem(tool, "watch: --until: not a literal", until, strlen(until), &problem);
        if (rc) return tool_error(tool, rc);
    }
    tool_catch_interrupt();
    int rc = watch(&watching);
    kvspace_value_free(watching.until);
    if (rc == KVSPACE_ESTOPPED) return TOOL_OK;
    if (rc == KVSPACE_ETIMEOUT) return tool_fail(tool, TOOL_TIMEOUT, "watch: timed out");
    return rc ? tool_error(tool, rc) : TOOL_OK;
}
