import { countPackObjects, judgeMoves } from './only-forward.ts';
import type { GitProcess } from '../processes/process.ts';
import type { PushDeps, PushOutcome, PushRequest } from './push.ts';
import { hasPack, readPushHead } from './push-head.ts';
import type { PushHead } from './push-head.ts';
import { ReportWriter } from './push-report.ts';
import { refusePush } from './refuse-push.ts';
import type { RefusedUpdate } from './refuse-push.ts';
import { drainQuietMs, fitsUsualMemory, runReceivePack, settle, startReceivePack } from './run-receive-pack.ts';
import type { PushTerms } from './run-receive-pack.ts';
import { drain, expectErrors, send } from '../transfer.ts';

/**
 * Receives one push: the second half of the protocol, after the ref advertisement.
 * The commands are read and judged here before git starts (DESIGN §2).
 *
 * Refuses `bad_push`, `bad_packet`, `push_head_too_large`, `push_stalled`, `signed_push`,
 * `git_busy` when no slot came free, and what the observer's `decide` throws; all of them
 * before anything is written to `output`. A push refused by policy or by the observer is
 * no error: the client gets a report. Once git runs, nothing is thrown.
 */
export async function receivePack(deps: PushDeps, request: PushRequest): Promise<PushOutcome> {
  const { path, input, output, signal, observer, stallMs = deps.limits.stallMs } = request;
  expectErrors(input);
  expectErrors(output);
  const head = await readPushHead(input, { maxBytes: deps.limits.maxPushHeadBytes, quietMs: stallMs, signal });
  if (head === null) return { kind: 'nothing' };
  const updates = head.updates.map(({ ref, oldId, newId }) => ({ ref, oldId, newId }));
  const refuse = async (refused: RefusedUpdate[]): Promise<PushOutcome> => {
    await send(output, new ReportWriter(head.capabilities).refusal(refused));
    // The reason is on its way already; the client reads it once its pack is sent.
    if (hasPack(head)) await drain(input, deps.limits.maxDrainBytes, drainQuietMs);
    return { kind: 'refused', updates };
  };

  const refused = await refusePush(head, deps.limits, (refs) => deps.mayAddRefs(path, refs));
  if (refused !== null) return refuse(refused);

  // The slot comes before the journal: a push that finds no slot leaves no trace.
  const release = await deps.slots.take({ repository: path, client: request.client }, signal);
  let ends: Promise<unknown> | null = null;
  try {
    // Starting takes as long as journalling, so both happen at once. Until the push is
    // journalled, git gets nothing: what it leaves behind when it is killed is looked for
    // where the journal says that a push was under way.
    const waiting = startReceivePack(deps, request);
    const judge = async () => {
      const verdict = await observer.decide({ updates, options: head.options });
      const rules = verdict.accept ? (verdict.onlyForward ?? []) : [];
      const source = { path, input, signal, stallMs };
      const moves = await judgeMoves(deps, source, head, rules);
      return { verdict, ...moves, objects: verdict.accept && hasPack(head) ? await countPackObjects(source, head) : 0 };
    };
    const { verdict, broken, unjudged, objects } = await judge().catch((error: unknown) => {
      waiting.stop('aborted');
      throw error;
    });
    const isTooMuch = objects > deps.limits.maxPushObjects;
    const isUsual = unjudged.length === 0 && fitsUsualMemory(objects, deps.limits);
    if (!verdict.accept || broken.length > 0 || isTooMuch || !isUsual) waiting.stop('aborted');
    if (!verdict.accept) {
      release();
      return await refuse(head.updates.map((update) => ({ update, reason: verdict.reason })));
    }
    if (broken.length === 0 && !isTooMuch) {
      // What could not be judged beforehand git refuses itself, for every branch of the push.
      const git = isUsual ? waiting : startReceivePack(deps, request, { forwardOnly: unjudged.length > 0, objects });
      ends = git.exited;
      return await runAndTidy(deps, request, head, git, { remarks: verdict.remarks ?? [], unjudged });
    }
    release();
    const reasons = new Map(broken.map(({ ref, reason }) => [ref, reason]));
    const otherwise = isTooMuch
      ? `one push may bring at most ${deps.limits.maxPushObjects} objects; push in parts`
      : 'another ref of this push was refused';
    const broke = head.updates.map((update) => ({ update, reason: reasons.get(update.ref) ?? otherwise }));
    await settle(
      deps,
      observer,
      broke.map(({ update: { ref }, reason }) => ({ ref, ok: false, reason })),
    );
    return await refuse(broke);
  } finally {
    if (ends === null) release();
    else void ends.then(release);
  }
}

/**
 * A git that was killed leaves its locks and half a pack; a lock would block its branch
 * until the next start. They are removed as soon as no other push to the repository runs.
 */
async function runAndTidy(
  deps: PushDeps,
  request: PushRequest,
  head: PushHead,
  git: GitProcess,
  terms: PushTerms,
): Promise<PushOutcome> {
  const { slots, untidy, logger } = deps;
  const outcome = await runReceivePack(deps, request, head, git, terms);
  if (outcome.kind === 'unreported' && !outcome.clean) untidy.add(request.path);
  if (untidy.has(request.path) && slots.inUseFor(request.path) === 1) {
    untidy.delete(request.path);
    await deps.removeLeftovers(request.path).then(
      (actions) => logger.warn('push.leftovers_removed', { path: request.path, actions }),
      (error: unknown) => logger.error('push.leftovers_stay', { path: request.path, error }),
    );
  }
  return outcome;
}
