// The settings of a competition that may still be others: its words at any time, entry and pace while it runs, stages and
// rules of a match until it starts. Only what was changed is sent.

import { api } from './api.js';
import { settingsWords, stageName, stageWords, zone } from './eventwords.js';
import { alertBox } from './figures.js';
import { lang, t } from './i18n.js';
import { admin, field, isBefore, isOver, load, localTime, page, refusal, tell, timeOf, word } from './managing.js';
import { el } from './page.js';

const MINUTE = 60_000;
let asked = null;  // the presets, as soon as they are there

const text = (name, value, attrs = {}) => el('input', { id: name, value, ...attrs });
const number = (name, value, min, max, attrs = {}) => el('input', { id: name, type: 'number', inputmode: 'numeric', min, max, value: value ?? '', ...attrs });
const select = (name, options, value) => el('select', { id: name }, options.map(([key, words]) => el('option', { value: key, selected: String(key) === String(value ?? '') }, words)));
const clock = (name, value) => el('input', { id: name, type: 'datetime-local', value: value ? localTime(value) : null });
const set = (key, params) => word(`set.of.${key}`, params);

export function settings() {
  return [wordsPart(), isOver() ? null : entryPart(), isBefore() ? stagesPart() : fixedPart()];
}

/**
 * A part that is saved as a whole, and leaves alone what was written in the others; a field that cannot be so is pointed
 * at. `again()` makes it anew once it is saved.
 */
function part(again, title, about, fields, save) {
  const form = el('form', { class: 'stack', novalidate: true, submit: (submitted) => submitted.preventDefault() }, fields);
  const go = el('button', { class: 'button', type: 'button', click: async () => {
    const wrong = [...form.querySelectorAll('input')].find((input) => !input.closest('[hidden]') && !input.checkValidity());
    if (wrong) { wrong.reportValidity(); return; }
    if (go.getAttribute('aria-disabled') === 'true') return;
    go.setAttribute('aria-disabled', 'true');
    try {
      await save({ version: page.event.version });
      await load();
      page.name();
      section.replaceWith(again());
      tell(el('p', { class: 'notice' }, word('set.saved')));
    } catch (problem) {
      const stale = problem.code === 'stale-version';
      if (stale) await load().catch(() => {});
      tell(alertBox(stale ? word('set.stale') : refusal(problem)));
      go.removeAttribute('aria-disabled');
    }
  } }, word('set.save'));
  const section = el('section', { class: 'card' }, el('h2', {}, title), about ? el('p', { class: 'muted small' }, about) : null, form, el('p', { class: 'row' }, go));
  return section;
}

// ---- words -------------------------------------------------------------------------------------------------

function wordsPart() {
  const { title, about, visibility } = page.event.view;
  const both = lang() === 'ru' ? ['ru', 'en'] : ['en', 'ru'];
  const titles = both.map((language) => text(`title-${language}`, title[language] ?? '', { maxlength: 100 }));
  const abouts = both.map((language) => el('textarea', { id: `about-${language}`, rows: 3, maxlength: 10000 }, about[language] ?? ''));
  const shown = select('visibility', [['public', word('new.visible_yes')], ['unlisted', word('new.visible_no')]], visibility);
  return part(wordsPart, word('set.words'), word('set.words_p'), [
    el('div', { class: 'rule-keys' },
      both.map((language, n) => field(word(`new.name_${language}`), titles[n])),
      both.map((language, n) => el('label', { class: 'field' }, word(`set.about_${language}`), abouts[n])),
      field(word('new.visible'), shown))],
  (options) => {
    const other = (inputs, before) => Object.fromEntries(both.map((language, n) => [language, inputs[n].value.trim()]).filter(([language, words]) => words !== (before[language] ?? '')));
    return api.patch(admin, { title: other(titles, title), about: other(abouts, about), visibility: shown.value === visibility ? null : shown.value }, options);
  });
}

// ---- entry and pace ----------------------------------------------------------------------------------------

function entryPart() {
  const now = page.event.settings;
  const { entry, pace } = now;
  const before = isBefore();
  const takesLate = ['swiss', 'qualifying'].includes(now.stages[0].kind);
  const mode = select('mode', ['open', 'approved', 'invited', 'code'].map((key) => [key, word(`new.mode_${key}`)]), entry.mode);
  const code = text('code', entry.code ?? '', { minlength: 4, maxlength: 64, autocomplete: 'off' });
  const codeField = field(word('new.code'), code);
  const capacity = number('capacity', entry.capacity, 2, 10000);
  const late = number('late', entry.late_rounds, 0, 50, { required: true });
  const starts = clock('starts', now.starts_at);
  const closes = clock('closes', entry.closes_at);
  const checks = [...new Set([10, 30, 60, ...(entry.check_in_ms ? [entry.check_in_ms / MINUTE] : [])])].sort((a, b) => a - b);
  const check = select('check', [['', word('new.check_none')], ...checks.map((n) => [n, word('new.check_min', { n })])], entry.check_in_ms ? entry.check_in_ms / MINUTE : '');
  const bots = el('input', { type: 'checkbox', id: 'bots' });
  bots.checked = entry.bots;
  const noShow = number('no-show', now.no_show_s / 60, 0, 1440, { required: true, step: 'any' });
  const follow = select('pace', ['auto', 'manual'].map((key) => [key, word(`new.pace_${key}`)]), pace.mode);
  const rest = number('break', pace.break_ms / MINUTE, 0, 43200, { required: true, step: 'any' });
  const restField = field(word('new.break'), rest);
  const refresh = () => { codeField.hidden = mode.value !== 'code'; restField.hidden = follow.value !== 'auto'; };
  mode.addEventListener('change', refresh);
  follow.addEventListener('change', refresh);
  refresh();
  return part(entryPart, word('set.entry'), word(before ? 'set.entry_p' : 'set.entry_running'), [
    el('div', { class: 'rule-keys' },
      before ? [field(word('new.entry'), mode), codeField] : null,
      field(word('new.capacity'), capacity, word('new.capacity_hint')),
      takesLate ? field(set('entry_late_rounds'), late, word('set.late_hint')) : null,
      before ? [field(set('starts_at'), starts, `${word('step.at_hint')} ${t('events.zone', { zone: zone() })}`), field(set('entry_closes_at'), closes, word('set.closes_hint')), field(word('new.check_in'), check)] : null,
      field(set('no_show_s'), noShow, word('set.no_show_hint')),
      field(word('new.pace'), follow), restField),
    el('label', { class: 'tick' }, bots, set('entry_bots'))],
  (options) => changed(options, now, {
    starts_at: before ? timeOf(starts) : now.starts_at,
    no_show_s: Math.round(Number(noShow.value) * 60),
    entry: {
      mode: mode.value, code: mode.value === 'code' ? code.value.trim() : null, capacity: capacity.value ? Number(capacity.value) : null, late_rounds: takesLate ? Number(late.value) : entry.late_rounds,
      closes_at: before ? timeOf(closes) : entry.closes_at, check_in_ms: check.value ? Number(check.value) * MINUTE : null, bots: bots.checked,
    },
    pace: { mode: follow.value, break_ms: Math.round(Number(rest.value) * MINUTE) },
  }));
}

