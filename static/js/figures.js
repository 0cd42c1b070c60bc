// Small drawings and words that several pages share: a die, a row of checkers, a player's name, signed numbers.
// Knows no rules; draws what it is given.

import { el, icon, nameOf, playerName } from './page.js';
import { t } from './i18n.js';

const PIPS = {
  1: [[27, 27]],
  2: [[13, 13], [41, 41]],
  3: [[13, 13], [27, 27], [41, 41]],
  4: [[13, 13], [41, 13], [13, 41], [41, 41]],
  5: [[13, 13], [41, 13], [27, 27], [13, 41], [41, 41]],
  6: [[13, 13], [41, 13], [13, 27], [41, 27], [13, 41], [41, 41]],
};

/** One die as a picture; the number stays in the text beside it or in the label of the pair. */
export function die(n, size = 34) {
  const body = el('rect', { class: 'die-body', x: 1.5, y: 1.5, width: 51, height: 51, rx: 11 });
  const pips = (PIPS[n] ?? []).map(([cx, cy]) => el('circle', { class: 'die-pip', cx, cy, r: 5 }));
  return el('svg', { class: 'die', viewBox: '0 0 54 54', width: size, height: size, 'aria-hidden': 'true' }, body, ...pips);
}

/** Two dice side by side with one label for readers of the screen. */
export function dice(roll, size = 34) {
  const pair = el('span', { class: 'dice-pair', role: 'img', 'aria-label': rollText(roll) });
  pair.append(...roll.map((n) => die(n, size)));
  return pair;
}

export const rollText = (roll) => roll.join('-');

/** `count` checkers of one colour lying in a tray. */
export function tray(color, count) {
  const width = 22 * count + 10;
  const box = el('svg', { class: 'tray', viewBox: `0 0 ${width} 30`, width, height: 30, 'aria-hidden': 'true' });
  for (let k = 0; k < count; k += 1) {
    box.append(el('g', { class: color === 'white' ? 'w' : 'k', transform: `translate(${16 + 22 * k} 15) scale(.36)` },
      el('circle', { class: 'disc', r: 27.5 }), el('circle', { class: 'ring', r: 19 })));
  }
  return box;
}

/** The name, and its tag when somebody else has the same one. */
export function playerMark(player, { bold = true } = {}) {
  const box = el('span', { class: 'player' });
  if (!player) {
    box.append(el('span', { class: 'muted' }, t('site.player.none')));
    return box;
  }
  box.append(el(bold ? 'b' : 'span', { class: 'who-name' }, nameOf(player)));
  if (player.tag) box.append(el('span', { class: 'muted player-tag' }, `#${String(player.tag).replace(/^#/, '')}`));
  if (player.kind === 'bot') box.append(el('span', { class: 'mark bot-mark' }, t('common.bot')));
  return box;
}

/** The name as plain text, for sentences and labels. */
export function nameText(player) {
  return player ? playerName(player) : t('site.player.none');
}

/** Which board a seat plays on in a phase, and of which colour: A is White on X, Black on Y (§4.1). */
export function placeOf(seat, phase) {
  const color = phase === 'W' ? 'white' : 'black';
  const game = (seat === 'A') === (phase === 'W') ? 'X' : 'Y';
  return { game, color };
}

/** Who has `color` in `game`. */
export function seatOf(game, color) {
  return (game === 'X') === (color === 'white') ? 'A' : 'B';
}

export const other = (seat) => (seat === 'A' ? 'B' : 'A');
export const roundOf = (turn) => Number.parseInt(turn, 10);
export const phaseOf = (turn) => turn.at(-1);

export function pips(side) {
  return side.reduce((sum, count, point) => sum + count * point, 0);
}

/** Counts from points to checkers: {24: 2, 13: 5} → the 26 counts of a side. */
export function side(points, off = 0) {
  const counts = new Array(26).fill(0);
  counts[0] = off;
  for (const [point, count] of Object.entries(points)) counts[Number(point)] = count;
  return counts;
}

/** A problem in words, in its own box, announced at once. */
export function alertBox(...words) {
  return el('p', { class: 'notice warn', role: 'alert' }, icon('alert'), el('span', {}, ...words));
}
