"""Reading wire objects that both versions share. Knows neither version.

Where the versions differ in a name or in the meaning of null, the difference is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from acp_notebook.protocol import fields
from acp_notebook.protocol.content import blocks, read_block
from acp_notebook.protocol.dialect import Updates
from acp_notebook.protocol.fields import Json, Malformed, optional_text
from acp_notebook.session import updates as u

UpdateReader = Callable[[Json], u.SessionUpdate | Updates]


class DiffReader(Protocol):
    """Reads a diff item, the one tool content that differs between the versions."""

    def __call__(self, raw: Json) -> u.DiffItem:
        """Return the diff, or raise `Malformed`."""


def tool_content(raw: Any, read_diff: DiffReader) -> u.ToolContent:
    """Read an item of a tool call's content (tool-calls, "Content").

    Raises:
        Malformed: The item is no object with a type, or a known type lacks a member.
    """
    item = fields.as_object(raw, "tool call content")
    match fields.text(item, "type"):
        case "content":
            return u.ContentItem(read_block(item.get("content")))
        case "diff":
            return read_diff(item)
        case "terminal":
            return u.TerminalItem(u.TerminalId(fields.text(item, "terminalId")))
        case other:
            return u.UnknownItem(other, item)


def location(raw: Any) -> u.Location:
    """Read a file of a tool call; lines below 1 mean no line."""
    item = fields.as_object(raw, "location")
    line = fields.optional_int(item, "line")
    return u.Location(fields.text(item, "path"), line if line and line > 0 else None)


def tool_call(raw: Json, read_diff: DiffReader) -> u.ToolCallUpdate:
    """Read a tool call upsert, with v2's three states."""

    def content(value: Any) -> tuple[u.ToolContent, ...]:
        return fields.valid_items(value, lambda item: tool_content(item, read_diff))

    return u.ToolCallUpdate(
        tool_call_id=u.ToolCallId(fields.text(raw, "toolCallId")),
        name=fields.patch_text(raw, "name"),
        title=fields.patch_text(raw, "title"),
        kind=fields.patch_text(raw, "kind"),
        status=fields.patch_text(raw, "status"),
        content=fields.patch(raw, "content", content),
        locations=fields.patch(raw, "locations", lambda value: fields.valid_items(value, location)),
        raw_input=raw.get("rawInput", u.UNSET),
        raw_output=raw.get("rawOutput", u.UNSET),
        can_cancel=can_cancel(raw),
        meta=fields.patch_object(raw, "_meta"),
    )


def can_cancel(raw: Json) -> u.Patch[bool]:
    """Read whether a tool call or a terminal can be cancelled by itself."""
    capabilities = fields.patch_object(raw, "capabilities")
    if isinstance(capabilities, u.Unset) or capabilities is None:
        return capabilities
    return isinstance(capabilities.get("cancel"), dict)


def plan_entry(raw: Any) -> u.PlanEntry:
    """Read a step of a plan; unknown priorities and statuses are kept."""
    entry = fields.as_object(raw, "plan entry")
    return u.PlanEntry(
        fields.text(entry, "content"),
        optional_text(entry, "priority") or "medium",
        optional_text(entry, "status") or "pending",
    )


def usage(raw: Json) -> u.UsageUpdate:
    """Read context size and cost; an unreadable cost keeps the last one."""
    return u.UsageUpdate(
        fields.whole_number(raw, "used"),
        fields.whole_number(raw, "size"),
        fields.patch(raw, "cost", _cost),
    )


def _cost(value: Any) -> u.Cost:
    raw = fields.as_object(value, "cost")
    amount = raw.get("amount")
    if not isinstance(amount, (int, float)) or isinstance(amount, bool):
        raise Malformed(f"amount must be a number, got {fields.kind_of(amount)}")
    try:
        return u.Cost(float(amount), fields.text(raw, "currency"))
    except OverflowError:  # JSON has no largest number
        raise Malformed("amount is beyond every sum of money") from None


def command(raw: Any) -> u.Command:
    """Read a slash command; an unknown kind of input falls back to plain text (CMD-1)."""
    item = fields.as_object(raw, "command")
    given = fields.optional_object(item, "input")
    hint = optional_text(given, "hint") if given is not None else None
    if given is not None and hint is None:
        hint = ""
    return u.Command(fields.text(item, "name"), optional_text(item, "description") or "", hint)


def commands(raw: Json) -> u.CommandsUpdate:
    """Read the whole list of commands."""
    return u.CommandsUpdate(fields.valid_items(raw.get("availableCommands"), command))


