"""A small network, and a cache of its own for every test."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from isotherm.datasets import catalogue
from site_files import forget_checksums


class Site:
    """A server of a few files, some of which it breaks."""

    def __init__(self):
        self.files = {}
        self.asked = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                name = self.path.lstrip("/")
                if name not in site.files:
                    self.send_error(404)
                    return
                body, announced, encoding = site.files[name]
                self.send_response(200)
                if announced is not None:
                    self.send_header("Content-Length", str(announced))
                if encoding:
                    self.send_header("Content-Encoding", encoding)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"

    def put(self, files, *, announced=..., encoding=None):
        for name, body in files.items():
            length = len(body) if announced is ... else announced
            self.files[name] = (body, length, encoding)


@pytest.fixture
def site(monkeypatch):
    site = Site()
    for base in catalogue.BASES:
        monkeypatch.setitem(catalogue.BASES, base, site.address)
    forget_checksums(monkeypatch)
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,))
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A cache of its own for every test; never the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ISOTHERM_DATA", str(folder))
    return folder
