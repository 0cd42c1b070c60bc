// A competition in words: settings, stages, times, values. Words: locales/<lang>/events.json, rules.json ('events', 'rules').

import { formatClock, lang, signed, t } from './i18n.js';
import { presetName } from './rulewords.js';

// ---- times -------------------------------------------------------------------------------------------------

/** A moment in the viewer's own zone, which is said beside it on the page: "сегодня, 19:30", "пт, 4 декабря, 19:30". `today` false: "19:30". */
export function moment(ms, now = Date.now(), { today = true } = {}) {
  const at = new Date(ms);
  const time = new Intl.DateTimeFormat(lang(), { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
  const day = Math.round((midnight(at) - midnight(new Date(now))) / 86_400_000);
  if (day === 0 && !today) return time;
  if (Math.abs(day) <= 1) return `${new Intl.RelativeTimeFormat(lang(), { numeric: 'auto' }).format(day, 'day')}, ${time}`;
  const year = at.getFullYear() === new Date(now).getFullYear() ? {} : { year: 'numeric' };
  const date = new Intl.DateTimeFormat(lang(), { weekday: 'short', day: 'numeric', month: 'long', ...year }).format(at);
  return `${date}, ${time}`;
}

const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/** The viewer's zone: "GMT+3". */
export function zone() {
  const parts = new Intl.DateTimeFormat(lang(), { timeZoneName: 'short' }).formatToParts(new Date());
  return parts.find((part) => part.type === 'timeZoneName').value;
}

/** What is left: "2 дня", "3:04:10", "4:32". */
export function left(ms) {
  return ms >= 2 * 86_400_000 ? t('events.days', { n: Math.floor(ms / 86_400_000) }) : formatClock(Math.max(0, ms) + 999);
}

/** A duration for settings: "30 минут", "2 часа", "45 секунд". */
export function span(ms) {
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return t('events.rules.hours', { n: ms / 3_600_000 });
  if (ms >= 60_000 && ms % 60_000 === 0) return t('events.rules.min', { n: ms / 60_000 });
  return t('events.rules.sec', { n: Math.round(ms / 1000) });
}

// ---- stages ------------------------------------------------------------------------------------------------

export const isKnockout = (kind) => kind === 'single_elimination' || kind === 'double_elimination';

/** What a stage is called: a knock-out that ends a competition is its final. */
export function stageName(kind, number, of) {
  return t(isKnockout(kind) && number === of && of > 1 ? 'events.final' : `events.kind.${kind}`);
}

/** The round of a knock-out with so many rounds after it: "Полуфиналы". */
export function knockoutTitle(after) {
  if (after === 0) return t('events.slot.final');
  if (after === 1) return t('events.slot.semi');
  return after === 2 ? t('events.slot.quarter') : t('events.slot.part', { n: lang() === 'ru' ? 2 ** after : 2 ** (after + 1) });
}

/** A round's title: of a stage as a view shows it, the `number`th of its rounds; `of` stages in all. */
export function roundTitle(stage, number, of) {
  if (stage.kind === 'single_elimination') return knockoutTitle(Math.max(0, roundsOf(stage.rules, stage.seeds) - number));
  return t('events.stage_round_open', { stage: stageName(stage.kind, stage.number, of), n: number });
}

/** The kinds of a competition's stages in a row: "Отбор, группы, финал". */
export function stagesLine(kinds) {
  return kinds.map((kind, n) => {
    const name = stageName(kind, n + 1, kinds.length);
    return n ? name.toLowerCase() : name;
  }).join(', ');
}

/** How many rounds a stage has, if that is known: `rules` of the stage, and its entrants. */
export function roundsOf(rules, seeds, groups = []) {
  const meetAll = (n) => (n % 2 ? n : n - 1) * (rules.legs ?? 1);
  switch (rules.kind) {
    case 'qualifying': return rules.matches;
    case 'swiss': return rules.rounds;
    case 'round_robin': return meetAll(seeds.length);
    case 'groups': return groups.length ? Math.max(...groups.map((group) => meetAll(group.length))) : null;
    case 'single_elimination': return Math.max(1, Math.ceil(Math.log2(seeds.length)));
    default: return null;
  }
}

/** A group's letter, in either language: A, B, C … */
export const groupName = (n) => (n <= 26 ? String.fromCharCode(64 + n) : String(n));

/** "Короткие нарды, объективные": the rules of the matches, short. */
export const rulesName = (preset, presets = []) => presetName(preset, presets);

// ---- numbers -----------------------------------------------------------------------------------------------

const decimal = (n, digits = 2) => new Intl.NumberFormat(lang(), { maximumFractionDigits: digits }).format(Math.abs(n));

/** A signed number with a real minus, fractions as the language writes them. */
export function signedNumber(n, digits = 2) {
  const rounded = Number(n.toFixed(digits));
  return Number.isInteger(rounded) ? signed(rounded) : `${rounded > 0 ? '+' : '−'}${decimal(rounded, digits)}`;
}

/** A value by which places are told apart, as its criterion is written. */
export function valueText(name, value) {
  if (value === null) return '—';
  switch (name) {
    case 'point_difference': return signedNumber(value);
    case 'objective_result': return signedNumber(value);
    case 'less_time': return formatClock(value);
    case 'lot': return `№ ${value}`;
    default: return value < 0 ? `−${decimal(value)}` : decimal(value);
  }
}

/** A criterion within a sentence; those that are called after people keep their capitals. */
export function criterionWord(name) {
  const word = t(`events.criterion.${name}.name`);
  return name === 'buchholz_cut_1' || name === 'sonneborn_berger' ? word : word.charAt(0).toLowerCase() + word.slice(1);
}

/** The criterion that ranks, and all that decide after it. */
export const criteria = (names) => names.map(criterionWord).join(', ');

// ---- settings ----------------------------------------------------------------------------------------------

const TIE_ORDER = (settings) => {
  const first = settings.rank_by ?? (settings.stages[0].kind === 'qualifying' ? 'point_difference' : 'match_points');
  return [first, ...settings.tie_breaks.filter((name) => name !== first && name !== 'lot'), 'lot'];
};

const word = (key, params) => t(`events.rules.${key}`, params);
const matches = (n) => t('events.matches_n', { n });

/** One stage in sentences. */
export function stageWords(rules) {
  const out = [];
  const kind = rules.kind === 'groups' ? `groups_${rules.division}` : rules.kind;
  out.push(word(`stage.${kind}`, {
    matches: matches(rules.matches ?? 0), level: t(`common.level.${rules.computer}`), base: rules.base, size: rules.size,
    rounds: t('events.rounds_n', { n: rules.rounds ?? 0 }),
  }));
  if (rules.take) out.push(word('take', { n: rules.take }));
  if (rules.take_per_group) out.push(word('take_per_group', { n: rules.take_per_group }));
  if (rules.exchange) out.push(word('exchange', { n: rules.exchange }));
  if ((rules.legs ?? 1) > 1) out.push(word('legs', { n: rules.legs }));
  if (rules.third_place) out.push(word('third'));
  if (rules.kind === 'double_elimination' && rules.reset) out.push(word('reset'));
  if (rules.series.first_to) out.push(word('first_to', { n: rules.series.first_to, matches: matches(rules.series.matches) }));
  else if (rules.series.matches > 1) out.push(word('series', { matches: matches(rules.series.matches) }));
  if (rules.round_ms) out.push(word('round_time', { time: span(rules.round_ms) }));
  return out;
}

/** What holds for the whole competition, in sentences. */
export function settingsWords(settings) {
  const out = [word('rank', { list: criteria(TIE_ORDER(settings)) })];
  const kinds = settings.stages.map((stage) => stage.kind);
  if (kinds.some(isKnockout)) out.push(word('knock_draw'));
  if (kinds.some((kind) => kind === 'swiss' || isKnockout(kind))) out.push(word(`bye_${settings.bye_points}`));
  out.push(word('no_show', { time: span(settings.no_show_s * 1000) }));
  if (settings.entry.check_in_ms) out.push(word('check_in', { time: span(settings.entry.check_in_ms) }));
  if (settings.entry.late_rounds) out.push(word('late', { n: settings.entry.late_rounds }));
  if (settings.entry.bots) out.push(word('bots'));
  const { mode, break_ms: rest } = settings.pace;
  out.push(mode === 'manual' ? word('pace_manual') : rest ? word('pace_auto', { time: span(rest) }) : word('pace_auto_none'));
  return out;
}
