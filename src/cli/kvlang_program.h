/* What the commands of the kvlang program share: the state of one run, opening, errors, exit statuses.
 * Relies on kvlang.h for running, and on sink.h and options.h. Promises: commands print to program->out and program->err
 * alone (the programs that they run print by themselves), and give their exit status; main ends with it. */
#ifndef CLI_KVLANG_PROGRAM_H
#define CLI_KVLANG_PROGRAM_H

#include "cli/options.h"
#include "cli/sink.h"

#include <kvlang/kvlang.h>
#include <kvspace/kvspace.h>

/* The exit statuses of runtime.md and kvlang.1. */
enum program_status {
    PROGRAM_OK = 0,
    PROGRAM_FAILED = 1, /* an error at run time */
    PROGRAM_USAGE = 2,  /* an error at compile time, or wrong usage */
    PROGRAM_SPACE = 3   /* the space cannot be opened or used */
};

enum program_option {
#define OPTION(name, letter, text, value, help) OPTION_##name,
#include "cli/kvlang_options.def"
#undef OPTION
    OPTION_COUNT_ALL
};

extern const struct option_row program_options[OPTION_COUNT_ALL];

/* What a command needs open before it is called: nothing; a runtime on the space of -s, made if it is missing, or on a
 * new anonymous one; a runtime on a space that is there (-s, or the only anonymous one that a crash has left). */
enum program_open { PROGRAM_OPEN_NONE = 0, PROGRAM_OPEN_RUNTIME, PROGRAM_OPEN_EXISTING };

struct program {
    struct sink out, err;
    struct options options; /* of the command under way */
    kvlang *lang;           /* open for the command under way, or NULL */
    kvspace *space;         /* of lang */
    const char *dsn;        /* -s or $KVSPACE; NULL: none was given */
    const char *command;    /* its name, for messages */
    bool trust;
};

struct program_command {
    const char *name, *operands;
    int least, most;
    uint64_t options;
    enum program_status (*run)(struct program *program);
    enum program_open open;
    const char *summary, *details;
};

extern const struct program_command program_commands[];
extern const unsigned program_command_count;

#define COMMAND(function, name, operands, least, most, opens, options, summary, details) \
    enum program_status command_##function(struct program *program);
#include "cli/kvlang_commands.def"
#undef COMMAND

/* Whether an option was given to the command under way. */
static inline bool program_given(const struct program *program, enum program_option option) {
    return program->options.given >> option & 1;
}

/* The operand of that number, or `fallback`. */
const char *program_operand(const struct program *program, int number, const char *fallback);

/* Prints the sentence to standard error behind "kvlang: ". Gives `status`. */
enum program_status program_fail(struct program *program, enum program_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints the message of the runtime's last error. Gives the status that belongs to the code. */
enum program_status program_error(struct program *program, int code);
/* Prints the message of the space's last error behind `what`. */
enum program_status program_space_error(struct program *program, const char *what, int code);

/* Opens a runtime on `dsn` (NULL: a new anonymous space) into program->lang and program->space; closes it again. With
 * `keep` an anonymous space stays. Prints what is wrong. */
enum program_status program_open_runtime(struct program *program, const char *dsn, enum kvspace_create create);
void program_close_runtime(struct program *program, bool keep);

/* kvlang_caps.c: signature, documentation and example of an opcode, or that there is none. */
enum program_status program_help_opcode(struct program *program, const char *name);

/* ---- kvlang_run.c ---- */

/* Compiles a text and runs it from its entry, with the arguments as texts. Opens and closes the runtime. */
enum program_status program_run_text(struct program *program, const char *name, const char *text, size_t length, int count, char **arguments);
enum program_status program_run_file(struct program *program, const char *file, int count, char **arguments);
/* Prints the diagnostic of a vthread that has failed: place, kind, message, source line, chain of calls. */
void program_show_failure(struct program *program, uint64_t vid);
/* Takes diagnostics of the compiler; the context is the program. */
int program_diagnostics(void *program, const char *bytes, size_t length);
/* Reads a file (`-`: standard input) whole; malloc'd, ended by a zero byte. Gives 0 or an errno. */
int program_read_file(const char *file, char **text, size_t *length);

#endif
