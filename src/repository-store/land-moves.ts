import { link, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { rows } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import { hasOtherObjects, readHiddenRefs, readRefs } from '../git/index.ts';
import type { RefResult } from '../git/index.ts';
import { conflict, noRef } from '../kernel/index.ts';
import type { StoreDeps } from './deps.ts';
import type { CacheFolders } from './follow-folder.ts';
import type { Journal } from './journal.ts';
import { repositoryMoves, rowOf } from './find-row.ts';
import { setRefs } from './ref-rows.ts';
import { installPack } from './replace-packs.ts';
import type { StoreMove } from './ref-rows.ts';
import { storedPackSchema, storedRepositorySchema } from './schema.ts';
import type { StoredRepository } from './schema.ts';
import { uploadPack } from './transfer-packs.ts';
import type { UploadedPack } from './transfer-packs.ts';

export interface Landing {
  moves: readonly StoreMove[];
  /** The repository that has the new objects: the folder itself, or the one that a push went to. */
  source: string;
  isAtomic?: boolean;
  /** The branch that HEAD names from now on. */
  head?: string;
  /** Whether the source is a repository of its own: the packs in it are not those of a push. */
  isWhole?: boolean;
}

/** A sweep removes objects without a row after a day: what was sent longer ago than this may not get one any more. */
const maxUploadMs = 60 * 60_000;
const maxTries = 3;

/**
 * Makes changes of refs: objects into the store, then one write that compares and sets the rows and names the pack,
 * then the journal object, then the folder. Before that write nothing has happened, after it everything has.
 * Refuses `object_store_unavailable`, `missing_objects`; nothing is changed then.
 * @param row as of a moment before; its folder is current
 */
export async function landMoves(
  deps: StoreDeps & { folders: CacheFolders; journal: Journal },
  row: StoredRepository,
  landing: Landing,
): Promise<RefResult[]> {
  const { local, folders } = deps;
  const { moves, source } = landing;
  const { id } = row;
  for (let tries = 1; ; tries += 1) {
    const before = tries === 1 ? row : await rowOf(deps, id);
    const folder = await folders.follow(before);
    const newIds = [...new Set(moves.map(({ newId }) => newId).filter((oid) => !noRef.test(oid)))];
    const ends = await local.caches.ends(source, newIds);
    const into = path.join(path.dirname(folder), `packs-${deps.random.uuid()}`);
    try {
      const name =
        newIds.length === 0
          ? null
          : await collect(deps, id, {
              folder,
              source,
              tips: newIds,
              into,
              mayTake: tries === 1 && landing.isWhole !== true,
            });
      const pack = name === null ? null : await uploadPack(deps, id, into, name);
      const outcome = await deps.db.write((tx) => commit(tx, before, landing, ends, pack), {
        scope: `repository:${id}`,
      });
      if (outcome === 'checked-too-early') {
        if (tries === maxTries) throw conflict('repository_busy', 'This repository is being packed. Try again.');
        continue;
      }
      if (outcome.generation !== null) {
        await deps.journal.write(id, outcome.generation);
        await keepFolder(deps, id, { folder, source, into, name });
      }
      return outcome.results;
    } finally {
      await rm(into, { recursive: true, force: true });
    }
  }
}

/**
 * The folder of what the rows have now. A fault is only logged: the change was made, so nobody may be told that it was
 * refused, and the next reader fetches what is missing.
 */
async function keepFolder(
  deps: StoreDeps & { folders: CacheFolders },
  id: string,
  { folder, source, into, name }: { folder: string; source: string; into: string; name: string | null },
): Promise<void> {
  try {
    if (name !== null) await installPack(deps, id, { folder, from: into, name });
    await deps.folders.follow(await rowOf(deps, id));
    if (name !== null && source === folder) await deps.local.caches.prunePacked(folder);
  } catch (error) {
    deps.logger.warn('repository_store.folder_behind', { repository: id, error });
  }
}

interface Sources {
  folder: string;
  source: string;
  tips: readonly string[];
  into: string;
  /** Whether nothing was left out of the packs since the push was checked. */
  mayTake: boolean;
}

/**
 * What a landing has to bring to the store, as one pack in `into`. A push whose folder has nothing but what rows name
 * was checked against exactly that, so the pack that came is all it needs; everything else is packed by what the refs
 * of the folder do not lead to.
 * @returns its name; null for nothing
 */
async function collect(
  { local, folders }: StoreDeps & { folders: CacheFolders },
  id: string,
  { folder, source, tips, into, mayTake }: Sources,
): Promise<string | null> {
  const named = folders.packsOf(id);
  if (mayTake && named !== null && !(await hasOtherObjects(folder, named))) {
    if (source === folder) return null;
    const place = path.join(source, 'objects', 'pack');
    const came = (await readdir(place)).flatMap((file) => /^pack-([0-9a-f]{40})\.idx$/.exec(file)?.[1] ?? []);
    if (came.length === 0) return null;
    if (came.length === 1) {
      await mkdir(into, { recursive: true, mode: 0o700 });
      for (const ending of ['pack', 'idx'])
        await link(path.join(place, `pack-${came[0]}.${ending}`), path.join(into, `pack-${came[0]}.${ending}`));
      return came[0]!;
    }
  }
  // Not the refs of rows that are newer than the folder: their objects may not be here.
  const refs = [...(await readRefs(folder)).values(), ...(await readHiddenRefs(folder)).values()];
  return local.caches.pack(source, { tips, known: [...new Set(refs)], into });
}

type Outcome = 'checked-too-early' | { results: RefResult[]; generation: number | null };

async function commit(
  tx: Tx,
  before: StoredRepository,
  { moves, isAtomic = false, head }: Landing,
  ends: Parameters<typeof setRefs>[3]['ends'],
  pack: UploadedPack | null,
): Promise<Outcome> {
  const { manager, now } = tx;
  const { id } = before;
  // Locks the row: changes of one repository are one after the other.
  const [row] = await rows<{ generation: number; dropped: number }>(
    manager,
    `UPDATE stored_repositories SET generation = generation + 1 WHERE id = ?
      RETURNING generation, dropped_generation AS dropped`,
    [id],
  );
  if (row === undefined) throw repositoryMoves();
  const generation = Number(row.generation);
  const undo = () => manager.query('UPDATE stored_repositories SET generation = generation - 1 WHERE id = ?', [id]);
  // What is packed since then may lack objects that were taken to be there.
  if (Number(row.dropped) > before.generation || (pack !== null && now - pack.createdAt > maxUploadMs)) {
    await undo();
    return 'checked-too-early';
  }
  const results = await setRefs(tx, { id, generation }, moves, { ends, isAtomic });
  if (head === undefined && !results.some(({ ok }) => ok)) {
    await undo();
    return { results, generation: null };
  }
  if (head !== undefined) await manager.update(storedRepositorySchema, { id }, { head });
  if (pack !== null)
    await manager.insert(storedPackSchema, {
      ...pack,
      repository: id,
      generation,
      replacedGeneration: null,
      replacedAt: null,
    });
  return { results, generation };
}
