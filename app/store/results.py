"""What a finished match leaves behind: its result, and the two ratings that it moves (§10).

Everything here happens in the transaction that stores the end of the match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, bindparam, func, insert, select, update

from app.store.analyses import queue
from app.store.codec import ruleset_of
from app.store.database import insert_new
from app.store.tables import matches, points_ratings, rating_changes, results, strengths
from engine.analysis import is_analysable
from engine.position import CHECKERS, OFF, pip_count
from engine.rating import POINTS_START, Strength, both_after, points_after
from engine.ruleset import Ruleset
from engine.scoring import GameScore, Score
from engine.turn import Seat, Seats

OPEN = "open"  # the competition of all casual rated matches (§10.1)
COUNTED_A_DAY = 3  # of one pair; more would let two friends make a rating (§10.1)
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a match: its score, and the accounts that played it (None: a seat without one)."""

    score: Score
    accounts: Seats[str | None]


@dataclass(frozen=True, slots=True)
class RatingChange:
    """What a match did to both ratings of one player."""

    points_before: int
    points_after: int
    strength_before: Strength
    strength_after: Strength


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored rating that is not what the stored matches give."""

    account: str
    match_id: str | None  # the match whose change differs; None: the rating as it stands now
    what: str  # `points`, `strength`, `counted`, or a column of its result
    stored: str
    computed: str


def season_of(at: int) -> str:
    """The season of `open`: the year, UTC (§10.1)."""
    return str(datetime.fromtimestamp(at / 1000, UTC).year)


def day_of(at: int) -> int:
    """The day (UTC), counted from 1970-01-01."""
    return at // _DAY_MS


def pair_of(one: str, other: str) -> str:
    """Two accounts, whoever sat where."""
    return " ".join(sorted((one, other)))


def write_finish(connection: Connection, match_id: str, at: int, finish: Finish) -> None:
    """Ends a match: its state, its result, the ratings if it counts, and a place in the queue to be analysed."""
    row = connection.execute(
        select(matches.c.ruleset, matches.c.competition).where(matches.c.id == match_id)
    ).one()
    ruleset, casual = ruleset_of(row.ruleset), row.competition is None
    connection.execute(
        update(matches).where(matches.c.id == match_id).values(state="over", finished_at=at, deadline=None)
    )
    a, b = finish.accounts.A, finish.accounts.B
    rated = finish.score.rated and a is not None and b is not None and a != b
    if rated and a is not None and b is not None:
        _finish_rated(connection, match_id, at, finish.score, ruleset, Seats(a, b), casual=casual)
    else:
        _insert_result(connection, match_id, at, finish, rated=False, counted=False)
    if is_analysable(ruleset, finish.score.outcome):
        queue(connection, match_id, at)


def _finish_rated(
    connection: Connection,
    match_id: str,
    at: int,
    score: Score,
    ruleset: Ruleset,
    accounts: Seats[str],
    *,
    casual: bool,
) -> None:
    """A competition has a points rating of its own, which is computed from its facts: its matches move the strength
    alone, however many there are of one pair (§10).
    """
    season = season_of(at)
    # With both players' rows locked, no other match of theirs can end meanwhile: only now are the matches of
    # the day counted, and the result numbered.
    points = _locked_points(connection, accounts, season)
    strength = _locked_strengths(connection, accounts, ruleset.variant)
    counted = not casual or _counted_on(connection, accounts, day_of(at)) < COUNTED_A_DAY
    finish = Finish(score, Seats(accounts.A, accounts.B))
    number = _insert_result(connection, match_id, at, finish, rated=True, counted=counted)
    if not counted:
        return
    settled = score.points if casual else Seats(0, 0)
    changes = changes_of(ruleset, settled, score.winner, points, strength)
    _store_changes(connection, match_id, number, accounts, season, ruleset.variant, changes)


def changes_of(
    ruleset: Ruleset,
    settled: Seats[int],
    winner: Seat | None,
    points: Seats[int],
    strength: Seats[Strength],
) -> Seats[RatingChange]:
    """What a match does to both ratings of both players (§10.1, §10.2)."""
    score_a = 0.5 if winner is None else float(winner is Seat.A)
    after_a, after_b = both_after(strength.A, strength.B, score_a)
    return Seats(
        RatingChange(points.A, points_after(points.A, settled.A, ruleset), strength.A, after_a),
        RatingChange(points.B, points_after(points.B, settled.B, ruleset), strength.B, after_b),
    )


def _locked_points(connection: Connection, accounts: Seats[str], season: str) -> Seats[int]:
    in_order = sorted((accounts.A, accounts.B))
    new = [
        {"account": id_, "competition": OPEN, "season": season, "points": POINTS_START} for id_ in in_order
    ]
    insert_new(connection, points_ratings, *new)
    rows = connection.execute(_POINTS_OF, {"ids": in_order, "at_season": season})
    found = {row.account: row.points for row in rows}
    return Seats(found[accounts.A], found[accounts.B])


def _locked_strengths(connection: Connection, accounts: Seats[str], variant: str) -> Seats[Strength]:
    in_order, start = sorted((accounts.A, accounts.B)), Strength()
    values = {"variant": variant, "r": start.r, "rd": start.rd, "vol": start.vol}
    insert_new(connection, strengths, *({"account": account, **values} for account in in_order))
    rows = connection.execute(_STRENGTHS_OF, {"ids": in_order, "in_variant": variant})
    found = {row.account: Strength(row.r, row.rd, row.vol) for row in rows}
    return Seats(found[accounts.A], found[accounts.B])


def _counted_on(connection: Connection, accounts: Seats[str], day: int) -> int:
    table = results.c
    return connection.execute(
        select(func.count())
        .select_from(results.join(matches, matches.c.id == table.match_id))
        .where(
            table.pair == pair_of(accounts.A, accounts.B),
            table.day == day,
            table.counted,
            matches.c.competition.is_(None),
        )
    ).scalar_one()


def _insert_result(
    connection: Connection, match_id: str, at: int, finish: Finish, *, rated: bool, counted: bool
) -> int:
    """Writes the result; its number in the order of ending."""
    row = {"match_id": match_id, **_values_of(at, finish), "rated": rated, "counted": counted}
    key = connection.execute(insert(results), row).inserted_primary_key
    assert key is not None
    return int(key[0])


def _values_of(at: int, finish: Finish) -> dict[str, Any]:
    """What is stored of the end of a match, but for what it did to ratings."""
    score, accounts = finish.score, finish.accounts
    return {
        "at": at,
        "outcome": score.outcome.value,
        "by_seat": score.by and score.by.value,
        **_game_columns("x", score.games.X),
        **_game_columns("y", score.games.Y),
        "credit_for_a": score.credit_for_A,
        "net_for_a": score.net_for_A,
        "winner": score.winner and score.winner.value,
        "charged_a_ms": score.time_ms.A,
        "charged_b_ms": score.time_ms.B,
        "time_adjustment": score.time_adjustment,
        "points_a": score.points.A,
        "points_b": score.points.B,
        "account_a": accounts.A,
        "account_b": accounts.B,
        "pair": accounts.A and accounts.B and pair_of(accounts.A, accounts.B),
        "day": day_of(at),
    }


def result_differences(
    connection: Connection, match_id: str, at: int, finish: Finish
) -> tuple[Difference, ...]:
    """Where the stored result of a match is not what its journal gives; its whole if there is none."""
    row = connection.execute(select(results).where(results.c.match_id == match_id)).one_or_none()
    values, account = _values_of(at, finish), finish.accounts.A or ""
    if row is None:
        return (Difference(account, match_id, "result", "none", finish.score.outcome.value),)
    return tuple(
        Difference(account, match_id, name, str(stored), str(value))
        for name, value in values.items()
        if (stored := row._mapping[name]) != value
    )


def _game_columns(game: str, score: GameScore) -> dict[str, Any]:
    white, black = score.position.mine, score.position.theirs
    return {
        f"{game}_outcome": score.outcome,
        f"{game}_class": score.loss_class,
        f"{game}_winner": score.winner and score.winner.value,
        f"{game}_points_for_a": score.points_for_A,
        f"{game}_white_pips": pip_count(white),
        f"{game}_black_pips": pip_count(black),
        f"{game}_white_checkers": CHECKERS - white[OFF],
        f"{game}_black_checkers": CHECKERS - black[OFF],
    }


def _store_changes(
    connection: Connection,
    match_id: str,
    number: int,
    accounts: Seats[str],
    season: str,
    variant: str,
    changes: Seats[RatingChange],
) -> None:
    """Both players' ratings as they stand now, and what this match did to them."""
    rows = [
        {
            "match_id": match_id,
            "seat": seat.value,
            "number": number,
            "account": accounts[seat],
            "competition": OPEN,
            "season": season,
            "variant": variant,
            "points_before": changes[seat].points_before,
            "points_after": changes[seat].points_after,
            "r_before": changes[seat].strength_before.r,
            "rd_before": changes[seat].strength_before.rd,
            "vol_before": changes[seat].strength_before.vol,
            "r_after": changes[seat].strength_after.r,
            "rd_after": changes[seat].strength_after.rd,
            "vol_after": changes[seat].strength_after.vol,
        }
        for seat in Seat
    ]
    connection.execute(insert(rating_changes), rows)
    connection.execute(_POINTS_NOW, [{f"new_{key}": value for key, value in row.items()} for row in rows])
    connection.execute(_STRENGTH_NOW, [{f"new_{key}": value for key, value in row.items()} for row in rows])


