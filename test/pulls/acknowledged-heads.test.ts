// Whatever a client has the result of before a request is part of that request: merges right after a push, by every way
// in and from every source of a pull request. HEARTH_MERGES sets how many are tried; one of each kind by default.
// time limit: 900 s
import path from 'node:path';
import ssh2 from 'ssh2';
import t from 'tap';
import { localAdministrator, personViewer } from '../../src/access/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { createFormClient } from '../e2e/form-client.ts';
import { password } from '../fixtures/web-fixture.ts';
import { exec } from '../ssh/ssh-fixture.ts';
import { startPullServer } from './pull-server.ts';
import type { Clone } from './pull-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const count = Number(process.env['HEARTH_MERGES'] ?? 0);
t.setTimeout(Math.max(900, count * 15) * 1_000);

const server = await startPullServer(t, { SERVICE_SSH_ENABLED: 'true', SERVICE_SSH_LISTEN: '127.0.0.1:0' });
const { accounts, repositories, pulls, git } = server.app.modules;

const person = async (username: string) => personViewer((await accounts.personByUsername(username))!.id, 'admin');
const alice = await person('alice');
const bob = await person('bob');
const pair = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
await accounts.addKey(alice.id, { title: 'test', line: pair.public });
const ssh = new ssh2.Client();
await new Promise<void>((resolve, reject) => {
  ssh.on('ready', resolve).on('error', reject);
  ssh.connect({ host: '127.0.0.1', port: server.sshPort!, username: 'git', privateKey: pair.private });
});
t.teardown(() => ssh.end());

// What follows a push is sometimes slow, sometimes at once.
const { onPush } = pulls;
const prepare = onPush.prepare!;
let pushes = 0;
onPush.prepare = async (push) => {
  if ((pushes += 1) % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 150));
  return prepare(push);
};

for (const name of ['site', 'queued']) {
  await server.repository(name);
  await repositories.forks.create(bob, 'alice', name, { owner: 'bob' });
  await repositories.collaborators.add(alice, 'alice', name, { username: 'bob', role: 'read' });
}
await repositories.rules.add(alice, 'alice', 'queued', {
  pattern: 'main',
  target: 'BRANCH',
  merging: { upToDate: 'queue', adminsToo: false },
});
await accounts.addPerson({ username: 'carol', password });
await repositories.collaborators.add(alice, 'alice', 'site', { username: 'carol', role: 'write' });
const browser = createFormClient(server.origin);
await browser('/login', { username: 'carol', password });

interface Tried {
  isDone: boolean;
  said: string;
}

