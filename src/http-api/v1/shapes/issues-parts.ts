import { invalid, notFound } from '../../../kernel/index.ts';
import type { Person } from '../../../accounts/index.ts';
import type { PersonViewer, Viewer } from '../../../access/index.ts';
import type { DescribedIssue, Issue, IssueAt, RepositoryAt } from '../../../issues/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { tokenNeeded } from '../../authenticate-token.ts';
import { issuePayload, numericId, userPayload } from '../../../gitea-shapes/index.ts';
import type { IssuePayload } from '../../../gitea-shapes/index.ts';

/** Code that the operations of issues share. */
export const issuesAt = '/repos/{owner}/{name}/issues';
export const oneIssueAt = `${issuesAt}/{number}` as const;

interface PayloadContext {
  origin: string;
  owner: string;
  repository: { id: string; name: string };
}

/** Origins and path for URLs of a repository's issues. */
export const payloadContextOf = ({ found, origin }: { found: Found; origin: string }): PayloadContext => ({
  origin,
  owner: found.canonical.owner,
  repository: found.repository,
});

/** The current path of a repository: reading by a former name works. */
export const repositoryAt = ({ canonical }: Found): RepositoryAt => ({ owner: canonical.owner, name: canonical.name });

/** Throws `issue_not_found` for an invalid number. */
export function issueAt(found: Found, number: string): IssueAt {
  if (!/^\d{1,15}$/.test(number)) throw notFound('issue_not_found', 'Issue not found');
  return { ...repositoryAt(found), number: Number(number) };
}

/** A number in a path; for any other text -1, which matches nothing. */
export const numberIn = (text: string): number => (/^\d{1,16}$/.test(text) ? Number(text) : -1);

export async function showIssues(
  deps: Pick<WebDeps, 'issues' | 'pulls'>,
  issues: readonly Issue[],
  place: PayloadContext | ((at: number) => PayloadContext),
): Promise<IssuePayload[]> {
  const described = await deps.issues.describe(issues);
  const ofPulls = described.filter(({ kind }) => kind === 'PULL').map(({ id }) => id);
  const pulls = await deps.pulls.ofIssues(ofPulls);
  return described.map((issue, at) =>
    issuePayload(issue, typeof place === 'function' ? place(at) : place, pulls.get(issue.id)?.pull),
  );
}

/** One issue. Refuses what `issues.find` does. */
export async function showIssue(
  deps: Pick<WebDeps, 'issues' | 'pulls'>,
  viewer: Viewer,
  at: IssueAt,
  place: PayloadContext,
): Promise<IssuePayload> {
  return (await showIssues(deps, [await deps.issues.find(viewer, at)], place))[0]!;
}

/** The caller of an operation with a `scope`, which requires a token. */
export function signedIn(viewer: Viewer): PersonViewer {
  if (viewer.kind !== 'person') throw tokenNeeded();
  return viewer;
}

/** One issue with its details. Refuses what `issues.find` does. */
export async function describeOne(deps: Pick<WebDeps, 'issues'>, viewer: Viewer, at: IssueAt): Promise<DescribedIssue> {
  return (await deps.issues.describe([await deps.issues.find(viewer, at)]))[0]!;
}

/** Users by id, in the shape of responses. */
export async function usersById(
  deps: Pick<WebDeps, 'accounts'>,
  ids: Iterable<string | null>,
  origin: string,
): Promise<(id: string | null) => ReturnType<typeof userPayload>> {
  const people: Map<string, Person> = await deps.accounts.peopleById([...ids].filter((id) => id !== null));
  return (id) => userPayload(id === null ? null : (people.get(id) ?? null), { baseUrl: origin });
}

/** Names of labels that are given by id or name. Throws `unknown_label` for an unknown id. */
export async function labelNames(
  { issues }: Pick<WebDeps, 'issues'>,
  viewer: Viewer,
  at: RepositoryAt,
  refs: readonly (number | string)[],
): Promise<string[]> {
  if (refs.every((ref) => typeof ref === 'string')) return [...refs];
  const labels = await issues.listLabels(viewer, at);
  return refs.map((ref) => {
    if (typeof ref === 'string') return ref;
    const found = labels.find(({ id }) => numericId(id) === ref);
    if (found === undefined) throw invalid('unknown_label', `There is no label named ${ref}.`, { field: 'labels' });
    return found.name;
  });
}

