// Where things are on a board, in viewBox units: pure numbers, no DOM.
//
// A place is a number in the numbering of the side whose home is at the bottom: 1..24 a point, 25 its own bar,
// 0 its own tray. The other side's places are turned into these by `opposite` before they are drawn; its bar and
// tray have places of their own, THEIR_BAR and THEIR_OFF.

export const BAR = 25;
export const OFF = 0;
export const THEIR_BAR = -1;
export const THEIR_OFF = -2;

// P point width, R checker radius, S step of a stack, bar, M side margin, num number band, H point height,
// tri triangle height, mid middle, gap and tray beside the points, die size, fonts of numbers and counts.
const KINDS = {
  wide: { width: 904, height: 720, P: 60, R: 28, S: 55, bar: 64, M: 16, num: 30, H: 282, tri: 250, mid: 96, gap: 12, tray: 60, die: 54, font: 17, count: 25, round: 14, drawnBar: 56 },
  phone: { width: 360, height: 388, P: 28, R: 13.25, S: 26.5, bar: 20, M: 2, num: 18, H: 148, tri: 126, mid: 56, gap: 0, tray: 0, die: 36, font: 11, count: 11.5, round: 0, drawnBar: 20 },
  mini: { width: 776, height: 630, P: 60, R: 28, S: 55, bar: 40, M: 8, num: 8, H: 282, tri: 250, mid: 50, gap: 0, tray: 0, die: 54, font: 17, count: 25, round: 12, drawnBar: 40 },
};

/** A side's place as the other side numbers it: 25 − n when they run against each other, half a lap away when both run the same way. */
export function opposite(n, variant = 'short') {
  if (n === BAR) return THEIR_BAR;
  if (n === OFF) return THEIR_OFF;
  if (variant === 'long') return n > 12 ? n - 12 : n + 12;
  return 25 - n;
}

/** Pips of a side: the sum of its point numbers, the bar 25. */
export function pips(side) {
  return side.reduce((sum, count, n) => sum + count * n, 0);
}

/** {white, black} after `moves` ([from, to, die, hit]) of `color`. Only counts: what is legal is not known here. */
export function afterMoves(position, color, moves, variant = 'short') {
  const mine = [...position[color]];
  const other = color === 'white' ? 'black' : 'white';
  const theirs = [...position[other]];
  for (const [from, to, , hit] of moves ?? []) {
    mine[from] -= 1;
    mine[to] += 1;
    if (hit) {
      theirs[opposite(to, variant)] -= 1;
      theirs[BAR] += 1;
    }
  }
  return { [color]: mine, [other]: theirs };
}

export class Geometry {
  constructor(kind, homeLeft = false) {
    Object.assign(this, KINDS[kind]);
    this.kind = kind;
    this.homeLeft = homeLeft;
    this.points = 12 * this.P + this.bar + 2 * this.M;  // width of the part with the points
    this.pointsLeft = homeLeft ? this.width - this.points : 0;
    this.barX = this.mirror(this.M + 6 * this.P + this.bar / 2);
    this.trayX = homeLeft ? this.width - this.points - this.gap - this.tray : this.points + this.gap;
    // The dice stand in the middle of the right half of the points, always.
    this.diceX = this.pointsLeft + this.M + 6 * this.P + this.bar + 3 * this.P;
    this.leftMiddle = this.pointsLeft + this.M + 3 * this.P;
    this.middle = this.height / 2;
  }

  /** x with home on the right → x with home where it is. */
  mirror(x) {
    return this.homeLeft ? this.width - x : x;
  }

  /** Middle of a place's column. */
  x(place) {
    if (place === BAR || place === THEIR_BAR) return this.barX;
    if (place === OFF || place === THEIR_OFF) {
      if (!this.tray) return this.leftMiddle;
      return this.trayX + this.tray / 2;
    }
    const column = place <= 12 ? 12 - place : place - 13;
    return this.mirror(this.M + this.P * column + (column > 5 ? this.bar : 0) + this.P / 2);
  }

  /** Middle of the k-th checker (from 0) at a place; from the fifth on they share one spot. */
  y(place, k = 0) {
    const up = Math.min(k, 4);
    if (place === BAR) return this.middle - this.R - 4 - this.S * Math.min(k, 3);  // towards where they enter
    if (place === THEIR_BAR) return this.middle + this.R + 4 + this.S * Math.min(k, 3);
    if (place === OFF) return this.tray ? this.height - this.num - this.H / 2 : this.middle;
    if (place === THEIR_OFF) return this.tray ? this.num + this.H / 2 : this.middle;
    const edge = this.num + this.R + 1 + this.S * up;
    return place <= 12 ? this.height - edge : edge;
  }

  /** How many checkers a place can show before the last one carries a number. */
  room(place) {
    return place === BAR || place === THEIR_BAR ? 4 : 5;
  }

