// One competition: what is next for me, its rounds, standings, entrants and dice. The page waits for changes and
// draws anew only those parts that have changed, so that nothing that is read or written is taken away.

import { api, problemText } from './api.js';
import { ring } from './call.js';
import { groupName, isKnockout, moment, roundsOf, roundTitle, rulesName, settingsWords, signedNumber, stageName, stageWords, zone } from './eventwords.js';
import { alertBox, nameText, playerMark } from './figures.js';
import { lang, reasonWords, t } from './i18n.js';
import { LiveCards } from './livecards.js';
import { allPlayed, nextCard } from './nextcard.js';
import { el, icon, setTitle, startPage } from './page.js';
import { clockShort, rulesetShort } from './rulewords.js';
import { sha256Hex } from './sha256.js';
import { bracket, crossTable, orderLine, standingTables } from './standings.js';

const BOARDS_EVERY_MS = 4000;
const HIDDEN_EVERY_MS = 10_000;
const { session } = await startPage({ namespaces: ['site', 'rules', 'events'], title: 'events.title' });
const main = document.getElementById('event');
const id = decodeURIComponent(location.pathname.split('/')[2] ?? '');
const path = `/api/competitions/${encodeURIComponent(id)}`;
const word = (key, params) => t(`events.${key}`, params);
const TABS = ['overview', 'rounds', 'standings', 'entrants', 'dice'];

const now = { view: null, mark: '', ahead: 0, standings: new Map(), boards: [], dice: null, presets: [], stage: null };
const opened = new Set();  // explanations and rounds that the reader has opened
const parts = {};          // the page's parts: {box, key} — drawn again when the key changes
let live = null;

const serverNow = () => Date.now() + now.ahead;
const me = () => now.view.mine?.entrant ?? null;
const computer = { name: '', tag: null, kind: 'computer' };

function nameOf(number) {
  return number === 0 ? computer : now.view.entrants.find((entrant) => entrant.number === number) ?? null;
}

// ---- loading -----------------------------------------------------------------------------------------------

async function load() {
  const answer = await api.get(path);
  now.ahead = answer.now - Date.now();
  now.mark = answer.mark;
  now.view = answer.competition;
  const last = now.view.stages.at(-1)?.number ?? null;
  if (now.stage === null || now.stage > last || (now.followed && now.stage !== last)) now.stage = last;
  await loadStage();
}

/**
 * The standings of the stage that is looked at; of the newest as long as the reader has chosen none. Everybody against
 * everybody is asked for by who looks at it: until then `cross` is null.
 */
async function loadStage() {
  if (!now.stage) return;  // 0: the final places, which are in the view
  const number = now.stage;
  const { kind } = now.view.stages[number - 1];
  const none = isKnockout(kind) || kind === 'qualifying';
  const [standings, cross] = await Promise.all([
    api.get(`${path}/standings?stage=${number}`),
    none ? { tables: [] } : tab() === 'standings' ? api.get(`${path}/cross-tables?stage=${number}`) : { tables: null },
  ]);
  now.standings.set(number, { standings, cross: cross.tables });
}

const tab = () => (TABS.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'overview');
const hasDice = () => now.view.settings.stages[0].kind === 'qualifying';

// ---- the page ----------------------------------------------------------------------------------------------

function frame() {
  for (const name of ['head', 'stages', 'next', 'tabs', 'panel']) parts[name] = { box: el('div', { class: `event-${name}` }), key: null };
  parts.late = { box: el('p', { class: 'notice warn', role: 'status', hidden: true }, icon('alert'), el('span', {}, word('late'))) };
  parts.said = el('p', { class: 'sr', role: 'status' });  // what is next, told to who does not see the page
  main.replaceChildren(parts.late.box, parts.said, ...['head', 'stages', 'next', 'tabs', 'panel'].map((name) => parts[name].box));
}

/** Draws one part if what it shows has changed, keeping the place of the focus. */
function part(name, value, draw) {
  const { box, key } = parts[name];
  const fresh = JSON.stringify(value);
  if (key === fresh || box.querySelector('input:not([type="checkbox"]):focus')) return;  // somebody is writing there
  parts[name].key = fresh;
  const focused = box.contains(document.activeElement) ? document.activeElement.id : null;
  box.replaceChildren(...[draw()].flat().filter(Boolean));
  if (focused) document.getElementById(focused)?.focus();
}

