import { isDomainError } from '../../kernel/index.ts';
import type { GitProcess } from '../processes/git-runner.ts';
import { expectErrors } from '../transfer.ts';
import { sendPushResponse } from './send-push-response.ts';
import { atomicFailure, isAtomic, checkRefs, refuseTheRest, summarise } from './check-refs.ts';
import type { Refusals } from './check-refs.ts';
import { countPackObjects, checkFastForward } from './fast-forward-check.ts';
import { checkLinear } from './linear-check.ts';
import { checkSigned } from './signed-check.ts';
import type { VerifyCommits } from './signed-check.ts';
import type { FastForwardRule } from './fast-forward-check.ts';
import type { ProposedPush, PushDeps, PushOutcome, PushRequest, PushVerdict } from './push.ts';
import { hasPack, readPushHeader } from './push-header.ts';
import type { PushHeader, RawUpdate, RefUpdate } from './push-header.ts';
import { isPushForReview, readIncomingCommits, rewriteCommand } from './push-for-review.ts';
import { IncomingRefs } from './incoming-refs.ts';
import type { RefGrant } from './ref-quota.ts';
import { ReportWriter } from './report-status.ts';
import { fitsUsualMemory, isBulkPush, runReceivePack, runPostReceive, startReceivePack } from './run-receive-pack.ts';
import type { PushPlan } from './run-receive-pack.ts';

/**
 * Receives one push: the second half of the protocol, after the ref advertisement. The commands are parsed and checked
 * here one by one before git starts: refused ones are reported, and git gets the others. With `--atomic` one refused
 * command refuses all. Throws `bad_push`, `bad_packet`, `push_head_too_large`, `push_stalled`, `signed_push`,
 * `git_busy` if no slot became free, and errors of the hooks' `preReceive`; all of them before anything is written to
 * `output`. A command refused by policy or by a hook is not an error: the client gets a report. Once git runs, nothing
 * is thrown.
 */
export async function receivePack(deps: PushDeps, request: PushRequest): Promise<PushOutcome> {
  const { limits } = deps;
  const { path, input, output, signal, stallMs = limits.stallMs, extraFolders = [] } = request;
  expectErrors(input);
  expectErrors(output);
  const head = await readPushHeader(input, { maxBytes: limits.maxPushHeadBytes, quietMs: stallMs, signal });
  if (head === null) return { kind: 'nothing' };

  let grant: RefGrant | null = null;
  const grantRefs = async (wanted: number) => (grant = await deps.grantRefs(path, wanted)).refs;
  try {
    const refusals = await checkRefs(head, { limits, extraFolders, grant: grantRefs });
    return await carryOut(deps, request, head, refusals);
  } finally {
    (grant as RefGrant | null)?.release();
  }
}

/** Passes the permitted commands of a push to git. */
async function carryOut(
  deps: PushDeps,
  request: PushRequest,
  head: PushHeader,
  refusals: Refusals,
): Promise<PushOutcome> {
  const { limits } = deps;
  const { path, signal } = request;
  if (isAtomic(head) && refusals.size > 0) refuseTheRest(refusals, head.updates, atomicFailure);
  const permitted = withoutRefused(head.updates, refusals);
  if (permitted.length === 0) return refuse(deps, request, head, refusals);

  // The slot comes before the journal: a push without a slot leaves no trace.
  const release = await deps.slots.acquire({ repository: path, client: request.client }, signal);
  let ends: Promise<unknown> | null = null;
  try {
    // Starting git takes as long as journalling, so both run concurrently. git gets no input until the push is
    // journalled: recovery looks for leftovers of killed processes where the journal names a push.
    const isBulk = isBulkPush(permitted);
    // Only the hook determines the ref that a push for review writes.
    const waiting = permitted.some(isPushForReview) ? null : startReceivePack(deps, request, { isBulk });
    const checked = await checkPush(deps, request, head, refusals, permitted).catch((error: unknown) => {
      waiting?.stop('aborted');
      throw error;
    });
    const { journalled, verdict, unjudged, objects } = checked;
    const updates = withoutRefused(journalled, refusals);
    const isUsual = unjudged.length === 0 && fitsUsualMemory(objects, limits);
    if (updates.length === 0 || !isUsual) waiting?.stop('aborted');
    if (updates.length === 0) {
      release();
      if (journalled.length > 0) await runPostReceive(deps, request.hooks, refusedResults(journalled, refusals));
      return await refuse(deps, request, head, refusals);
    }
    // git itself enforces rules that could not be checked before, for every branch of the push.
    const git =
      isUsual && waiting !== null
        ? waiting
        : startReceivePack(deps, request, {
            forwardOnly: unjudged.length > 0,
            objects,
            isBulk,
            ...(verdict.accept
              ? { pullRef: verdict.rewritten?.to ?? null, maxPackBytes: verdict.maxPackBytes ?? null }
              : {}),
          });
    ends = git.exited;
    const incoming = isBulk ? IncomingRefs.of(updates) : null;
    const remarks = await summarise(refusals);
    const remarksOnSuccess = (verdict.accept && verdict.remarks) || [];
    return await runAndTidy(
      deps,
      request,
      { head, refusals, journalled, updates, remarks, remarksOnSuccess, unchecked: unjudged, isBulk, incoming },
      git,
    );
  } finally {
    if (ends === null) release();
    else void ends.then(release);
  }
}

