import { repositoryUrl, queryNumber } from '../../http/index.ts';
import { viewHistoryDays } from '../code/history-days.view.ts';
import { authorsOfCommits } from '../code/commit-authors.ts';
import { readCommitReferences } from '../code/commit-references.ts';
import { readCommitStatuses } from '../code/commit-statuses.ts';
import { readSignatures, signedCommit } from '../code/signatures.ts';
import { page } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { issueAt } from '../issues/conversation.reply.ts';
import type { PullsDeps } from './deps.ts';
import { readPullHeader } from './pull-head.view.ts';

/** Equals the limit of a round's list. */
const maxCommits = 250;

/** `B/pulls/{n}/commits`: the commits of the last round, newest first, or of `?round=`. */
export const showPullCommits: Page<RepositoryContext, PullsDeps> = async (context, deps) => {
  const { viewer, found, query } = context;
  const at = issueAt(context);
  const { head, described } = await readPullHeader(context, deps);
  const { lastRound } = described.pull;
  const wanted = queryNumber(query, 'round');
  const round = await deps.pulls.rounds.find(
    viewer,
    at,
    wanted !== undefined && wanted >= 1 && wanted <= lastRound ? wanted : lastRound,
  );
  const commits = await deps.git.queries.commitsBetween(found.path, round.baseOid, round.headOid, {
    limit: maxCommits,
  });
  const [{ views: signatures }, authors, statuses, references] = await Promise.all([
    readSignatures(
      deps,
      commits.map((commit) => signedCommit(commit)),
      found.repository.id,
    ),
    authorsOfCommits(deps, commits),
    readCommitStatuses(
      context,
      deps,
      commits.map(({ oid }) => oid),
    ),
    readCommitReferences(
      context,
      deps,
      commits.map(({ message }) => message),
    ),
  ]);
  return page('pulls/pull-commits', {
    repository: viewRepositoryHeader(found),
    head,
    rounds: Array.from({ length: lastRound }, (_, index) => index + 1)
      .reverse()
      .map((number) => ({
        number,
        url: number === lastRound ? `${head.url}/commits` : `${head.url}/commits?round=${number}`,
        isShown: number === round.round,
      })),
    days: viewHistoryDays(
      commits.map((commit) => ({ commit, file: Buffer.alloc(0), isThere: true })),
      {
        repositoryUrl: repositoryUrl(found.canonical),
        file: Buffer.alloc(0),
        now: deps.clock.now(),
        authors,
        signatures,
        commitStatusOf: statuses.of,
        references,
      },
    ),
    hidden: Math.max(0, round.commitCount - commits.length),
  });
};
