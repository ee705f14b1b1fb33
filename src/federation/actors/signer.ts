import type { KeyObject } from 'node:crypto';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';

/** A remote actor with the key that its requests are signed with. */
export interface Signer {
  actor: RemoteActor;
  key: KeyObject;
}

/**
 * Remote actors as their own servers describe them, cached for six hours (SPEC §2.5): in the database, and parsed keys
 * in memory. A failure is cached for a minute, however many requests need it.
 */
export interface RemoteActors {
  /**
   * The actor at a URL.
   * @param options.fresh fetches it even when it is cached
   * @param options.handleFor the WebFinger handle of the actor at a URL, when it is known
   */
  actor(
    url: string,
    options?: { fresh?: boolean; handleFor?: (actor: RemoteActor) => string | null },
  ): Promise<RemoteActor>;
  /** Refreshes an actor that seems to have been renamed, at most every ten minutes. */
  actorAgain(id: string): Promise<void>;
  /**
   * The actor that publishes a key as its own. Fetches for actors that are unknown here are limited
   * by the network of the client, and never take the places of those whose stored key `fits`.
   * Refuses `key_fetch_budget` and `host_busy` when it is this server that is busy.
   */
  signer(keyId: string, request: { address: string; fits(key: KeyObject): boolean }): Promise<Signer>;
  /** Refreshes a key that did not fit, at most once a minute; `null` when it is too soon or this server is too busy. */
  signerAgain(keyId: string, request: { address: string }): Promise<Signer | null>;
}
