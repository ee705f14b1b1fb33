// Three Hearths, each a process of its own: bob's repository away, alice keeps a copy at home, carol follows it
// elsewhere and clones the copy once its origin is lost. Between the pushes one of them is killed. HEARTH_KILLS says
// how often (default 3).
// time limit: 1200 s
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { gitClient } from '../e2e/git-client.ts';
import { freePort } from '../fixtures/free-port.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import type { TestPerson } from '../fixtures/start-hearth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Calls } from './killed-hearth.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const kills = Number(process.env['HEARTH_KILLS'] ?? 3);
const random = seededRandom(Number(process.env['HEARTH_SEED'] ?? 1));
const program = fileURLToPath(new URL('./killed-hearth.ts', import.meta.url));

/** A Hearth that can be killed and started again on its folder, at its address. */
class Killable {
  readonly origin: string;
  readonly #folder: string;
  #child: ChildProcess | null = null;
  #aheadMs = 0;
  #calls = 0;

  constructor(origin: string) {
    this.origin = origin;
    this.#folder = temporaryFolder(t);
    t.teardown(() => this.#child?.kill('SIGKILL'));
  }

  async start(peers: readonly Killable[]): Promise<void> {
    const others = peers.filter((peer) => peer !== this).map(({ origin }) => origin);
    const child = fork(program, [this.#folder, this.origin, others.join(','), String(this.#aheadMs)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    this.#child = child;
    child.setMaxListeners(100);
    const [first] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [null])]);
    if (first !== 'ready') throw new Error(`${this.origin} did not start`);
  }

  async kill(): Promise<void> {
    const exit = once(this.#child!, 'exit');
    this.#child!.kill('SIGKILL');
    await exit;
  }

  ask<Name extends keyof Calls>(call: Name, ...args: Parameters<Calls[Name]>): ReturnType<Calls[Name]> {
    if (call === 'advance') this.#aheadMs += Number(args[0]);
    const id = (this.#calls += 1);
    const child = this.#child!;
    return new Promise<unknown>((resolve, reject) => {
      const hear = (message: { id?: number; result?: unknown; error?: string }) => {
        if (message.id !== id) return;
        child.off('message', hear);
        if (message.error === undefined) resolve(message.result);
        else reject(new Error(message.error));
      };
      child.on('message', hear);
      child.send({ id, call, args });
    }) as ReturnType<Calls[Name]>;
  }
}

const hosts = ['127.0.0.2', '127.0.0.1', '127.0.0.4'];
const all = await Promise.all(hosts.map(async (host) => new Killable(`http://${host}:${await freePort(host)}`)));
const [away, home, elsewhere] = all as [Killable, Killable, Killable];
const hostOf = ({ origin }: Killable) => new URL(origin).host;
const folder = temporaryFolder(t);
const git = gitClient(folder);
const work = `${folder}/work`;

async function follow(who: Killable, person: TestPerson): Promise<string> {
  const { id } = await who.ask('follow', person.id, `bob/tool@${hostOf(away)}`);
  await waitUntil(async () => (await who.ask('state', person.id)) === 'ACCEPTED', 'the follow is accepted');
  return id;
}

t.test(`${kills} kills between three Hearths: the copy is whole, nothing is lost and nothing doubled`, async (t) => {
  for (const each of all) await each.start(all);
  const [bob, alice, carol] = await Promise.all([
    away.ask('addPerson', 'bob'),
    home.ask('addPerson', 'alice'),
    elsewhere.ask('addPerson', 'carol'),
  ]);
  // The second one is foreign to everything below.
  for (const name of ['tool', 'other']) await away.ask('create', bob, name);
  await git.expect(folder, 'init', '--quiet', '-b', 'trunk', work);
  const heads: string[] = [];
  async function push(name = 'tool'): Promise<void> {
    await git.expect(work, 'commit', '--quiet', '--allow-empty', '-m', `Change ${heads.length}`);
    if (name === 'tool') heads.push((await git.expect(work, 'rev-parse', 'HEAD')).trim());
    const url = `${away.origin.replace('://', `://x:${bob.token}@`)}/git/bob/${name}.git`;
    await git.expect(work, 'push', '--quiet', url, 'HEAD:refs/heads/trunk');
  }
  await push();
  const followId = await follow(home, alice);
  await follow(elsewhere, carol);
  await home.ask('keep', alice, followId);
  const copy = async () => (await home.ask('copies'))[0]!;
  await waitUntil(async () => (await copy()).completeTo === heads[0], 'the first transfer');

  for (let round = 0; round < kills; round += 1) {
    await push();
    await push('other');
    // A copy is fetched at most once a minute; a fetch of the round before may be running.
    await home.ask('advance', 61_000);
    await wait(random.below(400));
    const killed = all[round % all.length]!;
    await killed.kill();
    await wait(random.below(200));
    await killed.start(all);
  }
  await push();

  const received = async (who: Killable, { id }: TestPerson): Promise<unknown[]> =>
    (await who.ask('pushes', id)).sort();
  const told = heads.slice(1).sort();
  // A delivery whose answer was lost in a kill waits a minute.
  for (const each of all) await each.ask('advance', 61_000);
  for (const [who, person] of [
    [home, alice],
    [elsewhere, carol],
  ] as const) {
    await waitUntil(async () => new Set(await received(who, person)).size === told.length, 'every push has arrived');
    t.strictSame(await received(who, person), told, `each once at ${who.origin}`);
  }
  await home.ask('advance', 61_000);
  await waitUntil(async () => (await copy()).completeTo === heads.at(-1), 'the copy is complete');

  await away.kill();
  await home.ask('advance', 9 * 3_600_000);
  await waitUntil(async () => (await copy()).state === 'unreachable', 'the loss is noticed');
  const rows = await home.ask('copies');
  t.match(rows, [{ state: 'unreachable', completeTo: heads.at(-1), place: { owner: 'alice', name: 'tool' } }]);
  t.equal(rows.length, 1);
  const page = await fetch(`${home.origin}/repos/alice/tool`).then((answer) => answer.text());
  t.match(page, /unreachable since/);
  t.match(page, heads.at(-1)!.slice(0, 10));
  t.equal((await fetch(`${home.origin}/repos/alice/tool/commits/trunk`)).status, 200);
  await git.expect(folder, 'clone', '--quiet', `${home.origin}/git/alice/tool.git`, `${folder}/clone`);
  t.equal((await git.expect(`${folder}/clone`, 'rev-parse', 'HEAD')).trim(), heads.at(-1));
  const path = await home.ask('pathOf', alice, 'tool');
  await git.expect(path, 'fsck', '--strict', '--no-dangling');
});
