// A competition for who has made it: what is to be done next, rounds, entrants, settings, the log.

import { problemText } from './api.js';
import { alertBox } from './figures.js';
import { lang, t } from './i18n.js';
import { entrants } from './manageentrants.js';
import { logPart } from './managelog.js';
import { run } from './managerun.js';
import { settings } from './managesettings.js';
import { id, load, page, word } from './managing.js';
import { el, setTitle, startPage } from './page.js';

await startPage({ namespaces: ['site', 'rules', 'events', 'organise'], title: 'events.title' });
const main = document.getElementById('manage');
const TABS = { run, entrants, settings, log: logPart };
const REFRESH_MS = 5000;
const body = el('div', { class: 'event-panel' });

const tab = () => (location.hash.slice(1) in TABS ? location.hash.slice(1) : 'run');

function draw() {
  const title = page.event.view.title[lang()];
  setTitle(word('title', { title }));
  const current = tab();
  main.replaceChildren(
    el('header', { class: 'event-head' },
      el('div', { class: 'row between' }, el('h1', {}, word('title', { title })), el('a', { class: 'button', href: `/events/${encodeURIComponent(id)}` }, word('page')))),
    el('nav', { class: 'presets event-nav', 'aria-label': word('tab.label') }, Object.keys(TABS).map((name) =>
      el('a', { href: `#${name}`, 'aria-current': name === current ? 'page' : null }, word(`tab.${name}`)))),
    page.notice, body);
  body.replaceChildren(...[TABS[current]()].flat(2).filter(Boolean));
}

/** Shows what has changed meanwhile, unless somebody is in the middle of something. */
async function keepUp() {
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, REFRESH_MS); });
    const busy = tab() === 'settings' || document.querySelector('dialog[open], main details[open], main [aria-expanded="true"]') || document.activeElement?.matches('input, select, textarea');
    if (document.hidden || busy) continue;
    const before = page.event.version;
    await load().catch(() => {});
    if (page.event.version !== before) draw();
  }
}

try {
  await load();
  page.draw = draw;
  draw();
  addEventListener('hashchange', draw);
  keepUp();
} catch (problem) {
  const stranger = [401, 403].includes(problem.status);
  main.replaceChildren(el('h1', {}, t('events.manage.link')), alertBox(stranger ? word('not_owner') : problemText(problem)),
    el('p', {}, el('a', { class: 'button', href: '/events' }, t('events.all'))));
}
