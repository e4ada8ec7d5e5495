"""The labelling page's interface: who may ask, what is answered, what is refused."""

import asyncio
import csv
import io
import json
import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs isotherm[page]")

from isotherm import DirichletClassifier
from isotherm.errors import FileError, ParameterError
from isotherm.page.bodies import LARGEST
from isotherm.page.events import MOST_LISTENERS, Events, TooManyListeners
from isotherm.page.security import BURST, Bucket, Guard, check_host
from isotherm.page.server import PageServer, bind
from isotherm.write import write_predictions
from labelling_page import (
    TOKEN,
    Client,
    Full,
    label_suggested,
    path_graph,
    served,
    session_on,
    two_blocks,
)

pytestmark = [pytest.mark.any_version, pytest.mark.core_free]

HOSTILE = ["<img src=x onerror=alert(1)>", "\"'&`", "\u202eevil\u202c", "x" * 10_000, "a,b\nc"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page on two blocks with two labels; tests leave it as it was."""
    graph, truth = two_blocks(np.random.default_rng(1))
    left, right = next(n for n in truth if truth[n] == "left"), list(truth)[-1]
    given = {left: "left", right: "right"}
    with (
        session_on(tmp_path_factory.mktemp("page"), graph, given, truth=truth) as session,
        served(session) as server,
    ):
        ask = Client(server.port)
        ask.session, ask.server = session, server
        yield ask


@pytest.fixture
def own(tmp_path):
    """A page of one's own, on a path."""
    with session_on(tmp_path, path_graph(*"abcdefg")) as session, served(session) as server:
        ask = Client(server.port)
        ask.session = session
        yield ask


def test_an_address_with_the_token_becomes_a_cookie(page):
    status, _ = page(f"/?token={TOKEN}", Authorization=None)
    assert (status, page.headers["location"]) == (303, "/")
    cookie = page.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    status, text = page("/", Authorization=None, Cookie=cookie.split(";")[0])
    assert status == 200
    assert "<title>test · isotherm</title>" in text
    for name, value in (
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ):
        assert page.headers[name] == value
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "<script>" not in text
    assert " style=" not in text


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {"Authorization": None}, 401),
        ("/api/state", {"Authorization": None}, 401),
        ("/static/page.js", {"Authorization": None}, 401),
        ("/api/state", {"Authorization": "Bearer wrong"}, 401),
        ("/api/state", {"Authorization": None, "Cookie": "isotherm-1=x; broken"}, 401),
        ("/api/state", {"Authorization": None, "Cookie": 'a="' + 30_000 * r"\0" + '"'}, 401),
        ("/?token=wrong", {}, 401),
        ("/?other=1", {}, 401),
        ("/api/state", {"Host": "evil.example"}, 421),
        ("/api/state", {"Host": "127.0.0.1"}, 421),
        ("/api/state", {"Host": "127.0.0.1:1"}, 421),
        ("/api/state", {"Host": "127.0.0.1.evil.example:80"}, 421),
        ("/api/state", {"Host": None}, 400),
        ("/api/state", {"Origin": "http://evil.example"}, 403),
        ("/api/state", {"Origin": "null"}, 403),
        ("/api/state", {"Sec_Fetch_Site": "cross-site"}, 403),
        ("/api/state", {"Sec_Fetch_Site": "same-site"}, 403),
        ("/static/../app.py", {}, 404),
        ("/static/%2e%2e%2fapp.py", {}, 404),
        ("/etc/passwd", {}, 404),
        ("/api/nodes/x", {}, 400),
        ("/api/nodes/-1", {}, 400),
        ("/api/nodes/60", {}, 404),
        ("/api/nodes/99999999999999999999", {}, 400),
        ("/api/nodes?sort=age", {}, 400),
        ("/api/nodes?page=-1", {}, 400),
        ("/api/nodes?page=x", {}, 400),
        ("/api/nodes?size=100000", {}, 400),
        ("/api/nodes?below=nan", {}, 400),
        ("/api/nodes?what=1", {}, 400),
        ("/api/colours?nodes=1,x", {}, 400),
        ("/api/colours?nodes=" + ",".join("1" * 500), {}, 400),
        ("/api/export?format=exe", {}, 400),
    ],
)
def test_what_must_not_be_is_refused(page, path, headers, status):
    assert page(path, **headers)[0] == status


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.7"]
)
def test_a_page_on_this_machine_answers_to_no_other_host(page, host):
    """A name may be pointed at this machine by whoever owns it, after the browser has looked."""
    assert page("/api/state", Host=f"{host}:{page.server.port}")[0] == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": None, "Origin": "http://127.0.0.1:{port}"}, 401),
        ({"Authorization": None, "Cookie": "isotherm-{port}=" + TOKEN}, 403),  # no origin
        (
            {
                "Authorization": None,
                "Cookie": "isotherm-{port}=" + TOKEN,
                "Origin": "http://evil.example",
            },
            403,
        ),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_what_changes_something_comes_from_the_page_itself(page, headers, status):
    before = page.session.labelling.version
    headers = {k: v and v.format(port=page.port) for k, v in headers.items()}
    assert page("/api/label", {"node": 3, "label": "left"}, **headers)[0] == status
    assert page.session.labelling.version == before


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"\xff\xfe", 400),
        (b"[" * 30_000, 400),
        (b'{"node": 3}', 400),
        (b'{"node": "3x", "label": "left"}', 400),
        (b'{"node": true, "label": "left"}', 400),
        (b'{"node": 3.5, "label": "left"}', 400),
        (b'{"node": 1e400, "label": "left"}', 400),
        (b'{"node": 600, "label": "left"}', 404),
        (b'{"node": 3, "label": 7}', 400),
        (b'{"node": 3, "label": ""}', 400),
        (b'{"node": 3, "label": "\\ud800"}', 400),
        (b'{"node": 3, "label": "a\\u0000b"}', 400),
        (b'{"node": 3, "label": "left", "who": 3}', 400),
        (b'{"node": 3, "label": "left", "who": "' + b"w" * 81 + b'"}', 400),
        (b'{"node": 3, "label": "' + b"x" * 201 + b'"}', 400),
        (b'{"node": 3, "label": "' + b"x" * LARGEST + b'"}', 413),
    ],
)
def test_malformed_labels_are_refused_and_change_nothing(page, body, status):
    before = page.session.labelling.version
    got, told = page("/api/label", raw=body)
    assert got == status
    assert told["error"]
    assert page.session.labelling.version == before


