// Hands on the board: taps, drags, keys, turned into steps of the half-made play (turn.js). Which places can be used
// is only ever asked of the step graph.

import { BAR, OFF } from './geometry.js';

const HOLD_MS = 450;        // a press this long plays the other die
const DOUBLE_MS = 350;
const SNAP_PX = 20;         // a tap or drop this near a legal place counts as on it
const DRAG_PX = { mouse: 4, pen: 5, touch: 8 };
const AGAIN_MS = 2500;      // for so long a second tap may still say where the tapped checker was meant to go

/**
 * `hand` is what the gestures act on:
 *   board, turn        the Board on stage and the Turn, or null when nothing can be moved
 *   pickFirst          true: a tap picks a checker up, a second one puts it
 *   changed(travel)    the play has changed; `travel` [[from, to], …] for checkers that should be seen moving
 *   show(picked, targets)   a checker is held (null: none) and may go there
 *   refused(place)     nothing can be moved from there
 *   picked(place, targets), letGo()   a checker was picked up to be put by a second tap or key, or let go of
 *   dice()             the dice were clicked
 */
export class Moving {
  constructor(hand) {
    this.hand = hand;
    this.held = null;     // place of a checker picked up by tap or key
    this.gesture = null;
    this.last = null;     // the last tap that played: {place, path, at, targets}
    this.bound = {
      pointerdown: (e) => this._down(e), pointermove: (e) => this._move(e), pointerup: (e) => this._up(e),
      pointercancel: () => this._cancel(), pointerleave: () => this._hover(null), contextmenu: (e) => this._menu(e), keydown: (e) => this._key(e),
      focusin: (e) => this._focus(e),
    };
  }

  /** Listens to this board's svg (and no longer to the one before). */
  attach(board) {
    for (const [name, listener] of Object.entries(this.bound)) {
      this.svg?.removeEventListener(name, listener);
      board.svg.addEventListener(name, listener);
    }
    this.svg?.removeEventListener('touchstart', this._guard);
    this.svg = board.svg;
    // A touch that begins on a checker that can move is a drag, never a scroll; anywhere else the page scrolls.
    this._guard = (event) => {
      const touch = event.changedTouches[0];
      if (!this.hand.turn || event.touches.length > 1) return;
      const at = this._at(touch.clientX, touch.clientY);
      if (this._draggable(at.place) && at.onStack && event.cancelable) event.preventDefault();
    };
    board.svg.addEventListener('touchstart', this._guard, { passive: false });
  }

  /** Lets go of everything: the turn or the board has changed. */
  forget() {
    this._cancel();
    this.held = null;
    this.last = null;
  }

  /** Lets go of a held checker; true if there was one. */
  letGo() {
    if (this.held === null) return false;
    this.held = null;
    this._show();
    this.hand.letGo();
    return true;
  }

  // ---- where ----

  _at(clientX, clientY) {
    const { board, turn } = this.hand;
    const [x, y] = board.spot(clientX, clientY);
    const targets = this.held !== null ? [...turn?.targets(this.held).keys() ?? []] : [];
    let place = board.geometry.placeAt(x, y, turn ? targets.includes(OFF) || this._offOpen() : false);
    const usable = [...new Set([...turn?.sources ?? [], ...targets, ...this._returnable(), ...this._again()])];
    if (turn && !usable.includes(place)) place = this._nearest(usable, x, y) ?? place;
    const count = place >= 0 ? board.count(board.state.color, place) : 0;
    return { x, y, place, onStack: place >= 0 && board.geometry.onStack(place, count, x, y) };
  }

  _offOpen() {
    return this.gesture?.targets?.includes(OFF) || (this.last && this.last.targets.has(OFF) && performance.now() - this.last.at < AGAIN_MS);
  }

  /** Places where a second tap may still say that the tapped checker was meant to go. */
  _again() {
    const { last } = this;
    return last && this.held === null && performance.now() - last.at < AGAIN_MS ? [...last.targets.keys()].filter((place) => place !== OFF) : [];
  }

  _nearest(places, x, y) {
    const { board } = this.hand;
    const within = SNAP_PX * board.unit();
    let best = null;
    for (const place of places) {
      const far = board.geometry.distance(place, x, y);
      if (far <= within && (!best || far < best.far)) best = { place, far };
    }
    return best?.place ?? null;
  }

  _returnable() {
    return this.hand.turn ? [...new Set(this.hand.turn.path.map((step) => step[1]))].filter((place) => place !== OFF) : [];
  }

