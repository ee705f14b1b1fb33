import { refusalInRepository, viewerWithCredential } from '../../access/index.ts';
import type { PersonViewer } from '../../access/index.ts';
import { issueLimits, issueLinkSchema, issueSchema } from '../../issues/index.ts';
import type { EntryLog, IssueAt } from '../../issues/index.ts';
import { isDomainError, unavailable } from '../../kernel/index.ts';
import type { AnnouncedPush, Found, Located } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { createPull } from '../lifecycle/open-pull.ts';
import { contributedBytes } from '../rounds/contribution-quota.ts';
import { prepareRound, recordRound } from '../rounds/record-round.ts';
import type { PreparedRound } from '../rounds/record-round.ts';
import { pullPushSchema, pullSchema } from '../schema/pull-schema.ts';
import type { PullPushRow } from '../schema/pull-schema.ts';
import { roundSchema } from '../schema/round-schema.ts';
import { findPullTemplate } from '../templates/pull-template.ts';
import { cleanText, cutBytes, defaultDescription } from './default-description.ts';
import { readPushOptions, setsMore } from './read-push-options.ts';
import { pullByNumber } from './choose-pull.ts';
import type { KnownPull } from './choose-pull.ts';

/** Effect of an announced push to `refs/for/…` on its pull request. */
export interface PushedRound {
  viewer: PersonViewer;
  at: IssueAt;
  headOid: string;
  /** The next round; null if the push opened the pull request or had no effect. */
  next: { issueId: string; prepared: PreparedRound; bytes: number } | null;
  isFirst: boolean;
}

export const pullHead = /^refs\/pull\/(\d+)\/head$/;

/**
 * For the push listener: opens the pull requests of a push to `refs/for/…` with their reserved numbers, or reads their
 * next rounds; the lowest of a stack first. Idempotent. Empty for other pushes.
 */
export async function preparePushedRounds(deps: PullDeps, push: AnnouncedPush): Promise<PushedRound[]> {
  const update = push.updates.find(({ ref }) => pullHead.test(ref));
  if (update === undefined) return [];
  const rows = await rowsOfPush(deps, push.id);
  const located = (await deps.repositories.locate([push.repository.id])).get(push.repository.id);
  if (located === undefined) throw unavailable('repository_in_trash', 'The repository is in the trash.');
  if (rows.length === 0) await dropOfGone(deps, push, located, update.ref);
  const pushed: PushedRound[] = [];
  for (const row of rows) pushed.push(await prepareOne(deps, { push, located, row, headOid: row.oid ?? update.newId }));
  return pushed;
}

/** The rows of the pull requests of a push, lowest of a stack first. */
export async function rowsOfPush({ db }: Pick<PullDeps, 'db'>, pushId: string): Promise<PullPushRow[]> {
  const rows = await db.read.findBy(pullPushSchema, { pushId });
  return rows.sort((one, other) => one.position - other.position);
}

async function prepareOne(
  deps: PullDeps,
  { push, located, row, headOid }: Pick<FirstPush, 'push' | 'located' | 'row' | 'headOid'>,
): Promise<PushedRound> {
  const viewer = viewerWithCredential(row.userId, push.credential, push.repository.id);
  const at = { owner: located.owner.handle, name: located.repository.name, number: row.number };
  const known = await pullByNumber(deps.db.read, row.repositoryId, row.number);
  if (known === null) return openFirst(deps, { push, located, row, viewer, at, headOid });
  const { pull, issue } = known;
  const isSame = pull.headOid === headOid && (row.oid === null || pull.stackedOnOid === row.belowOid);
  if (isSame && pull.lastRound === 1) {
    const first = await deps.db.read.findOneBy(roundSchema, { issueId: issue.id, round: 1 });
    return { viewer, at, headOid, next: null, isFirst: first?.pushId === push.id };
  }
  const next = await prepareNext(deps, located, known, row, headOid);
  return { viewer, at, headOid, next, isFirst: false };
}

