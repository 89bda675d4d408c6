/* Type expressions and the table of kinds: what parses to what, what does not and why, and what takes what.
 * The tables are the documentation of matching: each row is one sentence of typexpr.h or of language.md §3.
 * Promise: every error row checks code, byte position and the words of the message that a user needs. */
#include "kvspace/typexpr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BUFFER_BYTES = 4096 };

static const struct typexpr *parse(const char *text, uint64_t *buffer) {
    struct typexpr_error error;
    int rc = typexpr_parse(text, strlen(text), buffer, BUFFER_BYTES, &error);
    if (rc) fail_msg("%s: %s at %zu", text, error.message, error.position);
    return (const struct typexpr *)(const void *)buffer;
}

/* ---- kinds ---- */

static void every_kind_is_found_by_its_name(void **state) {
    (void)state;
    for (unsigned kind = KIND_NONE + 1; kind < KIND_COUNT; kind++) {
        const char *name = kind_name(kind);
        assert_int_equal(kind_from_name(name, strlen(name)), kind);
        assert_int_equal(kind_from_name(name, strlen(name) - 1) == (enum kv_kind)kind, 0);
        assert_true(strlen(name) <= KIND_NAME_MAX);
        assert_true(kind_size(kind) >= 1 && kind_size(kind) <= 8);
    }
    assert_int_equal(kind_from_name("", 0), KIND_NONE);
    assert_int_equal(kind_from_name("int65", 5), KIND_NONE);
    assert_int_equal(kind_from_name("int640", 6), KIND_NONE);
    assert_int_equal(kind_size(4711), 0);
    assert_string_equal(kind_name(4711), "");
}

static void kinds_know_what_they_hold(void **state) {
    (void)state;
    assert_true(kind_holds_int64(KIND_INT8, -128));
    assert_false(kind_holds_int64(KIND_INT8, -129));
    assert_false(kind_holds_int64(KIND_INT8, 128));
    assert_true(kind_holds_int64(KIND_INT64, INT64_MIN));
    assert_true(kind_holds_int64(KIND_UINT8, 255));
    assert_false(kind_holds_int64(KIND_UINT8, 256));
    assert_false(kind_holds_int64(KIND_UINT64, -1));
    assert_true(kind_holds_uint64(KIND_UINT64, UINT64_MAX));
    assert_false(kind_holds_uint64(KIND_INT64, (uint64_t)INT64_MAX + 1));
    assert_true(kind_holds_uint64(KIND_INT16, 32767));
    assert_false(kind_holds_uint64(KIND_INT16, 32768));
    assert_false(kind_holds_int64(KIND_FLOAT64, 0));
    assert_false(kind_holds_int64(KIND_NONE, 0));
}

static void misspelt_kinds_get_a_suggestion(void **state) {
    (void)state;
    assert_int_equal(kind_nearest("flaot32", 7), KIND_FLOAT32);
    assert_int_equal(kind_nearest("itn64", 5), KIND_INT64);
    assert_int_equal(kind_nearest("char/uft8", 9), KIND_CHAR_UTF8);
    assert_int_equal(kind_nearest("Point", 5), KIND_NONE);
    assert_int_equal(kind_nearest("x", 1), KIND_NONE);
    assert_string_equal(kind_family_suggestion("string", 6), "[]char/utf32");
    assert_null(kind_family_suggestion("strin", 5));
}

/* ---- parsing and printing ---- */

