r"""Formulas of docstrings as text for a terminal: Greek letters and signs, roots, fractions, indices.

Only what the docstrings, the statements of the paper and the glossary use is known; a test checks that nothing else
occurs in them. Indices stay in one line, as in x_t and ℓ_{t,i}, since terminals lack most raised and lowered letters.

>>> readable(r"at most $\frac{\eta}{4} D + \sqrt{K T} + \ell_{t-1}^2$")
'at most (η/4) D + √(K T) + ℓ_{t-1}²'
"""

from __future__ import annotations

import re

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "varphi": "φ", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Pi": "Π", "Upsilon": "Υ",
    "Phi": "Φ", "Omega": "Ω",
}  # fmt: skip
_SIGNS = GREEK | {
    "ell": "ℓ", "le": "≤", "ge": "≥", "ne": "≠", "in": "∈", "ni": "∋", "sum": "Σ", "int": "∫", "infty": "∞",
    "propto": "∝", "sim": "~", "approx": "≈", "pm": "±", "leftarrow": "←", "dots": "...", "ldots": "...",
    "langle": "⟨", "rangle": "⟩", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "cdot": "·", "to": "→",
    "|": "‖", "lVert": "‖", "rVert": "‖", "lvert": "|", "rvert": "|", "prod": "∏",
    "{": "{", "}": "}", ",": " ", ";": " ", "!": "",
    "quad": "\u2003", "qquad": "\u2003", "\\": "\n",
}  # fmt: skip
_DROPPED = {"left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "textstyle", "displaystyle"}
_FUNCTIONS = {"ln", "log", "min", "max", "arg", "exp", "Pr", "sin"}
_FONTS = {"mathrm", "mathbb", "mathbf", "mathcal", "text"}
_ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304"}
_LOWERED, _RAISED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_SINGLE = re.compile(
    r"√?(\d[\d.]*|[^\W\d_]|∞)[\u0302-\u0304']*(_\w|_\{[^{}]*\}|[₀-₉]+)?[⁰-⁹²³¹']*"
)  # needs no brackets
_GROUP = re.compile(r"√\([^()]*\)|\([^()]*\)[⁰-⁹²³¹]+")  # a root or power with one pair of brackets
_PRODUCT = re.compile(r"\d+[^\W\d_]")  # needs no brackets as a numerator
_FACTOR = re.compile(r"[\w(\[{‖⟨⌈⌊√∏∫]")  # how something starts that a fraction before it multiplies
_SUM = re.compile(r"[Σ∏](_\{[^{}]*\}|_\w)$")  # a sum with its lower limit, before the upper one


def readable(text: str) -> str:
    """Return a text with the formulas between dollar signs as text, and without the dollar signs."""
    return re.sub(r"\$\$(.*?)\$\$|\$(.*?)\$", lambda match: formula_text(match[1] or match[2] or ""), text, flags=re.S)


def formula_text(latex: str) -> str:
    r"""Return a formula as text; the rows of an array are lines.

    >>> formula_text(r"\hat x_t \propto e^{-\eta L_{t-1}}, \quad \min\left\{\frac14, \|x\|_2^2\right\}")
    'x̂_t ∝ e^(-η L_{t-1}),   min{1/4, ‖x‖₂²}'
    >>> formula_text(r"\frac1\eta [\sum_{t=s}^{T-1} \frac{(x - y)^2}{2} + \ln \frac1\alpha]")
    '(1/η) [Σ_{t=s}^{T-1} (x - y)²/2 + ln(1/α)]'
    """
    lines = _FormulaReader(latex).rest().split("\n")
    return "\n".join(_aligned([[_spaced(cell) for cell in line.split("&")] for line in lines]))


class _FormulaReader:
    """The tokens of a formula, read from left to right."""

    def __init__(self, latex: str) -> None:
        self._tokens = [" " if token.isspace() else token for token in _TOKEN.findall(latex)]
        self._place = 0

    def rest(self, until: str = "") -> str:
        """Return the text up to a closing bracket."""
        text = ""
        while self._place < len(self._tokens) and (token := self._next()) != until:
            text = self._joined(text, token)
        return text

    def _next(self) -> str:
        self._place += 1
        return self._tokens[self._place - 1]

    def _argument(self) -> str:
        while self._place < len(self._tokens) and self._tokens[self._place] == " ":
            self._place += 1
        token = self._next() if self._place < len(self._tokens) else ""
        return self.rest("}").strip() if token == "{" else self._joined("", token)

    def _verbatim(self) -> str:
        """Return an argument as it is written."""
        first = self._place + 1
        self._place = self._tokens.index("}", first) + 1
        return "".join(self._tokens[first : self._place - 1])

    def _joined(self, text: str, token: str) -> str:
        """Return a text with what a token stands for."""
        name = token[1:] if token.startswith("\\") and len(token) > 1 else ""
        if token == "{":
            return text + self.rest("}")
        if token == "^" and _SUM.search(text):
            limit = self._argument()
            return f"{text}^{limit}" if len(limit) == 1 else f"{text}^{{{limit}}}"
        if token in "_^":
            return text + _index(token, self._argument())
        if not name:
            return text + token
        if name in ("frac", "tfrac"):
            return self._fraction(text)
        return text + (f"√{_bracketed(self._argument())}" if name == "sqrt" else self._word(name, text))

    def _word(self, name: str, before: str) -> str:
        if name in _FUNCTIONS:
            space = " " if before[-1:].isalnum() else ""
            after = self._tokens[self._place] if self._place < len(self._tokens) else ""
            gap = " " if (after[:1].isalnum() or after.startswith("\\")) and after[1:] not in {*_DROPPED, "{"} else ""
            return f"{space}{name}{gap}"
        if name in _FONTS:
            return self._verbatim() if name == "text" else self._argument()
        if name in _ACCENTS:
            base = self._argument()
            return base[:1] + _ACCENTS[name] + base[1:]
        if name in ("begin", "end"):
            for _ in range(2 if name == "begin" else 1):  # the environment, and the columns of an array
                self._verbatim()
            return ""
        if name in _DROPPED:
            return ""
        return _SIGNS.get(name, f"\\{name}")

    def _fraction(self, before: str) -> str:
        above = self._argument()
        plain = _GROUP.fullmatch(above) or _PRODUCT.fullmatch(above)
        fraction = f"{above if plain else _bracketed(above)}/{_bracketed(self._argument())}"
        after = _FormulaReader("".join(self._tokens[self._place :])).rest().lstrip()
        if before.rstrip().endswith(tuple(_FUNCTIONS)):
            return f"{before.rstrip()}({fraction})"
        inside = bool(_FACTOR.match(after)) or after.startswith("^")
        return before + (f"({fraction})" if inside else fraction)


def _spaced(text: str) -> str:
    """Return a text with single spaces, none inside of brackets, and three between formulas."""
    text = re.sub(r"(?<=[⟨⌈⌊(\[{]) +| +(?=[⟩⌉⌋)\]}]|[.,;](?!\.))", "", re.sub(" +", " ", text))
    return re.sub(" *\u2003 *", "   ", text).strip()


def _bracketed(text: str) -> str:
    return text if _SINGLE.fullmatch(text) else f"({text})"


def _index(sign: str, text: str) -> str:
    if sign == "^":
        if re.fullmatch(r"-?\d+", text):
            return text.translate(_RAISED)
        return text if text == "*" else f"^{text}" if len(text) == 1 or text[0] + text[-1] == "()" else f"^({text})"
    if text.isdigit():
        return text.translate(_LOWERED)
    return f"_{text}" if len(text) == 1 else f"_{{{text}}}"


def _aligned(rows: list[list[str]]) -> list[str]:
    """Return the rows of an array as lines whose columns are aligned."""
    if len(rows) == 1:
        return ["".join(rows[0])]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
