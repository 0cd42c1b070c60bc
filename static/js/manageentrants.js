// Who takes part in a competition, for its organiser: letting in, seeds, substitutes, pairs that are not to be, penalties.

import { api } from './api.js';
import { copy } from './clipboard.js';
import { moment } from './eventwords.js';
import { nameText, playerMark } from './figures.js';
import { hasWord, t } from './i18n.js';
import { penaltyOf, takenWords } from './managematch.js';
import { admin, askAndDo, button, field, isBefore, isOver, nameOf, page, post, stageNow, tell, wish, withReason, word } from './managing.js';
import { el, icon } from './page.js';

export function entrants() {
  const { event } = page;
  const asked = (one) => (one.entrant.status === 'asked' ? 0 : 1);
  const list = [...event.entrants].sort((a, b) => asked(a) - asked(b) || a.entrant.number - b.entrant.number);
  return [
    el('section', { class: 'card' }, el('h2', {}, t('events.entrants', { n: event.entrants.filter(({ entrant }) => entrant.status === 'entered').length })),
      checkInWords(),
      list.length ? el('ol', { class: 'manage-entrants' }, list.map(entrantLine)) : el('p', { class: 'muted' }, t('events.entrant.none'))),
    isOver() ? null : entryPart(),
    event.settings.stages.some((stage) => stage.kind === 'swiss') ? pairsPart() : null,
    event.penalties.length ? penaltiesPart() : null,
  ];
}

/** When entrants are marked as there; until then the server refuses it. */
function checkInWords() {
  const { starts_at: starts, entry } = page.event.settings;
  if (!isBefore() || !entry.check_in_ms || !starts) return null;
  const opens = starts - entry.check_in_ms;
  return el('p', { class: 'muted small' }, Date.now() < opens ? word('entrant.check_opens', { at: moment(opens) }) : word('entrant.check_open'));
}

function entrantLine({ entrant, has_link: hasLink }) {
  const at = `/entrants/${entrant.number}`;
  const name = nameText(entrant);
  const before = isBefore();
  const { event } = page;
  const act = (key, path, asks = null) => button(word(`entrant.${key}`), asks && asks.reason !== 'none' ? withReason(path) : post(path), { cls: 'plain small-button', asks: asks && { title: `${word(`entrant.${key}`)}: ${name}`, will: word(`entrant.${key}_will`, { name }), ...asks } });
  const question = (key, ask) => el('button', { class: 'button plain small-button', type: 'button', click: () => askAndDo(ask()) }, word(`entrant.${key}`));
  const plays = !before && Boolean(stageNow()?.seeds.includes(entrant.number));
  const link = hasLink ? el('button', { class: 'button plain small-button', type: 'button', click: () => newLink(entrant) }, word('entrant.renew')) : null;
  const rare = {
    entered: [question('substitute', () => substitution(entrant)), plays ? question('penalty', () => penaltyOf(entrant.number)) : null, link, act('ban', `${at}/ban`, {})],
    withdrawn: [link, act('ban', `${at}/ban`, {})],
    asked: [question('substitute', () => substitution(entrant)), link],
  }[entrant.status]?.filter(Boolean) ?? [];
  const actions = isOver() ? [] : {
    asked: [button(word('entrant.approve'), post(`${at}/approve`), { cls: 'primary small-button' }), act('decline', `${at}/decline`, {})],
    entered: [before && !entrant.checked_in && event.settings.entry.check_in_ms ? act('check', `${at}/check-in`) : null, act('withdraw', `${at}/withdraw`, { reason: 'perhaps' })],
    withdrawn: [act('rejoin', `${at}/rejoin`)],
  }[entrant.status] ?? [];
  const seed = before && entrant.status === 'entered' ? el('input', { type: 'number', inputmode: 'numeric', min: 1, id: `seed-${entrant.number}`, class: 'seed', value: entrant.seed ?? '', placeholder: t('events.entrant.seed'), 'aria-label': word('entrant.seed', { name }),
    change: (changed) => wish((options) => api.put(`${admin}${at}/seed`, { seed: changed.target.value ? Number(changed.target.value) : null }, options)) }) : null;
  const box = rare.length && !isOver() ? el('span', { class: 'row more-acts', id: `more-${entrant.number}`, role: 'group', 'aria-label': `${word('entrant.more')}: ${name}`, hidden: true }, rare) : null;
  const more = box && el('button', { class: 'button plain small-button', type: 'button', 'aria-label': `${word('entrant.more')}: ${name}`, 'aria-expanded': 'false', 'aria-controls': box.id, click: () => {
    box.hidden = !box.hidden;
    more.setAttribute('aria-expanded', String(!box.hidden));
  } }, word('entrant.more'));
  return el('li', {}, el('span', { class: 'num muted' }, entrant.number),
    el('span', { class: 'manage-who' }, playerMark(entrant, { bold: false }), el('small', { class: 'muted' }, `${word(`entrant.${entrant.status}`)}${entrant.checked_in ? `, ${t('events.entrant.here')}` : ''} · ${entrant.strength}`)),
    seed, el('span', { class: 'row manage-do', role: 'group', 'aria-label': word('entrant.actions', { name }) }, actions, more), box);
}

