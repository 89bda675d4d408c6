"""A space from Python: mapping manners, listing, watching between threads and processes, slots, errors, export, life cycle."""
import asyncio
import gc
import os
import pathlib
import pickle
import select
import subprocess
import sys
import threading
import time

from kvspace_case import HERE, SpaceCase, kvspace, main, needs_numpy, numpy


class Mapping(SpaceCase):
    def test_manners(self):
        space = self.space
        space["/a"] = 1
        self.assertIn("/a", space)
        self.assertNotIn("/b", space)
        self.assertEqual((space.get("/b"), space.get("/b", 7), space.get("/a", 7)), (None, 7, 1))
        self.assertEqual((space.pop("/a"), space.pop("/a", 9)), (1, 9))
        with self.assertRaises(KeyError):
            space.pop("/a")
        with self.assertRaises(KeyError):
            del space["/a"]
        self.assertEqual(space.delete("/a"), 0)
        space.update({"/x": 1, "/y": "z"})
        self.assertEqual(dict(space.items()) | {"/x": 1, "/y": "z"}, dict(space.items()))
        space["/x"] = None
        self.assertNotIn("/x", space)

    def test_listing(self):
        for name in ("c", "a", "b"):
            self.space[f"/n/{name}/x"] = 1
        self.space["/n/‥s"] = 2
        self.space["/n/m"] = {"k": 1}
        self.assertEqual(self.space.keys("/n"), ["/n/c", "/n/a", "/n/b", "/n/m"])
        self.assertEqual([entry.key for entry in self.space.list("/n/m", "members")], ["/n/m·k"])
        self.assertEqual([entry.name for entry in self.space.list("/n", "system")], ["‥s"])
        self.assertEqual([entry.key for entry in self.space.walk("/n/c")], ["/n/c/x"])
        self.assertEqual(self.space.count("/n"), {"children": 4, "members": 0, "system": 1})
        with self.assertRaises(kvspace.ENOENT):
            self.space.list("/none")
        listing = self.space.list("/n")
        next(listing)
        self.space.close()
        with self.assertRaises(kvspace.EUSAGE):
            list(listing)

    def test_changes_of_place(self):
        self.space["/a/b"] = 1
        self.space.copy("/a", "/c")
        self.space.move("/a", "/d")
        self.assertEqual((self.space["/c/b"], self.space["/d/b"], "/a" in self.space), (1, 1, False))
        self.space.copy_value("/c/b", "/e")
        self.assertEqual(self.space["/e"], 1)

    def test_cas_and_incr(self):
        self.assertTrue(self.space.cas("/x", None, 1))
        self.assertFalse(self.space.cas("/x", None, 2))
        self.assertTrue(self.space.cas("/x", 1, "two"))
        self.assertTrue(self.space.cas("/x", "two", None))
        self.assertNotIn("/x", self.space)
        self.assertEqual((self.space.incr("/n"), self.space.incr("/n", -5)), (1, -4))
        self.space["/s"] = "text"
        with self.assertRaises(TypeError):
            self.space.incr("/s")

    @needs_numpy
    def test_text(self):
        self.space["/m"] = {"a": "x", "b": [1, 2]}
        self.assertEqual(self.space.text("/m", "json").replace(" ", ""), '{"a":"x","b":[1,2]}')
        self.space.set_literal("/i", "int8(3)")
        self.assertEqual(self.space.text("/i", "literal"), "int8(3)")


