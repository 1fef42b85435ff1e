"""No character hides or misleads in what a person approves, and ordinary words stay as they are."""

from __future__ import annotations

import random
import re
import time
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
}
FORMAT = [
    chr(point)
    for point in range(0x110000)
    if unicodedata.category(chr(point)) in {"Cf", "Zl", "Zp", "Cc"}
    and point not in DRAWN
    and chr(point) not in "\t\n\r"
]
BLANK_LETTERS = ["\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\u034f", "\u17b4", "\u17b5"]
BLANKS = ["\u1680", "\u2d7f", "\U00016fe4", "\U0001d159", "\U00013441", "\U00013442", "\ufffc"]
SELECTORS = [chr(point) for point in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x180B)]
UNSEEN = [*FORMAT, *BLANK_LETTERS, *BLANKS, *SELECTORS]
EVERY = [chr(point) for point in range(0x80, 0x110000) if not 0xD800 <= point < 0xE000]
# The ordinary signs of Chinese and Japanese, and one that is in all prose.
ORDINARY_SIGNS = "，：；！？（）％～"  # noqa: RUF001
GREEK_OF_FORMULAS = "ΓΔΘΛΞΠΣΦΨΩαβδεζηθλμξπςστφψω"


def code_point(character: str) -> str:
    return f"[U+{ord(character):04X}]"


def plain(character: str) -> str:
    return unicodedata.normalize("NFKC", character)


def unmarked(mark, characters, before="", after="") -> list[str]:
    """The characters that stay without a mark, each in a line of its own."""
    lines = mark("\n".join(f"{before}{each}{after}" for each in characters)).split("\n")
    assert len(lines) == len(characters)
    pairs = zip(characters, lines, strict=True)
    return [hex(ord(each)) for each, line in pairs if code_point(each) not in line]


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


@pytest.mark.parametrize("around", [("", ""), ("x", ""), ("1.", "2"), (" ", " "), ("привет ", "")])
def test_code_has_no_unmarked_character_that_is_read_as_ascii(around) -> None:
    read = [
        each
        for each in EVERY
        if each != "…"
        and (plain(each).isascii() or (plain(each)[0].isascii() and plain(each)[0].isalnum()))
    ]
    assert len(read) > 1_000
    assert unmarked(mark_all, read, *around) == []
    assert unmarked(mark_all, "＃＂＼｜＆＞", "数据") == []  # noqa: RUF001


def test_no_identifier_of_python_is_another_one_unmarked() -> None:
    for each in EVERY:
        name = f"x{each}"
        if name.isidentifier() and plain(name).isascii():
            assert code_point(each) in mark_all(name)


@pytest.mark.parametrize("mark", [mark_all, mark_name])
def test_letters_and_digits_of_another_script_are_marked_in_a_latin_word(mark) -> None:
    at_home = re.compile(
        "LATIN |(HALFWIDTH )?(CJK|HIRAGANA|KATAKANA|HANGUL(?! LETTER)|HENTAIGANA|IDEOGRAPHIC [^N])"
    )
    foreign = [
        each
        for each in EVERY
        if unicodedata.category(each) in {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl"}
        and not at_home.match(unicodedata.name(each, "CJK"))
        and plain(each)[0] not in GREEK_OF_FORMULAS
        and each not in {"ª", "º"}
        and not (plain(each)[0] > "\x7f" and unicodedata.name(plain(each)[0]).startswith("LATIN "))
    ]
    assert len(foreign) > 15_000
    for around in (("a", ""), ("", "b"), ("é_", "0")):
        assert unmarked(mark, foreign, *around) == []


def test_what_cannot_be_taken_for_latin_stays_beside_it() -> None:
    for start, end in ((0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x3041, 0x3096), (0x30A1, 0x30FA)):
        text = "\n".join(f"{chr(point)}_df" for point in range(start, end))
        assert mark_all(text) == mark_name(text) == text
    accented = [
        each
        for each in EVERY
        if unicodedata.category(each) in {"Lu", "Ll"}
        and unicodedata.normalize("NFD", each)[0].isascii()
        and not plain(each).isascii()
    ]
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, "\n".join(f"a{each}b" for each in accented))
        assert mark_all(text) == mark_name(text) == text


@pytest.mark.parametrize(
    "word",
    [
        "\u057d\u0585\u057d\u0585",
        "\ua4e1\ua4e2\ua4e7",
        "\u13da\u13bb",
        "\u03a1\u0391\u03a4\u0397",
        "\u039f",
        "\u05e1",
        "\u144e",
        "\U000102a0\U000102ab",
        "\u0441\u043e\u03c1",
        "\U0001d6b8\U0001d6a8",
        "\u02bc",
    ],
)
def test_a_word_that_only_looks_latin_is_marked_in_code(word: str) -> None:
    marked = "".join(each + code_point(each) for each in word)
    assert mark_all(f"{word} -x") == f"{marked} -x"
    assert mark_name(word) == word


@pytest.mark.parametrize("prefix", ["", " ", "=", "1", "\u043e", "\u217d"])
def test_an_accent_stands_on_a_letter_or_is_marked(prefix: str) -> None:
    for accent in ("\u0332", "\u0301", "\u0947"):
        assert code_point(accent) in mark_all(f"{prefix}{accent}x")
    assert code_point("\u0338") in mark_all("a\u0338")


def test_what_has_no_fixed_picture_and_what_looks_like_a_separator_is_marked_in_code() -> None:
    assert unmarked(mark_all, "\ue000\uf8ff\U000f0000\u0378∕⧸∣‐") == []  # noqa: RUF001


def test_marking_needs_time_in_proportion_to_the_text() -> None:
    for text in ("a" * 300_000 + " é", "_" * 300_000 + "é", "é" + "a" * 300_000):
        start = time.thread_time()
        assert mark_all(text) == mark_name(text) == text
        assert time.thread_time() - start < 5  # of square cost, it would be minutes


@pytest.mark.parametrize(
    "text",
    [
        "\u8ba1\u7b97\uff08mean\uff09\uff1a\u540e",
        "\u6570\u636e_df = gr\u00f6\u00dfe + \u00e9t\u00e9",
        "k\u03a9 \u00b5s \u03bb_max \u03b1_s",
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
    alphabet += [
        *"0_/\u0301\u0338\u0436\u217d\U0001d7e2\u00b2\uff0c\u05e1\u0660\u03c3",
        *dice.sample(EVERY, 60),
    ]
    for _ in range(800):
        text = clean("".join(dice.choices(alphabet, k=dice.randrange(40))))
        shown, named = mark_all(text), mark_name(text)
        assert mark_all(shown) == shown
        assert mark_name(named) == named
        kept = iter(shown)
        assert all(character in kept for character in text if character in "a\u0430\u03bf \n\u8ba1")
