import type { Viewer } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { unbundle } from '../workflows/bundle.ts';
import type { CalledCommit } from '../workflows/bundle.ts';

/** The sources of a run, as they were read when it was made. */
interface RunFiles {
  /** The text of the workflow. */
  main: string;
  /** The files that it calls; of repositories that the viewer may read. */
  called: { path: string /** Null for the commit of the run. */; commit: CalledCommit | null }[];
}

/** The workflow of a run and the files that it calls. No access check for the run itself. */
export async function filesOf(
  deps: Pick<CiDeps, 'runs' | 'repositories'>,
  viewer: Viewer,
  run: RunRow,
): Promise<RunFiles> {
  const { main, called, commits } = unbundle(await deps.runs.sourceOf(run).content());
  const files: RunFiles = { main, called: [] };
  for (const key of called.keys()) {
    const at = key.lastIndexOf(':');
    const commit = at === -1 ? null : (commits?.get(key.slice(0, at)) ?? null);
    const [owner = '', name = ''] = commit?.repository.split('/') ?? [];
    // Those who see the run need not be able to read the repositories that it calls.
    if (commit !== null && (await deps.repositories.find(viewer, owner, name).catch(nullIfNotFound)) === null) continue;
    files.called.push({ path: key.slice(at + 1), commit });
  }
  return files;
}
