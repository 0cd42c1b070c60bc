// The result card of a match: score, what can be done next, both games, the bill, times, ratings, the parting, the dice.
// renderResult(container, {info, view}) draws it and, called again, brings only what has changed up to date.
//
// The figures are the server's (view.result). The page adds up only to explain them, and says a sum in figures only
// where its own adding agrees with the server's number; elsewhere it says in words where the number comes from.

import { api, problemText } from './api.js';
import { Board } from './board.js';
import { downloadsCard } from './downloads.js';
import { nameText, other, phaseOf, pips, placeOf, playerMark, rollText, roundOf, seatOf, tray } from './figures.js';
import { formatClock, formatDate, hasWord, lang, loadWords, notation, reasonWords, signed, t } from './i18n.js';
import { Objective } from './objective.js';
import { el, icon, seatDisc } from './page.js';
import { duration, hasCredit, portion, share } from './rulewords.js';
import { shareButton } from './share.js';

let card = null;  // the one on the page: kept, so that news is put into it and nothing flickers

export async function renderResult(container, { info, view }) {
  needStyles();
  await loadWords('common', 'problems', 'site', 'rules', 'result', 'analysis');
  const key = JSON.stringify([view.match, view.seat, view.result, view.record.length, view.parted, info.players, info.ruleset]);
  const known = card?.key === key;
  if (!known) {
    card?.close();
    card = new Card(key, info, view);
  }
  if (!container.contains(card.root)) {
    const focused = card.root.contains(document.activeElement) ? document.activeElement : null;
    container.replaceChildren(card.root);
    if (focused) requestAnimationFrame(() => focused.focus({ preventScroll: true }));
  }
  card.update(info, view);
  if (!known) {
    card.loadParting();
    card.loadRoundEnd();
  }
}

/** The card brings its styles along, wherever it is shown. */
function needStyles() {
  for (const name of ['pages', 'analysis']) {
    if (document.querySelector(`link[href$="/css/${name}.css"]`)) continue;
    document.head.append(el('link', { rel: 'stylesheet', href: `/static/css/${name}.css` }));
  }
}

const CONCEDED = new Set(['resigned', 'time', 'abandoned']);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const figure = (n) => new Intl.NumberFormat(lang(), { maximumFractionDigits: 3, useGrouping: false }).format(n);

class Card {
  constructor(key, info, view) {
    this.key = key;
    this.info = info;
    this.view = view;
    this.result = view.result;
    this.rules = info.ruleset;
    this.seat = view.seat;              // null: a spectator, who sees player A's side
    this.me = view.seat ?? 'A';
    this.them = other(this.me);
    this.sign = this.me === 'A' ? 1 : -1;
    this.leaving = false;
    // Where a game is priced or credited as of the end of the last round, the card shows that position (loadRoundEnd).
    this.boards = { X: this.result.games.X, Y: this.result.games.Y };
    this.earlier = new Set();
    this.objective = new Objective(this);
    this.build();
  }

  close() {
    this.objective.close();
  }

  /** The wording for a game that counts as of the last finished round; in round 1 that is the starting position. */
  asOf(key) {
    return roundOf(this.view.turn) === 1 ? `${key}_start` : key;
  }

  // ---- words about people ----

  name(seat) {
    return nameText(this.info.players[seat]);
  }

  /** 'you', 'opponent' or 'player': which wording a sentence about this seat takes. */
  role(seat) {
    if (this.seat === null) return 'player';
    return seat === this.seat ? 'you' : 'opponent';
  }

  /** A sentence about a seat: result.<key>_you | _opponent | _player. */
  about(key, seat, params = {}) {
    return t(`result.${key}_${this.role(seat)}`, { name: this.name(seat), ...params });
  }

  label(seat) {
    return seat === this.seat ? t('common.You') : this.name(seat);
  }

  forMe(pointsForA) {
    return this.sign * pointsForA || 0;
  }

  colorOf(game, seat = this.me) {
    return seatOf(game, 'white') === seat ? 'white' : 'black';
  }

  // ---- the page ----

