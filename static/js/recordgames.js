// A record step by step: for each family of records what is drawn and said at each step. A show is
// {root, after, wide, rows: [{label, name, cells}], columns, start, figure(n), draw(n)}; n = 0 is the start.

import { Board } from './board.js';
import { CurlingSheet } from './curlingsheet.js';
import { PositionIds } from './downloads.js';
import { dice, phaseOf, pips, placeOf, rollText, roundOf, seatOf } from './figures.js';
import { BAR, OFF } from './geometry.js';
import { lang, notation, t } from './i18n.js';
import { el, seatDisc } from './page.js';
import { XiangqiBoard } from './xiangqiboard.js';

const narrow = matchMedia('(max-width: 599px)');
const word = (key, params) => t(`reader.${key}`, params);

export function showOf({ family, form }, steps) {
  return { objective: objectiveShow, mat: matShow, xiangqi: xiangqiShow, curling: curlingShow }[family](steps, form);
}

/** The moves of a written play, so that the board can mark them: "8/5(2) bar/24*" → [[8, 5], [8, 5], [25, 24]]. */
export function movesOf(play) {
  const place = (text) => (text === 'bar' ? BAR : text === 'off' ? OFF : Number(text));
  return play.split(' ').flatMap((part) => {
    const found = /^(bar|\d+)((?:\/(?:off|\d+)\*?)+)(?:\((\d)\))?$/.exec(part);
    if (!found) return [];
    const places = [found[1], ...found[2].replaceAll('*', '').split('/').slice(1)].map(place);
    const moves = places.slice(1).map((to, n) => [places[n], to]);
    return Array.from({ length: Number(found[3] ?? 1) }, () => moves).flat();
  });
}

const said = (play) => (play ? notation(play) : '—');
const played = (color, play) => (play && movesOf(play).length ? { color, moves: movesOf(play) } : null);

/** A board of nardy with its caption: who has which colour, and pips. */
class Game {
  constructor(title, names) {
    this.box = el('div', { class: 'replay-board' });
    this.pips = {};
    this.play = el('p', { class: 'replay-play' }, '\u00a0');
    const who = (color) => el('span', { class: 'replay-who' }, seatDisc(color), el('span', { class: 'replay-name' }, names[color] || '—'), this.pips[color] = el('span', { class: 'muted num' }));
    this.root = el('article', { class: 'replay-game' }, el('p', { class: 'replay-cap' }, el('b', {}, title), ['white', 'black'].map(who)), this.box, this.play);
    this.board = new Board(this.box, { kind: narrow.matches ? 'phone' : 'wide', label: title });
  }

  draw(sides, last, variant, words) {
    this.board.draw({ ...sides, color: 'white', last, variant });
    for (const color of ['white', 'black']) this.pips[color].textContent = String(pips(sides[color]));
    this.play.replaceChildren(words || '\u00a0');
  }
}

function objectiveShow(steps) {
  const name = (seat) => steps.players[seat] || word('player', { n: seat === 'A' ? 1 : 2 });
  const games = Object.fromEntries(['X', 'Y'].map((game) => [game, new Game(t('common.board.name', { game }), { white: name(seatOf(game, 'white')), black: name(seatOf(game, 'black')) })]));
  const ids = steps.ids ? new PositionIds() : null;
  const rows = steps.steps.map((step) => ({ label: t(`reader.turn_${phaseOf(step.turn)}`, { n: roundOf(step.turn) }), cells: [step.roll ? rollText(step.roll) : '', said(step.plays.A), said(step.plays.B)] }));
  const boardsAt = (n) => { while (n > 0 && !steps.steps[n - 1].boards) n -= 1; return n ? steps.steps[n - 1].boards : steps.start; };
  return {
    root: el('div', { class: 'replay-boards' }, games.X.root, games.Y.root), after: ids?.root, rows, wide: true,
    columns: [word('dice'), name('A'), name('B')], start: word('start'),
    figure: (n) => (n && steps.steps[n - 1].roll ? dice(steps.steps[n - 1].roll, 30) : null),
    draw(n) {
      const step = n ? steps.steps[n - 1] : null;
      for (const game of ['X', 'Y']) {
        const seat = step && ['A', 'B'].find((one) => placeOf(one, phaseOf(step.turn)).game === game);
        const color = step && placeOf(seat, phaseOf(step.turn)).color;
        const play = step?.boards && seat ? step.plays[seat] : null;
        games[game].draw(boardsAt(n)[game], played(color, play), steps.variant, step && `${name(seat)}: ${said(step.plays[seat])}`);
      }
      ids?.show(n ? steps.steps[n - 1].ids : steps.ids);
    },
  };
}

