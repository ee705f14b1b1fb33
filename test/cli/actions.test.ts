// `hearth actions …`: mirrors of actions from bundles, on a machine without network, and where runners look for them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { openCi, settle } from '../ci/ci-fixture.ts';
import type { CiFixture } from '../ci/ci-fixture.ts';
import { runCli } from './run-cli.ts';

t.setTimeout(120_000);

/** An action with a workflow of its own, which must not run here; returns what adds a commit and packs a bundle. */
async function upstream(folder: string, name: string) {
  const work = path.join(folder, `upstream-${name}`);
  mkdirSync(path.join(work, '.github/workflows'), { recursive: true });
  const git = (...args: string[]) => runGit(args, { cwd: work });
  await git('init', '--quiet', '-b', 'main');
  return async (tag: string, bundle: string): Promise<void> => {
    writeFileSync(path.join(work, 'action.yml'), `name: ${name}\nruns: {using: node20, main: ${tag}.js}\n`);
    writeFileSync(
      path.join(work, '.github/workflows/test.yml'),
      'on: push\njobs: {a: {runs-on: ubuntu-latest, steps: [{run: "true"}]}}\n',
    );
    await git('add', '--all');
    await git('commit', '--quiet', '-m', tag);
    await git('tag', tag);
    mkdirSync(path.dirname(bundle), { recursive: true });
    await git('bundle', 'create', '--quiet', bundle, '--all');
  };
}

const cliOf =
  ({ modules, folder }: CiFixture) =>
  (...words: string[]) =>
    runCli(words, {
      cwd: folder,
      env: { SERVICE_DATA_DIR: modules.config.dataDir },
      openModules: async () => ({ ...modules, close: async () => {} }),
    });

t.test('actions from bundles: made, updated, public, and without runs of their own', async (t) => {
  const fixture = await openCi(t);
  const { modules, ci, folder, db } = fixture;
  const hearth = cliOf(fixture);
  const checkout = await upstream(folder, 'checkout');
  const bundles = path.join(folder, 'bundles');
  await checkout('v4', path.join(bundles, 'checkout.bundle'));
  await (await upstream(folder, 'login-action'))('v3', path.join(bundles, 'docker/login-action.bundle'));

  t.match(await hearth('actions', 'mirror', 'checkout', '--bundle', bundles), {
    code: 2,
    stderr: /the organisation actions does not exist yet\. Specify its owner: --owner alice/,
  });
  const made = await hearth(
    'actions',
    'mirror',
    'checkout',
    'docker/login-action',
    '--bundle',
    bundles,
    '--owner',
    'alice',
  );
  t.match(made, { code: 0, stdout: /^actions\/checkout\t[^\t]+\t2 branches and tags\ndocker\/login-action\t/ });
  t.match(
    made.stderr,
    /use actions from https:\/\/github\.com\. To use the ones on this server: hearth actions use self/,
  );
  const found = await modules.repositories.find({ kind: 'anonymous' }, 'actions', 'checkout');
  t.strictSame([...(await modules.git.refs.list(found.path)).keys()].sort(), ['refs/heads/main', 'refs/tags/v4']);
  t.equal(
    execFileSync('git', ['-C', found.path, 'show', 'v4:action.yml'], { encoding: 'utf8' }).slice(0, 15),
    'name: checkout\n',
  );
  t.equal(found.repository.defaultBranch, 'main');

  await checkout('v5', path.join(bundles, 'checkout.bundle'));
  t.match(await hearth('actions', 'mirror', 'checkout', '--bundle', path.join(bundles, 'checkout.bundle')), {
    stdout: /\t2 branches and tags\n$/,
  });
  t.match(await hearth('actions', 'mirror', 'actions/checkout', '--bundle', bundles), { stdout: /\tup to date\n$/ });
  const unannounced = () => db.read.query('SELECT 1 FROM pushes WHERE announced_at IS NULL') as Promise<unknown[]>;
  for (let tries = 0; (await unannounced()).length > 0 && tries < 200; tries += 1) await settle();
  t.strictSame(await db.read.query('SELECT id FROM ci_runs'), [], 'their workflows started nothing');
  t.match(await ci.settings.of(found.repository.id), { isEnabled: false });

  for (const [words, code, stderr] of [
    [['mirror', 'setup-node', '--bundle', bundles], 3, /no bundle of actions\/setup-node[^]*git clone --mirror https/],
    [
      ['mirror', 'checkout', 'cache', '--bundle', path.join(bundles, 'checkout.bundle')],
      3,
      /no bundle of actions\/checkout/,
    ],
    [['mirror', '../x', '--bundle', bundles], 2, /is not an action/],
    [['mirror', 'cache', '--from', 'https://127.0.0.1:1', '--owner', 'alice'], null, /^error: /],
    [['use', 'nowhere'], 2, /enter self, or a URL/],
    [['use', 'self'], 3, /no settings file is in use/],
  ] as const) {
    const ran = await hearth('actions', ...words);
    t.match(ran.stderr, stderr, words.join(' '));
    if (code !== null) t.equal(ran.code, code, words.join(' '));
    t.not(ran.code, 0);
  }
  writeFileSync(path.join(folder, 'broken.bundle'), 'no bundle');
  t.not((await hearth('actions', 'mirror', 'setup-node', '--bundle', path.join(folder, 'broken.bundle'))).code, 0);
  t.strictSame(
    await db.read.query("SELECT name FROM repositories WHERE name IN ('cache', 'setup-node')"),
    [],
    'an action that could not be fetched leaves no repository',
  );
  t.not((await hearth('actions', 'mirror', 'checkout', '--bundle', path.join(folder, 'broken.bundle'))).code, 0);
  t.equal((await modules.git.refs.list(found.path)).size, 3, 'and nothing has changed');
});