  build() {
    this.slots = {
      mine: el('span', { class: 'muted small num' }),
      theirs: el('span', { class: 'muted small num' }),
      ratings: el('div', { class: 'ratings' }),
      status: el('p', { class: 'ends-status muted small', role: 'status' }),
      games: el('section', { class: 'games', 'aria-label': t('result.games') }),
      bill: el('div', { class: 'bill-box' }),
      parting: el('div', { class: 'parted' }),
    };
    const { points } = this.result;
    const scoreLabel = `${this.label(this.me)} ${signed(points[this.me])}, ${this.label(this.them)} ${signed(points[this.them])}`;
    this.root = el('div', { class: 'result' },
      el('section', { class: 'hero', 'aria-label': t('result.hero') },
        el('h1', {}, this.title()),
        el('p', { class: 'side' }, playerMark(this.info.players[this.me]), this.unplayed() ? null : this.slots.mine),
        el('p', { class: 'score', 'aria-label': scoreLabel }, signed(points[this.me]), ' ', el('span', {}, ':'), ' ', signed(points[this.them])),
        el('p', { class: 'side' }, playerMark(this.info.players[this.them]), this.unplayed() ? null : this.slots.theirs),
        this.how() ? el('p', { class: 'how muted' }, this.how()) : null),
      this.buttons(),
      this.objective.root,
      this.slots.games,
      el('section', { class: 'two' },
        el('article', { class: 'card' },
          el('h2', {}, t(this.seat === null ? 'result.bill_for' : 'result.bill', { name: this.name(this.me) })),
          this.slots.bill, this.times(), this.unplayed() ? null : this.slots.ratings, el('p', { class: 'muted small' }, this.size())),
        el('div', { class: 'stack' }, this.view.record.length && !this.unplayed() ? this.partingCard() : null, this.diceCard())));
    this.showGames();
    if (this.view.record.length) this.root.append(downloadsCard(this.view.match, this.rules.variant));
  }

  showGames() {
    this.slots.games.replaceChildren(...['X', 'Y'].map((game) => this.gameCard(game)));
    this.slots.bill.replaceChildren(this.bill());
  }

  /** Ended before there was anything to count. */
  unplayed() {
    return this.result.outcome === 'aborted' || this.result.outcome === 'void';
  }

  title() {
    const { outcome, winner } = this.result;
    if (outcome === 'aborted' || outcome === 'void') return t(`result.title.${outcome}`);
    if (!winner) return t('result.title.draw');
    if (this.seat === null) return t('result.title.winner', { name: this.name(winner) });
    return t(winner === this.seat ? 'result.title.won' : 'result.title.lost');
  }

  conceded() {
    return ['X', 'Y'].find((game) => this.result.games[game].outcome === 'C') ?? null;
  }

  /** How it came to an end, when it was not played out. */
  how() {
    const { outcome, by } = this.result;
    if (outcome === 'finished') return '';
    const server = this.result.arbiter === 'server' ? `result.how.server.${this.result.reason}` : '';
    if (hasWord(server)) return t(server);
    if (outcome === 'aborted' && by) return this.about('how.aborted', by);
    if (!CONCEDED.has(outcome)) return t(`result.how.${outcome}`);
    if (!by) return t('result.how.both_flags');
    const game = this.conceded();
    const words = this.about(`how.${outcome}`, by);
    return game ? `${words} ${t('result.how.game', { game })}` : `${words} ${t('result.how.last_move')}`;
  }

  // ---- buttons ----

  buttons() {
    const id = this.view.match;
    this.rematch = this.seat === null || this.info.competition ? null  // none inside a competition
      : el('button', { class: 'button primary', type: 'button', click: () => this.askRematch() }, icon('again'), el('span', {}, t('result.rematch')));
    return el('div', { class: 'ends-box' },
      el('p', { class: 'row ends' }, this.rematch,
        this.info.competition ? el('a', { class: 'button primary', href: `/events/${encodeURIComponent(this.info.competition)}` }, icon('flag'), el('span', {}, t('result.event'))) : null,
        el('a', { class: 'button', href: `/replay/${id}` }, icon('play'), t('result.replay')),
        el('a', { class: 'button', href: `/api/matches/${id}.json`, download: `${id}.json` }, icon('down'), t('result.download')),
        shareButton(id, this.cardWords())),
      this.slots.status);
  }

  /** What is on the card to be shared, for those who do not see it. */
  cardWords() {
    const { points } = this.result;
    return t('analysis.share.alt', { a: this.name('A'), b: this.name('B'), score: `${signed(points.A)} : ${signed(points.B)}` });
  }

  async askRematch() {
    if (this.rematch.getAttribute('aria-disabled') === 'true') return;
    const next = this.info.rematch?.id;
    if (next) {
      location.assign(`/match/${next}`);
      return;
    }
    this.leaving = true;
    this.rematch.setAttribute('aria-disabled', 'true');
    try {
      this.update(await api.post(`/api/matches/${this.view.match}/rematch`), this.view);
    } catch (problem) {
      this.leaving = false;
      this.rematch.removeAttribute('aria-disabled');
      this.slots.status.textContent = problemText(problem);
    }
  }

