"""The rules of `.ci/prose.py` find the sentences that break them; `.ci/run` runs it on all."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / ".ci"))
prose = import_module("prose")


def test_the_list_of_exceptions_is_short():
    assert len(prose.EXCEPTIONS) <= 10


@pytest.mark.parametrize(
    ("sentence", "rule"),
    [
        ("Nobody waits.", "person"),
        ("the labels whom a pass remembers", "person"),
        ("It takes so many rounds.", "number"),
        ("Return those that fit.", "noun"),
        ("What is kept grows.", "subject"),
        ("It is 4 % slower.", "space"),
        ("A step takes .3 s.", "zero"),
        ("A solve takes 3 s instead of 5.", "median"),
        ("So the bound holds.", "begin with a noun"),
        ("The bounds enclose the optimum.", "term"),
    ],
)
def test_a_rule_finds_its_sentences(sentence, rule, tmp_path):
    for name, text in (("page.md", sentence), ("module.py", f'"""{sentence}"""\n')):
        (tmp_path / name).write_text(text)
        assert any(rule in found for _, found, _ in prose.hits(tmp_path / name))


def test_code_and_doctests_are_no_sentences(tmp_path):
    page = "Run `ratiolab so many`.\n\n```\nSo what is left.\n```\n"
    module = '"""A module.\n\n>>> [True]\n[True]\n"""\npattern = "(?:so many)"\nword = "so"\n'
    for name, text in (("page.md", page), ("module.py", module)):
        (tmp_path / name).write_text(text)
        assert list(prose.hits(tmp_path / name)) == []
