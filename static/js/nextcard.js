// What is next for the reader in a competition: to enter, to wait, to say that he is there, to go to the board.
// Words: 'events'.

import { api, problemText } from './api.js';
import { left, moment, roundsOf } from './eventwords.js';
import { alertBox, nameText } from './figures.js';
import { reasonWords, t } from './i18n.js';
import { el, icon, showPlayer } from './page.js';

const word = (key, params) => t(`events.${key}`, params);

/** The card; `changed()` is called after something was done. Nothing for a stranger to whom entry is closed for good. */
export function nextCard({ view, session, path, serverNow, nameOf, changed }) {
  const { mine } = view;
  if (mine && !(mine.status === 'withdrawn' && mayEnter(view))) return [mineCard({ view, mine, path, serverNow, nameOf, changed })];
  if (['finished', 'cancelled'].includes(view.state) || (view.state === 'running' && !mayEnter(view))) return [];
  return [enterCard({ view, mine, session, path, serverNow, changed })];
}

// ---- an entrant --------------------------------------------------------------------------------------------

function mineCard({ view, mine, path, serverNow, nameOf, changed }) {
  const { next } = mine;
  const at = next.at ? moment(next.at, serverNow()) : null;
  const name = next.opponent ? nameText(nameOf(next.opponent)) : null;
  let title = word(`next.${next.kind}`, { name });
  let said = word(`next.${next.kind}_p`, { at });
  let until = null;
  let label = null;
  let action = null;
  switch (next.kind) {
    case 'entered': {
      const opens = view.settings.entry.check_in_ms && !mine.checked_in && next.at !== view.settings.starts_at;
      if (mine.checked_in && at) said = word('next.checked_in', { at });
      else if (opens) said = word('next.check_opens', { at });
      else if (at) said = word('next.entered_at', { at });
      [until, label] = [next.at, word(opens ? 'next.until_check' : 'next.until_start')];
      break;
    }
    case 'check-in':
      [until, label] = [next.at, word('next.until_start')];
      action = doing(word('next.check_button'), 'check', () => api.post(`${path}/check-in`), changed);
      break;
    case 'play':
      if (!name) title = word('next.play_computer');
      said = word(next.missed_from > serverNow() ? 'next.play_p' : 'next.play_late', { at: moment(next.missed_from, serverNow(), { today: false }) });
      [until, label] = [next.missed_from > serverNow() ? next.missed_from : null, word('next.left')];
      action = next.is_made
        ? el('a', { class: 'button primary big', href: `/match/${next.match}`, id: 'next-go' }, icon('next'), word('next.go'))
        : el('p', { class: 'state' }, word('next.making'));
      break;
    case 'done':
      if (allPlayed(view)) said = word('next.done_all');
      break;
    case 'starts':
      if (!name) title = word('next.starts_computer');
      if (!at) said = word('next.starts_hand');
      [until, label] = [next.at, word('next.until_start')];
      break;
    case 'over': {
      const place = view.places.find(({ entrant }) => entrant === mine.entrant);
      said = place ? word('next.over_p', { place: place.place }) : word('next.over_none');
      break;
    }
    case 'cancelled':
      said = reasonWords(view.over_because);
      break;
    default:
  }
  if (['done', 'waits', 'out'].includes(next.kind) && allPlayed(view) && isLastRound(view)) {
    title = word('next.out');
    said = word('next.out_all');
  }
  const active = ['play', 'check-in', 'starts'].includes(next.kind);
  return el('section', { class: `next-card${active ? ' active' : ''}`, 'aria-labelledby': 'next-title' },
    el('div', { class: 'next-words' },
      el('h2', { id: 'next-title' }, title),
      said ? el('p', {}, said) : null),
    until && until > serverNow() ? countdown(until, label, serverNow) : null,
    action ? el('div', { class: 'next-do' }, action) : null,
    active || ['entered', 'waits', 'done', 'asked'].includes(next.kind)
      ? el('div', { class: 'next-foot' }, next.kind === 'asked' ? null : autoGo(), ['entered', 'asked', 'play', 'starts', 'check-in', 'waits', 'done', 'bye', 'rest'].includes(next.kind) ? withdrawing(path, changed) : null) : null);
}

/** Is the newest round played out, so that it is the organiser's turn? */
export function allPlayed({ stages, settings }) {
  const meetings = stages.at(-1)?.rounds.at(-1)?.meetings ?? [];
  return settings.pace.mode === 'manual' && meetings.length > 0 && meetings.every(({ verdict }) => verdict && verdict.how !== 'open');
}

/** Is no round to come after the newest? Where that hangs on results, nobody knows. */
function isLastRound({ stages, settings }) {
  const stage = stages.at(-1);
  const of = roundsOf(stage.rules, stage.seeds, stage.groups);
  return stages.length === settings.stages.length && of !== null && stage.rounds.length >= of;
}

/** A clock that runs down to `until`; it is read out only when it is asked for. */
function countdown(until, label, serverNow) {
  const figures = el('b', { class: 'num' }, left(until - serverNow()));
  const box = el('p', { class: 'countdown', role: 'timer' }, figures, el('span', {}, label));
  const ticking = setInterval(() => {
    if (!box.isConnected) { clearInterval(ticking); return; }
    figures.textContent = left(until - serverNow());
  }, 500);
  return box;
}

