import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import { foldName } from '../parse-texts.ts';
import { labelSchema, milestoneSchema } from '../schema/classification-schema.ts';
import { branchConditions } from './branch-conditions.ts';
import type { IssueCondition } from './issue-condition.ts';
import type { IssueFilter } from './parse-issue-query.ts';

/**
 * Conditions of a filter, without its words. Null if nothing can match, because a user does not exist.
 * @param repository null for a list over repositories, where labels and milestones are those of any
 */
export async function buildConditions(
  deps: IssueDeps,
  viewer: Viewer,
  repository: Repository | null,
  filter: IssueFilter,
): Promise<IssueCondition[] | null> {
  const parts = [
    await labelConditions(deps, repository, filter),
    await peopleConditions(deps, viewer, filter),
    await milestoneCondition(deps, repository, filter),
    stateConditions(repository !== null, filter),
    reviewConditions(filter),
    await teamReviewCondition(deps, viewer, filter),
    await branchConditions(deps, viewer, repository !== null, filter),
  ];
  return parts.some((part) => part === null) ? null : parts.flatMap((part) => part!);
}

async function labelConditions(
  { db }: IssueDeps,
  repository: Repository | null,
  { labels, notLabels, noLabel }: IssueFilter,
): Promise<IssueCondition[] | null> {
  const found: IssueCondition[] = [];
  const labelled =
    (which: string) =>
    (id: string): string =>
      `EXISTS (SELECT 1 FROM issue_labels x WHERE x.issue_id = ${id} AND x.label_id IN (${which}))`;
  const names = [
    ...labels.map((name) => ({ name, isNot: false })),
    ...notLabels.map((name) => ({ name, isNot: true })),
  ];
  for (const [at, { name, isNot }] of names.entries()) {
    const nameFolded = foldName(name);
    let which = `SELECT l.id FROM labels l WHERE l.name_folded = :label${at}`;
    let parameters: Record<string, unknown> = { [`label${at}`]: nameFolded };
    if (repository !== null) {
      const { id: repositoryId, ownerOrganisationId: organisationId } = repository;
      const rows = await db.read.findBy(labelSchema, { repositoryId, nameFolded });
      if (organisationId !== null) rows.push(...(await db.read.findBy(labelSchema, { organisationId, nameFolded })));
      if (rows.length === 0 && !isNot) return null;
      if (rows.length === 0) continue;
      // Two at most: a repository label and an organisation label.
      which = rows.map((_, index) => `:label${at}x${index}`).join(', ');
      parameters = Object.fromEntries(rows.map(({ id }, index) => [`label${at}x${index}`, id]));
    }
    const onId = labelled(which);
    if (isNot) found.push({ sql: `NOT ${onId('i.id')}`, parameters });
    else
      found.push({
        sql: onId('i.id'),
        onId,
        parameters,
        ids: `SELECT x.issue_id AS id FROM issue_labels x WHERE x.label_id IN (${which})`,
      });
  }
  if (noLabel) found.push({ sql: 'NOT EXISTS (SELECT 1 FROM issue_labels x WHERE x.issue_id = i.id)', parameters: {} });
  return found;
}

async function peopleConditions(
  { owners }: IssueDeps,
  viewer: Viewer,
  filter: IssueFilter,
): Promise<IssueCondition[] | null> {
  const found: IssueCondition[] = [];
  const named = (table: string, name: string) => {
    const onId = (id: string): string =>
      `EXISTS (SELECT 1 FROM ${table} x WHERE x.issue_id = ${id} AND x.user_id = :${name})`;
    return { sql: onId('i.id'), onId, ids: `SELECT x.issue_id AS id FROM ${table} x WHERE x.user_id = :${name}` };
  };
  const people = [
    [
      'author',
      filter.author,
      { sql: "(i.author_id || '') = :author", ids: 'SELECT x.id AS id FROM issues x WHERE x.author_id = :author' },
    ],
    ['assignee', filter.assignee === 'none' ? null : filter.assignee, named('issue_assignees', 'assignee')],
    ['mentions', filter.mentions, named('issue_mentions', 'mentions')],
    ['reviewRequested', filter.reviewRequested, reviewRequested],
  ] as const;
  for (const [name, username, condition] of people) {
    if (username === null) continue;
    const own = personIdOf(viewer);
    const id = username === '@me' ? own : ((await owners.resolve(username))?.id ?? null);
    if (id === null) return null;
    const isOwnReview = name === 'reviewRequested' && id === own;
    found.push({ ...(isOwnReview ? ownReviewRequested : condition), parameters: { [name]: id } });
  }
  if (filter.assignee === 'none')
    found.push({ sql: 'NOT EXISTS (SELECT 1 FROM issue_assignees x WHERE x.issue_id = i.id)', parameters: {} });
  return found;
}

