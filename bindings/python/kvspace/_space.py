"""A space: reading and writing keys, listing, slots. What waits is in _watching.py, what looks after a space in _upkeep.py.

Each call takes the space's lock, because a handle of the library is used by one thread at a time; what lasts has handles of its own
(_handles.py). Memory that was lent to a NumPy view stays valid as long as the view, whatever becomes of the key and of the Space."""
import collections
import contextlib
import ctypes
import sys
import threading
import weakref

from . import _values
from ._errors import BY_NAME, raise_code
from ._handles import Filling, Handles, Section, check
from ._library import (WRITE, Counts, Entry as RawEntry, ListOptions, PrintOptions, Problem, Slot as RawSlot, Value, Write, byref, lib)
from ._upkeep import Upkeep
from ._watching import Watching, key_bytes

ENOENT, EEND, EMISMATCH = (BY_NAME[name].code for name in ("ENOENT", "EEND", "EMISMATCH"))

Entry = collections.namedtuple("Entry", "key name step has_value has_children has_members")
Stat = collections.namedtuple("Stat", "type ref store kind shape bytes owner read_only version")

_STEPS = {1: "child", 2: "member", 3: "system"}
_WHAT = {"children": 0, "members": 1, "system": 2, "all": 3}
_STYLES = {"plain": 0, "quoted": 1, "literal": 2, "json": 3}


def _join(key, text):
    return text if key == "/" and text.startswith("/") else key + text


def _references(thing):
    """References to an object, as far as they are counted here."""
    return sys.getrefcount(thing) if hasattr(sys, "getrefcount") else sys.maxsize


