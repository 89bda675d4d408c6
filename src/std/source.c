/* Laying out a text for kvlang.h, and the function by which it begins. Relies on layout.h for the compiler. The libs' inits and
 * the entry become one function, `/lib/‥start`, so that a program is one vthread, whatever it runs first. */
#include "std/kvlang_handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"

void unit_forget(kvlang *lang) {
    layout_names_free(&lang->names);
    free(lang->source_name);
    free(lang->source);
    lang->source = lang->source_name = NULL;
    lang->source_bytes = 0;
}

static char *copy_of(const char *text, size_t bytes) {
    char *copy = malloc(bytes + 1);
    if (!copy) return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

int kvlang_lay_out(kvlang *lang, const char *name, const char *text, size_t bytes, kvlang_sink *sink, void *context) {
    if (!bytes) bytes = strlen(text);
    unit_forget(lang);
    lang->source_name = copy_of(name, strlen(name));
    lang->source = copy_of(text, bytes);
    lang->source_bytes = bytes;
    if (!lang->source_name || !lang->source) return handle_fail(lang, KVLANG_ENOMEM, "no memory for a text of %zu bytes", bytes);
    struct layout_source source = {name, text, bytes};
    struct layout_names names;
    int rc = layout_into(lang->space, &source, true, &names, sink, context);
    if (rc == LAYOUT_REJECTED) return handle_fail(lang, KVLANG_ESOURCE, "%s has errors", name);
    if (rc == LAYOUT_SPACE) return handle_fail(lang, KVLANG_ESPACE, "%s: %s", name, kvspace_message(lang->space));
    if (rc) return handle_fail(lang, KVLANG_ENOMEM, "no memory to compile %s", name);
    lang->names = names;
    return KVLANG_OK;
}

/* ---- where it begins ---- */

static int path_of(kvlang *lang, const char *name) {
    size_t room = strlen(name) + 64; /* also for the key of a start */
    free(lang->start_path);
    lang->start_path = malloc(room);
    if (!lang->start_path) return handle_fail(lang, KVLANG_ENOMEM, "no memory for a name of %zu bytes", room);
    snprintf(lang->start_path, room, "%s%s", name[0] == '/' ? "" : "/lib/", name);
    return KVLANG_OK;
}

static bool has_function(const kvlang *lang, const char *path) {
    for (uint32_t i = 0; i < lang->names.function_count; i++)
        if (strcmp(lang->names.functions[i], path) == 0) return true;
    return false;
}

static int no_entry(kvlang *lang) {
    char list[700] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < lang->names.function_count && used < sizeof list - 64; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.200s", i ? ", " : "", lang->names.functions[i] + strlen("/lib/"));
    const char *file = lang->source_name ? lang->source_name : "the text";
    if (!lang->names.function_count) return handle_fail(lang, KVLANG_ENAME, "%s has nothing to run: no instructions and no functions", file);
    return handle_fail(lang, KVLANG_ENAME, "%s has no instructions outside of functions, no main and no test; it has %s (--entry NAME)", file, list);
}

/* ---- the function that calls the inits and then the entry ---- */

static uint64_t text_hash_of(uint64_t hash, const char *text) {
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash * UINT64_C(1099511628211);
}

static int write_slot(kvlang *lang, const char *start, unsigned row, int column, const char *type, const char *text, size_t bytes) {
    char key[KVSPACE_KEY_MAX + 1];
    snprintf(key, sizeof key, "%s/[%u,%d]", start, row, column);
    int rc = type ? kvspace_set_word(lang->space, key, type, text, bytes) : kvspace_set_pointer(lang->space, key, text);
    return rc ? handle_space_error(lang, rc) : KVLANG_OK;
}

/* The start has the parameters of the entry and hands them on: `call entry, a, b -> c`. */
static int write_entry_call(kvlang *lang, const char *start, unsigned row, const uint32_t head[4]) {
    char key[KVSPACE_KEY_MAX + 1], param[KVSPACE_TYPE_MAX];
    int rc = write_slot(lang, start, row, 0, "opcode", "call", 4);
    if (!rc) rc = write_slot(lang, start, row, -1, NULL, lang->start_path, 0);
    for (uint32_t i = 0; i < head[0] + head[1] && !rc; i++) {
        bool reads = i < head[0];
        int column = reads ? -(int)i - 1 : (int)(i - head[0]) + 1;
        size_t bytes;
        if (snprintf(key, sizeof key, "%s/[0,%d]", lang->start_path, column) >= (int)sizeof key) return handle_fail(lang, KVLANG_ENAME, "the name is too long");
        int space_rc = kvspace_get_text(lang->space, key, param, sizeof param, &bytes);
        if (space_rc) return handle_space_error(lang, space_rc);
        const char *colon = strchr(param, ':');
        rc = write_slot(lang, start, 0, column, "param", param, bytes);
        if (!rc) rc = write_slot(lang, start, row, reads ? column - 1 : column, "name", param, colon ? (size_t)(colon - param) : bytes);
    }
    return rc;
}

static int write_start(kvlang *lang, const char *start, const uint32_t entry_head[4]) {
    int rc = KVLANG_OK;
    unsigned row = 1;
    uint64_t version = 1;
    for (uint32_t i = 0; i < lang->names.init_count && !rc; i++, row++) {
        rc = write_slot(lang, start, row, 0, "opcode", "call", 4);
        if (!rc) rc = write_slot(lang, start, row, -1, NULL, lang->names.inits[i], 0);
    }
    if (!rc) rc = write_entry_call(lang, start, row++, entry_head);
    if (!rc) rc = write_slot(lang, start, row, 0, "opcode", "return", 6);
    if (rc) return rc;
    uint32_t head[4] = {entry_head[0], entry_head[1], 0, row};
    char key[KVSPACE_KEY_MAX + 1];
    snprintf(key, sizeof key, "%s/‥version", start);
    int space_rc = kvspace_set_u64(lang->space, key, version);
    if (!space_rc) space_rc = kvspace_set_word(lang->space, start, "rwfunc", head, sizeof head);
    return space_rc ? handle_space_error(lang, space_rc) : KVLANG_OK;
}

/* A variadic entry cannot be called with what it collects, so its libs' inits run before it, each by itself. */
static int run_inits(kvlang *lang) {
    for (uint32_t i = 0; i < lang->names.init_count; i++) {
        enum kvlang_status status;
        uint64_t vid;
        int rc = kvlang_start(lang, lang->names.inits[i], NULL, 0, &vid);
        if (!rc) rc = kvlang_run(lang, vid, 0, &status);
        if (rc) return rc;
        if (status != KVLANG_DONE) return handle_fail(lang, KVLANG_EUSAGE, "%s is %s", lang->names.inits[i], kvlang_status_name(status));
    }
    return KVLANG_OK;
}

/* Replaces the entry in start_path by the start. Its key tells what it calls, so what is there already is right. */
static int start_with_inits(kvlang *lang) {
    struct kvspace_value value;
    uint32_t head[4];
    uint64_t hash = text_hash_of(UINT64_C(1469598103934665603), lang->start_path);
    char start[64];
    int rc = kvspace_get(lang->space, lang->start_path, &value);
    if (rc || value.body_bytes < sizeof head) return handle_fail(lang, KVLANG_ENAME, "there is no function %s", lang->start_path);
    memcpy(head, value.body, sizeof head);
    if (head[2]) return run_inits(lang);
    for (uint32_t i = 0; i < head[0] + head[1]; i++) {
        char key[KVSPACE_KEY_MAX + 1], param[KVSPACE_TYPE_MAX];
        int column = i < head[0] ? -(int)i - 1 : (int)(i - head[0]) + 1;
        if (snprintf(key, sizeof key, "%s/[0,%d]", lang->start_path, column) >= (int)sizeof key) return handle_fail(lang, KVLANG_ENAME, "the name is too long");
        rc = kvspace_get_text(lang->space, key, param, sizeof param, NULL);
        if (rc) return handle_space_error(lang, rc);
        hash = text_hash_of(hash, param);
    }
    for (uint32_t i = 0; i < lang->names.init_count; i++) hash = text_hash_of(hash, lang->names.inits[i]);
    snprintf(start, sizeof start, "/lib/‥start/%016llx", (unsigned long long)hash);
    rc = write_start(lang, start, head);
    if (rc) return rc;
    memcpy(lang->start_path, start, strlen(start) + 1);
    return KVLANG_OK;
}

int kvlang_entry(kvlang *lang, const char *wanted, const char **path) {
    static const char *const usual[] = {"/lib/main", "/lib/test"};
    int rc;
    if (wanted) rc = path_of(lang, wanted);
    else if (lang->names.has_init) rc = path_of(lang, "init");
    else if (has_function(lang, usual[0])) rc = path_of(lang, usual[0]);
    else if (has_function(lang, usual[1])) rc = path_of(lang, usual[1]);
    else return no_entry(lang);
    if (!rc && lang->names.init_count) rc = start_with_inits(lang);
    if (rc) return rc;
    *path = lang->start_path;
    return KVLANG_OK;
}
