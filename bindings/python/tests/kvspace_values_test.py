"""Values between Python and the tree: every kind there and back with its exact type, containers, bad things refused."""
import datetime
import math
import subprocess
import sys
import threading

from kvspace_case import HERE, SpaceCase, kvspace, main, needs_numpy, numpy

UTC = datetime.timezone.utc


class Scalars(SpaceCase):
    def test_python_scalars(self):
        for thing, kind in [(True, "bool"), (False, "bool"), (0, "int64"), (-(2**63), "int64"), (2**63 - 1, "int64"),
                            (2**64 - 1, "uint64"), (1.5, "float64"), (-0.0, "float64"), (float("inf"), "float64"),
                            ("", "[]char/utf32"), ("zwölf 🎈\0\n", "[]char/utf32")]:
            with self.subTest(repr(thing)):
                self.space["/x"] = thing
                back = self.space["/x"]
                self.assertIs(type(back), type(thing))
                self.assertEqual(repr(back), repr(thing))
                self.assertEqual(self.space.stat("/x").type.replace("[]", "[]"), kind)
        self.space["/x"] = float("nan")
        self.assertTrue(math.isnan(self.space["/x"]))

    @needs_numpy
    def test_numpy_scalars_keep_their_kind(self):
        for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split():
            thing = numpy.dtype(name).type(1)
            self.space["/x"] = thing
            self.assertEqual(self.space.stat("/x").type, name)
            self.assertEqual(self.space["/x"], thing)

    def test_kinds_that_python_lacks(self):
        self.space["/x"] = kvspace.Scalar("int8", -3)
        self.assertEqual((self.space["/x"], self.space.stat("/x").kind), (-3, "int8"))
        self.space.set_literal("/b", "bfloat16(1.0)")
        self.assertEqual(self.space["/b"], kvspace.Scalar("bfloat16", 0x3f80))
        with self.assertRaises(kvspace.EVALUE):
            self.space["/x"] = kvspace.Scalar("int8", 128)
        with self.assertRaises(kvspace.ETYPE):
            kvspace.Scalar("int9", 1)

    @needs_numpy
    def test_times(self):
        moment = datetime.datetime(2026, 12, 1, 5, 38, 4, 123456, tzinfo=UTC)
        self.space["/t"] = moment
        self.assertEqual(self.space["/t"].datetime(), moment)
        self.assertEqual(self.space.stat("/t").type, "time")
        self.space["/d"] = datetime.timedelta(days=-1, microseconds=5)
        self.assertEqual(self.space["/d"].timedelta(), datetime.timedelta(days=-1, microseconds=5))
        self.space["/n"] = numpy.datetime64("2026-12-01T05:38:04.123456789", "ns")
        self.assertEqual(self.space["/n"] % 10**9, 123456789)
        with self.assertRaises(ValueError):
            self.space["/t"] = datetime.datetime(2026, 1, 1)

    def test_pointers_words_and_externals(self):
        self.space["/x"] = 5
        self.space["/p"] = kvspace.Pointer("/x")
        self.assertEqual(self.space["/p"], "/x")
        self.assertIsInstance(self.space["/p"], kvspace.Pointer)
        self.assertEqual(self.space.follow("/p"), (5, "/x"))
        self.space["/w"] = kvspace.Word("opcode", b"add")
        self.assertEqual(self.space["/w"], kvspace.Word("opcode", b"add"))
        self.space["/ring"] = kvspace.Pointer("/ring")
        with self.assertRaises(kvspace.ELIMIT):
            self.space.follow("/ring")

    def test_integers_beyond_64_bits(self):
        for number in (2**64, -(2**63) - 1):
            with self.assertRaises(kvspace.EVALUE):
                self.space["/x"] = number
        self.assertNotIn("/x", self.space)

    @needs_numpy
    def test_things_without_a_place(self):
        for thing in (object(), {1, 2}, 1j, [], [1, "a"], [[1], [1, 2]], numpy.array(["a"]), numpy.zeros((1,) * 9)):
            with self.subTest(repr(thing)), self.assertRaises(kvspace.Error):
                self.space["/x"] = thing
        self.assertNotIn("/x", self.space)


