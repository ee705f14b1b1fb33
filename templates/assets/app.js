/*
 * The optional script. Every page works without it; it only saves clicks.
 */

/** A message in the language of the reader: the server puts `words` in front of this file. */
const t = (key, values) => words[key].replace(/\{(\w+)\}/g, (_all, name) => values[name]);

/** Copy buttons appear only here, where they can keep their promise. */
for (const button of document.querySelectorAll('[data-copy], [data-copy-text]')) {
  const { copy, copyText } = button.dataset;
  const target = copy ? document.querySelector(copy) : { value: copyText };
  if (!target || !navigator.clipboard) continue;
  const label = button.querySelector('.visually-hidden');
  const icon = button.querySelector('use');
  const { textContent: before } = label;
  const iconBefore = icon.getAttribute('href');
  button.hidden = false;
  label.setAttribute('role', 'status');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(target.value ?? target.textContent);
    button.classList.add('is-done');
    icon.setAttribute('href', iconBefore.replace(/#.*/, '#check'));
    label.textContent = t('scripts.copied');
    setTimeout(() => {
      button.classList.remove('is-done');
      icon.setAttribute('href', iconBefore);
      label.textContent = before;
    }, 2000);
  });
}

/** Passwords and secrets can be looked at while they are typed; what is sent is a password field again. */
for (const input of document.querySelectorAll('.field > input[type="password"][autocomplete$="-password"]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'small show-password';
  button.setAttribute('aria-controls', input.id);
  const isPassword = input.name.includes('password');
  const [show, hide] = isPassword
    ? [t('scripts.show_password'), t('scripts.hide_password')]
    : [t('scripts.show_secret'), t('scripts.hide_secret')];
  const change = (isShown) => {
    input.type = isShown ? 'text' : 'password';
    // Its own words say the state, so there is no aria-pressed.
    button.textContent = isShown ? hide : show;
  };
  change(false);
  button.addEventListener('click', () => change(input.type === 'password'));
  input.form?.addEventListener('submit', () => change(false));
  input.after(button);
}

/** The transport chosen in a clone box is remembered for the next one. */
for (const choice of document.querySelectorAll('input[name="clone"][id]')) {
  choice.addEventListener('change', () => {
    document.cookie = `hearth_clone=${choice.value}; Path=/; Max-Age=31536000; SameSite=Lax`;
  });
}

/** A click into a read-only address selects all of it. */
for (const field of document.querySelectorAll('input[readonly], .clone textarea')) {
  field.addEventListener('focus', () => field.select());
}

/** The page that says "nothing here" is the same for everyone; only the browser knows where it was. */
for (const link of document.querySelectorAll('a[data-return]')) {
  link.search = new URLSearchParams({ next: location.pathname + location.search }).toString();
}

/** The ids of documents have a prefix: the address without it, as other forges write it, lands at the same place. */
function landInDocument() {
  let name;
  try {
    name = decodeURIComponent(location.hash.slice(1));
  } catch {
    return;
  }
  if (!name || document.getElementById(name)) return;
  const place =
    document.getElementById(`user-content-${name}`) ?? document.getElementById(`user-content-${name.toLowerCase()}`);
  place?.scrollIntoView();
}
addEventListener('hashchange', landInDocument);
landInDocument();

/** A menu of branches closes like any menu: by Escape, and by a click elsewhere. */
for (const menu of document.querySelectorAll('.ref-selector')) {
  menu.addEventListener('toggle', () => menu.open && menu.querySelector('input[name=ref]')?.focus());
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    menu.open = false;
    menu.querySelector('summary').focus();
  });
  document.addEventListener('click', (event) => menu.contains(event.target) || (menu.open = false));
}

/*
 * Lines of a file: a click marks one, a click with Shift all between; the address says which.
 */
const code = document.querySelector('pre.code');

function markLines() {
  const [, first, last = first] = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash) ?? [];
  if (!first || !code) return;
  const [from, to] = [Number(first), Number(last)].sort((a, b) => a - b);
  // A long file shows some of its lines: the address of another one leads to those around it.
  if (from >= 1 && from <= Number(code.dataset.lines) && !document.getElementById(`L${from}`)) {
    const query = new URLSearchParams(location.search);
    query.delete('part');
    query.set('lines', from === to ? from : `${from}-${to}`);
    return location.replace(`?${query}${location.hash}`);
  }
  for (const line of code.querySelectorAll('.marked')) line.classList.remove('marked');
  for (let number = from; number <= to; number += 1)
    document.getElementById(`L${number}`)?.parentElement.classList.add('marked');
  document.getElementById(`L${from}`)?.scrollIntoView({ block: 'nearest' });
}

