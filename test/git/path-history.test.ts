import t from 'tap';
import { describeEntry, findEntry } from '../../src/git/objects/find-entry.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { gitSync, openGit } from './git-fixture.ts';
import type { TestGit } from './git-fixture.ts';

let deps: TestGit;

t.before(async () => {
  deps = await openGit(t);
});

const paths = ['a', 'sub', 'sub/b', 'sub/deep/long-name.txt', 'docs/a-file-with-a-long-name.md', 'x/y/z'];

/**
 * Branches that part and meet, with files that come, go, return, change their mode, and folders that become files.
 * @param dateOf the date of the commit with this number
 */
function generatedHistory(seed: number, dateOf: (commit: number) => number): string {
  const random = seededRandom(seed);
  const lines: string[] = [];
  const set = (file: string, text: string, mode: string): string =>
    `M ${mode} inline ${file}\ndata ${text.length}\n${text}`;
  const change = (): string => {
    const file = random.pick(paths.filter((each) => each !== 'sub'));
    if (random.chance(0.2)) return `D ${file}`;
    if (random.chance(0.03)) return set('sub', 'a file in place of the folder', '644');
    return set(file, `text ${random.below(3)}`, random.chance(0.2) ? '755' : '644');
  };
  const tips = [0];
  for (let mark = 1; mark <= 160; mark += 1) {
    const first = tips.length > 4 || random.chance(0.8) ? tips.pop()! : random.pick(tips);
    const others = random.chance(0.25) ? tips.splice(0, 1 + random.below(2)).filter((each) => each !== first) : [];
    lines.push('commit refs/heads/main', `mark :${mark}`, `committer Alice <alice@example.org> ${dateOf(mark)} +0000`);
    lines.push('data 1', 'x');
    if (first === 0) lines.push('from 0000000000000000000000000000000000000000');
    else lines.push(`from :${first}`);
    for (const other of others) if (other !== 0) lines.push(`merge :${other}`);
    for (let count = random.below(3); count > 0; count -= 1) lines.push(change());
    lines.push('');
    tips.push(mark);
    if (random.chance(0.3)) tips.unshift(mark);
  }
  return `${lines.join('\n')}\ndone\n`;
}

async function importHistory(input: string) {
  const repository = await deps.newRepository();
  gitSync(['-C', repository, 'fast-import', '--quiet', '--force', '--done'], { input });
  const inside = (...args: string[]): string => gitSync(['-C', repository, ...args]);
  const historyOf = async (oid: string, file: string): Promise<string[]> => {
    const { entries } = await deps.git.queries.history(repository, { oid, file: Buffer.from(file), limit: 1_000 });
    // Behind a rename the walk goes on under the old name, which git does not do here.
    return entries.filter((entry) => entry.file.toString() === file).map(({ commit }) => commit.oid);
  };
  return { repository, inside, historyOf };
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

for (const seed of [1, 2, 3, 4])
  t.test(`the history of a path in generated history ${seed} is that of git rev-list`, async (t) => {
    const { inside, historyOf } = await importHistory(generatedHistory(seed, (commit) => 1_700_000_000 + commit * 60));
    inside('commit-graph', 'write', '--reachable', '--changed-paths');
    const tips = linesOf(inside('rev-list', '--max-count=40', 'main')).filter((_, at) => at % 13 === 0);
    let found = 0;
    for (const tip of tips)
      for (const path of paths) {
        const expected = linesOf(inside('rev-list', tip, '--', path));
        found += expected.length;
        t.strictSame(await historyOf(tip, path), expected, `${path} at ${tip.slice(0, 8)}`);
      }
    t.ok(found > 100, 'there was something to find');
  });

t.test('commits with dates out of order are all found, once each', async (t) => {
  const { inside, historyOf } = await importHistory(
    generatedHistory(5, (commit) => 1_700_000_000 + ((commit * 37) % 90) * 60),
  );
  inside('commit-graph', 'write', '--reachable', '--changed-paths');
  for (const path of paths)
    t.strictSame(
      (await historyOf(inside('rev-parse', 'main'), path)).sort(),
      linesOf(inside('rev-list', 'main', '--', path)).sort(),
      path,
    );
});

t.test('commits that the commit-graph does not have yet belong to the history of a path', async (t) => {
  const { inside, historyOf } = await importHistory(generatedHistory(6, (commit) => 1_700_000_000 + commit * 60));
  const tip = inside('rev-parse', 'main');
  for (const generations of [3, 40]) {
    inside('update-ref', 'refs/heads/main', `${tip}~${generations}`);
    inside('commit-graph', 'write', '--reachable', '--changed-paths');
    inside('update-ref', 'refs/heads/main', tip);
    for (const path of paths)
      t.strictSame(await historyOf(tip, path), linesOf(inside('rev-list', tip, '--', path)), `${path}, ${generations}`);
  }
});

t.test('the last change of a path is the first commit of its history', async (t) => {
  const { repository, inside } = await importHistory(generatedHistory(7, (commit) => 1_700_000_000 + commit * 60));
  inside('commit-graph', 'write', '--reachable', '--changed-paths');
  for (const oid of linesOf(inside('rev-list', '--max-count=30', 'main')))
    for (const path of paths) {
      const commit = await deps.git.queries.lastChange(repository, oid, Buffer.from(path));
      t.equal(commit?.oid ?? '', inside('rev-list', '--max-count=1', oid, '--', path), path);
    }
});

t.test('an entry is found by its name, and not where an object id only looks like it', (t) => {
  const idOf = (text: string): Buffer => Buffer.concat([Buffer.from(text), Buffer.alloc(20)]).subarray(0, 20);
  const entry = (mode: string, name: string, id: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), id]);
  const [first, second, third] = [
    entry('100644', 'one', idOf('100644 b\0')),
    entry('100664', 'b', idOf('2')),
    entry('40000', 'a-folder-with-a-long-name', idOf('3')),
  ];
  const tree = Buffer.concat([first, second, third]);
  const find = (content: Buffer, name: string) => findEntry(content, 20, Buffer.from(name));
  t.strictSame(find(tree, 'b'), second);
  t.equal(find(Buffer.concat([first, third]), 'b'), null);
  t.strictSame(find(tree, 'a-folder-with-a-long-name'), third);
  t.equal(find(tree, 'a-folder-with-a-long-nam'), null);
  t.equal(describeEntry(second, 20), `100644 ${idOf('2').toString('hex')}`, 'a mode of old trees');
  t.equal(describeEntry(entry('100775', 'b', idOf('2')), 20), `100755 ${idOf('2').toString('hex')}`);
  t.equal(describeEntry(third, 20), `40000 ${idOf('3').toString('hex')}`);
  t.equal(describeEntry(null, 20), '');
  t.throws(() => find(tree.subarray(0, -8), 'a-folder-with-a-long-name'), { message: /damaged/ });
  t.throws(() => find(Buffer.concat([first.subarray(0, -8), Buffer.from(' b\0')]), 'b'), { message: /damaged/ });
  t.end();
});
