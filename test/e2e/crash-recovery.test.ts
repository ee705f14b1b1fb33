// Pushes while the server is killed. Six rounds here; HEARTH_KILLS=200 for the long run.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { gitClient } from './git-client.ts';
import { startServerProcess } from './server-process.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const rounds = Number(process.env.HEARTH_KILLS ?? 6);

t.test(
  `${rounds} kills of the server during pushes lose no acknowledged push`,
  { timeout: 60_000 + rounds * 5_000 },
  async (t) => {
    const random = seededRandom(20_261_120);
    let server = await startServerProcess(t, 'executable');
    const { folder, dataDir } = server;
    const client = gitClient(folder);
    await server.command('user', 'add', 'alice', '--random-password');
    const token = await server.command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write');
    await server.command('key', 'add', '--user', 'alice', client.publicKeyFile);
    await server.command('repo', 'create', 'alice/site');
    const show = JSON.parse(await server.command('repo', 'show', 'alice/site', '--json')) as { path: string };
    const bare = show.path;

    const work = path.join(folder, 'work');
    mkdirSync(work);
    await client.expect(work, 'init', '-q', '-b', 'main');
    // The duration of a push decides when to kill: before, during and after it.
    const startedAt = performance.now();
    await client.expect(work, 'commit', '-q', '--allow-empty', '-m', 'Begin');
    await client.expect(work, 'push', '-q', `ssh://git@127.0.0.1:${server.sshPort}/alice/site.git`, 'main');
    const pushMs = performance.now() - startedAt;

    const acknowledged: string[] = [];
    let cut = 0;
    for (let round = 0; round < rounds; round++) {
      await client.expect(work, 'commit', '-q', '--allow-empty', '-m', `Round ${round}`);
      const tip = await client.expect(work, 'rev-parse', 'HEAD');
      const remote =
        round % 2 === 0
          ? `http://${token}@${new URL(server.url).host}/git/alice/site.git`
          : `ssh://git@127.0.0.1:${server.sshPort}/alice/site.git`;
      const push = client.run(work, 'push', '-q', remote, 'main');
      await Promise.race([sleep((random.below(1000) / 1000) * 1.2 * pushMs), push]);
      await server.kill();
      const { code } = await push;
      if (code === 0) acknowledged.push(tip);
      else cut++;

      server = await startServerProcess(t, 'executable', { folder });
      const refs = await client.expect(bare, '--git-dir=.', 'for-each-ref', '--format=%(objectname)');
      if (code === 0) t.equal(refs, tip, `round ${round}: the acknowledged push is there`);
      // The ports open before interrupted pushes are recovered.
      const left = (): string[] =>
        readdirSync(bare, { recursive: true })
          .map(String)
          .filter((name) => name.endsWith('.lock') || name.includes('tmp_objdir'));
      await waitUntil(() => left().length === 0, `round ${round}: nothing is left behind`);
    }
    t.comment(`${acknowledged.length} acknowledged, ${cut} cut short`);

    const database = new DatabaseSync(path.join(dataDir, 'hearth.db'), { readOnly: true });
    t.teardown(() => database.close());
    const accepted = database
      .prepare("SELECT new_id AS tip, count(*) AS times FROM push_updates WHERE result = 'ok' GROUP BY new_id")
      .all() as { tip: string; times: number }[];
    t.same(
      accepted.filter(({ times }) => times !== 1),
      [],
      'no push is journalled as accepted twice',
    );
    const journalled = new Set(accepted.map(({ tip }) => tip));
    t.same(
      acknowledged.filter((tip) => !journalled.has(tip)),
      [],
      'every acknowledged push is in the journal',
    );
    const open = database.prepare(
      'SELECT id, attempts, last_error, parked_at FROM pushes WHERE settled_at IS NULL OR announced_at IS NULL',
    );
    // Recovery settles first and announces afterwards, beside the open ports.
    const until = (isDone: (push: Record<string, unknown>) => boolean, what: string) =>
      waitUntil(() => open.all().every(isDone), what);
    // What several kills cut off waits until the server has been up for a minute.
    const waits = /the server ended while this listener ran/;
    await until(({ last_error: error }) => waits.test(String(error)), 'every push is settled');
    for (const { id, parked_at: parkedAt } of open.all()) {
      t.equal(parkedAt, null, 'no push is given up, because its listener has not failed');
      // It may have been announced since it was looked at.
      await server.command('job', 'retry', `push-${String(id)}`).catch((error: Error) => {
        if (!error.message.includes('all listeners have already received this push')) throw error;
      });
    }
    await until(() => false, 'every push is announced');
    execFileSync('git', [`--git-dir=${bare}`, 'fsck', '--full', '--strict'], { stdio: 'pipe' });
  },
);