const api = async (way: string, body: Record<string, unknown>, method = 'POST'): Promise<Tried> => {
  const response = await fetch(`${server.origin}/api/v1/repos/alice/${way}`, {
    method,
    headers: { authorization: `Bearer ${server.tokens.alice}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { isDone: response.ok, said: `${response.status} ${await response.text()}` };
};

/** Each merges a pull request of alice/site, or of alice/queued, and deletes its branch where it can. */
const ways: Record<string, (number: number) => Promise<Tried>> = {
  API: (number) => api(`site/pulls/${number}/merge`, { Do: 'merge', delete_branch_after_merge: true }),
  // The page was opened before the second push.
  async page(number) {
    const form = { style: 'merge', round: '1', delete_branch: 'on', message_title: 'Merge it', message: '' };
    const { status, location, text } = await browser(`/repos/alice/site/pulls/${number}/merge`, form);
    return { isDone: status === 303, said: `${status} ${location ?? /A new round[^<]*/.exec(text)?.[0]}` };
  },
  async 'command line'(number) {
    const words = [
      'pull',
      'merge',
      'alice/site',
      String(number),
      '--as',
      'alice',
      '--style',
      'merge',
      '--delete-branch',
    ];
    const { code, stderr } = await runCli(words, { env: { SERVICE_DATA_DIR: path.join(server.folder, 'data') } });
    return { isDone: code === 0, said: stderr };
  },
  async SSH(number) {
    const { code, stderr } = await exec(ssh, `pull merge alice/site ${number} --style merge --delete-branch`);
    return { isDone: code === 0, said: stderr };
  },
  queue: (number) => api(`queued/pulls/${number}/queue`, { Do: 'merge' }),
};

interface Source {
  clone: Clone;
  /** Pushes HEAD of the clone as what a pull request is made of. */
  push(branch: string): Promise<{ code: number | null; stderr: string }>;
  /** Makes the pull request, and gives its number. */
  open(branch: string): Promise<number>;
}

async function sources(name: string): Promise<Record<string, Source>> {
  const own = await server.clone(name, 'alice');
  const forked = await server.clone(name, 'alice');
  await forked.git(
    'remote',
    'add',
    'fork',
    server.url(name).replace('/alice/', '/bob/').replace('://', `://bob:${server.tokens.bob}@`),
  );
  const theirs = await server.clone(name, 'bob');
  const open = async (viewer: typeof alice, head: string) =>
    (await pulls.open(viewer, { owner: 'alice', name }, { title: head, head, base: 'main' })).issue.number;
  return {
    branch: {
      clone: own,
      push: (branch) => own.push('--quiet', 'origin', `HEAD:refs/heads/${branch}`),
      open: (branch) => open(alice, branch),
    },
    fork: {
      clone: forked,
      push: (branch) => forked.push('--quiet', 'fork', `HEAD:refs/heads/${branch}`),
      open: (branch) => open(bob, `bob:${branch}`),
    },
    'refs/for': {
      clone: theirs,
      push: (branch) => theirs.push('--quiet', 'origin', `HEAD:refs/for/main/${branch}`),
      async open(branch) {
        const rows: { number: number }[] = await server.db.read.query(
          'SELECT i.number FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE p.topic = ?',
          [branch],
        );
        return rows[0]?.number ?? 0;
      },
    },
  };
}

const contains = async (name: string, oid: string): Promise<boolean> => {
  const folder = await server.pathOf(name);
  return git.refs.isForward(folder, oid, (await git.refs.tip(folder, 'refs/heads/main'))!);
};

const kinds = { site: await sources('site'), queued: await sources('queued') };
const all = Object.keys(ways).flatMap((way) => Object.keys(kinds.site).map((source) => ({ way, source })));
let [old, lost, merged, refused] = [0, 0, 0, 0];

for (let at = 0; at < Math.max(count, all.length); at += 1) {
  const { way, source } = all[at % all.length]!;
  t.test(`${way}, from ${source} (${at})`, async (t) => {
    const name = way === 'queue' ? 'queued' : 'site';
    const { clone, push, open } = kinds[name][source]!;
    const branch = `topic-${at}`;
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('checkout', '--quiet', '--detach', 'origin/main');
    await clone.commit(`${at}.txt`, 'one\n');
    t.match(await push(branch), { code: 0 });
    const number = await open(branch);
    t.ok(number > 0, 'a push to refs/for is answered when its pull request is there');
    const second = await clone.commit(`${at}.txt`, 'two\n');
    t.match(await push(branch), { code: 0 });
    const tried = await ways[way]!(number);
    const stateOf = async () => (await pulls.find(alice, { owner: 'alice', name, number })).issue.state;
    const state = tried.isDone
      ? await waitUntil(async () => (await stateOf()) !== 'OPEN' && stateOf())
      : await stateOf();
    const isIn = await contains(name, second);
    if (state === 'MERGED') merged += 1;
    else refused += 1;
    if (state === 'MERGED' && !isIn) old += 1;
    t.equal(isIn, state === 'MERGED', `${state} with the head that was pushed: ${tried.said}`);
    if (!tried.isDone) t.match(tried.said, /round|recorded|409/i, 'a refusal says why');
    if (source !== 'refs/for') {
      const owner = source === 'fork' ? 'bob' : 'alice';
      const folder = (await repositories.find(localAdministrator, owner, name)).path;
      const tip = await git.refs.tip(folder, `refs/heads/${branch}`);
      if (tip === null && !isIn) lost += 1;
      t.ok(tip !== null || isIn, 'no branch is deleted with a commit that is nowhere else');
    }
    // A person without the right to write may have twenty open ones.
    if (state === 'OPEN') t.match(await api(`${name}/pulls/${number}`, { state: 'closed' }, 'PATCH'), { isDone: true });
  });
}

t.test('together', async (t) => {
  t.comment(`${merged} merged, ${refused} refused, ${old} of an old head, ${lost} branches lost`);
  t.strictSame([old, lost], [0, 0]);
});
