#!/usr/bin/env python3
"""The language server, spoken to: a session of an editor with diagnostics, hover, definitions, completion, formatting and the
outline, columns counted in UTF-16, with and without a space, and then everything that an editor should not send: bad frames, bad JSON, bad order, bad
positions, huge documents. After each of them the server must still answer.
Relies on lsp_editor.py and KVLANG_BUILD_DIR (the program kvlang). Exit status 0 when all holds."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from lsp_editor import KVLANG, PATIENCE, Editor, position, units

failures = []
checks = 0


def check(holds, message):
    global checks
    checks += 1
    if not holds:
        failures.append(message)
        print("FAILED", message)


def same(wanted, got, message):
    check(wanted == got, f"{message}: wanted {wanted!r}, got {got!r}")


def alive(editor, after):
    message = editor.request("no/such/method", {})
    same(-32601, message.get("error", {}).get("code"), f"the server answers after {after}")


def slice_of(text, found):
    """The text of a range."""
    lines = text.split("\n")
    start, end = found["start"], found["end"]

    def offset(place):
        before = sum(len(line) + 1 for line in lines[:place["line"]])
        units_left, line = place["character"], lines[place["line"]]
        for i, character in enumerate(line):
            if units_left <= 0:
                return before + i
            units_left -= units(character)
        return before + len(line)

    return text[offset(start):offset(end)]


def applied(text, edits):
    for edit in sorted(edits or [], key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True):
        lines = text.split("\n")

        def offset(place):
            return sum(len(line) + 1 for line in lines[:place["line"]]) + len(lines[place["line"]].encode("utf-16-le")[:place["character"] * 2].decode("utf-16-le"))

        text = text[:offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]):]
    return text


PROGRAM = """# Divides, and keeps
# what is left.
rwfunc divmod(a:int64, b:int64) -> (q:int64, r:int64) {
	a ÷ b -> q
	a % b -> r
}

# A place.
struct Point { x:float64 = 0.0; y:float64 = 0.0 }

lib geo {
	struct Box { corner:Point; wide:float64 = 1.0 }
	rwfunc area(box:Box) -> (v:float64) {
		box·wide × box·corner·x -> v
	}
	# Twice.
	rwfunc twice(box:Box) -> (v:float64) { area(box) + area(box) -> v }
}

rwfunc all(xs:int64...) -> (total:int64) {
	total = 0
	for (i, x in xs) { total + x + i -> total }
}

