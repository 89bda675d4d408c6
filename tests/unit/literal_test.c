/* Literals: what each form means (type, body, text), what is refused and where, and that printing reads back.
 * Also the texts of times and durations, which stand on their own in timetext.h. */
#include "kvspace/literal.h"

#include "kvspace/timetext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct literal_document parse(const char *text) {
    struct literal_document document;
    struct literal_error error;
    if (literal_parse(text, strlen(text), NULL, &document, &error))
        fail_msg("%s: %s at %zu", text, error.message, error.position);
    return document;
}

/* The value printed; the caller frees the buffer. */
static struct text_buffer print(const struct literal *value, const struct literal_print_options *options) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    text_puts(&out, "");
    assert_int_equal(literal_print(&literal_tree_reader, value, options, &out), 0);
    return buffer;
}

/* ---- meaning ---- */

static const struct {
    const char *text, *type, *quoted; /* quoted: as it prints inside a container; NULL: like the text */
} meanings[] = {
    {"None", "", NULL}, {"null", "", "None"}, {"true", "bool", NULL}, {" false ", "bool", "false"},
    {"0", "int64", NULL}, {"42", "int64", NULL}, {"-7", "int64", NULL}, {"+7", "int64", "7"}, {"0xff", "int64", "255"},
    {"-0x10", "int64", "-16"}, {"0b101", "int64", "5"}, {"1_000_000", "int64", "1000000"},
    {"-9223372036854775808", "int64", NULL}, {"9223372036854775808", "uint64", NULL},
    {"18446744073709551615", "uint64", NULL}, {"0xffffffffffffffff", "uint64", "18446744073709551615"},
    {"1.5", "float64", NULL}, {"1e3", "float64", "1000.0"}, {"-2.5E-3", "float64", "-0.0025"}, {"1e+16", "float64", NULL},
    {"inf", "float64", NULL}, {"-inf", "float64", NULL}, {"nan", "float64", NULL}, {"0.1", "float64", NULL},
    {"1.5s", "duration", NULL}, {"250ms", "duration", NULL}, {"1h30m", "duration", "1h30m0s"}, {"-2us", "duration", "-2µs"},
    {"3µs", "duration", NULL}, {"0s", "duration", NULL}, {"7ns", "duration", NULL}, {"90s", "duration", "1m30s"},
    {"2026-12-01T05:38:04Z", "time", NULL}, {"2026-12-01T07:38:04.250+02:00", "time", "2026-12-01T05:38:04.25Z"},
    {"1969-12-31T23:59:59.999999999Z", "time", NULL},
    {"\"text\"", "[]char/utf32", NULL}, {"'it\\'s'", "[]char/utf32", "\"it's\""}, {"\"\"", "[]char/utf32", NULL},
    {"\"a\\n\\t\\r\\0\\\\\\\"\\x41\\u{1F600}é\"", "[]char/utf32", "\"a\\n\\t\\r\\0\\\\\\\"A😀é\""},
    {"\"\"\"one\ntwo \"quoted\" \\x21\"\"\"", "[]char/utf32", "\"one\\ntwo \\\"quoted\\\" !\""},
    {"`raw \\n stays`", "[]char/utf32", "\"raw \\\\n stays\""}, {"r#\"a \"b\" c\"#", "[]char/utf32", "\"a \\\"b\\\" c\""},
    {"r##\"x\"#y\"##", "[]char/utf32", "\"x\\\"#y\""}, {"\"\\u{202e}\\x07\\x85\"", "[]char/utf32", "\"\\u{202e}\\x07\\x85\""},
    {"/n1·next", "*any", NULL}, {"&/n1", "*any", "/n1"}, {"&\"/a b\"", "*any", NULL}, {"/lib/math·add/[1,0]", "*any", NULL},
    {"[1, 2, 3]", "[3]int64", NULL}, {"[1,2,3,]", "[3]int64", "[1, 2, 3]"}, {"[[1, 2], [3, 4]]", "[2,2]int64", NULL},
    {"[1, 2.5]", "[2]float64", "[1.0, 2.5]"}, {"[true, false]", "[2]bool", NULL}, {"[1s, 2ms]", "[2]duration", NULL},
    {"[18446744073709551615, 0]", "[2]uint64", NULL}, {"[[[1]], [[2]]]", "[2,1,1]int64", NULL},
    {"[int8(1), int8(2)]", "[2]int8", "[1, 2]"}, {"[int8(1), 2]", "[2]int64", "[1, 2]"},
    {"[float32(0.1), 1]", "[2]float64", "[0.10000000149011612, 1.0]"}, {"[uint8(200), int8(-1)]", "[2]int8", "[-56, -1]"},
    {"[-inf, nan, 1e300]", "[3]float64", "[-inf, nan, 1e+300]"},
    {"{}", "[]char/utf8·any", NULL}, {"{a=1; b=[1,2]}", "[]char/utf8·any", "{a=1, b=[1, 2]}"},
    {"{a=1, b=2,}", "[]char/utf8·any", "{a=1, b=2}"}, {"{\n a = 1\n b = 2\n}", "[]char/utf8·any", "{a=1, b=2}"},
    {"{1, 2}", "[int64]·any", "{0=1, 1=2}"}, {"{\"a\", \"b\"}", "[int64]·any", "{0=\"a\", 1=\"b\"}"},
    {"{0=\"a\", 1=\"b\"}", "[int64]·any", NULL}, {"{[1,2]=7}", "[int64,int64]·any", NULL},
    {"{[1,true]=7, [2,false]=8}", "[int64,bool]·any", NULL}, {"{\"two words\"=1, über=2}", "[]char/utf8·any", NULL},
    {"{\"if\"=1, \"true\"=2, \"nan\"=3}", "[]char/utf8·any", NULL}, {"{true=1, false=0}", "[bool]·any", NULL},
    {"{1s=1}", "[duration]·any", NULL}, {"{-5=1, 1.5s=2}", NULL, NULL}, {"{a={b={c={}}}}", "[]char/utf8·any", NULL},
    {"{a=None, p=/n1, s=\"x\"}", "[]char/utf8·any", NULL}, {"{[1]=2}", "[int64]·any", "{1=2}"},
    {"Point{x=1.0; y=2}", "/lib/Point", "Point{x=1.0, y=2}"}, {"pkg·P{}", "/lib/pkg·P", "P{}"},
    {"pkg.P{a=1}", "/lib/pkg·P", "P{a=1}"}, {"/lib/pkg·P{a=1}", "/lib/pkg·P", "P{a=1}"}, {"{p=Point{x=1}}", "[]char/utf8·any", NULL},
    {"int8(3)", "int8", "3"}, {"int8(300)", "int8", "44"}, {"int64(3.9)", "int64", "3"}, {"int8(-3.9)", "int8", "-3"},
    {"uint8(-1)", "uint8", "255"}, {"float32(0.1)", "float32", "0.1"}, {"float32(16777217)", "float32", "16777216.0"},
    {"bool(0)", "bool", "false"}, {"bool(0.5)", "bool", "true"}, {"int64(true)", "int64", "1"}, {"float16(65504)", "float16", "65500.0"},
    {"bfloat16(1.5)", "bfloat16", "1.5"}, {"float8/e4m3(448)", "float8/e4m3", "450.0"}, {"float8/e5m2(3)", "float8/e5m2", "3.0"},
    {"uint64(18446744073709551615)", "uint64", "18446744073709551615"}, {"int8(int16(300))", "int8", "44"},
    {"int64(1s)", "int64", "1000000000"}, {"duration(1500000000)", "duration", "1.5s"}, {"duration(\"1.5s\")", "duration", "1.5s"},
    {"time(\"2026-12-01T05:38:04Z\")", "time", "2026-12-01T05:38:04Z"}, {"time(0)", "time", "1970-01-01T00:00:00Z"},
    {"char/utf8(\"é\")", "[]char/utf8", "\"é\""}, {"char/ascii('x')", "[]char/ascii", "\"x\""}, {"float64(inf)", "float64", "inf"},
    {"[2]float32([1,2])", "[2]float32", "[1.0, 2.0]"}, {"[]int8([1,2])", "[2]int8", "[1, 2]"}, {"[0]int64([])", "[0]int64", "[]"},
    {"[]bool([])", "[0]bool", "[]"}, {"[4]int32([])", "[4]int32", "[0, 0, 0, 0]"}, {"[2,2]float32([1...])", "[2,2]float32", "[[1.0, 1.0], [1.0, 1.0]]"},
    {"[3]uint8([255...])", "[3]uint8", "[255, 255, 255]"}, {"[2,0]int8([[],[]])", "[2,0]int8", "[[], []]"},
    {"[.,2]int8([[1,2],[3,4]])", "[2,2]int8", "[[1, 2], [3, 4]]"}, {"[2]int8([1.0, 2.0])", "[2]int8", "[1, 2]"},
    {"[]char/utf8(\"é\")", "[]char/utf8", "\"é\""}, {"[]char/utf8·int8({a=1})", "[]char/utf8·int8", "{a=1}"},
    {"[]char/utf8·int8({})", "[]char/utf8·int8", "{}"}, {"[int8]·[]int16({5=[1]})", "[int8]·[]int16", "{5=[1]}"},
    {"int64·any({1, {2}})", "[int64]·any", "{0=1, 1={0=2}}"}, {"[]char/utf32·[]char/ascii({a=\"b\"})", "[]char/utf32·[]char/ascii", "{a=\"b\"}"},
    {"[]char/utf8·Point({a=Point{x=1}})", "[]char/utf8·Point", "{a=Point{x=1}}"}, {"[int64]·[2]int64({[], [7...]})", "[int64]·[2]int64", "{0=[0, 0], 1=[7, 7]}"},
    {"[int8,uint8]·bool({[1,2]=true})", "[int8,uint8]·bool", "{[1,2]=true}"},
};

