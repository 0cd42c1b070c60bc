"""Agreements of the whole house that no linter can check."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from app.service import errors as app_errors
from app.service.errors import AppError
from app.web import messages
from engine import errors as rule_errors
from engine.competition import facts
from engine.competition.competition import State
from engine.competition.meeting import Ending, How, ServerEnds, ToldApart
from engine.errors import RuleError
from engine.records.objective.replay import CONCEDED
from engine.scoring import Outcome

HOUSE = Path(__file__).parents[1]


def imports(file: Path) -> Iterator[tuple[str, list[str]]]:
    """The modules that a file imports, each with the names taken from it (none: the module as a whole)."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", [alias.name for alias in node.names]


def test_the_web_takes_nothing_but_views_from_the_view_module() -> None:
    for file in (HOUSE / "app" / "web").rglob("*.py"):
        for module, names in imports(file):
            if module == "engine":
                assert "view" not in names, f"{file.name}: take the View classes by name"
            if module == "engine.view":
                taken = names or ["all of it"]
                assert all(name.endswith("View") for name in taken), f"{file.name} takes {', '.join(taken)}"


def test_a_migration_does_not_change_with_the_code() -> None:
    for file in (HOUSE / "migrations" / "versions").rglob("*.py"):
        assert not {module.partition(".")[0] for module, _ in imports(file)} & {"app", "engine"}, file.name


def test_every_module_is_on_the_map() -> None:
    """A newcomer finds each of them in the tree of docs/ARCHITECTURE.md, as often as there are modules of its name."""
    tree = (HOUSE / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8").split("```")[1]
    named = Counter(re.findall(r"\w+", tree))
    there = Counter(file.stem for part in ("app", "engine") for file in (HOUSE / part).rglob("*.py"))
    del there["__init__"]
    assert not [name for name, times in there.items() if named[name] < times]


def test_nothing_that_is_cancelled_goes_on() -> None:
    """Before Python 3.12 `asyncio.wait_for` forgets a cancellation that comes as its time or its work ends, and
    whoever stops the task waits for ever; `asyncio.timeout` does not.
    """
    for file in (HOUSE / "app").rglob("*.py"):
        assert "wait_for(" not in file.read_text(encoding="utf-8"), file.name


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_code_of_a_refusal_has_words(language: str) -> None:
    """The code is for programs; a person reads a sentence in his language."""
    kinds = [kind for module in (rule_errors, app_errors, messages) for kind in vars(module).values()]
    refusals = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, RuleError | AppError)]
    codes = {kind.code for kind in refusals} - {RuleError.code}
    source = "".join(file.read_text(encoding="utf-8") for file in (HOUSE / "app" / "web").glob("*.py"))
    codes |= set(re.findall(r'problem_response\(\s*\d+, "([a-z-]+)"', source))
    words = json.loads(
        (HOUSE / "static" / "locales" / language / "problems.json").read_text(encoding="utf-8")
    )
    assert len(codes) > 25
    assert codes - words.keys() == set()


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_reason_for_which_a_competition_refuses_has_words(language: str) -> None:
    files = [HOUSE / "engine" / "match.py", *(HOUSE / "engine" / "competition").glob("*.py")]
    source = "".join(file.read_text(encoding="utf-8") for file in files)
    reasons = set(re.findall(r'(?:NotNow|EntryRefused|BadResult|BadDecision)\(\s*"([a-z-]+)"', source))
    reasons |= set(re.findall(r'_require\([^"]+"([a-z-]+)"\)', source))
    words = json.loads(
        (HOUSE / "static" / "locales" / language / "problems.json").read_text(encoding="utf-8")
    )
    assert len(reasons) > 25
    assert reasons - words["because"].keys() == set()


def _endings() -> dict[str, set[str]]:
    """Where a page or a card words an ending, and what is worded there, for all ways in which something can end."""
    unplayed = {Outcome.ABORTED, Outcome.VOID}
    conceded = {f"{outcome}_{whose}" for outcome in CONCEDED for whose in ("you", "opponent", "player")}
    said_of_all = set(Outcome) - {Outcome.FINISHED} - set(CONCEDED)
    return {
        "result.title": {str(outcome) for outcome in unplayed},
        "result.how": {*map(str, said_of_all), *conceded},
        "result.how.server": {str(why) for why in ServerEnds},
        "result.why": {str(outcome) for outcome in (*unplayed, Outcome.AGREED, Outcome.ADJUDICATED)},
        "card.unplayed": {str(outcome) for outcome in unplayed},
        "card.outcome": {
            *map(str, set(Outcome) - {Outcome.FINISHED} - unplayed),
            ServerEnds.ROUND_OVER.value,
        },
        "common.server_reason": {*map(str, ServerEnds), facts.TOO_FEW},
        "events.round": {*map(str, Ending), *get_args(How), *get_args(ToldApart)},
        "events.state": set(map(str, State)),
    }


@pytest.mark.parametrize("language", ["ru", "en"])
@pytest.mark.parametrize("place", _endings())
def test_every_ending_has_words_wherever_endings_are_shown(place: str, language: str) -> None:
    file, *path = place.split(".")
    words = json.loads((HOUSE / "static" / "locales" / language / f"{file}.json").read_text(encoding="utf-8"))
    for key in path:
        words = words[key]
    assert _endings()[place] - words.keys() == set()
