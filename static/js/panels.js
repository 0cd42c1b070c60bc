// The parts of the match page around the board: bands with clocks, the strip of two boards, who does what, the
// record. Each is made once and then shown a view again and again.

import { formatClock, notation, t } from './i18n.js';
import { el, icon, playerName, seatDisc } from './page.js';
import { Board } from './board.js';
import { ClockFace } from './clock.js';
import { afterMoves, pips } from './geometry.js';
import { playText } from './turn.js';

/** Which game a seat plays in a phase (protocol: A is White in X, B in Y). */
export function gameOf(seat, phase) {
  return (seat === 'A') === (phase === 'W') ? 'X' : 'Y';
}

export function colorOf(seat, game) {
  return (seat === 'A') === (game === 'X') ? 'white' : 'black';
}

export function otherSeat(seat) {
  return seat === 'A' ? 'B' : 'A';
}

export function otherColor(color) {
  return color === 'white' ? 'black' : 'white';
}

/** "12W" → {round: 12, phase: 'W'}. */
export function parseTurn(turn) {
  return turn ? { round: parseInt(turn, 10), phase: turn.slice(-1) } : { round: 1, phase: 'W' };
}

/** The rules in one line: "Объективные, короткие · 4 мин + 12 с". */
export function rulesetLine(info) {
  const { ruleset } = info;
  const preset = t(`common.preset.${info.preset}`);
  const variant = t(`common.variant.${ruleset.variant}`);
  const length = (ms) => (ms % 60_000 ? t('common.unit.s', { n: Math.round(ms / 1000) }) : t('common.unit.min', { n: ms / 60_000 }));
  const { type, bank_ms: bank, delay_ms: delay } = ruleset.clock;
  const clock = type === 'none' ? t('match.clock.none')
    : type === 'per_move' ? t('match.clock.perMove', { time: length(delay) })
      : delay ? `${length(bank)} + ${length(delay)}` : length(bank);
  return `${preset}, ${variant} · ${clock}`;
}

/** A player's state in words and shape. Who has not come to a match of a competition is waited for until `due`. */
export function stateOf(seat, now, mine = false) {
  if (!mine && seat.due) return [icon('alert'), t('match.state.expected', { time: formatClock(Math.max(0, seat.due - now)) })];
  if (!mine && seat.away_until !== null) return [icon('alert'), t('match.state.away', { time: formatClock(seat.away_until - now) })];
  if (!mine && !seat.connected) return [icon('alert'), t(seat.state === 'played' || seat.state === 'passed' ? `match.state.gone.${seat.state}` : 'match.state.offline')];
  if (seat.state === 'thinking') {
    return [t(mine ? 'match.state.youThink' : 'match.state.thinking'), ' ', el('span', { class: 'dots', 'aria-hidden': 'true' }, el('i'), el('i'), el('i'))];
  }
  if (seat.state === 'played') return [icon('check'), t('match.state.played')];
  if (seat.state === 'passed') return [icon('pass'), t('match.state.passed')];
  return [];
}

/** The words of `stateOf` without shapes: to see whether they have changed. */
function stateKey(seat, now) {
  const until = seat.due ?? seat.away_until;
  return `${seat.state}${seat.connected}${Boolean(seat.due)}${until === null ? '' : Math.floor((until - now) / 1000)}`;
}

/** A band of the stage: who, which colour, pips, clock. `side` is 'me' (below) or 'them'. */
export class Band {
  constructor(side) {
    this.side = side;
    this.disc = seatDisc('white');
    this.who = el('p', { class: 'who' });
    this.state = el('span', { class: 'state' });
    this.pips = el('span', { class: 'pips' });
    const clock = el('span', { class: 'clock', role: 'timer' },
      el('svg', { class: 'run', viewBox: '0 0 10 12', 'aria-hidden': 'true' }, el('path', { d: 'M0 0v12l10-6z' })),
      el('span', { class: 'free' }), el('span', { class: 'figures' }));
    this.clock = new ClockFace(clock);
    this.element = el('div', { class: `band ${side}` }, this.disc, this.who, this.pips, clock);
  }

  /** {color, seat: heading words or null, name, rating, aside, pips: number or null, off: number} */
  show({ color, heading = null, name = '', rating = null, aside = '', pips: count = null, off = 0 }) {
    this.element.className = `band ${this.side} ${color}${this.gone ? ' gone' : ''}`;
    this.disc.className = `seat-disc ${color}`;
    this.who.replaceChildren(...(heading
      ? [el('span', { class: 'seat' }, heading), ' ', el('span', { class: 'aside' }, aside)]
      : [el('span', { class: 'name' }, name, rating === null ? '' : ' ', rating === null ? null : el('span', { class: 'aside wide-only' }, rating))]), ' ', this.state, off ? el('span', { class: 'aside off-note' }, t('match.band.off', { count: off })) : '');
    this.pips.replaceChildren(...(count === null ? [] : [el('b', {}, count), el('span', {}, ` ${t('common.pips', { n: count })}`)]));
  }