/** Another personal link, told once; the old one opens nothing any more. */
async function newLink(entrant) {
  const name = nameText(entrant);
  const answer = await askAndDo({ title: `${word('entrant.renew')}: ${name}`, will: word('entrant.renew_will', { name }), reason: 'perhaps', ok: word('entrant.renew_ok'), act: withReason(`/entrants/${entrant.number}/link`) });
  if (!answer) return;
  tell(el('section', { class: 'card' }, el('p', {}, el('b', {}, `${word('entrant.renew')}: ${name}`)),
    el('p', {}, el('span', { class: 'small muted' }, word('entrant.link')), ' ', el('code', { class: 'code-text' }, answer.link)),
    copying(answer.link, { press: t('common.action.copy'), done: t('common.action.copied') })));
}

function substitution(entrant) {
  const player = el('input', { id: 'substitute', maxlength: 80, autocomplete: 'off', required: true });
  const name = nameText(entrant);
  return {
    title: `${word('entrant.substitute')}: ${name}`,
    fields: [field(word('entrant.substitute_who'), player, word('entrant.player_hint'))],
    will: () => word('entrant.substitute_will', { name, who: player.value.trim() || '…' }),
    act: (options, reason) => api.post(`${admin}/entrants/${entrant.number}/substitute`, { player: player.value.trim(), reason }, options),
  };
}

// ---- entering ----------------------------------------------------------------------------------------------

/** Whether somebody could still come into the first stage, as the server has it (§12.6). */
function mayComeLate() {
  const { event } = page;
  const drafted = event.draft ? 1 : 0;
  const { stages } = event.view;
  return event.view.state === 'running' && stages.length === 1 && stages[0].rounds.length + drafted < event.settings.entry.late_rounds;
}

function entryPart() {
  const running = page.event.view.state === 'running';
  if (running && !mayComeLate()) return el('section', { class: 'card' }, el('h2', {}, word('entrant.add')), el('p', {}, word('entrant.closed')), el('p', {}, el('a', { class: 'button small-button', href: '#settings' }, word('entrant.closed_settings'))));
  return [
    el('section', { class: 'card' }, el('h2', {}, word('entrant.add')), running ? el('p', { class: 'muted small' }, word('entrant.late', { n: page.event.settings.entry.late_rounds })) : null, addForm()),
    el('section', { class: 'card' }, el('h2', {}, word('entrant.import')), importForm()),
  ];
}

function addForm() {
  const input = el('input', { name: 'player', id: 'player', maxlength: 80, autocomplete: 'off', required: true });
  const act = (path) => async () => {
    if (!input.value.trim()) { input.focus(); return; }
    await wish(async (options) => {
      const answer = await api.post(`${admin}${path}`, { player: input.value.trim() }, options);
      input.value = '';
      return answer;
    });
  };
  return el('form', { class: 'join', novalidate: true, submit: (submitted) => { submitted.preventDefault(); act('/entrants')(); } },
    el('label', { class: 'field' }, word('entrant.player'), input),
    el('span', { class: 'row' }, el('button', { class: 'button' }, word('entrant.add_button')),
      page.event.settings.entry.mode === 'invited' ? el('button', { class: 'button', type: 'button', click: act('/invitations') }, word('entrant.invite')) : null));
}