/**
 * Sends what was made to differ from the settings `now` that the fields were filled with, so that nobody else's changes
 * are taken back; a time that a field shows without its seconds is no other time.
 */
async function changed(options, now, wanted) {
  const same = (a, b, key) => JSON.stringify(a) === JSON.stringify(b) || (key.endsWith('_at') && a !== null && b !== null && Math.floor(a / MINUTE) === Math.floor(b / MINUTE));
  const other = (after, before) => Object.fromEntries(Object.entries(after).filter(([key, value]) => !same(value, before[key], key)));
  const plain = Object.fromEntries(Object.entries(wanted).filter(([key]) => !['entry', 'pace'].includes(key)));
  const changes = { ...other(plain, now) };
  for (const key of ['entry', 'pace']) {
    const inner = wanted[key] ? other(wanted[key], now[key]) : {};
    if (Object.keys(inner).length) changes[key] = inner;
  }
  if (!Object.keys(changes).length) return {};
  return api.patch(`${admin}/settings`, { settings: changes }, options);
}

// ---- stages and rules --------------------------------------------------------------------------------------

/** The numbers of a stage that pages ask for; the rest of it stays as it is. */
const NUMBERS = [['matches', 1, 20], ['rounds', 1, 50], ['size', 2, 64], ['legs', 1, 4], ['take', 2, 10000], ['take_per_group', 1, 100]];

function stagesPart() {
  const now = page.event.settings;
  const preset = select('preset', [[now.preset, '…']], now.preset);
  asked ??= api.get('/api/rulesets');
  asked.then(({ presets }) => {
    const chosen = preset.value;
    // A match without a clock is none of a competition's (§8.6).
    const offered = presets.filter((one) => one.ruleset.clock.type !== 'none' || one.key === now.preset);
    preset.replaceChildren(...offered.map((one) => el('option', { value: one.key, selected: one.key === chosen }, one[lang()])));
  }).catch(() => { asked = null; });
  const bye = select('bye', ['zero', 'median'].map((key) => [key, word(`set.bye_${key}`)]), now.bye_points);
  const stages = now.stages.map((stage, n) => {
    const inputs = Object.fromEntries(NUMBERS.filter(([key]) => typeof stage[key] === 'number').map(([key, low, high]) => [key, number(`stage-${n}-${key}`, stage[key], low, high, { required: true })]));
    const series = number(`stage-${n}-series`, stage.series.matches, 1, 99, { required: true });
    const limit = number(`stage-${n}-limit`, stage.round_ms ? stage.round_ms / MINUTE : '', 1, 129600);
    const box = el('fieldset', {}, el('legend', {}, stageName(stage.kind, n + 1, now.stages.length)), el('div', { class: 'rule-keys' },
      Object.entries(inputs).map(([key, input]) => field(word(`set.stage.${key}`), input)),
      stage.kind === 'qualifying' ? null : field(word('new.series'), series),
      field(word('set.stage.limit'), limit, word('set.stage.limit_hint'))));
    return {
      box,
      value: () => ({ ...stage, ...Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, Number(input.value)])), series: { ...stage.series, matches: Number(series.value) }, round_ms: limit.value ? Number(limit.value) * MINUTE : null }),
    };
  });
  return part(stagesPart, word('set.stages'), word('set.stages_p'), [
    el('div', { class: 'rule-keys' }, field(word('new.rules'), preset), field(set('bye_points'), bye)), stages.map(({ box }) => box)],
  (options) => changed(options, now, { preset: preset.value, bye_points: bye.value, stages: stages.map((stage) => stage.value()) }));
}

/** What a competition that has begun is played by, in sentences. */
function fixedPart() {
  const now = page.event.settings;
  return el('section', { class: 'card' }, el('h2', {}, word('set.stages')), el('p', { class: 'muted small' }, word('set.fixed')),
    el('ul', { class: 'plain-list' }, [...now.stages.flatMap((stage) => stageWords(stage)), ...settingsWords(now)].map((words) => el('li', {}, words))),
    el('p', {}, el('a', { href: `/rules?preset=${now.preset}` }, t('events.rules.match_all'))));
}
