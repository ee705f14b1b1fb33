import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import { stepOf, totpCode } from '../../src/accounts/second-factor/totp.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';
import type { CliResult, RunCliOptions } from './run-cli.ts';

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
const clock = fixedClock();

/** One command line on the data folder of these tests. */
function hearth(line: string | readonly string[], options: RunCliOptions = {}): Promise<CliResult> {
  const words = typeof line === 'string' ? line.split(' ') : line;
  return runCli(words, {
    cwd: folder,
    clock,
    openModules,
    ...options,
    env: { SERVICE_DATA_DIR: dataDir, ...options.env },
  });
}

/**
 * Commands open and close the modules; here those of one data folder stay open, which saves most of the time.
 * serve.test.ts and the folders below do it for real.
 */
const opened = new Map<string, ReturnType<typeof realOpenModules>>();
const openModules: typeof realOpenModules = async (config, options) => {
  if (!opened.has(config.dataDir)) opened.set(config.dataDir, realOpenModules(config, options));
  return { ...(await opened.get(config.dataDir)!), config, close: async () => {} };
};
t.teardown(async () => {
  for (const modules of opened.values()) await (await modules.catch(() => null))?.close();
});

/** Ids and secrets differ between runs of the test. */
function clean(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/hth_\w+/g, '<token>')
    .replace(/SHA256:[\w+/]+/g, '<fingerprint>')
    .replace(/\b\w{5}(-\w{5}){3}\b/g, '<password>')
    .replace(/token=[\w-]+/g, 'token=<setup>')
    .replaceAll(folder, '<folder>')
    .replace(/http:\/\/[\d.]+:/g, 'http://<host>:')
    .replace(/ssh:\/\/git@[\d.]+:/g, 'ssh://git@<host>:');
}

async function outputOf(line: string | readonly string[], options?: RunCliOptions): Promise<string> {
  const { code, stdout, stderr } = await hearth(line, options);
  return clean(`${stdout}${stderr === '' ? '' : `[stderr] ${stderr}`}[${code}]`);
}

t.test('without a data folder, commands fail and create none', async (t) => {
  t.equal(
    await outputOf('user list'),
    '[stderr] error: no Hearth data folder found in <folder>/data (from SERVICE_DATA_DIR)\n' +
      'hint: hearth serve creates it at the first start; to use another folder, set --data-dir or SERVICE_DATA_DIR\n[5]',
  );
  t.match(await outputOf('migrate --status'), /\[5\]$/);
  t.match(
    await outputOf('migrate --dry-run --data-dir elsewhere'),
    /no Hearth data folder found in <folder>\/elsewhere/,
  );
  t.same(readdirSync(folder), []);
});

t.test('migrate creates the database, and then has nothing to do', async (t) => {
  const made = await hearth('migrate');
  t.equal(made.code, 0);
  t.match(made.stdout, /^V1\tPeople\tapplied\t\S+Z\n/);
  t.match(made.stderr, /^Created the database in /);
  t.equal(await outputOf('migrate'), '[stderr] The database is up to date.\n[0]');
  t.equal(await outputOf('migrate --dry-run'), '[stderr] The database is up to date.\n[0]');
  t.equal(await outputOf('migrate --dry-run --json'), '[]\n[0]');
  t.match(
    await outputOf('migrate --status', { terminal: true }),
    /^VERSION {2}NAME +STATE +APPLIED AT\nV1 +People +applied +\S+.*\n/,
  );
  t.same(JSON.parse((await hearth('migrate --status --json')).stdout)[0], {
    version: 1,
    name: 'People',
    state: 'applied',
    appliedAt: '2026-01-01T12:00:00Z',
  });
});

t.test('setup-url prints the link alone, and exits with 4 once there is an administrator', async (t) => {
  t.equal(
    await outputOf('setup-url'),
    'http://<host>:3000/setup?token=<setup>\n[stderr] Open this link within 24 hours:\n[0]',
  );
  t.match(
    await outputOf('setup-url --rotate', { env: { SERVICE_BASE_URL: 'https://git.example.org/' } }),
    /^https:\/\/git\.example\.org\/setup\?token=<setup>\n/,
  );
  t.equal(await outputOf('setup-url --json -q'), '{"url":"http://<host>:3000/setup?token=<setup>"}\n[0]');
});

t.test('user add takes its password from stdin, a file or a hidden prompt, or generates one', async (t) => {
  t.equal(
    await outputOf('user add alice --admin --random-password'),
    '<password>\n[stderr] Created administrator alice (id <id>). A new password must be chosen at first sign-in.\n[0]',
  );
  t.equal(
    await outputOf('user add bob --password-stdin', { input: 'correct horse\n' }),
    'Created user bob (id <id>).\n[0]',
  );
  const file = path.join(folder, 'password');
  writeFileSync(file, 'battery staple\r\n');
  t.equal(
    await outputOf(['user', 'create', 'carol', '--password-file', file, '--display-name', 'Carol C']),
    'Created user carol (id <id>).\n[0]',
  );

  const typed = await hearth('user add dave', {
    terminal: true,
    answers: ['hiddem\u007fn-canary\u001b[D\r', 'hidden-canary\r'],
  });
  t.equal(clean(typed.stdout), 'Created user dave (id <id>).\n');
  t.equal(typed.stderr, 'New password: \nRepeat password: \n', 'what is typed is not shown');
  t.same(typed.rawModes, [true, false, true, false]);
  for (const [username, password] of [
    ['bob', 'correct horse'],
    ['carol', 'battery staple'],
    ['dave', 'hidden-canary'],
  ] as const) {
    t.ok(await opens(username, password), `${username} can sign in`);
  }
});

