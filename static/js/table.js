// A player's table: his board on the stage, the strip, the line that says what is next, the buttons. It holds the
// newest view and the half-made play, and decides nothing that a rule decides.

import { api, problemText } from './api.js';
import { formatClock, notation, t } from './i18n.js';
import { el, icon, playerName, setTitle, setWhere } from './page.js';
import { announceSwap, PauseBox, Prompt } from './announce.js';
import { Board } from './board.js';
import { devicePanel, keysPanel, Resign } from './dialogs.js';
import { BAR, pips } from './geometry.js';
import { Moving } from './moving.js';
import { Band, colorOf, gameOf, Now, openText, otherColor, otherSeat, parseTurn, positionOf, Strip } from './panels.js';
import { Drafts } from './drafts.js';
import { DicePanel } from './seed.js';
import { settings, settingsPanel } from './settings.js';
import { play as sound } from './sound.js';
import { boardLabel, whatIsNext, whereTo, whyNotDone, whyNotThere } from './speech.js';
import { before, fade, swap } from './swap.js';
import { playText, Turn } from './turn.js';

const AGAIN_MS = 400;  // within so long a second press belongs to the first
const GONE_MS = 3000;  // who reloads his page is back sooner, and not talked about

export class Table {
  constructor(container, { info, connection }) {
    this.info = info;
    this.connection = connection;
    this.view = null;
    this.turn = null;      // the half-made play, or null when there is nothing to play
    this.sent = null;      // {id, turn}: my play is on its way
    this.looking = false;  // at the opponent's board
    this.moving = false;   // the swap is in motion
    this.touched = false;  // since the turn began: the arrow of the last play goes away
    this.hints = [null, []];
    this.due = undefined;  // until when the other is waited for who has never come (server ms); asked once
    this.drafts = new Drafts(connection, (named) => (this.view.turn === named && !this.sent ? this.turn : null));
    this._build(container);
    this.hands = new Moving(this._hand());
    this._placeBoard();
    this._settings = () => { this._placeBoard(); this.strip.place(settings.get('homeLeft')); if (this.view) this._draw(); };
    this._keys = (event) => this._key(event);
    settings.addEventListener('change', this._settings);
    document.addEventListener('keydown', this._keys);
    this.narrow.addEventListener('change', this._settings);
  }

  /** The match is over: nothing of this table listens any more. */
  leave() {
    settings.removeEventListener('change', this._settings);
    document.removeEventListener('keydown', this._keys);
    this.narrow.removeEventListener('change', this._settings);
    clearTimeout(this.forcedTimer);
    clearTimeout(this.goneTimer);
    this.resign.dialog.remove();
  }

  // ---- building ----

