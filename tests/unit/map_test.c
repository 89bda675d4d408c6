/* Maps, structs, arrays and writes through several steps: order, sharing, growth, repetition, random operations against a model.
 * Relies on a heap in private memory. Promises: after every test no block is left but the types'; the seed is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "core/array.h"
#include "core/map.h"
#include "core/text.h"
#include "core/value.h"

static struct heap heap;

static int open_heap(void **state) {
    (void)state;
    return heap_private_open(&heap, UINT64_C(1) << 28);
}
static int close_heap(void **state) {
    (void)state;
    heap_private_close(&heap);
    return 0;
}

static struct cell text(const char *utf8) {
    struct cell out;
    if (text_from_utf8(&heap, utf8, strlen(utf8), &out)) fail_msg("%s", heap.fault.message);
    return out;
}

static struct cell map_of(const char *type) {
    struct cell map;
    const struct type_info *info = NULL;
    if (type) assert_int_equal(0, type_of_text(&heap, type, strlen(type), &info));
    assert_int_equal(0, map_new(&heap, info, 0, &map));
    return map;
}

/* As a step does: the old block goes when the new one is in place. */
static int put(struct cell *map, struct cell key, struct cell value, unsigned literals) {
    struct cell next;
    int rc = map_set(&heap, map, &key, &value, literals, &next);
    cell_drop(&heap, key);
    cell_drop(&heap, value);
    if (rc) return rc;
    if (next.payload != map->payload) cell_drop(&heap, *map);
    *map = next;
    return 0;
}

static void prints(const struct cell *cell, const char *expected) {
    struct text_buffer buffer = { 0 };
    struct text_out out = text_buffer_out(&buffer);
    assert_int_equal(0, value_print(&heap, cell, false, &out));
    assert_string_equal(expected, buffer.bytes ? buffer.bytes : "");
    text_buffer_free(&buffer);
}

static void order_is_that_of_insertion(void **state) {
    (void)state;
    struct cell map = map_of("[]char/utf8·int64"), key, next;
    assert_int_equal(0, put(&map, text("z"), cell_int64(1), 0));
    assert_int_equal(0, put(&map, text("a"), cell_int64(2), 0));
    assert_int_equal(0, put(&map, text("a longer key"), cell_int64(3), 0));
    assert_int_equal(0, put(&map, text("z"), cell_int64(10), 0));
    prints(&map, "{z=10, a=2, \"a longer key\"=3}");
    key = text("z");
    assert_int_equal(0, map_delete(&heap, &map, &key, &next));
    assert_true(next.payload == map.payload);
    assert_int_equal(0, put(&map, text("z"), cell_int64(4), 0));
    prints(&map, "{a=2, \"a longer key\"=3, z=4}");
    assert_int_equal(3, map_length(&heap, &map));
    const struct cell *found;
    struct cell narrow;
    struct cell wide = text("a longer key");
    assert_int_equal(0, text_convert(&heap, &wide, KIND_CHAR_UTF8, &narrow)); /* any encoding finds it */
    assert_int_equal(0, map_find(&heap, &map, &narrow, &found));
    assert_non_null(found);
    cell_drop(&heap, narrow);
    cell_drop(&heap, wide);
    cell_drop(&heap, map);
}

static void types_of_keys_and_values_are_checked(void **state) {
    (void)state;
    struct cell map = map_of("[]char/utf8·int64");
    assert_int_equal(ERROR_TYPE, put(&map, text("a"), cell_float64(1), 0));
    assert_non_null(strstr(heap.fault.message, "float64"));
    assert_int_equal(ERROR_TYPE, put(&map, cell_int64(1), cell_int64(1), 0));
    assert_int_equal(ERROR_TYPE, put(&map, text("a"), text("b"), 1));
    cell_drop(&heap, map);
    map = map_of("[uint8]·float32");
    assert_int_equal(ERROR_TYPE, put(&map, cell_int64(7), cell_float32(1), 0)); /* no literal: no conversion */
    assert_int_equal(0, put(&map, cell_int64(7), cell_int64(1), 3));
    assert_int_equal(ERROR_TYPE, put(&map, cell_int64(300), cell_int64(1), 3));
    prints(&map, "{7=1.0}");
    cell_drop(&heap, map);
    map = map_of(NULL); /* the first write decides */
    assert_int_equal(0, put(&map, cell_int64(5), text("x"), 0));
    assert_int_equal(ERROR_TYPE, put(&map, text("x"), cell_int64(5), 0));
    char type[64];
    type_print(&heap, &map, type, sizeof type);
    assert_string_equal("[int64]·any", type);
    cell_drop(&heap, map);
}

static void tuples_are_keys(void **state) {
    (void)state;
    struct cell map = map_of("[int64,bool]·int64"), pair;
    uint64_t two = 2;
    int64_t body[2] = { 4, 1 };
    assert_int_equal(0, array_from(&heap, KIND_INT64, 1, &two, body, &pair));
    assert_int_equal(0, put(&map, pair, cell_int64(9), 0));
    prints(&map, "{[4,true]=9}");
    uint64_t three = 3;
    int64_t more[3] = { 4, 1, 1 };
    assert_int_equal(0, array_from(&heap, KIND_INT64, 1, &three, more, &pair));
    assert_int_equal(ERROR_TYPE, put(&map, pair, cell_int64(9), 0));
    cell_drop(&heap, map);
}

