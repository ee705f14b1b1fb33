import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import { derivedId, issueSchema, orderedId } from '../../issues/index.ts';
import type { PreparedPull, PullImporter } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { publishHead } from '../rounds/publish-head.ts';
import { readRound } from '../rounds/read-round.ts';
import type { ReadRound } from '../rounds/read-round.ts';
import { keepRound } from '../rounds/round-refs.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { roundSchema } from '../schema/round-schema.ts';
import { keysOf } from './read-pulls.ts';
import type { CheckedPulls } from './read-pulls.ts';
import type { PullFile } from './pull-file.ts';
import { writePull } from './write-pull.ts';

/**
 * Throws `pull_exists` if an open pull request of the repository, not created by an earlier import, has the same branch
 * as one of the export; checked before anything is written.
 */
export async function refuseTakenBranches(
  { db }: PullDeps,
  repositoryId: string,
  checked: CheckedPulls,
  numbers: readonly number[],
): Promise<void> {
  const open = await db.read.findBy(pullSchema, { repositoryId, isOpen: true });
  if (open.length === 0) return;
  const issues = await db.read.findBy(issueSchema, { repositoryId, kind: 'PULL', state: 'OPEN' });
  const originOf = new Map(issues.map(({ id, origin, number }) => [id, { origin, number }]));
  const taken = new Map(
    open.flatMap(({ issueId, baseBranch, headBranch, headRepositoryId }) => {
      const { origin = null, number } = originOf.get(issueId) ?? {};
      const isOwn = headRepositoryId === repositoryId && headBranch !== null && origin === null;
      return isOwn ? [[JSON.stringify(['branch', baseBranch, headBranch]), number] as const] : [];
    }),
  );
  for (const number of numbers) {
    const key = keysOf((await checked.read(number)).pull).find((each) => taken.has(each));
    if (key !== undefined)
      throw conflict(
        'pull_exists',
        `The open pull request #${taken.get(key)} has the same branches as #${number} in the bundle. Nothing was imported.`,
      );
  }
}

/**
 * Imports the code of pull requests into a repository that already has the commits of all rounds.
 * @param path folder of the repository
 * @param isFollowed whether another forge is followed while work also continues here
 */
export function importPulls(
  deps: PullDeps,
  path: string,
  checked: Pick<CheckedPulls, 'read'>,
  isFollowed = false,
): PullImporter {
  return {
    async prepare({ number }, { id, repositoryId, isKnown, text }): Promise<PreparedPull | null> {
      const { pull, isOwn } = await checked.read(number);
      if (isKnown && (await wentOn(deps, id, pull))) return null;
      const people = await deps.issues.portable.peopleAmong(peopleOf(pull), isOwn, isFollowed);
      const found = new Map<number, ReadRound>();
      for (const { round, headOid, baseOid } of pull.rounds) {
        await keepRound(deps, path, { headOid, baseOid });
        found.set(round, await readRound(deps, path, headOid, baseOid));
      }
      const ids = idsOf(pull, repositoryId);
      const context = { issueId: id, repositoryId, people, ids, text, rounds: found, isFollowed };
      const write = (tx: Tx, positions: ReadonlyMap<number, number>): Promise<void> =>
        writePull(deps, tx, pull, { ...context, positions });
      const { headOid } = pull.rounds.at(-1)!;
      const written = (): Promise<void> => publishHead(deps, path, { issueId: id, repositoryId, number, headOid });
      return { ids, write, written };
    },
  };
}

/** Whether the code of an earlier imported pull request was changed here. */
async function wentOn({ db }: PullDeps, issueId: string, pull: PullFile): Promise<boolean> {
  const row: PullRow | null = await db.read.findOneBy(pullSchema, { issueId });
  if (row === null) return false;
  if (row.mergedAt !== null && pull.mergedAt === null) return true;
  const rounds = await db.read.findBy(roundSchema, { issueId });
  const same = new Map(pull.rounds.map((each) => [each.round, each]));
  return rounds.some(({ round, headOid, baseOid }) => {
    const other = same.get(round);
    return other?.headOid !== headOid || other.baseOid !== baseOid;
  });
}

/** New ids; ids of threads are in the order of the export, in which pages show them. */
function idsOf({ reviews, threads }: PullFile, repositoryId: string): PreparedPull['ids'] {
  const ids = new Map<string, string>();
  let [at, rank] = [-1, 0];
  for (const { id, createdAt } of threads) {
    rank = createdAt === at ? rank + 1 : 0;
    at = createdAt;
    ids.set(id, orderedId('thread', repositoryId, { id, at, rank }));
  }
  return { reviews: new Map(reviews.map(({ id }) => [id, derivedId('review', repositoryId, id)])), threads: ids };
}

const peopleOf = ({ submitter, mergedBy, rounds, reviews, requests, teamRequests, threads }: PullFile) => [
  submitter,
  mergedBy,
  ...rounds.map((each) => each.submitter),
  ...reviews.flatMap(({ author, dismissedBy }) => [author, dismissedBy]),
  ...requests.flatMap(({ person, askedBy }) => [person, askedBy]),
  ...teamRequests.map(({ askedBy }) => askedBy),
  ...threads.flatMap(({ resolvedBy, comments }) => [resolvedBy, ...comments.map(({ author }) => author)]),
];
