import { isDomainError } from '../../kernel/index.ts';
import { blob, entryAt } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';

/** The default ref of `git notes`. */
const notesRef = 'refs/notes/commits';
const maxBytes = 64 * 1024;
/** git distributes many notes over folders, named by the first digits of the commit. */
const spreads = [0, 2, 4, 6];

/** The note of a commit (`git notes add`), or null. */
export async function readNote(deps: BrowseDeps, path: string, oid: string): Promise<string | null> {
  const [tip] = await deps.readers.use(path, (reader) => reader.infos([`${notesRef}^{commit}`]));
  if (!tip) return null;
  for (const spread of spreads) {
    const folders = oid.slice(0, spread).match(/../g) ?? [];
    const name = [...folders, oid.slice(spread)].join('/');
    try {
      const entry = await entryAt(deps, path, tip.oid, name);
      const { content } = await blob(deps, path, entry.oid, { maxBytes });
      return content?.toString().trim() || null;
    } catch (error) {
      if (!isDomainError(error) || error.code !== 'not_found') throw error;
    }
  }
  return null;
}
