"""Times as organisers write them: an instant, told by an offset or by a named zone, right across a clock change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.service.errors import BadTime

_WRITTEN = re.compile(
    r"(2[01]\d{2}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)\s*"
    r"(Z|z|[+-]\d{2}:?\d{2})?\s*(?:\[([A-Za-z0-9_+/-]{1,64})\])?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def instant(text: str, zone: str | None = None) -> int:
    """The UTC milliseconds of `2026-10-25T10:00+01:00`, `2026-10-25T10:00[Europe/Berlin]`, or a local time with `zone`.

    A local time that a clock change skips, or has twice, is refused; an offset tells which of the two is meant, and an
    offset that the zone does not have then is refused too. Raises BadTime.
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        raise BadTime("not-a-time", f"'{text[:60]}' is not a time like 2026-10-25T10:00.")
    date, time, offset, named = found.groups()
    if named and zone and named != zone:
        raise BadTime("not-a-time", f"Two zones are named, {named} and {zone}.")
    try:
        local = datetime.fromisoformat(f"{date}T{time}")
        if offset is None:
            return _ms(_in_zone(local, named or zone))
        exact = datetime.fromisoformat(f"{date}T{time}{'+00:00' if offset in 'Zz' else offset}")
    except ValueError:
        raise BadTime("not-a-time", f"There is no {text[:60]}.") from None
    if named or zone:
        there = exact.astimezone(_zone(named or zone))
        if there.utcoffset() != exact.utcoffset() and offset not in "Zz":
            raise BadTime(
                "skipped", f"{there.tzinfo} has another offset then: {there.isoformat(timespec='minutes')}."
            )
    return _ms(exact)


def with_instants(settings: Mapping[str, Any], zone: str | None = None) -> dict[str, Any]:
    """Settings of an event in which times may be written: `starts_at` and `entry.closes_at` as UTC ms.

    Raises BadTime.
    """
    read = dict(settings)
    if isinstance(read.get("starts_at"), str):
        read["starts_at"] = instant(read["starts_at"], zone)
    entry = read.get("entry")
    if isinstance(entry, Mapping) and isinstance(entry.get("closes_at"), str):
        read["entry"] = {**entry, "closes_at": instant(entry["closes_at"], zone)}
    return read


def _in_zone(local: datetime, zone: str | None) -> datetime:
    first = local.replace(tzinfo=_zone(zone), fold=0)
    second = first.replace(fold=1)
    if first.utcoffset() == second.utcoffset():
        return first
    around = [each.astimezone(UTC).astimezone(first.tzinfo) for each in (first, second)]
    offers = ", ".join(each.isoformat(timespec="minutes") for each in sorted(around, key=_ms))
    if around[0].replace(tzinfo=None) == local:
        raise BadTime("twice", f"The clock shows this twice in {zone}; say which: {offers}.", offers=offers)
    raise BadTime("skipped", f"The clock in {zone} skips this time; near it are {offers}.", offers=offers)


def _zone(name: str | None) -> ZoneInfo:
    if name is None:
        raise BadTime("no-zone", "A time needs an offset (+01:00, Z) or a zone (Europe/Berlin).")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadTime("no-such-zone", f"There is no zone '{name[:64]}'.", zone=name[:64]) from None


def _ms(at: datetime) -> int:
    return (at.astimezone(UTC) - _EPOCH) // _MS
