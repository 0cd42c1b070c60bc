// The log of a competition: who did what, when and why.

import { api, problemText } from './api.js';
import { moment } from './eventwords.js';
import { alertBox, nameText } from './figures.js';
import { hasWord, reasonWords, t } from './i18n.js';
import { admin, nameOf, page, tell, word } from './managing.js';
import { el, icon } from './page.js';

let log = null;
let shownLog = 100;

async function loadLog() {
  const all = [];
  let cursor = null;
  do {
    const part = await api.get(`${admin}/audit?limit=500${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
    all.push(...part.entries);
    cursor = part.next;
  } while (cursor);
  log = all.reverse();
}

function targetWords(target) {
  const [kind, ...rest] = target.split(' ');
  if (kind === 'entrant') return nameOf(Number(rest[0])) || rest[0];
  if (kind === 'entrants') return rest.filter((part) => /^\d+$/.test(part)).map((number) => nameOf(Number(number))).join(' – ');
  return hasWord(`organise.log.${kind}`) && rest.length ? word(`log.${kind}`, { n: rest.join(' ') }) : '';
}

export function logPart() {
  if (log === null || log.of !== page.event) {  // words, keys and links are in it, and in no version of the event
    const of = page.event;
    loadLog().then(() => { log.of = of; if (location.hash === '#log') page.draw(); }).catch((problem) => tell(alertBox(problemText(problem))));
    if (log === null) return el('p', { class: 'muted' }, t('events.loading'));
  }
  const did = (what) => word(hasWord(`organise.log.did.${what}`) ? `log.did.${what}` : 'log.did.other');
  const line = (entry) => entry.changes.map((change, n) => el('tr', {},
    el('td', { class: 'nowrap muted' }, n ? '' : el('time', { datetime: entry.time }, moment(entry.at))),
    el('td', {}, n ? '' : entry.actor ? nameText(entry.actor) : word('log.server'), !n && entry.key ? el('small', { class: 'muted' }, ` ${entry.key.label}`) : null),
    el('td', {}, did(change.what), el('small', { class: 'muted target' }, targetWords(change.target))),
    el('td', {}, reasonWords(change.reason))));
  return el('section', { class: 'card' },
    el('p', {}, el('a', { class: 'button small-button', href: `${admin}/audit.csv`, download: '' }, icon('down'), word('log.csv'))),
    log.length ? el('div', { class: 'scroll-box', tabindex: 0, role: 'region', 'aria-label': word('tab.log') }, el('table', { class: 'list log' },
      el('thead', {}, el('tr', {}, ['when', 'who', 'what', 'why'].map((key) => el('th', { scope: 'col' }, word(`log.${key}`))))),
      el('tbody', {}, log.slice(0, shownLog).flatMap(line)))) : el('p', { class: 'muted' }, word('log.empty')),
    log.length > shownLog ? el('p', {}, el('button', { class: 'button small-button', type: 'button', click: () => { shownLog += 200; page.draw(); } }, word('log.more'))) : null);
}
