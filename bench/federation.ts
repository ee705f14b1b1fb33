/**
 * Deliveries and inbox verifications per second, beside the bound that RSA sets on this machine in the same run.
 * usage: bench/federation [--rounds N] [--deliveries N] [--url ACTOR]
 * `--url` is an actor at another server of any kind: how many activities per second it accepts, beside ours. The cost
 * of its queue and signatures is not measured.
 *
 * Deliveries go through the whole queue: claimed, signed, sent over HTTP to a hundred hosts, recorded. The receiving
 * servers run in a process of their own: plain sockets that find the end of a request by its length and respond to a
 * constant 202. They share our cores, unlike real ones, which lowers the throughput and not the CPU time beside it.
 * Inbox requests are signed Pushes as another Hearth sends them; SPEC §5 asks for headers, date, digest and signature
 * before the body is parsed. A large body costs its SHA-256, and parsing.
 *
 * Two ratios are printed: the share of RSA's throughput, and the share of the signature in the CPU time of a delivery.
 * A busy machine distorts the first and hardly the second.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { localAdministrator } from '../src/access/index.ts';
import { openModules, processFacts } from '../src/app/index.ts';
import { readDatabaseFacts } from '../src/doctor/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { pushContent } from '../src/federation/activities/push.ts';
import { publish } from '../src/federation/deliveries/publish.ts';
import { readActivity } from '../src/federation/inbox/read-activity.ts';
import { isSignedBy, readSignedRequest, signRequest } from '../src/federation/signatures/index.ts';
import type { IncomingRequest } from '../src/federation/signatures/index.ts';
import { silentLogger, systemClock, systemRandom } from '../src/kernel/index.ts';
import { createWebServer } from '../src/pages/index.ts';
import { runLoad } from './peers/wrk.ts';
import { median, readNumberOption, formatRow as tableRow, readTextOption } from './harness.ts';

const hosts = 100;
/** Size of a delivered Push with some fifteen commits. */
const bodyBytes = 7_700;
/** Received activities: an ordinary Push, and the largest that Hearth sends. */
const fewCommits = 1;
const manyCommits = 50;
const followers = 10_000;

/** Operations per second, and CPU time of this program per operation, in milliseconds. */
interface Measured {
  perS: number;
  cpuMs: number;
}

/** A hundred servers that respond to every request with 202 at minimal cost. */
function serveAsPeers(): void {
  const response = Buffer.from('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n');
  const server = createServer((socket) => {
    let pending: Buffer = Buffer.alloc(0);
    let toSkip = 0;
    socket.on('error', () => {});
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

/** Posts prepared requests to one port, a few connections at a time; returns how long it took. */
async function postAsPeer(port: number, requests: string[], connections: number): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  let bad = 0;
  await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise<void>((resolve, reject) => {
          const socket = connect(port, '127.0.0.1');
          const send = (): void => {
            const request = requests[next++];
            if (request === undefined) return void (socket.end(), resolve());
            socket.write(Buffer.from(request, 'base64'));
          };
          socket.on('connect', send);
          socket.on('error', reject);
          socket.on('data', (data: Buffer) => {
            if (!data.toString('latin1', 0, 12).includes(' 202')) bad += 1;
            if (data.includes('\r\n\r\n')) send();
          });
        }),
    ),
  );
  if (bad > 0) throw new Error(`${bad} of ${requests.length} were refused`);
  return performance.now() - startedAt;
}

if (process.argv[2] === 'peers') serveAsPeers();
else if (process.argv[2] === 'sender') {
  process.on(
    'message',
    ({ port, requests, connections }: { port: number; requests: string[]; connections: number }) => {
      void postAsPeer(port, requests, connections).then((ms) => process.send!(ms));
    },
  );
} else await measure(readNumberOption('rounds', 5), readNumberOption('deliveries', 4_000));

/** The next message of the other process. */
function responseOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}

