import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { eachLimit } from '../kernel/index.ts';
import { wikiPathOf } from '../repositories/index.ts';
import { whenGone } from './file-copier.ts';
import type { Copier } from './file-copier.ts';

/** git's temporary files, and files that git regenerates: they may reference objects created after the copy. */
const passing = /\.lock$|^tmp_|^\.tmp-|^incoming-|^gc\.pid$|^commit-graphs?$|^multi-pack-index|^packed-refs\.new$/;

/** Folders without which git does not accept a repository; copying only files would lose empty ones. */
export const repositoryFolders = ['refs/heads', 'refs/tags', 'objects/info', 'objects/pack'];

const filesAtOnce = 8;

/**
 * Copies a repository while clients may push to it. Copies refs first, loose before packed ones: the objects of every
 * copied ref exist before the objects are listed, and nothing is removed while a backup is running. Fails with ENOENT
 * if the repository, or an object in it, is moved concurrently.
 */
export async function copyRepository(
  copier: Copier,
  from: string,
  target: string,
  relativePath: string,
): Promise<void> {
  for (const folder of repositoryFolders)
    await mkdir(path.join(target, relativePath, folder), { recursive: true, mode: 0o700 });
  await copier.folder(path.join(from, 'refs'), `${relativePath}/refs`, (name) => passing.test(name));
  await copier.file(path.join(from, 'packed-refs'), `${relativePath}/packed-refs`).catch(whenGone);
  for (const name of ['HEAD', 'config']) await copier.file(path.join(from, name), `${relativePath}/${name}`);
  await copier.folder(path.join(from, 'info'), `${relativePath}/info`, (name) => passing.test(name));
  await copyObjects(copier, path.join(from, 'objects'), `${relativePath}/objects`);
  const wiki = wikiPathOf(from);
  // Checked last: a wiki created since is in the next backup.
  if (await stat(path.join(wiki, 'HEAD')).catch(() => null))
    await copyRepository(copier, wiki, target, wikiPathOf(relativePath));
}

async function copyObjects(copier: Copier, from: string, relativePath: string): Promise<void> {
  const entries = (await readdir(from, { withFileTypes: true })).filter(
    (entry) => entry.isDirectory() && !passing.test(entry.name),
  );
  // Packs are copied last: a loose object that has been packed since is then in a pack.
  for (const { name } of entries.sort((a, b) => Number(a.name === 'pack') - Number(b.name === 'pack'))) {
    const folder = path.join(from, name);
    const names = (await readdir(folder)).filter((file) => !passing.test(file));
    // git renames a pack into place before its index: an index without its pack was listed in between.
    const whole = names.filter(
      (file) => name !== 'pack' || file.endsWith('.pack') || names.includes(file.replace(/\.[a-z]+$/, '.pack')),
    );
    await eachLimit(whole, filesAtOnce, (file) =>
      copier.file(path.join(folder, file), `${relativePath}/${name}/${file}`),
    );
  }
}
