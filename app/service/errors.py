"""What the server refuses for reasons other than the rules of the game. Each kind has a code and a status."""

from __future__ import annotations

from typing import ClassVar, Literal

Param = str | int | None
HintRefused = Literal["hint-rated", "hint-not-owed"]
Missing = Literal["restart", "matches", "database", "schema"]


class AppError(Exception):
    """A request that is refused; nothing has happened."""

    code: ClassVar[str] = "bad-request"
    status: ClassVar[int] = 400

    def __init__(self, detail: str, **params: Param) -> None:
        super().__init__(detail)
        self.detail = detail
        self.params: dict[str, Param] = params


class NoSuchMatch(AppError):
    """There is no match with this id or invite code."""

    code, status = "no-such-match", 404

    def __init__(self) -> None:
        super().__init__("There is no such match.")


class NoName(AppError):
    """A player without a session wants to play."""

    code, status = "no-name", 401

    def __init__(self) -> None:
        super().__init__("Say your name first.")


class BadToken(AppError):
    """A token that opens no bot: mistyped, replaced by another one, or revoked."""

    code, status = "bad-token", 401

    def __init__(self) -> None:
        super().__init__("This token is not valid, or not any longer.")


class NotForBots(AppError):
    """What only people do: having a session, bots, hints, or a seat on two devices."""

    code, status = "not-for-bots", 403

    def __init__(self) -> None:
        super().__init__("Bots cannot do this.")


class NoSuchBot(AppError):
    """There is no bot with this id, or it is not the caller's."""

    code, status = "no-such-bot", 404

    def __init__(self) -> None:
        super().__init__("There is no such bot, or it is somebody else's.")


class TooManyBots(AppError):
    """One person may have a bounded number of bots."""

    code, status = "too-many-bots", 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"You have {limit} bots already.", limit=limit)


class TooOften(AppError):
    """The same again and again: names from one address, requests with one token."""

    code, status = "too-often", 429

    def __init__(self, retry_s: int) -> None:
        super().__init__(f"Too often. Try again in {retry_s} s.", retry_s=retry_s)


class RatedMatch(AppError):
    """A match that is waiting for somebody to play for ratings is not for a bot, unless it is invited."""

    code, status = "rated-match", 403

    def __init__(self) -> None:
        super().__init__("A bot can join this rated match by its invite link only.")


class BadName(AppError):
    """A name that cannot be shown."""

    code, status = "bad-name", 422

    def __init__(self, because: str, detail: str, **params: Param) -> None:
        super().__init__(detail, because=because, **params)


class NotYourSeat(AppError):
    """A message about a seat from a display that does not have it."""

    code, status = "not-your-seat", 403

    def __init__(self) -> None:
        super().__init__("You have no seat in this match.")


class NotWaiting(AppError):
    """The match is not waiting for anybody: it has begun, is over, or was cancelled."""

    code, status = "not-waiting", 409

    def __init__(self, state: str) -> None:
        super().__init__("This match is not waiting for a player.", state=state)


class OwnMatch(AppError):
    """One cannot sit down opposite oneself."""

    code, status = "own-match", 409

    def __init__(self) -> None:
        super().__init__("You have a seat in this match already.")


class NeedsInvite(AppError):
    """The match is not open to anyone: it takes the invite link."""

    code, status = "needs-invite", 403

    def __init__(self) -> None:
        super().__init__("This match can be joined by its invite link only.")


class BadSeatSecret(AppError):
    """The secret of a seat link that does not open a seat of this match."""

    code, status = "bad-seat-secret", 403

    def __init__(self) -> None:
        super().__init__("This link opens no seat.")


class MatchStillRuns(AppError):
    """Something that is there only when the match is over."""

    code, status = "match-still-runs", 409

    def __init__(self) -> None:
        super().__init__("The match is still being played.")


class KeyUsed(AppError):
    """An idempotency key that came with another request before."""

    code, status = "key-used", 409

    def __init__(self) -> None:
        super().__init__("This idempotency key was used for another request.")


