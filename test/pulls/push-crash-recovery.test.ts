// time limit: 300 s
// A server that is killed while a push to refs/for/main is journalled, taken by git, and made a pull request of.
// HEARTH_CHAOS sets how often.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { gitClient } from '../e2e/git-client.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const kills = Number(process.env['HEARTH_CHAOS'] ?? 3);

t.test(`${kills} kills: each push has made one pull request or none, and the same push again makes it`, async (t) => {
  const random = seededRandom(kills);
  let server = await startServerProcess(t, 'either');
  await server.command('user', 'add', 'alice', '--random-password', '--admin');
  await server.command('user', 'add', 'bob', '--random-password');
  await server.command('repo', 'create', 'alice/site', '--public');
  const tokenOf = (user: string) =>
    server.command('token', 'add', '--user', user, '--name', 'laptop', '--access', 'write');
  const tokens = { alice: await tokenOf('alice'), bob: await tokenOf('bob') };
  const client = gitClient(server.folder);
  const work = path.join(server.folder, 'work');
  mkdirSync(work);
  const remote = (who: 'alice' | 'bob') => `http://${tokens[who]}@${new URL(server.url).host}/git/alice/site.git`;
  const commit = async (message: string) => {
    await client.expect(work, 'commit', '-q', '--allow-empty', '-m', message);
    return client.expect(work, 'rev-parse', 'HEAD');
  };
  await client.expect(work, 'init', '-q', '-b', 'main');
  await commit('Begin');
  await client.expect(work, 'push', '-q', remote('alice'), 'main');

  /** Pull requests of a topic once everything is announced, each with its rounds and the ref. */
  async function pullsOf(topic: string) {
    const database = new DatabaseSync(path.join(server.dataDir, 'hearth.db'), { readOnly: true });
    const unannounced = database.prepare('SELECT count(*) AS n FROM pushes WHERE announced_at IS NULL');
    await waitUntil(() => unannounced.get()!['n'] === 0);
    t.equal(unannounced.get()!['n'], 0, 'everything is announced');
    const unset = database.prepare(
      'SELECT count(*) AS n FROM pull_pushes f JOIN pushes p ON p.id = f.push_id WHERE p.announced_at IS NOT NULL',
    );
    await waitUntil(() => unset.get()!['n'] === 0);
    t.equal(unset.get()!['n'], 0, 'the options of every push are set');
    t.equal(database.prepare('SELECT count(*) AS n FROM pushes WHERE parked_at IS NOT NULL').get()!['n'], 0);
    const rows = database
      .prepare(
        `SELECT i.number, i.title, p.is_draft AS draft, p.head_oid AS head, p.last_round AS rounds,
           (SELECT count(*) FROM pull_rounds r WHERE r.issue_id = p.issue_id) AS written,
           (SELECT count(*) FROM issue_entries e WHERE e.issue_id = i.id AND e.kind IN ('opened', 'round')) AS told
         FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE p.topic = ?`,
      )
      .all(topic);
    database.close();
    const listed = await client.expect(work, 'ls-remote', remote('bob'), 'refs/pull/*');
    return rows.map(({ number, title, draft, head, rounds, written, told }) => {
      t.match(listed, `${head}\trefs/pull/${number}/head`, 'the ref is where the row says');
      t.same([written, told], [rounds, rounds], 'each round is written and told once');
      return { head, rounds, title, isDraft: draft === 1 };
    });
  }

  let landed = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const topic = `t${kill}`;
    let rounds = 0;
    for (const round of [1, 2]) {
      const head = await commit(`${topic}, round ${round}`);
      const title = `Title ${kill} of round ${round}`;
      const options = ['-o', `title=${title}`, '-o', round === 1 ? 'draft' : 'ready'];
      const pushing = client.run(work, 'push', '-q', ...options, remote('bob'), `HEAD:refs/for/main/${topic}`);
      await sleep(40 + random.below(160));
      await server.kill();
      const { code } = await pushing;
      server = await startServerProcess(t, 'either', { folder: server.folder });
      const after = await pullsOf(topic);
      t.ok(after.length <= 1, 'one, or none');
      const isThere = after[0]?.head === head;
      if (code === 0) t.ok(isThere, 'what was acknowledged is there');
      if (isThere) landed += 1;
      if (isThere) t.match(after[0], { title, isDraft: round === 1 }, 'what its options ask for is set, too');
      const again = await client.run(work, 'push', '-q', ...options, remote('bob'), `HEAD:refs/for/main/${topic}`);
      t.equal(again.code, 0, again.stderr);
      rounds += 1;
      t.same(await pullsOf(topic), [{ head, rounds, title, isDraft: round === 1 }], `round ${round}`);
    }
    // Who may only read has twenty open ones at most.
    const api = (method: string, at: string, body?: string) =>
      fetch(`${server.url}/api/v1/repos/alice/site/pulls${at}`, {
        method,
        headers: { authorization: `Bearer ${tokens.bob}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      });
    for (const { number } of (await (await api('GET', '')).json()) as { number: number }[])
      t.equal((await api('PATCH', `/${number}`, '{"state":"closed"}')).status, 201);
  }
  t.comment(`${landed} of ${2 * kills} pushes had landed when the server was killed`);
  t.equal(await server.stop(), 0);
});
