// The dice check's page: takes the record of a match (from the server, a file, or pasted text) and shows what
// dicecheck.js finds: the verdict first, then every step with its figures.

import { api, problemText } from './api.js';
import { check, FORMAT, missing } from './dicecheck.js';
import { alertBox, phaseOf, rollText, roundOf } from './figures.js';
import { hasWord, t } from './i18n.js';
import { el, icon, startPage } from './page.js';

await startPage({ namespaces: ['site'], title: 'site.dice.title' });
const main = document.getElementById('dice');
const word = (key, params) => t(`site.dice.${key}`, params);

// ---- taking the record -----------------------------------------------------------------------------------

function ask(problem = null) {
  const text = el('textarea', { rows: 5, spellcheck: 'false', 'aria-label': word('paste') });
  const file = el('input', { type: 'file', accept: '.json,application/json', class: 'sr', id: 'file', change: async () => read(await file.files[0]?.text()) });
  const zone = el('div', { class: 'drop' },
    icon('down'), el('p', {}, word('drop')),
    el('p', {}, file, el('label', { class: 'button', for: 'file' }, word('file'))),
    text,
    el('p', {}, el('button', { class: 'button primary', type: 'button', click: () => read(text.value) }, word('check'))));
  zone.addEventListener('dragover', (event) => { event.preventDefault(); zone.classList.add('over'); });
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', async (event) => {
    event.preventDefault();
    zone.classList.remove('over');
    const dropped = event.dataTransfer.files[0];
    read(dropped ? await dropped.text() : event.dataTransfer.getData('text'));
  });
  text.addEventListener('paste', () => setTimeout(() => { if (text.value.trim().startsWith('{')) read(text.value); }));
  main.replaceChildren(el('h1', {}, word('title')), el('p', { class: 'lead' }, word('lead')),
    problem ? alertBox(problem) : '', el('section', { class: 'card' }, el('h2', {}, word('choose')), zone), explanation());
}

function read(text) {
  if (!text?.trim()) return;
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    ask(word('not_json'));
    return;
  }
  take(record);
}

function take(record) {
  const format = typeof record?.format === 'string' ? record.format : '';
  if (format !== FORMAT) { ask(format ? word('too_new', { format }) : word('not_match')); return; }
  const lacks = missing(record);
  if (!record.dice?.seed) { ask(word('no_seed')); return; }
  if (lacks.length) { ask(word('broken', { what: lacks.join(', ') })); return; }
  show(record, check(record));
}

// ---- showing the check -----------------------------------------------------------------------------------

const nameOf = (record, seat) => {
  const player = record.players?.[seat];
  const name = (typeof player === 'string' ? player : player?.name) || seat;
  return player?.kind === 'bot' ? `${name} · ${t('common.bot')}` : name;
};
const turnText = (turn) => `${t('common.round', { n: roundOf(turn) })}, ${word(phaseOf(turn) === 'W' ? 'white' : 'black')}`;
const verdictMark = (ok) => el('span', { class: `verdict ${ok ? 'win' : 'loss'}` }, icon(ok ? 'check' : 'cross'), el('span', {}, word(ok ? 'same' : 'differs')));
const hash = (text) => el('code', { class: 'code-text' }, text);

function why(record, found) {
  if (found.ok) return found.rows.length ? word('ok_p', { n: found.rows.length }) : word('empty');
  const out = [];
  if (!found.commitment.ok) out.push(word('bad_commitment'));
  for (const seat of ['A', 'B']) {
    if (!found.seats[seat].ok) out.push(word(found.seats[seat].kind === 'hash' ? 'bad_hash' : 'bad_zero', { name: nameOf(record, seat) }));
  }
  if (found.firstBad) out.push(word('bad_roll', { turn: word(phaseOf(found.firstBad.turn) === 'W' ? 'in_white' : 'in_black', { n: roundOf(found.firstBad.turn) }), should: rollText(found.firstBad.roll), was: rollText(found.firstBad.played) }));
  if (found.gap) out.push(word('bad_order', { before: found.gap.before ?? '0', after: found.gap.after }));
  return out.join(' ');
}

