// Stepping through a record: buttons, arrow keys, a slider, and the list of all steps.

import { t } from './i18n.js';
import { el } from './page.js';

const SIGNS = {
  first: 'M5 4.5v11M15.5 4.5v11L8 10z', prev: 'M13.5 4.5v11L6 10z', next: 'M6.5 4.5v11L14 10z', last: 'M15 4.5v11M4.5 4.5v11L12 10z',
};

export class Steps {
  /** `show`: see recordgames.js. */
  constructor(show) {
    this.show = show;
    this.step = 0;
    const to = { first: () => 0, prev: () => this.step - 1, next: () => this.step + 1, last: () => show.rows.length };
    this.buttons = Object.keys(to).map((key) => el('button', { class: 'button square', type: 'button', 'aria-label': t(`reader.step.${key}`), title: t(`reader.step.${key}`), click: () => this.go(to[key]()) },
      el('svg', { class: 'icon', viewBox: '0 0 20 20', 'aria-hidden': 'true' }, el('path', { d: SIGNS[key] }))));
    this.slider = el('input', { type: 'range', min: 0, max: show.rows.length, step: 1, 'aria-label': t('reader.step.position'), input: () => this.go(Number(this.slider.value)) });
    this.now = el('b');
    this.figure = el('span', { class: 'replay-roll' });
    this.count = el('span', { class: 'muted small num' });
    this.status = el('p', { class: 'sr', role: 'status' });
    this.lines = [this.line(0), ...show.rows.map((_, n) => this.line(n + 1))];
    this.table = el('div', { class: 'replay-record', tabindex: 0, role: 'region', 'aria-label': t('reader.step.list') },
      el('table', { class: 'record' }, el('thead', {}, el('tr', {}, ['№', ...show.columns].map((name) => el('th', { scope: 'col' }, name)))), el('tbody', {}, this.lines)));
    const bar = el('div', { class: 'record-bar' }, el('p', { class: 'replay-now' }, this.figure, this.now, this.count), this.slider, el('div', { class: 'record-buttons' }, this.buttons));
    this.root = el('section', { class: `record-show${show.wide ? ' wide' : ''}`, 'aria-label': t('reader.step.title') },
      el('div', { class: 'record-stage' }, show.root, bar),
      el('div', { class: 'record-side' }, el('div', { class: 'card' }, el('h2', {}, t('reader.step.list')), this.table, el('p', { class: 'muted small' }, t('reader.step.keys'))), show.after ?? ''), this.status);
    this.key = (event) => this.pressed(event);
    addEventListener('keydown', this.key);
    this.go(0);
  }

  remove() {
    removeEventListener('keydown', this.key);
    this.root.remove();
  }

  line(n) {
    const row = this.show.rows[n - 1];
    const cells = row ? row.cells.map((cell) => el('td', {}, cell)) : [el('td', { colspan: this.show.columns.length })];
    const name = row ? row.label : '0';
    return el('tr', { click: () => this.go(n) }, el('td', {}, el('button', { class: 'link num', type: 'button', 'aria-label': row ? t('reader.step.to', { label: name }) : this.show.start }, name)), row ? cells : el('td', { colspan: this.show.columns.length }, this.show.start));
  }

  pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest('input, textarea, select')) return;
    const to = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: this.show.rows.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to);
  }

  go(step) {
    this.lines[this.step].classList.remove('open');
    this.lines[this.step].removeAttribute('aria-current');
    this.step = Math.max(0, Math.min(step, this.show.rows.length));
    const here = this.lines[this.step];
    here.classList.add('open');
    here.setAttribute('aria-current', 'step');
    this.reveal(here);
    this.show.draw(this.step);
    const row = this.show.rows[this.step - 1];
    const texts = row ? row.cells.map((cell) => cell.textContent ?? cell).filter(Boolean) : [];
    this.now.textContent = row ? row.name ?? row.label : this.show.start;
    const figure = this.show.figure(this.step);
    this.figure.replaceChildren(...(figure ? [figure] : []));
    this.count.textContent = t('reader.step.of', { n: this.step, all: this.show.rows.length });
    this.slider.value = String(this.step);
    this.slider.setAttribute('aria-valuetext', this.now.textContent);
    this.status.textContent = [this.now.textContent, ...texts].join('. ');
    const [first, prev, next, last] = this.buttons;
    for (const button of [first, prev]) button.toggleAttribute('data-end', this.step === 0);
    for (const button of [next, last]) button.toggleAttribute('data-end', this.step === this.show.rows.length);
  }

  /** Scrolls the list, never the page. */
  reveal(row) {
    const box = this.table;
    const head = box.querySelector('thead').offsetHeight;
    if (row.offsetTop - head < box.scrollTop) box.scrollTop = row.offsetTop - head;
    else if (row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = row.offsetTop + row.offsetHeight - box.clientHeight;
  }
}