static void literals_have_their_type_and_print_back(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (!meanings[i].type) continue; /* the refused one is in the table of errors, too */
        struct literal_document document = parse(meanings[i].text);
        const struct literal_print_options quoted = {.top = LITERAL_TOP_QUOTED};
        struct text_buffer out = print(document.root, &quoted);
        const char *wanted = meanings[i].quoted ? meanings[i].quoted : meanings[i].text;
        if (strcmp(out.bytes, wanted) || strcmp(document.root->type, meanings[i].type))
            fail_msg("%s: %s %s", meanings[i].text, document.root->type, out.bytes);
        text_buffer_free(&out);
        literal_document_free(&document);
    }
}

/* What is printed inside a container parses to a value that prints the same and has the same body, for the plain kinds. */
static void printed_values_read_back(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (!meanings[i].type) continue;
        const struct literal_print_options quoted = {.top = LITERAL_TOP_QUOTED};
        struct literal_document first = parse(meanings[i].text);
        struct text_buffer out = print(first.root, &quoted);
        if (strcmp(out.bytes, "[]") && !strstr(out.bytes, "[[]")) {
            struct literal_document second = parse(out.bytes);
            struct text_buffer again = print(second.root, &quoted);
            assert_string_equal(again.bytes, out.bytes);
            if (!strcmp(first.root->type, second.root->type) && first.root->body_bytes)
                assert_memory_equal(first.root->body, second.root->body, first.root->body_bytes);
            text_buffer_free(&again);
            literal_document_free(&second);
        }
        text_buffer_free(&out);
        literal_document_free(&first);
    }
}

