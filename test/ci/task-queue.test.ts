// The rounds in which waiting runners get jobs, over a queue of equal jobs.
import t from 'tap';
import type { Database } from '../../src/db/index.ts';
import type { Claim } from '../../src/ci/task-queue/claim.ts';
import { TaskQueue } from '../../src/ci/task-queue/task-queue.ts';
import type { RunnerRow } from '../../src/ci/schema/runner-schema.ts';
import type { Logger } from '../../src/kernel/index.ts';

function queueOf(count: number) {
  const claimed: number[] = [];
  let left = count;
  let claims = 0;
  const group = () => ({
    repositoryId: 'garden',
    ownerUserId: 'alice',
    ownerOrganisationId: null,
    labels: '["linux"]',
    isTrusted: 1,
    firstJobId: 1,
    waitingSince: 1,
    count: left,
  });
  const query: object = new Proxy(
    {},
    { get: (_, name) => (name === 'getRawMany' ? async () => (left === 0 ? [] : [group()]) : () => query) },
  );
  const queue = new TaskQueue({
    db: { read: { createQueryBuilder: () => query } } as unknown as Database,
    logger: { error: (_: string, { error }: { error: unknown }) => t.fail(String(error)) } as unknown as Logger,
    async claim(runner) {
      claims += 1;
      if (left === 0) return null;
      left -= 1;
      claimed.push(runner.id);
      return { task: { id: runner.id } } as Claim;
    },
    release: async () => {},
  });
  const wait = (id: number, labels = ['linux']) =>
    queue.wait(
      {
        id,
        labels,
        userId: null,
        organisationId: null,
        repositoryId: null,
        trustedOnly: false,
      } as unknown as RunnerRow,
      null,
      { holdMs: 60_000, signal: new AbortController().signal },
    );
  return {
    queue,
    wait,
    claimed,
    get claims() {
      return claims;
    },
    async add(jobs: number) {
      left += jobs;
      await queue.wake();
    },
  };
}

t.test('runners for which no job is left are not tried', async (t) => {
  const jobs = queueOf(0);
  const waits = Array.from({ length: 50 }, (_, id) => jobs.wait(id));
  await jobs.add(1);
  t.strictSame({ claims: jobs.claims, claimed: jobs.claimed }, { claims: 1, claimed: [0] });
  await jobs.add(3);
  t.strictSame({ claims: jobs.claims, claimed: jobs.claimed }, { claims: 4, claimed: [0, 1, 2, 3] });
  t.equal(jobs.queue.waiting, 46);
  await jobs.queue.stop();
  const got = await Promise.all(waits);
  t.equal(got.filter((claim) => claim !== null).length, 4);
});

t.test('runners with other labels are passed over', async (t) => {
  const jobs = queueOf(0);
  const waits = [jobs.wait(1, ['arm']), jobs.wait(2), jobs.wait(3, ['linux', 'big']), jobs.wait(4)];
  await jobs.add(2);
  t.strictSame({ claims: jobs.claims, claimed: jobs.claimed }, { claims: 2, claimed: [2, 3] });
  await jobs.queue.stop();
  await Promise.all(waits);
});
