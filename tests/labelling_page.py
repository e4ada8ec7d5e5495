"""A labelling page to test: its server runs in this process, at a port that the system chooses."""

import http.client
import json
import threading
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from isotherm import BlockModel
from isotherm.graph import Graph
from isotherm.page.journal import Journal, fingerprint
from isotherm.page.labelling import Labelling
from isotherm.page.saving import LabelFile, checksum
from isotherm.page.server import PageServer
from isotherm.page.session import LabellingSession
from isotherm.page.truth import Truth

TOKEN = "a-token-that-tests-know"  # noqa: S105


def two_blocks(rng, size=30):
    """A graph of two blocks whose nodes are called by their block: (graph, truth)."""
    graph, truth = BlockModel([size, size], 0.4, 0.03).sample(rng)
    names = [f"{'left' if k == 0 else 'right'} {i}" for i, k in enumerate(truth.tolist())]
    return graph.renamed(pa.array(names, pa.large_string())), {
        name: name.split()[0] for name in names
    }


def as_texts(graph):
    return graph.renamed(graph.nodes.as_texts())


def open_labelling(folder, graph, given=None):
    journal = Journal(Path(folder) / "labels.journal", fingerprint(graph))
    return Labelling(journal, given or {}, graph.names.tolist())


@contextmanager
def session_on(folder, graph, given=None, **more):
    """A session that was started; it ends with the block."""
    labelling = open_labelling(folder, graph, given)
    original = Path(folder) / "labels.csv"
    if given is not None:
        rows = "".join(f"{node},{label}\n" for node, label in given.items())
        original.write_text("node,label\n" + rows)
    file = LabelFile(Path(folder) / "saved.csv", original if given else None, checksum(original))
    truth = more.pop("truth", None)
    more["truth"] = Truth(graph, truth) if truth else None
    session = LabellingSession("test", graph, labelling, file, {}, **more)
    session.start()
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def served(session, port=0):
    """The page of a session, served by another thread."""
    server = PageServer(session, port=port, token=TOKEN)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join(20)
        assert not thread.is_alive()


def label_suggested(session, count):
    """Give so many labels, each the true one of the node that is suggested."""
    for _ in range(count):
        session.model.wait(session.labelling.version, 30)
        assert session.model.wait_for_suggestions(30)
        name = session.cards.names[session.next_node()]
        session.label(name, session.truth.of(name), "oracle")
    session.model.wait(session.labelling.version, 30)


class Client:
    """Sends requests as another program would: with the token, by default."""

    def __init__(self, port):
        self.port = port

    def __call__(self, path, body=None, *, raw=None, method=None, **headers):
        """Status and answer, JSON or text; a header of None is left out."""
        given = {"Authorization": f"Bearer {TOKEN}", "Host": f"127.0.0.1:{self.port}"}
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None:
            given["Content-Type"] = "application/json"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method or ("GET" if raw is None else "POST"), path,
                                  skip_host=True)  # fmt: skip
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            if raw is not None:
                connection.putheader("Content-Length", str(len(raw)))
            connection.endheaders(raw)
            answer = connection.getresponse()
            data = answer.read()
            self.headers = {k.lower(): v for k, v in answer.getheaders()}
            is_json = self.headers.get("content-type", "") == "application/json"
            return answer.status, json.loads(data) if is_json else data.decode()
        finally:
            connection.close()


class Full:
    """A file on a disk that has so many bytes left, and that may refuse to give any back."""

    def __init__(self, file, room, *, is_stuck=False):
        self.file, self.room, self.is_stuck = file, room, is_stuck

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, data):
        if not self.room:
            raise OSError(28, "No space left on device")
        written = self.file.write(data[: self.room])
        self.room -= written
        return written

    def truncate(self, size):
        if self.is_stuck:
            raise OSError(5, "Input/output error")
        return self.file.truncate(size)


def path_graph(*names):
    return as_texts(Graph.from_edges(names[:-1], names[1:]))