  /** What may change after the end: ratings, and who wants to play again. */
  update(info, view) {
    const before = this.info.rematch;
    this.info = info;
    this.view = view;
    this.showRatings();
    if (!this.rematch) return;
    const now = info.rematch;
    const offered = now?.offered_by ?? [];
    const mine = offered.includes(this.seat);
    const theirs = offered.includes(this.them);
    if (mine && before && !before.id && now.id) this.leaving = true;  // agreed while this page was open
    if (now?.id && this.leaving) {
      location.assign(`/match/${now.id}`);
      return;
    }
    const waiting = mine && !now?.id;
    this.rematch.toggleAttribute('aria-disabled', false);
    if (waiting) this.rematch.setAttribute('aria-disabled', 'true');
    this.rematch.classList.toggle('primary', !waiting);
    this.rematch.lastChild.textContent = t(now?.id ? 'result.rematch_open' : theirs && !mine ? 'result.rematch_accept' : 'result.rematch');
    const status = now?.id ? 'result.rematch_agreed' : waiting ? 'result.rematch_waiting' : theirs ? 'result.rematch_offered' : null;
    const words = status ? t(status, { name: this.name(this.them) }) : '';
    if (this.slots.status.textContent !== words) this.slots.status.textContent = words;
  }

  showRatings() {
    const { ratings } = this.info;
    const key = JSON.stringify(ratings);
    if (this.shownRatings === key) return;
    this.shownRatings = key;
    const change = (pair, round = figure) => {
      const way = pair.after > pair.before ? 'win' : pair.after < pair.before ? 'loss' : '';
      return [round(pair.before), ' → ', el('b', { class: way }, round(pair.after))];
    };
    const whole = (n) => figure(Math.round(n)).replace('-', '−');
    if (!ratings) {
      this.slots.mine.replaceChildren();
      this.slots.theirs.replaceChildren();
      this.slots.ratings.replaceChildren(el('p', { class: 'muted small' }, t(`result.rating.${this.whyUnrated()}`)));
      return;
    }
    // Points won in a competition are its own (§10.1): what such a match moves is strength alone.
    const kinds = this.info.competition ? ['strength'] : ['points', 'strength'];
    if (!this.info.competition) {
      this.slots.mine.replaceChildren(...change(ratings[this.me].points, whole));
      this.slots.theirs.replaceChildren(...change(ratings[this.them].points, whole));
    }
    const { rating_num: num, rating_den: den } = this.rules;
    this.slots.ratings.replaceChildren(
      el('table', { class: 'list' },
        el('thead', {}, el('tr', {}, ['title', ...kinds].map((name, k) => el('th', { class: k ? 'r' : null, scope: 'col' }, t(`result.rating.${name}`))))),
        el('tbody', {}, [this.me, this.them].map((seat) => el('tr', {},
          el('td', {}, this.label(seat)),
          kinds.map((kind) => el('td', { class: 'r' }, change(ratings[seat][kind], whole))))))),
      ...(num === den ? [] : [el('p', { class: 'muted small' }, t('result.rating.scale', { n: num % den === 0 ? num / den : `${num}/${den}` }))]));
  }

  /** Why a match has no ratings: by its rules, against the computer, or by the limit a day of §10.1. */
  whyUnrated() {
    if (this.againstComputer()) return 'computer';
    return this.result.rated ? 'unchanged' : 'none';
  }

  againstComputer() {
    return ['A', 'B'].some((seat) => ['computer', 'bot'].includes(this.info.players[seat]?.kind));
  }

  // ---- the two games ----

  /** What is left of a side in the unit of the basis: pips, or checkers. */
  left(side) {
    return this.rules.scoring === 'checkers' ? 15 - side[0] : pips(side);
  }

  unit(n) {
    return t(`result.unit.${this.rules.scoring === 'checkers' ? 'checkers' : 'pips'}`, { n });
  }

  sideOf(game, seat) {
    return this.boards[game][this.colorOf(game, seat)];
  }

  gameCard(game) {
    const { outcome } = this.result.games[game];
    const color = this.colorOf(game);
    const boardBox = el('div', { class: 'game-board' });
    const { white, black } = this.boards[game];
    new Board(boardBox, { kind: 'mini', label: t(this.earlier.has(game) ? this.asOf('result.game.board_round') : 'result.game.board', { game }) })
      .draw({ white, black, color, last: null, variant: this.rules.variant });

    const who = this.seat === null
      ? t('result.game.sides', { white: this.name(seatOf(game, 'white')), black: this.name(seatOf(game, 'black')) })
      : t(`result.game.you_${color}`);
    const points = this.cardPoints(game);
    const body = outcome === 'C' ? this.concededBody(game) : outcome === '-' ? this.unfinishedBody(game) : this.finishedBody(game);
    return el('article', { class: 'card game' }, boardBox,
      el('div', { class: 'left' },
        el('p', { class: 'row between' },
          el('span', { class: 'row' }, this.seat === null ? null : seatDisc(color), el('span', {}, el('b', {}, game), `, ${who}`)),
          points === null ? null : el('b', { class: `points ${points > 0 ? 'win' : points < 0 ? 'loss' : ''}` }, signed(points))),
        body, this.earlier.has(game) ? el('p', { class: 'muted' }, t(this.asOf('result.game.round_end'))) : null));
  }

