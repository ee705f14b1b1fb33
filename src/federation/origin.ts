import { Like, MoreThan, Not } from 'typeorm';
import { invalid } from '../kernel/index.ts';
import { keySchema } from './schema/key-schema.ts';
import { cancelWaiting } from './deliveries/cancel.ts';
import { followAgain } from './follows/follow-repository.ts';
import { followerSchema } from './schema/follower-schema.ts';
import { remoteFollowSchema } from './schema/remote-follow-schema.ts';
import { isOperational, requireOperational } from './operational.ts';
import { originSchema } from './schema/origin-schema.ts';
import type { FederationDeps } from './deps.ts';

/** Follows that are asked again in one write. */
const followsPerWrite = 100;

/** A base URL that is not the one that other servers know this one by. */
export interface OriginChange {
  /** What our actors were published under. */
  from: string;
  /** What the settings say. */
  to: string;
}

/** What accepting a new origin does, and did. */
export interface OriginConsequences {
  /** Remote actors that follow repositories here: they know them by the former ids. */
  followers: number;
  /** Follows of people here, which are asked again. */
  follows: number;
}

/** Null while the base URL is what it was when the first actor was made, or federation is off. */
export async function originChange(deps: Pick<FederationDeps, 'db' | 'settings'>): Promise<OriginChange | null> {
  if (!isOperational(deps.settings)) return null;
  const to = deps.settings.origin;
  const from = await acceptedOrigin(deps);
  return from === null || from === to ? null : { from, to };
}

async function acceptedOrigin({ db }: Pick<FederationDeps, 'db'>): Promise<string | null> {
  const [row] = await db.read.find(originSchema, { order: { acceptedAt: 'DESC', origin: 'ASC' }, take: 1 });
  return row?.origin ?? null;
}

/**
 * At start: notes the origin when none is known, and warns when another one is. Until the first key
 * is made nobody knows this server, so until then a base URL may be corrected freely.
 */
export async function noteOrigin(deps: FederationDeps): Promise<void> {
  if (!isOperational(deps.settings)) return;
  const { origin } = deps.settings;
  const accepted = await acceptedOrigin(deps);
  if (accepted === origin) return;
  if (accepted === null || !(await deps.db.read.existsBy(keySchema, {}))) {
    await deps.db.write(async ({ manager, now }) => {
      await manager.createQueryBuilder().delete().from(originSchema).execute();
      await manager.insert(originSchema, { origin, acceptedAt: now });
    });
    return;
  }
  deps.logger.warn('federation.origin_changed', {
    from: accepted,
    to: origin,
    meaning: 'other servers know the former address: follows do not work in either direction',
    remedy: `set SERVICE_FEDERATION_BASE_URL back to ${accepted}, or: hearth federation origin accept ${origin}`,
  });
}

/** What `acceptOrigin` would do. */
export async function originConsequences({ db }: FederationDeps): Promise<OriginConsequences> {
  return {
    followers: await db.read.countBy(followerSchema, {}),
    follows: await db.read.countBy(remoteFollowSchema, {}),
  };
}

/**
 * Goes on under a new origin. Nobody can tell other servers that an actor has moved, so who follows
 * from there is forgotten and has to follow again; what people here follow is asked for again in their
 * new names, and what is still queued speaks of the former ids and is not sent.
 * Asked again after it was interrupted, it does the rest.
 * @param origin what the settings say, repeated by the administrator
 * Refuses `federation_off`; `other_origin` when the settings say something else.
 */
export async function acceptOrigin(deps: FederationDeps, origin: string): Promise<OriginConsequences> {
  requireOperational(deps);
  if (URL.parse(origin)?.origin !== deps.settings.origin) {
    throw invalid('other_origin', `SERVICE_FEDERATION_BASE_URL is ${deps.settings.origin}; set it first.`);
  }
  const from = await acceptedOrigin(deps);
  let followers = 0;
  if (from !== deps.settings.origin) {
    followers = await deps.db.write(async (tx) => {
      const { manager, now } = tx;
      await manager.upsert(originSchema, { origin: deps.settings.origin, acceptedAt: now }, ['origin']);
      await cancelWaiting(tx, 'it speaks of the former address of this server');
      const forgotten = await manager.createQueryBuilder().delete().from(followerSchema).execute();
      return forgotten.affected ?? 0;
    });
  }
  const follows = await askAgain(deps);
  deps.logger.info('federation.origin_accepted', { from, to: deps.settings.origin, followers, follows });
  return { followers, follows };
}

/** Every follow that was asked for under another origin. @returns how many */
async function askAgain(deps: FederationDeps): Promise<number> {
  const former = { followId: Not(Like(`${deps.settings.origin}/%`)) };
  let count = 0;
  for (let last = ''; ; ) {
    const where = { ...former, id: MoreThan(last) };
    const rows = await deps.db.read.find(remoteFollowSchema, { where, order: { id: 'ASC' }, take: followsPerWrite });
    if (rows.length === 0) return count;
    await deps.db.write(async (tx) => {
      for (const row of rows) await followAgain(deps, tx, row);
    });
    count += rows.length;
    last = rows.at(-1)!.id;
  }
}
