import type { EntityManager } from 'typeorm';
import type { Issue } from '../../issues/index.ts';
import { issueSchema } from '../../issues/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import { pullPushSchema, pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { roundCommitSchema } from '../schema/round-schema.ts';

/** Data of a push to `refs/for/<branch>` that identify its pull request. */
interface PullQuestion {
  repositoryId: string;
  userId: string;
  baseBranch: string;
  topic: string | null;
  /** Value of the option `pull`. */
  number: number | null;
  headOid: string;
  /** Trailer `Change-Id` of the tip. */
  changeId: string | null;
}

export interface KnownPull {
  issue: Issue;
  pull: PullRow;
}

/** An existing pull request, or the number of one that an earlier push is opening; null for a new one. */
type PullChoice = { known: KnownPull } | { pending: number } | null;

/** Limit of open pull requests of one user and branch that are searched. */
const maxLookedAt = 200;

/**
 * Finds the pull request to which a push adds: the one of the option; else the one of the topic; else the one whose
 * last round contains the change id of the tip, or that tip itself. If none matches, it is a new one, provided the user
 * has no open one for that branch. Includes pushes whose pull request is not written yet, so that two first pushes of
 * one topic create one. Throws `pull_not_found`, `wrong_base`, `which_pull` with the list and both ways to choose.
 */
export async function choosePull(source: EntityManager, question: PullQuestion): Promise<PullChoice> {
  const { repositoryId, baseBranch, topic, number } = question;
  if (number !== null) {
    const known = await pullByNumber(source, repositoryId, number);
    const coming = known === null ? await pendingPushes(source, question) : [];
    if (coming.some((push) => push.number === number)) return { pending: number };
    if (known === null) throw notFound('pull_not_found', `there is no pull request #${number} here`);
    if (known.pull.baseBranch !== baseBranch)
      throw invalid('wrong_base', `pull request #${number} is for ${known.pull.baseBranch}, not for ${baseBranch}`);
    return { known };
  }
  const open = await openPulls(source, question);
  const pending = await pendingPushes(source, question);
  if (topic !== null) {
    const known = open.find(({ pull }) => pull.topic === topic);
    if (known !== undefined) return { known };
    const first = pending.find((push) => push.topic === topic);
    return first === undefined ? null : { pending: first.number };
  }
  const same = open.filter(({ pull }) => pull.headOid === question.headOid);
  const changed = same.length > 0 ? same : await withChange(source, open, question.changeId);
  if (changed.length === 1) return { known: changed[0]! };
  const again = pending.find(({ newId }) => newId === question.headOid);
  if (again !== undefined) return { pending: again.number };
  const candidates = [...open.map(({ issue }) => issue), ...pending.map((push) => ({ ...push, title: '…' }))];
  if (candidates.length > 0) throw whichOne(candidates, question);
  return null;
}

/** A pull request by its number; null for an issue, and for one in the trash. */
export async function pullByNumber(
  source: EntityManager,
  repositoryId: string,
  number: number,
): Promise<KnownPull | null> {
  const issue = await source.findOneBy(issueSchema, { repositoryId, number });
  if (issue === null || issue.kind !== 'PULL' || issue.deletedAt !== null) return null;
  const pull = await source.findOneBy(pullSchema, { issueId: issue.id });
  return pull === null ? null : { issue, pull };
}

async function openPulls(
  source: EntityManager,
  { userId, repositoryId, baseBranch }: PullQuestion,
): Promise<KnownPull[]> {
  const pulls = await source
    .createQueryBuilder(pullSchema, 'p')
    .where('p.submitter_id = :userId AND p.repository_id = :repositoryId', { userId, repositoryId })
    .andWhere('p.is_open = :open', { open: true })
    .andWhere("p.base_branch = :baseBranch AND p.source = 'PUSH'", { baseBranch })
    .limit(maxLookedAt)
    .getMany();
  const known: KnownPull[] = [];
  for (const pull of pulls) {
    const issue = await source.findOneBy(issueSchema, { id: pull.issueId });
    if (issue !== null) known.push({ issue, pull });
  }
  return known.sort((a, b) => a.issue.number - b.issue.number);
}

/** Journalled pushes whose pull request is not written yet. */
async function pendingPushes(
  source: EntityManager,
  { userId, repositoryId, baseBranch }: PullQuestion,
): Promise<{ number: number; topic: string | null; newId: string }[]> {
  const rows: { number: number; topic: string | null; newId: string }[] = await source
    .createQueryBuilder(pullPushSchema, 'f')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .innerJoin('push_updates', 'u', 'u.push_id = f.push_id AND u.position = 0')
    .select('f.number', 'number')
    .addSelect('f.topic', 'topic')
    .addSelect('coalesce(f.oid, u.new_id)', 'newId')
    .where('f.user_id = :userId AND f.repository_id = :repositoryId', { userId, repositoryId })
    .andWhere('f.base_branch = :baseBranch', { baseBranch })
    .andWhere('p.announced_at IS NULL AND p.parked_at IS NULL')
    .limit(maxLookedAt)
    .getRawMany();
  const numbers = rows.map((row) => ({ ...row, number: Number(row.number) }));
  const absent: typeof numbers = [];
  for (const row of numbers)
    if (!(await source.existsBy(issueSchema, { repositoryId, number: row.number }))) absent.push(row);
  return absent;
}

/** Whether a push to this pull request has not ended yet. */
export function isBeingPushedTo(source: EntityManager, repositoryId: string, number: number): Promise<boolean> {
  return source
    .createQueryBuilder(pullPushSchema, 'f')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .where('f.repository_id = :repositoryId AND f.number = :number AND p.settled_at IS NULL', { repositoryId, number })
    .getExists();
}

async function withChange(
  source: EntityManager,
  open: readonly KnownPull[],
  changeId: string | null,
): Promise<KnownPull[]> {
  if (changeId === null) return [];
  const found: KnownPull[] = [];
  for (const known of open) {
    const { issueId, lastRound: round } = known.pull;
    if (await source.existsBy(roundCommitSchema, { issueId, round, changeId })) found.push(known);
  }
  return found;
}

/** Limit of pull requests named on one line. */
const maxNamed = 5;

function whichOne(open: readonly { number: number; title: string }[], { baseBranch }: PullQuestion) {
  const named = open.slice(0, maxNamed).map(({ number, title }) => `#${number} “${title.slice(0, 60)}”`);
  const rest = open.length > maxNamed ? ` and ${open.length - maxNamed} more` : '';
  return conflict(
    'which_pull',
    `you have ${open.length === 1 ? 'an open pull request' : 'open pull requests'} for ${baseBranch}: ` +
      `${named.join(', ')}${rest}; to add to one: -o pull=${open[0]!.number}; ` +
      `to open another, give it a topic: refs/for/${baseBranch}/<topic>`,
  );
}