async function milestoneCondition(
  { db }: IssueDeps,
  repository: Repository | null,
  { milestone }: IssueFilter,
): Promise<IssueCondition[] | null> {
  if (milestone === null) return [];
  if (milestone === 'none') return [{ sql: 'i.milestone_id IS NULL', parameters: {} }];
  const titleFolded = foldName(milestone);
  const which = repository === null ? { titleFolded } : { repositoryId: repository.id, titleFolded };
  // Every repository may have one with this title; a list does not need more than these.
  const rows = await db.read.find(milestoneSchema, { select: { id: true }, where: which, take: 500 });
  if (rows.length === 0) return null;
  const parameters = Object.fromEntries(rows.map(({ id }, at) => [`milestone${at}`, id]));
  const names = rows.map((_, at) => `:milestone${at}`).join(', ');
  return [
    {
      // Avoids the index of milestones, which does not have the order of the list.
      sql: `(i.milestone_id || '') IN (${names})`,
      parameters,
      ids: `SELECT x.id AS id FROM issues x WHERE x.milestone_id IN (${names})`,
    },
  ];
}

/** Few issues are locked or pinned, and an index contains only those. */
const marked = (column: string): string =>
  `SELECT x.id AS id FROM issues x WHERE x.repository_id = :repositoryId AND x.${column} IS NOT NULL AND x.deleted_at IS NULL`;

function stateConditions(isInRepository: boolean, { isLocked, isPinned }: IssueFilter): IssueCondition[] {
  const marks = [
    ['locked_at', isLocked],
    ['pinned_at', isPinned],
  ] as const;
  return marks.flatMap(([column, isOn]) =>
    isOn === null
      ? []
      : [
          {
            sql: `i.${column} IS ${isOn ? 'NOT ' : ''}NULL`,
            parameters: {},
            ...(isOn && isInRepository && { ids: marked(column) }),
          },
        ],
  );
}

/** The last verdict of a reviewer, if it is this one and was not dismissed. */
const lastVerdict = (verdict: string): string =>
  `EXISTS (SELECT 1 FROM reviews v WHERE v.issue_id = i.id AND v.verdict = '${verdict}' AND v.dismissed_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM reviews w WHERE w.issue_id = v.issue_id AND w.author_id = v.author_id
      AND w.submitted_at > v.submitted_at AND w.verdict <> 'COMMENT' AND w.dismissed_at IS NULL))`;

/** Conditions of pull requests only. */
function reviewConditions({ isDraft, review }: IssueFilter): IssueCondition[] {
  const [approved, refused] = [lastVerdict('APPROVE'), lastVerdict('REQUEST_CHANGES')];
  const sql = {
    none: `NOT ${approved} AND NOT ${refused}`,
    approved: `${approved} AND NOT ${refused}`,
    changes_requested: refused,
  };
  const draft = (is: boolean): string =>
    `EXISTS (SELECT 1 FROM pulls p WHERE p.issue_id = i.id AND p.is_draft = ${is ? 1 : 0})`;
  return [
    ...(isDraft === null ? [] : [{ sql: draft(isDraft), parameters: {} }]),
    ...(review === null ? [] : [{ sql: sql[review], parameters: {} }]),
  ];
}

