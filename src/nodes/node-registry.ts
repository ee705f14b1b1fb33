import { databaseTime, rows } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import { unavailable } from '../kernel/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import { leaseMs } from './leases.ts';
import { askAllToReload, reloadAsAsked } from './reloads.ts';
import type { NodeReload } from './reloads.ts';
import type { SharedKeys } from './shared-keys.ts';

const seenEveryMs = 5_000;
/** Time after which an absent node is removed from the list. */
const forgottenAfterMs = 7 * 24 * 3_600_000;

/** A server of this database, as the administration shows it. Times: epoch milliseconds. */
export interface ServingNode {
  id: string;
  host: string;
  version: string;
  startedAt: number;
  seenAt: number;
  /** Whether it was seen lately enough to count. */
  isLiving: boolean;
  /** Whether it has said that it ended. */
  hasStopped: boolean;
  /** How far its clock is ahead of that of the database, when it was seen last. */
  clockAheadMs: number;
  /** Tells instance keys apart; says nothing of the key. */
  keyPrint: string | null;
  /** Fingerprint of the first SSH host key that it presents; null where its SSH server is off. */
  hostKey: string | null;
  /** The server of the data folder of this process. */
  isThis: boolean;
}

interface NodesDeps {
  db: Database;
  clock: Clock;
  logger: Logger;
  random: Random;
  /** Prints of the keys in the file, the one in use first; empty when there is none and none may be made. */
  keyPrints: (mayMake: boolean) => readonly string[];
  sharedKeys: Pick<SharedKeys, 'instancePrint' | 'agreeOnInstance'>;
  version: string;
  /** Name of the machine. */
  host: string;
  /** Whether a second node can see the repositories of this one: they are in the store. */
  sharesRepositories: boolean;
  /** Reloads the settings of this process; null in one that does not serve. */
  reload: (() => Promise<object>) | null;
  /** Called once when another process serves under the name of this one: the program must exit. */
  onReplaced: (sentence: string) => void;
}

export interface Nodes {
  /** Whether other processes can serve this database. */
  isShared: boolean;
  /**
   * Before the ports open: from now on this node counts as living. Throws `second_node_needs_store`,
   * `instance_key_differs`, `instance_key_missing`.
   */
  begin(): Promise<void>;
  /** Says which SSH host key this node presents. @param hostKey its fingerprint */
  present(hostKey: string): Promise<void>;
  /** Says that this node has ended, so that the others take over what it has left at once. */
  stop(): Promise<void>;
  /**
   * Asks all living nodes to reload their settings files. Empty where one process has the database for itself.
   * @param waitMs how long it waits for their answers at most
   */
  reloadAll(waitMs: number): Promise<NodeReload[]>;
  /** Those that were seen within a week, by their start. Empty where one process has the database for itself. */
  list(): Promise<ServingNode[]>;
}

const alone: Nodes = {
  isShared: false,
  begin: async () => {},
  present: async () => {},
  stop: async () => {},
  reloadAll: async () => [],
  list: async () => [],
};

