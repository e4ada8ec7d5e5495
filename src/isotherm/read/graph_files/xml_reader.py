"""XML, read block by block, with what could unfold to more than the file refused."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.parsers import expat

from isotherm.errors import GraphError
from isotherm.read.graph_files.contents import BLOCK, LONGEST, ContentsBuilder
from isotherm.read.report import shown

if TYPE_CHECKING:
    from typing import BinaryIO

DEEPEST = 1000


class XmlReader:
    """Elements of a file, one after the other.

    Parameters
    ----------
    name : str
        The file, as messages call it.

    Attributes
    ----------
    builder : ContentsBuilder
        Gets the nodes and edges.
    parser : expat parser
    open : list of str
        Elements that matter, the innermost last.
    skipped : int
        Depth inside an element that does not.
    """

    def __init__(self, name: str) -> None:
        self.builder = ContentsBuilder(name)
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._document_type
        self.parser.SkippedEntityHandler = self._entity
        self.n_fed = self.n_done = 0
        self.open = [""]
        self.skipped = 0

    def read(self, stream: BinaryIO, block: int = BLOCK) -> None:
        """Read all of a file."""
        while data := stream.read(block):
            self._feed(data)
        self._feed(b"", last=True)

    def _feed(self, block: bytes, *, last: bool = False) -> None:
        try:
            self.parser.Parse(block, last)
        except expat.ExpatError as fault:
            what = f"not well-formed XML: {expat.ErrorString(fault.code)}"
            raise self.builder.fault(fault.lineno, what) from None
        except GraphError:
            raise
        except (LookupError, ValueError, Warning) as fault:
            raise self._fault(f"the encoding cannot be read: {shown(str(fault))}") from None
        self.n_fed += len(block)
        self.n_done = max(self.n_done, self.parser.CurrentByteIndex)
        if self.n_fed - self.n_done > LONGEST:
            raise self._fault(f"a tag or comment has more than {LONGEST:,} bytes")

    def _fault(self, what: str) -> GraphError:
        return self.builder.fault(self.parser.CurrentLineNumber, what)

    def _document_type(
        self, _name: str, _system: str | None, _public: str | None, has_declarations: bool
    ) -> None:
        # Entities and default attributes make a small file unfold to a huge one.
        if has_declarations:
            raise self._fault(
                "a document type with its own declarations (entities and the like) is not read: "
                "remove the part between [ and ] in <!DOCTYPE … [ … ]>"
            )

    def _entity(self, name: str, _of_parameter: bool) -> None:
        raise self._fault(f"the entity {shown(name)} is not declared")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.skipped:
            self.skipped += 1
            if self.skipped > DEEPEST:
                raise self._fault(f"elements are nested more than {DEEPEST} deep")
            return
        self._start_element(tag.rpartition(":")[2], attributes)

    def _end(self, _tag: str) -> None:
        if self.skipped:
            self.skipped -= 1
            return
        self._end_element(self.open.pop())

    def _start_element(self, element: str, attributes: dict[str, str]) -> None:
        """An element begins: put it into `open`, or skip it."""
        raise NotImplementedError

    def _end_element(self, element: str) -> None:
        """An element ends that was in `open`."""
        raise NotImplementedError
