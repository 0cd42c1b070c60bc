// The review beside the replay: what each play of the shown phase was worth, the better ones laid out on the board, the
// way from mistake to mistake, and the course of the whole match. Reads the server's analysis; judges nothing itself.

import { AnalysisFeed, AnalysisState, GRADES, WRONG, decimal, gradeMark, percent, signedDecimal } from './analysis.js';
import { Chart } from './chart.js';
import { nameText, other, phaseOf, placeOf, roundOf } from './figures.js';
import { BAR, OFF, afterMoves } from './geometry.js';
import { notation, t } from './i18n.js';
import { el, icon } from './page.js';

const SIGNS = { prev: 'M12.5 5 7.5 10l5 5', next: 'M7.5 5l5 5-5 5' };
const sign = (name) => el('svg', { class: 'icon', viewBox: '0 0 20 20', 'aria-hidden': 'true' }, el('path', { d: SIGNS[name] }));

/** The moves of a play in standard notation, `bar/21 13/8(2) 6/5*`, as boards draw them: [from, to, die, hit]. */
export function movesOf(play) {
  return play.split(' ').flatMap((item) => {
    const found = /^(bar|\d+)\/(off|\d+)(\*?)(?:\((\d)\))?$/.exec(item);
    if (!found) return [];
    const [, from, to, hit, times] = found;
    const start = from === 'bar' ? BAR : Number(from);
    const end = to === 'off' ? OFF : Number(to);
    return Array.from({ length: Number(times ?? 1) }, (_, n) => [start, end, 0, hit && n === 0 ? 1 : 0]);
  });
}

export class Review {
  /** `replay`: the page's player, with `info`, `phases`, `before(step)`, `step`, `go(step)` and `redraw()`. */
  constructor(replay) {
    this.replay = replay;
    this.me = replay.info.seat ?? 'A';
    this.them = other(this.me);
    this.analysis = null;
    this.shown = { X: null, Y: null };  // the better play that stands on a board instead of the one made
    this.worth = Object.fromEntries(['X', 'Y'].map((game) => [game, el('div', { class: 'worth', hidden: true })]));
    this.state = new AnalysisState(() => this.feed.order());
    this.body = el('div', { class: 'review-body' }, this.state.root);
    this.root = el('section', { class: 'card review', 'aria-labelledby': 'review-title', hidden: true },
      el('h2', { class: 'row', id: 'review-title' }, icon('scales'), t('analysis.review')), this.body);
    this.nav = this.buildNav();
    this.feed = new AnalysisFeed(replay.info.id, (answer) => this.update(answer));
  }

  name(seat) {
    return nameText(this.replay.info.players[seat]);
  }

  label(seat) {
    return seat === this.replay.info.seat ? t('common.You') : this.name(seat);
  }

  /** The two halves of a step, by seat; null before the first and where nothing is judged. */
  halves(step) {
    const turn = this.analysis?.turns[step - 1] ?? null;
    return turn && turn.turn === this.replay.phases[step - 1]?.turn ? turn : null;
  }

  update(answer) {
    this.root.hidden = answer.state === 'absent';
    if (answer.state === 'done' && answer.analysis) {
      this.analysis = answer.analysis;
      this.build();
      this.replay.go(this.replay.step);
      return;
    }
    const { outcome } = this.replay.view.result ?? {};
    const why = outcome === 'aborted' || outcome === 'void' ? 'void' : this.replay.info.ruleset.variant === 'long' ? 'long' : null;
    this.state.update(answer, why);
  }

  // ---- from mistake to mistake ----

  buildNav() {
    const button = (key, to) => el('button', { class: 'button square', type: 'button', 'aria-label': t(`analysis.${key}`), title: t(`analysis.${key}`), onclick: () => this.toWrong(to) },
      key === 'prev' ? [sign('prev'), el('b', { 'aria-hidden': 'true' }, GRADES.mistake)] : [el('b', { 'aria-hidden': 'true' }, GRADES.mistake), sign('next')]);
    this.prev = button('prev', -1);
    this.next = button('next', 1);
    this.whose = el('select', { 'aria-label': t('analysis.whose'), onchange: () => this.showNav() },
      el('option', { value: '' }, t('analysis.whose_both')),
      [this.me, this.them].map((seat) => el('option', { value: seat }, seat === this.replay.info.seat ? t('analysis.whose_mine') : t('analysis.whose_of', { name: this.name(seat) }))));
    return el('div', { class: 'mistakes', role: 'group', 'aria-label': t('analysis.grades.mistake'), hidden: true }, this.prev, this.next, this.whose);
  }

  /** Is this half a play of one of these grades? */
  isOf(step, grades, seats = this.whose.value ? [this.whose.value] : ['A', 'B']) {
    const halves = this.halves(step);
    return halves !== null && seats.some((seat) => grades.includes(halves[seat].grade));
  }