  _draggable(place) {
    const { turn } = this.hand;
    return Boolean(turn) && (turn.sources.includes(place) || this._returnable().includes(place));
  }

  // ---- pointers ----

  _down(event) {
    const { board, turn } = this.hand;
    const [x, y] = board.spot(event.clientX, event.clientY);
    if (event.button === 0 && !event.ctrlKey && board.onDice(x, y)) {
      this.gesture = { dice: true, id: event.pointerId, x: event.clientX, y: event.clientY };
      return;
    }
    if (!turn) return;
    const at = this._at(event.clientX, event.clientY);
    if (event.button === 2 || (event.button === 0 && event.ctrlKey)) {
      this._play(at.place, true);
      return;
    }
    if (event.button !== 0 || this.gesture) return;
    const touch = event.pointerType !== 'mouse';
    this.gesture = {
      id: event.pointerId, x: event.clientX, y: event.clientY, place: at.place, onStack: at.onStack, kind: event.pointerType,
      draggable: this._draggable(at.place) && (!touch || at.onStack), dragging: false,
      targets: this._goals(at.place),
    };
    if (touch) this.gesture.timer = setTimeout(() => this._hold(), HOLD_MS);
    if (this.gesture.draggable) this.svg.setPointerCapture?.(event.pointerId);
    if (turn.sources.includes(at.place) && this.held === null) this._show(at.place);
  }

  /** Places a dragged checker may be dropped on: forward by the graph, or back to where it came from. */
  _goals(place) {
    const { turn } = this.hand;
    return [...turn.targets(place).keys(), ...turn.returns(place)];
  }

  _move(event) {
    const { gesture } = this;
    if (!gesture) {
      if (event.pointerType === 'mouse' && this.hand.turn) this._hover(this._at(event.clientX, event.clientY).place);
      return;
    }
    if (event.pointerId !== gesture.id || gesture.dice) return;
    const far = Math.hypot(event.clientX - gesture.x, event.clientY - gesture.y);
    if (!gesture.dragging) {
      if (far < (DRAG_PX[gesture.kind] ?? 5)) return;
      clearTimeout(gesture.timer);
      if (!gesture.draggable) {
        if (gesture.kind === 'mouse') return;
        this._cancel();  // a swipe
        return;
      }
      gesture.dragging = true;
      this.held = null;
      this._show(gesture.place);
      this.hand.board.lift(gesture.place);
    }
    this.hand.board.dragTo(...this.hand.board.spot(event.clientX, event.clientY));
  }

  _up(event) {
    const { gesture } = this;
    if (!gesture || event.pointerId !== gesture.id) return;
    clearTimeout(gesture.timer);
    if (gesture.dice) {
      this.gesture = null;
      if (Math.hypot(event.clientX - gesture.x, event.clientY - gesture.y) < 12) this.hand.dice();
      return;
    }
    if (gesture.dragging) {
      const [x, y] = this.hand.board.spot(event.clientX, event.clientY);
      const over = this.hand.board.geometry.placeAt(x, y, gesture.targets.includes(OFF));
      const place = gesture.targets.includes(over) ? over : over === gesture.place ? null : this._nearest(gesture.targets, x, y);
      this.hand.board.drop();
      this.gesture = null;
      if (place === null) this._show();
      else this._put(gesture.place, place, false);
      return;
    }
    this.gesture = null;
    if (Math.hypot(event.clientX - gesture.x, event.clientY - gesture.y) > 24) this._show();
    else this._tap(gesture.place, gesture);
  }

  _hold() {
    const { gesture } = this;
    if (!gesture || gesture.dragging) return;
    this.gesture = null;
    this._play(gesture.place, true);
  }

  _cancel() {
    if (!this.gesture) return;
    clearTimeout(this.gesture.timer);
    if (this.gesture.dragging) this.hand.board.drop();
    this.gesture = null;
    this._show();
  }

  _menu(event) {
    event.preventDefault();  // the right button plays the other die
  }

  _hover(place) {
    if (this.gesture || this.held !== null || !this.hand.turn) return;
    const over = place !== null && this.hand.turn.sources.includes(place) ? place : null;
    if (over === this.hovered) return;
    this.hovered = over;
    this._show(over);
  }

  // ---- what a tap means ----

