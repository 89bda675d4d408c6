/* Laying out a text for kvlang.h, and the function by which it begins. Relies on layout.h for the compiler. The libs' inits and
 * the entry become one function, `/lib/‥start`, so that a program is one vthread, whatever it runs first. */
#include "std/kvlang_handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"

static void names_free(char **names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) free(names[i]);
    free(names);
}

void unit_forget(kvlang *lang) {
    names_free(lang->functions, lang->function_count);
    names_free(lang->inits, lang->init_count);
    free(lang->source_name);
    free(lang->source);
    lang->functions = lang->inits = NULL;
    lang->function_count = lang->init_count = 0;
    lang->source = lang->source_name = NULL;
    lang->source_bytes = 0;
    lang->has_init = false;
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
    int rc = layout_check_source(&source, sink, context);
    if (rc == LAYOUT_REJECTED) return handle_fail(lang, KVLANG_ESOURCE, "%s has errors", name);
    return rc ? handle_fail(lang, KVLANG_ENOMEM, "no memory to compile %s", name) : KVLANG_OK;
}

/* ---- where it begins ---- */

static int path_of(kvlang *lang, const char *name) {
    size_t room = strlen(name) + 8;
    free(lang->start_path);
    lang->start_path = malloc(room);
    if (!lang->start_path) return handle_fail(lang, KVLANG_ENOMEM, "no memory for a name of %zu bytes", room);
    snprintf(lang->start_path, room, "%s%s", name[0] == '/' ? "" : "/lib/", name);
    return KVLANG_OK;
}

static bool has_function(const kvlang *lang, const char *path) {
    for (uint32_t i = 0; i < lang->function_count; i++)
        if (strcmp(lang->functions[i], path) == 0) return true;
    return false;
}

static int no_entry(kvlang *lang) {
    char list[700] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < lang->function_count && used < sizeof list - 64; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.200s", i ? ", " : "", lang->functions[i] + strlen("/lib/"));
    const char *file = lang->source_name ? lang->source_name : "the text";
    if (!lang->function_count) return handle_fail(lang, KVLANG_ENAME, "%s has nothing to run: no instructions and no functions", file);
    return handle_fail(lang, KVLANG_ENAME, "%s has no instructions outside of functions, no main and no test; it has %s (--entry NAME)", file, list);
}

int kvlang_entry(kvlang *lang, const char *wanted, const char **path) {
    static const char *const usual[] = {"/lib/main", "/lib/test"};
    int rc;
    if (wanted) rc = path_of(lang, wanted);
    else if (lang->has_init) rc = path_of(lang, "init");
    else if (has_function(lang, usual[0])) rc = path_of(lang, usual[0]);
    else if (has_function(lang, usual[1])) rc = path_of(lang, usual[1]);
    else return no_entry(lang);
    if (rc) return rc;
    *path = lang->start_path;
    return KVLANG_OK;
}
