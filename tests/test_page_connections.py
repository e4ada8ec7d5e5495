"""The labelling page's connections: whoever keeps the server waiting does not keep its user out."""

import asyncio
import http.client
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

pytest.importorskip("starlette", reason="needs isotherm[page]")

import uvicorn
from uvicorn.server import ServerState

from isotherm.page import connections
from labelling_page import TOKEN, Client, path_graph, served, session_on

pytestmark = [pytest.mark.any_version, pytest.mark.core_free]

BODY = "POST /api/label HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
UNFINISHED = {
    "nothing": "",
    "half of a head": "GET /api/state HTTP/1.1\r\nHost: {host}\r\nAuthor",
    "a body that never comes": BODY + "Host: {host}\r\nOrigin: http://{host}\r\n\r\n",
    "a body that never comes, with the token": BODY
    + f"Host: {{host}}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n{{{{",
}
LISTENING = f"GET /api/events HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
LARGE = f"GET /static/page.js HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"


@pytest.fixture
def page(tmp_path):
    graph = path_graph(*"abcd")
    with session_on(tmp_path, graph) as session, served(session) as server, ExitStack() as stack:
        ask = Client(server.port)

        def connect(sent):
            one = socket.create_connection(("127.0.0.1", ask.port), 10)
            stack.enter_context(one)
            one.sendall(sent.format(host=f"127.0.0.1:{ask.port}").encode())
            return one

        ask.connect = connect
        yield ask


