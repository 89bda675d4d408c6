/* The one table of families, in the order of the documentation, and their part in a runtime. See family.h.
 * Relies on core's caps.h. Promise: a family that is switched off has the same signatures, and opcodes that refuse. */
#include "std/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/caps.h"
#include "std/kvlang_handle.h"

#define FAMILY(name) {#name, name##_rows, &name##_count, NULL, NULL}

const struct family families[] = {
    FAMILY(term),
    FAMILY(json),
    FAMILY(fs),
    FAMILY(proc),
    FAMILY(env),
    FAMILY(csv),
    {"re", re_rows, &re_count, re_open, re_close},
    FAMILY(hash),
    FAMILY(base64),
    FAMILY(http),
    FAMILY(kvlanglayout),
};
const uint32_t family_count = sizeof families / sizeof *families;

struct family_kept {
    void *host;
    struct native_row *refusing; /* rows of a family that is switched off */
};

static int refuse(struct core_call *call) {
    const char *family = call->host;
    return fault(call->heap, ERROR_RUNTIME, "%s: the family %s is switched off (--deny %s)", call->row->name, family, family);
}

static bool in_list(const char *list, const char *name, size_t bytes) {
    for (const char *at = list; at && *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (length == bytes && memcmp(at, name, bytes) == 0) return true;
        at += length;
    }
    return false;
}

static int check_names(kvlang *lang, const char *deny) {
    for (const char *at = deny; at && *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        bool known = length == 0;
        for (uint32_t i = 0; i < family_count && !known; i++) known = strlen(families[i].name) == length && memcmp(families[i].name, at, length) == 0;
        if (!known) {
            char list[160] = "";
            for (uint32_t i = 0; i < family_count; i++) snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", families[i].name);
            return handle_fail(lang, KVLANG_EUSAGE, "there is no family %.*s of opcodes (there are: %s)", (int)(length < 40 ? length : 40), at, list);
        }
        at += length;
    }
    return KVLANG_OK;
}

static int family_add(kvlang *lang, const struct family *family, struct family_kept *kept, bool denied) {
    struct core *core = lang->core;
    const struct native_row *rows = family->rows;
    void *host = (void *)(uintptr_t)family->name;
    if (denied) {
        kept->refusing = malloc(*family->count * sizeof *rows);
        if (!kept->refusing) return ERROR_OUT_OF_MEMORY;
        memcpy(kept->refusing, rows, *family->count * sizeof *rows);
        for (uint32_t i = 0; i < *family->count; i++) kept->refusing[i].run = refuse;
        rows = kept->refusing;
    } else if (family->open) {
        host = kept->host = family->open();
        if (!host) return ERROR_OUT_OF_MEMORY;
    }
    int rc = core_add_caps(core, rows, *family->count, host);
    return rc ? rc : caps_register(core, family->name, true, family->rows, *family->count);
}

int families_add(kvlang *lang, const char *deny) {
    int rc = check_names(lang, deny);
    if (rc) return rc;
    lang->families = calloc(family_count, sizeof *lang->families);
    if (!lang->families) return handle_fail(lang, KVLANG_ENOMEM, "no memory for the tables of opcodes");
    for (uint32_t i = 0; i < family_count && !rc; i++)
        rc = family_add(lang, &families[i], &lang->families[i], in_list(deny, families[i].name, strlen(families[i].name)));
    return rc ? handle_fault(lang, rc) : KVLANG_OK;
}

void families_close(kvlang *lang) {
    for (uint32_t i = 0; i < family_count && lang->families; i++) {
        if (families[i].close) families[i].close(lang->families[i].host);
        free(lang->families[i].refusing);
    }
    free(lang->families);
    lang->families = NULL;
}
