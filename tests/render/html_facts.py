"""What a browser would make of a piece of HTML: its tags, attributes and addresses."""

from __future__ import annotations

from html.parser import HTMLParser

ALLOWED_TAGS = frozenset(
    [
        *("div", "span", "details", "summary", "pre", "code", "p", "a", "img", "br", "hr"),
        *("ul", "ol", "li", "blockquote", "em", "strong", "s", "button", "kbd"),
        *("form", "fieldset", "legend", "label", "input", "select", "option"),
        *("sup", "math", "mrow", "mi", "mo", "mn", "mtext", "msup", "msub", "mfrac", "mspace"),
        *("table", "thead", "tbody", "tr", "th", "td", "h1", "h2", "h3", "h4", "h5", "h6"),
    ]
)


class HtmlFacts(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.comments: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def dangers(self) -> list[str]:
        """Everything that could run, fetch or restyle; empty in HTML that is safe to show."""
        found = [f"tag {tag}" for tag in self.tags if tag not in ALLOWED_TAGS]
        found += [f"comment {text}" for text in self.comments]
        for tag, name, value in self.attributes:
            if name.startswith("on") or name in {"srcdoc", "srcset", "action", "formaction"}:
                found.append(f"attribute {tag} {name}")
            if name == "href" and not value.lower().startswith(("http://", "https://", "mailto:")):
                found.append(f"address {value}")
            if name == "src" and not value.startswith("data:image/"):
                found.append(f"source {value}")
            if name == "style" and any(word in value for word in ("url", "expression", "@", "\\")):
                found.append(f"style {value}")
        return found
