import type { Scope } from '../../access/index.ts';

const parts = ['activitypub', 'issue', 'misc', 'notification', 'organization', 'package', 'repository', 'user'];

/** Gitea's names of token scopes. */
export const apiScopeNames: readonly string[] = [
  'all',
  'public-only',
  'sudo',
  ...['read', 'write'].flatMap((word) => [...parts, 'admin'].map((part) => `${word}:${part}`)),
];

/** Minimum Gitea scopes included in each of ours. */
export const scopesGiven: Readonly<Record<Scope, readonly string[]>> = {
  read: parts.map((part) => `read:${part}`),
  write: [
    'write:issue',
    'write:notification',
    'write:package',
    'write:repository',
    ...parts.map((part) => `read:${part}`),
  ],
  admin: ['all'],
};

/**
 * The least scope that covers the request: reading, writing in repositories, or everything, which alone allows changes
 * of accounts, organisations and the server.
 */
export function scopeFor(names: readonly string[]): Scope {
  if (names.every((name) => name.startsWith('read:') || name === 'public-only')) return 'read';
  const writes = names.filter((name) => !name.startsWith('read:') && name !== 'public-only');
  return writes.every((name) => scopesGiven.write.includes(name)) ? 'write' : 'admin';
}
