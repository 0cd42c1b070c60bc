// The card of a finished match, to be shared: shown as it will be sent, and the ways of passing it on. The picture is
// asked for when the dialog opens, so that a press of a button finds it there.

import { lang, t } from './i18n.js';
import { el, icon } from './page.js';

/** The button that opens the card. `match` is its id; `alt` says what is on the card. */
export function shareButton(match, alt) {
  return el('button', { class: 'button', type: 'button', onclick: () => new Share(match, alt).open() }, icon('share'), t('analysis.share.open'));
}

class Share {
  constructor(match, alt) {
    const id = encodeURIComponent(match);
    this.link = `${location.origin}/match/${id}`;
    this.name = `nardy-${match}`;
    this.address = (kind) => `/api/matches/${id}/card.${kind}?lang=${lang()}`;
    this.picture = null;  // a Blob, once it is there
    this.shown = null;

    this.image = el('img', { class: 'share-card', alt, width: 1200, height: 630, hidden: true });
    this.waiting = el('p', { class: 'share-waiting muted' }, t('analysis.share.making'));
    this.status = el('p', { class: 'small', role: 'status' });
    const button = (key, sign, press, options = {}) => el('button', { class: 'button', type: 'button', onclick: press, ...options }, icon(sign), t(`analysis.share.${key}`));
    this.send = button('send', 'share', () => this.pass());
    this.send.classList.add('primary');
    this.send.hidden = !navigator.share;
    this.copyImage = button('copy_image', 'copy', () => this.copied('image', () => navigator.clipboard.write([new ClipboardItem({ 'image/png': this.picture })])));
    this.copyImage.hidden = !navigator.clipboard?.write || typeof ClipboardItem === 'undefined';
    const copyLink = button('copy_link', 'copy', () => this.copied('link', () => this.copyText()));
    const download = (kind) => el('a', { class: 'button', href: this.address(kind), download: `${this.name}.${kind}` }, icon('down'), t(`analysis.share.${kind}`));
    this.needPicture([this.send, this.copyImage], false);

    this.dialog = el('dialog', { class: 'card ask share', 'aria-labelledby': 'share-title', onclose: () => this.close(), onclick: (event) => { if (event.target === this.dialog) this.dialog.close(); } },
      el('div', { class: 'row between' }, el('h2', { id: 'share-title' }, t('analysis.share.title')),
        el('button', { class: 'button plain square', type: 'button', 'aria-label': t('common.action.close'), onclick: () => this.dialog.close() }, icon('cross'))),
      el('div', { class: 'share-picture' }, this.waiting, this.image),
      el('div', { class: 'share-ways' }, this.send, this.copyImage, copyLink, download('png'), download('svg')),
      this.status);
  }

  open() {
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.fetch();
  }

  close() {
    if (this.shown) URL.revokeObjectURL(this.shown);
    this.dialog.remove();
  }

  async fetch() {
    try {
      const answer = await fetch(this.address('png'));
      if (!answer.ok) throw new Error(String(answer.status));
      this.picture = await answer.blob();
    } catch {
      this.waiting.textContent = t('analysis.share.failed');
      this.waiting.setAttribute('role', 'alert');
      return;
    }
    this.shown = URL.createObjectURL(this.picture);
    this.image.src = this.shown;
    this.image.hidden = false;
    this.waiting.hidden = true;
    this.needPicture([this.send, this.copyImage], true);
  }

  needPicture(buttons, there) {
    for (const one of buttons) one.toggleAttribute('disabled', !there);
  }

  /** With the picture where the device takes pictures, else the link alone. */
  async pass() {
    const file = new File([this.picture], `${this.name}.png`, { type: 'image/png' });
    const what = { title: t('common.brand'), text: this.image.alt, url: this.link };
    if (navigator.canShare?.({ ...what, files: [file] })) what.files = [file];
    await navigator.share(what).catch(() => {});  // thought better of it
  }

  async copied(what, copy) {
    let done = true;
    try {
      await copy();
    } catch {
      done = false;
    }
    this.status.textContent = t(done ? `analysis.share.copied_${what}` : 'analysis.share.not_copied');
  }

  /** On plain http there is no clipboard, but an old way. */
  async copyText() {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(this.link);
      return;
    }
    const field = el('input', { value: this.link, readonly: true });
    this.dialog.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    if (!done) throw new Error('not copied');
  }
}
