import { localAdministrator } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Rooms } from '../../app.ts';
import { invalid } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';

/** Finds `owner/name`; `.git` at the end is allowed, because people paste clone addresses. */
export function findRepository({ repositories }: Rooms, text: string, viewer: Viewer = localAdministrator): Promise<Found> {
  const { owner, name } = splitName(text);
  return repositories.find(viewer, owner, name);
}

/** Reads `owner/name`. Refuses `usage`. */
export function splitName(text: string): { owner: string; name: string } {
  const [owner, name, more] = text.replace(/^\//, '').replace(/\.git$/, '').split('/');
  if (!owner || !name || more !== undefined) throw invalid('usage', `${JSON.stringify(text)} is not a repository: write owner/name.`);
  return { owner, name };
}
