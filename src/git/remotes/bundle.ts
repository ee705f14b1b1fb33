import { appendFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { conflict, internal, invalid } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { describeGitFailure, ignoredFsckMessages } from './remote.ts';
import type { ExchangeOptions } from './fetch-and-push.ts';
import { limitRefs } from './limit-refs.ts';
import type { RefLimits } from './limit-refs.ts';
import { readRefs } from '../refs/refs.ts';
import { createRepository } from '../storage.ts';

/** Metadata of an export bundle besides its history: files of a commit under a name that clones do not fetch. */
const bundleRef = 'refs/hearth/meta';
/** Ref of that commit in the temporary repository of `readBundle`. */
export const readBundleRef = 'refs/parcel/meta';

interface BundleRequest {
  /** The repository to read. */
  path: string;
  /** By full name. */
  refs: ReadonlyMap<string, string>;
  defaultBranch: string;
  /** Written one by one as they arrive. */
  files: AsyncIterable<BundleFile> | Iterable<BundleFile>;
  message: string;
  /** Commit date of the metadata, in epoch milliseconds. */
  at: number;
  /** Path of the bundle; an existing file is replaced. */
  target: string;
  /** Path of a temporary repository, ending in `.git`; removed afterwards. */
  scratch: string;
}

/** A metadata file; `name` is a path of letters, digits, dots, hyphens and slashes. */
export interface BundleFile {
  name: string;
  /** In bytes; null if it is known only at the end: then it is text that ends with a line break. */
  size: number | null;
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Refs to read besides branches and tags. */
const alsoTaken = ['+refs/notes/*:refs/notes/*', '+refs/hearth/*:refs/parcel/*'];
const longMs = 2 * 3_600_000;
const maxOutputBytes = 1024 * 1024;

/** Repositories as single files that any git can read. */
export interface Bundles {
  /** Writes refs with their history, and metadata files, as one git bundle. Throws `parcel_not_written`. */
  write(request: BundleRequest): Promise<void>;
  /**
   * Reads all of a bundle, or of a repository on this machine, into a temporary repository. Throws `parcel_unreadable`,
   * `refs_exceed_push` if it has more refs than allowed in one push or a repository.
   */
  read(source: string, scratch: string, options?: ExchangeOptions): Promise<void>;
  /** Moves the objects of a temporary repository into another one, from which it then borrows them. */
  takeObjects(scratch: string, path: string): Promise<void>;
}

/**
 * @param ports.close stops the readers of a repository
 * @param ports.recordPush queues it for maintenance
 * @param ports.limits limits of refs, as for pushes
 */
export function createBundles(
  runner: GitRunner,
  {
    close,
    recordPush,
    limits,
  }: { close(path: string): Promise<void>; recordPush(path: string): void; limits: RefLimits },
): Bundles {
  return {
    write: (request) => writeBundle(runner, request),
    read: (source, scratch, options) => readBundle(runner, source, scratch, limits, options),
    async takeObjects(scratch, target) {
      await close(scratch);
      await takeObjects(scratch, target);
      recordPush(target);
    },
  };
}

/**
 * Writes refs with their history, and metadata files, as one git bundle that any git can clone. It is built in a
 * temporary repository that borrows the objects, so the real one is not modified. Throws `parcel_not_written`.
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
    const head = `feature done\ncommit ${bundleRef}\ncommitter Hearth <hearth@localhost> ${seconds} +0000\n`;
    await feed(
      runner,
      [`--git-dir=${scratch}`, 'fast-import', '--quiet', '--done'],
      importStream(head, message, files),
    );
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
      [],
    );
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const safeName = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** A commit with its files in the format of git fast-import. */
async function* importStream(
  head: string,
  message: string,
  files: BundleRequest['files'],
): AsyncGenerator<string | Uint8Array> {
  yield `${head}data ${Buffer.byteLength(message)}\n${message}\n`;
  for await (const { name, size, content } of files) {
    if (!safeName.test(name)) throw internal(`${name} is no name of a metadata file`);
    // No line of the input can end the text early.
    const end = `end-${randomUUID()}`;
    yield `M 100644 inline ${name}\ndata ${size === null ? `<<${end}` : size}\n`;
    let bytes = 0;
    for await (const chunk of content) {
      bytes += chunk.length;
      if (size !== null && bytes > size) throw internal(`${name} is longer than it said`);
      yield chunk;
    }
    if (size !== null && bytes < size) throw internal(`${name} is shorter than it said`);
    yield size === null ? `${end}\n` : '\n';
  }
  yield 'done\n';
}

async function feed(
  runner: GitRunner,
  argv: string[],
  input: AsyncIterable<string | Uint8Array> | Iterable<string>,
): Promise<void> {
  const running = runner.start({ argv, timeLimitMs: longMs, takesInput: true, yields: true });
  running.stdout?.resume();
  try {
    // Waits for git to take each chunk, so that the whole is never in memory.
    await pipeline(Readable.from(input), running.stdin!);
  } catch (error) {
    running.stop('input_failed');
    const { code } = await running.exited;
    // If git has exited by itself, its message shows why.
    if (code === null || code === 0) throw error;
  }
  const { code } = await running.exited;
  if (code !== 0)
    throw conflict(
      'parcel_not_written',
      `git could not write the file: ${running.stderrText().trim().split('\n').at(-1) ?? ''}`,
      { cause: { code, argv } },
    );
}

/**
 * Fetches everything from a bundle, or from a repository on this machine, into a temporary repository, with git
 * checking each object. The caller removes it. Throws `parcel_unreadable`, `refs_exceed_push`.
 */
async function readBundle(
  runner: GitRunner,
  source: string,
  scratch: string,
  limits: RefLimits,
  { signal, progress, more = [] }: ExchangeOptions = {},
): Promise<void> {
  await limitRefs(runner, source, bundleRef, limits);
  await mkdir(path.dirname(scratch), { recursive: true, mode: 0o700 });
  const settings = [
    ['protocol.file.allow', 'always'],
    ...ignoredFsckMessages.map((name) => [`fetch.fsck.${name}`, 'ignore']),
  ];
  let printed = '';
  const { code, errorText } = await runner.run(
    {
      // A fetch would write a file for each ref; a clone writes all refs into one file.
      argv: [
        'clone',
        '--bare',
        '--progress',
        '--no-local',
        ...[...alsoTaken, ...more.map((refs) => `+${refs}:${refs}`)].map(
          (refs) => `--config=remote.origin.fetch=${refs}`,
        ),
        source,
        scratch,
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
  if (code !== 0)
    throw invalid('parcel_unreadable', `${source} cannot be read. ${describeGitFailure(printed || errorText)}`);
  const refs = await readRefs(scratch);
  if ([...refs.values()].some((oid) => oid.length !== 40))
    throw invalid('parcel_unreadable', `${source} uses SHA-256 object ids, which this server does not support.`);
}

/**
 * Moves the objects fetched by `readBundle` into a repository: packs before their indexes, so that no reader finds an
 * incomplete one. The temporary repository stays readable through the objects of the other one.
 */
async function takeObjects(scratch: string, repository: string): Promise<void> {
  const [from, to] = [path.join(scratch, 'objects', 'pack'), path.join(repository, 'objects', 'pack')];
  await mkdir(to, { recursive: true, mode: 0o700 });
  const isLast = (name: string): number => Number(name.endsWith('.idx'));
  for (const name of (await readdir(from)).sort((a, b) => isLast(a) - isLast(b)))
    await rename(path.join(from, name), path.join(to, name));
  await writeFile(path.join(scratch, 'objects', 'info', 'alternates'), `${path.join(repository, 'objects')}\n`);
}
