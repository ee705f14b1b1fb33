// The search of pull requests: by title, text, comments, reviews and comments on code, by those who may see them.
import t from 'tap';
import type { Viewer } from '../../src/access/index.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { fillRepository, startWeb } from '../fixtures/web-fixture.ts';
import { gitSync } from '../git/git-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { commit } from '../pulls/pulls-fixture.ts';

t.setTimeout(120_000);

const anonymous = { kind: 'anonymous' } as const;
const at = { owner: 'alice', name: 'roof', number: 1 };

t.test('whatever is written in a pull request is found by those who see it, and by no one else', async (t) => {
  const { modules } = await startWeb(t);
  const { accounts, issues, pulls, repositories } = modules;
  const [alice, bob, carol] = await Promise.all(
    ['alice', 'bob', 'carol'].map(async (name) => viewerOf((await accounts.addPerson({ username: name })).id, name)),
  );
  await repositories.create(alice!, { name: 'roof', visibility: 'PUBLIC' });
  const { path } = await repositories.find(alice!, 'alice', 'roof');
  await fillRepository(t, path, { 'tiles.txt': 'red\nblue\n' });
  const git = (...words: string[]): string => gitSync([`--git-dir=${path}`, ...words], { cwd: path });
  const parents = [git('rev-parse', 'main')];
  git('update-ref', 'refs/heads/slate', commit(path, { parents, files: { 'tiles.txt': 'slate\n' }, message: 'x' }));
  await pulls.open(alice!, at, { title: 'Slate is weatherproof', body: 'It was quarried nearby.', head: 'slate' });
  await issues.open(carol!, at, { title: 'weatherproof or not', body: 'An issue, not a pull request.' });
  await issues.comment(carol!, at, { body: 'Who owns a scaffold?' });
  const comment = (body: string, sendNow: boolean) =>
    pulls.reviews.addComment(carol!, at, { round: 1, path: 'tiles.txt', firstLine: 1, body, sendNow });
  await comment('Copper would be nobler.', true);
  const draft = await comment('Underneath it rots.', false);

  const found = async (viewer: Viewer, words: string): Promise<string[]> => {
    const { rows } = await issues.search(viewer, { text: `is:all is:pull ${words}` }, { limit: 10 });
    return rows.map(({ located, number }) => `${located.repository.name}#${number}`);
  };
  const everywhere = ['weatherproof', 'quarried', 'scaffold', 'nobler'];
  for (const word of everywhere) {
    t.same(await found(anonymous, word), ['roof#1'], word);
    const { rows } = await issues.search(anonymous, { text: `is:all ${word}` }, { limit: 10 });
    t.equal(rows.length, word === 'weatherproof' ? 1 : 0, 'a search of issues has none of it');
  }
  t.same(await found(carol!, 'rots'), [], 'a draft is not found, not even by its author');
  await pulls.reviews.submit(carol!, at, { verdict: 'REQUEST_CHANGES', body: 'Gravely rusted.', round: 1 });
  t.same(await found(anonymous, 'rots'), ['roof#1']);
  t.same(await found(anonymous, 'gravely'), ['roof#1']);
  await pulls.reviews.editComment(carol!, at, { ...draft, body: 'Underneath it moulders.' });
  t.same(await found(anonymous, 'rots'), [], 'what it said before');
  t.same(await found(anonymous, 'moulders'), ['roof#1']);
  await pulls.reviews.deleteComment(carol!, at, draft);
  t.same(await found(anonymous, 'moulders'), []);

  await repositories.changeVisibility(alice!, 'alice', 'roof', 'PRIVATE');
  for (const word of [...everywhere, 'gravely', 'repo:alice/roof', 'base:main', 'head:alice:slate'])
    for (const viewer of [anonymous, bob!, carol!]) t.same(await found(viewer, word), [], word);
  for (const word of [...everywhere, 'base:main', 'head:alice:slate'])
    t.same(await found(alice!, word), ['roof#1'], word);
  t.same(await found(localAdministrator, 'base:other'), []);
  await issues.trash(alice!, at);
  t.same(await found(alice!, 'nobler'), [], 'in the trash');
});
