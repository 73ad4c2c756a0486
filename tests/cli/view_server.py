"""A client of `satin view` on raw sockets."""
import json
import re
import signal
import socket
from pathlib import Path

import numpy as np
import pytest

from conftest import BINARY

needs_server = pytest.mark.skipif(not (Path(BINARY).parent / "satin_view.so").exists(),
                                  reason="this build has no Boost.Beast")


class Reply:
    """An answer of the server, as it came."""

    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/1.") else None
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.fields[name.lower()] = value.strip()

    def json(self):
        return json.loads(self.body)


class View:
    """The command, and a browser's part in it."""

    patience = 20  # seconds without a word

    def __init__(self, satin, *arguments):
        self.process = satin.start("view", *arguments, "--no-browser")
        self.url = self.process.stdout.readline().decode().strip()
        found = re.fullmatch(r"http://([\d.]+):(\d+)/#t=([0-9a-f]{64})", self.url)
        assert found, (self.url, self.process.communicate(timeout=10))
        self.address, self.port, self.token = found.group(1), int(found.group(2)), found.group(3)
        self.host = "%s:%d" % (self.address, self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, number=signal.SIGINT):
        """The exit code and what stood on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, error = self.process.communicate(timeout=30)
        return self.process.returncode, error.decode()

    def connect(self):
        connection = socket.create_connection((self.address, self.port), timeout=self.patience)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def raw(self, data):
        """The answer to these bytes, up to the end of what the server sends."""
        with self.connect() as connection:
            try:
                connection.sendall(data)
            except OSError:
                pass  # refused before all was read
            return Reply(read_answer(connection))

    def request(self, method, target, body=b"", **changed):
        """The bytes of a request. Fields have underlines for dashes; None takes one away, a list repeats it."""
        fields = {"Host": self.host, "X-Satin-Token": self.token, "Sec-Fetch-Site": "same-origin"}
        if method == "POST":
            fields.update({"Content-Type": "application/json", "Content-Length": str(len(body)),
                           "Origin": "http://" + self.host})
        fields.update({name.replace("_", "-"): value for name, value in changed.items()})
        lines = ["%s %s HTTP/1.1" % (method, target)]
        for name, value in fields.items():
            for each in value if isinstance(value, list) else [value]:
                if each is not None:
                    lines.append("%s: %s" % (name, each))
        return "\r\n".join(lines + ["", ""]).encode("latin-1") + body

    def ask(self, method, target, body=b"", **changed):
        return self.raw(self.request(method, target, body, **changed))

    def open(self):
        """Opens the printed address as a browser does; gives the session."""
        page = self.ask("GET", "/", **{"X-Satin-Token": None, "Sec-Fetch-Site": "cross-site"})
        assert page.status == 200, page.body
        return self.ask("GET", "/api/session").json()

    def post(self, target, **body):
        return self.ask("POST", target, json.dumps(body).encode())

    def pixels(self, generation, width, height, x=0, y=0, zoom=1, **more):
        """The viewport as (height, width, 4) and its state."""
        query = {"generation": generation, "x": x, "y": y, "width": width, "height": height, "zoom": zoom, **more}
        reply = self.ask("GET", "/api/view?" + "&".join("%s=%s" % each for each in query.items()))
        assert reply.status == 200, (reply.status, reply.body[:500])
        assert reply.fields["x-satin-generation"] == str(generation)
        return np.frombuffer(reply.body, np.uint8).reshape(height, width, 4), reply.fields["x-satin-state"]


def read_answer(connection):
    """Reads an answer up to the length that it tells."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return data
            data += more
        length = re.search(rb"\r\ncontent-length: (\d+)", data.lower())
        wanted = data.index(b"\r\n\r\n") + 4 + (int(length.group(1)) if length else 0)
        while len(data) < wanted:
            more = connection.recv(1 << 20)
            if not more:
                break
            data += more
    except OSError:
        pass
    return data
