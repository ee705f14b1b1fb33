import { isDomainError, unauthenticated } from '../../kernel/index.ts';
import { findActorById, findActorNamed } from '../actors/find-actor.ts';
import type { FederationDeps } from '../deps.ts';
import { embedded, idOf, typesOf, webUrl } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { followerTables } from '../deliveries/end-follower.ts';
import { parseActivity } from '../documents/parse-activity.ts';
import type { UnlistedServers } from '../unlisted-servers.ts';

/** A Follow and its Undo take some hundred bytes. */
export const maxUnlistedBytes = 64 * 1024;

/**
 * The first check of a signer on an unlisted host, before the body is read. Throws `signer_not_allowed` with
 * `unauthenticated` unless followers from all servers are accepted and the host is not blocked.
 */
export async function requireOpenFollowers({ unlisted }: FederationDeps, keyId: string): Promise<UnlistedServers> {
  const refused = (cause?: unknown) =>
    unauthenticated('signer_not_allowed', 'The signer’s host is not allowed on this server.', { cause });
  if (unlisted === null) throw refused();
  try {
    await unlisted.outbound.checkUrl(keyId);
  } catch (cause) {
    if (!isDomainError(cause)) throw cause;
    throw refused(cause);
  }
  return unlisted;
}

/**
 * Checks whether the activity of an unlisted server may have an effect, before its key is fetched: a Follow of a local
 * subject, or an Undo of a Follow, by an actor on the host of the key that is not blocked. Throws `unlisted_activity`
 * with `unauthenticated`.
 * @param typeOf returns the type by which the activity would be handled
 */
export async function requireFollowing(
  deps: FederationDeps,
  { body, typeOf, keyId }: { body: Buffer; typeOf: (document: Json) => string | undefined; keyId: string },
): Promise<void> {
  const document = readDocument(body);
  const type = typeOf(document);
  const actor = idOf(document['actor']);
  const isOfKey = actor !== null && webUrl(actor)?.host === new URL(keyId).host;
  const meansFollowing = type === 'Follow' || (type === 'Undo' && (await isUndoOfFollow(deps, document, actor)));
  const isFollow = type !== 'Follow' || (await isHere(deps, idOf(document['object'])));
  if (isOfKey && meansFollowing && isFollow && !(await deps.blocks.hasActor(actor))) return;
  throw unauthenticated(
    'unlisted_activity',
    'Servers that are not on the allowlist can only send Follow activities and their Undo.',
  );
}

/** The error for an invalid body reveals nothing to an unverified sender. */
function readDocument(body: Buffer): Json {
  try {
    return parseActivity(body);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return {};
  }
}

async function isHere(deps: FederationDeps, id: string | null): Promise<boolean> {
  if (id === null) return false;
  return ((await findActorById(deps, id)) ?? (await findActorNamed(deps, id))) !== null;
}

/** With the Follow embedded, or with the id of a known one. */
async function isUndoOfFollow({ db }: FederationDeps, document: Json, actorId: string | null): Promise<boolean> {
  const { type } = embedded(document['object']);
  if (type !== undefined) return typesOf(type).includes('Follow');
  const followId = idOf(document['object']);
  if (followId === null || actorId === null) return false;
  const known = await Promise.all(followerTables.map((table) => db.read.existsBy(table, { actorId, followId })));
  return known.includes(true);
}
