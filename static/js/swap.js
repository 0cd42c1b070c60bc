// The swap as motion: people change seats, boards keep their places. The board just played shrinks into its slot of
// the strip while the other one grows out of its own onto the stage; the bands are wiped left to right by the new
// colour; the marker "you" moves. Everything follows one number, --t, from 0 to 1.

import { el } from './page.js';

const HOLD_MS = 150;
const CROSS_MS = 550;

function place(root, element) {
  const outer = root.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  return { x: inner.left - outer.left, y: inner.top - outer.top, w: inner.width, h: inner.height };
}

function still(element) {
  const copy = element.cloneNode(true);
  copy.removeAttribute('id');
  copy.querySelectorAll('[tabindex], [role]').forEach((part) => {
    part.removeAttribute('tabindex');
    part.removeAttribute('role');
  });
  copy.querySelector?.('.hit-areas')?.remove();
  return copy;
}

/** How the page looks now, to be called before the new view is drawn. `root` is the match's grid. */
export function before(root) {
  const of = (selector) => {
    const element = root.querySelector(selector);
    return element ? { copy: still(element), at: place(root, element) } : null;
  };
  return { board: of('.stage .board'), them: of('.stage .band.them'), me: of('.stage .band.me'), you: of('.tile .you:not(.look)') };
}

/**
 * Plays the change from `old` (of `before`) to what is drawn now. `from` and `to` are the games; `flat`: the new board
 * was on the stage already (it was being watched), so no board flies. Calls `done` when input may open.
 */
export function swap(root, old, { from, to, flat, done }) {
  const stage = root.querySelector('.stage');
  const board = stage.querySelector('.board');
  const slot = (game) => place(root, root.querySelector(`.tile[data-game="${game}"] .board`));
  const layer = el('div', { class: 'swap-layer', 'aria-hidden': 'true' });
  const flying = [];
  const fly = (copy, start, end, name) => {
    copy.classList.add('fly', name);
    const values = { x0: start.x, y0: start.y, w0: start.w, x1: end.x, y1: end.y, w1: end.w };
    for (const [key, value] of Object.entries(values)) copy.style.setProperty(`--${key}`, `${value}px`);
    layer.append(copy);
    flying.push(copy);
  };
  if (!flat && old.board) {
    fly(old.board.copy, old.board.at, slot(from), 'leaves');
    fly(still(board), slot(to), place(root, board), 'comes');
  }
  for (const band of [old.them, old.me]) {
    if (!band) continue;
    band.copy.classList.add('wiped');
    const { x, y, w, h } = band.at;
    Object.entries({ left: x, top: y, width: w, height: h }).forEach(([key, value]) => band.copy.style.setProperty(key, `${value}px`));
    layer.append(band.copy);
  }
  const you = root.querySelector('.tile .you:not(.look)');
  if (you && old.you) fly(old.you.copy, old.you.at, place(root, you), 'marker');
  root.append(layer);
  root.classList.add('swapping');
  root.classList.toggle('swapping-boards', !flat);

  let over = false;
  const start = performance.now();
  const finish = () => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    removeEventListener('pointerdown', finish, true);
    removeEventListener('keydown', finish, true);
    document.removeEventListener('visibilitychange', finish);
    layer.remove();
    root.classList.remove('swapping', 'swapping-boards');
    root.style.removeProperty('--t');
    done();
  };
  const frame = (now) => {
    if (over) return;
    const line = Math.min(1, Math.max(0, (now - start - HOLD_MS) / CROSS_MS));
    root.style.setProperty('--t', ease(line).toFixed(4));
    if (line < 1) requestAnimationFrame(frame);
    else finish();
  };
  const timer = setTimeout(finish, HOLD_MS + CROSS_MS + 60);  // frames may be withheld
  // Whoever is in a hurry finishes it by touching anything.
  addEventListener('pointerdown', finish, true);
  addEventListener('keydown', finish, true);
  document.addEventListener('visibilitychange', finish);
  root.style.setProperty('--t', '0');
  requestAnimationFrame(frame);
  if (document.hidden) finish();
}

/** The curve of --ease-swap (.65 0 .35 1), near enough. */
function ease(x) {
  return x < 0.5 ? 4 * x ** 3 : 1 - (-2 * x + 2) ** 3 / 2;
}

/** For whoever wants no motion: a short cross-fade. */
export function fade(root) {
  root.querySelector('.stage').animate?.([{ opacity: 0.2 }, { opacity: 1 }], { duration: 120 });
}
