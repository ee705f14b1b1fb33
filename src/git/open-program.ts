import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { Logger } from '../kernel/index.ts';
import { cachedVersion } from './processes/cached-version.ts';
import type { GitLimits } from './limits.ts';
import { createGitRunner } from './processes/git-runner.ts';
import { timeOfFileSystem, writeSettings } from './processes/settings.ts';
import { createReusedPipes } from './spawner/buffer-reusing-pipe.ts';
import { createSocketPairs } from './spawner/socket-pairs.ts';
import { createSpawner } from './spawner/spawner.ts';
import type { Spawner } from './spawner/spawner.ts';
import { findProgram, lacksFixes, readVersion } from './processes/version.ts';

/** The git program and how its processes are started: as children of this process, or of the spawner once it runs. */
export async function openProgram({
  config,
  logger,
  limits,
  searchPath,
}: {
  config: Pick<Config, 'dataDir'> & { git: Pick<Config['git'], 'program'> };
  logger: Logger;
  limits: GitLimits;
  searchPath: string;
}) {
  const program = findProgram(config.git.program, searchPath);
  const folder = path.join(config.dataDir, 'run', 'git');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const settings = writeSettings(folder, limits);
  // Leftovers older than this belong to an earlier run.
  const bornAt = timeOfFileSystem(folder);

  let spawner: Spawner | null = null;
  let isStopped = false;
  const runner = createGitRunner(program, settings, logger, (launch) => spawner?.launch(launch) ?? null);
  const runVersion = async (): Promise<string> =>
    (await runner.run({ argv: ['version'], timeLimitMs: 10_000 }, 4_096)).output.toString();
  const [version, pairs] = await Promise.all([
    cachedVersion(program, folder, runVersion, (answer) => readVersion(answer, program)),
    createSocketPairs(folder, logger),
  ]);
  if (lacksFixes(version))
    logger.warn('git.outdated', { version: version.text, advice: 'update git: security fixes are missing' });
  return {
    program,
    folder,
    settings,
    bornAt,
    version,
    runner,
    pipes: createReusedPipes(pairs),
    useSpawner() {
      if (spawner !== null || isStopped) return;
      spawner = createSpawner(pairs, logger);
      spawner.begin();
    },
    /** No spawner is started from here on. */
    halt() {
      isStopped = true;
    },
    close() {
      spawner?.close();
      pairs.close();
    },
  };
}
