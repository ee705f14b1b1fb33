import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Person } from '../../accounts/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid, noRef, notFound, shortRef } from '../../kernel/index.ts';
import { findRepository } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';
import { parseBranchName } from '../branch-name.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { requireRefWrite } from './require-ref-write.ts';
import { unverifiedIn } from '../rules/verify-commits.ts';
import type { Unverified } from '../rules/verify-commits.ts';
import { evaluateRules } from '../rules/evaluate-rules.ts';
import { sentence } from '../rules/describe-rule.ts';
import type { RefUpdate } from './push-journal.ts';
import { pushUpdateSchema } from '../schema/push-schema.ts';
import type { AppliedPush, ServerPush } from './apply-updates.ts';

/** A tip that a ref lost by a forced push or a deletion, and that can be restored. */
export interface LostTip {
  /** `<id of the push>.<position of the command>`. */
  id: string;
  ref: string;
  /** The object that the ref named. */
  oldId: string;
  /** The new value; zeros for a deletion. */
  newId: string;
  forced: boolean;
  /** The current value of the ref; null if absent. */
  current: string | null;
  /** The user who did it; null for the server, the command line, or a deleted account. */
  person: Person | null;
  /** Epoch milliseconds. */
  lostAt: number;
  expiresAt: number;
}

interface LostRow {
  pushId: string;
  position: number;
  ref: string;
  oldId: string;
  newId: string;
  forced: number;
  userId: string | null;
  lostAt: number;
  expiresAt: number;
}

/** Limit of the list for readability. */
const maxListed = 500;
const heads = 'refs/heads/';

/** The tips that can be restored, the newest loss first. */
export async function listLostTips(
  deps: RepositoryDeps,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
): Promise<LostTip[]> {
  const rows = await deps.db.read
    .createQueryBuilder(pushUpdateSchema, 'u')
    .innerJoin('pushes', 'p', 'p.id = u.push_id')
    .select([
      'u.push_id AS "pushId"',
      'u.position AS "position"',
      'u.ref AS "ref"',
      'u.old_id AS "oldId"',
      'u.new_id AS "newId"',
    ])
    .addSelect([
      'u.forced AS "forced"',
      'p.user_id AS "userId"',
      'p.created_at AS "lostAt"',
      'u.kept_until AS "expiresAt"',
    ])
    .where('p.repository_id = :id AND u.kept_until > :now', { id: repository.id, now: deps.clock.now() })
    .orderBy('p.created_at', 'DESC')
    .addOrderBy('p.id', 'DESC')
    .addOrderBy('u.position')
    .limit(maxListed)
    .getRawMany<LostRow>();
  const [refs, people] = await Promise.all([
    deps.git.refs.list(path),
    deps.accounts.peopleById(rows.flatMap(({ userId }) => userId ?? [])),
  ]);
  return rows.map(({ pushId, position, userId, forced, ...row }) => ({
    ...row,
    id: `${pushId}.${position}`,
    forced: Boolean(forced),
    current: refs.get(row.ref) ?? null,
    person: userId === null ? null : (people.get(userId) ?? null),
  }));
}

export interface UndoRequest {
  /** Id of a lost tip. */
  id: string;
  /** Name of a new branch for the tip; by default the ref itself is restored. */
  as?: string | undefined;
  /** The value of the ref that the user saw, zeros for absent; defaults to the current value. */
  expected?: string | undefined;
}

interface Undone {
  ref: string;
  /** Zeros if the ref was absent. */
  oldId: string;
  newId: string;
}

const idShape = /^([0-9a-f-]{36})\.(0|[1-9]\d{0,5})$/;

/**
 * Restores the lost tip of a ref, or creates a new branch from it, as an ordinary push: journalled, announced, and
 * undoable itself. Throws `repository_not_found` without write access, `repository_archived`, `tip_not_found`,
 * `nothing_to_undo`, `ref_moved`, `branch_exists`, `invalid_branch_name`, `branch_protected` if a rule forbids the
 * viewer this push, `push_refused`.
 */
