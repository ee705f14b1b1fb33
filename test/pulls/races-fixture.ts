// startRaces(t) → the server of pushes with bob's and alice's viewers and what a race needs: between(git function, act)
// runs an act once after git has computed, and before the write; hold() keeps announced pushes from the listener of
// pull requests until release(); open(name, …) → a pull request of a new branch of alice's.
import { personViewer } from '../../src/access/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { startPullServer } from './pull-server.ts';
import type { Clone } from './pull-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

export const numbered = (count: number, change: Record<number, string> = {}): string =>
  Array.from({ length: count }, (_, at) => `${change[at + 1] ?? `line ${at + 1}`}\n`).join('');

export async function startRaceFixture(t: Owner) {
  const server = await startPullServer(t);
  const { modules } = server.app;
  const { accounts, git, pulls } = modules;
  const viewerOf = async (username: string) => personViewer((await accounts.personByUsername(username))!.id, 'admin');
  const [alice, bob] = [await viewerOf('alice'), await viewerOf('bob')];

  /** The next time that git computes a merge (or a revert), `act` runs before the result is written. */
  function between(which: 'merge' | 'revert' | 'commitFiles', act: () => Promise<unknown>, times = 1): void {
    const original = git.merges[which] as (...args: never[]) => Promise<unknown>;
    let left = times;
    Object.assign(git.merges, {
      async [which](...args: never[]) {
        const computed = await original(...args);
        if ((left -= 1) === 0) Object.assign(git.merges, { [which]: original });
        await act();
        return computed;
      },
    });
  }

  /** Keeps pushes from the listener of pull requests. */
  function hold(): { release(): void; isReached: Promise<void> } {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const { onPush, pushesFor } = pulls;
    const original = onPush.prepare!;
    const { whenRecorded } = pushesFor;
    pushesFor.whenRecorded = async () => null;
    onPush.prepare = async (push) => {
      reached.resolve();
      await gate.promise;
      return original(push);
    };
    return {
      isReached: reached.promise,
      release() {
        onPush.prepare = original;
        pushesFor.whenRecorded = whenRecorded;
        gate.resolve();
      },
    };
  }

  /** A branch of alice's clone with one commit on origin/main, as a pull request. */
  async function open(
    clone: Clone,
    name: string,
    files: Record<string, string>,
    { branch = 'topic', base = 'main', title = 'Change it' } = {},
  ) {
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('checkout', '--quiet', '-B', branch, `origin/${base}`);
    let head = '';
    for (const [file, text] of Object.entries(files)) head = await clone.commit(file, text);
    const { code, stderr } = await clone.push('--quiet', '--force', 'origin', branch);
    if (code !== 0) throw new Error(stderr);
    const at = { owner: 'alice', name };
    const { issue } = await pulls.open(alice, at, { title, head: branch, base });
    // The CI computes a merge for its entry.
    const unannounced = () => server.db.read.query('SELECT 1 FROM issue_entries WHERE announced_at IS NULL');
    await waitUntil(async () => (await unannounced()).length === 0, 'its entry is announced');
    return { at: { ...at, number: issue.number }, head };
  }

  /** Commits on another branch of a clone and pushes it; the work tree goes back to where it was. */
  async function pushTo(clone: Clone, branch: string, file: string, text: string): Promise<string> {
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('checkout', '--quiet', '--detach', `origin/${branch}`);
    const oid = await clone.commit(file, text);
    const { code, stderr } = await clone.push('--quiet', 'origin', `HEAD:refs/heads/${branch}`);
    if (code !== 0) throw new Error(stderr);
    return oid;
  }

  const tipOf = async (name: string, branch = 'main'): Promise<string | undefined> =>
    (await git.refs.list(await server.pathOf(name))).get(`refs/heads/${branch}`);

  const stateOf = async (at: { owner: string; name: string; number: number }) => {
    await server.announced();
    const { issue, pull } = await pulls.find(alice, at);
    return { state: issue.state, rounds: pull.lastRound, headOid: pull.headOid, wish: pull.mergeWhenReady !== null };
  };

  return { ...server, modules, alice, bob, viewerOf, between, hold, open, pushTo, tipOf, stateOf };
}
