"""Competitions that run: real matches, made and ended by servers; on both databases, over restarts and deaths."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from app.dicecheck import check
from app.engines.levels import Level
from app.service.competitions import BoardShown
from app.service.computers import Computers
from app.service.errors import NotArbiter, RoundIsOpen
from app.service.recompute import recompute
from app.service.records import match_file
from app.settings import Settings
from app.store.ids import new_id
from app.store.matches import StoredMatch
from engine.competition import commands as c
from engine.dice import DiceSeeds, commitment, roll_for
from engine.match import SetResult
from engine.turn import Seat, Seats, Turn
from tests.support.competing import (
    Player,
    Server,
    a_server,
    announce,
    first_way,
    until_state,
    wall_clock,
)
from tests.support.nodes import is_server, until
from tests.support.stores import settings_of

CUP: dict[str, Any] = {
    "stages": [
        {"kind": "qualifying", "matches": 2, "computer": "beginner"},
        {"kind": "groups", "size": 2},
    ]
}
SHORT: dict[str, Any] = {  # four matches of three entrants
    "stages": [
        {"kind": "qualifying", "matches": 1, "computer": "beginner"},
        {"kind": "round_robin", "take": 2},
    ]
}
ONE_ROUND: dict[str, Any] = {"stages": [{"kind": "swiss", "rounds": 1}], "pace": {"mode": "manual"}}


class Clock:
    """The time of the wall, but for what a test puts it forward by."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return wall_clock() + self.ahead

    @contextlib.asynccontextmanager
    async def hurry(self) -> AsyncIterator[None]:
        """Meanwhile it goes twenty times as fast."""

        async def hurry() -> None:
            while True:
                await asyncio.sleep(0.02)
                self.ahead += 400

        hurrying = asyncio.create_task(hurry())
        try:
            yield
        finally:
            hurrying.cancel()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def server(store_settings: Settings, clock: Clock) -> AsyncIterator[Server]:
    async with a_server(store_settings, "one", clock) as running:
        yield running


async def everybody(server: Server, competition_id: str, players: list[Player]) -> None:
    """All take part until it is over."""
    async with asyncio.timeout(60):
        await asyncio.gather(*(player.take_part(server, competition_id) for player in players))


async def test_a_whole_event_with_real_matches(server: Server, clock: Clock) -> None:
    event, players = await announce(server, 4, clock(), **CUP)
    await everybody(server, event, players)
    view = await server.competitions.view(event)
    assert view.state == "finished"
    assert sorted(place.entrant for place in view.places) == [1, 2, 3, 4]
    assert not any(player.refused for player in players)
    done = await recompute(server.store, event)
    assert (done.matches, done.differences) == (10, ())
    # Of four, two and two decided alike on the same dice: their results are the same (§4.6, §12.1).
    for round_ in view.stages[0].rounds:
        points = {meeting.a: meeting.matches[0].points for meeting in round_.meetings}
        assert points[1] == points[3] == Seats(0, 0)  # the computer's own way against itself
        assert points[2] == points[4]
    # Start rating = base + Σ; less time and lot have told like from like.
    table = (await server.competitions.standings(event, 1)).tables[0]
    assert {row.entrant for row in table.rows[:2]} in ({1, 3}, {2, 4})
    # Anyone can check the dice of a round that is closed (§9.3).
    await disclosed(server, event)
    for board, round_ in zip(await server.competitions.boards(event), view.stages[0].rounds, strict=True):
        assert board.server_seed is not None
        assert board.shared_seed is not None
        assert commitment(bytes.fromhex(board.server_seed)) == board.commitment
        assert board.seeds == {number: player.seed for number, player in enumerate(players, 1)}
        seeds = DiceSeeds(bytes.fromhex(board.server_seed), board.dice_id, Seats(board.shared_seed, "0" * 32))
        for meeting in round_.meetings:
            replayed = await server.matches.download(meeting.matches[0].id)
            checked = check(msgspec.json.encode(match_file(replayed)))
            assert (checked.rolls, checked.wrong) == (len(replayed.phases), ())
            for phase in replayed.phases:
                turn = Turn.parse(phase.turn)
                assert turn is not None
                roll = roll_for(seeds, turn, opening_double=False)
                assert phase.roll == (roll.first, roll.second)


