// time limit: 300 s
// The ports open before recovery has finished. HEARTH_CHAOS sets how often the server is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { createApp } from '../../src/app/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { gitClient } from '../e2e/git-client.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const kills = Number(process.env['HEARTH_CHAOS'] ?? 2);

/** A data folder with a push whose result was never written, and the application that will start on it. */
async function afterCrash(t: Owner) {
  const first = await startHearth(t);
  await first.addPerson('alice');
  const { repositories, db } = first.modules;
  const { id } = await repositories.create(localAdministrator, { owner: 'alice', name: 'work', visibility: 'PUBLIC' });
  await db.write(({ manager, now }) =>
    manager.query("INSERT INTO pushes (id, repository_id, via, created_at) VALUES ('left', ?, 'http', ?)", [id, now]),
  );
  await first.stop();
  const app = await createApp(first.config, { logger: silentLogger });
  return { app, config: first.config };
}

const opens = (port: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy()));
    socket.on('error', reject);
  });

t.test(
  'every port is open, and the server is ready, while recovery is held up; a stop refuses waiting clients',
  async (t) => {
    const { app } = await afterCrash(t);
    const held = Promise.withResolvers<void>();
    const requested = Promise.withResolvers<void>();
    const { git } = app.modules;
    const { recover } = git.maintenance;
    git.maintenance.recover = async (folder) => {
      requested.resolve();
      await held.promise;
      return recover(folder);
    };
    const { http, ssh, grpc } = await app.start();
    t.teardown(async () => {
      held.resolve();
      await app.stop({ graceMs: 0 });
    });
    await requested.promise;
    for (const { port } of [http, ssh!, grpc]) await opens(port);
    const url = `http://127.0.0.1:${http.port}`;
    t.equal((await fetch(`${url}/healthz`)).status, 200);
    t.equal((await fetch(`${url}/readyz`)).status, 200);
    t.equal((await fetch(`${url}/repos/alice/work`)).status, 200, 'reading goes on');
    t.match(await app.modules.repositories.find(localAdministrator, 'alice', 'work'), { repository: { name: 'work' } });
    const push = app.modules.repositories.openForPush(localAdministrator, 'alice', 'work').then(
      () => 'open',
      (error: { reason?: string }) => error.reason,
    );
    await sleep(20);
    const stopping = app.stop({ graceMs: 1_000 });
    t.equal(await push, 'repository_recovers', 'who waits is sent away by the stop');
    held.resolve();
    await stopping;
  },
);

t.test(
  `${kills} kills while pushes arrive: each start opens its ports, recovers them, and accepts the next`,
  async (t) => {
    const random = seededRandom(kills);
    let server = await startServerProcess(t, 'either');
    await server.command('user', 'add', 'alice', '--random-password', '--admin');
    const token = await server.command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write');
    await server.command('repo', 'create', 'alice/site', '--public');
    const client = gitClient(server.folder);
    const work = path.join(server.folder, 'work');
    mkdirSync(work);
    await client.expect(work, 'init', '-q', '-b', 'main');
    const remote = () => `http://${token}@${new URL(server.url).host}/git/alice/site.git`;
    for (let kill = 0; kill < kills; kill += 1) {
      const pushing = Array.from({ length: 4 }, async (_, at) => {
        await sleep(at * 30);
        return client.run(work, 'push', '-q', '--force', remote(), `HEAD:refs/heads/b${kill}-${at}`);
      });
      if (kill === 0) await client.expect(work, 'commit', '-q', '--allow-empty', '-m', 'first');
      await sleep(100 + random.below(400));
      await server.kill();
      await Promise.all(pushing);
      server = await startServerProcess(t, 'either', { folder: server.folder });
      t.equal((await fetch(`${server.url}/healthz`)).status, 200);
      await client.expect(work, 'commit', '-q', '--allow-empty', '-m', `after kill ${kill}`);
      t.match(await client.run(work, 'push', '-q', remote(), 'HEAD:refs/heads/main'), { code: 0 });
      const database = new DatabaseSync(path.join(server.dataDir, 'hearth.db'), { readOnly: true });
      const open = database.prepare('SELECT count(*) AS n FROM pushes WHERE settled_at IS NULL');
      t.equal(open.get()!['n'], 0, 'a push is answered after what was left in its repository is settled');
      const unannounced = database.prepare('SELECT count(*) AS n FROM pushes WHERE announced_at IS NULL');
      await waitUntil(() => unannounced.get()!['n'] === 0);
      t.equal(database.prepare('SELECT count(*) AS n FROM pushes WHERE parked_at IS NOT NULL').get()!['n'], 0);
      database.close();
    }
    t.equal(await server.stop(), 0);
  },
);

t.test(
  'a listener that crashes the server waits until it has been up for a while, so that later starts stay up',
  async (t) => {
    const { app, config } = await afterCrash(t);
    await app.modules.db.write(({ manager, now }) =>
      manager.query("UPDATE pushes SET settled_at = ?, attempts = 1, tried_at = ? WHERE id = 'left'", [now, now]),
    );
    await app.stop({ graceMs: 0 });
    const program = path.join(import.meta.dirname, 'killed-server.ts');
    const codes: (number | null)[] = [];
    for (let start = 0; start < 4; start += 1) {
      const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, config.dataDir], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      t.teardown(() => child.kill('SIGKILL'));
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      codes.push(code);
      t.match(output, /^ports are open\n/);
    }
    // The first attempt was in the run that was killed first.
    t.strictSame(codes, [null, null, 0, 0]);
    const database = new DatabaseSync(path.join(config.dataDir, 'hearth.db'), { readOnly: true });
    t.match(
      database
        .prepare("SELECT attempts, last_error, parked_at IS NOT NULL AS parked FROM pushes WHERE id = 'left'")
        .get(),
      {
        last_error: 'killer: the server ended while this listener ran',
        parked: 0,
      },
    );
    database.close();
  },
);
