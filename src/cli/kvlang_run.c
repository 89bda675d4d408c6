/* Running programs: a file, a text, a function of the space. Relies on kvlang.h. Promises: what the compiler and the runtime say
 * goes to standard error; an anonymous space in which a program failed is kept, so that it can be looked at. */
#include "cli/kvlang_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

static int read_stream(FILE *stream, char **text, size_t *length) {
    size_t used = 0, room = 1 << 16;
    char *bytes = malloc(room + 1);
    while (bytes) {
        used += fread(bytes + used, 1, room - used, stream);
        if (used < room) break;
        char *more = room > SIZE_MAX / 4 ? NULL : realloc(bytes, room * 2 + 1);
        if (!more) free(bytes);
        bytes = more;
        room *= 2;
    }
    if (!bytes) return ENOMEM;
    if (ferror(stream)) {
        free(bytes);
        return errno ? errno : EIO;
    }
    bytes[used] = '\0';
    *text = bytes;
    *length = used;
    return 0;
}

int program_read_file(const char *file, char **text, size_t *length) {
    errno = 0;
    if (strcmp(file, "-") == 0) return read_stream(stdin, text, length);
    FILE *stream = fopen(file, "rb");
    if (!stream) return errno ? errno : EIO;
    int rc = read_stream(stream, text, length);
    fclose(stream);
    return rc;
}

/* ---- diagnostics ---- */

int program_diagnostics(void *context, const char *bytes, size_t length) {
    struct program *program = context;
    sink_finish(&program->out);
    sink_bytes(&program->err, bytes, length);
    return 0;
}

void program_show_failure(struct program *program, uint64_t vid) {
    char *text;
    sink_finish(&program->out);
    if (kvlang_failure_text(program->lang, vid, &text)) {
        program_error(program, KVLANG_EUSAGE);
        return;
    }
    sink_text(&program->err, text);
    sink_finish(&program->err);
    free(text);
}

static void spawned_failed(void *context, kvlang *lang, uint64_t vid) {
    (void)lang;
    program_show_failure(context, vid);
}

/* ---- what failed programs leave behind ---- */

/* The spaces of failed programs are kept for looking at, but not for ever: the newest few. */
enum { FAILED_KEPT = 8 };
static const char failed_mark[] = "/vthread/‥failed";

struct kept_spaces {
    char (*dsns)[512];
    size_t count, room;
};

static int note_kept(void *context, const struct kvspace_anonymous *found) {
    struct kept_spaces *kept = context;
    if (found->state != KVSPACE_ANONYMOUS_KEPT) return 0;
    if (kept->count == kept->room) {
        size_t room = kept->room ? 2 * kept->room : 32;
        void *more = realloc(kept->dsns, room * sizeof *kept->dsns);
        if (!more) return 1;
        kept->dsns = more;
        kept->room = room;
    }
    snprintf(kept->dsns[kept->count++], sizeof *kept->dsns, "%s", found->dsn);
    return 0;
}

static void remove_failed(const char *dsn) {
    struct kvspace_open_options options = {.create = KVSPACE_CREATE_NEVER, .keep = KVSPACE_KEEP_ALWAYS, .label = "kvlang"};
    kvspace *space;
    int marked = 0;
    if (kvspace_open_with(dsn, &options, &space)) return;
    if (kvspace_get_bool(space, failed_mark, &marked) == 0 && marked) kvspace_keep(space, KVSPACE_KEEP_NEVER);
    kvspace_close(space);
}

static void keep_failed(struct program *program) {
    struct kept_spaces kept = {0};
    if (program->dsn || program_given(program, OPTION_KEEP)) return;
    kvspace_keep(program->space, KVSPACE_KEEP_ALWAYS);
    kvspace_set_bool(program->space, failed_mark, 1);
    kvspace_anonymous_list(note_kept, &kept);
    for (size_t i = 0; i + FAILED_KEPT <= kept.count; i++) remove_failed(kept.dsns[i]);
    free(kept.dsns);
}

/* ---- running ---- */

/* `bank.pay` typed for `bank·pay`. */
static char *function_name(const char *typed) {
    char *name = malloc(2 * strlen(typed) + 1), *at = name;
    if (!name) return NULL;
    for (; *typed; typed++) {
        if (*typed == '.') {
            memcpy(at, "·", 2);
            at += 2;
        } else {
            *at++ = *typed;
        }
    }
    *at = '\0';
    return name;
}

static enum program_status run_vthread(struct program *program, uint64_t vid) {
    enum kvlang_status status;
    kvlang_on_failure(program->lang, spawned_failed, program);
    int rc = kvlang_run(program->lang, vid, 0, &status);
    if (!rc && status != KVLANG_PAUSED) rc = kvlang_run_spawned(program->lang);
    if (rc) return program_error(program, rc);
    if (status == KVLANG_FAILED) {
        program_show_failure(program, vid);
        keep_failed(program);
        return PROGRAM_FAILED;
    }
    if (status == KVLANG_DONE) return PROGRAM_OK;
    kvspace_keep(program->space, KVSPACE_KEEP_ALWAYS);
    return program_fail(program, PROGRAM_FAILED, "vthread %llu is %s: kvlang -s %s resume goes on with it", (unsigned long long)vid,
                        kvlang_status_name(status), kvspace_dsn(program->space));
}

static enum program_status start_and_run(struct program *program, const char *entry, int count, char **arguments) {
    uint64_t vid;
    int rc = kvlang_start_texts(program->lang, entry, (const char *const *)arguments, (size_t)count, &vid);
    return rc ? program_error(program, rc) : run_vthread(program, vid);
}

static enum program_status lay_out_and_run(struct program *program, const char *name, const char *text, size_t length, int count, char **arguments) {
    const char *path, *wanted = program->options.values[OPTION_ENTRY];
    int rc = kvlang_lay_out(program->lang, name, text, length, program_diagnostics, program);
    sink_finish(&program->err);
    if (rc == KVLANG_ESOURCE) return PROGRAM_USAGE;
    char *entry = wanted ? function_name(wanted) : NULL;
    if (!rc) rc = kvlang_entry(program->lang, entry, &path);
    free(entry);
    return rc ? program_error(program, rc) : start_and_run(program, path, count, arguments);
}

enum program_status program_run_text(struct program *program, const char *name, const char *text, size_t length, int count, char **arguments) {
    enum program_status status = program_open_runtime(program, program->dsn, KVSPACE_CREATE_IF_MISSING);
    if (status) return status;
    status = lay_out_and_run(program, name, text, length, count, arguments);
    program_close_runtime(program, program_given(program, OPTION_KEEP));
    return status;
}

enum program_status program_run_file(struct program *program, const char *file, int count, char **arguments) {
    char *text = NULL;
    size_t length = 0;
    int rc = program_read_file(file, &text, &length);
    if (rc) return program_fail(program, PROGRAM_USAGE, "cannot read %s: %s", file, strerror(rc));
    enum program_status status = program_run_text(program, strcmp(file, "-") == 0 ? "<stdin>" : file, text, length, count, arguments);
    free(text);
    return status;
}

enum program_status command_run(struct program *program) {
    char *entry = function_name(program_operand(program, 0, ""));
    if (!entry) return program_fail(program, PROGRAM_FAILED, "no memory");
    enum program_status status = start_and_run(program, entry, program->options.operand_count - 1, program->options.operands + 1);
    free(entry);
    return status;
}
