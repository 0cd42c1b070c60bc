// A spectator's page: both boards side by side, as they were when the last phase ended.

import { t } from './i18n.js';
import { el, playerName } from './page.js';
import { PauseBox } from './announce.js';
import { Board } from './board.js';
import { pips } from './geometry.js';
import { Band, colorOf, Now, parseTurn } from './panels.js';
import { settings } from './settings.js';

export class Watch {
  constructor(container) {
    this.boards = {};
    this.missing = el('p', { class: 'small', role: 'status' });
    this.now = new Now(el('div', {}, this.missing, el('p', { class: 'muted small' }, t('match.watch.note'))));
    const stages = ['X', 'Y'].map((game) => {
      const them = new Band('them');
      const me = new Band('me');
      const slot = el('div', { class: 'slot' });
      const pause = new PauseBox();
      slot.append(pause.element);
      const stage = el('section', { class: 'stage', 'aria-label': t('common.board.name', { game }) },
        el('h2', { class: 'stage-name' }, t('common.board.name', { game })), them.element, slot, me.element);
      this.boards[game] = { them, me, slot, stage, pause };
      return stage;
    });
    this.element = el('div', { class: 'match watching' }, stages, this.now.element);
    container.replaceChildren(this.element);
    this.place();
    settings.addEventListener('change', () => { this.place(); if (this.view) this.show(this.info, this.view); });
  }

  place() {
    for (const part of Object.values(this.boards)) {
      part.board?.remove();
      part.board = new Board(part.slot, { kind: 'wide', homeLeft: settings.get('homeLeft') });
    }
  }

  show(info, view) {
    this.info = info;
    this.view = view;
    this.missing.textContent = info.computer_missing ? t('match.say.noComputer.now') : '';
    const names = { A: playerName(info.players.A), B: playerName(info.players.B) };
    for (const game of ['X', 'Y']) {
      const { them, me, board, pause } = this.boards[game];
      const white = colorOf('A', game) === 'white' ? 'A' : 'B';
      const black = white === 'A' ? 'B' : 'A';
      const position = view.boards[game];
      const show = (band, seat, color) => band.show({
        color, name: names[seat], rating: info.players[seat]?.points ?? null, pips: settings.get('pips') ? pips(position[color]) : null,
      });
      pause.show(view.pause);
      show(them, black, 'black');
      show(me, white, 'white');
      board.draw({
        ...position, color: 'white', variant: info.ruleset.variant, last: view.last[game], numbers: settings.get('numbers'),
        label: t('match.watch.board', { game }),
        dice: view.roll ? dice(view.roll) : null,
      });
    }
    this.now.show(info, view, { names, seat: null, mineText: null, theirsText: null });
  }

  tick(now) {
    if (!this.view) return;
    const { view, info } = this;
    const names = { A: playerName(info.players.A), B: playerName(info.players.B) };
    const { phase } = parseTurn(view.turn);
    for (const game of ['X', 'Y']) {
      const { them, me, pause } = this.boards[game];
      pause.tick(now);
      const white = game === 'X' ? 'A' : 'B';
      const black = white === 'A' ? 'B' : 'A';
      const options = (seat) => ({ shownAt: view.shown_at ?? 0, delayMs: info.ruleset.clock.delay_ms, name: names[seat] });
      // Each player sits at two boards; his clock is shown where he plays now.
      const active = phase === 'W' ? white : black;
      const idle = { bank_ms: null, flag_at: null, free_until: null };
      me.clock.show(active === white ? view.seats[white] : idle, now, options(white));
      them.clock.show(active === black ? view.seats[black] : idle, now, options(black));
      me.tell(active === white ? view.seats[white] : null, now);
      them.tell(active === black ? view.seats[black] : null, now);
    }
    this.now.tick(view, now, { names, seat: null });
  }
}

function dice(roll) {
  const values = roll[0] === roll[1] ? [roll[0], roll[0], roll[0], roll[0]] : roll;
  return values.map((value) => ({ value, used: false }));
}
