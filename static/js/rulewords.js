// A ruleset in words, in the page's language: every key of a ruleset has its sentence here and none is silent.
// The numbers come from the ruleset; nothing is decided here. Words: locales/<lang>/rules.json (load 'rules' first).

import { lang, t } from './i18n.js';

/** A duration in words: `how` is the case the sentence needs ('acc' больше чем на минуту, 'gen' не больше минуты). */
export function duration(ms, how = 'acc') {
  const seconds = ms / 1000;
  if (seconds === 60 && how !== 'nom') return t(`rules.dur.minute_${how}`);
  if (seconds >= 60 && seconds % 60 === 0) return t(`rules.dur.minutes_${how}`, { n: seconds / 60 });
  if (seconds <= 120) return t(`rules.dur.seconds_${how}`, { n: seconds, text: decimal(seconds) });
  return t('rules.dur.both', { m: Math.floor(seconds / 60), s: decimal(seconds % 60) });
}

const decimal = (n) => new Intl.NumberFormat(lang(), { maximumFractionDigits: 3 }).format(n);

/** A share of something, genitive: 1/4 → "четверти", 2/5 → "2/5". */
export function share(num, den) {
  if (num >= den) return t('rules.share.all');
  const known = { '1/2': 'half', '1/3': 'third', '1/4': 'quarter', '3/4': 'three_quarters' }[`${num}/${den}`];
  return t(`rules.share.${known ?? 'part'}`, { num, den });
}

/** A share of the lead, nominative: 1/2 → "половина перевеса", or "половина" alone with 'portion_short'. */
export function portion(num, den, form = 'portion') {
  if (num >= den) return t(`rules.${form}.all`);
  const known = { '1/2': 'half', '1/3': 'third', '1/4': 'quarter', '3/4': 'three_quarters' }[`${num}/${den}`];
  return t(`rules.${form}.${known ?? 'part'}`, { num, den });
}

/** The credit of an unfinished game exists only where a lead has a unit (§6.2). */
export const hasCredit = (ruleset) => ruleset.unfinished.mode === 'lead' && ruleset.scoring !== 'classic';

const hasKoks = (ruleset) => ruleset.variant === 'short';

/** "4 + 12", "1 + 6", "без часов": the clock as it is written in lists. */
export function clockShort(ruleset) {
  const { type, bank_ms: bank, delay_ms: delay } = ruleset.clock;
  if (type === 'none') return t('rules.clock_short.none');
  if (type === 'per_move') return t('rules.clock_short.per_move', { delay: decimal(delay / 1000) });
  const text = t('rules.clock_short.bank', { bank: decimal(bank / 60000), delay: decimal(delay / 1000) });
  return type === 'simple' ? text : `${text} ${t(`rules.clock_short.${type}`)}`;
}

export function clockWords(ruleset) {
  const { type, bank_ms: bank, delay_ms: delay } = ruleset.clock;
  const key = type === 'none' || type === 'per_move' || delay > 0 ? type : 'bank_only';
  return t(`rules.clock.${key}`, { bank: duration(bank, 'nom'), delay: duration(delay, 'nom'), delay_gen: duration(delay, 'gen') });
}

function timeWords(ruleset, form) {
  const time = ruleset.time;
  const reaches = time.mode !== 'off' && time.cap_num > 0;
  if (!reaches) return [t(`rules.time.off_${form}`)];
  const values = {
    threshold: duration(time.threshold_ms, 'acc'),
    n: time.ms_per_point / 1000,
    rate: decimal(time.ms_per_point / 1000),
    cap: share(time.cap_num, time.cap_den),
  };
  const start = time.threshold_ms > 0 ? 'after' : 'from_zero';
  const who = time.settlement === 'loser_only' ? 'loser' : 'both';
  return [t(`rules.time.${time.mode}_${who}_${start}`, values)];
}

/** What a newcomer must know before saying yes: a few sentences. */
export function rulesetShort(ruleset, { clock = true, rated = true } = {}) {
  const out = [];
  if (ruleset.variant === 'long') out.push(t('rules.short.long'));
  if (ruleset.scoring === 'pips' && ruleset.pips_cap !== null) out.push(t('rules.short.pips_cap', { cap: ruleset.pips_cap }));
  else if (ruleset.scoring === 'classic') out.push(t(hasKoks(ruleset) ? 'rules.short.classic' : 'rules.short.classic_long'));
  else out.push(t(`rules.short.${ruleset.scoring}`));

  const { num, den } = ruleset.unfinished;
  out.push(hasCredit(ruleset) ? t('rules.short.credit', { portion: portion(num, den) }) : t('rules.short.no_credit'));
  if (hasCredit(ruleset) && ruleset.unfinished.may_flip) out.push(t('rules.short.may_flip'));
  if (ruleset.tied_game === 'white') out.push(t('rules.short.tied_white'));
  out.push(...timeWords(ruleset, 'short'));
  if (clock) out.push(clockWords(ruleset));
  if (ruleset.peek !== 'live') out.push(t(`rules.short.peek_${ruleset.peek}`));
  if (ruleset.draw_offers !== 'off') out.push(t(`rules.short.draw_${ruleset.draw_offers}`));
  if (ruleset.opening_double === 'allow' && ruleset.variant === 'short') out.push(t('rules.opening.allow'));
  if (ruleset.forfeit_cap !== null) out.push(t('rules.short.forfeit_cap', { n: ruleset.forfeit_cap }));
  if (rated) out.push(t(ruleset.rated ? 'rules.short.rated' : 'rules.short.unrated'));
  return out;
}

