// A competition to be made: the few settings that matter, the rest as the server has it.

import { api, problemText } from './api.js';
import { zone } from './eventwords.js';
import { alertBox } from './figures.js';
import { lang, t } from './i18n.js';
import { el, showPlayer, startPage } from './page.js';

const { session } = await startPage({ namespaces: ['site', 'rules', 'events', 'organise'], title: 'organise.new.title' });
const main = document.getElementById('newevent');
const word = (key, params) => t(`organise.new.${key}`, params);
const FORMATS = ['cup', 'swiss', 'round_robin', 'single_elimination', 'double_elimination'];

// ---- controls ----------------------------------------------------------------------------------------------

const field = (label, input, hint = null) => {
  if (hint) input.setAttribute('aria-describedby', `${input.id}-hint`);
  return el('label', { class: 'field' }, label, input, hint ? el('small', { class: 'muted', id: `${input.id}-hint` }, hint) : null);
};
const text = (name, attrs = {}) => el('input', { name, id: name, ...attrs });
const number = (name, value, min, max) => el('input', { name, id: name, type: 'number', inputmode: 'numeric', min, max, value, required: value !== '' });
const select = (name, options, value) => el('select', { name, id: name }, options.map(([key, words]) => el('option', { value: key, selected: key === value }, words)));

function choice(name, legend, options, value, changed = null) {
  return el('fieldset', {}, el('legend', {}, legend), el('div', { class: 'choice' }, options.map(([key, words]) =>
    el('label', {}, el('input', { type: 'radio', name, value: key, checked: key === value, change: changed }), words))));
}

function formats(changed) {
  return el('fieldset', {}, el('legend', {}, word('format')), el('div', { class: 'format-list' }, FORMATS.map((key, n) =>
    el('label', { class: 'format' }, el('input', { type: 'radio', name: 'format', value: key, checked: n === 0, change: changed }),
      el('span', {}, el('b', {}, word(`format_${key}`)), el('small', { class: 'muted' }, word(`format_${key}_p`)))))));
}

// ---- the form ----------------------------------------------------------------------------------------------

function draw(presets, computers) {
  const levels = computers.map((computer) => [computer.level, t(`common.level.${computer.level}`)]);
  const details = {
    cup: [field(word('q_matches'), number('q_matches', 2, 1, 20)), levels.length > 1 ? field(word('computer'), select('computer', levels, levels.at(-1)[0])) : null,
      field(word('group_size'), number('group_size', 8, 2, 64)), field(word('take'), number('take', 2, 1, 32))],
    swiss: [field(word('rounds'), number('rounds', 5, 1, 50))],
  };
  const boxes = Object.fromEntries(Object.entries(details).map(([key, fields]) => [key, el('div', { class: 'rule-keys' }, fields)]));
  const code = el('div', { class: 'rule-keys', hidden: true }, field(word('code'), text('code', { maxlength: 64, autocomplete: 'off' })));
  const rest = field(word('break'), number('break', 5, 0, 1440));
  const refresh = () => {
    for (const [key, box] of Object.entries(boxes)) box.hidden = form.elements.format.value !== key;
    code.hidden = form.elements.mode.value !== 'code';
    rest.hidden = form.elements.pace.value !== 'auto';
  };
  const form = el('form', { class: 'stack new-event', novalidate: true },
    session.player ? null : el('section', { class: 'card' }, field(word('your_name'), text('player', { maxlength: 40, autocomplete: 'nickname' }), t('site.new.name_hint'))),
    el('section', { class: 'card' },
      el('div', { class: 'rule-keys' }, field(word(lang() === 'ru' ? 'name_ru' : 'name_en'), text('name_1', { maxlength: 100 }), word('name_hint')),
        field(word(lang() === 'ru' ? 'name_en' : 'name_ru'), text('name_2', { maxlength: 100 }))),
      el('label', { class: 'field' }, word('about'), el('textarea', { name: 'about', rows: 3, maxlength: 10000, 'aria-describedby': 'about-hint' }), el('small', { class: 'muted', id: 'about-hint' }, word('about_hint')))),
    el('section', { class: 'card' }, formats(refresh), boxes.cup, boxes.swiss,
      el('div', { class: 'rule-keys' }, field(word('rules'), select('preset', presets.map((preset) => [preset.key, preset[lang()]]), 'objective')), field(word('series'), number('series', 1, 1, 99)))),
    el('section', { class: 'card' },
      choice('mode', word('entry'), ['open', 'approved', 'invited', 'code'].map((key) => [key, word(`mode_${key}`)]), 'open', refresh), code,
      el('div', { class: 'rule-keys' },
        field(word('capacity'), number('capacity', '', 2, 10000), word('capacity_hint')),
        field(word('visible'), select('visibility', [['public', word('visible_yes')], ['unlisted', word('visible_no')]], 'public')),
        field(word('start'), el('input', { type: 'datetime-local', name: 'start', id: 'start' }), word('start_hint', { zone: zone() })),
        field(word('check_in'), select('check_in', [['', word('check_none')], ...[10, 30, 60].map((n) => [n, word('check_min', { n })])], ''))),
      choice('pace', word('pace'), ['auto', 'manual'].map((key) => [key, word(`pace_${key}`)]), 'auto', refresh),
      el('div', { class: 'rule-keys' }, rest)),
    el('p', { class: 'row' }, el('button', { class: 'button primary big', id: 'make' }, word('make'))));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    make(form);
  });
  main.replaceChildren(el('h1', {}, word('title')), el('p', { class: 'lead' }, word('lead')), form);
  refresh();
}

