"""A row of the table of ratios: what was measured, against what, and how far it may go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes:
        what: What is measured, in words.
        value: What came out.
        limit: What it must reach.
        unit: Behind both numbers.
        is_floor: Whether the limit is the least, not the most.
    """

    what: str
    value: float
    limit: float
    unit: str = "x"
    is_floor: bool = False

    @property
    def holds(self) -> bool:
        return self.value >= self.limit if self.is_floor else self.value <= self.limit

    @property
    def cells(self) -> tuple[str, str, str, str]:
        sign = "≥" if self.is_floor else "≤"
        mark = "yes" if self.holds else "NO"
        return (
            self.what,
            f"{self.value:.3g} {self.unit}",
            f"{sign} {self.limit:g} {self.unit}",
            mark,
        )


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [("what", "measured", "limit", "holds"), ("---", "---:", "---:", "---")]
    lines += [row.cells for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    return "\n".join(
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    )
