import type { TreeEntry } from '../../git/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';

/** A template longer than a description could be is none. */
const maxBytes = 65_536;

/**
 * The text of the first file of a commit that is a template.
 * @param place folders in the order in which they are looked at, '' for the root, and the names of files that count
 * @returns null where there is none, and for a file that is no text
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
