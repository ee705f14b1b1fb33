/*
 * Helps to write: formatting, suggestions, filters and a counter over forms that work without them.
 */
const wraps = { bold: ['**', '**'], italic: ['_', '_'], code: ['`', '`'] };
const prefixes = { quote: '> ', list: '- ', tasks: '- [ ] ' };
/** How many lists of suggestions the page has. */
let lists = 0;
const keys = { b: 'bold', i: 'italic', k: 'link', e: 'code' };

/** Not setRangeText: this keeps the undo of the browser. */
function replace(field, from, to, added) {
  field.focus();
  field.setSelectionRange(from, to);
  if (document.execCommand('insertText', false, added)) return;
  field.setRangeText(added, from, to, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

function prefixLines(field, prefix) {
  const { selectionStart: from, selectionEnd: to, value } = field;
  const start = value.lastIndexOf('\n', from - 1) + 1;
  const lines = value.slice(start, to).split('\n');
  const isOn = lines.every((line) => line.startsWith(prefix));
  replace(field, start, to, lines.map((line) => (isOn ? line.slice(prefix.length) : prefix + line)).join('\n'));
}

/** What is missing is chosen, so that the next key writes it. */
function makeLink(field) {
  const { selectionStart: from, selectionEnd: to, value } = field;
  const chosen = value.slice(from, to);
  const isAddress = /^https?:\/\/\S+$/.test(chosen);
  replace(field, from, to, isAddress ? `[](${chosen})` : `[${chosen}](url)`);
  if (isAddress) field.setSelectionRange(from + 1, from + 1);
  else field.setSelectionRange(to + 3, to + 6);
}

/** A second time takes the signs off. */
function wrap(field, before, after) {
  const { selectionStart: from, selectionEnd: to, value } = field;
  const outer = from - before.length;
  const isOn = outer >= 0 && value.slice(outer, from) === before && value.startsWith(after, to);
  replace(
    field,
    isOn ? outer : from,
    isOn ? to + after.length : to,
    isOn ? value.slice(from, to) : before + value.slice(from, to) + after,
  );
  const shift = isOn ? -before.length : before.length;
  field.setSelectionRange(from + shift, to + shift);
}

function format(field, tool) {
  if (prefixes[tool]) return prefixLines(field, prefixes[tool]);
  if (tool === 'link') return makeLink(field);
  const isBlock = tool === 'code' && field.value.slice(field.selectionStart, field.selectionEnd).includes('\n');
  wrap(field, ...(isBlock ? ['```\n', '\n```'] : wraps[tool]));
}

/** A toolbar is one stop of the Tab key; arrows move in it. */
function moveInToolbar(bar, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const buttons = [...bar.querySelectorAll('button')];
  const next = buttons[(buttons.indexOf(event.target) + step + buttons.length) % buttons.length];
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next.focus();
  event.preventDefault();
}

for (const bar of document.querySelectorAll('.text-tools')) {
  const field = bar.nextElementSibling;
  bar.hidden = false;
  bar.querySelectorAll('button').forEach((button, at) => (button.tabIndex = at === 0 ? 0 : -1));
  for (const [key, tool] of Object.entries(keys)) {
    const button = bar.querySelector(`[data-tool=${tool}]`);
    button.title += ` (Ctrl+${key.toUpperCase()})`;
    button.setAttribute('aria-keyshortcuts', `Control+${key.toUpperCase()} Meta+${key.toUpperCase()}`);
  }
  bar.addEventListener('keydown', (event) => moveInToolbar(bar, event));
  bar.addEventListener('click', (event) => {
    const tool = event.target.closest('button')?.dataset.tool;
    if (tool) format(field, tool);
  });
  field.addEventListener('keydown', (event) => {
    const tool = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && keys[event.key.toLowerCase()];
    if (!tool || event.isComposing) return;
    event.preventDefault();
    format(field, tool);
  });
  countDown(field, bar.dataset.left);
  if (bar.dataset.suggestions) suggestOver(field, bar.dataset.suggestions, bar.dataset.label);
}

/** Near its limit a text says how much is left. */
function countDown(field, words) {
  if (!(field.maxLength > 0)) return;
  const state = Object.assign(document.createElement('p'), { className: 'hint', hidden: true });
  state.setAttribute('role', 'status');
  field.after(state);
  const show = () => {
    const left = field.maxLength - field.value.length;
    state.hidden = left > field.maxLength / 10;
    state.textContent = state.hidden ? '' : words.replace('%', left);
  };
  field.addEventListener('input', show);
  show();
}

async function ask(address, kind, wanted) {
  const answer = await fetch(`${address}?${new URLSearchParams({ kind, q: wanted })}`).catch(() => null);
  return answer?.ok ? (await answer.json()).items : [];
}

/** What is being typed: a name among names with commas, or what follows a sign at the beginning of a word. */
function tokenOf(field) {
  const before = field.value.slice(0, field.selectionStart);
  if (field.dataset.suggest) {
    const part = /[^,]*$/.exec(before)[0].trimStart();
    return { kind: field.dataset.suggest, wanted: part.trim().replace(/^@/, ''), from: before.length - part.length };
  }
  const [, sign, wanted] = /(?:^|[\s(])([@#:])([\p{L}\d+/._-]{0,50})$/u.exec(before.slice(-80)) ?? [];
  const isCode = (before.match(/^ {0,3}(?:```|~~~)/gm) ?? []).length % 2 === 1;
  if (!sign || isCode || (sign === ':' && wanted.length < 2)) return null;
  return {
    kind: { '@': 'mention', '#': 'reference', ':': 'emoji' }[sign],
    wanted,
    from: before.length - wanted.length - 1,
  };
}

/** Where the text cursor is below the edge of the field: a copy of the text before it is laid out unseen. */
function placeOf(field, at) {
  if (field.tagName === 'INPUT') return { left: 0, top: field.offsetHeight };
  const copy = document.createElement('div');
  const end = document.createElement('span');
  const style = getComputedStyle(field);
  for (const name of ['font', 'letterSpacing', 'lineHeight', 'padding', 'tabSize']) copy.style[name] = style[name];
  Object.assign(copy.style, {
    position: 'absolute',
    visibility: 'hidden',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
    inlineSize: `${field.clientWidth}px`,
  });
  copy.textContent = field.value.slice(0, at);
  end.textContent = '.';
  copy.append(end);
  document.body.append(copy);
  const place = { left: end.offsetLeft, top: end.offsetTop + end.offsetHeight - field.scrollTop };
  copy.remove();
  return place;
}

function suggestOver(field, address, label) {
  const list = document.createElement('ul');
  list.className = 'suggestions';
  list.id = `suggestions-${(lists += 1)}`;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', label);
  list.hidden = true;
  field.after(list);
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-controls', list.id);
  if (field.tagName === 'INPUT') {
    field.setAttribute('role', 'combobox');
    field.setAttribute('aria-expanded', 'false');
  }
  let asked = 0;
  let chosen = 0;

  const show = (isShown) => {
    list.hidden = !isShown;
    if (field.tagName === 'INPUT') field.setAttribute('aria-expanded', String(isShown));
    if (!isShown) field.removeAttribute('aria-activedescendant');
  };
  const mark = (at) => {
    chosen = (at + list.children.length) % list.children.length;
    [...list.children].forEach((item, index) => item.setAttribute('aria-selected', String(index === chosen)));
    list.children[chosen].scrollIntoView({ block: 'nearest' });
    field.setAttribute('aria-activedescendant', list.children[chosen].id);
  };
  const take = (at) => {
    const token = tokenOf(field);
    const { text } = list.children[at].dataset;
    show(false);
    if (token) replace(field, token.from, field.selectionStart, `${text}${field.dataset.suggest ? ', ' : ' '}`);
    show(false);
    asked += 1;
  };
  const fill = (items, from) => {
    list.replaceChildren(
      ...items.map((item, at) => {
        const row = document.createElement('li');
        row.id = `${list.id}-${at}`;
        row.setAttribute('role', 'option');
        row.dataset.text = item.text;
        const note = Object.assign(document.createElement('span'), { className: 'quiet', textContent: item.note });
        row.append(Object.assign(document.createElement('bdi'), { textContent: item.label }), ' ', note);
        row.addEventListener('mousedown', (event) => {
          event.preventDefault();
          take(at);
        });
        return row;
      }),
    );
    show(items.length > 0);
    if (items.length === 0) return;
    const { left, top } = placeOf(field, from);
    list.style.insetBlockStart = `${field.offsetTop + Math.min(top, field.offsetHeight)}px`;
    list.style.left = `${field.offsetLeft + Math.max(0, Math.min(left, field.offsetWidth - list.offsetWidth))}px`;
    mark(0);
  };
  const update = async () => {
    const turn = (asked += 1);
    await new Promise((resolve) => setTimeout(resolve, 120));
    const token = turn === asked && document.activeElement === field ? tokenOf(field) : null;
    const items = token ? await ask(address, token.kind, token.wanted) : [];
    if (turn === asked) fill(items, token?.from ?? 0);
  };

  field.addEventListener('input', update);
  if (field.dataset.suggest) field.addEventListener('focus', update);
  field.addEventListener('blur', () => {
    asked += 1;
    show(false);
  });
  field.addEventListener('keydown', (event) => {
    if (list.hidden || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark(chosen + step);
    else if (event.key === 'Escape') show(false);
    else if (event.key === 'Enter' || (event.key === 'Tab' && !event.shiftKey)) take(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

for (const field of document.querySelectorAll('input[data-suggest]')) {
  field.removeAttribute('list');
  suggestOver(field, field.dataset.suggestions, field.labels[0]?.textContent ?? '');
}

function addFilter(around, label, onInput) {
  const input = Object.assign(document.createElement('input'), {
    type: 'search',
    className: 'filter',
    placeholder: label,
    autocomplete: 'off',
  });
  input.setAttribute('aria-label', label);
  around.before(input);
  input.addEventListener('input', () => onInput(input.value.trim().toLowerCase()));
  // It is no field of the form around it.
  input.addEventListener('keydown', (event) => event.key === 'Enter' && event.preventDefault());
}

/** Boxes to tick are filtered by their words; those that the page has not listed are asked for. */
for (const boxes of document.querySelectorAll('[data-filter].label-boxes')) {
  const rows = () => [...boxes.children];
  if (rows().length < 8) continue;
  let asked = 0;
  addFilter(boxes, boxes.dataset.filter, async (wanted) => {
    const turn = (asked += 1);
    const hide = () => {
      for (const row of rows())
        row.hidden = !row.textContent.toLowerCase().includes(wanted) && !row.querySelector(':checked');
    };
    hide();
    if (wanted === '') return;
    await new Promise((resolve) => setTimeout(resolve, 120));
    const items = turn === asked ? await ask(boxes.dataset.suggestions, 'label', wanted) : [];
    const known = new Set(rows().map((row) => row.querySelector('input').value));
    for (const { text, label } of items) {
      if (known.has(text)) continue;
      const row = Object.assign(document.createElement('label'), { className: 'check' });
      const box = Object.assign(document.createElement('input'), { type: 'checkbox', name: 'labels', value: text });
      row.append(box, Object.assign(document.createElement('bdi'), { textContent: label }));
      boxes.append(row);
    }
    if (turn === asked) hide();
  });
}

for (const select of document.querySelectorAll('select[data-filter]')) {
  const options = [...select.options];
  if (options.length < 12) continue;
  addFilter(select, select.dataset.filter, (wanted) => {
    // Not hidden: some browsers show hidden options.
    select.replaceChildren(
      ...options.filter(
        (option) => option.selected || option.value === '' || option.text.toLowerCase().includes(wanted),
      ),
    );
  });
}
