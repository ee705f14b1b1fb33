import type { RefPath, TreeEntry } from '../../git/index.ts';
import { joinPath, splitPath } from '../app/code-urls.ts';
import type { CodeDeps } from './deps.ts';
import { followLinks } from './follow-links.ts';
import { findReadme, isReadmeName } from './readme.view.ts';

/** Other folders that may contain the README of a repository; the first match wins. */
const folders = ['.hearth', '.github', 'docs'];
const maxEntries = 1_000;
/** More links with this name in one folder indicate abuse. */
const maxLinks = 4;

export interface ReadmeFile {
  entry: TreeEntry;
  /** The folder that its relative links are resolved against. */
  folder: Buffer;
}

/**
 * The README of a folder; for the root also one in `.hearth`, `.github` or `docs`. A symbolic link is followed inside
 * the tree of the commit.
 * @param entries of the folder
 */
export async function findReadmeFile(
  git: CodeDeps['git'],
  path: string,
  at: Pick<RefPath, 'oid' | 'file'>,
  entries: readonly TreeEntry[],
): Promise<ReadmeFile | null> {
  const own = await readmeOf(git, path, at, entries);
  if (own !== null || at.file.length > 0) return own;
  for (const name of folders) {
    const folder = entries.find((entry) => entry.kind === 'folder' && entry.name.toLowerCase() === name);
    if (folder === undefined) continue;
    const file = folder.rawName;
    const { entries: inside } = await git.queries.folder(path, at.oid, file, { maxEntries });
    const found = await readmeOf(git, path, { oid: at.oid, file }, inside);
    if (found !== null) return found;
  }
  return null;
}

async function readmeOf(
  git: CodeDeps['git'],
  path: string,
  { oid, file }: Pick<RefPath, 'oid' | 'file'>,
  entries: readonly TreeEntry[],
): Promise<ReadmeFile | null> {
  const links = entries.filter(({ kind, name }) => kind === 'symlink' && isReadmeName(name)).slice(0, maxLinks);
  const folderOf = new Map<TreeEntry, Buffer>();
  for (const link of links) {
    const target = await followLinks(git, path, { oid, file: joinPath(file, link.rawName) });
    if (target?.entry?.type !== 'blob') continue;
    // The extension of the link or of its target selects the renderer.
    const name = link.name.includes('.') ? link.name : target.entry.name;
    folderOf.set({ ...target.entry, name: isReadmeName(name) ? name : link.name }, splitPath(target.file).folder);
  }
  const entry = findReadme([...entries, ...folderOf.keys()]);
  return entry && { entry, folder: folderOf.get(entry) ?? file };
}
