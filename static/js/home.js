// The home page: make a match, enter by a link, join someone who waits, watch what is being played.

import { api, problemText } from './api.js';
import { Board } from './board.js';
import { alertBox, die, nameText, playerMark, side } from './figures.js';
import { lang, t } from './i18n.js';
import { moment } from './eventwords.js';
import { LiveCards } from './livecards.js';
import { el, icon, seatDisc, showPlayer, startPage } from './page.js';
import { clockShort, presetName, rulesetShort } from './rulewords.js';

const START = side({ 24: 2, 13: 5, 8: 3, 6: 5 });
const LOBBY_EVERY_MS = 4000;
const CLOCKS = {
  '1+6': { type: 'simple', bank_ms: 60000, delay_ms: 6000 },
  '4+12': { type: 'simple', bank_ms: 240000, delay_ms: 12000 },
  none: { type: 'none' },
};

const { session } = await startPage({ namespaces: ['site', 'rules'] });
let player = session?.player ?? null;
const byId = (id) => document.getElementById(id);

// ---- hero ------------------------------------------------------------------------------------------------

function drawSketch() {
  const boardOf = (color, words, label) => {
    const box = el('div');
    new Board(box, { kind: 'mini', label: t(label) }).draw({ white: START, black: START, color, last: null });
    box.append(el('p', {}, seatDisc(color), t(words)));
    return box;
  };
  byId('sketch').replaceChildren(
    boardOf('white', 'site.hero.youWhite', 'site.hero.boardX'),
    el('div', { class: 'mid' }, die(3), die(1), icon('swap')),
    boardOf('black', 'site.hero.youBlack', 'site.hero.boardY'));
}
drawSketch();

// ---- a name, asked once, where it is needed ----------------------------------------------------------------

function nameField(id) {
  const input = el('input', { name: 'player', id, autocomplete: 'nickname', maxlength: 40, required: true, 'aria-describedby': `${id}-hint` });
  return el('div', { class: 'ask-name' },
    el('label', { class: 'field', for: id }, t('site.new.name'), input),
    el('p', { class: 'muted small', id: `${id}-hint` }, t('site.new.name_hint')));
}

/** Sees to it that there is a player: true, or false after asking for the name that is missing. */
async function haveName(form) {
  if (player) return true;
  const input = form.elements.player;
  const name = input.value.trim();
  if (!name) {
    tell(form, t('site.new.name_needed'));
    input.focus();
    return false;
  }
  player = (await api.post('/api/session', { name })).player;
  showPlayer(player);
  for (const asked of document.querySelectorAll('.ask-name')) asked.remove();
  return true;
}

function tell(form, words) {
  form.querySelector('.notice')?.remove();
  if (words) form.append(alertBox(words));
}

// ---- new match -------------------------------------------------------------------------------------------

const NEW = { presets: [], preset: 'objective', ruleset: null, opponent: 'link', levels: [], level: 'beginner', open: false };

async function startForm() {
  const form = byId('create');
  try {
    const [answer, { computers }] = await Promise.all([api.get('/api/rulesets'), api.get('/api/computers')]);
    NEW.presets = answer.presets.filter((preset) => preset.ruleset.variant === 'short');
    NEW.levels = computers.map((computer) => computer.level);
  } catch (problem) {
    form.replaceChildren(el('h2', {}, t('site.new.title')), alertBox(problemText(problem)));
    return;
  }
  const asked = new URLSearchParams(location.search).get('preset');
  choosePreset(NEW.presets.some((preset) => preset.key === asked) ? asked : NEW.presets[0].key);
  drawForm(form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    create(form);
  });
}

function choosePreset(key) {
  NEW.preset = key;
  NEW.ruleset = structuredClone(NEW.presets.find((preset) => preset.key === key).ruleset);
}

const presetRuleset = () => NEW.presets.find((preset) => preset.key === NEW.preset).ruleset;

