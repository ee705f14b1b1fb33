import type { PartIds } from './pull-importer.ts';
import type { EntryDetails } from '../entry.ts';
import type { EntryRevisionRow, EntryRow } from '../schema/entry-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import type { HiddenEntryRow, HideReason } from '../schema/moderation-schema.ts';
import type { ImportedReactionRow, ReactionKind, ReactionRow } from '../schema/participation-schema.ts';
import type { ImportedPeople } from './imported-people.ts';
import type { ImportedPerson, ImportedEntry, ImportedIssue } from './export-file-schemas.ts';

/** Inputs for the rows of an issue. */
export interface RowContext {
  id: string;
  repositoryId: string;
  /** Time of the import: entries count as announced, so no listener is notified. */
  now: number;
  people: ImportedPeople;
  /** Ids of all imported issues by number. */
  ids: ReadonlyMap<number, string>;
  /** Local ids of a pull request's reviews and threads, by their ids in the export. */
  partIds: PartIds;
  /** Rewrites URLs in texts to this instance. */
  text(given: string): string;
}

/** Keys by which a repeated import finds the rows of an earlier one. */
export const issueOrigin = (repository: string, number: number): string => `export:${repository}#${number}`;
/** Whether an import brings the issue from another forge; an export bundle is read once. */
export const isFollowed = ({ origin }: Pick<Issue, 'origin'>): boolean =>
  origin !== null && !origin.startsWith('export:');
export const originOf = ({ repository, number, origin }: Pick<ImportedIssue, 'repository' | 'number' | 'origin'>) =>
  origin ?? issueOrigin(repository, number);
export const entryOrigin = ({ position, origin }: Pick<ImportedEntry, 'position' | 'origin'>): string =>
  origin ?? `export:${position}`;

/** An entry with its dependent rows. */
export interface EntryRows {
  entry: EntryRow;
  revisions: EntryRevisionRow[];
  reactions: ReactionRow[];
  /** Reactions of people without an account here. */
  importedReactions: ImportedReactionRow[];
  hidden: HiddenEntryRow | null;
}

const states = { open: 'OPEN', closed: 'CLOSED', merged: 'MERGED' } as const;
const texts: ReadonlySet<string> = new Set(['opened', 'comment', 'review']);

/** Issue columns set from the file. */
export function issueColumns(
  issue: ImportedIssue,
  { people, now }: RowContext,
  milestoneId: string | null,
): Omit<Issue, 'id' | 'repositoryId' | 'number' | 'lastPosition' | 'commentCount' | 'pinnedAt' | 'origin'> {
  const [isClosed, isPull] = [issue.state !== 'open', issue.kind === 'pull'];
  return {
    kind: isPull ? 'PULL' : 'ISSUE',
    title: issue.title,
    ...people.authorOf(issue.author),
    state: states[issue.state],
    closeReason: isClosed ? (issue.closeReason ?? (isPull ? null : 'completed')) : null,
    milestoneId,
    dueOn: issue.dueOn ?? null,
    ref: issue.ref ?? '',
    lockedAt: issue.isLocked ? now : null,
    heldAt: null,
    createdAt: issue.createdAt,
    updatedAt: issue.updatedAt,
    closedAt: isClosed ? (issue.closedAt ?? issue.updatedAt) : null,
    deletedAt: null,
    deletedBy: null,
  };
}

/** The rows of an entry; null for an entry about an issue that is not in the import. */
export function entryRows(given: ImportedEntry, position: number, context: RowContext): EntryRows | null {
  const details = detailsOf(given, context);
  if (details === null) return null;
  const { id: issueId, people, now, text } = context;
  const hasText = texts.has(given.kind) && !given.isDeleted;
  const revisions = hasText ? given.revisions : [];
  return {
    entry: {
      issueId,
      position,
      kind: given.kind,
      ...people.authorOf(given.author),
      body: hasText ? text(given.body ?? '') : null,
      details: JSON.stringify(details),
      via: 'import',
      origin: entryOrigin(given),
      revision: revisions.length + 1 + Number(given.isDeleted),
      createdAt: given.createdAt,
      editedAt: given.editedAt,
      deletedAt: given.isDeleted && given.kind === 'comment' ? now : null,
      heldAt: null,
      announcedAt: now,
      attempts: 0,
      triedAt: null,
      lastError: null,
      parkedAt: null,
    },
    revisions: revisions.map(({ body, editor, editedAt }, at) => ({
      issueId,
      position,
      revision: at + 1,
      body: text(body),
      editorId: people.idOf(editor),
      editedAt,
    })),
    reactions: given.reactions.flatMap(({ kind, people: who }) =>
      people.idsOf(who).map((userId) => ({ issueId, position, kind: kind as ReactionKind, userId })),
    ),
    // `login@host` is a remote person; any other name may be a deleted account.
    importedReactions: given.reactions.flatMap(({ kind, people: who }) => {
      const remote = who.filter((one) => one.name.includes('@') && (people.keepsNames || people.idOf(one) === null));
      return [...new Map(remote.map((one) => [one.name, people.idOf(one)]))].map(([person, userId]) => ({
        issueId,
        position,
        person,
        kind: kind as ReactionKind,
        userId,
        isOwn: false,
      }));
    }),
    hidden:
      given.hiddenFor === null || given.kind !== 'comment'
        ? null
        : { issueId, position, reason: given.hiddenFor as HideReason, hiddenBy: null, hiddenAt: now },
  };
}

function detailsOf(
  { kind, details }: ImportedEntry,
  { people, ids, partIds, repositoryId }: RowContext,
): EntryDetails | null {
  const { people: who, person, team, number, commit, reviewId, threads, ...rest } = details;
  const issueId = number === undefined ? undefined : ids.get(number);
  const needsIssue = kind === 'linked' || kind === 'unlinked' || (kind === 'mentioned' && commit === undefined);
  if ((number !== undefined || needsIssue) && issueId === undefined) return null;
  const userId = person === undefined ? null : people.idOf(person);
  const review = reviewId === undefined ? undefined : partIds.reviews.get(reviewId);
  const names = (who ?? []).flatMap((person) => (people.idOf(person) === null ? [person.name] : []));
  return {
    ...rest,
    ...(commit === undefined ? {} : { commit, repositoryId }),
    ...(issueId === undefined ? {} : { issueId }),
    ...(who === undefined ? {} : { users: people.idsOf(who) }),
    ...(userId === null ? {} : { userId }),
    ...(userId === null && person != null ? { userName: person.name } : {}),
    // Only users who may know of the team see its name; a team unknown here stays a team.
    ...(team === undefined ? {} : teamDetails(team, people)),
    ...(review === undefined ? {} : { reviewId: review }),
    ...(threads === undefined ? {} : { threads: threads.flatMap((id) => partIds.threads.get(id) ?? []) }),
    // People without an account here are stored as names.
    ...(names.length === 0 ? {} : { names }),
  };
}

const teamDetails = (team: ImportedPerson | null, people: ImportedPeople): EntryDetails =>
  team !== null && people.isOwn && team.id !== undefined ? { teamId: team.id } : { teamName: team?.name ?? null };
