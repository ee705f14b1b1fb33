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
  'person-changed': 'Changed. Their sessions have ended where their rights changed.',
  'invite-removed': 'The invite is withdrawn.',
  'invite-gone': 'An invite link is shown only once. Make a new one if it was lost.',
  'session-ended': 'That session is ended.',
  'sessions-ended': 'All other sessions are ended.',
  'appearance-saved': 'Saved.',
  'repository-deleted': 'The repository is in the trash. Your settings, under Repositories, can bring it back.',
  'repository-left': 'You no longer work on that repository.',
  'image-saved': 'The image is saved.',
  'image-removed': 'The image is removed.',
  'avatar-saved': 'The picture is saved.',
  'avatar-removed': 'The picture is removed; the drawn one is back.',
  'now-public': 'The repository is public now.',
  'now-private': 'The repository is private now.',
  'renamed': 'Renamed. The old address leads here until the name is used again.',
  'transferred': 'The repository has its new owner. The old address leads here until the name is used again.',
  'transfer-offered': 'Offered. The repository moves when the receiver accepts.',
  'transfer-withdrawn': 'The offer is withdrawn.',
  'transfer-declined': 'The offer is declined.',
  'archived': 'The repository is archived: everybody who could read it still can, nobody can push.',
  'unarchived': 'The repository takes pushes again.',
  'restored': 'The repository is back.',
  'collaborator-added': 'The collaborator is added.',
  'collaborator-removed': 'The collaborator is removed.',
  'role-changed': 'The role is changed.',
  'member-added': 'The member is added.',
  'member-removed': 'The member is removed.',
  'organisation-left': 'You left the organisation.',
  'organisation-created': 'The organisation is ready. You are its first owner.',
  'organisation-renamed': 'Renamed. The old name stays reserved and leads here.',
  'organisation-deleted': 'The organisation is deleted. Its name stays reserved.',
  'handle-changed': 'Your handle is changed. The old one stays reserved and leads to you.',
  'account-deleted': 'Your account is deleted.',
  'repository-followed': 'The request to follow is on its way. Pushes arrive once the other server has accepted it.',
  'person-followed': 'Their public repositories are being followed, new ones too.',
  'unfollowed': 'You no longer follow that.',
  'follow-retried': 'Asked again.',
  'peer-paired': 'The server is allowed here now. Both must allow each other.',
  'peer-removed': 'That server is not allowed by a pairing any more.',
  'pairing-code-gone': 'A pairing code is shown only once. Make a new one if it was lost.',
  'delivery-retried': 'It is sent again within seconds.',
  'run-cancelled': 'The run is cancelled.',
  'run-removed': 'The run is deleted, with its logs and artifacts.',
  'artifact-removed': 'The artifact is deleted.',
  'run-again': 'The jobs run again, as a new attempt.',
  'runner-token-gone': 'A token is shown only once. Make a new one if it was lost.',
  'runner-paused': 'The runner gets no further job.',
  'runner-resumed': 'The runner gets jobs again.',
  'runner-removed': 'The runner is removed.',
  'secret-saved': 'The secret is set.',
  'secret-removed': 'The secret is removed.',
  'variable-saved': 'The variable is set.',
  'variable-removed': 'The variable is removed.',
  'push-undone': 'Restored. The restoring is a push of its own, at the top of the list.',
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
