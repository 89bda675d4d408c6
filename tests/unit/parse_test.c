/* The parser: trees written as s-expressions, places, recovery, limits, and every golden program.
 * Relies on the layout library; golden programs are looked for in KVLANG_SOURCE_DIR/tests/programs/golden.
 * The printer below is the test's own, so that it does not lean on the formatter it is compared with. */
#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "layout/parse.h"

static struct ast_arena arena;
static struct diag_list diags;
static struct ast_file file;
static char out[1 << 16];
static size_t used;

static int clean(void **state) {
    (void)state;
    diag_free(&diags);
    ast_arena_free(&arena);
    return 0;
}

static int parse_text(const char *text, size_t length) {
    clean(NULL);
    return parse_file(&arena, &diags, ast_text_of("t.kv"), text, length, &file);
}

/* ---- the printer ---- */

static void put(const char *format, ...) DIAG_PRINTF(1, 2);
static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out + used, sizeof out - used, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < sizeof out - used);
    used += (size_t)length;
}

static void show(const struct ast_node *node);

static void show_all(struct ast_nodes nodes) {
    for (uint32_t i = 0; i < nodes.count; i++) {
        put(" ");
        show(nodes.at[i]);
    }
}

static void show_text(struct ast_text text) {
    put("%.*s", (int)text.length, text.at);
}

static void show_steps(const struct ast_node *node) {
    show(node->as.access.base);
    for (uint32_t i = 0; i < node->as.access.count; i++) {
        const struct ast_step *step = &node->as.access.steps[i];
        static const char *const marks[] = {" ·", " ·*", " ·[", " ["};
        put("%s", marks[step->kind]);
        show_text(step->name);
        show_all(step->args);
        if (step->kind >= AST_STEP_TUPLE) put(" ]");
    }
}

static void show_entries(const struct ast_entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        put(" ");
        if (entries[i].key) {
            show(entries[i].key);
            put("=");
        }
        show(entries[i].value);
    }
}

static void show_slots(const struct ast_node *node) {
    for (uint32_t i = 0; i < node->as.write.slots.count; i++) {
        put(" ");
        show(node->as.write.slots.at[i]);
        if (node->as.write.types[i].text.length) put(":");
        show_text(node->as.write.types[i].text);
    }
}

static void show_params(struct ast_params params) {
    put("(");
    for (uint32_t i = 0; i < params.count; i++) {
        if (i) put(" ");
        show_text(params.at[i].name);
        put(":");
        show_text(params.at[i].type.text);
        if (params.at[i].variadic) put("...");
    }
    put(")");
}

static void show_block(const struct ast_block *block) {
    put(" {");
    show_all(block->body);
    put(" }");
}

static void show_if(const struct ast_node *node) {
    for (uint32_t i = 0; i < node->as.if_else.count; i++) {
        put(i ? " else " : "");
        if (node->as.if_else.arms[i].condition) show(node->as.if_else.arms[i].condition);
        show_block(&node->as.if_else.arms[i].block);
    }
}

static void show_inside(const struct ast_node *node) {
    switch ((enum ast_kind)node->kind) {
    case AST_ACCESS:
        show_steps(node);
        break;
    case AST_CALL:
        show_text(node->as.call.callee);
        show_all(node->as.call.args);
        break;
    case AST_PREFIX:
        put("%s ", ast_prefix_text((enum ast_prefix)node->as.prefix.op));
        show(node->as.prefix.operand);
        break;
    case AST_CHAIN:
        show(node->as.chain.operands[0]);
        for (uint32_t i = 1; i < node->as.chain.count; i++) {
            put(" %s ", ast_op_row((enum ast_op)node->as.chain.ops[i - 1])->text);
            show(node->as.chain.operands[i]);
        }
        break;
    case AST_ARRAY:
        put("array");
        show_all(node->as.array.elements);
        break;
    case AST_FILL:
        put("fill ");
        show(node->as.fill.value);
        break;
    case AST_MAP:
        put("map");
        show_entries(node->as.map.entries, node->as.map.count);
        break;
    case AST_STRUCT_LITERAL:
        put("new ");
        show_text(node->as.struct_literal.name);
        show_entries(node->as.struct_literal.entries, node->as.struct_literal.count);
        break;
    case AST_WRITE:
        put(node->as.write.right ? "-> " : "= ");
        show(node->as.write.value);
        show_slots(node);
        break;
    case AST_IF:
        put("if ");
        show_if(node);
        break;
    case AST_WHILE:
        put("while ");
        show(node->as.while_loop.condition);
        show_block(&node->as.while_loop.block);
        break;
    case AST_FOR:
        put("for ");
        show_text(node->as.for_loop.key);
        put("%s", node->as.for_loop.key.length ? " " : "");
        show_text(node->as.for_loop.value);
        put(" in ");
        show(node->as.for_loop.walked);
        show_block(&node->as.for_loop.block);
        break;
    case AST_FUNCTION:
    case AST_RWIR:
        put("%s ", ast_kind_text((enum ast_kind)node->kind));
        show_text(node->as.function.name);
        show_params(node->as.function.reads);
        show_params(node->as.function.writes);
        if (node->kind == AST_FUNCTION) show_block(&node->as.function.block);
        break;
    case AST_STRUCT:
        put("struct ");
        show_text(node->as.structure.name);
        for (uint32_t i = 0; i < node->as.structure.count; i++) {
            put(" ");
            show_text(node->as.structure.fields[i].name);
            put(":");
            show_text(node->as.structure.fields[i].type.text);
            if (node->as.structure.fields[i].value) {
                put("=");
                show(node->as.structure.fields[i].value);
            }
        }
        break;
    case AST_LIB:
        put("lib ");
        show_text(node->as.lib.name);
        show_block(&node->as.lib.block);
        break;
    default:
        put("%s", ast_kind_text((enum ast_kind)node->kind));
    }
}

