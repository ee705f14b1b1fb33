/** Gitea's URLs contain the kind of a ref; ours do not need it. */
const refKinds = new Set(['branch', 'tag', 'commit']);
const withoutKind = ([kind = '', ...rest]: readonly string[]): string[] =>
  refKinds.has(kind) && rest.length > 0 ? rest : [kind, ...rest];

const pullPages: Readonly<Record<string, string[]>> = {
  files: ['changes'],
  changes: ['changes'],
  commits: ['commits'],
};

/**
 * The page here that corresponds to a repository page of GitHub or Gitea, as segments behind the repository; all keep
 * their percent-encoding.
 * @param word the first segment there
 */
export function foreignPath(word: string, rest: readonly string[]): string[] {
  switch (word) {
    case 'pull':
    case 'pulls':
      return ['pulls', ...rest.slice(0, 1), ...(pullPages[rest[1] ?? ''] ?? [])];
    case 'src':
    case 'tree':
      return ['tree', ...withoutKind(rest)];
    case 'raw':
    case 'blob':
    case 'blame':
    case 'commits':
      return [word, ...withoutKind(rest)];
    case 'actions': {
      const [kind, file = '', page = ''] = rest;
      if (kind === 'workflows' && page === 'badge.svg' && file !== '') return ['runs', 'badge', `${file}.svg`];
      const run = rest[0] === 'runs' && /^[1-9]\d{0,8}$/.test(rest[1] ?? '') ? [rest[1]!] : [];
      return ['runs', ...run];
    }
    default:
      return [word, ...rest];
  }
}
