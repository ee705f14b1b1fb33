import { generateKeyPairSync, randomBytes } from 'node:crypto';
import t from 'tap';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { hybridKeys, MlkemClient, sshString } from './mlkem-client.ts';
import { startSsh } from './ssh-fixture.ts';

const mlkem = 'mlkem768x25519-sha256';
const serverHalfBytes = 1_088 + 32;
const hearth = await startSsh(t, { limits: { perAddress: 100, arriving: 100 } });
const { key } = await hearth.person('alice');

async function meet(owner: Owner): Promise<MlkemClient> {
  const client = new MlkemClient(hearth.socket(owner).socket);
  await client.introduce();
  return client;
}

t.test('a client and the server exchange keys by ML-KEM-768 with X25519, and re-key', async (t) => {
  const pair = generateKeyPairSync('ed25519');
  const blob = Buffer.concat([
    sshString('ssh-ed25519'),
    sshString(pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)),
  ]);
  const { id } = await hearth.modules.accounts.addPerson({ username: 'bob' });
  await hearth.modules.accounts.addKey(id, { title: 'test', line: `ssh-ed25519 ${blob.toString('base64')}` });
  const client = await meet(t);
  t.equal(await client.exchange([mlkem]), serverHalfBytes);
  await client.signIn(pair);
  await client.talk();
  t.equal(await client.exchange([mlkem]), serverHalfBytes);
  await client.talk();
});

t.test('a client that does not sign in cannot repeat the key exchange', async (t) => {
  const client = await meet(t);
  await client.exchange([mlkem]);
  await client.exchange([mlkem]);
  await t.rejects(client.exchange([mlkem]), /message 1 in place|closed/);
});

t.test('a correctly guessed key exchange is used, a wrong guess is ignored', async (t) => {
  const right = await meet(t);
  t.equal(await right.exchange([mlkem, 'curve25519-sha256'], { guesses: true }), serverHalfBytes);
  const wrong = await meet(t);
  t.equal(await wrong.exchange(['sntrup761x25519-sha512', mlkem], { wrongGuess: true }), serverHalfBytes);
});

t.test('the client’s order decides, as RFC 4253 says', async (t) => {
  const client = await meet(t);
  client.send(client.kexInit(['curve25519-sha256', mlkem]));
  await client.receive(20);
  client.send(Buffer.concat([Buffer.from([30]), sshString(hybridKeys().sent.subarray(-32))]));
  const reply = await client.receive(31);
  const hostKeyBytes = reply.readUInt32BE(1);
  t.equal(reply.readUInt32BE(5 + hostKeyBytes), 32, 'plain X25519');
});

t.test('security F09: malformed public keys end the connection and nothing else', async (t) => {
  const { sent } = hybridKeys();
  const cases: [what: string, bytes: Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['too short', sent.subarray(1)],
    ['too long', Buffer.concat([sent, Buffer.alloc(1)])],
    ['X25519 alone', sent.subarray(-32)],
    // FIPS 203 §7.2: every coefficient is below 3,329.
    ['an encapsulation key out of range', Buffer.concat([Buffer.alloc(1_184, 0xff), sent.subarray(-32)])],
    // The secret would be zero, whatever the server does (RFC 7748 §6.1).
    ['a point of small order', Buffer.concat([sent.subarray(0, 1_184), Buffer.alloc(32)])],
  ];
  for (const [what, bytes] of cases) {
    const client = await meet(t);
    client.send(client.kexInit([mlkem]));
    await client.receive(20);
    client.send(Buffer.concat([Buffer.from([30]), sshString(bytes)]));
    await t.rejects(client.receive(31), /message 1 in place|closed/, what);
  }
  t.equal(hearth.events('ssh.protocol_error').length, cases.length);
});

t.test('security F09: malformed lists of names end the connection and nothing else', async (t) => {
  const init = (await meet(t)).kexInit([mlkem]);
  const tooLong = Buffer.from(init);
  tooLong.writeUInt32BE(0xff_ff_ff_ff, 17);
  for (const bytes of [init.subarray(0, 1), init.subarray(0, 19), init.subarray(0, 40), tooLong, randomBytes(0)]) {
    const client = await meet(t);
    client.send(bytes);
    await client.receive(20);
    // One empty message has no effect; a second one ends the connection.
    client.send(Buffer.concat([Buffer.from([30]), sshString('x')]));
    await t.rejects(client.receive(31), /message 1 in place|closed/);
  }
  t.same(hearth.events('ssh.fault'), []);
  t.same(hearth.events('ssh.server_error'), []);
  t.match(await hearth.ssh(['whoami'], { keys: [key] }), { code: 0, stdout: 'alice\n' });
});