static void same_values(const struct literal *left, const struct literal *right) {
    assert_int_equal(left->class, right->class);
    assert_string_equal(left->type, right->type);
    assert_int_equal(left->body_bytes, right->body_bytes);
    if (left->body_bytes) assert_memory_equal(left->body, right->body, left->body_bytes);
    assert_int_equal(left->entry_count, right->entry_count);
    const struct literal_entry *b = right->entries;
    for (const struct literal_entry *a = left->entries; a; a = a->next, b = b->next) same_values(a->value, b->value);
}

static void typed_text_reads_back_to_the_same_types(void **state) {
    (void)state;
    const struct literal_print_options typed = {.style = LITERAL_STYLE_TYPED};
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (!meanings[i].type) continue;
        struct literal_document first = parse(meanings[i].text);
        struct text_buffer out = print(first.root, &typed);
        struct literal_document second = parse(out.bytes);
        same_values(first.root, second.root);
        text_buffer_free(&out);
        literal_document_free(&second);
        literal_document_free(&first);
    }
    static const char *const canonical[] = {"int8(3)", "[2]float32([1.0, 2.0])", "char/utf8(\"x\")", "[int64]·bool({0=true})",
                                            "*int64(/n1)", "/lib/pkg·P{x=uint64(1)}", "[0]int64([])", "{a=[1, 2]}"};
    for (size_t i = 0; i < sizeof canonical / sizeof canonical[0]; i++) {
        struct literal_document document = parse(canonical[i]);
        struct text_buffer out = print(document.root, &typed);
        assert_string_equal(out.bytes, canonical[i]);
        text_buffer_free(&out);
        literal_document_free(&document);
    }
}

