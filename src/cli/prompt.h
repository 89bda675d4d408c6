/* Lines typed by a person or piped in. Relies on libedit where the build has it (editing, history, completion) and on
 * stdio where not. Promises: without a terminal nothing is echoed and no prompt is printed; a line has no length limit. */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include <stdbool.h>

/* Completion: called with a word's beginning and 0, 1, 2 …; gives a malloc'd candidate, or NULL when there are no more. */
typedef char *prompt_complete(const char *beginning, int index);

struct prompt {
    bool interactive;
    const char *history_file; /* NULL: nothing is kept; read at prompt_begin, written at prompt_end */
};

void prompt_begin(struct prompt *prompt, const char *program, prompt_complete *complete);
/* The next line without its end, malloc'd; NULL at the end of the input. */
char *prompt_line(struct prompt *prompt, const char *text);
void prompt_end(struct prompt *prompt);

#endif
