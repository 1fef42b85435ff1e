"""The named permission policies and their effects. Cheap to import, for help texts."""

from typing import Final

POLICIES: Final = {
    "ask": "ask me",
    "reads": "allow reading, ask for the rest",
    "allow": "allow everything",
    "reject": "reject everything",
}
POLICY_NAMES: Final = ", ".join(POLICIES)