static void bodies_are_what_the_tree_stores(void **state) {
    (void)state;
    struct literal_document document = parse("[2]int16([1,-2])");
    static const int16_t pair[] = {1, -2};
    assert_int_equal(document.root->body_bytes, 4);
    assert_memory_equal(document.root->body, pair, 4);
    literal_document_free(&document);
    document = parse("\"aé\"");
    static const uint32_t points[] = {'a', 0xe9};
    assert_int_equal(document.root->body_bytes, 8);
    assert_int_equal(document.root->text_bytes, 3);
    assert_memory_equal(document.root->body, points, 8);
    assert_string_equal(document.root->text, "aé");
    literal_document_free(&document);
    document = parse("float16(1.0)");
    static const uint16_t one = 0x3c00;
    assert_memory_equal(document.root->body, &one, 2);
    literal_document_free(&document);
    document = parse("Point{x=1; y=\"z\"}");
    assert_int_equal(document.root->class, LITERAL_STRUCT);
    assert_string_equal(document.root->text, "/lib/Point");
    assert_int_equal(document.root->entry_count, 2);
    assert_string_equal(document.root->entries->key->text, "x");
    assert_string_equal(document.root->entries->next->value->text, "z");
    literal_document_free(&document);
}

/* ---- refusals ---- */

