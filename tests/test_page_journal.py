"""What is said on the labelling page is kept, and undone."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs isotherm[page]")

from isotherm.errors import FileError, LabelError
from isotherm.job import Job
from isotherm.page.journal import Journal, JournalError, fingerprint
from isotherm.page.labelling import Labelling, Point
from isotherm.page.opening import PageFiles, open_session
from isotherm.pipeline import Silent
from labelling_page import Full, open_labelling, path_graph

pytestmark = [pytest.mark.any_version, pytest.mark.core_free]

GRAPH = path_graph("a", "b", "c", "d")
GIVEN = {"a": "left"}


def kept(folder):
    """The labels that a journal brings back."""
    labelling = open_labelling(folder, GRAPH)
    labelling.journal.close()
    return labelling.labels


def test_a_journal_brings_back_labels_classes_skips_and_the_curve(tmp_path):
    labelling = open_labelling(tmp_path, GRAPH, GIVEN)
    labelling.label("d", "right", "ann")
    labelling.skip("b", "ann")
    labelling.new_class("middle", "bob")
    labelling.label("a", None, "bob")
    labelling.expect(Point(1, 0.5, 0.25, 0.75))
    labelling.journal.close()
    again = open_labelling(tmp_path, GRAPH, GIVEN)
    assert again.labels == {"d": "right"}
    assert again.classes == ["left", "right", "middle"]
    assert again.skipped == {"b"}
    assert again.curve == [Point(1, 0.5, 0.25, 0.75)]
    assert again.version == labelling.version
    assert [entry.who for entry in again.journal.entries[:4]] == ["ann", "ann", "bob", "bob"]
    again.journal.close()


def test_undo_takes_back_ones_own_acts_one_after_the_other(tmp_path):
    labelling = open_labelling(tmp_path, GRAPH, GIVEN)
    labelling.label("a", "right", "ann")
    labelling.label("b", "new", "bob")
    labelling.skip("c", "ann")
    labelling.label("a", "other", "ann")
    for labels, skipped in (
        ({"a": "right", "b": "new"}, {"c"}),
        ({"a": "right", "b": "new"}, set()),
        ({"a": "left", "b": "new"}, set()),
    ):
        assert labelling.undo("ann") is not None
        assert (labelling.labels, labelling.skipped) == (labels, skipped)
    assert labelling.undo("ann") is None
    assert labelling.classes == ["left", "new"]  # those of what was undone are gone
    labelling.journal.close()
    again = open_labelling(tmp_path, GRAPH, GIVEN)
    assert again.labels == {"a": "left", "b": "new"}
    assert again.undo("bob") is not None
    assert again.labels == GIVEN
    again.journal.close()


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_last_line_that_was_cut_off_is_dropped(tmp_path, cut):
    labelling = open_labelling(tmp_path, GRAPH)
    labelling.label("a", "left")
    labelling.label("b", "right")
    labelling.journal.close()
    path = labelling.journal.path
    path.write_bytes(path.read_bytes()[:-cut])
    again = open_labelling(tmp_path, GRAPH)
    assert again.labels == {"a": "left"}
    assert again.journal.dropped
    again.label("c", "left")
    again.journal.close()
    assert kept(tmp_path) == {"a": "left", "c": "left"}


def test_a_journal_damaged_elsewhere_is_left_alone(tmp_path):
    labelling = open_labelling(tmp_path, GRAPH)
    for node in "abc":
        labelling.label(node, "left")
    labelling.journal.close()
    path = labelling.journal.path
    lines = path.read_bytes().split(b"\n")
    accuracy = b'{"number":2,"time":"","act":"accuracy"}'
    point = accuracy[:-1] + b',"more":{"labels":1,"value":%s,"low":0,"high":1}}'
    odd = (accuracy, *(point % value for value in (b"NaN", b"1e999", b'"1"', b"null")))
    for bad in (
        b"{",
        b"[]",
        b'{"number":2}',
        lines[3],
        accuracy.replace(b"accuracy", b"eat"),
        *odd,
    ):
        damaged = b"\n".join([*lines[:2], bad, *lines[3:]])
        path.write_bytes(damaged)
        with pytest.raises(JournalError, match="damaged in line 3"):
            Journal(path, fingerprint(GRAPH))
        assert path.read_bytes() == damaged


def test_a_journal_of_another_graph_or_file_is_refused(tmp_path):
    open_labelling(tmp_path, GRAPH).journal.close()
    path = tmp_path / "labels.journal"
    with pytest.raises(JournalError, match="another graph"):
        Journal(path, fingerprint(path_graph("a", "b", "c", "e")))
    other = tmp_path / "other"
    other.write_text("node,label\n")
    with pytest.raises(JournalError, match="is not a labelling journal"):
        Journal(other, fingerprint(GRAPH))
    assert other.read_text() == "node,label\n"
    with pytest.raises(FileError, match="cannot be written"):
        Journal(tmp_path / "nowhere" / "x", "")


def test_one_journal_is_for_one_page(tmp_path):
    labelling = open_labelling(tmp_path, GRAPH)
    with pytest.raises(JournalError, match="another labelling page"):
        open_labelling(tmp_path, GRAPH)
    labelling.journal.close()
    open_labelling(tmp_path, GRAPH).journal.close()


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "two\nlines", 7, None])
def test_names_of_classes_are_texts_of_some_length(tmp_path, name):
    labelling = open_labelling(tmp_path, GRAPH)
    with pytest.raises(LabelError):
        labelling.new_class(name)
    with pytest.raises(LabelError, match="there is no node 'z'"):
        labelling.label("z", "left")
    assert labelling.journal.entries == []
    labelling.journal.close()


def test_a_label_that_cannot_be_kept_is_not_given(tmp_path, monkeypatch):
    labelling = open_labelling(tmp_path, GRAPH)
    labelling.label("a", "left")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        labelling.label("b", "right")
    monkeypatch.undo()
    assert labelling.labels == {"a": "left"}
    labelling.label("c", "right")
    labelling.journal.close()
    assert kept(tmp_path) == {"a": "left", "c": "right"}


FULL_DISK = """
import resource, signal, sys
from isotherm.errors import FileError
from isotherm.page.journal import Journal
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, room = Path(sys.argv[1]), int(sys.argv[2])
journal = Journal(path, "graph")
journal.append("label", node="before", label="a")
size, (soft, hard) = path.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, hard))
for k in range(3):
    try:
        journal.append("label", node=f"full {k}", label="a")
        raise SystemExit("there was room")
    except FileError as error:
        assert "cannot be written" in str(error)
    assert path.stat().st_size == size
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
journal.append("label", node="after", label="a")
journal.close()
"""


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
@pytest.mark.parametrize("room", [0, 40])
def test_a_label_refused_on_a_full_disk_leaves_no_byte(tmp_path, room):
    path = tmp_path / "labels.journal"
    command = [sys.executable, "-c", FULL_DISK, str(path), str(room)]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    journal = Journal(path, "graph")
    journal.close()
    assert [entry.node for entry in journal.entries] == ["before", "after"]


@pytest.mark.parametrize("is_stuck", [False, True])
def test_half_of_a_line_goes_before_the_next_one_comes(tmp_path, is_stuck):
    labelling = open_labelling(tmp_path, GRAPH)
    labelling.label("a", "left")
    journal, file = labelling.journal, labelling.journal._file
    journal._file = Full(file, 30, is_stuck=is_stuck)
    for _ in range(2):
        with pytest.raises(FileError):
            labelling.label("b", "right")
    journal._file = file
    assert labelling.labels == {"a": "left"}
    labelling.label("c", "right")
    journal.close()
    assert kept(tmp_path) == {"a": "left", "c": "right"}


@pytest.mark.parametrize("n_after", [1, 3])
def test_a_number_that_comes_twice_is_that_of_the_later_line(tmp_path, n_after):
    """Versions until 0.2 left a refused line in the file, before one of the same number."""
    labelling = open_labelling(tmp_path, GRAPH)
    for node in "abcd"[: 1 + n_after]:
        labelling.label(node, "left")
    labelling.undo()
    labelling.journal.close()
    path = labelling.journal.path
    lines = path.read_bytes().split(b"\n")
    lines.insert(2, lines[2].replace(b"left", b"wrong").replace(b'"b"', b'"d"'))
    path.write_bytes(b"\n".join(lines))
    again = open_labelling(tmp_path, GRAPH)
    assert again.labels == dict.fromkeys("abcd"[:n_after], "left")
    assert [entry.label for entry in again.journal.refused] == ["wrong"]
    again.label("d", "left")
    again.journal.close()
    assert kept(tmp_path) == again.labels
    assert len(again.journal.entries) == n_after + 3


def test_the_page_says_what_a_journal_has_left_out(tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n")
    path, files = tmp_path / "edges.csv.journal", Job(str(tmp_path / "edges.csv"), "")
    for spoilt in (lambda line: line * 2, lambda line: line + line[:20]):
        session = open_session(files, PageFiles(), Silent())
        session.labelling.label("a", "left")
        session.labelling.journal.close()
        head, line = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(head + spoilt(line))
        session = open_session(files, PageFiles(), Silent())
        session.labelling.journal.close()
        assert session.labelling.labels == {"a": "left"}
        (note,) = session.notes
        assert "found no room on a full disk" in note or "was cut off and is ignored" in note
        path.unlink()


WRITER = """
import sys
from pathlib import Path
from isotherm.page.journal import Journal
from isotherm.page.labelling import Labelling
journal = Journal(Path(sys.argv[1]), "graph")
labelling = Labelling(journal, {}, [str(i) for i in range(100_000)])
first = len(journal.entries)
print("ready", flush=True)
for i in range(first, 100_000):
    labelling.label(str(i), f"class {i % 7}")
    print(i, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_no_acknowledged_label_is_lost_when_killed(tmp_path):
    path, rng = tmp_path / "labels.journal", np.random.default_rng(0)
    told = -1
    for _ in range(int(os.environ.get("ISOTHERM_KILLS", "10"))):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout.readline() == "ready\n"
            for _ in range(int(rng.integers(1, 30))):
                told = max(told, int(writer.stdout.readline()))
            writer.send_signal(signal.SIGKILL)
            told = max([told, *(int(line) for line in writer.stdout if line.endswith("\n"))])
        journal = Journal(path, "graph")
        labels = Labelling(journal, {}, []).labels
        journal.close()
        assert len(labels) >= told + 1
        assert all(labels[str(i)] == f"class {i % 7}" for i in range(told + 1))
    assert json.loads(path.read_text().splitlines()[-1])["act"] == "label"
