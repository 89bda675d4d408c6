"""A space: opening, reading and writing keys, listing, watching, slots.

A handle of the library is used by one thread at a time, so each call takes the Space's lock; waiting calls use handles of their own.
Memory that was lent to a NumPy view stays valid as long as the view: the read section in which it was lent ends, and the handle is
closed, only after the last view of it has gone."""
import collections
import contextlib
import ctypes
import threading
import time
import weakref

from . import _values
from ._errors import BY_NAME, raise_code
from ._library import (READ, REPORT, VISIT, WRITE, CheckOptions, Counts, Entry as RawEntry, ExportOptions, ListOptions,
                       OpenOptions, PrintOptions, Problem, Slot as RawSlot, Stats, Value, WatchOptions, Write, byref, lib)

ENOENT, EEND, ETIMEOUT = (BY_NAME[name].code for name in ("ENOENT", "EEND", "ETIMEOUT"))
_SLICE_MS = 200  # how long Ctrl-C may wait in a watch; a change is seen at once

Entry = collections.namedtuple("Entry", "key name step has_value has_children has_members")
Stat = collections.namedtuple("Stat", "type ref store kind shape bytes owner read_only version")
Anonymous = collections.namedtuple("Anonymous", "dsn path state file_bytes changed_s")

_STEPS = {1: "child", 2: "member", 3: "system"}
_WHAT = {"children": 0, "members": 1, "system": 2, "all": 3}
_STYLES = {"plain": 0, "quoted": 1, "literal": 2, "json": 3}


def _key(key):
    """The bytes of a key; a zero byte in it would cut it short."""
    if not isinstance(key, str):
        raise TypeError(f"a key is a str, not {type(key).__name__}")
    data = key.encode("utf-8", "surrogatepass")
    if b"\0" in data:
        raise BY_NAME["EKEY"]("a key has no zero bytes")
    return data


def _join(key, text):
    return text if key == "/" and text.startswith("/") else key + text


class _Section:
    """A read section with the views of what was lent in it. It ends when it is left and the last view has gone."""

    def __init__(self, space):
        self.space = space
        self.users = 1
        space._call(lib.kvspace_read_begin)

    def lend(self):
        """An object that stands for one view."""
        loan = _Loan()
        with self.space._lock:
            self.users += 1
        weakref.finalize(loan, self.release).atexit = False
        return loan

    def release(self):
        with self.space._lock:
            self.users -= 1
            if self.users:
                return
            lib.kvspace_read_end(self.space._handle)
            self.space._sections -= 1
            self.space._close_when_idle()


class _Loan:
    __slots__ = ("__weakref__",)