static const struct {
    const char *text, *canonical; /* NULL: the text is canonical */
} printed[] = {
    {"int64", NULL}, {"bool", NULL}, {"float8/e4m3", NULL}, {"char/utf32", NULL}, {"time", NULL}, {"any", NULL},
    {"[]int64", NULL}, {"[.]int64", "[]int64"}, {"[ . ]int64", "[]int64"}, {"[.,.]int64", NULL}, {"[3]int64", NULL},
    {"[0]int64", NULL}, {"[256,256]float32", NULL}, {"[ 256 , 256 ] float32", "[256,256]float32"}, {"[?]int8", NULL},
    {"[*]int8", NULL}, {"[+]int8", NULL}, {"[.,3,*]int8", NULL}, {"[+,3]bfloat16", NULL}, {"[*]any", NULL},
    {"[1,2,3,4,5,6,7,8]bool", NULL}, {"[9223372036854775807]bool", NULL}, {"int64|float64", NULL},
    {" int64 | float64 ", "int64|float64"}, {"int64|int64", "int64"}, {"int64|float64|int64", "int64|float64"},
    {"*int64", NULL}, {"@[.,.]float32", NULL}, {"* Point", "*Point"}, {"*any|@any", NULL}, {"Point", NULL},
    {"/lib/Point", NULL}, {"/lib/pkg·P", NULL}, {"pkg·P", NULL}, {"pkg.P", "pkg·P"}, {"a/b·P", NULL}, {"/lib/a/b·P", NULL},
    {"Größe", NULL}, {"[]Point", NULL}, {"_x1", NULL}, {"int64·bool", "[int64]·bool"}, {"[int64]·bool", NULL},
    {"[int64].bool", "[int64]·bool"}, {"[]char/utf8·int64", NULL}, {"[.]char/utf8·int64", "[]char/utf8·int64"},
    {"[]char/utf32·any", NULL}, {"[ int64 , time ] · any", "[int64,time]·any"}, {"char/utf32·any", "[char/utf32]·any"},
    {"[]char/utf8·[]char/utf8·[int64]·[]float32", NULL}, {"int64·int64·int64", "[int64]·[int64]·int64"},
    {"int64|[]char/utf8·int64|bool", NULL}, {"*[]char/utf8·any", NULL}, {"duration·/lib/Point", "[duration]·/lib/Point"},
    {"rwfunc", NULL}, {"def rwir", NULL}, {"def struct", NULL}, {"opcode", NULL}, {"name", NULL}, {"param", NULL},
    {"none", NULL}, {"definition", NULL}, {"names", NULL}, {"[]name", NULL}, {"int65", NULL}, {"anyone", NULL},
    {"[int64]·int64|int64", "[int64]·int64"},
};

static void types_print_in_one_canonical_form(void **state) {
    (void)state;
    uint64_t buffer[BUFFER_BYTES / 8];
    uint64_t again[BUFFER_BYTES / 8];
    for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++) {
        const char *wanted = printed[i].canonical ? printed[i].canonical : printed[i].text;
        const struct typexpr *type = parse(printed[i].text, buffer);
        assert_true(type->bytes <= typexpr_bound(strlen(printed[i].text)));
        char out[512];
        assert_int_equal(typexpr_print(type, out, sizeof out), strlen(wanted));
        assert_string_equal(out, wanted);
        const struct typexpr *second = parse(out, again);
        assert_int_equal(second->bytes, type->bytes);
        assert_memory_equal(second, type, type->bytes);
        assert_true(typexpr_equal(type, second));
    }
}

static void printing_is_cut_at_whole_code_points(void **state) {
    (void)state;
    uint64_t buffer[BUFFER_BYTES / 8];
    const struct typexpr *type = parse("ab·c", buffer);
    char out[8];
    assert_int_equal(typexpr_print(type, out, 4), 5); /* room for "ab" and half of the dot */
    assert_string_equal(out, "ab");
    assert_int_equal(typexpr_print(type, out, 6), 5);
    assert_string_equal(out, "ab·c");
    assert_int_equal(typexpr_print(type, NULL, 0), 5);
}

