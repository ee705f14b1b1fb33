import type { AnnouncedEntry } from '../../issues/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { Recipient } from '../notified-event.ts';
import { assigneesOf, blockersOf, subscriptionsOf, watchesOf, withChannels } from './recipient-facts.ts';
import { chooseRecipients } from './choose-recipients.ts';
import type { RecipientFacts } from './choose-recipients.ts';

type Named = RecipientFacts['named'];

/** Whom an entry of an issue concerns, and by which channels: those who may read it at this moment. */
export async function issueRecipients(deps: NotificationDeps, announced: AnnouncedEntry): Promise<Recipient[]> {
  const { repository, issue, entry } = announced;
  // An imported history notifies no one, and neither does what waits for a member.
  if (entry.via === 'import' || issue.heldAt !== null || entry.heldAt !== null) return [];
  const isForAll = ['opened', 'comment', 'closed', 'reopened'].includes(entry.kind);
  const named = await namedBy(deps, announced);
  if (!isForAll && named.size === 0) return [];
  const [watches, subscriptions, assignees, blockers] = await Promise.all([
    watchesOf(deps, repository),
    subscriptionsOf(deps, issue.id),
    assigneesOf(deps, issue.id),
    blockersOf(deps, entry.authorId),
  ]);
  const recipients = chooseRecipients({
    named,
    isForAll,
    actorId: entry.authorId,
    authorId: issue.authorId,
    assignees,
    subscriptions,
    watches,
    blockers,
  });
  const readers = await deps.issues.readersAmong({ repository, issue }, [...recipients.keys()]);
  return withChannels(deps, new Map(readers.map((id) => [id, recipients.get(id)!])));
}

/** Whom an entry names itself: assigned by it, or mentioned in its text; of an edit those who were not before. */
async function namedBy(deps: NotificationDeps, { issue, entry }: AnnouncedEntry): Promise<Named> {
  const { kind, details } = entry;
  if (kind === 'assigned') {
    const users = Array.isArray(details['users']) ? details['users'] : [];
    return new Map(users.map((id) => [String(id), 'assigned']));
  }
  const mentioned = async (text: string | null) => deps.issues.peopleMentioned(text ?? '');
  if (kind === 'opened' || kind === 'comment')
    return new Map((await mentioned(entry.body)).map((id) => [id, 'mention']));
  if (kind !== 'edited') return new Map();
  const position = Number(details['position']);
  const [text, before] = await Promise.all([
    deps.issues.findEntry(issue.id, position),
    deps.issues.textBefore(issue.id, { position, revision: Number(details['revision']) }),
  ]);
  if (text === null || before === null) return new Map();
  const known = new Set(await mentioned(before));
  return new Map((await mentioned(text.body)).filter((id) => !known.has(id)).map((id) => [id, 'mention']));
}
