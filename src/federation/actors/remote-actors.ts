import { isDomainError, unavailable } from '../../kernel/index.ts';
import type { FederationRoom } from '../room.ts';
import { readPublicKey } from '../signatures/index.ts';
import { fetchDocument } from './fetch-document.ts';
import { ownerOfKeyDocument, parseRemoteActor } from './parse-remote-actor.ts';
import { remoteActorSchema } from './remote-actor-schema.ts';
import type { RemoteActor } from './remote-actor-schema.ts';
import type { RemoteActors, Signer } from './signer.ts';

export const actorTtlMs = 6 * 3_600_000;
const failedTtlMs = 60_000;
const refetchAfterMs = 60_000;
const fetchesPerHost = 3;
const waitingPerHost = 32;
const keptEntries = 5_000;

type Room = Pick<FederationRoom, 'db' | 'outbound' | 'localActors' | 'clock' | 'measures'>;

/** See `RemoteActors`. */
export function createRemoteActors(room: Room): RemoteActors {
  const { db, clock } = room;
  const signers = new BoundedMap<Signer>(keptEntries);
  const failures = new BoundedMap<{ until: number; error: unknown }>(keptEntries);
  const refetches = new BoundedMap<number>(keptEntries);
  const underWay = new Map<string, Promise<RemoteActor>>();
  const turns = new HostTurns();

  const isFresh = ({ fetchedAt }: RemoteActor): boolean =>
    clock.now() - fetchedAt < actorTtlMs && fetchedAt <= clock.now();

  async function fetchActor(url: URL, keyId: string | null): Promise<RemoteActor> {
    const document = await fetchDocument(room, url.href);
    const now = clock.now();
    const actor = parseRemoteActor(document, url, keyId, now);
    if (actor !== null) return actor;
    const owner = keyId === null ? null : URL.parse(ownerOfKeyDocument(document, keyId) ?? '');
    if (owner === null || owner.host !== url.host || owner.href === url.href) throw unusable(url);
    const owned = parseRemoteActor(await fetchDocument(room, owner.href), owner, keyId, now);
    if (owned === null) throw unusable(url);
    return owned;
  }

  /** One fetch per URL at a time; a failure is remembered for a minute. */
  async function fetchOnce(url: URL, keyId: string | null): Promise<RemoteActor> {
    const name = `${url.href} ${keyId ?? ''}`;
    const failed = failures.get(name);
    if (failed !== undefined && failed.until > clock.now()) throw failed.error;
    const running =
      underWay.get(name) ??
      turns
        .take(url.host, () => fetchActor(url, keyId))
        .then(keep, (error: unknown) => {
          if (!isDomainError(error) || error.reason !== 'host_busy')
            failures.set(name, { until: clock.now() + failedTtlMs, error });
          throw error;
        })
        .finally(() => underWay.delete(name));
    underWay.set(name, running);
    return running;
  }

  async function keep(actor: RemoteActor): Promise<RemoteActor> {
    await db.write(({ manager }) => manager.upsert(remoteActorSchema, actor, ['id']));
    signers.delete(actor.keyId);
    return actor;
  }

  function toSigner(actor: RemoteActor): Signer {
    const key = readPublicKey(actor.publicKeyPem);
    if (key === null) throw unusable(new URL(actor.id));
    const signer = { actor, key };
    signers.set(actor.keyId, signer);
    return signer;
  }

  /** A key's URL is its document's, with a fragment that is not sent. */
  async function fetchSigner(keyId: string): Promise<Signer> {
    const url = new URL(keyId);
    url.hash = '';
    try {
      const signer = toSigner(await fetchOnce(url, keyId));
      room.measures.keyFetches.ok += 1;
      return signer;
    } catch (error) {
      room.measures.keyFetches.failed += 1;
      throw error;
    }
  }

  return {
    async actor(text, { fresh = false } = {}) {
      const url = await room.outbound.judge(text);
      const known = fresh ? null : await db.read.findOneBy(remoteActorSchema, { id: url.href });
      return known !== null && isFresh(known) ? known : fetchOnce(url, null);
    },
    async signer(keyId) {
      const kept = signers.get(keyId);
      if (kept !== undefined && isFresh(kept.actor)) return kept;
      const known = await db.read.findOneBy(remoteActorSchema, { keyId });
      return known !== null && isFresh(known) ? toSigner(known) : fetchSigner(keyId);
    },
    async signerAgain(keyId) {
      const last = refetches.get(keyId) ?? 0;
      const known = signers.get(keyId)?.actor.fetchedAt ?? 0;
      if (clock.now() - Math.max(last, known) < refetchAfterMs) return null;
      refetches.set(keyId, clock.now());
      return fetchSigner(keyId);
    },
  };
}

const unusable = (url: URL) => unavailable('document_unusable', `${url.href} is no usable actor.`);

/** Three fetches at a time to one host, a few more that wait, and no more. */
class HostTurns {
  readonly #hosts = new Map<string, { running: number; waiting: (() => void)[] }>();

  async take<T>(host: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#hosts.get(host) ?? { running: 0, waiting: [] };
    this.#hosts.set(host, turns);
    if (turns.running >= fetchesPerHost) {
      if (turns.waiting.length >= waitingPerHost)
        throw unavailable('host_busy', `Too many questions wait for ${host}.`);
      await new Promise<void>((resolve) => turns.waiting.push(resolve));
    } else turns.running += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next in line, so that nobody slips in between.
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else if ((turns.running -= 1) === 0) this.#hosts.delete(host);
    }
  }
}

/** Forgets the oldest entry when it is full: strangers choose the names. */
class BoundedMap<Value> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  set(name: string, value: Value): void {
    this.#values.delete(name);
    this.#values.set(name, value);
    if (this.#values.size > this.#most) this.#values.delete(this.#values.keys().next().value!);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }
}
