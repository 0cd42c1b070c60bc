// Small synthesised tones. No audio exists before the player's first touch; of several tabs only the one he used
// last is heard; each kind can be muted.

import { settings } from './settings.js';

const TAB = Math.random().toString(36).slice(2);
let context = null;

function claim() {
  try { localStorage.setItem('sound-tab', TAB); } catch { /* alone then */ }
}

function mine() {
  try {
    const owner = localStorage.getItem('sound-tab');
    return !owner || owner === TAB;
  } catch {
    return true;
  }
}

function wake() {
  claim();
  const Context = window.AudioContext ?? window.webkitAudioContext;
  if (!Context) return;
  context ??= new Context();
  if (context.state === 'suspended') context.resume().catch(() => {});
}

addEventListener('pointerdown', wake, { passive: true });
addEventListener('keydown', wake);
addEventListener('focus', () => context && claim());

function tone(at, frequency, length, volume, type = 'sine') {
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  oscillator.type = type;
  oscillator.frequency.value = frequency;
  gain.gain.setValueAtTime(0, at);
  gain.gain.linearRampToValueAtTime(volume, at + 0.008);
  gain.gain.exponentialRampToValueAtTime(0.0001, at + length);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(at);
  oscillator.stop(at + length + 0.02);
}

function knock(at, volume, frequency) {
  const length = Math.floor(context.sampleRate * 0.05);
  const buffer = context.createBuffer(1, length, context.sampleRate);
  const data = buffer.getChannelData(0);
  for (let i = 0; i < length; i++) data[i] = (Math.random() * 2 - 1) * (1 - i / length) ** 4;
  const source = context.createBufferSource();
  source.buffer = buffer;
  const filter = context.createBiquadFilter();
  filter.type = 'bandpass';
  filter.frequency.value = frequency;
  const gain = context.createGain();
  gain.gain.value = volume;
  source.connect(filter).connect(gain).connect(context.destination);
  source.start(at);
}

const SOUNDS = {
  dice: (at) => [0, 0.07, 0.13, 0.24, 0.31].forEach((after, i) => knock(at + after, 0.5 - i * 0.06, 1600 + 300 * (i % 2))),
  move: (at) => knock(at, 0.5, 900),
  swap: (at) => { tone(at, 392, 0.16, 0.08); tone(at + 0.12, 523, 0.2, 0.08); },
  low: (at) => { tone(at, 880, 0.12, 0.1, 'triangle'); tone(at + 0.18, 880, 0.12, 0.1, 'triangle'); },
  call: (at) => { tone(at, 659, 0.5, 0.07); tone(at + 0.22, 880, 0.7, 0.07); },
  end: (at) => [392, 494, 587].forEach((f, i) => tone(at + i * 0.13, f, 0.32, 0.08)),
};

/** Plays 'dice', 'move', 'swap', 'low', 'end' or 'call', if there is someone to hear it. */
export function play(name) {
  if (!context || context.state !== 'running' || !settings.get('sound')[name] || !mine()) return;
  SOUNDS[name](context.currentTime + 0.01);
}
