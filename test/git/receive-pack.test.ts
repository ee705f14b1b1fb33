import { readdirSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { flushPacket, gerritFolders } from '../../src/git/index.ts';
import { invalid, unavailable } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { errorWithReason, gitSync, killBelow, openGit, processesBelow, sampleRepository } from './git-fixture.ts';
import {
  createHookRecorder,
  openPush,
  packetLines,
  packOf,
  pushBytes,
  readResponse,
  sendPush,
  defaultCapabilities,
  zeroId,
} from './push-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const sample = sampleRepository();
const idOf = (revision: string) => gitSync(['rev-parse', revision], { cwd: sample });
const [main, before, topic, tag] = [idOf('main'), idOf('main~1'), idOf('topic'), idOf('v1')] as [
  string,
  string,
  string,
  string,
];
const pack = packOf(sample, 'main', 'topic', 'v1');
const created = pushBytes({ commands: [`${zeroId} ${main} refs/heads/main`], pack });

/** Files that git leaves when it is killed. */
function leftovers(repository: string): string[] {
  const names = readdirSync(repository, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /tmp_|\.lock$/.test(name));
}

t.test('an accepted push is authorised before git acts and settled before it is acknowledged', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const seen = createHookRecorder({ accept: true, remarks: ['push option ignored: a\u001b[1m'] });
  const order: string[] = [];
  const push = openPush(git, repository, {
    async preReceive(push) {
      order.push(`preReceive with ${(await git.refs.list(repository)).size} refs`);
      return seen.preReceive(push);
    },
    async postReceive(results) {
      await sleep(50);
      order.push(
        `postReceive with ${(await git.refs.list(repository)).size} refs, answer ${readResponse(push.response()).report.length} lines`,
      );
      return seen.postReceive(results);
    },
  });
  const commands = [
    `${zeroId} ${main} refs/heads/main`,
    `${zeroId} ${topic} refs/heads/topic`,
    `${zeroId} ${tag} refs/tags/v1`,
  ];
  push.input.end(
    pushBytes({ commands, capabilities: 'report-status-v2 side-band-64k push-options', options: ['a', 'b=c'], pack }),
  );
  const outcome = await push.outcome;

  t.same(order, ['preReceive with 0 refs', 'postReceive with 3 refs, answer 0 lines']);
  t.same(seen.pushes, [
    {
      updates: [
        { ref: 'refs/heads/main', oldId: zeroId, newId: main },
        { ref: 'refs/heads/topic', oldId: zeroId, newId: topic },
        { ref: 'refs/tags/v1', oldId: zeroId, newId: tag },
      ],
      options: ['a', 'b=c'],
      isAtomic: false,
    },
  ]);
  const ok = ['refs/heads/main', 'refs/heads/topic', 'refs/tags/v1'].map((ref) => ({ ref, ok: true }));
  t.same(seen.results, [ok]);
  t.match(outcome, { kind: 'reported', results: ok });
  const { report, remarks } = readResponse(push.response());
  t.same(report, ['unpack ok', 'ok refs/heads/main', 'ok refs/heads/topic', 'ok refs/tags/v1', 'flush']);
  t.match(remarks, 'push option ignored: a [1m\n');
  t.notMatch(remarks, /\u001b/);
  t.equal(push.response().subarray(-4).toString(), '0000');
  t.same([...(await git.refs.list(repository)).values()], [main, topic, tag]);
  t.equal(gitSync(['fsck', '--full', '--strict'], { cwd: repository }), '');
});

t.test('a push with mixed results is settled ref by ref', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  await sendPush(git, repository, created);
  const seen = createHookRecorder();
  const commands = [
    `${before} ${topic} refs/heads/main`,
    `${zeroId} ${topic} refs/heads/topic`,
    `${zeroId} ${'9'.repeat(40)} refs/heads/nothing`,
    `${main} ${zeroId} refs/heads/absent`,
  ];
  const { response } = await sendPush(
    git,
    repository,
    pushBytes({ commands, pack: packOf(sample, 'topic', '^main') }),
    seen,
  );
  t.match(seen.results, [
    [
      { ref: 'refs/heads/main', ok: false, reason: /.+/ },
      { ref: 'refs/heads/topic', ok: true },
      { ref: 'refs/heads/nothing', ok: false, reason: /.+/ },
      { ref: 'refs/heads/absent' },
    ],
  ]);
  t.match(
    readResponse(response).report.join('\n'),
    /^unpack ok\nng refs\/heads\/main .+\nok refs\/heads\/topic\nng refs\/heads\/nothing/,
  );
  t.equal((await git.refs.list(repository)).get('refs/heads/main'), main);
});

