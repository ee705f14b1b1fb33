// Two Hearths in processes of their own, with their real clocks and tasks: follow, push over both transports, private
// and public, killed and restarted, unfollow.
// time limit: 300 s
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { gitClient } from './git-client.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

const password = 'correct horse battery';

/** The permanent address of a server of the test, which is part of its actor ids. */
async function place(host: string, peer: string) {
  const port = await freePort(host);
  const folder = temporaryFolder(t);
  const origin = `http://${host}:${port}`;
  const env = {
    SERVICE_HTTP_LISTEN: `${host}:${port}`,
    SERVICE_SSH_LISTEN: `${host}:0`,
    SERVICE_FEDERATION_ENABLED: 'true',
    SERVICE_FEDERATION_BASE_URL: origin,
    SERVICE_FEDERATION_PEER_ALLOWLIST: peer,
    SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
    SERVICE_FEDERATION_USER_RESYNC_INTERVAL: '5s',
  };
  return {
    host: `${host}:${port}`,
    name: host,
    origin,
    folder,
    start: (): Promise<ServerProcess> => startServerProcess(t, 'either', { folder, env }),
  };
}

/** Signs alice in by the setup link; afterwards requests pages and posts forms as her. */
async function signedIn(server: ServerProcess, origin: string) {
  const token = new URL(server.setupLink!).searchParams.get('token')!;
  const send = (target: string, form: Record<string, string> | null, cookie: string) =>
    fetch(new URL(target, origin), {
      method: form === null ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie, ...(form === null ? {} : { origin }) },
      ...(form === null ? {} : { body: new URLSearchParams(form) }),
    });
  const response = await send('/setup', { token, handle: 'alice', username: 'alice', password }, '');
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  return {
    page: async (target: string) => (await send(target, null, cookie)).text(),
    post: async (target: string, form: Record<string, string>) => (await send(target, form, cookie)).status,
  };
}

async function within(seconds: number, what: string, holds: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    if (await holds().catch(() => false)) return (performance.now() - startedAt) / 1000;
    if (performance.now() - startedAt > seconds * 1000) throw new Error(`not within ${seconds} s: ${what}`);
    await wait(250);
  }
}

t.test("alice follows bob's repository and bob himself, and receives his pushes", async (t) => {
  const [here, there] = [await place('127.0.0.1', '127.0.0.2'), await place('127.0.0.2', '127.0.0.1')];
  const home = await here.start();
  let away = await there.start();
  const alice = await signedIn(home, here.origin);
  await away.command('user', 'add', 'bob', '--random-password');
  for (const name of ['tool', 'garden']) await away.command('repo', 'add', `bob/${name}`, '--public');
  const token = await away.command('token', 'add', '--user', 'bob', '--name', 'test', '--access', 'write');
  const client = gitClient(temporaryFolder(t));
  await away.command('key', 'add', '--user', 'bob', client.publicKeyFile);

  const works = temporaryFolder(t);
  const overHttp = (name: string) => `http://bob:${token}@${there.host}/git/bob/${name}.git`;
  const overSsh = (name: string) => `ssh://git@${there.name}:${away.sshPort}/bob/${name}.git`;
  /** Each repository has a history of its own, so that no commit is revealed by another one. */
  const push = async (to: string, subject: string): Promise<void> => {
    const work = path.join(works, path.basename(to));
    if (!existsSync(work)) {
      mkdirSync(work);
      await client.expect(work, 'init', '-q', '-b', 'main');
    }
    writeFileSync(path.join(work, 'file'), subject);
    await client.expect(work, 'add', '.');
    await client.expect(work, 'commit', '-q', '-m', subject);
    await client.expect(work, 'push', '-q', to, 'main');
  };
  const following = () => alice.page('/following');
  const shows = async (subject: string) => (await following()).includes(subject);
  const times = async (subject: string) => (await following()).split(subject).length - 1;

  t.equal(await alice.post('/following', { target: `bob/tool@${there.host}` }), 303);
  t.equal(await alice.post('/following', { target: `bob@${there.host}` }), 303);
  const accepted = async (count: number) =>
    ((await following()).match(/badge good">Following/g) ?? []).length === count;
  t.comment(`accepted after ${(await within(30, 'both repositories accept', () => accepted(2))).toFixed(1)} s`);

  await push(overHttp('tool'), 'Pushed over HTTP');
  await push(overSsh('garden'), 'Pushed over SSH');
  const arrived = await within(
    20,
    'both pushes are on the page',
    async () => (await shows('Pushed over HTTP')) && (await shows('Pushed over SSH')),
  );
  t.pass(`both pushes on the page within ${arrived.toFixed(1)} s`);

  await away.command('repo', 'edit', 'bob/tool', '--private');
  await push(overHttp('tool'), 'Nobody may know');
  await push(overSsh('garden'), 'Just before the end');
  await away.kill();
  away = await there.start();
  await within(20, 'a push that was acknowledged before the kill', () => shows('Just before the end'));
  t.equal(await times('Nobody may know'), 0, 'a private repository is silent at once');

  await away.command('repo', 'edit', 'bob/tool', '--public');
  await away.command('repo', 'add', 'bob/third', '--public');
  await push(overHttp('tool'), 'Open again');
  const gardenId = /garden@[^]*?\/following\/([0-9a-f-]{36})\/unfollow/.exec(
    (await following()).split('Newest pushes')[1]!.split('</section>').slice(1).join(''),
  )?.[1];
  t.equal(await alice.post(`/following/${gardenId}/unfollow`, {}), 303);
  await within(20, 'it speaks again', () => shows('Open again'));
  t.equal(await times('Nobody may know'), 0, 'and does not tell what was said in private');
  await within(
    20,
    'the Undo has arrived',
    async () => (await away.command('federation', 'followers', 'bob/garden')) === '',
  );
  await within(30, 'a new repository of a followed person is followed', () => accepted(2));

  await push(overSsh('garden'), 'Nobody listens');
  await push(overHttp('third'), 'Found by the scan');
  await within(20, "the new repository's push", () => shows('Found by the scan'));
  t.equal(await times('Nobody listens'), 0, 'unfollowing stops it');
  for (const subject of ['Pushed over HTTP', 'Open again', 'Found by the scan']) {
    t.equal(await times(subject), 1, `${subject}: there, and once`);
  }
  const ids = JSON.parse(await away.command('delivery', 'list', '--json')) as { activity: string; state: string }[];
  t.equal(ids.filter(({ state }) => state === 'FAILED').length, 0);
  t.equal(
    new Set(ids.map(({ activity }) => activity)).size,
    ids.length,
    'each activity went once to the one who follows',
  );
  t.equal(await away.stop(), 0);
  t.equal(await home.stop(), 0);
});
