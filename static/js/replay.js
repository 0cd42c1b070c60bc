// The replay: both games side by side, phase by phase, from GET /api/matches/{id}/history. Finished phases only,
// so it may be watched while the match goes on.

import { api, problemText } from './api.js';
import { Board } from './board.js';
import { PositionIds, downloadsCard } from './downloads.js';
import { alertBox, dice, nameText, phaseOf, pips, placeOf, rollText, roundOf, seatOf } from './figures.js';
import { notation, formatClock, t } from './i18n.js';
import { el, icon, seatDisc, setTitle, startPage } from './page.js';
import { Review } from './review.js';

const REFRESH_MS = 5000;
const SPEEDS = { slow: 3200, normal: 1600, fast: 700 };

await startPage({ namespaces: ['site', 'analysis'], title: 'site.replay.title' });
const main = document.getElementById('replay');
const id = decodeURIComponent(location.pathname.replace(/^\/replay\//, '').replace(/\/$/, ''));
const narrow = matchMedia('(max-width: 599px)');

/** Icons of the player's buttons that the common sprite lacks. */
const SIGNS = {
  first: 'M5 4.5v11M15.5 4.5v11L8 10z', prev: 'M13.5 4.5v11L6 10z', next: 'M6.5 4.5v11L14 10z', last: 'M15 4.5v11M4.5 4.5v11L12 10z',
};
const sign = (name) => el('svg', { class: 'icon', viewBox: '0 0 20 20', 'aria-hidden': 'true' }, el('path', { d: SIGNS[name] }));

class Replay {
  constructor(history) {
    this.take(history);
    this.step = 0;          // 0: the start, n: after the n-th finished phase
    this.bottom = 'white';
    this.speed = 'normal';
    this.timer = null;
    this.review = null;     // once the match is over
    this.build();
    const asked = this.phases.findIndex((phase) => phase.turn === location.hash.slice(1));
    this.go(asked >= 0 ? asked + 1 : 0);
  }

  take({ info, view, phases, start, ids }) {
    this.names = ids;       // of the positions, in other programs
    this.info = info;
    this.view = view;
    this.phases = phases;
    this.start = start.boards ?? start;
    // The phase where the boards first differ: what stands there is read off, nothing is computed.
    this.parted = view.parted === null ? -1 : phases.findIndex((phase) =>
      roundOf(phase.turn) === view.parted && JSON.stringify(phase.boards.X) !== JSON.stringify(phase.boards.Y));
    if (view.parted !== null && this.parted < 0) this.parted = phases.findIndex((phase) => roundOf(phase.turn) === view.parted);
  }

  name(seat) {
    return nameText(this.info.players[seat]);
  }

  // ---- the page ----

  build() {
    const both = { a: nameText(this.info.players.A), b: nameText(this.info.players.B) };
    setTitle(`${t('site.replay.title')}: ${t('site.replay.of', both)}`);
    const button = (key, sign_, go) => el('button', { class: 'button square', type: 'button', 'aria-label': t(`site.replay.${key}`), title: t(`site.replay.${key}`), click: go }, sign_);

    this.playButton = el('button', { class: 'button primary square', type: 'button', click: () => this.toggle() });
    this.slider = el('input', { type: 'range', min: 0, step: 1, 'aria-label': t('site.replay.position'), input: () => this.jump(Number(this.slider.value)) });
    this.count = el('span', { class: 'muted small num' });
    this.turn = el('b');
    this.roll = el('span', { class: 'replay-roll' });
    this.same = el('span', { class: 'mark' }, t('site.replay.same'));
    this.status = el('p', { class: 'sr', role: 'status' });
    this.partingButton = el('button', { class: 'button to-parting', type: 'button', click: () => this.jump(this.parted + 1) }, icon('fork'), el('span'));
    this.running = el('p', { class: 'notice', hidden: true }, icon('play'), el('span', {}, t('site.replay.running')));

    this.reviewNav = el('div', { class: 'review-nav' });
    this.reviewBox = el('div', { class: 'review-box' });
    this.keys = el('p', { class: 'muted small' }, t('site.replay.keys'));

    this.boards = {};
    const stage = el('section', { class: 'replay-boards' }, ['X', 'Y'].map((game) => this.boardOf(game)));

    const bottom = el('fieldset', { class: 'inline-choice' }, el('legend', {}, t('site.replay.bottom')), el('div', { class: 'choice' },
      ['white', 'black'].map((color) => el('label', {}, el('input', { type: 'radio', name: 'bottom', value: color, checked: color === this.bottom, change: () => { this.bottom = color; this.go(this.step); } }), t(`site.replay.bottom_${color}`)))));
    const speed = el('fieldset', { class: 'inline-choice' }, el('legend', {}, t('site.replay.speed')), el('div', { class: 'choice' },
      Object.keys(SPEEDS).map((key) => el('label', {}, el('input', { type: 'radio', name: 'speed', value: key, checked: key === this.speed, change: () => { this.speed = key; if (this.timer) this.run(); } }), t(`site.replay.${key}`)))));

    this.body = el('tbody');
    const record = el('div', { class: 'replay-record', tabindex: 0, role: 'region', 'aria-label': t('site.replay.record') },
      el('table', { class: 'record' },
        el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, t('site.replay.position')), el('th', { scope: 'col' }, t('site.replay.dice')), ['A', 'B'].map((seat) => el('th', { scope: 'col' }, this.name(seat))))),
        this.body));
    this.recordBox = record;

    main.replaceChildren(
      el('header', { class: 'row between replay-head' },
        el('h1', {}, t('site.replay.of', both)),
        el('a', { class: 'small', href: `/match/${this.info.id}` }, t(this.info.state === 'over' ? 'site.replay.result' : 'site.replay.match'))),
      this.running,
      stage,
      el('section', { class: 'replay-bar', 'aria-label': t('site.replay.title') },
        el('p', { class: 'replay-now' }, this.roll, this.turn, this.same, this.count),
        this.slider,
        el('div', { class: 'replay-buttons' },
          button('first', sign('first'), () => this.jump(0)),
          button('prev', sign('prev'), () => this.jump(this.step - 1)),
          this.playButton,
          button('next', sign('next'), () => this.jump(this.step + 1)),
          button('last', sign('last'), () => this.jump(this.phases.length)),
          this.partingButton,
          this.reviewNav)),
      this.reviewBox,
      el('section', { class: 'replay-more' },
        el('div', { class: 'card' }, el('h2', {}, t('site.replay.record')), record),
        el('div', { class: 'card' }, bottom, speed, this.keys)),
      this.status);
    this.showFiles();
    this.refresh();
    addEventListener('keydown', (event) => this.key(event));
    narrow.addEventListener('change', () => this.redrawBoards());
  }

  /** What other programs call the positions; once the match is over, its files. */
  showFiles() {
    this.ids ??= new PositionIds();
    const files = this.info.state === 'over' ? [downloadsCard(id, this.info.ruleset.variant)] : [];
    this.filesBox ??= el('section', { class: 'replay-files' });
    this.filesBox.replaceChildren(this.ids.root, ...files);
    this.status.before(this.filesBox);
  }

  boardOf(game) {
    const box = el('div', { class: 'replay-board' });
    const caption = el('p', { class: 'replay-cap' }, el('b', {}, game), ['white', 'black'].map((color) =>
      el('span', { class: 'replay-who' }, seatDisc(color), el('span', { class: 'replay-name' }, this.name(seatOf(game, color))), el('span', { class: 'muted num', 'data-pips': color }))));
    const play = el('p', { class: 'replay-play' });
    const worth = el('div', { class: 'replay-worth' });
    this.boards[game] = { box, caption, play, worth, board: null };
    this.makeBoard(game);
    return el('article', { class: 'replay-game' }, caption, box, play, worth);
  }

  makeBoard(game) {
    const entry = this.boards[game];
    entry.board?.remove();
    entry.board = new Board(entry.box, { kind: narrow.matches ? 'phone' : 'wide', label: t('common.board.name', { game }) });
  }

  redrawBoards() {
    for (const game of ['X', 'Y']) this.makeBoard(game);
    this.go(this.step);
  }

  /** Brings record, slider and notices up to date with the phases there are. */
  refresh() {
    this.slider.max = String(this.phases.length);
    this.running.hidden = this.info.state === 'over';
    this.partingButton.hidden = this.phases.length === 0;
    this.partingButton.toggleAttribute('disabled', this.parted < 0);
    const words = this.parted < 0 ? t('site.replay.not_parted') : t('site.replay.parting');
    this.partingButton.lastChild.textContent = words;
    this.partingButton.title = this.parted < 0 ? words : t('site.replay.parting_long', { n: this.view.parted });
    this.partingButton.setAttribute('aria-label', this.partingButton.title);
    for (let n = this.body.children.length; n <= this.phases.length; n += 1) this.body.append(this.row(n));
    if (this.info.state === 'over' && !this.review) this.addReview();
  }

  /** A match that is over is reviewed: what its plays were worth. */
  addReview() {
    this.review = new Review(this);
    this.reviewNav.replaceChildren(this.review.nav);
    this.reviewBox.replaceChildren(this.review.root);
    for (const game of ['X', 'Y']) this.boards[game].worth.replaceChildren(this.review.worth[game]);
    this.keys.append(' ', t('analysis.keys'));
  }

  row(n) {
    const go = () => this.jump(n);
    if (n === 0) {
      return el('tr', { click: go }, el('td', { colspan: 4 }, el('button', { class: 'link', type: 'button' }, t('site.replay.start'))));
    }
    const phase = this.phases[n - 1];
    const white = phaseOf(phase.turn) === 'W';
    return el('tr', { class: n - 1 === this.parted ? 'parting' : null, click: go },
      el('td', {}, el('button', { class: 'link num', type: 'button', 'aria-label': t(`site.replay.turn_${phaseOf(phase.turn)}`, { n: roundOf(phase.turn) }) },
        `${roundOf(phase.turn)}`, el('span', { class: `seat-disc ${white ? 'white' : 'black'}`, 'aria-hidden': 'true' }))),
      el('td', {}, rollText(phase.roll)),
      ['A', 'B'].map((seat) => el('td', {}, this.playText(phase, seat))));
  }

  playText(phase, seat) {
    const play = phase.plays[seat];
    return play ? notation(play.play) : '—';
  }

  // ---- one step ----

  /** Both boards as they stood before a step was played. */
  before(step) {
    return step > 1 ? this.phases[step - 2].boards : this.start;
  }

  /** To a step that somebody chose: what plays by itself stops. */
  jump(step) {
    this.stop();
    this.go(step);
  }

  go(step) {
    this.step = Math.max(0, Math.min(step, this.phases.length));
    const phase = this.step ? this.phases[this.step - 1] : null;
    this.review?.show(this.step);
    for (const game of ['X', 'Y']) this.redraw(game);

    this.turn.textContent = phase ? t(`site.replay.turn_${phaseOf(phase.turn)}`, { n: roundOf(phase.turn) }) : this.phases.length ? t('site.replay.start') : t('site.replay.empty');
    this.roll.replaceChildren(...(phase ? [dice(phase.roll, 30)] : []));
    this.same.hidden = !phase || JSON.stringify(phase.boards.X) !== JSON.stringify(phase.boards.Y);
    this.count.textContent = t('site.replay.of_all', { n: this.step, all: this.phases.length });
    this.slider.value = String(this.step);
    this.slider.setAttribute('aria-valuetext', this.turn.textContent);
    for (const [n, row] of [...this.body.children].entries()) {
      row.classList.toggle('open', n === this.step);
      if (n === this.step) { row.setAttribute('aria-current', 'step'); this.reveal(row); } else row.removeAttribute('aria-current');
    }
    history.replaceState(null, '', phase ? `#${phase.turn}` : location.pathname);
    this.ids.show(this.names?.[this.step]);
    if (!this.timer) this.status.textContent = this.spoken(phase);
    if (this.step === this.phases.length) this.stop();
    this.showPlaying();
  }

  redraw(game) {
    const phase = this.step ? this.phases[this.step - 1] : null;
    this.drawBoard(game, (phase ? phase.boards : this.start)[game], phase);
  }

  drawBoard(game, sides, phase) {
    const entry = this.boards[game];
    const better = this.review?.variation(game, this.step) ?? null;
    if (better) {
      entry.board.draw({ ...better, color: this.bottom, last: null, variant: this.info.ruleset.variant });
      this.showPips(entry, better);
      entry.play.replaceChildren(el('span', { class: 'shown-better' }, t('analysis.shown', { play: notation(better.play) })));
      return;
    }
    const seat = phase ? ['A', 'B'].find((one) => placeOf(one, phaseOf(phase.turn)).game === game) : null;
    const play = seat ? phase.plays[seat] : null;
    entry.board.draw({ ...sides, color: this.bottom, last: play?.moves?.length ? play : null, variant: this.info.ruleset.variant });
    this.showPips(entry, sides);
    entry.play.replaceChildren(...(seat ? this.playLine(phase, seat, play) : ['\u00a0']));
  }

  showPips(entry, sides) {
    for (const color of ['white', 'black']) entry.caption.querySelector(`[data-pips="${color}"]`).textContent = String(pips(sides[color]));
  }

  playLine(phase, seat, play) {
    const ms = phase.ms?.[seat];
    const text = !play || play.play === '--' ? t('site.replay.moved_pass', { name: this.name(seat) })
      : play.play === '==' ? t('site.replay.moved_never', { name: this.name(seat) }) : null;
    const words = text ? [text] : [`${this.name(seat)}: `, el('b', {}, notation(play.play))];
    if (ms) words.push(el('span', { class: 'muted num' }, formatClock(ms)));
    return words;
  }

  spoken(phase) {
    if (!phase) return t('site.replay.start');
    const plays = ['A', 'B'].map((seat) => t('site.replay.moved', { name: this.name(seat), play: this.playText(phase, seat) }));
    return [t(`site.replay.turn_${phaseOf(phase.turn)}`, { n: roundOf(phase.turn) }), t('site.replay.roll', { roll: rollText(phase.roll) }), ...plays, ...(this.review?.spoken(this.step) ?? [])].join('. ');
  }

  /** Scrolls the record, never the page. */
  reveal(row) {
    const box = this.recordBox;
    const head = box.querySelector('thead').offsetHeight;
    if (row.offsetTop - head < box.scrollTop) box.scrollTop = row.offsetTop - head;
    else if (row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = row.offsetTop + row.offsetHeight - box.clientHeight;
  }

  // ---- playing on ----

  toggle() {
    if (this.timer) this.stop();
    else {
      if (this.step === this.phases.length) this.go(0);
      this.run();
    }
    this.showPlaying();
  }

  run() {
    clearInterval(this.timer);
    this.timer = setInterval(() => this.go(this.step + 1), SPEEDS[this.speed]);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.showPlaying();
  }

  showPlaying() {
    const playing = this.timer !== null;
    if (this.playing === playing) return;
    this.playing = playing;
    this.playButton.replaceChildren(icon(playing ? 'pause' : 'play'));
    this.playButton.setAttribute('aria-label', t(playing ? 'site.replay.pause' : 'site.replay.play'));
    this.playButton.title = t(playing ? 'site.replay.pause' : 'site.replay.play');
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = event.target;
    if (at.matches?.('input[type="radio"], select, textarea') || at === this.slider) return;
    if (event.shiftKey) {
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!way || !this.review?.analysis) return;
      event.preventDefault();
      this.review.toWrong(way);
      return;
    }
    const go = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: this.phases.length }[event.key];
    if (go !== undefined) {
      event.preventDefault();
      this.jump(go);
    } else if (event.key === ' ' && !at.matches?.('button, a, summary')) {
      event.preventDefault();
      this.toggle();
    }
  }

  /** A match that goes on gets its new phases by and by. */
  async follow() {
    if (this.info.state === 'over') return;
    if (!document.hidden) {
      try {
        const before = this.phases.length;
        this.take(await api.get(`/api/matches/${encodeURIComponent(id)}/history`));
        if (this.info.state === 'over') this.showFiles();
        this.refresh();
        if (this.phases.length !== before) this.go(this.step === before ? this.phases.length : this.step);
      } catch { /* the next time */ }
    }
    setTimeout(() => this.follow(), REFRESH_MS);
  }
}

async function open() {
  main.replaceChildren(el('p', { class: 'muted' }, t('site.replay.loading')));
  try {
    const replay = new Replay(await api.get(`/api/matches/${encodeURIComponent(id)}/history`));
    setTimeout(() => replay.follow(), REFRESH_MS);
  } catch (problem) {
    main.replaceChildren(el('h1', {}, problem.status === 404 ? t('site.replay.unknown') : t('site.replay.title')), alertBox(problemText(problem)), el('p', {}, el('a', { class: 'button', href: '/' }, t('site.join.home'))));
  }
}

await open();
