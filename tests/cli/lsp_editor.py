"""An editor for the tests of the language server: starts `kvlang lsp`, reads what it sends in a thread, and keeps what comes between
answers. Relies on KVLANG_BUILD_DIR. Ends the test (SystemExit) when the server ends or stays silent."""
import json
import os
import pathlib
import queue
import subprocess
import threading

BUILD = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", "build"))
KVLANG = str(BUILD / "bin" / "kvlang")
PATIENCE = 120 if os.environ.get("KVLANG_SANITIZE") else 60


class Editor:
    """One server and what it sends, read by a thread."""

    def __init__(self, initialize=True, capabilities=None, arguments=()):
        self.process = subprocess.Popen([KVLANG, *arguments, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.received = queue.Queue()
        self.notices = []
        self.number = 0
        self.versions = {}
        threading.Thread(target=self.read, daemon=True).start()
        if initialize:
            self.capabilities = self.ask("initialize", {"capabilities": capabilities or {}})["capabilities"]
            self.tell("initialized", {})

    def read(self):
        stream = self.process.stdout
        while True:
            head = {}
            line = stream.readline()
            while line not in (b"\r\n", b""):
                name, _, value = line.decode().partition(":")
                head[name.lower()] = value.strip()
                line = stream.readline()
            if not line:
                self.received.put(None)
                return
            self.received.put(json.loads(stream.read(int(head["content-length"])).decode("utf-8")))

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps(message, ensure_ascii=False).encode("utf-8") if not isinstance(message, bytes) else message
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def next(self):
        try:
            return self.received.get(timeout=PATIENCE)
        except queue.Empty:
            raise SystemExit("the server does not answer") from None

    def tell(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, number):
        while True:
            message = self.next()
            if message is None:
                raise SystemExit(f"the server has ended: {self.process.stderr.read().decode()}")
            if "id" in message and message["id"] == number:
                return message
            self.notices.append(message)

    def request(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.answer(self.number)

    def ask(self, method, params):
        message = self.request(method, params)
        if "result" not in message:
            raise SystemExit(f"{method} has no result: {message}")
        return message["result"]

    def open(self, uri, text):
        self.versions[uri] = 1
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "kvlang", "version": 1, "text": text}})
        return self.diagnostics(uri)

    def change(self, uri, *changes):
        self.versions[uri] += 1
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": self.versions[uri]}, "contentChanges": list(changes)})

    def diagnostics(self, uri):
        """The next ones for the document."""
        while True:
            for i, message in enumerate(self.notices):
                if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                    del self.notices[i]
                    if message["params"].get("version", self.versions.get(uri)) == self.versions.get(uri):
                        return message["params"]["diagnostics"]
                    break
            else:
                message = self.next()
                if message is None:
                    raise SystemExit("the server has ended")
                self.notices.append(message)

    def at(self, method, uri, position, **more):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "position": position, **more})

    def quit(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(timeout=PATIENCE)


def units(text):
    return len(text.encode("utf-16-le")) // 2


def position(text, needle, shift=0, number=1):
    """The place of the needle's number-th appearance, in UTF-16 units."""
    at = -1
    for _ in range(number):
        at = text.index(needle, at + 1)
    at += shift
    line_start = text.rfind("\n", 0, at) + 1
    return {"line": text.count("\n", 0, at), "character": units(text[line_start:at])}
