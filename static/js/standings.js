// Standings, cross-tables and brackets of a competition. Every value by which places are told apart can be opened: what
// it is, and what it is made of. Draws what the server computed; words: 'events'.

import { criteria, criterionWord, groupName, knockoutTitle, signedNumber, valueText } from './eventwords.js';
import { playerMark } from './figures.js';
import { t } from './i18n.js';
import { el, icon } from './page.js';

const word = (key, params) => t(`events.stand.${key}`, params);
const COLUMNS = 4;  // values shown beside the name, where there is room

/** The columns that a reader needs: the criterion that ranks, those that decided, then the next in order. */
function columnsOf({ criteria: names, tables }) {
  const decided = new Set(tables.flatMap(({ rows }) => rows.map((row) => row.decided_by)));
  const plain = names.filter((name, n) => n === 0 || (name !== 'lot' && name !== 'direct_encounter' && name !== 'objective_result'));
  const chosen = new Set([names[0], ...names.filter((name) => decided.has(name) && name !== 'lot').slice(0, 2)]);
  for (const name of plain) if (chosen.size < COLUMNS) chosen.add(name);
  return names.filter((name) => chosen.has(name));
}

/**
 * The tables of a stage. `of`: {name(n), me, opened: Set of keys that stay open, key}. `short`: so many rows, the
 * reader's own among them, and no explanations.
 */
export function standingTables(standings, of, { short = 0, only = null } = {}) {
  const columns = short ? [standings.criteria[0]] : columnsOf(standings);
  const several = standings.tables.length > 1;
  const tables = standings.tables.filter(({ group }) => only === null || group === only);
  return tables.map((table) => el('section', { class: 'standing' },
    several && table.group ? el('h3', {}, t('events.round.group', { name: groupName(table.group) })) : null,
    el('table', { class: `list standing-table${short ? ' short' : ''}` },
      el('thead', {}, el('tr', {},
        el('th', { scope: 'col' }, word('place')),
        el('th', { scope: 'col' }, word('player')),
        el('th', { scope: 'col', class: 'r spare' }, el('abbr', { title: word('played_full') }, word('played'))),
        el('th', { scope: 'col', class: 'r spare' }, el('abbr', { title: word('record_full') }, word('record'))),
        columns.map((name, n) => el('th', { scope: 'col', class: `r${n ? ' spare' : ''}` }, el('abbr', { title: t(`events.criterion.${name}.name`) }, t(`events.criterion.${name}.short`)))))),
      el('tbody', {}, rowsShown(table.rows, of.me, short).flatMap((row) => rowsOf(row, standings, columns, of, short))))));
}

function rowsShown(rows, me, short) {
  if (!short || rows.length <= short) return rows;
  const top = rows.slice(0, short);
  const mine = rows.find((row) => row.entrant === me);
  return !mine || top.includes(mine) ? top : [...top.slice(0, -1), mine];
}

function rowsOf(row, standings, columns, of, short) {
  const player = of.name(row.entrant);
  const key = `${of.key} ${standings.stage} ${row.entrant}`;
  const cells = [
    el('td', { class: 'num place' }, row.came ? row.place : '—'),
    null,
    el('td', { class: 'r spare' }, row.played),
    el('td', { class: 'r spare nowrap' }, `${row.wins}-${row.draws}-${row.losses}`),
    columns.map((name, n) => el('td', { class: `r${n ? ' spare' : ''}${name === row.decided_by && !short ? ' decided' : ''}` },
      n ? valueText(name, valueOf(row, name)) : el('b', {}, valueText(name, valueOf(row, name))))),
  ];
  const line = el('tr', { class: row.entrant === of.me ? 'me' : null });
  if (short) {
    cells[1] = el('td', { class: 'who' }, playerMark(player, { bold: false }));
    line.append(...cells.flat());
    return [line];
  }
  const id = `why-${of.key}-${standings.stage}-${row.entrant}`.replaceAll(' ', '-');
  const more = el('tr', { class: 'why', id, hidden: !of.opened.has(key) });
  const fill = () => { if (!more.children.length) more.append(el('td', { colspan: 4 + columns.length }, explanation(row, standings, of))); };
  if (of.opened.has(key)) fill();
  const button = el('button', { class: 'open-row', type: 'button', 'aria-expanded': String(of.opened.has(key)), 'aria-controls': id, click: () => {
    fill();
    more.hidden = !more.hidden;
    button.setAttribute('aria-expanded', String(!more.hidden));
    if (more.hidden) of.opened.delete(key);
    else of.opened.add(key);
  } }, playerMark(player, { bold: false }), el('span', { class: 'sr' }, word('open', { name: '' }).replace(/[:\s]+$/, '')), el('span', { class: 'chevron', 'aria-hidden': 'true' }));
  cells[1] = el('td', { class: 'who' }, button);
  line.append(...cells.flat());
  return [line, more];
}

