"""Proofs as the terminal shows them, with their formulas set for MathJax.

Proofs are written in plain text, since `ratiolab claims --proof` prints them. Lines that are
indented by four spaces are displayed formulas; names with an index or a power are set in a line.
"""

import re

GREEK = (
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "eta",
        "theta",
        "lambda",
        "nu",
        "xi",
        "pi",
        "rho",
    ),
    *("sigma", "tau", "phi", "omega"),
)
FUNCTIONS = ["max", "min", "ln", "log", "exp", "inf", "sup"]
TOKEN = re.compile(
    r"(?P<word>[A-Za-z]{2,}(?:-[A-Z]{2,})*)"
    r"|(?P<script>[_^])(?:\((?P<round>[^()]*(?:\([^()]*\)[^()]*)*)\)|\{(?P<curly>[^{}]*)\}"
    r"|(?P<bare>-?[A-Za-z0-9]+))"
    r"|(?P<relation><=|>=|->|=:|:=|\.\.\.)|(?P<other>.)",
)
WORDS = (
    *(
        "if",
        "of",
        "is",
        "as",
        "at",
        "it",
        "or",
        "in",
        "on",
        "by",
        "to",
        "be",
        "so",
        "no",
        "an",
        "we",
    ),
)
OPEN, CLOSE, ROOT = "\u2983", "\u2984", "\u221a"
"""Stand for brackets and roots of LaTeX until all else is set."""

RELATIONS = {"<=": r"\le ", ">=": r"\ge ", "->": r"\to ", "...": r"\ldots ", "=:": "=:", ":=": ":="}
SINGLE = re.compile(
    r"(?<![\w\\$`.^}])(?P<name>[A-Za-z])(?P<rest>(?:_(?:[A-Za-z0-9]+|\{[^{}]*\})"
    r"|\^(?:[0-9]+|[A-Za-z]\b|\([^()]*\)|\{[^{}]*\}))+)(?![\w(])"
)
SKIPPED = re.compile(r"(`[^`]*`|\]\([^)]*\)|\[[^\]]*\])")


def with_formulas(text: str) -> str:
    """Return a proof with formulas in the form of MathJax."""
    found: list[str] = []
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.startswith("    ") and (block or not found or not found[-1].strip()):
            block.append(line[4:])
            continue
        if block:
            found += ["$$", displayed(block), "$$"]
            block = []
        found.append(_inline(line))
    return "\n".join(found[:-1])


def displayed(lines: list[str]) -> str:
    """Return the lines of a displayed formula in LaTeX."""
    if len(lines) == 1:
        return latex(lines[0])
    rows = [("" if row[:1] != " " else r"\quad ") + latex(row) for row in lines]
    return "\\begin{aligned}\n" + " \\\\\n".join(f"& {row}" for row in rows) + "\n\\end{aligned}"


def _inline(line: str) -> str:
    if line.startswith("#"):
        return line
    parts = SKIPPED.split(line)
    signs = {" <= ": " ≤ ", " >= ": " ≥ ", " -> ": " → "}
    for sign, shown in signs.items():
        parts[::2] = [part.replace(sign, shown) for part in parts[::2]]
    parts[::2] = [SINGLE.sub(lambda m: f"${latex(m[0])}$", part) for part in parts[::2]]
    return "".join(parts)


def latex(words: str) -> str:
    r"""Return a formula in LaTeX.

    >>> latex("sum over A of (s + a_j) >= 2^(k-1) sqrt(1 + x^2/2)")
    '\\sum _{A} (s + a_{j}) \\ge  2^{k-1} \\sqrt{1 + x^{2}/2}'
    >>> latex("MC-SF <= 2 OPT + int_0^beta e^z dz for every n")
    '\\text{MC-SF }\\le  2\\text{ OPT} + \\int _{0}^{\\beta } e^{z} dz\\text{ for every }n'
    """
    words = words.strip().replace("**", "")
    words = re.sub(r"(?<!the )\bsum of ", "sum ", words)
    words = re.sub(r"\b(sum|max|min|inf) over (.{1,24}?) of ", r"\1_{\2} ", words)
    words = re.sub(r"\b([a-z]|tau)(\d)\b", r"\1_\2", words)
    words = re.sub(r"\bf\^\((\w+)\)", rf"{OPEN}hat f{CLOSE}(\1)", words)
    return _joined(_set(_roots(words))).replace(OPEN, "{").replace(CLOSE, "}")


def _set(words: str) -> str:
    found: list[str] = []
    for match in TOKEN.finditer(words):
        if match["word"]:
            found.append(_word(match["word"]))
        elif match["script"]:
            inner = match["round"] or match["curly"] or match["bare"] or ""
            inner = rf"\{inner}" if inner in ("max", "min") else _set(inner)
            found.append(f"{match['script']}{OPEN}{inner}{CLOSE}")
        elif match["relation"]:
            found.append(RELATIONS[match["relation"]])
        else:
            found.append(f"\\{each}" if (each := match["other"]) in "%#&${}" else each)
    return "".join(found)


def _roots(words: str) -> str:
    """Set the roots of a formula, those of brackets and those of a letter."""
    while (place := words.find("sqrt(")) >= 0:
        depth, end = 0, place + 4
        while end < len(words):
            depth += {"(": 1, ")": -1}.get(words[end], 0)
            end += 1
            if depth == 0:
                break
        words = f"{words[:place]}{ROOT}{OPEN}{words[place + 5 : end - 1]}{CLOSE}{words[end:]}"
    return re.sub(r"\bsqrt (\w)", rf"{ROOT}{OPEN}\1{CLOSE}", words)


def _word(word: str) -> str:
    if word in (*GREEK, *FUNCTIONS, "sum", "int"):
        return rf"\{word} "
    if word == "dtau":
        return r"d\tau "
    if word == "hat":
        return r"\hat"
    if re.fullmatch(r"[A-Za-z][a-z]", word) and word not in WORDS:
        return word  # a product of two letters, or a differential
    return rf"\text{OPEN}{word}{CLOSE}"


def _joined(words: str) -> str:
    """Return a formula in which neighbouring words are one text, with the spaces around it."""
    text = rf"\\text{OPEN}([^{CLOSE}]*){CLOSE}"
    joined = ""
    while joined != words:
        joined, words = words, re.sub(rf"{text}( +){text}", rf"\\text{OPEN}\1\2\3{CLOSE}", words)
    words = re.sub(rf"(?<=[\w){CLOSE},;]) +{text}", rf"\\text{OPEN} \1{CLOSE}", words)
    words = re.sub(rf"{text} +(?=[\w(\\])", rf"\\text{OPEN}\1 {CLOSE}", words)
    return re.sub(r" {3,}", r" \\qquad ", words).replace(ROOT, r"\sqrt")
