/**
 * Deliveries per second of the queues that an outbox drains: webhooks, to one address and to twenty, and federation
 * over twenty hosts of which one takes connections and never responds.
 * usage: bench/outbox [--rounds N] [--deliveries N]
 *
 * Each drain goes the whole way: claimed, signed, sent over HTTP to a process of its own, recorded. The time of the
 * federation is that of the deliveries to the hosts that respond; the hanging one ends with its timeout.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { localAdministrator } from '../src/access/index.ts';
import { openModules } from '../src/app/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { silentLogger, systemClock, systemRandom } from '../src/kernel/index.ts';
import { enqueueDelivery } from '../src/webhooks/enqueue-delivery.ts';
import { median, readNumberOption, formatRow as tableRow } from './harness.ts';

const hosts = 20;
const hangingHost = `127.0.1.${hosts}`;
/** A push of some fifteen commits. */
const bodyBytes = 7_700;

/** How often something was done each second, and processor time of this program for each, in milliseconds. */
interface Measured {
  perS: number;
  cpuMs: number;
}

function meter(): (count: number) => Measured {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return (count) => {
    const { user, system } = process.cpuUsage(before);
    return { perS: (count / (performance.now() - startedAt)) * 1000, cpuMs: (user + system) / 1000 / count };
  };
}

/** Responds with 202 to whatever comes, except at the address that hangs. */
function serveAsPeers(): void {
  const response = Buffer.from('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n');
  const server = createServer((socket) => {
    let pending: Buffer = Buffer.alloc(0);
    let toSkip = 0;
    socket.on('error', () => {});
    if (socket.localAddress === hangingHost) return void socket.resume();
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      for (;;) {
        if (toSkip === 0) {
          const end = pending.indexOf('\r\n\r\n');
          if (end === -1) return;
          const length = /content-length: (\d+)/i.exec(pending.toString('latin1', 0, end));
          toSkip = end + 4 + Number(length?.[1] ?? 0);
        }
        if (pending.length < toSkip) return;
        pending = pending.subarray(toSkip);
        toSkip = 0;
        socket.write(response);
      }
    });
  });
  server.listen(0, '0.0.0.0', () => process.send!((server.address() as AddressInfo).port));
}

if (process.argv[2] === 'peers') serveAsPeers();
else await measure(readNumberOption('rounds', 5), readNumberOption('deliveries', 2_000));

function responseOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}

async function measure(rounds: number, count: number): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
  const peers = fork(import.meta.filename, ['peers']);
  const port = await responseOf<number>(peers);
  const { config } = loadConfig({
    env: {
      SERVICE_DATA_DIR: folder,
      SERVICE_SSH_ENABLED: 'false',
      SERVICE_WEBHOOKS_ALLOWED_HOSTS: `127.0.0.1:${port}`,
      SERVICE_FEDERATION_ENABLED: 'true',
      SERVICE_FEDERATION_BASE_URL: 'http://127.0.0.1:9',
      SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
      SERVICE_FEDERATION_PEER_ALLOWLIST: Array.from({ length: hosts }, (_, index) => `127.0.1.${index + 1}`).join(','),
    },
    cwd: folder,
    readFile: () => '',
  });
  const modules = await openModules(config, { logger: silentLogger, clock: systemClock }, 'always');
  const { db, federation, webhooks } = modules;
  try {
    await modules.accounts.addPerson({ username: 'alice' });
    const repository = await modules.repositories.create(localAdministrator, {
      owner: 'alice',
      name: 'tool',
      visibility: 'PUBLIC',
    });
    await federation.publications.actor('/ap/repos/alice/tool');
    const scope = { kind: 'repository', id: repository.id } as const;
    const url = `http://127.0.0.1:${port}/hook`;
    const ids: string[] = [];
    for (let at = 0; at < hosts; at++)
      ids.push((await webhooks.add(localAdministrator, scope, { url, secret: 'secret', events: ['push'] })).id);
    const payload = JSON.stringify({ padding: 'x'.repeat(bodyBytes) });

    const webhookRate = async (targets: readonly string[]): Promise<Measured> => {
      await db.write(async (tx) => {
        for (let at = 0; at < count; at++)
          await enqueueDelivery({ random: systemRandom, outbox: modules.outbox }, tx, {
            webhookId: targets[at % targets.length]!,
            event: 'push',
            payload,
          });
      });
      const measured = meter();
      const sent = await webhooks.drain();
      const rate = measured(sent);
      const failed = (await webhooks.listDeliveries(scope, targets[0]!, { limit: 100 })).filter(
        ({ state }) => state !== 'DELIVERED',
      );
      if (sent !== count || failed.length > 0) throw new Error(`${sent} of ${count} were sent`);
      return rate;
    };

    const federationRate = async (): Promise<Measured> => {
      await db.write(async ({ manager, now }) => {
        const id = randomUUID();
        await manager.query('DELETE FROM federation_delivery');
        await manager.query('DELETE FROM federation_peers');
        for (let at = 1; at <= hosts; at++)
          await manager.query('INSERT INTO federation_peers (host, last_success_at) VALUES (?, ?)', [
            `127.0.1.${at}:${port}`,
            now,
          ]);
        await manager.query(`INSERT INTO federation_outbox VALUES (?, '/ap/repos/alice/tool', ?, 'Push', 1, ?, ?)`, [
          id,
          repository.id,
          payload,
          now,
        ]);
        await manager.query(
          `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
           INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, next_attempt_at, created_at)
           SELECT ?, 'http://127.0.1.' || (1 + i % ${hosts}) || ':${port}/inbox/' || i, '127.0.1.' || (1 + i % ${hosts}) || ':${port}', 'PENDING', ?, ? FROM n`,
          [count, id, now, now],
        );
      });
      const expected = count - Math.floor(count / hosts);
      const before = federation.measures.attempts.delivered;
      const measured = meter();
      const drained = federation.drain();
      while (federation.measures.attempts.delivered - before < expected) await wait(2);
      const rate = measured(expected);
      await drained;
      return rate;
    };

    const rates = new Map<string, Measured[]>();
    for (let round = 0; round <= rounds; round++) {
      for (const [name, rate] of [
        [`webhooks, ${count} to ${hosts} addresses`, await webhookRate(ids)],
        [`webhooks, ${count} to one address`, await webhookRate(ids.slice(0, 1))],
        [`federation, ${count} to ${hosts} hosts, one hangs`, await federationRate()],
      ] as const)
        if (round > 0) rates.set(name, [...(rates.get(name) ?? []), rate]);
    }
    console.log(`${tableRow(['What', 'Per second (min–max)', 'CPU ms each'])}\n${tableRow(['---', '---:', '---:'])}`);
    for (const [name, all] of rates) {
      const perS = all.map((each) => each.perS);
      const range = `(${Math.round(Math.min(...perS))}–${Math.round(Math.max(...perS))})`;
      const cpu = median(all.map(({ cpuMs }) => cpuMs)).toFixed(3);
      console.log(tableRow([name, `${Math.round(median(perS))} ${range}`, cpu]));
    }
  } finally {
    peers.kill();
    await modules.close();
    rmSync(folder, { recursive: true });
  }
}
