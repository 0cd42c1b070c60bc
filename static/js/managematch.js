// One match before an arbiter: how far it is, what he may order, what was noted. It shows of a match what everybody may
// see, and nothing of the phase that is open (§5.4).

import { api, problemText } from './api.js';
import { groupName, isKnockout, moment, signedNumber, span } from './eventwords.js';
import { alertBox } from './figures.js';
import { t } from './i18n.js';
import { admin, ask, field, load, nameOf, page, refusal, scoreWords, word } from './managing.js';
import { el } from './page.js';

const REFRESH_MS = 3000;

/** Points for seat A as two fields: who has won, and by how much. `value()` reads them, `set()` fills them in. */
function scoreFields({ A, B }) {
  const winner = el('select', { id: 'score-winner', required: true }, el('option', { value: '' }, ''),
    el('option', { value: 'A' }, nameOf(A)), el('option', { value: 'B' }, nameOf(B)), el('option', { value: '0' }, word('match.draw')));
  const points = el('input', { id: 'score-points', type: 'number', inputmode: 'numeric', min: 1, max: 1_000_000, step: 1, required: true });
  const pointsField = field(word('match.points'), points);
  const refresh = () => {
    points.disabled = winner.value === '0';
    pointsField.hidden = winner.value === '0';
  };
  winner.addEventListener('change', refresh);
  return {
    fields: [field(word('match.winner'), winner), pointsField],
    value: () => (winner.value === '0' ? 0 : winner.value && points.value ? Number(points.value) * (winner.value === 'A' ? 1 : -1) : null),
    set: (net) => {
      winner.value = net === 0 ? '0' : net > 0 ? 'A' : 'B';
      points.value = net === 0 ? '' : Math.abs(net);
      refresh();
    },
  };
}

/** What a penalty takes: "очки −5, очки за встречи −2"; nothing if it takes none. */
export const takenWords = (points, matchPoints) => [points ? word('entrant.taken_points', { n: points }) : null, matchPoints ? word('entrant.taken_match', { n: matchPoints }) : null].filter(Boolean).join(', ');

/** A penalty for an entrant, asked for in words. */
export const penaltyOf = (number) => {
  const input = (name, max) => el('input', { id: `penalty-${name}`, type: 'number', inputmode: 'numeric', min: 0, max });
  const [match, points] = [input('match', 1000), input('points', 1_000_000)];
  return {
    title: `${word('entrant.penalty')}: ${nameOf(number)}`,
    will: () => {
      const taken = takenWords(Number(points.value), Number(match.value));
      return taken ? word('entrant.penalty_will', { name: nameOf(number), taken }) : word('entrant.penalty_ask');
    },
    fields: [field(word('entrant.penalty_points'), points), field(word('entrant.penalty_match'), match)],
    act: (options, reason) => api.post(`${admin}/entrants/${number}/penalties`, { match_points: Number(match.value), points: Number(points.value), reason }, options),
  };
};