  /** The area that belongs to a place for pointers: the whole column to the middle of the board. */
  area(place) {
    const half = this.middle;
    if (place === BAR || place === THEIR_BAR) {
      return { x: this.barX - this.bar / 2, y: place === BAR ? 0 : half, width: this.bar, height: half };
    }
    if (place === OFF || place === THEIR_OFF) {
      if (this.tray) return { x: this.trayX, y: place === OFF ? half : 0, width: this.tray, height: half };
      return { x: this.leftMiddle - 2.4 * this.P, y: half - this.mid / 2 + 3, width: 4.8 * this.P, height: this.mid - 6 };
    }
    return { x: this.x(place) - this.P / 2, y: place <= 12 ? half : 0, width: this.P, height: half };
  }

  /** The place under a spot. `offOpen`: on a board without trays, is the tray's stand-in in the middle there now? */
  placeAt(x, y, offOpen = false) {
    const inside = (a) => x >= a.x && x <= a.x + a.width && y >= a.y && y <= a.y + a.height;
    if (!this.tray && offOpen && inside(this.area(OFF))) return OFF;
    const low = y >= this.middle;
    if (this.tray && Math.abs(x - (this.trayX + this.tray / 2)) <= this.tray / 2 + this.gap) return low ? OFF : THEIR_OFF;
    if (Math.abs(x - this.barX) < this.bar / 2) return low ? THEIR_BAR : BAR;
    const flat = this.mirror(x);
    let column = (flat - this.M - (flat > this.M + 6 * this.P ? this.bar : 0)) / this.P;
    column = Math.max(0, Math.min(11, Math.floor(column)));
    return low ? 12 - column : 13 + column;
  }

  /** Is the spot on the stack of `count` checkers at the place (or just around it)? */
  onStack(place, count, x, y) {
    if (!count) return false;
    const deep = Math.abs(this.y(place, count - 1) - this.y(place, 0));
    const first = this.y(place, 0);
    const dir = Math.sign(this.y(place, 1) - first) || 1;
    const along = (y - first) * dir;
    return Math.abs(x - this.x(place)) <= this.P / 2 + 2 && along >= -this.R - this.num && along <= deep + this.R * 1.15;
  }

  /** How far a spot is from a place's area; 0 inside. */
  distance(place, x, y) {
    const a = this.area(place);
    return Math.hypot(Math.max(a.x - x, 0, x - a.x - a.width), Math.max(a.y - y, 0, y - a.y - a.height));
  }

  /** Path data of all triangles of one shade (0 or 1). */
  triangles(shade) {
    const half = this.P / 2 - 2;
    const parts = [];
    for (let n = 1; n <= 24; n++) {
      if ((n % 2 === 0) !== (shade === 1)) continue;
      const base = n <= 12 ? this.height - this.num : this.num;
      const tip = n <= 12 ? base - this.tri : base + this.tri;
      const x = this.x(n);
      parts.push(`M${x - half} ${base}h${2 * half}L${x} ${tip}z`);
    }
    return parts.join(' ');
  }

  /** Left edges of `count` dice in a row; doubles (four) stand closer so that they fit the half. */
  dice(count) {
    const size = count > 2 ? this.die * (this.kind === 'phone' ? 0.86 : 0.88) : this.die;
    const gap = count > 2 ? size * 0.14 : size * 0.28;
    const whole = count * size + (count - 1) * gap;
    return Array.from({ length: count }, (_, i) => ({
      x: this.diceX - whole / 2 + i * (size + gap), y: this.middle - size / 2, size,
    }));
  }

  /** The arrow of one move: a bow from spot to spot, bent towards the middle of the board. */
  arrow(from, to) {
    const [x1, y1] = from;
    const [x2, y2] = to;
    const long = Math.hypot(x2 - x1, y2 - y1) || 1;
    const sameRow = Math.abs(y2 - y1) < this.height / 4;
    const bend = sameRow ? (y1 > this.middle ? -1 : 1) * Math.min(this.H * 0.45, long * 0.3) : 0;
    const cx = (x1 + x2) / 2;
    const cy = (y1 + y2) / 2 + bend;
    const cut = (px, py, r) => {  // the bow begins and ends outside the rings
      const d = Math.hypot(cx - px, cy - py) || 1;
      return [px + ((cx - px) / d) * r, py + ((cy - py) / d) * r];
    };
    const start = cut(x1, y1, this.R + 1);
    const tip = cut(x2, y2, this.R * 0.9);
    const end = cut(x2, y2, this.R * 1.45);
    const angle = (Math.atan2(y2 - cy, x2 - cx) * 180) / Math.PI;
    return { path: `M${start.map(short).join(' ')}Q${short(cx)} ${short(cy)} ${end.map(short).join(' ')}`, tip, angle, scale: this.R / 28 };
  }
}

function short(n) {
  return Math.round(n * 10) / 10;
}
