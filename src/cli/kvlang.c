/* kvlang: compiles programs and runs them on a space. Here: main, the table of commands, opening, help, errors. What is no
 * command is a file to run. The commands are in kvlang_*.c, one family a file. Relies on kvlang_commands.def and
 * kvlang_options.def; help, dispatch and checks come from there. Promises: exit statuses as in enum program_status. */
#include "cli/kvlang_program.h"
#include "cli/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct option_row program_options[OPTION_COUNT_ALL] = {
#define OPTION(name, letter, text, value, help) [OPTION_##name] = {letter, text, value, help},
#include "cli/kvlang_options.def"
#undef OPTION
};

#define OPT(name) (UINT64_C(1) << OPTION_##name)
#define EVERYBODY (OPT(SPACE) | OPT(HELP) | OPT(COLOUR) | OPT(TRUST))
#define RUNNING_A_FILE (EVERYBODY | OPT(CODE) | OPT(ENTRY) | OPT(DEPTH) | OPT(LIMIT) | OPT(DENY) | OPT(KEEP) | OPT(VERSION))

const struct program_command program_commands[] = {
#define COMMAND(function, name, operands, least, most, opens, options, summary, details) \
    {name, operands, least, most, options, command_##function, PROGRAM_OPEN_##opens, summary, details},
#include "cli/kvlang_commands.def"
#undef COMMAND
};
const unsigned program_command_count = sizeof program_commands / sizeof *program_commands;

/* ---- errors ---- */

enum program_status program_fail(struct program *program, enum program_status status, const char *format, ...) {
    char text[2 * KVSPACE_KEY_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sink_finish(&program->out);
    sink_styled(&program->err, STYLE_BAD, "kvlang:", 7);
    sink_text(&program->err, " ");
    sink_one_line(&program->err, STYLE_PLAIN, text, strlen(text));
    sink_text(&program->err, "\n");
    sink_finish(&program->err);
    return status;
}

enum program_status program_error(struct program *program, int code) {
    enum program_status status = PROGRAM_SPACE;
    if (code == KVLANG_ESOURCE || code == KVLANG_ENAME || code == KVLANG_ETYPE || code == KVLANG_EUSAGE) status = PROGRAM_USAGE;
    if (code == KVLANG_ENOMEM || code == KVLANG_EBUSY) status = PROGRAM_FAILED;
    return program_fail(program, status, "%s", kvlang_message(program->lang));
}

enum program_status program_space_error(struct program *program, const char *what, int code) {
    const char *message = kvspace_message(program->space);
    return program_fail(program, PROGRAM_SPACE, "%s: %s", what, message[0] ? message : kvspace_strerror(code));
}

/* ---- opening ---- */

/* 500, 64K, 500M, 8G; 0 where it was not given. */
static int parse_limit(const char *text, uint64_t *bytes) {
    static const char units[] = "KMGT";
    char *end;
    *bytes = 0;
    if (!text) return 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (text[0] < '0' || text[0] > '9' || errno || (*end && (!unit || end[1])) || !number || number > UINT64_MAX >> shift) return -1;
    *bytes = number << shift;
    return 0;
}

enum program_status program_open_runtime(struct program *program, const char *dsn, enum kvspace_create create) {
    char problem[256] = "";
    uint64_t depth;
    if (options_uint(&program->options, program_options, OPTION_DEPTH, 100000000, 0, &depth))
        return program_fail(program, PROGRAM_USAGE, "%s", program->options.message);
    uint64_t limit;
    if (parse_limit(program->options.values[OPTION_LIMIT], &limit))
        return program_fail(program, PROGRAM_USAGE, "--limit %s: a number of bytes, or 64K, 500M, 8G", program->options.values[OPTION_LIMIT]);
    struct kvspace_open_options space_options = {
        .limit_bytes = limit,
        .create = create,
        .trust = program->trust ? KVSPACE_TRUST_OTHERS : KVSPACE_TRUST_OWN,
        .label = "kvlang",
    };
    struct kvlang_options options = {.dsn = dsn, .space_options = &space_options, .depth_limit = (uint32_t)depth, .deny = program->options.values[OPTION_DENY], .problem = problem};
    int rc = kvlang_open(&options, &program->lang);
    if (rc == KVLANG_EUSAGE) return program_fail(program, PROGRAM_USAGE, "%s", problem);
    if (rc)
        return program_fail(program, PROGRAM_SPACE, "cannot open %s: %s", dsn ? dsn : "an anonymous space", problem);
    program->space = kvlang_space(program->lang);
    return PROGRAM_OK;
}

void program_close_runtime(struct program *program, bool keep) {
    if (keep && program->space) kvspace_keep(program->space, KVSPACE_KEEP_ALWAYS);
    kvlang_close(program->lang);
    program->lang = NULL;
    program->space = NULL;
}

struct crashed {
    char dsn[512];
    unsigned found;
};

static int note_crashed(void *context, const struct kvspace_anonymous *found) {
    struct crashed *crashed = context;
    if (found->state != KVSPACE_ANONYMOUS_CRASHED) return 0;
    crashed->found++;
    snprintf(crashed->dsn, sizeof crashed->dsn, "%s", found->dsn);
    return 0;
}

/* A single space that a crash has left is what somebody means who names none. */
static enum program_status open_existing(struct program *program) {
    struct crashed crashed = {.found = 0};
    const char *dsn = program->dsn;
    if (!dsn) {
        int rc = kvspace_anonymous_list(note_crashed, &crashed);
        if (rc || crashed.found != 1)
            return program_fail(program, PROGRAM_USAGE, "%s: which space? name it with -s DSN or $KVSPACE (kvlang ps lists them)", program->command);
        dsn = crashed.dsn;
    }
    return program_open_runtime(program, dsn, KVSPACE_CREATE_NEVER);
}

/* ---- dispatch ---- */

static const struct program_command *find_command(const char *name) {
    for (unsigned i = 0; i < program_command_count; i++)
        if (strcmp(program_commands[i].name, name) == 0) return &program_commands[i];
    return NULL;
}

const char *program_operand(const struct program *program, int number, const char *fallback) {
    return number < program->options.operand_count ? program->options.operands[number] : fallback;
}

static enum program_status take_everybody(struct program *program) {
    if (program_given(program, OPTION_SPACE)) program->dsn = program->options.values[OPTION_SPACE];
    if (program_given(program, OPTION_TRUST)) program->trust = true;
    const char *when = program->options.values[OPTION_COLOUR];
    if (!when) return PROGRAM_OK;
    if (strcmp(when, "auto") != 0 && strcmp(when, "never") != 0 && strcmp(when, "always") != 0)
        return program_fail(program, PROGRAM_USAGE, "--color %s: auto, always or never", when);
    if (strcmp(when, "auto") != 0) program->out.colours = program->err.colours = strcmp(when, "always") == 0;
    return PROGRAM_OK;
}

static enum program_status print_help(struct program *program, const struct program_command *command);

static enum program_status run_command(struct program *program, const struct program_command *command) {
    int count = program->options.operand_count;
    if (count < command->least || (command->most >= 0 && count > command->most))
        return program_fail(program, PROGRAM_USAGE, "usage: kvlang %s%s%s%s (kvlang help %s)", command->name,
                            command->options ? " [OPTIONS]" : "", command->operands[0] ? " " : "", command->operands, command->name);
    enum program_status status = PROGRAM_OK;
    if (command->open == PROGRAM_OPEN_RUNTIME) status = program_open_runtime(program, program->dsn, KVSPACE_CREATE_IF_MISSING);
    if (command->open == PROGRAM_OPEN_EXISTING) status = open_existing(program);
    if (status) return status;
    status = command->run(program);
    if (program->lang) program_close_runtime(program, program_given(program, OPTION_KEEP));
    return status;
}

static enum program_status dispatch(struct program *program, const struct program_command *command, int count, char **arguments) {
    /* The arguments of an entry are its own, whatever they look like. */
    bool stop = command->run == command_run;
    program->command = command->name;
    if (options_parse(&program->options, program_options, OPTION_COUNT_ALL, command->options | EVERYBODY, stop, count, arguments))
        return program_fail(program, PROGRAM_USAGE, "%s: %s (kvlang help %s)", command->name, program->options.message, command->name);
    enum program_status status = take_everybody(program);
    if (status) return status;
    return program_given(program, OPTION_HELP) ? print_help(program, command) : run_command(program, command);
}

static enum program_status run_operand(struct program *program) {
    char **operands = program->options.operands;
    int count = program->options.operand_count;
    const char *names[sizeof program_commands / sizeof *program_commands];
    if (strcmp(operands[0], "-") == 0 || access(operands[0], F_OK) == 0) return program_run_file(program, operands[0], count - 1, operands + 1);
    for (unsigned i = 0; i < program_command_count; i++) names[i] = program_commands[i].name;
    const char *near = strchr(operands[0], '.') ? NULL : name_nearest(operands[0], names, program_command_count);
    return program_fail(program, PROGRAM_USAGE, "there is no file %s%s%s%s", operands[0], near ? ", and no such command; did you mean " : "",
                        near ? near : "", near ? "?" : "");
}

/* ---- help ---- */

static void print_options(struct program *program, uint64_t which) {
    struct table table = {.columns = 2, .indent = 2};
    for (unsigned i = 0; i < OPTION_COUNT_ALL; i++) {
        if (!(which >> i & 1)) continue;
        const struct option_row *row = &program_options[i];
        char text[64];
        int length = row->letter ? snprintf(text, sizeof text, "-%c, ", row->letter) : snprintf(text, sizeof text, "    ");
        snprintf(text + length, sizeof text - (size_t)length, "--%s%s%s", row->name, row->value ? " " : "", row->value ? row->value : "");
        table_text(&table, STYLE_PLAIN, text);
        table_text(&table, STYLE_PLAIN, row->help);
    }
    table_draw(&table, &program->out);
    table_free(&table);
}

static enum program_status print_help(struct program *program, const struct program_command *command) {
    struct sink *out = &program->out;
    sink_text(out, "kvlang ");
    sink_styled(out, STYLE_HEADING, command->name, strlen(command->name));
    sink_format(out, "%s%s%s: %s\n", command->options ? " [OPTIONS]" : "", command->operands[0] ? " " : "", command->operands, command->summary);
    if (command->details[0]) sink_format(out, "\n%s", command->details);
    if (command->options) {
        sink_text(out, "\noptions:\n");
        print_options(program, command->options);
    }
    sink_text(out, "\noptions of every command:\n");
    print_options(program, EVERYBODY);
    return PROGRAM_OK;
}

static void print_overview(struct program *program) {
    static const char *const forms[][2] = {
        {"FILE [ARGS…]", "run a program"},
        {"-c CODE [ARGS…]", "run a text"},
        {"- [ARGS…]", "run what comes from standard input"},
        {"(nothing)", "a prompt, on a terminal"},
    };
    struct sink *out = &program->out;
    sink_text(out, "kvlang [OPTIONS] FILE | COMMAND …: runs programs on a tree that every process can see\n\n");
    struct table table = {.columns = 2, .indent = 2};
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        table_text(&table, STYLE_HEADING, forms[i][0]);
        table_text(&table, STYLE_PLAIN, forms[i][1]);
    }
    for (unsigned i = 0; i < program_command_count; i++) {
        const struct program_command *command = &program_commands[i];
        char usage[64];
        snprintf(usage, sizeof usage, "%s%s%s", command->name, command->operands[0] ? " " : "", command->operands);
        table_text(&table, STYLE_HEADING, usage);
        table_text(&table, STYLE_PLAIN, command->summary);
    }
    table_draw(&table, out);
    table_free(&table);
    sink_text(out, "\noptions:\n");
    print_options(program, RUNNING_A_FILE);
    sink_text(out, "\nkvlang help COMMAND has more, kvlang help OPCODE tells what one does. Exit status: 0 done, 1 an error at run\n"
                   "time, 2 an error in the program's text or wrong usage, 3 the space cannot be used.\n");
}

enum program_status command_help(struct program *program) {
    const char *name = program_operand(program, 0, NULL);
    if (!name) {
        print_overview(program);
        return PROGRAM_OK;
    }
    const struct program_command *command = find_command(name);
    return command ? print_help(program, command) : program_help_opcode(program, name);
}

enum program_status command_version(struct program *program) {
    sink_format(&program->out, "kvlang %s (format %u)\n", kvlang_version_text(), (unsigned)kvspace_format_version());
    return PROGRAM_OK;
}

/* ---- main ---- */

static enum program_status run(struct program *program, int count, char **arguments) {
    /* Options before the command or file, then the command with its own. */
    if (options_parse(&program->options, program_options, OPTION_COUNT_ALL, RUNNING_A_FILE, true, count, arguments))
        return program_fail(program, PROGRAM_USAGE, "%s (kvlang help)", program->options.message);
    enum program_status status = take_everybody(program);
    if (status) return status;
    if (program_given(program, OPTION_HELP)) {
        program->options.operand_count = 0;
        return command_help(program);
    }
    if (program_given(program, OPTION_VERSION)) return command_version(program);
    char **operands = program->options.operands;
    int operand_count = program->options.operand_count;
    const char *code = program->options.values[OPTION_CODE];
    if (code) return program_run_text(program, "-c", code, strlen(code), operand_count, operands);
    if (!operand_count) {
        char prompt[] = "repl", input[] = "-";
        char *words[] = {prompt, input};
        return isatty(STDIN_FILENO) == 1 ? dispatch(program, find_command(prompt), 0, words) : program_run_file(program, input, 0, words);
    }
    const struct program_command *command = find_command(operands[0]);
    return command ? dispatch(program, command, operand_count - 1, operands + 1) : run_operand(program);
}

int main(int count, char **arguments) {
    static struct program program;
    sink_open(&program.out, stdout, SINK_COLOURS_AUTO);
    sink_open(&program.err, stderr, SINK_COLOURS_AUTO);
    program.dsn = getenv("KVSPACE");
    if (program.dsn && !program.dsn[0]) program.dsn = NULL;
    program.command = "kvlang";
    enum program_status status = run(&program, count - 1, arguments + 1);
    int failed = sink_finish(&program.out);
    if (failed && failed != EPIPE) return (int)program_fail(&program, PROGRAM_SPACE, "cannot write the output: %s", strerror(failed));
    return (int)status;
}