class Space:
    """One space. Use kvspace.open(). Works like a mapping from keys to values: space["/a"] = 1."""

    def __init__(self, handle, options):
        self._handle = handle
        self._options = options
        self._lock = threading.RLock()
        self._sections = 0
        self._section = None  # of the innermost `reading`, where views come from
        self._open = True
        self._again = []
        self._local = threading.local()

    # -- the handle --

    def _live(self):
        if not self._open:
            raise BY_NAME["EUSAGE"]("the space is closed")
        return self._handle

    def _check(self, code):
        if code:
            raise_code(code, (lib.kvspace_message(self._handle) or b"").decode("utf-8", "replace"))

    def _call(self, function, *arguments):
        with self._lock:
            self._check(function(self._live(), *arguments))

    def close(self):
        """Closes the space. NumPy views that were lent stay valid; the file is let go when the last of them has gone."""
        with self._lock:
            if not self._open:
                return
            self._open = False
            for handle in self._again:
                lib.kvspace_close(handle)
            self._again.clear()
            self._close_when_idle()

    def _close_when_idle(self):
        if not self._open and not self._sections and self._handle:
            lib.kvspace_close(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if getattr(self, "_open", False):
            self.close()

    def __repr__(self):
        return f"<kvspace.Space {self.dsn}>" if self._open else "<kvspace.Space, closed>"

    @property
    def dsn(self):
        """The name by which other processes open this space."""
        with self._lock:
            return lib.kvspace_dsn(self._live()).decode()

    @property
    def file(self):
        with self._lock:
            return lib.kvspace_file(self._live()).decode()

    def keep(self, keep=True):
        """Whether an anonymous space stays when it is closed."""
        with self._lock:
            lib.kvspace_keep(self._live(), 1 if keep else 2)

    # -- reading --

    @contextlib.contextmanager
    def reading(self):
        """A read section: arrays read in it are views of the space's memory, not copies, and never change."""
        with self._lock:
            section = _Section(self)
            self._sections += 1
            outer, self._section = self._section, section
        try:
            yield self
        finally:
            with self._lock:
                self._section = outer
            section.release()

    def _decode(self, key, value):
        if value.store in (_values.INDEX, _values.EXTINDEX):
            return self._container(key, _values.type_of(value))
        lend = self._section.lend() if self._section and value.store == _values.NDARRAY else None
        return _values.decode(value, lend)

    def _container(self, key, type_text):
        base = _values.Struct(type_text) if type_text.startswith("/") else {}
        for entry in self.list(key, "members"):
            if entry.has_value:
                with contextlib.suppress(BY_NAME["ENOENT"]):  # deleted meanwhile
                    base[_values.member_key(entry.name, type_text)] = self[entry.key]
        return base

    def __getitem__(self, key):
        value = Value()
        with self._lock:
            self._check(lib.kvspace_get(self._live(), _key(key), byref(value)))
            return self._decode(key, value)

    def get(self, key, default=None):
        """The value at a key, or `default` where there is none."""
        try:
            return self[key]
        except BY_NAME["ENOENT"]:
            return default

    def follow(self, key):
        """The value at the end of a chain of pointers, and its key: (value, key)."""
        value, room = Value(), ctypes.create_string_buffer(4097)
        with self._lock:
            self._check(lib.kvspace_get_followed(self._live(), _key(key), byref(value), room))
            found = room.value.decode()
            return self._decode(found, value), found

    def stat(self, key):
        """The head of a value: type, ref, store, kind, shape, bytes, owner, read_only, version."""
        value = Value()
        with self._lock:
            self._check(lib.kvspace_get(self._live(), _key(key), byref(value)))
            return Stat(_values.type_of(value), ("inline", "pointer", "external")[value.ref], _values.STORES[value.store],
                        _values.NAME.get(value.kind), tuple(value.dims[i] for i in range(value.ndim)), value.body_bytes,
                        value.owner, bool(value.ro), value.version)

    def version(self, key):
        """A number that changes with each change of the key, for `watch(seen=…)`; also where there is no value."""
        value = Value()
        with self._lock:
            code = lib.kvspace_get(self._live(), _key(key), byref(value))
            if code != ENOENT:
                self._check(code)
            return value.version

    def __contains__(self, key):
        with self._lock:
            code = lib.kvspace_exists(self._live(), _key(key))
            if code != ENOENT:
                self._check(code)
            return not code

    def count(self, key):
        """How many children, members and system variables are directly below a key."""
        counts = Counts()
        self._call(lib.kvspace_count, _key(key), byref(counts))
        return {"children": counts.children, "members": counts.members, "system": counts.system}

    def text(self, key, style="plain"):
        """The value as text: plain, quoted, literal (reads back with set_literal) or json."""
        pieces = []
        write = WRITE(lambda context, data, size: pieces.append(ctypes.string_at(data, size)) or 0)
        self._call(lib.kvspace_print, _key(key), byref(PrintOptions(style=_STYLES[style])), write, None)
        return b"".join(pieces).decode("utf-8", "replace")

    # -- writing --

    def __setitem__(self, key, thing):
        if thing is None:
            self._call(lib.kvspace_set, _key(key), None)
        elif isinstance(thing, dict):
            self.set_literal(key, _values.literal(thing))
        else:
            made = _values.encode(thing)
            self._call(lib.kvspace_set, _key(key), byref(made.value))

    set = __setitem__

    def set_literal(self, key, text):
        """Sets what a literal of kvlang denotes: "int8(3)", "[1,2,3]", "{a=1}"."""
        data, problem = text.encode(), Problem()
        with self._lock:
            code = lib.kvspace_set_literal(self._live(), _key(key), data, len(data), byref(problem))
            if code and problem.message:
                raise_code(code, f"{problem.message.decode('utf-8', 'replace')} (byte {problem.position})")
            self._check(code)

    @contextlib.contextmanager
    def writing(self, key, shape, kind="float64"):
        """A new array that is filled in place and appears at the key, whole, when the block is left without an exception."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        dtype = _values.dtype_of(kind) if isinstance(kind, str) and kind in _values.NUMBER else _values.numpy.dtype(kind)
        head = _values.Encoded(kind=_values.NUMBER[kind if kind in _values.NUMBER else _values.array_kind(dtype)],
                               store=_values.NDARRAY).shape(shape)
        write = Write()
        self._call(lib.kvspace_write_begin, _key(key), byref(head.value), byref(write))
        size = write.body_bytes
        raw = (ctypes.c_uint8 * size).from_address(write.body) if size else (ctypes.c_uint8 * 0)()
        view = _values.numpy.frombuffer(raw, dtype).reshape(shape)
        try:
            yield view
        except BaseException:
            with self._lock:
                lib.kvspace_write_cancel(byref(write))
            raise
        finally:
            view.flags.writeable = False  # the array belongs to the space from here on
        with self._lock:
            self._check(lib.kvspace_write_publish(byref(write)))

    def __delitem__(self, key):
        self._call(lib.kvspace_del, _key(key))

    def delete(self, key):
        """Deletes a key and all that is below; gives how many values went, 0 where there was nothing."""
        deleted = ctypes.c_uint64()
        self._call(lib.kvspace_del_tree, _key(key), byref(deleted))
        return deleted.value

    def pop(self, key, *default):
        """The value, which is deleted with all that is below it."""
        try:
            value = self[key]
        except BY_NAME["ENOENT"]:
            if default:
                return default[0]
            raise
        self.delete(key)
        return value

    def update(self, things):
        """Sets each key of a mapping."""
        for key, thing in dict(things).items():
            self[key] = thing

    def copy(self, source, target):
        """Copies a key and all that is below it; what is at the target is replaced in one step."""
        self._call(lib.kvspace_cp_tree, _key(source), _key(target))

    def copy_value(self, source, target):
        self._call(lib.kvspace_cp, _key(source), _key(target))

    def move(self, source, target, old=None):
        """Moves a key and all that is below it, in one step; what was at the target goes to `old`, or is deleted."""
        self._call(lib.kvspace_replace, _key(source), _key(target), None if old is None else _key(old))

    def cas(self, key, expected, wanted):
        """Sets `wanted` if the value equals `expected` (None: there is none). True if it was set."""
        before = None if expected is None else _values.encode(expected)
        after = None if wanted is None else _values.encode(wanted)
        with self._lock:
            code = lib.kvspace_cas(self._live(), _key(key), before and byref(before.value), after and byref(after.value))
            if code == BY_NAME["EMISMATCH"].code:
                return False
            self._check(code)
            return True

    def incr(self, key, delta=1):
        """Adds to an integer; gives the sum."""
        total = ctypes.c_int64()
        self._call(lib.kvspace_incr, _key(key), delta, byref(total))
        return total.value

    def make_container(self, key, type):  # pylint: disable=redefined-builtin
        """An empty container of the type, `[]char/utf8·any`, in place of what is there."""
        self._call(lib.kvspace_mkindex, _key(key), type.encode())

    def overlay(self, key, base):
        """A container whose missing members are read from `base`; writes stay above."""
        self._call(lib.kvspace_extindex, _key(key), _key(base))

    def end_overlay(self, key):
        self._call(lib.kvspace_rmindexext, _key(key))

    # -- listing --

    def list(self, key="/", what="all"):
        """The entries directly below a key, in order of insertion: an iterator of Entry. what: children, members, system, all."""
        if what not in _WHAT:
            raise BY_NAME["EUSAGE"](f"{what!r}: children, members, system or all")
        cursor = ctypes.c_void_p()
        self._call(lib.kvspace_list_open, _key(key), byref(ListOptions(what=_WHAT[what])), byref(cursor))
        return self._entries(key, cursor)

    def _entries(self, key, cursor):
        raw = RawEntry()
        try:
            while True:
                with self._lock:
                    self._live()
                    code = lib.kvspace_list_next(cursor, byref(raw))
                    if code == EEND:
                        return
                    self._check(code)
                    entry = Entry(_join(key, raw.text.decode()), raw.name.decode(), _STEPS.get(raw.step),
                                  bool(raw.has_value), bool(raw.has_children), bool(raw.has_members))
                yield entry
        finally:
            with self._lock:
                if self._handle:
                    lib.kvspace_list_close(cursor)

    def keys(self, key="/"):
        """The keys of the children of a key."""
        return [entry.key for entry in self.list(key, "children")]

    def items(self, key="/"):
        """(key, value) of the children that have a value."""
        for entry in self.list(key, "children"):
            if entry.has_value:
                with contextlib.suppress(BY_NAME["ENOENT"]):
                    yield entry.key, self[entry.key]

    def walk(self, key="/", what="all"):
        """All entries below a key, depth first."""
        stack = [iter(list(self.list(key, what)))]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
                continue
            yield entry
            if entry.has_children or entry.has_members:
                with contextlib.suppress(BY_NAME["ENOENT"]):
                    stack.append(iter(list(self.list(entry.key, what))))

    # -- watching --

    def _waiting_handle(self):
        """A handle of this thread's own for calls that wait."""
        handle = getattr(self._local, "handle", None)
        if handle is None:
            handle = ctypes.c_void_p()
            self._call(lib.kvspace_open_again, byref(handle))
            self._local.handle = handle
            with self._lock:
                self._again.append(handle)
        return handle

    def watch(self, key, timeout=None, seen=None):
        """Waits for a change of a key: of its value or of what is directly below. Gives the value, None where there is none.

        `seen`: the version (see `version`) of the value that was read last, so that no change in between is missed. After `timeout`
        seconds: kvspace.ETIMEOUT, which is a TimeoutError."""
        data = _key(key)
        seen = self.version(key) if seen is None else seen
        handle = self._waiting_handle()
        deadline = None if timeout is None else time.monotonic() + timeout
        number = ctypes.c_uint64(seen)
        while True:
            left = _SLICE_MS if deadline is None else min(_SLICE_MS, int((deadline - time.monotonic()) * 1000))
            options = WatchOptions(seen=ctypes.pointer(number), timeout_ms=left if left > 0 else -1)
            code = lib.kvspace_watch(handle, data, byref(options), None)
            if code != ETIMEOUT:
                if code:
                    raise_code(code, (lib.kvspace_message(handle) or b"").decode("utf-8", "replace"))
                return self.get(key)
            if left <= 0:
                raise_code(ETIMEOUT, f"no change of {key} in {timeout} s")

    def changes(self, key, timeout=None):
        """The values of a key, at each change; ends after `timeout` seconds without one."""
        seen = self.version(key)
        while True:
            try:
                self.watch(key, timeout, seen)
            except BY_NAME["ETIMEOUT"]:
                return
            seen = self.version(key)
            yield self.get(key)

    def wait_until(self, key, wanted, timeout=None):
        """Waits until the value equals `wanted` (a Python thing, or a function that takes the value)."""
        holds = wanted if callable(wanted) else lambda value: type(value) is type(wanted) and value == wanted
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            seen = self.version(key)
            value = self.get(key)
            if holds(value):
                return value
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            self.watch(key, left, seen)

    def notify(self, key):
        """Wakes the watchers of a key as if it had changed."""
        self._call(lib.kvspace_notify, _key(key))

    def watcher(self, key):
        """A Watcher, for event loops: it has fileno()."""
        return Watcher(self, key)

    # -- slots, looking after --

    def slot(self, key, create=False):
        """A Slot: the key is found once and then read and written without walking."""
        return Slot(self, key, create)

    def stats(self):
        stats = Stats()
        self._call(lib.kvspace_get_stats, byref(stats))
        return {name: bool(getattr(stats, name)) if name == "was_clean" else getattr(stats, name)
                for name, _ in Stats._fields_}

    def _examine(self, function):
        faults = []
        report = REPORT(lambda context, fault: faults.append(fault.decode("utf-8", "replace")))
        with self._lock:
            code = function(self._live(), byref(CheckOptions(report=report)))
            if code != BY_NAME["EDAMAGED"].code:
                self._check(code)
        return faults, code == 0

    def check(self):
        """The faults of the space, a sentence each; an empty list where it is whole."""
        return self._examine(lib.kvspace_check)[0]

    def repair(self):
        """Mends the space, which nobody else may have open. (the faults that were found, whether it is whole now)."""
        return self._examine(lib.kvspace_repair)

    def sync(self):
        self._call(lib.kvspace_sync)

    def export(self, key="/", compact=False):
        """All that is below a key, as bytes: JSON, or the compact stream."""
        pieces = []
        write = WRITE(lambda context, data, size: pieces.append(ctypes.string_at(data, size)) or 0)
        self._call(lib.kvspace_export, _key(key), byref(ExportOptions(format=int(compact))), write, None)
        return b"".join(pieces)

    def import_(self, data, key="/"):
        """Puts what `export` gave below a key."""
        data, at, problem = bytes(data), 0, Problem()

        def read(context, out, capacity, count):
            nonlocal at
            piece = data[at:at + capacity]
            ctypes.memmove(out, piece, len(piece))
            at += len(piece)
            count[0] = len(piece)
            return 0

        with self._lock:
            code = lib.kvspace_import(self._live(), _key(key), READ(read), None, byref(problem))
            if code and problem.message:
                raise_code(code, f"{problem.message.decode('utf-8', 'replace')} (byte {problem.position})")
            self._check(code)


class Watcher:
    """Watches a key through a file descriptor that becomes readable at a change. Has a handle of its own."""

    def __init__(self, space, key):
        self._handle, self._watcher = ctypes.c_void_p(), ctypes.c_void_p()
        self._key, self._data = key, _key(key)
        space._call(lib.kvspace_open_again, byref(self._handle))
        try:
            self._check(lib.kvspace_watcher_open(self._handle, self._data, None, byref(self._watcher)))
        except BaseException:
            lib.kvspace_close(self._handle)
            self._handle = None
            raise
        # Containers are read key by key, which the handle does as well as any other.
        self._reader = Space(self._handle, None)

    def _check(self, code):
        if code:
            raise_code(code, (lib.kvspace_message(self._handle) or b"").decode("utf-8", "replace"))

    def fileno(self):
        return lib.kvspace_watcher_descriptor(self._watcher)

    def take(self):
        """The value after a change, None where there is none. kvspace.ETIMEOUT: nothing has happened."""
        with self._reader._lock:
            self._check(lib.kvspace_watcher_take(self._watcher, None))
            return self._reader.get(self._key)

    def close(self):
        if self._handle:
            lib.kvspace_watcher_close(self._watcher)
            self._reader.close()
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if getattr(self, "_watcher", None):
            self.close()


class Slot:
    """A key that was found once. kvspace.EGONE after it was deleted."""

    def __init__(self, space, key, create):
        self._space, self._key, self._slot = space, key, RawSlot()
        space._call(lib.kvspace_slot_open, _key(key), int(create), byref(self._slot))

    def get(self):
        value, space = Value(), self._space
        with space._lock:
            space._live()
            code = lib.kvspace_slot_get(byref(self._slot), byref(value))
            if code == ENOENT:
                return None
            space._check(code)
            return space._decode(self._key, value)

    def set(self, thing):
        if isinstance(thing, dict):
            raise BY_NAME["ETYPE"]("a container is set by its key")
        made, space = None if thing is None else _values.encode(thing), self._space
        with space._lock:
            space._live()
            space._check(lib.kvspace_slot_set(byref(self._slot), made and byref(made.value)))

    def incr(self, delta=1):
        total, space = ctypes.c_int64(), self._space
        with space._lock:
            space._live()
            space._check(lib.kvspace_slot_incr(byref(self._slot), delta, byref(total)))
        return total.value

    value = property(get, set)


def open(dsn=None, *, create="if_missing", read_only=False, trust=False, limit=0, owner=0, keep=None):  # pylint: disable=redefined-builtin
    """Opens a space: "shm:PATH", a path, "anon:NAME"; None makes an anonymous one, which goes when it is closed.

    create: "if_missing", "never" (kvspace.ENOENT when it is missing) or "new" (kvspace.EEXIST when it is there)."""
    problem, handle = Problem(), ctypes.c_void_p()
    options = OpenOptions(limit_bytes=limit, create=("if_missing", "never", "new").index(create), access=int(read_only),
                          trust=int(trust), keep={None: 0, True: 1, False: 2}[keep], owner=owner,
                          label=b"python", problem=ctypes.pointer(problem))
    name = None if dsn is None else _key(str(dsn))
    code = lib.kvspace_open_with(name, byref(options), byref(handle))
    if code:
        raise_code(code, problem.message.decode("utf-8", "replace"))
    return Space(handle, options)


def remove(dsn):
    """Removes a space's file. kvspace.EBUSY: somebody has it open."""
    code = lib.kvspace_remove(_key(str(dsn)))
    if code:
        raise_code(code)


def spaces():
    """The anonymous spaces of this user: Anonymous(dsn, path, state, file_bytes, changed_s); state: live, kept, crashed."""
    found = []

    def visit(context, space):
        row = space[0]
        state = {1: "live", 2: "kept", 3: "crashed"}.get(row.state)
        found.append(Anonymous(row.dsn.decode(), row.path.decode(), state, row.file_bytes, row.changed_s))
        return 0

    code = lib.kvspace_anonymous_list(VISIT(visit), None)
    if code:
        raise_code(code)
    return found


def type_matches(pattern, actual):
    """Whether a type expression takes values of another."""
    result = ctypes.c_int()
    code = lib.kvspace_type_match(pattern.encode(), actual.encode(), byref(result))
    if code:
        raise_code(code, f"{pattern} or {actual}: not a type")
    return bool(result.value)
