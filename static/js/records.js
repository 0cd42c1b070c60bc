// The page of records: a text or a file of any family is checked by the server, shown with every error in its place,
// stepped through, and converted.

import { api, problemText } from './api.js';
import { copy } from './clipboard.js';
import { alertBox } from './figures.js';
import { hasWord, lang, t } from './i18n.js';
import { el, icon, startPage } from './page.js';
import { showOf } from './recordgames.js';
import { Steps } from './recordsteps.js';
import { RecordText } from './recordtext.js';

await startPage({ namespaces: ['reader', 'records'], title: 'reader.title' });
const main = document.getElementById('records');
const word = (key, params) => t(`reader.${key}`, params);
const FAMILIES = ['objective', 'mat', 'xiangqi', 'curling'];
const MOST_BYTES = 1_000_000;
const MOST_LISTED = 60;  // faults or notes at once

const option = (value, words, chosen = false) => el('option', { value, selected: chosen }, words);
const select = (label, options, changed = null) => {
  const field = el('select', { change: changed }, options);
  return { field, root: el('label', { class: 'field' }, label, field) };
};

let checked = null;   // what the server said last
let question = null;  // and of what
let steps = null;

// ---- asking ----------------------------------------------------------------------------------------------

const text = new RecordText(word('text'), () => { stale.hidden = !checked; });
const stale = el('p', { class: 'muted small', hidden: true }, word('stale'));
const kind = select(word('kind'), [option('', word('kind_auto')), ...FAMILIES.map((name) => option(name, word(`family.${name}`)))], () => sorted());
const dialect = select(word('dialect'), [option('', word('as_said')), option('2018', 'WXF 2018'), option('1997', 'WXF 1997')]);
const letters = select(word('letters'), [option('', word('as_said')), ...['wxf', 'cci', 'general', 'any'].map((name) => option(name, word(`school.${name}`)))]);
const file = el('input', { type: 'file', class: 'sr', id: 'file', change: () => { take(file.files[0]); file.value = ''; } });
const found = el('div', { class: 'record-words' });
const results = el('div', { class: 'record-results' });
const waiting = el('p', { class: 'sr', role: 'status' });

function sorted() {
  for (const one of [dialect, letters]) one.root.hidden = !['', 'xiangqi'].includes(kind.field.value);
}

/** The question as the page stands. */
function asked(more = {}) {
  const said = { text: text.value, from: kind.field.value, dialect: dialect.field.value, letters: letters.field.value, ...more };
  if (said.from && said.from !== 'xiangqi') said.dialect = said.letters = '';
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== '' && value !== null && value !== undefined));
}

async function take(dropped) {
  if (!dropped) return;
  if (dropped.size > MOST_BYTES) { refuse(word('too_large')); return; }
  const { text: _, ...options } = asked();
  await send({ options, bytes: new Blob([await dropped.arrayBuffer()]), isFile: true });
}

function check(more = {}) {
  if (!text.value.trim()) { text.field.focus(); return; }
  const { text: written, ...options } = asked(more);
  const bytes = new Blob([written]);
  if (bytes.size > MOST_BYTES) refuse(word('too_large'));
  else send({ options, bytes });
}

function enter(dropped) {
  if (dropped.length > MOST_BYTES) { refuse(word('too_large')); return; }
  text.value = dropped;
  check();
}

/** The record goes as bytes: as JSON it would be longer. */
const ask = (what, options, bytes) => api.post(`/api/records/${what}?${new URLSearchParams(options)}`, bytes);

async function send({ options, bytes, isFile = false }) {
  main.setAttribute('aria-busy', 'true');
  waiting.textContent = word('reading');
  try {
    checked = await ask('check', options, bytes);
    question = { ...options };
    stale.hidden = true;
    if (text.value !== checked.text && (checked.text || isFile)) text.value = checked.text;
    question.text = checked.text;
    show();
  } catch (problem) {
    refuse(problemText(problem));
  } finally {
    main.removeAttribute('aria-busy');
  }
}

function refuse(words) {
  checked = null;
  steps?.remove();
  steps = null;
  text.clear();
  waiting.textContent = '';
  found.replaceChildren(alertBox(words));
  results.replaceChildren();
}

async function example(name) {
  const answer = await fetch(`/static/examples/${name}`);
  kind.field.value = dialect.field.value = letters.field.value = '';
  sorted();
  text.value = await answer.text();
  check();
}

const EXAMPLES = { objective: `objective-${lang()}.txt`, mat: 'backgammon.mat', xiangqi: 'xiangqi.txt', curling: 'curling.txt' };