static void show(const struct ast_node *node) {
    switch ((enum ast_kind)node->kind) {
    case AST_BOOL:
        put(node->as.boolean.value ? "true" : "false");
        return;
    case AST_INT:
        if (node->as.integer.is_unsigned) put("%lluu", (unsigned long long)node->as.integer.bits);
        else put("%lld", (long long)node->as.integer.bits);
        return;
    case AST_FLOAT:
        put("%gf", node->as.real.value);
        return;
    case AST_STRING:
        put(node->as.string.bare ? "" : "\"");
        show_text(node->as.string.value);
        put(node->as.string.bare ? "" : "\"");
        return;
    case AST_NAME:
        show_text(node->as.name.text);
        return;
    case AST_PATH:
        show_text(node->as.path.text);
        return;
    case AST_RUN:
        show(node->as.run.value);
        return;
    case AST_NONE:
    case AST_DISCARD:
        put("%s", ast_kind_text((enum ast_kind)node->kind));
        return;
    default:
        put("(");
        show_inside(node);
        put(")");
    }
}

static const char *tree_of(const char *text) {
    used = 0;
    out[0] = '\0';
    int rc = parse_text(text, strlen(text));
    for (uint32_t i = 0; i < diags.count; i++) print_error("%u:%u %s\n", diags.reports[i].at.line, diags.reports[i].at.column, diags.reports[i].message);
    assert_int_equal(PARSE_OK, rc);
    for (uint32_t i = 0; i < file.items.count; i++) {
        if (i) put("; ");
        show(file.items.at[i]);
    }
    return out;
}

/* ---- trees ---- */

static void operators_bind_by_the_ladder(void **state) {
    (void)state;
    assert_string_equal("(a || (b && (c == (d < (e + (f × (g << (h & (i ^ (j | k))))))))))", tree_of("a || b && c == d < e + f * g << h & i ^ j | k"));
    assert_string_equal("((((((((((a | b) ^ c) & d) << e) × f) + g) < h) == i) && j) || k)", tree_of("a | b ^ c & d << e * f + g < h == i && j || k"));
    assert_string_equal("(a - b + c - d)", tree_of("a - b + c - d"));
    assert_string_equal("(a - (b + c) - d)", tree_of("a - (b + c) - d"));
    assert_string_equal("(a × b ÷ c % d)", tree_of("a × b / c % d"));
    assert_string_equal("(a != (b <= c) == (d >= e))", tree_of("a ≠ b ≤ c == d ≥ e"));
    assert_string_equal("((a × b) + (c × d))", tree_of("a * b + c * d"));
}

static void prefixes_bind_tighter_than_infixes_and_looser_than_steps(void **state) {
    (void)state;
    assert_string_equal("((- a) + (! b) + (√ c) + (+ d))", tree_of("-a + !b + √c + +d"));
    assert_string_equal("(* (p ·x))", tree_of("(*p·x)"));
    assert_string_equal("(& (a ·b [ i ]))", tree_of("(&a·b[i])"));
    assert_string_equal("(- (- a))", tree_of("--a"));
    assert_string_equal("(-2 × 4)", tree_of("-2 * 4"));
    assert_string_equal("(a - 1)", tree_of("a -1"));
    assert_string_equal("(= -9223372036854775808 x)", tree_of("x = -9223372036854775808"));
    assert_string_equal("(= 18446744073709551615u x)", tree_of("x = 18446744073709551615"));
    assert_string_equal("(= -0f x)", tree_of("x = -0.0"));
}