divmod(17, 5) -> q, r
p = Point{x=3.0}
box = geo·Box{wide=2.0}
名 = "日本"
println(q, r, p·x, geo·area(box), 名, all(1, 2))
vthread·spawn("divmod", 7, 2) -> vid
"""


def hovers(editor, uri, text, needle, wanted, shift=0, number=1):
    found = editor.at("hover", uri, position(text, needle, shift, number))
    value = found["contents"]["value"] if found else None
    check(value is not None and wanted in value, f"hover on {needle!r} ({number}, {shift}) says {wanted!r}: {value!r}")
    return found


def defines(editor, uri, text, needle, wanted, shift=0, number=1, wanted_number=1, wanted_shift=0):
    found = editor.at("definition", uri, position(text, needle, shift, number))
    start = found["range"]["start"] if found else None
    same(position(text, wanted, wanted_shift, wanted_number), start, f"definition of {needle!r} ({number})")


def test_session():
    editor = Editor()
    for wanted in ("hoverProvider", "definitionProvider", "completionProvider", "documentFormattingProvider", "documentSymbolProvider"):
        check(editor.capabilities.get(wanted), f"the server says {wanted}")
    uri = "file:///p.kv"
    same([], editor.open(uri, PROGRAM), "a good program has no diagnostics")
    found = hovers(editor, uri, PROGRAM, "divmod(17", "rwfunc divmod(a:int64, b:int64) -> (q:int64, r:int64)", 3)
    check("Divides, and keeps\nwhat is left." in found["contents"]["value"], "hover shows the documentation comment")
    same("divmod", slice_of(PROGRAM, found["range"]), "hover's range")
    hovers(editor, uri, PROGRAM, "divmod(17", "rwfunc divmod", 6)  # the cursor behind the name
    hovers(editor, uri, PROGRAM, "println(", "rwir println(")
    hovers(editor, uri, PROGRAM, "a ÷ b", "a:int64")
    hovers(editor, uri, PROGRAM, "xs)", "xs:int64...")
    hovers(editor, uri, PROGRAM, "q, r, p", "q:int64")
    hovers(editor, uri, PROGRAM, "Point{", "struct Point {\n\tx:float64 = 0.0\n\ty:float64 = 0.0\n}")
    hovers(editor, uri, PROGRAM, "corner:Point", "struct Point", 7)
    hovers(editor, uri, PROGRAM, "corner·x", "x:float64", 7)
    hovers(editor, uri, PROGRAM, "corner·x", "corner:Point")
    hovers(editor, uri, PROGRAM, "area(box) +", "rwfunc geo·area(box:Box) -> (v:float64)")
    hovers(editor, uri, PROGRAM, "geo {", "lib geo")
    hovers(editor, uri, PROGRAM, "名", "名:[]char/utf32")
    hovers(editor, uri, PROGRAM, "vthread", "rwir vthread·spawn", 9)
    hovers(editor, uri, PROGRAM, '"divmod"', "rwfunc divmod", 2)
    for nothing in ("17, 5", '"日本"', "# Divides", "\n\n#"):
        same(None, editor.at("hover", uri, position(PROGRAM, nothing, 1)), f"hover on {nothing!r}")
    defines(editor, uri, PROGRAM, "divmod(17", "divmod(a", 2)
    defines(editor, uri, PROGRAM, '"divmod"', "divmod(a", 3)
    defines(editor, uri, PROGRAM, "a ÷ b", "a:int64")
    defines(editor, uri, PROGRAM, "-> q\n", "q:int64", 3)
    defines(editor, uri, PROGRAM, "q, r, p", "q, r\np")
    defines(editor, uri, PROGRAM, "Point{", "Point {")
    defines(editor, uri, PROGRAM, "corner:Point", "Point {", 8)
    defines(editor, uri, PROGRAM, "p·x", "x:float64", 3)
    defines(editor, uri, PROGRAM, "wide × ", "wide:float64")
    defines(editor, uri, PROGRAM, "geo·area(box)", "area(box:Box)", 5)
    defines(editor, uri, PROGRAM, "area(box) +", "area(box:Box)")
    defines(editor, uri, PROGRAM, "geo·Box", "Box {", 5)
    defines(editor, uri, PROGRAM, "wide=2.0", "wide:float64")
    defines(editor, uri, PROGRAM, "x + i", "x in xs")
    defines(editor, uri, PROGRAM, "名, all", "名 =")
    same(None, editor.at("definition", uri, position(PROGRAM, "println", 2)), "a native has no definition in a document")
    outline = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    same(["divmod", "Point", "geo", "all"], [symbol["name"] for symbol in outline], "the outline")
    same(["Box", "area", "twice"], [symbol["name"] for symbol in outline[2]["children"]], "the outline of a lib")
    same("divmod", slice_of(PROGRAM, outline[0]["selectionRange"]), "the name in the outline")
    editor.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    same([], editor.diagnostics(uri), "closing takes the diagnostics away")
    same(-32602, editor.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})["error"]["code"], "a closed document")
    same(0, editor.quit(), "the exit status after shutdown")


def labels(editor, uri, text, needle, shift):
    return {item["label"]: item for item in editor.at("completion", uri, position(text, needle, shift))}


def test_completion():
    editor = Editor()
    uri = "file:///c.kv"
    text = PROGRAM + "string·s\nstring.\np·\nbox·corner·\ngeo·\npri\nwhi\nx:in = 5\ntime/dura\ntime/duration·m\n# str\ns = \"str\"\n"
    editor.open(uri, text)
    found = labels(editor, uri, text, "string·s\n", 8)
    check({"slice", "split", "startswith"} <= set(found) and "len" not in found, f"string·s: {sorted(found)}")
    same("string·slice", found["slice"]["detail"].split("(")[0].removeprefix("rwir "), "the detail of an item")
    same(position(text, "string·s\n", 7), found["slice"]["textEdit"]["range"]["start"], "only what stands behind the · is replaced")
    check({"len", "slice"} <= set(labels(editor, uri, text, "string.\n", 7)), "string. with a point")
    same({"x", "y"}, set(labels(editor, uri, text, "p·\n", 2)), "the fields of a struct")
    same({"x", "y"}, set(labels(editor, uri, text, "corner·\n", 7)), "the fields of a struct's struct")
    same({"Box", "area", "twice"}, set(labels(editor, uri, text, "geo·\n", 4)), "the members of a lib")
    check({"print", "println", "printf"} <= set(labels(editor, uri, text, "pri\n", 3)), "opcodes of the terminal")
    same({"while"}, set(labels(editor, uri, text, "whi\n", 3)), "keywords")
    found = labels(editor, uri, text, "x:in ", 4)
    check({"int8", "int64"} <= set(found) and "input" not in found, f"types behind a colon: {sorted(found)}")
    check("time/duration" in labels(editor, uri, text, "time/dura\n", 9), "a package with a slash")
    check({"millis", "minutes"} <= set(labels(editor, uri, text, "duration·m\n", 10)), "members of such a package")
    same({}, labels(editor, uri, text, "# str\n", 5), "nothing in a comment")
    same({}, labels(editor, uri, text, '"str"', 4), "nothing in a string")
    found = labels(editor, uri, text, "a ÷ b", 0)
    check({"a", "b", "q", "r", "divmod", "all", "geo", "string", "Point", "while"} <= set(found) and "box" not in found, "everything at the start of a statement")
    found = labels(editor, uri, text, "area(box) +", 0)
    check("area" in found and "Box" in found, "a lib's own functions need no package")
    editor.quit()


def test_definition_in_another_document():
    editor = Editor()
    library = "lib shapes { rwfunc side() -> (n:int64) { 4 -> n } }\n"
    text = "println(shapes·side())\n"
    editor.open("file:///lib.kv", library)
    editor.open("file:///main.kv", text)
    found = editor.at("definition", "file:///main.kv", position(text, "side", 1))
    same(("file:///lib.kv", position(library, "side")), (found["uri"], found["range"]["start"]) if found else None, "another document")
    editor.quit()


def test_diagnostics():
    editor = Editor()
    uri = "file:///d.kv"
    text = "x = \"é日😀\" + prntln(1) # e\u0301\nrwfunc f(a:int64) -> (b:int64) {\n\ta = 1\n}\n"
    found = editor.open(uri, text)
    for report in found:
        report["text"] = slice_of(text, report["range"])
    same([("NameError", 1, "prntln"), ("SyntaxError", 1, "a"), (None, 2, "b")],
         sorted(((report.get("code"), report["severity"], report["text"]) for report in found), key=lambda r: (r[1], r[0] or "")), "diagnostics")
    check(any("`println`" in report["message"] for report in found), "a suggestion")
    same(position(text, "prntln"), [report for report in found if report.get("code") == "NameError"][0]["range"]["start"], "a column in UTF-16")
    editor.change(uri, {"text": "x = \n"})
    found = editor.diagnostics(uri)
    same(["SyntaxError"], [report.get("code") for report in found], "the whole text changed")
    editor.change(uri, {"text": "x = 1\n"})
    same([], editor.diagnostics(uri), "an error is gone")
    same(None, editor.ask("textDocument/formatting", {"textDocument": {"uri": "file:///d.kv"}}) or None, "nothing to format")
    editor.quit()


def test_changes_against_a_model():
    """Random edits with ranges; what the server holds is what formatting and the model agree on."""
    seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
    print("seed", seed)
    rng = random.Random(seed)
    editor = Editor()
    uri = "file:///m.kv"
    text = ""
    editor.open(uri, text)
    pieces = ["x = 1\n", "日本", "😀", "e\u0301", "\n", "\r\n", "\"", "# a\n", "f(", ")", "\t", " ", "a·b", "{", "}", "[1, 2]", "-> y\n"]
    for _ in range(200):
        a, b = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        if rng.random() < 0.7:
            b = min(len(text), a + rng.randint(0, 3))
        for cut in (a, b):  # never inside \r\n: the protocol has no such place
            if 0 < cut < len(text) and text[cut - 1:cut + 1] == "\r\n":
                a = b = 0
        new = "".join(rng.choice(pieces) for _ in range(rng.randint(0, 4)))
        if a and text[a - 1] == "\r":
            new = "x" + new
        if new.endswith("\r") or (b < len(text) and text[b] == "\n" and new.endswith("\r")):
            new += "x"
        unified = text.replace("\r\n", "\n")

        def place(at):
            before = text[:at].replace("\r\n", "\n")
            return {"line": before.count("\n"), "character": units(before[before.rfind("\n") + 1:])}

        check(len(unified) <= len(text), "a model")
        editor.change(uri, {"range": {"start": place(a), "end": place(b)}, "text": new})
        text = text[:a] + new + text[b:]
    editor.change(uri, {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "Q = 1 # "})
    first = text.replace("\r\n", "\n").split("\n")[0]
    editor.change(uri, {"range": {"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 8 + units(first)}}, "text": "\nlast = 日+\n"})
    text = "Q = 1 # \nlast = 日+\n" + (text[len(first):] if "\n" in text else "")
    for report in editor.diagnostics(uri)[:20]:
        lines = text.replace("\r\n", "\n").split("\n")
        start = report["range"]["start"]
        check(start["line"] < len(lines) and start["character"] <= units(lines[start["line"]]), f"a report lies in the text: {report}")
    found = editor.at("hover", uri, {"line": 0, "character": 0})
    check(found and "Q:int64" in found["contents"]["value"], "the server's first line is the model's")
    editor.change(uri, {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 4294967295, "character": 4294967295}}, "text": ""})
    editor.diagnostics(uri)
    editor.change(uri, {"range": {"start": {"line": 9, "character": 9}, "end": {"line": 9, "character": 9}}, "text": "z   =   2\n"})
    edits = editor.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}})
    same("Q = 1 # \nz = 2\n".replace("# \n", "#\n"), applied("Q = 1 # \nz   =   2\n", edits).replace("# \n", "#\n"), "what is left, formatted")
    editor.quit()


def test_formatting():
    editor = Editor()
    uri = "file:///f.kv"
    text = "# 😀 kept\nx=1\ny   <-  x*2\nprintln( a.b )\n\n\n\n# end\n"
    editor.open(uri, text)
    edits = editor.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": False}})
    wanted = "# 😀 kept\nx = 1\ny = x × 2\nprintln(a·b)\n\n# end\n"
    same(wanted, applied(text, edits), "formatted")
    check(edits and edits[0]["range"]["start"]["line"] == 1, f"the first line stays as it is: {edits}")
    editor.change(uri, {"text": wanted})
    same([], editor.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}}), "formatted twice")
    editor.change(uri, {"text": "x = (\n"})
    same(None, editor.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}}), "a broken document is left alone")
    for windows in ("x=1\r\ny=2\r\n", "\ufeffx=1\n", "x=1"):
        editor.change(uri, {"text": windows})
        check(editor.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}}), f"{windows!r} is formatted")
    editor.quit()


def test_columns():
    """Every kind of character before the name, in every notation of a position."""
    editor = Editor()
    for i, before in enumerate(["", "日本", "😀", "e\u0301", "👩\u200d👩\u200d👧", "\t\t", "\u0000"]):
        uri = f"file:///columns{i}.kv"
        text = f'value = 1\ns = "{before}" + string·len(value)\n'
        editor.open(uri, text)
        found = editor.at("hover", uri, position(text, "string", 2))
        if before == "\u0000":
            continue  # an error of the scanner or not: it only must not end the server
        check(found and "string·len" in found["contents"]["value"], f"hover behind {before!r}")
        if found:
            same("string·len", slice_of(text, found["range"]), f"its range behind {before!r}")
    uri = "file:///bom.kv"
    text = "\ufeffvalue = 1\nprintln(value)\n"
    editor.open(uri, text)
    found = editor.at("definition", uri, position(text, "value)"))
    same({"line": 0, "character": 1}, found["range"]["start"] if found else None, "behind a byte order mark")
    uri = "file:///cr.kv"
    editor.open(uri, "a = 1\r\nb = a\r\n")
    found = editor.at("definition", uri, {"line": 1, "character": 4})
    same({"line": 0, "character": 0}, found["range"]["start"] if found else None, "lines that end in \\r\\n")
    for strange in ({"line": 0, "character": 99999}, {"line": 99999, "character": 0}, {"line": 4294967295, "character": 4294967295}, {"line": 10**30, "character": 1}):
        check("result" in editor.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": strange}), f"position {strange}")
    uri = "file:///pair.kv"
    editor.open(uri, 's = "😀" + f\n')
    check("result" in editor.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 6}}), "inside of a pair")
    editor.change(uri, {"range": {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 6}}, "text": "x"})
    editor.diagnostics(uri)
    alive(editor, "an edit inside of a surrogate pair")
    editor.quit()


def test_space():
    """With -s the functions of a space count: in diagnostics, hover, completion, and definitions by the file that was laid out."""
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "ein Brief.kv"
        library.write_text("struct Card { n:int64 = 0 }\n\n# Sends.\nrwfunc send(to:[]char/utf32) -> (id:int64) { 7 -> id }\n"
                           "lib post { rwfunc weigh(g:int64) -> (x:int64) { g -> x } }\nprintln(send(\"a\"))\n", encoding="utf-8")
        space = str(pathlib.Path(folder) / "space")
        done = subprocess.run([KVLANG, "-s", space, library], capture_output=True, text=True, timeout=PATIENCE, check=False)
        same(("7\n", 0), (done.stdout, done.returncode), f"a file is laid out: {done.stderr}")
        editor = Editor(arguments=["-s", space])
        uri = "file:///s.kv"
        text = "println(send(1), post·weigh(2))\nsned(1)\ncard = Card{n=1}\npost.\ncard·\n"
        found = editor.open(uri, text[:text.index("post.")])
        same(["TypeError", "NameError"], [report["code"] for report in sorted(found, key=lambda r: r["range"]["start"]["line"])], "checked against the space")
        check(any("`send`" in report["message"] for report in found), "a function of the space is suggested")
        editor.change(uri, {"text": text})
        found = hovers(editor, uri, text, "send(1)", "rwfunc send(to:[]char/utf32) -> (id:int64)")
        check("Sends." in found["contents"]["value"], "its documentation")
        hovers(editor, uri, text, "post·weigh", "rwfunc post·weigh(g:int64) -> (x:int64)", 7)
        found = editor.at("definition", uri, position(text, "send(1)"))
        same((library.as_uri(), 3), (found["uri"], found["range"]["start"]["line"]) if found else None, "the file that was laid out")
        same({"weigh"}, set(labels(editor, uri, text, "post.\n", 5)), "members of a lib of the space")
        check({"send", "post", "Card"} <= set(labels(editor, uri, text, "sned", 0)), "names of the space")
        same({"n"}, set(labels(editor, uri, text, "card·\n", 5)), "fields of a struct of the space")
        editor.quit()
        done = subprocess.run([KVLANG, "-s", folder + "/none", "lsp"], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False)
        same(3, done.returncode, "a space that is not there")


def test_order():
    editor = Editor(initialize=False)
    same(-32002, editor.request("textDocument/hover", {})["error"]["code"], "a request before initialize")
    editor.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///x", "version": 1, "text": "x"}})
    editor.ask("initialize", {})
    same(-32600, editor.request("initialize", {})["error"]["code"], "initialize twice")
    same(-32602, editor.request("textDocument/hover", {"textDocument": {"uri": "file:///x"}, "position": {"line": 0, "character": 0}})["error"]["code"],
         "what came before initialize is not kept")
    editor.ask("shutdown", None)
    same(-32600, editor.request("textDocument/hover", {})["error"]["code"], "a request after shutdown")
    editor.tell("exit", None)
    same(0, editor.process.wait(timeout=PATIENCE), "exit after shutdown")
    editor = Editor()
    editor.tell("exit", None)
    same(1, editor.process.wait(timeout=PATIENCE), "exit without shutdown")
    editor = Editor()
    editor.process.stdin.close()
    same(1, editor.process.wait(timeout=PATIENCE), "the stream ends")
    editor = Editor(capabilities={"textDocument": {"hover": {"contentFormat": ["plaintext"]}}})
    editor.open("file:///plain.kv", "println(1)\n")
    found = editor.at("hover", "file:///plain.kv", {"line": 0, "character": 2})
    same("plaintext", found["contents"]["kind"], "an editor without Markdown")
    check("```" not in found["contents"]["value"], "no fences in plain text")
    editor.quit()


def test_bad_input():
    editor = Editor()
    for body, code in [(b"", -32700), (b"{", -32700), (b"nonsense", -32700), (b'{"a":1}x', -32700), (b"\xff\xfe", -32700), (b'{"id":"\xc3"}', -32700),
                       (b"[" * 100000, -32700), (b"[1]", -32600), (b"7", -32600), (b'{"id":{},"method":"x"}', -32600), (b'{"id":true}', -32600),
                       (b'{"jsonrpc":"2.0","id":null}', None), (b'{"result":1}', None), (b"{}", None), (b'{"method":"x"}', None),
                       (b'{"method":"$/cancelRequest","params":{"id":1}}', None)]:
        editor.send(body)
        if code:
            message = editor.next()
            same((code, None), (message.get("error", {}).get("code"), message.get("id")), f"the body {body[:20]!r}")
        alive(editor, f"the body {body[:20]!r}")
    for head in [b"\r\n\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Content-Length:\r\n\r\n", b"Hello\r\n\r\n",
                 b"Content-Length: 99999999999999999999999\r\n\r\n", b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", b"\x00\xff\r\n\r\n", b"\n",
                 b"A" * 20000 + b"\r\n\r\n"]:
        editor.raw(head)
        alive(editor, f"the headers {head[:30]!r}")
        editor.notices.clear()
    body = json.dumps({"jsonrpc": "2.0", "id": "été", "method": "nope"}).encode()
    editor.raw(b"content-type: x\r\nCONTENT-LENGTH :  %d \r\n\r\n" % len(body) + body)
    same("\u00e9t\u00e9", editor.next()["id"], "an id that is a text; names without regard to case")
    for piece in (b"Content-Len", b"gth: %d\r" % len(body), b"\n\r", b"\n" + body[:3], body[3:]):
        editor.raw(piece)
        time.sleep(0.01)
    same("\u00e9t\u00e9", editor.next()["id"], "a message in pieces")
    methods = ["textDocument/hover", "textDocument/definition", "textDocument/completion", "textDocument/formatting", "textDocument/documentSymbol"]
    editor.open("file:///b.kv", "x = 1\n")
    for method in methods:
        for params in (None, [], 7, "x", {}, {"textDocument": None}, {"textDocument": {"uri": 5}}, {"textDocument": {"uri": "file:///none"}}):
            message = editor.request(method, params)
            same(-32602, message.get("error", {}).get("code"), f"{method} with {params!r}")
    for method in methods[:3]:
        for place in (None, {}, {"line": -1, "character": 0}, {"line": 0.5, "character": 0}, {"line": "0", "character": 0}, {"line": 0}):
            message = editor.request(method, {"textDocument": {"uri": "file:///b.kv"}, "position": place})
            same(-32602, message.get("error", {}).get("code"), f"{method} at {place!r}")
    for params in (None, {}, {"textDocument": {"uri": "file:///n", "text": 5}}, {"textDocument": {"text": "x"}}, {"textDocument": {"uri": [], "text": "x"}}):
        editor.tell("textDocument/didOpen", params)
        editor.tell("textDocument/didChange", params)
        editor.tell("textDocument/didClose", params)
    for changes in (None, {}, [1, None, "x"], [{"text": None}], [{"range": {}, "text": "x"}], [{"range": {"start": {"line": 5, "character": 5}, "end": {"line": 0, "character": 0}}, "text": "!"}]):
        editor.tell("textDocument/didChange", {"textDocument": {"uri": "file:///b.kv", "version": None}, "contentChanges": changes})
    editor.send(b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///b.kv"},"contentChanges":[{"text":"a\\ud800"}]}}')
    alive(editor, "changes that make no sense")
    editor.quit()


def test_hard_documents():
    editor = Editor()
    deep = ["(" * 100000, "[" * 5000 + "]" * 5000, "x = " + "-" * 50000 + "1", "lib a { " * 900 + "}" * 900, "if (true) { " * 900, "a·" * 50000 + "b",
            "f(" * 900 + ")" * 900, '"' * 9999, "`" * 999, "/*" * 999, "\x00" * 100, "rwfunc " * 1000, "struct S { a:S = S{a=S{a=S{}}} }", "x = 1" + " + 1" * 20000,
            "rwfunc f(" + ", ".join(f"p{i}:int64" for i in range(2000)) + ") {}", "x:" + "[]" * 1000 + "int64 = []"]
    for text in deep:
        uri = "file:///deep.kv"
        editor.open(uri, text)
        for method in ("hover", "definition", "completion"):
            editor.at(method, uri, {"line": 0, "character": min(50, len(text))})
        editor.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}})
        editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    for text in [PROGRAM[:cut] for cut in range(0, len(PROGRAM), 7)]:
        editor.change(uri, {"text": text})
        line = text.count("\n")
        for method in ("hover", "definition", "completion"):
            editor.at(method, uri, {"line": line, "character": 4294967295})
    editor.quit()


def test_huge_document():
    editor = Editor()
    uri = "file:///huge.kv"
    lines = 100000 if not os.environ.get("KVLANG_SANITIZE") else 20000
    text = "rwfunc f(a:int64) -> (b:int64) {\n\ta + 1 -> b\n}\n" + "".join(f"name{i} = f({i}) # 日\n" for i in range(lines)) + "prntln(name7)\n"
    start = time.time()
    found = editor.open(uri, text)
    same(["NameError"], [report.get("code") for report in found], "a huge document is checked")
    print(f"{len(text.encode()) >> 10} KiB, {lines} lines: diagnostics after {time.time() - start:.2f} s")
    found = editor.at("definition", uri, position(text, "name7)"))
    same(position(text, "name7 ="), found["range"]["start"] if found else None, "a definition in a huge document")
    for i in range(200):  # typing: the checks of what is in between are left out
        editor.change(uri, {"range": {"start": {"line": 50, "character": 0}, "end": {"line": 50, "character": 0}}, "text": "#"})
    start = time.time()
    editor.diagnostics(uri)
    print(f"after 200 edits: {time.time() - start:.2f} s")
    same(0, editor.quit(), "the end after a huge document")


if not pathlib.Path(KVLANG).exists():
    print("no program kvlang")
    sys.exit(77)
for name, test in list(globals().items()):
    if name.startswith("test_") and (len(sys.argv) < 2 or sys.argv[1] in name):
        print(name)
        test()
print(f"{checks} checks, {len(failures)} failed")
sys.exit(1 if failures else 0)
