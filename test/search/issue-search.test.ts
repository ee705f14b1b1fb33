// The search of issues: what is found follows every change at once, within what the viewer may see, and nothing is left
// out, whichever of its ways a question takes.
import t from 'tap';
import type { Viewer } from '../../src/access/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { createIssues, noFilter, parseIssueQuery } from '../../src/issues/index.ts';
import { createIssueIndex, createSearch } from '../../src/search/index.ts';
import { foldQuery } from '../../src/search/fold-text.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { anonymous, at, objectsIn, openIssues, reasonOf, roof, viewerOf } from '../issues/issues-fixture.ts';
import { shownTexts } from '../fixtures/shown-texts.ts';

t.setTimeout(120_000);

async function openIndexed(t: Owner, mostTexts?: number) {
  const modules = await openIssues(t);
  const search = createSearch({ db: modules.db, logger: silentLogger });
  const texts = createIssueIndex({ db: modules.db, ...(mostTexts !== undefined && { mostTexts }) });
  const settings = {
    perPerson: { perMinute: 5_000, perHour: 5_000 },
    perRepository: { perMinute: 5_000, perHour: 5_000 },
  };
  const issues = createIssues({
    ...modules,
    objects: objectsIn(modules),
    random: systemRandom,
    settings,
    sealExport: (sha256) => sha256,
    shownTexts,
    texts,
  });
  t.teardown(async () => {
    await issues.stop();
    await texts.close();
    await search.close();
  });
  const found = async (viewer: Viewer, text: string): Promise<string[]> => {
    const { rows } = await issues.search(viewer, { text: `is:all ${text}` }, { limit: 100 });
    return rows.map(({ located, number }) => `${located.repository.name}#${number}`).sort();
  };
  const listed = async (viewer: Viewer, text: string): Promise<number[]> => {
    const { filter } = parseIssueQuery(text);
    return (await issues.list(viewer, roof, filter, { limit: 100 })).rows.map(({ number }) => number);
  };
  return { ...modules, issues, search, found, listed };
}

t.test(
  'a title, a text and a comment are found as soon as they are written, and no longer than they stand',
  async (t) => {
    const { issues, alice, bob, found, listed } = await openIndexed(t);
    await issues.open(bob, roof, { title: 'Water in the Küche', body: 'A bucket stands below the hole.' });
    await issues.open(bob, roof, { title: 'Slates', body: 'Some are loose' });
    t.same(await found(anonymous, 'KÜCHE'), ['roof#1'], 'a title, in another case');
    t.same(await found(anonymous, 'bucket'), ['roof#1'], 'a text');
    t.same(await found(anonymous, 'ucke'), ['roof#1'], 'a part of a word');
    t.same(await found(anonymous, 'loose bucket'), [], 'every word');
    await issues.comment(alice, at(2), { body: 'Send a bucket, please' });
    t.same(await found(anonymous, 'loose bucket'), ['roof#2'], 'in any text of the issue');
    t.same(await found(anonymous, '"a bucket"'), ['roof#1', 'roof#2'], 'a phrase, in a text of each');
    t.same(await listed(anonymous, 'bucket'), [2, 1]);
    t.same(await found(anonymous, 'ü'), ['roof#1'], 'one character');
    t.same(await found(anonymous, 'kü'), ['roof#1'], 'two characters');
    const { rows } = await issues.search(anonymous, { text: 'please' }, { limit: 10 });
    t.match(rows, [{ number: 2, position: 1, text: 'Send a bucket, please' }], 'with where it stands');

    await issues.editText(bob, at(1), { position: 0, body: 'A tub', revision: 1 });
    t.same(await found(anonymous, 'bucket'), ['roof#2'], 'after an edit');
    t.same(await found(anonymous, 'tub'), ['roof#1']);
    await issues.setTitle(bob, at(1), 'Water everywhere');
    t.same([await found(anonymous, 'küche'), await found(anonymous, 'everywhere')], [[], ['roof#1']]);
    await issues.deleteComment(alice, at(2), 1);
    t.same(await found(anonymous, 'please'), [], 'after a comment was deleted');
    await issues.trash(alice, at(1));
    t.same(await found(alice, 'tub'), [], 'in the trash');
    await issues.restore(alice, at(1));
    t.same(await found(alice, 'tub'), ['roof#1'], 'and back');
    await issues.trash(alice, at(1));
    await issues.purge(alice, at(1));
    t.same(await found(alice, 'tub'), []);
  },
);

t.test('what waits for a member is found when it is let in', async (t) => {
  const { issues, alice, carol, found } = await openIndexed(t);
  await issues.changeSettings(alice, roof, { holdsNewcomers: true });
  await issues.open(carol, roof, { title: 'Cheap pills' });
  t.same([await found(alice, 'pills'), await found(anonymous, 'pills')], [[], []]);
  await issues.admit(alice, roof, carol.id);
  t.same(await found(anonymous, 'pills'), ['roof#1']);
});