/** Drops a first push without rows: the account that pushed was deleted before the pull request was written. */
async function dropOfGone(
  deps: PullDeps,
  { id, repository }: AnnouncedPush,
  { path }: Located,
  ref: string,
): Promise<void> {
  const number = Number(pullHead.exec(ref)![1]);
  if (await deps.db.read.existsBy(issueSchema, { repositoryId: repository.id, number })) return;
  deps.logger.warn('pull.push_dropped', { pushId: id, number, reason: 'account_gone' });
  await deps.git.refs.setPull(path, number, 'head', null);
}

interface FirstPush {
  push: AnnouncedPush;
  located: Located;
  row: PullPushRow;
  viewer: PersonViewer;
  at: IssueAt;
  headOid: string;
}

/**
 * Opens the pull request even if the user has lost permissions since the push was accepted, as its response promised.
 * Removes pushes that can never become a pull request.
 */
async function openFirst(deps: PullDeps, first: FirstPush): Promise<PushedRound> {
  const { located, row, viewer, at, headOid } = first;
  try {
    await create(deps, first);
  } catch (error) {
    if (!isDomainError(error) || error.code === 'unavailable' || error.code === 'internal') throw error;
    // A concurrent announcement has opened it.
    if ((await pullByNumber(deps.db.read, row.repositoryId, row.number)) !== null) throw error;
    deps.logger.warn('pull.push_dropped', { pushId: row.pushId, number: row.number, reason: error.reason });
    await deps.git.refs.setPull(located.path, row.number, 'head', null);
  }
  return { viewer, at, headOid, next: null, isFirst: true };
}

async function create(deps: PullDeps, { push, located, row, viewer, headOid }: FirstPush): Promise<void> {
  const { baseBranch, topic, number } = row;
  const options = readPushOptions(push.options);
  const { path, repository, owner } = located;
  const found = { repository, path, canonical: { owner: owner.handle, name: repository.name } };
  const baseTip = await deps.git.refs.tip(path, `refs/heads/${baseBranch}`);
  const { belowOid } = row;
  const prepared = await prepareRound(deps, path, null, headOid, baseTip ?? headOid, belowOid);
  const known = [baseTip, belowOid].filter((oid) => typeof oid === 'string');
  const coming = { submitterId: row.userId, headOid, known };
  const bytes = await contributedBytes(deps, located, coming);
  const text = defaultDescription(prepared.commits, { topic, baseBranch });
  const labels = await labelsFor(deps, viewer, found, options.labels);
  const body = options.description ?? (await withTemplate(deps, path, text.body, baseTip ?? null));
  const fields = { title: options.title ?? text.title, body, labels };
  const code = {
    number,
    baseBranch,
    isDraft: options.isDraft ?? false,
    maintainersMayPush: false,
    source: 'PUSH',
    origin: { pushId: push.id, bytes, note: options.note, via: 'git' },
  } as const;
  await createPull(deps, viewer, found, fields, prepared, { ...code, topic }).catch((error: unknown) => {
    // Another pull request of the user has got this topic and branch since, by a change of its base branch.
    if (topic === null || !isDomainError(error) || error.reason !== 'pull_exists') throw error;
    return createPull(deps, viewer, found, fields, prepared, code);
  });
}

/** The text of the commits followed by the template of the base branch, as in the form of the page. */
export async function withTemplate(
  deps: PullDeps,
  path: string,
  text: string,
  baseTip: string | null,
): Promise<string> {
  const template = baseTip === null ? '' : await findPullTemplate(deps, path, baseTip);
  return cutBytes(cleanText([text, template].filter((part) => part !== '').join('\n\n')), issueLimits.bodyBytes);
}

