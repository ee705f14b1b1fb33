/*
 * The optional script. Every page works without it; it only saves clicks.
 */

/** Copy buttons appear only here, where they can keep their promise. */
for (const button of document.querySelectorAll('[data-copy]')) {
  const target = document.querySelector(button.dataset.copy);
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
    label.textContent = 'Copied';
    setTimeout(() => {
      button.classList.remove('is-done');
      icon.setAttribute('href', iconBefore);
      label.textContent = before;
    }, 2000);
  });
}

/** The transport chosen in a clone box is remembered for the next one. */
for (const choice of document.querySelectorAll('input[name="clone"][id]')) {
  choice.addEventListener('change', () => {
    document.cookie = `hearth_clone=${choice.value}; Path=/; Max-Age=31536000; SameSite=Lax`;
  });
}

/** A click into a read-only address selects all of it. */
for (const field of document.querySelectorAll('input[readonly]')) {
  field.addEventListener('focus', () => field.select());
}

/** The page that says "nothing here" is the same for everybody; only the browser knows where it was. */
for (const link of document.querySelectorAll('a[data-return]')) {
  link.search = new URLSearchParams({ next: location.pathname + location.search }).toString();
}
