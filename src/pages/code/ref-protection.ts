import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { CodeDeps } from './deps.ts';

/** The protection rules of a repository for its branches, or for its tags. */
interface RefProtectionView {
  /** Whether a rule matches a branch or tag, by its short name. */
  isProtected(name: string): boolean;
  /** Whether the viewer may delete it. */
  mayDelete(name: string): boolean;
  /** The rules as a dependency, for the page cache. */
  dependency: Dependency;
}

/** @param folder `refs/heads/` or `refs/tags/` */
export async function readRefProtection(
  { viewer, found: { repository } }: RepositoryContext,
  { repositories }: Pick<CodeDeps, 'repositories'>,
  folder: 'refs/heads/' | 'refs/tags/',
): Promise<RefProtectionView> {
  const rights = await repositories.rules.rightsIn(viewer, repository);
  return {
    isProtected: (name) => rights.patternOf(folder + name) !== null,
    mayDelete: (name) => rights.may(folder + name, 'delete'),
    dependency: await dependOn(() => repositories.rules.fingerprint(repository)),
  };
}
