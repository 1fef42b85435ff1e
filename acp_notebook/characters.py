"""Characters that hide or mislead, marked with their code points: `[U+202E]`.

Three kinds: characters that nobody sees (Unicode's default-ignorable ones, letters that are blank,
controls of direction), letters of another script inside a Latin word, and characters that a
compiler reads as plain letters. Knows no HTML.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

# Default_Ignorable_Code_Point of Unicode 16, and what is blank or breaks lines without being a
# space or a newline: Hangul fillers, the empty Braille cell, separators, interlinear marks.
_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN: Final = re.compile(f"[{_UNSEEN}]")
_JOINERS: Final = "\u200c\u200d\ufe00-\ufe0f"
# Emoji and several scripts need joiners and variation selectors: single ones after a character that
# is not ASCII stay where nothing is approved; a run of them could carry a text of its own.
_HIDDEN_IN_NAMES: Final = re.compile(
    f"(?P<kept>(?<=[^\x00-\x7f{_JOINERS}])(?:[\ufe0e\ufe0f]\u200d?|[\u200c\u200d])(?![{_JOINERS}])"
    f"|\ufe0f(?=\u20e3))|[{_UNSEEN}]"
)
# The flags of regions are spelt with tags.
_HIDDEN_IN_PROSE: Final = re.compile(
    "(?P<kept>\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f)"
    f"|[\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]|[{_UNSEEN}]{{3,}}"
)
# An ASCII word can deceive only by what is not ASCII in it.
_FOREIGN_WORD: Final = re.compile(r"\w*[^\W\x00-\x7f]\w*")
_READ_AS_ASCII: Final = re.compile("[^\x00-\x7f]")
# Alphabets with letters that look Latin. A mixture with scripts that do not, as Chinese, is common.
_LOOKALIKE_SCRIPTS: Final = frozenset(
    {"CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN", "GLAGOLITIC", "LISU", "GOTHIC"}
)
# Formulas mix Greek and Latin, so only the letters that cannot be told apart are marked.
_GREEK_LOOKALIKES: Final = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρϲϳ")  # noqa: RUF001
_CYRILLIC_LOOKALIKES: Final = frozenset("аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅ")  # noqa: RUF001


def mark_all(text: str) -> str:
    """Return code or a command with every hiding or misleading character marked."""
    if text.isascii():
        return text
    text = _HIDDEN.sub(_mark, text)
    text = _READ_AS_ASCII.sub(_mark_read_as_ascii, text)
    return _FOREIGN_WORD.sub(lambda match: _mark_word(match, is_code=True), text)


def mark_hidden(text: str) -> str:
    """Return a text with the characters marked that nobody sees."""
    return text if text.isascii() else _HIDDEN.sub(_mark, text)


def mark_prose(text: str) -> str:
    """Return prose with the characters marked that turn it around, and with hidden texts marked.

    Languages and emoji need single invisible characters, but no run of them.
    """
    if text.isascii():
        return text
    return _HIDDEN_IN_PROSE.sub(
        lambda match: match["kept"] or "".join(map(_code_point, match[0])), text
    )


def mark_name(text: str) -> str:
    """Return a title, a name or a text to read with the same marks, but for joiners of a script."""
    if text.isascii():
        return text
    text = _HIDDEN_IN_NAMES.sub(lambda match: match["kept"] or _mark(match), text)
    return _FOREIGN_WORD.sub(lambda match: _mark_word(match, is_code=False), text)


def _mark(match: re.Match[str]) -> str:
    return _code_point(match[0])


def _code_point(character: str) -> str:
    return f"[U+{ord(character):04X}]"


def _is_marked(match: re.Match[str]) -> bool:
    # A text may pass here twice, with its marks from the first time.
    return match.string.startswith(_code_point(match[0][-1]), match.end())


def _mark_read_as_ascii(match: re.Match[str]) -> str:
    character = match[0]
    if not _is_read_as_ascii(character) or _is_marked(match):
        return character
    return _mark(match) if character.isspace() else character + _mark(match)


@lru_cache(maxsize=4096)
def _is_read_as_ascii(character: str) -> bool:
    # Python reads mathematical letters as plain ones, and a no-break space is seen as a space.
    plain = unicodedata.normalize("NFKC", character)
    is_letter = unicodedata.category(character)[0] in "LZ" or character == "\u037e"
    return is_letter and len(plain) == 1 and plain.isascii()


def _mark_word(match: re.Match[str], *, is_code: bool) -> str:
    word = match[0]
    letters = [character for character in word if character.isalpha()]
    if any(_script(character) == "LATIN" for character in letters):
        marked = set(filter(_deceives_among_latin, letters))
    elif is_code and _CYRILLIC_LOOKALIKES.issuperset(letters):
        marked = set(letters)  # in prose such words are common
    else:
        return word
    end = len(word) - 1 if _is_marked(match) else len(word)
    return "".join(
        character + _code_point(character) if character in marked and place < end else character
        for place, character in enumerate(word)
    )


def _deceives_among_latin(character: str) -> bool:
    return _script(character) in _LOOKALIKE_SCRIPTS or character in _GREEK_LOOKALIKES


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    # The standard library has no table of scripts, but the names begin with them.
    return unicodedata.name(character, "").partition(" ")[0]