async def test_points_of_a_competition_are_its_own(server: Server, clock: Clock) -> None:
    """They move no rating of `open`; the strength moves by matches between people (§10)."""
    event, players = await announce(server, 2, clock(), stages=[{"kind": "round_robin", "legs": 2}])
    await everybody(server, event, players)
    accounts = [player.account for player in players]
    ratings = await server.store.accounts.ratings(accounts, clock())
    assert [ratings[account].points for account in accounts] == [1000, 1000]
    view = await server.competitions.view(event)
    total = [0, 0]
    for round_ in view.stages[0].rounds:
        (match,) = round_.meetings[0].matches
        assert match.points is not None
        for seat in Seat:
            total[match.entrants[seat] - 1] += match.points[seat]
    assert [entrant.points for entrant in view.entrants] == [1000 + total[0], 1000 + total[1]]
    strengths = [ratings[account].strength_in("short").r for account in accounts]
    assert (strengths[0] > 1500 > strengths[1]) == (total[0] > 0) or total == [0, 0]
    assert await server.store.matches.recompute_ratings() == ()


# ------------------------------------------------------------------------------------------------------- secrecy


async def started(player: Player, server: Server, event: str) -> str:
    """The match that is next for a player, once it is made."""
    while True:
        mine = await server.competitions.mine(event, player.account)
        if mine.next.kind == "play" and mine.next.is_made:
            assert mine.next.match is not None
            return mine.next.match
        await asyncio.sleep(0.02)