function importForm() {
  const text = el('textarea', { rows: 4, id: 'list-text', placeholder: word('entrant.columns') });
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

/** A button that copies a text; `press` and `done` are what it says, before and after. */
function copying(words, { press, done }) {
  const text = el('textarea', { class: 'sr', readonly: true, tabindex: -1, 'aria-hidden': 'true' }, words);
  const said = el('span', { class: 'small' });
  const pressed = async () => { said.textContent = (await copy(text)) ? done : word('entrant.not_copied'); };
  return el('p', { class: 'row' }, el('button', { class: 'button small-button', type: 'button', click: pressed }, icon('copy'), press), said, text);
}

/** All links of a report at once, a line for each: a spreadsheet or a mail program takes them so. */
function copyLinks(lines) {
  const linked = lines.filter((line) => line.link);
  return linked.length ? copying(linked.map((line) => `${line.name}\t${line.link}`).join('\n'), { press: word('entrant.copy'), done: word('entrant.copied') }) : null;
}

function reportOf(answer) {
  const told = answer.lines.filter((line) => line.status === 'wrong' || line.link);
  return el('section', { class: 'card' }, el('p', {}, el('b', {}, word('entrant.report', answer))), copyLinks(answer.lines),
    told.length ? el('ol', { class: 'report' }, told.map((line) => el('li', {}, el('span', { class: 'muted num' }, word('entrant.line', { n: line.line })), ' ', el('b', {}, line.name), ' ',
      line.fault ? faultOfLine(line.fault) : [el('span', { class: 'small muted' }, word('entrant.link')), ' ', el('code', { class: 'code-text' }, line.link)]))) : null);
}

const faultOfLine = ({ code, detail }) => (hasWord(`problems.because.${code}`) ? t(`problems.because.${code}`) : hasWord(`problems.${code}`) ? t(`problems.${code}`) : detail);

// ---- pairs that are not to be, and what was taken ------------------------------------------------------------

const chosen = ['', ''];  // two of whom the page, drawn anew meanwhile, still knows

/** Two who are not to meet in a Swiss, as a club wants of its own players in the first rounds. */
function pairsPart() {
  const { event } = page;
  const there = event.entrants.filter(({ entrant }) => ['entered', 'asked', 'withdrawn'].includes(entrant.status)).map(({ entrant }) => entrant.number);
  const pick = (name, n) => el('select', { id: name, change: (changed) => { chosen[n] = changed.target.value; } }, el('option', { value: '' }, ''),
    there.map((number) => el('option', { value: number, selected: String(number) === chosen[n] }, nameOf(number))));
  const [first, second] = [pick('pair-first', 0), pick('pair-second', 1)];
  const pair = (a, b) => `${nameOf(a)} – ${nameOf(b)}`;
  const order = (a, b, forbidden) => askAndDo({
    title: word(forbidden ? 'pairs.forbid' : 'pairs.allow'), will: word(forbidden ? 'pairs.forbid_will' : 'pairs.allow_will', { pair: pair(a, b) }),
    act: async (options, reason) => {
      const answer = await api.post(`${admin}/forbidden-pairs`, { first: a, second: b, forbidden, reason }, options);
      chosen.fill('');
      return answer;
    },
  });
  const forbid = () => {
    if (!first.value) { first.focus(); return; }
    if (!second.value || second.value === first.value) { second.focus(); return; }
    order(Number(first.value), Number(second.value), true);
  };
  return el('section', { class: 'card' }, el('h2', {}, word('pairs.title')), el('p', { class: 'muted small' }, word('pairs.about')),
    event.forbidden.length ? el('ul', { class: 'act-list' }, event.forbidden.map(([a, b]) => el('li', {}, el('span', {}, pair(a, b)),
      isOver() ? null : el('button', { class: 'button plain small-button', type: 'button', 'aria-label': `${word('pairs.allow')}: ${pair(a, b)}`, click: () => order(a, b, false) }, word('pairs.allow'))))) : null,
    isOver() ? null : el('div', { class: 'pair-form' }, field(word('pairs.first'), first), field(word('pairs.second'), second), el('button', { class: 'button', type: 'button', click: forbid }, word('pairs.forbid'))));
}

const penaltiesPart = () => el('section', { class: 'card' }, el('h2', {}, word('entrant.penalties')),
  el('ul', { class: 'act-list' }, page.event.penalties.map((penalty) => el('li', {}, el('span', {}, el('b', {}, nameOf(penalty.entrant)), ' ', word('entrant.penalty_was', { stage: penalty.stage, taken: takenWords(penalty.points, penalty.match_points) })), el('span', { class: 'muted' }, penalty.reason)))));
