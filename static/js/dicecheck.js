// The dice check (§9): everything is computed here, in the browser, from the record of a finished match.
// check() is pure and has no page in it, so that it can be tested against the published vectors.

import { hmacSha256, sha256Hex } from './sha256.js';

export const FORMAT = 'nardy-match/1';
const ZERO_SEED = '0'.repeat(32);

export function bytesOf(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const hexOf = (bytes) => typeof bytes === 'string' ? bytes : Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/** The text from which one block of a phase's dice is made (§9.2). */
export function blockText(match, seeds, turn, counter) {
  return ['nardy-dice/1', match, seeds.A.toLowerCase(), seeds.B.toLowerCase(), Number.parseInt(turn, 10), turn.at(-1), counter].join('|');
}

/** The roll of a turn, how many opening doubles were rolled again, and the bytes taken, for explaining. */
export function rollOf({ match, seed, seeds, turn, reroll }) {
  const key = bytesOf(seed);
  const encoder = new TextEncoder();
  const blocks = [];
  function* stream() {
    for (let counter = 0; ; counter += 1) {
      const text = blockText(match, seeds, turn, counter);
      const block = bytesOf(hexOf(hmacSha256(key, encoder.encode(text))));
      blocks.push({ text, hex: hexOf(block) });
      for (const byte of block) if (byte < 252) yield byte;
    }
  }
  const source = stream();
  const die = () => {
    const byte = source.next().value;
    return { byte, value: (byte % 6) + 1 };
  };
  const again = reroll && turn === '1W';
  let rerolled = 0;
  for (;;) {
    const taken = [die(), die()];
    const roll = taken.map(({ value }) => value);
    if (!(again && roll[0] === roll[1])) return { roll, rerolled, taken, blocks };
    rerolled += 1;
  }
}

const nextTurn = (turn) => (turn.at(-1) === 'W' ? `${Number.parseInt(turn, 10)}K` : `${Number.parseInt(turn, 10) + 1}W`);
const sameRoll = (a, b) => Array.isArray(b) && b.length === 2 && ((a[0] === b[0] && a[1] === b[1]) || (a[0] === b[1] && a[1] === b[0]));
const isHex = (text, length) => typeof text === 'string' && new RegExp(`^[0-9a-f]{${length}}$`, 'i').test(text);

/** What a record lacks before it can be checked at all: a list of names, empty when nothing. */
export function missing(record) {
  const out = [];
  if (typeof record?.match !== 'string') out.push('match');
  if (!isHex(record?.dice?.commitment, 64)) out.push('dice.commitment');
  for (const seat of ['A', 'B']) if (!isHex(record?.dice?.seeds?.[seat], 32)) out.push(`dice.seeds.${seat}`);
  if (!Array.isArray(record?.phases)) out.push('phases');
  else if (record.phases.some((phase) => !/^\d+[WK]$/.test(phase?.turn) || !Array.isArray(phase?.roll))) out.push('phases.roll');
  return out;
}

/**
 * The whole check of a record of the format nardy-match/1 whose seed is revealed.
 * Returns {ok, commitment: {ok, computed}, seats: {A, B: {ok, kind, computed}}, rows, firstBad, gap}.
 */
export function check(record) {
  const { dice: { commitment, hashes = {}, seeds, defaulted = [], seed, own: shown } } = record;
  const match = record.dice_id ?? record.match;
  // A match that was given up has a roll more than it has finished phases.
  const phases = record.open?.turn && record.open.roll ? [...record.phases, record.open] : record.phases;
  const rules = record.ruleset ?? {};
  const reroll = (rules.variant ?? 'short') === 'short' && (rules.opening_double ?? 'reroll') === 'reroll';
  const computed = hexOf(sha256Hex(bytesOf(seed)));
  const commitmentOk = isHex(seed, 64) && computed === commitment.toLowerCase();

  const seats = {};
  for (const seat of ['A', 'B']) {
    const theirs = seat === 'A' && shown ? shown : seeds[seat];  // on shared dice A's is made from those of many
    const own = hexOf(sha256Hex(bytesOf(theirs)));
    if (defaulted.includes(seat)) seats[seat] = { kind: 'defaulted', ok: theirs === ZERO_SEED, computed: own };
    else if (!hashes?.[seat]) seats[seat] = { kind: 'no_hash', ok: false, computed: own };
    else seats[seat] = { kind: 'hash', ok: own === hashes[seat].toLowerCase(), computed: own };
  }

  let expected = '1W';
  let gap = null;
  const rows = phases.map(({ turn, roll: played }, n) => {
    if (turn !== expected && !gap) gap = { before: n ? phases[n - 1].turn : null, after: turn };
    expected = nextTurn(turn);
    const { roll, rerolled, taken, blocks } = rollOf({ match, seed, seeds, turn, reroll });
    return { turn, roll, played, rerolled, taken, blocks, ok: sameRoll(roll, played) };
  });
  const firstBad = rows.find((row) => !row.ok) ?? null;
  return { ok: commitmentOk && seats.A.ok && seats.B.ok && !firstBad && !gap, commitment: { ok: commitmentOk, computed }, seats, rows, firstBad, gap };
}