/** The form as settings of the API (engine/competition/settings.py); what is not said stays as the server has it. */
function settingsOf({ elements: of }) {
  const whole = (name) => Number(of[name].value);
  const series = { matches: whole('series') };
  const plain = { kind: of.format.value, series };
  const stages = of.format.value === 'cup'
    ? [{ kind: 'qualifying', matches: whole('q_matches'), computer: of.computer?.value ?? 'beginner' },
      { kind: 'groups', size: whole('group_size'), series }, { kind: 'single_elimination', take_per_group: whole('take'), series }]
    : [of.format.value === 'swiss' ? { ...plain, rounds: whole('rounds') } : plain];
  const starts = of.start.value ? new Date(of.start.value).getTime() : null;
  return {
    preset: of.preset.value, stages, starts_at: starts,
    entry: { mode: of.mode.value, code: of.mode.value === 'code' ? of.code.value.trim() : null, capacity: of.capacity.value ? whole('capacity') : null,
      check_in_ms: starts && of.check_in.value ? whole('check_in') * 60_000 : null },
    pace: { mode: of.pace.value, break_ms: whole('break') * 60_000 },
  };
}

async function make(form) {
  const button = document.getElementById('make');
  if (button.getAttribute('aria-disabled') === 'true') return;
  form.querySelector('.notice')?.remove();
  const tell = (words) => form.append(alertBox(words));
  const of = form.elements;
  const [one, other] = [of.name_1.value.trim(), of.name_2.value.trim()];
  if (!one && !other) { tell(word('need_name')); of.name_1.focus(); return; }
  if (of.player && !of.player.value.trim()) { tell(t('site.new.name_needed')); of.player.focus(); return; }
  for (const input of form.querySelectorAll('input[type="number"]')) {
    if (input.offsetParent !== null && !input.checkValidity()) { input.reportValidity(); return; }
  }
  button.setAttribute('aria-disabled', 'true');
  try {
    if (of.player) showPlayer((await api.post('/api/session', { name: of.player.value.trim() })).player);
    const mine = lang();
    const title = { [mine]: one || other, [mine === 'ru' ? 'en' : 'ru']: other || one };
    const about = of.about.value.trim() ? { [mine]: of.about.value.trim() } : {};
    const made = await api.post('/api/admin/v1/events', { title, about, visibility: of.visibility.value, settings: settingsOf(form) });
    location.assign(`/events/${made.id}/manage`);
  } catch (problem) {
    tell(problemText(problem));
    button.removeAttribute('aria-disabled');
  }
}

try {
  const [{ presets }, { computers }] = await Promise.all([api.get('/api/rulesets'), api.get('/api/computers')]);
  // A match without a clock is none of a competition's (§8.6).
  draw(presets.filter((preset) => preset.ruleset.variant === 'short' && preset.ruleset.clock.type !== 'none'), computers);
} catch (problem) {
  main.replaceChildren(el('h1', {}, word('title')), alertBox(problemText(problem)));
}
