import { isLocalAdministrator } from './viewer.ts';
import type { PersonViewer, Viewer } from './viewer.ts';

/** A SQL condition with named parameters, ready for a query builder's `where`. */
export interface SqlCondition {
  sql: string;
  parameters: Record<string, unknown>;
}

/**
 * The read half of the access policy as a condition on rows of `repositories`.
 *
 * Lists and searches use this filter in the query itself, because filtering afterwards leaks through counts, paging and
 * time. It must agree with `repositoryLevel(…) !== 'none'`; a test compares the two over generated data.
 *
 * @param alias the table alias of `repositories` in the query, from code, never from input
 */
export function visibleRepositories(viewer: Viewer, alias: string): SqlCondition {
  if (isLocalAdministrator(viewer)) return { sql: '1 = 1', parameters: {} };
  const present = `${alias}.deleted_at IS NULL`;
  if (viewer.kind === 'deployKey') {
    const sql = `${present} AND ${alias}.id = :deployKeyRepositoryId`;
    return { sql, parameters: { deployKeyRepositoryId: viewer.repositoryId } };
  }
  const open = `${alias}.visibility = 'PUBLIC'`;
  if (viewer.kind === 'anonymous') return { sql: `${present} AND ${open}`, parameters: {} };
  if (viewer.kind === 'task') {
    return {
      sql: `${present} AND (${open} OR ${alias}.id = :taskRepositoryId)`,
      parameters: { taskRepositoryId: viewer.repositoryId },
    };
  }

  const parameters: Record<string, unknown> = { viewerId: viewer.id };
  let tied = `(${alias}.owner_user_id = :viewerId
    OR EXISTS (SELECT 1 FROM organisation_members m
      WHERE m.organisation_id = ${alias}.owner_org_id AND m.user_id = :viewerId)
    OR EXISTS (SELECT 1 FROM collaborators c
      WHERE c.repository_id = ${alias}.id AND c.user_id = :viewerId)
    OR (${alias}.owner_org_id IS NOT NULL AND EXISTS (SELECT 1 FROM team_grants tg
      WHERE tg.repository_id = ${alias}.id AND tg.user_id = :viewerId)))`;
  if (viewer.repositoryIds !== null) {
    const names = viewer.repositoryIds.map((id, index) => {
      parameters[`tokenRepository${index}`] = id;
      return `:tokenRepository${index}`;
    });
    tied = names.length === 0 ? '1 = 0' : `(${alias}.id IN (${names.join(', ')}) AND ${tied})`;
  }
  return { sql: `${present} AND (${open} OR ${tied})`, parameters };
}

/** A selection of rows of `repositories`, aliased `r`: those visible to a viewer for one reason. */
interface RepositoryPart {
  /** The clause after `FROM`. */
  from: string;
  where: string;
}

interface RepositoryParts {
  /** A repository may be in several parts; `visibleRepositories` selects their union. */
  parts: RepositoryPart[];
  /** Named parameters of all parts. */
  parameters: Record<string, unknown>;
}

const plain = 'repositories r';

/** One part per reason except for being public. */
const grantsOf = (which: string) =>
  ({
    own: { from: plain, where: `${which} AND r.owner_user_id = :viewerId` },
    ofOrganisations: {
      from: 'organisation_members m CROSS JOIN repositories r',
      where: `m.user_id = :viewerId AND r.owner_org_id = m.organisation_id AND ${which}`,
    },
    shared: {
      from: 'collaborators c CROSS JOIN repositories r',
      where: `c.user_id = :viewerId AND r.id = c.repository_id AND ${which}`,
    },
    ofTeams: {
      from: 'team_members tm CROSS JOIN team_repositories tr CROSS JOIN repositories r',
      where: `tm.user_id = :viewerId AND tr.team_id = tm.team_id AND r.id = tr.repository_id AND ${which}`,
    },
  }) satisfies Record<string, RepositoryPart>;

