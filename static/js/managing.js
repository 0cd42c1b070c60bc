// What the parts of an organiser's page share: the competition as it is, how something is wished, how one is asked first.
// It speaks to /api/admin/v1; every wish says for which state it is meant, so nothing is done to a competition that has
// changed meanwhile.

import { api, problemText } from './api.js';
import { alertBox, nameText } from './figures.js';
import { hasWord, signed, t } from './i18n.js';
import { el, icon } from './page.js';

export const id = decodeURIComponent(location.pathname.split('/')[2] ?? '');
export const admin = `/api/admin/v1/events/${encodeURIComponent(id)}`;
export const word = (key, params) => t(`organise.${key}`, params);

/** `event`: the OrganiserView; `draw`: shows it anew; `name`: its name alone; `notice`: where is said what came of a wish. */
export const page = { event: null, draw: () => {}, name: () => {}, notice: el('div', { role: 'status' }) };

export const isOver = () => ['finished', 'cancelled'].includes(page.event.view.state);
export const isBefore = () => ['announced', 'entry'].includes(page.event.view.state);
export const stageNow = () => page.event.view.stages.at(-1) ?? null;
export const entrantOf = (number) => (number === 0 ? { name: '', tag: null, kind: 'computer' } : page.event.entrants.find(({ entrant }) => entrant.number === number)?.entrant ?? null);
export const nameOf = (number) => (number === null ? word('draft.bye') : nameText(entrantOf(number)));

export async function load() {
  page.event = await api.get(admin);
}

/** Says what came of a wish above the parts of the page, where whoever pressed a button far below is taken. */
export function tell(...content) {
  page.notice.replaceChildren(...content.filter(Boolean));
  if (page.notice.firstChild) page.notice.scrollIntoView({ block: 'nearest' });
}

// ---- wishes ------------------------------------------------------------------------------------------------

let underWay = Promise.resolve();  // the newest wish: the next one is meant for what it leaves

/** Carries out a wish meant for the state that is shown; what is refused is said, and the page shows how it is now. */
export function wish(act) {
  underWay = underWay.catch(() => {}).then(() => carryOut(act));
  return underWay;
}

async function carryOut(act) {
  try {
    const answer = await act({ version: page.event.version });
    tell();
    await load();
    page.draw();
    return answer;
  } catch (problem) {
    await afterRefusal(problem);
    tell(alertBox(refusal(problem)));
    return null;
  }
}

/** Whoever was refused since all had changed is shown how it is now. */
async function afterRefusal(problem) {
  if (problem.code !== 'stale-version') return;
  await load();
  page.draw();
}

/** A refusal in words; the faults of pairings with the players' names, a setting by what it is called here. */
export function refusal(problem) {
  if (problem.code === 'stale-version') return word('stale');
  const faults = faultsOf(problem);
  if (faults.length) return faults.map(faultWords).join('; ');
  const key = `organise.set.of.${String(problem.params?.key ?? '').replace('.', '_')}`;
  if (problem.code === 'bad-settings' && hasWord(key)) return t('problems.bad-settings', { key: `«${t(key)}»` });
  return problemText(problem);
}

const faultsOf = (problem) => (problem.code === 'bad-pairings' ? String(problem.params.faults ?? '').split(' ').filter((fault) => fault.includes(':')) : []);

/** Whether pairings are only what the rules would not do, which a reason excuses. */
export const isExcusable = (problem) => faultsOf(problem).length > 0 && !faultsOf(problem).some((fault) => /^(twice|stranger|alone):/.test(fault));

export function faultWords(fault) {
  const [kind, numbers] = fault.split(':');
  return word(`draft.fault.${kind}`, { who: numbers.split('-').map((number) => nameOf(Number(number))).join(' – ') });
}

/**
 * Asks before something is done. `will`: what will happen, a text, an element, or a function that says it anew when a
 * field changes; `fields`: what else is to be said; `reason`: 'needed', 'perhaps' or 'none'. `act(options, reason)` does
 * it. What is refused is said in the dialog, which stays with all that was written. The answer, or null if it is not to be.
 */
