import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import type { FileFormat } from '../schema/file-format.ts';
import type { WorkerPool } from '../../workers/index.ts';
import type { SourceAddress } from '../connect/open-source.ts';
import type { SourceKind } from '../schema/source-kind.ts';
import { convertGhFolder, isGhFolder } from './gh-folder.ts';
import { convertGithubArchive, isGithubArchive } from './github-archive.ts';
import { convertGitlabExport, isGitlabExport } from './gitlab-export.ts';
import { unreadable } from './copy-folder.ts';
import { readFacts } from './dump-source.ts';

/** `service_type` of `repo.yml`: Gitea's number of the dumped forge. */
const forges: Readonly<Record<string, SourceKind>> = { 2: 'github', github: 'github', 4: 'gitlab', gitlab: 'gitlab' };

/** The format of a folder, and the forge that wrote it. */
interface Recognised {
  kind: SourceKind;
  format: FileFormat;
  /** Converts it to a plain folder; null if it is read directly. */
  convert: ((from: string, to: string, address: SourceAddress) => Promise<void>) | null;
}

/** Throws `unreadable_import_files`. */
export async function recogniseFolder(tools: { workers: WorkerPool }, folder: string): Promise<Recognised> {
  const isDump = (await stat(path.join(folder, 'repo.yml')).catch(nullIfAbsent))?.isFile() === true;
  if (isDump) {
    const { service_type: service } = await readFacts(tools, folder);
    return { format: 'dump', kind: forges[String(service).toLowerCase()] ?? 'gitea', convert: null };
  }
  if (await isGithubArchive(folder)) return { format: 'plain', kind: 'github', convert: convertGithubArchive };
  if (await isGitlabExport(folder)) return { format: 'plain', kind: 'gitlab', convert: convertGitlabExport };
  if (await isGhFolder(folder)) return { format: 'plain', kind: 'github', convert: convertGhFolder };
  throw unreadable(
    'This is nothing that gitea dump-repo, forgejo dump-repo or hearth export --gitea has written, no migration ' +
      'archive of GitHub, no project export of GitLab and no folder of issues.json as gh writes it.',
  );
}
