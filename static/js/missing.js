// An address that leads nowhere: said in words, with a way home.

import { t } from './i18n.js';
import { el, setTitle, startPage } from './page.js';

await startPage();
setTitle(t('problems.not-found'));
document.querySelector('main').replaceChildren(el('section', { class: 'card' },
  el('h1', {}, t('problems.not-found')), el('p', {}, el('a', { class: 'button', href: '/' }, t('common.action.home')))));