async def test_of_an_open_round_nobody_gets_anything(server: Server, clock: Clock) -> None:
    event, (one, two) = await announce(
        server, 2, clock(), stages=[{"kind": "qualifying", "matches": 1, "computer": "beginner"}]
    )
    mine, other = await started(one, server, event), await started(two, server, event)
    gate = asyncio.Event()
    playing = asyncio.create_task(one.play(server, mine))
    slow = Slow(two.account, two.name, gate=gate)
    thinking = asyncio.create_task(slow.play(server, other))
    await until(lambda: one.views.get(mine) and one.views[mine][-1].waits and one.views[mine][-1].turn)
    assert one.views[mine][-1].turn == "1W"
    # The first one gives up in mid-round, and his match is over; the second one still plays.
    display = await server.matches.connect(mine, one.account)
    gate.set()
    await until(lambda: one.views[mine][-1].turn not in ("1W", None) and one.views[mine][-1].mine)
    await server.matches.disconnect(display)
    with pytest.raises(RoundIsOpen):  # an answer would tell whether it still runs
        await server.arbiter.set_result(event, mine, -5, "he is unwell", actor=await boss_of(server, event))
    await server.matches.order(mine, lambda at: SetResult("the server", -5, "for a test", at))
    await asyncio.wait_for(playing, 10)
    slow.gate.clear()
    ended = one.views[mine][-1]
    assert (ended.stage, ended.dice.seed) == ("over", None)
    assert ended.dice.commitment == (await server.competitions.boards(event))[0].commitment
    shown = [(await server.competitions.mine(event, player.account)).next for player in (one, two)]
    assert [(found.kind, found.match, found.is_made) for found in shown] == [
        ("done", None, False),
        ("play", other, True),
    ]
    stranger = (await server.store.accounts.create_guest("Eve", clock())).id
    boss = await boss_of(server, event)
    for match_id in (mine, other):
        for caller in (None, stranger, boss, two.account if match_id == mine else one.account):
            with pytest.raises(RoundIsOpen):
                await server.matches.connect(match_id, caller)
            with pytest.raises(RoundIsOpen):
                await server.lobby.info(match_id, caller)
            with pytest.raises(RoundIsOpen):
                await server.matches.history(match_id, None)
            with pytest.raises(RoundIsOpen):
                await server.matches.download(match_id)
            with pytest.raises(RoundIsOpen):
                await server.matches.view(match_id, None)
    with pytest.raises(RoundIsOpen):
        await server.arbiter.estimate(event, other)
    with pytest.raises(RoundIsOpen):
        await server.matches.connect(mine, one.account, watch=True)
    assert (
        await server.matches.history(mine, Seat.A)
    ).view.dice.seed is None  # his own, without the dice to come
    assert [live.info.id for live in (await server.lobby.lobby(stranger)).live] == []
    (board,) = await server.competitions.boards(event)
    assert (board.server_seed, board.shared_seed, board.seeds) == (None, None, None)
    # Two competitions that differ only in what nobody may know look the same to everybody.
    view = await server.competitions.organiser_view(event)
    (round_,) = view.view.stages[0].rounds
    assert [(meeting.verdict, meeting.matches) for meeting in round_.meetings] == [(None, ()), (None, ())]
    assert view.overdue == ()
    assert [entrant.points for entrant in view.view.entrants] == [1000, 1000]
    facts = [fact["type"] for row in await server.competitions.history(event) for fact in row.facts]
    assert facts[-1] == "round-started"
    version = view.version
    await asyncio.sleep(1.5)  # the runner has looked again: nothing has come of the match that is over
    assert (await server.competitions.organiser_view(event)).version == version
    # The second one ends; the round is closed by itself, and everything can be seen.
    slow.gate.set()
    await asyncio.wait_for(thinking, 30)
    await until_state(server, event, "finished")
    board = await disclosed(server, event)
    replayed = await server.matches.download(mine)
    assert replayed.view.dice.seed == board.server_seed
    watcher = await server.matches.connect(other, None)
    await server.matches.disconnect(watcher)
    (round_,) = (await server.competitions.view(event)).stages[0].rounds
    assert {meeting.a: meeting.matches[0].points for meeting in round_.meetings}[1] == Seats(-5, 5)
    assert (await recompute(server.store, event)).differences == ()


async def disclosed(server: Server, event: str, patience_s: float = 5.0) -> BoardShown:
    """The first board, once its round is closed."""
    async with asyncio.timeout(patience_s):
        while True:
            boards = await server.competitions.boards(event)
            if boards and boards[0].server_seed is not None:
                return boards[0]
            await asyncio.sleep(0.02)


async def ended(server: Server, match: str) -> StoredMatch:
    """A match, once it is over."""
    async with asyncio.timeout(5):
        while True:
            stored = await server.store.matches.load(match)
            assert stored is not None
            if stored.state == "over":
                return stored
            await asyncio.sleep(0.02)


async def boss_of(server: Server, event: str) -> str:
    return await server.competitions.owner(event)


class Slow(Player):
    """A player who plays only while the gate is open."""

    def __init__(self, account: str, name: str, *, gate: asyncio.Event) -> None:
        super().__init__(account, name)
        self.gate = gate

    async def ready(self) -> None:
        await self.gate.wait()


# ----------------------------------------------------------------------------------------- who does not come, or leaves


async def test_who_never_comes_to_a_board_concedes_it(server: Server, clock: Clock) -> None:
    quick = {"reveal_ms": 0, "auto_pass_ms": 0, "absence_s": 1}
    event, players = await announce(server, 3, clock(), ruleset=quick, **CUP)
    async with clock.hurry():
        await everybody(server, event, players[:2])
    view = await server.competitions.view(event)
    assert [place.entrant for place in view.places][-1] == 3  # never played: last (§12.6)
    for round_ in view.stages[0].rounds:
        (match,) = next(meeting for meeting in round_.meetings if meeting.a == 3).matches
        assert (match.ending, match.points) == ("no-show", Seats(-90, 90))
    assert (await recompute(server.store, event)).differences == ()