  _tap(place, { onStack }) {
    const { turn } = this.hand;
    const now = performance.now();
    if (this.held !== null) {
      const from = this.held;
      const double = place === from && now - this.heldAt < DOUBLE_MS && turn.targets(from).has(OFF);
      if (double) this._put(from, OFF);
      else if (turn.targets(from).has(place)) this._put(from, place);
      else if (place !== from && turn.sources.includes(place)) this._pick(place);
      else this.letGo();
      return;
    }
    if (this.hand.pickFirst) {
      if (turn.sources.includes(place)) this._pick(place);
      else this.hand.refused(place);
      return;
    }
    const last = this.last;
    if (last && now - last.at < AGAIN_MS && turn.path.length === last.path.length + last.steps) {
      // Double click: off, whatever the first click had played.
      if (place === last.place && now - last.at < DOUBLE_MS && last.targets.has(OFF) && last.to !== OFF) {
        this._instead(last, OFF);
        return;
      }
      // A second tap on where the tapped checker might have gone says where it was meant to go.
      const free = !turn.sources.includes(place) || (!onStack && place !== last.to);
      if (last.targets.has(place) && free) {
        if (place !== last.to) this._instead(last, place);
        return;
      }
      if (place === last.to && now - last.at < DOUBLE_MS * 2 && place !== last.place) return;  // its target, tapped to be sure
    }
    this._play(place, false);
  }

  _instead(last, place) {
    const { turn } = this.hand;
    turn.path = [...last.path];
    this.last = null;
    turn.make(last.targets.get(place));
    this._changed([[last.place, place]]);
  }

  /** A click on a source: one step by the left die, or by the other one. */
  _play(place, other) {
    const { turn } = this.hand;
    const step = turn.stepFrom(place, other);
    this.held = null;
    if (!step) {
      this.last = null;
      this._show();
      this.hand.refused(place);
      return;
    }
    this.last = { place, to: step[1], path: [...turn.path], steps: 1, at: performance.now(), targets: turn.targets(place) };
    turn.make([step]);
    this._changed([[place, step[1]]]);
  }

  _pick(place) {
    this.held = place;
    this.heldAt = performance.now();
    this._show();
    this.hand.picked(place, [...this.hand.turn.targets(place).keys()]);
  }

  _put(from, place, travel = true) {
    const { turn } = this.hand;
    const steps = turn.targets(from).get(place);
    this.held = null;
    this.last = null;
    if (steps) turn.make(steps);
    else if (!turn.takeBack(from, place)) {
      this._show();
      return;
    }
    this._changed(travel ? [[from, place]] : []);
  }

  _changed(travel) {
    this.hovered = null;
    this.hand.changed(travel);
  }

  _show(pressed = null) {
    const { turn } = this.hand;
    const place = this.held ?? pressed ?? null;
    if (!turn || place === null) this.hand.show(null, []);
    else this.hand.show(place, this.gesture?.dragging ? this.gesture.targets : [...turn.targets(place).keys()]);
  }

  // ---- keys on the board ----

  /** The roving focus follows the real one, whoever moved it. */
  _focus(event) {
    const place = event.target.dataset?.place;
    if (place !== undefined) this.hand.board.focused = Number(place);
  }

  _key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const { board, turn } = this.hand;
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (by) {
      event.preventDefault();
      board.focus(this._step(board, ...by));
      return;
    }
    if (event.key !== 'Enter' || !turn) return;
    event.preventDefault();
    const place = board.focused;
    if (this.held === null) {
      if (turn.sources.includes(place)) this._pick(place);
      else this.hand.refused(place);
    } else if (turn.targets(this.held).has(place)) this._put(this.held, place);
    else if (turn.sources.includes(place) && place !== this.held) this._pick(place);
    else this.letGo();
  }

  _step(board, dx, dy) {
    const top = [13, 14, 15, 16, 17, 18, BAR, 19, 20, 21, 22, 23, 24, OFF];
    const bottom = [12, 11, 10, 9, 8, 7, BAR, 6, 5, 4, 3, 2, 1, OFF];
    const rows = board.geometry.homeLeft ? [top.reverse(), bottom.reverse()] : [top, bottom];
    const here = board.focused;
    let row = rows[0].includes(here) ? 0 : 1;
    if (here === BAR || here === OFF) row = this.row ?? 0;
    let column = rows[row].indexOf(here) + dx;
    column = Math.max(0, Math.min(13, column));
    if (dy) row = dy < 0 ? 0 : 1;
    this.row = row;
    return rows[row][column];
  }
}
