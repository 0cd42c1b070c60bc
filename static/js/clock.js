// Time as the server has it, and the clocks drawn from it. What the browser's own wall clock says is never used: only
// performance.now(), which nobody sets, and the server's `now` that comes with every frame. How far the wall clock has
// gone is used once, after sleep, until the next frame.

import { formatClock, t } from './i18n.js';

const WINDOW = 90_000;  // how long a measured offset is trusted
const ASLEEP = 250;     // a smaller difference between the two clocks is no sleep
const LOW = 20_000;
const NOT_LOW = 26_000;  // hysteresis: a delay that gives time back must not ring again at once

/** The server's time. Of the offsets seen lately the largest is the one whose frame was least delayed. */
export class ServerTime {
  constructor() {
    this.samples = [];
    this.trip = 0;  // half of the shortest round trip measured
  }

  /** A frame said it is `now`. */
  note(now, at = performance.now()) {
    this.samples = this.samples.filter((sample) => at - sample.at < WINDOW && !sample.guessed);
    this.samples.push({ at, wall: Date.now(), offset: now - at });
  }

  /** Back after a while: if the computer slept, performance.now() may have stood still, but the wall clock has not. For how many ms. */
  woke(at = performance.now(), wall = Date.now()) {
    const best = this.samples.reduce((one, other) => (one && one.offset >= other.offset ? one : other), null);
    const slept = best ? wall - best.wall - (at - best.at) : 0;
    if (slept > ASLEEP) this.samples = [{ at, wall, offset: best.offset + slept, guessed: true }];
    return slept;
  }

  now() {
    if (!this.samples.length) return Date.now();
    return performance.now() + Math.max(...this.samples.map((sample) => sample.offset)) + this.trip;
  }

  /** Times a few small answers; half the shortest is what a frame takes to get here. */
  async measure(path = '/healthz', times = 3) {
    let shortest = Infinity;
    for (let i = 0; i < times; i++) {
      const start = performance.now();
      try {
        await fetch(path, { cache: 'no-store' });
      } catch {
        return;
      }
      shortest = Math.min(shortest, performance.now() - start);
    }
    this.trip = Math.min(500, shortest / 2);
  }
}

/** What a seat's clock shows at server time `now`. */
export function reading(seat, now, shownAt = 0) {
  const running = seat.flag_at !== null && now >= shownAt;
  const left = seat.bank_ms === null ? null : Math.max(0, Math.min(seat.bank_ms, seat.flag_at === null ? Infinity : seat.flag_at - now));
  const free = running && seat.free_until !== null ? Math.max(0, seat.free_until - now) : 0;
  return { running, left, free };
}

/** One clock on a band: figures, ▶ while it runs, free seconds and their bar, red when low. */
export class ClockFace {
  constructor(element) {
    this.element = element;
    this.free = element.querySelector('.free');
    this.figures = element.querySelector('.figures');
    this.low = false;
  }

  /** Draws; true once when the time has just become low while it runs. */
  show(seat, now, { shownAt = 0, delayMs = 0, name = '' } = {}) {
    const { running, left, free } = reading(seat, now, shownAt);
    this.element.hidden = left === null;
    if (left === null) return false;
    const wasLow = this.low;
    this.low = left <= (this.low ? NOT_LOW : LOW);
    const fine = left < 10_000 && this.low && running && !free;
    const seconds = Math.ceil(free / 1000);
    set(this.figures, fine ? tenths(left) : formatClock(left));
    set(this.free, seconds ? `+${seconds}` : '');
    this.element.classList.toggle('running', running);
    this.element.classList.toggle('still', !running);
    this.element.classList.toggle('tenths', fine);
    this.element.classList.toggle('low', this.low && running && !free);
    this.element.style.setProperty('--free', delayMs ? Math.min(1, free / delayMs).toFixed(3) : 0);
    this.element.dataset.ms = Math.round(left);
    const label = t(running ? 'match.clock.running' : 'match.clock.still', { name, time: formatClock(left) });
    if (this.element.getAttribute('aria-label') !== label) this.element.setAttribute('aria-label', label);
    return this.low && !wasLow && running;
  }
}

function tenths(ms) {
  const value = Math.floor(ms / 100);
  return `0:0${Math.floor(value / 10)}.${value % 10}`;
}

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
