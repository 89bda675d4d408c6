/* The line reader of the prompts: see prompt.h. */
#include "cli/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char *plain_line(void) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&line, &capacity, stdin);
    if (length < 0) {
        free(line);
        return NULL;
    }
    while (length && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = '\0';
    return line;
}

#ifdef KVLANG_HAVE_EDIT
#include <editline/readline.h>

static prompt_complete *completer; /* libedit's hook has no context of its own */

static char *complete_word(const char *word, int state) {
    return completer ? completer(word, state) : NULL;
}

void prompt_begin(struct prompt *prompt, const char *program, prompt_complete *complete) {
    prompt->interactive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    if (!prompt->interactive) return;
    rl_readline_name = program;
    completer = complete;
    rl_completion_entry_function = complete_word;
    rl_completion_append_character = '\0'; /* a key goes on */
    using_history();
    if (prompt->history_file) read_history(prompt->history_file);
}

char *prompt_line(struct prompt *prompt, const char *text) {
    if (!prompt->interactive) return plain_line();
    char *line = readline(text);
    if (line && *line) add_history(line);
    return line;
}

void prompt_end(struct prompt *prompt) {
    if (prompt->interactive && prompt->history_file) write_history(prompt->history_file);
}
#else
void prompt_begin(struct prompt *prompt, const char *program, prompt_complete *complete) {
    (void)program;
    (void)complete;
    prompt->interactive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

char *prompt_line(struct prompt *prompt, const char *text) {
    if (prompt->interactive) {
        fputs(text, stdout);
        fflush(stdout);
    }
    return plain_line();
}

void prompt_end(struct prompt *prompt) {
    (void)prompt;
}
#endif
