// The list of competitions: my own, those that run, those that are coming, those that are over.

import { api, problemText } from './api.js';
import { moment, rulesName, stagesLine, zone } from './eventwords.js';
import { alertBox } from './figures.js';
import { lang, t } from './i18n.js';
import { el, icon, startPage } from './page.js';

const { session } = await startPage({ namespaces: ['site', 'rules', 'events'], title: 'events.title' });
const main = document.getElementById('events');
const word = (key, params) => t(`events.${key}`, params);

/** One competition as a row: its name, what is played, when, how many. */
function row(one, note = null) {
  return el('li', {}, el('a', { class: `event-row ${one.state}`, href: `/events/${encodeURIComponent(one.id)}` },
    el('span', { class: 'event-what' },
      el('b', {}, one.title[lang()]),
      el('span', { class: 'muted' }, `${stagesLine(one.stages)} · ${rulesName(one.preset).toLowerCase()}`)),
    el('span', { class: 'event-when' },
      note ? el('b', { class: 'event-note' }, note) : el('span', {}, whenWords(one)),
      el('span', { class: 'muted' }, word('entrants', { n: one.entrants })))));
}

function whenWords(one) {
  if (one.state === 'announced' || one.state === 'entry') return one.starts_at ? word('starts', { at: moment(one.starts_at) }) : word(`state.${one.state}`);
  return word(`state.${one.state}`);
}

/** What is next for me there, if it is something to be done. */
function noteOf(next) {
  if (next.kind === 'play') return t('common.call.waits');
  if (next.kind === 'starts' && next.at) return word('next.starts_soon', { at: moment(next.at) });
  return next.kind === 'check-in' || next.kind === 'asked' ? word(`next.${next.kind}`) : null;
}

function section(title, list, more = null) {
  return el('section', { class: 'events-part' }, el('h2', {}, title), list, more);
}

async function part(when) {
  const list = el('ul', { class: 'event-list' });
  const more = el('button', { class: 'button small-button', type: 'button', hidden: true }, word('more'));
  let before = null;
  const load = async () => {
    const { competitions, next } = await api.get(`/api/competitions?when=${when}&limit=20${before ? `&before=${before}` : ''}`);
    // What begins first stands first; the rest as the server gives it, the newest first.
    const sorted = when === 'coming' ? [...competitions].sort((a, b) => (a.starts_at ?? Infinity) - (b.starts_at ?? Infinity)) : competitions;
    list.append(...sorted.map((one) => row(one)));
    before = next;
    more.hidden = next === null;
  };
  more.addEventListener('click', () => load().catch((problem) => more.before(alertBox(problemText(problem)))));
  await load();
  return section(word(`when.${when}`), list.children.length ? list : el('p', { class: 'muted small' }, word(`none.${when}`)), more);
}

async function mine() {
  if (!session.player) return [];
  const { entered, made } = await api.get('/api/my/competitions');
  const out = [];
  if (entered.length) out.push(section(word('mine'), el('ul', { class: 'event-list mine' }, entered.map(({ competition, mine: { next } }) => row(competition, noteOf(next))))));
  if (made.length) out.push(section(word('made'), el('ul', { class: 'event-list' }, made.map((one) => row(one)))));
  return out;
}

try {
  const parts = await Promise.all([mine(), part('running'), part('coming'), part('over')]);
  main.replaceChildren(
    el('header', { class: 'events-head' },
      el('h1', {}, word('title')),
      el('p', { class: 'lead' }, word('lead')),
      el('p', {}, el('a', { class: 'button', href: '/events/new' }, icon('flag'), word('create')))),
    ...parts.flat(),
    el('p', { class: 'muted small' }, word('zone', { zone: zone() })));
} catch (problem) {
  main.replaceChildren(el('h1', {}, word('title')), alertBox(problemText(problem)));
}