@needs_numpy
class Arrays(SpaceCase):
    def test_shapes_and_types(self):
        for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split():
            for shape in [(3,), (2, 3), (1, 2, 1, 2), (0,), (2, 0, 3), (1,) * 8]:
                array = (numpy.arange(math.prod(shape)) % 2).reshape(shape).astype(name)
                self.space["/a"] = array
                back = self.space["/a"]
                self.assertEqual((back.shape, back.dtype, self.space.stat("/a").shape), (shape, array.dtype, shape))
                self.assertTrue((back == array).all())
        self.whole()

    def test_strided_and_big_endian_arrays_are_stored_in_order(self):
        whole = numpy.arange(24).reshape(4, 6)
        for array in (whole.T, whole[::2, ::-1], whole.astype(">i4"), numpy.asfortranarray(whole)):
            self.space["/a"] = array
            self.assertTrue((self.space["/a"] == array).all())

    def test_lists_bytes_and_times(self):
        self.space["/a"] = [[1, 2], [3, 4]]
        self.assertEqual(self.space.stat("/a").type, "[2,2]int64")
        self.space["/b"] = b"\x00\xff"
        self.assertEqual((self.space["/b"].tolist(), self.space.stat("/b").type), ([0, 255], "[2]uint8"))
        self.space["/t"] = numpy.array(["2026-12-01", "1970-01-01"], "M8[D]")
        self.assertEqual(self.space["/t"].astype("M8[D]").astype(str).tolist(), ["2026-12-01", "1970-01-01"])

    def test_a_copy_outside_of_a_section_is_the_callers(self):
        self.space["/a"] = numpy.arange(1000)
        copy = self.space["/a"]
        copy[0] = 7
        self.assertEqual(self.space["/a"][0], 0)

    def test_views_do_not_copy_and_never_change(self):
        self.space["/a"] = numpy.arange(1 << 20)
        with self.space.reading():
            first, second = self.space["/a"], self.space["/a"]
            self.assertEqual(first.ctypes.data, second.ctypes.data)
            self.assertEqual(first.ctypes.data % 64, 0)
            with self.assertRaises(ValueError):
                first[0] = 1
            self.space["/a"] = numpy.zeros(1 << 20, "i8")
            self.assertEqual(int(first[77]), 77)
            self.assertEqual(int(self.space["/a"][77]), 0)
        self.assertEqual(int(first[77]), 77)

    def test_views_outlive_the_section_and_the_space(self):
        self.space["/a"] = numpy.arange(1 << 16)
        with self.space.reading():
            view = self.space["/a"][10:20]
        del self.space["/a"]
        for i in range(20):
            self.space[f"/other{i}"] = numpy.full(1 << 16, i)
        self.space.close()
        self.assertEqual(view.tolist(), list(range(10, 20)))
        del view
        with kvspace.open(self.path) as again:
            self.assertEqual(again.check(), [])
            self.assertNotIn("/a", again)

    def test_nested_sections(self):
        self.space["/a"] = numpy.arange(100)
        with self.space.reading():
            with self.space.reading():
                inner = self.space["/a"]
            self.space["/a"] = numpy.zeros(100)
            self.assertEqual(int(inner[9]), 9)
        self.assertEqual(int(inner[9]), 9)

    def test_writing_in_place(self):
        with self.space.writing("/a", (100, 3), "float32") as out:
            self.assertNotIn("/a", self.space)
            out[:] = 2.5
        self.assertEqual((self.space["/a"].sum(), self.space.stat("/a").type), (750.0, "[100,3]float32"))
        self.assertEqual(out.size, 0)
        with self.assertRaises(ZeroDivisionError), self.space.writing("/b", 10, "int64"):
            raise ZeroDivisionError
        self.assertNotIn("/b", self.space)
        for shape in (4, (4,), (2, 0), (0,), (1,) * 8):
            with self.space.writing("/n", shape, numpy.dtype("i4")) as out:
                out[...] = 7
            self.assertEqual(self.space["/n"].shape, shape if isinstance(shape, tuple) else (shape,))
            self.assertTrue((self.space["/n"] == 7).all())
        for kind in ("nonsense", "complex128", object()):
            with self.assertRaises(kvspace.ETYPE), self.space.writing("/n", 4, kind):
                pass
        with self.assertRaises(kvspace.ELIMIT), self.space.writing("/n", (1,) * 9):
            pass
        self.whole()

    def test_what_is_written_afterwards_through_other_views_is_not_the_spaces(self):
        for keep in (lambda out: out[10:20], memoryview, lambda out: out.T, lambda out: out):
            with self.space.writing("/a", 1000, "int64") as out:
                out[:] = 1
                kept = keep(out)
            stale = numpy.asarray(kept)
            before = self.space["/a"]
            if stale.size and stale.flags.writeable:
                stale[:] = 99
            self.assertEqual(before.sum(), 1000)
            self.assertEqual(self.space["/a"].sum(), 1000)
            del self.space["/a"]
            for i in range(5):
                self.space[f"/other{i}"] = numpy.full(1000, i)
            if stale.size and stale.flags.writeable:
                stale[:] = 98
            self.assertEqual([int(self.space[f"/other{i}"].sum()) for i in range(5)], [1000 * i for i in range(5)])
            del kept, stale, out
        self.whole()

    def test_a_write_in_place_does_not_copy(self):
        before = self.space.stats()["file_bytes"]
        with self.space.writing("/a", 8 << 20, "uint8") as out:
            at = out.ctypes.data
            out[:] = 3
        self.assertLess(self.space.stats()["file_bytes"] - before, 12 << 20)
        self.assertEqual(at % 64, 0)
        self.assertEqual(int(self.space["/a"].sum()), 3 * (8 << 20))

    def test_a_view_stays_read_only(self):
        self.space["/a"] = numpy.arange(100)
        with self.space.reading():
            view = self.space["/a"]
        with self.assertRaises(ValueError):
            view.flags.writeable = True
        with self.assertRaises(ValueError):
            view[3:5] += 1

    def test_a_view_that_is_kept_holds_back_nothing_else(self):
        self.space["/kept"] = numpy.arange(1000)
        self.space["/a"] = numpy.zeros(1 << 17)
        with self.space.reading():
            kept = self.space["/kept"]
        before = self.space.stats()["used_bytes"]
        for i in range(60):
            with self.space.reading():
                self.assertEqual(int(self.space["/a"][0]), i)
            self.space["/a"] = numpy.full(1 << 17, i + 1.0)
        self.assertLess(self.space.stats()["used_bytes"] - before, 8 << 20)
        self.assertEqual(int(kept.sum()), 499500)

    def test_many_views_from_many_sections(self):
        views = []
        for i in range(200):
            self.space["/a"] = numpy.full(2000, i)
            with self.space.reading():
                views.append(self.space["/a"])
        for i in range(200):
            self.assertEqual(int(views[i].sum()), 2000 * i)
        del views[::2]
        self.space.close()
        self.assertEqual(int(views[50].sum()), 2000 * 101)
        views.clear()
        with kvspace.open(self.path) as again:
            self.assertEqual((again.check(), again.stats()["participants"]), ([], 1))

    def test_sections_of_threads_are_their_own(self):
        self.space["/a"] = numpy.arange(1 << 14)
        failures, barrier = [], threading.Barrier(4)

        def work():
            try:
                for _ in range(100):
                    barrier.wait(timeout=20)
                    with self.space.reading():
                        view = self.space["/a"]
                        barrier.wait(timeout=20)
                    outside = self.space["/a"]
                    if not outside.flags.writeable or view.flags.writeable or (view != numpy.arange(1 << 14) + int(view[0])).any():
                        failures.append("wrong")
                    self.space["/a"] = numpy.arange(1 << 14) + int(view[0]) + 1
            except Exception as problem:  # pylint: disable=broad-except
                failures.append(problem)
                barrier.abort()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.whole()


