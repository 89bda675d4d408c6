/* Type expressions of the public interface: canonical text, and whether a pattern takes a type or a value.
 * Relies on typexpr.h. Promises: texts of any bytes are refused with a sentence, never believed; memory is freed again. */
#include "kvspace/typexpr.h"

#include <kvspace/kvspace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parsed type in memory of its own, or in `small`. */
struct parsed {
    uint64_t small[128];
    struct typexpr *form;
};

static int parse(const char *text, size_t bytes, struct parsed *parsed, struct kvspace_problem *problem) {
    struct typexpr_error error = {0};
    size_t capacity = typexpr_bound(bytes);
    if (problem) *problem = (struct kvspace_problem){0};
    parsed->form = NULL;
    if (bytes > KVSPACE_TYPE_MAX) {
        if (problem) snprintf(problem->message, sizeof problem->message, "a type has at most %d bytes", KVSPACE_TYPE_MAX);
        return KVSPACE_ETYPE;
    }
    void *room = capacity <= sizeof parsed->small ? parsed->small : malloc(capacity);
    if (!room) return KVSPACE_ENOMEM;
    int rc = typexpr_parse(text, bytes, room, capacity, &error);
    if (!rc) {
        parsed->form = room;
        return 0;
    }
    if (room != parsed->small) free(room);
    if (problem) {
        problem->position = error.position;
        snprintf(problem->message, sizeof problem->message, "%s", error.message);
    }
    return KVSPACE_ETYPE;
}

static void give_back(struct parsed *parsed) {
    if ((void *)parsed->form != parsed->small) free(parsed->form);
    parsed->form = NULL;
}

int kvspace_type_canonical(const char *text, size_t text_bytes, char *out, size_t capacity, struct kvspace_problem *problem) {
    struct parsed parsed;
    int rc = parse(text, text_bytes, &parsed, problem);
    if (rc) return rc;
    size_t bytes = typexpr_print(parsed.form, out, capacity);
    give_back(&parsed);
    return out && bytes >= capacity ? KVSPACE_ELIMIT : 0;
}

int kvspace_type_match(const char *pattern, const char *actual, int *matches) {
    struct parsed left, right;
    int rc = parse(pattern, strlen(pattern), &left, NULL);
    if (rc) return rc;
    rc = parse(actual, strlen(actual), &right, NULL);
    if (!rc) {
        *matches = typexpr_match(left.form, right.form);
        give_back(&right);
    }
    give_back(&left);
    return rc;
}

int kvspace_value_match(const char *pattern, const struct kvspace_value *value, int *matches) {
    struct parsed left;
    if (value && value->kind && value->ref == KVSPACE_INLINE) { /* the short way: no text of the value's type */
        struct typexpr_actual actual = {.class = TYPE_KIND, .kind = value->kind, .ndim = value->ndim};
        if (value->ndim > KVSPACE_NDIM_MAX || (value->ndim && !value->dims)) return KVSPACE_EVALUE;
        for (unsigned i = 0; i < value->ndim; i++) actual.dims[i] = value->dims[i];
        int rc = parse(pattern, strlen(pattern), &left, NULL);
        if (rc) return rc;
        *matches = typexpr_match_actual(left.form, &actual);
        give_back(&left);
        return 0;
    }
    if (!value || value->store == KVSPACE_NONE) {
        struct typexpr_actual none = {.class = TYPE_NONE};
        int rc = parse(pattern, strlen(pattern), &left, NULL);
        if (rc) return rc;
        *matches = typexpr_match_actual(left.form, &none);
        give_back(&left);
        return 0;
    }
    char *text = malloc(KVSPACE_TYPE_MAX + 128);
    if (!text) return KVSPACE_ENOMEM;
    kvspace_type_of(value, text, KVSPACE_TYPE_MAX + 128);
    int rc = kvspace_type_match(pattern, text, matches);
    free(text);
    return rc;
}
