// The objective result on the result card: what is left of a match without the luck of its dice (§6.4), in two
// sentences, as a sum that can be seen, and the error rates beside it. The figures are the server's.

import { AnalysisFeed, AnalysisState, WRONG, decimal, signedDecimal } from './analysis.js';
import { roundOf } from './figures.js';
import { t } from './i18n.js';
import { el, icon } from './page.js';

/** Less than this is nothing: it would be written as 0,0. */
const LEAST = 0.05;

export class Objective {
  /** `card`: the result card, which knows who looks at it and how people are called. */
  constructor(card) {
    this.card = card;
    this.state = new AnalysisState(() => this.feed.order());
    this.body = el('div', { class: 'objective-body' }, this.state.root);
    this.live = el('p', { class: 'sr', role: 'status' });
    this.waited = false;
    this.root = el('section', { class: 'card objective', 'aria-labelledby': 'objective-title', hidden: true },
      el('h2', { class: 'row', id: 'objective-title' }, icon('scales'), t('analysis.title')), this.body, this.live);
    this.feed = new AnalysisFeed(card.view.match, (answer) => this.update(answer));
  }

  close() {
    this.feed.close();
  }

  update(answer) {
    this.root.hidden = answer.state === 'absent';
    if (answer.state === 'done' && answer.analysis) {
      this.body.replaceChildren(...this.found(answer.analysis));
      if (this.waited) this.live.textContent = this.body.querySelector('.objective-words').textContent;
      return;
    }
    this.waited = true;
    if (this.state.root.parentNode !== this.body) this.body.replaceChildren(this.state.root);
    this.state.update(answer, this.why());
  }

  /** What this page knows of a match that nobody will analyse. */
  why() {
    if (this.card.unplayed()) return 'void';
    return this.card.rules.variant === 'long' ? 'long' : null;
  }

  found(analysis) {
    const { card } = this;
    const objective = analysis.objective_for_A;
    return [
      el('p', { class: 'objective-words' }, objective === null ? t('analysis.void')
        : [el('span', {}, this.luckWords(card.forMe(analysis.luck_for_A))), ' ', el('span', {}, this.restWords(card.forMe(objective)))]),
      el('div', { class: 'objective-two' },
        el('div', { class: 'sum-box' }, objective === null ? null : this.sum(analysis), el('p', {}, this.partedWords(analysis))),
        this.players(analysis)),
      el('p', { class: 'row between objective-foot' },
        this.mistakesLink(analysis),
        el('small', { class: 'muted' }, t('analysis.judges', { judges: analysis.judges.join(', ') }))),
    ];
  }

  // ---- the two sentences ----

  luckWords(luck) {
    if (Math.abs(luck) < LEAST) return t('analysis.luck_none');
    const seat = luck > 0 ? this.card.me : this.card.them;
    return this.about('luck', seat, luck);
  }

  restWords(rest) {
    if (Math.abs(rest) < LEAST) return t('analysis.rest_none');
    return this.about('rest', rest > 0 ? this.card.me : this.card.them, rest);
  }

  /** A sentence with an amount in favour of a seat: analysis.<key>_you | _opponent | _player. */
  about(key, seat, amount) {
    return t(`analysis.${key}_${this.card.role(seat)}`, { name: this.card.name(seat), value: decimal(Math.abs(amount)) });
  }

  // ---- the sum: the games, less luck, is what is left ----

  sum(analysis) {
    const { card } = this;
    const result = card.forMe(analysis.result_for_A);
    const luck = card.forMe(analysis.luck_for_A);
    const rest = card.forMe(analysis.objective_for_A);
    const rows = [
      { key: 'result', from: 0, to: result, value: result },
      { key: 'luck', from: rest, to: result, value: luck },
      { key: 'rest', from: 0, to: rest, value: rest },
    ];
    const ends = [0, result, rest];
    const least = Math.min(...ends, -0.5);
    const most = Math.max(...ends, 0.5);
    const at = (n) => (n - least) / (most - least);
    const list = el('dl', { class: 'sum' }, rows.map(({ key, from, to, value }) => {
      const bar = el('i', { class: `bar ${key}` });
      bar.style.setProperty('--from', String(at(Math.min(from, to))));
      bar.style.setProperty('--to', String(at(Math.max(from, to))));
      return [el('dt', {}, t(`analysis.sum.${key}`)), el('dd', {}, el('span', { class: 'track', 'aria-hidden': 'true' }, bar), el('b', {}, signedDecimal(value, 2)))];
    }));
    list.style.setProperty('--zero', String(at(0)));
    return [list, el('p', { class: 'muted' }, t(card.seat === null ? 'analysis.sum.for' : 'analysis.sum.for_you', { name: card.name(card.me) }), ' ', t('analysis.unit'))];
  }

  // ---- both players ----

  players({ players }) {
    const { card } = this;
    const seats = [card.me, card.them];
    const row = (key, figure) => el('tr', {}, el('th', { scope: 'row' }, t(`analysis.players.${key}`)), seats.map((seat) => el('td', { class: 'r' }, figure(players[seat]))));
    return el('table', { class: 'list judged' },
      el('caption', { class: 'sr' }, t('analysis.players.title')),
      el('thead', {}, el('tr', {}, el('td'), seats.map((seat) => el('th', { class: 'r', scope: 'col' }, card.label(seat))))),
      el('tbody', {},
        row('rate', (one) => (one.error_rate === null ? '—' : decimal(one.error_rate, 3))),
        row('decisions', (one) => String(one.decisions)),
        WRONG.map((grade) => row(grade, (one) => String(one.grades[grade]))),
        row('luck', (one) => signedDecimal(one.luck, 2))));
  }

  partedWords({ parted, turns }) {
    if (parted === null) return t('analysis.never_parted');
    return t('analysis.parted', { n: parted, all: turns.length ? roundOf(turns.at(-1).turn) : parted });
  }

  /** The replay, at the first mistake: one of the viewer's own, if there is one. */
  mistakesLink({ turns }) {
    const { card } = this;
    const wrong = (seat) => turns.find((turn) => WRONG.includes(turn[seat].grade));
    const own = card.seat === null ? null : wrong(card.seat);
    const first = own ?? turns.find((turn) => WRONG.includes(turn.A.grade) || WRONG.includes(turn.B.grade));
    return el('a', { class: 'button', href: `/replay/${card.view.match}${first ? `#${first.turn}` : ''}` }, icon('eye'),
      t(own ? 'analysis.see_own' : first ? 'analysis.see' : 'analysis.see_all'));
  }
}