  _build(container) {
    this.narrow = matchMedia('(max-width: 599px)');
    this.them = new Band('them');
    this.me = new Band('me');
    this.slot = el('div', { class: 'slot' });
    this.banner = el('p', { class: 'banner' }, icon('eye'), el('span', {}, t('match.peek.banner'), el('span', { class: 'roomy' }, t('match.peek.only'))));
    this.pause = new PauseBox();
    this.slot.append(this.banner);
    this.stage = el('section', { class: 'stage' }, this.them.element, this.slot, this.me.element, this.pause.element);
    this.prompt = new Prompt();
    const button = (name, word, shape, act, extra = '') => el('button', { class: `button ${extra}`, type: 'button', 'data-act': name, onclick: act }, icon(shape), el('span', {}, t(word)));
    this.buttons = {
      undo: button('undo', 'match.act.undo', 'undo', () => this._undo()),
      reset: button('reset', 'match.act.reset', 'reset', () => this._reset()),
      done: button('done', 'match.act.done', 'check', () => this._done()),
      look: button('look', 'match.act.look', 'eye', () => { if (performance.now() - this.lookSince > AGAIN_MS) this._look(); }, 'primary'),
    };
    this.actions = el('div', { class: 'actions' });
    this.turnBox = el('section', { class: 'turn' }, this.prompt.element, this.actions);
    this.strip = new Strip({ homeLeft: settings.get('homeLeft'), look: () => this._look() });
    this.resign = new Resign({ price: () => this._price(), go: (points) => this._resign(points), refused: () => this.prompt.say(t('match.resign.not_now'), '', { ms: 4000 }) });
    this.draw = el('button', { class: 'button plain', type: 'button', hidden: true, onclick: () => this._drawOffer() });
    this.hint = el('button', { class: 'button plain', type: 'button', hidden: true, onclick: () => this._hint() }, t('match.hint.ask'));
    this.dicePanel = new DicePanel(this.info.id);
    this.text = keysPanel((text) => this._fromText(text));
    this.more = el('div', { class: 'more', id: 'more', hidden: true }, settingsPanel(), this.text.element, this.dicePanel.element, devicePanel(this.info.id));
    this.moreButton = el('button', { class: 'button plain', type: 'button', 'aria-expanded': 'false', 'aria-controls': 'more', onclick: () => this._more(this.more.hidden) },
      icon('settings'), t('match.more'));
    this.now = new Now(el('div', { class: 'feet' }, el('div', { class: 'feet-row' }, this.moreButton, this.hint, this.draw, this.resign.button), this.more));
    this.root = el('div', { class: 'match' }, this.strip.element, this.stage, this.turnBox, this.now.element);
    container.replaceChildren(this.root, this.resign.dialog);
  }

  _more(open) {
    this.more.hidden = !open;
    this.moreButton.setAttribute('aria-expanded', String(open));
    this.now.element.classList.toggle('with-more', open);
    if (open) this.more.scrollIntoView({ block: 'nearest', behavior: settings.still ? 'auto' : 'smooth' });
  }

  _placeBoard() {
    this.hands.forget();
    this.board?.remove();
    this.board = new Board(this.slot, { kind: this.narrow.matches ? 'phone' : 'wide', homeLeft: settings.get('homeLeft') });
    this.hands.attach(this.board);
  }

  _hand() {
    const table = this;
    return {
      get board() { return table.board; },
      get turn() { return table._mayMove() ? table.turn : null; },
      get pickFirst() { return settings.get('tap') === 'pick'; },
      changed: (travel) => this._changed(travel),
      show: (picked, targets) => { this.hints = [picked, targets]; this._drawStage(); },
      refused: (place) => this._refused(place),
      picked: (place, targets) => this.prompt.say(...whereTo(place, targets)),
      letGo: () => this.prompt.clear(),
      dice: () => this._swapDice(),
    };
  }

  // ---- views ----

  show(info, view, fresh) {
    const old = this.view;
    const swapped = old?.turn && view.turn && old.turn !== view.turn;
    const picture = swapped && !document.hidden && !settings.still ? before(this.root) : null;
    const wasLooking = this.looking;
    if (old && old.stage !== view.stage) this.prompt.clear();
    this.info = info;
    this.view = view;
    if (!old || old.turn !== view.turn) this._newTurn(Boolean(old));
    this._ownPlay(fresh);
    if (!view.mine?.played && !this.sent) this.looking = false;
    this._opponent(old);
    this._absence();
    this._expect();
    this._draw();
    this.pause.show(view.pause);
    if (swapped) this._swapped(old, picture, wasLooking);
    else this._say();
  }

  _newTurn(live) {
    this.hands.forget();
    this.prompt.clear();
    this.turn = null;
    this.touched = false;
    this.looking = false;
    this.hints = [null, []];
    clearTimeout(this.forcedTimer);
    this.rolling = live && Boolean(this.view.roll);
    if (this.rolling) {
      sound('dice');
      setTimeout(() => { this.rolling = false; }, 700);
    }
    setWhere(this.view.turn ? t('common.round', { n: parseTurn(this.view.turn).round }) : '');
  }

