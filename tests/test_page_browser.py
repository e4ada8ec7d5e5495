"""The labelling page in a real browser: the loop by keyboard, and what could break it.

They need playwright and Chromium (``.ci/browser`` installs both), and are skipped without.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs isotherm[page]")
pytest.importorskip("playwright.sync_api", reason="needs isotherm[dev]; see .ci/browser")

from playwright import sync_api as sync

from labelling_page import Client, Full, path_graph, served, session_on, two_blocks

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FOUND = os.environ.get("ISOTHERM_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
AXE = Path(__file__).parents[1] / "page" / "node_modules" / "axe-core" / "axe.min.js"
HOSTILE = ["<img src=x onerror=alert(1)>", "\"'&`<script>", "\u202eevil\u202c", "x" * 10_000]
WAIT = 90_000  # milliseconds; machines may be busy

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.core_free,
    pytest.mark.browser,
    pytest.mark.skipif(FOUND is None, reason="there is no Chromium here; see .ci/browser"),
]


@pytest.fixture(scope="module")
def browser():
    drawing = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    with sync.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=FOUND, args=["--no-sandbox", *drawing])
        yield started
        started.close()


class Tab:
    """A page that is open in the browser; whatever it complains of fails the test."""

    def __init__(self, browser, address, failing=(), **how):
        self.context = browser.new_context(**({"viewport": {"width": 1280, "height": 860}} | how))
        self.page = self.context.new_page()
        for pattern, failure in failing:
            self.page.route(pattern, failure, times=1)
        self.page.set_default_timeout(WAIT)
        self.faults = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("dialog", self._asked)
        self.page.goto(address)
        self.page.wait_for_selector("#card[aria-busy=false]")

    def _heard(self, message):
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(message.text)

    def _asked(self, dialog):
        self.faults.append(dialog.message)
        dialog.dismiss()

    @property
    def node(self):
        return int(self.page.get_attribute("#card", "data-node"))

    def press(self, key):
        """Press a key and wait until that has led on to another node."""
        before = self.node
        self.page.keyboard.press(key)
        self.leads_on_from(before)

    def leads_on_from(self, node):
        """Wait until another node is shown and what was said of this one has arrived.

        The page goes on at once; what it still has to send waits in its storage.
        """
        self.shows_another_than(node)
        self.page.wait_for_function(
            "() => Object.entries(localStorage).every(([key, waiting]) =>"
            " !key.startsWith('isotherm-outbox') || waiting === '[]')"
        )

    def shows_another_than(self, node):
        """Wait until another node is shown: until then there is nothing that keys could label."""
        self.page.wait_for_function(
            "n => document.querySelector('#card').dataset.node !== String(n)", arg=node
        )

    def shows(self, node):
        self.page.wait_for_selector(f"#card[data-node='{node}'][aria-busy=false]")

    def sees(self, place, pattern):
        """Wait until there is some text at a place."""
        test = "([p, t]) => new RegExp(t).test(document.querySelector(p).innerText)"
        self.page.wait_for_function(test, arg=[place, pattern])

    def close(self):
        self.context.close()
        assert self.faults == []


@pytest.fixture
def open_tab(browser):
    tabs = []

    def start(server, **how):
        tabs.append(Tab(browser, server.address, **how))
        return tabs[-1]

    yield start
    for tab in tabs:
        tab.close()


@pytest.fixture
def blocks(tmp_path):
    """A page on two blocks, each with one label."""
    graph, truth = two_blocks(np.random.default_rng(1))
    names = graph.names.tolist()
    given = {names[0]: "left", names[-1]: "right"}
    with session_on(tmp_path, graph, given, truth=truth) as session, served(session) as server:
        session.model.wait_for_suggestions(30)
        yield session, server


def settled(session):
    assert session.model.wait(session.labelling.version, 30)


def test_the_whole_loop_by_keyboard(blocks, open_tab):
    session, server = blocks
    tab, names = open_tab(server), session.graph.names.tolist()
    asked = []
    for _ in range(12):
        asked.append(tab.node)
        tab.press("1" if names[tab.node].startswith("left") else "2")
        settled(session)
    assert len(set(asked)) == 12
    assert all(session.labelling.labels[names[i]] == names[i].split()[0] for i in asked)
    tab.page.wait_for_function(
        "v => Number(document.querySelector('#picture').dataset.folded) >= v",
        arg=session.labelling.version,
    )
    tab.sees("#accuracy", "too few labels to tell")  # fewer than 20 of them are checks
    for name in names[2:45:2]:
        session.labelling.label(name, name.split()[0], drawn=True)
    settled(session)
    tab.sees("#accuracy", r"\d %")
    score = session.truth.score(session.model.snapshot)
    assert score.right > 0.95 * score.total > 0


def test_skip_undo_new_class_and_help(blocks, open_tab):
    session, server = blocks
    tab, names = open_tab(server), session.graph.names.tolist()
    first = tab.node
    tab.press("s")
    second = tab.node
    assert session.labelling.skipped == {names[first]}
    tab.page.keyboard.press("n")
    tab.page.keyboard.type("quite new")
    tab.page.keyboard.press("Enter")
    tab.leads_on_from(second)
    tab.page.wait_for_selector("#classes >> text=quite new")
    assert session.labelling.labels[names[second]] == "quite new"
    tab.page.keyboard.press("u")
    tab.shows(second)
    assert names[second] not in session.labelling.labels
    assert "quite new" not in session.labelling.classes
    tab.page.keyboard.press("u")
    tab.shows(first)
    assert session.labelling.skipped == set()
    tab.page.keyboard.press("?")
    assert tab.page.is_visible("#keys-dialog")
    tab.page.keyboard.press("Escape")
    assert not tab.page.is_visible("#keys-dialog")


def test_the_first_labels_make_the_first_classes(tmp_path, open_tab):
    with session_on(tmp_path, path_graph(*"abcdefghi")) as session, served(session) as server:
        session.model.wait_for_suggestions(30)
        tab = open_tab(server)
        assert "no class yet" in tab.page.inner_text("#opinion")
        for name in ("first", "second"):
            before = tab.node
            tab.page.keyboard.press("t")
            tab.page.keyboard.type(name)
            tab.page.keyboard.press("Enter")
            tab.leads_on_from(before)
        tab.page.wait_for_selector("#choices >> text=second")
        settled(session)
        assert session.model.snapshot.classes == ["first", "second"]


def test_search_table_and_walking(blocks, open_tab):
    session, server = blocks
    tab, names = open_tab(server), session.graph.names.tolist()
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("RIGHT 4")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("text=Looked up")
    tab.sees("#range", "of 10$")
    assert names[tab.node].startswith("right 4")
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Escape")
    tab.page.wait_for_selector("text=Suggested")
    neighbour = tab.page.locator("#near button").first
    name = neighbour.locator("bdi").first.inner_text()
    neighbour.click()
    tab.shows(names.index(name))
    tab.page.click("th button[data-sort=name]")
    tab.page.wait_for_selector("th[aria-sort=ascending] >> text=name")
    tab.page.select_option("#filter-state", "given")
    tab.sees("#range", "of 2$")


def test_suspects_are_shown_and_set_right(tmp_path, open_tab):
    graph, truth = two_blocks(np.random.default_rng(5))
    names = graph.names.tolist()
    given = {name: truth[name] for name in names[:24] + names[-24:]}
    given[names[3]] = "right"  # which is wrong
    with session_on(tmp_path, graph, given) as session, served(session) as server:
        assert session.model.wait(0, 60, judged=True)
        assert session.model.suspects[0].node == names[3]
        tab = open_tab(server)
        tab.page.locator("#suspects button").first.click()
        tab.shows(3)
        assert "Labelled" in tab.page.inner_text("#opinion")
        tab.page.wait_for_selector("#why >> text=Without its own label")
        tab.page.keyboard.press("1")
        tab.page.wait_for_selector("#suspects >> text=no label looks wrong")
        assert session.labelling.labels[names[3]] == "left"


def test_two_tabs_see_each_others_labels(blocks, open_tab):
    session, server = blocks
    one, other = open_tab(server), open_tab(server)
    one.press("1")
    other.page.wait_for_function(
        "() => /given here\\s+1\\b/.test(document.querySelector('#numbers').innerText)"
    )
    settled(session)
    one.page.reload()
    one.page.wait_for_selector("#card[aria-busy=false]")
    assert "1" in one.page.inner_text("#numbers")


def test_what_is_not_answered_is_asked_for_again(blocks, open_tab):
    session, server = blocks
    asked = []

    def nobody_is_there(route):
        asked.append(route.request.url)
        route.abort("connectionrefused")

    def too_busy(route):
        asked.append(route.request.url)
        route.fulfill(status=503, json={"error": "the model is busy: try again"})

    failing = [("**/api/state", nobody_is_there), ("**/api/nodes/*/why", too_busy),
               (re.compile(r"/api/nodes/\d+$"), too_busy)]  # fmt: skip
    tab = open_tab(server, failing=failing)
    tab.page.wait_for_selector("#why >> text=left")
    assert len(asked) == len(failing)
    tab.press("1")
    assert session.labelling.n_given == 1


def test_hostile_names_are_shown_as_they_are(tmp_path, open_tab):
    graph = path_graph("first", *HOSTILE, "last")
    attributes = {1: {"<b>bold</b>": "<script>alert(2)</script>"}}
    with session_on(tmp_path, graph, attributes=attributes) as session, served(session) as server:
        session.labelling.label("first", "<img src=x onerror=alert(3)>")
        session.labelling.label("last", "\u0627\u0644\u062b\u0627\u0646\u064a")
        settled(session)
        session.model.wait_for_suggestions(30)
        tab = open_tab(server)
        for name in HOSTILE:
            tab.page.locator("#rows button", has_text=name[:12]).first.click()
            tab.shows(graph.names.tolist().index(name))
            assert tab.page.text_content("#name") == name
            assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert tab.page.query_selector("main img, main script") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_it_is_accessible_and_fits(blocks, open_tab, width, scheme):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci in page/")
    session, server = blocks
    assert session.model.wait(0, 60, judged=True)
    tab = open_tab(server, viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.page.wait_for_selector("#near button")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    tab.page.evaluate(AXE.read_text(encoding="utf-8"))
    for opened in (None, "#keys", "#save"):
        if opened:
            tab.page.click(opened)
        found = tab.page.evaluate("async () => (await axe.run()).violations")
        told = [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]
        assert told == []
        if opened:
            tab.page.keyboard.press("Escape")


def test_a_phone_labels_by_touch(blocks, open_tab):
    session, server = blocks
    tab = open_tab(server, viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    before = tab.node
    tab.page.locator("#choices button").first.tap()
    tab.leads_on_from(before)
    settled(session)
    assert session.labelling.n_given == 1


def test_save_and_export(blocks, open_tab, tmp_path):
    session, server = blocks
    tab = open_tab(server)
    tab.press("1")
    tab.page.click("#save")
    tab.page.click("#save-now")
    tab.page.wait_for_selector("#toast >> text=Wrote")
    assert (tmp_path / "saved.csv").read_text().count("\n") == 4
    with tab.page.expect_download() as download:
        tab.page.click("text=Export")
    assert Path(download.value.path()).read_text().startswith("node,label,")
    assert session.is_saved


@pytest.mark.skipif(os.name != "posix", reason="makes links")
def test_saving_over_a_link_is_refused_without_a_question(blocks, open_tab, tmp_path):
    _, server = blocks
    tab, original = open_tab(server), tmp_path / "labels.csv"
    original.rename(tmp_path / "renamed.csv")
    original.symlink_to(tmp_path / "renamed.csv")
    tab.press("1")
    tab.page.click("#save")
    tab.page.click("#over")
    tab.page.click("#save-now")
    tab.page.wait_for_selector("#toast >> text=is a link to")


def test_labels_wait_in_the_browser_while_the_disk_is_full(blocks, open_tab):
    session, server = blocks
    tab, names = open_tab(server), session.graph.names.tolist()
    journal, first = session.labelling.journal, tab.node
    file, journal._file = journal._file, Full(journal._file, 30)
    tab.page.keyboard.press("1")
    tab.sees("#status", "not kept: .*labels.journal cannot be written: No space left on device")
    tab.shows_another_than(first)
    second = tab.node
    tab.page.keyboard.press("2")
    tab.sees("#status", "2 labels will be sent again")
    assert session.labelling.n_given == 0
    journal._file = file
    tab.leads_on_from(second)
    assert session.labelling.labels[names[first]] == "left"
    assert session.labelling.labels[names[second]] == "right"
    tab.page.wait_for_selector("#status.good")


@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_killed_and_started_again_in_the_middle_of_the_loop(tmp_path, open_tab):
    port = 0

    def start():
        command = ["label", "--demo", "karate", "--no-open", "--token", "a-token-of-this-test"]
        server = subprocess.Popen(
            [sys.executable, "-m", "isotherm", *command, "--port", str(port)],
            cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        server.address = re.search(r"http\S+", server.stdout.readline())[0]
        return server

    server = start()
    try:
        port = int(re.search(r":(\d+)/", server.address)[1])
        tab = open_tab(server)
        for _ in range(3):
            tab.press("o")
        tab.page.wait_for_function(
            "() => /labels\\s+3\\b/.test(document.querySelector('#numbers').innerText)"
        )
        server.send_signal(signal.SIGKILL)
        server.wait()
        server.stdout.close()
        tab.page.wait_for_selector("#status.bad")
        tab.page.keyboard.press("o")  # while nobody is there: it waits
        server = start()
        tab.page.wait_for_function(
            "() => /labels\\s+4\\b/.test(document.querySelector('#numbers').innerText)"
        )
        lines = (tmp_path / "isotherm-label-karate.journal").read_text().splitlines()
        assert sum('"act":"label"' in line for line in lines) == 4
        ask = Client(port)
        assert ask("/api/state", Authorization="Bearer a-token-of-this-test")[1]["labels"] == 4
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