def status_of(connection):
    """That of the next answer, of which nothing is left to read."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def is_closed(connection, seconds=10.0):
    """Whether the server closes it within some seconds, whatever it answers before."""
    connection.settimeout(seconds)
    try:
        while connection.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def is_closed_though_it_sends(connection):
    """Whether the server closes it, though there is a byte now and then."""
    try:
        for _ in range(200):
            connection.sendall(b"x")
            time.sleep(0.05)
    except OSError:
        return True
    return False


@pytest.mark.parametrize("kind", UNFINISHED)
def test_those_that_never_ask_give_way_to_the_user(page, kind, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 8)
    listening = page.connect(LISTENING)
    assert listening.recv(64).startswith(b"HTTP/1.1 200")
    waiting = [page.connect(UNFINISHED[kind]) for _ in range(20)]
    for _ in range(3):
        assert page("/api/state")[0] == 200
    assert all(is_closed(one) for one in waiting[:12])
    assert not is_closed(waiting[-1], 0.1)
    assert not is_closed(listening, 0.1)


@pytest.mark.parametrize("kind", UNFINISHED)
def test_a_request_that_is_not_whole_in_time_is_closed(page, kind, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.3)
    listening = page.connect(LISTENING)
    assert is_closed(page.connect(UNFINISHED[kind]))
    assert not is_closed(listening, 0.1)
    assert page("/api/state")[1]["labels"] == 0


def test_a_byte_now_and_then_does_not_gain_time(page, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.3)
    assert is_closed_though_it_sends(page.connect("GET /"))


def test_whoever_does_not_read_is_closed(page, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.3)
    assert is_closed_though_it_sends(page.connect(LARGE * 500))
    assert page("/api/state")[0] == 200


class Unread(asyncio.Transport):
    """Whose client does not read what is written, or so much between two looks at what is left."""

    closing = aborted = False

    def __init__(self, *left):
        super().__init__()
        self.left = list(left)

    def write(self, data):
        pass

    def close(self):  # and it stays: what was written is not read
        self.closing = True

    def is_closing(self):
        return self.closing

    def resume_reading(self):
        pass

    def get_write_buffer_size(self):
        return self.left.pop(0) if len(self.left) > 1 else 1

    def abort(self):
        self.aborted = self.closing = True


async def answered(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body"})


def connected(state, *left):
    connection = connections.Connection(uvicorn.Config(answered, log_config=None), state, {})
    connection.connection_made(transport := Unread(*left))
    return connection, transport


async def until(transport, what):
    for _ in range(1000):
        if getattr(transport, what):
            return True
        await asyncio.sleep(0.01)
    return False


def test_an_answer_that_nobody_reads_does_not_keep_a_closed_connection(monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.05)

    async def ask():
        connection, transport = connected(ServerState())
        connection.data_received(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert await until(transport, "closing")
        return await until(transport, "aborted")

    assert asyncio.run(ask())


def test_whoever_reads_an_answer_slowly_has_all_of_it(monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.01)

    async def ask():
        connection, transport = connected(ServerState(), 0, 90, 60, 60, 59, 59, 59, 58)
        connection._rest()  # what comes is whole
        connection.pause_writing()
        assert await until(transport, "aborted")
        return transport.left

    assert asyncio.run(ask()) == [58]  # not before two looks saw as much


def test_closed_connections_that_are_not_read_count_until_they_are_gone(monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)

    async def ask():
        state = ServerState()
        first, *others = (connected(state) for _ in range(2))
        first[0].data_received(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert await until(first[1], "closing")
        others.append(connected(state))
        return first[1].aborted, [transport.aborted for _, transport in others]

    assert asyncio.run(ask()) == (True, [False, False])


def test_those_who_were_just_refused_do_not_outlast_the_user(page, monkeypatch):
    """Requests without the token, as many as they are, make no connection younger."""
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 8)
    refused = "GET /api/state HTTP/1.1\r\nHost: {host}\r\n\r\n"
    others = [page.connect(refused) for _ in range(8)]
    assert [status_of(one) for one in others] == 8 * [401]
    user = page.connect("")
    assert is_closed(others[0])  # by now the user's is there
    for one in others[1:]:
        one.sendall(refused.format(host=f"127.0.0.1:{page.port}").encode())
        assert status_of(one) == 401
    page.connect("")
    assert is_closed(others[1])
    user.sendall(LARGE.format(host=f"127.0.0.1:{page.port}").encode())
    assert status_of(user) == 200


def test_a_page_that_listens_is_told_however_long_nothing_happened(page, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.1)
    listening = page.connect(LISTENING)
    assert not is_closed(listening, 0.5)
    assert page("/api/label", {"node": 0, "label": "told late"})[0] == 200
    listening.settimeout(10)
    told = b""
    while b"told late" not in told:
        told += listening.recv(1 << 16)


FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from isotherm.__main__ import main
sys.argv[1:] = "label --demo karate --no-open --port 0 --token".split() + sys.argv[1:]
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="limits the number of files")
def test_those_that_never_ask_leave_room_where_a_program_may_have_256_files(tmp_path):
    command = [sys.executable, "-u", "-c", FEW_FILES, TOKEN]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child, ExitStack() as stack:  # fmt: skip
        stack.callback(child.terminate)
        port = next(filter(None, (re.search(r"http://127.0.0.1:(\d+)", x) for x in child.stdout)))
        for _ in range(300):
            stack.enter_context(socket.create_connection(("127.0.0.1", int(port[1])), 10))
        assert Client(int(port[1]))("/api/state")[0] == 200


def test_a_connection_serves_one_request_after_the_other(page, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 1.5)
    kept = http.client.HTTPConnection("127.0.0.1", page.port, timeout=10)
    kept.connect()
    first = kept.sock
    for _ in range(9):  # each in time, all together not
        kept.request("GET", "/api/state", headers={"Authorization": f"Bearer {TOKEN}"})
        assert kept.getresponse().read().startswith(b"{")
        assert kept.sock is first
        time.sleep(0.2)
    kept.close()


@pytest.fixture
def silent(tmp_path, capfd):
    """A page on whose terminal nothing is said."""
    with session_on(tmp_path, path_graph(*"abcd")) as session, served(session) as server:
        yield server
    assert capfd.readouterr().err == ""


def test_the_page_ends_without_waiting_for_what_never_comes(silent):
    with ExitStack() as stack:
        for sent in (LISTENING, *UNFINISHED.values()):
            one = socket.create_connection(("127.0.0.1", silent.port), 10)
            stack.enter_context(one)
            one.sendall(sent.format(host=f"127.0.0.1:{silent.port}").encode())
        assert Client(silent.port)("/api/state")[0] == 200
        silent.end()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\0" * 100, b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:" + b"9" * 5000 + b"\r\n\r\n", b"421"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", b"421"),
        (BODY.encode().replace(b"Content-Length: 100", b"Transfer-Encoding: chunked")
         + b"Host: x\r\n\r\nthis is no chunk\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2 + b"\0" * 100, b"421"),
    ],
)  # fmt: skip
def test_garbage_is_refused_and_says_nothing_on_the_terminal(silent, sent, status):
    with socket.create_connection(("127.0.0.1", silent.port), 10) as connection:
        connection.sendall(sent)
        assert connection.recv(1 << 16).split()[1] == status
        assert is_closed(connection, 0.5) or status == b"421"
    assert Client(silent.port)("/api/state")[0] == 200


def test_garbage_beside_a_stream_ends_it(silent):
    with socket.create_connection(("127.0.0.1", silent.port), 10) as connection:
        connection.sendall(LISTENING.format(host=f"127.0.0.1:{silent.port}").encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 200")
        connection.sendall(b"\0" * 100)
        Client(silent.port)("/api/label", {"node": 0, "label": "left"})
    assert Client(silent.port)("/api/state")[0] == 200
