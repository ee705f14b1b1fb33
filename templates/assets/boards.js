/*
 * Cards of a board are moved by drag, and by Shift with the arrow keys. The form of the page does the same.
 */
const status = document.getElementById('board-status');
let moving = null;

const board = () => document.getElementById('board');
const cardOf = (node) => node?.closest?.('[data-card]') ?? null;
const columnOf = (node) => node?.closest?.('[data-column]') ?? null;

function prepare() {
  for (const card of board().querySelectorAll('[data-card]')) card.draggable = true;
  for (const link of board().querySelectorAll('.card a')) link.draggable = false;
}

/** Sends a move, and shows the board as it is afterwards, with the card in focus as before. */
async function move(card, fields) {
  const { card: id } = card.dataset;
  const hadFocus = card.contains(document.activeElement);
  const q = document.querySelector('#move [name=q]').value;
  card.classList.add('is-moving');
  const answer = await fetch(board().dataset.move, {
    method: 'POST',
    body: new URLSearchParams({ card: id, q, ...fields }),
  }).catch(() => null);
  const page = answer && new DOMParser().parseFromString(await answer.text(), 'text/html');
  const next = page?.getElementById('board');
  const refusal = page?.querySelector('.refusal')?.textContent;
  if (next) {
    const { scrollLeft } = board();
    board().replaceWith(next);
    next.scrollLeft = scrollLeft;
    prepare();
  } else card.classList.remove('is-moving');
  const moved = next?.querySelector(`[data-card="${CSS.escape(id)}"]`);
  if (hadFocus) moved?.querySelector('a.row-title').focus();
  const name = columnOf(moved)?.querySelector('h3').textContent ?? '';
  if (answer?.ok && moved) status.textContent = status.dataset.moved.replace('%', name);
  else status.textContent = refusal || status.dataset.failed;
  status.classList.toggle('visually-hidden', Boolean(answer?.ok));
}

function unmark() {
  for (const each of document.querySelectorAll('.is-target, .is-above')) each.classList.remove('is-target', 'is-above');
}

/** The card above which one is dropped; null for the end of the column. */
const cardBelow = (column, y) =>
  [...column.querySelectorAll('[data-card]')].find((card) => {
    const { top, height } = card.getBoundingClientRect();
    return card !== moving && y < top + height / 2;
  }) ?? null;

if (board()?.dataset.move && status) {
  document.querySelector('.board-keys').hidden = false;
  prepare();
  const main = board().parentElement;
  main.addEventListener('dragstart', (event) => {
    moving = cardOf(event.target);
    if (!moving) return;
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', moving.querySelector('a.row-title').href);
  });
  main.addEventListener('dragend', () => {
    moving = null;
    unmark();
  });
  main.addEventListener('dragover', (event) => {
    const column = moving && columnOf(event.target);
    if (!column) return;
    event.preventDefault();
    unmark();
    column.classList.add('is-target');
    cardBelow(column, event.clientY)?.classList.add('is-above');
  });
  main.addEventListener('drop', (event) => {
    const column = moving && columnOf(event.target);
    if (!column) return;
    event.preventDefault();
    const above = cardBelow(column, event.clientY);
    void move(moving, { column: column.dataset.column, to: 'bottom', ...(above && { above: above.dataset.card }) });
  });
  main.addEventListener('keydown', (event) => {
    const card = cardOf(event.target);
    if (!card || !event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    const columns = [...board().querySelectorAll('[data-column]')];
    const at = columns.indexOf(columnOf(card));
    const isBackwards = getComputedStyle(board()).direction === 'rtl';
    const beside = { ArrowLeft: isBackwards ? 1 : -1, ArrowRight: isBackwards ? -1 : 1 }[event.key];
    const to = { ArrowUp: 'up', ArrowDown: 'down' }[event.key];
    if (!beside && !to) return;
    event.preventDefault();
    if (to) void move(card, { to });
    else if (columns[at + beside]) void move(card, { column: columns[at + beside].dataset.column, to: 'top' });
  });
}