const valueOf = (row, name) => row.values.find((value) => value.name === name).value;

/** What a place is made of: what set it apart, then every value with its parts. */
function explanation(row, standings, of) {
  const decided = row.decided_by === null ? word('first')
    : row.decided_by === 'never-played' ? word('decided_never')
      : word('decided', { name: criterionWord(row.decided_by) });
  return el('div', { class: 'why-box' },
    el('p', { class: 'small' }, decided),
    el('ol', { class: 'values' }, row.values.map((value) => el('li', { class: value.name === row.decided_by ? 'decided' : null },
      el('details', { open: value.name === standings.criteria[0] },
        el('summary', {}, el('span', {}, t(`events.criterion.${value.name}.name`)), el('b', { class: 'num' }, valueText(value.name, value.value))),
        el('div', { class: 'value-about' },
          el('p', { class: 'muted' }, t(`events.criterion.${value.name}.about`), value.why ? ` ${capital(word(value.why))}.` : ''),
          value.parts.length ? el('ul', { class: 'parts' }, value.parts.map((part) => partOf(part, value.name, of))) : null))))));
}

function partOf([round, opponent, value, why], name, of) {
  const signed = name === 'point_difference' || name === 'objective_result';
  const number = signed ? signedNumber(value) : valueText(name, value);
  return el('li', { class: why === 'cut' ? 'cut' : null },
    el('span', { class: 'muted' }, round ? word('part_round', { n: round }) : ''),
    el('span', { class: 'part-who' }, opponent === null ? '' : playerMark(of.name(opponent), { bold: false }), why ? el('small', { class: 'muted' }, word(why)) : null),
    el('span', { class: 'num' }, why === 'cut' ? el('s', {}, number) : number));
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** "Места по порядку показателей: …" */
export const orderLine = (standings) => word('order', { list: criteria(standings.criteria) });

// ---- cross-table -------------------------------------------------------------------------------------------

/** Everybody against everybody; wide ones scroll inside their own box. */
export function crossTable(table, of, caption) {
  const head = table.order.map((_, n) => el('th', { scope: 'col', class: 'c' }, n + 1));
  const rows = table.order.map((entrant, i) => el('tr', { class: entrant === of.me ? 'me' : null },
    el('th', { scope: 'row' }, el('span', { class: 'cross-who' }, el('span', { class: 'num muted' }, i + 1), playerMark(of.name(entrant), { bold: false }))),
    table.cells[i].map((cell, j) => (i === j ? el('td', { class: 'self' }, el('span', { class: 'sr' }, '—')) : el('td', { class: 'c' }, cell.map(crossCell))))));
  return el('div', { class: 'scroll-box', tabindex: 0, role: 'region', 'aria-label': caption },
    el('table', { class: 'cross-table' }, el('caption', { class: 'sr' }, caption), el('thead', {}, el('tr', {}, el('th', { class: 'corner' }, el('span', { class: 'sr' }, word('player'))), head)), el('tbody', {}, rows)));
}

function crossCell(cell) {
  if (cell.how === 'open') return el('span', { class: 'cross-cell open' }, el('span', { class: 'dots', 'aria-hidden': 'true' }, el('i'), el('i'), el('i')), el('span', { class: 'sr' }, t('events.round.open')));
  const other = cell.how === 'played' ? null : el('small', {}, t(`events.round.${cell.how}`));
  return el('span', { class: `cross-cell ${cell.outcome}` }, el('b', {}, cell.match_points), el('small', {}, signedNumber(cell.points)), other);
}

// ---- bracket -----------------------------------------------------------------------------------------------

/** The columns of a bracket: its rounds from the left to the right, each with its title. */
function bracketParts(slots, kind) {
  const groups = new Map();
  for (const slot of slots) {
    const round = /^[WL]\d+/.exec(slot.name)?.[0] ?? slot.name;
    groups.set(round, [...(groups.get(round) ?? []), slot]);
  }
  const upper = [...groups.keys()].filter((name) => name.startsWith('W'));
  const lower = [...groups.keys()].filter((name) => name.startsWith('L'));
  const title = (name) => {
    if (kind === 'single_elimination') return knockoutTitle(upper.length - Number(name.slice(1)));
    return t(`events.slot.${name[0] === 'W' ? 'upper' : 'lower'}_n`, { n: t('events.round.n', { n: name.slice(1) }).toLowerCase() });
  };
  const column = (name) => ({ title: title(name), slots: groups.get(name) });
  const ends = ['F', 'R'].filter((name) => groups.has(name)).map((name) => ({ title: t(`events.slot.${name === 'F' ? 'final' : 'final_again'}`), slots: groups.get(name) }));
  if (kind === 'single_elimination') {
    const columns = upper.map(column);
    if (groups.has('T')) columns.at(-1).below = { title: t('events.slot.third'), slots: groups.get('T') };
    return [{ columns }];
  }
  return [{ title: t('events.slot.upper'), columns: upper.map(column) }, { title: t('events.slot.lower'), columns: lower.map(column) }, { title: t('events.slot.final'), columns: ends }]
    .filter(({ columns }) => columns.length);
}

/** The bracket of an elimination. `meetings`: slot → the meeting in it, as the rounds show it. */
export function bracket(standings, meetings, of) {
  const seedOf = new Map(of.seeds.map((entrant, n) => [entrant, n + 1]));
  return el('div', { class: 'brackets' }, bracketParts(standings.bracket, standings.kind).map(({ title, columns }) => el('section', { class: 'bracket-part' },
    title ? el('h3', {}, title) : null,
    atNewest(columns, meetings, el('div', { class: 'scroll-box bracket', tabindex: 0, role: 'region', 'aria-label': title ?? word('bracket') },
      columns.map((column) => el('div', { class: 'bracket-column' },
        el(title ? 'h4' : 'h3', { class: 'bracket-round' }, column.title),
        el('ol', {}, column.slots.map((slot) => slotBox(slot, meetings.get(slot.name), of, seedOf))),
        column.below ? [el(title ? 'h4' : 'h3', { class: 'bracket-round below' }, column.below.title), el('ol', { class: 'below' }, column.below.slots.map((slot) => slotBox(slot, meetings.get(slot.name), of, seedOf)))] : null)))))));
}

/** A bracket wider than its box opens at the newest round. */
function atNewest(columns, meetings, box) {
  const newest = columns.findLastIndex(({ slots }) => slots.some(({ name }) => meetings.has(name)));
  requestAnimationFrame(() => {
    if (newest > 0) box.scrollLeft = box.children[newest].offsetLeft - box.children[0].offsetLeft;
  });
  return box;
}

function slotBox(slot, meeting, of, seedOf) {
  const bye = slot.over && slot.entrants.some((entrant) => entrant === null);
  const sides = slot.entrants.map((entrant, n) => side(slot, n, entrant, meeting, of, seedOf, bye));
  const href = meeting ? of.link(meeting) : null;
  const mine = of.me !== null && slot.entrants.includes(of.me);
  const told = meeting?.verdict?.told_apart_by ? t(`events.round.${meeting.verdict.told_apart_by}`) : null;
  const how = meeting?.verdict && !['played', 'open', 'bye'].includes(meeting.verdict.how) ? t(`events.round.${meeting.verdict.how}`) : told;
  return el('li', { class: `tie${mine ? ' mine' : ''}${bye ? ' bye' : ''}${meeting?.verdict?.how === 'open' ? ' playing' : ''}` },
    el(href ? 'a' : 'div', { class: 'tie-box', href }, sides, how ? el('span', { class: 'tie-how' }, how) : null));
}

function side(slot, n, entrant, meeting, of, seedOf, bye) {
  const won = slot.over && slot.winner !== null && slot.winner === entrant;
  if (entrant === null) {
    const [kind, what] = slot.feeds[n];
    return el('span', { class: 'tie-side unknown' }, bye ? t('events.slot.bye') : kind === 'seed' ? t('events.slot.seed', { n: what }) : t('events.slot.nobody'));
  }
  const points = meeting?.verdict && meeting.verdict.how !== 'open' && meeting.verdict.how !== 'bye' ? meeting.verdict.points[entrant === meeting.a ? 0 : 1] : null;
  return el('span', { class: `tie-side${won ? ' won' : slot.over ? ' lost' : ''}` },
    el('span', { class: 'tie-seed num' }, seedOf.get(entrant) ?? ''),
    el('span', { class: 'tie-name' }, playerMark(of.name(entrant), { bold: won })),
    won ? icon('check') : null,
    points === null ? null : el('span', { class: 'num' }, signedNumber(points)));
}

