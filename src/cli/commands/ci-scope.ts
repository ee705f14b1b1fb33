import type { Modules } from '../../app/index.ts';
import type { CiScope } from '../../ci/index.ts';
import { findOwner } from './find-owner.ts';
import { findRepository } from './find-repository.ts';

const instance: CiScope = { kind: 'instance' };

/**
 * The scope of `--scope`: `instance`, a user, an organisation, or `owner/name`. Throws `owner_not_found`,
 * `repository_not_found`. "instance" is reserved as a handle.
 */
export async function readScope(modules: Modules, text: string): Promise<CiScope> {
  if (text === 'instance') return instance;
  if (text.includes('/')) return { kind: 'repository', id: (await findRepository(modules, text)).repository.id };
  const owner = await findOwner(modules, text);
  return { kind: owner.kind === 'organisation' ? 'organisation' : 'user', id: owner.id };
}

/** Names of scopes in the form of `readScope`; the id if the repository is in the trash. */
export async function namesOfScopes(
  { owners, repositories }: Modules,
  scopes: readonly CiScope[],
): Promise<(scope: CiScope) => string> {
  const ids = (kind: CiScope['kind'][]) => [
    ...new Set(scopes.flatMap((scope) => (scope.kind !== 'instance' && kind.includes(scope.kind) ? [scope.id] : []))),
  ];
  const located = await repositories.locate(ids(['repository']));
  const known = await owners.ownersById(ids(['user', 'organisation']));
  return (scope) => {
    if (scope.kind === 'instance') return 'instance';
    const place = located.get(scope.id);
    return (
      (place === undefined ? known.get(scope.id)?.handle : `${place.owner.handle}/${place.repository.name}`) ?? scope.id
    );
  };
}
