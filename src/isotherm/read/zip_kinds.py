"""What a zip archive is, told by the name of its first file: arrays, a workbook, a packed file."""

from __future__ import annotations

MARK = b"PK\x03\x04"
_OF_WORKBOOKS = ("[content_types].xml", "_rels/", "docprops/", "xl/")


def first_member(head: bytes) -> str:
    """The name of the first file of an archive, in small letters; empty of what is none.

    Examples
    --------
    >>> first_member(MARK + bytes(22) + bytes([5, 0, 0, 0]) + b"A.csv")
    'a.csv'
    """
    if not head.startswith(MARK):
        return ""
    return head[30 : 30 + int.from_bytes(head[26:28], "little")].decode(errors="replace").lower()


def is_of_arrays(head: bytes, ending: str) -> bool:
    """Whether a file is an archive of arrays, as NumPy and SciPy save them."""
    return head.startswith(MARK) and (ending == ".npz" or first_member(head).endswith(".npy"))


def is_workbook(head: bytes, ending: str) -> bool:
    """Whether a file is a workbook of Excel."""
    named = ending in (".xlsx", ".xlsm") or first_member(head).startswith(_OF_WORKBOOKS)
    return head.startswith(MARK) and named


def is_open_document(head: bytes, ending: str) -> bool:
    """Whether a file is one of OpenDocument."""
    return head.startswith(MARK) and (ending == ".ods" or first_member(head) == "mimetype")


def is_packed_file(head: bytes, ending: str) -> bool:
    """Whether a file is an archive that is none of the above."""
    kinds = (is_of_arrays, is_workbook, is_open_document)
    return head.startswith(MARK) and not any(kind(head, ending) for kind in kinds)
