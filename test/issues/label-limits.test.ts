// A repository takes a thousand labels and none beyond, so that the pickers of a page stay bounded; a request that
// names ten thousand is refused before it is looked at, and leaves the issue as it is.
import t from 'tap';
import { issueLimits } from '../../src/issues/index.ts';
import { at, openIssues, reasonOf, roof } from './issues-fixture.ts';

t.test('the last label is taken, and none beyond', async (t) => {
  const { issues, alice, db } = await openIssues(t);
  await issues.addLabel(alice, { repository: roof }, { name: 'first', colour: '112233' });
  const { number } = await issues.open(alice, roof, { title: 'One', labels: ['first'] });
  const id = (row: number): string => `'00000000-0000-4000-8000-${String(row).padStart(12, '0')}'`;
  const many = Array.from({ length: issueLimits.labelsPerScope - 2 }, (_, row) => row);
  await db.write(async ({ manager }) => {
    const [{ repositoryId }] = await manager.query('SELECT repository_id AS "repositoryId" FROM issues LIMIT 1');
    await manager.query(
      `INSERT INTO labels (id, repository_id, name, name_folded, colour) VALUES ${many
        .map((row) => `(${id(row)}, '${repositoryId}', 'l${row}', 'l${row}', '112233')`)
        .join()}`,
    );
  });
  const add = (name: string) => reasonOf(issues.addLabel(alice, { repository: roof }, { name, colour: '112233' }));
  t.equal(await add('last'), 'accepted');
  t.equal(await add('beyond'), 'too_many_labels');
  t.equal((await issues.listLabels(alice, roof)).length, issueLimits.labelsPerScope);

  const set = (labels: string[]) => reasonOf(issues.triage(alice, at(number), { labels }));
  t.equal(await set(Array.from({ length: 10_000 }, (_, row) => `x${row}`)), 'too_many_labels');
  t.equal(await set(many.slice(0, issueLimits.labelsPerIssue + 1).map((row) => `l${row}`)), 'too_many_labels');
  const names = async () => (await issues.find(alice, at(number))).labels.map(({ name }) => name);
  t.strictSame(await names(), ['first']);
  t.equal(await set(many.slice(0, issueLimits.labelsPerIssue).map((row) => `l${row}`)), 'accepted');
  t.equal((await names()).length, issueLimits.labelsPerIssue);
});
