/* kvspace: looks into and changes a space from the command line. Here: main, the table of commands, opening, help, errors.
 * The commands themselves are in kvspace_*.c, one family a file. Relies on kvspace_commands.def and kvspace_options.def;
 * help, dispatch and checks come from there. Promises: exit statuses as in enum tool_status. */
#include "cli/kvspace_tool.h"
#include "cli/table.h"
#include "core/observe.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct option_row tool_options[OPTION_COUNT_ALL] = {
#define OPTION(name, letter, text, value, help) [OPTION_##name] = {letter, text, value, help},
#include "cli/kvspace_options.def"
#undef OPTION
};

#define OPT(name) (UINT64_C(1) << OPTION_##name)
#define EVERYBODY (OPT(SPACE) | OPT(HELP) | OPT(COLOUR) | OPT(TRUST) | OPT(ASCII))

const struct tool_command tool_commands[] = {
#define COMMAND(function, name, operands, least, most, opens, options, summary, details) \
    {name, operands, least, most, options, command_##function, TOOL_OPEN_##opens, summary, details},
#include "cli/kvspace_commands.def"
#undef COMMAND
};
const unsigned tool_command_count = sizeof tool_commands / sizeof *tool_commands;

/* ---- errors ---- */

enum tool_status tool_fail(struct tool *tool, enum tool_status status, const char *format, ...) {
    char text[2 * KVSPACE_KEY_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sink_finish(&tool->out);
    sink_styled(&tool->err, STYLE_BAD, "kvspace:", 8);
    sink_text(&tool->err, " ");
    sink_one_line(&tool->err, STYLE_PLAIN, text, strlen(text));
    sink_text(&tool->err, "\n");
    sink_finish(&tool->err);
    return status;
}

enum tool_status tool_status_of(int code) {
    switch (code) {
    case KVSPACE_OK: return TOOL_OK;
    case KVSPACE_ENOENT:
    case KVSPACE_EEXIST:
    case KVSPACE_EREADONLY:
    case KVSPACE_EMISMATCH:
    case KVSPACE_EGONE: return TOOL_NO;
    case KVSPACE_EKEY:
    case KVSPACE_ETYPE:
    case KVSPACE_EVALUE:
    case KVSPACE_ESYNTAX:
    case KVSPACE_EUSAGE:
    case KVSPACE_EDSN: return TOOL_USAGE;
    case KVSPACE_ETIMEOUT: return TOOL_TIMEOUT;
    case KVSPACE_EDAMAGED: return TOOL_DAMAGED;
    default: return TOOL_SPACE;
    }
}

enum tool_status tool_error(struct tool *tool, int code) {
    if (code == KVSPACE_ESTOPPED && tool->out.out.error) return TOOL_SPACE; /* tool_run tells why the output failed */
    const char *message = tool->space ? kvspace_message(tool->space) : "";
    if (!message[0]) message = kvspace_strerror(code);
    return tool_fail(tool, tool_status_of(code), "%s: %s", tool->command, message);
}

enum tool_status tool_problem(struct tool *tool, const char *what, const char *text, size_t length,
                              const struct kvspace_problem *problem) {
    tool_fail(tool, TOOL_USAGE, "%s: %s", what, problem->message);
    size_t begin = problem->position < length ? problem->position : length;
    while (begin && text[begin - 1] != '\n') begin--;
    size_t end = begin;
    while (end < length && text[end] != '\n') end++;
    if (end - begin > 200) return TOOL_USAGE; /* a mark under a line that wraps helps nobody */
    size_t at = problem->position < end ? problem->position : end;
    sink_text(&tool->err, "    ");
    sink_one_line(&tool->err, STYLE_PLAIN, text + begin, end - begin);
    sink_text(&tool->err, "\n    ");
    sink_blanks(&tool->err, text_columns(text + begin, at - begin));
    sink_styled(&tool->err, STYLE_BAD, "^", 1);
    sink_text(&tool->err, "\n");
    sink_finish(&tool->err);
    return TOOL_USAGE;
}

/* ---- opening ---- */

struct anonymous_choice {
    char dsn[512];          /* of the last one; a live one stays */
    unsigned found, live;
};

static int choose_anonymous(void *context, const struct kvspace_anonymous *found) {
    struct anonymous_choice *choice = context;
    bool is_live = found->state == KVSPACE_ANONYMOUS_LIVE;
    choice->found++;
    choice->live += is_live;
    if (is_live || !choice->live) snprintf(choice->dsn, sizeof choice->dsn, "%s", found->dsn);
    return 0;
}

/* The one program that runs, or the one that is left, is what somebody means who only looks; a command that changes
 * something wants a name. */
static enum tool_status pick_space(struct tool *tool, enum tool_open open, struct anonymous_choice *choice) {
    int rc = kvspace_anonymous_list(choose_anonymous, choice);
    if (!rc && open == TOOL_OPEN_READ && (choice->live == 1 || choice->found == 1)) return TOOL_OK;
    return tool_fail(tool, TOOL_USAGE, "%s: which space? name it with -s DSN or $KVSPACE%s", tool->command,
                     choice->found ? " (kvspace spaces lists those of running and crashed programs)" : "");
}

static void close_space(struct tool *tool) {
    core_unobserve(tool->core);
    kvspace_close(tool->space);
    tool->core = NULL;
    tool->space = NULL;
}

static enum tool_status open_space(struct tool *tool, enum tool_open open) {
    struct anonymous_choice choice = {0};
    const char *dsn = tool->dsn;
    if (!dsn) {
        dsn = choice.dsn;
        enum tool_status status = pick_space(tool, open, &choice);
        if (status) return status;
    }
    struct kvspace_problem problem = {0};
    struct kvspace_open_options options = {
        .create = open == TOOL_OPEN_CREATE ? KVSPACE_CREATE_IF_MISSING : KVSPACE_CREATE_NEVER,
        .trust = tool->trust ? KVSPACE_TRUST_OTHERS : KVSPACE_TRUST_OWN,
        .label = "kvspace",
        .problem = &problem,
    };
    int rc = kvspace_open_with(dsn, &options, &tool->space);
    if (rc == KVSPACE_EPERM && open == TOOL_OPEN_READ) {
        options.access = KVSPACE_READ_ONLY;
        rc = kvspace_open_with(dsn, &options, &tool->space);
    }
    if (!rc) {
        tool->core = core_observe(tool->space);
        return TOOL_OK;
    }
    enum tool_status status = rc == KVSPACE_EDSN || rc == KVSPACE_EDAMAGED ? tool_status_of(rc) : TOOL_SPACE;
    tool->space = NULL;
    return tool_fail(tool, status, "%s: %s%s", tool->command, problem.message[0] ? problem.message : kvspace_strerror(rc),
                     rc == KVSPACE_EUNTRUSTED ? " (--trust opens it all the same)" : "");
}

/* ---- dispatch ---- */

static const struct tool_command *find_command(const char *name) {
    for (unsigned i = 0; i < tool_command_count; i++)
        if (strcmp(tool_commands[i].name, name) == 0) return &tool_commands[i];
    return NULL;
}

static enum tool_status unknown_command(struct tool *tool, const char *name) {
    const char *names[sizeof tool_commands / sizeof *tool_commands];
    for (unsigned i = 0; i < tool_command_count; i++) names[i] = tool_commands[i].name;
    const char *near = name_nearest(name, names, tool_command_count);
    return tool_fail(tool, TOOL_USAGE, "there is no command %s%s%s%s; see kvspace help", name,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static enum tool_status take_everybody(struct tool *tool) {
    if (tool_given(tool, OPTION_SPACE)) {
        if (tool->prompt) return tool_fail(tool, TOOL_USAGE, "the prompt stays in its space");
        tool->dsn = tool->options.values[OPTION_SPACE];
    }
    if (tool_given(tool, OPTION_TRUST)) tool->trust = true;
    if (tool_given(tool, OPTION_ASCII)) tool->ascii = true;
    const char *when = tool->options.values[OPTION_COLOUR];
    if (!when) return TOOL_OK;
    if (strcmp(when, "auto") != 0 && strcmp(when, "never") != 0 && strcmp(when, "always") != 0)
        return tool_fail(tool, TOOL_USAGE, "--color %s: auto, always or never", when);
    if (strcmp(when, "auto") != 0) tool->out.colours = tool->err.colours = strcmp(when, "always") == 0;
    return TOOL_OK;
}

static enum tool_status print_help(struct tool *tool, const struct tool_command *command);

static enum tool_status run_command(struct tool *tool, const struct tool_command *command) {
    int count = tool->options.operand_count;
    if (count < command->least || (command->most >= 0 && count > command->most))
        return tool_fail(tool, TOOL_USAGE, "usage: kvspace %s [OPTIONS]%s%s (kvspace help %s)", command->name,
                         command->operands[0] ? " " : "", command->operands, command->name);
    if (tool->prompt || command->open == TOOL_OPEN_NONE) return command->run(tool);
    if (command->run == command_stat && !tool->dsn && !count) return spaces_print(tool);
    enum tool_status status = open_space(tool, command->open);
    if (status) return status;
    status = command->run(tool);
    close_space(tool);
    return status;
}

enum tool_status tool_run(struct tool *tool, int count, char **arguments) {
    const struct tool_command *command = find_command(arguments[0]);
    if (!command) return unknown_command(tool, arguments[0]);
    bool ascii = tool->ascii;
    tool->command = command->name;
    if (options_parse(&tool->options, tool_options, OPTION_COUNT_ALL, command->options | EVERYBODY, false, count - 1,
                      arguments + 1))
        return tool_fail(tool, TOOL_USAGE, "%s: %s (kvspace help %s)", command->name, tool->options.message, command->name);
    enum tool_status status = take_everybody(tool);
    if (!status && tool_given(tool, OPTION_HELP)) status = print_help(tool, command);
    else if (!status) {
        tool->json = tool_given(tool, OPTION_JSON);
        status = run_command(tool, command);
    }
    tool->ascii = ascii;
    int failed = sink_finish(&tool->out);
    if (!failed) return status;
    tool->out.out.error = 0;
    if (failed == EPIPE) return status ? status : TOOL_SPACE; /* the reader has had enough; it knows */
    return tool_fail(tool, TOOL_SPACE, "%s: cannot write the output: %s", tool->command, strerror(failed));
}

const char *tool_operand(const struct tool *tool, int number, const char *fallback) {
    return number < tool->options.operand_count ? tool->options.operands[number] : fallback;
}

/* ---- help ---- */

static void print_options(struct tool *tool, uint64_t which) {
    struct table table = {.columns = 2, .indent = 2};
    for (unsigned i = 0; i < OPTION_COUNT_ALL; i++) {
        if (!(which >> i & 1)) continue;
        const struct option_row *row = &tool_options[i];
        char text[64];
        int length = row->letter ? snprintf(text, sizeof text, "-%c, ", row->letter)
                                 : snprintf(text, sizeof text, "    ");
        snprintf(text + length, sizeof text - (size_t)length, "--%s%s%s", row->name, row->value ? " " : "",
                 row->value ? row->value : "");
        table_text(&table, STYLE_PLAIN, text);
        table_text(&table, STYLE_PLAIN, row->help);
    }
    table_draw(&table, &tool->out);
}

static enum tool_status print_help(struct tool *tool, const struct tool_command *command) {
    struct sink *out = &tool->out;
    sink_text(out, "kvspace ");
    sink_styled(out, STYLE_HEADING, command->name, strlen(command->name));
    sink_format(out, "%s%s%s: %s\n", command->options ? " [OPTIONS]" : "", command->operands[0] ? " " : "", command->operands,
                command->summary);
    if (command->details[0]) sink_format(out, "\n%s", command->details);
    if (command->options) {
        sink_text(out, "\noptions:\n");
        print_options(tool, command->options);
    }
    sink_text(out, "\noptions of every command:\n");
    print_options(tool, EVERYBODY);
    return TOOL_OK;
}

static void print_overview(struct tool *tool, struct sink *out) {
    (void)tool;
    sink_text(out, "kvspace [-s DSN] COMMAND …: looks into a tree of keys and values, and changes it\n\n");
    struct table table = {.columns = 2, .indent = 2};
    for (unsigned i = 0; i < tool_command_count; i++) {
        const struct tool_command *command = &tool_commands[i];
        char usage[64];
        snprintf(usage, sizeof usage, "%s%s%s", command->name, command->operands[0] ? " " : "", command->operands);
        table_text(&table, STYLE_HEADING, usage);
        table_text(&table, STYLE_PLAIN, command->summary);
    }
    table_draw(&table, out);
    sink_text(out, "\nkvspace help COMMAND has options and examples. Exit status: 0 done, 1 no such key or not as expected,\n"
                   "2 wrong usage, 3 the space cannot be used, 4 timed out, 5 damaged.\n");
}

enum tool_status command_help(struct tool *tool) {
    const char *name = tool_operand(tool, 0, NULL);
    if (!name) {
        print_overview(tool, &tool->out);
        return TOOL_OK;
    }
    const struct tool_command *command = find_command(name);
    return command ? print_help(tool, command) : unknown_command(tool, name);
}

enum tool_status command_version(struct tool *tool) {
    sink_format(&tool->out, "kvspace %s (format %u)\n", kvspace_version_text(), (unsigned)kvspace_format_version());
    return TOOL_OK;
}

/* ---- time and signals ---- */

int64_t tool_clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool tool_again(int code, unsigned *tries) {
    enum { TRIES_MOST = 30, NAP_NS = 4000000 };
    if (code != KVSPACE_EBUSY || ++*tries > TRIES_MOST || tool_interrupted()) return false;
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    return true;
}

int tool_seconds(struct tool *tool, enum tool_option option, int64_t fallback_ms, int64_t *ms) {
    *ms = fallback_ms;
    const char *text = tool->options.values[option];
    if (!text) return 0;
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0) || seconds > 1e9) {
        snprintf(tool->options.message, sizeof tool->options.message, "--%s %.40s: not a number of seconds",
                 tool_options[option].name, text);
        return -1;
    }
    *ms = (int64_t)(seconds * 1000);
    return 0;
}

static volatile sig_atomic_t interrupts; /* written by the handler alone */

static void note_interrupt(int number) {
    (void)number;
    interrupts = 1;
}

void tool_catch_interrupt(void) {
    struct sigaction action = {.sa_handler = note_interrupt}; /* no SA_RESTART: sleeping calls end */
    sigemptyset(&action.sa_mask);
    interrupts = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool tool_interrupted(void) {
    return interrupts != 0;
}

/* ---- main ---- */

int main(int count, char **arguments) {
    static struct tool tool;
    sink_open(&tool.out, stdout, SINK_COLOURS_AUTO);
    sink_open(&tool.err, stderr, SINK_COLOURS_AUTO);
    signal(SIGPIPE, SIG_IGN); /* a reader that leaves is an error of a write, so that spaces are closed */
    tool.dsn = getenv("KVSPACE");
    if (tool.dsn && !tool.dsn[0]) tool.dsn = NULL;
    tool.command = "kvspace";

    /* Options before the command, then the command with its own. */
    if (options_parse(&tool.options, tool_options, OPTION_COUNT_ALL, EVERYBODY, true, count - 1, arguments + 1))
        return (int)tool_fail(&tool, TOOL_USAGE, "%s (kvspace help)", tool.options.message);
    enum tool_status status = take_everybody(&tool);
    if (status) return (int)status;
    int operands = tool.options.operand_count;
    if (tool_given(&tool, OPTION_HELP)) status = command_help(&tool);
    else if (operands) status = tool_run(&tool, operands, tool.options.operands);
    else {
        print_overview(&tool, &tool.err);
        status = TOOL_USAGE;
    }
    int failed = sink_finish(&tool.out);
    return (int)(failed && !status ? TOOL_SPACE : status);
}
