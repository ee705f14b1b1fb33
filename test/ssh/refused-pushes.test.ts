// A refused push ends over SSH as well: whatever is refused, and however large report and pack are.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { addRefs, branchCount, createLargePush, pushWithin } from '../git/large-push-fixture.ts';
import { refusals } from '../git/refusals-fixture.ts';
import { startSsh } from './ssh-fixture.ts';

t.setTimeout(600_000);
const { work, tip } = createLargePush(t);
const hearth = await startSsh(t);
const { key } = await hearth.person('alice');
const { repositories, git } = hearth.modules;
const branches = 'refs/heads/*:refs/heads/*';
const command = ['ssh', ...hearth.sshOptions({ keys: [key] })].map((word) => `'${word}'`).join(' ');
const env = { GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: 'ssh' };

async function newRepository(name: string) {
  await repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' });
  const { path } = await repositories.find(localAdministrator, 'alice', name);
  return { url: hearth.url(`alice/${name}.git`), refs: async () => (await git.refs.list(path)).size };
}
const { url, refs } = await newRepository('work');

for (const { name, options = [], refspecs = [branches], says, prepare } of refusals) {
  t.test(name, async (t) => {
    const undo = await prepare?.(hearth.modules, 'work');
    const specs = options.includes('--atomic') ? [branches, ...refspecs] : refspecs;
    const { code, stderr } = await pushWithin(['push', ...options, url, ...specs], { cwd: work, env });
    await undo?.();
    t.ok(code !== null && code !== 0, `it ends with ${code}`);
    t.match(stderr, says);
    t.equal(await refs(), 0, 'nothing of it landed');
    t.equal(git.load().writes.running, 0);
  });
}

t.test('a mirror push of another forge’s clone updates the refs that are allowed', async (t) => {
  const mirror = await newRepository('mirror');
  addRefs(
    `${work}/.git`,
    tip,
    Array.from({ length: 3_277 }, (_, n) => `refs/pull/${n + 1}/head`),
  );
  const { code, stderr } = await pushWithin(['push', '--mirror', mirror.url], { cwd: work, env });
  t.equal(code, 1);
  t.match(stderr, /remote: 3,277 refs under refs\/pull\/ were left out: they are the server's own/);
  t.equal(await mirror.refs(), branchCount + 1);
});
