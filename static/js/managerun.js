// Running a competition: the one thing that is to be done next, the rounds with their boards, pairs and seeds by hand.

import { api } from './api.js';
import { groupName, moment, roundsOf, roundTitle, signedNumber, stageName, zone } from './eventwords.js';
import { playerMark } from './figures.js';
import { reasonWords, t } from './i18n.js';
import { openMatch, tableName } from './managematch.js';
import { admin, askAndDo, button, entrantOf, faultWords, field, isExcusable, localTime, nameOf, page, post, stageNow, timeOf, wish, withReason, word } from './managing.js';
import { el, icon } from './page.js';

const roundNow = () => page.event.draft ?? stageNow()?.rounds.at(-1) ?? null;
const isHidden = (round) => round.dice_id !== null && round.state === 'started';
const because = (will, reason = 'needed') => ({ asks: { will, reason } });
let lookedAt = null;  // 'stage-round' of an earlier round that is looked at

const titleOf = (round) => roundTitle(page.event.view.stages[round.stage - 1], round.number, page.event.settings.stages.length);

/** A field for a time of a round, empty or with a time in it. */
function timeField(name, label, value, hint = null) {
  const input = el('input', { type: 'datetime-local', id: name, value: value ? localTime(value) : null });
  return [input, field(label, input, hint)];
}

// ---- what is next ------------------------------------------------------------------------------------------

function step(key, said, actions, more = null) {
  const { event } = page;
  const [title, text] = Array.isArray(said) ? said : [word(`step.${key}`), said];
  return el('section', { class: 'next-card active', 'aria-labelledby': 'step-title' },
    el('div', { class: 'next-words' }, el('h2', { id: 'step-title' }, title), text ? el('p', {}, text) : null, event.settings.pace.mode === 'auto' && event.view.state === 'running' ? el('p', {}, word('step.auto')) : null),
    el('div', { class: 'next-do row' }, actions), more);
}

function nextStep() {
  const { event } = page;
  const { state } = event.view;
  const playing = event.entrants.filter(({ entrant }) => entrant.status === 'entered').length;
  const cancel = button(word('step.cancel'), withReason('/cancel'), { cls: 'plain', ...because(word('step.cancel_ask')) });
  if (state === 'announced') return step('announced', word('step.announced_p'), [button(word('step.open'), post('/open-entry'), { cls: 'primary big' }), cancel], startTime());
  if (state === 'entry') return step('entry', word('step.entry_p', { n: playing }), [button(word('step.start'), post('/start'), { cls: 'primary big' }), cancel], startTime());
  if (state !== 'running') return step(state, reasonWords(event.view.over_because), []);
  const round = roundNow();
  if (!round || round.state === 'closed') return betweenRounds(round, cancel);
  const undo = button(word('step.undo'), withReason('/round/undo'), { cls: 'plain', ...because(word('step.undo_will')) });
  if (round.state === 'drafted') {
    const [at, atField] = timeField('start-at', word('step.at'), null, `${word('step.at_hint')} ${t('events.zone', { zone: zone() })}`);
    const publish = button(word('step.publish'), (options) => api.post(`${admin}/round/publish`, { start_at: at.value ? new Date(at.value).toISOString() : null }, options), { cls: 'primary big' });
    return step('drafted', [word('step.drafted', { round: titleOf(round) }), word('step.drafted_p')], [publish, undo], el('div', { class: 'next-foot' }, atField));
  }
  if (round.state === 'published') {
    const [at, atField] = timeField('start-at', word('step.at'), round.start_at, `${word('step.at_hint')} ${t('events.zone', { zone: zone() })}`);
    const save = button(word('step.save'), (options) => api.post(`${admin}/round/schedule`, { start_at: at.value ? new Date(at.value).toISOString() : null }, options));
    return step('published', [word('step.published', { round: titleOf(round) }), round.start_at ? t('events.starts', { at: moment(round.start_at) }) : word('step.published_p')],
      [button(word('step.start_round'), post('/round/start'), { cls: 'primary big' }), undo], el('div', { class: 'next-foot' }, atField, save));
  }
  return startedStep(round, cancel);
}

