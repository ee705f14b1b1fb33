import type { Readable, Writable } from 'node:stream';
import { allows, personIdOf, recordCredential } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { atomicFailure, gerritFolders, isForReview, reviewFolder } from '../../git/index.ts';
import type { ProposedPush, PushVerdict, RefusedRef } from '../../git/index.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';
import { isDiskLow } from '../disk-space.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { pushOptionWarning } from './push-option-warning.ts';
import { setInitialDefaultBranch } from './set-initial-default-branch.ts';
import { clientOf, firstUnverified } from '../rules/verify-commits.ts';
import { evaluateRules } from '../rules/evaluate-rules.ts';
import { journalForReview } from './journal-for-review.ts';
import type { PushJournal, RefResult, RefUpdate } from './push-journal.ts';
import { pushSchema } from '../schema/push-schema.ts';
import { preReceiveRefusal } from './pre-receive-check.ts';
import { inferPushResults } from './infer-push-results.ts';
import { branchOf, forbidden, isDomainError, noRef, notFound } from '../../kernel/index.ts';
import { createRepository, mayCreateAt } from '../create-repository.ts';
import { findRepository } from '../find-repository.ts';
import { findRedirect } from '../redirects.ts';

export interface IncomingPush {
  viewer: Viewer;
  via: 'http' | 'ssh';
  /** Value of `Git-Protocol` or `GIT_PROTOCOL`, validated by the transport. */
  protocol: string | null;
  /** The client's stream after the ref advertisement. */
  input: Readable;
  /** Whether the chunks of `input` are not used elsewhere. */
  ownsInput?: boolean;
  /** Receives git's response. */
  output: Writable;
  /** The web URL that the client used, for messages to it; absent over SSH. */
  origin?: string | undefined;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  /** Time that the client may stall the push, in milliseconds; defaults to the git module's limit. */
  stallMs?: number | undefined;
}

/** Pushes running in this process. */
export type RunningPushes = Set<string>;

/**
 * Receives a push: journals its commands, lets git act, settles the journal with git's report. The same for every
 * transport. Reports a refusal (lost access, archived, disk space) to the client for each command, without starting git
 * or journalling. Refusing one ref (by a rule) does not affect the others, and only those are journalled.
 * @returns the id of the journalled push if at least one command took effect, else `null`
 */
