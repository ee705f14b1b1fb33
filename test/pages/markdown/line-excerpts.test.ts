// Addresses of lines that stand alone in a paragraph of a text: for whom, of what, and within which bounds.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { fillRepository } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl } from '../issues/issues-fixture.ts';

t.setTimeout(240_000);

const code = `${Array.from({ length: 60 }, (_, at) => `const line${at + 1} = "<${at + 1}>";`).join('\n')}\n`;

t.test('lines of a file at a commit are shown to those who may read it', async (t) => {
  const { web, alice, bob, issues, viewers, repositories } = await issueWeb(t, {
    files: { 'src/main.ts': code, 'logo.bin': Buffer.from([0, 1, 2]), 'src/a b#.ts': 'one\n' },
  });
  await repositories.create(viewers.alice, { name: 'vault', visibility: 'PRIVATE' });
  const vault = (await repositories.find(viewers.alice, 'alice', 'vault')).path;
  await fillRepository(t, vault, { 'gold.ts': 'const gold = 1;\n' });
  const oidOf = (path: string): string => execFileSync('git', ['rev-parse', 'main'], { cwd: path }).toString().trim();
  const oid = oidOf((await repositories.find(viewers.alice, 'alice', 'roof')).path);
  const at = `${web.origin}/repos/alice/roof/blob/${oid}`;
  const view = async (body: string, who = bob): Promise<string> => {
    const { number } = await issues.open(
      viewers.alice,
      { owner: 'alice', name: 'roof' },
      { title: 'Lines', body, mayRepeat: true },
    );
    const page = (await who.get(`${roofUrl}/issues/${number}`)).body;
    return (/<div class="line-excerpt">[^]*?<\/code><\/pre><\/div>[^]*?<\/div>/.exec(page)?.[0] ?? '').replace(
      /<\/?span[^>]*>/g,
      '',
    );
  };
  const three = await view(`See\n\n${at}/src/main.ts#L3-L5\n\nthere`);
  t.match(three, `href="${roofUrl}/blob/${oid}/src/main.ts?plain=1#L3-L5">src/main.ts</a>`);
  t.match(three, /<pre aria-hidden="true">3\n4\n5<\/pre>/);
  t.match(three, /line3 = &quot;&lt;3&gt;&quot;;\nconst line4 = [^\n]*\nconst line5|line3 = "&lt;3&gt;";\nconst line4/);
  for (const [body, lines] of [
    [`${at}/src/main.ts#L7`, '7'],
    [`${at}/src/main.ts#L5-L4`, '4\n5'],
    [`${at}/src/main.ts?plain=1#L59-99`, '59\n60'],
    [`${web.origin}/alice/roof/src/commit/${oid}/src/main.ts#L2`, '2'],
    [`${web.origin}/alice/roof/blob/${oid}/src/main.ts#L2`, '2'],
    [`${at}/src/a%20b%23.ts#L1`, '1'],
    [`${at}/src/main.ts#L1-L60`, Array.from({ length: 40 }, (_, index) => index + 1).join('\n')],
  ] as const)
    t.match(await view(body), `<pre aria-hidden="true">${lines}</pre>`, body);
  for (const body of [
    `see ${at}/src/main.ts#L3`,
    `- ${at}/src/main.ts#L3`,
    `[here](${at}/src/main.ts#L3)`,
    `${at}/src/main.ts`,
    `${at}/src/main.ts#L61`,
    `${at}/src/main.ts#L0`,
    `${at}/src#L1`,
    `${at}/absent.ts#L1`,
    `${at}/logo.bin#L1`,
    `${at.replace(oid, 'main')}/src/main.ts#L1`,
    `${at.replace(oid, '1'.repeat(40))}/src/main.ts#L1`,
    `${at}/src/%E0%A4%A.ts#L1`,
    `https://elsewhere.example.org/repos/alice/roof/blob/${oid}/src/main.ts#L1`,
  ])
    t.equal(await view(body), '', body);
  const gold = `${web.origin}/repos/alice/vault/blob/${oidOf(vault)}/gold.ts#L1`;
  t.match(await view(gold, alice), /gold/);
  t.equal(await view(gold), '', 'of a private repository');
  const many = Array.from({ length: 14 }, (_, index) => `${at}/src/main.ts#L${index + 1}`).join('\n\n');
  const { number } = await issues.open(viewers.alice, { owner: 'alice', name: 'roof' }, { title: 'Many', body: many });
  const page = (await bob.get(`${roofUrl}/issues/${number}`)).body;
  t.equal(page.split('class="line-excerpt"').length - 1, 10, 'ten of a page');
});