static void a_shared_map_is_copied_by_a_write(void **state) {
    (void)state;
    struct cell map = map_of("[]char/utf8·any"), other;
    assert_int_equal(0, put(&map, text("k"), text("some longer value"), 0));
    other = cell_copy(&heap, &map);
    assert_int_equal(0, put(&other, text("k"), cell_int64(2), 0));
    prints(&map, "{k=\"some longer value\"}");
    prints(&other, "{k=2}");
    cell_drop(&heap, map);
    cell_drop(&heap, other);
}

static void none_deletes_and_a_repeated_step_changes_nothing(void **state) {
    (void)state;
    struct cell map = map_of("[]char/utf8·any");
    for (int i = 0; i < 2; i++) assert_int_equal(0, put(&map, text("a"), cell_int64(1), 0));
    for (int i = 0; i < 2; i++) assert_int_equal(0, put(&map, text("a"), cell_none(), 0));
    assert_int_equal(0, map_length(&heap, &map));
    prints(&map, "{}");
    struct dict *dict = cell_dict(&heap, &map);
    dict->live = 7;
    map_repair(&heap, &map);
    assert_int_equal(0, dict->live);
    cell_drop(&heap, map);
}

static void writes_go_through_several_steps(void **state) {
    (void)state;
    struct cell base = cell_none(), a = text("a"), b = text("b"), out, index = cell_int64(1), list;
    const struct cell *op_a = &a, *op_b = &b, *op_index = &index;
    struct value_step steps[3] = { { &op_a, 1, '.', 0 }, { &op_b, 1, '.', 0 }, { &op_index, 1, '[', 0 } };
    uint64_t three = 3;
    assert_int_equal(0, array_new(&heap, KIND_INT64, 1, &three, &list));
    assert_int_equal(0, value_put(&heap, &base, steps, 2, &list, false, &out));
    prints(&out, "{a={b=[0, 0, 0]}}");
    base = out;
    struct cell seven = cell_int64(7), shared = cell_copy(&heap, &base);
    assert_int_equal(0, value_put(&heap, &base, steps, 3, &seven, false, &out));
    assert_true(out.payload != base.payload);
    prints(&base, "{a={b=[0, 0, 0]}}");
    prints(&out, "{a={b=[0, 7, 0]}}");
    prints(&list, "[0, 0, 0]");
    cell_drop(&heap, shared);
    cell_drop(&heap, base);
    cell_drop(&heap, list);
    base = out; /* now alone: in place */
    seven = cell_int64(8);
    assert_int_equal(0, value_put(&heap, &base, steps, 3, &seven, false, &out));
    assert_true(out.payload == base.payload);
    prints(&out, "{a={b=[0, 8, 0]}}");
    index = cell_int64(3);
    assert_int_equal(ERROR_INDEX, value_put(&heap, &base, steps, 3, &seven, false, &out));
    base = out;
    prints(&base, "{a={b=[0, 8, 0]}}");
    struct cell none = cell_none();
    struct value_step last = { &op_index, 1, '[', 0 };
    assert_int_equal(ERROR_TYPE, value_put(&heap, &none, &last, 1, &seven, false, &out));
    cell_drop(&heap, base);
    cell_drop(&heap, a);
    cell_drop(&heap, b);
}

static void deep_values_are_released_without_recursion(void **state) {
    (void)state;
    uint64_t before = heap_private_blocks(&heap);
    struct cell inner = cell_int64(1);
    struct cell key = text("next");
    for (int i = 0; i < 200000; i++) {
        struct cell map = map_of("[]char/utf8·any");
        cell_hold(&heap, &key);
        assert_int_equal(0, put(&map, key, inner, 0));
        inner = map;
    }
    char picture[64];
    value_picture(&heap, &inner, picture, sizeof picture); /* bounded as well */
    cell_drop(&heap, inner);
    cell_drop(&heap, key);
    assert_true(heap_private_blocks(&heap) <= before + 1);
}

static void arrays_grow_in_place(void **state) {
    (void)state;
    uint64_t none = 0;
    struct cell array, next, kept;
    assert_int_equal(0, array_new(&heap, KIND_INT64, 1, &none, &array));
    unsigned moved = 0;
    for (int64_t i = 0; i < 100000; i++) {
        struct cell value = cell_int64(i);
        assert_int_equal(0, array_append(&heap, &array, &value, false, true, &next));
        if (next.payload != array.payload) {
            cell_drop(&heap, array);
            moved++;
        }
        array = next;
    }
    assert_true(moved < 40); /* amortised: as many moves as doublings */
    kept = cell_copy(&heap, &array);
    struct cell value = cell_int64(-1), index = cell_int64(-1);
    const struct cell *indices = &index;
    assert_int_equal(0, array_set(&heap, &array, &indices, 1, &value, false, &next));
    assert_true(next.payload != array.payload);
    cell_drop(&heap, array);
    struct cell last;
    assert_int_equal(0, array_get(&heap, &kept, &indices, 1, &last));
    assert_int_equal(99999, last.payload);
    array_truncate(&heap, &next, 10);
    assert_int_equal(10, array_count(cell_block(&heap, &next)));
    struct cell wrong = cell_float64(1);
    assert_int_equal(ERROR_TYPE, array_append(&heap, &kept, &wrong, true, false, &last));
    cell_drop(&heap, next);
    cell_drop(&heap, kept);
}

