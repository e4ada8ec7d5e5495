"""Checks that are labelled on the page: the journal, the model and saved files know them."""

import json

import pytest

pytest.importorskip("starlette", reason="needs isotherm[page]")

from isotherm import Labels, read_labels
from labelling_page import (
    Client,
    label_suggested,
    open_labelling,
    path_graph,
    served,
    session_on,
    two_blocks,
)

pytestmark = [pytest.mark.any_version, pytest.mark.core_free]

GRAPH = path_graph("a", "b", "c", "d")


def lines_of(folder):
    return [json.loads(line) for line in (folder / "labels.journal").read_bytes().splitlines()[1:]]


def test_a_journal_keeps_which_labels_were_drawn(tmp_path):
    labelling = open_labelling(tmp_path, GRAPH, {"a": "left"})
    assert labelling.known().drawn is None
    labelling.label("b", "left")
    labelling.label("c", "right", drawn=True)
    labelling.label("d", "right", drawn=True)
    assert labelling.known().drawn == {"c", "d"}
    labelling.label("c", "left")  # corrected by hand: it was drawn all the same
    labelling.label("d", None)
    assert labelling.known().drawn == {"c"}
    labelling.undo()
    assert labelling.known().drawn == {"c", "d"}
    labelling.journal.close()
    assert [line.get("more") for line in lines_of(tmp_path)[:3]] == [
        None, {"drawn": True}, {"drawn": True}
    ]  # fmt: skip
    again = open_labelling(tmp_path, GRAPH, {"a": "left"})
    assert again.known() == {"a": "left", "b": "left", "c": "left", "d": "right"}
    assert again.known().drawn == {"c", "d"}
    again.journal.close()


def test_a_check_that_is_undone_is_none_but_it_stays_known_which_are(tmp_path):
    labelling = open_labelling(tmp_path, GRAPH)
    labelling.label("c", "right", drawn=True)
    labelling.undo()
    assert labelling.known().drawn == set()
    labelling.journal.close()


def test_drawn_labels_of_the_file_stay_so(tmp_path):
    given = Labels({"a": "left", "b": "left"}, drawn=["a"])
    labelling = open_labelling(tmp_path, GRAPH, given)
    assert labelling.known().drawn == {"a"}
    labelling.label("d", "right", drawn=True)
    assert labelling.known().drawn == {"a", "d"}
    labelling.journal.close()


def test_what_the_oracle_is_asked_as_a_check_is_drawn_and_saved(tmp_path, rng):
    graph, truth = two_blocks(rng)
    with session_on(tmp_path, graph, truth=truth) as session:
        label_suggested(session, 14)
        drawn = session.labelling.drawn
        checks = {graph.names[i] for i in session.model.checks}
        assert 4 <= len(drawn) <= 8  # every other one, but those before there are two classes
        assert drawn == checks & session.labelling.labels.keys()
        session.model.wait(session.labelling.version, 20, judged=True)
        assert "seeds drawn at random can be left out" in session.state()["advice"]["reason"]
        assert session.state()["curve"] == []  # of what was known before the first check
        model = session.model._follower.classifier
        assert set(model.names_[model.seeds_.drawn_nodes].tolist()) == drawn
        path = session.file.save(session.labelling, "")
        assert read_labels(path, graph).drawn == drawn
    again = open_labelling(tmp_path, graph)
    again.journal.close()
    assert again.known().drawn == drawn


def test_a_node_labelled_by_hand_is_not_drawn(tmp_path, rng):
    graph, truth = two_blocks(rng)
    with session_on(tmp_path, graph, Labels(dict(list(truth.items())[::12]))) as session:
        with served(session) as server:
            session.model.wait_for_suggestions(20)
            by_hand = next(
                i for i in range(60) if i not in session.model.checks and truth[graph.names[i]]
            )
            check = min(session.model.checks)
            page = Client(server.port)
            for node in (by_hand, check):
                body = {"node": node, "label": truth[graph.names[node]]}
                assert page("/api/label", body)[0] == 200
        assert session.labelling.drawn == {graph.names[check]}
        assert [line.get("more") for line in lines_of(tmp_path) if line["act"] == "label"] == [
            None, {"drawn": True}
        ]  # fmt: skip