export async function undoPush(
  deps: RepositoryDeps,
  apply: (found: Pick<Found, 'repository' | 'path'>, push: ServerPush) => Promise<AppliedPush>,
  viewer: Viewer,
  at: RepositoryAddress,
  { id, as, expected }: UndoRequest,
): Promise<Undone> {
  const found = await findRepository(deps, viewer, at, 'write');
  const tip = await lostTip(deps, found, id);
  const refs = await deps.git.refs.list(found.path);
  const zeros = '0'.repeat(tip.oldId.length);
  const update: RefUpdate =
    as === undefined
      ? { ref: tip.ref, oldId: refs.get(tip.ref) ?? zeros, newId: tip.oldId }
      : { ref: heads + parseBranchName(as), oldId: zeros, newId: tip.oldId };
  if (as !== undefined && refs.has(update.ref))
    throw conflict('branch_exists', `A branch named ${as} already exists.`, { field: 'as' });
  if (as === undefined) {
    if (expected !== undefined && expected !== update.oldId) throw moved(tip.ref);
    if (update.oldId === update.newId)
      throw conflict('nothing_to_undo', `${shortRef(tip.ref)} already points to that commit.`);
  }
  const isForward = noRef.test(update.oldId) || (await deps.git.refs.isForward(found.path, update.oldId, update.newId));
  const hasMerges = await deps.git.refs.hasNewMerges(found.path, update);
  const unverified = await unverifiedIn(deps, viewer, found, update);
  const userId = personIdOf(viewer);
  const { results } = await apply(found, {
    via: 'undo',
    userId,
    updates: [update],
    authorize: (tx, row) => requireMayRestore(deps, tx, viewer, row, update, { isForward, hasMerges, unverified }),
  });
  if (results[0]?.ok !== true) throw moved(update.ref);
  deps.logger.info('push.undone', {
    repositoryId: found.repository.id,
    ref: update.ref,
    from: update.oldId,
    to: update.newId,
    by: viewerForLog(viewer),
  });
  return update;
}

const moved = (ref: string) => conflict('ref_moved', `${shortRef(ref)} has changed. Check it before you restore it.`);

async function lostTip(
  deps: RepositoryDeps,
  { repository }: Found,
  id: string,
): Promise<{ ref: string; oldId: string }> {
  const [, pushId, position] = idShape.exec(id) ?? [];
  const absent = notFound(
    'tip_not_found',
    'There is nothing to restore under this id; overwritten commits are kept for a limited time.',
  );
  if (pushId === undefined) throw absent;
  const tip = await deps.db.read
    .createQueryBuilder(pushUpdateSchema, 'u')
    .innerJoin('pushes', 'p', 'p.id = u.push_id')
    .where('u.push_id = :pushId AND u.position = :position', { pushId, position: Number(position) })
    .andWhere('p.repository_id = :id AND u.kept_until > :now', { id: repository.id, now: deps.clock.now() })
    .getOne();
  if (tip === null) throw absent;
  return tip;
}

/** Facts about the move that the objects show. */
interface Shown {
  isForward: boolean;
  hasMerges: boolean;
  unverified: Unverified | null;
}

async function requireMayRestore(
  deps: RepositoryDeps,
  tx: Tx,
  viewer: Viewer,
  row: Repository,
  update: RefUpdate,
  { isForward, hasMerges, unverified }: Shown,
): Promise<void> {
  await requireRefWrite(deps, tx, viewer, row);
  const { refused, onlyForward, linear, signed } = await evaluateRules(deps, tx.before, viewer, row, [update]);
  const unsigned =
    unverified === null ? [] : signed.map(({ reason }) => ({ reason: reason(unverified.oid, unverified.why) }));
  const [broken] = [...refused, ...(isForward ? [] : onlyForward), ...(hasMerges ? linear : []), ...unsigned];
  if (broken === undefined) return;
  throw invalid('branch_protected', `${sentence(broken.reason)} Restore the commits under another name.`, {
    field: 'as',
  });
}