class Errors(SpaceCase):
    def test_classes_by_code(self):
        cases = [(lambda: self.space["/none"], kvspace.ENOENT, KeyError), (lambda: self.space["none"], kvspace.EKEY, ValueError),
                 (lambda: self.space.set_literal("/x", "[1,"), kvspace.ESYNTAX, ValueError),
                 (lambda: self.space.watch("/x", 0), kvspace.ETIMEOUT, TimeoutError),
                 (lambda: kvspace.open("redis://x"), kvspace.EDSN, ValueError),
                 (lambda: kvspace.open(self.folder / "no", create="never"), kvspace.ENOENT, KeyError),
                 (lambda: kvspace.open(self.path, create="new"), kvspace.EEXIST, FileExistsError)]
        for call, cls, also in cases:
            with self.subTest(cls.name), self.assertRaises(cls) as caught:
                call()
            self.assertIsInstance(caught.exception, also)
            self.assertIsInstance(caught.exception, kvspace.Error)
            self.assertTrue(str(caught.exception))
        self.assertEqual(kvspace.ENOENT.code, 1)

    def test_keys_are_checked(self):
        for key in ("", "a", "/a//b", "/\n", "/" + "x" * 256, "/x" * 3000, "/a\0b", "/\udc80"):
            with self.subTest(key[:9]), self.assertRaises(kvspace.EKEY):
                self.space[key] = 1
        for key in (1, None, b"/x"):
            with self.assertRaises(TypeError):
                self.space[key] = 1

    def test_a_closed_space(self):
        self.space.close()
        self.space.close()
        for call in (lambda: self.space["/x"], lambda: self.space.stats(), lambda: self.space.reading().__enter__()):
            with self.assertRaises(kvspace.EUSAGE):
                call()

    @needs_numpy
    def test_foreign_and_full(self):
        path = self.folder / "diary"
        path.write_text("dear diary " * 1000)
        with self.assertRaises(kvspace.EFOREIGN):
            kvspace.open(path)
        with kvspace.open(self.folder / "small", limit=8 << 20) as small:
            with self.assertRaises(kvspace.EFULL):
                for i in range(1000):
                    small[f"/x{i}"] = numpy.zeros(1000)
            small.delete("/x0")
            small["/y"] = 1
            self.assertEqual(small.check(), [])

    def test_read_only(self):
        self.space["/x"] = 1
        with kvspace.open(self.path, read_only=True) as reader:
            self.assertEqual(reader["/x"], 1)
            with self.assertRaises(kvspace.EREADONLY):
                reader["/x"] = 2


class Watching(SpaceCase):
    def later(self, action, seconds=0.05):
        timer = threading.Timer(seconds, action)
        timer.start()
        self.addCleanup(timer.join)

    def test_watch_in_one_thread_set_in_another(self):
        self.space["/x"] = 1
        self.later(lambda: self.space.set("/x", 2))
        self.assertEqual(self.space.watch("/x", timeout=20), 2)
        self.later(lambda: self.space.delete("/x"))
        self.assertIsNone(self.space.watch("/x", timeout=20))

    def test_no_change_between_reading_and_waiting_is_missed(self):
        self.space["/x"] = 1
        seen = self.space.version("/x")
        self.space["/x"] = 2
        self.assertEqual(self.space.watch("/x", timeout=20, seen=seen), 2)

    def test_timeout(self):
        began = time.monotonic()
        with self.assertRaises(TimeoutError):
            self.space.watch("/none", timeout=0.2)
        self.assertGreater(time.monotonic() - began, 0.15)

    def test_changes_and_wait_until(self):
        self.later(lambda: [self.space.set("/x", "a"), time.sleep(0.1), self.space.set("/x", "b")])
        values = []
        for value in self.space.changes("/x", timeout=20):
            values.append(value)
            if value == "b":
                break
        self.assertEqual(values[-1], "b")
        self.later(lambda: self.space.set("/n", 41))
        self.assertEqual(self.space.wait_until("/n", lambda n: n is not None and n > 40, timeout=20), 41)

    def test_descriptor(self):
        self.space["/x"] = 1
        with self.space.watcher("/x") as watcher:
            self.assertEqual(select.select([watcher], [], [], 0)[0], [])
            with self.assertRaises(kvspace.ETIMEOUT):
                watcher.take()
            for number in (2, 3, 4):
                self.space["/x"] = number
                self.assertEqual(select.select([watcher], [], [], 20)[0], [watcher])
                self.assertEqual(watcher.take(), number)
            self.assertEqual(select.select([watcher], [], [], 0.05)[0], [])

    def test_close_ends_a_wait(self):
        raised = []

        def wait():
            try:
                self.space.watch("/x", 20)
            except kvspace.Error as problem:
                raised.append(problem.name)

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.1)
        self.space.close()
        thread.join(timeout=10)
        self.assertEqual(raised, ["EUSAGE"])

    def test_many_threads_wait_and_leave_nothing(self):
        before = self.space.stats()["participants"]
        for _ in range(3):
            threads = [threading.Thread(target=self.space.wait_until, args=("/go", True, 20)) for _ in range(20)]
            for thread in threads:
                thread.start()
            time.sleep(0.1)
            self.space["/x"] = 1  # the space's own handle is free meanwhile
            self.space["/go"] = True
            for thread in threads:
                thread.join(timeout=20)
            del self.space["/go"]
        self.assertLess(self.space.stats()["participants"], before + 12)

    def test_iterating_over_a_watcher(self):
        self.space["/x"] = 0
        with self.space.watcher("/x") as watcher:
            values = iter(watcher)
            for number in (1, 2):
                threading.Timer(0.05, self.space.set, ("/x", number)).start()
                self.assertEqual(next(values), number)
        for call in (watcher.take, watcher.fileno, lambda: next(watcher)):
            with self.assertRaises(kvspace.EUSAGE):
                call()
        watcher.close()

    def test_an_event_loop(self):
        async def main_program():
            loop, seen = asyncio.get_running_loop(), asyncio.Queue()
            with self.space.watcher("/x") as watcher:
                loop.add_reader(watcher, lambda: seen.put_nowait(watcher.take()))
                self.space["/x"] = 1
                self.assertEqual(await asyncio.wait_for(seen.get(), 20), 1)
                del self.space["/x"]
                self.assertIsNone(await asyncio.wait_for(seen.get(), 20))
                loop.remove_reader(watcher)

        asyncio.run(main_program())

    def test_another_process(self):
        program = f"import sys; sys.path.insert(0, {str(HERE.parent)!r})\nimport kvspace\n" \
                  f"s = kvspace.open({self.path!r})\ns['/ping'] = 1\ns.wait_until('/pong', 2, timeout=20)\ns['/ping'] = 3\ns.close()\n"
        child = subprocess.Popen([sys.executable, "-c", program])
        self.assertEqual(self.space.wait_until("/ping", 1, timeout=20), 1)
        self.space["/pong"] = 2
        self.assertEqual(self.space.wait_until("/ping", 3, timeout=20), 3)
        self.assertEqual(child.wait(timeout=20), 0)