/** The title of a milestone by its id; null for 0. Throws `unknown_milestone`. */
export async function milestoneTitle(
  { issues }: Pick<WebDeps, 'issues'>,
  viewer: Viewer,
  at: RepositoryAt,
  id: number,
): Promise<string | null> {
  if (id === 0) return null;
  const found = (await issues.listMilestones(viewer, at)).find((each) => numericId(each.id) === id);
  if (found === undefined) throw invalid('unknown_milestone', 'This milestone does not exist.', { field: 'milestone' });
  return found.title;
}

interface NumberedPaging {
  page: number;
  limit: number;
  after?: string | undefined;
}

const usualRows = 30;
const mostRows = 100;
const mostSkipped = 10_000;

/** The requested page size. */
export const rowsOf = ({ limit }: Pick<NumberedPaging, 'limit'>): number => Math.min(limit || usualRows, mostRows);

interface KeyedPage<Row> {
  rows: Row[];
  next: string | null;
}

interface AnyPage<Row> {
  rows: Row[];
  /** The next page in the form of `listed`. */
  next: string | number | null;
}

/**
 * Reads a page by number or by key. Throws `page_too_far` if rows exist that far.
 * @param load reads one page from a key on, after skipping a number of rows without reading them
 */
export async function readPage<Row>(
  asked: NumberedPaging,
  load: (paging: { after: string | null; limit: number; skip: number }) => Promise<KeyedPage<Row>>,
): Promise<AnyPage<Row>> {
  const limit = rowsOf(asked);
  if (asked.after !== undefined) return load({ after: asked.after, limit, skip: 0 });
  const { page } = asked;
  if (page * limit > mostSkipped) {
    const { rows } = await load({ after: null, limit: 1, skip: mostSkipped });
    if (rows.length > 0) throw pageTooFar();
    return { rows: [], next: null };
  }
  const found = await load({ after: null, limit, skip: Math.max(page - 1, 0) * limit });
  return page === 0 || found.next === null ? found : { rows: found.rows, next: page + 1 };
}

/** The same for a list that is paged only by keys: a numbered page requires reading the pages before it. */
export async function readPageInTurn<Row>(
  asked: NumberedPaging,
  load: (after: string | null, limit: number) => Promise<KeyedPage<Row>>,
): Promise<AnyPage<Row>> {
  const limit = rowsOf(asked);
  if (asked.after !== undefined) return load(asked.after, limit);
  const { page } = asked;
  let found = await load(null, limit);
  for (let at = 1; at < page; at++) {
    if (found.next === null) return { rows: [], next: null };
    if (at * limit > mostSkipped) throw pageTooFar();
    found = await load(found.next, limit);
  }
  return page === 0 || found.next === null ? found : { rows: found.rows, next: page + 1 };
}

const pageTooFar = () =>
  invalid('page_too_far', `Pages go as far as ${mostSkipped} rows; follow the Link headers instead.`, {
    field: 'page',
  });

/** A page of a list in memory: the whole list if no page is requested. */
export function sliceOf<Row>(rows: readonly Row[], { page, limit: requestedLimit }: NumberedPaging) {
  if (page === 0 && requestedLimit === 0) return { rows: [...rows], next: null };
  const limit = rowsOf({ limit: requestedLimit });
  const from = (Math.max(page, 1) - 1) * limit;
  return {
    rows: rows.slice(from, from + limit),
    next: from + limit < rows.length ? Math.max(page, 1) + 1 : null,
  };
}

/** The zero of Go's `time.Time`, which Go's clients send where the program set no time. */
const zeroTime = '0001-01-01T00:00:00Z';

/** A time that a client sends in epoch milliseconds; undefined without one. Throws `invalid_time`. */
export function timeIn(value: string | undefined, field: string): number | undefined {
  if (value === undefined || value === '' || value === zeroTime) return undefined;
  const time = Date.parse(value);
  if (!Number.isFinite(time)) throw invalid('invalid_time', 'Enter the time in ISO 8601 format.', { field });
  return time;
}
