"""Other people's programs that pair a Swiss round, asked about the same field.

py4swiss follows FIDE's Dutch system and pairing-core FIDE's team Swiss without colours. The first gives colours too, so
it may find less than a game without colours allows, never more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pairing_core.fide2026 import P26Player, P26Request, pair_2026
from pairing_core.fide2026.models import P26RulesetId
from py4swiss.engines import DutchEngine
from py4swiss.trf import ParsedTrf
from py4swiss.trf.codes import PlayerCode
from py4swiss.trf.results import ColorToken, ResultToken, RoundResult
from py4swiss.trf.sections import PlayerSection, XSection

Pairs = tuple[list[tuple[int, int]], int | None]


@dataclass
class History:
    """Rounds of a Swiss: players 1 … n by seed, and what each did in each round, with a colour made up for judges."""

    players: int
    rounds: int
    results: dict[int, list[tuple[int, str, int]]] = field(
        default_factory=dict
    )  # opponent, colour, points 2/1/0

    def __post_init__(self) -> None:
        self.results = {player: [] for player in range(1, self.players + 1)}

    def score(self, player: int) -> int:
        """Match points: 2, 1, 0; a bye is a win."""
        return sum(points for _, _, points in self.results[player])

    def ranking(self) -> list[int]:
        """Best first; of equal scores the better seed."""
        return sorted(self.results, key=lambda player: (-self.score(player), player))

    def met(self) -> Counter[tuple[int, int]]:
        """How often each two have met."""
        both = ((p, other) for p, lines in self.results.items() for other, _, _ in lines if 0 < p < other)
        return Counter(both)

    def byes(self) -> Counter[int]:
        """How many byes each has had."""
        return Counter({p: sum(not other for other, _, _ in lines) for p, lines in self.results.items()})

    def play(self, one: int, other: int, points: int) -> None:
        """They meet; `points` of two go to the first. Whoever has had fewer whites has white."""
        whites = [sum(colour == "W" for _, colour, _ in self.results[p]) for p in (one, other)]
        white = one if (whites[0], one) <= (whites[1], other) else other
        self.results[one].append((other, "W" if white == one else "B", points))
        self.results[other].append((one, "W" if white == other else "B", 2 - points))

    def rest(self, player: int) -> None:
        """A bye."""
        self.results[player].append((0, "u", 2))


def by_py4swiss(history: History) -> Pairs:
    """The Dutch system's pairing and bye. Raises PairingError where its colours allow none."""
    tokens = {0: ResultToken.LOSS, 1: ResultToken.DRAW, 2: ResultToken.WIN}
    colours = {"W": ColorToken.WHITE, "B": ColorToken.BLACK}
    sections = [
        PlayerSection(
            code=PlayerCode.PLAYER,
            starting_number=player,
            points_times_ten=5 * history.score(player),
            rank=player,
            results=[
                RoundResult(id=other, color=colours[colour], result=tokens[points])
                if other
                else RoundResult(
                    id=0, color=ColorToken.BYE_OR_NOT_PAIRED, result=ResultToken.PAIRING_ALLOCATED_BYE
                )
                for other, colour, points in history.results[player]
            ],
        )
        for player in history.results
    ]
    trf = ParsedTrf(player_sections=sections, x_section=XSection(number_of_rounds=history.rounds))
    trf.validate_contents()
    pairs = [(pairing.white, pairing.black) for pairing in DutchEngine.generate_pairings(trf)]
    return [both for both in pairs if all(both)], next((sum(both) for both in pairs if not all(both)), None)


def by_pairing_core(history: History) -> Pairs:
    """The team system's pairing and bye, without colours."""
    players = tuple(
        P26Player(
            id=player,
            tpn=player,
            score=float(history.score(player)),
            secondary=float(history.score(player)),
            colors="".join(colour for _, colour, _ in lines),
            opponents=tuple(other for other, _, _ in lines if other),
            unplayed=sum(not other for other, _, _ in lines),
            got_pab=any(not other for other, _, _ in lines),
            played=sum(bool(other) for other, _, _ in lines),
        )
        for player, lines in history.results.items()
    )
    number = len(history.results[1]) + 1
    rules = P26RulesetId(system="team", effective_date="2026-02-01", team_colour_type="none")
    found = pair_2026(
        P26Request(players=players, ruleset=rules, round_number=number, total_rounds=history.rounds)
    )
    return [(each.white_id, each.black_id) for each in found.pairs], found.bye_id