t.test('a missing or invalid password creates no account', async (t) => {
  t.equal(
    await outputOf('user add erin'),
    '[stderr] error: a password is required, but there is no terminal to prompt on\n' +
      'hint: use --password-stdin, --password-file PATH or --random-password\n[2]',
  );
  t.match(await outputOf('user add erin --no-input', { terminal: true }), /a password is required/);
  t.match(
    await outputOf('user add erin --password-stdin --random-password', { input: 'x' }),
    /use only one of .*\[2\]$/s,
  );
  t.match(await outputOf('user add erin --password-stdin', { input: '' }), /the password is empty\n\[2\]$/);
  t.match(await outputOf('user add erin --password-stdin', { input: 'short' }), /at least 8 characters\n\[2\]$/);
  t.match(
    await outputOf('user add erin --password-stdin', { input: 'x'.repeat(100_000) }),
    /too long for a password\n\[2\]$/,
  );
  t.match(
    await outputOf('user add erin --password-file gone'),
    /password file gone cannot be read: no such file\n\[2\]$/,
  );
  t.match(
    await outputOf('user add erin', { terminal: true, answers: ['one-two-three\r', 'one-two-four\r'] }),
    /the passwords do not match. .*\[2\]$/is,
  );
  t.equal((await hearth('user add erin', { terminal: true, answers: ['half\u0003'] })).code, 130, 'Ctrl-C');
  t.match(
    await outputOf('user add erin', { terminal: true, answers: ['\u0004'] }),
    /input ended before the prompt was answered/,
  );
  t.match(
    await outputOf('user show erin'),
    /there is no such person\nhint: to list all users: hearth user list\n\[3\]$/,
  );
});

t.test('no password or token appears in the output of --debug', async (t) => {
  const real = { openModules: undefined };
  const added = await hearth('user add frank --password-stdin --debug --verbose', {
    ...real,
    input: 'canary-canary\n',
  });
  t.equal(added.code, 0);
  t.match(added.stderr, /"event":"person.added"/, 'what was done is told');
  t.notMatch(added.stdout + added.stderr, 'canary');
  const token = await hearth('token add --user frank --name x --debug', real);
  t.notMatch(token.stderr, token.stdout.trim());
  t.equal((await hearth('user disable frank', real)).code, 0);
});

t.test('user add refuses a taken or reserved name before asking for a password', async (t) => {
  t.equal(
    await outputOf('user add Alice --random-password'),
    '[stderr] error: the name Alice is taken\nhint: choose another name, or use --if-missing to accept an existing user\n[4]',
  );
  t.match(await outputOf('user add admin'), /name is reserved.*\[2\]$/s);
  t.match(await outputOf(['user', 'add', 'cannot have spaces']), /letters and digits.*\[2\]$/s);
  t.match(
    await outputOf('user rename carol alice'),
    /taken\nhint: choose another name\n\[4\]$/,
    'no option that it lacks',
  );
  t.equal(await outputOf('user add alice --admin --if-missing'), 'User alice already exists (id <id>).\n[0]');
  t.match(
    await outputOf('user add bob --admin --if-missing'),
    /user bob already exists, but is not an administrator\n\[4\]$/,
  );
  t.match(await outputOf('user add carol --display-name Other --if-missing'), /another display name\n\[4\]$/);
});

t.test('user list in three modes', async (t) => {
  t.equal(
    await outputOf('user list', { terminal: true }),
    [
      'USERNAME  NAME     ROLE    LAST SEEN  REPOS  STATE',
      'alice              admin   never          0  active',
      'bob                member  just now       0  active',
      'carol     Carol C  member  just now       0  active',
      'dave               member  just now       0  active',
      'frank              member  never          0  disabled',
      '5 users',
      '[0]',
    ].join('\n'),
  );
  t.match(
    await outputOf('user list'),
    'alice\t\tadmin\tnever\t0\tactive\nbob\t\tmember\t2026-01-01T12:00:00Z\t0\tactive\n',
  );
  t.match(JSON.parse((await hearth('user list --admin --json')).stdout), [
    {
      id: /^[0-9a-f-]{36}$/,
      username: 'alice',
      displayName: '',
      role: 'admin',
      lastSeenAt: null,
      repositories: 0,
      state: 'active',
      createdAt: '2026-01-01T12:00:00Z',
      mustChangePassword: true,
    },
  ]);
  t.match(await outputOf('user list --state sleepy'), /allowed choices are active, disabled/i);
});

