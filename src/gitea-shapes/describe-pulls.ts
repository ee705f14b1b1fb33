import type { Accounts, Person } from '../accounts/index.ts';
import type { DescribedIssue } from '../issues/index.ts';
import type { Team } from '../organisations/index.ts';
import type { PullRow, Pulls } from '../pulls/index.ts';
import type { Located, Repositories, Repository } from '../repositories/index.ts';
import type { Git } from '../git/index.ts';

interface DescribingDeps {
  accounts: Pick<Accounts, 'peopleById'>;
  repositories: Pick<Repositories, 'locate'>;
  pulls: Pick<Pulls, 'ofIssues'>;
  git: Pick<Git, 'queries'>;
}

/** A pull request with all data that the API and webhooks show. */
export interface DescribedPull {
  issue: DescribedIssue;
  pull: PullRow;
  mergedBy: Person | null;
  /** Requested reviewers. */
  requested: Person[];
  /** The teams that the reader may know of. */
  requestedTeams: Team[];
  /** Null if the head repository was deleted or is hidden from the reader, and for pull requests made by a push. */
  head: Located | null;
  base: Located;
  /** The tip of the base branch; null if the branch was deleted. */
  baseTip: string | null;
}

/** The reader's access to data outside of the repository. */
interface ReaderOfPulls {
  /** Whether a reader may know of the repository of a fork. */
  mayRead(repository: Repository): boolean | Promise<boolean>;
  /** The teams among these that a reader may know of. */
  teamsById(ids: readonly string[]): Promise<ReadonlyMap<string, { team: Team }>>;
}

/** Describes pull requests of one repository, in the order of their issues; omits issues that are not pull requests. */
export async function describePulls(
  deps: DescribingDeps,
  issues: readonly DescribedIssue[],
  { mayRead, teamsById }: ReaderOfPulls,
): Promise<DescribedPull[]> {
  const pulls = await deps.pulls.ofIssues(issues.filter(({ kind }) => kind === 'PULL').map(({ id }) => id));
  const rows = [...pulls.values()];
  const [located, people, teams] = await Promise.all([
    deps.repositories.locate(rows.flatMap(({ pull }) => [pull.repositoryId, pull.headRepositoryId ?? []].flat())),
    deps.accounts.peopleById(rows.flatMap(({ pull, requested }) => [...requested, pull.mergedBy ?? []].flat())),
    teamsById(rows.flatMap(({ requestedTeams }) => requestedTeams)),
  ]);
  const heads = new Map<string, Located | null>();
  for (const { pull } of rows) {
    const id = pull.headRepositoryId;
    const found = id === null ? undefined : located.get(id);
    if (id === null || heads.has(id)) continue;
    const isReadable = found !== undefined && (id === pull.repositoryId || (await mayRead(found.repository)));
    heads.set(id, isReadable ? found : null);
  }
  const described: DescribedPull[] = [];
  for (const issue of issues) {
    const found = pulls.get(issue.id);
    const base = located.get(issue.repositoryId);
    if (found === undefined || base === undefined) continue;
    const { pull, requested, requestedTeams } = found;
    const refs = await deps.git.queries.cachedRefs(base.path);
    described.push({
      issue,
      pull,
      mergedBy: pull.mergedBy === null ? null : (people.get(pull.mergedBy) ?? null),
      requested: requested.flatMap((id) => people.get(id) ?? []),
      requestedTeams: requestedTeams.flatMap((id) => teams.get(id)?.team ?? []),
      head: pull.headRepositoryId === null ? null : (heads.get(pull.headRepositoryId) ?? null),
      base,
      baseTip: refs.get(`refs/heads/${pull.baseBranch}`) ?? null,
    });
  }
  return described;
}
