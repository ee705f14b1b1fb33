import t from 'tap';
import { randomBytes } from 'node:crypto';
import type { Client, ClientChannel } from 'ssh2';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { exec, startSsh } from './ssh-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

/** Private parts of ssh2's client, to violate the protocol. */
interface Inside {
  _sock: { pause(): void };
  _protocol: {
    session(channel: number, window: number, packetBytes: number): void;
    channelClose(channel: number): void;
    exec(channel: number, command: string, wantReply: boolean): void;
    _cipher: { allocPacket(bytes: number): Buffer; encrypt(packet: Buffer): void };
  };
}
const inside = (client: Client) => client as unknown as Inside;

const hearth = await startSsh(t, { limits: { stallMs: 400 } });
const alice = await hearth.person('alice');
const signIn = () => hearth.client(t, { privateKey: alice.key.privateKey });
const open = (client: Client, command: string) =>
  new Promise<ClientChannel>((resolve, reject) => {
    client.exec(command, (error, channel) => (error === undefined ? resolve(channel) : reject(error)));
  });
const closing = (client: Client) => new Promise<void>((resolve) => client.once('close', () => resolve()));
const lastReason = () => hearth.events('ssh.closing').at(-1)?.['reason'];

/** While it is installed, commands that look for a repository never end. */
function respondNothing(t: { teardown(done: () => void): void }): void {
  const { repositories } = hearth.modules;
  const { openGitForRead } = repositories;
  t.teardown(() => (repositories.openGitForRead = openGitForRead));
  repositories.openGitForRead = () => new Promise(() => {});
}

t.test('ten sessions at a time, and another is refused meanwhile', async (t) => {
  respondNothing(t);
  const client = await signIn();
  const [first] = (await Promise.all(Array.from({ length: 10 }, () => open(client, "git-upload-pack 'a/b'")))) as [
    ClientChannel,
  ];
  await t.rejects(open(client, 'whoami'), /open fail/i);
  first.close();
  t.ok(
    await waitUntil(() =>
      exec(client, 'whoami').then(
        ({ code }) => code === 0,
        () => false,
      ),
    ),
  );
});

t.test('one account has a limit of connections, and its clients get the reason', async (t) => {
  const crowded = await startSsh(t, { limits: { perAccount: 2 } });
  const { key } = await crowded.person('alice');
  const { key: bobs } = await crowded.person('bob');
  const { repositories } = crowded.modules;
  repositories.openGitForRead = () => new Promise(() => {});
  const reasons = () => crowded.events('ssh.closing').map(({ reason }) => reason);
  const signIn = () => crowded.client(t, { privateKey: key.privateKey });
  const [first, second] = [await signIn(), await signIn()];
  const firstCloses = closing(first);
  await open(second, "git-upload-pack 'a/b'");
  const third = await signIn();
  await firstCloses;
  t.same(reasons(), ['account_full'], 'the idle one made room');
  await open(third, "git-upload-pack 'a/b'");
  const refused = await crowded.ssh(['whoami'], { keys: [key] });
  t.match(refused, { code: 255, stderr: /Too many connections of your account/ });
  t.match(await crowded.ssh(['whoami'], { keys: [bobs] }), { code: 0, stdout: 'bob\n' });
  second.end();
  t.ok(await waitUntil(async () => (await crowded.ssh(['whoami'], { keys: [key] })).code === 0));
});

t.test('a client that offers too many keys gets the reason', async (t) => {
  const strict = await startSsh(t, { limits: { maxAuthTries: 2 } });
  const keys = [strict.newKey(), strict.newKey(), strict.newKey()];
  t.match(await strict.ssh(['whoami'], { keys }), { code: 255, stderr: /Too many authentication failures/ });
});

t.test('a client that accepts no packets cannot keep the server in a loop', async (t) => {
  for (const packetBytes of [0, 1, 1_023]) {
    const client = await signIn();
    const { session } = inside(client)._protocol;
    inside(client)._protocol.session = function (channel, window) {
      session.call(this, channel, window, packetBytes);
    };
    const closed = closing(client);
    client.exec('help', () => {});
    await closed;
    t.equal(lastReason(), 'packets_too_small');
  }
});

