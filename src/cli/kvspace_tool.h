/* What the commands of the kvspace tool share: the state of one run, keys as people type them, errors, exit statuses.
 * Relies on the public API of the tree (kvspace.h) for all that touches a space, and on sink.h and options.h. Promises:
 * commands print to tool->out and tool->err alone, and give their exit status; main ends with it. */
#ifndef CLI_KVSPACE_TOOL_H
#define CLI_KVSPACE_TOOL_H

#include "cli/options.h"
#include "cli/sink.h"

#include <kvspace/kvspace.h>

/* The exit statuses, documented in docs/kvspace-tool.md and kvspace.1. */
enum tool_status {
    TOOL_OK = 0,
    TOOL_NO = 1,       /* no such key, already there, read-only, not the expected value */
    TOOL_USAGE = 2,    /* the command line, a key, a literal or a DSN is wrong */
    TOOL_SPACE = 3,    /* the space cannot be opened or used: permission, version, full, busy, output */
    TOOL_TIMEOUT = 4,  /* --timeout is over */
    TOOL_DAMAGED = 5   /* the space is damaged */
};

enum tool_option {
#define OPTION(name, letter, text, value, help) OPTION_##name,
#include "cli/kvspace_options.def"
#undef OPTION
    OPTION_COUNT_ALL
};

extern const struct option_row tool_options[OPTION_COUNT_ALL];

/* Who may create a space that is missing. */
enum tool_open { TOOL_OPEN_NONE = 0, TOOL_OPEN_READ, TOOL_OPEN_CHANGE, TOOL_OPEN_CREATE };

struct core;

struct tool {
    struct sink out, err;
    struct options options;  /* of the command under way */
    kvspace *space;          /* open for the command under way */
    struct core *core;       /* what shows the vthreads of that space */
    const char *dsn;         /* -s or $KVSPACE; NULL: none was given */
    const char *command;     /* its name, for messages */
    bool ascii, json, trust, prompt; /* prompt: inside `repl` */
    char base[KVSPACE_KEY_MAX + 1];  /* what relative keys stand for; "" outside of the prompt: they are errors */
};

struct tool_command {
    const char *name, *operands;
    int least, most;
    uint64_t options;
    enum tool_status (*run)(struct tool *tool);
    enum tool_open open;
    const char *summary, *details;
};

extern const struct tool_command tool_commands[];
extern const unsigned tool_command_count;

#define COMMAND(function, name, operands, least, most, opens, options, summary, details) \
    enum tool_status command_##function(struct tool *tool);
#include "cli/kvspace_commands.def"
#undef COMMAND

/* Runs one command line (without the program's name). In the prompt the space that is open is used. */
enum tool_status tool_run(struct tool *tool, int count, char **arguments);

/* Whether an option was given to the command under way. */
static inline bool tool_given(const struct tool *tool, enum tool_option option) {
    return tool->options.given >> option & 1;
}

/* The operand of that number, or `fallback`. */
const char *tool_operand(const struct tool *tool, int number, const char *fallback);

/* ---- errors ---- */