t.test('user password, disable, enable and admin', async (t) => {
  t.equal(
    await outputOf('user change-password bob --random-password'),
    '<password>\n[stderr] Changed the password of bob. All sessions have ended. A new one must be chosen at the next sign-in.\n[0]',
  );
  t.notOk(await opens('bob', 'correct horse'));
  t.equal(
    await outputOf('user password bob --password-stdin', { input: 'correct horse 2' }),
    'Changed the password of bob. All sessions have ended.\n[0]',
  );
  t.ok(await opens('bob', 'correct horse 2'));
  const { password } = JSON.parse((await hearth('user password bob --random-password --json')).stdout) as {
    password: string;
  };
  t.ok(await opens('bob', password));

  t.equal(
    await outputOf('user disable bob'),
    'Disabled bob. All sessions have ended. Keys and tokens no longer work.\n[0]',
  );
  t.equal(
    await outputOf('user list --state disabled'),
    'bob\t\tmember\t2026-01-01T12:00:00Z\t0\tdisabled\nfrank\t\tmember\tnever\t0\tdisabled\n[0]',
  );
  t.equal(await outputOf('user enable bob'), 'Enabled bob.\n[0]');
  t.match(
    await outputOf('user disable alice'),
    /error: this is the last administrator\..*hint: first make another user .*\[4\]$/s,
  );
  t.equal(await outputOf('user admin carol on'), 'carol is now an administrator.\n[0]');
  t.equal(await outputOf('user admin carol off'), 'carol is no longer an administrator.\n[0]');
  t.match(await outputOf('user admin carol maybe'), /enter on or off.*\[2\]$/s);
  t.match(await outputOf('user password nobody --random-password'), /\[3\]$/);
});

t.test('user second-factor', async (t) => {
  const { accounts } = await opened.get(dataDir)!;
  const carol = await accounts.personByUsername('carol');
  t.equal(await outputOf('user second-factor show carol'), 'Username\tcarol\nSecond factor\tnone\n[0]');
  t.match(await outputOf('user second-factor reset carol'), /this account does not have a second factor.*\[4\]$/s);
  const secret = await accounts.secondFactor.beginTotp(carol.id);
  await accounts.secondFactor.enableTotp(carol.id, totpCode(secret, stepOf(clock.now())));
  t.match(await outputOf('user show carol'), /Second factor\tauthenticator app, 10 recovery codes\n/);
  t.match(JSON.parse((await hearth('user second-factor show carol --json')).stdout), {
    authenticatorAppSince: '2026-01-01T12:00:00Z',
    passkeys: 0,
    recoveryCodesLeft: 10,
  });
  t.match(JSON.parse((await hearth('user show carol --json')).stdout), { secondFactorSince: '2026-01-01T12:00:00Z' });
  t.equal(
    await outputOf('user second-factor reset carol --dry-run'),
    'Would remove from carol: authenticator app, 10 recovery codes.\n[0]',
  );
  t.equal(
    await outputOf('user second-factor reset carol'),
    'Removed from carol: authenticator app, 10 recovery codes. All sessions have ended. Keys and tokens keep working.\n[0]',
  );
  t.equal(await outputOf('user second-factor show carol'), 'Username\tcarol\nSecond factor\tnone\n[0]');
  t.match(await outputOf('user second-factor reset absent'), /\[3\]$/);
});

t.test('user identity and sign-in-link', async (t) => {
  const env = {
    SERVICE_OIDC_PROVIDERS: '[{"name":"company","issuer":"https://id.example.org","client_id":"hearth"}]',
  };
  t.match(
    await outputOf('user identity add carol company s-1'),
    /settings do not contain a provider named company.*\[3\]$/s,
  );
  const { accounts } = await opened.get(dataDir)!;
  const carol = await accounts.personByUsername('carol');
  await accounts.addIdentity(carol.id, { issuer: 'https://id.example.org', subject: 's-1', label: 'carol@id' });
  t.equal(
    await outputOf('user identity list carol'),
    '<id>\thttps://id.example.org\ts-1\tcarol@id\t2026-01-01T12:00:00Z\n[0]',
  );
  t.match(await outputOf('user show carol'), /Signs in with\ts-1 of https:\/\/id\.example\.org\n/);
  const [{ id }] = JSON.parse((await hearth('user identity list carol --json')).stdout) as [{ id: string }];
  t.match(await outputOf('user identity remove carol 00000000'), /linked account 00000000 does not exist.*\[3\]$/s);
  t.equal(
    await outputOf(['user', 'identity', 'remove', 'carol', id]),
    'carol can no longer sign in as s-1 at https://id.example.org.\n[0]',
  );
  t.same(await accounts.listIdentities(carol.id), []);

  t.match(
    await outputOf('user sign-in-link carol --expires 5m', { env }),
    /^http:\/\/<host>:3000\/login\/link\?token=<setup>\n\[stderr\] This link signs in as carol. It works once, until 2026-01-01T12:05:00Z/,
  );
  t.match(await outputOf('user sign-in-link carol --expires 1s'), /must be a duration from 1m to 365d.*\[2\]$/s);
  t.match(await outputOf('user sign-in-link absent'), /\[3\]$/);
});

