// The browser's part of the dice (§9.1): 16 bytes are drawn here, their SHA-256 goes to the server, and they are
// revealed when both hashes are in. The player sees nothing of it unless he asks; he may put his own text first.

import { el, icon } from './page.js';
import { t } from './i18n.js';
import { fromHex, hex, sha256, sha256Hex } from './sha256.js';

const HEX32 = /^[0-9a-fA-F]{32}$/;

function key(match) {
  return `seed-${match}`;
}

function stored(match) {
  for (const storage of ['localStorage', 'sessionStorage']) {
    try {
      const value = window[storage].getItem(key(match));
      if (HEX32.test(value ?? '')) return value;
    } catch { /* not available */ }
  }
  return null;
}

function keep(match, seed) {
  for (const storage of ['localStorage', 'sessionStorage']) {
    try { window[storage].setItem(key(match), seed); } catch { /* the other one, or neither */ }
  }
  kept.set(match, seed);
}

const kept = new Map();

/** This browser's seed for the match, 32 hex digits; drawn on first use. */
export function seedOf(match) {
  let seed = kept.get(match) ?? stored(match);
  if (!seed) {
    seed = hex(crypto.getRandomValues(new Uint8Array(16)));
    keep(match, seed);
  }
  return seed;
}

/** The player's own seed: 32 hex digits as they are, else the first 16 bytes of the SHA-256 of his text. */
export function chooseSeed(match, text) {
  const seed = HEX32.test(text.trim()) ? text.trim().toLowerCase() : hex(sha256(text).slice(0, 16));
  keep(match, seed);
  return seed;
}

/** The seed as it is committed to: SHA-256 of its 16 bytes, in hex. */
export function commitment(seed) {
  return sha256Hex(fromHex(seed));
}

/** Sends the commit, later the reveal, when the view shows that they are owed. */
export function takePart(connection, match, view) {
  const { seat, dice } = view;
  if (!seat || !dice || view.stage !== 'seeding' || view.waits) return;
  const seed = seedOf(match);
  const hash = commitment(seed);
  // A seat whose zeros stand already (the computer's) has nothing to commit to.
  const settled = (side) => Boolean(dice.hashes[side]) || dice.defaulted.includes(side);
  const waiting = (type) => connection.unanswered(type).length > 0;
  if (!dice.hashes[seat]) {
    if (!waiting('seed-commit')) connection.deliver({ type: 'seed-commit', hash });
  } else if (dice.hashes[seat] === hash && ['A', 'B'].every(settled) && !dice.seeds[seat] && !dice.defaulted.includes(seat)) {
    if (!waiting('seed-reveal')) connection.deliver({ type: 'seed-reveal', seed });
  }
}

/** Details for whoever asks: what was promised, both hashes, both seeds, and before the commit a field for an own text. */
export class DicePanel {
  constructor(match) {
    this.match = match;
    this.list = el('dl', { class: 'facts' });
    this.field = el('input', { type: 'text', maxlength: 200, autocomplete: 'off', spellcheck: 'false', id: 'own-seed' });
    this.answer = el('p', { class: 'small muted own-answer' }, t('match.dice.own_hint'));
    this.own = el('form', { class: 'own-seed', onsubmit: (event) => this._choose(event) },
      el('label', { class: 'field' }, t('match.dice.own'), this.field),
      el('button', { class: 'button', type: 'submit' }, t('match.dice.use')));
    this.check = el('a', { href: `/dice?match=${encodeURIComponent(match)}`, class: 'small' }, t('match.dice.check'));
    this.element = el('details', { class: 'panel', id: 'dice-panel' },
      el('summary', {}, icon('shield'), t('match.dice.title')),
      el('div', { class: 'panel-body' }, el('p', { class: 'small' }, t('match.dice.about')), this.own, this.answer, this.list, this.check));
  }

  _choose(event) {
    event.preventDefault();
    this.take();
  }

  /** Takes what is written in the field, if anything is: also when the match begins without a press on the button. */
  take() {
    if (!this.field.value.trim()) return;
    const seed = chooseSeed(this.match, this.field.value);
    this.answer.textContent = t('match.dice.chosen', { seed });
  }

  /** `view` may be null: then nothing has been committed to yet. */
  show(view, names = {}) {
    const dice = view?.dice;
    this.check.hidden = !dice;
    this.own.hidden = this.answer.hidden = Boolean(view && (!view.seat || dice.hashes[view.seat]));
    const rows = [];
    const row = (label, value) => value && rows.push(el('dt', {}, label), el('dd', { class: 'hash' }, value));
    if (dice) {
      row(t('match.dice.commitment'), dice.commitment);
      for (const seat of ['A', 'B']) {
        row(t('match.dice.hash', { name: names[seat] ?? seat }), dice.hashes[seat]);
        row(t('match.dice.seed', { name: names[seat] ?? seat }), dice.seeds[seat] && (dice.defaulted.includes(seat)
          ? t('match.dice.defaulted', { seed: dice.seeds[seat] }) : dice.seeds[seat]));
      }
      row(t('match.dice.server'), dice.seed);
    }
    this.list.replaceChildren(...rows);
  }
}
