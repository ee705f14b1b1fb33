import { rows } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { isDomainError, unauthenticated } from '../../kernel/index.ts';
import { receiveAccept } from '../activities/accept.ts';
import type { ActivityHandler, IncomingActivity } from '../activities/incoming-activity.ts';
import { cleanText, embedded, idOf, typesOf } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { receiveEvent } from '../activities/event.ts';
import { receiveFollow } from '../activities/follow.ts';
import { receiveDelete } from '../activities/delete.ts';
import { receivePush } from '../activities/push.ts';
import { receiveUndo } from '../activities/undo.ts';
import { isBusy } from '../actors/remote-actors.ts';
import type { Signer } from '../signer.ts';
import type { FederationDeps } from '../deps.ts';
import { isSignedBy, readSignedHead, requireDigest } from '../signatures/index.ts';
import type { ArrivedHead, SignedRequest } from '../signatures/index.ts';
import { maxUnlistedBytes, requireFollowing, requireOpenFollowers } from '../open/require-following.ts';
import { readActivity } from './read-activity.ts';

/** The result of an activity; a reply to a note of this server is ignored, and counted separately. */
type ReceiveResult = 'processed' | 'ignored' | 'reply' | 'repeated';

/**
 * All activities with an effect; others are recorded and ignored (SPEC §6). A Delete has an effect only on its own
 * actor and notes, a Create only with the event of a followed repository.
 */
const handlers = new Map<string, ActivityHandler<never>>([
  ['Follow', receiveFollow as ActivityHandler<never>],
  ['Undo', receiveUndo as ActivityHandler<never>],
  ['Accept', receiveAccept as ActivityHandler<never>],
  ['Push', receivePush as ActivityHandler<never>],
  ['Delete', receiveDelete as ActivityHandler<never>],
  ['Create', receiveEvent as ActivityHandler<never>],
]);

const handledType = (types: readonly string[]): string | undefined => types.find((name) => handlers.has(name));

/** The handler of the first type that has one. */
function handlerOf(types: readonly string[]): ActivityHandler<never> | null {
  const type = handledType(types);
  return type === undefined ? null : handlers.get(type)!;
}

/** A POST to an inbox before its body is read. */
interface ArrivingActivity extends ArrivedHead {
  /** Client address, through trusted proxies. */
  address: string;
  /**
   * @param maxBytes a limit below the usual one
   */
  readBody(maxBytes?: number): Promise<Buffer>;
}

/**
 * Receives a signed activity (SPEC §5). Checks the headers, the allowlist and the date; only then the body and its
 * digest, the signer's key and the signature; finally writes the deduplication record and the effect in one write. A
 * second copy changes nothing. From unlisted servers, while these may follow, only a Follow and its Undo reach the key
 * check. Refuses with `unauthenticated` and a reason that is only logged: those of `readSignedRequest`,
 * `signer_not_allowed`, `unlisted_activity`, `signer_unknown`, `signature_wrong`, `signer_blocked`, and those of
 * `readActivity`. Throws `activity_malformed` if the signed body is not a JSON object, and `key_fetch_budget` or
 * `host_busy` if this server is too busy to fetch the key.
 */
export async function receiveActivity(deps: FederationDeps, arriving: ArrivingActivity): Promise<ReceiveResult> {
  const { inbox } = deps.metrics;
  try {
    const reception = await processActivity(deps, arriving);
    inbox[reception] += 1;
    return reception;
  } catch (error) {
    if (isDomainError(error)) inbox[isBusy(error) ? 'busy' : 'refused'] += 1;
    throw error;
  }
}

async function processActivity(deps: FederationDeps, arriving: ArrivingActivity): Promise<ReceiveResult> {
  const signed = readSignedHead(arriving, deps.settings.origin, deps.clock.now());
  const { keyId } = signed.parameters;
  const unlisted = (await isAllowed(deps, keyId)) ? null : await requireOpenFollowers(deps, keyId);
  const body = await arriving.readBody(unlisted === null ? undefined : maxUnlistedBytes);
  requireDigest(signed, body);
  if (unlisted !== null) {
    const typeOf = (document: Json) => handledType(typesOf(document['type']));
    await requireFollowing(deps, { body, typeOf, keyId });
  }
  const signer = await verifiedSigner(unlisted ?? deps, signed, arriving.address);
  if (await deps.blocks.hasActor(signer.actor.id)) throw unauthenticated('signer_blocked', 'The signer is blocked.');
  const activity = readActivity(
    body,
    { actor: signer.actor, isUnlisted: unlisted !== null },
    (types) => types.length === 0 || handlerOf(types)?.needsId === true,
  );
  await deps.recordContact(signer.actor.host);

  const types = typesOf(activity.document['type']);
  const type = handledType(types);
  const found = handlerOf(types);
  const handler = found?.accepts?.(activity) === false ? null : found;
  const prepared = handler === null ? null : await handler.prepare(deps, activity);
  return deps.groupCommit(async (tx) => {
    // Without an id, copies cannot be recognised, and the effect may happen twice.
    const isNew = activity.id === '' || (await recordSeen(tx, activity, type ?? cleanText(types[0], 100)));
    if (!isNew) return 'repeated';
    await handler?.apply(deps, tx, activity, prepared as never);
    if (handler !== null) return 'processed';
    return isReply(deps, activity) ? 'reply' : 'ignored';
  });
}

function isReply({ settings }: FederationDeps, { document }: IncomingActivity): boolean {
  if (!typesOf(document['type']).includes('Create')) return false;
  return idOf(embedded(document['object'])['inReplyTo'])?.startsWith(`${settings.origin}/`) === true;
}

/** The host is checked by name before any network access. */
async function isAllowed({ outbound }: FederationDeps, keyId: string): Promise<boolean> {
  try {
    await outbound.checkUrl(keyId);
    return true;
  } catch (cause) {
    if (!isDomainError(cause)) throw cause;
    if (cause.reason === 'host_not_allowed') return false;
    throw unauthenticated('signer_not_allowed', 'The signer’s host is not allowed on this server.', { cause });
  }
}

/** A cached key that does not match may be outdated: it is refreshed, but not for every invalid request. */
async function verifiedSigner(
  { remoteActors }: Pick<FederationDeps, 'remoteActors'>,
  signed: SignedRequest,
  address: string,
): Promise<Signer> {
  const { keyId } = signed.parameters;
  try {
    const known = await remoteActors.signer(keyId, { address, fits: (key) => isSignedBy(signed, key) });
    if (isSignedBy(signed, known.key)) return known;
    const again = await remoteActors.signerAgain(keyId, { address });
    if (again !== null && isSignedBy(signed, again.key)) return again;
  } catch (cause) {
    // Not the sender's fault: 401 would report a wrong signature.
    if (!isDomainError(cause) || isBusy(cause)) throw cause;
    throw unauthenticated('signer_unknown', `The key of the signer could not be fetched: ${cause.message}`, { cause });
  }
  throw unauthenticated('signature_wrong', 'The signature does not match the request.');
}

/** The primary key decides, not a preceding read: of a hundred concurrent copies one is new. */
async function recordSeen({ manager, now }: Tx, { id, signer }: IncomingActivity, type: string): Promise<boolean> {
  const added = await rows(
    manager,
    `INSERT INTO federation_inbox (signer, activity_id, type, received_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (signer, activity_id) DO NOTHING RETURNING 1`,
    [signer.id, id, type, now],
  );
  return added.length > 0;
}
