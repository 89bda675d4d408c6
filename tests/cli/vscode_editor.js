// A stand-in for VS Code, as much of its API as the extension uses, and one session with a document. Arguments: the extension's folder and
// the program kvlang. Exit status 0 when all holds; run by vscode_test.py.
"use strict";
const assert = require("assert");
const Module = require("module");
const path = require("path");

const [, , folder, program] = process.argv;
const registered = {};
const shown = new Map();
const warnings = [];
const events = {};
let change = () => {};

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(a, b, c, d) { this.start = new Position(a, b); this.end = new Position(c, d); } }
const made = (...names) => class { constructor(...values) { names.forEach((name, i) => { this[name] = values[i]; }); } };
const provider = (name) => (language, object, ...triggers) => { registered[name] = object; registered[name].triggers = triggers; return { dispose() {} }; };
const event = (name) => (listener) => { events[name] = listener; return { dispose() {} }; };

const settings = { program };
const document = { languageId: "kvlang", version: 1, uri: { toString: () => "file:///d.kv" }, text: "", getText() { return this.text; } };
const vscode = {
  Position, Range,
  Hover: made("contents", "range"), MarkdownString: made("value"), Location: made("uri", "range"),
  CompletionItem: made("label", "kind"), DocumentSymbol: made("name", "detail", "kind", "range", "selectionRange"),
  Diagnostic: made("range", "message", "severity"), TextEdit: { replace: (range, newText) => ({ range, newText }) },
  Uri: { parse: (text) => ({ toString: () => text }) },
  window: { showWarningMessage: (text) => warnings.push(text) },
  workspace: {
    getConfiguration: () => ({ get: (name) => settings[name] }), textDocuments: [document],
    onDidOpenTextDocument: event("open"), onDidChangeTextDocument: event("change"), onDidCloseTextDocument: event("close"),
  },
  languages: {
    createDiagnosticCollection: () => ({ set: (uri, reports) => { shown.set(uri.toString(), reports); change(); }, clear: () => shown.clear() }),
    registerHoverProvider: provider("hover"), registerDefinitionProvider: provider("definition"),
    registerCompletionItemProvider: provider("completion"), registerDocumentFormattingEditProvider: provider("formatting"),
    registerDocumentSymbolProvider: provider("symbols"),
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = require(path.join(folder, "extension.js"));
const reports = () => new Promise((resolve) => { change = resolve; });

async function session() {
  document.text = "rwfunc f(a:int64) -> (b:int64) { a + 1 -> b }\ns = \"日😀\" + prntln(f(1))\n";
  let next = reports();
  await extension.activate({ subscriptions: [] });
  await next;
  const [report] = shown.get("file:///d.kv");
  assert.strictEqual(report.code, "NameError");
  assert.strictEqual(report.severity, 0);
  assert.deepStrictEqual(report.range, new Range(1, 12, 1, 18));
  const hover = await registered.hover.provideHover(document, new Position(1, 19));
  assert.match(hover.contents.value, /rwfunc f\(a:int64\) -> \(b:int64\)/);
  const definition = await registered.definition.provideDefinition(document, new Position(1, 19));
  assert.deepStrictEqual(definition.range, new Range(0, 7, 0, 8));
  assert.strictEqual(await registered.hover.provideHover(document, new Position(0, 0)), null);
  next = reports();
  document.version = 2;
  events.change({ document, contentChanges: [{ range: new Range(1, 12, 1, 18), text: "string." }] });
  await next;
  const items = await registered.completion.provideCompletionItems(document, new Position(1, 19));
  assert(items.some((item) => item.label === "slice" && item.kind === 2 && /string·slice/.test(item.detail)));
  assert.deepStrictEqual(registered.completion.triggers, ["·", "."]);
  next = reports();
  events.change({ document, contentChanges: [{ range: new Range(1, 0, 2, 0), text: "x=1\n" }] });
  await next;
  assert.deepStrictEqual(shown.get("file:///d.kv"), []);
  const edits = await registered.formatting.provideDocumentFormattingEdits(document);
  assert.deepStrictEqual(edits, [{ range: new Range(1, 0, 2, 0), newText: "x = 1\n" }]);
  const symbols = await registered.symbols.provideDocumentSymbols(document);
  assert.deepStrictEqual(symbols.map((symbol) => [symbol.name, symbol.kind]), [["f", 11]]);
  next = reports();
  events.close(document);
  await next;
  await extension.deactivate();
  assert.deepStrictEqual(warnings, []);
}

async function withoutProgram() {
  settings.program = "/no/such/program";
  await extension.activate({ subscriptions: [] });
  assert.strictEqual(warnings.length, 1);
  await extension.deactivate();
}

session().then(withoutProgram).then(() => console.log("done"), (error) => {
  console.error(error);
  process.exit(1);
});
