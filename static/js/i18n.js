// Words of the page in the player's language. A key is "namespace.path.to.word": the namespace is a file
// locales/<language>/<namespace>.json. Values are texts with {name} places, or an object of plural forms
// {one, few, many, other} chosen by the parameter n.

const LANGUAGES = ['ru', 'en'];

// Browsers set to these languages are answered in Russian when English does not come before them.
const NEAR_RUSSIAN = new Set(
  'ru be uk kk ky uz tg tk hy az ka ab os ce tt ba cv sah mn bg sr mk'.split(' '));

const words = {};
let chosen = null;

/** The language in use, 'ru' or 'en': the player's choice, else the browser's first one that decides. */
export function lang() {
  if (!chosen) chosen = remembered() ?? fromBrowser();
  return chosen;
}

/** Remembers the language (here and, for the server's pages, in a cookie) and shows the page in it. */
export function setLang(language) {
  if (!LANGUAGES.includes(language)) return;
  try { localStorage.setItem('lang', language); } catch { /* private mode: the cookie alone */ }
  document.cookie = `lang=${language}; path=/; max-age=31536000; samesite=lax`;
  location.reload();
}

function remembered() {
  let stored = null;
  try { stored = localStorage.getItem('lang'); } catch { /* no storage */ }
  stored ??= /(?:^|;\s*)lang=(\w+)/.exec(document.cookie)?.[1];
  return LANGUAGES.includes(stored) ? stored : null;
}

function fromBrowser() {
  for (const locale of navigator.languages ?? [navigator.language ?? 'en']) {
    const first = locale.toLowerCase().split('-')[0];
    if (NEAR_RUSSIAN.has(first)) return 'ru';
    if (first === 'en') return 'en';
  }
  return 'en';
}

/** Loads the words of these namespaces; a second call for the same one costs nothing. */
export async function loadWords(...namespaces) {
  document.documentElement.lang = lang();
  await Promise.all(namespaces.map(async (namespace) => {
    if (words[namespace]) return;
    const answer = await fetch(`/static/locales/${lang()}/${namespace}.json`);
    words[namespace] = answer.ok ? await answer.json() : {};
  }));
}

function find(key) {
  return key.split('.').reduce((found, part) => found?.[part], words);
}

/** Is there a word under this key? */
export function hasWord(key) {
  return find(key) !== undefined;
}

/** The word under `key` with its {places} filled. An unknown key comes back as it is, so that it is seen. */
export function t(key, params = {}) {
  let value = find(key);
  if (value !== null && typeof value === 'object') {
    const form = new Intl.PluralRules(lang()).select(Math.abs(Number(params.n ?? 0)));
    value = value[form] ?? value.other;
  }
  if (typeof value !== 'string') return key;
  return value.replace(/\{(\w+)\}/g, (place, name) => (name in params ? String(params[name]) : place));
}

/** An arbiter's reason as he wrote it; the server's own, a single word, in the language of the page. */
export function reasonWords(reason) {
  const key = `common.server_reason.${reason}`;
  return /^[a-z-]+$/.test(reason ?? '') && hasWord(key) ? t(key) : reason ?? '';
}

/** Fills elements marked data-t (text), data-t-label (aria-label), data-t-title, data-t-placeholder. */
export function applyWords(root = document) {
  for (const element of root.querySelectorAll('[data-t]')) element.textContent = t(element.dataset.t);
  for (const [name, attribute] of [['tLabel', 'aria-label'], ['tTitle', 'title'], ['tPlaceholder', 'placeholder']]) {
    const selector = `[data-${name.replace(/[A-Z]/g, (c) => '-' + c.toLowerCase())}]`;
    for (const element of root.querySelectorAll(selector)) element.setAttribute(attribute, t(element.dataset[name]));
  }
}

/** A moment with its time zone: "30 ноября 2026 г., 18:04 GMT+3". */
export function formatDate(ms) {
  return new Intl.DateTimeFormat(lang(), {
    day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short',
  }).format(new Date(ms));
}

/** A duration as a clock shows it: 3:04, 1:02:03; never below zero. */
export function formatClock(ms) {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const two = (n) => String(n).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  return hours
    ? `${hours}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
    : `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

/** A play as people of this language write it: bar → бар, off → сн; a pass is a dash. */
export function notation(play) {
  if (play === '--') return '—';
  if (play === '==') return t('common.play.never');
  if (lang() !== 'ru') return play;
  return play.replace(/\bbar\b/g, 'бар').replace(/\boff\b/g, 'сн');
}

/** A signed number with a real minus: +20, −20, 0. */
export function signed(number) {
  return number > 0 ? `+${number}` : number < 0 ? `−${-number}` : '0';
}
