import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { eachLimit } from '../kernel/index.ts';
import { createFolders, whenGone } from './file-copier.ts';
import { copyFile, linkCopy } from './copy-file.ts';
import { repositoryFolders } from './copy-repository.ts';
import type { FileEntry, Manifest } from './manifest.ts';
import type { OnProgress } from './deps.ts';

const filesAtOnce = 8;

/**
 * Copies the files of a backup to an empty folder, with their times and with the empty folders that git needs.
 * @param isPassing whether the copy is only checked and removed again
 * @returns what differs from the manifest, one sentence each
 */
export async function copyFiles(
  folder: string,
  manifest: Manifest,
  target: string,
  onProgress: OnProgress,
  isPassing = false,
): Promise<string[]> {
  const problems: string[] = [];
  for (const repository of manifest.repositories) {
    for (const name of repositoryFolders)
      await mkdir(path.join(target, repository.folder, name), { recursive: true, mode: 0o700 });
  }
  const relativePaths = Object.keys(manifest.files);
  const folders = createFolders();
  /** Copies of files that a fork and its source share: shared again. */
  const shared = new Map<string, { to: string; entry: FileEntry }>();
  let done = 0;
  await eachLimit(relativePaths, filesAtOnce, async (relativePath) => {
    const to = path.join(target, relativePath);
    await folders.of(to);
    const copied = await copyOrLink(shared, path.join(folder, relativePath), to, isPassing).catch(whenGone);
    const [bytes, , sha256] = manifest.files[relativePath]!;
    if (copied === null) problems.push(`${relativePath} is missing`);
    else if (copied[0] !== bytes || copied[2] !== sha256) problems.push(`${relativePath} has changed`);
    done += 1;
    if (done % 100 === 0) onProgress({ done, total: relativePaths.length, item: relativePath });
  });
  return problems;
}

/** A file of a backup has several names within it only where repositories shared it. */
async function copyOrLink(
  shared: Map<string, { to: string; entry: FileEntry }>,
  from: string,
  to: string,
  isPassing: boolean,
): Promise<FileEntry> {
  const { dev, ino, nlink } = await stat(from);
  const key = nlink > 1 ? `${dev}.${ino}` : null;
  const known = key === null ? undefined : shared.get(key);
  if (known !== undefined && (await linkCopy(known.to, to))) return known.entry;
  const entry = await copyFile(from, to, null, isPassing);
  if (key !== null) shared.set(key, { to, entry });
  return entry;
}