class Containers(SpaceCase):
    @needs_numpy
    def test_dicts(self):
        thing = {"a": 1, "b": {"deep": [1.5, 2.5]}, "text": 'with "quotes" \\ and\nlines', "t": True, "": 0, "a key": -1}
        thing.pop("")  # a step has a name
        self.space["/m"] = thing
        back = self.space["/m"]
        self.assertEqual(list(back), list(thing))
        self.assertEqual(back["b"]["deep"].tolist(), [1.5, 2.5])
        self.assertEqual({key: value for key, value in back.items() if key != "b"},
                         {key: value for key, value in thing.items() if key != "b"})
        self.assertEqual(self.space["/m·b·deep"].tolist(), [1.5, 2.5])
        self.space["/m"] = {"z": 1}
        self.assertEqual(self.space["/m"], {"z": 1})
        self.assertNotIn("/m·a", self.space)

    def test_keys_of_other_kinds(self):
        self.space["/m"] = {0: "x", -5: "y"}
        self.assertEqual(self.space["/m"], {0: "x", -5: "y"})
        self.space["/m"] = {(1, 2): 3.5}
        self.assertEqual(self.space["/m"], {(1, 2): 3.5})

    @needs_numpy
    def test_exact_kinds_inside(self):
        self.space["/m"] = {"a": numpy.float32(0.1), "b": numpy.array([[1, 2]], "u1"), "c": kvspace.Scalar("int8", 3),
                            "d": datetime.timedelta(seconds=1), "e": kvspace.Pointer("/x"), "f": numpy.zeros((0, 2))}
        kinds = {entry.name: self.space.stat(entry.key).type for entry in self.space.list("/m", "members")}
        self.assertEqual({key: kinds[key] for key in "abcdf"},
                         {"a": "float32", "b": "[1,2]uint8", "c": "int8", "d": "duration", "f": "[0,2]float64"})
        self.assertEqual(self.space["/m·e"], "/x")

    def test_what_a_dict_cannot_hold(self):
        self.space["/m"] = {"a": 1}
        for thing in ({"a": object()}, {object(): 1}, {"x": kvspace.Word("opcode", b"")}, {"a/b·": 1}, {"a": 2**70}):
            with self.subTest(repr(thing)), self.assertRaises(kvspace.Error):
                self.space["/m"] = thing
        self.assertEqual(self.space["/m"], {"a": 1})

    def test_overlays(self):
        self.space["/base"] = {"a": 1, "b": 2}
        self.space.overlay("/over", "/base")
        self.space["/over·b"] = 20
        self.assertEqual(self.space["/over"], {"a": 1, "b": 20})
        self.assertEqual(self.space["/base"], {"a": 1, "b": 2})
        self.space.end_overlay("/over")
        self.assertNotIn("/over·b", self.space)


class WithoutNumpy(SpaceCase):
    def test_all_but_arrays_works(self):
        program = f"""
import sys
sys.modules["numpy"] = None
sys.path.insert(0, {str(HERE.parent)!r})
import kvspace
space = kvspace.open({self.path!r})
for thing in (1, True, 1.5, "text", kvspace.Scalar("int8", 3), kvspace.Time(5), kvspace.Pointer("/x"), {{"a": "b", "c": {{"d": 1}}}}):
    space["/x"] = thing
    back = space["/x"]
    assert back == (thing.number if isinstance(thing, kvspace.Scalar) else thing), (thing, back)
for call in (lambda: space.set("/l", [1, 2]), lambda: space["/array"], lambda: space.writing("/w", 3).__enter__()):
    try:
        call()
    except kvspace.EUNSUPPORTED as problem:
        assert "NumPy" in str(problem)
    else:
        raise AssertionError(call)
space["/bytes"] = b"ab"
assert space.stat("/bytes").type == "[2]uint8" and space.text("/bytes") == "[97, 98]"
with space.reading():
    assert space["/text"] == "long " * 100
"""
        self.space.set_literal("/array", "[1,2,3]")
        self.space["/text"] = "long " * 100
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    main()