t.test('moves, forced moves and deletions work with the client’s side left open as over SSH', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  await sendPush(git, repository, created);
  const step = async (command: string, body?: Buffer) => {
    const seen = createHookRecorder();
    const bytes = pushBytes({ commands: [command], ...(body === undefined ? {} : { pack: body }) });
    const { outcome } = await sendPush(git, repository, bytes, seen, body !== undefined);
    t.match(outcome, { kind: 'reported', results: [{ ok: true }] }, command);
    return seen;
  };
  await step(`${main} ${topic} refs/heads/main`, packOf(sample, 'topic', '^main'));
  await step(`${topic} ${before} refs/heads/main`, packOf(sample, 'main~1', '^topic'));
  await step(`${zeroId} ${topic} refs/heads/doomed`, packOf(sample, 'topic', '^main'));
  await step(`${topic} ${zeroId} refs/heads/doomed`);
  t.same([...(await git.refs.list(repository))], [['refs/heads/main', before]]);

  const { response } = await sendPush(
    git,
    repository,
    pushBytes({ commands: [`${before} ${zeroId} refs/heads/main`] }),
    createHookRecorder(),
    false,
  );
  t.match(readResponse(response).report[1], /^ng refs\/heads\/main/, 'the default branch stays');
});

t.test('responses without a side band, and without a report', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const seen = createHookRecorder({ accept: true, remarks: ['has no place'] });
  const plain = pushBytes({ commands: [`${zeroId} ${main} refs/heads/main`], capabilities: 'report-status', pack });
  t.same(packetLines((await sendPush(git, repository, plain, seen)).response), [
    'unpack ok',
    'ok refs/heads/main',
    'flush',
  ]);
  t.same(seen.results, [[{ ref: 'refs/heads/main', ok: true }]]);

  const silent = pushBytes({ commands: [`${zeroId} ${topic} refs/heads/topic`], capabilities: 'agent=x', pack });
  const { outcome, response } = await sendPush(git, repository, silent, seen);
  t.match(outcome, { kind: 'unreported', clean: true });
  t.equal(response.length, 0);
  t.equal((await git.refs.list(repository)).get('refs/heads/topic'), topic);
});

t.test('git’s probe and an empty push have no effect', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const seen = createHookRecorder();
  for (const bytes of [flushPacket, Buffer.alloc(0)]) {
    const { outcome, response } = await sendPush(git, repository, bytes, seen);
    t.same(outcome, { kind: 'nothing' });
    t.equal(response.length, 0);
  }
  t.same(seen.pushes, []);
});

t.test(
  'SECURITY A09: a push that the pre-receive hook refuses leaves no object, starts no git, and shows the reason',
  async (t) => {
    const { git, newRepository } = await openGit(t);
    const repository = await newRepository();
    const seen = createHookRecorder({ accept: false, reason: 'this repository is\u0007 archived' });
    for (const capabilities of ['report-status side-band-64k', 'report-status']) {
      const bytes = pushBytes({
        commands: [`${zeroId} ${main} refs/heads/main`, `${zeroId} ${topic} refs/heads/topic`],
        capabilities,
        pack,
      });
      const { outcome, response } = await sendPush(git, repository, bytes, seen);
      t.match(outcome, { kind: 'refused' });
      const report = capabilities.includes('side-band') ? readResponse(response).report : packetLines(response);
      t.same(report, [
        'unpack ok',
        'ng refs/heads/main this repository is  archived',
        'ng refs/heads/topic this repository is  archived',
        'flush',
      ]);
    }
    t.same(seen.results, []);
    t.same(readdirSync(path.join(repository, 'objects')).sort(), ['info', 'pack']);
    t.equal(git.load().writes.running, 0);
  },
);

