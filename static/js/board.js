// A board drawn in SVG. It knows no rules: what may be moved comes to it as hints.
//
// svg.board.<kind>
//   rect.surface  rect.bar  rect.tray*        (trays on the wide board only)
//   g.points      path.pt1 path.pt2           triangles
//   g.numbers     text*                       own numbering of the lower side
//   g.checkers    use.w|k*  text.count*       a number on a stack above five
//   g.off         rect.slab*                  borne off, with the count
//   g.last        circle.from .to, path.line  the last play: dashed ring, double ring, arrow
//   g.last.draft  the same                    the half-made play
//   g.hints       .pill .pick .target .dot    sources, what is picked up, where it can go
//   g.dice        use.die[.used]*
//   g.drag        use                         the checker under the finger
//   g.hit-areas   rect.hit*                   one control a place (only with `controls`)
//
// State handed to draw():
//   white, black   sides: 26 counts [off, 1 … 24, bar], each in its own numbering (as they stand, the draft played)
//   color          'white' | 'black': whose home is at the bottom
//   variant        'short' (default) | 'long': how the sides face
//   last           a Played, or null: marked by rings, and by an arrow unless lastArrow is false
//   draft          {color, moves: [[from, to, die, hit], …], arrow?: bool} or null: marked as half-made
//   dice           [{value, used}, …] or null
//   hints          {sources: [place…], picked: place|null, targets: [place…], inert: bool} or null
//   travel         [[color, from, to], …] or null: checkers that move there from where they stood
//   travelMs       how long they travel; 0: not at all
//   rolling        true: the dice roll to rest
//   numbers        false hides the point numbers
//   controls       true: the places are controls (role=button, roving focus)
//   label          aria-label of the whole board (else that of the constructor stays)

import { t } from './i18n.js';
import { el } from './page.js';
import { BAR, Geometry, OFF, THEIR_BAR, THEIR_OFF, opposite } from './geometry.js';

const WHERE = [BAR, ...Array.from({ length: 24 }, (_, i) => 24 - i), OFF];

/** Moves of one checker in a row as one: [[24,18],[18,13]] → [[24,13]]. */
export function joined(moves) {
  const ways = [];
  for (const [from, to] of moves ?? []) {
    const open = ways.find((way) => way[1] === from && to !== from);
    if (open) open[1] = to;
    else ways.push([from, to]);
  }
  return ways;
}