/** The panel of a match. `where`: what its place is called. */
export function openMatch(match, where) {
  const at = `${admin}/matches/${encodeURIComponent(match.id)}`;
  const { A, B } = match.entrants;
  const people = [A, B].filter(Boolean);
  const panel = el('div', { class: 'match-panel' });
  const said = el('div', { role: 'status' });
  let [now, notes] = [null, []];  // MatchNow, NoteShown[]

  const dialog = el('dialog', { class: 'card ask match-dialog', 'aria-labelledby': 'match-title', close: () => { dialog.remove(); page.draw(); } },
    el('div', { class: 'row between match-head' }, el('h2', { id: 'match-title' }, `${nameOf(A)} – ${nameOf(B)}`),
      el('button', { class: 'button', type: 'button', click: () => dialog.close() }, word('match.close'))),
    el('p', { class: 'muted small' }, where, ' · ', el('a', { href: `/match/${encodeURIComponent(match.id)}` }, word('meeting.board'))),
    said, panel);

  async function look() {
    const [line, { notes: found }] = await Promise.all([api.get(at), api.get(`${admin}/notes?match=${encodeURIComponent(match.id)}`)]);
    const changed = JSON.stringify([line, found]) !== JSON.stringify([now, notes]);
    [now, notes] = [line, found];
    if (changed) draw();
  }

  /** Asks, does it, says so here, and looks again. */
  async function order(question, done) {
    await load().catch(() => {});  // results of other tables are no reason to refuse what is asked here
    const answer = await ask(question);
    if (answer === null) return;
    said.replaceChildren(el('p', { class: 'notice' }, done));
    await look().catch((problem) => said.replaceChildren(alertBox(refusal(problem))));
    panel.querySelector('button')?.focus();
  }

  const act = (key, question, { cls = '' } = {}) => el('button', { class: `button ${cls}`, type: 'button',
    click: () => order({ title: word(`match.${key}`), act: (_, reason) => api.post(`${at}/${key.replace('_', '-')}`, { reason }), ...question }, word(`match.${key}_done`)) }, word(`match.${key}`));

  // ---- how far it is -------------------------------------------------------------------------------------

  const settled = () => now.match.points && scoreWords(A, B, now.match.points.A);

  function stands() {
    const { match: line, standing } = now;
    if (line.state === 'over') return line.ending === 'void' ? [word('match.over_void')] : [word('match.over'), line.ending === 'played' ? null : `${t(`events.round.${line.ending}`)}.`, settled()];
    if (!standing) return [word('match.waits')];
    if (standing.state === 'over') return [word('match.counted')];
    const rounds = word('match.rounds', { n: standing.finished_rounds });
    if (standing.state === 'paused') return [word('match.paused', { at: moment(standing.paused_until) }), rounds];
    return [word('match.plays'), rounds, standing.state === 'pause-ordered' ? word('match.pause_comes') : null];
  }

  // ---- what may be ordered -------------------------------------------------------------------------------

  const longest = () => span(page.event.settings.ruleset.pause_max_s * 1000);
  const drawn = () => isKnockout(page.event.settings.stages[now.stage - 1].kind) ? ` ${word('match.drawn_again')}` : '';

  function running({ state }) {
    const stopped = state !== 'playing';
    return [
      stopped ? act('resume', { will: word(state === 'paused' ? 'match.resume_will' : 'match.resume_will_not') }, { cls: 'primary' })
        : act('pause', { will: word('match.pause_will', { time: longest() }) }),
      act('add_time', timeQuestion()),
      el('button', { class: 'button', type: 'button', click: adjudicate }, word('match.adjudicate')),
      act('result', resultQuestion(null)),
      act('void', { will: word('match.void_will') }, { cls: 'loss' }),
    ];
  }

  function over() {
    if (now.match.ending === 'void') return [];
    return [act('result', resultQuestion(settled())), act('replay', { will: word('match.replay_will', { was: settled() ?? '' }) }, { cls: 'loss' })];
  }

  function timeQuestion() {
    const seat = el('select', { id: 'time-seat' }, people.map((number) => el('option', { value: number === A ? 'A' : 'B' }, nameOf(number))));
    const minutes = el('input', { id: 'time-minutes', type: 'number', inputmode: 'decimal', min: 0.5, max: 1440, step: 0.5, value: 2, required: true });
    return {
      fields: [field(word('match.time_who'), seat), field(word('match.time_minutes'), minutes)],
      will: () => word('match.time_will', { name: nameOf(seat.value === 'A' ? A : B), time: span(Math.round(Number(minutes.value) * 60) * 1000) }),
      act: (_, reason) => api.post(`${at}/add-time`, { seat: seat.value, seconds: Math.round(Number(minutes.value) * 60), reason }),
    };
  }

  function resultQuestion(was) {
    const score = scoreFields({ A, B });
    return {
      fields: score.fields,
      will: () => {
        const points = score.value();
        if (points === null) return word(was ? 'match.result_was' : 'match.result_ask', { was });
        return word(was ? 'match.result_will_over' : 'match.result_will', { score: scoreWords(A, B, points), was }) + (points === 0 ? drawn() : '');
      },
      act: (_, reason) => api.post(`${at}/result`, { points_for_A: score.value(), reason }),
    };
  }

  /** A result after a look at what the match stands at; what it stood at goes back with it. */
  function adjudicate() {
    const score = scoreFields({ A, B });
    const box = el('div', { class: 'estimate', 'aria-live': 'polite' }, el('p', { class: 'muted' }, word('match.counting')));
    let estimate = null;
    let proposed = null;  // by the formula, as long as the arbiter has said nothing else
    const show = async () => {
      estimate = null;
      try {
        estimate = await api.get(`${at}/estimate`);
        box.replaceChildren(...estimateWords(estimate));
        if (score.value() === proposed) {
          proposed = estimate.formula_for_A;
          score.set(proposed);
        }
        box.dispatchEvent(new Event('change', { bubbles: true }));
      } catch (problem) {
        box.replaceChildren(alertBox(problemText(problem)));
      }
    };
    order({
      title: word('match.adjudicate'),
      fields: [box, score.fields],
      will: () => {
        const points = score.value();
        return !estimate || points === null ? word('match.adjudicate_ask') : word('match.result_will', { score: scoreWords(A, B, points) }) + (points === 0 ? drawn() : '');
      },
      act: async (_, reason) => {
        try {
          return await api.post(`${at}/adjudicate`, { points_for_A: score.value(), reason, confirm: estimate?.confirm ?? '' });
        } catch (problem) {
          if (problem.code === 'not-confirmed') await show();
          throw problem;
        }
      },
    }, word('match.adjudicate_done'));
    show();
  }

  function estimateWords({ round, formula_for_A: formula, equity_for_A: equity, judges }) {
    const line = (label, value, note = null) => el('div', {}, el('dt', {}, label), el('dd', {}, el('b', {}, value), note ? el('small', { class: 'muted' }, note) : null));
    const better = equity === null || Math.abs(equity) < 0.005 ? null : equity > 0 ? A : B;
    return [el('p', { class: 'small' }, word(round ? 'match.stood' : 'match.stood_none', { n: round })),
      el('dl', {},
        line(word('match.formula'), scoreWords(A, B, formula), word('match.formula_note')),
        equity === null ? line(word('match.computer'), word(round ? 'match.computer_none' : 'match.computer_none_yet'))
          : line(word('match.computer'), better === null ? word('match.computer_even') : `${nameOf(better)} ${signedNumber(Math.abs(equity))}`, word('match.computer_note', { judges: judges.join(', ') })))];
  }

  // ---- what was noted ------------------------------------------------------------------------------------

  function notesPart() {
    const text = el('textarea', { id: 'note-text', rows: 2, maxlength: 10000 });
    const wrong = el('div', { 'aria-live': 'polite' });
    const add = async () => {
      if (!text.value.trim()) { text.focus(); return; }
      try {
        await api.post(`${admin}/notes`, { text: text.value.trim(), match: match.id });
        text.value = '';
        await look();
      } catch (problem) {
        wrong.replaceChildren(alertBox(refusal(problem)));
      }
    };
    return el('section', { class: 'match-part' }, el('h3', {}, word('match.notes')),
      notes.length ? el('ul', { class: 'notes' }, notes.map((note) => el('li', {}, el('span', {}, note.text), el('small', { class: 'muted' }, moment(note.at))))) : null,
      field(word('match.note'), text), wrong,
      el('p', {}, el('button', { class: 'button small-button', type: 'button', click: add }, word('match.note_add'))));
  }

  function draw() {
    const written = panel.querySelector('#note-text')?.value ?? '';
    const standing = now.standing;
    const orders = now.match.state === 'over' ? over() : standing && standing.state !== 'over' ? running(standing)
      : standing ? [] : [act('result', resultQuestion(null)), act('void', { will: word('match.void_will') }, { cls: 'loss' })];
    panel.replaceChildren(
      el('p', { class: 'match-stands' }, stands().filter(Boolean).join(' ')),
      orders.length ? el('section', { class: 'match-part' }, el('h3', {}, word('match.orders')), el('div', { class: 'row match-acts' }, orders)) : '',
      el('section', { class: 'match-part' }, el('h3', {}, word('match.people')), el('div', { class: 'row match-acts' }, people.map((number) =>
        el('button', { class: 'button', type: 'button', click: () => order(penaltyOf(number), word('entrant.penalty_done')) }, `${word('entrant.penalty')}: ${nameOf(number)}`)))),
      notesPart());
    panel.querySelector('#note-text').value = written;
  }

  /** As long as it is open it shows how things are, unless somebody is in the middle of something. */
  async function keepUp() {
    while (dialog.isConnected) {
      await new Promise((resolve) => { setTimeout(resolve, REFRESH_MS); });
      const busy = document.hidden || document.activeElement?.matches('textarea') || [...document.querySelectorAll('dialog[open]')].at(-1) !== dialog;
      if (dialog.isConnected && !busy) await look().catch(() => {});
    }
  }

  document.body.append(dialog);
  dialog.showModal();
  panel.append(el('p', { class: 'muted' }, t('events.loading')));
  look().then(keepUp, (problem) => panel.replaceChildren(alertBox(refusal(problem))));
}

/** The place of a meeting within its round: "Стол 3", "A 2". */
export const tableName = (meeting) => (meeting.group ? `${groupName(meeting.group)} ${meeting.table}` : word('draft.table', { n: meeting.table }));