t.test('user edit, invite and sessions', async (t) => {
  t.equal(
    await outputOf(['user', 'edit', 'carol', '--display-name', 'Carol Cole', '--website', 'https://carol.example.org']),
    'Changed carol.\n[0]',
  );
  t.match(JSON.parse((await hearth('user show carol --json')).stdout), {
    displayName: 'Carol Cole',
    website: 'https://carol.example.org',
    organisations: [],
  });
  t.match(await outputOf('user edit carol'), /specify at least one change\nhint: use --display-name/);
  t.match(await outputOf('user edit carol --website ftp://x'), /\[2\]$/);
  t.equal((await hearth(['user', 'edit', 'carol', '--display-name', 'Carol C', '--website', ''])).code, 0);

  const { url } = JSON.parse((await hearth('user invite --expires 2d --json')).stdout) as { url: string };
  await (await opened.get(dataDir)!).accounts.checkInvite(new URL(url).searchParams.get('invite')!);
  t.match(
    await outputOf('user invite'),
    /^http:\/\/<host>:3000\/signup\?invite=[\w-]+\n\[stderr\] The first person .* before 2026-01-08T12:00:00Z can create an account:\n\[0\]$/,
  );
  t.match(await outputOf('user invite --expires 1s'), /must be a duration from 1m to 365d.*\[2\]$/s);

  await hearth('user sessions carol --revoke');
  t.ok(await opens('carol', 'battery staple'));
  const sessions = JSON.parse((await hearth('user sessions carol --json')).stdout) as { id: string }[];
  t.match(sessions, [{ address: '127.0.0.1', client: 'test', startedAt: '2026-01-01T12:00:00Z' }]);
  t.equal(
    await outputOf('user sessions carol'),
    '<id>\t2026-01-01T12:00:00Z\t2026-01-01T12:00:00Z\t127.0.0.1\ttest\tpassword\n[0]',
  );
  t.match(
    await outputOf('user sessions carol --revoke 00000000'),
    /session 00000000 does not exist\nhint: .*: hearth user sessions NAME\n\[3\]$/,
  );
  t.equal(await outputOf('user sessions carol --revoke --dry-run'), 'Would end 1 session of carol.\n[0]');
  t.equal(
    await outputOf(['user', 'sessions', 'carol', '--revoke', sessions[0]!.id]),
    'Ended 1 session of carol. Keys and tokens keep working.\n[0]',
  );
  t.equal(
    await outputOf('user sessions carol --revoke'),
    'Ended 0 sessions of carol. Keys and tokens keep working.\n[0]',
  );
});

t.test('user delete --purge deletes repositories, too, after the name is confirmed', async (t) => {
  await hearth('user add gone --password-stdin', { input: 'correct horse' });
  for (const name of ['gone/one', 'gone/two']) await hearth(`repo add ${name}`);
  t.match(await outputOf('user delete gone --yes'), /still owns one, two.*hint: .*--purge.*\[4\]$/s);
  t.match(await outputOf('user delete gone --purge --yes'), /hint: add --confirm gone\n\[2\]$/, '--yes is not enough');
  t.match(
    await outputOf('user delete gone --purge', { terminal: true, answers: ['yes\n'] }),
    /you did not type gone. Nothing was changed.\n\[2\]$/,
  );
  t.equal(
    await outputOf('user delete gone --purge --dry-run'),
    'Would delete gone and 2 repositories.\n[stderr]   gone/one\n  gone/two\n[0]',
  );
  t.match(await outputOf('user delete gone --confirm gone'), /--confirm requires --purge/);
  await hearth('org add solo --owner gone');
  t.match(await outputOf('user delete gone --purge --confirm gone'), /\[4\]$/, 'the only owner of an organisation');
  t.match((await hearth('repo list --owner gone')).stdout, /^gone\/one.*\ngone\/two/, 'nothing went yet');
  await hearth('org delete solo --yes');
  t.match(await outputOf('user delete alice --purge --confirm alice'), /last administrator.*\[4\]$/s);
  t.match(
    await outputOf('user delete gone --purge', { terminal: true, answers: ['gone\n'] }),
    /^Deleted gone and 2 repositories. The name stays reserved.\n/,
  );
  t.notMatch((await hearth('repo list')).stdout + (await hearth('trash list')).stdout, 'gone/');
});

t.test('key add, list and remove', async (t) => {
  const file = path.join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'alice@laptop', '-f', file]);
  const line = readFileSync(`${file}.pub`, 'utf8');
  t.equal(
    await outputOf(['key', 'add', '--user', 'alice', `${file}.pub`]),
    'Added key alice@laptop (<fingerprint>) for alice.\n[0]',
  );
  t.match(await outputOf('key add --user alice -', { input: line }), /this key is already in use\n\[4\]$/);
  t.equal(
    await outputOf('key add --user alice --if-missing', { input: line }),
    'alice already has this key (<fingerprint>).\n[0]',
  );
  t.match(
    await outputOf('key add --user bob --if-missing', { input: line }),
    /another user already has this key\n\[4\]$/,
  );
  t.match(
    await outputOf('key add --user bob', { input: readFileSync(file, 'utf8') }),
    /private key: do not share it.*\[2\]$/s,
  );
  t.match(await outputOf('key add --user bob /gone.pub'), /key file \/gone\.pub cannot be read: no such file\n\[2\]$/);
  t.match(
    await outputOf('key add x.pub'),
    /required option '--user <name>' not specified\nhint: see hearth key add --help\n\[2\]$/,
  );

  t.equal(
    await outputOf('key list'),
    'alice\talice@laptop\tssh-ed25519\t<fingerprint>\t2026-01-01T12:00:00Z\tnever\t<id>\tboth\n[0]',
  );
  t.equal(await outputOf('key list --user bob', { terminal: true }), '0 keys\n[0]');
  const [{ id, fingerprint }] = JSON.parse((await hearth('key list --user alice --json')).stdout) as [
    { id: string; fingerprint: string },
  ];

  t.equal(
    await outputOf(['key', 'remove', fingerprint, '--dry-run']),
    'Would remove key alice@laptop (<fingerprint>) of alice.\n[0]',
  );
  t.equal(
    await outputOf(['key', 'remove', id.slice(0, 8)]),
    '[stderr] error: this action requires confirmation, but there is no terminal to prompt on\nhint: add --yes\n[2]',
  );
  t.equal(
    await outputOf(['key', 'remove', id], { terminal: true, answers: ['n\n'] }),
    '[stderr] Remove key alice@laptop (<fingerprint>) of alice? [y/N] error: not confirmed. Nothing was changed.\n[2]',
  );
  t.match(
    await outputOf('key remove zzzz --yes'),
    /the key zzzz does not exist\nhint: to list keys with their ids: hearth key list\n\[3\]$/,
  );
  t.match(
    (await hearth(['key', 'delete', id.slice(0, 8)], { terminal: true, answers: ['yes\n'] })).stdout,
    /^Removed key alice@laptop/,
  );
  t.equal(await outputOf('key list'), '[0]');
});

