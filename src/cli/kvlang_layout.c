/* The compiler's commands: layout, vet, fmt, dump. Relies on kvlang.h for layout, so that the opcodes of this runtime are known, and on layout.h
 * for the rest. Promises: every file is looked at, also behind one that has errors; a file is replaced in one step. */
#include "cli/kvlang_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout/layout.h"

struct text {
    const char *name; /* as diagnostics show it */
    char *bytes;
    size_t length;
};

static enum program_status read_text(struct program *program, const char *file, struct text *text) {
    *text = (struct text){.name = strcmp(file, "-") == 0 ? "<stdin>" : file};
    int rc = program_read_file(file, &text->bytes, &text->length);
    return rc ? program_fail(program, PROGRAM_USAGE, "cannot read %s: %s", file, strerror(rc)) : PROGRAM_OK;
}

static enum program_status worse(enum program_status a, enum program_status b) {
    return a > b ? a : b;
}

static enum program_status layout_error(struct program *program, const char *name, int rc) {
    sink_finish(&program->err);
    if (!rc) return PROGRAM_OK;
    if (rc == LAYOUT_REJECTED) return PROGRAM_USAGE;
    if (rc == LAYOUT_SPACE) return program_space_error(program, name, 0);
    return program_fail(program, PROGRAM_FAILED, "%s: no memory", name);
}

/* ---- layout and vet ---- */

/* `also`: an error that is told when the text itself is right. */
static enum program_status lay_out(struct program *program, const char *file, bool write, bool strict) {
    struct text text;
    enum program_status status = read_text(program, file, &text);
    if (status) return status;
    struct layout_source source = {text.name, text.bytes, text.length};
    struct layout_names affected;
    int rc = 0;
    if (strict) {
        rc = layout_affected(program->space, &source, &affected, program_diagnostics, program);
        status = layout_error(program, text.name, rc);
        if (!rc && affected.function_count)
            status = program_fail(program, PROGRAM_FAILED, "%s: a vthread that has not ended would be affected: it may call %s%s", text.name,
                affected.functions[0] + strlen("/lib/"), affected.function_count > 1 ? " and others" : "");
        layout_names_free(&affected);
    }
    if (!status) {
        rc = layout_into(program->space, &source, write, NULL, program_diagnostics, program);
        status = layout_error(program, text.name, rc);
    }
    free(text.bytes);
    return status;
}


enum program_status command_layout(struct program *program) {
    if (!program->dsn && !program_given(program, OPTION_KEEP))
        return program_fail(program, PROGRAM_USAGE, "layout: into which space? name it with -s DSN or $KVSPACE, or keep a new one with --keep");
    enum program_status status = program_open_runtime(program, program->dsn, KVSPACE_CREATE_IF_MISSING);
    if (status) return status;
    for (int i = 0; i < program->options.operand_count; i++)
        status = worse(status, lay_out(program, program->options.operands[i], true, program_given(program, OPTION_STRICT)));
    if (!program->dsn) sink_format(&program->out, "%s\n", kvspace_dsn(program->space));
    return status;
}

/* A space that is only for this check takes the files in, so that each sees the ones before it. */
enum program_status command_vet(struct program *program) {
    enum program_status status = PROGRAM_OK;
    int count = program->options.operand_count;
    for (int i = 0; i < count; i++) status = worse(status, lay_out(program, program->options.operands[i], !program->dsn && i + 1 < count, false));
    return status;
}

/* ---- fmt ---- */

static enum program_status write_failed(struct program *program, const char *file, char *other, int error) {
    unlink(other);
    free(other);
    return program_fail(program, PROGRAM_FAILED, "cannot write %s: %s", file, strerror(error));
}