  /** The number at the head of a game's card: its points, or what it gives as credit. Null where none is counted. */
  cardPoints(game) {
    const { outcome, points_for_A: points } = this.result.games[game];
    if (this.result.outcome === 'aborted' || this.result.outcome === 'void' || this.result.outcome === 'adjudicated') return null;
    if (outcome !== '-') return this.forMe(points);
    if (this.result.outcome === 'agreed') return null;
    return this.creditGame() === game ? this.forMe(this.result.credit_for_A) : null;
  }

  /** The one unfinished game whose lead is credited, or null. */
  creditGame() {
    if (!hasCredit(this.rules)) return null;
    const open = ['X', 'Y'].filter((game) => this.result.games[game].outcome === '-');
    return open.length === 1 ? open[0] : null;
  }

  head(words, tag = null) {
    return el('p', { class: 'row' }, el('b', {}, words), tag ? el('span', { class: 'tag' }, tag) : null);
  }

  finishedBody(game) {
    const { outcome, class: lost } = this.result.games[game];
    if (outcome === 'T') return [this.head(t('result.game.tied')), el('p', { class: 'muted' }, t('result.game.tied_why'))];
    if (!lost) return [this.head(t('result.game.tied')), el('p', { class: 'muted' }, t('result.game.tied_white'))];
    const winner = seatOf(game, outcome === 'W' ? 'white' : 'black');
    const words = this.seat === null ? t('result.game.winner', { name: this.name(winner) }) : t(winner === this.seat ? 'result.game.won' : 'result.game.lost');
    return [this.head(words, t(`common.class.${lost}`)), this.leftOver(game, other(winner))];
  }

  concededBody(game) {
    const loser = this.result.by ?? other(this.result.games[game].winner);
    const lost = this.result.games[game].class;
    return [this.head(this.about('game.conceded', loser), lost ? t(`common.class.${lost}`) : null), this.leftOver(game, loser)];
  }

  /** The loser's checkers that are not off: drawn point by point, their pips counted. */
  leftOver(game, loser) {
    const side = this.sideOf(game, loser);
    const color = this.colorOf(game, loser);
    const groups = side.map((count, point) => ({ count, point })).filter(({ count, point }) => point > 0 && count > 0).reverse();
    const onBoard = sum(groups.map(({ count }) => count));
    const total = pips(side);
    const cap = this.rules.scoring === 'pips' ? this.rules.pips_cap : null;
    return [
      el('p', { class: 'muted' }, `${t('result.game.left', { n: onBoard })}, ${t('result.game.off', { n: side[0] })}`),
      el('ul', { class: 'groups' }, groups.map(({ count, point }) => el('li', {}, tray(color, count),
        el('span', {}, t(point === 25 ? 'result.game.group_bar' : 'result.game.group', { count, point }), ' ', el('b', {}, figure(count * point)))))),
      el('p', {}, t('result.game.total'), ' ', el('b', {}, figure(total)), ` ${t('common.pips', { n: total })}`,
        cap !== null && total > cap ? `, ${t('result.game.capped', { cap })}` : null),
    ];
  }

  unfinishedBody(game) {
    const credited = this.creditGame() === game && this.result.outcome !== 'aborted' && this.result.outcome !== 'void' && this.result.outcome !== 'adjudicated';
    const settled = (this.result.outcome === 'agreed' || this.byServer()) && this.settlementAddsUp();
    const { num, den } = this.rules.unfinished;
    const tag = credited ? t('result.game.credited', { portion: portion(num, den, 'portion_short') }) : settled ? t('result.game.settled') : this.byServer() ? null : t('result.game.not_counted');
    const counted = credited || settled;
    const mine = counted ? this.left(this.sideOf(game, this.me)) : pips(this.sideOf(game, this.me));
    const theirs = counted ? this.left(this.sideOf(game, this.them)) : pips(this.sideOf(game, this.them));
    const lead = theirs - mine;
    const rows = [
      el('tr', {}, el('td', {}, this.label(this.them)), el('td', { class: 'r' }, figure(theirs))),
      el('tr', {}, el('td', {}, this.label(this.me)), el('td', { class: 'r' }, figure(mine))),
    ];
    if (settled) rows.push(el('tr', {}, el('td', {}, t('result.game.lead')), el('td', { class: 'r' }, el('b', {}, signed(lead)))));
    if (credited && this.creditAddsUp(game)) {
      rows.push(el('tr', {}, el('td', {}, t('result.game.lead_portion', { lead: signed(lead), portion: portion(num, den, 'portion_short') })),
        el('td', { class: 'r' }, el('b', {}, signed(this.forMe(this.result.credit_for_A))))));
    }
    const unit = counted && this.rules.scoring === 'checkers' ? 'result.game.to_bear' : 'result.game.to_run';
    return [this.head(t('result.game.unfinished'), tag), el('p', { class: 'muted' }, t(unit)), el('table', { class: 'list' }, el('tbody', {}, rows))];
  }