t.test('repo add, list, show, delete and restore', async (t) => {
  t.equal(
    await outputOf(['repo', 'add', 'alice/garden', '--public', '--description', 'Plants']),
    'Created public repository alice/garden. Clone it with: git clone http://<host>:3000/git/alice/garden.git\n[0]',
  );
  t.match(
    JSON.parse(
      (
        await hearth('repo create bob/notes --json', {
          env: { SERVICE_BASE_URL: 'https://git.example.org', SERVICE_SSH_PUBLIC_PORT: '22' },
        })
      ).stdout,
    ),
    {
      owner: 'bob',
      name: 'notes',
      visibility: 'PRIVATE',
      sizeBytes: 0,
      pushedAt: null,
      cloneHttp: 'https://git.example.org/git/bob/notes.git',
      cloneSsh: 'ssh://git@git.example.org/bob/notes.git',
    },
  );
  t.match(await outputOf('repo add alice/Garden'), /already has a repository named.*--if-missing to accept.*\[4\]$/s);
  t.equal(
    await outputOf('repo add alice/garden --public --if-missing'),
    'Repository alice/garden already exists.\n[0]',
  );
  t.match(await outputOf('repo add alice/garden --if-missing'), /already exists, but is public\n\[4\]$/);
  t.match(await outputOf('repo add nobody/x'), /owner does not exist.*\[2\]$/s);
  t.match(await outputOf('repo add garden'), /"garden" is not a repository\. Use owner\/name\.\n\[2\]$/);

  t.equal(
    await outputOf('repo list'),
    [
      'alice/garden\tpublic\t0\t2026-01-01T12:00:00Z\tok',
      'bob/notes\tprivate\t0\t2026-01-01T12:00:00Z\tok',
      '[0]',
    ].join('\n'),
  );
  t.equal(
    await outputOf('repo list --owner bob', { terminal: true }),
    [
      'OWNER/NAME  VISIBILITY  SIZE  UPDATED   STATE',
      'bob/notes   private      0 B  just now  ok',
      '1 repository',
      '[0]',
    ].join('\n'),
  );
  t.match(await outputOf('repo list --visibility public --sort updated'), /^alice\/garden\t[^\n]*\n\[0\]$/);
  t.match(await outputOf('repo list --owner nobody'), /\[3\]$/);
  t.match(await outputOf('repo list --sort colour'), /allowed choices are name, size, updated/i);

  t.match(
    await outputOf('repo show alice/garden.git'),
    'Repository\talice/garden\nId\t<id>\nDescription\tPlants\nVisibility\tpublic\nState\tok\nDefault branch\tmain\n',
  );
  const { path: bare } = JSON.parse((await hearth('repo show alice/garden --json')).stdout) as { path: string };
  t.match(
    execFileSync('git', ['-c', 'safe.directory=*', '--git-dir', bare, 'symbolic-ref', 'HEAD'], { encoding: 'utf8' }),
    'refs/heads/main',
  );

  t.equal(await outputOf('repo delete alice/garden --dry-run'), 'Would delete alice/garden.\n[0]');
  t.match(await outputOf('repo delete alice/garden'), /requires confirmation.*\[2\]$/s);
  t.equal(
    await outputOf('repo delete alice/garden -y'),
    'Deleted alice/garden. To restore it before 2026-01-31: hearth repo restore alice/garden\n[0]',
  );
  t.match(
    await outputOf('repo show alice/garden'),
    /alice\/garden was deleted; it is in the trash\nhint: hearth repo restore alice\/garden\n\[3\]$/,
  );
  t.equal(await outputOf('repo list --deleted'), 'alice/garden\t2026-01-01T12:00:00Z\t0\t2026-01-31\t<id>\n[0]');
  t.equal(await outputOf('repo restore alice/garden --dry-run'), 'Would restore alice/garden.\n[0]');
  t.equal(await outputOf('repo restore alice/garden --as yard'), 'Restored alice/yard.\n[0]');
  t.match(await outputOf('repo restore alice/garden'), /\[3\]$/);
  t.match(await outputOf('repo list'), /^alice\/yard\t/);
});

