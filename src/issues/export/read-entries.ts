import { toEntry } from '../entry.ts';
import type { Entry } from '../entry.ts';
import { teamIn } from '../entries/list-entries.ts';
import type { IssueDeps } from '../deps.ts';
import { attachmentSchema } from '../schema/classification-schema.ts';
import type { AttachmentRow } from '../schema/classification-schema.ts';
import { entryRevisionSchema, entrySchema } from '../schema/entry-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { hiddenEntrySchema } from '../schema/moderation-schema.ts';
import { importedReactionSchema, reactionSchema } from '../schema/participation-schema.ts';
import { issueIn, numbersOf, peopleIn, portableDetails } from './portable-details.ts';
import type { PeopleNames, PortablePerson } from './portable-details.ts';

/** A log entry as exported. Times are ISO 8601. */
export interface PortableEntry {
  position: number;
  kind: string;
  /** Null for a deleted user. */
  author: PortablePerson | null;
  /** Null without a text, or once it is deleted. */
  body: string | null;
  details: Record<string, unknown>;
  createdAt: string;
  editedAt: string | null;
  isDeleted: boolean;
  hiddenFor: string | null;
  reactions: { kind: string; people: PortablePerson[] }[];
  /** Previous texts; only in the export of a whole repository. */
  revisions?: { body: string; editor: PortablePerson | null; editedAt: string }[];
}

/** Entries per query. */
const entriesPerPage = 200;
const maxReactions = 10_000;
const maxRevisions = 200;

export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** The log of an issue, page by page. Omits held entries, and entries about issues of other repositories. */
export async function* readEntries(
  deps: IssueDeps,
  { id, repositoryId }: Issue,
  people: PeopleNames,
  withRevisions: boolean,
): AsyncGenerator<PortableEntry> {
  for (let from = 0; ; ) {
    const rows = await deps.db.read
      .createQueryBuilder(entrySchema, 'e')
      .where('e.issue_id = :id AND e.position >= :from', { id, from })
      .orderBy('e.position')
      .limit(entriesPerPage)
      .getMany();
    const entries = rows.filter(({ heldAt }) => heldAt === null).map(toEntry);
    if (entries.length > 0) yield* readPage(deps, entries, { repositoryId, people, withRevisions });
    if (rows.length < entriesPerPage) return;
    from = rows.at(-1)!.position + 1;
  }
}

async function* readPage(
  deps: IssueDeps,
  entries: readonly Entry[],
  { repositoryId, people, withRevisions }: { repositoryId: string; people: PeopleNames; withRevisions: boolean },
): AsyncGenerator<PortableEntry> {
  const [{ issueId, position: first }, last] = [entries[0]!, entries.at(-1)!.position];
  const range = { issueId, first, last };
  const where = 'x.issue_id = :issueId AND x.position BETWEEN :first AND :last';
  const [hidden, reactions, imported, numbers] = await Promise.all([
    deps.db.read.createQueryBuilder(hiddenEntrySchema, 'x').where(where, range).getMany(),
    deps.db.read.createQueryBuilder(reactionSchema, 'x').where(where, range).limit(maxReactions).getMany(),
    deps.db.read.createQueryBuilder(importedReactionSchema, 'x').where(where, range).limit(maxReactions).getMany(),
    numbersOf(
      deps,
      repositoryId,
      entries.flatMap(({ details }) => issueIn(details) ?? []),
    ),
  ]);
  const teams = withRevisions ? await teamNames(deps, entries) : null;
  const edited = withRevisions && entries.some(({ revision }) => revision > 1);
  const revisions = edited
    ? await deps.db.read
        .createQueryBuilder(entryRevisionSchema, 'x')
        .where(where, range)
        .orderBy('x.position')
        .addOrderBy('x.revision')
        .limit(maxRevisions * entries.length)
        .getMany()
    : [];
  await people.read([
    ...entries.flatMap(({ authorId, details }) => [authorId, ...peopleIn(details)]),
    ...reactions.map(({ userId }) => userId),
    ...revisions.map(({ editorId }) => editorId),
  ]);
  for (const entry of entries) {
    const details = portableDetails(entry.details, { people, numbers, repositoryId, teams });
    if (details === null) continue;
    const { position, kind, body, createdAt, editedAt, deletedAt } = entry;
    const own = revisions.filter((revision) => revision.position === position).slice(-maxRevisions);
    yield {
      position,
      kind,
      author: authorOf(entry, people),
      body,
      details,
      createdAt: iso(createdAt),
      editedAt: isoOrNull(editedAt),
      isDeleted: deletedAt !== null,
      hiddenFor: hidden.find((row) => row.position === position)?.reason ?? null,
      reactions: [
        ...Map.groupBy(
          [
            ...reactions.flatMap((row) => {
              const who = row.position === position ? people.of(row.userId) : null;
              return who === null ? [] : [{ kind: row.kind, who }];
            }),
            ...imported.flatMap((row) =>
              row.position === position && row.userId === null ? [{ kind: row.kind, who: { name: row.person } }] : [],
            ),
          ],
          (row) => row.kind,
        ),
      ].map(([reaction, rows]) => ({ kind: reaction, people: rows.map(({ who }) => who) })),
      ...(own.length === 0
        ? {}
        : {
            revisions: own.map((revision) => ({
              body: revision.body,
              editor: people.of(revision.editorId),
              editedAt: iso(revision.editedAt),
            })),
          }),
    };
  }
}

/** The teams that entries name, as `organisation/team`. */
async function teamNames(
  { organisations }: IssueDeps,
  entries: readonly Entry[],
): Promise<Map<string, PortablePerson>> {
  const ids = new Set(entries.flatMap(({ details }) => teamIn(details) ?? []));
  const found = await organisations.teams.byId([...ids]);
  return new Map(
    [...found].map(([id, { organisation, team }]) => [id, { name: `${organisation.name}/${team.name}`, id }]),
  );
}

/** An author: a user, or a name if there is no account. */
export const authorOf = (
  { authorId, authorName }: { authorId: string | null; authorName: string | null },
  people: PeopleNames,
): PortablePerson | null =>
  // An imported author with a known account has both.
  authorId === null && authorName !== null ? { name: authorName } : people.of(authorId);

/** The files that texts of an issue show, oldest first. */
export async function attachmentsOf({ db }: Pick<IssueDeps, 'db'>, issueId: string): Promise<AttachmentRow[]> {
  const rows = await db.read.find(attachmentSchema, { where: { issueId }, take: maxAttachments });
  return rows.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** Exceeds the files of any one issue; bounds memory. */
const maxAttachments = 10_000;
