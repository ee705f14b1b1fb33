/**
 * What a page says after a form was accepted. The redirect carries only the
 * key, so a made-up address can show nobody a sentence of its author's choice.
 */
const notices: Readonly<Record<string, string>> = {
  'profile-saved': 'Your profile is saved.',
  'password-changed': 'Your password is changed. You are signed out everywhere else.',
  'key-added': 'The key is added. You can push and clone over SSH now.',
  'key-removed': 'The key is removed.',
  'token-removed': 'The token is removed. Whatever used it is locked out from now on.',
  'token-gone': 'A token is shown only once. If you did not keep it, make a new one.',
  'invite-removed': 'The invite is withdrawn.',
  'invite-gone': 'An invite link is shown only once. Make a new one if it was lost.',
  'session-ended': 'That session is ended.',
  'sessions-ended': 'All other sessions are ended.',
  'appearance-saved': 'Saved.',
  'repository-deleted': 'The repository is in the trash. An administrator can restore it for 30 days.',
  'settings-saved': 'The settings are saved.',
  'welcome': 'Welcome! Add an SSH key or make a token, and you are ready to push.',
  'signed-out': 'You are signed out.',
};

/** The sentence for `?done=…`, or null. */
export function viewNotice(query: URLSearchParams): string | null {
  const key = query.get('done') ?? '';
  return Object.hasOwn(notices, key) ? notices[key] ?? null : null;
}

/** A path with the key of the notice that its page should show. */
export const withNotice = (path: string, notice: string): string => `${path}?done=${notice}`;
