// Asks the browser for a passkey and puts its answer into the form (WebAuthn Level 3). Loaded only by pages with such a
// form; their buttons are hidden until this script has shown that it runs.

/** A message in the language of the reader: the server puts `words` in front of this file. */
const t = (key) => words[key];

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));

const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const withBytes = (list) => (list ?? []).map((each) => ({ ...each, id: toBytes(each.id) }));

const readOptions = (json) => {
  const options = JSON.parse(json);
  return {
    ...options,
    challenge: toBytes(options.challenge),
    ...(options.user && { user: { ...options.user, id: toBytes(options.user.id) } }),
    ...(options.excludeCredentials && { excludeCredentials: withBytes(options.excludeCredentials) }),
    ...(options.allowCredentials && { allowCredentials: withBytes(options.allowCredentials) }),
  };
};

const writeCredential = ({ id, rawId, type, authenticatorAttachment, response }) =>
  JSON.stringify({
    id,
    rawId: toText(rawId),
    type,
    authenticatorAttachment: authenticatorAttachment ?? undefined,
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      ...(response.attestationObject && {
        attestationObject: toText(response.attestationObject),
        transports: response.getTransports?.() ?? [],
      }),
      ...(response.authenticatorData && { authenticatorData: toText(response.authenticatorData) }),
      ...(response.signature && { signature: toText(response.signature) }),
      ...(response.userHandle && { userHandle: toText(response.userHandle) }),
    },
  });

const reasons = {
  InvalidStateError: t('scripts.passkey_exists'),
  NotAllowedError: t('scripts.passkey_cancelled'),
  SecurityError: t('scripts.passkey_other_address'),
};

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const status = form.querySelector('.passkey-status');
  const say = (text) => {
    status.textContent = text;
    status.hidden = text === '';
  };
  if (!window.PublicKeyCredential) {
    say(t('scripts.no_passkeys'));
    continue;
  }
  const button = form.querySelector('button[type=submit]');
  button.hidden = false;
  if (button.autofocus) button.focus();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    say('');
    button.disabled = true;
    try {
      const publicKey = readOptions(form.dataset.options);
      const credential = await navigator.credentials[form.dataset.passkey]({ publicKey });
      form.querySelector('[data-passkey-answer]').value = writeCredential(credential);
      form.submit();
    } catch (error) {
      say(reasons[error.name] ?? t('scripts.passkey_failed'));
      button.disabled = false;
    }
  });
}