  /** Takes up my part of the view: the graph, my other tabs' draft, a play on its way. */
  _ownPlay(fresh) {
    const { mine, turn, roll } = this.view;
    if (mine?.played || !mine?.steps) {
      this.turn = null;
      this.sent = null;
      return;
    }
    if (!this.turn) {
      const made = new Turn(mine.steps, this._order(roll));
      this.turn = made;
      this.drafts.begin(mine.draft);
      if (mine.draft.length) made.adopt(mine.draft);
      else if (settings.get('forced') !== 'never') this._layOut(made);
    } else {
      this.drafts.heard(mine.draft, this.turn, { turn, fresh, busy: Boolean(this.hands.gesture?.dragging) });
    }
    const [waiting] = this.connection.unanswered('play').filter((message) => message.turn === turn);
    if (waiting && this.turn.adopt(waiting.moves)) this.sent = { id: waiting.id, turn };
    else if (this.sent && !waiting) this.sent = null;
  }

  _order(roll) {
    return settings.get('higherFirst') ? [...roll].sort((a, b) => b - a) : roll;
  }

  _layOut(turn) {
    const steps = turn.forced();
    if (!steps) return;
    turn.make(steps);
    this.laidOut = this.view.turn;
    this.travel = steps.map(([from, to]) => [from, to]);
    this.drafts.changed(this.view.turn);
    if (settings.get('forced') !== 'send') return;
    const wait = Math.max(0, (this.view.shown_at ?? 0) - this.connection.time.now());
    const named = this.view.turn;
    this.forcedTimer = setTimeout(() => {
      if (this.view.turn === named && this.turn?.whole && !this.sent && this.view.stage === 'playing') this._send();
    }, wait);
  }

  _opponent(old) {
    const other = otherSeat(this.view.seat);
    const is = this.view.seats[other].state;
    const was = old?.turn === this.view.turn ? old?.seats[other].state : null;
    if (is === 'played' && was === 'thinking' && !this.view.mine?.played && !this.prompt.passing) {  // the swap is not talked over
      this.prompt.say(t('match.say.opponentPlayed'), this.turn?.path.length ? '' : t('match.say.yourTurn'), { ms: 3000 });
    }
    const offer = this.view.draw_offer;
    if (offer === 'theirs' && old?.draw_offer !== 'theirs') this.prompt.say(t('match.draw.theirs'), '', { ms: 6000 });
    this.draw.hidden = this.info.ruleset.draw_offers === 'off' || !this.view.mine;
    this.draw.setAttribute('aria-disabled', String(offer === 'mine'));
    this.draw.replaceChildren(t(`match.draw.${offer === 'theirs' ? 'accept' : offer === 'mine' ? 'offered' : 'offer'}`));
    this.hint.hidden = this.info.ruleset.rated || !this.view.mine;
    this.hint.setAttribute('aria-disabled', String(!this._mayMove()));
    this.resign.refresh();
  }

  /** In a competition whoever does not come in time loses: until when, its page knows. */
  async _expect() {
    if (!this._isAlone()) this.due = null;  // whoever has come is no no-show, though he leaves again
    if (this.view.stage !== 'seeding' || this.due !== undefined) return;
    this.due = null;
    try {
      const { next } = (await api.get(`/api/competitions/${encodeURIComponent(this.info.competition)}/mine`)).mine;
      if (next.match === this.info.id && this._isAlone()) this.due = next.missed_from;
    } catch { /* it is said without the time */ }
  }

  _isAlone() {
    return Boolean(this.info.competition) && !this.view.seats[otherSeat(this.view.seat)].connected;  // elsewhere nobody is waited for
  }

  /** The band and the list tell an absence at once; it is also said, if it lasts, and then its end too. */
  _absence() {
    const other = () => this.view.seats[otherSeat(this.view.seat)];
    if (other().away_until !== null && !other().connected) {
      this.goneTimer ??= setTimeout(() => {
        if (this.prompt.passing || this.connection.line !== 'on') return;
        this.goneSaid = true;
        if (this.info.computer_missing) return;  // the line says it already
        this.prompt.say(t('match.say.gone'), t('match.say.goneEnd', { time: formatClock(other().away_until - this.connection.now()) }), { ms: 6000 });
      }, GONE_MS);
      return;
    }
    clearTimeout(this.goneTimer);
    this.goneTimer = null;
    const free = !this.prompt.passing || this.prompt.passing[0] === t('match.say.gone');
    if (this.goneSaid && other().connected && free) this.prompt.say(t('match.say.back'), '', { ms: 3000 });
    this.goneSaid = false;
  }

