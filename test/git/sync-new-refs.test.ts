// A push of many new refs has them synced together; a crash before the sync is repaired.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import t from 'tap';
import { createGit } from '../../src/git/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { gitConfig, gitSync, openGit, sampleRepository } from './git-fixture.ts';
import { createHookRecorder, packOf, pushBytes, readResponse, sendPush, zeroId } from './push-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

requiredProgram('strace');
const sample = sampleRepository();
const main = gitSync(['rev-parse', 'main'], { cwd: sample });
const pack = packOf(sample, 'main');
const refs = (count: number) => Array.from({ length: count }, (_, n) => `refs/heads/b${n}`);
const creating = (names: readonly string[]) => names.map((ref) => `${zeroId} ${main} ${ref}`);
const packed = (repository: string) => {
  const file = path.join(repository, 'packed-refs');
  return existsSync(file) ? readFileSync(file, 'utf8').match(/refs\/heads\/.*/g)!.length : 0;
};

t.test(
  'many new refs are packed before they are acknowledged; a few, and pushes that move others, are not',
  async (t) => {
    const { git, newRepository } = await openGit(t);
    const few = await newRepository();
    await sendPush(git, few, pushBytes({ commands: creating(refs(49)), pack }));
    t.equal(packed(few), 0);
    await sendPush(
      git,
      few,
      pushBytes({ commands: [`${main} ${zeroId} refs/heads/b0`, ...creating(refs(150).slice(49))], pack }),
    );
    t.equal((await git.refs.list(few)).size, 149);
    t.equal(packed(few), 0, 'what was acknowledged before depends on the sync of each');

    const many = await newRepository();
    const seen = createHookRecorder();
    seen.postReceive = async () => void t.equal(packed(many), 1_000, 'all of them');
    const { response } = await sendPush(git, many, pushBytes({ commands: creating(refs(1_000)), pack }), seen);
    t.equal(readResponse(response).report.filter((line) => line.startsWith('ok ')).length, 1_000);
    t.equal((await git.refs.list(many)).size, 1_000);
    t.same(readdirSync(path.join(many, 'refs/heads')), []);
  },
);

t.test('many new refs are synced once: git itself does not sync them', async (t) => {
  const folder = temporaryFolder(t);
  const calls = path.join(folder, 'calls');
  const program = path.join(folder, 'git');
  mkdirSync(calls);
  const trace = `strace -qq -f -e trace=fsync,fdatasync -o '${calls}'/$$`;
  writeFileSync(program, `#!/bin/sh\nexec ${trace} git "$@"\n`, { mode: 0o755 });
  const git = await createGit({ config: gitConfig(folder, program), logger: silentLogger });
  t.teardown(() => git.stop(0));
  const repository = git.storage.pathOf(randomUUID(), randomUUID());
  await git.storage.create(repository, { defaultBranch: 'main' });
  const syncs = async (commands: string[]) => {
    for (const name of readdirSync(calls)) rmSync(path.join(calls, name));
    t.match((await sendPush(git, repository, pushBytes({ commands, pack }))).outcome, { kind: 'reported' });
    // A reader of objects stays for a while.
    await waitUntil(() => git.load().processes <= 1);
    const lines = readdirSync(calls).flatMap(
      (name) => readFileSync(path.join(calls, name), 'utf8').match(/sync\(/g) ?? [],
    );
    return lines.length;
  };
  const single = await syncs(creating(refs(40)));
  t.ok(single >= 40, `a few: each for itself, ${single}`);
  const together = await syncs(creating(refs(340).slice(40)));
  t.ok(together < 30, `many: together, ${together}`);
});

t.test('new refs that cannot be packed are synced one by one', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  writeFileSync(path.join(repository, 'packed-refs.lock'), '');
  const { outcome } = await sendPush(git, repository, pushBytes({ commands: creating(refs(60)), pack }));
  t.match(outcome, { kind: 'reported' });
  t.equal((await git.refs.list(repository)).size, 60);
  t.equal(packed(repository), 0);
});

t.test('after a crash, new refs without a value are removed; the others stay', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  await sendPush(git, repository, pushBytes({ commands: creating(refs(3)), pack }));
  const [empty, zeros] = ['refs/heads/empty', 'refs/heads/zeros'];
  writeFileSync(path.join(repository, empty), '');
  writeFileSync(path.join(repository, zeros), Buffer.alloc(41));
  writeFileSync(path.join(repository, 'refs/heads/other'), '');
  t.same(await git.refs.repairNew(repository, [...refs(3), empty, zeros, 'refs/heads/absent', '../x']), [empty, zeros]);
  t.equal((await git.refs.list(repository)).size, 3);
  t.ok(existsSync(path.join(repository, 'refs/heads/other')), 'of others the value may be the last hint');
});

t.test('overwritten tips are preserved in one transaction, and a missing one is skipped', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  await sendPush(git, repository, pushBytes({ commands: creating(refs(1)), pack }));
  const preserved = (names: string[], oid: string) => names.map((name) => ({ name, oid }));
  t.same(await git.objects.keep(repository, preserved(['undo/a/0', 'undo/a/1'], main)), ['undo/a/0', 'undo/a/1']);
  const one = [...preserved(['undo/b/0'], main), ...preserved(['undo/b/1'], '9'.repeat(40))];
  t.same(await git.objects.keep(repository, one), ['undo/b/0']);
  t.same(await git.objects.keep(repository, []), []);
});
