// The room of a match that waits for its second player: the invite, how to pass it on, the rules, a way out.

import { api, problemText } from './api.js';
import { copy } from './clipboard.js';
import { t } from './i18n.js';
import { el, icon } from './page.js';
import { DicePanel } from './seed.js';
import { rulesetLine } from './panels.js';

/** Draws the room into `container`. `changed(info)` is called with what a button of it answered. */
export function renderWaiting(container, info, changed) {
  const problem = el('p', { class: 'loss small', role: 'alert' });
  const call = (path) => async () => {
    problem.textContent = '';
    try {
      changed(await api.post(path));
    } catch (error) {
      problem.textContent = problemText(error);
    }
  };
  const matchPath = `/api/matches/${encodeURIComponent(info.id)}`;
  const rules = el('p', { class: 'muted' }, rulesetLine(info), ' · ', el('a', { href: `/rules?match=${encodeURIComponent(info.id)}` }, t('match.waiting.rules')));
  if (info.state === 'cancelled') {
    container.replaceChildren(el('section', { class: 'card' }, el('h1', {}, t(info.cancelled === 'expired' ? 'match.waiting.expired' : 'match.waiting.cancelled')),
      info.cancelled === 'expired' ? el('p', {}, t('match.waiting.expired_p')) : null,
      el('p', {}, el('a', { class: 'button primary', href: '/' }, t('common.action.home')))));
    return;
  }
  if (!info.seat) {
    container.replaceChildren(el('section', { class: 'card' }, el('h1', {}, t('match.waiting.stranger')), rules,
      ...(info.public ? stranger(info, problem, call(`${matchPath}/join`)) : [])));
    return;
  }
  const link = info.code ? `${location.origin}/join/${info.code}` : null;
  const dice = new DicePanel(info.id);
  dice.show(null);
  container.replaceChildren(el('section', { class: 'card waiting', 'aria-labelledby': 'waiting-title' },
    el('h1', { id: 'waiting-title' }, t('match.waiting.title')),
    el('p', {}, t(info.public ? 'match.waiting.public' : 'match.waiting.private')), rules,
    link ? invite(link, info.code) : null,
    problem,
    el('p', {}, el('button', { class: 'button plain loss', type: 'button', onclick: call(`${matchPath}/cancel`) }, icon('cross'), t('match.waiting.cancel'))),
    dice.element));
}

/** A public match seen by somebody who may take the seat: a name if he has none yet, a button, his own text for the dice. */
function stranger(info, problem, join) {
  const dice = new DicePanel(info.id);
  dice.show(null);
  const name = el('input', { type: 'text', autocomplete: 'nickname', maxlength: 40, required: true });
  const asked = el('label', { class: 'field', hidden: true }, t('match.waiting.name'), name);
  const form = el('form', { class: 'stack', novalidate: true, onsubmit: async (event) => {
    event.preventDefault();
    if (!asked.hidden && !name.value.trim()) {
      problem.textContent = t('problems.no-name');
      name.focus();
      return;
    }
    dice.take();
    try {
      if (!asked.hidden) await api.post('/api/session', { name: name.value.trim() });
    } catch (error) {
      problem.textContent = problemText(error);
      return;
    }
    await join();
  } }, asked, el('p', {}, el('button', { class: 'button primary' }, t('match.waiting.join'))));
  api.get('/api/session').then(({ player }) => { asked.hidden = Boolean(player); }).catch(() => {});
  return [form, problem, dice.element];
}

function invite(link, code) {
  const field = el('input', { type: 'text', readonly: true, value: link, id: 'invite-link', onfocus: (event) => event.target.select() });
  const copied = el('span', { class: 'small muted', role: 'status' });
  return el('div', { class: 'invite' },
    el('img', { class: 'qr', src: `/api/invites/${encodeURIComponent(code)}/qr.svg`, alt: t('match.waiting.qr'), width: 180, height: 180 }),
    el('div', { class: 'invite-link' },
      el('label', { class: 'field' }, t('match.waiting.link'), field),
      el('div', { class: 'row' },
        el('button', { class: 'button primary', type: 'button', onclick: async () => { copied.textContent = (await copy(field)) ? t('common.action.copied') : ''; } },
          icon('copy'), t('common.action.copy')),
        navigator.share ? el('button', { class: 'button', type: 'button', onclick: () => navigator.share({ title: t('common.brand'), text: t('match.waiting.text'), url: link }).catch(() => {}) },
          icon('share'), t('match.waiting.share')) : null,
        copied)));
}
