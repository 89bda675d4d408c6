/* caps, and help on an opcode: what the runtime can execute, from its own tables and from the tree. Relies on kvlang_opcodes. */
#include "cli/kvlang_program.h"
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "kvspace/json.h"

struct opcode_list {
    struct kvlang_opcode *items;
    size_t count, room;
};

static int take_opcode(void *context, const struct kvlang_opcode *opcode) {
    struct opcode_list *list = context;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 256;
        struct kvlang_opcode *more = realloc(list->items, room * sizeof *more);
        if (!more) return 1;
        list->items = more;
        list->room = room;
    }
    list->items[list->count++] = *opcode;
    return 0;
}

static int by_name(const void *left, const void *right) {
    return strcmp(((const struct kvlang_opcode *)left)->name, ((const struct kvlang_opcode *)right)->name);
}

static int read_opcodes(struct program *program, struct opcode_list *list) {
    int rc = kvlang_opcodes(program->lang, take_opcode, list);
    if (!rc && list->count) qsort(list->items, list->count, sizeof *list->items, by_name);
    return rc;
}

static void print_json(struct program *program, const struct opcode_list *list) {
    struct json_writer json = {.out = &program->out.out, .indent = 2};
    json_array_begin(&json);
    for (size_t i = 0; i < list->count; i++) {
        const struct kvlang_opcode *opcode = &list->items[i];
        json_object_begin(&json);
        json_key_text(&json, "name");
        json_put_text(&json, opcode->name);
        json_key_text(&json, "signature");
        json_put_text(&json, opcode->signature);
        json_key_text(&json, "doc");
        json_put_text(&json, opcode->doc ? opcode->doc : "");
        json_key_text(&json, "provider");
        json_put_text(&json, opcode->owner);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_finish(&json);
    sink_text(&program->out, "\n");
}

enum program_status command_caps(struct program *program) {
    struct opcode_list list = {0};
    int rc = read_opcodes(program, &list);
    if (rc) {
        free(list.items);
        return program_error(program, rc);
    }
    if (program_given(program, OPTION_JSON)) {
        print_json(program, &list);
    } else {
        struct table table = {.columns = 4};
        for (size_t i = 0; i < list.count; i++) {
            table_text(&table, STYLE_OPCODE, list.items[i].name);
            table_text(&table, STYLE_TYPE, list.items[i].signature);
            table_text(&table, STYLE_DIM, list.items[i].owner);
            table_text(&table, STYLE_PLAIN, list.items[i].doc ? list.items[i].doc : "");
        }
        table_draw(&table, &program->out);
        table_free(&table);
    }
    free(list.items);
    return PROGRAM_OK;
}

/* ---- help on one ---- */

static void canonical_name(const char *typed, char *out, size_t capacity) {
    size_t used = 0;
    for (; *typed && used + 3 < capacity; typed++) {
        if (*typed == '.') used += (size_t)snprintf(out + used, capacity - used, "·");
        else out[used++] = *typed;
    }
    out[used] = '\0';
}

static void print_opcode(struct program *program, const struct kvlang_opcode *opcode) {
    struct sink *out = &program->out;
    sink_styled(out, STYLE_OPCODE, opcode->name, strlen(opcode->name));
    sink_format(out, "%s\n    %s\n", opcode->signature, opcode->doc ? opcode->doc : "");
    if (!opcode->example) return;
    sink_text(out, "\n");
    for (const char *line = opcode->example; *line;) {
        size_t length = strcspn(line, "\n");
        sink_format(out, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    for (const char *line = opcode->prints ? opcode->prints : ""; *line;) {
        size_t length = strcspn(line, "\n");
        sink_format(out, "    # %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static enum program_status no_opcode(struct program *program, const struct opcode_list *list, const char *name) {
    const char **names = calloc(list->count + 1, sizeof *names);
    const char *near = NULL;
    for (size_t i = 0; names && i < list->count; i++) names[i] = list->items[i].name;
    if (names) near = name_nearest(name, names, list->count);
    free(names);
    return program_fail(program, PROGRAM_USAGE, "there is no command and no opcode %s%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
                        near ? "?" : "");
}

/* Opcodes that are only in the tree, registered by others, are shown too when the space is named. */
enum program_status program_help_opcode(struct program *program, const char *typed) {
    char name[KVSPACE_STEP_MAX + 1];
    struct opcode_list list = {0};
    canonical_name(typed, name, sizeof name);
    enum program_status status = program_open_runtime(program, program->dsn, KVSPACE_CREATE_IF_MISSING);
    if (status) return status;
    int rc = read_opcodes(program, &list);
    bool found = false;
    for (size_t i = 0; i < list.count && !rc && !found; i++) {
        found = strcmp(list.items[i].name, name) == 0;
        if (found) print_opcode(program, &list.items[i]);
    }
    if (rc) status = program_error(program, rc);
    else if (!found) status = no_opcode(program, &list, name);
    program_close_runtime(program, false);
    free(list.items);
    return status;
}
