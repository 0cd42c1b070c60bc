"""The two languages of objective records, and the letters that are taken for one another.

A record is written in one language throughout; each text of the other converts into it without loss. What stands for
itself in both (W K T C, names of rulesets, digits) is not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.records.objective.record import TAGS


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language; keys are the international ones."""

    key: str
    tags: Mapping[str, str]
    colors: tuple[str, str]  # White, Black
    bar: str
    off: str
    classes: Mapping[str, str]


INTERNATIONAL = Language(
    key="en",
    tags={name: name for name in TAGS},
    colors=("w", "b"),
    bar="bar",
    off="off",
    classes={"oin": "oin", "mars": "mars", "koks": "koks"},
)
RUSSIAN = Language(
    key="ru",
    tags={
        "Game": "Игра",
        "Player1": "Игрок1",
        "Player2": "Игрок2",
        "Date": "Дата",
        "Event": "Событие",
        "Round": "Тур",
        "Record": "Запись",
        "Variant": "Вид",
        "Ruleset": "Правила",
        "RulesetJson": "ПравилаJson",
        "DiceId": "Зары",
        "Commitment": "Отпечаток",
        "Seed": "Число",
        "ClientSeed1": "Число1",
        "ClientSeed2": "Число2",
        "Outcome": "Исход",
        "GameX": "ИграX",
        "GameY": "ИграY",
        "Credit": "Зачёт",
        "Time1": "Время1",
        "Time2": "Время2",
        "TimeAdjustment": "Поправка",
        "Parted": "Разошлись",
    },
    colors=("б", "ч"),
    bar="бар",
    off="сн",
    classes={"oin": "ойн", "mars": "марс", "koks": "кокс"},
)
LANGUAGES = {language.key: language for language in (INTERNATIONAL, RUSSIAN)}

_ALIKE = str.maketrans("авеёікмнорстух", "abeeikmhopctyx")


def folded(word: str) -> str:
    """A word without the differences that the eye misses: case, look-alike letters, ё."""
    return word.casefold().translate(_ALIKE)
