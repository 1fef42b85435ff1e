"""The unanswered questions of a session, so that many of them stay fast. Knows no answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, KeysView, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Question = TypeVar("Question")


class Asked(Mapping[Key, Question]):
    """The questions by key, oldest first, and those about one subject."""

    def __init__(self) -> None:
        self._questions: dict[Key, Question] = {}
        self._subjects: dict[Key, str] = {}
        self._about: dict[str, dict[Key, None]] = {}

    def add(self, key: Key, question: Question, subject: str | None = None) -> None:
        """Add a question, and what it is about."""
        self._questions[key] = question
        if subject is not None:
            self._subjects[key] = subject
            self._about.setdefault(subject, {})[key] = None

    def remove(self, key: Key) -> None:
        """Remove an answered question."""
        del self._questions[key]
        subject = self._subjects.pop(key, None)
        if subject is not None:
            del self._about[subject][key]
            if not self._about[subject]:
                del self._about[subject]

    def copy(self) -> Asked[Key, Question]:
        """Return a copy that later questions and answers do not change."""
        copied = Asked[Key, Question]()
        for key, question in self._questions.items():
            copied.add(key, question, self._subjects.get(key))
        return copied

    def about(self, subject: str) -> Collection[Key]:
        """Return the keys of the questions about a subject."""
        return self._about.get(subject, {}).keys()

    def keys(self) -> KeysView[Key]:
        """Return all keys."""
        return self._questions.keys()

    def __getitem__(self, key: Key) -> Question:
        return self._questions[key]

    def __contains__(self, key: object) -> bool:
        return key in self._questions

    def __iter__(self) -> Iterator[Key]:
        return iter(self._questions)

    def __len__(self) -> int:
        return len(self._questions)