function autoGo() {
  let on = false;
  try { on = localStorage.getItem('event-go') === 'yes'; } catch { /* off */ }
  return el('label', { class: 'tick' }, el('input', { type: 'checkbox', id: 'auto-go', checked: on, change: (event) => {
    try { localStorage.setItem('event-go', event.target.checked ? 'yes' : 'no'); } catch { /* for this page alone it is of no use */ }
  } }), word('next.auto'));
}

/** A button that does something once, and says what was refused. */
function doing(words, sign, act, changed, cls = 'primary big') {
  const box = el('div', { class: 'stack' });
  const button = el('button', { class: `button ${cls}`, type: 'button', click: async () => {
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    box.querySelector('.notice')?.remove();
    try {
      await act();
      await changed();
    } catch (problem) {
      box.append(alertBox(problemText(problem)));
    } finally {
      button.removeAttribute('aria-disabled');
    }
  } }, sign ? icon(sign) : null, words);
  box.append(button);
  return box;
}

function withdrawing(path, changed) {
  return el('details', { class: 'withdraw' }, el('summary', { class: 'button plain small-button' }, word('enter.withdraw')),
    el('div', { class: 'withdraw-box' }, el('p', { class: 'small' }, word('enter.withdraw_ask')),
      el('div', { class: 'row' },
        doing(word('enter.withdraw_yes'), null, () => api.post(`${path}/withdraw`), changed, 'small-button'),
        el('button', { class: 'button plain small-button', type: 'button', click: (event) => { event.target.closest('details').open = false; } }, word('enter.withdraw_no')))));
}

// ---- somebody who may enter --------------------------------------------------------------------------------

/** May somebody enter now, as far as the page can tell? The server decides. */
function mayEnter({ state, settings: { entry }, stages, entrants }) {
  if (entry.capacity && entrants.filter(({ status }) => status === 'entered').length >= entry.capacity) return false;
  if (state === 'entry') return true;
  return state === 'running' && stages.length === 1 && stages[0].rounds.length < entry.late_rounds;
}

function enterCard({ view, mine, session, path, serverNow, changed }) {
  const { entry, starts_at: starts } = view.settings;
  const at = (ms) => moment(ms, serverNow());
  const why = [];
  if (mayEnter(view)) {
    why.push(word(`enter.mode_${entry.mode}`));
    if (view.state === 'running') why.push(word('enter.late'));
    else if (entry.closes_at) why.push(word('enter.until', { at: at(entry.closes_at) }));
  } else if (view.state === 'announced') why.push(word('enter.announced'));
  else why.push(word(view.state === 'entry' ? 'enter.full' : 'enter.closed'));
  const words = el('div', { class: 'next-words' },
    el('h2', { id: 'next-title' }, word(mine ? 'next.withdrawn' : 'enter.title')),
    el('p', {}, why.join(' ')));
  const until = starts && starts > serverNow() && view.state !== 'running' ? countdown(starts, word('next.until_start'), serverNow) : null;
  const card = el('section', { class: `next-card${mayEnter(view) ? ' active' : ''}`, 'aria-labelledby': 'next-title' }, words, until);
  if (mayEnter(view)) card.append(enterForm({ view, mine, session, path, changed }));
  return card;
}

function enterForm({ view, mine, session, path, changed }) {
  const { mode } = view.settings.entry;
  const name = session.player ? null : el('input', { name: 'player', id: 'enter-name', autocomplete: 'nickname', maxlength: 40, required: true, 'aria-describedby': 'enter-name-hint' });
  const code = mode === 'code' && !mine ? el('input', { name: 'code', id: 'enter-code', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', maxlength: 64, required: true, 'aria-describedby': 'enter-code-hint' }) : null;
  const button = el('button', { class: 'button primary big', id: 'enter-button' }, word(mine ? 'enter.again' : mode === 'approved' ? 'enter.ask' : 'enter.button'));
  const form = el('form', { class: 'next-do enter-form', novalidate: true },
    name ? el('label', { class: 'field' }, word('enter.name'), name, el('small', { class: 'muted', id: 'enter-name-hint' }, word('enter.name_hint'))) : null,
    code ? el('label', { class: 'field' }, word('enter.code'), code, el('small', { class: 'muted', id: 'enter-code-hint' }, word('enter.code_hint'))) : null,
    button);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    form.querySelector('.notice')?.remove();
    if (name && !name.value.trim()) {
      form.append(alertBox(word('enter.name_needed')));
      name.focus();
      return;
    }
    button.setAttribute('aria-disabled', 'true');
    try {
      if (name) {
        session.player = (await api.post('/api/session', { name: name.value.trim() })).player;
        showPlayer(session.player);
      }
      await api.post(`${path}/enter`, { code: code ? code.value.trim() : null });
      document.activeElement?.blur();  // what is written is done with: the card may be drawn anew
      await changed();
    } catch (problem) {
      form.append(alertBox(problemText(problem)));
      if (code) code.focus();
    } finally {
      button.removeAttribute('aria-disabled');
    }
  });
  return form;
}
