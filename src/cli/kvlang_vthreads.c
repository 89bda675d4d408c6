/* ps, resume, pause, kill: the vthreads of a space, seen and steered from outside. Relies on kvlang.h, and on the keys of
 * /vthread for what is shown. Promises: commands without numbers take the vthreads in the order in which they were made. */
#include "cli/kvlang_program.h"
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kvspace/json.h"

/* ---- the numbers of a space's vthreads ---- */

struct vids {
    uint64_t *items;
    size_t count, room;
};

static int vids_add(struct vids *vids, uint64_t vid) {
    if (vids->count == vids->room) {
        size_t room = vids->room ? 2 * vids->room : 64;
        uint64_t *more = realloc(vids->items, room * sizeof *more);
        if (!more) return -1;
        vids->items = more;
        vids->room = room;
    }
    vids->items[vids->count++] = vid;
    return 0;
}

static int vid_order(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool parse_vid(const char *text, uint64_t *vid) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *vid = number;
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

static enum program_status read_vids(struct program *program, struct vids *vids) {
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    uint64_t vid;
    int rc = kvspace_list_open(program->space, "/vthread", NULL, &cursor);
    if (rc == KVSPACE_ENOENT) return PROGRAM_OK;
    if (rc) return program_space_error(program, "cannot list /vthread", rc);
    bool full = false;
    while (!full && (rc = kvspace_list_next(cursor, &entry)) == 0)
        if (parse_vid(entry.name, &vid)) full = vids_add(vids, vid) != 0;
    kvspace_list_close(cursor);
    if (full) return program_fail(program, PROGRAM_FAILED, "no memory");
    if (vids->count) qsort(vids->items, vids->count, sizeof *vids->items, vid_order);
    return rc == KVSPACE_EEND ? PROGRAM_OK : program_space_error(program, "cannot list /vthread", rc);
}

/* The numbers given, or all those of the space. */
static enum program_status wanted_vids(struct program *program, struct vids *vids) {
    int count = program->options.operand_count;
    for (int i = 0; i < count; i++) {
        uint64_t vid;
        enum kvlang_status status;
        if (!parse_vid(program->options.operands[i], &vid))
            return program_fail(program, PROGRAM_USAGE, "%s: %s is not the number of a vthread", program->command, program->options.operands[i]);
        int rc = kvlang_status_of(program->lang, vid, &status);
        if (rc) return program_error(program, rc);
        if (vids_add(vids, vid)) return program_fail(program, PROGRAM_FAILED, "no memory");
    }
    return count ? PROGRAM_OK : read_vids(program, vids);
}

static bool has_ended(enum kvlang_status status) {
    return status == KVLANG_DONE || status == KVLANG_FAILED;
}

/* ---- ps ---- */

struct ps_row {
    uint64_t vid, version, newest;
    int64_t created_ns;
    char status[16], function[256], pc[512], error[512];
};

static void text_at(kvspace *space, uint64_t vid, const char *name, char *out, size_t capacity) {
    char key[96];
    snprintf(key, sizeof key, "/vthread/%llu/%s", (unsigned long long)vid, name);
    out[0] = '\0';
    int rc = kvspace_get_text(space, key, out, capacity, NULL);
    if (rc && rc != KVSPACE_ELIMIT) out[0] = '\0';
}

static void read_row(kvspace *space, uint64_t vid, struct ps_row *row) {
    char key[KVSPACE_KEY_MAX + 1];
    struct kvspace_value value;
    *row = (struct ps_row){.vid = vid};
    text_at(space, vid, "‥status", row->status, sizeof row->status);
    text_at(space, vid, "‥fn", row->function, sizeof row->function);
    text_at(space, vid, "‥pc", row->pc, sizeof row->pc);
    text_at(space, vid, "‥error", row->error, sizeof row->error);
    snprintf(key, sizeof key, "/vthread/%llu/‥version", (unsigned long long)vid);
    kvspace_get_u64(space, key, &row->version);
    snprintf(key, sizeof key, "/vthread/%llu/‥ctime", (unsigned long long)vid);
    if (kvspace_get(space, key, &value) == 0) row->created_ns = value.scalar.i64;
    snprintf(key, sizeof key, "%s/‥version", row->function);
    if (kvspace_get_u64(space, key, &row->newest)) row->newest = row->version;
}

static const char *age_text(int64_t created_ns, char *out, size_t capacity) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t seconds = now.tv_sec - created_ns / 1000000000;
    if (!created_ns || seconds < 0) snprintf(out, capacity, "?");
    else if (seconds < 120) snprintf(out, capacity, "%llds", (long long)seconds);
    else if (seconds < 7200) snprintf(out, capacity, "%lldm", (long long)seconds / 60);
    else if (seconds < 172800) snprintf(out, capacity, "%lldh", (long long)seconds / 3600);
    else snprintf(out, capacity, "%lldd", (long long)seconds / 86400);
    return out;
}