static const struct {
    const char *text;
    int code;
    size_t position;
    const char *words; /* of the message */
} refused[] = {
    {"", TYPEXPR_ESYNTAX, 0, "expected a type"},
    {"  ", TYPEXPR_ESYNTAX, 2, "ends here"},
    {"int", TYPEXPR_EKIND, 0, "int is not a kind; did you mean int64?"},
    {"uint", TYPEXPR_EKIND, 0, "uint64"},
    {"float", TYPEXPR_EKIND, 0, "float64"},
    {"char", TYPEXPR_EKIND, 0, "char/utf32"},
    {"string", TYPEXPR_EKIND, 0, "[]char/utf32"},
    {"num", TYPEXPR_EKIND, 0, "int64|float64"},
    {"[]float", TYPEXPR_EKIND, 2, "float64"},
    {"*int", TYPEXPR_EKIND, 1, "int64"},
    {"int64|string", TYPEXPR_EKIND, 6, "[]char/utf32"},
    {"char/utf16", TYPEXPR_EKIND, 0, "did you mean char/utf32?"},
    {"float8/e4m4", TYPEXPR_EKIND, 0, "did you mean float8/e4m3?"},
    {"a/b", TYPEXPR_EKIND, 0, "neither a kind nor a struct"},
    {"int64|", TYPEXPR_ESYNTAX, 6, "ends here"},
    {"|int64", TYPEXPR_ESYNTAX, 0, "found \"|\""},
    {"int64 float64", TYPEXPR_ESYNTAX, 6, "found \"float64\""},
    {"int64]", TYPEXPR_ESYNTAX, 5, "found \"]\""},
    {"[int64", TYPEXPR_ESYNTAX, 6, "\",\" or \"]\""},
    {"[int64]", TYPEXPR_ESYNTAX, 7, "after a map key"},
    {"[int64]int64", TYPEXPR_ESYNTAX, 7, "after a map key"},
    {"[]", TYPEXPR_ESYNTAX, 2, "ends here"},
    {"[", TYPEXPR_ESYNTAX, 1, "an axis"},
    {"[,]int64", TYPEXPR_ESYNTAX, 1, "an axis"},
    {"[1,]int64", TYPEXPR_ESYNTAX, 3, "an axis"},
    {"[1 2]int64", TYPEXPR_ESYNTAX, 3, "found \"2\""},
    {"[-1]int64", TYPEXPR_ESYNTAX, 1, "found \"-\""},
    {"[01]int64", TYPEXPR_ESYNTAX, 1, "leading zero"},
    {"[?,?]int64", TYPEXPR_ESYNTAX, 3, "at most one of ? * +"},
    {"[*,3,+]int64", TYPEXPR_ESYNTAX, 5, "at most one of ? * +"},
    {"[1,2,3,4,5,6,7,8,9]int64", TYPEXPR_ELIMIT, 17, "at most 8 axes"},
    {"[9223372036854775808]bool", TYPEXPR_ELIMIT, 1, "2^63-1"},
    {"[99999999999999999999999]bool", TYPEXPR_ELIMIT, 1, "2^63-1"},
    {"[4294967296,4294967296]int8", TYPEXPR_ELIMIT, 0, "2^63-1 bytes"},
    {"[1152921504606846976]float64", TYPEXPR_ELIMIT, 0, "2^63-1 bytes"},
    {"[0,4294967296,4294967296]int8", TYPEXPR_ELIMIT, 0, "2^63-1 bytes"},
    {"**int64", TYPEXPR_ESYNTAX, 1, "use *any"},
    {"@*int64", TYPEXPR_ESYNTAX, 1, "use *any"},
    {"*", TYPEXPR_ESYNTAX, 1, "ends here"},
    {"*|int64", TYPEXPR_ESYNTAX, 1, "found \"|\""},
    {"any·int64", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"[]int64·int64", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"[3]char/utf8·int64", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"[.,.]char/utf8·int64", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"[*]char/utf8·int64", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"float16·int64", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"[bfloat16]·int64", TYPEXPR_ESYNTAX, 1, "a scalar kind as map key"},
    {"[int]·int64", TYPEXPR_ESYNTAX, 1, "a scalar kind as map key"},
    {"[int64,]·int64", TYPEXPR_ESYNTAX, 7, "a scalar kind as map key"},
    {"[bool,bool,bool,bool,bool,bool,bool,bool,bool]·any", TYPEXPR_ELIMIT, 41, "at most 8 parts"},
    {"int64·", TYPEXPR_ESYNTAX, 7, "ends here"},
    {"Point·[int64]", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"a·b·c", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"a·", TYPEXPR_ESYNTAX, 0, "a map key is"},
    {"·int64", TYPEXPR_ESYNTAX, 0, "expected a type"},
    {"int64...", TYPEXPR_ESYNTAX, 6, "expected a type"},
    {"/", TYPEXPR_ESYNTAX, 0, "expected a type"},
    {"//lib", TYPEXPR_ESYNTAX, 0, "expected a type"},
    {"1int", TYPEXPR_ESYNTAX, 0, "found \"1\""},
    {"int64\n", TYPEXPR_ESYNTAX, 5, "byte 0x0a"},
    {"int64\xff", TYPEXPR_ESYNTAX, 5, "byte 0xff"},
    {"‥x", TYPEXPR_ESYNTAX, 0, "found \"‥\""},
};

