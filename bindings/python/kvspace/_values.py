"""Values between Python and the tree.

Reading: bool, int, float, str; Time and Duration (integers of nanoseconds); NumPy arrays; dict for containers, Struct for structs;
Pointer, External and Word for what Python has nothing like. Writing takes the same, and datetime, timedelta, bytes (a
[]uint8), NumPy scalars (their exact kind), and lists (arrays of the common kind)."""
import ctypes
import datetime
import re
import struct
import sys

from ._errors import BY_NAME
from ._library import Value, lib

try:
    import numpy
except ImportError:  # scalars and text work without it
    numpy = None

INLINE, POINTER, EXTERNAL = range(3)
NONE, ATOM, NDARRAY, INDEX, EXTINDEX = range(5)
STORES = ("none", "atom", "ndarray", "index", "extindex")

# In the order of kinds.def: name -> (number, format of struct, NumPy type). Kinds that NumPy lacks are shown as raw bits.
_KINDS = [
    ("bool", "?", "?"), ("int8", "b", "i1"), ("int16", "h", "i2"), ("int32", "i", "i4"), ("int64", "q", "i8"),
    ("uint8", "B", "u1"), ("uint16", "H", "u2"), ("uint32", "I", "u4"), ("uint64", "Q", "u8"), ("float16", "e", "f2"),
    ("bfloat16", "H", "u2"), ("float8/e4m3", "B", "u1"), ("float8/e5m2", "B", "u1"), ("float32", "f", "f4"),
    ("float64", "d", "f8"), ("char/utf32", "I", "u4"), ("char/utf8", "B", "u1"), ("char/ascii", "B", "u1"),
    ("time", "q", "M8[ns]"), ("duration", "q", "m8[ns]")]
NUMBER = {name: number for number, (name, _, _) in enumerate(_KINDS, 1)}
NAME = {number: name for name, number in NUMBER.items()}
_FORMAT = {number: "<" + row[1] for number, row in enumerate(_KINDS, 1)}
_DTYPE = {number: "<" + row[2] if row[2][-1] not in "1?" else row[2] for number, row in enumerate(_KINDS, 1)}
_CHARS = {NUMBER["char/utf32"]: "utf-32-le", NUMBER["char/utf8"]: "utf-8", NUMBER["char/ascii"]: "ascii"}
_OF_DTYPE = {"?": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16",
             "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64"}
assert sys.byteorder == "little", "the format of a space is little-endian"


class Time(int):
    """A moment: nanoseconds since 1970-01-01T00:00:00Z."""

    def datetime(self):
        """The same to a microsecond."""
        return datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=self // 1000)

    def __repr__(self):
        return f"kvspace.Time({int(self)})"


