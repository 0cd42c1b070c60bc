// What is fair here and what is luck, in plain words with the project's own figures (§13). The figures come from
// static/objectivity.json, which bench/charts.py writes from the measurements; nothing is computed here.

import { lang, t } from './i18n.js';
import { el, startPage } from './page.js';

await startPage({ namespaces: ['fairness'], title: 'fairness.title' });
const main = document.getElementById('fairness');
const word = (key, params) => t(`fairness.${key}`, params);
const p = (key, params) => el('p', {}, word(key, params));

const { pairs } = await (await fetch('/static/objectivity.json')).json();

const number = (value) => (value === null ? word('more') : value.toLocaleString(lang()));
const percent = (share) => Math.round(100 * share);
const from = (values) => `${Math.min(...values)}–${Math.max(...values)}`;
const all = Object.values(pairs);

/** How many matches each way of scoring needs, for one pair: a bar and a figure each. */
function needed(key) {
  const pair = pairs[key];
  const rows = [
    ['separate', pair.separate.pips], ['half', pair.needed.half], ['checkers', pair.needed.checkers_half],
    ['classic', pair.needed.classic], ['objective', pair.needed.objective],
  ];
  const longest = Math.max(...rows.map(([, [value]]) => value ?? 100_000));
  return el('figure', { class: 'needed' },
    el('figcaption', {}, el('b', {}, word(`pair.${key}`)), ' ',
      el('span', { class: 'muted small' }, word('needed.of', { n: pair.matches }))),
    el('ul', {}, rows.map(([way, [value, low, high]]) => {
      const bar = el('i', { 'aria-hidden': 'true' });
      bar.style.setProperty('--w', String((value ?? 100_000) / longest));
      return el('li', { class: way === 'objective' ? 'me' : null },
        el('span', {}, word(`way.${way}`)),
        el('span', { class: 'num' }, el('b', {}, number(value)), ' ',
          el('span', { class: 'muted small' }, word('needed.between', { low: number(low), high: number(high) }))),
        bar);
    })));
}

/** All pairs, by points and by the objective result. */
function table() {
  return el('table', { class: 'list' },
    el('caption', { class: 'sr' }, word('table.caption')),
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, word('table.pair')),
      el('th', { class: 'r', scope: 'col' }, word('way.half')), el('th', { class: 'r', scope: 'col' }, word('way.objective')))),
    el('tbody', {}, Object.entries(pairs).map(([key, pair]) => el('tr', {},
      el('th', { scope: 'row' }, word(`pair.${key}`)),
      el('td', { class: 'r' }, number(pair.needed.half[0])), el('td', { class: 'r' }, number(pair.needed.objective[0]))))));
}

const { often: close, at_times: clear } = pairs;
const sections = {
  exact: [p('exact.p1'), p('exact.p2')],
  luck: [
    p('luck.p1', { parted: from(all.map((pair) => percent(pair.shares.parted_first))) }),
    p('luck.p2'),
    p('luck.p3', {
      both: from(all.map((pair) => percent(pair.shares.both_end))),
      tied: from(all.map((pair) => percent(pair.shares.tied))),
    }),
  ],
  result: [p('result.p1'), p('result.p2'), p('result.p3'), needed('often'), needed('at_times')],
  pairs: [p('pairs.p1'), table()],
  not: [
    el('ul', { class: 'claims' }, [
      word('not.one', { points: percent(close.first_match.points), objective: percent(close.first_match.objective) }),
      word('not.judge', {
        strong: number(clear.by_judge.gnubg[0]), small: number(clear.by_judge.small[0]), glance: number(clear.by_judge.heuristic[0]),
      }),
      word('not.people'), word('not.instead'),
    ].map((text) => el('li', {}, text))),
  ],
  how: [p('how.p1'), p('how.p2'), p('how.p3')],
  origin: [p('origin.p1'), p('origin.stakes'), el('p', {}, el('a', { href: '/rules#objective' }, word('rules')))],
};

main.replaceChildren(
  el('header', { class: 'rules-head' }, el('h1', {}, word('title')), el('p', { class: 'lead' }, word('lead'))),
  el('article', { class: 'prose' }, Object.entries(sections).map(([key, content]) =>
    el('section', { id: key, 'aria-labelledby': `${key}-h` }, el('h2', { id: `${key}-h` }, word(`${key}.h`)), content))));