static void bad_types_say_what_and_where(void **state) {
    (void)state;
    uint64_t buffer[BUFFER_BYTES / 8];
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct typexpr_error error;
        int rc = typexpr_parse(refused[i].text, strlen(refused[i].text), buffer, sizeof buffer, &error);
        if (rc != refused[i].code || error.position != refused[i].position || !strstr(error.message, refused[i].words))
            fail_msg("\"%s\": code %d at %zu: %s", refused[i].text, rc, error.position, error.message);
        assert_int_equal(rc, error.code);
        assert_int_equal(typexpr_parse(refused[i].text, strlen(refused[i].text), buffer, sizeof buffer, NULL), rc);
    }
}

static void limits_are_errors(void **state) {
    (void)state;
    static char text[2 * TYPEXPR_TEXT_MAX];
    static uint64_t buffer[(64 + 24 * sizeof text) / 8];
    struct typexpr_error error;
    char *end = text;
    for (int i = 0; i < TYPEXPR_DEPTH_MAX; i++) end += sprintf(end, "int64·");
    strcpy(end, "any");
    assert_int_equal(typexpr_parse(text, strlen(text), buffer, sizeof buffer, NULL), TYPEXPR_OK);
    strcpy(end, "bool·any");
    assert_int_equal(typexpr_parse(text, strlen(text), buffer, sizeof buffer, &error), TYPEXPR_ELIMIT);
    assert_non_null(strstr(error.message, "32 deep"));
    end = text;
    for (int i = 0; i < TYPEXPR_UNION_MAX; i++) end += sprintf(end, "%sS%d", i ? "|" : "", i);
    assert_int_equal(typexpr_parse(text, strlen(text), buffer, sizeof buffer, NULL), TYPEXPR_OK);
    strcpy(end, "|T");
    assert_int_equal(typexpr_parse(text, strlen(text), buffer, sizeof buffer, &error), TYPEXPR_ELIMIT);
    memset(text, 'a', sizeof text);
    assert_int_equal(typexpr_parse(text, TYPEXPR_TEXT_MAX, buffer, sizeof buffer, NULL), TYPEXPR_OK);
    assert_int_equal(typexpr_parse(text, TYPEXPR_TEXT_MAX + 1, buffer, sizeof buffer, &error), TYPEXPR_ELIMIT);
    memset(text, '*', sizeof text);
    assert_int_equal(typexpr_parse(text, TYPEXPR_TEXT_MAX, buffer, sizeof buffer, &error), TYPEXPR_ESYNTAX);
}

static void a_small_buffer_is_an_error_at_every_size(void **state) {
    (void)state;
    static const char text[] = "[.,3]float32|/lib/pkg·P|[int64,bool]·[]char/utf8·any";
    uint64_t buffer[BUFFER_BYTES / 8];
    size_t needed = parse(text, buffer)->bytes;
    for (size_t bytes = 0; bytes < needed; bytes++) {
        uint64_t *exact = malloc(bytes ? bytes : 1); /* for the address sanitizer */
        assert_non_null(exact);
        assert_int_equal(typexpr_parse(text, strlen(text), exact, bytes, NULL), TYPEXPR_ESPACE);
        free(exact);
    }
    assert_int_equal(typexpr_parse(text, strlen(text), buffer, needed, NULL), TYPEXPR_OK);
}

/* ---- matching ---- */

