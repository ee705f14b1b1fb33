// twoInstances(t) → two data folders with the same commands over real modules: here(...words), there(...words);
// modulesOf(name), the modules of one of them; git(cwd, ...args), in the folder of both.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import type { Modules } from '../../src/app/index.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

export function twoInstances(t: Owner) {
  const folder = temporaryFolder(t);
  const opened = new Map<string, ReturnType<typeof realOpenModules>>();
  const openModules: typeof realOpenModules = async (config, options) => {
    if (!opened.has(config.dataDir)) opened.set(config.dataDir, realOpenModules(config, options));
    return { ...(await opened.get(config.dataDir)!), config, close: async () => {} };
  };
  t.teardown(async () => {
    for (const modules of opened.values()) await (await modules).close();
  });
  const on =
    (instance: string) =>
    (...words: string[]) =>
      runCli(words, {
        cwd: folder,
        openModules,
        env: { SERVICE_DATA_DIR: path.join(folder, instance) },
        input: 'correct horse',
      });
  return {
    folder,
    here: on('here'),
    there: on('there'),
    modulesOf: (instance: 'here' | 'there'): Promise<Modules> => opened.get(path.join(folder, instance))!,
    git: (cwd: string, ...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=alice', '-c', 'user.email=alice@example.org', ...args], {
        cwd,
        env: clientEnvironment,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
  };
}
