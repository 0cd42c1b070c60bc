// A text with its line numbers, and marks in it where something is wrong or was read otherwise.
//
// div.record-text
//   div.numbers pre.gutter   numbers of the lines; those with a fault stand out
//   div.sheet
//     pre.marks              the same text behind the field, unseen but for its marks
//     textarea               what is typed, pasted or dropped

import { el } from './page.js';

export class RecordText {
  constructor(label, changed) {
    this.gutter = el('pre', { class: 'gutter', 'aria-hidden': 'true' });
    this.marks = el('pre', { class: 'marks', 'aria-hidden': 'true' });
    this.field = el('textarea', { rows: 14, wrap: 'off', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', 'aria-label': label });
    this.root = el('div', { class: 'record-text' }, el('div', { class: 'numbers' }, this.gutter), el('div', { class: 'sheet' }, this.marks, this.field));
    this.field.addEventListener('input', () => { this.clear(); changed(); });
    this.field.addEventListener('scroll', () => this.follow());
    this.clear();
  }

  get value() {
    return this.field.value;
  }

  set value(text) {
    this.field.value = text;
    this.clear();
  }

  /** No marks: the text is not what was checked any more. */
  clear() {
    this.marks.replaceChildren();
    this.number(new Set());
  }

  /** Marks these places: [{line, column, text, kind: 'fault' | 'note'}, …], one a spot. */
  mark(places) {
    const lines = this.value.split('\n');
    const at = new Map();
    for (const place of places) {
      if (!at.has(place.line)) at.set(place.line, []);
      at.get(place.line).push(place);
    }
    const parts = [];
    let plain = '';  // lines without marks are one node, however many they are
    for (const [n, line] of lines.entries()) {
      let done = 0;
      for (const { column, text, kind } of (at.get(n + 1) ?? []).sort((a, b) => a.column - b.column)) {
        const signs = Array.from(line);
        const start = signs.slice(0, column - 1).join('').length;
        if (start < done) continue;
        const end = Math.max(start + 1, Math.min(line.length, start + lengthIn(line.slice(start), text)));
        parts.push(plain + line.slice(done, start), el('mark', { class: kind }, line.slice(start, end) || ' '));
        plain = '';
        done = end;
      }
      plain += `${line.slice(done)}\n`;
    }
    this.marks.replaceChildren(...parts, plain);
    this.number(new Set(places.filter(({ kind }) => kind === 'fault').map(({ line }) => line)));
  }

  number(wrong) {
    const count = this.value.split('\n').length;
    if (count !== this.count || wrong.size || this.wrong) {
      const parts = [];
      let plain = '';
      for (let n = 1; n <= count; n += 1) {
        if (wrong.has(n)) {
          parts.push(plain, el('b', {}, `${n}`));
          plain = '\n';
        } else plain += `${n}\n`;
      }
      this.gutter.replaceChildren(...parts, plain);
    }
    this.count = count;
    this.wrong = wrong.size;
    this.follow();
  }

  follow() {
    this.gutter.style.transform = `translateY(${-this.field.scrollTop}px)`;
    this.marks.style.transform = `translate(${-this.field.scrollLeft}px, ${-this.field.scrollTop}px)`;
  }

  /** To a place of the text, which is selected and can be put right at once. */
  jump({ line, column, text }) {
    const lines = this.value.split('\n');
    const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    const here = lines[line - 1] ?? '';
    const start = Array.from(here).slice(0, column - 1).join('').length;
    const end = Math.min(here.length, start + lengthIn(here.slice(start), text));
    this.field.focus({ preventScroll: true });
    this.field.setSelectionRange(before + start, before + end);
    const height = parseFloat(getComputedStyle(this.field).lineHeight);
    this.field.scrollTop = Math.max(0, (line - 4) * height);
    const wide = this.field.scrollWidth / Math.max(...lines.map((one) => one.length), 1);
    this.field.scrollLeft = Math.max(0, start * wide - this.field.clientWidth / 2);
    this.root.scrollIntoView({ block: 'nearest' });
    this.follow();
  }
}

/** How much of the rest of a line a place covers: its own text if it stands there, else the next word. */
function lengthIn(rest, text) {
  if (text && rest.startsWith(text)) return text.length;
  return /^\S*/.exec(rest)[0].length;
}
