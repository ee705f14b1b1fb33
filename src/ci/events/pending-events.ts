import { MoreThan } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { ReleaseEvent } from '../../releases/index.ts';
import type { CiDeps } from '../deps.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { insertPendingEvent } from '../runs/record-run-event.ts';
import { startRun } from '../runs/start-run.ts';
import { pendingEventSchema } from '../schema/event-schema.ts';
import type { PendingEventRow } from '../schema/event-schema.ts';
import type { Json } from '../workflows/json-value.ts';
import { planRuns } from '../runs/plan-event-runs.ts';
import type { ActivityEvent } from '../runs/plan-event-runs.ts';

const batch = 100;

/** Activity types of releases as workflow files name them; a withdrawn release is a draft again. */
const releaseActions: Record<ReleaseEvent['action'], readonly string[]> = {
  published: ['published', 'released', 'created'],
  updated: ['edited'],
  withdrawn: ['unpublished'],
  deleted: ['deleted'],
};

/**
 * Records a release event in the write of the release; listener for `releases.onEvent`. An event without a user starts
 * nothing, like a push by a task: otherwise a workflow that publishes would trigger itself forever.
 */
export async function recordRelease(tx: Tx, { action, repository, release, actorId }: ReleaseEvent): Promise<void> {
  if (actorId === null) return;
  const shown: Json = {
    id: release.id,
    tag_name: release.tag,
    name: release.title,
    body: release.body,
    target_commitish: release.target,
    draft: release.isDraft,
    prerelease: release.isPrerelease,
    created_at: new Date(release.createdAt).toISOString(),
    published_at: release.publishedAt === null ? null : new Date(release.publishedAt).toISOString(),
  };
  await insertPendingEvent(tx, {
    repositoryId: repository.id,
    event: 'release',
    action,
    details: { release: shown },
    // A deleted or withdrawn release may have no tag.
    ref: action === 'published' || action === 'updated' ? `refs/tags/${release.tag}` : null,
    isTrusted: true,
    actorId,
  });
}

/**
 * Starts the workflows of recorded events, oldest first. The write that creates the runs also deletes the event, so
 * each event starts them once. Drops events whose repository was deleted or cannot be read.
 */
export async function startPendingEvents(deps: CiDeps): Promise<void> {
  for (let done = 0, isMore = true; isMore; ) {
    const rows = await deps.db.read.find(pendingEventSchema, {
      where: { id: MoreThan(done) },
      order: { id: 'ASC' },
      take: batch,
    });
    if (!(await startAll(deps, rows))) return;
    done = rows.at(-1)?.id ?? done;
    isMore = rows.length === batch;
  }
}

/** Returns false if the server is too busy. */
async function startAll(deps: CiDeps, rows: readonly PendingEventRow[]): Promise<boolean> {
  for (const row of rows) {
    try {
      await startPending(deps, row);
    } catch (error) {
      if (isDomainError(error) && error.code === 'unavailable') return false;
      deps.logger.error('ci.event_failed', { repository: row.repositoryId, ciEvent: row.event, error });
      await deps.db.write(({ manager }) => manager.delete(pendingEventSchema, { id: row.id }));
    }
  }
  return true;
}

async function startPending(deps: CiDeps, row: PendingEventRow): Promise<void> {
  const located = (await deps.repositories.locate([row.repositoryId])).get(row.repositoryId);
  const ref = row.ref ?? `refs/heads/${located?.repository.defaultBranch ?? ''}`;
  const sha = located === undefined ? null : await deps.git.refs.resolve(located.path, ref).catch(() => null);
  const planned =
    located === undefined || sha === null
      ? null
      : (await Promise.all(eventsOf(row, { ref, sha }).map((event) => planRuns(deps, located, event)))).find(
          (one) => one !== null,
        );
  await changeRuns(deps, async (tx, after) => {
    const { affected } = await tx.manager.delete(pendingEventSchema, { id: row.id });
    if (affected === 0 || planned == null) return;
    for (const run of planned.runs) await startRun(deps, tx, after, planned.surroundings, run);
  });
}

function eventsOf(row: PendingEventRow, place: { ref: string; sha: string }): ActivityEvent[] {
  const { event, details, isTrusted, actorId } = row;
  const common = { event, ...place, isTrusted, actorId };
  if (event === 'release') {
    const words = releaseActions[row.action as ReleaseEvent['action']];
    return words.map((action) => ({ ...common, action, details: { action, ...details } }));
  }
  const run = details['workflow_run'] as { head_branch: string; name: string; path: string };
  // A workflow without a name is named by its path, on pages and on other forges.
  const workflowNames = [run.name, run.path];
  return [{ ...common, action: row.action, details, followedRun: { workflowNames, branch: run.head_branch } }];
}
