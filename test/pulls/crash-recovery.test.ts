// time limit: 300 s
// A server that is killed while every kind of change to pull requests is under way at once: rounds by pushes, merges in
// each style, by hand and when ready, updates of a branch, suggestions. HEARTH_CHAOS sets how often.
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { startCrashFixture } from './crash-recovery-fixture.ts';
import type { Change, PullSnapshot, CrashFixture } from './crash-recovery-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const kills = Number(process.env['HEARTH_CHAOS'] ?? 3);
/** Changes that are under way at a kill. */
const atOnce = 5;
t.setTimeout(120_000 + kills * 30_000);

type Kind = (fixture: CrashFixture, kill: number) => Promise<Change>;

/** A merge of a branch: the pull request is merged if and only if its base branch has the file, and once. */
const isMergedOnce = ({ state, mergedEntries, commitsOfFile, isOfBase }: PullSnapshot): boolean =>
  state === 'MERGED'
    ? mergedEntries === 1 && commitsOfFile === 1 && isOfBase
    : mergedEntries === 0 && commitsOfFile === 0;

const merges =
  (style: string, base: string): Kind =>
  async (fixture, kill) => {
    const pull = await fixture.openPull(`${style}-${kill}`, base, base === 'main' ? 'closes an issue' : '');
    const address = `pulls/${pull.number}/merge`;
    return {
      ...pull,
      act: async () => (await fixture.api('alice', 'POST', address, { Do: style })).ok,
      isDone: ({ state }) => state === 'MERGED',
      isWhole: isMergedOnce,
    };
  };

/** A change that makes the second round of a pull request. */
const isRoundOnce = ({ state, rounds, roundEntries, headOid, published, branch }: PullSnapshot): boolean =>
  state === 'OPEN' && roundEntries === rounds - 1 && published === headOid && (branch === null || branch === headOid);

const updates =
  (style: string): Kind =>
  async (fixture, kill) => {
    const base = `for-${style}-update`;
    const pull = await fixture.openPull(`update-${style}-${kill}`, base);
    await fixture.moveOn(base);
    const address = `pulls/${pull.number}/update?style=${style}`;
    return {
      ...pull,
      act: async () => (await fixture.api('alice', 'POST', address)).ok,
      isDone: ({ rounds }) => rounds === 2,
      isWhole: isRoundOnce,
    };
  };

const kinds: Record<string, Kind> = {
  merge: merges('merge', 'main'),
  squash: merges('squash', 'for-squash'),
  rebase: merges('rebase', 'for-rebase'),
  'fast-forward': merges('fast-forward-only', 'for-forward'),
  async 'merge by hand'(fixture, kill) {
    const pull = await fixture.openPull(`by-hand-${kill}`, 'for-hand');
    return {
      ...pull,
      act: () => fixture.push('alice', `${pull.headOid}:refs/heads/for-hand`),
      isDone: ({ state }) => state === 'MERGED',
      isWhole: isMergedOnce,
    };
  },
  async 'merge when ready'(fixture, kill) {
    const pull = await fixture.openPull(`ready-${kill}`, 'for-ready');
    const asked = { Do: 'merge', merge_when_checks_succeed: true };
    await fixture.expect('alice', 'POST', `pulls/${pull.number}/merge`, asked);
    const status = { context: 'build', state: 'success' };
    return {
      ...pull,
      act: async () => (await fixture.api('alice', 'POST', `commits/${pull.headOid}/statuses`, status)).ok,
      // The answer says that the status is there; the merge follows.
      follows: true,
      isDone: ({ state }) => state === 'MERGED',
      isWhole: isMergedOnce,
    };
  },
  async 'push to the head branch'(fixture, kill) {
    const pull = await fixture.openPull(`pushed-${kill}`, 'for-push');
    const next = fixture.commit(pull.headOid, { [`more-${kill}`]: 'more\n' }, `More ${kill}`);
    return {
      ...pull,
      act: () => fixture.push('alice', `${next}:refs/heads/${pull.head}`),
      isDone: ({ headOid }) => headOid === next,
      isWhole: isRoundOnce,
    };
  },
  async 'push to refs/for'(fixture, kill) {
    const base = await fixture.tip('main');
    const headOid = fixture.commit(base, { [`for-${kill}`]: 'new\n' }, `Contribution ${kill}`);
    const topic = `topic-${kill}`;
    return {
      file: `for-${kill}`,
      base: 'main',
      head: null,
      topic,
      act: () => fixture.push('bob', `${headOid}:refs/for/main/${topic}`),
      isDone: (facts) => facts.headOid === headOid,
      isWhole: (facts) => (facts.rounds === 0 ? facts.state === 'NONE' : facts.rounds === 1 && isRoundOnce(facts)),
    };
  },
  async 'next push to refs/for'(fixture, kill) {
    const pull = await fixture.pushFor(`again-${kill}`);
    const next = fixture.commit(pull.headOid, { [`again-more-${kill}`]: 'more\n' }, `More ${kill}`);
    return {
      ...pull,
      act: () => fixture.push('bob', `${next}:refs/for/main/again-${kill}`),
      isDone: ({ headOid }) => headOid === next,
      isWhole: isRoundOnce,
    };
  },
  'update by a merge': updates('merge'),
  'update by a rebase': updates('rebase'),
  async 'update of a pushed one'(fixture, kill) {
    const pull = await fixture.pushFor(`behind-${kill}`);
    await fixture.moveOn('main');
    return {
      ...pull,
      act: async () => (await fixture.api('alice', 'POST', `pulls/${pull.number}/update?style=merge`)).ok,
      isDone: ({ rounds }) => rounds === 2,
      isWhole: isRoundOnce,
    };
  },
  async suggestions(fixture, kill) {
    const pull = await fixture.openPull(`suggested-${kill}`, 'for-suggestions');
    const comment = { path: pull.file, new_position: 1, body: '```suggestion\nbetter\n```' };
    await fixture.expect('alice', 'POST', `pulls/${pull.number}/reviews`, { event: 'COMMENT', comments: [comment] });
    const place = fixture.suggestionOf(pull.number);
    const form = { comment: place, round: '1', shown: '' };
    return {
      ...pull,
      act: async () => (await fixture.page(`/repos/alice/site/pulls/${pull.number}/apply`, form)).status === 303,
      isDone: ({ rounds }) => rounds === 2,
      isWhole: (facts) => isRoundOnce(facts) && facts.appliedEntries <= facts.rounds - 1,
    };
  },
};

