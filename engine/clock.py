"""A player's time: what is charged, what is free, when the flag falls (§7). Time is an argument here."""

from __future__ import annotations

from dataclasses import dataclass

from engine.ruleset import ClockRules

LAG_A_TURN_MS = 1_000  # the most that one turn's lag is allowed for (§7.1)
LAG_START_MS, LAG_FILL_MS, LAG_FULL_MS = 3_000, 1_000, 7_000


@dataclass(frozen=True, slots=True)
class Clock:
    """One player's clock between turns: the bank, all thinking charged so far, and the lag quota (all ms)."""

    bank_ms: int
    charged_ms: int = 0
    lag_ms: int = LAG_START_MS

    def lag_allowed(self, thought_ms: int, round_trip_ms: int) -> int:
        """How much of this turn's thinking was the network: never more than the smallest round trip (§7.1)."""
        return max(0, min(LAG_A_TURN_MS, self.lag_ms, round_trip_ms, thought_ms))

    def longest_lag(self) -> int:
        """How long the flag waits for a play that may be on its way (§7.1)."""
        return min(LAG_A_TURN_MS, self.lag_ms)

    def after_thinking(self, rules: ClockRules, thought_ms: int, allowed_ms: int) -> Clock:
        """The clock after a turn that took `thought_ms`, of which `allowed_ms` were lag."""
        charged = thought_ms - allowed_ms
        return Clock(
            bank_ms=_bank_after(rules, self.bank_ms, charged),
            charged_ms=self.charged_ms + charged,
            lag_ms=min(LAG_FULL_MS, self.lag_ms - allowed_ms + LAG_FILL_MS),
        )

    def with_more(self, ms: int) -> Clock:
        """The clock after an arbiter added time (§8.5)."""
        return Clock(self.bank_ms + ms, self.charged_ms, self.lag_ms)


def new_clock(rules: ClockRules) -> Clock:
    """A full bank; for `per_move` the time of one phase, for `none` nothing."""
    return Clock({"per_move": rules.delay_ms, "none": 0}.get(rules.type, rules.bank_ms))


def zero_after(rules: ClockRules, clock: Clock) -> int | None:
    """The thinking in one turn (ms charged) that brings this clock to zero; None without a clock (§7.2)."""
    match rules.type:
        case "none":
            return None
        case "simple":
            return rules.delay_ms + clock.bank_ms
        case _:  # bronstein gives back and fischer adds afterwards; per_move has one limit a phase
            return clock.bank_ms


def free_ms(rules: ClockRules) -> int:
    """Thinking at the start of every turn that leaves the bank alone."""
    return rules.delay_ms if rules.type == "simple" else 0


def _bank_after(rules: ClockRules, bank_ms: int, charged_ms: int) -> int:
    match rules.type:
        case "simple":
            return max(0, bank_ms - max(0, charged_ms - rules.delay_ms))
        case "bronstein":
            return max(0, bank_ms - charged_ms) + min(charged_ms, rules.delay_ms)
        case "fischer":
            return max(0, bank_ms - charged_ms) + rules.delay_ms
        case _:
            return bank_ms
