"""The sections of a long reply: every kind of Markdown that a view must render. Data only."""

from __future__ import annotations

from typing import Final

_PROSE: Final = r"""Plain text with *emphasis*, **weight**, `code` and a [link](https://agentclientprotocol.com).
It goes on for a while, so that a line has to break somewhere, and it has a few words more
than needed, because a paragraph should look like one."""

_LISTS: Final = r"""A list:

- the first thing
- the second thing, with `code`
  - and a thing below it
- the last thing

1. one
2. two
3. three"""

_CODE: Final = r"""Some code:

```python
import pandas as pd

df = pd.DataFrame({"x": [1, 2, 3]})
df["y"] = df["x"] ** 2
print(df.describe())
```"""

_TABLE: Final = r"""A table:

| region | rows | share |
| --- | ---: | ---: |
| north | 120 | 48 % |
| south | 80 | 32 % |
| west | 50 | 20 % |"""

_SCRIPTS: Final = r"""> A quotation,
> in two lines.

And other scripts: 日本語, Ελληνικά, العربية, emoji 🌱,
and a bit of mathematics: $e^{i\pi} + 1 = 0$."""

SECTIONS: Final = (_PROSE, _LISTS, _CODE, _TABLE, _SCRIPTS)
