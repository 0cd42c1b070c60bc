// The course of a match as a picture: chances to win both games as curves, luck and errors of every round as bars, over
// one axis of steps. Drawn in CSS pixels for the width there is, so that its words stay readable on a phone.
//
// svg.chart
//   g.grid      lines and words of the three lanes
//   g.bars      rect.bar.luck|loss.mine|theirs      mine filled, theirs hollow
//   g.curves    path.curve.x (solid) .y (dashed)    with their names at the end
//   g.parting   line, text
//   g.marker    line, circle.x, circle.y            the step that is shown
//
// chart = new Chart({steps, rounds, chances: {X: [0..1|null…], Y}, luck: {mine: […], theirs}, loss, parted, words}, pick);
// `steps` phases (two a round); chances by phase, luck and loss by round; pick(step) when it is pressed.

import { percent, signedDecimal, decimal } from './analysis.js';
import { el } from './page.js';

const LEFT = 46;
const RIGHT = 22;
const HEADING = 28;
const LANES = { chances: 150, luck: 84, loss: 56 };
const GAP = 14;
const FOOT = 22;

export class Chart {
  constructor(data, pick) {
    this.data = data;
    this.step = 0;
    this.width = 0;
    this.svg = el('svg', { class: 'chart', role: 'img', 'aria-label': data.words.label });
    this.root = el('div', { class: 'chart-box' }, this.svg);
    new ResizeObserver(([entry]) => this.resize(Math.floor(entry.contentRect.width))).observe(this.root);
    const at = (event) => {
      const { left } = this.svg.getBoundingClientRect();
      return Math.max(1, Math.min(data.steps, Math.ceil((event.clientX - left - LEFT) / this.wide)));
    };
    this.svg.addEventListener('click', (event) => pick(at(event)));
    this.svg.addEventListener('pointermove', (event) => { if (event.pointerType === 'mouse' && event.buttons === 1) pick(at(event)); });
  }

  /** Puts the marker on a step; 0 is the start, before everything. */
  mark(step) {
    this.step = step;
    if (this.width) this.drawMarker();
  }

  resize(width) {
    if (width === this.width || width < 120) return;
    this.width = width;
    this.wide = (width - LEFT - RIGHT) / Math.max(1, this.data.steps);
    this.draw();
  }

  /** Middle of a phase, from 1. */
  x(step) {
    return LEFT + (step - 0.5) * this.wide;
  }

  draw() {
    const { words } = this.data;
    let top = 0;
    const lane = (name) => {
      const at = { title: top + 14, top: top + HEADING, height: LANES[name] };
      top = at.top + at.height + GAP;
      return at;
    };
    this.lanes = { chances: lane('chances'), luck: lane('luck'), loss: lane('loss') };
    this.bottom = top - GAP;
    const height = this.bottom + FOOT;
    this.svg.setAttribute('viewBox', `0 0 ${this.width} ${height}`);
    this.svg.setAttribute('width', this.width);
    this.svg.setAttribute('height', height);
    const title = (name) => el('text', { class: 'lane', x: 0, y: this.lanes[name].title }, words[name]);
    this.grid = el('g', { class: 'grid' }, ['chances', 'luck', 'loss'].map(title));
    this.bars = el('g', { class: 'bars' });
    this.marker = el('g', { class: 'marker' });
    this.svg.replaceChildren(this.grid, this.bars, this.parting(), this.curves(), this.marker);
    this.luck();
    this.loss();
    this.axis();
    this.drawMarker();
  }

  line(y, strong = false) {
    return el('line', { class: strong ? 'strong' : null, x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y });
  }

  figure(text, y) {
    return el('text', { class: 'figure', x: LEFT - 6, y: y + 4 }, text);
  }

  // ---- lanes ----

  chanceY(chance) {
    const { top, height } = this.lanes.chances;
    return top + (1 - chance) * height;
  }

  curves() {
    for (const chance of [0, 0.5, 1]) this.grid.append(this.line(this.chanceY(chance), chance === 0.5), this.figure(percent(chance), this.chanceY(chance)));
    const made = el('g', { class: 'curves' });
    const ends = {};
    for (const game of ['X', 'Y']) {
      const points = this.data.chances[game].map((chance, i) => (chance === null ? null : [this.x(i + 1), this.chanceY(chance)])).filter(Boolean);
      if (!points.length) continue;
      made.append(el('path', { class: `curve ${game.toLowerCase()}`, d: `M${points.map((point) => point.map(short).join(' ')).join('L')}` }));
      ends[game] = points.at(-1);
    }
    // The names at the ends stand apart, also where the curves meet.
    const names = Object.entries(ends).map(([game, [x, y]]) => ({ game, x, y })).sort((a, b) => a.y - b.y);
    if (names.length === 2 && names[1].y - names[0].y < 16) {
      const middle = Math.min(Math.max((names[0].y + names[1].y) / 2, this.lanes.chances.top + 8), this.lanes.chances.top + this.lanes.chances.height - 8);
      names[0].y = middle - 8;
      names[1].y = middle + 8;
    }
    for (const { game, x, y } of names) made.append(el('text', { class: `name ${game.toLowerCase()}`, x: Math.min(x + 6, this.width - RIGHT + 6), y: y + 5 }, game));
    return made;
  }