t.test('no viewer finds what they may not see, by no word and no filter', async (t) => {
  const { issues, repositories, alice, bob, carol, found } = await openIndexed(t);
  await repositories.create(alice, { owner: 'alice', name: 'vault', visibility: 'PRIVATE' });
  const vault = { owner: 'alice', name: 'vault' };
  await issues.open(alice, vault, { title: 'The combination' });
  await issues.open(alice, roof, { title: 'The combination of colours' });
  t.same(await found(alice, 'combination'), ['roof#1', 'vault#1']);
  for (const text of ['combination', 'co', '', 'author:alice', 'repo:alice/vault combination', 'owner:alice'])
    t.notOk((await found(bob, text)).includes('vault#1'), text);
  t.same(await found(alice, 'repo:alice/vault'), ['vault#1']);
  t.same(await found(alice, 'owner:alice'), ['roof#1', 'vault#1']);
  t.same(await found(alice, 'repo:alice/nothing'), []);
  t.equal(await reasonOf(issues.list(bob, vault, noFilter, { limit: 10 })), 'repository_not_found');
  await repositories.collaborators.add(alice, 'alice', 'vault', { username: 'carol', role: 'read' });
  t.same(await found(carol, 'combination'), ['roof#1', 'vault#1']);
  const token = viewerOf(carol, { repositoryIds: [] });
  t.same(await found(token, 'combination'), ['roof#1'], 'a token without this repository');
  await repositories.create(alice, { owner: 'alice', name: 'shed', visibility: 'PRIVATE' });
  await issues.move(alice, { ...vault, number: 1 }, { owner: 'alice', name: 'shed' });
  t.same(await found(alice, 'combination'), ['roof#1', 'shed#1'], 'after it was moved');
  t.same(await found(alice, 'repo:alice/shed combination'), ['shed#1']);
  t.same(await found(carol, 'combination'), ['roof#1']);
  await repositories.changeVisibility(alice, 'alice', 'shed', 'PUBLIC');
  t.same(await found(anonymous, 'combination'), ['roof#1', 'shed#1'], 'from the moment on that everyone may read it');
});

t.test('any question finds what comparing every issue finds, in order and page by page', async (t) => {
  const random = seededRandom(16);
  // So few that questions take each of the ways.
  const { issues, alice, bob, clock, db } = await openIndexed(t, 4);
  await issues.addDefaultLabels(alice, { repository: roof });
  const words = ['roof', 'tile', 'gutter', 'nail', 'wood', 'ab', 'é', 'straße', 'chimney', 'a_b%c'];
  const some = (): string => Array.from({ length: 1 + random.below(3) }, () => random.pick(words)).join(' ');
  const facts: { number: number; text: string; label: string; isOpen: boolean; author: string }[] = [];
  for (let number = 1; number <= 60; number += 1) {
    const [author, label] = [random.pick(['alice', 'bob']), random.pick(['kind/bug', 'kind/feature', 'duplicate'])];
    const [title, body] = [some(), some()];
    await issues.open(author === 'alice' ? alice : bob, roof, {
      title,
      body,
      ...(author === 'alice' && { labels: [label] }),
    });
    clock.advance(20_000);
    const comment = random.below(2) === 1 ? some() : '';
    if (comment !== '') await issues.comment(bob, at(number), { body: comment });
    const isOpen = random.below(3) > 0;
    if (!isOpen) await issues.close(alice, at(number));
    clock.advance(20_000);
    facts.push({
      number,
      text: `${title}\n${body}\n${comment}`,
      label: author === 'alice' ? label : '',
      isOpen,
      author,
    });
  }
  for (let round = 0; round < 60; round += 1) {
    const query =
      random.below(3) === 0
        ? []
        : Array.from({ length: 1 + random.below(2) }, () => random.pick([...words, 'nowhere']));
    const label = random.pick(['', '', 'kind/bug', 'kind/feature']);
    const state = random.pick(['open', 'closed', 'all']);
    const author = random.pick(['', '', 'bob']);
    const sort = random.pick(['newest', 'oldest']);
    const text = [
      `is:${state} sort:${sort}`,
      ...(label === '' ? [] : [`label:${label}`]),
      ...(author === '' ? [] : [`author:${author}`]),
      ...query.map((word) => `"${word}"`),
    ].join(' ');
    const wanted = facts
      .filter((fact) => state === 'all' || fact.isOpen === (state === 'open'))
      .filter((fact) => label === '' || fact.label === label)
      .filter((fact) => author === '' || fact.author === author)
      .filter((fact) => query.every((word) => foldQuery(fact.text).includes(foldQuery(word))))
      .map(({ number }) => number);
    if (sort === 'newest') wanted.reverse();
    const { filter } = parseIssueQuery(text);
    for (const isInRepository of [true, false]) {
      const got: number[] = [];
      const backwards: number[] = [];
      const findPage = (paging: { after?: string | null; before?: string | null }) =>
        isInRepository
          ? issues.list(anonymous, roof, filter, { limit: 7, ...paging })
          : issues.search(anonymous, { filter }, { limit: 7, ...paging });
      let last: string | null = null;
      for (let after: string | null = null; ; ) {
        const page = await findPage({ after });
        got.push(...page.rows.map(({ number }) => number));
        if (page.next === null) {
          last = page.previous;
          break;
        }
        after = page.next;
      }
      t.same(got, wanted, `${text} ${isInRepository ? 'in the repository' : 'everywhere'}`);
      for (let before = last; before !== null; ) {
        const page = await findPage({ before });
        backwards.unshift(...page.rows.map(({ number }) => number));
        before = page.previous;
      }
      t.same(backwards, wanted.slice(0, backwards.length), 'and back');
    }
  }
  const [kept] = (await db.read.query('SELECT count(*) AS n FROM search_entries')) as [{ n: number }];
  const [written] = (await db.read.query(
    'SELECT count(*) AS n FROM issue_entries WHERE body IS NOT NULL OR position = 0',
  )) as [{ n: number }];
  t.equal(kept.n, written.n, 'every text once');
});

t.test('an index that lost its rows is made anew by hand', async (t) => {
  const { issues, bob, db, search, found } = await openIndexed(t);
  await issues.open(bob, roof, { title: 'Leak' });
  await db.write(async ({ manager }) => {
    await manager.query(`INSERT INTO search_entry_trigrams (search_entry_trigrams) VALUES ('delete-all')`);
    await manager.query('DELETE FROM search_entries');
  });
  t.same(await found(bob, 'leak'), []);
  await search.reindex();
  t.same(await found(bob, 'leak'), ['roof#1']);
});
