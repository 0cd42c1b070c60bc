// Runs first of all (a plain script in <head>): the secret of a personal link must not stay in the address bar, in the
// browser's history or in a copied link. The tab keeps it, for the page is loaded anew in another language.
(function () {
  function take() {
    var secret = location.hash.slice(1);
    if (!secret) return false;
    history.replaceState(null, '', location.pathname);
    try { sessionStorage.setItem('entrant-link', secret); } catch (e) { window.entrantLink = secret; }
    return true;
  }
  take();
  addEventListener('hashchange', function () { if (take()) location.reload(); });  // another link, in the same tab
})();
