import type { KeyObject } from 'node:crypto';
import type { RemoteActor } from './schema/remote-actor-schema.ts';

/** A remote actor with the key that signs its requests. */
export interface Signer {
  actor: RemoteActor;
  key: KeyObject;
}

/**
 * Remote actors from the documents of their servers, cached for six hours (SPEC §2.5): in the database, and parsed keys
 * in memory. A failure is cached for a minute, for all requests that need it.
 */
export interface RemoteActors {
  /**
   * The actor at a URL.
   * @param options.fresh fetches it even if it is cached
   * @param options.handleFor the WebFinger handle of the actor at a URL, if known
   */
  actor(
    url: string,
    options?: { fresh?: boolean; handleFor?: (actor: RemoteActor) => string | null },
  ): Promise<RemoteActor>;
  /** Refreshes an actor that may have been renamed, at most every ten minutes. */
  actorAgain(id: string): Promise<void>;
  /**
   * The actor that publishes a key as its own. Fetches of actors that are not stored here are limited by the network of
   * the client, and never take the slots of actors whose stored key `fits`. Throws `key_fetch_budget` and `host_busy`
   * if this server is too busy.
   */
  signer(keyId: string, request: { address: string; fits(key: KeyObject): boolean }): Promise<Signer>;
  /**
   * Refreshes a key that did not match, at most once a minute; `null` if that is too soon or this server is too busy.
   */
  signerAgain(keyId: string, request: { address: string }): Promise<Signer | null>;
}
