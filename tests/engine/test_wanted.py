"""What a reader expected can be said in every language: a phrase by its name, or notation."""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.records.wanted import PHRASES, phrase

ROOT = Path(__file__).parents[2]
# Who is told what was expected, and which of his arguments it is.
TOLD = {"Fault": 4, "fault": 4, "wrong": 4, "take": 2, "Problem": 3, "Unfit": 1, "refused": 0}
OF_FILE = {("curling/reading.py", "_problem"): 2, ("objective/replay.py", "_problem"): 3}
NOTATION = {
    "finished",
    "short",
    "0 point match",
    "Game 1",
    "Wins 1 point",
    "Doubles => 2",
    '[Name "text"]',
    "ucci",
    "uci",
}


def told() -> Iterator[tuple[str, ast.expr]]:
    """Everything that readers say they expected."""
    records = ROOT / "engine" / "records"
    for file in sorted(records.rglob("*.py")):
        path = file.relative_to(records).as_posix()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                place = OF_FILE.get((path, name), TOLD.get(name))
                if place is not None and len(node.args) > place:
                    yield f"{path}:{node.lineno}", node.args[place]
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                names = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(one, ast.Name) and one.id == "expected" for one in names):
                    yield f"{path}:{node.lineno}", node.value


def words(node: ast.AST) -> Iterator[str]:
    """Texts in an expression that are not the name of a phrase or what fills it."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "phrase":
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if isinstance(node, ast.Subscript | ast.Compare):  # a key, or what is compared
        return
    for child in ast.iter_child_nodes(node):
        yield from words(child)


def test_whatever_a_reader_expects_is_notation_or_a_phrase_with_a_name() -> None:
    found = dict.fromkeys(told())
    assert len(found) > 80
    english = {
        (place, text)
        for place, node in found
        for text in words(node)
        if text not in NOTATION and any(len(word) > 2 and word.islower() for word in text.split())
    }
    assert english == set()


def test_every_phrase_is_used() -> None:
    source = "".join(file.read_text("utf-8") for file in (ROOT / "engine" / "records").rglob("*.py"))
    source += (ROOT / "app" / "recordunpack.py").read_text("utf-8")
    forms = {"form-short", "form-dice", "form-cards"}  # chosen by the form
    assert [name for name in PHRASES.keys() - forms if source.count(f'"{name}"') < 2] == []


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_phrase_has_words_in_both_languages(language: str) -> None:
    file = ROOT / "static" / "locales" / language / "reader.json"
    said = json.loads(file.read_text("utf-8"))["expect"]
    assert said.keys() == PHRASES.keys()
    for name, english in PHRASES.items():
        forms = list(said[name].values()) if isinstance(said[name], dict) else [said[name]]
        assert [places(form) for form in forms] == [places(english)] * len(forms)
        if language == "en":
            assert set(forms) == {english}


def test_a_phrase_says_itself_in_english() -> None:
    assert str(phrase("legal-plays", n=14, roll="6-3", play="13/7 7/4")) == (
        "one of 14 legal plays of 6-3, such as 13/7 7/4"
    )
    assert phrase("five-dice") == phrase("five-dice")
    with pytest.raises(KeyError):
        str(phrase("six-dice"))
