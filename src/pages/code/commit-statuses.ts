import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import { statusIcons } from '../app/status-icon.view.ts';
import type { StatusIconView } from '../app/status-icon.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { CodeDeps } from './deps.ts';

interface ReadCommitStatuses {
  /** The status beside a commit; null for a commit without checks. */
  of(oid: string): StatusIconView | null;
  /** Dependency: checks start and end without a change of refs. */
  dependency: Dependency;
}

/** Reads the check statuses of all commits on a page together. */
export async function readCommitStatuses(
  { found }: RepositoryContext,
  { repositories }: Pick<CodeDeps, 'repositories'>,
  oids: readonly string[],
): Promise<ReadCommitStatuses> {
  const place = { id: found.repository.id, url: repositoryUrl(found.canonical) };
  const dependency = await dependOn(async () => [...(await statusIcons(repositories, place, oids))]);
  const statuses = new Map(dependency.value);
  return { of: (oid) => statuses.get(oid) ?? null, dependency };
}