@pytest.mark.parametrize("coming", [0, 1])
async def test_a_no_show_is_found_and_the_match_moves_no_rating(
    server: Server, clock: Clock, coming: int
) -> None:
    event, players = await announce(
        server, 2, clock(), **{**ONE_ROUND, "pace": {"mode": "auto", "break_ms": 0}}
    )
    match = await started(players[0], server, event)
    displays = [await server.matches.connect(match, player.account) for player in players[:coming]]
    clock.ahead += 290_000
    await asyncio.sleep(1.2)
    assert (await server.competitions.view(event)).state == "running"
    clock.ahead += 11_000
    await until_state(server, event, "finished")
    view = await server.competitions.view(event)
    verdict = view.stages[0].rounds[0].meetings[0].verdict
    assert verdict is not None
    assert verdict.how == ("forfeit" if coming else "both-absent")
    assert sorted(verdict.points) == ([-90, 90] if coming else [0, 0])
    stored = await ended(server, match)
    assert stored.ratings is None
    assert (await recompute(server.store, event)).differences == ()
    for display in displays:
        await server.matches.disconnect(display)


async def test_who_is_thrown_out_in_mid_match_has_lost_it(server: Server, clock: Clock) -> None:
    event, players = await announce(server, 4, clock(), **ONE_ROUND)
    boss = await boss_of(server, event)
    for wish in (c.DraftRound, c.PublishRound, c.StartRound):
        await server.competitions.act(event, wish, actor=boss)
    match = await started(players[0], server, event)
    display = await server.matches.connect(match, players[0].account)
    await server.competitions.act(event, lambda at: c.Ban(1, boss, "cheated", at), actor=boss)
    rest = [asyncio.create_task(player.take_part(server, event)) for player in players[1:]]
    await until(lambda: display.is_closed or (display._view is not None and display._view.stage == "over"))
    stored = await server.store.matches.load(match)
    assert stored is not None
    assert stored.ratings is None
    view = await server.competitions.view(event)
    meeting = next(one for one in view.stages[0].rounds[0].meetings if 1 in (one.a, one.b))
    assert meeting.verdict is not None
    assert (meeting.verdict.how, meeting.verdict.winner) == (
        "forfeit",
        meeting.b if meeting.a == 1 else meeting.a,
    )
    async with asyncio.timeout(30):
        while True:
            done = await server.competitions.view(event)
            verdicts = [one.verdict for one in done.stages[0].rounds[0].meetings]
            if all(verdict is not None and verdict.how != "open" for verdict in verdicts):
                break
            await asyncio.sleep(0.05)
    for wish in (c.CloseRound, c.Finish):
        await server.competitions.act(event, wish, actor=boss)
    await asyncio.gather(*rest)
    assert [place.entrant for place in (await server.competitions.view(event)).places] != []
    assert (await recompute(server.store, event)).differences == ()
    await server.matches.disconnect(display)


async def test_a_competition_that_is_called_off_ends_its_matches(server: Server, clock: Clock) -> None:
    event, players = await announce(
        server, 2, clock(), **{**ONE_ROUND, "pace": {"mode": "auto", "break_ms": 0}}
    )
    match = await started(players[0], server, event)
    boss = await boss_of(server, event)
    await server.competitions.act(event, lambda at: c.Cancel(boss, "no light", at), actor=boss)
    await ended(server, match)