function draw() {
  const { view } = now;
  part('head', [view.title, view.settings, view.state, view.entrants.length, view.places, view.is_owner, view.over_because, now.presets.length], head);
  part('stages', [view.stages, view.state, view.settings.stages], stages);
  part('next', [view.mine, view.state, view.settings.entry, view.settings.starts_at, view.places, view.entrants.length, view.stages.length, allPlayed(view)], next);
  // Whoever has other tabs in front sees there that he is called.
  setTitle(view.mine?.next.kind === 'play' ? document.getElementById('next-title').textContent : view.title[lang()]);
  const said = view.mine ? document.getElementById('next-title')?.textContent ?? '' : '';
  if (parts.said.textContent !== said) parts.said.textContent = said;
  part('tabs', [tab(), hasDice()], tabs);
  panel();
}

function panel() {
  const name = tab();
  const seen = { overview: overviewKey, rounds: () => [now.view.stages, now.view.entrants], standings: () => [now.stage, now.standings.get(now.stage), now.view.places, now.view.entrants],
    entrants: () => now.view.entrants, dice: () => [now.dice, now.view.stages[0]?.rounds.map(({ state }) => state)] }[name];
  const drawing = { overview, rounds, standings, entrants, dice }[name];
  part('panel', [name, now.presets.length, seen()], drawing);
  if (live) live.draw(now.boards);
}

// ---- head --------------------------------------------------------------------------------------------------

function head() {
  const { view } = now;
  const { settings } = view;
  const capacity = settings.entry.capacity;
  const playing = view.entrants.filter((entrant) => entrant.status === 'entered').length;
  const winner = view.state === 'finished' && view.places[0] ? nameOf(view.places[0].entrant) : null;
  const facts = [
    ['state', word(`state.${view.state}`)],
    winner ? ['winner', nameText(winner)] : null,
    ['entrants', capacity ? word('fact.of', { n: playing, of: capacity }) : playing],
    settings.starts_at && ['announced', 'entry'].includes(view.state) ? ['start', el('time', { datetime: new Date(settings.starts_at).toISOString() }, moment(settings.starts_at, serverNow()))] : null,
    ['rules', rulesName(settings.preset, now.presets)],
    ['clock', clockShort(settings.ruleset)],
  ];
  return [
    el('div', { class: 'row between' }, el('h1', {}, view.title[lang()]),
      view.is_owner ? el('a', { class: 'button', href: `/events/${encodeURIComponent(id)}/manage` }, icon('settings'), t('events.manage.link')) : null),
    view.state === 'cancelled' && view.over_because ? el('p', { class: 'notice warn' }, icon('alert'), el('span', {}, word('over_because', { reason: reasonWords(view.over_because) }))) : null,
    el('dl', { class: 'event-facts' }, facts.filter(Boolean).map(([key, value]) => el('div', {}, el('dt', {}, word(`fact.${key}`)), el('dd', {}, value)))),
  ].filter(Boolean);
}

function stages() {
  const { view } = now;
  const planned = view.settings.stages;
  if (planned.length < 2 && !view.stages.length) return [];
  const running = view.state === 'running' ? view.stages.length : 0;
  return el('ol', { class: 'stages', 'aria-label': word('stages') }, planned.map((rules, n) => {
    const stage = view.stages[n];
    const done = n + 1 < view.stages.length || (view.state === 'finished' && n < view.stages.length);
    const name = stageName(rules.kind, n + 1, planned.length);
    const of = stage ? roundsOf(stage.rules, stage.seeds, stage.groups) : ['qualifying', 'swiss'].includes(rules.kind) ? roundsOf(rules, []) : null;
    const round = stage?.rounds.length ?? 0;
    const words = !done && round && running === n + 1
      ? rules.kind === 'single_elimination' ? roundTitle(stage, round, planned.length) : of ? word('stage_round', { stage: name, n: round, of }) : word('stage_round_open', { stage: name, n: round })
      : of && !isKnockout(rules.kind) ? word('stage_total', { stage: name, rounds: rules.kind === 'qualifying' ? word('matches_n', { n: of }) : word('rounds_n', { n: of }) }) : name;
    return el('li', { 'aria-current': running === n + 1 ? 'step' : null, class: done ? 'done' : null }, done ? icon('check') : null, words);
  }));
}

