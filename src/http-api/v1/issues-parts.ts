import { invalid, notFound } from '../../kernel/index.ts';
import type { Person } from '../../accounts/index.ts';
import type { PersonViewer, Viewer } from '../../access/index.ts';
import type { DescribedIssue, Issue, IssueAt, RepositoryAt } from '../../issues/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { WebDeps } from '../../web/index.ts';
import { tokenNeeded } from '../authenticate-token.ts';
import { issuePayload, numericId, userPayload } from '../../gitea-shapes/index.ts';
import type { IssuePayload } from '../../gitea-shapes/index.ts';

/** What the operations of issues share. */
export const issuesAt = '/repos/{owner}/{name}/issues';
export const oneIssueAt = `${issuesAt}/{number}` as const;

interface PayloadContext {
  origin: string;
  owner: string;
  repository: { id: string; name: string };
}

/** Where issues of a repository are shown from. */
export const payloadContextOf = ({ found, origin }: { found: Found; origin: string }): PayloadContext => ({
  origin,
  owner: found.canonical.owner,
  repository: found.repository,
});

/** The path of a repository as it is now: an old one still reads. */
export const repositoryAt = ({ canonical }: Found): RepositoryAt => ({ owner: canonical.owner, name: canonical.name });

/** Refuses `issue_not_found` for what is no number. */
export function issueAt(found: Found, number: string): IssueAt {
  if (!/^\d{1,15}$/.test(number)) throw notFound('issue_not_found', 'Issue not found');
  return { ...repositoryAt(found), number: Number(number) };
}

/** A number in a path; -1, which nothing has, for any other text. */
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

/** People by id, as they are shown. */
export async function usersById(
  deps: Pick<WebDeps, 'accounts'>,
  ids: Iterable<string | null>,
  origin: string,
): Promise<(id: string | null) => ReturnType<typeof userPayload>> {
  const people: Map<string, Person> = await deps.accounts.peopleById([...ids].filter((id) => id !== null));
  return (id) => userPayload(id === null ? null : (people.get(id) ?? null), { baseUrl: origin });
}

/** Labels by id or name, as names. Refuses `unknown_label` for an id that is none. */
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
    if (found === undefined) throw invalid('unknown_label', `There is no label ${ref}.`, { field: 'labels' });
    return found.name;
  });
}

/** The title of a milestone by its id; null for 0. Refuses `unknown_milestone`. */
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

/** The size of a page that was asked for. */
export const rowsOf = ({ limit }: Pick<NumberedPaging, 'limit'>): number => Math.min(limit || usualRows, mostRows);

interface KeyedPage<Row> {
  rows: Row[];
  next: string | null;
}

interface AnyPage<Row> {
  rows: Row[];
  /** What `listed` takes as the next page. */
  next: string | number | null;
}

/**
 * Reads a page by number or by key.
 * @param load one page from a key on, behind rows that the list passes over without reading them
 * Refuses `page_too_far` where there are rows so far.
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

/** The same for a list that knows only where a page goes on: one by number is reached by reading those before it. */
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

/** A page of what is all in memory: all of it where no page is asked for. */
export function sliceOf<Row>(rows: readonly Row[], { page, limit: requestedLimit }: NumberedPaging) {
  if (page === 0 && requestedLimit === 0) return { rows: [...rows], next: null };
  const limit = rowsOf({ limit: requestedLimit });
  const from = (Math.max(page, 1) - 1) * limit;
  return {
    rows: rows.slice(from, from + limit),
    next: from + limit < rows.length ? Math.max(page, 1) + 1 : null,
  };
}

/** A time of a query in epoch milliseconds. Refuses `invalid_time`. */
export function timeIn(value: string | undefined, field: string): number | undefined {
  if (value === undefined || value === '') return undefined;
  const time = Date.parse(value);
  if (!Number.isFinite(time)) throw invalid('invalid_time', 'Enter the time in ISO 8601 format.', { field });
  return time;
}