  /** The nearest step with such a play, that way from the shown one; 0: there is none. */
  nearest(way, grades, seats) {
    for (let step = this.replay.step + way; step >= 1 && step <= this.replay.phases.length; step += way) {
      if (this.isOf(step, grades, seats)) return step;
    }
    return 0;
  }

  toWrong(way) {
    const step = this.nearest(way, WRONG);
    if (step) this.replay.jump(step);
  }

  /** The next play of this grade by this seat, from the start again after the last. */
  toGrade(seat, grade) {
    let step = this.nearest(1, [grade], [seat]);
    for (let n = 1; !step && n <= this.replay.phases.length; n += 1) if (this.isOf(n, [grade], [seat])) step = n;
    if (step) this.replay.jump(step);
  }

  showNav() {
    for (const [button, way] of [[this.prev, -1], [this.next, 1]]) {
      button.setAttribute('aria-disabled', String(!this.nearest(way, WRONG)));
    }
  }

  // ---- the shown phase ----

  /** Called with every step of the replay. */
  show(step) {
    this.shown = { X: null, Y: null };
    if (!this.analysis) return;
    for (const game of ['X', 'Y']) this.showWorth(game, step);
    this.showNav();
    this.chart.mark(step);
    const chances = ['X', 'Y'].map((game) => ({ game, chance: this.chances[game][step - 1] ?? null }));
    this.now.replaceChildren(...chances.map(({ game, chance }) => el('span', { class: `key ${game.toLowerCase()}` }, t('analysis.chart.now', { game, value: chance === null ? '—' : percent(chance) }))));
    for (const row of this.rows) row.classList.toggle('open', Number(row.dataset.round) === Math.ceil(step / 2));
  }

  showWorth(game, step) {
    const box = this.worth[game];
    box.hidden = false;
    const halves = this.halves(step);
    const seat = halves && ['A', 'B'].find((one) => halves[one].game === game);
    if (!seat) {
      box.replaceChildren();
      return;
    }
    const half = halves[seat];
    const said = half.kind === 'pass' || half.kind === 'missed';  // by the line above
    box.replaceChildren(...[
      said ? null : el('p', { class: 'worth-head' }, this.gradeWords(half),
        half.loss > 0 ? el('span', { class: 'num' }, t('analysis.loss', { value: decimal(half.loss, 3) })) : null),
      el('p', { class: 'worth-facts muted num' },
        el('span', {}, t('analysis.chance', { value: percent(half.win) })),
        el('span', {}, t('analysis.roll_luck', { value: signedDecimal(half.luck, 2) }))),
      half.better.length ? this.betterPlays(game, half) : null,
    ].filter(Boolean));
  }

  gradeWords(half) {
    if (half.kind === 'forced') return el('b', {}, t('analysis.grade.forced'));
    return el('span', { class: 'graded' }, gradeMark(half.grade), el('b', {}, t(`analysis.grade.${half.loss === 0 ? 'best' : half.grade}`)));
  }

  betterPlays(game, half) {
    const show = (play) => {
      this.shown[game] = this.shown[game] === play ? null : play;
      for (const button of box.querySelectorAll('button')) button.setAttribute('aria-pressed', String(button.dataset.play === this.shown[game]));
      this.replay.redraw(game);
    };
    const box = el('div', { class: 'better', role: 'group', 'aria-label': t('analysis.better_group', { game }) },
      el('span', { class: 'sr' }, t('analysis.better')),
      half.better.map(({ play, equity }) => {
        const gain = signedDecimal(equity - half.equity, 3);
        return el('button', { class: 'play-chip num', type: 'button', 'aria-pressed': 'false', 'data-play': play, 'aria-label': t('analysis.better_label', { play: notation(play), value: gain }), onclick: () => show(play) },
          el('b', {}, notation(play)), el('span', {}, gain));
      }));
    return box;
  }

  /** What a board shows instead of the play made: the position after a better one, its moves marked. Null: as it was. */
  variation(game, step) {
    const play = this.shown[game];
    const halves = this.halves(step);
    if (!play || !halves) return null;
    const { color } = placeOf(['A', 'B'].find((one) => halves[one].game === game), phaseOf(halves.turn));
    const moves = movesOf(play);
    const sides = afterMoves(this.replay.before(step)[game], color, moves, this.replay.info.ruleset.variant);
    return { ...sides, draft: { color, moves, arrow: true }, play };
  }

  /** What is read out of a step, after the plays. */
  spoken(step) {
    const halves = this.halves(step);
    if (!halves) return [];
    return ['A', 'B'].map((seat) => ({ seat, half: halves[seat] })).filter(({ half }) => half.grade !== null && half.grade !== 'fine')
      .map(({ seat, half }) => `${this.label(seat)}: ${t(`analysis.grade.${half.grade}`)}, ${t('analysis.loss', { value: decimal(half.loss, 3) })}`);
  }

  // ---- the whole match ----

