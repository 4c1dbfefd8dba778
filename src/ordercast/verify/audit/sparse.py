"""A column of integers, some bytes each; indices may begin anywhere and leave large stretches out."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

CHUNK_BITS = 12
_CHUNK = 1 << CHUNK_BITS
_MASK = _CHUNK - 1


class Sparse:
    """Values by index; 0 is the same as none."""

    __slots__ = ("_chunks", "_empty")

    def __init__(self, typecode: str = "q") -> None:
        self._empty = array(typecode, [0]) * _CHUNK
        self._chunks: dict[int, array[int]] = {}

    def __getitem__(self, index: int) -> int:
        chunk = self._chunks.get(index >> CHUNK_BITS)
        return 0 if chunk is None else chunk[index & _MASK]

    def __setitem__(self, index: int, value: int) -> None:
        chunk = self._chunks.get(index >> CHUNK_BITS)
        if chunk is None:
            chunk = self._chunks[index >> CHUNK_BITS] = self._empty[:]
        chunk[index & _MASK] = value

    def items(self) -> Iterator[tuple[int, int]]:
        """All indices that have a value, in order."""
        for number in sorted(self._chunks):
            first = number << CHUNK_BITS
            for offset, value in enumerate(self._chunks[number]):
                if value:
                    yield first + offset, value
