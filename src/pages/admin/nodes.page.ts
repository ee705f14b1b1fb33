import { page } from '../app/reply.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

/** The servers of a PostgreSQL database; empty if only one process uses the database. */
export const showNodes: Page<PersonContext, AdminDeps> = async (_context, { nodes, clock }) => {
  const now = clock.now();
  return page('admin/nodes', {
    nodes: (await nodes.list()).map((node) => ({
      id: node.id,
      host: node.host,
      version: node.version,
      isThis: node.isThis,
      state: node.isLiving ? 'serving' : node.hasStopped ? 'stopped' : 'gone',
      started: viewTime(node.startedAt, now),
      seen: viewTime(node.seenAt, now),
      clock: `${node.clockAheadMs < 0 ? '−' : '+'}${(Math.abs(node.clockAheadMs) / 1000).toFixed(1)} s`,
      isClockWrong: Math.abs(node.clockAheadMs) > 1_000,
    })),
  });
};
