"""`fs/*` and `terminal/*`, a v1 agent's calls of its client's disk and shell. Knows no file."""

from __future__ import annotations

from typing import Any

from acp_notebook.protocol import fields
from acp_notebook.protocol.client_calls import (
    ClientCall,
    ClientCalls,
    CommandOutput,
    ReadFile,
    StartCommand,
    WriteFile,
)
from acp_notebook.protocol.fields import Json, Malformed, given, optional_text
from acp_notebook.session.updates import ExitStatus, TerminalId


def _read_file(params: Json) -> ReadFile:
    limit = fields.optional_int(params, "limit")
    if limit is not None and limit < 0:
        raise Malformed(f"limit must not be negative, got {limit}")
    line = max(fields.optional_int(params, "line") or 1, 1)
    return ReadFile(fields.text(params, "path"), line, limit)


def _write_file(params: Json) -> WriteFile:
    return WriteFile(fields.text(params, "path"), fields.text(params, "content"))


def _start_command(params: Json) -> StartCommand:
    arguments = fields.optional_array(params, "args")
    for argument in arguments:
        if not isinstance(argument, str):
            raise Malformed(f"args must be strings, got {fields.kind_of(argument)}")
    entries = [
        fields.as_object(entry, "env entry") for entry in fields.optional_array(params, "env")
    ]
    return StartCommand(
        fields.text(params, "command"),
        tuple(arguments),
        {fields.text(entry, "name"): fields.text(entry, "value") for entry in entries},
        optional_text(params, "cwd"),
        fields.optional_int(params, "outputByteLimit"),
    )


def _terminal(params: Json) -> TerminalId:
    return TerminalId(fields.text(params, "terminalId"))


def _output(output: CommandOutput) -> dict[str, Any]:
    status = output.exit_status
    return given(
        output=output.text,
        truncated=output.is_truncated,
        exitStatus=_exit_status(status) if status is not None else None,
    )


def _exit_status(status: ExitStatus) -> dict[str, Any]:
    return {"exitCode": status.exit_code, "signal": status.signal}


def _nothing(_: None) -> dict[str, Any]:
    return {}


CLIENT_CALLS = ClientCalls(
    ClientCall("fs/read_text_file", _read_file, lambda text: {"content": text}),
    ClientCall("fs/write_text_file", _write_file, _nothing),
    ClientCall("terminal/create", _start_command, lambda created: {"terminalId": created}),
    ClientCall("terminal/output", _terminal, _output),
    ClientCall("terminal/wait_for_exit", _terminal, _exit_status),
    ClientCall("terminal/kill", _terminal, _nothing),
    ClientCall("terminal/release", _terminal, _nothing),
)
