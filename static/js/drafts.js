// The half-made play on its way to the server, and back from my other tabs. A draft that comes in a view is either an
// echo of what this tab has sent, or what the server held before, or the work of another tab; only that is taken over.

const EVERY_MS = 150;      // the opponent who watches sees each step; more often would be noise
const ECHO_MS = 5000;      // a draft that has not come back by then was overtaken by a newer one

function key(moves) {
  return JSON.stringify(moves.map(([from, to]) => [from, to]));
}

export class Drafts {
  /** `current(turn)`: the Turn that is being made in the turn of that name, or null when there is none any more. */
  constructor(connection, current) {
    this.connection = connection;
    this.current = current;
    this.begin([]);
  }

  /** A new turn, of which the server holds this draft: nothing of the one before matters. */
  begin(draft) {
    clearTimeout(this.timer);  // what was to be sent of it would keep the first of this turn from being sent
    this.timer = null;
    this.echoes = [];
    this.last = key(draft);
  }

  /** The play has changed: it is sent a moment later, with whatever has changed by then. */
  changed(named) {
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      const turn = this.current(named);
      if (turn) this._send(named, turn);
    }, EVERY_MS);
  }

  _send(named, turn) {
    const moves = turn.moves.map(([from, to]) => [from, to]);
    const sent = key(moves);
    if (sent === this.last || !this.connection.send({ type: 'draft', turn: named, moves })) return;
    this.last = sent;
    this.echoes = [...this.echoes.slice(-20), sent];
    setTimeout(() => { this.echoes = this.echoes.filter((echo) => echo !== sent); }, ECHO_MS);
  }

  /** A view holds this draft. `fresh`: the first view of a new connection; `busy`: a checker is in the hand. */
  heard(draft, turn, { turn: named, fresh, busy }) {
    const held = key(draft);
    if (held === key(turn.moves)) {
      this.echoes = [];
      this.last = held;
    } else if (fresh && turn.path.length) {  // the server may have forgotten it; this tab has not
      this.last = held;
      this.changed(named);
    } else if (this.echoes.includes(held)) {
      this.echoes.splice(0, this.echoes.lastIndexOf(held) + 1);
    } else if (held !== this.last && !busy && !this.timer && !this.echoes.length && turn.adopt(draft)) {
      this.last = held;
    }
  }
}
