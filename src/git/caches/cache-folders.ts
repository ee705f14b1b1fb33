import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import { diskFull, internal, invalid, saysDiskFull } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { isBranchName } from '../refs/ref-name.ts';
import { initRepository } from '../storage.ts';

/** A line of `packed-refs`. */
export interface CachedRef {
  name: string;
  oid: string;
  /** The object that an annotated tag points to; null for everything else. */
  peeled: string | null;
}

/** Type of an object that a ref is to point to, with its peeled id. */
export interface RefEnd {
  type: string;
  peeled: string | null;
}

/**
 * Cache folders of repositories whose source of truth is elsewhere: refs in rows, packs in a store. Such a folder holds
 * packs and its refs as one file. All of it can be rebuilt, so none of it is synced.
 */
export interface GitCaches {
  /** Creates an empty repository; deletes anything at that path. Throws `invalid_branch_name`. */
  create(folder: string, branch: string): Promise<void>;
  /**
   * Creates a repository for one push that shares the objects and refs of another one. The caller removes it.
   * @returns its path
   */
  openScratch(folder: string): Promise<string>;
  /** Types of objects, and peeled ids of tags; omits absent objects. */
  ends(repository: string, oids: readonly string[]): Promise<Map<string, RefEnd>>;
  /**
   * Packs the objects reachable from `tips` but not from `known`, below `into`. Null if there are none. Throws
   * `missing_objects` if the repository lacks some of them.
   * @returns the name that git gave the pack: 40 hexadecimal digits
   */
  pack(
    repository: string,
    request: { tips: readonly string[]; known: readonly string[]; into: string },
  ): Promise<string | null>;
  /** Joins several packs into one. @returns its name */
  joinPacks(repository: string, names: readonly string[], into: string): Promise<string>;
  /** Replaces all refs atomically. @param refs sorted by the bytes of their names */
  writeRefs(folder: string, refs: AsyncIterable<CachedRef> | Iterable<CachedRef>, branch: string): Promise<void>;
  /** Runs work that changes a folder and invalidates the caches of its content. */
  changing<Result>(folder: string, work: () => Promise<Result>): Promise<Result>;
  /** Removes loose objects that a pack also contains. */
  prunePacked(folder: string): Promise<void>;
  /** Stops the readers of a folder that is about to be removed. */
  leave(folder: string): Promise<void>;
}

const longMs = 2 * 3_600_000;
const maxOutputBytes = 64 * 1024 * 1024;
const chunkLength = 256 * 1024;
const header = '# pack-refs with: peeled fully-peeled sorted \n';

/**
 * @param ports hooks by which the rest of the module learns of changes to a folder
 */
export function createCaches(runner: GitRunner, ports: Pick<GitCaches, 'changing' | 'leave'>): GitCaches {
  const run = async (repository: string, argv: readonly string[], input?: string) => {
    const command = { argv: [`--git-dir=${repository}`, '-c', 'core.fsync=none', ...argv], timeLimitMs: longMs };
    const done = await runner.run({ ...command, takesInput: input !== undefined }, maxOutputBytes, input);
    if (done.code !== 0 && saysDiskFull(done.errorText)) throw diskFull(done.errorText);
    return done;
  };

  async function makePack(repository: string, argv: readonly string[], into: string, input: string) {
    await mkdir(into, { recursive: true, mode: 0o700 });
    const command = ['pack-objects', '--quiet', '--delta-base-offset', ...argv, path.join(into, 'pack')];
    const { code, output, errorText } = await run(repository, command, input);
    if (code !== 0)
      throw invalid('missing_objects', 'The repository is missing objects that its refs require.', {
        cause: { code, errorText },
      });
    return output.toString().trim();
  }

  return {
    ...ports,
    create: (folder, branch) => initRepository(runner, folder, branch),

    async openScratch(folder) {
      const scratch = path.join(path.dirname(folder), `push-${randomUUID()}.git`);
      await mkdir(path.join(scratch, 'objects', 'info'), { recursive: true, mode: 0o700 });
      await mkdir(path.join(scratch, 'objects', 'pack'));
      await mkdir(path.join(scratch, 'refs'));
      await Promise.all([
        writeFile(path.join(scratch, 'objects', 'info', 'alternates'), `${path.join(folder, 'objects')}\n`),
        writeFile(
          path.join(scratch, 'config'),
          '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsync = none\n',
        ),
        copyFile(path.join(folder, 'HEAD'), path.join(scratch, 'HEAD')),
        copyFile(path.join(folder, 'packed-refs'), path.join(scratch, 'packed-refs')).catch(nullIfAbsent),
      ]);
      return scratch;
    },

    async ends(repository, oids) {
      const ends = new Map<string, RefEnd>();
      if (oids.length === 0) return ends;
      const input = oids.map((oid) => `${oid}\n${oid}^{}\n`).join('');
      const { code, output, errorText } = await run(repository, ['cat-file', '--batch-check'], input);
      if (code !== 0) throw internal('git could not read objects', { cause: { code, errorText } });
      const lines = output.toString().split('\n');
      for (const [at, oid] of oids.entries()) {
        const [id, type = ''] = lines[2 * at]!.split(' ');
        const [peeled = ''] = lines[2 * at + 1]!.split(' ');
        if (id === oid && type !== 'missing') ends.set(oid, { type, peeled: peeled === oid ? null : peeled });
      }
      return ends;
    },

    async pack(repository, { tips, known, into }) {
      const input = `${tips.join('\n')}\n--not\n${known.map((oid) => `${oid}\n`).join('')}`;
      const name = await makePack(repository, ['--revs', '--non-empty'], into, input);
      return name === '' ? null : name;
    },

    joinPacks: (repository, names, into) =>
      makePack(repository, ['--stdin-packs'], into, names.map((name) => `pack-${name}.pack\n`).join('')),

    async writeRefs(folder, refs, branch) {
      if (!isBranchName(branch)) throw internal('not the name of a branch');
      const fresh = path.join(folder, 'packed-refs.new');
      await rm(fresh, { force: true });
      const handle = await open(fresh, 'wx', 0o600);
      try {
        let text = header;
        for await (const { name, oid, peeled } of refs) {
          text += `${oid} ${name}\n${peeled === null ? '' : `^${peeled}\n`}`;
          if (text.length < chunkLength) continue;
          await handle.writeFile(text);
          text = '';
        }
        await handle.writeFile(text);
      } finally {
        await handle.close();
      }
      await rename(fresh, path.join(folder, 'packed-refs'));
      await writeFile(path.join(folder, 'HEAD.new'), `ref: refs/heads/${branch}\n`);
      await rename(path.join(folder, 'HEAD.new'), path.join(folder, 'HEAD'));
    },

    async prunePacked(folder) {
      const { code, errorText } = await run(folder, ['prune-packed', '--quiet']);
      if (code !== 0) throw internal('git could not remove objects', { cause: { code, errorText } });
    },
  };
}

/** Whether a folder has objects outside these packs, so that objects found by git may exist nowhere else. */
export async function hasOtherObjects(folder: string, packs: ReadonlySet<string>): Promise<boolean> {
  const objects = path.join(folder, 'objects');
  for (const name of await readdir(objects))
    if (/^[0-9a-f]{2}$/.test(name) && (await readdir(path.join(objects, name))).length > 0) return true;
  const names = await readdir(path.join(objects, 'pack'));
  return names.some((name) => name.endsWith('.pack') && !packs.has(name.slice('pack-'.length, -'.pack'.length)));
}
