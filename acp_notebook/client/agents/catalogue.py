"""Well-known agents of the ACP registry, as data: name, launcher, package.

The packages have no versions, so that a launcher fetches the newest one. Runs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Launcher = Literal["npx", "uvx", "binary"]

_LAUNCHES: dict[Launcher, tuple[str, ...]] = {
    "npx": ("npx", "--yes"),
    "uvx": ("uvx",),
    "binary": (),
}
# How a user gets a missing launcher.
LAUNCHER_HINTS = {
    "npx": "npx comes with Node.js 20 or later",
    "uvx": "uvx comes with uv (pip install uv)",
}


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """How a well-known agent is started; `never_serve` names capabilities that break it."""

    name: str
    title: str
    launcher: Launcher
    package: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    note: str = ""
    never_serve: frozenset[str] = frozenset()

    @property
    def command(self) -> tuple[str, ...]:
        """The program and its arguments."""
        return (*_LAUNCHES[self.launcher], self.package, *self.args)


CATALOGUE = {
    entry.name: entry
    for entry in (
        CatalogueEntry("claude", "Claude Code", "npx", "@agentclientprotocol/claude-agent-acp"),
        CatalogueEntry("codex", "Codex", "npx", "@agentclientprotocol/codex-acp"),
        CatalogueEntry(
            "gemini",
            "Gemini CLI",
            "npx",
            "@google/gemini-cli",
            ("--acp",),
            note="It fails to create files for a client that offers file reading, so none is.",
            never_serve=frozenset({"read"}),
        ),
        CatalogueEntry("opencode", "OpenCode", "npx", "opencode-ai", ("acp",)),
        CatalogueEntry("qwen", "Qwen Code", "npx", "@qwen-code/qwen-code", ("--acp",)),
        CatalogueEntry("copilot", "GitHub Copilot", "npx", "@github/copilot", ("--acp",)),
        CatalogueEntry("fast-agent", "fast-agent", "uvx", "fast-agent-acp"),
        CatalogueEntry("vibe", "Mistral Vibe", "uvx", "--from=mistral-vibe", ("vibe-acp",)),
        CatalogueEntry("goose", "Goose", "binary", "goose", ("acp",)),
        CatalogueEntry("kimi", "Kimi Code", "binary", "kimi", ("acp",)),
    )
}