/** What differs from the preset, nested as the ruleset is. */
function changes(from, to) {
  const out = {};
  for (const [key, value] of Object.entries(to)) {
    if (value !== null && typeof value === 'object') {
      const inner = changes(from[key] ?? {}, value);
      if (Object.keys(inner).length) out[key] = inner;
    } else if (from[key] !== value) out[key] = value;
  }
  return out;
}

function setClock(clock) {
  Object.assign(NEW.ruleset.clock, clock);
  const { rated, time } = presetRuleset();
  if (clock.type === 'none') {
    NEW.ruleset.time.mode = 'off';
    NEW.ruleset.rated = false;  // ratings are for matches with a clock
  } else {
    NEW.ruleset.time.mode = time.mode;
    NEW.ruleset.rated = rated;
  }
}

function clockKey(ruleset) {
  const { type, bank_ms: bank, delay_ms: delay } = ruleset.clock;
  if (type === 'none') return 'none';
  if (type !== 'simple') return null;
  return Object.keys(CLOCKS).find((key) => CLOCKS[key].bank_ms === bank && CLOCKS[key].delay_ms === delay) ?? null;
}

function choice(name, legend, options, value, onpick) {
  return el('fieldset', {}, el('legend', {}, legend), el('div', { class: 'choice' },
    options.map(([key, words]) => el('label', {},
      el('input', { type: 'radio', name, value: key, checked: key === value, change: () => onpick(key) }), words))));
}

/** Radios, words and the panel are drawn once; afterwards only what they say is brought up to date. */
function drawForm(form) {
  const words = el('p', { class: 'words', id: 'words' });
  const open = el('button', { class: 'link', type: 'button', 'aria-expanded': 'false', 'aria-controls': 'keys' });
  const levels = choice('level', t('site.new.level'), NEW.levels.map((key) => [key, t(`common.level.${key}`)]), NEW.level, (key) => {
    NEW.level = key;
  });
  const panel = el('div', { class: 'rule-keys', id: 'keys', hidden: true });
  const button = el('button', { class: 'button primary', id: 'create-button' });
  const rated = el('span', { class: 'muted small', id: 'create-rated' });

  open.addEventListener('click', () => {
    NEW.open = !NEW.open;
    panel.hidden = !NEW.open;
    open.setAttribute('aria-expanded', String(NEW.open));
    refresh();
  });

  form.replaceChildren(...[
    el('h2', {}, t('site.new.title')),
    player ? null : nameField('create-name'),
    choice('clock', t('site.new.clock'), [['1+6', '1 + 6'], ['4+12', '4 + 12'], ['none', t('site.new.no_clock')]], null, (key) => {
      setClock(CLOCKS[key]);
      refresh();
    }),
    choice('opponent', t('site.new.opponent'), ['link', 'anyone', 'computer'].map((key) => [key, t(`site.new.${key}`)]), NEW.opponent, (key) => {
      NEW.opponent = key;
      refresh();
    }),
    levels,
    el('div', { class: 'words-box' }, words, open),
    panel,
    el('div', { class: 'row' }, button, rated),
  ].filter(Boolean));

  panel.append(...keyControls());

  function refresh() {
    const own = Object.keys(changes(presetRuleset(), NEW.ruleset)).length > 0;
    const name = presetName(NEW.preset, NEW.presets);
    words.replaceChildren(
      el('b', {}, own ? t('site.new.own', { preset: name }) : `${name}.`), ' ',
      rulesetShort(NEW.ruleset, { clock: clockKey(NEW.ruleset) === null, rated: false }).join(' '));
    open.textContent = t(NEW.open ? 'site.new.change_done' : 'site.new.change');
    button.textContent = t(NEW.opponent === 'computer' ? 'site.new.play_computer' : 'site.new.create');
    rated.textContent = t(!NEW.ruleset.rated ? 'site.new.unrated' : NEW.opponent === 'computer' ? 'site.new.computer_unrated' : 'site.new.rated');
    levels.hidden = NEW.opponent !== 'computer' || NEW.levels.length < 2;
    const key = clockKey(NEW.ruleset);
    for (const radio of form.querySelectorAll('input[name="clock"]')) radio.checked = radio.value === key;
    refreshKeys(panel);
  }
  NEW.refresh = refresh;
  refresh();
}