static void steps_and_calls(void **state) {
    (void)state;
    assert_string_equal("(a ·b ·* k ·[ 1 (- j) ] [ i j ] ·c)", tree_of("a.b.*k.[1, -j][i, j].c"));
    assert_string_equal("(f)", tree_of("f()"));
    assert_string_equal("((pkg·f 1) ·x [ 0 ])", tree_of("pkg.f(1,).x[0]"));
    assert_string_equal("(a/b·f)", tree_of("a/b·f()"));
    assert_string_equal("(char/utf8 s)", tree_of("char/utf8(s)"));
    assert_string_equal("(/lib/geo/deep·f /a·b·c)", tree_of("/lib/geo/deep.f(/a.b·c)"));
    assert_string_equal("(/a·b·c [ 1 ] ·d)", tree_of("/a ·b ·c[1]·d"));
    assert_string_equal("(/lib/a·f)", tree_of("/lib/a ·f()"));
    assert_string_equal("(/a ·b)", tree_of("(/a)·b")); /* in parentheses it stays a step */
    assert_string_equal("(\"abc\" [ 0 ])", tree_of("\"abc\"[0]"));
}

static void literals(void **state) {
    (void)state;
    assert_string_equal("(= (array 1 (array 2 3)) x)", tree_of("x = [1, [2, 3],]"));
    assert_string_equal("(= (array) x)", tree_of("x = []"));
    assert_string_equal("(= (fill 1.5f) x)", tree_of("x = [1.5...]"));
    assert_string_equal("(= (map) x)", tree_of("x = {}"));
    assert_string_equal("(= (map a=1 b=(map c=2)) x)", tree_of("x = {a=1; b={c=2}}"));
    assert_string_equal("(= (map a=1 b=2) x)", tree_of("x = {\n\ta=1\n\n\tb=2,\n}"));
    assert_string_equal("(= (map 1 \"two\" None) x)", tree_of("x = {1, \"two\", null}"));
    assert_string_equal("(= (map \"two words\"=1 0=2 true=3 (array 1 2)=4) x)", tree_of("x = {\"two words\"=1; 0=2; true=3; [1,2]=4}"));
    assert_string_equal("(= (new Point x=3f y=(new Q)) x)", tree_of("x = Point{x=3.0; y=Q{}}"));
    assert_string_equal("(= (new a/b·Point x=1) x)", tree_of("x = a/b·Point{x=1}"));
    assert_string_equal("(= ((new P) ·x) x)", tree_of("x = P{}.x"));
    assert_string_equal("(= (f (map a=1 b=2)) x)", tree_of("x = f({a=1\nb=2})"));
}

static void writes_go_either_way(void **state) {
    (void)state;
    assert_string_equal("(= 1 x:int64)", tree_of("x:int64 = 1"));
    assert_string_equal("(-> (f a) q r:float64 _)", tree_of("f(a) -> q, r:float64, _"));
    assert_string_equal("(-> 1 /a·b (m ·x) (m ·* k) (m ·[ 1 2 ]) (a [ i j ]) (* p))", tree_of("1 -> /a.b, m.x, m.*k, m.[1,2], a[i,j], *p"));
    assert_string_equal("(= (f) _)", tree_of("_ = f()"));
    assert_string_equal("(= (map) m:[]char/utf8·[int64,bool]·*Point|[?,.]float32)", tree_of("m : []char/utf8 · [ int64, bool ].*Point | [?,.] float32 = {}"));
    assert_string_equal("(= 1 x); (= (* p) y)", tree_of("x = 1\ny = *p"));
    assert_string_equal("(= 1 x); (= 2 (* p))", tree_of("x = 1; *p = 2;;"));
    assert_string_equal("(= -1 x)", tree_of("x<--1"));
}

