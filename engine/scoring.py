"""What a match is worth: the games, the credit of the unfinished one, thinking time, the price of giving up (§6–8).

Games are positions seen by White. Amounts "for A" are positive when they favour the player in seat A.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from engine.position import CHECKERS, OFF, Position, Side, pip_count
from engine.rating import truncated
from engine.ruleset import Ruleset
from engine.turn import Color, Game, Games, Seat, Seats, player_of
from engine.variant import VARIANTS

CLASS_POINTS = {"oin": 1, "mars": 2, "koks": 3}  # of a lost game on the classic basis (§6.1)


class Outcome(StrEnum):
    """How a match ended."""

    FINISHED = "finished"
    RESIGNED = "resigned"
    TIME = "time"
    ABANDONED = "abandoned"
    AGREED = "agreed"
    ADJUDICATED = "adjudicated"
    ABORTED = "aborted"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class GameScore:
    """One game at the end: `W`, `K`, `T`, `-` as in §4.3, or `C` conceded; the class is of the lost game."""

    outcome: str
    loss_class: str | None
    winner: Seat | None
    points_for_A: int
    position: Position  # seen by White


@dataclass(frozen=True, slots=True)
class Score:
    """A settled match (§6–7): every number from which the points come, and the points."""

    outcome: Outcome
    by: Seat | None  # who conceded
    games: Games[GameScore]
    credit_for_A: int  # of the unfinished game, before the limit of §6.2
    net_for_A: int
    winner: Seat | None
    time_ms: Seats[int]
    time_adjustment: int  # b of §7.3, taken from the winner's points; never negative
    points: Seats[int]
    rated: bool


def game_outcome(position: Position) -> str:
    """`W` White off, Black not; `K` Black off, White not; `T` both off; `-` not finished (§4.3)."""
    white, black = position.mine[OFF] == CHECKERS, position.theirs[OFF] == CHECKERS
    return {(True, False): "W", (False, True): "K", (True, True): "T"}.get((white, black), "-")


def settle(
    ruleset: Ruleset, games: Games[Position], time_ms: Seats[int], *, assess_time: bool = True
) -> Score:
    """The score of a match that was played to its end (§6, §7.3).

    `time_ms` is all charged thinking; `assess_time` is false against the computer (§7.3).
    """
    scored = Games(_game_score(ruleset, Game.X, games.X), _game_score(ruleset, Game.Y, games.Y))
    won = scored.X.points_for_A + scored.Y.points_for_A
    unfinished = [game for game in Game if scored[game].outcome == "-"]
    credit = credit_for(ruleset, unfinished[0], games, Seat.A) if len(unfinished) == 1 else 0
    net = won + credit
    finished_by = scored.X.winner or scored.Y.winner
    if unfinished and finished_by and not ruleset.unfinished.may_flip:
        # The credit may not take the win from the winner of the finished game; a tie that counts as
        # White's is won with 0 points, and stays at least that (§6.2, `tied_game`).
        least = min(1, abs(won))
        net = max(net, least) if finished_by is Seat.A else min(net, -least)
    return _with_time(
        ruleset,
        Score(
            outcome=Outcome.FINISHED,
            by=None,
            games=scored,
            credit_for_A=credit,
            net_for_A=net,
            winner=_winner(net),
            time_ms=time_ms,
            time_adjustment=0,
            points=Seats(net, -net),
            rated=ruleset.rated,
        ),
        assess_time,
    )


def _winner(net_for_A: int) -> Seat | None:
    return Seat.A if net_for_A > 0 else Seat.B if net_for_A < 0 else None


def _game_score(ruleset: Ruleset, game: Game, position: Position) -> GameScore:
    outcome = game_outcome(position)
    if outcome == "T" and ruleset.tied_game == "white":
        return GameScore("W", None, player_of(game, Color.WHITE), 0, position)
    if outcome not in ("W", "K"):
        return GameScore(outcome, None, None, 0, position)
    winner = player_of(game, Color.WHITE if outcome == "W" else Color.BLACK)
    loser = position.theirs if outcome == "W" else position.mine
    loss_class = VARIANTS[ruleset.variant].loss_class(loser)
    points = points_of(ruleset, loser, loss_class)
    return GameScore(outcome, loss_class, winner, points if winner is Seat.A else -points, position)


def points_of(ruleset: Ruleset, loser: Side, loss_class: str) -> int:
    """What a lost game is worth on the ruleset's basis (§6.1)."""
    match ruleset.scoring:
        case "classic":
            return CLASS_POINTS[loss_class]
        case "checkers":
            return CHECKERS - loser[OFF]
        case _:
            return _capped(ruleset, pip_count(loser))


def _capped(ruleset: Ruleset, pips: int) -> int:
    """The most pips that a game or the credit may count; on the pips basis only (§6.1)."""
    if ruleset.pips_cap is None or ruleset.scoring != "pips":
        return pips
    return max(-ruleset.pips_cap, min(ruleset.pips_cap, pips))


def credit_for(ruleset: Ruleset, game: Game, games: Games[Position], seat: Seat) -> int:
    """The part of a seat's lead in an unfinished game that counts, truncated toward zero (§6.2)."""
    rules = ruleset.unfinished
    if rules.mode == "none":
        return 0
    return _capped(ruleset, truncated(_lead(ruleset, games[game], game, seat) * rules.num, rules.den))


def _lead(ruleset: Ruleset, position: Position, game: Game, seat: Seat) -> int:
    """Opponent's minus mine, in the basis's own unit; classic has none (§6.2)."""
    match ruleset.scoring:
        case "pips":
            lead = pip_count(position.theirs) - pip_count(position.mine)
        case "checkers":
            lead = position.mine[OFF] - position.theirs[OFF]
        case _:
            return 0
    return lead if player_of(game, Color.WHITE) is seat else -lead