function askCard() {
  const zone = el('section', { class: 'card record-ask', 'aria-label': word('text') },
    el('div', { class: 'row examples' }, el('span', { class: 'muted small' }, word('examples')), FAMILIES.map((name) => el('button', { class: 'link small', type: 'button', click: () => example(EXAMPLES[name]) }, word(`family.${name}`)))),
    text.root,
    el('div', { class: 'row' }, el('button', { class: 'button primary', type: 'button', click: () => check() }, icon('check'), word('check')),
      file, el('label', { class: 'button', for: 'file' }, icon('down'), word('file')), stale),
    el('div', { class: 'record-options' }, kind.root, dialect.root, letters.root),
    el('p', { class: 'muted small' }, word('private')));
  zone.addEventListener('dragover', (event) => { event.preventDefault(); zone.classList.add('over'); });
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    zone.classList.remove('over');
    const dropped = event.dataTransfer.files[0];
    if (dropped) take(dropped);
    else enter(event.dataTransfer.getData('text'));
  });
  // A text that is too long to be read holds a browser up for long: it does not get into the field.
  text.field.addEventListener('paste', (event) => {
    if (event.clipboardData.getData('text').length <= MOST_BYTES) return;
    event.preventDefault();
    refuse(word('too_large'));
  });
  return zone;
}

// ---- the answer ------------------------------------------------------------------------------------------

function show() {
  steps?.remove();
  steps = null;
  const { faults, notes, candidates, chosen } = checked;
  const editsMade = chosen ? candidates[chosen - 1]?.edits ?? [] : [];
  text.mark([...faults.map((fault) => ({ ...fault, kind: 'fault' })), ...editsMade.map((edit) => ({ ...edit, kind: 'fault' })), ...notes.map((note) => ({ ...note, kind: 'note' }))]);
  const parts = [verdict()];
  if (faults.length) parts.push(listed('faults', faults), question.repair ? '' : repairCard());
  if (candidates.length) parts.push(candidatesCard());
  if (notes.length) parts.push(listed('notes', notes));
  if (checked.steps) {
    steps = new Steps(showOf(checked.taken_for, checked.steps));
  }
  found.replaceChildren(...parts);
  results.replaceChildren(...(steps ? [steps.root, convertCard()] : []));
  steps?.go(0);
}

const formName = (form, family = '') => (hasWord(`reader.form.${family}_${form}`) ? word(`form.${family}_${form}`) : word(`form.${form}`));

function verdict() {
  const { taken_for: taken, faults, candidates, chosen, notes } = checked;
  const good = !faults.length && (!candidates.length || chosen);
  const words = faults.length ? word('faulty', { n: faults.length + checked.left_out })
    : candidates.length && !chosen ? word('to_choose', { n: candidates.length }) : candidates[chosen - 1]?.edits.length ? word('repaired') : notes.length ? word('right_noted', { n: notes.length }) : word('right');
  waiting.textContent = words;
  return el('section', { class: `card verdict-card ${good ? 'win' : 'loss'}` }, icon(good ? 'check' : 'alert'),
    el('div', {}, el('h2', {}, words), taken ? el('p', { class: 'taken' }, word('taken_for', { what: word(`family.${taken.family}`) }), ' · ', formName(taken.form, taken.family),
      taken.language ? ` · ${t(`records.${taken.language}`)}` : '', question.from ? '' : el('span', { class: 'muted small' }, ` · ${word('sure', { n: Math.round(taken.certainty * 100) })}`)) : '', outcome(checked.steps)));
}

/** What was checked in a match, and what it comes to. */
function outcome(steps) {
  if (steps?.family !== 'objective') return '';
  const said = [word('command.checked', { what: steps.checked.map((one) => word(`command.checks.${one}`)).join(', ') })];
  if (steps.points) said.push(word('command.points', { points: `${steps.points.A}:${steps.points.B}` }));
  return el('p', { class: 'small outcome' }, said.join('; '));
}

/** Where a text is wrong, or was read otherwise; a press leads there. */
function listed(what, all) {
  const line = (one) => {
    const key = `reader.code.${one.code}`;
    const name = hasWord(key) ? t(key) : one.message;
    return el('li', {}, el('button', { class: `place ${what}`, type: 'button', click: () => text.jump(one) },
      el('span', { class: 'where-in num' }, word('place', { line: one.line, column: one.column })),
      el('span', { class: 'what' }, name, one.text.trim() ? [' ', el('code', {}, one.text)] : ''),
      lang() === 'en' && hasWord(key) && one.message !== name ? el('span', { class: 'muted small' }, one.message) : '',
      one.expected ? el('span', { class: 'small' }, word('expected'), ' ', expectedText(one)) : ''));
  };
  const more = all.length - MOST_LISTED;
  const list = el('ol', { class: 'places' }, all.slice(0, MOST_LISTED).map(line), more > 0 ? el('li', { class: 'muted small' }, word('more', { n: more + checked.left_out })) : '');
  if (what === 'notes') return el('details', { class: 'card', open: all.length <= 6 }, el('summary', {}, word('notes', { n: all.length })), list);
  return el('section', { class: 'card' }, el('h2', {}, word('faults')), list);
}

