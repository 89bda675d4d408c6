"""http·: requests to a server of this test: methods, headers, redirects, time limits, TLS with a certificate of its own, a body of
100 MB, a server that drips, and answers that are broken. Relies on std_tool.py; openssl makes the certificate.
Promises: every request ends, and what goes wrong is an error with the address."""
import http.server
import socket
import ssl
import subprocess
import threading
import time

from kvlang_tool import main
from std_tool import FamilyTest

BIG = 100 << 20


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path
        if path == "/echo":
            self.reply(200, f"{self.command} {len(body)} {self.headers.get('X-One')} {self.headers.get('Content-Type')}".encode() + body[:20], X_Two="a", x_two_2="b")
        elif path == "/twice":
            self.send_response(200)
            for value in ("a", "b"):
                self.send_header("Set-Thing", value)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif path.startswith("/hops/"):
            left = int(path[6:])
            self.reply(302, b"moved", Location=f"/hops/{left - 1}") if left else self.reply(200, b"arrived")
        elif path == "/away":
            self.reply(302, b"", Location="file:///etc/passwd")
        elif path == "/loop":
            self.reply(302, b"", Location="/loop")
        elif path == "/missing":
            self.reply(404, "nicht da: ä".encode())
        elif path == "/binary":
            self.reply(200, b"\xff\x00\xfe")
        elif path == "/hang":
            time.sleep(20)
        elif path == "/drip":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            for _ in range(200):
                self.wfile.write(b".")
                self.wfile.flush()
                time.sleep(0.1)
        elif path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"half")
            self.close_connection = True
        elif path == "/big":
            self.send_response(200)
            self.send_header("Content-Length", str(BIG))
            self.end_headers()
            for _ in range(BIG >> 20):
                self.wfile.write(b"0123456789abcdef" * 65536)
        else:
            self.reply(200, b"hello")

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = any

    def log_message(self, *_):
        """Nothing: the test's output is about failures."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that leaves early is what some of the tests are about."""


