import { unauthenticated } from '../../kernel/index.ts';
import { idOf, typesOf, webUrl } from '../documents/json-fields.ts';
import { parseActivity } from '../documents/parse-activity.ts';
import type { IncomingActivity } from '../activities/incoming-activity.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';

/**
 * Parses a verified body. The signer may speak only for itself: as the actor, and with an id on its own host
 * (CVE-2024-23832, CVE-2025-54888). Other software sends some activities without an id. Throws `activity_malformed`,
 * `actor_not_signer`, `activity_id`.
 * @param needsId whether an activity of these types is refused without an id
 */
export function readActivity(
  body: Buffer,
  { actor: signer, isUnlisted }: { actor: RemoteActor; isUnlisted: boolean },
  needsId: (types: readonly string[]) => boolean,
): IncomingActivity {
  const document = parseActivity(body);
  if (idOf(document['actor']) !== signer.id) {
    throw unauthenticated('actor_not_signer', 'The actor of the activity is not the actor that signed it.');
  }
  const id = document['id'];
  if (id == null && !needsId(typesOf(document['type']))) return { id: '', document, signer, isUnlisted };
  if (typeof id !== 'string' || webUrl(id)?.host !== signer.host) {
    throw unauthenticated('activity_id', 'The id of the activity is not a URL on the host of its actor.');
  }
  return { id, document, signer, isUnlisted };
}
