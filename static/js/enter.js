// An entrant's personal link: whose it is, for which event, and a button. Opening the page signs nobody in.

import { api, problemText } from './api.js';
import { moment, stagesLine } from './eventwords.js';
import { alertBox, playerMark } from './figures.js';
import { lang, t } from './i18n.js';
import { el, icon, playerName, setTitle, startPage } from './page.js';

const { session } = await startPage({ namespaces: ['site', 'rules', 'events'], title: 'site.enter.title' });
const main = document.getElementById('enter');
const word = (key, params) => t(`site.enter.${key}`, params);
const link = kept();

function kept() {
  try { return sessionStorage.getItem('entrant-link'); } catch { return window.entrantLink ?? null; }
}

function forget() {
  try { sessionStorage.removeItem('entrant-link'); } catch { /* this page alone knew it */ }
}

function say(title, words, ...buttons) {
  setTitle(title);
  main.replaceChildren(el('h1', {}, title), ...words.map((text) => el('p', {}, text)), el('p', { class: 'row' }, buttons));
}

const away = (href, text, primary = false) => el('a', { class: `button${primary ? ' primary' : ''}`, href }, text);

async function open() {
  if (!link) {
    say(word('none'), [word('none_p')], away('/events', word('events')));
    return;
  }
  main.replaceChildren(el('p', { class: 'muted' }, word('loading')));
  try {
    show(await api.post('/api/session/link/look', { link }));
  } catch (problem) {
    failed(problem);
  }
}

function failed(problem) {
  if (problem.status === 401 || problem.status === 422) {
    forget();
    say(word('unknown'), [word('unknown_p'), word('unknown_ask')], away('/events', word('events')));
  } else {
    say(word('failed'), [problemText(problem)], el('button', { class: 'button primary', type: 'button', click: open }, word('again')));
  }
}

/** What the event's state means for who comes now; nothing while it is as one expects. */
function eventWords(event) {
  if (event.state === 'finished' || event.state === 'cancelled') return word(event.state);
  if (event.starts_at && event.state !== 'running') return t('events.starts', { at: moment(event.starts_at) });
  return t(`events.state.${event.state}`);
}

function eventFact(event) {
  if (!event) return el('p', { class: 'muted' }, word('no_event'));
  return el('div', { class: 'enter-event' },
    el('b', {}, event.title[lang()]),
    el('span', { class: 'muted small' }, `${stagesLine(event.stages)} · ${eventWords(event)}`));
}

function show({ player, is_me: isMe, event, match }) {
  const name = playerName(player);
  const target = match ? `/match/${encodeURIComponent(match)}` : event ? `/events/${encodeURIComponent(event.id)}` : '/events';
  const onward = word(match ? 'to_board' : event ? 'to_event' : 'to_events');
  const other = session.player && !isMe ? playerName(session.player) : null;
  const button = el('button', { class: 'button primary', id: 'enter-go' }, icon('next'), isMe ? onward : word('button', { name }));
  const form = el('form', { class: 'card enter-card', novalidate: true },
    el('p', { class: 'enter-who' }, el('span', { class: 'muted small' }, word('player')), playerMark(player)),
    el('div', {}, el('span', { class: 'muted small' }, word('event')), eventFact(event)),
    match ? el('p', { class: 'notice' }, icon('play'), el('span', {}, word('match_waits'))) : null,
    other ? el('div', { class: 'notice warn', role: 'note' }, icon('alert'), el('span', {}, word('other', { other, name }), ' ', word('other_p', { other }))) : null,
    isMe ? el('p', { class: 'muted small' }, word('is_me')) : null,
    el('div', { class: 'row enter-do' }, button, other ? away('/', word('stay', { other })) : null));

  form.addEventListener('submit', async (pressed) => {
    pressed.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    form.querySelector('.notice[role=alert]')?.remove();
    button.setAttribute('aria-disabled', 'true');
    try {
      if (!isMe) await api.post('/api/session/link', { link });
      forget();
      location.replace(target);  // so that going back leads past this page
    } catch (problem) {
      button.removeAttribute('aria-disabled');
      if (problem.status === 401) failed(problem);
      else form.append(alertBox(problemText(problem)));
    }
  });
  setTitle(word('for', { name }));
  main.replaceChildren(el('h1', {}, word('title')), el('p', { class: 'lead' }, word(isMe ? 'lead_me' : 'lead')), form, el('p', { class: 'muted small' }, word('not_you', { name })));
}

await open();
