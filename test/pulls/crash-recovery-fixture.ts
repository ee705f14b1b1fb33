// openKillWorld(t) → a Hearth in a process of its own, with alice (administrator), bob who only reads, alice/site, and
// what a test of kills needs: commits, pushes and calls, and the facts of a pull request as git and the rows have them.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Test } from 'tap';
import { createFormClient } from '../e2e/form-client.ts';
import { gitClient } from '../e2e/git-client.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import { commit as writeCommit } from './pulls-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

/** What git and the rows say of one pull request. */
export interface PullSnapshot {
  /** `NONE` when there is none. */
  state: string;
  headOid: string | null;
  rounds: number;
  roundEntries: number;
  mergedEntries: number;
  appliedEntries: number;
  /** Commits of the base branch that add the file of the pull request. */
  commitsOfFile: number;
  /** Whether the recorded result of a merge is in the base branch. */
  isOfBase: boolean;
  /** `refs/pull/<n>/head`. */
  published: string | null;
  /** The head branch; null without one. */
  branch: string | null;
}

/** One change that a kill may cut. */
export interface Change {
  number?: number;
  /** A file that the pull request adds. */
  file: string;
  base: string;
  head: string | null;
  topic?: string;
  /** Whether the server acknowledged it. */
  act(): Promise<boolean>;
  /** Whether the answer comes before the change. */
  follows?: boolean;
  isDone(facts: PullSnapshot): boolean;
  isWhole(facts: PullSnapshot): boolean;
}

export type CrashFixture = Awaited<ReturnType<typeof startCrashFixture>>;

const bases = ['squash', 'rebase', 'forward', 'hand', 'ready', 'push', 'suggestions', 'merge-update', 'rebase-update'];