async def test_a_round_whose_time_is_over_is_ended_by_the_formula(server: Server, clock: Clock) -> None:
    """Both leads at the last round's end, × 1/2, truncated (§8.5)."""
    event, players = await announce(
        server,
        2,
        clock(),
        stages=[{"kind": "swiss", "rounds": 1, "round_ms": 600_000}],
        ruleset={"reveal_ms": 0, "auto_pass_ms": 0, "clock": {"bank_ms": 3_600_000}},
    )
    match = await started(players[0], server, event)
    gates = [asyncio.Event(), asyncio.Event()]
    slow = [Slow(player.account, player.name, gate=gate) for player, gate in zip(players, gates, strict=True)]
    slow[1].choose = first_way
    for gate in gates:
        gate.set()
    tasks = [asyncio.create_task(player.play(server, match)) for player in slow]
    # By then good dice do not make up for bad plays.
    await until(lambda: match in slow[0].views and int((slow[0].views[match][-1].turn or "1W")[:-1]) > 11)
    for gate in gates:
        gate.clear()
    await asyncio.sleep(0.2)
    estimate = await server.arbiter.estimate(event, match)
    formula, equity = estimate.formula_for_A, estimate.equity_for_A
    assert estimate.round >= 11
    assert equity is not None  # the heuristic has played better than the first way
    assert (equity > 0) == (slow[0].account == (await server.store.matches.load(match)).players.A)  # type: ignore[union-attr]
    clock.ahead += 600_000
    await until_state(server, event, "finished")
    for gate in gates:
        gate.set()
    await asyncio.gather(*tasks)
    (shown,) = (await server.competitions.view(event)).stages[0].rounds[0].meetings[0].matches
    assert shown.points == Seats(formula, -formula)


# ------------------------------------------------------------------------------------------------------- arbiters


async def test_what_an_arbiter_does_with_a_match(server: Server, clock: Clock) -> None:
    event, players = await announce(
        server, 2, clock(), **{**ONE_ROUND, "pace": {"mode": "auto", "break_ms": 0}}
    )
    boss = await boss_of(server, event)
    match = await started(players[0], server, event)
    display = await server.matches.connect(match, players[0].account)
    with pytest.raises(NotArbiter):
        await server.arbiter.void(event, match, "I lose", actor=players[0].account)
    await server.arbiter.add_time(event, match, "A", 60_000, "the lift was stuck", actor=boss)
    view = await server.matches.view(match, None)
    assert view is not None
    assert view.seats.A.bank_ms == 300_000
    await server.arbiter.pause(event, match, "fire alarm", actor=boss)
    await server.arbiter.resume(event, match, "false alarm", actor=boss)
    # Replayed on new dice: the match counts for nothing, and another is made for it.
    await server.arbiter.void(event, match, "the clock was wrong", actor=boss)
    async with asyncio.timeout(5):
        while (again := await started(players[0], server, event)) == match:
            await asyncio.sleep(0.02)
    assert again == match.removesuffix("M1") + "M2"
    first, second = await server.store.matches.load(match), await server.store.matches.load(again)
    assert first is not None
    assert second is not None
    assert first.server_seed != second.server_seed
    await server.arbiter.set_result(event, again, 12, "agreed by both", actor=boss)
    await until_state(server, event, "finished")
    shown = (await server.competitions.view(event)).stages[0].rounds[0].meetings[0].matches
    assert [(one.ending, one.points) for one in shown] == [("void", Seats(0, 0)), ("played", Seats(12, -12))]
    await server.matches.disconnect(display)
    assert (await recompute(server.store, event)).differences == ()


# --------------------------------------------------------------------------------------------- restarts, two servers


async def test_a_round_goes_on_after_a_restart(store_settings: Settings, clock: Clock) -> None:
    async with a_server(store_settings, new_id(), clock) as first:
        event, players = await announce(first, 3, clock(), **SHORT)
        tasks = [asyncio.create_task(player.take_part(first, event)) for player in players]
        await until(
            lambda: any(view.turn and view.turn > "3W" for seen in players[0].views.values() for view in seen)
        )
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    async with a_server(store_settings, new_id(), clock) as second:
        await everybody(second, event, players)
        assert (await second.competitions.view(event)).state == "finished"
        done = await recompute(second.store, event)
        assert (done.matches, done.differences) == (4, ())


