import { anonymous } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { FederationDeps } from '../deps.ts';

/** A repository that anonymous clients may read and that is not a copy; other servers see only these. */
export interface PublicRepository {
  repository: Repository;
  owner: Owner;
}

type Deps = Pick<FederationDeps, 'repositories'>;

/** By id; `null` if it is absent, private, a copy, in the trash, or its owner has no handle. */
export async function publicRepositoryById(
  { repositories }: Deps,
  repositoryId: string,
): Promise<PublicRepository | null> {
  const [repository] = await repositories.listByIds(anonymous, [repositoryId]);
  return repository === undefined || repository.copiedFrom !== null ? null : { repository, owner: repository.owner };
}

/** By its current path, ignoring case. */
export async function publicRepositoryAt(
  { repositories }: Deps,
  owner: string,
  name: string,
): Promise<PublicRepository | null> {
  const found = await repositories.find(anonymous, owner, name).catch(nullIfNotFound);
  return found === null || found.repository.copiedFrom !== null ? null : found;
}
