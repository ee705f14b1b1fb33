// time limit: 120 s
// Clock jumps, and damaged repositories.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { createDoctor } from '../../src/doctor/index.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const run = promisify(execFile);
const day = 86_400_000;

function workTree({ folder, url }: Hearth, { token }: TestPerson, name: string) {
  const work = path.join(folder, `work-${name}`);
  mkdirSync(work);
  const git = (...args: string[]) => run('git', args, { cwd: work, env: clientEnvironment });
  const remote = `${url.replace('://', `://alice:${token}@`)}/git/alice/${name}.git`;
  return {
    git,
    remote,
    async push(text: string) {
      await git('init', '--quiet', '--initial-branch=main');
      writeFileSync(path.join(work, 'file.txt'), text);
      await git('add', '.');
      await git(
        '-c',
        'user.name=alice',
        '-c',
        'user.email=alice@example.org',
        'commit',
        '--quiet',
        '--allow-empty',
        '-m',
        text,
      );
      await git('push', '--quiet', remote, 'HEAD:main');
    },
  };
}

const findings = async ({ modules, config }: Hearth) => {
  const found: string[] = [];
  const doctor = createDoctor({
    ...modules,
    config,
    settingsFile: null,
    userId: null,
    backupState: () => modules.backups.state(),
    auditBreak: () => modules.audit.findBreak(),
  });
  for await (const area of doctor.examine())
    found.push(...area.findings.map(({ check, message }) => `${check} ${message}`));
  return found;
};

t.test('the clock jumps ahead and back: sessions, pushes, pages and tasks go on, and dates are valid', async (t) => {
  const start = Date.UTC(2026, 10, 20, 12);
  const clock = fixedClock(start);
  const hearth = await startHearth(t, { clock });
  const alice = await hearth.addPerson('alice');
  await hearth.modules.repositories.create(localAdministrator, {
    owner: 'alice',
    name: 'garden',
    visibility: 'PUBLIC',
  });
  const { push } = workTree(hearth, alice, 'garden');
  const signedIn = async () =>
    (await hearth.modules.accounts.viewerOfSession(alice.session, { address: null })) !== null;
  const page = async (at: string) => {
    const response = await fetch(`${hearth.url}${at}`);
    const text = await response.text();
    t.equal(response.status, 200, at);
    t.notMatch(text, /Invalid Date|NaN/, at);
    return text;
  };

  await push('at first');
  for (const jump of [3_600_000, -7_200_000, 10 * day, -300 * day]) {
    clock.set(start + jump);
    t.ok(await signedIn(), `the session lives after a jump of ${jump / 3_600_000} h`);
    await push(`after a jump of ${jump}`);
    for (const at of ['/', '/explore', '/alice', '/repos/alice/garden', '/repos/alice/garden/commits/main'])
      await page(at).catch((error: Error) => t.fail(error.message));
    await hearth.modules.repositories.pushes.finish();
    await hearth.modules.ci.sweep();
    await hearth.modules.accounts.removeExpired();
  }
  clock.set(start + 400 * day);
  t.notOk(await signedIn(), 'no session is immortal');
  await push('much later');
  clock.set(start - 400 * day);
  t.ok((await findings(hearth)).some((text) => text.startsWith('clock.behind ')));
  await push('long before');
  const open = async () =>
    (await hearth.modules.db.read.query(
      'SELECT id FROM pushes WHERE settled_at IS NULL OR announced_at IS NULL',
    )) as unknown[];
  await waitUntil(async () => (await open()).length === 0);
  t.same(await open(), [], 'every push is settled and announced');
});

t.test(
  'a truncated pack affects no other repository: its pages and clones fail cleanly, the doctor names it alone',
  async (t) => {
    const hearth = await startHearth(t);
    const alice = await hearth.addPerson('alice');
    for (const name of ['garden', 'orchard']) {
      await hearth.modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' });
      await workTree(hearth, alice, name).push('x'.repeat(100_000));
    }
    const found = await hearth.modules.repositories.find(localAdministrator, 'alice', 'garden');
    await hearth.modules.git.maintenance.pack(found.path);
    const packs = path.join(found.path, 'objects', 'pack');
    const pack = path.join(packs, readdirSync(packs).find((name) => name.endsWith('.pack'))!);
    chmodSync(pack, 0o600);
    truncateSync(pack, Math.floor(statSync(pack).size / 2));

    const clone = (name: string) =>
      run(
        'git',
        ['clone', '--quiet', `${hearth.url}/git/alice/${name}.git`, path.join(hearth.folder, `clone-${name}`)],
        { env: clientEnvironment },
      ).then(
        () => 'done',
        (error: { stderr: string }) => error.stderr,
      );
    t.not(await clone('garden'), 'done', 'a damaged repository is never served as if it were whole');
    t.equal(await clone('orchard'), 'done');
    t.ok((await fetch(`${hearth.url}/repos/alice/garden`)).status >= 200);
    t.equal((await fetch(`${hearth.url}/repos/alice/orchard`)).status, 200);
    t.match(
      (await findings(hearth)).filter((text) => text.startsWith('repositories.')),
      [/^repositories\.damaged alice\/garden/],
    );
  },
);
