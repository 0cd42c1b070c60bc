// What every page shares: the header (brand, nav, connection badge, language, theme, name), the icon sprite,
// the page's scheme, and el(), the one way markup is made. Data only ever becomes text nodes and attributes,
// never markup, so nobody's name can.

import { api, problemText } from './api.js';
import { applyWords, hasWord, lang, loadWords, setLang, t } from './i18n.js';

const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set('svg use g path rect circle line text symbol defs title polyline'.split(' '));

/**
 * A new element. `attrs`: class, id, data-*, aria-* … as attributes; `onclick` and the like with a function as
 * listeners; true an empty attribute; null, undefined and false leave it out. Children: nodes, texts, lists; null skipped.
 */
export function el(tag, attrs = {}, ...children) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/** An icon of the sprite; decoration only, the words beside it carry the meaning. */
export function icon(name) {
  return el('svg', { class: 'icon', 'aria-hidden': 'true' }, el('use', { href: `#i-${name}` }));
}

/** The disc that stands for a colour. */
export function seatDisc(color) {
  return el('span', { class: `seat-disc ${color}` });
}

// ---- sprite ----------------------------------------------------------------------------------------------

const ICONS = {
  undo: '<path d="M4 8h8a4.5 4.5 0 0 1 0 9H8"/><path d="M8 4 4 8l4 4"/>',
  reset: '<path d="M4 10a6 6 0 1 0 2-4.5"/><path d="M6.5 2v4h-4" transform="translate(0 .2)"/>',
  check: '<path d="m4 10.5 4 4 8-9"/>',
  lock: '<rect x="4.5" y="9" width="11" height="8" rx="1.5"/><path d="M7 9V6.5a3 3 0 0 1 6 0V9"/>',
  swap: '<path d="M3 7h12"/><path d="m12 4 3 3-3 3"/><path d="M17 13H5"/><path d="m8 10-3 3 3 3"/>',
  fork: '<path d="M4 15h3c3 0 3-10 6-10h3"/><path d="M7 15h9" stroke-dasharray="2 3"/><path d="m13.5 2.5 2.5 2.5-2.5 2.5"/>',
  theme: '<circle cx="10" cy="10" r="6.5"/><path d="M10 3.5v13a6.5 6.5 0 0 0 0-13z" fill="currentColor"/>',
  menu: '<path d="M3 6h14M3 10h14M3 14h14"/>',
  again: '<path d="M4 9a6 6 0 0 1 10.5-3L16 7.5"/><path d="M16 3.5v4h-4"/><path d="M16 11a6 6 0 0 1-10.5 3L4 12.5"/><path d="M4 16.5v-4h4"/>',
  alert: '<circle cx="10" cy="10" r="7"/><path d="M10 6v5M10 13.8h0"/>',
  back: '<path d="M16 10H4"/><path d="m9 5-5 5 5 5"/>',
  next: '<path d="M4 10h12"/><path d="m11 5 5 5-5 5"/>',
  die: '<rect x="3" y="3" width="14" height="14" rx="3"/><path d="M7 7h0M13 13h0M10 10h0" stroke-width="2.6"/>',
  down: '<path d="M10 3v10"/><path d="m5.5 9 4.5 4.5L14.5 9"/><path d="M4 17h12"/>',
  eye: '<path d="M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5z"/><circle cx="10" cy="10" r="2.4"/>',
  flag: '<path d="M5 17V3.5h9l-2 3.25 2 3.25H5"/>',
  pass: '<path d="M4 10h12"/>',
  play: '<path d="M6 4v12l10-6z"/>',
  pause: '<path d="M6.5 4.5v11M13.5 4.5v11"/>',
  shield: '<path d="M10 2.5 16 5v5c0 4-2.7 6.3-6 7.5C6.7 16.3 4 14 4 10V5z"/><path d="m7 10 2.2 2.2L13.2 8"/>',
  copy: '<rect x="7" y="7" width="9.5" height="9.5" rx="1.5"/><path d="M4.5 13A1.5 1.5 0 0 1 3.5 11.5V5A1.5 1.5 0 0 1 5 3.5h6.5A1.5 1.5 0 0 1 13 4.5"/>',
  share: '<circle cx="15" cy="4.5" r="2.2"/><circle cx="5" cy="10" r="2.2"/><circle cx="15" cy="15.5" r="2.2"/><path d="m7 9 6-3.4M7 11l6 3.4"/>',
  settings: '<path d="M3 6h8M15 6h2M3 14h2M9 14h8"/><circle cx="13" cy="6" r="2"/><circle cx="7" cy="14" r="2"/>',
  device: '<rect x="3" y="4" width="10" height="8" rx="1.5"/><path d="M6 15.5h4"/><rect x="12" y="8" width="5" height="9" rx="1.2" fill="var(--surface)"/>',
  scales: '<path d="M10 3v13.5M6 16.5h8M4 6h12"/><path d="m4 6-2 5.5a2.3 2.3 0 0 0 4 0zM16 6l-2 5.5a2.3 2.3 0 0 0 4 0z"/>',
  cross: '<path d="m5 5 10 10M15 5 5 15"/>',
};

