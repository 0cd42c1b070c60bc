"""What the families of records have in common for those who read and write them: options in, readings out.

A family is a module with

    NAME                              its name: objective · mat · xiangqi · curling
    FORMS                             the forms that `write` knows, the usual one first
    recognise(text)                   from 0 (nothing of it) to 1 (surely this family)
    read(text, options, repair)       a Reading, or RecordError
    write(record, form, options)      the one canonical text of a record in a form
    steps(record)                     the record as plain data, to be stepped through
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from engine.errors import RuleError
from engine.records.text import Note

Record = TypeVar("Record")
Choice = TypeVar("Choice", bound=str)


class UnknownOption(RuleError):
    """A form, dialect, school of letters or language that there is not."""

    code = "unknown-option"

    def __init__(self, option: str, value: str, choices: Sequence[str]) -> None:
        super().__init__(f"{option} is one of {', '.join(choices)}.", option=option, value=value[:40])
        self.option, self.choices = option, tuple(choices)


def known(option: str, value: str, choices: Sequence[Choice]) -> Choice:
    """The value, as one of the choices. Raises UnknownOption."""
    for choice in choices:
        if choice == value:
            return choice
    raise UnknownOption(option, value, choices)


@dataclass(frozen=True, slots=True)
class Options:
    """What a text does not say of itself. None: what it says, else what is usual.

    form: one of the family's · dialect: 2018 | 1997 (xiangqi) · letters: any | wxf | cci | general (xiangqi) ·
    language: ru | en, the letters that are written (curling's cards). A family leaves alone what is not for it.
    """

    form: str | None = None
    dialect: str | None = None
    letters: str | None = None
    language: str | None = None


USUAL = Options()


@dataclass(frozen=True, slots=True)
class Edit:
    """One change by which a wrong text becomes a record: what stands there, and what it was taken for."""

    line: int
    column: int
    code: str
    text: str
    read_as: str
    message: str


@dataclass(frozen=True, slots=True)
class Candidate(Generic[Record]):
    """A record that a text may have meant, and the edits that lead to it; none, if it says just this."""

    record: Record
    edits: tuple[Edit, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading(Generic[Record]):
    """Every record that the text may mean, fewest edits first. A strict reading has exactly one, without edits."""

    candidates: tuple[Candidate[Record], ...]

    @property
    def record(self) -> Record:
        """The record, where there is no choice to be made. Raises ValueError if there is."""
        (only,) = self.candidates
        return only.record