static const struct {
    const char *text;
    int code;
    size_t position;
    const char *words;
} refused[] = {
    {"", LITERAL_ESYNTAX, 0, "expected a value, but the text ends"}, {"1 2", LITERAL_ESYNTAX, 2, "the end of the value"},
    {"hello", LITERAL_ESYNTAX, 0, "hello is no value; a text is written \"hello\""}, {"tru", LITERAL_ESYNTAX, 0, "no value"},
    {"007", LITERAL_ESYNTAX, 0, "leading zero"}, {"01.5", LITERAL_ESYNTAX, 0, "leading zero"}, {"1__0", LITERAL_ESYNTAX, 0, "not a number"},
    {"1.", LITERAL_ESYNTAX, 0, "not a number"}, {".5", LITERAL_ESYNTAX, 0, "expected a value"}, {"1.5.2", LITERAL_ESYNTAX, 0, "not a number"},
    {"0x", LITERAL_ESYNTAX, 0, "not a number"}, {"12abc", LITERAL_ESYNTAX, 0, "not a number"}, {"--1", LITERAL_ESYNTAX, 0, "expected"},
    {"18446744073709551616", LITERAL_EVALUE, 0, "18446744073709551615"}, {"-9223372036854775809", LITERAL_EVALUE, 0, "-9223372036854775808"},
    {"1e999", LITERAL_EVALUE, 0, "float64"}, {"1e", LITERAL_ESYNTAX, 0, "not a number"},
    {"\"abc", LITERAL_ESYNTAX, 0, "not closed"}, {"\"a\nb\"", LITERAL_ESYNTAX, 0, "not closed"}, {"r#\"a\"", LITERAL_ESYNTAX, 0, "not closed"},
    {"\"\\q\"", LITERAL_ESYNTAX, 1, "an escape is one of"}, {"\"\\x4\"", LITERAL_ESYNTAX, 1, "an escape is one of"},
    {"\"\\u{d800}\"", LITERAL_EVALUE, 1, "number of a character"}, {"\"\\u{110000}\"", LITERAL_EVALUE, 1, "number of a character"},
    {"\"\\u{}\"", LITERAL_EVALUE, 1, "number of a character"}, {"\"\xff\"", LITERAL_ESYNTAX, 1, "UTF-8"}, {"\"a\\", LITERAL_ESYNTAX, 0, "not closed"},
    {"[]", LITERAL_ETYPE, 0, "needs a type"}, {"[1...]", LITERAL_ETYPE, 0, "needs a type"}, {"{a=[]}", LITERAL_ETYPE, 3, "needs a type"},
    {"[1, \"a\"]", LITERAL_ETYPE, 4, "strings cannot stand in […]; write {\"a\", \"b\"}"}, {"[1, true]", LITERAL_ETYPE, 0, "no common kind"},
    {"[None]", LITERAL_ETYPE, 1, "an array holds"}, {"[{}]", LITERAL_ETYPE, 1, "an array holds"}, {"[[1,2],[3]]", LITERAL_ETYPE, 7, "this row has 1 elements, those before it 2"},
    {"[1,[2]]", LITERAL_ETYPE, 3, "mixed"}, {"[[1],2]", LITERAL_ETYPE, 5, "mixed"}, {"[[[1]],[2]]", LITERAL_ETYPE, 8, "mixed"},
    {"[1,2", LITERAL_ESYNTAX, 4, "\",\" or \"]\""}, {"[1 2]", LITERAL_ESYNTAX, 3, "\",\" or \"]\""}, {"[,]", LITERAL_ESYNTAX, 1, "expected a value"},
    {"[[[[[[[[[1]]]]]]]]]", LITERAL_ELIMIT, 8, "at most 8 axes"}, {"[-1, 18446744073709551615]", LITERAL_ETYPE, 0, "no common kind"},
    {"{a=1; 2}", LITERAL_ESYNTAX, 6, "mixed"}, {"{1; a=2}", LITERAL_ESYNTAX, 4, "mixed"}, {"{a=1; 5=2}", LITERAL_ETYPE, 6, "different types"},
    {"{-5=1, 1.5s=2}", LITERAL_ETYPE, 7, "different types"}, {"{a=1 b=2}", LITERAL_ESYNTAX, 5, "expected \",\", \";\" or \"}\""},
    {"{a=1", LITERAL_ESYNTAX, 4, "text ends here"}, {"{a=}", LITERAL_ESYNTAX, 3, "expected a value"}, {"{[1,2]", LITERAL_ESYNTAX, 6, "text ends"},
    {"{{}=1}", LITERAL_ETYPE, 1, "a map key is"}, {"{None=1, 2=3}", LITERAL_ETYPE, 9, "different types"}, {"}", LITERAL_ESYNTAX, 0, "expected a value"},
    {"Point{1}", LITERAL_ESYNTAX, 6, "name=value"}, {"Point{x}", LITERAL_ESYNTAX, 6, "no value"}, {"int64{x=1}", LITERAL_ETYPE, 0, "a struct's name"},
    {"int(3)", LITERAL_ETYPE, 0, "int is not a kind; did you mean int64?"}, {"string(\"x\")", LITERAL_ETYPE, 0, "[]char/utf32"},
    {"int8(\"3\")", LITERAL_ETYPE, 5, "does not convert to int8"}, {"int8(3", LITERAL_ESYNTAX, 6, "\")\""}, {"int8(nan)", LITERAL_EVALUE, 5, "nan does not fit int8"},
    {"int64(1e19)", LITERAL_EVALUE, 6, "does not fit int64"}, {"int8(128.5)", LITERAL_EVALUE, 5, "128.5 does not fit int8"},
    {"bool(\"x\")", LITERAL_ETYPE, 5, "does not convert"}, {"bool(1s)", LITERAL_ETYPE, 5, "expected bool, found duration"}, {"time(1.5)", LITERAL_ETYPE, 5, "expected time"},
    {"char/ascii(\"é\")", LITERAL_EVALUE, 11, "not ASCII"}, {"int8([1])", LITERAL_ETYPE, 5, "expected int8, found [1]int64"}, {"duration(\"1x\")", LITERAL_EVALUE, 9, "no duration"},
    {"[2]int8([1,2,3])", LITERAL_ETYPE, 8, "expected [2]int8, found [3]int64"}, {"[]int8([300])", LITERAL_EVALUE, 7, "300 does not fit int8"},
    {"[]int8([1.5])", LITERAL_EVALUE, 7, "1.5 does not fit int8"}, {"[2]int8([int16(1), int16(2)])", LITERAL_ETYPE, 8, "found [2]int16"},
    {"[]int8([1...])", LITERAL_ETYPE, 7, "needs a type with lengths"}, {"[]float32([1e300])", LITERAL_EVALUE, 10, "does not fit float32"},
    {"[]char/utf8·int8({a=300})", LITERAL_EVALUE, 21, "300 does not fit int8"}, {"[]char/utf8·int8({1})", LITERAL_ETYPE, 19, "expected"},
    {"[int64]·bool({a=true})", LITERAL_ETYPE, 15, "expected [int64]·bool"}, {"int64|bool(1.5)", LITERAL_ETYPE, 11, "expected int64|bool, found float64"},
    {"[1000000,1000000]float64([])", LITERAL_ELIMIT, 25, "too large"}, {"2026-13-01T00:00:00Z", LITERAL_EVALUE, 0, "does not exist"},
    {"2026-02-29T00:00:00Z", LITERAL_EVALUE, 0, "does not exist"}, {"2026-02-28T00:00Z", LITERAL_ESYNTAX, 0, "is not a time"},
    {"9999999999h", LITERAL_EVALUE, 0, "out of range"}, {"&n1", LITERAL_ESYNTAX, 0, "absolute path"}, {"/", LITERAL_ESYNTAX, 0, "absolute path"},
    {"&\"x\"", LITERAL_ESYNTAX, 0, "absolute path"},
};