const PIPS = { 1: ['27,27'], 2: ['13,13', '41,41'], 3: ['13,13', '27,27', '41,41'], 4: ['13,13', '41,13', '13,41', '41,41'],
  5: ['13,13', '41,13', '27,27', '13,41', '41,41'], 6: ['13,13', '41,13', '13,27', '41,27', '13,41', '41,41'] };

function sprite() {
  const die = (n) => `<symbol id="d${n}" viewBox="0 0 54 54" overflow="visible"><rect class="die-body" x="1.5" y="1.5" width="51" height="51" rx="11"/>${
    PIPS[n].map((at) => `<circle class="die-pip" cx="${at.split(',')[0]}" cy="${at.split(',')[1]}" r="5"/>`).join('')}</symbol>`;
  const text = `<svg xmlns="${SVG}" class="sprite" aria-hidden="true">
    <symbol id="c" overflow="visible"><circle class="disc" r="27.5"/><circle class="ring" r="19"/></symbol>
    <symbol id="pc" overflow="visible"><circle class="disc" r="12.75"/><circle class="ring" r="8.5"/></symbol>
    ${[1, 2, 3, 4, 5, 6].map(die).join('')}
    ${Object.entries(ICONS).map(([name, body]) => `<symbol id="i-${name}" viewBox="0 0 20 20">${body}</symbol>`).join('')}
  </svg>`;
  return document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
}

// ---- scheme ----------------------------------------------------------------------------------------------

/** Is the page dark now, by the player's choice or the system's? */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function switchTheme() {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem('theme', theme); } catch { /* stays for this page */ }
  document.dispatchEvent(new CustomEvent('themechange'));
}

function applyTheme() {
  const root = document.documentElement;
  let stored = null;
  let board = null;
  try {
    stored = localStorage.getItem('theme');
    board = JSON.parse(localStorage.getItem('board-settings') ?? '{}').board;
  } catch { /* the system's scheme */ }
  if (stored === 'light' || stored === 'dark') root.dataset.theme = stored;
  root.dataset.board = board || (isDark() ? 'night' : 'slate');
}

// ---- header ----------------------------------------------------------------------------------------------

const NAV = [['/', 'play'], ['/events', 'events'], ['/rules', 'rules'], ['/dice', 'dice'], ['/records', 'records']];

function header() {
  const here = location.pathname;
  const current = (path) => (path === '/' ? here === '/' || /^\/(match|join)\//.test(here) : here.startsWith(path));
  const links = () => NAV.map(([path, word]) =>
    el('a', { href: path, 'aria-current': current(path) ? 'page' : null }, t(`common.nav.${word}`)));
  const other = lang() === 'ru' ? 'en' : 'ru';
  const menu = el('details', { class: 'menu' },
    el('summary', { class: 'button plain square', 'aria-label': t('common.nav.menu') }, icon('menu')),
    el('nav', { 'aria-label': t('common.nav.label') }, links(),
      el('button', { class: 'button plain', type: 'button', 'data-player': '', hidden: true, onclick: () => { menu.open = false; askName(); } })));
  // A touch outside or Escape puts it away.
  addEventListener('pointerdown', (event) => { if (!menu.contains(event.target)) menu.open = false; });
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    menu.open = false;
    menu.firstChild.focus();
  });
  return el('header', { class: 'top' },
    el('a', { class: 'brand', href: '/', 'aria-label': t('common.brand') },
      el('svg', { viewBox: '0 0 26 26', 'aria-hidden': 'true' },
        el('path', { d: 'M3 22 8.5 4 14 22z', fill: 'currentColor' }),
        el('path', { d: 'M12.5 4.8h10L17.5 21z', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.8, 'stroke-linejoin': 'round' })),
      el('span', {}, t('common.brand'))),
    el('nav', { 'aria-label': t('common.nav.label') }, links()),
    el('p', { class: 'where', id: 'where' }),
    el('div', { class: 'top-end' },
      el('span', { class: 'line-state', id: 'line-state', hidden: true }, el('span')),
      el('button', { class: 'button plain square', type: 'button', lang: other, 'aria-label': t('common.language.other'), onclick: () => setLang(other) }, other.toUpperCase()),
      el('button', { class: 'button plain square', type: 'button', 'aria-label': t('common.theme'), onclick: switchTheme }, icon('theme')),
      menu,
      el('button', { class: 'button plain player-name', type: 'button', 'data-player': '', hidden: true, onclick: askName })));
}