function betweenRounds(round, cancel) {
  const { event } = page;
  const stage = stageNow();
  const of = stage ? roundsOf(stage.rules, stage.seeds, stage.groups) : null;
  const last = event.view.stages.length === event.settings.stages.length;
  const complete = last && round && (of === null || round.number >= of);
  const draft = el('button', { class: `button ${complete ? '' : 'primary big'}`, type: 'button', click: draftRound }, word('step.draft'));
  const finish = last && round ? button(word('step.finish'), post('/finish'), { cls: complete ? 'primary big' : '' }) : null;
  const back = stage && !round && stage.number > 1 ? button(word('step.undo_stage'), withReason('/round/undo'), { cls: 'plain', ...because(word('step.undo_stage_will')) }) : null;
  return step('next', [word(complete ? 'step.finish' : 'step.next'), word(complete ? 'step.finish_p' : 'step.next_p')], [...(complete ? [finish, draft] : [draft, finish]), back, cancel]);
}

/** Drafts the next round; where places hang on analyses that are missing, only with a reason. */
function draftRound() {
  return wish(async (options) => {
    try {
      return await api.post(`${admin}/rounds`, {}, options);
    } catch (problem) {
      if (problem.params?.because !== 'analysis-missing') throw problem;
      askAndDo({ title: word('step.draft'), will: word('step.draft_without'), act: withReason('/rounds') });
      return null;
    }
  });
}

/** When the competition begins, to be changed before it does. */
function startTime() {
  const [at, atField] = timeField('starts-at', word('step.begins'), page.event.settings.starts_at, `${word('step.at_hint')} ${t('events.zone', { zone: zone() })}`);
  const save = button(word('step.save'), (options) => api.patch(`${admin}/settings`, { settings: { starts_at: timeOf(at) } }, options));
  return el('div', { class: 'next-foot' }, atField, save);
}

function startedStep(round, cancel) {
  const open = round.meetings.filter((meeting) => meeting.verdict?.how === 'open').length;
  const said = isHidden(round) ? word('step.hidden') : open ? word('step.started_p', { n: open }) : word('step.started_none');
  const pause = round.paused ? button(word('step.resume'), post('/round/resume'), { cls: 'primary' }) : button(word('step.pause'), withReason('/round/pause'), because(word('step.pause_will')));
  const extend = el('button', { class: 'button', type: 'button', click: () => {
    const [until, untilField] = timeField('until', word('step.until'), round.until, t('events.zone', { zone: zone() }));
    until.required = true;
    askAndDo({
      title: word('step.extend'), fields: [untilField],
      will: () => (until.value ? word('step.extend_will', { at: moment(timeOf(until)) }) : word('step.extend_ask')),
      act: (options, reason) => api.post(`${admin}/round/extend`, { until: new Date(until.value).toISOString(), reason }, options),
    });
  } }, word(round.until ? 'step.extend' : 'step.limit'));
  return step('started', [word('step.started', { round: titleOf(round) }), round.paused ? `${word('step.paused')} ${said}` : said],
    [button(word('step.close'), post('/round/close'), { cls: open ? '' : 'primary big' }), pause, extend, cancel],
    round.until ? el('p', { class: 'next-foot small' }, t('events.round.until', { at: moment(round.until) })) : null);
}

// ---- rounds and their boards -------------------------------------------------------------------------------

export function run() {
  const running = page.event.view.state === 'running';
  const rounds = [...page.event.view.stages.flatMap((stage) => stage.rounds), ...(page.event.draft ? [page.event.draft] : [])];
  const key = (round) => `${round.stage}-${round.number}`;
  const round = rounds.find((one) => key(one) === lookedAt) ?? rounds.at(-1) ?? null;
  const stage = stageNow();
  const pick = rounds.length > 1 ? el('label', { class: 'field round-pick' }, word('step.which'), el('select', { id: 'round-pick', change: (changed) => { lookedAt = changed.target.value; page.draw(); } },
    rounds.map((one) => el('option', { value: key(one), selected: one === round }, titleOf(one))))) : null;
  return [nextStep(), running && stage && !roundNow() ? seedsPart(stage) : null, round ? roundPart(round, round === rounds.at(-1) && running, pick) : null,
    el('p', { class: 'muted small' }, t('events.zone', { zone: zone() }))];
}

