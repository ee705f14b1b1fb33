// time limit: 120 s
// The table of docs/sign-in.md: each credential is tried on each surface of a running server.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ssh2 from 'ssh2';
import { newSecret } from '../../src/accounts/index.ts';
import { stepOf, totpCode } from '../../src/accounts/second-factor/totp.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { createAuthenticator } from '../accounts/software-authenticator.ts';
import { freePort } from '../fixtures/free-port.ts';
import { clientGit } from '../git/git-fixture.ts';
import { startForge } from '../http-runner/rpc-fixture.ts';
import type { Forge } from '../http-runner/rpc-fixture.ts';
import { connectClient } from '../http-runner/runner-client.ts';

t.setTimeout(110_000);

/** A credential: what each surface is given. */
interface Credential {
  /** What a client of an API, of git or of a runner sends; what SSH gets as a password. */
  secret?: string;
  /** Signs in at the web. @returns the cookie header, or `asks` */
  signIn?: () => Promise<string>;
  privateKey?: string;
  runnerUuid?: string;
}
type Answer = 'yes' | 'no' | 'asks';

let forge: Forge;
let origin = '';
const address = { address: '127.0.0.1', userAgent: 'test' };

t.before(async () => {
  const port = await freePort();
  origin = `http://localhost:${port}`;
  forge = await startForge(t, { env: { SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`, SERVICE_BASE_URL: origin } });
});

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .filter((line) => !line.includes('Max-Age=0'))
    .map((line) => line.split(';')[0])
    .join('; ');

const post = (target: string, form: Record<string, string>, cookie = ''): Promise<Response> =>
  fetch(origin + target, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: origin, Cookie: cookie },
    body: new URLSearchParams(form),
  });

/** The first step, and what answers the second one. */
async function byPassword(
  person: { username: string; password: string },
  second?: (cookie: string) => Promise<Response>,
) {
  const first = await post('/login', { username: person.username, password: person.password });
  if (!first.headers.get('location')?.startsWith('/login/second-factor')) return cookiesOf(first);
  return second === undefined ? 'asks' : cookiesOf(await second(cookiesOf(first)));
}

const surfaces: Record<string, (credential: Credential) => Promise<Answer>> = {
  async Web({ signIn, secret }) {
    const cookie = await signIn?.();
    if (cookie === 'asks') return 'asks';
    const headers: Record<string, string> =
      cookie === undefined ? { Authorization: `Bearer ${secret}` } : { Cookie: cookie };
    const { status } = await fetch(`${origin}/settings/profile`, { redirect: 'manual', headers });
    return status === 200 ? 'yes' : 'no';
  },
  async API({ secret, signIn }) {
    const cookie = (await signIn?.()) ?? '';
    const tries: Record<string, string>[] = [{ Cookie: cookie }, ...(secret === undefined ? [] : carriers(secret))];
    for (const headers of tries) if ((await fetch(`${origin}/api/v1/user`, { headers })).status === 200) return 'yes';
    return 'no';
  },
  async 'Git over HTTP'({ secret, signIn }) {
    const cookie = (await signIn?.()) ?? '';
    const login = secret === undefined ? '' : `alice:${encodeURIComponent(secret)}@`;
    const { code } = await clientGit([
      '-c',
      `http.extraHeader=Cookie: ${cookie}`,
      'ls-remote',
      `http://${login}${new URL(origin).host}/git/alice/work.git`,
    ]);
    return code === 0 ? 'yes' : 'no';
  },
  'Git over SSH': ({ secret, privateKey }) =>
    new Promise((resolve) => {
      const client = new ssh2.Client();
      const { host, port } = forge.ssh;
      client
        .on('error', () => resolve('no'))
        .on('ready', () =>
          client.exec("git-upload-pack 'alice/work.git'", (error, channel) => {
            if (error) return resolve('no');
            channel.on('exit', (code: number) => {
              client.end();
              resolve(code === 0 ? 'yes' : 'no');
            });
            channel.resume();
            channel.stderr.resume();
            channel.end('0000');
          }),
        )
        .connect({
          host,
          port,
          username: 'git',
          ...(privateKey === undefined ? { password: secret ?? '' } : { privateKey }),
        });
    }),
  async 'Runner protocol'({ secret = '', runnerUuid = '00000000-0000-4000-8000-000000000000', signIn }) {
    const headers = {
      'x-runner-uuid': runnerUuid,
      'x-runner-token': secret,
      authorization: `Bearer ${secret}`,
      cookie: (await signIn?.()) ?? '',
    };
    const client = connectClient(origin, { headers });
    return client.declare({ version: 'test', labels: ['x'] }).then(
      () => 'yes' as const,
      () => 'no' as const,
    );
  },
};

const carriers = (secret: string): Record<string, string>[] => [
  { Authorization: `Bearer ${secret}` },
  { Authorization: `Basic ${Buffer.from(`alice:${secret}`).toString('base64')}` },
];

t.test('each credential opens what the table says, and nothing else', async (t) => {
  const { modules, alice } = forge;
  const { accounts } = modules;
  const bob = await forge.addPerson('bob');
  const dora = await forge.addPerson('dora');
  const app = await accounts.secondFactor.beginTotp(bob.id);
  const recovery = (await accounts.secondFactor.enableTotp(bob.id, totpCode(app, stepOf(Date.now()))))!;
  const authenticator = createAuthenticator({ origin, rpId: 'localhost' });
  await accounts.passkeys.add(dora.id, {
    name: 'Key',
    response: authenticator.create(await accounts.passkeys.begin(dora.id, 'session')),
    sessionId: 'session',
  });
  const secretIn = (cookie: string) => /hearth_sign_in=([^;]+)/.exec(cookie)![1]!;

  const keyFile = path.join(forge.folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', keyFile]);
  await accounts.addKey(alice.id, { line: readFileSync(`${keyFile}.pub`, 'utf8') });

  const runner = await forge.register(['linux']);
  await forge.push({
    '.github/workflows/ci.yml': 'on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: "true"}]\n',
  });
  const { task } = await connectClient(origin, { headers: runner }).fetchTask({}, { timeoutMs: 20_000 });

  const credentials: Record<string, Credential> = {
    None: {},
    Password: { secret: alice.password, signIn: () => byPassword(alice) },
    'Password, with a second factor set up': { secret: bob.password, signIn: () => byPassword(bob) },
    'Password and recovery code': {
      secret: bob.password,
      signIn: () => byPassword(bob, (cookie) => post('/login/second-factor', { code: recovery.pop()! }, cookie)),
    },
    'Password and code of an app': {
      secret: bob.password,
      signIn: () =>
        byPassword(bob, (cookie) =>
          post('/login/second-factor', { code: totpCode(app, stepOf(Date.now()) + 1) }, cookie),
        ),
    },
    'Password and passkey': {
      secret: dora.password,
      signIn: () =>
        byPassword(dora, async (cookie) => {
          const options = await accounts.passkeys.askForSecondFactor(secretIn(cookie));
          return post('/login/second-factor/passkey', { response: authenticator.get(options!) }, cookie);
        }),
    },
    Passkey: {
      signIn: async () => {
        const secret = newSecret(systemRandom);
        const response = authenticator.get(await accounts.passkeys.askForSignIn(secret));
        return cookiesOf(await post('/login/passkey', { response }, `hearth_sign_in=${secret}`));
      },
    },
    // Signing in at a real provider is in test/pages/sign-in/provider.test.ts; it ends in this call.
    'Sign-in at a provider': {
      signIn: async () => {
        const result = await accounts.completeSignIn(alice.id, { method: 'provider', ...address });
        return result.kind === 'session' ? `hearth_session=${result.secret}` : 'asks';
      },
    },
    'Session cookie': {
      secret: alice.session,
      signIn: async () => `hearth_session=${(await accounts.startSession(alice.id, address)).secret}`,
    },
    'Access token': { secret: alice.token },
    'SSH key': { privateKey: readFileSync(keyFile, 'utf8') },
    'Token of a CI job': { secret: task.context.token },
    'Credentials of a runner': { secret: runner['x-runner-token']!, runnerUuid: runner['x-runner-uuid']! },
  };
  const table = readTable();
  t.same(Object.keys(table).sort(), Object.keys(credentials).sort(), 'the same rows');
  for (const [name, credential] of Object.entries(credentials)) {
    // Signed in once: a code of the app works once.
    const signedIn = credential.signIn?.();
    const once = { ...credential, ...(signedIn && { signIn: () => signedIn }) };
    for (const [surface, tries] of Object.entries(surfaces))
      t.equal(await tries(once), table[name]?.[surface], `${name}: ${surface}`);
  }
});

t.test('git says that it takes no password, and what it takes', async (t) => {
  const { host } = new URL(origin);
  const url = `http://alice:${encodeURIComponent(forge.alice.password)}@${host}/git/alice/work.git`;
  const { stderr } = await clientGit(['ls-remote', url]);
  t.match(
    stderr,
    /remote: Authentication failed\. Git does not accept passwords: create an access token in your account settings/,
  );
});

/** The first table of the document: by row and column. */
function readTable(): Record<string, Record<string, string>> {
  const text = readFileSync(new URL('../../docs/sign-in.md', import.meta.url), 'utf8');
  const [, section = ''] = /## Access of each credential\n\n([^]*?)\n\n/.exec(text) ?? [];
  const [head = [], , ...rows] = section.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return Object.fromEntries(
    rows.map(([name = '', ...cells]) => [name, Object.fromEntries(cells.map((cell, at) => [head[at + 1]!, cell]))]),
  );
}
