import t from 'tap';
import { writeFileSync } from 'node:fs';
import ssh2 from 'ssh2';
import type { ConnectConfig, ParsedKey } from 'ssh2';
import { keyRefusal } from '../../src/ssh/keys/verify-key.ts';
import { exec, startSsh } from './ssh-fixture.ts';
import type { KeyFiles } from './ssh-fixture.ts';

const hearth = await startSsh(t);
const alice = await hearth.person('alice');
const bob = await hearth.person('bob');
const outsider = hearth.newKey();

const whoami = async (keys: KeyFiles[], options: string[] = []) => {
  const { code, stdout, stderr } = await hearth.ssh(['whoami'], { keys, options });
  return code === 0 ? stdout.trim() : stderr.trim().split('\n').at(-1);
};
const denied = 'git@127.0.0.1: Permission denied (publickey).';

/** Only the public half is on disk, so OpenSSH can offer the key and cannot sign. */
function publicHalfOf(key: KeyFiles): KeyFiles {
  const { file } = hearth.newKey();
  writeFileSync(`${file}-other.pub`, `${key.publicLine}\n`);
  return { ...key, file: `${file}-other.pub` };
}

const parsed = (line: string) => ssh2.utils.parseKey(line) as ParsedKey;

/** An agent that lists some keys and signs with others. */
class Forger extends ssh2.BaseAgent<ParsedKey> {
  readonly shown: readonly KeyFiles[];
  readonly signer: ParsedKey;
  constructor(shown: readonly KeyFiles[], signer: ParsedKey) {
    super();
    this.shown = shown;
    this.signer = signer;
  }
  getIdentities(done: (error: Error | null, keys?: ParsedKey[]) => void) {
    done(
      null,
      this.shown.map(({ publicLine }) => parsed(publicLine)),
    );
  }
  override sign(_key: ParsedKey, data: Buffer, ...rest: unknown[]) {
    const done = rest.at(-1) as (error: Error | null, signature?: Buffer) => void;
    done(null, this.signer.sign(data));
  }
}

t.test('security F02: keys may come in any order; the one that signs identifies the account', async (t) => {
  t.equal(await whoami([alice.key]), 'alice');
  t.equal(await whoami([bob.key]), 'bob');
  t.equal(await whoami([outsider, bob.key]), 'bob');
  t.equal(await whoami([alice.key, bob.key]), 'alice');
  t.equal(await whoami([bob.key, alice.key]), 'bob');
  t.equal(await whoami([alice.key], ['User=root']), 'alice', 'the user name does not matter');
  t.equal(await whoami([outsider]), denied);
  t.equal(await whoami([]), denied);
});

t.test('security F01: offering one key and signing with another signs in the owner of the second', async (t) => {
  t.equal(await whoami([publicHalfOf(bob.key), alice.key]), 'alice');
  t.equal(await whoami([publicHalfOf(bob.key), publicHalfOf(alice.key)]), denied);
  t.equal(await whoami([publicHalfOf(bob.key), outsider]), denied);
});

t.test('security F01: a signature by another key is refused', async (t) => {
  const signer = (key: KeyFiles) => parsed(key.privateKey);
  const attempts: [string, KeyFiles, KeyFiles][] = [
    ["bob's key, signed by alice", bob.key, alice.key],
    ["bob's key, signed with another key", bob.key, outsider],
  ];
  for (const [name, shown, signing] of attempts) {
    const agent = new Forger([shown], signer(signing)) as unknown as NonNullable<ConnectConfig['agent']>;
    await t.rejects(hearth.client(t, { agent }), /authentication methods failed/, name);
  }
  t.match(hearth.events('ssh.try_refused').at(-1), { reason: 'bad_signature' });
  const honest = new Forger([bob.key], signer(bob.key)) as unknown as NonNullable<ConnectConfig['agent']>;
  await t.resolves(hearth.client(t, { agent: honest }), 'the same agent with the right key gets in');
});

t.test('all key types work; RSA only with SHA-2', async (t) => {
  for (const bits of [256, 384, 521]) {
    const { key } = await hearth.person(`ecdsa${bits}`, hearth.newKey('ecdsa', bits));
    t.equal(await whoami([key]), `ecdsa${bits}`);
  }
  const { key } = await hearth.person('rsa-user', hearth.newKey('rsa', 3072));
  t.equal(await whoami([key]), 'rsa-user');
  for (const algorithm of ['rsa-sha2-256', 'rsa-sha2-512']) {
    t.equal(await whoami([key], [`PubkeyAcceptedAlgorithms=${algorithm}`]), 'rsa-user', algorithm);
  }
  const { stderr } = await hearth.ssh(['whoami'], { keys: [key], flags: ['-v'] });
  t.match(
    stderr,
    'server-sig-algs=<ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256>',
  );
  t.equal(await whoami([key], ['PubkeyAcceptedAlgorithms=ssh-rsa']), denied);
});

