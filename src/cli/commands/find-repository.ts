import { localAdministrator } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { invalid, isDomainError, notFound } from '../../kernel/index.ts';
import { withHint } from '../report-error.ts';
import type { Found } from '../../repositories/index.ts';

/** Finds `owner/name`; a trailing `.git` is allowed, because users paste clone URLs. */
export async function findRepository(
  { repositories }: Modules,
  text: string,
  viewer: Viewer = localAdministrator,
): Promise<Found> {
  const { owner, name } = splitName(text);
  try {
    return await repositories.find(viewer, owner, name);
  } catch (error) {
    const moved =
      isDomainError(error) && error.code === 'not_found' ? await repositories.findMoved(viewer, owner, name) : null;
    if (moved === null) throw await withTrashHint(repositories, error, { owner, name });
    // Unlike in git and on pages, former names are not resolved: a command that deletes or publishes needs the current
    // name.
    throw withHint(
      notFound('repository_not_found', `${owner}/${name} has moved to ${moved.owner}/${moved.name}.`),
      `use ${moved.owner}/${moved.name}`,
    );
  }
}

/** A repository of this name in the trash can be restored: commands act as the administrator, who may know of it. */
async function withTrashHint(
  repositories: Modules['repositories'],
  error: unknown,
  { owner, name }: { owner: string; name: string },
): Promise<unknown> {
  if (!isDomainError(error) || error.reason !== 'repository_not_found') return error;
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  const trashed = await repositories.trash.list();
  const found = trashed.some((row) => same(row.name, name) && same(row.owner.handle, owner));
  return found
    ? withHint(
        notFound('repository_not_found', `${owner}/${name} was deleted; it is in the trash.`),
        `hearth repo restore ${owner}/${name}`,
      )
    : error;
}

/** Parses `owner/name`. Throws `usage`. */
export function splitName(text: string): { owner: string; name: string } {
  const [owner, name, more] = text
    .replace(/^\//, '')
    .replace(/\.git$/, '')
    .split('/');
  if (!owner || !name || more !== undefined)
    throw invalid('usage', `${JSON.stringify(text)} is not a repository. Use owner/name.`);
  return { owner, name };
}
