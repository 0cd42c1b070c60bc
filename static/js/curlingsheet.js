// Throws of tabletop curling on the four start cells, as far as a record tells of them: from which cell, in how many
// segments, and how long each is. Where a segment turns no record says, so that each is drawn straight on.
//
// svg.curling
//   rect.surface  g.cells    the start cells, below
//   g.throws      g.throw.one|two[.now]   the throws of this end so far, the last ones strong

import { el } from './page.js';

const CELLS = ['LL', 'L', 'R', 'RR'];
const WIDE = 140;
const FLOOR = 452;
const UNIT = 34;  // one length, if the longest throw of the end leaves room for it

export class CurlingSheet {
  constructor(container, label) {
    this.throws = el('g', { class: 'throws' });
    this.svg = el('svg', { class: 'curling', viewBox: '0 0 560 500', role: 'img', 'aria-label': label },
      el('rect', { class: 'surface', width: 560, height: 500, rx: 10 }),
      el('g', { class: 'cells' }, CELLS.map((name, n) => [
        el('rect', { x: n * WIDE + 6, y: FLOOR, width: WIDE - 12, height: 40, rx: 6 }),
        el('text', { x: n * WIDE + WIDE / 2, y: FLOOR + 20 }, name)])),
      this.throws);
    container.append(this.svg);
  }

  /** `throws` of one end up to now, the last `now` of them made just now. */
  draw(throws, now, label) {
    const count = Object.fromEntries(CELLS.map((cell) => [cell, throws.filter(({ start }) => start === cell).length]));
    const longest = Math.max(1, ...throws.map(({ segments }) => segments.reduce((sum, length) => sum + length, 0)));
    this.unit = Math.min(UNIT, (FLOOR - 22) / longest);
    const placed = {};
    this.throws.replaceChildren(...throws.map((one, n) => {
      const k = placed[one.start] = (placed[one.start] ?? -1) + 1;
      const apart = Math.min(34, (WIDE - 30) / Math.max(1, count[one.start]));
      const at = CELLS.indexOf(one.start) * WIDE + WIDE / 2 + (k - (count[one.start] - 1) / 2) * apart;
      return this.trajectory(one, at, n >= throws.length - now);
    }));
    this.svg.setAttribute('aria-label', label);
  }

  trajectory({ player, kind, segments }, at, now) {
    let top = FLOOR - 2;
    const parts = [];
    for (const [n, length] of segments.entries()) {
      const next = top - length * this.unit;
      parts.push(el('line', { x1: at, y1: top, x2: at, y2: next + 3, class: kind === 'semaphore' && n === 0 ? 'dashed' : null }));
      if (now) parts.push(el('text', { x: at + 13, y: (top + next) / 2 }, `${length}`));
      parts.push(el('path', { class: 'joint', d: `M${at - 6} ${next}H${at + 6}` }));
      top = next;
    }
    const stone = player === 1 ? el('circle', { class: 'stone', cx: at, cy: top, r: 8 }) : el('rect', { class: 'stone', x: at - 7, y: top - 7, width: 14, height: 14 });
    return el('g', { class: `throw ${player === 1 ? 'one' : 'two'}${now ? ' now' : ''}` }, ...parts, stone);
  }
}