export async function startCrashFixture(t: Test) {
  let server = await startServerProcess(t, 'either');
  const { folder, dataDir } = server;
  const open = createFormClient(server.url);
  const setup = {
    token: new URL(server.setupLink!).searchParams.get('token')!,
    ...{ handle: 'alice', username: 'alice', password: 'correct horse battery' },
  };
  if ((await open('/setup', setup)).status !== 303) throw new Error('there is no administrator');
  await server.command('user', 'add', 'bob', '--random-password');
  await server.command('repo', 'create', 'alice/site', '--public');
  const tokenOf = (user: string) =>
    server.command('token', 'add', '--user', user, '--name', 'laptop', '--access', 'admin');
  const tokens: Record<string, string> = { alice: await tokenOf('alice'), bob: await tokenOf('bob') };
  type Person = string;
  /** The same session on the port of the moment. */
  const page = (address: string, form?: Record<string, string>) => open(new URL(address, server.url).href, form);

  const client = gitClient(folder);
  const work = path.join(folder, 'work');
  mkdirSync(work);
  const git = (...args: string[]): Promise<string> => client.expect(work, ...args);
  const remote = (who: Person): string => `http://${tokens[who]}@${new URL(server.url).host}/git/alice/site.git`;
  const push = async (who: Person, ...refs: string[]): Promise<boolean> =>
    (await client.run(work, 'push', '--quiet', remote(who), ...refs)).code === 0;
  const mustPush = async (who: Person, ...refs: string[]): Promise<void> => {
    if (!(await push(who, ...refs))) throw new Error(`push ${refs.join(' ')}`);
  };

  async function api(who: Person, method: string, at: string, body?: unknown) {
    const response = await fetch(`${server.url}/api/v1/repos/alice/site/${at}`, {
      method,
      headers: { authorization: `Bearer ${tokens[who]}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { ok: response.ok, status: response.status, text: await response.text() };
  }
  async function expect(who: Person, method: string, at: string, body?: unknown): Promise<Record<string, unknown>> {
    const { ok, status, text } = await api(who, method, at, body);
    if (!ok) throw new Error(`${method} ${at}: ${status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  }

  /** A commit that adds files, without a work tree. */
  const commit = (parent: string | null, files: Record<string, string>, message: string): string =>
    writeCommit(path.join(work, '.git'), { parents: parent === null ? [] : [parent], files, message });

  // What the server has is read from its folder: a call for each would take most of the time.
  const { path: bare } = JSON.parse(await server.command('repo', 'show', 'alice/site', '--json')) as { path: string };
  const inside = (...args: string[]): Promise<string> => client.expect(bare, '--git-dir=.', ...args);
  const tip = (branch: string): Promise<string> => inside('rev-parse', `refs/heads/${branch}`);

  const query = (sql: string, ...values: (string | number)[]): Record<string, unknown>[] => {
    const database = new DatabaseSync(path.join(dataDir, 'hearth.db'), { readOnly: true });
    try {
      return database.prepare(sql).all(...values);
    } finally {
      database.close();
    }
  };
  const isSettled = (): boolean =>
    ['pushes WHERE announced_at IS NULL', 'issue_entries WHERE announced_at IS NULL'].every(
      (rows) => query(`SELECT count(*) AS n FROM ${rows}`)[0]!['n'] === 0,
    );

  /** A pull request of a new branch that adds one file. */
  async function openPull(name: string, base: string, body = '') {
    const headOid = commit(await tip(base), { [name]: 'good\n' }, `Add ${name}`);
    await mustPush('alice', `${headOid}:refs/heads/${name}`);
    const closes =
      body === '' ? '' : `Closes #${String((await expect('alice', 'POST', 'issues', { title: name }))['number'])}`;
    const { number } = await expect('alice', 'POST', 'pulls', { title: name, head: name, base, body: closes });
    return { number: number as number, file: name, base, head: name, headOid };
  }

  /** A pull request by a push of bob. */
  async function pushFor(topic: string) {
    const headOid = commit(await tip('main'), { [topic]: 'good\n' }, `Add ${topic}`);
    await mustPush('bob', `${headOid}:refs/for/main/${topic}`);
    const known = () =>
      query('SELECT i.number FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE p.topic = ?', topic);
    await waitUntil(() => known().length === 1, `the pull request of ${topic}`);
    return { number: known()[0]!['number'] as number, file: topic, base: 'main', head: null, headOid };
  }

  async function facts({ number, topic, file, base, head }: Change): Promise<PullSnapshot> {
    const rows = query(
      `SELECT i.id, i.number, i.state, p.head_oid, p.merged_oid, p.last_round,
         (SELECT count(*) FROM pull_rounds r WHERE r.issue_id = i.id) AS rounds,
         (SELECT count(*) FROM issue_entries e WHERE e.issue_id = i.id AND e.kind = 'round') AS round_entries,
         (SELECT count(*) FROM issue_entries e WHERE e.issue_id = i.id AND e.kind = 'merged') AS merged_entries,
         (SELECT count(*) FROM issue_entries e WHERE e.issue_id = i.id AND e.kind = 'applied') AS applied_entries
       FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE ${number === undefined ? 'p.topic = ?' : 'i.number = ?'}`,
      number ?? topic!,
    );
    const [row] = rows;
    const none = { state: 'NONE', headOid: null, rounds: 0, roundEntries: 0, mergedEntries: 0, appliedEntries: 0 };
    if (row === undefined) return { ...none, commitsOfFile: 0, isOfBase: false, published: null, branch: null };
    const ofBase = await tip(base);
    const mergedOid = row['merged_oid'] as string | null;
    const listed = new Map(
      (await inside('for-each-ref', '--format=%(refname) %(objectname)'))
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    );
    return {
      state: rows.length === 1 ? String(row['state']) : `${rows.length} PULL REQUESTS`,
      headOid: String(row['head_oid']),
      rounds: row['rounds'] === row['last_round'] ? Number(row['rounds']) : -1,
      roundEntries: Number(row['round_entries']),
      mergedEntries: Number(row['merged_entries']),
      appliedEntries: Number(row['applied_entries']),
      commitsOfFile: (await inside('log', '--format=%H', ofBase, '--', file)).split('\n').filter((line) => line !== '')
        .length,
      isOfBase:
        mergedOid !== null &&
        (await client.run(bare, '--git-dir=.', 'merge-base', '--is-ancestor', mergedOid, ofBase)).code === 0,
      published: listed.get(`refs/pull/${String(row['number'])}/head`) ?? null,
      branch: head === null ? null : (listed.get(`refs/heads/${head}`) ?? 'none'),
    };
  }

  await git('init', '--quiet', '-b', 'main');
  writeFileSync(path.join(work, '.git/objects/info/alternates'), `${path.join(bare, 'objects')}\n`);
  const first = commit(null, { README: 'Hello\n' }, 'Begin');
  await mustPush('alice', `${first}:refs/heads/main`, ...bases.map((base) => `${first}:refs/heads/for-${base}`));
  const rule = { rule_name: 'for-ready', status_check_contexts: ['build'] };
  await expect('alice', 'POST', 'branch_protections', rule);

  return {
    url: (): string => server.url,
    /** Another command of the same program. */
    command: (...words: string[]): Promise<string> => server.command(...words),
    /** A person with a token. */
    async addPerson(name: string): Promise<void> {
      await server.command('user', 'add', name, '--random-password');
      tokens[name] = await tokenOf(name);
    },
    inside,
    query,
    isSettled,
    api,
    expect,
    page,
    push,
    commit,
    tip,
    openPull,
    pushFor,
    facts: async (change: Change): Promise<PullSnapshot> => {
      await waitUntil(isSettled, 'everything is announced');
      return waitUntil(async () => {
        const now = await facts(change);
        return now.published === now.headOid && now;
      }, 'its head is published');
    },
    /** Adds a commit to a branch. */
    async moveOn(base: string): Promise<void> {
      const now = await tip(base);
      await mustPush('alice', `${commit(now, { [`on-${now.slice(0, 12)}`]: 'more\n' }, 'Move on')}:refs/heads/${base}`);
    },
    /** The form value of the one suggestion of a pull request. */
    suggestionOf(number: number): string {
      const [row] = query(
        `SELECT c.thread_id, c.position FROM review_comments c JOIN review_threads t ON t.id = c.thread_id
         JOIN issues i ON i.id = t.issue_id WHERE i.number = ?`,
        number,
      );
      return `${String(row!['thread_id'])}:${String(row!['position'])}`;
    },
    async closeAll(): Promise<void> {
      for (const { number } of query("SELECT number FROM issues WHERE kind = 'PULL' AND state = 'OPEN'"))
        await expect('alice', 'PATCH', `pulls/${String(number)}`, { state: 'closed' });
    },
    kill: () => server.kill(),
    async startAgain(): Promise<void> {
      server = await startServerProcess(t, 'either', { folder });
      await waitUntil(isSettled, 'everything is announced');
    },
    stop: () => server.stop(),
    /** Refs without a row, parked pushes, issues that were closed other than once. */
    async strays(): Promise<unknown[]> {
      await waitUntil(isSettled, 'everything is announced');
      const rows = query(
        `SELECT i.number, p.head_oid FROM pulls p JOIN issues i ON i.id = p.issue_id ORDER BY i.number`,
      ).map((row) => `${String(row['head_oid'])}\trefs/pull/${String(row['number'])}/head`);
      const listed = (await git('ls-remote', remote('bob'), 'refs/pull/*/head')).split('\n');
      return [
        ...listed.filter((line) => !rows.includes(line)),
        ...rows.filter((line) => !listed.includes(line)),
        ...query('SELECT id FROM pushes WHERE parked_at IS NOT NULL'),
        ...query('SELECT push_id FROM pull_pushes'),
        ...query(
          `SELECT number, state FROM issues i WHERE kind = 'ISSUE' AND (state <> 'CLOSED' OR
             (SELECT count(*) FROM issue_entries e WHERE e.issue_id = i.id AND e.kind = 'closed') <> 1)`,
        ),
      ];
    },
    /** What the doctor says about pull requests, issues and repositories. */
    async doctor(): Promise<unknown[]> {
      const findings: unknown[] = [];
      // A trial merge that was killed leaves its folder, which is no fault: maintenance removes it later, and this now.
      await server.command('doctor', '--only', 'repositories', '--fix');
      for (const area of ['pulls', 'issues', 'repositories']) {
        const text = await server.command('doctor', '--only', area, '--json');
        findings.push(...(JSON.parse(text) as { findings: unknown[] }).findings);
      }
      return findings;
    },
  };
}
