// The half-made play: a path in the step graph that the server sent. It offers exactly the moves the graph holds;
// what is legal, which die must be used and when a play is whole are all read off it.
//
// steps[node] = [[from, to, die, hit, next], …]; node 0 is the position before the roll; a node without edges is a
// finished play. Points are the mover's own, 25 the bar, 0 off.

import { BAR, OFF } from './geometry.js';

export class Turn {
  constructor(steps, roll) {
    this.steps = steps;
    this.order = [...roll];  // as shown from the left; the left one is tried first
    this.path = [];
  }

  get double() {
    return this.order[0] === this.order[1];
  }

  get node() {
    return this.path.length ? this.path[this.path.length - 1][4] : 0;
  }

  get edges() {
    return this.steps[this.node];
  }

  /** Is the play whole? */
  get whole() {
    return this.edges.length === 0;
  }

  /** Is there anything to play at all? */
  get empty() {
    return this.steps[0].length === 0;
  }

  /** The moves made so far: [[from, to, die, hit], …]. */
  get moves() {
    return this.path.map(([from, to, die, hit]) => [from, to, die, hit]);
  }

  swapDice() {
    this.order.reverse();
  }

  /** The dice as they are shown: [{value, used}]; a double is four. */
  get dice() {
    if (this.double) {
      return Array.from({ length: 4 }, (_, i) => ({ value: this.order[0], used: i < this.path.length }));
    }
    return this.order.map((value) => ({ value, used: this.path.some((step) => step[2] === value) }));
  }

  /** Places from which a checker may go now. */
  get sources() {
    return [...new Set(this.edges.map(([from]) => from))];
  }

  /** Places where the checker on `place` may be put now, with any number of dice: Map place → steps. The shortest way wins, then the left die first. */
  targets(place) {
    const found = new Map();
    let ways = [{ node: this.node, at: place, steps: [] }];
    while (ways.length) {
      const next = [];
      for (const way of ways) {
        if (way.at === OFF) continue;
        for (const edge of this._byDice(this.steps[way.node].filter(([from]) => from === way.at))) {
          const steps = [...way.steps, edge];
          if (!found.has(edge[1])) found.set(edge[1], steps);
          next.push({ node: edge[4], at: edge[1], steps });
        }
      }
      ways = next;
    }
    return found;
  }

  _byDice(edges) {
    return [...edges].sort((a, b) => this.order.indexOf(a[2]) - this.order.indexOf(b[2]));
  }

  /** The step a click on `place` means: by the left die, or by the other one if that cannot (or `other` asks for it). */
  stepFrom(place, other = false) {
    const edges = this._byDice(this.edges.filter(([from]) => from === place));
    return (other ? edges[edges.length - 1] : edges[0]) ?? null;
  }

  /** Makes these steps, which must follow each other in the graph. */
  make(steps) {
    this.path.push(...steps);
  }

  undo() {
    return this.path.pop();
  }

  reset() {
    this.path = [];
  }

  /**
   * Takes back the moves that brought a checker from `back` to `at`. True if there were such moves and the rest of the
   * play still stands without them.
   */
  takeBack(at, back) {
    for (let end = this.path.length - 1; end >= 0; end--) {
      if (this.path[end][1] !== at) continue;
      const chain = [end];
      let from = this.path[end][0];
      for (let i = end - 1; from !== back && i >= 0; i--) {
        if (this.path[i][1] === from) {
          chain.push(i);
          from = this.path[i][0];
        }
      }
      if (from !== back) continue;
      const rest = this.path.filter((_, i) => !chain.includes(i));
      const again = this._walk(rest);
      if (again) {
        this.path = again;
        return true;
      }
    }
    return false;
  }

  /** Places to which a moved checker standing at `at` can be put back. */
  returns(at) {
    const places = new Set();
    const kept = this.path;
    for (const [from] of kept) {
      if (from === at) continue;
      if (this.takeBack(at, from)) places.add(from);
      this.path = kept;
    }
    return [...places];
  }

  /** Takes over a path made elsewhere (another tab); false if the graph does not hold it. */
  adopt(moves) {
    const path = this._walk(moves);
    if (!path) return false;
    this.path = path;
    return true;
  }

  _walk(moves) {
    const path = [];
    let node = 0;
    for (const [from, to, die] of moves) {
      const edge = this.steps[node].find((e) => e[0] === from && e[1] === to && (die === undefined || e[2] === die));
      if (!edge) return null;
      path.push(edge);
      node = edge[4];
    }
    return path;
  }

