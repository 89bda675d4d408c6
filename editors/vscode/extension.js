// kvlang for VS Code: starts `kvlang lsp` and connects it to the editor. Relies on client.js and on the editor's own API, so that
// nothing has to be installed or built. Promise: without the program `kvlang` the rest of the extension goes on.
"use strict";
const vscode = require("vscode");
const { Client } = require("./client");

const LANGUAGE = "kvlang";
let client = null;

const toRange = (range) => new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
const place = (document, position) => ({
  textDocument: { uri: document.uri.toString() },
  position: { line: position.line, character: position.character },
});

// Kinds of the protocol count from 1, those of the editor from 0.
function toItem(item) {
  const made = new vscode.CompletionItem(item.label, item.kind - 1);
  made.detail = item.detail;
  made.documentation = item.documentation;
  made.insertText = item.textEdit.newText;
  made.range = toRange(item.textEdit.range);
  return made;
}

function toSymbol(symbol) {
  const made = new vscode.DocumentSymbol(symbol.name, "", symbol.kind - 1, toRange(symbol.range), toRange(symbol.selectionRange));
  made.children = (symbol.children || []).map(toSymbol);
  return made;
}

function showDiagnostics(collection, params) {
  const reports = params.diagnostics.map((report) => {
    const made = new vscode.Diagnostic(toRange(report.range), report.message, report.severity - 1);
    made.source = report.source;
    made.code = report.code;
    return made;
  });
  collection.set(vscode.Uri.parse(params.uri), reports);
}

function follow(document) {
  if (document.languageId !== LANGUAGE) return;
  client.notify("textDocument/didOpen", {
    textDocument: { uri: document.uri.toString(), languageId: LANGUAGE, version: document.version, text: document.getText() },
  });
}

function tellChange(event) {
  if (event.document.languageId !== LANGUAGE || !event.contentChanges.length) return;
  client.notify("textDocument/didChange", {
    textDocument: { uri: event.document.uri.toString(), version: event.document.version },
    contentChanges: event.contentChanges.map((change) => ({ range: { start: change.range.start, end: change.range.end }, text: change.text })),
  });
}

function providers() {
  const languages = vscode.languages;
  return [
    languages.registerHoverProvider(LANGUAGE, {
      async provideHover(document, position) {
        const found = await client.request("textDocument/hover", place(document, position));
        return found && new vscode.Hover(new vscode.MarkdownString(found.contents.value), toRange(found.range));
      },
    }),
    languages.registerDefinitionProvider(LANGUAGE, {
      async provideDefinition(document, position) {
        const found = await client.request("textDocument/definition", place(document, position));
        return found && new vscode.Location(vscode.Uri.parse(found.uri), toRange(found.range));
      },
    }),
    languages.registerCompletionItemProvider(LANGUAGE, {
      async provideCompletionItems(document, position) {
        return (await client.request("textDocument/completion", place(document, position))).map(toItem);
      },
    }, "·", "."),
    languages.registerDocumentFormattingEditProvider(LANGUAGE, {
      async provideDocumentFormattingEdits(document) {
        const edits = await client.request("textDocument/formatting", { textDocument: { uri: document.uri.toString() }, options: {} });
        return (edits || []).map((edit) => vscode.TextEdit.replace(toRange(edit.range), edit.newText));
      },
    }),
    languages.registerDocumentSymbolProvider(LANGUAGE, {
      async provideDocumentSymbols(document) {
        return (await client.request("textDocument/documentSymbol", { textDocument: { uri: document.uri.toString() } })).map(toSymbol);
      },
    }),
  ];
}

async function activate(context) {
  const settings = vscode.workspace.getConfiguration(LANGUAGE);
  const space = settings.get("space");
  const collection = vscode.languages.createDiagnosticCollection(LANGUAGE);
  client = new Client(settings.get("program") || "kvlang", space ? ["-s", space, "lsp"] : ["lsp"],
    (method, params) => method === "textDocument/publishDiagnostics" && showDiagnostics(collection, params),
    (reason) => {
      collection.clear();
      vscode.window.showWarningMessage(`kvlang: ${reason}`);
    });
  context.subscriptions.push(collection);
  try {
    await client.request("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  } catch {
    return; /* said by then */
  }
  client.notify("initialized", {});
  vscode.workspace.textDocuments.forEach(follow);
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(follow),
    vscode.workspace.onDidChangeTextDocument(tellChange),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (document.languageId === LANGUAGE) client.notify("textDocument/didClose", { textDocument: { uri: document.uri.toString() } });
    }),
    ...providers());
}

async function deactivate() {
  if (client && !client.ended) {
    client.onEnd = () => {};
    await client.stop();
  }
}

module.exports = { activate, deactivate };
