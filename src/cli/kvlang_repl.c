/* The prompt: what is typed is compiled and run at once. Relies on prompt.h for lines, on the scanner to see whether an entry is
 * whole, and on names.h to keep variables from one entry to the next. Promises: an error ends an entry, not the prompt;
 * without a terminal nothing is prompted, and the exit status is that of the last entry that failed. */
#include "cli/kvlang_program.h"
#include "cli/prompt.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "kvspace/textout.h"
#include "layout/scan.h"
#include "std/names.h"

struct repl {
    struct program *program;
    struct names *names;
    struct prompt prompt;
    struct text_buffer diagnostics; /* of the text under way */
    enum program_status worst;
    bool end;
};

/* ---- whether more must be typed ---- */

/* Open brackets or an open string: the entry goes on in the next line. */
static bool is_open(const char *text, size_t length) {
    struct ast_arena arena = {0};
    struct diag_list diags = {0};
    struct scan scan;
    struct scan_token token;
    int depth = 0;
    if (length > SCAN_MAX_BYTES) return false;
    scan_start(&scan, &arena, &diags, (struct ast_text){text, (uint32_t)length});
    do {
        scan_next(&scan, &token);
        if (token.kind == TOKEN_OPEN_PAREN || token.kind == TOKEN_OPEN_BRACKET || token.kind == TOKEN_OPEN_BRACE) depth++;
        if (token.kind == TOKEN_CLOSE_PAREN || token.kind == TOKEN_CLOSE_BRACKET || token.kind == TOKEN_CLOSE_BRACE) depth--;
    } while (token.kind != TOKEN_END && !scan.out_of_memory);
    bool open = depth > 0 || scan.cut_short;
    diag_free(&diags);
    ast_arena_free(&arena);
    return open;
}

/* ---- one entry ---- */

static int take_diagnostics(void *context, const char *bytes, size_t count) {
    struct repl *repl = context;
    struct text_out out = text_buffer_out(&repl->diagnostics);
    text_put(&out, bytes, count);
    return 0;
}

static int compile(struct repl *repl, const char *before, const char *text, const char *after) {
    size_t room = strlen(before) + strlen(text) + strlen(after) + 1;
    char *whole = malloc(room);
    if (!whole) return KVLANG_ENOMEM;
    snprintf(whole, room, "%s%s%s", before, text, after);
    text_buffer_free(&repl->diagnostics);
    repl->diagnostics = (struct text_buffer){0};
    int rc = kvlang_lay_out(repl->program->lang, "<prompt>", whole, strlen(whole), take_diagnostics, repl);
    free(whole);
    return rc;
}

static kvlang *interruptible; /* a signal handler has no context; there is one prompt in a process */

static void interrupt(int number) {
    (void)number;
    if (interruptible) kvlang_interrupt(interruptible);
}

static enum program_status run_init(struct repl *repl) {
    struct program *program = repl->program;
    const char *path;
    uint64_t vid;
    enum kvlang_status status;
    int rc = kvlang_entry(program->lang, NULL, &path);
    if (rc == KVLANG_ENAME) return PROGRAM_OK; /* definitions alone */
    if (!rc && strcmp(path, "/lib/init") != 0) return PROGRAM_OK;
    if (!rc) rc = kvlang_start(program->lang, path, NULL, 0, &vid);
    if (!rc) rc = names_give(program->lang, vid, repl->names);
    if (!rc) rc = kvlang_run(program->lang, vid, 0, &status);
    if (!rc) rc = kvlang_run_spawned(program->lang);
    if (!rc) rc = names_take(program->lang, vid, repl->names);
    if (rc) return program_error(program, rc);
    if (status == KVLANG_FAILED) program_show_failure(program, vid);
    if (status == KVLANG_PAUSED) program_fail(program, PROGRAM_FAILED, "interrupted");
    kvlang_remove(program->lang, vid);
    return status == KVLANG_DONE ? PROGRAM_OK : PROGRAM_FAILED;
}