static void array_shapes_have_limits(void **state) {
    (void)state;
    struct cell out;
    uint64_t huge[3] = { UINT64_C(1) << 32, UINT64_C(1) << 32, 2 }, nine[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    assert_int_equal(ERROR_VALUE, array_new(&heap, KIND_INT64, 3, huge, &out));
    assert_int_equal(ERROR_VALUE, array_new(&heap, KIND_INT64, 9, nine, &out));
    uint64_t large = UINT64_C(1) << 40;
    assert_int_equal(ERROR_OUT_OF_MEMORY, array_new(&heap, KIND_INT64, 1, &large, &out));
    static const char type[] = "[2,3]int16";
    assert_int_equal(0, array_typed(&heap, type, sizeof type - 1, NULL, 0, 0, false, &out));
    prints(&out, "[[0, 0, 0], [0, 0, 0]]");
    cell_drop(&heap, out);
    struct cell one = cell_int64(1), half = cell_float64(0.5);
    const struct cell *values[2] = { &one, &half };
    assert_int_equal(0, array_list(&heap, values, 2, &out));
    prints(&out, "[1.0, 0.5]");
    cell_drop(&heap, out);
    static const char bytes[] = "[]uint8";
    struct cell big = cell_int64(256);
    values[0] = &big;
    assert_int_equal(ERROR_TYPE, array_typed(&heap, bytes, sizeof bytes - 1, values, 1, 1, false, &out));
    values[0] = &one;
    assert_int_equal(0, array_typed(&heap, bytes, sizeof bytes - 1, values, 1, 1, false, &out));
    cell_drop(&heap, out);
    assert_int_equal(ERROR_TYPE, array_typed(&heap, bytes, sizeof bytes - 1, values, 1, 0, false, &out)); /* not a literal */
}

/* Random sets and deletes of integer keys against a plain table; growth and tombstones on the way. */
static void random_operations_agree_with_a_table(void **state) {
    (void)state;
    enum { KEYS = 700 };
    static int64_t model[KEYS];
    memset(model, 0, sizeof model);
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, live = 0;
    struct cell map = map_of("[int64]·any");
    for (int i = 0; i < 200000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        unsigned key = (unsigned)(x >> 33) % KEYS;
        bool deletes = (x & 3) == 0;
        live += !model[key] && !deletes;
        live -= model[key] && deletes;
        model[key] = deletes ? 0 : i + 1;
        assert_int_equal(0, put(&map, cell_int64(key), deletes ? cell_none() : cell_int64(i + 1), 0));
        assert_int_equal(live, map_length(&heap, &map));
        const struct cell *found;
        struct cell probe = cell_int64((int64_t)(x >> 20) % KEYS);
        assert_int_equal(0, map_find(&heap, &map, &probe, &found));
        assert_int_equal(model[probe.payload], found ? cell_as_int64(found) : 0);
    }
    assert_true(cell_dict(&heap, &map)->capacity <= 4 * KEYS);
    cell_drop(&heap, map);
}

static void maps_compare_by_content(void **state) {
    (void)state;
    struct cell a = map_of("[]char/utf8·int64"), b = map_of("[]char/utf8·any");
    put(&a, text("x"), cell_int64(1), 0);
    put(&a, text("y"), cell_int64(2), 0);
    put(&b, text("y"), cell_float64(2), 0);
    put(&b, text("x"), cell_int64(1), 0);
    bool equal;
    assert_int_equal(0, value_equal(&heap, &a, &b, &equal));
    assert_true(equal);
    put(&b, text("x"), text("1"), 0); /* another category inside: unequal, no error */
    assert_int_equal(0, value_equal(&heap, &a, &b, &equal));
    assert_false(equal);
    cell_drop(&heap, a);
    cell_drop(&heap, b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_that_of_insertion),
        cmocka_unit_test(types_of_keys_and_values_are_checked),
        cmocka_unit_test(tuples_are_keys),
        cmocka_unit_test(a_shared_map_is_copied_by_a_write),
        cmocka_unit_test(none_deletes_and_a_repeated_step_changes_nothing),
        cmocka_unit_test(writes_go_through_several_steps),
        cmocka_unit_test(deep_values_are_released_without_recursion),
        cmocka_unit_test(arrays_grow_in_place),
        cmocka_unit_test(array_shapes_have_limits),
        cmocka_unit_test(random_operations_agree_with_a_table),
        cmocka_unit_test(maps_compare_by_content),
    };
    return cmocka_run_group_tests(tests, open_heap, close_heap);
}