class TooManyMatches(AppError):
    """One player may have a bounded number of matches that wait or run."""

    code, status = "too-many-matches", 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"You have {limit} matches that wait or run already.", limit=limit)


class NoSuchComputer(AppError):
    """A computer player that this server does not have: it may lack the engine, or have another release of it."""

    code, status = "no-such-computer", 422

    def __init__(self, computer: str, version: str | None = None) -> None:
        super().__init__(
            f"This server has no computer player '{computer}'.", computer=computer, version=version
        )


class NoHint(AppError):
    """Hints are for a play that one owes, in a match that is not rated."""

    code, status = "no-hint", 409
    WORDS: ClassVar[dict[HintRefused, str]] = {
        "hint-rated": "in a rated match nobody is helped",
        "hint-not-owed": "you owe no play now",
    }

    def __init__(self, because: HintRefused) -> None:
        super().__init__(f"No hint: {self.WORDS[because]}.", because=because)


class NoSuchCompetition(AppError):
    """There is no competition with this id."""

    code, status = "no-such-competition", 404

    def __init__(self) -> None:
        super().__init__("There is no such competition.")


class IdTaken(AppError):
    """There is a competition with this id already."""

    code, status = "id-taken", 409

    def __init__(self) -> None:
        super().__init__("There is a competition with this id already.")


class BadCompetition(AppError):
    """A competition cannot be called that; `key` is what is wrong."""

    code, status = "bad-competition", 422

    def __init__(self, key: str, detail: str) -> None:
        super().__init__(f"{key}: {detail}.", key=key)


class StaleVersion(AppError):
    """Something has happened in the competition since the version that a command was meant for."""

    code, status = "stale-version", 412

    def __init__(self, version: int) -> None:
        super().__init__("The competition has changed since.", version=version)


class NotAnEntrant(AppError):
    """The caller has no place in this competition."""

    code, status = "not-an-entrant", 403

    def __init__(self) -> None:
        super().__init__("You are not in this competition.")


class NotArbiter(AppError):
    """Nobody has an arbiter's rights in a competition that he plays in (§8.5)."""

    code, status = "plays-here", 403

    def __init__(self) -> None:
        super().__init__("Nobody judges a competition that he plays in.")


class PlaysWith(AppError):
    """Whoever renews an entrant's link has a match or a competition with him elsewhere that is not over."""

    code, status = NotArbiter.code, NotArbiter.status

    def __init__(self) -> None:
        detail = "You have a match or another event with this entrant that is not over."
        super().__init__(detail, because="plays-with")


class NoRematch(AppError):
    """There are no rematches inside a competition (§12.4)."""

    code, status = "no-rematch", 409

    def __init__(self) -> None:
        super().__init__("There are no rematches in a competition.")


class RoundIsOpen(AppError):
    """Nothing of this match is shown to others until the round is closed (§5.4)."""

    code, status = "round-is-open", 409

    def __init__(self) -> None:
        super().__init__("Nothing of this match is shown until the round is closed.")


class BadKey(AppError):
    """A key that opens nothing: mistyped, expired or revoked; or neither a key nor a session."""

    code, status = "bad-key", 401

    def __init__(self) -> None:
        super().__init__("This needs a key that is valid, or a session of the site.")


class NoRight(AppError):
    """The caller's key, or the caller, may not do this here; `needs` is the role that may."""

    code, status = "no-right", 403

    def __init__(self, needs: str, has: str | None = None) -> None:
        super().__init__(f"This is for the {needs} of the event.", needs=needs, has=has)


class NoSuchKey(AppError):
    """There is no key with this id among the caller's."""

    code, status = "no-such-key", 404

    def __init__(self) -> None:
        super().__init__("There is no such key.")


class NoLink(AppError):
    """The account of this entrant was made on no list of this owner's: it is not his to open."""

    code, status = "no-link", 409

    def __init__(self) -> None:
        super().__init__("This entrant's account was not made on a list of yours: there is no link to renew.")


class CallRuns(AppError):
    """The same call, under the same idempotency key, is being carried out."""

    code, status = "call-runs", 409

    def __init__(self) -> None:
        super().__init__("This call is being carried out; ask again in a moment.")


