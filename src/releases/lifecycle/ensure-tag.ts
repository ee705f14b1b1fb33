import type { Viewer } from '../../access/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';

/** Returns the commit of a tag, creating a missing tag. Throws the errors of `repositories.tags.create`. */
export async function ensureTag(
  { git, repositories }: Pick<ReleaseDeps, 'git' | 'repositories'>,
  viewer: Viewer,
  { path, canonical, repository }: Found,
  { tag, target, tagMessage }: { tag: string; target: string; tagMessage: string },
): Promise<string> {
  const there = await git.refs.tip(path, `refs/tags/${tag}`);
  if (there !== null) return there;
  const wanted = { name: tag, from: target || repository.defaultBranch, message: tagMessage };
  return (await repositories.tags.create(viewer, canonical.owner, canonical.name, wanted)).oid;
}
