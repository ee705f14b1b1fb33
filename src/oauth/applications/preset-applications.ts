import type { Application } from './application.ts';

/** Programs of people's own machines answer the redirect at a free port of it (RFC 8252, 7.3). */
const loopback = [
  'http://127.0.0.1',
  'http://127.0.0.1/',
  'http://[::1]',
  'http://[::1]/',
  'http://localhost',
  'http://localhost/',
];

const preset = (clientId: string, name: string): Application => ({
  id: clientId,
  clientId,
  owner: { kind: 'instance' },
  name,
  isConfidential: false,
  secretEnding: null,
  redirectUris: loopback,
  createdAt: 0,
  isPreset: true,
});

/** Public clients that are known to every server of this kind, by the identifiers that they bring along. */
export const presetApplications: readonly Application[] = [
  preset('a4792ccc-144e-407e-86c9-5e7d8d9c3269', 'git-credential-oauth'),
  preset('e90ee53c-94e2-48ac-9358-a874fb9e0662', 'Git Credential Manager'),
  preset('d57cb8c4-630c-4168-8324-ec79935e18d4', 'tea'),
];