class Duration(int):
    """A span of time in nanoseconds."""

    def timedelta(self):
        """The same to a microsecond."""
        return datetime.timedelta(microseconds=self // 1000)

    def __repr__(self):
        return f"kvspace.Duration({int(self)})"


class Scalar:
    """A number with its kind, for kinds that Python has not: Scalar("int8", 3)."""

    def __init__(self, kind, number):
        if kind not in NUMBER:
            raise BY_NAME["ETYPE"](f"{kind!r} is no kind")
        self.kind, self.number = kind, number

    def __repr__(self):
        return f"kvspace.Scalar({self.kind!r}, {self.number!r})"

    def __eq__(self, other):
        return isinstance(other, Scalar) and (self.kind, self.number) == (other.kind, other.number)

    def __hash__(self):
        return hash((self.kind, self.number))


class _Tagged(str):
    """Text with a type."""

    type = None

    def __new__(cls, text, type=None):  # pylint: disable=redefined-builtin
        made = super().__new__(cls, text)
        made.type = type
        return made

    def __repr__(self):
        return f"kvspace.{self.__class__.__name__}({str(self)!r}, type={self.type!r})"


class Pointer(_Tagged):
    """A pointer: the key that it points to."""


class External(_Tagged):
    """A locator of something outside of the tree."""


class Word:
    """A value with a type of the tree's own (`opcode`, `rwfunc`) and its bytes."""

    def __init__(self, type, body=b""):  # pylint: disable=redefined-builtin
        self.type, self.body = type, bytes(body)

    def __repr__(self):
        return f"kvspace.Word({self.type!r}, {self.body!r})"

    def __eq__(self, other):
        return isinstance(other, Word) and (self.type, self.body) == (other.type, other.body)

    def __hash__(self):
        return hash((self.type, self.body))


class Struct(dict):
    """The fields of a struct; `type` is its name (`/lib/Point`)."""

    def __init__(self, type, *fields, **more):  # pylint: disable=redefined-builtin
        super().__init__(*fields, **more)
        self.type = type

    def __repr__(self):
        return f"kvspace.Struct({self.type!r}, {dict(self)!r})"


# ---- reading ----

def type_of(value):
    size = lib.kvspace_type_of(value, None, 0)
    room = ctypes.create_string_buffer(size + 1)
    lib.kvspace_type_of(value, room, size + 1)
    return room.value.decode()


def _bytes_of(value):
    return ctypes.string_at(value.body, value.body_bytes) if value.body_bytes else b""


def _scalar(value):
    kind = value.kind
    number = struct.unpack_from(_FORMAT[kind], bytes(value.scalar))[0]
    if kind in _CHARS:
        if kind == NUMBER["char/utf32"]:
            return chr(number)
        return bytes([number]).decode("latin-1")
    name = NAME[kind]
    if name == "time":
        return Time(number)
    if name == "duration":
        return Duration(number)
    if name in ("bfloat16", "float8/e4m3", "float8/e5m2"):
        return Scalar(name, number)
    return number


def _array(value, lend):
    """An ndarray: a read-only view that keeps what `lend` gives alive, or a copy where there is no `lend`."""
    shape = tuple(value.dims[axis] for axis in range(value.ndim))
    if numpy is None:
        raise BY_NAME["EUNSUPPORTED"]("arrays need NumPy")
    dtype = numpy.dtype(_DTYPE[value.kind])
    if not value.body_bytes:
        return numpy.empty(shape, dtype)
    raw = (ctypes.c_uint8 * value.body_bytes).from_address(value.body)
    if lend is None:
        return numpy.frombuffer(raw, dtype).reshape(shape).copy()
    raw.loan = lend()  # the array's base keeps it, so the memory outlives the array
    return numpy.frombuffer(memoryview(raw).toreadonly(), dtype).reshape(shape)


def decode(value, lend=None):
    """What a value that is no container is in Python."""
    if value.store == NONE:
        return None
    if value.ref != INLINE:
        text = _bytes_of(value).decode("utf-8", "replace")
        return (Pointer if value.ref == POINTER else External)(text, type_of(value).lstrip("*@") or None)
    if value.store == NDARRAY:
        if value.ndim == 1 and value.kind in _CHARS:
            return _bytes_of(value).decode(_CHARS[value.kind], "replace")
        return _array(value, lend)
    if value.kind:
        return _scalar(value)
    return Word(type_of(value), _bytes_of(value))


_KEY_KIND = re.compile(r"^\[?((?:u?int(?:8|16|32|64)|bool|float(?:32|64)|time|duration)(?:,[a-z0-9]+)*)\]?·")


def member_key(name, container_type):
    """The key of a member as Python has it: its text, an integer, a tuple."""
    if not _KEY_KIND.match(container_type):
        return name
    parts = name[1:-1].split(",") if name.startswith("[") else [name]
    try:
        keys = tuple(part == "true" if part in ("true", "false") else
                     float(part) if re.search(r"[.enf]", part) else int(part) for part in parts)
    except ValueError:
        return name
    return keys if name.startswith("[") and len(keys) > 1 else keys[0]


# ---- writing ----

class Encoded:
    """A Value and what keeps its memory alive."""

    def __init__(self, **fields):
        self.value = Value()
        self.keep = []
        for name, content in fields.items():
            setattr(self.value, name, content)

    def body(self, data):
        room = ctypes.create_string_buffer(bytes(data), max(len(data), 1))
        self.keep.append(room)
        self.value.body = ctypes.addressof(room)
        self.value.body_bytes = len(data)
        return self

    def type(self, text):
        room = ctypes.create_string_buffer(utf8(text))
        self.keep.append(room)
        self.value.type = ctypes.addressof(room)
        self.value.type_bytes = len(room.value)
        return self

    def shape(self, dims):
        room = (ctypes.c_uint64 * max(len(dims), 1))(*dims)
        self.keep.append(room)
        self.value.dims = room
        self.value.ndim = len(dims)
        return self


def scalar(kind, number):
    try:
        data = struct.pack(_FORMAT[NUMBER[kind]], number)
    except (struct.error, OverflowError) as problem:
        raise BY_NAME["EVALUE"](f"{number!r} does not fit {kind}") from problem
    return Encoded(kind=NUMBER[kind]).body(data)


def _integer(number):
    if -(1 << 63) <= number < 1 << 63:
        return scalar("int64", number)
    return scalar("uint64", number)


def nanoseconds(moment):
    """A datetime or timedelta as Time or Duration, exactly."""
    if isinstance(moment, datetime.timedelta):
        return Duration(((moment.days * 86400 + moment.seconds) * 1000000 + moment.microseconds) * 1000)
    if moment.tzinfo is None:
        raise BY_NAME["EVALUE"]("a datetime needs a time zone (datetime.timezone.utc)")
    return Time(nanoseconds(moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)))


