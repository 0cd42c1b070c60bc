// A board of xiangqi in SVG. It knows no rules: it draws what a FEN says, Red below.
//
// svg.xiangqi
//   rect.surface  path.grid  path.palace  text.river
//   g.last        rect.from rect.to       where the last move began and ended
//   g.pieces      g.red|black > circle circle text

import { el } from './page.js';

const SIGNS = {
  K: ['帥', 'K'], A: ['仕', 'A'], B: ['相', 'E'], N: ['傌', 'H'], R: ['俥', 'R'], C: ['炮', 'C'], P: ['兵', 'P'],
  k: ['將', 'K'], a: ['士', 'A'], b: ['象', 'E'], n: ['馬', 'H'], r: ['車', 'R'], c: ['砲', 'C'], p: ['卒', 'P'],
};
const STEP = 60;
const x = (file) => 40 + file * STEP;
const y = (row) => 52 + row * STEP;

export class XiangqiBoard {
  constructor(container, label) {
    this.letters = !hasCharacters();
    this.last = el('g', { class: 'last' });
    this.pieces = el('g', { class: 'pieces' });
    this.svg = el('svg', { class: 'xiangqi', viewBox: '0 0 560 644', role: 'img', 'aria-label': label }, ...ground(), this.last, this.pieces);
    container.append(this.svg);
  }

  /** A position as FEN, and the move that led to it as uci with ranks 1–10, or null. */
  draw(fen, move = null, label = '') {
    this.svg.classList.toggle('letters', this.letters);
    const pieces = [];
    for (const [row, line] of fen.split(' ')[0].split('/').entries()) {
      let file = 0;
      for (const sign of line) {
        if (/\d/.test(sign)) file += Number(sign);
        else pieces.push(this.piece(sign, file++, row));
      }
    }
    this.pieces.replaceChildren(...pieces);
    const places = /^([a-i])(\d+)([a-i])(\d+)$/.exec(move ?? '');
    this.last.replaceChildren(...(places ? [[1, 2, 'from'], [3, 4, 'to']].map(([f, r, kind]) =>
      el('rect', { class: kind, x: x(places[f].charCodeAt(0) - 97) - 29, y: y(10 - Number(places[r])) - 29, width: 58, height: 58, rx: 10 })) : []));
    if (label) this.svg.setAttribute('aria-label', label);
  }

  piece(sign, file, row) {
    const red = sign === sign.toUpperCase();
    return el('g', { class: red ? 'red' : 'black', transform: `translate(${x(file)} ${y(row)})` },
      el('circle', { class: 'disc', r: 26 }),
      red ? el('circle', { class: 'rim', r: 21.5 }) : [el('circle', { class: 'rim', r: 21.5 }), el('circle', { class: 'rim second', r: 23.5 })],
      el('text', { y: 1, class: this.letters ? 'letter' : 'sign' }, SIGNS[sign]?.[this.letters ? 1 : 0] ?? sign));
  }
}

function ground() {
  const lines = [];
  for (let row = 0; row < 10; row += 1) lines.push(`M${x(0)} ${y(row)}H${x(8)}`);
  for (let file = 0; file < 9; file += 1) {
    lines.push(file % 8 ? `M${x(file)} ${y(0)}V${y(4)}M${x(file)} ${y(5)}V${y(9)}` : `M${x(file)} ${y(0)}V${y(9)}`);
  }
  const palace = [[0, 2], [7, 9]].map(([a, b]) => `M${x(3)} ${y(a)}L${x(5)} ${y(b)}M${x(5)} ${y(a)}L${x(3)} ${y(b)}`);
  const numbers = (at, number) => Array.from({ length: 9 }, (_, file) => el('text', { class: 'file', x: x(file), y: at }, `${number(file)}`));
  return [
    el('rect', { class: 'surface', width: 560, height: 644, rx: 10 }),
    el('path', { class: 'grid', d: lines.join('') }), el('path', { class: 'grid', d: palace.join('') }),
    // Between the files, where no piece on the banks covers them.
    ...[[1.5, '楚'], [2.5, '河'], [5.5, '漢'], [6.5, '界']].map(([file, sign]) => el('text', { class: 'river', x: x(file), y: y(4.5) }, sign)),
    ...numbers(14, (file) => file + 1), ...numbers(630, (file) => 9 - file),
  ];
}

/** Can this browser draw Chinese characters? Without a font for them all look alike. */
function hasCharacters() {
  const drawn = ['帥', '馬'].map((sign) => {
    const canvas = el('canvas', { width: 24, height: 24 });
    const pen = canvas.getContext('2d', { willReadFrequently: true });
    pen.font = '20px sans-serif';
    pen.fillText(sign, 2, 20);
    return pen.getImageData(0, 0, 24, 24).data.join();
  });
  return drawn[0] !== drawn[1];
}