def config_options(raw: Json, *, id_key: str, group_key: str) -> u.ConfigOptionsUpdate:
    """Read the whole list of options; the versions name two members differently."""
    return u.ConfigOptionsUpdate(
        fields.valid_items(
            raw.get("configOptions"), lambda item: _config_option(item, id_key, group_key)
        )
    )


def _config_option(value: Any, id_key: str, group_key: str) -> u.ConfigOption:
    raw = fields.as_object(value, "config option")
    current = raw.get("currentValue")
    return u.ConfigOption(
        id=fields.text(raw, id_key),
        name=fields.text(raw, "name"),
        type=fields.text(raw, "type"),
        value=current if isinstance(current, (str, bool)) else None,
        category=optional_text(raw, "category"),
        description=optional_text(raw, "description"),
        choices=_choices(raw, group_key),
    )


def _choices(raw: Json, group_key: str) -> tuple[u.ConfigValue, ...]:
    found: list[u.ConfigValue] = []
    for item in fields.optional_array(raw, "options"):
        if not isinstance(item, dict):
            continue
        if isinstance(item.get("options"), list):
            group = optional_text(item, "name") or optional_text(item, group_key)
            found += fields.valid_items(item["options"], _choice(group))
        else:
            found += fields.valid_items([item], _choice(None))
    return tuple(found)


def _choice(group: str | None) -> Callable[[Any], u.ConfigValue]:
    def read(value: Any) -> u.ConfigValue:
        raw = fields.as_object(value, "choice")
        choice = fields.text(raw, "value")
        name = optional_text(raw, "name") or choice
        return u.ConfigValue(choice, name, optional_text(raw, "description"), group)

    return read


def session_info(raw: Json) -> u.SessionInfoUpdate:
    """Read title, time and metadata: omitted keeps, null clears."""
    return u.SessionInfoUpdate(
        fields.patch_text(raw, "title"),
        fields.patch_text(raw, "updatedAt"),
        fields.patch_object(raw, "_meta"),
    )


def notice(raw: Json) -> u.Notice:
    """Read a notice."""
    return u.Notice(
        optional_text(raw, "severity") or "info",
        fields.text(raw, "title"),
        optional_text(raw, "description"),
    )


def compaction(raw: Json) -> u.CompactionUpdate:
    """Read an upsert of a compaction."""
    return u.CompactionUpdate(
        u.CompactionId(fields.text(raw, "compactionId")),
        fields.text(raw, "status"),
        fields.patch(raw, "summary", blocks),
        fields.patch_text(raw, "error"),
    )


def compaction_chunk(raw: Json) -> u.CompactionChunk:
    """Read a block of a compaction's summary."""
    compaction_id = u.CompactionId(fields.text(raw, "compactionId"))
    return u.CompactionChunk(compaction_id, read_block(raw.get("content")))


def permission_options(raw: Json) -> tuple[u.PermissionOption, ...]:
    """Read the agent's options, in its order, leaving out those without an id.

    Raises:
        Malformed: There is no option.
    """

    def read(value: Any) -> u.PermissionOption:
        option = fields.as_object(value, "permission option")
        option_id = fields.text(option, "optionId")
        return u.PermissionOption(
            option_id,
            optional_text(option, "name") or option_id,
            optional_text(option, "kind") or "",
        )

    options = fields.valid_items(raw.get("options"), read)
    if not options:
        raise Malformed("options must offer at least one option with an optionId")
    return options


# The updates that both versions share, by name; each version adds its own.
READERS: dict[str, UpdateReader] = {
    "available_commands_update": commands,
    "session_info_update": session_info,
    "usage_update": usage,
    "notice": notice,
    "compaction_update": compaction,
    "compaction_summary_chunk": compaction_chunk,
}
# Updates that a version sends only to clients that advertise them.
OPTIONAL_UPDATES: Json = {"notices": {}, "compaction": {}}


def read_update(raw: Any, readers: Mapping[str, UpdateReader]) -> Updates:
    """Read a `session/update` by its name; never raises: a broken one becomes a `Violation`."""
    kind = raw.get("sessionUpdate") if isinstance(raw, dict) else None
    if not isinstance(kind, str):
        return [u.Violation("session/update", "an update without a sessionUpdate name", raw)]
    read = readers.get(kind)
    if read is None:
        return [u.UnknownUpdate(kind, raw)]
    try:
        found = read(raw)
    except Malformed as error:
        return [u.Violation(kind, str(error), raw)]
    return found if isinstance(found, list) else [found]