/** Every key of the ruleset in sentences, by the section of the rules page it belongs to. */
export function rulesetLong(ruleset) {
  return {
    opening: [t(`rules.opening.${ruleset.opening_double}`)],
    long: ruleset.variant === 'long' ? longWords(ruleset.long) : [],
    tied: [t(`rules.tied.${ruleset.tied_game}`)],
    scoring: scoringWords(ruleset),
    credit: creditWords(ruleset),
    clock: [clockWords(ruleset), revealWords(ruleset)],
    time: timeWords(ruleset, 'long').concat(timeLimits(ruleset)),
    peek: [t(`rules.peek.${ruleset.peek}`)],
    early: earlyWords(ruleset),
    rating: ratingWords(ruleset),
  };
}

function scoringWords(ruleset) {
  const out = [t(`rules.scoring.${ruleset.scoring}${hasKoks(ruleset) ? '' : '_long'}`)];
  if (ruleset.scoring === 'pips' && ruleset.pips_cap !== null) out.push(t('rules.scoring.pips_cap', { cap: ruleset.pips_cap }));
  return out;
}

function creditWords(ruleset) {
  if (ruleset.scoring === 'classic') return [t('rules.credit.classic')];
  if (ruleset.unfinished.mode === 'none') return [t('rules.credit.none')];
  const { num, den, may_flip: flip } = ruleset.unfinished;
  const unit = t(`rules.credit.unit_${ruleset.scoring}`);
  const whole = num >= den;
  return [
    t(whole ? 'rules.credit.whole' : 'rules.credit.part', { unit, portion: portion(num, den) }),
    t(flip ? 'rules.credit.may_flip' : 'rules.credit.may_not_flip'),
    t('rules.credit.tied'),
  ];
}

function revealWords(ruleset) {
  return ruleset.reveal_ms > 0
    ? t('rules.clock.reveal', { reveal: duration(ruleset.reveal_ms, 'nom'), n: ruleset.reveal_ms / 1000 })
    : t('rules.clock.no_reveal');
}

function timeLimits(ruleset) {
  return ruleset.time.mode === 'off' || ruleset.time.cap_num === 0 ? [] : [t('rules.time.keeps_win'), t('rules.time.when')];
}

function earlyWords(ruleset) {
  const out = [];
  if (ruleset.forfeit_cap !== null) out.push(t('rules.early.price_between', { min: ruleset.forfeit_min, cap: ruleset.forfeit_cap }));
  else out.push(t('rules.early.price_min', { min: ruleset.forfeit_min }));
  out.push(ruleset.absence_s > 0 ? t('rules.early.absence', { absence: duration(ruleset.absence_s * 1000, 'gen') }) : t('rules.early.no_absence'));
  if (ruleset.clock.type === 'none') out.push(t('rules.early.void'));
  else if (ruleset.grace_s > 0) out.push(t('rules.early.grace', { grace: duration(ruleset.grace_s * 1000, 'acc') }));
  else out.push(t('rules.early.no_grace'));
  out.push(t(`rules.early.draw_${ruleset.draw_offers}`));
  out.push(ruleset.pause_max_s > 0 ? t('rules.early.pause', { pause: duration(ruleset.pause_max_s * 1000, 'gen') }) : t('rules.early.no_pause'));
  out.push(ruleset.auto_pass_ms > 0 ? t('rules.early.pass', { pause: duration(ruleset.auto_pass_ms, 'acc') }) : t('rules.early.pass_now'));
  return out;
}

function ratingWords(ruleset) {
  if (!ruleset.rated) return [t('rules.rating.unrated')];
  const { rating_num: num, rating_den: den } = ruleset;
  const out = [t('rules.rating.points'), t('rules.rating.strength')];
  if (num !== den) {
    const key = num % den === 0 ? 'rules.rating.scale' : 'rules.rating.scale_part';
    out.push(t(key, { n: num % den === 0 ? num / den : num, num, den }));
  }
  return out;
}

function longWords(long) {
  const out = [t(`rules.long.head_${long.head_rule}`)];
  if (long.head_rule === 'first_doubles' || long.head_rule === 'any_double') out.push(t(`rules.long.condition_${long.head_condition}`));
  out.push(t(`rules.long.block_${long.block6}`));
  if (long.block6 !== 'allow') out.push(t(`rules.long.check_${long.block_check}`));
  out.push(t(long.home_mars ? 'rules.long.home_mars' : 'rules.long.no_home_mars'));
  return out;
}

/** The name of a preset: as the server gives it, else ours, else "свои правила". */
export function presetName(key, presets = []) {
  const found = presets.find((preset) => preset.key === key);
  if (found) return found[lang()] ?? found.en;
  return t(`rules.preset.${key ?? 'own'}`);
}