static const struct {
    const char *pattern, *actual;
    bool takes;
} matches[] = {
    /* scalars: the very kind */
    {"int64", "int64", true}, {"int64", "int32", false}, {"int64", "uint64", false}, {"int64", "float64", false},
    {"float32", "float64", false}, {"bool", "bool", true}, {"bool", "int8", false}, {"time", "time", true},
    {"time", "duration", false}, {"duration", "int64", false}, {"char/utf8", "char/utf8", true},
    {"char/utf8", "char/ascii", false}, {"float16", "bfloat16", false}, {"float8/e4m3", "float8/e5m2", false},
    {"float8/e5m2", "float8/e5m2", true}, {"int64", "[]int64", false}, {"int64", "[1]int64", false},
    {"int64", "*int64", false}, {"int64", "@int64", false}, {"int64", "Point", false}, {"int64", "any", false},
    /* any */
    {"any", "int64", true}, {"any", "[3,3]int64", true}, {"any", "*int64", true}, {"any", "@any", true},
    {"any", "Point", true}, {"any", "[int64]·bool", true}, {"any", "any", true}, {"any", "int64|Point", true},
    {"any", "rwfunc", true}, {"any", "none", true}, {"any|int64", "Point", true}, {"int64|any", "[*]any", true},
    {"[]any", "[]int64", true}, {"[]any", "[5]Point", true}, {"[]any", "int64", false}, {"[]any", "any", false},
    {"[]any", "[]any", true}, {"[]any", "[.,.]int8", false}, {"[]any", "[int64]·any", false},
    {"[]any", "*[]int64", false}, {"[*]any", "int64", true}, {"[*]any", "Point", true}, {"[*]any", "[2,2]bool", true},
    {"[*]any", "[]char/utf8·any", false}, {"[*]any", "*int64", false}, {"[*]any", "any", false},
    {"[+]any", "int64", false}, {"[+]any", "[]int64", true}, {"[3]any", "[3]time", true}, {"[3]any", "[4]time", false},
    {"[*]any", "rwfunc", false}, {"[*]any", "none", false},
    /* one axis */
    {"[]int64", "[]int64", true}, {"[]int64", "[.]int64", true}, {"[]int64", "[7]int64", true},
    {"[]int64", "[0]int64", true}, {"[]int64", "int64", false}, {"[]int64", "[2,2]int64", false},
    {"[]int64", "[]int32", false}, {"[7]int64", "[7]int64", true}, {"[7]int64", "[8]int64", false},
    {"[7]int64", "[]int64", false}, {"[7]int64", "int64", false}, {"[0]int64", "[0]int64", true},
    {"[1]int64", "int64", false},
    /* strings are arrays of characters */
    {"[]char/utf32", "[]char/utf32", true}, {"[]char/utf32", "[5]char/utf32", true},
    {"[]char/utf32", "[]char/utf8", false}, {"[]char/utf32", "char/utf32", false},
    {"[]char/utf32|[]char/utf8|[]char/ascii", "[]char/ascii", true},
    /* several axes */
    {"[.,.]float32", "[2,3]float32", true}, {"[.,.]float32", "[.,.]float32", true}, {"[.,.]float32", "[]float32", false},
    {"[.,.]float32", "[2,3,4]float32", false}, {"[.,3]float32", "[2,3]float32", true},
    {"[.,3]float32", "[3,2]float32", false}, {"[.,3]float32", "[.,.]float32", false},
    {"[.,3]float32", "[.,3]float32", true}, {"[2,3]float32", "[2,3]float32", true},
    {"[2,3]float32", "[2,4]float32", false}, {"[2,3]float32", "[2,3]float64", false},
    {"[1,2,3,4,5,6,7,8]bool", "[1,2,3,4,5,6,7,8]bool", true}, {"[.,.,.,.,.,.,.,.]bool", "[1,2,3,4,5,6,7,8]bool", true},
    {"[.,.,.,.,.,.,.]bool", "[1,2,3,4,5,6,7,8]bool", false},
    /* ?: no axis or one */
    {"[?]int64", "int64", true}, {"[?]int64", "[]int64", true}, {"[?]int64", "[9]int64", true},
    {"[?]int64", "[3,3]int64", false}, {"[?]int64", "int32", false}, {"[?]int64", "[?]int64", true},
    {"[?,3]int64", "[3]int64", true}, {"[?,3]int64", "[2,3]int64", true}, {"[?,3]int64", "[3,2]int64", false},
    {"[?,3]int64", "int64", false}, {"[?,3]int64", "[1,2,3]int64", false}, {"[3,?]int64", "[3]int64", true},
    {"[3,?]int64", "[3,9]int64", true}, {"[3,?]int64", "[9,3]int64", false}, {"[.,?]int64", "[]int64", true},
    {"[.,?]int64", "[4]int64", true}, {"[.,?]int64", "int64", false}, {"[?,.]int64", "[4,4]int64", true},
    /* *: any number of axes */
    {"[*]int64", "int64", true}, {"[*]int64", "[]int64", true}, {"[*]int64", "[1,2,3,4,5,6,7,8]int64", true},
    {"[*]int64", "[*]int64", true}, {"[*]int64", "[+]int64", true}, {"[*]int64", "[?]int64", true},
    {"[*]int64", "[.,3]int64", true}, {"[*]int64", "[]int8", false}, {"[*,3]float32", "[3]float32", true},
    {"[*,3]float32", "[5,5,3]float32", true}, {"[*,3]float32", "[3,5]float32", false},
    {"[*,3]float32", "float32", false}, {"[2,*,3]float32", "[2,3]float32", true},
    {"[2,*,3]float32", "[2,9,9,3]float32", true}, {"[2,*,3]float32", "[2]float32", false},
    {"[2,*,2]float32", "[2]float32", false}, {"[2,*]float32", "[2]float32", true}, {"[2,*]float32", "[]float32", false},
    {"[.,*]int8", "[]int8", true}, {"[*,.]int8", "[.,.]int8", true}, {"[.,*]int8", "int8", false},
    /* +: one axis or more */
    {"[+]int64", "int64", false}, {"[+]int64", "[]int64", true}, {"[+]int64", "[2,2]int64", true},
    {"[+]int64", "[+]int64", true}, {"[+]int64", "[*]int64", false}, {"[+]int64", "[?]int64", false},
    {"[+,3]int64", "[3]int64", false}, {"[+,3]int64", "[1,3]int64", true}, {"[+,3]int64", "[9,1,3]int64", true},
    {"[+,3]int64", "[*,3]int64", false}, {"[*,3]int64", "[+,3]int64", true}, {"[.,*]int64", "[+]int64", true},
    {"[+]int64", "[.,*]int64", true}, {"[.,+]int64", "[]int64", false}, {"[+]int64", "[.,?]int64", true},
    /* quantifiers on both sides: every number of axes up to eight has to be taken */
    {"[?]int64", "[*]int64", false}, {"int64|[]int64", "[?]int64", true}, {"int64|[+]int64", "[*]int64", true},
    {"[?]int64|[.,+]int64", "[*]int64", true}, {"[?]int64|[.,.,+]int64", "[*]int64", false},
    {"[.,.,.,.,.,.,.,?]int8", "[.,.,.,.,.,.,.,*]int8", true}, {"[.,.,.,.,.,.,?]int8", "[.,.,.,.,.,.,*]int8", false},
    {"[.,.,.,.,.,.,.,.]int8", "[.,.,.,.,.,.,.,+]int8", true},
    /* unions */
    {"int64|float64", "int64", true}, {"int64|float64", "float64", true}, {"int64|float64", "bool", false},
    {"int64|float64", "float64|int64", true}, {"int64|float64|bool", "float64|int64", true},
    {"int64", "int64|float64", false}, {"int64|[]int64", "[]int64", true}, {"int64|[]int64", "[2,2]int64", false},
    {"Point|int64", "Point", true}, {"*int64|int64", "*int64", true}, {"*int64|int64", "@int64", false},
    {"int64|[int64]·bool", "[int64]·bool", true},
    /* pointers and handles */
    {"*int64", "*int64", true}, {"*int64", "int64", false}, {"*int64", "*int32", false}, {"*int64", "@int64", false},
    {"*any", "*Point", true}, {"*any", "*[]char/utf8·any", true}, {"*any", "@Point", false}, {"*any", "Point", false},
    {"*any", "any", false}, {"*Point", "*any", false}, {"*[]int64", "*[3]int64", true}, {"*[3]int64", "*[]int64", false},
    {"@[.,.]float32", "@[8,8]float32", true}, {"@[.,.]float32", "[8,8]float32", false}, {"@any", "@[8,8]float32", true},
    {"*[]any", "*[]int64", true}, {"*[]char/utf8·any", "*[]char/utf8·int64", true}, {"*[*]any", "*int64", true},
    /* maps */
    {"[]char/utf8·int64", "[]char/utf8·int64", true}, {"[]char/utf8·int64", "[]char/utf8·bool", false},
    {"[]char/utf8·any", "[]char/utf8·bool", true}, {"[]char/utf8·int64", "[]char/utf8·any", false},
    {"[]char/utf8·int64", "[]char/utf32·int64", false}, {"[]char/utf8·int64", "[char/utf8]·int64", false},
    {"int64·bool", "[int64]·bool", true}, {"[int64]·bool", "int64·bool", true}, {"[int64]·bool", "[int32]·bool", false},
    {"[int64,bool]·any", "[int64,bool]·time", true}, {"[int64,bool]·any", "[bool,int64]·time", false},
    {"[int64,bool]·any", "[int64]·time", false}, {"[int64]·any", "[int64,int64]·time", false},
    {"[int64]·any", "[]int64", false}, {"[int64]·any", "Point", false}, {"[int64]·int64|bool", "[int64]·bool", true},
    {"[int64]·bool", "[int64]·int64|bool", false}, {"[int64]·[int64]·any", "[int64]·[int64]·[]bool", true},
    {"[int64]·[int64]·any", "[int64]·bool", false}, {"[int64]·any", "[int64]·[int64]·bool", true},
    {"[int64]·[]any", "[int64]·[2]bool", true},
    /* structs and words */
    {"Point", "Point", true}, {"Point", "/lib/Point", true}, {"/lib/Point", "Point", true}, {"Point", "Pointy", false},
    {"pkg·P", "/lib/pkg·P", true}, {"pkg·P", "P", false}, {"a/b·P", "/lib/a/b·P", true}, {"b·P", "/lib/a/b·P", false},
    {"Point", "[]Point", false}, {"[]Point", "[3]Point", true}, {"Point", "*Point", false}, {"Point", "[int64]·any", false},
    {"rwfunc", "rwfunc", true}, {"rwfunc", "opcode", false}, {"def rwir", "def rwir", true}, {"def rwir", "def struct", false},
    {"name", "/lib/name", false}, {"/lib/name", "name", false}, {"none", "none", true}, {"int64", "none", false},
};