class BadTime(AppError):
    """A time that cannot be told for certain; `because` is one of these.

    not-a-time · no-zone · no-such-zone · skipped · twice
    """

    code, status = "bad-time", 422

    def __init__(self, because: str, detail: str, **params: Param) -> None:
        super().__init__(detail, because=because, **params)


class BadList(AppError):
    """A list of entrants that cannot be read at all; `because` is one of these.

    encoding · nobody · too-long · no-name-column
    """

    code, status = "bad-list", 422

    def __init__(self, because: str, detail: str, **params: Param) -> None:
        super().__init__(detail, because=because, **params)


class BadVersion(AppError):
    """What stands in `If-Match` is no version."""

    code, status = "bad-version", 400

    def __init__(self) -> None:
        super().__init__('If-Match holds the version that ETag gave: "12".')


class BadCursor(AppError):
    """A cursor that no page of this list has given."""

    code, status = "bad-cursor", 400

    def __init__(self) -> None:
        super().__init__("This cursor belongs to no page of this list.")


class NotConfirmed(AppError):
    """An adjudication goes by an estimate that has been looked at; this one is of another position, or of none."""

    code, status = "not-confirmed", 409

    def __init__(self) -> None:
        super().__init__(
            "Look at the estimate first: the match has gone on since, or nobody has asked for one."
        )


class NoPicture(AppError):
    """The picture of a card could not be drawn now."""

    code, status = "no-picture", 503

    def __init__(self) -> None:
        super().__init__("The picture could not be drawn; try again in a moment.")


class NobodyJudges(AppError):
    """An analysis is asked for that this server cannot make."""

    code, status = "no-judge", 409
    WORDS: ClassVar[dict[str, str]] = {
        "no-judge": "the strong engine is not installed",
        "off": "it is switched off",
    }

    def __init__(self, because: str) -> None:
        super().__init__(f"This server does not analyse matches: {self.WORDS[because]}.", because=because)


class TooManyAnalyses(AppError):
    """One caller may ask for a bounded number of analyses an hour."""

    code, status = "too-many-analyses", 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"You have asked for {limit} analyses within an hour already.", limit=limit)


class TooManyEvents(AppError):
    """One owner has a bounded number of competitions that are not over."""

    code, status = "too-many-events", 409

    def __init__(self, limit: int) -> None:
        super().__init__(f"You have {limit} competitions that are not over.", limit=limit)


class NotARecord(AppError):
    """A text that is no record of a game that is known here."""

    code, status = "not-recognised", 422


class NoSuchForm(AppError):
    """A form, dialect, school of letters or language of records that there is not."""

    code, status = "unknown-option", 422


class NotHeld(AppError):
    """A form that cannot hold this record, or needs what it does not say; `missing` is a code for what."""

    code, status = "not-in-form", 422


class ReadersBusy(AppError):
    """A few records are read at once, and a few wait."""

    code, status = "readers-busy", 503

    def __init__(self) -> None:
        super().__init__("Many records are being read; try again in a moment.")


class TextTooHard(AppError):
    """A text that cannot be read within the bounds of time and memory."""

    code, status = "text-too-hard", 422

    def __init__(self, seconds: float) -> None:
        super().__init__(f"This text could not be read within {seconds:g} s.", seconds=round(seconds))


class ShuttingDown(AppError):
    """The server is about to restart."""

    code, status = "shutting-down", 503

    def __init__(self) -> None:
        super().__init__("The server is restarting; try again in a moment.")


class NotReady(AppError):
    """The server lives, but nobody should be sent to it now."""

    code, status = "not-ready", 503
    WORDS: ClassVar[dict[Missing, str]] = {
        "restart": "the server is about to stop",
        "matches": "the matches have not been taken up yet",
        "database": "the database does not answer",
        "schema": "the database does not have the schema of this version",
    }

    def __init__(self, missing: Missing) -> None:
        super().__init__(f"Not ready: {self.WORDS[missing]}.", missing=missing)