function next() {
  return nextCard({ view: now.view, session, path, serverNow, nameOf, changed: refresh });
}

function tabs() {
  const current = tab();
  return el('nav', { class: 'presets event-nav', 'aria-label': word('tab.label') }, TABS.filter((name) => name !== 'dice' || hasDice())
    .map((name) => el('a', { href: `#${name}`, id: `tab-${name}`, 'aria-current': name === current ? 'page' : null }, word(`tab.${name}`))));
}

// ---- overview ----------------------------------------------------------------------------------------------

const currentStage = () => now.view.stages.at(-1) ?? null;
const currentRound = () => currentStage()?.rounds.at(-1) ?? null;
const isHidden = (round) => round.dice_id !== null && round.state !== 'closed';

function overviewKey() {
  return [now.view.state, now.view.about, now.view.settings, now.view.places, currentRound(), now.view.entrants, now.standings.get(currentStage()?.number), Boolean(now.boards.length)];
}

function overview() {
  live = null;
  const { view } = now;
  const main = [];
  if (view.state === 'running' && currentRound()) main.push(playing(currentStage(), currentRound()));
  if (view.state === 'finished' && view.places.length) main.push(el('section', { class: 'card' }, el('h2', {}, word('stand.final')), placesTable(16)));
  const words = howItIsPlayed();
  const found = currentStage() ? now.standings.get(currentStage().number) : null;
  const whole = found?.standings.bracket ? el('section', { class: 'card' }, el('h2', {}, word('stand.bracket')), bracketOf(currentStage(), found.standings)) : null;
  const side = found && !whole && view.state !== 'finished' ? shortStanding() : null;
  if (whole) return [...main, whole, ...words];
  if (!main.length && !side) return words;
  return el('div', { class: 'cols' }, el('div', { class: 'stack first' }, main), el('div', { class: 'stack side' }, side), el('div', { class: 'stack rest' }, words));
}

/** The round that is played: boards as of their last finished phase, and the pairings. */
function playing(stage, round) {
  const title = roundTitle(stage, round.number, now.view.settings.stages.length);
  const box = el('section', { class: 'stack now-played' }, el('div', { class: 'row between' }, el('h2', {}, title), el('span', { class: 'muted small' }, roundState(round))));
  if (isHidden(round)) {
    box.append(el('p', { class: 'notice' }, icon('lock'), el('span', {}, word('live.hidden'), ' ', word('live.hidden_n', { n: word('entrants', { n: round.meetings.length }) }), '.')));
    return box;
  }
  if (now.boards.length) {
    const cards = el('div', { class: 'pairs' });
    live = new LiveCards(cards);
    box.append(cards, el('p', { class: 'muted small' }, word('live.public')));
  }
  box.append(meetings(stage, round, { most: 8 }), el('p', {}, el('a', { href: '#rounds' }, word('round.all'))));
  return box;
}

function roundState(round) {
  const at = (ms) => moment(ms, serverNow());
  if (round.paused) return word('round.paused');
  if (round.state === 'published') return round.start_at ? word('round.start_at', { at: at(round.start_at) }) : word('round.published');
  if (round.state === 'closed') return round.closed_at ? word('round.closed_at', { at: at(round.closed_at) }) : word('round.closed');
  return round.until ? `${word('round.started')}, ${word('round.until', { at: at(round.until) })}` : `${word('round.started')}, ${word('round.started_at', { at: at(round.started_at) })}`;
}

function shortStanding() {
  const stage = currentStage();
  const { standings } = now.standings.get(stage.number);
  const group = stage.groups.findIndex((members) => members.includes(me())) + 1;
  const of = context(stage);
  const content = standings.tables.some(({ rows }) => rows.some((row) => row.played || !row.came))
    ? standingTables(standings, of, { short: 8, only: stage.groups.length ? group || 1 : null })
    : el('p', { class: 'muted small' }, word('stand.empty'));
  return el('section', { class: 'card standings' }, el('div', { class: 'row between' }, el('h2', {}, word('stand.title')), provisional(standings)), content,
    el('p', {}, el('a', { href: '#standings' }, word('stand.all'))));
}

