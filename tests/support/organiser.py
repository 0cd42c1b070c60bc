"""A competition that is being run: carries commands out as the server does, and plays its matches by made-up results.

Every result hangs on the match's id and the entrants' strengths alone, so the same competition is the same again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from engine.competition import commands as c
from engine.competition.competition import Competition, Round, Stage, new_competition, replay
from engine.competition.decisions import unfold
from engine.competition.facts import Fact
from engine.competition.meeting import COMPUTER, Ending, MatchResult, Ref, Verdict
from engine.competition.overview import MatchOrder, matches_due
from engine.competition.rounds import next_round
from engine.competition.settings import DEFAULT_SETTINGS, Settings
from engine.turn import Seat, Seats

BOSS = "organiser"
MADE_AT = 1_000_000
LOT_SEED = "5eed" * 16
MINUTE = 60_000


def settings(**changes: Any) -> Settings:
    """The default settings with some keys changed; `stages` as short as `["swiss"]` or with their keys."""
    if "stages" in changes:
        changes["stages"] = [
            {"kind": each} if isinstance(each, str) else dict(each) for each in changes["stages"]
        ]
    return DEFAULT_SETTINGS.changed(changes)


Results = Callable[[Competition, MatchOrder], MatchResult]


class Event:
    """A competition, and all that has happened in it. `now` moves only when a test moves it."""

    def __init__(
        self,
        entrants: int = 0,
        *,
        name: str = "cup",
        strengths: Mapping[int, float] | None = None,
        **changes: Any,
    ) -> None:
        self.start = self.competition = new_competition(name, settings(**changes), LOT_SEED)
        self.facts: list[Fact] = []
        self.now = MADE_AT
        if entrants:
            self.do(c.OpenEntry(BOSS, self.now))
        for number in range(1, entrants + 1):
            self.do(c.Register(f"player-{number}", self.now, (strengths or {}).get(number, 2_000.0 - number)))

    def do(self, *commands: c.Command) -> list[Fact]:
        """Carries these out, one after the other; the facts of them all."""
        happened: list[Fact] = []
        for command in commands:
            told, self.competition = unfold(self.competition, command)
            happened += told
        self.facts += happened
        return happened

    def replayed(self) -> Competition:
        """The competition as its facts alone give it."""
        return replay(self.start, self.facts)

    @property
    def stage(self) -> Stage:
        assert self.competition.stage is not None
        return self.competition.stage

    @property
    def round(self) -> Round:
        assert self.competition.round is not None
        return self.competition.round

    def begin(self) -> Event:
        """Opens the first stage."""
        self.do(c.Start(self.now))
        return self

    def draw(self) -> list[tuple[int, int | None]]:
        """Drafts the next round; who meets whom."""
        self.do(c.DraftRound(self.now))
        return self.pairs()

    def pairs(self) -> list[tuple[int, int | None]]:
        """Who meets whom in the newest round."""
        return [(meeting.pair.a, meeting.pair.b) for meeting in self.round.meetings]

    def let_begin(self) -> None:
        """Publishes the draft and starts it."""
        self.do(c.PublishRound(self.now), c.StartRound(self.now))

    def open_round(self) -> list[tuple[int, int | None]]:
        """Drafts, publishes and starts the next round."""
        pairs = self.draw()
        self.let_begin()
        return pairs

    def close(self) -> None:
        """Closes the round."""
        self.do(c.CloseRound(self.now))

    def order(self, *entrants: int) -> MatchOrder:
        """The match to be played now between these, or by this one."""
        return next(
            due for due in matches_due(self.competition) if {*entrants} <= {due.entrants.A, due.entrants.B}
        )

    def ref(self, *entrants: int) -> Ref:
        """Where these meet in the newest round."""
        return next(m.ref for m in self.round.meetings if {*entrants} <= {*m.pair.entrants})

    def verdict(self, *entrants: int) -> Verdict:
        """What the meeting of these in the newest round is worth."""
        return next(m.verdict for m in self.round.meetings if {*entrants} <= {*m.pair.entrants})

    def result(self, one: int, other: int, points: int, **more: Any) -> MatchResult:
        """The result of their match to be played now: `points` for the first named, as many less for the other.

        `times` are his and the other's (ms), `objective` is his.
        """
        return result_of(self.order(one, other), one, points, **more)

    def play(self, one: int, other: int, points: int, **more: Any) -> list[Fact]:
        """They play: `points` for the first named."""
        return self.do(c.ReportResult(self.result(one, other, points, **more), self.now))

    def swiss_round(self, *meetings: tuple[int, int | None, int]) -> None:
        """A whole round of a Swiss with these pairings and points of the first named; None is a bye."""
        self.draw()
        pairs = tuple((one, other) for one, other, _ in meetings)
        self.do(c.EditRound(pairs, BOSS, self.now, reason="as the test says"))
        self.let_begin()
        for one, other, points in meetings:
            if other is not None:
                self.play(one, other, points)
        self.close()

    def play_rest(self, results: Results | None = None) -> None:
        """Plays all that is to be played in the round, by made-up results."""
        while due := matches_due(self.competition):
            for order in due:
                self.do(c.ReportResult((results or by_strength)(self.competition, order), self.now))

    def play_round(self, results: Results | None = None) -> list[tuple[int, int | None]]:
        """A whole round."""
        pairs = self.open_round()
        self.play_rest(results)
        self.close()
        return pairs

    def play_to_the_end(self, results: Results | None = None) -> Competition:
        """Round after round, stage after stage, until places are final."""
        while next_round(self.competition, self.now):
            self.play_round(results)
        self.do(c.Finish(self.now))
        return self.competition


def result_of(
    order: MatchOrder,
    one: int,
    points: int,
    *,
    times: tuple[int, int] = (100_000, 100_000),
    objective: float | None = None,
    ending: Ending = Ending.PLAYED,
    absent: int | None = None,
) -> MatchResult:
    """A result as the entrant `one` sees it, turned to the seats of the match."""
    seat = Seat.A if one == order.entrants.A else Seat.B
    mine = points if seat is Seat.A else -points
    time = times if seat is Seat.A else times[::-1]
    return MatchResult(
        order.id,
        ending,
        Seats(mine, -mine),
        mine,
        Seats(*time),
        by=None if absent is None else Seat.A if absent == order.entrants.A else Seat.B,
        rated=True,
        objective_for_A=objective if objective is None or seat is Seat.A else -objective,
    )


def chance(*what: object) -> float:
    """A number from 0 to 1 that hangs on these alone."""
    text = "|".join(map(str, what))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48


def by_strength(competition: Competition, order: MatchOrder) -> MatchResult:
    """The stronger wins more often; a tenth are draws; points, times and objective results as in real matches."""
    strengths = [
        competition.entrant(n).strength if n != COMPUTER else 1_800.0
        for n in (order.entrants.A, order.entrants.B)
    ]
    expected = 1 / (1 + 10 ** ((strengths[1] - strengths[0]) / 400))
    luck, size = chance("who", order.id), 1 + int(60 * chance("size", order.id))
    points = 0 if luck < 0.1 else size if (luck - 0.1) / 0.9 < expected else -size
    times = tuple(100_000 + int(200_000 * chance("time", seat, order.id)) for seat in Seat)
    objective = 4 * (expected - 0.5) + chance("objective", order.id) - 0.5
    return MatchResult(
        order.id,
        Ending.PLAYED,
        Seats(points, -points),
        points,
        Seats(*times),
        rated=True,
        objective_for_A=objective,
    )
