import { viewerWithCredential } from '../../access/index.ts';
import { rowBy } from '../../db/index.ts';
import type { AnnouncedPush } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { editPull } from '../lifecycle/edit-pull.ts';
import { mergeWhenReady } from '../merging/merge-when-ready.ts';
import { pullPushSchema } from '../schema/pull-schema.ts';
import type { PullPushRow } from '../schema/pull-schema.ts';
import { roundSchema } from '../schema/round-schema.ts';
import { changeRequests } from '../attention/review-requests.ts';
import { labelsFor, pullHead, rowsOfPush } from './record-pushed-round.ts';
import type { PushedRound } from './record-pushed-round.ts';
import { readPushOptions } from './read-push-options.ts';
import { pullByNumber } from './choose-pull.ts';

/**
 * Applies the other push options one by one once the round is durable. An option that fails is logged, and the others
 * continue: the page shows the user the result. The rows of the push are deleted last, so after a crash the options are
 * applied again (`finishPushOptions`); this is idempotent. Values that a later push may have set stay.
 */
export async function applyPushOptions(
  deps: PullDeps,
  push: AnnouncedPush,
  pushed: readonly Pick<PushedRound, 'viewer' | 'at' | 'headOid' | 'isFirst'>[],
): Promise<void> {
  for (const one of pushed) await applyTo(deps, push, one);
  await deps.db.write(({ manager }) => manager.delete(pullPushSchema, { pushId: push.id }));
}

async function applyTo(
  deps: PullDeps,
  push: AnnouncedPush,
  { viewer, at, headOid, isFirst }: Pick<PushedRound, 'viewer' | 'at' | 'headOid' | 'isFirst'>,
): Promise<void> {
  const known = await pullByNumber(deps.db.read, push.repository.id, at.number);
  if (known !== null && known.issue.state === 'OPEN') {
    const { title, description, isDraft, labels, reviewers, merge } = readPushOptions(push.options);
    const isLast = known.pull.headOid === headOid;
    const attempt = (option: string, work: () => Promise<unknown>): Promise<void> =>
      work().then(
        () => {},
        (error: unknown) => deps.logger.info('pull.push_option_refused', { pushId: push.id, option, error }),
      );
    if (isLast && !isFirst && (title !== null || description !== null))
      await attempt('title', () =>
        deps.issues.update(viewer, at, {
          ...(title === null ? {} : { title }),
          ...(description === null ? {} : { body: description }),
        }),
      );
    if (isLast && !isFirst && isDraft !== null) await attempt('draft', () => editPull(deps, viewer, at, { isDraft }));
    if (!isFirst && labels.length > 0)
      await attempt('label', async () => {
        const found = await deps.repositories.find(viewer, at.owner, at.name);
        const add = await labelsFor(deps, viewer, found, labels);
        if (add.length > 0) await deps.issues.triage(viewer, at, { labels: { add } });
      });
    if (reviewers.length > 0) await attempt('reviewer', () => changeRequests(deps, viewer, at, { add: reviewers }));
    const style = merge === 'usual' ? 'MERGE' : merge;
    if (isLast && style !== null)
      await attempt('merge', () => mergeWhenReady(deps, viewer, at, { style, round: known.pull.lastRound }));
  }
}

/** Rows per batch of the task. */
const batch = 100;

/**
 * At start and in the scheduled task: applies the options of pushes whose rounds are recorded but whose process died,
 * and removes the rows of pushes that git rejected.
 * @param olderThanMs younger pushes are left to their own process
 */
export async function finishPushOptions(deps: PullDeps, { olderThanMs }: { olderThanMs: number }): Promise<void> {
  const rows = await deps.db.read
    .createQueryBuilder(pullPushSchema, 'f')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .where('f.created_at < :before', { before: deps.clock.now() - olderThanMs })
    .andWhere('p.announced_at IS NOT NULL')
    .orderBy('f.created_at')
    .limit(batch)
    .getMany();
  for (const row of new Map(rows.map((each) => [each.pushId, each])).values())
    await finish(deps, row).catch((error: unknown) =>
      deps.logger.warn('pull.push_options_failed', { pushId: row.pushId, error }),
    );
}

async function finish(deps: PullDeps, { pushId, userId, repositoryId }: PullPushRow): Promise<void> {
  const push = await deps.repositories.pushes.find(pushId);
  const update = push?.updates.find(({ ref }) => pullHead.test(ref));
  const located = (await deps.repositories.locate([repositoryId])).get(repositoryId);
  // In the trash; applied once it is restored.
  if (located === undefined) return;
  if (push === null || update === undefined) {
    await deps.db.write(({ manager }) => manager.delete(pullPushSchema, { pushId }));
    return;
  }
  const viewer = viewerWithCredential(userId, push.credential, repositoryId);
  const pushed: Parameters<typeof applyPushOptions>[2][number][] = [];
  for (const { number, oid } of await rowsOfPush(deps, pushId)) {
    const known = await pullByNumber(deps.db.read, repositoryId, number);
    if (known === null) continue;
    const first = await rowBy(deps.db.read, roundSchema, { issueId: known.issue.id, round: 1 });
    const at = { owner: located.owner.handle, name: located.repository.name, number };
    pushed.push({ viewer, at, headOid: oid ?? update.newId, isFirst: first?.pushId === pushId });
  }
  await applyPushOptions(deps, push, pushed);
}