  // ---- the bill ----

  /** The lead of `game` for me as the card can count it: theirs and mine, each cut at the cap. */
  lead(game) {
    const cap = this.rules.scoring === 'pips' ? this.rules.pips_cap ?? Infinity : Infinity;
    const mine = this.left(this.sideOf(game, this.me));
    const theirs = this.left(this.sideOf(game, this.them));
    const { num, den } = this.rules.unfinished;
    return { mine, theirs, exact: ((theirs - mine) * num) / den, cap };
  }

  creditAddsUp(game) {
    const { exact, cap } = this.lead(game);
    const counted = Math.sign(exact) * Math.min(Math.trunc(Math.abs(exact)), cap);
    return (counted || 0) === this.forMe(this.result.credit_for_A);
  }

  bill() {
    const lines = this.lines();
    const { points } = this.result;
    const cell = (value, zero = '') => el('td', { class: value < 0 ? 'loss' : zero }, signed(value));
    const rows = lines.map(({ name, why, value }) => el('tr', {}, el('td', {}, name, el('small', {}, why)), cell(value)));
    rows.push(el('tr', { class: 'total' }, el('td', {}, this.seat === null ? t('result.total_for', { name: this.label(this.me) }) : t('result.total')), el('td', {}, signed(points[this.me]))));
    if (this.seat === null || points.A + points.B !== 0) {
      rows.push(el('tr', {}, el('td', {}, this.seat === null ? t('result.total_for', { name: this.label(this.them) }) : t('result.total_them')), cell(points[this.them])));
    }
    return el('table', { class: 'bill' }, el('tbody', {}, rows));
  }

  lines() {
    const { outcome, points } = this.result;
    const mine = points[this.me];
    const reason = this.result.reason ? t('result.why.reason', { reason: reasonWords(this.result.reason) }) : '';
    if (outcome === 'aborted' || outcome === 'void') return [{ name: t('result.bill_none'), why: `${t(`result.why.${outcome}`)}${reason}`, value: 0 }];
    if (outcome === 'adjudicated') {
      if (!this.byServer()) return [{ name: t('result.why.arbiter'), why: `${t('result.why.adjudicated')}${reason}`, value: mine }];
      return [{ name: t('result.why.server'), why: `${this.settledWords('server_set')}${reason}`, value: mine }];
    }
    if (outcome === 'agreed') return this.agreedLines(mine);
    if (CONCEDED.has(outcome) && !this.result.by) return [{ name: t('result.why.flags'), why: t('result.why.both_flags'), value: 0 }];

    const net = this.forMe(this.result.net_for_A);
    const lines = ['X', 'Y'].map((game) => this.gameLine(game));
    const rest = net - sum(lines.map(({ value }) => value));
    if (rest) lines.push(this.limitLine(net, rest));
    const time = this.timeLine(mine - net);
    if (time) lines.push(time);
    return lines;
  }

  agreedLines(mine) {
    if (this.rules.draw_offers !== 'settle') return [{ name: t('result.why.draw'), why: t('result.why.draw_p'), value: mine }];
    return [{ name: t('result.why.agreed'), why: this.settledWords('settle'), value: mine }];
  }

  /** How both leads come to the points; in general words where the boards as they lie do not explain them. */
  settledWords(general) {
    if (!this.settlementAddsUp()) return t(`result.why.${general}`);
    return t('result.why.settle_sum', { x: signed(this.plainLead('X')), y: signed(this.plainLead('Y')) });
  }

  plainLead(game) {
    return this.left(this.sideOf(game, this.them)) - this.left(this.sideOf(game, this.me));
  }

  /** The time of the round was over, and the server has settled the match by both leads (§8.5). */
  byServer() {
    return this.result.outcome === 'adjudicated' && this.result.arbiter === 'server';
  }