class Space(Watching, Upkeep):
    """One space. Use kvspace.open(). Works like a mapping from keys to values: space["/a"] = 1."""

    def __init__(self, handle):
        self._handles = Handles(handle)
        self._local = threading.local()  # .section: the innermost `reading` of this thread
        self._end = weakref.finalize(self, self._handles.close)  # also when the interpreter ends

    # -- the handle --

    @property
    def _lock(self):
        return self._handles.lock

    def _check(self, code):
        check(self._handles.main, code)

    def close(self):
        """Closes the space. NumPy views that were lent stay valid; the file is let go when the last of them has gone."""
        self._end()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __reduce__(self):
        """A pickled space is opened anew where it arrives."""
        from ._opening import reopen  # pylint: disable=import-outside-toplevel,cyclic-import
        return reopen, (self.dsn,)

    def __repr__(self):
        return f"<kvspace.Space {self.dsn}>" if self._handles.open else "<kvspace.Space, closed>"

    @property
    def closed(self):
        return not self._handles.open

    @property
    def dsn(self):
        """The name by which other processes open this space."""
        with self._lock:
            return lib.kvspace_dsn(self._handles.live()).decode()

    @property
    def file(self):
        with self._lock:
            return lib.kvspace_file(self._handles.live()).decode()

    def keep(self, keep=True):
        """Whether an anonymous space stays when it is closed."""
        with self._lock:
            lib.kvspace_keep(self._handles.live(), 1 if keep else 2)

    # -- reading --

    @contextlib.contextmanager
    def reading(self):
        """A read section: arrays that this thread reads in it are views of the space's memory, not copies, and never change."""
        section = Section(self._handles)
        outer, self._local.section = getattr(self._local, "section", None), section
        try:
            yield self
        finally:
            self._local.section = outer
            section.release()

    def _read(self, key, function=lib.kvspace_get, *more):
        """Calls a reading function; the lock is held. Gives the value, the section and the handle that lend it, and 0 or ENOENT."""
        section, value = getattr(self._local, "section", None), Value()
        handle = self._handles.live()
        if section:
            handle = section.handle.raw
        code = function(handle, key_bytes(key), byref(value), *more)
        if code != ENOENT:
            check(handle, code)
        return value, section, handle, code

    def _decode(self, key, value, section):
        if value.store in (_values.INDEX, _values.EXTINDEX):
            return self._container(key, _values.type_of(value))
        return _values.decode(value, section and section.lend)

    def _container(self, key, type_text):
        base = _values.Struct(type_text) if type_text.startswith("/") else {}
        for entry in self.list(key, "members"):
            if entry.has_value:
                with contextlib.suppress(BY_NAME["ENOENT"]):  # deleted meanwhile
                    base[_values.member_key(entry.name, type_text)] = self[entry.key]
        return base

    def _value_and_version(self, key):
        """The value at a key (None where there is none) with its version."""
        with self._lock:
            value, section, _, code = self._read(key)
            version = value.version
            return (None if code else self._decode(key, value, section)), version

    def __getitem__(self, key):
        with self._lock:
            value, section, handle, code = self._read(key)
            check(handle, code)
            return self._decode(key, value, section)

    def get(self, key, default=None):
        """The value at a key, or `default` where there is none."""
        with self._lock:
            value, section, _, code = self._read(key)
            return default if code else self._decode(key, value, section)

    def follow(self, key):
        """The value at the end of a chain of pointers, and its key: (value, key)."""
        room = ctypes.create_string_buffer(4097)
        with self._lock:
            value, section, handle, code = self._read(key, lib.kvspace_get_followed, room)
            check(handle, code)
            found = room.value.decode()
            return self._decode(found, value, section), found

    def stat(self, key):
        """The head of a value: type, ref, store, kind, shape, bytes, owner, read_only, version."""
        with self._lock:
            value, _, handle, code = self._read(key)
            check(handle, code)
            return Stat(_values.type_of(value), ("inline", "pointer", "external")[value.ref], _values.STORES[value.store],
                        _values.NAME.get(value.kind), tuple(value.dims[i] for i in range(value.ndim)), value.body_bytes,
                        value.owner, bool(value.ro), value.version)

    def version(self, key):
        """A number that changes with each change of the key, for `watch(seen=…)`; also where there is no value."""
        with self._lock:
            return self._read(key)[0].version

    def __contains__(self, key):
        with self._lock:
            code = lib.kvspace_exists(self._handles.live(), key_bytes(key))
            if code != ENOENT:
                self._check(code)
            return not code

    def count(self, key):
        """How many children, members and system variables are directly below a key."""
        counts = Counts()
        self._handles.call(lib.kvspace_count, key_bytes(key), byref(counts))
        return {"children": counts.children, "members": counts.members, "system": counts.system}

    def text(self, key, style="plain"):
        """The value as text: plain, quoted, literal (reads back with set_literal) or json."""
        pieces = []
        write = WRITE(lambda context, data, size: pieces.append(ctypes.string_at(data, size)) or 0)
        self._handles.call(lib.kvspace_print, key_bytes(key), byref(PrintOptions(style=_STYLES[style])), write, None)
        return b"".join(pieces).decode("utf-8", "replace")

    # -- writing --

    def __setitem__(self, key, thing):
        if thing is None:
            self._handles.call(lib.kvspace_set, key_bytes(key), None)
        elif isinstance(thing, dict):
            self.set_literal(key, _values.literal(thing))
        else:
            made = _values.encode(thing)
            self._handles.call(lib.kvspace_set, key_bytes(key), byref(made.value))

    set = __setitem__

    def set_literal(self, key, text):
        """Sets what a literal of kvlang denotes: "int8(3)", "[1,2,3]", "{a=1}"."""
        data, problem = _values.utf8(text), Problem()
        with self._lock:
            code = lib.kvspace_set_literal(self._handles.live(), key_bytes(key), data, len(data), byref(problem))
            if code and problem.message:
                raise_code(code, f"{problem.message.decode('utf-8', 'replace')} (byte {problem.position})")
            self._check(code)

    @contextlib.contextmanager
    def writing(self, key, shape, kind="float64"):
        """A new array that is filled in place and appears at the key, whole, when the block is left without an exception.

        It belongs to the space from then on: the array that was given is empty afterwards. Where something else still refers to its memory (a
        slice, a memoryview), the space gets a copy instead, and that memory lives on apart."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        kind, dtype = _values.kind_and_dtype(kind)
        head = _values.Encoded(kind=_values.NUMBER[kind], store=_values.NDARRAY).shape(shape)
        write = Write()
        filling = Filling(self._handles, key_bytes(key), head.value, write)
        size = write.body_bytes
        raw = (ctypes.c_uint8 * max(size, 1)).from_address(write.body)
        root = _values.numpy.frombuffer(raw, dtype, count=size // dtype.itemsize)
        view = root.reshape(shape)
        before = _references(root), _references(view)
        try:
            yield view
        except BaseException:
            filling.cancel_after(raw)
            raise
        view.flags.writeable = False
        # One reference more than before is the caller's own variable; slices refer to `root`, buffers to `view`.
        if size and (_references(root) > before[0] or _references(view) > before[1] + 1):
            filling.cancel_after(raw)
            self[key] = view
            return
        view.__setstate__((1, (0,), dtype, False, b""))
        filling.publish()

    def __delitem__(self, key):
        self._handles.call(lib.kvspace_del, key_bytes(key))

    def delete(self, key):
        """Deletes a key and all that is below; gives how many values went, 0 where there was nothing."""
        deleted = ctypes.c_uint64()
        self._handles.call(lib.kvspace_del_tree, key_bytes(key), byref(deleted))
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
        self._handles.call(lib.kvspace_cp_tree, key_bytes(source), key_bytes(target))

    def copy_value(self, source, target):
        self._handles.call(lib.kvspace_cp, key_bytes(source), key_bytes(target))

    def move(self, source, target, old=None):
        """Moves a key and all that is below it, in one step; what was at the target goes to `old`, or is deleted."""
        self._handles.call(lib.kvspace_replace, key_bytes(source), key_bytes(target), None if old is None else key_bytes(old))

    def cas(self, key, expected, wanted):
        """Sets `wanted` if the value equals `expected` (None: there is none). True if it was set."""
        before = None if expected is None else _values.encode(expected)
        after = None if wanted is None else _values.encode(wanted)
        with self._lock:
            code = lib.kvspace_cas(self._handles.live(), key_bytes(key), before and byref(before.value), after and byref(after.value))
            if code == EMISMATCH:
                return False
            self._check(code)
            return True

    def incr(self, key, delta=1):
        """Adds to an integer; gives the sum."""
        total = ctypes.c_int64()
        self._handles.call(lib.kvspace_incr, key_bytes(key), _values.int64(delta), byref(total))
        return total.value

    def make_container(self, key, type):  # pylint: disable=redefined-builtin
        """An empty container of the type, `[]char/utf8·any`, in place of what is there."""
        self._handles.call(lib.kvspace_mkindex, key_bytes(key), _values.utf8(type))

    def overlay(self, key, base):
        """A container whose missing members are read from `base`; writes stay above."""
        self._handles.call(lib.kvspace_extindex, key_bytes(key), key_bytes(base))

    def end_overlay(self, key):
        self._handles.call(lib.kvspace_rmindexext, key_bytes(key))

    # -- listing --

    def list(self, key="/", what="all"):
        """The entries directly below a key, in order of insertion: an iterator of Entry. what: children, members, system, all."""
        if what not in _WHAT:
            raise BY_NAME["EUSAGE"](f"{what!r}: children, members, system or all")
        return _Listing(self._handles, key, _WHAT[what])

    def keys(self, key="/"):
        """The keys of the children of a key."""
        return [entry.key for entry in self.list(key, "children")]

    def __iter__(self):
        return iter(self.keys())

    def items(self, key="/"):
        """(key, value) of the children that have a value."""
        for entry in self.list(key, "children"):
            if entry.has_value:
                with contextlib.suppress(BY_NAME["ENOENT"]):
                    yield entry.key, self[entry.key]

    def walk(self, key="/", what="all"):
        """All entries below a key, depth first."""
        stack = [self.list(key, what)]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
                continue
            yield entry
            if entry.has_children or entry.has_members:
                with contextlib.suppress(BY_NAME["ENOENT"]):
                    stack.append(self.list(entry.key, what))

    # -- slots --

    def slot(self, key, create=False):
        """A Slot: the key is found once and then read and written without walking."""
        return Slot(self, key, create)


class _Listing:
    """An iterator over a cursor, which is closed at its end, with the last reference, or with the space."""

    def __init__(self, handles, key, what):
        self._handles, self._key = handles, key
        cursor = ctypes.c_void_p()
        handles.call(lib.kvspace_list_open, key_bytes(key), byref(ListOptions(what=what)), byref(cursor))
        handles.cursors.add(cursor.value)
        self._cursor = cursor.value
        self._end = weakref.finalize(self, handles.close_cursor, cursor.value)
        self._end.atexit = False

    def __iter__(self):
        return self

    def __next__(self):
        raw = RawEntry()
        with self._handles.lock:
            if not self._end.alive:
                raise StopIteration
            self._handles.live()
            code = lib.kvspace_list_next(self._cursor, byref(raw))
            if code == EEND:
                self._end()
                raise StopIteration
            check(self._handles.main, code)
            return Entry(_join(self._key, raw.text.decode()), raw.name.decode(), _STEPS.get(raw.step), bool(raw.has_value),
                         bool(raw.has_children), bool(raw.has_members))


class Slot:
    """A key that was found once. kvspace.EGONE after it was deleted. Arrays are copies, also in a read section."""

    def __init__(self, space, key, create):
        self._space, self._handles, self._key, self._slot = space, space._handles, key, RawSlot()
        self._handles.call(lib.kvspace_slot_open, key_bytes(key), int(create), byref(self._slot))

    def _call(self, function, *arguments):
        self._handles.live()
        return function(byref(self._slot), *arguments)

    def get(self):
        value = Value()
        with self._handles.lock:
            code = self._call(lib.kvspace_slot_get, byref(value))
            if code == ENOENT:
                return None
            check(self._handles.main, code)
            return self._space._decode(self._key, value, None)

    def set(self, thing):
        if isinstance(thing, dict):
            raise BY_NAME["ETYPE"]("a container is set by its key")
        made = None if thing is None else _values.encode(thing)
        with self._handles.lock:
            check(self._handles.main, self._call(lib.kvspace_slot_set, made and byref(made.value)))

    def incr(self, delta=1):
        total = ctypes.c_int64()
        with self._handles.lock:
            check(self._handles.main, self._call(lib.kvspace_slot_incr, _values.int64(delta), byref(total)))
        return total.value

    value = property(get, set)