class Http(FamilyTest):
    def setUp(self):
        super().setUp()
        said = self.run_code('http·get("http://127.0.0.1:1/")').stderr
        if "built without" in said or "not installed" in said:
            self.skipTest("without libcurl")
        self.server = Server(("127.0.0.1", 0), Handler)
        self.start_server(self.server)
        self.at = f"http://127.0.0.1:{self.server.server_port}"
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            self.environment.pop(name, None)

    def start_server(self, server):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def test_methods_bodies_headers(self):
        self.prints(f'h = {{}}\nk = "X-One"\nh·*k = "1"\nprintln(http·get("{self.at}/")·body, http·get("{self.at}/echo", {{headers=h}})·body)', "hello GET 0 1 None")
        self.prints(f'a = http·post("{self.at}/echo", "kv·")\nprintln(a·status, a·body, a·url == "{self.at}/echo")\nk = "x-two"\nprintln(a·headers·*k)', "200 POST 4 None application/x-www-form-urlencodedkv· true", "a")
        self.prints(f'b:[]uint8 = [0, 1]\nfor (i, m in {{"PUT", "DELETE", "PATCH", "POST"}}) {{ println(string·slice(http·call(m, "{self.at}/echo", {{body=b}})·body, 0, string·len(m) + 2)) }}', "PUT 2", "DELETE 2", "PATCH 2", "POST 2")
        self.prints(f'a = http·call("HEAD", "{self.at}/")\nprintln(a·status, a·body == "")\nprintln(http·post("{self.at}/echo", "")·status)', "200 true", "200")
        self.prints(f'k = "set-thing"\nprintln(http·get("{self.at}/twice")·headers·*k)', "a, b")

    def test_statuses_are_answers(self):
        self.prints(f'a = http·get("{self.at}/missing")\nprintln(a·status, a·body)', "404 nicht da: ä")
        self.prints(f'println(http·get("{self.at}/binary")·body == "\\u{{fffd}}\\0\\u{{fffd}}", http·get("{self.at}/binary", {{bytes=true}})·body)', "true [255, 0, 254]")

    def test_redirects(self):
        self.prints(f'a = http·get("{self.at}/hops/5")\nprintln(a·status, a·body, a·url)', f"200 arrived {self.at}/hops/0")
        self.prints(f'println(http·get("{self.at}/hops/3", {{redirects=0}})·status)', "302")
        self.raises(f'http·get("{self.at}/hops/3", {{redirects=2}})', "RuntimeError", "more than 2 redirects")
        self.raises(f'http·get("{self.at}/loop")', "RuntimeError", f"http·get: {self.at}/loop: more than 10 redirects")
        self.raises(f'http·get("{self.at}/away")', "RuntimeError", "/away")

    def test_time_limits(self):
        for path in ("hang", "drip"):
            began = time.monotonic()
            self.raises(f'http·get("{self.at}/{path}", {{timeout=1.5}})', "RuntimeError", f"{self.at}/{path}", "no end within 1.5 s")
            self.assertLess(time.monotonic() - began, 15)
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        self.raises(f'http·get("http://127.0.0.1:{silent.getsockname()[1]}/", {{timeout=time/duration·millis(500)}})', "RuntimeError", "no end within 0.5 s")

    def test_a_body_of_100_mb(self):
        self.prints(f'a = http·get("{self.at}/big", {{bytes=true; timeout=120}})\nprintln(a·status, xv·langtype(a·body), a·body[{BIG - 1}])', f"200 [{BIG}]uint8 102")
        self.raises(f'http·get("{self.at}/big", {{limit=1000000}})', "RuntimeError", "more than 1000000 bytes")

    def test_tls(self):
        key, certificate = self.folder / "key.pem", self.folder / "cert.pem"
        try:
            made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                                   "-keyout", str(key), "-out", str(certificate)], capture_output=True, check=False)
        except FileNotFoundError:
            self.skipTest("there is no openssl")
        self.assertEqual(made.returncode, 0, made.stderr)
        server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self.start_server(server)
        at = f"https://127.0.0.1:{server.server_port}/"
        self.raises(f'http·get("{at}")', "RuntimeError", at, "certificate")
        self.prints(f'println(http·get("{at}", {{ca="cert.pem"}})·body)', "hello")
        self.raises(f'http·get("{at}", {{ca="no-such.pem"}})', "RuntimeError", at)
        self.raises(f'http·get("https://127.0.0.1:{self.server.server_port}/", {{timeout=5}})', "RuntimeError")

    def test_what_gives_no_answer(self):
        self.raises('http·get("http://127.0.0.1:1/")', "RuntimeError", "http://127.0.0.1:1/")
        self.raises('http·get("http://no-such-host.invalid/")', "RuntimeError", "no-such-host.invalid")
        self.raises(f'http·get("{self.at}/short")', "RuntimeError", "/short")
        for url in ("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "", "http://", "::", "http://[::1", "nonsense://x"):
            self.raises(f'http·get("{url}")', "RuntimeError", "http·get: ")

    def test_answers_that_are_broken(self):
        for answer in (b"", b"\0\0\0\0\n\n", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nxx", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/9.9 999\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200000 + b"\r\n", b"HTTP/1.1 302 x\r\nLocation: \r\n\r\n"):
            listener = socket.create_server(("127.0.0.1", 0))
            self.addCleanup(listener.close)
            threading.Thread(target=self.answer_once, args=(listener, answer), daemon=True).start()
            done = self.run_code(f'println(http·get("http://127.0.0.1:{listener.getsockname()[1]}/", {{timeout=5; redirects=3}})·status)')
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertNotIn("no end within", done.stderr)
            self.assertTrue(done.stdout or "RuntimeError: http·get" in done.stderr, done.stderr)

    @staticmethod
    def answer_once(listener, answer):
        try:
            peer, _ = listener.accept()
            peer.recv(65536)
            peer.sendall(answer)
            peer.close()
        except OSError:
            pass

    def test_arguments_that_do_not_fit(self):
        self.raises(f'http·call("GET /x HTTP/1.1", "{self.at}")', "ValueError", "method")
        self.raises(f'http·call("get", "{self.at}")', "ValueError", "method")
        self.raises(f'h = {{}}\nk = "A: b"\nh·*k = "1"\nhttp·get("{self.at}", {{headers=h}})', "ValueError", "header")
        self.raises(f'http·get("{self.at}", {{headers={{A="1\\r\\nB: 2"}}}})', "ValueError", "header")
        self.raises(f'http·get("{self.at}", {{headers={{A=1}}}})', "TypeError", "header")
        self.raises(f'http·get("{self.at}", {{heders=1}})', "ValueError", "no option heders")
        self.raises(f'http·get("{self.at}", {{timeout=0}})', "ValueError", "timeout")
        self.raises(f'http·get("{self.at}", 5)', "TypeError")
        self.raises(f'http·post("{self.at}", 5)', "TypeError", "body")
        self.raises('http·get("http://a\\0b/")', "ValueError", "zero byte")


if __name__ == "__main__":
    main()
