import t from 'tap';
import { diffRefs } from '../../src/mirrors/pull.ts';
import { nextMirrorState, stateWord } from '../../src/mirrors/mirror-state.ts';
import { backoffMs } from '../../src/outbox/index.ts';

const zeros = '0'.repeat(40);
const mirror = { failures: 0, intervalMs: 5, failingSince: null, isCopy: false };
const [one, two] = ['1'.repeat(40), '2'.repeat(40)];

t.test(
  'the backoff grows from one minute to an hour, and the tenth failure pauses the mirror until a person resumes it',
  async (t) => {
    t.same(
      [1, 2, 3, 6, 7, 20].map((failures) => backoffMs(failures) / 60_000),
      [1, 2, 4, 32, 60, 60],
    );
    t.match(nextMirrorState({ ...mirror, failures: 9 }, 'no', 100), { failures: 10, isPaused: true });
    t.equal(nextMirrorState({ ...mirror, failures: 3 }, 'no', 100).nextAt, 100 + backoffMs(4));
    t.notOk('isPaused' in nextMirrorState({ ...mirror, failures: 3 }, 'no', 100), 'a pause by hand meanwhile stays');
    t.match(nextMirrorState({ ...mirror, failures: 3 }, null, 100), {
      failures: 0,
      lastError: null,
      nextAt: 105,
      lastOkAt: 100,
    });
    t.match(nextMirrorState({ ...mirror, failingSince: 50 }, 'no', 100), { failingSince: 50 });
    t.match(nextMirrorState(mirror, 'no', 100), { failingSince: 100 });
    t.equal(nextMirrorState({ ...mirror, failingSince: 50 }, null, 100).failingSince, null);
    t.notOk('isPaused' in nextMirrorState({ ...mirror, failures: 99, isCopy: true }, 'no', 100), 'a copy tries on');
    t.match(nextMirrorState({ ...mirror, isCopy: true }, 'no', 100, true), { isPaused: true });
    const row = {
      isPaused: false,
      failures: 0,
      lastOkAt: 1,
      lastStartedAt: 1,
      sshPublicKey: null,
      offeredHostKey: null,
    };
    const bySsh = { sshPublicKey: 'ssh-ed25519 AAAA' };
    t.strictSame(
      [
        { ...row, isPaused: true, failures: 3 },
        { ...row, failures: 3 },
        row,
        { ...row, lastOkAt: null },
        { ...row, ...bySsh, isPaused: true, lastStartedAt: null },
        { ...row, ...bySsh, isPaused: true },
        { ...row, ...bySsh, isPaused: true, offeredHostKey: 'ssh-ed25519 BBBB' },
      ].map(stateWord),
      ['paused', 'failing 3', 'ok', 'new', 'waiting for key', 'paused', 'host key changed'],
    );
    t.match(
      nextMirrorState({ ...mirror, failures: 0 }, 'no', 100, true),
      { failures: 1, isPaused: true },
      'what only a person can mend waits for one at once',
    );
  },
);

t.test('what moves so that here becomes there', async (t) => {
  const here = new Map([
    ['refs/heads/a', one],
    ['refs/heads/gone', one],
    ['refs/notes/own', one],
  ]);
  const there = new Map([
    ['refs/heads/a', two],
    ['refs/heads/new', one],
  ]);
  const moves = [
    { ref: 'refs/heads/a', oldId: one, newId: two },
    { ref: 'refs/heads/new', oldId: zeros, newId: one },
  ];
  t.same(diffRefs(here, there, false), moves);
  t.same(
    diffRefs(here, there, true),
    [...moves, { ref: 'refs/heads/gone', oldId: one, newId: zeros }],
    'names that mirrors do not touch stay',
  );
  t.same(diffRefs(here, new Map(), true), [], 'a remote without refs deletes nothing');
});
