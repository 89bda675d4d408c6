/* The commands about a whole space, and about where values come from and go: stat, spaces, check, export, import.
 * Relies on kvspace_stats, _check, _repair, _export and _import. Promises: an output file appears whole or not at all. */
#include "cli/kvspace_tool.h"
#include "cli/table.h"

#include "kvspace/json.h"
#include "kvspace/timetext.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- facts: one row each, as a table or as an object of JSON ---- */

struct facts {
    struct tool *tool;
    struct json_writer json;
    struct table table;
};

static void facts_begin(struct facts *facts, struct tool *tool) {
    *facts = (struct facts){.tool = tool, .json = {.out = &tool->out.out}, .table = {.columns = 2}};
    if (tool->json) json_object_begin(&facts->json);
}

static void fact_text(struct facts *facts, const char *name, const char *text) {
    if (facts->tool->json) {
        json_key_text(&facts->json, name);
        json_put_text(&facts->json, text);
        return;
    }
    table_text(&facts->table, STYLE_DIM, name);
    table_text(&facts->table, STYLE_PLAIN, text);
}

static void fact_number(struct facts *facts, const char *name, uint64_t number) {
    char text[24];
    if (facts->tool->json) {
        json_key_text(&facts->json, name);
        json_put_uint64(&facts->json, number);
        return;
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    fact_text(facts, name, text);
}

static void fact_truth(struct facts *facts, const char *name, bool truth) {
    if (!facts->tool->json) {
        fact_text(facts, name, truth ? "yes" : "no");
        return;
    }
    json_key_text(&facts->json, name);
    json_put_bool(&facts->json, truth);
}

/* A number of bytes: exact in JSON, with its short form for people. */
static void fact_bytes(struct facts *facts, const char *name, uint64_t bytes) {
    char size[SIZE_TEXT_MAX];
    char text[48];
    if (facts->tool->json || bytes < 1024) {
        fact_number(facts, name, bytes);
        return;
    }
    snprintf(text, sizeof text, "%llu (%s)", (unsigned long long)bytes, size_text(bytes, size));
    fact_text(facts, name, text);
}

static void facts_end(struct facts *facts) {
    if (facts->tool->json) {
        json_object_end(&facts->json);
        tool_json_end(facts->tool, &facts->json);
    } else {
        table_draw(&facts->table, &facts->tool->out);
    }
}

/* ---- stat of a key ---- */

static void value_facts(struct facts *facts, const struct kvspace_value *value) {
    static const char *const refs[] = {"inline", "pointer", "external"};
    static const char *const stores[] = {"none", "atom", "ndarray", "index", "extindex"};
    char type[KVSPACE_TYPE_MAX];
    char dims[KVSPACE_NDIM_MAX * 24] = "";
    if (value->store == KVSPACE_NONE) return;
    fact_text(facts, "type", tool_type(value, type));
    fact_text(facts, "ref", value->ref < 3 ? refs[value->ref] : "?");
    fact_text(facts, "store", value->store < 5 ? stores[value->store] : "?");
    for (unsigned i = 0, at = 0; i < value->ndim && i < KVSPACE_NDIM_MAX && value->dims; i++)
        at += (unsigned)snprintf(dims + at, sizeof dims - at, "%s%llu", i ? "x" : "", (unsigned long long)value->dims[i]);
    if (dims[0]) fact_text(facts, "shape", dims);
    fact_bytes(facts, "bytes", value->body_bytes);
    if (value->ref != KVSPACE_INLINE || value->store == KVSPACE_EXTINDEX) {
        char shown[KVSPACE_KEY_MAX + 1];
        fact_text(facts, value->store == KVSPACE_EXTINDEX ? "base" : "target",
                  tool_key_text(facts->tool, value->body, (size_t)value->body_bytes, shown));
    }
    if (value->ro) fact_truth(facts, "read_only", true);
    if (value->owner) fact_number(facts, "owner", value->owner);
}

static enum tool_status stat_key(struct tool *tool, const char *typed) {
    char key[KVSPACE_KEY_MAX + 1], shown[KVSPACE_KEY_MAX + 1];
    enum tool_status status = tool_key(tool, typed, key);
    if (status) return status;
    struct kvspace_counts counts;
    int rc = kvspace_count(tool->space, key, &counts);
    if (rc == KVSPACE_ENOENT) return tool_fail(tool, TOOL_NO, "stat: there is nothing at %s", key);
    if (rc) return tool_error(tool, rc);
    struct kvspace_value value = {0};
    kvspace_read_begin(tool->space);
    rc = kvspace_get(tool->space, key, &value);
    if (!rc || rc == KVSPACE_ENOENT) {
        struct facts facts;
        facts_begin(&facts, tool);
        fact_text(&facts, "key", tool_key_text(tool, key, strlen(key), shown));
        value_facts(&facts, &value);
        fact_number(&facts, "children", counts.children);
        fact_number(&facts, "members", counts.members);
        fact_number(&facts, "system", counts.system);
        facts_end(&facts);
        rc = 0;
    }
    kvspace_read_end(tool->space);
    return rc ? tool_error(tool, rc) : TOOL_OK;
}

/* ---- stat of the space ---- */

static enum tool_status stat_space(struct tool *tool) {
    struct kvspace_stats stats = {0};
    int rc = kvspace_get_stats(tool->space, &stats);
    if (rc) return tool_error(tool, rc);
    struct facts facts;
    facts_begin(&facts, tool);
    fact_text(&facts, "dsn", kvspace_dsn(tool->space));
    fact_text(&facts, "file", kvspace_file(tool->space));
    fact_text(&facts, "backend", kvspace_backend(tool->space));
    fact_number(&facts, "format", stats.format_version);
    fact_number(&facts, "generation", stats.generation);
    fact_bytes(&facts, "file_bytes", stats.file_bytes);
    fact_bytes(&facts, "used_bytes", stats.used_bytes);
    fact_bytes(&facts, "free_bytes", stats.free_bytes);
    fact_bytes(&facts, "limit_bytes", stats.limit_bytes);
    fact_number(&facts, "nodes", stats.nodes);
    fact_number(&facts, "blocks", stats.blocks);
    fact_bytes(&facts, "block_bytes", stats.block_bytes);
    fact_bytes(&facts, "big_bytes", stats.big_bytes);
    fact_number(&facts, "retired", stats.retired);
    fact_number(&facts, "participants", stats.participants);
    fact_number(&facts, "participants_dead", stats.participants_dead);
    fact_number(&facts, "recoveries", stats.recoveries);
    fact_number(&facts, "epoch", stats.epoch);
    fact_truth(&facts, "was_clean", stats.was_clean);
    facts_end(&facts);
    return TOOL_OK;
}

enum tool_status command_stat(struct tool *tool) {
    const char *key = tool_operand(tool, 0, NULL);
    return key ? stat_key(tool, key) : stat_space(tool);
}

/* ---- spaces ---- */

struct space_list {
    struct tool *tool;
    struct json_writer json;
    struct table table;
    unsigned count;
    bool prune;
};

static int list_space(void *context, const struct kvspace_anonymous *found) {
    struct space_list *list = context;
    const char *state = found->state == KVSPACE_ANONYMOUS_LIVE   ? "live"
                        : found->state == KVSPACE_ANONYMOUS_KEPT ? "kept"
                                                                 : "crashed";
    char changed[TIMETEXT_MAX];
    char size[SIZE_TEXT_MAX];
    if (list->prune && (found->state == KVSPACE_ANONYMOUS_LIVE || kvspace_remove(found->dsn))) return 0;
    timetext_print_time(found->changed_s * 1000000000, changed);
    list->count++;
    if (list->tool->json) {
        json_object_begin(&list->json);
        json_key_text(&list->json, "dsn");
        json_put_text(&list->json, found->dsn);
        json_key_text(&list->json, "path");
        json_put_text(&list->json, found->path);
        json_key_text(&list->json, "state");
        json_put_text(&list->json, state);
        json_key_text(&list->json, "file_bytes");
        json_put_uint64(&list->json, found->file_bytes);
        json_key_text(&list->json, "changed");
        json_put_text(&list->json, changed);
        json_object_end(&list->json);
        return 0;
    }
    enum sink_style style = found->state == KVSPACE_ANONYMOUS_LIVE      ? STYLE_GOOD
                            : found->state == KVSPACE_ANONYMOUS_CRASHED ? STYLE_BAD
                                                                        : STYLE_PLAIN;
    table_text(&list->table, STYLE_KEY, found->dsn);
    table_text(&list->table, style, state);
    table_text(&list->table, STYLE_PLAIN, size_text(found->file_bytes, size));
    table_text(&list->table, STYLE_DIM, changed);
    return 0;
}

enum tool_status spaces_print(struct tool *tool) {
    struct space_list list = {.tool = tool, .json = {.out = &tool->out.out}, .table = {.columns = 4, .right = 1u << 2}};
    list.prune = tool_given(tool, OPTION_PRUNE);
    if (tool->json) json_array_begin(&list.json);
    int rc = kvspace_anonymous_list(list_space, &list);
    if (tool->json) {
        json_array_end(&list.json);
        tool_json_end(tool, &list.json);
    } else {
        table_draw(&list.table, &tool->out);
        if (!list.count && !rc) sink_text(&tool->out, list.prune ? "there was nothing to remove\n" : "there are no anonymous spaces\n");
    }
    return rc ? tool_error(tool, rc) : TOOL_OK;
}

enum tool_status command_spaces(struct tool *tool) {
    return spaces_print(tool);
}

/* ---- check ---- */

struct fault_report {
    struct tool *tool;
    struct json_writer json;
    uint64_t count;
};

static void report_fault(void *context, const char *fault) {
    struct fault_report *report = context;
    report->count++;
    if (report->tool->json) {
        json_put_text(&report->json, fault);
        return;
    }
    sink_one_line(&report->tool->out, STYLE_BAD, fault, strlen(fault));
    sink_text(&report->tool->out, "\n");
}

enum tool_status command_check(struct tool *tool) {
    bool repair = tool_given(tool, OPTION_REPAIR);
    struct fault_report report = {.tool = tool, .json = {.out = &tool->out.out}};
    struct kvspace_check_options options = {.report = report_fault, .context = &report};
    if (tool->json) {
        json_object_begin(&report.json);
        json_key_text(&report.json, "faults");
        json_array_begin(&report.json);
    }
    int rc = repair ? kvspace_repair(tool->space, &options) : kvspace_check(tool->space, &options);
    if (tool->json) {
        json_array_end(&report.json);
        json_key_text(&report.json, "whole");
        json_put_bool(&report.json, rc == 0);
        json_object_end(&report.json);
        tool_json_end(tool, &report.json);
    }
    if (rc && rc != KVSPACE_EDAMAGED) return tool_error(tool, rc);
    if (tool->json) return rc ? TOOL_DAMAGED : TOOL_OK;
    if (rc) {
        sink_format(&tool->out, "%llu faults%s\n", (unsigned long long)report.count,
                    repair ? ", not all of them mended" : "; kvspace check --repair mends what can be mended");
        return TOOL_DAMAGED;
    }
    if (report.count) sink_format(&tool->out, "%llu faults mended; the space is whole\n", (unsigned long long)report.count);
    else sink_styled(&tool->out, STYLE_GOOD, "the space is whole\n", 19);
    return TOOL_OK;
}

/* ---- export ---- */

struct output {
    struct text_out *out; /* of tool->out, or of the file */
    FILE *file;
    const char *name;
    char temporary[4096];
};

static int write_file(void *context, const char *bytes, size_t count) {
    errno = 0;
    if (fwrite(bytes, 1, count, context) == count) return 0;
    return errno ? errno : EIO;
}

/* A temporary file beside the target, so that the rename stays in one file system. Gives an errno. */
static int output_open(struct output *output, struct text_out *file_out) {
    int length = snprintf(output->temporary, sizeof output->temporary, "%s.%ld.part", output->name, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof output->temporary) return ENAMETOOLONG;
    output->file = fopen(output->temporary, "wbx");
    if (!output->file) return errno;
    *file_out = (struct text_out){.write = write_file, .context = output->file};
    output->out = file_out;
    return 0;
}

/* Gives an errno; the target is untouched then. */
static int output_close(struct output *output, bool good) {
    int failed = output->out->error;
    if (fflush(output->file) != 0 && !failed) failed = errno;
    if (fclose(output->file) != 0 && !failed) failed = errno;
    if (!failed && good && rename(output->temporary, output->name) != 0) failed = errno;
    if (failed || !good) unlink(output->temporary);
    return failed;
}

enum tool_status command_export(struct tool *tool) {
    char key[KVSPACE_KEY_MAX + 1];
    struct output output = {.out = &tool->out.out, .name = tool->options.values[OPTION_OUTPUT]};
    struct text_out file_out;
    struct kvspace_export_options options = {0};
    enum tool_status status = tool_key(tool, tool_operand(tool, 0, "/"), key);
    if (status) return status;
    if (tool_given(tool, OPTION_COMPACT)) options.format = KVSPACE_FORMAT_STREAM;
    if (options.format == KVSPACE_FORMAT_STREAM && tool_given(tool, OPTION_JSON))
        return tool_fail(tool, TOOL_USAGE, "export: --compact and --json exclude each other");
    if (options.format == KVSPACE_FORMAT_STREAM && !output.name && tool->out.terminal)
        return tool_fail(tool, TOOL_USAGE, "export: the compact stream is not for a terminal (-o FILE, or a pipe)");
    if (output.name) {
        int failed = output_open(&output, &file_out);
        if (failed) return tool_fail(tool, TOOL_SPACE, "export: cannot write %s: %s", output.name, strerror(failed));
    }
    int rc = kvspace_export(tool->space, key, &options, tool_write, output.out);
    if (output.name) {
        int failed = output_close(&output, rc == 0);
        if (failed) return tool_fail(tool, TOOL_SPACE, "export: cannot write %s: %s", output.name, strerror(failed));
    }
    if (rc == KVSPACE_ENOENT) return tool_fail(tool, TOOL_NO, "export: there is nothing at %s", key);
    if (rc == KVSPACE_ESTOPPED) return TOOL_SPACE; /* the sink's own error is told by whoever runs the command */
    return rc ? tool_error(tool, rc) : TOOL_OK;
}

/* ---- import ---- */

static int read_stream(void *stream, char *out, size_t capacity, size_t *count) {
    errno = 0;
    *count = fread(out, 1, capacity, stream);
    return *count < capacity && ferror(stream) ? (errno ? errno : EIO) : 0;
}

enum tool_status command_import(struct tool *tool) {
    char key[KVSPACE_KEY_MAX + 1] = "/";
    const char *name = tool_operand(tool, 0, "-");
    const char *under = tool->options.values[OPTION_UNDER];
    bool standard = strcmp(name, "-") == 0;
    enum tool_status status = under ? tool_key(tool, under, key) : TOOL_OK;
    if (status) return status;
    if (standard && tool->prompt) return tool_fail(tool, TOOL_USAGE, "import: the prompt wants the name of a file");
    FILE *stream = standard ? stdin : fopen(name, "rb");
    if (!stream) return tool_fail(tool, TOOL_SPACE, "import: cannot read %s: %s", name, strerror(errno));
    struct kvspace_problem problem = {0};
    errno = 0;
    int rc = kvspace_import(tool->space, key, read_stream, stream, &problem);
    int failed = ferror(stream) ? (errno ? errno : EIO) : 0;
    if (!standard) fclose(stream);
    if (failed) return tool_fail(tool, TOOL_SPACE, "import: cannot read %s: %s", name, strerror(failed));
    if (rc && problem.message[0])
        return tool_fail(tool, tool_status_of(rc), "import: %s: byte %zu: %s (what came before it has been imported)",
                         standard ? "standard input" : name, problem.position, problem.message);
    return rc ? tool_error(tool, rc) : TOOL_OK;
}
