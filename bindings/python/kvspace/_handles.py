"""Handles of one space, and what keeps them open.

A handle of the library is used by one thread at a time. The Space has one of its own, under its lock, for calls that end at once. Read
sections, writes in place and calls that wait take another from here for as long as they last: a view that is kept for hours then holds back
the memory that it shows, and nobody waits for a watcher. What is given back is used again. After fork() the child forgets
all of them, without a call of the library: they are its parent's."""
import ctypes
import os
import threading
import weakref

from ._errors import BY_NAME, raise_code
from ._library import byref, lib

_HANDLES_MOST = 48  # more share; a space has room for some thousand participants
_IDLE_MOST = 8
_everybody = weakref.WeakSet()


def message(handle):
    return (lib.kvspace_message(handle) or b"").decode("utf-8", "replace")


def check(handle, code):
    """Raises what a call on the handle gave."""
    if code:
        raise_code(code, message(handle))


class Handle:
    """A handle that was taken from the pool; `users` of them keep it."""

    __slots__ = ("raw", "users")

    def __init__(self, raw):
        self.raw, self.users = raw, 0


class Handles:
    """The handle of a space and the ones beside it. `lock` guards the first, and the lists."""

    def __init__(self, main):
        self.lock = threading.RLock()
        self.main = main
        self.open = True
        self.forked = False
        self.cursors = set()  # open on the space's own handle
        self._idle, self._busy = [], []
        _everybody.add(self)

    def live(self):
        """The space's own handle. kvspace.EUSAGE: closed, or this is a child of the process that opened it."""
        if not self.open:
            raise BY_NAME["EUSAGE"]("the space was opened before fork(): open it anew" if self.forked else "the space is closed")
        return self.main

    def call(self, function, *arguments):
        with self.lock:
            check(self.main, function(self.live(), *arguments))

    def take(self, alone=False):
        """A handle for something that lasts. `alone`: nobody else uses it meanwhile (one is opened, or an error)."""
        with self.lock:
            main = self.live()
            if self._idle:
                taken = self._idle.pop()
            elif not alone and len(self._busy) >= _HANDLES_MOST:
                taken = min(self._busy, key=lambda busy: busy.users)
                taken.users += 1
                return taken
            else:
                raw = ctypes.c_void_p()
                check(main, lib.kvspace_open_again(main, byref(raw)))
                taken = Handle(raw)
            taken.users = 1
            if not alone:
                self._busy.append(taken)
            return taken

    def give(self, handle):
        """One user less; the last one gives the handle back."""
        with self.lock:
            if self.forked:
                return
            handle.users -= 1
            if handle.users:
                return
            if handle in self._busy:
                self._busy.remove(handle)
            if self.open and len(self._idle) < _IDLE_MOST:
                self._idle.append(handle)
            else:
                lib.kvspace_close(handle.raw)

    def close_cursor(self, cursor):
        with self.lock:
            if cursor in self.cursors and self.open:
                self.cursors.remove(cursor)
                lib.kvspace_list_close(cursor)

    def close(self):
        """Closes the space's own handle and the idle ones; those in use go when their users do."""
        with self.lock:
            if not self.open:
                return
            for cursor in list(self.cursors):
                self.close_cursor(cursor)
            self.open = False
            for handle in self._idle:
                lib.kvspace_close(handle.raw)
            self._idle.clear()
            lib.kvspace_close(self.main)
            self.main = None


def _forget_after_fork():
    for handles in list(_everybody):
        handles.lock = threading.RLock()  # another thread of the parent may have held it
        handles.open, handles.forked = False, True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


class _Loan:
    """Stands for memory that was lent: whoever holds it keeps the memory."""

    __slots__ = ("__weakref__",)


class Section:
    """A read section on a handle of its own, and the views of what was lent in it. It ends when it is left and the last view has gone."""

    def __init__(self, handles):
        self.handles = handles
        self.handle = handles.take()
        self.users = 1
        with handles.lock:
            code = lib.kvspace_read_begin(self.handle.raw)
        if code:
            handles.give(self.handle)
            check(self.handle.raw, code)

    def lend(self):
        """An object that stands for one view."""
        loan = _Loan()
        with self.handles.lock:
            self.users += 1
        weakref.finalize(loan, self.release).atexit = False
        return loan

    def release(self):
        with self.handles.lock:
            self.users -= 1
            if self.users or self.handles.forked:
                return
            lib.kvspace_read_end(self.handle.raw)
            self.handles.give(self.handle)


class Filling:
    """A write in place on a handle that stays as long as anybody can reach its memory."""

    def __init__(self, handles, key, head, write):
        self.handles, self.write = handles, write
        self.handle = handles.take()
        with handles.lock:
            code = lib.kvspace_write_begin(self.handle.raw, key, byref(head), byref(write))
            if code:
                text = message(self.handle.raw)
                handles.give(self.handle)
                raise_code(code, text)

    def publish(self):
        with self.handles.lock:
            if self.handles.forked:
                self.handles.live()
            code = lib.kvspace_write_publish(byref(self.write))
            text = message(self.handle.raw) if code else ""
            self.handles.give(self.handle)
        if code:
            raise_code(code, text)

    def cancel(self):
        with self.handles.lock:
            if not self.handles.forked:
                lib.kvspace_write_cancel(byref(self.write))
                self.handles.give(self.handle)

    def cancel_after(self, buffer):
        """Keeps the memory until the buffer has gone."""
        loan = _Loan()
        buffer.loan = loan
        weakref.finalize(loan, self.cancel).atexit = False