export class Board {
  constructor(container, { kind = 'wide', homeLeft = false, label = '' } = {}) {
    this.kind = kind;
    this.geometry = new Geometry(kind, homeLeft);
    this.symbol = kind === 'phone' ? '#pc' : '#c';
    this.state = null;
    this.focused = 24;
    const { width, height } = this.geometry;
    this.svg = el('svg', { class: `board ${kind}`, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
    this._ground();
    for (const [name, classes] of [['checkers'], ['off'], ['last'], ['draft', 'last draft'], ['hints'], ['dice'], ['drag'], ['hits', 'hit-areas']]) {
      this[name] = el('g', { class: classes ?? name });
      this.svg.append(this[name]);
    }
    container.append(this.svg);
  }

  remove() {
    this.svg.remove();
  }

  draw(state) {
    this.state = state;
    const label = state.label;
    if (label) this.svg.setAttribute('aria-label', label);
    this.svg.setAttribute('role', state.controls ? 'group' : 'img');
    this.numbers.style.display = state.numbers === false ? 'none' : '';
    this._checkers(state);
    this._off(state);
    this._marks(this.last, state.last, state.lastArrow !== false, state);
    this._marks(this.draft, state.draft, Boolean(state.draft?.arrow), state);
    this._hints(state);
    this._dice(state);
    this._controls(state);
    if (state.travel?.length && state.travelMs) this._travel(state);
  }

  /** The place of a side's point as it is drawn here. */
  place(color, n) {
    return color === this.state.color ? n : opposite(n, this.state.variant);
  }

  /** How many checkers of the side stand on its own point n. */
  count(color, n) {
    return this.state[color][n];
  }

  /** A spot of the screen in viewBox units. */
  spot(clientX, clientY) {
    const p = new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [p.x, p.y];
  }

  /** viewBox units in one CSS pixel. */
  unit() {
    return this.geometry.width / (this.svg.getBoundingClientRect().width || this.geometry.width);
  }

  // ---- dragging: the board only shows it ----

  /** Takes the top checker of the lower side at `place` into the hand; draw() puts it back. */
  lift(place) {
    const mine = this.svg.querySelectorAll(`.checkers use[data-place="${place}"]`);
    const top = mine[mine.length - 1];
    if (!top) return;
    top.classList.add('lifted');
    this.drag.replaceChildren(el('use', { href: this.symbol, class: this._class(this.state.color) }));
    this.dragTo(this.geometry.x(place), this.geometry.y(place, mine.length - 1));
  }

  dragTo(x, y) {
    this.drag.firstChild?.setAttribute('transform', `translate(${x} ${y}) scale(1.08)`);
  }

  drop() {
    this.drag.replaceChildren();
    for (const lifted of this.svg.querySelectorAll('.lifted')) lifted.classList.remove('lifted');
  }

  // ---- focus ----

  /** Puts the keyboard's focus on a place. */
  focus(place) {
    this.focused = place;
    for (const area of this.hits.children) {
      const here = Number(area.dataset.place) === place;
      area.setAttribute('tabindex', here ? '0' : '-1');
      if (here) area.focus({ preventScroll: true });
    }
  }

  // ---- layers ----

  _class(color) {
    return color === 'white' ? 'w' : 'k';
  }

  _ground() {
    const g = this.geometry;
    this.svg.append(
      el('rect', { class: 'surface', width: g.width, height: g.height, rx: g.round }),
      el('rect', { class: 'bar', x: g.barX - g.drawnBar / 2, width: g.drawnBar, height: g.height }));
    if (g.tray) {
      for (const y of [g.num, g.height - g.num - g.H]) {
        this.svg.append(el('rect', { class: 'tray', x: g.trayX, y, width: g.tray, height: g.H, rx: 8 }));
      }
    }
    this.numbers = el('g', { class: 'numbers', 'font-size': g.font });
    if (this.kind !== 'mini') {
      for (let n = 1; n <= 24; n++) this.numbers.append(el('text', { x: g.x(n), y: this._numberY(n) }, n));
    }
    this.svg.append(el('g', { class: 'points' }, el('path', { class: 'pt1', d: g.triangles(0) }), el('path', { class: 'pt2', d: g.triangles(1) })), this.numbers);
  }

  _numberY(n) {
    const g = this.geometry;
    const middle = n <= 12 ? g.height - g.num / 2 : g.num / 2;
    return middle + g.font * 0.36;
  }

  _checkers(state) {
    const g = this.geometry;
    const made = [];
    for (const color of ['white', 'black']) {
      const inert = state.hints?.inert && color === state.color;
      for (let n = 1; n <= BAR; n++) {
        const count = state[color][n];
        if (!count) continue;
        const place = this.place(color, n);
        const room = g.room(place);
        for (let k = 0; k < Math.min(count, room); k++) {
          made.push(el('use', {
            href: this.symbol, class: this._class(color) + (inert && n !== BAR ? ' inert' : ''), x: g.x(place), y: g.y(place, k), 'data-place': place,
          }));
        }
        if (count > room) {
          made.push(el('text', { class: `count ${this._class(color)}`, 'font-size': g.count, x: g.x(place), y: g.y(place, room - 1) + g.count * 0.36 }, count));
        }
      }
    }
    this.checkers.replaceChildren(...made);
  }

  _off(state) {
    const g = this.geometry;
    if (!g.tray) return;
    const made = [];
    for (const color of ['white', 'black']) {
      const count = state[color][OFF];
      if (!count) continue;
      const mine = color === state.color;
      const x = g.trayX + 6;
      for (let k = 0; k < count; k++) {
        const y = mine ? g.height - g.num - 8 - 12 - 14 * k : g.num + 8 + 14 * k;
        made.push(el('rect', { class: `slab ${this._class(color)}`, x, y, width: 48, height: 12, rx: 3 }));
      }
      const y = mine ? g.height - g.num - 8 - 14 * count - 12 : g.num + 8 + 14 * count + 26;
      made.push(el('text', { class: 'numbers', 'font-size': 20, x: x + 24, y }, count));
    }
    this.off.replaceChildren(...made);
  }

  /** Rings and arrows of a play: `play` has color and moves. */
  _marks(layer, play, arrow, state) {
    const g = this.geometry;
    const scale = g.R / 28;
    const rings = [];
    const arrows = [];
    const left = {};
    const came = {};
    for (const [from, to] of joined(play?.moves)) {
      const start = this.place(play.color, from);
      const end = this.place(play.color, to);
      const stood = state[play.color][from] + (left[from] = (left[from] ?? -1) + 1);
      const at = [g.x(start), g.y(start, stood)];
      rings.push(el('circle', { class: 'from', cx: at[0], cy: at[1], r: 25 * scale }));
      if (to === OFF) {
        if (g.tray) arrows.push([at, [g.x(end), g.y(end)]]);
        continue;
      }
      const k = state[play.color][to] - 1 - (came[to] = (came[to] ?? -1) + 1);
      if (k < 0) continue;  // it has been hit meanwhile
      const spot = [g.x(end), g.y(end, k)];
      rings.push(el('circle', { class: 'to-halo', cx: spot[0], cy: spot[1], r: 21.5 * scale }), el('circle', { class: 'to', cx: spot[0], cy: spot[1], r: 21.5 * scale }));
      arrows.push([at, spot]);
    }
    const drawn = !arrow ? [] : arrows.flatMap(([from, to]) => {
      const bow = g.arrow(from, to);
      return [el('path', { class: 'halo', d: bow.path }), el('path', { class: 'line', d: bow.path }),
        el('path', { class: 'head', d: 'M0 0L-22 -9Q-15.8 0 -22 9z', transform: `translate(${bow.tip.join(' ')}) rotate(${bow.angle}) scale(${bow.scale})` })];
    });
    layer.replaceChildren(...rings, ...drawn);
  }

  _hints(state) {
    const g = this.geometry;
    const { sources = [], picked = null, targets = [] } = state.hints ?? {};
    const scale = g.R / 28;
    const made = [];
    for (const n of sources) {
      const w = this.kind === 'phone' ? 21 : 34;
      const h = this.kind === 'phone' ? 15 : 22;
      const bar = n === BAR;
      const middle = bar || n > 12 ? g.num / 2 : g.height - g.num / 2;
      const font = bar ? g.font * 0.8 : g.font;
      const x = g.x(n);
      made.push(el('rect', { class: 'pill', x: x - w / 2, y: middle - h / 2, width: w, height: h, rx: h / 2 }),
        el('text', { class: 'pill-n', 'font-size': font, x, y: middle + font * 0.36 }, bar ? t('common.board.bar.short') : n));
    }
    if (picked !== null) {
      const at = { cx: g.x(picked), cy: g.y(picked, Math.max(0, state[state.color][picked] - 1)), r: 29 * scale };
      made.push(el('circle', { class: 'pick-halo', ...at }), el('circle', { class: 'pick', ...at }));
    }
    for (const n of targets) {
      if (n === OFF) {
        made.push(...this._offTarget());
        continue;
      }
      const count = state[state.color][n];
      const at = { cx: g.x(n), cy: g.y(n, count), r: 25 * scale };
      made.push(el('circle', { class: 'target-halo', ...at }), el('circle', { class: 'target', ...at }));
      if (count < 5) made.push(el('circle', { class: 'dot', cx: at.cx, cy: at.cy, r: 9 * scale }));
    }
    this.hints.replaceChildren(...made);
  }

  /** Where a checker is put to bear it off: the tray, or its stand-in in the middle of a board without trays. */
  _offTarget() {
    const g = this.geometry;
    if (g.tray) {
      const box = { x: g.trayX, y: g.height - g.num - g.H, width: g.tray, height: g.H, rx: 8 };
      return [el('rect', { class: 'target-halo', ...box }), el('rect', { class: 'target', ...box })];
    }
    const area = g.area(OFF);
    return [el('rect', { class: 'target off-slot', ...area, rx: 8 }),
      el('text', { class: 'off-word', 'font-size': g.font + 1, x: area.x + area.width / 2, y: area.y + area.height / 2 + g.font * 0.36 }, t('common.board.off.put'))];
  }

  _dice(state) {
    const dice = state.dice ?? [];
    const spots = this.geometry.dice(dice.length);
    this.dice.classList.toggle('rolling', Boolean(state.rolling));
    this.dice.replaceChildren(...dice.map(({ value, used }, i) => el('use', {
      href: `#d${value}`, class: used ? 'die used' : 'die', x: spots[i].x, y: spots[i].y, width: spots[i].size, height: spots[i].size,
    })));
  }

  /** Is a spot on the dice (or within a finger of them)? */
  onDice(x, y) {
    const spots = this.geometry.dice(this.state?.dice?.length ?? 0);
    if (!spots.length) return false;
    const last = spots[spots.length - 1];
    return x >= spots[0].x - 4 && x <= last.x + last.size + 4 && y >= spots[0].y - 4 && y <= spots[0].y + last.size + 4;
  }

  _controls(state) {
    if (!state.controls) {
      this.hits.replaceChildren();
      return;
    }
    if (!this.hits.children.length) {
      // The order of the tree is the order of reading: bar, 24 … 1, tray.
      for (const n of WHERE) {
        this.hits.append(el('rect', { class: 'hit', role: 'button', tabindex: '-1', ...this.geometry.area(n), 'data-place': n }));
      }
    }
    const { sources = [], targets = [], picked = null } = state.hints ?? {};
    const usable = state.hints ? [...sources, ...targets] : [];
    if (!WHERE.includes(this.focused)) this.focused = 24;
    for (const area of this.hits.children) {
      const n = Number(area.dataset.place);
      const can = picked === n ? 'picked' : targets.includes(n) ? 'target' : sources.includes(n) ? 'source' : null;
      area.setAttribute('aria-label', this._placeLabel(n, state) + (can ? `, ${t(`common.board.can.${can}`)}` : ''));
      area.setAttribute('aria-pressed', String(picked === n));
      area.setAttribute('aria-disabled', String(!usable.includes(n)));
      area.setAttribute('tabindex', n === this.focused ? '0' : '-1');
      area.classList.toggle('source', sources.includes(n));
      area.classList.toggle('target', targets.includes(n));
      if (n === OFF && !this.geometry.tray) area.style.pointerEvents = targets.includes(OFF) ? '' : 'none';
    }
  }

  _placeLabel(n, state) {
    const mine = state[state.color];
    const theirs = state[state.color === 'white' ? 'black' : 'white'];
    if (n === BAR) return t('common.board.bar.mine', { count: mine[BAR] });
    if (n === OFF) return t('common.board.off.mine', { count: mine[OFF] });
    const facing = theirs[opposite(n, state.variant)];
    if (mine[n]) return t('common.board.point.mine', { point: n, count: mine[n] });
    if (facing) return t('common.board.point.theirs', { point: n, count: facing });
    return t('common.board.point.empty', { point: n });
  }

  /** Lets checkers that have just been put travel from where they stood. Nothing waits for it. */
  _travel(state) {
    const g = this.geometry;
    const taken = new Map();
    for (const [color, from, to] of state.travel) {
      if (to === OFF && !g.tray) continue;
      const start = this.place(color, from);
      const end = this.place(color, to);
      const seen = taken.get(`${color}${to}`) ?? 0;
      taken.set(`${color}${to}`, seen + 1);
      const stack = to === OFF
        ? this.off.querySelectorAll(`.slab.${this._class(color)}`)
        : this.checkers.querySelectorAll(`use.${this._class(color)}[data-place="${end}"]`);
      const moved = stack[stack.length - 1 - seen];
      if (!moved) continue;
      const x = to === OFF ? g.x(end) : Number(moved.getAttribute('x'));
      const y = to === OFF ? g.y(end) : Number(moved.getAttribute('y'));
      const by = [g.x(start) - x, g.y(start, state[color][from]) - y];
      moved.parentNode.append(moved);  // above the others while it moves
      moved.animate([{ transform: `translate(${by[0]}px, ${by[1]}px)` }, { transform: 'none' }],
        { duration: state.travelMs, easing: 'cubic-bezier(.2, 0, 0, 1)' });
    }
    for (const text of this.checkers.querySelectorAll('.count')) this.checkers.append(text);
  }
}

export { BAR, OFF, THEIR_BAR, THEIR_OFF };