async def test_two_servers_share_a_competition_and_one_dies(
    migrated_postgres_url: str, tmp_path: Any, clock: Clock
) -> None:
    settings = settings_of(migrated_postgres_url, tmp_path)
    async with a_server(settings, "n1", clock) as first:
        assert is_server(first.store)
        event, players = await announce(first, 3, clock(), **SHORT)
        async with a_server(settings, "n2", clock) as second:
            here = [asyncio.create_task(player.take_part(first, event)) for player in players[:2]]
            there = [asyncio.create_task(player.take_part(second, event)) for player in players[2:]]
            await until(
                lambda: any(
                    view.turn and view.turn > "3W" for seen in players[2].views.values() for view in seen
                ),
                30,
            )
            # Both look after it at once, as when a claim lapses under somebody's hands: nothing is done twice.
            for _ in range(3):
                for one in (first, second):
                    one.runner._mine = frozenset({event})
                await asyncio.gather(first.runner.look_after(event), second.runner.look_after(event))
            # The one that began it loses its tasks without a word, as a process does that is killed.
            for task in [*first.runner._tasks, *first.matches._tasks, *here]:
                task.cancel()
            await asyncio.gather(*here, return_exceptions=True)
            async with asyncio.timeout(90):
                await asyncio.gather(*(player.take_part(second, event) for player in players[:2]), *there)
            assert (await second.competitions.view(event)).state == "finished"
            done = await recompute(second.store, event)
            assert (done.matches, done.differences) == (4, ())
            assert not any(player.refused for player in players[2:])


async def test_a_server_that_lacks_the_computer_of_an_event_leaves_it(server: Server, clock: Clock) -> None:
    """Its play would be another player's (§12.1)."""
    event, players = await announce(server, 2, clock(), start=False, **SHORT)
    server.runner._computers = Computers(
        [Level("club", "somebody else", "1")], server.runner._computers._thinking
    )
    await server.competitions.start(event, actor=await boss_of(server, event))
    await asyncio.sleep(1.5)
    assert await server.store.matches.of_competition(event) == ()
    assert (await server.competitions.mine(event, players[0].account)).next.is_made is False
    clock.ahead += 6_000
    assert event in await server.store.competitions.claim("another", clock(), clock() + 1)


# ------------------------------------------------------------------------------------------------------- recompute


async def test_what_was_changed_behind_its_back_is_found(server: Server, clock: Clock) -> None:
    event, players = await announce(server, 2, clock(), stages=[{"kind": "round_robin"}])
    await everybody(server, event, players)
    assert (await recompute(server.store, event)).differences == ()

    async def after(change: str) -> set[str]:
        await server.store._database.write(lambda connection: connection.exec_driver_sql(change).rowcount)
        return {one.where for one in (await recompute(server.store, event)).differences}

    match = f"{event}-S1R1T1M1"
    assert await after(f"UPDATE results SET points_a = points_a + 1 WHERE match_id = '{match}'") == {
        f"{match}, points_a"
    }
    wrong = await after(
        "UPDATE competition_facts SET facts = replace(facts, '\"rated\":true', '\"rated\":false')"
        f" WHERE competition = '{event}'"
    )
    assert f"{match}, result" in wrong


async def test_a_board_that_is_not_all_there_waits(server: Server, clock: Clock) -> None:
    """The seed that all share is made when all are in, however slowly the matches are read (§12.1)."""
    hold = server.matches.hold

    async def slowly(match_id: str) -> Any:
        await asyncio.sleep(0.3)
        return await hold(match_id)

    server.matches.hold = slowly  # type: ignore[method-assign]
    event, players = await announce(server, 3, clock(), **SHORT)
    playing = asyncio.create_task(everybody(server, event, players))
    board = await disclosed(server, event, 60)
    assert board.seeds == {number: player.seed for number, player in enumerate(players, 1)}
    await playing