// ---- the keys people ask for --------------------------------------------------------------------------------

function keyControls() {
  const r = () => NEW.ruleset;
  const pick = (name, options, set) => {
    const select = el('select', { name, change: () => { set(select.value); NEW.refresh(); } }, options.map(([value, words]) => el('option', { value }, words)));
    return el('label', { class: 'field', 'data-key': name }, t(`site.keys.${name}`), select);
  };
  const figure = (name, { min, max, empty = false, hint = null }, set) => {
    const input = el('input', { name, type: 'number', inputmode: 'decimal', min, max, step: 'any', change: () => {
      const text = input.value.trim();
      const value = text === '' ? null : Number(text);
      const good = value === null ? empty : Number.isFinite(value) && value >= min && value <= max;
      input.setCustomValidity(good ? '' : t('site.keys.range', { label: t(`site.keys.${name}`), min, max }));
      if (!good) { input.reportValidity(); return; }
      set(value);
      NEW.refresh();
    } });
    return el('label', { class: 'field', 'data-key': name }, t(`site.keys.${name}`), input, hint ? el('small', { class: 'muted' }, hint) : null);
  };
  const words = (name, keys) => keys.map((key) => [key, t(`site.keys.${name}_${key}`)]);

  return [
    el('label', { class: 'field wide', 'data-key': 'preset' }, t('site.keys.preset'), presetSelect()),
    pick('scoring', words('scoring', ['pips', 'checkers', 'classic']), (value) => {
      r().scoring = value;
      if (value !== 'pips') r().pips_cap = null;
      if (value === 'classic') r().unfinished.mode = 'none';
    }),
    figure('cap', { min: 1, max: 375, empty: true, hint: t('site.keys.cap_hint') }, (value) => { r().pips_cap = value === null ? null : Math.round(value); }),
    pick('credit', words('credit', ['half', 'full', 'none']), (value) => {
      if (value === 'none') { r().unfinished.mode = 'none'; return; }
      Object.assign(r().unfinished, { mode: 'lead', num: 1, den: value === 'half' ? 2 : 1 });
    }),
    pick('time', words('time', ['linear', 'relative', 'off']), (value) => { r().time.mode = value; }),
    pick('clock', words('clock', ['simple', 'bronstein', 'fischer', 'per_move', 'none']), (value) => {
      const bank = r().clock.bank_ms || CLOCKS['4+12'].bank_ms;
      setClock({ type: value, bank_ms: bank });
    }),
    figure('bank', { min: 0.5, max: 120 }, (value) => { r().clock.bank_ms = Math.round(value * 60000); }),
    figure('delay', { min: 0, max: 120 }, (value) => { r().clock.delay_ms = Math.round(value * 1000); }),
    pick('peek', words('peek', ['live', 'start', 'off']), (value) => { r().peek = value; }),
    pick('rated', [['yes', t('site.keys.rated_yes')], ['no', t('site.keys.rated_no')]], (value) => { r().rated = value === 'yes'; }),
    el('p', { class: 'wide small' }, el('a', { id: 'rules-link', href: '/rules' }, t('site.new.rules_link'))),
  ];
}

function presetSelect() {
  const select = el('select', { name: 'preset', change: () => { choosePreset(select.value); NEW.refresh(); } },
    NEW.presets.map((preset) => el('option', { value: preset.key }, preset[lang()] ?? preset.en)));
  return select;
}

