import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { CreatedBackup } from '../../backup/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { counted, readableSize } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';

interface TarOptions {
  /** A folder, or `-`. */
  to: string | undefined;
  withKeys: boolean;
  /** Called with the created backup, to report what it lacks. */
  warn(made: CreatedBackup): void;
}

/**
 * `hearth backup create --tar`: a backup as one file, or as a stream on standard output. First created as a folder
 * below `tmp/`: the manifest must come first but is complete only at the end.
 */
export async function createTar(cli: Cli, { to, withKeys, warn }: TarOptions): Promise<void> {
  const isStream = to === '-';
  if (isStream && cli.output.json)
    throw invalid('usage', 'Standard output is used for the backup. Omit --json, or specify a folder.');
  if (isStream && cli.process.stdout.isTTY)
    throw invalid('usage', 'Refusing to write a backup to a terminal. Redirect the output with | or >.');
  const { backups, config } = await cli.openModules();
  const [{ createFolder, packBackup }, { systemRandom }] = await Promise.all([
    import('../../backup/index.ts'),
    import('../../kernel/index.ts'),
  ]);
  const stage = path.join(config.dataDir, 'tmp', `backup-${systemRandom.uuid()}`);
  const folder = isStream ? null : path.resolve(cli.process.cwd(), to ?? config.backup.folder);
  // Checked before the long work.
  if (folder !== null) await createFolder(folder);
  const progress = showProgress(cli);
  try {
    const made = await backups.create({ to: stage, withKeys, onProgress: progress.step }).finally(progress.end);
    warn(made);
    const chunks = packBackup(made.folder);
    const file = folder === null ? null : path.join(folder, `${made.name}.tar`);
    const bytes = file === null ? await writeOut(cli, chunks) : await writeFile(file, chunks);
    const line = `${counted(made.repositories, 'repository', 'repositories')}, ${readableSize(bytes)}, ${(made.tookMs / 1000).toFixed(1)} s`;
    if (file === null) cli.output.message(`Backup ${made.name}: ${line}`);
    else cli.output.result(`${file}\t${line}`, { ...made, folder: null, file, bytes });
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Waits for each chunk to be written; ends if the reader closes the stream. */
async function writeOut({ process: { stdout } }: Cli, chunks: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) {
    await new Promise<void>(
      (resolve, reject) => void stdout.write(chunk, (error) => (error ? reject(error) : resolve())),
    );
    bytes += chunk.length;
  }
  return bytes;
}

/** Gets its final name once it is complete and synced. */
async function writeFile(file: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  const unfinished = path.join(path.dirname(file), `.unfinished-${path.basename(file)}`);
  const handle = await open(unfinished, 'w', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of chunks) bytes += (await handle.write(chunk)).bytesWritten;
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  return bytes;
}