interface CheckedPush {
  verdict: PushVerdict;
  /** The commands in the journal, including those refused later because of their commits. */
  journalled: RawUpdate[];
  unjudged: FastForwardRule[];
  /** Object count in the pack's header; 0 if git gets no pack. */
  objects: number;
}

/** Calls the hook and checks its rules about commits. Adds to `refusals`. */
async function checkPush(
  deps: PushDeps,
  { path, input, signal, hooks, stallMs = deps.limits.stallMs }: PushRequest,
  head: PushHeader,
  refusals: Refusals,
  permitted: readonly RawUpdate[],
): Promise<CheckedPush> {
  const { maxPushObjects } = deps.limits;
  const byRef = new Map(permitted.map((update) => [update.ref, update]));
  const refuseRefs = (refs: readonly { ref: string; reason: string }[] = []) => {
    for (const { ref, reason } of refs) refusals.set(byRef.get(ref)!, reason);
  };

  const source = { path, input, signal, stallMs };
  const forReview = permitted.find(isPushForReview);
  const proposed: ProposedPush = {
    updates: permitted.map(plainUpdate),
    options: head.options,
    isAtomic: isAtomic(head),
    ...(forReview === undefined ? {} : { arriving: await readIncomingCommits(deps, source, head, forReview) }),
  };
  const verdict = await hooks.preReceive(proposed).catch(refusedForNow);
  refuseRefs(verdict.refused);
  if (!verdict.accept) {
    refuseTheRest(refusals, permitted, verdict.reason);
    return { verdict, journalled: [], unjudged: [], objects: 0 };
  }
  if (verdict.rewritten !== undefined) rewriteCommand(permitted, verdict.rewritten);
  const journalled = withoutRefused(permitted, refusals);
  const { broken, unjudged } = await checkFastForward(deps, source, head, journalled, verdict.onlyForward ?? []);
  refuseRefs(broken);
  const merging = await checkLinear(deps, source, head, withoutRefused(journalled, refusals), verdict.linear ?? []);
  refuseRefs(merging);
  const unsigned = await checkSigned(deps, source, head, withoutRefused(journalled, refusals), {
    rules: verdict.signed ?? [],
    verify: hooks.verifyCommits ?? noneIsVerified,
  });
  refuseRefs(unsigned);
  if (broken.length + merging.length + unsigned.length > 0 && isAtomic(head))
    refuseTheRest(refusals, journalled, atomicFailure);
  const objects = hasPack({ updates: journalled }) ? await countPackObjects(source, head) : 0;
  if (objects > maxPushObjects)
    refuseTheRest(refusals, journalled, `one push may bring at most ${maxPushObjects} objects; push in parts`);
  return { verdict, journalled, unjudged, objects };
}

const noneIsVerified: VerifyCommits = async ([commit]) =>
  commit === undefined ? null : { oid: commit.oid, why: 'unavailable' };

/** Turns a temporary obstacle, such as a full disk, into a message for the client. */
function refusedForNow(error: unknown): PushVerdict {
  if (isDomainError(error) && error.code === 'unavailable') return { accept: false, reason: error.message };
  throw error;
}

/** Reports a push that git does not receive. */
async function refuse(
  { limits }: PushDeps,
  request: PushRequest,
  head: PushHeader,
  refusals: Refusals,
): Promise<PushOutcome> {
  const writer = new ReportWriter(head.capabilities);
  const [reason = ''] = refusals.values();
  await sendPushResponse(request, limits, {
    whole: Buffer.concat([writer.remarks(await summarise(refusals)), await writer.refusal(head.updates, refusals)]),
    brief: writer.failure(`The push was refused: ${reason}`),
    expectsMore: hasPack(head),
  });
  return { kind: 'refused', updates: head.updates.map(plainUpdate) };
}

const plainUpdate = ({ ref, oldId, newId }: RawUpdate): RefUpdate => ({ ref, oldId, newId });

const withoutRefused = (updates: readonly RawUpdate[], refusals: Refusals): RawUpdate[] =>
  updates.filter((update) => !refusals.has(update));

const refusedResults = (updates: readonly RawUpdate[], refusals: Refusals) =>
  updates.map((update) => ({ ref: update.ref, ok: false, reason: refusals.get(update)! }));

/**
 * A killed git leaves its locks and half a pack; a lock would block its branch until the next start. Leftovers are
 * removed as soon as no other push to the repository runs.
 */
async function runAndTidy(deps: PushDeps, request: PushRequest, plan: PushPlan, git: GitProcess): Promise<PushOutcome> {
  const { slots, needsCleanup, logger } = deps;
  const outcome = await runReceivePack(deps, request, plan, git);
  if (outcome.kind === 'unreported' && !outcome.clean) needsCleanup.add(request.path);
  if (needsCleanup.has(request.path) && slots.heldBy('repository', request.path) === 1) {
    needsCleanup.delete(request.path);
    await deps.removeLeftovers(request.path).then(
      (actions) => logger.warn('push.leftovers_removed', { path: request.path, actions }),
      (error: unknown) => logger.error('push.leftovers_stay', { path: request.path, error }),
    );
  }
  return outcome;
}