/** Existing labels, if the user may set labels; other users were warned in the response to their push. */
export async function labelsFor(
  deps: PullDeps,
  viewer: PersonViewer,
  { repository, canonical }: Pick<Found, 'repository' | 'canonical'>,
  wanted: readonly string[],
): Promise<string[]> {
  if (wanted.length === 0) return [];
  const { facts } = await deps.issues.pulls.contextOf(deps.db.lookup, viewer, repository);
  if (refusalInRepository(viewer, facts, 'triage') !== null) return [];
  const names = new Set(wanted.map((name) => name.toLowerCase()));
  const there = await deps.issues.listLabels(viewer, canonical);
  return there.filter(({ nameFolded }) => names.has(nameFolded)).map(({ name }) => name);
}

/** Null for a pull request that was closed or merged since; its ref is set back. */
async function prepareNext(
  deps: PullDeps,
  located: Located,
  { issue, pull }: KnownPull,
  { userId: submitterId, oid, belowOid }: PullPushRow,
  headOid: string,
): Promise<PushedRound['next']> {
  const { path } = located;
  if (issue.state !== 'OPEN') {
    await deps.git.refs.setPull(path, issue.number, 'head', pull.headOid);
    return null;
  }
  const baseTip = (await deps.git.refs.tip(path, `refs/heads/${pull.baseBranch}`)) ?? pull.baseOid;
  const prepared = await prepareRound(deps, path, pull, headOid, baseTip, oid === null ? undefined : belowOid);
  const known = [baseTip, pull.headOid, belowOid].filter((each) => each !== null);
  const bytes = await contributedBytes(deps, located, { submitterId, headOid, known });
  return { issueId: issue.id, prepared, bytes };
}

/**
 * In the write of the listener: records the rounds, and the end of the push. Its rows stay until its options are
 * applied, so that a crash loses none.
 */
export async function recordPushedRounds(
  log: EntryLog,
  push: AnnouncedPush,
  pushed: readonly PushedRound[],
): Promise<void> {
  const { manager } = log.tx;
  const options = readPushOptions(push.options);
  await recordNeeds(log, push);
  if (!pushed.some(({ next, isFirst }) => (next !== null || isFirst) && setsMore(options, isFirst)))
    await manager.delete(pullPushSchema, { pushId: push.id });
  for (const { next } of pushed) {
    if (next === null) continue;
    const issue = await manager.findOneBy(issueSchema, { id: next.issueId });
    const pull = await manager.findOneBy(pullSchema, { issueId: next.issueId });
    if (issue?.state !== 'OPEN' || pull === null) continue;
    await recordRound(log, issue, pull, next.prepared, {
      submitterId: push.pusherId,
      pushId: push.id,
      bytes: next.bytes,
      note: options.note,
      via: 'git',
    });
  }
}

/**
 * Each pull request of a stack depends on the one below it, and no longer on other open ones pushed by the same user.
 */
async function recordNeeds({ tx: { manager, now } }: EntryLog, push: AnnouncedPush): Promise<void> {
  const rows = (await manager.findBy(pullPushSchema, { pushId: push.id })).filter(({ oid }) => oid !== null);
  let below: string | null = null;
  for (const { repositoryId, number, userId } of rows.sort((one, other) => one.position - other.position)) {
    const issue = await manager.findOneBy(issueSchema, { repositoryId, number });
    if (issue === null) continue;
    const own = await manager
      .createQueryBuilder(issueLinkSchema, 'l')
      .innerJoin('pulls', 'p', 'p.issue_id = l.to_id')
      .select('l.to_id', 'toId')
      .where("l.from_id = :id AND l.kind = 'needs'", { id: issue.id })
      .andWhere("p.repository_id = :repositoryId AND p.is_open = :open AND p.source = 'PUSH'", {
        repositoryId,
        open: true,
      })
      .andWhere('p.submitter_id = :userId', { userId })
      .getRawMany<{ toId: string }>();
    for (const { toId } of own)
      if (toId !== below) await manager.delete(issueLinkSchema, { fromId: issue.id, toId, kind: 'needs' });
    if (below !== null && !own.some(({ toId }) => toId === below))
      await manager.insert(issueLinkSchema, { fromId: issue.id, toId: below, kind: 'needs', createdAt: now });
    below = issue.id;
  }
}
