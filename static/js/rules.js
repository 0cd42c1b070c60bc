// The rules in plain words, for a preset or for the ruleset of one match.

import { api, problemText } from './api.js';
import { alertBox, nameText } from './figures.js';
import { t } from './i18n.js';
import { el, icon, setTitle, startPage } from './page.js';
import { presetName, rulesetLong, rulesetShort } from './rulewords.js';

await startPage({ namespaces: ['site', 'rules'], title: 'rules.title' });
const main = document.getElementById('rules');

// The keys that the worked example depends on: it is shown only where its figures hold.
const EXAMPLE = {
  scoring: 'pips', pips_cap: null, 'unfinished.mode': 'lead', 'unfinished.num': 1, 'unfinished.den': 2,
  'time.mode': 'linear', 'time.threshold_ms': 60000, 'time.ms_per_point': 20000, 'time.cap_num': 1, 'time.cap_den': 4,
  'time.settlement': 'symmetric',
};
const at = (ruleset, path) => path.split('.').reduce((value, key) => value?.[key], ruleset);
const exampleHolds = (ruleset) => Object.entries(EXAMPLE).every(([path, value]) => at(ruleset, path) === value);

const p = (key, params) => el('p', {}, t(`rules.page.${key}`, params));
/** Where the figures are. */
const measured = () => el('p', {}, el('a', { href: '/fairness' }, t('rules.page.fair.measured')));
/** Sentences that come from the ruleset: marked, since another ruleset says something else there. */
const own = (sentences) => sentences.map((sentence) => el('p', { class: 'own' }, sentence));

function sections(ruleset) {
  const words = rulesetLong(ruleset);
  const short = ruleset.variant === 'short';
  const list = [
    ['match', [p('match.p1'), el('ol', { class: 'numbered' }, ['s1', 's2', 's3', 's4'].map((key) => el('li', {}, t(`rules.page.match.${key}`)))), p('match.p2'), p('match.p3')]],
    ['seen', [p('seen.p1'), own(words.peek), p('seen.p2'), p('seen.p3')]],
    ['moves', short
      ? [p('moves.p1'), p('moves.p2'), p('moves.p3'), p('moves.p4'), p('moves.p5'), p('moves.p6'), own(words.opening)]
      : [p('moves_long.p1'), p('moves_long.p2'), p('moves.p6'), own(words.long), own(words.opening)]],
    ['end', [p('end.p1'), own(words.tied), p('end.p2'), p('end.p3')]],
    ['score', [
      el('h3', {}, t('rules.page.score.classes')),
      el('dl', { class: 'classes' }, ['oin', 'mars', ...(short ? ['koks'] : [])].flatMap((name) => [
        el('dt', {}, t(`common.class.${name}`)), el('dd', {}, t(`rules.page.score.${name}`))])),
      own(words.scoring)]],
    ['credit', [own(words.credit)]],
    exampleHolds(ruleset) ? ['example', [p('example.p1')]] : null,
    ['time', [own(words.clock), ruleset.clock.type === 'none' ? null : [el('p', {}, t('rules.clock.charged')), el('p', {}, t('rules.clock.flag'))], own(words.time)]],
    ['early', [p('early.p1'), p('early.p2'), own(words.early), p('early.p3'), p('early.p4')]],
    ['dice', [p('dice.p1'), p('dice.p2'), el('p', {}, el('a', { href: '/dice' }, t('rules.page.dice.check')))]],
    ['rating', [own(words.rating)]],
    ['fair', [p('fair.p1'), p('fair.p2'), measured(), p('fair.stakes')]],
    ['objective', [p('objective.p1'), p('objective.p2'), p('objective.p3'), measured()]],
    ['origin', [p('origin.p1'), p('origin.p2')]],
  ];
  return list.filter(Boolean);
}

function show({ ruleset, preset, presets, info = null }) {
  const list = sections(ruleset);
  setTitle(t(info ? 'rules.title_match' : 'rules.title'));
  const both = info && info.players.A && info.players.B;
  main.replaceChildren(
    el('header', { class: 'rules-head' },
      el('h1', {}, t(info ? 'rules.title_match' : 'rules.title')),
      el('p', { class: 'lead' }, t('rules.lead')),
      info
        ? el('p', {}, both ? t('rules.match_of', { a: nameText(info.players.A), b: nameText(info.players.B) }) : t('rules.match_of_one', { a: nameText(info.players.A ?? info.players.B) }))
        : el('nav', { class: 'presets', 'aria-label': t('rules.which') }, presets.map((one) =>
          el('a', { href: `/rules?preset=${one.key}`, 'aria-current': one.key === preset ? 'page' : null }, presetName(one.key, presets)))),
      el('div', { class: 'words' },
        el('p', {}, el('b', {}, `${presetName(preset, presets)}.`), ' ', t(`rules.about.${preset}`)),
        el('p', {}, rulesetShort(ruleset).join(' ')),
        info ? null : el('p', {}, el('a', { href: `/?preset=${preset}` }, t('rules.play'))))),
    el('div', { class: 'rules-body' },
      el('nav', { class: 'contents', 'aria-label': t('rules.contents') },
        el('details', { open: matchMedia('(min-width: 900px)').matches },
          el('summary', {}, t('rules.contents')),
          el('ol', {}, list.map(([key]) => el('li', {}, el('a', { href: `#${key}` }, t(`rules.page.${key}.h`))))))),
      el('article', { class: 'prose' },
        el('p', { class: 'muted small' }, t('rules.differs')),
        list.map(([key, content]) => el('section', { id: key, 'aria-labelledby': `${key}-h` }, el('h2', { id: `${key}-h` }, t(`rules.page.${key}.h`)), content)))));
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

async function open() {
  const asked = new URLSearchParams(location.search);
  const { presets: all } = await api.get('/api/rulesets');
  const presets = all.filter((preset) => preset.ruleset.variant === 'short');
  if (asked.get('match')) {
    const info = await api.get(`/api/matches/${encodeURIComponent(asked.get('match'))}`);
    show({ ruleset: info.ruleset, preset: info.preset, presets, info });
    return;
  }
  const chosen = all.find((preset) => preset.key === asked.get('preset')) ?? presets[0];
  show({ ruleset: chosen.ruleset, preset: chosen.key, presets });
}

try {
  await open();
} catch (problem) {
  main.replaceChildren(el('h1', {}, t('rules.title')), alertBox(problemText(problem)), el('p', {}, el('a', { class: 'button', href: '/rules' }, icon('again'), t('rules.title'))));
}