const order = Object.keys(kinds);

t.test(`${kills} kills: what was acknowledged is there, and everything at most once`, async (t) => {
  const random = seededRandom(kills + 77);
  const fixture = await startCrashFixture(t);
  const landed: Record<string, { acknowledged: number; done: number; total: number }> = {};
  /** How long a kind takes: a kill comes anywhere from its start until a bit later. */
  let longestMs = 600;
  for (let kill = 0; kill < kills; kill += 1) {
    const names = Array.from({ length: atOnce }, (_, at) => order[(kill * atOnce + at) % order.length]!);
    const changes = await Promise.all(
      names.map(async (name): Promise<[string, Change]> => [name, await kinds[name]!(fixture, kill)]),
    );
    const startedAt = performance.now();
    const answers = changes.map(async ([, { act }]) => {
      await sleep(random.below(150));
      const isAcknowledged = await act().catch(() => false);
      if (isAcknowledged) longestMs = Math.max(longestMs, performance.now() - startedAt);
      return isAcknowledged;
    });
    await sleep(20 + random.below(Math.min(longestMs, 10_000) + 100));
    await fixture.kill();
    const acknowledged = await Promise.all(answers);
    await fixture.startAgain();
    for (const [at, [name, change]] of changes.entries()) {
      const what = `kill ${kill}: ${name}`;
      const now = await fixture.facts(change);
      if (!change.isWhole(now)) t.fail(`${what} is half done`, { now });
      const count = (landed[name] ??= { acknowledged: 0, done: 0, total: 0 });
      count.total += 1;
      if (acknowledged[at]) count.acknowledged += 1;
      if (change.isDone(now)) count.done += 1;
      else if (acknowledged[at] && change.follows !== true) t.fail(`${what} was acknowledged and is lost`, { now });
      if (change.isDone(now)) continue;
      // What did not come to be is done by trying again, which says how long it takes on this machine.
      const againAt = performance.now();
      if (!(await change.act())) t.fail(`${what} cannot be done again`, { now });
      longestMs = Math.max(longestMs, performance.now() - againAt);
      await waitUntil(async () => change.isDone(await fixture.facts(change)), `${what}, again`);
      const again = await fixture.facts(change);
      if (!change.isWhole(again)) t.fail(`${what} is half done, once it was tried again`, { again });
    }
    // Who may only read has twenty open ones at most.
    await fixture.closeAll();
    t.pass(`kill ${kill}`);
  }
  for (const [name, { acknowledged, done, total }] of Object.entries(landed))
    t.comment(`${name}: ${total} cut, ${acknowledged} acknowledged before, ${done} done after the start`);
  t.same(await fixture.strays(), [], 'each ref of a pull request has its row, and each issue was closed once');
  t.equal(await fixture.stop(), 0);
  t.same(await fixture.doctor(), [], 'the doctor finds nothing');
});