/* Prints the sentence to standard error behind "kvspace: ". Gives `status`. */
enum tool_status tool_fail(struct tool *tool, enum tool_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints the message of the space's last error. Gives the status that belongs to the code. */
enum tool_status tool_error(struct tool *tool, int code);
enum tool_status tool_status_of(int code);
/* Prints a text that does not parse, with a mark under the byte. Gives TOOL_USAGE. */
enum tool_status tool_problem(struct tool *tool, const char *what, const char *text, size_t length,
                              const struct kvspace_problem *problem);

/* ---- keys (kvspace_keys.c) ---- */

/* The key that somebody typed: `..name` for `‥name`, with --ascii `.` for `·`, relative in the prompt, a trailing `/` is
 * dropped. `key` has KVSPACE_KEY_MAX + 1 bytes. Prints what is wrong; gives TOOL_OK or TOOL_USAGE. */
enum tool_status tool_key(struct tool *tool, const char *typed, char *key);
/* Appends what a listing gives ("/add", "·x") to the key in its buffer; gives the length that the key had, for
 * tool_key_cut, or -1 where it does not fit. */
int tool_key_append(char *key, const char *text);
void tool_key_cut(char *key, int length);
/* Shows a key, or a part of one, as the options ask. */
void tool_show_key(struct tool *tool, struct sink *sink, enum sink_style style, const char *text, size_t length);
/* The text of a key as it is shown, in the caller's buffer of KVSPACE_KEY_MAX + 1 bytes. */
const char *tool_key_text(const struct tool *tool, const char *key, size_t length, char *out);

/* ---- values (kvspace_values.c) ---- */

/* As kvspace_get; patient (tool_again) with what is being changed. */
int tool_get(struct tool *tool, const char *key, struct kvspace_value *out);
/* A writer for kvspace_print and kvspace_export; the context is a struct text_out. */
int tool_write(void *text_out, const char *bytes, size_t count);
/* The full type of the value; `out` has KVSPACE_TYPE_MAX bytes. Gives it, cut where it is longer. */
const char *tool_type(const struct kvspace_value *value, char *out);
/* The style in which a value is shown. */
enum sink_style tool_value_style(const struct kvspace_value *value);
/* Puts the short form of the value at `key` into the buffer: `-> /target`, `int8(3)` (or, where its type is told elsewhere and the
 * style is QUOTED, `3`), `{…}`, cut after some items. */
int tool_preview(struct tool *tool, const char *key, const struct kvspace_value *value, enum kvspace_print_style style,
                 struct text_buffer *buffer);

struct json_writer;
/* "key": …, "type": …, "value": … of what is at `key`; `whole`: containers with their members. `value` may have no value. */
void tool_json_value(struct tool *tool, struct json_writer *json, const char *key, const struct kvspace_value *value,
                     bool whole);
/* Ends a JSON document with a line end; notes its error in tool->out. */
void tool_json_end(struct tool *tool, struct json_writer *json);

/* ---- listing (kvspace_list.c) ---- */

struct tool_entry {
    char *text; /* what to append to the key */
    const char *name;
    uint32_t text_bytes, name_bytes;
    uint8_t step; /* enum kvspace_step */
    bool has_value, has_children, has_members;
};

struct tool_entries {
    struct tool_entry *items;
    size_t count, capacity;
    uint64_t more; /* that were left out */
};

/* Children, then (with `all`, in between) system variables, then members, at most `most` (0: all). Gives a code; free in any case. */
int tool_entries_read(struct tool *tool, const char *key, bool all, uint64_t most, struct tool_entries *entries);
void tool_entries_free(struct tool_entries *entries);

/* ---- functions (kvspace_function.c) ---- */

/* Whether the name is that of an instruction slot, `[i,j]`. */
bool slot_name(const char *name, int64_t *row, int64_t *column);
/* Draws the slots among the entries of a function as a table, each line behind `margin`; at most `most` rows (0: all).
 * Gives a code. */
int function_draw(struct tool *tool, char *key, const struct tool_entries *entries, const char *margin, uint64_t most);

/* ---- spaces ---- */

/* Prints the anonymous spaces as a table or as JSON. */
enum tool_status spaces_print(struct tool *tool);
/* Seconds of an option such as --timeout, in milliseconds; `fallback` where it was not given. Gives 0 or -1 (message in options). */
int tool_seconds(struct tool *tool, enum tool_option option, int64_t fallback_ms, int64_t *ms);
/* A vthread that runs stands still for whoever reads its frames, but on a machine with much to do not at once: whether a call that
 * gave `code` is worth another try; naps then. `tries` is 0 at first. */
bool tool_again(int code, unsigned *tries);
/* Milliseconds of a clock that only goes forward. */
int64_t tool_clock_ms(void);
/* From here on Ctrl-C makes tool_interrupted true instead of ending the program. */
void tool_catch_interrupt(void);
bool tool_interrupted(void);

#endif
