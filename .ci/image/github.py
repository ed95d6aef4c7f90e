"""A GitHub of a few routes behind TLS, so that the certificates in the image and a private authority are really used."""

import http.server
import json
import ssl
import threading

from engine import run


class Handler(http.server.BaseHTTPRequestHandler):
    """Holds the comments in the server."""

    def answer(self, status, body):
        """Answers with JSON."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        """The pull request and the comments."""
        path = self.path.split("?")[0]
        if path.endswith("/issues/7/comments"):
            self.answer(200, self.server.comments)
        elif "/issues/comments/" in path and self.server.comments:
            self.answer(200, self.server.comments[0])
        else:
            self.answer(404, {"message": "Not Found"})

    def do_POST(self):
        """Who the token is, and a new comment."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/graphql":
            self.answer(200, {"data": {"viewer": {"login": "github-actions[bot]"}}})
            return
        comment = {
            "id": 1,
            "body": body["body"],
            "html_url": "https://github.example/octo/orders/pull/7#issuecomment-1",
            "user": {"login": "github-actions[bot]", "type": "Bot"},
            "created_at": "2026-10-05T12:00:00Z",
        }
        self.server.comments.append(comment)
        self.answer(201, comment)

    def log_message(self, *_):
        """Nothing: the checks tell what matters."""


class GitHub:
    """Serves for as long as the block runs."""

    def __init__(self, folder):
        self.certificate, self.key = folder / "authority.pem", folder / "key.pem"
        run(
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-addext", "basicConstraints=critical,CA:false", "-keyout", self.key, "-out", self.certificate),
        )

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.comments = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"https://localhost:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def comments(self):
        """What was posted."""
        return self.server.comments
