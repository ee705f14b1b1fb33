import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import type { FileFormat } from '../schema/file-format.ts';
import type { WorkerPool } from '../../workers/index.ts';
import type { SourceKind } from '../schema/source-kind.ts';
import { unreadable } from './copy-folder.ts';
import { readFacts } from './dump-source.ts';

/** `service_type` of `repo.yml`: Gitea's number of the forge that it dumped. */
const forges: Readonly<Record<string, SourceKind>> = { 2: 'github', github: 'github', 4: 'gitlab', gitlab: 'gitlab' };

/** The format of a folder, and the forge that it was made of. Refuses `unreadable_import_files`. */
export async function recogniseFolder(
  tools: { workers: WorkerPool },
  folder: string,
): Promise<{ format: FileFormat; kind: SourceKind }> {
  const isDump = (await stat(path.join(folder, 'repo.yml')).catch(nullIfAbsent))?.isFile() === true;
  if (!isDump)
    throw unreadable('This is no folder that gitea dump-repo, forgejo dump-repo or hearth export --gitea has written.');
  const { service_type: service } = await readFacts(tools, folder);
  return { format: 'dump', kind: forges[String(service).toLowerCase()] ?? 'gitea' };
}
