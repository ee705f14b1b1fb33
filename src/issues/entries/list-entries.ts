import { allows, personIdOf, repositoryLevel, visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Database } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue } from '../find-issue.ts';
import type { IssueAt } from '../issue-context.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { hiddenEntrySchema } from '../schema/moderation-schema.ts';
import type { HideReason } from '../schema/moderation-schema.ts';
import { importedReactionSchema, reactionSchema } from '../schema/participation-schema.ts';
import type { ReactionKind } from '../schema/participation-schema.ts';
import { silentKinds, toEntry } from '../entry.ts';
import type { Entry, EntryKind } from '../entry.ts';

/** A timeline entry, with the data shown beside it. */
export interface ListedEntry extends Entry {
  /** Why it is hidden; null if it is not. */
  hiddenFor: HideReason | null;
  reactions: { kind: ReactionKind; count: number; isOwn: boolean }[];
  /** The other issue that an entry names. */
  other: OtherIssue | null;
  /** The team that an entry names; null if it is gone or hidden from the viewer. */
  team: EntryTeam | null;
}

/** A team that an entry names. */
interface EntryTeam {
  organisation: string;
  team: string;
}

/** An issue named by another one, if the viewer can see it. */
export interface OtherIssue {
  id: string;
  repositoryId: string;
  number: number;
  title: string;
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  kind: 'ISSUE' | 'PULL';
}

const maxPerPage = 200;

/**
 * The log of an issue in order, from a position on. Omits held entries, except for their author and users who may
 * approve them, and entries that name an issue hidden from the viewer: positions may have gaps.
 * @param kinds only these; empty for all kinds that a timeline shows
 */
export async function listEntries(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { from = 0, limit = maxPerPage, kinds = [] }: { from?: number; limit?: number; kinds?: readonly EntryKind[] } = {},
): Promise<{ entries: ListedEntry[]; next: number | null }> {
  const { issue, facts } = await findIssue(deps, viewer, at);
  const count = Math.min(Math.max(1, limit), maxPerPage);
  const rows = await deps.db.read
    .createQueryBuilder(entrySchema, 'e')
    .where('e.issue_id = :issueId AND e.position >= :from', { issueId: issue.id, from })
    .andWhere(kinds.length > 0 ? 'e.kind IN (:...kinds)' : 'e.kind NOT IN (:...silentKinds)', { kinds, silentKinds })
    .orderBy('e.position')
    .limit(count + 1)
    .getMany();
  const page = rows.slice(0, count);
  const next = rows.length > count ? rows[count]!.position : null;
  const mayTriage = allows(repositoryLevel(viewer, facts), 'write');
  const personId = personIdOf(viewer);
  const shown = page
    .filter((row) => row.heldAt === null || mayTriage || (personId !== null && row.authorId === personId))
    .map(toEntry);
  if (shown.length === 0) return { entries: [], next };
  const range = { issueId: issue.id, first: shown[0]!.position, last: shown.at(-1)!.position };
  const [hidden, reactions, others, teams] = await Promise.all([
    hiddenIn(deps.db, range),
    reactionsIn(deps.db, range, personId),
    otherIssues(
      deps.db,
      viewer,
      shown.flatMap(({ details }) => otherIdOf(details) ?? []),
    ),
    deps.organisations.teams.knownAmong(
      viewer,
      shown.flatMap(({ details }) => teamIn(details) ?? []),
    ),
  ]);
  const entries = shown.flatMap((entry): ListedEntry[] => {
    const otherId = otherIdOf(entry.details);
    const other = otherId === null ? null : (others.get(otherId) ?? null);
    if (otherId !== null && other === null) return [];
    const { position } = entry;
    const known = teams.get(teamIn(entry.details) ?? '');
    return [
      {
        ...entry,
        hiddenFor: hidden.get(position) ?? null,
        reactions: reactions.get(position) ?? [],
        other,
        team: known === undefined ? null : { organisation: known.organisation.name, team: known.team.name },
      },
    ];
  });
  return { entries, next };
}

