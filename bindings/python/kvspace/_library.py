"""The shared library through ctypes: where it is found, and the declarations of include/kvspace/kvspace.h.

Looked for, in this order: $KVSPACE_LIBRARY, the one packed into this package, $KVLANG_BUILD_DIR/lib, build/lib of the source tree
that this file lies in, the system's."""
import ctypes
import ctypes.util
import os
import pathlib
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p

NAME = "libkvspace.dylib" if sys.platform == "darwin" else "libkvspace.so"
HERE = pathlib.Path(__file__).resolve().parent


def _candidates():
    if os.environ.get("KVSPACE_LIBRARY"):
        yield pathlib.Path(os.environ["KVSPACE_LIBRARY"])
        return
    yield HERE / NAME
    if os.environ.get("KVLANG_BUILD_DIR"):
        yield pathlib.Path(os.environ["KVLANG_BUILD_DIR"]) / "lib" / NAME
    if len(HERE.parents) > 2:
        yield HERE.parents[2] / "build" / "lib" / NAME


def _load():
    for path in _candidates():
        if path.exists():
            return ctypes.CDLL(str(path))
    found = ctypes.util.find_library("kvspace")
    if not found:
        raise ImportError(f"{NAME} was not found: build it (make), or name it with KVSPACE_LIBRARY")
    return ctypes.CDLL(found)


class Value(ctypes.Structure):
    _fields_ = [
        ("ref", c_uint8), ("store", c_uint8), ("kind", c_uint8), ("ndim", c_uint8), ("ro", c_uint8),
        ("reserved", c_uint8 * 3), ("owner", c_uint32), ("type_bytes", c_uint32), ("type", c_void_p),
        ("dims", POINTER(c_uint64)), ("body", c_void_p), ("body_bytes", c_uint64), ("scalar", c_uint8 * 8),
        ("version", c_uint64)]


class Problem(ctypes.Structure):
    _fields_ = [("position", c_size_t), ("message", ctypes.c_char * 248)]


class OpenOptions(ctypes.Structure):
    _fields_ = [
        ("limit_bytes", c_uint64), ("create", c_int), ("access", c_int), ("trust", c_int), ("keep", c_int),
        ("owner", c_uint32), ("label", c_char_p), ("problem", POINTER(Problem))]


class Anonymous(ctypes.Structure):
    _fields_ = [("dsn", c_char_p), ("name", c_char_p), ("path", c_char_p), ("state", c_int), ("file_bytes", c_uint64),
                ("changed_s", c_int64)]


class Counts(ctypes.Structure):
    _fields_ = [("children", c_uint64), ("members", c_uint64), ("system", c_uint64), ("has_value", c_uint8)]


class Write(ctypes.Structure):
    _fields_ = [("body", c_void_p), ("body_bytes", c_uint64), ("space", c_void_p), ("place", c_uint64 * 4),
                ("key", c_void_p)]


class ListOptions(ctypes.Structure):
    _fields_ = [("what", c_int), ("after", c_char_p)]


class Entry(ctypes.Structure):
    _fields_ = [("text", c_char_p), ("name", c_char_p), ("text_bytes", c_uint32), ("name_bytes", c_uint32),
                ("step", c_int), ("has_value", c_uint8), ("has_children", c_uint8), ("has_members", c_uint8)]


class WatchOptions(ctypes.Structure):
    _fields_ = [("event", c_int), ("equal", POINTER(Value)), ("seen", POINTER(c_uint64)), ("timeout_ms", c_int64)]


class Slot(ctypes.Structure):
    _fields_ = [("space", c_void_p), ("node", c_void_p), ("birth", c_uint64)]


class PrintOptions(ctypes.Structure):
    _fields_ = [("style", c_int), ("items_max", c_uint64), ("depth_max", c_uint32)]


class Stats(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in (
        "format_version generation limit_bytes file_bytes used_bytes free_bytes page_bytes nodes blocks block_bytes "
        "big_bytes retired participants participants_dead recoveries epoch").split()] + [("was_clean", c_uint8)]


VISIT = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Anonymous))
WRITE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
READ = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, POINTER(c_size_t))
REPORT = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)


class CheckOptions(ctypes.Structure):
    _fields_ = [("report", REPORT), ("context", c_void_p), ("faults_max", c_uint64)]


class ExportOptions(ctypes.Structure):
    _fields_ = [("format", c_int), ("indent", c_uint32)]


