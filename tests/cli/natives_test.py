"""Every row of natives.def and of the standard runtime's tables: its example runs and prints what the row says, and the pages of
docs/ are what the tables say. Relies on the built kvlang; examples of http find a server of this test behind 127.0.0.1:8000, those of
libraries that are not there are left out. Promises: a row without a working example fails here, with its name."""
import http.server
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

SOURCE = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
KVLANG = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", SOURCE / "build")) / "bin" / "kvlang"


def table():
    loader = importlib.machinery.SourceFileLoader("natives", str(SOURCE / "scripts" / "natives"))
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("natives", loader))
    loader.exec_module(module)
    return module


class Server(http.server.BaseHTTPRequestHandler):
    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.answer(b"hello")

    def do_POST(self):
        self.answer(self.command.encode() + b" " + self.rfile.read(int(self.headers["Content-Length"])))

    do_PUT = do_POST

    def log_message(self, *_):
        """Nothing: the test's output is about failures."""


def run_example(folder, example, port):
    """(exit status, output, errors); None where the library of the opcode is missing."""
    program = pathlib.Path(folder) / "example.kv"
    program.write_text(example.replace("127.0.0.1:8000", f"127.0.0.1:{port}") + "\n", encoding="utf-8")
    done = subprocess.run([str(KVLANG), str(program)], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode and ("this kvlang was built without" in said or "is not installed" in said):
        return None
    return done.returncode, done.stdout.decode("utf-8", "replace"), said


def main():
    natives = table()
    failed = 0
    for path, head, tables in natives.PAGES:
        if not path.exists() or path.read_text(encoding="utf-8") != natives.page(head, tables):
            print(f"FAIL: {path} is not what the tables say: run scripts/natives")
            failed += 1
    if not KVLANG.exists():
        print(f"skipped: there is no {KVLANG}")
        return 1 if failed else 77
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _, name, _, _, example, prints in natives.rows(natives.CORE + natives.STD):
        with tempfile.TemporaryDirectory() as folder:
            done = run_example(folder, example, server.server_port)
        if done and (done[0] or done[1] != (prints + "\n" if prints else "")):
            print(f"FAIL: {name}: expected {prints!r}, got {done[1]!r}, exit {done[0]}\n{done[2]}")
            failed += 1
    server.shutdown()
    return 1 if failed else 0


sys.exit(main())