if (code) {
  addEventListener('hashchange', markLines);
  markLines();
  code.addEventListener('click', (event) => {
    const [, number] = /^#L(\d+)$/.exec(event.target.getAttribute?.('href') ?? '') ?? [];
    const [, anchor] = /^#L(\d+)/.exec(location.hash) ?? [];
    if (!number || !anchor || !event.shiftKey) return;
    event.preventDefault();
    location.hash = `#L${anchor}-L${number}`;
  });
}

/** The file finder answers while one types; without this it is a form. */
for (const form of document.querySelectorAll('[data-find]')) {
  const found = document.getElementById('found');
  let asked = 0;
  form.addEventListener('input', async () => {
    const turn = (asked += 1);
    await new Promise((resolve) => setTimeout(resolve, 120));
    if (turn !== asked) return;
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    const answer = await fetch(address);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (turn !== asked || !answer.ok) return;
    found.replaceChildren(...page.getElementById('found').childNodes);
    history.replaceState(null, '', address);
  });
}

/*
 * Keys. Each does what a link on the page does, none works while one types, and all of
 * them can be switched off under Appearance (WCAG 2.1.4).
 */
const keys = [
  ['?', t('scripts.keys_help')],
  ['s', t('scripts.search')],
  ['g d', t('scripts.dashboard')],
  ['g c', t('scripts.code')],
  ['g i', t('scripts.issues')],
  ['g p', t('scripts.pull_requests')],
  ['g n', t('scripts.notifications')],
  ['c', t('scripts.new_issue_or_pull_request')],
  ['t', t('scripts.find_a_file')],
  ['w', t('scripts.branches_and_tags')],
  ['l', t('scripts.go_to_a_line')],
  ['y', t('scripts.permalink')],
  ['b', t('scripts.blame_and_back')],
  ['r', t('scripts.reply')],
  ['j', t('scripts.next_row')],
  ['k', t('scripts.previous_row')],
  ['x', t('scripts.select_row')],
  ['e', t('scripts.done_with_row')],
  ['] [', t('scripts.next_and_previous_file')],
  ['n p', t('scripts.next_and_previous_open_thread')],
  ['v', t('scripts.file_viewed')],
];

function showHelp() {
  const dialog = document.createElement('dialog');
  dialog.className = 'shortcuts';
  dialog.innerHTML = '<h2></h2><dl></dl><form method="dialog"><button autofocus></button></form>';
  dialog.querySelector('h2').textContent = t('scripts.keys');
  dialog.querySelector('button').textContent = t('scripts.close');
  for (const [key, what] of keys) {
    const term = document.createElement('dt');
    term.append(Object.assign(document.createElement('kbd'), { textContent: key }));
    dialog.querySelector('dl').append(term, Object.assign(document.createElement('dd'), { textContent: what }));
  }
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function moveBy(step) {
  const rows = [...document.querySelectorAll('main :is(.row-title, a.file, a.row, .changed-file > summary)')].filter(
    (row) => row.offsetParent,
  );
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
}

/** Ticks the row of a list that has the focus. */
function tickRow() {
  document.activeElement.closest('.row')?.querySelector('input[type=checkbox]')?.click();
}

/** The next or the previous of some elements gets the focus, seen from the one that has it. */
function moveAmong(selector, step) {
  const all = [...document.querySelectorAll(selector)].filter((each) => each.offsetParent);
  const from = document.activeElement;
  const at = all.findLastIndex((each) => each.contains(from) || each.compareDocumentPosition(from) & 4);
  const isInside = all[at]?.contains(from);
  const target = all[step > 0 ? at + 1 : isInside ? at - 1 : at];
  if (!target) return;
  target.tabIndex = target.matches('summary') ? 0 : -1;
  target.focus();
  target.scrollIntoView({ block: 'nearest' });
}

function goToLine() {
  const line = code && prompt(t('scripts.line'));
  if (/^\d+$/.test(line ?? '')) location.hash = `#L${line}`;
}

const clickOr = (key, address) =>
  (document.querySelector(`[data-key="${key}"]`) ?? { click: () => location.assign(address) }).click();

const actions = {
  '?': showHelp,
  s: () =>
    (
      document.querySelector('header input[type=search], .search-box input') ?? {
        focus: () => location.assign('/search'),
      }
    ).focus(),
  'g d': () => location.assign('/'),
  r: () => document.querySelector('textarea#reply:not([readonly])')?.focus(),
  l: goToLine,
  j: () => moveBy(1),
  k: () => moveBy(-1),
  x: tickRow,
  ']': () => moveAmong('.changed-file > summary', 1),
  '[': () => moveAmong('.changed-file > summary', -1),
  n: () => moveAmong('.thread:not(.is-resolved, form)', 1),
  p: () => moveAmong('.thread:not(.is-resolved, form)', -1),
  v: () => document.activeElement.closest('.changed-file')?.querySelector('button[name=viewed]')?.click(),
  e: () => document.activeElement.closest('.row')?.querySelector('button[data-done]')?.click(),
  // Where no tab leads there: those of the person.
  'g i': () => clickOr('g i', '/dashboard/issues'),
  'g p': () => clickOr('g p', '/dashboard/pulls'),
};
actions['/'] = actions.s;

let before = '';
addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select, [contenteditable], dialog');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.documentElement.dataset.keys === 'off') return;
  const key = before === 'g' ? `g ${event.key}` : event.key;
  before = event.key;
  const link = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!actions[key] && !link) return;
  event.preventDefault();
  before = '';
  if (actions[key]) actions[key]();
  else link.click();
});

