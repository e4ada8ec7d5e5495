"""One call at a time: what a model or a session is asked waits for what it is doing.

Locks are kept beside the objects: they are in no copy and in no pickle, and a forked child, in
which the thread that held one does not run, makes all of them anew. Each is taken and given back
by C in a single line, so that an interrupt finds it either held by a call or free.
"""

from __future__ import annotations

import os
from functools import partial, wraps
from itertools import compress, repeat
from operator import is_not
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from isotherm.compiled import on_threads, threads_of
from isotherm.errors import ParameterError, SessionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Method = Callable[..., Any]

T = TypeVar("T")
Made = TypeVar("Made")

FITTING = ("fit", "update")  # methods that change a model
READING = ("some_scores", "node_texts")  # that read one attribute each: they never wait

_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_locks.clear)


def lock_of(owner: object, make: Callable[[], Made]) -> Made:
    """The lock of an object, made when it is first asked for."""
    found: Made = _locks.setdefault(owner, make())
    return found


class Turn:
    """The locks of a model: one for its calls, one while a call calls the user's `progress`."""

    def __init__(self) -> None:
        self.call = RLock()
        self.progress = Lock()

    def answer(self, method: Method, *args: Any, **kwargs: Any) -> Any:
        """What a method returns, unless it is called where no model is at rest."""
        if self.progress.locked():
            raise SessionError(
                "the model is at work, and this is its own progress function: ask once the call "
                "that it tells of has returned, or ask a copy that was made before"
            )
        if kwargs.get("progress") is not None:
            kwargs["progress"] = partial(self.tell, kwargs["progress"])
        return on_threads(threads_of(args[0]), method, *args, **kwargs)

    def tell(self, progress: Method, *seen: Any) -> Any:
        """Call the user's `progress`, which may not ask the model."""
        if self.progress.locked():  # by a call that this one is part of
            return progress(*seen)
        with self.progress: return progress(*seen)  # noqa: E701  # fmt: skip


def by_one_thread(work: Callable[..., T]) -> Callable[..., T]:
    """A method of a session, which another thread is refused; see `HostSession.at_work`."""

    @wraps(work)
    def called(session: Any, *args: Any, **kwargs: Any) -> Any:
        lock = lock_of(session, Lock)
        if lock.locked():
            raise SessionError(
                "the session is in use by another thread: prepare one session for each thread"
            )
        with lock: return session.at_work(work, *args, **kwargs)  # noqa: E701  # fmt: skip

    return called


def one_at_a_time(method: Callable[..., T]) -> Callable[..., T]:
    """A question to a model: calls in other threads wait, and the graph's file is looked at."""

    @wraps(method)
    def answered(model: Any, *args: Any, **kwargs: Any) -> T:
        with model._steady():
            return method(model, *args, **kwargs)

    return in_turn(answered)


def in_turn(method: Callable[..., T]) -> Callable[..., T]:
    """A function of a model, or a method: calls in other threads wait for their turn."""

    @wraps(method)
    def called(model: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(model, "_steady"):
            raise ParameterError(f"a fitted model is needed, got {model!r:.60}")
        turn = lock_of(model, Turn)
        with turn.call: return turn.answer(method, model, *args, **kwargs)  # noqa: E701  # fmt: skip

    return called


def in_one_step(method: Callable[..., T]) -> Callable[..., T]:
    """A method that changes a model: it works on a twin, whose new attributes are the last step.

    What fails or is interrupted has changed nothing, and nobody sees half of a change.
    """

    @wraps(method)
    def changed(model: Any, *args: Any, **kwargs: Any) -> Any:
        twin = twin_of(model)
        before = dict(vars(twin))
        method(twin, *args, **kwargs)
        new = vars(twin)
        is_new = map(is_not, new.values(), map(before.get, new, repeat(twin)))
        vars(model).update(dict(compress(new.items(), is_new)))
        return model

    return in_turn(changed)


def twin_of(model: T) -> T:
    """Another model with the same attributes, all of one moment."""
    twin = object.__new__(type(model))
    vars(twin).update(vars(model))
    return twin


def of_one_state(attribute: Callable[[Any], T]) -> Callable[[Any], T]:
    """An attribute that is made of others, all of one moment; it waits for no call."""

    @wraps(attribute)
    def made(model: Any) -> T:
        return attribute(twin_of(model))

    return made


def answers_one_at_a_time(kind: type[T]) -> type[T]:
    """A class of models: all its public methods wait for their turn; attributes do not."""
    for name, method in list(vars(kind).items()):
        if callable(method) and not name.startswith("_") and name not in READING:
            setattr(kind, name, (in_one_step if name in FITTING else one_at_a_time)(method))
    return kind


def each_in_turn(model: object, found: Iterator[T]) -> Iterator[T]:
    """What is found one after the other, each in a turn of its own: others have theirs between."""
    end: Any = object()
    step: Callable[[Any], Any] = one_at_a_time(lambda _: next(found, end))
    while (one := step(model)) is not end:
        yield one
