"""What is true of every match, whatever happens in it: whole matches, played by chance with all that may go wrong."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import msgspec
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine.dice import client_hash
from engine.errors import RuleError
from engine.match import (
    AcceptDraw,
    Command,
    CommitSeed,
    GiveBack,
    Leave,
    MakePlay,
    Match,
    OfferDraw,
    OrderPause,
    PhaseOpened,
    Resign,
    Return,
    RevealSeed,
    Tick,
    apply,
    decide,
    new_match,
    next_deadline,
    replay,
    resign_price,
    unfold,
)
from engine.plays import Hop
from engine.position import CHECKERS, Position
from engine.ruleset import DEFAULT, Ruleset
from engine.scoring import Outcome, Score, settle
from engine.turn import Game, Games, Seat, Seats, Turn
from engine.view import view_for
from tests.builders import MADE_AT, A, B, Table, hops_of, pos

STARTS = [
    "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5",
    "24:1 13:3 8:4 6:5 3:2 | 24:1 13:3 8:4 6:5 3:2",
    "18:1 6:5 5:4 4:3 3:2 | 18:1 6:5 5:4 4:3 3:2",
    "6:5 5:4 4:3 3:3 | 6:5 5:4 4:3 3:3",
    "6:3 5:2 3:1 | 6:3 5:2 3:1",
    "24:1 3:1 2:1 | 24:1 3:1 2:1",
    "4:1 2:2 1:1 | 4:1 2:2 1:1",
    "bar:1 6:4 5:4 4:4 3:2 | bar:1 6:4 5:4 4:4 3:2",
]
seeds = st.integers(0, 2**32)
times = st.sampled_from(
    [
        {},
        {"mode": "off"},
        {"mode": "relative", "threshold_ms": 1_000},
        {"threshold_ms": 0, "ms_per_point": 1_000},
        {"threshold_ms": 0, "ms_per_point": 1_000, "cap_num": 1, "cap_den": 1},
        {"threshold_ms": 0, "ms_per_point": 1_000, "settlement": "loser_only"},
    ]
)
rulesets = st.fixed_dictionaries(
    {},
    optional={
        "opening_double": st.sampled_from(["reroll", "allow"]),
        "scoring": st.sampled_from(["pips", "checkers", "classic"]),
        "pips_cap": st.sampled_from([None, 5, 60]),
        "tied_game": st.sampled_from(["draw", "white"]),
        "unfinished": st.sampled_from(
            [{}, {"mode": "none"}, {"num": 1, "den": 1}, {"num": 2, "den": 3}, {"may_flip": True}]
        ),
        "time": times,
        "clock": st.sampled_from(
            [
                {},
                {"bank_ms": 40_000, "delay_ms": 6_000},
                {"type": "bronstein"},
                {"type": "fischer", "bank_ms": 60_000},
                {"type": "per_move", "delay_ms": 30_000},
                {"type": "none"},
            ]
        ),
        "peek": st.sampled_from(["live", "start", "off"]),
        "draw_offers": st.sampled_from(["off", "draw", "settle"]),
        "forfeit_cap": st.sampled_from([None, 1, 90]),
        "grace_s": st.sampled_from([0, 10, 60]),
        "absence_s": st.sampled_from([0, 20, 120]),
    },
).map(lambda changes: DEFAULT.changed(changes))
starts = st.sampled_from(STARTS)


def whole_matches(examples: int) -> Any:
    """Not by the hour: a slow machine proves the same."""
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


# ------------------------------------------------------------------------------------------------ players by chance


@dataclass(frozen=True)
class Player:
    """One who decides by chance, but always the same in the same place: by his seed and the turn alone.

    `mood` is how often something other than a play comes to his mind.
    """

    seed: int
    mood: float = 0.0

    def wishes(self, table: Table, seat: Seat) -> list[Command]:
        """What he does in this turn, in the order of time."""
        chance, turn = Random(f"{self.seed} {table.turn}"), table.turn
        pick, thought = chance.random(), int(chance.expovariate(1 / 6_000))
        whim = chance.choice(["resign", "offer", "accept", "leave", "sleep", "late", "rubbish"])
        is_whim = chance.random() < self.mood
        trip = chance.randrange(400)
        wishes: list[Command] = []
        if is_whim:
            match whim:
                case "resign" if chance.random() < 0.3:
                    if table.match.owes(seat):
                        price = resign_price(table.match, seat)
                        points = price.points if price else 0
                        return [Resign(seat, turn, points, table.at(thought))]
                case "offer":
                    wishes.append(OfferDraw(seat, turn, table.at(thought // 2)))
                case "accept":
                    wishes.append(AcceptDraw(seat, turn, table.at(thought // 2)))
                case "leave":
                    wishes.append(Leave(seat, table.at(thought // 3)))
                    wishes.append(Return(seat, table.at(thought // 2 + chance.randrange(30_000))))
                case "sleep" if chance.random() < 0.3:
                    return []
                case "late":
                    thought += chance.randrange(60_000)
                case _:
                    wishes.append(MakePlay(seat, turn, (Hop(9, 3), Hop(2, 1)), table.at(thought // 2)))
        plays = table.plays_of(seat)
        if plays[0].moves:
            play = plays[int(pick * len(plays))]
            at = max([wish.at for wish in wishes] + [table.at(thought)])
            wishes.append(MakePlay(seat, turn, hops_of(play), at, trip))
        return wishes


def a_match_of(seed: int, start: str, ruleset: Ruleset) -> Table:
    """A match whose seeds come from this number, opened at this position."""
    digest = hashlib.sha256(str(seed).encode()).hexdigest()
    match = new_match(f"m-{seed}", ruleset, bytes.fromhex(digest), MADE_AT)
    table = Table(match)
    clients = Seats(digest[:32], digest[32:])
    table.do(*(Return(seat, MADE_AT) for seat in Seat))
    table.do(*(CommitSeed(seat, client_hash(clients[seat]), MADE_AT) for seat in Seat))
    table.do(*(RevealSeed(seat, clients[seat], MADE_AT) for seat in Seat))
    games = Games(pos(start), pos(start))
    opened = PhaseOpened(table.turn, table.roll, MADE_AT)
    return Table(apply(replace(table.match, games=games, round_end=games), opened))


def play_phase(table: Table, players: Seats[Player], first: Player) -> None:
    """One phase: everybody's wishes in the order of time, those of `first` before others of the same ms."""
    turn = table.turn
    wishes = [
        (wish.at, players[seat] is not first, wish)
        for seat in Seat
        if table.match.owes(seat)
        for wish in players[seat].wishes(table, seat)
    ]
    for _, _, wish in sorted(wishes, key=lambda item: item[:2]):
        if table.match.score is not None or table.match.turn != turn:
            return
        try:
            table.do(wish)
        except RuleError:
            assert table.match == replay(table.start, table.events), "a refused command leaves no trace"
    while table.match.score is None and table.match.turn == turn and (due := next_deadline(table.match)):
        table.do(Tick(due))


