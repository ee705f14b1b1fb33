import type { Viewer } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { unbundle } from '../workflows/bundle.ts';
import type { CalledCommit } from '../workflows/bundle.ts';

/** Sources of a run, as read when it was created. */
interface RunFiles {
  /** Text of the workflow file. */
  main: string;
  /** Called files from repositories that the viewer can read. */
  called: { path: string /** Null for the commit of the run. */; commit: CalledCommit | null }[];
}

/** Returns the workflow of a run and the files that it calls. Does not check access to the run itself. */
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
    // Readers of the run may lack access to the repositories that it calls.
    if (commit !== null && (await deps.repositories.find(viewer, owner, name).catch(nullIfNotFound)) === null) continue;
    files.called.push({ path: key.slice(at + 1), commit });
  }
  return files;
}