def test_the_cookie_is_found_beside_those_of_other_programs_on_this_machine(page):
    own = f"isotherm-{page.port}={TOKEN}"
    for others in ("{}", "a=b; {}; c=d", 'a b="{{;{} ;', 'a="\\; {}', "isotherm-1=x; {}", "=; {}"):
        assert page("/api/state", Authorization=None, Cookie=others.format(own))[0] == 200
    for wrong in (own + "x", "x" + own, own.replace("=", ""), own.replace("-", "="), TOKEN):
        assert page("/api/state", Authorization=None, Cookie=wrong)[0] == 401


def test_other_methods_are_refused(page):
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert page("/api/state", method=method)[0] == 405
    assert page("/api/label", method="GET")[0] == 405
    assert page("/api/state", raw=b"{}")[0] == 405


def test_a_token_is_needed_for_other_machines():
    check_host("127.0.0.1", None)
    for host in ("0.0.0.0", "192.0.2.1", "::"):  # noqa: S104
        with pytest.raises(ParameterError, match="--token"):
            check_host(host, None)
        check_host(host, "a-long-enough-token")
    with pytest.raises(ParameterError, match="at least 16"):
        check_host("127.0.0.1", "short")
    with pytest.raises(ParameterError, match="letters"):
        check_host("127.0.0.1", "a token; with odd=characters")


