"""`@acp.tool`: user functions that agents may call, with schemas from their signatures.

Knows pydantic for types and schemas; knows no agent, no MCP and no shell.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, overload

from acp_notebook.errors import UsageError
from acp_notebook.kernel.tools.results import ToolFailure
from acp_notebook.kernel.tools.schemas import SCHEMAS

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_LIMIT_S: Final = 60.0
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ARGUMENT: Final = re.compile(r"\s{4,}(\w+)(?:\s*\([^)]*\))?:\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class UserTool:
    """A user function as a tool; `limit_s` is in seconds."""

    name: str
    description: str
    function: Callable[..., Any]
    needs_permission: bool
    limit_s: float
    schema: dict[str, Any]
    _model: Any
    _fields: dict[str, str]

    def read_arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """Convert the arguments to the function's types.

        Raises:
            ToolFailure: An argument is missing, unknown, or of a wrong type.
        """
        unknown = [name for name in given if name not in self._fields.values()]
        if unknown:
            known = ", ".join(self._fields.values()) or "none"
            raise ToolFailure(f"{self.name} takes no {', '.join(unknown)}. It takes: {known}.")
        from pydantic import ValidationError

        try:
            read = self._model.model_validate(given)
        except ValidationError as error:
            reasons = "; ".join(
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
            )
            raise ToolFailure(f"{self.name} cannot take these arguments: {reasons}") from None
        return {name: getattr(read, key) for key, name in self._fields.items() if name in given}


_tools: dict[str, UserTool] = {}
listeners: Final[list[Callable[[], None]]] = []
"""Called when the list of tools has changed, on the thread that changed it."""


def user_tools() -> dict[str, UserTool]:
    """Return the tools by name, in the order of their definition."""
    return dict(_tools)


def forget_tools() -> None:
    """Remove all tools and notify the listeners."""
    if _tools:
        _tools.clear()
        _notify()


def _notify() -> None:
    for listener in listeners:
        listener()


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *, name: str | None = None, confirm: bool = False, time_limit: float = DEFAULT_LIMIT_S
) -> Callable[[F], F]: ...


def tool(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    confirm: bool = False,
    time_limit: float = DEFAULT_LIMIT_S,
) -> Any:
    """Let agents call a function in this kernel; a decorator, with or without arguments.

    The signature, its types and the docstring become the tool's description. The function may be
    async. Frames, figures and other objects that it returns are shown and described.

    Args:
        function: The function.
        name: The tool's name; by default the function's.
        confirm: Whether to show each call to the user and ask for permission.
        time_limit: Seconds after which a call is interrupted.

    Raises:
        UsageError: The name is taken by another tool, or a parameter's type has no JSON form.

    Example:
        >>> @tool
        ... def total(region: str, year: int = 2024) -> int:
        ...     "Sales of a region in a year."
        ...     return len(region) + year
        >>> total("north")
        2029
    """
    if function is None:
        return lambda decorated: _declare(decorated, name, confirm, time_limit)
    return _declare(function, name, confirm, time_limit)


def _declare(function: F, name: str | None, confirm: bool, limit_s: float) -> F:
    name = name or str(getattr(function, "__name__", ""))
    _check_name(name, function)
    parameters, described = _parameters(name, function), _argument_words(function)
    model, fields = _model(name, function, parameters, described)
    document = inspect.getdoc(function) or ""
    schema, before = _schema(name, model), _tools.get(name)
    _tools[name] = UserTool(name, document, function, confirm, limit_s, schema, model, fields)
    # Rerunning a cell usually leaves the description and schema unchanged.
    if before is None or (before.description, before.schema) != (document, schema):
        _notify()
    return function


def _check_name(name: str, function: Any) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a tool: letters, digits and underscores. "
            "Give one with @acp.tool(name=...)."
        )
    if name in SCHEMAS:
        raise UsageError(
            f"There is a built-in tool {name!r} already. Give another name: @acp.tool(name=...)."
        )
    other = _tools.get(name)
    if other is not None and _identity(other.function) != _identity(function):
        raise UsageError(
            f"There is a tool {name!r} already, made of {_identity(other.function)}. "
            "Give this one another name: @acp.tool(name=...)."
        )


def _identity(function: Any) -> str:
    # Rerunning a cell defines the same function again, which is no second tool.
    module = getattr(function, "__module__", "")
    return f"{module}.{getattr(function, '__qualname__', repr(function))}"


def _parameters(name: str, function: Any) -> list[inspect.Parameter]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name!r} cannot be a tool: {error}.") from None
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UsageError(
                f"The tool {name!r} takes {parameter}: agents name each argument, "
                "so write the parameters out."
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise UsageError(f"The tool {name!r} takes {parameter.name} by position only.")
    return parameters


def _model(
    name: str,
    function: Any,
    parameters: list[inspect.Parameter],
    described: dict[str, str],
) -> tuple[Any, dict[str, str]]:
    import pydantic

    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - a name that cannot be resolved
        hints = {}
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    for number, parameter in enumerate(parameters):
        # A parameter may have the name of a pydantic attribute, so it gets an alias.
        key = f"p{number}"
        default = ... if parameter.default is parameter.empty else parameter.default
        words = described.get(parameter.name)
        kind = hints.get(parameter.name, Any)
        _check_type(name, parameter.name, kind)
        names[key] = parameter.name
        fields[key] = (
            kind,
            pydantic.Field(default, alias=parameter.name, title=parameter.name, description=words),
        )
    config = pydantic.ConfigDict(arbitrary_types_allowed=False)
    return pydantic.create_model(f"{name}_arguments", __config__=config, **fields), names


def _check_type(name: str, parameter: str, kind: Any) -> None:
    import pydantic

    try:
        pydantic.TypeAdapter(kind).json_schema()
    except Exception:  # noqa: BLE001 - pydantic raises several kinds, a type may raise its own
        shown = getattr(kind, "__name__", str(kind))
        raise UsageError(
            f"The tool {name!r} takes {parameter}: {shown}, which an agent cannot send. "
            "Take the variable's name as a str, or plain types."
        ) from None


def _schema(name: str, model: Any) -> dict[str, Any]:
    import warnings

    with warnings.catch_warnings():
        # A default without a JSON form is left out of the schema; the call still works.
        warnings.simplefilter("ignore")
        schema: dict[str, Any] = model.model_json_schema(by_alias=True)
    return {**schema, "title": name, "type": "object"}


def _argument_words(function: Any) -> dict[str, str]:
    _, _, section = (inspect.getdoc(function) or "").partition("\nArgs:\n")
    words: dict[str, str] = {}
    last = ""
    for line in section.splitlines():
        if line.strip() and not line.startswith(" "):
            break
        match = _ARGUMENT.fullmatch(line)
        if match:
            last = match[1]
            words[last] = match[2].strip()
        elif last and line.strip():
            words[last] = f"{words[last]} {line.strip()}"
    return words