const provisional = (standings) => (standings.provisional ? el('span', { class: 'muted small' }, word('stand.provisional', { n: standings.analysed, of: standings.analysable })) : null);

function context(stage) {
  return {
    key: 'stand', me: me(), opened, seeds: stage.seeds,
    name: nameOf,
    link: (meeting) => linkOf(meeting),
  };
}

function howItIsPlayed() {
  const { about, settings } = now.view;
  return [
    about[lang()] ? el('section', { class: 'card' }, el('h2', {}, word('rules.about')), el('p', { class: 'about' }, about[lang()])) : null,
    el('section', { class: 'card how' }, el('h2', {}, word('rules.title')),
      el('ul', { class: 'plain-list' },
        settings.stages.map((stage) => el('li', {}, stageWords(stage).join(' '))),
        settingsWords(settings).map((sentence) => el('li', {}, sentence))),
      el('h3', {}, word('rules.match')),
      el('p', { class: 'small' }, el('b', {}, `${rulesName(settings.preset, now.presets)}.`), ' ', rulesetShort(settings.ruleset).join(' ')),
      el('p', { class: 'small' }, el('a', { href: `/rules?preset=${settings.preset}` }, word('rules.match_all')))),
    el('p', { class: 'muted small' }, word('zone', { zone: zone() })),
  ].filter(Boolean);
}

// ---- rounds ------------------------------------------------------------------------------------------------

function rounds() {
  const all = now.view.stages.flatMap((stage) => stage.rounds.map((round) => ({ stage, round }))).reverse();
  if (!all.length) return el('p', { class: 'muted' }, word('round.none'));
  return all.map(({ stage, round }, n) => {
    const key = `round ${stage.number} ${round.number}`;
    const details = el('details', { class: 'card round-card', open: n === 0 || opened.has(key), toggle: () => {
      if (details.open) opened.add(key); else opened.delete(key);
      if (details.open && details.children.length === 1) details.append(content());
    } },
    el('summary', {}, el('h2', {}, roundTitle(stage, round.number, now.view.settings.stages.length)), el('span', { class: 'muted small' }, roundState(round))));
    const content = () => (isHidden(round) ? el('p', { class: 'notice' }, icon('lock'), el('span', {}, word('live.hidden'))) : meetings(stage, round));
    if (details.open) details.append(content());
    return details;
  });
}

const isMine = (meeting) => me() !== null && (meeting.a === me() || meeting.b === me());

/** The meetings of a round, group by group; with `most` so many, the reader's own and his group first. */
function meetings(stage, round, { most = 0 } = {}) {
  const groups = new Map();
  const mineFirst = most > 0;
  const group = round.meetings.find(isMine)?.group;
  const all = mineFirst ? [...round.meetings].sort((one, other) => isMine(other) - isMine(one) || (other.group === group) - (one.group === group)) : round.meetings;
  for (const meeting of mineFirst ? all.slice(0, most) : all) groups.set(meeting.group, [...(groups.get(meeting.group) ?? []), meeting]);
  return el('div', { class: 'stack' }, [...groups].map(([group, list]) => el('section', { class: 'round-group' },
    group ? el('h3', {}, word('round.group', { name: groupName(group) })) : null,
    el('ol', { class: 'meetings' }, list.map((meeting) => meetingBox(meeting, round, isMine(meeting)))))));
}

/** Where a meeting's only match is to be seen: its board while it is played, its result card after; else nothing. */
function linkOf(meeting) {
  const played = meeting.matches.filter((match) => match.state === 'playing' || match.ending === 'played');
  return played.length === 1 && meeting.matches.length === 1 ? `/match/${played[0].id}` : null;
}

