"""Pages: templates are strict on their slots, and every experiment's template draws its charts."""

import re
from pathlib import Path

import jinja2
import pytest

from ratiolab.papers import Experiment, Finding, experiments
from ratiolab.papers.page import Head, Page, read_template

EXPERIMENTS = experiments()

TABLES_ALONE = {"shahout2025-first"}
"""Pages without pictures."""


def test_a_template_is_filled_with_slots_findings_and_formatted_numbers(tmp_path: Path) -> None:
    template = tmp_path / "page.md"
    template.write_text(
        '+++\nname = "n"\ntitle = "t"\nsource = "s"\nfigures = ["x"]\n+++\n'
        "{{ a | fixed }} {{ a | fixed(1) }} {{ a | significant }} {{ a | percent(1) }} "
        "{{ n | thousands }}\n{% include 'part.md' %}\n\n{{ findings }}\n"
    )
    (tmp_path / "part.md").write_text("in {{ n }} parts\n")
    assert read_template(template)[0] == Head("n", "t", "s", ("x",))
    page = Page({"a": 0.125, "n": 4}, [Finding("s", "1", "2", True)])
    text = page.text(template, n=1200)
    assert text.startswith("0.12 0.1 0.125 12.5% 4\nin 4 parts\n\n| statement |")
    assert text.endswith("| s | 1 | 2 | holds |  |")
    with pytest.raises(jinja2.UndefinedError, match="'a' is undefined"):
        Page({"n": 4}).text(template)


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_every_experiment_has_a_template_that_names_its_own_charts(experiment: Experiment) -> None:
    with experiment.file("md") as template:
        text = template.read_text(encoding="utf-8")
        for part in re.findall(r'{% include "(.+)" %}', text):
            text += (template.parent / part).read_text(encoding="utf-8")
    text = text.replace("{{ name }}", experiment.name)
    charts = re.findall(r"!\[[^]]+]\(([^)]+)\)", text)
    assert charts or experiment.name in TABLES_ALONE
    assert all(re.fullmatch(rf"{experiment.name}-[a-z]+\.png", chart) for chart in charts)