def array_kind(dtype):
    """The kind of a NumPy type."""
    if dtype.kind in "Mm":
        return "time" if dtype.kind == "M" else "duration"
    name = _OF_DTYPE.get(dtype.str.lstrip("<>|=").replace("b1", "?"))
    if not name:
        raise BY_NAME["ETYPE"](f"there is no kind for the NumPy type {dtype}")
    return name


def kind_and_dtype(kind):
    """The kind and the NumPy type of a kind's name, or of anything that NumPy takes for a type."""
    if numpy is None:
        raise BY_NAME["EUNSUPPORTED"]("arrays need NumPy")
    if isinstance(kind, str) and kind in NUMBER:
        return kind, numpy.dtype(_DTYPE[NUMBER[kind]])
    try:
        dtype = numpy.dtype(kind)
    except TypeError as problem:
        raise BY_NAME["ETYPE"](f"{kind!r} is no kind and no NumPy type") from problem
    name = array_kind(dtype)
    return name, numpy.dtype(_DTYPE[NUMBER[name]])


def _encode_array(array):
    kind = array_kind(array.dtype)
    if array.ndim > 8:
        raise BY_NAME["ELIMIT"](f"an array has at most 8 axes, this one has {array.ndim}")
    whole = numpy.ascontiguousarray(array, _DTYPE[NUMBER[kind]])
    made = Encoded(kind=NUMBER[kind], store=NDARRAY).shape(array.shape)
    made.keep.append(whole)
    made.value.body = whole.ctypes.data
    made.value.body_bytes = whole.nbytes
    return made


def utf8(text):
    """The bytes of a text; kvspace.EVALUE for lone surrogates, which no text of the tree has."""
    return _encoded(text, "utf-8")


def _encoded(text, encoding):
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as problem:
        raise BY_NAME["EVALUE"](f"not Unicode text: {problem}") from problem


def int64(number):
    """An integer for an int64 argument of the library, which would be cut short without a word."""
    if not -(1 << 63) <= number < 1 << 63:
        raise BY_NAME["EVALUE"](f"{number} does not fit int64")
    return number


def _text(text):
    data = _encoded(text, "utf-32-le")
    return Encoded(kind=NUMBER["char/utf32"], store=NDARRAY).body(data).shape([len(text)])


def encode(thing):
    """A Value for anything but a container."""
    if isinstance(thing, Scalar):
        return scalar(thing.kind, thing.number)
    if numpy is not None and isinstance(thing, numpy.generic) and not isinstance(thing, str):
        return _encode_generic(thing)
    if isinstance(thing, bool):
        return scalar("bool", thing)
    if isinstance(thing, (Time, Duration)):
        return scalar("time" if isinstance(thing, Time) else "duration", int(thing))
    if isinstance(thing, int):
        return _integer(thing)
    if isinstance(thing, float):
        return scalar("float64", thing)
    if isinstance(thing, (Pointer, External)):
        made = Encoded(ref=POINTER if isinstance(thing, Pointer) else EXTERNAL).body(utf8(str(thing)))
        return made.type(thing.type) if thing.type else made
    if isinstance(thing, str):
        return _text(thing)
    if isinstance(thing, (bytes, bytearray, memoryview)):
        data = bytes(thing)
        return Encoded(kind=NUMBER["uint8"], store=NDARRAY).body(data).shape([len(data)])
    if isinstance(thing, (datetime.datetime, datetime.timedelta)):
        return encode(nanoseconds(thing))
    if isinstance(thing, Word):
        return Encoded(store=ATOM).type(thing.type).body(thing.body)
    if numpy is not None and isinstance(thing, numpy.ndarray):
        return _encode_array(thing) if thing.ndim else _encode_generic(thing[()])
    if isinstance(thing, (list, tuple)):
        return _encode_list(thing)
    raise BY_NAME["ETYPE"](f"there is nothing in the tree for a Python {type(thing).__name__}")