static void control_flow(void **state) {
    (void)state;
    assert_string_equal("(if a { (f) } else b { } else  { (g) })", tree_of("if (a) { f() } else if (b) {}\nelse { g() }"));
    assert_string_equal("(while (a < b) { (break) (continue) (return) })", tree_of("while (a < b) { break; continue\nreturn }"));
    assert_string_equal("(for x in (range 0 9) { }); (for _ v in m { })", tree_of("for (x in range(0, 9)) {}; for (_, v in m) {}"));
    assert_string_equal("(if (p == (new P x=1)) { })", tree_of("if (p == P{x=1}) {}"));
    assert_string_equal("(if (a && b) { })", tree_of("if (a\n&&\nb)\n{\n}"));
}

static void declarations(void **state) {
    (void)state;
    assert_string_equal("(rwfunc f(a:int64 b:[]char/utf8...)(c:any) { (-> a c) })", tree_of("rwfunc f(a:int64, b:[]char/utf8...) -> (c:any) { a -> c }"));
    assert_string_equal("(rwfunc f()() { })", tree_of("rwfunc f() {}"));
    assert_string_equal("(rwir a/b·op(x:@any)(y:@[3,.]float16))", tree_of("rwir a/b.op(x:@any) -> (y:@[3,.]float16)"));
    assert_string_equal("(struct P x:float64=0f y:geo·Q=(new Q a=1) z:int64)", tree_of("struct P { x:float64 = 0.0; y:geo.Q = Q{a=1}, z:int64\n}"));
    assert_string_equal("(lib a { (lib b/c { (f) }) })", tree_of("lib a { lib b/c { f() } }"));
}

static void a_declaration_knows_its_doc_and_source(void **state) {
    (void)state;
    tree_of("# far away\n\n# adds\n//  two\nrwfunc add(a:int64) -> () {\n\tf(a)\n} # behind\n");
    const struct ast_node *node = file.items.at[0];
    assert_true(ast_text_is(node->as.function.doc, "adds\ntwo"));
    assert_true(ast_text_is(node->as.function.source, "# adds\n//  two\nrwfunc add(a:int64) -> () {\n\tf(a)\n}"));
    tree_of("x = 1 # behind\nrwfunc f() {}");
    assert_int_equal(0, file.items.at[1]->as.function.doc.length);
    tree_of("/* one\n   two */\nstruct P {}");
    assert_true(ast_text_is(file.items.at[0]->as.structure.doc, "one\n   two"));
}

static void nodes_know_their_places(void **state) {
    (void)state;
    tree_of("größe = f(1,\n 日 + b) # c\n");
    const struct ast_node *write = file.items.at[0], *call = write->as.write.value, *chain = call->as.call.args.at[1];
    assert_int_equal(1, write->at.column);
    assert_int_equal(9, call->at.column);
    assert_int_equal(2, chain->at.line);
    assert_int_equal(2, chain->at.column);
    assert_int_equal(4, chain->as.chain.op_at[0].column);
    assert_int_equal(2, write->end_line);
    assert_int_equal(write->end, call->end);
    assert_int_equal(')', file.source.at[call->end - 1]);
    tree_of("x = (a·b[1])");
    const struct ast_node *access = file.items.at[0]->as.write.value;
    assert_true(access->parenthesised);
    assert_int_equal(6, access->at.column);
    assert_int_equal(5, file.parens[0].open.column);
    assert_int_equal(ast_text_of("x = (a·b").length, access->as.access.steps[1].at.offset);
}

/* ---- errors ---- */

static int ignore(void *context, const char *bytes, size_t length) {
    (void)context;
    (void)bytes;
    (void)length;
    return 0;
}

static void assert_errors(const char *text, const char *places) {
    parse_text(text, strlen(text));
    char found[256] = "";
    size_t length = 0;
    struct ast_text nothing = {"", 0};
    diag_render(&diags, nothing, nothing, ignore, NULL); /* sorts */
    for (uint32_t i = 0; i < diags.count; i++)
        length += (size_t)snprintf(found + length, sizeof found - length, "%s%u:%u", i ? " " : "", diags.reports[i].at.line, diags.reports[i].at.column);
    if (strcmp(places, found) != 0)
        for (uint32_t i = 0; i < diags.count; i++) print_error("%u:%u %s\n", diags.reports[i].at.line, diags.reports[i].at.column, diags.reports[i].message);
    assert_string_equal(places, found);
}

