// The match page: finds out what the match is (waiting, being played, over), opens the connection and hands each view
// to the part that shows it.

import { api, problemText } from './api.js';
import { hasWord, t } from './i18n.js';
import { el, playerName, setLine, setTitle, setWhere, showPlayer, startPage } from './page.js';
import { Connection } from './socket.js';
import { Table } from './table.js';
import { Watch } from './watch.js';
import { renderWaiting } from './waiting.js';
import { takePart } from './seed.js';
import { play as sound } from './sound.js';

const main = document.getElementById('main');
const id = decodeURIComponent(location.pathname.split('/')[2] ?? '');
const watching = new URLSearchParams(location.search).has('watch');

let info = null;
let table = null;
let watch = null;
let connection = null;
let shownOver = '';
let isOut = false;  // the seat of this page is its no longer

async function start() {
  const { session } = await startPage({ namespaces: ['match'], title: 'match.title' });
  const path = `/api/matches/${encodeURIComponent(id)}`;
  const secret = /[#&]seat=([^&]+)/.exec(location.hash)?.[1];
  try {
    if (secret) {
      // The key of a seat must not stay in the address bar, in history or in a copied link.
      history.replaceState(null, '', location.pathname + location.search);
      await takeSeat(`${path}/seat`, decodeURIComponent(secret));
    }
    info = await api.get(path);
  } catch (error) {
    fail(problemText(error));
    return;
  }
  const seated = info.seat && info.players[info.seat];
  const own = session.player && seated && session.player.name === seated.name && session.player.tag === seated.tag;
  showPlayer(seated ?? session.player, !seated || own);  // on another device the seat is of somebody with another session
  if (info.state === 'waiting' || info.state === 'cancelled') waiting();
  if (info.state !== 'cancelled') connect();
}

/** Opens the seat in this browser; one that has no name yet gets one, for a session needs it. */
async function takeSeat(path, secret) {
  try {
    await api.post(path, { secret });
  } catch (error) {
    if (error.code !== 'no-name') throw error;
    await api.post('/api/session', { name: t('common.guest') });
    await api.post(path, { secret });
  }
}

function fail(title, ...texts) {
  main.className = 'page';
  main.replaceChildren(el('section', { class: 'card' }, el('h1', {}, title), texts.filter(Boolean).map((text) => el('p', {}, text)), el('p', {}, el('a', { class: 'button', href: '/' }, t('common.action.home')))));
}

function waiting() {
  main.className = 'page';
  setTitle(t('match.waiting.title'));
  renderWaiting(main, info, async (changed) => {
    info = changed;
    if (info.state !== 'cancelled') info = await api.get(`/api/matches/${encodeURIComponent(id)}`);
    if (info.state === 'waiting' || info.state === 'cancelled') waiting();
    if (info.state === 'cancelled') {
      connection?.close();
      setLine(null);
    }
    else if (!connection || connection.seat !== info.seat) connect();
  });
}

function connect() {
  connection?.close();
  connection = new Connection(id, { watch: watching, seat: info.seat });
  connection.addEventListener('line', ({ detail }) => {
    setLine(info.state === 'cancelled' || isOut ? null : detail);
    table?.line(detail);
  });
  connection.addEventListener('view', ({ detail }) => show(detail));
  connection.addEventListener('accepted', ({ detail }) => table?.accepted(detail));
  connection.addEventListener('problem', ({ detail }) => table?.problem(detail));
  connection.addEventListener('bye', ({ detail }) => bye(detail));
  connection.addEventListener('refused', ({ detail }) => refused(detail));
  setLine('connecting');
  connection.open();
}

function bye(reason) {
  if (reason === 'revoked') putOut(reason);
  else if (hasWord(`match.bye.${reason}`)) table?.bye(reason);
}

/** The server will not have this display, and has not taken leave of it. */
function refused(reason) {
  if (reason === 'revoked') putOut(reason);
  else if (reason === 'flood' || isOut) return;
  else if (isSeated()) loseSeat();
  else if (!watch) fail(problemText({ code: reason }));
}

const isSeated = () => !watching && Boolean(connection?.seat);

/** The page had a seat and comes back without one: the link was replaced while the line was lost, or somebody else came in. */
async function loseSeat() {
  if (isOut) return;
  isOut = true;
  setLine(null);
  connection.close();
  const session = await api.get('/api/session').catch(() => null);
  putOut(session?.link_void ? 'revoked' : 'seat');
}

/** Whoever opened this page may see it no longer: nothing of the match stays on the screen. */
function putOut(why) {
  isOut = true;
  const isUnsent = connection.unanswered('play').length > 0;
  connection.close();
  table?.leave();
  table = watch = null;
  setLine(null);
  showPlayer(null);
  setWhere('');
  fail(t(`match.bye.${why}.title`), isUnsent && t('match.bye.unsent'), t(`match.bye.${why}.text`));
}

addEventListener('link-void', (event) => {
  if (!connection || shownOver) return;
  event.preventDefault();  // it is said here, in place of the match
  if (!isOut) putOut('revoked');
});

setInterval(tick, 100);
document.addEventListener('visibilitychange', tick);

function tick() {
  if (!table && !watch) return;
  const now = connection.now();
  table?.tick(now);
  watch?.tick(now);
}

function show({ info: news, view, fresh }) {
  if (isOut) return;
  if (view && view.seat === null && view.stage !== 'over' && isSeated()) {
    loseSeat();
    return;
  }
  if (news) info = news;
  if (!view) {
    if (info.state === 'waiting' || info.state === 'cancelled') waiting();
    return;
  }
  takePart(connection, id, view);
  if (view.stage === 'over') {
    over(view);
    return;
  }
  if (view.seat === null) {
    if (!watch) {
      main.className = '';
      watch = new Watch(main);
      setTitle(t('match.watch.title', { a: playerName(info.players.A), b: playerName(info.players.B) }));
    }
    watch.show(info, view);
  } else {
    if (!table) {
      main.className = '';
      table = new Table(main, { info, connection });
    }
    table.show(info, view, fresh);
  }
  tick();
}

async function over(view) {
  const key = JSON.stringify([info, view]);
  if (key === shownOver) return;
  const first = !shownOver;
  shownOver = key;
  const live = Boolean(table || watch);
  if (live && first) sound('end');
  table?.leave();
  table = null;
  watch = null;
  const { renderResult } = await import('./result.js');
  main.className = 'page';
  setWhere('');
  setTitle(t('match.over.title'));
  const card = el('div', { class: 'result-card' });
  await renderResult(card, { info, view });
  main.replaceChildren(el('p', { class: 'sr', role: 'status', id: 'prompt' }), card);
  if (live && first) {
    // Said once it stands in the page: an empty live region that fills is read out.
    requestAnimationFrame(() => { document.getElementById('prompt').textContent = t('match.over.announce'); });
    scrollTo(0, 0);
  }
}

start();
