import { Like, MoreThan, Not } from 'typeorm';
import { invalid } from '../kernel/index.ts';
import { keySchema } from './schema/key-schema.ts';
import { cancelWaitingDeliveries } from './deliveries/cancel-deliveries.ts';
import { followAgain } from './follows/follow-repository.ts';
import { followerSchema } from './schema/follower-schema.ts';
import { remoteFollowSchema } from './schema/remote-follow-schema.ts';
import { isFederationOn, requireFederationOn } from './require-federation-on.ts';
import { originSchema } from './schema/origin-schema.ts';
import type { FederationDeps } from './deps.ts';

/** Batch size of follows per write. */
const followsPerWrite = 100;

/** A base URL that differs from the one that other servers know. */
interface OriginChange {
  /** The origin under which local actors were published. */
  from: string;
  /** The configured origin. */
  to: string;
}

/** The effects of accepting a new origin. */
interface OriginConsequences {
  /** Remote followers of local repositories, who know the former ids. */
  followers: number;
  /** Follows by local users, which are sent again. */
  follows: number;
}

/** Null if the base URL has not changed since the first actor was created, or federation is off. */
export async function originChange(deps: Pick<FederationDeps, 'db' | 'settings'>): Promise<OriginChange | null> {
  if (!isFederationOn(deps.settings)) return null;
  const to = deps.settings.origin;
  const from = await acceptedOrigin(deps);
  return from === null || from === to ? null : { from, to };
}

async function acceptedOrigin({ db }: Pick<FederationDeps, 'db'>): Promise<string | null> {
  const [row] = await db.read.find(originSchema, { order: { acceptedAt: 'DESC', origin: 'ASC' }, take: 1 });
  return row?.origin ?? null;
}

/**
 * At start: records the origin if none is recorded, and warns if it has changed. Before the first key, no server knows
 * this one, so until then a base URL may be corrected freely.
 */
export async function recordOrigin(deps: FederationDeps): Promise<void> {
  if (!isFederationOn(deps.settings)) return;
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

/** The effects that `acceptOrigin` would have. */
export async function originConsequences({ db }: FederationDeps): Promise<OriginConsequences> {
  return {
    followers: await db.read.countBy(followerSchema, {}),
    follows: await db.read.countBy(remoteFollowSchema, {}),
  };
}

/**
 * Accepts a new origin. ActivityPub cannot announce that an actor has moved, so remote followers are removed and must
 * follow again; follows by local users are sent again under their new ids, and pending deliveries with former ids are
 * cancelled. Resumes after an interruption. Throws `federation_off`; `other_origin` if it differs from the settings.
 * @param origin the configured origin, repeated by the administrator
 */
export async function acceptOrigin(deps: FederationDeps, origin: string): Promise<OriginConsequences> {
  requireFederationOn(deps);
  if (URL.parse(origin)?.origin !== deps.settings.origin) {
    throw invalid('other_origin', `SERVICE_FEDERATION_BASE_URL is ${deps.settings.origin}; set it first.`);
  }
  const from = await acceptedOrigin(deps);
  let followers = 0;
  if (from !== deps.settings.origin) {
    followers = await deps.db.write(async (tx) => {
      const { manager, now } = tx;
      await manager.upsert(originSchema, { origin: deps.settings.origin, acceptedAt: now }, ['origin']);
      await cancelWaitingDeliveries(tx, 'it speaks of the former address of this server');
      const forgotten = await manager.createQueryBuilder().delete().from(followerSchema).execute();
      return forgotten.affected ?? 0;
    });
  }
  const follows = await resendFollows(deps);
  deps.logger.info('federation.origin_accepted', { from, to: deps.settings.origin, followers, follows });
  return { followers, follows };
}

/** Sends every follow of another origin again. @returns number of follows */
async function resendFollows(deps: FederationDeps): Promise<number> {
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
