"""What a person is told of an address before opening it."""

from __future__ import annotations

import pytest

from acp_notebook.render.parsing.web_address import read_address


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.org", "example.org"),
        ("https://Example.org:8443/a/b?c=d&e=%20#f", "example.org"),
        ("http://localhost:1234/callback", "localhost"),
        ("http://127.0.0.1:8888/", "127.0.0.1"),
        ("https://a.b-c.example/(x)'!*;,", "a.b-c.example"),
    ],
)
def test_a_plain_address_is_shown_whole_with_its_host(url, host):
    address = read_address(url)
    assert (address.shown, address.href, address.host) == (url, url, host)
    assert address.warnings == ()


@pytest.mark.parametrize(
    ("url", "host", "words"),
    [
        ("https://xn--pypal-4ve.example/in", "xn--pypal-4ve.example", "p\u0430ypal.example"),
        ("https://p\u0430ypal.example/in", "xn--pypal-4ve.example", "p\u0430ypal.example"),
        ("https://bücher.example", "xn--bcher-kva.example", "bücher.example"),
        ("https://xn--\x61-bad-code-999999999.example", None, "cannot be read"),
        ("https://bank.example@evil.example/", "evil.example", "“bank.example” is no host"),
        ("https://u:p@evil.example/", "evil.example", "“u:p” is no host"),
        ("https://192.0.2.7/", "192.0.2.7", "bare number"),
        ("https://0xc0000207/", "0xc0000207", "bare number"),
        ("https://3221226007/", "3221226007", "bare number"),
        ("https://[2001:db8::1]/", "2001:db8::1", "bare number"),
        ("http://example.org/", "example.org", "not encrypted"),
    ],
)
def test_an_odd_host_is_marked_and_can_still_be_opened(url, host, words):
    address = read_address(url)
    assert address.href == url
    assert host is None or address.host == host
    assert words in " ".join(address.warnings)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "example.org",
        "//example.org/",
        "https:example.org",
        "https:///path",
        "https://",
        "https://a b.example/",
        "https://example.org\\@evil.example/",
        "https://exa\tmple.org/",
        "https://example.org/\n",
        " https://example.org/",
        "https://example.org/<script>",
        'https://example.org/" onclick="x',
        "https://example.org/\u202egnp",
        "https://exam%70le.org/",
        "https://example.org:port/",
        "https://[::1/",
        "https://" + "a" * 5_000,
        "https://\ud800.example/",
        "",
    ],
)
def test_what_a_browser_may_read_otherwise_is_not_to_be_opened(url):
    address = read_address(url)
    assert address.href is None
    assert address.warnings
    assert len(address.shown) <= 4_100
