"""Formulas: every kind becomes MathML, and what cannot names its file and line."""

import re

import pytest
from small_book import build

from bookext.mathml import FONT, Formulas, letters, missing, prepared

PAGE = r"""
# Why $\sqrt{d_k}$?

Inline $\frac{a}{b} < \text{key}$ and {eq}`eq-one`.

$$
\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)
$$ (eq-one)

\begin{align}
a &= b \\
c &= d \label{inner} \nonumber
\end{align}

```{math}
a &= b \\ c &= \begin{cases} 0 & x \\ 1 & y \end{cases}
```

```{code-cell}
from IPython.display import Latex
Latex(r"$\displaystyle \sum_{i=1}^{n} x_i$")
```
"""
WRONG = r"""# Wrong

First.

Then $\nonsense{x}$ is told.

$$
\frac{a}
$$

And $\mathfrak{g}$ has no shape.
"""


def test_every_kind_of_formula_is_set_without_a_script(tmp_path):
    built = build(tmp_path, {"index": PAGE}, parts=("mathml",), execute=True)
    assert built.status == 0, built.log
    page = built.page()
    assert page.count('encoding="application/x-tex"') == 5, "each formula outside of the title"
    assert "MathJax" not in page and "mathjax.org" not in page and "cdn." not in page
    assert r"\(" not in page and r"\[" not in page
    heading = re.search(r"<h1>.*?</h1>", page, re.S)[0]
    assert "<msqrt>" in heading and "annotation" not in heading
    title = re.search(r"<title>.*?</title>", page, re.S)[0]
    assert "sqrt" not in title and "dk?" in title
    assert r'<annotation encoding="application/x-tex">\frac{a}{b} &lt; \text{key}' in page
    numbered = re.search(r'<div class="math[^>]*id="equation-eq-one">.*?</div>\n', page, re.S)[0]
    assert '<span class="eqno">(1)' in numbered and 'class="math-scroll"' in numbered
    assert '<a class="reference internal" href="#equation-eq-one">(1)</a>' in page
    assert "inner" not in re.sub(r"<annotation.*?</annotation>", "", page)


def test_what_cannot_be_set_fails_the_build_with_file_and_line(tmp_path):
    built = build(tmp_path, {"index": WRONG}, parts=("mathml",))
    assert built.status != 0
    assert re.search(r'index\.md:5: WARNING: this formula.*Unknown command "\\nonsense"', built.log)
    assert re.search(r"index\.md:[79]: WARNING: this formula.*end of input.*\\frac\{a\}", built.log)
    assert re.search(r"index\.md:11: WARNING: the font of formulas lacks . .U.1D524", built.log)


def test_macros_come_from_the_configuration(tmp_path):
    extra = r'mathml_macros = {"Var": r"\operatorname{Var}"}'
    built = build(tmp_path, {"index": "# A\n\n$\\Var x$\n"}, parts=("mathml",), extra=extra)
    assert built.status == 0, built.log
    assert "<mi>Var</mi>" in built.page()


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"a = b", r"a = b"),
        (r"a &= b \\ c &= d", r"\begin{aligned} a &= b \\ c &= d \end{aligned}"),
        (r"a \\ b", r"\begin{gathered} a \\ b \end{gathered}"),
        ("a\n\nb", r"\begin{gathered} a \\ b \end{gathered}"),
        (r"\begin{pmatrix} a \\ b \end{pmatrix}", r"\begin{pmatrix} a \\ b \end{pmatrix}"),
        (r"x_{\substack{a \\ b}}", r"x_{\substack{a \\ b}}"),
        (r"\begin{align*}a&=b\end{align*}", r"\begin{aligned}a&=b\end{aligned}"),
        (r"\begin{alignat}{2}a&=b\end{alignat}", r"\begin{aligned}a&=b\end{aligned}"),
        (r"\begin{equation}a\end{equation}", "a"),
        (r"\text{R\&D} \\ a", r"\begin{gathered} \text{R\&D} \\ a \end{gathered}"),
    ],
)
def test_lines_are_stacked_and_numbers_left_to_sphinx(tex, expected):
    assert prepared(tex) == expected


def test_the_font_has_the_letters_of_the_course_and_its_measures():
    from fontTools.ttLib import TTFont

    with TTFont(FONT) as font:
        assert "MATH" in font
        brackets = font["MATH"].table.MathVariants.VertGlyphConstruction
        assert len(brackets) > 50, "brackets stretch"
    assert FONT.stat().st_size < 118_000
    course = (
        r"\alpha\beta\gamma\delta\epsilon\varepsilon\lambda\mu\pi\sigma\tau\theta\varphi\Sigma"
        r"\mathbb{RENZ}\mathbb{1}\mathcal{LNO}\mathbf{qkvW}\mathsf{T}\boldsymbol{\alpha}\ell\nabla"
        r"\top\cdot\times\odot\oplus\sum\prod\int\partial\infty\le\ge\ne\approx\propto\sim\in\perp"
        r"\to\mapsto\Rightarrow\iff\forall\exists\cdots\ldots\vdots\ddots\lfloor\rfloor\lVert x"
        r"\rVert\langle\rangle\hat{a}\bar{a}\tilde{a}\vec{a}\underbrace{a}_b\overbrace{a}^b 0123"
    )
    assert missing(Formulas({}).mathml(course, True, True)) == ""
    assert ord("中") not in letters()
