"""The library's errors as exceptions: one class a code, named as in error.def (kvspace.ENOENT), made from the library's own table.

All are kvspace.Error; those that Python has a class for are of that class too, so that `except KeyError` works."""
from ._library import lib


class Error(Exception):
    """An error of the library. `code` is its number, `name` its name (`ENOENT`)."""

    code = 0
    name = ""

    def __init__(self, message):
        super().__init__(message)
        self.message = message

    def __str__(self):  # KeyError would show it in quotes
        return self.message


_ALSO = {
    "ENOENT": KeyError, "EKEY": ValueError, "ETYPE": TypeError, "EVALUE": ValueError, "ESYNTAX": ValueError,
    "EGONE": KeyError, "ETIMEOUT": TimeoutError, "EFULL": MemoryError, "ENOMEM": MemoryError, "ENOSPC": OSError,
    "EPERM": PermissionError, "EUNTRUSTED": PermissionError, "EREADONLY": PermissionError, "EIO": OSError,
    "EEXIST": FileExistsError, "EDSN": ValueError, "EUSAGE": ValueError, "ELIMIT": ValueError,
}


def _make():
    classes = {}
    for code in range(1, 256):
        name = (lib.kvspace_error_name(code) or b"").decode()
        if not name.startswith("E"):
            continue
        bases = (Error, _ALSO[name]) if name in _ALSO else (Error,)
        text = lib.kvspace_strerror(code).decode()
        classes[code] = type(name, bases, {"code": code, "name": name, "__doc__": text, "__module__": "kvspace"})
    return classes


CLASSES = _make()
BY_NAME = {cls.name: cls for cls in CLASSES.values()}


def raise_code(code, message=""):
    """Raises the exception of a code with a message, or with the code's own text."""
    raise CLASSES.get(code, Error)(message or lib.kvspace_strerror(code).decode())
