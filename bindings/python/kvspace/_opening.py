"""Opening, finding and removing spaces."""
import collections
import ctypes

from ._errors import BY_NAME, raise_code
from ._library import VISIT, OpenOptions, Problem, byref, lib
from ._space import Space
from ._values import utf8
from ._watching import key_bytes

Anonymous = collections.namedtuple("Anonymous", "dsn path state file_bytes changed_s")

_CREATE = ("if_missing", "never", "new")


def open(dsn=None, *, create="if_missing", read_only=False, trust=False, limit=0, owner=0, keep=None):  # pylint: disable=redefined-builtin
    """Opens a space: "shm:PATH", a path, "anon:NAME"; None makes an anonymous one, which goes when it is closed.

    create: "if_missing", "never" (kvspace.ENOENT when it is missing) or "new" (kvspace.EEXIST when it is there)."""
    if create not in _CREATE:
        raise BY_NAME["EUSAGE"](f"create={create!r}: {', '.join(_CREATE)}")
    problem, handle = Problem(), ctypes.c_void_p()
    options = OpenOptions(limit_bytes=limit, create=_CREATE.index(create), access=int(read_only), trust=int(trust),
                          keep={None: 0, True: 1, False: 2}[keep], owner=owner, label=b"python", problem=ctypes.pointer(problem))
    code = lib.kvspace_open_with(None if dsn is None else key_bytes(str(dsn)), byref(options), byref(handle))
    if code:
        raise_code(code, problem.message.decode("utf-8", "replace"))
    return Space(handle)


def reopen(dsn):
    """What unpickling calls: the space is there, or it is an error."""
    return open(dsn, create="never")


def remove(dsn):
    """Removes a space's file. kvspace.EBUSY: somebody has it open."""
    code = lib.kvspace_remove(key_bytes(str(dsn)))
    if code:
        raise_code(code, f"{dsn}: {lib.kvspace_strerror(code).decode()}")


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
    code = lib.kvspace_type_match(utf8(pattern), utf8(actual), byref(result))
    if code:
        raise_code(code, f"{pattern} or {actual}: not a type")
    return bool(result.value)
