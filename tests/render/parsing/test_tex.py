from __future__ import annotations

import pytest

from acp_notebook.render.parsing.markdown import render_markdown
from acp_notebook.render.parsing.tex import only_draws

ORDINARY = [
    r"E = mc^2",
    r"\sum_{i=1}^n \alpha_i \left( x_i \right) \, dx",
    r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
    r"\begin{array}{c|c} a & b \\ \hline c & d \end{array}",
    r"\begin{cases} x & \text{if } x \ge 0 \\ -x & \text{otherwise} \end{cases}",
    r"\operatorname*{arg\,max}_\theta \; \mathbb{E}_{x \sim p}\!\left[\log p_\theta(x)\right]",
    r"\frac{\partial f}{\partial x} \approx \nabla f \cdot \mathbf{v} \leq \lVert x \rVert_2",
    r"\widehat{\beta} = (X^\top X)^{-1} X^\top y \quad 5\% \implies \boxed{x \in \mathbb{R}^{n}}",
    r"\begin{aligned} a &= b \\ &= c \tag{1} \end{aligned}",
]
WILD = [
    r"\rule{3000em}{3000em}", r"\hspace{3000em}", r"\hspace*{3em}", r"\kern3000em x",
    r"\mkern9mu", r"\raise3000em{x}", r"\raisebox{3em}{x}", r"\Huge{\Huge x}", r"\color{red}x",
    r"\href{//e}{x}", r"\unicode{x202e}", r"\def\x{y}", r"\newcommand{\x}{y}", r"\require{html}",
    r"\class{jp-x}{x}", r"\style{position:fixed}{x}", r"\cssId{a}{x}",
    r"\bbox[position:fixed]{x}", r"\genfrac{}{}{9em}", r"\mmlToken{mi}[href=//e]{x}",
    r"a\\[3000em]b", "a\\\\ %\n[3000em]b", r"a\\*[3em]b", r"\cr[3em]",
    r"\begin{array}{p{3000em}}a\end{array}", r"\begin{alignat}{999999999}a\end{alignat}",
    r"\begin{array}{*{99999}{c}}a\end{array}", r"\begin x", r"\begin{html}x\end{html}", "x\\",
    r"\hdotsfor{99999999}", r"\label{a}", r"\text{\rule{3em}{3em}}", r"\above 3000em",
    r"\moveleft9em",
]  # fmt: skip


@pytest.mark.parametrize("tex", ORDINARY)
def test_ordinary_formulas_are_drawn(tex: str) -> None:
    assert only_draws(tex)
    assert f"$${tex.replace('&', '&amp;')}$$" in render_markdown(f"$$\n{tex}\n$$", as_tex=True)
    assert "<math" in render_markdown(f"$${tex}$$")


@pytest.mark.parametrize("tex", WILD)
def test_a_formula_that_does_more_is_shown_as_source(tex: str) -> None:
    assert not only_draws(tex)
    for as_tex in (True, False):
        html = render_markdown(f"$$\n{tex}\n$$", as_tex=as_tex)
        assert "acp-tex" not in html
        assert "<math" not in html


def test_a_record_has_a_bounded_number_of_formulas() -> None:
    html = render_markdown("$x$ " * 2_000, as_tex=True)
    assert html.count("acp-tex") == 500
    assert html.count("<code>x</code>") == 1_500
