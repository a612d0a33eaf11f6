r"""Names in pictures: policies as papers write them, symbols in mathematics.

Tables keep the keys that commands take; a picture says $A_{\min}$ and MC-SF.
"""

import re

POLICIES = {
    "a-ell": r"$A_{\ell}$",
    "a-max": r"$A_{\max}$",
    "a-min": r"$A_{\min}$",
    "a-min-fluid": r"$A_{\min}$, fluid",
    "a-random": r"$A_{\mathrm{random}}$",
    "a-switch": r"$A_{\mathrm{switch}}$",
    "alpha-beta-clearing": r"$\alpha$-protection, $\beta$-clearing",
    "alpha-protection": r"$\alpha$-protection",
    "kill-restart": "kill and restart",
    "mc-benchmark": "MC-Benchmark",
    "sarathi": "Sarathi",
    "short-first": "short first",
    "sorted-f": "Sorted-F",
    "svf-1bit": "SVF, one bit",
    "vllm-fcfs": "vLLM FCFS",
    "vllm-priority": "vLLM priority",
    **{
        key: key.upper()
        for key in (
            *("fcfs", "gba", "gsa", "h-sf", "ltr", "mc-sf", "mlfq", "rr", "rr-sjf", "sept", "sjf"),
            *("sprpt", "srpt", "ssjf", "svf", "swf", "tie", "trail", "edf"),
        )
    },
}
"""Names of policies by their keys; a key that is not here is its own name."""

GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "ε": "varepsilon", "λ": "lambda", "τ": "tau"}
_KEYS = re.compile(
    r"(?<![\w-])(" + "|".join(sorted(POLICIES, key=len, reverse=True)) + r")(?![\w-])"
)
_SUBSCRIPT = re.compile(r"\b([A-Za-z])_([A-Za-z0-9]+)\b")
_LETTER = re.compile(rf"([{''.join(GREEK)}])(\*?)")
_ALONE = re.compile(r"(?<![\w$\\{-])([MCnoqu])(?![\w}-]|\. [A-Z])")


def named(label: object) -> str:
    r"""Return a label with keys of policies as their names, and symbols in mathematics.

    >>> named("mc-sf, noisy prediction")
    'MC-SF, noisy prediction'
    >>> named("a-min: TEL 200")
    '$A_{\\min}$: TEL 200'
    """
    return symbols(_KEYS.sub(lambda found: POLICIES[found[1]], str(label)))


def symbols(text: str) -> str:
    r"""Return a text whose symbols are in mathematics; what is so already stays as it is.

    >>> symbols("A_min / OPT over α*, memory M (tokens)")
    '$A_{\\min}$ / OPT over $\\alpha^*$, memory $M$ (tokens)'
    """
    parts = text.split("$")
    parts[::2] = [_symbols(part) for part in parts[::2]]
    return "$".join(parts)


def _symbols(text: str) -> str:
    def subscript(found: re.Match[str]) -> str:
        operator = {"min": r"\min", "max": r"\max", "ell": r"\ell"}.get(found[2], found[2])
        return f"${found[1]}_{{{operator}}}$"

    def greek(found: re.Match[str]) -> str:
        return rf"$\{GREEK[found[1]]}{'^*' * bool(found[2])}$"

    text = _LETTER.sub(greek, _SUBSCRIPT.sub(subscript, text))
    parts = text.split("$")
    parts[::2] = [_ALONE.sub(r"$\1$", part) for part in parts[::2]]
    return "$".join(parts)