  // ---- the swap ----

  _swapped(old, picture, wasLooking) {
    const { seat } = this.view;
    const { phase } = parseTurn(this.view.turn);
    const here = this._game();
    const from = gameOf(seat, parseTurn(old.turn).phase);
    const color = colorOf(seat, here);
    const changed = from !== here;
    const last = this.view.last[here];
    const parts = [changed ? t(`match.swap.${color}`) : t('common.round', { n: parseTurn(this.view.turn).round })];
    const told = last && last.seat !== seat ? t('match.swap.theirs', { play: notation(playText(last.moves) || last.play) }) : '';
    const roll = this.view.roll ? t('match.swap.roll', { roll: this.view.roll.join('-') }) : '';
    const rest = [told, roll, this.turn?.empty ? t('match.say.none') : this.laidOut === this.view.turn ? t('match.say.forced') : ''].filter(Boolean).join(' ');
    this._say();
    this.prompt.say(parts[0], rest);
    if (changed) {
      sound('swap');
      const tell = () => announceSwap(this.stage, { color, title: t(`match.swap.${color}`).replace(/\.$/, ''), text: [t('match.swap.board', { game: here }), told, roll].filter(Boolean).join(' ') });
      if (picture) {
        this.moving = true;
        swap(this.root, picture, { from, to: here, flat: wasLooking, done: () => { this.moving = false; tell(); this._draw(); } });
      } else {
        if (!document.hidden) fade(this.root);
        tell();
      }
    }
    setTitle(t('match.titleTurn', { n: parseTurn(this.view.turn).round, color: t(`common.color.${phase === 'W' ? 'white' : 'black'}`) }));
  }

  _game() {
    const { mine, seat, turn } = this.view;
    return mine?.game ?? gameOf(seat, parseTurn(turn).phase);
  }

  // ---- acting ----

  _mayMove() {
    return Boolean(this.turn) && !this.turn.empty && !this.sent && !this.looking && !this.moving && this.view?.stage === 'playing';
  }

  _changed(travel = [], { send = true } = {}) {
    this.touched = true;
    this.prompt.clear();
    clearTimeout(this.forcedTimer);
    this.travel = travel;
    this.hints = [null, []];
    sound('move');
    this.drafts.changed(this.view.turn);
    this._draw();
    this._say();
    if (send && this.turn.whole && settings.get('autoConfirm')) this._send();
  }

  _undo() {
    if (!this._mayMove() || !this.turn.path.length) return;
    const [from, to] = this.turn.undo();
    this.hands.forget();
    this._changed([[to, from]]);
  }

  _reset() {
    if (!this._mayMove() || !this.turn.path.length) return;
    this.turn.reset();
    this.hands.forget();
    this._changed();
  }

  _done() {
    if (!this._mayMove()) {
      if (this.turn?.empty) this._say();
      return;
    }
    if (this.turn.whole) this._send();
    else this.prompt.say(...whyNotDone(this.turn));
  }

  /** A checker was tried that cannot move. */
  _refused(place) {
    if (!this.turn || place < 0) return;
    const color = this.board.state.color;
    if (!this.board.count(color, place)) return;
    this.prompt.say(...whyNotThere(this.turn, this.board.count(color, BAR) > 0 && place !== BAR));
  }

  _send() {
    this.hands.forget();
    const { turn } = this.view;
    const moves = this.turn.moves.map(([from, to]) => [from, to]);
    this.sent = { id: this.connection.deliver({ type: 'play', turn, moves }), turn };
    this.prompt.clear();
    this._draw();
    this._say();
  }