_IDS: BindParameter[str] = bindparam("ids", expanding=True)
_POINTS_OF = (
    select(points_ratings.c.account, points_ratings.c.points)
    .where(
        points_ratings.c.account.in_(_IDS),
        points_ratings.c.competition == OPEN,
        points_ratings.c.season == bindparam("at_season"),
    )
    .order_by(points_ratings.c.account)
    .with_for_update()
)
_STRENGTHS_OF = (
    select(strengths)
    .where(strengths.c.account.in_(_IDS), strengths.c.variant == bindparam("in_variant"))
    .order_by(strengths.c.account)
    .with_for_update()
)
_POINTS_NOW = (
    update(points_ratings)
    .where(
        points_ratings.c.account == bindparam("new_account"),
        points_ratings.c.competition == bindparam("new_competition"),
        points_ratings.c.season == bindparam("new_season"),
    )
    .values(points=bindparam("new_points_after"))
)
_STRENGTH_NOW = (
    update(strengths)
    .where(strengths.c.account == bindparam("new_account"), strengths.c.variant == bindparam("new_variant"))
    .values(r=bindparam("new_r_after"), rd=bindparam("new_rd_after"), vol=bindparam("new_vol_after"))
)


# ------------------------------------------------------------------------------------------------- computed anew


def rating_differences(connection: Connection) -> tuple[Difference, ...]:
    """Both ratings computed again from the stored results, in order of ending, against what is stored (§10.2)."""
    ratings = _Recomputed()
    stored = {
        (row.match_id, row.seat): change_from(row, "")
        for row in connection.execute(select(rating_changes)).all()
    }
    found = list(ratings.play_again(_rated_results(connection), stored))
    for row in connection.execute(select(points_ratings).where(points_ratings.c.competition == OPEN)):
        points = ratings.points.get((row.account, row.season), POINTS_START)
        if row.points != points:
            found.append(Difference(row.account, None, "points", str(row.points), str(points)))
    for row in connection.execute(select(strengths)):
        strength = ratings.strengths.get((row.account, row.variant), Strength())
        if Strength(row.r, row.rd, row.vol) != strength:
            was = Strength(row.r, row.rd, row.vol)
            found.append(Difference(row.account, None, "strength", str(was), str(strength)))
    return tuple(found)