/** Ctrl+Enter sends a text from its field, on a Mac Command+Enter; the first button of a form is what sends it. */
addEventListener('keydown', (event) => {
  const form = event.target.closest?.('textarea')?.form;
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !form?.querySelector('button.primary')) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector('button.primary'));
});

/** A text that is being written is kept as a draft, by the button that does it without a script. */
for (const button of document.querySelectorAll('button[name=action][value=draft]')) {
  const { form } = button;
  const state = Object.assign(document.createElement('span'), { className: 'hint', role: 'status' });
  const fields = () => new URLSearchParams(new FormData(form)).toString();
  let kept = fields();
  let isSent = false;
  button.parentElement.append(state);
  form.addEventListener('submit', () => (isSent = true));
  setInterval(async () => {
    const now = fields();
    if (isSent || now === kept) return;
    kept = now;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    // `form.action` is the button of that name.
    const answer = await fetch(form.getAttribute('action'), {
      method: 'POST',
      headers,
      body: `${now}&action=draft`,
      redirect: 'manual',
    }).catch(() => null);
    state.textContent = answer?.type === 'opaqueredirect' ? t('scripts.draft_saved') : t('scripts.draft_not_saved');
  }, 5000);
}

/*
 * Files that are pasted or dropped into a text are sent at once, and the text says where they are. Without this the
 * form has a field for files.
 */
async function sendFile(address, file) {
  const form = new FormData();
  form.append('files', file, file.name || 'file');
  const answer = await fetch(address, { method: 'POST', body: form }).catch(() => null);
  const told = await answer?.json().catch(() => null);
  if (answer?.ok && told?.files?.length) return told.files[0].markdown;
  throw new Error(told?.message ?? (answer?.status === 403 ? t('scripts.signed_out') : t('scripts.no_answer')));
}

function insertText(text, added) {
  const { selectionStart: from, selectionEnd: to, value } = text;
  const gap = from > 0 && value[from - 1] !== '\n' ? '\n' : '';
  text.setRangeText(`${gap}${added}\n`, from, to, 'end');
}

/** A saved reply goes where the cursor is; without this its link loads the page with it. */
for (const link of document.querySelectorAll('.saved-replies a[data-text]'))
  link.addEventListener('click', (event) => {
    event.preventDefault();
    const text = document.getElementById('reply');
    insertText(text, link.dataset.text);
    link.closest('details').open = false;
    text.focus();
  });

for (const text of document.querySelectorAll('textarea[data-attachments]')) {
  const status = Object.assign(document.createElement('p'), { className: 'hint' });
  status.setAttribute('role', 'status');
  text.after(status);
  const send = async (files) => {
    for (const file of files) {
      const place = `<!-- sending ${file.name.replaceAll('--', '')} -->`;
      insertText(text, place);
      status.textContent = t('scripts.sending_name', { name: file.name });
      const markdown = await sendFile(text.dataset.attachments, file).then(
        (found) => ((status.textContent = t('scripts.name_is_attached', { name: file.name })), found),
        (error) => ((status.textContent = `${file.name}: ${error.message}`), ''),
      );
      text.value = text.value.replace(markdown === '' ? `${place}\n` : place, () => markdown);
      text.dispatchEvent(new Event('input', { bubbles: true }));
    }
  };
  text.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    send(files);
  });
  text.addEventListener('dragover', (event) => event.dataTransfer?.types.includes('Files') && event.preventDefault());
  text.addEventListener('drop', (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    send(files);
  });
}

// Text of a file: Tab indents; Escape lets the next Tab leave the field.
for (const area of document.querySelectorAll('textarea[data-indent]')) {
  const hint = document.querySelector('[data-indent-hint]');
  if (hint) hint.hidden = false;
  let leaves = false;
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') leaves = true;
    else if (event.key !== 'Tab' || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) {
      if (event.key !== 'Tab') leaves = false;
    } else if (!leaves) {
      event.preventDefault();
      // Not setRangeText: this keeps the undo of the browser.
      document.execCommand('insertText', false, area.dataset.indent);
    }
  });
}