static void bad_literals_say_what_and_where(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct literal_document document;
        struct literal_error error;
        int rc = literal_parse(refused[i].text, strlen(refused[i].text), NULL, &document, &error);
        if (rc != refused[i].code || error.position != refused[i].position || !strstr(error.message, refused[i].words))
            fail_msg("%s: code %d at %zu: %s", refused[i].text, rc, error.position, error.message);
        assert_null(document.root);
        assert_null(document.blocks);
    }
}

static void depth_is_limited_on_both_ways(void **state) {
    (void)state;
    static char text[100000];
    struct literal_document document;
    struct literal_error error;
    memset(text, '{', 50000);
    assert_int_equal(literal_parse(text, 50000, NULL, &document, &error), LITERAL_ELIMIT);
    char *end = text;
    for (int i = 0; i < LITERAL_DEPTH_MAX - 1; i++) end += sprintf(end, "{a=");
    end += sprintf(end, "1");
    for (int i = 0; i < LITERAL_DEPTH_MAX - 1; i++) end += sprintf(end, "}");
    document = parse(text);
    struct text_buffer out = print(document.root, NULL);
    assert_string_equal(out.bytes, text);
    text_buffer_free(&out);
    const struct literal_print_options shallow = {.depth_max = 2};
    out = print(document.root, &shallow);
    assert_string_equal(out.bytes, "{a={a={…}}}");
    text_buffer_free(&out);
    literal_document_free(&document);
}

static void printing_can_be_cut(void **state) {
    (void)state;
    struct literal_document document = parse("{a=[1,2,3,4]; b=[[1,2,3],[4,5,6],[7,8,9]]; c=1; d=2}");
    const struct literal_print_options few = {.items_max = 2};
    struct text_buffer out = print(document.root, &few);
    assert_string_equal(out.bytes, "{a=[1, 2, …], b=[[1, 2, …], [4, 5, …], …], …}");
    text_buffer_free(&out);
    literal_document_free(&document);
    document = parse("\"bare\"");
    out = print(document.root, NULL);
    assert_string_equal(out.bytes, "bare");
    text_buffer_free(&out);
    struct text_buffer tiny = {.limit = 3};
    struct text_out sink = text_buffer_out(&tiny);
    assert_int_equal(literal_print(&literal_tree_reader, document.root, NULL, &sink), TEXT_ELIMIT);
    text_buffer_free(&tiny);
    literal_document_free(&document);
}

/* A damaged head claims more than the body has. */
static void a_body_is_never_read_beyond_its_length(void **state) {
    (void)state;
    int64_t *numbers = malloc(2 * sizeof *numbers);
    assert_non_null(numbers);
    numbers[0] = 1;
    numbers[1] = 2;
    struct literal value = {.class = LITERAL_ARRAY, .kind = KIND_INT64, .ndim = 2, .body = numbers, .body_bytes = 16,
                            .dims = {UINT64_MAX, 3}};
    struct text_buffer out = print(&value, NULL);
    assert_int_equal(strncmp(out.bytes, "[[1, 2], [], ", 13), 0);
    text_buffer_free(&out);
    value.ndim = 9;
    out = print(&value, NULL);
    assert_string_equal(out.bytes, "[]");
    text_buffer_free(&out);
    struct literal scalar = {.class = LITERAL_SCALAR, .kind = KIND_INT64, .body = numbers, .body_bytes = 4};
    out = print(&scalar, NULL);
    assert_string_equal(out.bytes, "None");
    text_buffer_free(&out);
    free(numbers);
}

/* ---- times and durations ---- */

