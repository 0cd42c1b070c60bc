// SHA-256 and HMAC-SHA256 (FIPS 180-4, RFC 2104). Written out because crypto.subtle is missing on plain http.

const K = new Uint32Array(64);
const START = new Uint32Array(8);

// The constants are the fractional parts of roots of the first primes: computed, so that nothing can be mistyped.
(() => {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const bits = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32);
  primes.forEach((p, i) => { K[i] = bits(Math.cbrt(p)); });
  primes.slice(0, 8).forEach((p, i) => { START[i] = bits(Math.sqrt(p)); });
})();

const rotr = (x, n) => (x >>> n) | (x << (32 - n));

/** The 32 bytes of SHA-256 over bytes (Uint8Array) or a text (as UTF-8). */
export function sha256(input) {
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const h = Uint32Array.from(START);
  const w = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, last] = h;
    for (let i = 0; i < 64; i++) {
      const s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
      const t1 = (last + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      last = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
    }
    [a, b, c, d, e, f, g, last].forEach((x, i) => { h[i] += x; });
  }
  const out = new Uint8Array(32);
  const outView = new DataView(out.buffer);
  h.forEach((x, i) => outView.setUint32(4 * i, x));
  return out;
}

/** HMAC-SHA256 of bytes or a text under a key of bytes: 32 bytes. */
export function hmacSha256(key, input) {
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const inner = new Uint8Array(64 + bytes.length);
  inner.set(block.map((b) => b ^ 0x36));
  inner.set(bytes, 64);
  const outer = new Uint8Array(96);
  outer.set(block.map((b) => b ^ 0x5c));
  outer.set(sha256(inner), 64);
  return sha256(outer);
}

/** Lower-case hex of bytes. */
export function hex(bytes) {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** Bytes of hex digits. */
export function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** SHA-256 of bytes or a text, in hex. */
export function sha256Hex(input) {
  return hex(sha256(input));
}
