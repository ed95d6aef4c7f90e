
// Sorts and filters the table of deployments. Without it the page is the same, with every row shown. It reads the text of
// rows and never makes mark-up of it.
//
// While the page is read the class `js` hides all rows but the first page: to lay out thousands takes seconds.
document.documentElement.classList.add('js');
const begin = () => {
  'use strict';
  const table = document.getElementById('rows');
  if (!table) return;
  const PAGE = 200;
  const SEVERITY = ['v', 'a', 'p', 'f'];
  const body = table.tBodies[0];
  const form = document.getElementById('filter');
  const words = document.getElementById('words');
  const verdict = document.getElementById('verdict');
  const falseOnly = document.getElementById('false');
  const count = document.getElementById('count');
  const more = document.getElementById('more');

  let rows = Array.from(table.querySelectorAll('tbody tr'), (row, place) => ({
    row,
    place,
    text: row.textContent.toLowerCase(),
    verdict: row.className,
    falseSuccess: row.querySelector('.x') !== null,
  }));
  let room = PAGE;

  const number = (value) => value.toLocaleString('en-US');

  // A browser gets slow of thousands of rows: those that are wanted are shown a page at a time.
  const show = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    let found = 0;
    for (const one of rows) {
      const fits = (verdict.value === '' || one.verdict === verdict.value)
        && (!falseOnly.checked || one.falseSuccess)
        && wanted.every((word) => one.text.includes(word));
      if (fits) found += 1;
      const hidden = !fits || found > room;
      if (one.row.hidden !== hidden) one.row.hidden = hidden;
    }
    const shown = Math.min(found, room);
    more.hidden = shown === found;
    let text = found === rows.length
      ? `${number(found)} deployments`
      : `${number(found)} of ${number(rows.length)} deployments`;
    if (shown < found) text += `, the first ${number(shown)} shown`;
    count.textContent = text;
  };

  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      room = PAGE;
      show();
    }, 120);
  };
  words.addEventListener('input', soon);
  verdict.addEventListener('change', soon);
  falseOnly.addEventListener('change', soon);
  form.addEventListener('submit', (event) => event.preventDefault());
  document.getElementById('next').addEventListener('click', () => {
    const before = room;
    room += PAGE;
    show();
    // What was pressed may be gone: the focus goes to the first of the new rows.
    const first = rows.filter((one) => !one.row.hidden)[before];
    if (more.hidden && first) {
      first.row.tabIndex = -1;
      first.row.focus();
    }
  });
  document.getElementById('all').addEventListener('click', () => {
    room = rows.length;
    show();
    document.getElementById('deployments').focus();
  });

  const cell = (one, column) => one.row.cells[column];
  const ratio = (one) => {
    const [covered, of] = (/(\d+)\/(\d+) \(/.exec(cell(one, 2).textContent) || [0, 0, 1]).slice(1).map(Number);
    return covered / of;
  };
  const KEYS = [
    (one) => SEVERITY.indexOf(one.verdict) + (one.falseSuccess ? 0.5 : 0),
    (one) => cell(one, 1).textContent,
    ratio,
    (one) => cell(one, 3).childElementCount,
    (one) => cell(one, 4).textContent,
    (one) => cell(one, 5).textContent,
    (one) => cell(one, 6).childElementCount,
  ];
  const compare = new Intl.Collator('en', { numeric: true }).compare;
  const heads = Array.from(table.tHead.rows[0].cells);
  // What is bad comes first where a column is asked for the first time.
  const FIRST = ['descending', 'ascending', 'ascending', 'descending', 'ascending', 'ascending', 'descending'];

  const sort = (column) => {
    const head = heads[column];
    const now = head.getAttribute('aria-sort');
    const other = now === 'ascending' ? 'descending' : 'ascending';
    const order = now === null ? FIRST[column] : other;
    heads.forEach((each) => each.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', order);
    const sign = order === 'ascending' ? 1 : -1;
    const keyed = rows.map((one) => ({ one, key: KEYS[column](one) }));
    keyed.sort((a, b) => {
      const by = typeof a.key === 'number' ? a.key - b.key : compare(a.key, b.key);
      return by * sign || a.one.place - b.one.place;
    });
    rows = keyed.map((each) => each.one);
    room = PAGE;
    const all = document.createDocumentFragment();
    rows.forEach((one) => all.append(one.row));
    body.append(all);
    show();
  };

  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    button.addEventListener('click', () => sort(column));
    head.replaceChildren(button);
  });
  heads[0].setAttribute('aria-sort', 'descending');
  form.hidden = false;
  show();
};
document.addEventListener('DOMContentLoaded', () => {
  try {
    begin();
  } finally {
    document.documentElement.classList.remove('js');
  }
});
