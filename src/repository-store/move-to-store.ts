import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readHiddenRefs, readRefs } from '../git/index.ts';
import { conflict, unavailable } from '../kernel/index.ts';
import type { ChangeGate } from './change-gate.ts';
import { newRow } from './create-stored.ts';
import type { StoreDeps } from './deps.ts';
import type { CacheFolders } from './follow-folder.ts';
import { rowOf } from './find-row.ts';
import { listJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import { landMoves } from './land-moves.ts';
import { writeRefs } from './ref-rows.ts';
import type { StoreMove } from './ref-rows.ts';
import { storedPackSchema, storedRepositorySchema } from './schema.ts';
import type { StoredPack } from './schema.ts';
import { downloadPack, uploadPack } from './transfer-packs.ts';
import type { UploadedPack } from './transfer-packs.ts';

export type MoveDeps = StoreDeps & { folders: CacheFolders; journal: Journal; gate: ChangeGate };

type Refs = ReadonlyMap<string, string>;

/** Marker file in an obsolete folder, which is removed a day later. */
export const movedFile = 'hearth-moved.json';
const rowsAtOnce = 2_000;
const noObject = '0'.repeat(40);

/**
 * Moves a repository from its folder to the store while it is in use: uploads all objects, fetches them back and checks
 * them; then, while no change runs, uploads newer ones and writes the rows in one transaction. From then on the rows
 * are authoritative; the folder stays for a day, for clones that read it. Skips unreachable objects. Throws
 * `repository_busy`, `object_store_unavailable`, `missing_objects`; then nothing has moved.
 * @returns the uploaded bytes
 */
export async function moveToStore(deps: MoveDeps, id: string, folder: string): Promise<number> {
  const { local, directory, random, gate, journal, logger } = deps;
  const into = path.join(directory, `packs-${random.uuid()}`);
  const send = async (tips: readonly string[], known: readonly string[]): Promise<UploadedPack[]> => {
    if (tips.length === 0) return [];
    const name = await local.caches.pack(folder, { tips, known, into });
    return name === null ? [] : [await uploadPack(deps, id, into, name)];
  };
  try {
    const first = await allRefs(folder);
    const packs = await send(oidsOf(first), []);
    await checkSent(deps, id, first, packs);
    return await gate.alone(id, async () => {
      const refs = await allRefs(folder);
      const known = new Set(first.values());
      packs.push(
        ...(await send(
          oidsOf(refs).filter((oid) => !known.has(oid)),
          oidsOf(first),
        )),
      );
      const generation = (await lastGeneration(deps, id)) + 1;
      await insertRows(deps, { id, folder, generation, refs, packs });
      await journal.write(id, generation);
      await writeFile(path.join(folder, movedFile), JSON.stringify({ at: deps.clock.now() }), { mode: 0o600 });
      await landLate(deps, id, folder, refs);
      logger.info('repository_store.moved', { repository: id, to: 'store', refs: refs.size });
      return packs.reduce((sum, { packBytes, indexBytes }) => sum + packBytes + indexBytes, 0);
    });
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

/** All refs except for those of a running fetch. */
const allRefs = async (folder: string): Promise<Map<string, string>> =>
  new Map([...(await readRefs(folder)), ...(await readHiddenRefs(folder))]);

const oidsOf = (refs: Refs): string[] => [...new Set(refs.values())];

/** Creates a repository from the uploaded packs, and reads it. Throws `object_store_unavailable`. */
async function checkSent(deps: MoveDeps, id: string, refs: Refs, packs: readonly UploadedPack[]): Promise<void> {
  const { local, directory, random } = deps;
  const scratch = path.join(directory, `push-${random.uuid()}.git`);
  try {
    await local.caches.create(scratch, 'main');
    for (const pack of packs)
      if ((await downloadPack(deps, storedPack(id, pack, 0), path.join(scratch, 'objects', 'pack'))) !== null)
        throw lost();
    const list = [...refs].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    await local.caches.writeRefs(
      scratch,
      list.map(([name, oid]) => ({ name, oid, peeled: null })),
      'main',
    );
    const faults = await local.maintenance.check(scratch);
    if (faults.length > 0) throw lost(faults);
  } finally {
    await local.caches.leave(scratch);
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

const lost = (faults: readonly string[] = []) =>
  unavailable(
    'object_store_unavailable',
    'The data read back from the store does not match the repository. Nothing was moved.',
    {
      retryAfterSeconds: 60,
      cause: faults,
    },
  );

const storedPack = (repository: string, pack: UploadedPack, generation: number): StoredPack => ({
  ...pack,
  repository,
  generation,
  replacedGeneration: null,
  replacedAt: null,
});

/** A repository that was in the store before continues its generations, because its journal still exists. */
async function lastGeneration({ objects }: StoreDeps, id: string): Promise<number> {
  let last = 0;
  for await (const { generation } of listJournal(objects, id)) last = Math.max(last, generation);
  return last;
}

interface Rows {
  id: string;
  folder: string;
  generation: number;
  refs: Refs;
  packs: readonly UploadedPack[];
}

async function insertRows({ db, local }: MoveDeps, { id, folder, generation, refs, packs }: Rows): Promise<void> {
  const head = (await local.refs.head(folder)).branch ?? 'main';
  const ends = await local.caches.ends(folder, oidsOf(refs));
  const moves: StoreMove[] = [...refs].map(([ref, newId]) => ({ ref, oldId: null, newId }));
  await db.write(async ({ manager, now }) => {
    if (await manager.existsBy(storedRepositorySchema, { id }))
      throw conflict('repository_busy', 'The repository is already being moved.');
    await manager.insert(storedRepositorySchema, { ...newRow(id, head, now), generation });
    for (let start = 0; start < moves.length; start += rowsAtOnce)
      await writeRefs({ manager, now }, id, generation, moves.slice(start, start + rowsAtOnce), ends);
    for (const pack of packs) await manager.insert(storedPackSchema, storedPack(id, pack, generation));
  });
}

/** A command in another process may have changed the folder during the move: applies its changes. */
async function landLate(deps: MoveDeps, id: string, folder: string, moved: Refs): Promise<void> {
  const now = await allRefs(folder);
  const moves: StoreMove[] = [];
  for (const [ref, oid] of now) if (moved.get(ref) !== oid) moves.push({ ref, oldId: null, newId: oid });
  for (const ref of moved.keys()) if (!now.has(ref)) moves.push({ ref, oldId: null, newId: noObject });
  if (moves.length > 0) await landMoves(deps, await rowOf(deps, id), { moves, source: folder, isWhole: true });
}
