import { Readable } from 'node:stream';
import { readTar, writeZip } from '../../files/index.ts';
import type { ZipSource } from '../../files/index.ts';
import type { GoDeps, ModuleAt } from './find-module.ts';
import { noModule, readFile } from './find-module.ts';
import { asksForGo } from './go-mod.ts';
import { chooseFiles, UnfitFiles } from './module-files.ts';
import type { SourceFile } from './module-files.ts';
import type { ModuleVersion } from './module-versions.ts';

/** Above the size of any module written by hand. */
const maxEntries = 200_000;

/**
 * The archive of a version, with the same checksum as the go command computes for a clone: created once and cached like
 * commit archives. Throws `package_version_not_found` if Go does not accept the files as a module, and `git_busy`.
 */
export function openModuleZip(
  deps: Pick<GoDeps, 'git'>,
  module: ModuleAt,
  found: ModuleVersion,
  client: string,
): Promise<Readable> {
  const { oid, version } = found;
  // Folders in archives of git never contain "@".
  const request = { oid, format: 'zip', prefix: `${module.path}@${version}`, client } as const;
  return deps.git.queries.keepArchive(module.repository, request, () => makeZip(deps, module, found, client));
}

async function makeZip(
  deps: Pick<GoDeps, 'git'>,
  { path, repository }: ModuleAt,
  { oid, version, folder: { folder, goMod } }: ModuleVersion,
  client: string,
): Promise<Readable> {
  const all = await filesOf(deps, repository, oid, folder);
  const isSince124 = goMod !== null && asksForGo(goMod.toString(), [1, 24]);
  const chosen = new Set(choose(all, isSince124).map((file) => file.path));
  const hasLicense = all.some((file) => file.path === 'LICENSE');
  const license = folder === '' || hasLicense ? null : await readFile(deps, repository, oid, 'LICENSE');
  const source = await deps.git.queries.sourceTar(repository, { oid, folder, client });
  const prefix = folder === '' ? '' : `${folder}/`;
  return writeZip(sources(source, `${path}@${version}/`, (name) => chosen.has(name), prefix, license));
}

async function filesOf({ git }: Pick<GoDeps, 'git'>, path: string, oid: string, folder: string): Promise<SourceFile[]> {
  const tree = folder === '' ? oid : (await git.objects.entryAt(path, oid, folder)).oid;
  const { entries, truncated } = await git.queries.listTree(path, tree, { limit: maxEntries, isRecursive: true });
  if (truncated) throw noModule(`This version has more than ${maxEntries} files and folders`);
  return entries
    .filter(({ type }) => type === 'blob')
    .map((entry) => ({ path: entry.path.toString(), mode: entry.mode, bytes: entry.size ?? 0 }));
}

function choose(files: readonly SourceFile[], isSince124: boolean): SourceFile[] {
  try {
    return chooseFiles(files, isSince124);
  } catch (error) {
    if (error instanceof UnfitFiles) throw noModule(`This version cannot be a module: ${error.message}`);
    throw error;
  }
}

async function* sources(
  tar: Readable,
  root: string,
  isChosen: (name: string) => boolean,
  prefix: string,
  license: Buffer | null,
): AsyncGenerator<ZipSource> {
  try {
    for await (const { type, name, bytes, content } of readTar(tar as AsyncIterable<Buffer>)) {
      const below = name.startsWith(prefix) ? name.slice(prefix.length) : '';
      if (type !== '0' || !isChosen(below)) continue;
      const open = async () => Readable.from(content(), { objectMode: false });
      yield { path: root + below, bytes, isGzipped: false, open };
    }
    if (license !== null) {
      const open = async () => Readable.from([license], { objectMode: false });
      yield { path: `${root}LICENSE`, bytes: license.length, isGzipped: false, open };
    }
  } finally {
    tar.destroy();
  }
}
