"""The part of a Space that waits: watch, changes, wait_until, and watchers for event loops.

Waiting calls use handles of their own, so that they do not hold up others. They wake up each 200 ms for Ctrl-C and close(); a change is seen
at once."""
import ctypes
import select
import time
import weakref

from ._errors import BY_NAME, raise_code
from ._handles import check, message
from ._library import WatchOptions, byref, lib

ETIMEOUT = BY_NAME["ETIMEOUT"].code
_SLICE_MS = 200


def key_bytes(key):
    """The bytes of a key; a zero byte in it would cut it short."""
    if not isinstance(key, str):
        raise TypeError(f"a key is a str, not {type(key).__name__}")
    data = key.encode("utf-8", "surrogatepass")
    if b"\0" in data:
        raise BY_NAME["EKEY"]("a key has no zero bytes")
    return data


class Watching:
    """Needs self._handles, version() and _value_and_version()."""

    def _wait(self, key, timeout, seen):
        """Waits for a change after the version `seen`; ETIMEOUT."""
        data, handles = key_bytes(key), self._handles
        deadline = None if timeout is None else time.monotonic() + timeout
        number = ctypes.c_uint64(seen)
        handle = handles.take(alone=True)
        try:
            while True:
                left = _SLICE_MS if deadline is None else min(_SLICE_MS, int((deadline - time.monotonic()) * 1000) + 1)
                options = WatchOptions(seen=ctypes.pointer(number), timeout_ms=left if left > 0 else -1)
                code = lib.kvspace_watch(handle.raw, data, byref(options), None)
                handles.live()
                if code != ETIMEOUT:
                    check(handle.raw, code)
                    return
                if deadline is not None and time.monotonic() >= deadline:
                    raise_code(ETIMEOUT, f"no change of {key} in {timeout} s")
        finally:
            handles.give(handle)

    def watch(self, key, timeout=None, seen=None):
        """Waits for a change of a key: of its value or of what is directly below. Gives the value, None where there is none.

        `seen`: the version (see `version`) of the value that was read last, so that no change in between is missed. After `timeout`
        seconds: kvspace.ETIMEOUT, which is a TimeoutError."""
        self._wait(key, timeout, self.version(key) if seen is None else seen)
        return self.get(key)

    def changes(self, key, timeout=None):
        """The values of a key, at each change; ends after `timeout` seconds without one. Changes in quick succession are one."""
        seen = self.version(key)
        while True:
            try:
                self._wait(key, timeout, seen)
            except BY_NAME["ETIMEOUT"]:
                return
            value, seen = self._value_and_version(key)
            yield value

    def wait_until(self, key, wanted, timeout=None):
        """Waits until the value equals `wanted` (a Python thing, or a function that takes the value)."""
        holds = wanted if callable(wanted) else lambda value: type(value) is type(wanted) and value == wanted
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            value, seen = self._value_and_version(key)
            if holds(value):
                return value
            self._wait(key, None if deadline is None else max(0.0, deadline - time.monotonic()), seen)

    def notify(self, key):
        """Wakes the watchers of a key as if it had changed."""
        self._handles.call(lib.kvspace_notify, key_bytes(key))

    def watcher(self, key):
        """A Watcher, for event loops: it has fileno()."""
        return Watcher(self, key)


class Watcher:
    """Watches a key through a file descriptor that becomes readable at a change. Iterating over it waits, and gives the value at each change."""

    def __init__(self, space, key):
        self._space, self._key, self._handles = space, key, space._handles
        data, watcher = key_bytes(key), ctypes.c_void_p()
        self._handle = self._handles.take(alone=True)
        code = lib.kvspace_watcher_open(self._handle.raw, data, None, byref(watcher))
        if code:
            text = message(self._handle.raw)
            self._handles.give(self._handle)
            raise_code(code, text)
        self._watcher = watcher
        self._end = weakref.finalize(self, _end_watcher, self._handles, self._handle, watcher)
        self._end.atexit = False

    def _live(self):
        if not self._end.alive:
            raise BY_NAME["EUSAGE"]("the watcher is closed")
        self._handles.live()

    def fileno(self):
        self._live()
        return lib.kvspace_watcher_descriptor(self._watcher)

    def take(self):
        """The value after a change, None where there is none. kvspace.ETIMEOUT: nothing has happened."""
        with self._handles.lock:
            self._live()
            check(self._handle.raw, lib.kvspace_watcher_take(self._watcher, None))
            return self._space.get(self._key)

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            select.select([self.fileno()], [], [], _SLICE_MS / 1000)
            try:
                return self.take()
            except BY_NAME["ETIMEOUT"]:
                continue

    def close(self):
        self._end()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _end_watcher(handles, handle, watcher):
    if not handles.forked:
        lib.kvspace_watcher_close(watcher)
        handles.give(handle)
