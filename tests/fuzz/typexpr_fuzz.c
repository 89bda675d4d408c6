/* Fuzz target for type expressions: the input is parsed as two types split at the first newline.
 * Promises it checks: whatever parses prints to text that parses to the same bytes; a type takes itself; any takes it;
 * matching a value's type agrees with matching the type; a buffer one byte too small is refused. */
#include "kvspace/typexpr.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

/* The parsed form in an exact-size heap block, so that the address sanitizer sees every step outside; NULL if bad. */
static struct typexpr *parse(const char *text, size_t length) {
    struct typexpr_error error;
    size_t capacity = length > TYPEXPR_TEXT_MAX ? 64 : typexpr_bound(length);
    struct typexpr *form = malloc(capacity);
    if (!form) return NULL;
    int rc = typexpr_parse(text, length, form, capacity, &error);
    must(rc == error.code && rc != TYPEXPR_ESPACE && error.position <= length);
    must(memchr(error.message, 0, sizeof error.message) && (rc == 0) == (error.message[0] == 0));
    if (rc) {
        free(form);
        return NULL;
    }
    struct typexpr *exact = malloc(form->bytes);
    must(exact && typexpr_parse(text, length, exact, form->bytes - 1, NULL) == TYPEXPR_ESPACE);
    memcpy(exact, form, form->bytes);
    free(form);
    return exact;
}

static void check_print(const struct typexpr *type) {
    size_t length = typexpr_print(type, NULL, 0);
    char *text = malloc(length + 1);
    must(text && typexpr_print(type, text, length + 1) == length && strlen(text) == length);
    if (length <= TYPEXPR_TEXT_MAX) {
        struct typexpr *again = parse(text, length);
        must(again && again->bytes == type->bytes && memcmp(again, type, type->bytes) == 0);
        free(again);
    }
    free(text);
}

static void check_pair(const struct typexpr *pattern, const struct typexpr *actual) {
    bool takes = typexpr_match(pattern, actual);
    struct typexpr_actual value;
    if (typexpr_actual_of(actual, &value)) {
        must(typexpr_match_actual(pattern, &value) == takes);
        must(typexpr_match_actual_slow(pattern, &value) == takes);
    }
    if (typexpr_equal(pattern, actual)) must(takes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    const char *line = size ? memchr(text, '\n', size) : NULL;
    size_t first = line ? (size_t)(line - text) : size;
    struct typexpr *left = parse(text, first);
    struct typexpr *right = line ? parse(line + 1, size - first - 1) : NULL;
    if (left) {
        uint64_t any[16];
        must(typexpr_parse("any", 3, any, sizeof any, NULL) == TYPEXPR_OK);
        check_print(left);
        must(typexpr_match(left, left) && typexpr_equal(left, left));
        must(typexpr_match((const struct typexpr *)(const void *)any, left));
    }
    if (left && right) {
        check_pair(left, right);
        check_pair(right, left);
    }
    free(left);
    free(right);
    return 0;
}
