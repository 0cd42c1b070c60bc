// What is said to the player. One line says what is next; it is the page's only live region, so that a screen
// reader hears each thing once. Over the board a short announcement tells of the swap to the eye.

import { formatClock, t } from './i18n.js';
import { el, icon, seatDisc } from './page.js';

/** The line above the buttons. A text is [strong, rest]; a passing one stands until the player acts or its time is over. */
export class Prompt {
  constructor() {
    this.element = el('div', { class: 'prompt', role: 'status', id: 'prompt' }, el('p'));
    this.base = ['', ''];
    this.passing = null;
  }

  /** What stands here when nothing special is to be said. */
  set(strong, rest = '', { warn = false } = {}) {
    this.base = [strong, rest, warn];
    if (!this.passing) this._show(this.base);
  }

  /** Something to be said now. */
  say(strong, rest = '', { warn = false, ms = 0 } = {}) {
    clearTimeout(this.timer);
    this.passing = [strong, rest, warn];
    this._show(this.passing);
    if (ms) this.timer = setTimeout(() => this.clear(), ms);
  }

  /** Back to what is next: the player has acted. */
  clear() {
    clearTimeout(this.timer);
    if (!this.passing) return;
    this.passing = null;
    this._show(this.base);
  }

  /** Back to what is next, unless it was a warning. */
  giveWay() {
    if (!this.passing?.[2]) this.clear();
  }

  _show([strong, rest, warn]) {
    const key = JSON.stringify([strong, rest, warn]);
    if (key === this.shown) return;  // the same words are not read out again
    this.shown = key;
    this.element.classList.toggle('warn', Boolean(warn));
    this.element.replaceChildren(...[warn ? icon('alert') : null,
      el('p', {}, strong ? el('b', {}, strong) : null, strong && rest ? ' ' : null, rest)].filter(Boolean));
  }
}

/** Over the board while an arbiter's pause lasts: why, and for how long at most. The prompt says it to a screen reader. */
export class PauseBox {
  constructor() {
    this.reason = el('span', { class: 'reason' });
    this.left = el('span', { class: 'num' });
    this.element = el('div', { class: 'announce over pause', hidden: true }, icon('pause'),
      el('p', {}, el('strong', {}, t('match.pause.title')), this.reason, this.left));
  }

  show(pause) {
    this.until = pause?.until ?? null;
    this.element.hidden = !pause;
    this.reason.textContent = pause?.reason ?? '';
  }

  tick(now) {
    if (this.until === null) return;
    const words = t('match.pause.until', { time: formatClock(this.until - now) });
    if (this.left.textContent !== words) this.left.textContent = words;
  }
}

/** The announcement over the board: seats have changed. Gone after 1.6 s or at the first touch. */
export function announceSwap(stage, { color, title, text }) {
  stage.querySelector('.announce:not(.pause)')?.remove();
  const other = color === 'white' ? 'black' : 'white';
  // Only for the eye: the prompt says the same to a screen reader.
  const box = el('div', { class: 'announce over', 'aria-hidden': 'true' },
    el('span', { class: 'pair' }, seatDisc(other), icon('swap'), seatDisc(color)),
    el('p', {}, el('strong', {}, title), text));
  stage.append(box);
  const gone = () => {
    removeEventListener('pointerdown', gone, true);
    removeEventListener('keydown', gone, true);
    clearTimeout(timer);
    box.remove();
  };
  const timer = setTimeout(gone, 1600);
  addEventListener('pointerdown', gone, true);
  addEventListener('keydown', gone, true);
}