t.test('applications of the instance and of owners, each found by its own owner alone', async (t) => {
  const made = await hearth('application add CI --redirect https://ci.example.org/authorize');
  t.match(made.stdout, /^hts_[\w-]{43}\n$/);
  t.match(made.stderr, /^Added CI for instance with client id [0-9a-f-]{36}\. The secret is shown only once\.\n$/);
  t.match(
    await outputOf('application add notes --owner alice --public --redirect http://127.0.0.1 org.example.notes:/back'),
    /^Added notes for alice with client id /,
  );
  t.match(await outputOf('application add bad --redirect javascript:alert(1)'), /\[2\]$/);
  t.match(await outputOf('application add bad --owner nobody --redirect https://ci.example.org/'), /\[3\]$/);
  const listed = async (owner: string) =>
    JSON.parse((await hearth(`application list --owner ${owner} --json`)).stdout) as { id: string; name: string }[];
  const [[ofInstance], [ofAlice]] = [await listed('instance'), await listed('alice')];
  t.match([ofInstance, ofAlice], [{ name: 'CI' }, { name: 'notes', isConfidential: false }]);
  t.strictSame(await listed('bob'), []);
  t.match(await outputOf(`application remove ${ofAlice!.id}`), /\[3\]$/, 'of another owner');
  t.match(await outputOf(`application secret ${ofAlice!.id} --owner alice --yes`), /does not have a secret\n\[4\]$/);
  const replaced = await hearth(`application secret ${ofInstance!.id} --yes`);
  t.match(replaced.stdout, /^hts_[\w-]{43}\n$/);
  t.not(replaced.stdout, made.stdout);
  t.match(
    await outputOf(`application remove ${ofAlice!.id} --owner alice --dry-run`),
    /^Would remove the application notes of alice/,
  );
  t.match(
    await outputOf(`application remove ${ofAlice!.id} --owner alice --yes`),
    /^Removed the application notes of alice/,
  );
  t.strictSame(await listed('alice'), []);
  t.equal((await hearth('application grants alice --json')).stdout.trim(), '[]');
  t.match(await outputOf('application revoke alice 00000000 --yes'), /\[3\]$/);
});

t.test('token add prints the token alone, and no other command prints it', async (t) => {
  const made = await hearth('token add --user alice --name laptop --access write --expires 90d');
  t.match(made.stdout, /^hth_\w+\n$/);
  t.equal(
    clean(made.stderr),
    'Created token laptop for alice with write access. It expires on 2026-04-01. It is shown only once.\n',
  );
  const secret = made.stdout.trim();
  t.match(
    await outputOf('token add --user alice --name ci --repo alice/yard'),
    /^<token>\n\[stderr\] .* read access. It does not expire\./,
  );
  t.match(JSON.parse((await hearth('token create --user bob --name x --json')).stdout), {
    name: 'x',
    user: 'bob',
    token: /^hth_/,
    expiresAt: null,
    repositoryIds: null,
  });
  t.match(await outputOf('token add --user alice --name ci'), /already.*\[4\]$/s);
  t.match(
    await outputOf('token add --user carol --name x --repo bob/notes'),
    /repository not found.*\[3\]$/is,
    'a limit names only what its owner sees',
  );
  t.match(
    await outputOf('token add --user alice --name y --expires soon'),
    /--expires must be a duration such as 90d or 12h, or never\n\[2\]$/,
  );
  t.match(await outputOf('token add --user alice --name y --access root'), /allowed choices are read, write, admin/i);

  const listed =
    (await hearth('token list')).stdout +
    (await hearth('token list --json')).stdout +
    (await hearth('user show alice --json')).stdout;
  t.notMatch(listed, secret);
  t.match(
    await outputOf('token list --user alice', { terminal: true }),
    /^USER +NAME +ACCESS +REPOS +EXPIRES +LAST USED +END +ID\n/,
  );
  t.match(await outputOf('token list --user bob'), /^bob\tx\tread\tall\tnever\tnever\t\w{4}\t<id>\n\[0\]$/);

  const [{ id }] = JSON.parse((await hearth('token list --user bob --json')).stdout) as [{ id: string }];
  t.match(await outputOf(['token', 'remove', id, '--dry-run']), /^Would revoke token x /);
  t.match(await outputOf(['token', 'remove', id, '--yes']), /^Revoked token x /);
  t.match(await outputOf(['token', 'remove', id, '--yes']), /\[3\]$/);
});

t.test('user show prints everything but secrets', async (t) => {
  t.match(
    await outputOf('user show alice'),
    'Username\talice\nId\t<id>\nName\t\nRole\tadmin\nState\tactive\nCreated\t2026-01-01T12:00:00Z\nLast seen\tnever\nRepositories\t1\nKeys\t0\nTokens\t2\nSessions\t0\n',
  );
  const json = JSON.parse((await hearth('user show dave --json')).stdout) as {
    keys: unknown;
    tokens: unknown;
    sessions: unknown[];
    id: string;
  };
  t.match(json, { username: 'dave', sessions: [{ address: '127.0.0.1' }] });
  t.strictSame([json.keys, json.tokens, json.sessions.length], [[], [], 1]);
  t.match(await outputOf(['user', 'show', json.id]), /^Username\tdave\n/);
  t.match(await outputOf('setup-url'), /is already set up and has an administrator\nhint: .*\[4\]$/s);
});