t.test('a client that sends more than it may is disconnected before it fills the memory', async (t) => {
  respondNothing(t);
  const client = await signIn();
  const channel = await open(client, "git-upload-pack 'a/b'");
  (channel as unknown as { outgoing: { window: number } }).outgoing.window = 2 ** 31;
  const closed = closing(client);
  // Never exactly the end of the window, where ssh2 itself would stop reading.
  const junk = randomBytes(65_537);
  for (let index = 0; index < 400; index += 1) channel.write(junk);
  await closed;
  t.equal(lastReason(), 'flow_control_ignored');
});

t.test('a client that grants a large window and does not read is disconnected', async (t) => {
  const { repositories } = hearth.modules;
  const { list } = repositories;
  t.teardown(() => (repositories.list = list));
  let pages = 0;
  repositories.list = async () => {
    pages += 1;
    const row = { name: 'x'.repeat(60_000), visibility: 'PUBLIC', updatedAt: 0, owner: { handle: 'alice' } };
    return { repositories: [row], next: 'more' } as unknown as Awaited<ReturnType<typeof list>>;
  };
  const client = await signIn();
  const { session } = inside(client)._protocol;
  inside(client)._protocol.session = function (channel, _window, packetBytes) {
    session.call(this, channel, 2 ** 32 - 1, packetBytes);
  };
  await open(client, 'repo list');
  inside(client)._sock.pause();
  t.ok(await waitUntil(() => lastReason() === 'stalled'));
  const before = pages;
  t.ok(pages * 60_000 < 64_000_000, 'the kernel buffers some');
  client.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(pages, before, 'and the command has ended');
});

t.test('a silent connection is closed after the idle time', async (t) => {
  const impatient = await startSsh(t, { limits: { idleMs: 500 } });
  const { key } = await impatient.person('bob');
  const startedAt = performance.now();
  const client = await impatient.client(t, { privateKey: key.privateKey });
  await closing(client);
  t.match(impatient.events('ssh.closing'), [{ reason: 'idle' }]);
  t.ok(performance.now() - startedAt > 450);
});

t.test('sessions that are opened and closed without a request end the connection', async (t) => {
  const client = await signIn();
  const closed = closing(client);
  for (let index = 0; index < 20; index += 1) {
    inside(client)._protocol.session(100 + index, 2 ** 21, 32_768);
    inside(client)._protocol.channelClose(index);
  }
  await closed;
  t.equal(lastReason(), 'empty_sessions');
});

t.test('security F09: no message of a signed-in client ends or blocks the server', async (t) => {
  const random = seededRandom(11);
  const words = [
    'session',
    'exec',
    'env',
    'pty-req',
    'shell',
    'subsystem',
    'x11-req',
    'signal',
    'window-change',
    'auth-agent-req@openssh.com',
    'direct-tcpip',
    'tcpip-forward',
    'no-more-sessions@openssh.com',
    'whoami',
    "git-upload-pack 'a/b'",
  ];
  const text = (value: string) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(value.length);
    return Buffer.concat([length, Buffer.from(value)]);
  };
  const chunk = () =>
    random.pick([
      () => text(random.pick(words)),
      () => Buffer.from([0, 0, 0, random.below(3)]),
      () => Buffer.from([random.below(2)]),
      () => random.bytes(random.below(40)),
      () => Buffer.from([255, 255, 255, 255]),
    ])();
  for (let round = 0; round < 15; round += 1) {
    const client = await signIn();
    const { _cipher } = inside(client)._protocol;
    for (let times = 0; times < 10; times += 1) {
      const type = random.pick([
        1, 2, 3, 4, 5, 7, 20, 21, 30, 50, 61, 80, 90, 90, 90, 93, 94, 95, 96, 97, 98, 98, 98, 98,
      ]);
      const payload = Buffer.concat([Buffer.from([type]), ...Array.from({ length: 1 + random.below(6) }, chunk)]);
      const packet = _cipher.allocPacket(payload.length);
      packet.set(payload, 5);
      _cipher.encrypt(packet);
    }
    client.end();
  }
  t.match(await exec(await signIn(), 'whoami'), { code: 0, stdout: 'alice\n' });
  t.same(hearth.events('ssh.fault'), []);
});
