"""Resolving mentions: to variables, files, cells, outputs and the last error.

Each result is an `Item`: text, pictures, or a file to link. Knows IPython's namespace and history;
knows no agent.
"""

from __future__ import annotations

import base64
import difflib
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from acp_notebook.errors import UsageError, suggestion
from acp_notebook.kernel.context.cell_log import CellLog, Output, without_ansi
from acp_notebook.kernel.context.describe import BUDGET_CHARS, describe
from acp_notebook.kernel.context.files import read_named_file
from acp_notebook.kernel.context.frames import frame_cells, frame_csv
from acp_notebook.kernel.context.kinds import NeedsCode, type_name
from acp_notebook.kernel.context.mentions import Mention, steps_of
from acp_notebook.kernel.context.parts import NoPart, attribute_of, item_of, names_in
from acp_notebook.kernel.context.pictures import NoPicture, Picture, figure_data, picture_of
from acp_notebook.kernel.context.text import bounded, fenced

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# The limits of `@frame:csv`.
CSV_CELLS = 2_000_000
CSV_CHARS = 4_000_000
SOURCE_CHARS = 8_000
OUTPUT_CHARS = 6_000
TRACEBACK_CHARS = 8_000
MOST_CELLS = 50
_TAGS = re.compile(r"<(style|script)\b.*?</\1>|<[^>]+>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """One resource of a prompt; `notes` are for the user, such as what was left out."""

    name: str
    uri: str
    text: str = ""
    mime_type: str = "text/markdown"
    pictures: tuple[Picture, ...] = ()
    link: Path | None = None
    size: int | None = None
    notes: tuple[str, ...] = ()


def own_variables(shell: Any) -> dict[str, Any]:
    """Return the user's variables, without IPython's own and names with a leading underscore."""
    hidden = shell.user_ns_hidden
    return {
        name: value
        for name, value in list(shell.user_ns.items())
        if isinstance(name, str)
        and not name.startswith("_")
        and not (name in hidden and hidden[name] is value)
    }


class Notebook:
    """The names that a prompt can use; `local` holds the variables of a prompting function."""

    def __init__(
        self, shell: InteractiveShell, log: CellLog, local: Mapping[str, Any] | None = None
    ) -> None:
        self._shell = shell
        self.log = log
        self._local = local or {}

    @property
    def variables(self) -> dict[str, Any]:
        """The user's variables and the local ones, except names with a leading underscore."""
        local = {name: v for name, v in self._local.items() if not name.startswith("_")}
        return own_variables(self._shell) | local

    @property
    def namespace(self) -> dict[str, Any]:
        """All names that an expression can use."""
        kept = {"In": self._shell.user_ns.get("In"), "Out": self.outs}
        hidden = {n: v for n, v in self._shell.user_ns.items() if n.startswith("_")}
        return {**hidden, **kept, **self.variables, **self._local}

    @property
    def outs(self) -> dict[int, Any]:
        """The values of `Out`."""
        manager = self._shell.history_manager
        return {} if manager is None else manager.output_hist

    def evaluate(self, expression: str) -> Any:
        """Evaluate an expression of the user.

        Raises:
            UsageError: The expression fails.
        """
        try:
            return eval(expression, {**self.namespace})  # noqa: S307 - the user's own, as in a cell
        except Exception as error:  # noqa: BLE001 - whatever the user's expression raises
            raise UsageError(
                f"--attach {expression}: {type(error).__name__}: {error}. It takes a Python "
                "expression, such as a variable's name; quote one that has spaces."
            ) from None


def resolve(mention: Mention, notebook: Notebook, folder: str) -> Item:
    """Return the item that a mention names.

    Args:
        mention: The mention as found in the prompt.
        notebook: Where names are looked up.
        folder: The agent's folder; a file outside it gets a note for the user.

    Raises:
        UsageError: The mention names nothing; the message suggests a similar name.
    """
    match mention.kind:
        case "variable":
            return _variable(mention, notebook)
        case "file":
            return file_item(mention.value, folder, mention.text)
        case "error":
            return error_item(notebook.log)
        case "cell":
            return cell_item(notebook.log, _cell_number(notebook.log, int(mention.value)))
        case "out":
            return _out(notebook, int(mention.value))
        case "cells":
            return _cells(notebook.log, int(mention.value))


def value_item(value: Any, name: str, uri: str) -> Item:
    """Return a value as an item: a picture if it is a figure, otherwise a description."""
    try:
        picture = picture_of(value)
    except NoPicture as reason:
        note = f"@{name}: {reason}; its data is sent as text"
        text = f"{type_name(value)}, not drawn: {reason}.\n\n{figure_data(value)}"
        return Item(name, uri, bounded(text, BUDGET_CHARS), notes=(note,))
    if picture is not None:
        return Item(name, uri, pictures=(picture,))
    mime_type = "text/plain" if type(value) is str else "text/markdown"
    return Item(name, uri, describe(value) or "(empty)", mime_type)


def _variable(mention: Mention, notebook: Notebook) -> Item:
    name, steps = steps_of(mention.value)
    variables = notebook.variables
    if name not in variables:
        raise UsageError(_no_variable(mention, name, variables))
    value = variables[name]
    path = name
    for step in steps:
        value = _step(value, step, path)
        path += step if isinstance(step, str) and step.startswith(".") else f"[{step!r}]"
    uri = f"notebook://variable/{quote(path)}"
    if mention.form == "csv":
        return Item(mention.value, f"{uri}.csv", _whole(value, mention.value), "text/csv")
    return value_item(value, mention.value, uri)


def _no_variable(mention: Mention, name: str, variables: Mapping[str, Any]) -> str:
    special = {"file": "@file:PATH", "cell": "@cell[N]", "out": "@out[N]", "cells": "@cells:N"}
    plain = f"To send a plain @, put a backslash before it: \\{mention.text}"
    if name in special:
        return f"Write {special[name]}, not {mention.text}. {plain}"
    close = difflib.get_close_matches(name, [*variables, "error"], 1)
    meant = f" Did you mean @{close[0]}?" if close else ""
    return f"There is no variable {name!r} for {mention.text}.{meant} {plain}"


def _step(value: Any, step: str | int, path: str) -> Any:
    is_attribute = isinstance(step, str) and step.startswith(".")
    name = step.removeprefix(".") if isinstance(step, str) else step
    try:
        if not is_attribute:
            return item_of(value, name)
        try:
            return attribute_of(value, str(name))
        except NoPart:  # a column or key may be written like an attribute
            return item_of(value, name)
    except NeedsCode as reason:
        whole = f"{path}.{name}" if is_attribute else f"{path}[{name!r}]"
        raise UsageError(
            f"@{path} leads no further: {reason}, and a mention runs no code. "
            f"To have it computed, write {{{whole}}} or --attach {whole}."
        ) from None
    except NoPart:
        meant = suggestion(str(name), names_in(value))
        raise UsageError(
            f"@{path} has no {name!r}.{meant} A description of all of it is @{path}."
        ) from None


def _whole(value: Any, name: str) -> str:
    cells = frame_cells(value)
    advice = f"Send a part of it, or save it and name the file: @file:{name}.csv"
    if cells > CSV_CELLS:
        raise UsageError(f"@{name}:csv would be {cells:,} cells; {CSV_CELLS:,} can go. {advice}")
    try:
        text = frame_csv(value)
    except NeedsCode as reason:
        raise UsageError(
            f"@{name}:csv cannot be written: {reason}, and a mention runs no code. "
            f"To have it computed, write {{{name}.to_csv()}}."
        ) from None
    if text is None:
        raise UsageError(
            f"@{name}:csv is for pandas and polars frames; this is a {type_name(value)}. "
            f"@{name} describes it."
        )
    if len(text) > CSV_CHARS:
        raise UsageError(f"@{name}:csv has {len(text):,} characters. {advice}")
    return text


def file_item(name: str, folder: str, mention: str = "") -> Item:
    """Return a file or folder that the user named.

    Raises:
        UsageError: The path does not exist, cannot be read, or is neither file nor folder.
    """
    found = read_named_file(name, Path.cwd())
    path = found.path.resolve()
    notes = list(found.notes)
    if not path.is_relative_to(Path(folder).resolve()):
        notes.append(
            f"{name} lies outside the agent's folder {folder}; it goes because you name it"
        )
    text = "" if found.text is None else found.text or "(empty)"
    return Item(
        mention.removeprefix("@") or name,
        path.as_uri(),
        text,
        found.mime_type or "text/plain",
        () if found.picture is None else (found.picture,),
        path,
        found.size,
        tuple(notes),
    )


def error_item(log: CellLog) -> Item:
    """Return the last error, with the cell that raised it.

    Raises:
        UsageError: No cell has failed.
    """
    error = log.last_error
    if error is None:
        raise UsageError("No cell has failed since the extension was loaded: @error means nothing.")
    where = f"In cell [{error.count}]" if error.count else "In a cell"
    source = fenced(bounded(error.source.rstrip(), SOURCE_CHARS), "python")
    trace = fenced(bounded(error.traceback, TRACEBACK_CHARS), "text")
    text = f"{error.name}\n\n{where}:\n\n{source}\n\nTraceback:\n\n{trace}"
    return Item("error", "notebook://error", text)


def cell_item(log: CellLog, count: int) -> Item:
    """Return a cell that has ended, with its outputs and error."""
    text, pictures = _cell(log, count)
    notes = () if log.keeps_printed_text else ("this IPython does not keep what cells printed",)
    return Item(f"cell[{count}]", f"notebook://cell/{count}", text, pictures=pictures, notes=notes)


def _cells(log: CellLog, wanted: int) -> Item:
    counts = list(log.sources)[-min(wanted, MOST_CELLS) :] if wanted else []
    if not counts:
        raise UsageError(f"@cells:{wanted} names no cell: none has run before this one.")
    cells = [_cell(log, count) for count in counts]
    return Item(
        f"cells:{wanted}",
        f"notebook://cells/{counts[0]}-{counts[-1]}",
        "\n\n".join(text for text, _ in cells),
        pictures=tuple(picture for _, pictures in cells for picture in pictures),
        notes=() if len(counts) == wanted else (f"@cells:{wanted}: there are {len(counts)}",),
    )


def _cell_number(log: CellLog, wanted: int) -> int:
    counts = list(log.sources)
    if wanted in counts:
        return wanted
    if wanted < 0 and -wanted <= len(counts):
        return counts[wanted]
    there = f"There are {counts[0]} to {counts[-1]}" if counts else "None has run yet"
    raise UsageError(
        f"@cell[{wanted}] names no cell that ran in this kernel. {there}; @cell[-1] is the last."
    )


def _cell(log: CellLog, count: int) -> tuple[str, tuple[Picture, ...]]:
    source = bounded(log.sources[count].rstrip(), SOURCE_CHARS)
    parts = [f"Cell [{count}]:\n\n{fenced(source, 'python')}"]
    pictures: list[Picture] = []
    for output in log.outputs_of(count):
        picture = _picture(output)
        if picture is not None:
            pictures.append(picture)
            parts.append(f"Output: a picture (number {len(pictures)} of this cell)")
        elif text := _text_of(output):
            parts.append(f"Output:\n\n{text}")
    error = log.error_of(count)
    if error is not None:
        parts.append(f"Error:\n\n{fenced(bounded(error.traceback, TRACEBACK_CHARS), 'text')}")
    return "\n\n".join(parts), tuple(pictures)


def _picture(output: Output) -> Picture | None:
    for mime_type in ("image/png", "image/jpeg"):
        data = output.bundle.get(mime_type)
        if data:
            try:
                return Picture(base64.b64decode(data), mime_type)
            except ValueError:
                return None
    return None


def _text_of(output: Output) -> str:
    markdown = output.bundle.get("text/markdown")
    if markdown:
        return bounded(markdown, OUTPUT_CHARS)
    text = output.bundle.get("text/plain") or output.bundle.get("text/latex")
    if text is None and "text/html" in output.bundle:
        text = html.unescape(_TAGS.sub(" ", output.bundle["text/html"]))
    text = without_ansi(text or "").strip("\n")
    return fenced(bounded(text, OUTPUT_CHARS), "text") if text.strip() else ""


def _out(notebook: Notebook, wanted: int) -> Item:
    outs = notebook.outs
    number = list(outs)[wanted] if wanted < 0 and -wanted <= len(outs) else wanted
    if number not in outs:
        there = ", ".join(str(count) for count in list(outs)[-8:]) or "none"
        raise UsageError(f"@out[{wanted}] names no output. Out has: {there}.")
    return value_item(outs[number], f"out[{number}]", f"notebook://out/{number}")
