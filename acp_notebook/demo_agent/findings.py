"""The code that the demo agent runs on a frame, and the report on its output. Knows no turn."""

from __future__ import annotations

from typing import Any, Final

FACTS_CODE: Final = """\
import json

import pandas as pd


def frame_facts(frame: pd.DataFrame) -> dict:
    numbers = frame.select_dtypes("number")
    low, high = numbers.quantile(0.25), numbers.quantile(0.75)
    reach = 1.5 * (high - low)
    odd = (numbers < low - reach) | (numbers > high + reach)
    plain = [c for c in frame if frame[c].map(pd.api.types.is_hashable).all()]
    return {{
        "rows": len(frame),
        "columns": frame.shape[1],
        "duplicates": int(frame[plain].duplicated().sum()) if len(plain) == frame.shape[1] else 0,
        "missing": {{str(name): int(n) for name, n in frame.isna().sum().items() if n}},
        "constant": [str(c) for c in plain if frame[c].nunique(dropna=False) == 1],
        "numbers": [
            {{
                "name": str(column),
                "mean": float(numbers[column].mean()),
                "median": float(numbers[column].median()),
                "min": float(numbers[column].min()),
                "max": float(numbers[column].max()),
                "odd": int(odd[column].sum()),
                "low": float(low[column] - reach[column]),
                "high": float(high[column] + reach[column]),
            }}
            for column in numbers
        ],
    }}


print("{mark}" + json.dumps(frame_facts({name})))
"""

FIGURE_CODE: Final = """\
import matplotlib.pyplot as plt


def box_plots(frame, columns):
    figure, axes = plt.subplots(1, len(columns), figsize=(3 * len(columns), 3), squeeze=False)
    for axis, column in zip(axes[0], columns):
        axis.boxplot(frame[column].dropna())
        axis.set_title(column)
        axis.set_xticks([])
    figure.tight_layout()


box_plots({name}, {columns!r})
plt.show()
"""


def report(name: str, facts: dict[str, Any], drawn: bool) -> str:
    """Return a report on the numbers, in Markdown."""
    size = _count(facts["rows"], "row"), _count(facts["columns"], "column")
    parts = [
        f"`{name}` has **{size[0]}** and **{size[1]}**.",
        "\n".join(f"- {line}" for line in _odd_lines(facts))
        or "I found nothing odd: no missing values, no duplicates, no outliers.",
    ]
    if facts["numbers"]:
        head = "| column | mean | median | min | max | outliers |\n" + "|---" + "|--:" * 5 + "|"
        rows = [
            f"| `{column['name']}` | {column['mean']:,.4g} | {column['median']:,.4g} "
            f"| {column['min']:,.4g} | {column['max']:,.4g} | {column['odd']:,} |"
            for column in facts["numbers"]
        ]
        parts.append("\n".join([head, *rows]))
    if drawn:
        parts.append("The boxes above show the same: points beyond the whiskers are the outliers.")
    return "\n" + "\n\n".join(parts) + "\n"


def _odd_lines(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"**{_count(column['odd'], 'outlier')}** in `{column['name']}`: outside "
        f"{column['low']:,.4g} to {column['high']:,.4g}, as far as {_farthest(column):,.4g}"
        for column in facts["numbers"]
        if column["odd"]
    ]
    lines += [f"**{n:,} missing** in `{column}`" for column, n in facts["missing"].items()]
    if facts["duplicates"]:
        lines.append(f"**{_count(facts['duplicates'], 'row')}** like an earlier one")
    lines += [f"`{column}` has one value only" for column in facts["constant"]]
    return lines


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _farthest(column: dict[str, Any]) -> float:
    above, below = column["max"] - column["high"], column["low"] - column["min"]
    return float(column["max"] if above >= below else column["min"])
