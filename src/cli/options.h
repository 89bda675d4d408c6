/* Command line arguments: options anywhere between operands, from one table a program. Relies on the C standard library.
 * Promises: `--name VALUE`, `--name=VALUE`, `-nVALUE`, `-n VALUE` and joined short ones (`-la`) are understood; `--` ends
 * the options; what looks like a negative number (-7, -.5, -inf) is an operand; an unknown option is an error with a
 * suggestion. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_MAX = 64 };

struct option_row {
    char letter;          /* 0: it has no short form */
    const char *name;     /* without the dashes */
    const char *value;    /* what its value is called; NULL: it takes none */
    const char *help;
};

/* Filled by options_parse. `operands` points into the caller's arguments, which were reordered. */
struct options {
    const char *values[OPTIONS_MAX]; /* by row; "" for an option without value that was given; NULL: not given */
    uint64_t given;                  /* bit per row */
    char **operands;
    int operand_count;
    char message[256]; /* of the error */
};

/* Parses `count` arguments with the `rows` of which only those in `allowed` (bit per row) may be used. `stop` ends the
 * options at the first operand. Gives 0, or -1 with a message. */
int options_parse(struct options *options, const struct option_row *rows, unsigned row_count, uint64_t allowed, bool stop,
                  int count, char **arguments);

/* The value of a row as a number within the limits, or `fallback` where it was not given. Gives 0, or -1 with a message. */
int options_uint(struct options *options, const struct option_row *rows, unsigned row, uint64_t most, uint64_t fallback,
                 uint64_t *value);

/* Of `count` names the one nearest to a misspelt one, NULL where none is near. */
const char *name_nearest(const char *text, const char *const *names, size_t count);

#endif
