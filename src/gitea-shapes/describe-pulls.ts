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

/** A pull request with everything that the API and webhooks show of it. */
export interface DescribedPull {
  issue: DescribedIssue;
  pull: PullRow;
  mergedBy: Person | null;
  /** Whose review it waits for. */
  requested: Person[];
  /** The teams, as far as the reader may know of them. */
  requestedTeams: Team[];
  /** Null when the repository of the head is gone, or is not for the reader; for a push, too. */
  head: Located | null;
  base: Located;
  /** The tip of the base branch; null when the branch is gone. */
  baseTip: string | null;
}

/** What a reader may know of besides the repository. */
interface ReaderOfPulls {
  /** Whether a reader may know of the repository of a fork. */
  mayRead(repository: Repository): boolean | Promise<boolean>;
  /** Those of some teams that a reader may know of. */
  teamsById(ids: readonly string[]): Promise<ReadonlyMap<string, { team: Team }>>;
}

/**
 * Describes pull requests of one repository, in the order of their issues; what is no pull request is left out.
 */
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