  build() {
    const { turns, players, parted } = this.analysis;
    const rounds = turns.length ? roundOf(turns.at(-1).turn) : 0;
    const perRound = (figure) => Object.fromEntries([['mine', this.me], ['theirs', this.them]].map(([who, seat]) => [who,
      Array.from({ length: rounds }, (_, n) => turns.filter((turn) => roundOf(turn.turn) === n + 1).reduce((sum, turn) => sum + figure(turn[seat]), 0))]));
    this.luck = perRound((half) => half.luck);
    this.loss = perRound((half) => half.loss);
    this.chances = this.myChances();
    this.nav.hidden = false;
    const whose = this.replay.info.seat ? t('analysis.chart.yours') : t('analysis.chart.of', { name: this.name(this.me) });
    const words = {
      chances: t('analysis.chart.chances', { whose }), luck: t('analysis.chart.luck'), loss: t('analysis.chart.loss'),
      round: t('analysis.chart.round'), parted: t('analysis.chart.parted'), label: t('analysis.chart.label', { rounds }),
    };
    this.chart = new Chart({ steps: turns.length, rounds, chances: this.chances, luck: this.luck, loss: this.loss, parted, words }, (step) => this.replay.jump(step));
    this.now = el('p', { class: 'chart-now num' });
    this.body.replaceChildren(
      el('div', { class: 'course' },
        el('div', { class: 'chart-keys' }, this.now,
          el('p', { class: 'chart-who' }, [['mine', this.me], ['theirs', this.them]].map(([who, seat]) => el('span', { class: `key ${who}` }, this.label(seat))))),
        this.chart.root,
        this.table(rounds)),
      this.summary(players));
  }

  /** Chance of the viewer (or of A) to win each game after every phase, 0 to 1. */
  myChances() {
    const of = (game) => this.analysis.turns.map((turn) => {
      const seat = ['A', 'B'].find((one) => turn[one].game === game);
      return seat === this.me ? turn[seat].win : 1 - turn[seat].win;
    });
    return { X: of('X'), Y: of('Y') };
  }

  /** Both players' decisions; a count leads to the next of its plays. */
  summary(players) {
    const seats = [this.me, this.them];
    const row = (head, cell) => el('tr', {}, el('th', { scope: 'row' }, head), seats.map((seat) => el('td', { class: 'r' }, cell(seat))));
    const count = (seat, grade) => {
      const n = players[seat].grades[grade];
      if (!n) return '0';
      const words = t(`analysis.grades.${grade}`);
      return el('button', { class: 'count-button', type: 'button', 'aria-label': t('analysis.jump', { name: this.label(seat), grade: words, n }), onclick: () => this.toGrade(seat, grade) }, n);
    };
    return el('table', { class: 'list judged' },
      el('caption', { class: 'sr' }, t('analysis.players.title')),
      el('thead', {}, el('tr', {}, el('td'), seats.map((seat) => el('th', { class: 'r', scope: 'col' }, this.label(seat))))),
      el('tbody', {},
        ['doubtful', ...WRONG].map((grade) => row(el('span', { class: 'graded' }, gradeMark(grade), t(`analysis.grades.${grade}`)), (seat) => count(seat, grade))),
        row(t('analysis.players.rate'), (seat) => (players[seat].error_rate === null ? '—' : decimal(players[seat].error_rate, 3))),
        row(t('analysis.players.decisions'), (seat) => String(players[seat].decisions)),
        row(t('analysis.players.luck'), (seat) => signedDecimal(players[seat].luck, 2))));
  }

  table(rounds) {
    const head = [t('analysis.chart.round'), ...['X', 'Y'].map((game) => t('analysis.chart.chance_in', { game })),
      ...['luck_of', 'loss_of'].flatMap((key) => [this.me, this.them].map((seat) => t(`analysis.chart.${key}`, { name: this.label(seat) })))];
    this.rows = Array.from({ length: rounds }, (_, n) => {
      const last = Math.min(2 * n + 1, this.analysis.turns.length - 1);  // a round is left as its second phase ends
      return el('tr', { 'data-round': n + 1 },
        el('th', { scope: 'row' }, el('button', { class: 'link num', type: 'button', onclick: () => this.replay.jump(2 * n + 1) }, n + 1)),
        ['X', 'Y'].map((game) => el('td', { class: 'r' }, percent(this.chances[game][last]))),
        [this.luck, this.loss].flatMap((bars) => ['mine', 'theirs'].map((who) => el('td', { class: 'r' }, bars === this.luck ? signedDecimal(bars[who][n], 2) : decimal(bars[who][n], 3)))));
    });
    return el('details', { class: 'figures' }, el('summary', {}, t('analysis.chart.table')),
      el('div', { class: 'figures-box', tabindex: 0, role: 'region', 'aria-label': t('analysis.chart.table') },
        el('table', { class: 'list' }, el('thead', {}, el('tr', {}, head.map((words, k) => el('th', { class: k ? 'r' : null, scope: 'col' }, words)))), el('tbody', {}, this.rows))));
  }
}
