"""The permission policies that have a name, and what each does. Cheap: help texts name them."""

from typing import Final

POLICIES: Final = {
    "ask": "ask me",
    "reads": "allow reading, ask for the rest",
    "allow": "allow everything",
    "reject": "reject everything",
}
POLICY_NAMES: Final = ", ".join(POLICIES)
