"""Labels → a label file, whole or not at all, and never over what others wrote unless told."""

from __future__ import annotations

import csv
import hashlib
import io
from typing import TYPE_CHECKING

from isotherm.classifier.classify import DirichletClassifier
from isotherm.errors import FileError, LabelError
from isotherm.files import check_replaceable, write_text, written
from isotherm.write import write_predictions

if TYPE_CHECKING:
    from pathlib import Path

    from isotherm.graph import Graph
    from isotherm.job import ModelParameters
    from isotherm.page.labelling import Labelling


class FileChanged(FileError):
    """A file is not as it was read or written here: somebody must be asked."""


def checksum(path: Path | None) -> str:
    """The SHA-256 of a file in hexadecimal digits; empty if it is not there."""
    try:
        return "" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from None


class LabelFile:
    """Where labels are saved.

    Parameters
    ----------
    path : Path
        The file for "Save".
    original : Path or None
        The label file that was read.
    read : str
        Its checksum then.
    """

    def __init__(self, path: Path, original: Path | None, read: str) -> None:
        self.path, self.original = path, original
        self._known = {path: ""} | ({} if original is None else {original: read})

    @property
    def can_replace(self) -> bool:
        """Whether the original is of the kind that is written here."""
        return self.original is not None and self.original.suffix.lower() == ".csv"

    def remember(self, labelling: Labelling) -> None:
        """Know again what was saved before, by the journal."""
        for entry in labelling.journal.entries:
            if entry.act == "saved":
                path = self.original if entry.more.get("original") else self.path
                if path is not None and entry.more.get("file") == path.name:
                    self._known[path] = str(entry.more.get("checksum", ""))

    def save(
        self, labelling: Labelling, who: str, *, original: bool = False, force: bool = False
    ) -> Path:
        """Write all labels; the file that was written.

        Parameters
        ----------
        labelling : Labelling
        who : str
        original : bool
            Over the file that was read.
        force : bool
            Even if that has changed or gone meanwhile.

        Raises
        ------
        FileChanged
            If somebody else has written the file, or taken it away.
        FileError
            If it cannot be written, or is a link.
        """
        path = self.path
        if original:
            if not self.can_replace or self.original is None:
                raise FileError("only a label file that ends in .csv can be written over")
            path = self.original
        check_replaceable(path)
        now = checksum(path)
        if now != self._known[path] and not force:
            raise FileChanged(
                f"{path.name} was changed by someone else. Write over it?"
                if now
                else f"{path.name} was deleted or renamed. Write it anew?"
            )
        known = labelling.known()
        drawn = known.drawn or ()
        columns = ("node", "label") if known.drawn is None else ("node", "label", "drawn")
        rows = (
            (node, label, str(node in drawn).lower())[: len(columns)]
            for node, label in sorted(known.items())
        )
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([columns, *rows])
        with written(str(path)):
            write_text(path, text.getvalue(), force=True)
        self._known[path] = checksum(path)
        labelling.saved(path.name, self._known[path], who, original=original)
        return path


def export(
    graph: Graph,
    labelling: Labelling,
    parameters: ModelParameters,
    path: Path,
    *,
    spreadsheet_safe: bool = False,
) -> None:
    """Write what ``isotherm classify`` would make of these labels.

    Raises
    ------
    LabelError
        If there is none.
    """
    labels = dict(labelling.labels)
    if not labels:
        raise LabelError("there is no label yet: label a node first")
    model = DirichletClassifier(**parameters).fit(graph, labels)
    write_predictions(model, path, force=True, spreadsheet_safe=spreadsheet_safe)