static void the_table_of_matches_holds(void **state) {
    (void)state;
    size_t rows = sizeof matches / sizeof matches[0];
    assert_true(rows >= 150);
    uint64_t left[BUFFER_BYTES / 8];
    uint64_t right[BUFFER_BYTES / 8];
    for (size_t i = 0; i < rows; i++) {
        const struct typexpr *pattern = parse(matches[i].pattern, left);
        const struct typexpr *actual = parse(matches[i].actual, right);
        if (typexpr_match(pattern, actual) != matches[i].takes)
            fail_msg("%s takes %s: expected %d", matches[i].pattern, matches[i].actual, matches[i].takes);
        struct typexpr_actual value;
        if (!typexpr_actual_of(actual, &value)) continue;
        if (typexpr_match_actual(pattern, &value) != matches[i].takes ||
            typexpr_match_actual_slow(pattern, &value) != matches[i].takes)
            fail_msg("%s takes a value of %s: expected %d", matches[i].pattern, matches[i].actual, matches[i].takes);
        char out[256];
        char canonical[256];
        (void)typexpr_print_actual(&value, out, sizeof out);
        (void)typexpr_print(actual, canonical, sizeof canonical);
        assert_string_equal(out, canonical);
    }
}

/* Every type takes itself, any takes it, and a union takes its parts: over all pairs of the tables above. */
static void matching_obeys_its_laws(void **state) {
    (void)state;
    uint64_t left[BUFFER_BYTES / 8];
    uint64_t right[BUFFER_BYTES / 8];
    uint64_t both[BUFFER_BYTES / 8];
    uint64_t any[16];
    assert_int_equal(typexpr_parse("any", 3, any, sizeof any, NULL), 0);
    size_t count = sizeof printed / sizeof printed[0];
    for (size_t i = 0; i < count; i++) {
        const struct typexpr *one = parse(printed[i].text, left);
        assert_true(typexpr_match(one, one));
        assert_true(typexpr_match((const struct typexpr *)(const void *)any, one));
        for (size_t j = 0; j < count; j++) {
            const struct typexpr *other = parse(printed[j].text, right);
            if (strstr(printed[j].text, "·") || strstr(printed[j].text, ".bool")) continue; /* would swallow the union */
            char text[512];
            (void)snprintf(text, sizeof text, "%s|%s", printed[j].text, printed[i].text);
            const struct typexpr *joined = parse(text, both);
            if (!typexpr_match(joined, one) || !typexpr_match(joined, other)) fail_msg("%s does not take its parts", text);
            if (typexpr_match(one, other)) assert_true(typexpr_equal(joined, one));
        }
    }
}