function refreshKeys(panel) {
  const r = NEW.ruleset;
  const creditOf = () => {
    if (r.unfinished.mode === 'none') return 'none';
    return r.unfinished.num === r.unfinished.den ? 'full' : 'half';
  };
  const values = {
    preset: NEW.preset, scoring: r.scoring, cap: r.pips_cap ?? '', credit: creditOf(), time: r.time.mode, clock: r.clock.type,
    bank: r.clock.bank_ms / 60000, delay: r.clock.delay_ms / 1000, peek: r.peek, rated: r.rated ? 'yes' : 'no',
  };
  const off = {
    cap: r.scoring !== 'pips',
    credit: r.scoring === 'classic',
    bank: r.clock.type === 'none' || r.clock.type === 'per_move',
    delay: r.clock.type === 'none',
  };
  for (const label of panel.querySelectorAll('[data-key]')) {
    const control = label.querySelector('select, input');
    const key = label.dataset.key;
    if (document.activeElement !== control || control.tagName === 'SELECT') control.value = values[key];
    control.disabled = Boolean(off[key]);
  }
  panel.querySelector('#rules-link').href = `/rules?preset=${NEW.preset}`;
}

async function create(form) {
  const button = byId('create-button');
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  tell(form, null);
  try {
    if (!await haveName(form)) return;
    const { preset, opponent } = NEW;
    const level = opponent === 'computer' ? NEW.level : null;
    const info = await api.post('/api/matches', { preset, ruleset: changes(presetRuleset(), NEW.ruleset), opponent, level });
    location.assign(`/match/${info.id}`);
  } catch (problem) {
    tell(form, problemText(problem));
  } finally {
    button.removeAttribute('aria-disabled');
  }
}

// ---- a link or a code ------------------------------------------------------------------------------------

/** The page of this site that a pasted link or code means, or null. Another site's address is never followed. */
function placeOfLink(text) {
  const given = text.trim();
  const path = /\/(join|match|replay)\/([A-Za-z0-9-]+)(#[\w=-]*)?\/?$/.exec(given.replace(/\?[^#]*/, ''));
  if (path) return `/${path[1]}/${path[2]}${path[3] ?? ''}`;
  return /^[A-Za-z0-9-]{3,64}$/.test(given) ? `/join/${given.toLowerCase()}` : null;
}

byId('have').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  const input = form.elements.link;
  const place = placeOfLink(input.value);
  tell(form, place ? null : t('site.have.bad'));
  if (place) location.assign(place);
  else input.focus();
});

// ---- lobby -----------------------------------------------------------------------------------------------

const shown = { waiting: '', mine: '', live: '' };
const cards = new LiveCards(byId('live'));
let asking = null;  // the id of the waiting match whose row asks for a name

function changed(part, value) {
  const text = JSON.stringify(value);
  if (shown[part] === text) return false;
  shown[part] = text;
  return true;
}

const makerOf = (info) => info.players.A ?? info.players.B;

function drawWaiting(list) {
  const box = byId('waiting');
  const visible = list.filter((info) => info.ruleset.variant === 'short');
  if (asking && !visible.some((info) => info.id === asking)) asking = null;
  if (box.contains(document.activeElement) && document.activeElement.matches('input')) return;  // somebody is writing a name
  if (!changed('waiting', [visible, asking, Boolean(player)])) return;
  if (!visible.length) {
    box.replaceChildren(el('p', { class: 'muted small' }, t('site.wait.none')));
    return;
  }
  box.replaceChildren(el('ul', { class: 'wait-list' }, visible.map((info) => {
    const maker = makerOf(info);
    const mine = info.seat !== null;
    const row = el('li', {},
      el('span', { class: 'wait-who' }, playerMark(maker), el('span', { class: 'muted' }, describe(info))),
      mine
        ? el('a', { class: 'button small-button', href: `/match/${info.id}` }, t('site.wait.yours'))
        : el('a', { class: 'small', href: `/match/${info.id}` }, t('site.wait.more')),
      mine ? null
        : el('button', { class: 'button small-button', type: 'button', 'aria-label': t('site.wait.play_with', { name: nameText(maker) }), click: () => playWith(info, row) }, t('site.wait.play')));
    return row;
  })));
}

