// Runs before the first paint (a plain script in <head>), so that the page does not flash in the wrong colours.
(function () {
  var root = document.documentElement;
  try {
    var theme = localStorage.getItem('theme');
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
    var dark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    var settings = JSON.parse(localStorage.getItem('board-settings') || '{}');
    root.dataset.board = settings.board || (dark ? 'night' : 'slate');
    root.lang = localStorage.getItem('lang') || root.lang;
  } catch (e) {
    root.dataset.board = 'slate';
  }
})();