static void none_is_taken_by_any_and_none_only(void **state) {
    (void)state;
    uint64_t buffer[BUFFER_BYTES / 8];
    const struct typexpr_actual none = {0};
    char out[8];
    assert_true(typexpr_match_actual(parse("any", buffer), &none));
    assert_true(typexpr_match_actual(parse("int64|any", buffer), &none));
    assert_true(typexpr_match_actual(parse("none", buffer), &none));
    assert_false(typexpr_match_actual(parse("int64", buffer), &none));
    assert_false(typexpr_match_actual(parse("[*]any", buffer), &none));
    assert_false(typexpr_match_actual(parse("*any", buffer), &none));
    assert_true(typexpr_takes_scalar(parse("any", buffer), KIND_NONE));
    assert_false(typexpr_takes_scalar(parse("[*]any", buffer), KIND_NONE));
    assert_int_equal(typexpr_print_actual(&none, out, sizeof out), 4);
    assert_string_equal(out, "None");
}

static void equality_is_of_meaning(void **state) {
    (void)state;
    uint64_t left[BUFFER_BYTES / 8];
    uint64_t right[BUFFER_BYTES / 8];
    assert_true(typexpr_equal(parse("int64|bool", left), parse("bool|int64", right)));
    assert_true(typexpr_equal(parse("[?]int8", left), parse("int8|[]int8", right)));
    assert_false(typexpr_equal(parse("[?]int8", left), parse("[*]int8", right)));
    assert_false(typexpr_equal(parse("any", left), parse("[*]any", right)));
    assert_int_equal(typexpr_only_kind(parse("time", left)), KIND_TIME);
    assert_int_equal(typexpr_only_kind(parse("*time", left)), KIND_NONE);
    assert_int_equal(typexpr_only_kind(parse("time|bool", left)), KIND_NONE);
    assert_int_equal(typexpr_only_kind(parse("[]time", left)), KIND_NONE);
    assert_true(typexpr_is_any(parse("bool|any", left)));
    assert_false(typexpr_is_any(parse("*any", left)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_found_by_its_name),
        cmocka_unit_test(kinds_know_what_they_hold),
        cmocka_unit_test(misspelt_kinds_get_a_suggestion),
        cmocka_unit_test(types_print_in_one_canonical_form),
        cmocka_unit_test(printing_is_cut_at_whole_code_points),
        cmocka_unit_test(bad_types_say_what_and_where),
        cmocka_unit_test(limits_are_errors),
        cmocka_unit_test(a_small_buffer_is_an_error_at_every_size),
        cmocka_unit_test(the_table_of_matches_holds),
        cmocka_unit_test(matching_obeys_its_laws),
        cmocka_unit_test(none_is_taken_by_any_and_none_only),
        cmocka_unit_test(equality_is_of_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
