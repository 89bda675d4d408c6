/* Rows that somebody edited by hand: whatever stands in the slots of a function, running it ends with a result, an error of
 * the program, or the limit of steps, and the space stays usable. The first byte chooses a program, each four bytes after it edit one slot.
 * Relies on kvlang.h and on docs/rows.md. A broken promise aborts, which the drivers record. */
#include <kvlang/kvlang.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const programs[] = {
    "rwfunc f(n:int64) -> (s:int64) { 0 -> s\n for (i in range(n)) { if (i % 2 == 0) { s + i -> s } else { s - 1 -> s } } }",
    "rwfunc g(a:[]int64, i:int64) -> (v:int64) { a[i] -> v\n a[0] -> w\n v + w -> v }\n"
    "rwfunc f(n:int64) -> (s:int64) { x:[4]int64 = [1, 2, 3, 4]\n x[1] = n\n array·append(x, 5) -> y\n g(y, 2) -> s\n y[0] = s }",
    "rwfunc f(n:int64) -> (s:[]char/utf32) { m = {a=1; b={c=[1, 2]}}\n m·b·c[1] = n\n m·k = \"text\"\n s = m·k + \"!\"\n for (k, v in m) { s + k -> s }\n"
    " p = &m·b\n p·z = 3\n string·split(s, \"e\") -> parts\n map·del(m, \"a\") -> m }",
    "struct P { x:float64 = 0.0; y:float64 = 1.0 }\nrwfunc h(p:*P, d:float64) -> (r:float64) { p·x = d\n *p -> q\n q·x × 2.0 -> r }\n"
    "rwfunc f(n:int64) -> (r:float64) { p = P{x=2.0}\n h(&p, 3.5) -> r\n while (r < 100.0) { r × 1.5 -> r } }",
    "rwfunc down(n:int64, acc:int64) -> (r:int64) { if (n == 0) { acc -> r } else { down(n - 1, acc + n) -> r } }\n"
    "rwfunc deep(n:int64) -> (r:int64) { if (n < 1) { 0 -> r } else { deep(n - 1) + 1 -> r } }\n"
    "rwfunc f(n:int64) -> (r:int64) { down(n, 0) -> a\n deep(n) -> b\n kv·incr(\"/c\", a) -> r\n /t·k = b\n r + /t·k -> r }",
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static const char *const opcodes[] = {
    "set", "goto", "br", "return", "call", "tailcall", "next", "member", "key", "index", "setmember", "setkey", "setindex", "put", "load", "store",
    "addr", "list", "newarray", "fillarray", "newmap", "newstruct", "check", "callspread", "add", "sub", "mul", "div", "mod", "eq", "lt", "and",
    "not", "neg", "shl", "array·append", "array·slice", "string·slice", "string·join", "map·keys", "range", "kv·get", "kv·set", "kv·cas", "random·int63", "nothing",
};
enum { OPCODES = sizeof opcodes / sizeof *opcodes };

static const char *const names[] = {"n", "s", "r", "a", "m", "x", "p", "‥1", "‥2", "new", "_", ""};
enum { NAMES = sizeof names / sizeof *names };

static const char *const literals[] = {
    "0", "1", "-1", "7", "1000000", "9223372036854775807", "1.5", "true", "\"a\"", "\"/t\"", "\"[]int64\"", "\"[2,2]float32\"", "\"[]char/utf8·any\"", "\"·*[1]\"", "\"[9]\"",
    "[1,2]", "[[1,2],[3,4]]", "int8(3)", "uint64(18446744073709551615)", "&/lib/f", "&/lib/nothing", "&/t", "\"\"", "[1.5]",
};
enum { LITERALS = sizeof literals / sizeof *literals };

static void broken(const char *promise, const char *detail) {
    fprintf(stderr, "broken promise: %s: %s\n", promise, detail);
    abort();
}

/* The function of that number below /lib that has rows; its key into `key`. */
static uint32_t function_rows(kvspace *space, unsigned wanted, char *key, size_t capacity) {
    static const char *const functions[] = {"f", "g", "h", "down", "deep"};
    struct kvspace_value value;
    uint32_t head[4];
    for (unsigned i = 0; i < 5; i++) {
        snprintf(key, capacity, "/lib/%s", functions[(wanted + i) % 5]);
        if (kvspace_get(space, key, &value) || value.body_bytes < sizeof head || strcmp(value.type, "rwfunc") != 0) continue;
        memcpy(head, value.body, sizeof head);
        return head[3];
    }
    return 0;
}

static void edit(kvspace *space, const uint8_t bytes[4]) {
    char key[64], function[32];
    uint32_t rows = function_rows(space, bytes[0] >> 5, function, sizeof function);
    if (!rows) return;
    uint32_t row = bytes[0] % (rows + 1); /* row 0 is the signature */
    int column = (int)(bytes[1] % 9) - 4;
    snprintf(key, sizeof key, "%s/[%u,%d]", function, row, column);
    switch (bytes[2] % 5) {
    case 0: kvspace_set_word(space, key, "opcode", opcodes[bytes[3] % OPCODES], strlen(opcodes[bytes[3] % OPCODES])); break;
    case 1: kvspace_set_word(space, key, "name", names[bytes[3] % NAMES], strlen(names[bytes[3] % NAMES])); break;
    case 2: kvspace_set_i64(space, key, bytes[3]); break;
    case 3: kvspace_set_literal(space, key, literals[bytes[3] % LITERALS], strlen(literals[bytes[3] % LITERALS]), NULL); break;
    default: kvspace_del_tree(space, key, NULL); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static kvlang *lang;
    static unsigned runs;
    char problem[256] = "";
    if (lang && ++runs % 200 == 0) { /* a space does not grow for ever */
        kvlang_close(lang);
        lang = NULL;
    }
    if (!lang && kvlang_open(&(struct kvlang_options){.bare = 1, .depth_limit = 2000, .problem = problem}, &lang)) broken("a runtime opens", problem);
    if (!size) return 0;
    kvspace *space = kvlang_space(lang);
    static const char *const made[] = {"/lib/f", "/lib/g", "/lib/h", "/lib/down", "/lib/deep", "/lib/P", "/t", "/c"};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++) kvspace_del_tree(space, made[i], NULL);
    if (kvlang_lay_out(lang, "fuzz.kv", programs[data[0] % PROGRAMS], 0, NULL, NULL)) broken("the program lays out", kvlang_message(lang));
    for (size_t at = 1; at + 4 <= size && at < 4 * 16; at += 4) edit(space, data + at);

    struct kvspace_value argument = kvspace_value_i64(5);
    enum kvlang_status status;
    uint64_t vid;
    char *text = NULL;
    int rc = kvlang_start(lang, "f", &argument, 1, &vid);
    if (rc) return 0; /* the head was edited */
    rc = kvlang_run(lang, vid, 3000, &status);
    if (rc) broken("a vthread runs", kvlang_message(lang));
    if (status == KVLANG_FAILED) {
        if (kvlang_failure_text(lang, vid, &text) || !strstr(text, "Error: ")) broken("an error is shown", text ? text : kvlang_message(lang));
        free(text);
    }
    if (kvlang_remove(lang, vid)) broken("a vthread is removed", kvlang_message(lang));
    return 0;
}