function meetingBox(meeting, round, mine) {
  const { verdict } = meeting;
  const open = !verdict || verdict.how === 'open';
  const href = linkOf(meeting);
  const alone = meeting.b === null || meeting.b === 0;
  const sides = [meeting.a, ...(alone ? [] : [meeting.b])].map((entrant, n) => {
    const won = !open && verdict.winner === entrant;
    return el('span', { class: `side-line${won ? ' won' : ''}` },
      playerMark(nameOf(entrant), { bold: won }), won && !alone ? icon('check') : null,
      open || verdict.how === 'zero-bye' ? null : el('b', { class: 'num' }, signedNumber(verdict.points[n])));
  });
  const how = [];
  if (meeting.slot === 'T') how.push(word('slot.third'));
  if (meeting.b === null) how.push(word(`round.${verdict?.how ?? 'bye'}`));
  else if (open) how.push(round.state === 'started' ? (round.paused ? word('round.paused') : word('round.open')) : word('round.waiting'));
  else if (verdict.how !== 'played') how.push(word(`round.${verdict.how}`));
  if (verdict?.told_apart_by) how.push(word(`round.${verdict.told_apart_by}`));
  const several = meeting.matches.length > 1;
  const links = several ? meeting.matches.filter((match) => match.state === 'playing' || match.ending === 'played').map((match) =>
    el('a', { href: `/match/${match.id}` }, word('round.match', { n: Number(match.id.match(/M(\d+)$/)[1]) }))) : [];
  const foot = how.length || links.length || meeting.reason
    ? el('span', { class: 'muted small meeting-foot' }, how.join(', '), links, meeting.reason ? el('span', {}, word('round.reason', { reason: meeting.reason })) : null) : null;
  return el('li', {}, el(href ? 'a' : 'div', { class: `meeting${mine ? ' mine' : ''}${open ? ' open' : ''}`, href }, sides, foot));
}

// ---- standings ---------------------------------------------------------------------------------------------

function standings() {
  const { view } = now;
  if (!view.stages.length) return el('p', { class: 'muted' }, word('stand.empty'));
  const out = [];
  if (view.stages.length > 1) out.push(stageChooser());
  if (now.stage === 0) return [...out, el('section', { class: 'card' }, el('h2', {}, placesWord()), placesTable())];
  const found = now.standings.get(now.stage);
  const stage = view.stages[now.stage - 1];
  if (!found) return [...out, el('p', { class: 'muted' }, word('loading'))];
  const of = context(stage);
  if (found.standings.bracket) {
    out.push(el('section', { class: 'card' }, el('h2', {}, word('stand.bracket')), bracketOf(stage, found.standings)));
    return out;
  }
  out.push(el('section', { class: 'card' },
    el('div', { class: 'row between' }, el('h2', {}, word('stand.title')), provisional(found.standings)),
    el('p', { class: 'muted small' }, word('stand.tap')),
    standingTables(found.standings, of),
    el('p', { class: 'muted small' }, orderLine(found.standings))));
  if (found.cross === null) loadStage().then(draw, () => {});
  if (found.cross?.length) {
    out.push(el('section', { class: 'card' }, el('h2', {}, word('stand.cross')), el('p', { class: 'muted small' }, word('stand.cross_p')),
      found.cross.map((table) => {
        const name = table.group ? word('round.group', { name: groupName(table.group) }) : null;
        return el('section', { class: 'standing' }, name ? el('h3', {}, name) : null, crossTable(table, of, name ? `${word('stand.cross')}, ${name}` : word('stand.cross')));
      })));
  }
  return out;
}

function bracketOf(stage, found) {
  const bySlot = new Map(stage.rounds.flatMap((round) => round.meetings.map((meeting) => [meeting.slot, meeting])));
  return bracket(found, bySlot, context(stage));
}

function stageChooser() {
  const { view } = now;
  const choose = (number) => async () => {
    now.stage = number;
    now.followed = number === view.stages.length;
    if (number && !now.standings.has(number)) await loadStage().catch(() => {});
    draw();
  };
  const button = (number, name) => el('button', { type: 'button', id: `stage-${number}`, 'aria-pressed': String(now.stage === number), click: choose(number) }, name);
  return el('div', { class: 'presets stage-choice', role: 'group', 'aria-label': word('stand.stage') },
    view.stages.map((stage) => button(stage.number, stageName(stage.kind, stage.number, view.settings.stages.length))),
    view.places.length ? button(0, placesWord()) : null);
}

/** Places of the whole competition, which move until it is over. */
const placesWord = () => word(now.view.state === 'finished' ? 'stand.final' : 'stand.so_far');