  /** Do the boards as they lie explain the points of an agreement (§8.5)? The server counts the last finished round. */
  settlementAddsUp() {
    if ((this.rules.draw_offers !== 'settle' && !this.byServer()) || this.rules.scoring === 'classic') return false;
    return (Math.trunc((this.plainLead('X') + this.plainLead('Y')) / 2) || 0) === this.result.points[this.me];
  }

  gameLine(game) {
    const { outcome, class: lost, points_for_A: pointsForA } = this.result.games[game];
    const name = t('common.board.game', { game });
    const value = this.forMe(pointsForA);
    if (outcome === 'T') return { name, why: t('result.why.tied'), value };
    if (outcome === 'C') return { name, why: this.priceWords(game), value };
    if (outcome === '-') return { name, ...this.creditWords(game) };
    if (!lost) return { name, why: t('result.why.tied_white'), value };
    const loser = seatOf(game, outcome === 'W' ? 'black' : 'white');
    return { name, why: this.basisWords(game, loser, lost, Math.abs(value)), value };
  }

  /** Why a lost game is worth what it is, in the unit of the basis. */
  basisWords(game, loser, lost, worth) {
    const className = t(`common.class.${lost}`);
    if (this.rules.scoring === 'classic') return t('result.why.classic', { class: className, points: t('common.points', { n: worth }) });
    const left = this.left(this.sideOf(game, loser));
    const cap = this.rules.scoring === 'pips' ? this.rules.pips_cap : null;
    if (cap !== null && left > cap && worth === cap) return t('result.why.capped', { class: className, left: this.unit(left), cap });
    return t(`result.why.${this.rules.scoring}`, { class: className });
  }

  /** A concession: what was given up, at what price, and what the price holds. */
  priceWords(game) {
    const loser = this.result.by;
    const credit = this.result.credit_for_A;
    const inside = credit !== 0 && this.result.games[game].points_for_A === this.result.net_for_A;
    const words = [this.about('why.conceded', loser)];
    if (this.rules.scoring === 'classic') {
      const lost = this.result.games[game].class;
      words.push(lost ? t('result.why.price_class', { class: t(`common.class.${lost}`) }) : t('result.why.price_classic'));
    } else {
      const left = this.left(this.sideOf(game, loser));
      const raw = this.price(game);
      const cap = this.rules.scoring === 'pips' ? this.rules.pips_cap : null;
      if (cap !== null && raw === cap && left > cap) words.push(t('result.why.price_capped', { left: this.unit(left), cap }));
      else words.push(left === raw ? t(this.earlier.has(game) ? this.asOf('result.why.price_round') : 'result.why.price_left', { left: this.unit(left) }) : t(this.asOf('result.why.price_dearer'), { raw: this.unit(raw) }));
      if (inside) words.push(t('result.why.price_inside', { credit: signed(this.forMe(credit)) }));
    }
    words.push(t('result.why.open_phase'));
    return words.join(' ');
  }

  /** The price of a conceded game, without the credit of the other one that may be in it. */
  price(game) {
    const { credit_for_A: credit, net_for_A: net, games } = this.result;
    const inside = credit !== 0 && games[game].points_for_A === net;
    return Math.abs(inside ? net - credit : games[game].points_for_A);
  }

  creditWords(game) {
    const value = this.forMe(this.result.credit_for_A);
    if (this.creditGame() !== game) {
      return { why: t(this.rules.scoring === 'classic' ? 'result.why.no_credit_classic' : 'result.why.no_credit'), value: 0 };
    }
    const conceded = this.conceded();
    if (conceded && value !== 0 && this.result.games[conceded].points_for_A === this.result.net_for_A) {
      return { why: t('result.why.credit_inside', { game: conceded }), value: 0 };
    }
    if (!this.creditAddsUp(game)) {
      const { num, den } = this.rules.unfinished;
      return { why: t(conceded ? this.asOf('result.why.credit_round_end') : 'result.why.credit_plain', { portion: portion(num, den) }), value };
    }
    const { mine, theirs, exact, cap } = this.lead(game);
    const { num, den } = this.rules.unfinished;
    const times = num === den ? '' : ` × ${fraction(num, den)}`;
    const words = [t('result.why.credit', { unit: t(`result.why.unit_${this.rules.scoring}`), sum: `(${figure(theirs)} − ${figure(mine)})${times}` })];
    if (Math.abs(exact) > cap) words.push(t('result.why.credit_cap', { cap }));
    else if (!Number.isInteger(exact)) words.push(t('result.why.truncated', { exact: figure(Math.abs(exact)), whole: figure(Math.trunc(Math.abs(exact))) }));
    if (this.earlier.has(game)) words.push(t(this.asOf('result.why.round_end')));
    return { why: words.join('; '), value };
  }

