// Many refs that the server creates at once become lines of one file, as git writes them; what that cannot be done for
// is left to git. A push of many new refs takes the same way.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Git } from '../../src/git/index.ts';
import { gitSync, openGit, sampleRepository } from './git-fixture.ts';
import { defaultCapabilities, pushBytes, readResponse, sendPush, zeroId } from './push-fixture.ts';

type RefMove = Parameters<Git['refs']['move']>[1][number];

const sample = sampleRepository();
const main = gitSync(['rev-parse', 'main'], { cwd: sample });
const blob = gitSync(['rev-parse', 'main:README.md'], { cwd: sample });
const creating = (count: number, folder = 'many'): RefMove[] =>
  Array.from({ length: count }, (_, n) => ({ ref: `refs/heads/${folder}/b${n}`, oldId: zeroId, newId: main }));
/** A pack without objects. */
const emptyPack = (() => {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  return Buffer.concat([head, createHash('sha1').update(head).digest()]);
})();
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
  t.equal(filesOf(repository), 1, 'what was a file stays one');
  const again = await git.refs.move(repository, [...creating(60, 'new'), ...creating(1, 'old')]);
  t.same(
    again.filter(({ ok }) => !ok),
    [{ ref: 'refs/heads/old/b0', ok: false, reason: 'it has moved meanwhile' }],
  );
  t.equal((await git.refs.list(repository)).size, 361);
});

t.test('a push of many refs is judged ref by ref, as git would, and leaves nothing behind', async (t) => {
  const { git, newRepository } = await openGit(t);
  const { repository, tag } = await withObjects(newRepository);
  await moveAll(git, repository, [...creating(1, 'old'), ...creating(60, 'packed')]);
  const command = (ref: string, oid = main) => `${zeroId} ${oid} ${ref}`;
  const names = Array.from({ length: 200 }, (_, n) => `refs/heads/new/b${n}`);
  const odd = [
    command('refs/heads/old/b0'),
    command('refs/heads/packed/b7'),
    command('refs/heads/old'),
    command('refs/heads/packed/b8/below'),
    command('refs/heads/new'),
    command('refs/heads/file', blob),
    command('refs/pull/7/head'),
    command('refs/tags/v1', tag),
    command('refs/tags/file', blob),
    command('refs/heads/größe'),
  ];
  const commands = [...names.map((name) => command(name)), ...odd];
  const { outcome, response } = await sendPush(git, repository, pushBytes({ commands, pack: emptyPack }));
  const { report, remarks } = readResponse(response);
  t.equal(report[0], 'unpack ok');
  t.same(
    report.slice(1, -1).map((line) => line.split(' ').slice(0, 2).join(' ')),
    [...names.map((name) => `ok ${name}`), ...odd.map((line, at) => `${at < 7 ? 'ng' : 'ok'} ${line.split(' ')[2]}`)],
    'in the order of the commands',
  );
  t.notMatch(report.join() + remarks, /incoming/);
  t.match(outcome, { kind: 'reported' });
  const refs = await git.refs.list(repository);
  t.equal(refs.size, 61 + 200 + 3);
  t.equal(refs.get('refs/heads/größe'), main);
  t.equal(gitSync(['for-each-ref', 'refs/hearth'], { cwd: repository }), '');
  t.equal(gitSync(['rev-parse', 'v1^{}'], { cwd: repository }), main);
  t.equal(gitSync(['fsck', '--strict'], { cwd: repository }), '');
  const written = readFileSync(path.join(repository, 'packed-refs'), 'utf8');
  gitSync(['pack-refs', '--all'], { cwd: repository });
  t.equal(readFileSync(path.join(repository, 'packed-refs'), 'utf8'), written, 'git itself writes the same');
});

t.test('with --atomic one ref that cannot be created prevents all; a broken pack prevents all, too', async (t) => {
  const { git, newRepository } = await openGit(t);
  const { repository } = await withObjects(newRepository);
  await moveAll(git, repository, creating(1, 'old'));
  const commands = [...creating(60), ...creating(1, 'old')].map(({ ref, newId }) => `${zeroId} ${newId} ${ref}`);
  const capabilities = `${defaultCapabilities} atomic`;
  const atomic = await sendPush(git, repository, pushBytes({ commands, capabilities, pack: emptyPack }));
  t.same(
    [
      ...new Set(
        readResponse(atomic.response)
          .report.slice(1, -1)
          .map((line) => line.split(' ')[0]),
      ),
    ],
    ['ng'],
  );
  const broken = await sendPush(git, repository, pushBytes({ commands, pack: Buffer.from('PACK and nothing') }));
  t.same(
    [
      ...new Set(
        readResponse(broken.response)
          .report.slice(1, -1)
          .map((line) => line.split(' ')[0]),
      ),
    ],
    ['ng'],
  );
  const gone = creating(60).map(({ ref }) => `${zeroId} ${'a'.repeat(40)} ${ref}`);
  const missing = await sendPush(git, repository, pushBytes({ commands: gone, pack: emptyPack }));
  t.same(
    [
      ...new Set(
        readResponse(missing.response)
          .report.slice(1, -1)
          .map((line) => line.split(' ')[0]),
      ),
    ],
    ['ng'],
  );
  t.same([...(await git.refs.list(repository)).keys()], ['refs/heads/old/b0']);
  t.equal(gitSync(['for-each-ref', 'refs/hearth'], { cwd: repository }), '');
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
