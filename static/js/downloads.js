// A finished match as files: records to read, .mat for other programs with what their users must know, JSON.
// And what other programs call the two positions that a replay shows.

import { lang, loadWords, t } from './i18n.js';
import { el, icon } from './page.js';
import { copy } from './clipboard.js';

await loadWords('common', 'records');

const FORMS = ['full', 'short', 'fixed'];

/** The card with all downloads of a match. `variant`: other programs read the short game alone. */
export function downloadsCard(id, variant) {
  const at = `/api/matches/${encodeURIComponent(id)}`;
  const file = (href, words) => el('a', { class: 'button', href, download: true }, icon('down'), words);
  const record = (form) => `${at}/record?form=${form}&lang=${language}`;
  let language = lang();
  const links = FORMS.map((form) => file(record(form), t(`records.${form}`)));
  const choose = (chosen) => {
    language = chosen;
    for (const [k, form] of FORMS.entries()) links[k].href = record(form);
  };
  const choice = el('fieldset', { class: 'inline-choice' }, el('legend', {}, t('records.language')), el('div', { class: 'choice' },
    ['ru', 'en'].map((one) => el('label', {}, el('input', { type: 'radio', name: 'record-language', value: one, checked: one === language, change: () => choose(one) }), t(`records.${one}`)))));
  return el('section', { class: 'card downloads' },
    el('h2', {}, t('records.title')),
    choice,
    el('p', { class: 'row' }, links),
    el('p', { class: 'muted small' }, t('records.about')),
    el('h3', {}, t('records.programs')),
    variant === 'short' ? [
      el('p', { class: 'row' }, file(`${at}.mat`, t('records.mat')), file(`${at}.mat.zip`, t('records.zip')), file(`${at}.json`, t('records.json'))),
      el('ul', { class: 'small advice' }, ['jacoby', 'cube', 'last_move'].map((key) => el('li', {}, t(`records.advice.${key}`)))),
    ] : el('p', { class: 'row' }, file(`${at}.json`, t('records.json'))),
    el('p', { class: 'small' }, el('a', { href: '/records' }, t('records.page'))));
}

/** The card with the ids of both positions; `show` puts those of a step in. */
export class PositionIds {
  constructor() {
    this.fields = {};
    this.copied = el('span', { class: 'small muted', role: 'status' });
    this.root = el('section', { class: 'card position-ids' },
      el('h2', {}, t('records.position')),
      ['X', 'Y'].map((game) => ['xgid', 'gnubg'].map((kind) => this.line(game, kind))),
      this.copied);
  }

  line(game, kind) {
    const name = t('records.of_game', { kind: t(`records.${kind}`), game });
    const field = el('input', { type: 'text', readonly: true, 'aria-label': name, spellcheck: 'false', onfocus: (event) => event.target.select() });
    this.fields[game + kind] = field;
    const press = async () => { this.copied.textContent = (await copy(field)) ? t('common.action.copied') : ''; };
    return el('p', { class: 'id-line field' }, el('span', { class: 'small muted' }, name), field,
      el('button', { class: 'button square', type: 'button', 'aria-label': t('records.copy', { name }), title: t('records.copy', { name }), click: press }, icon('copy')));
  }

  show(ids) {
    this.root.hidden = !ids;
    this.copied.textContent = '';
    for (const [key, field] of Object.entries(this.fields)) field.value = ids?.[key[0]][key.slice(1)] ?? '';
  }
}