t.test('actions from a git server over HTTP: mirrored, fetched again, and what fails is said', async (t) => {
  const there = await startHearth(t);
  const bob = await there.addPerson('bob');
  const owner = { ...personViewer(bob.id, 'admin'), username: 'bob' };
  await there.modules.organisations.create(owner, { name: 'actions' });
  await there.modules.repositories.create(owner, { owner: 'actions', name: 'checkout', visibility: 'PUBLIC' });
  const source = await there.modules.repositories.find(owner, 'actions', 'checkout');
  const checkout = await upstream(there.folder, 'checkout');
  const publish = async (tag: string) => {
    await checkout(tag, path.join(there.folder, 'checkout.bundle'));
    await runGit(['push', '--quiet', source.path, 'main', tag], { cwd: path.join(there.folder, 'upstream-checkout') });
  };
  await publish('v4');
  const fixture = await openCi(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: new URL(there.url).host } });
  const { modules, db } = fixture;
  const hearth = cliOf(fixture);
  const from = ['--from', `${there.url}/git`, '--owner', 'alice'];
  t.match(await hearth('actions', 'mirror', 'checkout', ...from), {
    code: 0,
    stdout: /^actions\/checkout\t[^\t]+\tmirrored, daily\n$/,
  });
  const found = await modules.repositories.find({ kind: 'anonymous' }, 'actions', 'checkout');
  const tags = async () => [...(await modules.git.refs.list(found.path)).keys()].sort();
  t.strictSame(await tags(), ['refs/heads/main', 'refs/tags/v4']);
  await publish('v5');
  fixture.clock.advance(1_000);
  t.match(await hearth('actions', 'mirror', 'checkout', ...from), { code: 0 });
  t.strictSame(await tags(), ['refs/heads/main', 'refs/tags/v4', 'refs/tags/v5'], 'at once, before the day is over');
  t.strictSame(await db.read.query('SELECT id FROM ci_runs'), [], 'their workflows started nothing');
  const absent = await hearth('actions', 'mirror', 'cache', ...from);
  t.match(absent.stderr, /git\/actions\/cache: /, 'the address and the reason');
  t.not(absent.code, 0);
});

t.test('where runners find actions is written into the settings file', async (t) => {
  const fixture = await openCi(t);
  const file = path.join(fixture.folder, 'hearth.toml');
  writeFileSync(file, '# mine\nbase_url = "https://git.example.org"\n');
  const hearth = cliOf(fixture);
  t.match(await hearth('actions', 'use', 'self'), { code: 0, stdout: /^Set ci\.actions_url = "self" in .*\. Restart/ });
  t.equal(readFileSync(file, 'utf8'), '# mine\nbase_url = "https://git.example.org"\n\n[ci]\nactions_url = "self"\n');
  t.match(await hearth('config', 'show'), { stdout: /^ci\.actions_url\tself$/m });
  await hearth('actions', 'use', 'https://git.example.org/');
  t.match(readFileSync(file, 'utf8'), /^actions_url = "https:\/\/git\.example\.org\/"$/m);
});