function matShow(steps) {
  const name = (seat) => steps.players[seat] || word('player', { n: seat === 'A' ? 1 : 2 });
  const all = steps.games.flatMap((game, g) => game.steps.map((step, k) => ({ step, g, k })));
  const games = steps.games.map((_, g) => new Game(word('game', { n: g + 1 }), { white: name('A'), black: name('B') }));
  const pair = games.length === 2;  // both games of a match, or the games of a session one after another
  const sides = (board) => ({ white: board.left, black: board.right });
  const field = (key, label) => el('label', { class: 'field' }, el('span', { class: 'small muted' }, label), key);
  const xgid = el('input', { readonly: true, spellcheck: 'false', 'aria-label': 'XGID' });
  const gnubg = el('input', { readonly: true, spellcheck: 'false', 'aria-label': 'GNU Backgammon' });
  const ids = el('section', { class: 'card position-ids' }, field(xgid, 'XGID'), field(gnubg, 'GNU Backgammon'));
  const sayOf = (step) => (step.play ? said(step.play) : word(`action.${step.action}`, { cube: step.cube ?? '' }));
  const last = (g, n) => { for (let k = n - 1; k >= 0; k -= 1) if (all[k].g === g) return all[k].step; return null; };
  return {
    root: el('div', { class: pair ? 'replay-boards' : 'record-board' }, games.map(({ root }) => root)), after: ids, wide: pair,
    rows: all.map(({ step, g, k }) => ({ label: `${g + 1}.${Math.floor(k / 2) + 1}`, cells: [step.roll ? rollText(step.roll) : '', ...['A', 'B'].map((seat) => (step.seat === seat ? sayOf(step) : ''))] })),
    columns: [word('dice'), name('A'), name('B')], start: word('start'),
    figure: (n) => (n && all[n - 1].step.roll ? dice(all[n - 1].step.roll, 30) : null),
    draw(n) {
      const now = n ? all[n - 1] : null;
      for (const [g, game] of games.entries()) {
        const step = last(g, n);
        const here = now?.g === g ? now.step : null;
        game.draw(sides(step ? step.board : steps.start), here && played(here.seat === 'A' ? 'white' : 'black', here.play), 'short', here && `${name(here.seat)}: ${sayOf(here)}`);
        if (!pair) game.root.hidden = g !== (now?.g ?? 0);
        game.root.classList.toggle('away', pair && now !== null && now.g !== g);
      }
      ids.hidden = !now;
      xgid.value = now?.step.ids.xgid ?? '';
      gnubg.value = now?.step.ids.gnubg ?? '';
    },
  };
}

