"""No character hides or misleads in what a person approves, and ordinary words stay as they are."""

from __future__ import annotations

import random
import unicodedata

import pytest

from acp_notebook.characters import mark_all, mark_hidden, mark_name
from acp_notebook.render.markup import clean, label, visible

# Format characters that are drawn: signs around numbers, and some of other scripts.
DRAWN = {
    *range(0x600, 0x606),
    0x6DD,
    0x70F,
    0x890,
    0x891,
    0x8E2,
    0x110BD,
    0x110CD,
    *range(0x13430, 0x13440),
}
FORMAT = [
    chr(point)
    for point in range(0x110000)
    if unicodedata.category(chr(point)) in {"Cf", "Zl", "Zp", "Cc"}
    and point not in DRAWN
    and chr(point) not in "\t\n\r"
]
BLANK_LETTERS = ["\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\u034f", "\u17b4", "\u17b5"]
SELECTORS = [chr(point) for point in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x180B)]
UNSEEN = [*FORMAT, *BLANK_LETTERS, *SELECTORS]


@pytest.mark.parametrize("show", [visible, label])
def test_nothing_unseen_stays_unseen(show) -> None:
    for character in UNSEEN:
        shown = show(f"a{character}b")
        assert character not in shown, hex(ord(character))
        if unicodedata.category(character) != "Cc":
            assert f"[U+{ord(character):04X}]" in shown or show is label, hex(ord(character))


def test_a_payload_in_variation_selectors_is_seen() -> None:
    hidden = "".join(chr(0xE0100 + byte) for byte in b"import os")
    assert visible(f'exec("{hidden}")').count("[U+E01") == len("import os")
    assert "[U+E0168]" in visible("a" + "".join(chr(0xE0100 + byte) for byte in b"h"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm \u202e;x", "rm [U+202E];x"),
        ("su\u0434o", "su\u0434[U+0434]o"),
        ("\u0455udo", "\u0455[U+0455]udo"),
        ("p\u03bfp", "p\u03bf[U+03BF]p"),
        (
            "\u0441\u043e\u0440\u0443",
            "".join(f"{c}[U+{ord(c):04X}]" for c in "\u0441\u043e\u0440\u0443"),
        ),
        ("\U0001d41eval", "\U0001d41e[U+1D41E]val"),
        ("\uff45val", "\uff45[U+FF45]val"),
        ("a\u00a0b", "a[U+00A0]b"),
        ("x\u037e y", "x\u037e[U+037E] y"),
    ],
)
def test_what_misleads_in_code_is_marked(text: str, shown: str) -> None:
    assert mark_all(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "na\u00efve caf\u00e9 stra\u00dfe",
        "\u0394t = \u03c3_x + \u00b5m",
        "\u043f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440",
        "\u8ba1\u7b97\uff0c\u7136\u540e A\u80a1",
        "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8",
        "\u0634\u0631\u062d \u0643\u062a\u0627\u0628",
        'plain ASCII, all of it: $x != "y"',
        "10 \u2212 3 \u2260 8 \u2026 \u201cquoted\u201d",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert mark_all(text) == mark_name(text) == mark_hidden(text) == text


def test_names_keep_what_a_script_or_an_emoji_needs() -> None:
    for name in (
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f469\u200d\U0001f4bb",
        "\u2764\ufe0f",
    ):
        assert label(name) == name
        assert visible(name) != name
    assert (
        label("\u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3")
        == "\u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3"
    )
    assert "[U+200D]" in label("rm\u200d -rf")


def test_a_run_of_joiners_is_marked_in_names_too() -> None:
    payload = "".join(chr(0xFE00 + number) for number in (3, 7, 15, 1))
    assert label(f"\u2764{payload}x").count("[U+FE0") == len(payload)
    assert "\u200d" not in label("\u2764\u200d\u200d\u200c\U0001f525")


def test_marking_twice_changes_nothing_more_and_costs_no_text() -> None:
    dice = random.Random(9)
    alphabet = ["a", "\u0430", "\u03bf", " ", "\n", "\u8ba1", *dice.sample(UNSEEN, 40)]
    for _ in range(300):
        text = clean("".join(dice.choices(alphabet, k=dice.randrange(40))))
        shown = mark_all(text)
        assert mark_all(shown) == shown
        kept = iter(shown)
        assert all(character in kept for character in text if character in "a\u0430\u03bf \n\u8ba1")