  limitLine(net, rest) {
    const conceded = this.conceded();
    if (conceded) {
      const { forfeit_cap: cap, forfeit_min: min } = this.rules;
      const key = Math.abs(net) === cap ? 'forfeit_cap' : Math.abs(net) === min ? 'forfeit_min' : 'price';
      return { name: t('result.why.limit'), why: t(`result.why.${key}`, { cap, min, price: Math.abs(net) }), value: rest };
    }
    return { name: t('result.why.limit'), why: t(net === 0 ? 'result.why.may_not_flip_tie' : 'result.why.may_not_flip'), value: rest };
  }

  // ---- time ----

  timeLine(delta) {
    const { mode } = this.rules.time;
    const { outcome, winner, time_adjustment: taken } = this.result;
    if (outcome !== 'finished' && !delta && !taken) return null;
    if (mode === 'off' && !delta && !taken) return null;
    const name = t('result.time.name');
    if (!winner) return { name, why: t('result.time.draw'), value: delta };
    if (this.againstComputer() && !taken) return { name, why: t('result.time.computer'), value: delta };
    return { name, why: this.timeWords(winner, taken), value: delta };
  }

  timeWords(winner, taken) {
    const { mode, threshold_ms: threshold, ms_per_point: rate, cap_num: num, cap_den: den, settlement } = this.rules.time;
    const loser = other(winner);
    const difference = this.result.time_ms[winner] - this.result.time_ms[loser];
    if (difference <= 0) return t('result.time.not_longer');
    if (difference < 1000 && !taken) return t('result.time.level');
    const longer = this.about('time.longer', winner, { time: spent(difference) });
    if (difference <= threshold) return `${longer}; ${t('result.time.under', { threshold: duration(threshold, 'gen') })}`;

    const net = Math.abs(this.result.net_for_A);
    const most = Math.min(Math.floor((net * num) / den), net - 1);
    const words = [longer];
    if (mode === 'relative') {
      const total = this.result.time_ms[winner];
      if (Math.floor((most * difference) / total) === taken) {
        words.push(t('result.time.relative', { cap: share(num, den), most, percent: figure(Math.round((difference * 1000) / total) / 10), taken }));
      }
    } else {
      const over = difference - threshold;
      const byRate = Math.floor(over / rate);
      if (threshold > 0) words.push(t('result.time.over', { threshold: duration(threshold, 'gen'), over: spent(over) }));
      words.push(t('result.time.rate', { n: rate / 1000, rate: figure(rate / 1000) }));
      if (taken < byRate && taken === net - 1 && net - 1 < Math.floor((net * num) / den)) words.push(t('result.time.keeps_one'));
      else if (taken < byRate && taken === most) words.push(t('result.time.cap', { byRate, cap: share(num, den), most: taken }));
      else if (taken === 0) words.push(t('result.time.none'));
    }
    if (settlement === 'loser_only' && taken) words.push(t('result.time.loser_only', { taken: t('common.points', { n: taken }) }));
    return words.join('; ');
  }

  times() {
    if (this.unplayed()) return null;
    const longest = Math.max(this.result.time_ms.A, this.result.time_ms.B, 1);
    const box = el('div', { class: 'times', role: 'group', 'aria-label': t('result.time.label') });
    for (const seat of [this.me, this.them]) {
      const ms = this.result.time_ms[seat];
      const bar = el('i', { class: seat === this.me ? 'mine' : null, 'aria-hidden': 'true' });
      bar.style.setProperty('--w', String(ms / longest));
      box.append(el('span', {}, this.label(seat)), bar, el('b', {}, formatClock(ms)));
    }
    return el('div', { class: 'times-box' }, el('h3', { 'aria-hidden': 'true' }, t('result.time.label')), box,
      CONCEDED.has(this.result.outcome) ? el('p', { class: 'muted small' }, t('result.time.open')) : null);
  }

  size() {
    const rolls = this.view.record.length;
    // A round that somebody gave up in was not played to its end.
    const rounds = this.view.record.filter(([turn], n) => phaseOf(turn) === 'K' && !(this.conceded() && n === rolls - 1)).length;
    const parts = rolls ? [rounds ? t('result.rounds', { n: rounds }) : null, t('result.rolls', { n: rolls })].filter(Boolean) : [];
    if (this.info.finished_at) parts.push(formatDate(this.info.finished_at));
    return parts.join(', ');
  }

  // ---- the parting ----