/** What was expected: notation as it is, a phrase in the language of the page. */
const expectedText = ({ expected, phrase }) => (phrase ? word(`expect.${phrase.name}`, phrase.params) : el('code', {}, expected));

function repairCard() {
  return el('section', { class: 'card' }, el('p', {}, word('repair_about')),
    el('p', {}, el('button', { class: 'button', type: 'button', click: () => check({ repair: true }) }, icon('settings'), word('repair'))));
}

function candidatesCard() {
  const edit = (one) => el('li', {}, el('span', { class: 'where-in num' }, word('place', { line: one.line, column: one.column })), ' ',
    el('del', {}, one.text || word('nothing')), ' → ', el('ins', {}, one.read_as || word('nothing')));
  const choose = (n) => check({ repair: true, choose: n });
  return el('section', { class: 'card' }, el('h2', {}, word('candidates', { n: checked.candidates.length })),
    el('ol', { class: 'candidates' }, checked.candidates.map((one, n) => el('li', { class: checked.chosen === n + 1 ? 'chosen' : null },
      el('button', { class: `button${checked.chosen === n + 1 ? ' primary' : ''}`, type: 'button', 'aria-pressed': String(checked.chosen === n + 1), click: () => choose(n + 1) }, word('candidate', { n: n + 1 })),
      one.edits.length ? el('ul', { class: 'edits' }, one.edits.map(edit)) : el('p', { class: 'small' }, word('as_it_stands'))))));
}

// ---- converting ------------------------------------------------------------------------------------------

function convertCard() {
  const { taken_for: taken, targets } = checked;
  const usual = targets.find((form) => form !== taken.form) ?? targets[0];
  const out = el('textarea', { rows: 10, readonly: true, wrap: 'off', spellcheck: 'false', 'aria-label': word('converted') });
  const wrong = el('p', { class: 'loss small', role: 'alert', hidden: true });
  const status = el('span', { class: 'muted small', role: 'status' });
  const form = select(word('to_form'), targets.map((one) => option(one, formName(one, taken.family), one === usual)), () => convert());
  const language = select(t('records.language'), ['ru', 'en'].map((one) => option(one, t(`records.${one}`), one === lang())), () => convert());
  const school = select(word('letters'), ['wxf', 'cci', 'general'].map((one) => option(one, word(`school.${one}`))), () => convert());
  const save = el('a', { class: 'button', href: '#', download: 'record.txt' }, icon('down'), word('save'));
  const done = el('div', { class: 'row' }, el('button', { class: 'button', type: 'button', click: async () => { status.textContent = (await copy(out)) ? t('common.action.copied') : ''; } }, icon('copy'), t('common.action.copy')), save, status);
  let address = null;
  let order = 0;
  const convert = async () => {
    const to = form.field.value;
    language.root.hidden = taken.family === 'curling' ? to !== 'cards' : !['full', 'short', 'fixed'].includes(to);
    school.root.hidden = !to.startsWith('wxf');
    const mine = order += 1;
    const { text: read, ...body } = { ...question, to };
    if (!language.root.hidden) body.language = language.field.value;
    if (!school.root.hidden) body.to_letters = school.field.value;
    if (checked.chosen && checked.candidates.length) Object.assign(body, { repair: true, choose: checked.chosen });
    try {
      const { converted } = await ask('convert', body, new Blob([read]));
      if (mine !== order) return;
      out.value = converted ?? '';
      wrong.hidden = true;
    } catch (problem) {
      if (mine !== order) return;
      out.value = '';
      wrong.hidden = false;
      wrong.textContent = problemText(problem);
    }
    done.hidden = !out.value;
    if (address) URL.revokeObjectURL(address);
    address = URL.createObjectURL(new Blob([out.value], { type: 'text/plain' }));
    save.href = address;
    save.download = to === 'mat' ? 'record.mat' : `record-${to}.txt`;
    status.textContent = '';
  };
  convert();
  return el('section', { class: 'card convert' }, el('h2', {}, word('convert')), el('div', { class: 'record-options' }, form.root, language.root, school.root), out, wrong, done);
}

main.replaceChildren(el('h1', {}, word('title')), el('p', { class: 'lead' }, word('lead')), el('div', { class: 'records-top' }, askCard(), found), results, waiting);
sorted();