def test_requests_beyond_the_rate_wait():
    bucket = Bucket(rate=10.0, burst=3.0)
    assert [bucket.take(0.0) for _ in range(5)] == [True] * 3 + [False] * 2
    assert bucket.take(0.11)
    assert not bucket.take(0.12)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:80"},
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "same-site", "sec-fetch-dest": "image"},
        {"authorization": "Bearer wrong"},
        {"authorization": ""},
    ],
)
def test_requests_that_are_refused_use_up_nothing(headers):
    async def answered(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    guard, statuses = Guard(answered, TOKEN, "127.0.0.1", 80), []

    async def send(message):
        statuses.extend([message["status"]] if "status" in message else [])

    async def ask(**more):
        own = {"host": "127.0.0.1:80", "authorization": f"Bearer {TOKEN}"} | more
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"",
                 "headers": [(k.encode(), v.encode()) for k, v in own.items()]}  # fmt: skip
        await guard(scope, None, send)

    async def flood():
        for _ in range(int(BURST) + 1):
            await ask(**headers)
        assert set(statuses) <= {401, 403, 421}
        statuses.clear()
        for _ in range(int(BURST) + 400):
            await ask()

    asyncio.run(flood())
    assert statuses[: int(BURST)] == [200] * int(BURST)
    assert 429 in statuses  # those with the token are counted


def test_no_more_pages_listen_than_may():
    async def listen():
        events = Events(dict)
        streams = [events.join() for _ in range(MOST_LISTENERS)]  # none has begun
        with pytest.raises(TooManyListeners):
            events.join()
        assert await anext(streams[0]) == b"retry: 1000\n\n"
        await streams[0].aclose()
        del streams[1]  # its request went away before
        again = [events.join(), events.join()]
        with pytest.raises(TooManyListeners):
            events.join()
        return len(again)

    assert asyncio.run(listen()) == 2


def test_a_port_in_use_gives_way_to_the_next():
    taken = bind("127.0.0.1", 0)
    port = taken.getsockname()[1]
    other = bind("127.0.0.1", port)
    assert other.getsockname()[1] > port
    taken.close()
    other.close()
    with pytest.raises(ParameterError, match="--host"):
        bind("no such host", 0)


def test_a_card_tells_what_the_model_does(page):
    model = page.session.model
    assert model.wait(0, 30, judged=True)
    _, card = page("/api/nodes/7")
    fitted = DirichletClassifier().fit(page.session.graph, dict(page.session.labelling.labels))
    assert card["label"] == fitted.labels_[7]
    P = dict(zip(fitted.classes_.tolist(), fitted.predict_proba()[7].tolist(), strict=True))
    assert {one["name"]: one["probability"] for one in card["classes"]} == pytest.approx(
        P, abs=2e-4
    )
    assert card["degree"] == len(card["neighbours"]) or card["degree"] > 12
    _, why = page("/api/nodes/7/why")
    explained = fitted.explain(card["name"])
    shares = {one["name"]: one["share"] for one in why["seeds"]}
    assert shares == pytest.approx({name: share for name, _, share in explained.seeds}, abs=2e-4)
    assert why["picture"]["nodes"][0] == 7
    _, colours = page("/api/colours?nodes=" + ",".join(map(str, why["picture"]["nodes"])))
    codes, _ = fitted.codes(np.array(why["picture"]["nodes"]))
    assert colours["classes"] == codes.tolist()


def test_the_table_is_sorted_filtered_and_paged(page):
    _, first = page("/api/nodes?sort=degree&descending=true&size=7")
    degrees = np.sort(np.diff(page.session.graph.rows.start))[::-1]
    assert [row["degree"] for row in first["rows"]] == degrees[:7].tolist()
    _, second = page("/api/nodes?sort=degree&descending=true&size=7&page=1")
    assert [row["degree"] for row in second["rows"]] == degrees[7:14].tolist()
    _, found = page("/api/nodes?search=LEFT&sort=name&size=200")
    assert found["total"] == 30
    assert all(row["name"].startswith("left") for row in found["rows"])
    _, exact = page("/api/nodes?search=right%2031&sort=name&descending=true")
    assert exact["rows"][0]["name"] == "right 31"
    _, given = page("/api/nodes?state=given")
    assert {row["name"] for row in given["rows"]} == set(page.session.labelling.labels)
    _, rights = page("/api/nodes?label=right&state=predicted&size=200")
    assert {row["label"] for row in rights["rows"]} == {"right"}
    assert page("/api/nodes?label=nothing")[1]["total"] == 0


