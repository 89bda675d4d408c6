/* Writing a table of opcodes into /lib. Relies on caps.h. A signature is split as the language splits it: at commas outside of
 * brackets. Promises: the stamp is written last, so a half-registered table is registered again. */
#include "core/caps.h"

#include <stdio.h>
#include <string.h>

#include "core/tree_value.h"

static uint64_t stamp_of(const struct native_row *rows, uint32_t count) {
    uint64_t hash = UINT64_C(1469598103934665603);
    for (uint32_t i = 0; i < count; i++) {
        const char *parts[3] = { rows[i].name, rows[i].signature, rows[i].doc };
        for (int p = 0; p < 3; p++) {
            for (const char *c = parts[p]; c && *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
        }
    }
    return hash ^ count;
}

/* Appends `/[0,column]`. By hand: every start writes some hundred of these. */
static void column_append(char *at, int column) {
    char digits[12];
    unsigned count = 0, number = column < 0 ? (unsigned)-column : (unsigned)column;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    memcpy(at, "/[0,", 4);
    at += 4;
    if (column < 0) *at++ = '-';
    while (count) *at++ = digits[--count];
    memcpy(at, "]", 2);
}

/* The parameters in one pair of parentheses, from `*at`; written to the columns +1, +2… or -1, -2… of row 0. Rows know
 * variadic parameters but no optional ones: what may be left out (behind `least`) is written as one variadic parameter. */
static int parameters_write(struct core *core, const char *key, const char **at, int sign, uint32_t least, uint32_t *count, uint32_t *variadic) {
    const char *begin = strchr(*at, '(');
    *count = 0;
    if (!begin) return 0;
    const char *from = ++begin;
    int depth = 0;
    char place[KVSPACE_KEY_MAX + 1], text[300];
    size_t key_bytes = strlen(key);
    memcpy(place, key, key_bytes);
    for (const char *c = begin;; c++) {
        if (*c == '[' || *c == '(') depth++;
        if (*c == ']' || (*c == ')' && depth > 0)) depth--;
        else if (!*c || ((*c == ',' || *c == ')') && depth == 0)) {
            while (*from == ' ') from++;
            const char *end = c;
            while (end > from && end[-1] == ' ') end--;
            if (end > from && *count <= least) {
                bool dots = end - from > 3 && memcmp(end - 3, "...", 3) == 0, optional = *count == least && !dots;
                column_append(place + key_bytes, sign * (int)++*count);
                if (optional) snprintf(text, sizeof text, "%.*s...", (int)(end - from), from);
                int rc = optional ? kvspace_set_word(core->space, place, "param", text, strlen(text))
                                  : kvspace_set_word(core->space, place, "param", from, (size_t)(end - from));
                if (rc) return tree_fault(&core->heap, core->space, rc, "register", place);
                if (dots || optional) *variadic = 1;
            }
            from = c + 1;
            if (*c != ',') {
                *at = *c ? c + 1 : c;
                return 0;
            }
        }
    }
}

/* The signature that stands at an opcode's key, as `(a:int64) -> (b:int64)`. */
static void signature_there(struct core *core, const char *key, const uint32_t head[4], char *out, size_t capacity) {
    char place[KVSPACE_KEY_MAX + 32], text[300];
    size_t used = (size_t)snprintf(out, capacity, "(");
    for (uint32_t i = 0; i < head[0] + head[1] && used < capacity; i++) {
        bool reads = i < head[0];
        if (i == head[0]) used += (size_t)snprintf(out + used, capacity - used, ") -> (");
        if (used >= capacity) return;
        snprintf(place, sizeof place, "%s/[0,%d]", key, reads ? -(int)i - 1 : (int)(i - head[0]) + 1);
        if (kvspace_get_text(core->space, place, text, sizeof text, NULL)) text[0] = 0;
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", i && i != head[0] ? ", " : "", text);
    }
    if (used < capacity) snprintf(out + used, capacity - used, "%s)", head[1] ? "" : ") -> (");
}

/* Somebody else may have been there first: then the signatures must be the same. The standard tables have no `‥owner`, which
 * saves a key each at every start. */
static int opcode_conflict(struct core *core, const struct native_row *row, const char *key, const char *owner) {
    char place[KVSPACE_KEY_MAX + 16], there[1200], other[64];
    struct kvspace_value value;
    uint32_t head[4];
    if (kvspace_get(core->space, key, &value) || strcmp(value.type, "def rwir") != 0 || value.body_bytes < sizeof head) return 0;
    memcpy(head, value.body, sizeof head);
    snprintf(place, sizeof place, "%s/‥owner", key);
    if (kvspace_get_text(core->space, place, other, sizeof other, NULL)) snprintf(other, sizeof other, "the standard runtime, or a program,");
    if (strcmp(other, owner) == 0) return 0;
    signature_there(core, key, head, there, sizeof there);
    if (strcmp(there, row->signature) == 0) return 0;
    return fault(&core->heap, ERROR_ROUTE, "%s registers %s%s, but %s has registered it as %s%s", owner, row->name, row->signature, other, row->name, there);
}

static int opcode_write(struct core *core, const struct native_row *row, const char *owner) {
    char key[KVSPACE_KEY_MAX + 1], doc[KVSPACE_KEY_MAX + 16];
    uint32_t head[4] = { 0, 0, 0, 0 };
    const char *at = row->signature;
    if (snprintf(key, sizeof key, "/lib/%s", row->name) > KVSPACE_KEY_MAX - 32) return fault(&core->heap, ERROR_VALUE, "the opcode's name %.40s… is too long", row->name);
    int rc = owner ? opcode_conflict(core, row, key, owner) : 0;
    if (rc) return rc;
    rc = parameters_write(core, key, &at, -1, row->least, &head[0], &head[2]);
    uint32_t ignored = 0;
    if (!rc) rc = parameters_write(core, key, &at, 1, UINT32_MAX - 1, &head[1], &ignored);
    if (rc) return rc;
    snprintf(doc, sizeof doc, "%s/‥doc", key);
    rc = kvspace_set_text(core->space, doc, row->doc ? row->doc : "");
    if (owner && !rc) {
        snprintf(doc, sizeof doc, "%s/‥owner", key);
        rc = kvspace_set_text(core->space, doc, owner);
    }
    if (!rc) rc = kvspace_set_word(core->space, key, "def rwir", head, sizeof head);
    return rc ? tree_fault(&core->heap, core->space, rc, "register", key) : 0;
}

int caps_register(struct core *core, const char *owner, bool standard, const struct native_row *rows, uint32_t count) {
    char key[300];
    uint64_t stamp = stamp_of(rows, count), there = 0;
    snprintf(key, sizeof key, "/lib/‥caps/‥%s", owner);
    if (kvspace_get_u64(core->space, key, &there) == 0 && there == stamp) return 0;
    for (uint32_t i = 0; i < count; i++) {
        int rc = opcode_write(core, &rows[i], standard ? NULL : owner);
        if (rc) return rc;
    }
    int rc = kvspace_set_u64(core->space, key, stamp);
    return rc ? tree_fault(&core->heap, core->space, rc, "register", key) : 0;
}