/** Limit of an owner's repositories listed by id in a statement. */
const maxNamedRepositories = 200;

/** For lists over repositories: those of an owner, or one, by `owner:` and `repo:`. Null if there is none. */
export async function scopeConditions(
  deps: Pick<IssueDeps, 'owners' | 'db'>,
  { owner, repository }: Pick<IssueFilter, 'owner' | 'repository'>,
): Promise<IssueCondition[] | null> {
  const [ownerOfRepository = '', name = ''] = (repository ?? '').split('/', 2);
  const parts = [
    owner === null ? [] : await placeCondition(deps, 'owner', owner, null),
    repository === null ? [] : await placeCondition(deps, 'place', ownerOfRepository, name),
  ];
  return parts.some((part) => part === null) ? null : parts.flatMap((part) => part!);
}

async function placeCondition(
  { owners, db }: Pick<IssueDeps, 'owners' | 'db'>,
  prefix: string,
  handle: string,
  name: string | null,
): Promise<IssueCondition[] | null> {
  const owner = await owners.resolve(handle);
  if (owner === null) return null;
  const column = owner.kind === 'user' ? 'owner_user_id' : 'owner_org_id';
  const isNamed = name === null ? '' : 'AND p.name_folded = ?';
  const rows: { id: string }[] = await db.read.query(
    `SELECT p.id AS id FROM repositories p WHERE p.${column} = ? ${isNamed} AND p.deleted_at IS NULL LIMIT ${maxNamedRepositories + 1}`,
    name === null ? [owner.id] : [owner.id, name.toLowerCase()],
  );
  if (rows.length === 0) return null;
  if (rows.length > maxNamedRepositories)
    return [{ sql: `r.${column} = :${prefix}`, parameters: { [prefix]: owner.id } }];
  const parameters = Object.fromEntries(rows.map(({ id }, at) => [`${prefix}${at}`, id]));
  const names = rows.map((_, at) => `:${prefix}${at}`).join(', ');
  return [
    {
      sql: `(i.repository_id || '') IN (${names})`,
      parameters,
      ids: `SELECT x.id AS id FROM issues x WHERE x.repository_id IN (${names})`,
    },
  ];
}

/** Null for a team that does not exist or is hidden from the viewer. */
async function teamReviewCondition(
  { organisations }: IssueDeps,
  viewer: Viewer,
  { teamReviewRequested }: IssueFilter,
): Promise<IssueCondition[] | null> {
  if (teamReviewRequested === null) return [];
  const [organisation = '', name = '', ...more] = teamReviewRequested.split('/');
  const found =
    more.length > 0 ? null : await organisations.teams.find(viewer, { organisation, name }).catch(nullIfNotFound);
  if (found === null) return null;
  const onId = (id: string): string =>
    `EXISTS (SELECT 1 FROM team_review_requests x WHERE x.issue_id = ${id} AND x.team_id = :reviewTeam AND x.answered_at IS NULL)`;
  return [
    {
      sql: onId('i.id'),
      onId,
      parameters: { reviewTeam: found.team.id },
      ids: 'SELECT x.issue_id AS id FROM team_review_requests x WHERE x.team_id = :reviewTeam AND x.answered_at IS NULL',
    },
  ];
}

const reviewRequested = {
  sql: 'EXISTS (SELECT 1 FROM review_requests x WHERE x.issue_id = i.id AND x.user_id = :reviewRequested AND x.answered_at IS NULL)',
  ids: 'SELECT x.issue_id AS id FROM review_requests x WHERE x.user_id = :reviewRequested AND x.answered_at IS NULL',
};

/** Includes review requests to teams only for the viewer; for others it would reveal team membership. */
const ownReviewRequested = {
  sql: `(${reviewRequested.sql} OR EXISTS (SELECT 1 FROM team_reviewers x WHERE x.issue_id = i.id AND x.user_id = :reviewRequested))`,
  ids: `${reviewRequested.ids} UNION ALL SELECT x.issue_id AS id FROM team_reviewers x WHERE x.user_id = :reviewRequested`,
};
