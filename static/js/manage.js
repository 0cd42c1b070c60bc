// A competition for who has made it: what is to be done next, rounds, entrants, the log. It speaks to /api/admin/v1;
// every wish says for which state it is meant, so nothing is done to a competition that has changed meanwhile.

import { api, problemText } from './api.js';
import { copy } from './clipboard.js';
import { groupName, moment, roundsOf, signedNumber, stageName, zone } from './eventwords.js';
import { alertBox, nameText, playerMark } from './figures.js';
import { hasWord, lang, reasonWords, t } from './i18n.js';
import { el, icon, setTitle, startPage } from './page.js';

await startPage({ namespaces: ['site', 'rules', 'events', 'organise'], title: 'events.title' });
const main = document.getElementById('manage');
const id = decodeURIComponent(location.pathname.split('/')[2] ?? '');
const admin = `/api/admin/v1/events/${encodeURIComponent(id)}`;
const word = (key, params) => t(`organise.${key}`, params);
const TABS = ['run', 'entrants', 'log'];
const REFRESH_MS = 5000;

let event = null;   // OrganiserView
let log = null;
let shownLog = 100;
const notice = el('div', { role: 'status' });
const body = el('div', { class: 'event-panel' });

const tab = () => (TABS.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'run');
const entrantOf = (number) => (number === 0 ? { name: '', tag: null, kind: 'computer' } : event.entrants.find(({ entrant }) => entrant.number === number)?.entrant ?? null);
const nameOf = (number) => (number === null ? word('draft.bye') : nameText(entrantOf(number)));

// ---- asking and telling ------------------------------------------------------------------------------------

async function load() {
  event = await api.get(admin);
}

function tell(...content) {
  notice.replaceChildren(...content.filter(Boolean));
}

/** Carries out a wish meant for the state that is shown; what is refused is said, and the page shows how it is now. */
async function wish(act) {
  try {
    const answer = await act({ version: event.version });
    tell();
    await load();
    draw();
    return answer;
  } catch (problem) {
    tell(alertBox(problem.code === 'stale-version' ? word('stale') : refusal(problem)));
    if (problem.code === 'stale-version') {
      await load();
      draw();
    }
    return null;
  }
}

/** A refusal in words; the faults of pairings with the players' names. */
function refusal(problem) {
  const faults = problem.code === 'bad-pairings' ? String(problem.params.faults ?? '').split(' ').filter(Boolean) : [];
  return faults.length ? faults.map(faultWords).join('; ') : problemText(problem);
}

function faultWords(fault) {
  const [kind, numbers] = fault.split(':');
  return word(`draft.fault.${kind}`, { who: numbers.split('-').map((number) => nameOf(Number(number))).join(' – ') });
}