/* An expression is shown; what is none is run as it stands. */
static enum program_status run_entry(struct repl *repl, const char *text) {
    int rc = compile(repl, "println(", text, "\n)");
    if (rc == KVLANG_ESOURCE) rc = compile(repl, "", text, "\n");
    if (rc == KVLANG_ESOURCE) {
        sink_bytes(&repl->program->err, repl->diagnostics.bytes, repl->diagnostics.length);
        sink_finish(&repl->program->err);
        return PROGRAM_USAGE;
    }
    return rc ? program_error(repl->program, rc) : run_init(repl);
}

/* ---- commands of the prompt ---- */

static enum program_status show_help(struct repl *repl) {
    sink_text(&repl->program->out, "An expression is shown; anything else is run. Names, functions and structs stay. An open bracket goes on in\n"
                                   "the next line.\n\n"
                                   "  :names       the names there are\n"
                                   "  :load FILE   run a file here\n"
                                   "  :help NAME   what an opcode does\n"
                                   "  :quit        end (or Ctrl-D); Ctrl-C ends what is running\n");
    return PROGRAM_OK;
}

static enum program_status show_opcode(struct repl *repl, const char *name) {
    struct program *program = repl->program;
    kvlang *lang = program->lang;
    kvspace *space = program->space;
    enum program_status status = program_help_opcode(program, name);
    program->lang = lang;
    program->space = space;
    return status;
}

static enum program_status load(struct repl *repl, const char *file) {
    char *text = NULL;
    size_t length = 0;
    int rc = program_read_file(file, &text, &length);
    if (rc) return program_fail(repl->program, PROGRAM_USAGE, "cannot read %s: %s", file, strerror(rc));
    enum program_status status = PROGRAM_USAGE;
    rc = kvlang_lay_out(repl->program->lang, file, text, length, program_diagnostics, repl->program);
    free(text);
    if (!rc) status = run_init(repl);
    else if (rc != KVLANG_ESOURCE) status = program_error(repl->program, rc);
    sink_finish(&repl->program->err);
    return status;
}

static enum program_status run_command(struct repl *repl, char *text) {
    char *argument = text + strcspn(text, " \t");
    if (*argument) *argument++ = '\0';
    argument += strspn(argument, " \t");
    if (strcmp(text, ":quit") == 0) {
        repl->end = true;
        return PROGRAM_OK;
    }
    if (strcmp(text, ":help") == 0) return *argument ? show_opcode(repl, argument) : show_help(repl);
    if (strcmp(text, ":load") == 0 && *argument) return load(repl, argument);
    if (strcmp(text, ":names") != 0) return program_fail(repl->program, PROGRAM_USAGE, "%s: there is no such command of the prompt (:help)", text);
    const char *name;
    for (uint32_t i = 0; (name = names_at(repl->names, i)); i++) sink_format(&repl->program->out, "%s\n", name);
    return PROGRAM_OK;
}

/* ---- completion ---- */

static struct repl *completed; /* the line reader's hook has no context */

struct candidates {
    const char *beginning;
    char **items;
    size_t count, room;
};

static int add_candidate(struct candidates *candidates, const char *name) {
    if (strncmp(name, candidates->beginning, strlen(candidates->beginning)) != 0) return 0;
    if (candidates->count == candidates->room) {
        size_t room = candidates->room ? 2 * candidates->room : 64;
        char **more = realloc(candidates->items, room * sizeof *more);
        if (!more) return 1;
        candidates->items = more;
        candidates->room = room;
    }
    char *copy = strdup(name);
    if (!copy) return 1;
    candidates->items[candidates->count++] = copy;
    return 0;
}

static int add_opcode(void *context, const struct kvlang_opcode *opcode) {
    return add_candidate(context, opcode->name);
}

