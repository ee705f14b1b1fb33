import { appendFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { conflict, invalid } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { failureOf, withoutSecrets } from './remote.ts';
import type { ExchangeOptions } from './fetch-and-push.ts';
import { createRepository } from '../storage.ts';

/** Metadata of an export bundle besides its history: files of a commit under a name that clones do not fetch. */
const bundleRef = 'refs/hearth/meta';
/** Where that commit is in the temporary repository of `readBundle`. */
export const readBundleRef = 'refs/parcel/meta';

export interface BundleRequest {
  /** The repository, which is only read. */
  path: string;
  /** By full name. */
  refs: ReadonlyMap<string, string>;
  defaultBranch: string;
  files: readonly { name: string; bytes: Buffer }[];
  message: string;
  /** Commit date of the metadata, in epoch milliseconds. */
  at: number;
  /** Path of the bundle; an existing file is replaced. */
  target: string;
  /** Path of a temporary repository, ending in `.git`; removed afterwards. */
  scratch: string;
}

const brought = [
  '+refs/heads/*:refs/heads/*',
  '+refs/tags/*:refs/tags/*',
  '+refs/notes/*:refs/notes/*',
  '+refs/hearth/*:refs/parcel/*',
];
const longMs = 2 * 3_600_000;
const maxOutputBytes = 1024 * 1024;

/** Repositories as single files, which any git reads. */
export interface Bundles {
  /** Writes refs with their history, and metadata files, as one git bundle. Refuses `parcel_not_written`. */
  write(request: BundleRequest): Promise<void>;
  /**
   * Reads all of a bundle, or of a repository on this machine, into a temporary repository. Refuses
   * `parcel_unreadable`.
   */
  read(source: string, scratch: string, options?: ExchangeOptions): Promise<void>;
  /** Moves the objects of a temporary repository into another one. */
  takeObjects(scratch: string, path: string): Promise<void>;
}

/** @param close stops the readers of a repository; `note` queues it for maintenance */
export function createBundles(
  runner: GitRunner,
  { close, recordPush }: { close(path: string): Promise<void>; recordPush(path: string): void },
): Bundles {
  return {
    write: (request) => writeBundle(runner, request),
    read: (source, scratch, options) => readBundle(runner, source, scratch, options),
    async takeObjects(scratch, target) {
      await close(scratch);
      await takeObjects(scratch, target);
      recordPush(target);
    },
  };
}

/**
 * Writes refs with their history, and metadata files, as one git bundle. Any git clones it. It is made in a temporary
 * repository that borrows the objects, so nothing is written to the real one. Refuses `parcel_not_written`.
 */
async function writeBundle(
  runner: GitRunner,
  { path: repository, refs, defaultBranch, files, message, at, target, scratch }: BundleRequest,
): Promise<void> {
  await mkdir(path.dirname(scratch), { recursive: true, mode: 0o700 });
  try {
    await createRepository(runner, scratch, defaultBranch);
    await writeFile(path.join(scratch, 'objects', 'info', 'alternates'), `${path.join(repository, 'objects')}\n`);
    const lines = [...refs].map(([ref, oid]) => `${oid} ${ref}\n`).join('');
    await appendFile(path.join(scratch, 'packed-refs'), `# pack-refs with: \n${lines}`);
    const seconds = Math.floor(at / 1000);
    const stream = Buffer.concat([
      Buffer.from(`feature done\ncommit ${bundleRef}\ncommitter Hearth <hearth@localhost> ${seconds} +0000\n`),
      data(Buffer.from(message)),
      ...files.flatMap(({ name, bytes }) => [Buffer.from(`M 100644 inline ${name}\n`), data(bytes)]),
      Buffer.from('done\n'),
    ]);
    await feed(runner, [`--git-dir=${scratch}`, 'fast-import', '--quiet', '--done'], stream);
    await feed(
      runner,
      [
        `--git-dir=${scratch}`,
        'bundle',
        'create',
        '--quiet',
        target,
        '--all',
        ...(refs.has(`refs/heads/${defaultBranch}`) ? ['HEAD'] : []),
      ],
      Buffer.alloc(0),
    );
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const data = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')]);

async function feed(runner: GitRunner, argv: string[], input: Buffer): Promise<void> {
  const running = runner.start({ argv, timeLimitMs: longMs, takesInput: true, yields: true });
  running.stdin?.on('error', () => {});
  running.stdin?.end(input);
  running.stdout?.resume();
  const { code } = await running.exited;
  if (code !== 0)
    throw conflict(
      'parcel_not_written',
      `git could not write the file: ${running.stderrText().trim().split('\n').at(-1) ?? ''}`,
      { cause: { code, argv } },
    );
}

/**
 * Fetches everything of a bundle, or of a repository on this machine, into a temporary repository, where git has
 * checked each object. The caller removes it. Refuses `parcel_unreadable`.
 */
async function readBundle(
  runner: GitRunner,
  source: string,
  scratch: string,
  { signal, progress }: ExchangeOptions = {},
): Promise<void> {
  await mkdir(path.dirname(scratch), { recursive: true, mode: 0o700 });
  await createRepository(runner, scratch, 'main');
  const settings = [
    ['fetch.unpackLimit', '1'],
    ['protocol.file.allow', 'always'],
    ...withoutSecrets.map((name) => [`fetch.fsck.${name}`, 'ignore']),
  ];
  let printed = '';
  const { code, errorText } = await runner.run(
    {
      argv: [
        `--git-dir=${scratch}`,
        'fetch',
        '--progress',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-recurse-submodules',
        '--no-auto-maintenance',
        source,
        ...brought,
      ],
      timeLimitMs: longMs,
      signal,
      yields: true,
      environment: {
        GIT_ALLOW_PROTOCOL: 'file',
        GIT_CONFIG_COUNT: String(settings.length),
        ...Object.fromEntries(
          settings.flatMap(([key = '', value = ''], at) => [
            [`GIT_CONFIG_KEY_${at}`, key],
            [`GIT_CONFIG_VALUE_${at}`, value],
          ]),
        ),
      },
      onStderr(text) {
        printed = (printed + text).slice(-8_192);
        const line = text.split(/[\r\n]/).findLast((each) => /%/.test(each));
        if (line !== undefined) progress?.(line.trim());
      },
    },
    maxOutputBytes,
  );
  if (code !== 0) throw invalid('parcel_unreadable', `${source} cannot be read. ${failureOf(printed || errorText)}`);
}

/**
 * Moves what `readBundle` fetched into a repository: packs before their indexes, so that no reader finds an incomplete
 * one.
 */
async function takeObjects(scratch: string, repository: string): Promise<void> {
  const [from, to] = [path.join(scratch, 'objects', 'pack'), path.join(repository, 'objects', 'pack')];
  await mkdir(to, { recursive: true, mode: 0o700 });
  const isLast = (name: string): number => Number(name.endsWith('.idx'));
  for (const name of (await readdir(from)).sort((a, b) => isLast(a) - isLast(b)))
    await rename(path.join(from, name), path.join(to, name));
}