def play_out(table: Table, players: Seats[Player], first: Player | None = None) -> Score:
    """The whole match. Chance may go on for long: who has not finished by round 150 is stopped by an empty bank."""
    first = first or players.A
    while table.match.score is None and table.turn < Turn(150):
        play_phase(table, players, first)
    while table.match.score is None:
        due = next_deadline(table.match)
        assert due is not None
        table.do(Tick(due))
    return table.match.score


# ------------------------------------------------------------------------------------------------------- properties


@whole_matches(90)
@given(seeds, starts, rulesets, seeds, seeds)
def test_fifteen_checkers_a_side_and_the_events_give_the_match_back(
    seed: int, start: str, ruleset: Ruleset, p: int, q: int
) -> None:
    table = a_match_of(seed, start, ruleset)
    score = play_out(table, Seats(Player(p, 0.1), Player(q, 0.1)))
    for phase in table.match.history:
        for game in Game:
            assert sum(phase.games[game].mine) == sum(phase.games[game].theirs) == CHECKERS
    assert replay(table.start, table.events) == table.match
    assert table.match.score == score
    half = table.events[: len(table.events) // 2]
    assert replay(replay(table.start, half), table.events[len(half) :]) == table.match


def negated(score: Score) -> tuple[Any, ...]:
    """A score as it is seen when the seats are exchanged."""
    x, y = score.games.X, score.games.Y
    return (
        score.outcome,
        score.by and score.by.other,
        [
            (
                game.outcome,
                game.loss_class,
                game.winner and game.winner.other,
                -game.points_for_A,
                game.position,
            )
            for game in (y, x)
        ],
        -score.credit_for_A,
        -score.net_for_A,
        score.winner and score.winner.other,
        (score.time_ms.B, score.time_ms.A),
        score.time_adjustment,
        (score.points.B, score.points.A),
        score.rated,
    )


def told(score: Score) -> tuple[Any, ...]:
    """A score in the same words."""
    return (
        score.outcome,
        score.by,
        [
            (game.outcome, game.loss_class, game.winner, game.points_for_A, game.position)
            for game in (score.games.X, score.games.Y)
        ],
        score.credit_for_A,
        score.net_for_A,
        score.winner,
        (score.time_ms.A, score.time_ms.B),
        score.time_adjustment,
        (score.points.A, score.points.B),
        score.rated,
    )


def conceded_equal_games(table: Table) -> bool:
    """Both games cost the same, so X is conceded by either player: the one thing in which the seats are not alike."""
    end = table.match.ended
    if end is None or end.by is None or end.outcome is Outcome.ABORTED:
        return False
    match = replace(table.match, score=None, ended=None)
    here = resign_price(match, end.by)
    swapped = replace(
        match,
        games=Games(match.games.Y, match.games.X),
        round_end=Games(match.round_end.Y, match.round_end.X),
    )
    there = resign_price(replace(swapped, plays=Seats(match.plays.B, match.plays.A)), end.by.other)
    assert here is not None
    assert there is not None
    assert here.points == there.points
    return here.game is there.game


@whole_matches(90)
@given(seeds, starts, rulesets, seeds, seeds, st.sampled_from([0.0, 0.1, 0.3]))
def test_swapped_players_negate_every_number(
    seed: int, start: str, ruleset: Ruleset, p: int, q: int, mood: float
) -> None:
    """§4.6: the players change seats, the client seeds stay with the seats."""
    one, two = Player(p, mood), Player(q, mood)
    here, there = a_match_of(seed, start, ruleset), a_match_of(seed, start, ruleset)
    first, second = play_out(here, Seats(one, two), one), play_out(there, Seats(two, one), one)
    assert [phase.roll for phase in here.match.history] == [phase.roll for phase in there.match.history]
    assert here.match.parted == there.match.parted
    if conceded_equal_games(here):
        assert (second.net_for_A, second.points.A) == (-first.net_for_A, first.points.B)
    else:
        assert told(second) == negated(first)


@whole_matches(100)
@given(seeds, starts, rulesets, seeds)
def test_equal_play_draws_exactly_and_never_parts(seed: int, start: str, ruleset: Ruleset, p: int) -> None:
    """§4.6: the same decisions in the same positions; thinking may differ."""
    ruleset = ruleset.changed({"clock": {"type": "none"}})
    table = a_match_of(seed, start, ruleset)
    same = Player(p)
    while table.match.score is None:
        turn = table.turn
        for seat in Seat:
            for wish in same.wishes(table, seat):
                later = replace(wish, at=wish.at + 7_000) if seat is B else wish  # type: ignore[type-var]
                if table.match.turn == turn and table.match.owes(seat):
                    table.do(later)
        while table.match.score is None and table.match.turn == turn:
            due = next_deadline(table.match)
            assert due is not None
            table.do(Tick(due))
        assert table.match.games.X == table.match.games.Y
        assert table.turn < Turn(600), "chance does not go on for so long"
    score = table.match.score
    assert table.match.parted is None
    assert (score.outcome, score.winner, score.net_for_A) == (Outcome.FINISHED, None, 0)
    assert score.points == Seats(0, 0)
    assert score.credit_for_A == 0
    assert score.games.X.points_for_A == -score.games.Y.points_for_A


@whole_matches(90)
@given(seeds, starts, rulesets, seeds, seeds)
def test_points_add_up_to_nothing_and_the_winner_is_never_below(
    seed: int, start: str, ruleset: Ruleset, p: int, q: int
) -> None:
    table = a_match_of(seed, start, ruleset)
    score = play_out(table, Seats(Player(p, 0.1), Player(q, 0.1)))
    assert score.time_adjustment >= 0
    if score.winner is None:
        assert score.points == Seats(0, 0)
        return
    won, lost = score.points[score.winner], score.points[score.winner.other]
    assert won >= 1
    assert lost <= -1
    if ruleset.time.settlement == "loser_only":
        assert won == abs(score.net_for_A) == -lost + score.time_adjustment
    else:
        assert won == -lost == abs(score.net_for_A) - score.time_adjustment


@whole_matches(90)
@given(seeds, starts, rulesets, times, seeds, seeds, st.integers(0, 9_000_000), st.integers(0, 9_000_000))
def test_time_never_makes_or_turns_a_winner(
    seed: int, start: str, ruleset: Ruleset, time: dict[str, Any], p: int, q: int, a_ms: int, b_ms: int
) -> None:
    """§6.3, §7.3: whatever the clocks say, the loser only comes nearer."""
    ruleset = ruleset.changed({"clock": {"type": "none"}, "time": time})
    table = a_match_of(seed, start, ruleset)
    score = play_out(table, Seats(Player(p), Player(q)))
    assume(score.outcome is Outcome.FINISHED)
    games = table.match.games
    plain = settle(ruleset.changed({"time": {"mode": "off"}}), games, Seats(0, 0))
    timed = settle(ruleset, games, Seats(a_ms, b_ms))
    assert (timed.winner, timed.net_for_A) == (plain.winner, plain.net_for_A)
    for seat in Seat:
        if plain.points[seat] > 0:
            assert 0 < timed.points[seat] <= plain.points[seat]
        else:
            assert plain.points[seat] <= timed.points[seat] <= 0
            assert (timed.points[seat] == 0) is (plain.points[seat] == 0)
    winner = plain.winner
    if winner is not None and Seats(a_ms, b_ms)[winner] <= Seats(a_ms, b_ms)[winner.other]:
        assert timed.points == plain.points, "a quicker winner keeps all"


def wire(match: Match, display: Seat | None, drafts: Any = None) -> bytes:
    return msgspec.json.encode(view_for(match, display, drafts or Seats((), ())))


def refusal(match: Match, command: Command) -> Any:
    """What the sender is told."""
    try:
        decide(match, command)
    except RuleError as refused:
        return refused.code, refused.detail, refused.params
    return "accepted"


rubbish_hops = st.lists(st.builds(Hop, st.integers(-2, 30), st.integers(-2, 30)), max_size=6).map(tuple)


def rubbish(match: Match, at: int) -> st.SearchStrategy[Command]:
    """Commands of every kind, most of which cannot be."""
    seat, numbers = st.sampled_from(Seat), st.integers(-400, 400)
    turn = st.sampled_from([match.turn or Turn(1), Turn(1), Turn(99)])
    return st.one_of(
        st.builds(MakePlay, seat, turn, rubbish_hops, st.just(at), numbers),
        st.builds(Resign, seat, turn, numbers, st.just(at)),
        st.builds(OfferDraw, seat, turn, st.just(at)),
        st.builds(AcceptDraw, seat, turn, st.just(at)),
        st.builds(CommitSeed, seat, st.text(max_size=3), st.just(at)),
        st.builds(RevealSeed, seat, st.text(max_size=3), st.just(at)),
        st.builds(OrderPause, st.just("Olga"), st.sampled_from(["", "why not"]), st.just(at)),
        st.builds(GiveBack, st.integers(0, 9_000), st.just(at)),
    )


def after_some_phases(seed: int, start: str, ruleset: Ruleset, players: Seats[Player], phases: int) -> Table:
    """A match in which so many phases have been played, if it lasts so long."""
    table = a_match_of(seed, start, ruleset)
    for _ in range(phases):
        before, happened = table.match, len(table.events)
        play_phase(table, players, players.A)
        if table.match.score is not None:
            table.match, table.events = before, table.events[:happened]
            break
    return table


@whole_matches(180)
@given(seeds, starts, rulesets, seeds, seeds, st.integers(0, 30), st.data())
def test_a_refused_command_changes_nothing_and_an_accepted_one_is_the_same_again(
    seed: int, start: str, ruleset: Ruleset, p: int, q: int, phases: int, data: st.DataObject
) -> None:
    """Whatever comes in, the match, and what every display shows, is as before; or as the events say."""
    table = after_some_phases(seed, start, ruleset, Seats(Player(p), Player(q)), phases)
    match, twin = table.match, replay(a_match_of(seed, start, ruleset).start, table.events)
    command = data.draw(rubbish(match, table.at(data.draw(st.integers(0, 5_000)))))
    answer = refusal(match, command)
    assert match == twin, "asking changes nothing"
    assert refusal(twin, command) == answer
    if answer == "accepted":
        events, after = unfold(match, command)
        assert decide(twin, command) == events
        twin = replay(twin, events)
        assert after == twin, "what is decided on is what the events give"
        match = after
    else:
        assert all(answer[:2])
    assert [wire(match, display) for display in (A, B, None)] == [
        wire(twin, display) for display in (A, B, None)
    ]


@whole_matches(180)
@given(seeds, starts, rulesets, seeds, seeds, st.integers(0, 40), st.integers(0, 20_000), st.data())
def test_a_hidden_play_changes_nothing_for_anybody_else(
    seed: int, start: str, ruleset: Ruleset, p: int, q: int, phases: int, thought: int, data: st.DataObject
) -> None:
    """CASES C1, C4, A17: two matches that differ in it give the same views, the same price, the same refusals."""
    table = after_some_phases(seed, start, ruleset, Seats(Player(p), Player(q)), phases)
    hider = data.draw(st.sampled_from(Seat))
    other = hider.other
    match, turn = table.match, table.turn
    assume(match.owes(hider) and match.owes(other))
    plays = table.plays_of(hider)
    assume(len(plays) > 1 and match.can_move(other))
    one, two = data.draw(st.lists(st.sampled_from(range(len(plays))), min_size=2, max_size=2, unique=True))
    after = []
    for index in (one, two):
        try:
            events = decide(match, MakePlay(hider, turn, hops_of(plays[index]), table.at(thought), 40))
        except RuleError:
            assume(False)
        after.append(replay(match, events))
    first, second = after
    assume(first.turn == turn and first.score is None)
    assert first.plays[hider] != second.plays[hider]
    draft = hops_of(data.draw(st.sampled_from(table.plays_of(other))))
    for display in (other, None):
        drafts = Seats((), ()).with_(other, draft)
        stale = drafts.with_(hider, hops_of(plays[one]))
        assert wire(first, display, drafts) == wire(second, display, drafts) == wire(second, display, stale)
    assert resign_price(first, other) == resign_price(second, other)
    command = data.draw(rubbish(match, table.at(thought + 10)))
    if getattr(command, "seat", other) is other:
        assert refusal(first, command) == refusal(second, command)
    here, there = (replay(each, decide(each, Leave(other, table.at(thought + 5)))) for each in after)
    assert next_deadline(here) == next_deadline(there)
    if here.score is None:
        assert wire(here, other) == wire(there, other)


@whole_matches(100)
@given(seeds, starts, rulesets, seeds, seeds, st.integers(0, 30), st.data())
def test_a_draft_or_an_offer_changes_nothing_for_one_who_has_not_played(
    seed: int, start: str, ruleset: Ruleset, p: int, q: int, phases: int, data: st.DataObject
) -> None:
    table = after_some_phases(seed, start, ruleset, Seats(Player(p), Player(q)), phases)
    hider = data.draw(st.sampled_from(Seat))
    match = table.match
    assume(match.owes(hider) and match.owes(hider.other))
    draft = hops_of(data.draw(st.sampled_from(table.plays_of(hider))))
    drafts = Seats((), ()).with_(hider, draft[: data.draw(st.integers(0, len(draft)))])
    for display in (hider.other, None):
        plain = wire(match, display)
        assert wire(match, display, drafts) == plain
        if ruleset.draw_offers != "off":
            offered = replay(match, decide(match, OfferDraw(hider, table.turn, table.at(0))))
            assert wire(offered, display) == plain


@whole_matches(100)
@given(seeds, starts, rulesets, seeds, seeds)
def test_no_view_of_a_running_match_holds_its_seed_and_all_displays_hold_the_same_public_part(
    seed: int, start: str, ruleset: Ruleset, p: int, q: int
) -> None:
    table = a_match_of(seed, start, ruleset)
    players = Seats(Player(p, 0.1), Player(q, 0.1))
    secret = table.match.server_seed.hex().encode()
    for _ in range(20):
        if table.match.score is not None:
            break
        views = [view_for(table.match, display) for display in (A, B, None)]
        for view in views:
            assert secret not in msgspec.json.encode(view)
        a, b, x = (
            msgspec.json.encode(replace(view, seat=None, mine=None, theirs=None, draw_offer=None))
            for view in views
        )
        assert a == b == x
        play_phase(table, players, players.A)


@whole_matches(90)
@given(seeds, starts, rulesets, seeds, seeds)
def test_a_price_is_at_least_a_point_and_what_is_charged(
    seed: int, start: str, ruleset: Ruleset, p: int, q: int
) -> None:
    """Resigning is never free but where the rules say so, and charges what was shown."""
    table = after_some_phases(seed, start, ruleset, Seats(Player(p), Player(q)), 1 + p % 25)
    match = table.match
    for seat in Seat:
        if not match.owes(seat):
            continue
        price = resign_price(match, seat)
        mine = view_for(match, seat).mine
        assert mine is not None
        if price is None:
            assert match.is_last_move or match.turn == Turn(1)
            assert mine.resign == {"game": None, "points": 0}
            continue
        assert price.points >= ruleset.forfeit_min
        assert ruleset.forfeit_cap is None or price.points <= ruleset.forfeit_cap
        assert mine.resign == {"game": price.game.value, "points": price.points}
        ended = replay(match, decide(match, Resign(seat, table.turn, price.points, table.at(0)))).score
        assert ended is not None
        assert ended.points[seat] == -price.points
        assert ended.winner is seat.other


def test_the_positions_to_start_from_are_positions() -> None:
    for text in STARTS:
        position: Position = pos(text)
        assert all(
            not (mine and their)
            for mine, their in zip(position.mine[1:25], position.theirs[24:0:-1], strict=True)
        )
