// What the page says about a turn, as arguments of Prompt.set and Prompt.say: [strong, rest, options]. Why something
// cannot be done is read off the step graph.

import { notation, t } from './i18n.js';
import { BAR, OFF } from './geometry.js';
import { playText } from './turn.js';

/** What is next. */
export function whatIsNext({ view, turn, sent, looking, lost, closed, onBar, forced, alone }) {
  if (lost && closed) return [t('match.say.lost'), t('match.say.reload'), { warn: true }];
  if (lost) return [t('match.say.lost'), t(sent ? 'match.say.unsent' : 'match.say.safe'), { warn: true }];
  if (view.waits && view.stage === 'seeding') return [t('match.seeding.now'), t('match.seeding.others')];
  if (view.waits) return [t('match.say.othersNow'), t('match.say.others')];
  if (view.stage === 'seeding' && alone) return [t('match.say.wait'), t('match.seeding.alone')];
  if (view.stage === 'seeding') return [t('match.seeding.now'), t('match.seeding.text')];
  if (view.stage === 'paused') return [t('match.pause.now'), `${sentence(view.pause.reason)} ${t('match.pause.stands')}`];
  const played = view.mine?.played;
  if (played) {
    const passed = played.moves.length === 0;
    if (looking && !passed) return [t('match.say.playedThis', { play: notation(playText(played.moves)) }), t('match.say.swapSoon')];
    return [t(passed ? 'match.say.passed' : 'match.say.played'), t(looking ? 'match.say.swapSoon' : 'match.say.wait')];
  }
  if (sent) return [t('match.say.sending')];
  if (!turn) return [t('match.say.wait')];
  if (turn.empty) return [t('match.say.none'), t('match.say.serverPasses')];
  if (turn.whole) return [t('match.say.whole', { play: notation(turn.text) }), t(forced ? 'match.say.forced' : 'match.say.pressDone')];
  if (turn.path.length) return whatIsLeft(turn);
  return [t('match.say.roll', { roll: turn.order.join('-') }), t(onBar ? 'match.say.enter' : 'match.say.choose')];
}

function sentence(words) {
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}

function whatIsLeft(turn) {
  const { left, edges } = turn;
  const dice = left.join(turn.double ? '-' : ', ');
  const ways = new Set(edges.map(([from, to]) => `${from}/${to}`));
  const [from, to] = edges[0];
  const one = ways.size === 1 && from !== BAR && to !== OFF;
  return [t('match.say.left', { n: left.length, dice }), one ? t('match.say.one', { from, to }) : t('match.say.choose')];
}

/** Why Done is refused: the play is not whole. */
export function whyNotDone(turn) {
  const only = turn.path.length ? null : turn.onlyDie();
  const [from, to, die] = turn.example();
  const example = t('match.refuse.example', { play: notation(playText([[from, to, die, 0]])) });
  if (only) return [t(only.larger ? 'match.refuse.larger' : 'match.refuse.smaller', { die: only.die }), `${t('match.refuse.notBoth')} ${example}`, { warn: true }];
  const left = turn.path.length ? [die] : turn.left;
  return [t('match.refuse.more', { die: left.join(turn.double ? '-' : t('match.refuse.and')) }), example, { warn: true }];
}

/** Why a checker of mine cannot move. `barFirst`: another one stands on the bar. */
export function whyNotThere(turn, barFirst) {
  if (barFirst) return [t('match.refuse.bar'), '', { warn: true, ms: 4000 }];
  if (turn.whole) return [t('match.refuse.whole'), t('match.refuse.pressDone'), { ms: 4000 }];
  const only = turn.path.length ? null : turn.onlyDie();
  if (only?.larger) return [t('match.refuse.larger', { die: only.die }), t('match.refuse.notBoth'), { warn: true, ms: 5000 }];
  return [t('match.refuse.stuck'), '', { ms: 3000 }];
}

/** A checker is picked up: where it can go. */
export function whereTo(place, targets) {
  const name = (n) => (n === BAR ? t('common.board.bar.short') : n === OFF ? t('match.say.off') : n);
  return [t('match.say.picked', { from: name(place) }), t('match.say.targets', { targets: targets.map(name).join(', ') })];
}

/** The whole board for a screen reader. */
export function boardLabel({ game, color }, roll, dice, looking) {
  const parts = [t(looking ? 'match.board.peek' : 'match.board.label', { game, color: t(`common.color.${color}`) })];
  if (dice && roll) {
    parts.push(t('match.board.roll', { roll: roll.join('-') }));
    const gone = dice.filter((die) => die.used).map((die) => die.value);
    if (gone.length && gone.length < dice.length) parts.push(t('match.board.used', { dice: gone.join(', ') }));
  }
  return parts.join(' ');
}