export async function receivePush(
  deps: RepositoryDeps,
  journal: PushJournal,
  running: RunningPushes,
  opened: Found,
  incoming: IncomingPush,
): Promise<string | null> {
  const pushId = deps.random.uuid();
  const target = incoming.origin === undefined ? opened : Object.assign({ origin: incoming.origin }, opened);
  let updates: readonly RefUpdate[] | null = null;
  let settled: readonly RefResult[] | null = null;
  let isReview = false;

  async function settle(results: readonly RefResult[]): Promise<void> {
    if (updates === null) return;
    await journal.settle(pushId, updates, results, { isAnnouncing: true });
    settled = results;
    const accepted = new Set(results.filter(({ ok }) => ok).map(({ ref }) => ref));
    const effective = updates.filter(({ ref }) => accepted.has(ref));
    await setInitialDefaultBranch(deps, opened, effective).catch((error: unknown) =>
      deps.logger.error('push.follow_branch_failed', { pushId, error }),
    );
  }

  /** git exited without a report (killed, crashed, client gone): the refs show the result. */
  async function settleByRefs(): Promise<void> {
    try {
      const push = await deps.db.read.findOneByOrFail(pushSchema, { id: pushId });
      const verdicts = await inferPushResults(journal, [push], await deps.git.refs.list(opened.path));
      await settle(verdicts.get(pushId) ?? []);
    } catch (error) {
      // The push stays unsettled and is retried; this error must not hide the first one.
      deps.logger.error('push.settle_failed', { pushId, error });
    }
  }

  // Added before its row is visible: an unsettled push missing here counts as abandoned.
  running.add(pushId);
  try {
    await deps.git.transfers.receivePack({
      path: opened.path,
      protocol: incoming.protocol ?? undefined,
      input: incoming.input,
      ownsInput: incoming.ownsInput,
      output: incoming.output,
      signal: incoming.signal,
      client: 'id' in incoming.viewer ? incoming.viewer.id : undefined,
      stallMs: incoming.stallMs,
      stateless: incoming.via === 'http',
      extraFolders: [...(opened.repository.acceptsGerritRefs ? gerritFolders : []), reviewFolder],
      hooks: {
        async preReceive(push) {
          const verdict = await checkAndJournal(deps, journal, target, incoming, { id: pushId, ...push });
          if (verdict.accept) updates = journalledOf(push.updates, verdict);
          isReview = verdict.accept && verdict.rewritten !== undefined;
          return verdict;
        },
        verifyCommits: (commits) => firstUnverified(deps, commits, clientOf(incoming.viewer)),
        postReceive: settle,
        async remarkOnArrival(results) {
          const moved = new Set(results.filter(({ ok }) => ok).map(({ ref }) => ref));
          const arrived = (updates ?? []).filter(({ ref }) => moved.has(ref));
          const remarks = (await Promise.all(deps.arrivalRemarks.map((remark) => remark(opened, arrived)))).flat();
          const late =
            isReview && arrived.length > 0 ? await deps.reviews.port?.whenRecorded(opened.repository.id) : null;
          return late == null ? remarks : [...remarks, late];
        },
      },
    });
  } finally {
    if (updates !== null && settled === null) await settleByRefs();
    running.delete(pushId);
  }
  return (settled as readonly RefResult[] | null)?.some(({ ok }) => ok) ? pushId : null;
}

function withoutRefused(updates: readonly RefUpdate[], refused: readonly RefusedRef[]): readonly RefUpdate[] {
  if (refused.length === 0) return updates;
  const names = new Set(refused.map(({ ref }) => ref));
  return updates.filter(({ ref }) => !names.has(ref));
}

/** The commands of an accepted push as journalled. */
function journalledOf(
  updates: readonly RefUpdate[],
  { refused = [], rewritten }: Extract<PushVerdict, { accept: true }>,
): readonly RefUpdate[] {
  const accepted = withoutRefused(updates, refused);
  if (rewritten === undefined) return accepted;
  const { ref, to, oldId } = rewritten;
  return accepted.map((update) => (update.ref === ref ? { ...update, ref: to, oldId } : update));
}

interface ReceivedCommands extends ProposedPush {
  /** Id of the push, once journalled. */
  id: string;
}

/**
 * Checks a push when its commands are known and journals it, in one transaction: the access checked at the ref
 * advertisement may be an hour old, and deleting or moving the repository reads the journal first.
 */
async function checkAndJournal(
  deps: RepositoryDeps,
  journal: PushJournal,
  opened: Found,
  incoming: IncomingPush,
  { id, updates, options, isAtomic, arriving }: ReceivedCommands,
): Promise<PushVerdict> {
  const { viewer, via } = incoming;
  const refuse = (reason: string): PushVerdict => ({ accept: false, reason });
  if (await isDiskLow(opened.path, deps.settings.lowDiskFloorBytes)) {
    return refuse('the server is low on disk space; reading still works');
  }
  const [update] = updates;
  // The git module limits such a push to one command.
  if (update !== undefined && arriving !== undefined && isForReview(update.ref))
    return journalForReview(deps, journal, opened, incoming, { id, update, options, arriving });
  const verdict = await deps.db.write<PushVerdict>(async (tx) => {
    const row = await tx.before.findOneBy(repositorySchema, { id: opened.repository.id });
    const reason = row === null ? 'repository not found' : await preReceiveRefusal(deps, tx, viewer, opened, row);
    if (row === null || reason !== null) return refuse(reason ?? 'repository not found');
    const { refused, onlyForward, linear, signed } = await evaluateRules(deps, tx.before, viewer, row, updates);
    const accepted = withoutRefused(updates, refused);
    if (accepted.length === 0 || (isAtomic && refused.length > 0)) return { ...refuse(atomicFailure), refused };

    const userId = personIdOf(viewer);
    const credential = recordCredential(viewer);
    const deployKey = viewer.kind === 'deployKey' ? viewer.title : null;
    await journal.begin(tx, {
      id,
      repositoryId: row.id,
      userId,
      via,
      credential,
      deployKey,
      options,
      updates: accepted,
    });
    const remarks = options.map((option) => pushOptionWarning(deps, option));
    return { accept: true, refused, remarks, onlyForward, linear, signed };
  });
  if (verdict.accept) verdict.remarks?.push(...(await remarkOnNewBranch(deps, viewer, opened, updates)));
  return verdict;
}

