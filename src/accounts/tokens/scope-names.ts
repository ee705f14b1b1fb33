import type { Scope } from '../../access/index.ts';

const parts = ['activitypub', 'issue', 'misc', 'notification', 'organization', 'package', 'repository', 'user'];

/** Gitea's names of the scopes of a token. */
export const apiScopeNames: readonly string[] = [
  'all',
  'public-only',
  'sudo',
  ...['read', 'write'].flatMap((word) => [...parts, 'admin'].map((part) => `${word}:${part}`)),
];

/** The scopes of Gitea that each of ours gives at least. */
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
 * The least scope that gives what is asked for: reading, writing in repositories, or everything, which is all that
 * changes accounts, organisations and the server.
 */
export function scopeFor(names: readonly string[]): Scope {
  if (names.every((name) => name.startsWith('read:') || name === 'public-only')) return 'read';
  const writes = names.filter((name) => !name.startsWith('read:') && name !== 'public-only');
  return writes.every((name) => scopesGiven.write.includes(name)) ? 'write' : 'admin';
}