t.test('a failing pre-receive hook stops the push before git has acted', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const failing = { preReceive: () => Promise.reject(invalid('journal', 'cannot write')), postReceive: async () => {} };
  await t.rejects(sendPush(git, repository, created, failing), errorWithReason('journal'));
  t.equal((await git.refs.list(repository)).size, 0);
  t.equal(git.load().writes.running, 0);
});

t.test(
  'SECURITY A05: a ref that a push may not write is refused alone, before the hook is called; with atomic, all are',
  async (t) => {
    const { git, newRepository } = await openGit(t);
    const repository = await newRepository();
    const seen = createHookRecorder();
    const refs: (string | Buffer)[] = [
      'refs/heads/-x',
      'refs/tags/--upload-pack=touch',
      'refs/heads/HEAD',
      'HEAD',
      'refs/hearth/x',
      'refs/replace/a',
      'refs/stash',
      'refs/heads/a..b',
      'refs/heads/a b',
      'refs/heads/a\u001b[1m',
      'refs/heads/x.lock',
      '../../escape',
      'refs/heads/../../config',
      '/etc/passwd',
      'refs//heads/a',
      Buffer.concat([Buffer.from('refs/heads/'), Buffer.from([0xff, 0xfe])]),
      `refs/heads/${'x'.repeat(2_000)}`,
      'refs/heads/$(touch x)/..',
      'refs/pull/7/head',
      'refs/for/main',
      'refs/changes/01/1/1',
    ];
    const bad = refs.map((ref) => Buffer.concat([Buffer.from(`${zeroId} ${main} `), Buffer.from(ref as string)]));
    for (const [at, line] of bad.entries()) {
      const commands = [`${zeroId} ${main} refs/heads/fine`, line];
      const bytes = pushBytes({ commands, pack, capabilities: `${defaultCapabilities} atomic` });
      const { outcome, response } = await sendPush(git, repository, bytes, seen);
      t.match(outcome, { kind: 'refused' }, refs[at]!.toString());
      const { report } = readResponse(response);
      t.equal(report[1], 'ng refs/heads/fine atomic push failure');
      t.match(report[2], /^ng /);
      t.notMatch(report.join(''), /\u001b.*reason/);
    }
    await sendPush(git, repository, pushBytes({ commands: bad, pack }), seen);
    t.same(seen.pushes, [], 'nobody was asked');
    t.same(readdirSync(path.join(repository, 'objects')).sort(), ['info', 'pack'], 'git was never started');

    const [head, ...rest] = bad;
    const commands = [head!, `${zeroId} ${main} refs/heads/fine`, ...rest, `${zeroId} ${topic} refs/heads/too`];
    const { outcome, response } = await sendPush(git, repository, pushBytes({ commands, pack }), seen);
    const fine = ['refs/heads/fine', 'refs/heads/too'];
    t.match(outcome, { kind: 'reported', results: fine.map((ref) => ({ ref, ok: true })) });
    t.same(
      seen.pushes[0]!.updates.map(({ ref }) => ref),
      fine,
      'the observer receives the others only',
    );
    t.same([...(await git.refs.list(repository)).keys()], fine);
    const { report } = readResponse(response);
    t.equal(report.length, commands.length + 2, 'a line for each, in the order of the push');
    t.match([report[1], report[2], report.at(-2)], {
      0: /^ng refs\/heads\/-x a new name may not start/,
      1: 'ok refs/heads/fine',
      2: 'ok refs/heads/too',
    });
  },
);

