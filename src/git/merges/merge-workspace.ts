import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { nullIfAbsent, syncPath } from '../../files/index.ts';
import { internal } from '../../kernel/index.ts';
import { ObjectReader } from '../objects/object-reader.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { checkBlob } from './check-blob.ts';

const compress = promisify(deflate);

/** Limits of one git process of a merge: time in milliseconds, output in bytes. */
export interface MergeLimits {
  timeLimitMs: number;
  maxOutputBytes: number;
  memoryLimitBytes: number;
}

/**
 * A temporary object folder beside that of a repository, for merges that may be discarded: git reads its objects
 * together with the repository's own ones. They vanish with `dispose`, unless `publish` moves them.
 */
export interface MergeWorkspace {
  /** These variables let any git process also read the objects of this folder. */
  readonly environment: Readonly<Record<string, string>>;
  /** Folder of files that vanish with the workspace; never objects. */
  readonly folder: string;
  /** Runs git on the repository; new objects go to this folder, and so does the index of commands that use one. */
  run(
    argv: readonly string[],
    input?: string | Buffer,
  ): Promise<{ code: number | null; output: Buffer; errorText: string }>;
  /** Reads objects of the repository and of this folder with a process that ends after `work`. */
  read<Result>(work: (reader: ObjectReader) => Promise<Result>): Promise<Result>;
  /** Writes a commit. @param payload its content, without the header of the object. @returns its id */
  writeCommit(payload: Buffer): Promise<string>;
  /** The same for a commit that is only read within the workspace and never published. */
  writeTemporary(payload: Buffer): Promise<string>;
  /** Writes a blob, a tree or a tag. @param idLength hexadecimal digits of the ids of this repository */
  writeObject(type: 'blob' | 'tree' | 'tag', payload: Buffer, idLength: number): Promise<string>;
  /** See {@link checkBlob}. @param name of the file */
  checkBlob(name: string, content: Buffer, idLength: number): Promise<string | null>;
  /** Moves the new objects to the repository and syncs them, so that a ref may name them. */
  publish(): Promise<void>;
  dispose(): Promise<void>;
}

/** Recovery removes folders with this name after a crash. */
export async function openMergeWorkspace(
  runner: GitRunner,
  repository: string,
  limits: MergeLimits,
  signal?: AbortSignal,
): Promise<MergeWorkspace> {
  const objects = path.join(repository, 'objects');
  const folder = path.join(objects, `tmp_objdir-merge-${randomBytes(8).toString('hex')}`);
  const temporary = path.join(folder, 'temporary');
  await mkdir(temporary, { recursive: true });
  const environment = {
    GIT_OBJECT_DIRECTORY: folder,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: [objects, temporary].map(quotedPath).join(':'),
    GIT_INDEX_FILE: path.join(temporary, 'index'),
  };
  const run: MergeWorkspace['run'] = (argv, input) => {
    const { maxOutputBytes, ...bounds } = limits;
    const command = { argv: [`--git-dir=${repository}`, ...argv], environment, signal, yields: true, ...bounds };
    return runner.run(command, maxOutputBytes, input);
  };
  return {
    environment,
    folder: temporary,
    run,
    async read(work) {
      const { timeLimitMs } = limits;
      const bounds = { responseTimeoutMs: timeLimitMs, ttlMs: timeLimitMs };
      const reader = new ObjectReader(runner, repository, { ...bounds, environment });
      try {
        return await work(reader);
      } finally {
        reader.close();
        await reader.exited;
      }
    },
    checkBlob: (name, content, idLength) => checkBlob(run, temporary, { name, content, idLength }),
    writeCommit: (payload) => writeLoose(folder, 'commit', payload, idLengthOf(payload)),
    writeTemporary: (payload) => writeLoose(temporary, 'commit', payload, idLengthOf(payload)),
    writeObject: (type, payload, idLength) => writeLoose(folder, type, payload, idLength),
    async publish() {
      const prefixes = (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name));
      for (const prefix of prefixes) {
        const target = path.join(objects, prefix);
        const isNew = (await mkdir(target, { recursive: true })) !== undefined;
        for (const name of await readdir(path.join(folder, prefix)))
          await link(path.join(folder, prefix, name), path.join(target, name)).catch(ignoreExisting);
        await syncPath(target);
        if (isNew) await syncPath(objects);
      }
      // git packs the objects of a large merge.
      const packs = (await readdir(path.join(folder, 'pack')).catch(nullIfAbsent)) ?? [];
      // The index comes last: once it exists, git reads the pack.
      for (const name of packs.sort((one, other) => Number(one.endsWith('.idx')) - Number(other.endsWith('.idx'))))
        await rename(path.join(folder, 'pack', name), path.join(objects, 'pack', name));
      if (packs.length > 0) await syncPath(path.join(objects, 'pack'));
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A commit begins with the id of its tree. */
const idLengthOf = (commit: Buffer): number =>
  /^tree [0-9a-f]{64}\n/.test(commit.toString('latin1', 0, 70)) ? 64 : 40;

/** Writes a loose object (gitrepository-layout(5)), synced. */
async function writeLoose(folder: string, type: string, payload: Buffer, idLength: number): Promise<string> {
  const content = Buffer.concat([Buffer.from(`${type} ${payload.length}\0`), payload]);
  const oid = createHash(idLength === 64 ? 'sha256' : 'sha1')
    .update(content)
    .digest('hex');
  await mkdir(path.join(folder, oid.slice(0, 2)), { recursive: true });
  const file = path.join(folder, oid.slice(0, 2), oid.slice(2));
  // The same object may already exist.
  await writeFile(file, await compress(content), { mode: 0o444, flag: 'wx', flush: true }).catch(ignoreExisting);
  return oid;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** A path in a colon-separated list of git, which unquotes C strings there. */
function quotedPath(file: string): string {
  if (file.includes('\0') || file.includes('\n')) throw internal('a path that git cannot read');
  return `"${file.replace(/["\\]/g, '\\$&')}"`;
}
