"""Checks that static/locales/ru and /en say the same: files, keys, {places}, plural forms. Exit 1 if not."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

LOCALES = Path(__file__).parents[1] / "static" / "locales"
PLURALS = {"ru": {"one", "few", "many", "other"}, "en": {"one", "other"}}
Word = str | dict[str, str]  # a text, or its plural forms


def is_plural(value: dict[str, Any]) -> bool:
    return "other" in value and len(value) > 1 and value.keys() <= PLURALS["ru"]


def flat(value: Any, key: str) -> dict[str, Word]:
    """The words under `key`, each with its whole key."""
    if isinstance(value, dict) and not is_plural(value):
        return {k: word for name, under in value.items() for k, word in flat(under, f"{key}.{name}").items()}
    return {key: value}


def places(word: Word) -> set[str]:
    """The {names} to be filled in; a plural form may leave out the number itself."""
    if isinstance(word, dict):
        return set().union(*(places(form) for form in word.values())) | {"n"}
    return set(re.findall(r"\{(\w+)\}", word))


def read(language: str) -> tuple[dict[str, Word], list[str]]:
    """All words of a language by key, and what is wrong with them by themselves."""
    words: dict[str, Word] = {}
    wrong = []
    for file in sorted((LOCALES / language).glob("*.json")):
        words |= flat(json.loads(file.read_text(encoding="utf-8")), file.stem)
    for key, word in words.items():
        if isinstance(word, dict) and word.keys() != PLURALS[language]:
            wrong.append(f"{language} {key}: plural forms {sorted(word)}, not {sorted(PLURALS[language])}")
        forms = list(word.values()) if isinstance(word, dict) else [word]
        if not all(isinstance(form, str) and form.strip() for form in forms):
            wrong.append(f"{language} {key}: empty, or not a text")
    return words, wrong


def main() -> int:
    (ru, wrong_ru), (en, wrong_en) = read("ru"), read("en")
    wrong = wrong_ru + wrong_en
    if not ru or not en:
        wrong.append(f"no words in {LOCALES}")
    wrong += [f"{key}: only in {'ru' if key in ru else 'en'}" for key in sorted(ru.keys() ^ en.keys())]
    for key in sorted(ru.keys() & en.keys()):
        if isinstance(ru[key], dict) != isinstance(en[key], dict):
            wrong.append(f"{key}: plural forms in one language only")
        elif different := places(ru[key]) ^ places(en[key]):
            wrong.append(f"{key}: {sorted(different)} in one language only")
    print(*wrong, f"{len(ru)} words, {len(wrong)} wrong", sep="\n")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
