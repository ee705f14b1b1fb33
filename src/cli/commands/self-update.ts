import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { OfferedUpdate } from '../../updates/index.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import type { Run } from '../action.ts';

/** `hearth self-update --check`: whether there is a newer release at `updates.url`. */
export function addSelfUpdateCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('self-update')
      .description('check for a newer release at updates.url; installs nothing')
      .option('--check', 'download and verify the signed release list at that URL')
      .action(run(selfUpdate)),
    'hearth self-update --check',
    'hearth self-update --check --json',
  );
}

async function selfUpdate(cli: Cli, { check }: { check?: true }): Promise<void> {
  if (!check)
    throw invalid('check_missing', 'Use --check. Hearth does not replace its own program; install a release instead.');
  const [{ embedded }, { checkForUpdate }, { releaseSource }] = await Promise.all([
    import('../../embedded/index.ts'),
    import('../../updates/index.ts'),
    import('../release-source.ts'),
  ]);
  const source = await releaseSource(cli, {});
  const own = embedded.version;
  const offered = await checkForUpdate(source, { version: own, arch: process.arch });
  const json = { version: own, offered: offered.version, isNewer: offered.isNewer, program: offered.program };
  cli.output.print(`${lines(own, source.from, offered).join('\n')}\n`, json);
}

function lines(own: string, from: string, { version, isNewer, isOlder, program }: OfferedUpdate): string[] {
  if (isOlder) return [`${from} has Hearth ${version}, which is older than this program, ${own}`];
  if (!isNewer) return [`Hearth ${own} is the newest release`];
  if (program === null) return [`Hearth ${version} is newer than ${own}; it has no program for ${process.arch}`];
  return [`Hearth ${version} is newer than ${own}`, program.place, `SHA-256 ${program.sha256}`];
}
