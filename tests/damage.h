/* A space's image that tests break on purpose, and what is asked of a broken one: never a crash, a hang or a loop; every call
 * gives a code with a message; what a repair calls whole is whole, takes writes, and stays whole when it is opened anew.
 * Relies on kvspace.h alone. For unit/damage_test.c and fuzz/codec_fuzz.c. */
#ifndef KVLANG_TESTS_DAMAGE_H
#define KVLANG_TESTS_DAMAGE_H

#include <kvspace/kvspace.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAMAGE_DOT "\xc2\xb7"
enum { DAMAGE_ENTRIES_MAX = 20000, DAMAGE_DEPTH_MAX = 40 };

/* Some of everything: scalars, texts, arrays small and big, containers, many children, deep keys, deleted ones, an overlay. */
static inline int damage_populate(kvspace *space) {
    static char big[200000];
    char key[200];
    int rc = 0;
    for (size_t i = 0; i < sizeof big; i++) big[i] = (char)('a' + i % 26);
    for (int i = 0; i < 40 && !rc; i++) {
        snprintf(key, sizeof key, "/many/child%d", i);
        rc = kvspace_set_i64(space, key, i);
    }
    for (int i = 0; i < 40 && !rc; i += 3) {
        snprintf(key, sizeof key, "/many/child%d", i);
        rc = kvspace_del(space, key);
    }
    for (int i = 0; i < 12 && !rc; i++) {
        struct kvspace_value text = kvspace_value_utf8(big, (size_t)1 << i);
        snprintf(key, sizeof key, "/texts/t%d/deep/deeper", i);
        rc = kvspace_set(space, key, &text);
    }
    struct kvspace_value bytes = kvspace_value_utf8(big, sizeof big);
    if (!rc) rc = kvspace_set(space, "/big/one", &bytes);
    if (!rc) rc = kvspace_set(space, "/big/two", &bytes);
    if (!rc) rc = kvspace_del(space, "/big/two");
    if (!rc) rc = kvspace_cp(space, "/texts/t9/deep/deeper", "/copies/of/t9");
    if (!rc) rc = kvspace_set_literal(space, "/box", "{a=1,b=\"text\",c={d=[1,2,3],e=2.5}}", 34, NULL);
    if (!rc) rc = kvspace_extindex(space, "/over", "/box");
    if (!rc) rc = kvspace_set_i64(space, "/over" DAMAGE_DOT "a", 2);
    if (!rc) rc = kvspace_set_pointer(space, "/pointer", "/box" DAMAGE_DOT "b");
    return rc;
}

static inline int damage_ignore(void *context, const char *bytes, size_t count) {
    (void)bytes;
    *(size_t *)context += count;
    return *(size_t *)context > (size_t)1 << 26;
}

/* Reads all that is below a key. `left` bounds the work: cycles end, and so do tables that claim to be endless. */
static inline void damage_read(kvspace *space, const char *key, unsigned depth, unsigned *left) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_value value;
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    char below[KVSPACE_KEY_MAX + 1];
    volatile unsigned char sum = 0;
    if (!kvspace_get(space, key, &value))
        for (uint64_t i = 0; i < value.body_bytes; i++) sum = (unsigned char)(sum + ((const unsigned char *)value.body)[i]);
    if (depth == DAMAGE_DEPTH_MAX || kvspace_list_open(space, key, &options, &cursor)) return;
    while (*left && !kvspace_list_next(cursor, &entry)) {
        --*left;
        if (strlen(key) + entry.text_bytes > KVSPACE_KEY_MAX) continue;
        snprintf(below, sizeof below, "%s%s", strcmp(key, "/") == 0 ? "" : key, entry.text);
        damage_read(space, below, depth + 1, left);
    }
    kvspace_list_close(cursor);
}

static inline void damage_count(void *context, const char *fault) {
    if (*fault) ++*(unsigned *)context;
}

/* What a broken space went through; 0, or the number of the question that got a wrong answer. */
static inline int damage_examine(const char *dsn, const char **why) {
    struct kvspace_problem problem = {.message = ""};
    struct kvspace_open_options open = {.create = KVSPACE_CREATE_NEVER, .problem = &problem};
    unsigned faults = 0, left = DAMAGE_ENTRIES_MAX;
    struct kvspace_check_options check = {.report = damage_count, .context = &faults, .faults_max = 50};
    kvspace *space = NULL;
    size_t bytes = 0;
    *why = "an error without a message";
    int rc = kvspace_open_with(dsn, &open, &space);
    if (rc) return *problem.message ? 0 : 1;
    damage_read(space, "/", 0, &left);
    (void)kvspace_export(space, "/", NULL, damage_ignore, &bytes);
    rc = kvspace_check(space, &check);
    *why = "a check that gives faults and no code, or a code and no faults";
    if (rc == KVSPACE_EDAMAGED ? !faults : faults || rc != 0) return 2;
    rc = kvspace_repair(space, NULL);
    *why = "a repair that gives another code";
    if (rc && rc != KVSPACE_EDAMAGED && rc != KVSPACE_EFULL && rc != KVSPACE_ENOSPC) return 3;
    *why = "whole by its repair, not by its check";
    if (!rc && kvspace_check(space, NULL)) return 4;
    int whole = rc == 0;
    left = DAMAGE_ENTRIES_MAX;
    damage_read(space, "/", 0, &left);
    *why = "a repaired space takes no writes";
    if (whole && kvspace_set_text(space, "/after/repair", "a text that is longer than a cell")) return 5;
    if (whole && kvspace_del_tree(space, "/many", NULL)) return 6;
    (void)kvspace_del_tree(space, "/texts", NULL);
    (void)kvspace_set_i64(space, "/after/i", 1);
    *why = "a repaired space is damaged by writes";
    if (whole && kvspace_check(space, NULL)) return 7;
    kvspace_close(space);
    rc = kvspace_open_with(dsn, &open, &space);
    *why = "a repaired space is damaged when it is opened anew";
    if (rc) return whole ? 8 : 0;
    rc = kvspace_check(space, NULL);
    kvspace_close(space);
    return whole && rc ? 9 : 0;
}

#endif