static void one_mistake_is_one_report(void **state) {
    (void)state;
    assert_errors("x = 1 +\ny = f(1 2)\nz = [1; 2]\nif a { g() }\nw = 3\n", "1:8 2:9 3:5 4:4");
    assert_errors("rwfunc a() -> () {\n\tif (x {\n\t\ty = 1\n\t}\n}\nrwfunc b() -> () {\n\tf(1\n\tg(2)\n}\n", "2:5 7:3");
    assert_errors("rwfunc a() -> () {\n\twhile (true) {\n\t\tf()\n}\nrwfunc b() -> () { g() }\n", "2:15");
    assert_errors("rwfunc a() -> () {\nx = (1 +\ny = 2\nz = ×\n}\n", "2:5 4:5");
    assert_errors("m = {a=1\nx = 2\nf()\n", "1:5");
    assert_errors("x = \"abc\nf(y)\n", "1:5");
    assert_errors("f(g(h(1, ), ), $)\ny = 1\n", "1:16");
    assert_errors("x = {a={b={c=}}}\ny = +\n", "1:14 2:6");
    assert_errors("fi (x) {\n\ty = 1\n\tz = ×\n}\nw = ×\n", "1:8 5:5");
}

static void no_more_than_twenty_errors(void **state) {
    (void)state;
    static char text[8000];
    for (int i = 0; i < 1000; i++) strcat(text, "x = ×\n");
    assert_int_equal(PARSE_REJECTED, parse_text(text, strlen(text)));
    assert_int_equal(DIAG_MAX_ERRORS, diags.count);
}

/* ---- limits ---- */

static char *repeated(const char *before, const char *part, const char *middle, const char *after, size_t times) {
    size_t part_length = strlen(part), after_length = strlen(after);
    char *text = malloc(strlen(before) + (part_length + after_length) * times + strlen(middle) + 1), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", before);
    for (size_t i = 0; i < times; i++, at += part_length) memcpy(at, part, part_length);
    at += sprintf(at, "%s", middle);
    for (size_t i = 0; i < times; i++, at += after_length) memcpy(at, after, after_length);
    *at = '\0';
    return text;
}

static int parse_repeated(const char *before, const char *part, const char *middle, const char *after, size_t times) {
    char *text = repeated(before, part, middle, after, times);
    int rc = parse_text(text, strlen(text));
    free(text);
    return rc;
}

