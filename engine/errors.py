"""Why a wish is refused. Every kind has a stable code for programs and parameters for the words of a page."""

from __future__ import annotations

from typing import ClassVar

Param = str | int | None


class RuleError(Exception):
    """A command, a play or a setting that the rules refuse; nothing has happened."""

    code: ClassVar[str] = "rule"

    def __init__(self, detail: str, **params: Param) -> None:
        super().__init__(detail)
        self.detail = detail
        self.params: dict[str, Param] = params


class BadPosition(RuleError):
    """Checkers that cannot stand like that: a wrong count, or two sides on one point (§2.1)."""

    code = "bad-position"


class BadRoll(RuleError):
    """Two dice show 1 to 6 each."""

    code = "bad-roll"


class IllegalPlay(RuleError):
    """The play is not legal; `because` is one of the reasons below (§2).

    not-that-die · closed-point · both-dice · larger-die · bar-first · not-all-home · higher-first · no-checker ·
    unknown-point · too-many-moves · no-legal-play · not-a-play
    """

    code = "illegal-play"

    def __init__(self, play: str, roll: str, because: str, detail: str, **params: Param) -> None:
        super().__init__(
            f"{play or 'An empty play'} is not a legal play of {roll}: {detail}.",
            play=play,
            roll=roll,
            because=because,
            **params,
        )


class StaleTurn(RuleError):
    """The message belongs to a turn that is not open."""

    code = "stale-turn"

    def __init__(self, named: str, now: str | None) -> None:
        super().__init__(f"Turn {named} is not open.", named=named, now=now)


class AlreadyPlayed(RuleError):
    """There is no undo after a play (§5.2)."""

    code = "already-played"

    def __init__(self, turn: str) -> None:
        super().__init__(f"You have played turn {turn} already.", turn=turn)


class NotStarted(RuleError):
    """The dice are still being agreed on (§9.1)."""

    code = "not-started"

    def __init__(self) -> None:
        super().__init__("The match has not started yet.")


class MatchIsOver(RuleError):
    """Nothing can be done in a finished match."""

    code = "match-over"

    def __init__(self) -> None:
        super().__init__("The match is over.")


class TimeIsUp(RuleError):
    """The play came after the flag (§7.2)."""

    code = "time-is-up"

    def __init__(self) -> None:
        super().__init__("Your time is up.")


class MatchIsPaused(RuleError):
    """An arbiter has paused the match (§8.5)."""

    code = "match-paused"

    def __init__(self, until: int) -> None:
        super().__init__("The match is paused.", until=until)


class CannotResign(RuleError):
    """Resigning is possible only while one owes a play (§8.1)."""

    code = "cannot-resign"

    def __init__(self) -> None:
        super().__init__("You can resign only while you owe a play.")


class PriceChanged(RuleError):
    """The price agreed to is not the price of resigning now (§8.1)."""

    code = "price-changed"

    def __init__(self, shown: int, now: int) -> None:
        super().__init__(f"The price of resigning is {now} points, not {shown}.", shown=shown, now=now)


class BadSeed(RuleError):
    """A client seed that is malformed, late, repeated, or not the one committed to (§9.1)."""

    code = "bad-seed"

    def __init__(self, because: str, detail: str) -> None:
        super().__init__(detail, because=because)


class NoDrawOffer(RuleError):
    """Draw offers are off, or there is none to accept, or one stands already (§8.5)."""

    code = "no-draw-offer"

    def __init__(self, because: str, detail: str) -> None:
        super().__init__(detail, because=because)


class BadDecision(RuleError):
    """An arbiter's decision that the rules do not know (§8.5); `because` is one of these.

    no-reason · in-step · pause-stands · no-pause · no-bank
    """

    code = "bad-decision"

    def __init__(self, because: str, detail: str) -> None:
        super().__init__(detail, because=because)


class BadRuleset(RuleError):
    """A ruleset key or value that does not exist (§11)."""

    code = "bad-ruleset"

    def __init__(self, key: str, detail: str) -> None:
        super().__init__(f"{key}: {detail}.", key=key)


class BadSettings(RuleError):
    """A competition's setting that does not exist or does not go with the others (§12)."""

    code = "bad-settings"

    def __init__(self, key: str, detail: str) -> None:
        super().__init__(f"{key}: {detail}.", key=key)


class EntryRefused(RuleError):
    """An entrant cannot enter, or cannot do that now; `because` is one of these (§12).

    not-open · too-late · full · not-invited · wrong-code · declined · banned · no-such-entrant · not-entered ·
    no-check-in · already-in · already-started · no-such-player · no-bots
    """

    code = "entry-refused"

    def __init__(self, because: str, detail: str, **params: Param) -> None:
        super().__init__(detail, because=because, **params)


class NotNow(RuleError):
    """A competition or a round cannot do that now; `because` is one of these (§12).

    already-open · too-few · not-running · over · round-open · no-round · not-drafted · not-published · started ·
    not-started · not-swiss · matches-run · stage-complete · analysis-missing · paused · not-paused · too-early ·
    depended-on · nothing-taken
    """

    code = "not-now"

    def __init__(self, because: str, detail: str, **params: Param) -> None:
        super().__init__(detail, because=because, **params)


class BadPairings(RuleError):
    """Pairings made by hand that cannot stand, or only with a reason given (§12.3).

    `faults` names them, each `kind:entrants`: twice · stranger · alone · left-out · repeat · forbidden · second-bye ·
    two-byes. The first three cannot stand at all.
    """

    code = "bad-pairings"

    def __init__(self, faults: str, detail: str) -> None:
        super().__init__(detail, faults=faults)


class BadResult(RuleError):
    """A result of a match that is not played here, is over already, or needs a winner; `because` (§12).

    no-such-match · not-due · decided · needs-winner · already-reported
    """

    code = "bad-result"

    def __init__(self, because: str, detail: str, **params: Param) -> None:
        super().__init__(detail, because=because, **params)