t.test('keys that cannot be verified here are named in the log', async (t) => {
  const named = (name: string) => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(name.length);
    return Buffer.concat([head, Buffer.from(name), Buffer.alloc(40)]);
  };
  const cases: [string, Buffer, string | undefined, string | null][] = [
    ['ssh-ed25519', named('ssh-ed25519'), undefined, null],
    ['ssh-rsa', named('ssh-rsa'), 'sha512', null],
    ['ssh-rsa', named('ssh-rsa'), undefined, 'rsa_with_sha1'],
    ['ssh-rsa', named('ssh-ed25519'), 'sha256', 'key_type_mismatch'],
    ['ssh-ed25519', named('ecdsa-sha2-nistp256'), undefined, 'key_type_mismatch'],
    ['ssh-ed25519', Buffer.from([0, 0]), undefined, 'key_type_mismatch'],
    ['ssh-ed25519', Buffer.from([255, 255, 255, 255, 1]), undefined, 'key_type_mismatch'],
    ['ssh-ed25519', Buffer.alloc(9_000), undefined, 'key_too_long'],
    ['ssh-dss', named('ssh-dss'), undefined, 'key_type_unsupported'],
    ['ssh-ed25519-cert-v01@openssh.com', named('ssh-ed25519-cert-v01@openssh.com'), undefined, 'key_type_unsupported'],
    ['sk-ssh-ed25519@openssh.com', named('sk-ssh-ed25519@openssh.com'), undefined, 'security_key_unsupported'],
  ];
  for (const [algo, data, hashAlgo, obstacle] of cases) {
    t.equal(
      keyRefusal({ key: { algo, data }, ...(hashAlgo === undefined ? {} : { hashAlgo }) }),
      obstacle,
      `${algo} ${obstacle}`,
    );
  }
});

t.test('security F02 public keys are the only method', async (t) => {
  for (const method of ['password', 'keyboard-interactive', 'hostbased', 'none']) {
    t.equal(await whoami([], [`PreferredAuthentications=${method}`]), denied, method);
  }
  const attempts = [
    'BatchMode=no',
    'NumberOfPasswordPrompts=1',
    'PreferredAuthentications=password,keyboard-interactive',
  ];
  t.equal(await whoami([], attempts), denied);
  await t.rejects(hearth.client(t, { password: 'a long enough password' }), /authentication methods failed/);
});

t.test('security F08 after six refused attempts the connection ends', async (t) => {
  const wrong = Array.from({ length: 6 }, () => hearth.newKey());
  t.equal(await whoami([...wrong.slice(1), alice.key]), 'alice');
  const { code, stdout, stderr } = await hearth.ssh(['whoami'], { keys: [...wrong, alice.key] });
  t.match({ code, stdout }, { code: 255, stdout: '' });
  t.match(stderr, /Received disconnect|Connection closed|Connection reset/);
  t.match(hearth.events('ssh.closing').at(-1), { reason: 'too_many_tries' });
});

t.test('security E04: a removed key or person loses access at once, also on an open connection', async (t) => {
  const carol = await hearth.person('carol');
  const client = await hearth.client(t, { privateKey: carol.key.privateKey });
  t.same(await exec(client, 'whoami'), { code: 0, stdout: 'carol\n', stderr: '' });
  await hearth.modules.accounts.setDisabled(carol.id, true);
  t.same(await exec(client, 'whoami'), { code: 1, stdout: '', stderr: 'hearth: This key is no longer accepted.\n' });
  t.equal(await whoami([carol.key]), denied);
  await hearth.modules.accounts.setDisabled(carol.id, false);
  t.equal(await whoami([carol.key]), 'carol');
  const [key] = await hearth.modules.accounts.listKeys(carol.id);
  await hearth.modules.accounts.removeKey(carol.id, key!.id);
  t.equal(await whoami([carol.key]), denied);
});

t.test('only a verified signature counts as a use of a key', async (t) => {
  const { id, key } = await hearth.person('dave');
  const lastUsed = async () => {
    await hearth.modules.accounts.settled();
    return (await hearth.modules.accounts.listKeys(id))[0]!.lastUsedAt;
  };
  await whoami([publicHalfOf(key)]);
  t.equal(await lastUsed(), null);
  await whoami([key]);
  t.type(await lastUsed(), 'number');
});

t.test('a person without a handle reads how to choose one', async (t) => {
  const { key } = await hearth.person(null);
  t.equal(await whoami([key]), 'hearth: Sign in on the web page and choose a username first.');
});
