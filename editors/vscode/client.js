// The language server protocol over a child process, as far as `kvlang lsp` speaks it: framed JSON-RPC, requests as promises.
// Relies on Node alone. Promise: when the server ends, every open request is rejected and later ones are too.
"use strict";
const { spawn } = require("child_process");

class Client {
  // onNotice(method, params) gets what the server sends by itself; onEnd(reason) is called once.
  constructor(command, args, onNotice, onEnd) {
    this.waiting = new Map();
    this.number = 0;
    this.bytes = Buffer.alloc(0);
    this.onNotice = onNotice;
    this.onEnd = onEnd;
    this.ended = null;
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
    this.process.on("error", (error) => this.end(error.message));
    this.process.on("exit", (status) => this.end(`the server has ended with status ${status}`));
    this.process.stdin.on("error", (error) => this.end(error.message));
    this.process.stdout.on("data", (data) => this.take(data));
  }

  end(reason) {
    if (this.ended) return;
    this.ended = reason;
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    this.onEnd(reason);
  }

  take(data) {
    this.bytes = Buffer.concat([this.bytes, data]);
    for (;;) {
      const head = this.bytes.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.bytes.toString("latin1", 0, head))[1]);
      if (this.bytes.length < head + 4 + length) return;
      const message = JSON.parse(this.bytes.toString("utf8", head + 4, head + 4 + length));
      this.bytes = this.bytes.subarray(head + 4 + length);
      this.receive(message);
    }
  }

  receive(message) {
    const request = this.waiting.get(message.id);
    if (!request) {
      if (message.method) this.onNotice(message.method, message.params);
      return;
    }
    this.waiting.delete(message.id);
    if (message.error) request.reject(new Error(message.error.message));
    else request.resolve(message.result);
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
    this.process.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }

  notify(method, params) {
    if (!this.ended) this.send({ method, params });
  }

  request(method, params) {
    if (this.ended) return Promise.reject(new Error(this.ended));
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  async stop() {
    if (this.ended) return;
    await this.request("shutdown", null);
    this.notify("exit", null);
  }
}

module.exports = { Client };
