import type { Command } from 'commander';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { escapeControls } from '../terminal/escape-controls.ts';
import type { AsOption } from './issue-output.ts';
import { readCount } from './read-count.ts';
import { addReleaseFileCommands } from './release-files.ts';
import {
  authorOfRelease,
  formatReleaseReference,
  openRepository,
  releaseColumns,
  releaseToJson,
} from './release-output.ts';
import { addReleaseWriteCommands } from './release-write.ts';

/** `hearth release …`: releases of repositories. */
export function addReleaseCommands(program: Command, run: Run): void {
  const release = addNoun(program, 'release', 'releases');
  withExamples(
    release
      .command('list')
      .description('list releases, newest first')
      .argument('<owner/name>', 'repository')
      .option('--limit <number>', 'maximum number to list', '100')
      .option('--as <user>', 'show only content visible to this user')
      .action(run(listReleases)),
    'hearth release list alice/garden',
  );
  withExamples(
    release
      .command('show')
      .description('show a release with its notes and files')
      .argument('<owner/name>', 'repository')
      .argument('[tag]', 'release tag (default: the latest release)')
      .option('--as <user>', 'show only content visible to this user')
      .action(run(showRelease)),
    'hearth release show alice/garden v1.0',
  );
  addReleaseWriteCommands(release, run);
  addReleaseFileCommands(release, run);
}

const listReleases: Action<AsOption & { limit: string }, [string]> = async (cli, options, text) => {
  const limit = readCount(options.limit);
  const { modules, viewer, at } = await openRepository(cli, options, text);
  const rows = [];
  let after: string | null = null;
  do {
    const paging: { limit: number; after: string | null } = { limit: Math.min(limit - rows.length, 100), after };
    const page = await modules.releases.list(viewer, at, paging);
    rows.push(...(await modules.releases.describe(page.rows)));
    after = page.next;
  } while (after !== null && rows.length < limit);
  cli.output.list(rows, releaseColumns, ['release', 'releases'], releaseToJson);
};

const showRelease: Action<AsOption, [string, string | undefined]> = async (cli, options, repository, tag) => {
  const { modules, viewer, at } = await openRepository(cli, options, repository);
  const release = await modules.releases.find(viewer, at, tag === undefined ? 'latest' : { tag });
  cli.output.show(
    [
      ['Release', formatReleaseReference(at, release.tag)],
      ['Title', release.title],
      ['State', release.isDraft ? 'draft' : release.isPrerelease ? 'pre-release' : 'published'],
      ['Author', authorOfRelease(release)],
      ['Published', { epochMs: release.publishedAt, otherwise: 'not yet' }],
    ],
    { ...releaseToJson(release), body: release.body },
  );
  if (cli.output.json) return;
  const files = release.files.map(({ name, bytes, sha256 }) => `${sha256}  ${bytes}  ${escapeControls(name)}\n`);
  const body = release.body.split('\n').map(escapeControls).join('\n');
  cli.output.print(`${files.join('')}${body === '' ? '' : `\n${body}\n`}`);
};
