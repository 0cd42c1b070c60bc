// What is being played: a card a match, kept while the match is, redrawn only where it changed.

import { Board } from './board.js';
import { nameText, phaseOf, playerMark, roundOf } from './figures.js';
import { t } from './i18n.js';
import { el, icon, seatDisc } from './page.js';

const STATES = {
  thinking: () => [t('site.live.thinking'), el('span', { class: 'dots', 'aria-hidden': 'true' }, el('i'), el('i'), el('i'))],
  played: () => [icon('check'), t('site.live.played')],
  passed: () => [icon('pass'), t('site.live.passed')],
  away: () => [icon('alert'), t('site.live.away')],
  expected: () => [icon('alert'), t('site.live.expected')],
  idle: () => [],
};

function newCard(live) {
  const { info } = live;
  const card = el('a', { class: 'pair-card', href: `/match/${info.id}` });
  const boards = el('span', { class: 'boards' });
  const drawn = {};
  for (const game of ['X', 'Y']) {
    const white = game === 'X' ? info.players.A : info.players.B;
    const box = el('span', {}, el('span', { class: 'cap' }, seatDisc(game === 'X' ? 'white' : 'black'), game));
    drawn[game] = new Board(box, { kind: 'mini', label: t('site.live.board', { game, white: nameText(white) }) });
    boards.append(box);
  }
  const players = el('span', { class: 'players' });
  const turn = el('span', { class: 'muted' });
  card.append(boards, players, turn);
  return { card, drawn, players, turn, last: '' };
}

function updateCard(entry, { info, view }) {
  const text = JSON.stringify([info, view]);
  if (entry.last === text) return;
  entry.last = text;
  const { turn, boards, seats } = view;
  entry.card.setAttribute('aria-label', t('site.live.watch', { a: nameText(info.players.A), b: nameText(info.players.B) }));
  // Both boards from player A's side, as the discs above them say: White on X, Black on Y.
  entry.drawn.X.draw({ ...boards.X, color: 'white', last: null });
  entry.drawn.Y.draw({ ...boards.Y, color: 'black', last: null });
  entry.players.replaceChildren(...['A', 'B'].map((seat) => {
    const { connected, state: doing } = seats[seat];
    const state = connected !== false || (turn && doing !== 'thinking') ? doing : turn ? 'away' : 'expected';
    return el('span', {}, playerMark(info.players[seat]), el('span', { class: 'state' }, (STATES[state] ?? STATES.idle)()));
  }));
  entry.turn.textContent = turn ? t(`site.live.turn_${phaseOf(turn)}`, { n: roundOf(turn) }) : t(seats.A.connected && seats.B.connected ? 'site.live.seeding' : 'site.live.awaited');
}

/** The cards in a box: `draw(list)` shows these matches (`Live`, docs/PROTOCOL.md), in their order. Words: 'site'. */
export class LiveCards {
  constructor(box) {
    this.box = box;
    this.cards = new Map();
  }

  draw(list) {
    const ids = new Set(list.map((live) => live.info.id));
    for (const [id, entry] of this.cards) {
      if (ids.has(id)) continue;
      entry.card.remove();
      this.cards.delete(id);
    }
    const empty = this.box.querySelector('.none');
    if (!list.length) {
      if (!empty) this.box.append(el('p', { class: 'muted small none' }, t('site.live.none')));
      return;
    }
    empty?.remove();
    for (const live of list) {
      let entry = this.cards.get(live.info.id);
      if (!entry) {
        entry = newCard(live);
        this.cards.set(live.info.id, entry);
        this.box.append(entry.card);
      }
      updateCard(entry, live);
    }
  }
}
