"""``isotherm label``."""

from __future__ import annotations

import getpass
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import make_job
from isotherm.cli.messages import MessageOptions, say
from isotherm.cli.reading_options import ReadingOptions
from isotherm.errors import IsothermWarning, MissingLibrary

if TYPE_CHECKING:
    from isotherm.page.session import LabellingSession

_page = partial(typer.Option, rich_help_panel="Page")
_served = partial(typer.Option, rich_help_panel="Server")


@dataclass(frozen=True)
class PageOptions:
    """What the page shows and where labels go."""

    demo: Annotated[
        Literal["karate", "debian"] | None,
        _page(help="Try it on the karate club or Debian's packages; no files are needed."),
    ] = None
    nodes: Annotated[
        str | None,
        _page(
            metavar="FILE",
            help="Table of facts to show about each node; ids in the first column.",
        ),
    ] = None
    link: Annotated[
        str | None,
        _page(
            metavar="ADDRESS",
            help="Address of a node's web page, to link to; {id} stands for its id.",
        ),
    ] = None
    journal: Annotated[
        str | None,
        _page(
            metavar="FILE",
            help="File that keeps each label as soon as it is given; by default beside LABELS.",
        ),
    ] = None
    save: Annotated[
        str | None,
        _page(metavar="FILE", help="CSV file that 'Save' writes; by default beside LABELS."),
    ] = None
    who: Annotated[
        str | None,
        _page(metavar="NAME", help="Name of the person labelling; by default your user name."),
    ] = None


@dataclass(frozen=True)
class ServerOptions:
    """Where the page is."""

    host: Annotated[
        str, _served(help="Address to listen on; by default only this machine can connect.")
    ] = "127.0.0.1"
    port: Annotated[
        int,
        _served(
            min=0, max=65535, help="Port; if it is in use, the next free one. 0: any free port."
        ),
    ] = 8765
    token: Annotated[
        str | None,
        _served(
            metavar="TEXT", help="Secret in the address, random by default; required with --host."
        ),
    ] = None
    open_page: Annotated[bool, _served("--open/--no-open", help="Whether to open a browser.")] = (
        True
    )


@command
def label(
    edges: o.EdgesIfAny = None,
    labels: o.LabelsIfAny = None,
    *,
    asked: PageOptions,
    server: ServerOptions,
    decision: o.Decides = None,
    heat: o.HeatOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Label nodes by hand on a web page, and watch all others follow.

    For example: isotherm label edges.csv; isotherm label --demo karate
    """
    _check(edges, labels, asked.demo)
    try:
        from isotherm.page.opening import PageFiles, open_demo, open_session
        from isotherm.page.security import check_host
    except ImportError as error:
        raise MissingLibrary(f"the page needs {error.name}: pip install 'isotherm[page]'") from None
    check_host(server.host, server.token)
    model = o.ModelOptions(
        model="paper", decision=decision, leak=heat.leak, unreached=heat.unreached
    )
    job = make_job(edges or "", labels or "", reading, model, solver)
    files = PageFiles(asked.journal, asked.save, asked.nodes, asked.link)
    who = asked.who if asked.who is not None else _user()
    with messages.stages() as stages:
        if asked.demo is not None:
            session = open_demo(asked.demo, job, files, stages, who)
        else:
            session = open_session(job, files, stages, who)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)  # the page shows what it is about
        session.start()
        try:
            _serve(session, server)
        finally:
            session.stop()
    _tell_end(session)


def _check(edges: str | None, labels: str | None, demo: str | None) -> None:
    if (edges is None) == (demo is None):
        raise typer.BadParameter("Name either a file of EDGES or a demo, such as --demo karate.")
    if demo is not None and labels is not None:
        raise typer.BadParameter(f"--demo takes no files: leave out {labels}.")


def _user() -> str:
    try:
        return getpass.getuser()[:80]
    except (KeyError, OSError):  # nobody is known by a name here
        return ""


def _serve(session: LabellingSession, server: ServerOptions) -> None:
    from isotherm.page.server import PageServer, open_browser

    served = PageServer(session, host=server.host, port=server.port, token=server.token)
    if server.port not in (0, served.port):
        say("note", f"port {server.port} is in use: this page is at {served.port}")
    for note in session.notes:
        say("note", note)
    Console().print(f"label here: {served.address}", soft_wrap=True)
    Console().print("press Ctrl-C to stop; nothing is lost", soft_wrap=True)
    if server.open_page:
        open_browser(
            served.address, lambda: say("note", "no browser could be opened: use the address above")
        )
    with suppress(KeyboardInterrupt):  # which is how it ends
        served.run()


def _tell_end(session: LabellingSession) -> None:
    labelling = session.labelling
    n = labelling.n_given
    lines = [f"{n} label{'' if n == 1 else 's'} given, all in {labelling.journal.path}"]
    if n and not session.is_saved:
        lines.append(f"not yet saved to {session.file.path}: run the same command to continue")
    for line in lines:
        Console(stderr=True).print(line, soft_wrap=True)
