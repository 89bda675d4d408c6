/* repl: a prompt that runs the commands in one open space. Relies on prompt.h for lines and on tool_run for commands.
 * Promises: an error ends a line, not the prompt; without a terminal the exit status is that of the last line that failed. */
#include "cli/kvspace_tool.h"
#include "cli/prompt.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 256 };

struct line {
    char *words[WORDS_MAX];
    int count;
    const char *problem; /* why it cannot be split */
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Splits in place as a shell does: '…' literally, "…" with \" and \\, and a backslash before any character. */
static void split(char *text, struct line *line) {
    char *out = text;
    *line = (struct line){0};
    for (;;) {
        while (is_blank(*text)) text++;
        if (!*text) return;
        if (line->count == WORDS_MAX - 1) {
            line->problem = "too many words";
            return;
        }
        line->words[line->count++] = out;
        char quote = '\0';
        for (; *text && (quote || !is_blank(*text)); text++) {
            if (quote != '\'' && text[0] == '\\' && text[1]) *out++ = *++text;
            else if (!quote && (*text == '\'' || *text == '"')) quote = *text;
            else if (quote && *text == quote) quote = '\0';
            else *out++ = *text;
        }
        if (quote) {
            line->problem = "a quote is open at the end of the line";
            return;
        }
        bool more = *text != '\0';
        if (more) text++;
        *out++ = '\0'; /* never behind the input: each word was followed by a blank or the end */
        if (!more) return;
    }
}

/* Where the last part of `set KEY LITERAL` or `KEY = LITERAL` begins: such literals are taken as they are. NULL if the
 * line is neither. *key and *end bound the key. */
static char *literal_of(char *text, char **key, char **end) {
    char *at = text;
    bool set = strncmp(at, "set", 3) == 0 && is_blank(at[3]);
    if (set) at += 3;
    while (is_blank(*at)) at++;
    if (*at == '-' || *at == '\'' || *at == '"') return NULL;
    *key = at;
    while (*at && !is_blank(*at)) at++;
    *end = at;
    while (is_blank(*at)) at++;
    if (set) return *at ? at : NULL;
    if (at[0] != '=' || !is_blank(at[1])) return NULL;
    at++;
    while (is_blank(*at)) at++;
    return *at ? at : NULL;
}

static enum tool_status change_base(struct tool *tool, const char *typed) {
    char key[KVSPACE_KEY_MAX + 1];
    tool->command = "cd";
    enum tool_status status = tool_key(tool, typed, key);
    if (status) return status;
    int rc = kvspace_exists(tool->space, key);
    if (rc == KVSPACE_ENOENT && strcmp(key, "/") != 0) return tool_fail(tool, TOOL_NO, "cd: there is nothing at %s", key);
    if (rc && rc != KVSPACE_ENOENT) return tool_error(tool, rc);
    memcpy(tool->base, key, strlen(key) + 1);
    return TOOL_OK;
}

static bool is_command(const char *word) {
    for (unsigned i = 0; i < tool_command_count; i++)
        if (strcmp(tool_commands[i].name, word) == 0) return true;
    return false;
}

static enum tool_status run_words(struct tool *tool, struct line *line) {
    char *first = line->words[0];
    if (strcmp(first, "cd") == 0) return change_base(tool, line->count > 1 ? line->words[1] : "/");
    if (strcmp(first, "pwd") == 0) {
        tool_show_key(tool, &tool->out, STYLE_KEY, tool->base, strlen(tool->base));
        sink_text(&tool->out, "\n");
        return TOOL_OK;
    }
    if (strcmp(first, "repl") == 0) return tool_fail(tool, TOOL_USAGE, "this is the prompt already");
    if (line->count == 1 && !is_command(first) && (first[0] == '/' || first[0] == '.' || first[0] == '\xc2')) {
        char get[] = "get";
        char *words[] = {get, first};
        return tool_run(tool, 2, words);
    }
    return tool_run(tool, line->count, line->words);
}

static enum tool_status run_line(struct tool *tool, char *text) {
    struct line line;
    char *key, *end;
    char *literal = literal_of(text, &key, &end);
    if (literal) {
        char set[] = "set", dashes[] = "--";
        char *words[] = {set, dashes, key, literal};
        *end = '\0';
        for (size_t last = strlen(literal); last && is_blank(literal[last - 1]);) literal[--last] = '\0';
        return tool_run(tool, 4, words);
    }
    split(text, &line);
    if (line.problem) return tool_fail(tool, TOOL_USAGE, "%s", line.problem);
    return line.count ? run_words(tool, &line) : TOOL_OK;
}

/* ---- completion ---- */

static struct tool *completed_tool; /* the line reader's hook has no context; there is one prompt in a process */

/* A candidate under way: the commands first, where the word has no slash, then keys below what is typed up to its last step. */
static struct completion {
    struct tool_entries entries;
    size_t next_entry, head_bytes;
    unsigned next_command;
    char head[KVSPACE_KEY_MAX + 1]; /* what stands before the step that is completed */
} completion;

static void complete_begin(const char *beginning) {
    char key[KVSPACE_KEY_MAX + 1];
    const char *slash = strrchr(beginning, '/');
    tool_entries_free(&completion.entries);
    completion.next_entry = 0;
    completion.next_command = slash ? tool_command_count : 0;
    completion.head_bytes = slash ? (size_t)(slash - beginning) : 0;
    if (completion.head_bytes >= sizeof completion.head) return;
    memcpy(completion.head, beginning, completion.head_bytes);
    completion.head[completion.head_bytes] = '\0';
    const char *above = !slash ? completed_tool->base : completion.head_bytes ? completion.head : "/";
    struct sink err = completed_tool->err;
    completed_tool->err.out = text_buffer_out(&(struct text_buffer){.limit = 1}); /* no complaints while typing */
    completed_tool->err.stream = NULL;
    bool bad = tool_key(completed_tool, above, key) || tool_entries_read(completed_tool, key, false, 10000, &completion.entries);
    completed_tool->err = err;
    if (bad) tool_entries_free(&completion.entries);
}

static char *candidate(const char *head, size_t head_bytes, const char *text) {
    size_t room = head_bytes + strlen(text) + 1;
    char *made = malloc(room);
    if (made) snprintf(made, room, "%.*s%s", (int)head_bytes, head, text);
    return made;
}

static char *complete(const char *beginning, int index) {
    if (index == 0) complete_begin(beginning);
    while (completion.next_command < tool_command_count) {
        const char *name = tool_commands[completion.next_command++].name;
        if (strncmp(name, beginning, strlen(beginning)) == 0) return candidate("", 0, name);
    }
    bool relative = !strchr(beginning, '/');
    while (completion.next_entry < completion.entries.count) {
        const struct tool_entry *entry = &completion.entries.items[completion.next_entry++];
        const char *text = entry->text + (relative && entry->text[0] == '/');
        const char *typed = beginning + completion.head_bytes;
        if (strncmp(text, typed, strlen(typed)) == 0) return candidate(completion.head, completion.head_bytes, text);
    }
    return NULL;
}

enum tool_status command_repl(struct tool *tool) {
    char history[4096];
    const char *home = getenv("HOME");
    struct prompt prompt = {0};
    if (home && snprintf(history, sizeof history, "%s/.kvspace_history", home) < (int)sizeof history)
        prompt.history_file = history;
    enum tool_status worst = TOOL_OK;
    completed_tool = tool;
    memcpy(tool->base, "/", 2);
    tool->prompt = true;
    prompt_begin(&prompt, "kvspace", complete);
    char *text;
    for (;;) {
        char shown[KVSPACE_KEY_MAX + 8];
        snprintf(shown, sizeof shown, "%s> ", tool->base);
        text = prompt_line(&prompt, shown);
        if (!text) break;
        char *at = text;
        while (is_blank(*at)) at++;
        bool end = strcmp(at, "exit") == 0 || strcmp(at, "quit") == 0;
        if (*at && *at != '#' && !end) {
            enum tool_status status = run_line(tool, at);
            if (status) worst = status;
        }
        free(text);
        if (end) break;
    }
    prompt_end(&prompt);
    if (prompt.interactive && !text) sink_text(&tool->out, "\n");
    tool->prompt = false;
    tool->base[0] = '\0';
    tool->command = "repl";
    return prompt.interactive ? TOOL_OK : worst;
}