static void row_cells(struct table *table, const char *dsn, const struct ps_row *row) {
    char vid[24], age[24], function[300];
    snprintf(vid, sizeof vid, "%llu", (unsigned long long)row->vid);
    snprintf(function, sizeof function, "%s%s", strncmp(row->function, "/lib/", 5) == 0 ? row->function + 5 : row->function,
             row->newest != row->version ? " *" : "");
    enum sink_style style = strcmp(row->status, "error") == 0 ? STYLE_BAD : strcmp(row->status, "running") == 0 ? STYLE_GOOD : STYLE_PLAIN;
    if (dsn) table_text(table, STYLE_DIM, dsn);
    table_text(table, STYLE_NUMBER, vid);
    table_text(table, style, row->status);
    table_text(table, STYLE_DIM, age_text(row->created_ns, age, sizeof age));
    table_text(table, STYLE_OPCODE, function);
    table_text(table, STYLE_PLAIN, row->error[0] ? row->error : row->pc);
}

static void row_json(struct json_writer *json, const char *dsn, const struct ps_row *row) {
    json_object_begin(json);
    json_key_text(json, "space");
    json_put_text(json, dsn);
    json_key_text(json, "vid");
    json_put_uint64(json, row->vid);
    json_key_text(json, "status");
    json_put_text(json, row->status);
    json_key_text(json, "function");
    json_put_text(json, row->function);
    json_key_text(json, "version");
    json_put_uint64(json, row->version);
    json_key_text(json, "pc");
    json_put_text(json, row->pc);
    if (row->error[0]) {
        json_key_text(json, "error");
        json_put_text(json, row->error);
    }
    json_object_end(json);
}

struct ps {
    struct program *program;
    struct table *table;
    struct json_writer *json;
    bool many;
    enum program_status status;
};

static enum program_status ps_space(struct ps *ps, const char *dsn) {
    struct program *program = ps->program;
    struct vids vids = {0};
    enum program_status status = program_open_runtime(program, dsn, KVSPACE_CREATE_NEVER);
    if (status) return status;
    status = read_vids(program, &vids);
    for (size_t i = 0; i < vids.count && !status; i++) {
        struct ps_row row;
        read_row(program->space, vids.items[i], &row);
        if (!program_given(program, OPTION_ALL) && strcmp(row.status, "done") == 0) continue;
        if (ps->json) row_json(ps->json, dsn, &row);
        else row_cells(ps->table, ps->many ? dsn : NULL, &row);
    }
    free(vids.items);
    program_close_runtime(program, false);
    return status;
}

static int ps_anonymous(void *context, const struct kvspace_anonymous *found) {
    struct ps *ps = context;
    enum program_status status = ps_space(ps, found->dsn);
    if (status) ps->status = status;
    return 0;
}

enum program_status command_ps(struct program *program) {
    struct table table = {.columns = program->dsn ? 5 : 6, .right = program->dsn ? 1 : 2};
    struct json_writer json = {.out = &program->out.out, .indent = 2};
    struct ps ps = {.program = program, .table = &table, .many = !program->dsn};
    static const char *const heads[] = {"SPACE", "VID", "STATUS", "AGE", "FUNCTION", "AT"};
    if (program_given(program, OPTION_JSON)) {
        ps.json = &json;
        json_array_begin(&json);
    } else {
        for (unsigned i = program->dsn ? 1 : 0; i < sizeof heads / sizeof *heads; i++) table_text(&table, STYLE_HEADING, heads[i]);
    }
    if (program->dsn) ps.status = ps_space(&ps, program->dsn);
    else kvspace_anonymous_list(ps_anonymous, &ps);
    if (ps.json) {
        json_array_end(&json);
        json_finish(&json);
        sink_text(&program->out, "\n");
    } else {
        table_draw(&table, &program->out);
    }
    table_free(&table);
    return ps.status;
}

