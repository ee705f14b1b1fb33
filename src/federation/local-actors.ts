import { createPrivateKey, generateKeyPair } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { Database } from '../db/index.ts';
import { createLru, createSemaphore, internal } from '../kernel/index.ts';
import type { SigningKey } from './signatures/index.ts';
import { keySchema } from './schema/key-schema.ts';
import type { ActorKind, KeyRow } from './schema/key-schema.ts';

/** A local actor whose key exists. */
export interface LocalActor {
  kind: ActorKind;
  /** UUID of the repository or user; `instance` for the instance. */
  ownerId: string;
  /** Below the base URL; permanent. */
  path: string;
  /** The actor id: base URL and path. */
  id: string;
  publicKeyPem: string;
}

/** Local actors and their keys (SPEC §2.5), created on first use; only a rotation changes a key. */
export interface LocalActors {
  /**
   * Returns the actor and creates it if necessary.
   * @param wantedPath the path by its current name; if that is taken, another one is assigned
   */
  ensure(kind: ActorKind, ownerId: string, wantedPath: string): Promise<LocalActor>;
  /** The id that `ensure` would return, without creating a key; `null` if it is unknown until the actor is created. */
  peekId(kind: ActorKind, ownerId: string, wantedPath: string): Promise<string | null>;
  /** Like `peekId`, for many of one kind in one query, keyed by owner id; omits unknown ids. */
  peekIds(kind: ActorKind, wanted: readonly { ownerId: string; wantedPath: string }[]): Promise<Map<string, string>>;
  /** The existing actor of a subject, if any. */
  ofOwner(kind: ActorKind, ownerId: string, manager?: EntityManager): Promise<LocalActor | null>;
  /** The actor with this path, if any. */
  atPath(path: string, manager?: EntityManager): Promise<LocalActor | null>;
  signingKey(path: string): Promise<SigningKey>;
  /** Replaces the key of an actor, in one write. @returns whether the actor exists */
  rotateKey(path: string): Promise<boolean>;
  idOf(path: string): string;
}

const makeKeyPair = promisify(generateKeyPair);
const makeRsaKeyPair = () =>
  makeKeyPair('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
const maxCachedKeys = 1_000;
/** Half of Node's thread pool: signatures and files need the remaining threads. */
const keysAtOnce = 2;

export function createLocalActors({
  db,
  origin,
  now,
}: {
  db: Database;
  origin: string;
  now: () => number;
}): LocalActors {
  const making = new Map<string, Promise<KeyRow>>();
  const generation = createSemaphore({ limit: keysAtOnce });
  /** Parsed private keys: parsing costs as much as signing. */
  const keys = createLru<string, { publicKeyPem: string; privateKey: KeyObject }>({
    name: 'actor signing keys',
    maxWeight: maxCachedKeys,
  });

  const toActor = ({ kind, ownerId, apPath, publicKeyPem }: KeyRow): LocalActor => ({
    kind,
    ownerId,
    path: apPath,
    id: origin + apPath,
    publicKeyPem,
  });

  /** In the thread pool and outside of any write: it takes 0.1 s. */
  async function make(kind: ActorKind, ownerId: string, wantedPath: string): Promise<KeyRow> {
    const { publicKey, privateKey } = await generation.run(makeRsaKeyPair);
    const createdAt = now();
    return db.write(async ({ manager }) => {
      // A command in another process may have created it since: the first one wins.
      const known = await manager.findOneBy(keySchema, { kind, ownerId });
      if (known !== null) return known;
      const apPath = await freePath(manager, wantedPath);
      const row: KeyRow = { apPath, kind, ownerId, publicKeyPem: publicKey, privateKeyPem: privateKey, createdAt };
      await manager.insert(keySchema, row);
      return row;
    });
  }

  async function ensureRow(kind: ActorKind, ownerId: string, wantedPath: string): Promise<KeyRow> {
    // Called for every request from another server.
    const [known] = await db.lookup(keySchema, { kind, ownerId });
    if (known !== undefined) return known;
    const name = `${kind} ${ownerId}`;
    const under = making.get(name) ?? make(kind, ownerId, wantedPath).finally(() => making.delete(name));
    making.set(name, under);
    return under;
  }

  const peekIds: LocalActors['peekIds'] = async (kind, wanted) => {
    if (wanted.length === 0) return new Map();
    const rows = await db.read.find(keySchema, {
      select: { apPath: true, kind: true, ownerId: true },
      where: [
        { kind, ownerId: In(wanted.map(({ ownerId }) => ownerId)) },
        { apPath: In(wanted.map(({ wantedPath }) => wantedPath)) },
      ],
    });
    const paths = new Map(rows.filter((row) => row.kind === kind).map((row) => [row.ownerId, row.apPath]));
    const taken = new Set(rows.map(({ apPath }) => apPath));
    const found = new Map<string, string>();
    for (const { ownerId, wantedPath } of wanted) {
      const path = paths.get(ownerId) ?? (taken.has(wantedPath) ? undefined : wantedPath);
      if (path !== undefined) found.set(ownerId, origin + path);
    }
    return found;
  };

  return {
    ensure: async (kind, ownerId, wantedPath) => toActor(await ensureRow(kind, ownerId, wantedPath)),
    peekId: async (kind, ownerId, wantedPath) => (await peekIds(kind, [{ ownerId, wantedPath }])).get(ownerId) ?? null,
    peekIds,
    async ofOwner(kind, ownerId, manager = db.read) {
      const row = await manager.findOneBy(keySchema, { kind, ownerId });
      return row === null ? null : toActor(row);
    },
    async atPath(path, manager) {
      const row =
        manager === undefined
          ? (await db.lookup(keySchema, { apPath: path }))[0]
          : await manager.findOneBy(keySchema, { apPath: path });
      return row == null ? null : toActor(row);
    },
    async signingKey(path) {
      const [row] = await db.lookup(keySchema, { apPath: path });
      if (row === undefined) throw internal('a local actor without a key cannot sign', { cause: path });
      let cached = keys.get(path);
      // A command in another process may have rotated it.
      if (cached?.publicKeyPem !== row.publicKeyPem) {
        cached = { publicKeyPem: row.publicKeyPem, privateKey: createPrivateKey(row.privateKeyPem) };
        keys.set(path, cached);
      }
      return { keyId: `${origin}${path}#main-key`, privateKey: cached.privateKey };
    },
    async rotateKey(path) {
      const pair = await generation.run(makeRsaKeyPair);
      const { affected } = await db.write(({ manager }) =>
        manager.update(
          keySchema,
          { apPath: path },
          { publicKeyPem: pair.publicKey, privateKeyPem: pair.privateKey, createdAt: now() },
        ),
      );
      return affected !== 0;
    },
    idOf: (path) => origin + path,
  };
}

/** Handles and repository names never contain `~`, so such a path cannot collide. */
async function freePath(manager: EntityManager, wanted: string): Promise<string> {
  for (let turn = 1; ; turn += 1) {
    const path = turn === 1 ? wanted : `${wanted}~${turn}`;
    if (!(await manager.existsBy(keySchema, { apPath: path }))) return path;
  }
}
