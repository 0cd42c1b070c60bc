"""Reads records of tabletop curling, with every check that RECORDS §4 names.

Every fault of a text is told, in its place. What is doubtful or was folded is a note: lost underlining, look-alike
letters, a record that breaks off.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from engine.records.curling.record import (
    MOVES_OF_AN_END,
    STARTS,
    Card,
    Dice,
    End,
    Form,
    Hand,
    Language,
    Move,
    Outcome,
    Record,
    Throw,
    Trajectory,
)
from engine.records.text import Fault, Note, Text
from engine.records.wanted import Wanted, any_of, phrase

MOST_TOLD = 100  # faults or notes of one text

_OUTCOME = re.compile(
    r"(?:([0-9]{1,3})\s*[).]\s*)?([0-9]{1,4})\s*:\s*([0-9]{1,4})"
    r"(?:\s*\(\s*([0-9]{1,4})\s*:\s*([0-9]{1,4})\s*\))?"
)
_NUMBERED = re.compile(r"\s*([0-9]{1,3})\s*([).])")
_TRAJECTORY = re.compile(r"(LL|L|RR|R)(/?)([1-9]{2,4})")
_UNDERLINED = re.compile(r"</?u>|_|\u0332|[0-9]|\s+", re.IGNORECASE)

_RANK_LETTERS = {"В": 11, "Д": 12, "К": 13, "Т": 14, "J": 11, "Q": 12, "K": 13, "A": 14}
_RANK_LOOK_ALIKES = {"B": 11, "T": 14, "А": 14}
_SUIT_LETTERS = dict(zip("бчтпdhcs", "dhcsdhcs", strict=True))
_SUIT_SIGNS = dict(zip("♦♥♣♠♢♡♧♤", "dhcsdhcs", strict=True))
_SUIT_LOOK_ALIKES = {"t": "c", "с": "c", "ѕ": "s", "ԁ": "d", "һ": "h"}
# A code, what is expected, and words for what follows the throws of a move.
_REST: dict[Form, tuple[str, Wanted, str]] = {
    "short": ("too-much", phrase("next-move"), "A move has two throws and nothing more."),
    "dice": ("bad-dice", "122_46_ (12233)", "A throw has its final dice in brackets before the trajectory."),
    "cards": ("bad-hand", phrase("hand"), "A throw has its hand in brackets before the trajectory."),
}
_CRUCES = "кk"  # крести, another word for трефы


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault and the stretch of the text that it is in; `fixes` are texts that are well formed in its place."""

    offset: int
    length: int
    fault: Fault
    fixes: tuple[str, ...] = ()