  /** Two bars a round, mine and theirs, from `zero` to their value. */
  pair(kind, round, zero, ys) {
    const left = LEFT + round * 2 * this.wide;
    const room = 2 * this.wide;
    const width = Math.max(2, Math.min(11, room / 2 - 1.5));
    ['mine', 'theirs'].forEach((who, k) => {
      const y = ys[who];
      if (Math.abs(y - zero) < 0.4) return;
      const x = left + room / 2 + (k === 0 ? -width - 0.5 : 0.5);
      const inset = who === 'theirs' ? 0.6 : 0;  // a hollow bar's border lies inside
      this.bars.append(el('rect', { class: `bar ${kind} ${who}`, x: short(x + inset), width: short(width - 2 * inset), y: short(Math.min(y, zero) + inset), height: short(Math.max(0.8, Math.abs(y - zero) - 2 * inset)) }));
    });
  }

  luck() {
    const { top, height } = this.lanes.luck;
    const { mine, theirs } = this.data.luck;
    const most = ceiling(Math.max(0.1, ...[...mine, ...theirs].map(Math.abs)));
    const y = (n) => top + height / 2 - (n / most) * (height / 2);
    for (const n of [most, 0, -most]) this.grid.append(this.line(y(n), n === 0), this.figure(signedDecimal(n, 1), y(n)));
    mine.forEach((_, round) => this.pair('luck', round, y(0), { mine: y(mine[round]), theirs: y(theirs[round]) }));
  }

  loss() {
    const { top, height } = this.lanes.loss;
    const { mine, theirs } = this.data.loss;
    const most = ceiling(Math.max(0.1, ...mine, ...theirs));
    const y = (n) => top + height - (n / most) * height;
    for (const n of [most, 0]) this.grid.append(this.line(y(n), n === 0), this.figure(n ? decimal(n, 1) : '0', y(n)));
    mine.forEach((_, round) => this.pair('loss', round, y(0), { mine: y(mine[round]), theirs: y(theirs[round]) }));
  }

  axis() {
    const { rounds, words } = this.data;
    const every = rounds * 26 < this.width - LEFT ? 2 : 5;
    for (let round = 1; round <= rounds; round += 1) {
      if (round !== 1 && round % every) continue;
      this.grid.append(el('text', { class: 'tick', x: LEFT + (2 * round - 1) * this.wide, y: this.bottom + 15 }, round));
    }
    this.grid.append(el('text', { class: 'unit', x: 0, y: this.bottom + 15 }, words.round));
  }

  parting() {
    const { parted, words } = this.data;
    if (parted === null) return '';
    const x = LEFT + (2 * parted - 2) * this.wide;
    const left = x < this.width * 0.7;
    const { top, height } = this.lanes.chances;
    return el('g', { class: 'parting' }, el('line', { x1: x, x2: x, y1: top, y2: top + height }),
      el('text', { x: left ? x + 5 : x - 5, y: top + height - 6, 'text-anchor': left ? 'start' : 'end' }, words.parted));
  }

  // ---- the marker ----

  drawMarker() {
    const step = this.step;
    if (!step) {
      this.marker.replaceChildren();
      return;
    }
    const x = this.x(step);
    const wide = Math.max(6, this.wide);
    const lines = Object.values(this.lanes).flatMap(({ top, height }) => [
      el('rect', { x: x - wide / 2, width: wide, y: top, height }), el('line', { x1: x, x2: x, y1: top, y2: top + height })]);
    const dots = ['X', 'Y'].map((game) => {
      const chance = this.data.chances[game][step - 1] ?? null;
      return chance === null ? '' : el('circle', { class: game.toLowerCase(), cx: x, cy: this.chanceY(chance), r: 4.5 });
    });
    this.marker.replaceChildren(...lines, ...dots);
  }
}

/** The next round figure for the end of a lane. */
function ceiling(n) {
  const steps = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5, 2, 3, 4, 5, 6];
  return steps.find((step) => step >= n) ?? Math.ceil(n);
}

function short(n) {
  return Math.round(n * 10) / 10;
}