t.test(
  'limits of a push as a whole refuse all of it; the refs of a repository are granted up to their limit',
  async (t) => {
    const { git, newRepository } = await openGit(t, {
      limits: { maxUpdatesPerPush: 50, maxRefs: 3, maxPushOptions: 2 },
    });
    const repository = await newRepository();
    const seen = createHookRecorder();
    const refused = async (commands: string[], more: object = {}) => {
      const { response } = await sendPush(git, repository, pushBytes({ commands, pack, ...more }), seen);
      return readResponse(response).report;
    };
    const many = (count: number) => Array.from({ length: count }, (_, n) => `${zeroId} ${main} refs/heads/b${n}`);
    t.match((await refused(many(51)))[51], /^ng refs\/heads\/b50 one push may update at most 50 refs/);
    t.match((await refused([many(1)[0]!, many(1)[0]!]))[1], /^ng refs\/heads\/b0 the push names this ref twice/);
    t.match(
      (
        await refused(many(1), { capabilities: 'report-status side-band-64k push-options', options: ['a', 'b', 'c'] })
      )[1],
      /^ng refs\/heads\/b0 .*options/,
    );
    t.same(seen.pushes, [], 'nobody was asked');
    t.equal((await git.refs.list(repository)).size, 0);
    t.same(readdirSync(path.join(repository, 'objects')).sort(), ['info', 'pack'], 'git was never started');

    t.same(await refused(many(4), { capabilities: `${defaultCapabilities} atomic` }), [
      'unpack ok',
      'ng refs/heads/b0 atomic push failure',
      'ng refs/heads/b1 atomic push failure',
      'ng refs/heads/b2 atomic push failure',
      'ng refs/heads/b3 a repository has at most 3 refs',
      'flush',
    ]);
    t.same(await refused(many(2)), ['unpack ok', 'ok refs/heads/b0', 'ok refs/heads/b1', 'flush']);
    t.same(
      (await refused(many(5).slice(2))).slice(1, -1),
      [
        'ok refs/heads/b2',
        'ng refs/heads/b3 a repository has at most 3 refs',
        'ng refs/heads/b4 a repository has at most 3 refs',
      ],
      'what was granted before counts',
    );
    t.equal((await git.refs.list(repository)).size, 3);
    const exchange = [`${main} ${zeroId} refs/heads/b1`, `${zeroId} ${main} refs/heads/b5`];
    t.same((await refused(exchange)).slice(1, -1), ['ok refs/heads/b1', 'ok refs/heads/b5'], 'what goes makes room');
    t.match((await refused([many(7)[6]!]))[1], /^ng refs\/heads\/b6 a repository has at most 3 refs/);
  },
);

t.test('two pushes at once are not granted the same refs', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { maxRefs: 4 } });
  const repository = await newRepository();
  const push = (name: string) =>
    sendPush(
      git,
      repository,
      pushBytes({ commands: [1, 2, 3].map((n) => `${zeroId} ${main} refs/heads/${name}${n}`), pack }),
    );
  await Promise.all([push('a'), push('b'), push('c')]);
  t.equal((await git.refs.list(repository)).size, 4);
});

t.test("Gerrit's refs are accepted where the repository's settings say so", async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const refs = ['refs/changes/01/1/1', 'refs/meta/config'];
  const bytes = pushBytes({ commands: refs.map((ref) => `${zeroId} ${main} ${ref}`), pack });
  const push = openPush(git, repository, createHookRecorder(), { extraFolders: gerritFolders });
  push.input.end(bytes);
  t.match(await push.outcome, { kind: 'reported', results: [{ ok: true }, { ok: true }] });
  t.same([...(await git.refs.list(repository)).keys()], refs);
});

t.test('refused refs are summarised by namespace', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const many = (count: number, ref: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => `${zeroId} ${main} ${ref(n)}`);
  const commands = [
    ...many(1_234, (n) => `refs/pull/${n}/head`),
    ...many(12, (n) => `refs/remotes/origin/${n}`),
    ...many(2, (n) => `refs/stash${n}/x`),
    ...many(1, () => 'refs/for/main'),
    ...many(1, () => 'refs/heads/main'),
  ];
  const { response } = await sendPush(
    git,
    repository,
    pushBytes({ commands, pack, capabilities: `${defaultCapabilities} quiet` }),
  );
  const { remarks, report } = readResponse(response);
  t.same(remarks.split('\n').slice(0, -1), [
    "1,234 refs under refs/pull/ were left out: they are the server's own",
    '12 refs under refs/remotes/ were left out: only refs/heads/, refs/tags/ and refs/notes/ can be pushed',
    "1 ref under refs/for/ was left out: it is the server's own",
  ]);
  t.equal(report.filter((line) => line.startsWith('ng ')).length, commands.length - 1);
  t.equal(report[1], 'ng refs/pull/0/head reserved for the server');
  t.equal(report.at(-2), 'ok refs/heads/main');
});

