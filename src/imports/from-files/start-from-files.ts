import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import { conflict, explainFullDisk, isDomainError } from '../../kernel/index.ts';
import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Repository } from '../../repositories/index.ts';
import { parseSourceAddress } from '../connect/open-source.ts';
import type { SourceAddress } from '../connect/open-source.ts';
import type { ImportDeps } from '../deps.ts';
import { insertImport, readOptions } from '../manage-imports.ts';
import type { DryRun, NewImport } from '../manage-imports.ts';
import { importSchema } from '../schema/import-schema.ts';
import { openPlainSource } from './plain-source.ts';
import { copyFolder, unreadable } from './copy-folder.ts';
import { createDumpSource } from './dump-source.ts';
import { recogniseFolder } from './file-formats.ts';
import { folderOf } from './open-files.ts';
import { unpackArchive } from './unpack-archive.ts';

/**
 * As for an import by an API; `address` is the former URL of the repository, which links in its texts and its authors
 * refer to.
 */
interface FilesImport extends Omit<NewImport, 'token' | 'watchMs' | 'kind'> {
  /** Absolute path of a local folder or `.tar.gz`. */
  from: string;
}

/**
 * Imports a repository from a folder or an archive, which is copied first and stays unchanged. If such an import from
 * the same URL has already created the repository, adds the new content of the folder to it. Throws
 * `unreadable_import_files`, `invalid_import_address`, `import_ended`, `import_running`, `repository_name_taken`, and
 * what `repositories.create` refuses, without creating anything.
 */
export async function startFromFiles(deps: ImportDeps, viewer: Viewer, input: FilesImport): Promise<Repository> {
  const id = deps.random.uuid();
  const stage = `${folderOf(deps, id)}.unfinished`;
  try {
    const { format, address, described } = await takeFiles(deps, input, stage);
    const name = input.name || described.name || address.project.split('/').at(-1)!;
    const known = await findEarlier(deps, viewer, { owner: input.owner, name, address });
    if (known !== null) {
      await replaceFiles(deps, viewer, known.importId, stage);
      return known.repository;
    }
    const made = await deps.repositories.create(viewer, { owner: input.owner, name, visibility: 'PRIVATE' });
    await rename(stage, folderOf(deps, id));
    const options = JSON.stringify(readOptions(input));
    await deps.db.write((tx) =>
      insertImport(deps, tx, made.id, { id, files: format, address, token: '', options, watchMs: null, viewer }),
    );
    return made;
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** The expected result of an import from a folder, without changing anything. Refuses as `startFromFiles` does. */
export async function tryFiles(deps: ImportDeps, input: Pick<FilesImport, 'address' | 'from'>): Promise<DryRun> {
  const stage = `${folderOf(deps, deps.random.uuid())}.unfinished`;
  try {
    const problems: DryRun['problems'] = [];
    const { address, described: repository, source } = await takeFiles(deps, input, stage, problems);
    const counts = await source.counts();
    for (const line of await source.toDo()) problems.push({ item: 'to do', problem: line });
    return { project: address.project, repository, counts, problems };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function takeFiles(
  deps: ImportDeps,
  { from, address: given }: Pick<FilesImport, 'address' | 'from'>,
  stage: string,
  problems: DryRun['problems'] = [],
) {
  const found = await stat(from).catch(nullIfAbsent);
  if (found === null) throw unreadable(`There is no folder or file ${from}.`);
  // The folder itself reveals its format, before it is copied.
  const early = found.isDirectory() ? await recogniseFolder(deps, from) : null;
  const raw = `${stage}.raw`;
  await mkdir(path.dirname(stage), { recursive: true, mode: 0o700 });
  try {
    if (early !== null) await copyFolder(from, raw);
    else await unpackArchive(from, raw);
    const { format, kind, convert } = early ?? (await recogniseFolder(deps, raw));
    const address = parseSourceAddress(given, kind);
    if (convert === null) await rename(raw, stage);
    else await convert(raw, stage, address);
    const tell = (item: string, problem: string): void => void problems.push({ item, problem });
    const place = { ...address, folder: stage };
    const source =
      format === 'dump'
        ? createDumpSource(deps, place, tell, 'dry-run')
        : await openPlainSource(deps, place, { tell, client: 'dry-run' });
    return { format, address, source, described: await source.describe() };
  } catch (error) {
    throw explainFullDisk(error);
  } finally {
    await rm(raw, { recursive: true, force: true });
  }
}

/** Null if the name is free. Throws `repository_name_taken` for any other repository. */
async function findEarlier(
  deps: ImportDeps,
  viewer: Viewer,
  { owner: given, name, address }: { owner: string | undefined; name: string; address: SourceAddress },
): Promise<{ importId: string; repository: Repository } | null> {
  const owner = given ?? (viewer.kind === 'person' ? viewer.username : null);
  if (owner === null) return null;
  const found = await deps.repositories.find(viewer, owner, name).catch((error: unknown) => {
    if (isDomainError(error) && error.code === 'not_found') return null;
    throw error;
  });
  if (found === null) return null;
  const row = await deps.db.read.findOneBy(importSchema, { repositoryId: found.repository.id });
  if (row?.files == null || row.url !== address.url)
    throw conflict('repository_name_taken', `${owner} already has a repository named ${name}.`, { field: 'name' });
  return { importId: row.id, repository: found.repository };
}

async function replaceFiles(deps: ImportDeps, viewer: Viewer, importId: string, stage: string): Promise<void> {
  const { db, clock } = deps;
  // Claimed while its files change, so that no run reads a partial set.
  const claimed = await db.write(async ({ manager, now }) => {
    const row = await manager.findOneByOrFail(importSchema, { id: importId });
    if (row.state === 'ended')
      throw conflict(
        'import_ended',
        'Hearth no longer follows the source because it was switched over to this server.',
      );
    if (row.lockedUntil > now || row.state === 'running')
      throw conflict('import_running', 'This import is still running. Specify the new folder when it has finished.');
    await manager.update(importSchema, { id: importId }, { lockedUntil: now + 60_000 });
    return row;
  });
  const folder = folderOf(deps, importId);
  await rm(folder, { recursive: true, force: true });
  await rename(stage, folder);
  await db.write(({ manager, now }) =>
    manager.update(
      importSchema,
      { id: importId },
      {
        // A paused run restarts: its position refers to the previous files.
        ...(claimed.state === 'paused' ? { state: 'done' } : {}),
        isFull: true,
        nextAt: now,
        lockedUntil: 0,
        failures: 0,
        lastError: null,
        updatedAt: now,
      },
    ),
  );
  deps.logger.info('import.new_files', { importId, by: viewerForLog(viewer), at: clock.now() });
}