def _with_time(ruleset: Ruleset, score: Score, assess_time: bool) -> Score:
    winner = score.winner
    if winner is None or not assess_time:
        return score
    points = abs(score.net_for_A)
    slower = score.time_ms[winner] - score.time_ms[winner.other]
    b = time_adjustment(ruleset, points, slower, score.time_ms[winner])
    kept = points if ruleset.time.settlement == "loser_only" else points - b
    settled = Seats(0, 0).with_(winner, kept).with_(winner.other, b - points)
    return replace(score, time_adjustment=b, points=settled)


def time_adjustment(ruleset: Ruleset, points: int, slower_ms: int, winner_ms: int) -> int:
    """b of §7.3: what the winner's longer thinking takes from P points; the loser only comes nearer."""
    rules = ruleset.time
    most = min(points * rules.cap_num // rules.cap_den, points - 1)
    if rules.mode == "off" or slower_ms <= rules.threshold_ms or most <= 0:
        return 0
    if rules.mode == "relative":
        return most * slower_ms // winner_ms
    return min((slower_ms - rules.threshold_ms) // rules.ms_per_point, most)


@dataclass(frozen=True, slots=True)
class Concession:
    """What giving up costs (§8.1): the game conceded, and the price with its parts."""

    game: Game
    points: int  # all that the loser pays
    game_points: int
    credit: int  # the winner's, of the other game
    loss_class: str


@lru_cache(maxsize=4096)
def concession(
    ruleset: Ruleset, round_end: Games[Position], phase_end: Games[Position], loser: Seat
) -> Concession:
    """The price of conceding now: the game worth more to the opponent, equal X (§8.1).

    Depends on the ends of the last finished round and the last finished phase alone, never on the open phase. A pure
    function, remembered for what was asked most recently: every view of a phase shows the same price.
    """
    x, y = (_price(ruleset, game, round_end, phase_end, loser) for game in Game)
    dearer = y if y.points > x.points else x
    points = max(dearer.points, ruleset.forfeit_min)
    if ruleset.forfeit_cap is not None:
        points = min(points, ruleset.forfeit_cap)
    return replace(dearer, points=points)


def _price(
    ruleset: Ruleset, game: Game, round_end: Games[Position], phase_end: Games[Position], loser: Seat
) -> Concession:
    dearest, loss_class = 0, "oin"
    for position in (round_end[game], phase_end[game]):
        seen = position if player_of(game, Color.WHITE) is loser else position.turned()
        class_here = VARIANTS[ruleset.variant].loss_class(seen.mine)
        if class_here == "koks" and not seen.theirs[OFF]:
            class_here = "mars"  # koks only if the winner has begun to bear off
        points = points_of(ruleset, seen.mine, class_here)
        if points > dearest:
            dearest, loss_class = points, class_here
    credit = credit_for(ruleset, game.other, round_end, loser.other)
    return Concession(game, dearest + credit, dearest, credit, loss_class)


def settle_concession(
    ruleset: Ruleset,
    games: Games[Position],
    conceded: Concession,
    loser: Seat,
    outcome: Outcome,
    time_ms: Seats[int],
) -> Score:
    """The score of a match that one side gave up; thinking time is not assessed (§7.3, §8.1)."""
    winner = loser.other
    sign = 1 if winner is Seat.A else -1
    lost = GameScore("C", conceded.loss_class, winner, sign * conceded.game_points, games[conceded.game])
    other = conceded.game.other
    scores = Games(lost, lost).with_(other, GameScore("-", None, None, 0, games[other]))
    net = sign * conceded.points
    return Score(
        outcome,
        loser,
        scores,
        sign * conceded.credit,
        net,
        winner,
        time_ms,
        0,
        Seats(net, -net),
        ruleset.rated,
    )


def settle_agreed(
    ruleset: Ruleset, games: Games[Position], round_end: Games[Position], time_ms: Seats[int]
) -> Score:
    """A draw agreed on: 0:0, or with `settle` both leads added, × 1/2, truncated once (§8.5)."""
    net = leads_for_A(ruleset, round_end) if ruleset.draw_offers == "settle" else 0
    return _decided(games, Outcome.AGREED, net, time_ms, rated=ruleset.rated)


def leads_for_A(ruleset: Ruleset, round_end: Games[Position]) -> int:
    """Both leads added, × 1/2, truncated once, in points for A (§8.5); 0 on the classic basis, which has no leads."""
    return truncated(sum(_lead(ruleset, round_end[game], game, Seat.A) for game in Game), 2)


def settle_adjudicated(
    ruleset: Ruleset, games: Games[Position], net_for_A: int, time_ms: Seats[int]
) -> Score:
    """An arbiter's result (§8.5)."""
    return _decided(games, Outcome.ADJUDICATED, net_for_A, time_ms, rated=ruleset.rated)


def settle_for_nothing(games: Games[Position], outcome: Outcome, time_ms: Seats[int]) -> Score:
    """Aborted, void, or both flags in one millisecond: no points, no rating (§8.4–8.6)."""
    return _decided(games, outcome, 0, time_ms, rated=False)


def _decided(
    games: Games[Position], outcome: Outcome, net: int, time_ms: Seats[int], *, rated: bool
) -> Score:
    open_games = Games(
        GameScore("-", None, None, 0, games.X),
        GameScore("-", None, None, 0, games.Y),
    )
    return Score(outcome, None, open_games, 0, net, _winner(net), time_ms, 0, Seats(net, -net), rated)