static void times_print_and_read_back(void **state) {
    (void)state;
    static const struct {
        int64_t nanos;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z"}, {-1, "1969-12-31T23:59:59.999999999Z"}, {INT64_C(951782400) * 1000000000, "2000-02-29T00:00:00Z"},
        {INT64_C(1709164800) * 1000000000, "2024-02-29T00:00:00Z"}, {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"}, {INT64_C(-2203891200) * 1000000000, "1900-03-01T00:00:00Z"},
        {1500000000, "1970-01-01T00:00:01.5Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[TIMETEXT_MAX];
        size_t length = timetext_print_time(rows[i].nanos, out);
        assert_string_equal(out, rows[i].text);
        int64_t back = 0;
        assert_int_equal(timetext_parse_time(out, length, &back), TIMETEXT_OK);
        assert_true(back == rows[i].nanos);
    }
    int64_t nanos;
    assert_int_equal(timetext_parse_time("2262-04-11T23:47:16.854775808Z", 30, &nanos), TIMETEXT_ERANGE);
    assert_int_equal(timetext_parse_time("1677-09-21T00:12:43.145224191Z", 30, &nanos), TIMETEXT_ERANGE);
    assert_int_equal(timetext_parse_time("1900-02-29T00:00:00Z", 20, &nanos), TIMETEXT_ERANGE);
    assert_int_equal(timetext_parse_time("2026-12-01T24:00:00Z", 20, &nanos), TIMETEXT_ERANGE);
    assert_int_equal(timetext_parse_time("2026-12-01T00:00:00", 19, &nanos), TIMETEXT_ESYNTAX);
    assert_int_equal(timetext_parse_time("2026-12-01t00:00:00.123456789987z", 33, &nanos), TIMETEXT_OK);
    assert_int_equal(nanos % 1000000000, 123456789);
    for (int64_t day = -100000; day < 100000; day += 7) { /* the calendar against itself */
        char out[TIMETEXT_MAX];
        int64_t when = day * 86400 * 1000000000;
        int64_t back;
        assert_int_equal(timetext_parse_time(out, timetext_print_time(when, out), &back), TIMETEXT_OK);
        assert_true(back == when);
    }
}

static void durations_print_and_read_back(void **state) {
    (void)state;
    static const struct {
        int64_t nanos;
        const char *text;
    } rows[] = {
        {0, "0s"}, {1, "1ns"}, {999, "999ns"}, {1000, "1µs"}, {1500, "1.5µs"}, {1000000, "1ms"}, {250000000, "250ms"},
        {999999999, "999.999999ms"}, {1000000000, "1s"}, {1500000000, "1.5s"}, {60000000000, "1m0s"}, {90000000000, "1m30s"},
        {3600000000000, "1h0m0s"}, {-1500000000, "-1.5s"}, {INT64_MAX, "2562047h47m16.854775807s"}, {INT64_MIN, "-2562047h47m16.854775808s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[TIMETEXT_MAX];
        size_t length = timetext_print_duration(rows[i].nanos, out);
        assert_string_equal(out, rows[i].text);
        int64_t back = 7;
        assert_int_equal(timetext_parse_duration(out, length, &back), TIMETEXT_OK);
        assert_true(back == rows[i].nanos);
    }
    static const char *const wrong[] = {"", "-", "1", "s", "1.s5", "1h-1m", "1.5", ". s", "1 s", "1S", "1d", ".s"};
    int64_t nanos;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(timetext_parse_duration(wrong[i], strlen(wrong[i]), &nanos), TIMETEXT_ESYNTAX);
    assert_int_equal(timetext_parse_duration(".5s", 3, &nanos), TIMETEXT_OK);
    assert_int_equal(nanos, 500000000);
    assert_int_equal(timetext_parse_duration("1.5h", 4, &nanos), TIMETEXT_OK);
    assert_true(nanos == INT64_C(5400000000000));
    assert_int_equal(timetext_parse_duration("2562047h47m16.854775808s", 24, &nanos), TIMETEXT_ERANGE);
    assert_int_equal(timetext_parse_duration("99999999999999999999h", 21, &nanos), TIMETEXT_ERANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_have_their_type_and_print_back),
        cmocka_unit_test(printed_values_read_back),
        cmocka_unit_test(typed_text_reads_back_to_the_same_types),
        cmocka_unit_test(bodies_are_what_the_tree_stores),
        cmocka_unit_test(bad_literals_say_what_and_where),
        cmocka_unit_test(depth_is_limited_on_both_ways),
        cmocka_unit_test(printing_can_be_cut),
        cmocka_unit_test(a_body_is_never_read_beyond_its_length),
        cmocka_unit_test(times_print_and_read_back),
        cmocka_unit_test(durations_print_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