/* ---- resume ---- */

static enum program_status resume_one(struct program *program, uint64_t vid) {
    enum kvlang_status status;
    int rc = kvlang_run(program->lang, vid, 0, &status);
    if (rc == KVLANG_EBUSY && !program->options.operand_count) return PROGRAM_OK;
    if (rc) return program_error(program, rc);
    if (status == KVLANG_FAILED) program_show_failure(program, vid);
    return status == KVLANG_FAILED ? PROGRAM_FAILED : PROGRAM_OK;
}

enum program_status command_resume(struct program *program) {
    struct vids vids = {0};
    bool unfinished = false;
    enum program_status status = wanted_vids(program, &vids), worst = PROGRAM_OK;
    for (size_t i = 0; i < vids.count && !status; i++) {
        enum kvlang_status before, after;
        if (kvlang_status_of(program->lang, vids.items[i], &before) || has_ended(before)) continue;
        enum program_status one = resume_one(program, vids.items[i]);
        if (one) worst = one;
        kvlang_run_spawned(program->lang);
        if (!kvlang_status_of(program->lang, vids.items[i], &after) && !has_ended(after)) unfinished = true;
    }
    free(vids.items);
    /* A crashed anonymous space whose programs have all ended well is not needed any more. */
    if (!status && !worst && !unfinished && !program->options.operand_count) kvspace_keep(program->space, KVSPACE_KEEP_NEVER);
    return status ? status : worst;
}

/* ---- pause, kill ---- */

static int64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the vthread stands still; watching its status, not polling it. */
static enum program_status wait_until_still(struct program *program, uint64_t vid, int64_t deadline_ms) {
    char key[64];
    snprintf(key, sizeof key, "/vthread/%llu/‥status", (unsigned long long)vid);
    for (;;) {
        enum kvlang_status status;
        int rc = kvlang_status_of(program->lang, vid, &status);
        if (rc) return program_error(program, rc);
        if (status != KVLANG_RUNNING && status != KVLANG_WAIT) return PROGRAM_OK;
        int64_t left = deadline_ms - clock_ms();
        if (left <= 0) return program_fail(program, PROGRAM_FAILED, "%s: vthread %llu is still %s", program->command, (unsigned long long)vid, kvlang_status_name(status));
        struct kvspace_watch_options options = {.timeout_ms = left > 100 ? 100 : left};
        kvspace_watch(program->space, key, &options, NULL);
    }
}

static enum program_status ask_and_wait(struct program *program, int (*ask)(kvlang *lang, uint64_t vid)) {
    struct vids vids = {0};
    uint64_t seconds;
    if (options_uint(&program->options, program_options, OPTION_TIMEOUT, 1000000, 10, &seconds))
        return program_fail(program, PROGRAM_USAGE, "%s: %s", program->command, program->options.message);
    enum program_status status = wanted_vids(program, &vids);
    int64_t deadline_ms = clock_ms() + (int64_t)seconds * 1000;
    for (size_t i = 0; i < vids.count && !status; i++) {
        enum kvlang_status now;
        if (kvlang_status_of(program->lang, vids.items[i], &now) || has_ended(now)) continue;
        int rc = ask(program->lang, vids.items[i]);
        if (rc) status = program_error(program, rc);
    }
    for (size_t i = 0; i < vids.count && !status; i++) status = wait_until_still(program, vids.items[i], deadline_ms);
    free(vids.items);
    return status;
}

enum program_status command_pause(struct program *program) {
    return ask_and_wait(program, kvlang_pause);
}

enum program_status command_kill(struct program *program) {
    return ask_and_wait(program, kvlang_cancel);
}