/** Asks for a reason in a dialog: the reason, or null if it is not to be. `needed` false: an empty one will do. */
function askReason(title, needed = true) {
  return new Promise((resolve) => {
    const input = el('input', { name: 'reason', maxlength: 1000, required: needed, 'aria-describedby': 'reason-hint' });
    const dialog = el('dialog', { class: 'card ask', 'aria-label': title, onclose: () => { dialog.remove(); resolve(dialog.returnValue === 'ok' ? input.value.trim() : null); } },
      el('form', { method: 'dialog', class: 'name-form', onsubmit: () => { dialog.returnValue = 'ok'; } },
        el('h2', {}, title),
        el('label', { class: 'field' }, word('reason.label'), input, el('small', { class: 'muted', id: 'reason-hint' }, word('reason.hint'))),
        el('div', { class: 'row' }, el('button', { class: 'button primary', value: 'ok' }, word('reason.ok')),
          el('button', { class: 'button plain', type: 'button', onclick: () => dialog.close('no') }, word('reason.cancel')))));
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}

/** A button that wishes something; `reason` asks for one first. */
function button(words, act, { cls = '', reason = null, sign = null } = {}) {
  const element = el('button', { class: `button ${cls}`, type: 'button', click: async () => {
    if (element.getAttribute('aria-disabled') === 'true') return;
    const why = reason ? await askReason(reason.title ?? words, reason.needed ?? true) : null;
    if (reason && why === null) return;
    element.setAttribute('aria-disabled', 'true');
    await wish((options) => act(options, why));
    element.removeAttribute('aria-disabled');
  } }, sign ? icon(sign) : null, words);
  return element;
}

const post = (path, data = {}) => (options) => api.post(`${admin}${path}`, data, options);
const withReason = (path, data = {}) => (options, reason) => api.post(`${admin}${path}`, { ...data, reason }, options);

// ---- the page ----------------------------------------------------------------------------------------------

function draw() {
  const title = event.view.title[lang()];
  setTitle(word('title', { title }));
  const current = tab();
  main.replaceChildren(
    el('header', { class: 'event-head' },
      el('div', { class: 'row between' }, el('h1', {}, word('title', { title })), el('a', { class: 'button', href: `/events/${encodeURIComponent(id)}` }, word('page')))),
    el('nav', { class: 'presets event-nav', 'aria-label': word('tab.label') }, TABS.map((name) =>
      el('a', { href: `#${name}`, 'aria-current': name === current ? 'page' : null }, word(`tab.${name}`)))),
    notice, body);
  body.replaceChildren(...[{ run, entrants, log: logPart }[current]()].flat().filter(Boolean));
}

// ---- running it --------------------------------------------------------------------------------------------

const stageNow = () => event.view.stages.at(-1) ?? null;
const roundNow = () => event.draft ?? stageNow()?.rounds.at(-1) ?? null;
const isHidden = (round) => round.dice_id !== null && round.state === 'started';

function roundTitle(round) {
  const planned = event.settings.stages;
  return `${stageName(planned[round.stage - 1].kind, round.stage, planned.length)}, ${t('events.round.n', { n: round.number }).toLowerCase()}`;
}

function step(key, said, actions, more = null) {
  const [title, text] = Array.isArray(said) ? said : [word(`step.${key}`), said];
  return el('section', { class: 'next-card active', 'aria-labelledby': 'step-title' },
    el('div', { class: 'next-words' }, el('h2', { id: 'step-title' }, title), text ? el('p', {}, text) : null, event.settings.pace.mode === 'auto' && event.view.state === 'running' ? el('p', {}, word('step.auto')) : null),
    el('div', { class: 'next-do row' }, actions), more);
}

/** The one thing that is to be done next. */
function nextStep() {
  const { state } = event.view;
  const playing = event.entrants.filter(({ entrant }) => entrant.status === 'entered').length;
  const cancel = button(word('step.cancel'), withReason('/cancel'), { cls: 'plain', reason: { title: `${word('step.cancel')}: ${word('step.cancel_ask')}` } });
  if (state === 'announced') return step('announced', word('step.announced_p'), [button(word('step.open'), post('/open-entry'), { cls: 'primary big' }), cancel], startTime());
  if (state === 'entry') return step('entry', word('step.entry_p', { n: playing }), [button(word('step.start'), post('/start'), { cls: 'primary big' }), cancel], startTime());
  if (state !== 'running') return step(state, reasonWords(event.view.over_because), []);
  const round = roundNow();
  if (!round || round.state === 'closed') {
    const stage = stageNow();
    const of = stage ? roundsOf(stage.rules, stage.seeds, stage.groups) : null;
    const last = event.view.stages.length === event.settings.stages.length;
    const complete = last && round && (of === null || round.number >= of);
    const draft = button(word('step.draft'), post('/rounds'), { cls: complete ? '' : 'primary big' });
    const finish = last && round ? button(word('step.finish'), post('/finish'), { cls: complete ? 'primary big' : '' }) : null;
    return step('next', [word(complete ? 'step.finish' : 'step.next'), word(complete ? 'step.finish_p' : 'step.next_p')], complete ? [finish, draft, cancel] : [draft, finish, cancel]);
  }
  const undo = button(word('step.undo'), withReason('/round/undo'), { cls: 'plain', reason: {} });
  if (round.state === 'drafted') {
    const at = el('input', { type: 'datetime-local', id: 'start-at', 'aria-describedby': 'start-at-hint' });
    const publish = button(word('step.publish'), (options) => api.post(`${admin}/round/publish`, { start_at: at.value ? new Date(at.value).toISOString() : null }, options), { cls: 'primary big' });
    return step('drafted', [word('step.drafted', { round: roundTitle(round) }), word('step.drafted_p')], [publish, undo],
      el('div', { class: 'next-foot' }, el('label', { class: 'field' }, word('step.at'), at, el('small', { id: 'start-at-hint' }, `${word('step.at_hint')} ${t('events.zone', { zone: zone() })}`))));
  }
  if (round.state === 'published') {
    return step('published', [word('step.published', { round: roundTitle(round) }), round.start_at ? t('events.starts', { at: moment(round.start_at) }) : word('step.published_p')],
      [button(word('step.start_round'), post('/round/start'), { cls: 'primary big' }), undo]);
  }
  return startedStep(round, cancel);
}

/** A moment as a field for date and time has it: in the viewer's own zone. */
function localTime(ms) {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** When the competition begins, to be changed before it does. */
function startTime() {
  const now = event.settings.starts_at;
  const at = el('input', { type: 'datetime-local', id: 'starts-at', value: now ? localTime(now) : null, 'aria-describedby': 'starts-at-hint' });
  const save = button(word('step.save'), (options) => api.patch(`${admin}/settings`, { settings: { starts_at: at.value ? new Date(at.value).getTime() : null } }, options));
  return el('div', { class: 'next-foot' }, el('label', { class: 'field' }, word('step.begins'), at, el('small', { id: 'starts-at-hint' }, `${word('step.at_hint')} ${t('events.zone', { zone: zone() })}`)), save);
}

function startedStep(round, cancel) {
  const open = round.meetings.filter((meeting) => meeting.verdict?.how === 'open').length;
  const said = isHidden(round) ? word('step.hidden') : open ? word('step.started_p', { n: open }) : word('step.started_none');
  const until = el('input', { type: 'datetime-local', id: 'until' });
  const pause = round.paused ? button(word('step.resume'), post('/round/resume')) : button(word('step.pause'), withReason('/round/pause'), { reason: {} });
  const extend = button(word('step.extend'), (options, reason) => api.post(`${admin}/round/extend`, { until: new Date(until.value).toISOString(), reason }, options), { cls: 'small-button', reason: {} });
  return step('started', [word('step.started', { round: roundTitle(round) }), said],
    [button(word('step.close'), post('/round/close'), { cls: open ? '' : 'primary big' }), pause, cancel],
    round.until ? el('div', { class: 'next-foot' }, el('label', { class: 'field' }, `${word('step.until')}: ${moment(round.until)}`, until), extend) : null);
}

function run() {
  const round = roundNow();
  return [nextStep(), event.view.state === 'running' && round ? roundPart(round) : null, settingsLine()];
}

const settingsLine = () => el('p', { class: 'muted small' }, t('events.zone', { zone: zone() }));

function roundPart(round) {
  const drafted = round.state === 'drafted';
  const swiss = stageNow()?.kind === 'swiss' && (drafted || round.state === 'published');
  return el('section', { class: 'card' },
    el('h2', {}, roundTitle(round)),
    round.faults.length ? el('div', { class: 'notice warn' }, icon('alert'), el('div', {}, el('b', {}, word('draft.faults')), el('ul', {}, round.faults.map((fault) => el('li', {}, faultWords(fault)))))) : null,
    isHidden(round) ? el('p', { class: 'muted' }, word('step.hidden')) : el('ol', { class: 'manage-meetings' }, round.meetings.map((meeting) => meetingLine(meeting, round))),
    swiss ? pairingEditor(round) : null);
}

function meetingLine(meeting, round) {
  const { verdict } = meeting;
  const open = verdict?.how === 'open';
  const alone = meeting.b === null || meeting.b === 0;
  const score = verdict && !open && meeting.b !== null ? ` ${signedNumber(verdict.points[0])}${alone ? '' : ` : ${signedNumber(verdict.points[1])}`}` : '';
  const how = meeting.b === null ? t('events.round.bye') : round.state === 'drafted' || round.state === 'published' ? '' : verdict ? t(`events.round.${verdict.how}`) : '';
  const started = ['started', 'closed'].includes(round.state) && meeting.b !== null && !(round.dice_id && open);
  return el('li', {},
    el('span', { class: 'muted num' }, meeting.group ? `${groupName(meeting.group)} ${meeting.table}` : meeting.table),
    el('span', { class: 'manage-pair' }, playerMark(entrantOf(meeting.a), { bold: false }), alone ? (meeting.b === 0 ? playerMark(entrantOf(0), { bold: false }) : null) : playerMark(entrantOf(meeting.b), { bold: false })),
    el('span', { class: 'num' }, score), el('span', { class: 'muted small' }, how),
    started ? decideMeeting(meeting, round) : null);
}

/** An arbiter's decisions about a meeting: its result as a whole, its match once more. */
function decideMeeting(meeting, round) {
  const box = el('details', { class: 'decide', toggle: () => { if (box.open && box.children.length === 1) box.append(content()); } },
    el('summary', { class: 'button plain small-button', 'aria-label': `${word('meeting.decide')}: ${nameOf(meeting.a)}${meeting.b ? ` – ${nameOf(meeting.b)}` : ''}` }, word('meeting.decide')));
  const content = () => {
    const points = el('input', { type: 'number', inputmode: 'numeric', id: `points-${meeting.table}`, value: 0, min: -1000000, max: 1000000 });
    const winner = el('select', { id: `winner-${meeting.table}` }, el('option', { value: '' }, word('meeting.nobody')),
      [meeting.a, ...(meeting.b ? [meeting.b] : [])].map((number) => el('option', { value: number }, nameOf(number))));
    const place = `${round.stage}-${round.number}-${meeting.table}`;
    const save = button(word('meeting.save'), (options, reason) => api.post(`${admin}/meetings/${place}/result`, { points_for_a: Number(points.value), winner: winner.value ? Number(winner.value) : null, reason }, options), { cls: 'small-button', reason: { title: word('meeting.title') } });
    return el('div', { class: 'decide-box' },
      el('label', { class: 'field' }, word('meeting.points', { name: nameOf(meeting.a) }), points),
      el('label', { class: 'field' }, word('meeting.winner'), winner), save,
      meeting.matches.map((match) => el('span', { class: 'row' },
        el('a', { href: `/match/${match.id}` }, word('meeting.board')),
        match.state === 'playing'
          ? button(word('meeting.void'), withReason(`/matches/${encodeURIComponent(match.id)}/void`), { cls: 'plain small-button', reason: {} })
          : match.ending === 'played' ? button(word('meeting.replay'), withReason(`/matches/${encodeURIComponent(match.id)}/replay`), { cls: 'plain small-button', reason: {} }) : null)));
  };
  return box;
}

function pairingEditor(round) {
  const there = stageNow().seeds;
  const pick = (value, table, side) => el('select', { 'aria-label': `${word('draft.table', { n: table })}, ${side}` },
    side === 2 ? el('option', { value: '' }, word('draft.bye')) : null,
    there.map((number) => el('option', { value: number, selected: number === value }, nameOf(number))));
  const rows = round.meetings.map((meeting) => [pick(meeting.a, meeting.table, 1), pick(meeting.b, meeting.table, 2)]);
  const save = button(word('draft.save'), (options, reason) => api.put(`${admin}/round/pairings`, { pairs: rows.map(([a, b]) => [Number(a.value), b.value ? Number(b.value) : null]), reason }, options), { reason: { needed: false } });
  return el('details', { class: 'edit-pairs' }, el('summary', { class: 'button plain small-button' }, word('draft.edit')),
    el('div', { class: 'stack' }, rows.map(([a, b], n) => el('div', { class: 'field pair-row' }, el('span', { class: 'num muted' }, n + 1), a, b)), el('p', {}, save)));
}

// ---- entrants ----------------------------------------------------------------------------------------------

function entrants() {
  const before = ['announced', 'entry'].includes(event.view.state);
  const asked = (one) => (one.entrant.status === 'asked' ? 0 : 1);
  const list = [...event.entrants].sort((a, b) => asked(a) - asked(b) || a.entrant.number - b.entrant.number);
  return [
    el('section', { class: 'card' }, el('h2', {}, t('events.entrants', { n: event.entrants.filter(({ entrant }) => entrant.status === 'entered').length })),
      list.length ? el('ol', { class: 'manage-entrants' }, list.map(({ entrant }) => entrantLine(entrant, before))) : el('p', { class: 'muted' }, t('events.entrant.none'))),
    ['finished', 'cancelled'].includes(event.view.state) ? null : el('section', { class: 'card' }, el('h2', {}, word('entrant.add')), addForm()),
    ['finished', 'cancelled'].includes(event.view.state) ? null : el('section', { class: 'card' }, el('h2', {}, word('entrant.import')), importForm()),
  ];
}

function entrantLine(entrant, before) {
  const at = `/entrants/${entrant.number}`;
  const name = nameText(entrant);
  const act = (key, path, reason = null) => button(word(`entrant.${key}`), reason ? withReason(path) : post(path), { cls: 'plain small-button', reason: reason && { title: `${word(`entrant.${key}`)}: ${name}`, ...reason } });
  const actions = {
    asked: [button(word('entrant.approve'), post(`${at}/approve`), { cls: 'primary small-button' }), act('decline', `${at}/decline`, {})],
    entered: [before && !entrant.checked_in && event.settings.entry.check_in_ms ? act('check', `${at}/check-in`) : null, act('withdraw', `${at}/withdraw`, { needed: false }), act('ban', `${at}/ban`, {})],
    withdrawn: [act('rejoin', `${at}/rejoin`), act('ban', `${at}/ban`, {})],
  }[entrant.status] ?? [];
  const seed = before && entrant.status === 'entered' ? el('input', { type: 'number', inputmode: 'numeric', min: 1, class: 'seed', value: entrant.seed ?? '', placeholder: t('events.entrant.seed'), 'aria-label': word('entrant.seed', { name }),
    change: (changed) => wish((options) => api.put(`${admin}${at}/seed`, { seed: changed.target.value ? Number(changed.target.value) : null }, options)) }) : null;
  return el('li', {}, el('span', { class: 'num muted' }, entrant.number),
    el('span', { class: 'manage-who' }, playerMark(entrant, { bold: false }), el('small', { class: 'muted' }, `${word(`entrant.${entrant.status}`)}${entrant.checked_in ? `, ${t('events.entrant.here')}` : ''} · ${entrant.strength}`)),
    seed, el('span', { class: 'row manage-do', role: 'group', 'aria-label': word('entrant.actions', { name }) }, actions));
}

function addForm() {
  const input = el('input', { name: 'player', maxlength: 80, autocomplete: 'off', required: true });
  const act = (path) => async () => {
    if (!input.value.trim()) { input.focus(); return; }
    await wish((options) => api.post(`${admin}${path}`, { player: input.value.trim() }, options));
  };
  return el('form', { class: 'join', novalidate: true, submit: (submitted) => { submitted.preventDefault(); act('/entrants')(); } },
    el('label', { class: 'field' }, word('entrant.player'), input),
    el('span', { class: 'row' }, el('button', { class: 'button' }, word('entrant.add_button')),
      event.settings.entry.mode === 'invited' ? el('button', { class: 'button', type: 'button', click: act('/invitations') }, word('entrant.invite')) : null));
}

function importForm() {
  const text = el('textarea', { rows: 4, id: 'list-text', placeholder: 'name,tag,seed' });
  const file = el('input', { type: 'file', accept: '.csv,.txt,text/csv', id: 'list-file' });
  const make = el('input', { type: 'checkbox', checked: true });
  const take = async () => {
    const data = file.files[0] ?? text.value;  // a file's own bytes: its encoding is the server's business
    const answer = await wish((options) => api.post(`${admin}/entrants/import${make.checked ? '?new=true' : ''}`, data, { ...options, type: 'text/csv' }));
    if (answer) tell(reportOf(answer));
  };
  return el('div', { class: 'stack' }, el('p', { class: 'muted small' }, word('entrant.import_p')),
    el('label', { class: 'field' }, word('entrant.file'), file), el('label', { class: 'field' }, word('entrant.text'), text),
    el('label', { class: 'tick' }, make, word('entrant.make')),
    el('p', {}, el('button', { class: 'button', type: 'button', click: take }, word('entrant.import_button'))));
}

/** All links of a report at once, a line for each: a spreadsheet or a mail program takes them so. */
function copyLinks(lines) {
  const linked = lines.filter((line) => line.link);
  if (!linked.length) return null;
  const text = el('textarea', { class: 'sr', readonly: true, tabindex: -1, 'aria-hidden': 'true' }, linked.map((line) => `${line.name}\t${line.link}`).join('\n'));
  const said = el('span', { class: 'small' });
  const press = async () => { said.textContent = word((await copy(text)) ? 'entrant.copied' : 'entrant.not_copied'); };
  return el('p', { class: 'row' }, el('button', { class: 'button small-button', type: 'button', click: press }, icon('copy'), word('entrant.copy')), said, text);
}

function reportOf(answer) {
  const told = answer.lines.filter((line) => line.status === 'wrong' || line.link);
  return el('section', { class: 'card' }, el('p', {}, el('b', {}, word('entrant.report', answer))), copyLinks(answer.lines),
    told.length ? el('ol', { class: 'report' }, told.map((line) => el('li', {}, el('span', { class: 'muted num' }, word('entrant.line', { n: line.line })), ' ', el('b', {}, line.name), ' ',
      line.fault ? faultOfLine(line.fault) : [el('span', { class: 'small muted' }, word('entrant.link')), ' ', el('code', { class: 'code-text' }, line.link)]))) : null);
}

const faultOfLine = ({ code, detail }) => (hasWord(`problems.because.${code}`) ? t(`problems.because.${code}`) : hasWord(`problems.${code}`) ? t(`problems.${code}`) : detail);

// ---- the log -----------------------------------------------------------------------------------------------

async function loadLog() {
  const all = [];
  let cursor = null;
  do {
    const page = await api.get(`${admin}/audit?limit=500${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
    all.push(...page.entries);
    cursor = page.next;
  } while (cursor);
  log = all.reverse();
}

function targetWords(target) {
  const [kind, ...rest] = target.split(' ');
  if (kind === 'entrant') return nameOf(Number(rest[0])) || rest[0];
  if (kind === 'entrants') return rest.filter((part) => /^\d+$/.test(part)).map((number) => nameOf(Number(number))).join(' – ');
  return hasWord(`organise.log.${kind}`) && rest.length ? word(`log.${kind}`, { n: rest.join(' ') }) : '';
}

function logPart() {
  if (log === null || log.version !== event.version) {
    loadLog().then(() => { log.version = event.version; if (tab() === 'log') draw(); }).catch((problem) => tell(alertBox(problemText(problem))));
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
    log.length > shownLog ? el('p', {}, el('button', { class: 'button small-button', type: 'button', click: () => { shownLog += 200; draw(); } }, word('log.more'))) : null);
}

// ---- start -------------------------------------------------------------------------------------------------

/** Shows what has changed meanwhile, unless somebody is in the middle of something. */
async function keepUp() {
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, REFRESH_MS); });
    const busy = document.querySelector('dialog[open], main details[open]') || document.activeElement?.matches('input, select, textarea');
    if (document.hidden || busy) continue;
    const before = event.version;
    await load().catch(() => {});
    if (event.version !== before) draw();
  }
}

try {
  await load();
  draw();
  addEventListener('hashchange', draw);
  keepUp();
} catch (problem) {
  const stranger = [401, 403].includes(problem.status);
  main.replaceChildren(el('h1', {}, t('events.manage.link')), alertBox(stranger ? word('not_owner') : problemText(problem)),
    el('p', {}, el('a', { class: 'button', href: '/events' }, t('events.all'))));
}
