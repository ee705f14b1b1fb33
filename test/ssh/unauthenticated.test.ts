import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { startSsh } from './ssh-fixture.ts';
import type { SshFixture } from './ssh-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const introduction = 'SSH-2.0-Tester\r\n';

t.test('security F07: the offer is exactly the pinned list', async (t) => {
  const hearth = await startSsh(t);
  const { socket, received } = hearth.socket(t);
  socket.write(introduction);
  await waitUntil(() => received().length > 20 && received().length >= 20 + received().readUInt32BE(16));
  const bytes = received();
  t.equal(bytes.subarray(0, 16).toString(), 'SSH-2.0-Hearth\r\n', 'no version of anything is told');

  // RFC 4253 §6 and §7.1: length, padding length, message 20, cookie, ten lists.
  const payload = bytes.subarray(16 + 5);
  t.equal(payload[0], 20);
  const lists: string[] = [];
  let at = 17;
  for (let index = 0; index < 10; index += 1) {
    const length = payload.readUInt32BE(at);
    lists.push(payload.toString('latin1', at + 4, at + 4 + length));
    at += 4 + length;
  }
  const ciphers = 'aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,aes256-ctr';
  const macs = 'hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512';
  t.same(lists, [
    [
      'mlkem768x25519-sha256',
      'curve25519-sha256',
      'curve25519-sha256@libssh.org',
      'ecdh-sha2-nistp256',
      'ecdh-sha2-nistp384',
      'ecdh-sha2-nistp521',
      'diffie-hellman-group14-sha256',
      'kex-strict-s-v00@openssh.com',
    ].join(','),
    'ssh-ed25519,ecdsa-sha2-nistp256',
    ciphers,
    ciphers,
    macs,
    macs,
    'none',
    'none',
    '',
    '',
  ]);
});

t.test('a client that supports one algorithm of each kind connects, whichever it is', async (t) => {
  const hearth = await startSsh(t);
  const { key } = await hearth.person('alice');
  const whoami = (...options: string[]) => hearth.ssh(['whoami'], { keys: [key], options });
  const connects = async (...options: string[]) =>
    t.match(await whoami(...options), { code: 0, stdout: 'alice\n' }, options.join(' '));
  for (const kex of [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
  ]) {
    await connects(`KexAlgorithms=${kex}`);
  }
  for (const cipher of ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com']) await connects(`Ciphers=${cipher}`);
  for (const cipher of ['aes128-ctr', 'aes256-ctr']) {
    for (const mac of [
      'hmac-sha2-256-etm@openssh.com',
      'hmac-sha2-512-etm@openssh.com',
      // All that libssh2 1.10 has, which programs other than git use.
      'hmac-sha2-256',
      'hmac-sha2-512',
    ]) {
      await connects(`Ciphers=${cipher}`, `MACs=${mac}`);
    }
  }
});

t.test('a client whose algorithms are too weak, or unknown here, gets the reason', async (t) => {
  const hearth = await startSsh(t);
  const { key } = await hearth.person('alice');
  const whoami = (...options: string[]) => hearth.ssh(['whoami'], { keys: [key], options });
  for (const option of [
    'KexAlgorithms=diffie-hellman-group14-sha1',
    'KexAlgorithms=diffie-hellman-group-exchange-sha256',
    'Ciphers=chacha20-poly1305@openssh.com',
    'Ciphers=aes128-cbc',
    'HostKeyAlgorithms=rsa-sha2-512',
  ]) {
    t.match(await whoami(option), { code: 255, stderr: /no matching/ }, option);
  }
  t.match(await whoami('Ciphers=aes128-ctr', 'MACs=hmac-sha1'), { code: 255, stderr: /no matching MAC/ });
});

t.test('security F08: a client that does not sign in in time is disconnected, whatever it sends', async (t) => {
  const hearth = await startSsh(t, { limits: { loginGraceMs: 1_000 } });
  const silent = hearth.socket(t);
  const polite = hearth.socket(t);
  polite.socket.write(introduction);
  const dripping = hearth.socket(t);
  const drip = setInterval(() => dripping.socket.write('S'), 20);
  t.teardown(() => clearInterval(drip));
  // Exchanges keys, then never tries to sign in.
  const undecided = hearth.client(t, { authHandler: () => {} } as Parameters<SshFixture['client']>[1]);
  await t.rejects(undecided, /closed|ECONNRESET/);
  for (const { closed } of [silent, polite, dripping]) {
    const afterMs = await closed;
    t.ok(afterMs >= 900 && afterMs < 10_000);
  }
  const { key } = await hearth.person('alice');
  const client = await hearth.client(t, { privateKey: key.privateKey });
  let isOpen = true;
  client.on('close', () => (isOpen = false));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  t.ok(isOpen, 'a client that signed in may stay');
});

t.test('security F08: one address is served in few connections at a time, the others in turn', async (t) => {
  const hearth = await startSsh(t, { limits: { perAddress: 2, silentMs: 60_000, quietMs: 60_000 } });
  const greeted = ({ received }: ReturnType<SshFixture['socket']>) => received().toString().startsWith('SSH-2.0-');
  const first = hearth.socket(t);
  const second = hearth.socket(t);
  await waitUntil(() => greeted(first) && greeted(second));
  const third = hearth.socket(t);
  third.socket.write(introduction);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.notOk(greeted(third));
  first.socket.destroy();
  t.ok(await waitUntil(() => greeted(third)));
});

t.test('a burst of clones is served completely, and silent sockets are displaced by it', async (t) => {
  const hearth = await startSsh(t, { limits: { perAddress: 3, silentMs: 50 } });
  const { key } = await hearth.person('alice');
  for (let index = 0; index < 5; index += 1) hearth.socket(t);
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => hearth.ssh(['whoami'], { keys: [key] })));
  t.same(new Set(outcomes.map(({ stdout }) => stdout)), new Set(['alice\n']));
});

