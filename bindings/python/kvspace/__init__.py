"""kvspace: one tree of keys and typed values, in memory that processes share.

    import kvspace, numpy
    with kvspace.open("shm:/run/user/1000/demo") as space:
        space["/bank/ann"] = 100
        space["/picture"] = numpy.zeros((480, 640), "u1")
        with space.reading():
            view = space["/picture"]      # no copy, and it never changes
        space.wait_until("/bank/ann", 100, timeout=1.0)

See docs/python.md. Errors are kvspace.Error, one class a code: kvspace.ENOENT is also a KeyError."""
from . import _errors
from ._errors import Error
from ._library import lib as _lib
from ._opening import Anonymous, open, remove, spaces, type_matches  # pylint: disable=redefined-builtin
from ._space import Entry, Slot, Space, Stat
from ._values import Duration, External, Pointer, Scalar, Struct, Time, Word
from ._watching import Watcher

__version__ = _lib.kvspace_version_text().decode()
format_version = _lib.kvspace_format_version()
globals().update(_errors.BY_NAME)

__all__ = ["Anonymous", "Duration", "Entry", "Error", "External", "Pointer", "Scalar", "Slot", "Space", "Stat", "Struct",
           "Time", "Watcher", "Word", "format_version", "open", "remove", "spaces", "type_matches", *sorted(_errors.BY_NAME)]