@dataclass(slots=True)
class Parsed:
    """What a text says, with all that is wrong with it in the order of the text."""

    ends: list[End] = field(default_factory=list)
    form: Form = "short"
    language: Language = "ru"
    problems: list[Problem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def record(self) -> Record:
        """The record, where there are no problems."""
        return Record(tuple(self.ends), self.form, self.language)


def parse(text: Text) -> Parsed:
    """Takes a text apart and checks it. Raises nothing: problems are in what comes back."""
    return _Parser(text).parse()


def read_trajectory(text: str) -> Trajectory | None:
    """`LL32`, `R/31`, `RR2321`; None for what is none."""
    found = _TRAJECTORY.fullmatch(text)
    if not found or (found[2] and len(found[3]) != 2):
        return None
    return Trajectory(found[1], tuple(map(int, found[3])), bool(found[2]))


def again(first: str) -> tuple[tuple[int, ...], tuple[tuple[bool, ...], ...]] | None:
    """The dice of a first throw, and for each reading which of them were thrown again; None for what is no throw.

    Underlined dice were: `_46_`, U+0332 after each, `<u>46</u>`. Without any mark spaces part the two kinds, which
    leaves two readings: the first group was kept, or it was thrown again.
    """
    dice: list[int] = []
    marks: list[bool] = []
    groups: list[bool] = []
    is_open, is_marked, group = False, False, True
    end = 0
    for sign in _UNDERLINED.finditer(first):
        if sign.start() != end:
            return None
        end = sign.end()
        if sign[0].isspace():
            group = not group if dice else group
        elif sign[0] == "\u0332":
            if not dice:
                return None
            marks[-1] = is_marked = True
        elif sign[0].isdigit():
            dice.append(int(sign[0]))
            marks.append(is_open)
            groups.append(not group)
        else:
            closes = is_open if sign[0] == "_" else sign[0].startswith("</")
            if closes is not is_open:
                return None
            is_open, is_marked = not is_open, True
    if end != len(first) or is_open:
        return None
    if is_marked:
        return tuple(dice), (tuple(marks),)
    return tuple(dice), (tuple(groups), tuple(not mark for mark in groups))


def is_kept(dice: Sequence[int], reading: Sequence[bool], final: Sequence[int]) -> bool:
    """Are the dice that were not thrown again all in the final throw?"""
    kept = Counter(die for die, thrown_again in zip(dice, reading, strict=True) if not thrown_again)
    return kept <= Counter(final)


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of the text."""

    text: str
    offset: int

    def stripped(self) -> _Part:
        return _Part(self.text.strip(), self.offset + len(self.text) - len(self.text.lstrip()))

    def words(self) -> list[_Part]:
        return [_Part(found[0], self.offset + found.start()) for found in re.finditer(r"[^\s,]+", self.text)]

    def first_word(self) -> tuple[_Part, _Part]:
        """Its first word and what follows."""
        part = self.stripped()
        found = re.match(r"\S*", part.text)
        length = found.end() if found else 0
        return _Part(part.text[:length], part.offset), _Part(part.text[length:], part.offset + length)


class _Parser:
    def __init__(self, text: Text) -> None:
        self._text = text.text
        self._starts = [0, *(found.end() for found in re.finditer("\n", self._text))]
        self._parsed = Parsed(notes=list(text.notes))
        self._form: Form | None = None
        self._alphabets: Counter[Language] = Counter()
        self._moves: list[Move] = []
        self._first = 1
        self._score: tuple[int, int] | None = None  # after the end before
        self._substitutes: frozenset[Card] | None = None  # the five cards of the move before

    def parse(self) -> Parsed:
        end = 0
        for number, block in self._blocks():
            end = block.offset + len(block.text)
            if number is None:
                self._outcome(block)
            else:
                self._move(number, block)
        if self._moves:
            self._close(None, end)
        parsed = self._parsed
        if not parsed.ends and not parsed.problems:
            self._problem(_Part("", 0), "no-moves", phrase("moves"), "There are no moves in this text.")
        parsed.form = self._form or "short"
        parsed.language = "en" if self._alphabets["en"] > self._alphabets["ru"] else "ru"
        parsed.problems.sort(key=lambda problem: problem.offset)
        return parsed

    # ------------------------------------------------------------------------------------------------ what was found

    def _at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def _problem(
        self, part: _Part, code: str, expected: Wanted, message: str, fixes: Sequence[str] = ()
    ) -> None:
        if len(self._parsed.problems) < MOST_TOLD:
            fault = Fault(*self._at(part.offset), code, _shown(part.text), expected, message)
            self._parsed.problems.append(Problem(part.offset, len(part.text), fault, tuple(fixes)))

    def _note(self, part: _Part, code: str, message: str, *, each: bool = False) -> None:
        """Of most kinds only the first is told."""
        notes = self._parsed.notes
        if len(notes) < MOST_TOLD and (each or all(note.code != code for note in notes)):
            notes.append(Note(*self._at(part.offset), code, _shown(part.text), message))

    # --------------------------------------------------------------------------------------------------------- lines

    def _blocks(self) -> Iterator[tuple[int | None, _Part]]:
        """The moves with their numbers, each over as many lines as it takes, and outcomes without."""
        number: int | None = None
        begin = end = 0  # of the move that is being gathered, if it has a number
        for start in self._starts:
            stop = self._text.find("\n", start)
            stop = len(self._text) if stop < 0 else stop
            line = self._text[start:stop]
            if not line.strip():
                continue
            numbered = _NUMBERED.match(line)
            outcome = _OUTCOME.fullmatch(line.strip())
            if (numbered or outcome) and number is not None:
                yield number, _Part(self._text[begin:end], begin)
                number = None
            if outcome:
                yield None, _Part(line, start).stripped()
            elif numbered:
                number, begin = int(numbered[1]), start
            elif number is None:
                words = "This line is neither a numbered move nor an outcome."
                self._problem(
                    _Part(line, start).stripped(), "unreadable-line", phrase("move-or-outcome"), words
                )
            end = stop
        if number is not None:
            yield number, _Part(self._text[begin:end], begin)

    def _close(self, outcome: Outcome | None, offset: int) -> None:
        """One end is over."""
        end = End(tuple(self._moves), outcome, self._first)
        self._parsed.ends.append(end)
        self._score = outcome.score if outcome else None
        self._moves, self._first, self._substitutes = [], 1, None
        if not end.is_complete:
            words = f"A whole end has {MOVES_OF_AN_END} moves and its outcome in line {MOVES_OF_AN_END + 1}."
            self._note(_Part("", offset), "incomplete", words, each=True)

    def _outcome(self, line: _Part) -> None:
        found = _OUTCOME.fullmatch(line.text)
        assert found is not None
        if found[1] and int(found[1]) != MOVES_OF_AN_END + 1:
            part = _Part(found[1], line.offset + found.start(1))
            words = f"The outcome has number {MOVES_OF_AN_END + 1}."
            self._problem(part, "line-number", str(MOVES_OF_AN_END + 1), words, [str(MOVES_OF_AN_END + 1)])
        points = int(found[2]), int(found[3])
        score = (int(found[4]), int(found[5])) if found[4] else None
        if score is not None:
            part = _Part(line.text[found.start(4) : found.end(5)], line.offset + found.start(4))
            if self._score is not None:
                expected = self._score[0] + points[0], self._score[1] + points[1]
                if score != expected:
                    text = f"{expected[0]}:{expected[1]}"
                    words = f"After {self._score[0]}:{self._score[1]} and this outcome the score is {text}."
                    self._problem(part, "running-score", text, words, [text])
            elif score[0] < points[0] or score[1] < points[1]:
                words = "The running score is less than this end alone."
                self._problem(
                    part, "running-score", phrase("at-least", points=f"{points[0]}:{points[1]}"), words
                )
        self._both_thrown(line)
        self._close(Outcome(points, score), line.offset)

    # --------------------------------------------------------------------------------------------------------- moves

    def _move(self, number: int, block: _Part) -> None:
        head = _NUMBERED.match(block.text)
        assert head is not None
        self._count(number, _Part(head[1], block.offset + head.start(1)))
        if head[2] == ".":
            self._note(
                _Part(".", block.offset + head.start(2)), "number-sign", "A dot was read as a bracket."
            )
        body = _Part(block.text[head.end() :], block.offset + head.end())
        if (parts := self._parts(body)) is None:
            self._moves.append(Move(()))
            return
        form: Form = "short" if len(parts) == 1 else "dice" if parts[0].text.strip() else "cards"
        if self._form is None:
            self._form = form
        elif form != self._form:
            words = f"The record began as {self._form}; this move is {form}."
            self._problem(body.stripped(), "mixed-forms", phrase(f"form-{self._form}"), words)
            self._moves.append(Move(()))
            return
        read_as = {"short": self._short, "dice": self._with_dice, "cards": self._with_cards}[form]
        move, end = read_as(parts)
        self._moves.append(move)
        rest = _Part(self._text[end : block.offset + len(block.text)], end).stripped()
        if rest.text:
            self._problem(rest, *_REST[form if len(move.throws) < 2 else "short"])

    def _count(self, number: int, part: _Part) -> None:
        """Numbers go on by one; 1 begins another end, and the first of a text may be any."""
        self._both_thrown(part)
        expected = self._first + len(self._moves)
        is_first = not self._moves and not self._parsed.ends
        if self._moves and number == 1:
            self._close(None, part.offset)
        elif is_first and 1 < number <= MOVES_OF_AN_END:
            self._first = number
        elif number != expected or number > MOVES_OF_AN_END:
            right = str(expected) if expected <= MOVES_OF_AN_END else "1"
            words = f"Move {right} is expected here, or the outcome of the end."
            self._problem(part, "line-number", right, words, [right])

    def _both_thrown(self, part: _Part) -> None:
        """Before anything follows, both players have thrown."""
        if self._moves and len(self._moves[-1].throws) == 1:
            words = "The move before has one throw; only the last of a record may."
            self._problem(part, "throw-missing", phrase("two-throws"), words)

    def _parts(self, body: _Part) -> list[_Part] | None:
        """What stands outside and inside the brackets by turns, the first and the last outside."""
        parts: list[_Part] = []
        start = 0
        for bracket in re.finditer(r"[()]", body.text):
            if (bracket[0] == ")") is not (len(parts) % 2 == 1):
                part = _Part(bracket[0], body.offset + bracket.start())
                self._problem(part, "bracket", phrase("brackets"), "This bracket has no other half.")
                return None
            parts.append(_Part(body.text[start : bracket.start()], body.offset + start))
            start = bracket.end()
        parts.append(_Part(body.text[start:], body.offset + start))
        if len(parts) % 2 == 0:
            part = _Part("(", parts[-1].offset - 1)
            self._problem(part, "bracket", phrase("brackets"), "This bracket has no other half.")
            return None
        return parts

    def _trajectory(self, word: _Part) -> Trajectory:
        """The trajectory that a word says; some trajectory and a problem, if it says none."""
        if found := read_trajectory(word.text):
            return found
        if found := read_trajectory(word.text.upper()):
            self._note(word, "letter-case", "Small letters were read as capitals.")
            return found
        words = (
            f"{_shown(word.text) or 'Nothing'} is no trajectory: one of {' '.join(STARTS)}, then two to four lengths, "
            "or / and two."
        )
        self._problem(word, "bad-trajectory", phrase("trajectory"), words)
        return Trajectory("L", (1, 1))

    def _short(self, parts: Sequence[_Part]) -> tuple[Move, int]:
        first, rest = parts[0].first_word()
        second, rest = rest.first_word()
        words = [first, second] if second.text else [first]
        return Move(tuple(Throw(self._trajectory(word)) for word in words)), rest.offset

    # ---------------------------------------------------------------------------------------------------------- dice

    def _with_dice(self, parts: Sequence[_Part]) -> tuple[Move, int]:
        throws = []
        first = parts[0]
        for final, after in zip(parts[1:4:2], parts[2:5:2], strict=True):
            word, rest = after.first_word()
            dice = self._dice(first.stripped(), final.stripped())
            throws.append(Throw(self._trajectory(word), dice))
            first = rest
        return Move(tuple(throws)), first.offset

    def _dice(self, first: _Part, final: _Part) -> Dice | None:
        """A first and a final throw with all their checks."""
        said = again(first.text)
        if said is None:
            words = f"{_shown(first.text)} is no throw: five dice, those thrown again between _ and _."
            self._problem(first, "bad-dice", "122_46_", words)
        dice, readings = said or ((), ())
        last = tuple(map(int, final.text)) if re.fullmatch("[0-9]+", final.text) else ()
        if said is None or not self._five(first, dice, _digits(first.text)) or not self._five(final, last):
            return None
        possible = tuple(reading for reading in readings if is_kept(dice, reading, last))
        if not possible:
            end = self._text.index(")", final.offset) + 1
            both = _Part(self._text[first.offset : end], first.offset)
            words = "The dice that were kept are not all in the final throw."
            self._problem(both, "kept-dice", phrase("kept-dice"), words)
            return None
        if len(possible) > 1:
            words = "Which dice were thrown again cannot be told: the underlining is lost."
            self._note(first, "underlining-lost", words, each=True)
        elif len(readings) > 1:
            self._note(first, "underlining", "Spaces were read in place of lost underlining.")
        elif "_" not in first.text:
            self._note(first, "underlining", "This underlining was read; ours is _ before and after.")
        return Dice(dice, possible, last)

    def _five(self, part: _Part, dice: Sequence[int], shown: str | None = None) -> bool:
        if len(dice) != 5:
            self._problem(
                part,
                "five-dice",
                phrase("five-dice"),
                f"A throw is five dice, not {_shown(part.text) or 'nothing'}.",
            )
        elif not all(1 <= die <= 6 for die in dice):
            self._problem(part, "bad-die", "1–6", f"A die shows 1 to 6: {part.text}.")
        elif list(dice) != sorted(dice):
            in_order = "".join(map(str, sorted(dice)))
            fixes = [in_order] if (shown or part.text) == part.text else []
            words = f"Dice are written in ascending order: {in_order}."
            self._problem(part, "not-ascending", in_order, words, fixes)
        else:
            return True
        return False

    # --------------------------------------------------------------------------------------------------------- cards

    def _with_cards(self, parts: Sequence[_Part]) -> tuple[Move, int]:
        table = self._cards(parts[1])
        self._table(parts[1], table)
        before = self._substitutes
        substitutes: list[Card] = []
        if before is not None and len(table) == 5 and frozenset(table) != before:
            language: Language = "en" if self._alphabets["en"] > self._alphabets["ru"] else "ru"
            in_order = sorted(before, key=lambda card: (card.rank, card.suit))
            expected = " ".join(card.text(language) for card in in_order)
            words = f"The five cards drawn in the move before are on the table now: {expected}."
            self._problem(parts[1].stripped(), "table-differs", expected, words, [expected])
        throws: list[Throw] = []
        drawing = parts[2]
        if len(parts) < 5:
            self._problem(
                parts[-1].stripped(), "bad-hand", phrase("hand"), "A hand of five cards is missing."
            )
        for hand, after in zip(parts[3:6:2], parts[4:7:2], strict=True):
            word, rest = after.first_word()
            drawn = self._drawn(drawing, table, substitutes)
            substitutes += [card for card in drawn if card not in substitutes]
            cards = self._cards(hand)
            own = drawn if len(substitutes) < 5 else substitutes
            self._hand(hand, cards, {*table, *own})
            throws.append(Throw(self._trajectory(word), None, Hand(tuple(drawn), tuple(cards))))
            drawing = rest
        if len(substitutes) > 5:
            words = f"{len(substitutes)} cards were drawn; five make the next table."
            self._note(parts[1].stripped(), "more-than-five", words, each=True)
        self._substitutes = frozenset(substitutes) if len(substitutes) == 5 else None
        return Move(tuple(throws), tuple(table)), drawing.offset

    def _cards(self, part: _Part) -> list[Card]:
        """The cards of a list; problems for those that are none, and for those that are there twice."""
        cards: list[Card] = []
        for word in part.words():
            card = self._card(word)
            if card is not None and card in cards:
                self._problem(word, "card-twice", phrase("another-card"), f"{word.text} is there twice.")
            elif card is not None:
                cards.append(card)
        return cards

    def _card(self, word: _Part) -> Card | None:
        text = word.text.rstrip("\ufe0f\ufe0e")
        rank_text, suit_text = text[:-1].upper(), text[-1:].lower()
        rank = int(rank_text) if re.fullmatch("[2-9]|10", rank_text) else _RANK_LETTERS.get(rank_text, 0)
        rank = rank or _RANK_LOOK_ALIKES.get(rank_text, 0)
        suit = _SUIT_LETTERS.get(suit_text) or _SUIT_LOOK_ALIKES.get(suit_text) or _SUIT_SIGNS.get(suit_text)
        if suit is None and suit_text and suit_text in _CRUCES:
            suit = "c"
            words = f"{word.text}: suit letter '{suit_text}' is not in the list; read as крести = трефа."
            self._note(word, "doubtful-suit", words, each=True)
        if not rank or suit is None:
            words = f"{_shown(word.text)} is no card: 2 … 10 В Д К Т and б ч т п, or J Q K A and d h c s."
            self._problem(word, "bad-card", phrase("a-card"), words)
            return None
        if rank_text == "T" and (suit_text in "dhcs" or suit_text in _SUIT_SIGNS):
            words = f"{word.text}: T is the ten to some and looks like Т, the ace: write 10 or A."
            fixes = [f"{rank_text}{suit_text}" for rank_text in ("10", "A")]
            self._problem(word, "ambiguous-card", any_of(fixes), words, fixes)
            return None
        self._fold_notes(word, rank_text, suit_text, is_case_off=rank_text + suit_text != text)
        return Card(rank, suit)

    def _fold_notes(self, word: _Part, rank: str, suit: str, *, is_case_off: bool) -> None:
        """What was folded in a card, and the alphabet it is written in."""
        alphabet: Language = "en" if suit.isascii() else "ru"
        if suit in _SUIT_SIGNS:
            self._note(word, "suit-signs", "Signs of suits were read as letters.")
        elif suit in _SUIT_LOOK_ALIKES or (rank.isalpha() and rank.isascii() is not suit.isascii()):
            self._note(
                word, "look-alike", f"{word.text}: Latin and Cyrillic letters that look alike were folded."
            )
        else:
            self._alphabets[alphabet] += 1
        if is_case_off:
            self._note(word, "letter-case", "Small and capital letters were folded.")

    def _table(self, part: _Part, cards: Sequence[Card]) -> None:
        count = len(part.words())
        if count != 5:
            words = f"Five cards lie on the table, not {count}."
            self._problem(part.stripped(), "five-cards", phrase("five-cards"), words)
        elif len(cards) == 5 and [c.rank for c in cards] != sorted(c.rank for c in cards):
            ordered = sorted(zip(cards, part.words(), strict=True), key=lambda pair: pair[0].rank)
            in_order = " ".join(word.text for _, word in ordered)
            words = f"The cards on the table are written in ascending order: {in_order}."
            self._problem(part.stripped(), "not-ascending", in_order, words, [in_order])

    def _drawn(self, part: _Part, table: Sequence[Card], before: Sequence[Card]) -> list[Card]:
        """The cards that a player draws, and those he takes of the other's `before` once five are drawn in all."""
        drawn: list[Card] = []
        own = 0
        for word in part.words():
            card = self._card(word)
            if card is None:
                continue
            if card in table or card in drawn:
                words = f"{word.text} is there twice."
                self._problem(word, "card-twice", phrase("another-card"), words)
            elif card in before and len(before) + own < 5:
                words = (
                    f"{word.text} was drawn by the first player; it can be taken once five are drawn in all."
                )
                self._problem(word, "borrowed-early", phrase("card-not-drawn"), words)
            else:
                drawn.append(card)
                own += card not in before
        return drawn

    def _hand(self, part: _Part, cards: Sequence[Card], available: set[Card]) -> None:
        count = len(part.words())
        if count != 5:
            self._problem(
                part.stripped(), "five-cards", phrase("five-cards"), f"A hand is five cards, not {count}."
            )
        elif len(cards) == 5:
            for card, word in zip(cards, part.words(), strict=True):
                if card not in available:
                    words = f"{word.text} is neither on the table nor drawn."
                    self._problem(word, "not-available", phrase("card-at-hand"), words)


def _shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def _digits(text: str) -> str:
    return re.sub(r"[^0-9]", "", text)
