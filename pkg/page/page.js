(function () {
  'use strict';
  var box = document.getElementById('filter');
  var all = Array.prototype.slice.call(document.querySelectorAll('[data-text]'));
  var count = document.getElementById('count');
  box.hidden = false;
  function filter() {
    var words = box.value.toLowerCase().split(/\s+/);
    var shown = 0;
    all.forEach(function (e) {
      var text = e.dataset.text + ' ';
      // #1 is a group, and not the beginning of #12.
      var fits = words.every(function (w) { return text.indexOf(w.charAt(0) === '#' ? w + ' ' : w) >= 0; });
      e.hidden = !fits;
      if (fits) { shown += 1; }
    });
    count.textContent = box.value ? shown + ' of ' + all.length : '';
  }
  box.addEventListener('input', filter);
  Array.prototype.forEach.call(document.querySelectorAll('[data-filter]'), function (e) {
    function choose() {
      box.value = box.value === e.dataset.filter ? '' : e.dataset.filter;
      filter();
    }
    e.setAttribute('role', 'button');
    e.tabIndex = 0;
    e.addEventListener('click', choose);
    e.addEventListener('keydown', function (k) { if (k.key === 'Enter') { choose(); } });
  });
})();
