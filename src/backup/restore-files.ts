import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { eachLimit } from '../kernel/index.ts';
import { createFolders, whenGone } from './file-copier.ts';
import { wikiPathOf } from '../repositories/index.ts';
import { copyFile } from './copy-file.ts';
import { repositoryFolders } from './copy-repository.ts';
import { createSharedFiles } from './shared-files.ts';
import type { Manifest } from './manifest.ts';
import type { OnProgress } from './deps.ts';

const filesAtOnce = 8;

/**
 * Copies the files of a backup to an empty folder, with their times and with the empty folders that git needs.
 * @param isPassing whether the copy is only checked and then removed
 * @returns differences from the manifest, one sentence each
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
    const wiki = wikiPathOf(repository.folder);
    const hasWiki = Object.hasOwn(manifest.files, `${wiki}/HEAD`);
    for (const folder of [repository.folder, ...(hasWiki ? [wiki] : [])])
      for (const name of repositoryFolders)
        await mkdir(path.join(target, folder, name), { recursive: true, mode: 0o700 });
  }
  const relativePaths = Object.keys(manifest.files);
  const folders = createFolders();
  const shared = createSharedFiles();
  let done = 0;
  await eachLimit(relativePaths, filesAtOnce, async (relativePath) => {
    const to = path.join(target, relativePath);
    await folders.of(to);
    const from = path.join(folder, relativePath);
    const copied = await shared.copyOrLink(from, to, () => copyFile(from, to, null, isPassing)).catch(whenGone);
    const [bytes, , sha256] = manifest.files[relativePath]!;
    if (copied === null) problems.push(`${relativePath} is missing`);
    else if (copied[0] !== bytes || copied[2] !== sha256) problems.push(`${relativePath} has changed`);
    done += 1;
    if (done % 100 === 0) onProgress({ done, total: relativePaths.length, item: relativePath });
  });
  return problems;
}
