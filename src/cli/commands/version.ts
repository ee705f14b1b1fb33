import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import type { Run } from '../action.ts';

/** `hearth version`: the versions that a bug report needs. */
export function addVersionCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('version')
      .description('print the versions of Hearth, Node, git and the system')
      .action(run(printVersions)),
    'hearth version',
  );
}

async function printVersions(cli: Cli): Promise<void> {
  const [{ embedded }, { installedGit }] = await Promise.all([
    import('../../embedded/index.ts'),
    import('../../git/index.ts'),
  ]);
  const { config } = await cli.loadConfig();
  // Without git, the other versions are still printed.
  const git = await installedGit(config.git.program, cli.process.env['PATH'] ?? '').catch(() => null);
  const { node, sqlite = '' } = process.versions;
  cli.output.show(
    [
      ['hearth', embedded.version],
      ['node', node],
      ['sqlite', sqlite],
      ['git', git === null ? 'not found' : `${git.version} (${git.path})`],
    ],
    { hearth: embedded.version, node, sqlite, git: git?.version ?? null, gitPath: git?.path ?? null },
  );
}
