// The connection of one display. It reconnects by itself, waits longer after each failure and a little at random,
// answers pings at once, and keeps what must not be lost (plays, resignation, seeds) until the server has answered
// for it: the same message with the same id goes out again on every new connection.

import { randomId } from './api.js';
import { ServerTime } from './clock.js';

const SILENT_MS = 21_000;    // the server speaks at least every 10 s
const MISSED_MS = 11_000;    // once it should have spoken: whoever comes back to the page does not wait longer
const TRYING_MS = 2_000;     // a connection that is being made for so short a time is left to it
const ANSWER_MS = 6_000;     // an unanswered message on a silent line means the line is dead
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8_000;
const REFUSED = 1008;        // the server will not have this display: asking again would not help

/**
 * Events (CustomEvent, detail): 'view' {info, view, fresh: first one of this connection}, 'accepted' {id, message},
 * 'problem' {id, message, problem}, 'line' 'connecting' | 'on' | 'lost', 'bye' reason, 'refused' reason: this display is
 * not wanted, and asks no more.
 */
export class Connection extends EventTarget {
  constructor(match, { watch = false, seat = null } = {}) {
    super();
    this.match = match;
    this.watch = watch;
    this.seat = seat;      // that of the page: what it has not sent yet is sent from this seat alone
    this.time = new ServerTime();
    this.line = 'connecting';
    this.waiting = this._restore();
    this.failures = 0;
    this.closed = false;   // by the page, or by a server that will not have this display
    this.stopped = null;   // the server said it restarts: the time of that, until it is back
    setInterval(() => this._check(), 1000);
    addEventListener('online', () => this._soon());
    addEventListener('offline', () => this._line('lost'));
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) {
        const slept = this.time.woke();
        if (this.line !== 'on' || slept > MISSED_MS || this._silence() > MISSED_MS) this._soon();
        else this.time.measure();
      }
    });
  }

  open() {
    if (this.closed || (this.socket && this.socket.readyState <= WebSocket.OPEN)) return;
    clearTimeout(this.timer);
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/ws/matches/${encodeURIComponent(this.match)}${this.watch ? '?watch=1' : ''}`);
    this.socket = socket;
    this.since = performance.now();
    this.fresh = true;
    socket.onmessage = (event) => this._frame(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (event.code === REFUSED) this.closed = true;
      if (socket === this.socket) this._lost();
      if (event.code === REFUSED) this._tell('refused', event.reason);
    };
    socket.onerror = () => socket.close();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  /** The server's time; while it restarts it stands still, for nobody pays for that. */
  now() {
    return this.stopped ?? this.time.now();
  }

  /** Sends what may be lost (drafts); false if there is no connection. */
  send(frame) {
    if (this.socket?.readyState !== WebSocket.OPEN || this.line !== 'on') return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  /** Sends what must arrive, with an id of its own. Returns the id. */
  deliver(frame) {
    const message = { ...frame, id: frame.id ?? randomId() };
    this.waiting.set(message.id, message);
    this._keep();
    this._sentAt = performance.now();
    this.send(message);
    return message.id;
  }

  /** Messages of this type still without an answer. */
  unanswered(type) {
    return [...this.waiting.values()].filter((message) => message.type === type);
  }

  // ---- frames ----

  _frame(frame) {
    this.since = performance.now();
    if (frame.now) this.time.note(frame.now);
    if (!this.fresh && this.line !== 'on') this._on();  // whatever was said of the line, it carries
    if (frame.ping !== undefined) this.socket.send(JSON.stringify({ type: 'pong', ping: frame.ping }));
    switch (frame.type) {
      case 'view': {
        const fresh = this.fresh;
        this.fresh = false;
        this.failures = 0;
        this.stopped = null;
        if (fresh) {
          this.time.measure();
          this._on({ mine: !frame.view || frame.view.seat === this.seat });
        }
        this._tell('view', { info: frame.info ?? null, view: frame.view, fresh });
        break;
      }
      case 'accepted':
      case 'problem': {
        const message = this.waiting.get(frame.id) ?? null;
        this.waiting.delete(frame.id);
        this._keep();
        this._tell(frame.type, { id: frame.id, message, problem: frame.problem });
        break;
      }
      case 'bye':
        if (frame.reason === 'flood') this.closed = true;
        if (frame.reason === 'restart') this.stopped = frame.now;
        this._tell('bye', frame.reason);
        break;
      default:
    }
  }

  // ---- the line ----

  _line(state) {
    if (this.line === state) return;
    this.line = state;
    this._tell('line', state);
  }

  /**
   * What has waited goes out first; what a view gives rise to is sent as it is delivered. Who comes back to another seat,
   * or to none, keeps it: it would be refused, or be somebody else's play.
   */
  _on({ mine = true } = {}) {
    this._line('on');
    if (mine) for (const message of this.waiting.values()) this.send(message);
  }

  _lost() {
    this.socket = null;
    this._line('lost');
    if (this.closed) return;
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.failures++);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), longest * (0.5 + Math.random() / 2));
  }

  /** At once, and on a new connection: what the old one is worth nobody knows. */
  _soon() {
    if (this.closed || (this.socket?.readyState === WebSocket.CONNECTING && this._silence() < TRYING_MS)) return;
    this.failures = 0;
    this._drop();
    this.open();
  }

  /** A dead line takes its time to close; nobody waits for it. */
  _drop() {
    const dead = this.socket;
    this.socket = null;
    if (!dead) return;
    dead.onclose = null;
    dead.close();
  }

  _silence() {
    return performance.now() - this.since;
  }

  _check() {
    if (!this.socket) return;
    const silent = this._silence();
    const asked = this.waiting.size > 0 && performance.now() - this._sentAt > ANSWER_MS && silent > ANSWER_MS;
    const stuck = this.socket.readyState === WebSocket.CONNECTING && silent > SILENT_MS / 2;
    if (silent > SILENT_MS || asked || stuck) {
      this._sentAt = performance.now();
      this._drop();
      this._lost();
    }
  }

  // ---- what must not be lost survives a reload of the page ----

  _kept() {
    return `unsent-${this.match}-${this.seat}`;
  }

  _restore() {
    try {
      return new Map(JSON.parse(sessionStorage.getItem(this._kept()) ?? '[]').map((m) => [m.id, m]));
    } catch {
      return new Map();
    }
  }

  _keep() {
    try {
      sessionStorage.setItem(this._kept(), JSON.stringify([...this.waiting.values()]));
    } catch { /* then it lives as long as the page */ }
  }

  _tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