function roundPart(round, newest, pick) {
  const coming = newest && ['drafted', 'published'].includes(round.state);
  const kind = page.event.settings.stages[round.stage - 1].kind;
  return el('section', { class: 'card' },
    el('div', { class: 'row between' }, el('h2', {}, titleOf(round)), pick),
    round.faults.length ? el('div', { class: 'notice warn' }, icon('alert'), el('div', {}, el('b', {}, word('draft.faults')), el('ul', {}, round.faults.map((fault) => el('li', {}, faultWords(fault)))))) : null,
    isHidden(round) ? el('p', { class: 'muted' }, word('step.hidden')) : el('ol', { class: 'manage-meetings' }, round.meetings.map((meeting) => meetingLine(meeting, round))),
    coming ? (kind === 'swiss' ? pairingEditor(round) : round.number === 1 ? el('p', { class: 'muted small' }, word('draft.by_seeds')) : null) : null);
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
    started ? el('div', { class: 'row manage-do' }, meeting.matches.map((match, n) => matchButton(match, meeting, round, n)), decideMeeting(meeting, round)) : null);
}

function matchButton(match, meeting, round, n) {
  const words = meeting.matches.length > 1 ? t('events.round.match', { n: n + 1 }) : word('match.open');
  return el('button', { class: 'button small-button', type: 'button', 'aria-label': `${words}: ${nameOf(match.entrants.A)} – ${nameOf(match.entrants.B)}`,
    click: () => openMatch(match, `${titleOf(round)}, ${tableName(meeting).toLowerCase()}`) }, words);
}

/** An arbiter's decision about a meeting as a whole. */
function decideMeeting(meeting, round) {
  const who = `${nameOf(meeting.a)}${meeting.b ? ` – ${nameOf(meeting.b)}` : ''}`;
  const decide = () => {
    const points = el('input', { type: 'number', inputmode: 'numeric', id: 'meeting-points', value: 0, min: -1000000, max: 1000000, required: true });
    const winner = el('select', { id: 'meeting-winner' }, el('option', { value: '' }, word('meeting.nobody')),
      [meeting.a, ...(meeting.b ? [meeting.b] : [])].map((number) => el('option', { value: number }, nameOf(number))));
    askAndDo({
      title: `${word('meeting.title')}: ${who}`,
      fields: [field(word('meeting.points', { name: nameOf(meeting.a) }), points, word('meeting.points_hint')), field(word('meeting.winner'), winner)],
      will: () => word(winner.value ? 'meeting.will' : 'meeting.will_nobody', { name: winner.value ? nameOf(Number(winner.value)) : '', first: nameOf(meeting.a), points: signedNumber(Number(points.value)) }),
      act: (options, reason) => api.post(`${admin}/meetings/${round.stage}-${round.number}-${meeting.table}/result`, { points_for_a: Number(points.value), winner: winner.value ? Number(winner.value) : null, reason }, options),
    });
  };
  return el('button', { class: 'button plain small-button', type: 'button', 'aria-label': `${word('meeting.decide')}: ${who}`, click: decide }, word('meeting.decide'));
}

// ---- by hand -----------------------------------------------------------------------------------------------

/**
 * Selects of entrants, one for each place: whoever is chosen where another stands changes places with him. `options(n)`:
 * who may stand at place n. `changed()` is told of every change; `values()` says who stands where.
 */