_V, _S, _K = POINTER(Value), c_void_p, c_char_p
_DECLARATIONS = {  # name: (result, arguments); functions of the space take its handle first
    "kvspace_strerror": (c_char_p, [c_int]),
    "kvspace_error_name": (c_char_p, [c_int]),
    "kvspace_open_with": (c_int, [c_char_p, POINTER(OpenOptions), POINTER(c_void_p)]),
    "kvspace_open_again": (c_int, [_S, POINTER(c_void_p)]),
    "kvspace_close": (None, [_S]),
    "kvspace_keep": (None, [_S, c_int]),
    "kvspace_message": (c_char_p, [_S]),
    "kvspace_dsn": (c_char_p, [_S]),
    "kvspace_file": (c_char_p, [_S]),
    "kvspace_remove": (c_int, [c_char_p]),
    "kvspace_anonymous_list": (c_int, [VISIT, c_void_p]),
    "kvspace_kind_name": (c_char_p, [c_uint]),
    "kvspace_kind_bytes": (c_size_t, [c_uint]),
    "kvspace_read_begin": (c_int, [_S]),
    "kvspace_read_end": (c_int, [_S]),
    "kvspace_get": (c_int, [_S, _K, _V]),
    "kvspace_get_followed": (c_int, [_S, _K, _V, c_char_p]),
    "kvspace_exists": (c_int, [_S, _K]),
    "kvspace_count": (c_int, [_S, _K, POINTER(Counts)]),
    "kvspace_set": (c_int, [_S, _K, _V]),
    "kvspace_set_i64": (c_int, [_S, _K, c_int64]),
    "kvspace_set_f64": (c_int, [_S, _K, c_double]),
    "kvspace_set_string": (c_int, [_S, _K, c_char_p, c_size_t]),
    "kvspace_write_begin": (c_int, [_S, _K, _V, POINTER(Write)]),
    "kvspace_write_publish": (c_int, [POINTER(Write)]),
    "kvspace_write_cancel": (None, [POINTER(Write)]),
    "kvspace_del": (c_int, [_S, _K]),
    "kvspace_del_tree": (c_int, [_S, _K, POINTER(c_uint64)]),
    "kvspace_cp": (c_int, [_S, _K, _K]),
    "kvspace_cp_tree": (c_int, [_S, _K, _K]),
    "kvspace_replace": (c_int, [_S, _K, _K, _K]),
    "kvspace_cas": (c_int, [_S, _K, _V, _V]),
    "kvspace_incr": (c_int, [_S, _K, c_int64, POINTER(c_int64)]),
    "kvspace_list_open": (c_int, [_S, _K, POINTER(ListOptions), POINTER(c_void_p)]),
    "kvspace_list_next": (c_int, [c_void_p, POINTER(Entry)]),
    "kvspace_list_close": (None, [c_void_p]),
    "kvspace_mkindex": (c_int, [_S, _K, c_char_p]),
    "kvspace_extindex": (c_int, [_S, _K, _K]),
    "kvspace_rmindexext": (c_int, [_S, _K]),
    "kvspace_watch": (c_int, [_S, _K, POINTER(WatchOptions), _V]),
    "kvspace_notify": (c_int, [_S, _K]),
    "kvspace_watcher_open": (c_int, [_S, _K, POINTER(WatchOptions), POINTER(c_void_p)]),
    "kvspace_watcher_descriptor": (c_int, [c_void_p]),
    "kvspace_watcher_take": (c_int, [c_void_p, _V]),
    "kvspace_watcher_close": (None, [c_void_p]),
    "kvspace_slot_open": (c_int, [_S, _K, c_int, POINTER(Slot)]),
    "kvspace_slot_close": (None, [POINTER(Slot)]),
    "kvspace_slot_get": (c_int, [POINTER(Slot), _V]),
    "kvspace_slot_set": (c_int, [POINTER(Slot), _V]),
    "kvspace_slot_incr": (c_int, [POINTER(Slot), c_int64, POINTER(c_int64)]),
    "kvspace_set_literal": (c_int, [_S, _K, c_char_p, c_size_t, POINTER(Problem)]),
    "kvspace_print": (c_int, [_S, _K, POINTER(PrintOptions), WRITE, c_void_p]),
    "kvspace_type_of": (c_size_t, [_V, c_char_p, c_size_t]),
    "kvspace_type_canonical": (c_int, [c_char_p, c_size_t, c_char_p, c_size_t, POINTER(Problem)]),
    "kvspace_type_match": (c_int, [c_char_p, c_char_p, POINTER(c_int)]),
    "kvspace_key_check": (c_int, [c_char_p, POINTER(Problem)]),
    "kvspace_get_stats": (c_int, [_S, POINTER(Stats)]),
    "kvspace_check": (c_int, [_S, POINTER(CheckOptions)]),
    "kvspace_repair": (c_int, [_S, POINTER(CheckOptions)]),
    "kvspace_sync": (c_int, [_S]),
    "kvspace_export": (c_int, [_S, _K, POINTER(ExportOptions), WRITE, c_void_p]),
    "kvspace_import": (c_int, [_S, _K, READ, c_void_p, POINTER(Problem)]),
    "kvspace_version_text": (c_char_p, []),
    "kvspace_format_version": (c_uint32, []),
}


def _declare(library):
    for name, (result, arguments) in _DECLARATIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _declare(_load())
__all__ = ["lib", "byref"]
