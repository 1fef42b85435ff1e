"""A prompt holds only what the agent takes; every fallback is one that the docstring names."""

from __future__ import annotations

import pytest

from acp_notebook.errors import UnsupportedByAgent
from acp_notebook.protocol.dialect import Capabilities
from acp_notebook.protocol.prompt_content import fit_content
from acp_notebook.session.content import (
    AudioBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    UnknownBlock,
)

NOTHING = Capabilities()
ALL = Capabilities(image=True, audio=True, embedded_context=True)
IMAGE = ImageBlock("AA==", "image/png")
SOUND = AudioBlock("AA==", "audio/wav")
TEXT_FILE = ResourceBlock("file:///a/b.py", text="x = 1", mime_type="text/x-python")
BINARY_FILE = ResourceBlock("file:///a/b.bin", blob="AA==", mime_type="application/x")


def fitted(block, capabilities=NOTHING):
    (found,) = fit_content([block], capabilities)
    return found


@pytest.mark.parametrize("block", [IMAGE, SOUND, TEXT_FILE, BINARY_FILE])
def test_what_the_agent_takes_is_sent_as_it_is(block):
    assert fitted(block, ALL) is block


@pytest.mark.parametrize(
    "block", [TextBlock("x"), ResourceLinkBlock("u:1", "n"), UnknownBlock("_x", {"type": "_x"})]
)
def test_the_baseline_and_unknown_blocks_pass_unchanged(block):
    assert fitted(block) is block


def test_embedded_text_becomes_text_under_its_name_in_a_fence():
    assert fitted(TEXT_FILE) == TextBlock("file:///a/b.py\n```\nx = 1\n```")


def test_the_fence_is_longer_than_any_in_the_text():
    shown = fitted(ResourceBlock("file:///a", text="```py\n````\n")).text
    assert shown.splitlines()[1] == shown.splitlines()[-1] == "`````"


def test_an_embedded_blob_becomes_a_link():
    assert fitted(BINARY_FILE) == ResourceLinkBlock(
        "file:///a/b.bin", "b.bin", mime_type="application/x"
    )


def test_an_image_with_an_address_becomes_a_link():
    image = ImageBlock("AA==", "image/png", "file:///a/plot.png")
    assert fitted(image) == ResourceLinkBlock(
        "file:///a/plot.png", "plot.png", mime_type="image/png"
    )


@pytest.mark.parametrize(("block", "capability"), [(IMAGE, "image"), (SOUND, "audio")])
def test_what_has_no_other_form_is_an_error_that_names_the_capability(block, capability):
    with pytest.raises(UnsupportedByAgent, match=f"`{capability}`"):
        fit_content([TextBlock("before"), block], NOTHING)


def test_nothing_is_dropped_and_the_order_stays():
    content = [TextBlock("1"), TEXT_FILE, BINARY_FILE, TextBlock("2")]
    found = fit_content(content, NOTHING)
    assert [type(block) for block in found] == [TextBlock, TextBlock, ResourceLinkBlock, TextBlock]


@pytest.mark.parametrize("uri", ["file:///", "x", "/"])
def test_a_link_always_has_a_name(uri):
    assert fitted(ResourceBlock(uri, blob="AA==")).name
