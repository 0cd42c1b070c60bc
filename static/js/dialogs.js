// What is asked for on demand: resigning with its price, a draw, the link for another device, a play as text.

import { api, problemText } from './api.js';
import { t } from './i18n.js';
import { el, icon } from './page.js';
import { copy } from './clipboard.js';

/** Resigning: shows its price and asks. `price()` gives mine.resign and what it means; `go(points)` resigns; `refused()` is told
 *  of a press while nothing can be resigned. */
export class Resign {
  constructor({ price, go, refused }) {
    this.price = price;
    this.refused = refused;
    this.text = el('p', { id: 'resign-text' });
    this.yes = el('button', { class: 'button plain loss', type: 'button', onclick: () => { go(this.points); this.dialog.close(); } }, icon('flag'), t('match.resign.yes'));
    this.dialog = el('dialog', { class: 'card ask', role: 'alertdialog', 'aria-labelledby': 'resign-text' }, this.text,
      el('div', { class: 'row' },
        el('button', { class: 'button', type: 'button', autofocus: true, onclick: () => this.dialog.close() }, t('match.resign.no')), this.yes));
    this.button = el('button', { class: 'button plain muted', type: 'button', onclick: () => this.open() }, icon('flag'), t('match.resign.open'));
  }

  open() {
    if (!this.price()) {
      this.refused();
      return;
    }
    this.refresh();
    this.dialog.showModal();
  }

  /** The view may change while the question stands: the price must be the one that will be paid. */
  refresh() {
    const price = this.price();
    this.button.setAttribute('aria-disabled', String(!price));
    if (!price) {
      if (this.dialog.open) this.dialog.close();
      return;
    }
    this.points = price.points;
    this.text.replaceChildren(el('b', {}, price.question), ' ', price.meaning);
  }
}

/** The link that lets another device play this seat; asked for only when wanted, for it is a key. */
export function devicePanel(match) {
  const body = el('div', { class: 'panel-body' }, el('p', { class: 'small' }, t('match.device.about')));
  const show = async () => {
    try {
      const { secret } = await api.get(`/api/matches/${encodeURIComponent(match)}/seat-link`);
      const field = el('input', { type: 'text', readonly: true, value: `${location.origin}/match/${match}#seat=${secret}`, onfocus: (event) => event.target.select() });
      body.replaceChildren(el('p', { class: 'small' }, t('match.device.about')), el('label', { class: 'field' }, t('match.device.link'), field),
        el('button', { class: 'button', type: 'button', onclick: async (event) => { if (await copy(field)) event.target.textContent = t('common.action.copied'); } }, t('common.action.copy')));
    } catch (error) {
      body.append(el('p', { class: 'loss small', role: 'alert' }, problemText(error)));
    }
  };
  body.append(el('button', { class: 'button', type: 'button', onclick: show }, t('match.device.show')));
  return el('details', { class: 'panel' }, el('summary', {}, icon('device'), t('match.device.title')), body);
}

/** A field for a play in notation, and the list of keys. `enter(text)` returns whether it was understood. */
export function keysPanel(enter) {
  const field = el('input', { type: 'text', id: 'play-text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', placeholder: '13/7 8/7' });
  const form = el('form', {
    class: 'own-seed',
    onsubmit: (event) => {
      event.preventDefault();
      if (!enter(field.value)) return;
      field.value = '';
      field.blur();  // the keys are the board's again
    },
    onkeydown: (event) => { if (event.key === 'Escape') field.blur(); },
  },
    el('label', { class: 'field' }, t('match.keys.text'), field), el('button', { class: 'button', type: 'submit' }, t('match.keys.lay')));
  const keys = [['← → ↑ ↓', 'arrows'], ['Enter', 'enter'], ['Esc', 'esc'], ['Backspace', 'back'], [t('match.keys.spaceKey'), 'space'], ['C', 'confirm'], ['/', 'slash']];
  const panel = el('details', { class: 'panel' }, el('summary', {}, icon('menu'), t('match.keys.title')),
    el('div', { class: 'panel-body' }, form, el('dl', { class: 'keys' }, keys.map(([key, word]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, t(`match.keys.${word}`))]))));
  return { element: panel, focus: () => { panel.open = true; field.focus(); } };
}