  accepted({ message }) {
    if (message?.type === 'offer-draw') this.prompt.say(t('match.draw.sent'), '', { ms: 4000 });
  }

  problem({ id, message, problem }) {
    if (message?.type === 'seed-commit' || message?.type === 'seed-reveal' || !message) return;  // another tab was first
    if (this.sent?.id === id) {
      this.sent = null;
      if (problem.code === 'already-played' || problem.code === 'stale-turn') return;  // the view tells the rest
    }
    this.prompt.say(problemText(problem), '', { warn: true });
    this._draw();
    this._say();
  }

  bye(reason) {
    this.parted = true;
    this.prompt.say(t(`match.bye.${reason}.title`), t(`match.bye.${reason}.text`), { warn: true });
  }

  line(state) {
    if (state === 'lost' && !this.parted) this.prompt.giveWay();  // that the line is lost is said before the swap
    this._say();
    if (state !== 'on' || !this.parted) return;
    this.parted = false;
    this.prompt.clear();
  }

  _look() {
    if (!this._canLook()) {
      this.prompt.say(t('match.peek.locked'), '', { ms: 3000 });
      return;
    }
    this.looking = !this.looking;
    this.prompt.clear();
    this._draw();
    this._say();
  }

  _canLook() {
    return Boolean(this.view.mine?.played) && (Boolean(this.view.theirs) || this.info.ruleset.peek === 'start');
  }

  _swapDice() {
    if (!this.turn || this.turn.double) return;
    this.turn.swapDice();
    this._drawStage();
  }

  _fromText(text) {
    if (!this._mayMove()) return false;
    const steps = this.turn.fromText(text);
    if (!steps) {
      this.prompt.say(t('match.keys.bad', { text }), '', { warn: true });
      return false;
    }
    this.turn.reset();
    this.turn.make(steps);
    this._changed(steps.map(([from, to]) => [from, to]));
    return true;
  }

  /** Lays out what a strong computer would play; sending it stays with the player. */
  async _hint() {
    const { turn } = this.view;
    if (!this._mayMove() || this.hint.getAttribute('aria-busy') === 'true') return;
    this.hint.setAttribute('aria-busy', 'true');
    this.prompt.say(t('match.hint.thinks'));
    try {
      const hint = await api.get(`/api/matches/${this.info.id}/hint`);
      if (this.view.turn !== turn || hint.turn !== turn || !this._mayMove() || !this.turn.adopt(hint.moves)) return;
      this.hands.forget();
      this._changed(hint.moves, { send: false });
      this.prompt.say(t('match.hint.plays', { level: t(`common.level.${hint.level}`), play: notation(this.turn.text) }), t('match.hint.yours'));
    } catch (problem) {
      this.prompt.say(problemText(problem), '', { warn: true, ms: 4000 });
    } finally {
      this.hint.removeAttribute('aria-busy');
    }
  }

  _price() {
    const resign = this.view?.mine?.resign;
    if (!resign) return null;
    if (resign.game === null) {
      return { points: resign.points, question: t('match.resign.free'), meaning: t(this.view.record.length ? 'match.resign.last' : 'match.resign.abort') };
    }
    return {
      points: resign.points, question: t('match.resign.question', { points: t('common.points', { n: resign.points }) }),
      meaning: t('match.resign.meaning', { game: resign.game }),
    };
  }

  _resign(points) {
    this.connection.deliver({ type: 'resign', turn: this.view.turn, points });
  }

  _drawOffer() {
    if (this.view.draw_offer === 'mine') return;
    this.connection.deliver({ type: this.view.draw_offer === 'theirs' ? 'accept-draw' : 'offer-draw', turn: this.view.turn });
  }

