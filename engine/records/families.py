"""Every family of records that is known here: which a text belongs to, and what can be converted into what.

A new family is one entry in FAMILIES; a way from one family into another one entry in WAYS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from engine.errors import RuleError
from engine.records import curling, mat, objective, xiangqi
from engine.records.family import Options, Reading, UnknownOption
from engine.records.text import NotInForm, Text

LEAST_SURE = 0.3  # a text that is less surely of any family is of none


class Family(Protocol):
    """What a module offers that reads and writes a family of records; `engine.records.family` tells of each."""

    @property
    def NAME(self) -> str: ...
    @property
    def FORMS(self) -> Sequence[str]: ...
    def recognise(self, text: Text) -> float: ...
    def read(self, text: Text, options: Options, repair: bool) -> Reading[Any]: ...
    def write(self, record: Any, form: str, options: Options) -> str: ...
    def steps(self, record: Any) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A family, what it is called, and what else can be said of a text of it: its form and language."""

    family: Family
    words: str
    form_of: Callable[[Text], str]
    language_of: Callable[[Text], str | None]

    @property
    def name(self) -> str:
        """What it is named by: objective, mat, xiangqi, curling."""
        return self.family.NAME


class NotRecognised(RuleError):
    """A text that belongs to none of the families, or not to the one that it is said to belong to."""

    code = "not-recognised"

    def __init__(self) -> None:
        super().__init__("This is no record of a game that is known here.")


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a text was taken for, and how surely, 0 to 1."""

    entry: Entry
    form: str
    language: str | None
    certainty: float


def recognise(text: Text, source: str | None = None) -> Recognised:
    """The family and form of a text; `source` names a family or a form that it is of.

    Raises NotRecognised, and UnknownOption for a source that there is not.
    """
    choices = FAMILIES if source is None else _named(source)
    sure = [(entry.family.recognise(text), -place, entry) for place, entry in enumerate(choices)]
    certainty, _, entry = max(sure, key=lambda found: found[:2])
    if source is None and certainty < LEAST_SURE:
        raise NotRecognised
    form = source if source is not None and source in entry.family.FORMS else entry.form_of(text)
    return Recognised(entry, form, entry.language_of(text), certainty)


def read(
    text: Text, source: str | None, options: Options, *, repair: bool
) -> tuple[Recognised, Reading[Any]]:
    """What a text was taken for and every record that it may mean. Raises RecordError, NotRecognised, UnknownOption."""
    found = recognise(text, source)
    form = source if source in found.entry.family.FORMS else None
    return found, found.entry.family.read(text, replace(options, form=form), repair)


def convert(found: Recognised, record: Any, target: str, options: Options) -> str:
    """A record of the recognised family, in another form of it or in another family, in the language that it has.

    `target` names a form or a family (then its usual form). Raises NotInForm, UnknownOption.
    """
    family = found.entry.family
    if target in family.FORMS or target == family.NAME:
        form = target if target in family.FORMS else family.FORMS[0]
        language = options.language or found.language
        return family.write(record, form, replace(options, language=language))
    for entry in _named(target):
        way = WAYS.get((family.NAME, entry.name))
        if way is not None:
            form = target if target in entry.family.FORMS else entry.family.FORMS[0]
            return entry.family.write(way(record), form, options)
    raise NotInForm(target, "way", f"{found.entry.words} cannot be converted into {target}.")


def names() -> tuple[str, ...]:
    """Every family and every form, as a source or a target."""
    found = [name for entry in FAMILIES for name in (entry.name, *entry.family.FORMS)]
    return tuple(dict.fromkeys(found))


def _named(name: str) -> tuple[Entry, ...]:
    entries = tuple(entry for entry in FAMILIES if name == entry.name or name in entry.family.FORMS)
    if not entries:
        raise UnknownOption("form", name, names())
    return entries


def _none(text: Text) -> None:
    del text


FAMILIES = (
    Entry(objective, "an objective match", objective.form_of, objective.language_of),
    Entry(mat, "games of backgammon in a .mat file", lambda text: "mat", _none),
    Entry(xiangqi, "a game of xiangqi", xiangqi.form_of, _none),
    Entry(curling, "a game of tabletop curling", curling.form_of, curling.language_of),
)
WAYS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("objective", "mat"): mat.mat_of,
    ("mat", "objective"): mat.objective_of,
}
