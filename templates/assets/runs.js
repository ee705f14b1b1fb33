/*
 * Pages of runs and jobs. All of it works without: this adds rows as they come, loads a step where it is opened, and
 * follows the end of a log.
 */
const maxLiveRows = 5000;
const page = document.querySelector('.run-page');
const followButton = document.querySelector('[data-follow-end]');
let follows = false;

const setFollowing = (value) => {
  follows = value;
  followButton?.setAttribute('aria-pressed', String(value));
  if (value) scrollTo(0, document.documentElement.scrollHeight);
};

/** Rows of a group go into an element that folds, as the server writes them for a page. */
function append(list, row) {
  const last = list.lastElementChild;
  const open = last?.matches('.log-fold') && last.dataset.closed === undefined ? last : null;
  if (row.matches('.log-endgroup')) {
    if (open) open.dataset.closed = '';
    row.remove();
  } else if (row.matches('.log-group')) {
    if (open) open.dataset.closed = '';
    const group = Object.assign(document.createElement('details'), { className: 'log-fold', open: true });
    const summary = document.createElement('summary');
    summary.id = row.id;
    summary.className = row.className;
    summary.append(...row.childNodes);
    for (const link of summary.querySelectorAll('a')) {
      const text = Object.assign(document.createElement('span'), { className: link.className });
      text.append(...link.childNodes);
      link.replaceWith(text);
    }
    group.append(summary);
    list.append(group);
  } else (open ?? list).append(row);
}

/** Number of the last row on the page. */
let end = 0;
/** Rows that came since the page was last asked for. */
let arrived = [];
function addRows(html) {
  const list = document.querySelector('[data-rows][data-follows]');
  if (!list) return;
  const parsed = document.createElement('template');
  parsed.innerHTML = html;
  for (const row of [...parsed.content.children]) {
    const number = Number(row.id.slice(1));
    if (number <= end || document.getElementById(row.id)) continue;
    end = number;
    append(list, row);
  }
  const rows = list.querySelectorAll('div.log-row');
  for (let at = 0; at < rows.length - maxLiveRows; at += 1) rows[at].remove();
  if (follows) scrollTo(0, document.documentElement.scrollHeight);
}

/** Steps keep what the reader has opened; the one that grew is as the server says now. */
function renewLog(log, next) {
  for (const section of [...next.querySelectorAll('.log-section')]) {
    const old = document.getElementById(section.id);
    const list = old?.querySelector('[data-rows]');
    if (!list || section.querySelector('[data-rows]')) continue;
    // Rows come before their runner says which step they belong to.
    for (const row of list.querySelectorAll('.log-row[id]')) {
      const number = Number(row.id.slice(1));
      if (number < Number(section.dataset.first) || number > Number(section.dataset.last)) row.remove();
    }
    delete list.dataset.follows;
    section.querySelector(':scope > :not(summary)')?.remove();
    section.append(...[...old.children].filter((child) => child.tagName !== 'SUMMARY'));
    section.open = old.open;
  }
  log.replaceWith(next);
  end = Number([...next.querySelectorAll('[data-follows] .log-row[id]')].at(-1)?.id.slice(1) ?? end);
  for (const html of arrived) addRows(html);
  loadOpened();
}

let source = null;
let isDue = false;
let renewal = Promise.resolve();
/** A change that comes while a page is asked for may be too new for it: it asks once more. */
function renew(delay = 400) {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    renewal = renewal.then(() => {
      isDue = false;
      return renewParts().catch(() => renew(5000));
    });
  }, delay);
}

async function renewParts() {
  arrived = [];
  const answer = await fetch(location.href);
  if (answer.status === 429 || answer.status >= 500) return renew(5000);
  if (!answer.ok) return source?.close();
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const partsOf = (root) => [...root.querySelectorAll('[data-part]')].map(({ dataset }) => dataset.part).join();
  // A log that was not there before changes the page as a whole.
  if (partsOf(fresh) !== partsOf(document)) return location.reload();
  for (const part of document.querySelectorAll('[data-part]')) {
    const next = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
    if (part.dataset.part === 'log') renewLog(part, next);
    else if (!part.contains(document.activeElement) && !part.querySelector('details[open]')) part.replaceWith(next);
    // A menu that the reader uses stays until it is closed.
    else
      for (const event of ['focusout', 'toggle'])
        part.addEventListener(event, () => renew(), { capture: true, once: true });
  }
  if (!fresh.querySelector('.run-page')?.dataset.live) source?.close();
  if (follows) scrollTo(0, document.documentElement.scrollHeight);
}

/** A step without rows gets them from its own address. */
function loadOpened() {
  for (const section of document.querySelectorAll('.log-section')) {
    section.ontoggle = async () => {
      const link = section.querySelector('[data-load]');
      if (!section.open || !link) return;
      const answer = await fetch(link.href).catch(() => null);
      if (!answer?.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(section.id);
      if (!fresh) return;
      link.parentElement.remove();
      section.append(...[...fresh.children].filter((child) => child.tagName !== 'SUMMARY'));
    };
  }
}
loadOpened();

// The address of a row that is folded away.
const [, wanted] = /^#L(\d+)$/.exec(location.hash) ?? [];
if (wanted && document.querySelector('.log-section') && !document.getElementById(`L${wanted}`)) {
  const address = new URL(location.href);
  if (address.searchParams.get('row') !== String(wanted - 1)) {
    address.searchParams.set('row', String(wanted - 1));
    location.replace(address);
  }
}

if (page?.dataset.live) {
  source = new EventSource(page.dataset.live);
  source.addEventListener('rows', ({ data }) => {
    arrived.push(data);
    addRows(data);
  });
  source.addEventListener('changed', () => renew());
  source.addEventListener('end', () => renew());
  if (followButton && document.querySelector('[data-follows]')) {
    followButton.hidden = false;
    followButton.addEventListener('click', () => setFollowing(!follows));
    // A reader who scrolls up reads; at the end again the page follows.
    addEventListener('wheel', (event) => event.deltaY < 0 && follows && setFollowing(false), { passive: true });
    addEventListener('scroll', () => {
      if (!follows && innerHeight + scrollY >= document.documentElement.scrollHeight - 8) setFollowing(true);
    });
  }
}
