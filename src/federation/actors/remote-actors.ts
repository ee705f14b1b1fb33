import { networkPrefix, createLru, isDomainError, unavailable } from '../../kernel/index.ts';
import type { FederationDeps } from '../deps.ts';
import { readPublicKey } from '../signatures/index.ts';
import { fetchDocument } from './fetch-document.ts';
import { FetchQueue } from './fetch-queue.ts';
import type { FetchRequester } from './fetch-queue.ts';
import { createKeyFetchBudget } from '../key-fetch-budget.ts';
import type { KeyFetchBudget } from '../key-fetch-budget.ts';
import { namedKey, ownerOfKeyDocument, parseRemoteActor } from './parse-remote-actor.ts';
import type { ActorSource, UnusableField } from './parse-remote-actor.ts';
import { remoteActorSchema } from '../schema/remote-actor-schema.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import type { RemoteActors, Signer } from '../signer.ts';
import { storeActor } from './store-actor.ts';

export const actorTtlMs = 6 * 3_600_000;
const failedTtlMs = 60_000;
const refetchAfterMs = 60_000;
/** A push whose URLs do not match the cached page may come from software with another URL scheme. */
const recheckAfterMs = 10 * 60_000;
const maxCachedEntries = 5_000;

type Deps = Pick<FederationDeps, 'db' | 'outbound' | 'localActors' | 'clock' | 'metrics' | 'schemes'>;

/**
 * See `RemoteActors`.
 * @param budget limits the fetches for unknown signers
 */