class Slots(SpaceCase):
    @needs_numpy
    def test_slot(self):
        with self.assertRaises(KeyError):
            self.space.slot("/x")
        slot = self.space.slot("/x", create=True)
        self.assertIsNone(slot.get())
        slot.set(5)
        self.assertEqual((slot.value, self.space["/x"], slot.incr(2)), (5, 5, 7))
        slot.value = numpy.arange(10)
        self.assertEqual(self.space["/x"].tolist(), list(range(10)))
        del self.space["/x"]
        for call in (slot.get, lambda: slot.set(1), slot.incr):
            with self.assertRaises(kvspace.EGONE):
                call()
        self.space["/x"] = 9
        with self.assertRaises(kvspace.EGONE):
            slot.get()


class Life(SpaceCase):
    def test_anonymous(self):
        with kvspace.open() as space:
            self.assertIn(space.dsn, [found.dsn for found in kvspace.spaces()])
            path = pathlib.Path(space.file)
            self.assertTrue(path.exists())
            space["/x"] = 1
            with kvspace.open(space.dsn) as other:
                self.assertEqual(other["/x"], 1)
        self.assertFalse(path.exists())

    def test_keep_and_remove(self):
        with kvspace.open(keep=True) as space:
            dsn = space.dsn
        with kvspace.open(dsn, keep=True) as space:
            with self.assertRaises(kvspace.EBUSY):
                kvspace.remove(dsn)
        kvspace.remove(dsn)
        self.assertNotIn(dsn, [found.dsn for found in kvspace.spaces()])

    def python(self, *lines):
        """Runs a program with the module in a process of its own; gives its output."""
        head = ["import os, sys, signal, time", f"sys.path.insert(0, {str(HERE.parent)!r})", "import kvspace", f"path = {self.path!r}"]
        done = subprocess.run([sys.executable, "-W", "error", "-c", "\n".join([*head, *lines])], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_end_of_a_program_closes_its_spaces(self):
        for line in ("", "view = None", "watcher = space.watcher('/x')", "listing = space.list('/')", "slot = space.slot('/x')"):
            with self.subTest(line):
                self.python("space = kvspace.open()", "space['/x'] = 1", line)
                self.assertEqual(kvspace.spaces(), [])

    @needs_numpy
    def test_a_view_that_lives_to_the_end_of_a_program_leaves_no_space(self):
        out = self.python("import numpy", "space = kvspace.open()", "space['/a'] = numpy.arange(1000)", "with space.reading(): view = space['/a']",
                          "import atexit; atexit.register(lambda: print(view.sum()))")
        self.assertEqual(out, "499500\n")
        self.assertEqual(kvspace.spaces(), [])
        self.assertEqual(list((self.folder / "run").rglob("*.kvspace")), [])

    def test_after_fork_the_child_opens_anew(self):
        out = self.python("space = kvspace.open(path)", "space['/x'] = 1", "watcher, listing = space.watcher('/x'), space.list('/')", "if not os.fork():",
                          "    calls = [lambda: space['/x'], watcher.take, lambda: next(listing), lambda: space.watch('/x', 0), lambda: space.reading().__enter__()]",
                          "    for call in calls:", "        try: call(); print('no error')", "        except kvspace.EUSAGE: pass",
                          "    watcher.close(); space.close()", "    with kvspace.open(path) as own: own['/child'] = own['/x'] + 1", "    sys.exit()",
                          "os.wait()", "print(space['/x'], space['/child'], space.check(), next(listing).key in ('/x', '/sys'))")
        self.assertEqual(out, "1 2 [] True\n")

    def test_a_fork_does_not_hide_the_death_of_the_parent(self):
        program = ["space = kvspace.open()", "if not os.fork(): os.close(1); time.sleep(20); sys.exit()", "print(space.dsn, flush=True)", "time.sleep(20)"]
        head = f"import os, sys, time\nsys.path.insert(0, {str(HERE.parent)!r})\nimport kvspace\n"
        with subprocess.Popen([sys.executable, "-c", head + "\n".join(program)], stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
            dsn = parent.stdout.readline().strip()
            self.assertEqual([(found.dsn, found.state) for found in kvspace.spaces()], [(dsn, "live")])
            parent.kill()
            parent.wait(timeout=20)
            self.assertEqual([(found.dsn, found.state) for found in kvspace.spaces()], [(dsn, "crashed")])
            os.killpg(parent.pid, 9)  # its child, alone in the group that is our own making

    def test_pickling_opens_it_anew(self):
        self.space["/x"] = 5
        with pickle.loads(pickle.dumps(self.space)) as again:
            self.assertEqual(again["/x"], 5)
            again["/x"] = 6
        self.assertEqual(self.space["/x"], 6)

    @needs_numpy
    def test_export_import(self):
        self.space["/a"] = {"x": numpy.arange(3)}
        self.space["/b"] = "text"
        for compact in (False, True):
            with kvspace.open(self.folder / f"copy{compact}") as copy:
                copy.import_(self.space.export(compact=compact))
                self.assertEqual(copy.export(), self.space.export())
        with self.assertRaises(kvspace.Error):
            self.space.import_(b"nonsense")

    @needs_numpy
    def test_stats_and_check(self):
        stats = self.space.stats()
        self.space["/x"] = numpy.zeros(100000)
        self.assertGreater(self.space.stats()["used_bytes"], stats["used_bytes"])
        self.whole()
        self.space.sync()
        self.assertEqual(self.space.repair(), ([], True))

    @needs_numpy
    def test_memory_of_views_comes_back(self):
        self.space["/a"] = numpy.zeros(1 << 17)
        for _ in range(5):
            with self.space.reading():
                self.space["/a"]  # pylint: disable=pointless-statement
            self.space["/a"] = numpy.zeros(1 << 17)
        gc.collect()
        before = self.space.stats()["used_bytes"]
        for _ in range(40):
            with self.space.reading():
                view = self.space["/a"]
            self.space["/a"] = numpy.zeros(1 << 17)
            del view
        self.assertLess(self.space.stats()["used_bytes"] - before, 8 << 20)

    def test_many_threads_one_space(self):
        failures = []

        def work(number):
            try:
                for i in range(200):
                    self.space[f"/t{number}/k"] = i
                    if self.space[f"/t{number}/k"] != i:
                        failures.append((number, i))
                    self.space.incr("/sum")
            except Exception as problem:  # pylint: disable=broad-except
                failures.append(problem)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(self.space["/sum"], 800)
        self.whole()

    def test_types(self):
        self.assertTrue(kvspace.type_matches("int64|float64", "float64"))
        self.assertFalse(kvspace.type_matches("[.,3]float32", "[2,4]float32"))
        with self.assertRaises(TypeError):
            kvspace.type_matches("int", "int64")


if __name__ == "__main__":
    main()
