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
        self._word = word.encode()
        self._least = min(LEAST_CHARS, len(self._word))
        size = max(1, self._least // 2)
        starts = range(0, len(self._word) - size + 1, self._least - size + 1)
        self._probes = [(start, self._word[start : start + size]) for start in starts]

    def spans(self, data: bytes) -> list[Span]:
        """Return where at least `LEAST_CHARS` of the secret stand, or all of a shorter one."""
        found: list[Span] = []
        for start, probe in self._probes:
            at = data.find(probe)
            while at >= 0:
                first, last = self._widened(data, at, start, len(probe))
                if last - first >= self._least:
                    found.append((first, last))
                at = data.find(probe, last)
        return found

    def ends(self, data: bytes) -> bool:
        """Whether the data ends with a fragment that counts."""
        return data[-self._least :] in self._word and len(data) >= self._least

    def continued(self, end: bytes, data: bytes) -> int:
        """Return how much of the beginning of the data continues a fragment of what was before."""
        if end[-1:] + data[:1] not in self._word:
            return 0
        spans = self.spans(end + data[: len(self._word)])
        return max((last - len(end) for first, last in spans if first < len(end)), default=0)

    def _widened(self, data: bytes, at: int, start: int, size: int) -> Span:
        word, before, after = self._word, 0, size
        while before < min(at, start) and data[at - before - 1] == word[start - before - 1]:
            before += 1
        while (
            start + after < len(word)
            and data[at + after : at + after + 1] == (word[start + after : start + after + 1])
        ):
            after += 1
        return at - before, at + after


def without(data: bytes, spans: Iterable[Span], mark: bytes = HIDDEN.encode()) -> bytes:
    """Return the data with a mark in place of each span; spans that touch are one."""
    parts: list[bytes] = []
    position = 0
    for first, last in sorted(spans):
        if not parts or first > position:
            parts += [data[position:first], mark]
        position = max(position, last)
    return b"".join([*parts, data[position:]]) if parts else data
