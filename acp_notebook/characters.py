"""Characters that hide or mislead, marked with their code points: `[U+202E]`.

Three kinds: characters that nobody sees (Unicode's default-ignorable ones, letters that are blank,
controls of direction), letters and digits of another script in a Latin word, and, in code, what
looks or is read like ASCII: `NFKC` makes plain letters of it, as a compiler does, or a whole word
is of letters that look Latin. Knows no HTML.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import Final

# Default_Ignorable_Code_Point of Unicode 16, and what is blank or breaks lines without being a
# space or a newline: the Ogham space, fillers, the empty Braille cell and note head, separators,
# interlinear marks, what arranges hieroglyphs.
_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u2d7f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc"
    "\U00013430-\U00013455\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_HIDDEN: Final = re.compile(f"[{_UNSEEN}]")
_JOINERS: Final = "\u200c\u200d\ufe00-\ufe0f"
# Emoji and several scripts need joiners and variation selectors: single ones after a character that
# is not ASCII stay where nothing is approved; a run of them could carry a text of its own.
_HIDDEN_IN_NAMES: Final = re.compile(
    f"(?P<kept>(?<=[^\x00-\x7f{_UNSEEN}])(?:[\ufe0e\ufe0f]\u200d?|[\u200c\u200d])(?![{_JOINERS}])"
    f"|\ufe0f(?=\u20e3))|[{_UNSEEN}]"
)
# The flags of regions are spelt with tags.
_HIDDEN_IN_PROSE: Final = re.compile(
    "(?P<kept>\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f)"
    f"|[\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]|[{_UNSEEN}]{{3,}}"
)
# Words and their punctuation, where it is not ASCII: an ASCII word cannot deceive. It begins where
# no word goes on, or each place of a long word would be tried.
_RUN: Final = re.compile(
    r"(?<![^\x00-/:-@\[-^`{-\x7f])[0-9A-Za-z_]*[^\x00-\x7f][^\x00-/:-@\[-^`{-\x7f]*"
)
_EAST_ASIAN_TEXT: Final = re.compile(
    "[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]"
)
# In Chinese and Japanese text these are the ordinary signs. No program reads them as ASCII.
_EAST_ASIAN_SIGNS: Final = frozenset("，：；！？（）％～")  # noqa: RUF001
# They part paths, addresses and commands, or seem to.
_LOOKALIKE_SIGNS: Final = frozenset("∕⁄╱⟋⧸∖⟍⧵⧹∣❘∶꞉˸⁎∗‐‑᐀⹀゠꓿")  # noqa: RUF001
# These strike out the character before them; other accents are marked where they stand on no
# letter, since one on a space looks like a sign of its own.
_OVERLAYS: Final = re.compile("[\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20e5\u20e6\u20ea\u20eb]")
# No Latin letter is taken for these; their names begin with the script.
_EAST_ASIAN_NAME: Final = re.compile(
    "(?:HALFWIDTH )?(?:CJK|HIRAGANA|KATAKANA|HANGUL(?! LETTER)|HENTAIGANA|IDEOGRAPHIC(?! NUMBER))"
)
# Formulas mix Greek and Latin, so the Greek letters that can be told apart stay.
_GREEK_OF_FORMULAS: Final = frozenset("ΓΔΘΛΞΠΣΦΨΩαβδεζηθλμξπςστφψω")
# Latin letters that no common language is written with, most of which look like others.
_PHONETIC: Final = re.compile(
    "(?![əɛɔɓɗɖɨʉ])[\u0196\u01a6\u01bc\u01bd\u01c0-\u01c3\u0250-\u02af\u1d00-\u1dbf\u2c60-\u2c7f"
    "\ua722-\ua7ff\uab30-\uab6f\U00010780-\U000107ba\U0001df00-\U0001df2a]"
)
# A word that has only such letters looks Latin; after Unicode's confusables, version 14.
_LATIN_LOOKALIKES: Final = frozenset(
    "аеорсухүіјѕһԁԛԝѵѡӏꙇꚙАВЕЗКМНОРСТУХҮІЈЅҺԌԚԜѴӀꚘ"
    "ικνορυχγϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϜϺϹͿͺ"
    "քցհոռօզսաՕՏՍԼ"
    "ჿყוןסװטاهھہەഠଠဝዐሀߊꛟⵏⵔⵕⵝⴹⴸ"
    "ⲥⲤⲎⲔⲒⲘⲚⲟⲞⲣⲢⲅⲦⲬⲨⳐⳊⳌⳒϨ"  # noqa: RUF001
    "ᏎᏮᎪᏏᏴᏟᏧᎠᎬᏳᏀᏂᎻᎥᎫᏦᏞᎷᏢᎡᏒᏕᏚᎢᏙᎳᏔᎩᎽᏃꮯꭵꮁꮪꮩꮃꮓ"  # noqa: RUF001
    "ᒿᗅᑲᖯᗷᑯᗞᗪᖴᕼᒍᒪᗰᑭᖇᑌᑎᐯᕁᕽᛕᛁᛖᚷᚱ"
    "ꓐꓑꓒꓓꓔꓕꓖꓗꓘꓙꓚꓛꓜꓝꓞꓟꓠꓡꓢꓣꓤꓥꓦꓧꓨꓩꓪꓫꓬꓭꓮꓯꓰꓱꓲꓳꓴꓵꓶꓷ"
    "𐊠𐊡𐊢𐊥𐋏𐊰𐊫𐊱𐊴𐊲𐊂𐊆𐊇𐊊𐊒𐊕𐊖𐊗𐊐𐌀𐌁𐌂𐌄𐌉𐌊𐌌𐌍𐌏𐌐𐌑𐌕𐌗𐌚𐐽𐐕𐐛𐐬𐐄𐑈𐐠𐔜𐔥𐔘𐔦𐔓𐔖𐔝𐔧𐓪𐓂𐒴𐓶𐓎𐓒"
    "𖼻𖽀𖼨𖼖𖼵𖼺𖼊𖽂𖼈𖽃𑣎𑢯𑢻𑢦𑢮𑣂𑢢𑣃𑢣𑢲𑣈𑣗𑢵𑣁𑢼𑣘𑢸𑣀𑢠𑣜𑢤𑣄𑢩𑜀"
    "ʹʺʻʼʽˈˊˋ"
)


def mark_all(text: str) -> str:
    """Return code or a command with every hiding or misleading character marked."""
    if text.isascii():
        return text
    # What is usual in East Asian text is so for its line; most texts have none.
    lines = text.splitlines(keepends=True) if _EAST_ASIAN_TEXT.search(text) else [text]
    return "".join(line if line.isascii() else _mark_line(line) for line in lines)


def mark_hidden(text: str) -> str:
    """Return a text with the characters marked that nobody sees."""
    return text if text.isascii() else _HIDDEN.sub(_mark, text)


def mark_output(text: str) -> str:
    """Return what a program printed with the same marks, but for joiners of a script."""
    if text.isascii():
        return text
    return _HIDDEN_IN_NAMES.sub(lambda match: match["kept"] or _mark(match), text)


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
    """Return a title, a name or a text to read with the same marks, but for joiners of a script.

    Letters in a style and words that only look Latin stay: nothing reads a name as code.
    """
    if text.isascii():
        return text
    return mark_output(_RUN.sub(lambda match: _mark_run(match, is_code=False), text))


def _mark_line(line: str) -> str:
    line = _HIDDEN.sub(_mark, line)
    usual = _EAST_ASIAN_SIGNS if _EAST_ASIAN_TEXT.search(line) else frozenset[str]()
    if any(_misleads(character) or _is_accent(character) for character in set(line)):
        line = _mark_alone(line, usual)
    return _RUN.sub(lambda match: _mark_run(match, is_code=True), line)


def _mark(match: re.Match[str]) -> str:
    return _code_point(match[0])


@lru_cache(maxsize=1 << 16)
def _code_point(character: str) -> str:
    return f"[U+{ord(character):04X}]"


def _is_marked(match: re.Match[str]) -> bool:
    # A text may pass here twice, with its marks from the first time.
    return match.string.startswith(_code_point(match[0][-1]), match.end())


def _mark_alone(line: str, usual: frozenset[str]) -> str:
    """Mark what misleads in code wherever it stands."""
    characters = set(line)
    accents = set(filter(_is_accent, characters))
    misleading = set(filter(_misleads, characters - accents)) - usual
    parts, is_on_letter = [], False
    for place, character in enumerate(line, 1):
        if character in accents:
            misleads = not is_on_letter or _OVERLAYS.match(character) is not None
            is_on_letter = not misleads
        else:
            misleads = character in misleading
            is_on_letter = not misleads and character.isalpha()
        if misleads:
            mark = _code_point(character)
            is_marked = line[place : place + 1] == "[" and line.startswith(mark, place)
            character = "" if character.isspace() else character  # noqa: PLW2901
            parts.append(character if is_marked else character + mark)
        else:
            parts.append(character)
    return "".join(parts)


@lru_cache(maxsize=1 << 16)
def _misleads(character: str) -> bool:
    # Python reads mathematical letters as plain ones, and a no-break space is seen as a space.
    if character.isascii() or character == "…":
        return False
    plain = unicodedata.normalize("NFKC", character)
    # Each font has its own picture of these, or none; but new emoji come every year.
    if unicodedata.category(character) in {"Co", "Cn"}:
        return not "\U0001f000" <= character <= "\U0001fbff"
    is_read = plain.isascii() or (plain[0].isascii() and plain[0].isalnum())
    return is_read or character in _LOOKALIKE_SIGNS


def _mark_run(match: re.Match[str], *, is_code: bool) -> str:
    run = match[0]
    if len(run) == 1 and _is_marked(match):
        return run
    text = "".join(
        _mark_word("".join(part), is_code=is_code) if is_word else "".join(part)
        for is_word, part in groupby(run, _is_of_word)
    )
    return text.removesuffix(_code_point(run[-1])) if _is_marked(match) else text


def _mark_word(word: str, *, is_code: bool) -> str:
    characters = set(word)
    letters = {each for each in characters if each.isalpha()}
    if any(map(_is_latin, letters)):
        marked = set(filter(_is_foreign, characters))
    elif is_code and letters and _LATIN_LOOKALIKES.issuperset(map(_plain, letters)):
        marked = letters  # in prose such words are common
    elif any("0" <= each <= "9" for each in characters):
        marked = {each for each in characters if not each.isalpha() and _is_foreign(each)}
    else:
        return word
    return _marked(word, marked) if marked else word


def _marked(word: str, marked: set[str]) -> str:
    parts, is_after_mark = [], False
    for character in word:
        # What stands on a letter that is marked would come to stand on the mark.
        is_after_mark = character in marked or (is_after_mark and _is_accent(character))
        parts.append(character + _code_point(character) if is_after_mark else character)
    return "".join(parts)


def _is_of_word(character: str) -> bool:
    return character == "_" or character.isalnum() or unicodedata.category(character)[0] == "M"


@lru_cache(maxsize=1 << 16)
def _is_accent(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" and not _HIDDEN.match(character)


@lru_cache(maxsize=1 << 16)
def _is_latin(character: str) -> bool:
    return unicodedata.name(_plain(character), "").startswith("LATIN ")


@lru_cache(maxsize=1 << 16)
def _is_foreign(character: str) -> bool:
    """Whether a letter, digit or accent does not belong in a Latin word."""
    if _HIDDEN.match(character):  # has a mark, or is one that a script or an emoji needs in a name
        return False
    # The standard library has no table of scripts, but the names begin with them.
    name, plain = unicodedata.name(character, ""), _plain(character)
    if character.isascii() or character in "ªº" or unicodedata.category(character) == "No":
        return False
    if plain.isascii() or _PHONETIC.match(character):
        return True
    if _is_accent(character):
        return not name.startswith("COMBINING ")
    is_at_home = _is_latin(character) or _EAST_ASIAN_NAME.match(name)
    return not is_at_home and plain not in _GREEK_OF_FORMULAS


def _plain(character: str) -> str:
    return unicodedata.normalize("NFKC", character)[0]