t.test('the pre-receive hook may refuse single refs; a rule that one breaks does not affect the others', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  await sendPush(git, repository, created);
  const commands = [
    `${main} ${zeroId} refs/heads/main`,
    `${zeroId} ${topic} refs/heads/topic`,
    `${zeroId} ${main} refs/heads/no`,
  ];
  const refused = [{ ref: 'refs/heads/main', reason: 'it stays' }];
  const seen = createHookRecorder({ accept: true, refused });
  const body = packOf(sample, 'topic', '^main');
  const { response } = await sendPush(git, repository, pushBytes({ commands: commands.slice(0, 2), pack: body }), seen);
  t.same(readResponse(response).report, ['unpack ok', 'ng refs/heads/main it stays', 'ok refs/heads/topic', 'flush']);
  t.same(seen.results, [[{ ref: 'refs/heads/topic', ok: true }]], 'results are those of what it accepted');

  const none = createHookRecorder({ accept: false, reason: 'no', refused });
  const { response: all } = await sendPush(git, repository, pushBytes({ commands, pack: body }), none);
  t.same(readResponse(all).report.slice(1, 3), ['ng refs/heads/main it stays', 'ng refs/heads/topic no']);
  t.same(none.results, []);
});

t.test("when only deletions are left, git gets no pack, and the client's pack is discarded", async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  await sendPush(git, repository, pushBytes({ commands: [`${zeroId} ${topic} refs/heads/topic`], pack }));
  for (const stateless of [true, false]) {
    await sendPush(git, repository, pushBytes({ commands: [`${zeroId} ${topic} refs/heads/gone`], pack }));
    const commands = [`${zeroId} ${main} refs/pull/1/head`, `${topic} ${zeroId} refs/heads/gone`];
    const push = openPush(git, repository, createHookRecorder(), { stateless });
    push.input.write(pushBytes({ commands, pack }));
    push.input.end(Buffer.alloc(200_000));
    t.match(await push.outcome, { kind: 'reported', results: [{ ref: 'refs/heads/gone', ok: true }] });
    t.same(readResponse(push.response()).report.slice(1, 3), [
      'ng refs/pull/1/head reserved for the server',
      'ok refs/heads/gone',
    ]);
    t.same([...(await git.refs.list(repository)).keys()], ['refs/heads/topic']);
  }
});

t.test('a client that reads only after it has sent everything gets the report after its request', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { maxDrainBytes: 3_000_000 } });
  const repository = await newRepository();
  const refs = Array.from({ length: 200 }, (_, n) => `refs/pull/${'x'.repeat(50)}${n}/head`);
  const commands = refs.map((ref) => `${zeroId} ${main} ${ref}`);
  const push = openPush(git, repository, createHookRecorder(), { stateless: true });
  push.input.write(pushBytes({ commands, pack }));
  push.input.write(Buffer.alloc(1_000_000));
  await waitUntil(() => push.input.readableLength === 0 && push.input.writableLength === 0);
  t.equal(push.response().length, 0);
  push.input.end(Buffer.alloc(1_000_000));
  t.match(await push.outcome, { kind: 'refused' });
  t.equal(readResponse(push.response()).report.length, refs.length + 2);

  const endless = openPush(git, repository, createHookRecorder(), { stateless: true });
  endless.input.write(pushBytes({ commands, pack }));
  for (let n = 0; n < 4; n += 1) endless.input.write(Buffer.alloc(1_000_000));
  t.match(await endless.outcome, { kind: 'refused' }, 'a request without end is left');
  t.same(readResponse(endless.response()), {
    remarks: '',
    failure: 'The push was refused: reserved for the server\n',
    report: [],
  });

  const slow = openPush(git, repository, createHookRecorder(), { stateless: true, stallMs: 400 });
  slow.input.write(pushBytes({ commands, pack }));
  const dripping = setInterval(() => slow.input.write('x'), 50);
  t.match(await slow.outcome, { kind: 'refused' }, 'one that crawls is left, too');
  clearInterval(dripping);
  t.match(readResponse(slow.response()).failure, /refused: reserved/);
});

t.test('a full disk or another temporary obstacle is a refusal with a message, not an error', async (t) => {
  const { git, newRepository } = await openGit(t);
  const seen = createHookRecorder();
  seen.preReceive = () => Promise.reject(unavailable('disk_full', 'The disk is full: nothing was changed.'));
  const { outcome, response } = await sendPush(git, await newRepository(), created, seen);
  t.match(outcome, { kind: 'refused' });
  t.equal(readResponse(response).report[1], 'ng refs/heads/main The disk is full: nothing was changed.');
});

