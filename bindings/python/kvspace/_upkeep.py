"""The part of a Space that looks after it: figures, check and repair, export and import."""
import ctypes

from ._errors import BY_NAME, raise_code
from ._library import READ, REPORT, WRITE, CheckOptions, ExportOptions, Problem, Stats, byref, lib
from ._watching import key_bytes

EDAMAGED = BY_NAME["EDAMAGED"].code


class Upkeep:
    """Needs self._handles."""

    def stats(self):
        """The figures of the space: memory, nodes, participants."""
        stats = Stats()
        self._handles.call(lib.kvspace_get_stats, byref(stats))
        return {name: bool(getattr(stats, name)) if name == "was_clean" else getattr(stats, name)
                for name, _ in Stats._fields_}

    def _examine(self, function):
        faults = []
        report = REPORT(lambda context, fault: faults.append(fault.decode("utf-8", "replace")))
        with self._handles.lock:
            code = function(self._handles.live(), byref(CheckOptions(report=report)))
            if code and code != EDAMAGED:
                raise_code(code, (lib.kvspace_message(self._handles.main) or b"").decode("utf-8", "replace"))
        return faults, code == 0

    def check(self):
        """The faults of the space, a sentence each; an empty list where it is whole."""
        return self._examine(lib.kvspace_check)[0]

    def repair(self):
        """Mends the space, which nobody else may have open. (the faults that were found, whether it is whole now)."""
        return self._examine(lib.kvspace_repair)

    def sync(self):
        """Writes everything to the file system's medium."""
        self._handles.call(lib.kvspace_sync)

    def export(self, key="/", compact=False):
        """All that is below a key, as bytes: JSON, or the compact stream."""
        pieces = []
        write = WRITE(lambda context, data, size: pieces.append(ctypes.string_at(data, size)) or 0)
        self._handles.call(lib.kvspace_export, key_bytes(key), byref(ExportOptions(format=int(compact))), write, None)
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

        with self._handles.lock:
            main = self._handles.live()
            code = lib.kvspace_import(main, key_bytes(key), READ(read), None, byref(problem))
            if code and problem.message:
                raise_code(code, f"{problem.message.decode('utf-8', 'replace')} (byte {problem.position})")
            if code:
                raise_code(code, (lib.kvspace_message(main) or b"").decode("utf-8", "replace"))