t.test('config show, check, path and example', async (t) => {
  const work = path.join(folder, 'work');
  mkdirSync(work);
  const file = path.join(work, 'hearth.toml');
  t.equal(
    await outputOf('config path', { cwd: work }),
    '[stderr] No settings file found. Searched: <folder>/work/hearth.toml, /etc/hearth/hearth.toml\n[0]',
  );
  writeFileSync(file, '[http]\n# a\nlisten = "127.0.0.1:8080"\n');
  t.equal(await outputOf('config path', { cwd: work }), '<folder>/work/hearth.toml\n[0]');
  t.equal(await outputOf('config check', { cwd: work }), 'ok\n[0]');
  const shown = await outputOf('config show --origin', { cwd: work });
  t.match(shown, 'data_dir\t<folder>/data\tenvironment SERVICE_DATA_DIR\n');
  t.match(shown, 'http.listen\t127.0.0.1:8080\tfile <folder>/work/hearth.toml:3\n');
  t.match(shown, 'base_url\t\tdefault\n');
  t.match(await outputOf('config show --origin --data-dir /x', { cwd: work }), 'data_dir\t/x\tflag\n');
  t.match(
    JSON.parse((await hearth('config show --json', { cwd: work })).stdout).find(
      (row: { key: string }) => row.key === 'http.listen',
    ),
    { key: 'http.listen', value: { host: '127.0.0.1', port: 8080 } },
  );

  writeFileSync(file, '[http]\nlisten = 1\n[shh]\nenabled = false\n');
  t.equal(
    await outputOf('config check', { cwd: work }),
    '<folder>/work/hearth.toml:3: unknown section [shh], did you mean [ssh]?\n' +
      '<folder>/work/hearth.toml:2: 1 is not allowed for http.listen: it must be host:port, for example 0.0.0.0:3000, [::]:3000 or 127.0.0.1:0\n[5]',
  );
  t.match(JSON.parse((await hearth('config check --json', { cwd: work })).stdout), {
    ok: false,
    problems: [{ line: 3, key: 'shh', reason: 'config_unknown_key' }, { line: 2 }],
  });
  const refused = await hearth('user list', { cwd: work });
  t.equal(refused.code, 5);
  t.match(
    clean(refused.stderr),
    /^error: <folder>\/work\/hearth\.toml:3: unknown section.*\n {7}<folder>\/work\/hearth\.toml:2: .*\nhint: to print every option: hearth config example\n$/,
  );
  t.match(
    await outputOf(['config', 'check', '--config', '/gone.toml']),
    /^\/gone\.toml: cannot be read \(no such file\)\n\[5\]$/,
  );
  t.equal(
    (await hearth('config example')).stdout,
    readFileSync(new URL('../../config.example.toml', import.meta.url), 'utf8'),
  );
});