t.test('the connection queue is limited', async (t) => {
  const hearth = await startSsh(t, { limits: { perAddress: 1, waiting: 3, silentMs: 60_000, connections: 6 } });
  const sockets = Array.from({ length: 10 }, () => hearth.socket(t));
  let closed = 0;
  for (const socket of sockets) void socket.closed.then(() => (closed += 1));
  t.ok(await waitUntil(() => closed === 6), 'one is served and three wait');
});

t.test('security F09: no sequence of bytes ends or blocks the server', async (t) => {
  const hearth = await startSsh(t, { limits: { perAddress: 100, arriving: 100, connections: 1_000 } });
  const random = seededRandom(7);
  const bytesOf = (length: number) => Buffer.from(random.bytes(length));
  const packet = (payload: Buffer) => {
    const padding = 8 - ((payload.length + 5) % 8) + 4;
    const head = Buffer.alloc(5);
    head.writeUInt32BE(payload.length + padding + 1);
    head[4] = padding;
    return Buffer.concat([head, payload, Buffer.alloc(padding)]);
  };
  const kexInit = () => {
    const names = [
      'curve25519-sha256,kex-strict-c-v00@openssh.com',
      'ssh-ed25519',
      'aes128-ctr',
      'aes128-ctr',
      'hmac-sha2-256-etm@openssh.com',
      'hmac-sha2-256-etm@openssh.com',
      'none',
      'none',
      '',
      '',
    ];
    const lists = names.map((name) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(name.length);
      return Buffer.concat([length, Buffer.from(name)]);
    });
    return packet(Buffer.concat([Buffer.from([20]), bytesOf(16), ...lists, Buffer.alloc(5)]));
  };
  const makers: (() => Buffer)[] = [
    () => bytesOf(random.below(4_000)),
    () => Buffer.concat([Buffer.from(introduction), bytesOf(random.below(4_000))]),
    () =>
      Buffer.concat([
        Buffer.from(introduction),
        packet(Buffer.concat([Buffer.from([random.below(256)]), bytesOf(random.below(200))])),
      ]),
    () =>
      Buffer.concat([
        Buffer.from(introduction),
        kexInit(),
        packet(Buffer.concat([Buffer.from([30, 0, 0, 0, 32]), bytesOf(32)])),
        bytesOf(100),
      ]),
    () => {
      const bytes = Buffer.concat([Buffer.from(introduction), kexInit()]);
      for (let times = 0; times < 4; times += 1) bytes[random.below(bytes.length)] = random.below(256);
      return bytes;
    },
    () => Buffer.from(`SSH-1.99-x\r\n${'A'.repeat(random.below(20_000))}`),
  ];
  for (let round = 0; round < 120; round += 1) {
    const { socket } = hearth.socket(t);
    const bytes = random.pick(makers)();
    const cut = random.below(bytes.length + 1);
    socket.write(bytes.subarray(0, cut));
    setImmediate(() => (random.chance(0.5) ? socket.end(bytes.subarray(cut)) : socket.destroy()));
    if (round % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { key } = await hearth.person('alice');
  t.match(await hearth.ssh(['whoami'], { keys: [key] }), { code: 0, stdout: 'alice\n' });
  t.same(hearth.events('ssh.fault'), []);
  t.same(hearth.events('ssh.server_error'), []);
});
