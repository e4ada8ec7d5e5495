"""The addresses of the page, and what each answers. `docs/labelling.md` documents them."""

from __future__ import annotations

import asyncio
import json
import tempfile
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from isotherm.errors import FileError, IsothermError
from isotherm.files import written
from isotherm.page import bodies
from isotherm.page.bodies import BadRequest
from isotherm.page.events import TooManyListeners
from isotherm.page.model import Stopped
from isotherm.page.node_card import NOTHING_KNOWN, Explained
from isotherm.page.node_table import Query
from isotherm.page.saving import FileChanged, export
from isotherm.page.security import Guard
from isotherm.report.page import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from concurrent.futures import Future

    from starlette.requests import Request

    from isotherm.page.session import LabellingSession

HERE = Path(__file__).parent
STATIC = {
    "page.js": (HERE / "static", "text/javascript; charset=utf-8"),
    "page.css": (HERE / "static", "text/css; charset=utf-8"),
    "colours.css": (TEMPLATES, "text/css; charset=utf-8"),  # those of reports
}
MOST_EXPANDED = 10  # nodes whose neighbours are drawn, too
KEPT_ANSWERS = 16
PATIENCE = 60.0  # seconds until an answer of the model is given up


class Json(Response):
    """JSON that is never taken for markup, whatever is in it."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=True, allow_nan=False).encode()


def application(session: LabellingSession, *, token: str, host: str, port: int) -> Guard:
    """The page as an ASGI application, with its guard before it."""
    pages = Pages(session)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        session.events.start()
        yield
        session.events.stop()

    get, post = ["GET"], ["POST"]
    routes = [
        Route("/", pages.index, methods=get),
        Route("/static/{name}", pages.static, methods=get),
        Route("/api/state", pages.state, methods=get),
        Route("/api/events", pages.events, methods=get),
        Route("/api/nodes", pages.nodes, methods=get),
        Route("/api/nodes/{node}", pages.node, methods=get),
        Route("/api/nodes/{node}/why", pages.why, methods=get),
        Route("/api/colours", pages.colours, methods=get),
        Route("/api/label", pages.label, methods=post),
        Route("/api/skip", pages.skip, methods=post),
        Route("/api/undo", pages.undo, methods=post),
        Route("/api/class", pages.new_class, methods=post),
        Route("/api/oracle", pages.oracle, methods=post),
        Route("/api/save", pages.save, methods=post),
        Route("/api/export", pages.export, methods=get),
    ]
    handlers: dict[Any, Any] = {BadRequest: _refused, IsothermError: _refused}
    return Guard(
        Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers), token, host, port
    )


async def _refused(_: Request, error: Exception) -> Response:
    """What is wrong with a request, in words."""
    if isinstance(error, FileError):
        return Json({"error": str(error), "can_force": isinstance(error, FileChanged)}, 409)
    return Json({"error": str(error)}, error.code if isinstance(error, BadRequest) else 400)


class Pages:
    """The handlers.

    Parameters
    ----------
    session : LabellingSession
    """

    def __init__(self, session: LabellingSession) -> None:
        self._session, self._n = session, session.graph.n_nodes
        self._answers: dict[tuple[int, int], Future[Explained]] = {}
        self._static = {name: (folder / name).read_bytes() for name, (folder, _) in STATIC.items()}
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True
        )
        self._index = environment.get_template("index.html").render(title=session.title)

    # --- what is looked at ----------------------------------------------------------------------

    async def index(self, _: Request) -> Response:
        return Response(self._index, media_type="text/html")

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise BadRequest("there is no such file", 404)
        return Response(self._static[name], media_type=STATIC[name][1])

    async def state(self, _: Request) -> Response:
        return Json(await run_in_threadpool(self._session.state))

    async def events(self, _: Request) -> Response:
        try:
            stream = self._session.events.join()
        except TooManyListeners:
            raise BadRequest("too many pages are open: close some", 503) from None
        return StreamingResponse(stream, media_type="text/event-stream")

    async def nodes(self, request: Request) -> Response:
        query = _query(request)
        return Json(await run_in_threadpool(self._nodes, query))

    def _nodes(self, query: Query) -> dict[str, Any]:
        session = self._session
        snapshot = session.model.snapshot
        found, total = session.table.find(query, snapshot, session.skipped())
        degrees = np.diff(session.graph.rows.start)[found].tolist() if found else []
        rows = session.cards.brief(snapshot, found)
        skipped = session.labelling.skipped
        for row, degree in zip(rows, degrees, strict=True):
            row |= {"degree": degree, "skipped": row["name"] in skipped}
        return {"total": total, "page": query.page, "size": query.size, "rows": rows}

    async def node(self, request: Request) -> Response:
        i = bodies.node(request.path_params["node"], self._n)
        session = self._session
        card = await run_in_threadpool(session.cards.card, session.model.snapshot, i)
        given = session.labelling.labels.get(card["name"])
        oracle = session.truth is not None and session.truth.knows(card["name"])
        return Json(card | {"given": given, "skipped": card["name"] in session.labelling.skipped,
                            "oracle": oracle})  # fmt: skip

    async def why(self, request: Request) -> Response:
        i = bodies.node(request.path_params["node"], self._n)
        more = bodies.some_nodes(request.query_params.get("more", ""), self._n)[-MOST_EXPANDED:]
        found = await self._explained(i)
        return Json(await run_in_threadpool(self._session.cards.draw, found, i, more))

    async def _explained(self, node: int) -> Explained:
        """Asked once for each version of the labels, however many want to know."""
        cards, model = self._session.cards, self._session.model
        unknown = Explained({"seeds": [], "paths": [], "note": NOTHING_KNOWN}, None)
        if model.snapshot.model is None:
            return unknown
        key = (node, model.snapshot.version)
        if key not in self._answers:
            while len(self._answers) >= KEPT_ANSWERS:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = model.ask(partial(cards.explain, node=node))
        asked = asyncio.wrap_future(self._answers[key])
        try:
            return await asyncio.wait_for(asyncio.shield(asked), PATIENCE)
        except LookupError:
            return unknown
        except (TimeoutError, Stopped):
            self._answers.pop(key, None)
            raise BadRequest("the model is busy: try again", 503) from None

    async def colours(self, request: Request) -> Response:
        nodes = bodies.some_nodes(request.query_params.get("nodes", ""), self._n)
        session = self._session
        snapshot = session.model.snapshot
        number = {name: k for k, name in enumerate(session.labelling.classes)}
        labels = [snapshot.classes[k] if k >= 0 else None
                  for k in snapshot.codes[nodes].tolist()] if nodes else []  # fmt: skip
        codes = [-1 if label is None else number.get(label, -1) for label in labels]
        colours = [-1 if label is None else session.colour_of(label) for label in labels]
        places = np.array(nodes, dtype=np.intp)
        sure = np.round(snapshot.certainty_of(places), 3).tolist()
        seeds = snapshot.is_seed[places].astype(int).tolist()
        return Json({"folded": snapshot.version, "classes": codes, "colours": colours,
                     "certainty": sure, "seeds": seeds})  # fmt: skip

    # --- what is said -----------------------------------------------------------------------------

    async def label(self, request: Request) -> Response:
        told = await bodies.body(request)
        name, who = self._name(told), bodies.who(told)
        label = None if told.get("label", "") is None else bodies.text(told, "label")
        return await self._done(self._session.label, name, label, who)

    async def skip(self, request: Request) -> Response:
        told = await bodies.body(request)
        return await self._done(self._session.labelling.skip, self._name(told), bodies.who(told))

    async def undo(self, request: Request) -> Response:
        told = await bodies.body(request)
        return await self._done(self._session.labelling.undo, bodies.who(told))

    async def new_class(self, request: Request) -> Response:
        told = await bodies.body(request)
        name = bodies.text(told, "name")
        return await self._done(self._session.labelling.new_class, name, bodies.who(told))

    async def oracle(self, request: Request) -> Response:
        told = await bodies.body(request)
        if self._session.truth is None:
            raise BadRequest("this page has no oracle: only a demo knows the true labels", 404)
        name = self._name(told)
        label = self._session.truth.of(name)
        return await self._done(self._session.label, name, label, bodies.who(told))

    def _name(self, told: dict[str, Any]) -> str:
        name: str = self._session.cards.names[bodies.node(told.get("node"), self._n)]
        return name

    async def _done(self, act: Callable[..., Any], *given: Any) -> Response:
        """Do something; it is on the disk when this answers."""
        entry = await run_in_threadpool(act, *given)
        session = self._session
        session.events.tell()
        place = None
        if entry is not None:
            of = session.labelling.journal.entries[entry.of - 1] if entry.of else entry
            place = int(session.graph.positions([of.node])[0]) if of.node else None
        return Json(
            {
                "entry": None if entry is None else entry.number,
                "node": place,
                "version": session.labelling.version,
                "next": session.next_node(),
            }
        )

    # --- files ------------------------------------------------------------------------------------

    async def save(self, request: Request) -> Response:
        told = await bodies.body(request)
        who, session = bodies.who(told), self._session
        original, force = (bodies.flag(told, name) for name in ("original", "force"))
        save = partial(session.file.save, session.labelling, who, original=original, force=force)
        path = await run_in_threadpool(save)
        session.events.tell()
        return Json({"file": path.name, "labels": len(session.labelling.labels)})

    async def export(self, request: Request) -> Response:
        wanted = request.query_params.get("format", "csv")
        if wanted != "csv":
            raise BadRequest(
                f"format must be csv, got {wanted!r}: for others save the labels, and run isotherm "
                "classify on them"
            )
        safe = request.query_params.get("spreadsheet_safe", "true")
        if safe not in ("true", "false"):
            raise BadRequest(f"spreadsheet_safe must be true or false, got {safe!r}")
        data = await run_in_threadpool(self._export, safe == "true")
        stem = self._session.file.path.stem.encode("ascii", "replace").decode().replace('"', "")
        name = f"{stem}-predictions.csv".replace("\\", "").replace("?", "_")
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(data, media_type="text/csv; charset=utf-8", headers=headers)

    def _export(self, is_safe: bool) -> bytes:
        session = self._session
        with written("a file for the export"), tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "predictions.csv"
            export(session.graph, session.labelling, session.parameters, path,
                   spreadsheet_safe=is_safe)  # fmt: skip
            return path.read_bytes()


def _query(request: Request) -> Query:
    given = request.query_params
    kinds: dict[str, Callable[[str], Any]] = {
        "search": str, "label": str, "state": str, "sort": str, "page": int, "size": int,
        "below": float, "descending": lambda text: {"true": True, "false": False}[text],
    }  # fmt: skip
    if unknown := set(given) - set(kinds):
        raise BadRequest(f"unknown parameters: {', '.join(sorted(unknown))}")
    try:
        return Query(**{name: kinds[name](value) for name, value in given.items()}).check()
    except (ValueError, KeyError, OverflowError) as error:
        if isinstance(error, IsothermError):
            raise
        raise BadRequest(f"a parameter has a wrong value: {error}") from None
