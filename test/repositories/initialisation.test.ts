// New repositories with first files, and from templates.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { gitignoreTemplates, licenceTemplates } from '../../src/repositories/index.ts';
import type { InitialisedRepository } from '../../src/repositories/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { openModules, reasonOf, sampleHistory, push, zeroId } from './repositories-fixture.ts';

async function open(t: Owner) {
  const modules = await openModules(t);
  const { repositories, alice } = modules;
  const create = (input: Partial<InitialisedRepository>, viewer = alice) =>
    repositories.create(viewer, { name: 'work', visibility: 'PUBLIC', ...input });
  const git = async (name: string, ...args: string[]) => {
    const { path } = await repositories.find(alice, 'alice', name);
    return execFileSync('git', [`--git-dir=${path}`, ...args])
      .toString()
      .trimEnd();
  };
  return { ...modules, create, git };
}

t.test('README, licence and .gitignore in one commit of the creator', async (t) => {
  const { create, git } = await open(t);
  await create({
    readme: true,
    licence: 'mit',
    gitignore: ['Node', 'python'],
    description: 'Keeps the rain out',
    defaultBranch: 'trunk',
  });
  t.equal(await git('work', 'ls-tree', '-r', '--name-only', 'trunk'), '.gitignore\nLICENSE\nREADME.md');
  t.equal(await git('work', 'cat-file', '-p', 'trunk:README.md'), '# work\n\nKeeps the rain out');
  t.match(await git('work', 'cat-file', '-p', 'trunk:LICENSE'), /^MIT License\n\nCopyright \(c\) \d{4} alice\n/);
  t.match(
    await git('work', 'cat-file', '-p', 'trunk:.gitignore'),
    /### Node[^]*node_modules\/[^]*### Python[^]*__pycache__/,
  );
  t.equal(await git('work', 'log', '--format=%s|%an', 'trunk'), 'Initial commit|alice');
  t.equal(await git('work', 'symbolic-ref', 'HEAD'), 'refs/heads/trunk');
  await create({ name: 'empty' });
  t.equal(await git('empty', 'for-each-ref'), '');
});

t.test('every licence and every template has a text', async (t) => {
  const { create, git } = await open(t);
  let number = 0;
  for (const licence of Object.keys(licenceTemplates)) {
    const name = `l${(number += 1)}`;
    await create({ name, licence });
    const text = await git(name, 'cat-file', '-p', 'main:LICENSE');
    t.ok(text.length > 1_000, licence);
    t.notMatch(text.slice(0, 300), /<year>|<owner>|<copyright/, licence);
  }
  for (const gitignore of Object.keys(gitignoreTemplates)) {
    const name = `g${(number += 1)}`;
    await create({ name, gitignore: [gitignore] });
    t.notMatch(await git(name, 'cat-file', '-p', 'main:.gitignore'), /###/);
  }
});

t.test('what is not known is refused before anything is made', async (t) => {
  const { create, repositories, alice, bob, carol } = await open(t);
  t.equal(await reasonOf(create({ licence: 'WTFPL' })), 'unknown_licence');
  t.equal(await reasonOf(create({ licence: '../../MIT' })), 'unknown_licence');
  t.equal(await reasonOf(create({ licence: '__proto__' })), 'unknown_licence');
  t.equal(await reasonOf(create({ gitignore: ['constructor'] })), 'unknown_gitignore');
  t.equal(await reasonOf(repositories.find(alice, 'alice', 'work')), 'repository_not_found');
  t.equal(await reasonOf(create({ owner: 'bob', readme: true })), 'no_such_owner');
  await create({ readme: true });
  t.equal(await reasonOf(create({ readme: true })), 'repository_name_taken');
  t.equal(
    await reasonOf(create({ owner: 'bob', name: 'copy', template: { owner: 'alice', name: 'work' } })),
    'not_a_template',
  );
  await create({ name: 'hidden', visibility: 'PRIVATE', readme: true });
  await repositories.edit(alice, 'alice', 'hidden', { isTemplate: true });
  for (const [viewer, owner] of [
    [bob, 'bob'],
    [carol, 'carol'],
  ] as const)
    t.equal(
      await reasonOf(create({ owner, name: 'copy', template: { owner: 'alice', name: 'hidden' } }, viewer)),
      'repository_not_found',
    );
  await create({ name: 'bare' });
  await repositories.edit(alice, 'alice', 'bare', { isTemplate: true });
  t.equal(await reasonOf(create({ name: 'copy', template: { owner: 'alice', name: 'bare' } })), 'template_empty');
  t.equal(await reasonOf(repositories.edit(bob, 'alice', 'work', { isTemplate: true })), 'repository_not_found');
});

t.test('from a template: its files in one commit, none of its history', async (t) => {
  const modules = await open(t);
  const { create, git, repositories, alice, bob, folder } = modules;
  await create({ name: 'begin', readme: true });
  await repositories.contents.change(alice, 'alice', 'begin', {
    operations: [
      { kind: 'create', path: 'bin/run', content: Buffer.from('#!/bin/sh\n'), isExecutable: true },
      { kind: 'delete', path: 'README.md' },
    ],
  });
  await repositories.edit(alice, 'alice', 'begin', { isTemplate: true });
  const made = await repositories.create(bob, {
    name: 'mine',
    visibility: 'PRIVATE',
    template: { owner: 'alice', name: 'begin' },
  });
  t.equal(made.isTemplate, false);
  const { path } = await repositories.find(bob, 'bob', 'mine');
  const inMine = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${path}`, ...args])
      .toString()
      .trimEnd();
  t.match(inMine('ls-tree', '-r', 'main'), /^100755 blob \S+\tbin\/run$/);
  t.equal(inMine('log', '--format=%s|%an|%p', '--all'), 'Initial commit|bob|');
  t.equal(inMine('for-each-ref', '--format=%(refname)'), 'refs/heads/main', 'no hidden ref is left');
  inMine('fsck', '--strict');
  // By the command line, under another default branch; the template may have any history.
  const history = sampleHistory(folder);
  await push(modules, alice, 'alice/begin', [`${zeroId} ${history.commits[3]} refs/heads/old`], { pack: history.pack });
  await repositories.create(localAdministrator, {
    owner: 'alice',
    name: 'third',
    visibility: 'PUBLIC',
    defaultBranch: 'trunk',
    template: { owner: 'alice', name: 'begin' },
  });
  t.equal(await git('third', 'for-each-ref', '--format=%(refname)'), 'refs/heads/trunk');
});