export function createRemoteActors(
  deps: Deps,
  budget: KeyFetchBudget = createKeyFetchBudget(deps.clock),
): RemoteActors {
  const { db, clock } = deps;
  // Bounded, because anonymous clients choose the keys.
  const remembered = <Value>(name: string) => createLru<string, Value>({ name, maxWeight: maxCachedEntries });
  const signers = remembered<Signer>('signers');
  const failures = remembered<{ until: number; error: unknown }>('failed actor fetches');
  const refetches = remembered<number>('key fetches');
  const rechecks = remembered<number>('actor checks');
  const runningFetches = new Map<string, Promise<RemoteActor>>();
  const queue = new FetchQueue();

  const isFresh = ({ fetchedAt }: RemoteActor): boolean =>
    clock.now() - fetchedAt < actorTtlMs && fetchedAt <= clock.now();

  async function fetchActor(url: URL, keyId: string | null): Promise<RemoteActor> {
    const document = await fetchDocument(deps, url.href);
    const now = clock.now();
    const source: ActorSource = { url, keyId, fetchedAt: now };
    const actor = parseRemoteActor(document, source);
    if (typeof actor !== 'string') return actor;
    const named = actor === 'publicKey' ? namedKey(document, source) : null;
    if (named !== null) {
      const keyUrl = new URL(named);
      keyUrl.hash = '';
      const keyDocument = keyUrl.href === url.href ? document : await fetchDocument(deps, keyUrl.href);
      return requireActor(parseRemoteActor(document, { ...source, keyDocument }), url);
    }
    const owner = keyId === null ? null : URL.parse(ownerOfKeyDocument(document, keyId) ?? '');
    if (owner === null || owner.host !== url.host || owner.href === url.href) return requireActor(actor, url);
    // The owner must also reference the key, embedded or not.
    const owned = parseRemoteActor(await fetchDocument(deps, owner.href), {
      ...source,
      url: owner,
      keyDocument: document,
    });
    return requireActor(owned, owner);
  }

  /** At most one concurrent fetch per URL and requester; a failure is cached for a minute. */
  function fetchOnce(url: URL, keyId: string | null, asker: FetchRequester): Promise<RemoteActor> {
    const document = `${url.href} ${keyId ?? ''}`;
    throwKnownFailure(document);
    const name = `${document} ${asker === 'trusted' ? '' : asker.network}`;
    const running =
      runningFetches.get(name) ?? fetchInTurn(url, keyId, asker, document).finally(() => runningFetches.delete(name));
    runningFetches.set(name, running);
    return running;
  }

  function throwKnownFailure(document: string): void {
    const failed = failures.get(document);
    if (failed !== undefined && failed.until > clock.now()) throw failed.error;
  }

  async function fetchInTurn(
    url: URL,
    keyId: string | null,
    asker: FetchRequester,
    document: string,
  ): Promise<RemoteActor> {
    const askedAt = clock.now();
    if (asker !== 'trusted') {
      const wait = budget.take(asker.network, url.host);
      if (wait !== null) throw overBudget(wait);
    }
    return queue.run(url.host, asker, async () => {
      // Another request may have fetched it since.
      throwKnownFailure(document);
      const known = await db.read.findOneBy(remoteActorSchema, { id: url.href });
      if (known !== null && isFresh(known) && known.fetchedAt > askedAt && (keyId ?? known.keyId) === known.keyId)
        return known;
      try {
        return await keep(await fetchActor(url, keyId));
      } catch (error) {
        failures.set(document, { until: clock.now() + failedTtlMs, error });
        throw error;
      }
    });
  }

  async function keep(fetched: RemoteActor): Promise<RemoteActor> {
    const actor = await db.write((tx) => storeActor(tx, fetched));
    signers.delete(actor.keyId);
    return actor;
  }

  function toSigner(actor: RemoteActor): Signer {
    const key = readPublicKey(actor.publicKeyPem);
    if (key === null) throw unusable(new URL(actor.id), 'publicKey');
    const signer = { actor, key };
    signers.set(actor.keyId, signer);
    return signer;
  }

  /** A key's URL is that of its document plus a fragment, which is not sent. */
  async function fetchSigner(keyId: string, asker: FetchRequester): Promise<Signer> {
    const url = new URL(keyId);
    url.hash = '';
    try {
      const signer = toSigner(await fetchOnce(url, keyId, asker));
      deps.metrics.keyFetches.ok += 1;
      return signer;
    } catch (error) {
      deps.metrics.keyFetches[isBusy(error) ? 'busy' : 'failed'] += 1;
      throw error;
    }
  }

  return {
    async actor(text, { fresh = false, handleFor } = {}) {
      const url = await deps.outbound.checkUrl(text);
      const known = fresh ? null : await db.read.findOneBy(remoteActorSchema, { id: url.href });
      const actor = known !== null && isFresh(known) ? known : await fetchOnce(url, null, 'trusted');
      const webfingerHandle = handleFor?.(actor) ?? null;
      if (webfingerHandle === null || webfingerHandle === actor.webfingerHandle) return actor;
      return keep({ ...actor, webfingerHandle });
    },
    async actorAgain(id) {
      const last = rechecks.get(id);
      if (last !== undefined && clock.now() - last < recheckAfterMs) return;
      rechecks.set(id, clock.now());
      await fetchOnce(await deps.outbound.checkUrl(id), null, 'trusted');
    },
    async signer(keyId, { address, fits }) {
      const cached = signers.get(keyId);
      if (cached !== undefined && isFresh(cached.actor)) return cached;
      const known = await db.read.findOneBy(remoteActorSchema, { keyId });
      if (known !== null && isFresh(known)) return toSigner(known);
      // Without a matching key, a known actor gets no more trust than an anonymous client.
      const oldKey = known === null ? null : readPublicKey(known.publicKeyPem);
      const isKnown = oldKey !== null && fits(oldKey);
      return fetchSigner(keyId, isKnown ? 'trusted' : { network: networkPrefix(address) });
    },
    async signerAgain(keyId, { address }) {
      const last = refetches.get(keyId) ?? 0;
      const known = signers.get(keyId)?.actor.fetchedAt ?? 0;
      if (clock.now() - Math.max(last, known) < refetchAfterMs) return null;
      refetches.set(keyId, clock.now());
      try {
        return await fetchSigner(keyId, { network: networkPrefix(address) });
      } catch (error) {
        // The signature was checked against the cached key; a failed refresh changes nothing.
        if (isBusy(error)) return null;
        throw error;
      }
    },
  };
}

/** Whether this server's own limits prevented a fetch, so that the same request may succeed later. */
export function isBusy(error: unknown): boolean {
  return isDomainError(error) && (error.reason === 'host_busy' || error.reason === 'key_fetch_budget');
}

const overBudget = (seconds: number) =>
  unavailable('key_fetch_budget', 'Too many unknown signers were received from this network.', {
    // A sender that counts attempts should not waste one.
    retryAfterSeconds: Math.max(seconds, 60),
  });

const unusable = (url: URL, field: UnusableField) =>
  unavailable('document_unusable', `${url.href} is not a usable actor: its ${field} is missing or not its own.`);

function requireActor(actor: RemoteActor | UnusableField, url: URL): RemoteActor {
  if (typeof actor === 'string') throw unusable(url, actor);
  return actor;
}
