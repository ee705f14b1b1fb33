import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * A temporary folder beside the objects of a repository that gives `git archive` other refs and attributes.
 * @param refs lines of `packed-refs`
 * @param attributes lines of gitattributes(5), which outrank those of the repository
 */
export async function openArchiveFolder(
  repository: string,
  { refs, attributes }: { refs: string; attributes: Buffer },
): Promise<{ gitDir: string; dispose: () => Promise<void> }> {
  const gitDir = path.join(repository, 'objects', `tmp_objdir-archive-${randomBytes(8).toString('hex')}`);
  const dispose = () => rm(gitDir, { recursive: true, force: true });
  try {
    for (const folder of ['objects/info', 'refs', 'info']) await mkdir(path.join(gitDir, folder), { recursive: true });
    await copyFile(path.join(repository, 'HEAD'), path.join(gitDir, 'HEAD'));
    await copyFile(path.join(repository, 'config'), path.join(gitDir, 'config'));
    await writeFile(path.join(gitDir, 'objects', 'info', 'alternates'), `${path.join(repository, 'objects')}\n`);
    await writeFile(path.join(gitDir, 'packed-refs'), refs);
    await writeFile(path.join(gitDir, 'info', 'attributes'), attributes);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { gitDir, dispose };
}