t.test('every command has help with an example; help is on stdout and exits with 0', async (t) => {
  const root = await hearth('--help');
  t.equal(root.code, 0);
  t.equal(root.stderr, '');
  /** Below every title that is not one of a command's own. */
  const names = (text: string): string[] =>
    text
      .split('\n\n')
      .filter((part) => /^[A-Z]/.test(part) && !/^(Usage|Examples|Arguments|Options)/.test(part))
      .flatMap((part) => [...part.matchAll(/^ {2}([a-z-]+)/gm)].map((match) => match[1]!));
  t.same(names(root.stdout).sort(), [
    'actions',
    'application',
    'backup',
    'board',
    'ci',
    'cleanup',
    'completion',
    'config',
    'cron',
    'db',
    'delivery',
    'demo',
    'doctor',
    'environment',
    'export',
    'federation',
    'handle',
    'health',
    'help',
    'import',
    'inbox',
    'init',
    'issue',
    'job',
    'key',
    'lfs',
    'log',
    'mail',
    'migrate',
    'node',
    'objects',
    'org',
    'package',
    'pull',
    'recover',
    'reindex',
    'release',
    'reload',
    'repo',
    'restore',
    'rollback',
    'routes',
    'run',
    'runner',
    'self-update',
    'serve',
    'setup-url',
    'ssh',
    'stats',
    'status',
    'team',
    'token',
    'trash',
    'user',
    'version',
    'webhook',
    'workflow',
  ]);
  /** The commands with an action at or below these words. */
  const leaves = async (words: string[]): Promise<string[][]> => {
    const below = names((await hearth(['help', ...words])).stdout);
    return below.length === 0 ? [words] : (await Promise.all(below.map((verb) => leaves([...words, verb])))).flat();
  };
  for (const name of names(root.stdout)) {
    for (const words of await leaves([name])) {
      const { stdout, code } = await hearth([...words, '--help']);
      t.equal(code, 0);
      t.match(stdout, new RegExp(`Usage: hearth ${words.join(' ')}`));
      t.match(stdout, /\nExamples:\n {2}\S/, words.join(' '));
      t.equal(stdout, (await hearth(['help', ...words])).stdout);
      t.ok(stdout.indexOf('Examples:') < stdout.indexOf('Options'), 'examples come first');
    }
  }
  t.equal((await hearth([])).stdout, root.stdout);
  t.match((await hearth('user')).stdout, /^user accounts\n\nUsage[^]*Examples:\n {2}hearth user list\n/);
  t.match((await hearth('help exit-codes')).stdout, / 78 {2}serve refuses to start/);
  t.match((await hearth('help topics')).stdout, /^addresses {2,}Email addresses[^]*\nwikis {2,}Wikis\n$/);
  const topic = (await hearth('help branch-rules')).stdout;
  t.match(topic, /^# Branch rules\n/);
  t.equal((await hearth('help topic branch-rules')).stdout, topic);
  t.match(
    await outputOf('help topic testing'),
    /the topic "testing" does not exist\nhint: to list them: hearth help topics\n\[2\]$/,
  );
  t.match(
    await outputOf('help nonsense'),
    /the command "hearth nonsense" does not exist\nhint: to list them: hearth help\n\[2\]$/,
  );
  t.match(
    await outputOf('help user lst'),
    /the command "hearth user lst" does not exist\nhint: did you mean list\?\n\[2\]$/,
  );
});

t.test('wrong usage exits with 2 and suggests the nearest word', async (t) => {
  t.equal(await outputOf('usr list'), "[stderr] error: unknown command 'usr'\nhint: did you mean user?\n[2]");
  t.equal(await outputOf('user lst'), "[stderr] error: unknown command 'lst'\nhint: did you mean list?\n[2]");
  t.equal(await outputOf('user list --jsn'), "[stderr] error: unknown option '--jsn'\nhint: did you mean --json?\n[2]");
  t.equal(
    await outputOf('user show'),
    "[stderr] error: missing required argument 'name'\nhint: see hearth user show --help\n[2]",
  );
  t.match(await outputOf('health now'), /too many arguments.*hint: see hearth health --help\n\[2\]$/s);
});

t.test('with --json an error is one object with a stable code', async (t) => {
  const { stdout, stderr, code } = await hearth('user show nobody --json');
  t.equal(stdout, '');
  t.equal(code, 3);
  t.same(JSON.parse(stderr), {
    error: { code: 'unknown_person', message: 'There is no such person.', hint: 'to list all users: hearth user list' },
  });
  t.same(JSON.parse((await hearth('user lst --json')).stderr), {
    error: { code: 'usage', message: "unknown command 'lst'", hint: 'did you mean list?' },
  });
});

t.test('an internal error has no stack trace unless requested', async (t) => {
  const broken = path.join(folder, 'broken');
  mkdirSync(broken);
  writeFileSync(path.join(broken, 'hearth.db'), 'this is no database, but long enough to look at'.repeat(100));
  const { code, stderr } = await hearth(['user', 'list', '--data-dir', broken]);
  t.equal(code, 6, 'the database is unavailable');
  t.match(stderr, /^error: .*\n/);
  t.notMatch(stderr, /\n\s+at /);
  t.match((await hearth(['user', 'list', '--debug', '--data-dir', broken])).stderr, /\n\s+at /);
});

t.test('a newer schema exits with 6', async (t) => {
  const { DatabaseSync } = await import('node:sqlite');
  const newer = path.join(folder, 'newer');
  await hearth(['migrate', '-q', '--data-dir', newer]);
  const db = new DatabaseSync(path.join(newer, 'hearth.db'));
  db.exec("INSERT INTO migrations(timestamp, name) VALUES (99, 'V99Future0000000000099')");
  db.close();
  t.match(
    await outputOf(['user', 'list', '--data-dir', newer]),
    /newer Hearth \(it has V99Future\)\. Nothing was changed\.\nhint: use the newer program.*\[6\]$/s,
  );
});

t.test('colour is used only when wanted, and never as the only sign', async (t) => {
  t.match((await hearth('user show nobody --color=always')).stderr, /^\u001b\[31merror:\u001b\[39m there is/);
  t.notMatch((await hearth('user show nobody')).stderr, /\u001b/);
});

t.test('version prints what a bug report needs', async (t) => {
  t.match(
    await outputOf('version'),
    /^hearth\t\d+\.\d+\.\d+\nnode\t24\.\d+\.\d+\nsqlite\t3\.\d+\.\d+\ngit\t\d+\.\d+[.\d]* \(\/.*git\)\n\[0\]$/,
  );
  t.match(await outputOf('version', { env: { SERVICE_GIT_PROGRAM: 'no-such-git' } }), /\ngit\tnot found\n\[0\]$/);
  t.match(await outputOf('--version'), /^\d+\.\d+\.\d+\n\[0\]$/);
  t.match(await outputOf('-V'), /^\d+\.\d+\.\d+\n\[0\]$/);
});

t.test('routes lists every URL of the web server in the order of matching', async (t) => {
  const printed = (await outputOf('routes')).split('\n');
  t.equal(printed[0], 'GET\t/git/:owner/:name/info/refs\tgit\ttransfer');
  t.ok(printed.includes('GET\t/healthz\topen\tfree'));
  t.ok(printed.includes('POST\t/repos/:owner/:name/settings/delete\trepository:owner\tobjects'));
  t.same(printed.slice(-2), ['GET\t/{*rest}\tpublic\tfree', '[0]']);
  const rows = JSON.parse((await hearth('routes --json')).stdout) as object[];
  t.same(rows[0], { method: 'GET', path: '/git/:owner/:name/info/refs', access: 'git', cost: 'transfer' });
  t.equal(rows.length, printed.length - 1);
});

t.test('--quiet keeps results', async (t) => {
  t.equal(await outputOf('user enable bob -q'), '[0]');
  t.match(await outputOf('token add --user bob --name q -q'), /^<token>\n\[0\]$/);
});

/** Whether a password belongs to an account. */
async function opens(username: string, password: string): Promise<boolean> {
  const { accounts } = await opened.get(dataDir)!;
  return accounts.signIn({ username, password, address: '127.0.0.1', userAgent: 'test' }).then(
    () => true,
    () => false,
  );
}

t.test('repo create with first files, and from a template', async (t) => {
  await hearth('repo create alice/begun --readme --licence MIT --gitignore Node Go');
  t.match(await outputOf('repo add alice/odd --licence nothing'), /choose one of MIT, .*\[2\]$/s);
  await hearth('repo edit alice/begun --template');
  t.match(await outputOf('repo add alice/again --template alice/begun'), /^Created private repository alice\/again/);
  t.match(await outputOf('repo add alice/none --template alice/again'), /alice\/again is not a template/);
});
