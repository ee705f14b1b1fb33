import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import { unavailable } from '../../kernel/index.ts';
import type { Located } from '../../repositories/index.ts';
import { sourceFailed } from '../client/source-errors.ts';
import type { SourceFiles, Transfer } from '../context/transfer.ts';
import type { ImportDeps } from '../deps.ts';
import type { ImportRow } from '../schema/import-schema.ts';
import type { SourceNumbers } from '../sources/source-numbers.ts';
import type { Source, TellProblem } from '../sources/source.ts';
import { attachedFile } from './plain-folder.ts';
import { openPlainSource, readPlainReleases } from './plain-source.ts';
import { readDumpReleases } from './dump-releases.ts';
import { createDumpSource, findWiki } from './dump-source.ts';
import { openBelow } from './open-below.ts';

/** Folder of the files of an import while it runs. */
export const folderOf = ({ settings }: Pick<ImportDeps, 'settings'>, importId: string): string =>
  path.join(settings.folder, importId);

/** Throws `import_needs_files` if they no longer exist. */
export async function requireFiles(deps: Pick<ImportDeps, 'settings'>, importId: string): Promise<void> {
  const found = await lstat(folderOf(deps, importId)).catch(nullIfAbsent);
  if (found?.isDirectory() !== true)
    throw unavailable(
      'import_needs_files',
      'The folder for this import no longer exists. Specify one again with hearth import start and --from.',
    );
}

interface FilesRun {
  located: Located;
  signal: AbortSignal;
  tell: TellProblem;
  numbers: SourceNumbers;
}

/** The data that a run reads in place of the API of a forge. */
export async function openFiles(
  deps: ImportDeps,
  row: Pick<ImportRow, 'id' | 'url' | 'host' | 'files'>,
  { located, signal, tell, numbers }: FilesRun,
): Promise<{ source: Source; transfer: Transfer; files: SourceFiles }> {
  const folder = folderOf(deps, row.id);
  const isPlain = row.files === 'plain';
  const source = isPlain
    ? await openPlainSource(deps, { ...row, folder }, { tell, numbers, client: row.id })
    : createDumpSource(deps, { ...row, folder }, tell, row.id);
  const { fromFiles } = deps.mirrors.bring;
  const isThere = async (name: string): Promise<boolean> =>
    (await lstat(path.join(folder, name)).catch(nullIfAbsent)) !== null;
  return {
    source,
    transfer: {
      async refs(options) {
        const at = path.join(folder, 'git');
        const none = { moved: 0, problems: ['the folder has no code'], refs: options.base, pulls: new Map() };
        return (await isThere('git')) ? fromFiles.refs(located, at, { ...options, signal }) : none;
      },
      lfs: () => fromFiles.lfs(located, (oid) => openBelow(folder, `lfs/${oid}`), signal),
      wiki: async (options) =>
        fromFiles.wiki(located, path.join(folder, (await findWiki(folder)) ?? 'wiki'), { ...options, signal }),
      releases: (tellName) =>
        fromFiles.releases(
          located,
          isPlain ? readPlainReleases(deps, folder, row.id) : readDumpReleases(deps, { ...row, folder }),
          signal,
          tellName,
        ),
    },
    files: {
      async open(key, name) {
        const stream = isPlain ? await openBelow(folder, attachedFile(key)) : null;
        if (stream === null) throw sourceFailed('the folder does not have it');
        return { stream, name };
      },
    },
  };
}