/** The badge in the header: 'on', 'connecting', 'lost', or null for a page without a connection. */
export function setLine(state) {
  const badge = document.getElementById('line-state');
  if (!badge) return;
  badge.hidden = state === null;
  badge.className = `line-state ${state ?? ''}`;
  badge.firstChild.textContent = state ? t(`common.line.${state}`) : '';
  badge.title = badge.firstChild.textContent;
}

/** The short place shown in the header of a phone ("Round 12"). */
export function setWhere(text) {
  const where = document.getElementById('where');
  if (where) where.textContent = text;
}

/**
 * What a player is called in the language of the page; what a computer's program is called stays in the record.
 * "Компьютер · мастер": its level belongs to its name.
 */
export function nameOf(player) {
  if (player.kind !== 'computer' || !hasWord('common.computer')) return player.name;
  const level = `common.level.${player.level}`;
  return player.level && hasWord(level) ? t('common.computer_level', { level: t(level) }) : t('common.computer');
}

/** A player as others see him: "Вера", or "Вера #k3f" when another one has the same name; "Зарик · бот" is a program. */
export function playerName(player) {
  if (!player) return '…';
  const name = player.tag ? `${nameOf(player)} #${player.tag}` : nameOf(player);
  return player.kind === 'bot' ? `${name} · ${t('common.bot')}` : name;
}

/** Shows the player in the header. `own`: it is this session's, who can change his name. */
export function showPlayer(player, own = true) {
  for (const slot of document.querySelectorAll('[data-player]')) {
    slot.hidden = !player;
    slot.textContent = player ? playerName(player) : '';
    slot.title = player && own ? t('common.name.change') : '';
    slot.disabled = !own;
  }
  shown = player;
}

let shown = null;  // the session's player

/** The personal link by which this browser came in is void, and nothing here is the reader's any more. */
export function sayLinkVoid() {
  showPlayer(null);
  if (location.pathname === '/enter' || document.getElementById('link-void')) return;  // there the new one is opened
  document.querySelector('main')?.before(el('div', { class: 'notice warn link-void', id: 'link-void', role: 'status' }, icon('alert'),
    el('span', {}, el('b', {}, t('common.link_void.title')), ' ', t('common.link_void.text'))));
}

/** Asks for another name; the page is loaded anew with it. */
function askName() {
  const input = el('input', { name: 'player', autocomplete: 'nickname', maxlength: 40, required: true });
  input.value = shown.name;
  const wrong = el('p', { class: 'loss small', role: 'alert', hidden: true });
  const form = el('form', { class: 'name-form', onsubmit: async (event) => {
    event.preventDefault();
    try {
      await api.post('/api/session', { name: input.value });
      location.reload();
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = problemText(error);
    }
  } },
  el('label', { class: 'field' }, t('common.name.label'), input), wrong,
  el('div', { class: 'row' }, el('button', { class: 'button primary' }, t('common.name.save')),
    el('button', { class: 'button plain', type: 'button', onclick: () => dialog.close() }, t('common.action.cancel'))),
  el('p', { class: 'small' }, el('a', { href: '/bots' }, t('common.name.bots'))));
  const dialog = el('dialog', { class: 'card ask', 'aria-label': t('common.name.change'), onclose: () => dialog.remove() }, form);
  document.body.append(dialog);
  dialog.showModal();
  input.select();
}

/**
 * Everything a page needs before its own work: words of `namespaces` (common and problems always), header, sprite,
 * scheme, words of marked elements, and the session. `title` is a word's key, or a text.
 * Returns {session}: what GET /api/session answered, {player: {...} or null}.
 */
export async function startPage({ namespaces = [], title = null } = {}) {
  applyTheme();
  const asked = api.get('/api/session').catch(() => ({ player: null }));
  await loadWords('common', 'problems', ...namespaces);
  setTitle(title && hasWord(title) ? t(title) : title);
  document.body.prepend(sprite(), header());
  applyWords(document.body);
  document.documentElement.classList.add('ready');
  const session = await asked;
  showPlayer(session.player);
  if (session.link_void) sayLinkVoid();
  if (session.player) import('./call.js').then(({ watchForCalls }) => watchForCalls());
  return { session };
}

/** The title of the window: "… — Objective nardy". */
export function setTitle(text) {
  document.title = text ? `${text} — ${t('common.brand').toLowerCase()}` : t('common.brand');
}