function places(now, options, label, changed) {
  const values = [...now];
  const selects = values.map((value, n) => {
    const select = el('select', { 'aria-label': label(n), change: () => {
      const chosen = select.value ? Number(select.value) : null;
      const from = values.findIndex((other, k) => other === chosen && k !== n);
      if (from >= 0) {
        values[from] = values[n];
        selects[from].value = values[n] ?? '';
      }
      values[n] = chosen;
      selects.forEach((other, k) => other.classList.toggle('changed', values[k] !== now[k]));
      changed(values.filter((other, k) => other !== now[k]).length);
    } }, options(n).map((number) => el('option', { value: number ?? '', selected: number === value }, nameOf(number))));
    return select;
  });
  return { selects, values };
}

/** A list that is put in order by hand, and what saves it or lets it be. */
function byHand(summary, hint, rows, told, save) {
  const box = el('details', { class: 'edit-pairs' }, el('summary', { class: 'button small-button' }, summary),
    el('div', { class: 'stack' }, el('p', { class: 'muted small' }, hint), rows, told,
      el('p', { class: 'row' }, save, el('button', { class: 'button plain', type: 'button', click: () => page.draw() }, word('draft.back')))));
  return box;
}

const toldChanges = () => {
  const told = el('p', { class: 'small', role: 'status' });
  return [told, (n) => { told.textContent = n ? word('draft.changed', { n }) : ''; }];
};

function pairingEditor(round) {
  const there = page.event.view.stages[round.stage - 1].seeds;
  const flat = round.meetings.flatMap((meeting) => [meeting.a, meeting.b]);
  const [told, changed] = toldChanges();
  // A bye stands second, and only where there is one.
  const { selects, values } = places(flat, (n) => (n % 2 && flat.includes(null) ? [null, ...there] : there), (n) => `${word('draft.table', { n: round.meetings[Math.floor(n / 2)].table })}, ${(n % 2) + 1}`, changed);
  const pairs = () => round.meetings.map((_, n) => [values[2 * n], values[2 * n + 1]]);
  const put = (options, reason) => api.put(`${admin}/round/pairings`, { pairs: pairs(), reason }, options);
  const save = button(word('draft.save'), async (options) => {
    try {
      return await put(options, '');
    } catch (problem) {
      if (!isExcusable(problem)) throw problem;
      const faults = problem.params.faults.split(' ').map(faultWords);
      askAndDo({ title: word('draft.save'), will: el('div', {}, el('p', {}, word('draft.against')), el('ul', {}, faults.map((fault) => el('li', {}, fault)))), act: put });
      return null;
    }
  }, { cls: 'primary' });
  const rows = round.meetings.map((meeting, n) => el('div', { class: 'field pair-row' }, el('span', { class: 'num muted' }, meeting.table), selects[2 * n], selects[2 * n + 1]));
  return byHand(word('draft.edit'), word('draft.edit_p'), rows, told, save);
}

/** The order of a stage's entrants, the best first, until its first round is drafted. */
function seedsPart(stage) {
  const [told, changed] = toldChanges();
  const { selects, values } = places(stage.seeds, () => stage.seeds, (n) => word('draft.seed', { n: n + 1 }), changed);
  const save = button(word('draft.save_seeds'), (options, reason) => api.put(`${admin}/stage/seeds`, { seeds: values, reason }, options), { cls: 'primary', ...because(word('draft.seeds_will')) });
  const groupOf = (number) => stage.groups.findIndex((group) => group.includes(number)) + 1;
  const rows = el('ol', { class: 'seed-list' }, selects.map((select, n) => el('li', { class: 'field pair-row one' }, el('span', { class: 'num muted' }, n + 1), select,
    stage.groups.length > 1 ? el('small', { class: 'muted' }, t('events.round.group', { name: groupName(groupOf(stage.seeds[n])) })) : null)));
  return el('section', { class: 'card' }, el('h2', {}, `${stageName(stage.kind, stage.number, page.event.settings.stages.length)}: ${word('draft.seeds')}`),
    byHand(word('draft.seeds_edit'), word('draft.edit_p'), rows, told, save));
}
