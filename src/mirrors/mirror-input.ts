import { invalid } from '../kernel/index.ts';
import type { MirrorDirection } from './mirror-schema.ts';
import { parseRemoteAddress } from './remote-address.ts';
import type { RemoteAddress } from './remote-address.ts';

export interface MirrorInput {
  direction: string;
  address: string;
  /** For http and https; an ssh URL contains its user. */
  username?: string | undefined;
  /** If omitted or empty, the stored one is kept, unless the host changes. */
  secret?: string | undefined;
  /** Whether to generate a new key pair for a mirror over ssh. */
  newKey?: boolean | undefined;
  intervalMs: number;
  prune: boolean;
  /** Whether a pull mirror also imports releases; for http URLs only. */
  withReleases?: boolean | undefined;
  /** Whether to store a URL that cannot be reached now: the next sync retries it. */
  mayBeUnreachable?: boolean | undefined;
}

export const minIntervalMs = 5 * 60_000;
const maxIntervalMs = 30 * 86_400_000;

/** Throws `invalid_mirror` for a password that would never be used. */
export function refusePassword(secret: string | undefined): void {
  if (secret)
    throw invalid(
      'invalid_mirror',
      'An SSH address cannot contain a password because the mirror signs in with its own key.',
      {
        field: 'secret',
      },
    );
}

/** Throws `invalid_mirror`. */
export function readInput({
  direction,
  address: given,
  username = '',
  intervalMs,
  withReleases = false,
}: MirrorInput): {
  direction: MirrorDirection;
  address: RemoteAddress;
  username: string;
  intervalMs: number;
  withReleases: boolean;
} {
  if (direction !== 'pull' && direction !== 'push')
    throw invalid('invalid_mirror', 'Choose a direction.', { field: 'direction' });
  const address = parseRemoteAddress(given);
  if (/[\x00-\x1f\x7f:]/.test(username) || username.length > 200)
    throw invalid('invalid_mirror', 'This is not a username.', { field: 'username' });
  if (!Number.isFinite(intervalMs) || intervalMs < minIntervalMs || intervalMs > maxIntervalMs) {
    throw invalid('invalid_mirror', 'The interval must be between five minutes and thirty days.', {
      field: 'interval',
    });
  }
  if (withReleases && (direction !== 'pull' || address.kind !== 'http'))
    throw invalid('invalid_mirror', 'Only pull mirrors and imports from HTTP addresses can include releases.', {
      field: 'releases',
    });
  return { direction, address, username: address.kind === 'ssh' ? '' : username.trim(), intervalMs, withReleases };
}