/** An entry by its position, without an access check; null if there is none. */
export async function findEntry(
  { db }: Pick<IssueDeps, 'db'>,
  issueId: string,
  position: number,
): Promise<Entry | null> {
  const row = await db.read.findOneBy(entrySchema, { issueId, position });
  return row === null ? null : toEntry(row);
}

/** Team id in the details of an entry. */
export const teamIn = ({ teamId }: Record<string, unknown>): string | null =>
  typeof teamId === 'string' ? teamId : null;

const otherIdOf = (details: Record<string, unknown>): string | null =>
  typeof details['issueId'] === 'string' ? details['issueId'] : null;

interface Range {
  issueId: string;
  first: number;
  last: number;
}

async function hiddenIn(db: Database, range: Range): Promise<Map<number, HideReason>> {
  const rows = await db.read
    .createQueryBuilder(hiddenEntrySchema, 'h')
    .where('h.issue_id = :issueId AND h.position BETWEEN :first AND :last', range)
    .getMany();
  return new Map(rows.map(({ position, reason }) => [position, reason]));
}

async function reactionsIn(
  db: Database,
  range: Range,
  personId: string | null,
): Promise<Map<number, ListedEntry['reactions']>> {
  const rows = await db.read
    .createQueryBuilder(reactionSchema, 'r')
    .select('r.position', 'position')
    .addSelect('r.kind', 'kind')
    .addSelect('count(*)', 'count')
    .addSelect('max(CASE WHEN r.user_id = :personId THEN 1 ELSE 0 END)', 'own')
    .where('r.issue_id = :issueId AND r.position BETWEEN :first AND :last', range)
    .setParameter('personId', personId ?? '')
    .groupBy('r.position')
    .addGroupBy('r.kind')
    .getRawMany<{ position: number; kind: ReactionKind; count: number; own: number }>();
  const imported = await db.read
    .createQueryBuilder(importedReactionSchema, 'r')
    .select('r.position', 'position')
    .addSelect('r.kind', 'kind')
    .addSelect('count(*)', 'count')
    .where('r.issue_id = :issueId AND r.position BETWEEN :first AND :last', range)
    .andWhere('r.user_id IS NULL')
    .groupBy('r.position')
    .addGroupBy('r.kind')
    .getRawMany<{ position: number; kind: ReactionKind; count: number }>();
  for (const { position, kind, count } of imported) {
    const own = rows.find((row) => Number(row.position) === Number(position) && row.kind === kind);
    if (own === undefined) rows.push({ position, kind, count, own: 0 });
    else own.count = Number(own.count) + Number(count);
  }
  const byPosition = Map.groupBy(rows, ({ position }) => Number(position));
  return new Map(
    [...byPosition].map(([position, found]) => [
      position,
      found.map(({ kind, count, own }) => ({ kind, count: Number(count), isOwn: Number(own) === 1 })),
    ]),
  );
}

/** Those of some issues that the viewer can see. */
export async function otherIssues(
  db: Database,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, OtherIssue>> {
  const unique = [...new Set(ids)];
  if (unique.length === 0) return new Map();
  const { sql, parameters } = visibleIssues(viewer, 'r', 'i');
  const rows = await db.read
    .createQueryBuilder()
    .select('i.id', 'id')
    .addSelect('i.repository_id', 'repositoryId')
    .addSelect('i.number', 'number')
    .addSelect('i.title', 'title')
    .addSelect('i.state', 'state')
    .addSelect('i.kind', 'kind')
    .from('issues', 'i')
    .innerJoin('repositories', 'r', 'r.id = i.repository_id')
    .where('i.id IN (:...ids)', { ids: unique })
    .andWhere(sql, parameters)
    .getRawMany<OtherIssue>();
  return new Map(rows.map((row) => [row.id, { ...row, number: Number(row.number) }]));
}
