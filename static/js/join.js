// An invitation: who invites, by which rules, and a button. Opening the page takes no seat.

import { api, problemText } from './api.js';
import { alertBox, nameText, playerMark } from './figures.js';
import { t } from './i18n.js';
import { el, setTitle, showPlayer, startPage } from './page.js';
import { presetName, rulesetShort } from './rulewords.js';
import { DicePanel } from './seed.js';

const { session } = await startPage({ namespaces: ['site', 'rules', 'match'], title: 'site.join.title' });
let player = session?.player ?? null;
const main = document.getElementById('join');
const code = decodeURIComponent(location.pathname.replace(/^\/join\//, '').replace(/\/$/, '')).toLowerCase();

const link = (href, key, primary = true) => el('a', { class: `button${primary ? ' primary' : ''}`, href }, t(`site.join.${key}`));

function say(title, words, ...buttons) {
  main.replaceChildren(el('h1', {}, title), el('p', { class: 'lead' }, words), el('p', { class: 'row' }, buttons));
}

async function open() {
  main.replaceChildren(el('p', { class: 'muted' }, t('site.join.loading')));
  try {
    show(await api.get(`/api/invites/${encodeURIComponent(code)}`));
  } catch (problem) {
    if (problem.status === 404 || problem.status === 410 || problem.status === 422) {
      say(t('site.join.unknown'), t('site.join.unknown_p'), link('/', 'home'));
    } else {
      say(t('site.join.failed'), problemText(problem), el('button', { class: 'button primary', type: 'button', click: open }, t('site.join.again')), link('/', 'home', false));
    }
  }
}

function show(info) {
  const { A: a, B: b } = info.players;
  const both = { a: nameText(a), b: nameText(b) };
  const match = `/match/${info.id}`;
  if (info.cancelled === 'expired') say(t('site.join.expired'), t('site.join.expired_p'), link('/', 'home'));
  else if (info.state === 'cancelled') say(t('site.join.cancelled'), t('site.join.cancelled_p'), link('/', 'home'));
  else if (info.state === 'over') say(t('site.join.over'), t('site.join.over_p', both), link(match, 'result'), link('/', 'home', false));
  else if (info.state === 'playing' && info.seat) say(t('site.join.mine'), t('site.join.mine_p'), link(match, 'own_link'));
  else if (info.state === 'playing') say(t('site.join.full'), t('site.join.full_p', both), link(match, 'watch'), link('/', 'home', false));
  else if (info.seat) say(t('site.join.own'), t('site.join.own_p'), link(match, 'own_link'));
  else invite(info, a ?? b);
}

function invite(info, maker) {
  setTitle(t('site.join.invites', { name: nameText(maker) }));
  const button = el('button', { class: 'button primary' }, t('site.join.button'));
  const input = player ? null : el('input', { name: 'player', autocomplete: 'nickname', maxlength: 40, required: true, 'aria-describedby': 'name-hint' });
  const dice = new DicePanel(info.id);
  dice.show(null);
  const form = el('form', { class: 'card', novalidate: true },
    input ? el('div', { class: 'ask-name' },
      el('label', { class: 'field' }, t('site.join.name'), input),
      el('p', { class: 'muted small', id: 'name-hint' }, t('site.new.name_hint'))) : null,
    el('div', { class: 'row' }, button));

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    form.querySelector('.notice')?.remove();
    const name = input?.value.trim();
    if (!player && !name) {
      form.append(alertBox(t('site.new.name_needed')));
      input.focus();
      return;
    }
    button.setAttribute('aria-disabled', 'true');
    try {
      if (!player) {
        player = (await api.post('/api/session', { name })).player;
        showPlayer(player);
      }
      dice.take();  // before the seat is taken: the match page commits to it at once
      const joined = await api.post(`/api/invites/${encodeURIComponent(code)}/join`);
      location.assign(`/match/${joined.id}`);
    } catch (problem) {
      button.removeAttribute('aria-disabled');
      if (problem.status === 409 || problem.status === 404) {
        await open();  // the seat has gone meanwhile: say what became of it
        return;
      }
      form.append(alertBox(problemText(problem)));
    }
  });

  const [before, after] = t('site.join.invites', { name: '\u0000' }).split('\u0000');
  main.replaceChildren(
    el('h1', { class: 'invite-title' }, before, playerMark(maker, { bold: false }), after),
    el('p', { class: 'lead' }, t('site.join.lead')),
    form,
    el('section', { class: 'card' },
      el('h2', {}, t('site.join.rules')),
      el('p', {}, el('b', {}, `${presetName(info.preset)}.`)),
      el('ul', { class: 'plain-list' }, rulesetShort(info.ruleset).map((sentence) => el('li', {}, sentence))),
      el('p', {}, el('a', { href: `/rules?match=${encodeURIComponent(info.id)}` }, t('site.join.all_rules')))),
    dice.element);
}

await open();