export function ask({ title, will = null, fields = [], reason = 'needed', ok = word('reason.ok'), act }) {
  return new Promise((resolve) => {
    let answer = null;
    const said = el('div', { class: 'will' });
    const wrong = el('div', { 'aria-live': 'polite' });
    const say = () => { const words = typeof will === 'function' ? will() : will; said.replaceChildren(...(words ? [words] : [])); };
    const why = el('input', { name: 'reason', maxlength: 1000, required: reason === 'needed', 'aria-describedby': 'reason-hint', autocomplete: 'off' });
    const go = el('button', { class: 'button primary', value: 'ok' }, ok);
    const confirmed = async () => {
      if (go.getAttribute('aria-disabled') === 'true') return;
      go.setAttribute('aria-disabled', 'true');
      wrong.replaceChildren();
      await underWay.catch(() => {});
      try {
        answer = await act({ version: page.event.version }, why.value.trim());
        await load().catch(() => {});  // before the page can be touched again: the next wish is meant for what is now
        dialog.close();
      } catch (problem) {
        await afterRefusal(problem);
        wrong.replaceChildren(alertBox(refusal(problem)));
        go.removeAttribute('aria-disabled');
      }
    };
    const form = el('form', { class: 'name-form', input: say, change: say, submit: (submitted) => { submitted.preventDefault(); confirmed(); } },
      el('h2', {}, title), said, fields,
      reason === 'none' ? null : el('label', { class: 'field' }, word('reason.label'), why, el('small', { class: 'muted', id: 'reason-hint' }, word(reason === 'needed' ? 'reason.hint' : 'reason.hint_perhaps'))),
      wrong,
      el('div', { class: 'row' }, go, el('button', { class: 'button plain', type: 'button', click: () => dialog.close() }, word('reason.cancel'))));
    const dialog = el('dialog', { class: 'card ask', 'aria-label': title, close: () => { dialog.remove(); resolve(answer); } }, form);
    document.body.append(dialog);
    dialog.showModal();
    say();
    (form.querySelector('.field input, .field select') ?? go).focus();
  });
}

/** Asks, does it, and shows how it is then. */
export async function askAndDo(question) {
  const answer = await ask(question);
  if (answer === null) return null;
  tell();
  page.draw();
  return answer;
}

/** A button that wishes something; `asks` asks first: title, will, fields, reason as `ask` has them. */
export function button(words, act, { cls = '', asks = null, sign = null } = {}) {
  const element = el('button', { class: `button ${cls}`, type: 'button', click: async () => {
    if (asks) { await askAndDo({ title: words, ...asks, act }); return; }
    if (element.getAttribute('aria-disabled') === 'true') return;
    element.setAttribute('aria-disabled', 'true');
    await wish(act);
    element.removeAttribute('aria-disabled');
  } }, sign ? icon(sign) : null, words);
  return element;
}

export const post = (path, data = {}) => (options) => api.post(`${admin}${path}`, data, options);
export const withReason = (path, data = {}) => (options, reason) => api.post(`${admin}${path}`, { ...data, reason }, options);

// ---- fields and words --------------------------------------------------------------------------------------

/** A field with its label, and a hint below. */
export function field(label, input, hint = null) {
  const hintId = `${input.id || input.name}-hint`;
  if (hint) input.setAttribute('aria-describedby', hintId);
  return el('label', { class: 'field' }, label, input, hint ? el('small', { class: 'muted', id: hintId }, hint) : null);
}

/** A moment as a field for date and time has it: in the viewer's own zone. */
export function localTime(ms) {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What such a field says, as ms; null if it is empty. */
export const timeOf = (input) => (input.value ? new Date(input.value).getTime() : null);

/** A score between two entrants by the points of the first: "Вера +12, Борис −12". */
export function scoreWords(a, b, points) {
  if (points === 0) return word('match.drawn');
  return `${nameOf(a)} ${signed(points)}, ${nameOf(b)} ${signed(-points)}`;
}