/** The rows of `nodes`. A database that nobody else serves has none. */
export function createNodes(deps: NodesDeps): Nodes {
  const { db, logger } = deps;
  const { node } = db;
  if (node === null) return alone;
  const own = node;
  const run = deps.random.uuid();
  const now = databaseTime();
  let timer: NodeJS.Timeout | undefined;

  async function begin(): Promise<void> {
    const [other] = (await list()).filter(({ isLiving, isThis }) => isLiving && !isThis);
    if (other !== undefined && !deps.sharesRepositories) throw secondNodeNeedsStore(other);
    const known = await deps.sharedKeys.instancePrint();
    const prints = deps.keyPrints(other === undefined && known === null);
    const keyPrint = prints[0] ?? null;
    if (other !== undefined && other.keyPrint !== null && other.keyPrint !== keyPrint)
      throw instanceKeyDiffers(other, keyPrint);
    if (keyPrint === null && known !== null) throw instanceKeyMissing();
    if (keyPrint !== null && !(await deps.sharedKeys.agreeOnInstance(prints))) throw instanceKeyOfNobody();
    await db.write(async ({ manager }) => {
      await rows(manager, `DELETE FROM nodes WHERE seen_at < ${now} - ?`, [forgottenAfterMs]);
      await rows(
        manager,
        `INSERT INTO nodes (id, host, version, run, key_print, clock_ahead_ms, started_at, seen_at, until)
          VALUES (?, ?, ?, ?, ?, CAST(? AS BIGINT) - ${now}, ${now}, ${now}, ${now} + CAST(? AS BIGINT))
          ON CONFLICT (id) DO UPDATE SET host = excluded.host, version = excluded.version, run = excluded.run, host_key = NULL,
            reload_done = nodes.reload_asked, reload_result = NULL,
            started_at = excluded.started_at, seen_at = excluded.seen_at, until = excluded.until,
            key_print = excluded.key_print, clock_ahead_ms = excluded.clock_ahead_ms`,
        [node, deps.host, deps.version, run, keyPrint, deps.clock.now(), leaseMs],
      );
    });
    timer = setInterval(
      () => void beSeen().catch((error: unknown) => logger.warn('node.not_seen', { error })),
      seenEveryMs,
    ).unref();
  }

  async function beSeen(): Promise<void> {
    const seen = await db.write(
      ({ manager }) =>
        rows<{ asked: unknown; done: unknown }>(
          manager,
          `UPDATE nodes SET seen_at = ${now}, until = ${now} + ?, clock_ahead_ms = CAST(? AS BIGINT) - ${now}
            WHERE id = ? AND run = ? RETURNING reload_asked AS asked, reload_done AS done`,
          [leaseMs, deps.clock.now(), node, run],
        ),
      { durable: 'with-the-next', scope: `node:${node}` },
    );
    const asked = Number(seen[0]?.asked ?? 0);
    if (deps.reload !== null && asked > Number(seen[0]?.done ?? 0))
      await reloadAsAsked(db, { node: own, asked, reload: deps.reload });
    if (seen.length > 0 || timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    deps.onReplaced(
      `Another server serves this database under the name ${node}: its data folder is a copy. Remove the file node-id from one of them.`,
    );
  }

  async function list(): Promise<ServingNode[]> {
    const found = await rows<ServingNode & { until: number }>(
      db.read,
      `SELECT id, host, version, started_at AS "startedAt", seen_at AS "seenAt", until,
          until > ${now} AS "isLiving", clock_ahead_ms AS "clockAheadMs", key_print AS "keyPrint",
          host_key AS "hostKey"
        FROM nodes WHERE seen_at > ${now} - ? ORDER BY started_at, id`,
      [forgottenAfterMs],
    );
    return found.map(({ until, ...each }) => ({
      ...each,
      startedAt: Number(each.startedAt),
      seenAt: Number(each.seenAt),
      isLiving: Boolean(each.isLiving),
      hasStopped: Number(until) === 0,
      clockAheadMs: Number(each.clockAheadMs),
      isThis: each.id === node,
    }));
  }

  return {
    isShared: true,
    begin,
    list,
    reloadAll: (waitMs) => askAllToReload(db, waitMs),
    async present(hostKey) {
      await db.write(({ manager }) =>
        rows(manager, 'UPDATE nodes SET host_key = ? WHERE id = ? AND run = ?', [hostKey, node, run]),
      );
    },
    async stop() {
      clearInterval(timer);
      if (timer === undefined) return;
      timer = undefined;
      await db
        .write(({ manager }) => rows(manager, 'UPDATE nodes SET until = 0 WHERE id = ? AND run = ?', [node, run]))
        .catch((error: unknown) => logger.warn('node.not_ended', { error }));
    },
  };
}

const instanceKeyDiffers = ({ id, host }: ServingNode, own: string | null) =>
  unavailable(
    'instance_key_differs',
    `The server ${id} on ${host} serves this database, and ${own === null ? 'this data folder has no instance key' : 'its instance key is another one'}: what one has sealed the other could not open. Copy ci/secret.key of its data folder to this one.`,
  );

const lostKey =
  'If it is lost, what it has sealed cannot be read any more; hearth key instance --adopt goes on without.';

const instanceKeyMissing = () =>
  unavailable(
    'instance_key_missing',
    `This database has secrets that are sealed with an instance key, and this server has none. Copy ci/secret.key of another data folder or of a backup to this one, or name it with instance_key_file. ${lostKey}`,
  );

const instanceKeyOfNobody = () =>
  unavailable(
    'instance_key_differs',
    `The instance key of this server is not the one that has sealed the secrets of this database. Copy ci/secret.key of another data folder or of a backup to this one, or name it with instance_key_file. ${lostKey}`,
  );

const secondNodeNeedsStore = ({ id, host, seenAt }: ServingNode) =>
  unavailable(
    'second_node_needs_store',
    `The server ${id} on ${host} serves this database (last seen ${new Date(seenAt).toISOString()}), and repositories in local folders belong to one server. Set git.storage to "store" on all of them, or stop that one; a server that was killed counts as gone after ${leaseMs / 1000} seconds.`,
  );
