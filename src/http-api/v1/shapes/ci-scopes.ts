import type { CiScope } from '../../../ci/index.ts';
import { instanceScope } from '../../../ci/index.ts';
import type { Access, AnyCall } from '../../operation.ts';

/** The scopes of runners, secrets and variables: prefix of the path, access rules, and scope. */
export interface CiScopePath {
  at: string;
  /** Part of the ids of operations: `listOrganisationRunners`. */
  word: string;
  /** End of their summaries. */
  whose: string;
  access: Access;
  scopeOf(call: AnyCall): CiScope;
  refuses: readonly 404[];
}

export const ciScopePaths: readonly CiScopePath[] = [
  {
    at: '/repos/{owner}/{name}',
    word: 'Repository',
    whose: 'of a repository',
    access: 'repository:admin',
    refuses: [],
    scopeOf: ({ found }) => ({ kind: 'repository', id: found!.repository.id }),
  },
  {
    at: '/orgs/{org}',
    word: 'Organisation',
    whose: 'for all repositories of an organisation',
    access: 'organisation:owner',
    refuses: [404],
    scopeOf: ({ organisation }) => ({ kind: 'organisation', id: organisation!.id }),
  },
  {
    at: '/user',
    word: 'My',
    whose: 'for all repositories of the caller',
    access: 'account:admin',
    refuses: [],
    scopeOf: ({ viewer }) => ({ kind: 'user', id: viewer.kind === 'person' ? viewer.id : '' }),
  },
  {
    at: '/admin',
    word: 'Instance',
    whose: 'for the whole server',
    access: 'administrator',
    refuses: [],
    scopeOf: () => instanceScope,
  },
];

/** Path parameters by name; the compiler does not know the paths of scopes. */
export const inPath = (params: Readonly<Record<string, string>>, name: string): string => params[name] ?? '';