function show(record, found) {
  main.replaceChildren(
    el('h1', {}, word('title')),
    el('section', { class: `card verdict-card ${found.ok ? 'good' : 'bad'}`, role: 'status' },
      icon(found.ok ? 'shield' : 'alert'),
      el('div', {}, el('h2', { class: found.ok ? 'win' : 'loss' }, word(found.ok ? 'ok' : 'bad')), el('p', {}, why(record, found)),
        el('p', { class: 'muted small' }, word('match', { id: record.match }), `: ${nameOf(record, 'A')}, ${nameOf(record, 'B')}`))),
    step('step1', commitmentTable(record, found)),
    step('step2', ['A', 'B'].map((seat) => seatTable(record, found, seat))),
    step('step3', rolls(found)),
    explanation(found.rows[0] ?? null),
    el('p', { class: 'row' },
      el('button', { class: 'button', type: 'button', click: () => { history.replaceState(null, '', '/dice'); ask(); } }, word('another')),
      /^[A-Za-z0-9-]+$/.test(record.match) ? el('a', { class: 'button plain', href: `/match/${record.match}` }, word('result')) : null));
}

const step = (key, content) => el('section', { class: 'card' }, el('h2', {}, word(key)), el('p', { class: 'small muted' }, word(`${key}_p`)), content);

function facts(rows) {
  return el('dl', { class: 'check-facts' }, rows.filter(Boolean).flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

function commitmentTable(record, found) {
  return facts([
    [word('seed'), hash(record.dice.seed)],
    [word('computed'), hash(found.commitment.computed)],
    [word('commitment'), [hash(record.dice.commitment), verdictMark(found.commitment.ok)]],
  ]);
}

function seatTable(record, found, seat) {
  const { kind, ok, computed } = found.seats[seat];
  return [el('h3', {}, `${seat}: ${nameOf(record, seat)}`), facts([
    [word('player_seed'), kind === 'hash' ? hash(record.dice.seeds[seat]) : [hash(record.dice.seeds[seat]), el('span', { class: 'muted small' }, word(kind))]],
    kind === 'hash' ? [word('player_computed'), hash(computed)] : null,
    kind === 'hash' ? [word('player_hash'), [hash(record.dice.hashes[seat]), verdictMark(ok)]] : null,
  ])];
}

function rolls(found) {
  const body = el('tbody', {}, found.rows.map((row) => el('tr', { class: row.ok ? null : 'bad' },
    el('td', {}, turnText(row.turn), row.rerolled ? el('small', { class: 'muted' }, word('rerolled', { n: row.rerolled })) : null),
    el('td', { class: 'num' }, rollText(row.roll)), el('td', { class: 'num' }, rollText(row.played)),
    el('td', {}, verdictMark(row.ok)))));
  const table = el('table', { class: 'list rolls' },
    el('thead', {}, el('tr', {}, ['turn', 'should', 'was', 'mark'].map((key) => el('th', { scope: 'col' }, word(key))))), body);
  if (found.rows.every((row) => row.ok)) return el('div', { class: 'rolls-box', tabindex: 0, role: 'region', 'aria-label': word('step3') }, table);
  const only = el('label', { class: 'tick' }, el('input', { type: 'checkbox', change: (event) => table.classList.toggle('only-bad', event.target.checked) }), word('only_bad'));
  return [only, el('div', { class: 'rolls-box', tabindex: 0, role: 'region', 'aria-label': word('step3') }, table)];
}

function explanation(row = null) {
  return el('details', { class: 'card' },
    el('summary', {}, el('b', {}, word('how'))),
    el('div', { class: 'prose' },
      ['how_p1', 'how_p2', 'how_p3'].map((key) => el('p', {}, word(key))),
      row ? [el('h3', {}, word('how_example')), facts([
        [word('text'), hash(row.blocks[0].text)],
        [word('bytes'), hash(row.blocks[0].hex)],
        [word('taken'), row.taken.map(({ byte, value }) => `${byte.toString(16).padStart(2, '0')} = ${byte}: ${byte} mod 6 + 1 = ${value}`).join('; ')],
      ])] : null,
      el('h3', {}, word('why')), el('p', {}, word('why_p'))));
}

// ---- start -----------------------------------------------------------------------------------------------

const asked = new URLSearchParams(location.search).get('match');
if (!asked) ask();
else {
  main.replaceChildren(el('h1', {}, word('title')), el('p', { class: 'muted' }, word('loading')));
  try {
    take(await api.get(`/api/matches/${encodeURIComponent(asked)}.json`));
  } catch (problem) {
    ask(problem.status === 404 || problem.status === 409 || problem.status === 403 ? word('unknown') : hasWord(`problems.${problem.code}`) ? problemText(problem) : word('unknown'));
  }
}
