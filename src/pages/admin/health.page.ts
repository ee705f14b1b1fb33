import { localAdministrator } from '../../access/index.ts';
import { t } from '../../translation/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewCount, viewSize } from '../app/format-numbers.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

const here = '/admin/health';
const shownMirrors = 50;
const shownPushes = 50;
/** Age from which a restore test counts as too old, the same as in `hearth doctor`. */
const oldMs = 2 * 86_400_000;

/** Readiness and load of the server, the last restore test, and failing mirrors. */
async function healthPage({ query }: PersonContext, deps: AdminDeps, more: object = {}): Promise<PageReply> {
  const { unready, backups, counts, git, clock } = deps;
  const [parts, { newest, lastRestoreTest }, count, mirrors, parked, running, database] = await Promise.all([
    unready(),
    backups.state(),
    counts(),
    viewMirrors(deps),
    viewParkedPushes(deps),
    deps.processFacts(),
    deps.databaseFacts(),
  ]);
  const load = git.load();
  const now = clock.now();
  const busy = ({ running, waiting }: { running: number; waiting: number }): string =>
    t('admin.health.running_running_waiting_waiting', { running, waiting });
  const proven = lastRestoreTest && {
    at: viewTime(Date.parse(lastRestoreTest.at), now),
    repositories: lastRestoreTest.proven,
    total: lastRestoreTest.total,
    isOld: now - Date.parse(lastRestoreTest.at) > oldMs,
  };
  const backup = newest && {
    at: viewTime(newest.madeAt, now),
    size: viewSize(newest.bytes),
    isOld: now - newest.madeAt > oldMs,
    isDamaged: newest.proof !== null && newest.proof.problems.length > 0,
  };
  return page('admin/health', {
    unready: parts,
    // First on the page, because services that run are no proof that everything is well.
    attention: [
      ...(backup === null ? [t('admin.health.there_is_no_backup')] : []),
      ...(backup?.isDamaged === true ? [t('admin.health.the_last_backup_is_damaged')] : []),
      ...(backup?.isOld === true ? [t('admin.health.the_last_backup_is_too_old')] : []),
      ...(backup !== null && (proven === null || proven.isOld) ? [t('admin.health.no_restore_was_proven')] : []),
      ...(parked.length > 0 ? [t('admin.health.pushes_are_parked')] : []),
      ...(mirrors.failingCount > 0 ? [t('admin.health.mirrors_fail')] : []),
    ],
    proven,
    backup,
    mirrors,
    parked: { count: viewCount(count.unannouncedPushes.parked, 'push'), pushes: parked },
    program: {
      version: running.version,
      git: git.version,
      database: `${database.product} ${database.version}, ${viewSize(database.bytes)}`,
      databaseAt: database.server === null ? null : database.at,
      started: viewTime(running.startedAt, now),
      memory: running.residentBytes === null ? null : viewSize(running.residentBytes),
    },
    facts: [
      { name: t('admin.health.users'), value: count.people },
      { name: t('admin.health.organisations'), value: count.organisations },
      { name: t('admin.health.repositories'), value: `${count.repositories}, ${viewSize(count.repositoryBytes)}` },
      { name: 'Git LFS', value: `${viewCount(count.lfsObjects, 'object')}, ${viewSize(count.lfsBytes)}` },
      { name: t('admin.health.in_the_trash'), value: count.inTrash },
      { name: t('admin.health.pushes_in_24_hours'), value: count.pushesToday },
      { name: t('admin.health.clones_and_fetches'), value: busy(load.reads) },
      { name: t('admin.health.pushes'), value: busy(load.writes) },
      { name: t('admin.health.git_processes'), value: load.processes },
      {
        name: t('admin.health.deliveries'),
        value: t('admin.health.waiting_and_failed', {
          waiting: count.deliveries.PENDING,
          failed: count.deliveries.FAILED,
        }),
      },
      { name: t('admin.health.ci_runners'), value: count.runners },
    ],
    notice: viewFlashMessage(query),
    ...more,
  });
}

/** Pushes for which a listener has failed three times; newest first. */
async function viewParkedPushes({ repositories, clock }: AdminDeps) {
  const pushes = await repositories.pushes.listParked(shownPushes);
  const names = await namesOf(
    repositories,
    pushes.map(({ repositoryId }) => repositoryId),
  );
  return pushes.map(({ id, repositoryId, attempts, error, parkedAt }) => ({
    id,
    name: names.get(repositoryId) ?? t('admin.health.in_the_trash_2'),
    attempts,
    error: error ?? t('admin.health.see_the_log'),
    since: viewTime(parkedAt, clock.now()),
  }));
}

async function namesOf(
  repositories: AdminDeps['repositories'],
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await repositories.listByIds(localAdministrator, [...new Set(ids)]);
  return new Map(rows.map(({ id, owner, name }) => [id, `${owner.handle}/${name}`]));
}

/** Private repositories are also named here, as on the page of repositories. */
async function viewMirrors({ mirrors, repositories, clock }: AdminDeps) {
  const { failing, failingCount, count } = await mirrors.listFailing({ limit: shownMirrors });
  const names = await namesOf(
    repositories,
    failing.map(({ repositoryId }) => repositoryId),
  );
  const now = clock.now();
  return {
    count: viewCount(count, 'mirror'),
    isEmpty: count === 0,
    failingCount,
    failing: failing.map(
      ({ repositoryId, direction, host, failures, isPaused, isRunning, lastError, lastOkAt, nextAt }) => ({
        id: repositoryId,
        name: names.get(repositoryId) ?? t('admin.health.in_the_trash_2'),
        // URLs are shown without names or passwords; the host identifies the fault.
        other: `${direction === 'pull' ? 'from' : 'to'} ${host}`,
        failures,
        isPaused,
        isRunning,
        error: lastError,
        lastOk: lastOkAt === null ? null : viewTime(lastOkAt, now),
        next: isPaused ? null : viewTime(nextAt, now),
      }),
    ),
  };
}

export const showAdminHealth: Page<PersonContext, AdminDeps> = (context, deps) => healthPage(context, deps);

/** Schedules a mirror to sync now, even one that waits for a user. */
export const syncFailingMirror: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => {
      await deps.mirrors.sync(context.params.id ?? '');
      return seeOther(withFlashMessage(here, 'mirror-sync'));
    },
    (refusal) => healthPage(context, deps, { refusal }),
  );

/** Notifies the remaining listeners of a parked push. They may need minutes, so the request does not wait. */
export const retryParkedPush: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => {
      const push = await deps.repositories.pushes.unpark(context.params.id ?? '');
      // Failures are in the log, and on this page once it has ended.
      deps.repositories.pushes.announceAgain(push).catch(() => {});
      return seeOther(withFlashMessage(here, 'push-retried'));
    },
    (refusal) => healthPage(context, deps, { refusal }),
  );