/**
 * Repositories that a user can see for another reason than being public: their own, their organisations', shared ones
 * and those of teams; may include public ones. A limited token only sees those in its list.
 */
export function grantedRepositoryParts(viewer: PersonViewer): RepositoryParts {
  const { sql, parameters } = visibleRepositories(viewer, 'r');
  const { own, ofOrganisations, shared, ofTeams } = grantsOf(`r.deleted_at IS NULL AND ${sql}`);
  const isNamed =
    viewer.repositoryIds === null
      ? '1 = 1'
      : viewer.repositoryIds.length === 0
        ? '1 = 0'
        : `r.id IN (${viewer.repositoryIds.map((_, index) => `:tokenRepository${index}`).join(', ')})`;
  return {
    parts: [own, ofOrganisations, ofTeams, shared].map(({ from, where }) => ({
      from,
      where: `${where} AND ${isNamed}`,
    })),
    parameters,
  };
}

/**
 * Repositories to which a user can push, including archived ones: their own, those of organisations with MEMBER or
 * OWNER, those shared with `write` or `admin` with the user or a team. A limited token only sees those in its list.
 */
export function writableRepositoryParts(viewer: PersonViewer): RepositoryParts {
  const { parts, parameters } = grantedRepositoryParts(viewer);
  const [own, ofOrganisations, ofTeams, shared] = parts as [
    RepositoryPart,
    RepositoryPart,
    RepositoryPart,
    RepositoryPart,
  ];
  const only = ({ from, where }: RepositoryPart, condition: string): RepositoryPart => ({
    from,
    where: `${where} AND ${condition}`,
  });
  return {
    parts: [
      own,
      only(ofOrganisations, "m.role IN ('MEMBER', 'OWNER')"),
      only(ofTeams, "tr.role IN ('write', 'admin')"),
      only(shared, "c.role IN ('write', 'admin')"),
    ],
    parameters,
  };
}

/**
 * The same set as `visibleRepositories`, outside the trash, as one part per reason: a list reads the first rows of each
 * part and merges them. A single condition with `OR` would scan rows until a page is full; an index serves each part in
 * list order. SQLite evaluates a `CROSS JOIN` from left to right.
 *
 * @param owner only repositories of this owner; omits parts that cannot match
 */
export function visibleRepositoryParts(viewer: Viewer, owner?: { kind: 'user' | 'organisation' }): RepositoryParts {
  const open: RepositoryPart = { from: plain, where: "r.deleted_at IS NULL AND r.visibility = 'PUBLIC'" };
  const hidden = "r.deleted_at IS NULL AND r.visibility = 'PRIVATE'";
  if (isLocalAdministrator(viewer)) return { parts: [open, { from: plain, where: hidden }], parameters: {} };
  if (viewer.kind === 'anonymous') return { parts: [open], parameters: {} };
  if (viewer.kind === 'deployKey') {
    const { sql, parameters } = visibleRepositories(viewer, 'r');
    return { parts: [{ from: plain, where: sql }], parameters };
  }
  // Looks up a few ids by key instead of filtering them out of all private rows.
  const { sql, parameters } = visibleRepositories(viewer, 'r');
  const named = (ids: string): RepositoryPart => ({
    from: plain,
    where: `r.visibility <> 'PUBLIC' AND r.id IN (${ids}) AND ${sql}`,
  });
  if (viewer.kind === 'task') return { parts: [open, named(':taskRepositoryId')], parameters };
  if (viewer.repositoryIds !== null) {
    const ids = viewer.repositoryIds.map((_, index) => `:tokenRepository${index}`).join(', ');
    return ids === '' ? { parts: [open], parameters: {} } : { parts: [open, named(ids)], parameters };
  }
  const { own, ofOrganisations, shared, ofTeams } = grantsOf(hidden);
  return {
    parts: [
      open,
      ...(owner?.kind === 'organisation' ? [] : [own]),
      ...(owner?.kind === 'user' ? [] : [ofOrganisations, ofTeams]),
      shared,
    ],
    parameters: { viewerId: viewer.id },
  };
}
