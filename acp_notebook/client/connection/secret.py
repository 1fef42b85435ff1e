"""One secret, and the fragments of it in some bytes. Knows no message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

HIDDEN: Final = "(hidden)"
LEAST_CHARS: Final = 12

Span = tuple[int, int]


class Secret:
    """A random word of ASCII characters.

    Every fragment that counts holds one of the probes whole, so ordinary data costs only a few
    searches.
    """

    def __init__(self, word: str) -> None:
        self.word = word.encode()
        self.least = min(LEAST_CHARS, len(self.word))
        """The length of a fragment that counts."""
        size = max(1, self.least // 2)
        starts = range(0, len(self.word) - size + 1, self.least - size + 1)
        self._probes = [(start, self.word[start : start + size]) for start in starts]

    def spans(self, data: bytes) -> list[Span]:
        """Return where at least `LEAST_CHARS` of the secret stand, or all of a shorter one."""
        found: list[Span] = []
        newest: dict[int, Span] = {}
        for start, probe in self._probes if len(data) >= self.least else ():
            at = data.find(probe)
            while at >= 0:
                # The probes in one fragment, which come in order, agree on the secret's place.
                place, last = at - start, at + len(probe)
                if last > newest.get(place, (0, 0))[1]:
                    newest[place] = self._widened(data, at, start, len(probe))
                    if newest[place][1] - newest[place][0] >= self.least:
                        found.append(newest[place])
                at = data.find(probe, last)
        return found

    def ends(self, data: bytes) -> bool:
        """Whether the data ends with a fragment that counts."""
        return data[-self.least :] in self.word and len(data) >= self.least

    def end_of(self, data: bytes) -> bytes:
        """Return what the secret may go on from: its longest fragment that the data ends with."""
        sizes = range(min(self.least, len(data)), 0, -1) if data[-1:] in self.word else ()
        return next((data[-size:] for size in sizes if data[-size:] in self.word), b"")

    def _widened(self, data: bytes, at: int, start: int, size: int) -> Span:
        word, before, after = self.word, 0, size
        if data.startswith(word, max(at - start, 0)):
            return at - start, at - start + len(word)
        while before < min(at, start) and data[at - before - 1] == word[start - before - 1]:
            before += 1
        while (
            start + after < len(word)
            and data[at + after : at + after + 1] == word[start + after : start + after + 1]
        ):
            after += 1
        return at - before, at + after


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order; those that touch are one."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def without(data: bytes, spans: Iterable[Span], mark: bytes = HIDDEN.encode()) -> bytes:
    """Return the data with a mark in place of each span; spans that touch are one."""
    parts: list[bytes] = []
    position = 0
    for first, last in merged(spans):
        parts += [data[position:first], mark]
        position = last
    return b"".join([*parts, data[position:]]) if parts else data