t.test('a refused push of many megabytes is read to its end, up to a limit', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { maxDrainBytes: 4_000_000 } });
  const repository = await newRepository();
  for (const [megabytes, readWhole] of [
    [2, true],
    [20, false],
  ] as const) {
    const push = openPush(git, repository, createHookRecorder({ accept: false, reason: 'no' }));
    push.input.write(created);
    for (let n = 0; n < megabytes; n += 1) push.input.write(Buffer.alloc(1_000_000));
    push.input.end();
    t.match(await push.outcome, { kind: 'refused' });
    t.equal(push.input.readableEnded, readWhole, `${megabytes} MB`);
    t.match(readResponse(push.response()).report, [/unpack ok/, /ng refs\/heads\/main no/]);
  }
});

t.test('damaged and truncated packs are reported, and leave nothing', async (t) => {
  const { git, newRepository } = await openGit(t);
  const damaged = Buffer.from(pack);
  damaged[40]! ^= 0xff;
  const bodies: [string, Buffer][] = [
    ['cut', pack.subarray(0, pack.length - 30)],
    ['damaged', damaged],
    ['no pack', Buffer.from('hello')],
    ['empty', Buffer.alloc(0)],
    ['objects missing', packOf(sample, 'main', '^main~1')],
  ];
  for (const [name, body] of bodies) {
    const repository = await newRepository();
    const seen = createHookRecorder();
    const { response, outcome } = await sendPush(
      git,
      repository,
      pushBytes({ commands: [`${zeroId} ${main} refs/heads/main`], pack: body }),
      seen,
    );
    t.match(outcome, { kind: 'reported', results: [{ ok: false, reason: /.+/ }] }, name);
    t.match(readResponse(response).report.join(), /ng refs\/heads\/main/, name);
    t.equal(seen.results.length, 1);
    t.equal((await git.refs.list(repository)).size, 0);
    t.same(leftovers(repository), [], name);
  }
});

t.test('a pack above the limit is refused by git while it arrives', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { maxPushBytes: 200 } });
  const { outcome } = await sendPush(git, await newRepository(), created);
  t.match(outcome, { kind: 'reported', results: [{ ok: false }] });
});

/** A repository with a blob that takes a while to send. */
function largePush(t: Owner): { bytes: Buffer; id: string } {
  const work = temporaryFolder(t);
  gitSync(['init', '--quiet', '--initial-branch=main'], { cwd: work });
  writeFileSync(path.join(work, 'large'), randomBytes(2_000_000));
  gitSync(['add', '.'], { cwd: work });
  gitSync(['commit', '--quiet', '--message=large'], { cwd: work });
  const id = gitSync(['rev-parse', 'HEAD'], { cwd: work });
  return { id, bytes: pushBytes({ commands: [`${zeroId} ${id} refs/heads/main`], pack: packOf(work, 'HEAD') }) };
}

t.test('SECURITY I12: a client that leaves in the middle of its pack leaves no process and no file', async (t) => {
  const { git, newRepository } = await openGit(t);
  const { bytes } = largePush(t);
  for (const leaves of ['aborts', 'closes', 'fails'] as const) {
    const repository = await newRepository();
    const seen = createHookRecorder();
    const push = openPush(git, repository, seen);
    push.input.write(bytes.subarray(0, 1_000_000));
    await waitUntil(async () => (await processesBelow(repository)).length > 0);
    if (leaves === 'aborts') push.gone.abort();
    if (leaves === 'closes') push.input.destroy();
    if (leaves === 'fails') push.input.destroy(invalid('body_too_large', 'The request is too large.'));
    t.match(await push.outcome, { kind: 'reported', results: [{ ok: false }] }, leaves);
    t.equal(seen.results.length, 1, 'git tidied up and said so');
    if (leaves === 'fails') t.match(readResponse(push.response()).remarks, 'The request is too large.');
    await waitUntil(async () => (await processesBelow(repository)).length === 0);
    t.same(leftovers(repository), []);
    await waitUntil(() => git.load().writes.running === 0);
  }
});

