import { visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { rowsTable, selectRaw } from '../../db/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { limits } from '../limits.ts';
import type { IssueKind, IssueState } from '../schema/issue-schema.ts';
import type { Reference, TeamReference } from './parse-references.ts';

/** A reference without its position in a text. */
export type BareReference = Reference extends infer Each
  ? Each extends Reference
    ? Omit<Each, 'start' | 'end'>
    : never
  : never;

/** The target of a reference, with the data for a link to it. */
export type ReferenceTarget =
  | { kind: 'issue'; repository: RepositoryAt; number: number; issueKind: IssueKind; title: string; state: IssueState }
  | { kind: 'owner'; ownerKind: Owner['kind']; handle: string }
  | { kind: 'team'; organisation: string; team: string }
  | { kind: 'commit'; repository: RepositoryAt; oid: string };

type FindDeps = Pick<IssueDeps, 'db' | 'repositories' | 'owners' | 'organisations' | 'git'>;

/** A referenced repository, with the objects referenced in it. */
interface Group {
  found: Found;
  numbers: Set<number>;
  oids: Set<string>;
}

/**
 * Targets of the references of one page, in order; null both for missing ones and for those hidden from the viewer. One
 * query for all issues, one for all handles, and one git batch per repository; references beyond the page limits are
 * also null.
 * @param home the repository of the page; null where `#7` has no meaning
 */
export async function loadReferenceTargets(
  deps: FindDeps,
  viewer: Viewer,
  home: RepositoryAt | null,
  references: readonly BareReference[],
): Promise<(ReferenceTarget | null)[]> {
  const groups = await groupByRepository(deps, viewer, home, references);
  const handles = new Set(references.flatMap((each) => (each.kind === 'person' ? [each.handle.toLowerCase()] : [])));
  const [issues, commits, owners, teams] = await Promise.all([
    findIssues(deps, viewer, groups),
    findCommits(deps, groups),
    deps.owners.resolveAll([...handles].slice(0, limits.handlesPerPage)),
    findTeams(deps, viewer, references),
  ]);
  return references.map((reference) => {
    if (reference.kind === 'person') {
      const owner = owners.get(reference.handle.toLowerCase());
      return owner === undefined ? null : { kind: 'owner', ownerKind: owner.kind, handle: owner.handle };
    }
    if (reference.kind === 'team') return teams.get(teamKey(reference)) ?? null;
    const group = groups.get(keyOf(reference.repository ?? home));
    if (group === undefined || group === null) return null;
    const repository = group.found.canonical;
    if (reference.kind === 'commit') {
      const oid = commits.get(`${group.found.repository.id} ${reference.oid}`);
      return oid === undefined ? null : { kind: 'commit', repository, oid };
    }
    const issue = issues.get(`${group.found.repository.id} ${reference.number}`);
    return issue === undefined ? null : { kind: 'issue', repository, number: reference.number, ...issue };
  });
}

const keyOf = (repository: RepositoryAt | null): string =>
  repository === null ? '' : `${repository.owner}/${repository.name}`.toLowerCase();

const teamKey = ({ organisation, team }: Omit<TeamReference, 'kind'>): string =>
  `${organisation}/${team}`.toLowerCase();

/** The teams that the viewer may know of. */
async function findTeams(
  { organisations }: FindDeps,
  viewer: Viewer,
  references: readonly BareReference[],
): Promise<Map<string, ReferenceTarget>> {
  const wanted = new Map(references.flatMap((each) => (each.kind === 'team' ? [[teamKey(each), each]] : [])));
  const found = new Map<string, ReferenceTarget>();
  if (viewer.kind !== 'person') return found;
  for (const [key, { organisation, team }] of [...wanted].slice(0, limits.teamsPerPage)) {
    const known = await organisations.teams.find(viewer, { organisation, name: team }).catch(nullIfNotFound);
    if (known !== null) found.set(key, { kind: 'team', organisation: known.organisation.name, team: known.team.name });
  }
  return found;
}

/** By repository name; null for one hidden from the viewer. */
async function groupByRepository(
  { repositories }: FindDeps,
  viewer: Viewer,
  home: RepositoryAt | null,
  references: readonly BareReference[],
): Promise<Map<string, Group | null>> {
  const groups = new Map<string, Group | null>();
  const [issues, commits] = [{ left: limits.issuesPerPage }, { left: limits.commitsPerPage }];
  for (const reference of references) {
    if (reference.kind === 'person' || reference.kind === 'team') continue;
    const repository = reference.repository ?? home;
    if (repository === null) continue;
    const key = keyOf(repository);
    if (!groups.has(key)) {
      if (groups.size >= limits.repositoriesPerPage) continue;
      const found = await repositories.find(viewer, repository.owner, repository.name).catch(nullIfNotFound);
      groups.set(key, found === null ? null : { found, numbers: new Set(), oids: new Set() });
    }
    const group = groups.get(key);
    if (group === undefined || group === null) continue;
    if (reference.kind === 'issue') addTo(group.numbers, reference.number, issues);
    else addTo(group.oids, reference.oid, commits);
  }
  return groups;
}

function addTo<Value>(values: Set<Value>, value: Value, budget: { left: number }): void {
  if (values.has(value) || budget.left === 0) return;
  budget.left -= 1;
  values.add(value);
}

interface IssueRow {
  repositoryId: string;
  number: number;
  issueKind: IssueKind;
  title: string;
  state: IssueState;
}

/** By repository id and number. */
async function findIssues(
  { db }: FindDeps,
  viewer: Viewer,
  groups: ReadonlyMap<string, Group | null>,
): Promise<Map<string, Pick<IssueRow, 'issueKind' | 'title' | 'state'>>> {
  const queried = [...groups.values()].filter((group) => group !== null && group.numbers.size > 0) as Group[];
  if (queried.length === 0) return new Map();
  const visible = visibleIssues(viewer, 'r', 'i');
  const places = queried.flatMap(({ found, numbers }) => [...numbers].map((number) => [found.repository.id, number]));
  const rows = await selectRaw<IssueRow>(
    db.read,
    `SELECT i.repository_id AS "repositoryId", i.number AS number, i.kind AS "issueKind", i.title AS title, i.state AS state
     FROM ${rowsTable({ repository_id: 'text', number: 'bigint' }, ':places')}
     CROSS JOIN issues i JOIN repositories r ON r.id = i.repository_id
     WHERE i.repository_id = list.repository_id AND i.number = list.number AND (${visible.sql})`,
    { ...visible.parameters, places: JSON.stringify(places) },
  );
  return new Map(
    rows.map(({ repositoryId, number, issueKind, title, state }) => [
      `${repositoryId} ${number}`,
      { issueKind, title, state },
    ]),
  );
}

/** By repository id and the id as written. Empty if git is busy: the text is then shown without links. */
async function findCommits({ git }: FindDeps, groups: ReadonlyMap<string, Group | null>): Promise<Map<string, string>> {
  const commits = new Map<string, string>();
  for (const group of groups.values()) {
    if (group === null || group.oids.size === 0) continue;
    const named = await git.objects
      .namedCommits(group.found.path, [...group.oids])
      .catch(() => new Map<string, string>());
    for (const [id, oid] of named) commits.set(`${group.found.repository.id} ${id}`, oid);
  }
  return commits;
}
