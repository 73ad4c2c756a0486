"""The admission of requests to satin view, by raw sockets."""
import os
import signal
import socket
import time

import pytest

import png_file
from view_server import View, needs_server, read_answer

pytestmark = needs_server


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The server for all requests that must leave it as it is."""
    import conftest
    import numpy as np

    folder = tmp_path_factory.mktemp("view")
    png_file.write(folder / "in.png", np.random.default_rng(1).integers(0, 256, (12, 20, 3), np.uint8))
    with View(conftest.Satin(folder), "in.png", "-o", "out.png") as view:
        view.session = view.open()
        yield view


def test_the_first_line_is_the_address_of_a_page_with_every_protection(page):
    reply = page.ask("GET", "/", **{"X-Satin-Token": None, "Sec-Fetch-Site": "cross-site"})
    assert reply.status == 200 and b"<html" in reply.body
    for target in ("/", "/api/session", "/page/none.js", "/api/none"):
        fields = page.ask("GET", target).fields
        policy = dict(each.strip().partition(" ")[::2] for each in fields["content-security-policy"].split(";"))
        assert policy.pop("default-src") == "'none'" and policy.pop("frame-ancestors") == "'none'"
        assert set(policy.values()) <= {"'self'", "'none'"}
        assert fields["x-content-type-options"] == "nosniff" and fields["x-frame-options"] == "DENY"
        assert fields["referrer-policy"] == "no-referrer" and fields["cache-control"] == "no-store"
        assert not any(name.startswith("access-control") for name in fields)
        assert "set-cookie" not in fields


def test_files_of_the_page_hold_no_secret(page):
    reply = page.ask("GET", "/")
    assert reply.status == 200 and reply.fields["content-type"].startswith("text/html")
    for name in ("..%2findex.html", "../server.cpp", "nothing.js", "", "index.html/"):
        assert page.ask("GET", "/page/" + name).status == 404
    for name in ("index.html", "main.js", "server.js"):
        reply = page.ask("GET", "/page/" + name, **{"X-Satin-Token": None})
        assert reply.status == 200 and page.token.encode() not in reply.body


def test_a_tunnel_may_lead_from_another_port(page):
    for host in ("localhost:8080", "127.0.0.1:9", "[::1]:8080", "localhost", "localhost:%d" % page.port):
        reply = page.ask("POST", "/api/settings", b"{}", Host=host, Origin="http://" + host)
        assert "error" in reply.json(), host
        assert page.ask("GET", "/api/session", Host=host, **{"X-Satin-Token": None}).status == 403
        assert page.ask("GET", "/api/session", Host=host, Origin="http://" + page.host).status == 403


SETTINGS = b'{"steps": [{"filter": "blur", "values": {}}]}'

# Bad requests: the fault, the status, and how the request differs from a good one.
HOSTILE = [
    ("a stranger's name leads here", 421, "GET", "/api/session", {"Host": "evil.example"}),
    ("a name that ends as ours", 421, "GET", "/api/session", {"Host": "127.0.0.1.evil.example:{port}"}),
    ("another address", 421, "GET", "/api/session", {"Host": "127.0.0.2:{port}"}),
    ("an empty port", 421, "GET", "/api/session", {"Host": "127.0.0.1:"}),
    ("no number as a port", 421, "GET", "/api/session", {"Host": "localhost:80a"}),
    ("a name that begins as ours", 421, "GET", "/api/session", {"Host": "localhost.evil.example:{port}"}),
    ("a user in the host", 421, "GET", "/api/session", {"Host": "a@127.0.0.1:{port}"}),
    ("no host", 400, "GET", "/api/session", {"Host": None}),
    ("two hosts", 400, "GET", "/api/session", {"Host": ["{host}", "evil.example"]}),
    ("no secret", 403, "GET", "/api/session", {"X-Satin-Token": None}),
    ("a wrong secret", 403, "GET", "/api/session", {"X-Satin-Token": 64 * "0"}),
    ("half a secret", 403, "GET", "/api/view", {"X-Satin-Token": 32 * "0"}),
    ("an empty secret", 403, "GET", "/api/thumbnail", {"X-Satin-Token": ""}),
    ("a secret with more behind it", 403, "GET", "/api/session", {"X-Satin-Token": "{token}0"}),
    ("the secret as a cookie", 403, "GET", "/api/session", {"X-Satin-Token": None, "Cookie": "satin-{port}={token}"}),
    ("the secret in the address", 403, "GET", "/api/session?t={token}", {"X-Satin-Token": None}),
    ("two secrets", 400, "GET", "/api/session", {"X-Satin-Token": ["{token}", "{token}"]}),
    ("two origins", 400, "GET", "/api/session", {"Origin": ["http://{host}", "http://evil.example"]}),
    ("two sites", 400, "GET", "/api/session", {"Sec-Fetch-Site": ["same-origin", "cross-site"]}),
    ("two types", 400, "POST", "/api/settings", {"Content-Type": ["application/json", "text/plain"]}),
    ("another origin", 403, "GET", "/api/session", {"Origin": "http://evil.example"}),
    ("an opaque origin", 403, "GET", "/api/session", {"Origin": "null"}),
    ("another scheme", 403, "GET", "/api/session", {"Origin": "https://{host}"}),
    ("an origin with more behind it", 403, "GET", "/api/session", {"Origin": "http://{host}.evil.example"}),
    ("another site", 403, "GET", "/api/session", {"Sec-Fetch-Site": "cross-site"}),
    ("a neighbouring site", 403, "GET", "/api/session", {"Sec-Fetch-Site": "same-site"}),
    ("a script for another site", 403, "GET", "/page/main.js", {"Sec-Fetch-Site": "cross-site"}),
    ("a change without the secret", 403, "POST", "/api/settings", {"X-Satin-Token": None}),
    ("a change of another site", 403, "POST", "/api/settings", {"Origin": "http://evil.example"}),
    ("a change as a form", 415, "POST", "/api/settings", {"Content-Type": "application/x-www-form-urlencoded"}),
    ("a change as text", 415, "POST", "/api/settings", {"Content-Type": "text/plain"}),
    ("a change of no type", 415, "POST", "/api/settings", {"Content-Type": None}),
    ("no length", 411, "POST", "/api/settings", {"Content-Length": None}),
    ("chunks", 411, "POST", "/api/settings", {"Content-Length": None, "Transfer-Encoding": "chunked"}),
    ("chunks and a length", 400, "POST", "/api/settings", {"Transfer-Encoding": "chunked"}),
    ("two lengths", 400, "POST", "/api/settings", {"Content-Length": ["3", "4"]}),
    ("no number as a length", 400, "POST", "/api/settings", {"Content-Length": "0x10"}),
    ("a body above 8 MiB", 413, "POST", "/api/settings", {"Content-Length": str((8 << 20) + 1)}),
    ("a body of exabytes", 413, "POST", "/api/settings", {"Content-Length": str(1 << 60)}),
    ("an expectation", 417, "POST", "/api/settings", {"Expect": "100-continue"}),
    ("a file of the page to be changed", 405, "POST", "/page/index.html", {}),
    ("PUT", 405, "PUT", "/api/settings", {}),
    ("DELETE", 405, "DELETE", "/api/session", {}),
    ("OPTIONS before a request of another site", 405, "OPTIONS", "/api/settings", {}),
    ("HEAD", 405, "HEAD", "/", {}),
    ("TRACE", 405, "TRACE", "/", {}),
    ("CONNECT", 400, "CONNECT", "evil.example:80", {}),
    ("a proxy's target", 400, "GET", "http://evil.example/", {}),
    ("an asterisk", 400, "GET", "*", {}),
    ("a head above 16 KiB", 431, "GET", "/", {"X-Long": 17000 * "a"}),
    ("a target above 16 KiB", 431, "GET", "/" + 17000 * "a", {}),
    ("many fields", 431, "GET", "/", {"X-%d" % i: 20 * "a" for i in range(1000)}),
]


def filled(view, value):
    if isinstance(value, list):
        return [filled(view, each) for each in value]
    if value is None:
        return None
    for name in ("host", "port", "token"):
        value = value.replace("{%s}" % name, str(getattr(view, name)))
    return value


@pytest.mark.parametrize("what, status, method, target, changed", HOSTILE, ids=[case[0] for case in HOSTILE])
def test_hostile_requests_are_refused(page, what, status, method, target, changed):
    body = SETTINGS if method == "POST" else b""
    reply = page.ask(method, filled(page, target), body, **{name: filled(page, value) for name, value in changed.items()})
    assert reply.status == status, (what, reply.status, reply.body)
    assert "set-cookie" not in reply.fields
    assert page.ask("GET", "/api/changes").json()["generation"] == page.session["generation"]


@pytest.mark.parametrize("data", [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + 40 * b"\xff",  # a TLS greeting
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /\r\n\r\n",
    b"GET / HTTP/1.1\nHost: a\n\n",
    b"GET / HTTP/1.1\r\n Host: folded\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : spaced\r\n\r\n",
    b"GET / HTTP/1.1\r\nHo\x00st: a\r\n\r\n",
    b"G\xc3\x84T / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"\r\n" * 40000,
    b"\0" * 70000,
], ids=lambda data: repr(data[:20]))
def test_what_is_no_request_is_told_so(page, data):
    assert page.raw(data).status in (400, 431)
    assert page.ask("GET", "/").status == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b'"steps"', b"\xff\xfe", b"{}", 100000 * b"[", b'{"steps": 5}',
                                  b'{"steps": [{"filter": 5}]}', b'{"steps": [{"filter": "blur", "values": {"radius": 8}}]}',
                                  b'{"steps": []}', b'{"steps": [{"filter": "stats"}]}',
                                  b'{"steps": [{"filter": "dof", "values": {"depth": "/etc/passwd"}}]}',
                                  b'{"steps": [{"filter": "dof", "values": {"depth": "../in.png"}}]}',
                                  b'{"steps": [' + 70 * b'{"filter": "blur"},' + b'{"filter": "blur"}]}'],
                         ids=lambda body: repr(body[:40]))
def test_bodies_that_mean_nothing_change_nothing(page, body):
    reply = page.ask("POST", "/api/settings", body)
    assert reply.status in (200, 400) and reply.json()["error"]["message"]
    assert page.ask("GET", "/api/changes").json()["generation"] == page.session["generation"]


@pytest.mark.parametrize("query", ["", "generation=1", "generation=1&x=nan&y=0&width=9&height=9&zoom=1",
                                   "generation=1&x=0&y=0&width=9&height=9&zoom=0",
                                   "generation=1&x=0&y=0&width=99999&height=9&zoom=1",
                                   "generation=1&x=0&y=0&width=8192&height=8192&zoom=1", "generation=1&generation=1",
                                   "generation=1&x=0&y=0&width=9&height=9&zoom=1e-300"])
def test_views_that_cannot_be_are_refused(page, query):
    assert page.ask("GET", "/api/view?" + query).status == 400


def test_names_of_outputs_are_plain(page):
    for name in ("../out.png", "/tmp/out.png", "a/b.png", ".", "..", ".out.png", "", "{stem}.png", "a\0b.png", 5, []):
        reply = page.post("/api/save", name=name)
        assert reply.fields["x-satin-state"] == "refused" and "saved" not in reply.json(), (name, reply.body)


def test_a_request_may_come_in_pieces_and_several_on_one_connection(page):
    with page.connect() as connection:
        for _ in range(3):
            for byte in page.request("GET", "/api/changes"):
                connection.sendall(bytes([byte]))
            assert b"HTTP/1.1 200" in read_answer(connection)
        connection.sendall(2 * page.request("GET", "/api/changes"))
        data = b""
        while data.count(b'"generation"') < 2:
            data += connection.recv(65536)


def test_a_hundred_idle_connections_delay_nobody(page):
    idle = [page.connect() for _ in range(100)]
    try:
        for connection in idle[::2]:
            connection.sendall(b"GET / HTTP/1.1\r\n")
        start = time.monotonic()
        assert page.ask("GET", "/").status == 200
        assert time.monotonic() - start < 1
        idle[0].settimeout(5)
        try:
            assert idle[0].recv(1) == b""  # the oldest one gave way
        except ConnectionResetError:
            pass  # with bytes that nobody read
    finally:
        for connection in idle:
            connection.close()


def test_a_slow_head_is_not_waited_for(page):
    with page.connect() as connection:
        start = time.monotonic()
        connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        reply = read_answer(connection)
        assert b" 408 " in reply.split(b"\r\n")[0]
        assert 9 < time.monotonic() - start < 13


def test_it_listens_to_this_machine_alone(page):
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError):
        socket.create_connection((own, page.port), timeout=2)


def test_listening_elsewhere_is_told(satin, picture):
    with View(satin, "in.png", "--listen", "127.0.0.2") as view:
        assert view.address == "127.0.0.2" and view.open()["picture"]["width"] == 20
        code, error = view.end()
    assert code == 130 and "Warning" in error and "127.0.0.2" in error
    satin.bad(3, "view", "in.png", "--listen", "nowhere", "--no-browser", says="nowhere")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(satin, picture, number):
    with View(satin, "in.png") as view:
        view.open()
        assert view.end(number) == (128 + number, "")


def test_a_port_that_is_taken_is_an_error(satin, picture):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        satin.bad(3, "view", "in.png", "--port", port, "--no-browser", says=("--port", port))


def test_the_browser_is_given_a_private_file(satin, picture, tmp_path):
    """The token stands in no list of processes."""
    (tmp_path / "bin").mkdir()
    opener = tmp_path / "bin" / "xdg-open"
    opener.write_text('#!/bin/sh\nstat -c %a "$1" >opened.new\n'
                      'cat "$1" >>opened.new\nprintf %s "$1" >name\nmv opened.new opened\n')
    opener.chmod(0o755)
    satin.environment.update(PATH="%s:%s" % (tmp_path / "bin", os.environ["PATH"]), XDG_RUNTIME_DIR=str(tmp_path))
    process = satin.start("view", "in.png")
    try:
        url = process.stdout.readline().decode().strip()
        end = time.monotonic() + 10
        while not (tmp_path / "opened").exists():
            assert time.monotonic() < end
            time.sleep(0.01)
        mode, page = (tmp_path / "opened").read_text().split("\n", 1)
        assert mode == "600" and url in page
        name = (tmp_path / "name").read_text()
        assert "t=" not in name and os.path.exists(name)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert not os.path.exists(name)


def test_clients_without_the_secret_push_out_nobody(page):
    """Refused connections, held open, and idle ones give way to the user."""
    others = []
    try:
        for i in range(200):
            connection = page.connect()
            connection.sendall(page.request("GET", "/api/session", Host="evil.example") if i % 2 else b"GET / HT")
            others.append(connection)
            if i % 20 == 19:
                assert page.ask("GET", "/api/changes").status == 200
        with page.connect() as own:
            for _ in range(20):
                own.sendall(page.request("GET", "/api/changes"))
                assert b" 200 " in read_answer(own).split(b"\r\n")[0]
                others += [page.connect() for _ in range(10)]
    finally:
        for connection in others:
            connection.close()


def test_slow_bodies_leave_connections_for_others(page):
    slow = [page.connect() for _ in range(40)]
    try:
        for connection in slow:
            connection.sendall(page.request("POST", "/api/settings", SETTINGS)[:-1])
        time.sleep(0.2)
        assert page.ask("GET", "/api/changes").status == 200
        refused = 0
        for connection in slow:
            connection.settimeout(0.2)
            refused += b" 503 " in read_answer(connection).split(b"\r\n")[0]
        assert refused == 24
    finally:
        for connection in slow:
            connection.close()


@pytest.mark.parametrize("body", [b'{"steps": [' + 2_500_000 * b"{}," + b"{}]}", b'{"a":' * 5000 + b"1" + b"}" * 5000,
                                  b'{"steps": [' + 1_100_000 * b'"",' + b"1]}", b'{"text": "' + 100_000 * b"a" + b'"}',
                                  b"{" + b",".join(b'"%d": 0' % i for i in range(600_000)) + b"}"],
                         ids=("empty steps", "depth", "texts", "a long text", "names"))
def test_bodies_beyond_a_limit_are_refused_at_once(page, body):
    start = time.monotonic()
    for target in ("/api/settings", "/api/command", "/api/mask"):
        reply = page.ask("POST", target, body)
        assert reply.status == 400 and "JSON" in reply.json()["error"]["message"]
    assert time.monotonic() - start < 6  # quadratic time took more than 30 s for one of them


def test_a_command_has_a_limit_of_filters(page):
    for count, refused in ((64, False), (65, True), (5001, True)):
        reply = page.post("/api/command", text="satin run '%s' a.png -o b.png" % "|".join(count * ["blur"]))
        assert (reply.json()["error"] is not None) == refused, reply.body[:500]
    assert page.post("/api/settings", steps=[{"filter": "blur", "values": {}}]).json()["error"] is None
    page.session = page.ask("GET", "/api/session").json()
