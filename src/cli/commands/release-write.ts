import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { withBody } from '../terminal/read-body.ts';
import type { BodyOptions } from '../terminal/read-body.ts';
import type { AsOption } from './issue-output.ts';
import { uploadFrom } from './release-files.ts';
import { formatReleaseReference, openRepository, releaseToJson, printChangedRelease } from './release-output.ts';

const repository = ['<owner/name>', 'repository'] as const;
const tag = ['<tag>', 'release tag'] as const;
const as = ['--as <user>', 'act as this user'] as const;

interface TextOptions extends AsOption, BodyOptions {
  title?: string;
  target?: string;
  message?: string;
  prerelease?: boolean;
}

const withTexts = (command: Command): Command =>
  command
    .argument(...repository)
    .argument(...tag)
    .option('--title <title>', 'title (default: the tag)')
    .option('--body <text>', 'notes in Markdown')
    .option('--file <file>', 'read the notes from this file; - for standard input')
    .option('--target <target>', 'branch or commit for a new tag')
    .option('--message <text>', 'message of a new tag, which makes it an annotated tag');

/** `hearth release create|edit|delete`. */
export function addReleaseWriteCommands(release: Command, run: Run): void {
  withExamples(
    withTexts(release.command('create').alias('add').alias('new').description('publish a release of a tag'))
      .option('--generate-notes', 'generate notes since the previous release')
      .option('--draft', 'save it as a draft')
      .option('--prerelease', 'mark it as a pre-release')
      .option('--asset <file...>', 'add this file')
      .option(...as)
      .action(run(createRelease)),
    'hearth release create alice/garden v1.0 --generate-notes',
    'hearth release create alice/garden v1.0 --file notes.md --asset garden.zip --asset garden.tar.gz',
  );
  withExamples(
    withTexts(
      release.command('edit').description('edit a release, publish a draft, or turn a release back into a draft'),
    )
      .option('--publish', 'publish a draft')
      .option('--draft', 'turn it into a draft')
      .option('--prerelease', 'mark it as a pre-release')
      .option('--no-prerelease', 'unmark it as a pre-release')
      .option(...as)
      .action(run(editRelease)),
    'hearth release edit alice/garden v1.0 --title "The first one" --publish',
  );
  withExamples(
    release
      .command('delete')
      .alias('remove')
      .description('delete a release with its files')
      .argument(...repository)
      .argument(...tag)
      .option('--with-tag', 'also delete the tag')
      .option('--dry-run', 'only show what would be deleted')
      .option(...as)
      .action(run(deleteRelease)),
    'hearth release delete alice/garden v1.0 --with-tag',
  );
}

interface CreateOptions extends TextOptions {
  generateNotes?: true;
  draft?: true;
  asset?: string[];
}

/** The notes from the options; undefined without any, so that no editor opens. */
async function notesIn(cli: Parameters<typeof withBody>[0], options: BodyOptions): Promise<string | undefined> {
  if (options.body === undefined && options.file === undefined) return undefined;
  return withBody(cli, options, '', async (text) => text.trimEnd());
}

const createRelease: Action<CreateOptions, [string, string]> = async (cli, options, text, name) => {
  const opened = await openRepository(cli, options, text);
  const { modules, viewer, at } = opened;
  const written = await notesIn(cli, options);
  const generated =
    options.generateNotes === true
      ? (await modules.releases.generateNotes(viewer, at, { tag: name, target: options.target })).body
      : undefined;
  const files = [];
  try {
    // Checked before the release is created, so that an invalid file leaves no release behind.
    for (const file of options.asset ?? []) files.push(await uploadFrom(cli, opened, file));
    const made = await modules.releases.create(viewer, at, {
      tag: name,
      target: options.target ?? '',
      tagMessage: options.message ?? '',
      title: options.title ?? '',
      body: [written, generated].filter((part) => part !== undefined).join('\n\n'),
      isDraft: options.draft === true,
      isPrerelease: options.prerelease === true,
      files,
    });
    const done = made.isDraft ? 'Saved the draft' : 'Published';
    await printChangedRelease(cli, opened, made.tag, `${done} ${formatReleaseReference(at, made.tag)}.`);
  } finally {
    await modules.releases.files.discard(files);
  }
};

const editRelease: Action<TextOptions & { publish?: true; draft?: true }, [string, string]> = async (
  cli,
  options,
  text,
  name,
) => {
  if (options.publish === true && options.draft === true)
    throw invalid('usage', 'Use only one of --publish and --draft.');
  const opened = await openRepository(cli, options, text);
  const { modules, viewer, at } = opened;
  const body = await notesIn(cli, options);
  const edited = await modules.releases.edit(
    viewer,
    at,
    { tag: name },
    {
      target: options.target,
      tagMessage: options.message,
      title: options.title,
      body,
      isPrerelease: options.prerelease,
      isDraft: options.publish === true ? false : options.draft,
    },
  );
  await printChangedRelease(cli, opened, edited.tag, `Saved ${formatReleaseReference(at, edited.tag)}.`);
};

const deleteRelease: Action<AsOption & { withTag?: true; dryRun?: true }, [string, string]> = async (
  cli,
  options,
  text,
  name,
) => {
  const { modules, viewer, at } = await openRepository(cli, options, text);
  const release = await modules.releases.find(viewer, at, { tag: name });
  const what = `${formatReleaseReference(at, name)} with ${release.files.length} files${options.withTag ? ' and the tag' : ''}`;
  if (options.dryRun) return cli.output.result(`Would delete ${what}.`, releaseToJson(release));
  await cli.confirm(`Delete ${what}? This cannot be undone.`);
  await modules.releases.delete(viewer, at, { tag: name }, { deletesTag: options.withTag === true });
  cli.output.result(`Deleted ${formatReleaseReference(at, name)}.`, releaseToJson(release));
};
