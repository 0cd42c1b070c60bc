"""Times as organisers write them: the instant that is meant, across every change of clocks (CASES G16)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.service.errors import BadTime
from app.service.instants import instant, with_instants


def utc(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("written", "zone", "meant"),
    [
        pytest.param(
            "2026-10-24T10:00", "Europe/Berlin", "2026-10-24T08:00", id="the day before: summer time"
        ),
        pytest.param(
            "2026-10-25T10:00", "Europe/Berlin", "2026-10-25T09:00", id="the day itself: winter time"
        ),
        pytest.param("2026-10-25T10:00[Europe/Prague]", None, "2026-10-25T09:00", id="the zone in brackets"),
        pytest.param(
            "2026-03-29T10:00", "Europe/Berlin", "2026-03-29T08:00", id="in spring it is summer time"
        ),
        pytest.param(
            "2026-10-25T02:30+02:00[Europe/Berlin]", None, "2026-10-25T00:30", id="the first of two"
        ),
        pytest.param(
            "2026-10-25T02:30+01:00[Europe/Berlin]", None, "2026-10-25T01:30", id="the second of two"
        ),
        pytest.param("2026-07-01T12:00", "Europe/Moscow", "2026-07-01T09:00", id="Moscow in summer"),
        pytest.param(
            "2026-12-01T12:00", "Europe/Moscow", "2026-12-01T09:00", id="Moscow in winter: the same"
        ),
        pytest.param("2026-10-25T10:00Z", None, "2026-10-25T10:00", id="UTC"),
        pytest.param("2026-10-25T10:00Z", "Europe/Berlin", "2026-10-25T10:00", id="UTC in spite of a zone"),
        pytest.param("2026-10-25 10:00:30.5+0530", None, "2026-10-25T04:30:30.500", id="an offset alone"),
    ],
)
def test_the_instant_that_is_meant(written: str, zone: str | None, meant: str) -> None:
    assert instant(written, zone) == utc(meant)


@pytest.mark.parametrize(
    ("written", "zone", "because"),
    [
        pytest.param("2026-10-25T02:30", "Europe/Berlin", "twice", id="the clock shows it twice"),
        pytest.param("2026-03-29T02:30", "Europe/Berlin", "skipped", id="the clock skips it"),
        pytest.param(
            "2026-07-01T10:00+01:00[Europe/Berlin]", None, "skipped", id="an offset not of that zone then"
        ),
        pytest.param("2026-07-01T10:00", None, "no-zone", id="no zone"),
        pytest.param("2026-07-01T10:00", "Europe/Bern", "no-such-zone", id="no such zone"),
        pytest.param("2026-07-01T10:00", "../etc/passwd", "no-such-zone", id="a path is no zone"),
        pytest.param("2026-02-30T10:00Z", None, "not-a-time", id="no such day"),
        pytest.param("2026-07-01", "Europe/Berlin", "not-a-time", id="no time of day"),
        pytest.param("tomorrow", "Europe/Berlin", "not-a-time", id="words"),
        pytest.param("2026-07-01T10:00[Europe/Berlin]", "Europe/Paris", "not-a-time", id="two zones"),
        pytest.param("0001-01-01T00:00+14:00", None, "not-a-time", id="before all time"),
    ],
)
def test_a_time_that_cannot_be_told_is_refused(written: str, zone: str | None, because: str) -> None:
    with pytest.raises(BadTime) as refused:
        instant(written, zone)
    assert refused.value.params["because"] == because


def test_what_the_clock_shows_twice_is_offered_with_both_offsets() -> None:
    with pytest.raises(BadTime) as refused:
        instant("2026-10-25T02:30", "Europe/Berlin")
    offers = str(refused.value.params["offers"]).split(", ")
    assert offers == ["2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00"]
    assert [instant(offer) for offer in offers] == [utc("2026-10-25T00:30"), utc("2026-10-25T01:30")]


def test_settings_may_have_written_times() -> None:
    given = {"starts_at": "2026-12-25T10:00", "entry": {"closes_at": "2026-12-24T10:00Z", "mode": "open"}}
    assert with_instants(given, "Europe/Moscow") == {
        "starts_at": utc("2026-12-25T07:00"),
        "entry": {"closes_at": utc("2026-12-24T10:00"), "mode": "open"},
    }
    assert with_instants({"starts_at": 5, "no_show_s": 60}) == {"starts_at": 5, "no_show_s": 60}
