/* Command line arguments: see options.h. Operands are moved to the front of the arguments as they are met. */
#include "cli/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(const char *text) {
    return text[0] == '-' && (isdigit((unsigned char)text[1]) || (text[1] == '.' && isdigit((unsigned char)text[2])) ||
                              strcmp(text, "-inf") == 0);
}

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Edit distance with swaps of neighbours (optimal string alignment); names longer than the rows are far from everything. */
static size_t distance(const char *a, const char *b) {
    enum { LONGEST = 32 };
    size_t rows[3][LONGEST + 1]; /* of i, i - 1 and i - 2, in turn */
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = smallest(before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && earlier[j - 2] + 1 < now[j]) now[j] = earlier[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

const char *name_nearest(const char *text, const char *const *names, size_t count) {
    const char *nearest = NULL;
    size_t least = 3; /* two changes are near */
    for (size_t i = 0; i < count; i++) {
        size_t far = distance(text, names[i]);
        if (far < least && 2 * far <= strlen(text)) {
            least = far;
            nearest = names[i];
        }
    }
    return nearest;
}

static int unknown_option(struct options *options, const struct option_row *rows, unsigned row_count, uint64_t allowed,
                          const char *name, size_t length) {
    const char *names[OPTIONS_MAX];
    size_t count = 0;
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), name);
    for (unsigned i = 0; i < row_count; i++) {
        if (allowed >> i & 1) names[count++] = rows[i].name;
        else if (strcmp(rows[i].name, text) == 0) {
            snprintf(options->message, sizeof options->message, "this command takes no --%s", text);
            return -1;
        }
    }
    const char *near = name_nearest(text, names, count);
    snprintf(options->message, sizeof options->message, "there is no option --%s%s%s%s", text,
             near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
    return -1;
}

static int take(struct options *options, const struct option_row *rows, unsigned row, const char *value) {
    if (rows[row].value && !value) {
        snprintf(options->message, sizeof options->message, "--%s needs a value (%s)", rows[row].name, rows[row].value);
        return -1;
    }
    options->values[row] = value ? value : "";
    options->given |= UINT64_C(1) << row;
    return 0;
}

/* --name, --name=VALUE, --name VALUE. `next` is the argument after it, NULL at the end; *used says that it was taken. */
static int take_long(struct options *options, const struct option_row *rows, unsigned row_count, uint64_t allowed,
                     const char *text, const char *next, bool *used) {
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    for (unsigned i = 0; i < row_count; i++) {
        if (!(allowed >> i & 1) || strlen(rows[i].name) != length || memcmp(rows[i].name, text, length) != 0) continue;
        if (!rows[i].value) {
            if (!equals) return take(options, rows, i, NULL);
            snprintf(options->message, sizeof options->message, "--%s takes no value", rows[i].name);
            return -1;
        }
        *used = !equals && next;
        return take(options, rows, i, equals ? equals + 1 : next);
    }
    return unknown_option(options, rows, row_count, allowed, text, length);
}

/* -abc, -nVALUE, -n VALUE. */
static int take_short(struct options *options, const struct option_row *rows, unsigned row_count, uint64_t allowed,
                      const char *text, const char *next, bool *used) {
    for (; *text; text++) {
        unsigned row = 0;
        while (row < row_count && !(rows[row].letter == *text && (allowed >> row & 1))) row++;
        if (row == row_count) {
            snprintf(options->message, sizeof options->message, "there is no option -%c here", *text);
            return -1;
        }
        if (!rows[row].value) {
            take(options, rows, row, NULL);
            continue;
        }
        const char *value = text[1] == '=' ? text + 2 : text + 1;
        *used = !text[1] && next;
        return take(options, rows, row, text[1] ? value : next);
    }
    return 0;
}

int options_parse(struct options *options, const struct option_row *rows, unsigned row_count, uint64_t allowed, bool stop,
                  int count, char **arguments) {
    *options = (struct options){.operands = arguments};
    for (int i = 0; i < count; i++) {
        char *text = arguments[i];
        if (text[0] != '-' || !text[1] || is_number(text)) {
            arguments[options->operand_count++] = text;
            if (!stop) continue;
            text = NULL;
        } else if (strcmp(text, "--") == 0) {
            text = NULL;
        }
        if (!text) { /* the rest are operands */
            while (++i < count) arguments[options->operand_count++] = arguments[i];
            break;
        }
        const char *next = i + 1 < count ? arguments[i + 1] : NULL;
        bool used = false;
        int rc = text[1] == '-' ? take_long(options, rows, row_count, allowed, text + 2, next, &used)
                                : take_short(options, rows, row_count, allowed, text + 1, next, &used);
        if (rc) return rc;
        i += used;
    }
    return 0;
}

int options_uint(struct options *options, const struct option_row *rows, unsigned row, uint64_t most, uint64_t fallback,
                 uint64_t *value) {
    *value = fallback;
    const char *text = options->values[row];
    if (!text) return 0;
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || number > most) {
        snprintf(options->message, sizeof options->message, "--%s %.40s: not a whole number from 0 to %llu",
                 rows[row].name, text, (unsigned long long)most);
        return -1;
    }
    *value = number;
    return 0;
}
