import type { Logger } from '../kernel/index.ts';
import type { InstanceMark } from '../repository-store/index.ts';
import type { People } from './open-people.ts';
import type { Code } from './open-repositories.ts';
import type { Connections } from './open-connections.ts';
import type { Storage } from './open-storage.ts';

/** A part of the server with a lifecycle. */
export interface Part {
  name: string;
  /** Before the ports open: restores a consistent state after a crash. */
  recover?: () => unknown;
  /** Once the ports are open, in the background: a failure is logged and stops nothing. */
  start?: () => unknown;
  /** At the beginning of a stop, while transports still respond: starts nothing new. */
  halt?: () => void;
  /** Ends running work and closes files. */
  stop?: () => unknown;
}

/** The modules with a lifecycle; `openModules` has them before they are `Modules`. */
type Living = Storage & People & Code & Connections;

/**
 * The parts in the order in which they recover and start; they stop in reverse, so that a part stops before its
 * dependencies.
 */
export function partsOf(modules: Living, bucket: InstanceMark | null): Part[] {
  const { accounts, audit, avatars, ci, codeSearch, db, federation, git, imageProxy, issues, mail } = modules;
  const { mirrors, notifications, objects, outbox, pulls, releases, search } = modules;
  return [
    { name: 'db', stop: () => db.close() },
    { name: 'nodes', recover: () => modules.nodes.begin(), stop: () => modules.nodes.stop() },
    { name: 'bucket', recover: () => bucket?.begin() },
    { name: 'audit', stop: () => audit.flush() },
    { name: 'issue-index', stop: () => modules.issueIndex.close() },
    { name: 'search', recover: () => search.recover(), start: () => search.catchUp(), stop: () => search.close() },
    { name: 'accounts', stop: () => accounts.stop() },
    { name: 'git', start: () => useSpawnerSoon(git), stop: () => git.stop() },
    { name: 'code-search', stop: () => codeSearch.stop() },
    { name: 'objects', recover: () => objects.sweep(), stop: () => modules.closeObjects() },
    { name: 'image-proxy', stop: () => imageProxy.stop() },
    { name: 'notifications', start: () => notifications.tell(), stop: () => notifications.stop() },
    { name: 'avatars', recover: () => avatars.recover() },
    repositoriesPart(modules),
    { name: 'issues', start: () => issues.recoverEntries(), stop: () => issues.stop() },
    { name: 'pulls', start: () => pulls.queue.advanceAll(), stop: () => pulls.stop() },
    { name: 'single-sign-on', stop: () => modules.singleSignOn.stop() },
    { name: 'federation', recover: () => federation.recover(), stop: () => federation.stop() },
    { name: 'mirrors', recover: () => mirrors.recover(), stop: () => mirrors.stop() },
    { name: 'imports', recover: () => modules.imports.recover(), stop: () => modules.imports.stop() },
    { name: 'mail', stop: () => mail.stop() },
    { name: 'webhooks', stop: () => modules.webhooks.stop() },
    { name: 'outbox', recover: () => outbox.recover(), stop: () => outbox.stop() },
    { name: 'workers', stop: () => modules.workers.stop() },
    { name: 'ci', recover: () => ci.recover(), start: () => ci.advanceRuns(), stop: () => ci.stop() },
    { name: 'releases', stop: () => releases.saveDownloads() },
    { name: 'packages', stop: () => modules.packages.saveDownloads() },
  ];
}

/** Pull requests are updated once all of these pushes are announced. */
function repositoriesPart({ logger, pulls, repositories }: Living): Part {
  let isHalted = false;
  return {
    name: 'repositories',
    recover: () => repositories.recover(),
    async start() {
      await repositories.pushes.recover();
      if (isHalted) return;
      await pulls
        .finishPushOptions({ olderThanMs: 0 })
        .catch((error: unknown) => logger.error('pull.push_options_failed', { error }));
      if (!isHalted) await pulls.recover();
    },
    halt() {
      isHalted = true;
      repositories.pushes.abortRecovery();
    },
    stop: () => repositories.stop(),
  };
}

/** The spawner is a separate process, which would delay the start. */
function useSpawnerSoon(git: Living['git']): void {
  setTimeout(() => git.useSpawner(), 500).unref();
}

/** Sequentially; the first failure ends the start. */
export async function recoverAll(parts: readonly Part[]): Promise<void> {
  for (const { recover } of parts) await recover?.();
}

/** In the background: neither recovery of pushes nor a workflow file may prevent the server from starting. */
export function startAll(parts: readonly Part[], logger: Logger): void {
  for (const { name, start } of parts)
    void (async () => start?.())().catch((error: unknown) => logger.error('part.start_failed', { part: name, error }));
}

export function haltAll(parts: readonly Part[]): void {
  for (const { halt } of parts) halt?.();
}

export async function stopAll(parts: readonly Part[]): Promise<void> {
  for (const { stop } of parts.toReversed()) await stop?.();
}
