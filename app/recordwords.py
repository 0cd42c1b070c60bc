"""What `nardy record` says, in the words of the page of records: `reader.json` of each language."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from engine.records.wanted import Phrase, Wanted

Language = Literal["ru", "en"]

_LOCALES = Path(__file__).parents[1] / "static" / "locales"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language. What the engine says of itself is English and more exact: English takes that."""

    language: Language

    def __call__(self, *path: str, **params: object) -> str:
        """The word under this path in `command`, filled in; of plural forms the one for `n`."""
        return self._filled(_words(self.language)["command"], path, params)

    def on_page(self, *path: str, **params: object) -> str:
        """A word of the page itself."""
        return self._filled(_words(self.language), path, params)

    def of_code(self, code: str, message: str) -> str:
        """What is wrong, or was read otherwise."""
        said: str = _words(self.language)["code"].get(code, message)
        return message if self.language == "en" else said

    def missing(self, code: str, detail: str, **params: object) -> str:
        """Why a form cannot hold a record."""
        return detail if self.language == "en" else self("missing", code, **params)

    def expected(self, wanted: Wanted) -> str:
        """What could stand there: notation as it is, a phrase in this language."""
        if not isinstance(wanted, Phrase):
            return wanted
        return self._filled(_words(self.language)["expect"], (wanted.name,), wanted.params)

    def _filled(self, found: Any, path: tuple[str, ...], params: Any) -> str:
        for key in path:
            found = found[key]
        if isinstance(found, dict):
            found = found[_plural(self.language, int(params["n"]))]
        assert isinstance(found, str)
        return found.format(**params)


def _plural(language: Language, n: int) -> str:
    if language == "en":
        return "one" if n == 1 else "other"
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "many"


@cache
def _words(language: Language) -> dict[str, Any]:
    words: dict[str, Any] = json.loads((_LOCALES / language / "reader.json").read_text("utf-8"))
    return words