  /** The state in words (the opponent's, or none). */
  tell(seat, now) {
    const key = seat ? stateKey(seat, now) : '';
    if (key === this.told && this.state.isConnected) return;
    this.told = key;
    this.gone = Boolean(seat && !seat.connected);
    this.element.classList.toggle('gone', this.gone);
    this.state.replaceChildren(...(seat ? stateOf(seat, now) : []));
  }
}

/** The strip: X always first, Y second. The marker "you" moves, the boards do not. */
export class Strip {
  constructor({ homeLeft, look }) {
    this.tiles = {};
    this.cross = el('p', { class: 'cross' });
    for (const game of ['X', 'Y']) {
      const tile = { head: el('header'), slot: el('div', { class: 'mini-slot' }), foot: el('p', { class: 'muted' }) };
      tile.button = el('button', { class: 'button', type: 'button', onclick: look });
      tile.element = el('section', { class: 'tile', 'data-game': game }, tile.head, tile.slot, tile.foot, tile.button);
      this.tiles[game] = tile;
    }
    this.element = el('aside', { class: 'strip', 'aria-label': t('match.strip.label') }, this.tiles.X.element, this.cross, this.tiles.Y.element);
    this.place(homeLeft);
  }

  place(homeLeft) {
    for (const tile of Object.values(this.tiles)) {
      tile.board?.remove();
      tile.board = new Board(tile.slot, { kind: 'mini', homeLeft });
    }
  }

  /** `scene` is the match page's picture of one moment. */
  show(scene) {
    const { view, seat, here, other, looking, names, canLook } = scene;
    for (const game of ['X', 'Y']) {
      const tile = this.tiles[game];
      const color = colorOf(seat, game);
      const mineNow = game === here.game;
      const shown = mineNow ? here : other;
      tile.element.className = `tile ${mineNow ? (looking ? '' : 'here') : looking ? 'looking' : view.theirs ? '' : 'away'}`;
      tile.head.replaceChildren(seatDisc(color), el('b', {}, game), el('span', { class: 'tile-seat' }, t(`match.strip.${color}`)),
        ...(mineNow ? [el('span', { class: 'you' }, t('common.you'))] : looking ? [el('span', { class: 'you look' }, icon('eye'))] : []));
      const labels = { name: t('common.board.name', { game }) };
      tile.board.draw({
        ...shown.position, color, variant: scene.variant, last: shown.last, lastArrow: false,
        label: t(mineNow ? (scene.played ? 'match.strip.after' : 'match.strip.now') : view.theirs ? 'match.strip.now' : 'match.strip.start', labels),
      });
      tile.foot.replaceChildren(...(mineNow
        ? (scene.played ? [icon('check'), t('match.strip.youPlayed')] : [])
        : [t(looking ? 'match.strip.looking' : view.theirs ? 'match.strip.live' : 'match.strip.began')]));
      tile.foot.className = mineNow ? 'state' : 'muted';
      // Kept in place when there is nothing to press, so that nothing below moves.
      tile.button.classList.toggle('unseen', mineNow || scene.peek === 'off');
      tile.button.setAttribute('aria-disabled', String(!canLook));
      tile.button.replaceChildren(icon(looking ? 'back' : canLook ? 'eye' : 'lock'), t(looking ? 'match.strip.back' : canLook ? 'match.strip.look' : 'match.strip.locked'));
    }
    this.cross.replaceChildren(icon('swap'), scene.played ? t('match.strip.crossOne', { name: names[otherSeat(seat)] }) : t('match.strip.crossBoth'));
  }
}

/** Round, phase, who does what, the record. */
export class Now {
  constructor(footer) {
    this.round = el('h1');
    this.rules = el('p', { class: 'muted small' });
    this.event = el('p', { class: 'small', hidden: true });
    this.phases = el('ol', { class: 'phases' });
    this.doing = el('ul', { class: 'doing' });
    this.rows = el('tbody');
    this.heads = el('tr');
    this.scroll = el('div', { class: 'record-box', tabindex: '0', role: 'region', 'aria-label': t('match.record.title') },
      el('table', { class: 'record' }, el('caption', { class: 'sr' }, t('match.record.title')), el('thead', {}, this.heads), this.rows));
    // The box may become smaller after its rows are in; the open phase stays in sight.
    new ResizeObserver(() => { if (this.follow) this._toEnd(); }).observe(this.scroll);
    this.parted = el('p', { class: 'row small', hidden: true });
    this.element = el('aside', { class: 'now', 'aria-label': t('match.now') },
      el('div', { class: 'round' }, this.round, this.rules, this.event), this.phases, this.doing, this.scroll, this.parted, footer);
  }

