import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { findRepository } from './find-repository.ts';

interface RetentionOptions {
  artifacts?: string;
  logs?: string;
}

/** `hearth run retention`: how long a repository keeps artifacts and logs. */
export function addRunRetentionCommand(runs: Command, run: Run): void {
  withExamples(
    runs
      .command('retention')
      .description('show or change how long a repository keeps artifacts and logs')
      .argument('<owner/name>', 'repository')
      .option('--artifacts <days>', 'days to keep new artifacts; "default" for the server\'s setting')
      .option('--logs <days>', 'days to keep logs; "default" for the server\'s setting')
      .action(run(retention)),
    'hearth run retention alice/garden',
    'hearth run retention alice/garden --artifacts 14 --logs 90',
  );
}

/** Throws `usage` for an invalid number. */
function readDays(text: string): number | null {
  if (text === 'default') return null;
  if (!/^\d{1,6}$/.test(text)) throw invalid('usage', 'Enter a number of days, or "default".');
  return Number(text);
}

const retention: Action<RetentionOptions, [string]> = async (cli, { artifacts, logs }, name) => {
  const change = {
    ...(artifacts === undefined ? {} : { artifactDays: readDays(artifacts) }),
    ...(logs === undefined ? {} : { logDays: readDays(logs) }),
  };
  const modules = await cli.openModules();
  const { ci } = modules;
  const found = await findRepository(modules, name);
  const kept =
    Object.keys(change).length === 0
      ? await ci.retention.of(found.repository.id)
      : await ci.retention.set(localAdministrator, found, change);
  const { artifactDays, logDays, maxArtifactDays, maxLogDays } = kept;
  cli.output.show(
    [
      ['Repository', `${found.canonical.owner}/${found.canonical.name}`],
      ['Artifacts', `${artifactDays ?? maxArtifactDays} days`],
      ['Logs', `${logDays ?? maxLogDays} days`],
    ],
    kept,
  );
};