def _encode_generic(thing):
    if isinstance(thing, (numpy.datetime64, numpy.timedelta64)):
        unit = "datetime64[ns]" if isinstance(thing, numpy.datetime64) else "timedelta64[ns]"
        return encode((Time if "date" in unit else Duration)(thing.astype(unit).astype("int64").item()))
    if isinstance(thing, (numpy.str_, numpy.bytes_)):
        return encode(thing.item())
    return scalar(array_kind(thing.dtype), thing.item())


def _encode_list(things):
    if numpy is None:
        raise BY_NAME["EUNSUPPORTED"]("lists need NumPy")
    if not things:
        raise BY_NAME["ETYPE"]("an empty list has no kind: numpy.empty(0, 'i8')")
    try:
        array = numpy.array(things)
    except ValueError as problem:
        raise BY_NAME["EVALUE"](f"not an array: {problem}") from problem
    if array.dtype.kind not in "biufMm":
        raise BY_NAME["ETYPE"]("a list is an array of numbers; mixed things and texts go into a dict")
    return _encode_array(array)


# ---- containers, as literals: they are written in one step ----

def _quoted(text):
    pieces = []
    for char in text:
        point = ord(char)
        if char in '"\\':
            pieces.append("\\" + char)
        elif point < 32 or point == 127:
            pieces.append(f"\\x{point:02x}")
        else:
            pieces.append(char)
    return '"' + "".join(pieces) + '"'


def _array_literal(array):
    kind = array_kind(array.dtype)
    integers = array.astype("i8") if kind in ("time", "duration") else array
    body = repr(integers.tolist()).replace("True", "true").replace("False", "false")
    return f"[{','.join(map(str, array.shape))}]{kind}({body if array.size else '[]'})"


def literal(thing):
    """The literal that denotes a thing, for values inside of containers."""
    if thing is None:
        return "None"
    if isinstance(thing, Struct):
        return thing.type + "{" + "; ".join(f"{name}={literal(field)}" for name, field in thing.items()) + "}"
    if isinstance(thing, dict):
        return "{" + "; ".join(f"{_key_literal(key)}={literal(content)}" for key, content in thing.items()) + "}"
    if isinstance(thing, (Pointer, External, Word)) and not isinstance(thing, Pointer):
        raise BY_NAME["ETYPE"](f"a {type(thing).__name__} cannot stand in a dict; set it at its own key")
    if isinstance(thing, Pointer):
        return "&" + _quoted(str(thing))
    if isinstance(thing, str):
        return _quoted(thing)
    if isinstance(thing, (datetime.datetime, datetime.timedelta)):
        thing = nanoseconds(thing)
    if isinstance(thing, Time):
        return f"time({int(thing)})"
    if isinstance(thing, Duration):
        return f"duration({int(thing)})"
    if isinstance(thing, Scalar):
        return f"{thing.kind}({thing.number!r})"
    if isinstance(thing, bool):
        return "true" if thing else "false"
    if isinstance(thing, int):
        return str(thing)
    if numpy is not None and isinstance(thing, numpy.generic):
        if isinstance(thing, (numpy.datetime64, numpy.timedelta64)):
            return literal(decode(_encode_generic(thing).value))
        return f"{array_kind(thing.dtype)}({literal(thing.item())})"
    if isinstance(thing, float):
        return repr(thing)
    if isinstance(thing, (bytes, bytearray)):
        return f"[{len(thing)}]uint8({list(thing)!r})"
    if numpy is not None and isinstance(thing, (list, tuple)) and thing:
        thing = numpy.array(thing)
    if numpy is not None and isinstance(thing, numpy.ndarray):
        return _array_literal(thing)
    raise BY_NAME["ETYPE"](f"there is nothing in the tree for a Python {type(thing).__name__} in a dict")


def _key_literal(key):
    if isinstance(key, str):
        return _quoted(key)
    if isinstance(key, tuple):
        return "[" + ",".join(literal(part) for part in key) + "]"
    return literal(key)