/* Names, opcodes, functions of the tree; behind a `/`, keys. */
static void collect(struct candidates *candidates) {
    kvlang *lang = completed->program->lang;
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    const char *name, *slash = strrchr(candidates->beginning, '/');
    char parent[KVSPACE_KEY_MAX + 1] = "/lib", text[2 * KVSPACE_KEY_MAX];
    size_t head = slash ? (size_t)(slash - candidates->beginning) : 0;
    bool path = candidates->beginning[0] == '/';
    if (path && head) snprintf(parent, sizeof parent, "%.*s", (int)head, candidates->beginning);
    else if (path) snprintf(parent, sizeof parent, "/");
    for (uint32_t i = 0; !path && (name = names_at(completed->names, i)); i++) add_candidate(candidates, name);
    if (!path) kvlang_opcodes(lang, add_opcode, candidates);
    if (kvspace_list_open(completed->program->space, parent, NULL, &cursor)) return;
    while (kvspace_list_next(cursor, &entry) == 0) {
        snprintf(text, sizeof text, "%.*s%s", path ? (int)head : 0, candidates->beginning, path ? entry.text : entry.name);
        add_candidate(candidates, text);
    }
    kvspace_list_close(cursor);
}

static char *complete(const char *beginning, int index) {
    static struct candidates candidates;
    if (index == 0) {
        for (size_t i = 0; i < candidates.count; i++) free(candidates.items[i]);
        free(candidates.items);
        candidates = (struct candidates){.beginning = beginning};
        collect(&candidates);
    }
    return (size_t)index < candidates.count ? strdup(candidates.items[index]) : NULL;
}

/* ---- the loop ---- */

/* An entry: a line, and those after it while something is open. malloc'd; NULL at the end of the input. */
static char *read_entry(struct repl *repl) {
    char *entry = prompt_line(&repl->prompt, "> ");
    while (entry && is_open(entry, strlen(entry))) {
        char *line = prompt_line(&repl->prompt, ". ");
        if (!line) break;
        size_t used = strlen(entry), more = strlen(line);
        char *longer = realloc(entry, used + more + 2);
        if (longer) {
            entry = longer;
            entry[used] = '\n';
            memcpy(entry + used + 1, line, more + 1);
        }
        free(line);
        if (!longer || !more) break; /* an empty line ends what nobody closes */
    }
    return entry;
}

static void take_entry(struct repl *repl, char *entry) {
    char *text = entry + strspn(entry, " \t");
    if (!*text || *text == '#') return;
    enum program_status status = *text == ':' ? run_command(repl, text) : run_entry(repl, text);
    if (status) repl->worst = status;
    sink_finish(&repl->program->out);
}

enum program_status command_repl(struct program *program) {
    struct repl repl = {.program = program, .names = names_new()};
    char history[4096];
    const char *home = getenv("HOME");
    if (!repl.names) return program_fail(program, PROGRAM_FAILED, "no memory");
    if (home && snprintf(history, sizeof history, "%s/.kvlang_history", home) < (int)sizeof history) repl.prompt.history_file = history;
    completed = &repl;
    prompt_begin(&repl.prompt, "kvlang", complete);
    if (repl.prompt.interactive) {
        struct sigaction action = {.sa_handler = interrupt};
        sigemptyset(&action.sa_mask);
        interruptible = program->lang;
        sigaction(SIGINT, &action, NULL);
        sink_format(&program->out, "kvlang %s, space %s (:help)\n", kvlang_version_text(), kvspace_dsn(program->space));
        sink_finish(&program->out);
    }
    char *entry;
    while (!repl.end && (entry = read_entry(&repl))) {
        take_entry(&repl, entry);
        free(entry);
    }
    prompt_end(&repl.prompt);
    if (repl.prompt.interactive && !repl.end) sink_text(&program->out, "\n");
    interruptible = NULL;
    completed = NULL;
    names_free(program->lang, repl.names);
    text_buffer_free(&repl.diagnostics);
    return repl.prompt.interactive ? PROGRAM_OK : repl.worst;
}