  /** The only play there is, as steps, or null when there is a choice or nothing to play. */
  forced() {
    if (this.empty || this.steps.filter((edges) => edges.length === 0).length !== 1) return null;
    const path = [];
    let edges = this.steps[0];
    while (edges.length) {
      const [edge] = this._byDice(edges);
      path.push(edge);
      edges = this.steps[edge[4]];
    }
    return path;
  }

  /** A move that can still be made: [from, to, die], or null when the play is whole. */
  example() {
    const [edge] = this._byDice(this.edges);
    return edge ? edge.slice(0, 3) : null;
  }

  /** When every play is one move by one and the same die of two: {die, larger: is it the larger one}. */
  onlyDie() {
    if (this.double || this.empty) return null;
    const dice = new Set(this.steps[0].map((edge) => edge[2]));
    if (dice.size !== 1 || this.steps[0].some((edge) => this.steps[edge[4]].length)) return null;
    const [die] = dice;
    return { die, larger: die === Math.max(...this.order) };
  }

  /** The dice still to be played, from the left. */
  get left() {
    return this.dice.filter((die) => !die.used).map((die) => die.value);
  }

  /** The play so far in notation: "13/7 8/7*". */
  get text() {
    return playText(this.moves);
  }

  /** Steps for a written play ("13/7 8/7", "bar/22", "24/18/13", "6/off(2)"), from the start of the turn; null if the graph has none. */
  fromText(text) {
    const legs = parsePlay(text);
    if (!legs) return null;
    const search = (node, left) => {
      if (!left.length) return [];
      for (let i = 0; i < left.length; i++) {
        const rest = left.filter((_, j) => j !== i);
        for (const way of this._ways(node, ...left[i])) {
          const tail = search(way[way.length - 1][4], rest);
          if (tail) return [...way, ...tail];
        }
      }
      return null;
    };
    return search(0, legs);
  }

  /** Every way of one checker from place to place, from this node. */
  _ways(node, from, to) {
    const ways = [];
    const go = (at, place, steps) => {
      for (const edge of this._byDice(this.steps[at].filter((e) => e[0] === place))) {
        if (edge[1] === to) ways.push([...steps, edge]);
        else if (edge[1] > to) go(edge[4], edge[1], [...steps, edge]);
      }
    };
    go(node, from, []);
    return ways.sort((a, b) => a.length - b.length);
  }
}

/** Moves in notation, as the server writes a play: the farthest first, one hop a die, several alike as "(2)", "*" marks a hit. */
export function playText(moves) {
  const name = (n) => (n === BAR ? 'bar' : n === OFF ? 'off' : String(n));
  const hops = new Map();
  for (const [from, to, , hit] of [...moves].sort((a, b) => b[0] - a[0] || a[1] - b[1])) {
    const key = `${name(from)}/${name(to)}`;
    const hop = hops.get(key) ?? { number: 0, hit: false };
    hops.set(key, { number: hop.number + 1, hit: hop.hit || Boolean(hit) });
  }
  return [...hops].map(([key, { number, hit }]) => `${key}${hit ? '*' : ''}${number > 1 ? `(${number})` : ''}`).join(' ');
}

/** "13/7 8/7" → [[13, 7], [8, 7]]; Russian words too; null if it is not a play's notation. */
export function parsePlay(text) {
  const legs = [];
  const number = (word) => {
    if (/^(bar|бар|b|б)$/.test(word)) return BAR;
    if (/^(off|сн|снять|o|с)$/.test(word)) return OFF;
    return /^\d+$/.test(word) && Number(word) <= 25 ? Number(word) : null;
  };
  for (const token of text.toLowerCase().replace(/\*/g, '').replace(/\s*[/–>-]\s*/g, '/').split(/[\s,;]+/).filter(Boolean)) {
    const match = /^([^()]+?)\.?(?:\((\d)\))?$/.exec(token);
    if (!match) return null;
    const places = match[1].split('/').map((word) => number(word.replace(/\.$/, '')));
    if (places.length < 2 || places.includes(null)) return null;
    for (let time = 0; time < Number(match[2] ?? 1); time++) {
      for (let i = 1; i < places.length; i++) legs.push([places[i - 1], places[i]]);
    }
  }
  return legs.length && legs.length <= 16 ? legs : null;
}
