// The analysis of a finished match: asked for until it is there, and what both of its pages share: how its figures are
// written, the marks of the grades, and the words while there is none.
//
// Equities and luck are in points of a game: 1, 2 or 3 (ойн, марс, кокс). Amounts "for A" favour seat A when positive.

import { api, problemText } from './api.js';
import { lang, t } from './i18n.js';
import { el, icon } from './page.js';

const FIRST_MS = 1000;
const MOST_MS = 15_000;
const GROWTH = 1.5;

/** From the best to the worst: how a play is graded, and the sign that says so without colour. */
export const GRADES = { fine: '✓', doubtful: '?!', mistake: '?', blunder: '??' };
export const WRONG = ['mistake', 'blunder'];

/**
 * Asks for the analysis of a match until it is done, and hands every answer to `show`. Polls about once a second,
 * more slowly while nothing moves, and not at all while the page is hidden.
 *
 * What is handed on: the server's answer; `{state: 'unreachable'}` where there was none, and it is asked again;
 * `{state: 'absent'}` where there is nothing to ask about.
 */
export class AnalysisFeed {
  constructor(match, show) {
    this.path = `/api/matches/${encodeURIComponent(match)}/analysis`;
    this.show = show;
    this.delay = FIRST_MS;
    this.seen = '';
    this.timer = null;
    this.due = false;
    this.closed = false;
    this.onVisible = () => { if (!document.hidden && this.due) this.ask(); };
    document.addEventListener('visibilitychange', this.onVisible);
    this.ask();
  }

  /** Asks the server to analyse the match (again). Throws the Problem of a refusal, but for want of judges. */
  async order() {
    try {
      await api.post(this.path);
    } catch (problem) {
      if (problem.code !== 'no-judge') throw problem;
    }
    await this.ask();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.onVisible);
  }

  async ask() {
    clearTimeout(this.timer);
    this.due = false;
    let answer;
    try {
      answer = await api.get(this.path);
    } catch (problem) {
      answer = refused(problem);
    }
    if (this.closed) return;
    this.show(answer);
    this.plan(answer);
  }

  plan(answer) {
    const open = answer.state === 'waiting' || answer.state === 'running';
    if (!open && answer.state !== 'unreachable') return;
    const seen = JSON.stringify([answer.state, answer.progress]);
    this.delay = open && seen !== this.seen ? FIRST_MS : Math.min(MOST_MS, this.delay * GROWTH);
    this.seen = seen;
    this.timer = setTimeout(() => {
      this.due = true;
      if (!document.hidden) this.ask();
    }, this.delay);
  }
}

function refused(problem) {
  if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) return { state: 'absent' };
  return { state: 'unreachable' };
}

// ---- figures ----

/** 1,8: so many digits after the comma, always; a real minus. */
export function decimal(number, digits = 1) {
  return write(number, digits, 'negative');
}

/** +1,8, −0,6; what rounds to nothing has no sign. */
export function signedDecimal(number, digits = 1) {
  return write(number, digits, 'exceptZero');
}

function write(number, digits, signDisplay) {
  return new Intl.NumberFormat(lang(), { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay })
    .format(number).replace('-', '−');
}

/** 63 %, 63%. A chance is never shown as certain unless it is. */
export function percent(chance) {
  const shown = chance > 0 && chance < 1 ? Math.min(0.99, Math.max(0.01, chance)) : chance;
  return new Intl.NumberFormat(lang(), { style: 'percent' }).format(shown);
}

/** The sign of a grade in its own box; the word stands beside it. */
export function gradeMark(grade) {
  return el('span', { class: `grade ${grade}`, 'aria-hidden': 'true' }, GRADES[grade]);
}

// ---- while there is no analysis ----

/**
 * What is said while there is no analysis: a bar while it is computed, the reason where there is none, and a button
 * where asking may help. `update(answer)` brings it up to date; the node stays, so that nothing flickers.
 */
export class AnalysisState {
  constructor(order) {
    this.order = order;
    this.words = el('p', { class: 'analysis-words', role: 'status' });
    this.count = el('span', { class: 'num muted', hidden: true });  // beside the live words: it would be read out every second
    this.about = el('p', { class: 'analysis-words muted small', hidden: true }, t('analysis.about'));
    this.fill = el('i');
    this.bar = el('div', { class: 'progress', role: 'progressbar', 'aria-label': t('analysis.progress'), 'aria-valuemin': 0, hidden: true }, this.fill);
    this.button = el('button', { class: 'button', type: 'button', hidden: true, onclick: () => this.press() }, icon('again'), el('span'));
    this.root = el('div', { class: 'analysis-state' }, el('div', { class: 'analysis-line' }, this.words, this.count), this.bar, this.about, this.button);
  }

  async press() {
    this.button.setAttribute('aria-disabled', 'true');
    try {
      await this.order();
    } catch (problem) {
      this.words.textContent = problemText(problem);
    }
    this.button.removeAttribute('aria-disabled');
  }

  /** `why`: what the page knows of a match that cannot be analysed: `long`, `void` or null. */
  update({ state, reason = null, progress = null }, why = null) {
    const works = state === 'running' || state === 'waiting';
    this.bar.hidden = this.about.hidden = this.count.hidden = !works;
    if (works) this.showProgress(state, progress);
    const words = t(`analysis.${works ? state : this.key(state, reason, why)}`);
    if (this.words.textContent !== words) this.words.textContent = words;
    const ask = state === 'failed' ? 'again' : state === 'none' && reason === null && why === null ? 'order' : null;
    this.button.hidden = ask === null;
    if (ask) this.button.lastChild.textContent = t(`analysis.${ask}`);
  }

  showProgress(state, { done, of }) {
    const known = state === 'running' && of > 0;
    this.bar.classList.toggle('open', !known);
    this.bar.setAttribute('aria-valuemax', String(Math.max(1, of)));
    if (known) this.bar.setAttribute('aria-valuenow', String(done));
    else this.bar.removeAttribute('aria-valuenow');
    const count = known ? t('analysis.count', { done, of }) : '';
    this.bar.setAttribute('aria-valuetext', count || t('analysis.waiting'));
    this.count.textContent = count;
    this.fill.style.setProperty('--done', known ? String(done / of) : '0');
  }

  key(state, reason, why) {
    if (state === 'failed') return 'failed';
    if (state === 'unreachable') return 'unreachable';
    if (why !== null) return why;
    return { 'no-judge': 'no_judge', off: 'off', 'not-analysable': 'not_analysable', failed: 'failed' }[reason] ?? 'none';
  }
}
