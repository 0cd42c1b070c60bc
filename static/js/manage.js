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

const heading = el('h1');

/** What the competition is called. */
function name() {
  const title = word('title', { title: page.event.view.title[lang()] });
  setTitle(title);
  heading.textContent = title;
}

/** Draws all anew; whoever writes in a field meanwhile goes on there. */
function draw() {
  const held = body.contains(document.activeElement) && document.activeElement.matches('input, select, textarea') ? document.activeElement : null;
  drawAll();
  const again = held?.id ? document.getElementById(held.id) : null;
  if (!again || again === held) return;
  if (held.matches('input:not([type="file"]), textarea') && held.value !== held.defaultValue) again.value = held.value;
  again.focus();
}

function drawAll() {
  name();
  const current = tab();
  main.replaceChildren(
    el('header', { class: 'event-head' },
      el('div', { class: 'row between' }, heading, el('a', { class: 'button', href: `/events/${encodeURIComponent(id)}` }, word('page')))),
    el('nav', { class: 'presets event-nav', 'aria-label': word('tab.label') }, Object.keys(TABS).map((one) =>
      el('a', { href: `#${one}`, 'aria-current': one === current ? 'page' : null }, word(`tab.${one}`)))),
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

/** The second press of a double click is meant for the button that stood there at the first. */
document.addEventListener('click', (pressed) => {
  if (pressed.detail > 1 && pressed.target.closest('button')) {
    pressed.stopPropagation();
    pressed.preventDefault();
  }
}, true);

try {
  await load();
  Object.assign(page, { draw, name });
  draw();
  addEventListener('hashchange', draw);
  keepUp();
} catch (problem) {
  const stranger = [401, 403].includes(problem.status);
  main.replaceChildren(el('h1', {}, t('events.manage.link')), alertBox(stranger ? word('not_owner') : problemText(problem)),
    el('p', {}, el('a', { class: 'button', href: '/events' }, t('events.all'))));
}