/* The new text under another name, then in place of the file, with its rights. A link stays one: its target is written. */
static enum program_status replace_file(struct program *program, const char *file, const char *bytes, size_t length) {
    char *real = realpath(file, NULL);
    struct stat facts;
    if (!real || stat(real, &facts)) {
        free(real);
        return program_fail(program, PROGRAM_FAILED, "cannot write %s: %s", file, strerror(errno));
    }
    size_t room = strlen(real) + 16;
    char *other = malloc(room);
    if (!other) {
        free(real);
        return program_fail(program, PROGRAM_FAILED, "no memory");
    }
    snprintf(other, room, "%s.XXXXXX", real);
    int descriptor = mkstemp(other);
    enum program_status status = PROGRAM_OK;
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    int error = errno;
    if (!stream) {
        if (descriptor >= 0) close(descriptor);
        free(real);
        return write_failed(program, file, other, error);
    }
    bool good = fwrite(bytes, 1, length, stream) == length && fflush(stream) == 0 && fchmod(descriptor, facts.st_mode & 07777) == 0;
    error = errno;
    good = fclose(stream) == 0 && good;
    if (good && rename(other, real) == 0) free(other);
    else status = write_failed(program, file, other, good ? errno : error);
    free(real);
    return status;
}

static enum program_status format_one(struct program *program, const char *file) {
    bool check = program_given(program, OPTION_CHECK), write = program_given(program, OPTION_WRITE);
    struct text text;
    enum program_status status = read_text(program, file, &text);
    if (status) return status;
    struct layout_source source = {text.name, text.bytes, text.length};
    char *formatted;
    size_t length;
    int rc = layout_format(&source, &formatted, &length, program_diagnostics, program);
    status = layout_error(program, text.name, rc);
    bool differs = !status && (length != text.length || memcmp(formatted, text.bytes, length) != 0);
    if (differs && check) {
        sink_format(&program->out, "%s\n", text.name);
        status = PROGRAM_FAILED;
    } else if (differs && write) status = replace_file(program, file, formatted, length);
    else if (!status && !check && !write) sink_bytes(&program->out, formatted, length);
    free(formatted);
    free(text.bytes);
    return status;
}

enum program_status command_fmt(struct program *program) {
    enum program_status status = PROGRAM_OK;
    if (program_given(program, OPTION_CHECK) && program_given(program, OPTION_WRITE))
        return program_fail(program, PROGRAM_USAGE, "fmt: --check and --write exclude each other");
    for (int i = 0; i < program->options.operand_count; i++) {
        const char *file = program->options.operands[i];
        if (strcmp(file, "-") == 0 && program_given(program, OPTION_WRITE))
            return program_fail(program, PROGRAM_USAGE, "fmt: standard input cannot be written");
        status = worse(status, format_one(program, file));
    }
    return status;
}

/* ---- dump ---- */

/* `/lib/pkg·f` of what was typed: `pkg.f`, `pkg`, a path. malloc'd. */
static char *key_of(const char *typed) {
    static const char lib[] = "/lib/";
    size_t room = 2 * strlen(typed) + sizeof lib + 1;
    char *key = malloc(room);
    if (!key) return NULL;
    size_t used = 0;
    if (typed[0] != '/') used = (size_t)snprintf(key, room, "%s", lib);
    for (; *typed; typed++) {
        if (*typed == '.') used += (size_t)snprintf(key + used, room - used, "·");
        else key[used++] = *typed;
    }
    while (used > 1 && key[used - 1] == '/') used--;
    key[used] = '\0';
    return key;
}

static int to_sink(void *context, const char *bytes, size_t count) {
    sink_bytes(context, bytes, count);
    return 0;
}

static enum program_status dump_one(struct program *program, const char *typed) {
    char *key = key_of(typed);
    if (!key) return program_fail(program, PROGRAM_FAILED, "no memory");
    struct text_out out = {.write = to_sink, .context = &program->out};
    struct layout_dumped dumped;
    int rc = layout_dump(program->space, key, program_given(program, OPTION_ROWS), &out, &dumped);
    enum program_status status = layout_error(program, key, rc);
    if (!status && !dumped.count && strcmp(key, "/lib") != 0) status = program_fail(program, PROGRAM_USAGE, "there is nothing laid out at %s", key);
    if (!status && dumped.inexact)
        status = program_fail(program, PROGRAM_FAILED, "%u of %u have rows that no source lays out to: see the comments", (unsigned)dumped.inexact, (unsigned)dumped.count);
    free(key);
    return status;
}

enum program_status command_dump(struct program *program) {
    if (!program->options.operand_count) return dump_one(program, "/lib");
    enum program_status status = PROGRAM_OK;
    for (int i = 0; i < program->options.operand_count; i++) status = worse(status, dump_one(program, program->options.operands[i]));
    return status;
}
