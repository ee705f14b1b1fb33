// Many refs that the server creates at once: of a repository without refs they become lines of one file, as git
// writes them; anywhere else git judges each.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Git, RefMove } from '../../src/git/index.ts';
import { gitSync, openGit, sampleRepository } from './git-fixture.ts';
import { zeroId } from './push-fixture.ts';

const sample = sampleRepository();
const main = gitSync(['rev-parse', 'main'], { cwd: sample });
const blob = gitSync(['rev-parse', 'main:README.md'], { cwd: sample });
const creating = (count: number, folder = 'many'): RefMove[] =>
  Array.from({ length: count }, (_, n) => ({ ref: `refs/heads/${folder}/b${n}`, oldId: zeroId, newId: main }));
const filesOf = (repository: string) =>
  readdirSync(path.join(repository, 'refs'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length;

/** A repository with all objects of the sample, with an annotated tag and a tag of it, and without a ref. */
async function withObjects(newRepository: () => Promise<string>): Promise<{ repository: string; tag: string }> {
  const repository = await newRepository();
  gitSync(['fetch', '-q', '--no-tags', sample, 'main:refs/heads/main'], { cwd: repository });
  gitSync(['-c', 'user.name=A', '-c', 'user.email=a@example.org', 'tag', '-a', '-m', 'one', 'v1', 'main'], {
    cwd: repository,
  });
  const tag = gitSync(['rev-parse', 'v1'], { cwd: repository });
  for (const ref of ['refs/heads/main', 'refs/tags/v1']) gitSync(['update-ref', '-d', ref], { cwd: repository });
  return { repository, tag };
}

const moveAll = async (git: Git, repository: string, moves: RefMove[]) =>
  (await git.refs.move(repository, moves)).map(({ ok }) => ok);

t.test('the refs of a repository without any are written as git writes them', async (t) => {
  const { git, newRepository } = await openGit(t);
  const { repository, tag } = await withObjects(newRepository);
  const moves = [
    ...creating(200),
    { ref: 'refs/tags/v1', oldId: zeroId, newId: tag },
    { ref: 'refs/heads/many-ä', oldId: zeroId, newId: main },
    { ref: 'refs/heads/many-b', oldId: zeroId, newId: main },
    { ref: 'refs/notes/commits', oldId: zeroId, newId: main },
  ];
  t.ok((await moveAll(git, repository, moves)).every(Boolean));
  const written = readFileSync(path.join(repository, 'packed-refs'), 'utf8');
  t.equal(filesOf(repository), 0);
  t.match(written, `${tag} refs/tags/v1\n^${main}\n`);
  t.same(
    gitSync(['for-each-ref', '--format=%(refname) %(objectname)'], { cwd: repository }).split('\n'),
    moves.map(({ ref, newId }) => `${ref} ${newId}`).sort((a, b) => Buffer.from(a).compare(Buffer.from(b))),
  );
  gitSync(['pack-refs', '--all'], { cwd: repository });
  t.equal(readFileSync(path.join(repository, 'packed-refs'), 'utf8'), written, 'git itself writes the same');
});

t.test(
  'names in the way of each other, missing objects and branches that are no commits are left to git',
  async (t) => {
    const { git, newRepository } = await openGit(t);
    for (const [move, what] of [
      [{ ref: 'refs/heads/many/b0/below', oldId: zeroId, newId: main }, 'a name below another'],
      [{ ref: 'refs/heads/gone', oldId: zeroId, newId: 'a'.repeat(40) }, 'an object that is not there'],
      [{ ref: 'refs/heads/file', oldId: zeroId, newId: blob }, 'a branch of a file'],
    ] as const) {
      const { repository } = await withObjects(newRepository);
      const results = await moveAll(git, repository, [...creating(60), move]);
      t.same(results, [...creating(60).map(() => true), false], what);
      t.equal((await git.refs.list(repository)).size, 60);
    }
  },
);

t.test('a repository with refs keeps them, and its new ones are packed', async (t) => {
  const { git, newRepository } = await openGit(t);
  const { repository } = await withObjects(newRepository);
  t.same(await moveAll(git, repository, creating(1, 'old')), [true]);
  t.ok((await moveAll(git, repository, creating(300))).every(Boolean));
  t.equal((await git.refs.list(repository)).size, 301);
  t.equal(filesOf(repository), 0);
  const again = await git.refs.move(repository, [...creating(60, 'new'), ...creating(1, 'old')]);
  t.same(
    again.filter(({ ok }) => !ok),
    [{ ref: 'refs/heads/old/b0', ok: false, reason: 'it has moved meanwhile' }],
  );
  t.equal((await git.refs.list(repository)).size, 361);
});

t.test('while another git writes packed-refs, nothing is written beside it', async (t) => {
  const { git, newRepository } = await openGit(t);
  const { repository } = await withObjects(newRepository);
  const lock = path.join(repository, 'packed-refs.lock');
  writeFileSync(lock, 'of another');
  await moveAll(git, repository, creating(60));
  t.equal(readFileSync(lock, 'utf8'), 'of another');
  t.equal((await git.refs.list(repository)).size, 60);
});