function placesTable(most = Infinity) {
  const { places } = now.view;
  const rated = new Map(now.view.entrants.map((entrant) => [entrant.number, entrant.points]));
  const top = places.slice(0, most);
  const mine = places.find((place) => place.entrant === me());
  const shown = mine && !top.includes(mine) ? [...top, mine] : top;
  return el('table', { class: 'list' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, word('stand.place')), el('th', { scope: 'col' }, word('stand.player')), el('th', { scope: 'col', class: 'r' }, word('stand.rating')))),
    el('tbody', {}, shown.map((place) => el('tr', { class: place.entrant === me() ? 'me' : null },
      el('td', { class: 'num place' }, place.place), el('td', { class: 'who' }, playerMark(nameOf(place.entrant), { bold: false })), el('td', { class: 'r' }, rated.get(place.entrant) ?? '—')))));
}

// ---- entrants ----------------------------------------------------------------------------------------------

function entrants() {
  const list = now.view.entrants;
  if (!list.length) return el('p', { class: 'muted' }, word('entrant.none'));
  const seeded = list.some((entrant) => entrant.seed !== null);
  const rated = list.some((entrant) => entrant.points !== null);
  const state = (entrant) => (entrant.status !== 'entered' ? word(`entrant.${entrant.status}`) : entrant.checked_in && now.view.state === 'entry' ? word('entrant.here') : null);
  return el('section', { class: 'card' }, el('table', { class: 'list entrants' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, word('entrant.number')), el('th', { scope: 'col' }, word('entrant.name')),
      seeded ? el('th', { scope: 'col', class: 'r' }, word('entrant.seed')) : null,
      el('th', { scope: 'col', class: 'r' }, word('entrant.strength')),
      rated ? el('th', { scope: 'col', class: 'r' }, word('stand.rating')) : null)),
    el('tbody', {}, list.map((entrant) => el('tr', { class: entrant.number === me() ? 'me' : entrant.status !== 'entered' ? 'gone' : null },
      el('td', { class: 'num place' }, entrant.number),
      el('td', { class: 'who' }, playerMark(entrant, { bold: false }), state(entrant) ? el('small', { class: 'mark' }, state(entrant)) : null),
      seeded ? el('td', { class: 'r' }, entrant.seed ?? '') : null,
      el('td', { class: 'r' }, entrant.strength),
      rated ? el('td', { class: 'r' }, entrant.points ?? '—') : null)))));
}

// ---- dice --------------------------------------------------------------------------------------------------

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** Does the secret fit its fingerprint, and the shared number the entrants' numbers (§12.1)? */
function isTrue(board) {
  const seeds = Object.values(board.seeds).sort().join('|');
  const shared = board.shared_seed === null || sha256Hex(seeds).slice(0, 32) === board.shared_seed;  // null: nobody came
  return sha256Hex(bytesOf(board.server_seed)) === board.commitment && shared;
}

function dice() {
  if (now.dice === null) {
    api.get(`${path}/dice`).then(({ boards }) => { now.dice = boards; draw(); }).catch(() => {});
    return el('p', { class: 'muted' }, word('loading'));
  }
  const hash = (text) => el('code', { class: 'code-text' }, text);
  const closed = () => el('span', { class: 'muted' }, icon('lock'), ' ', word('dice.closed'));
  return [
    el('p', {}, word('dice.lead')),
    ...(now.dice.length ? now.dice.map((board) => {
      const open = board.server_seed !== null;
      const good = open && isTrue(board);
      return el('section', { class: 'card' }, el('h2', {}, word('dice.board', { n: board.round })),
        open ? el('p', { class: `state wrap ${good ? 'win' : 'loss'}` }, icon(good ? 'shield' : 'alert'), el('span', {}, word(good ? 'dice.good' : 'dice.bad'))) : null,
        el('dl', { class: 'check-facts' },
          el('dt', {}, word('dice.id')), el('dd', {}, hash(board.dice_id)),
          el('dt', {}, word('dice.commitment')), el('dd', {}, hash(board.commitment)),
          el('dt', {}, word('dice.secret')), el('dd', {}, open ? hash(board.server_seed) : closed()),
          el('dt', {}, word('dice.shared')), el('dd', {}, open ? hash(board.shared_seed ?? '—') : closed())),
        open ? el('details', {}, el('summary', {}, word('dice.seeds')), el('dl', { class: 'check-facts' }, Object.entries(board.seeds).flatMap(([number, seed]) => [
          el('dt', {}, playerMark(nameOf(Number(number)), { bold: false })), el('dd', {}, hash(seed))]))) : null);
    }) : [el('p', { class: 'muted' }, word('dice.none'))]),
    el('p', { class: 'muted small' }, word('dice.how'), ' ', el('a', { href: '/dice' }, word('dice.check'))),
  ];
}