/** "4 + 12, по тексту, без рейтинга": what a row of the list says about a match. */
function describe(info) {
  const parts = [clockShort(info.ruleset)];
  if (info.preset !== 'objective') parts.push(presetName(info.preset, NEW.presets).toLowerCase());
  if (!info.ruleset.rated) parts.push(t('site.new.unrated').toLowerCase());
  return parts.join(', ');
}

async function playWith(info, row) {
  if (!player) {
    if (asking === info.id) return;
    asking = info.id;
    const form = el('form', { class: 'ask-row', novalidate: true }, nameField(`name-${info.id}`), el('button', { class: 'button primary' }, t('site.wait.play')));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      tell(form, null);
      try {
        if (!await haveName(form)) return;
        asking = null;
        form.remove();
        await join(info, row);
      } catch (problem) {
        tell(form, problemText(problem));
      }
    });
    row.append(form);
    form.elements.player.focus();
    return;
  }
  await join(info, row);
}

async function join(info, row) {
  try {
    await api.post(`/api/matches/${info.id}/join`);
    location.assign(`/match/${info.id}`);
  } catch (problem) {
    row.querySelector('.notice')?.remove();
    row.append(alertBox(problemText(problem)));
  }
}

function drawMine(list) {
  const section = byId('mine');
  const visible = list.filter((info) => info.state === 'playing' || info.state === 'waiting');
  if (!changed('mine', visible)) return;
  section.hidden = !visible.length;
  section.replaceChildren(el('h2', {}, t(visible.length > 1 ? 'site.mine.title' : 'site.mine.one')),
    ...visible.map((info) => {
      const them = info.seat === 'B' ? info.players.A : info.players.B;
      const playing = info.state === 'playing';
      return el('a', { class: 'my-row', href: `/match/${info.id}` },
        el('span', { class: 'my-who' }, playing ? [t('site.mine.with'), ' ', playerMark(them)] : el('b', {}, t('site.mine.waiting')),
          el('span', { class: 'muted small' }, describe(info))),
        el('span', { class: playing ? 'button primary' : 'button' }, icon('next'), t(playing ? 'site.mine.continue' : 'site.mine.open')));
    }));
}

let timer = null;

async function lobby() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    const answer = await api.get('/api/lobby');
    document.querySelector('.lobby-lost')?.remove();
    drawMine(answer.mine);
    drawWaiting(answer.waiting);
    cards.draw(answer.live);
  } catch {
    if (!document.querySelector('.lobby-lost')) byId('waiting').after(el('p', { class: 'muted small lobby-lost', role: 'status' }, t('site.lobby.lost')));
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(lobby, LOBBY_EVERY_MS);
}

// ---- competitions: what begins soon, what is being played ----------------------------------------------------

const EVENTS = 3;

async function drawEvents() {
  const [coming, running] = await Promise.all(['coming', 'running'].map((when) => api.get(`/api/competitions?when=${when}&limit=${EVENTS}`)));
  const list = [...coming.competitions, ...running.competitions].slice(0, EVENTS);
  byId('events').hidden = !list.length;
  byId('events-list').replaceChildren(...list.map((one) => el('li', {},
    el('span', { class: 'wait-who' }, el('a', { href: `/events/${encodeURIComponent(one.id)}` }, one.title[lang()]),
      el('span', { class: 'muted' }, one.state === 'running' || !one.starts_at ? t(`site.events.${one.state}`) : t('site.events.starts', { at: moment(one.starts_at) }))))));
}

document.addEventListener('visibilitychange', lobby);
drawEvents().catch(() => {});  // the page is whole without them
await startForm();
await lobby();
