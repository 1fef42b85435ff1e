"""Content blocks: every kind is read, kept whole and written back as it came."""

from __future__ import annotations

import pytest

from acp_notebook.protocol.content import read_block, write_block
from acp_notebook.protocol.fields import Malformed
from acp_notebook.session.content import (
    AudioBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    UnknownBlock,
)

KNOWN = {
    "text": ({"type": "text", "text": "hello"}, TextBlock("hello")),
    "image": (
        {"type": "image", "data": "AA==", "mimeType": "image/png", "uri": "file:///a.png"},
        ImageBlock("AA==", "image/png", "file:///a.png"),
    ),
    "audio": (
        {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
        AudioBlock("AA==", "audio/wav"),
    ),
    "resource_link": (
        {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3},
        ResourceLinkBlock("file:///a", "a", size=3),
    ),
    "resource with text": (
        {"type": "resource", "resource": {"uri": "file:///a", "text": "x"}},
        ResourceBlock("file:///a", text="x"),
    ),
    "resource with bytes": (
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "AA=="}},
        ResourceBlock("file:///a", blob="AA=="),
    ),
}


@pytest.mark.parametrize(("raw", "block"), KNOWN.values(), ids=KNOWN)
def test_every_known_kind_is_read(raw, block):
    assert read_block(raw) == block


@pytest.mark.parametrize(("raw", "block"), KNOWN.values(), ids=KNOWN)
def test_a_block_of_ours_is_written_without_members_it_does_not_have(raw, block):
    assert write_block(block) == raw


@pytest.mark.parametrize(("raw", "block"), KNOWN.values(), ids=KNOWN)
def test_a_block_that_was_read_goes_out_as_it_came_in(raw, block):
    raw = {**raw, "_meta": {"a": 1}, "annotations": {"priority": 1}}
    assert write_block(read_block(raw)) == raw


def test_an_unknown_kind_is_kept_whole():
    raw = {"type": "_hologram", "depth": 3}
    assert read_block(raw) == UnknownBlock("_hologram", raw)
    assert write_block(read_block(raw)) == raw


def test_a_link_without_a_name_is_called_by_its_uri():
    assert read_block({"type": "resource_link", "uri": "u:1"}) == ResourceLinkBlock("u:1", "u:1")


@pytest.mark.parametrize("size", [True, "3", 1.5, None])
def test_a_size_that_is_no_integer_counts_as_not_given(size):
    raw = {"type": "resource_link", "uri": "u:1", "name": "n", "size": size}
    assert read_block(raw).size is None


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (None, "nothing"),
        ([], "an array"),
        ({}, "type"),
        ({"type": 3}, "type"),
        ({"type": "text"}, "text must be a string"),
        ({"type": "text", "text": 5}, "text must be a string"),
        ({"type": "image", "data": "AA=="}, "mimeType"),
        ({"type": "audio", "mimeType": "audio/wav"}, "data"),
        ({"type": "resource_link", "name": "n"}, "uri"),
        ({"type": "resource"}, "resource must be an object"),
        ({"type": "resource", "resource": {"uri": "u:1"}}, "text or blob"),
        ({"type": "resource", "resource": {"text": "x"}}, "uri"),
    ],
)
def test_a_known_kind_without_its_members_is_malformed_and_says_what_is_missing(raw, told):
    with pytest.raises(Malformed, match=told):
        read_block(raw)
