import { localAdministrator } from '../../access/index.ts';
import { invalid, isDomainError } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';

/** Limit of owners and repositories that one secret may name. */
const mostNames = 50;

type Deps = Pick<CiDeps, 'owners' | 'repositories'>;

/**
 * Resolves a list of owners (`acme`) and repositories (`alice/site`) to ids, which survive a rename. Null for an empty
 * list: all. Throws `invalid_secret_readers`, in field `only_for`.
 */
export async function readersOf({ owners, repositories }: Deps, names: readonly string[]): Promise<string[] | null> {
  if (names.length > mostNames) throw refused(`Name at most ${mostNames} owners and repositories.`);
  const ids: string[] = [];
  for (const text of names) {
    const [owner = '', name, ...more] = text.split('/');
    if (more.length > 0) throw refused(`“${text}” is no owner and no repository: write acme or alice/site.`);
    const id =
      name === undefined
        ? (await owners.resolve(owner))?.id
        : (await repositories.find(localAdministrator, owner, name).catch(missing))?.repository.id;
    if (id === undefined) throw refused(`There is no ${name === undefined ? 'owner' : 'repository'} called ${text}.`);
    ids.push(id);
  }
  return ids.length === 0 ? null : [...new Set(ids)];
}

function missing(error: unknown): null {
  if (isDomainError(error) && error.code === 'not_found') return null;
  throw error;
}

const refused = (message: string) => invalid('invalid_secret_readers', message, { field: 'only_for' });

/** Current names, sorted; omits deleted owners and repositories. */
export async function namesOfReaders({ owners, repositories }: Deps, ids: readonly string[]): Promise<string[]> {
  const [handles, located] = await Promise.all([owners.ownersById(ids), repositories.locate(ids)]);
  return [
    ...[...handles.values()].map(({ handle }) => handle),
    ...[...located.values()].map(({ owner, repository }) => `${owner.handle}/${repository.name}`),
  ].sort();
}

/** Whether tasks of a repository receive a secret. @param onlyFor JSON list of ids; null for all */
export function isFor(
  onlyFor: string | null,
  { id, ownerUserId, ownerOrganisationId }: Pick<Repository, 'id' | 'ownerUserId' | 'ownerOrganisationId'>,
): boolean {
  if (onlyFor === null) return true;
  const ids = JSON.parse(onlyFor) as string[];
  return [id, ownerUserId, ownerOrganisationId].some((each) => each !== null && ids.includes(each));
}