// ---- keeping up --------------------------------------------------------------------------------------------

addEventListener('link-void', () => {
  session.player = null;
  refresh();
});

async function refresh() {
  await load();
  now.dice = tab() === 'dice' ? now.dice && (await api.get(`${path}/dice`)).boards : null;
  draw();
  called();
}

let wentTo = null;

/** A match that waits for me: rings once, and takes me there if I want it so. */
function called() {
  const { mine } = now.view;
  if (mine?.next.kind !== 'play' || !mine.next.is_made) return;
  ring(mine.next.match);
  let auto = false;
  try {
    auto = localStorage.getItem('event-go') === 'yes';
    wentTo ??= sessionStorage.getItem('event-went');
  } catch { /* only by hand */ }
  if (!auto || wentTo === mine.next.match || document.hidden) return;
  wentTo = mine.next.match;
  try { sessionStorage.setItem('event-went', wentTo); } catch { /* this page remembers */ }
  location.assign(`/match/${mine.next.match}`);
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** So long, or until the page is seen again. */
function pauseUnseen(ms) {
  return new Promise((resolve) => {
    const done = () => { clearTimeout(timer); document.removeEventListener('visibilitychange', done); resolve(); };
    const timer = setTimeout(done, ms);
    document.addEventListener('visibilitychange', done);
  });
}

/** Over so many milliseconds pages spread their asking after a change: the more entrants, the more pages are open. */
const spread = () => Math.min(3000, 300 + 10 * now.view.entrants.length);

/**
 * Waits for changes for as long as the page is there. Many pages are told at once: each takes its time to ask. A page
 * that nobody looks at asks now and then: a browser has six connections to a server, and many pages may be open.
 */
async function follow() {
  for (let failures = 0; ;) {
    try {
      if (document.hidden) await pauseUnseen(HIDDEN_EVERY_MS);
      const { mark } = await api.get(`${path}/changes${document.hidden ? '' : `?mark=${now.mark}`}`);
      if (mark !== now.mark) {
        await pause(Math.random() * spread());
        await refresh();
      }
      failures = 0;
      parts.late.box.hidden = true;
    } catch (problem) {
      failures += 1;
      parts.late.box.hidden = failures < 2;
      await pause(Math.min(15_000, 500 * 2 ** failures) * (0.5 + Math.random()));
    }
  }
}

/** What changes with time alone: a match that is being made, the hour of a check-in. */
async function tick() {
  for (;;) {
    await pause(2000);
    const mine = now.view.mine?.next;
    const making = mine?.kind === 'play' && !mine.is_made;
    const due = mine?.at && ['entered', 'starts', 'check-in'].includes(mine.kind) && mine.at <= serverNow() && serverNow() - mine.at < 60_000;
    if (making || due) await refresh().catch(() => {});
  }
}

async function boards() {
  for (;;) {
    const round = currentRound();
    const playing = now.view.state === 'running' && round?.state === 'started' && !isHidden(round);
    if (playing && tab() === 'overview' && !document.hidden) {
      try {
        now.boards = (await api.get(`${path}/boards`)).boards;
        panel();
      } catch { /* they stay as they were */ }
    } else if (!playing && now.boards.length) {
      now.boards = [];
      panel();
    }
    await pause(BOARDS_EVERY_MS);
  }
}

main.replaceChildren(el('p', { class: 'muted' }, word('loading')));
try {
  const [, presets] = await Promise.all([load(), api.get('/api/rulesets')]);
  now.presets = presets.presets;
  frame();
  draw();
  called();
  addEventListener('hashchange', () => draw());
  follow();
  tick();
  boards();
} catch (problem) {
  setTitle(word('title'));
  const unknown = problem.status === 404;
  main.replaceChildren(el('h1', {}, unknown ? word('unknown') : word('title')), unknown ? el('p', {}, word('unknown_p')) : alertBox(problemText(problem)),
    el('p', {}, el('a', { class: 'button', href: '/events' }, word('all'))));
}
