import { publish, readsEvents } from '../deliveries/publish.ts';
import type { FederationDeps } from '../deps.ts';
import type { Tx } from '../../db/index.ts';
import { eventContext } from '../documents/contexts.ts';
import { cleanText, embedded, idOf, typesOf, webUrl } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import type { ReceivedEvent } from '../schema/received-event-schema.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import type { ActivityHandler } from './incoming-activity.ts';
import { nothingToPrepare } from './incoming-activity.ts';
import { noteContent } from './note.ts';
import type { NewNote } from './note.ts';

/** An event in a repository, in the fields that other Hearths list in the activity feed of followers. */
export type RepositoryEvent = { title: string; author: string | null } & (
  | { kind: 'release'; tag: string }
  | { kind: 'opened' | 'merged'; isPull: boolean; number: number }
);

/** Limit of events of a repository per hour; further ones are dropped. */
const maxPerHour = 60;
const hourMs = 3_600_000;

/**
 * Publishes an event to the followers on other Hearths, inside the write of the event: a note with the event as fields.
 * Like a Push, it does not depend on the owner's choice of notes for people. Writes nothing if there are no such
 * followers.
 */
export async function publishEvent(deps: FederationDeps, tx: Tx, note: NewNote, event: RepositoryEvent): Promise<void> {
  const { actorPath, repositoryId } = note;
  const [recent]: { readers: number; sent: number }[] = await tx.manager.query(
    `SELECT count(*) AS readers, (SELECT count(*) FROM federation_outbox
        WHERE actor_path = ? AND is_public = 0 AND created_at > ? AND type = 'Create' AND reads = 'event') AS sent
       FROM (SELECT 1 FROM repository_followers f JOIN federation_peers p ON p.host = f.host
              WHERE f.repository_id = ? AND ${readsEvents('p')} LIMIT 1) found`,
    [actorPath, tx.now - hourMs, repositoryId],
  );
  if (Number(recent?.readers ?? 0) === 0 || Number(recent?.sent ?? 0) >= maxPerHour) return;
  const content = noteContent(deps.localActors.idOf(actorPath), note, eventContext, eventFields(event));
  await publish(
    deps,
    tx,
    { type: 'Create', actorPath, repositoryId, content, reads: 'event' },
    { followersOf: repositoryId, reads: 'event' },
  );
}

function eventFields(event: RepositoryEvent): Json {
  const { kind, title, author } = event;
  const about =
    kind === 'release'
      ? { type: 'Release', name: title, tagName: event.tag }
      : { type: event.isPull ? 'PullRequest' : 'Issue', name: title, number: event.number };
  return {
    event: kind === 'release' ? 'released' : kind,
    about,
    ...(author === null ? {} : { author: { type: 'Person', name: author } }),
  };
}

/** Limit of stored events per repository and day; further ones are dropped. */
const maxPerDay = 2_000;
const dayMs = 86_400_000;
const maxTitle = 255;

/**
 * A note with an event in a followed repository: stored for the feeds of its followers, dropped if it has no followers
 * here. Other notes are not handled (SPEC §6).
 */
export const receiveEvent: ActivityHandler<null> = {
  needsId: false,
  accepts: ({ id, document, signer }) => id !== '' && eventIn(document, signer) !== null,
  prepare: nothingToPrepare,
  async apply(deps, tx, { document, signer }) {
    const event = eventIn(document, signer);
    if (event === null) return;
    const published = Date.parse(cleanText(embedded(document['object'])['published'], 64));
    await tx.manager.query(
      `INSERT INTO received_events (id, actor_id, note_id, kind, is_pull, number, tag, title, author, url, happened_at, received_at)
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
        WHERE EXISTS (SELECT 1 FROM remote_follows WHERE remote_actor_id = ? AND kind = 'repository')
          AND (SELECT count(*) FROM received_events WHERE actor_id = ? AND received_at > ?) < ${maxPerDay}
       ON CONFLICT (actor_id, note_id) DO NOTHING`,
      [
        deps.random.uuid(),
        signer.id,
        event.noteId,
        event.kind,
        event.isPull ? 1 : 0,
        event.number,
        event.tag,
        event.title,
        event.author,
        event.url,
        // Clamped: a date in the future must not sort an event before all others.
        Number.isFinite(published) ? Math.min(Math.max(published, 0), tx.now) : tx.now,
        tx.now,
        signer.id,
        signer.id,
        tx.now - dayMs,
      ],
    );
  },
};

type EventFields = Omit<ReceivedEvent, 'id' | 'actorId' | 'happenedAt' | 'receivedAt'>;

const eventKinds = new Map<unknown, ReceivedEvent['kind']>([
  ['released', 'release'],
  ['opened', 'opened'],
  ['merged', 'merged'],
]);

/** The event in a Create of a note by its author; null if it has none, or an incomplete one. */
function eventIn(document: Json, signer: RemoteActor): EventFields | null {
  const note = embedded(document['object']);
  const kind = eventKinds.get(note['event']);
  const noteId = idOf(note);
  if (kind === undefined || noteId === null || !typesOf(note['type']).includes('Note')) return null;
  // A server speaks for its own notes only.
  if (webUrl(noteId)?.host !== signer.host || idOf(note['attributedTo']) !== signer.id) return null;
  const about = embedded(note['about']);
  const types = typesOf(about['type']);
  const tag = cleanText(about['tagName'], 255).replaceAll('\n', ' ');
  const { number } = about;
  const isPull = types.includes('PullRequest');
  const isNumbered = (isPull || (kind === 'opened' && types.includes('Issue'))) && isNumber(number);
  if (kind === 'release' ? tag === '' || !types.includes('Release') : !isNumbered) return null;
  const page = webUrl(note['url']);
  return {
    noteId,
    kind,
    isPull: kind !== 'release' && isPull,
    number: kind === 'release' ? null : (number as number),
    tag: kind === 'release' ? tag : null,
    title: cleanText(about['name'], maxTitle).replaceAll('\n', ' '),
    author: cleanText(embedded(note['author'])['name'], 100).replaceAll('\n', ' ') || null,
    url: page?.host === signer.host ? page.href : null,
  };
}

const isNumber = (value: unknown): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= 1_000_000_000_000;
