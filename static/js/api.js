// The HTTP side of the server: JSON in and out, refusals as Problem (RFC 9457 with code and params).

import { hasWord, t } from './i18n.js';

/** A refusal. `code` names it for programs, `params` fill its sentence, `detail` is the server's own English. */
export class Problem extends Error {
  constructor({ code = 'unknown', params = {}, status = 0, detail = '' } = {}) {
    super(detail || code);
    this.name = 'Problem';
    this.code = code;
    this.params = params ?? {};
    this.status = status;
    this.detail = detail;
  }
}

/** The problem as a sentence for the player. */
export function problemText(problem) {
  const code = problem?.code ?? 'unknown';
  const because = `problems.because.${problem?.params?.because}`;
  if (hasWord(because)) return t(because, problem.params);
  const key = `problems.${code}`;
  if (hasWord(key)) return t(key, problem.params);
  return t('problems.general', { code });
}

async function call(method, path, body, { version = null, type = 'application/json' } = {}) {
  const headers = { Accept: 'application/json' };
  const changes = method !== 'GET';
  if (changes) {
    headers['Content-Type'] = body instanceof Blob ? 'application/octet-stream' : type;
    // The same key goes out again when a lost answer makes us ask twice: the server then does it once.
    headers['Idempotency-Key'] = randomId();
    if (version !== null) headers['If-Match'] = `"${version}"`;
  }
  const sent = type === 'application/json' && !(body instanceof Blob) ? JSON.stringify(body ?? {}) : body;
  const request = { method, headers, body: changes ? sent : undefined, credentials: 'same-origin' };
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    if (!changes) throw new Problem({ code: 'offline' });
    await new Promise((resolve) => setTimeout(resolve, 800));
    answer = await fetch(path, request).catch(() => { throw new Problem({ code: 'offline' }); });
  }
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem({ code: `http-${answer.status}`, ...data, status: answer.status });
  return data;
}

export const api = {
  get: (path) => call('GET', path),
  post: (path, body, options) => call('POST', path, body, options),
  patch: (path, body, options) => call('PATCH', path, body, options),
  put: (path, body, options) => call('PUT', path, body, options),
  delete: (path) => call('DELETE', path),
};

/** 32 random hex digits: names a message or a call so that a repeated one is recognised. */
export function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}
