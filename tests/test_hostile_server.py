"""Data sets from a server that means harm: an error that says why, and nothing is left."""

import errno
import gzip
import io
import socketserver
import tarfile
import threading
import time
from pathlib import Path

import pytest

from isotherm import DatasetError, ParameterError, load_dataset
from isotherm.datasets import catalogue, dataset_names, download, fetch_dataset
from isotherm.datasets.download import fetch_file
from site_files import forget_checksums

pytest.importorskip("pooch")

OK = b"HTTP/1.1 200 OK\r\n"
SITE_OF_TAR = "wikischools"  # a set that is one archive


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("ISOTHERM_DATA", str(folder))
    return folder


@pytest.fixture
def answer(monkeypatch):
    """Sets what every request is answered with: bytes, or an iterator of bytes that come slowly."""
    said = {}
    stop = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65536)
            parts = said["parts"]
            for part in [parts] if isinstance(parts, bytes) else parts():
                if stop.is_set():
                    return
                try:
                    self.request.sendall(part)
                except OSError:
                    return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = False
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Handler) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        for base in catalogue.BASES:
            monkeypatch.setitem(catalogue.BASES, base, address)
        forget_checksums(monkeypatch)
        for variable in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(variable, "127.0.0.1")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        said["address"] = address
        yield lambda parts: said.update(parts=parts) or address
        stop.set()
        server.shutdown()
        thread.join()


def left(home):
    return [path.name for path in home.rglob("*")] if home.exists() else []


def body(data, *lines):
    return OK + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + data


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n", "file:///etc/passwd"),
        (b"HTTP/1.0 302 Found\r\nLocation: /again\r\n\r\n", "redirects"),
        (b"HTTP/1.1 302 Found\r\nLocation: ftp://a.example/\r\n\r\n", "ftp://a.example"),
        (body(b"", b"X: " + b"y" * 100_000), "download"),
        (body(b"", *(b"X%d: y" % k for k in range(300))), "download"),
        (body(b"short", b"Content-Length: 1000"), "download"),
        (body(b"data", b"Content-Length: banana"), "download"),
        (body(b"data", b"Content-Length: -5"), "download|made of its files"),
        (body(b"zzzz\r\nnot chunks", b"Transfer-Encoding: chunked"), "download"),
        (body(b"not gzip", b"Content-Encoding: gzip"), "download"),
        (b"\x00\xff" * 50, "download"),
        (b"", "download"),
        (b"HTTP/1.1 500 Oops \x1b[31m\r\nContent-Length: 0\r\n\r\n", "500"),
        (body(b""), "made from its files"),
    ],
)
def test_a_hostile_answer_is_an_error_and_leaves_nothing(answer, home, reply, message):
    answer(reply)
    with pytest.raises(DatasetError, match=message):
        load_dataset("email")
    assert [name for name in left(home) if name not in ("checksums.json", "raw")] == []


def test_a_packed_answer_that_never_ends_is_cut(answer, home, monkeypatch):
    monkeypatch.setattr(download, "MOST_BYTES", 1 << 20)
    answer(body(gzip.compress(bytes(1 << 24)), b"Content-Encoding: gzip"))
    with pytest.raises(DatasetError, match="more than 1,048,576 bytes"):
        load_dataset("email")
    assert left(home) == []


@pytest.mark.parametrize("start", [b"", OK, OK + b"Content-Length: 100000\r\n\r\n"])
def test_a_server_that_drips_is_given_up(answer, home, start, monkeypatch):
    monkeypatch.setattr(download, "STALLED", 0.3)

    def drip():
        yield start or b"H"
        for _ in range(200):
            time.sleep(0.02)
            yield b"x"

    answer(drip)
    started = time.monotonic()
    with pytest.raises(DatasetError, match=r"almost nothing arrived within 0\.3 seconds"):
        load_dataset("email")
    assert time.monotonic() - started < 2
    assert left(home) == []


def test_a_download_has_an_end(answer, home, monkeypatch):
    monkeypatch.setattr(download, "LONGEST", 0.3)

    def flow():
        yield OK + b"\r\n"
        for _ in range(100):
            time.sleep(0.02)
            yield b"0 1\n" * 4096

    answer(flow)
    with pytest.raises(DatasetError, match=r"not done after 0\.3 seconds"):
        load_dataset("email")
    assert left(home) == []


def tar(name, **about):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        for key, value in about.items():
            setattr(member, key, value)
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        tar("../../labels.npy", size=3),
        tar("/tmp/labels.npy", size=3),  # noqa: S108 - never written
        tar("labels.npy", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        tar("labels.npy", type=tarfile.LNKTYPE, linkname="../../etc/passwd"),
        tar("labels.npy", type=tarfile.FIFOTYPE),
        tar("labels.npy", type=tarfile.CHRTYPE),
    ],
    ids=["above", "absolute", "symbolic link", "hard link", "pipe", "device"],
)
def test_an_archive_that_reaches_out_is_refused_and_forgotten(answer, home, data):
    answer(body(data, b"Content-Length: %d" % len(data)))
    with pytest.raises(DatasetError, match="the archive has"):
        load_dataset(SITE_OF_TAR)
    assert [name for name in left(home) if name not in ("checksums.json", "raw")] == []


# --- folders that cannot be written ---------------------------------------------------------------


def test_a_folder_that_cannot_be_written_is_not_blamed_on_the_network(answer, home, monkeypatch):
    answer(body(b"0 1\n"))
    opened = Path.open

    def refuse(path, mode="r", *rest, **how):
        if "x" in mode:
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return opened(path, mode, *rest, **how)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DatasetError, match=r"cannot be written: Read-only .* ISOTHERM_DATA"):
        fetch_dataset("email")
    assert left(home) == []


def test_a_file_in_place_of_the_folder_is_said_to_be_in_the_way(answer, home):
    address = answer(body(b"0 1\n"))
    home.write_text("a file")
    with pytest.raises(DatasetError, match="cannot be written: Not a directory"):
        load_dataset("email")
    assert dataset_names()[0] == "karate"  # what comes along is there all the same
    home.unlink()
    home.mkdir()
    (home / "raw").symlink_to(home / "nowhere")
    from isotherm.datasets.cache import Cache

    with pytest.raises(DatasetError, match="cannot be written"):
        fetch_file(address, home / "raw" / "file", Cache(home))


def test_a_home_that_nobody_has_is_a_wrong_parameter(monkeypatch):
    monkeypatch.setenv("ISOTHERM_DATA", "~nobody-by-this-name/data")
    with pytest.raises(ParameterError, match=r"~nobody-by-this-name/data.*--data"):
        dataset_names()
