/** Pages of the documentation in the order in which they are listed; each group has a title in the catalogue. */
export const helpGroups = [
  {
    key: 'using',
    names: [
      'editing-files',
      'issues',
      'pull-requests',
      'branch-rules',
      'forks',
      'releases',
      'wikis',
      'lfs',
      'packages',
      'teams',
      'notifications',
      'signing',
      'deploy-keys',
    ],
  },
  { key: 'ci', names: ['ci', 'runner-protocol'] },
  { key: 'programs', names: ['api', 'clients', 'oauth', 'export-bundle', 'specification'] },
  {
    key: 'running',
    names: [
      'installation',
      'administration',
      'sign-in',
      'single-sign-on',
      'addresses',
      'mail',
      'backup',
      'imports',
      'federation',
      'postgresql',
      'object-store',
      'repository-store',
      'security-model',
      'compatibility',
    ],
  },
] as const;

/** The documentation page for a template; the first match wins. */
const topics: readonly (readonly [template: RegExp, name: string])[] = [
  [/^(?:pulls\/)/, 'pull-requests'],
  [/^(?:issues|boards)\//, 'issues'],
  [/^runs\//, 'ci'],
  [/^releases\//, 'releases'],
  [/^wiki\//, 'wikis'],
  [/^editing\//, 'editing-files'],
  [/^packages\//, 'packages'],
  [/^notifications\//, 'notifications'],
  [/^organisation\//, 'teams'],
  [/^oauth\//, 'oauth'],
  [/^site\/api$/, 'api'],
  [/^repository\/(?:fork|forks|sync)$/, 'forks'],
  [/^repository\/branch-rules?$/, 'branch-rules'],
  [/^repository\/deploy-keys$/, 'deploy-keys'],
  [/^repository\/import/, 'imports'],
  [/^account\/(?:gpg-keys|ssh-keys)$/, 'signing'],
  [/^account\/access-tokens$/, 'api'],
  [/^account\/email-addresses$/, 'addresses'],
  [/^account\/(?:security|sessions|account)$/, 'sign-in'],
  [/^account\/linked-accounts$/, 'single-sign-on'],
  [/^account\/notices$/, 'mail'],
  [/^admin\/federation|^follows\//, 'federation'],
  [/^admin\/mail$/, 'mail'],
  [/^admin\/single-sign-on$/, 'single-sign-on'],
  [/^admin\//, 'administration'],
  [/^sign-in\//, 'sign-in'],
];

/** Target of the "Help" link of a page. */
export const helpUrlOf = (template: string): string => {
  const name = topics.find(([pattern]) => pattern.test(template))?.[1];
  return name === undefined ? '/help' : `/help/${name}`;
};