function xiangqiShow(steps, form) {
  const script = form === 'cn_trad' ? 'cn_trad' : 'cn_simp';
  const box = el('div', { class: 'record-board' });
  const board = new XiangqiBoard(box, word('board_xiangqi'));
  const pairs = steps.plies.map((ply) => ({ label: `${ply.number}${ply.side === 'red' ? '.' : '…'}`, name: `${ply.number}${ply.side === 'red' ? '.' : '…'} ${ply.wxf2018}`, cells: [el('span', { class: `side ${ply.side}` }, word(ply.side)), ply.wxf2018, el('span', { lang: script === 'cn_trad' ? 'zh-Hant' : 'zh-Hans' }, ply[script]), ply.uci] }));
  const note = el('p', { class: 'muted small' });
  let shown = 0;
  const letters = el('input', { type: 'checkbox', checked: board.letters, change: () => { board.letters = letters.checked; show.draw(shown); } });
  const fen = el('input', { readonly: true, spellcheck: 'false' });
  box.append(note, el('label', { class: 'check' }, letters, el('span', {}, word('letters_on_board'))), el('label', { class: 'field' }, 'FEN', fen));
  const show = {
    root: box, rows: pairs, columns: [word('side'), 'WXF', word('chinese'), word('squares')], start: word('start'), figure: () => null,
    draw(n) {
      shown = n;
      const ply = n ? steps.plies[n - 1] : null;
      const at = ply?.fen ?? steps.start;
      board.draw(at, ply?.uci, ply ? word('board_after', { move: ply.wxf2018 }) : word('board_xiangqi'));
      fen.value = at;
      const over = n === steps.plies.length && steps.ending;
      note.textContent = [ply?.capture && word('capture'), over ? word(steps.ending) : ply?.check && word('check_given'), n === steps.plies.length && steps.result !== '*' && word('result', { result: steps.result }), (ply ?? steps).comment].filter(Boolean).join(' · ') || '\u00a0';
    },
  };
  return show;
}

const RANKS = { ru: { 11: 'В', 12: 'Д', 13: 'К', 14: 'Т' }, en: { 11: 'J', 12: 'Q', 13: 'K', 14: 'A' } };
const SUITS = { d: '♦', h: '♥', c: '♣', s: '♠' };
const card = ({ rank, suit }) => el('span', { class: `playing-card ${suit === 'd' || suit === 'h' ? 'warm' : ''}` }, `${RANKS[lang()][rank] ?? rank}${SUITS[suit]}`);

function curlingShow(steps) {
  const box = el('div', { class: 'record-board' });
  const sheet = new CurlingSheet(box, word('sheet'));
  const lines = el('div', { class: 'throw-data' });
  box.append(lines, el('p', { class: 'muted small' }, word('straight')));
  const player = (n) => word('player', { n });
  const outcome = (end) => (end.points ? word('end_outcome', { points: end.points.join(':'), score: end.score ? ` (${end.score.join(':')})` : '' }) : '');
  const line = (name, ...what) => el('p', {}, el('span', { class: 'muted small' }, name), ' ', ...what);
  const diceOf = ({ first, again, final }) => [
    line(word('first_dice'), first.map((die, n) => el(again[0]?.[n] ? 'u' : 'span', { class: 'num' }, `${die} `)), again.length > 1 ? el('span', { class: 'muted small' }, word('either_way')) : ''),
    line(word('final_dice'), el('b', { class: 'num' }, final.join(' ')))];
  const cardsOf = (cards) => ['table', 'drawn', 'hand'].map((key) => line(word(`cards_${key}`), cards[key].map(card)));
  return {
    root: box, columns: [word('player_column'), word('trajectory'), word('kind_column')], start: word('start'), figure: () => null,
    rows: steps.throws.map((one) => ({ label: `${one.end > 1 || steps.ends.length > 1 ? `${one.end}.` : ''}${one.move}`, cells: [player(one.player), one.text, word(`shape.${one.kind}`)] })),
    draw(n) {
      const one = n ? steps.throws[n - 1] : null;
      const made = one ? steps.throws.slice(0, n).filter(({ end }) => end === one.end) : [];
      const says = one ? word('throw', { who: player(one.player), text: one.text, kind: word(`shape.${one.kind}`), lengths: one.segments.join(', ') }) : word('sheet');
      sheet.draw(made, one ? 1 : 0, says);
      const ended = one && (n === steps.throws.length || steps.throws[n].end !== one.end);
      lines.replaceChildren(el('p', {}, el('b', {}, one ? says : '\u00a0')), ...(one?.dice ? diceOf(one.dice) : []), ...(one?.cards ? cardsOf(one.cards) : []), ended ? el('p', {}, outcome(steps.ends[one.end - 1])) : '');
    },
  };
}
