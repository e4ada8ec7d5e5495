"""What comes in with a request, bounded and checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from starlette.requests import Request

LARGEST = 64 * 1024  # bytes of a body
LONGEST_NAME = 80  # characters of who labels
MOST_NODES = 400  # asked for at once


class BadRequest(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    reason : str
    code : int
        Of HTTP.
    """

    def __init__(self, reason: str, code: int = 400) -> None:
        super().__init__(reason)
        self.code = code


async def body(request: Request) -> dict[str, Any]:
    """The JSON object of a request.

    Raises
    ------
    BadRequest
        If it is too large, or something else.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise BadRequest(f"the body must be application/json, got {kind!r}", 415)
    data = b""
    try:
        async for part in request.stream():
            data += part
            if len(data) > LARGEST:
                raise BadRequest(f"the body must have at most {LARGEST:,} bytes", 413)
    except ClientDisconnect:
        raise BadRequest("the body did not come", 408) from None
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not JSON") from None
    if not isinstance(told, dict):
        raise BadRequest("the body must be a JSON object")
    return told


def text(told: dict[str, Any], name: str, default: str | None = None) -> str:
    """A text of a body."""
    value = told.get(name, default)
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{name} is not valid Unicode") from None
    return value


def who(told: dict[str, Any]) -> str:
    """Who does something."""
    name = text(told, "who", "").strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise BadRequest(f"who must be a name of at most {LONGEST_NAME} printable characters")
    return name


def flag(told: dict[str, Any], name: str) -> bool:
    """Yes or no."""
    value = told.get(name, False)
    if not isinstance(value, bool):
        raise BadRequest(f"{name} must be true or false")
    return value


def node(value: object, n_nodes: int) -> int:
    """The number of a node, from a body or an address."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadRequest("node must be a number")
    if not 0 <= value < n_nodes:
        raise BadRequest(f"there is no node {value}: numbers go from 0 to {n_nodes - 1}", 404)
    return value


def some_nodes(listed: str, n_nodes: int) -> list[int]:
    """Numbers of nodes with commas between them."""
    parts = [part for part in listed.split(",") if part]
    if len(parts) > MOST_NODES:
        raise BadRequest(f"at most {MOST_NODES} nodes at once, got {len(parts)}")
    return [node(part, n_nodes) for part in parts]