def test_labels_are_acknowledged_folded_in_and_undone(own):
    assert own("/api/state")[1]["classes"] == []
    assert own("/api/nodes/2")[1]["status"] == "unlabelled"
    assert own("/api/nodes/2/why")[1]["picture"]["nodes"][0] == 2
    assert own("/api/label", {"node": 0, "label": "left", "who": "ann"})[0] == 200
    assert own.session.model.wait(own.session.labelling.version, 30)
    assert own("/api/nodes/2")[1]["label"] == "left"  # the only class
    own("/api/label", {"node": 6, "label": "right", "who": "ann"})
    assert own.session.model.wait(own.session.labelling.version, 30)
    _, colours = own("/api/colours?nodes=0,1,5,6")
    assert colours["classes"] == [0, 0, 1, 1]
    assert colours["seeds"] == [1, 0, 0, 1]
    assert own("/api/undo", {"who": "bob"})[1]["entry"] is None
    assert own("/api/undo", {"who": "ann"})[1]["node"] == 6
    assert own.session.model.wait(own.session.labelling.version, 30)
    assert own("/api/colours?nodes=5")[1]["classes"] == [0]
    own("/api/undo", {"who": "ann"})
    assert own.session.model.wait(own.session.labelling.version, 30)
    assert own("/api/state")[1]["labels"] == 0
    assert own("/api/nodes/2/why")[1]["note"].startswith("nothing is known")


def test_skipped_nodes_are_not_suggested_again(own):
    own.session.model.wait_for_suggestions(30)
    for _ in range(7):
        node = own.session.next_node()
        own("/api/skip", {"node": node})
        own.session.model.wait(own.session.labelling.version, 30)
        own.session.model.wait_for_suggestions(30)
        assert own.session.next_node() != node
    assert own.session.next_node() is None
    assert own("/api/nodes?state=skipped")[1]["total"] == 7


def test_save_asks_before_it_writes_over_what_others_wrote(own, tmp_path):
    own("/api/label", {"node": 0, "label": "left"})
    assert own("/api/save", {})[0] == 200
    saved = tmp_path / "saved.csv"
    assert saved.read_text() == "node,label\na,left\n"
    assert own("/api/state")[1]["is_saved"]
    own("/api/label", {"node": 1, "label": "left"})
    assert not own("/api/state")[1]["is_saved"]
    assert own("/api/save", {})[0] == 200  # what it wrote itself
    saved.write_text("mine\n")
    status, told = own("/api/save", {})
    assert (status, saved.read_text()) == (409, "mine\n")
    assert "changed by someone else" in told["error"]
    assert told["can_force"]
    status, told = own("/api/save", {"original": True})
    assert (status, told["can_force"]) == (409, False)  # there is none
    assert own("/api/save", {"force": "yes"})[0] == 400
    assert own("/api/save", {"force": True})[0] == 200
    assert saved.read_text() == "node,label\na,left\nb,left\n"


def test_the_original_is_written_over_only_when_told(tmp_path):
    graph = path_graph(*"abcd")
    with session_on(tmp_path, graph, {"a": "left"}) as session, served(session) as server:
        ask, original = Client(server.port), tmp_path / "labels.csv"
        ask("/api/label", {"node": 3, "label": "right"})
        before = original.read_text()
        assert ask("/api/save", {})[0] == 200
        assert original.read_text() == before
        original.write_text(before + "b,left\n")  # meanwhile
        assert ask("/api/save", {"original": True})[0] == 409
        assert original.read_text() == before + "b,left\n"
        original.write_text(before)
        assert ask("/api/save", {"original": True})[0] == 200
        assert original.read_text() == "node,label\na,left\nd,right\n"


def test_a_label_file_that_is_gone_is_asked_for(tmp_path):
    given = {"a": "left"}
    with session_on(tmp_path, path_graph(*"abcd"), given) as session, served(session) as server:
        ask, original = Client(server.port), tmp_path / "labels.csv"
        ask("/api/label", {"node": 3, "label": "right"})
        original.rename(tmp_path / "renamed.csv")
        status, told = ask("/api/save", {"original": True})
        assert (status, told["can_force"], original.exists()) == (409, True, False)
        assert "deleted or renamed" in told["error"]
        assert ask("/api/save", {"original": True, "force": True})[0] == 200
        original.unlink()
        assert ask("/api/save", {"original": True})[0] == 409  # written here, and gone again


