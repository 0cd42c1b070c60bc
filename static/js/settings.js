// How a player likes the board: kept in this browser, applied at once, shown as a panel that never covers the board.

import { el, icon, isDark } from './page.js';
import { t } from './i18n.js';

const DEFAULTS = {
  board: null,           // slate | linen | night | contrast; null: slate by day, night on a dark page
  homeLeft: false,
  speed: 'normal',       // slow | normal | fast | off
  numbers: true,
  pips: true,
  targets: true,
  higherFirst: false,
  tap: 'play',           // play: a tap on a checker moves it; pick: it is picked up, a second tap puts it
  forced: 'lay',         // never | lay: laid out, waits for Done | send: laid out and sent once the dice rest
  autoConfirm: false,
  sound: { dice: true, move: true, swap: true, low: true, end: true, call: true },
};

const TRAVEL = { slow: 320, normal: 180, fast: 90, off: 0 };

class Settings extends EventTarget {
  constructor() {
    super();
    let stored = {};
    try { stored = JSON.parse(localStorage.getItem('board-settings') ?? '{}'); } catch { /* defaults */ }
    this.values = { ...DEFAULTS, ...stored, sound: { ...DEFAULTS.sound, ...stored.sound } };
    addEventListener('storage', (event) => {  // another tab changed them
      if (event.key !== 'board-settings' || !event.newValue) return;
      this.values = { ...this.values, ...JSON.parse(event.newValue) };
      this._apply();
    });
    document.addEventListener('themechange', () => this._apply());
  }

  get(name) {
    return this.values[name];
  }

  set(name, value) {
    this.values = { ...this.values, [name]: value };
    try { localStorage.setItem('board-settings', JSON.stringify(this.values)); } catch { /* for this page only */ }
    this._apply();
  }

  /** ms a checker travels; 0 also where the system asks for less motion. */
  get travelMs() {
    return this.still ? 0 : TRAVEL[this.values.speed];
  }

  /** Is motion unwanted? */
  get still() {
    return this.values.speed === 'off' || matchMedia('(prefers-reduced-motion: reduce)').matches;
  }

  _apply() {
    document.documentElement.dataset.board = this.values.board ?? (isDark() ? 'night' : 'slate');
    this.dispatchEvent(new Event('change'));
  }
}

export const settings = new Settings();

/** The panel with every setting. */
export function settingsPanel() {
  const choice = (name, values, read = settings.get(name), write = (value) => settings.set(name, value)) =>
    el('fieldset', { class: 'setting' }, el('legend', {}, t(`match.settings.${name}.label`)),
      el('div', { class: 'choice' }, values.map((value) => el('label', {},
        el('input', { type: 'radio', name: `set-${name}`, value: String(value), checked: String(read) === String(value), onchange: () => write(value) }),
        el('span', {}, t(`match.settings.${name}.${value}`))))));
  const check = (name, label, read, write) => el('label', { class: 'check' },
    el('input', { type: 'checkbox', name: `set-${name}`, checked: read, onchange: (event) => write(event.target.checked) }), el('span', {}, label));
  const flag = (name) => check(name, t(`match.settings.${name}`), settings.get(name), (value) => settings.set(name, value));
  return el('details', { class: 'panel', id: 'settings' },
    el('summary', {}, icon('settings'), t('match.settings.title')),
    el('div', { class: 'panel-body' },
      choice('board', ['slate', 'linen', 'night', 'contrast'], settings.get('board') ?? document.documentElement.dataset.board),
      choice('homeLeft', [false, true]),
      choice('speed', ['slow', 'normal', 'fast', 'off']),
      choice('tap', ['play', 'pick']),
      choice('forced', ['never', 'lay', 'send']),
      el('div', { class: 'checks' }, ['numbers', 'pips', 'targets', 'higherFirst', 'autoConfirm'].map(flag)),
      el('fieldset', { class: 'setting' }, el('legend', {}, t('match.settings.sound.label')),
        el('div', { class: 'checks' }, Object.keys(DEFAULTS.sound).map((name) => check(`sound-${name}`, t(`match.settings.sound.${name}`),
          settings.get('sound')[name], (value) => settings.set('sound', { ...settings.get('sound'), [name]: value })))))));
}