def _rated_results(connection: Connection) -> Iterable[Row[Any]]:
    return connection.execute(
        select(results, matches.c.ruleset, matches.c.competition)
        .join(matches, matches.c.id == results.c.match_id)
        .where(results.c.rated)
        .order_by(results.c.number)
    ).all()


class _Recomputed:
    """All ratings as they grow, match by match."""

    def __init__(self) -> None:
        self.points: dict[tuple[str, str], int] = {}
        self.strengths: dict[tuple[str, str], Strength] = {}
        self._counted: Counter[tuple[str, int]] = Counter()

    def play_again(
        self, rated: Iterable[Row[Any]], stored: dict[tuple[str, str], RatingChange]
    ) -> Iterable[Difference]:
        for row in rated:
            casual = row.competition is None
            counts = not casual or self._counted[row.pair, row.day] < COUNTED_A_DAY
            if counts is not row.counted:
                yield Difference(row.account_a, row.match_id, "counted", str(row.counted), str(counts))
            if not counts:
                continue
            self._counted[row.pair, row.day] += casual
            changes = self._changes(row)
            for seat, account in ((Seat.A, row.account_a), (Seat.B, row.account_b)):
                was, now = stored.get((row.match_id, seat.value)), changes[seat]
                if was is None or was.points_after != now.points_after:
                    text = "none" if was is None else str(was.points_after)
                    yield Difference(account, row.match_id, "points", text, str(now.points_after))
                if was is None or was.strength_after != now.strength_after:
                    text = "none" if was is None else str(was.strength_after)
                    yield Difference(account, row.match_id, "strength", text, str(now.strength_after))

    def _changes(self, row: Row[Any]) -> Seats[RatingChange]:
        ruleset, season = ruleset_of(row.ruleset), season_of(row.at)
        accounts = (row.account_a, row.account_b)
        changes = changes_of(
            ruleset,
            Seats(row.points_a, row.points_b) if row.competition is None else Seats(0, 0),
            row.winner and Seat(row.winner),
            Seats(*(self.points.get((account, season), POINTS_START) for account in accounts)),
            Seats(*(self.strengths.get((account, ruleset.variant), Strength()) for account in accounts)),
        )
        for account, change in zip(accounts, (changes.A, changes.B), strict=True):
            self.points[account, season] = change.points_after
            self.strengths[account, ruleset.variant] = change.strength_after
        return changes


def change_from(row: Row[Any], prefix: str) -> RatingChange:
    """The rating change in a row, its columns perhaps named with a prefix."""
    column = {
        name.removeprefix(prefix): value for name, value in row._mapping.items() if name.startswith(prefix)
    }
    return RatingChange(
        column["points_before"],
        column["points_after"],
        Strength(column["r_before"], column["rd_before"], column["vol_before"]),
        Strength(column["r_after"], column["rd_after"], column["vol_after"]),
    )