t.test('SECURITY I04: a client that stops sending loses its slot', async (t) => {
  const { git, newRepository } = await openGit(t);
  const { bytes } = largePush(t);
  const push = openPush(git, await newRepository(), createHookRecorder(), { stallMs: 200 });
  push.input.write(bytes.subarray(0, 1_000_000));
  t.match(await push.outcome, { kind: 'reported', results: [{ ok: false }] });
  t.equal(git.load().processes, 0);
});

t.test('when git is killed during a push, the client gets an error and the caller compares the refs', async (t) => {
  const { git, newRepository } = await openGit(t);
  const { bytes } = largePush(t);
  const repository = await newRepository();
  const push = openPush(git, repository);
  push.input.write(bytes.subarray(0, 1_000_000));
  await waitUntil(async () => (await processesBelow(repository)).length > 1);
  await killBelow(repository);
  t.match(await push.outcome, { kind: 'unreported', clean: false });
  t.match(readResponse(push.response()).failure, /interrupted/);
  await waitUntil(() => git.load().writes.running === 0, 'SECURITY R03: the slot is free');
  t.same(leftovers(repository), [], 'what it left behind is removed without a restart');
});

t.test('when the journal cannot be settled, the client still gets its acknowledgement', async (t) => {
  const { git, newRepository, log } = await openGit(t);
  const failing = { ...createHookRecorder(), postReceive: () => Promise.reject(new Error('disk full')) };
  const { response, outcome } = await sendPush(git, await newRepository(), created, failing);
  t.match(outcome, { kind: 'reported' });
  t.match(readResponse(response).report, ['unpack ok', 'ok refs/heads/main']);
  t.match(log, [{ event: 'push.settle_failed' }]);
});

t.test('pushes beyond the slots wait, and are refused with Retry-After before anything is journalled', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { writesPerRepository: 1, queueWaitMs: 300, queue: 1 } });
  const repository = await newRepository();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const first = sendPush(git, repository, created, {
    ...createHookRecorder(),
    preReceive: async () => (await held, { accept: true }),
  });
  await waitUntil(() => git.load().writes.running === 1);
  const seen = createHookRecorder();
  const second = t.rejects(sendPush(git, repository, created, seen), errorWithReason('git_busy'), 'waited too long');
  await waitUntil(() => git.load().writes.waiting === 1);
  await t.rejects(sendPush(git, repository, created, seen), errorWithReason('git_busy'), 'the queue is full');
  await second;
  t.same(seen.pushes, []);
  release();
  t.match((await first).outcome, { kind: 'reported' });
});

t.test('twenty pushes of one branch at once: one wins, the others are refused cleanly', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const ids = [main, before, topic];
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      sendPush(git, repository, pushBytes({ commands: [`${zeroId} ${ids[n % 3]} refs/heads/main`], pack })),
    ),
  );
  const won = all.filter(({ outcome }) => outcome.kind === 'reported' && outcome.results[0]!.ok);
  t.equal(won.length, 1);
  t.same(leftovers(repository), []);
});

t.test('git starts while a push is authorised, and can do nothing until then', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const verdicts: ((accept: boolean) => void)[] = [];
  const seen = createHookRecorder();
  seen.preReceive = () =>
    new Promise((resolve) => verdicts.push((accept) => resolve(accept ? { accept } : { accept, reason: 'no' })));
  const bytes = pushBytes({ commands: [`${zeroId} ${main} refs/heads/main`], pack: packOf(sample, 'main') });
  for (const [turn, accept] of [false, true].entries()) {
    const pushing = sendPush(git, repository, bytes, seen);
    await waitUntil(() => verdicts.length === turn + 1 && git.load().processes === 1);
    await sleep(60);
    t.equal((await git.refs.list(repository)).size, 0);
    t.same(readdirSync(path.join(repository, 'objects', 'pack')), [], 'no object can be found');
    verdicts[turn]!(accept);
    t.equal((await pushing).outcome.kind, accept ? 'reported' : 'refused');
    await waitUntil(() => git.load().processes === 0, 'the end of git');
    t.notOk(
      readdirSync(path.join(repository, 'objects')).some((name) => name.includes('incoming')),
      'SECURITY A09',
    );
    t.equal((await git.refs.list(repository)).size, accept ? 1 : 0);
  }
});
