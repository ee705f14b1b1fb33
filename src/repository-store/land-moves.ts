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
  /** The repository that contains the new objects: the folder itself, or the one that received a push. */
  source: string;
  isAtomic?: boolean;
  /** The new branch of HEAD. */
  head?: string;
  /** Whether the source is a separate repository: its packs are not those of a push. */
  isWhole?: boolean;
}

/** A sweep removes objects without a row after a day: older uploads must not get a row any more. */
const maxUploadMs = 60 * 60_000;
const maxTries = 3;

/**
 * Applies ref changes: uploads objects to the store, then compares and sets the rows and adds the pack in one
 * transaction, then writes the journal object, then the folder. That transaction decides whether the change happened.
 * Throws `object_store_unavailable`, `missing_objects`; nothing is changed then.
 * @param row read just before; its folder is current
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
      deps.metrics.conflicts(outcome.results.filter(({ ok }) => !ok).length);
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
 * Updates the folder to the rows. Only logs failures: the change was made, so the client must not get an error, and the
 * next reader fetches missing objects.
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
  /** Whether no objects were dropped from the packs since the push was checked. */
  mayTake: boolean;
}

/**
 * Packs the objects that a landing must upload, as one pack in `into`. A push to a folder with only packs known to the
 * rows was checked against exactly those, so its own pack suffices; otherwise packs everything not reachable from the
 * folder's refs.
 * @returns its name; null if there is nothing to upload
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
  // Excludes refs from rows newer than the folder: their objects may be missing here.
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
  // Locks the row, so that changes of a repository are serialised.
  const [row] = await rows<{ generation: number; dropped: number }>(
    manager,
    `UPDATE stored_repositories SET generation = generation + 1 WHERE id = ?
      RETURNING generation, dropped_generation AS dropped`,
    [id],
  );
  if (row === undefined) throw repositoryMoves();
  const generation = Number(row.generation);
  const undo = () => manager.query('UPDATE stored_repositories SET generation = generation - 1 WHERE id = ?', [id]);
  // Packs created since then may lack objects assumed to exist.
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