async function measure(rounds: number, count: number): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
  const peers = fork(import.meta.filename, ['peers']);
  const sender = fork(import.meta.filename, ['sender']);
  const peerPort = await responseOf<number>(peers);
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  /** Size of a Push by its number of commits. */
  const bytes = new Map<number, number>();
  const origin = 'http://127.0.0.1:9';
  const { config } = loadConfig({
    env: {
      SERVICE_DATA_DIR: folder,
      SERVICE_SSH_ENABLED: 'false',
      SERVICE_HTTP_LISTEN: '127.0.0.1:0',
      SERVICE_FEDERATION_ENABLED: 'true',
      SERVICE_FEDERATION_BASE_URL: origin,
      SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
      SERVICE_FEDERATION_PEER_ALLOWLIST: Array.from({ length: hosts }, (_, index) => `127.0.1.${index + 1}`).join(','),
    },
    cwd: folder,
    readFile: () => '',
  });
  const modules = await openModules(config, { logger: silentLogger, clock: systemClock }, 'always');
  const web = createWebServer({
    ...modules,
    ssh: () => null,
    unready: async () => [],
    processFacts,
    databaseFacts: () => readDatabaseFacts(modules.db),
  });
  const { port } = await web.listen();
  try {
    await modules.accounts.addPerson({ username: 'alice' });
    const repository = await modules.repositories.create(localAdministrator, {
      owner: 'alice',
      name: 'tool',
      visibility: 'PUBLIC',
    });
    await modules.federation.publications.actor('/ap/repos/alice/tool');
    const actor = `http://127.0.1.1:${peerPort}/ap/repos/bob/lib`;
    await prepareInbox(actor, keys.publicKey.export({ type: 'spki', format: 'pem' }) as string);

    const rows: Record<string, Measured>[] = [];
    const enqueuedMs: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const row = {
        rsaSign: await withCpu(rawSign),
        deliveries: await withCpu(() => deliveries(repository.id)),
        rsaVerify: await withCpu(rawVerify),
        verified: await withCpu(await verifications(actor, fewCommits, false)),
        parsed: await withCpu(await verifications(actor, fewCommits, true)),
        largeVerified: await withCpu(await verifications(actor, manyCommits, false)),
        largeParsed: await withCpu(await verifications(actor, manyCommits, true)),
        inbox: await withCpu(() => inbox(actor)),
      };
      const enqueued = await enqueue(repository.id);
      if (round === 0) continue;
      rows.push(row);
      enqueuedMs.push(enqueued);
    }
    print(rows, enqueuedMs);
    const other = readTextOption('url');
    if (other !== null) await compareActors(`http://127.0.0.1:${port}/ap/repos/alice/tool`, other);
  } finally {
    peers.kill();
    sender.kill();
    await web.stop({ graceMs: 100 });
    await modules.close();
    rmSync(folder, { recursive: true });
  }

  /** Requests actor documents over four connections. */
  async function compareActors(ours: string, theirs: string): Promise<void> {
    console.log(`\n${tableRow(['Actor document', 'Per second', 'p95 ms'])}\n${tableRow(['---', '---:', '---:'])}`);
    for (const url of [ours, theirs]) {
      const { perSecond, p95Ms } = await runLoad(url, {
        seconds: 3,
        connections: 4,
        headers: { Accept: 'application/activity+json', ...(url === ours && { Host: new URL(origin).host }) },
      });
      console.log(tableRow([url === ours ? 'Hearth' : new URL(url).host, perSecond.toFixed(0), p95Ms.toFixed(1)]));
    }
  }

  async function prepareInbox(actor: string, pem: string): Promise<void> {
    await modules.db.write(async ({ manager, now }) => {
      const { host } = new URL(actor);
      await manager.query(
        `INSERT INTO remote_actors (id, host, type, name, handle, inbox, key_id, public_key_pem, fetched_at) VALUES (?, ?, 'Repository', 'lib', 'bob/lib', ?, ?, ?, ?)`,
        [actor, host, `${actor}/inbox`, `${actor}#main-key`, pem, now],
      );
      const [user] = await manager.query('SELECT id FROM users');
      await manager.query(
        `INSERT INTO remote_follows (id, user_id, remote_actor_id, remote_inbox, host, handle, follow_id, state, created_at) VALUES ('f', ?, ?, ?, ?, 'bob/lib', 'x', 'ACCEPTED', ?)`,
        [user.id, actor, `${actor}/inbox`, host, now],
      );
    });
  }

  /** In the thread pool, 16 at a time: the upper bound for signing. */
  async function rawSign(): Promise<Done> {
    const signAsync = promisify(sign) as (algorithm: string, data: Buffer, key: object) => Promise<Buffer>;
    const data = Buffer.alloc(300, 'x');
    return perSecond(2_000, 16, () => signAsync('RSA-SHA256', data, keys.privateKey));
  }

  /** On one core, as the inbox verifies. */
  async function rawVerify(): Promise<Done> {
    const data = Buffer.alloc(300, 'x');
    const signature = sign('RSA-SHA256', data, keys.privateKey);
    let done = 0;
    const startedAt = performance.now();
    while (performance.now() - startedAt < 1_000) {
      verify('RSA-SHA256', data, keys.publicKey, signature);
      done += 1;
    }
    return { count: done, ms: performance.now() - startedAt };
  }

  async function deliveries(repositoryId: string): Promise<Done> {
    await modules.db.write(async ({ manager, now }) => {
      const id = randomUUID();
      await manager.query(`INSERT INTO federation_outbox VALUES (?, '/ap/repos/alice/tool', ?, 'Push', 1, ?, ?)`, [
        id,
        repositoryId,
        JSON.stringify({ padding: 'x'.repeat(bodyBytes) }),
        now,
      ]);
      await manager.query(
        `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
         INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, next_attempt_at, created_at)
         SELECT ?, 'http://127.0.1.' || (1 + i % ${hosts}) || ':${peerPort}/inbox/' || i, '127.0.1.' || (1 + i % ${hosts}) || ':${peerPort}', 'PENDING', ?, ? FROM n`,
        [count, id, now, now],
      );
    });
    const startedAt = performance.now();
    const { delivered } = await modules.federation.drain();
    if (delivered !== count) throw new Error(`${delivered} of ${count} were delivered`);
    return { count, ms: performance.now() - startedAt };
  }

  /** The cost of a push's own write with ten thousand followers. */
  async function enqueue(repositoryId: string): Promise<number> {
    await modules.db.write(({ manager, now }) =>
      manager.query(
        `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
         INSERT OR IGNORE INTO repository_followers (repository_id, actor_id, inbox, host, follow_id, created_at)
         SELECT ?, 'http://h' || (i % ${hosts}) || '.example/u/' || i, 'http://h' || (i % ${hosts}) || '.example/u/' || i || '/inbox', 'h' || (i % ${hosts}) || '.example', 'f' || i, ? FROM n`,
        [followers, repositoryId, now],
      ),
    );
    const deps = {
      random: systemRandom,
      localActors: { idOf: (path: string) => origin + path },
    } as unknown as Parameters<typeof publish>[0];
    const content = { '@context': [], padding: 'x'.repeat(bodyBytes) };
    const startedAt = performance.now();
    await modules.db.write((tx) =>
      publish(
        deps,
        tx,
        { type: 'Push', actorPath: '/ap/repos/alice/tool', repositoryId, content },
        { followersOf: repositoryId, reads: 'push' },
      ),
    );
    const ms = performance.now() - startedAt;
    await modules.db.write(async ({ manager }) => {
      await manager.query(`DELETE FROM federation_delivery WHERE host LIKE 'h%.example'`);
    });
    return ms;
  }

  /** Signed Pushes with this number of commits from `actor`. */
  async function signedPushes(actor: string, many: number, commits: number): Promise<IncomingRequest[]> {
    const url = new URL(`${origin}/ap/instance/inbox`);
    const hash = (number: number): string => number.toString(16).padStart(40, '0');
    const content = pushContent({
      repositoryActorId: actor,
      pusherActorId: new URL('/ap/users/bob', actor).href,
      pusherName: 'Bob',
      repositoryName: 'bob/lib',
      repositoryUrl: new URL('/repos/bob/lib', actor).href,
      branch: 'main',
      hashBefore: hash(0),
      hashAfter: hash(commits),
      isForced: false,
      totalCommits: commits,
      pushedAt: 0,
      commits: Array.from({ length: commits }, (_, at) => ({
        hash: hash(commits - at),
        subject: `Mend what number ${at} broke in the garden`,
        authorActorId: null,
        authorName: 'Bob',
        authoredAt: 0,
        committedAt: 0,
      })),
    });
    return Promise.all(
      Array.from({ length: many }, async () => {
        const body = Buffer.from(
          JSON.stringify({ id: `${actor}/activities/${randomUUID()}`, type: 'Push', actor, ...content }),
        );
        const headers = await signRequest(
          { method: 'POST', url, body, at: Date.now() },
          { keyId: `${actor}#main-key`, privateKey: keys.privateKey },
        );
        return { method: 'POST', target: url.pathname, rawHeaders: Object.entries(headers).flat(), body };
      }),
    );
  }

  /** The cost of an inbox request before its write: headers, digest, signature; and its JSON. */
  async function verifications(actor: string, commits: number, isParsed: boolean): Promise<() => Promise<Done>> {
    const requests = await signedPushes(actor, 500, commits);
    bytes.set(commits, requests[0]!.body.length);
    const signer = await modules.db.read.query('SELECT id, host FROM remote_actors');
    return async () => {
      let done = 0;
      const startedAt = performance.now();
      while (performance.now() - startedAt < 1_000) {
        const request = requests[done % requests.length]!;
        if (!isSignedBy(readSignedRequest(request, origin, Date.now()), keys.publicKey))
          throw new Error('not accepted');
        if (isParsed) readActivity(request.body, signer[0], () => true);
        done += 1;
      }
      return { count: done, ms: performance.now() - startedAt };
    };
  }

  async function inbox(actor: string): Promise<Done> {
    const many = 2_000;
    const requests = (await signedPushes(actor, many, fewCommits)).map(({ target, rawHeaders, body }) => {
      const lines = rawHeaders.flatMap((value, index) =>
        index % 2 === 0 ? [`${value}: ${rawHeaders[index + 1]}`] : [],
      );
      return Buffer.concat([
        Buffer.from(`POST ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`),
        body,
      ]).toString('base64');
    });
    const took = responseOf<number>(sender);
    sender.send({ port, requests, connections: 32 });
    return { count: many, ms: await took };
  }

  function print(rows: Record<string, Measured>[], enqueuedMs: number[]): void {
    const middle = (pick: (row: Record<string, Measured>) => number): number => median(rows.map(pick));
    const share = (name: string, whole: string, what: (part: Measured, whole: Measured) => number): string =>
      `${Math.round(middle((row) => what(row[name]!, row[whole]!)) * 100)} %`;
    console.log(`${count} deliveries of ${bodyBytes} bytes to ${hosts} hosts, ${rounds} rounds.\n`);
    console.log(
      tableRow(['What', 'Per second (min–max)', 'CPU ms each', 'Of RSA alone, per second', 'Of RSA alone, CPU']),
    );
    console.log(tableRow(['---', '---:', '---:', '---:', '---:']));
    const lines: [string, string, string | null][] = [
      ['RSA-2048 signatures, thread pool', 'rsaSign', null],
      ['deliveries, claimed to written down', 'deliveries', 'rsaSign'],
      ['RSA-2048 verifications, one core', 'rsaVerify', null],
      [`inbox: a Push of one commit (${bytes.get(fewCommits)} bytes) verified`, 'verified', 'rsaVerify'],
      ['the same, and parsed', 'parsed', 'rsaVerify'],
      [
        `inbox: a Push of ${manyCommits} commits (${bytes.get(manyCommits)} bytes) verified`,
        'largeVerified',
        'rsaVerify',
      ],
      ['the same, and parsed', 'largeParsed', 'rsaVerify'],
      ['inbox: a Push of one commit over HTTP, stored', 'inbox', 'rsaVerify'],
    ];
    for (const [title, name, whole] of lines) {
      const all = rows.map((row) => row[name]!.perS);
      console.log(
        tableRow([
          title,
          `${Math.round(median(all))} (${Math.round(Math.min(...all))}–${Math.round(Math.max(...all))})`,
          middle((row) => row[name]!.cpuMs).toFixed(3),
          whole === null ? '' : share(name, whole, (part, all) => part.perS / all.perS),
          whole === null ? '' : share(name, whole, (part, all) => all.cpuMs / part.cpuMs),
        ]),
      );
    }
    console.log(
      `\nA push to ${followers.toLocaleString('en')} followers is enqueued in ${median(enqueuedMs).toFixed(1)} ms.`,
    );
  }
}

interface Done {
  count: number;
  ms: number;
}

async function withCpu(work: () => Promise<Done>): Promise<Measured> {
  const before = process.cpuUsage();
  const { count, ms } = await work();
  const { user, system } = process.cpuUsage(before);
  return { perS: (count / ms) * 1000, cpuMs: (user + system) / 1000 / count };
}

async function perSecond(ms: number, atOnce: number, work: () => Promise<unknown>): Promise<Done> {
  let done = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() - startedAt < ms) {
        await work();
        done += 1;
      }
    }),
  );
  return { count: done, ms: performance.now() - startedAt };
}