/**
 * A line about a branch that a push creates beside the default branch; several new branches are a mirror or an import.
 */
async function remarkOnNewBranch(
  deps: RepositoryDeps,
  viewer: Viewer,
  opened: Found,
  updates: readonly RefUpdate[],
): Promise<string[]> {
  const { pushedAt, defaultBranch } = opened.repository;
  const created = updates.filter(({ ref, oldId }) => branchOf(ref) !== null && noRef.test(oldId));
  const branch = created.length === 1 ? branchOf(created[0]!.ref) : null;
  if (branch === null || branch === defaultBranch || pushedAt === null) return [];
  const remark = await deps.reviews.port?.remarkOnBranch(viewer, opened, branch).catch((error: unknown) => {
    deps.logger.warn('push.remarks_failed', { repositoryId: opened.repository.id, error });
    return null;
  });
  return remark == null ? [] : [remark];
}

/** Names the credential if it is the cause: its owner may well be able to push. */
function whyReadOnly(viewer: Viewer): string {
  if (viewer.kind === 'person' && viewer.via === 'token' && viewer.scope === 'read')
    return 'This access token can only read; a push needs one that can write.';
  return 'You can read this repository, but not push to it.';
}

/**
 * Finds a repository to push to, and creates it if push-to-create is on. Also allows users who may propose changes:
 * their push is checked ref by ref. Throws `repository_not_found`; `read_only_access` for others who can read but not
 * write; `repository_archived`.
 */
export async function openForPush(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Found> {
  const found = await findOrCreate(deps, viewer, at);
  if (!allows(found.level, 'write') && (await deps.reviews.port?.mayPush(viewer, found)) !== true)
    throw forbidden('read_only_access', whyReadOnly(viewer));
  if (found.repository.archivedAt !== null && found.repository.copiedFrom === null) {
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  }
  return found;
}

/** Only for those who may create it: they see every repository of its owner, so that this reveals no hidden one. */
const notCreatedYet = ({ owner, name }: RepositoryAddress) =>
  notFound(
    'repository_not_found',
    `There is no repository ${owner}/${name} yet. Create it on the page "New repository" (/repos/new), over SSH with ` +
      `the command "repo create ${owner}/${name}", or on the server with "hearth repo create", then push again.`,
  );

async function findOrCreate(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Found> {
  try {
    return await findRepository(deps, viewer, at);
  } catch (error) {
    const absent = isDomainError(error) && error.code === 'not_found';
    if (!absent || viewer.kind !== 'person') throw error;
    // A push to an old path goes to the repository that was there.
    if ((await findRedirect(deps, viewer, at)) !== null) throw error;
    if (!deps.settings.pushToCreate) throw (await mayCreateAt(deps, viewer, at)) ? notCreatedYet(at) : error;
    // The reason for a failed creation must not reveal a hidden repository.
    await createRepository(deps, viewer, { ...at, visibility: 'PRIVATE' }).catch((refusal: unknown) => {
      throw isDomainError(refusal) ? error : refusal;
    });
    return findRepository(deps, viewer, at);
  }
}
