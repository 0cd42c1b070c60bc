// My bots: programs of mine that play here. A token is shown once, in the row of its bot, and kept nowhere.

import { api, problemText } from './api.js';
import { alertBox, playerMark } from './figures.js';
import { formatDate, t } from './i18n.js';
import { el, icon, playerName, showPlayer, startPage } from './page.js';
import { copy } from './clipboard.js';

const { session } = await startPage({ namespaces: ['bots', 'site'], title: 'bots.title' });
const main = document.getElementById('bots');
const said = el('p', { class: 'sr', role: 'status' });
let player = session?.player ?? null;
let shown = { bots: [], limit: 0 };
let fresh = null;  // {id, token}: the token that was made last

async function open() {
  if (!player) {
    draw();
    return;
  }
  try {
    shown = await api.get('/api/bots');
    draw();
  } catch (problem) {
    main.replaceChildren(el('h1', {}, t('bots.title')), alertBox(problemText(problem)));
  }
}

function draw() {
  main.replaceChildren(...[
    el('h1', {}, t('bots.title')),
    el('p', { class: 'lead' }, t('bots.lead')),
    said,
    player && shown.bots.length ? list() : null,
    creation(),
    how(),
  ].filter(Boolean));
}

// ---- the list ----------------------------------------------------------------------------------------------

function list() {
  return el('section', { class: 'card', 'aria-labelledby': 'mine-title' },
    el('h2', { id: 'mine-title' }, t('bots.mine')),
    el('ul', { class: 'bot-list' }, shown.bots.map(row)));
}

function row(bot) {
  const name = playerName({ ...bot, kind: 'bot' });
  const path = `/api/bots/${encodeURIComponent(bot.id)}`;
  const wrong = el('p', { class: 'loss small', role: 'alert' });
  const act = (word, { shape, extra = '', sure, call }) => el('button', {
    class: `button small-button ${extra}`, type: 'button', 'aria-label': t(`bots.${word}_of`, { name }),
    onclick: () => (sure ? ask(sure, word, () => attempt(wrong, call)) : attempt(wrong, call)),
  }, icon(shape), t(`bots.${word}`));
  const renewed = async () => {
    const made = await api.post(`${path}/token`);
    fresh = { id: bot.id, token: made.token };
    said.textContent = t('bots.made', { name });
  };
  return el('li', {},
    el('div', { class: 'bot-who' }, playerMark({ ...bot, kind: 'bot' }),
      el('span', { class: 'muted small' }, bot.token_at ? t('bots.token_of', { date: formatDate(bot.token_at) }) : t('bots.no_token'))),
    el('div', { class: 'row' },
      act('renew', { shape: 'again', sure: bot.token_at ? t('bots.renew_sure', { name }) : null, call: renewed }),
      bot.token_at ? act('revoke', { shape: 'lock', sure: t('bots.revoke_sure', { name }), call: async () => { await api.delete(`${path}/token`); said.textContent = t('bots.revoked', { name }); } }) : null,
      act('remove', { shape: 'cross', extra: 'plain loss', sure: t('bots.remove_sure', { name }), call: async () => { await api.delete(path); said.textContent = t('bots.removed', { name }); } })),
    wrong,
    fresh?.id === bot.id ? tokenBox(fresh.token) : null);
}

function tokenBox(token) {
  const field = el('input', { type: 'text', readonly: true, value: token, class: 'code-text', autocomplete: 'off', spellcheck: 'false', onfocus: (event) => event.target.select() });
  const copied = el('span', { class: 'small muted', role: 'status' });
  return el('div', { class: 'token-box notice warn' },
    el('label', { class: 'field' }, t('bots.token'), field),
    el('div', { class: 'row' },
      el('button', { class: 'button', type: 'button', onclick: async () => { if (await copy(field)) copied.textContent = t('common.action.copied'); } }, icon('copy'), t('common.action.copy')),
      copied),
    el('p', { class: 'small' }, t('bots.once')));
}

async function attempt(wrong, call) {
  wrong.textContent = '';
  try {
    fresh = null;
    await call();
    await open();
  } catch (problem) {
    wrong.textContent = problemText(problem);
  }
}

/** Asks before something that cannot be taken back. */
function ask(question, word, go) {
  const dialog = el('dialog', { class: 'card ask', role: 'alertdialog', 'aria-labelledby': 'sure', onclose: () => dialog.remove() },
    el('p', { id: 'sure' }, question),
    el('div', { class: 'row' },
      el('button', { class: 'button', type: 'button', autofocus: true, onclick: () => dialog.close() }, t('common.action.cancel')),
      el('button', { class: 'button plain loss', type: 'button', onclick: () => { dialog.close(); go(); } }, t(`bots.${word}`))));
  document.body.append(dialog);
  dialog.showModal();
}

// ---- a new one ---------------------------------------------------------------------------------------------

function creation() {
  const full = player && shown.limit && shown.bots.length >= shown.limit;
  const field = (name, word, hint) => {
    const input = el('input', { name, autocomplete: 'off', maxlength: 40, required: true, 'aria-describedby': `${name}-hint` });
    return el('div', {}, el('label', { class: 'field' }, t(word), input), el('p', { class: 'muted small', id: `${name}-hint` }, t(hint)));
  };
  const form = el('form', { class: 'card', novalidate: true },
    el('h2', {}, t('bots.new')),
    full ? el('p', { class: 'muted' }, t('bots.full', { n: shown.limit })) : null,
    player || full ? null : field('player', 'site.new.name', 'site.new.name_hint'),
    full ? null : field('bot', 'bots.name', 'bots.name_hint'),
    full ? null : el('div', { class: 'row' }, el('button', { class: 'button primary' }, t('bots.create'))));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    create(form);
  });
  return form;
}

async function create(form) {
  form.querySelector('.notice')?.remove();
  const empty = [...form.querySelectorAll('input')].find((input) => !input.value.trim());
  if (empty) {
    form.append(alertBox(t('problems.because.empty')));
    empty.focus();
    return;
  }
  try {
    if (!player) {
      player = (await api.post('/api/session', { name: form.elements.player.value })).player;
      showPlayer(player);
    }
    const made = await api.post('/api/bots', { name: form.elements.bot.value });
    fresh = { id: made.bot.id, token: made.token };
    said.textContent = t('bots.made', { name: playerName({ ...made.bot, kind: 'bot' }) });
    await open();
    main.querySelector('.token-box input')?.focus();
  } catch (problem) {
    form.append(alertBox(problemText(problem)));
  }
}

// ---- what to do with it ------------------------------------------------------------------------------------

function how() {
  const link = (href, word) => el('a', { href }, t(word));
  return el('section', { class: 'card' },
    el('h2', {}, t('bots.how')),
    el('ol', { class: 'numbered' },
      el('li', {}, t('bots.how_token')),
      el('li', {}, t('bots.how_run'), ' ', el('code', { class: 'code-text' }, `python examples/bot.py ${location.origin} --token nardy_bot_…`)),
      el('li', {}, t('bots.how_invite'))),
    el('p', { class: 'small' }, t('bots.how_own'), ' ', link('/api/openapi.json', 'bots.openapi'), ' · ', link('/api/schemas/socket.json', 'bots.schemas')));
}

await open();