@pytest.mark.skipif(os.name != "posix", reason="makes links")
@pytest.mark.parametrize("target", ["renamed.csv", "nowhere"])
def test_a_label_file_that_is_a_link_is_left_alone(tmp_path, target):
    given = {"a": "left"}
    with session_on(tmp_path, path_graph(*"abcd"), given) as session, served(session) as server:
        ask, original = Client(server.port), tmp_path / "labels.csv"
        original.rename(tmp_path / "renamed.csv")
        original.symlink_to(tmp_path / target)
        for force in (False, True):
            status, told = ask("/api/save", {"original": True, "force": force})
            assert (status, told["can_force"]) == (409, False)
            assert "is a link to" in told["error"]
        assert (tmp_path / "renamed.csv").read_text() == "node,label\na,left\n"


def test_a_full_disk_refuses_labels_in_words_until_there_is_room(own):
    assert own("/api/label", {"node": 0, "label": "left"})[0] == 200
    own.session.model.wait(own.session.labelling.version, 30, judged=True)
    journal = own.session.labelling.journal
    file, journal._file = journal._file, Full(journal._file, 30)
    for path, told in (
        ("label", {"node": 6, "label": "right"}),
        ("skip", {"node": 5}),
        ("undo", {}),
    ):
        status, answer = own(f"/api/{path}", told)
        assert status == 409
        assert "cannot be written: No space left" in answer["error"]
    state = own("/api/state")[1]
    assert (state["labels"], state["skipped"], state["version"]) == (1, 0, 1)
    journal._file = file
    assert own("/api/label", {"node": 6, "label": "right"})[0] == 200
    kept = [json.loads(line) for line in journal.path.read_bytes().splitlines()[1:]]
    assert [entry["node"] for entry in kept if entry["act"] == "label"] == ["a", "g"]


def test_a_point_of_the_curve_without_room_is_a_fault_in_words(tmp_path, rng, caplog):
    def full(_):
        raise FileError("labels.journal cannot be written: No space left on device")

    graph, truth = two_blocks(rng)
    with session_on(tmp_path, graph, dict(list(truth.items())[::4])) as session:
        session.labelling.expect = full
        session.labelling.label(graph.names[1], "left")
        assert session.model.wait(session.labelling.version, 30, judged=True)
        assert session.model.fault == "labels.journal cannot be written: No space left on device"
    assert caplog.text == ""