  partingCard() {
    const round = this.view.parted;
    this.partingWords = el('p', { class: 'small' }, round === null ? t('result.parted.never_p') : '');
    return el('article', { class: 'card parting' },
      el('h2', { class: 'row' }, icon('fork'), round === null ? t('result.parted.never') : t('result.parted.title', { n: round })),
      this.partingWords, this.slots.parting);
  }

  /** The finished phases of the match, asked for once. */
  history() {
    this.asked ??= api.get(`/api/matches/${this.view.match}/history`);
    return this.asked;
  }

  /**
   * After a concession a game may count as of the end of the last round, a phase before the boards as they lie (§8.2).
   * Where those boards do not explain the server's number and the earlier ones do, the card shows the earlier ones.
   */
  async loadRoundEnd() {
    const conceded = this.conceded();
    if (!conceded || this.view.turn?.endsWith('W')) return;
    const open = this.creditGame();
    const unclear = () => ({
      [conceded]: this.rules.scoring !== 'classic' && this.left(this.sideOf(conceded, this.result.by ?? other(this.result.games[conceded].winner))) !== this.price(conceded),
      ...(open ? { [open]: !this.creditAddsUp(open) } : {}),
    });
    const before = unclear();
    if (!Object.values(before).some(Boolean)) return;
    let history;
    try {
      history = await this.history();
    } catch {
      return;
    }
    const ends = history.phases.filter(({ turn }) => phaseOf(turn) === 'K');
    const boards = ends.length ? ends.at(-1).boards : history.start.boards ?? history.start;
    for (const game of Object.keys(before).filter((name) => before[name])) {
      const now = this.boards[game];
      this.boards[game] = boards[game];
      if (unclear()[game]) this.boards[game] = now;
      else this.earlier.add(game);
    }
    if (this.earlier.size) this.showGames();
  }

  /** The two plays of the phase in which the boards first differed, from the record of the match. */
  async loadParting() {
    const round = this.view.parted;
    if (round === null || !this.partingWords) return;
    let phases;
    try {
      ({ phases } = await this.history());
    } catch (problem) {
      this.partingWords.textContent = problemText(problem);
      return;
    }
    const differs = ({ boards }) => JSON.stringify(boards.X) !== JSON.stringify(boards.Y);
    const phase = phases.find((one) => roundOf(one.turn) === round && differs(one)) ?? phases.find((one) => roundOf(one.turn) === round);
    if (!phase) return;
    this.partingWords.textContent = t(`result.parted.turn_${phaseOf(phase.turn)}`, { roll: rollText(phase.roll) });
    this.slots.parting.replaceChildren(...[this.me, this.them].map((seat) => {
      const { game, color } = placeOf(seat, phaseOf(phase.turn));
      const play = phase.plays[seat];
      const words = play ? notation(play.play) : '—';
      const drawing = el('figure');
      new Board(drawing, { kind: 'mini', label: `${this.label(seat)}: ${words}` })
        .draw({ ...phase.boards[game], color, last: play ?? null, variant: this.rules.variant });
      drawing.append(el('figcaption', {}, el('b', {}, words), ' ', el('span', { class: 'muted' }, seat === this.seat ? t('common.you') : this.name(seat))));
      return drawing;
    }));
    this.slots.parting.after(el('p', { class: 'small' }, el('a', { href: `/replay/${this.view.match}#${phase.turn}` }, t('result.parted.replay'))));
  }

  // ---- the dice ----

  diceCard() {
    const { commitment, defaulted, seed } = this.view.dice;
    const late = (defaulted ?? []).filter((seat) => this.info.players[seat]?.kind !== 'computer');
    return el('article', { class: 'card' },
      el('h2', { class: 'row' }, icon('shield'), t('result.dice.title')),
      el('p', { class: 'small' }, t(seed ? 'result.dice.open' : 'result.dice.closed')),
      late.map((seat) => el('p', { class: 'small' }, this.about('dice.late', seat))),
      el('p', { class: 'code-text muted' }, `C = ${commitment.slice(0, 8)}…${commitment.slice(-8)}`),
      el('a', { class: 'button', href: `/dice?match=${this.view.match}` }, icon('die'), t('result.dice.check')));
  }
}

/** "½", "⅓", "¼", "¾" where there is such a sign, else "2/5". */
function fraction(num, den) {
  return { '1/2': '½', '1/3': '⅓', '2/3': '⅔', '1/4': '¼', '3/4': '¾' }[`${num}/${den}`] ?? `${num}/${den}`;
}

/** A stretch of time as the bill says it: "37 с", "1:37". */
function spent(ms) {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? t('common.unit.s', { n: seconds }) : formatClock(ms);
}