  _key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey || event.target.closest?.('input, textarea, select, dialog[open], summary')) return;
    const onButton = event.target.closest?.('button, a');
    const act = {
      Backspace: () => this._undo(),
      Escape: () => { if (!this.hands.letGo()) this.prompt.clear(); },
      Space: onButton ? null : () => this._swapDice(),
      KeyC: () => (this._mayMove() ? this._done() : null),
      Slash: () => { this._more(true); this.text.focus(); },
    }[event.code];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // ---- drawing ----

  /** The picture of this moment: what is on each board, and what may be seen. */
  _scene() {
    const { view, info } = this;
    const { seat } = view;
    const variant = info.ruleset.variant;
    const game = this._game();
    const color = colorOf(seat, game);
    const otherGame = game === 'X' ? 'Y' : 'X';
    const played = view.mine?.played ?? null;
    const draft = played ? played.moves : this.turn?.moves ?? [];
    const theirs = view.theirs;
    const theirMoves = theirs ? (theirs.played?.moves ?? theirs.draft) : [];
    const theirColor = otherColor(colorOf(seat, otherGame));
    const names = { A: playerName(info.players.A), B: playerName(info.players.B) };
    return {
      view, seat, variant, names, played, looking: this.looking, canLook: this._canLook(), peek: info.ruleset.peek,
      here: { game, color, position: positionOf(view.boards, game, color, draft, variant), last: played ?? view.last[game], moves: draft },
      other: {
        game: otherGame, color: colorOf(seat, otherGame), position: positionOf(view.boards, otherGame, theirColor, theirMoves, variant),
        last: theirs?.played ?? view.last[otherGame], moves: theirMoves, mover: theirColor,
      },
    };
  }

  _draw() {
    this.scene = this._scene();
    const { view, info } = this;
    const { seat } = view;
    const { here, other, names, looking, played } = this.scene;
    const shown = looking ? other : here;
    const color = shown.color;
    const count = (side) => (settings.get('pips') ? pips(side) : null);
    this.root.classList.toggle('peek', looking);
    this.banner.hidden = !looking;
    const rival = info.players[otherSeat(seat)];
    this.them.show({
      color: otherColor(color), name: names[otherSeat(seat)], rating: rival?.points ?? null,
      pips: count(shown.position[otherColor(color)]), off: shown.position[otherColor(color)][0],
    });
    this.me.show({
      color, heading: t(looking ? `match.band.here.${color}` : `match.band.you.${color}`), pips: count(shown.position[color]), off: shown.position[color][0],
      aside: [t('match.band.board', { game: shown.game }), looking ? el('span', { class: 'roomy' }, t('match.band.later')) : null],
    });
    this._drawStage();
    this.strip.show(this.scene);
    const theirsText = view.theirs ? openText(view.theirs.draft, view.theirs.played) : null;
    this.now.show(info, view, { names, seat, mineText: openText(here.moves, played), theirsText });
    this.dicePanel.show(view, names);
    this._buttons();
  }

  _drawStage() {
    this.scene = this._scene();
    const { view } = this;
    const { here, other, looking, variant, played } = this.scene;
    const { turn } = this;
    const travel = this.travel ?? [];
    this.travel = null;
    const common = { variant, numbers: settings.get('numbers'), rolling: this.rolling && !settings.still, travelMs: settings.travelMs };
    if (looking) {
      const dice = used(view.roll, view.theirs?.played ? null : other.moves);
      this.board.draw({
        ...common, ...other.position, color: other.color, last: view.theirs?.played ?? null, dice,
        draft: view.theirs && !view.theirs.played ? { color: other.mover, moves: other.moves, arrow: true } : null,
        label: boardLabel(other, view.roll, dice, true),
      });
      return;
    }
    const may = this._mayMove();
    const dice = turn ? turn.dice : used(view.roll, played ? played.moves : null);
    const [picked, targets] = may ? this.hints : [null, []];
    const onBar = may && here.position[here.color][BAR] > 0;
    this.board.draw({
      ...common, ...here.position, color: here.color, last: this.touched || played ? (played ?? view.last[here.game]) : view.last[here.game],
      lastArrow: !this.touched && !turn?.path.length,
      draft: !played && here.moves.length ? { color: here.color, moves: here.moves } : null,
      dice, controls: true, label: boardLabel(here, view.roll, dice, false),
      travel: travel.map(([from, to]) => [here.color, from, to]),
      hints: may ? {
        sources: settings.get('targets') ? turn.sources : [], targets: settings.get('targets') || this.hands.held !== null ? targets : [],
        picked, inert: onBar,
      } : null,
    });
  }

  _buttons() {
    const played = Boolean(this.view.mine?.played);
    const { undo, reset, done, look } = this.buttons;
    const made = Boolean(this.turn?.path.length) && this._mayMove();
    undo.setAttribute('aria-disabled', String(!made));
    reset.setAttribute('aria-disabled', String(!made));
    const whole = Boolean(this.turn?.whole) && this._mayMove();
    done.setAttribute('aria-disabled', String(!whole));
    done.classList.toggle('primary', whole);
    const can = this._canLook();
    look.setAttribute('aria-disabled', String(!can));
    look.classList.toggle('primary', can && !this.looking);
    look.replaceChildren(icon(this.looking ? 'back' : can ? 'eye' : 'lock'), el('span', {}, t(this.looking ? 'match.act.back' : can ? 'match.act.look' : 'match.act.locked')));
    const wanted = played ? [look] : [undo, reset, done];
    if (this.actions.firstChild !== wanted[0]) {
      const focused = this.actions.contains(document.activeElement);
      this.lookSince = performance.now();  // it stands where Done stood: a double click on Done does not press it
      this.actions.replaceChildren(...wanted);
      if (focused) wanted[wanted.length - 1].focus({ preventScroll: true });
    }
    this.turnBox.setAttribute('aria-label', t(played ? 'match.act.waiting' : 'match.act.yours'));
  }

  /** What is next, in one line. */
  _say() {
    if (!this.view) return;
    const { view, turn, sent, looking } = this;
    const { here } = this.scene;
    if (this.info.computer_missing && !turn && view.stage === 'playing' && this.connection.line === 'on') {
      const end = this.info.ruleset.clock.type === 'none' ? 'void' : 'end';
      this.prompt.set(t('match.say.noComputer.now'), t(`match.say.noComputer.${end}`), { warn: true });
      return;
    }
    this.prompt.set(...whatIsNext({
      view, turn, sent, looking, lost: this.connection.line === 'lost', closed: this.connection.closed, onBar: here.position[here.color][BAR] > 0,
      forced: this.laidOut === view.turn && !this.touched,
      alone: this._isAlone(),
    }));
  }

  // ---- time ----

  tick(now) {
    const { view, info } = this;
    if (!view) return;
    const { seat } = view;
    const shown = { shownAt: view.shown_at ?? 0, delayMs: info.ruleset.clock.delay_ms };
    const other = otherSeat(seat);
    const names = { A: playerName(info.players.A), B: playerName(info.players.B) };
    const low = this.me.clock.show(view.seats[seat], now, { ...shown, name: t('common.You') });
    this.them.clock.show(view.seats[other], now, { ...shown, name: names[other] });
    const due = view.stage === 'seeding' && !view.seats[other].connected ? this.due : null;
    const seats = due ? { ...view.seats, [other]: { ...view.seats[other], due } } : view.seats;
    this.them.tell(seats[other], now);
    this.me.tell(null, now);
    this.now.tick({ ...view, seats }, now, { names, seat });
    if (low && !view.mine?.played) {
      sound('low');
      this.prompt.say(t('match.say.low'), '', { warn: true, ms: document.hidden ? 0 : 4000 });  // whoever is elsewhere finds it here
    }
    this.pause.tick(now);
  }
}

/** Dice with those marked used that these moves took; `moves` null: all of them. */
function used(roll, moves) {
  if (!roll) return null;
  const values = roll[0] === roll[1] ? Array(4).fill(roll[0]) : roll;
  const gone = (moves ?? []).map((move) => move[2]);
  return values.map((value) => {
    const at = gone.indexOf(value);
    if (at >= 0) gone.splice(at, 1);
    return { value, used: moves === null ? true : at >= 0 };
  });
}

