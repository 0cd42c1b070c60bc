"""Settings: frozen dataclasses whose keys know what values they may have, read strictly from nested mappings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

Check = Callable[[object], bool]
Refuse = Callable[[str, str], Exception]  # of a dotted key and what is wrong with it
T = TypeVar("T")


def one_of(*values: str) -> dict[str, Any]:
    """The metadata of a key that has one of these words."""
    return {"check": lambda v: v in values, "values": " | ".join(values)}


def whole(low: int, high: int, *, or_null: bool = False) -> dict[str, Any]:
    """The metadata of a key that has a whole number, or perhaps null."""

    def check(value: object) -> bool:
        return (or_null and value is None) or (type(value) is int and low <= value <= high)

    return {"check": check, "values": f"{'null | ' if or_null else ''}{low}..{high}"}


def text(shortest: int, longest: int, *, or_null: bool = False) -> dict[str, Any]:
    """The metadata of a key that has a text of so many characters, or perhaps null."""

    def check(value: object) -> bool:
        return (or_null and value is None) or (isinstance(value, str) and shortest <= len(value) <= longest)

    return {"check": check, "values": f"{'null | ' if or_null else ''}{shortest}..{longest} characters"}


YES_NO: dict[str, Any] = {"check": lambda v: type(v) is bool, "values": "true | false"}


def changed(
    settings: T,
    changes: Mapping[str, Any],
    refuse: Refuse,
    path: str = "",
    read: Mapping[str, Any] | None = None,
) -> T:
    """These settings with some keys changed. Raises what `refuse` makes for a key or value that does not exist.

    `read` are values of further keys that were read and checked in another way.
    """
    known = {f.name: f for f in fields(settings)}  # type: ignore[arg-type]
    values: dict[str, Any] = dict(read or {})
    for key, value in changes.items():
        name = f"{path}{key}"
        if key not in known:
            raise refuse(name, "there is no such key")
        now = getattr(settings, key)
        if is_dataclass(now):
            if not isinstance(value, Mapping):
                raise refuse(name, "is a group of keys")
            values[key] = changed(now, value, refuse, f"{name}.")
        elif not known[key].metadata["check"](value):
            raise refuse(name, f"is one of {known[key].metadata['values']}")
        else:
            values[key] = value
    return dataclasses.replace(settings, **values)  # type: ignore[type-var]


def difference(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What of the nested `values` is not as in `defaults`."""
    differing = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            inner = difference(value, defaults[key])
            if inner:
                differing[key] = inner
        elif value != defaults[key]:
            differing[key] = value
    return differing


def key_values(settings: Any, path: str = "") -> dict[str, str]:
    """Every key, dotted, with the values it may have."""
    found: dict[str, str] = {}
    for f in fields(settings):
        value = getattr(settings, f.name)
        if is_dataclass(value):
            found |= key_values(value, f"{path}{f.name}.")
        elif "values" in f.metadata:
            found[path + f.name] = f.metadata["values"]
    return found