  show(info, view, { names, seat, mineText, theirsText }) {
    const { round, phase } = parseTurn(view.turn);
    this.round.textContent = view.stage === 'seeding' ? t('match.seeding.title') : t('common.round', { n: round });
    this.rules.textContent = rulesetLine(info);
    this.event.hidden = !info.competition;
    if (info.competition && !this.event.firstChild) this.event.append(el('a', { href: `/events/${encodeURIComponent(info.competition)}` }, t('match.event')));
    this.phases.replaceChildren(...[['W', 'white', 'byWhite'], ['K', 'black', 'byBlack']].map(([letter, color, word]) =>
      el('li', { 'aria-current': letter === phase ? 'step' : null }, seatDisc(color), t(`common.color.${word}`))));
    this._record(view, names, seat, mineText, theirsText);
    this.parted.hidden = view.parted === null || view.parted === undefined;
    if (!this.parted.hidden) this.parted.replaceChildren(icon('fork'), t('match.parted', { n: view.parted }));
  }

  /** Who does what now; drawn again as seconds of absence pass. */
  tick(view, now, { names, seat }) {
    const { phase } = parseTurn(view.turn);
    const key = ['A', 'B'].map((s) => stateKey(view.seats[s], now)).join() + view.turn + seat;
    if (key === this.told) return;
    this.told = key;
    const color = phase === 'W' ? 'white' : 'black';
    this.doing.replaceChildren(...['X', 'Y'].map((game) => {
      const who = gameOf('A', phase) === game ? 'A' : 'B';
      return el('li', {}, seatDisc(color), `${game} · ${who === seat ? t('common.You') : names[who]}`,
        el('span', { class: 'state' }, stateOf(view.seats[who], now, who === seat)));
    }));
  }

  _record(view, names, seat, mineText, theirsText) {
    const seats = seat === 'B' ? ['B', 'A'] : ['A', 'B'];
    this.heads.replaceChildren(...[t('match.record.number'), t('match.record.roll'), names[seats[0]], names[seats[1]]].map((text) => el('th', { scope: 'col' }, text)));
    const number = (turn) => {
      const { round, phase } = parseTurn(turn);
      return `${round} ${t(`common.color.letter${phase}`)}`;
    };
    const rows = view.record.map(([turn, roll, playA, playB]) => {
      const plays = { A: playA, B: playB };
      return el('tr', {}, el('td', {}, number(turn)), el('td', {}, roll.join('-')), ...seats.map((s) => el('td', {}, notation(plays[s]))));
    });
    if (view.roll && view.stage !== 'over' && view.record.at(-1)?.[0] !== view.turn) {  // during a pause no phase is open
      const hidden = () => el('td', {}, t('match.record.hidden'));
      rows.push(el('tr', { class: 'open' }, el('td', {}, number(view.turn)), el('td', {}, view.roll.join('-')),
        ...(seat ? [el('td', {}, mineText ?? '…'), theirsText === null ? hidden() : el('td', {}, theirsText)] : [hidden(), hidden()])));
    }
    const atEnd = this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight < 80;
    const top = this.scroll.scrollTop;
    this.rows.replaceChildren(...rows);
    this.follow = atEnd || rows.length !== this.seen;
    if (this.follow) this._toEnd();
    else this.scroll.scrollTop = top;
    this.seen = rows.length;
  }

  /** The newest line in sight, and the first one in sight not cut by the heads above it. */
  _toEnd() {
    const head = this.heads.offsetHeight;
    const end = this.rows.offsetTop + this.rows.offsetHeight - this.scroll.clientHeight;
    const first = [...this.rows.children].find((row) => row.offsetTop - head >= end);
    this.scroll.scrollTop = first && end > 0 ? first.offsetTop - head : 0;
  }
}

/** A player's half-made or whole play as the record shows it. */
export function openText(draft, played) {
  if (played) return notation(played.moves.length ? playText(played.moves) : played.play);
  return draft?.length ? `${notation(playText(draft))} …` : '…';
}

/** A side's board with its draft or play put on it. */
export function positionOf(boards, game, color, moves, variant) {
  return afterMoves(boards[game], color, moves, variant);
}

export { pips, playerName };
