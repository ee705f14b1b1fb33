import type { TreeEntry } from '../../git/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';

/** A template longer than the limit of descriptions is ignored. */
const maxBytes = 65_536;

/**
 * The text of the first template file in a commit.
 * @param place folders in order of precedence, '' for the root, and accepted file names
 * @returns null if there is none or the file is not text
 */
export async function readTemplate(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  oid: string,
  { folders, isTemplate }: { folders: readonly string[]; isTemplate: RegExp },
): Promise<string | null> {
  const list = async (folder: string): Promise<readonly TreeEntry[]> =>
    (await git.objects.tree(path, oid, folder).catch(nullIfNotFound))?.entries ?? [];
  const root = await list('');
  const has = (name: string): boolean => root.some((entry) => entry.name === name && entry.kind === 'folder');
  for (const folder of folders) {
    if (folder !== '' && !has(folder.split('/')[0]!)) continue;
    const entries = folder === '' ? root : await list(folder);
    const file = entries.find(({ name, kind }) => kind === 'file' && isTemplate.test(name));
    if (file === undefined) continue;
    const { content } = await git.objects.blob(path, file.oid, { maxBytes });
    if (content !== null && !content.includes(0)) return content.toString();
  }
  return null;
}
