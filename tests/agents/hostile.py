"""Strings that want to be more than text, for every field in which an agent can write one."""

from __future__ import annotations

from typing import Final

HOSTILE: Final = {
    "script": "<script>alert(1)</script>",
    "handler": "<img src=x onerror=alert(1)>",
    "broken out of an attribute": '"\' onmouseover=alert(1) autofocus onfocus=alert(1) x="',
    "broken out of a tag": "</div></details></section><script>alert(1)</script>",
    "javascript link": "[x](javascript:alert(1)) <javascript:alert(1)>",
    "javascript address": "javascript:alert(1)",
    "data link": "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "svg": "<svg onload=alert(1)><animate onbegin=alert(1)>",
    "mathml": "<math><mtext></mtext><mglyph><style><img src onerror=alert(1)>",
    "formula": (
        r"$\href{javascript:alert(1)}{x}$ $\text{<img src=x onerror=alert(1)>}$ $\class{y}{z}$"
    ),
    "formula in a block": "$$\n\\style{background:url(//evil.org)}{x}<script>alert(1)</script>\n$$",
    "footnote": '[^a]\n\n[^a]: <img src=x onerror=alert(1)> [x](javascript:alert(1)) "><b>',
    "style": "<style>*{display:none}</style> x;background:url(//evil.org)",
    "frame": "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "form": "<form action=//evil.org><input name=acp><button>Stop</button></form>",
    "comment": "<!--> --!> <![CDATA[ <?php",
    "entity": "&lt;script&gt; &#60;script&#62;",
    "control characters": "a\x00b\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\x1b[31m",
    "surrogates": "\ud800 \udfff \ud83d",
    "bidi": "abc\u202egnp.exe\u2066\u2069\u200b",
    "template": "{0} {{x}} %s ${x} {.__class__}",
    "slot": '<div data-slot="head"></div> data-act="stop"',
    "fence": "```\n</code></pre><script>\n```",
    "remote image": "![x](https://evil.org/pixel.png)",
    "svg image": "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "path": "../../../etc/passwd?x=<script>#line=1",
    "long line": "A" * 20_000,
    "brackets": "[" * 3_000 + "](" * 1_000,
    "nesting": "> " * 300 + "- " * 300 + "x",
    "table": "| "
    + "a | " * 300
    + "\n|"
    + "---|" * 300
    + "\n"
    + ("| " + "<b> | " * 300 + "\n") * 20,
}
MILLION: Final = "<b>" + "m" * 1_000_000
