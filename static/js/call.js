// A player is called to his match: the bar on every page while a match of an event waits for him, and a soft ring.
// Words: 'common'.

import { api } from './api.js';
import { formatClock, lang, t } from './i18n.js';
import { el, icon, sayLinkVoid } from './page.js';
import { play as sound } from './sound.js';

const EVERY_MS = 15_000;
const HIDDEN_MS = 45_000;
const SOON_MS = 120_000;

/** Rings and shakes softly, once for each `what` in this browser. */
export function ring(what) {
  try {
    if (localStorage.getItem('rung') === what) return;
    localStorage.setItem('rung', what);
  } catch { /* rings again after a reload */ }
  sound('call');
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.([80, 120, 80]);  // else the browser refuses
}

let bar = null;
let ahead = 0;  // the server's clock before this one (ms)
let shown = null;
let titled = null;  // the page's title as it was, and with the call in it

/**
 * Asks now and then what is next for the player in his events, and shows the bar. A page of its own event shows more. Who
 * is in no event all at once may be nobody any more: his link was replaced (event 'link-void', for pages that say it so).
 */
export async function watchForCalls() {
  const here = location.pathname;
  let hadSome = false;
  for (let entered = null; entered === null || entered.length;) {
    try {
      const answer = await api.get('/api/my/competitions');
      ahead = answer.now - Date.now();
      entered = answer.entered;
      draw(most(entered, here));
      if (hadSome && !entered.length && (await api.get('/api/session')).link_void) {
        if (dispatchEvent(new Event('link-void', { cancelable: true }))) sayLinkVoid();
      }
      hadSome ||= entered.length > 0;
    } catch {
      entered ??= [{ mine: { next: { at: null } } }];  // not known: asked again
    }
    await wait(entered);
  }
}

/** Until it is time to ask again: at once when the page is seen again, earlier when something is about to begin. */
function wait(entered) {
  const now = Date.now() + ahead;
  const next = Math.min(document.hidden ? HIDDEN_MS : EVERY_MS, ...entered.map(({ mine }) => mine.next.at - now + 500).filter((ms) => ms > 0));
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
      resolve();
    };
    const seen = () => { if (!document.hidden) done(); };
    const timer = setTimeout(done, Math.max(1000, next));
    document.addEventListener('visibilitychange', seen);
  });
}

/** What calls the player loudest: a match that waits, then a check-in, then one that is about to begin. */
function most(entered, here) {
  const now = Date.now() + ahead;
  const calls = entered
    .filter(({ competition, mine: { next } }) => here !== `/events/${competition.id}` && here !== `/match/${next.match}`)
    .map((one) => ({ ...one, rank: rank(one.mine.next, now) }))
    .filter(({ rank: loud }) => loud);
  return calls.sort((a, b) => a.rank - b.rank)[0] ?? null;
}

function rank(next, now) {
  if (next.kind === 'play' && next.is_made) return 1;
  if (next.kind === 'check-in') return 2;
  return next.kind === 'starts' && next.at && next.at - now < SOON_MS ? 3 : 0;
}

function draw(call) {
  const key = call && JSON.stringify(call);
  if (key === shown) return;
  shown = key;
  bar?.remove();
  bar = null;
  document.documentElement.classList.toggle('called', Boolean(call));
  if (titled && document.title === titled.called) document.title = titled.plain;
  titled = null;
  if (!call) return;
  const { competition, mine: { next } } = call;
  const [href, button, until, words] = {
    play: [`/match/${next.match}`, 'go', next.missed_from, () => t('common.call.waits')],
    'check-in': [`/events/${competition.id}`, 'check_now', next.at, () => t('common.call.check', { n: time(next.at) })],
    starts: [`/events/${competition.id}`, 'open', next.at, () => t('common.call.starts', { n: time(next.at) })],
  }[next.kind];
  const said = el('b', {});
  const clock = el('span', { class: 'num', role: 'timer' });
  const tell = () => {
    said.textContent = words();
    clock.textContent = next.kind === 'play' && until > Date.now() + ahead ? t('common.call.left', { n: time(until) }) : '';
  };
  tell();
  bar = el('aside', { class: `call-bar${document.querySelector('.match') || /^\/match\//.test(location.pathname) ? ' over-header' : ''}`, 'aria-label': t('common.call.label') },
    el('p', { role: 'status' }, icon('play'), el('span', {}, said, ' ', el('span', { class: 'call-title' }, competition.title[lang()])), clock),
    el('a', { class: 'button', href }, t(`common.call.${button}`)));
  document.body.append(bar);
  const mine = bar;
  const ticking = setInterval(() => (mine.isConnected ? tell() : clearInterval(ticking)), 1000);
  if (next.kind !== 'play') return;
  ring(next.match);
  titled = { plain: document.title, called: `${t('common.call.waits')} — ${document.title}` };
  document.title = titled.called;  // seen from another tab
}

const time = (at) => formatClock(at - Date.now() - ahead + 999);
