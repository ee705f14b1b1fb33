import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../../kernel/index.ts';
import type { GitDoor } from '../process.ts';

const writeLimitMs = 10 * 60_000;
/** Filters of one run: the first of a large repository is spread over several. */
const newFilters = 20_000;

/**
 * Packs refs, and keeps git's commit-graph with changed-path filters up to date: walks are
 * several times faster with it. Repositories are noted as they are pushed to or found without one;
 * a job writes them, one after the other, behind everything else.
 */
export interface CommitGraphs {
  /** Something was pushed. */
  note(repository: string): void;
  /** Somebody reads history: is there a graph at all? */
  noteIfMissing(repository: string): void;
  /** Writes what was noted. Answers how many repositories. */
  write(): Promise<number>;
}

export function createCommitGraphs(door: GitDoor, logger: Logger): CommitGraphs {
  const noted = new Set<string>();
  const looked = new Set<string>();

  async function writeOne(repository: string): Promise<void> {
    // Each push leaves its refs in files of their own; thousands of them are slow to list.
    await door.run({ argv: [`--git-dir=${repository}`, 'pack-refs', '--all'], timeLimitMs: writeLimitMs, yields: true }, 64 * 1024);
    const argv = [`--git-dir=${repository}`, 'commit-graph', 'write', '--reachable', '--split', '--changed-paths', `--max-new-filters=${newFilters}`];
    const { code, complaint } = await door.run({ argv, timeLimitMs: writeLimitMs, yields: true }, 1024 * 1024);
    // Git refuses where grafts or a shallow history make a graph impossible; all works without.
    if (code !== 0) logger.warn('git.commit_graph_failed', { repository, complaint });
  }

  return {
    note: (repository) => void noted.add(repository),
    noteIfMissing(repository) {
      if (looked.has(repository)) return;
      looked.add(repository);
      const info = path.join(repository, 'objects', 'info');
      const places = [path.join(info, 'commit-graph'), path.join(info, 'commit-graphs', 'commit-graph-chain')];
      void Promise.all(places.map((place) => stat(place).catch(() => null))).then((found) => {
        if (found.every((one) => one === null)) noted.add(repository);
      });
    },
    async write() {
      const repositories = [...noted];
      noted.clear();
      for (const repository of repositories) {
        if ((await stat(repository).catch(() => null)) === null) continue;
        await writeOne(repository).catch((error: unknown) => logger.warn('git.commit_graph_failed', { repository, error }));
      }
      return repositories.length;
    },
  };
}