static void nesting_ends_at_a_limit(void **state) {
    (void)state;
    static const struct {
        const char *before, *part, *middle, *after;
    } forms[] = {
        {"x = ", "(", "1", ")"}, {"x = ", "[", "1", "]"},      {"x = ", "{a=", "1", "}"},       {"x = ", "f(", "1", ")"},
        {"x = ", "-", "y", ""},  {"x = ", "a[", "1", "]"},     {"", "if (a) {", "f()", "}"},    {"", "lib a {", "f()", "}"},
        {"x = ", "P{a=", "1", "}"}, {"", "while (true) {", "f()", "}"}, {"x = ", "a·[", "1", "]"}, {"x = ", "!(", "y", ")"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        assert_int_equal(PARSE_OK, parse_repeated(forms[i].before, forms[i].part, forms[i].middle, forms[i].after, 300));
        assert_int_equal(PARSE_REJECTED, parse_repeated(forms[i].before, forms[i].part, forms[i].middle, forms[i].after, 100000));
        assert_non_null(strstr(diags.reports[0].message, "deeper than 1000"));
        assert_in_range(diags.count, 1, 2);
    }
}

static void long_chains_are_flat_and_fast(void **state) {
    (void)state;
    assert_int_equal(PARSE_OK, parse_repeated("x = a", " + b - c", "\n", "", 100000));
    assert_int_equal(200001, file.items.at[0]->as.write.value->as.chain.count);
    assert_int_equal(PARSE_OK, parse_repeated("x = a", "·b[1]", "\n", "", 100000));
    assert_int_equal(200000, file.items.at[0]->as.write.value->as.access.count);
    assert_int_equal(PARSE_OK, parse_repeated("if (a) {}", " else if (b) {}", "\n", "", 100000));
    assert_int_equal(PARSE_OK, parse_repeated("m:", "int64·", "any = {}\n", "", 100000));
    assert_int_equal(PARSE_OK, parse_repeated("x = /a", " ·b", "\n", "", 100000));
    assert_int_equal(PARSE_OK, parse_repeated("", "x = f(a·b[2] × (y + 1), \"text\") # note\n", "", "", 100000));
    assert_int_equal(100000, file.items.count);
    assert_int_equal(PARSE_REJECTED, parse_repeated("x = ", "\"", "", "", 100001));
    parse_repeated("x = r", "#", "\n", "", 100000);
    assert_int_equal(PARSE_REJECTED, parse_repeated("", "}", "", "", 100000));
    assert_int_equal(PARSE_REJECTED, parse_repeated("", "{", "", "", 100000));
}

static void odd_files(void **state) {
    (void)state;
    assert_int_equal(PARSE_OK, parse_text("", 0));
    assert_int_equal(0, file.items.count);
    assert_int_equal(PARSE_OK, parse_text("\xEF\xBB\xBFx = 1", 8));
    assert_int_equal(1, file.items.at[0]->at.column);
    assert_int_equal(PARSE_OK, parse_text("x = 1\r\ny = 2\r\n", 14));
    assert_int_equal(2, file.items.count);
    assert_int_equal(PARSE_OK, parse_text("# only a comment", 16));
    assert_int_equal(PARSE_REJECTED, parse_text("x = 1\0y", 7));
    assert_int_equal(PARSE_REJECTED, parse_text("x = \xC3\x28", 6));
    assert_int_equal(5, diags.reports[0].at.column);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const char *text = "# d\nrwfunc f(a:int64, b:int64...) -> (c:any) { if (a < 1) { a + b × (2 - m·x[1]) -> c } else { for (k, v in {a=1}) { f(v) } } }\n"
                       "struct P { x:float64 = 0.0 }\nlib l { x:[]int64 = [1, 2]; /a.b <- P{x=\"\\n\"} }\n";
    int rc = PARSE_NO_MEMORY;
    size_t limit = 8;
    for (; rc == PARSE_NO_MEMORY && limit < 100000; limit += 8) {
        clean(NULL);
        arena.limit_bytes = limit;
        rc = parse_file(&arena, &diags, ast_text_of("t.kv"), text, strlen(text), &file);
        if (rc == PARSE_NO_MEMORY) assert_int_equal(0, diags.errors);
    }
    arena.limit_bytes = 0;
    assert_int_equal(PARSE_OK, rc);
    assert_true(limit > 1000);
}

/* ---- golden programs ---- */

static char *read_whole(const char *path, size_t *length) {
    FILE *stream = fopen(path, "rb");
    if (!stream) return NULL;
    char *text = malloc(1 << 16);
    if (text) *length = fread(text, 1, (1 << 16) - 1, stream);
    fclose(stream);
    if (text) text[*length] = '\0';
    return text;
}

static void golden_programs_parse(void **state) {
    (void)state;
    const char *root = getenv("KVLANG_SOURCE_DIR");
    char folder[1024], path[2048];
    snprintf(folder, sizeof folder, "%s/tests/programs/golden", root ? root : ".");
    DIR *directory = opendir(folder);
    if (!directory) skip();
    int programs = 0, failed = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (!strstr(entry->d_name, ".kv")) continue;
        size_t length = 0;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        char *text = read_whole(path, &length);
        assert_non_null(text);
        bool wrong = strstr(text, "# expect-error: SyntaxError") && !strstr(text, "read-only");
        int rc = parse_text(text, length);
        bool read_only = strstr(entry->d_name, "read") != NULL; /* a SyntaxError of the checker's, not of the parser's */
        if (rc != (wrong && !read_only ? PARSE_REJECTED : PARSE_OK)) {
            print_error("%s: %d\n", entry->d_name, rc);
            failed++;
        }
        free(text);
        programs++;
    }
    closedir(directory);
    print_message("%d programs\n", programs);
    assert_int_equal(0, failed);
    assert_true(programs > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(operators_bind_by_the_ladder, clean),
        cmocka_unit_test_teardown(prefixes_bind_tighter_than_infixes_and_looser_than_steps, clean),
        cmocka_unit_test_teardown(steps_and_calls, clean),
        cmocka_unit_test_teardown(literals, clean),
        cmocka_unit_test_teardown(writes_go_either_way, clean),
        cmocka_unit_test_teardown(control_flow, clean),
        cmocka_unit_test_teardown(declarations, clean),
        cmocka_unit_test_teardown(a_declaration_knows_its_doc_and_source, clean),
        cmocka_unit_test_teardown(nodes_know_their_places, clean),
        cmocka_unit_test_teardown(one_mistake_is_one_report, clean),
        cmocka_unit_test_teardown(no_more_than_twenty_errors, clean),
        cmocka_unit_test_teardown(nesting_ends_at_a_limit, clean),
        cmocka_unit_test_teardown(long_chains_are_flat_and_fast, clean),
        cmocka_unit_test_teardown(odd_files, clean),
        cmocka_unit_test_teardown(every_allocation_may_fail, clean),
        cmocka_unit_test_teardown(golden_programs_parse, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