def test_export_is_what_classify_writes(own, tmp_path):
    assert own("/api/export")[0] == 400  # no label yet
    for node, label in ((0, "left"), (6, "right"), (2, "left")):
        own("/api/label", {"node": node, "label": label})
    status, text = own("/api/export")
    assert (status, own.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert "attachment" in own.headers["content-disposition"]
    model = DirichletClassifier().fit(own.session.graph, {"a": "left", "g": "right", "c": "left"})
    write_predictions(model, tmp_path / "expected.csv")
    assert text == (tmp_path / "expected.csv").read_text()


def test_an_export_without_room_for_it_is_refused_in_words(own, tmp_path, monkeypatch):
    own("/api/label", {"node": 0, "label": "left"})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    status, told = own("/api/export")
    assert status == 409
    assert "a file for the export cannot be written" in told["error"]


def test_an_export_has_no_cell_that_a_spreadsheet_runs(tmp_path):
    formulas = ["=1+1", "+1+1", "-cmd", "@sum", "\t=1", '=HYPERLINK("http://evil.example")']
    graph = path_graph("first", *formulas, "last")
    with session_on(tmp_path, graph) as session, served(session) as server:
        ask = Client(server.port)
        for node, label in ((0, "=2+2"), (7, "plain")):
            ask("/api/label", {"node": node, "label": label})
        for option, mark in (
            ("", "'"),
            ("&spreadsheet_safe=true", "'"),
            ("&spreadsheet_safe=false", ""),
        ):
            status, text = ask(f"/api/export?format=csv{option}")
            assert status == 200
            names, labels, *_ = zip(*csv.reader(io.StringIO(text)), strict=True)
            assert set(names[1:]) == {"first", "last", *(mark + name for name in formulas)}
            assert set(labels[1:]) == {mark + "=2+2", "plain"}
        status, told = ask("/api/export?format=jsonl")
        assert (status, "must be csv, got 'jsonl'" in told["error"]) == (400, True)
        assert ask("/api/export?spreadsheet_safe=perhaps")[0] == 400


def test_hostile_names_and_labels_are_data(tmp_path):
    graph = path_graph("first", *HOSTILE, "last")
    with (
        session_on(
            tmp_path, graph, link="https://example.org/{id}", attributes={1: {"<b>": "</script>"}}
        ) as session,
        served(session) as server,
    ):
        ask = Client(server.port)
        for node in range(graph.n_nodes):
            _, card = ask(f"/api/nodes/{node}")
            assert card["name"] == graph.names[node]
            assert card["link"].isascii()
            assert not set(card["link"]) & set("<>\"' `\n")
        assert ask("/api/label", {"node": 0, "label": "<script>alert(1)</script>"})[0] == 200
        assert ask("/api/label", {"node": 6, "label": "\u0645\u0631\u062d\u0628\u0627"})[0] == 200
        session.model.wait(session.labelling.version, 30)
        assert ask("/api/nodes?search=%3Cimg")[1]["total"] == 1
        assert ask("/api/save", {})[0] == 200
        for path in ("/api/state", "/api/nodes", "/api/nodes/1/why"):
            connection_text = json.dumps(ask(path)[1])
            assert "onerror" in connection_text or path == "/api/state"
            assert ask.headers["content-type"] == "application/json"


def test_a_graph_of_one_node_has_a_page(tmp_path):
    from isotherm.graph import Graph

    graph = Graph.from_matrix([[1.0]])
    graph = graph.renamed(graph.nodes.as_texts())
    with session_on(tmp_path, graph) as session, served(session) as server:
        ask = Client(server.port)
        assert session.model.wait_for_suggestions(30)
        assert ask("/api/nodes/0/why")[1]["picture"]["nodes"] == [0]
        assert ask("/api/label", {"node": 0, "label": "x"})[0] == 200
        assert session.model.wait(session.labelling.version, 30)
        assert ask("/api/nodes/0")[1]["label"] == "x"
        assert ask("/api/nodes/0/why")[1]["note"] == "this is the only label"
        assert session.model.wait_for_suggestions(30)
        assert ask("/api/state")[1]["suggestions"] == []


def test_fifty_clients_at_once_are_answered_and_no_label_is_lost(tmp_path):
    graph, truth = two_blocks(np.random.default_rng(2))
    with session_on(tmp_path, graph) as session, served(session) as server:
        names = graph.names.tolist()

        def label(node):
            ask = Client(server.port)
            body = {"node": node, "label": truth[names[node]], "who": f"client {node}"}
            return [ask("/api/label", body)[0], ask("/api/state")[0], ask(f"/api/nodes/{node}")[0]]

        with ThreadPoolExecutor(50) as clients:
            answers = list(clients.map(label, range(50)))
        assert answers == [[200, 200, 200]] * 50
        assert session.model.wait(session.labelling.version, 60)
        assert session.labelling.labels == {names[i]: truth[names[i]] for i in range(50)}
        assert session.model.snapshot.is_seed.sum() == 50


def test_all_who_listen_hear_of_a_label(own):
    import http.client

    heard = []

    def listen():
        connection = http.client.HTTPConnection("127.0.0.1", own.port, timeout=30)
        connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {TOKEN}"})
        stream = connection.getresponse()
        for line in stream:
            if line.startswith(b"data: "):
                state = json.load(io.BytesIO(line[6:]))
                if state["labels"] == 1 and state["folded"] == state["version"]:
                    heard.append(state["classes"][0]["name"])
                    break
        connection.close()

    listeners = [threading.Thread(target=listen) for _ in range(3)]
    for listener in listeners:
        listener.start()
    own("/api/label", {"node": 0, "label": "left"})
    for listener in listeners:
        listener.join(30)
    assert heard == ["left"] * 3


def test_the_score_of_a_demo_is_how_many_other_labels_are_right(tmp_path):
    graph, truth = two_blocks(np.random.default_rng(3))
    with session_on(tmp_path, graph, truth=truth) as session:
        label_suggested(session, 6)
        score = session.state()["truth"]
        assert len(session.labelling.labels) == 6
        assert all(truth[node] == label for node, label in session.labelling.labels.items())
        assert score["total"] == 54
        assert score["right"] > 0.9 * 54
        right = sum(
            label == truth[name]
            for name, label in zip(
                graph.names.tolist(),
                DirichletClassifier().fit(graph, session.labelling.labels).labels_.tolist(),
                strict=True,
            )
            if name not in session.labelling.labels
        )
        assert score["right"] == right


def test_a_server_needs_a_token_before_it_listens_to_others(tmp_path):
    with (
        session_on(tmp_path, path_graph("a", "b")) as session,
        pytest.raises(ParameterError, match="lets other machines connect"),
    ):
        PageServer(session, host="0.0.0.0")  # noqa: S104


def test_a_solve_that_takes_longer_shows_its_progress(tmp_path, monkeypatch):
    from isotherm.page import model as page_model

    monkeypatch.setattr(page_model, "SLOW", 0.0)
    graph, _ = two_blocks(np.random.default_rng(4), size=400)
    shown = []
    with session_on(tmp_path, graph) as session:
        session.model.changed = lambda: shown.append(session.model.progress)
        for node, label in ((0, "left"), (799, "right"), (5, "left")):
            session.labelling.label(graph.names[node], label)
            assert session.model.wait(session.labelling.version, 60)
        assert session.model.progress is None  # it is over
    assert any(part is not None for part in shown)
    assert all(part is None or 0 <= part <= 1 for part in shown)


def test_without_a_browser_to_open_it_is_said(monkeypatch):
    import webbrowser

    from isotherm.page.server import open_browser

    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    failed = threading.Event()
    open_browser("http://127.0.0.1:1/", failed.set)
    assert failed.wait(10)


def test_a_label_given_during_a_solve_is_queued_and_folded_in(tmp_path):
    graph, truth = two_blocks(np.random.default_rng(6))
    names = graph.names.tolist()
    with session_on(tmp_path, graph, {names[0]: "left"}) as session:
        began, go_on = threading.Event(), threading.Event()

        def hold(_):
            began.set()
            go_on.wait(30)

        asked = session.model.ask(hold)  # the thread of the model is busy from here on
        assert began.wait(30)
        for name in names[1:6]:
            session.labelling.label(name, truth[name])
        assert session.model.snapshot.version == 0
        assert len(session.labelling.journal.entries) == 5  # kept all the same
        go_on.set()
        asked.result(30)
        assert session.model.wait(session.labelling.version, 60)
        assert session.model.snapshot.is_seed.sum() == 6


def test_heat_goes_through_the_nodes_between():
    from isotherm.trust.explain import shares_of

    path = path_graph(*"abcdefg")
    model = DirichletClassifier(tol=1e-9).fit(path, {"a": "left", "g": "right"})
    found = shares_of(model.session(), model.solution_, 2, tol=1e-9)
    # A walk from c ends at a in two of three cases.
    expected = np.array([2, 4, 3, 2, 2, 2, 1]) / 6
    assert found.heat_through() == pytest.approx(expected, abs=1e-8)


def test_colours_go_to_the_classes_with_the_most_labels_and_stay(tmp_path, rng):
    graph, _ = two_blocks(rng)
    names = graph.names.tolist()
    given = {names[i]: f"class {i:02}" for i in range(14)} | {names[20]: "class 13"}
    with session_on(tmp_path, graph, given) as session, served(session) as server:
        page = Client(server.port)
        classes = {one["name"]: one["colour"] for one in page("/api/state")[1]["classes"]}
        assert classes["class 13"] == 11
        assert sorted(name for name, colour in classes.items() if colour < 0) == [
            "class 11",
            "class 12",
        ]
        _, found = page(f"/api/colours?nodes={20},{int(graph.positions([names[12]])[0])}")
        assert found["colours"] == [11, -1]
        assert found["classes"] == [13, 12]
