import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { PendingFile, ReleaseFile } from '../../releases/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import type { AsOption } from './issue-output.ts';
import { formatReleaseReference, openRepository, printChangedRelease } from './release-output.ts';

type Opened = Awaited<ReturnType<typeof openRepository>>;

/** `hearth release upload|download`. */
export function addReleaseFileCommands(release: Command, run: Run): void {
  withExamples(
    release
      .command('upload')
      .description('add files to a release')
      .argument('<owner/name>', 'repository')
      .argument('<tag>', 'release tag')
      .argument('<file...>', 'files')
      .option('--as <user>', 'act as this user')
      .action(run(upload)),
    'hearth release upload alice/garden v1.0 garden.zip garden.tar.gz',
  );
  withExamples(
    release
      .command('download')
      .description("download a release's files to a folder and compare their digests")
      .argument('<owner/name>', 'repository')
      .argument('[tag]', 'release tag (default: the latest release)')
      .option('--name <name>', 'only this file')
      .option('--dir <folder>', 'target folder', '.')
      .option('--as <user>', 'act as this user')
      .action(run(download)),
    'hearth release download alice/garden v1.0 --dir /tmp',
  );
}

/** A local file to upload to a release. Throws `usage` if it is not a file. */
export async function uploadFrom(cli: Cli, { modules, viewer, at }: Opened, file: string): Promise<PendingFile> {
  const place = path.resolve(cli.process.cwd(), file);
  const found = await stat(place).catch(() => null);
  if (found === null || !found.isFile()) throw invalid('usage', `${file} is not a file.`);
  const content = createReadStream(place);
  return modules.releases.files.receive(viewer, at, { name: path.basename(place), content });
}

const upload: Action<AsOption, [string, string, string[]]> = async (cli, options, text, tag, names) => {
  const opened = await openRepository(cli, options, text);
  const { modules, viewer, at } = opened;
  const files: PendingFile[] = [];
  try {
    for (const name of names) files.push(await uploadFrom(cli, opened, name));
    // All of them or none.
    await modules.releases.edit(viewer, at, { tag }, { files });
  } finally {
    await modules.releases.files.discard(files);
  }
  const what = files.length === 1 ? 'one file' : `${files.length} files`;
  await printChangedRelease(cli, opened, tag, `Added ${what} to ${formatReleaseReference(at, tag)}.`);
};

const download: Action<AsOption & { name?: string; dir: string }, [string, string | undefined]> = async (
  cli,
  options,
  text,
  tag,
) => {
  const opened = await openRepository(cli, options, text);
  const { modules, viewer, at } = opened;
  const release = await modules.releases.find(viewer, at, tag === undefined ? 'latest' : { tag });
  const files = release.files.filter(({ name }) => options.name === undefined || name === options.name);
  if (files.length === 0) throw notFound('release_file_not_found', 'The release does not have this file.');
  const folder = path.resolve(cli.process.cwd(), options.dir);
  for (const file of files) await write(opened, file, folder);
  const what = files.length === 1 ? 'one file' : `${files.length} files`;
  await printChangedRelease(
    cli,
    opened,
    release.tag,
    `Wrote ${what} of ${formatReleaseReference(at, release.tag)} to ${folder}.`,
  );
};

/** Never overwrites an existing file; removes a download whose content differs from the upload. */
async function write({ modules }: Opened, file: ReleaseFile, folder: string): Promise<void> {
  const place = path.join(folder, file.name);
  if ((await stat(place).catch(() => null)) !== null) throw conflict('file_exists', `${place} already exists.`);
  const hash = createHash('sha256');
  const { stream } = await modules.releases.files.read(file);
  stream.on('data', (chunk: Buffer) => void hash.update(chunk));
  await pipeline(stream, createWriteStream(place, { flags: 'wx' }));
  if (hash.digest('hex') === file.sha256) return;
  await rm(place);
  throw conflict(
    'release_file_damaged',
    `${file.name} differs from the uploaded file. A backup may contain the original.`,
  );
}
